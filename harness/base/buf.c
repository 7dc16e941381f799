#include "buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *or_die(void *memory)
{
    if (!memory) {
        fputs("stride: out of memory\n", stderr);
        _Exit(5);
    }
    return memory;
}

void *mem_alloc(size_t size)
{
    return or_die(malloc(size ? size : 1));
}

void *mem_zero(size_t count, size_t size)
{
    return or_die(calloc(count ? count : 1, size ? size : 1));
}

void *mem_grow(void *old, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size)
        return or_die(NULL);
    size_t bytes = count * size;
    return or_die(realloc(old, bytes ? bytes : 1));
}

char *mem_strdup(const char *text)
{
    return or_die(strdup(text));
}

char *mem_printf(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char *text = NULL;
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    return or_die(text);
}

void buf_add(struct buf *buf, const void *bytes, size_t len)
{
    if (buf->cap && len > buf->cap - buf->len) {
        len = buf->cap - buf->len;
        buf->cut = true;
    }
    if (buf->len + len + 1 > buf->capacity) {
        size_t capacity = buf->capacity ? buf->capacity : 64;
        while (capacity < buf->len + len + 1)
            capacity *= 2;
        buf->data = mem_grow(buf->data, capacity, 1);
        buf->capacity = capacity;
    }
    if (len)
        memcpy(buf->data + buf->len, bytes, len);
    buf->len += len;
    buf->data[buf->len] = '\0';
}

void buf_add_str(struct buf *buf, const char *text)
{
    buf_add(buf, text, strlen(text));
}

void buf_add_char(struct buf *buf, char c)
{
    buf_add(buf, &c, 1);
}

void buf_printf(struct buf *buf, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0)
        or_die(NULL);
    buf_add(buf, text, (size_t)len);
    free(text);
}

void buf_clear(struct buf *buf)
{
    buf->len = 0;
    buf->cut = false;
    if (buf->data)
        buf->data[0] = '\0';
}

const char *buf_str(const struct buf *buf)
{
    return buf->data ? buf->data : "";
}

char *buf_take(struct buf *buf)
{
    char *data = buf->data ? buf->data : mem_strdup("");
    *buf = (struct buf){.cap = buf->cap};
    return data;
}

void buf_free(struct buf *buf)
{
    free(buf->data);
    *buf = (struct buf){.cap = buf->cap};
}

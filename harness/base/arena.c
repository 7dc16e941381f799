#include "arena.h"

#include "buf.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct arena_chunk {
    struct arena_chunk *older;
    size_t used, size; /* bytes of data[] */
    _Alignas(16) char data[];
};

void *arena_alloc(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = arena->chunk;
    size = (size + 15) & ~(size_t)15;
    if (!chunk || size > chunk->size - chunk->used) {
        size_t grown = chunk && chunk->size < (1u << 20) ? chunk->size * 2
                       : chunk                           ? chunk->size
                                                         : 4096;
        size_t data = size > grown ? size : grown;
        struct arena_chunk *fresh = mem_zero(1, sizeof *fresh + data);
        *fresh = (struct arena_chunk){.older = chunk, .size = data};
        arena->chunk = chunk = fresh;
    }
    void *memory = chunk->data + chunk->used;
    chunk->used += size;
    return memory;
}

void *arena_array(struct arena *arena, size_t count, size_t size)
{
    if (size && count > (SIZE_MAX / 2) / size) {
        fputs("stride: out of memory\n", stderr);
        _Exit(5);
    }
    return arena_alloc(arena, count * size);
}

char *arena_strndup(struct arena *arena, const char *text, size_t len)
{
    char *copy = arena_alloc(arena, len + 1);
    if (len)
        memcpy(copy, text, len);
    return copy;
}

char *arena_strdup(struct arena *arena, const char *text)
{
    return arena_strndup(arena, text, strlen(text));
}

char *arena_printf(struct arena *arena, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *text = arena_alloc(arena, (size_t)(len < 0 ? 0 : len) + 1);
    if (len >= 0)
        vsnprintf(text, (size_t)len + 1, format, again);
    va_end(again);
    return text;
}

void arena_free(struct arena *arena)
{
    struct arena_chunk *chunk = arena->chunk;
    while (chunk) {
        struct arena_chunk *older = chunk->older;
        free(chunk);
        chunk = older;
    }
    arena->chunk = NULL;
}

/* A growing run of bytes, always followed by a NUL so that it can be read as a string.
 *
 * Zeroed memory is an empty buffer. The buffer owns its bytes until buf_free; buf_take hands them
 * to the caller. A cap, when set, silently stops growth and raises `cut`: output from outside is
 * not allowed to fill the memory.
 *
 * Running out of memory ends the program with a message: there is nothing to save at that point
 * that has not been saved already. */
#ifndef STRIDE_BASE_BUF_H
#define STRIDE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
    char *data;      /* NULL while nothing was ever added */
    size_t len;      /* bytes, without the NUL */
    size_t capacity; /* bytes allocated */
    size_t cap;      /* most bytes kept; 0 is no limit */
    bool cut;        /* something was dropped because of cap */
};

void buf_add(struct buf *buf, const void *bytes, size_t len);
void buf_add_str(struct buf *buf, const char *text);
void buf_add_char(struct buf *buf, char c);
void buf_printf(struct buf *buf, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_clear(struct buf *buf);

/* Borrowed NUL-terminated text, "" when empty; valid until the buffer changes. */
const char *buf_str(const struct buf *buf);

/* Hands the bytes over (never NULL) and empties the buffer; free() them. */
char *buf_take(struct buf *buf);
void buf_free(struct buf *buf);

/* malloc, realloc and strdup that end the program with a message instead of returning NULL. */
void *mem_alloc(size_t size) __attribute__((returns_nonnull));
void *mem_zero(size_t count, size_t size) __attribute__((returns_nonnull));
void *mem_grow(void *old, size_t count, size_t size) __attribute__((returns_nonnull));
char *mem_strdup(const char *text) __attribute__((returns_nonnull));
char *mem_printf(const char *format, ...) __attribute__((returns_nonnull, format(printf, 1, 2)));

#endif

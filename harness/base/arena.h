/* Memory that lives and dies together: one arena per attempt, per document, per PTX module.
 *
 * The arena owns everything it hands out; arena_free gives all of it back at once. Memory comes
 * zeroed and aligned to 16 bytes.
 *
 * It never moves or frees a single piece, so pointers into it stay valid until arena_free. */
#ifndef STRIDE_BASE_ARENA_H
#define STRIDE_BASE_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *chunk; /* newest; NULL when empty */
};

void *arena_alloc(struct arena *arena, size_t size);
void *arena_array(struct arena *arena, size_t count, size_t size);
char *arena_strndup(struct arena *arena, const char *text, size_t len);
char *arena_strdup(struct arena *arena, const char *text);
char *arena_printf(struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void arena_free(struct arena *arena);

#endif

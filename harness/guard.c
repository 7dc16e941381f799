#include "guard.h"

#include <string.h>

/* Wide enough for an overrun that starts a whole 2 MiB page away from the buffer. */
enum { WIDTH = (2 << 20) + 4096, ROUND = 256 };

size_t guard_width(const struct backend *backend)
{
    return backend->ops->exact_bounds ? 0 : WIDTH;
}

size_t guard_buffer_bytes(const struct lab_buffer *buffer)
{
    return buffer->count * lab_type_bytes(buffer->type);
}

size_t guard_allocation(const struct backend *backend, const struct lab_buffer *buffer)
{
    size_t bytes = guard_buffer_bytes(buffer), width = guard_width(backend);
    if (!width) /* bounds are exact, and so must the allocation be */
        return bytes;
    return width + (bytes + ROUND - 1) / ROUND * ROUND + width;
}

/* Compared as bytes, so that no NaN can look like another. */
bool guard_overrun(size_t *offset, const struct guarded *guarded, bool before)
{
    unsigned char pattern[8];
    memcpy(pattern, &guarded->pattern, 4);
    memcpy(pattern + 4, &guarded->pattern, 4);
    size_t start = before ? 0 : guarded->width + guarded->bytes, phase = start % 4;
    const unsigned char *zone = (const unsigned char *)guarded->copy + start;
    /* Intact zones repeat every four bytes, which memcmp sees much faster than the loop below. */
    if (memcmp(zone, pattern + phase, 4) == 0 && memcmp(zone, zone + 4, guarded->width - 4) == 0)
        return false;
    for (size_t k = 0; k < guarded->width; k++) {
        size_t at = before ? guarded->width - 1 - k : k;
        if (zone[at] != pattern[(phase + at) % 4]) {
            *offset = before ? k + 1 : k;
            return true;
        }
    }
    return false;
}

#include "span.h"

#include "harness/base/buf.h"

#include <stdlib.h>

void spans_add(struct spans *spans, const struct span *span)
{
    if (spans->count == spans->capacity) {
        spans->capacity = spans->capacity ? spans->capacity * 2 : 64;
        spans->items = mem_grow(spans->items, spans->capacity, sizeof *spans->items);
    }
    spans->items[spans->count++] = *span;
}

void spans_free(struct spans *spans)
{
    free(spans->items);
    *spans = (struct spans){0};
}

const char *span_kind_name(enum span_kind kind)
{
    static const char *const names[SPAN_KINDS] = {"h2d",    "d2h",  "d2d", "memset",
                                                  "kernel", "host", "wait"};
    return names[kind];
}

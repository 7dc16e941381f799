/* Markdown: whatever the text, the doc is clean, and shows in windows of all sizes. */
#include "fuzz_doc.h"

#include "tui/markup.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct doc doc = {0};
    struct markup_options options = {.indent = (int)(size % 5),
                                     .columns = (int)(size % 90),
                                     .marker = size % 2 ? "x a) " : NULL};
    markup_add(&doc, (const char *)data, size, &options);
    check_doc(&doc);
    check_shown(&doc, "a");
    doc_free(&doc);
    return 0;
}

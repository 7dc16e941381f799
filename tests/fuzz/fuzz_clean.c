/* Cleaning text: the result is clean, cleaning it again changes nothing, and what is clean already
 * stays as it is. */
#include "harness/base/clean.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    struct buf once = {0}, twice = {0}, line = {0};
    clean_text(&once, text, size);
    must(clean_is(buf_str(&once), once.len));
    clean_text(&twice, buf_str(&once), once.len);
    must(twice.len == once.len && memcmp(buf_str(&twice), buf_str(&once), once.len) == 0);
    if (clean_is(text, size))
        must(once.len == size && memcmp(buf_str(&once), text, size) == 0);
    clean_line(&line, text, size);
    must(!memchr(buf_str(&line), '\n', line.len) && !memchr(buf_str(&line), '\t', line.len));
    must(clean_is(buf_str(&line), line.len));
    must(utf8_whole(text, size) <= size);
    buf_free(&once);
    buf_free(&twice);
    buf_free(&line);
    return 0;
}

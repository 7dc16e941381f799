/* Any bytes as a fat binary (first byte even) or as an object that holds one (odd): a part within
 * the bytes, or an error. */
#include "harness/host/fatbin.h"
#include "harness/host/symbols.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void look(const void *bytes, size_t len)
{
    static const enum fatbin_kind kinds[] = {FATBIN_PTX, FATBIN_CUBIN};
    for (size_t i = 0; i < 2; i++) {
        struct fatbin_part part;
        struct err err;
        if (!fatbin_find(&part, kinds[i], bytes, len, &err))
            continue;
        const char *begin = bytes, *at = part.bytes;
        if (at < begin || part.len > len - (size_t)(at - begin))
            abort();
    }
}

static void measure(void *context, const char *name, bool defined)
{
    *(size_t *)context += strlen(name) + defined;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t names = 0;
    const void *section;
    size_t len;
    if (size && (data[0] & 1)) {
        if (fatbin_section(&section, &len, data + 1, size - 1, NULL))
            look(section, len);
        symbols_each(data + 1, size - 1, measure, &names, NULL);
    } else if (size) {
        look(data + 1, size - 1);
    }
    return 0;
}

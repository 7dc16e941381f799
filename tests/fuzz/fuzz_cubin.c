/* Any bytes as machine code: figures or an error, never a crash. The first byte picks the
 * architecture, the rest is the cubin. */
#include "harness/cubin.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cubin_kernel kernel;
    struct err err;
    if (size)
        cubin_read(&kernel, data + 1, size - 1, "k", data[0] & 1 ? 90 : 80, &err);
    return 0;
}

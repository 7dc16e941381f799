#include "host_lab.h"

#include <string.h>

#define X(symbol, slug) extern const struct host_lab host_lab_##symbol;
#include "kernels/host-labs.def"
#undef X

const struct host_lab *host_lab_find(const char *slug)
{
    static const struct host_lab *const labs[] = {
#define X(symbol, slug) &host_lab_##symbol,
#include "kernels/host-labs.def"
#undef X
        NULL,
    };
    for (size_t i = 0; labs[i]; i++)
        if (strcmp(labs[i]->slug, slug) == 0)
            return labs[i];
    return NULL;
}

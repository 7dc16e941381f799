#include "lab.h"

#include <string.h>

#define X(symbol, slug) extern const struct lab lab_##symbol;
#include "kernels/labs.def"
#undef X

static const struct lab *const all_labs[] = {
#define X(symbol, slug) &lab_##symbol,
#include "kernels/labs.def"
#undef X
};

const struct lab *lab_find(const char *slug)
{
    for (size_t i = 0; i < sizeof all_labs / sizeof *all_labs; i++)
        if (strcmp(all_labs[i]->slug, slug) == 0)
            return all_labs[i];
    return NULL;
}

size_t lab_type_bytes(enum lab_type type)
{
    switch (type) {
    case LAB_F16:
    case LAB_BF16:
        return 2;
    case LAB_F32:
    case LAB_I32:
    case LAB_U32:
        return 4;
    case LAB_F64:
    case LAB_U64:
        return 8;
    }
    return 0;
}

uint64_t lab_mix(uint64_t seed, uint64_t position)
{
    uint64_t z = seed + (position + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

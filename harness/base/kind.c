#include "kind.h"

#include <stddef.h>
#include <string.h>

static const char *const names[] = {
#define HAZARD(symbol, name) name,
#define OTHER(name)          name,
#include "kind.def"
#undef HAZARD
#undef OTHER
};

const char *kind_name(unsigned i)
{
    return i < sizeof names / sizeof *names ? names[i] : NULL;
}

bool kind_is_known(const char *name)
{
    for (unsigned i = 0; kind_name(i); i++)
        if (strcmp(kind_name(i), name) == 0)
            return true;
    return false;
}

#include "verdict.h"

#include "msg.h"

#include <string.h>

static const struct {
    const char *name, *mark, *meaning;
    int status;
} verdicts[VERDICT_COUNT] = {
#define X(symbol, name, status, mark, meaning) {name, mark, meaning, status},
#include "verdict.def"
#undef X
};

const char *verdict_name(enum verdict verdict)
{
    return verdicts[verdict].name;
}

const char *verdict_mark(enum verdict verdict)
{
    return verdicts[verdict].mark;
}

const char *verdict_meaning(enum verdict verdict)
{
    return _(verdicts[verdict].meaning);
}

int verdict_exit_status(enum verdict verdict)
{
    return verdicts[verdict].status;
}

bool verdict_parse(enum verdict *out, const char *name)
{
    for (int i = 0; name && i < VERDICT_COUNT; i++)
        if (strcmp(verdicts[i].name, name) == 0) {
            *out = (enum verdict)i;
            return true;
        }
    return false;
}

enum verdict verdict_worse(enum verdict a, enum verdict b)
{
    return a < b ? a : b;
}

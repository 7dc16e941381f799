#include "tui/command.h"

#include "harness/base/msg.h"
#include "tui/key.h"

#include <string.h>

static const struct {
    const char *name, *keys, *hint, *help;
    enum context context;
} table[COMMAND_COUNT] = {
    [COMMAND_NONE] = {"none", "", "", "", CONTEXT_COUNT},
#define X(symbol, name, context, keys, hint, help)                                                 \
    [COMMAND_##symbol] = {name, keys, hint, help, CONTEXT_##context},
#include "tui/command.def"
#undef X
};

static const char *const titles[CONTEXT_COUNT] = {
    [CONTEXT_ANY] = N_("Everywhere"),
    [CONTEXT_COURSE] = N_("In the course"),
    [CONTEXT_CODE] = N_("In Code and Correctness"),
    [CONTEXT_LISTING] = N_("In PTX and SASS"),
    [CONTEXT_HISTORY] = N_("In History"),
    [CONTEXT_QUIZ] = N_("In the quiz"),
    [CONTEXT_TIMELINE] = N_("In the timeline"),
    [CONTEXT_RUNNING] = N_("While an attempt runs"),
};

/* The next key of a list; *list moves behind it. */
static bool next_key(const char **list, int32_t *key)
{
    *list += strspn(*list, " ");
    size_t len = strcspn(*list, " ");
    bool ok = len > 0 && key_parse(key, *list, len);
    *list += len;
    return ok;
}

static enum command find_in(enum context context, int32_t key)
{
    for (int i = 1; i < COMMAND_COUNT; i++) {
        if (table[i].context != context)
            continue;
        const char *list = table[i].keys;
        int32_t one;
        while (next_key(&list, &one))
            if (one == key)
                return (enum command)i;
    }
    return COMMAND_NONE;
}

enum command command_find(enum context context, bool running, int32_t key)
{
    enum command found = running ? find_in(CONTEXT_RUNNING, key) : COMMAND_NONE;
    if (found == COMMAND_NONE && context != CONTEXT_ANY)
        found = find_in(context, key);
    return found == COMMAND_NONE ? find_in(CONTEXT_ANY, key) : found;
}

const char *command_name(enum command command)
{
    return table[command].name;
}

enum context command_context(enum command command)
{
    return table[command].context;
}

const char *command_keys(enum command command)
{
    return table[command].keys;
}

const char *command_hint(enum command command)
{
    return *table[command].hint ? _(table[command].hint) : "";
}

const char *command_help(enum command command)
{
    return *table[command].help ? _(table[command].help) : "";
}

const char *context_title(enum context context)
{
    return _(titles[context]);
}

void command_first_key(char out[16], enum command command)
{
    const char *list = table[command].keys;
    int32_t key = KEY_NOTHING;
    next_key(&list, &key);
    key_write_name(out, key);
}

void command_markdown(struct buf *out)
{
    for (int context = 0; context < CONTEXT_COUNT; context++) {
        bool titled = false;
        for (int i = 1; i < COMMAND_COUNT; i++) {
            if ((int)table[i].context != context)
                continue;
            if (!titled)
                buf_printf(out, "## %s\n\n| key | what it does |\n| --- | --- |\n",
                           context_title((enum context)context));
            titled = true;
            buf_printf(out, "| `%s` | %s |\n", table[i].keys, command_help((enum command)i));
        }
        if (titled)
            buf_add_char(out, '\n');
    }
}

#include "entry.h"

#include "harness/base/msg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* The next place where `name` stands as a whole word. */
static const char *find_word(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *at = text; len && (at = strstr(at, name)); at += len)
        if ((at == text || !is_word(at[-1])) && !is_word(at[len]))
            return at;
    return NULL;
}

static size_t type_bytes(const char *type)
{
    static const struct {
        const char *suffix;
        size_t bytes;
    } types[] = {{"8", 1}, {"16", 2}, {"32", 4}, {"64", 8}, {"128", 16}};
    size_t at = strspn(type, "subf");
    for (size_t i = 0; at == 1 && i < sizeof types / sizeof *types; i++) {
        size_t len = strlen(types[i].suffix);
        if (strncmp(type + 1, types[i].suffix, len) == 0 && !isdigit((unsigned char)type[1 + len]))
            return types[i].bytes;
    }
    return 0;
}

/* One ".param .u64 .ptr .align 1 k_param_0" or ".param .align 4 .b8 k_param_1[12]". */
static size_t param_bytes(const char *param, const char *end)
{
    size_t bytes = 0;
    for (const char *at = param; at < end; at++) {
        if (*at == '.' && !bytes)
            bytes = type_bytes(at + 1);
        if (*at == '[')
            return bytes * strtoul(at + 1, NULL, 10);
    }
    return bytes;
}

bool entry_find(struct entry_params *out, const char *ptx, const char *name)
{
    *out = (struct entry_params){0};
    const char *at = ptx;
    for (;; at += strlen(name)) {
        at = find_word(at, name);
        if (!at)
            return false;
        const char *before = at;
        while (before > ptx && isspace((unsigned char)before[-1]))
            before--;
        if (before - ptx >= 6 && memcmp(before - 6, ".entry", 6) == 0)
            break;
    }
    at += strlen(name);
    at += strspn(at, " \t\r\n");
    if (*at != '(')
        return true; /* no parameters at all */
    const char *close = strchr(at, ')');
    while (close && (at = strstr(at, ".param")) && at < close && out->count < ENTRY_PARAMS) {
        at += strlen(".param");
        const char *end = at + strcspn(at, ",)");
        out->sizes[out->count++] = param_bytes(at, end);
    }
    return true;
}

char *entry_signature(const char *source, const char *name)
{
    const char *at = find_word(source, name);
    while (at && at[strlen(name) + strspn(at + strlen(name), " \t\r\n")] != '(')
        at = find_word(at + strlen(name), name);
    const char *end = at ? strchr(at, ')') : NULL;
    if (!end)
        return NULL;
    while (at > source && !strchr("};/\n", at[-1]))
        at--;
    struct buf out = {0};
    for (bool blank = false; at <= end; at++) {
        if (isspace((unsigned char)*at)) {
            blank = out.len > 0;
            continue;
        }
        if (blank)
            buf_add_char(&out, ' ');
        blank = false;
        buf_add_char(&out, *at);
    }
    return buf_take(&out);
}

unsigned entry_line(const char *source, const char *name)
{
    const char *at = find_word(source, name);
    unsigned line = at ? 1 : 0;
    for (const char *c = source; at && c < at; c++)
        line += *c == '\n';
    return line;
}

static void reject(struct build *build, const char *name, char *text)
{
    build->ok = false;
    diagnostics_add(&build->diagnostics, SEVERITY_ERROR, build->name,
                    entry_line(buf_str(&build->source), name), text);
    free(text);
}

/* A name that C++ mangled: ".entry _Z4nameP..." */
static bool is_mangled(const char *ptx, const char *name)
{
    char mangled[256];
    snprintf(mangled, sizeof mangled, ".entry _Z%zu%s", strlen(name), name);
    return strstr(ptx, mangled) != NULL;
}

void entry_check(struct build *build, const char *name, const struct build *model)
{
    struct entry_params got, want;
    if (!build->ok)
        return;
    char *signature = entry_signature(buf_str(&model->source), name);
    const char *expected = signature ? signature : name;
    if (!entry_find(&got, buf_str(&build->ptx), name)) {
        if (is_mangled(buf_str(&build->ptx), name))
            reject(build, name,
                   mem_printf(_("the kernel \"%s\" is not declared extern \"C\"; expected: %s"),
                              name, expected));
        else
            reject(build, name,
                   mem_printf(_("there is no kernel \"%s\"; expected: %s"), name, expected));
    } else if (entry_find(&want, buf_str(&model->ptx), name) &&
               (got.count != want.count ||
                memcmp(got.sizes, want.sizes, sizeof *got.sizes * (size_t)got.count) != 0)) {
        reject(build, name,
               mem_printf(_("the kernel \"%s\" does not take the parameters it is launched with; "
                            "expected: %s"),
                          name, expected));
    }
    free(signature);
}

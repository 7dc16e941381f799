#include "msg.h"

#include "buf.h"
#include "clean.h"
#include "file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* The one catalogue of the process: text is translated from everywhere, like gettext's. */
static json_t *catalogue;
static const char *loaded = "en";

static bool is_chinese(const char *name)
{
    return strncmp(name, "zh", 2) == 0 && (name[2] == '\0' || strchr("_-.@", name[2]));
}

const char *msg_pick_language(const char *asked)
{
    const char *choice = asked && *asked ? asked : getenv("STRIDE_LANG");
    static const char *const variables[] = {"LC_ALL", "LC_MESSAGES", "LANG"};
    for (size_t i = 0; (!choice || !*choice) && i < 3; i++)
        choice = getenv(variables[i]);
    return choice && is_chinese(choice) ? "zh" : "en";
}

bool msg_load(const char *root, const char *language, struct err *err)
{
    json_decref(catalogue);
    catalogue = NULL;
    loaded = is_chinese(language) ? "zh" : "en";
    if (strcmp(loaded, "en") == 0)
        return true;
    char *path = mem_printf("%s/assets/messages.%s.json", root, loaded);
    struct buf text = {0};
    json_error_t where;
    bool ok = file_read(&text, path, 4 << 20, err);
    if (ok && !(catalogue = json_loadb(text.data, text.len, 0, &where)))
        ok = err_set(err, "%s:%d: %s", path, where.line, where.text);
    buf_free(&text);
    free(path);
    return ok;
}

const char *msg_language(void)
{
    return loaded;
}

const char *msg_get(const char *english)
{
    const char *translated = json_string_value(json_object_get(catalogue, english));
    return translated && *translated ? translated : english;
}

static bool is_full_width_mark(uint32_t code)
{
    return (code >= 0x3000 && code <= 0x303f) || (code >= 0xff00 && code <= 0xff20);
}

static bool is_chinese_character(uint32_t code)
{
    return (code >= 0x3400 && code <= 0x9fff) || is_full_width_mark(code);
}

void msg_close_blanks(char *text)
{
    size_t len = strlen(text), to = 0;
    uint32_t behind = 0; /* what was written last */
    for (size_t at = 0, size; at < len; at += size) {
        uint32_t code, next = 0;
        size = utf8_decode(&code, text + at, len - at);
        if (code == ' ' && at + 1 < len)
            utf8_decode(&next, text + at + 1, len - at - 1);
        if (code == ' ' && ((is_chinese_character(behind) && is_chinese_character(next)) ||
                            is_full_width_mark(behind) || is_full_width_mark(next)))
            continue;
        behind = code;
        memmove(text + to, text + at, size);
        to += size;
    }
    text[to] = '\0';
}

#include "msg.h"

#include "buf.h"
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

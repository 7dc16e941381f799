#include "glossary.h"

#include "listing.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <jansson.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = 128, FILE_MAX = 4 << 20 };

struct glossary {
    json_t *root;
};

static bool check(const json_t *root, const char *path, struct err *err)
{
    static const char *const sections[] = {"ptx", "ptx_modifiers", "sass", "sass_modifiers",
                                           "registers"};
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        json_t *section = json_object_get(root, sections[i]), *entry;
        const char *name;
        if (!json_is_object(section))
            return err_set(err, "%s: no object \"%s\"", path, sections[i]);
        json_object_foreach(section, name, entry) {
            if (!json_is_string(json_object_get(entry, "en")) ||
                !json_is_string(json_object_get(entry, "zh")))
                return err_set(err, "%s: \"%s\" of \"%s\" needs the texts \"en\" and \"zh\"", path,
                               name, sections[i]);
        }
    }
    return true;
}

bool glossary_open(struct glossary **out, const char *root, struct err *err)
{
    char *path = path_join(root, "assets/glossary.json");
    struct buf text = {0};
    json_error_t error;
    bool ok = file_read(&text, path, FILE_MAX, err);
    json_t *json = NULL;
    if (ok) {
        json = json_loadb(buf_str(&text), text.len, JSON_REJECT_DUPLICATES, &error);
        ok =
            json ? check(json, path, err) : err_set(err, "%s:%d: %s", path, error.line, error.text);
    }
    if (ok) {
        *out = mem_zero(1, sizeof **out);
        (*out)->root = json;
    } else {
        json_decref(json);
    }
    buf_free(&text);
    free(path);
    return ok;
}

void glossary_close(struct glossary *glossary)
{
    if (!glossary)
        return;
    json_decref(glossary->root);
    free(glossary);
}

static const char *look_up(const struct glossary *glossary, const char *section, const char *name)
{
    const json_t *entry = json_object_get(json_object_get(glossary->root, section), name);
    return json_string_value(json_object_get(entry, msg_language()));
}

static void add_part(struct buf *out, size_t start, const char *name, const char *text)
{
    if (out->len > start)
        buf_add_str(out, " · ");
    buf_printf(out, "%s: ", name);
    clean_line(out, text, strlen(text));
}

/* Cuts the last dotted part off; false when there is none. */
static bool cut_last(char *name)
{
    char *dot = strrchr(name, '.');
    if (!dot || dot == name)
        return false;
    *dot = '\0';
    return true;
}

static void explain_rest(const struct glossary *glossary, const char *section, const char *rest,
                         struct buf *out, size_t start)
{
    while (*rest == '.') {
        char part[NAME_MAX_BYTES];
        size_t len = 1 + strcspn(rest + 1, ".");
        snprintf(part, sizeof part, "%.*s", (int)len, rest);
        const char *text = look_up(glossary, section, part);
        if (text)
            add_part(out, start, part, text);
        rest += len;
    }
}

bool glossary_explain_opcode(const struct glossary *glossary, enum lab_listing kind,
                             const char *opcode, size_t len, struct buf *out)
{
    char whole[NAME_MAX_BYTES], name[NAME_MAX_BYTES];
    size_t start = out->len;
    const char *text = NULL, *section = kind == LISTING_PTX ? "ptx" : "sass";
    if (!glossary || !len || len >= sizeof whole)
        return false;
    snprintf(whole, sizeof whole, "%.*s", (int)len, opcode);
    memcpy(name, whole, sizeof name);
    do
        text = look_up(glossary, section, name);
    while (!text && cut_last(name));
    if (!text)
        return false;
    add_part(out, start, name, text);
    explain_rest(glossary, kind == LISTING_PTX ? "ptx_modifiers" : "sass_modifiers",
                 whole + strlen(name), out, start);
    return true;
}

/* %tid.x, SR_CTAID.Y: the name without its coordinate. */
static void explain_registers(const struct glossary *glossary, const struct doc_line *line,
                              struct buf *out, size_t start)
{
    const char *span_text = line->text;
    for (uint32_t i = 0; i < line->span_count; span_text += line->spans[i++].len) {
        char name[NAME_MAX_BYTES];
        if (line->spans[i].style != STYLE_REGISTER || line->spans[i].len >= sizeof name)
            continue;
        snprintf(name, sizeof name, "%.*s", (int)line->spans[i].len, span_text);
        name[1 + strcspn(name + 1, ".")] = '\0';
        const char *text = look_up(glossary, "registers", name);
        if (text)
            add_part(out, start, name, text);
    }
}

bool glossary_explain(const struct glossary *glossary, enum lab_listing kind,
                      const struct doc_line *line, struct buf *out)
{
    size_t len = 0, start = out->len;
    const char *opcode = listing_opcode(line, &len);
    if (!opcode || !glossary_explain_opcode(glossary, kind, opcode, len, out))
        return false;
    explain_registers(glossary, line, out, start);
    return true;
}

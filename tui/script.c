#include "tui/script.h"

#include "harness/base/file.h"
#include "tui/doc.h"
#include "tui/key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct script_step *add_step(struct script *script, enum script_kind kind, int line)
{
    script->steps = mem_grow(script->steps, script->count + 1, sizeof *script->steps);
    struct script_step *step = &script->steps[script->count++];
    *step = (struct script_step){.kind = kind, .line = line};
    return step;
}

bool script_parse_size(const char *text, int *cols, int *rows)
{
    char rest;
    return sscanf(text, "%dx%d%c", cols, rows, &rest) == 2 && *cols >= 1 && *cols <= 1000 &&
           *rows >= 1 && *rows <= 500;
}

static bool add_keys(struct script *script, const char *names, int line, struct err *err)
{
    while (*names) {
        size_t len = strcspn(names, " ");
        int32_t key;
        if (!key_parse(&key, names, len))
            return err_set(err, "%s:%d: there is no key '%.*s'", script->path, line, (int)len,
                           names);
        add_step(script, SCRIPT_KEY, line)->key = key;
        names += len + strspn(names + len, " ");
    }
    return true;
}

static bool add_typed(struct script *script, const char *text, int line, struct err *err)
{
    size_t len = strlen(text);
    for (size_t at = 0; at < len;) {
        size_t bytes = 1;
        while (at + bytes < len && ((unsigned char)text[at + bytes] & 0xc0) == 0x80)
            bytes++;
        int32_t key;
        if (!key_parse(&key, text + at, bytes))
            return err_set(err, "%s:%d: this cannot be typed", script->path, line);
        add_step(script, SCRIPT_KEY, line)->key = key;
        at += bytes;
    }
    return true;
}

static bool add_wait(struct script *script, const char *what, int line, struct err *err)
{
    char *end;
    long number = strtol(what, &end, 10);
    if (strcmp(what, "run") == 0)
        add_step(script, SCRIPT_WAIT_RUN, line);
    else if (strcmp(what, "idle") == 0)
        add_step(script, SCRIPT_WAIT_IDLE, line);
    else if (strncmp(what, "text ", 5) == 0)
        add_step(script, SCRIPT_WAIT_TEXT, line)->text = mem_strdup(what + 5);
    else if (end != what && *end == '\0' && number >= 0 && number <= 600000)
        add_step(script, SCRIPT_WAIT_MS, line)->number = (int)number;
    else
        return err_set(err, "%s:%d: wait takes run, idle, text TEXT or milliseconds", script->path,
                       line);
    return true;
}

static bool is_file_name(const char *name)
{
    return *name && *name != '.' && !strchr(name, '/');
}

static bool add_line(struct script *script, char *text, int line, struct err *err)
{
    text += strspn(text, " \t");
    size_t len = strlen(text);
    while (len > 0 && strchr(" \t\r", text[len - 1]))
        text[--len] = '\0';
    if (!*text || *text == '#')
        return true;
    size_t word = strcspn(text, " ");
    const char *rest = text + word + strspn(text + word, " ");
    text[word] = '\0';
    if (!*rest)
        return err_set(err, "%s:%d: '%s' needs something after it", script->path, line, text);
    if (strcmp(text, "key") == 0)
        return add_keys(script, rest, line, err);
    if (strcmp(text, "type") == 0)
        return add_typed(script, rest, line, err);
    if (strcmp(text, "wait") == 0)
        return add_wait(script, rest, line, err);
    if (strcmp(text, "size") == 0) {
        struct script_step *step = add_step(script, SCRIPT_SIZE, line);
        return script_parse_size(rest, &step->number, &step->rows) ||
               err_set(err, "%s:%d: a size is COLSxROWS", script->path, line);
    }
    bool save = strcmp(text, "save") == 0;
    if (!save && strcmp(text, "expect") != 0)
        return err_set(err, "%s:%d: there is no step '%s'", script->path, line, text);
    if (save && !is_file_name(rest))
        return err_set(err, "%s:%d: save takes a plain file name", script->path, line);
    add_step(script, save ? SCRIPT_SAVE : SCRIPT_EXPECT, line)->text = mem_strdup(rest);
    return true;
}

bool script_parse(struct script *script, const char *text, const char *path, struct err *err)
{
    memset(script, 0, sizeof *script);
    script->path = mem_strdup(path);
    char *copy = mem_strdup(text), *rest = copy;
    bool ok = true;
    for (int line = 1; ok && rest; line++) {
        char *one = strsep(&rest, "\n");
        ok = add_line(script, one, line, err);
    }
    free(copy);
    if (!ok)
        script_free(script);
    return ok;
}

bool script_load(struct script *script, const char *path, struct err *err)
{
    struct buf text = {0};
    bool ok =
        file_read(&text, path, 1 << 20, err) && script_parse(script, buf_str(&text), path, err);
    buf_free(&text);
    return ok;
}

void script_free(struct script *script)
{
    for (size_t i = 0; i < script->count; i++)
        free(script->steps[i].text);
    free(script->steps);
    free(script->path);
    memset(script, 0, sizeof *script);
}

/* How to read this file: a PTX text names its files in .file lines (NVRTC writes them at the end)
 * and says with .loc where the instructions after it come from. Inlined code carries "inlined_at
 * FILE LINE COLUMN", which is the position of an earlier .loc; following those leads out to the
 * caller. */
#include "diagnostic.h"

#include "harness/base/buf.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct loc {
    unsigned file, line, column;
    bool inlined;
    unsigned at_file, at_line, at_column;
};

struct locs {
    struct loc *items;
    size_t count;
    unsigned wanted_file; /* number of the student's file; 0 when the text has none */
};

static bool names_file(const char *path, const char *name)
{
    const char *last = strrchr(path, '/');
    return strcmp(last ? last + 1 : path, name) == 0;
}

static void read_file_line(struct locs *locs, const char *line, const char *name)
{
    unsigned number;
    char path[4096];
    if (sscanf(line, ".file %u \"%4095[^\"]\"", &number, path) == 2 && names_file(path, name))
        locs->wanted_file = number;
}

static bool read_loc(struct loc *out, const char *line)
{
    *out = (struct loc){0};
    if (sscanf(line, ".loc %u %u %u", &out->file, &out->line, &out->column) != 3)
        return false;
    const char *inlined = strstr(line, "inlined_at ");
    out->inlined = inlined && sscanf(inlined, "inlined_at %u %u %u", &out->at_file, &out->at_line,
                                     &out->at_column) == 3;
    return true;
}

/* The student's line for the newest .loc, 0 when it leads nowhere in the student's file. */
static unsigned student_line(const struct locs *locs)
{
    if (!locs->count)
        return 0;
    size_t i = locs->count - 1;
    for (;;) {
        const struct loc *loc = &locs->items[i];
        if (loc->file == locs->wanted_file)
            return loc->line;
        if (!loc->inlined)
            return 0;
        if (loc->at_file == locs->wanted_file)
            return loc->at_line;
        size_t k = i; /* only earlier ones: garbage cannot lead round in circles */
        while (k > 0 && (locs->items[k - 1].file != loc->at_file ||
                         locs->items[k - 1].line != loc->at_line ||
                         locs->items[k - 1].column != loc->at_column))
            k--;
        if (k == 0)
            return 0;
        i = k - 1;
    }
}

static char *next_line(char **rest)
{
    char *line = strsep(rest, "\n");
    return line ? line + strspn(line, " \t") : NULL;
}

void diagnostics_map_ptx(struct diagnostics *out, const char *ptx, size_t len, const char *name)
{
    struct locs locs = {0};
    char *text = mem_alloc(len + 1);
    memcpy(text, ptx, len);
    text[len] = '\0';
    for (char *rest = text, *line; (line = next_line(&rest));)
        read_file_line(&locs, line, name);
    memcpy(text, ptx, len); /* strsep wrote into it */
    unsigned number = 0;
    for (char *rest = text, *line; locs.wanted_file && (line = next_line(&rest));) {
        struct loc loc;
        number++;
        if (read_loc(&loc, line)) {
            locs.items = mem_grow(locs.items, locs.count + 1, sizeof *locs.items);
            locs.items[locs.count++] = loc;
        }
        for (size_t i = 0; i < out->count; i++) {
            struct diagnostic *item = &out->items[i];
            if (item->ptx_line != number || item->line)
                continue;
            item->line = student_line(&locs);
            if (item->line && !item->file)
                item->file = mem_strdup(name);
        }
    }
    free(locs.items);
    free(text);
}

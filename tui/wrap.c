#include "wrap.h"

#include "doc.h"

#include "harness/base/buf.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <unilbrk.h>

int wrap_indent(int columns, int indent)
{
    return indent > columns / 2 ? columns / 2 : indent;
}

static void add_row(struct wrap *out, const char *text, size_t from, size_t to)
{
    while (to > from && text[to - 1] == ' ')
        to--;
    if (out->count == out->capacity) {
        out->capacity = out->capacity ? out->capacity * 2 : 8;
        out->rows = mem_grow(out->rows, out->capacity, sizeof *out->rows);
    }
    out->rows[out->count++] = (struct wrap_row){(uint32_t)from, (uint32_t)to};
}

static bool is_alnum(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Unicode lets cp.async break behind its dot. Names of instructions, flags and paths are better
 * whole: inside ASCII a row ends behind a blank, or behind a - or / within a word. */
static bool is_break(const char *text, size_t at, const char *breaks)
{
    if (breaks[at] != UC_BREAK_POSSIBLE || at == 0)
        return false;
    char last = text[at - 1];
    if (last == ' ' || (unsigned char)last >= 0x80 || (unsigned char)text[at] >= 0x80)
        return true;
    return (last == '-' || last == '/') && at > 1 && is_alnum(text[at - 2]) && is_alnum(text[at]);
}

/* Where the row that starts at `from` ends, when text up to `at` fits and more does not. A break
 * that would leave an empty row is none. */
static size_t cut(const char *text, size_t from, size_t at, size_t possible)
{
    for (size_t i = from; i < possible; i++)
        if (text[i] != ' ')
            return possible;
    return at;
}

void wrap_text(struct wrap *out, const char *text, size_t len, int columns, int indent)
{
    char *breaks = mem_alloc(len);
    u8_possible_linebreaks((const uint8_t *)text, len, "UTF-8", breaks);
    out->count = 0;
    size_t from = 0, at = 0, possible = 0;
    int taken = 0, width = columns;
    while (at < len) {
        int more;
        size_t bytes = text_cluster(text + at, len - at, &more);
        if (is_break(text, at, breaks))
            possible = at;
        if (taken + more <= width || text[at] == ' ' || at == from) {
            taken += more;
            at += bytes;
            continue;
        }
        size_t end = cut(text, from, at, possible);
        add_row(out, text, from, end);
        from = at = possible = end;
        taken = 0;
        width = columns - wrap_indent(columns, indent);
    }
    add_row(out, text, from, len);
    free(breaks);
}

void wrap_free(struct wrap *wrap)
{
    free(wrap->rows);
    *wrap = (struct wrap){0};
}

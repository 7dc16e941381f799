#include "wrap.h"

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

static size_t run_before(const char *text, size_t at)
{
    size_t from = at;
    while (from > 0 && is_alnum(text[from - 1]))
        from--;
    return at - from;
}

static size_t run_behind(const char *text, size_t len, size_t at)
{
    size_t to = at;
    while (to < len && is_alnum(text[to]))
        to++;
    return to - at;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* What belongs to the number in front of it. */
static const char *const units[] = {
    "%",       "x",    "B",    "KB",   "KiB",  "MB",   "MiB",   "GB",    "GiB",    "TB",
    "TiB",     "KB/s", "MB/s", "GB/s", "TB/s", "FLOP", "GFLOP", "TFLOP", "FLOP/s", "GFLOP/s",
    "TFLOP/s", "ns",   "us",   "µs",   "ms",   "s",    "Hz",    "MHz",   "GHz",
};

static bool is_unit(const char *text, size_t len)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t unit = strlen(units[i]);
        if (unit <= len && memcmp(text, units[i], unit) == 0 &&
            (unit == len || (!is_alnum(text[unit]) && text[unit] != '/')))
            return true;
    }
    return false;
}

/* Whether a blank at `at - 1` stands inside a quantity: 97 %, 48 KiB, 128 x 16. */
static bool in_quantity(const char *text, size_t len, size_t at)
{
    if (at >= 2 && is_digit(text[at - 2]) && is_unit(text + at, len - at))
        return true;
    return at >= 4 && at < len && memcmp(text + at - 3, " x", 2) == 0 && is_digit(text[at - 4]) &&
           is_digit(text[at]);
}

/* Unicode lets cp.async break behind its dot. Names of instructions, flags and paths are better
 * whole: inside ASCII a row ends behind a blank, or behind a - or / between words. */
static bool is_good(const char *text, size_t len, size_t at)
{
    enum { WORD = 3 };
    char last = text[at - 1];
    if (last == ' ')
        return !in_quantity(text, len, at);
    if ((unsigned char)last >= 0x80 || (unsigned char)text[at] >= 0x80)
        return true;
    size_t before = run_before(text, at - 1), behind = run_behind(text, len, at);
    return (last == '-' && before && behind) || (last == '/' && before >= WORD && behind >= WORD);
}

static char *find_breaks(const char *text, size_t len)
{
    char *breaks = mem_alloc(len);
    u8_possible_linebreaks((const uint8_t *)text, len, "UTF-8", breaks);
    for (size_t at = 0; at < len; at++)
        breaks[at] = at > 0 && breaks[at] == UC_BREAK_POSSIBLE && is_good(text, len, at);
    return breaks;
}

/* Code inside a paragraph: cross-stream is one name, and wait_group 1 better read in one row. */
static void forbid_in_code(char *breaks, const struct doc_line *line)
{
    enum { SHORT = 16 };
    uint32_t at = 0;
    for (uint32_t i = 0; i < line->span_count; at += line->spans[i++].len)
        for (uint32_t k = 1; line->spans[i].style == STYLE_CODE && k < line->spans[i].len; k++)
            if (line->text[at + k - 1] != ' ' || line->spans[i].len <= SHORT)
                breaks[at + k] = false;
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

static void wrap_at(struct wrap *out, const char *text, size_t len, const char *breaks, int columns,
                    int indent)
{
    out->count = 0;
    size_t from = 0, at = 0, possible = 0;
    int taken = 0, width = columns;
    while (at < len) {
        int more;
        size_t bytes = text_cluster(text + at, len - at, &more);
        if (breaks[at])
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
}

void wrap_text(struct wrap *out, const char *text, size_t len, int columns, int indent)
{
    char *breaks = find_breaks(text, len);
    wrap_at(out, text, len, breaks, columns, indent);
    free(breaks);
}

void wrap_line(struct wrap *out, const struct doc_line *line, int columns, int indent)
{
    size_t len;
    const char *text = doc_line_text(line, &len);
    char *breaks = find_breaks(text, len);
    forbid_in_code(breaks, line);
    wrap_at(out, text, len, breaks, columns, indent);
    free(breaks);
}

void wrap_free(struct wrap *wrap)
{
    free(wrap->rows);
    *wrap = (struct wrap){0};
}

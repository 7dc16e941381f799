/* How to read this file: diagnostics_parse walks over lines. A line that starts a complaint (one of
 * the recognise_ functions) opens an item; what follows up to an empty line or the next complaint
 * continues it. The compiler repeats the source line and points below it with a caret: those two
 * lines become the column. Summaries ("2 errors detected ...") are dropped. */
#include "diagnostic.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 100000000, CONTINUED_MOST = 12, TEXT_MOST = 2000 };

struct line { /* borrowed from the cleaned log, without its '\n' */
    const char *text;
    size_t len;
};

static bool starts(struct line line, const char *with)
{
    size_t len = strlen(with);
    return line.len >= len && memcmp(line.text, with, len) == 0;
}

static struct line skip(struct line line, size_t bytes)
{
    bytes = bytes < line.len ? bytes : line.len;
    return (struct line){line.text + bytes, line.len - bytes};
}

static struct line trim(struct line line)
{
    while (line.len && isspace((unsigned char)line.text[0]))
        line = skip(line, 1);
    while (line.len && isspace((unsigned char)line.text[line.len - 1]))
        line.len--;
    return line;
}

static bool take_number(struct line *line, unsigned *out)
{
    unsigned value = 0;
    size_t digits = 0;
    while (digits < line->len && isdigit((unsigned char)line->text[digits])) {
        value = value < LINE_MOST ? value * 10 + (unsigned)(line->text[digits] - '0') : value;
        digits++;
    }
    *out = value;
    *line = skip(*line, digits);
    return digits > 0;
}

/* "error", "error #20", "warning #177-D", "fatal   ", "catastrophic error" up to the colon. */
static bool take_severity(struct line *line, enum severity *out)
{
    static const struct {
        const char *word;
        enum severity severity;
    } words[] = {
        {"catastrophic error", SEVERITY_ERROR},
        {"internal error", SEVERITY_ERROR},
        {"fatal error", SEVERITY_ERROR},
        {"error", SEVERITY_ERROR},
        {"fatal", SEVERITY_ERROR},
        {"warning", SEVERITY_WARNING},
        {"note", SEVERITY_NOTE},
        {"remark", SEVERITY_NOTE},
        {"info", SEVERITY_NOTE},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!starts(*line, words[i].word))
            continue;
        struct line rest = skip(*line, strlen(words[i].word));
        if (starts(rest, " #"))
            for (rest = skip(rest, 2);
                 rest.len && !isspace((unsigned char)*rest.text) && *rest.text != ':';)
                rest = skip(rest, 1);
        while (rest.len && *rest.text == ' ')
            rest = skip(rest, 1);
        if (!starts(rest, ":"))
            continue;
        *out = words[i].severity;
        *line = trim(skip(rest, 1));
        return true;
    }
    return false;
}

static char *copy(struct line line)
{
    size_t len = line.len < TEXT_MOST ? line.len : TEXT_MOST;
    while (len < line.len && len && ((unsigned char)line.text[len] & 0xc0) == 0x80)
        len--;
    char *text = mem_alloc(len + 1);
    memcpy(text, line.text, len);
    text[len] = '\0';
    return text;
}

static bool fill(struct diagnostic *out, struct line file, unsigned line, unsigned column,
                 enum severity severity, struct line text)
{
    *out = (struct diagnostic){.severity = severity, .line = line, .column = column};
    out->file = file.len ? copy(file) : NULL;
    out->text = copy(text);
    return true;
}

/* kernel.cu(12): error: ...   also "kernel.cu", line 12: error: ... of old front ends. The name may
 * hold blanks and parentheses, so every "(" is tried. */
static bool recognise_front_end(struct line line, struct diagnostic *out)
{
    for (size_t at = 1; at < line.len; at++) {
        if (line.text[at] != '(')
            continue;
        struct line rest = skip(line, at + 1);
        unsigned number;
        enum severity severity;
        if (!take_number(&rest, &number) || !starts(rest, "): "))
            continue;
        rest = skip(rest, 3);
        if (take_severity(&rest, &severity))
            return fill(out, (struct line){line.text, at}, number, 0, severity, rest);
    }
    return false;
}

/* kernel.cu:12:5: error: ...   of gcc and clang. */
static bool recognise_host(struct line line, struct diagnostic *out)
{
    for (size_t at = 1; at < line.len; at++) {
        if (line.text[at] != ':')
            continue;
        struct line rest = skip(line, at + 1);
        unsigned number, column = 0;
        enum severity severity;
        if (!take_number(&rest, &number))
            continue;
        if (starts(rest, ":")) {
            struct line behind = skip(rest, 1);
            if (take_number(&behind, &column))
                rest = behind;
        }
        if (!starts(rest, ": "))
            continue;
        rest = skip(rest, 2);
        if (take_severity(&rest, &severity))
            return fill(out, (struct line){line.text, at}, number, column, severity, rest);
    }
    return false;
}

/* ptxas application ptx input, line 44; error   : ...      ptxas error   : ...     nvcc fatal   :
 * ... */
static bool recognise_tool(struct line line, struct diagnostic *out)
{
    static const char *const tools[] = {"ptxas", "nvcc", "nvlink", "fatbinary", "cicc", "nvrtc"};
    size_t i = 0;
    while (i < sizeof tools / sizeof *tools && !starts(line, tools[i]))
        i++;
    if (i == sizeof tools / sizeof *tools)
        return false;
    struct line rest = skip(line, strlen(tools[i]));
    unsigned ptx_line = 0;
    enum severity severity;
    for (size_t at = 0; at + 7 < rest.len; at++) {
        struct line behind = skip(rest, at);
        unsigned number;
        if (!starts(behind, ", line "))
            continue;
        behind = skip(behind, 7);
        if (take_number(&behind, &number) && starts(behind, ";")) {
            ptx_line = number;
            rest = skip(behind, 1);
            break;
        }
    }
    rest = trim(rest);
    if (!take_severity(&rest, &severity))
        return false;
    fill(out, (struct line){0}, 0, 0, severity, rest);
    out->ptx_line = ptx_line;
    return true;
}

/* cc1plus: out of memory allocating 4294967312 bytes ...   with no word that calls it an error. */
static bool recognise_end(struct line line, struct diagnostic *out)
{
    static const char *const signs[] = {": out of memory allocating ", "LLVM ERROR: out of memory",
                                        "std::bad_alloc"};
    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (memmem(line.text, line.len, signs[i], strlen(signs[i])))
            return fill(out, (struct line){0}, 0, 0, SEVERITY_ERROR, line);
    return false;
}

/* At end of source: error: expected a "}"   says no line; place_at_end finds one. */
static const char end_of_source[] = "At end of source: ";

static bool recognise_end_of_source(struct line line, struct diagnostic *out)
{
    enum severity severity;
    if (!starts(line, end_of_source))
        return false;
    line = skip(line, sizeof end_of_source - 1);
    if (!take_severity(&line, &severity))
        return false;
    fill(out, (struct line){0}, 0, 0, severity, line);
    char *text = mem_printf(_("%s at the end of the source"), out->text);
    free(out->text);
    out->text = text;
    return true;
}

static bool recognise(struct line line, struct diagnostic *out)
{
    if (!line.len || isspace((unsigned char)*line.text))
        return false;
    return recognise_tool(line, out) || recognise_end_of_source(line, out) ||
           recognise_front_end(line, out) || recognise_host(line, out) || recognise_end(line, out);
}

/* Lines that only sum up what others said. */
static bool is_summary(struct line line)
{
    static const char *const tails[] = {" detected in the compilation of ",
                                        "Compilation terminated.", "Compilation aborted",
                                        "compilation terminated."};
    for (size_t i = 0; i < sizeof tails / sizeof *tails; i++)
        if (memmem(line.text, line.len, tails[i], strlen(tails[i])))
            return true;
    return starts(line, "Remark:") || starts(line, "Ptx assembly aborted");
}

static bool is_caret(struct line line, unsigned *column)
{
    size_t at = 0;
    while (at < line.len && (line.text[at] == ' ' || line.text[at] == '\t'))
        at++;
    if (at >= line.len || line.text[at] != '^' || trim(skip(line, at)).len != 1)
        return false;
    *column = at >= 2 ? (unsigned)(at - 2) + 1 : 1; /* both lines are indented by two */
    return true;
}

/* gcc's copy of the source: "   12 |     int x" and "      |     ^~~". */
static bool is_quotation(struct line line)
{
    line = trim(line);
    unsigned number;
    take_number(&line, &number);
    return starts(trim(line), "|");
}

static bool is_room(struct diagnostics *out)
{
    if (out->count < DIAGNOSTICS_MOST)
        return true;
    out->cut = true;
    return false;
}

static void append(struct diagnostics *out, struct diagnostic item)
{
    out->items = mem_grow(out->items, out->count + 1, sizeof *out->items);
    out->items[out->count++] = item;
}

static void forget(struct diagnostic *item)
{
    free(item->file);
    free(item->text);
}

/* Continuation lines of the open item, kept back by one because a caret drops the line before it.
 */
struct open_item {
    struct diagnostic *item;
    struct diagnostic *last_at_end; /* the item before this line, if the source ended there */
    struct line held;
    int continued;
};

static void flush_held(struct open_item *open)
{
    struct line line = trim(open->held);
    open->held = (struct line){0};
    if (!open->item || !line.len || ++open->continued > CONTINUED_MOST)
        return;
    char *joined = mem_printf("%s\n%.*s", open->item->text,
                              (int)(line.len < TEXT_MOST ? line.len : TEXT_MOST), line.text);
    free(open->item->text);
    open->item->text = joined;
}

/* ptxas -v: figures of its second line. */
static bool read_figures(struct diagnostics *out, struct line line)
{
    static const char word[] = " bytes spill stores, ";
    const char *at = memmem(line.text, line.len, word, sizeof word - 1);
    if (!at)
        return false;
    const char *first = at;
    while (first > line.text && isdigit((unsigned char)first[-1]))
        first--;
    struct line stores = {first, (size_t)(at - first)};
    struct line loads = skip(line, (size_t)(at - line.text) + sizeof word - 1);
    unsigned a = 0, b = 0;
    take_number(&stores, &a);
    take_number(&loads, &b);
    out->spill_bytes += a + b;
    return true;
}

/* What went wrong with the machine and not with the kernel. */
static void notice_setup(struct diagnostics *out, const struct diagnostic *item)
{
    static const char *const signs[] = {"unsupported GNU version",
                                        "unsupported clang version",
                                        "unsupported Microsoft Visual Studio",
                                        "Failed to preprocess host compiler properties",
                                        "No supported gcc/g++ host compiler found",
                                        "cuda_runtime.h: No such file",
                                        "cuda_runtime_api.h: No such file"};
    for (size_t i = 0; !out->setup && i < sizeof signs / sizeof *signs; i++)
        if (strstr(item->text, signs[i]))
            out->setup = mem_strdup(item->text);
}

/* What is still open where the source ends stands in the note behind the complaint: that is the
 * line to look at. */
static void place_at_end(struct diagnostic *complaint, const struct diagnostic *next)
{
    if (!complaint || next->severity != SEVERITY_NOTE || !next->line)
        return;
    complaint->file = next->file ? mem_strdup(next->file) : NULL;
    complaint->line = next->line;
}

static void parse_line(struct diagnostics *out, struct open_item *open, struct line line)
{
    struct diagnostic item;
    unsigned column;
    if (read_figures(out, line)) {
        return;
    } else if (recognise(line, &item)) {
        flush_held(open);
        bool at_end = false;
        open->item = NULL;
        open->continued = 0;
        struct line text = {item.text, strlen(item.text)};
        bool information = starts(line, "ptxas info") || starts(line, "nvcc info");
        notice_setup(out, &item);
        place_at_end(open->last_at_end, &item);
        if (information || is_summary(text) || !is_room(out)) {
            forget(&item);
        } else {
            append(out, item);
            open->item = &out->items[out->count - 1];
            at_end = starts(line, end_of_source);
        }
        open->last_at_end = at_end ? open->item : NULL;
    } else if (is_summary(line) || !trim(line).len) {
        flush_held(open);
        open->item = NULL;
    } else if (is_quotation(line)) {
        flush_held(open);
    } else if (is_caret(line, &column)) {
        if (open->item && !open->item->column)
            open->item->column = column;
        open->held = (struct line){0};
    } else {
        flush_held(open);
        open->held = line;
    }
}

void diagnostics_parse(struct diagnostics *out, const char *log, size_t len)
{
    struct buf text = {0};
    clean_text(&text, log, len);
    struct open_item open = {0};
    for (const char *at = buf_str(&text); *at;) {
        size_t length = strcspn(at, "\n");
        parse_line(out, &open, (struct line){at, length});
        at += length + (at[length] == '\n');
    }
    flush_held(&open);
    buf_free(&text);
}

void diagnostics_add(struct diagnostics *out, enum severity severity, const char *file,
                     unsigned line, const char *text)
{
    struct diagnostic item = {.severity = severity, .line = line};
    item.file = file ? mem_strdup(file) : NULL;
    struct buf clean = {0};
    clean_text(&clean, text, strlen(text));
    item.text = buf_take(&clean);
    append(out, item);
}

static bool same(const struct diagnostic *a, const struct diagnostic *b)
{
    return a->severity == b->severity && a->line == b->line && a->column == b->column &&
           strcmp(a->text, b->text) == 0 &&
           strcmp(a->file ? a->file : "", b->file ? b->file : "") == 0;
}

void diagnostics_drop_repeated(struct diagnostics *out)
{
    size_t kept = 0;
    for (size_t i = 0; i < out->count; i++) {
        size_t earlier = 0;
        while (earlier < kept && !same(&out->items[earlier], &out->items[i]))
            earlier++;
        if (earlier < kept)
            forget(&out->items[i]);
        else
            out->items[kept++] = out->items[i];
    }
    out->count = kept;
}

void diagnostics_drop_below(struct diagnostics *out, const char *folder)
{
    size_t kept = 0, len = strlen(folder);
    for (size_t i = 0; i < out->count; i++) {
        struct diagnostic *item = &out->items[i];
        bool below = item->file && strncmp(item->file, folder, len) == 0 && item->file[len] == '/';
        if (below && item->severity != SEVERITY_ERROR)
            forget(item);
        else
            out->items[kept++] = *item;
    }
    out->count = kept;
}

void diagnostics_free(struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->count; i++)
        forget(&diagnostics->items[i]);
    free(diagnostics->items);
    free(diagnostics->setup);
    *diagnostics = (struct diagnostics){0};
}

json_t *diagnostics_json(const struct diagnostics *diagnostics)
{
    static const char *const names[] = {"error", "warning", "note"};
    json_t *list = json_array();
    for (size_t i = 0; i < diagnostics->count; i++) {
        const struct diagnostic *item = &diagnostics->items[i];
        json_t *entry = json_object();
        json_object_set_new(entry, "severity", json_string(names[item->severity]));
        if (item->file)
            json_object_set_new(entry, "file", json_string(item->file));
        if (item->line)
            json_object_set_new(entry, "line", json_integer(item->line));
        if (item->column)
            json_object_set_new(entry, "column", json_integer(item->column));
        json_object_set_new(entry, "text", json_string(item->text));
        json_array_append_new(list, entry);
    }
    return list;
}

#include "doc.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unigbrk.h>
#include <uniwidth.h>

enum {
    TAB_SIZE = 8,
    BLOCK_BYTES = 1 << 14,
    SPAN_MAX = 0xFFFFFF, /* bytes of one span */
    MARKS_MAX = 4        /* a curses cell holds no more */
};

static int char_columns(uint32_t code)
{
    if (code < 0x7F)
        return 1;
    int columns = uc_width(code, "UTF-8");
    return columns < 0 ? 0 : columns;
}

static size_t ascii_run(const char *text, size_t len)
{
    size_t run = 0;
    while (run < len && text[run] >= 0x20)
        run++;
    return run;
}

size_t text_cluster(const char *text, size_t len, int *columns)
{
    uint32_t code, next;
    size_t at = utf8_decode(&code, text, len);
    *columns = char_columns(code);
    while (at < len && (unsigned char)text[at] >= 0x80) {
        size_t bytes = utf8_decode(&next, text + at, len - at);
        int more = char_columns(next);
        /* No cluster is wider than 2: terminals draw a longer one as several cells anyway. */
        if ((more > 0 && uc_is_grapheme_break(code, next)) || *columns + more > 2)
            break;
        *columns += more;
        at += bytes;
        code = next;
    }
    return at;
}

int text_columns(const char *text, size_t len)
{
    int columns = 0;
    for (size_t at = 0; at < len;) {
        size_t run = ascii_run(text + at, len - at);
        columns += (int)run;
        at += run;
        if (at < len) {
            uint32_t code;
            at += utf8_decode(&code, text + at, len - at);
            columns += char_columns(code);
        }
    }
    return columns;
}

size_t text_fit(const char *text, size_t len, int columns, int *used)
{
    size_t at = 0;
    int taken = 0;
    columns = columns > 0 ? columns : 0;
    while (at < len) {
        int more;
        size_t run = ascii_run(text + at, len - at), left = (size_t)(columns - taken);
        if (run > 1) {
            /* All but the last are whole for sure; a mark may follow the last. */
            run = run - 1 < left ? run - 1 : left;
            if (!run)
                break;
            taken += (int)run;
            at += run;
            continue;
        }
        size_t bytes = text_cluster(text + at, len - at, &more);
        if (taken + more > columns)
            break;
        taken += more;
        at += bytes;
    }
    if (used)
        *used = taken;
    return at;
}

static struct doc_line *open_line(struct doc *doc)
{
    if (doc->open)
        return &doc->lines[doc->line_count - 1];
    if (doc->line_count == doc->line_capacity) {
        doc->line_capacity = doc->line_capacity ? doc->line_capacity * 2 : 64;
        doc->lines = mem_grow(doc->lines, doc->line_capacity, sizeof *doc->lines);
    }
    struct doc_line *line = &doc->lines[doc->line_count++];
    *line = (struct doc_line){.spans = doc->spans};
    doc->open = true;
    doc->tab_origin = 0;
    doc->marks = 0;
    return line;
}

/* Room for `len` more bytes right behind the open line's text; the text moves when its block is
 * full. */
static char *room(struct doc *doc, struct doc_line *line, size_t len)
{
    if (doc->block_size - doc->block_used < len) {
        size_t have = line->len, want = (have + len) * 2;
        doc->block_size = want > BLOCK_BYTES ? want : BLOCK_BYTES;
        doc->block = arena_alloc(&doc->arena, doc->block_size);
        doc->block_used = have;
        if (have)
            memcpy(doc->block, line->text, have);
        line->text = doc->block;
    }
    char *place = doc->block + doc->block_used;
    if (!line->span_count)
        line->text = place;
    doc->block_used += len;
    return place;
}

static struct span *next_span(struct doc *doc, struct doc_line *line, enum style style)
{
    struct span *last = line->span_count ? &line->spans[line->span_count - 1] : NULL;
    if (last && last->style == style && last->len < SPAN_MAX)
        return last;
    if (line->span_count == doc->span_capacity) {
        doc->span_capacity = doc->span_capacity ? doc->span_capacity * 2 : 16;
        line->spans = doc->spans = mem_grow(doc->spans, doc->span_capacity, sizeof *doc->spans);
    }
    last = &line->spans[line->span_count++];
    *last = (struct span){.style = style & 0xFF};
    return last;
}

static void append(struct doc *doc, enum style style, const char *bytes, size_t len, size_t columns)
{
    struct doc_line *line = open_line(doc);
    if (!len)
        return;
    memcpy(room(doc, line, len), bytes, len);
    line->columns += (uint32_t)columns;
    line->len += (uint32_t)len;
    while (len) {
        struct span *span = next_span(doc, line, style);
        size_t left = SPAN_MAX - (size_t)span->len, part = left < len ? left : len;
        span->len = (span->len + (uint32_t)part) & SPAN_MAX;
        len -= part;
    }
}

static void append_tab(struct doc *doc, enum style style)
{
    static const char blanks[] = "                ";
    const struct doc_line *line = open_line(doc);
    size_t size = doc->tab_size > 0 ? (size_t)doc->tab_size : TAB_SIZE;
    size = size < sizeof blanks ? size : sizeof blanks - 1;
    size_t count = size - (line->columns - doc->tab_origin) % size;
    append(doc, style, blanks, count, count);
}

static void append_char(struct doc *doc, enum style style, const char *bytes, size_t len,
                        uint32_t code)
{
    int columns = char_columns(code);
    if (columns > 0) {
        doc->marks = 0;
    } else {
        if (open_line(doc)->columns == 0)
            append(doc, style, " ", 1, 1);
        if (doc->marks >= MARKS_MAX)
            return;
        doc->marks++;
    }
    append(doc, style, bytes, len, (size_t)columns);
}

static void add_clean(struct doc *doc, enum style style, const char *text, size_t len)
{
    for (size_t at = 0; at < len;) {
        size_t run = ascii_run(text + at, len - at);
        if (run) {
            open_line(doc);
            doc->marks = 0;
            append(doc, style, text + at, run, run);
            at += run;
        } else if (text[at] == '\n') {
            doc_end_line(doc);
            at++;
        } else if (text[at] == '\t') {
            append_tab(doc, style);
            at++;
        } else {
            uint32_t code;
            size_t bytes = utf8_decode(&code, text + at, len - at);
            append_char(doc, style, text + at, bytes, code);
            at += bytes;
        }
    }
}

void doc_add(struct doc *doc, enum style style, const char *text, size_t len)
{
    size_t plain = 0;
    while (plain < len && ((text[plain] >= 0x20 && text[plain] < 0x7F) || text[plain] == '\n' ||
                           text[plain] == '\t'))
        plain++;
    if (plain == len) {
        add_clean(doc, style, text, len);
        return;
    }
    struct buf clean = {0};
    clean_text(&clean, text, len);
    add_clean(doc, style, buf_str(&clean), clean.len);
    buf_free(&clean);
}

void doc_add_str(struct doc *doc, enum style style, const char *text)
{
    doc_add(doc, style, text, strlen(text));
}

void doc_printf(struct doc *doc, enum style style, const char *format, ...)
{
    char *made = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&made, format, args);
    va_end(args);
    if (len >= 0) {
        doc_add(doc, style, made, (size_t)len);
        free(made);
    }
}

struct doc_line *doc_end_line(struct doc *doc)
{
    struct doc_line *line = open_line(doc);
    struct span *spans = NULL;
    if (line->span_count) {
        spans = arena_array(&doc->arena, line->span_count, sizeof *spans);
        memcpy(spans, line->spans, line->span_count * sizeof *spans);
    }
    line->spans = spans;
    doc->open = false;
    return line;
}

void doc_set_tab_origin(struct doc *doc)
{
    doc->tab_origin = open_line(doc)->columns;
}

const char *doc_line_text(const struct doc_line *line, size_t *len)
{
    *len = line->len;
    return *len ? line->text : "";
}

void doc_free(struct doc *doc)
{
    arena_free(&doc->arena);
    free(doc->lines);
    free(doc->spans);
    *doc = (struct doc){0};
}

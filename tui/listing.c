/* How to read this: a listing is read line by line. `classify` says what a line is; lines that only
 * carry information (.loc, //## File) change the reader's state and are left out unless noise is
 * wanted. The margin is four parts: landmark mark, region mark, source line, blank. */
#include "listing.h"

#include "highlight.h"
#include "listing_lines.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct reader {
    struct listing *out;
    const struct listing_options *options;
    struct listing_lines lines;
    struct highlight highlight;
    bool in_region;
    bool in_section;    /* PTX: a debug section's braces */
    bool past_end;      /* SASS: behind the branch to itself that ends a function */
    bool blank;         /* the last line shown was empty */
    int32_t shown_line; /* source line that the margin gave last */
    int digits;         /* of the source line's column */
};

static bool is_name_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '$' || c == '.';
}

/* Bytes of a label with its colon; 0 when there is none. Two colons are part of an opcode. */
static size_t label_len(const char *text, size_t len)
{
    size_t at = 0;
    while (at < len && is_name_char(text[at]))
        at++;
    bool label = at > 0 && at < len && text[at] == ':' && !(at + 1 < len && text[at + 1] == ':');
    return label ? at + 1 : 0;
}

static bool is_filler(char c)
{
    return c == ' ' || c == '\t' || c == '{' || c == '}' || c == ';';
}

/* The next statement of a line: behind blanks, braces, comments, labels and the predicate. `*at`
 * moves past it. */
static const char *next_statement(const char *text, size_t len, size_t *at, size_t *statement_len)
{
    size_t from = *at;
    while (from < len) {
        if (is_filler(text[from])) {
            from++;
        } else if (len - from >= 2 && text[from] == '/' && text[from + 1] == '*') {
            const char *end = memmem(text + from, len - from, "*/", 2);
            from = end ? (size_t)(end + 2 - text) : len;
        } else if (label_len(text + from, len - from)) {
            from += label_len(text + from, len - from);
        } else {
            break;
        }
    }
    size_t to = from;
    while (to < len && text[to] != ';' && !(text[to] == '/' && to + 1 < len && text[to + 1] == '/'))
        to++;
    *at = to < len && text[to] == ';' ? to + 1 : len;
    if (from < to && text[from] == '@') {
        while (from < to && text[from] != ' ' && text[from] != '\t')
            from++;
        while (from < to && (text[from] == ' ' || text[from] == '\t'))
            from++;
    }
    *statement_len = to - from;
    return from < to ? text + from : NULL;
}

static bool is_opcode_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == ':';
}

static size_t opcode_len(enum lab_listing kind, const char *statement, size_t len)
{
    size_t to = 0;
    char first = len ? statement[0] : '\0';
    bool starts = kind == LISTING_PTX ? first >= 'a' && first <= 'z' : first >= 'A' && first <= 'Z';
    while (starts && to < len && is_opcode_char(statement[to]))
        to++;
    /* A label, or a name in a list of parameters. */
    if (to &&
        (statement[to - 1] == ':' || (to < len && (statement[to] == '(' || statement[to] == '='))))
        return 0;
    return to;
}

static bool is_landmark(const struct reader *reader, const char *statement, size_t len)
{
    for (size_t i = 0; i < reader->options->landmark_count; i++) {
        const struct lab_landmark *landmark = &reader->options->landmarks[i];
        size_t match = strlen(landmark->match);
        if (landmark->listing != reader->out->kind || match > len)
            continue;
        if (landmark->since && reader->out->arch &&
            capability_parse(landmark->since) > reader->out->arch)
            continue;
        if (memcmp(statement, landmark->match, match) == 0)
            return true;
    }
    return false;
}

static int32_t tag_of(struct reader *reader, const char *text, size_t len)
{
    int32_t tag = reader->in_region ? LISTING_REGION : 0;
    size_t statement_len;
    for (size_t at = 0; at < len;) {
        const char *statement = next_statement(text, len, &at, &statement_len);
        if (!statement || !opcode_len(reader->out->kind, statement, statement_len))
            continue;
        tag |= LISTING_INSTRUCTION;
        reader->out->instructions++;
        if (is_landmark(reader, statement, statement_len))
            tag |= LISTING_LANDMARK;
    }
    return tag;
}

/* One span where nothing is marked: listings are long, and most lines are like that. */
static void add_margin(struct reader *reader, int32_t tag, int32_t source_line)
{
    struct doc *doc = &reader->out->doc;
    bool numbered = tag & LISTING_INSTRUCTION && source_line && source_line != reader->shown_line;
    char number[24] = "";
    if (numbered) {
        snprintf(number, sizeof number, "%d", source_line);
        reader->shown_line = source_line;
    }
    char text[48];
    int len = snprintf(text, sizeof text, "%*s ", reader->digits, number);
    if (tag & (LISTING_LANDMARK | LISTING_REGION)) {
        doc_add_str(doc, STYLE_LANDMARK, tag & LISTING_LANDMARK ? "*" : " ");
        doc_add_str(doc, STYLE_ASM_REGION, tag & LISTING_REGION ? "|" : " ");
    } else {
        doc_add(doc, STYLE_LINE_NUMBER, "  ", 2);
    }
    doc_add(doc, STYLE_LINE_NUMBER, text, (size_t)len);
    doc_set_tab_origin(doc);
}

static void add_line(struct reader *reader, const char *text, size_t len, int32_t tag)
{
    struct listing *out = reader->out;
    int32_t source_line = tag & LISTING_INSTRUCTION ? reader->lines.line : 0;
    enum language language = out->kind == LISTING_PTX ? LANGUAGE_PTX : LANGUAGE_SASS;
    out->landmarks += (tag & LISTING_LANDMARK) != 0;
    out->regions += (tag & LISTING_BEGIN) != 0;
    add_margin(reader, tag, source_line);
    highlight_line(&out->doc, language, &reader->highlight, text, len);
    struct doc_line *line = doc_end_line(&out->doc);
    for (uint32_t i = 0; tag & LISTING_LANDMARK && i < line->span_count; i++)
        if (line->spans[i].style == STYLE_OPCODE)
            line->spans[i].style = STYLE_LANDMARK;
    line->keep = true;
    line->tag = tag;
    line->source_line = source_line;
    reader->blank = false;
}

static void add_blank(struct reader *reader)
{
    if (reader->blank || !reader->out->doc.line_count)
        return;
    struct doc_line *line = doc_end_line(&reader->out->doc);
    line->keep = true;
    line->tag = 0;
    reader->blank = true;
}

static void add_kernel(struct reader *reader, const char *text, size_t len)
{
    reader->lines.line = 0;
    add_blank(reader);
    reader->shown_line = 0;
    reader->past_end = false;
    reader->out->kernels++;
    add_line(reader, text, len, LISTING_KERNEL);
}

static void read_ptx_line(struct reader *reader, const char *text, size_t len)
{
    bool noise = reader->options->noise;
    struct listing_word name;
    switch (listing_ptx_line(text, len, &name)) {
    case LISTING_LINE_LOCATION:
        listing_lines_ptx(&reader->lines, text, len);
        if (noise)
            add_line(reader, text, len, 0);
        return;
    case LISTING_LINE_SECTION:
        reader->in_section = true;
        if (noise)
            add_line(reader, text, len, 0);
        return;
    case LISTING_LINE_REGION_BEGIN:
        reader->in_region = true;
        add_line(reader, text, len, LISTING_REGION | LISTING_BEGIN);
        return;
    case LISTING_LINE_REGION_END:
        add_line(reader, text, len, reader->in_region ? LISTING_REGION : 0);
        reader->in_region = false;
        return;
    case LISTING_LINE_KERNEL:
        add_kernel(reader, text, len);
        return;
    case LISTING_LINE_BLANK:
        if (noise || !reader->in_region)
            add_blank(reader);
        return;
    case LISTING_LINE_NOISE:
        if (noise)
            add_line(reader, text, len, 0);
        return;
    default:
        add_line(reader, text, len, tag_of(reader, text, len));
        return;
    }
}

/* `{` ... `}` behind .section; the closing brace stands alone. */
static bool skip_section(struct reader *reader, const char *text, size_t len)
{
    if (!reader->in_section)
        return false;
    if (memchr(text, '}', len))
        reader->in_section = false;
    if (reader->options->noise)
        add_line(reader, text, len, 0);
    return true;
}

/* The offset close to its instruction, without the encoding behind it. */
static void add_instruction(struct reader *reader, const char *text, size_t len)
{
    int32_t tag = tag_of(reader, text, len);
    if (reader->options->noise) {
        add_line(reader, text, len, tag);
        return;
    }
    struct listing_word offset, code;
    listing_sass_split(text, len, &offset, &code);
    if (reader->past_end || (!code.len && offset.len))
        return;
    struct buf line = {0};
    if (offset.len) {
        buf_add(&line, offset.text, offset.len);
        buf_add(&line, "  ", 2);
    }
    buf_add(&line, code.text, code.len);
    add_line(reader, line.data ? line.data : "", line.len, tag);
    buf_free(&line);
    reader->past_end = listing_sass_is_end(reader->out, offset, code);
}

static void read_sass_line(struct reader *reader, const char *text, size_t len)
{
    bool noise = reader->options->noise;
    struct listing_word name, line;
    switch (listing_sass_line(text, len, &name)) {
    case LISTING_LINE_LOCATION:
        listing_lines_sass(&reader->lines, text, len);
        if (noise)
            add_line(reader, text, len, 0);
        return;
    case LISTING_LINE_KERNEL:
        line = listing_trim(text, len);
        add_kernel(reader, line.text, line.len);
        return;
    case LISTING_LINE_BLANK:
        add_blank(reader);
        return;
    case LISTING_LINE_NOISE:
        if (noise)
            add_line(reader, text, len, 0);
        return;
    case LISTING_LINE_LABEL:
        reader->past_end = false;
        add_line(reader, text, len, 0);
        return;
    default:
        listing_lines_instruction(&reader->lines);
        add_instruction(reader, text, len);
        return;
    }
}

static int digits_for(const char *text, size_t len, const struct listing_lines *lines,
                      enum lab_listing kind)
{
    struct listing_lines probe = *lines;
    int32_t most = 99;
    for (size_t at = 0; at < len;) {
        const char *end = memchr(text + at, '\n', len - at);
        size_t to = end ? (size_t)(end - text) : len;
        if (kind == LISTING_PTX)
            listing_lines_ptx(&probe, text + at, to - at);
        else
            listing_lines_sass(&probe, text + at, to - at);
        most = probe.line > most ? probe.line : most;
        at = to + 1;
    }
    return snprintf(NULL, 0, "%d", most);
}

void listing_build(struct listing *out, enum lab_listing kind, const char *text, size_t len,
                   const struct listing_options *options)
{
    static const struct listing_options plain = {0};
    struct reader reader = {.out = out, .options = options ? options : &plain};
    struct buf clean = {0};
    clean_text(&clean, text, len);
    out->kind = kind;
    out->doc.tab_size = 4;
    out->arch = listing_arch(buf_str(&clean), clean.len);
    const char *name = reader.options->source_name;
    listing_lines_init(&reader.lines, name ? name : "kernel.cu", kind, buf_str(&clean), clean.len);
    reader.digits = digits_for(buf_str(&clean), clean.len, &reader.lines, kind);
    for (size_t at = 0; at < clean.len;) {
        const char *end = memchr(clean.data + at, '\n', clean.len - at);
        size_t to = end ? (size_t)(end - clean.data) : clean.len;
        const char *line = clean.data + at;
        if (kind == LISTING_SASS)
            read_sass_line(&reader, line, to - at);
        else if (!skip_section(&reader, line, to - at))
            read_ptx_line(&reader, line, to - at);
        at = to + 1;
    }
    buf_free(&clean);
}

void listing_free(struct listing *listing)
{
    doc_free(&listing->doc);
    *listing = (struct listing){0};
}

bool listing_jump(const struct doc *doc, enum listing_tag tag, uint32_t from, int by,
                  uint32_t *line)
{
    size_t count = doc->line_count;
    if (!count)
        return false;
    size_t at = from < count ? from : count - 1;
    for (size_t i = 0; i < count; i++) {
        at = by > 0 ? (at + 1) % count : (at + count - 1) % count;
        if (doc->lines[at].tag & (int32_t)tag) {
            *line = (uint32_t)at;
            return true;
        }
    }
    return false;
}

bool listing_find_source(const struct doc *doc, int32_t source_line, uint32_t *line)
{
    for (size_t i = 0; source_line > 0 && i < doc->line_count; i++)
        if (doc->lines[i].source_line == source_line) {
            *line = (uint32_t)i;
            return true;
        }
    return false;
}

const char *listing_kernel(const struct doc *doc, uint32_t line, size_t *len)
{
    for (size_t at = line < doc->line_count ? line + 1 : doc->line_count; at-- > 0;) {
        struct listing_word name = {0};
        size_t text_len;
        if (!(doc->lines[at].tag & LISTING_KERNEL))
            continue;
        const char *text = doc_line_text(&doc->lines[at], &text_len);
        if (listing_ptx_line(text, text_len, &name) != LISTING_LINE_KERNEL)
            listing_sass_line(text, text_len, &name);
        *len = name.len;
        return name.text;
    }
    return NULL;
}

const char *listing_opcode(const struct doc_line *line, size_t *len)
{
    enum style want = line->tag & LISTING_LANDMARK ? STYLE_LANDMARK : STYLE_OPCODE;
    const char *text = line->text;
    /* Span 0 may be the margin's mark, which has the landmark's style too. */
    for (uint32_t i = 0; line->tag & LISTING_INSTRUCTION && i < line->span_count; i++) {
        *len = line->spans[i].len;
        if (i > 0 && line->spans[i].style == want)
            return text;
        text += *len;
    }
    return NULL;
}

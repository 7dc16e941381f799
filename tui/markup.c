/* How to read this: md4c calls enter/leave for blocks and spans and text in between. `struct
 * writer` holds what surrounds the current place: a stack of margins (list items, quotes) that each
 * new line begins with, and a stack of styles. A table's cells go to small docs of their own, and
 * are laid out when the table ends and the widths are known. */
#include "markup.h"

#include "highlight.h"
#include "markup_entity.h"
#include "markup_table.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <md4c.h>

#include <stdio.h>
#include <string.h>

enum {
    MARGINS_MAX = 24, /* deeper nesting is shown at this depth */
    STYLES_MAX = 32,
    TEXT_MAX = 8 << 20 /* bytes of one text; more is not a lesson */
};

struct margin {
    char marker[16]; /* "• ", "12. ", "[x] "; stands on the first line only */
    int columns;
    enum style style;
    bool quote;   /* a bar on each line */
    bool pending; /* the marker was not written yet */
};

struct list {
    bool ordered, tight;
    unsigned number;
};

struct writer {
    struct doc *doc;
    const struct markup_options *options;
    struct margin margins[MARGINS_MAX];
    int margin_count;
    struct list lists[MARGINS_MAX];
    int list_count;
    int quote_count;
    enum style styles[STYLES_MAX];
    int style_count;
    int heading;     /* level of the open heading, 0 for none */
    bool line_begun; /* the margin of the open line is written */
    bool blank_due;  /* a blank line comes before the next block */
    bool soft_break; /* a line of the source ended; a blank may be needed */
    bool span_ended; /* and nothing came since */
    uint32_t last;   /* the last character of the line */
    bool in_code;    /* a code block */
    enum language language;
    struct buf code;
    struct markup_table table;
    bool in_cell;
};

static struct doc *target(struct writer *writer)
{
    return writer->in_cell ? markup_table_cell(&writer->table) : writer->doc;
}

static int margin_columns(const struct writer *writer)
{
    int columns = writer->options->indent;
    for (int i = 0; i < writer->margin_count && i < MARGINS_MAX; i++)
        columns += writer->margins[i].columns;
    return columns;
}

static void begin_line(struct writer *writer)
{
    if (writer->in_cell || writer->line_begun)
        return;
    writer->line_begun = true;
    writer->last = 0;
    if (writer->options->indent)
        doc_printf(writer->doc, STYLE_NORMAL, "%*s", writer->options->indent, "");
    for (int i = 0; i < writer->margin_count && i < MARGINS_MAX; i++) {
        struct margin *margin = &writer->margins[i];
        if (margin->quote)
            doc_add_str(writer->doc, STYLE_QUOTE, "│ ");
        else if (margin->pending)
            doc_printf(writer->doc, margin->style, "%s", margin->marker);
        else
            doc_printf(writer->doc, STYLE_NORMAL, "%*s", margin->columns, "");
        margin->pending = false;
    }
}

static void end_line(struct writer *writer)
{
    if (!writer->line_begun)
        return;
    doc_end_line(writer->doc)->indent = (uint16_t)margin_columns(writer);
    writer->line_begun = false;
    writer->soft_break = false;
}

static void add_blank(struct writer *writer)
{
    for (int i = 0; i < writer->margin_count && i < MARGINS_MAX; i++) {
        if (writer->margins[i].quote)
            doc_add_str(writer->doc, STYLE_QUOTE, "│ ");
        else if (writer->quote_count)
            doc_printf(writer->doc, STYLE_NORMAL, "%*s", writer->margins[i].columns, "");
    }
    doc_end_line(writer->doc);
}

/* Before each block that has text of its own. */
static void begin_block(struct writer *writer)
{
    end_line(writer);
    if (writer->blank_due)
        add_blank(writer);
    writer->blank_due = false;
}

static void end_block(struct writer *writer)
{
    end_line(writer);
    writer->blank_due = true;
}

static void push_margin(struct writer *writer, const struct margin *margin)
{
    if (writer->margin_count < MARGINS_MAX)
        writer->margins[writer->margin_count] = *margin;
    writer->margin_count++;
}

static void begin_item(struct writer *writer, const MD_BLOCK_LI_DETAIL *item)
{
    static const char *const bullets[] = {"• ", "◦ ", "▪ "};
    int depth = writer->list_count < MARGINS_MAX ? writer->list_count : MARGINS_MAX;
    struct list *list = &writer->lists[depth ? depth - 1 : 0];
    struct margin margin = {.style = STYLE_STRONG, .pending = true};
    if (list->ordered)
        snprintf(margin.marker, sizeof margin.marker, "%u. ", list->number++);
    else if (item->is_task)
        snprintf(margin.marker, sizeof margin.marker, "[%c] ", item->task_mark == ' ' ? ' ' : 'x');
    else
        snprintf(margin.marker, sizeof margin.marker, "%s",
                 bullets[depth < 3 ? depth ? depth - 1 : 0 : 2]);
    margin.columns = text_columns(margin.marker, strlen(margin.marker));
    end_line(writer);
    if (list->tight)
        writer->blank_due = false;
    push_margin(writer, &margin);
}

static void end_item(struct writer *writer)
{
    int top = writer->margin_count - 1;
    if (top < MARGINS_MAX && writer->margins[top].pending) {
        begin_block(writer);
        begin_line(writer);
    }
    end_line(writer);
    writer->margin_count--;
    int depth = writer->list_count < MARGINS_MAX ? writer->list_count : MARGINS_MAX;
    if (!writer->lists[depth ? depth - 1 : 0].tight)
        writer->blank_due = true;
}

static void begin_list(struct writer *writer, bool ordered, bool tight, unsigned start)
{
    if (writer->list_count > 0)
        end_line(writer);
    else
        begin_block(writer);
    if (writer->list_count < MARGINS_MAX)
        writer->lists[writer->list_count] =
            (struct list){.ordered = ordered, .tight = tight, .number = start};
    writer->list_count++;
}

/* Code and tables can't stand beside an item's marker: it gets a line of its own. */
static void flush_marker(struct writer *writer)
{
    int top = writer->margin_count - 1;
    if (top >= 0 && top < MARGINS_MAX && writer->margins[top].pending) {
        begin_line(writer);
        end_line(writer);
    }
}

static void add_rule(struct writer *writer, const char *stroke, int columns)
{
    struct buf rule = {0};
    for (int i = 0; i < columns; i++)
        buf_add_str(&rule, stroke);
    begin_line(writer);
    doc_add_str(writer->doc, STYLE_RULE, buf_str(&rule));
    doc_end_line(writer->doc)->keep = true;
    writer->line_begun = false;
    buf_free(&rule);
}

static void end_heading(struct writer *writer)
{
    enum { LONGEST = 76 };
    int columns = 0;
    if (writer->line_begun)
        columns =
            (int)writer->doc->lines[writer->doc->line_count - 1].columns - margin_columns(writer);
    end_line(writer);
    if (columns > 0 && writer->heading <= 2)
        add_rule(writer, writer->heading == 1 ? "═" : "─", columns < LONGEST ? columns : LONGEST);
    writer->heading = 0;
    end_block(writer);
}

static void begin_code(struct writer *writer, const MD_BLOCK_CODE_DETAIL *code)
{
    begin_block(writer);
    writer->in_code = true;
    writer->language = highlight_language(code->lang.text ? code->lang.text : "", code->lang.size);
    buf_clear(&writer->code);
}

static void end_code(struct writer *writer)
{
    struct highlight_options options = {
        .numbers = writer->language != LANGUAGE_TEXT && !writer->options->no_numbers,
        .indent = margin_columns(writer),
        .columns = writer->options->columns,
    };
    writer->in_code = false;
    flush_marker(writer);
    highlight_code(writer->doc, writer->language, buf_str(&writer->code), writer->code.len,
                   &options);
    writer->blank_due = true;
}

static int enter_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct writer *writer = context;
    writer->style_count = 0;
    switch (type) {
    case MD_BLOCK_QUOTE:
        begin_block(writer);
        push_margin(writer, &(struct margin){.columns = 2, .quote = true});
        writer->quote_count++;
        break;
    case MD_BLOCK_UL:
        begin_list(writer, false, ((MD_BLOCK_UL_DETAIL *)detail)->is_tight, 0);
        break;
    case MD_BLOCK_OL:
        begin_list(writer, true, ((MD_BLOCK_OL_DETAIL *)detail)->is_tight,
                   ((MD_BLOCK_OL_DETAIL *)detail)->start);
        break;
    case MD_BLOCK_LI:
        begin_item(writer, detail);
        break;
    case MD_BLOCK_HR:
        begin_block(writer);
        add_rule(writer, "─", 40);
        end_block(writer);
        break;
    case MD_BLOCK_H:
        begin_block(writer);
        writer->heading = (int)((MD_BLOCK_H_DETAIL *)detail)->level;
        break;
    case MD_BLOCK_CODE:
        begin_code(writer, detail);
        break;
    case MD_BLOCK_TABLE:
        begin_block(writer);
        flush_marker(writer);
        break;
    case MD_BLOCK_TR:
        markup_table_row(&writer->table);
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        markup_table_add(&writer->table, (enum markup_align)((MD_BLOCK_TD_DETAIL *)detail)->align);
        writer->in_cell = true;
        writer->last = 0;
        break;
    case MD_BLOCK_P:
        begin_block(writer);
        break;
    default:
        break;
    }
    return 0;
}

static int leave_block(MD_BLOCKTYPE type, void *detail, void *context)
{
    struct writer *writer = context;
    (void)detail;
    switch (type) {
    case MD_BLOCK_QUOTE:
        end_line(writer);
        writer->margin_count--;
        writer->quote_count--;
        end_block(writer);
        break;
    case MD_BLOCK_UL:
    case MD_BLOCK_OL:
        writer->list_count--;
        end_block(writer);
        break;
    case MD_BLOCK_LI:
        end_item(writer);
        break;
    case MD_BLOCK_H:
        end_heading(writer);
        break;
    case MD_BLOCK_CODE:
        end_code(writer);
        break;
    case MD_BLOCK_TABLE:
        markup_table_finish(&writer->table, writer->doc, margin_columns(writer),
                            writer->options->columns);
        writer->blank_due = true;
        break;
    case MD_BLOCK_TH:
    case MD_BLOCK_TD:
        writer->in_cell = false;
        break;
    case MD_BLOCK_P:
        end_block(writer);
        break;
    default:
        break;
    }
    return 0;
}

static enum style current_style(const struct writer *writer)
{
    int top = writer->style_count < STYLES_MAX ? writer->style_count : STYLES_MAX;
    if (top)
        return writer->styles[top - 1];
    if (writer->in_cell)
        return markup_table_in_head(&writer->table) ? STYLE_STRONG : STYLE_NORMAL;
    return writer->heading       ? STYLE_HEADING
           : writer->quote_count ? STYLE_QUOTE
                                 : writer->options->style;
}

static bool is_wide(uint32_t code)
{
    char bytes[4];
    return code >= 0x1100 && text_columns(bytes, utf8_encode(bytes, code)) == 2;
}

static bool is_wide_mark(uint32_t code)
{
    return (code >= 0x3000 && code <= 0x303F) || (code >= 0xFF00 && code <= 0xFFEF);
}

/* Chinese has no blanks between its characters, so the end of a source line is none there. */
static bool joins(uint32_t before, uint32_t after)
{
    return is_wide_mark(before) || is_wide_mark(after) || (is_wide(before) && is_wide(after));
}

/* Text inside a paragraph: line ends and tabs can't be part of it. */
static void add_inline(struct writer *writer, enum style style, const char *text, size_t len)
{
    struct doc *doc = target(writer);
    uint32_t code = 0;
    /* Markdown needs the blank in **粗体。** 后面; on the screen the mark is wide enough */
    while (len && *text == ' ' && writer->span_ended && is_wide_mark(writer->last)) {
        text++;
        len--;
    }
    writer->span_ended = false;
    if (!len || !doc)
        return;
    begin_line(writer);
    if (writer->soft_break) {
        utf8_decode(&code, text, len);
        if (!joins(writer->last, code) && writer->last)
            doc_add(doc, style, " ", 1);
        writer->soft_break = false;
    }
    for (size_t at = 0; at < len;) {
        size_t plain = at;
        while (plain < len && text[plain] != '\n' && text[plain] != '\t')
            plain++;
        doc_add(doc, style, text + at, plain - at);
        if (plain < len)
            doc_add(doc, style, " ", 1);
        at = plain + 1;
    }
    size_t back = 1;
    while (back < len && ((unsigned char)text[len - back] & 0xC0) == 0x80)
        back++;
    utf8_decode(&writer->last, text + len - back, back);
}

static void add_attribute(struct buf *out, const MD_ATTRIBUTE *attribute)
{
    for (size_t i = 0; attribute->text && attribute->substr_offsets[i] < attribute->size; i++) {
        const char *text = attribute->text + attribute->substr_offsets[i];
        size_t len = attribute->substr_offsets[i + 1] - attribute->substr_offsets[i];
        if (attribute->substr_types[i] == MD_TEXT_ENTITY)
            markup_add_entity(out, text, len);
        else if (attribute->substr_types[i] == MD_TEXT_NULLCHAR)
            buf_add_str(out, "\ufffd");
        else
            buf_add(out, text, len);
    }
}

static int enter_span(MD_SPANTYPE type, void *detail, void *context)
{
    static const enum style styles[] = {
        [MD_SPAN_EM] = STYLE_EMPHASIS, [MD_SPAN_STRONG] = STYLE_STRONG, [MD_SPAN_A] = STYLE_LINK,
        [MD_SPAN_IMG] = STYLE_DIM,     [MD_SPAN_CODE] = STYLE_CODE,     [MD_SPAN_DEL] = STYLE_DIM,
    };
    struct writer *writer = context;
    (void)detail;
    if (writer->style_count < STYLES_MAX)
        writer->styles[writer->style_count] =
            type < sizeof styles / sizeof *styles ? styles[type] : STYLE_NORMAL;
    writer->style_count++;
    if (type == MD_SPAN_DEL)
        add_inline(writer, STYLE_DIM, "~", 1);
    if (type == MD_SPAN_IMG)
        add_inline(writer, STYLE_DIM, "[", 1);
    return 0;
}

static int leave_span(MD_SPANTYPE type, void *detail, void *context)
{
    struct writer *writer = context;
    if (type == MD_SPAN_DEL)
        add_inline(writer, STYLE_DIM, "~", 1);
    if (type == MD_SPAN_IMG)
        add_inline(writer, STYLE_DIM, "]", 1);
    /* md4c 0.4 leaves spans that it never entered when links and images are tangled. */
    if (writer->style_count > 0)
        writer->style_count--;
    writer->span_ended = type == MD_SPAN_STRONG || type == MD_SPAN_EM;
    if (type == MD_SPAN_A && ((MD_SPAN_A_DETAIL *)detail)->href.size) {
        struct buf href = {0};
        buf_add_str(&href, " <");
        add_attribute(&href, &((MD_SPAN_A_DETAIL *)detail)->href);
        buf_add_str(&href, ">");
        add_inline(writer, STYLE_DIM, href.data, href.len);
        buf_free(&href);
    }
    return 0;
}

static int add_text(MD_TEXTTYPE type, const MD_CHAR *text, MD_SIZE len, void *context)
{
    struct writer *writer = context;
    struct buf entity = {0};
    if (writer->in_code) {
        buf_add(&writer->code, text, len);
        return 0;
    }
    switch (type) {
    case MD_TEXT_BR:
        if (!writer->in_cell) {
            begin_line(writer);
            end_line(writer);
        }
        break;
    case MD_TEXT_SOFTBR:
        writer->soft_break = true;
        break;
    case MD_TEXT_ENTITY:
        markup_add_entity(&entity, text, len);
        add_inline(writer, current_style(writer), buf_str(&entity), entity.len);
        buf_free(&entity);
        break;
    case MD_TEXT_NULLCHAR:
        add_inline(writer, current_style(writer), "\ufffd", 3);
        break;
    default:
        if (writer->blank_due && !writer->line_begun && !writer->in_cell)
            begin_block(writer);
        add_inline(writer, current_style(writer), text, len);
        break;
    }
    return 0;
}

void markup_add(struct doc *doc, const char *text, size_t len, const struct markup_options *options)
{
    static const struct markup_options plain = {0};
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_TASKLISTS | MD_FLAG_STRIKETHROUGH | MD_FLAG_NOHTML |
                 MD_FLAG_NOINDENTEDCODEBLOCKS,
        .enter_block = enter_block,
        .leave_block = leave_block,
        .enter_span = enter_span,
        .leave_span = leave_span,
        .text = add_text,
    };
    struct writer writer = {.doc = doc, .options = options ? options : &plain};
    struct buf clean = {0};
    if (doc->open)
        doc_end_line(doc);
    clean_text(&clean, text, len < TEXT_MAX ? len : TEXT_MAX);
    const char *marker = writer.options->marker;
    if (marker && *marker) {
        struct margin margin = {.columns = text_columns(marker, strlen(marker)),
                                .style = writer.options->marker_style,
                                .pending = true};
        snprintf(margin.marker, sizeof margin.marker, "%s", marker);
        push_margin(&writer, &margin);
    }
    md_parse(buf_str(&clean), (MD_SIZE)clean.len, &parser, &writer);
    end_line(&writer);
    buf_free(&clean);
    buf_free(&writer.code);
    markup_table_free(&writer.table);
}

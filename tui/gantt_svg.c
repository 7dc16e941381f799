/* The picture of a timeline. Kinds can be told without colour: a bar that is wide enough holds its
 * name, any other its letter; a copy of pageable memory has a broken outline. */
#include "tui/gantt_file.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { WIDTH = 1120, LEFT = 150, RIGHT = 20, ROW = 26, BAR = 20, LINE = 18, LETTER = 7 };

static const char style_sheet[] =
    "<style>\n"
    "svg{background:#fff;color:#1b1f24;font:13px system-ui,sans-serif}\n"
    "text{fill:currentColor}\n"
    ".h{font-weight:600;font-size:15px}.d{opacity:.7}.r{text-anchor:end}\n"
    ".b text,.m{font:11px ui-monospace,monospace}\n"
    ".t{stroke:currentColor;stroke-opacity:.18}\n"
    ".b rect{stroke:#fff;stroke-width:.5}\n"
    ".h2d rect,.copy rect{fill:#8ec5ff}.d2h rect,.memset rect{fill:#d6b3ff}\n"
    ".d2d rect,.issue rect{fill:#a5d8dd}.kernel rect,.compute rect{fill:#a6dba0}\n"
    ".wait rect{fill:#d9dde2}.barrier rect,.lost rect{fill:#ffcf7a}.host rect{fill:#f3b3c5}\n"
    ".other rect{fill:#ccc}.b text{fill:#15181c}\n"
    ".p rect{stroke:#c2410c;stroke-width:2;stroke-dasharray:4 2}\n"
    ".g rect{fill:none;stroke:currentColor;stroke-opacity:.6}\n"
    ".x{fill:#c2410c;font-weight:700}\n"
    "@media(prefers-color-scheme:dark){svg{background:#14171b;color:#e6e8eb}\n"
    ".b rect{stroke:#14171b}.x{fill:#ff9d5c}.p rect{stroke:#ff9d5c}}\n"
    "</style>\n";

/* Text as XML holds it; nothing of it can end an element or an attribute. */
static void add_text(struct buf *out, const char *text)
{
    struct buf clean = {0};
    clean_line(&clean, text, strlen(text));
    for (const char *at = buf_str(&clean); *at; at++)
        switch (*at) {
        case '&':
            buf_add_str(out, "&amp;");
            break;
        case '<':
            buf_add_str(out, "&lt;");
            break;
        case '>':
            buf_add_str(out, "&gt;");
            break;
        case '"':
            buf_add_str(out, "&quot;");
            break;
        default:
            buf_add_char(out, *at);
        }
    buf_free(&clean);
}

struct page {
    struct buf *out;
    const struct gantt_unit *unit;
    double from, to;
    bool steps;
    int y;
    bool seen[GANTT_KIND_COUNT];
};

static double x_of(const struct page *page, double at)
{
    double part = (at - page->from) / (page->to - page->from);
    return LEFT + fmin(fmax(part, 0), 1) * (WIDTH - LEFT - RIGHT);
}

static void add_bar_title(const struct page *page, const struct bar *bar, const char *label)
{
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    struct buf *out = page->out;
    char line[160];
    buf_add_str(out, "<title>");
    add_text(out, facts.words);
    if (*label) {
        buf_add_str(out, ": ");
        add_text(out, label);
    }
    int digits = page->steps ? 0 : 1;
    snprintf(line, sizeof line, _("; from %.*f, lasts %.*f %s"), digits, bar->from, digits,
             bar->to - bar->from, page->steps ? page->unit->name : "us");
    add_text(out, line);
    if (bar->line) {
        snprintf(line, sizeof line, _(", line %d"), bar->line);
        add_text(out, line);
    }
    if (bar->pageable) {
        buf_add_str(out, "; ");
        add_text(out, gantt_kind_facts(GANTT_PAGEABLE).words);
    }
    buf_add_str(out, "</title>");
}

static void add_bar(struct page *page, const struct bar *bar, bool outline)
{
    struct gantt_kind_facts facts = gantt_kind_facts(bar->kind);
    double x = x_of(page, bar->from), width = fmax(x_of(page, bar->to) - x, 0.8);
    char label[96], letter[2] = {facts.letter, '\0'};
    gantt_bar_label(bar, label);
    page->seen[bar->kind] |= !outline;
    page->seen[GANTT_PAGEABLE] |= bar->pageable;
    buf_printf(page->out, "<g class=\"%s%s\">", outline ? "g" : "b ",
               outline       ? ""
               : *facts.name ? facts.name
                             : "other");
    if (bar->pageable)
        buf_add_str(page->out, "<g class=\"p\">");
    add_bar_title(page, bar, label);
    buf_printf(page->out, "<rect x=\"%.2f\" y=\"%d\" width=\"%.2f\" height=\"%d\"/>", x,
               page->y - (outline ? 2 : 0), width, outline ? BAR + 4 : BAR);
    int fits = (int)((width - 4) / LETTER), len = (int)strlen(label);
    if (len > fits) /* its beginning will do */
        label[len = (int)strcspn(label, ",(:")] = '\0';
    const char *inside = len > 0 && len <= fits ? label : fits >= 1 ? letter : "";
    if (!outline && *inside) {
        buf_printf(page->out, "<text x=\"%.2f\" y=\"%d\">", x + 3, page->y + 14);
        add_text(page->out, inside);
        buf_add_str(page->out, "</text>");
    }
    buf_add_str(page->out, bar->pageable ? "</g></g>\n" : "</g>\n");
}

/* False when no mark is in the row of that name. */
static bool add_marks(struct page *page, const json_t *marks, const char *row)
{
    size_t i;
    json_t *mark;
    bool any = false;
    json_array_foreach((json_t *)(uintptr_t)marks, i, mark) {
        const json_t *at = json_object_get(mark, "at");
        const char *where = json_string_value(json_object_get(mark, "row"));
        const char *text = json_string_value(json_object_get(mark, "text"));
        if (!json_is_number(at) || !where || strcmp(where, row) != 0)
            continue;
        buf_add_str(page->out, "<g><title>");
        add_text(page->out, text ? text : "");
        buf_printf(page->out, "</title><text class=\"x\" x=\"%.2f\" y=\"%d\">%c</text></g>\n",
                   x_of(page, json_number_value(at)) - 2, page->y + 6,
                   strcmp(row, "wait") == 0 ? 'w' : '!');
        any = true;
    }
    return any;
}

static void add_words(struct page *page, const char *class, double x, const char *text)
{
    buf_printf(page->out, "<text class=\"%s\" x=\"%.2f\" y=\"%d\">", class, x, page->y);
    add_text(page->out, text);
    buf_add_str(page->out, "</text>\n");
}

static void add_rows(struct page *page, const struct gantt *open, const struct gantt *closed,
                     const json_t *marks)
{
    for (size_t i = 0; i < open->row_count; i++) {
        const struct bar_row *row = &open->rows[i];
        char title[64];
        gantt_row_title(row, title);
        page->y += 14;
        add_words(page, "r", LEFT - 8, title);
        page->y -= 14;
        for (size_t j = 0; j < closed->rows[i].count; j++)
            if (closed->rows[i].bars[j].kind == GANTT_GRAPH)
                add_bar(page, &closed->rows[i].bars[j], true);
        for (size_t j = 0; j < row->count; j++)
            add_bar(page, &row->bars[j], false);
        if (row->role != ROLE_ENGINE)
            add_marks(page, marks, row->name);
        page->y += ROW;
    }
}

/* Waits and hazards that belong to no row have one of their own. */
static void add_mark_row(struct page *page, const json_t *marks, const char *row, const char *title)
{
    page->y += 8;
    bool any = add_marks(page, marks, row);
    page->y += 6;
    if (any)
        add_words(page, "r", LEFT - 8, title);
    page->y += any ? ROW - 14 : -14;
}

static void add_axis(struct page *page, int top)
{
    double tick = gantt_tick(page->to - page->from, 10);
    for (double n = ceil(page->from / tick - 1e-9); n * tick <= page->to; n++) {
        double x = x_of(page, n * tick);
        char text[32];
        gantt_number(text, page->unit, n * tick, tick);
        buf_printf(page->out,
                   "<line class=\"t\" x1=\"%.2f\" y1=\"%d\" x2=\"%.2f\" y2=\"%d\"/>"
                   "<text class=\"m\" x=\"%.2f\" y=\"%d\">%s</text>\n",
                   x, top, x, page->y + 4, x + 3, page->y + 14, text);
    }
    page->y += 14;
    add_words(page, "r d", LEFT - 8, page->unit->name);
    page->y += LINE;
}

static void add_legend(struct page *page)
{
    struct buf words = {0};
    for (int kind = 0; kind < GANTT_KIND_COUNT; kind++) {
        struct gantt_kind_facts facts = gantt_kind_facts((enum gantt_kind)kind);
        if (page->seen[kind] && kind != GANTT_PAGEABLE)
            buf_printf(&words, "%s%c %s", words.len ? "    " : "", facts.letter, facts.words);
    }
    if (page->seen[GANTT_PAGEABLE])
        buf_printf(&words, "    - - %s", gantt_kind_facts(GANTT_PAGEABLE).words);
    buf_printf(page->out, "<text class=\"m\" xml:space=\"preserve\" x=\"%d\" y=\"%d\">", LEFT,
               page->y + 4);
    for (const char *at = buf_str(&words); *at; at++) /* clean already, and blanks count */
        if (*at == '<' || *at == '>')
            buf_add_str(page->out, *at == '<' ? "&lt;" : "&gt;");
        else
            buf_add_char(page->out, *at);
    buf_add_str(page->out, "</text>\n");
    page->y += LINE;
    buf_free(&words);
}

static void add_head(struct page *page, const char *title, const char *summary)
{
    page->y = 26;
    add_words(page, "h", 16, title);
    page->y += LINE + 4;
    for (size_t len; len = strcspn(summary, "\n"), len > 0 || summary[len]; summary += len) {
        char line[512];
        snprintf(line, sizeof line, "%.*s", (int)len, summary);
        add_words(page, "d", 16, line);
        page->y += LINE;
        len += summary[len] == '\n';
    }
}

static void add_run(struct page *page, const json_t *timeline, const json_t *run, const char *name)
{
    struct gantt open, closed;
    gantt_read(&open, timeline, run, true);
    gantt_read(&closed, timeline, run, false);
    if (name) {
        page->y += LINE;
        add_words(page, "h", 16, name);
        page->y += 8;
    }
    add_rows(page, &open, &closed, json_object_get(run, "marks"));
    add_mark_row(page, json_object_get(run, "marks"), "wait", _("waits"));
    add_mark_row(page, json_object_get(run, "marks"), "hazard", _("hazards"));
    gantt_free(&open);
    gantt_free(&closed);
}

void gantt_svg(const json_t *timeline, const char *title, const char *summary, struct buf *out)
{
    struct buf body = {0};
    struct gantt whole, theirs;
    const json_t *baseline = json_object_get(timeline, "baseline");
    gantt_read(&whole, timeline, timeline, true);
    gantt_read(&theirs, timeline, baseline, true);
    struct page page = {.out = &body, .steps = whole.steps, .from = whole.from, .to = whole.to};
    if (theirs.row_count) {
        page.from = fmin(page.from, theirs.from);
        page.to = fmax(page.to, theirs.to);
    }
    struct gantt_unit unit = gantt_unit(&whole, page.to);
    page.unit = &unit;
    add_head(&page, title, summary);
    int top = page.y;
    add_run(&page, timeline, timeline, theirs.row_count ? _("your run") : NULL);
    if (theirs.row_count)
        add_run(&page, timeline, baseline, _("baseline"));
    add_axis(&page, top);
    add_legend(&page);
    gantt_free(&whole);
    gantt_free(&theirs);
    buf_printf(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" "
               "height=\"%d\" lang=\"%s\" role=\"img\">\n<title>",
               WIDTH, page.y + 8, WIDTH, page.y + 8, msg_language());
    add_text(out, title);
    buf_add_str(out, "</title>\n");
    buf_add_str(out, style_sheet);
    buf_add(out, buf_str(&body), body.len);
    buf_add_str(out, "</svg>\n");
    buf_free(&body);
}

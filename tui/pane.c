#include "tui/pane.h"

#include "harness/base/msg.h"
#include "tui/done.h"
#include "tui/key.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *title, *small, *key;
    enum context context;
    bool cursor, by_width;
    int widest;
} facts[PANE_COUNT] = {
#define X(symbol, name, title, small, key, two, three, context, cursor, width, widest)             \
    [PANE_##symbol] = {name, title, small, key, CONTEXT_##context, cursor, width, widest},
#include "tui/pane.def"
#undef X
};

struct pane_facts pane_facts(enum pane pane)
{
    struct pane_facts out = {
        .name = facts[pane].name,
        .title = _(facts[pane].title),
        .small = _(facts[pane].small),
        .context = facts[pane].context,
        .cursor = facts[pane].cursor,
        .by_width = facts[pane].by_width,
        .widest = facts[pane].widest,
        .lists = pane == PANE_COURSE || pane == PANE_HISTORY || pane == PANE_QUIZ,
    };
    key_parse(&out.key, facts[pane].key, strlen(facts[pane].key));
    return out;
}

void pane_build(enum pane pane, const struct app *app, struct doc *doc, int columns)
{
    static void (*const builders[PANE_COUNT])(const struct app *, struct doc *, int) = {
        [PANE_COURSE] = pane_build_course,
        [PANE_LESSON] = pane_build_lesson,
        [PANE_CODE] = pane_build_code,
        [PANE_CORRECTNESS] = pane_build_correctness,
        [PANE_SPEEDUP] = pane_build_speedup,
        [PANE_TIMELINE] = pane_build_timeline,
        [PANE_PTX] = pane_build_ptx,
        [PANE_SASS] = pane_build_sass,
        [PANE_RESOURCES] = pane_build_resources,
        [PANE_QUIZ] = pane_build_quiz,
        [PANE_HISTORY] = pane_build_history,
        [PANE_HELP] = pane_build_help,
    };
    builders[pane](app, doc, columns);
}

const json_t *record_at(const json_t *record, const char *path)
{
    while (record && *path) {
        char key[48];
        size_t len = strcspn(path, ".");
        if (len >= sizeof key)
            return NULL;
        memcpy(key, path, len);
        key[len] = '\0';
        record = json_object_get(record, key);
        path += len + (path[len] == '.');
    }
    return record;
}

bool record_number(const json_t *record, const char *path, double *out)
{
    const json_t *value = record_at(record, path);
    if (!json_is_number(value))
        return false;
    *out = json_number_value(value);
    return isfinite(*out);
}

int record_int(const json_t *record, const char *path)
{
    double value;
    if (!record_number(record, path, &value) || fabs(value) > 2e9)
        return 0;
    return (int)value;
}

const char *record_text(const json_t *record, const char *path)
{
    const char *text = json_string_value(record_at(record, path));
    return text ? text : "";
}

const char *pane_skipped_why(const json_t *record, const char *stage)
{
    const json_t *skipped = record_at(record, "skipped");
    size_t i;
    json_t *one;
    json_array_foreach((json_t *)(uintptr_t)skipped, i, one)
        if (strcmp(record_text(one, "stage"), stage) == 0)
            return record_text(one, "why");
    return "";
}

void pane_heading(struct doc *doc, const char *text)
{
    if (doc->line_count > 0 && doc->lines[doc->line_count - 1].columns > 0)
        doc_add_str(doc, STYLE_NORMAL, "\n");
    doc_add_str(doc, STYLE_HEADING, text);
    doc_end_line(doc);
}

void pane_paragraph(struct doc *doc, enum style style, const char *text)
{
    doc_add_str(doc, style, text);
    doc_add_str(doc, style, "\n\n");
}

void pane_hang(struct doc *doc, enum style style, const char *text, int indent, int source_line)
{
    for (;;) {
        size_t len = strcspn(text, "\n");
        doc_add(doc, style, text, len);
        struct doc_line *line = doc_end_line(doc);
        line->indent = (uint16_t)indent;
        line->source_line = source_line;
        if (!text[len] || !text[len + 1])
            return;
        text += len + 1;
        pane_pad(doc, 0, indent);
    }
}

void pane_pad(struct doc *doc, int used, int columns)
{
    doc_printf(doc, STYLE_NORMAL, "%*s", columns - used > 1 ? columns - used : 1, "");
}

void pane_cell(struct doc *doc, enum style style, const char *text, int columns, bool right)
{
    int blank = columns - text_columns(text, strlen(text));
    if (right && blank > 0)
        doc_printf(doc, STYLE_NORMAL, "%*s", blank, "");
    doc_add_str(doc, style, text);
    if (!right && blank > 0)
        doc_printf(doc, STYLE_NORMAL, "%*s", blank, "");
}

void pane_to_do(const struct app *app, struct doc *doc)
{
    const struct labfile *lab = app_lab(app);
    struct buf text = {0};
    if (lab)
        done_say(lab, json_object_get(app->progress, lab->slug),
                 json_object_get(app->quiz_state, lab->slug), &text);
    if (text.len)
        pane_paragraph(doc, STYLE_INFO, buf_str(&text));
    buf_free(&text);
}

void pane_field(struct doc *doc, const char *label, int columns, enum style style,
                const char *format, ...)
{
    char *value = NULL;
    va_list args;
    va_start(args, format);
    int len = vasprintf(&value, format, args);
    va_end(args);
    doc_add_str(doc, STYLE_DIM, label);
    pane_pad(doc, text_columns(label, strlen(label)), columns);
    doc_add_str(doc, style, len >= 0 ? value : "");
    doc_end_line(doc)->indent = (uint16_t)columns;
    free(value);
}

void pane_bar(struct doc *doc, enum style style, double part, int columns)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    double clamped = !(part > 0) ? 0 : part > 1 ? 1 : part;
    int filled = (int)lround(clamped * columns * 8);
    if (part > 0 && filled == 0)
        filled = 1;
    for (int i = 0; i < filled / 8; i++)
        doc_add_str(doc, style, "█");
    doc_add_str(doc, style, eighths[filled % 8]);
    doc_printf(doc, STYLE_NORMAL, "%*s", columns - (filled + 7) / 8, "");
}

const char *verdict_mark_of(const char *verdict, enum style *style)
{
    enum verdict value;
    *style = STYLE_DIM;
    if (!verdict_parse(&value, verdict))
        return "?";
    *style = value == VERDICT_PASS                                   ? STYLE_PASS
             : value == VERDICT_CANNOT_RUN                           ? STYLE_DIM
             : value == VERDICT_HAZARD || value == VERDICT_TIMED_OUT ? STYLE_WARN
                                                                     : STYLE_FAIL;
    return verdict_mark(value);
}

void format_ms(char out[24], double ms)
{
    static const struct {
        double below, factor;
        const char *unit;
    } units[] = {{1e-3, 1e6, "ns"}, {1, 1e3, "us"}, {1e3, 1, "ms"}, {120e3, 1e-3, "s"}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ms < units[i].below) {
            double value = ms * units[i].factor;
            snprintf(out, 24, "%.*f %s",
                     value < 9.995   ? 2
                     : value < 99.95 ? 1
                                     : 0,
                     value, units[i].unit);
            return;
        }
    snprintf(out, 24, "%.0f min", fmin(ms / 60e3, 1e9));
}

void format_count(char out[32], double count)
{
    char digits[32];
    int len = snprintf(digits, sizeof digits, "%.0f", fabs(count) < 1e15 ? count : 0);
    size_t at = 0;
    for (int i = 0; i < len; i++) {
        out[at++] = digits[i];
        if (digits[i] != '-' && (len - i - 1) % 3 == 0 && i < len - 1)
            out[at++] = ',';
    }
    out[at] = '\0';
}

void format_bytes(char out[24], double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    size_t unit = 0;
    while (fabs(bytes) >= 1024 && unit < 4) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, 24, "%.*f %s", unit == 0 || fabs(bytes) >= 99.95 ? 0 : 1, bytes, units[unit]);
}

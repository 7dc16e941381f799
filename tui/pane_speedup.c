/* How fast: baseline, yours and the solution from one run, and the limit measured on the card. */
#include "tui/pane.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum { LABEL = 12 };

static void add_time(struct doc *doc, const json_t *timing, const char *key, const char *label,
                     enum style style, double slowest, int columns)
{
    double median, low, high;
    const json_t *time = record_at(timing, key);
    if (!record_number(time, "median", &median))
        return;
    char text[24], span[64] = "", a[24], b[24];
    format_ms(text, median);
    if (record_number(time, "low", &low) && record_number(time, "high", &high)) {
        format_ms(a, low);
        format_ms(b, high);
        snprintf(span, sizeof span, "%s .. %s", a, b);
    }
    doc_add_str(doc, style, label);
    pane_pad(doc, text_columns(label, strlen(label)), LABEL);
    bool roomy = columns >= LABEL + 12 + 24 + 16;
    int bar = columns - LABEL - 12 - (roomy ? 24 : 0);
    if (bar >= 8)
        pane_bar(doc, strcmp(key, "yours_ms") == 0 ? STYLE_INFO : STYLE_BAR,
                 slowest > 0 ? median / slowest : 0, bar);
    doc_printf(doc, STYLE_STRONG, " %10s", text);
    if (roomy)
        doc_printf(doc, STYLE_DIM, "  %s", span);
    doc_end_line(doc)->keep = true;
}

static void add_times(struct doc *doc, const json_t *timing, bool host, int columns)
{
    static const char *const keys[] = {"baseline_ms", "yours_ms", "solution_ms"};
    double slowest = 0, median;
    for (int i = 0; i < 3; i++) {
        const json_t *time = record_at(timing, keys[i]);
        if (record_number(time, "median", &median) && median > slowest)
            slowest = median;
    }
    pane_heading(doc, host ? _("Time per run, and its interval at 95 %")
                           : _("Time per launch, and its interval at 95 %"));
    add_time(doc, timing, keys[0], _("baseline"), STYLE_NORMAL, slowest, columns);
    add_time(doc, timing, keys[1], _("yours"), STYLE_STRONG, slowest, columns);
    add_time(doc, timing, keys[2], _("solution"), STYLE_NORMAL, slowest, columns);
}

static void add_part(struct doc *doc, const json_t *timing, const char *key, const char *label,
                     int columns)
{
    double part;
    if (!record_number(timing, key, &part))
        return;
    doc_add_str(doc, STYLE_NORMAL, label);
    pane_pad(doc, text_columns(label, strlen(label)), 26);
    if (columns - 26 - 8 >= 8)
        pane_bar(doc, STYLE_BAR, part, columns - 26 - 8);
    doc_printf(doc, STYLE_STRONG, " %3.0f %%", part * 100);
    doc_end_line(doc)->keep = true;
}

static void add_limit(struct doc *doc, const json_t *timing)
{
    double value, achieved;
    const char *kind = attempt_limit_words(record_text(timing, "limit.kind"));
    const char *unit = record_text(timing, "limit.unit");
    if (!record_number(timing, "limit.value", &value))
        return;
    if (record_number(timing, "achieved", &achieved))
        doc_printf(doc, STYLE_DIM,
                   _("yours reaches %.4g %s; measured limit of this card (%s): %.4g %s"), achieved,
                   unit, kind, value, unit);
    else
        doc_printf(doc, STYLE_DIM, _("measured limit of this card (%s): %.4g %s"), kind, value,
                   unit);
    doc_end_line(doc);
}

/* NVIDIA's own library in the same run: the honest top of the scale. */
static void add_library(struct doc *doc, const json_t *timing, int columns)
{
    double achieved, ms;
    const char *name = record_text(timing, "library.name");
    char label[64], time[24];
    if (!*name || !record_number(timing, "library.achieved", &achieved) ||
        !record_number(timing, "library.ms.median", &ms))
        return;
    snprintf(label, sizeof label, _("of %.20s's speed"), name);
    format_ms(time, ms);
    add_part(doc, timing, "of_library", label, columns);
    doc_printf(doc, STYLE_DIM, _("%s, NVIDIA's library, does it in %s, %.4g %s, in the same run"),
               name, time, achieved, record_text(timing, "library.unit"));
    doc_end_line(doc);
}

static void add_verdict(struct doc *doc, const json_t *timing)
{
    const char *verdict = record_text(timing, "verdict");
    double speedup, low, high, other;
    static const struct {
        const char *name, *sentence;
        enum style style;
    } known[] = {{"faster", N_("faster than the baseline"), STYLE_PASS},
                 {"same", N_("the same as the baseline, within the noise"), STYLE_WARN},
                 {"slower", N_("slower than the baseline"), STYLE_FAIL},
                 {"too-noisy", N_("too noisy to say"), STYLE_WARN}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(verdict, known[i].name) != 0)
            continue;
        bool noisy = strcmp(verdict, "too-noisy") == 0;
        if (!noisy && record_number(timing, "speedup.median", &speedup))
            doc_printf(doc, known[i].style, "%.2fx  ", speedup);
        doc_add_str(doc, known[i].style, _(known[i].sentence));
        doc_end_line(doc);
    }
    if (record_number(timing, "speedup.low", &low) && record_number(timing, "speedup.high", &high))
        doc_printf(doc, STYLE_DIM, _("95 %% interval %.2fx .. %.2fx"), low, high);
    if (record_number(timing, "solution_speedup.median", &other))
        doc_printf(doc, STYLE_DIM, _("   the solution reaches %.2fx in the same run"), other);
    if (doc->open)
        doc_end_line(doc);
    if (*record_text(timing, "why"))
        pane_paragraph(doc, STYLE_WARN, record_text(timing, "why"));
}

static void add_goal(struct doc *doc, const json_t *timing)
{
    double goal;
    if (!record_number(timing, "goal", &goal))
        return;
    bool reached = json_is_true(record_at(timing, "goal_reached"));
    doc_printf(doc, reached ? STYLE_PASS : STYLE_NORMAL,
               reached ? _("+ goal reached: %.0f %% of the solution's speed")
                       : _("· goal: %.0f %% of the solution's speed"),
               goal * 100);
    doc_end_line(doc);
}

static void add_clocks(struct doc *doc, const json_t *timing)
{
    int launches = record_int(timing, "launches"), mhz = record_int(timing, "clocks.sm_mhz");
    char n[32];
    format_count(n, record_int(timing, "n"));
    pane_heading(doc, _("How it was measured"));
    pane_field(doc, _("elements"), 16, STYLE_NORMAL, "%s", n);
    if (launches > 0)
        pane_field(doc, _("timed launches"), 16, STYLE_NORMAL, "%d", launches);
    if (mhz > 0)
        pane_field(doc, _("SM clock"), 16, STYLE_NORMAL, "%d MHz%s", mhz,
                   json_is_true(record_at(timing, "clocks.throttled")) ? _(", throttled") : "");
    if (json_is_true(record_at(timing, "clocks.others")) || record_int(timing, "clocks.others") > 0)
        pane_field(doc, _("other programs"), 16, STYLE_WARN, "%s",
                   _("another process used the GPU meanwhile"));
}

void pane_build_speedup(const struct app *app, struct doc *doc, int columns)
{
    const json_t *record = app_record(app), *timing = record_at(record, "timing");
    if (!timing) {
        const char *why = pane_skipped_why(record, "time");
        if (*why)
            pane_paragraph(doc, STYLE_WARN, why);
        else if (record && *record_text(record, "verdict") && !app->attempt)
            pane_paragraph(doc, STYLE_DIM,
                           _("This attempt was not timed: it has to be right first."));
        else
            pane_paragraph(
                doc, STYLE_DIM,
                _("Nothing was timed yet. A run that is right is timed on the GPU against "
                  "the baseline and the solution, all in one run."));
        if (strcmp(record_text(record, "verdict"), "pass") == 0)
            pane_to_do(app, doc);
        return;
    }
    add_verdict(doc, timing);
    add_goal(doc, timing);
    pane_to_do(app, doc);
    add_times(doc, timing, app_lab(app) && app_lab(app)->kind == LAB_HOST, columns);
    pane_heading(doc, _("How far it goes"));
    add_part(doc, timing, "of_solution", _("of the solution's speed"), columns);
    add_part(doc, timing, "of_limit", _("of this card's limit"), columns);
    add_limit(doc, timing);
    add_library(doc, timing, columns);
    add_clocks(doc, timing);
}

/* A record for people, in plain lines. Every number is looked up as what it may be or not be there:
 * the record comes from a child. */
#include "attempt.h"
#include "cli_core.h"

#include "harness/base/msg.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL_COLUMNS = 11, LIST_MOST = 20 };

/* The label stands before the first line of a section only. */
static void label(const char *text, bool first)
{
    say_padded(first ? text : "", LABEL_COLUMNS);
}

/* file:line:column: as compilers write it, so that editors understand it; text of several lines
 * stays under its first. */
static void report_diagnostic(const json_t *one)
{
    const char *file = json_text_at(one, "file"), *text = json_text_at(one, "text");
    long long column = json_int_at(one, "column");
    label("", false);
    say("%s:%lld:", *file ? file : "kernel.cu", json_int_at(one, "line"));
    if (column > 0)
        say("%lld:", column);
    say(" %s: ", json_text_at(one, "severity"));
    for (size_t len; len = strcspn(text, "\n"), text[len]; text += len + 1) {
        say("%.*s\n", (int)len, text);
        label("", false);
    }
    say("%s\n", text);
}

static void report_build(const json_t *build)
{
    const json_t *found = json_object_get(build, "diagnostics");
    if (!build)
        return;
    label(_("Build"), true);
    if (json_is_true(json_object_get(build, "ok")))
        say(_("ok, %.1f ms\n"), json_number_at(build, "ms"));
    else
        say("%s\n", _("failed"));
    for (size_t i = 0; i < json_array_size(found) && i < LIST_MOST; i++) {
        const json_t *one = json_array_get(found, i);
        report_diagnostic(one);
    }
    if (json_array_size(found) > LIST_MOST) {
        label("", false);
        say(_("and %zu more\n"), json_array_size(found) - LIST_MOST);
    }
}

/* A number, or one of the words that stand for what JSON has no number for. */
static void add_value(struct buf *out, const json_t *value)
{
    if (json_is_number(value))
        buf_printf(out, "%.*g", fabs(json_number_value(value)) >= 1e9 ? 10 : 9,
                   json_number_value(value));
    else
        buf_add_str(out, json_is_string(value) ? json_string_value(value) : "?");
}

static void add_triple(struct buf *out, const json_t *array)
{
    buf_printf(out, "(%lld,%lld,%lld)", (long long)json_number_value(json_array_get(array, 0)),
               (long long)json_number_value(json_array_get(array, 1)),
               (long long)json_number_value(json_array_get(array, 2)));
}

static void report_mismatch(const json_t *mismatch)
{
    struct buf text = {0};
    buf_printf(&text, "%s[%lld]: ", json_text_at(mismatch, "buffer"),
               json_int_at(mismatch, "index"));
    buf_add_str(&text, _("want "));
    add_value(&text, json_object_get(mismatch, "want"));
    buf_add_str(&text, _(", got "));
    add_value(&text, json_object_get(mismatch, "got"));
    if (json_is_array(json_object_get(mismatch, "block"))) {
        buf_add_str(&text, _("; block "));
        add_triple(&text, json_object_get(mismatch, "block"));
    }
    if (json_is_array(json_object_get(mismatch, "thread"))) {
        buf_add_str(&text, _(" thread "));
        add_triple(&text, json_object_get(mismatch, "thread"));
    }
    if (json_is_number(json_object_get(mismatch, "tile")) && json_int_at(mismatch, "tile") >= 0)
        buf_printf(&text, _(" tile %lld"), json_int_at(mismatch, "tile"));
    if (json_is_number(json_object_get(mismatch, "stage")) && json_int_at(mismatch, "stage") >= 0)
        buf_printf(&text, _(" stage %lld"), json_int_at(mismatch, "stage"));
    label("", false);
    say("  %s\n", buf_str(&text));
    label("", false);
    say(_("  %lld of %lld are wrong%s%s\n"), json_int_at(mismatch, "wrong_count"),
        json_int_at(mismatch, "checked_count"), *json_text_at(mismatch, "pattern") ? ": " : "",
        json_text_at(mismatch, "pattern"));
    buf_free(&text);
}

static void report_cases(const json_t *cases)
{
    for (size_t i = 0; i < json_array_size(cases) && i < LIST_MOST; i++) {
        const json_t *one = json_array_get(cases, i);
        const json_t *mismatch = json_object_get(one, "mismatch"),
                     *fault = json_object_get(one, "fault");
        label(_("Sizes"), i == 0);
        const char *not_run = json_text_at(one, "not_run");
        say("n = %-10lld %-14s", json_int_at(one, "n"),
            *not_run ? _("not run") : json_text_at(one, "verdict"));
        if (json_object_get(one, "max_error"))
            say(_("max error %.3g, tolerance %.3g"), json_number_at(one, "max_error"),
                json_number_at(one, "tolerance"));
        say("%s\n", not_run);
        if (mismatch)
            report_mismatch(mismatch);
        if (fault) {
            label("", false);
            if (json_int_at(fault, "line"))
                say(_("  line %lld: "), json_int_at(fault, "line"));
            else
                say("  ");
            say("%s\n", *json_text_at(fault, "text") ? json_text_at(fault, "text")
                                                     : json_text_at(fault, "kind"));
        }
    }
}

static void report_hazards(const json_t *hazards)
{
    for (size_t i = 0; i < json_array_size(hazards) && i < LIST_MOST; i++) {
        const json_t *one = json_array_get(hazards, i);
        label(_("Hazards"), i == 0);
        say("%s", json_text_at(one, "kind"));
        if (json_int_at(one, "other_line"))
            say(_(", lines %lld and %lld"), json_int_at(one, "line"),
                json_int_at(one, "other_line"));
        else if (json_int_at(one, "line"))
            say(_(", line %lld"), json_int_at(one, "line"));
        say(_(": %s\n"), json_text_at(one, "text"));
    }
}

static void say_spread(const char *name, const json_t *spread)
{
    say("%s %.4g ms [%.4g, %.4g]", name, json_number_at(spread, "median"),
        json_number_at(spread, "low"), json_number_at(spread, "high"));
}

static void report_timing(const json_t *timing)
{
    static const struct {
        const char *key, *name;
    } rows[] = {{"yours_ms", N_("yours")},
                {"baseline_ms", N_("baseline")},
                {"solution_ms", N_("solution")}};
    bool first = true;
    if (!timing)
        return;
    for (size_t i = 0; i < 3; i++)
        if (json_object_get(timing, rows[i].key)) {
            label(_("Time"), first);
            say_spread(_(rows[i].name), json_object_get(timing, rows[i].key));
            say("\n");
            first = false;
        }
    const json_t *speedup = json_object_get(timing, "speedup"),
                 *limit = json_object_get(timing, "limit");
    label(_("Speedup"), true);
    if (speedup)
        say(_("%.2fx [%.2f, %.2f] over the baseline: %s"), json_number_at(speedup, "median"),
            json_number_at(speedup, "low"), json_number_at(speedup, "high"),
            json_text_at(timing, "verdict"));
    else
        say("%s", json_text_at(timing, "verdict"));
    say("%s%s\n", *json_text_at(timing, "why") ? "; " : "", json_text_at(timing, "why"));
    if (json_object_get(timing, "of_solution")) {
        label("", false);
        say(_("%.0f %% of the solution's speed (goal %.0f %%)"),
            100 * json_number_at(timing, "of_solution"), 100 * json_number_at(timing, "goal"));
        if (limit)
            say(_(", %.0f %% of what this card can do (%s: %.4g %s)"),
                100 * json_number_at(timing, "of_limit"),
                attempt_limit_words(json_text_at(limit, "kind")), json_number_at(limit, "value"),
                json_text_at(limit, "unit"));
        say("\n");
    }
    const json_t *library = json_object_get(timing, "library");
    if (*json_text_at(library, "name") && json_is_number(json_object_get(library, "achieved")) &&
        json_is_number(json_object_get(timing, "of_library"))) {
        label("", false);
        say(_("%.0f %% of the speed of %s, in the same run (%.4g %s)\n"),
            100 * json_number_at(timing, "of_library"), json_text_at(library, "name"),
            json_number_at(library, "achieved"), json_text_at(library, "unit"));
    }
}

static void report_counts(const json_t *record)
{
    const json_t *counters = json_object_get(record, "counters");
    const json_t *resources = json_object_get(record, "resources");
    if (resources) {
        label(_("Resources"), true);
        say(_("%lld registers, %lld bytes shared, %lld bytes local"),
            json_int_at(resources, "registers"), json_int_at(resources, "shared_bytes"),
            json_int_at(resources, "local_bytes"));
        if (json_object_get(resources, "occupancy"))
            say(_(", occupancy %.0f %%"), 100 * json_number_at(resources, "occupancy"));
        if (*json_text_at(resources, "limited_by"))
            say(_(" (limited by %s)"), attempt_word(json_text_at(resources, "limited_by")));
        say("\n");
    }
    if (counters) {
        label(_("Counted"), true);
        say(_("n = %lld: %lld warp instructions"), json_int_at(counters, "n"),
            json_int_at(counters, "instructions"));
        if (json_object_get(counters, "sectors_per_request"))
            say(_(", %.3g sectors per request"), json_number_at(counters, "sectors_per_request"));
        say(_(", %lld bank conflicts, %lld divergent branches\n"),
            json_int_at(counters, "bank_conflicts"), json_int_at(counters, "divergent_branches"));
    }
}

static void report_listing(const json_t *record)
{
    const json_t *landmarks = json_object_get(record, "landmarks");
    const json_t *skipped = json_object_get(record, "skipped");
    for (size_t i = 0; i < json_array_size(landmarks) && i < LIST_MOST; i++) {
        const json_t *one = json_array_get(landmarks, i);
        label(_("Listing"), i == 0);
        say(_("%s %-16s %lld found, %lld wanted (%s)\n"),
            json_is_true(json_object_get(one, "ok")) ? "+" : "-", json_text_at(one, "name"),
            json_int_at(one, "found"), json_int_at(one, "want"), json_text_at(one, "listing"));
    }
    for (size_t i = 0; i < json_array_size(skipped) && i < LIST_MOST; i++) {
        const json_t *one = json_array_get(skipped, i);
        label(_("Skipped"), i == 0);
        say("%s: %s\n", json_text_at(one, "stage"), json_text_at(one, "why"));
    }
}

static void report_output(const json_t *record)
{
    const char *at = json_text_at(record, "output");
    int lines = 0;
    for (; *at && lines < LIST_MOST; lines++) {
        size_t len = strcspn(at, "\n");
        label(_("Output"), lines == 0);
        say_text(at, len);
        say("\n");
        at += len + (at[len] == '\n');
    }
    if (*at || json_is_true(json_object_get(record, "output_cut"))) {
        label("", false);
        say("%s\n", _("(more was printed)"));
    }
}

void cli_report(const json_t *record, const char *id)
{
    const json_t *device = json_object_get(record, "device");
    long long number = json_int_at(record, "attempt");
    say("%s", json_text_at(record, "lab"));
    if (number)
        say(" #%lld", number);
    say(": %s\n%s\n\n", json_text_at(record, "verdict"), json_text_at(record, "summary"));
    report_build(json_object_get(record, "build"));
    report_cases(json_object_get(record, "cases"));
    report_hazards(json_object_get(record, "hazards"));
    report_timing(json_object_get(record, "timing"));
    report_counts(record);
    report_listing(record);
    report_output(record);
    if (*json_text_at(device, "name")) {
        label(_("Device"), true);
        say(_("%s, compute capability %s\n"), json_text_at(device, "name"),
            json_text_at(device, "compute_capability"));
    }
    if (*id) {
        label(_("Recorded"), true);
        say(_("as commit %.10s\n"), id);
    }
}

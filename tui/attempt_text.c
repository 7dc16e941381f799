/* The record as text: record.json, and what a commit says. Commit messages are English whatever the
 * language of the screen is: the history reads verdict and speedup out of them. */
#include "attempt.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORD_FILE_MOST = 16 << 20, DEPTH_MOST = 32 };

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

void attempt_dump(const json_t *record, struct buf *out)
{
    /* 15 digits print 1.41 as 1.41; 17 would print what the machine stores. */
    char *text = json_dumps(record, JSON_INDENT(2) | JSON_SORT_KEYS | JSON_REAL_PRECISION(15));
    buf_add_str(out, text ? text : "{}");
    buf_add_char(out, '\n');
    free(text);
}

static bool is_shallow(const json_t *value, int depth)
{
    if (depth > DEPTH_MOST)
        return false;
    const char *key;
    json_t *child;
    json_object_foreach((json_t *)value, key, child)
        if (!is_shallow(child, depth + 1))
            return false;
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_shallow(json_array_get(value, i), depth + 1))
            return false;
    return true;
}

json_t *attempt_load_record(const char *text, size_t len)
{
    json_t *record = len <= RECORD_FILE_MOST ? json_loadb(text, len, 0, NULL) : NULL;
    if (json_is_object(record) && is_shallow(record, 0))
        return record;
    json_decref(record);
    return NULL;
}

void attempt_speedup(const json_t *record, char out[16])
{
    const json_t *timing = json_object_get(record, "timing");
    double median =
        json_number_value(json_object_get(json_object_get(timing, "speedup"), "median"));
    out[0] = '\0';
    if (isfinite(median) && median > 0 && median < 1e6 &&
        strcmp(text_at(timing, "verdict"), "too-noisy"))
        snprintf(out, 16, "%.2fx", median);
}

void attempt_commit_subject(const json_t *record, struct buf *out)
{
    char speedup[16];
    attempt_speedup(record, speedup);
    buf_printf(out, "%s #%d: %s%s%s", text_at(record, "lab"),
               (int)json_integer_value(json_object_get(record, "attempt")),
               text_at(record, "verdict"), *speedup ? ", " : "", speedup);
}

/* One cleaned line; nothing from outside may start a new line of the message. */
static void add_clean(struct buf *out, const char *text)
{
    clean_line(out, text, strlen(text));
}

static void body_device(const json_t *record, struct buf *out)
{
    const json_t *device = json_object_get(record, "device");
    const json_t *toolkit = json_object_get(record, "toolkit");
    buf_add_str(out, "Backend: ");
    add_clean(out, *text_at(record, "backend") ? text_at(record, "backend") : "none");
    if (*text_at(device, "name")) {
        buf_add_str(out, "\nDevice: ");
        add_clean(out, text_at(device, "name"));
        buf_add_str(out, ", compute capability ");
        add_clean(out, text_at(device, "compute_capability"));
        buf_add_str(out, ", driver ");
        add_clean(out, text_at(device, "driver"));
    }
    if (*text_at(toolkit, "version")) {
        buf_add_str(out, "\nToolkit: CUDA ");
        add_clean(out, text_at(toolkit, "version"));
        buf_add_str(out, *text_at(toolkit, "arch") ? ", " : "");
        add_clean(out, text_at(toolkit, "arch"));
    }
    buf_add_char(out, '\n');
}

static void body_build(const json_t *record, struct buf *out)
{
    const json_t *diagnostics = json_object_get(json_object_get(record, "build"), "diagnostics");
    int shown = 0;
    for (size_t i = 0; i < json_array_size(diagnostics) && shown < 3; i++) {
        const json_t *one = json_array_get(diagnostics, i);
        if (strcmp(text_at(one, "severity"), "error") != 0)
            continue;
        buf_printf(out, "Error: line %d: ", (int)json_integer_value(json_object_get(one, "line")));
        struct buf line = {.cap = 160};
        add_clean(&line, text_at(one, "text"));
        buf_add(out, buf_str(&line), utf8_whole(buf_str(&line), line.len));
        buf_add_char(out, '\n');
        buf_free(&line);
        shown++;
    }
}

static void body_cases(const json_t *record, struct buf *out)
{
    const json_t *cases = json_object_get(record, "cases");
    for (size_t i = 0; i < json_array_size(cases) && i < 16; i++) {
        const json_t *one = json_array_get(cases, i);
        buf_printf(out, "Case: n = %lld, ",
                   (long long)json_integer_value(json_object_get(one, "n")));
        add_clean(out, text_at(one, "verdict"));
        buf_add_char(out, '\n');
    }
    const json_t *hazards = json_object_get(record, "hazards");
    for (size_t i = 0; i < json_array_size(hazards) && i < 8; i++) {
        const json_t *one = json_array_get(hazards, i);
        buf_add_str(out, "Hazard: ");
        add_clean(out, text_at(one, "kind"));
        buf_printf(out, ", lines %d and %d\n",
                   (int)json_integer_value(json_object_get(one, "line")),
                   (int)json_integer_value(json_object_get(one, "other_line")));
    }
}

static void body_structure(const json_t *record, struct buf *out)
{
    const json_t *list = json_object_get(record, "structure");
    for (size_t i = 0; i < json_array_size(list) && i < 8; i++) {
        const json_t *one = json_array_get(list, i);
        buf_add_str(out, "Structure: ");
        add_clean(out, text_at(one, "name"));
        buf_printf(out, " %.3g, wanted ", json_number_value(json_object_get(one, "found")));
        add_clean(out, text_at(one, "bound"));
        buf_printf(out, " %.3g\n", json_number_value(json_object_get(one, "want")));
    }
}

static void body_timing(const json_t *record, struct buf *out)
{
    const json_t *timing = json_object_get(record, "timing");
    static const struct {
        const char *key, *name;
    } rows[] = {{"baseline_ms", "baseline"}, {"yours_ms", "yours"}, {"solution_ms", "solution"}};
    if (!timing)
        return;
    buf_add_str(out, "Timing: ");
    const char *separator = "";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const json_t *row = json_object_get(timing, rows[i].key);
        if (!row)
            continue;
        buf_printf(out, "%s%s %.4g ms [%.4g, %.4g]", separator, rows[i].name,
                   json_number_value(json_object_get(row, "median")),
                   json_number_value(json_object_get(row, "low")),
                   json_number_value(json_object_get(row, "high")));
        separator = ", ";
    }
    buf_add_str(out, "; ");
    add_clean(out, text_at(timing, "verdict"));
    buf_add_char(out, '\n');
}

void attempt_commit_body(const json_t *record, struct buf *out)
{
    add_clean(out, text_at(record, "summary"));
    buf_add_str(out, "\n\n");
    body_device(record, out);
    body_build(record, out);
    body_cases(record, out);
    body_structure(record, out);
    body_timing(record, out);
    const json_t *skipped = json_object_get(record, "skipped");
    for (size_t i = 0; i < json_array_size(skipped) && i < 8; i++) {
        buf_add_str(out, "Skipped: ");
        add_clean(out, text_at(json_array_get(skipped, i), "stage"));
        buf_add_str(out, " (");
        add_clean(out, text_at(json_array_get(skipped, i), "why"));
        buf_add_str(out, ")\n");
    }
}

/* In a reader's words. Only "tensor" needs some: there is a faster way into the Tensor Cores on
 * cards of capability 9.0, wgmma, which the library below the limit may take. */
const char *attempt_limit_words(const char *kind)
{
    static const struct {
        const char *kind, *words;
    } known[] = {{"copy", N_("copying")},
                 {"read", N_("reading")},
                 {"fma", N_("FP32 multiply-adds")},
                 {"tensor", N_("Tensor Cores through mma.sync")},
                 {"bus", N_("the bus")}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(kind, known[i].kind) == 0)
            return _(known[i].words);
    return kind;
}

const char *attempt_word(const char *word)
{
    static const char *const known[] = {
        N_("threads"), N_("blocks"), N_("registers"), N_("shared memory"), /* what limits blocks */
        N_("integer"), N_("half"),   N_("tensor"),    N_("convert"), /* kinds of instructions */
        N_("move"),    N_("load"),   N_("store"),     N_("atomic"),        N_("async"),
        N_("sync"),    N_("warp"),   N_("control"),   N_("other")};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(word, known[i]) == 0)
            return _(known[i]);
    return word;
}

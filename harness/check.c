/* How to read this file: check_run walks over sizes and seeds; each size is a trial (trial.c), each
 * seed one run of it. What the trials say is merged here into one verdict and one sentence. */
#include "check.h"
#include "emit.h"
#include "trial.h"

#include "harness/base/clock.h"

#include "base/buf.h"
#include "base/msg.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_BYTES = 4 << 20 }; /* up to here a size is cheap enough for a second seed */

static bool same_member(const json_t *a, const json_t *b, const char *key)
{
    const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
    return x == y || (x && y && json_equal(x, y));
}

/* Cases repeat each other's hazards: what has the same kind, lines and array is one report with a
 * sum of counts, and keeps the case that showed it first. */
static void merge_hazards(struct check_result *result, json_t *reports, uint64_t n)
{
    if (!result->hazards)
        result->hazards = json_array();
    size_t i, k;
    json_t *report, *known;
    json_array_foreach(reports, i, report) {
        json_t *same = NULL;
        json_array_foreach(result->hazards, k, known) {
            if (same_member(known, report, "kind") && same_member(known, report, "line") &&
                same_member(known, report, "other_line") && same_member(known, report, "array"))
                same = known;
        }
        if (same) {
            json_int_t sum = json_integer_value(json_object_get(same, "count")) +
                             json_integer_value(json_object_get(report, "count"));
            json_object_set_new(same, "count", json_integer(sum));
        } else {
            json_object_set_new(report, "case_n", json_integer((json_int_t)n));
            json_array_append(result->hazards, report);
        }
    }
}

static size_t copies_in(const json_t *timeline)
{
    size_t i, k, count = 0;
    json_t *row, *span;
    json_array_foreach(json_object_get(timeline, "rows"), i, row)
        json_array_foreach(json_object_get(row, "spans"), k, span)
            count += strcmp(json_string_value(json_object_get(span, "kind")), "copy") == 0;
    return count;
}

/* The case whose block makes the most copies shows most: with one element there may be none. */
static void keep_timeline(struct check_result *result, json_t *timeline)
{
    if (result->timeline && copies_in(timeline) <= copies_in(result->timeline)) {
        json_decref(timeline);
        return;
    }
    json_decref(result->timeline);
    result->timeline = timeline;
}

/* Takes over what the launch collected beside its verdict. */
static void collect(struct check_result *result, struct launch_result *launched, uint64_t n)
{
    if (launched->hazards)
        merge_hazards(result, launched->hazards, n);
    json_decref(launched->hazards);
    if (launched->counters) {
        json_object_set_new(launched->counters, "n", json_integer((json_int_t)n));
        json_decref(result->counters);
        result->counters = launched->counters;
    }
    if (launched->timeline)
        keep_timeline(result, launched->timeline);
    if (launched->output && *launched->output && !result->output)
        result->output = launched->output;
    else
        free(launched->output);
    result->poisoned = result->poisoned || launched->poisoned;
}

static void __attribute__((format(printf, 2, 3)))
say(struct check_result *result, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(result->summary, sizeof result->summary, format, args);
    va_end(args);
}

static const char *text_of(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* A value of the mismatch as the summary shows it. */
static void add_value(struct buf *out, const json_t *value)
{
    if (json_is_string(value))
        buf_add_str(out, json_string_value(value));
    else {
        double number = json_number_value(value);
        buf_printf(out, number == floor(number) && fabs(number) < 1e15 ? "%.0f" : "%.7g", number);
    }
}

static void describe_mismatch(struct buf *out, const json_t *mismatch)
{
    buf_printf(out, _("%s[%lld] should be "), text_of(mismatch, "buffer"),
               (long long)json_integer_value(json_object_get(mismatch, "index")));
    add_value(out, json_object_get(mismatch, "want"));
    buf_add_str(out, _(", is "));
    add_value(out, json_object_get(mismatch, "got"));
    if (*text_of(mismatch, "pattern"))
        buf_printf(out, _(" (%s)"), text_of(mismatch, "pattern"));
}

/* One sentence about the case that decides the verdict. */
static void summarise_case(struct check_result *result, const json_t *entry, enum verdict verdict,
                           uint64_t n)
{
    struct buf text = {0};
    const json_t *fault = json_object_get(entry, "fault");
    const json_t *mismatch = json_object_get(entry, "mismatch");
    const json_t *hazard = json_array_get(result->hazards, 0);
    buf_printf(&text, _("N = %llu: "), (unsigned long long)n);
    if (verdict == VERDICT_FAULT && fault)
        buf_add_str(&text, text_of(fault, "text"));
    else if (verdict == VERDICT_HAZARD && hazard)
        buf_add_str(&text, text_of(hazard, "text"));
    else if (verdict == VERDICT_WRONG && mismatch)
        describe_mismatch(&text, mismatch);
    else if (*text_of(entry, "text"))
        buf_add_str(&text, text_of(entry, "text"));
    else
        buf_add_str(&text, verdict_meaning(verdict));
    if (json_object_get(entry, "launch"))
        buf_add_str(&text, _("; the first launch goes well: __device__ variables keep their values "
                             "from one launch to the next"));
    say(result, "%s", buf_str(&text));
    buf_free(&text);
}

static void emit(const struct check_request *request, json_t *entry)
{
    if (request->add)
        request->add(request->context, entry);
    json_decref(entry);
}

static json_t *new_entry(const struct check_request *request, uint64_t n, uint64_t seed)
{
    return json_pack("{s:I, s:I, s:s}", "n", (json_int_t)n, "seed", (json_int_t)seed, "backend",
                     request->backend->ops->name);
}

static void emit_not_run(struct check_result *result, const struct check_request *request,
                         uint64_t n, uint64_t seed, const char *why)
{
    json_t *entry = new_entry(request, n, seed);
    json_object_set_new(entry, "not_run", json_string(why));
    result->not_run++;
    result->total++;
    emit(request, entry);
}

static uint64_t common_divisor(const struct check_request *request)
{
    uint64_t a = 0;
    for (unsigned i = 0; i < request->size_count; i++)
        for (uint64_t b = request->sizes[i]; b;) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
    return a ? a : 1;
}

/* The largest size not above n whose memory is free; false when there is none. Steps of the sizes'
 * common divisor keep a lab's whole tiles whole. */
static bool fit(struct lab_shape *out, const struct check_request *request, uint64_t n)
{
    uint64_t unit = common_divisor(request);
    for (; n; n = n / 2 / unit * unit)
        if (request->lab->shape(out, n) &&
            (!request->memory_free || trial_bytes(request, out) <= request->memory_free))
            return true;
    return false;
}

/* Why nothing more is launched after this, or NULL when more can be. */
static const char *stop_reason(enum verdict verdict, bool poisoned)
{
    if (verdict == VERDICT_TIMED_OUT)
        return _("an earlier case did not end in time");
    if (poisoned)
        return _("an earlier case broke off and took the GPU's context with it");
    if (verdict == VERDICT_CANNOT_RUN || verdict == VERDICT_NO_BUILD)
        return _("an earlier case could not run");
    return NULL;
}

struct progress {      /* of one check_run */
    bool stateful;     /* the program has variables, which outlive a launch */
    const char *stop;  /* why the rest is not run; NULL while it is */
    struct err memory; /* why a size found no memory */
    bool prints;       /* the kernel calls printf ... */
    unsigned silent;   /* ... and so many sizes were left out for it */
    double start_ms;
};

/* The name that a declaration of PTX ends with, before its size or value. */
static size_t declared_name(const char *line, size_t len, const char **name)
{
    size_t end = 0, first;
    while (end < len && !strchr("[;=", line[end]))
        end++;
    while (end && line[end - 1] == ' ')
        end--;
    for (first = end; first && line[first - 1] != ' ';)
        first--;
    *name = line + first;
    return end - first;
}

/* Variables of the program in device memory, as in the PTX of __device__ ones, that some
 * instruction names. Constants of headers are only declared, and texts are not meant. */
static bool has_variables(const char *ptx)
{
    for (const char *line = ptx; line; line = strchr(line, '\n')) {
        line += *line == '\n';
        const char *name;
        size_t len = strcspn(line, "\n"), size = declared_name(line, len, &name);
        if (*line != '.' || !memmem(line, len, ".global .align ", 15) || !size || *name == '$')
            continue;
        const char *behind = line + len;
        if (memmem(behind, strlen(behind), name, size))
            return true;
    }
    return false;
}

static bool too_many_lines(const struct progress *progress, const struct lab_shape *shape)
{
    double threads = 1;
    for (int i = 0; i < 3; i++)
        threads *= (double)shape->grid[i] * shape->block[i];
    return progress->prints && threads > CHECK_PRINTING_THREADS;
}

/* How long the next launch may take. */
static double deadline_of(const struct check_request *request, const struct progress *progress)
{
    if (request->deadline_ms > 0)
        return request->deadline_ms;
    if (!progress->prints)
        return CHECK_DEADLINE_MS;
    double left_ms = CHECK_PRINTING_ALL_MS - (clock_ms() - progress->start_ms);
    return fmax(fmin(left_ms, CHECK_PRINTING_DEADLINE_MS), CHECK_DEADLINE_MS);
}

/* A later launch went wrong. Where the same one goes well when it is the first, what the launch
 * before left behind is why. */
static bool look_at_first_launch(const struct check_request *request, struct trial *trial,
                                 uint64_t seed, json_t *entry, struct err *err)
{
    json_t *first = new_entry(request, trial->shape.n, seed);
    enum verdict verdict = VERDICT_PASS;
    struct launch_result launched;
    trial_forget(trial);
    bool ok = trial_run(trial, seed, first, &verdict, &launched, err);
    if (ok && verdict == VERDICT_PASS)
        json_object_set_new(entry, "launch", json_integer(2));
    json_decref(launched.hazards);
    json_decref(launched.counters);
    json_decref(launched.timeline);
    free(launched.output);
    json_decref(first);
    return ok;
}

static bool run_seed(struct check_result *result, const struct check_request *request,
                     struct trial *trial, uint64_t seed, struct progress *progress, struct err *err)
{
    uint64_t n = trial->shape.n;
    if (progress->stop) {
        emit_not_run(result, request, n, seed, progress->stop);
        return true;
    }
    json_t *entry = new_entry(request, n, seed);
    enum verdict verdict = VERDICT_PASS;
    struct launch_result launched;
    bool again = trial->module != NULL;
    trial->deadline_ms = deadline_of(request, progress);
    bool ok = trial_run(trial, seed, entry, &verdict, &launched, err);
    if (ok && again && verdict != VERDICT_PASS && !launched.poisoned)
        ok = look_at_first_launch(request, trial, seed, entry, err);
    collect(result, &launched, n);
    if (!ok) {
        json_decref(entry);
        return false;
    }
    result->total++;
    result->passed += verdict == VERDICT_PASS;
    enum verdict worse = verdict_worse(result->verdict, verdict);
    if (worse != result->verdict) {
        result->verdict = worse;
        summarise_case(result, entry, verdict, n);
    }
    progress->stop = stop_reason(verdict, result->poisoned);
    emit(request, entry);
    return true;
}

unsigned check_seed_count(const struct backend *backend, const struct lab_shape *shape)
{
    return shape->bytes_moved <= SMALL_BYTES && !backend->ops->exact_bounds ? 2 : 1;
}

static bool run_size(struct check_result *result, const struct check_request *request, uint64_t n,
                     struct progress *progress, struct err *err)
{
    struct lab_shape shape;
    if (!request->lab->shape(&shape, n))
        return err_set(err, "the lab %s has no size %llu: correct the sizes in its lab.yaml",
                       request->lab->slug, (unsigned long long)n);
    struct trial trial = {0};
    if (progress->stop) {
        emit_not_run(result, request, n, request->seed, progress->stop);
        return true;
    }
    if (result->total && too_many_lines(progress, &shape)) {
        emit_not_run(
            result, request, n, request->seed,
            _("the kernel prints, and this size has more threads than lines can be waited for"));
        progress->silent++;
        return true;
    }
    struct err memory = {0};
    if (!fit(&shape, request, n) || !trial_open(&trial, request, &shape, &memory)) {
        emit_not_run(result, request, n, request->seed,
                     *memory.text ? memory.text : _("the GPU has too little free memory"));
        progress->memory = memory;
        return true;
    }
    bool ok = true;
    unsigned seeds = check_seed_count(request->backend, &shape);
    trial.keeps_module = progress->stateful;
    if (progress->stateful && shape.bytes_moved <= SMALL_BYTES)
        seeds = 2;
    for (unsigned k = 0; ok && k < seeds; k++) {
        ok = run_seed(result, request, &trial, request->seed + k, progress, err);
        if (result->verdict != VERDICT_PASS) /* one failure is not to be the next one's reason */
            trial_forget(&trial);
    }
    trial_close(&trial, result->poisoned);
    return ok;
}

bool check_run(struct check_result *out, const struct check_request *request, struct err *err)
{
    *out = (struct check_result){.verdict = VERDICT_PASS};
    const char *ptx = request->image->ptx;
    struct progress progress = {.prints = ptx && strstr(ptx, "vprintf"),
                                .stateful = ptx && has_variables(ptx),
                                .start_ms = clock_ms()};
    for (unsigned i = 0; i < request->size_count; i++)
        if (!run_size(out, request, request->sizes[i], &progress, err))
            return false;
    if (out->verdict != VERDICT_PASS)
        return true;
    if (!out->passed) { /* nothing was judged, so nothing passed */
        out->verdict = VERDICT_CANNOT_RUN;
        say(out, _("no case could run: %s"),
            *progress.memory.text ? progress.memory.text : _("the GPU has too little free memory"));
    } else if (progress.silent) {
        say(out, _("passes %u cases (%u left out, since the kernel prints)"), out->passed,
            out->not_run);
    } else if (out->not_run) {
        say(out, _("passes %u cases (%u found no memory)"), out->passed, out->not_run);
    } else {
        say(out, out->passed == 1 ? _("passes its only case") : _("passes all %u cases"),
            out->passed);
    }
    return true;
}

void check_result_free(struct check_result *result)
{
    json_decref(result->hazards);
    json_decref(result->counters);
    json_decref(result->timeline);
    free(result->output);
    *result = (struct check_result){0};
}

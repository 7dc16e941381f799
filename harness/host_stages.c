/* How to read this file: as stages.c; the work is done by children (host_child.h). Where there is a
 * GPU one child checks and times on it, and a second one, in the simulated runtime, looks for
 * hazards; without one the second decides. */
#include "host_stages.h"

#include "answer.h"
#include "cubin.h"
#include "disasm.h"
#include "host_run.h"
#include "host_timing.h"
#include "structure.h"

#include "harness/base/clean.h"
#include "harness/base/clock.h"
#include "harness/base/json.h"
#include "harness/base/msg.h"
#include "harness/host/timeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The reader's own deadlines (docs/record.md) are a little longer. */
#define CHECK_MS   16000.0
#define HAZARDS_MS 24000.0

enum { BESIDE_GPU = 2 }; /* simulated sizes that are enough there: the smallest and the largest */

struct attempt {
    struct host_warm *warm;
    struct answer answer;
    struct host_build yours;
    struct disasm disasm;
    bool disassembling, checked_on_gpu;
    char no_listing[768];
    struct host_run gpu, sim;
    enum stage simulated_in;
};

/* ---- compile */

static json_t *toolkit_json(const struct attempt *a)
{
    char version[24];
    const struct compiler_abilities *can = &a->warm->builder.nvcc.abilities;
    snprintf(version, sizeof version, "%d.%d", can->major, can->minor);
    return json_pack("{s:s, s:o, s:s}", "version", version, "nvcc",
                     json_text(a->warm->toolkit->parts[PART_NVCC]), "arch", a->warm->builder.arch);
}

/* Registers and memory of the kernel that takes most of them. */
static json_t *find_resources(const struct build *build)
{
    unsigned capability = 0;
    json_t *best = NULL;
    int most = -1;
    const char *at = buf_str(&build->ptx);
    if (sscanf(build->arch, "sm_%u", &capability) != 1)
        return NULL;
    while ((at = strstr(at, ".entry "))) {
        char name[256];
        struct cubin_kernel kernel;
        at += strlen(".entry ");
        if (sscanf(at, "%255[^( \t\n]", name) != 1 ||
            !cubin_read(&kernel, build->cubin.data, build->cubin.len, name, capability, NULL) ||
            (int)kernel.registers <= most)
            continue;
        most = (int)kernel.registers;
        json_decref(best);
        best = json_pack("{s:i, s:i, s:i}", "registers", most, "shared_bytes",
                         (int)kernel.shared_bytes, "local_bytes", (int)kernel.local_bytes);
    }
    return best;
}

static void emit_compiled(struct attempt *a)
{
    const struct build *build = &a->yours.build;
    answer_write(&a->answer, "kernel.ptx", &build->ptx);
    answer_landmarks(&a->answer, LISTING_PTX, build->arch, &build->ptx);
    json_t *resources = find_resources(build);
    if (resources)
        emit_set(a->answer.emit, json_pack("{s:o}", "resources", resources));
}

/* It is drawn beside the student's run, and timed. */
static bool wants_baseline(const struct attempt *a)
{
    const bool *stages = a->answer.work->stages;
    return stages[STAGE_TIMELINE] || (stages[STAGE_TIME] && host_warm_fits_gpu(a->warm));
}

static bool compile_stage(struct attempt *a)
{
    struct err err = {0};
    const struct work *work = a->answer.work;
    const char *name = stage_name(STAGE_COMPILE);
    const char *missing = a->warm->can_build ? NULL : a->warm->no_builder.text;
    if (!missing) {
        emit_begin(a->answer.emit, name);
        if (!host_build_make(&a->warm->builder, &a->yours, work->source, work->folder, work->name,
                             &err))
            missing = err.text;
    }
    if (missing) {
        emit_skip(a->answer.emit, name, missing);
        answer_judge(&a->answer, VERDICT_CANNOT_RUN, missing);
        return false;
    }
    answer_build(&a->answer, &a->yours.build, toolkit_json(a));
    if (a->yours.build.ok)
        emit_compiled(a);
    if (a->yours.build.ok && wants_baseline(a))
        host_warm_baseline(a->warm, &err); /* now: later stages have less time */
    emit_done(a->answer.emit, name, a->yours.build.ms);
    return a->yours.build.ok;
}

/* ---- check */

static bool check_sizes(struct attempt *a, bool gpu, const uint64_t *sizes, size_t count,
                        double deadline_ms, struct err *err)
{
    struct host_run_request request = {
        .warm = a->warm,
        .answer = &a->answer,
        .yours = &a->yours,
        .baseline = wants_baseline(a),
        .gpu = gpu,
        .sizes = sizes,
        .size_count = count,
        .deadline_ms = deadline_ms,
    };
    return host_run_check(gpu ? &a->gpu : &a->sim, &request, err);
}

static void stop_check(struct attempt *a, const char *why)
{
    emit_skip(a->answer.emit, stage_name(STAGE_CHECK), why);
    answer_judge(&a->answer, VERDICT_CANNOT_RUN, why);
}

static void check_in_child(struct attempt *a, bool gpu)
{
    struct err err = {0};
    struct host_run *run = gpu ? &a->gpu : &a->sim;
    const struct labfile *about = a->answer.about;
    double start = clock_ms();
    emit_begin(a->answer.emit, stage_name(STAGE_CHECK));
    emit_set(a->answer.emit, json_pack("{s:s}", "backend", gpu ? "gpu" : "sim"));
    if (gpu)
        emit_set(a->answer.emit, json_pack("{s:O}", "device", a->warm->device));
    run->all_cases = true;
    const uint64_t *sizes = gpu ? about->check_sizes : about->sim_sizes;
    if (!check_sizes(a, gpu, sizes, gpu ? about->check_sizes_count : about->sim_sizes_count,
                     CHECK_MS, &err)) {
        stop_check(a, err.text);
        return;
    }
    if (!gpu)
        a->simulated_in = STAGE_CHECK;
    answer_judge(&a->answer, run->outcome.verdict, run->outcome.summary);
    a->checked_on_gpu = gpu && run->outcome.verdict == VERDICT_PASS;
    emit_done(a->answer.emit, stage_name(STAGE_CHECK), clock_ms() - start);
}

static void check_stage(struct attempt *a)
{
    struct err err = {0};
    enum backend_choice wanted = a->answer.work->backend;
    bool fits = host_warm_fits_gpu(a->warm);
    if (wanted != BACKEND_GPU || fits) {
        check_in_child(a, wanted != BACKEND_SIM && fits);
        return;
    }
    if (a->warm->device)
        err_set(&err, _("this lab needs compute capability %s, and this GPU has %u.%u"),
                a->answer.about->capability, a->warm->capability / 10, a->warm->capability % 10);
    stop_check(a, a->warm->device ? err.text : a->warm->no_gpu.text);
}

/* ---- hazards */

static void emit_hazards(struct attempt *a, const struct host_run *run)
{
    size_t i;
    json_t *hazard;
    json_array_foreach(run->hazards, i, hazard)
        emit_add(a->answer.emit, "hazards", json_incref(hazard));
}

/* The same call in the same line failed for the same reason. */
static bool same_fault(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"call", "line", "code"};
    bool same = a && b;
    for (size_t i = 0; same && i < sizeof keys / sizeof *keys; i++) {
        const json_t *x = json_object_get(a, keys[i]), *y = json_object_get(b, keys[i]);
        same = x && y && json_equal(x, y);
    }
    return same;
}

/* A GPU that hung or faulted cannot say why; where the simulated runtime can, both are told, or the
 * latter alone where it says the same and more. */
static void join_verdicts(struct attempt *a)
{
    const struct host_outcome *found = &a->sim.outcome;
    enum verdict verdict = a->answer.verdict;
    bool explains = found->verdict == VERDICT_HAZARD || found->verdict == VERDICT_FAULT ||
                    found->verdict == VERDICT_TIMED_OUT;
    if (verdict == VERDICT_FAULT && same_fault(a->gpu.fault, a->sim.fault)) {
        snprintf(a->answer.summary, sizeof a->answer.summary, "%s", found->summary);
    } else if (explains && (verdict == VERDICT_TIMED_OUT || verdict == VERDICT_FAULT)) {
        size_t len = strlen(a->answer.summary);
        snprintf(a->answer.summary + len, sizeof a->answer.summary - len, "; %s", found->summary);
    } else {
        answer_judge(&a->answer, found->verdict, found->summary);
    }
}

/* Beside a GPU, what only the simulated runtime cannot do is no fault of the student's. */
static bool is_own_limit(const struct attempt *a)
{
    enum verdict found = a->sim.outcome.verdict;
    return found == VERDICT_CANNOT_RUN ||
           (found == VERDICT_TIMED_OUT && a->answer.verdict != VERDICT_TIMED_OUT);
}

static bool simulate_beside_gpu(struct attempt *a, struct err *err)
{
    const struct labfile *about = a->answer.about;
    uint64_t sizes[BESIDE_GPU] = {about->sim_sizes[0],
                                  about->sim_sizes[about->sim_sizes_count - 1]};
    size_t count = about->sim_sizes_count > 1 ? 2 : 1;
    a->simulated_in = STAGE_HAZARDS;
    if (!check_sizes(a, false, sizes, count, HAZARDS_MS, err))
        return false;
    if (is_own_limit(a))
        return err_set(err, "%.700s", a->sim.outcome.summary);
    return true;
}

static void hazards_stage(struct attempt *a)
{
    struct err err = {0};
    struct emit *emit = a->answer.emit;
    const char *name = stage_name(STAGE_HAZARDS);
    double start = clock_ms();
    emit_begin(emit, name);
    if (a->sim.ran) { /* the check itself was simulated */
        emit_hazards(a, &a->sim);
        emit_done_within(emit, name, stage_name(a->simulated_in));
        return;
    }
    if (!simulate_beside_gpu(a, &err)) {
        emit_skip(emit, name, err.text);
        return;
    }
    emit_hazards(a, &a->sim);
    join_verdicts(a);
    emit_done(emit, name, clock_ms() - start);
}

/* ---- time, timeline, structure */

static void note_timing(void *context, const char *text)
{
    const struct host_run *run = context;
    emit_note(run->answer->emit, "%s", text);
}

static void measure(struct attempt *a)
{
    struct host_timing timing;
    struct emit *emit = a->answer.emit;
    const char *name = stage_name(STAGE_TIME);
    struct host_timing_request request = {
        .child = &a->gpu.child,
        .about = a->answer.about,
        .uuid = a->warm->uuid,
        .call_ms = HOST_RUN_CALL_MS,
        .listener = host_run_hear,
        .note = note_timing,
        .context = &a->gpu,
    };
    double start = clock_ms();
    emit_begin(emit, name);
    host_timing_run(&timing, &request);
    if (timing.timing)
        emit_set(emit, json_pack("{s:O}", "timing", timing.timing));
    if (timing.verdict != VERDICT_PASS) {
        answer_judge(&a->answer, timing.verdict, timing.summary);
    } else if (a->answer.verdict == VERDICT_PASS && timing.summary[0]) {
        size_t len = strlen(a->answer.summary);
        snprintf(a->answer.summary + len, sizeof a->answer.summary - len, ", %s", timing.summary);
    }
    if (timing.timing || timing.verdict != VERDICT_PASS)
        emit_done(emit, name, clock_ms() - start);
    else
        emit_skip(emit, name, timing.skip);
    host_timing_free(&timing);
}

static void time_stage(struct attempt *a)
{
    char why[1024] = "";
    const char *name = stage_name(STAGE_TIME);
    if (!a->warm->device)
        snprintf(why, sizeof why, _("timing needs an NVIDIA GPU: %s"), a->warm->no_gpu.text);
    else if (!a->gpu.ran)
        snprintf(why, sizeof why, "%s", _("only a kernel that ran on the GPU is timed"));
    else if (!a->checked_on_gpu)
        snprintf(why, sizeof why, "%s", _("only a kernel that gives right answers is timed"));
    if (why[0])
        emit_skip(a->answer.emit, name, why);
    else
        measure(a);
}

static void timeline_stage(struct attempt *a)
{
    struct emit *emit = a->answer.emit;
    const char *name = stage_name(STAGE_TIMELINE);
    const struct host_run *run = a->gpu.timeline ? &a->gpu : &a->sim;
    if (!run->timeline) {
        emit_skip(emit, name,
                  a->gpu.no_trace[0] ? a->gpu.no_trace : _("the program did not come to its end"));
        return;
    }
    emit_begin(emit, name);
    if (a->gpu.no_trace[0]) {
        json_t *note = json_string(a->gpu.no_trace);
        if (note)
            json_object_set_new(run->timeline, "note", note);
    }
    if (run == &a->gpu && a->sim.hazards) /* where they would lie */
        timeline_mark_hazards(run->timeline, a->sim.hazards);
    emit_set(emit, json_pack("{s:O}", "timeline", run->timeline));
    emit_done_within(emit, name, stage_name(a->gpu.timeline ? STAGE_TIME : a->simulated_in));
}

/* What the GPU showed counts before what the simulated runtime did. */
static void judge_structure(struct attempt *a)
{
    const struct labfile *about = a->answer.about;
    json_t *metrics = json_object();
    unsigned misses = 0;
    if (a->sim.metrics)
        json_object_update(metrics, a->sim.metrics);
    if (a->gpu.metrics)
        json_object_update(metrics, a->gpu.metrics);
    for (unsigned i = 0; i < about->structure_count; i++) {
        json_t *entry = structure_json(&about->structure[i], metrics);
        if (!entry)
            continue;
        if (!json_is_true(json_object_get(entry, "ok")) && a->answer.verdict == VERDICT_PASS)
            structure_add_miss(a->answer.summary, sizeof a->answer.summary, entry, misses++);
        emit_add(a->answer.emit, "structure", entry);
    }
    json_decref(metrics);
}

/* ---- disasm, output */

static void start_listing(struct attempt *a)
{
    struct err err = {0};
    const struct build *build = &a->yours.build;
    if (build->cubin.len)
        a->disassembling =
            disasm_start(&a->disasm, a->warm->toolkit, build->cubin.data, build->cubin.len, &err);
    else
        err_set(&err,
                _("this toolkit makes only PTX for this GPU, and the driver makes the machine "
                  "code (%s)"),
                build->arch);
    snprintf(a->no_listing, sizeof a->no_listing, "%s", err.text);
}

static void disasm_stage(struct attempt *a)
{
    struct err err = {0};
    struct buf listing = {0};
    struct emit *emit = a->answer.emit;
    const char *name = stage_name(STAGE_DISASM);
    if (!a->disassembling) {
        emit_skip(emit, name, a->no_listing);
        return;
    }
    double start = clock_ms();
    emit_begin(emit, name);
    if (disasm_finish(&a->disasm, &listing, &err)) {
        host_build_strip(&a->yours, &listing);
        answer_write(&a->answer, "kernel.sass", &listing);
        answer_landmarks(&a->answer, LISTING_SASS, a->yours.build.arch, &listing);
        emit_done(emit, name, clock_ms() - start);
    } else {
        emit_skip(emit, name, err.text);
    }
    buf_free(&listing);
}

/* What the student's code wrote: of the child that decided. */
static void emit_output(struct attempt *a)
{
    struct host_run *run = a->gpu.ran ? &a->gpu : &a->sim;
    host_child_stop(&run->child);
    if (!run->child.output.len && !run->child.errors.len)
        return;
    struct buf text = {0};
    clean_text(&text, buf_str(&run->child.output), run->child.output.len);
    clean_text(&text, buf_str(&run->child.errors), run->child.errors.len);
    json_t *set = json_pack("{s:o}", "output", json_stringn(buf_str(&text), text.len));
    if (run->child.output.cut || run->child.errors.cut)
        json_object_set_new(set, "output_cut", json_true());
    emit_set(a->answer.emit, set);
    buf_free(&text);
}

void host_stages_run(struct host_warm *warm, const struct work *work, struct emit *emit)
{
    struct attempt a = {.warm = warm, .answer = {work, warm->about, emit, VERDICT_PASS, ""}};
    const bool *wanted = work->stages;
    emit->nonce = work->nonce;
    if (compile_stage(&a)) {
        if (wanted[STAGE_DISASM])
            start_listing(&a);
        if (wanted[STAGE_CHECK])
            check_stage(&a);
        if (wanted[STAGE_HAZARDS] && (a.gpu.ran || a.sim.ran))
            hazards_stage(&a);
        if (wanted[STAGE_TIME])
            time_stage(&a);
        if (wanted[STAGE_TIMELINE])
            timeline_stage(&a);
        judge_structure(&a);
        if (wanted[STAGE_DISASM])
            disasm_stage(&a);
        if (a.gpu.ran || a.sim.ran)
            emit_output(&a);
    }
    emit_end(emit, a.answer.verdict, a.answer.summary[0] ? a.answer.summary : _("compiles"));
    emit->nonce = NULL;
    host_run_free(&a.gpu);
    host_run_free(&a.sim);
    host_build_free(&a.yours);
}

/* How to read this file: stages_run calls one function per stage. A struct attempt carries what
 * later stages need; each stage emits begin and done, or skip, and lowers the attempt's verdict. */
#include "stages.h"

#include "answer.h"
#include "check.h"
#include "disasm.h"
#include "entry.h"
#include "gpu.h"
#include "host_stages.h"
#include "resources.h"
#include "timing.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/json.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct attempt {
    struct warm *warm;
    const struct work *work;
    struct emit *emit;
    struct build yours;
    struct image image;
    struct disasm disasm;
    bool disassembling;
    char no_listing[768];
    struct answer answer;
    bool checked_on_gpu; /* and every case passed */
    struct check_result simulated;
    bool has_simulated, poisoned;
    enum stage simulated_in; /* whose time the simulator's run is part of */
};

/* ---- compile */

static json_t *toolkit_json(const struct warm *warm, const char *arch)
{
    const struct compiler *compiler = &warm->compiler;
    char *version = compiler_version(compiler);
    enum toolkit_part part = compiler->by_nvcc ? PART_NVCC : PART_NVRTC;
    json_t *out =
        json_pack("{s:s, s:o, s:s}", "version", version, compiler->by_nvcc ? "nvcc" : "nvrtc",
                  json_text(warm->toolkit.parts[part]), "arch", arch);
    if (compiler->note)
        json_object_set_new(out, "note", json_text(compiler->note));
    free(version);
    return out;
}

static void emit_compiled(struct attempt *a)
{
    answer_write(&a->answer, "kernel.ptx", &a->yours.ptx);
    answer_landmarks(&a->answer, LISTING_PTX, a->yours.arch, &a->yours.ptx);
    json_t *resources = resources_find(a->warm, &a->yours);
    if (resources)
        emit_set(a->emit, json_pack("{s:o}", "resources", resources));
}

/* True when there is something to run. */
static bool compile_stage(struct attempt *a)
{
    struct err err = {0};
    struct warm *warm = a->warm;
    const char *name = stage_name(STAGE_COMPILE);
    if (!warm->can_compile) {
        emit_skip(a->emit, name, warm->no_compiler.text);
        answer_judge(&a->answer, VERDICT_CANNOT_RUN, warm->no_compiler.text);
        return false;
    }
    emit_begin(a->emit, name);
    if (!compiler_build(&warm->compiler, &a->yours, a->work->source, a->work->folder, a->work->name,
                        &err)) {
        emit_skip(a->emit, name, err.text);
        answer_judge(&a->answer, VERDICT_CANNOT_RUN, err.text);
        return false;
    }
    entry_check(&a->yours, warm->about->entry, &warm->solution);
    answer_build(&a->answer, &a->yours, toolkit_json(warm, a->yours.arch));
    if (a->yours.ok)
        emit_compiled(a);
    emit_done(a->emit, name, a->yours.ms);
    a->image = build_image(&a->yours);
    return a->yours.ok;
}

/* ---- check and hazards */

static void add_case(void *context, json_t *entry)
{
    struct attempt *a = context;
    emit_add(a->emit, "cases", json_incref(entry));
}

/* Beside a GPU's cases, the simulator's are of interest only when they found something. */
static void add_failed_case(void *context, json_t *entry)
{
    const char *verdict = json_string_value(json_object_get(entry, "verdict"));
    if (verdict && strcmp(verdict, verdict_name(VERDICT_PASS)) != 0)
        add_case(context, entry);
}

static struct check_request make_request(struct attempt *a, struct backend *backend)
{
    return (struct check_request){
        .backend = backend,
        .lab = a->warm->lab,
        .image = &a->image,
        .entry = a->warm->about->entry,
        .seed = a->work->seed,
        .add = add_case,
        .context = a,
    };
}

static void stop_stage(struct attempt *a, enum stage stage, const struct err *err)
{
    emit_skip(a->emit, stage_name(stage), err->text);
    answer_judge(&a->answer, VERDICT_CANNOT_RUN, err->text);
}

static void check_on_gpu(struct attempt *a)
{
    struct err err = {0};
    struct check_result result;
    struct check_request request = make_request(a, a->warm->gpu);
    double start = clock_ms();
    emit_begin(a->emit, stage_name(STAGE_CHECK));
    emit_set(a->emit,
             json_pack("{s:s, s:o}", "backend", "gpu", "device", gpu_device_json(a->warm->gpu)));
    request.sizes = a->warm->about->check_sizes;
    request.size_count = a->warm->about->check_sizes_count;
    request.memory_free = gpu_memory_free(a->warm->gpu);
    request.prepared = &a->warm->prepared;
    if (!check_run(&result, &request, &err)) {
        stop_stage(a, STAGE_CHECK, &err);
        return;
    }
    answer_judge(&a->answer, result.verdict, result.summary);
    a->checked_on_gpu = result.verdict == VERDICT_PASS;
    a->poisoned = result.poisoned;
    emit_done(a->emit, stage_name(STAGE_CHECK), clock_ms() - start);
    check_result_free(&result);
}

/* Runs the simulator with all its checks: on every size when it decides, else on the small ones. */
static bool simulate(struct attempt *a, bool decides, struct err *err)
{
    struct backend *sim;
    if (!sim_open(&sim, 0, err))
        return false;
    enum { SMALL = 2 }; /* sizes that are enough beside a GPU */
    struct check_request request = make_request(a, sim);
    unsigned count = a->warm->about->sim_sizes_count;
    request.sizes = a->warm->about->sim_sizes;
    request.size_count = decides || count < SMALL ? count : SMALL;
    request.hazards = true;
    request.add = decides ? add_case : add_failed_case;
    a->has_simulated = check_run(&a->simulated, &request, err);
    a->simulated_in = decides ? STAGE_CHECK : STAGE_HAZARDS;
    sim->ops->close(sim);
    return a->has_simulated;
}

static void check_on_simulator(struct attempt *a)
{
    struct err err = {0};
    double start = clock_ms();
    emit_begin(a->emit, stage_name(STAGE_CHECK));
    emit_set(a->emit, json_pack("{s:s}", "backend", "sim"));
    if (!simulate(a, true, &err)) {
        stop_stage(a, STAGE_CHECK, &err);
        return;
    }
    answer_judge(&a->answer, a->simulated.verdict, a->simulated.summary);
    emit_done(a->emit, stage_name(STAGE_CHECK), clock_ms() - start);
}

static void check_stage(struct attempt *a)
{
    struct warm *warm = a->warm;
    struct err err = {0};
    bool fits = warm_fits_gpu(warm);
    if (!warm->lab) {
        err_set(&err, _("the lab %s has no device side in this build of Stride"),
                warm->about->slug);
        stop_stage(a, STAGE_CHECK, &err);
    } else if (a->work->backend == BACKEND_GPU && !fits) {
        if (warm->gpu)
            err_set(&err, _("this lab needs compute capability %s, and this GPU has %u.%u"),
                    warm->about->capability, warm->capability / 10, warm->capability % 10);
        stop_stage(a, STAGE_CHECK, warm->gpu ? &err : &warm->no_gpu);
    } else if (a->work->backend != BACKEND_SIM && fits) {
        check_on_gpu(a);
    } else {
        check_on_simulator(a);
    }
}

/* The kernel did not come to its end. */
static bool broken_off(const struct check_result *found)
{
    return found->verdict != VERDICT_PASS && found->verdict != VERDICT_HAZARD &&
           found->verdict != VERDICT_WRONG;
}

static void emit_findings(struct attempt *a)
{
    struct check_result *found = &a->simulated;
    size_t i;
    json_t *hazard;
    json_array_foreach(found->hazards, i, hazard)
        emit_add(a->emit, "hazards", json_incref(hazard));
    if (found->counters &&
        !broken_off(found)) /* half a run's counts say nothing about the kernel */
        emit_set(a->emit, json_pack("{s:O}", "counters", found->counters));
    if (found->output && *found->output)
        emit_set(a->emit, json_pack("{s:o}", "output", json_text(found->output)));
}

/* A GPU that hung or faulted cannot say why; where the simulator can, both are told. */
static void join_verdicts(struct attempt *a)
{
    enum verdict found = a->simulated.verdict;
    bool explains = found == VERDICT_HAZARD || found == VERDICT_FAULT;
    if (explains &&
        (a->answer.verdict == VERDICT_TIMED_OUT || a->answer.verdict == VERDICT_FAULT)) {
        size_t len = strlen(a->answer.summary);
        snprintf(a->answer.summary + len, sizeof a->answer.summary - len, "; %s",
                 a->simulated.summary);
    } else {
        answer_judge(&a->answer, found, a->simulated.summary);
    }
}

static void hazards_stage(struct attempt *a)
{
    struct err err = {0};
    double start = clock_ms();
    const char *name = stage_name(STAGE_HAZARDS);
    if (!a->warm->lab) {
        emit_skip(a->emit, name, _("nothing was run"));
        return;
    }
    emit_begin(a->emit, name);
    bool decided = a->has_simulated; /* the check itself was the simulator's */
    if (!decided && !simulate(a, false, &err)) {
        emit_skip(a->emit, name, err.text);
        return;
    }
    if (!decided && a->simulated.verdict == VERDICT_CANNOT_RUN) {
        emit_skip(a->emit, name,
                  a->simulated.summary); /* the simulator's limit, not the kernel's */
        return;
    }
    emit_findings(a);
    if (decided) {
        emit_done_within(a->emit, name, stage_name(a->simulated_in));
        return;
    }
    join_verdicts(a);
    emit_done(a->emit, name, clock_ms() - start);
}

/* ---- time, timeline, disasm */

static void note_timing(void *context, const char *text)
{
    struct attempt *a = context;
    emit_note(a->emit, "%s", text);
}

static void measure(struct attempt *a)
{
    struct err err = {0};
    struct timing_result result;
    const struct warm *warm = a->warm;
    const char *name = stage_name(STAGE_TIME);
    struct image baseline = build_image(&warm->baseline), solution = build_image(&warm->solution);
    struct image limits = build_image(&warm->limits);
    struct timing_request request = {
        .gpu = warm->gpu,
        .lab = warm->lab,
        .about = warm->about,
        .yours = &a->image,
        .baseline = &baseline,
        .solution = &solution,
        .limits = warm->limits.ok ? &limits : NULL,
        .peers = {.cublas = warm->toolkit.parts[PART_CUBLAS], .cub = warm->cub},
        .seed = a->work->seed,
        .note = note_timing,
        .context = a,
    };
    double start = clock_ms();
    emit_begin(a->emit, name);
    if (!timing_run(&result, &request, &err)) {
        emit_skip(a->emit, name, err.text);
        return;
    }
    a->poisoned |= result.poisoned;
    if (result.timing)
        emit_set(a->emit, json_pack("{s:O}", "timing", result.timing));
    if (result.failed_case)
        emit_add(a->emit, "cases", json_incref(result.failed_case));
    if (result.verdict != VERDICT_PASS) {
        answer_judge(&a->answer, result.verdict, result.summary);
    } else if (a->answer.verdict == VERDICT_PASS && result.summary[0]) {
        size_t len = strlen(a->answer.summary);
        snprintf(a->answer.summary + len, sizeof a->answer.summary - len, ", %s", result.summary);
    }
    if (result.timing || result.verdict != VERDICT_PASS)
        emit_done(a->emit, name, clock_ms() - start);
    else
        emit_skip(a->emit, name, result.skip);
    timing_result_free(&result);
}

static void time_stage(struct attempt *a)
{
    char why[1024] = "";
    const char *name = stage_name(STAGE_TIME);
    if (!a->warm->gpu)
        snprintf(why, sizeof why, _("timing needs an NVIDIA GPU: %s"), a->warm->no_gpu.text);
    else if (a->work->backend == BACKEND_SIM || !warm_fits_gpu(a->warm))
        snprintf(why, sizeof why, "%s", _("only a kernel that ran on the GPU is timed"));
    else if (!a->checked_on_gpu || a->poisoned)
        snprintf(why, sizeof why, "%s", _("only a kernel that gives right answers is timed"));
    if (why[0]) {
        emit_skip(a->emit, name, why);
        return;
    }
    measure(a);
}

static void timeline_stage(struct attempt *a)
{
    const char *name = stage_name(STAGE_TIMELINE);
    if (!a->has_simulated || !a->simulated.timeline) {
        emit_skip(a->emit, name,
                  a->has_simulated && broken_off(&a->simulated)
                      ? _("the kernel did not come to its end")
                      : _("there are no asynchronous copies to draw"));
        return;
    }
    emit_begin(a->emit, name);
    emit_set(a->emit, json_pack("{s:O}", "timeline", a->simulated.timeline));
    emit_done_within(a->emit, name, stage_name(a->simulated_in));
}

static void start_listing(struct attempt *a)
{
    struct err err = {0};
    if (a->yours.cubin.len)
        a->disassembling = disasm_start(&a->disasm, &a->warm->toolkit, a->yours.cubin.data,
                                        a->yours.cubin.len, &err);
    else
        err_set(&err,
                _("this toolkit makes only PTX for this GPU, and the driver makes the machine "
                  "code (%s)"),
                a->yours.arch);
    snprintf(a->no_listing, sizeof a->no_listing, "%s", err.text);
}

static void disasm_stage(struct attempt *a)
{
    struct err err = {0};
    struct buf listing = {0};
    const char *name = stage_name(STAGE_DISASM);
    if (!a->disassembling) {
        emit_skip(a->emit, name, a->no_listing);
        return;
    }
    double start = clock_ms();
    emit_begin(a->emit, name);
    if (disasm_finish(&a->disasm, &listing, &err)) {
        answer_write(&a->answer, "kernel.sass", &listing);
        answer_landmarks(&a->answer, LISTING_SASS, a->yours.arch, &listing);
        emit_done(a->emit, name, clock_ms() - start);
    } else {
        emit_skip(a->emit, name, err.text);
    }
    buf_free(&listing);
}

bool stages_run(struct warm *warm, const struct work *work, struct emit *emit)
{
    if (warm->host) {
        host_stages_run(warm->host, work, emit);
        return true;
    }
    struct attempt a = {.warm = warm,
                        .work = work,
                        .emit = emit,
                        .answer = {work, warm->about, emit, VERDICT_PASS, ""}};
    emit->nonce = work->nonce;
    if (compile_stage(&a)) {
        const bool *wanted = work->stages;
        if (wanted[STAGE_DISASM])
            start_listing(&a);
        if (wanted[STAGE_CHECK])
            check_stage(&a);
        if (wanted[STAGE_HAZARDS])
            hazards_stage(&a);
        if (wanted[STAGE_TIME])
            time_stage(&a);
        if (wanted[STAGE_TIMELINE])
            timeline_stage(&a);
        if (wanted[STAGE_DISASM])
            disasm_stage(&a);
    }
    emit_end(emit, a.answer.verdict, a.answer.summary[0] ? a.answer.summary : _("compiles"));
    emit->nonce = NULL;
    if (a.has_simulated)
        check_result_free(&a.simulated);
    build_free(&a.yours);
    return !a.poisoned;
}

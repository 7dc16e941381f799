/* How to read this file: trial_run prepares memory, launches once, and judges guard zones, inputs
 * and outputs in that order. Each step adds to the case's entry of the record. */
#include "trial.h"
#include "compare.h"
#include "emit.h"
#include "guard.h"
#include "prepared.h"

#include "harness/base/clock.h"

#include "base/buf.h"
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t trial_bytes(const struct check_request *request, const struct lab_shape *shape)
{
    uint64_t sum = 0;
    for (int i = 0; i < shape->buffer_count; i++)
        sum += guard_allocation(request->backend, &shape->buffers[i]);
    return sum;
}

bool trial_open(struct trial *trial, const struct check_request *request,
                const struct lab_shape *shape, struct err *err)
{
    struct backend *backend = request->backend;
    const struct prepared *prepared = request->prepared;
    *trial = (struct trial){.request = request, .shape = *shape, .guard = guard_width(backend)};
    for (int i = 0; i < shape->buffer_count; i++) {
        const struct lab_buffer *about = &shape->buffers[i];
        size_t bytes = guard_allocation(backend, about);
        if (!backend->ops->alloc(backend, &trial->base[i], bytes, about->name, err)) {
            trial_close(trial, false);
            return false;
        }
        trial->data[i] = trial->base[i] + trial->guard;
        if (prepared && prepared->back[i] && prepared->back_bytes[i] >= bytes)
            trial->back[i] = prepared->back[i];
        else
            trial->back[i] = trial->own_back[i] = mem_alloc(bytes);
    }
    return true;
}

void trial_forget(struct trial *trial)
{
    if (trial->module)
        trial->request->backend->ops->unload(trial->request->backend, trial->module);
    trial->module = NULL;
}

void trial_close(struct trial *trial, bool lost)
{
    struct backend *backend = trial->request->backend;
    if (!lost)
        trial_forget(trial);
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        free(trial->own_host[i]);
        free(trial->own_want[i]);
        free(trial->own_back[i]);
        if (trial->base[i] && !lost)
            backend->ops->release(backend, trial->base[i]);
    }
    *trial = (struct trial){.request = trial->request};
}

static void make_case(struct trial *trial, uint64_t seed)
{
    const struct lab *lab = trial->request->lab;
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        size_t bytes = guard_buffer_bytes(about);
        if (lab_is_filled(about->role) && !trial->own_host[i])
            trial->own_host[i] = mem_alloc(bytes);
        if (lab_is_answer(about->role) && !trial->own_want[i])
            trial->own_want[i] = mem_alloc(bytes);
        if (lab_is_filled(about->role))
            lab->fill(&trial->shape, i, seed, trial->own_host[i]);
    }
    lab->reference(&trial->shape, trial->own_host, trial->own_want);
}

/* Inputs and right answers for this seed: made before, or now. */
static void take_case(struct trial *trial, uint64_t seed)
{
    const struct prepared_case *made = prepared_find(trial->request->prepared, &trial->shape, seed);
    if (!made)
        make_case(trial, seed);
    trial->allowed = made ? made->allowed : NULL;
    memcpy(trial->host, made ? made->host : trial->own_host, sizeof trial->host);
    memcpy(trial->want, made ? made->want : trial->own_want, sizeof trial->want);
}

/* Everything the kernel can reach gets new contents before every launch: an answer of an earlier
 * launch must never stand there. The right answers stay on the host. */
static bool prepare(struct trial *trial, uint64_t seed, struct err *err)
{
    const struct check_request *request = trial->request;
    const struct backend_ops *ops = request->backend->ops;
    take_case(trial, seed);
    trial->launches++;
    trial->guard_pattern = (uint32_t)lab_mix(0x6775617264u ^ seed, trial->launches);
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        size_t bytes = guard_buffer_bytes(about);
        trial->poison[i] = check_poison(about->type, lab_mix(seed, trial->launches) + (unsigned)i);
        if (trial->guard && !ops->fill(request->backend, trial->base[i], trial->guard_pattern,
                                       guard_allocation(request->backend, about), true, err))
            return false;
        if (lab_is_filled(about->role)) {
            if (!ops->upload(request->backend, trial->data[i], trial->host[i], bytes, err))
                return false;
            continue;
        }
        if (!ops->fill(request->backend, trial->data[i], trial->poison[i], bytes / 4 * 4, false,
                       err))
            return false;
        if (bytes % 4 && !ops->upload(request->backend, trial->data[i] + bytes / 4 * 4,
                                      &trial->poison[i], bytes % 4, err))
            return false;
    }
    return true;
}

static bool launch(struct trial *trial, struct launch_result *result, struct err *err)
{
    const struct check_request *request = trial->request;
    const struct backend_ops *ops = request->backend->ops;
    void *params[LAB_ARGS];
    size_t sizes[LAB_ARGS];
    for (int i = 0; i < trial->shape.arg_count; i++) {
        struct lab_arg *arg = &trial->shape.args[i];
        bool pointer = arg->buffer >= 0;
        params[i] = pointer ? (void *)&trial->data[arg->buffer] : (void *)&arg->value;
        sizes[i] = pointer ? sizeof trial->data[0] : arg->size;
    }
    struct launch about = {
        .entry = request->entry,
        .dynamic_shared_bytes = trial->shape.dynamic_shared_bytes,
        .params = params,
        .param_sizes = sizes,
        .param_count = trial->shape.arg_count,
        .deadline_ms = trial->deadline_ms,
        .hazards = request->hazards,
    };
    memcpy(about.grid, trial->shape.grid, sizeof about.grid);
    memcpy(about.block, trial->shape.block, sizeof about.block);
    struct err refused = {0};
    if (!trial->module && !ops->load(request->backend, &trial->module, request->image, &refused)) {
        result->verdict = VERDICT_CANNOT_RUN; /* most often a driver older than the toolkit */
        snprintf(result->text, sizeof result->text, "%.500s", refused.text);
        return true;
    }
    about.module = trial->module;
    bool ok = ops->launch(request->backend, &about, result, err);
    fflush(stdout); /* what the driver printed for the kernel */
    if (ok && result->poisoned)
        trial->module = NULL;
    else if (!trial->keeps_module)
        trial_forget(trial);
    return ok;
}

static void set_fault(json_t *entry, const char *kind, const char *buffer, const char *text)
{
    json_t *fault = json_pack("{s:s, s:s*, s:s}", "kind", kind, "buffer", buffer, "text", text);
    if (!json_object_get(entry, "fault"))
        json_object_set(entry, "fault", fault);
    json_decref(fault);
}

/* An overrun is named by whole elements: one past the end is 0 bytes after, [-1] is 4 before. */
static bool guards_intact(const struct trial *trial, json_t *entry)
{
    for (int i = 0; trial->guard && i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        struct guarded guarded = {.copy = trial->back[i],
                                  .bytes = guard_buffer_bytes(about),
                                  .width = trial->guard,
                                  .pattern = trial->guard_pattern};
        size_t unit = lab_type_bytes(about->type);
        for (int side = 0; side < 2; side++) {
            bool before = side == 0;
            size_t offset;
            if (!guard_overrun(&offset, &guarded, before))
                continue;
            offset = before ? (offset + unit - 1) / unit * unit : offset / unit * unit;
            char *text = before ? mem_printf(_("wrote %zu bytes before the start of %s"), offset,
                                             about->name)
                                : mem_printf(_("wrote past the end of %s, %zu bytes behind it"),
                                             about->name, offset);
            set_fault(entry, "guard", about->name, text);
            json_t *fault = json_object_get(entry, "fault");
            json_object_set_new(fault, "side", json_string(before ? "before" : "after"));
            json_object_set_new(fault, "offset_bytes", json_integer((json_int_t)offset));
            free(text);
            return false; /* the first is enough: others follow from it */
        }
    }
    return true;
}

/* The buffer itself as it came back. */
static const char *back_data(const struct trial *trial, int buffer)
{
    return (const char *)trial->back[buffer] + trial->guard;
}

static bool inputs_intact(const struct trial *trial, json_t *entry)
{
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        const char *now = back_data(trial, i), *before = trial->host[i];
        if (about->role != LAB_IN || memcmp(now, before, guard_buffer_bytes(about)) == 0)
            continue;
        size_t first = 0;
        while (now[first] == before[first])
            first++;
        char *text = mem_printf(_("input modified: %s[%zu] is not what it was before the launch"),
                                about->name, first / lab_type_bytes(about->type));
        set_fault(entry, "input-modified", about->name, text);
        free(text);
        return false;
    }
    return true;
}

static bool outputs_right(const struct trial *trial, json_t *entry)
{
    double worst = 0, allowed = 0;
    bool right = true;
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        if (!lab_is_answer(about->role))
            continue;
        struct check_buffer buffer = {.lab = trial->request->lab,
                                      .shape = &trial->shape,
                                      .buffer = i,
                                      .got = back_data(trial, i),
                                      .want = trial->want[i],
                                      .host = trial->host,
                                      .poison = trial->poison[i]};
        struct check_outcome outcome;
        bool same = check_compare(&outcome, &buffer);
        if (!(outcome.max_error <= worst))
            worst = outcome.max_error;
        double tolerance = trial->allowed ? trial->allowed[i] : compare_allowance(&buffer);
        allowed = tolerance > allowed ? tolerance : allowed;
        if (!same && right)
            json_object_set_new(entry, "mismatch", check_mismatch(&buffer, &outcome));
        right = right && same;
    }
    json_object_set_new(entry, "max_error", compare_json(worst));
    json_object_set_new(entry, "tolerance", json_real(allowed));
    return right;
}

/* Everything the kernel could reach comes back once and is looked at on the host. */
static bool judge(struct trial *trial, json_t *entry, enum verdict *verdict, struct err *err)
{
    struct backend *backend = trial->request->backend;
    for (int i = 0; i < trial->shape.buffer_count; i++)
        if (!backend->ops->download(backend, trial->back[i], trial->base[i],
                                    guard_allocation(backend, &trial->shape.buffers[i]), err))
            return false;
    bool intact = guards_intact(trial, entry) && inputs_intact(trial, entry);
    if (!outputs_right(trial, entry))
        *verdict = verdict_worse(*verdict, VERDICT_WRONG);
    if (!intact)
        *verdict = verdict_worse(*verdict, VERDICT_FAULT);
    return true;
}

static void describe_launch(json_t *entry, const struct launch_result *launched)
{
    if (launched->verdict == VERDICT_PASS)
        return;
    if (launched->verdict == VERDICT_FAULT) {
        set_fault(entry, launched->fault_kind, NULL, launched->text);
        if (launched->line)
            json_object_set_new(json_object_get(entry, "fault"), "line",
                                json_integer(launched->line));
    } else if (*launched->text) {
        json_object_set_new(entry, "text", json_string(launched->text));
        if (launched->line)
            json_object_set_new(entry, "line", json_integer(launched->line));
    }
}

/* A hazard of an undefined value counts where something depended on that value. The simulator makes
 * it one that spoils results, so where they are right nothing did. */
static void settle_undefined(struct launch_result *launched, json_t *entry, enum verdict *verdict)
{
    bool right = *verdict == VERDICT_HAZARD && !json_object_get(entry, "mismatch");
    for (size_t i = json_array_size(launched->hazards); i-- > 0;) {
        json_t *hazard = json_array_get(launched->hazards, i);
        if (json_object_del(hazard, LAUNCH_HAZARD_IF_USED) == 0 && right)
            json_array_remove(launched->hazards, i);
    }
    if (!right || json_is_object(json_array_get(launched->hazards, 0))) {
        json_t *first = json_object_get(json_array_get(launched->hazards, 0), "text");
        if (right)
            json_object_set(entry, "text", first);
        return;
    }
    *verdict = VERDICT_PASS;
    json_object_del(entry, "text");
    json_decref(launched->hazards);
    launched->hazards = NULL;
}

bool trial_run(struct trial *trial, uint64_t seed, json_t *entry, enum verdict *verdict,
               struct launch_result *launched, struct err *err)
{
    double start = clock_ms();
    *launched = (struct launch_result){.verdict = VERDICT_PASS};
    if (!prepare(trial, seed, err) || !launch(trial, launched, err))
        return false;
    *verdict = launched->verdict;
    describe_launch(entry, launched);
    bool ended = launched->verdict == VERDICT_PASS || launched->verdict == VERDICT_HAZARD;
    if (ended && !judge(trial, entry, verdict, err))
        return false;
    settle_undefined(launched, entry, verdict);
    json_object_set_new(entry, "verdict", json_string(verdict_name(*verdict)));
    json_object_set_new(entry, "ms", json_real(clock_ms() - start));
    return true;
}

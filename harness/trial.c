/* How to read this file: trial_run prepares memory, launches once, and judges guard zones, inputs
 * and outputs in that order. Each step adds to the case's entry of the record. */
#include "trial.h"
#include "compare.h"

#include "base/buf.h"
#include "base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Guards are wide enough for an overrun that starts a whole 2 MiB page away from the buffer. */
enum { GUARD_BYTES = (2 << 20) + 4096, ROUND_BYTES = 256 };

static size_t bytes_of(const struct lab_buffer *buffer)
{
    return buffer->count * lab_type_bytes(buffer->type);
}

static size_t guard_of(const struct check_request *request)
{
    return request->backend->ops->exact_bounds ? 0 : GUARD_BYTES;
}

static size_t allocation_of(const struct lab_buffer *buffer, size_t guard)
{
    size_t bytes = bytes_of(buffer);
    if (!guard) /* bounds are exact, and so must the allocation be */
        return bytes;
    return guard + (bytes + ROUND_BYTES - 1) / ROUND_BYTES * ROUND_BYTES + guard;
}

uint64_t trial_bytes(const struct check_request *request, const struct lab_shape *shape)
{
    uint64_t sum = 0;
    for (int i = 0; i < shape->buffer_count; i++)
        sum += allocation_of(&shape->buffers[i], guard_of(request));
    return sum;
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

bool trial_open(struct trial *trial, const struct check_request *request,
                const struct lab_shape *shape, struct err *err)
{
    struct backend *backend = request->backend;
    *trial = (struct trial){.request = request, .shape = *shape, .guard = guard_of(request)};
    size_t largest = trial->guard;
    for (int i = 0; i < shape->buffer_count; i++) {
        const struct lab_buffer *about = &shape->buffers[i];
        size_t bytes = bytes_of(about);
        largest = bytes > largest ? bytes : largest;
        trial->host[i] = about->role == LAB_OUT ? NULL : mem_alloc(bytes);
        trial->want[i] = about->role == LAB_IN ? NULL : mem_alloc(bytes);
        if (!backend->ops->alloc(backend, &trial->base[i], allocation_of(about, trial->guard),
                                 about->name, err)) {
            trial_close(trial, false);
            return false;
        }
        trial->data[i] = trial->base[i] + trial->guard;
    }
    trial->scratch = mem_alloc(largest);
    return true;
}

void trial_close(struct trial *trial, bool lost)
{
    struct backend *backend = trial->request->backend;
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        free(trial->host[i]);
        free(trial->want[i]);
        if (trial->base[i] && !lost)
            backend->ops->release(backend, trial->base[i]);
    }
    free(trial->scratch);
    *trial = (struct trial){.request = trial->request};
}

/* Everything the kernel can reach gets new contents before every launch: an answer of an earlier
 * launch must never stand there. The right answers stay on the host. */
static bool prepare(struct trial *trial, uint64_t seed, struct err *err)
{
    const struct check_request *request = trial->request;
    const struct backend_ops *ops = request->backend->ops;
    trial->launches++;
    trial->guard_pattern = (uint32_t)lab_mix(0x6775617264u ^ seed, trial->launches);
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        size_t bytes = bytes_of(about);
        if (trial->host[i])
            request->lab->fill(&trial->shape, i, seed, trial->host[i]);
        trial->poison[i] = check_poison(about->type, lab_mix(seed, trial->launches) + (unsigned)i);
        if (trial->guard && !ops->fill(request->backend, trial->base[i], trial->guard_pattern,
                                       allocation_of(about, trial->guard), true, err))
            return false;
        if (about->role != LAB_OUT) {
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
    request->lab->reference(&trial->shape, trial->host, trial->want);
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
    if (!ops->load(request->backend, &about.module, request->image, &refused)) {
        result->verdict = VERDICT_CANNOT_RUN; /* most often a driver older than the toolkit */
        snprintf(result->text, sizeof result->text, "%.500s", refused.text);
        return true;
    }
    bool ok = ops->launch(request->backend, &about, result, err);
    fflush(stdout); /* what the driver printed for the kernel */
    if (!ok || !result->poisoned)
        ops->unload(request->backend, about.module);
    return ok;
}

static void set_fault(json_t *entry, const char *kind, const char *buffer, const char *text)
{
    json_t *fault = json_pack("{s:s, s:s*, s:s}", "kind", kind, "buffer", buffer, "text", text);
    if (!json_object_get(entry, "fault"))
        json_object_set(entry, "fault", fault);
    json_decref(fault);
}

/* Looks for the changed byte nearest to the buffer; `before` walks from the buffer's start
 * downwards. Compared as bytes, so that no NaN can look like another. */
static bool find_overrun(const struct trial *trial, bool before, size_t phase, size_t *offset)
{
    unsigned char pattern[8];
    memcpy(pattern, &trial->guard_pattern, 4);
    memcpy(pattern + 4, &trial->guard_pattern, 4);
    const unsigned char *zone = trial->scratch;
    /* Intact zones repeat every four bytes, which memcmp sees much faster than the loop below. */
    if (memcmp(zone, pattern + phase % 4, 4) == 0 && memcmp(zone, zone + 4, trial->guard - 4) == 0)
        return false;
    for (size_t k = 0; k < trial->guard; k++) {
        size_t at = before ? trial->guard - 1 - k : k;
        if (zone[at] != pattern[(phase + at) % 4]) {
            *offset = before ? k + 1 : k;
            return true;
        }
    }
    return false;
}

/* An overrun is named by whole elements: one past the end is 0 bytes after, [-1] is 4 before. */
static bool judge_guards(struct trial *trial, json_t *entry, bool *intact, struct err *err)
{
    struct backend *backend = trial->request->backend;
    for (int i = 0; trial->guard && i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        size_t bytes = bytes_of(about), unit = lab_type_bytes(about->type);
        for (int side = 0; side < 2; side++) {
            bool before = side == 0;
            uint64_t zone = before ? trial->base[i] : trial->data[i] + bytes;
            size_t offset;
            if (!backend->ops->download(backend, trial->scratch, zone, trial->guard, err))
                return false;
            if (!find_overrun(trial, before, before ? 0 : (trial->guard + bytes) % 4, &offset))
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
            *intact = false;
            return true; /* the first is enough: others follow from it */
        }
    }
    return true;
}

static bool judge_inputs(struct trial *trial, json_t *entry, bool *intact, struct err *err)
{
    struct backend *backend = trial->request->backend;
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        size_t bytes = bytes_of(about), unit = lab_type_bytes(about->type);
        if (about->role != LAB_IN)
            continue;
        if (!backend->ops->download(backend, trial->scratch, trial->data[i], bytes, err))
            return false;
        if (memcmp(trial->scratch, trial->host[i], bytes) == 0)
            continue;
        size_t first = 0;
        while (((const char *)trial->scratch)[first] == ((const char *)trial->host[i])[first])
            first++;
        char *text = mem_printf(_("input modified: %s[%zu] is not what it was before the launch"),
                                about->name, first / unit);
        set_fault(entry, "input-modified", about->name, text);
        free(text);
        *intact = false;
        return true;
    }
    return true;
}

/* Inputs and expected values are on the host; each output comes back once. */
static bool judge_outputs(struct trial *trial, json_t *entry, bool *right, struct err *err)
{
    struct backend *backend = trial->request->backend;
    double worst = 0, allowed = 0;
    for (int i = 0; i < trial->shape.buffer_count; i++) {
        const struct lab_buffer *about = &trial->shape.buffers[i];
        if (about->role == LAB_IN)
            continue;
        if (!backend->ops->download(backend, trial->scratch, trial->data[i], bytes_of(about), err))
            return false;
        struct check_buffer buffer = {.lab = trial->request->lab,
                                      .shape = &trial->shape,
                                      .buffer = i,
                                      .got = trial->scratch,
                                      .want = trial->want[i],
                                      .host = trial->host,
                                      .poison = trial->poison[i]};
        struct check_outcome outcome;
        bool same = check_compare(&outcome, &buffer);
        if (!(outcome.max_error <= worst))
            worst = outcome.max_error;
        double tolerance = compare_allowance(&buffer);
        allowed = tolerance > allowed ? tolerance : allowed;
        if (!same && *right)
            json_object_set_new(entry, "mismatch", check_mismatch(&buffer, &outcome));
        *right = *right && same;
    }
    json_object_set_new(entry, "max_error", compare_json(worst));
    json_object_set_new(entry, "tolerance", json_real(allowed));
    return true;
}

static bool judge(struct trial *trial, json_t *entry, enum verdict *verdict, struct err *err)
{
    bool intact = true, right = true;
    if (!judge_guards(trial, entry, &intact, err) || !judge_inputs(trial, entry, &intact, err) ||
        !judge_outputs(trial, entry, &right, err))
        return false;
    if (!right)
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
    }
}

bool trial_run(struct trial *trial, uint64_t seed, json_t *entry, enum verdict *verdict,
               struct launch_result *launched, struct err *err)
{
    double start = now_ms();
    *launched = (struct launch_result){.verdict = VERDICT_PASS};
    if (!prepare(trial, seed, err) || !launch(trial, launched, err))
        return false;
    *verdict = launched->verdict;
    describe_launch(entry, launched);
    bool ended = launched->verdict == VERDICT_PASS || launched->verdict == VERDICT_HAZARD;
    if (ended && !judge(trial, entry, verdict, err))
        return false;
    json_object_set_new(entry, "verdict", json_string(verdict_name(*verdict)));
    json_object_set_new(entry, "ms", json_real(now_ms() - start));
    return true;
}

/* Copies and memsets: what they check at the call, what they touch, and how they run. */
#include "sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KIND_H2H, KIND_H2D, KIND_D2H, KIND_D2D, KIND_DEFAULT };

/* A copy of pageable memory up to this size is staged at the call and goes on by itself; beyond,
 * the host is needed until the last piece is staged. CUDA's programming guide, "Implicit
 * Synchronization" and API synchronization behavior. */
enum { STAGED_AT_ONCE = 64 << 10 };

/* ---- checking */

static uint64_t extent(size_t pitch, size_t width, size_t rows)
{
    return rows ? (uint64_t)pitch * (rows - 1) + width : 0;
}

/* Is [va, va + bytes) usable as device memory? Says why not. */
static bool check_device(uint64_t va, uint64_t bytes)
{
    if (memory_bytes(va, bytes))
        return true;
    memory_explain(va, bytes);
    return false;
}

static bool is_device(uint64_t va)
{
    const struct memory *m = memory_at(va);
    return memory_is_device_address(va) || (m && m->kind == MEMORY_DEVICE);
}

/* With unified addressing the addresses say which way a copy goes. Of `kind` only this counts: what
 * it calls device memory has to be memory that the device can use. */
static int pick_way(struct copy *copy, uint64_t to_bytes, uint64_t from_bytes, int kind)
{
    static const char *const names[] = {"cudaMemcpyHostToHost", "cudaMemcpyHostToDevice",
                                        "cudaMemcpyDeviceToHost", "cudaMemcpyDeviceToDevice"};
    bool to_device = is_device(copy->to), from_device = is_device(copy->from);
    bool to_host = !to_device && !memory_is_pinned((void *)(uintptr_t)copy->to, to_bytes);
    bool from_host = !from_device && !memory_is_pinned((void *)(uintptr_t)copy->from, from_bytes);
    int found = to_device ? from_device ? KIND_D2D : KIND_H2D : from_device ? KIND_D2H : KIND_H2H;
    if ((to_host && (kind == KIND_H2D || kind == KIND_D2D)) ||
        (from_host && (kind == KIND_D2H || kind == KIND_D2D))) {
        sim_why(_("the destination is %s memory and the source %s memory, which is %s, not %s"),
                to_device ? _("device") : _("host"), from_device ? _("device") : _("host"),
                names[found], names[kind]);
        return CUDA_INVALID_VALUE;
    }
    copy->way = (enum copy_way)found;
    copy->pageable = to_host || from_host;
    return CUDA_OK;
}

int work_copy(struct work *out, void *to, size_t to_pitch, const void *from, size_t from_pitch,
              size_t width, size_t rows, int kind)
{
    uint64_t target = (uintptr_t)to, source = (uintptr_t)from, target_end, source_end;
    *out = (struct work){.kind = WORK_EMPTY, .line = sim_call_line()};
    if (kind < KIND_H2H || kind > KIND_DEFAULT)
        return 21; /* cudaErrorInvalidMemcpyDirection */
    if (!width || !rows)
        return CUDA_OK;
    if (rows > 1 && (to_pitch < width || from_pitch < width))
        return CUDA_INVALID_PITCH;
    uint64_t to_bytes = extent(to_pitch, width, rows), from_bytes = extent(from_pitch, width, rows);
    if (!to || !from || __builtin_add_overflow(target, to_bytes, &target_end) ||
        __builtin_add_overflow(source, from_bytes, &source_end)) {
        sim_why("%s", !to     ? _("the destination is a null pointer")
                      : !from ? _("the source is a null pointer")
                              : _("that many bytes do not exist"));
        return CUDA_INVALID_VALUE;
    }
    struct copy copy = {.to = target,
                        .from = source,
                        .to_pitch = to_pitch,
                        .from_pitch = from_pitch,
                        .width = width,
                        .rows = rows};
    int result = pick_way(&copy, to_bytes, from_bytes, kind);
    if (result)
        return result;
    if ((is_device(target) && !check_device(target, to_bytes)) ||
        (is_device(source) && !check_device(source, from_bytes)))
        return CUDA_INVALID_VALUE;
    out->kind = WORK_COPY;
    out->copy = copy;
    return CUDA_OK;
}

int work_set(struct work *out, void *to, size_t pitch, uint32_t value, uint32_t element_bytes,
             size_t width, size_t rows)
{
    uint64_t target = (uintptr_t)to, bytes = extent(pitch, width, rows);
    *out = (struct work){.kind = WORK_EMPTY, .line = sim_call_line()};
    if (!width || !rows)
        return CUDA_OK;
    if (rows > 1 && pitch < width)
        return CUDA_INVALID_PITCH;
    if (!check_device(target, bytes) || !element_bytes || width % element_bytes)
        return CUDA_INVALID_VALUE;
    out->kind = WORK_SET;
    out->set = (struct set){.to = target,
                            .pitch = pitch,
                            .width = width,
                            .rows = rows,
                            .value = value,
                            .element_bytes = element_bytes};
    return CUDA_OK;
}

/* ---- what they touch */

static void touch_rows(struct op *op, uint64_t at, size_t pitch, size_t width, size_t rows,
                       uint8_t how)
{
    for (size_t i = 0; i < rows; i++)
        op_touch(op, at + i * (uint64_t)pitch, width, how);
}

void copy_touches(struct op *op)
{
    const struct copy *c = &op->work.copy;
    bool reads = !c->staged; /* staged bytes have been read already */
    bool from_first = c->from < c->to;
    if (reads && from_first)
        touch_rows(op, c->from, c->from_pitch, c->width, c->rows, TOUCH_READ);
    touch_rows(op, c->to, c->to_pitch, c->width, c->rows, TOUCH_WRITE);
    if (reads && !from_first)
        touch_rows(op, c->from, c->from_pitch, c->width, c->rows, TOUCH_READ);
}

void set_touches(struct op *op)
{
    const struct set *s = &op->work.set;
    touch_rows(op, s->to, s->pitch, s->width, s->rows, TOUCH_WRITE);
}

/* ---- running */

static uint8_t *written_at(uint64_t va, size_t bytes)
{
    const struct memory *m = memory_at(va);
    return m && !m->freed && m->written && memory_holds(m, va, bytes) ? m->written + (va - m->va)
                                                                      : NULL;
}

/* The bytes at one end of a copy now; NULL, with a report, when they were given back meanwhile. */
static uint8_t *resolve(const struct op *op, uint64_t va, uint64_t bytes, bool known)
{
    uint8_t *at = memory_bytes(va, bytes);
    const struct memory *m = memory_at(va);
    bool dormant = m && m->dormant;
    if (!dormant && (at || (!known && !memory_is_device_address(va))))
        return at ? at : (uint8_t *)(uintptr_t)va;
    if (dormant && !m->freed_line)
        report_unordered(op->work.line, m->line,
                         _("%s is there only once the graph that allocates it runs: nothing makes "
                           "this operation wait for that"),
                         m->name);
    else
        report_unordered(
            op->work.line, m ? m->freed_line : 0,
            _("%s is given back while this operation may still work on it: wait for the "
              "stream first"),
            m ? m->name : _("memory"));
    return NULL;
}

/* Bytes that nobody wrote travel as such within the device, and are reported where they leave it.
 */
static size_t copy_written(const struct copy *c)
{
    size_t unwritten = 0;
    for (size_t row = 0; row < c->rows; row++) {
        const uint8_t *from = written_at(c->from + row * c->from_pitch, c->width);
        uint8_t *to = written_at(c->to + row * c->to_pitch, c->width);
        if (to && from)
            memmove(to, from, c->width);
        else if (to)
            memset(to, 1, c->width);
        for (size_t i = 0; !to && from && i < c->width; i++)
            unwritten += !from[i];
    }
    return unwritten;
}

static void report_unwritten(const struct op *op, size_t count)
{
    const struct memory *m = memory_at(op->work.copy.from);
    char text[240];
    snprintf(text, sizeof text,
             _("%zu of the %zu bytes that are copied out of %s were never written: what should "
               "have filled them has not run before this copy, or does not reach them"),
             count, op->work.copy.width * op->work.copy.rows, m ? m->name : "");
    report_hazard(ptx_hazard_name(PTX_HAZARD_UNINITIALISED), op->work.line, 0, text);
}

double copy_run(struct op *op)
{
    const struct copy *c = &op->work.copy;
    bool known_to = memory_at(c->to) != NULL, known_from = memory_at(c->from) != NULL;
    uint8_t *to =
        resolve(op, c->to, extent(c->to_pitch, c->width, c->rows), known_to && !c->pageable);
    const uint8_t *from = c->staged ? c->staged
                                    : resolve(op, c->from, extent(c->from_pitch, c->width, c->rows),
                                              known_from && !c->pageable);
    if (!to || !from)
        return -1;
    size_t from_pitch = c->staged ? c->width : c->from_pitch;
    for (size_t row = 0; row < c->rows; row++)
        memmove(to + row * c->to_pitch, from + row * from_pitch, c->width);
    size_t unwritten = copy_written(c);
    if (unwritten)
        report_unwritten(op, unwritten);
    return -1;
}

double set_run(struct op *op)
{
    const struct set *s = &op->work.set;
    for (size_t row = 0; row < s->rows; row++) {
        uint64_t va = s->to + row * s->pitch;
        uint8_t *to = resolve(op, va, s->width, true), *written = written_at(va, s->width);
        if (!to)
            return -1;
        for (size_t i = 0; i < s->width; i += s->element_bytes)
            memcpy(to + i, &s->value, s->element_bytes);
        if (written)
            memset(written, 1, s->width);
    }
    return -1;
}

/* ---- the API */

static void stage(struct copy *c)
{
    c->staged = mem_alloc(c->width * c->rows + 1);
    for (size_t row = 0; row < c->rows; row++)
        memcpy(c->staged + row * c->width,
               (const uint8_t *)(uintptr_t)c->from + row * c->from_pitch, c->width);
}

/* Pageable memory: what the host has to do itself, or to wait for. */
static int submit_pageable(struct stream *stream, struct work *work, const char *name, bool wait)
{
    enum copy_way way = work->copy.way;
    size_t bytes = work->copy.width * work->copy.rows;
    int line = work->line;
    struct op *op;
    if (way == COPY_H2D)
        stage(&work->copy);
    int result = sim_submit(&op, stream, work);
    if (result || !op)
        return result;
    if (way != COPY_H2D || wait)
        sim_finish(op, name, line);
    else if (bytes > STAGED_AT_ONCE) { /* in time it is over, but nothing promises that */
        sim_run(op);
        clock_wait_staged(op, name, line);
    } else {
        clock_stage(bytes);
    }
    op_drop(op);
    return sim.sticky;
}

/* `wait`: the synchronous functions. They wait for all but copies within the device. */
static int submit_copy(struct stream *stream, struct work *work, const char *name, bool wait)
{
    struct op *op;
    int line = work->line;
    clock_call(CLOCK_COPY);
    if (work->kind == WORK_EMPTY && !wait) {
        work_free(work);
        return CUDA_OK;
    }
    bool pageable = work->kind == WORK_COPY && work->copy.pageable;
    if (work->kind == WORK_COPY && work->copy.way == COPY_D2D)
        wait = false;
    if (pageable && !stream->capture)
        return submit_pageable(stream, work, name, wait);
    int result = sim_submit(&op, stream, work);
    if (!result && op && wait)
        sim_finish(op, name, line);
    op_drop(op);
    return result ? result : sim.sticky;
}

struct shape {
    size_t to_pitch, from_pitch, width, rows;
};

static int copy_rows(void *to, const void *from, const struct shape *shape, int kind, void *handle,
                     const char *name, bool wait)
{
    struct work work;
    int result = sim_enter();
    struct stream *stream = result ? NULL : stream_find(handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    int forbidden = !result && wait ? capture_forbids(CAPTURE_COPIES, stream, NULL) : -1;
    if (forbidden > 0)
        result = forbidden;
    if (!result)
        result = work_copy(&work, to, shape->to_pitch, from, shape->from_pitch, shape->width,
                           shape->rows, kind);
    if (!result)
        result = submit_copy(stream, &work, name, wait);
    return sim_leave(result);
}

static int sim_memcpy_async(void *to, const void *from, size_t bytes, int kind, void *stream)
{
    return copy_rows(to, from, &(struct shape){bytes, bytes, bytes, 1}, kind, stream,
                     "cudaMemcpyAsync", false);
}

static int sim_memcpy(void *to, const void *from, size_t bytes, int kind)
{
    return copy_rows(to, from, &(struct shape){bytes, bytes, bytes, 1}, kind, NULL, "cudaMemcpy",
                     true);
}

static int sim_memcpy_2d_async(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                               size_t width, size_t rows, int kind, void *stream)
{
    return copy_rows(to, from, &(struct shape){to_pitch, from_pitch, width, rows}, kind, stream,
                     "cudaMemcpy2DAsync", false);
}

static int sim_memcpy_2d(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t rows, int kind)
{
    return copy_rows(to, from, &(struct shape){to_pitch, from_pitch, width, rows}, kind, NULL,
                     "cudaMemcpy2D", true);
}

static int sim_memcpy_peer(void *to, int to_device, const void *from, int from_device, size_t bytes)
{
    if (to_device || from_device) {
        int result = sim_enter();
        return sim_leave(result ? result : CUDA_INVALID_DEVICE);
    }
    return sim_memcpy(to, from, bytes, KIND_D2D);
}

static int sim_memcpy_peer_async(void *to, int to_device, const void *from, int from_device,
                                 size_t bytes, void *stream)
{
    if (to_device || from_device) {
        int result = sim_enter();
        return sim_leave(result ? result : CUDA_INVALID_DEVICE);
    }
    return sim_memcpy_async(to, from, bytes, KIND_D2D, stream);
}

/* ---- variables of the program */

static int copy_symbol(const void *symbol, void *to, const void *from, size_t bytes, size_t offset,
                       int kind, void *handle, bool wait)
{
    uint64_t va;
    int result = sim_enter();
    if (!result)
        result = symbol_address(&va, symbol, offset, bytes);
    if (!result && kind == KIND_H2H)
        result = 21; /* cudaErrorInvalidMemcpyDirection */
    if (!result)
        result = copy_rows(to ? to : (void *)(uintptr_t)va, from ? from : (void *)(uintptr_t)va,
                           &(struct shape){bytes, bytes, bytes, 1}, kind, handle,
                           to ? "cudaMemcpyFromSymbol" : "cudaMemcpyToSymbol", wait);
    return sim_leave(result);
}

static int sim_memcpy_to_symbol(const void *symbol, const void *from, size_t bytes, size_t offset,
                                int kind)
{
    return copy_symbol(symbol, NULL, from, bytes, offset, kind, NULL, true);
}

static int sim_memcpy_to_symbol_async(const void *symbol, const void *from, size_t bytes,
                                      size_t offset, int kind, void *stream)
{
    return copy_symbol(symbol, NULL, from, bytes, offset, kind, stream, false);
}

static int sim_memcpy_from_symbol(void *to, const void *symbol, size_t bytes, size_t offset,
                                  int kind)
{
    return copy_symbol(symbol, to, NULL, bytes, offset, kind, NULL, true);
}

static int sim_memcpy_from_symbol_async(void *to, const void *symbol, size_t bytes, size_t offset,
                                        int kind, void *stream)
{
    return copy_symbol(symbol, to, NULL, bytes, offset, kind, stream, false);
}

/* ---- memset: device memory is set without waiting, also by the functions without Async */

static int set_rows(void *to, size_t pitch, int value, size_t width, size_t rows, void *handle)
{
    struct work work;
    int result = sim_enter();
    struct stream *stream = result ? NULL : stream_find(handle);
    if (!result && !stream)
        result = CUDA_INVALID_HANDLE;
    if (!result)
        result = work_set(&work, to, pitch, (uint32_t)(value & 0xff), 1, width, rows);
    clock_call(CLOCK_COPY);
    if (!result && work.kind == WORK_SET)
        result = sim_submit(NULL, stream, &work);
    return sim_leave(result);
}

static int sim_memset_async(void *to, int value, size_t bytes, void *stream)
{
    return set_rows(to, bytes, value, bytes, 1, stream);
}

static int sim_memset(void *to, int value, size_t bytes)
{
    return set_rows(to, bytes, value, bytes, 1, NULL);
}

static int sim_memset_2d_async(void *to, size_t pitch, int value, size_t width, size_t rows,
                               void *stream)
{
    return set_rows(to, pitch, value, width, rows, stream);
}

static int sim_memset_2d(void *to, size_t pitch, int value, size_t width, size_t rows)
{
    return set_rows(to, pitch, value, width, rows, NULL);
}

void sim_install_copies(struct runtime *out)
{
    out->cudaMemcpy = sim_memcpy;
    out->cudaMemcpyAsync = sim_memcpy_async;
    out->cudaMemcpy2D = sim_memcpy_2d;
    out->cudaMemcpy2DAsync = sim_memcpy_2d_async;
    out->cudaMemcpyPeer = sim_memcpy_peer;
    out->cudaMemcpyPeerAsync = sim_memcpy_peer_async;
    out->cudaMemcpyToSymbol = sim_memcpy_to_symbol;
    out->cudaMemcpyToSymbolAsync = sim_memcpy_to_symbol_async;
    out->cudaMemcpyFromSymbol = sim_memcpy_from_symbol;
    out->cudaMemcpyFromSymbolAsync = sim_memcpy_from_symbol_async;
    out->cudaMemset = sim_memset;
    out->cudaMemsetAsync = sim_memset_async;
    out->cudaMemset2D = sim_memset_2d;
    out->cudaMemset2DAsync = sim_memset_2d_async;
}

/* Runs PTX written in a test on the simulator: a kernel body between a common head and a common
 * end.
 *
 * The body may use %r0-%r63, %rd0-%rd63, %f0-%f31, %p0-%p15, `s` (4096 shared bytes), %r1 = tid.x,
 * %rd1 = in, %rd2 = out (4096 words each; in[i] = i). A struct ptx_fixture owns everything until
 * fixture_end.
 *
 * It only includes and defines; each test program includes it once. */
#ifndef STRIDE_TESTS_PTX_FIXTURE_H
#define STRIDE_TESTS_PTX_FIXTURE_H

#include "harness/base/buf.h"
#include "harness/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

enum { FIXTURE_WORDS = 4096 };

struct ptx_fixture {
    struct arena arena;
    struct ptx_module *module;
    struct ptx_result result;
    uint32_t *in, *out;
};

static const char *const fixture_head =
    ".version 8.6\n.target sm_90\n.address_size 64\n"
    ".visible .entry kernel(.param .u64 a, .param .u64 b)\n{\n"
    ".reg .b32 %r<64>;\n.reg .b64 %rd<64>;\n.reg .f32 %f<32>;\n.reg .b16 %h<16>;\n"
    ".reg .pred %p<16>;\n.shared .align 128 .b8 s[4096];\n"
    "ld.param.u64 %rd1, [a];\nld.param.u64 %rd2, [b];\nmov.u32 %r1, %tid.x;\n"
    "shl.b32 %r2, %r1, 2;\ncvt.u64.u32 %rd3, %r2;\nadd.u64 %rd4, %rd1, %rd3;\n"
    "add.u64 %rd5, %rd2, %rd3;\nmov.u32 %r3, s;\nadd.u32 %r4, %r3, %r2;\n";

/* %r2 = 4 * tid, %rd4 = &in[tid], %rd5 = &out[tid], %r3 = s, %r4 = &s[4 * tid]. */
static void fixture_run(struct ptx_fixture *f, const char *body, uint32_t threads)
{
    struct buf text = {0};
    struct err err = {0};
    memset(f, 0, sizeof *f);
    buf_add_str(&text, fixture_head);
    buf_add_str(&text, body);
    buf_add_str(&text, "\nret;\n}\n");
    if (!ptx_parse(&f->module, &f->arena, text.data, text.len, &err))
        fail_msg("%s", err.text);
    f->in = aligned_alloc(64, FIXTURE_WORDS * sizeof *f->in);
    f->out = aligned_alloc(64, FIXTURE_WORDS * sizeof *f->out);
    for (uint32_t i = 0; i < FIXTURE_WORDS; i++)
        f->in[i] = i;
    memset(f->out, 0xee, FIXTURE_WORDS * sizeof *f->out);
    struct ptx_memory memory[] = {
        {0x10000000, FIXTURE_WORDS * 4, f->in, "in", 4, false, NULL},
        {0x20000000, FIXTURE_WORDS * 4, f->out, "out", 4, false, NULL},
    };
    uint64_t params[] = {memory[0].va, memory[1].va};
    struct ptx_launch launch = {
        .module = f->module,
        .entry = "kernel",
        .grid = {1, 1, 1},
        .block = {threads, 1, 1},
        .params = params,
        .param_bytes = sizeof params,
        .memory = memory,
        .memory_count = 2,
        .options = {.checks = true, .counters = true, .steps = 1 << 20, .trace = true},
    };
    if (!ptx_run(&f->result, &launch, &err))
        fail_msg("%s", err.text);
    buf_free(&text);
}

static void fixture_end(struct ptx_fixture *f)
{
    ptx_result_free(&f->result);
    arena_free(&f->arena);
    free(f->in);
    free(f->out);
}

static inline bool fixture_has(const struct ptx_fixture *f, enum ptx_hazard_kind kind)
{
    for (size_t i = 0; i < f->result.hazard_count; i++)
        if (f->result.hazards[i].kind == kind)
            return true;
    return false;
}

/* No hazard, and the launch came to its end. */
static inline void fixture_is_clean(const struct ptx_fixture *f)
{
    if (f->result.hazard_count)
        fail_msg("%s: %s", ptx_hazard_name(f->result.hazards[0].kind), f->result.hazards[0].text);
    if (f->result.status != PTX_DONE)
        fail_msg("%s", f->result.message);
}

#endif

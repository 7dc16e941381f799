/* A launch of PTX that a test has in its hand: the module's text is the test's, and so are grid,
 * options and memory until it runs.
 *
 * A struct fixture owns everything from open_fixture to close_fixture.
 *
 * For a mere kernel body ptx_fixture.h is shorter. */
#ifndef STRIDE_TESTS_PTX_LAUNCH_H
#define STRIDE_TESTS_PTX_LAUNCH_H

#include "harness/ptx/ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

/* A kernel k(out, in): %rd1 is out, %rd2 in, %r1 the thread, %rd3 out + 4 * thread. */
#define BEGIN                                                                                      \
    ".visible .entry k(.param .u64 po, .param .u64 pi) {\n"                                        \
    ".reg .pred %p<20>; .reg .b16 %rs<20>; .reg .b32 %r<60>; .reg .f32 %f<20>; .reg .b64 "         \
    "%rd<40>;\n"                                                                                   \
    "ld.param.u64 %rd1, [po]; ld.param.u64 %rd2, [pi]; mov.u32 %r1, %tid.x;\n"                     \
    "mul.wide.u32 %rd3, %r1, 4; add.s64 %rd3, %rd1, %rd3;\n"
#define END "ret; }\n.file 1 \"kernel.cu\"\n"

enum { WORDS = 4096 };

struct fixture {
    struct arena arena;
    struct ptx_module *module;
    struct ptx_image *image;
    uint32_t *out, *in;
    struct ptx_launch launch;
    struct ptx_memory memory[2];
    uint64_t params[2];
    struct ptx_result result;
};

static inline void *words(void)
{
    void *memory = aligned_alloc(64, WORDS * 4);
    memset(memory, 0, WORDS * 4);
    return memory;
}

static inline void open_fixture(struct fixture *f, const char *text)
{
    struct err err = {0};
    *f = (struct fixture){0};
    if (!ptx_parse(&f->module, &f->arena, text, strlen(text), &err))
        fail_msg("%s", err.text);
    f->image = ptx_image_open(f->module);
    f->out = words();
    f->in = words();
    f->memory[0] = (struct ptx_memory){
        .va = 0x10000000, .bytes = WORDS * 4, .host = f->out, .name = "output", .element_bytes = 4};
    f->memory[1] = (struct ptx_memory){
        .va = 0x20000000, .bytes = WORDS * 4, .host = f->in, .name = "input", .element_bytes = 4};
    f->params[0] = f->memory[0].va;
    f->params[1] = f->memory[1].va;
    f->launch = (struct ptx_launch){.module = f->module,
                                    .image = f->image,
                                    .entry = "k",
                                    .grid = {1, 1, 1},
                                    .block = {64, 1, 1},
                                    .params = f->params,
                                    .param_bytes = sizeof f->params,
                                    .memory = f->memory,
                                    .memory_count = 2,
                                    .options = {.checks = true, .counters = true}};
}

static inline void run(struct fixture *f)
{
    struct err err = {0};
    ptx_result_free(&f->result);
    if (!ptx_run(&f->result, &f->launch, &err))
        fail_msg("%s", err.text);
}

static inline void close_fixture(struct fixture *f)
{
    ptx_result_free(&f->result);
    ptx_image_close(f->image);
    arena_free(&f->arena);
    free(f->out);
    free(f->in);
}

static inline void run_done(struct fixture *f, const char *text, unsigned threads)
{
    open_fixture(f, text);
    f->launch.block[0] = threads;
    for (uint32_t i = 0; i < WORDS; i++)
        f->in[i] = i;
    run(f);
    if (f->result.status != PTX_DONE)
        fail_msg("%s", f->result.message);
    for (size_t i = 0; i < f->result.hazard_count; i++)
        fail_msg("%s", f->result.hazards[i].text);
}

#endif

/* Forms that test_ptx_ops has no kernels for, on trial: each runs in a kernel of 64 threads between
 * a common head and tail, and scalar C says what every thread must get. A thread has four numbers,
 * x0 to x3, 64 bytes of its own in memory (`%raw`), and gives four numbers, y0 to y3. With
 * STRIDE_PTX_ON=gpu the kernels run on the GPU instead: a test of the test. Arguments: parts of
 * opcodes to try alone.
 *
 * A program says which family of forms is its own and builds their kernels; the trial is the
 * driver's.
 *
 * Every form is in one family, and one that its program builds nothing for is a failure. */
#ifndef STRIDE_TESTS_PTX_TRIAL_H
#define STRIDE_TESTS_PTX_TRIAL_H

#include "harness/ptx/handlers.h"
#include "tests/ptx/columns.h"
#include "tests/ptx/launch.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

enum { N = 64, RAW = 64, COLUMNS = 4, TRIED = 48 };

struct memory { /* of one launch, as the kernel sees it */
    uint64_t x[COLUMNS][N];
    uint8_t raw[N][RAW];
};

struct results {
    uint64_t y[COLUMNS][N];
    uint8_t raw[N][RAW];
};

struct trial {
    const char *opcode;
    const struct form_match *m;
    unsigned variant; /* number of the opcode in its row */
    unsigned threads;
    struct buf body, functions;
    struct memory in;
    struct results want, got;
};

static bool covered[1024];
static unsigned failures, runs;
static char **only;
static bool (*build)(struct trial *t); /* false: it has no kernel for this opcode */

static void emit(struct trial *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void emit(struct trial *t, const char *format, ...)
{
    char line[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    buf_add_str(&t->body, line);
}

static inline bool has(const struct trial *t, const char *word)
{
    return form_has(t->m, word);
}

static const char head[] =
    ".reg .b64 %in, %out, %raw, %p, %q, %x<4>, %y<4>, %u<8>; .reg .b32 %i, %lane, %s, %z, %r<16>;\n"
    ".reg .b16 %h<8>; .reg .pred %c<8>;\n"
    ".shared .align 128 .b8 s[8192]; .shared .align 8 .b8 bars[64]; .local .align 16 .b8 l[64];\n"
    "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %i, %tid.x; mov.u32 %lane, "
    "%laneid;\n"
    "mul.wide.u32 %p, %i, 64; add.u64 %raw, %in, %p; add.u64 %raw, %raw, 2048;\n"
    "mul.wide.u32 %q, %i, 8; add.u64 %q, %q, %in; mov.u32 %s, s; mad.lo.u32 %s, %i, 64, %s;\n"
    "ld.global.u64 %x0, [%q]; ld.global.u64 %x1, [%q+512]; ld.global.u64 %x2, [%q+1024];\n"
    "ld.global.u64 %x3, [%q+1536]; mov.u64 %y0, 0; mov.u64 %y1, 0; mov.u64 %y2, 0; mov.u64 %y3, "
    "0;\n"
    "add.u64 %p, %p, %out; add.u64 %p, %p, 2048;\n";
static const char tail[] =
    "\nE: mul.wide.u32 %q, %i, 8; add.u64 %q, %q, %out; st.global.u64 [%q], %y0;\n"
    "st.global.u64 [%q+512], %y1; st.global.u64 [%q+1024], %y2; st.global.u64 [%q+1536], %y3;\n"
    "ret;\n}\n";

/* Runs what was built and compares. */
static inline void run_trial(struct trial *t, enum ptx_isa isa, enum ptx_status status)
{
    struct buf text = {0};
    buf_printf(&text, ".version 8.7\n.target sm_90\n.address_size 64\n%s", buf_str(&t->functions));
    buf_printf(&text,
               ".const .align 16 .b8 table[64] = {1,130,3,132,5,134,7,136,9,138,11,140,13,142,15,"
               "144,17,18,19,20};\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n%s%s%s",
               head, buf_str(&t->body), tail);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = &t->in,
                          .out = &t->got,
                          .in_bytes = sizeof t->in,
                          .out_bytes = sizeof t->got,
                          .threads = t->threads,
                          .isa = isa};
    memset(&t->got, 0, sizeof t->got);
    bool ran = ptx_job_run(&job);
    unsigned bad = 0;
    runs++;
    if (job.refused) /* by ptxas, or this GPU: the table is wider than they are */
        goto done;
    if (job.status != status || (!ran && status == PTX_DONE)) {
        print_error("%s: status %d: %s\n%s\n", t->opcode, job.status, job.message, job.text);
        failures++;
        goto done;
    }
    for (unsigned c = 0; c < COLUMNS && status == PTX_DONE; c++) {
        for (unsigned i = 0; i < t->threads; i++) {
            if (t->got.y[c][i] == t->want.y[c][i] || bad++ > 2)
                continue;
            print_error("%s (build %d): y%u of thread %u is %llx instead of %llx\n", t->opcode, isa,
                        c, i, (unsigned long long)t->got.y[c][i],
                        (unsigned long long)t->want.y[c][i]);
        }
    }
    failures += bad > 0;
done:
    buf_free(&text);
}

/* ---- whose a form is ---- */

enum family {
    FAMILY_MEMORY, /* loads, stores, atomics, addresses; and what nobody else claims */
    FAMILY_WARP,   /* lanes together, barriers and fences, control */
    FAMILY_ASYNC,  /* asynchronous copies and mbarriers */
    FAMILY_NONE    /* test_ptx_ops, test_ptx_wmma and their like */
};

static inline enum family family_of(const struct form *form)
{
    if (columns_form(form) || form->rule == RULE_MATRIX || form->handler == H_movmatrix)
        return FAMILY_NONE;
    if (form->rule == RULE_CP_ASYNC)
        return FAMILY_ASYNC;
    if (form->rule == RULE_BARRIER || form->rule == RULE_BARRIER_RED ||
        form->rule == RULE_CLUSTER_WAIT)
        return FAMILY_WARP;
    switch (form->handler) {
    case H_shfl:
    case H_vote:
    case H_match_any:
    case H_match_all:
    case H_redux:
    case H_activemask:
    case H_elect:
    case H_bar_warp_sync:
    case H_fence:
    case H_nothing:
    case H_nanosleep:
    case H_trap:
    case H_bra:
    case H_brx:
    case H_call:
    case H_ret:
    case H_exit:
        return FAMILY_WARP;
    case H_cp_async_commit:
    case H_cp_async_wait:
    case H_cp_async_mbarrier:
    case H_bulk_load:
    case H_bulk_store:
    case H_bulk_commit:
    case H_bulk_wait:
        return FAMILY_ASYNC;
    default:
        return form->kind == PTX_KIND_SYNC ? FAMILY_ASYNC : FAMILY_MEMORY;
    }
}

/* ---- trying ---- */

static enum family family; /* the program's own */

static inline void try_opcode(const char *opcode, unsigned variant)
{
    struct form_match m;
    uint64_t seed = 31 + variant;
    if (!form_find(&m, opcode))
        return;
    for (int isa = PTX_ISA_BASE; isa <= PTX_ISA_AVX512; isa++) {
        static struct trial t;
        memset(&t, 0, sizeof t);
        t.opcode = opcode;
        t.m = &m;
        t.variant = variant;
        t.threads = N;
        for (unsigned i = 0; i < N * COLUMNS; i++)
            t.in.x[i / N][i % N] = values_noise(&seed);
        for (unsigned i = 0; i < N * RAW; i++)
            t.in.raw[i / RAW][i % RAW] = (uint8_t)(values_noise(&seed) >> 20);
        bool hangs = m.form->handler == H_trap && ptx_job_on_gpu(); /* ends the context */
        if (!hangs && build(&t)) {
            covered[m.form - forms] = true;
            run_trial(&t, (enum ptx_isa)isa, m.form->handler == H_trap ? PTX_FAULT : PTX_DONE);
        }
        buf_free(&t.body);
        buf_free(&t.functions);
    }
}

struct opcodes {
    const struct form *form;
    char *list[20000];
    unsigned count;
};

static inline bool collect(const char *opcode, void *context)
{
    struct opcodes *all = context;
    struct form_match match;
    bool hinted = strstr(opcode, "L2::cache_hint") != NULL; /* needs a policy: one operand more */
    if (all->count == 20000)
        return false;
    if (!hinted && form_find(&match, opcode) && match.form == all->form)
        all->list[all->count++] = mem_printf("%s", opcode);
    return true;
}

static inline bool wanted(const char *opcode)
{
    for (char **part = only; part && *part; part++)
        if (strstr(opcode, *part))
            return true;
    return !only || !*only;
}

static inline void test_forms(void **state)
{
    (void)state;
    static struct opcodes all;
    for (size_t f = 0; f < form_count; f++) {
        if (family_of(&forms[f]) != family)
            continue;
        all.form = &forms[f];
        all.count = 0;
        form_expand(forms[f].pattern, collect, &all);
        unsigned step = all.count > TRIED ? all.count / TRIED | 1 : 1, tried = 0;
        for (unsigned k = 0; k < all.count; k++) {
            if (k % step == 0 && wanted(all.list[k]))
                try_opcode(all.list[k], tried++);
            if (k % step == 0 && all.count < 4 && wanted(all.list[k]))
                try_opcode(all.list[k], tried++);
            free(all.list[k]);
        }
    }
    print_message("%u runs\n", runs);
    assert_int_equal(failures, 0);
}

static inline void test_every_form_ran(void **state)
{
    (void)state;
    unsigned missing = 0;
    for (size_t i = 0; i < form_count && (!only || !*only); i++) {
        if (family_of(&forms[i]) == family && !covered[i] && !ptx_job_on_gpu()) {
            print_error("no test for %s\n", forms[i].pattern);
            missing++;
        }
    }
    assert_int_equal(missing, 0);
}

static inline int trial_main(char **argv, enum family own, bool (*own_build)(struct trial *t))
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_forms),
                                       cmocka_unit_test(test_every_form_ran)};
    only = argv[0] ? argv + 1 : NULL;
    family = own;
    build = own_build;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif

/* wmma, form by form: by its results, since its fragments have no layout of their own. */
#include "ptx_matrix.h"

/* ---- wmma */

enum { PLACE = 4096, OUT_BYTES = 4096 };

struct wmma {
    struct shape s;
    const char *shape, *alayout, *blayout, *clayout, *dlayout, *space, *tail;
};

static void add_wmma_load(struct buf *text, const struct wmma *x, const char *operand,
                          const char *layout, const char *type, unsigned regs, unsigned at,
                          unsigned stride)
{
    char opcode[128];
    snprintf(opcode, sizeof opcode, "wmma.load.%s.sync.aligned.%s.%s.%s%s%s", operand, layout,
             x->shape, x->space, *x->space ? "." : "", type);
    add_line(text, opcode);
    add_regs(text, operand, regs);
    buf_printf(text, ", [%%from+%u], %u;\n", at, stride);
}

/* Which address a space's instruction takes: the copy in shared memory, or the array itself. */
static void add_start(struct buf *text, const char *space)
{
    bool shared = !strncmp(space, "shared", 6);
    buf_add_str(text, PTX_HEAD ".reg .b32 %a<8>, %b<8>, %c<8>, %d<8>, %t<4>, %z; .reg .b64 %from, "
                               "%to, %in, %out, %g; .reg .pred %p;\n"
                               ".shared .align 128 .b8 s[16384];\n"
                               "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
                               "mov.u32 %t0, %tid.x; mov.u32 %z, s; shl.b32 %t0, %t0, 2;\n"
                               "L: cvt.u64.u32 %g, %t0; add.u64 %g, %g, %in;\n"
                               "ld.global.u32 %t1, [%g]; add.u32 %t2, %z, %t0;\n"
                               "st.shared.u32 [%t2], %t1; add.u32 %t0, %t0, 128;\n"
                               "setp.lt.u32 %p, %t0, 16384; @%p bra L; bar.sync 0;\n");
    buf_printf(text, "mov.u64 %%from, %s; ", shared || !*space ? "s" : "%in");
    if (!*space)
        buf_add_str(text, "cvta.shared.u64 %from, %from; ");
    buf_printf(text, "mov.u64 %%to, %%from; add.u64 %%to, %%to, 12288;\n");
    if (!strcmp(space, "global"))
        buf_add_str(text, "mov.u64 %to, %out;\n");
}

static void add_end(struct buf *text, const char *space)
{
    if (strcmp(space, "global") != 0)
        buf_add_str(text, "bar.sync 0; mov.u32 %t0, %tid.x; shl.b32 %t0, %t0, 2;\n"
                          "M: cvt.u64.u32 %g, %t0; add.u64 %g, %g, %out; add.u32 %t2, %z, %t0;\n"
                          "ld.shared.u32 %t1, [%t2+12288]; st.global.u32 [%g], %t1;\n"
                          "add.u32 %t0, %t0, 128; setp.lt.u32 %p, %t0, 4096; @%p bra M;\n");
    buf_add_str(text, "ret;\n}\n");
}

static void wmma_text(struct buf *text, const struct wmma *x, const unsigned strides[4])
{
    const struct shape *s = &x->s;
    char opcode[128];
    unsigned na = regs_of(s->a, s->m * s->k, true), nb = regs_of(s->b, s->k * s->n, true);
    unsigned nc = regs_of(s->c, s->m * s->n, false), nd = regs_of(s->d, s->m * s->n, false);
    add_start(text, x->space);
    add_wmma_load(text, x, "a", x->alayout, s->a, na, 0, strides[0]);
    add_wmma_load(text, x, "b", x->blayout, s->b, nb, PLACE, strides[1]);
    add_wmma_load(text, x, "c", x->clayout, s->c, nc, 2 * PLACE, strides[2]);
    snprintf(opcode, sizeof opcode, "wmma.mma.sync.aligned.%s.%s.%s.%s%s", x->alayout, x->blayout,
             x->shape, s->d, x->tail);
    add_line(text, opcode);
    add_regs(text, "d", nd);
    buf_add_str(text, ", ");
    add_regs(text, "a", na);
    buf_add_str(text, ", ");
    add_regs(text, "b", nb);
    buf_add_str(text, ", ");
    add_regs(text, "c", nc);
    snprintf(opcode, sizeof opcode, "wmma.store.d.sync.aligned.%s.%s.%s%s%s", x->dlayout, x->shape,
             x->space, *x->space ? "." : "", s->d);
    buf_add_str(text, ";\n");
    add_line(text, opcode);
    buf_add_str(text, "[%to], ");
    add_regs(text, "d", nd);
    buf_printf(text, ", %u;\n", strides[3]);
    add_end(text, x->space);
}

/* Fills a matrix in memory and keeps its elements row by row. */
static void fill(uint8_t *memory, double *elements, const char *type, unsigned rows,
                 unsigned columns, bool by_columns, unsigned stride, bool fractions, bool is_sum)
{
    for (unsigned i = 0; i < rows; i++) {
        for (unsigned j = 0; j < columns; j++) {
            unsigned at = by_columns ? j * stride + i : i * stride + j;
            put_element(memory, at, type, value_for(type, fractions, is_sum));
            elements[i * columns + j] = get_element(memory, at, type);
        }
    }
}

static bool is_col(const char *layout)
{
    return !strcmp(layout, "col");
}

static void run_wmma(const struct wmma *x, bool fractions, enum ptx_isa isa, unsigned padding)
{
    const struct shape *s = &x->s;
    static uint8_t in[4 * PLACE], out[OUT_BYTES];
    static double a[1024], b[1024], c[1024], d[1024];
    unsigned lengths[4] = {is_col(x->alayout) ? s->m : s->k, is_col(x->blayout) ? s->k : s->n,
                           is_col(x->clayout) ? s->m : s->n, is_col(x->dlayout) ? s->m : s->n};
    const char *types[4] = {s->a, s->b, s->c, s->d};
    unsigned strides[4];
    for (unsigned i = 0; i < 4; i++)
        strides[i] = (lengths[i] * size_of(types[i]) + 15) / 16 * 16 / size_of(types[i]) +
                     padding * 16 / size_of(types[i]);
    struct buf text = {0};
    wmma_text(&text, x, strides);
    if (isa == PTX_ISA_AVX512 || !padding)
        memset(in, 0, sizeof in);
    fill(in, a, s->a, s->m, s->k, is_col(x->alayout), strides[0], fractions, false);
    fill(in + PLACE, b, s->b, s->k, s->n, is_col(x->blayout), strides[1], fractions, false);
    fill(in + 2 * PLACE, c, s->c, s->m, s->n, is_col(x->clayout), strides[2], fractions, true);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job) || job.hazard_count)
        fail_msg("%s %s\n%s", job.message, job.hazard_count ? job.hazard_text : "", job.text);
    for (unsigned i = 0; i < s->m; i++)
        for (unsigned j = 0; j < s->n; j++)
            d[i * s->n + j] = get_element(
                out, is_col(x->dlayout) ? j * strides[3] + i : i * strides[3] + j, s->d);
    check_product(s, a, b, c, d, fractions, job.text);
    buf_free(&text);
}

static const char *const layouts[] = {"row", "col"};
static const char *const spaces[] = {"global", "shared", "shared::cta", ""};

static void wmma_all_ways(struct shape s, const char *tail)
{
    char shape[32];
    snprintf(shape, sizeof shape, "m%un%uk%u", s.m, s.n, s.k);
    for (unsigned i = 0; i < 16; i++) {
        struct wmma x = {.s = s,
                         .shape = shape,
                         .tail = tail,
                         .alayout = layouts[i & 1],
                         .blayout = layouts[i >> 1 & 1],
                         .clayout = layouts[i >> 2 & 1],
                         .dlayout = layouts[(i ^ i >> 1) & 1],
                         .space = spaces[i >> 2]};
        run_wmma(&x, i % 3 == 2, PTX_ISA_BASE + i % 3, i % 3);
    }
}

static void test_wmma(void **state)
{
    (void)state;
    static const unsigned shapes[][2] = {{16, 16}, {32, 8}, {8, 32}};
    static const char *const halves[] = {"f16", "f32"};
    for (unsigned i = 0; i < 3; i++) {
        unsigned m = shapes[i][0], n = shapes[i][1];
        for (unsigned t = 0; t < 4; t++) {
            char tail[8];
            snprintf(tail, sizeof tail, ".%s", halves[t & 1]);
            wmma_all_ways((struct shape){m, n, 16, "f16", "f16", halves[t & 1], halves[t >> 1]},
                          tail);
        }
        wmma_all_ways((struct shape){m, n, 16, "bf16", "bf16", "f32", "f32"}, ".bf16.bf16.f32");
        wmma_all_ways((struct shape){m, n, 16, "s8", "s8", "s32", "s32"}, ".s8.s8.s32");
        wmma_all_ways((struct shape){m, n, 16, "u8", "u8", "s32", "s32"}, ".u8.u8.s32.satfinite");
    }
    wmma_all_ways((struct shape){16, 16, 8, "tf32", "tf32", "f32", "f32"}, ".tf32.tf32.f32");
}

/* wmma in double precision has 64-bit registers, so it goes by mma's text: its fragments are told
 * by products alone. */
static void test_wmma_f64(void **state)
{
    (void)state;
    static const char *const text =
        ".reg .b64 %in, %out; .reg .b64 %a<2>, %b<2>, %c<2>, %d<2>; .reg .b32 %s;\n"
        "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %s, 4;\n"
        "wmma.load.a.sync.aligned.row.m8n8k4.global.f64 {%a0}, [%in], %s;\n"
        "wmma.load.b.sync.aligned.col.m8n8k4.f64 {%b0}, [%in+256], %s;\n"
        "wmma.load.c.sync.aligned.row.m8n8k4.global.f64 {%c0,%c1}, [%in+512];\n"
        "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn {%d0,%d1}, {%a0}, {%b0}, "
        "{%c0,%c1};\n"
        "wmma.store.d.sync.aligned.row.m8n8k4.global.f64 [%out], {%d0,%d1}, 8;\nret;\n}\n";
    cover("wmma.load.a.sync.aligned.row.m8n8k4.global.f64");
    cover("wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn");
    cover("wmma.store.d.sync.aligned.row.m8n8k4.global.f64");
    struct shape s = {8, 8, 4, "f64", "f64", "f64", "f64"};
    double in[128], out[64], b[32];
    for (unsigned i = 0; i < 128; i++)
        in[i] = value_for("f64", true, false);
    for (unsigned q = 0; q < 4; q++)
        for (unsigned j = 0; j < 8; j++)
            b[q * 8 + j] = in[32 + j * 4 + q];
    struct buf whole = {0};
    buf_printf(&whole, "%s%s", PTX_HEAD, text);
    struct ptx_job job = {.text = buf_str(&whole),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .checks = true};
    if (!ptx_job_run(&job) || job.hazard_count)
        fail_msg("%s %s", job.message, job.hazard_count ? job.hazard_text : "");
    check_product(&s, in, b, in + 64, out, true, "wmma f64");
    buf_free(&whole);
}

static void test_every_form_ran(void **state)
{
    (void)state;
    check_every_form("wmma.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wmma),
        cmocka_unit_test(test_wmma_f64),
        cmocka_unit_test(test_every_form_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

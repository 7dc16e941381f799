/* mma.sync, form by form: element by element, where the ISA says that elements stand. */
#include "ptx_matrix.h"

/* ---- mma.sync */

/* Row and column of element i of a fragment, as the ISA prints them. */
static void place_a(unsigned lane, unsigned i, unsigned bytes, unsigned *row, unsigned *column)
{
    unsigned g = lane >> 2, t = lane % 4;
    switch (bytes) {
    case 1:
        *row = i < 4 || (i >= 8 && i < 12) ? g : g + 8;
        *column = t * 4 + (i & 3) + (i >= 8 ? 16 : 0);
        break;
    case 2:
        *row = i < 2 || (i >= 4 && i < 6) ? g : g + 8;
        *column = t * 2 + (i & 1) + (i >= 4 ? 8 : 0);
        break;
    case 4:
        *row = i % 2 == 0 ? g : g + 8;
        *column = i < 2 ? t : t + 4;
        break;
    default:
        *row = g;
        *column = t;
        break;
    }
}

static void place_b(unsigned lane, unsigned i, unsigned bytes, unsigned *row, unsigned *column)
{
    unsigned g = lane >> 2, t = lane % 4;
    *column = g;
    *row = bytes == 1   ? t * 4 + (i & 3) + (i >= 4 ? 16 : 0)
           : bytes == 2 ? t * 2 + (i & 1) + (i >= 2 ? 8 : 0)
           : i == 0     ? t
                        : t + 4;
}

static void place_c(unsigned lane, unsigned i, unsigned *row, unsigned *column)
{
    *row = i < 2 ? lane >> 2 : (lane >> 2) + 8;
    *column = lane % 4 * 2 + (i & 1);
}

static unsigned held(const char *type, unsigned elements)
{
    (void)type;
    return elements / 32;
}

static void mma_text(struct buf *text, const char *opcode, const struct shape *s)
{
    bool wide = !strcmp(s->a, "f64");
    unsigned size = wide ? 8 : 4;
    unsigned n[4] = {regs_of(s->a, s->m * s->k, false), regs_of(s->b, s->k * s->n, false),
                     regs_of(s->c, s->m * s->n, false), regs_of(s->d, s->m * s->n, false)};
    static const char names[] = "abcd";
    buf_add_str(text, PTX_HEAD ".reg .b64 %in, %out, %l; .reg .b32 %t;\n");
    buf_printf(text, ".reg .b%u %%a<8>, %%b<8>, %%c<8>, %%d<8>;\n", 8 * size);
    buf_add_str(text, "ld.param.u64 %in, [in]; ld.param.u64 %out, [out];\n"
                      "mov.u32 %t, %tid.x;\n");
    buf_printf(text,
               "mul.wide.u32 %%l, %%t, %u; add.u64 %%in, %%in, %%l; "
               "add.u64 %%out, %%out, %%l;\n",
               size);
    for (unsigned f = 0, at = 0; f < 3; f++)
        for (unsigned i = 0; i < n[f]; i++, at++)
            buf_printf(text, "ld.global.b%u %%%c%u, [%%in+%u];\n", 8 * size, names[f], i,
                       at * 32 * size);
    add_line(text, opcode);
    add_regs(text, "d", n[3]);
    for (unsigned f = 0; f < 3; f++) {
        char name[2] = {names[f], '\0'};
        buf_add_str(text, ", ");
        add_regs(text, name, n[f]);
    }
    buf_add_str(text, ";\n");
    for (unsigned i = 0; i < n[3]; i++)
        buf_printf(text, "st.global.b%u [%%out+%u], %%d%u;\n", 8 * size, i * 32 * size, i);
    buf_add_str(text, "ret;\n}\n");
}

/* Byte offset of element i of a lane in an array of registers, 32 lanes each. */
static unsigned register_at(unsigned lane, unsigned i, const char *type)
{
    unsigned size = size_of(type), reg = size == 8 ? 8 : 4, each = reg / size;
    return (i / each * 32 + lane) * reg + i % each * size;
}

static void run_mma(const char *opcode, const struct shape *s, bool fractions, enum ptx_isa isa)
{
    static uint8_t in[8192], out[4096];
    static double a[1024], b[1024], c[1024], d[1024];
    unsigned reg = !strcmp(s->a, "f64") ? 256 : 128, row, column;
    uint8_t *from_b = in + regs_of(s->a, s->m * s->k, false) * reg;
    uint8_t *from_c = from_b + regs_of(s->b, s->k * s->n, false) * reg;
    struct buf text = {0};
    mma_text(&text, opcode, s);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < held(s->a, s->m * s->k); i++) {
            uint8_t *at = in + register_at(lane, i, s->a);
            put_element(at, 0, s->a, value_for(s->a, fractions, false));
            place_a(lane, i, size_of(s->a), &row, &column);
            a[row * s->k + column] = get_element(at, 0, s->a);
        }
        for (unsigned i = 0; i < held(s->b, s->k * s->n); i++) {
            uint8_t *at = from_b + register_at(lane, i, s->b);
            put_element(at, 0, s->b, value_for(s->b, fractions, false));
            place_b(lane, i, size_of(s->b), &row, &column);
            b[row * s->n + column] = get_element(at, 0, s->b);
        }
        for (unsigned i = 0; i < held(s->c, s->m * s->n); i++) {
            uint8_t *at = from_c + register_at(lane, i, s->c);
            put_element(at, 0, s->c, value_for(s->c, fractions, true));
            place_c(lane, i, &row, &column);
            c[row * s->n + column] = get_element(at, 0, s->c);
        }
    }
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job))
        fail_msg("%s\n%s", job.message, job.text);
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < held(s->d, s->m * s->n); i++) {
            place_c(lane, i, &row, &column);
            d[row * s->n + column] = get_element(out + register_at(lane, i, s->d), 0, s->d);
        }
    }
    check_product(s, a, b, c, d, fractions, opcode);
    buf_free(&text);
}

static void test_mma(void **state)
{
    (void)state;
    static const struct shape rows[] = {
        {16, 8, 8, "f16", "f16", "f16", "f16"},    {16, 8, 8, "f16", "f16", "f32", "f32"},
        {16, 8, 16, "f16", "f16", "f16", "f16"},   {16, 8, 16, "f16", "f16", "f32", "f32"},
        {16, 8, 8, "bf16", "bf16", "f32", "f32"},  {16, 8, 16, "bf16", "bf16", "f32", "f32"},
        {16, 8, 4, "tf32", "tf32", "f32", "f32"},  {16, 8, 8, "tf32", "tf32", "f32", "f32"},
        {8, 8, 16, "s8", "s8", "s32", "s32"},      {8, 8, 16, "u8", "s8", "s32", "s32"},
        {16, 8, 16, "s8", "u8", "s32", "s32"},     {16, 8, 16, "u8", "u8", "s32", "s32"},
        {16, 8, 32, "s8", "s8", "s32", "s32"},     {16, 8, 32, "u8", "s8", "s32", "s32"},
        {16, 8, 32, "u8", "u8", "s32", "s32"},     {8, 8, 4, "f64", "f64", "f64", "f64"},
        {16, 8, 32, "e4m3", "e4m3", "f32", "f32"}, {16, 8, 32, "e5m2", "e4m3", "f32", "f32"},
        {16, 8, 32, "e4m3", "e5m2", "f16", "f16"}, {16, 8, 16, "e5m2", "e5m2", "f32", "f32"},
        {16, 8, 16, "e4m3", "e4m3", "f16", "f16"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct shape *s = &rows[i];
        char opcode[128];
        snprintf(opcode, sizeof opcode, "mma.sync.aligned.m%un%uk%u.row.col%s.%s.%s.%s.%s", s->m,
                 s->n, s->k, i % 2 && !strcmp(s->d, "s32") ? ".satfinite" : "", s->d, s->a, s->b,
                 s->c);
        for (unsigned j = 0; j < 6; j++)
            run_mma(opcode, s, j & 1, PTX_ISA_BASE + j / 2);
    }
}

/* ---- mma.sync of less than a byte: nibbles and single bits */

struct packed {
    unsigned m, k, bits;
    const char *a, *b, *operation; /* types; of bits, how they are combined */
};

static unsigned packed_at(const uint32_t *reg, unsigned lane, unsigned i, unsigned bits)
{
    unsigned each = 32 / bits;
    return reg[i / each * 32 + lane] >> i % each * bits & ((1u << bits) - 1);
}

/* Where the ISA says that element i of a lane stands. `each`: elements of a register. */
static unsigned packed_row_a(unsigned lane, unsigned i, unsigned each)
{
    bool upper = i < each || (i >= 2 * each && i < 3 * each);
    return lane / 4 + (upper ? 0 : 8);
}

static unsigned packed_column_a(unsigned lane, unsigned i, unsigned each)
{
    return lane % 4 * each + (i & (each - 1)) + (i >= 2 * each ? 4 * each : 0);
}

static unsigned packed_row_b(unsigned lane, unsigned i, unsigned each)
{
    return lane % 4 * each + (i & (each - 1)) + (i >= each ? 4 * each : 0);
}

static int packed_value(unsigned x, const char *type)
{
    return type[0] == 's' && x > 7 ? (int)x - 16 : (int)x;
}

static void check_packed(const struct packed *s, const uint32_t *in, const uint32_t *out,
                         const char *name)
{
    static int a[16][256], b[256][8];
    const unsigned each = 32 / s->bits, na = s->m * s->k / each / 32, nb = 8 * s->k / each / 32;
    for (unsigned lane = 0; lane < 32; lane++) {
        for (unsigned i = 0; i < na * each; i++)
            a[packed_row_a(lane, i, each)][packed_column_a(lane, i, each)] =
                packed_value(packed_at(in, lane, i, s->bits), s->a);
        for (unsigned i = 0; i < nb * each; i++)
            b[packed_row_b(lane, i, each)][lane / 4] =
                packed_value(packed_at(in + na * 32, lane, i, s->bits), s->b);
    }
    for (unsigned lane = 0; lane < 32; lane++)
        for (unsigned i = 0; i < s->m / 4; i++) {
            unsigned row, column;
            place_c(lane, i, &row, &column);
            int64_t sum = (int32_t)in[(na + nb + i) * 32 + lane];
            for (unsigned q = 0; q < s->k; q++)
                sum += !s->operation            ? a[row][q] * b[q][column]
                       : s->operation[0] == 'a' ? (a[row][q] & b[q][column])
                                                : (a[row][q] ^ b[q][column]);
            if (out[i * 32 + lane] != (uint32_t)sum)
                fail_msg("%s: element %u,%u is %d instead of %d", name, row, column,
                         (int)out[i * 32 + lane], (int)sum);
        }
}

static void run_packed(const struct packed *s, enum ptx_isa isa)
{
    static uint32_t in[2048], out[1024];
    const unsigned regs[4] = {s->m * s->k * s->bits / 1024, 8 * s->k * s->bits / 1024, s->m / 4,
                              s->m / 4};
    static const char names[] = "abcd";
    struct buf text = {0};
    char opcode[128];
    snprintf(opcode, sizeof opcode, "mma.sync.aligned.m%un8k%u.row.col.s32.%s.%s.s32%s%s", s->m,
             s->k, s->a, s->b, s->operation ? "." : "", s->operation ? s->operation : "");
    buf_add_str(&text,
                PTX_HEAD ".reg .b64 %in, %out, %l; .reg .b32 %t, %a<8>, %b<8>, %c<8>, %d<8>;\n"
                         "ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mov.u32 %t, %tid.x;\n"
                         "mul.wide.u32 %l, %t, 4; add.u64 %in, %in, %l; add.u64 %out, %out, %l;\n");
    for (unsigned f = 0, at = 0; f < 3; f++)
        for (unsigned i = 0; i < regs[f]; i++, at++)
            buf_printf(&text, "ld.global.b32 %%%c%u, [%%in+%u];\n", names[f], i, at * 128);
    add_line(&text, opcode);
    add_regs(&text, "d", regs[3]);
    for (unsigned f = 0; f < 3; f++) {
        char name[2] = {names[f], '\0'};
        buf_add_str(&text, ", ");
        add_regs(&text, name, regs[f]);
    }
    buf_add_str(&text, ";\n");
    for (unsigned i = 0; i < regs[3]; i++)
        buf_printf(&text, "st.global.b32 [%%out+%u], %%d%u;\n", i * 128, i);
    buf_add_str(&text, "ret;\n}\n");
    for (unsigned i = 0; i < sizeof in / sizeof *in; i++)
        in[i] = noise() << 16 ^ noise();
    for (unsigned i = regs[0] + regs[1]; i < regs[0] + regs[1] + regs[2]; i++)
        for (unsigned lane = 0; lane < 32; lane++)
            in[i * 32 + lane] = noise() % 2000001 - 1000000;
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32,
                          .isa = isa,
                          .checks = true};
    if (!ptx_job_run(&job))
        fail_msg("%s\n%s", job.message, job.text);
    check_packed(s, in, out, opcode);
    buf_free(&text);
}

static void test_packed_mma(void **state)
{
    (void)state;
    static const struct packed rows[] = {
        {8, 32, 4, "s4", "s4", NULL},         {8, 32, 4, "u4", "s4", NULL},
        {16, 32, 4, "s4", "u4", NULL},        {16, 32, 4, "u4", "u4", NULL},
        {16, 64, 4, "s4", "s4", NULL},        {16, 64, 4, "u4", "s4", NULL},
        {8, 128, 1, "b1", "b1", "xor.popc"},  {8, 128, 1, "b1", "b1", "and.popc"},
        {16, 128, 1, "b1", "b1", "xor.popc"}, {16, 128, 1, "b1", "b1", "and.popc"},
        {16, 256, 1, "b1", "b1", "xor.popc"}, {16, 256, 1, "b1", "b1", "and.popc"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned j = 0; j < 6; j++)
            run_packed(&rows[i], PTX_ISA_BASE + j / 2);
}

/* Without a conversion the low bits of tf32 operands are cut; cvt.rna rounds them. */
static void test_tf32_cuts(void **state)
{
    (void)state;
    uint32_t in[32 * 10] = {0}, out[128];
    struct shape s = {16, 8, 4, "tf32", "tf32", "f32", "f32"};
    struct buf text = {0};
    mma_text(&text, "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32", &s);
    in[0] = f32_bits(1 + 0x1p-11f); /* a(0,0) */
    in[64] = f32_bits(1);           /* b(0,0) */
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = out,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof out,
                          .threads = 32};
    assert_true(ptx_job_run(&job));
    assert_int_equal(out[0], f32_bits(1));
    in[0] = f32_to_tf32(in[0], true);
    assert_true(ptx_job_run(&job));
    assert_int_equal(out[0], f32_bits(1 + 0x1p-10f));
    buf_free(&text);
}

static void test_every_form_ran(void **state)
{
    (void)state;
    check_every_form("mma.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_mma),
        cmocka_unit_test(test_packed_mma),
        cmocka_unit_test(test_tf32_cuts),
        cmocka_unit_test(test_every_form_ran),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

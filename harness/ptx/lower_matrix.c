/* Matrix instructions: shapes and types come from the opcode's words, fragments are registers in
 * braces. */
#include "harness/ptx/lower.h"

#include "harness/ptx/handlers.h"
#include "harness/ptx/matrix.h"

#include <stdio.h>
#include <string.h>

static bool word_is(const struct form_word *word, const char *text)
{
    return strlen(text) == word->len && !memcmp(word->text, text, word->len);
}

static bool type_of(const struct form_word *word, uint8_t *out)
{
    static const struct {
        const char *word;
        enum matrix_type type;
    } types[] = {
        {"f16", MATRIX_F16},   {"bf16", MATRIX_BF16}, {"tf32", MATRIX_TF32}, {"f32", MATRIX_F32},
        {"f64", MATRIX_F64},   {"s8", MATRIX_S8},     {"u8", MATRIX_U8},     {"s32", MATRIX_S32},
        {"e4m3", MATRIX_E4M3}, {"e5m2", MATRIX_E5M2}, {"s4", MATRIX_S4},     {"u4", MATRIX_U4},
        {"b1", MATRIX_B1},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (word_is(word, types[i].word)) {
            *out = (uint8_t)types[i].type;
            return true;
        }
    }
    return false;
}

/* The types of the opcode in order, and its shape. */
static unsigned read_words(const struct form_match *m, struct matrix *x, uint8_t types[4])
{
    unsigned count = 0;
    for (unsigned i = 1; i < m->word_count; i++) {
        unsigned rows, columns, depth;
        char text[16];
        if (count < 4 && type_of(&m->words[i], &types[count]))
            count++;
        if (m->words[i].len >= sizeof text)
            continue;
        memcpy(text, m->words[i].text, m->words[i].len);
        text[m->words[i].len] = '\0';
        if (sscanf(text, "m%un%uk%u", &rows, &columns, &depth) == 3) {
            x->m = (uint8_t)rows;
            x->n = (uint8_t)columns;
            x->k = (uint16_t)depth;
        }
    }
    x->saturates = form_has(m, "satfinite");
    x->by_and = form_has(m, "and");
    return count;
}

static void shape_fragment(struct fragment *f, uint8_t type, uint16_t rows, uint16_t columns)
{
    uint32_t bits = matrix_type_bits(type), lane = type == MATRIX_F64 ? 64 : 32;
    f->type = type;
    f->rows = rows;
    f->columns = columns;
    f->regs = f->used = (uint8_t)(rows * columns * bits / (32 * lane));
}

/* The registers of a fragment. wmma's f16 operands have eight registers in every shape. */
static bool take_fragment(struct lower *l, const struct operand *o, struct fragment *f,
                          bool is_result)
{
    uint32_t bytes = f->type == MATRIX_F64 ? 8 : 4;
    const struct operand *items = o->items;
    uint32_t count = o->count;
    if (o->kind == OPERAND_REG && f->regs == 1) {
        items = o;
        count = 1;
    } else if (o->kind != OPERAND_VECTOR) {
        return lower_fail(l, "a fragment is %u registers in braces", f->regs);
    }
    if (count != f->regs)
        return lower_fail(l, "a fragment of %u registers instead of %u", count, f->regs);
    for (uint32_t i = 0; i < count; i++) {
        bool ok = is_result ? lower_destination(l, &items[i], bytes, &f->reg[i])
                            : lower_source(l, &items[i], bytes, f->type == MATRIX_F32, &f->reg[i]);
        if (!ok)
            return false;
    }
    return true;
}

static void shape_wmma(struct matrix *x, struct fragment *f, unsigned operand, uint8_t type)
{
    uint16_t rows = operand == 1 ? x->k : x->m, columns = operand == 0 ? x->k : x->n;
    shape_fragment(f, type, rows, columns);
    if (type == MATRIX_F16 && operand < 2)
        f->regs = 8;
}

/* wmma.load.{a,b,c} {registers}, [address]{, stride}; wmma.store.d [address], {registers}{, stride}
 */
static bool lower_wmma_memory(struct lower *l, const struct form_match *m, const struct inst *inst,
                              struct op *op, struct matrix *x, uint8_t type)
{
    uint32_t bytes;
    bool stores = op->body == H_matrix_store;
    unsigned operand = stores ? 2 : m->mode;
    struct fragment *f = stores ? &x->c : &x->d;
    if (inst->operand_count != 2 && inst->operand_count != 3)
        return lower_fail(l, "it takes an address, registers and a stride");
    shape_wmma(x, f, operand, type);
    x->by_columns = form_has(m, "col");
    if (!take_fragment(l, &inst->operands[stores], f, !stores) ||
        !lower_memory(l, &inst->operands[!stores], &op->a, &bytes, &op->imm))
        return false;
    op->mode2 = (uint8_t)bytes;
    op->width = (uint8_t)matrix_type_bytes(type);
    if (inst->operand_count == 3)
        return lower_source(l, &inst->operands[2], 4, false, &x->stride);
    x->stride = lower_constant(l, x->by_columns ? f->rows : f->columns, 4);
    return true;
}

/* d, a, b, c. One type in the opcode stands for wmma's f16 operands: d and c are named. */
static bool lower_multiply(struct lower *l, const struct inst *inst, struct matrix *x,
                           const uint8_t types[4], unsigned count, bool is_wmma)
{
    bool short_form = count == 2;
    uint8_t a = short_form ? MATRIX_F16 : types[1], b = short_form ? MATRIX_F16 : types[2];
    uint8_t c = short_form ? types[1] : types[3];
    if (inst->operand_count != 4)
        return lower_fail(l, "it takes four fragments");
    shape_fragment(&x->a, a, x->m, x->k);
    shape_fragment(&x->b, b, x->k, x->n);
    shape_fragment(&x->c, c, x->m, x->n);
    shape_fragment(&x->d, types[0], x->m, x->n);
    if (is_wmma && a == MATRIX_F16)
        x->a.regs = x->b.regs = 8;
    return take_fragment(l, &inst->operands[0], &x->d, true) &&
           take_fragment(l, &inst->operands[1], &x->a, false) &&
           take_fragment(l, &inst->operands[2], &x->b, false) &&
           take_fragment(l, &inst->operands[3], &x->c, false);
}

/* ldmatrix {registers}, [row address]; stmatrix [row address], {registers} */
static bool lower_rows(struct lower *l, const struct form_match *m, const struct inst *inst,
                       struct op *op, struct matrix *x)
{
    uint32_t bytes;
    bool stores = op->body == H_stmatrix;
    struct fragment *f = stores ? &x->c : &x->d;
    if (inst->operand_count != 2)
        return lower_fail(l, "it takes registers and an address");
    f->type = MATRIX_F16;
    f->rows = f->columns = 8;
    f->regs = f->used = (uint8_t)(1u << m->mode);
    x->transposed = form_has(m, "trans");
    if (!take_fragment(l, &inst->operands[stores], f, !stores) ||
        !lower_memory(l, &inst->operands[!stores], &op->a, &bytes, &op->imm))
        return false;
    op->mode2 = (uint8_t)bytes;
    op->width = 2;
    return true;
}

bool lower_matrix(struct lower *l, const struct form_match *m, const struct inst *inst,
                  struct op *op)
{
    struct matrix *x = arena_alloc(l->module->arena, sizeof *x);
    uint8_t types[4] = {0};
    unsigned count;
    memset(x, 0, sizeof *x);
    op->extra = x;
    count = read_words(m, x, types);
    op->mode = 0;
    switch (op->body) {
    case H_matrix_load:
    case H_matrix_store:
        return lower_wmma_memory(l, m, inst, op, x, types[0]);
    case H_wmma_mma:
        return lower_multiply(l, inst, x, types, count, true);
    case H_mma_sync:
        return lower_multiply(l, inst, x, types, count, false);
    default:
        return lower_rows(l, m, inst, op, x);
    }
}

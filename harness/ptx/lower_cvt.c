/* cvt between integers and floating point. */
#include "harness/ptx/lower.h"

#include "harness/ptx/convert.h"
#include "harness/ptx/float.h"
#include "harness/ptx/handlers.h"

#include <string.h>

uint8_t lower_cvt_type(const struct form_word *word)
{
    static const struct {
        const char *word;
        uint8_t type;
    } types[] = {
        {"u8", CVT_U8},     {"s8", CVT_S8},       {"u16", CVT_U16}, {"s16", CVT_S16},
        {"u32", CVT_U32},   {"s32", CVT_S32},     {"u64", CVT_U64}, {"s64", CVT_S64},
        {"f16", CVT_F16},   {"bf16", CVT_BF16},   {"f32", CVT_F32}, {"f64", CVT_F64},
        {"f16x2", CVT_F16}, {"bf16x2", CVT_BF16},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].word) == word->len && !memcmp(types[i].word, word->text, word->len))
            return types[i].type;
    }
    return CVT_U32;
}

int64_t lower_rounding(const struct form_match *m)
{
    if (form_has(m, "rz") || form_has(m, "rzi"))
        return ROUND_RZ;
    if (form_has(m, "rm") || form_has(m, "rmi"))
        return ROUND_RM;
    if (form_has(m, "rp") || form_has(m, "rpi"))
        return ROUND_RP;
    return form_has(m, "rn") || form_has(m, "rni") ? ROUND_RN : ROUND_DEFAULT;
}

/* Destination and source may be wider than their types (for integers). */
static bool lower_cvt(struct lower *l, const struct form_match *m, const struct inst *inst,
                      struct op *op)
{
    const struct form_word *to = &m->words[m->word_count - 2], *from = to + 1;
    uint32_t to_bytes = lower_type_bytes(to), from_bytes = lower_type_bytes(from), bytes;
    op->mode = lower_cvt_type(from);
    op->mode2 = lower_cvt_type(to);
    op->imm = lower_rounding(m);
    if (inst->operand_count != 2)
        return lower_fail(l, "it takes two operands");
    if (!lower_any_register(l, &inst->operands[0], &op->d[0], &bytes))
        return false;
    bool integer_to = op->mode2 < CVT_F16, integer_from = op->mode < CVT_F16;
    if (bytes < to_bytes || (!integer_to && bytes != to_bytes))
        return lower_fail(l, "the result register has the wrong size");
    op->width = (uint8_t)bytes;
    const struct operand *source = &inst->operands[1];
    bytes = from_bytes < 2 ? 4 : from_bytes;
    if (source->kind == OPERAND_REG) {
        bytes = l->function->reg_bytes[source->reg];
        if (bytes < from_bytes || bytes > 8 || (!integer_from && bytes != from_bytes))
            return lower_fail(l, "the source register has the wrong size");
    }
    op->vec = (uint8_t)bytes;
    return lower_source(l, source, bytes, !integer_from && from_bytes >= 4, &op->a);
}

/* Shortcuts for the frequent ones, where sizes are exact. */
static void shorten_cvt(const struct form_match *m, struct op *op)
{
    if (op->flags & OP_SAT || m->form->rule != RULE_CVT_INT_INT)
        return;
    unsigned from = op->mode, to = op->mode2, in = op->vec, out = op->width;
    bool trunc32 = (to == CVT_U32 || to == CVT_S32) && (from == CVT_U64 || from == CVT_S64);
    if (out == 8 && in == 4 && from == CVT_S32 && (to == CVT_S64 || to == CVT_U64))
        op->body = H_cvt_s64_s32;
    else if (out == 8 && in == 4 && from == CVT_U32 && (to == CVT_S64 || to == CVT_U64))
        op->body = H_cvt_u64_u32;
    else if (trunc32 && out == 4)
        op->body = H_cvt_32_64;
    else if (out == 2 && in == 4 && to == CVT_U16)
        op->body = H_cvt_u16_32;
    else if (out == 4 && in == 2 && from == CVT_U16 && (to == CVT_U32 || to == CVT_S32))
        op->body = H_mov_32;
    else if (out == 4 && in == 2 && from == CVT_S16 && (to == CVT_U32 || to == CVT_S32))
        op->body = H_cvt_s32_s16;
}

static void shorten_cvt_float(const struct form_match *m, struct op *op)
{
    if (op->flags & (OP_SAT | OP_FTZ | OP_RELU))
        return;
    unsigned from = op->mode, to = op->mode2;
    if (m->form->rule == RULE_CVT_FLOAT_INT && from == CVT_S32 && op->vec == 4 && to == CVT_F32 &&
        op->imm == ROUND_RN)
        op->body = H_cvt_f32_s32;
    if (m->form->rule == RULE_CVT_INT_FLOAT && from == CVT_F32 && to == CVT_S32 && op->width == 4 &&
        op->imm == ROUND_RZ)
        op->body = H_cvt_rzi_s32_f32;
    if (m->form->rule == RULE_CVT_FLOAT_FLOAT && from == CVT_F32 && to == CVT_F64)
        op->body = H_cvt_f64_f32;
}

bool lower_cvt_form(struct lower *l, const struct form_match *m, const struct inst *inst,
                    struct op *op)
{
    if (!lower_cvt(l, m, inst, op))
        return false;
    shorten_cvt(m, op);
    shorten_cvt_float(m, op);
    return true;
}

/* What the rules about asynchronous copies and mbarriers mean. */
#include "harness/ptx/lower.h"

#include "harness/ptx/sync.h"

static bool fits32(struct lower *l, int64_t value)
{
    return (value >= INT32_MIN && value <= INT32_MAX) || lower_fail(l, "a very large offset");
}

bool lower_cp_async(struct lower *l, const struct form_match *m, const struct inst *inst,
                    struct op *op)
{
    uint32_t to_bytes, from_bytes;
    int64_t from_offset;
    if (inst->operand_count < 3 || inst->operand_count > 5)
        return lower_fail(l, "it takes a destination, a source and a size");
    const struct operand *size = &inst->operands[2];
    if (!lower_memory(l, &inst->operands[0], &op->a, &to_bytes, &op->imm) ||
        !lower_memory(l, &inst->operands[1], &op->b, &from_bytes, &from_offset) ||
        !fits32(l, from_offset))
        return false;
    if (from_bytes != 8)
        return lower_fail(l, "the source address needs 64 bits");
    if (size->kind != OPERAND_INT || (size->value != 4 && size->value != 8 && size->value != 16))
        return lower_fail(l, "the size is 4, 8 or 16");
    if (m->form->value == 16 && size->value != 16)
        return lower_fail(l, "cp.async.cg copies 16 bytes only");
    op->mode2 = (uint8_t)to_bytes;
    op->e = (uint32_t)(int32_t)from_offset;
    op->width = (uint8_t)size->value;
    op->mode = 0;
    unsigned extra = inst->operand_count - 3 - form_has(m, "L2::cache_hint");
    if (extra > 1)
        return lower_fail(l, "more operands than it takes");
    if (!extra)
        return true;
    const struct operand *o = &inst->operands[3];
    if (o->kind == OPERAND_REG && !l->function->reg_bytes[o->reg]) {
        op->mode = 1;
        if (o->negated)
            op->flags |= OP_NEG_C;
        return lower_predicate(l, o, &op->c);
    }
    return lower_source(l, o, 4, false, &op->c);
}

static uint32_t *new_list(struct lower *l, struct op *op, uint32_t count)
{
    uint32_t *list = arena_array(l->module->arena, count, sizeof *list);
    op->list = list;
    return list;
}

bool lower_bulk_load(struct lower *l, const struct inst *inst, struct op *op)
{
    uint32_t to_bytes, from_bytes, bar_bytes;
    int64_t from, bar;
    if (inst->operand_count != 4 && inst->operand_count != 5)
        return lower_fail(l, "it takes a destination, a source, a size and an mbarrier");
    if (!lower_memory(l, &inst->operands[0], &op->a, &to_bytes, &op->imm) ||
        !lower_memory(l, &inst->operands[1], &op->b, &from_bytes, &from) ||
        !lower_source(l, &inst->operands[2], 4, false, &op->c) ||
        !lower_memory(l, &inst->operands[3], &op->e, &bar_bytes, &bar) || !fits32(l, from) ||
        !fits32(l, bar))
        return false;
    if (from_bytes != 8)
        return lower_fail(l, "the source address needs 64 bits");
    uint32_t *list = new_list(l, op, 2);
    list[0] = (uint32_t)(int32_t)from;
    list[1] = (uint32_t)(int32_t)bar;
    op->mode2 = (uint8_t)to_bytes;
    op->mode = (uint8_t)bar_bytes;
    return true;
}

bool lower_bulk_store(struct lower *l, const struct inst *inst, struct op *op)
{
    uint32_t to_bytes, from_bytes;
    int64_t from;
    if (inst->operand_count != 3 && inst->operand_count != 4)
        return lower_fail(l, "it takes a destination, a source and a size");
    if (!lower_memory(l, &inst->operands[0], &op->a, &to_bytes, &op->imm) ||
        !lower_memory(l, &inst->operands[1], &op->b, &from_bytes, &from) ||
        !lower_source(l, &inst->operands[2], 4, false, &op->c) || !fits32(l, from))
        return false;
    if (to_bytes != 8)
        return lower_fail(l, "the destination address needs 64 bits");
    new_list(l, op, 1)[0] = (uint32_t)(int32_t)from;
    op->mode2 = (uint8_t)from_bytes;
    return true;
}

/* mbarrier.arrive{...} state, [addr]{, count}; the state may be missing or _. */
bool lower_mbarrier_arrive(struct lower *l, const struct form_match *m, const struct inst *inst,
                           struct op *op)
{
    bool is_tx = m->form->rule == RULE_MBARRIER_TX;
    bool has_state = inst->operand_count && inst->operands[0].kind != OPERAND_MEMORY;
    uint32_t bytes, at = 0, value = 0;
    if (has_state && inst->operands[at].kind != OPERAND_SINK &&
        !lower_destination(l, &inst->operands[at], 8, &op->d[0]))
        return false;
    at += has_state;
    if (inst->operand_count < at + 1 || inst->operand_count > at + 2 ||
        (is_tx && inst->operand_count != at + 2))
        return lower_fail(l, "it takes an address and a count");
    if (!lower_memory(l, &inst->operands[at++], &op->a, &bytes, &op->imm))
        return false;
    if (at < inst->operand_count && !lower_source(l, &inst->operands[at], 4, false, &value))
        return false;
    if (is_tx)
        op->c = value;
    else
        op->b = value;
    op->mode2 = (uint8_t)bytes;
    if (form_has(m, "relaxed"))
        op->mode |= MBARRIER_ARRIVE_RELAXED;
    return true;
}

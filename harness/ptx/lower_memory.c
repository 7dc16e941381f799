/* What the rules about memory mean: loads, stores, parameters and atomics. */
#include "harness/ptx/lower.h"

#include "harness/ptx/atomic.h"
#include "harness/ptx/handlers.h"

#include <string.h>

/* One register, or {registers} when the form has a vector; all of one size. */
static bool data_registers(struct lower *l, const struct operand *o, struct op *op, bool is_store)
{
    uint32_t size = 0;
    const struct operand *items = op->vec > 1 ? o->items : o;
    if (op->vec > 1 && (o->kind != OPERAND_VECTOR || o->count != op->vec))
        return lower_fail(l, "%u registers in braces belong here", op->vec);
    if (op->vec == 1 && o->kind == OPERAND_VECTOR)
        return lower_fail(l, "a vector does not belong here");
    for (unsigned v = 0; v < op->vec; v++) {
        const struct operand *item = &items[v];
        uint32_t bytes = op->width < 2 ? 4 : op->width;
        if (item->kind == OPERAND_REG)
            bytes = l->function->reg_bytes[item->reg];
        if (size && bytes != size && item->kind == OPERAND_REG)
            return lower_fail(l, "registers of different sizes");
        if (item->kind == OPERAND_REG || !size)
            size = bytes;
    }
    if (size < op->width && !(size == 1))
        return lower_fail(l, "a register of %u bits for data of %u", size * 8, op->width * 8u);
    for (unsigned v = 0; v < op->vec; v++) {
        bool ok = is_store ? lower_source(l, &items[v], size, false, &op->d[v])
                           : lower_destination(l, &items[v], size, &op->d[v]);
        if (!ok)
            return false;
    }
    op->mode = (uint8_t)size;
    return true;
}

bool lower_load(struct lower *l, const struct inst *inst, struct op *op)
{
    uint32_t bytes;
    bool has_policy = inst->operand_count == 3;
    if (inst->operand_count != 2 && !has_policy)
        return lower_fail(l, "it takes a register and an address");
    if (!data_registers(l, &inst->operands[0], op, false) ||
        !lower_memory(l, &inst->operands[1], &op->a, &bytes, &op->imm))
        return false;
    op->mode2 = (uint8_t)bytes;
    bool words = op->width == 4 && op->mode == 4;
    switch (op->space) {
    case PTX_SPACE_GLOBAL:
        op->body = words && op->vec == 1 ? H_ld_global_32 : H_ld_global_any;
        break;
    case PTX_SPACE_SHARED:
        op->body = !words         ? H_ld_shared_any
                   : op->vec == 1 ? H_ld_shared_32
                   : op->vec == 2 ? H_ld_shared_v2_32
                                  : H_ld_shared_v4_32;
        break;
    case PTX_SPACE_LOCAL:
        op->body = H_ld_local;
        break;
    case PTX_SPACE_CONST:
        op->body = H_ld_const;
        break;
    default:
        op->body = H_ld_generic;
        if (inst->operands[1].count && inst->operands[1].items[0].kind != OPERAND_REG)
            return lower_fail(l, "a variable without its space");
        break;
    }
    if (op->sem != SEM_WEAK)
        op->body = H_ld_strong;
    return true;
}

bool lower_store(struct lower *l, const struct inst *inst, struct op *op)
{
    uint32_t bytes;
    if (inst->operand_count != 2 && inst->operand_count != 3)
        return lower_fail(l, "it takes an address and a register");
    if (!lower_memory(l, &inst->operands[0], &op->a, &bytes, &op->imm) ||
        !data_registers(l, &inst->operands[1], op, true))
        return false;
    op->mode2 = (uint8_t)bytes;
    bool words = op->width == 4 && op->mode == 4 && op->vec == 1;
    switch (op->space) {
    case PTX_SPACE_GLOBAL:
        op->body = words ? H_st_global_32 : H_st_global_any;
        break;
    case PTX_SPACE_SHARED:
        op->body = words ? H_st_shared_32 : H_st_shared_any;
        break;
    case PTX_SPACE_LOCAL:
        op->body = H_st_local;
        break;
    default:
        op->body = H_st_generic;
        if (inst->operands[0].count && inst->operands[0].items[0].kind != OPERAND_REG)
            return lower_fail(l, "a variable without its space");
        break;
    }
    return true;
}

/* [name + offset] in .param space: a fixed place. */
static const struct variable *param_place(struct lower *l, const struct operand *o, struct op *op)
{
    const struct variable *v = NULL;
    if (o->kind == OPERAND_MEMORY && o->count == 1 && o->items[0].kind == OPERAND_NAME)
        v = scope_find_variable(l->inst->scope, o->items[0].name);
    if (!v || v->space != PTX_SPACE_PARAM)
        return NULL;
    op->imm = (int64_t)(v->offset + o->value);
    if (o->value + (uint64_t)op->width * op->vec > v->bytes)
        return NULL;
    return v;
}

bool lower_param(struct lower *l, const struct inst *inst, struct op *op, bool is_store)
{
    if (inst->operand_count != 2)
        return lower_fail(l, "it takes two operands");
    const struct operand *place = &inst->operands[!is_store];
    if (!data_registers(l, &inst->operands[is_store], op, is_store))
        return false;
    const struct variable *v = param_place(l, place, op);
    if (!v) {
        uint32_t bytes;
        bool by_register = !is_store && l->function->is_entry && place->kind == OPERAND_MEMORY &&
                           place->count == 1 && place->items[0].kind == OPERAND_REG;
        if (!by_register)
            return lower_fail(l, "a parameter belongs here");
        if (!lower_memory(l, place, &op->a, &bytes, &op->imm))
            return false;
        op->mode2 = (uint8_t)bytes;
        op->body = H_ld_param_address;
        return true;
    }
    bool own = false; /* a kernel's own parameter? */
    for (const struct variable *p = l->function->params; p && l->function->is_entry; p = p->next)
        own |= p->name == v->name;
    if (own && is_store)
        return lower_fail(l, "a kernel parameter can't be written");
    op->body = is_store ? H_st_param_frame : own ? H_ld_param_entry : H_ld_param_frame;
    return true;
}

/* ---- atomics */

static uint8_t atom_type(const struct form_match *m)
{
    static const struct {
        const char *word;
        uint8_t type;
    } types[] = {
        {"b16", ATOM_B16},       {"b32", ATOM_B32}, {"u32", ATOM_U32},   {"s32", ATOM_S32},
        {"b64", ATOM_B64},       {"u64", ATOM_U64}, {"s64", ATOM_S64},   {"f32", ATOM_F32},
        {"f64", ATOM_F64},       {"f16", ATOM_F16}, {"bf16", ATOM_BF16}, {"f16x2", ATOM_F16X2},
        {"bf16x2", ATOM_BF16X2},
    };
    const struct form_word *last = &m->words[m->word_count - 1];
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (strlen(types[i].word) == last->len && !memcmp(types[i].word, last->text, last->len))
            return types[i].type;
    }
    return ATOM_B32;
}

bool lower_atom(struct lower *l, const struct form_match *m, const struct inst *inst, struct op *op,
                bool has_result)
{
    uint32_t bytes, at = 0;
    op->mode = (uint8_t)(m->form->value + m->mode);
    op->vec = atom_type(m);
    unsigned wanted = (has_result ? 1u : 0u) + (op->mode == ATOM_CAS ? 3 : 2);
    if (inst->operand_count != wanted &&
        !(form_has(m, "L2::cache_hint") && inst->operand_count == wanted + 1))
        return lower_fail(l, "it takes %u operands", wanted);
    bool is_float = op->vec == ATOM_F32 || op->vec == ATOM_F64;
    if (has_result) {
        const struct operand *o = &inst->operands[at++];
        if (o->kind != OPERAND_SINK && !lower_destination(l, o, op->width, &op->d[0]))
            return false;
    }
    if (!lower_memory(l, &inst->operands[at++], &op->a, &bytes, &op->imm) ||
        !lower_source(l, &inst->operands[at++], op->width, is_float, &op->b))
        return false;
    if (op->mode == ATOM_CAS && !lower_source(l, &inst->operands[at], op->width, false, &op->c))
        return false;
    op->mode2 = (uint8_t)bytes;
    if (op->sem == SEM_WEAK)
        op->sem = SEM_RELAXED;
    if (op->space == PTX_SPACE_SHARED)
        op->body = H_atom_shared;
    else if (op->space == PTX_SPACE_GLOBAL)
        op->body = H_atom_global;
    bool scoped = form_has(m, "cta") || form_has(m, "cluster") || form_has(m, "sys");
    if (!scoped)
        op->scope = SCOPE_GPU;
    return true;
}

/* What each rule of ops.def means: which operands an instruction has and what goes into its op. */
#include "harness/ptx/lower.h"

#include "harness/ptx/atomic.h"
#include "harness/ptx/control.h"
#include "harness/ptx/convert.h"
#include "harness/ptx/float.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/host_call.h"
#include "harness/ptx/sync.h"

#include <string.h>

/* ---- operands by signature ---------------------------------------------------------------------
 */

struct cursor {
    struct lower *l;
    const struct inst *inst;
    struct op *op;
    unsigned next_operand, next_d, next_s;
};

static bool put_source(struct cursor *c, uint32_t offset)
{
    uint32_t *const slots[] = {&c->op->a, &c->op->b, &c->op->c, &c->op->e};
    if (c->next_s == 4)
        return lower_fail(c->l, "too many operands");
    *slots[c->next_s++] = offset;
    return true;
}

/* =4, =p, =4|p, =p|p, =x */
static bool take_destination(struct cursor *c, const struct operand *o, const char *spec)
{
    uint32_t bytes = spec[1] == 'p' ? 0 : (uint32_t)(spec[1] - '0');
    const struct operand *first = o, *second = NULL;
    if (o->kind == OPERAND_PAIR) {
        if (spec[2] != '|')
            return lower_fail(c->l, "'|' does not belong here");
        first = &o->items[0];
        second = &o->items[1];
    }
    if (spec[1] == 'x') {
        uint32_t ignored;
        return lower_any_register(c->l, first, &c->op->d[c->next_d++], &ignored);
    }
    if (!lower_destination(c->l, first, bytes, &c->op->d[c->next_d++]))
        return false;
    if (second)
        return lower_destination(c->l, second, 0, &c->op->d[c->next_d++]);
    return true;
}

static bool take_predicate(struct cursor *c, const struct operand *o, bool may_negate)
{
    uint32_t offset;
    if (o->negated && !may_negate)
        return lower_fail(c->l, "'!' does not belong here");
    if (o->negated)
        c->op->flags |= OP_NEG_C;
    return lower_predicate(c->l, o, &offset) && put_source(c, offset);
}

static bool take_operand(struct cursor *c, const struct operand *o, const char *spec)
{
    uint32_t offset, bytes;
    switch (*spec) {
    case '=':
        return take_destination(c, o, spec);
    case 'p':
        return take_predicate(c, o, true);
    case 'q':
        return take_predicate(c, o, false);
    case '2':
    case '4':
    case '8':
        return lower_source(c->l, o, (uint32_t)(*spec - '0'), false, &offset) &&
               put_source(c, offset);
    case 'f':
        return lower_source(c->l, o, (uint32_t)(spec[1] - '0'), true, &offset) &&
               put_source(c, offset);
    case '#':
        if (o->kind != OPERAND_INT)
            return lower_fail(c->l, "a number belongs here");
        c->op->imm = (int64_t)o->value;
        return true;
    case 'm':
        if (!lower_memory(c->l, o, &offset, &bytes, &c->op->imm))
            return false;
        c->op->mode2 = (uint8_t)bytes;
        return put_source(c, offset);
    default: /* x */
        return true;
    }
}

static bool take_all(struct lower *l, const struct inst *inst, const char *spec, struct op *op)
{
    struct cursor c = {.l = l, .inst = inst, .op = op};
    while (*spec) {
        size_t len = strcspn(spec, " ");
        bool optional = len > 1 && spec[len - 1] == '?';
        unsigned specs_left = 1;
        for (const char *s = spec + len; *s; s++)
            specs_left += *s == ' ';
        unsigned operands_left = inst->operand_count - c.next_operand;
        bool skip = optional && operands_left < specs_left;
        if (!skip) {
            if (c.next_operand == inst->operand_count)
                return lower_fail(l, "an operand is missing");
            if (!take_operand(&c, &inst->operands[c.next_operand++], spec))
                return false;
        } else if (*spec != 'x' && *spec != 'p' && !put_source(&c, 0)) {
            return false;
        }
        spec += len;
        spec += *spec == ' ';
    }
    if (c.next_operand != inst->operand_count)
        return lower_fail(l, "more operands than it takes");
    return true;
}

/* ---- moves -------------------------------------------------------------------------------------
 */

static bool rule_pack(struct lower *l, const struct inst *inst, struct op *op, uint32_t bytes)
{
    const struct operand *list = &inst->operands[1];
    uint32_t part = list->count ? bytes / list->count : 0;
    uint32_t *const slots[] = {&op->a, &op->b, &op->c, &op->e};
    if ((list->count != 2 && list->count != 4) || !part || part == 8)
        return lower_fail(l, "a vector of %u parts", list->count);
    op->body = H_mov_pack;
    op->mode = (uint8_t)bytes;
    op->vec = (uint8_t)list->count;
    op->width = (uint8_t)part;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct operand *o = &list->items[i];
        /* 8-bit parts live in 16-bit registers or wider; the handler would take too much of them.
         */
        if (part == 1)
            return lower_fail(l, "packing of bytes");
        if (!lower_source(l, o, part, false, slots[i]))
            return false;
    }
    return lower_destination(l, &inst->operands[0], bytes, &op->d[0]);
}

static bool rule_unpack(struct lower *l, const struct inst *inst, struct op *op, uint32_t bytes)
{
    const struct operand *list = &inst->operands[0];
    uint32_t part = list->count ? bytes / list->count : 0;
    if ((list->count != 2 && list->count != 4) || part < 2 || part == 8)
        return lower_fail(l, "a vector of %u parts", list->count);
    op->body = H_mov_unpack;
    op->mode = (uint8_t)bytes;
    op->vec = (uint8_t)list->count;
    op->width = (uint8_t)part;
    for (uint32_t i = 0; i < list->count; i++) {
        if (list->items[i].kind != OPERAND_SINK &&
            !lower_destination(l, &list->items[i], part, &op->d[i]))
            return false;
    }
    return lower_source(l, &inst->operands[1], bytes, false, &op->a);
}

static bool rule_mov(struct lower *l, const struct form_match *m, const struct inst *inst,
                     struct op *op)
{
    uint32_t bytes = m->form->value;
    if (inst->operand_count != 2)
        return lower_fail(l, "it takes two operands");
    const struct operand *to = &inst->operands[0], *from = &inst->operands[1];
    if (to->kind == OPERAND_VECTOR)
        return rule_unpack(l, inst, op, bytes);
    if (from->kind == OPERAND_VECTOR)
        return rule_pack(l, inst, op, bytes);
    if (!lower_destination(l, to, bytes, &op->d[0]))
        return false;
    if (from->kind == OPERAND_SPECIAL && from->special >= SPECIAL_CLOCK) {
        bool wide = from->special == SPECIAL_CLOCK64 || from->special == SPECIAL_GLOBALTIMER;
        if (bytes != (wide ? 8 : 4))
            return lower_fail(l, "a clock has the wrong size here");
        op->body = H_clock;
        op->mode = (uint8_t)from->special;
        return true;
    }
    return lower_source(l, from, bytes, false, &op->a);
}

/* A constant false or true: the register slots hold masks. */
static bool rule_mov_pred(struct lower *l, const struct inst *inst, struct op *op)
{
    if (inst->operand_count != 2 || !lower_destination(l, &inst->operands[0], 0, &op->d[0]))
        return lower_fail(l, "it takes two predicates");
    const struct operand *from = &inst->operands[1];
    if (from->kind == OPERAND_INT) {
        op->a = lower_constant(l, from->value ? UINT32_MAX : 0, 4);
        return true;
    }
    if (from->negated)
        op->body = H_not_pred;
    return lower_predicate(l, from, &op->a);
}

static bool rule_cvta(struct lower *l, const struct form_match *m, const struct inst *inst,
                      struct op *op)
{
    static const uint64_t windows[] = {[PTX_SPACE_SHARED] = SHARED_WINDOW,
                                       [PTX_SPACE_LOCAL] = LOCAL_WINDOW,
                                       [PTX_SPACE_CONST] = CONST_WINDOW,
                                       [PTX_SPACE_PARAM] = PARAM_WINDOW,
                                       [PTX_SPACE_GLOBAL] = 0};
    op->imm = (int64_t)windows[op->space];
    (void)m;
    return take_all(l, inst, "=8 8", op);
}

/* ---- memory ------------------------------------------------------------------------------------
 */

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

static bool rule_load(struct lower *l, const struct inst *inst, struct op *op)
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

static bool rule_store(struct lower *l, const struct inst *inst, struct op *op)
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

static bool rule_param(struct lower *l, const struct inst *inst, struct op *op, bool is_store)
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

/* ---- atomics -----------------------------------------------------------------------------------
 */

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

static bool rule_atom(struct lower *l, const struct form_match *m, const struct inst *inst,
                      struct op *op, bool has_result)
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

/* ---- conversion --------------------------------------------------------------------------------
 */

static uint8_t cvt_type(const struct form_word *word)
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

static int64_t rounding_of(const struct form_match *m)
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
static bool rule_cvt(struct lower *l, const struct form_match *m, const struct inst *inst,
                     struct op *op)
{
    const struct form_word *to = &m->words[m->word_count - 2], *from = to + 1;
    uint32_t to_bytes = lower_type_bytes(to), from_bytes = lower_type_bytes(from), bytes;
    op->mode = cvt_type(from);
    op->mode2 = cvt_type(to);
    op->imm = rounding_of(m);
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

/* ---- asynchronous copies -----------------------------------------------------------------------
 */

static bool fits32(struct lower *l, int64_t value)
{
    return (value >= INT32_MIN && value <= INT32_MAX) || lower_fail(l, "a very large offset");
}

static bool rule_cp_async(struct lower *l, const struct form_match *m, const struct inst *inst,
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

static bool rule_bulk_load(struct lower *l, const struct inst *inst, struct op *op)
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

static bool rule_bulk_store(struct lower *l, const struct inst *inst, struct op *op)
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
static bool rule_mbarrier_arrive(struct lower *l, const struct form_match *m,
                                 const struct inst *inst, struct op *op)
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

/* ---- calls -------------------------------------------------------------------------------------
 */

static const struct variable *call_param(struct lower *l, const struct operand *o)
{
    const struct variable *v =
        o->kind == OPERAND_NAME ? scope_find_variable(l->inst->scope, o->name) : NULL;
    if (!v || v->space != PTX_SPACE_PARAM)
        lower_fail(l, "arguments are .param variables");
    return v && v->space == PTX_SPACE_PARAM ? v : NULL;
}

static bool places(struct lower *l, const struct operand *list, const struct param_place **out,
                   uint32_t *count)
{
    struct param_place *place = arena_array(l->module->arena, list->count, sizeof *place);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct variable *v = call_param(l, &list->items[i]);
        if (!v)
            return false;
        place[i] = (struct param_place){.offset = v->offset, .bytes = (uint32_t)v->bytes};
    }
    *out = place;
    *count = list->count;
    return true;
}

/* Whether what the call passes is what the function declares. */
static bool matches(struct lower *l, const struct param_place *place, uint32_t count,
                    const struct variable *declared)
{
    for (uint32_t i = 0; i < count; i++, declared = declared->next) {
        if (!declared || declared->bytes != place[i].bytes)
            return lower_fail(l, "arguments do not fit the function's declaration");
    }
    return !declared || lower_fail(l, "arguments are missing");
}

static bool host_site(struct lower *l, const struct operand *results,
                      const struct operand *arguments, enum host_function function, struct op *op)
{
    struct host_site *site = arena_alloc(l->module->arena, sizeof *site);
    site->function = function;
    if (arguments->count > HOST_MAX_ARGUMENTS || results->count > 1)
        return lower_fail(l, "too many arguments");
    for (uint32_t i = 0; i < arguments->count; i++) {
        const struct variable *v = call_param(l, &arguments->items[i]);
        if (!v)
            return false;
        site->arguments[site->argument_count++] = v->offset;
    }
    if (results->count) {
        const struct variable *v = call_param(l, &results->items[0]);
        if (!v)
            return false;
        site->result = v->offset;
        site->has_result = true;
    }
    op->body = H_call_host;
    op->extra = site;
    return true;
}

/* call {(results),} name {, (arguments)} {, prototype} */
static bool rule_call(struct lower *l, const struct inst *inst, struct op *op)
{
    static const struct operand none = {.kind = OPERAND_LIST};
    const struct operand *results = &none, *arguments = &none;
    uint32_t at = 0;
    if (at < inst->operand_count && inst->operands[at].kind == OPERAND_LIST)
        results = &inst->operands[at++];
    if (at == inst->operand_count)
        return lower_fail(l, "the function is missing");
    const struct operand *target = &inst->operands[at++];
    bool pointer = target->kind == OPERAND_REG;
    if (at < inst->operand_count && inst->operands[at].kind == OPERAND_LIST)
        arguments = &inst->operands[at++];
    at += pointer && at < inst->operand_count; /* the prototype */
    if (at != inst->operand_count || (!pointer && target->kind != OPERAND_NAME))
        return lower_fail(l, "operands that do not belong here");
    struct function *callee = pointer ? NULL : module_find_function(l->module, target->name);
    enum host_function host = pointer ? HOST_NONE : host_find(target->name);
    if ((!callee || callee->is_extern) && host != HOST_NONE)
        return host_site(l, results, arguments, host, op);
    if (!pointer && (!callee || callee->is_extern || callee->is_entry))
        return lower_fail(l, "the function %.100s", target->name);
    struct call_site *site = arena_alloc(l->module->arena, sizeof *site);
    op->extra = site;
    if (!places(l, arguments, &site->arguments, &site->argument_count) ||
        !places(l, results, &site->results, &site->result_count))
        return false;
    if (pointer) {
        op->body = H_call_pointer;
        return lower_source(l, target, 8, false, &op->a);
    }
    site->callee = l->module->decoded[callee->index];
    return matches(l, site->arguments, site->argument_count, callee->params) &&
           matches(l, site->results, site->result_count, callee->results);
}

/* ---- the rest ----------------------------------------------------------------------------------
 */

static bool rule_setp(struct lower *l, const struct form_match *m, const struct inst *inst,
                      struct op *op)
{
    if (!take_all(l, inst, m->form->operands, op))
        return false;
    if (!op->mode2 != !op->c)
        return lower_fail(l, "a combining operation and its predicate go together");
    return true;
}

static bool rule_set(struct lower *l, const struct form_match *m, const struct inst *inst,
                     struct op *op)
{
    const struct form_word *to = &m->words[m->word_count - 2];
    uint32_t bytes = lower_type_bytes(to);
    bool is_float = to->text[0] == 'f' || to->text[0] == 'b';
    op->imm = !is_float                    ? (bytes == 2 ? 0xffff : UINT32_MAX)
              : bytes == 4 && to->len == 3 ? 0x3f800000
              : to->text[0] == 'b'         ? 0x3f80
                                           : 0x3c00;
    return rule_setp(l, m, inst, op);
}

static bool rule_minmax(struct lower *l, const struct form_match *m, const struct inst *inst,
                        struct op *op, bool half)
{
    bool xorsign = form_has(m, "xorsign"), magnitude = form_has(m, "abs");
    if (xorsign != magnitude)
        return lower_fail(l, ".xorsign and .abs go together");
    if (half) /* enum in exec_half.c: 2 NaN, 4 xorsign, 8 maximum */
        op->mode2 = (uint8_t)((form_has(m, "NaN") ? 2 : 0) | (xorsign ? 4 : 0) |
                              (form_has(m, "max") ? 8 : 0));
    else
        op->imm = (form_has(m, "NaN") ? 1 : 0) | (xorsign ? 2 : 0) | m->form->value;
    op->mode = half ? m->form->value : 0;
    return take_all(l, inst, m->form->operands, op);
}

static bool rule_fence(const struct form_match *m, struct op *op)
{
    op->mode = m->form->value;
    if (form_has(m, "membar"))
        op->sem = SEM_SC;
    else if (op->sem == SEM_WEAK)
        op->sem = SEM_ACQ_REL;
    return true;
}

static bool rule_pack_int(struct lower *l, const struct form_match *m, const struct inst *inst,
                          struct op *op)
{
    op->mode2 = cvt_type(&m->words[3]);
    return take_all(l, inst, m->form->operands, op);
}

/* fp8 forms: the capture says which format; handlers want it in mode2. */
static bool rule_fp8(struct lower *l, const struct form_match *m, const struct inst *inst,
                     struct op *op)
{
    op->mode2 = m->mode;
    return take_all(l, inst, m->form->operands, op);
}

static bool rule_half_mode(struct lower *l, const struct form_match *m, const struct inst *inst,
                           struct op *op)
{
    op->mode2 = op->flags & OP_RELU ? 1 : 0;
    return take_all(l, inst, m->form->operands, op);
}

static bool rule_pack2(struct lower *l, const struct form_match *m, const struct inst *inst,
                       struct op *op)
{
    op->mode2 = m->form->value ? CVT_BF16 : CVT_F16;
    op->imm = rounding_of(m);
    return take_all(l, inst, m->form->operands, op);
}

/* Carry forms have no third source; the handler reads one, so it gets the second twice. */
static bool rule_carry(struct lower *l, const struct form_match *m, const struct inst *inst,
                       struct op *op)
{
    bool ok = take_all(l, inst, m->form->operands, op);
    op->c = op->b;
    return ok;
}

bool lower_rule(struct lower *l, const struct form_match *m, const struct inst *inst, struct op *op)
{
    lower_words(m, op);
    op->body = m->form->handler;
    op->kind = m->form->kind;
    op->mode = m->mode;
    op->mode2 = m->mode2;
    switch ((enum rule)m->form->rule) {
    case RULE_CARRY:
        return rule_carry(l, m, inst, op);
    case RULE_SETP:
    case RULE_SETP_PAIR:
        if (!rule_setp(l, m, inst, op))
            return false;
        return m->form->rule == RULE_SETP || op->d[1] || lower_fail(l, "it needs two predicates");
    case RULE_SET:
        return rule_set(l, m, inst, op);
    case RULE_MINMAX:
    case RULE_HALF_MINMAX:
        return rule_minmax(l, m, inst, op, m->form->rule == RULE_HALF_MINMAX);
    case RULE_HALF_MODE:
        return rule_half_mode(l, m, inst, op);
    case RULE_CVT_INT_INT:
    case RULE_CVT_FLOAT_INT:
    case RULE_CVT_INT_FLOAT:
    case RULE_CVT_INTEGRAL:
    case RULE_CVT_FLOAT_FLOAT:
        if (!rule_cvt(l, m, inst, op))
            return false;
        shorten_cvt(m, op);
        shorten_cvt_float(m, op);
        return true;
    case RULE_CVT_PACK2:
        return rule_pack2(l, m, inst, op);
    case RULE_CVT_FP8:
        return rule_fp8(l, m, inst, op);
    case RULE_CVT_PACK_INT:
        return rule_pack_int(l, m, inst, op);
    case RULE_MOV:
        return rule_mov(l, m, inst, op);
    case RULE_MOV_PRED:
        return rule_mov_pred(l, inst, op);
    case RULE_CVTA:
        return rule_cvta(l, m, inst, op);
    case RULE_LOAD_PARAM:
    case RULE_STORE_PARAM:
        return rule_param(l, inst, op, m->form->rule == RULE_STORE_PARAM);
    case RULE_LOAD:
        return rule_load(l, inst, op);
    case RULE_STORE:
        return rule_store(l, inst, op);
    case RULE_ATOM:
    case RULE_RED:
        return rule_atom(l, m, inst, op, m->form->rule == RULE_ATOM);
    case RULE_FENCE:
        return rule_fence(m, op);
    case RULE_CP_ASYNC:
        return rule_cp_async(l, m, inst, op);
    case RULE_CP_WAIT_ALL:
        op->imm = UINT32_MAX;
        return take_all(l, inst, "", op);
    case RULE_BULK_LOAD:
        return rule_bulk_load(l, inst, op);
    case RULE_BULK_STORE:
        return rule_bulk_store(l, inst, op);
    case RULE_MBARRIER_ARRIVE:
    case RULE_MBARRIER_TX:
        return rule_mbarrier_arrive(l, m, inst, op);
    case RULE_CALL:
        return rule_call(l, inst, op);
    case RULE_MATRIX:
        return lower_matrix(l, m, inst, op);
    default: /* PLAIN, BARRIER, BARRIER_RED; branches are lowered in lower.c */
        return take_all(l, inst, m->form->operands, op);
    }
}

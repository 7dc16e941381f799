/* What each rule of ops.def means: which operands an instruction has and what goes into its op. */
#include "harness/ptx/lower.h"

#include "harness/ptx/convert.h"
#include "harness/ptx/handlers.h"

#include <string.h>

/* ---- operands by signature */

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

/* ---- moves */

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

/* ---- the rest */

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
    op->mode2 = lower_cvt_type(&m->words[3]);
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
    op->imm = lower_rounding(m);
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
        return lower_cvt_form(l, m, inst, op);
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
        return lower_param(l, inst, op, m->form->rule == RULE_STORE_PARAM);
    case RULE_LOAD:
        return lower_load(l, inst, op);
    case RULE_STORE:
        return lower_store(l, inst, op);
    case RULE_ATOM:
    case RULE_RED:
        return lower_atom(l, m, inst, op, m->form->rule == RULE_ATOM);
    case RULE_CLUSTER_WAIT: /* a cluster is one block, and this its barrier 0 */
        op->a = lower_constant(l, 0, 4);
        return true;
    case RULE_FENCE:
        return rule_fence(m, op);
    case RULE_CP_ASYNC:
        return lower_cp_async(l, m, inst, op);
    case RULE_CP_WAIT_ALL:
        op->imm = UINT32_MAX;
        return take_all(l, inst, "", op);
    case RULE_BULK_LOAD:
        return lower_bulk_load(l, inst, op);
    case RULE_BULK_STORE:
        return lower_bulk_store(l, inst, op);
    case RULE_MBARRIER_ARRIVE:
    case RULE_MBARRIER_TX:
        return lower_mbarrier_arrive(l, m, inst, op);
    case RULE_CALL:
        return lower_call(l, inst, op);
    case RULE_MATRIX:
        return lower_matrix(l, m, inst, op);
    default: /* PLAIN, BARRIER, BARRIER_RED; branches are lowered in lower.c */
        return take_all(l, inst, m->form->operands, op);
    }
}

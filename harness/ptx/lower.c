/* One function, from instructions to operations, in three steps: drafts (one per instruction; two
 * when a guard has to become a jump around it), basic blocks with their joins, and the ops
 * themselves, each block headed by an "enter". */
#include "harness/ptx/lower.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"
#include "harness/ptx/cfg.h"
#include "harness/ptx/handlers.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lower_fail(struct lower *l, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(l->why, sizeof l->why, format, args);
    va_end(args);
    return false;
}

/* ---- drafts */

static struct draft *add_draft(struct lower *l, const struct inst *inst)
{
    if (l->draft_count == l->draft_capacity) {
        l->draft_capacity = l->draft_capacity ? l->draft_capacity * 2 : 256;
        l->drafts = mem_grow(l->drafts, l->draft_capacity, sizeof *l->drafts);
    }
    struct draft *draft = &l->drafts[l->draft_count++];
    *draft = (struct draft){.inst = inst};
    return draft;
}

/* Operations that stop, or move lanes between paths, can't run for a part of a path's lanes: a
 * guard before them becomes a jump around them. */
static bool moves_lanes(const struct form *form)
{
    return form->kind == PTX_KIND_WARP || form->kind == PTX_KIND_TENSOR ||
           form->rule == RULE_MATRIX || form->handler == H_barrier ||
           form->handler == H_bar_warp_sync || form->handler == H_call ||
           form->handler == H_call_pointer || form->handler == H_brx;
}

static bool is_branch(const struct draft *d)
{
    return d->kind == DRAFT_SKIP || (d->kind == DRAFT_PLAIN && (d->match->form->handler == H_bra ||
                                                                d->match->form->handler == H_brx));
}

static bool leaves(const struct draft *d)
{
    return d->kind == DRAFT_PLAIN &&
           (d->match->form->handler == H_ret || d->match->form->handler == H_exit);
}

static bool is_guarded(const struct draft *d)
{
    return d->inst && d->inst->guard != NO_REG && !d->ignore_guard;
}

static void add_instruction(struct lower *l, const struct inst *inst)
{
    const struct form_match *match = decode_form(l->module, inst->opcode);
    bool skip = match && inst->guard != NO_REG && moves_lanes(match->form);
    if (skip) {
        struct draft *around = add_draft(l, inst);
        around->kind = DRAFT_SKIP;
        around->targets = mem_zero(1, sizeof *around->targets);
        around->targets[0] = l->draft_count + 1;
        around->target_count = 1;
    }
    struct draft *draft = add_draft(l, inst);
    draft->match = match;
    draft->kind = match ? DRAFT_PLAIN : DRAFT_UNKNOWN;
    draft->ignore_guard = skip;
}

/* Instruction numbers of a branch's targets; NULL and why when they are not labels here. */
static uint32_t *find_targets(struct lower *l, const struct inst *inst, bool table, uint32_t *count)
{
    const struct operand *o = inst->operand_count ? &inst->operands[inst->operand_count - 1] : NULL;
    const struct label *label =
        o && o->kind == OPERAND_NAME ? scope_find_label(inst->scope, o->name) : NULL;
    if (!label || (table && !label->targets) || inst->operand_count != (table ? 2 : 1)) {
        lower_fail(l, "its target is not a label of this function");
        return NULL;
    }
    *count = table ? label->target_count : 1;
    uint32_t *targets = mem_zero(*count, sizeof *targets);
    for (uint32_t i = 0; i < *count; i++) {
        const struct label *to = table ? scope_find_label(inst->scope, label->targets[i]) : label;
        if (!to) {
            lower_fail(l, "its target %s is not a label of this function", label->targets[i]);
            free(targets);
            return NULL;
        }
        targets[i] = to->inst;
    }
    return targets;
}

static void draft_all(struct lower *l)
{
    const struct function *f = l->function;
    uint32_t *start = mem_zero(f->inst_count + 1, sizeof *start);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        start[i] = l->draft_count;
        add_instruction(l, &f->insts[i]);
    }
    start[f->inst_count] = l->draft_count;
    add_draft(l, NULL)->match = decode_form(l->module, "ret"); /* whatever falls off the end */
    for (uint32_t i = 0; i < l->draft_count; i++) {
        struct draft *d = &l->drafts[i];
        if (d->kind != DRAFT_PLAIN || !is_branch(d))
            continue;
        bool table = d->match->form->handler == H_brx;
        assert(d->inst);
        d->targets = find_targets(l, d->inst, table, &d->target_count);
        for (uint32_t t = 0; d->targets && t < d->target_count; t++)
            d->targets[t] = start[d->targets[t]];
        if (!d->targets)
            d->kind = DRAFT_UNKNOWN;
    }
    free(start);
}

/* ---- blocks */

struct layout {
    struct cfg_block *blocks;
    uint32_t count;
    uint32_t *block_of;   /* per draft */
    uint32_t *successors; /* storage of all successor lists */
    uint32_t *join;       /* per block: post-dominator */
};

static void find_heads(const struct lower *l, bool *head)
{
    head[0] = true;
    for (uint32_t i = 0; i < l->draft_count; i++) {
        const struct draft *d = &l->drafts[i];
        if (!is_branch(d) && !leaves(d))
            continue;
        for (uint32_t t = 0; t < d->target_count; t++)
            head[d->targets[t]] = true;
        head[i + 1] = true;
    }
}

static uint32_t list_successors(const struct lower *l, const struct layout *y, uint32_t last,
                                uint32_t *out)
{
    const struct draft *d = &l->drafts[last];
    uint32_t n = 0, next = last + 1 < l->draft_count ? y->block_of[last + 1] : CFG_EXIT;
    if (is_branch(d)) {
        for (uint32_t t = 0; t < d->target_count; t++)
            out[n++] = y->block_of[d->targets[t]];
        bool table = d->kind == DRAFT_PLAIN && d->match->form->handler == H_brx;
        if (is_guarded(d) && !table)
            out[n++] = next;
    } else if (leaves(d)) {
        out[n++] = CFG_EXIT;
        if (is_guarded(d))
            out[n++] = next;
    } else {
        out[n++] = next;
    }
    return n;
}

static void lay_out(const struct lower *l, struct layout *y)
{
    bool *head = mem_zero(l->draft_count + 1, sizeof *head);
    uint32_t edges = 0;
    find_heads(l, head);
    y->block_of = mem_zero(l->draft_count, sizeof *y->block_of);
    for (uint32_t i = 0; i < l->draft_count; i++) {
        y->count += head[i];
        y->block_of[i] = y->count - 1;
        edges += l->drafts[i].target_count;
    }
    y->blocks = mem_zero(y->count, sizeof *y->blocks);
    y->successors = mem_zero(edges + 2 * (size_t)y->count + 2, sizeof *y->successors);
    for (uint32_t i = 0; i < l->draft_count; i++) {
        struct cfg_block *b = &y->blocks[y->block_of[i]];
        if (head[i])
            b->first = i;
        b->count++;
    }
    uint32_t *at = y->successors;
    for (uint32_t k = 0; k < y->count; k++) {
        struct cfg_block *b = &y->blocks[k];
        uint32_t last = b->first + b->count - 1;
        b->successors = at;
        b->successor_count = list_successors(l, y, last, at);
        at += b->successor_count;
        b->is_exit_only =
            b->count == 1 && leaves(&l->drafts[last]) && !is_guarded(&l->drafts[last]);
    }
    y->join = cfg_post_dominators(y->blocks, y->count);
    free(head);
}

static void layout_free(struct layout *y)
{
    free(y->blocks);
    free(y->block_of);
    free(y->successors);
    free(y->join);
}

/* ---- operations */

/* Every block has an "enter" before its first draft. */
static uint32_t op_of(const struct layout *y, uint32_t draft)
{
    return draft + y->block_of[draft] + 1;
}

static uint32_t enter_of(const struct layout *y, uint32_t block)
{
    return y->blocks[block].first + block;
}

static uint32_t source_line(const struct lower *l, uint32_t line)
{
    const struct ptx_line *lines = l->module->public->lines;
    while (lines[line].inlined_at)
        line = lines[line].inlined_at;
    return lines[line].line;
}

/* "the simulator does not know X (your line N)": what running into this says. */
static void make_unknown(struct lower *l, const struct inst *inst, struct op *op)
{
    char where[64];
    uint32_t line = source_line(l, inst->line);
    if (line)
        snprintf(where, sizeof where, _("your line %u"), line);
    else
        snprintf(where, sizeof where, _("line %u of the PTX"), inst->ptx_line);
    op->run = op->body = H_unsupported;
    op->extra = arena_printf(l->module->arena, _("the simulator does not know %s (%s)%s%s"),
                             inst->opcode, where, *l->why ? ": " : "", l->why);
    op->kind = PTX_KIND_OTHER;
    op->guard = 0;
}

static void lower_guard(struct lower *l, const struct draft *d, struct op *op, bool inverted)
{
    assert(d->inst);
    if (d->inst->guard_not != inverted)
        op->flags |= OP_GUARD_NOT;
    op->guard = lower_register(l, d->inst->guard);
}

static void lower_branch(struct lower *l, const struct layout *y, const struct draft *d,
                         struct op *ops, struct op *op)
{
    bool guarded = is_guarded(d) || d->kind == DRAFT_SKIP;
    op->body = H_bra;
    op->kind = PTX_KIND_CONTROL;
    op->target = &ops[enter_of(y, y->block_of[d->targets[0]])];
    op->run = guarded ? H_bra_if : H_bra;
    if (guarded)
        lower_guard(l, d, op, d->kind == DRAFT_SKIP);
}

/* brx.idx index, table: the targets as distances from op. */
static bool lower_table(struct lower *l, const struct layout *y, const struct draft *d,
                        struct op *ops, struct op *op)
{
    uint32_t *list = arena_array(l->module->arena, d->target_count, sizeof *list);
    for (uint32_t t = 0; t < d->target_count; t++)
        list[t] = (uint32_t)(int32_t)(&ops[enter_of(y, y->block_of[d->targets[t]])] - op);
    op->run = op->body = H_brx;
    op->kind = PTX_KIND_CONTROL;
    op->list = list;
    op->c = d->target_count;
    return lower_source(l, &d->inst->operands[0], 4, false, &op->a);
}

/* A cluster's arrival is simulated where its wait stands right behind it: the two are one barrier.
 */
static bool is_followed(struct lower *l, uint32_t number)
{
    const struct draft *d = &l->drafts[number], *next = d + 1;
    if (d->match->form->rule != RULE_CLUSTER_ARRIVE)
        return true;
    return (number + 1 < l->draft_count && next->kind == DRAFT_PLAIN && next->match &&
            next->match->form->rule == RULE_CLUSTER_WAIT && !is_guarded(next) && !is_guarded(d)) ||
           lower_fail(l, "barrier.cluster.wait has to follow at once");
}

static void lower_draft(struct lower *l, const struct layout *y, uint32_t number, struct op *ops)
{
    const struct draft *d = &l->drafts[number];
    struct op *op = &ops[op_of(y, number)];
    *l->why = '\0';
    l->inst = d->inst;
    op->line = d->inst ? d->inst->line : 0;
    assert(d->inst || d->kind == DRAFT_PLAIN); /* the last return is nobody's instruction */
    if (d->kind == DRAFT_UNKNOWN) {
        if (d->match)
            lower_fail(l, "its target is not a label of this function");
        make_unknown(l, d->inst, op);
        return;
    }
    if (d->kind == DRAFT_SKIP) {
        lower_branch(l, y, d, ops, op);
        return;
    }
    op->form = (uint16_t)(d->match->form - forms);
    if (d->inst && is_branch(d)) {
        if (d->match->form->handler == H_bra)
            lower_branch(l, y, d, ops, op);
        else if (!lower_table(l, y, d, ops, op))
            make_unknown(l, d->inst, op);
        return;
    }
    static const struct inst implicit_ret = {.opcode = "ret", .guard = NO_REG};
    const struct inst *inst = d->inst ? d->inst : &implicit_ret;
    l->inst = inst;
    if (!lower_rule(l, d->match, inst, op) || !is_followed(l, number)) {
        make_unknown(l, inst, op);
        return;
    }
    op->run = op->body;
    if (is_guarded(d)) {
        lower_guard(l, d, op, false);
        op->run = H_guard;
    }
}

/* Loads, stores, atomics, barriers, copies and fences have a number of their own in the module. */
static bool has_site(const struct op *op)
{
    switch (op->kind) {
    case PTX_KIND_LOAD:
    case PTX_KIND_STORE:
    case PTX_KIND_ATOMIC:
    case PTX_KIND_ASYNC:
    case PTX_KIND_SYNC:
    case PTX_KIND_WARP:
    case PTX_KIND_TENSOR:
        return true;
    default:
        return false;
    }
}

/* The first line that is known in a block: where a loop is said to spin. */
static uint32_t block_line(const struct lower *l, const struct cfg_block *b)
{
    for (uint32_t i = 0; i < b->count; i++) {
        const struct inst *inst = l->drafts[b->first + i].inst;
        if (inst && inst->line)
            return inst->line;
    }
    return 0;
}

static uint32_t real_instructions(const struct lower *l, const struct cfg_block *b)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < b->count; i++)
        count += l->drafts[b->first + i].inst && l->drafts[b->first + i].kind != DRAFT_SKIP;
    return count;
}

static void emit_blocks(struct lower *l, const struct layout *y, struct op *ops,
                        struct code_block *blocks)
{
    for (uint32_t k = 0; k < y->count; k++) {
        const struct cfg_block *b = &y->blocks[k];
        uint32_t join = y->join[k];
        blocks[k] = (struct code_block){.first = &ops[enter_of(y, k)],
                                        .id = l->module->block_count + k,
                                        .count = real_instructions(l, b)};
        if (b->successor_count > 1 && join != CFG_EXIT && !y->blocks[join].is_exit_only)
            blocks[k].join = &ops[enter_of(y, join)];
    }
    for (uint32_t k = 0; k < y->count; k++) {
        if (blocks[k].join)
            blocks[y->join[k]].is_join = true;
    }
    for (uint32_t k = 0; k < y->count; k++) {
        const struct cfg_block *b = &y->blocks[k];
        struct op *enter = &ops[enter_of(y, k)];
        enter->run = enter->body = blocks[k].is_join ? H_enter_join : H_enter;
        enter->extra = &blocks[k];
        enter->line = block_line(l, b);
        struct op *last = &ops[op_of(y, b->first + b->count - 1)];
        if (last->body == H_bra || last->body == H_brx)
            last->extra = &blocks[k];
    }
    l->module->block_count += y->count;
}

/* Whether blocks of a grid may depend on each other's progress or order. */
static bool talks(const struct op *op)
{
    bool shared = op->space == PTX_SPACE_SHARED || op->space == PTX_SPACE_LOCAL;
    if (op->kind == PTX_KIND_ATOMIC) {
        bool commutes = !op->d[0] && op->vec < 7; /* integer red: the order does not matter */
        return !shared && !commutes;
    }
    bool memory = op->kind == PTX_KIND_LOAD || op->kind == PTX_KIND_STORE;
    return memory && !shared && op->sem != SEM_WEAK;
}

static void fill_template(struct lower *l, struct func *func)
{
    uint32_t low = UINT32_MAX, high = 0;
    for (uint32_t i = 0; i < l->constant_capacity; i++) {
        const struct constant *c = &l->constants[i];
        if (c->kind != 1 && c->kind != 2)
            continue;
        uint32_t end = c->offset + (c->kind == 2 ? 256 : 128);
        low = c->offset < low ? c->offset : low;
        high = end > high ? end : high;
    }
    if (high <= low)
        return;
    uint8_t *bytes = arena_alloc(l->module->arena, high - low);
    for (uint32_t i = 0; i < l->constant_capacity; i++) {
        const struct constant *c = &l->constants[i];
        for (unsigned lane = 0; lane < WARP_LANES && c->kind; lane++) {
            if (c->kind == 2)
                memcpy(bytes + c->offset - low + 8 * lane, &c->value, 8);
            else if (c->kind == 1)
                memcpy(bytes + c->offset - low + 4 * lane, &c->value, 4);
        }
    }
    func->template_regs = bytes;
    func->template_from = low;
    func->template_to = high;
}

static void emit(struct lower *l, const struct layout *y)
{
    struct arena *arena = l->module->arena;
    struct func *func = l->func;
    uint32_t count = l->draft_count + y->count;
    struct op *ops = arena_array(arena, count, sizeof *ops);
    struct code_block *blocks = arena_array(arena, y->count, sizeof *blocks);
    for (uint32_t i = 0; i < l->draft_count; i++)
        lower_draft(l, y, i, ops);
    emit_blocks(l, y, ops, blocks);
    lower_guesses(ops, count);
    for (uint32_t i = 0; i < count; i++) {
        if (has_site(&ops[i]))
            ops[i].site = ++l->module->site_count;
        func->cross_block |= talks(&ops[i]);
    }
    func->ops = ops;
    func->op_count = count;
    func->blocks = blocks;
    func->block_count = y->count;
    func->register_bytes = (l->used + 63) & ~63u;
    uint32_t *special = arena_array(arena, SPECIAL_COUNT, sizeof *special);
    memcpy(special, l->special, SPECIAL_COUNT * sizeof *special);
    func->special = special;
    struct address_slot *addresses = arena_array(arena, l->address_count, sizeof *addresses);
    if (l->address_count)
        memcpy(addresses, l->addresses, l->address_count * sizeof *addresses);
    func->addresses = addresses;
    func->address_count = l->address_count;
    fill_template(l, func);
}

static const struct param_place *list_places(struct arena *arena, const struct variable *v,
                                             uint32_t *count)
{
    for (const struct variable *each = v; each; each = each->next)
        ++*count;
    struct param_place *places = arena_array(arena, *count, sizeof *places);
    for (uint32_t i = 0; v; v = v->next, i++)
        places[i] = (struct param_place){.offset = v->offset, .bytes = (uint32_t)v->bytes};
    return places;
}

void lower_function(struct module *module, struct function *function, struct func *out)
{
    uint32_t special[SPECIAL_COUNT] = {0};
    struct lower l = {
        .module = module,
        .function = function,
        .func = out,
        .special = special,
        .used = 64, /* offset 0 means "none"; the carry flag lives at 4 */
    };
    struct layout layout = {0};
    l.reg_offset = mem_zero(function->reg_count + 1, sizeof *l.reg_offset);
    out->name = function->name;
    out->module = module->public;
    out->index = function->index;
    out->is_entry = function->is_entry;
    out->params = list_places(module->arena, function->params, &out->param_count);
    out->results = list_places(module->arena, function->results, &out->result_count);
    out->local_bytes = (function->local_bytes + 15) & ~15u;
    out->param_bytes = (function->param_bytes + 15) & ~15u;
    draft_all(&l);
    lay_out(&l, &layout);
    emit(&l, &layout);
    for (uint32_t i = 0; i < l.draft_count; i++)
        free(l.drafts[i].targets);
    free(l.drafts);
    free(l.reg_offset);
    free(l.constants);
    free(l.addresses);
    layout_free(&layout);
}

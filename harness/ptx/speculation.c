#include "harness/ptx/cell.h"
#include "harness/ptx/handlers.h"

#include <string.h>

/* The compiler turns `x = big ? s : 0` into a load for everybody and a selection, where reading s
 * can do no harm. Such a load of bytes that nobody has set, or that others are writing, is not the
 * student's mistake as long as the selection throws the value away. So before such a read is
 * reported, its value is followed through the rest of the basic block, with the predicates that are
 * known already. What leaves the block, decides something or is stored counts as used. */

enum { MOST_REGISTERS = 24, MOST_WRITES = 96 };

struct trace {
    struct warp *w;
    uint32_t reg[MOST_REGISTERS], lanes[MOST_REGISTERS]; /* registers with the value in them */
    uint32_t count;
    uint32_t
        written[MOST_WRITES]; /* registers written since the load: their values are not known */
    uint32_t written_count;
    uint32_t used; /* lanes whose value mattered */
};

static uint32_t value_in(const struct trace *t, uint32_t reg)
{
    for (uint32_t i = 0; reg && i < t->count; i++)
        if (t->reg[i] == reg)
            return t->lanes[i];
    return 0;
}

static void put_value(struct trace *t, uint32_t reg, uint32_t lanes)
{
    uint32_t i = 0;
    while (i < t->count && t->reg[i] != reg)
        i++;
    if (i == t->count && !lanes)
        return;
    if (i == MOST_REGISTERS) {
        t->used = UINT32_MAX; /* too much to follow */
        return;
    }
    t->reg[i] = reg;
    t->lanes[i] = lanes;
    t->count += i == t->count;
}

static bool is_known(const struct trace *t, uint32_t reg)
{
    for (uint32_t i = 0; i < t->written_count; i++)
        if (t->written[i] == reg)
            return false;
    return true;
}

static void note_write(struct trace *t, uint32_t reg)
{
    if (t->written_count == MOST_WRITES)
        t->used = UINT32_MAX;
    else
        t->written[t->written_count++] = reg;
}

/* Lanes that may execute the operation. */
static uint32_t guarded(const struct trace *t, const struct op *op)
{
    if (!op->guard || !is_known(t, op->guard))
        return UINT32_MAX;
    uint32_t p = *pred(t->w, op->guard);
    return op->flags & OP_GUARD_NOT ? ~p : p;
}

static bool computes(const struct op *op)
{
    switch (op->kind) {
    case PTX_KIND_INTEGER:
    case PTX_KIND_FP32:
    case PTX_KIND_FP64:
    case PTX_KIND_HALF:
    case PTX_KIND_CONVERT:
    case PTX_KIND_MOVE:
        return !op->list && !op->d[1];
    default:
        return false;
    }
}

static uint32_t sources(const struct trace *t, const struct op *op)
{
    return value_in(t, op->a) | value_in(t, op->b) | value_in(t, op->c) | value_in(t, op->e);
}

static uint32_t selected(const struct trace *t, const struct op *op)
{
    uint32_t yes = value_in(t, op->a), no = value_in(t, op->b);
    if (!is_known(t, op->c))
        return yes | no;
    uint32_t p = *pred(t->w, op->c);
    p = op->flags & OP_NEG_C ? ~p : p;
    return (yes & p) | (no & ~p);
}

static bool is_comparison(const struct op *op)
{
    return op->body >= H_setp_s16 && op->body <= H_setp_bf16x2;
}

/* Follows the value through one operation. */
static void follow(struct trace *t, const struct op *op)
{
    uint32_t runs = guarded(t, op), result;
    if (op->body == H_selp_32 || op->body == H_selp_64) {
        result = selected(t, op);
    } else if (computes(op) && !is_comparison(op)) {
        result = sources(t, op);
    } else {
        uint32_t uses = sources(t, op);
        for (int i = 0; op->kind == PTX_KIND_STORE && i < 4; i++)
            uses |= value_in(t, op->d[i]);
        t->used |= op->list ? UINT32_MAX : uses & runs;
        result = 0;
    }
    if (op->kind == PTX_KIND_STORE)
        return;
    for (int i = 0; i < 4; i++)
        if (op->d[i]) {
            put_value(t, op->d[i], (result & runs) | (value_in(t, op->d[i]) & ~runs));
            note_write(t, op->d[i]);
        }
}

static bool ends_block(const struct op *op)
{
    return op->body == H_enter || op->body == H_enter_join || op->body == H_bra ||
           op->body == H_bra_if || op->kind == PTX_KIND_CONTROL;
}

static bool reads(const struct op *op, uint32_t reg)
{
    if (op->a == reg || op->b == reg || op->c == reg || op->e == reg || op->list)
        return true;
    for (int i = 0; op->kind == PTX_KIND_STORE && i < 4; i++)
        if (op->d[i] == reg)
            return true;
    return false;
}

/* Is the value, where it stands at the end of the block, wanted by any code outside of it?
 * Registers are the compiler's own, one per value, so one that nobody else reads is dead. */
static void live_on(struct trace *t, const struct op *from, const struct op *end)
{
    const struct func *func = t->w->frame->func;
    for (uint32_t k = 0; k < t->count; k++)
        for (size_t i = 0; t->lanes[k] && i < func->op_count; i++) {
            const struct op *op = &func->ops[i];
            if ((op < from || op >= end) && reads(op, t->reg[k]))
                t->used |= t->lanes[k];
        }
}

/* The lanes whose value goes nowhere. */
static uint32_t idle_lanes(struct warp *w, const struct op *op)
{
    enum { FAR_ENOUGH = 256 };
    struct trace t = {.w = w};
    if (op->kind != PTX_KIND_LOAD || op->list || op->sem != SEM_WEAK)
        return 0;
    for (unsigned i = 0; i < 4 && i < op->vec; i++) {
        put_value(&t, op->d[i], UINT32_MAX);
        note_write(&t, op->d[i]);
    }
    const struct func *func = w->frame->func;
    for (int i = 1; i < FAR_ENOUGH && ~t.used && op + i < func->ops + func->op_count; i++) {
        if (ends_block(&op[i])) {
            live_on(&t, op, &op[i]);
            return ~t.used;
        }
        follow(&t, &op[i]);
    }
    return 0;
}

bool read_is_idle(struct warp *w, const struct op *op, unsigned lane)
{
    struct hazard_warp *h = w->hazard;
    if (h->idle_op != op || h->idle_at != h->accesses) {
        h->idle_op = op;
        h->idle_at = h->accesses;
        h->idle_lanes = idle_lanes(w, op);
    }
    return h->idle_lanes >> lane & 1;
}

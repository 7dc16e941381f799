#include "harness/ptx/targets.h"

#include "harness/base/buf.h"
#include "harness/ptx/handlers.h"

#include <stdlib.h>
#include <string.h>

/* Every register gets the set of parameters that its value may be made of, in one walk after the
 * other until nothing changes. Branches and guards do not matter: a register of a compiler has one
 * meaning. */

enum { MOST_PARAMETERS = 62 };

#define FROM_WORD    (1ull << 62) /* of 32 bits from memory: half a pointer, when put together */
#define FROM_NOWHERE (1ull << 63) /* a pointer that may lead anywhere */

struct trace {
    const struct func *func;
    uint64_t *origin;                    /* by register offset / 4 */
    uint32_t end;                        /* of them */
    uint32_t parameter[MOST_PARAMETERS]; /* bit number to offset in the parameter block */
    uint32_t count;
    bool changed;
};

static uint64_t origin_of(const struct trace *t, uint32_t reg)
{
    return reg / 4 < t->end ? t->origin[reg / 4] : 0;
}

static void add_origin(struct trace *t, uint32_t reg, uint64_t origin)
{
    if (!reg || reg / 4 >= t->end || !(origin & ~t->origin[reg / 4]))
        return;
    t->origin[reg / 4] |= origin;
    t->changed = true;
}

static uint64_t bit_of(struct trace *t, uint32_t offset)
{
    for (uint32_t i = 0; i < t->count; i++)
        if (t->parameter[i] == offset)
            return 1ull << i;
    if (t->count == MOST_PARAMETERS)
        return FROM_NOWHERE;
    t->parameter[t->count] = offset;
    return 1ull << t->count++;
}

static void follow_load(struct trace *t, const struct op *op)
{
    for (unsigned v = 0; v < op->vec && v < 4; v++) {
        uint64_t origin = op->width == 8 ? FROM_NOWHERE : op->width == 4 ? FROM_WORD : 0;
        if (op->body == H_ld_param_entry && op->width == 8)
            origin = bit_of(t, (uint32_t)op->imm + 8 * v);
        add_origin(t, op->d[v], origin);
    }
}

static void follow(struct trace *t, const struct op *op)
{
    uint64_t sources =
        origin_of(t, op->a) | origin_of(t, op->b) | origin_of(t, op->c) | origin_of(t, op->e);
    switch (op->kind) {
    case PTX_KIND_LOAD:
        follow_load(t, op);
        return;
    case PTX_KIND_ATOMIC:
        add_origin(t, op->d[0], op->width == 8 ? FROM_NOWHERE : FROM_WORD);
        return;
    case PTX_KIND_INTEGER:
    case PTX_KIND_CONVERT:
    case PTX_KIND_MOVE:
    case PTX_KIND_WARP:
        break;
    default:
        return;
    }
    if (op->body >= H_setp_s16 && op->body <= H_setp_bf16x2)
        return;
    if (op->body == H_mov_pack && sources & FROM_WORD)
        sources |= FROM_NOWHERE;
    for (int i = 0; i < 4; i++)
        add_origin(t, op->d[i], sources);
}

static bool writes_global(const struct op *op)
{
    bool somewhere = op->space == PTX_SPACE_GLOBAL || op->space == PTX_SPACE_GENERIC;
    return op->body == H_bulk_store ||
           (somewhere && (op->kind == PTX_KIND_STORE || op->kind == PTX_KIND_ATOMIC));
}

static void mark_all(const struct run *run, bool *out)
{
    for (size_t i = 0; i < run->map.count; i++)
        out[i] = !run->map.items[i].read_only;
}

/* The allocations behind one address; false: it may lead anywhere. */
static bool mark(const struct trace *t, const struct run *run, uint64_t origin, bool *out)
{
    const uint64_t parameters = origin & ~(FROM_WORD | FROM_NOWHERE);
    uint32_t hint = 0;
    bool found = !parameters; /* nothing of the caller's: a variable, or local memory */
    if (origin & FROM_NOWHERE)
        return false;
    for (uint64_t left = parameters; left; left &= left - 1) {
        uint32_t offset = t->parameter[__builtin_ctzll(left)];
        uint64_t va = 0;
        if (offset + sizeof va <= run->launch->param_bytes)
            memcpy(&va, (const uint8_t *)run->launch->params + offset, sizeof va);
        if (!memory_find(&run->map, va, 1, &hint))
            continue;
        out[hint] = !run->map.items[hint].read_only;
        found = true;
    }
    return found;
}

static bool calls(const struct op *op)
{
    return op->body == H_call || op->body == H_call_pointer;
}

static bool follow_all(struct trace *t, const struct run *run, bool *out)
{
    const struct func *func = t->func;
    do {
        t->changed = false;
        for (size_t i = 0; i < func->op_count; i++)
            follow(t, &func->ops[i]);
    } while (t->changed);
    for (size_t i = 0; i < func->op_count; i++) {
        const struct op *op = &func->ops[i];
        if (calls(op) || (writes_global(op) && !mark(t, run, origin_of(t, op->a), out)))
            return false;
    }
    return true;
}

void targets_find(const struct run *run, bool *out)
{
    struct trace t = {.func = run->func};
    t.end = run->func->register_bytes / 4;
    t.origin = mem_zero(t.end + 1, sizeof *t.origin);
    memset(out, 0, run->map.count * sizeof *out);
    if (!follow_all(&t, run, out))
        mark_all(run, out);
    for (size_t i = 0; run->launch->image && i < run->map.count; i++)
        out[i] |= run->map.items[i].va >= IMAGE_WINDOW && !run->map.items[i].read_only;
    free(t.origin);
}

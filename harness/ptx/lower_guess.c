/* The loop around an atomicCAS begins with a plain read of the same word, in NVIDIA's own guide
 * too:
 *
 *     old = *p;  do { seen = old; old = atomicCAS(p, seen, f(seen)); } while (old != seen);
 *
 * Whatever that read sees, the cas takes it as a guess and checks it. So such a read counts as a
 * relaxed one, which does not race with atomics. */
#include "harness/ptx/atomic.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/lower.h"

static bool is_cas(const struct op *op)
{
    return op->kind == PTX_KIND_ATOMIC && op->mode == ATOM_CAS &&
           (op->body == H_atom_global || op->body == H_atom_shared || op->body == H_atom_generic);
}

enum { SOME = 8 };

struct registers {
    uint32_t list[SOME], count;
};

static void add(struct registers *some, uint32_t slot)
{
    if (some->count < SOME)
        some->list[some->count++] = slot;
}

static bool has(const struct registers *some, uint32_t slot)
{
    for (uint32_t i = 0; i < some->count; i++)
        if (some->list[i] == slot)
            return true;
    return false;
}

/* Guesses: what the cas compares with, as it is or through one move. Carried: what takes over the
 * cas's result, for the next turn of a loop. */
static void follow_moves(const struct op *ops, uint32_t count, const struct op *cas,
                         struct registers *guesses, struct registers *carried)
{
    add(guesses, cas->b);
    for (uint32_t i = 0; i < count; i++) {
        if (ops[i].kind != PTX_KIND_MOVE)
            continue;
        if (ops[i].d[0] == cas->b)
            add(guesses, ops[i].a);
        if (cas->d[0] && ops[i].a == cas->d[0])
            add(carried, ops[i].d[0]);
    }
}

static void mark_loads(struct op *ops, uint32_t count, const struct op *cas,
                       const struct registers *guesses, const struct registers *carried)
{
    for (uint32_t i = 0; i < count; i++) {
        struct op *load = &ops[i];
        if (load->kind != PTX_KIND_LOAD || load->sem != SEM_WEAK || load->flags & OP_NC ||
            load->vec != 1 || load->width != cas->width || load->space != cas->space)
            continue;
        bool same_word = (load->a == cas->a && load->imm == cas->imm) || has(carried, load->d[0]);
        if (!same_word || !has(guesses, load->d[0]))
            continue;
        bool guarded = load->run != load->body;
        load->sem = SEM_RELAXED;
        load->body = H_ld_strong;
        load->run = guarded ? load->run : load->body;
    }
}

void lower_guesses(struct op *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct registers guesses = {0}, carried = {0};
        if (!is_cas(&ops[i]))
            continue;
        follow_moves(ops, count, &ops[i], &guesses, &carried);
        mark_loads(ops, count, &ops[i], &guesses, &carried);
    }
}

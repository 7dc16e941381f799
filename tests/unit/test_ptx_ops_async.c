/* Asynchronous copies and mbarriers: each form in a kernel of its own. */
#include "ptx_trial.h"

static bool copy(struct trial *t)
{
    static const unsigned sizes[] = {16, 8, 4};
    unsigned size = has(t, "cg") ? 16 : sizes[t->variant % 3],
             source = t->variant % 2 ? size / 2 : size;
    if (has(t, "L2::cache_hint"))
        return false;
    emit(t,
         "st.shared.u64 [%%s+16], %%x2; st.shared.u64 [%%s+24], %%x3;\n%s [%%s+16], [%%raw+16], %u",
         t->opcode, size);
    emit(t, t->variant % 2 ? ", %u" : "%.0u", t->variant % 2 ? source : 0);
    emit(t, ";\n%s\nld.shared.u64 %%y0, [%%s+16]; ld.shared.u64 %%y1, [%%s+24];\n",
         t->variant % 2 ? "cp.async.wait_all;" : "cp.async.commit_group; cp.async.wait_group 0;");
    for (unsigned i = 0; i < N; i++) {
        uint8_t flat[16];
        memcpy(flat, &t->in.x[2][i], 8);
        memcpy(flat + 8, &t->in.x[3][i], 8);
        memset(flat, 0, size);
        memcpy(flat, t->in.raw[i] + 16, source);
        memcpy(&t->want.y[0][i], flat, 8);
        memcpy(&t->want.y[1][i], flat + 8, 8);
    }
    return true;
}

static bool copy_groups(struct trial *t)
{
    emit(t,
         "cp.async.ca.shared.global [%%s], [%%raw], 16; cp.async.commit_group;\n"
         "cp.async.ca.shared.global [%%s+16], [%%raw+16], 16; cp.async.commit_group;\n"
         "%s; ld.shared.u64 %%y0, [%%s]; cp.async.wait_all; ld.shared.u64 %%y1, [%%s+16];\n",
         has(t, "wait_group") ? "cp.async.wait_group 1" : "cp.async.wait_group 0");
    if (has(t, "wait_all"))
        emit(t, "cp.async.ca.shared.global [%%s], [%%raw+32], 16; cp.async.wait_all; "
                "ld.shared.u64 %%y0, [%%s];\n");
    for (unsigned i = 0; i < N; i++) {
        memcpy(&t->want.y[0][i], t->in.raw[i] + (has(t, "wait_all") ? 32 : 0), 8);
        memcpy(&t->want.y[1][i], t->in.raw[i] + 16, 8);
    }
    return true;
}

#define MB_HEAD                                                                                    \
    "mov.u32 %%r9, bars; setp.eq.u32 %%c6, %%i, 0; @%%c6 mbarrier.init.shared.b64 [%%r9], %u; "    \
    "bar.sync 0;\n"
#define MB_WAIT "W: mbarrier.try_wait.parity.shared.b64 %%c5, [%%r9], 0; @!%%c5 bra W;\n"

static bool copy_arrives(struct trial *t)
{
    emit(t, MB_HEAD "cp.async.ca.shared.global [%%s], [%%raw], 16; %s [%%r9];\n", N, t->opcode);
    if (!has(t, "noinc"))
        emit(t, "mbarrier.arrive.shared.b64 _, [%%r9];\n");
    emit(t, MB_WAIT "xor.b32 %%r1, %%s, 2048; ld.shared.u64 %%y0, [%%r1];\n");
    for (unsigned i = 0; i < N; i++)
        memcpy(&t->want.y[0][i], t->in.raw[i ^ 32], 8);
    return true;
}

/* 4 KiB in by one bulk copy, out by another. */
static bool bulk(struct trial *t)
{
    bool stores = has(t, "bulk_group") || has(t, "commit_group") || has(t, "wait_group");
    char opcode[128] = "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes";
    if (has(t, "L2::cache_hint"))
        return false;
    if (!stores)
        snprintf(opcode, sizeof opcode, "%s", t->opcode);
    emit(t,
         MB_HEAD "mov.u32 %%r8, s; sub.u64 %%u1, %%p, %%out; add.u64 %%u0, %%in, 2048;\n"
                 "add.u64 %%u1, %%out, 2048; @!%%c6 bra W;\n"
                 "mbarrier.arrive.expect_tx.shared.b64 _, [%%r9], 4096;\n"
                 "%s [%%r8], [%%u0], 4096, [%%r9];\n" MB_WAIT
                 "xor.b32 %%r1, %%s, 2048; ld.shared.u64 %%y0, [%%r1];\n",
         1, opcode);
    if (stores)
        emit(t,
             "bar.sync 0; st.shared.u64 [%%s], %%x1; fence.proxy.async; bar.sync 0; @!%%c6 bra D;\n"
             "cp.async.bulk.global.shared::cta.bulk_group [%%u1], [%%r8], 4096;\n"
             "cp.async.bulk.commit_group; cp.async.bulk.wait_group%s 0; "
             "cp.async.bulk.wait_group 0;\nD: bar.sync 0; ld.global.u64 %%y1, [%%p];\n",
             has(t, "read") ? ".read" : "");
    for (unsigned i = 0; i < N; i++) {
        memcpy(&t->want.y[0][i], t->in.raw[i ^ 32], 8);
        t->want.y[1][i] = stores ? t->in.x[1][i] : 0;
    }
    return true;
}

/* One thread drives an mbarrier with 3 arrivals through its first phase; y: done before the last
 * arrival, done after it, pending arrivals in the first state. */
static bool mbarrier(struct trial *t)
{
    bool tx = has(t, "expect_tx") || has(t, "complete_tx"), drop = has(t, "arrive_drop");
    bool tests = has(t, "test_wait") || has(t, "try_wait"), arrives = has(t, "arrive") || drop;
    t->threads = 1;
    emit(t, "mov.u32 %%r9, bars; %s [%%r9], 3;\n",
         has(t, "init") ? t->opcode : "mbarrier.init.shared.b64");
    if (arrives)
        emit(t, "%s %%u0, [%%r9]%s;\n", t->opcode, tx ? ", 16" : has(t, "noComplete") ? ", 1" : "");
    else
        emit(t, "mbarrier.arrive.shared.b64 %%u0, [%%r9];\n");
    if (tx && !arrives)
        emit(t, "%s [%%r9], 16;\n",
             has(t, "expect_tx") ? t->opcode : "mbarrier.expect_tx.relaxed.cta.shared::cta.b64");
    emit(t, "mbarrier.arrive.shared.b64 %%u1, [%%r9];\n"
            "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 0; selp.u64 %%y0, 1, 0, %%c0;\n"
            "mbarrier.arrive.shared.b64 %%u2, [%%r9];\n");
    if (tx)
        emit(t,
             "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 0; selp.u64 %%y3, 1, 0, %%c0;\n"
             "%s [%%r9], 16;\n",
             has(t, "complete_tx") ? t->opcode
                                   : "mbarrier.complete_tx.relaxed.cta.shared::cta.b64");
    emit(t, "%s %%c1, [%%r9], %s; selp.u64 %%y1, 1, 0, %%c1;\n",
         tests ? t->opcode : "mbarrier.test_wait.shared.b64",
         tests && has(t, "parity") ? "0" : "%u0");
    emit(t, "mbarrier.pending_count.b64 %%r3, %%u0; cvt.u64.u32 %%y2, %%r3;\n");
    if (drop) /* the next phase has one arrival less */
        emit(t,
             "mbarrier.arrive.shared.b64 %%u1, [%%r9]; mbarrier.arrive.shared.b64 %%u2, [%%r9];\n"
             "mbarrier.test_wait.parity.shared.b64 %%c0, [%%r9], 1; selp.u64 %%y3, 1, 0, %%c0;\n");
    if (has(t, "inval"))
        emit(t, "%s [%%r9];\n", t->opcode);
    t->want.y[1][0] = 1;
    t->want.y[2][0] = 3;
    t->want.y[3][0] = drop;
    return true;
}

/* ---- which kernel a form gets ---- */

static bool build_form(struct trial *t)
{
    if (t->m->form->rule == RULE_CP_ASYNC)
        return copy(t);
    switch (t->m->form->handler) {
    case H_cp_async_commit:
    case H_cp_async_wait:
        return copy_groups(t);
    case H_cp_async_mbarrier:
        return copy_arrives(t);
    case H_bulk_load:
    case H_bulk_store:
    case H_bulk_commit:
    case H_bulk_wait:
        return bulk(t);
    default:
        return mbarrier(t);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    return trial_main(argv, FAMILY_ASYNC, build_form);
}

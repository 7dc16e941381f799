/* Lanes that work together, barriers and fences, control: each form in a kernel of its own. */
#include "ptx_trial.h"

/* ---- warps ---- */

/* Lanes work in one group of 32 or in two of 16, by the variant. */
static uint32_t members_of(const struct trial *t, unsigned lane)
{
    return t->variant % 2 ? lane < 16 ? 0xffff : 0xffff0000 : UINT32_MAX;
}

static void emit_members(struct trial *t)
{
    emit(t, "setp.lt.u32 %%c7, %%lane, 16; selp.b32 %%r15, 0xffff, 0xffff0000, %%c7;\n");
    if (t->variant % 2 == 0)
        emit(t, "mov.u32 %%r15, 0xffffffff;\n");
    emit(t, "cvt.u32.u64 %%r0, %%x0; cvt.u32.u64 %%r1, %%x1; cvt.u32.u64 %%r2, %%x2;\n"
            "and.b32 %%z, %%r0, 1; setp.ne.u32 %%c0, %%z, 0;\n");
}

static bool shuffle(struct trial *t)
{
    for (unsigned i = 0; i < N; i++) { /* segments of 8, 16 or 32 lanes that stay in their group */
        unsigned width = t->variant % 2 ? i / 32 ? 8 : 16 : i / 32 ? 16 : 32;
        unsigned clamp = has(t, "up") ? 0 : 31;
        t->in.x[2][i] = (32 - width) << 8 | clamp;
        t->in.x[1][i] &= 31;
    }
    emit_members(t);
    emit(t,
         "%s %%r3|%%c1, %%r0, %%r1, %%r2, %%r15;\nselp.u64 %%y1, 1, 0, %%c1; "
         "cvt.u64.u32 %%y0, %%r3;\n",
         t->opcode);
    for (unsigned i = 0; i < N; i++) {
        int lane = (int)(i & 31), b = (int)t->in.x[1][i], j = 0;
        int mask = (int)(t->in.x[2][i] >> 8 & 31), clamp = (int)(t->in.x[2][i] & 31);
        int most = (lane & mask) | (clamp & ~mask), least = lane & mask;
        bool inside = false;
        if (has(t, "up"))
            inside = (j = lane - b) >= most;
        else if (has(t, "down"))
            inside = (j = lane + b) <= most;
        else if (has(t, "bfly"))
            inside = (j = lane ^ b) <= most;
        else
            inside = (j = least | (b & ~mask)) <= most;
        t->want.y[0][i] = (uint32_t)t->in.x[0][inside ? (i & ~31u) + (unsigned)j : i];
        t->want.y[1][i] = inside;
    }
    return true;
}

static bool collective(struct trial *t)
{
    bool match = t->opcode[0] == 'm', wide = has(t, "b64"), signs = has(t, "s32");
    for (unsigned i = 0; i < N; i++) /* few different values; some groups agree */
        t->in.x[0][i] = match
                            ? (uint64_t)(has(t, "all") && i < 32 ? 7 : i * 7 % 3) << (wide ? 33 : 0)
                        : t->variant == 2 ? t->in.x[0][i] | 1
                                          : t->in.x[0][i];
    emit_members(t);
    if (match)
        emit(t, "%s %%r3%s, %s, %%r15;\n", t->opcode, has(t, "all") ? "|%c1" : "",
             wide ? "%x0" : "%r0");
    else if (has(t, "ballot"))
        emit(t, "%s %%r3, %%c0, %%r15;\n", t->opcode);
    else if (has(t, "vote"))
        emit(t, "%s %%c1, %%c0, %%r15; selp.u32 %%r3, 1, 0, %%c1;\n", t->opcode);
    else
        emit(t, "%s %%r3, %%r0, %%r15;\n", t->opcode);
    emit(t, "cvt.u64.u32 %%y0, %%r3;\n%s",
         has(t, "all") && match ? "selp.u64 %y1, 1, 0, %c1;\n" : "");
    for (unsigned i = 0; i < N; i++) {
        uint32_t members = members_of(t, i & 31), set = 0, same = 0, r = 0;
        uint32_t all_and = UINT32_MAX, all_or = 0, all_xor = 0, sum = 0, least = 0, most = 0;
        bool first = true;
        for (unsigned k = 0; k < 32; k++) {
            uint64_t x = t->in.x[0][(i & ~31u) + k];
            uint32_t v = (uint32_t)x;
            if (!(members >> k & 1))
                continue;
            set |= (v & 1) << k;
            same |= (uint32_t)(x == t->in.x[0][i]) << k;
            all_and &= v;
            all_or |= v;
            all_xor ^= v;
            sum += v;
            bool less = signs ? (int32_t)v < (int32_t)least : v < least;
            bool more = signs ? (int32_t)v > (int32_t)most : v > most;
            least = first || less ? v : least;
            most = first || more ? v : most;
            first = false;
        }
        if (match)
            r = has(t, "any") || same == members ? same : 0;
        else if (has(t, "vote"))
            r = has(t, "ballot") ? set
                : has(t, "all")  ? set == members
                : has(t, "any")  ? set != 0
                                 : set == members || !set;
        else
            r = has(t, "add")   ? sum
                : has(t, "min") ? least
                : has(t, "max") ? most
                : has(t, "and") ? all_and
                : has(t, "or")  ? all_or
                                : all_xor;
        t->want.y[0][i] = r;
        t->want.y[1][i] = match && has(t, "all") && same == members;
    }
    return true;
}

static bool lanes(struct trial *t)
{
    emit_members(t);
    if (has(t, "activemask"))
        emit(t, "setp.lt.u32 %%c2, %%lane, 5; @%%c2 bra E; %s %%r3; cvt.u64.u32 %%y0, %%r3;\n",
             t->opcode);
    else if (has(t, "elect"))
        emit(t, "%s %%r3|%%c1, %%r15; cvt.u64.u32 %%y0, %%r3; selp.u64 %%y1, 1, 0, %%c1;\n",
             t->opcode);
    else
        emit(t,
             "st.shared.u64 [%%s], %%x0; %s %%r15; xor.b32 %%z, %%s, 64;\n"
             "ld.shared.u64 %%y0, [%%z];\n",
             t->opcode);
    for (unsigned i = 0; i < N; i++) {
        bool first = (i & 31) == (t->variant % 2 ? i & 16 : 0);
        t->want.y[0][i] = has(t, "activemask") ? ((i & 31) < 5 ? 0 : 0xffffffe0)
                          : has(t, "elect")    ? (t->variant % 2 ? i & 16 : 0)
                                               : t->in.x[0][i ^ 1];
        t->want.y[1][i] = has(t, "elect") && first;
    }
    return true;
}

/* ---- barriers and fences ---- */

static bool barrier_form(struct trial *t)
{
    bool counts = t->variant % 2;
    emit(t, "cvt.u32.u64 %%r0, %%x0; and.b32 %%z, %%r0, 1; setp.ne.u32 %%c0, %%z, 0;\n"
            "st.shared.u64 [%%s], %%x1; xor.b32 %%r1, %%s, 2048; setp.lt.u32 %%c1, %%i, 32;\n");
    if (has(t, "arrive"))
        emit(t,
             "@%%c1 bra A; barrier.sync 3, 64; ld.shared.u64 %%y0, [%%r1]; bra E; A: %s 3, 64;\n",
             t->opcode);
    else if (has(t, "popc"))
        emit(t, "%s %%r3, 2%s, %%c0; cvt.u64.u32 %%y1, %%r3; ld.shared.u64 %%y0, [%%r1];\n",
             t->opcode, counts ? ", 64" : "");
    else if (has(t, "red"))
        emit(t, "%s %%c2, 2%s, %%c0; selp.u64 %%y1, 1, 0, %%c2; ld.shared.u64 %%y0, [%%r1];\n",
             t->opcode, counts ? ", 64" : "");
    else
        emit(t, "%s 1%s; ld.shared.u64 %%y0, [%%r1];\n", t->opcode, counts ? ", 64" : "");
    unsigned set = 0;
    for (unsigned i = 0; i < N; i++)
        set += t->in.x[0][i] & 1;
    for (unsigned i = 0; i < N; i++) {
        t->want.y[0][i] = has(t, "arrive") && i < 32 ? 0 : t->in.x[1][i ^ 32];
        t->want.y[1][i] = has(t, "popc")  ? set
                          : has(t, "and") ? set == N
                          : has(t, "or")  ? set > 0
                                          : 0;
    }
    return true;
}

/* Forms that change nothing a thread can see of its own. */
static bool quiet(struct trial *t)
{
    const char *operands = "";
    if (has(t, "prefetch") && has(t, "bulk"))
        operands = "[%raw], 16";
    else if (has(t, "prefetch") || has(t, "prefetchu"))
        operands = has(t, "local") ? "[%u6]" : "[%raw]";
    else if (has(t, "applypriority"))
        operands = "[%raw], 128";
    else if (has(t, "createpolicy"))
        operands = t->variant % 2 ? "%u6" : "%u6, 1.0";
    else if (has(t, "nanosleep"))
        operands = "20";
    else if (has(t, "pmevent"))
        operands = "1";
    else if (has(t, "setmaxnreg"))
        operands = "40";
    const unsigned rule = t->m->form->rule;
    emit(t, "mov.u64 %%u6, l; st.shared.u64 [%%s], %%x0; %s%s %s;%s ld.shared.u64 %%y0, [%%s];\n",
         rule == RULE_CLUSTER_WAIT ? "barrier.cluster.arrive; " : "", t->opcode, operands,
         rule == RULE_CLUSTER_ARRIVE ? " barrier.cluster.wait;" : "");
    memcpy(t->want.y[0], t->in.x[0], sizeof t->want.y[0]);
    return true;
}

/* ---- control ---- */

static bool control(struct trial *t)
{
    if (has(t, "bra"))
        emit(t, "%s A; mov.u64 %%y0, 1; bra E; A: mov.u64 %%y0, %%x0;\n", t->opcode);
    else if (has(t, "brx"))
        emit(t,
             "T: .branchtargets A, B, C; cvt.u32.u64 %%r0, %%x1; rem.u32 %%r0, %%r0, 3;\n"
             "%s %%r0, T; A: mov.u64 %%y0, 10; bra E; B: mov.u64 %%y0, 20; bra E; "
             "C: mov.u64 %%y0, 30;\n",
             has(t, "uni") ? "brx.idx" : t->opcode);
    else if (has(t, "call") || has(t, "ret")) {
        buf_printf(&t->functions,
                   ".func (.param .b64 r) g(.param .b64 a)\n{\n.reg .b64 %%a; .reg .pred %%p;\n"
                   "ld.param.u64 %%a, [a]; and.b64 %%a, %%a, 1; setp.eq.u64 %%p, %%a, 1;\n"
                   "st.param.u64 [r], 7; @%%p bra D; st.param.u64 [r], 9; D: %s;\n}\n",
                   has(t, "ret") ? t->opcode : "ret");
        emit(t,
             "{ .param .b64 a; .param .b64 r; st.param.b64 [a], %%x0; %s (r), g, (a);\n"
             "ld.param.b64 %%y0, [r]; }\n",
             has(t, "call") ? t->opcode : "call");
    } else { /* exit: odd threads leave before they give their results */
        emit(t, "mov.u64 %%y0, %%x0; and.b32 %%z, %%i, 1; setp.ne.u32 %%c0, %%z, 0; @%%c0 %s;\n",
             t->opcode);
    }
    for (unsigned i = 0; i < N; i++)
        t->want.y[0][i] = has(t, "bra")       ? t->in.x[0][i]
                          : has(t, "brx")     ? ((uint32_t)t->in.x[1][i] % 3 + 1) * 10
                          : has(t, "exit")    ? (i % 2 ? 0 : t->in.x[0][i])
                          : t->in.x[0][i] & 1 ? 7
                                              : 9;
    return true;
}

static bool stops(struct trial *t)
{
    emit(t, "%s;\n", t->opcode);
    return true;
}

/* ---- which kernel a form gets ---- */

static bool build_form(struct trial *t)
{
    if (t->m->form->rule == RULE_BARRIER || t->m->form->rule == RULE_BARRIER_RED)
        return barrier_form(t);
    if (t->m->form->rule == RULE_CLUSTER_WAIT)
        return quiet(t);
    switch (t->m->form->handler) {
    case H_shfl:
        return shuffle(t);
    case H_vote:
    case H_match_any:
    case H_match_all:
    case H_redux:
        return collective(t);
    case H_activemask:
    case H_elect:
    case H_bar_warp_sync:
        return lanes(t);
    case H_fence:
    case H_nothing:
    case H_nanosleep:
        return quiet(t);
    case H_trap:
        return stops(t);
    default:
        return control(t);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    return trial_main(argv, FAMILY_WARP, build_form);
}

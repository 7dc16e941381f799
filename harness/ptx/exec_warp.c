/* Operations of a whole warp: shuffles, votes, matches, reductions, __syncwarp. Member masks are
 * per-lane registers: lanes with the same mask belong together, and one instruction may serve
 * several such groups (tiles of 16 lanes, for one). */
#include "harness/ptx/handlers.h"

#include "harness/ptx/control.h"
#include "harness/ptx/hazard.h"

static inline u32 first_lane_value(const struct warp *w, u32 offset)
{
    return SRC(u32, offset)[__builtin_ctz(w->mask)];
}

static inline bool one_group(const struct warp *w, u32 offset)
{
    const u32 *members = SRC(u32, offset);
    u32 first = first_lane_value(w, offset);
    EACH(w->mask)
    {
        if (members[i] != first)
            return false;
    }
    return true;
}

/* Runs the handler once for each group of lanes that name the same members. When some of those are
 * elsewhere the groups part, so that each can wait for its own. */
static const struct op *group_by_group(struct warp *w, const struct op *op, u32 offset, op_run *run)
{
    const u32 *members = SRC(u32, offset);
    u32 all = w->mask, count = 0, masks[WARP_LANES];
    bool here = true;
    for (u32 rest = all; rest; count++) {
        u32 first = (u32)__builtin_ctz(rest);
        masks[count] = 0;
        for (u32 i = first; i < WARP_LANES; i++)
            masks[count] |= (u32)((rest >> i & 1) && members[i] == members[first]) << i;
        rest &= ~masks[count];
        here = here && !(members[first] & w->live & ~w->active);
    }
    if (!here)
        return path_part(w, op, masks, count);
    for (u32 i = 0; i < count; i++) {
        w->mask = masks[i];
        if (!run(w, op))
            return NULL;
    }
    w->mask = all;
    return op + 1;
}

#define GROUPS(offset, name)                                                                       \
    if (unlikely(!one_group(w, offset)))                                                           \
    return group_by_group(w, op, offset, OP_NAME(name))

/* Opens a collective: on return w->mask holds all its lanes. Leaves the handler when it has to
 * wait. */
#define COLLECTIVE(members)                                                                        \
    const struct op *next_ = NULL;                                                                 \
    if (!collective_begin(w, op, members, &next_))                                                 \
        return next_;                                                                              \
    u32 outside = w->mask & ~(members);                                                            \
    if (unlikely(outside))                                                                         \
        hazard_absent_lane(w, op, members, 0, outside);                                            \
    hazard_warp_collective(w, op, members)

/* mode: 0 up, 1 down, 2 bfly, 3 idx; a value, b lane or offset, c clamp and segment mask, e
 * members; d[1]: predicate, 0 for none. */
static inline bool shuffle_source(unsigned mode, u32 lane, u32 b, u32 c, u32 *source)
{
    u32 clamp = c & 31, segment = c >> 8 & 31, offset = b & 31;
    u32 highest = (lane & segment) | (clamp & ~segment), lowest = lane & segment;
    s32 j;
    bool inside;
    switch (mode) {
    case 0:
        j = (s32)lane - (s32)offset;
        inside = j >= (s32)highest;
        break;
    case 1:
        j = (s32)(lane + offset);
        inside = j <= (s32)highest;
        break;
    case 2:
        j = (s32)(lane ^ offset);
        inside = j <= (s32)highest;
        break;
    default:
        j = (s32)(lowest | (offset & ~segment));
        inside = j <= (s32)highest;
        break;
    }
    *source = inside ? (u32)j & 31 : lane;
    return inside;
}

/* What a lane gets out of one that the mask does not name: undefined, so something that spoils
 * every sum, product and comparison it gets into. As a float it is huge, of either sign. */
static u32 undefined_value(const struct warp *w, u32 lane)
{
    u32 x = (u32)block_clock(w) * 0x9e3779b9u + (w->id * 32 + lane) * 0x85ebca6bu;
    x = (x ^ x >> 15) * 0x2c1b3c6du;
    x ^= x >> 13;
    return 0x7f000000u | (x & 0x807fffffu);
}

static void shuffle_unnamed(struct warp *w, const struct op *op, u32 members, const u32 *sources,
                            u32 *r)
{
    u32 readers = 0, unnamed = 0;
    for (u32 i = 0; i < WARP_LANES; i++) {
        if (!(w->mask >> i & 1) || members >> sources[i] & 1 || sources[i] == i)
            continue;
        readers |= 1u << i;
        unnamed |= 1u << sources[i];
        r[i] = undefined_value(w, i);
    }
    if (readers)
        hazard_unnamed_source(w, op, members, readers, unnamed);
}

HANDLER(shfl)
{
    GROUPS(op->e, shfl);
    const u32 *a = SRC(u32, op->a), *b = SRC(u32, op->b), *c = SRC(u32, op->c);
    u32 members = first_lane_value(w, op->e);
    COLLECTIVE(members);
    ALIGNED u32 r[WARP_LANES];
    u32 sources[WARP_LANES], valid = 0, wanted = 0;
    for (u32 i = 0; i < WARP_LANES; i++) {
        bool inside = shuffle_source(op->mode, i, b[i], c[i], &sources[i]);
        r[i] = a[sources[i]];
        valid |= (u32)inside << i;
        wanted |= w->mask >> i & 1 ? 1u << sources[i] : 0;
    }
    u32 absent = wanted & members & ~w->mask;
    if (unlikely(absent))
        hazard_absent_lane(w, op, members, absent, 0);
    if (unlikely(wanted & ~members))
        shuffle_unnamed(w, op, members, sources, r);
    if (op->d[1])
        pred_store(w, op->d[1], valid);
    if (op->d[0])
        put32(w, op->d[0], r);
    return collective_end(w, op);
}

/* mode: 0 all, 1 any, 2 uni, 3 ballot */
HANDLER(vote)
{
    GROUPS(op->b, vote);
    u32 members = first_lane_value(w, op->b);
    COLLECTIVE(members);
    u32 p = *pred(w, op->a);
    if (op->flags & OP_NEG_C)
        p = ~p;
    u32 here = members & w->mask, yes = p & here;
    if (op->mode == 3) {
        put32_same(w, op->d[0], yes);
        return collective_end(w, op);
    }
    bool holds = op->mode == 0 ? yes == here : op->mode == 1 ? yes != 0 : yes == here || !yes;
    pred_store(w, op->d[0], holds ? FULL_MASK : 0);
    return collective_end(w, op);
}

HANDLER(activemask)
{
    put32_same(w, op->d[0], w->mask);
    return op + 1;
}

HANDLER(elect)
{
    GROUPS(op->a, elect);
    u32 members = first_lane_value(w, op->a);
    COLLECTIVE(members);
    u32 leader = members ? (u32)__builtin_ctz(members) : 0;
    if (op->d[0])
        put32_same(w, op->d[0], leader);
    pred_store(w, op->d[1], 1u << leader);
    return collective_end(w, op);
}

static inline u64 match_value(const struct warp *w, const struct op *op, unsigned lane)
{
    return op->width == 8 ? SRC(u64, op->a)[lane] : SRC(u32, op->a)[lane];
}

HANDLER(match_any)
{
    GROUPS(op->b, match_any);
    u32 members = first_lane_value(w, op->b);
    COLLECTIVE(members);
    ALIGNED u32 r[WARP_LANES] = {0};
    u32 here = members & w->mask;
    EACH(here)
    {
        u64 mine = match_value(w, op, i);
        for (unsigned other = 0; other < WARP_LANES; other++)
            r[i] |= (u32)((here >> other & 1) && match_value(w, op, other) == mine) << other;
    }
    put32(w, op->d[0], r);
    return collective_end(w, op);
}

HANDLER(match_all)
{
    GROUPS(op->b, match_all);
    u32 members = first_lane_value(w, op->b);
    COLLECTIVE(members);
    u32 here = members & w->mask;
    bool all = true;
    for (unsigned i = 0; i < WARP_LANES; i++)
        all &= !(here >> i & 1) || match_value(w, op, i) ==
                                       match_value(w, op, (unsigned)__builtin_ctz(here | 1u << 31));
    put32_same(w, op->d[0], all ? here : 0);
    if (op->d[1])
        pred_store(w, op->d[1], all ? FULL_MASK : 0);
    return collective_end(w, op);
}

/* mode: 0 add, 1 min, 2 max, 3 and, 4 or, 5 xor; mode2: 1 signed */
HANDLER(redux)
{
    GROUPS(op->b, redux);
    const u32 *a = SRC(u32, op->a);
    u32 members = first_lane_value(w, op->b);
    COLLECTIVE(members);
    u32 here = members & w->mask, result = 0;
    bool first = true;
    EACH(here)
    {
        u32 x = a[i];
        bool less = op->mode2 ? (s32)x < (s32)result : x < result;
        u32 next = op->mode == 0   ? result + x
                   : op->mode == 1 ? (less ? x : result)
                   : op->mode == 2 ? (less ? result : x)
                   : op->mode == 3 ? result & x
                   : op->mode == 4 ? result | x
                                   : result ^ x;
        result = first ? x : next;
        first = false;
    }
    put32_same(w, op->d[0], result);
    return collective_end(w, op);
}

HANDLER(bar_warp_sync)
{
    GROUPS(op->a, bar_warp_sync);
    u32 members = first_lane_value(w, op->a);
    const struct op *next = NULL;
    if (!collective_begin(w, op, members, &next))
        return next;
    u32 outside = w->mask & ~members;
    if (unlikely(outside))
        hazard_absent_lane(w, op, members, 0, outside);
    hazard_warp_sync(w, op, members & w->mask);
    return collective_end(w, op);
}

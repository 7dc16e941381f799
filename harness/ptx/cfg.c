/* Post-dominators by the iterative algorithm of Cooper, Harvey and Kennedy, on the reversed graph:
 * the exit is the root, a block's predecessors there are its successors here. Node n is the exit.
 */
#include "harness/ptx/cfg.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

struct graph {
    const struct cfg_block *blocks;
    uint32_t count; /* blocks; node `count` is the exit */
    bool *stranded; /* blocks whose edges all count, since a loop has no other way out */
    uint32_t *from; /* reversed edges: start of each node's list in `to` */
    uint32_t *to;
    uint32_t *order;  /* nodes in reverse post-order from the exit */
    uint32_t *number; /* position in post-order; UINT32_MAX: not reached */
    uint32_t reached;
};

/* Whether the edge counts: see the header. */
static bool counts(const struct graph *g, const struct cfg_block *block, uint32_t successor)
{
    bool leaves = successor == CFG_EXIT || g->blocks[successor].is_exit_only;
    if (!leaves || g->stranded[block - g->blocks])
        return true;
    for (uint32_t s = 0; s < block->successor_count; s++) {
        uint32_t other = block->successors[s];
        if (other != CFG_EXIT && !g->blocks[other].is_exit_only)
            return false;
    }
    return true;
}

static void reverse_edges(struct graph *g)
{
    uint32_t edges = 0;
    g->from = mem_zero(g->count + 2, sizeof *g->from);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t b = 0; b < g->count; b++) {
            const struct cfg_block *block = &g->blocks[b];
            for (uint32_t s = 0; s < block->successor_count; s++) {
                uint32_t to = block->successors[s];
                if (!counts(g, block, to))
                    continue;
                uint32_t node = to == CFG_EXIT ? g->count : to;
                if (pass == 0) {
                    g->from[node + 1]++;
                    edges++;
                } else {
                    g->to[--g->from[node + 1]] = b; /* from[n + 1] runs down to the list's start */
                }
            }
        }
        if (pass == 0) {
            g->to = mem_zero(edges + 1, sizeof *g->to);
            for (uint32_t n = 0; n <= g->count; n++)
                g->from[n + 1] += g->from[n];
        }
    }
    /* Now from[n + 1] is the start of n's list: shift it into place. */
    memmove(g->from, g->from + 1, (g->count + 1) * sizeof *g->from);
    g->from[g->count + 1] = edges;
}

static void depth_first(struct graph *g)
{
    uint32_t nodes = g->count + 1, depth = 0, done = 0;
    uint32_t *stack = mem_zero(nodes + 1, sizeof *stack), *next = mem_zero(nodes, sizeof *next);
    bool *seen = mem_zero(nodes, sizeof *seen);
    g->order = mem_zero(nodes, sizeof *g->order);
    g->number = mem_zero(nodes, sizeof *g->number);
    memset(g->number, 0xff, nodes * sizeof *g->number);
    stack[depth++] = g->count;
    seen[g->count] = true;
    while (depth) {
        uint32_t node = stack[depth - 1];
        if (g->from[node] + next[node] < g->from[node + 1]) {
            uint32_t to = g->to[g->from[node] + next[node]++];
            if (!seen[to]) {
                seen[to] = true;
                stack[depth++] = to;
            }
            continue;
        }
        depth--;
        g->number[node] = done;
        g->order[done++] = node; /* post-order; read backwards below */
    }
    g->reached = done;
    free(stack);
    free(next);
    free(seen);
}

static void drop_edges(struct graph *g)
{
    free(g->from);
    free(g->to);
    free(g->order);
    free(g->number);
}

/* A kernel that ends with its loop leaves it by an edge that does not count: no block of the loop
 * finds the exit, and no lanes would meet there. Lets that edge count: of the blocks that found no
 * exit, the last one that leaves, so that an early return before the loop still counts as nothing.
 */
static bool let_out(struct graph *g)
{
    for (uint32_t b = g->count; b-- > 0;) {
        if (g->number[b] != UINT32_MAX || g->stranded[b])
            continue;
        for (uint32_t s = 0; s < g->blocks[b].successor_count; s++) {
            uint32_t to = g->blocks[b].successors[s];
            if (to == CFG_EXIT || g->blocks[to].is_exit_only)
                return g->stranded[b] = true;
        }
    }
    return false;
}

static uint32_t intersect(const struct graph *g, const uint32_t *dom, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (g->number[a] < g->number[b])
            a = dom[a];
        while (g->number[b] < g->number[a])
            b = dom[b];
    }
    return a;
}

uint32_t *cfg_post_dominators(const struct cfg_block *blocks, uint32_t count)
{
    struct graph g = {.blocks = blocks, .count = count};
    g.stranded = mem_zero(count + 1, sizeof *g.stranded);
    reverse_edges(&g);
    depth_first(&g);
    while (let_out(&g)) {
        drop_edges(&g);
        reverse_edges(&g);
        depth_first(&g);
    }
    uint32_t *dom = mem_zero(count + 1, sizeof *dom);
    memset(dom, 0xff, (count + 1) * sizeof *dom);
    dom[count] = count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = g.reached; i-- > 0;) {
            uint32_t b = g.order[i], best = UINT32_MAX;
            if (b == count)
                continue;
            for (uint32_t s = 0; s < blocks[b].successor_count; s++) {
                uint32_t to = blocks[b].successors[s];
                uint32_t node = to == CFG_EXIT ? count : to;
                if (!counts(&g, &blocks[b], to) || dom[node] == UINT32_MAX)
                    continue;
                best = best == UINT32_MAX ? node : intersect(&g, dom, node, best);
            }
            if (best != UINT32_MAX && dom[b] != best) {
                dom[b] = best;
                changed = true;
            }
        }
    }
    for (uint32_t b = 0; b < count; b++)
        dom[b] = dom[b] >= count ? CFG_EXIT : dom[b];
    drop_edges(&g);
    free(g.stranded);
    return dom;
}

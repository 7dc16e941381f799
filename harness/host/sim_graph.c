#include "sim_graph.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

static struct graph *graphs;

/* ---- sets */

bool set_has(const struct node_set *set, const struct graph_node *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == node)
            return true;
    return false;
}

bool set_add(struct node_set *set, struct graph_node *node)
{
    if (set_has(set, node))
        return false;
    if (set->count == set->capacity) {
        set->capacity = set->capacity ? set->capacity * 2 : 4;
        set->items = mem_grow(set->items, set->capacity, sizeof *set->items);
    }
    set->items[set->count++] = node;
    return true;
}

bool set_remove(struct node_set *set, const struct graph_node *node)
{
    for (size_t i = 0; i < set->count; i++)
        if (set->items[i] == node) {
            set->count--;
            memmove(&set->items[i], &set->items[i + 1],
                    (set->count - i) * sizeof(struct graph_node *));
            return true;
        }
    return false;
}

void set_copy(struct node_set *out, const struct node_set *set)
{
    struct node_set copy = {0};
    for (size_t i = 0; i < set->count; i++)
        set_add(&copy, set->items[i]);
    set_free(out);
    *out = copy;
}

void set_free(struct node_set *set)
{
    free(set->items);
    *set = (struct node_set){0};
}

/* ---- graphs */

struct graph *graph_new(bool inner)
{
    struct graph *graph = mem_zero(1, sizeof *graph);
    graph->inner = inner;
    graph->line = sim_call_line();
    graph->next = graphs;
    graphs = graph;
    return graph;
}

struct graph *graph_find(const void *handle)
{
    for (struct graph *graph = graphs; graph; graph = graph->next)
        if (graph == handle)
            return graph->destroyed ? NULL : graph;
    return NULL;
}

struct graph_node *node_find(const void *handle)
{
    for (struct graph *graph = graphs; graph; graph = graph->next)
        for (size_t i = 0; i < graph->nodes.count; i++)
            if (graph->nodes.items[i] == handle)
                return graph->nodes.items[i];
    return NULL;
}

/* The struct stays reachable from nowhere: its handle is gone with its place in the graph. */
static void free_node(struct graph_node *node)
{
    work_free(&node->work);
    if (node->child)
        graph_destroy(node->child);
    set_free(&node->needs);
    free(node->param_places);
    free(node);
}

void graph_destroy(struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        free_node(graph->nodes.items[i]);
    set_free(&graph->nodes);
    graph->destroyed = true;
}

void node_destroy(struct graph_node *node)
{
    struct graph *graph = node->graph;
    set_remove(&graph->nodes, node);
    for (size_t i = 0; i < graph->nodes.count; i++)
        set_remove(&graph->nodes.items[i]->needs, node);
    free_node(node);
}

struct graph_node *graph_add(struct graph *graph, struct work *work, const struct node_set *needs)
{
    struct graph_node *node = mem_zero(1, sizeof *node);
    node->graph = graph;
    node->work = *work;
    *work = (struct work){.kind = WORK_EMPTY};
    if (needs)
        set_copy(&node->needs, needs);
    set_add(&graph->nodes, node);
    return node;
}

void graph_number(const struct graph *graph)
{
    for (size_t i = 0; i < graph->nodes.count; i++)
        graph->nodes.items[i]->mark = (uint32_t)i;
}

struct graph *graph_clone(const struct graph *graph, bool inner)
{
    struct graph *clone = graph_new(inner);
    graph_number(graph);
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct graph_node *node = graph->nodes.items[i];
        struct work work;
        work_clone(&work, &node->work);
        struct graph_node *copy = graph_add(clone, &work, NULL);
        copy->origin = graph->nodes.items[i];
        copy->disabled = node->disabled;
        if (node->child)
            copy->child = graph_clone(node->child, true);
    }
    /* A child's clone numbers other nodes only; these still have their places. */
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const struct node_set *needs = &graph->nodes.items[i]->needs;
        for (size_t k = 0; k < needs->count; k++)
            set_add(&clone->nodes.items[i]->needs, clone->nodes.items[needs->items[k]->mark]);
    }
    return clone;
}

struct graph_node *graph_node_of(const struct graph *clone, const struct graph_node *origin)
{
    for (size_t i = 0; i < clone->nodes.count; i++)
        if (clone->nodes.items[i]->origin == origin)
            return clone->nodes.items[i];
    return NULL;
}

uint32_t *graph_order(const struct graph *graph)
{
    size_t count = graph->nodes.count, placed = 0;
    uint32_t *order = mem_zero(count + 1, sizeof *order);
    bool *done = mem_zero(count + 1, sizeof *done);
    graph_number(graph);
    for (bool moved = true; moved && placed < count;) {
        moved = false;
        for (size_t i = 0; i < count; i++) {
            const struct node_set *needs = &graph->nodes.items[i]->needs;
            bool ready = !done[i];
            for (size_t k = 0; ready && k < needs->count; k++)
                ready = done[needs->items[k]->mark];
            if (!ready)
                continue;
            done[i] = moved = true;
            order[placed++] = (uint32_t)i;
        }
    }
    free(done);
    if (placed == count)
        return order;
    free(order);
    return NULL;
}

enum node_type node_type(const struct graph_node *node)
{
    if (node->child)
        return NODE_GRAPH;
    switch (node->work.kind) {
    case WORK_KERNEL:
        return NODE_KERNEL;
    case WORK_COPY:
        return NODE_MEMCPY;
    case WORK_SET:
        return NODE_MEMSET;
    case WORK_HOST:
        return NODE_HOST;
    case WORK_WAIT:
        return NODE_WAIT;
    case WORK_RECORD:
        return NODE_RECORD;
    case WORK_ALLOC:
        return NODE_ALLOC;
    case WORK_FREE:
        return NODE_FREE;
    default:
        return NODE_EMPTY;
    }
}

static void forget_all(void)
{
    for (struct graph *graph = graphs; graph; graph = graph->next)
        graph_destroy(graph); /* children too, so only then: */
    for (struct graph *next; graphs; graphs = next) {
        next = graphs->next;
        free(graphs);
    }
}

/* A runtime that is opened anew knows nothing of the one before. */
void sim_install_graphs(struct runtime *out)
{
    graph_install_captures(out);
    graph_install_execs(out);
    forget_all();
    graph_install_nodes(out);
    graph_install_params(out);
}

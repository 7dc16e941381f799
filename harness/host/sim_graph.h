/* Graphs of the simulated runtime inside: what sim_graph*.c share. sim.h has what the others see.
 *
 * A graph owns its nodes, a node its work and its child graph. An executable graph owns a clone of
 * the graph that it was made from; a node of a clone knows the node it was made of. What was
 * destroyed keeps its place, without content, so that its handle is recognised as no longer good.
 *
 * Everything here expects the simulation's lock. Nothing here runs work. */
#ifndef STRIDE_HOST_SIM_GRAPH_H
#define STRIDE_HOST_SIM_GRAPH_H

#include "sim.h"

enum { CUDA_ILLEGAL_STATE = 401 };

enum node_type { /* cudaGraphNodeType */
                 NODE_KERNEL = 0,
                 NODE_MEMCPY = 1,
                 NODE_MEMSET = 2,
                 NODE_HOST = 3,
                 NODE_GRAPH = 4,
                 NODE_EMPTY = 5,
                 NODE_WAIT = 6,
                 NODE_RECORD = 7,
                 NODE_ALLOC = 10,
                 NODE_FREE = 11,
};

struct node_set { /* each once, in the order they came */
    struct graph_node **items;
    size_t count, capacity;
};

struct graph_node {
    struct graph *graph;
    struct graph_node *origin; /* in the graph that this one was cloned from */
    struct work work;          /* WORK_EMPTY for a child graph */
    struct graph *child;
    struct node_set needs;
    bool disabled;       /* in an executable graph */
    void **param_places; /* what cudaGraphKernelNodeGetParams hands out */
    uint32_t mark;       /* scratch of whoever walks the graph */
};

struct graph {
    struct node_set nodes;
    bool destroyed;
    bool inner; /* a child's or an executable graph's: no handle of the student's destroys it */
    int line;
    struct graph *next;
};

struct graph_exec {
    struct graph *graph;        /* its own copy ... */
    const struct graph *origin; /* ... of this one */
    struct op *last;            /* the end of its newest launch; a reference */
    struct stream *stream;
    unsigned long long flags;
    bool destroyed;
    int line;
    struct graph_exec *next;
};

bool set_add(struct node_set *set, struct graph_node *node); /* false: it was there */
bool set_has(const struct node_set *set, const struct graph_node *node);
bool set_remove(struct node_set *set, const struct graph_node *node);
void set_copy(struct node_set *out, const struct node_set *set);
void set_free(struct node_set *set);

struct graph *graph_new(bool inner);              /* empty, made by the call in progress */
struct graph *graph_find(const void *handle);     /* NULL: no such graph, or destroyed */
struct graph_node *node_find(const void *handle); /* of a graph that graph_find finds, or inner */
void graph_destroy(struct graph *graph);
void node_destroy(struct graph_node *node);

/* Takes the work over. NULL needs: none. */
struct graph_node *graph_add(struct graph *graph, struct work *work, const struct node_set *needs);
struct graph *graph_clone(const struct graph *graph, bool inner);
struct graph_node *graph_node_of(const struct graph *clone, const struct graph_node *origin);

/* Numbers the nodes (mark) by their place in nodes. */
void graph_number(const struct graph *graph);

/* The places in nodes in an order in which each comes after what it needs; free() it. NULL: there
 * is a circle. */
uint32_t *graph_order(const struct graph *graph);

/* Does the graph allocate or free memory? Its launch does so: a cudaError_t. */
bool graph_has_memory(const struct graph *graph);
int graph_take_memory(const struct graph *graph, bool frees_first);

enum node_type node_type(const struct graph_node *node);

/* cudaKernelNodeParams and its like, as the toolkit lays them out. */
struct kernel_params {
    void *function;
    struct dim3 grid, block;
    unsigned shared_bytes;
    void **params, **extra;
};
struct memset_params {
    void *to;
    size_t pitch;
    unsigned value, element_bytes;
    size_t width, height; /* in elements; rows */
};
struct host_params {
    void (*function)(void *user);
    void *user;
};
struct position {
    size_t x, y, z;
};
struct pitched {
    void *at;
    size_t pitch, width, height;
};
struct memcpy_params { /* cudaMemcpy3DParms */
    void *from_array;
    struct position from_position;
    struct pitched from;
    void *to_array;
    struct position to_position;
    struct pitched to;
    struct position extent;
    int kind;
};

/* Fill work from what the student passed; a cudaError_t. */
int graph_kernel_work(struct work *out, const struct kernel_params *params);
int graph_memset_work(struct work *out, const struct memset_params *params);
int graph_host_work(struct work *out, const struct host_params *params);
int graph_memcpy_work(struct work *out, const struct memcpy_params *params);
int graph_memcpy1d_work(struct work *out, void *to, const void *from, size_t bytes, int kind);

/* cudaGraphNodeParams: the work and, for a child graph, the graph that is asked for. */
int graph_any_work(struct work *out, struct graph **child, const void *params);

/* Puts another work of the same kind in place of the node's; takes it over. */
int node_set_work(struct graph_node *node, struct work *work);

/* The answer to a graph's launch into a stream that is captured; -1 when it isn't. */
int capture_takes_graph(const struct stream *stream);

void graph_install_captures(struct runtime *out);
void graph_install_nodes(struct runtime *out);
void graph_install_params(struct runtime *out);
void graph_install_execs(struct runtime *out);

#endif

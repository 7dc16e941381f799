/* Captures inside: what sim_graph_capture.c, which begins and ends them, and sim_graph_rules.c,
 * which puts work into them and says what they forbid, share.
 *
 * A capture has a place for each stream that takes part: the set of nodes that the stream's next
 * node will need. Captures that have ended stay known, without content, for the events that were
 * recorded in them.
 *
 * Nothing here runs work. */
#ifndef STRIDE_HOST_SIM_GRAPH_CAPTURE_H
#define STRIDE_HOST_SIM_GRAPH_CAPTURE_H

#include "sim_graph.h"

#include <pthread.h>

enum capture_mode { MODE_GLOBAL, MODE_THREAD, MODE_RELAXED }; /* cudaStreamCaptureMode */

struct place {
    struct stream *stream;
    struct node_set set;
};

struct mark {
    const struct event *event;
    struct node_set set;
};

struct capture {
    struct graph *graph;
    struct stream *origin;
    int mode, line;
    int spoilt_line;
    bool invalid, ended, own_graph;
    pthread_t thread;
    uint64_t id;
    struct place *places;
    size_t place_count;
    struct mark *marks;
    size_t mark_count;
    struct node_set before; /* what was in the graph when it began */
    struct node_set loose;  /* taken out of a place by the student: nobody has to join them */
    struct capture *next;
};

extern struct capture *capture_list;
extern _Thread_local int capture_thread_mode; /* cudaThreadExchangeStreamCaptureMode */

bool capture_is_on(const struct capture *capture); /* NULL is not */
/* The call in progress breaks a rule: from now on the capture can only be ended. Returns result. */
int capture_spoil(struct capture *capture, int result);
int capture_spoilt(const struct capture *capture); /* what calls get then */
struct place *capture_place(const struct capture *capture, const struct stream *stream);
struct place *capture_add_place(struct capture *capture, struct stream *stream);
struct capture *capture_blocking(void); /* one that the legacy default stream would wait for */

#endif

/* Which lanes of a warp run where: paths, joins, calls, parking and waking. See exec.h for the
 * model.
 *
 * Everything works on the warp's own arrays. The functions that return an operation return the next
 * one to run, possibly of another path, or NULL when the warp has to stop.
 *
 * None of it knows what an operation computes or what a barrier means. */
#ifndef STRIDE_PTX_CONTROL_H
#define STRIDE_PTX_CONTROL_H

#include "harness/ptx/exec.h"

/* A call as decoded: where its arguments and results lie in the caller's .param space. The callee's
 * places are its own (struct func). */
struct call_site {
    const struct func *callee; /* NULL: through a pointer */
    const struct param_place *arguments, *results;
    uint32_t argument_count, result_count;
};

/* Starts all live lanes of a warp at the first operation of its entry, in `frame`. */
void path_start(struct warp *w, struct frame *frame);

/* The lanes in `taken` go to op->target, the others to op + 1; op->extra is the code_block. */
const struct op *path_branch(struct warp *w, const struct op *op, uint32_t taken);

/* Lanes of the current path split over several targets; masks must cover the path's lanes. */
const struct op *path_scatter(struct warp *w, const struct op *op, const struct op *const *targets,
                              const uint32_t *masks, unsigned count);

/* The lanes of w->mask part into several paths that all stand at `op` again. */
const struct op *path_part(struct warp *w, const struct op *op, const uint32_t *masks,
                           unsigned count);

/* The current path stands at the head of a block where lanes may wait for each other. */
const struct op *path_arrive(struct warp *w, const struct op *op);

/* The lanes in w->mask end (exit), or leave the function (ret). */
const struct op *path_exit(struct warp *w, const struct op *op);
const struct op *path_return(struct warp *w, const struct op *op);
const struct op *path_call(struct warp *w, const struct op *op, const struct func *callee);

/* The lanes outside of `mask` become a path of their own that runs op again, the others go on. */
void path_split_off(struct warp *w, const struct op *op, uint32_t mask);

/* The current path waits on `op`, which will be run again once path_wake was called. `members`:
 * lanes of a warp-wide operation, 0 for other waits. */
const struct op *path_park(struct warp *w, const struct op *op, uint32_t members);

/* The current path stays ready but gives its turn away; it goes on with `op` later. Returns NULL.
 */
const struct op *path_yield(struct warp *w, const struct op *op);

/* Continues the path whose turn it is, or returns NULL when none is ready. */
const struct op *path_resume(struct warp *w);

bool path_any_ready(const struct warp *w);

/* For a warp-wide operation that names `members`: true when every living lane of them is there;
 * then w->mask and w->active are all of them until collective_end. False: *next says how to go on.
 */
bool collective_begin(struct warp *w, const struct op *op, uint32_t members,
                      const struct op **next);
const struct op *collective_end(struct warp *w, const struct op *op);

/* Wakes one path that waits for lanes which will never come. False when there is none. */
bool collective_release(struct block *block);

/* Gives the activations of a finished warp back. */
void path_finish(struct warp *w);

enum { FRAME_MAX_LOCAL = 512 * 1024 }; /* bytes of local memory a thread can have */

/* frame.c */
struct frame *frame_open(struct warp *w, const struct func *func, struct frame *caller);
void frame_close(struct warp *w, struct frame *frame);

#endif

/* A worker's life, between launch.c, which starts workers, and run.c, which is what they do.
 *
 * The struct run outlives its workers; a worker owns its block and everything below it.
 *
 * For these two files only. */
#ifndef STRIDE_PTX_RUN_H
#define STRIDE_PTX_RUN_H

#include "harness/ptx/exec.h"

enum { MAX_THREADS_PER_BLOCK = 1024 };

struct module;

const struct module *run_module(const struct run *run);
uint64_t run_now_ns(void);
enum ptx_isa run_pick_isa(enum ptx_isa asked); /* the best this CPU has, at most what was asked */

void run_open_worker(struct worker *worker, struct run *run);
void run_close_worker(struct worker *worker);

/* Takes blocks until there are none left or one has stopped the launch; a thread's function. */
void *run_work(void *worker);

#endif

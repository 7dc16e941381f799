/* Virtual time: how long things would take, and which wait for which.
 *
 * The machine is an H200 in miniature: all its rates divided by CLOCK_SCALE, its fixed costs as
 * they are. A problem that the interpreter can afford then looks like one that is CLOCK_SCALE times
 * as large on the card. There are two copy engines, one for each direction, and the SMs; kernels of
 * different streams share the SMs only when they are too small to fill them.
 *
 * It is deterministic and says nothing about this computer. */
#ifndef STRIDE_HOST_SIM_CLOCK_H
#define STRIDE_HOST_SIM_CLOCK_H

#include "harness/ptx/ptx.h"

#include <stddef.h>
#include <stdint.h>

struct op;

/* Measured on one H200 with PCIe 5 (docs/host-labs.md, "What an H200 does"), in bytes per
 * microsecond and microseconds. */
#define CLOCK_SCALE            64.0
#define CLOCK_PINNED_RATE      (55000.0 / CLOCK_SCALE)
#define CLOCK_PAGEABLE_RATE    (8900.0 / CLOCK_SCALE)
#define CLOCK_DEVICE_COPY_RATE (2000000.0 / CLOCK_SCALE) /* read and written: 4 TB/s in all */
#define CLOCK_MEMORY_RATE      (4200000.0 / CLOCK_SCALE) /* a kernel's global memory */
#define CLOCK_INSTRUCTION_RATE                                                                     \
    (845000.0 / CLOCK_SCALE) /* warp instructions: 2,048 FMAs on 16 Mi floats in 1.27 ms */
#define CLOCK_RESIDENT_THREADS (132 * 2048 / CLOCK_SCALE)
#define CLOCK_HOST_COPY_RATE   (8000.0 / CLOCK_SCALE) /* memcpy by one thread */

#define CLOCK_LAUNCH_US       4.5  /* 40 launches in 190 us */
#define CLOCK_COPY_US         3.0  /* the call of an asynchronous copy or memset */
#define CLOCK_GRAPH_US        7.0  /* cudaGraphLaunch; 40 nodes in 55 us ... */
#define CLOCK_NODE_US         1.2  /* ... so each of them takes this at least, as any kernel does */
#define CLOCK_COPY_LATENCY_US 2.0  /* 64 chunks instead of 16 cost 0.3 ms of 1.6 ms */
#define CLOCK_CALLBACK_US     10.0 /* a host function, at least */
#define CLOCK_FIRST_US        100.0 /* the first launch of a kernel loads it */

enum clock_call { CLOCK_LAUNCH, CLOCK_COPY, CLOCK_GRAPH };

/* The host makes such a call, or works for so long (a memcpy of the student's). */
void clock_call(enum clock_call call);
void clock_host(double us);

/* The host copies pageable memory into a staging buffer, or waits until an op has taken it all. */
void clock_stage(size_t bytes);
void clock_wait_staged(const struct op *op, const char *what, int line);

/* How long a kernel takes whose launch did this. */
double clock_kernel_us(const struct ptx_counters *counters);

/* Gives an op that has run its place: after what it needs and its submission, when its engine is
 * free. `work_us` is how long it takes; negative: the clock knows (copies, memsets, host
 * functions). Reports its span. */
void clock_place(struct op *op, double work_us);

#endif

/* What the student's host code does besides calling the CUDA runtime, as the simulated runtime sees
 * it: copying memory, reading clocks, starting threads.
 *
 * Each thread has its own virtual time: it starts with that of the thread that started it, and who
 * joins it, or is woken by it, has waited for it. Until sim_host_open, and on a GPU, everything is
 * as it always is.
 *
 * It never changes a result: memory is copied as asked for, threads are real threads. */
#ifndef STRIDE_HOST_SIM_HOST_H
#define STRIDE_HOST_SIM_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* From now on what is copied is looked at, and clocks tell virtual time. */
void sim_host_open(void);
bool sim_host_is_open(void);

/* memmove and memset for the student's code; `frame` is the caller's __builtin_frame_address(0).
 * Ranges in flight are reported, and the thread's time goes on. */
void *host_move(void *to, const void *from, size_t bytes, const void *frame);
void *host_set(void *to, int value, size_t bytes, const void *frame);

/* Where a system call may read or write bytes of the student's: a page that is closed to the
 * student is closed to the kernel, too. And that it did so with these, as host_move says it. */
void *host_io_view(uintptr_t at, size_t bytes);
void host_io_done(const void *at, size_t bytes, bool write, const void *frame);

/* The calling thread's virtual time, on the scale of CLOCK_MONOTONIC; reading it costs a little, so
 * that a loop that waits for a time ends. */
void host_read_clock(struct timespec *out, bool realtime);

/* The thread has slept, or worked, for so long. */
void host_pass(double us);

/* sim.now_us is the calling thread's time while it holds the simulation's lock. */
void host_clock_reset(void); /* everyone's time is 0 again */
void host_clock_take(void);  /* from the thread into sim.now_us ... */
void host_clock_give(void);  /* ... and back */
void host_hold(double us);   /* no thread's time is earlier any more */

/* Threads: what to hand to the real pthread_create in place of the student's function, and what a
 * join with it does. free() is not needed. */
struct host_thread;
struct host_thread *host_thread_new(void *(*function)(void *), void *argument);
void *host_thread_run(void *thread); /* the function to start, with a struct host_thread */
void host_thread_started(struct host_thread *thread, unsigned long id);
void host_thread_forget(struct host_thread *thread); /* it was not started after all */
void host_thread_joined(unsigned long id);

/* A condition variable is signalled; a thread goes on that waited for it: not before that. */
void host_signalled(const void *condition);
void host_woken(const void *condition);

#endif

#include "sim.h"

#include "lines.h"
#include "sim_host.h"

#include "harness/base/buf.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct sim sim;

/* Recursive: what a host function calls is refused, but it is refused under the lock. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static _Thread_local int last_error;
static unsigned depth;      /* of the lock */
static atomic_uint entries; /* how often it was taken, and given back */

enum { CALL_NS = 300 }; /* a call that does nothing much */

static int enter(void)
{
    sim_lock();
    if (host_function_calls())
        return CUDA_NOT_PERMITTED;
    clock_host(CALL_NS / 1000.0);
    return CUDA_OK;
}

int sim_enter(void)
{
    int result = enter();
    return result ? result : sim.sticky;
}

int sim_leave(int result)
{
    if (result && result != CUDA_NOT_READY) /* which is an answer, and not kept */
        last_error = result;
    sim_unlock();
    return result;
}

/* Each thread of the host has its own time. */
void sim_lock(void)
{
    pthread_mutex_lock(&lock);
    if (depth++)
        return;
    atomic_fetch_add(&entries, 1);
    host_clock_take();
}

void sim_unlock(void)
{
    if (!--depth) {
        host_clock_give();
        atomic_fetch_add(&entries, 1);
    }
    pthread_mutex_unlock(&lock);
}

unsigned sim_entries(void)
{
    return atomic_load(&entries);
}

int sim_call_line(void)
{
    const void *site = calls_site();
    return sim.options.line_of ? sim.options.line_of(site) : lines_of_call(site);
}

void sim_why(const char *format, ...)
{
    char text[240];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    calls_explain(text);
}

/* ---- cudaGetLastError and its like */

static int get_last_error(void)
{
    int result = sim.sticky ? sim.sticky : last_error;
    last_error = CUDA_OK;
    return result;
}

static int peek_at_last_error(void)
{
    return sim.sticky ? sim.sticky : last_error;
}

static api_text error_name(int error)
{
    return cuda_error_name(error);
}

static api_text error_text(int error)
{
    return cuda_error_text(error);
}

void sim_open_runtime(struct runtime *out, const struct sim_options *options)
{
    sim_lock(); /* sim_idle.c's thread may be there from before */
    sim = (struct sim){.options = *options};
    host_clock_reset();
    *out = (struct runtime){
        .cudaGetLastError = get_last_error,
        .cudaPeekAtLastError = peek_at_last_error,
        .cudaGetErrorName = error_name,
        .cudaGetErrorString = error_text,
    };
    report_open();
    streams_open();
    sim_install_memory(out);
    sim_install_pools(out);
    sim_install_copies(out);
    sim_install_streams(out);
    sim_install_events(out);
    sim_install_launches(out);
    sim_install_device(out);
    sim_install_graphs(out);
    sim_install_twins(out);
    sim_unlock();
}

#include "sim_host.h"

#include "lines.h"
#include "sim.h"
#include "sim_clock.h"
#include "sim_guard.h"

#include "harness/base/buf.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* What reading a clock takes: measured on common x86-64 servers, a call into the vDSO. */
#define CLOCK_READ_US 0.025

static atomic_bool is_open;
static struct timespec opened_monotonic, opened_realtime;

bool sim_host_is_open(void)
{
    return atomic_load_explicit(&is_open, memory_order_relaxed);
}

/* ---- clocks */

static _Thread_local struct {
    double us;
    unsigned epoch;
} mine;
static atomic_uint epoch = 1;
static _Atomic double held_us;   /* no thread's time is earlier */
static _Atomic double latest_us; /* of any thread: where one starts that nobody started */

static double *my_us(void)
{
    unsigned now = atomic_load(&epoch);
    if (mine.epoch != now) {
        mine.us = atomic_load(&latest_us);
        mine.epoch = now;
    }
    double held = atomic_load(&held_us);
    if (mine.us < held)
        mine.us = held;
    return &mine.us;
}

static void wait_until(double us)
{
    if (*my_us() < us)
        *my_us() = us;
}

void host_pass(double us)
{
    *my_us() += us;
}

void host_hold(double us)
{
    if (atomic_load(&held_us) < us)
        atomic_store(&held_us, us);
}

void host_clock_reset(void)
{
    atomic_store(&held_us, 0);
    atomic_fetch_add(&epoch, 1);
    atomic_store(&latest_us, 0);
}

void host_clock_take(void)
{
    sim.now_us = *my_us();
}

void host_clock_give(void)
{
    *my_us() = sim.now_us;
    if (sim.now_us > atomic_load(&latest_us))
        atomic_store(&latest_us, sim.now_us);
}

void host_read_clock(struct timespec *out, bool realtime)
{
    host_pass(CLOCK_READ_US);
    const struct timespec *from = realtime ? &opened_realtime : &opened_monotonic;
    double ns = (double)from->tv_nsec + *my_us() * 1000;
    *out = (struct timespec){.tv_sec = from->tv_sec + (time_t)(ns / 1e9),
                             .tv_nsec = (long)(ns - 1e9 * (double)(time_t)(ns / 1e9))};
}

/* ---- threads */

struct host_thread {
    void *(*function)(void *);
    void *argument;
    double us; /* its time at the start, then at the end */
    unsigned epoch;
    unsigned long id;
    bool started, ended;
    struct host_thread *next;
};

static pthread_mutex_t threads_lock = PTHREAD_MUTEX_INITIALIZER;
static struct host_thread *threads;

static void unlink_thread(const struct host_thread *thread)
{
    for (struct host_thread **at = &threads; *at; at = &(*at)->next)
        if (*at == thread) {
            *at = thread->next;
            return;
        }
}

struct host_thread *host_thread_new(void *(*function)(void *), void *argument)
{
    struct host_thread *thread = mem_zero(1, sizeof *thread);
    *thread = (struct host_thread){
        .function = function, .argument = argument, .us = *my_us(), .epoch = mine.epoch};
    pthread_mutex_lock(&threads_lock);
    thread->next = threads;
    threads = thread;
    pthread_mutex_unlock(&threads_lock);
    return thread;
}

void host_thread_started(struct host_thread *thread, unsigned long id)
{
    pthread_mutex_lock(&threads_lock);
    thread->id = id;
    thread->started = true;
    pthread_mutex_unlock(&threads_lock);
}

void host_thread_forget(struct host_thread *thread)
{
    pthread_mutex_lock(&threads_lock);
    unlink_thread(thread);
    pthread_mutex_unlock(&threads_lock);
    free(thread);
}

/* Also when it leaves by pthread_exit or is cancelled. */
static void end_thread(void *ending)
{
    struct host_thread *thread = ending;
    pthread_mutex_lock(&threads_lock);
    thread->us = *my_us();
    thread->ended = true;
    pthread_mutex_unlock(&threads_lock);
}

void *host_thread_run(void *starting)
{
    struct host_thread *thread = starting;
    void *result;
    mine.us = thread->us;
    mine.epoch = thread->epoch;
    pthread_cleanup_push(end_thread, thread);
    result = thread->function(thread->argument);
    pthread_cleanup_pop(1);
    return result;
}

void host_thread_joined(unsigned long id)
{
    struct host_thread *found = NULL;
    pthread_mutex_lock(&threads_lock);
    for (struct host_thread *thread = threads; thread && !found; thread = thread->next)
        if (thread->started && thread->ended && thread->id == id)
            found = thread;
    if (found)
        unlink_thread(found);
    pthread_mutex_unlock(&threads_lock);
    if (!found)
        return;
    if (found->epoch == atomic_load(&epoch))
        wait_until(found->us);
    free(found);
}

void sim_host_open(void)
{
    clock_gettime(CLOCK_MONOTONIC, &opened_monotonic);
    clock_gettime(CLOCK_REALTIME, &opened_realtime);
    atomic_store(&is_open, true);
}

/* Conditions that share a place only make a thread wait longer than it would. */
enum { CONDITIONS = 1024 };
static struct {
    double us;
    unsigned epoch;
} signals[CONDITIONS];

static size_t condition_place(const void *condition)
{
    return ((uintptr_t)condition >> 4) * 0x9e3779b97f4a7c15u >> 54;
}

void host_signalled(const void *condition)
{
    size_t at = condition_place(condition);
    double us = *my_us();
    pthread_mutex_lock(&threads_lock);
    if (signals[at].epoch != mine.epoch || signals[at].us < us) {
        signals[at].us = us;
        signals[at].epoch = mine.epoch;
    }
    pthread_mutex_unlock(&threads_lock);
}

void host_woken(const void *condition)
{
    size_t at = condition_place(condition);
    pthread_mutex_lock(&threads_lock);
    double us = signals[at].epoch == atomic_load(&epoch) ? signals[at].us : 0;
    pthread_mutex_unlock(&threads_lock);
    wait_until(us);
}

/* ---- copying, reading and writing files */

static void note_range(const void *at, size_t bytes, bool write, const void *frame)
{
    if (!guard_idle())
        guard_touch(at, bytes, write, lines_of_call(lines_site(frame)));
}

void *host_move(void *to, const void *from, size_t bytes, const void *frame)
{
    if (!sim_host_is_open())
        return memmove(to, from, bytes);
    note_range(from, bytes, false, frame);
    note_range(to, bytes, true, frame);
    memmove(guard_view(to, bytes), guard_view(from, bytes), bytes);
    host_pass((double)bytes / CLOCK_HOST_COPY_RATE);
    return to;
}

void *host_set(void *to, int value, size_t bytes, const void *frame)
{
    if (!sim_host_is_open())
        return memset(to, value, bytes);
    note_range(to, bytes, true, frame);
    memset(guard_view(to, bytes), value, bytes);
    host_pass((double)bytes / CLOCK_HOST_COPY_RATE);
    return to;
}

void *host_io_view(uintptr_t at, size_t bytes)
{
    return sim_host_is_open() ? guard_view((void *)at, bytes) : (void *)at;
}

void host_io_done(const void *at, size_t bytes, bool write, const void *frame)
{
    if (!sim_host_is_open() || !bytes)
        return;
    note_range(at, bytes, write, frame);
    host_pass((double)bytes / CLOCK_HOST_COPY_RATE);
}

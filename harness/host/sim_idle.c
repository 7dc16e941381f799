/* Work runs when something waits for it. A host that waits for nothing but a flag, which a host
 * function is to set, would wait for ever; so a thread of Stride's own looks whether nobody calls
 * the runtime while a host function is queued. Then the one that was queued first runs, with what
 * it needs, and the host has waited for it: in virtual time, too.
 *
 * That is one at a time, so that what was not waited for still runs as late as can be. What comes
 * out does not depend on when this thread looks as long as the host really only waits. While a host
 * function runs here, calls of other threads wait for its end. */
#include "sim.h"

#include "sim_host.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

/* How long nobody calls: while the program computes, or spins, in time of the processor, so that a
 * busy machine does not count; while it sleeps, in looks. */
enum { LOOK_MS = 10, SPUN_MS = 30, SLEPT_LOOKS = 20 };

static double processor_ms(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &spent);
    return (double)spent.tv_sec * 1e3 + (double)spent.tv_nsec / 1e6;
}

/* Nobody called since sim_entries was `seen`, and nobody is in a call. */
static void run_one(unsigned seen)
{
    sim_lock();
    if (sim_entries() == seen + 1 && sim_finish_host_function()) /* nobody but us */
        host_hold(sim.now_us);
    sim_unlock();
}

static void *watch(void *unused)
{
    const struct timespec length = {.tv_nsec = LOOK_MS * 1000000L};
    double since_ms = processor_ms();
    unsigned seen = sim_entries(), looks = 0;
    (void)unused;
    for (;;) {
        nanosleep(&length, NULL);
        bool idle = sim_entries() == seen;
        if (idle && ++looks < SLEPT_LOOKS && processor_ms() - since_ms < SPUN_MS)
            continue;
        if (idle)
            run_one(seen);
        seen = sim_entries();
        since_ms = processor_ms();
        looks = 0;
    }
    return NULL;
}

static void start(void)
{
    static const int faults[] = {SIGSEGV, SIGBUS, SIGTRAP, SIGILL, SIGFPE, SIGABRT};
    sigset_t most, before;
    pthread_t thread;
    sigfillset(&most); /* the student's threads are those that are asked where they are */
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigdelset(&most, faults[i]);
    pthread_sigmask(SIG_SETMASK, &most, &before);
    if (pthread_create(&thread, NULL, watch, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void sim_watch(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, start);
}

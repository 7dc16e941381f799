/* Host functions run where the device would let them run: here, in the thread that waits, while
 * that thread holds the lock. So they have to come back. On a GPU a thread of the driver's runs
 * them, in which nobody catches what they throw and from which no longjmp leads back; what leaves
 * one here, to a place that the waiting thread has further out, has to end the program too. An
 * exception and the end of the thread pass `came_back` on their way, for which this file is
 * compiled with -fexceptions; a longjmp passes nothing, and the next call finds its stack shorter
 * than that of the function that is said to run. */
#include "sim.h"

#include "sim_host.h"

#include <stdlib.h>

static _Thread_local struct {
    const struct op *op; /* NULL outside */
    uintptr_t frame;     /* of the call: those of the function lie below */
} running;

_Noreturn static void leave(void)
{
    if (sim.options.function_left)
        sim.options.function_left(running.op->work.line);
    abort();
}

static void came_back(const bool *back)
{
    if (!*back)
        leave();
}

static void call(const struct host_call *call)
{
    bool back __attribute__((cleanup(came_back))) = false;
    if (call->callback)
        call->callback(call->stream, sim.sticky, call->user);
    else
        call->function(call->user);
    back = true;
}

/* The time that it takes is its own, not that of the thread. */
double host_function_run(const struct op *op)
{
    double thread_us = sim.now_us;
    running.op = op;
    running.frame = (uintptr_t)__builtin_frame_address(0);
    order_suspend(op);
    host_clock_give();
    call(&op->work.host);
    host_clock_take();
    order_resume();
    running.op = NULL;
    double took_us = sim.now_us - thread_us;
    sim.now_us = thread_us;
    return took_us > CLOCK_CALLBACK_US ? took_us : CLOCK_CALLBACK_US;
}

bool host_function_calls(void)
{
    if (running.op && (uintptr_t)__builtin_frame_address(0) >= running.frame)
        leave();
    return running.op != NULL;
}

void host_function_over(void)
{
    if (running.op)
        leave();
}

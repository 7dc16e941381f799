/* Nothing is captured yet. */
#include "sim.h"

int capture_takes_work(struct stream *stream, struct work *work)
{
    (void)stream, (void)work;
    return -1;
}

int capture_takes_record(struct stream *stream, struct event *event)
{
    (void)stream, (void)event;
    return -1;
}

int capture_takes_wait(struct stream *stream, struct event *event)
{
    (void)stream, (void)event;
    return -1;
}

int capture_forbids(enum capture_sin sin, struct stream *stream, struct event *event)
{
    (void)sin, (void)stream, (void)event;
    return -1;
}

void sim_install_graphs(struct runtime *out)
{
    (void)out;
}

/* How to read this file: measure.c decides how many rounds; each round is one command to the child.
 * `tick` hears what the child says of it. */
#include "host_timing.h"

#include "emit.h"
#include "limits.h"
#include "measure.h"
#include "nvml.h"
#include "turn.h"

#include "harness/base/clock.h"
#include "harness/base/msg.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const double TURN_MS = 8000;   /* most to wait for another Stride */
static const double MEASURE_MS = 900; /* of the rounds */
static const double ALL_MS = 12000;   /* of everything: the reader has a deadline */

struct timer {
    const struct host_timing_request *request;
    struct host_timing *out;
    struct measure measure;
    struct nvml_state state;
    double ms[MEASURE_KINDS], bus, bytes_moved;
    double end_ms;
};

static void tick(void *context, const json_t *event)
{
    struct timer *timer = context;
    const json_t *times = json_object_get(event, "times");
    const json_t *limit = json_object_get(event, "limit"),
                 *moved = json_object_get(event, "bytes_moved");
    for (int kind = 0; times && kind < MEASURE_KINDS; kind++)
        timer->ms[kind] = json_number_value(json_array_get(times, (size_t)kind));
    timer->bus = limit ? json_number_value(limit) : timer->bus;
    timer->bytes_moved = moved ? json_number_value(moved) : timer->bytes_moved;
}

/* One command. False: it failed, and what it said is the timing's verdict or the reason to skip. */
static bool ask(struct timer *timer, json_t *command, host_listener *listener, void *context)
{
    const struct host_timing_request *request = timer->request;
    struct host_outcome outcome;
    host_child_do(request->child, command, request->call_ms, timer->end_ms - clock_ms(), listener,
                  context, &outcome);
    if (outcome.verdict == VERDICT_PASS)
        return true;
    if (outcome.verdict == VERDICT_CANNOT_RUN)
        snprintf(timer->out->skip, sizeof timer->out->skip, "%s", outcome.summary);
    else
        snprintf(timer->out->summary, sizeof timer->out->summary,
                 _("N = %llu, while being timed: %s"),
                 (unsigned long long)request->about->time_size, outcome.summary);
    timer->out->verdict = outcome.verdict == VERDICT_CANNOT_RUN ? VERDICT_PASS : outcome.verdict;
    return false;
}

static json_t *command(const char *what)
{
    return json_pack("{s:s}", "do", what);
}

static bool round_of(void *context, const int order[MEASURE_KINDS], double ms[MEASURE_KINDS])
{
    struct timer *timer = context;
    if (!ask(timer,
             json_pack("{s:s, s:[i, i, i]}", "do", "time-round", "order", order[0], order[1],
                       order[2]),
             tick, timer))
        return false;
    memcpy(ms, timer->ms, sizeof timer->ms);
    return true;
}

static double now_ms(void *context)
{
    (void)context;
    return clock_ms();
}

static enum measure_verdict judge(const struct timer *timer, double of_limit, const char **why)
{
    enum measure_verdict verdict = measure_judge(&timer->measure, MEASURE_NOISY_HOST, why);
    if (of_limit > LIMITS_MOST) {
        *why =
            _("faster than this machine's bus can be: the run cannot have moved all of its data");
        return MEASURE_TOO_NOISY;
    }
    if (verdict == MEASURE_TOO_NOISY)
        nvml_explain_noise(&timer->state, why);
    return verdict;
}

static void summarise(struct timer *timer, enum measure_verdict verdict, const char *why,
                      double of_limit)
{
    char *text = timer->out->summary;
    size_t size = sizeof timer->out->summary;
    measure_summarise(&timer->measure, verdict, why, text, size);
    size_t len = strlen(text);
    if (of_limit > 0 && verdict != MEASURE_TOO_NOISY)
        snprintf(text + len, size - len, _(", %.0f %% of this machine's bus bandwidth"),
                 100 * of_limit);
}

static void write_down(struct timer *timer)
{
    const struct labfile *about = timer->request->about;
    const struct measure *measure = &timer->measure;
    double of_limit = 0;
    json_t *timing = json_object();
    if (measure->rounds)
        measure_write_times(measure, timing);
    json_object_set_new(timing, "n", json_integer((json_int_t)about->time_size));
    json_object_set_new(timing, "rounds", json_integer((json_int_t)measure->rounds));
    if (measure->rounds && about->limit == LIMIT_BUS && timer->bus > 0 && timer->bytes_moved > 0) {
        double achieved =
            limits_achieved(LIMIT_BUS, timer->bytes_moved, 0, measure->each[MEASURE_YOURS].median);
        of_limit = limits_write(&(struct limit){"bus", "GB/s", timer->bus}, achieved, timing);
    }
    const char *why = "";
    enum measure_verdict verdict = judge(timer, of_limit, &why);
    measure_write_verdict(measure, verdict, about->goal, why, timing);
    json_t *clocks = nvml_json(&timer->state);
    if (clocks)
        json_object_set_new(timing, "clocks", clocks);
    summarise(timer, verdict, why, of_limit);
    timer->out->timing = timing;
}

/* The child has a context of its own on the GPU and is no stranger. */
static void read_state(struct timer *timer)
{
    nvml_read(&timer->state, timer->request->uuid);
    if (timer->state.others > 0)
        timer->state.others--;
}

static void run(struct timer *timer)
{
    const struct host_timing_request *request = timer->request;
    struct measure_source source = {.context = timer, .round = round_of, .now_ms = now_ms};
    json_int_t n = (json_int_t)request->about->time_size;
    bool ok = ask(timer, json_pack("{s:s, s:I}", "do", "time-open", "n", n), NULL, NULL) &&
              measure_run(&timer->measure, &source, MEASURE_MS);
    if (!ok)
        return;
    read_state(timer);
    if (!ask(timer, command("time-check"), NULL, NULL))
        return;
    if (request->about->limit == LIMIT_BUS && !ask(timer, command("limit"), tick, timer))
        return;
    if (ask(timer, command("trace"), request->listener, request->context) &&
        ask(timer, command("time-close"), NULL, NULL))
        write_down(timer);
}

static void note_waiting(void *context)
{
    const struct host_timing_request *request = context;
    request->note(request->context, _("another Stride is timing on this GPU; waiting for it"));
}

void host_timing_run(struct host_timing *out, const struct host_timing_request *request)
{
    struct timer timer = {.request = request, .out = out, .end_ms = clock_ms() + ALL_MS};
    struct turn turn;
    *out = (struct host_timing){.verdict = VERDICT_PASS};
    if (turn_take(&turn, NULL, request->uuid, TURN_MS, note_waiting, (void *)(uintptr_t)request) ==
        TURN_BUSY) {
        snprintf(out->skip, sizeof out->skip, "%s",
                 _("another Stride timed on this GPU all the while; run again"));
        return;
    }
    timer.end_ms = clock_ms() + ALL_MS;
    run(&timer);
    measure_free(&timer.measure);
    turn_give(&turn);
}

void host_timing_free(struct host_timing *timing)
{
    json_decref(timing->timing);
    *timing = (struct host_timing){0};
}

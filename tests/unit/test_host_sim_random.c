/* Random programs over streams, events and waits of the host, against an oracle that knows only the
 * rules: which pairs of operations are unordered, by the closure of all "comes before". Every pair
 * that works on the same bytes must be reported, and no other. */
#include "host_sim.h"

enum { STREAMS = 4, EVENTS = 3, OPS = 14, SLOTS = 4, SLOT_BYTES = 64, PROGRAMS = 3000 };

static uint64_t state_of_chance = 1;

static unsigned chance(unsigned below)
{
    state_of_chance = state_of_chance * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state_of_chance >> 33) % below;
}

/* ---- the oracle */

struct step {
    unsigned stream, slot, from;
    bool touches, copies; /* a copy reads `from` as well */
};

static struct {
    struct step steps[OPS];
    bool before[OPS][OPS]; /* [a][b]: a comes before b */
    int last[STREAMS], record[EVENTS];
    bool known[OPS]; /* to the host */
    unsigned count;
} oracle;

static bool is_legacy(unsigned stream)
{
    return stream == 0;
}

static bool is_blocking(unsigned stream)
{
    return stream == 1 || stream == 2;
}

static void edge(int from, unsigned to)
{
    if (from < 0)
        return;
    oracle.before[from][to] = true;
    for (unsigned i = 0; i < oracle.count; i++)
        if (oracle.before[i][from])
            oracle.before[i][to] = true;
}

static unsigned add_step(const struct step *step)
{
    unsigned at = oracle.count++;
    oracle.steps[at] = *step;
    edge(oracle.last[step->stream], at);
    for (unsigned s = 0; s < STREAMS; s++)
        if ((is_legacy(step->stream) && is_blocking(s)) ||
            (is_blocking(step->stream) && is_legacy(s)))
            edge(oracle.last[s], at);
    for (unsigned i = 0; i < at; i++)
        if (oracle.known[i])
            edge((int)i, at);
    oracle.last[step->stream] = (int)at;
    return at;
}

static void host_knows(int at)
{
    if (at < 0)
        return;
    oracle.known[at] = true;
    for (unsigned i = 0; i < oracle.count; i++)
        if (oracle.before[i][at])
            oracle.known[i] = true;
}

static bool clash(const struct step *a, const struct step *b)
{
    if (!a->touches || !b->touches)
        return false;
    if (a->slot == b->slot)
        return true; /* all write their slot */
    return (a->copies && a->from == b->slot) || (b->copies && b->from == a->slot);
}

/* ---- programs */

static void *streams[STREAMS], *events[EVENTS];
static char *memory;

/* Line 100 + i is step i; what is no step has line 1. */
static void random_step(void)
{
    unsigned stream = chance(STREAMS), event = chance(EVENTS), kind = chance(10);
    struct step step = {.stream = stream, .slot = chance(SLOTS), .from = chance(SLOTS)};
    char *slot = memory + step.slot * SLOT_BYTES;
    int line = 100 + (int)oracle.count;
    if (kind < 5) {
        step.touches = true;
        step.copies = chance(2) && step.from != step.slot;
        add_step(&step);
        if (step.copies)
            OK(line, cudaMemcpyAsync(slot, memory + step.from * SLOT_BYTES, SLOT_BYTES, WITHIN,
                                     streams[stream]));
        else
            OK(line, cudaMemsetAsync(slot, 1, SLOT_BYTES, streams[stream]));
    } else if (kind < 7) {
        oracle.record[event] = (int)add_step(&step);
        OK(line, cudaEventRecord(events[event], streams[stream]));
    } else if (kind < 9) {
        int record = oracle.record[event];
        if (record >= 0) {
            unsigned at = add_step(&step);
            edge(record, at);
        }
        OK(line, cudaStreamWaitEvent(streams[stream], events[event], 0));
    } else if (chance(2)) {
        host_knows(oracle.record[event]);
        OK(1, cudaEventSynchronize(events[event]));
    } else {
        if (is_legacy(stream)) { /* an empty piece of work in it, which waits for the others */
            if (oracle.count == OPS)
                return;
            add_step(&step);
        }
        host_knows(oracle.last[stream]);
        OK(1, cudaStreamSynchronize(streams[stream]));
    }
}

static bool reported(int a, int b)
{
    size_t i;
    json_t *h;
    json_array_foreach(host_sim_found.hazards, i, h) {
        json_int_t line = json_integer_value(json_object_get(h, "line"));
        json_int_t other = json_integer_value(json_object_get(h, "other_line"));
        if ((line == a && other == b) || (line == b && other == a))
            return true;
    }
    return false;
}

static unsigned hold_against_oracle(unsigned program)
{
    unsigned pairs = 0;
    for (unsigned a = 0; a < oracle.count; a++) {
        for (unsigned b = a + 1; b < oracle.count; b++) {
            bool want = clash(&oracle.steps[a], &oracle.steps[b]) && !oracle.before[a][b];
            bool got = reported(100 + (int)a, 100 + (int)b);
            if (want != got)
                print_message("program %u, steps %u and %u: %s\n", program, a, b,
                              want ? "missed" : "invented");
            assert_true(want == got);
            pairs += want;
        }
    }
    assert_int_equal(json_array_size(host_sim_found.hazards), pairs);
    return pairs;
}

static void random_programs(void **state)
{
    unsigned pairs = 0, clean = 0;
    (void)state;
    memory = device_new(SLOTS * SLOT_BYTES);
    OK(1, cudaMemset(memory, 0, SLOTS * SLOT_BYTES));
    streams[0] = NULL;
    streams[1] = stream_new(0);
    streams[2] = stream_new(0);
    streams[3] = stream_new(NON_BLOCKING);
    for (unsigned program = 0; program < PROGRAMS; program++) {
        memset(&oracle, 0, sizeof oracle);
        memset(oracle.last, -1, sizeof oracle.last);
        memset(oracle.record, -1, sizeof oracle.record);
        for (unsigned i = 0; i < EVENTS; i++)
            events[i] = event_new();
        OK(1, cudaDeviceSynchronize());
        host_sim_take();
        while (oracle.count < OPS)
            random_step();
        OK(1, cudaDeviceSynchronize());
        host_sim_take();
        unsigned found = hold_against_oracle(program);
        pairs += found;
        clean += !found;
        for (unsigned i = 0; i < EVENTS; i++)
            OK(1, cudaEventDestroy(events[i]));
    }
    assert_true(pairs > PROGRAMS); /* the programs are worth something */
    assert_true(clean > PROGRAMS / 100);
    for (unsigned i = 1; i < STREAMS; i++)
        OK(1, cudaStreamDestroy(streams[i]));
    OK(1, cudaFree(memory));
    host_sim_take();
    sim_report_free(&host_sim_found);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs)};
    return cmocka_run_group_tests(tests, host_sim_open, NULL);
}

/* What else goes on on a GPU: clocks, throttling and other programs, asked of NVML.
 *
 * The library is opened at run time and stays open. The state is the caller's.
 *
 * It never fails: where NVML is missing (WSL, some containers) `known` stays false. */
#ifndef STRIDE_HARNESS_NVML_H
#define STRIDE_HARNESS_NVML_H

#include <jansson.h>
#include <stdbool.h>

struct nvml_state {
    bool known;
    unsigned sm_mhz;
    unsigned long long slowed; /* NVML's reasons bits, only those that slow a kernel down */
    int others;                /* other programs with a context on this GPU; -1 unknown */
};

/* Reads the state of the GPU with this UUID. */
void nvml_read(struct nvml_state *out, const char *uuid);

/* Adds what a second reading shows: reasons of both, the lower clock, the larger count. */
void nvml_merge(struct nvml_state *into, const struct nvml_state *from);

/* What of it may have made times vary, as a static sentence in `why`, which else stays as it is. */
void nvml_explain_noise(const struct nvml_state *state, const char **why);

/* The record's `clocks`, with `reasons` as words. New reference; NULL when nothing is known. */
json_t *nvml_json(const struct nvml_state *state);

#endif

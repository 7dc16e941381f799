/* The memory and the launches of a timing: several sets of a lab's buffers that take turns, so that
 * no launch finds its data in the L2 cache, and events around many launches.
 *
 * bench_open allocates everything; nothing is allocated between launches. bench_close gives it
 * back.
 *
 * It never decides how long to measure or what the numbers mean: measure.c does. */
#ifndef STRIDE_HARNESS_BENCH_H
#define STRIDE_HARNESS_BENCH_H

#include "harness/gpu.h"
#include "harness/lab.h"
#include "harness/measure.h"

struct bench {
    struct backend *gpu;
    const struct lab *lab;
    const char *entry;
    struct lab_shape shape;
    struct backend_module *modules[MEASURE_KINDS];
    uint64_t arena, set_bytes;    /* all sets lie in one allocation */
    uint64_t offset[LAB_BUFFERS]; /* of each buffer in its set */
    uint64_t pristine;   /* a set that restores what launches change; 0 when there is none */
    unsigned sets, turn; /* how many, and which is next */
    unsigned launches[MEASURE_KINDS]; /* in one sample */
    unsigned long long total_launches;
    void *begin[MEASURE_KINDS], *end[MEASURE_KINDS]; /* events around each kind's sample */
    double bound_ms, run_ms; /* host time spent launching, and the GPU's time, over all samples */
    struct launch_result failure; /* when a kernel failed: what it did */
    struct err error;             /* when Stride or the machine failed */
};

/* Loads the three images (as in enum MEASURE_...), allocates and fills. `n` is scaled down to the
 * free memory. False when the memory or the driver does not allow it. */
bool bench_open(struct bench *out, struct backend *gpu, const struct lab *lab, const char *entry,
                uint64_t n, uint64_t seed, const struct image *const images[MEASURE_KINDS],
                struct err *err);

/* Finds out how many launches a sample needs. False as in bench_round. */
bool bench_calibrate(struct bench *bench);

/* measure_source's round over a struct bench. False: see failure and error. */
bool bench_round(void *bench, const int order[MEASURE_KINDS], double ms[MEASURE_KINDS]);
double bench_now_ms(void *bench);

/* Times one more launch of yours on inputs it has never seen, with poisoned outputs, and compares.
 * False only when the bench broke; *entry is an entry of `cases` when the output is wrong, else
 * NULL. */
bool bench_check_last(struct bench *bench, uint64_t seed, json_t **entry);

/* Times a library's call on the bench's buffers (device[], as the lab lists them) as kernels are
 * timed: sets take turns, and many calls stand between two events. What the call writes is not
 * looked at. False: err says what the library or the card refused. */
bool bench_time_call(struct bench *bench,
                     bool (*call)(void *context, const uint64_t device[], void *stream,
                                  struct err *err),
                     void *context, struct interval *ms, struct err *err);

void bench_close(struct bench *bench);

#endif

/* Judges a kernel: runs it on every size and seed and compares what it left in memory with what the
 * lab says must be there. Works on the GPU and in the simulator alike, through backend.h.
 *
 * A request borrows everything it points at. check_run owns the device memory while it runs and has
 * given it back when it returns; the JSON in a result belongs to the caller, check_result_free
 * drops it.
 *
 * It never times, prints or writes anything: each case goes to the caller's `add` as it ends. */
#ifndef STRIDE_HARNESS_CHECK_H
#define STRIDE_HARNESS_CHECK_H

#include "harness/backend.h"
#include "harness/lab.h"

struct prepared;

struct check_request {
    struct backend *backend;
    const struct lab *lab;
    const struct image *image;
    const char *entry;
    const uint64_t *sizes; /* N of each case; a size too large for the memory is scaled down */
    unsigned size_count;
    uint64_t seed;        /* first seed; small sizes get a second one */
    uint64_t memory_free; /* bytes the cases may use on the device; 0 is no limit */
    double deadline_ms;   /* of one launch; 0 takes CHECK_DEADLINE_MS, and more for printf */
    bool hazards;         /* simulator: collect hazards, counters and timeline */
    const struct prepared *prepared; /* cases made before; NULL makes all of them now */
    /* Called as each case ends with an entry of the record's `cases` (borrowed). May be NULL. */
    void (*add)(void *context, json_t *entry);
    void *context;
};

#define CHECK_DEADLINE_MS 2000.0
/* Every line that a kernel prints takes the driver a microsecond or more: such a kernel gets more
 * time, but all of its launches together less than stride waits for a check. */
#define CHECK_PRINTING_DEADLINE_MS 10000.0
#define CHECK_PRINTING_ALL_MS      16000.0
/* Sizes of more threads than this are left out for a kernel that prints, unless they come first:
 * on an H200 the lines of 65,536 threads took more than two seconds, those of 263,936 more than
 * ten. */
#define CHECK_PRINTING_THREADS 32768.0

struct check_result {
    enum verdict verdict; /* the worst of all cases and hazards */
    char summary[512];    /* one sentence: "passes all 5 sizes", or what went wrong first */
    unsigned total, passed, not_run;
    json_t *hazards;  /* array, each with case_n; NULL when none or not asked for */
    json_t *counters; /* of the largest case; NULL when there are none */
    json_t *timeline; /* of the case with the most copies; NULL when there is none */
    char *output;     /* what the kernel printed in the simulator; NULL when nothing */
    bool poisoned;    /* the backend is lost: end this process without closing it */
};

/* With how many seeds, one after the other, a size is run. */
unsigned check_seed_count(const struct backend *backend, const struct lab_shape *shape);

/* Runs all cases. False only when Stride or the machine failed; what the kernel did wrong is in the
 * result. A case after which nothing can run leaves the rest as entries with `not_run`. */
bool check_run(struct check_result *out, const struct check_request *request, struct err *err);
void check_result_free(struct check_result *result);

/* --- for timing.c, which checks its last launch with the same eyes --- */

/* How one OUT or INOUT buffer compares. */
struct check_buffer {
    const struct lab *lab;
    const struct lab_shape *shape;
    int buffer;
    const void *got, *want;
    void *const *host; /* the inputs as they were, one per buffer; NULL entries are allowed */
    uint32_t poison;   /* what the buffer was filled with before the launch */
};

struct check_outcome {
    size_t wrong, unwritten, checked, first; /* counts; index of the first wrong element */
    bool sampled;     /* not all elements were compared, and a pattern cannot be told */
    double max_error; /* NaN when any result is NaN or unwritten */
};

/* True when every element is right. */
bool check_compare(struct check_outcome *out, const struct check_buffer *buffer);

/* The record's `mismatch` object; only after check_compare returned false. New reference. */
json_t *check_mismatch(const struct check_buffer *buffer, const struct check_outcome *outcome);

/* A NaN (or, for integers, an unlikely number) of this type that differs from launch to launch. */
uint32_t check_poison(enum lab_type type, uint64_t launch);

#endif

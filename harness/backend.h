/* Where a kernel runs: on the GPU through the driver, or in the PTX simulator.
 *
 * A backend owns its device memory and modules; the caller owns host arrays and the struct backend
 * it opened. check.c is written against this interface alone and works on both.
 *
 * What a student's kernel does wrong comes back in struct launch_result; false with an err means
 * that Stride or the machine failed. */
#ifndef STRIDE_HARNESS_BACKEND_H
#define STRIDE_HARNESS_BACKEND_H

#include "harness/base/err.h"
#include "harness/base/verdict.h"

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

struct backend;
struct backend_module;

struct image {       /* one compiled source; text and binary belong to whoever compiled */
    const char *ptx; /* NUL-terminated */
    size_t ptx_len;
    const void *cubin; /* NULL when only PTX was made */
    size_t cubin_len;
    const char *source_name; /* as in its .file table, "kernel.cu" */
};

struct launch {
    struct backend_module *module;
    const char *entry;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    void **params; /* as cuLaunchKernel wants them: each points at the argument's value */
    size_t *param_sizes;
    int param_count;
    double deadline_ms;
    bool hazards; /* simulator: run with every check and collect reports and counters */
};

/* A member of a hazard in launch_result, true where an undefined value was handed out: trial.c
 * takes it away, with the hazard where the results are right. No record has it. */
#define LAUNCH_HAZARD_IF_USED "if_used"

struct launch_result {
    enum verdict
        verdict;         /* PASS here means: ended normally. FAULT, HAZARD, TIMED_OUT, CANNOT_RUN */
    char text[512];      /* one sentence when verdict is not PASS */
    char fault_kind[32]; /* out-of-bounds, misaligned, illegal-address, ... or "" */
    int line;            /* the student's line, 0 when unknown */
    json_t *hazards;     /* array as in docs/record.md, owned by the caller; NULL when none */
    json_t *counters;    /* object as in docs/record.md, likewise */
    json_t *timeline;    /* likewise */
    bool poisoned;       /* nothing more can run in this process (GPU context lost) */
    char *output;        /* what the kernel printed (simulator), cleaned and capped; free() */
};

struct backend_ops {
    const char *name;  /* "gpu", "sim" */
    bool exact_bounds; /* reports every access outside an allocation, so check.c adds no guard zones
                        */
    void (*close)(struct backend *backend);
    bool (*load)(struct backend *backend, struct backend_module **out, const struct image *image,
                 struct err *err);
    void (*unload)(struct backend *backend, struct backend_module *module);
    /* Device memory. `name` labels it in reports. Fresh memory counts as never written. */
    bool (*alloc)(struct backend *backend, uint64_t *device, size_t bytes, const char *name,
                  struct err *err);
    void (*release)(struct backend *backend, uint64_t device);
    bool (*upload)(struct backend *backend, uint64_t device, const void *host, size_t bytes,
                   struct err *err);
    bool (*download)(struct backend *backend, void *host, uint64_t device, size_t bytes,
                     struct err *err);
    /* 32-bit pattern fill; bytes is a multiple of 4. `written` tells the simulator whether a read
     * of it is legal (input) or a read of poison. */
    bool (*fill)(struct backend *backend, uint64_t device, uint32_t pattern, size_t bytes,
                 bool written, struct err *err);
    /* Host memory that copies fast to and from the device; alloc returns NULL when there is none
     * left. Both NULL where any memory does as well. */
    void *(*host_alloc)(struct backend *backend, size_t bytes);
    void (*host_free)(struct backend *backend, void *host);
    /* Launches and waits. False only when Stride failed. */
    bool (*launch)(struct backend *backend, const struct launch *launch,
                   struct launch_result *result, struct err *err);
};

struct backend { /* first member of each backend's own struct */
    const struct backend_ops *ops;
};

/* Opens the simulator; it needs nothing. `threads` 0 means one per core. */
bool sim_open(struct backend **out, int threads, struct err *err);

/* Opens device `ordinal` of the driver. False: err says what is missing (no driver, no device...).
 */
bool gpu_open(struct backend **out, int ordinal, struct err *err);

#endif

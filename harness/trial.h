/* One case of a check: the memory, one launch, and what is to be said of it.
 *
 * trial_open allocates on host and device for one shape; trial_close gives all of it back. Between
 * them trial_run may be called once for each seed.
 *
 * It keeps right answers on the host only: no launch can find them in device memory. */
#ifndef STRIDE_HARNESS_TRIAL_H
#define STRIDE_HARNESS_TRIAL_H

#include "harness/check.h"

struct trial {
    const struct check_request *request;
    struct lab_shape shape;
    double deadline_ms; /* of the next launch; the caller sets it */
    uint64_t launches;  /* so far; makes poison and guards differ each time */
    bool keeps_module;  /* as a program would: its variables last from one launch to the next */
    struct backend_module *module; /* what is kept */
    size_t guard; /* bytes around each buffer; 0 where the backend's own bounds are exact */
    uint32_t guard_pattern;
    void *host[LAB_BUFFERS]; /* what is filled, as it was; own or prepared */
    void *want[LAB_BUFFERS]; /* OUT and INOUT as they must become */
    const double *allowed;   /* the largest error of each buffer; NULL when not known before */
    void *own_host[LAB_BUFFERS], *own_want[LAB_BUFFERS], *own_back[LAB_BUFFERS];
    void *back[LAB_BUFFERS];    /* the allocations as they came back; own or prepared */
    uint64_t base[LAB_BUFFERS]; /* the allocations, guards included */
    uint64_t data[LAB_BUFFERS]; /* what the kernel gets */
    uint32_t poison[LAB_BUFFERS];
};

/* Device bytes that a trial of this shape takes. */
uint64_t trial_bytes(const struct check_request *request, const struct lab_shape *shape);

bool trial_open(struct trial *trial, const struct check_request *request,
                const struct lab_shape *shape, struct err *err);

/* Fills, launches and judges with inputs from this seed, and adds to the case's entry of the
 * record. `launched` is what the backend said; its JSON and output are the caller's. */
bool trial_run(struct trial *trial, uint64_t seed, json_t *entry, enum verdict *verdict,
               struct launch_result *launched, struct err *err);

/* The next launch finds the module's variables as they were in the beginning. */
void trial_forget(struct trial *trial);

/* `lost`: the backend is poisoned, and its memory goes with the process. */
void trial_close(struct trial *trial, bool lost);

#endif

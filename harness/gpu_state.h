/* The inside of the GPU back end, shared by gpu.c (memory, launches) and card.c (what the card is).
 *
 * gpu.c owns the struct; card.c reads it.
 *
 * Nobody else includes this: the rest of the harness sees gpu.h and backend.h. */
#ifndef STRIDE_HARNESS_GPU_STATE_H
#define STRIDE_HARNESS_GPU_STATE_H

#include "harness/driver.h"
#include "harness/gpu.h"

struct gpu {
    struct backend backend;
    const struct driver *driver;
    int device;
    void *context, *stream;
    struct gpu_info info;
    bool poisoned;
};

struct backend_module {
    void *module;
};

static inline struct gpu *gpu_of(const struct backend *backend)
{
    return (struct gpu *)(uintptr_t)backend;
}

/* Makes the context current in this thread. False when it was lost, or cannot be used. */
bool gpu_enter(struct gpu *gpu, struct err *err);

/* Fills gpu->info. */
void card_read(struct gpu *gpu, int ordinal);

#endif

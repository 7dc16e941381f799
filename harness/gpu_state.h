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

/* The kernel's handle, allowed the dynamic shared memory that it is launched with: above 48 KiB the
 * driver wants to be asked, and without it counts no block as fitting. A driver's error number. */
int gpu_function(struct gpu *gpu, struct backend_module *module, const char *entry,
                 unsigned dynamic_shared_bytes, void **function);

/* Fills gpu->info. */
void card_read(struct gpu *gpu, int ordinal);

#endif

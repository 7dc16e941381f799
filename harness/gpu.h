/* The GPU back end's own facts, beyond backend.h: which card it is, what a kernel takes of it, and
 * timed launches for timing.c.
 *
 * gpu_open (backend.h) makes the struct backend that every function here takes; strings in
 * struct gpu_info are the caller's copy.
 *
 * Nothing here blocks for ever: every wait polls and has a deadline. After a kernel that hung, the
 * backend is poisoned, its close does nothing, and the process has to end with _exit. */
#ifndef STRIDE_HARNESS_GPU_H
#define STRIDE_HARNESS_GPU_H

#include "harness/backend.h"

struct gpu_info {
    char name[128];
    char uuid[48]; /* "GPU-1b2c...": the one nvidia-smi shows */
    int ordinal, major, minor;
    int driver_version; /* 13000 is CUDA 13.0 */
    int multiprocessors, threads_per_multiprocessor;
    uint64_t l2_bytes, memory_bytes;
    bool wsl; /* clocks and processes cannot be read there */
};

struct driver;

/* gpu_open with a driver that was opened before, or with a table of one's own (tests). */
bool gpu_open_with(struct backend **out, const struct driver *driver, int ordinal, struct err *err);

/* How many devices the driver shows (CUDA_VISIBLE_DEVICES counts). False: err says what is missing,
 * as gpu_open would. Starts the driver but makes no context. */
bool gpu_count(int *out, struct err *err);

/* Which of the visible devices to use: $STRIDE_GPU, a number from 0, else 0. */
int gpu_wanted_ordinal(void);

void gpu_describe(const struct backend *gpu, struct gpu_info *out);

/* The record's `device` object. New reference. */
json_t *gpu_device_json(const struct backend *gpu);

/* The `device` objects of all devices the driver shows, without making a context. New reference;
 * NULL when err says what is missing. */
json_t *gpu_list_json(struct err *err);

/* Bytes that can be allocated now; 0 when the driver does not say. */
uint64_t gpu_memory_free(struct backend *gpu);

/* The record's `resources` object of a loaded kernel with this block size. New reference; NULL when
 * the driver does not know the entry. */
json_t *gpu_resources_json(struct backend *gpu, struct backend_module *module, const char *entry,
                           unsigned block_threads, unsigned dynamic_shared_bytes);

/* --- timed launches --- */

struct gpu_launch { /* one kernel with its arguments, ready to go again and again */
    struct backend_module *module;
    const char *entry;
    unsigned grid[3], block[3], dynamic_shared_bytes;
    void **params;
};

/* The stream (a CUstream) that all of this goes into, for libraries that are called beside. */
void *gpu_stream(const struct backend *gpu);

/* Points in the stream. */
bool gpu_event_open(struct backend *gpu, void **event, struct err *err);
void gpu_event_close(struct backend *gpu, void *event);
bool gpu_event_record(struct backend *gpu, void *event, struct err *err);

/* Puts a launch into the stream and returns at once. */
bool gpu_enqueue(struct backend *gpu, const struct gpu_launch *launch, struct err *err);
bool gpu_copy(struct backend *gpu, uint64_t to, uint64_t from, size_t bytes, struct err *err);

/* Waits for everything in the stream. False only when Stride failed; result says TIMED_OUT or FAULT
 * when a kernel did, and whether the backend is lost. */
bool gpu_wait(struct backend *gpu, double deadline_ms, struct launch_result *result,
              struct err *err);

/* Milliseconds between two recorded events that have passed; NaN when the driver cannot say. */
double gpu_event_elapsed_ms(struct backend *gpu, void *from, void *to);

#endif

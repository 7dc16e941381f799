/* The PTX simulator as a backend: shared by sim.c (memory, modules, launches) and sim_report.c
 * (what a launch found, as the record says it).
 *
 * A struct sim is opened with sim_open (backend.h) and owns its memory and modules.
 *
 * It never times anything, and no machine is without it. */
#ifndef STRIDE_HARNESS_SIM_H
#define STRIDE_HARNESS_SIM_H

#include "harness/backend.h"
#include "harness/ptx/ptx.h"

struct backend_module {
    struct arena arena;
    struct ptx_module *ptx;
    struct ptx_image *image;
    char *source_name;
};

struct sim {
    struct backend backend;
    struct ptx_memory *memory; /* sorted by address, in the order of allocation */
    char **names;              /* of memory, owned */
    size_t count, capacity;
    uint64_t next_va;
    int threads;
};

/* Turns what a launch did into the backend's result. */
void sim_report(const struct sim *sim, const struct launch *launch, const struct ptx_result *run,
                struct launch_result *out);

/* Line number in the student's file of a line id, 0 when unknown. */
int sim_line(const struct backend_module *module, uint32_t line);

/* The traced block's copies, waits and barriers over its progress; NULL when nothing was traced. */
json_t *sim_timeline(const struct backend_module *module, const struct ptx_result *run);

#endif

/* What a child has ready for a host lab before its job comes: the builder, the lab's own objects,
 * what is known of the GPU, and a stride-host with its context.
 *
 * A struct host_warm owns all of that and borrows the toolkit, the root's path and the lab's
 * description. What the machine lacks is not a failure: it is remembered with the reason.
 *
 * It holds no GPU context itself: the children do. */
#ifndef STRIDE_HARNESS_HOST_WARM_H
#define STRIDE_HARNESS_HOST_WARM_H

#include "host_build.h"
#include "host_child.h"

#include "harness/base/labfile.h"

struct host_warm {
    const char *root;
    const struct labfile *about;
    const struct toolkit *toolkit;
    struct host_builder builder;
    bool can_build;
    struct err no_builder; /* why not */
    struct host_build solution, baseline;
    json_t *device; /* the record's; NULL: no_gpu says why */
    struct err no_gpu;
    char uuid[48];
    unsigned capability; /* 90; 0 without a GPU */
    int ordinal;
    struct host_child child; /* on the GPU, started ahead; pid 0 when there is none */
};

/* False when the lab itself is broken: its own solution does not compile. */
bool host_warm_open(struct host_warm *out, const char *root, const struct labfile *about,
                    const struct toolkit *toolkit, struct err *err);
void host_warm_close(struct host_warm *warm);

/* As warm_step and warm_relax. */
bool host_warm_step(struct host_warm *warm);
void host_warm_relax(struct host_warm *warm);

/* Is there a GPU, and does it have what the lab asks for? */
bool host_warm_fits_gpu(const struct host_warm *warm);

/* Builds the baseline, which only drawing and timing need. False: err says why it is not there. */
bool host_warm_baseline(struct host_warm *warm, struct err *err);

/* A child on the GPU (the one started ahead, if any, which is handed over) or in the simulator. */
bool host_warm_child(struct host_warm *warm, struct host_child *out, bool gpu, uint64_t seed,
                     struct err *err);

#endif

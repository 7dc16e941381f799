/* What lab.yaml says about one lab.
 *
 * Read by both programs: the tui lists labs and shows goals and hints, the harness takes sizes and
 * landmarks. The struct owns all its strings; labfile_free gives them back.
 *
 * It knows nothing of kernels, launches or lessons' text: device-side facts live in the lab's
 * lab.c. */
#ifndef STRIDE_BASE_LABFILE_H
#define STRIDE_BASE_LABFILE_H

#include "err.h"

#include <stdint.h>

struct lab_text { /* one text in both languages */
    char *en, *zh;
};

enum lab_kind { LAB_KERNEL, LAB_HOST };
enum lab_limit { LIMIT_COPY, LIMIT_READ, LIMIT_FMA, LIMIT_TENSOR, LIMIT_LAUNCH, LIMIT_BUS };
enum lab_listing { LISTING_PTX, LISTING_SASS };

/* Something to look for in a listing: an instruction that the lesson is about. */
struct lab_landmark {
    char *name; /* shown in the margin and the record, e.g. "cp.async" */
    enum lab_listing listing;
    char *match;          /* the line's instruction starts with this, e.g. "LDGSTS" */
    uint32_t at_least;    /* how many a good solution has */
    char *since;          /* lowest architecture it applies to, "8.0"; NULL for all */
    struct lab_text text; /* one sentence: what it is */
};

/* How a host lab's run is to be built: one thing that can be measured in it. */
enum lab_metric {
    METRIC_COPY_OVERLAP,   /* of the copies' time, the part with a kernel or the other direction */
    METRIC_WORK_OVERLAP,   /* of the kernels' time, the part during which a copy runs */
    METRIC_HOST_WAITS,     /* calls of one run that block the host */
    METRIC_INSTANTIATIONS, /* of graphs, in all rounds after the first */
    METRIC_GRAPH_LAUNCHES, /* in one run */
    METRIC_LAUNCHES,       /* of kernels by call, in one run */
    METRIC_PAGEABLE_COPIES,
    METRIC_COUNT
};

struct lab_structure {
    char *name; /* shown in the pane and the record, e.g. "overlap" */
    enum lab_metric metric;
    double *at_least, *at_most; /* one of them; the other is NULL */
    struct lab_text text;       /* one sentence: what a good run shows */
};

/* A hint is offered after an attempt with this verdict; "any" fits all. Shown one stage at a time.
 */
struct lab_hint {
    char *when; /* a verdict's name, a hazard's kind, a structure's name, "slow", or "any" */
    struct lab_text text;
};

/* What a lab asks for beside a pass before it counts as done: a measurement of a kernel that has a
 * landmark's instruction in it, or of one that has not, or a question of the quiz. */
enum lab_step { STEP_MEASURED_WITH, STEP_MEASURED_WITHOUT, STEP_ANSWERED };
struct lab_done {
    enum lab_step step;
    char *landmark;    /* its name; NULL for STEP_ANSWERED */
    uint32_t question; /* from 1; 0 for the others */
};

struct labfile {
    char *slug;     /* the folder's name */
    uint32_t order; /* place in the course */
    struct lab_text title, summary;
    char *lesson; /* folder below lessons/, e.g. "02-cp-async" */
    enum lab_kind kind;
    char *entry;           /* the kernel's (extern "C") or host function's name */
    char *capability;      /* lowest compute capability, "8.0" */
    uint64_t *check_sizes; /* N of each correctness case on a GPU */
    unsigned check_sizes_count;
    uint64_t *sim_sizes; /* the same for the simulator */
    unsigned sim_sizes_count;
    uint64_t time_size;   /* N of the timed launches */
    enum lab_limit limit; /* which measured limit of the card bounds the lab */
    double goal;          /* part of the solution's speed that counts as reached, 0.95 */
    struct lab_landmark *landmarks;
    unsigned landmarks_count;
    struct lab_structure *structure; /* host labs; may be absent */
    unsigned structure_count;
    struct lab_hint *hints;
    unsigned hints_count;
    struct lab_done *done; /* none for most labs: there a pass is all */
    unsigned done_count;
};

/* Reads ROOT/kernels/SLUG/lab.yaml. Errors carry file and line. */
bool labfile_load(struct labfile **out, const char *root, const char *slug, struct err *err);
void labfile_free(struct labfile *lab);

/* All labs below ROOT/kernels in course order; folders without a lab.yaml are skipped. */
bool labfile_load_all(struct labfile ***out, unsigned *count, const char *root, struct err *err);
void labfile_free_all(struct labfile **labs, unsigned count);

/* The text in the language of msg_language(); English when there is no other. Borrowed. */
const char *lab_text_get(const struct lab_text *text);

/* "copy_overlap", as in lab.yaml; static. */
const char *lab_metric_name(enum lab_metric metric);

/* "8.0" -> 80; 0 when it is not a capability. */
unsigned capability_parse(const char *text);

#endif

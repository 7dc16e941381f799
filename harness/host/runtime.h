/* The CUDA runtime as stride-host offers it to the student's shared object: the functions of
 * api.def, exported by the program itself (api.c), noted (calls.h) and handed to one
 * implementation.
 *
 * There is one runtime per process, chosen before the student's object is loaded.
 *
 * No CUDA header is needed: handles are pointers, enums are ints, and the few structs that
 * functions take by value or pointer are declared here as the toolkit lays them out. */
#ifndef STRIDE_HOST_RUNTIME_H
#define STRIDE_HOST_RUNTIME_H

#include "span.h"

#include "harness/base/err.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dim3 { /* CUDA's dim3 */
    unsigned x, y, z;
};

/* Results that are not one word, which api.def needs. */
typedef const char *api_text;
typedef void **api_module;

/* X(return type, name, (parameters), (arguments)), one line a function; see api.def. */
struct runtime {
#define X(type, name, parameters, arguments) type(*name) parameters;
#include "api.def"
#undef X
};

/* Who answers the student's calls from now on; set it before the object is loaded. */
void runtime_use(const struct runtime *runtime);

/* Whether api.def has a function of this name, and the runtime in use has it too: what a student's
 * object may need of CUDA. */
bool api_known(const char *name);

/* The real libcudart at this path. Functions that this libcudart lacks stay NULL. */
bool forward_open(struct runtime *out, const char *libcudart, struct err *err);

/* The simulated runtime; needs nothing. One per process. */
struct sim_options {
    uint64_t seed;
    uint64_t steps;     /* of the interpreter, per launch; 0 for its default */
    double deadline_ms; /* of one launch by the clock; 0: none */
    unsigned threads;   /* the interpreter's; 0: one per core, at most 8 */
    const char *source; /* the student's file as PTX names it; NULL: "kernel.cu". Borrowed */
    int (*line_of)(const void *site); /* NULL: lines_of_call */
    /* A host function, queued in this line, did not come back: by an exception, longjmp or
     * pthread_exit. Does not return; NULL: abort(). */
    void (*function_left)(int line);
};
void sim_open_runtime(struct runtime *out, const struct sim_options *options);

/* What the simulated runtime found and counted since the last call of this function: waits until
 * everything queued has run. */
struct sim_report {
    json_t *hazards; /* as in docs/record.md, `kind` unordered, leak, or one of the interpreter's */
    struct spans spans;  /* in virtual time; sim_report_free */
    char cannot[320];    /* what the simulator does not know, "" for nothing; verdict cannot-run */
    char fault[320];     /* a kernel's fault, as text ... */
    int fault_line;      /* ... its line */
    char fault_kind[32]; /* as in docs/record.md, or "timed-out" when the kernel never ends */
    json_t *counters;    /* of all launches together; NULL without any */
    char *output;        /* what kernels printed; free() */
};
void sim_take_report(struct sim_report *out);
void sim_report_free(struct sim_report *report);

#endif

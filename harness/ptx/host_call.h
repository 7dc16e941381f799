/* Functions that a kernel calls but does not define: printf and the failing assert.
 *
 * What is printed goes to the worker's buffer, capped, and is put in block order when the launch
 * ends.
 *
 * No other function is known; calling one stops the launch and names it. */
#ifndef STRIDE_PTX_HOST_CALL_H
#define STRIDE_PTX_HOST_CALL_H

#include "harness/ptx/exec.h"

enum host_function { HOST_VPRINTF, HOST_ASSERTFAIL, HOST_NONE };

enum { HOST_MAX_ARGUMENTS = 8 };

/* Offsets are in the caller's .param space. */
struct host_site {
    enum host_function function;
    uint32_t arguments[HOST_MAX_ARGUMENTS];
    uint32_t argument_count;
    uint32_t result;
    bool has_result;
};

/* HOST_NONE when there is no such function here. */
enum host_function host_find(const char *name);

/* Does the call at op (op->extra is its host_site) for the lanes in w->mask. */
const struct op *host_call(struct warp *w, const struct op *op);

#endif

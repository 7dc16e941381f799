/* How a child of a host lab came to its end, as a verdict and a sentence that says where.
 *
 * The child is borrowed, and is not waited for or ended here.
 *
 * Nothing is guessed: what is said comes from the exit status and from what the child told last. */
#ifndef STRIDE_HARNESS_HOST_DEATH_H
#define STRIDE_HARNESS_HOST_DEATH_H

#include "host_child.h"

/* The student's function that the child was in or had just left: "streamsRun". */
void host_death_function(const struct host_child *child, char *out, size_t len);

/* ": " and what libc said before it gave up: "free(): invalid pointer", "terminate called ..."; ""
 * when it said nothing. */
void host_death_last_words(const struct host_child *child, char *out, size_t len);

/* Fills verdict and summary. `late`: it was ended because the call took waited_s; else `status` is
 * waitpid's. */
void host_death_describe(const struct host_child *child, struct host_outcome *out, int status,
                         bool late, double waited_s);

#endif

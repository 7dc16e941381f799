/* Lines of kernel.cu for addresses in the student's shared object, from the table that
 * harness/host_lines.h wrote when it was built.
 *
 * One object per process: the table is loaded once and lives until the program ends. Before that,
 * and for addresses outside the object, every answer is "no line". Looking up takes no lock, calls
 * nothing and is safe in a signal handler.
 *
 * It starts no process and reads no debug information. */
#ifndef STRIDE_HOST_LINES_H
#define STRIDE_HOST_LINES_H

#include "harness/base/err.h"

#include <stdbool.h>
#include <stddef.h>

/* Reads the table. It counts once lines_attach has said where the object is. */
bool lines_load(const char *table, struct err *err);

/* Says where the object is: `symbol` is the address of any function of it. */
bool lines_attach(const void *symbol);

/* Is this address in the attached object's code? */
bool lines_inside(const void *address);

/* The line of the instruction at this address; 0 when it has none. */
int lines_at(const void *address);

/* The line of the call that returns to this address; 0 when it has none. */
int lines_of_call(const void *return_address);

/* For a function that the object called: the return address of the innermost call in the object
 * that has a line, else of the innermost call; NULL when the object is not the caller. `frame` is
 * the function's own __builtin_frame_address(0). The object keeps frame pointers and makes no
 * sibling calls (host_build.c), what called the object need not. */
const void *lines_site(const void *frame);

#endif

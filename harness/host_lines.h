/* Which line of kernel.cu each address of a built shared object belongs to, worked out once, when
 * the object is built: afterwards stride-host answers from the table (harness/host/lines.h) and
 * needs no child process of its own, which the limits on the student's code forbid.
 *
 * Caller owns both files. addr2line, which comes with every host compiler, reads the object's debug
 * information.
 *
 * It never guesses: code inlined from a header counts for the line of kernel.cu that asked for it;
 * code of which no frame is in kernel.cu has no line. */
#ifndef STRIDE_HARNESS_HOST_LINES_H
#define STRIDE_HARNESS_HOST_LINES_H

#include "harness/base/err.h"

/* Writes `table` for the executable sections of `object`, which was built from a file whose last
 * part is `source` ("kernel.cu"). False with err when there is no addr2line or it fails. */
bool host_lines_write(const char *object, const char *source, const char *table, struct err *err);

#endif

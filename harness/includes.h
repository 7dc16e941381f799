/* Looks at what a source includes before a compiler does: a device, a pipe or a file of gigabytes
 * would have it wait for ever or take all memory, and then end without a word.
 *
 * The build owns the complaint that is added to it.
 *
 * It is no preprocessor: it follows what is included by its plain name from the student's own
 * folder or by an absolute path, whatever #if says, and leaves what it cannot find to the compiler.
 */
#ifndef STRIDE_HARNESS_INCLUDES_H
#define STRIDE_HARNESS_INCLUDES_H

#include "compile.h"

/* False, with a complaint at its line, when the build's source, which lies in `folder`, or a header
 * of its own includes what is no ordinary file or too large for one. */
bool includes_check(struct build *build, const char *folder);

#endif

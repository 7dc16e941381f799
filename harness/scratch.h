/* Folders for things that live only as long as this process, below $TMPDIR.
 *
 * A name carries the process's number: what a killed child left behind is removed when the next one
 * makes a folder. Returned paths belong to the caller.
 *
 * Only folders of this user with Stride's own prefix are ever removed. */
#ifndef STRIDE_HARNESS_SCRATCH_H
#define STRIDE_HARNESS_SCRATCH_H

#include "harness/base/err.h"

/* Makes a fresh folder, for file_remove_folder; free() the path. NULL: err says why. */
char *scratch_make(struct err *err);

#endif

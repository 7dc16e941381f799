/* From a finished attempt to what is kept of it: number, commit, progress.
 *
 * Everything passed in stays the caller's; the runner is left in OVER.
 *
 * It never judges: an attempt that the harness never began is not kept at all. */
#ifndef STRIDE_TUI_RECORDER_H
#define STRIDE_TUI_RECORDER_H

#include "history.h"
#include "library.h"
#include "runner.h"

/* Commits the starter as the student got it, so that the first attempt has something to be compared
 * with and `git status` is clean. Does nothing when HEAD has the lab already, or without a history.
 */
void recorder_keep_starter(struct history *history, const char *lab);

/* Numbers the attempt, commits it (history may be NULL: nothing is recorded) and adds it to the
 * progress. id is filled, "" when nothing was committed. False: something was not kept, and why. */
bool recorder_keep(struct history *history, const struct library *library, struct runner *runner,
                   char id[41], struct err *notice, struct err *err);

#endif

/* When a lab counts as done: its kernel passes and reaches the goal (where nothing can be timed, it
 * has all landmarks in it), and, where lab.yaml says so under `done`, the student measured what the
 * lab is about and answered the questions that ask for a conclusion.
 *
 * Nothing is owned here. The lab's entries of the states "progress" and "quiz" (tui/library.h) are
 * borrowed; both may be NULL for a lab that was never opened.
 *
 * It never asks for what this machine can't do without saying so, and never keeps anybody from
 * going on to the next lab. */
#ifndef STRIDE_TUI_DONE_H
#define STRIDE_TUI_DONE_H

#include "harness/base/buf.h"
#include "harness/base/labfile.h"

#include <jansson.h>
#include <stdbool.h>

#define DONE_IN_PART_MARK "~" /* stands where a verdict's mark would */

/* Notes in the lab's progress what this attempt says of the goal, {"goal_timed": true},
 * {"goal_reached": true} and {"landmarks_held": true or false}, and what it measured: {"measured":
 * {landmark: {"with": true, "without": true}}}, and {"untimed": true} when it passed where nothing
 * can be timed. */
void done_note(const struct labfile *lab, json_t *progress, const json_t *record);

/* Whether the lab's `index`-th condition is still open. */
bool done_is_open(const struct labfile *lab, unsigned index, const json_t *progress,
                  const json_t *answers);

/* Whether the goal is open: a pass was timed and none reached it, or none had all landmarks. */
bool done_goal_is_open(const json_t *progress);

/* Passed, and no condition is open. */
bool done_is(const struct labfile *lab, const json_t *progress, const json_t *answers);

/* Passed, but something is open: what the lab's mark says then. */
bool done_in_part(const struct labfile *lab, const json_t *progress, const json_t *answers);

/* Appends the condition in words: "measure the version with cp.async". */
void done_name(const struct labfile *lab, unsigned index, struct buf *out);

/* Appends what the open goal asks for: "reach the goal, 95 % of the solution's speed". */
void done_name_goal(const struct labfile *lab, const json_t *progress, struct buf *out);

/* Appends "Still to do: ...", and a second sentence where this machine can't measure. Nothing when
 * no condition is open. */
void done_say(const struct labfile *lab, const json_t *progress, const json_t *answers,
              struct buf *out);

#endif

/* Files of the course and of the student: labs, lessons, quizzes, kernels, state.
 *
 * A library owns its paths and lab descriptions; returned pointers are borrowed until
 * library_close. Buffers and JSON values that are filled are the caller's.
 *
 * It never writes below the installation, never overwrites a kernel that is there, and knows
 * neither git nor the screen. Where the home can't be written it says so once and serves lessons
 * all the same. */
#ifndef STRIDE_TUI_LIBRARY_H
#define STRIDE_TUI_LIBRARY_H

#include "harness/base/buf.h"
#include "harness/base/err.h"
#include "harness/base/labfile.h"

#include <jansson.h>

struct library {
    char *root;            /* the installation: lessons/ kernels/ assets/ */
    char *home;            /* $STRIDE_HOME and its substitutes */
    char *work;            /* home/work: one git repository, work/<lab>/kernel.cu */
    struct labfile **labs; /* in course order */
    unsigned lab_count;
    bool writable; /* the home can be written */
};

/* Finds the course and the home, creating home and work. `notice` is filled when the student should
 * be told something (home can't be written, and why); false only when there is no course to show.
 */
bool library_open(struct library *library, struct err *notice, struct err *err);
void library_close(struct library *library);

/* NULL when there is no such lab. */
const struct labfile *library_find(const struct library *library, const char *slug);
/* The slug most like a mistyped one, NULL when none is near. */
const char *library_suggest(const struct library *library, const char *slug);

enum library_text { LIBRARY_LESSON, LIBRARY_QUIZ };

/* The text in the language of msg_language(), in English when there is no other. Sets *language
 * (may be NULL) to "en" or "zh", the one found. */
bool library_read_text(const struct library *library, const struct labfile *lab,
                       enum library_text which, struct buf *out, const char **language,
                       struct err *err);

/* Path of a file of the lab's folder of the installation ("starter.cu"), free() it. */
char *library_lab_path(const struct library *library, const char *slug, const char *name);
/* Path of a file of the student's folder of the lab ("kernel.cu"), free() it. */
char *library_work_path(const struct library *library, const char *slug, const char *name);

/* The kernels of a folder of the lab ("wrong/x.cu" for "wrong"), sorted; free each and the list. */
int library_list_kernels(const struct library *library, const char *slug, const char *folder,
                         char ***names);

/* Path of the text that the lab begins with, free() it: starter.cu or, where the lab has a folder
 * variants, one of its kernels. Which one is drawn once and kept in the state "draws"; `again` goes
 * on to the next. */
char *library_starter_path(const struct library *library, const char *slug, bool again);

/* Makes work/<lab>/kernel.cu from the starter when it is missing; sets *created (may be NULL).
 * Beside it lies a copy of lab.h to be read, which is no matter when it can't be written. */
bool library_prepare(const struct library *library, const struct labfile *lab, bool *created,
                     struct err *err);

/* The student's kernel as it is on disk now; at most 1 MiB. */
bool library_read_kernel(const struct library *library, const char *slug, struct buf *out,
                         struct err *err);

/* State is one JSON object per name, kept as home/<name>.json ("quiz", "progress", "screen").
 * Loading always gives an object (new reference), an empty one when there is none; a damaged file
 * is renamed to <name>.json.damaged-<time> and `notice` says so. */
json_t *library_load_state(const struct library *library, const char *name, struct err *notice);
bool library_save_state(const struct library *library, const char *name, const json_t *state,
                        struct err *err);

/* Adds a finished attempt's record to "progress": {lab: {attempts, verdict, best, speedup,
 * goal_reached}}, and what tui/done.h keeps there. */
bool library_note_attempt(const struct library *library, const char *slug, const json_t *record,
                          struct err *err);

#endif

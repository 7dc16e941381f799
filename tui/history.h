/* The student's history: one git repository, one commit per attempt.
 *
 * An open history owns a libgit2 repository handle; entries and buffers filled here are the
 * caller's. Nothing is remembered between calls: each looks at the repository as it is now, since
 * students use plain git there too. git itself is never started.
 *
 * It never rewrites or deletes a commit, never touches a repository above work/, never runs hooks
 * or signs, and never writes global configuration. */
#ifndef STRIDE_TUI_HISTORY_H
#define STRIDE_TUI_HISTORY_H

#include "harness/base/buf.h"
#include "harness/base/err.h"

#include <stdint.h>

struct history;

enum history_file { HISTORY_KERNEL, HISTORY_RECORD, HISTORY_PTX, HISTORY_SASS };

struct history_entry {
    char id[41];
    int attempt;        /* number within the lab, from 1 */
    int64_t time_s;     /* seconds since the epoch */
    int offset_minutes; /* of the student's clock */
    char verdict[16];   /* as in the record; "restored" for a restore; "" for a commit not ours */
    char speedup[16];   /* "1.41x", or "" */
    char subject[160];
};

/* What an attempt saves. NULL for a file that was not made. */
struct history_attempt {
    const char *lab;
    const struct buf *kernel, *record, *ptx, *sass;
    const char *subject; /* one line, e.g. "cp-async #4: pass, 1.41x" */
    const char *body;    /* the rest of the message; NULL for none */
};

/* Opens WORK, creating the repository when there is none. On failure err says what to do; the
 * course goes on without recording. `notice`, when filled, is something the student should be told
 * once. */
bool history_open(struct history **out, const char *work, struct err *notice, struct err *err);
void history_close(struct history *history);

/* "Name <email>" as attempts are signed now; false when it is the neutral one. */
bool history_identity(struct history *history, char out[256]);

/* Commits the attempt on the present HEAD and fills id. Record and listings are also written to the
 * work folder; kernel.cu there is the student's and stays as it is. When recording is not possible
 * now (a lock, a full disk), the attempt is kept in WORK/../parked, err says so, and it is recorded
 * by the next commit, open or history_retry. */
bool history_commit_attempt(struct history *history, const struct history_attempt *attempt,
                            char id[41], struct err *notice, struct err *err);

/* Records parked attempts; *left says how many still wait (may be NULL). */
bool history_retry(struct history *history, int *left, struct err *notice, struct err *err);

/* Commits a kernel that is not an attempt's: the fresh starter, a reset. `kernel` replaces
 * kernel.cu on disk (NULL: what is there is committed); text on disk that was never committed is
 * committed first. Nothing happens when HEAD holds it already. */
bool history_commit_kernel(struct history *history, const char *lab, const struct buf *kernel,
                           const char *subject, struct err *err);

/* Number of the next attempt of the lab. */
bool history_next_attempt(struct history *history, const char *lab, int *number, struct err *err);

/* Newest first: skips `skip` attempts, fills up to `most`, sets *count and whether there are more.
 * Looks along HEAD, all branches and the names that attempts on a detached HEAD got. True with err
 * filled: the list ends early since an old object is damaged; err says which. */
bool history_list(struct history *history, const char *lab, size_t skip, size_t most,
                  struct history_entry *entries, size_t *count, bool *more, struct err *err);

/* Finds an attempt by number ("4", "#4"), id prefix, "last" or "previous". */
bool history_find(struct history *history, const char *lab, const char *name,
                  struct history_entry *out, struct err *err);

bool history_read(struct history *history, const char *lab, const char *id, enum history_file file,
                  struct buf *out, struct err *err);

/* A unified diff of one file between two attempts; NULL for b means the file as it is now. */
bool history_diff(struct history *history, const char *lab, const char *a, const char *b,
                  enum history_file file, struct buf *out, struct err *err);

/* Puts the attempt's kernel back and commits that; text on disk that was never committed is
 * committed first, so that nothing is lost. */
bool history_restore(struct history *history, const char *lab, const char *id, struct err *err);

#endif

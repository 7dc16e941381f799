/* What the parts of the history share. Private to tui/history*.c.
 *
 * history.c opens, history_commit.c writes, history_read.c looks, history_lock.c and history_park.c
 * are about files beside the objects and know no libgit2.
 *
 * Nothing else includes this. */
#ifndef STRIDE_TUI_HISTORY_CORE_H
#define STRIDE_TUI_HISTORY_CORE_H

#include "history.h"

#include <time.h>

struct git_repository;
struct git_signature;
struct git_oid;

enum { HISTORY_FILES = 4, HISTORY_FILE_MOST = 32 << 20 };

struct history {
    struct git_repository *repo;
    char *work;    /* absolute, no links in it */
    char *git_dir; /* work/.git */
    char *parked;  /* where attempts wait that could not be recorded */
};

/* "kernel.cu" and so on. */
const char *history_file_name(enum history_file file);

/* What one commit changes: the four files of a lab's folder. A file with `keep` stays as HEAD has
 * it; otherwise bytes == NULL means that it is gone. */
struct history_change {
    const char *lab, *subject, *body;
    struct {
        bool keep;
        const struct buf *bytes;
    } files[HISTORY_FILES];
    int64_t author_time_s; /* 0 for now */
};

/* Commits on the present HEAD. A damaged HEAD is healed or set aside (notice says so). *busy is set
 * when the reason of a failure will pass by itself (a lock). */
bool history_apply(struct history *history, const struct history_change *change, char id[41],
                   bool *busy, struct err *notice, struct err *err);

/* Opens or creates work/.git into history->repo. */
bool history_open_repository(struct history *history, struct err *notice, struct err *err);

/* Renames .git to a name beside work and begins an empty history. */
bool history_begin_fresh(struct history *history, const char *why, struct err *notice,
                         struct err *err);

/* The student's identity, or a neutral one. Free with git_signature_free. */
bool history_signature(struct history *history, struct git_signature **out, int64_t time_s,
                       struct err *notice, struct err *err);

/* Whether an object that could not be read is damaged or gone, as opposed to not readable for us.
 */
bool history_is_damaged(const struct history *history, const struct git_oid *id, struct err *err);

/* "objects/ab/cdef.." of a loose object, absolute; free() it. */
char *history_loose_path(const struct history *history, const struct git_oid *id);

/* libgit2's last error as text, with the way out for the usual causes. Returns false. */
bool history_explain(struct err *err, const char *doing);

/* Adds a sentence to a notice (which may be NULL). */
void history_tell(struct err *notice, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Tells once per repository: true the first time for that mark. */
bool history_first_time(const struct history *history, const char *mark);

/* ---- locks */

/* Looks for lock files that git takes for a commit on `branch` (a full ref name, NULL when
 * detached). Stale ones are removed and told; false with err when one is in use. */
bool history_clear_locks(const char *git_dir, const char *work, const char *branch,
                         struct err *notice, struct err *err);

/* ---- parked attempts */

struct history_parked {
    char *folder; /* its path */
    char *lab, *subject, *body;
    int64_t time_s;
    bool has[HISTORY_FILES];
    struct buf files[HISTORY_FILES];
};

bool history_park(const char *parked, const struct history_attempt *attempt, struct err *err);

/* Names of the parked attempts, oldest first; free each and the list. */
int history_parked_list(const char *parked, char ***names);
bool history_parked_load(struct history_parked *out, const char *parked, const char *name,
                         struct err *err);
void history_parked_free(struct history_parked *parked);
void history_parked_remove(const struct history_parked *parked);

/* The number in "cp-async #12: ..." when it is that lab's; 0 otherwise. */
int history_subject_number(const char *subject, const char *lab);

#endif

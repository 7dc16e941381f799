/* Attempts, restores and resets, as changes of one lab's folder; and what becomes of an attempt
 * that can't be recorded now. */
#include "history_core.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *lab_path(const struct history *history, const char *lab, enum history_file file)
{
    return mem_printf("%s/%s/%s", history->work, lab, history_file_name(file));
}

static void unlink_link(const char *path)
{
    struct stat info;
    if (lstat(path, &info) == 0 && S_ISLNK(info.st_mode))
        unlink(path);
}

/* Makes the lab's folder on disk what the change says, but for files it keeps. */
static bool write_files(const struct history *history, const struct history_change *change,
                        int first, struct err *err)
{
    char *folder = path_join(history->work, change->lab);
    bool ok = file_make_dirs(folder, err);
    free(folder);
    for (int i = first; ok && i < HISTORY_FILES; i++) {
        char *path = lab_path(history, change->lab, (enum history_file)i);
        const struct buf *bytes = change->files[i].bytes;
        if (change->files[i].keep) {
            /* as it is */
        } else if (bytes) {
            if (i != HISTORY_KERNEL) /* ours: a link that stands there is not followed */
                unlink_link(path);
            ok = file_write(path, buf_str(bytes), bytes->len, false, err);
        } else if (unlink(path) != 0 && errno != ENOENT) {
            ok = err_set(err, _("cannot remove %s: %s"), path, strerror(errno));
        }
        free(path);
    }
    return ok;
}

static struct history_change change_of_parked(const struct history_parked *parked)
{
    struct history_change change = {.lab = parked->lab,
                                    .subject = parked->subject,
                                    .body = parked->body,
                                    .author_time_s = parked->time_s};
    for (int i = 0; i < HISTORY_FILES; i++)
        change.files[i].bytes = parked->has[i] ? &parked->files[i] : NULL;
    return change;
}

bool history_retry(struct history *history, int *left, struct err *notice, struct err *err)
{
    char **names = NULL;
    int count = history_parked_list(history->parked, &names), saved = 0;
    bool ok = true;
    for (int i = 0; i < count; i++) {
        struct history_parked parked;
        bool busy = false;
        if (ok && history_parked_load(&parked, history->parked, names[i], err)) {
            struct history_change change = change_of_parked(&parked);
            ok = history_apply(history, &change, NULL, &busy, notice, err);
            if (ok) {
                history_parked_remove(&parked);
                saved++;
            }
            history_parked_free(&parked);
        } else if (ok) {
            history_parked_free(&parked); /* damaged: stays where it is, the others go on */
        }
        free(names[i]);
    }
    free(names);
    if (saved) {
        rmdir(history->parked);
        history_tell(notice, saved == 1 ? _("an attempt that had been kept aside is recorded now.")
                                        : _("attempts that had been kept aside are recorded now."));
    }
    if (left)
        *left = count - saved;
    return ok;
}

/* The attempt could not be recorded: keep it aside and say both things in one sentence. */
static bool park(struct history *history, const struct history_attempt *attempt, bool busy,
                 struct err *err)
{
    struct err why = err ? *err : (struct err){0}, trouble = {0};
    if (history_park(history->parked, attempt, &trouble))
        return err_set(err,
                       busy ? _("attempt kept aside, to be recorded soon: %s")
                            : _("attempt not recorded, kept aside in %2$s: %1$s"),
                       why.text, history->parked);
    return err_set(err, _("attempt not saved: %s"), why.text);
}

bool history_commit_attempt(struct history *history, const struct history_attempt *attempt,
                            char id[41], struct err *notice, struct err *err)
{
    struct history_change change = {
        .lab = attempt->lab, .subject = attempt->subject, .body = attempt->body};
    const struct buf *files[HISTORY_FILES] = {attempt->kernel, attempt->record, attempt->ptx,
                                              attempt->sass};
    for (int i = 0; i < HISTORY_FILES; i++)
        change.files[i].bytes = files[i];
    struct err local = {0};
    err = err ? err : &local;
    bool busy = false;
    bool ok = history_retry(history, NULL, notice, err) &&
              write_files(history, &change, HISTORY_RECORD, err) &&
              history_apply(history, &change, id, &busy, notice, err);
    return ok || park(history, attempt, busy, err);
}

/* ---- kernels that are no attempts */

/* Whether the buffer holds what HEAD has for the file. A file that HEAD lacks equals nothing. */
static bool head_has(struct history *history, const char *lab, const struct buf *bytes)
{
    struct buf head = {0};
    bool same = history_read(history, lab, "HEAD", HISTORY_KERNEL, &head, NULL) &&
                head.len == bytes->len && memcmp(buf_str(&head), buf_str(bytes), head.len) == 0;
    buf_free(&head);
    return same;
}

static bool commit_kernel_only(struct history *history, const char *lab, const struct buf *kernel,
                               const char *subject, struct err *err)
{
    struct history_change change = {.lab = lab, .subject = subject};
    bool busy = false;
    change.files[HISTORY_KERNEL].bytes = kernel;
    for (int i = HISTORY_RECORD; i < HISTORY_FILES; i++)
        change.files[i].keep = true;
    return history_apply(history, &change, NULL, &busy, NULL, err);
}

/* Commits the text on disk when no commit at HEAD holds it. */
static bool save_disk_text(struct history *history, const char *lab, const char *subject,
                           struct err *err)
{
    struct buf disk = {0};
    char *path = lab_path(history, lab, HISTORY_KERNEL);
    bool ok = true;
    if (file_exists(path)) {
        ok = file_read(&disk, path, HISTORY_FILE_MOST, err);
        if (ok && !head_has(history, lab, &disk))
            ok = commit_kernel_only(history, lab, &disk, subject, err);
    }
    buf_free(&disk);
    free(path);
    return ok;
}

bool history_commit_kernel(struct history *history, const char *lab, const struct buf *kernel,
                           const char *subject, struct err *err)
{
    if (!kernel)
        return save_disk_text(history, lab, subject, err);
    char *before = mem_printf("%s: save before: %s", lab, subject);
    struct history_change change = {.lab = lab, .subject = subject};
    bool busy = false;
    change.files[HISTORY_KERNEL].bytes = kernel;
    bool ok = save_disk_text(history, lab, before, err) && write_files(history, &change, 0, err);
    struct buf record = {0};
    bool same = ok && head_has(history, lab, kernel) &&
                !history_read(history, lab, "HEAD", HISTORY_RECORD, &record, NULL);
    ok = ok && (same || history_apply(history, &change, NULL, &busy, NULL, err));
    buf_free(&record);
    free(before);
    return ok;
}

bool history_restore(struct history *history, const char *lab, const char *id, struct err *err)
{
    struct history_entry entry;
    struct buf files[HISTORY_FILES] = {0};
    struct history_change change = {.lab = lab};
    char *subject = NULL, *before = NULL;
    bool busy = false;
    bool ok = history_find(history, lab, id, &entry, err);
    for (int i = 0; ok && i < HISTORY_FILES; i++) {
        struct err *report = i == HISTORY_KERNEL ? err : NULL; /* the others may be missing */
        bool there = history_read(history, lab, entry.id, (enum history_file)i, &files[i], report);
        if (there)
            change.files[i].bytes = &files[i];
        else
            ok = i != HISTORY_KERNEL;
    }
    if (ok) {
        subject = entry.attempt ? mem_printf("%s: restore #%d", lab, entry.attempt)
                                : mem_printf("%s: restore %.10s", lab, entry.id);
        before = mem_printf("%s: save before restoring", lab);
        change.subject = subject;
        ok = save_disk_text(history, lab, before, err) && write_files(history, &change, 0, err) &&
             history_apply(history, &change, NULL, &busy, NULL, err);
    }
    for (int i = 0; i < HISTORY_FILES; i++)
        buf_free(&files[i]);
    free(subject);
    free(before);
    return ok;
}

#include "recorder.h"

#include "harness/base/file.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>

enum { LOCK_TRIES = 400, LOCK_STEP_MS = 5 };

/* Two Strides of one student must not give one number twice. Whoever holds the lock for two
 * seconds, longer than some commits take on a loaded machine, is stopped or gone wrong: then it is
 * done without. Returns -1 for that. */
static int lock_home(const struct library *library)
{
    char *path = path_join(library->home, ".recording");
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    free(path);
    for (int i = 0; fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0; i++) {
        if (i == LOCK_TRIES) {
            close(fd);
            return -1;
        }
        poll(NULL, 0, LOCK_STEP_MS);
    }
    return fd;
}

void recorder_keep_starter(struct history *history, const char *lab)
{
    struct buf kernel = {0};
    if (history && !history_read(history, lab, "HEAD", HISTORY_KERNEL, &kernel, NULL)) {
        char *subject = mem_printf("%s: starter", lab);
        /* If it can't be kept now, the first attempt says why. */
        history_commit_kernel(history, lab, NULL, subject, NULL);
        free(subject);
    }
    buf_free(&kernel);
}

static bool commit(struct history *history, struct runner *runner, char id[41], struct err *notice,
                   struct err *err)
{
    struct buf record = {0}, subject = {0}, body = {0}, ptx = {0}, sass = {0};
    bool has_ptx = runner_take_listing(runner, "kernel.ptx", &ptx);
    bool has_sass = runner_take_listing(runner, "kernel.sass", &sass);
    attempt_dump(runner->attempt.record, &record);
    attempt_commit_subject(runner->attempt.record, &subject);
    attempt_commit_body(runner->attempt.record, &body);
    struct history_attempt attempt = {
        .lab = runner->lab,
        .kernel = &runner->kernel,
        .record = &record,
        .ptx = has_ptx && ptx.len ? &ptx : NULL,
        .sass = has_sass && sass.len ? &sass : NULL,
        .subject = buf_str(&subject),
        .body = buf_str(&body),
    };
    bool ok = history_commit_attempt(history, &attempt, id, notice, err);
    if (!ok)
        id[0] = '\0';
    buf_free(&record);
    buf_free(&subject);
    buf_free(&body);
    buf_free(&ptx);
    buf_free(&sass);
    return ok;
}

bool recorder_keep(struct history *history, const struct library *library, struct runner *runner,
                   char id[41], struct err *notice, struct err *err)
{
    bool ok = true;
    int number = 0;
    id[0] = '\0';
    if (*runner->trouble)
        return true;
    int lock = library->writable ? lock_home(library) : -1;
    if (history) {
        ok = history_next_attempt(history, runner->lab, &number, err);
        if (ok) {
            attempt_set_number(&runner->attempt, number);
            ok = commit(history, runner, id, notice, err);
        }
    }
    struct err trouble = {0};
    if (library->writable &&
        !library_note_attempt(library, runner->lab, runner->attempt.record, &trouble) && ok) {
        *err = trouble;
        ok = false;
    }
    if (lock >= 0)
        close(lock);
    return ok;
}

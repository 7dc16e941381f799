/* A sitting of one student: the app, and everything outside of it that its requests are about.
 *
 * A session owns the library, the history, the harness child, the editor child and the app. The one
 * loop in main.c polls its descriptors and calls session_pump; the terminal, or a script, is
 * main's.
 *
 * It never draws, never reads keys and never waits. */
#ifndef STRIDE_TUI_SESSION_H
#define STRIDE_TUI_SESSION_H

#include "tui/app.h"
#include "tui/editor.h"
#include "tui/history.h"
#include "tui/library.h"
#include "tui/runner.h"
#include "tui/watch.h"

enum { SESSION_FDS = JOB_FDS + 1 };

struct session_options {
    const char *language, *theme, *backend, *lab; /* NULL: as last time, or the default */
};

/* What main has to do for a request that the session cannot perform alone. */
enum session_answer {
    SESSION_DONE,
    SESSION_LEAVE, /* an editor was started: the terminal is its until session->editing is over */
    SESSION_THEME, /* session->theme changed */
    SESSION_REPAINT,
    SESSION_SUSPEND,
    SESSION_QUIT,
};

struct session {
    struct app app;
    struct library library;
    struct history *history; /* NULL: nothing is recorded, app.history_problem says why */
    struct runner runner;
    bool judging;          /* the runner has a job of ours */
    bool again;            /* the kernel changed meanwhile: run it when this attempt is over */
    bool started;          /* session_start was called */
    int64_t idle_since_ns; /* when the warm child was last of use */
    int64_t idle_ns;       /* after that long it is let go */

    bool editing; /* an editor has the terminal */
    pid_t editor_pid;
    int64_t editor_since_ns;
    struct editor editor;
    bool detached; /* the last editor returned at once: its saves are run when they come */
    struct watch watch;
    struct buf kernel; /* the student's text as last seen */

    char theme[16];
    bool english_only; /* Chinese was wanted and cannot be shown: the setting stays as it is */
    struct glossary *glossary;
    json_t *settings; /* home/screen.json */
    json_t *quizzes;  /* home/quiz.json */
};

/* Finds the course and puts it on the screen; what takes time comes in session_start. */
bool session_open(struct session *session, const struct session_options *options, struct err *err);

/* Opens the history and warms the harness: called once, after the first frame. */
void session_start(struct session *session, int64_t now_ns);

void session_close(struct session *session);

enum session_answer session_perform(struct session *session, const struct request *request,
                                    int64_t now_ns);

int session_poll_fds(const struct session *session, struct pollfd fds[SESSION_FDS]);

/* Milliseconds until session_pump wants to be called again; -1 for never. */
int session_timeout_ms(const struct session *session, int64_t now_ns);

/* Reads what came, keeps deadlines, ends what is over. True when the app changed. */
bool session_pump(struct session *session, int64_t now_ns);

/* Looks whether the editor is over. True when it is, and the terminal is main's again. */
bool session_reap_editor(struct session *session, int64_t now_ns);

/* Kills an editor that is still open: the terminal is gone. */
void session_drop_editor(struct session *session);

/* Whether an attempt runs; whether nothing at all is under way. */
bool session_is_running(const struct session *session);
bool session_is_idle(const struct session *session);

#endif

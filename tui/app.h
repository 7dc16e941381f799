/* What the screen shows and what keys do to it: the state of the full-screen program.
 *
 * An app owns its panes and copies of all text, records and lists that it is given; labs and the
 * running attempt are borrowed. Events go in, at most one request comes out, which the caller
 * performs and answers through the app_set_ functions.
 *
 * It reads no file, starts nothing, looks at no clock and knows no terminal: time is part of an
 * event. app_draw (draw.c) changes nothing and may be called twice. */
#ifndef STRIDE_TUI_APP_H
#define STRIDE_TUI_APP_H

#include "harness/base/buf.h"
#include "harness/base/labfile.h"
#include "tui/attempt.h"
#include "tui/cells.h"
#include "tui/command.h"
#include "tui/layout.h"
#include "tui/quiz.h"
#include "tui/viewer.h"

#include <jansson.h>

enum event_kind { EVENT_KEY, EVENT_SIZE, EVENT_TICK };

struct event {
    enum event_kind kind;
    int64_t now_ns;
    int32_t key;    /* EVENT_KEY */
    bool pasted;    /* EVENT_KEY: part of a text that was pasted, not typed */
    int rows, cols; /* EVENT_SIZE */
};

enum request_kind {
    REQUEST_NONE,
    REQUEST_OPEN_LAB, /* lab */
    REQUEST_EDIT,     /* line, 0 for none */
    REQUEST_RUN,
    REQUEST_STOP,
    REQUEST_BACKEND,      /* app->backend changed */
    REQUEST_LANGUAGE,     /* text: the language wanted */
    REQUEST_THEME,        /* the next one */
    REQUEST_SHOW_ATTEMPT, /* a */
    REQUEST_DIFF,         /* a, b; b empty: the file as it is now */
    REQUEST_RESTORE,      /* a */
    REQUEST_HISTORY_MORE,
    REQUEST_SAVE_QUIZ, /* app->quiz_state changed */
    REQUEST_REPAINT,
    REQUEST_SUSPEND,
    REQUEST_QUIT,
};

struct request {
    enum request_kind kind;
    unsigned lab;
    int line;
    char a[41], b[41];
};

/* One row of the history pane. */
struct app_attempt {
    char id[41];
    int number;
    int64_t time_s;
    int offset_minutes;
    char verdict[16], speedup[16], subject[160];
};

/* What an attempt left to look at: the present one, or one out of the history. */
struct exhibit {
    json_t *record; /* NULL before the first attempt */
    struct buf kernel, ptx, sass;
};

enum app_text { TEXT_LESSON, TEXT_QUIZ, TEXT_DIFF, TEXT_COUNT };

struct pane_view {
    struct doc doc;
    struct viewer viewer;
    bool stale;    /* what it shows changed */
    int columns;   /* that the doc was built for */
    unsigned used; /* when it was last focused, in focus changes */
};

enum app_mode { MODE_PANES, MODE_SEARCH, MODE_RESTORE, MODE_QUIT };
enum app_backend { BACKEND_AUTO, BACKEND_GPU, BACKEND_SIM, BACKEND_COUNT };

struct app {
    struct layout layout;
    int rows, cols;
    int64_t now_ns;

    struct labfile *const *labs; /* borrowed */
    unsigned lab_count, lab;
    bool lab_open;
    json_t *progress; /* {slug: {attempts, verdict, best, speedup}} */

    struct buf text[TEXT_COUNT];
    struct exhibit present, past;
    int past_number;               /* of the attempt in `past`; 0: the present is shown */
    const struct attempt *attempt; /* while one runs; borrowed */
    bool stopping;
    bool kernel_changed;    /* since the record was made */
    enum pane crossed_from; /* where Enter in Code goes back to */
    int code_line;          /* where Code goes when it is next built; 0: stays */

    struct app_attempt *history; /* newest first */
    size_t history_count;
    bool history_more;
    char restore_id[41]; /* what MODE_RESTORE asks about, whatever the list does meanwhile */
    int restore_number;
    char history_mark[41]; /* chosen for a comparison; "" for none */
    bool diff_open;
    char diff_title[64];
    char history_problem[256]; /* why there is no recording; "" */

    struct quiz quiz;
    int question;       /* shown, from 0 */
    json_t *quiz_state; /* {slug: what was answered, as quiz_to_json writes it} */

    const struct glossary *glossary; /* borrowed; NULL: nothing is explained */

    enum app_backend backend;
    int zoom;    /* of the timeline: its width shows 1/2^zoom of the whole time... */
    double from; /* ...from this part of it on, 0..1 */
    bool graphs_open, baseline_hidden; /* in the timeline */

    char notice[512];
    enum style notice_style;

    struct pane_view pane[PANE_COUNT];
    struct pane_view hint;
    unsigned uses;
    bool noise; /* listings show what is left out otherwise */
    bool help_open, hint_open;
    int hints_shown;
    enum app_mode mode;
    struct buf input;
};

/* Starts with the labs of the course, none of them open. */
void app_init(struct app *app, struct labfile *const *labs, unsigned lab_count);
void app_free(struct app *app);

/* Takes in one event and says what the caller has to do. */
struct request app_event(struct app *app, const struct event *event);

/* Rebuilds what is stale and visible. Called by app_event; call it after app_set_ functions. */
void app_settle(struct app *app);

/* Draws everything for the app's size. */
void app_draw(const struct app *app, struct cells *cells);

/* Answers to requests, and news. Bytes are copied, JSON values are kept by reference count. */
void app_set_lab(struct app *app, unsigned lab);
void app_set_text(struct app *app, enum app_text which, const char *text, size_t len);
void app_set_kernel(struct app *app, const char *text, size_t len);
void app_set_listings(struct app *app, const struct buf *ptx, const struct buf *sass);
void app_set_record(struct app *app, json_t *record);
void app_set_attempt(struct app *app, const struct attempt *attempt); /* NULL: none runs */
void app_set_progress(struct app *app, json_t *progress);
void app_set_history(struct app *app, const struct app_attempt *rows, size_t count, bool more);
void app_set_history_problem(struct app *app, const char *why);
void app_set_quiz_state(struct app *app, json_t *state);
void app_set_diff(struct app *app, const char *title, const char *text, size_t len);

/* Puts the answers of the open quiz into quiz_state. */
void app_keep_quiz(struct app *app);

/* Shows an attempt out of the history in all panes, until Esc. Takes the buffers' bytes. */
void app_set_past(struct app *app, int number, json_t *record, struct buf *kernel, struct buf *ptx,
                  struct buf *sass);

void app_leave_past(struct app *app); /* shows the present again */

/* The record, code or attempt changed: panes that show it are rebuilt. */
void app_touch(struct app *app);

/* Everything is rebuilt: the language changed. */
void app_touch_all(struct app *app);

/* One line for the student, until the next key. */
void app_say(struct app *app, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void app_focus(struct app *app, enum pane pane);
/* Makes the pane visible; takes the focus only when it has to. */
void app_bring(struct app *app, enum pane pane);

enum pane app_focused(const struct app *app);
enum pane app_shown(const struct app *app, int column);

/* The pane's text area. Code that fits only if it takes the column's margins too has them. */
struct rect app_text_of(const struct app *app, enum pane pane);

/* What the panes are about: the attempt shown, running or last. */
const json_t *app_record(const struct app *app);
const struct exhibit *app_exhibit(const struct app *app);
const struct labfile *app_lab(const struct app *app);   /* NULL when none is open */
const char *app_backend_name(enum app_backend backend); /* "auto", as in a job */

/* The view that keys go to: help, the hint, or the focused pane. */
struct pane_view *app_view(struct app *app);

#endif

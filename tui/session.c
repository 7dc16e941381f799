/* Opening, labs, the history and settings. Attempts and the editor are in session_run.c. */
#include "tui/session.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "tui/charset.h"
#include "tui/glossary.h"
#include "tui/pane.h"
#include "tui/recorder.h"
#include "tui/session_core.h"
#include "tui/theme.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HISTORY_STEP = 500 };

/* ---- texts */

static void load_text(struct session *session, enum library_text which, enum app_text slot)
{
    const struct labfile *lab = app_lab(&session->app);
    struct buf text = {0};
    struct err err = {0};
    if (library_read_text(&session->library, lab, which, &text, NULL, &err))
        app_set_text(&session->app, slot, buf_str(&text), text.len);
    else
        app_set_text(&session->app, slot, err.text, strlen(err.text));
    buf_free(&text);
}

static void load_texts(struct session *session)
{
    if (!app_lab(&session->app))
        return;
    load_text(session, LIBRARY_LESSON, TEXT_LESSON);
    load_text(session, LIBRARY_QUIZ, TEXT_QUIZ);
}

bool session_load_kernel(struct session *session)
{
    const struct labfile *lab = app_lab(&session->app);
    struct buf text = {0};
    struct err err = {0};
    if (!lab)
        return false;
    if (!library_read_kernel(&session->library, lab->slug, &text, &err)) {
        app_say(&session->app, STYLE_FAIL, "%s", err.text);
        buf_free(&text);
        return false;
    }
    bool changed = text.len != session->kernel.len ||
                   (text.len > 0 && memcmp(text.data, session->kernel.data, text.len) != 0);
    if (changed) {
        buf_free(&session->kernel);
        session->kernel = text;
        session->app.kernel_changed = true;
        app_set_kernel(&session->app, buf_str(&text), text.len);
    } else {
        buf_free(&text);
    }
    return changed;
}

/* ---- history */

static void add_row(struct app_attempt *out, const struct history_entry *entry)
{
    memset(out, 0, sizeof *out);
    memcpy(out->id, entry->id, sizeof out->id);
    out->number = entry->attempt;
    out->time_s = entry->time_s;
    out->offset_minutes = entry->offset_minutes;
    memcpy(out->verdict, entry->verdict, sizeof out->verdict);
    memcpy(out->speedup, entry->speedup, sizeof out->speedup);
    memcpy(out->subject, entry->subject, sizeof out->subject);
}

void session_load_history(struct session *session, size_t most)
{
    const struct labfile *lab = app_lab(&session->app);
    if (!session->history || !lab)
        return;
    struct history_entry *entries = mem_zero(most, sizeof *entries);
    struct app_attempt *rows = mem_zero(most, sizeof *rows);
    size_t count = 0;
    bool more = false;
    struct err err = {0};
    if (history_list(session->history, lab->slug, 0, most, entries, &count, &more, &err)) {
        for (size_t i = 0; i < count; i++)
            add_row(&rows[i], &entries[i]);
        app_set_history(&session->app, rows, count, more);
    }
    app_set_history_problem(&session->app, err.text); /* also: the list ends early, and why */
    free(rows);
    free(entries);
}

/* Reads one attempt's files; a file that was not made is empty. */
static json_t *read_attempt(struct session *session, const char *id, struct buf *kernel,
                            struct buf *ptx, struct buf *sass)
{
    const char *slug = app_lab(&session->app)->slug;
    struct buf text = {0};
    json_t *record = NULL;
    history_read(session->history, slug, id, HISTORY_KERNEL, kernel, NULL);
    history_read(session->history, slug, id, HISTORY_PTX, ptx, NULL);
    history_read(session->history, slug, id, HISTORY_SASS, sass, NULL);
    if (history_read(session->history, slug, id, HISTORY_RECORD, &text, NULL))
        record = attempt_load_record(buf_str(&text), text.len);
    buf_free(&text);
    return record;
}

/* The last attempt fills the panes, so that a student goes on where they stopped. */
static void load_last(struct session *session)
{
    struct history_entry last;
    struct buf kernel = {0}, ptx = {0}, sass = {0};
    if (!session->history || !app_lab(&session->app) ||
        !history_find(session->history, app_lab(&session->app)->slug, "last", &last, NULL))
        return;
    json_t *record = read_attempt(session, last.id, &kernel, &ptx, &sass);
    if (record) {
        app_set_record(&session->app, record);
        app_set_listings(&session->app, &ptx, &sass);
        session->app.kernel_changed =
            kernel.len != session->kernel.len ||
            memcmp(buf_str(&kernel), buf_str(&session->kernel), kernel.len) != 0;
    }
    json_decref(record);
    buf_free(&kernel);
    buf_free(&ptx);
    buf_free(&sass);
}

static void show_attempt(struct session *session, const char *id)
{
    struct buf kernel = {0}, ptx = {0}, sass = {0};
    struct app *app = &session->app;
    int number = 0;
    for (size_t i = 0; i < app->history_count; i++)
        if (strcmp(app->history[i].id, id) == 0)
            number = app->history[i].number;
    json_t *record = read_attempt(session, id, &kernel, &ptx, &sass);
    if (!record && kernel.len == 0) {
        app_say(app, STYLE_WARN, "%s", _("this entry has no attempt in it"));
    } else {
        app_set_past(app, number > 0 ? number : -1, record, &kernel, &ptx, &sass);
        app_bring(app, PANE_CORRECTNESS);
        if (number > 0)
            app_say(app, STYLE_INFO,
                    _("all panes show attempt #%d now; Esc goes back to the present"), number);
        else
            app_say(app, STYLE_INFO, "%s",
                    _("all panes show this entry now; Esc goes back to the present"));
    }
    json_decref(record);
    buf_free(&kernel);
    buf_free(&ptx);
    buf_free(&sass);
}

static size_t place_of(const struct app *app, const char *id)
{
    size_t i = 0;
    while (i < app->history_count && strcmp(app->history[i].id, id) != 0)
        i++;
    return i;
}

/* "#3"; starters and restores have no number and are named by their commit, as in the list. */
static void name_entry(const struct app *app, const char *id, char out[16])
{
    size_t place = place_of(app, id);
    if (place < app->history_count && app->history[place].number > 0)
        snprintf(out, 16, "#%d", app->history[place].number);
    else
        snprintf(out, 16, "%.10s", id);
}

static void show_diff(struct session *session, const char *a, const char *b)
{
    struct app *app = &session->app;
    struct buf text = {0};
    struct err err = {0};
    char title[96], from[16], to[16] = "";
    if (*b && place_of(app, a) < place_of(app, b)) { /* from the older one to the newer one, */
        const char *swap = a;                        /* whichever was marked first */
        a = b;
        b = swap;
    }
    name_entry(app, a, from);
    if (*b)
        name_entry(app, b, to);
    if (!*b)
        snprintf(title, sizeof title, _("from %s to your file now"), from);
    else
        snprintf(title, sizeof title, _("from %s to %s"), from, to);
    if (history_diff(session->history, app_lab(app)->slug, a, *b ? b : NULL, HISTORY_KERNEL, &text,
                     &err))
        app_set_diff(app, title, buf_str(&text), text.len);
    else
        app_say(app, STYLE_FAIL, "%s", err.text);
    buf_free(&text);
}

static void restore(struct session *session, const char *id)
{
    struct app *app = &session->app;
    struct err err = {0};
    if (!history_restore(session->history, app_lab(app)->slug, id, &err)) {
        app_say(app, STYLE_FAIL, "%s", err.text);
        return;
    }
    app_leave_past(app);
    session_load_kernel(session);
    session_load_history(session, app->history_count + 2);
    app_touch(app);
    app_say(app, STYLE_PASS, "%s", _("restored, as a new commit; r runs it"));
}

/* ---- labs and settings */

void session_load_progress(struct session *session)
{
    json_t *progress = library_load_state(&session->library, "progress", NULL);
    app_set_progress(&session->app, progress);
    json_decref(progress);
}

void session_save_settings(struct session *session)
{
    const struct labfile *lab = app_lab(&session->app);
    json_t *settings = session->settings;
    if (!session->english_only)
        json_object_set_new(settings, "language", json_string(msg_language()));
    if (!theme_no_color()) /* which is for this sitting only */
        json_object_set_new(settings, "theme", json_string(session->theme));
    json_object_set_new(settings, "backend", json_string(app_backend_name(session->app.backend)));
    if (lab)
        json_object_set_new(settings, "lab", json_string(lab->slug));
    if (session->library.writable)
        library_save_state(&session->library, "screen", settings, NULL);
}

static void watch_kernel(struct session *session)
{
    char *path = library_work_path(&session->library, app_lab(&session->app)->slug, "kernel.cu");
    watch_close(&session->watch);
    watch_open(&session->watch, path);
    free(path);
}

static void open_lab(struct session *session, unsigned index, int64_t now_ns)
{
    struct err err = {0};
    struct app *app = &session->app;
    if (session->judging) {
        app_say(app, STYLE_INFO, "%s", _("an attempt is running; x stops it"));
        return;
    }
    session_let_go(session, now_ns);
    session->detached = false;
    app_set_lab(app, index);
    load_texts(session);
    buf_clear(&session->kernel);
    if (!library_prepare(&session->library, app_lab(app), NULL, &err))
        app_say(app, STYLE_WARN, "%s", err.text);
    else
        session_load_kernel(session);
    app->kernel_changed = false;
    watch_kernel(session);
    if (!session->started)
        return;
    recorder_keep_starter(session->history, app_lab(app)->slug);
    session_load_history(session, HISTORY_STEP);
    load_last(session);
    session_save_settings(session);
    session_warm(session, now_ns);
}

static void set_language(struct session *session, const char *language, int64_t now_ns)
{
    struct err err = {0};
    language = charset_language(language, &err);
    if (*err.text) {
        app_say(&session->app, STYLE_WARN, "%s", err.text);
        return;
    }
    session->english_only = false;
    if (!msg_load(session->library.root, language, &err))
        app_say(&session->app, STYLE_FAIL, "%s", err.text);
    load_texts(session);
    app_touch_all(&session->app);
    session_save_settings(session);
    if (!session
             ->judging) { /* the child's sentences are in the language that it was started with */
        session_let_go(session, now_ns);
        session_warm(session, now_ns);
    }
}

static void say_backend(struct session *session)
{
    static const char *const sentences[] = {
        N_("runs on: auto, the GPU where the lab can run there, else the simulator"),
        N_("runs on: gpu only"), N_("runs on: sim, the simulator only: right and wrong, no times")};
    app_say(&session->app, STYLE_INFO, "%s", _(sentences[session->app.backend]));
    session_save_settings(session);
}

static enum session_answer next_theme(struct session *session)
{
    if (theme_no_color()) {
        app_say(&session->app, STYLE_INFO, "%s", _("NO_COLOR is set: there are no colours"));
        return SESSION_DONE;
    }
    snprintf(session->theme, sizeof session->theme, "%s", theme_next(session->theme));
    app_say(&session->app, STYLE_INFO, _("theme: %s"), session->theme);
    session_save_settings(session);
    return SESSION_THEME;
}

static bool needs_history(struct session *session)
{
    if (session->history && app_lab(&session->app))
        return true;
    app_say(&session->app, STYLE_WARN, "%s",
            *session->app.history_problem ? session->app.history_problem
                                          : _("there is no history here"));
    return false;
}

enum session_answer session_perform(struct session *session, const struct request *request,
                                    int64_t now_ns)
{
    enum session_answer answer = SESSION_DONE;
    switch (request->kind) {
    case REQUEST_NONE:
        break;
    case REQUEST_OPEN_LAB:
        open_lab(session, request->lab, now_ns);
        break;
    case REQUEST_EDIT:
        answer = session_edit(session, request->line, now_ns) ? SESSION_LEAVE : SESSION_DONE;
        break;
    case REQUEST_RUN:
        session_run(session, now_ns);
        break;
    case REQUEST_STOP:
        runner_stop(&session->runner, now_ns);
        break;
    case REQUEST_BACKEND:
        say_backend(session);
        break;
    case REQUEST_LANGUAGE:
        set_language(session, request->a, now_ns);
        break;
    case REQUEST_THEME:
        answer = next_theme(session);
        break;
    case REQUEST_SHOW_ATTEMPT:
        if (needs_history(session))
            show_attempt(session, request->a);
        break;
    case REQUEST_DIFF:
        if (needs_history(session))
            show_diff(session, request->a, request->b);
        break;
    case REQUEST_RESTORE:
        if (needs_history(session))
            restore(session, request->a);
        break;
    case REQUEST_HISTORY_MORE:
        session_load_history(session, session->app.history_count + HISTORY_STEP);
        break;
    case REQUEST_SAVE_QUIZ:
        session_save_quiz(session);
        break;
    case REQUEST_REPAINT:
        answer = SESSION_REPAINT;
        break;
    case REQUEST_SUSPEND:
        answer = SESSION_SUSPEND;
        break;
    case REQUEST_QUIT:
        answer = SESSION_QUIT;
        break;
    }
    app_settle(&session->app);
    return answer;
}

/* ---- opening and closing */

static const char *setting(const struct session *session, const char *asked, const char *key)
{
    const char *kept = json_string_value(json_object_get(session->settings, key));
    return asked ? asked : kept;
}

static void pick_backend(struct session *session, const char *name)
{
    for (int i = 0; name && i < BACKEND_COUNT; i++)
        if (strcmp(name, app_backend_name((enum app_backend)i)) == 0)
            session->app.backend = (enum app_backend)i;
}

static void open_first_lab(struct session *session, const char *slug)
{
    for (unsigned i = 0; slug && i < session->library.lab_count; i++)
        if (strcmp(session->library.labs[i]->slug, slug) == 0) {
            open_lab(session, i, 0);
            app_focus(&session->app, PANE_LESSON);
            return;
        }
}

/* Five minutes, or what $STRIDE_IDLE_SECONDS says. */
static int64_t idle_time_ns(void)
{
    const char *text = getenv("STRIDE_IDLE_SECONDS");
    long seconds = text ? strtol(text, NULL, 10) : 0;
    return (seconds > 0 && seconds < 1000000 ? seconds : 300) * 1000000000LL;
}

bool session_open(struct session *session, const struct session_options *options, struct err *err)
{
    struct err notice = {0};
    memset(session, 0, sizeof *session);
    session->watch.fd = -1;
    runner_free(&session->runner);
    session->idle_ns = idle_time_ns();
    if (!library_open(&session->library, &notice, err))
        return false;
    session->settings = library_load_state(&session->library, "screen", NULL);
    struct err why = {0};
    const char *language = charset_language(setting(session, options->language, "language"), &why);
    session->english_only = *why.text != '\0';
    if (!msg_load(session->library.root, language, &notice))
        msg_load(session->library.root, "en", NULL);
    snprintf(session->theme, sizeof session->theme, "%s",
             theme_pick(setting(session, options->theme, "theme")));
    app_init(&session->app, session->library.labs, session->library.lab_count);
    if (!glossary_open(&session->glossary, session->library.root, &notice))
        session->glossary = NULL;
    session->app.glossary = session->glossary;
    pick_backend(session, setting(session, options->backend, "backend"));
    json_t *answers = library_load_state(&session->library, "quiz", NULL);
    app_set_quiz_state(&session->app, answers);
    json_decref(answers);
    session_load_progress(session);
    open_first_lab(session, setting(session, options->lab, "lab"));
    if (*notice.text || *why.text)
        app_say(&session->app, STYLE_WARN, "%s", *notice.text ? notice.text : why.text);
    return true;
}

void session_start(struct session *session, int64_t now_ns)
{
    struct err notice = {0}, err = {0};
    session->started = true;
    if (!session->library.writable)
        app_set_history_problem(&session->app,
                                _("attempts are not kept: the home can't be written"));
    else if (!history_open(&session->history, session->library.work, &notice, &err))
        app_set_history_problem(&session->app, err.text);
    if (*notice.text)
        app_say(&session->app, STYLE_INFO, "%s", notice.text);
    else if (*err.text)
        app_say(&session->app, STYLE_WARN, "%s", err.text);
    if (app_lab(&session->app)) {
        recorder_keep_starter(session->history, app_lab(&session->app)->slug);
        session_load_history(session, HISTORY_STEP);
        load_last(session);
        session_warm(session, now_ns);
    }
    app_settle(&session->app);
}

void session_close(struct session *session)
{
    if (session->settings)
        session_save_settings(session);
    session_drop_editor(session);
    runner_free(&session->runner);
    history_close(session->history);
    watch_close(&session->watch);
    app_free(&session->app);
    glossary_close(session->glossary);
    library_close(&session->library);
    json_decref(session->settings);
    buf_free(&session->kernel);
    memset(session, 0, sizeof *session);
}

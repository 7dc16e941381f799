/* What a key does. A key is first given to what is open over the panes (a question, the search
 * line), then looked up in the command table; the rest is one switch. */
#include "tui/app_core.h"

#include "harness/base/msg.h"
#include "tui/key.h"
#include "tui/pane.h"

#include <stdio.h>
#include <string.h>

static const struct request nothing = {.kind = REQUEST_NONE};

/* ---- history */

static const struct app_attempt *current_attempt(struct app *app)
{
    const struct doc_line *line = viewer_current(&app->pane[PANE_HISTORY].viewer);
    if (app->diff_open || !line || line->tag < 1 || (size_t)line->tag > app->history_count)
        return NULL;
    return &app->history[line->tag - 1];
}

static struct request history_request(enum request_kind kind, const char *a, const char *b)
{
    struct request request = {.kind = kind};
    snprintf(request.a, sizeof request.a, "%s", a);
    snprintf(request.b, sizeof request.b, "%s", b);
    return request;
}

static struct request diff_attempt(struct app *app)
{
    const struct app_attempt *row = current_attempt(app);
    if (!row)
        return nothing;
    app->pane[PANE_HISTORY].stale = true;
    if (!app->history_mark[0]) {
        snprintf(app->history_mark, sizeof app->history_mark, "%s", row->id);
        app_say(app, STYLE_INFO, "%s",
                _("marked; d on another attempt compares the two, d here compares with the file as "
                  "it is now"));
        return nothing;
    }
    bool same = strcmp(app->history_mark, row->id) == 0;
    struct request request = history_request(REQUEST_DIFF, app->history_mark, same ? "" : row->id);
    app->history_mark[0] = '\0';
    return request;
}

static struct request ask_restore(struct app *app)
{
    const struct app_attempt *row = current_attempt(app);
    if (!row)
        return nothing;
    snprintf(app->restore_id, sizeof app->restore_id, "%s", row->id);
    app->restore_number = row->number;
    app->mode = MODE_RESTORE;
    return nothing;
}

static struct request restore_key(struct app *app, int32_t key)
{
    app->mode = MODE_PANES;
    if (key != 'y' && key != 'Y') {
        app_say(app, STYLE_INFO, "%s", _("nothing was restored"));
        return nothing;
    }
    return history_request(REQUEST_RESTORE, app->restore_id, "");
}

/* An attempt that runs would be lost: leaving asks once. */
static struct request quit(struct app *app)
{
    if (app->help_open || app->hint_open) {
        app->help_open = app->hint_open = false;
        return nothing;
    }
    if (!app->attempt)
        return (struct request){.kind = REQUEST_QUIT};
    app->mode = MODE_QUIT;
    return nothing;
}

static struct request quit_key(struct app *app, int32_t key)
{
    app->mode = MODE_PANES;
    if (key == 'q' || key == 'y' || key == 'Y')
        return (struct request){.kind = REQUEST_QUIT};
    return nothing;
}

/* ---- quiz */

static struct request keep_answers(struct app *app)
{
    app_keep_quiz(app);
    return (struct request){.kind = REQUEST_SAVE_QUIZ};
}

static void go_question(struct app *app, int question)
{
    if (app->quiz.count == 0)
        return;
    app->question = (question + app->quiz.count) % app->quiz.count;
    app->pane[PANE_QUIZ].stale = true;
    app_settle(app);
    viewer_home(&app->pane[PANE_QUIZ].viewer);
    app_move_in_list(&app->pane[PANE_QUIZ], 1);
}

/* What is said about the choice stands below it: as far down as the choice stays on the screen. */
static void show_answer(struct app *app, int choice)
{
    struct pane_view *view = &app->pane[PANE_QUIZ];
    app_settle(app);
    viewer_end(&view->viewer);
    for (uint32_t i = 0; i < view->doc.line_count; i++)
        if (view->doc.lines[i].tag == QUIZ_TAG_CHOICE + choice) {
            viewer_go_line(&view->viewer, i);
            return;
        }
}

static struct request choose(struct app *app, int choice)
{
    if (!quiz_choose(&app->quiz, app->question, choice))
        return nothing;
    struct request request = keep_answers(app);
    show_answer(app, choice);
    return request;
}

static struct request answer(struct app *app)
{
    const struct doc_line *line = viewer_current(&app->pane[PANE_QUIZ].viewer);
    int tag = line ? line->tag : 0;
    if (app->quiz.count == 0)
        return nothing;
    if (app->quiz.questions[app->question].right) {
        go_question(app, quiz_next_open(&app->quiz, app->question));
        return nothing;
    }
    if (tag == QUIZ_TAG_CHECK)
        return quiz_check(&app->quiz, app->question) ? keep_answers(app) : nothing;
    if (tag >= QUIZ_TAG_CHOICE && tag < QUIZ_TAG_CHOICE + QUIZ_CHOICES)
        return choose(app, tag - QUIZ_TAG_CHOICE);
    return nothing;
}

/* a, b, c ... answer too, as far as there are choices; -1 for any other key. */
static int choice_of_key(const struct app *app, int32_t key)
{
    if (app_focused(app) != PANE_QUIZ || app->help_open || app->hint_open || app->quiz.count == 0)
        return -1;
    int choice = key >= 'a' ? (int)key - 'a' : (int)key - 'A';
    return choice >= 0 && choice < app->quiz.questions[app->question].choice_count ? choice : -1;
}

/* ---- closing things, one at a time */

static void back(struct app *app)
{
    struct pane_view *view = app_view(app);
    if (app->hint_open)
        app->hint_open = false;
    else if (app->help_open)
        app->help_open = false;
    else if (view->viewer.needle)
        viewer_search(&view->viewer, "");
    else if (app_focused(app) == PANE_HISTORY && app->diff_open) {
        app->diff_open = false;
        app->pane[PANE_HISTORY].stale = true;
    } else if (app->history_mark[0]) {
        app->history_mark[0] = '\0';
        app->pane[PANE_HISTORY].stale = true;
    } else if (app->past_number) {
        app_leave_past(app);
        app_say(app, STYLE_INFO, "%s", _("back to your kernel as it is now"));
    }
}

static void show_hint(struct app *app)
{
    if (!app_lab(app))
        return;
    if (app->hint_open)
        app->hints_shown++;
    else if (app->hints_shown == 0)
        app->hints_shown = 1;
    app->hint_open = true;
    app->help_open = false;
    app->hint.stale = true;
}

static struct request edit_request(struct app *app)
{
    struct request request = {.kind = REQUEST_EDIT};
    enum pane pane = app_focused(app);
    const json_t *first = json_array_get(record_at(app_record(app), "build.diagnostics"), 0);
    if (pane == PANE_CODE || pane == PANE_CORRECTNESS || pane == PANE_PTX || pane == PANE_SASS)
        request.line = app_current_source(app);
    if (request.line <= 1 && first)
        request.line = record_int(first, "line");
    return request;
}

static struct request language_request(void)
{
    struct request request = {.kind = REQUEST_LANGUAGE};
    snprintf(request.a, sizeof request.a, "%s", strcmp(msg_language(), "en") == 0 ? "zh" : "en");
    return request;
}

static struct request open_lab(struct app *app)
{
    const struct doc_line *line = viewer_current(&app->pane[PANE_COURSE].viewer);
    if (!line || line->tag < 1 || (unsigned)line->tag > app->lab_count)
        return nothing;
    app_focus(app, PANE_LESSON);
    if (app->lab_open && app->lab == (unsigned)line->tag - 1)
        return nothing;
    return (struct request){.kind = REQUEST_OPEN_LAB, .lab = (unsigned)line->tag - 1};
}

static void toggle_course(struct app *app)
{
    app->help_open = app->hint_open = false;
    if (app_focused(app) != PANE_COURSE) {
        app_focus(app, PANE_COURSE);
        return;
    }
    app->pane[PANE_COURSE].used = 0;
    if (app_focused(app) == PANE_COURSE)
        app_focus(app, PANE_LESSON);
    else
        app_focus(app, app_focused(app));
}

static void screen_command(struct app *app, enum command command)
{
    switch (command) {
    case COMMAND_NEXT_PANE:
        app_go_next_pane(app, 1);
        break;
    case COMMAND_PREVIOUS_PANE:
        app_go_next_pane(app, -1);
        break;
    case COMMAND_COURSE:
        toggle_course(app);
        break;
    case COMMAND_SEARCH:
        app->mode = MODE_SEARCH;
        buf_clear(&app->input);
        break;
    case COMMAND_SEARCH_NEXT:
        app_search_next(app, 1);
        break;
    case COMMAND_SEARCH_BACK:
        app_search_next(app, -1);
        break;
    case COMMAND_BACK:
        back(app);
        break;
    case COMMAND_HELP:
        app->help_open = !app->help_open;
        app->hint_open = false;
        break;
    case COMMAND_HINT:
        show_hint(app);
        break;
    case COMMAND_GO_TO_CODE:
    case COMMAND_GO_TO_SOURCE:
    case COMMAND_GO_TO_LINE:
        app_cross(app);
        break;
    case COMMAND_LANDMARK_NEXT:
        app_go_landmark(app, 1);
        break;
    case COMMAND_LANDMARK_BACK:
        app_go_landmark(app, -1);
        break;
    case COMMAND_ZOOM_IN:
        app_zoom(app, 1, 0);
        break;
    case COMMAND_ZOOM_OUT:
        app_zoom(app, -1, 0);
        break;
    case COMMAND_EARLIER:
        app_zoom(app, 0, -0.25);
        break;
    case COMMAND_LATER:
        app_zoom(app, 0, 0.25);
        break;
    case COMMAND_COMPARE:
        app->baseline_hidden = !app->baseline_hidden;
        app->pane[PANE_TIMELINE].stale = true;
        break;
    case COMMAND_GRAPHS:
        app->graphs_open = !app->graphs_open;
        app->pane[PANE_TIMELINE].stale = true;
        break;
    case COMMAND_NOISE:
        app->noise = !app->noise;
        app->pane[PANE_PTX].stale = app->pane[PANE_SASS].stale = true;
        app_say(app, STYLE_INFO, "%s",
                app->noise ? _("all lines are shown") : _("only what is code is shown"));
        break;
    case COMMAND_QUIT_HINT:
        app_say(app, STYLE_INFO, "%s", _("q leaves Stride"));
        break;
    default:
        app_move_command(app, command);
    }
}

static struct request perform(struct app *app, enum command command)
{
    const struct app_attempt *row;
    switch (command) {
    case COMMAND_EDIT:
        return edit_request(app);
    case COMMAND_RUN:
        return (struct request){.kind = REQUEST_RUN};
    case COMMAND_STOP:
        app->stopping = true;
        return (struct request){.kind = REQUEST_STOP};
    case COMMAND_BACKEND:
        app->backend = (enum app_backend)((app->backend + 1) % BACKEND_COUNT);
        return (struct request){.kind = REQUEST_BACKEND};
    case COMMAND_LANGUAGE:
        return language_request();
    case COMMAND_THEME:
        return (struct request){.kind = REQUEST_THEME};
    case COMMAND_REPAINT:
        return (struct request){.kind = REQUEST_REPAINT};
    case COMMAND_SUSPEND:
        return (struct request){.kind = REQUEST_SUSPEND};
    case COMMAND_QUIT:
        return quit(app);
    case COMMAND_OPEN_LAB:
        return open_lab(app);
    case COMMAND_SHOW_ATTEMPT:
        row = current_attempt(app);
        return row ? history_request(REQUEST_SHOW_ATTEMPT, row->id, "") : nothing;
    case COMMAND_DIFF_ATTEMPT:
        return diff_attempt(app);
    case COMMAND_ANSWER:
        return answer(app);
    case COMMAND_QUESTION_NEXT:
        go_question(app, app->question + 1);
        return nothing;
    case COMMAND_QUESTION_BACK:
        go_question(app, app->question - 1);
        return nothing;
    case COMMAND_RESTORE_ATTEMPT:
        return ask_restore(app);
    default:
        screen_command(app, command);
        return nothing;
    }
}

static bool choose_pane(struct app *app, int32_t key)
{
    for (int i = 0; i < PANE_HELP; i++)
        if (key >= '0' && key <= '9' && pane_facts((enum pane)i).key == key) {
            app->help_open = app->hint_open = false;
            app_focus(app, (enum pane)i);
            return true;
        }
    return false;
}

static struct request press(struct app *app, int32_t key)
{
    app->notice[0] = '\0';
    if (app->mode == MODE_SEARCH) {
        app_search_key(app, key);
        return nothing;
    }
    if (app->mode == MODE_RESTORE)
        return restore_key(app, key);
    if (app->mode == MODE_QUIT)
        return quit_key(app, key);
    if (app->layout.too_small && key != 'q' && key != KEY_CTRL('L') && key != KEY_CTRL('Z'))
        return nothing;
    if (choose_pane(app, key))
        return nothing;
    if (choice_of_key(app, key) >= 0)
        return choose(app, choice_of_key(app, key));
    bool over = app->help_open || app->hint_open;
    enum context context = over ? CONTEXT_ANY : pane_facts(app_focused(app)).context;
    return perform(app, command_find(context, app->attempt != NULL, key));
}

/* The oldest attempt in the list is on the screen: there may be more to fetch. */
static bool wants_more_history(struct app *app)
{
    if (!app->history_more || app->diff_open || app_focused(app) != PANE_HISTORY)
        return false;
    const struct doc_line *line = viewer_current(&app->pane[PANE_HISTORY].viewer);
    return line && line->tag > 0 && (size_t)line->tag == app->history_count;
}

/* A text pasted into the wrong window is no row of commands; q may be among them, and then the rest
 * would go to the shell. A search takes it. */
static void take_pasted(struct app *app, int32_t key)
{
    bool character = key >= 0x20 && key != KEY_CODE_BACKSPACE && key < KEY_CODE_FIRST;
    if (app->mode == MODE_SEARCH && character)
        app_search_key(app, key);
    else if (app->mode != MODE_SEARCH)
        app_say(app, STYLE_INFO, "%s", _("pasted text is not taken for keys; / searches for it"));
}

struct request app_event(struct app *app, const struct event *event)
{
    struct request request = nothing;
    app->now_ns = event->now_ns;
    if (event->kind == EVENT_SIZE) {
        app->rows = event->rows;
        app->cols = event->cols;
    } else if (event->kind == EVENT_KEY && event->pasted) {
        take_pasted(app, event->key);
    } else if (event->kind == EVENT_KEY && event->key != KEY_NOTHING) {
        request = press(app, event->key);
    } else if (event->kind == EVENT_TICK && app->attempt) {
        app->pane[PANE_CORRECTNESS].stale = true;
    }
    app_settle(app);
    if (request.kind == REQUEST_NONE && wants_more_history(app))
        request.kind = REQUEST_HISTORY_MORE;
    return request;
}

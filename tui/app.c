/* The state and what is put into it. Keys are in app_keys.c, drawing in draw.c.
 *
 * Every pane always has a view; a pane is rebuilt in app_settle when it is visible and stale, so
 * that nothing is built for panes that nobody looks at. */
#include "tui/app.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"
#include "tui/pane.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const backends[BACKEND_COUNT] = {"auto", "gpu", "sim"};

const char *app_backend_name(enum app_backend backend)
{
    return backends[backend];
}

void app_init(struct app *app, struct labfile *const *labs, unsigned lab_count)
{
    memset(app, 0, sizeof *app);
    app->labs = labs;
    app->lab_count = lab_count;
    for (int i = 0; i < PANE_COUNT; i++) {
        app->pane[i].stale = true;
        viewer_set_cursor(&app->pane[i].viewer, pane_facts((enum pane)i).cursor);
    }
    app->hint.stale = true;
    /* What is shown before anything was focused: the first pane of each column */
    for (int i = PANE_COUNT - 1; i >= 0; i--)
        app_focus(app, (enum pane)i);
}

static void free_exhibit(struct exhibit *exhibit)
{
    json_decref(exhibit->record);
    buf_free(&exhibit->kernel);
    buf_free(&exhibit->ptx);
    buf_free(&exhibit->sass);
    memset(exhibit, 0, sizeof *exhibit);
}

static void free_view(struct pane_view *view)
{
    viewer_free(&view->viewer);
    doc_free(&view->doc);
}

void app_free(struct app *app)
{
    for (int i = 0; i < PANE_COUNT; i++)
        free_view(&app->pane[i]);
    free_view(&app->hint);
    for (int i = 0; i < TEXT_COUNT; i++)
        buf_free(&app->text[i]);
    free_exhibit(&app->present);
    free_exhibit(&app->past);
    free(app->history);
    json_decref(app->progress);
    json_decref(app->quiz_state);
    quiz_free(&app->quiz);
    buf_free(&app->input);
    memset(app, 0, sizeof *app);
}

/* ---- focus */

void app_focus(struct app *app, enum pane pane)
{
    app->pane[pane].used = ++app->uses;
}

enum pane app_shown(const struct app *app, int column)
{
    int best = -1;
    for (int i = 0; i < PANE_COUNT; i++)
        if (i != PANE_HELP && layout_column_of(&app->layout, (enum pane)i) == column &&
            (best < 0 || app->pane[i].used > app->pane[best].used))
            best = i;
    return best < 0 ? PANE_COURSE : (enum pane)best;
}

enum pane app_focused(const struct app *app)
{
    enum pane best = PANE_COURSE;
    for (int i = 0; i < PANE_COUNT; i++)
        if (i != PANE_HELP && app->pane[i].used > app->pane[best].used)
            best = (enum pane)i;
    return best;
}

void app_bring(struct app *app, enum pane pane)
{
    enum pane focused = app_focused(app);
    app_focus(app, pane);
    if (!app->layout.too_small && app->layout.column_count > 0 &&
        layout_column_of(&app->layout, pane) != layout_column_of(&app->layout, focused))
        app_focus(app, focused);
}

struct pane_view *app_view(struct app *app)
{
    return app->hint_open   ? &app->hint
           : app->help_open ? &app->pane[PANE_HELP]
                            : &app->pane[app_focused(app)];
}

/* ---- what the panes are about */

const struct labfile *app_lab(const struct app *app)
{
    return app->lab_open && app->lab < app->lab_count ? app->labs[app->lab] : NULL;
}

const struct exhibit *app_exhibit(const struct app *app)
{
    return app->past_number ? &app->past : &app->present;
}

const json_t *app_record(const struct app *app)
{
    if (app->past_number)
        return app->past.record;
    if (app->attempt)
        return app->attempt->record;
    return app->present.record;
}

/* ---- staleness */

void app_touch(struct app *app)
{
    static const enum pane panes[] = {PANE_COURSE,   PANE_CODE,      PANE_CORRECTNESS, PANE_SPEEDUP,
                                      PANE_TIMELINE, PANE_RESOURCES, PANE_QUIZ};
    const struct exhibit *shown = app_exhibit(app);
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++)
        app->pane[panes[i]].stale = true;
    /* A listing is long and does not depend on the record; only its absence is explained by it */
    app->pane[PANE_PTX].stale |= shown->ptx.len == 0;
    app->pane[PANE_SASS].stale |= shown->sass.len == 0;
    app->hint.stale = true;
}

/* Another exhibit is shown: the listings are others too. */
static void touch_exhibit(struct app *app)
{
    app->pane[PANE_PTX].stale = app->pane[PANE_SASS].stale = true;
    app_touch(app);
}

void app_leave_past(struct app *app)
{
    if (app->past_number) {
        app->past_number = 0;
        touch_exhibit(app);
    }
}

void app_touch_all(struct app *app)
{
    for (int i = 0; i < PANE_COUNT; i++)
        app->pane[i].stale = true;
    app->hint.stale = true;
}

static bool is_tagged(const struct doc *doc, uint32_t line)
{
    return line < doc->line_count && doc->lines[line].tag != 0;
}

/* A list's cursor stands on an entry: the one it stood on before, or the first. */
static void settle_cursor(struct pane_view *view, int32_t wanted)
{
    const struct doc *doc = &view->doc;
    if (wanted == 0 && is_tagged(doc, view->viewer.cursor))
        return;
    for (uint32_t i = 0; i < doc->line_count; i++)
        if (wanted ? doc->lines[i].tag == wanted : doc->lines[i].tag != 0) {
            viewer_go_line(&view->viewer, i);
            return;
        }
}

/* The first line that a record complains about; 0 for none. */
static int first_complaint(const json_t *record)
{
    static const char *const lists[] = {"build.diagnostics", "hazards", "cases"};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        const json_t *list = record_at(record, lists[i]);
        for (size_t j = 0; j < json_array_size(list); j++) {
            const json_t *one = json_array_get(list, j);
            int line = record_int(one, i < 2 ? "line" : "fault.line");
            if (line > 0)
                return line;
        }
    }
    return 0;
}

static void go_to_code_line(struct app *app)
{
    struct pane_view *view = &app->pane[PANE_CODE];
    for (size_t i = 0; i < view->doc.line_count && app->code_line > 0; i++)
        if (view->doc.lines[i].source_line == app->code_line) {
            viewer_go_line(&view->viewer, (uint32_t)i);
            app->code_line = 0;
        }
}

/* Blank lines at the end would be rows to scroll to where nothing is to be seen. */
static void trim_end(struct doc *doc)
{
    while (doc->line_count > 0 && !doc->open && doc->lines[doc->line_count - 1].columns == 0)
        doc->line_count--;
}

static void build(struct app *app, enum pane pane, int columns)
{
    struct pane_view *view = &app->pane[pane];
    struct pane_facts facts = pane_facts(pane);
    bool first = view->columns == 0;
    const struct doc_line *at = viewer_current(&view->viewer);
    int32_t tag = facts.lists && at && !first ? at->tag : 0;
    if (pane == PANE_COURSE && first)
        tag = (int32_t)app->lab + 1;
    doc_free(&view->doc);
    view->doc = (struct doc){0};
    pane_build(pane, app, &view->doc, columns);
    trim_end(&view->doc);
    viewer_show(&view->viewer, &view->doc, true);
    if (facts.lists)
        settle_cursor(view, tag);
    if (pane == PANE_CODE)
        go_to_code_line(app);
    view->columns = columns;
    view->stale = false;
}

/* The area as the layout has it, and for code with the edges of its column where that shows all. */
static struct rect widen(const struct app *app, enum pane pane, struct rect text)
{
    int widest = (int)app->pane[pane].viewer.widest;
    if (pane == PANE_CODE && widest > text.cols && widest <= text.cols + PANE_CODE_EDGES) {
        text.col -= PANE_CODE_EDGES / 2;
        text.cols += PANE_CODE_EDGES;
    }
    return text;
}

struct rect app_text_of(const struct app *app, enum pane pane)
{
    return widen(app, pane, layout_text_of(&app->layout, pane));
}

static void resize(struct app *app, enum pane pane, struct rect text)
{
    text = widen(app, pane, text);
    viewer_resize(&app->pane[pane].viewer, text.cols, text.rows - pane_foot_rows(pane, text.rows));
}

static void settle_pane(struct app *app, enum pane pane, struct rect text)
{
    const struct pane_view *view = &app->pane[pane];
    resize(app, pane, text);
    if (!view->stale && (view->columns == text.cols || !pane_facts(pane).by_width))
        return;
    build(app, pane, text.cols);
    resize(app, pane, text);
}

static void settle_hint(struct app *app)
{
    struct rect text = app->layout.column[app->layout.column_count - 1].text;
    int columns = app->cols - 8 < 72 ? app->cols - 8 : 72;
    int rows = text.rows - 4 > 1 ? text.rows - 4 : 1;
    if (app->hint.stale) {
        doc_free(&app->hint.doc);
        app->hint.doc = (struct doc){0};
        pane_build_hint(app, &app->hint.doc, columns);
        viewer_show(&app->hint.viewer, &app->hint.doc, true);
        viewer_resize(&app->hint.viewer, columns, rows);
        viewer_end(&app->hint.viewer); /* the newest hint is the last */
        app->hint.stale = false;
    }
    viewer_resize(&app->hint.viewer, columns, rows);
}

void app_settle(struct app *app)
{
    layout_compute(&app->layout, app->rows, app->cols);
    if (app->layout.too_small)
        return;
    for (int i = 0; i < app->layout.column_count; i++) {
        enum pane pane = app_shown(app, i);
        settle_pane(app, pane, layout_text_of(&app->layout, pane));
    }
    if (app->help_open) {
        struct rect text = {3, 2, app->rows - 6, app->cols - 4};
        settle_pane(app, PANE_HELP, text);
    }
    if (app->hint_open)
        settle_hint(app);
}

/* ---- what is put in */

static void keep(json_t **slot, json_t *value)
{
    json_incref(value);
    json_decref(*slot);
    *slot = value;
}

static void keep_text(struct buf *slot, const char *text, size_t len)
{
    buf_clear(slot);
    buf_add(slot, text, len);
}

/* What is still to do in a lab stands in three panes. */
static void touch_progress(struct app *app)
{
    app->pane[PANE_COURSE].stale = app->pane[PANE_QUIZ].stale = app->pane[PANE_SPEEDUP].stale =
        true;
}

/* Reads the quiz and what was answered in it; the first open question is shown. */
static void load_quiz(struct app *app)
{
    const struct labfile *lab = app_lab(app);
    const struct buf *text = &app->text[TEXT_QUIZ];
    quiz_free(&app->quiz);
    app->quiz = (struct quiz){0};
    app->question = 0;
    if (!lab || text->len == 0)
        return;
    quiz_parse(&app->quiz, "quiz.md", buf_str(text), text->len, NULL);
    quiz_from_json(&app->quiz, json_object_get(app->quiz_state, lab->slug));
    if (app->quiz.count > 0)
        app->question = quiz_next_open(&app->quiz, 0);
    app->pane[PANE_QUIZ].stale = true;
}

void app_set_lab(struct app *app, unsigned lab)
{
    app->lab = lab;
    app->lab_open = true;
    for (int i = 0; i < TEXT_COUNT; i++)
        buf_free(&app->text[i]);
    load_quiz(app);
    free_exhibit(&app->present);
    free_exhibit(&app->past);
    app->past_number = 0;
    app->attempt = NULL;
    app->diff_open = app->hint_open = app->stopping = false;
    app->hints_shown = 0;
    app->zoom = 0;
    app->from = 0;
    app->history_mark[0] = '\0';
    app_set_history(app, NULL, 0, false);
    for (int i = 0; i < PANE_COUNT; i++) {
        struct viewer *viewer = &app->pane[i].viewer;
        viewer_search(viewer, "");
        if (i != PANE_COURSE && i != PANE_HELP)
            viewer_home(viewer);
    }
    app_touch_all(app);
}

void app_set_text(struct app *app, enum app_text which, const char *text, size_t len)
{
    static const enum pane panes[TEXT_COUNT] = {PANE_LESSON, PANE_QUIZ, PANE_HISTORY};
    int question = app->question;
    bool again = which == TEXT_QUIZ && app->text[which].len > 0;
    keep_text(&app->text[which], text, len);
    app->pane[panes[which]].stale = true;
    if (which == TEXT_QUIZ)
        load_quiz(app);
    if (again && question < app->quiz.count) /* the same quiz in another language */
        app->question = question;
}

void app_keep_quiz(struct app *app)
{
    const struct labfile *lab = app_lab(app);
    if (!lab)
        return;
    if (!app->quiz_state)
        app->quiz_state = json_object();
    json_object_set_new(app->quiz_state, lab->slug, quiz_to_json(&app->quiz));
    touch_progress(app);
}

void app_set_kernel(struct app *app, const char *text, size_t len)
{
    keep_text(&app->present.kernel, text, len);
    app->pane[PANE_CODE].stale = app->pane[PANE_CORRECTNESS].stale = true;
}

void app_set_listings(struct app *app, const struct buf *ptx, const struct buf *sass)
{
    keep_text(&app->present.ptx, buf_str(ptx), ptx->len);
    keep_text(&app->present.sass, buf_str(sass), sass->len);
    app->pane[PANE_PTX].stale = app->pane[PANE_SASS].stale = true;
}

void app_set_record(struct app *app, json_t *record)
{
    keep(&app->present.record, record);
    if (quiz_measure(&app->quiz, record))
        app_keep_quiz(app);
    app->code_line = first_complaint(record);
    app_touch(app);
}

void app_set_attempt(struct app *app, const struct attempt *attempt)
{
    app->attempt = attempt;
    app->stopping = false;
    if (attempt)
        app_leave_past(app);
    app_touch(app);
}

void app_set_progress(struct app *app, json_t *progress)
{
    keep(&app->progress, progress);
    touch_progress(app);
}

void app_set_history(struct app *app, const struct app_attempt *rows, size_t count, bool more)
{
    free(app->history);
    app->history = NULL;
    if (count > 0) {
        app->history = mem_grow(NULL, count, sizeof *rows);
        memcpy(app->history, rows, count * sizeof *rows);
    }
    app->history_count = count;
    app->history_more = more;
    app->pane[PANE_HISTORY].stale = true;
}

void app_set_history_problem(struct app *app, const char *why)
{
    snprintf(app->history_problem, sizeof app->history_problem, "%s", why);
    app->pane[PANE_HISTORY].stale = true;
}

void app_set_quiz_state(struct app *app, json_t *state)
{
    keep(&app->quiz_state, state);
    load_quiz(app);
}

void app_set_diff(struct app *app, const char *title, const char *text, size_t len)
{
    app_set_text(app, TEXT_DIFF, text, len);
    snprintf(app->diff_title, sizeof app->diff_title, "%s", title);
    app->diff_open = true;
    viewer_home(&app->pane[PANE_HISTORY].viewer);
}

void app_set_past(struct app *app, int number, json_t *record, struct buf *kernel, struct buf *ptx,
                  struct buf *sass)
{
    free_exhibit(&app->past);
    keep(&app->past.record, record);
    app->past.kernel = *kernel;
    app->past.ptx = *ptx;
    app->past.sass = *sass;
    *kernel = *ptx = *sass = (struct buf){0};
    app->past_number = number;
    touch_exhibit(app);
}

void app_say(struct app *app, enum style style, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    char text[sizeof app->notice];
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    struct buf clean = {0};
    clean_line(&clean, text, utf8_whole(text, strlen(text)));
    snprintf(app->notice, sizeof app->notice, "%s", buf_str(&clean));
    buf_free(&clean);
    app->notice_style = style;
}

/* From the app to cells. Everything is drawn from nothing each time; nothing here remembers. */
#include "tui/app.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"
#include "tui/pane.h"
#include "tui/wrap.h"

#include <stdio.h>
#include <string.h>

static int columns_of(const char *text)
{
    return text_columns(text, strlen(text));
}

/* Text from outside (a device's name, a summary, a path in a message) is cleaned as everything in a
 * doc is. Text that does not fit ends with a mark that says so. */
static int put_clipped(struct cells *cells, int row, int col, int most, enum style style,
                       const char *text)
{
    struct buf clean = {0};
    clean_line(&clean, text, strlen(text));
    int used = cells_put_str(cells, row, col, most, style, buf_str(&clean));
    if (most > 0 && columns_of(buf_str(&clean)) > most)
        cells_put_str(cells, row, col + most - 1, 1, style, "…");
    buf_free(&clean);
    return used;
}

static void put_right(struct cells *cells, int row, int right, int most, enum style style,
                      const char *text)
{
    struct buf clean = {0};
    clean_text(&clean, text, strlen(text));
    int columns = columns_of(buf_str(&clean));
    columns = columns > most ? most : columns;
    cells_put_str(cells, row, right - columns, columns, style, buf_str(&clean));
    buf_free(&clean);
}

/* ---- header */

static void draw_header(const struct app *app, struct cells *cells)
{
    struct rect at = app->layout.header;
    const struct labfile *lab = app_lab(app);
    const char *device = record_text(app_record(app), "device.name");
    const char *backend = app_backend_name(app->backend);
    char right[96];
    if (app->past_number > 0)
        snprintf(right, sizeof right, _("attempt #%d of the history"), app->past_number);
    else if (app->past_number)
        snprintf(right, sizeof right, "%s", _("an entry of the history"));
    else if (*device)
        snprintf(right, sizeof right, "%s · %s", backend, device);
    else
        snprintf(right, sizeof right, _("runs on: %s"), backend);
    int used = cells_put_str(cells, 0, 1, at.cols, STYLE_TITLE, "Stride");
    const char *title = lab ? lab_text_get(&lab->title) : _("a course in CUDA performance");
    int room = at.cols - 1 - used - 3 - 1;
    int need = columns_of(title);
    cells_put_str(cells, 0, 1 + used, 3, STYLE_BORDER, " · ");
    put_clipped(cells, 0, 1 + used + 3, room, STYLE_NORMAL, title);
    if (need + columns_of(right) + 3 <= room)
        put_right(cells, 0, at.cols - 1, room - need, app->past_number ? STYLE_WARN : STYLE_DIM,
                  right);
}

/* ---- tabs: names as long as there is room for */

enum { TABS_LONG, TABS_SHORT, TABS_TIGHT, TABS_KEYS };

static int draw_tab(const struct app *app, struct cells *cells, struct rect at, int col, int form,
                    enum pane pane, bool shown, bool focused)
{
    struct pane_facts facts = pane_facts(pane);
    const char *name = form == TABS_LONG || (form == TABS_KEYS && shown) ? facts.title
                       : form == TABS_KEYS                               ? ""
                                                                         : facts.small;
    char key[2] = {(char)facts.key, '\0'};
    int width = 1 + (*name ? 1 + columns_of(name) : 0);
    if (!cells)
        return width;
    int most = at.col + at.cols - col;
    cells_put_str(cells, at.row, col, most, STYLE_KEY, key);
    if (*name)
        cells_put_str(cells, at.row, col + 2, most - 2,
                      shown ? (focused ? STYLE_TITLE : STYLE_STRONG) : STYLE_DIM, name);
    if (shown) {
        struct rect under = {at.row + 1, col, 1, width < most ? width : most};
        bool ends = app->layout.too_small;
        cells_fill(cells, under, focused ? STYLE_BORDER_FOCUS : STYLE_STRONG, ends ? " " : "━");
    }
    return width;
}

/* Draws with cells, measures without. */
static int draw_tabs_as(const struct app *app, struct cells *cells, int column, int form,
                        bool focused)
{
    struct rect at = app->layout.column[column].tabs;
    enum pane shown = app_shown(app, column);
    int gap = form == TABS_LONG || form == TABS_SHORT ? 2 : 1, col = at.col + 1;
    bool first = true;
    for (int i = 0; i <= PANE_HELP; i++) {
        enum pane pane = (enum pane)i;
        if (pane == PANE_HELP || layout_column_of(&app->layout, pane) != column)
            continue;
        /* The course is a tab only while it is shown: its key is in the bottom line */
        if (pane == PANE_COURSE && shown != PANE_COURSE)
            continue;
        if (!first)
            col += gap;
        first = false;
        col += draw_tab(app, cells, at, col, form, pane, pane == shown, focused);
    }
    return col - at.col;
}

static void draw_position(const struct viewer *viewer, struct cells *cells, struct rect rule)
{
    char text[32];
    bool all = viewer_percent(viewer) >= 100 && viewer->top_line == 0 && viewer->top_row == 0;
    if (all || !viewer->doc || rule.cols < 12)
        return;
    snprintf(text, sizeof text, " %d%% ", viewer_percent(viewer));
    put_right(cells, rule.row, rule.col + rule.cols - 1, 8, STYLE_DIM, text);
}

static void draw_tabs(const struct app *app, struct cells *cells, int column, bool focused)
{
    struct rect rule = app->layout.column[column].rule;
    int form = TABS_LONG;
    while (form < TABS_KEYS && draw_tabs_as(app, NULL, column, form, focused) > rule.cols)
        form++;
    cells_fill(cells, rule, STYLE_BORDER, "─");
    draw_tabs_as(app, cells, column, form, focused);
    draw_position(&app->pane[app_shown(app, column)].viewer, cells, rule);
}

/* ---- text */

struct blit {
    struct cells *cells;
    int row, col, cols;
};

static void blit_piece(void *context, const struct viewer_piece *piece)
{
    const struct blit *blit = context;
    int used = cells_put(blit->cells, blit->row, blit->col + piece->column,
                         blit->cols - piece->column, 0, piece->style, piece->text, piece->len);
    if (piece->match != MATCH_NONE)
        cells_lay(blit->cells, blit->row, blit->col + piece->column, used, OVER_MATCH);
}

/* `mark` is the column of the cursor's mark. */
static void draw_text(struct cells *cells, const struct pane_view *view, struct rect at, int mark,
                      bool focused)
{
    for (int row = 0; row < at.rows; row++) {
        bool cursor = false, left = false, right = false;
        struct blit blit = {cells, at.row + row, at.col, at.cols};
        viewer_draw_row(&view->viewer, row, blit_piece, &blit);
        if (!viewer_row_line(&view->viewer, row, &cursor, &left, &right))
            continue;
        if (left)
            cells_put_str(cells, at.row + row, at.col - 1, 1, STYLE_DIM, "◂");
        if (right)
            cells_put_str(cells, at.row + row, at.col + at.cols, 1, STYLE_DIM, "▸");
        if (!cursor)
            continue;
        if (focused) {
            for (int col = 0; col < at.cols; col++) {
                struct cell *cell = cells_at(cells, at.row + row, at.col + col);
                if (cell && cell->over == OVER_NONE)
                    cell->over = OVER_SELECTED;
            }
        }
        if (focused)
            cells_put_str(cells, at.row + row, mark, 1, STYLE_KEY, "▸");
    }
}

/* Below a listing: what the instruction under its cursor does. */
static void draw_foot(const struct app *app, struct cells *cells, enum pane pane, struct rect at)
{
    struct buf text = {0};
    struct wrap wrap = {0};
    pane_explain(app, pane, &text);
    wrap_text(&wrap, buf_str(&text), text.len, at.cols > 0 ? at.cols : 1, 0);
    for (int i = 0; i < at.rows && i < (int)wrap.count; i++) {
        const struct wrap_row *row = &wrap.rows[i];
        int used = cells_put(cells, at.row + i, at.col, at.cols, 0, STYLE_INFO,
                             buf_str(&text) + row->from, row->to - row->from);
        if (i + 1 == at.rows && i + 1 < (int)wrap.count)
            cells_put_str(cells, at.row + i, at.col + (used < at.cols ? used : at.cols - 1), 1,
                          STYLE_INFO, "…");
    }
    wrap_free(&wrap);
    buf_free(&text);
}

static void draw_column(const struct app *app, struct cells *cells, int column)
{
    const struct column *at = &app->layout.column[column];
    enum pane pane = app_shown(app, column);
    bool focused = pane == app_focused(app) && !app->help_open && !app->hint_open;
    draw_tabs(app, cells, column, focused);
    struct rect text = app_text_of(app, pane), foot = text;
    foot.rows = pane_foot_rows(pane, text.rows);
    text.rows -= foot.rows;
    foot.row += text.rows;
    int mark = text.col > at->box.col ? text.col - 1 : text.col + PANE_CODE_MARK;
    draw_text(cells, &app->pane[pane], text, mark, focused);
    if (foot.rows)
        draw_foot(app, cells, pane, foot);
    if (column + 1 < app->layout.column_count) {
        struct rect line = {at->box.row, at->box.col + at->box.cols, at->box.rows, 1};
        cells_fill(cells, line, STYLE_BORDER, "│");
        cells_put_str(cells, at->rule.row, line.col, 1, STYLE_BORDER, "┼");
    }
}

/* ---- what lies over the panes */

static void draw_box(struct cells *cells, struct rect at, const char *title)
{
    cells_fill(cells, at, STYLE_NORMAL, " ");
    struct rect top = {at.row, at.col, 1, at.cols};
    struct rect bottom = {at.row + at.rows - 1, at.col, 1, at.cols};
    struct rect left = {at.row, at.col, at.rows, 1};
    struct rect right = {at.row, at.col + at.cols - 1, at.rows, 1};
    cells_fill(cells, top, STYLE_BORDER_FOCUS, "─");
    cells_fill(cells, bottom, STYLE_BORDER_FOCUS, "─");
    cells_fill(cells, left, STYLE_BORDER_FOCUS, "│");
    cells_fill(cells, right, STYLE_BORDER_FOCUS, "│");
    cells_put_str(cells, top.row, at.col, 1, STYLE_BORDER_FOCUS, "╭");
    cells_put_str(cells, top.row, at.col + at.cols - 1, 1, STYLE_BORDER_FOCUS, "╮");
    cells_put_str(cells, bottom.row, at.col, 1, STYLE_BORDER_FOCUS, "╰");
    cells_put_str(cells, bottom.row, at.col + at.cols - 1, 1, STYLE_BORDER_FOCUS, "╯");
    int used = cells_put_str(cells, at.row, at.col + 3, at.cols - 6, STYLE_TITLE, title);
    cells_put_str(cells, at.row, at.col + 2, 1, STYLE_NORMAL, " ");
    cells_put_str(cells, at.row, at.col + 3 + used, 1, STYLE_NORMAL, " ");
}

static void draw_help(const struct app *app, struct cells *cells)
{
    struct rect box = {1, 0, app->rows - 3, app->cols};
    draw_box(cells, box, _("Keys"));
    struct rect text = {3, 2, app->rows - 6, app->cols - 4};
    draw_text(cells, &app->pane[PANE_HELP], text, 1, false);
    put_right(cells, app->rows - 3, app->cols - 3, 20, STYLE_DIM, _(" Esc closes "));
}

static void draw_hint(const struct app *app, struct cells *cells)
{
    const struct viewer *viewer = &app->hint.viewer;
    int rows = viewer->row_count;
    struct rect box = {0, 0, rows + 4, viewer->columns + 6};
    box.row = app->rows - 2 - box.rows;
    box.col = (app->cols - box.cols) / 2;
    if (box.row < 1)
        box.row = 1;
    draw_box(cells, box, _("Hint"));
    struct rect text = {box.row + 2, box.col + 3, rows, viewer->columns};
    draw_text(cells, &app->hint, text, box.col, false);
    put_right(cells, box.row + box.rows - 1, box.col + box.cols - 3, box.cols - 6, STYLE_DIM,
              _(" H next hint, Esc closes "));
}

/* ---- status and keys */

static void running_status(const struct app *app, char *out, size_t size)
{
    static const char *const turn[] = {"|", "/", "-", "\\"};
    const struct attempt_stage *stage = attempt_running(app->attempt);
    const char *sign = turn[(app->now_ns / 200000000) % 4];
    if (app->stopping)
        snprintf(out, size, _("%s stopping"), sign);
    else if (!stage)
        snprintf(out, size, app->attempt->ready ? _("%s starting") : _("%s warming up the harness"),
                 sign);
    else
        snprintf(out, size, "%s %s  %.1f s%s%s", sign, stage->name,
                 (double)(app->now_ns - stage->since_ns) / 1e9, *app->attempt->note ? "  " : "",
                 app->attempt->note);
}

static void draw_verdict(const struct app *app, struct cells *cells, int row, int most)
{
    const json_t *record = app_record(app);
    const char *verdict = record_text(record, "verdict");
    if (!*verdict) {
        put_clipped(
            cells, row, 1, most, STYLE_NORMAL,
            app_lab(app)
                ? _("Read the lesson; then e opens your kernel, and runs it when you return")
                : _("Choose a lab with the arrow keys and press Enter"));
        return;
    }
    enum style style;
    const char *mark = verdict_mark_of(verdict, &style);
    char text[400];
    snprintf(text, sizeof text, "%s %s", mark, verdict);
    int used = cells_put_str(cells, row, 1, most, style, text);
    put_clipped(cells, row, 1 + used + 2, most - used - 2, STYLE_NORMAL,
                record_text(record, "summary"));
}

/* A notice may be long: it takes as many rows above the keys as it needs. */
static void draw_notice(const struct app *app, struct cells *cells)
{
    struct rect at = app->layout.status;
    struct wrap wrap = {0};
    wrap_text(&wrap, app->notice, strlen(app->notice), at.cols - 2, 0);
    int count = wrap.count > 6 ? 6 : (int)wrap.count;
    for (int i = 0; i < count; i++) {
        struct rect row = {at.row - count + 1 + i, 0, 1, at.cols};
        cells_fill(cells, row, STYLE_NORMAL, " ");
        cells_put(cells, row.row, 1, at.cols - 2, 0, app->notice_style,
                  app->notice + wrap.rows[i].from, wrap.rows[i].to - wrap.rows[i].from);
        cells_lay(cells, row.row, 0, at.cols, OVER_STATUS);
    }
    wrap_free(&wrap);
}

static void ask(const struct app *app, char *out, size_t size)
{
    if (app->mode == MODE_QUIT)
        snprintf(out, size, "%s",
                 _("An attempt is running. Stop it and leave? y yes, any other key no"));
    else if (app->restore_number > 0)
        snprintf(out, size,
                 _("Put kernel #%d back? What you have now is kept. y yes, any other key no"),
                 app->restore_number);
    else
        snprintf(out, size, "%s",
                 _("Put this kernel back? What you have now is kept. y yes, any other key no"));
}

static void draw_status_text(const struct app *app, struct cells *cells)
{
    struct rect at = app->layout.status;
    char text[512], right[32] = "";
    int number = record_int(app_record(app), "attempt");
    if (number > 0 && !app->attempt)
        snprintf(right, sizeof right, "#%d", number);
    int most = at.cols - 2 - (*right ? columns_of(right) + 2 : 0);
    if (app->mode == MODE_RESTORE || app->mode == MODE_QUIT) {
        ask(app, text, sizeof text);
        put_clipped(cells, at.row, 1, at.cols - 2, STYLE_WARN, text);
        return;
    }
    if (*app->notice) {
        draw_notice(app, cells);
    } else if (app->attempt) {
        running_status(app, text, sizeof text);
        put_clipped(cells, at.row, 1, most, STYLE_NORMAL, text);
    } else {
        draw_verdict(app, cells, at.row, most);
    }
    if (!*app->notice)
        put_right(cells, at.row, at.cols - 1, 12, STYLE_NORMAL, right);
}

static void draw_status(const struct app *app, struct cells *cells)
{
    draw_status_text(app, cells);
    cells_lay(cells, app->layout.status.row, 0, app->layout.status.cols, OVER_STATUS);
}

static int draw_key(struct cells *cells, struct rect at, int col, enum command command)
{
    char key[16];
    const char *hint = command_hint(command);
    command_first_key(key, command);
    int width = columns_of(key) + 1 + columns_of(hint);
    if (col + width > at.cols - 1)
        return 0;
    int used = cells_put_str(cells, at.row, col, width, STYLE_KEY, key);
    cells_put_str(cells, at.row, col + used + 1, width, STYLE_DIM, hint);
    return width + 3;
}

static void draw_keys(const struct app *app, struct cells *cells)
{
    struct rect at = app->layout.keys;
    int col = 1;
    enum context own = pane_facts(app_focused(app)).context;
    if (app->mode == MODE_SEARCH) {
        col += cells_put_str(cells, at.row, col, at.cols, STYLE_KEY, "/");
        col += cells_put_str(cells, at.row, col, at.cols - col - 2, STYLE_NORMAL,
                             buf_str(&app->input));
        cells->cursor_row = at.row;
        cells->cursor_col = col;
        return;
    }
    /* q and ? always find a place: they are what a lost person needs */
    struct rect last = at;
    char tail[64];
    snprintf(tail, sizeof tail, "? %s   q %s", command_hint(COMMAND_HELP),
             command_hint(COMMAND_QUIT));
    last.cols -= columns_of(tail) + 3;
    for (int round = 0; round < 3; round++) {
        enum context wanted = round == 0 ? CONTEXT_RUNNING : round == 1 ? own : CONTEXT_ANY;
        if ((round == 0 && !app->attempt) || (round == 1 && own == CONTEXT_ANY))
            continue;
        for (int i = 1; i < COMMAND_COUNT; i++) {
            enum command command = (enum command)i;
            if (command_context(command) == wanted && *command_hint(command) &&
                command != COMMAND_HELP && command != COMMAND_QUIT)
                col += draw_key(cells, last, col, command);
        }
    }
    col = at.cols - 1 - columns_of(tail);
    col += draw_key(cells, at, col, COMMAND_HELP);
    draw_key(cells, at, col, COMMAND_QUIT);
}

static void draw_too_small(const struct app *app, struct cells *cells)
{
    char text[64];
    snprintf(text, sizeof text, _("window too small: needs %dx%d, has %dx%d"), LAYOUT_LEAST_COLS,
             LAYOUT_LEAST_ROWS, app->cols, app->rows);
    struct wrap wrap = {0};
    wrap_text(&wrap, text, strlen(text), app->cols > 0 ? app->cols : 1, 0);
    for (size_t i = 0; i < wrap.count && (int)i < app->rows; i++)
        cells_put(cells, (int)i, 0, app->cols, 0, STYLE_WARN, text + wrap.rows[i].from,
                  wrap.rows[i].to - wrap.rows[i].from);
    wrap_free(&wrap);
}

void app_draw(const struct app *app, struct cells *cells)
{
    cells_start(cells, app->rows, app->cols);
    if (app->layout.too_small) {
        draw_too_small(app, cells);
        return;
    }
    draw_header(app, cells);
    for (int i = 0; i < app->layout.column_count; i++)
        draw_column(app, cells, i);
    if (app->help_open)
        draw_help(app, cells);
    if (app->hint_open)
        draw_hint(app, cells);
    draw_status(app, cells);
    draw_keys(app, cells);
}

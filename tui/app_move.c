/* Where a key takes the student: lines, pages, matches, marks, and between a message, an
 * instruction and its line of code. */
#include "tui/app_core.h"

#include "harness/base/msg.h"
#include "tui/key.h"
#include "tui/listing.h"
#include "tui/pane.h"

#include <string.h>
#include <unistr.h>

/* ---- the search line */

void app_search_key(struct app *app, int32_t key)
{
    struct viewer *viewer = &app_view(app)->viewer;
    if (key == KEY_CODE_ESC || key == KEY_CTRL('C')) {
        app->mode = MODE_PANES;
    } else if (key == KEY_CODE_ENTER) {
        app->mode = MODE_PANES;
        size_t count = viewer_search(viewer, buf_str(&app->input));
        if (app->input.len > 0 && count == 0)
            app_say(app, STYLE_WARN, _("'%s' is not in this pane"), buf_str(&app->input));
        else if (app->input.len > 0)
            app_say(app, STYLE_INFO, _("match %zu of %zu; n goes on, N goes back"),
                    viewer_match_number(viewer), count);
    } else if (key == KEY_CODE_BACKSPACE) {
        while (app->input.len > 0 &&
               ((unsigned char)app->input.data[--app->input.len] & 0xc0) == 0x80)
            ;
        if (app->input.data)
            app->input.data[app->input.len] = '\0';
    } else if (key >= 0x20 && key < KEY_CODE_FIRST && app->input.len < 200) {
        uint8_t bytes[8];
        int len = u8_uctomb(bytes, (ucs4_t)key, sizeof bytes);
        if (len > 0)
            buf_add(&app->input, bytes, (size_t)len);
    }
}

void app_search_next(struct app *app, int by)
{
    struct viewer *viewer = &app_view(app)->viewer;
    bool wrapped = false;
    if (!viewer_search_next(viewer, by, &wrapped))
        app_say(app, STYLE_WARN, "%s", _("nothing is searched; / starts a search"));
    else
        app_say(app, STYLE_INFO,
                wrapped ? _("match %zu of %zu, around the end") : _("match %zu of %zu"),
                viewer_match_number(viewer), viewer->match_count);
}

/* ---- moving */

/* In a list the cursor goes from entry to entry (lines with the same tag are one); beyond the last
 * one the text scrolls. */
void app_move_in_list(struct pane_view *view, int by)
{
    const struct doc *doc = &view->doc;
    int64_t line = view->viewer.cursor, count = (int64_t)doc->line_count;
    int32_t from = line < count ? doc->lines[line].tag : 0;
    for (line += by; line >= 0 && line < count; line += by) {
        int32_t tag = doc->lines[line].tag;
        if (tag == 0 || tag == from)
            continue;
        while (line > 0 && doc->lines[line - 1].tag == tag)
            line--;
        viewer_go_line(&view->viewer, (uint32_t)line);
        return;
    }
    viewer_scroll(&view->viewer, by);
}

static bool in_list(const struct app *app)
{
    bool over = app->help_open || app->hint_open;
    return !over && pane_facts(app_focused(app)).lists && !app->diff_open;
}

/* To the first or the last entry; what stands above or below it is shown as well. */
static void go_to_border(struct app *app, bool end)
{
    struct pane_view *view = app_view(app);
    if (end)
        viewer_end(&view->viewer);
    else
        viewer_home(&view->viewer);
    const struct doc_line *line = viewer_current(&view->viewer);
    if (in_list(app) && line && line->tag == 0)
        app_move_in_list(view, end ? -1 : 1);
}

static void app_move(struct app *app, int by)
{
    struct pane_view *view = app_view(app);
    if (in_list(app))
        app_move_in_list(view, by);
    else
        viewer_move(&view->viewer, by);
}

void app_go_next_pane(struct app *app, int by)
{
    int pane = (int)app_focused(app);
    pane = (pane + by + PANE_HELP) % PANE_HELP; /* help is no tab */
    app_focus(app, (enum pane)pane);
}

/* The source line that the focused line belongs to, or the nearest line below it that belongs to
 * one (what stands above an instruction is about it); 0 for none. */
int app_current_source(struct app *app)
{
    enum { NEAR = 8 };
    const struct pane_view *view = app_view(app);
    const struct doc_line *line = viewer_current(&view->viewer);
    if (!line)
        return 0;
    const struct doc_line *end = view->doc.lines + view->doc.line_count;
    const struct doc_line *last = end - line > NEAR ? line + NEAR : end;
    bool listing = app_focused(app) == PANE_PTX || app_focused(app) == PANE_SASS;
    while (listing && line->source_line == 0 && line + 1 < last)
        line++;
    return line->source_line;
}

static bool go_to_source(struct app *app, enum pane pane, int source)
{
    app_focus(app, pane);
    app_settle(app);
    struct pane_view *view = &app->pane[pane];
    const struct doc_line *now = viewer_current(&view->viewer);
    if (now && now->source_line == source)
        return true; /* where one came from */
    for (size_t i = 0; i < view->doc.line_count; i++)
        if (view->doc.lines[i].source_line == source) {
            viewer_go_line(&view->viewer, (uint32_t)i);
            return true;
        }
    return false;
}

/* From a message or an instruction to its line of code; from a line of code to the first message or
 * instruction that belongs to it. */
void app_cross(struct app *app)
{
    static const enum pane others[] = {PANE_CORRECTNESS, PANE_PTX, PANE_SASS};
    int source = app_current_source(app);
    enum pane from = app_focused(app);
    if (source == 0) {
        app_say(app, STYLE_INFO, "%s", _("this line belongs to no source line"));
        return;
    }
    if (from != PANE_CODE) {
        app->crossed_from = from;
        if (!go_to_source(app, PANE_CODE, source))
            app_say(app, STYLE_WARN, _("line %d is not in the kernel any more"), source);
        return;
    }
    if (app->crossed_from != PANE_COURSE && go_to_source(app, app->crossed_from, source))
        return;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (go_to_source(app, others[i], source))
            return;
    app_focus(app, PANE_CODE);
    app_say(app, STYLE_INFO, _("nothing is reported for line %d, and no instruction comes from it"),
            source);
}

/* A mark is an instruction that the lesson is about, or the beginning of inline assembly. */
static bool is_mark(const struct doc_line *line)
{
    return (line->tag & (LISTING_LANDMARK | LISTING_BEGIN)) != 0;
}

void app_go_landmark(struct app *app, int by)
{
    struct pane_view *view = app_view(app);
    const struct doc *doc = &view->doc;
    int64_t line = view->viewer.cursor;
    for (line += by; line >= 0 && line < (int64_t)doc->line_count; line += by)
        if (is_mark(&doc->lines[line])) {
            viewer_go_line(&view->viewer, (uint32_t)line);
            return;
        }
    app_say(app, STYLE_INFO, "%s", _("no further mark in this listing"));
}

/* ---- timeline */

void app_zoom(struct app *app, int by, double pan)
{
    enum { ZOOM_MOST = 12 };
    double width = 1.0 / (1 << app->zoom), middle = app->from + width / 2;
    app->zoom += by;
    app->zoom = app->zoom < 0 ? 0 : app->zoom > ZOOM_MOST ? ZOOM_MOST : app->zoom;
    double now = 1.0 / (1 << app->zoom), from = middle - now / 2 + pan * now;
    app->from = from < 0 ? 0 : from > 1 - now ? 1 - now : from;
    app->pane[PANE_TIMELINE].stale = true;
}

void app_move_command(struct app *app, enum command command)
{
    struct viewer *viewer = &app_view(app)->viewer;
    switch (command) {
    case COMMAND_DOWN:
        app_move(app, 1);
        break;
    case COMMAND_UP:
        app_move(app, -1);
        break;
    case COMMAND_RIGHT:
        viewer_sideways(viewer, 4);
        break;
    case COMMAND_LEFT:
        viewer_sideways(viewer, -4);
        break;
    case COMMAND_PAGE_DOWN:
        viewer_page(viewer, 1);
        break;
    case COMMAND_PAGE_UP:
        viewer_page(viewer, -1);
        break;
    case COMMAND_TOP:
    case COMMAND_BOTTOM:
        go_to_border(app, command == COMMAND_BOTTOM);
        break;
    default:
        break;
    }
}

/* What app_keys.c and app_move.c share; nobody else needs it.
 *
 * Everything belongs to the app.
 *
 * Nothing here asks anything of the caller: moving is never a request. */
#ifndef STRIDE_TUI_APP_CORE_H
#define STRIDE_TUI_APP_CORE_H

#include "tui/app.h"

/* A key in the search line. */
void app_search_key(struct app *app, int32_t key);
void app_search_next(struct app *app, int by);

/* Lines, pages, ends, sideways. */
void app_move_command(struct app *app, enum command command);
void app_move_in_list(struct pane_view *view, int by);
void app_go_next_pane(struct app *app, int by);

/* From a message or instruction to its line of code, and back. */
void app_cross(struct app *app);
void app_go_landmark(struct app *app, int by);

/* The source line that the focused line belongs to; 0 for none. */
int app_current_source(struct app *app);

/* The timeline: closer by 2^by, and along by a part of the width. */
void app_zoom(struct app *app, int by, double pan);

#endif

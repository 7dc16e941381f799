/* The terminal: the only door to curses.
 *
 * There is one terminal per process; term_open takes it and term_close gives it back as it was. The
 * cells shown belong to the caller.
 *
 * It never decides what to draw or what a key means, and never switches mouse reporting on, so that
 * selecting text with the mouse keeps working. */
#ifndef STRIDE_TUI_TERM_H
#define STRIDE_TUI_TERM_H

#include "harness/base/err.h"
#include "tui/cells.h"
#include "tui/theme.h"

#include <stdbool.h>
#include <stdint.h>

/* Whether a full screen can be shown here; writes nothing. On failure err says which way out there
 * is. */
bool term_check(struct err *err);

/* Takes over the terminal on standard input and output. On failure nothing has been written to it.
 */
bool term_open(const struct theme *theme, struct err *err);
void term_close(void);

void term_size(int *rows, int *cols);

/* Takes the window's present size from the system. */
void term_resize(void);

void term_set_theme(const struct theme *theme);

/* Sends the difference between what is on the screen and these cells, reduced to ASCII where the
 * terminal takes no more (charset.h). */
void term_show(const struct cells *cells);

/* The next show repaints everything: somebody else may have written to the screen. */
void term_repaint(void);

/* The next key that is waiting, KEY_NOTHING when none is. *ended is set when there is no more
 * input, *pasted for what belongs to a pasted text. */
int32_t term_key(bool *ended, bool *pasted);

/* Gives the terminal to somebody else (an editor, the shell) and takes it back. */
void term_leave(void);
void term_return(void);

#endif

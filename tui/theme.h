/* How styles look: colours and attributes, read from assets/themes/NAME.theme.
 *
 * A theme is a plain value that the caller owns.
 *
 * It knows nothing of curses or colour pairs; term.c turns it into what the terminal can do. */
#ifndef STRIDE_TUI_THEME_H
#define STRIDE_TUI_THEME_H

#include "harness/base/err.h"
#include "tui/cells.h"

enum { LOOK_BOLD = 1, LOOK_DIM = 2, LOOK_ITALIC = 4, LOOK_UNDERLINE = 8, LOOK_REVERSE = 16 };

struct look {
    int16_t fg, bg;     /* of 256 colours; -1 is the terminal's own */
    int16_t fg16, bg16; /* for terminals with fewer */
    uint16_t attributes;
};

struct theme {
    char name[32];
    struct look looks[STYLE_COUNT];
};

/* Reads a theme. Lines are `style = [COLOUR] [on COLOUR] [bold dim italic underline reverse]`,
 * where a COLOUR is 0-255, or 0-255/0-15 with the one to use on terminals with 16 colours. Styles
 * that are not named look like normal text. Errors carry file and line. */
bool theme_load(struct theme *out, const char *root, const char *name, struct err *err);

/* The same from text, for tests; `where` names it in errors. */
bool theme_parse(struct theme *out, const char *text, const char *where, struct err *err);

/* A theme of attributes alone, which needs no file: for NO_COLOR and when a theme file is broken.
 */
void theme_mono(struct theme *out);

/* The theme after `name` in the order dark, light, mono. Static string. */
const char *theme_next(const char *name);

/* The theme to start with: `asked` when it is one, else by NO_COLOR and COLORFGBG. Static string.
 */
const char *theme_pick(const char *asked);

/* Whether NO_COLOR asks for no colours (set and not empty). */
bool theme_no_color(void);

#endif

/* What the two views of the timeline share: rows drawn with a letter per column, and their axis.
 * Private to tui/pane_timeline*.c.
 *
 * Strips live on the caller's stack; the doc is the pane's.
 *
 * Every letter is ASCII, so that the picture is the same on every terminal and without colour. */
#ifndef STRIDE_TUI_PANE_TIMELINE_H
#define STRIDE_TUI_PANE_TIMELINE_H

#include "tui/gantt.h"
#include "tui/pane.h"

enum { STRIP_LABEL = 15, STRIP_MOST = 512 };

/* The part of the time that the width shows. */
struct scale {
    double from, to;
    int columns;
};

/* One row of the picture. Where bars meet in a column, the longest stands there. */
struct strip {
    char letter[STRIP_MOST];
    uint8_t style[STRIP_MOST];
    float share[STRIP_MOST]; /* of the column, taken by what stands there */
    int columns;
};

/* What app->from and app->zoom choose out of from..to, for a pane of that many columns. */
struct scale scale_choose(const struct app *app, double from, double to, int columns);
/* May lie outside the columns. */
int scale_column(const struct scale *scale, double at);

void strip_start(struct strip *strip, const struct scale *scale);
void strip_lay(struct strip *strip, int column, char letter, enum style style);
/* What a long bar is, written into it: "== group 1, 4096 bytes =====". */
void strip_label(struct strip *strip, int from, int to, const char *label);
/* What is marked in the row of that name lies over its bars. */
void strip_marks(struct strip *strip, const json_t *marks, const char *row,
                 const struct scale *scale);
void strip_add(struct doc *doc, const struct strip *strip, const char *title);

bool mark_is_wait(const json_t *mark);

/* Round ticks with their numbers; the unit stands where rows have their names. */
void timeline_axis(struct doc *doc, const struct scale *scale, const struct gantt_unit *unit,
                   const char *name);
/* One line: the letters that were drawn, in words. */
void timeline_legend(struct doc *doc, const bool seen[GANTT_KIND_COUNT]);

void timeline_of_host(const struct app *app, const json_t *timeline, struct doc *doc, int columns);

#endif

/* The timeline as lines of text, for the pane and for `stride timeline`: rows drawn with a letter
 * per column, their axis, and what was measured in them. Private to tui/pane_timeline_X.c and
 * tui/cli_timeline.c.
 *
 * Strips live on the caller's stack; the doc is the pane's.
 *
 * Every letter is ASCII, so that the picture is the same on every terminal and without colour. */
#ifndef STRIDE_TUI_PANE_TIMELINE_H
#define STRIDE_TUI_PANE_TIMELINE_H

#include "tui/gantt.h"
#include "tui/pane.h"

enum { STRIP_LABEL = 15, STRIP_MOST = 512 };

/* Which part of a timeline is shown, and how. */
struct timeline_view {
    int zoom;    /* the width shows 1/2^zoom of the whole time... */
    double from; /* ...from this part of it on, 0..1 */
    bool graphs_open, baseline_hidden;
    bool keys; /* there are keys to speak of, and lists stay short */
};

/* The whole: of a host lab's run, or of one block in the simulator. */
void timeline_show(const struct timeline_view *view, const json_t *timeline, struct doc *doc,
                   int columns);
/* Its first lines: where times come from, overlap and ideal. */
void timeline_summary(const json_t *timeline, struct doc *doc);

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

/* What the view chooses out of from..to, for a pane of that many columns. */
struct scale scale_choose(const struct timeline_view *view, double from, double to, int columns);
/* May lie outside the columns. */
int scale_column(const struct scale *scale, double at);

/* An empty row for this scale... */
void strip_start(struct strip *strip, const struct scale *scale);
/* ...a letter in one of its columns... */
void strip_lay(struct strip *strip, int column, char letter, enum style style);
/* What a long bar is, written into it: "== group 1, 4096 bytes =====". */
void strip_label(struct strip *strip, int from, int to, const char *label);
/* What is marked in the row of that name lies over its bars. */
void strip_marks(struct strip *strip, const json_t *marks, const char *row,
                 const struct scale *scale);
/* ...and the row as a line of text. */
void strip_add(struct doc *doc, const struct strip *strip, const char *title);

bool mark_is_wait(const json_t *mark); /* it lies in the row of waits */

/* Round ticks with their numbers; the unit stands where rows have their names. */
void timeline_axis(struct doc *doc, const struct scale *scale, const struct gantt_unit *unit,
                   const char *name);
/* One line: the letters that were drawn, in words. */
void timeline_legend(struct doc *doc, const bool seen[GANTT_KIND_COUNT]);

/* All of a host lab's timeline; and only its head: where times come from, what overlapped. */
void timeline_of_host(const struct timeline_view *view, const json_t *timeline, struct doc *doc,
                      int columns);
void timeline_host_summary(const json_t *timeline, struct doc *doc);

#endif

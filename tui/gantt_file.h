/* A record's timeline as a file for other programs: a picture, and a trace.
 *
 * Results are the caller's; the timeline is borrowed.
 *
 * Nothing of the record gets through as markup: text is cleaned and escaped. */
#ifndef STRIDE_TUI_GANTT_FILE_H
#define STRIDE_TUI_GANTT_FILE_H

#include "harness/base/buf.h"
#include "tui/gantt.h"

/* One SVG without anything outside it, readable on a light and a dark page, with a title on each
 * bar. `summary` is text of some lines for its head. */
void gantt_svg(const json_t *timeline, const char *title, const char *summary, struct buf *out);

/* Chrome's trace format, as Perfetto and chrome://tracing open it; a step becomes a microsecond. */
json_t *gantt_trace(const json_t *timeline, const char *title);

#endif

/* Markdown as styled text: lessons, hints, quizzes, help.
 *
 * Text is borrowed and only read; what is added belongs to the doc.
 *
 * It never fails: all text is some Markdown. It runs nothing, follows no link, and HTML is plain
 * text to it. */
#ifndef STRIDE_TUI_MARKUP_H
#define STRIDE_TUI_MARKUP_H

#include "doc.h"

struct markup_options {
    int indent;         /* blank columns in front of every line */
    enum style style;   /* of plain text; STYLE_NORMAL by default */
    int columns;        /* of the window, for code and tables to fit into; 0: any */
    bool no_numbers;    /* code without line numbers */
    const char *marker; /* in front of the first line ("a) "; under 16 bytes), as wide as that in
                         * front of the others; may be NULL */
    enum style marker_style;
};

/* Adds the text's blocks: headings, paragraphs, nested and numbered lists, task lists, quotes,
 * tables, fences. ```cuda, ```ptx and ```sass get colours and line numbers; other fences (```text:
 * figures) are kept as they are. Paragraphs are one line each for the viewer to wrap; code, tables
 * and figures are kept lines. `options` may be NULL. Ends the last line. */
void markup_add(struct doc *doc, const char *text, size_t len,
                const struct markup_options *options);

#endif

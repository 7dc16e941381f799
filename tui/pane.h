/* The panes: each builds a doc from the app's state, and the viewer shows it.
 *
 * A builder fills an empty doc; the app owns it. pane_ functions below are what builders share.
 *
 * A pane keeps no state of its own, draws nothing and handles no key. */
#ifndef STRIDE_TUI_PANE_H
#define STRIDE_TUI_PANE_H

#include "tui/app.h"

struct pane_facts {
    const char *name, *title, *small; /* titles in the student's language */
    int32_t key;
    enum context context;
    bool cursor;   /* one line is the current one */
    bool by_width; /* rebuilt when the width changes */
    int widest;    /* 0 for no limit */
    bool lists;    /* the cursor stands on tagged lines only */
};

struct pane_facts pane_facts(enum pane pane);

/* Builds the pane's text for that many columns. */
void pane_build(enum pane pane, const struct app *app, struct doc *doc, int columns);

void pane_build_course(const struct app *app, struct doc *doc, int columns);
void pane_build_lesson(const struct app *app, struct doc *doc, int columns);
void pane_build_code(const struct app *app, struct doc *doc, int columns);
void pane_build_correctness(const struct app *app, struct doc *doc, int columns);
void pane_build_speedup(const struct app *app, struct doc *doc, int columns);
void pane_build_timeline(const struct app *app, struct doc *doc, int columns);
void pane_build_ptx(const struct app *app, struct doc *doc, int columns);
void pane_build_sass(const struct app *app, struct doc *doc, int columns);
void pane_build_resources(const struct app *app, struct doc *doc, int columns);
void pane_build_quiz(const struct app *app, struct doc *doc, int columns);
void pane_build_history(const struct app *app, struct doc *doc, int columns);
void pane_build_help(const struct app *app, struct doc *doc, int columns);
void pane_build_hint(const struct app *app, struct doc *doc, int columns);

/* Code that takes the edges of its column, a blank column on each side: where the mark of the
 * cursor stands then, behind the line's number. */
enum { PANE_CODE_EDGES = 2, PANE_CODE_MARK = 3 };

/* Rows at the bottom of a pane, out of `rows`, that explain its current line; only listings have
 * them. */
int pane_foot_rows(enum pane pane, int rows);

/* Appends what the current line of a listing does: the lesson's words for a landmark, else the
 * glossary's; where there is no instruction, the kernel that the line is in. */
void pane_explain(const struct app *app, enum pane pane, struct buf *out);

/* ---- reading a record: a missing or odd value is NULL, false or "" */

/* A value by path: "timing.speedup.median". */
const json_t *record_at(const json_t *record, const char *path);
bool record_number(const json_t *record, const char *path, double *out);
int record_int(const json_t *record, const char *path); /* 0 when missing */
const char *record_text(const json_t *record, const char *path);

/* Why a stage was skipped; "" when it was not. */
const char *pane_skipped_why(const json_t *record, const char *stage);

/* ---- writing */

/* A heading with an empty line before it, unless it is the doc's first line. */
void pane_heading(struct doc *doc, const char *text);
/* Text of one line or more, the first behind what the open line has: the others, and what is
 * wrapped, stand `indent` columns in. All belong to `source_line`. */
void pane_hang(struct doc *doc, enum style style, const char *text, int indent, int source_line);
/* One wrapped paragraph and an empty line. */
void pane_paragraph(struct doc *doc, enum style style, const char *text);
/* What the open lab asks for beside a pass and is still open; most ask for nothing. */
void pane_to_do(const struct app *app, struct doc *doc);
/* "  label      value", labels padded to `columns`. */
void pane_field(struct doc *doc, const char *label, int columns, enum style style,
                const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Blanks up to that column of the open line, at least one. `used` is what stands there. */
void pane_pad(struct doc *doc, int used, int columns);
/* Text in a column of that width, at its left or right edge; words of any language stay aligned. */
void pane_cell(struct doc *doc, enum style style, const char *text, int columns, bool right);
/* A bar of `part` of `columns` (0..1), in eighths of a column. */
void pane_bar(struct doc *doc, enum style style, double part, int columns);

/* Marks and styles by verdict; an unknown name is '?' in STYLE_DIM. */
const char *verdict_mark_of(const char *verdict, enum style *style);

/* "1.24 ms", "312 us", "2 min": three digits and a unit. */
void format_ms(char out[24], double ms);
/* "67,108,864" */
void format_count(char out[32], double count);
/* "4.2 MiB" */
void format_bytes(char out[24], double bytes);

#endif

/* A record's timeline, read once: rows of bars with times, ready to be drawn as text or a picture.
 *
 * A struct gantt owns its bars; names and labels are borrowed from the record, which must outlive
 * it.
 *
 * It trusts nothing in the record: odd bars are left out. It draws nothing. */
#ifndef STRIDE_TUI_GANTT_H
#define STRIDE_TUI_GANTT_H

#include "tui/doc.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*  X(symbol, "kind in the record", letter, style, "in words") */
#define GANTT_KINDS(X)                                                                             \
    X(COPY, "copy", '=', INFO, N_("copy"))                                                         \
    X(H2D, "h2d", '>', INFO, N_("copy to the device"))                                             \
    X(D2H, "d2h", '<', BUILTIN, N_("copy back"))                                                   \
    X(D2D, "d2d", '=', INFO, N_("copy within the device"))                                         \
    X(KERNEL, "kernel", '#', PASS, N_("kernel"))                                                   \
    X(COMPUTE, "compute", '#', PASS, N_("compute"))                                                \
    X(WAIT, "wait", '.', DIM, N_("wait"))                                                          \
    X(BARRIER, "barrier", '|', WARN, N_("barrier"))                                                \
    X(GRAPH, "graph", 'G', PASS, N_("graph"))                                                      \
    X(ISSUE, "issue", '+', INFO, N_("issue"))                                                      \
    X(MEMSET, "memset", 'm', BUILTIN, N_("memset"))                                                \
    X(HOST, "host", 'c', BUILTIN, N_("callback"))                                                  \
    X(LOST, "lost", 'x', WARN, N_("lost"))                                                         \
    X(PAGEABLE, "pageable", 'p', WARN, N_("copy of pageable memory"))                              \
    X(OTHER, "", '?', DIM, N_("other"))

enum gantt_kind {
#define X(symbol, name, letter, style, words) GANTT_##symbol,
    GANTT_KINDS(X)
#undef X
        GANTT_KIND_COUNT
};

struct gantt_kind_facts {
    const char *name; /* in the record */
    char letter;
    enum style style;
    const char *words; /* in the student's language */
};
struct gantt_kind_facts gantt_kind_facts(enum gantt_kind kind);

struct bar {
    double from, to;
    enum gantt_kind kind; /* PAGEABLE is no kind of a bar: see `pageable` */
    bool pageable;
    int line;          /* of the student's kernel.cu, 0 for none */
    int graph;         /* number of the graph launch, 0 for none */
    int pieces;        /* more than 1 only for a closed graph launch, whose kind is GRAPH */
    const char *label; /* "" for none */
};

enum gantt_role { ROLE_OTHER, ROLE_STREAM, ROLE_ENGINE, ROLE_HOST };

struct bar_row {
    const char *name; /* in the record */
    enum gantt_role role;
    struct bar *bars; /* by time, as the record has them */
    size_t count;
};

struct gantt {
    bool steps, is_virtual; /* else measured microseconds */
    struct bar_row *rows;
    size_t row_count;
    double from, to; /* of all bars; to > from */
    bool has_graphs;
};

/* Reads a timeline, or the baseline in one (whose unit is the timeline's own: pass both). With
 * `open_graphs`, a graph launch is its pieces; else one bar in its stream. */
void gantt_read(struct gantt *gantt, const json_t *timeline, const json_t *rows_of,
                bool open_graphs);
void gantt_free(struct gantt *gantt);

/* A row's name and a bar's label in the student's language. */
void gantt_row_title(const struct bar_row *row, char out[64]);
void gantt_bar_label(const struct bar *bar, char out[96]);

/* Round ticks: the least of 1, 2, 5, 10, ... that lets at most `most` of them stand in `range`. */
double gantt_tick(double range, double most);

/* Times on an axis: "12.5" in the unit that suits a picture up to `to` (all of it in one unit);
 * gantt_unit says which. */
struct gantt_unit {
    double factor; /* from the record's unit */
    const char *name;
};
struct gantt_unit gantt_unit(const struct gantt *gantt, double to);
void gantt_number(char out[32], const struct gantt_unit *unit, double at, double tick);

#endif

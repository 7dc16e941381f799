/* What a compiler complained about, as a list instead of a text.
 *
 * struct diagnostics owns its items. Reads the formats of NVRTC and nvcc (cudafe++), of ptxas, and
 * of the host compiler; lines that belong to none are kept as the text of a note when nothing else
 * explains a failure.
 *
 * It never decides whether a build succeeded: a text with the word "error" in it proves nothing. */
#ifndef STRIDE_HARNESS_DIAGNOSTIC_H
#define STRIDE_HARNESS_DIAGNOSTIC_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum severity { SEVERITY_ERROR, SEVERITY_WARNING, SEVERITY_NOTE };

enum { DIAGNOSTICS_MOST = 200 };

struct diagnostic {
    enum severity severity;
    char *file;        /* as the compiler wrote it; NULL when it named none */
    unsigned line;     /* from 1; 0 unknown */
    unsigned column;   /* from 1; 0 unknown */
    unsigned ptx_line; /* ptxas: line of the PTX it complained about; 0 otherwise */
    char *text;        /* cleaned; the first line is the message, later ones continue it */
};

struct diagnostics {
    struct diagnostic *items;
    size_t count;
    bool cut;             /* more than DIAGNOSTICS_MOST */
    char *setup;          /* a set-up problem (host compiler too new ...); NULL when none */
    unsigned spill_bytes; /* ptxas -v: stores and loads together */
};

/* Appends what the log holds. */
void diagnostics_parse(struct diagnostics *out, const char *log, size_t len);

/* Appends one of Stride's own; text is copied. */
void diagnostics_add(struct diagnostics *out, enum severity severity, const char *file,
                     unsigned line, const char *text);

/* Gives ptxas's complaints the student's line: the .loc in force at their PTX line, following
 * inlined code out to `name`. */
void diagnostics_map_ptx(struct diagnostics *out, const char *ptx, size_t len, const char *name);

/* Drops what says the same of the same line again: ptxas complains once for each copy that
 * unrolling or inlining made of it. */
void diagnostics_drop_repeated(struct diagnostics *out);

/* Drops warnings and notes about files below `folder`: a student cannot mend the toolkit's headers.
 */
void diagnostics_drop_below(struct diagnostics *out, const char *folder);

void diagnostics_free(struct diagnostics *diagnostics);

/* The array of docs/record.md's build.diagnostics. */
json_t *diagnostics_json(const struct diagnostics *diagnostics);

#endif

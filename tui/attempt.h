/* One attempt: what the harness told about one run of one kernel, as a record.
 *
 * The attempt owns its record (a jansson object of the shape of docs/record.md) and a view of its
 * stages for drawing. Lines, times and the child's end are given to it; it keeps no pointer to
 * them. Times are job_clock_ns() values that the caller passes in.
 *
 * It reads no file, starts nothing and looks at no clock. It trusts nothing: an event without the
 * nonce, of a wrong type, too deep, too long or after the end changes nothing. */
#ifndef STRIDE_TUI_ATTEMPT_H
#define STRIDE_TUI_ATTEMPT_H

#include "harness/base/buf.h"
#include "harness/base/verdict.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { ATTEMPT_STAGES = 12, ATTEMPT_NONCE = 33 };

enum attempt_stage_state { STAGE_RUNNING, STAGE_DONE, STAGE_SKIPPED, STAGE_BROKEN };

/* A stage as it was announced, in order of its `begin` (or `skip`). */
struct attempt_stage {
    char name[16];
    enum attempt_stage_state state;
    int64_t since_ns; /* of its begin */
    double ms;        /* once DONE, and not within another */
    char within[16];  /* the stage whose time it is part of, "" for none */
    char why[256];    /* once SKIPPED; uncleaned */
};

/* How a child came to its end; only said once it is over. */
enum attempt_death {
    DEATH_EXIT,     /* exited by itself; `code` is its exit status */
    DEATH_SIGNAL,   /* killed by a signal that we did not send; `code` is its number */
    DEATH_DEADLINE, /* we killed it at attempt_deadline_ns() */
    DEATH_STOPPED,  /* the student stopped it */
    DEATH_FLOOD,    /* we killed it since its records had no end */
};

struct attempt {
    json_t *record;
    char nonce[ATTEMPT_NONCE];
    struct attempt_stage stages[ATTEMPT_STAGES];
    int stage_count;
    bool ready; /* the child is warm */
    bool began; /* at least one stage of this attempt began or was skipped */
    bool ended; /* `end` came, or attempt_child_over() was called: the verdict stands */
    bool cut;   /* something was dropped because the record is full */
    enum verdict verdict;
    char note[160]; /* progress of the running stage, "" for none; uncleaned */
    int refused;    /* lines that were no valid event of this attempt */
    size_t kept_bytes;
    int64_t last_ns; /* when anything valid was heard last */
};

/* Starts an attempt of the lab. `ready` when the child has said so before. */
void attempt_init(struct attempt *attempt, const char *lab, const char *nonce, bool ready,
                  int64_t now_ns);
void attempt_free(struct attempt *attempt);

/* Reads one line of descriptor 3. False when it was refused. */
bool attempt_event(struct attempt *attempt, const char *line, size_t len, int64_t now_ns);

/* When the child has to be killed unless something is heard; INT64_MAX when nothing is awaited. */
int64_t attempt_deadline_ns(const struct attempt *attempt);

/* The child is gone. After `end` this changes nothing; before it, decides verdict and summary. */
void attempt_child_over(struct attempt *attempt, enum attempt_death death, int code);

/* The stage that is running, or NULL. */
const struct attempt_stage *attempt_running(const struct attempt *attempt);

/* What the kernel printed, raw; cleaned and capped here and kept as `output`. */
void attempt_set_output(struct attempt *attempt, const char *text, size_t len, bool cut);

void attempt_set_number(struct attempt *attempt, int number);

/* A limit's kind ("copy") in a reader's words and language. */
const char *attempt_limit_words(const char *kind);

/* One of the record's own words for what limits blocks ("registers") or for a kind of instruction
 * ("load") in the reader's language; any other word as it is. */
const char *attempt_word(const char *word);

const char *attempt_summary(const struct attempt *attempt); /* borrowed, "" while running */

/* "1.41x" into out[16], "" when nothing was timed or it was too noisy. */
void attempt_speedup(const json_t *record, char out[16]);

/* The record as text: pretty, keys sorted, newline at the end. */
void attempt_dump(const json_t *record, struct buf *out);

/* What a commit says: "cp-async #4: pass, 1.41x", and a body for plain `git log`. */
void attempt_commit_subject(const json_t *record, struct buf *out);
void attempt_commit_body(const json_t *record, struct buf *out);

/* Reads a record.json. NULL when it is none, is deeper or larger than Stride writes. */
json_t *attempt_load_record(const char *text, size_t len);

/* A fresh, unguessable nonce. */
void attempt_make_nonce(char nonce[ATTEMPT_NONCE]);

#endif

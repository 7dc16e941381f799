/* One attempt on its way to the reader: its verdict so far, and the listings it leaves behind.
 *
 * A struct answer borrows all but its summary.
 *
 * It runs nothing: stages.c and host_stages.c do. */
#ifndef STRIDE_HARNESS_ANSWER_H
#define STRIDE_HARNESS_ANSWER_H

#include "compile.h"
#include "emit.h"
#include "work.h"

#include "harness/base/labfile.h"

struct answer {
    const struct work *work;
    const struct labfile *about;
    struct emit *emit;
    enum verdict verdict;
    char summary[1024]; /* of the verdict */
};

/* A verdict that explains more replaces the one that is there, with its sentence. */
void answer_judge(struct answer *answer, enum verdict verdict, const char *summary);

/* Writes a listing into the job's folder. Without it an attempt would not be whole: that is
 * Stride's failure, and said as such. */
void answer_write(struct answer *answer, const char *file, const struct buf *text);

/* The lab's landmarks in a listing of code for this architecture ("sm_90"). */
void answer_landmarks(struct answer *answer, enum lab_listing listing, const char *arch,
                      const struct buf *text);

/* The record's `build`, and what a failed one says to the verdict. */
void answer_build(struct answer *answer, const struct build *build, json_t *toolkit);

#endif

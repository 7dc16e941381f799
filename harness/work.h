/* The one job a warm child waits for, as docs/record.md defines it.
 *
 * A struct work owns its strings; paths are made absolute, so that the child may leave its folder.
 *
 * It opens none of the files it names. */
#ifndef STRIDE_HARNESS_WORK_H
#define STRIDE_HARNESS_WORK_H

#include "harness/base/err.h"

#include <stddef.h>
#include <stdint.h>

enum stage {
    STAGE_COMPILE,
    STAGE_CHECK,
    STAGE_HAZARDS,
    STAGE_TIME,
    STAGE_TIMELINE,
    STAGE_DISASM,
    STAGE_COUNT
};

enum { WORK_DEFAULT_SEED = 20250 }; /* of a job that names none */

enum backend_choice { BACKEND_AUTO, BACKEND_GPU, BACKEND_SIM };

struct work { /* "job" names the process on the other side */
    char *nonce, *source, *folder, *name, *out;
    enum backend_choice backend;
    bool stages[STAGE_COUNT];
    uint64_t seed;
};

const char *stage_name(enum stage stage);

/* Reads one line of JSON; relative paths start at `here`. False names the key that is missing or
 * wrong. */
bool work_parse(struct work *out, const char *line, size_t len, const char *here, struct err *err);
void work_free(struct work *work);

#endif

/* What the two halves of the content check share. Private to them.
 *
 * A struct check is about one lab and borrows everything.
 *
 * It never changes content. */
#ifndef STRIDE_TUI_CLI_CHECK_H
#define STRIDE_TUI_CLI_CHECK_H

#include "cli_core.h"

struct check {
    struct cli *cli;
    const struct labfile *lab;
    int failed, skipped;
};

enum check_result { CHECK_OK, CHECK_FAIL, CHECK_SKIP };

/* Prints and counts one result; the format may give "" for nothing to add. */
void check_say(struct check *check, enum check_result result, const char *name, const char *format,
               ...) __attribute__((format(printf, 4, 5)));

/* Reads a file of the lab's folder; false after a FAIL. */
bool check_read(struct check *check, const char *name, struct buf *out);

/* Solution, starter and wrong kernels through the harness. */
void check_run_kernels(struct check *check);

#endif

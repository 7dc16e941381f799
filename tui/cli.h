/* The plain commands: everything the screen can do, for scripts, tests and pipes.
 *
 * cli_main owns the process from argv to exit status; it frees what it opened.
 *
 * It never draws a screen and never waits for a key except in `quiz` and `edit`. */
#ifndef STRIDE_TUI_CLI_H
#define STRIDE_TUI_CLI_H

#include <stdbool.h>

/* Exit statuses besides those of verdicts. */
enum cli_status {
    CLI_OK = 0,
    CLI_NOT_PASSED = 1,
    CLI_USAGE = 2,
    CLI_BROKEN_LAB = 3,
    CLI_CANNOT = 4,
    CLI_FAILED = 5,
};

/* True when argv asks for a plain command (or an option that prints and ends) rather than the
 * screen. */
bool cli_wants(int argc, char **argv);

/* Runs it and returns the exit status. Expects msg_load to have been called by main or calls it. */
int cli_main(int argc, char **argv);

#endif

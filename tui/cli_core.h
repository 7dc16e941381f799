/* What the plain commands share. Private to tui/cli*.c.
 *
 * A struct cli owns the library and the history while a command runs; cli_main closes both.
 *
 * Commands return an exit status and print through say() and complain(), which clean what they
 * print. */
#ifndef STRIDE_TUI_CLI_CORE_H
#define STRIDE_TUI_CLI_CORE_H

#include "cli.h"
#include "history.h"
#include "library.h"
#include "runner.h"

#include <stdio.h>

enum { CLI_ARGUMENTS = 64 };

struct cli {
    struct library library;
    struct history *history;              /* NULL when not asked for or not to be had */
    const char *arguments[CLI_ARGUMENTS]; /* after the command's name */
    int argument_count;
    bool json, no_commit, ptx, sass;
    const char *svg, *trace; /* files to write; NULL when not asked for */
    const char *backend;     /* NULL for auto */
};

int cli_list(struct cli *cli);
int cli_run(struct cli *cli);
int cli_edit(struct cli *cli);
int cli_quiz(struct cli *cli);
int cli_doctor(struct cli *cli);
int cli_log(struct cli *cli);
int cli_diff(struct cli *cli);
int cli_timeline(struct cli *cli);
int cli_restore(struct cli *cli);
int cli_reset(struct cli *cli);
int cli_check(struct cli *cli);

/* Prints on standard output, cleaned; characters that the locale lacks become '?'. */
void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same for text that is not a format. */
void say_text(const char *text, size_t len);
/* "stride: ..." on standard error, with a newline. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* JSON on standard output, as it is. */
void say_json(const json_t *value);
/* Text, then blanks up to `columns` of the terminal. */
void say_padded(const char *text, int columns);

/* The lab of that name; NULL with a complaint and a suggestion. */
const struct labfile *cli_lab(struct cli *cli, const char *slug);

/* Opens the history into cli->history; false with a complaint when there is none. */
bool cli_open_history(struct cli *cli);

/* Makes kernel.cu if it is missing. False with a complaint. */
bool cli_prepare(struct cli *cli, const struct labfile *lab);

/* Judges a kernel to the end, with progress on standard error when that is a terminal and
 * `progress`. Fills the runner (free it, also after failure). CLI_OK, or the status of what went
 * wrong, which was complained about. */
int cli_judge(struct cli *cli, struct runner *runner, const char *lab, const struct runner_job *job,
              bool progress);

/* The statuses of a harness that never began: 3 for a broken lab, else 5. */
int cli_trouble_status(const struct runner *runner);

/* One attempt with the kernel at `source`: judges, keeps, prints. */
int cli_attempt(struct cli *cli, const struct labfile *lab, const char *source);

/* A record for people. `id` is the commit's, "" when there is none. */
/* Lets a record decide the predictions that the student made in the lab's quiz. */
void cli_quiz_decide(struct cli *cli, const struct labfile *lab, const json_t *record);
void cli_report(const json_t *record, const char *id);

/* Borrowed members of JSON objects, with "" and 0 for what is not there. */
const char *json_text_at(const json_t *object, const char *key);
long long json_int_at(const json_t *object, const char *key);
double json_number_at(const json_t *object, const char *key);

#endif

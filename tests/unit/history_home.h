/* A home, a work folder and plain git as the judge: what the tests of the history stand on.
 *
 * Each test gets folders and a global git configuration of its own, and set_up and tear_down own
 * them.
 *
 * Only the files of tests/unit/test_history*.c include this. */
#ifndef STRIDE_TESTS_HISTORY_HOME_H
#define STRIDE_TESTS_HISTORY_HOME_H

#include "tui/history.h"

#include "harness/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char base[64];
static struct err notice, err;
static struct history *history;

/* Runs a command in the work folder; $B is the test's folder. Its output, without the last newline,
 * stays valid until the next call. */
static inline const char *out_of(const char *command)
{
    static char text[65536];
    char *line = mem_printf("cd %s/s/work && { %s; } 2>&1", base, command);
    FILE *pipe = popen(line, "r");
    size_t len = fread(text, 1, sizeof text - 1, pipe);
    int status = pclose(pipe);
    while (len && text[len - 1] == '\n')
        len--;
    text[len] = '\0';
    if (status != 0)
        fail_msg("%s: %s", command, text);
    free(line);
    return text;
}

static inline void sh(const char *command)
{
    out_of(command);
}

static inline void assert_out(const char *command, const char *want)
{
    assert_string_equal(out_of(command), want);
}

static inline int set_up(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/stride-history-XXXXXX");
    if (!mkdtemp(base))
        return -1;
    char *home = path_join(base, "home"), *work = path_join(base, "s/work");
    bool ok = file_make_dirs(home, &err) && file_make_dirs(work, &err);
    setenv("HOME", home, 1);
    setenv("B", base, 1);
    setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
    static const char *const unwanted[] = {
        "XDG_CONFIG_HOME",     "GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL",  "GIT_COMMITTER_NAME",
        "GIT_COMMITTER_EMAIL", "GIT_DIR",         "GIT_CONFIG_GLOBAL", "EMAIL"};
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        unsetenv(unwanted[i]);
    free(home);
    free(work);
    history = NULL;
    notice = err = (struct err){0};
    sh("git config --global user.name Student; git config --global user.email student@example.org");
    return ok ? 0 : -1;
}

static inline void close_it(void)
{
    history_close(history);
    history = NULL;
}

static inline int tear_down(void **state)
{
    (void)state;
    close_it();
    char *command = mem_printf("rm -rf %s", base);
    int status = system(command);
    free(command);
    return status;
}

static inline bool open_it(void)
{
    char *work = path_join(base, "s/work");
    close_it();
    notice = err = (struct err){0};
    bool ok = history_open(&history, work, &notice, &err);
    free(work);
    return ok;
}

static inline void must_open(void)
{
    if (!open_it())
        fail_msg("%s", err.text);
}

static inline void write_kernel(const char *lab, const char *text)
{
    char *folder = mem_printf("%s/s/work/%s", base, lab), *path = path_join(folder, "kernel.cu");
    struct err trouble = {0};
    if (!file_make_dirs(folder, &trouble) || !file_write(path, text, strlen(text), false, &trouble))
        fail_msg("%s", trouble.text);
    free(path);
    free(folder);
}

/* An attempt with the next number, whose kernel is on disk unless text is NULL. */
static inline bool attempt(const char *lab, const char *text, const char *verdict, char id[41])
{
    struct buf kernel = {0}, record = {0}, ptx = {0}, sass = {0};
    int number = 0;
    char local[41];
    if (text)
        write_kernel(lab, text);
    char *path = mem_printf("%s/s/work/%s/kernel.cu", base, lab);
    notice = err = (struct err){0};
    bool built = strcmp(verdict, "no-build") != 0;
    bool ok = file_read(&kernel, path, 1 << 20, &err) &&
              history_next_attempt(history, lab, &number, &err);
    char *subject = mem_printf("%s #%d: %s%s", lab, number, verdict,
                               strcmp(verdict, "pass") == 0 ? ", 1.41x" : "");
    buf_printf(&record, "{\n  \"attempt\": %d,\n  \"lab\": \"%s\"\n}\n", number, lab);
    buf_printf(&ptx, "// ptx of %d\n", number);
    buf_printf(&sass, "// sass of %d\n", number);
    struct history_attempt one = {lab,
                                  &kernel,
                                  &record,
                                  built ? &ptx : NULL,
                                  built ? &sass : NULL,
                                  subject,
                                  "passes all sizes\n\nBackend: gpu\n"};
    ok = ok && history_commit_attempt(history, &one, id ? id : local, &notice, &err);
    buf_free(&kernel);
    buf_free(&record);
    buf_free(&ptx);
    buf_free(&sass);
    free(subject);
    free(path);
    return ok;
}

static inline void must_attempt(const char *lab, const char *text, const char *verdict)
{
    if (!attempt(lab, text, verdict, NULL))
        fail_msg("%s", err.text);
}

static inline void assert_clean(void)
{
    assert_out("git status --porcelain", "");
    assert_out("git diff --cached", "");
    assert_out("git fsck --full --strict --no-dangling --no-progress", "");
    assert_out("find .git -name '*.lock' -o -name 'tmp_*'", "");
}

static inline int list(const char *lab, struct history_entry entries[16])
{
    size_t count = 0;
    bool more = false;
    err = (struct err){0};
    assert_true(history_list(history, lab, 0, 16, entries, &count, &more, &err));
    return (int)count;
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif

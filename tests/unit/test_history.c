/* The history against real repositories, with plain git as the judge. Each test has a home and a
 * work folder of its own; git's global configuration is the test's. */
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
static const char *out_of(const char *command)
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

static void sh(const char *command)
{
    out_of(command);
}

static void assert_out(const char *command, const char *want)
{
    assert_string_equal(out_of(command), want);
}

static int set_up(void **state)
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

static void close_it(void)
{
    history_close(history);
    history = NULL;
}

static int tear_down(void **state)
{
    (void)state;
    close_it();
    char *command = mem_printf("rm -rf %s", base);
    int status = system(command);
    free(command);
    return status;
}

static bool open_it(void)
{
    char *work = path_join(base, "s/work");
    close_it();
    notice = err = (struct err){0};
    bool ok = history_open(&history, work, &notice, &err);
    free(work);
    return ok;
}

static void must_open(void)
{
    if (!open_it())
        fail_msg("%s", err.text);
}

static void write_kernel(const char *lab, const char *text)
{
    char *folder = mem_printf("%s/s/work/%s", base, lab), *path = path_join(folder, "kernel.cu");
    struct err trouble = {0};
    if (!file_make_dirs(folder, &trouble) || !file_write(path, text, strlen(text), false, &trouble))
        fail_msg("%s", trouble.text);
    free(path);
    free(folder);
}

/* An attempt with the next number, whose kernel is on disk unless text is NULL. */
static bool attempt(const char *lab, const char *text, const char *verdict, char id[41])
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

static void must_attempt(const char *lab, const char *text, const char *verdict)
{
    if (!attempt(lab, text, verdict, NULL))
        fail_msg("%s", err.text);
}

static void assert_clean(void)
{
    assert_out("git status --porcelain", "");
    assert_out("git diff --cached", "");
    assert_out("git fsck --full --strict --no-dangling --no-progress", "");
    assert_out("find .git -name '*.lock' -o -name 'tmp_*'", "");
}

static int list(const char *lab, struct history_entry entries[16])
{
    size_t count = 0;
    bool more = false;
    err = (struct err){0};
    assert_true(history_list(history, lab, 0, 16, entries, &count, &more, &err));
    return (int)count;
}

/* ---- the usual */

static void an_attempt_is_a_clean_commit(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    assert_clean();
    must_attempt("cp-async", "two\n", "pass");
    must_attempt("streams", "other\n", "no-build");
    assert_clean();
    assert_string_equal(notice.text, "");
    assert_out("git log --format=%s",
               "streams #1: no-build\ncp-async #2: pass, 1.41x\ncp-async #1: wrong");
    assert_out("git log -1 --format=%an/%ae/%cn/%b cp-async",
               "Student/student@example.org/Student/passes all sizes\n\nBackend: gpu");
    assert_out(
        "git ls-tree -r --name-only HEAD",
        "cp-async/kernel.cu\ncp-async/kernel.ptx\ncp-async/kernel.sass\ncp-async/record.json\n"
        "streams/kernel.cu\nstreams/record.json");
    assert_out("git show HEAD~1:cp-async/kernel.cu", "two");
    assert_out("cat cp-async/kernel.ptx", "// ptx of 2");
    must_attempt("cp-async", NULL, "no-build");
    assert_clean();
    assert_out("ls cp-async",
               "kernel.cu\nrecord.json"); /* no listing that belongs to another text */

    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 3);
    assert_int_equal(entries[0].attempt, 3);
    assert_string_equal(entries[1].verdict, "pass");
    assert_string_equal(entries[1].speedup, "1.41x");
    assert_string_equal(entries[2].subject, "cp-async #1: wrong");
    assert_true(entries[2].time_s > 1600000000);
    assert_int_equal(list("nothing", entries), 0);
}

static void attempts_are_found_read_and_compared(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "pass");
    struct history_entry a, b;
    assert_true(history_find(history, "cp-async", "#1", &a, &err));
    assert_true(history_find(history, "cp-async", "last", &b, &err));
    assert_int_equal(b.attempt, 2);
    assert_true(history_find(history, "cp-async", "previous", &b, &err));
    assert_string_equal(a.id, b.id);
    char prefix[9] = "";
    memcpy(prefix, a.id, 8);
    assert_true(history_find(history, "cp-async", prefix, &b, &err));
    assert_string_equal(a.id, b.id);
    static const char *const bad[] = {"7", "", "../x", "-1", "99999999999", "zzz", "deadbeef"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(history_find(history, "cp-async", bad[i], &b, &err));
    struct buf text = {0};
    assert_true(history_read(history, "cp-async", a.id, HISTORY_KERNEL, &text, &err));
    assert_string_equal(buf_str(&text), "one\n");
    buf_clear(&text);
    assert_true(history_find(history, "cp-async", "2", &b, &err));
    assert_true(history_diff(history, "cp-async", a.id, b.id, HISTORY_KERNEL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "@@ -1 +1 @@\n-one\n+two\n"));
    buf_clear(&text);
    assert_true(history_diff(history, "cp-async", b.id, NULL, HISTORY_KERNEL, &text, &err));
    assert_string_equal(buf_str(&text), "");
    write_kernel("cp-async", "three");
    assert_true(history_diff(history, "cp-async", b.id, NULL, HISTORY_KERNEL, &text, &err));
    assert_non_null(strstr(buf_str(&text), "+three\n"));
    assert_true(history_diff(history, "cp-async", a.id, b.id, HISTORY_PTX, &text, &err));
    buf_free(&text);
}

static void restoring_loses_nothing(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "pass");
    write_kernel("cp-async", "never saved\n");
    assert_true(history_restore(history, "cp-async", "1", &err));
    assert_out("cat cp-async/kernel.cu", "one");
    assert_clean();
    assert_out("git log --format=%s", "cp-async: restore #1\ncp-async: save before restoring\n"
                                      "cp-async #2: pass, 1.41x\ncp-async #1: wrong");
    assert_out("git show HEAD~1:cp-async/kernel.cu", "never saved");
    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 4);
    assert_string_equal(entries[0].verdict, "restored");
    assert_string_equal(entries[1].verdict, "");
    must_attempt("cp-async", NULL, "wrong");
    assert_out("git log -1 --format=%s", "cp-async #3: wrong");
    assert_true(history_restore(history, "cp-async", "2", &err));
    assert_out("git log -2 --format=%s", "cp-async: restore #2\ncp-async #3: wrong");
    assert_false(history_restore(history, "cp-async", "77", &err));
    assert_non_null(strstr(err.text, "77"));
}

static void starters_and_resets_are_commits_too(void **state)
{
    (void)state;
    must_open();
    write_kernel("cp-async", "starter\n");
    assert_true(history_commit_kernel(history, "cp-async", NULL, "cp-async: starter", &err));
    assert_true(history_commit_kernel(history, "cp-async", NULL, "cp-async: starter", &err));
    assert_out("git log --format=%s", "cp-async: starter");
    must_attempt("cp-async", "mine\n", "pass");
    write_kernel("cp-async", "mine, better\n");
    struct buf starter = {0};
    buf_add_str(&starter, "starter\n");
    assert_true(history_commit_kernel(history, "cp-async", &starter, "cp-async: reset", &err));
    assert_out("cat cp-async/kernel.cu; ls cp-async", "starter\nkernel.cu");
    assert_out("git show HEAD~1:cp-async/kernel.cu", "mine, better");
    assert_clean();
    assert_true(history_commit_kernel(history, "cp-async", &starter, "cp-async: reset", &err));
    assert_out("git rev-list --count HEAD", "4");
    buf_free(&starter);
}

static void files_of_others_are_left_alone(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    write_kernel("streams", "not tried yet\n");
    sh("echo mine >notes.txt; echo n >cp-async/my-notes; git add notes.txt cp-async/my-notes");
    must_attempt("cp-async", "two\n", "pass");
    assert_out("git status --porcelain", "A  cp-async/my-notes\nA  notes.txt\n?? streams/");
    sh("git commit -qm mine");
    must_attempt("cp-async", "three\n", "pass");
    assert_out("git show HEAD:cp-async/my-notes", "n"); /* kept in later attempts */
    assert_out("git show HEAD:notes.txt", "mine");
    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 4);
    assert_string_equal(entries[1].subject, "mine");
}

/* ---- CASES: identity, owner, home */

static void no_identity_is_told_once(void **state)
{
    (void)state;
    sh("rm $HOME/.gitconfig");
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    assert_non_null(strstr(notice.text, "git config --global user.name"));
    must_attempt("cp-async", "two\n", "wrong");
    assert_string_equal(notice.text, "");
    assert_out("git log -1 --format='%an <%ae>'", "Stride student <student@localhost>");
    assert_out("ls -A $HOME", "");
    assert_clean();
    setenv("GIT_AUTHOR_NAME", "Env", 1);
    setenv("GIT_AUTHOR_EMAIL", "env@example.org", 1);
    must_attempt("cp-async", "three\n", "wrong");
    unsetenv("GIT_AUTHOR_NAME");
    unsetenv("GIT_AUTHOR_EMAIL");
    assert_out("git log -1 --format='%an <%ae>'", "Env <env@example.org>");
    sh("git config --global user.name '<>'; git config --global user.email x");
    must_attempt("cp-async", "four\n", "wrong"); /* a name git can't take */
    sh("printf '[broken' >$HOME/.gitconfig");
    assert_false(open_it()); /* as git itself */
    assert_non_null(strstr(err.text, ".gitconfig:1"));
}

static void a_foreign_owner_is_explained(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    close_it();
    sh("chown -R nobody .");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "nobody"));
    assert_non_null(strstr(err.text, "root"));
    char *command = strstr(err.text, "git config --global --add safe.directory '");
    assert_non_null(command);
    sh("git config --global safe.directory '*'");
    assert_false(open_it());
    assert_out("ls -A ..", "work"); /* nothing was moved aside */
    command = mem_strdup(strstr(err.text, "git config --global --add"));
    sh(command);
    free(command);
    must_open();
    must_attempt("cp-async", "two\n", "wrong");
    assert_out("git rev-list --count HEAD", "2");
}

static void no_home_is_no_obstacle(void **state)
{
    (void)state;
    char *home = mem_strdup(getenv("HOME"));
    static const char *const homes[] = {NULL, "/nonexistent", "/dev/null", ""};
    for (size_t i = 0; i < sizeof homes / sizeof *homes; i++) {
        if (homes[i])
            setenv("HOME", homes[i], 1);
        else
            unsetenv("HOME");
        must_open();
        must_attempt("cp-async", "one\n", "wrong");
    }
    setenv("HOME", home, 1);
    free(home);
}

/* ---- CASES: locks, signing, line ends, branches */

static void a_stale_lock_is_removed_and_told(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    static const char *const locks[] = {"index.lock", "HEAD.lock",
                                        "refs/heads/$(git branch --show-current).lock"};
    for (size_t i = 0; i < 3; i++) {
        char *make = mem_printf("touch -d '2 hours ago' .git/%s", locks[i]);
        sh(make);
        free(make);
        must_attempt("cp-async", "two\n", "wrong");
        assert_non_null(strstr(notice.text, ".lock, which a crash had left behind"));
        assert_clean();
    }
    assert_out("git rev-list --count HEAD", "4");
}

static void a_live_lock_parks_the_attempt(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    sh("touch .git/index.lock");
    assert_false(attempt("cp-async", "two\n", "pass", NULL));
    assert_non_null(strstr(err.text, "kept aside"));
    assert_non_null(strstr(err.text, "index.lock"));
    assert_false(attempt("cp-async", "three\n", "wrong", NULL)); /* numbers go on */
    assert_out("ls ../parked | wc -l", "2");
    assert_out("test -e .git/index.lock && git rev-list --count HEAD", "1");
    sh("rm .git/index.lock");
    must_attempt("cp-async", "four\n", "wrong");
    assert_non_null(strstr(notice.text, "are recorded now"));
    assert_out("git log --format=%s",
               "cp-async #4: wrong\ncp-async #3: wrong\ncp-async #2: pass, 1.41x\n"
               "cp-async #1: wrong");
    assert_out("git show HEAD~2:cp-async/kernel.cu", "two");
    assert_out("ls -A ..", "work");
    assert_clean();

    /* An old lock that somebody holds is not stale. */
    char *lock = mem_printf("%s/s/work/.git/index.lock", base);
    int fd = open(lock, O_CREAT | O_WRONLY, 0644);
    sh("touch -d '2 hours ago' .git/index.lock");
    assert_false(attempt("cp-async", "five\n", "wrong", NULL));
    must_open();
    assert_non_null(strstr(notice.text, "1 attempts still wait"));
    assert_non_null(strstr(notice.text, "index.lock"));
    close(fd);
    free(lock);
    must_open(); /* reopening records it */
    assert_out("git log -1 --format=%s", "cp-async #5: wrong");
    assert_clean();
}

static void signing_and_hooks_do_not_matter(void **state)
{
    (void)state;
    sh("mkdir $B/hooks; printf '#!/bin/sh\\nread x </dev/tty; exit 1\\n' >$B/hooks/pre-commit; "
       "chmod +x $B/hooks/*; cp $B/hooks/pre-commit $B/hooks/reference-transaction; "
       "git config --global core.hooksPath $B/hooks; git config --global commit.gpgsign true; "
       "git config --global gpg.format ssh; git config --global init.templateDir $B/hooks");
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    assert_out("git log -1 --format=%s%G?", "cp-async #1: wrongN");
    assert_out("test ! -e .git/pre-commit && echo no", "no");
    /* The student's own commits still obey their settings. */
    assert_out("git commit --allow-empty -qm x >/dev/null 2>&1 || echo refused", "refused");
}

static void bytes_are_kept_exactly(void **state)
{
    (void)state;
    static const char *const texts[] = {"a\r\nb\r\n", "a\nb\n", "a\r\nb\nc\r",
                                        ("\xef\xbb\xbf"
                                         "a\r\n$Id$\n")};
    sh("git config --global core.autocrlf true; git config --global core.eol crlf; "
       "printf '* text=auto ident\\n*.cu text eol=crlf\\n' >$HOME/attributes; "
       "git config --global core.attributesFile $HOME/attributes");
    must_open();
    for (size_t i = 0; i < 4; i++) {
        char id[41];
        assert_true(attempt("cp-async", texts[i], "wrong", id));
        assert_clean();
        write_kernel("cp-async", "between\n");
        must_attempt("cp-async", NULL, "wrong");
        assert_true(history_restore(history, "cp-async", id, &err));
        struct buf text = {0};
        char *path = mem_printf("%s/s/work/cp-async/kernel.cu", base);
        assert_true(file_read(&text, path, 1000, &err));
        assert_string_equal(buf_str(&text), texts[i]);
        buf_free(&text);
        free(path);
        assert_clean();
        sh("touch cp-async/*; git checkout -q HEAD~1 && git checkout -q -"); /* git's own round trip
                                                                              */
        assert_clean();
        char *compare = mem_printf("git show %s:cp-async/kernel.cu | cmp - cp-async/kernel.cu", id);
        sh(compare);
        free(compare);
    }
    sh("echo '* text eol=lf' >.gitattributes; touch cp-async/*");
    assert_out("git status --porcelain", "?? .gitattributes");
}

static void any_branch_will_do(void **state)
{
    (void)state;
    sh("git config --global init.defaultBranch 'kurs/übung'");
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "wrong");
    assert_out("git -c core.quotePath=false for-each-ref --format='%(refname)'",
               "refs/heads/kurs/übung");
    sh("git branch -m x");
    must_attempt("cp-async", "three\n", "wrong");
    assert_out("git for-each-ref --format='%(refname)'", "refs/heads/x");
    assert_out("git rev-list --count x", "3");
    sh("git checkout -q --orphan empty");
    must_attempt("cp-async", "four\n", "wrong");
    assert_out("git rev-list --count empty", "1");
    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 4);
}

static void a_detached_head_loses_nothing(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "wrong");
    must_attempt("cp-async", "three\n", "wrong");
    sh("git checkout -q HEAD~2");
    must_attempt("cp-async", "four\n", "pass");
    assert_non_null(strstr(notice.text, "detached"));
    assert_out("git rev-parse --symbolic-full-name HEAD", "HEAD");
    assert_out("git log -1 --format=%s", "cp-async #4: pass, 1.41x");
    assert_clean();
    sh("git checkout -q -");
    struct history_entry entries[16];
    int count = list("cp-async", entries), fourth = 0;
    assert_int_equal(count, 4);
    for (int i = 0; i < count; i++) /* the four may be of one second, so their order is not told */
        fourth += entries[i].attempt == 4;
    assert_int_equal(fourth, 1);
    assert_out("git fsck --unreachable --no-reflogs --no-progress", "");
    must_attempt("cp-async", "five\n", "wrong");
    assert_out("git log -1 --format=%s", "cp-async #5: wrong");
}

static void history_may_change_behind_our_back(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "wrong");
    sh("git commit -q --amend -m 'cp-async #2: wrong, amended'");
    must_attempt("cp-async", "three\n", "wrong");
    assert_out("git log --format=%s",
               "cp-async #3: wrong\ncp-async #2: wrong, amended\ncp-async #1: wrong");
    sh("git reset -q --hard HEAD~1");
    assert_out("cat cp-async/kernel.cu", "two");
    must_attempt("cp-async", NULL, "wrong");
    assert_out("git show HEAD:cp-async/kernel.cu; git rev-list --count HEAD", "two\n3");
    sh("GIT_SEQUENCE_EDITOR='sed -i 1d' git rebase -q -i HEAD~2 || git rebase --skip");
    must_attempt("cp-async", "four\n", "wrong");
    assert_clean();
    sh("git checkout -q -b x; git branch -D master main 2>/dev/null; git branch main");
    must_attempt("cp-async", "five\n", "wrong");
    assert_out("git rev-parse --abbrev-ref HEAD; git rev-list --count main..x", "x\n1");
    sh("git gc -q --prune=now; git pack-refs --all");
    must_attempt("cp-async", "six\n", "wrong");
    assert_clean();
}

/* ---- CASES: damage */

static void damage(const char *revision)
{
    char *command = mem_printf(
        "f=$(git rev-parse %s | sed 's|^..|.git/objects/&/|'); chmod u+w $f; : >$f", revision);
    sh(command);
    free(command);
}

static void damaged_objects_are_survived(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    must_attempt("cp-async", "two\n", "wrong");
    must_attempt("cp-async", "three\n", "wrong");
    struct history_entry entries[16], entry;
    struct buf text = {0};

    damage("HEAD:cp-async/kernel.cu");
    must_open();
    assert_int_equal(list("cp-async", entries), 3);
    assert_false(history_read(history, "cp-async", entries[0].id, HISTORY_KERNEL, &text, &err));
    assert_non_null(strstr(err.text, "damaged"));
    must_attempt("cp-async", NULL, "wrong"); /* the same text again: the object is written anew */
    assert_clean();
    assert_true(history_read(history, "cp-async", entries[0].id, HISTORY_KERNEL, &text, &err));
    assert_string_equal(buf_str(&text), "three\n");

    damage("HEAD^{tree}");
    must_open();
    must_attempt("cp-async", "four\n", "wrong");
    assert_non_null(strstr(notice.text, "repaired"));
    assert_clean();

    damage("HEAD:cp-async");
    must_open();
    must_attempt("cp-async", "five\n", "wrong");
    assert_out("git show HEAD:cp-async/kernel.cu", "five");

    damage("HEAD~4");
    must_open();
    assert_int_equal(list("cp-async", entries), 4);
    assert_non_null(strstr(err.text, "damaged at commit"));
    must_attempt("cp-async", "six\n", "wrong");
    assert_false(history_find(history, "cp-async", "1", &entry, &err));

    damage("HEAD");
    must_open();
    assert_int_equal(list("cp-async", entries), 0);
    assert_non_null(strstr(err.text, "damaged"));
    must_attempt("cp-async", NULL, "wrong");
    assert_non_null(strstr(notice.text, "a new one begins"));
    assert_out(
        "git rev-list --count HEAD; cat cp-async/kernel.cu; ls -d ../work.damaged-*.git | wc -l",
        "1\nsix\n1");
    assert_clean();
    buf_free(&text);
}

static void a_damaged_repository_is_kept_aside(void **state)
{
    (void)state;
    static const char *const harms[] = {": >.git/HEAD", "rm .git/HEAD", "rm -rf .git/*",
                                        ": >.git/refs/heads/$(git branch --show-current)"};
    for (size_t i = 0; i < 4; i++) {
        must_open();
        must_attempt("cp-async", "one\n", "wrong");
        close_it();
        sh(harms[i]);
        must_open();
        struct err told = notice;
        must_attempt("cp-async", NULL, "wrong");
        assert_true(strstr(told.text, "a new one begins") ||
                    strstr(notice.text, "a new one begins"));
        assert_clean();
        assert_out("git rev-list --count HEAD; ls -d ../work.damaged-*.git | wc -l",
                   i == 0   ? "1\n1"
                   : i == 1 ? "1\n2"
                   : i == 2 ? "1\n3"
                            : "1\n4");
    }
    sh("head -c 100 /dev/urandom >.git/index");
    must_attempt("cp-async", "two\n", "wrong");
    assert_clean();
}

/* ---- CASES: full and read-only disks */

static bool mount_small(void)
{
    char *command = mem_printf("mount -t tmpfs -o size=2m none %s/s 2>/dev/null && mkdir %s/s/work",
                               base, base);
    bool ok = geteuid() == 0 && system(command) == 0;
    free(command);
    return ok;
}

static void a_full_disk_costs_one_attempt_only(void **state)
{
    (void)state;
    if (!mount_small())
        skip();
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    sh("cat /dev/zero >../fill 2>/dev/null; true");
    assert_false(attempt("cp-async", NULL, "pass", NULL));
    assert_non_null(strstr(err.text, "not saved"));
    assert_non_null(strstr(err.text, "No space left"));
    assert_out("cat cp-async/kernel.cu cp-async/record.json | head -3",
               "one\n{\n  \"attempt\": 1,");
    assert_out("find .. -name '*.lock' -o -name 'tmp_*' -o -name '*git2*' -o -name '*.new-*'", "");
    sh("rm ../fill");
    must_attempt("cp-async", "two\n", "pass");
    assert_clean();
    close_it();
    sh("cd /; mount -o remount,ro $B/s");
    assert_true(open_it());
    assert_false(attempt("cp-async", NULL, "pass", NULL));
    assert_non_null(strstr(err.text, "not saved"));
    assert_non_null(strstr(err.text, "ead-only"));
    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 2); /* reading goes on */
    close_it();
    sh("cd /; mount -o remount,rw $B/s; rm -rf $B/s/work/.git; mount -o remount,ro $B/s");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "ead-only"));
    sh("cd /; umount $B/s; mkdir -p $B/s/work");
}

static void a_file_size_limit_leaves_nothing_behind(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    struct buf big = {0};
    unsigned seed = 1;
    for (int i = 0; i < 40000; i++) /* does not compress below the limit */
        buf_printf(&big, "%08x\n", seed = seed * 1664525 + 1013904223);
    write_kernel("cp-async", buf_str(&big));
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit old, small;
    getrlimit(RLIMIT_FSIZE, &old);
    small = old;
    small.rlim_cur = 8192;
    setrlimit(RLIMIT_FSIZE, &small);
    assert_false(attempt("cp-async", NULL, "pass", NULL));
    setrlimit(RLIMIT_FSIZE, &old);
    assert_non_null(strstr(err.text, "not saved"));
    assert_non_null(strstr(err.text, "File too large"));
    assert_out("find .. -name '*.lock' -o -name 'tmp_*' -o -name '*git2*' -o -name '*.new-*'", "");
    must_attempt("cp-async", NULL, "pass");
    assert_clean();
    buf_free(&big);
}

/* ---- CASES: other repositories, options, ignore rules, size */

static void repositories_around_are_not_touched(void **state)
{
    (void)state;
    sh("cd $B && git init -q && echo x >x && git add x && git commit -qm outer && cat .git/config "
       ">$B/config");
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    assert_out("cd $B && git rev-list --count HEAD && git diff --cached --name-only && cmp config "
               ".git/config",
               "1");
    assert_out("git rev-parse --show-toplevel | grep -c s/work; git rev-list --count HEAD", "1\n1");
    close_it();
    sh("rm -rf .git cp-async; mkdir ../other && cd ../other && git init -q && git commit -q "
       "--allow-empty -m o");
    sh("git init -q ../super && cd ../super && git -c protocol.file.allow=always submodule --quiet "
       "add ../other "
       "work && git commit -qm s && rm -rf ../work && mv ../super ../work.super && ln -s "
       "work.super/work ../work");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "submodule"));
    assert_out("git -C ../../work.super status --porcelain 2>/dev/null || git -C $B/s/work.super "
               "status --porcelain",
               "");
}

static void unusual_options_are_named(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    sh("git config core.repositoryFormatVersion 1; git config extensions.worktreeConfig true");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "worktreeconfig"));
    sh("git config --unset extensions.worktreeConfig; git config extensions.partialClone origin");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "partialclone"));
    sh("git config --unset extensions.partialClone; git config core.bare true");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "core.bare"));
    sh("git config core.bare false; git config core.worktree $B");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "core.worktree"));
    sh("git config --unset core.worktree; for i in 2 3; do echo $i >n; git add n; git commit -qm "
       "$i; done; "
       "cd ..; git clone -q --depth 1 file://$PWD/work shallow; rm -rf work; mv shallow work");
    must_open();
    must_attempt("cp-async", "two\n", "wrong");
    struct history_entry entries[16];
    assert_int_equal(list("cp-async", entries), 2); /* the attempt, and where the clone begins */
    assert_string_equal(err.text, "");
    close_it();
    sh("git worktree add -q ../tree; rm -rf ../keep; mv ../work ../keep; ln -s $B/s/tree ../work");
    assert_false(open_it());
    assert_non_null(strstr(err.text, "worktree"));
}

static void ignore_rules_hide_nothing(void **state)
{
    (void)state;
    static const char *const rules[] = {"echo '*.cu' >$HOME/ignore", "echo '*' >$HOME/ignore",
                                        "echo cp-async >.gitignore"};
    sh("git config --global core.excludesFile $HOME/ignore");
    must_open();
    for (int i = 0; i < 3; i++) {
        char text[24];
        snprintf(text, sizeof text, "text %d\n", i);
        sh(rules[i]);
        must_attempt("cp-async", text, "wrong");
        text[6] = '\0';
        assert_out("git show HEAD:cp-async/kernel.cu", text);
        assert_out("git status --porcelain", "");
    }
}

static void a_linked_or_executable_kernel_is_kept(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    sh("chmod +x cp-async/kernel.cu");
    must_attempt("cp-async", NULL, "wrong");
    assert_clean();
    sh("mv cp-async/kernel.cu $B/mine.cu; ln -s $B/mine.cu cp-async/kernel.cu; echo linked "
       ">$B/mine.cu");
    must_attempt("cp-async", NULL, "wrong");
    assert_out("git show HEAD:cp-async/kernel.cu", "linked");
    assert_true(history_restore(history, "cp-async", "1", &err));
    assert_out("cat $B/mine.cu; test -h cp-async/kernel.cu && echo link", "one\nlink");
}

static void names_with_blanks_and_quotes_work(void **state)
{
    (void)state;
    sh("mkdir -p \"$B/it's; \\$(touch OWNED) résumé/work\"");
    char *work = mem_printf("%s/it's; $(touch OWNED) résumé/work", base);
    close_it();
    assert_true(history_open(&history, work, &notice, &err));
    char *folder = path_join(work, "cp-async");
    assert_true(file_make_dirs(folder, &err));
    struct buf kernel = {0}, record = {0};
    buf_add_str(&kernel, "x");
    buf_add_str(&record, "{}");
    struct history_attempt one = {
        .lab = "cp-async", .kernel = &kernel, .record = &record, .subject = "cp-async #1: wrong"};
    char id[41];
    assert_true(history_commit_attempt(history, &one, id, &notice, &err));
    buf_free(&kernel);
    buf_free(&record);
    free(folder);
    free(work);
    sh("test ! -e OWNED");
}

static void thousands_of_attempts_stay_usable(void **state)
{
    (void)state;
    must_open();
    must_attempt("cp-async", "one\n", "wrong");
    sh("b=$(git hash-object -w cp-async/kernel.cu); h=$(git symbolic-ref HEAD); "
       "{ for i in $(seq 2 3000); do printf 'commit %s\\ncommitter S <s@e> %d +0000\\ndata "
       "<<E\\ncp-async #%d: wrong\\nE\\n"
       "M 100644 inline cp-async/kernel.cu\\ndata <<E\\ntext %d\\nE\\n\\n' $h $((1700000000+i)) $i "
       "$i; done; } >$B/stream; "
       "git fast-import --quiet --force <$B/stream; git reset -q --hard");
    must_open();
    struct history_entry entries[16];
    size_t count = 0;
    bool more = false;
    assert_true(history_list(history, "cp-async", 2000, 16, entries, &count, &more, &err));
    assert_int_equal(count, 16);
    assert_true(more);
    assert_int_equal(entries[0].attempt, 1000);
    must_attempt("cp-async", "new\n", "wrong");
    assert_out("git log -1 --format=%s", "cp-async #3001: wrong");
    sh("git gc -q");
    must_attempt("cp-async", "after gc\n", "wrong");
    assert_int_equal(list("cp-async", entries), 16);
    assert_int_equal(entries[0].attempt, 3002);
    assert_out("git status --porcelain", "");
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(an_attempt_is_a_clean_commit),
        T(attempts_are_found_read_and_compared),
        T(restoring_loses_nothing),
        T(starters_and_resets_are_commits_too),
        T(files_of_others_are_left_alone),
        T(no_identity_is_told_once),
        T(a_foreign_owner_is_explained),
        T(no_home_is_no_obstacle),
        T(a_stale_lock_is_removed_and_told),
        T(a_live_lock_parks_the_attempt),
        T(signing_and_hooks_do_not_matter),
        T(bytes_are_kept_exactly),
        T(any_branch_will_do),
        T(a_detached_head_loses_nothing),
        T(history_may_change_behind_our_back),
        T(damaged_objects_are_survived),
        T(a_damaged_repository_is_kept_aside),
        T(a_full_disk_costs_one_attempt_only),
        T(a_file_size_limit_leaves_nothing_behind),
        T(repositories_around_are_not_touched),
        T(unusual_options_are_named),
        T(ignore_rules_hide_nothing),
        T(a_linked_or_executable_kernel_is_kept),
        T(names_with_blanks_and_quotes_work),
        T(thousands_of_attempts_stay_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

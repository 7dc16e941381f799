/* Attempts become commits: the usual, and whatever git and its settings do around them. */
#include "history_home.h"

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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

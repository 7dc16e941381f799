/* The history when something is broken, full, foreign or large. */
#include "history_home.h"

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(damaged_objects_are_survived),        T(a_damaged_repository_is_kept_aside),
        T(a_full_disk_costs_one_attempt_only),  T(a_file_size_limit_leaves_nothing_behind),
        T(repositories_around_are_not_touched), T(unusual_options_are_named),
        T(ignore_rules_hide_nothing),           T(a_linked_or_executable_kernel_is_kept),
        T(names_with_blanks_and_quotes_work),   T(thousands_of_attempts_stay_usable),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

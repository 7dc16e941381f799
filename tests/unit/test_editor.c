/* Choosing and calling the editor. */
#include "tui/editor.h"

#include "harness/base/buf.h"
#include "harness/base/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[64];
static struct err err;

static void make_script(const char *name, const char *text, mode_t mode)
{
    char *path = path_join(folder, name);
    assert_true(file_write(path, text, strlen(text), false, &err));
    assert_int_equal(chmod(path, mode), 0);
    free(path);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/stride-editor-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    make_script("fe", "#!/bin/sh\nfor word; do printf '%s\\n' \"$word\"; done >\"$FE_LOG\"\n",
                0755);
    make_script("vim", "#!/bin/sh\n", 0755);
    make_script("code", "#!/bin/sh\n", 0755);
    make_script("hx", "#!/bin/sh\n", 0755);
    make_script("plain", "text", 0644);
    make_script("broken", "#!/no/such/interpreter -x\n", 0755);
    setenv("PATH", folder, 1);
    unsetenv("VISUAL");
    unsetenv("EDITOR");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    setenv("PATH", "/usr/bin:/bin", 1);
    char *command = mem_printf("rm -rf %s", folder);
    int status = chdir("/") || system(command);
    free(command);
    return status;
}

/* argv joined by '|', the program without its folder. */
static const char *chosen(const char *visual, const char *editor_text, const char *path, int line)
{
    static char joined[4096];
    struct editor editor;
    visual ? setenv("VISUAL", visual, 1) : unsetenv("VISUAL");
    editor_text ? setenv("EDITOR", editor_text, 1) : unsetenv("EDITOR");
    err = (struct err){0};
    if (!editor_choose(&editor, path, line, &err))
        return "";
    snprintf(joined, sizeof joined, "%s", strrchr(editor.argv[0], '/') + 1);
    for (int i = 1; editor.argv[i]; i++) {
        strcat(joined, "|");
        strcat(joined, editor.argv[i]);
    }
    editor_free(&editor);
    return joined;
}

static void visual_comes_before_editor_and_blank_is_unset(void **state)
{
    (void)state;
    assert_string_equal(chosen("fe --wait -n", "vim", "/k.cu", 0), "fe|--wait|-n|/k.cu");
    assert_string_equal(chosen("", "fe -2", "/k.cu", 0), "fe|-2|/k.cu");
    assert_string_equal(chosen("   ", "", "/k.cu", 0), "vim|/k.cu");
    assert_string_equal(chosen(NULL, NULL, "/k.cu", 0), "vim|/k.cu");
    char *path = path_join(folder, "vim");
    unlink(path);
    free(path);
    assert_string_equal(chosen(NULL, "", "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "VISUAL or EDITOR"));
}

static void words_are_split_without_a_shell(void **state)
{
    (void)state;
    assert_string_equal(chosen(NULL, "fe 'a b' \"c \\\" d\" e\\ f ''", "/k.cu", 0),
                        "fe|a b|c \" d|e f||/k.cu");
    assert_string_equal(chosen(NULL, "fe $(touch x) ;`y` *", "/k.cu", 0),
                        "fe|$(touch|x)|;`y`|*|/k.cu");
    assert_string_equal(chosen(NULL, "fe 'open", "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "not closed"));
    assert_string_equal(chosen(NULL, "''", "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "empty"));
}

static void the_real_reason_is_named(void **state)
{
    (void)state;
    assert_string_equal(chosen(NULL, "/no/such/ed", "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "EDITOR=/no/such/ed: there is no program /no/such/ed"));
    assert_string_equal(chosen("plain -x", NULL, "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "VISUAL=plain -x: no permission to run plain"));
    assert_string_equal(chosen(NULL, "broken", "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "needs /no/such/interpreter, which is not there"));
    assert_string_equal(chosen(NULL, folder, "/k.cu", 0), "");
    assert_non_null(strstr(err.text, "is a folder"));
}

static void the_line_is_given_where_it_is_understood(void **state)
{
    (void)state;
    assert_string_equal(chosen(NULL, "vim", "/k.cu", 12), "vim|+12|/k.cu");
    assert_string_equal(chosen(NULL, "code --wait", "/a b/k.cu", 12),
                        "code|--wait|-g|/a b/k.cu:12");
    assert_string_equal(chosen(NULL, "hx", "/k.cu", 3), "hx|/k.cu:3");
    assert_string_equal(chosen(NULL, "fe", "/k.cu", 12), "fe|/k.cu");
}

static void odd_paths_arrive_intact(void **state)
{
    (void)state;
    static const char *const names[] = {
        "with space", "it's", "a;touch OWNED;b", "a$(touch OWNED)b", "-dash", "résumé日本",
        "\"",         "a\nb"};
    char *log = path_join(folder, "log");
    setenv("FE_LOG", log, 1);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct editor editor;
        setenv("EDITOR", "fe", 1);
        assert_int_equal(chdir(folder), 0);
        assert_true(editor_choose(&editor, names[i], 7, &err));
        pid_t pid = fork();
        if (pid == 0)
            editor_exec(&editor);
        int status;
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        struct buf text = {0};
        assert_true(file_read(&text, log, 1000, &err));
        char *want = mem_printf("%s/%s\n", folder, names[i]);
        assert_string_equal(buf_str(&text), want);
        assert_int_equal(access("OWNED", F_OK), -1);
        free(want);
        buf_free(&text);
        editor_free(&editor);
    }
    free(log);
}

static void the_child_has_default_signals(void **state)
{
    (void)state;
    make_script("sig", "#!/bin/sh\n/bin/grep -E 'SigBlk|SigIgn' /proc/self/status >\"$FE_LOG\"\n",
                0755);
    setenv("EDITOR", "sig", 1);
    char *log = path_join(folder, "log");
    setenv("FE_LOG", log, 1);
    struct editor editor;
    assert_true(editor_choose(&editor, "/k.cu", 0, &err));
    signal(SIGINT, SIG_IGN);
    signal(SIGTSTP, SIG_IGN);
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        editor_exec(&editor);
    }
    signal(SIGINT, SIG_DFL);
    signal(SIGTSTP, SIG_DFL);
    int status;
    waitpid(pid, &status, 0);
    struct buf text = {0};
    assert_true(file_read(&text, log, 1000, &err));
    unsigned long long blocked = 1, ignored = 1;
    assert_int_equal(sscanf(buf_str(&text), "SigBlk:%llx SigIgn:%llx", &blocked, &ignored), 2);
    assert_int_equal(blocked, 0);
    assert_int_equal(ignored & ~0x180000000ull, 0); /* 32 and 33 are glibc's own */
    buf_free(&text);
    editor_free(&editor);
    free(log);
}

static void what_became_of_it_is_explained(void **state)
{
    (void)state;
    struct editor editor;
    setenv("EDITOR", "code", 1);
    assert_true(editor_choose(&editor, "/k.cu", 0, &err));
    assert_false(editor_explain(&editor, 0, 30, false, &err));
    assert_false(editor_explain(&editor, 0, 0.1, true, &err));
    assert_true(editor_explain(&editor, 0, 0.1, false, &err));
    assert_non_null(strstr(err.text, "EDITOR=\"code --wait\""));
    assert_true(editor_explain(&editor, 1 << 8, 30, true, &err));
    assert_non_null(strstr(err.text, "status 1"));
    assert_true(editor_explain(&editor, 9, 30, true, &err));
    assert_non_null(strstr(err.text, "signal 9"));
    assert_true(editor_explain(&editor, 127 << 8, 0, false, &err));
    editor_free(&editor);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(visual_comes_before_editor_and_blank_is_unset),
        T(words_are_split_without_a_shell),
        T(the_real_reason_is_named),
        T(the_line_is_given_where_it_is_understood),
        T(odd_paths_arrive_intact),
        T(the_child_has_default_signals),
        T(what_became_of_it_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

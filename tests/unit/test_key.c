/* Keys have names, the names are keys, and no key of a context means two things. */
#include "harness/base/file.h"
#include "tui/command.h"
#include "tui/key.h"
#include "tui/pane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void names_and_keys_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"a",     "Z",     "/",    "Enter", "Esc",    "Tab",
                                        "S-Tab", "PgUp",  "é",    "日",    "Ctrl-L", "Ctrl-C",
                                        "Home",  "Space", "Down", "]",     "Ctrl-Z", "Delete"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int32_t key;
        char name[16];
        assert_true(key_parse(&key, names[i], strlen(names[i])));
        key_write_name(name, key);
        assert_string_equal(name, names[i]);
    }
    int32_t key;
    assert_false(key_parse(&key, "", 0));
    assert_false(key_parse(&key, "ab", 2));
    assert_false(key_parse(&key, "\033", 1));
    assert_false(key_parse(&key, "\xff", 1));
    char name[16];
    key_write_name(name, KEY_CODE_UNKNOWN);
    assert_string_equal(name, "?");
}

static void each_key_means_one_thing_in_a_context(void **state)
{
    (void)state;
    for (int i = 1; i < COMMAND_COUNT; i++) {
        const char *list = command_keys((enum command)i);
        int keys = 0;
        while (*list) {
            size_t len = strcspn(list, " ");
            int32_t key;
            if (!key_parse(&key, list, len))
                fail_msg("%s: '%.*s' is no key", command_name((enum command)i), (int)len, list);
            enum context context = command_context((enum command)i);
            enum command found = command_find(context, context == CONTEXT_RUNNING, key);
            if (found != (enum command)i)
                fail_msg("'%.*s' is %s and %s", (int)len, list, command_name((enum command)i),
                         command_name(found));
            keys++;
            list += len + strspn(list + len, " ");
        }
        assert_true(keys > 0);
        assert_true(*command_help((enum command)i) != '\0');
    }
}

static void context_wins_over_everywhere(void **state)
{
    (void)state;
    assert_int_equal(command_find(CONTEXT_ANY, false, 'd'), COMMAND_NONE);
    assert_int_equal(command_find(CONTEXT_HISTORY, false, 'd'), COMMAND_DIFF_ATTEMPT);
    assert_int_equal(command_find(CONTEXT_HISTORY, false, 'q'), COMMAND_QUIT);
    assert_int_equal(command_find(CONTEXT_HISTORY, false, KEY_CODE_ENTER), COMMAND_SHOW_ATTEMPT);
    assert_int_equal(command_find(CONTEXT_ANY, true, KEY_CTRL('C')), COMMAND_STOP);
    assert_int_equal(command_find(CONTEXT_ANY, false, KEY_CTRL('C')), COMMAND_QUIT_HINT);
}

static void make_page(struct buf *out)
{
    buf_add_str(out,
                "# Keys of the full screen\n\nMade from tui/command.def and tui/pane.def; `?` "
                "shows the same on the screen.\n\n## Panes\n\n| key | pane |\n| --- | --- |\n");
    for (int i = 0; i <= PANE_HELP; i++) {
        char name[16];
        key_write_name(name, pane_facts((enum pane)i).key);
        buf_printf(out, "| `%s` | %s |\n", name, pane_facts((enum pane)i).title);
    }
    buf_add_char(out, '\n');
    command_markdown(out);
}

static void the_table_becomes_markdown(void **state)
{
    (void)state;
    struct buf out = {0};
    command_markdown(&out);
    assert_non_null(strstr(buf_str(&out), "| `j Down` | One line down |"));
    assert_non_null(strstr(buf_str(&out), "## In History"));
    buf_free(&out);
}

/* docs/keys.md is this table; `build/tests/test_key --write` writes it again. */
static void the_documented_keys_are_these(void **state)
{
    (void)state;
    struct buf wanted = {0}, found = {0};
    struct err err = {0};
    make_page(&wanted);
    if (!file_read(&found, "docs/keys.md", 1 << 20, &err))
        fail_msg("%s", err.text);
    if (strcmp(buf_str(&found), buf_str(&wanted)) != 0)
        fail_msg("docs/keys.md is not what the tables say: build/tests/test_key --write");
    buf_free(&wanted);
    buf_free(&found);
}

int main(int argc, char **argv)
{
    struct buf page = {0};
    make_page(&page);
    if (argc > 1 && strcmp(argv[1], "--write") == 0)
        file_write("docs/keys.md", buf_str(&page), page.len, false, NULL);
    buf_free(&page);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_and_keys_agree),
        cmocka_unit_test(each_key_means_one_thing_in_a_context),
        cmocka_unit_test(context_wins_over_everywhere),
        cmocka_unit_test(the_table_becomes_markdown),
        cmocka_unit_test(the_documented_keys_are_these),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

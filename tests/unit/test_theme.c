/* Themes: the shipped ones load, bad lines are refused with their number, NO_COLOR wins. */
#include "tui/theme.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void shipped_themes_load(void **state)
{
    (void)state;
    static const char *const names[] = {"dark", "light", "mono"};
    for (size_t i = 0; i < 3; i++) {
        struct theme theme;
        struct err err = {0};
        if (!theme_load(&theme, ".", names[i], &err))
            fail_msg("%s", err.text);
        assert_string_equal(theme.name, names[i]);
        struct look selected = theme.looks[STYLE_SELECTED];
        assert_true(selected.bg >= 0 || (selected.attributes & LOOK_REVERSE));
    }
}

static void the_mono_file_and_the_built_in_agree(void **state)
{
    (void)state;
    struct theme file, built_in;
    struct err err = {0};
    assert_true(theme_load(&file, ".", "mono", &err));
    theme_mono(&built_in);
    for (int i = 0; i < STYLE_COUNT; i++)
        assert_memory_equal(&file.looks[i], &built_in.looks[i], sizeof(struct look));
}

static void bad_lines_are_refused(void **state)
{
    (void)state;
    static const char *const lines[] = {"nothing",   "no-such-style = bold", "dim = purple",
                                        "dim = 256", "dim = 1/16",           "dim = 1/",
                                        "dim = -1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct theme theme;
        struct err err = {0};
        char text[64];
        strcpy(text, "# first\n");
        strcat(text, lines[i]);
        assert_false(theme_parse(&theme, text, "x.theme", &err));
        assert_non_null(strstr(err.text, "x.theme:2:"));
    }
    struct theme theme;
    assert_true(theme_parse(&theme, " key = 117/14 on 3 bold  reverse\n\n", "x", NULL));
    struct look look = theme.looks[STYLE_KEY];
    assert_int_equal(look.fg, 117);
    assert_int_equal(look.fg16, 14);
    assert_int_equal(look.bg16, 3);
    assert_int_equal(look.attributes, LOOK_BOLD | LOOK_REVERSE);
}

static void the_environment_picks(void **state)
{
    (void)state;
    setenv("NO_COLOR", "1", 1);
    assert_string_equal(theme_pick("light"), "mono");
    setenv("NO_COLOR", "", 1);
    assert_string_equal(theme_pick("light"), "light");
    unsetenv("NO_COLOR");
    setenv("COLORFGBG", "0;15", 1);
    assert_string_equal(theme_pick(NULL), "light");
    setenv("COLORFGBG", "15;0", 1);
    assert_string_equal(theme_pick("nonsense"), "dark");
    unsetenv("COLORFGBG");
    assert_string_equal(theme_next("mono"), "dark");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_themes_load),
        cmocka_unit_test(the_mono_file_and_the_built_in_agree),
        cmocka_unit_test(bad_lines_are_refused),
        cmocka_unit_test(the_environment_picks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The grid keeps its shape whatever is put into it. */
#include "tui/cells.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static void expect_row(struct cells *cells, int row, const char *want)
{
    struct buf text = {0};
    cells_text(cells, &text);
    const char *line = buf_str(&text);
    for (int i = 0; i < row; i++)
        line = strchr(line, '\n') + 1;
    size_t len = strcspn(line, "\n");
    if (len != strlen(want) || memcmp(line, want, len) != 0)
        fail_msg("row %d is \"%.*s\", not \"%s\"", row, (int)len, line, want);
    buf_free(&text);
}

/* Every row is as wide as the grid: a wide cell has its right half behind it, nothing else has one.
 */
static void expect_straight(const struct cells *cells)
{
    for (int row = 0; row < cells->rows; row++)
        for (int col = 0; col < cells->cols; col++) {
            const struct cell *cell = cells_at(cells, row, col);
            assert_true(cell->width <= 2);
            if (cell->width == 2)
                assert_int_equal(cells_at(cells, row, col + 1)->width, 0);
            if (cell->width == 0) {
                assert_true(col > 0);
                assert_int_equal(cells_at(cells, row, col - 1)->width, 2);
            }
        }
}

static void text_lands_where_it_is_put(void **state)
{
    (void)state;
    struct cells cells = {0};
    cells_start(&cells, 3, 10);
    assert_int_equal(cells_put_str(&cells, 1, 2, 100, STYLE_STRONG, "hello, world"), 8);
    expect_row(&cells, 1, "  hello, w");
    assert_int_equal(cells_put_str(&cells, 2, 0, 3, STYLE_NORMAL, "abcdef"), 3);
    expect_row(&cells, 2, "abc");
    assert_int_equal(cells_put_str(&cells, 9, 0, 3, STYLE_NORMAL, "abc"), 3);
    assert_int_equal(cells_put_str(&cells, 0, 12, 3, STYLE_NORMAL, "abc"), 0);
    assert_int_equal(cells_at(&cells, 1, 2)->style, STYLE_STRONG);
    assert_null(cells_at(&cells, 3, 0));
    cells_free(&cells);
}

static void wide_characters_are_never_cut(void **state)
{
    (void)state;
    struct cells cells = {0};
    cells_start(&cells, 4, 5);
    cells_put_str(&cells, 0, 0, 5, STYLE_NORMAL, "日本語");
    expect_row(&cells, 0, "日本");
    cells_put(&cells, 1, 0, 5, 1, STYLE_NORMAL, "日本語", strlen("日本語"));
    expect_row(&cells, 1, " 本語");
    cells_put_str(&cells, 2, 0, 5, STYLE_NORMAL, "日本");
    cells_put_str(&cells, 2, 1, 1, STYLE_NORMAL, "x"); /* hits 日's right half */
    expect_row(&cells, 2, " x本");
    cells_put_str(&cells, 2, 2, 1, STYLE_NORMAL, "y"); /* and 本's left half */
    expect_row(&cells, 2, " xy");
    cells_put_str(&cells, 3, 4, 5, STYLE_NORMAL, "日");
    expect_row(&cells, 3, "");
    expect_straight(&cells);
    cells_free(&cells);
}

static void marks_stay_with_their_letter(void **state)
{
    (void)state;
    struct cells cells = {0};
    cells_start(&cells, 2, 4);
    const char *text = "e\xcc\x81"
                       "e\xcc\x81"
                       "e\xcc\x81";
    assert_int_equal(cells_put(&cells, 0, 0, 4, 1, STYLE_NORMAL, text, strlen(text)), 2);
    assert_string_equal(cells_at(&cells, 0, 0)->text, "e\xcc\x81");
    assert_string_equal(cells_at(&cells, 0, 1)->text, "e\xcc\x81");
    struct buf many = {0};
    buf_add_char(&many, 'a');
    for (int i = 0; i < 40; i++)
        buf_add_str(&many, "\xcc\x81");
    cells_put_str(&cells, 1, 0, 4, STYLE_NORMAL, buf_str(&many));
    assert_int_equal(strlen(cells_at(&cells, 1, 0)->text), 15); /* 1 + 7 whole marks */
    buf_free(&many);
    cells_free(&cells);
}

static void garbage_keeps_columns_straight(void **state)
{
    (void)state;
    struct cells cells = {0};
    unsigned seed = 1;
    for (int round = 0; round < 3000; round++) {
        char text[64];
        for (size_t i = 0; i < sizeof text; i++) {
            seed = seed * 1103515245u + 12345u;
            text[i] = (char)(seed >> 16);
        }
        if (round % 2) { /* valid wide and narrow text mixed */
            memcpy(text, "aé日b本", 10);
            memcpy(text + 10 + round % 7, "語ü", 5);
        }
        cells_start(&cells, 2, 1 + round % 13);
        for (int put = 0; put < 4; put++)
            cells_put(&cells, put % 2, (int)(seed >> (put * 3)) % 15 - 2, put * 4, put,
                      STYLE_NORMAL, text + put, sizeof text - (size_t)put);
        expect_straight(&cells);
    }
    cells_free(&cells);
}

static void control_characters_do_not_pass(void **state)
{
    (void)state;
    struct cells cells = {0};
    cells_start(&cells, 1, 8);
    cells_put(&cells, 0, 0, 8, 0, STYLE_NORMAL, "a\033[31mb\x7f", 8);
    const struct cell *cell = cells.cell;
    for (int i = 0; i < 8; i++)
        assert_true((unsigned char)cell[i].text[0] >= 0x20 && cell[i].text[0] != 0x7f);
    cells_free(&cells);
}

static void ascii_keeps_columns(void **state)
{
    (void)state;
    struct cells cells = {0};
    cells_start(&cells, 1, 12);
    cells_put_str(&cells, 0, 0, 12, STYLE_NORMAL, "│─é日x…→");
    cells_to_ascii(&cells);
    expect_row(&cells, 0, "|-?? x~>");
    expect_straight(&cells);
    cells_free(&cells);
}

static void styles_show_the_selection(void **state)
{
    (void)state;
    struct cells cells = {0};
    struct buf out = {0};
    cells_start(&cells, 1, 6);
    cells_put_str(&cells, 0, 0, 6, STYLE_DIM, "abcd");
    cells_lay(&cells, 0, 2, 3, OVER_SELECTED);
    cells_lay(&cells, 0, 5, 9, OVER_MATCH);
    cells_styles(&cells, &out);
    assert_string_equal(buf_str(&out), "bb###?\nb dim\n");
    buf_free(&out);
    cells_free(&cells);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lands_where_it_is_put),
        cmocka_unit_test(wide_characters_are_never_cut),
        cmocka_unit_test(marks_stay_with_their_letter),
        cmocka_unit_test(garbage_keeps_columns_straight),
        cmocka_unit_test(control_characters_do_not_pass),
        cmocka_unit_test(ascii_keeps_columns),
        cmocka_unit_test(styles_show_the_selection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

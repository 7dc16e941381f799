/* Every size has a layout: nothing outside the screen, nothing over another. */
#include "tui/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

static void inside(struct rect rect, int rows, int cols)
{
    assert_true(rect.row >= 0 && rect.col >= 0 && rect.rows >= 1 && rect.cols >= 1);
    assert_true(rect.row + rect.rows <= rows && rect.col + rect.cols <= cols);
}

static void every_size_has_a_layout(void **state)
{
    (void)state;
    for (int rows = 0; rows <= 70; rows++)
        for (int cols = 0; cols <= 400; cols++) {
            struct layout layout;
            layout_compute(&layout, rows, cols);
            assert_int_equal(layout.too_small,
                             rows < LAYOUT_LEAST_ROWS || cols < LAYOUT_LEAST_COLS);
            if (layout.too_small)
                continue;
            inside(layout.header, rows, cols);
            inside(layout.status, rows, cols);
            inside(layout.keys, rows, cols);
            int next = 0;
            for (int i = 0; i < layout.column_count; i++) {
                const struct column *column = &layout.column[i];
                inside(column->text, rows, cols);
                inside(column->box, rows, cols);
                assert_int_equal(column->box.col, next);
                next = column->box.col + column->box.cols + 1;
            }
            assert_int_equal(next, cols + 1);
            for (int pane = 0; pane < PANE_COUNT; pane++) {
                int column = layout_column_of(&layout, (enum pane)pane);
                assert_true(column >= 0 && column < layout.column_count);
                inside(layout_text_of(&layout, (enum pane)pane), rows, cols);
            }
        }
}

static void columns_come_with_room(void **state)
{
    (void)state;
    static const struct {
        int cols, columns;
        bool outline;
    } expected[] = {{80, 1, false},  {111, 1, false}, {112, 2, true}, {139, 2, true},
                    {140, 2, false}, {166, 2, false}, {168, 3, true}, {249, 4, true}};
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++) {
        struct layout layout;
        layout_compute(&layout, 40, expected[i].cols);
        if (layout.column_count != expected[i].columns || layout.outline != expected[i].outline)
            fail_msg("%d columns wide: %d columns, outline %d", expected[i].cols,
                     layout.column_count, layout.outline);
    }
    struct layout layout;
    layout_compute(&layout, 40, 140);
    assert_true(layout_column_of(&layout, PANE_LESSON) != layout_column_of(&layout, PANE_PTX));
    assert_true(layout.column[0].text.cols >= 82); /* a line number and 76 columns of code */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_has_a_layout),
        cmocka_unit_test(columns_come_with_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

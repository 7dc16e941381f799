/* The viewer: rows hold what they should at every width, and wide characters stay whole. */
#include "tui/viewer.h"
#include "tui/wrap.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

struct canvas {
    struct buf text;
    int column, columns;
    int matches, current;
};

/* Checks that pieces come in order, fit, and have the columns they claim. */
static void paint(void *context, const struct viewer_piece *piece)
{
    struct canvas *canvas = context;
    assert_true(piece->len > 0);
    assert_true(piece->column >= canvas->column);
    assert_true(piece->column + piece->columns <= canvas->columns);
    assert_int_equal(piece->columns, text_columns(piece->text, piece->len));
    assert_int_equal(utf8_whole(piece->text, piece->len), piece->len);
    while (canvas->column < piece->column) {
        buf_add_char(&canvas->text, ' ');
        canvas->column++;
    }
    if (piece->match)
        buf_add_char(&canvas->text, piece->match == MATCH_CURRENT ? '{' : '<');
    buf_add(&canvas->text, piece->text, piece->len);
    if (piece->match)
        buf_add_char(&canvas->text, piece->match == MATCH_CURRENT ? '}' : '>');
    canvas->column += piece->columns;
    canvas->matches += piece->match == MATCH_ONE;
    canvas->current += piece->match == MATCH_CURRENT;
}

static char *row_text(const struct viewer *viewer, int row)
{
    struct canvas canvas = {.columns = viewer->columns};
    viewer_draw_row(viewer, row, paint, &canvas);
    return buf_take(&canvas.text);
}

static void check_row(const struct viewer *viewer, int row, const char *want)
{
    char *have = row_text(viewer, row), *again = row_text(viewer, row);
    if (strcmp(have, want) != 0)
        fail_msg("row %d: got \"%s\", want \"%s\"", row, have, want);
    assert_string_equal(have, again);
    free(have);
    free(again);
}

static void add_kept(struct doc *doc, const char *text)
{
    doc_add_str(doc, STYLE_CODE, text);
    doc_end_line(doc)->keep = true;
}

static void check_wrap(const char *text, int columns, int indent, const char *want)
{
    struct wrap wrap = {0};
    struct buf have = {0};
    wrap_text(&wrap, text, strlen(text), columns, indent);
    for (size_t i = 0; i < wrap.count; i++) {
        if (i)
            buf_add_char(&have, '|');
        buf_add(&have, text + wrap.rows[i].from, wrap.rows[i].to - wrap.rows[i].from);
    }
    if (strcmp(buf_str(&have), want) != 0)
        fail_msg("\"%s\" in %d: got \"%s\", want \"%s\"", text, columns, buf_str(&have), want);
    buf_free(&have);
    wrap_free(&wrap);
}

static void lines_break_between_words(void **state)
{
    (void)state;
    check_wrap("", 10, 0, "");
    check_wrap("one two three", 7, 0, "one two|three");
    check_wrap("one two   three", 7, 0, "one two|three");
    check_wrap("one two   ", 7, 0, "one two");
    check_wrap("one two three four", 9, 4, "one two|three|four");
    check_wrap("abcdefghij", 4, 0, "abcd|efgh|ij");
    check_wrap("ab abcdefghij", 4, 0, "ab|abcd|efgh|ij");
    check_wrap("    abcdefghij", 6, 0, "    ab|cdefgh|ij");
    check_wrap("well-known lib/x.so --json", 8, 0, "well-|known|lib/x.so|--json");
    check_wrap("copy/compute", 8, 0, "copy/|compute");
    check_wrap("at 46 TFLOP/s of", 11, 0, "at|46 TFLOP/s|of");
    check_wrap("at 97 % now", 6, 0, "at|97 %|now");
    check_wrap("到 97 %，到", 6, 0, "到|97 %，|到");
    check_wrap("to 48 KiB, 3 ms.", 7, 0, "to|48 KiB,|3 ms.");
    check_wrap("of 128 x 16 tiles", 9, 0, "of|128 x 16|tiles");
    check_wrap("a 5 x b c", 5, 0, "a 5 x|b c");
    check_wrap("1 byte 2 bytes", 4, 0, "1|byte|2|byte|s");
    check_wrap("a e\u0301e\u0301e\u0301", 2, 0, "a|e\u0301e\u0301|e\u0301");
}

static void chinese_breaks_by_its_rules(void **state)
{
    (void)state;
    check_wrap("先算这块，再搬下块。", 8, 0, "先算这|块，再搬|下块。");
    check_wrap("共享内存（见图）很快", 10, 0, "共享内存|（见图）很|快");
    check_wrap("他说《你好》了", 7, 0, "他说|《你|好》了");
    check_wrap("用cp.async搬数据", 9, 0, "用|cp.async|搬数据");
    check_wrap("日本語", 1, 0, "日|本|語");
    check_wrap("日本語", 3, 0, "日|本|語");
}

static void names_in_code_stay_whole(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    doc_add_str(&doc, STYLE_NORMAL, "see well-known ");
    doc_add_str(&doc, STYLE_CODE, "cross-stream --all");
    doc_add_str(&doc, STYLE_NORMAL, " or well-known");
    doc_end_line(&doc);
    viewer_resize(&viewer, 10, 8);
    viewer_show(&viewer, &doc, false);
    check_row(&viewer, 0, "see well-");
    check_row(&viewer, 1, "known");
    check_row(&viewer, 2, "cross-stre");
    check_row(&viewer, 3, "am --all");
    check_row(&viewer, 4, "or well-");
    viewer_resize(&viewer, 18, 8);
    check_row(&viewer, 0, "see well-known");
    check_row(&viewer, 1, "cross-stream --all");
    viewer_resize(&viewer, 22, 8);
    check_row(&viewer, 0, "see well-known");
    doc_add_str(&doc, STYLE_NORMAL, "until ");
    doc_add_str(&doc, STYLE_CODE, "wait_group N-1");
    doc_add_str(&doc, STYLE_NORMAL, " is done\n");
    viewer_resize(&viewer, 18, 8);
    viewer_show(&viewer, &doc, false);
    check_row(&viewer, 3, "until");
    check_row(&viewer, 4, "wait_group N-1 is");
    viewer_free(&viewer);
    doc_free(&doc);
}

static void quotes_keep_their_bars(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    doc_add_str(&doc, STYLE_NORMAL, "  ");
    doc_add_str(&doc, STYLE_QUOTE, "│ ");
    doc_add_str(&doc, STYLE_NORMAL, "• ");
    doc_add_str(&doc, STYLE_QUOTE, "│ one two");
    doc_end_line(&doc)->indent = 8;
    doc_add_str(&doc, STYLE_NORMAL, "│ one two");
    doc_end_line(&doc)->indent = 2;
    viewer_resize(&viewer, 12, 8);
    viewer_show(&viewer, &doc, false);
    check_row(&viewer, 0, "  │ • │ one");
    check_row(&viewer, 1, "  │   two"); /* no more than half of the window is indented */
    viewer_resize(&viewer, 16, 8);
    check_row(&viewer, 0, "  │ • │ one two");
    check_row(&viewer, 1, "│ one two");
    viewer_resize(&viewer, 6, 8);
    check_row(&viewer, 0, "  │ •");
    viewer_free(&viewer);
    doc_free(&doc);
}

static void rows_of_a_wrapped_doc(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    doc_add_str(&doc, STYLE_NORMAL, "- ");
    doc_add_str(&doc, STYLE_STRONG, "bold");
    doc_add_str(&doc, STYLE_NORMAL, " and more words");
    doc_end_line(&doc)->indent = 2;
    doc_add_str(&doc, STYLE_NORMAL, "last\n");
    viewer_resize(&viewer, 10, 5);
    viewer_show(&viewer, &doc, false);
    check_row(&viewer, 0, "- bold and");
    check_row(&viewer, 1, "  more");
    check_row(&viewer, 2, "  words");
    check_row(&viewer, 3, "last");
    check_row(&viewer, 4, "");
    assert_int_equal(viewer_percent(&viewer), 100);
    viewer_resize(&viewer, 10, 2);
    viewer_scroll(&viewer, 1);
    check_row(&viewer, 0, "  more");
    viewer_resize(&viewer, 40, 2);
    check_row(&viewer, 0, "- bold and more words");
    viewer_resize(&viewer, 0, 0);
    viewer_resize(&viewer, 1, 1);
    viewer_end(&viewer);
    check_row(&viewer, 0, "t");
    viewer_home(&viewer);
    check_row(&viewer, 0, "-");
    viewer_free(&viewer);
    doc_free(&doc);
}

/* Case 21: 60 wide characters and a line of letters with accents, moved sideways column by column.
 */
static void wide_characters_are_never_cut(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    struct buf wide = {0}, marks = {0};
    for (int i = 0; i < 60; i++)
        buf_add_str(&wide, "漢");
    for (int i = 0; i < 120; i++)
        buf_add_str(&marks, "e\u0301");
    add_kept(&doc, buf_str(&wide));
    add_kept(&doc, buf_str(&marks));
    viewer_resize(&viewer, 79, 2);
    viewer_show(&viewer, &doc, false);
    for (int left = 0; left <= 41; left++) {
        char *row = row_text(&viewer, 0), *accents = row_text(&viewer, 1);
        assert_int_equal(text_columns(row, strlen(row)), 79);
        assert_int_equal(row[0] == ' ', left % 2);
        assert_int_equal(row[strlen(row) - 1] == ' ', left % 2 == 0);
        assert_int_equal(text_columns(accents, strlen(accents)), 79);
        assert_int_equal(strlen(accents), 79 * 3);
        assert_int_equal(accents[0], 'e');
        free(row);
        free(accents);
        bool more_left, more_right;
        viewer_row_line(&viewer, 0, NULL, &more_left, &more_right);
        assert_int_equal(more_left, left > 0);
        assert_int_equal(more_right, left < 41);
        viewer_sideways(&viewer, 1);
    }
    assert_int_equal(viewer.left, 41);
    viewer_sideways(&viewer, -1000);
    assert_int_equal(viewer.left, 0);
    viewer_resize(&viewer, 1, 2);
    check_row(&viewer, 0, " ");
    viewer_sideways(&viewer, 1);
    check_row(&viewer, 0, " ");
    buf_free(&wide);
    buf_free(&marks);
    viewer_free(&viewer);
    doc_free(&doc);
}

static void searching_and_going_around(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    for (int i = 0; i < 100; i++)
        doc_printf(&doc, STYLE_NORMAL, "line %d%s\n", i, i % 10 == 3 ? " Warp warp" : "");
    viewer_resize(&viewer, 30, 10);
    viewer_show(&viewer, &doc, false);
    assert_int_equal(viewer_search(&viewer, "warp"), 20);
    check_row(&viewer, 3, "line 3 {Warp} <warp>");
    assert_int_equal(viewer_match_number(&viewer), 1);
    bool wrapped;
    assert_true(viewer_search_next(&viewer, 1, &wrapped));
    check_row(&viewer, 3, "line 3 <Warp> {warp}");
    assert_int_equal(viewer_match_number(&viewer), 2);
    assert_true(viewer_search_next(&viewer, 1, &wrapped));
    assert_int_equal(viewer.match_line, 13);
    assert_false(wrapped);
    assert_true(viewer_search_next(&viewer, -1, &wrapped));
    assert_true(viewer_search_next(&viewer, -1, &wrapped));
    assert_int_equal(viewer_match_number(&viewer), 1);
    assert_true(viewer_search_next(&viewer, -1, &wrapped));
    assert_true(wrapped);
    assert_int_equal(viewer_match_number(&viewer), 20);
    assert_int_equal(viewer.match_line, 93);
    assert_true(viewer_search_next(&viewer, 1, &wrapped));
    assert_true(wrapped);
    assert_int_equal(viewer.match_line, 3);
    assert_int_equal(viewer_search(&viewer, "Warp"), 10);
    assert_int_equal(viewer_search(&viewer, "WARP"), 0);
    assert_false(viewer_search_next(&viewer, 1, &wrapped));
    assert_int_equal(viewer_search(&viewer, ""), 0);
    check_row(&viewer, 0, "line 0");
    viewer_free(&viewer);
    doc_free(&doc);
}

static void matches_cross_styles_rows_and_marks(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    doc_add_str(&doc, STYLE_NORMAL, "cp.");
    doc_add_str(&doc, STYLE_STRONG, "async\n");
    doc_add_str(&doc, STYLE_NORMAL, "cafe\u0301 É aaa\n");
    doc_add_str(&doc, STYLE_NORMAL, "xx abcdefghijklmnop\n");
    viewer_resize(&viewer, 10, 6);
    viewer_show(&viewer, &doc, false);
    assert_int_equal(viewer_search(&viewer, "p.as"), 1);
    check_row(&viewer, 0, "c{p.}{as}ync");
    viewer_search(&viewer, "cafe");
    check_row(&viewer, 1, "{cafe\u0301} É aaa");
    assert_int_equal(viewer_search(&viewer, "é"), 1);
    check_row(&viewer, 1, "cafe\u0301 {É} aaa");
    assert_int_equal(viewer_search(&viewer, "aa"), 2);
    check_row(&viewer, 1, "cafe\u0301 É {aa}<a>");
    viewer_search_next(&viewer, 1, NULL);
    check_row(&viewer, 1, "cafe\u0301 É <a>{aa}");
    viewer_search(&viewer, "ijklm");
    check_row(&viewer, 3, "abcdefgh{ij}");
    check_row(&viewer, 4, "{klm}nop");
    viewer_free(&viewer);
    doc_free(&doc);
}

static void a_match_far_right_comes_into_view(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    struct buf text = {0};
    for (int i = 0; i < 1000; i++)
        buf_add_str(&text, "日.");
    buf_add_str(&text, "needle");
    add_kept(&doc, "needl");
    add_kept(&doc, buf_str(&text));
    viewer_resize(&viewer, 20, 2);
    viewer_show(&viewer, &doc, false);
    assert_int_equal(viewer_search(&viewer, "needle"), 1);
    char *row = row_text(&viewer, 1);
    assert_non_null(strstr(row, "{needle}"));
    free(row);
    buf_free(&text);
    viewer_free(&viewer);
    doc_free(&doc);
}

static void the_cursor_stays_visible(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    for (int i = 0; i < 50; i++)
        doc_printf(&doc, STYLE_NORMAL, "%d some words that wrap\n", i);
    viewer_resize(&viewer, 12, 7);
    viewer_show(&viewer, &doc, false);
    viewer_set_cursor(&viewer, true);
    static const int moves[] = {1, 1, 1, 5, -1, -3, 40, 100, -2, -100, 3};
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        viewer_move(&viewer, moves[i]);
        bool seen = false, cursor;
        for (int row = 0; row < 7; row++)
            if (viewer_row_line(&viewer, row, &cursor, NULL, NULL) && cursor)
                seen = true;
        assert_true(seen);
        assert_ptr_equal(viewer_current(&viewer), &doc.lines[viewer.cursor]);
    }
    viewer_page(&viewer, 1);
    assert_int_equal(viewer.cursor, 9);
    viewer_page(&viewer, 100);
    assert_int_equal(viewer.cursor, 49);
    assert_int_equal(viewer_percent(&viewer), 100);
    viewer_go_line(&viewer, 20);
    assert_int_equal(viewer.cursor, 20);
    viewer_scroll(&viewer, 30);
    assert_true(viewer.cursor > 20 && viewer.cursor >= viewer.row[0].line);
    viewer_free(&viewer);
    doc_free(&doc);
}

/* Case 36: what stands behind a line of 1 MiB is reached, wrapped or not. */
static void a_mebibyte_in_one_line(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct viewer viewer = {0};
    struct buf text = {0};
    while (text.len < (1u << 20))
        buf_add_str(&text, "std::vector<日本>e\u0301 ");
    for (int keep = 0; keep < 2; keep++) {
        doc_add(&doc, STYLE_NORMAL, text.data, text.len);
        doc_end_line(&doc)->keep = keep;
        doc_add_str(&doc, STYLE_NORMAL, "LAST\n");
        viewer_resize(&viewer, 79, 24);
        viewer_show(&viewer, &doc, false);
        viewer_end(&viewer);
        check_row(&viewer, viewer.row_count - 1, "LAST");
        viewer_page(&viewer, -1);
        viewer_sideways(&viewer, 1 << 30);
        for (int row = 0; row < 24; row++)
            free(row_text(&viewer, row));
        viewer_set_wrap(&viewer, true);
        viewer_home(&viewer);
        char *row = row_text(&viewer, 0);
        assert_true(strlen(row) >= 70);
        free(row);
        viewer_set_wrap(&viewer, false);
        viewer_show(&viewer, NULL, false);
        doc_free(&doc);
    }
    buf_free(&text);
    viewer_free(&viewer);
}

/* Every row of every size: the pieces fit (paint checks), and no text is lost by wrapping. */
static void every_size_shows_everything(void **state)
{
    (void)state;
    static const char text[] =
        "Copies 异步拷贝，e\u0301 “cp.async” arrive（到达）later: wait_group 1。";
    struct doc doc = {0};
    struct viewer viewer = {0};
    doc_add_str(&doc, STYLE_NORMAL, text);
    doc_end_line(&doc)->indent = 4;
    add_kept(&doc, text);
    for (int columns = 0; columns < 90; columns++) {
        struct buf all = {0};
        viewer_resize(&viewer, columns, 100);
        viewer_show(&viewer, &doc, false);
        for (int row = 0; row < viewer.row_count && viewer.row[row].line == 0; row++)
            buf_add(&all, text + viewer.row[row].from, viewer.row[row].to - viewer.row[row].from);
        size_t at = 0;
        for (size_t i = 0; i < all.len; i++, at++) {
            while (text[at] != all.data[i] && text[at] == ' ')
                at++;
            assert_int_equal(text[at], all.data[i]);
        }
        assert_int_equal(at, sizeof text - 1);
        for (int row = 0; row < 100; row++)
            free(row_text(&viewer, row));
        buf_free(&all);
    }
    viewer_free(&viewer);
    doc_free(&doc);
}

static void nothing_shown_is_fine(void **state)
{
    (void)state;
    struct viewer viewer = {0};
    struct doc empty = {0};
    for (int round = 0; round < 2; round++) {
        viewer_show(&viewer, round ? &empty : NULL, round);
        viewer_resize(&viewer, 10, 10);
        viewer_move(&viewer, 1);
        viewer_page(&viewer, -1);
        viewer_home(&viewer);
        viewer_end(&viewer);
        viewer_go_line(&viewer, 5);
        viewer_sideways(&viewer, 3);
        viewer_set_wrap(&viewer, true);
        viewer_set_cursor(&viewer, true);
        assert_int_equal(viewer_search(&viewer, "x"), 0);
        assert_false(viewer_search_next(&viewer, -1, NULL));
        assert_null(viewer_row_line(&viewer, 0, NULL, NULL, NULL));
        assert_null(viewer_current(&viewer));
        assert_int_equal(viewer_percent(&viewer), 100);
        check_row(&viewer, 0, "");
    }
    viewer_free(&viewer);
    doc_free(&empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_break_between_words),
        cmocka_unit_test(chinese_breaks_by_its_rules),
        cmocka_unit_test(names_in_code_stay_whole),
        cmocka_unit_test(quotes_keep_their_bars),
        cmocka_unit_test(rows_of_a_wrapped_doc),
        cmocka_unit_test(wide_characters_are_never_cut),
        cmocka_unit_test(searching_and_going_around),
        cmocka_unit_test(matches_cross_styles_rows_and_marks),
        cmocka_unit_test(a_match_far_right_comes_into_view),
        cmocka_unit_test(the_cursor_stays_visible),
        cmocka_unit_test(a_mebibyte_in_one_line),
        cmocka_unit_test(every_size_shows_everything),
        cmocka_unit_test(nothing_shown_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

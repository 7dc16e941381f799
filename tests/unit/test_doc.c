/* Docs: what goes in comes out clean, with the right columns, and a line can be read as one text.
 */
#include "tui/doc.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static void check_line(const struct doc *doc, size_t number, const char *want)
{
    assert_true(number < doc->line_count);
    size_t len, sum = 0;
    const struct doc_line *line = &doc->lines[number];
    const char *text = doc_line_text(line, &len);
    if (len != strlen(want) || memcmp(text, want, len) != 0)
        fail_msg("line %zu: got \"%.*s\", want \"%s\"", number, (int)len, text, want);
    for (uint32_t i = 0; i < line->span_count; i++) {
        assert_true(line->spans[i].len > 0);
        sum += line->spans[i].len;
    }
    assert_int_equal(sum, len);
    assert_int_equal(line->len, len);
    assert_int_equal(line->columns, text_columns(text, len));
}

static void columns_of_text(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        int columns;
    } table[] = {
        {"", 0},     {"abc", 3},  {"日本語", 6}, {"e\u0301", 1}, {"ｶﾅ", 2},
        {"，。", 4}, {"…—“”", 4}, {"😀", 2},      {"│└─", 3},     {"\u1112\u1161\u11ab", 2}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        assert_int_equal(text_columns(table[i].text, strlen(table[i].text)), table[i].columns);
}

static void fitting_keeps_characters_whole(void **state)
{
    (void)state;
    int used;
    assert_int_equal(text_fit("日本語", 9, 3, &used), 3);
    assert_int_equal(used, 2);
    assert_int_equal(text_fit("日本語", 9, 1, &used), 0);
    assert_int_equal(used, 0);
    assert_int_equal(text_fit("ae\u0301b", 5, 2, &used), 4);
    assert_int_equal(used, 2);
    assert_int_equal(text_fit("e\u0301\u0302x", 6, 1, NULL), 5);
    assert_int_equal(text_fit("abc", 3, 0, &used), 0);
    assert_int_equal(text_fit("abc", 3, 80, &used), 3);
    assert_int_equal(used, 3);
    int columns;
    assert_int_equal(text_cluster("\u1112\u1161\u11abx", 10, &columns), 9);
    assert_int_equal(columns, 2);
}

static void lines_and_styles(void **state)
{
    (void)state;
    struct doc doc = {0};
    doc_add_str(&doc, STYLE_NORMAL, "one ");
    doc_add_str(&doc, STYLE_NORMAL, "and ");
    doc_add_str(&doc, STYLE_STRONG, "two\nthree");
    doc_printf(&doc, STYLE_NUMBER, "%d", 4);
    doc_end_line(&doc)->source_line = 7;
    doc_end_line(&doc);
    doc_add_str(&doc, STYLE_NORMAL, "\n\nlast");
    assert_int_equal(doc.line_count, 6);
    check_line(&doc, 0, "one and two");
    assert_int_equal(doc.lines[0].span_count, 2);
    check_line(&doc, 1, "three4");
    assert_int_equal(doc.lines[1].source_line, 7);
    check_line(&doc, 2, "");
    check_line(&doc, 3, "");
    check_line(&doc, 4, "");
    check_line(&doc, 5, "last");
    assert_true(doc.open);
    doc_free(&doc);
    doc_free(&doc);
}

static void tabs_stop_at_columns(void **state)
{
    (void)state;
    struct doc doc = {0};
    doc_add_str(&doc, STYLE_NORMAL, "\ta\tb\n日\tc\n12345678\td\ne\u0301\tf\n");
    doc.tab_size = 4;
    doc_add_str(&doc, STYLE_NORMAL, "12 ");
    doc_set_tab_origin(&doc);
    doc_add_str(&doc, STYLE_NORMAL, "\tx\n\ty\n");
    check_line(&doc, 0, "        a       b");
    check_line(&doc, 1, "日      c");
    check_line(&doc, 2, "12345678        d");
    check_line(&doc, 3, "e\u0301       f");
    check_line(&doc, 4, "12     x");
    check_line(&doc, 5, "    y");
    doc_free(&doc);
}

static void dirt_is_cleaned(void **state)
{
    (void)state;
    struct doc doc = {0};
    doc_add_str(&doc, STYLE_NORMAL,
                "\033[31merror\033[K\033[0m \xff \033]8;;u\033\\gcc\033]8;;\033\\\r\n");
    doc_add_str(&doc, STYLE_NORMAL, "\u0301mark\n");
    doc_add_str(&doc, STYLE_NORMAL, "z\u0301\u0301\u0301\u0301\u0301\u0301\u0301\n");
    doc_add_str(&doc, STYLE_STRONG, "\u0301");
    check_line(&doc, 0, "error \ufffd gcc");
    check_line(&doc, 1, " \u0301mark");
    check_line(&doc, 2, "z\u0301\u0301\u0301\u0301");
    check_line(&doc, 3, " \u0301");
    doc_free(&doc);
}

/* Pieces of all sizes and styles, over several blocks: the line stays one text. */
static void a_long_line_stays_in_one_piece(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct buf want = {0};
    static const char *const pieces[] = {"x", "日本", "abcdefgh", "e\u0301",
                                         "0123456789012345678901234"};
    while (want.len < (1u << 20)) {
        size_t i = want.len * 7 % 5;
        buf_add_str(&want, pieces[i]);
        doc_add_str(&doc, (enum style)(i % STYLE_COUNT), pieces[i]);
    }
    doc_add_str(&doc, STYLE_NORMAL, "\nLAST");
    check_line(&doc, 0, buf_str(&want));
    check_line(&doc, 1, "LAST");
    buf_free(&want);
    doc_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_text),  cmocka_unit_test(fitting_keeps_characters_whole),
        cmocka_unit_test(lines_and_styles), cmocka_unit_test(tabs_stop_at_columns),
        cmocka_unit_test(dirt_is_cleaned),  cmocka_unit_test(a_long_line_stays_in_one_piece),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Markdown: what each construct looks like, and that nothing in it gets out unclean. */
#include "tui/markup.h"

#include "harness/base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "doc_dump.h"

static void check_text(const char *markup, const char *want)
{
    struct doc doc = {0};
    struct buf have = {0};
    markup_add(&doc, markup, strlen(markup), NULL);
    dump_text(&have, &doc);
    assert_false(doc.open);
    if (strcmp(buf_str(&have), want) != 0)
        fail_msg("\n--- got\n%s--- want\n%s", buf_str(&have), want);
    buf_free(&have);
    doc_free(&doc);
}

/* The first line, with styles. */
static void check_styles(const char *markup, const char *want)
{
    struct doc doc = {0};
    struct buf have = {0};
    markup_add(&doc, markup, strlen(markup), NULL);
    dump_line(&have, &doc.lines[0]);
    if (strcmp(buf_str(&have), want) != 0)
        fail_msg("\n got %s\nwant %s", buf_str(&have), want);
    buf_free(&have);
    doc_free(&doc);
}

static void inline_styles(void **state)
{
    (void)state;
    check_styles("a *b* **c** `d` ~~e~~ f", "[]a [emphasis]b[] [strong]c[] [code]d[] [dim]~e~[] f");
    check_styles("[text](https://x.org/a?b&amp;c) and ![alt](p.png)",
                 "[link]text[dim] <https://x.org/a?b&c>[] and [dim][alt]");
    check_styles("# Big `code`", "[heading]Big [code]code");
    check_styles("1 &lt; 2 &amp;&amp; 3 &times; 4 &#20013; &bogus;", "[]1 < 2 && 3 × 4 中 &bogus;");
    check_styles("<b>not bold</b>", "[]<b>not bold</b>");
    check_styles("a\\\nb", "[]a");
}

static void blocks_and_blank_lines(void **state)
{
    (void)state;
    check_text("", "");
    check_text("# One\n\ntext\nmore\n## Two\n### Three\nend",
               "One\n═══\n\ntext more\n\nTwo\n───\n\nThree\n\nend\n");
    check_text("a  \nb\n\n---\nc", "a\nb\n\n────────────────────────────────────────\n\nc\n");
    check_text("> quote\n> more\n>\n> second\n\nafter", "│ quote more\n│ \n│ second\n\nafter\n");
    check_text("> - a\n>   b\n> - c", "│ • a b\n│ • c\n");
}

static void lists_nest(void **state)
{
    (void)state;
    check_text("- a\n- b\n  - c\n    - d\n- e\n\nend", "• a\n• b\n  ◦ c\n    ▪ d\n• e\n\nend\n");
    check_text("9. a\n10. b\n", "9. a\n10. b\n");
    check_text("- a\n\n  more\n- b", "• a\n\n  more\n\n• b\n");
    check_text("- [ ] no\n- [x] yes", "[ ] no\n[x] yes\n");
    check_text("-\n- a\n- - b", "• \n• a\n• ◦ b\n");
    check_text("1. a\n   ```\n   code\n   ```\n2. b", "1. a\n   code\n2. b\n");
    check_text("- ```\n  code\n  ```", "• \n  code\n");
}

static void continuation_lines_are_indented(void **state)
{
    (void)state;
    struct doc doc = {0};
    static const char text[] = "para\n\n10. item\n    - sub";
    struct markup_options options = {.indent = 2, .style = STYLE_DIM};
    markup_add(&doc, text, sizeof text - 1, &options);
    assert_int_equal(doc.lines[0].indent, 2);
    assert_int_equal(doc.lines[0].spans[1].style, STYLE_DIM);
    assert_int_equal(doc.lines[2].indent, 6);
    assert_int_equal(doc.lines[3].indent, 8);
    assert_false(doc.lines[2].keep);
    doc_free(&doc);
}

static void chinese_lines_join_without_blanks(void **state)
{
    (void)state;
    check_text("异步拷贝\n让数据先走，\n用 cp.async\n发起。\nEnd",
               "异步拷贝让数据先走，用 cp.async 发起。End\n");
    check_text("one\ntwo", "one two\n");
    check_text("**粗**\n体", "粗体\n");
    check_text("**粗。** 体，*a* b `。` c", "粗。体，a b 。 c\n");
    check_text("*一。*  x **二** 三。 四", "一。x 二 三。 四\n");
}

static void tables_align_by_columns(void **state)
{
    (void)state;
    check_text("| a | 数 | right |\n|:-:|---|---:|\n| x | 一 | 1 |\n| long | `二三` e\u0301 | 22 |",
               " a   │ 数     │ right\n"
               "─────┼────────┼──────\n"
               " x   │ 一     │     1\n"
               "long │ 二三 e\u0301 │    22\n");
    check_text("| a |\n|---|\n| **b** | c |\n", "a\n─\nb\n");
    check_text("| a | b |\n|---|---|\n| c |\n\n", "a │ b\n──┼──\nc │ \n");
    check_styles("| *a* | b |\n|---|---|\n", "[emphasis]a[rule] │ [strong]b");
    struct doc doc = {0};
    static const char text[] = "- | a |\n  |---|\n";
    markup_add(&doc, text, sizeof text - 1, NULL);
    assert_int_equal(doc.line_count, 3);
    assert_true(doc.lines[1].keep);
    doc_free(&doc);
}

static void check_table(const char *markup, int columns, const char *want)
{
    struct doc doc = {0};
    struct buf have = {0};
    const struct markup_options options = {.columns = columns};
    markup_add(&doc, markup, strlen(markup), &options);
    for (size_t i = 0; i < doc.line_count; i++)
        assert_true(doc.lines[i].keep);
    dump_text(&have, &doc);
    assert_string_equal(buf_str(&have), want);
    buf_free(&have);
    doc_free(&doc);
}

static void tables_fit_the_window(void **state)
{
    (void)state;
    const char *table =
        "| what it is | n |\n|---|--:|\n| one and `two` and more | 12 |\n| x | 1 |\n";
    check_table(table, 0,
                "what it is           │  n\n─────────────────────┼───\n"
                "one and two and more │ 12\nx                    │  1\n");
    check_table(table, 25,
                "what it is           │  n\n─────────────────────┼───\n"
                "one and two and more │ 12\nx                    │  1\n");
    check_table(table, 24,
                "what it is          │  n\n────────────────────┼───\none and two and     │ 12\n"
                "more                │ \nx                   │  1\n");
    check_table(table, 13,
                "what it  │  n\nis       │ \n─────────┼───\none and  │ 12\ntwo and  │ \nmore     "
                "│ \nx        │  1\n");
    /* Too narrow for anything: scrolled sideways */
    check_table(table, 12,
                "what it is           │  n\n─────────────────────┼───\n"
                "one and two and more │ 12\nx                    │  1\n");
    /* One column alone takes fewer lines than both, and no row begins with a comma */
    check_table("| 每 64 条 HMMA 的指令 | 4,096 的三次方 |\n|---|---|\n| 厚，薄 | 1 |\n", 30,
                "每 64 条 HMMA │ 4,096 的三次方\n的指令        │ \n"
                "──────────────┼───────────────\n厚，薄        │ 1\n");
}

static void fences_keep_their_text(void **state)
{
    (void)state;
    check_text("```text\n  ┌──┐  *a*\n\t│\n```\n", "  ┌──┐  *a*\n    │\n");
    check_text("```cuda\nint a;\n\n  b();\n```\nx", " 1  int a;\n 2  \n 3    b();\n\nx\n");
    check_styles("```ptx\nmov.u32 %r1, 2;\n```",
                 "[line-number] 1  [opcode]mov.u32[] [register]%r1[], "
                 "[number]2[];");
    check_styles("```sass\nMOV R1, RZ ;\n```", "[line-number] 1  [opcode]MOV[] [register]R1[], "
                                               "[register]RZ[] ;");
    check_text("```cuda\nunended", " 1  unended\n");
    check_text("> ```\n> a\n> ```", "  a\n");
}

static void nothing_gets_out_unclean(void **state)
{
    (void)state;
    static const char text[] =
        "a\033[31mb\033]0;x\a &#27;[31m &#x9b;1m &#8238; &#10; &#9; &#0; &#xD800; "
        "\xff `\033c` [l](\033&#27;)\n\n```\n\033[1mx\x01\n```\n| \033a |\n|--|\n";
    struct doc doc = {0};
    struct buf have = {0};
    markup_add(&doc, text, sizeof text - 1, NULL);
    dump_text(&have, &doc);
    assert_true(clean_is(buf_str(&have), have.len));
    assert_null(memchr(buf_str(&have), '\t', have.len));
    buf_free(&have);
    doc_free(&doc);
}

static void depth_has_no_end(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct buf text = {0};
    for (int i = 0; i < 300; i++)
        buf_add_str(&text, i % 3 ? "> " : "- ");
    buf_add_str(&text, "deep *a **b *c **d* e** f* g**\n\n");
    for (int i = 0; i < 500; i++)
        buf_add_str(&text, "| a ");
    buf_add_str(&text, "|\n");
    for (int i = 0; i < 500; i++)
        buf_add_str(&text, "|---");
    buf_add_str(&text, "|\n| b |\n");
    markup_add(&doc, buf_str(&text), text.len, NULL);
    assert_true(doc.line_count > 0);
    buf_free(&text);
    doc_free(&doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inline_styles),
        cmocka_unit_test(blocks_and_blank_lines),
        cmocka_unit_test(lists_nest),
        cmocka_unit_test(continuation_lines_are_indented),
        cmocka_unit_test(chinese_lines_join_without_blanks),
        cmocka_unit_test(tables_align_by_columns),
        cmocka_unit_test(tables_fit_the_window),
        cmocka_unit_test(fences_keep_their_text),
        cmocka_unit_test(nothing_gets_out_unclean),
        cmocka_unit_test(depth_has_no_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Cleaning: nothing that a terminal would obey, and nothing invalid, survives; text does. */
#include "harness/base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define check(from, want) check_bytes("" from, sizeof from - 1, want, __LINE__)

static void check_bytes(const char *from, size_t len, const char *want, int line)
{
    struct buf out = {0};
    clean_text(&out, from, len);
    if (strcmp(buf_str(&out), want) != 0)
        fail_msg("line %d: got \"%s\", want \"%s\"", line, buf_str(&out), want);
    buf_free(&out);
}

static void text_stays(void **state)
{
    (void)state;
    check("", "");
    check("plain\ttext\nmore", "plain\ttext\nmore");
    check("résumé 日本 e\u0301 😀", "résumé 日本 e\u0301 😀");
    check("a\r\nb\rc\u2028d", "a\nb\nc\nd");
}

static void escape_sequences_go(void **state)
{
    (void)state;
    check("\033[1;31merror:\033[0m x\033[K!", "error: x!");
    check("\033[38;5;196mred\033[38:2::1:2:3mx", "redx");
    check("\033]8;;https://example.org/\033\\-Wall\033]8;;\033\\.", "-Wall.");
    check("\033]8;;https://example.org/\a-Wall\033]8;;\a.", "-Wall.");
    check("\033]0;title\aafter", "after");
    check("\033P1$r0m\033\\a\033_x\033\\b\033^y\033\\c\033Xz\033\\d", "abcd");
    check("\033(Ba\033)0b\0337c\033#8d\033=e", "abcde");
    check("\xc2\x9b"
          "31mred\xc2\x9d"
          "0;t\xc2\x9c"
          "x\xc2\x90"
          "q\xc2\x9c"
          "y",
          "redxy");
    check("a\033", "a");
    check("a\033[", "a");
    check("a\033[31", "a");
    check("\033\033[1mx", "x");
    check("\033[\033[1mx", "x");
}

static void an_unended_sequence_keeps_to_its_line(void **state)
{
    (void)state;
    check("\033]0;never ended\nLAST", "\nLAST");
    check("\033P never ended\r\nLAST", "\nLAST");
    check("\033[12\nLAST", "\nLAST");
    check("\033[1\u4e2dx", "中x");
    check("\033中", "中");
}

static void control_characters_go(void **state)
{
    (void)state;
    check("a\bb\x07"
          "c\x7f"
          "d\0e\x0b\x0c",
          "abcde");
    check("a\xc2\x85"
          "b\xc2\x80"
          "c",
          "abc");
}

static void invalid_utf8_is_marked(void **state)
{
    (void)state;
    check("a\xff"
          "b",
          "a\ufffd"
          "b");
    check("\xc0\xaf", "\ufffd\ufffd");
    check("\xe4\xb8", "\ufffd");
    check("\xe4\xb8z", "\ufffdz");
    check("\xed\xa0\x80", "\ufffd\ufffd\ufffd");
    check("\xf4\x90\x80\x80", "\ufffd\ufffd\ufffd\ufffd");
    check("\xf0\x9f\x98z", "\ufffdz");
    check("\x80\x9b"
          "31m",
          "\ufffd\ufffd"
          "31m");
    check("\xc2\x1b[31mx", "\ufffdx");
    check("\uffff\ufdd0\U0001fffe", "\ufffd\ufffd\ufffd");
}

static void tricks_with_invisible_characters_fail(void **state)
{
    (void)state;
    check("if (a\u202e) \u2066x", "if (a\ufffd) \ufffdx");
    check("\ufeff#include\u200b \u200dx\ufe0f\u00ad", "#include x");
    check("\U0001F44D\U0001F3FD\U000E0041", "\U0001F44D");
}

static void one_line_has_no_ends(void **state)
{
    (void)state;
    struct buf out = {0};
    clean_line(&out, " \ta\nb\033[1m\tc\r\n", 14);
    assert_string_equal(buf_str(&out), "a b c");
    buf_clear(&out);
    clean_line(&out, "\n\n", 2);
    assert_string_equal(buf_str(&out), "");
    buf_free(&out);
}

static void every_code_point_round_trips(void **state)
{
    (void)state;
    for (uint32_t code = 1; code <= 0x10FFFF; code++) {
        char bytes[4];
        uint32_t back;
        size_t len = utf8_encode(bytes, code);
        bool surrogate = code >= 0xD800 && code <= 0xDFFF;
        assert_int_equal(utf8_decode(&back, bytes, len), len);
        assert_int_equal(back, surrogate ? 0xFFFD : code);
        assert_int_equal(utf8_whole(bytes, len), len);
        for (size_t cut = 1; cut < len; cut++)
            assert_int_equal(utf8_whole(bytes, cut), 0);
    }
}

/* Whatever the bytes, the result is clean, and cleaning it again changes nothing. */
static void noise_comes_out_clean(void **state)
{
    (void)state;
    static const char pieces[][6] = {"\033", "[",  "]",        "8;;",  "\a",   "\\",       "m",
                                     "a",    "\n", "\t",       "\xc2", "\x9b", "\xe4\xb8", "\xad",
                                     "\xff", "P",  "\xe2\x80", "\xae", "\r",   "\xc2\x9c"};
    uint32_t seed = 12345;
    for (int round = 0; round < 20000; round++) {
        struct buf in = {0}, out = {0};
        for (int i = 0; i < 12; i++) {
            seed = seed * 1664525u + 1013904223u;
            buf_add_str(&in, pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        clean_text(&out, buf_str(&in), in.len);
        assert_true(clean_is(buf_str(&out), out.len));
        for (size_t i = 0; i < out.len; i++)
            assert_true((unsigned char)out.data[i] >= 0x20 || out.data[i] == '\n' ||
                        out.data[i] == '\t');
        buf_free(&in);
        buf_free(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_stays),
        cmocka_unit_test(escape_sequences_go),
        cmocka_unit_test(an_unended_sequence_keeps_to_its_line),
        cmocka_unit_test(control_characters_go),
        cmocka_unit_test(invalid_utf8_is_marked),
        cmocka_unit_test(tricks_with_invisible_characters_fail),
        cmocka_unit_test(one_line_has_no_ends),
        cmocka_unit_test(every_code_point_round_trips),
        cmocka_unit_test(noise_comes_out_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

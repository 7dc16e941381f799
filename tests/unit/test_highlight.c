/* Lexers: what each token is, and what one line hands to the next. */
#include "tui/highlight.h"

#include "harness/base/clean.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "doc_dump.h"

/* Lines are joined by '|'. */
static void check_styles(enum language language, const char *code, const char *want)
{
    struct doc doc = {0};
    struct buf have = {0};
    struct highlight_options options = {0};
    highlight_code(&doc, language, code, strlen(code), &options);
    for (size_t i = 0; i < doc.line_count; i++) {
        if (i)
            buf_add_char(&have, '|');
        assert_true(doc.lines[i].keep);
        dump_line(&have, &doc.lines[i]);
    }
    if (strcmp(buf_str(&have), want) != 0)
        fail_msg("\n got %s\nwant %s", buf_str(&have), want);
    buf_free(&have);
    doc_free(&doc);
}

static void cuda_tokens(void **state)
{
    (void)state;
    check_styles(LANGUAGE_CUDA, "__shared__ float tile[2];",
                 "[keyword]__shared__[] [type]float[] tile[[number]2[]];");
    check_styles(LANGUAGE_CUDA, "x = threadIdx.x + 1.5e-3f; // it's",
                 "[]x = [builtin]threadIdx[].x + [number]1.5e-3f[]; [comment]// it's");
    check_styles(LANGUAGE_CUDA, "#include <cuda_pipeline.h>",
                 "[preprocessor]#include[] [string]<cuda_pipeline.h>");
    check_styles(LANGUAGE_CUDA, "  # define N 1'000u",
                 "[]  [preprocessor]# define[] N [number]1'000u");
    check_styles(LANGUAGE_CUDA, "s = \"a\\\"b\" + '\\'' ;",
                 "[]s = [string]\"a\\\"b\"[] + [string]'\\''[] ;");
    check_styles(LANGUAGE_CUDA, "cudaMalloc(&p, 0xFFull); __pipeline_commit();",
                 "[builtin]cudaMalloc[](&p, [number]0xFFull[]); [builtin]__pipeline_commit[]();");
    check_styles(LANGUAGE_CUDA, "floats cudax __half2", "[]floats cudax [type]__half2");
}

static void cuda_over_lines(void **state)
{
    (void)state;
    check_styles(LANGUAGE_CUDA, "a /* b\n c\n d */ int",
                 "[]a [comment]/* b|[comment] c|[comment] d */[] [type]int");
    check_styles(LANGUAGE_CUDA, "asm(R\"x(mov\n)\" y\n)x\"); int",
                 "[keyword]asm[]([string]R\"x(mov|[string])\" y|[string])x\"[]); [type]int");
    check_styles(LANGUAGE_CUDA, "/*/ a */ b", "[comment]/*/ a */[] b");
    check_styles(LANGUAGE_CUDA, "\"unended\nint", "[string]\"unended|[type]int");
    check_styles(LANGUAGE_CUDA, "/* 中 */ 中文 x", "[comment]/* 中 */[] 中文 x");
}

static void ptx_tokens(void **state)
{
    (void)state;
    check_styles(
        LANGUAGE_PTX, "\tld.global.v2.f32 {%f1, %f2}, [%rd4+8];\n@%p1 bra $L__BB0_2;",
        "[]    [opcode]ld.global.v2.f32[] {[register]%f1[], [register]%f2[]}, [[register]%rd4[]+"
        "[number]8[]];|[]@[register]%p1[] [opcode]bra[] [label]$L__BB0_2[];");
    check_styles(
        LANGUAGE_PTX, ".loc 1 7 3\nmov.u32 %r1, %tid.x;",
        "[keyword].loc[] [number]1[] [number]7[] [number]3|[opcode]mov.u32[] [register]%r1[], "
        "[register]%tid.x[];");
    check_styles(
        LANGUAGE_PTX, "WAIT: mbarrier.test_wait.shared::cta.b64 p, [%r1];",
        "[label]WAIT[]: [opcode]mbarrier.test_wait.shared::cta.b64[] p, [[register]%r1[]];");
    check_styles(LANGUAGE_PTX, "{ @!p bra L; }", "[]{ @![register]p[] [opcode]bra[] L; }");
    check_styles(LANGUAGE_PTX, ".reg .f32 %f<3>;",
                 "[keyword].reg[] [type].f32[] [register]%f[]<[number]3[]>;");
    check_styles(LANGUAGE_PTX, "$L__BB0_1:\n{ // x\nmov.f32 %f1, 0f3F800000;\n}\nret;",
                 "[label]$L__BB0_1[]:|[]{ [comment]// x|[opcode]mov.f32[] [register]%f1[], "
                 "[number]0f3F800000[];|[]}|[opcode]ret[];");
    check_styles(
        LANGUAGE_PTX, ".visible .entry k(\n.param .u64 a\n)\n{\nret;\ncall.uni f,\n(p\n);\nexit;",
        "[keyword].visible[] [keyword].entry[] k(|[keyword].param[] [type].u64[] a|[])|[]{|[opcode]"
        "ret[];|[opcode]call.uni[] f,|[](p|[]);|[opcode]exit[];");
}

static void sass_tokens(void **state)
{
    (void)state;
    check_styles(LANGUAGE_SASS, "/*0010*/ @!P0 LDG.E R2, [R2.64] ;",
                 "[comment]/*0010*/[] @![register]P0[] [opcode]LDG.E[] [register]R2[], "
                 "[[register]R2.64[]] ;");
    check_styles(
        LANGUAGE_SASS, "S2R R0, SR_TID.X ;\nBRA `(.L_x_1) ;\n.L_x_1:",
        "[opcode]S2R[] [register]R0[], [register]SR_TID.X[] ;|[opcode]BRA[] `([label].L_x_1[]) ;|"
        "[label].L_x_1[]:");
    check_styles(
        LANGUAGE_SASS, "IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;",
        "[opcode]IMAD.MOV.U32[] [register]R1[], [register]RZ[], [register]RZ[], c[[number]0x0[]]"
        "[[number]0x28[]] ;");
    check_styles(
        LANGUAGE_SASS, "HFMA2.MMA R1, -RZ, RZ, 0, 0 ;\nULDC UR4, c[0x0] ;\n.section .text",
        "[opcode]HFMA2.MMA[] [register]R1[], -[register]RZ[], [register]RZ[], [number]0[], "
        "[number]0[] ;|[opcode]ULDC[] [register]UR4[], c[[number]0x0[]] ;|[keyword].section[] "
        "[keyword].text");
}

static void numbers_tabs_and_dirt(void **state)
{
    (void)state;
    struct doc doc = {0};
    struct buf have = {0};
    const char code[] = "\tint\033[31m x;\r\n\n};\x01\n";
    struct highlight_options options = {
        .numbers = true, .first_number = 9, .indent = 2, .source = true};
    highlight_code(&doc, LANGUAGE_CUDA, code, sizeof code - 1, &options);
    dump_text(&have, &doc);
    assert_string_equal(buf_str(&have), "   9      int x;\n  10  \n  11  };\n");
    assert_int_equal(doc.lines[2].source_line, 11);
    assert_int_equal(doc.tab_size, 0);
    buf_free(&have);
    doc_free(&doc);
}

static void numbers_give_way_to_code(void **state)
{
    (void)state;
    static const struct {
        int columns;
        const char *want;
    } rows[] = {{0, " 9      ab\n10  日b\n"}, {10, " 9      ab\n10  日b\n"},
                {9, " 9     ab\n10 日b\n"},   {8, "    ab\n日b\n"},
                {6, "    ab\n日b\n"},         {5, " 9      ab\n10  日b\n"}};
    assert_int_equal(highlight_columns("a\tb\n日本\n", 10), 5);
    assert_int_equal(highlight_columns("\tab\n日b", 8), 6);
    assert_int_equal(highlight_columns("", 0), 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct doc doc = {0};
        struct buf have = {0};
        struct highlight_options options = {
            .numbers = true, .first_number = 9, .columns = rows[i].columns};
        highlight_code(&doc, LANGUAGE_CUDA, "\tab\n日b", 8, &options);
        dump_text(&have, &doc);
        assert_string_equal(buf_str(&have), rows[i].want);
        buf_free(&have);
        doc_free(&doc);
    }
}

static void names_of_languages(void **state)
{
    (void)state;
    assert_int_equal(highlight_language("cuda", 4), LANGUAGE_CUDA);
    assert_int_equal(highlight_language("c++", 3), LANGUAGE_CUDA);
    assert_int_equal(highlight_language("ptx", 3), LANGUAGE_PTX);
    assert_int_equal(highlight_language("sass", 4), LANGUAGE_SASS);
    assert_int_equal(highlight_language("text", 4), LANGUAGE_TEXT);
    assert_int_equal(highlight_language("cud", 3), LANGUAGE_TEXT);
    assert_int_equal(highlight_language("", 0), LANGUAGE_TEXT);
}

/* Whatever the code, all of it is shown, once and in order. */
static void nothing_is_lost(void **state)
{
    (void)state;
    static const char pieces[][10] = {"/*", "*/",  "//",     "\"",  "'",  "R\"(", ")\"", "\\",
                                      "\n", "int", ".5",     "%r1", "$L", "#",    "{",   "}",
                                      ";",  " ",   "0x1p+3", "日",  "<",  "1e+",  "R"};
    uint32_t seed = 99;
    for (int round = 0; round < 3000; round++) {
        struct buf code = {0}, have = {0};
        for (int i = 0; i < 30; i++) {
            seed = seed * 1664525u + 1013904223u;
            buf_add_str(&code, pieces[(seed >> 16) % (sizeof pieces / sizeof *pieces)]);
        }
        buf_add_str(&code, "x\n");
        for (int language = 0; language < LANGUAGE_COUNT; language++) {
            struct doc doc = {0};
            struct highlight_options options = {0};
            highlight_code(&doc, (enum language)language, code.data, code.len, &options);
            buf_clear(&have);
            dump_text(&have, &doc);
            assert_string_equal(buf_str(&have), buf_str(&code));
            doc_free(&doc);
        }
        buf_free(&code);
        buf_free(&have);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuda_tokens),
        cmocka_unit_test(cuda_over_lines),
        cmocka_unit_test(ptx_tokens),
        cmocka_unit_test(sass_tokens),
        cmocka_unit_test(numbers_tabs_and_dirt),
        cmocka_unit_test(numbers_give_way_to_code),
        cmocka_unit_test(names_of_languages),
        cmocka_unit_test(nothing_is_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

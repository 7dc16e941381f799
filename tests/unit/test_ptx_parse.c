/* Reading PTX: tokens, declarations, lines with their call sites, forms, and what errors say. */
#include "harness/ptx/exec.h"
#include "harness/ptx/forms.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/image.h"
#include "harness/ptx/lex.h"
#include "harness/ptx/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#define HEAD ".version 9.0\n.target sm_80\n.address_size 64\n"

static struct ptx_module *parse(struct arena *arena, const char *text)
{
    struct ptx_module *module = NULL;
    struct err err = {0};
    if (!ptx_parse(&module, arena, text, strlen(text), &err))
        fail_msg("%s", err.text);
    return module;
}

static void refuse(const char *text, const char *want)
{
    struct arena arena = {0};
    struct ptx_module *module = NULL;
    struct err err = {0};
    assert_false(ptx_parse(&module, &arena, text, strlen(text), &err));
    if (!strstr(err.text, want))
        fail_msg("'%s' does not say '%s'", err.text, want);
    arena_free(&arena);
}

static void tokens_keep_their_shape(void **state)
{
    (void)state;
    static const char text[] = "/* a\n b */ add.s32 %r1, -0x1F, 0f3F800000; // end\n"
                               "cp.async.bulk.shared::cluster.global [%rd1+16] 1.5 \"a\\\"b\" 12ab";
    struct lexer lexer = lex_begin(text, sizeof text - 1);
    assert_true(token_is(lex_next(&lexer), "add.s32"));
    struct token r1 = lex_next(&lexer);
    assert_true(token_is(r1, "%r1") && r1.line == 2);
    assert_true(token_is_punct(lex_next(&lexer), ','));
    assert_true(token_is_punct(lex_next(&lexer), '-'));
    assert_int_equal(lex_next(&lexer).value, 31);
    lex_next(&lexer);
    struct token one = lex_next(&lexer);
    assert_true(one.kind == TOKEN_FLOAT && one.is_single && one.value == 0x3f800000);
    lex_next(&lexer);
    assert_true(token_is(lex_next(&lexer), "cp.async.bulk.shared::cluster.global"));
    for (int i = 0; i < 5; i++)
        lex_next(&lexer);
    struct token half = lex_next(&lexer);
    double value;
    memcpy(&value, &half.value, sizeof value);
    assert_true(half.kind == TOKEN_FLOAT && value == 1.5);
    assert_int_equal(lex_next(&lexer).kind, TOKEN_STRING);
    assert_int_equal(lex_next(&lexer).kind, TOKEN_BAD);
    assert_int_equal(lex_next(&lexer).kind, TOKEN_END);
}

static void parameters_follow_the_abi(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct ptx_module *module =
        parse(&arena, HEAD ".visible .entry k(.param .u32 a, .param .u64 .ptr .global .align 16 b,"
                           " .param .u8 c, .param .align 8 .b8 d[12], .param .f64 e)"
                           ".maxntid 128, 2, 1 { ret; }");
    const struct ptx_entry *k = ptx_find_entry(module, "k");
    static const uint32_t offsets[] = {0, 8, 16, 24, 40};
    assert_non_null(k);
    assert_int_equal(k->param_count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(k->params[i].offset, offsets[i]);
    assert_int_equal(k->param_bytes, 48);
    assert_int_equal(k->max_threads, 256);
    assert_int_equal(module->capability, 80);
    assert_int_equal(module->version, 90);
    assert_null(ptx_find_entry(module, "other"));
    arena_free(&arena);
}

static void variables_have_places_and_values(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct ptx_module *module =
        parse(&arena, HEAD ".global .align 4 .u32 counter;\n"
                           ".global .align 1 .b8 $str[3] = {104, 105};\n"
                           ".const .align 8 .f32 table[2] = {0f3F800000, -2.5};\n"
                           ".global .align 8 .u64 pointers[2] = {counter, generic(table)+4};\n"
                           ".extern .shared .align 16 .b8 dynamic[];\n"
                           ".entry k() { .shared .align 4 .b8 tile[100]; .shared .u64 bar; ret; }");
    struct ptx_image *image = ptx_image_open(module);
    void *host;
    uint64_t va, bytes, counter;
    assert_true(ptx_image_symbol(image, "counter", &host, &counter, &bytes));
    assert_int_equal(*(uint32_t *)host, 0);
    assert_true(ptx_image_symbol(image, "$str", &host, &va, &bytes));
    assert_memory_equal(host, "hi\0", 3);
    assert_true(ptx_image_symbol(image, "table", &host, &va, &bytes));
    assert_true(((float *)host)[0] == 1.0f && ((float *)host)[1] == -2.5f);
    uint64_t table = va;
    assert_true(ptx_image_symbol(image, "pointers", &host, &va, &bytes));
    assert_true(((uint64_t *)host)[0] == counter && ((uint64_t *)host)[1] == table + 4);
    assert_false(ptx_image_symbol(image, "nothing", &host, &va, &bytes));
    const struct ptx_entry *k = ptx_find_entry(module, "k");
    assert_int_equal(k->static_shared_bytes, 112);
    assert_int_equal(k->shared_count, 3);
    assert_string_equal(k->shared[1].name, "bar");
    assert_int_equal(k->shared[1].offset, 104);
    assert_int_equal(k->shared[2].offset, 112);
    ptx_image_close(image);
    arena_free(&arena);
}

static void lines_know_their_call_site(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct ptx_module *module = parse(
        &arena, HEAD ".entry k() { .reg .b32 %r<4>;\n"
                     ".loc 1 10 3\n mov.u32 %r1, 1;\n"
                     ".loc 2 77 5, function_name $L__info_string0, inlined_at 1 10 3\n"
                     "mov.u32 %r2, 2;\n"
                     ".loc 2 0 5\n mov.u32 %r3, 3;\n ret; }\n"
                     ".file 1 \"/home/x/kernel.cu\"\n.file 2 \"/cuda/include/helper.h\", 1, 2\n"
                     ".section .debug_str\n{\n$L__info_string0:\n.b8 102,111\n.b8 111,0\n}\n");
    const struct op *ops = ptx_find_entry(module, "k")->func->ops;
    uint32_t first = ops[1].line, second = ops[2].line;
    assert_int_equal(module->lines[first].line, 10);
    assert_string_equal(module->lines[first].file, "/home/x/kernel.cu");
    assert_int_equal(module->lines[second].line, 77);
    assert_string_equal(module->lines[second].function, "foo");
    assert_int_equal(module->lines[second].inlined_at, first);
    assert_int_equal(ops[3].line, second); /* line 0 stays with the line before */
    assert_int_equal(ptx_line_in_file(module, second, "kernel.cu"), first);
    assert_int_equal(ptx_line_in_file(module, second, "helper.h"), second);
    arena_free(&arena);
}

static void scopes_shadow(void **state)
{
    (void)state;
    struct arena arena = {0};
    const struct ptx_module *module =
        parse(&arena, HEAD ".entry k() { .reg .b32 %r<3>; .reg .pred p;\n"
                           "{ .reg .b64 %r1; .reg .pred p; mov.u64 %r1, 1;\n"
                           "L: @p bra L; }\n mov.u32 %r1, 2; bra.uni L2; L2: ret; }");
    const struct func *func = ptx_find_entry(module, "k")->func;
    bool saw64 = false, saw32 = false;
    for (size_t i = 0; i < func->op_count; i++) {
        saw64 |= func->ops[i].body == H_mov_64;
        saw32 |= func->ops[i].body == H_mov_32;
        assert_int_not_equal(func->ops[i].body, H_unsupported);
    }
    assert_true(saw64 && saw32);
    arena_free(&arena);
}

/* What running into the operation of one instruction would say; "" when it is known. */
static void said_of(const char *instruction, char out[300])
{
    struct arena arena = {0};
    char text[1000];
    snprintf(text, sizeof text,
             HEAD ".entry k() { .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .pred %%p<9>;"
                  " .reg .f32 %%f<9>; .reg .b16 %%rs<9>; .shared .align 16 .b8 s[64];\n"
                  ".loc 1 7 3\n%s\n ret; }\n.file 1 \"k.cu\"\n",
             instruction);
    const struct ptx_module *module = parse(&arena, text);
    const struct func *func = ptx_find_entry(module, "k")->func;
    out[0] = '\0';
    for (size_t i = 0; i < func->op_count; i++) {
        if (func->ops[i].body == H_unsupported)
            snprintf(out, 300, "%s", (const char *)func->ops[i].extra);
    }
    arena_free(&arena);
}

static void known_forms_are_exact(void **state)
{
    (void)state;
    static const char *const known[] = {
        "add.s32 %r1, %r2, -5;",
        "mul.wide.u16 %r1, %rs1, 3;",
        "fma.rn.f32 %f1, %f2, 0f3F800000, %f3;",
        "@!%p1 setp.lt.and.s32 %p2|%p3, %r1, %r2, !%p4;",
        "ld.global.nc.v4.f32 {%f1,%f2,%f3,%f4}, [%rd1+-16];",
        "st.shared.u32 [s+4], %r1;",
        "cp.async.cg.shared.global [%r1], [%rd1+32], 16;",
        "cp.async.ca.shared.global [%r1], [%rd1], 4, %r2;",
        "mov.b64 {%r1,%r2}, %rd1;",
        "mov.b32 %r1, {%rs1,%rs2};",
        "mov.u64 %rd1, %clock64;",
        "atom.global.cta.add.u32 %r1, [%rd1], 1;",
        "shfl.sync.bfly.b32 %r1|%p1, %r2, 1, 31, -1;",
        "cvt.s8.s32 %rs1, %r1;",
        "bar.sync 0;",
    };
    static const char *const unknown[] = {
        "add.s31 %r1, %r2, %r3;",       /* no such type */
        "add.s32 %rd1, %rd2, %rd3;",    /* registers of the wrong size */
        "mul.wide.u16 %rd1, %r1, %r2;", /* once taken for mul.wide.u32 */
        "add.s32 %r1, %r2;",            /* an operand is missing */
        "add.s32 %r1, %r2, %r3, %r4;",
        "add.f32 %f1, %f2, 1;", /* an integer where a float belongs */
        "cp.async.cg.shared.global [%r1], [%rd1], 8;",
        "cp.async.ca.shared.global [%r1], [%rd1], 12;",
        "ld.global.v4.f32 {%f1,%f2}, [%rd1];",
        "setp.lt.and.s32 %p1, %r1, %r2;",
        "min.xorsign.f32 %f1, %f2, %f3;",
        "wgmma.fence.sync.aligned;",
        "add.s32.s32 %r1, %r2, %r3;",
    };
    char said[300];
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        said_of(known[i], said);
        if (*said)
            fail_msg("%s: %s", known[i], said);
    }
    for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        said_of(unknown[i], said);
        if (!strstr(said, "the simulator does not know") || !strstr(said, "(your line 7)"))
            fail_msg("%s: '%s'", unknown[i], said);
    }
    said_of("cp.async.cg.shared.global [%r1], [%rd1], 4;", said);
    assert_non_null(strstr(said, "16 bytes only"));
}

static bool finds_itself(const char *opcode, void *context)
{
    struct form_match match;
    unsigned *count = context;
    ++*count;
    if (!form_find(&match, opcode))
        fail_msg("%s is not found", opcode);
    return true;
}

/* Every opcode that the table stands for is found by the search, by a row of the same base. */
static void every_form_is_found(void **state)
{
    (void)state;
    unsigned count = 0;
    for (size_t i = 0; i < form_count; i++)
        assert_true(form_expand(forms[i].pattern, finds_itself, &count));
    assert_true(count > 10000);
    struct form_match match;
    assert_false(form_find(&match, "add"));
    assert_false(form_find(&match, "add.s32."));
    assert_false(form_find(&match, "add..s32"));
    assert_false(form_find(&match, ""));
    assert_false(form_find(&match, "setp.-.f32"));
}

static void errors_name_the_place(void **state)
{
    (void)state;
    refuse("", "no .version");
    refuse(HEAD ".entry k() {\n", "the text ends inside of k");
    refuse(HEAD ".entry k() { .reg .b32 %r<2>;\n.loc 1 5 1\n mov.u32 %r9, 1; ret; }",
           "line 6 of the PTX (your line 5): the simulator does not know the register %r9");
    refuse(HEAD ".entry k() { .reg .b32 %r<2>;\n.loc 1 10 3\n"
                ".loc 2 77 5, function_name $L__info_string0, inlined_at 1 10 3\n"
                "mov.u32 %r9, 1; ret; }",
           "line 7 of the PTX (your line 10): the simulator does not know the register %r9");
    refuse(HEAD ".entry k() { ret }", "an operand should stand here");
    refuse(HEAD ".entry k() { .reg .b32 %r<99999999>; ret; }", "registers in one function");
    refuse(HEAD ".entry k() { ret; } .entry k() { ret; }", "k is defined twice");
    refuse(HEAD ".global .texref t;", ".texref");
    refuse(".version 9.0\n.address_size 32\n", "64-bit addresses only");
    refuse(HEAD ".global .align 3 .u32 x;", "power of two");
    refuse(HEAD ".global .u32 x[2] = {1,2,3};", "more values");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_keep_their_shape),
        cmocka_unit_test(parameters_follow_the_abi),
        cmocka_unit_test(variables_have_places_and_values),
        cmocka_unit_test(lines_know_their_call_site),
        cmocka_unit_test(scopes_shadow),
        cmocka_unit_test(known_forms_are_exact),
        cmocka_unit_test(every_form_is_found),
        cmocka_unit_test(errors_name_the_place),
    };
    return cmocka_run_group_tests_name("ptx parse", tests, NULL, NULL);
}

/* What compilers say becomes a list: each format in use, columns from carets, ptxas's lines of PTX
 * mapped to the student's, set-up problems told from errors in the kernel. */
#include "harness/advice.h"
#include "harness/base/buf.h"
#include "harness/diagnostic.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

static struct diagnostics parse(const char *log)
{
    struct diagnostics list = {0};
    diagnostics_parse(&list, log, strlen(log));
    return list;
}

static void assert_item(const struct diagnostics *list, size_t index, enum severity severity,
                        unsigned line, unsigned column, const char *text)
{
    assert_true(index < list->count);
    const struct diagnostic *item = &list->items[index];
    assert_int_equal(item->severity, severity);
    assert_int_equal(item->line, line);
    assert_int_equal(item->column, column);
    assert_string_equal(item->text, text);
}

static void front_end_errors_have_line_and_column(void **state)
{
    (void)state;
    struct diagnostics list =
        parse("kernel.cu(5): error: expected a \";\"\n"
              "    foo(3);\n"
              "    ^\n"
              "\n"
              "kernel.cu(2): error: static assertion failed with \"bad N\"\n"
              "  template<int N> struct B {};\n"
              "                  ^\n"
              "          detected during instantiation of \"B<4>\" at line 6\n"
              "\n"
              "kernel.cu(6): warning #177-D: variable \"q\" was declared\n"
              "    int q;\n"
              "        ^\n"
              "\n"
              "Remark: The warnings can be suppressed with \"-diag...\"\n"
              "\n"
              "kernel.cu(9): catastrophic error: #error directive: stop\n"
              "  #error stop\n"
              "   ^\n"
              "\n"
              "2 errors detected in the compilation of \"kernel.cu\".\n"
              "Compilation terminated.\n");
    assert_int_equal(list.count, 4);
    assert_item(&list, 0, SEVERITY_ERROR, 5, 3, "expected a \";\"");
    assert_item(&list, 1, SEVERITY_ERROR, 2, 17,
                "static assertion failed with \"bad N\"\n"
                "detected during instantiation of \"B<4>\" at line 6");
    assert_item(&list, 2, SEVERITY_WARNING, 6, 7, "variable \"q\" was declared");
    assert_item(&list, 3, SEVERITY_ERROR, 9, 2, "#error directive: stop");
    assert_string_equal(list.items[0].file, "kernel.cu");
    assert_null(list.setup);
    diagnostics_free(&list);
}

static void notes_follow_their_error(void **state)
{
    (void)state;
    struct diagnostics list =
        parse("kernel.cu(5): error: no instance of overloaded function \"g\" matches\n"
              "            argument types are: (const char [2])\n"
              "    g(\"x\");\n"
              "    ^\n"
              "kernel.cu(2): note #3326-D: function \"g(float)\" does not match\n"
              "  void g(int);\n"
              "       ^\n");
    assert_int_equal(list.count, 2);
    assert_item(&list, 0, SEVERITY_ERROR, 5, 3,
                "no instance of overloaded function \"g\" matches\n"
                "argument types are: (const char [2])");
    assert_item(&list, 1, SEVERITY_NOTE, 2, 6, "function \"g(float)\" does not match");
    diagnostics_free(&list);
}

/* The compiler says no line; the brace that is open is the one to look at. */
static void a_missing_brace_is_an_error_with_a_line(void **state)
{
    (void)state;
    struct diagnostics list = parse("At end of source: error: expected a \";\"\n"
                                    "\n"
                                    "At end of source: error: expected a \"}\"\n"
                                    "kernel.cu(2): note #3196-D: to match this \"{\"\n"
                                    "  {\n"
                                    "  ^\n"
                                    "\n"
                                    "2 errors detected in the compilation of \"kernel.cu\".\n");
    assert_int_equal(list.count, 3);
    assert_item(&list, 0, SEVERITY_ERROR, 0, 0, "expected a \";\" at the end of the source");
    assert_item(&list, 1, SEVERITY_ERROR, 2, 0, "expected a \"}\" at the end of the source");
    assert_string_equal(list.items[1].file, "kernel.cu");
    assert_item(&list, 2, SEVERITY_NOTE, 2, 1, "to match this \"{\"");
    diagnostics_free(&list);
}

static void names_with_blanks_and_parentheses_stay_whole(void **state)
{
    (void)state;
    struct diagnostics list = parse("/tmp/my (old) résumé日本/kernel.cu(12): error: no\n");
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].file, "/tmp/my (old) résumé日本/kernel.cu");
    assert_int_equal(list.items[0].line, 12);
    diagnostics_free(&list);
}

static void a_warning_that_says_error_is_a_warning(void **state)
{
    (void)state;
    struct diagnostics list =
        parse("kernel.cu(4): warning #1105-D: #warning directive: \"error: not one\"\n"
              "nvcc warning : Support for offline compilation for architectures prior to "
              "'<compute/sm/lto>_75' will be removed\n"
              "ptxas info    : 16 bytes gmem\n"
              "ptxas info    : Compiling entry function 'k' for 'sm_90'\n"
              "    0 bytes stack frame, 28 bytes spill stores, 32 bytes spill loads\n"
              "ptxas info    : Used 255 registers, used 1 barriers, 8192 bytes smem\n");
    assert_int_equal(list.count, 2);
    assert_item(&list, 0, SEVERITY_WARNING, 4, 0, "#warning directive: \"error: not one\"");
    assert_int_equal(list.items[1].severity, SEVERITY_WARNING);
    assert_int_equal(list.spill_bytes, 60);
    diagnostics_free(&list);
}

static void ptxas_points_at_the_students_line(void **state)
{
    (void)state;
    static const char ptx[] = ".version 9.0\n"
                              ".visible .entry k(\n"
                              ")\n"
                              "{\n"
                              "\t.loc\t1 12 5\n"
                              "\t.loc\t1 30 9, function_name $L__info_string0, inlined_at 1 12 5\n"
                              "\tcp.asink;\n"
                              "\t.loc\t2 7 1, function_name $L__info_string1, inlined_at 1 13 5\n"
                              "\tcp.async.bad;\n"
                              "\t.loc\t2 8 1, function_name $L__info_string1, inlined_at 2 7 1\n"
                              "\tcp.async.worse;\n"
                              "}\n"
                              "\t.file\t1 \"/kernel.cu\"\n"
                              "\t.file\t2 \"/usr/include/cuda_pipeline.h\"\n";
    struct diagnostics list =
        parse("ptxas application ptx input, line 7; error   : Unknown modifier '.asink'\n"
              "ptxas kernel.ptx, line 9; error   : bad\n"
              "ptxas application ptx input, line 11; error   : worse\n"
              "ptxas application ptx input, line 9999; error   : nowhere\n"
              "ptxas fatal   : Ptx assembly aborted due to errors\n");
    diagnostics_map_ptx(&list, ptx, sizeof ptx - 1, "kernel.cu");
    assert_int_equal(list.count, 4);
    assert_item(&list, 0, SEVERITY_ERROR, 30, 0, "Unknown modifier '.asink'");
    assert_item(&list, 1, SEVERITY_ERROR, 13, 0, "bad");
    assert_item(&list, 2, SEVERITY_ERROR, 13, 0, "worse");
    assert_item(&list, 3, SEVERITY_ERROR, 0, 0, "nowhere");
    assert_string_equal(list.items[0].file, "kernel.cu");
    diagnostics_free(&list);
}

static void repeated_errors_are_said_once(void **state)
{
    (void)state;
    struct diagnostics list = parse("kernel.cu(5): error: bad\n"
                                    "kernel.cu(5): error: worse\n"
                                    "kernel.cu(5): error: bad\n"
                                    "kernel.cu(5): warning: bad\n"
                                    "kernel.cu(6): error: bad\n"
                                    "kernel.cu(5): error: worse\n");
    assert_int_equal(list.count, 6);
    diagnostics_drop_repeated(&list);
    assert_int_equal(list.count, 4);
    assert_item(&list, 0, SEVERITY_ERROR, 5, 0, "bad");
    assert_item(&list, 1, SEVERITY_ERROR, 5, 0, "worse");
    assert_item(&list, 2, SEVERITY_WARNING, 5, 0, "bad");
    assert_item(&list, 3, SEVERITY_ERROR, 6, 0, "bad");
    diagnostics_free(&list);
}

static void errors_without_a_line_find_the_name_they_quote(void **state)
{
    (void)state;
    struct diagnostics list = parse("ptxas fatal   : Unresolved extern function '_Z7missingf'\n");
    advice_add(&list, "// one\nfloat missing(float);\n", "kernel.cu");
    assert_int_equal(list.count, 1);
    assert_int_equal(list.items[0].line, 2);
    assert_string_equal(list.items[0].file, "kernel.cu");
    assert_non_null(strstr(list.items[0].text, "\n")); /* with advice */
    diagnostics_free(&list);
}

static void a_semicolon_missing_in_asm_is_guessed(void **state)
{
    (void)state;
    struct diagnostics list =
        parse("ptxas application ptx input, line 41; fatal   : Parsing error near '.loc': syntax "
              "error\n");
    advice_add(&list, "", "kernel.cu");
    assert_int_equal(list.count, 1);
    assert_non_null(strstr(list.items[0].text, "ends with a ';'"));
    diagnostics_free(&list);
}

/* Students cannot set one, so none is recommended. */
static void no_option_of_the_compiler_is_recommended(void **state)
{
    (void)state;
    static const struct {
        const char *log, *starts, *says;
    } cases[] = {
        {"A function without execution space annotations (__host__/__device__/__global__) is "
         "considered a host function, and host functions are not allowed in JIT mode. Consider "
         "using -default-device flag to process unannotated functions as __device__ functions",
         "this function has no __device__", "no host here"},
        {"A namespace scope variable without memory space annotations is considered a host "
         "variable, and host variables are not allowed in JIT mode. Consider using -default-device "
         "flag to process unannotated namespace scope variables as __device__ variables",
         "this variable has no __device__", "no host here"},
        {"A class static data member with non-const type is considered a host variable, and host "
         "variables are not allowed in JIT mode. Consider using -default-device flag to process "
         "such data members as __device__ variables in JIT mode",
         "this variable has no __device__", "no host here"},
        {"The execution space for the lambda closure class members was inferred to be __host__ "
         "(based on context). This is not allowed in JIT mode. Consider using -default-device to "
         "infer __device__ execution space for namespace scope lambda closure classes.",
         "a lambda that stands outside every function", "inside the kernel"},
        {"__host__ or __device__ annotation on lambda requires --extended-lambda nvcc flag",
         "a lambda in device code needs no __device__", "take it away"},
        {"The closure type for a lambda (\"lambda [](int)->int\", defined at c.cu:7) cannot be "
         "used "
         "in the template argument type of a __global__ function template instantiation, unless "
         "the lambda is defined within a __device__ or __global__ function, or the flag "
         "'-extended-lambda' is specified and the lambda is an extended lambda",
         "The closure type for a lambda (\"lambda [](int)->int\", defined at c.cu:7)",
         "template instantiation\nA lambda for a kernel needs __device__"},
        {"calling a constexpr __host__ function(\"max\") from a __global__ function(\"k\") is not "
         "allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.",
         "calling a constexpr __host__ function(\"max\")", "is not allowed\nWrite __device__"},
        {"calling a constexpr __device__ function(\"f\") from a __host__ function(\"h\") is not "
         "allowed. The experimental flag '--expt-relaxed-constexpr' can be used to allow this.",
         "calling a constexpr __device__ function(\"f\")",
         "is not allowed\nWrite __host__ __device__"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *log = mem_printf("kernel.cu(3): error: %s\n", cases[i].log);
        struct diagnostics list = parse(log);
        advice_add(&list, "", "kernel.cu");
        assert_int_equal(list.count, 1);
        const char *text = list.items[0].text;
        if (strncmp(text, cases[i].starts, strlen(cases[i].starts)) != 0 ||
            !strstr(text, cases[i].says) || strstr(text, "flag") || strstr(text, "extended-lambda"))
            fail_msg("%s", text);
        diagnostics_free(&list);
        free(log);
    }
}

/* Such a line does not call itself an error. */
static void a_compiler_without_memory_is_an_error(void **state)
{
    (void)state;
    static const char *const logs[] = {
        "\ncc1plus: out of memory allocating 4294967312 bytes after a total of 2146304 bytes\n",
        "k.cu(1): catastrophic error: out of memory\n  #include \"big.h\"\n  ^\n\n",
        "terminate called after throwing an instance of 'std::bad_alloc'\n",
    };
    for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
        struct diagnostics list = parse(logs[i]);
        advice_add(&list, "", "kernel.cu");
        assert_int_equal(list.count, 1);
        assert_int_equal(list.items[0].severity, SEVERITY_ERROR);
        assert_non_null(strstr(list.items[0].text, "4 GiB of memory here"));
        diagnostics_free(&list);
    }
}

static void host_compilers_are_understood(void **state)
{
    (void)state;
    struct diagnostics list =
        parse("kernel.cu:12:5: error: expected ';' before 'x'\n"
              "   12 |     int x\n"
              "      |     ^~~\n"
              "nvcc fatal   : Unsupported gpu architecture 'compute_999'\n"
              "/usr/include/crt/host_config.h:143:2: error: #error -- unsupported GNU version! gcc "
              "versions later than 15 are not supported!\n");
    assert_int_equal(list.count, 3);
    assert_string_equal(list.items[0].text, "expected ';' before 'x'");
    assert_int_equal(list.items[0].line, 12);
    assert_int_equal(list.items[0].column, 5);
    assert_string_equal(list.items[1].text, "Unsupported gpu architecture 'compute_999'");
    assert_non_null(list.setup);
    assert_non_null(strstr(list.setup, "unsupported GNU version"));
    diagnostics_free(&list);
}

static void floods_and_controls_are_tamed(void **state)
{
    (void)state;
    struct diagnostics list = {0};
    static const char line[] = "k.cu(1): error: \033[31mred\033[0m\n";
    for (int i = 0; i < 500; i++)
        diagnostics_parse(&list, line, sizeof line - 1);
    assert_int_equal(list.count, DIAGNOSTICS_MOST);
    assert_true(list.cut);
    assert_string_equal(list.items[0].text, "red");
    json_t *json = diagnostics_json(&list);
    assert_int_equal(json_array_size(json), DIAGNOSTICS_MOST);
    json_decref(json);
    diagnostics_drop_below(&list, "k.cu"); /* errors stay wherever they are */
    assert_int_equal(list.count, DIAGNOSTICS_MOST);
    diagnostics_free(&list);
    list = parse(
        "/cuda/include/x.h(3): warning #1-D: theirs\n/cuda/include2/x.h(3): warning #1-D: mine\n");
    diagnostics_drop_below(&list, "/cuda/include");
    assert_int_equal(list.count, 1);
    assert_string_equal(list.items[0].text, "mine");
    diagnostics_free(&list);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(front_end_errors_have_line_and_column),
        cmocka_unit_test(notes_follow_their_error),
        cmocka_unit_test(a_missing_brace_is_an_error_with_a_line),
        cmocka_unit_test(names_with_blanks_and_parentheses_stay_whole),
        cmocka_unit_test(a_warning_that_says_error_is_a_warning),
        cmocka_unit_test(ptxas_points_at_the_students_line),
        cmocka_unit_test(repeated_errors_are_said_once),
        cmocka_unit_test(errors_without_a_line_find_the_name_they_quote),
        cmocka_unit_test(a_semicolon_missing_in_asm_is_guessed),
        cmocka_unit_test(no_option_of_the_compiler_is_recommended),
        cmocka_unit_test(a_compiler_without_memory_is_an_error),
        cmocka_unit_test(host_compilers_are_understood),
        cmocka_unit_test(floods_and_controls_are_tamed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

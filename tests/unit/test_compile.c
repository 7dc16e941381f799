/* The compiler itself, where NVRTC is on this machine: the lab's own kernels, complaints at the
 * right line, headers that students include, and what must not be compiled. Skipped without NVRTC.
 */
#include "harness/base/file.h"
#include "harness/compile.h"
#include "harness/cubin.h"
#include "harness/disasm.h"
#include "harness/entry.h"
#include "harness/landmark.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY  "asyncTransformTiles"
#define KERNEL "extern \"C\" __global__ void " ENTRY "(const float *input, float *output)\n"

static struct toolkit toolkit;
static struct compiler compiler;
static bool can_compile;
static char folder[64], *source_path, *root;

static int set_up(void **state)
{
    (void)state;
    struct err err = {0};
    root = realpath(".", NULL);
    toolkit_find(&toolkit, root, "");
    can_compile = compiler_open(&compiler, &toolkit, root, "cp-async", 90, &err);
    if (!can_compile)
        print_message("no compiler: %s\n", err.text);
    snprintf(folder, sizeof folder, "/tmp/stride résumé 日本-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    source_path = path_join(folder, "kernel.cu");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char *command[] = {"own.h", "lab.h", "kernel.cu"};
    for (int i = 0; i < 3; i++) {
        char *path = path_join(folder, command[i]);
        unlink(path);
        free(path);
    }
    rmdir(folder);
    free(source_path);
    free(root);
    if (can_compile)
        compiler_close(&compiler);
    toolkit_free(&toolkit);
    return 0;
}

static void write_file(const char *name, const char *text, size_t len)
{
    char *path = path_join(folder, name);
    assert_true(file_write(path, text, len, false, NULL));
    free(path);
}

static struct build compile_text(const char *text)
{
    struct build build;
    struct err err = {0};
    write_file("kernel.cu", text, strlen(text));
    if (!compiler_build(&compiler, &build, source_path, NULL, "kernel.cu", &err))
        fail_msg("%s", err.text);
    return build;
}

static struct build compile_own(const char *file)
{
    struct build build;
    struct err err = {0};
    char *path = mem_printf("%s/kernels/cp-async/%s", root, file);
    if (!compiler_build(&compiler, &build, path, NULL, file, &err))
        fail_msg("%s", err.text);
    free(path);
    return build;
}

#define NEED_NVRTC()                                                                               \
    do {                                                                                           \
        if (!can_compile)                                                                          \
            skip();                                                                                \
    } while (0)

/* The first error. */
static const struct diagnostic *first_error(const struct build *build)
{
    for (size_t i = 0; i < build->diagnostics.count; i++)
        if (build->diagnostics.items[i].severity == SEVERITY_ERROR)
            return &build->diagnostics.items[i];
    fail_msg("no error was reported");
    return NULL;
}

static void own_kernels_compile_and_differ_in_landmarks(void **state)
{
    (void)state;
    NEED_NVRTC();
    static const char *const files[] = {"starter.cu", "baseline.cu", "solution.cu"};
    for (size_t i = 0; i < 3; i++) {
        struct build build = compile_own(files[i]);
        assert_true(build.ok);
        assert_int_equal(build.diagnostics.count, 0); /* not even a warning */
        unsigned copies = landmark_count(buf_str(&build.ptx), build.ptx.len, "cp.async.cg");
        assert_int_equal(copies > 0, i == 2);
        struct cubin_kernel kernel;
        struct err err = {0};
        assert_true(cubin_read(&kernel, build.cubin.data, build.cubin.len, ENTRY, 90, &err));
        assert_in_range(kernel.registers, 8, 255);
        assert_int_equal(kernel.shared_bytes, i == 2 ? 8192 : 4096);
        assert_int_equal(kernel.local_bytes, 0);
        assert_true(kernel.code_bytes > 0 && kernel.code_bytes % 16 == 0);
        build_free(&build);
    }
}

static void machine_code_is_listed_with_lines(void **state)
{
    (void)state;
    NEED_NVRTC();
    struct disasm disasm;
    struct err err = {0};
    struct build build = compile_own("solution.cu");
    if (!disasm_start(&disasm, &toolkit, build.cubin.data, build.cubin.len, &err)) {
        assert_non_null(strstr(err.text, "nvdisasm")); /* says how to get it */
        build_free(&build);
        skip();
    }
    struct buf listing = {0};
    if (!disasm_finish(&disasm, &listing, &err))
        fail_msg("%s", err.text);
    assert_true(landmark_count(buf_str(&listing), listing.len, "LDGSTS") >= 2);
    assert_true(landmark_count(buf_str(&listing), listing.len, "EXIT") >= 1);
    assert_non_null(strstr(buf_str(&listing), "solution.cu\", line "));
    buf_free(&listing);
    build_free(&build);
}

static void damaged_machine_code_is_an_error_with_a_reason(void **state)
{
    (void)state;
    NEED_NVRTC();
    struct disasm disasm;
    struct err err = {0};
    if (!disasm_start(&disasm, &toolkit, "not a cubin", 11, &err))
        skip();
    struct buf listing = {0};
    assert_false(disasm_finish(&disasm, &listing, &err));
    assert_non_null(strstr(err.text, "failed"));
    buf_free(&listing);
}

static void complaints_stand_at_the_students_line(void **state)
{
    (void)state;
    NEED_NVRTC();
    static const struct {
        const char *body;
        unsigned line;
        const char *text;
    } cases[] = {
        {"{\n    output[0] = input[0]\n}\n", 4, "expected a \";\""},
        {"{\n#error stop\n}\n", 3, "stop"},
        {"{\n    asm volatile(\"cp.asink;\");\n    output[0] = 1;\n}\n", 3, "asink"},
        {"{\n\n    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 8;\" :: \"r\"(3), "
         "\"l\"(input));\n}\n",
         4, "expected to be 16"},
        {"{\n    extern __device__ float missing(float);\n    output[0] = missing(1);\n}\n", 3,
         "missing"},
        {"{\n    __shared__ float big[100000];\n    big[threadIdx.x] = 1;\n    __syncthreads();\n"
         "    output[0] = big[threadIdx.x ^ 1];\n}\n",
         1, "too much shared data"},
        {"{\n    auto twice = [] __device__(float x) { return 2 * x; };\n"
         "    output[0] = twice(input[0]);\n}\n",
         3, "needs no __device__"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *text = mem_printf(KERNEL "%s", cases[i].body);
        struct build build = compile_text(text);
        assert_false(build.ok);
        const struct diagnostic *error = first_error(&build);
        if (error->line != cases[i].line || !strstr(error->text, cases[i].text))
            fail_msg("case %zu: line %u: %s", i, error->line, error->text);
        assert_string_equal(error->file, "kernel.cu");
        build_free(&build);
        free(text);
    }
}

static void warnings_do_not_fail_a_build(void **state)
{
    (void)state;
    NEED_NVRTC();
    struct build build =
        compile_text("#warning error: no\n" KERNEL "{ int unused; output[0] = 1; }\n");
    assert_true(build.ok);
    assert_int_equal(build.diagnostics.count, 2);
    assert_int_equal(build.diagnostics.items[0].severity, SEVERITY_WARNING);
    build_free(&build);
}

static void headers_of_students_compile(void **state)
{
    (void)state;
    NEED_NVRTC();
    write_file("own.h", "#define OWN 3\n", 14);
    struct build build = compile_text(
        "\xef\xbb\xbf#include <stdint.h>\r\n#include <stdio.h>\r\n#include <cstdint>\n#include "
        "<limits.h>\n"
        "#include <math.h>\n#include <cuda_fp16.h>\n#include <cuda_bf16.h>\n#include <mma.h>\n"
        "#include <cuda_pipeline.h>\n#include <cooperative_groups.h>\n#include <cuda/barrier>\n"
        "#include <cuda/std/cstdint>\n#include <cuda/std/climits>\n#include \"own.h\"\n" KERNEL
        "{ uint8_t a = UINT8_MAX; int64_t b = INT64_MAX; size_t c = OWN;\n"
        "  output[0] = (float)a + (float)b + (float)c + INT_MAX + (float)M_PI; printf(\"%d\\n\", "
        "1); }\n");
    for (size_t i = 0; i < build.diagnostics.count; i++)
        print_message("%s\n", build.diagnostics.items[i].text);
    assert_true(build.ok);
    assert_int_equal(build.diagnostics.count, 0);
    build_free(&build);
}

static void the_labs_own_header_wins(void **state)
{
    (void)state;
    NEED_NVRTC();
    write_file("lab.h", "#error evil\n", 12);
    struct build build =
        compile_text("#include \"lab.h\"\n" KERNEL "{ output[0] = kAsyncTileElements; }\n");
    assert_true(build.ok);
    assert_int_equal(build.diagnostics.count, 1);
    assert_string_equal(build.diagnostics.items[0].file, "lab.h");
    build_free(&build);
    char *path = path_join(folder, "lab.h");
    unlink(path);
    free(path);
}

static void a_wrong_entry_says_what_is_expected(void **state)
{
    (void)state;
    NEED_NVRTC();
    static const struct {
        const char *source, *text;
    } cases[] = {
        {"", "there is no kernel"},
        {"// " ENTRY "\nextern \"C\" __global__ void other() {}\n", "there is no kernel"},
        {"__global__ void " ENTRY "(const float *a, float *b) { *b = *a; }\n", "extern \"C\""},
        {"extern \"C\" __global__ void " ENTRY "(const float *a, float *b, int n) { b[n] = *a; }\n",
         "parameters"},
        {"extern \"C\" __global__ void " ENTRY "(const float *a, int n) { }\n", "parameters"},
        {"extern \"C\" __global__ void " ENTRY "() { }\n", "parameters"},
    };
    struct build model = compile_own("solution.cu");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct build build = compile_text(cases[i].source);
        entry_check(&build, ENTRY, &model);
        assert_false(build.ok);
        const char *text = first_error(&build)->text;
        if (!strstr(text, cases[i].text) || !strstr(text, "extern \"C\" __global__ void " ENTRY
                                                          "(const float *input, float *output)"))
            fail_msg("case %zu: %s", i, text);
        build_free(&build);
    }
    struct build fine = compile_own("starter.cu");
    entry_check(&fine, ENTRY, &model);
    assert_true(fine.ok);
    build_free(&fine);
    build_free(&model);
}

static void nvcc_stands_in_for_nvrtc(void **state)
{
    (void)state;
    struct compiler other;
    struct toolkit without = toolkit; /* borrows its strings */
    struct err err = {0};
    without.parts[PART_NVRTC] = NULL;
    if (!toolkit.parts[PART_NVCC]) {
        assert_false(compiler_open(&other, &without, root, "cp-async", 90, &err));
        assert_non_null(strstr(err.text, "make deps")); /* says how to get a compiler */
        skip();
    }
    assert_true(compiler_open(&other, &without, root, "cp-async", 90, &err));
    assert_true(other.by_nvcc && other.note);
    struct build build;
    static const char text[] = "#include \"lab.h\"\n" KERNEL
                               "{\n    asm volatile(\"cp.asink;\");\n    output[0] = 1;\n}\n";
    write_file("kernel.cu", text, sizeof text - 1);
    assert_true(compiler_build(&other, &build, source_path, NULL, "kernel.cu", &err));
    if (build.diagnostics.setup) { /* this machine's g++ is too new for its nvcc */
        build_free(&build);
        compiler_close(&other);
        skip();
    }
    assert_false(build.ok);
    assert_int_equal(first_error(&build)->line, 4);
    build_free(&build);
    char *path = mem_printf("%s/kernels/cp-async/solution.cu", root);
    assert_true(compiler_build(&other, &build, path, NULL, "solution.cu", &err));
    assert_true(build.ok);
    assert_int_equal(build.diagnostics.count, 0);
    struct cubin_kernel kernel;
    assert_true(cubin_read(&kernel, build.cubin.data, build.cubin.len, ENTRY, 90, &err));
    assert_int_equal(kernel.shared_bytes, 8192);
    build_free(&build);
    free(path);
    compiler_close(&other);
}

/* An nvcc that answers questions and then does `command`. */
static struct build compile_with_fake(const char *command)
{
    struct compiler other;
    struct build build;
    struct err err = {0};
    char *script =
        mem_printf("#!/bin/sh\ncase $1 in --version) echo release 13.0,;; --list-gpu-arch) "
                   "echo compute_90;; *) %s;; esac\n",
                   command);
    write_file("nvcc", script, strlen(script));
    char *path = path_join(folder, "nvcc");
    assert_int_equal(chmod(path, 0755), 0);
    struct toolkit fake = {.parts = {[PART_NVCC] = path, [PART_PTXAS] = path}};
    assert_true(compiler_open(&other, &fake, root, "cp-async", 90, &err));
    write_file("kernel.cu", KERNEL "{}\n", strlen(KERNEL "{}\n"));
    assert_true(compiler_build(&other, &build, source_path, NULL, "kernel.cu", &err));
    compiler_close(&other);
    unlink(path);
    free(path);
    free(script);
    return build;
}

static void a_silent_compiler_is_given_words(void **state)
{
    (void)state;
    struct build build = compile_with_fake("exit 1");
    assert_false(build.ok);
    assert_string_equal(first_error(&build)->text, "compiler failed without a message (status 1)");
    build_free(&build);
    build = compile_with_fake("echo 'only talk about an error' >&2; exit 0");
    assert_true(build.ok);
    build_free(&build);
}

static void a_host_compiler_that_is_too_new_is_a_set_up_problem(void **state)
{
    (void)state;
    struct build build = compile_with_fake(
        "echo '/x/host_config.h:1:2: error: #error -- unsupported GNU version! gcc versions later "
        "than 15 are not supported!' >&2; exit 1");
    assert_non_null(build.diagnostics.setup);
    assert_non_null(strstr(build.diagnostics.setup, "NVCC_CCBIN"));
    build_free(&build);
}

static void large_headers_are_read_once_and_leave_nothing(void **state)
{
    (void)state;
    NEED_NVRTC();
    struct headers headers;
    struct compiler_abilities old = {.major = 12, .minor = 4}, new = {.major = 13};
    setenv("TMPDIR", folder, 1);
    char *left =
        mem_printf("%s/stride-harness-%d-killed", folder, 0x3fffffff); /* no such process */
    assert_int_equal(mkdir(left, 0700), 0);
    headers_open(&headers, &new, "#include <mma.h>\n#include <cuda/std/cstdint>\n");
    assert_null(headers.folder);
    headers_open(&headers, &old, "#include <cuda/pipeline>\n");
    assert_null(headers.folder);
    headers_open(&headers, &new, "#include \"lab.h\"\n#include <cuda/pipeline>\n");
    assert_false(file_is_dir(left)); /* what a killed child left is gone */
    free(left);
    if (headers.folder) { /* NULL on a full disk */
        assert_true(file_is_dir(headers.folder));
        char *image = path_join(headers.folder, "kernel_0.pch"), *gone = mem_strdup(headers.folder);
        assert_true(file_write(image, "x", 1, false, NULL));
        headers_close(&headers);
        assert_false(file_is_dir(gone));
        free(image);
        free(gone);
    }
    unsetenv("TMPDIR");
}

static void what_is_no_text_is_refused(void **state)
{
    (void)state;
    NEED_NVRTC();
    struct build build;
    struct err err = {0};
    write_file("kernel.cu", "a\0b", 3);
    assert_true(compiler_build(&compiler, &build, source_path, NULL, "kernel.cu", &err));
    assert_false(build.ok);
    build_free(&build);
    unlink(source_path);
    assert_true(compiler_build(&compiler, &build, source_path, NULL, "kernel.cu", &err));
    assert_false(build.ok);
    assert_non_null(strstr(first_error(&build)->text, "No such file"));
    build_free(&build);
}

static void the_architecture_fits_device_and_compiler(void **state)
{
    (void)state;
    struct compiler_abilities abilities = {
        .major = 12, .minor = 4, .archs = {75, 80, 86, 90}, .arch_count = 4};
    static const struct {
        int capability;
        const char *arch;
    } cases[] = {{0, "sm_90"},  {75, "sm_75"}, {80, "sm_80"},       {87, "sm_86"},
                 {90, "sm_90"}, {61, NULL},    {100, "compute_90"}, {121, "compute_90"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char arch[16];
        struct err err = {0};
        bool found = compiler_pick_arch(&abilities, cases[i].capability, arch, &err);
        if (cases[i].arch)
            assert_string_equal(found ? arch : err.text, cases[i].arch);
        else
            assert_non_null(strstr(err.text, "no longer supports"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_kernels_compile_and_differ_in_landmarks),
        cmocka_unit_test(machine_code_is_listed_with_lines),
        cmocka_unit_test(damaged_machine_code_is_an_error_with_a_reason),
        cmocka_unit_test(complaints_stand_at_the_students_line),
        cmocka_unit_test(warnings_do_not_fail_a_build),
        cmocka_unit_test(headers_of_students_compile),
        cmocka_unit_test(the_labs_own_header_wins),
        cmocka_unit_test(a_wrong_entry_says_what_is_expected),
        cmocka_unit_test(nvcc_stands_in_for_nvrtc),
        cmocka_unit_test(a_silent_compiler_is_given_words),
        cmocka_unit_test(a_host_compiler_that_is_too_new_is_a_set_up_problem),
        cmocka_unit_test(large_headers_are_read_once_and_leave_nothing),
        cmocka_unit_test(what_is_no_text_is_refused),
        cmocka_unit_test(the_architecture_fits_device_and_compiler),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

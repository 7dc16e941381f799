/* Shared objects by nvcc: built, taken from the cache, refused with the student's line, and
 * machines that cannot build told apart from sources that are wrong. Needs nvcc and g++. */
#include "harness/base/file.h"
#include "harness/host_build.h"
#include "harness/scratch.h"

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

static struct toolkit toolkit;
static char *root; /* has a blank and letters beyond ASCII */
static bool can;

static const char good[] = "#include \"lab.h\"\n"
                           "__global__ void scale(float *x) { x[threadIdx.x] *= 2.f; }\n"
                           "extern \"C\" void tRun(struct TWork *work)\n"
                           "{\n"
                           "    scale<<<1, 32>>>(work->data);\n"
                           "}\n"
                           "extern \"C\" void tOpen(struct TWork *) {}\n"
                           "extern \"C\" void tClose(struct TWork *) {}\n";

static char *put(const char *name, const char *text)
{
    char *path = path_join(root, name);
    struct err err = {0};
    if (!file_write(path, text, strlen(text), false, &err))
        fail_msg("%s", err.text);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    char *scratch = scratch_make(NULL);
    root = mem_printf("%s/a résumé 日本", scratch);
    setenv("XDG_CACHE_HOME", scratch, 1);
    free(scratch);
    char *folder = mem_printf("%s/kernels/t", root);
    file_make_dirs(folder, NULL);
    free(folder);
    free(put("kernels/t/lab.h", "struct TWork { float *data; };\n"));
    setenv("TMPDIR", root, 1);
    toolkit_find(&toolkit, ".", "");
    can =
        toolkit.parts[PART_NVCC] && toolkit.parts[PART_PTXAS] && access("/usr/bin/g++", X_OK) == 0;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    char *command = mem_printf("rm -rf '%s'", getenv("XDG_CACHE_HOME"));
    int status = system(command);
    free(command);
    free(root);
    toolkit_free(&toolkit);
    return status;
}

static struct host_builder open_builder(void)
{
    struct host_builder builder;
    struct err err = {0};
    if (!can)
        skip();
    if (!host_builder_open(&builder, &toolkit, root, "t", "tRun", 80, &err))
        fail_msg("%s", err.text);
    return builder;
}

static struct host_build make(const struct host_builder *builder, const char *source)
{
    struct host_build build;
    struct err err = {0};
    char *path = put("kernel.cu", source);
    if (!host_build_make(builder, &build, path, NULL, "kernel.cu", &err))
        fail_msg("%s", err.text);
    free(path);
    return build;
}

static void an_object_is_built_once(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    setenv("NVCC_APPEND_FLAGS", "--nonsense", 1);
    setenv("NVCC_PREPEND_FLAGS", "-O0 --nonsense", 1);
    struct host_build first = make(&builder, good), second = make(&builder, good);
    unsetenv("NVCC_APPEND_FLAGS");
    unsetenv("NVCC_PREPEND_FLAGS");
    assert_true(first.build.ok);
    assert_false(first.cached);
    assert_true(second.build.ok);
    assert_true(second.cached);
    assert_true(file_exists(second.object));
    assert_true(file_exists(second.lines));
    assert_string_equal(first.build.arch, "sm_80");
    assert_non_null(strstr(buf_str(&second.build.ptx), ".entry"));
    assert_non_null(strstr(buf_str(&second.build.ptx), "\"/kernel.cu\""));
    assert_null(strstr(buf_str(&second.build.ptx), root));
    assert_memory_equal(second.build.cubin.data, "\177ELF", 4);
    host_build_free(&first);
    host_build_free(&second);
    host_builder_close(&builder);
}

static void without_a_cache_the_object_lives_as_long_as_its_build(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    char *place = mem_strdup(getenv("XDG_CACHE_HOME")), *file = put("file", "");
    setenv("XDG_CACHE_HOME", file, 1);
    struct host_build build = make(&builder, good);
    assert_true(build.build.ok);
    char *object = mem_strdup(build.object);
    assert_true(file_exists(object));
    host_build_free(&build);
    assert_false(file_exists(object));
    setenv("XDG_CACHE_HOME", place, 1);
    free(object);
    free(place);
    free(file);
    host_builder_close(&builder);
}

static const struct diagnostic *first_error(const struct host_build *build)
{
    for (size_t i = 0; i < build->build.diagnostics.count; i++)
        if (build->build.diagnostics.items[i].severity == SEVERITY_ERROR)
            return &build->build.diagnostics.items[i];
    fail_msg("no error was reported");
    return NULL;
}

/* With the option that nvcc wants for them, which other sources do without: it costs time. */
static void lambdas_for_the_device_are_built(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    char *text = mem_printf(
        "template <class F> __global__ void each(float *x, F f) { x[threadIdx.x] = f(x[0]); }\n"
        "void go(float *x) { each<<<1, 32>>>(x, [] __device__(float y) { return 2 * y; }); }\n%s",
        good);
    struct host_build build = make(&builder, text);
    free(text);
    if (!build.build.ok)
        fail_msg("%s", build.build.diagnostics.items[0].text);
    assert_int_equal(build.build.diagnostics.count, 0);
    host_build_free(&build);
    text =
        mem_printf("#ifdef __CUDACC_EXTENDED_LAMBDA__\n#error it has the option\n#endif\n%s", good);
    build = make(&builder, text);
    free(text);
    assert_true(build.build.ok);
    host_build_free(&build);
    host_builder_close(&builder);
}

static void complaints_name_the_line(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    /* The first is the front end's, the second the host compiler's own, the third the
     * preprocessor's. */
    static const struct {
        const char *source;
        unsigned line;
        const char *text;
    } cases[] = {
        {"#include <vector>\nvoid f()\n{\n    std::vector<int> v;\n    v.foo();\n}\n", 5, "foo"},
        {"\n__attribute__((target(\"nonsense\"))) void h() {}\n", 2, "nonsense"},
        {"#include \"missing.h\"\n", 1, "missing.h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct host_build build = make(&builder, cases[i].source);
        assert_false(build.build.ok);
        assert_null(build.build.diagnostics.setup);
        assert_null(build.object);
        const struct diagnostic *error = first_error(&build);
        assert_int_equal(error->line, cases[i].line);
        assert_string_equal(error->file, "kernel.cu");
        assert_non_null(strstr(error->text, cases[i].text));
        host_build_free(&build);
    }
    struct host_build warned =
        make(&builder, "extern \"C\" { void tOpen(void *) { int unused; }\n#warning error: no\n"
                       "void tRun(void *) {}\nvoid tClose(void *) {} }\n");
    assert_true(warned.build.ok);
    assert_true(warned.build.diagnostics.count >= 2);
    host_build_free(&warned);
    host_builder_close(&builder);
}

static void missing_functions_are_named(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    struct host_build build = make(&builder, "extern \"C\" { void tRun(void *) {}\n"
                                             "static void tClose(void *) {} }\n");
    assert_false(build.build.ok);
    assert_int_equal(build.build.diagnostics.items[0].severity, SEVERITY_WARNING); /* unused */
    const struct diagnostic *error = first_error(&build);
    assert_non_null(strstr(error->text, "tOpen"));
    error++;
    assert_non_null(strstr(error->text, "tClose"));
    assert_int_equal(error->line, 2);
    host_build_free(&build);
    host_builder_close(&builder);
}

static void own_headers_are_found_and_never_cached(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    static const char source[] = "#include \"own.h\"\nextern \"C\" { int f() { return OWN; }\n"
                                 "void tOpen() {}\nvoid tRun() {}\nvoid tClose() {} }\n";
    for (int i = 0; i < 2; i++) {
        free(put("own.h", i ? "#define OWN oops\n" : "#define OWN 1\n"));
        struct host_build build = make(&builder, source);
        assert_int_equal(build.build.ok, i == 0);
        assert_false(build.cached);
        host_build_free(&build);
    }
    host_builder_close(&builder);
}

static void a_machine_that_cannot_is_not_the_students_fault(void **state)
{
    (void)state;
    struct host_builder builder = open_builder();
    char *wrapper = put("g++-99", "#!/bin/sh\nexec /usr/bin/g++ -D__GNUC__=99 \"$@\"\n");
    chmod(wrapper, 0755);
    setenv("NVCC_CCBIN", wrapper, 1);
    struct host_build build = make(&builder, good);
    assert_false(build.build.ok);
    assert_non_null(build.build.diagnostics.setup);
    assert_non_null(strstr(build.build.diagnostics.setup, "NVCC_CCBIN"));
    assert_non_null(strstr(build.build.diagnostics.setup, "unsupported GNU version"));
    host_build_free(&build);
    setenv("NVCC_CCBIN", "/nonexistent/g++", 1);
    build = make(&builder, good);
    assert_non_null(build.build.diagnostics.setup);
    host_build_free(&build);
    unsetenv("NVCC_CCBIN");
    free(wrapper);
    host_builder_close(&builder);
    struct toolkit empty = {0};
    struct err err = {0};
    assert_false(host_builder_open(&builder, &empty, root, "t", "tRun", 0, &err));
    assert_non_null(strstr(err.text, "make deps"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_object_is_built_once),
        cmocka_unit_test(without_a_cache_the_object_lives_as_long_as_its_build),
        cmocka_unit_test(lambdas_for_the_device_are_built),
        cmocka_unit_test(complaints_name_the_line),
        cmocka_unit_test(missing_functions_are_named),
        cmocka_unit_test(own_headers_are_found_and_never_cached),
        cmocka_unit_test(a_machine_that_cannot_is_not_the_students_fault),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/* NVIDIA's libraries beside a kernel: compiled once by an nvcc of the test's own, timed on the
 * kernel's buffers, and missing in all the ways in which they can be missing. */
#define CARD_NUMBER 0x7c
#include "fake_driver.h"

#include "harness/base/file.h"
#include "harness/cublas.h"
#include "harness/gemm.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/stat.h>

/* A call takes 0.8 ms on the test's clock, which the stream points at. It touches both ends of
 * what it is given. */
static const char fake_cub[] =
    "#include <stdlib.h>\n"
    "int peer(void *scratch, size_t *bytes, const float *in, float *out, size_t n, void *stream)\n"
    "{\n"
    "    const char *refuse = getenv(\"FAKE_CUB_REFUSES\");\n"
    "    if (refuse)\n"
    "        return atoi(refuse);\n"
    "    if (!scratch)\n"
    "        return *bytes = 64, 0;\n"
    "    ((char *)scratch)[*bytes - 1] = 1;\n"
    "    out[0] = in[0] + in[n - 1];\n"
    "    *(double *)stream += 0.8;\n"
    "    return 0;\n"
    "}\n";

static const char compiler[] = "#!/bin/sh\n"
                               "here=$(dirname \"$0\")\n"
                               "test -f \"$here/slow\" && exec sleep 60\n"
                               "test -f \"$here/broken\" && {\n"
                               "    echo 'x.cuh(3): error: no such thing' >&2; exit 2; }\n"
                               "test -s \"$9\" || exit 3\n"
                               "test -f \"$here/floods\" && yes 'a warning' | head -c 30000000\n"
                               "test -f \"$here/forks\" && sleep 5 &\n"
                               "test -f \"$here/dies\" && kill -9 $$\n"
                               "test -f \"$here/scribbles\" && { echo x >\"$8\"; exit 0; }\n"
                               "test -f \"$here/forgets\" && exit 0\n"
                               "exec cc -shared -fPIC -o \"$8\" \"$here/fake.c\"\n";

static struct {
    char *folder;
    struct toolkit toolkit;
} here;

static char *put(const char *name, const char *text, bool runs)
{
    struct err err = {0};
    char *path = path_join(here.folder, name);
    if (!file_write(path, text, strlen(text), false, &err))
        fail_msg("%s", err.text);
    assert_int_equal(chmod(path, runs ? 0755 : 0644), 0);
    return path;
}

static int open_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/stride-test-peer-XXXXXX";
    assert_non_null(mkdtemp(folder));
    here.folder = mem_strdup(folder);
    for (const char *const *name = (const char *const[]){"kernels", "kernels/x", "cache", NULL};
         *name; name++) {
        char *path = path_join(folder, *name);
        assert_int_equal(mkdir(path, 0755), 0);
        free(path);
    }
    free(put("kernels/x/cub.cu", "// some source\n", false));
    free(put("fake.c", fake_cub, false));
    here.toolkit.parts[PART_NVCC] = put("nvcc", compiler, true);
    char *cache = path_join(folder, "cache");
    setenv("XDG_CACHE_HOME", cache, 1);
    free(cache);
    return 0;
}

static int close_folder(void **state)
{
    free((char *)(uintptr_t)here.toolkit.parts[PART_NVCC]);
    here.toolkit.parts[PART_NVCC] = NULL;
    file_remove_folder(here.folder);
    free(here.folder);
    unsetenv("FAKE_CUB_REFUSES");
    return remove_lock(state);
}

static struct timing_result time_beside(struct cub_build *build)
{
    struct lab with_peer = *lab();
    with_peer.peer = LAB_PEER_CUB;
    struct setup setup = usual;
    setup.lab = &with_peer;
    setup.peers.cub = build;
    return time_it(&setup);
}

static void cub_stands_beside_the_kernel(void **state)
{
    (void)state;
    struct cub_build build;
    cub_build_start(&build, &here.toolkit, here.folder, "x", 90);
    assert_true(cub_build_is_running(&build));
    struct timing_result result = time_beside(&build);
    const json_t *library = json_object_get(result.timing, "library");
    assert_string_equal(text(library, "name"), "CUB");
    assert_string_equal(text(library, "unit"), "GB/s");
    assert_true(fabs(part(library, "ms", "median") - 0.8) < 0.01);
    assert_true(fabs(json_number_value(json_object_get(library, "achieved")) / (8.0 * N / 0.8e6) -
                     1) < 0.02);
    assert_true(fabs(json_number_value(json_object_get(result.timing, "of_library")) - 0.008) <
                1e-4);
    assert_non_null(strstr(world.note, "compiled for this card")); /* it was waited for */
    timing_result_free(&result);
    cub_build_stop(&build);

    cub_build_start(&build, &here.toolkit, here.folder, "x", 90); /* and now it is there */
    assert_false(cub_build_is_running(&build));
    result = time_beside(&build);
    assert_non_null(json_object_get(result.timing, "library"));
    assert_string_equal(world.note, "");
    timing_result_free(&result);
    cub_build_stop(&build);

    cub_build_start(&build, &here.toolkit, here.folder, "x", 80); /* another card's is not */
    assert_true(cub_build_is_running(&build));
    cub_build_stop(&build);
}

static void expect_alone(struct cub_build *build, const char *why)
{
    struct timing_result result = time_beside(build);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_string_equal(text(result.timing, "verdict"), "faster");
    assert_null(json_object_get(result.timing, "library"));
    assert_null(json_object_get(result.timing, "of_library"));
    if (!strstr(world.note, why))
        fail_msg("\"%s\" does not say \"%s\"", world.note, why);
    timing_result_free(&result);
    cub_build_stop(build);
}

static void without_cub_the_time_stands_alone(void **state)
{
    (void)state;
    struct cub_build build;
    char *broken = put("broken", "", false);
    cub_build_start(&build, &here.toolkit, here.folder, "x", 90);
    expect_alone(&build, "could not be compiled for this card: x.cuh(3): error: no such thing");
    unlink(broken);
    free(broken);

    cub_build_start(&build, &here.toolkit, here.folder, "no-such-lab", 90);
    expect_alone(&build, "no-such-lab/cub.cu");

    setenv("FAKE_CUB_REFUSES", "35", 1);
    cub_build_start(&build, &here.toolkit, here.folder, "x", 90);
    expect_alone(&build, "CUDA runtime error 35");
    unsetenv("FAKE_CUB_REFUSES");

    struct toolkit none = {0};
    cub_build_start(&build, &none, here.folder, "x", 90);
    expect_alone(&build, "nvcc");
}

/* A compiler that misbehaves costs CUB's time, and never the kernel's. */
static void odd_compilers_are_survived(void **state)
{
    (void)state;
    static const struct {
        const char *how, *why;
    } odd[] = {{"dies", "nvcc failed and did not say why"},
               {"scribbles", "CUB could not be opened"},
               {"forgets", "CUB could not be opened"},
               {"forks", "compiled for this card"}, /* that it was waited for; it is there */
               {"floods", "compiled for this card"}};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct cub_build build;
        char *how = put(odd[i].how, "", false);
        cub_build_start(&build, &here.toolkit, here.folder, "x", 90 + (unsigned)i);
        struct timing_result result = time_beside(&build);
        assert_int_equal(result.verdict, VERDICT_PASS);
        assert_string_equal(text(result.timing, "verdict"), "faster");
        assert_int_equal(json_object_get(result.timing, "library") != NULL,
                         strcmp(odd[i].why, "compiled for this card") == 0);
        if (!strstr(world.note, odd[i].why))
            fail_msg("%s: \"%s\" does not say \"%s\"", how, world.note, odd[i].why);
        timing_result_free(&result);
        cub_build_stop(&build);
        unlink(how);
        free(how);
    }
}

/* No place to keep it: it stands beside this run, and is compiled again for the next. */
static void without_a_cache_cub_is_there_once(void **state)
{
    (void)state;
    char *file = put("no-folder", "", false);
    setenv("XDG_CACHE_HOME", file, 1);
    struct cub_build build;
    cub_build_start(&build, &here.toolkit, here.folder, "x", 90);
    struct timing_result result = time_beside(&build);
    assert_non_null(json_object_get(result.timing, "library"));
    timing_result_free(&result);
    char *folder = mem_strdup(build.unkept);
    assert_true(file_exists(folder));
    cub_build_stop(&build);
    assert_false(file_exists(folder));
    free(folder);
    free(file);
}

static void nobody_waits_long_for_cub(void **state)
{
    (void)state;
    struct cub_build build;
    struct err err = {0};
    free(put("slow", "", false));
    cub_build_start(&build, &here.toolkit, here.folder, "x", 90);
    pid_t pid = build.process.pid;
    assert_null(cub_build_wait(&build, 30, &err));
    assert_non_null(strstr(err.text, "still being compiled"));
    assert_false(cub_build_is_running(&build));
    assert_int_not_equal(kill(pid, 0), 0);
    cub_build_stop(&build);
}

/* What the library was called with, in the order of its parameters. */
static const char fake_cublas[] =
    "struct call { int m, n, k, lda, ldb, ldc, math; const void *a, *b, *c, *stream; } last;\n"
    "int cublasCreate_v2(void **handle) { *handle = &last; return 0; }\n"
    "int cublasDestroy_v2(void *handle) { (void)handle; return 0; }\n"
    "int cublasSetMathMode(void *handle, int mode) { return ((struct call *)handle)->math = mode, "
    "0; }\n"
    "int cublasSetStream_v2(void *handle, void *to) { return ((struct call *)handle)->stream = to, "
    "0; }\n"
    "int cublasSgemm_v2(void *handle, int ta, int tb, int m, int n, int k, const float *alpha,\n"
    "    const float *a, int lda, const float *b, int ldb, const float *beta, float *c, int ldc)\n"
    "{\n"
    "    struct call *call = handle;\n"
    "    int math = call->math;\n"
    "    const void *stream = call->stream;\n"
    "    *call = (struct call){m, n, k, lda, ldb, ldc, math, a, b, c, stream};\n"
    "    return ta || tb || *alpha != 1 || *beta != 0 ? 7 : m == 13 ? 14 : 0;\n"
    "}\n";

static void row_major_products_are_asked_for_by_columns(void **state)
{
    (void)state;
    struct err err = {0};
    char *source = put("cublas.c", fake_cublas, false), *object = path_join(here.folder, "libx.so");
    char cc[] = "/usr/bin/cc", shared[] = "-shared", code[] = "-fPIC", to[] = "-o";
    char *argv[] = {cc, shared, code, to, object, source, NULL};
    struct process process;
    struct process_result result;
    assert_true(process_start(&process, argv, here.folder, -1, NULL, &err));
    assert_true(process_finish(&process, &result, 60000, &err));
    assert_int_equal(result.status, 0);
    process_result_free(&result);

    struct cublas cublas;
    assert_true(cublas_open(&cublas, object, (const unsigned[]){2, 3, 5}, true, &err));
    struct call {
        int m, n, k, lda, ldb, ldc, math;
        const void *a, *b, *c, *stream;
    } *last = cublas.handle;
    const uint64_t device[] = {[GEMM_A] = 0x100, [GEMM_B] = 0x200, [GEMM_C] = 0x300};
    assert_true(cublas_call(&cublas, device, &world, &err));
    assert_int_equal(last->m, 3); /* C' = B' A' */
    assert_int_equal(last->n, 2);
    assert_int_equal(last->k, 5);
    assert_ptr_equal(last->a, (void *)0x200);
    assert_ptr_equal(last->b, (void *)0x100);
    assert_ptr_equal(last->c, (void *)0x300);
    assert_int_equal(last->lda, 3);
    assert_int_equal(last->ldb, 5);
    assert_int_equal(last->ldc, 3);
    assert_int_equal(last->math, 3); /* CUBLAS_TF32_TENSOR_OP_MATH */
    assert_ptr_equal(last->stream, &world);
    cublas_close(&cublas);

    assert_true(cublas_open(&cublas, object, (const unsigned[]){2, 13, 5}, false, &err));
    assert_int_equal(last->math, 0);
    assert_false(cublas_call(&cublas, device, &world, &err));
    assert_non_null(strstr(err.text, "status 14"));
    cublas_close(&cublas);

    assert_false(cublas_open(&cublas, here.folder, (const unsigned[]){2, 3, 5}, false, &err));
    cublas_close(&cublas);
    free(object);
    free(source);
}

/* The labs' own cub.cu, by the real nvcc where there is one. */
static void the_labs_ask_cub_right(void **state)
{
    (void)state;
    static const char *const slugs[] = {"reduction", "scan"};
    struct toolkit toolkit;
    struct cub_build builds[2];
    char *root = realpath(".", NULL);
    toolkit_find(&toolkit, root, "");
    if (!toolkit.parts[PART_NVCC]) {
        toolkit_free(&toolkit);
        free(root);
        skip();
    }
    for (int i = 0; i < 2; i++)
        cub_build_start(&builds[i], &toolkit, root, slugs[i], 80);
    for (int i = 0; i < 2; i++) {
        struct err err = {0};
        const char *object = cub_build_wait(&builds[i], 120000, &err);
        if (!object)
            fail_msg("%s", err.text);
        void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
        assert_non_null(library);
        assert_non_null(dlsym(library, "peer"));
        assert_int_equal(lab_find(slugs[i])->peer, LAB_PEER_CUB);
        cub_build_stop(&builds[i]);
    }
    toolkit_free(&toolkit);
    free(root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cub_stands_beside_the_kernel, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(without_cub_the_time_stands_alone, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(odd_compilers_are_survived, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(without_a_cache_cub_is_there_once, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(nobody_waits_long_for_cub, open_folder, close_folder),
        cmocka_unit_test_setup_teardown(row_major_products_are_asked_for_by_columns, open_folder,
                                        close_folder),
        cmocka_unit_test_setup_teardown(the_labs_ask_cub_right, open_folder, close_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

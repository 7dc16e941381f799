/* Finding the toolkit, on trees made for it: the documented order, wrong variables, parts from
 * different places, names with blanks and other scripts. */
#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/toolkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char base[64];

static int remove_one(const char *path, const struct stat *info, int flag, struct FTW *at)
{
    (void)info, (void)flag, (void)at;
    return remove(path);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(base, sizeof base, "/tmp/stride-toolkit-XXXXXX");
    unsetenv("STRIDE_CUDA");
    unsetenv("CUDA_HOME");
    unsetenv("CUDA_PATH");
    setenv("PATH", "/nonexistent", 1);
    return mkdtemp(base) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes base/folder/file. */
static void make(const char *folder, const char *file)
{
    char *path = mem_printf("%s/%s/%s", base, folder, file);
    char *parent = mem_strdup(path);
    *strrchr(parent, '/') = '\0';
    struct err err = {0};
    assert_true(file_make_dirs(parent, &err));
    assert_true(file_write(path, "", 0, false, &err));
    assert_int_equal(chmod(path, 0755), 0);
    free(parent);
    free(path);
}

static char *below(const char *folder)
{
    return mem_printf("%s/%s", base, folder);
}

static struct toolkit find(void)
{
    struct toolkit toolkit;
    char *root = below("root"), *system_root = below("system");
    toolkit_find(&toolkit, root, system_root);
    free(root);
    free(system_root);
    return toolkit;
}

/* Whether the part in use is base/expected. */
static void assert_part(const struct toolkit *toolkit, enum toolkit_part part, const char *expected)
{
    char *path = below(expected);
    assert_non_null(toolkit->parts[part]);
    assert_string_equal(toolkit->parts[part], path);
    free(path);
}

static void set_variable(const char *name, const char *folder)
{
    char *path = below(folder);
    setenv(name, path, 1);
    free(path);
}

static void nothing_is_found_in_nothing(void **state)
{
    (void)state;
    struct toolkit toolkit = find();
    assert_int_equal(toolkit.count, 0);
    assert_int_equal(toolkit.complaint_count, 0);
    for (int part = 0; part < PART_COUNT; part++)
        assert_null(toolkit.parts[part]);
    toolkit_free(&toolkit);
}

static void the_order_holds(void **state)
{
    (void)state;
    static const char *const places[] = {"system/usr",
                                         "system/opt/cuda",
                                         "system/usr/local/cuda-9.2",
                                         "system/usr/local/cuda-12.4",
                                         "system/usr/local/cuda",
                                         "root/.deps/cuda"};
    for (size_t i = 0; i < sizeof places / sizeof *places;
         i++) { /* each new one comes before the last */
        make(places[i], "bin/nvcc");
        char *expected = mem_printf("%s/bin/nvcc", places[i]);
        struct toolkit toolkit = find();
        assert_part(&toolkit, PART_NVCC, expected);
        assert_int_equal(toolkit.count, i + 1);
        toolkit_free(&toolkit);
        free(expected);
    }
    make("on path/bin", "nvcc");
    make("home", "bin/nvcc");
    set_variable("PATH", "on path/bin");
    struct toolkit toolkit = find();
    assert_part(&toolkit, PART_NVCC, "on path/bin/nvcc");
    toolkit_free(&toolkit);
    set_variable("CUDA_PATH", "home/"); /* a slash at the end is fine */
    toolkit = find();
    assert_part(&toolkit, PART_NVCC, "home/bin/nvcc");
    assert_string_equal(toolkit.places[0].origin, "$CUDA_PATH");
    assert_string_equal(toolkit.places[1].origin, "PATH"); /* and the other is still named */
    toolkit_free(&toolkit);
}

static void a_wrong_variable_is_named(void **state)
{
    (void)state;
    make("empty", "readme");
    make("system/usr/local/cuda", "bin/nvcc");
    set_variable("CUDA_HOME", "empty");
    set_variable("CUDA_PATH", "gone");
    setenv("STRIDE_CUDA", "relative", 1);
    struct toolkit toolkit = find();
    assert_int_equal(toolkit.complaint_count, 3);
    assert_non_null(strstr(toolkit.complaints[0], "STRIDE_CUDA"));
    assert_non_null(strstr(toolkit.complaints[1], "CUDA_HOME"));
    assert_non_null(strstr(toolkit.complaints[1], "holds no part"));
    assert_non_null(strstr(toolkit.complaints[2], "no such folder"));
    assert_part(&toolkit, PART_NVCC, "system/usr/local/cuda/bin/nvcc");
    toolkit_free(&toolkit);
}

static void relative_path_entries_are_not_trusted(void **state)
{
    (void)state;
    make("work", "nvcc");
    char *here = getcwd(NULL, 0), *work = below("work");
    assert_int_equal(chdir(work), 0);
    setenv("PATH", ".::bin", 1);
    struct toolkit toolkit = find();
    assert_null(toolkit.parts[PART_NVCC]);
    toolkit_free(&toolkit);
    assert_int_equal(chdir(here), 0);
    free(here);
    free(work);
}

static void parts_come_from_where_they_are(void **state)
{
    (void)state;
    make("a résumé日本", "lib64/libnvrtc.so.12");
    make("a résumé日本", "lib64/libnvrtc.so.13");
    make("a résumé日本", "lib64/libnvrtc.alt.so.13");
    make("a résumé日本", "lib64/libnvrtc-builtins.so.13.0");
    make("root/.deps/cuda", "bin/nvdisasm");
    make("system/usr/local/cuda", "lib64/libnvrtc.so.12");
    make("system/usr/local/cuda", "lib64/libnvrtc-builtins.so.12.4");
    make("system/usr/local/cuda", "include/cuda_fp16.h");
    make("system/usr/local/cuda", "bin/cuobjdump");
    set_variable("CUDA_HOME", "a résumé日本");
    struct toolkit toolkit = find();
    assert_part(&toolkit, PART_NVRTC, "a résumé日本/lib64/libnvrtc.so.13");
    assert_part(&toolkit, PART_BUILTINS, "a résumé日本/lib64/libnvrtc-builtins.so.13.0");
    assert_part(&toolkit, PART_NVDISASM, "root/.deps/cuda/bin/nvdisasm");
    assert_part(&toolkit, PART_CUOBJDUMP, "system/usr/local/cuda/bin/cuobjdump");
    assert_part(&toolkit, PART_HEADERS, "system/usr/local/cuda/include");
    assert_int_equal(toolkit.places[0].version, 13000);
    assert_int_equal(toolkit.places[2].version, 12040);
    toolkit_free(&toolkit);
}

static void built_ins_follow_their_nvrtc(void **state)
{
    (void)state;
    make("first", "include/cuda_fp16.h");
    make("first", "lib64/libnvrtc-builtins.so.11.8");
    make("system/usr/local/cuda", "lib64/libnvrtc.so.13");
    make("system/usr/local/cuda", "lib64/libnvrtc-builtins.so.13.0");
    make("system/usr/local/cuda", "include/cuda_fp16.h");
    set_variable("CUDA_HOME", "first");
    struct toolkit toolkit = find();
    assert_part(&toolkit, PART_BUILTINS, "system/usr/local/cuda/lib64/libnvrtc-builtins.so.13.0");
    assert_part(&toolkit, PART_HEADERS, "system/usr/local/cuda/include");
    toolkit_free(&toolkit);
}

static void a_program_that_may_not_run_is_not_one(void **state)
{
    (void)state;
    make("system/usr/local/cuda", "bin/nvdisasm");
    make("system/usr/local/cuda", "bin/nvcc/inside");
    char *path = below("system/usr/local/cuda/bin/nvdisasm");
    chmod(path, 0);
    bool is_root = access(path, X_OK) == 0;
    struct toolkit toolkit = find();
    assert_null(toolkit.parts[PART_NVCC]); /* a folder of that name */
    if (!is_root)
        assert_null(toolkit.parts[PART_NVDISASM]);
    toolkit_free(&toolkit);
    free(path);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_setup_teardown(function, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(nothing_is_found_in_nothing),
        TEST(the_order_holds),
        TEST(a_wrong_variable_is_named),
        TEST(relative_path_entries_are_not_trusted),
        TEST(parts_come_from_where_they_are),
        TEST(built_ins_follow_their_nvrtc),
        TEST(a_program_that_may_not_run_is_not_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

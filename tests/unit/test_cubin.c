/* Figures from machine code: right ones from real cubins, an error or nothing from damaged ones,
 * and the occupancy that follows. */
#include "harness/base/file.h"
#include "harness/cubin.h"
#include "harness/occupancy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

/* The corpus file holds one byte for the fuzzer, then the cubin. */
static struct buf read_cubin(const char *name)
{
    struct buf file = {0};
    struct err err = {0};
    char *path = path_join("tests/fuzz/corpus/cubin", name);
    if (!file_read(&file, path, 1 << 20, &err))
        fail_msg("%s", err.text);
    memmove(file.data, file.data + 1, --file.len);
    free(path);
    return file;
}

/* As ptxas -v said when these were made: 10 registers, 1,024 bytes of shared memory, a stack frame
 * of 32 bytes, and __launch_bounds__(128). */
static void real_machine_code_is_read(void **state)
{
    (void)state;
    static const struct {
        const char *file;
        unsigned capability;
    } cases[] = {{"sm_80", 80}, {"sm_90", 90}};
    for (size_t i = 0; i < 2; i++) {
        struct buf cubin = read_cubin(cases[i].file);
        struct cubin_kernel kernel;
        struct err err = {0};
        assert_true(cubin_read(&kernel, cubin.data, cubin.len, "k", cases[i].capability, &err));
        assert_int_equal(kernel.registers, i == 0 ? 11 : 10);
        assert_int_equal(kernel.shared_bytes, 1024);
        assert_int_equal(kernel.local_bytes, 32);
        assert_int_equal(kernel.max_threads, 128);
        assert_true(kernel.code_bytes > 0);
        assert_false(cubin_read(&kernel, cubin.data, cubin.len, "other", 90, &err));
        assert_non_null(strstr(err.text, "no kernel other"));
        buf_free(&cubin);
    }
}

static void damaged_machine_code_is_survived(void **state)
{
    (void)state;
    struct buf cubin = read_cubin("sm_90");
    struct cubin_kernel kernel;
    assert_false(cubin_read(&kernel, "", 0, "k", 90, NULL));
    for (size_t len = 0; len < cubin.len; len += 13) { /* a copy of exactly that size, for ASan */
        char *cut = mem_alloc(len);
        memcpy(cut, cubin.data, len);
        bool read = cubin_read(&kernel, cut, len, "k", 90, NULL);
        free(cut);
        assert_true(!read || len > 64); /* what was cut off may be nothing that is read */
    }
    static const unsigned char values[] = {0x00, 0xff, 0x80, 0x01};
    for (size_t at = 0; at < cubin.len; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            char kept = cubin.data[at];
            cubin.data[at] = (char)values[v];
            cubin_read(&kernel, cubin.data, cubin.len, "k", 90, NULL);
            cubin.data[at] = kept;
        }
    buf_free(&cubin);
}

/* Figures of NVIDIA's cuda_occupancy.h; the formula was compared with it over 257,250
 * configurations of seven architectures. */
static void occupancy_is_nvidias(void **state)
{
    (void)state;
    static const struct {
        unsigned capability, threads, registers, shared, blocks;
        const char *limited_by;
    } cases[] = {
        {90, 128, 72, 4224, 7, "registers"},      {90, 256, 32, 0, 8, ""},
        {86, 256, 128, 0, 2, "registers"},        {80, 256, 18, 8192, 8, ""},
        {90, 256, 18, 98304, 2, "shared memory"}, {75, 32, 16, 0, 16, "blocks"},
        {86, 1024, 32, 0, 1, "threads"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct occupancy occupancy;
        assert_true(occupancy_compute(&occupancy, cases[i].capability, cases[i].threads,
                                      cases[i].registers, cases[i].shared));
        assert_int_equal(occupancy.blocks_per_sm, cases[i].blocks);
        assert_string_equal(occupancy.limited_by, cases[i].limited_by);
        assert_int_equal(occupancy.warps_per_sm, cases[i].blocks * cases[i].threads / 32);
    }
    struct occupancy none;
    assert_false(occupancy_compute(&none, 61, 128, 32, 0));   /* unknown to the table */
    assert_false(occupancy_compute(&none, 90, 2048, 32, 0));  /* too many threads */
    assert_false(occupancy_compute(&none, 90, 1024, 255, 0)); /* too many registers for one block */
    assert_false(occupancy_compute(&none, 86, 128, 32, 110000)); /* too much shared memory */
    assert_false(occupancy_compute(&none, 90, 0, 32, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_machine_code_is_read),
        cmocka_unit_test(damaged_machine_code_is_survived),
        cmocka_unit_test(occupancy_is_nvidias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The lab cp-async: shape, inputs, right answers and where an element belongs. */
#include "harness/base/buf.h"
#include "harness/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void only_whole_blocks_have_a_shape(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("cp-async");
    assert_non_null(lab);
    assert_null(lab_find("cp-asynk"));
    struct lab_shape shape;
    static const uint64_t none[] = {0, 1, 4095, 4097, 6144, UINT64_MAX, (uint64_t)1 << 60};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(lab->shape(&shape, none[i]));
    assert_true(lab->shape(&shape, 12288));
    assert_int_equal(shape.grid[0], 3);
    assert_int_equal(shape.block[0], 256);
    assert_int_equal(shape.buffers[1].count, 12288);
    assert_true(shape.bytes_moved == 12288 * 8.0);
}

static void inputs_are_distinct_and_depend_on_the_seed(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("cp-async");
    struct lab_shape shape;
    assert_true(lab->shape(&shape, 8192));
    float *a = mem_alloc(8192 * 4), *b = mem_alloc(8192 * 4);
    lab->fill(&shape, 0, 1, a);
    lab->fill(&shape, 0, 2, b);
    assert_memory_not_equal(a, b, 8192 * 4);
    for (int i = 0; i < 8192; i++) {
        assert_true(a[i] >= -2 && a[i] < 2);
        for (int k = 0; k<i; k += i - k> 8 ? 97 : 1)
            assert_true(a[i] != a[k]);
    }
    lab->fill(&shape, 0, 1, b);
    assert_memory_equal(a, b, 8192 * 4);
    free(a);
    free(b);
}

static void reference_is_the_chain_rounded_once_a_step(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("cp-async");
    struct lab_shape shape;
    assert_true(lab->shape(&shape, 4096));
    float *in = mem_alloc(4096 * 4), *out = mem_alloc(4096 * 4);
    lab->fill(&shape, 0, 7, in);
    lab->reference(&shape, (void *[]){in, NULL}, (void *[]){NULL, out});
    for (int i = 0; i < 4096; i++) {
        volatile float x = in[i];
        for (int step = 0; step < 32; step++)
            x = (float)((double)x * 0.9921875 + 0.0078125); /* exact in double */
        assert_true(x == out[i]);
    }
    struct lab_tolerance tolerance = lab->tolerance(&shape, 1);
    assert_true(tolerance.absolute < 1e-6 && tolerance.relative < 1e-6);
    free(in);
    free(out);
}

static void places_name_block_tile_thread_and_stage(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("cp-async");
    struct lab_shape shape;
    assert_true(lab->shape(&shape, 12288));
    struct lab_place place = lab->locate(&shape, 1, 4096 + 3 * 1024 + 257);
    assert_int_equal(place.block[0], 1);
    assert_int_equal(place.tile, 3);
    assert_int_equal(place.stage, 1);
    assert_int_equal(place.thread[0], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_whole_blocks_have_a_shape),
        cmocka_unit_test(inputs_are_distinct_and_depend_on_the_seed),
        cmocka_unit_test(reference_is_the_chain_rounded_once_a_step),
        cmocka_unit_test(places_name_block_tile_thread_and_stage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What matrix labs share: shapes, exact answers, and a tolerance that tells rounding from cutting.
 */
#include "harness/gemm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct gemm exact = {.threads = 256, .inputs = GEMM_EXACT};
static const struct gemm tf32 = {.threads = 256, .inputs = GEMM_TF32};

struct problem {
    struct lab_shape shape;
    float *data[3];
    void *host[3];
};

static void problem_make(struct problem *problem, const struct gemm *gemm, uint64_t n)
{
    assert_true(gemm_shape(gemm, &problem->shape, n));
    for (int i = 0; i < 3; i++) {
        problem->data[i] = malloc(problem->shape.buffers[i].count * sizeof(float));
        problem->host[i] = problem->data[i];
        if (i != GEMM_C)
            gemm_fill(gemm, &problem->shape, i, 42, problem->data[i]);
    }
}

static void problem_free(struct problem *problem)
{
    for (int i = 0; i < 3; i++)
        free(problem->data[i]);
}

static void shapes_differ_until_they_are_cubes(void **state)
{
    (void)state;
    struct lab_shape shape;
    assert_true(gemm_shape(&exact, &shape, 256));
    assert_int_equal(shape.grid[0], 5);
    assert_int_equal(shape.grid[1], 2);
    assert_int_equal(shape.buffers[GEMM_A].count, 256 * 288);
    assert_true(gemm_shape(&exact, &shape, 4096));
    assert_true(shape.flops == 2.0 * 4096 * 4096 * 4096);
    static const uint64_t none[] = {0, 1, 64, 127, 130, 1u << 15, UINT64_MAX - 127};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(gemm_shape(&exact, &shape, none[i]));
}

static void float_in_any_order_gives_the_exact_answer(void **state)
{
    (void)state;
    struct problem p;
    problem_make(&p, &exact, 128);
    gemm_reference(&p.shape, p.host, p.host);
    for (size_t index = 0; index < p.shape.buffers[GEMM_C].count; index += 97) {
        float backwards = 0;
        for (size_t k = 160; k-- > 0;)
            backwards +=
                p.data[GEMM_A][index / 192 * 160 + k] * p.data[GEMM_B][k * 192 + index % 192];
        assert_true(backwards == p.data[GEMM_C][index]);
        assert_true(gemm_element(&p.shape, p.host, index) == (double)backwards);
    }
    problem_free(&p);
}

static float to_tf32(float x, uint32_t add)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits = (bits + add) & ~0x1fffu;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static void tolerance_lies_between_rounding_and_cutting(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {128, 384, 1024};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        struct problem p;
        problem_make(&p, &tf32, sizes[s]);
        size_t n = p.shape.args[4].value.u32, k = p.shape.args[5].value.u32;
        double allowed = gemm_tolerance(&tf32, &p.shape).relative;
        for (uint64_t i = 0; i < 500; i++) {
            size_t index = lab_mix(1, i) % p.shape.buffers[GEMM_C].count;
            double want = gemm_element(&p.shape, p.host, index), rounded = 0, cut = 0;
            for (size_t j = 0; j < k; j++) {
                float a = p.data[GEMM_A][index / n * k + j], b = p.data[GEMM_B][j * n + index % n];
                rounded += (double)to_tf32(a, 0x1000) * (double)to_tf32(b, 0x1000);
                cut += (double)to_tf32(a, 0) * (double)to_tf32(b, 0);
            }
            assert_true(fabs(rounded - want) < 0.6 * allowed * want);
            assert_true(fabs(cut - want) > 1.5 * allowed * want);
        }
        problem_free(&p);
    }
}

static void an_element_belongs_to_its_block_and_thread(void **state)
{
    (void)state;
    struct lab_shape shape;
    assert_true(gemm_shape(&exact, &shape, 256));
    struct lab_place place = gemm_locate(&shape, (128 + 9) * 320 + 64 + 7);
    assert_int_equal(place.block[0], 1);
    assert_int_equal(place.block[1], 1);
    assert_int_equal(place.thread[0], 16 + 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shapes_differ_until_they_are_cubes),
        cmocka_unit_test(float_in_any_order_gives_the_exact_answer),
        cmocka_unit_test(tolerance_lies_between_rounding_and_cutting),
        cmocka_unit_test(an_element_belongs_to_its_block_and_thread),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

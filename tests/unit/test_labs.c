/* What every lab of labs.def must hold for the sizes of its lab.yaml, and what the labs
 * first-kernel, reduction and scan promise of their numbers. */
#include "harness/base/buf.h"
#include "harness/base/labfile.h"
#include "harness/check.h"
#include "harness/lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LARGE_BYTES = 24 << 20 }; /* of a buffer; larger cases are not computed here */

struct memory { /* one case on the host */
    struct lab_shape shape;
    void *host[LAB_BUFFERS], *want[LAB_BUFFERS];
};

static size_t bytes_of(const struct lab_buffer *buffer)
{
    return buffer->count * lab_type_bytes(buffer->type);
}

static bool is_large(const struct lab_shape *shape)
{
    for (int i = 0; i < shape->buffer_count; i++)
        if (bytes_of(&shape->buffers[i]) > LARGE_BYTES)
            return true;
    return false;
}

static void make(struct memory *out, const struct lab *lab, uint64_t n, uint64_t seed)
{
    *out = (struct memory){0};
    assert_true(lab->shape(&out->shape, n));
    for (int i = 0; i < out->shape.buffer_count; i++) {
        const struct lab_buffer *about = &out->shape.buffers[i];
        if (lab_is_filled(about->role)) {
            out->host[i] = mem_alloc(bytes_of(about));
            memset(out->host[i], 0xcd, bytes_of(about)); /* fill has to set all of it */
            lab->fill(&out->shape, i, seed, out->host[i]);
        }
        if (lab_is_answer(about->role)) {
            out->want[i] = mem_alloc(bytes_of(about));
            memset(out->want[i], 0xcd, bytes_of(about));
        }
    }
    lab->reference(&out->shape, out->host, out->want);
}

static void drop(struct memory *memory)
{
    for (int i = 0; i < LAB_BUFFERS; i++) {
        free(memory->host[i]);
        free(memory->want[i]);
    }
}

/* --- every lab --- */

static void expect_shape(const struct lab_shape *shape, uint64_t n)
{
    assert_true(shape->n == n);
    assert_in_range(shape->buffer_count, 1, LAB_BUFFERS);
    assert_in_range(shape->arg_count, 1, LAB_ARGS);
    assert_true(shape->bytes_moved > 0 && shape->flops > 0);
    for (int k = 0; k < 3; k++) {
        assert_in_range(shape->grid[k], 1, k ? 65535 : INT32_MAX);
        assert_in_range(shape->block[k], 1, 1024);
    }
    assert_in_range(shape->block[0] * shape->block[1] * shape->block[2], 1, 1024);
    bool answer = false, passed[LAB_BUFFERS] = {false};
    for (int i = 0; i < shape->arg_count; i++) {
        const struct lab_arg *arg = &shape->args[i];
        assert_true(arg->buffer < shape->buffer_count);
        if (arg->buffer >= 0)
            passed[arg->buffer] = true;
        else
            assert_true(arg->size == 4 || arg->size == 8);
    }
    for (int i = 0; i < shape->buffer_count; i++) {
        assert_true(shape->buffers[i].count > 0 && passed[i]);
        answer = answer || lab_is_answer(shape->buffers[i].role);
    }
    assert_true(answer);
}

static void expect_same_seed_same_case(const struct lab *lab, uint64_t n)
{
    struct memory one, same, other;
    bool differs = false;
    make(&one, lab, n, 7);
    make(&same, lab, n, 7);
    make(&other, lab, n, 8);
    for (int i = 0; i < one.shape.buffer_count; i++) {
        size_t bytes = bytes_of(&one.shape.buffers[i]);
        if (one.host[i]) {
            assert_memory_equal(one.host[i], same.host[i], bytes);
            differs = differs || memcmp(one.host[i], other.host[i], bytes) != 0;
        }
        if (one.want[i])
            assert_memory_equal(one.want[i], same.want[i], bytes);
        if (one.want[i] && one.host[i]) /* leaving it as it is must never be right */
            assert_memory_not_equal(one.want[i], one.host[i], bytes);
    }
    assert_true(differs);
    drop(&one);
    drop(&same);
    drop(&other);
}

static void every_size_of_every_lab_is_a_case(void **state)
{
    (void)state;
    struct labfile **all;
    unsigned count;
    struct err err = {0};
    if (!labfile_load_all(&all, &count, ".", &err))
        fail_msg("%s", err.text);
    for (unsigned k = 0; k < count; k++) {
        const struct lab *lab = lab_find(all[k]->slug);
        struct lab_shape shape;
        if (all[k]->kind != LAB_KERNEL)
            continue;
        assert_non_null(lab);
        assert_false(lab->shape(&shape, 0));
        assert_false(lab->shape(&shape, UINT64_MAX));
        assert_true(lab->shape(&shape, all[k]->time_size));
        expect_shape(&shape, all[k]->time_size);
        for (unsigned i = 0; i < all[k]->check_sizes_count; i++) {
            assert_true(lab->shape(&shape, all[k]->check_sizes[i]));
            expect_shape(&shape, all[k]->check_sizes[i]);
        }
        for (unsigned i = 0; i < all[k]->sim_sizes_count; i++) {
            assert_true(lab->shape(&shape, all[k]->sim_sizes[i]));
            if (!is_large(&shape))
                expect_same_seed_same_case(lab, all[k]->sim_sizes[i]);
        }
    }
    labfile_free_all(all, count);
}

/* --- first-kernel --- */

static void saxpy_is_exact_with_and_without_fma(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("first-kernel");
    for (uint64_t n = 1; n < 200000; n = n * 7 + 1) {
        struct memory memory;
        make(&memory, lab, n, n);
        const float *x = memory.host[0], *y = memory.host[1], *want = memory.want[1];
        float a = memory.shape.args[0].value.f32;
        assert_int_equal(memory.shape.args[3].value.i32, n);
        for (uint64_t i = 0; i < n; i++) {
            volatile float product = a * x[i];
            assert_true(product + y[i] == want[i] && fmaf(a, x[i], y[i]) == want[i]);
            assert_true(x[i] >= 1 && y[i] >= 1);
            assert_true(a * x[i] != want[i] && a * x[i] + want[i] != want[i]); /* once, not twice */
        }
        drop(&memory);
    }
}

static void saxpy_has_fewer_threads_than_elements(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("first-kernel");
    struct lab_shape shape;
    assert_true(lab->shape(&shape, 1) && shape.grid[0] == 1);
    assert_true(lab->shape(&shape, 4096) && shape.grid[0] == 1);
    assert_true(lab->shape(&shape, 4097) && shape.grid[0] == 2);
    assert_true(lab->shape(&shape, 1 << 25) && shape.grid[0] == 1056);
    assert_false(lab->shape(&shape, INT32_MAX));
}

/* --- reduction --- */

static void the_sum_is_the_same_in_every_order(void **state)
{
    (void)state;
    const struct lab *lab = lab_find("reduction");
    enum { N = 100003, LANES = 1056 };
    struct memory memory;
    make(&memory, lab, N, 5);
    const float *input = memory.host[0];
    float forward = 0, backward = 0, lanes[LANES] = {0}, strided = 0;
    for (int i = 0; i < N; i++) {
        assert_true(fmodf(input[i], 2) != 0 && fabsf(input[i]) <= 15); /* none is without effect */
        forward += input[i];
        backward += input[N - 1 - i];
        lanes[i % LANES] += input[i];
    }
    for (int i = 0; i < LANES; i++)
        strided += lanes[i];
    float want = *(float *)memory.want[1];
    assert_true(forward == want && backward == want && strided == want);
    assert_true(*(float *)memory.host[1] == 0);
    drop(&memory);
}

/* --- scan --- */

static void totals_run_on_and_wrap(void **state)
{
    (void)state;
    struct memory memory;
    make(&memory, lab_find("scan"), 8192, 9);
    const uint32_t *input = memory.host[0], *want = memory.want[1];
    const uint64_t *words = memory.host[2];
    uint64_t total = 0;
    for (int i = 0; i < 8192; i++) {
        total += input[i];
        assert_int_equal(want[i], (uint32_t)total);
    }
    assert_true(total > UINT32_MAX); /* so that the wrapping is seen */
    for (size_t i = 0; i < memory.shape.buffers[2].count; i++)
        assert_true(words[i] == 0);
    assert_int_equal(memory.shape.buffers[2].count, 3);
    assert_null(memory.want[2]);
    drop(&memory);
}

/* Whether a thread has 32 elements in a row or four of each row, only the student knows. */
static void no_thread_is_blamed_for_a_total(void **state)
{
    (void)state;
    struct memory memory;
    make(&memory, lab_find("scan"), 8192, 9);
    uint32_t *got = mem_alloc(8192 * sizeof *got);
    memcpy(got, memory.want[1], 8192 * sizeof *got);
    got[4100] ^= 1;
    struct check_buffer buffer = {.lab = lab_find("scan"),
                                  .shape = &memory.shape,
                                  .buffer = 1,
                                  .got = got,
                                  .want = memory.want[1]};
    struct check_outcome outcome;
    assert_false(check_compare(&outcome, &buffer));
    json_t *mismatch = check_mismatch(&buffer, &outcome);
    assert_int_equal(json_integer_value(json_object_get(mismatch, "index")), 4100);
    assert_int_equal(json_integer_value(json_array_get(json_object_get(mismatch, "block"), 0)), 1);
    assert_null(json_object_get(mismatch, "thread"));
    json_decref(mismatch);
    free(got);
    drop(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size_of_every_lab_is_a_case),
        cmocka_unit_test(saxpy_is_exact_with_and_without_fma),
        cmocka_unit_test(saxpy_has_fewer_threads_than_elements),
        cmocka_unit_test(the_sum_is_the_same_in_every_order),
        cmocka_unit_test(totals_run_on_and_wrap),
        cmocka_unit_test(no_thread_is_blamed_for_a_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* check_compare alone, over types: NaN, infinity and poison lose, each type has its tolerance. */
#include "harness/check.h"
#include "harness/compare.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

static const struct lab_tolerance *asked;

static struct lab_tolerance asked_tolerance(const struct lab_shape *shape, int buffer)
{
    (void)shape;
    (void)buffer;
    return *asked;
}

static size_t count_wrong(enum lab_type type, const void *got, const void *want, size_t count,
                          uint32_t poison, struct check_outcome *outcome)
{
    static const struct lab_tolerance loose = {.absolute = 0.01, .relative = 0.01};
    asked = &loose;
    struct lab lab = {.slug = "t", .tolerance = asked_tolerance};
    struct lab_shape shape = {.buffers = {{"out", LAB_OUT, type, count}}, .buffer_count = 1};
    struct check_buffer buffer = {
        .lab = &lab, .shape = &shape, .got = got, .want = want, .poison = poison};
    check_compare(outcome, &buffer);
    if (outcome->wrong) {
        json_t *mismatch = check_mismatch(&buffer, outcome);
        assert_non_null(mismatch);
        json_decref(mismatch);
    }
    return outcome->wrong;
}

static void not_a_number_always_loses(void **state)
{
    (void)state;
    struct check_outcome outcome;
    float want[] = {1, INFINITY, INFINITY, 1, NAN, 100},
          got[] = {NAN, -INFINITY, 5, INFINITY, NAN, 100.5f};
    assert_int_equal(count_wrong(LAB_F32, got, want, 6, 0, &outcome), 5);
    assert_true(isnan(outcome.max_error));
    assert_int_equal(count_wrong(LAB_F32, want, want, 6, 0, &outcome),
                     1); /* a NaN that is wanted */
    assert_int_equal(outcome.first, 4);
    float wide[] = {1, 2}, off[] = {1, 3};
    assert_int_equal(count_wrong(LAB_F32, off, wide, 2, 0, &outcome), 1);
    assert_true(outcome.max_error == 1);
}

static void every_type_compares_and_shows_its_poison(void **state)
{
    (void)state;
    static const enum lab_type types[] = {LAB_F32, LAB_F64, LAB_F16, LAB_BF16,
                                          LAB_I32, LAB_U32, LAB_U64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        uint64_t want[4] = {0}, got[4];
        uint32_t poison = check_poison(types[t], 3);
        struct check_outcome outcome;
        assert_true(check_poison(types[t], 4) != poison);
        for (int i = 0; i < 4; i++)
            got[i] = (uint64_t)poison << 32 | poison;
        size_t count = sizeof got / lab_type_bytes(types[t]);
        assert_int_equal(count_wrong(types[t], got, want, count, poison, &outcome), count);
        assert_int_equal(outcome.unwritten, count);
        assert_true(isnan(outcome.max_error));
        assert_int_equal(count_wrong(types[t], want, want, count, poison, &outcome), 0);
        if (types[t] == LAB_F32 || types[t] == LAB_F64 || types[t] == LAB_F16 ||
            types[t] == LAB_BF16) /* arithmetic on poison stays poison */
            assert_int_equal(count_wrong(types[t], got, got, count, ~poison, &outcome), count);
    }
    uint32_t big[] = {0x80000000u, 7}, near[] = {0x80000001u, 7};
    struct check_outcome outcome;
    assert_int_equal(count_wrong(LAB_U32, near, big, 2, 0, &outcome), 1); /* no tolerance */
    uint16_t one[] = {0x3c00, 0x0001}, less[] = {0x3bff, 0x8001};
    assert_int_equal(count_wrong(LAB_F16, less, one, 2, 0, &outcome), 0);
    assert_true(fabs(outcome.max_error - 0x1p-11) < 1e-12);
}

/* As a record is emitted. */
static void whole_numbers_keep_all_their_digits(void **state)
{
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{1515875875, "1515875875"},
                 {4294967295, "4294967295"},
                 {-2147483647, "-2147483647"},
                 {0.1, "0.10000000000000001"},
                 {7, "7.0"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_t *value = compare_json(cases[i].value);
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(i < 3 ? 9U : 17U));
        assert_string_equal(text, cases[i].text);
        free(text);
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_a_number_always_loses),
        cmocka_unit_test(every_type_compares_and_shows_its_poison),
        cmocka_unit_test(whole_numbers_keep_all_their_digits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What stands beside a time: the card's own limit, and NVIDIA's library in the same run. */
#define CARD_NUMBER 0x6b
#include "fake_driver.h"

/* The limit's copy moves 2 x 8 MiB (a quarter of the free memory in all) in copy_ms. */
static void limits_are_measured_and_not_exceeded(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    world.copy_ms = 16.0 * 1048576 / (8.0 * N) * 50; /* twice the rate of yours */
    struct timing_result result = time_it(&setup);
    double value = part(result.timing, "limit", "value");
    double achieved = json_number_value(json_object_get(result.timing, "achieved"));
    assert_true(fabs(value / (8.0 * N / 50 / 1e6) - 1) < 0.02);
    assert_true(fabs(achieved / (8.0 * N / 100 / 1e6) - 1) < 0.02);
    assert_true(fabs(json_number_value(json_object_get(result.timing, "of_limit")) - 0.5) < 0.02);
    assert_non_null(strstr(result.summary, "50 % of this card's copy bandwidth"));
    timing_result_free(&result);
    setup.yours.ms = 40; /* the limit is known by now, and this is faster than it */
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_non_null(strstr(text(result.timing, "why"), "faster than this card"));
    assert_null(json_object_get(result.timing, "goal_reached"));
    assert_non_null(strstr(result.summary, "speed unknown"));
    timing_result_free(&result);
}

/* Reading runs over the same 16 MiB, twice as fast as yours (8 bytes an element) here. */
static void reading_has_a_limit_of_its_own(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    setup.limit = LIMIT_READ;
    setup.yours.ms = 50;
    world.copy_ms = 16.0 * 1048576 / (8.0 * N) * 50;
    struct timing_result result = time_it(&setup);
    assert_string_equal(text(json_object_get(result.timing, "limit"), "kind"), "read");
    assert_string_equal(text(json_object_get(result.timing, "limit"), "unit"), "GB/s");
    assert_true(fabs(json_number_value(json_object_get(result.timing, "of_limit")) - 1) < 0.02);
    assert_non_null(strstr(result.summary, "100 % of this card's read bandwidth"));
    assert_string_equal(text(result.timing, "verdict"), "faster");
    timing_result_free(&result);
    setup.yours.ms = 46; /* 8 % above the limit: no honest kernel gets there */
    result = time_it(&setup);
    assert_string_equal(text(result.timing, "verdict"), "too-noisy");
    assert_non_null(strstr(text(result.timing, "why"), "faster than this card"));
    timing_result_free(&result);
}

/* What fits into the cache says nothing about the memory: then the time stands alone. */
static void a_limit_within_the_cache_is_none(void **state)
{
    (void)state;
    struct setup setup = usual;
    setup.limits = true;
    setup.limit = LIMIT_READ;
    card.number++;
    card.l2_bytes = 9 << 20;
    struct timing_result result = time_it(&setup);
    card.l2_bytes = 1 << 20;
    assert_non_null(result.timing);
    assert_null(json_object_get(result.timing, "limit"));
    assert_string_equal(text(result.timing, "verdict"), "faster");
    timing_result_free(&result);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(limits_are_measured_and_not_exceeded),
        cmocka_unit_test(reading_has_a_limit_of_its_own),
        cmocka_unit_test(a_limit_within_the_cache_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, remove_lock);
}

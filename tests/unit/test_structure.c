/* lab.yaml's structure held against what was measured: at least, at most, and not measured at all.
 */
#include "harness/structure.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <string.h>

static char name[] = "overlap", english[] = "what is wanted";

static json_t *hold(enum lab_metric metric, const double *at_least, const double *at_most,
                    const char *metrics)
{
    double least = at_least ? *at_least : 0, most = at_most ? *at_most : 0;
    struct lab_structure entry = {.name = name,
                                  .metric = metric,
                                  .at_least = at_least ? &least : NULL,
                                  .at_most = at_most ? &most : NULL,
                                  .text = {english, english}};
    json_t *measured = json_loads(metrics, 0, NULL), *out = structure_json(&entry, measured);
    assert_non_null(measured);
    json_decref(measured);
    return out;
}

static void assert_held(json_t *entry, bool ok, const char *bound, double found)
{
    assert_non_null(entry);
    assert_true(json_is_boolean(json_object_get(entry, "ok")));
    assert_int_equal(json_is_true(json_object_get(entry, "ok")), ok);
    assert_string_equal(json_string_value(json_object_get(entry, "bound")), bound);
    assert_true(json_number_value(json_object_get(entry, "found")) > found - 1e-9 &&
                json_number_value(json_object_get(entry, "found")) < found + 1e-9);
    json_decref(entry);
}

static void bounds_are_inclusive(void **state)
{
    (void)state;
    const double half = 0.5, one = 1, none = 0;
    assert_held(hold(METRIC_COPY_OVERLAP, &half, NULL, "{\"copy_overlap\":0.5}"), true, "at least",
                0.5);
    assert_held(hold(METRIC_COPY_OVERLAP, &half, NULL, "{\"copy_overlap\":0.49}"), false,
                "at least", 0.49);
    assert_held(hold(METRIC_HOST_WAITS, NULL, &one, "{\"host_waits\":1}"), true, "at most", 1);
    assert_held(hold(METRIC_PAGEABLE_COPIES, NULL, &none, "{\"pageable_copies\":16}"), false,
                "at most", 16);
}

static void what_was_not_measured_is_left_out(void **state)
{
    (void)state;
    const double half = 0.5;
    assert_null(hold(METRIC_COPY_OVERLAP, &half, NULL, "{\"host_waits\":1}"));
    assert_null(hold(METRIC_COPY_OVERLAP, &half, NULL, "{\"copy_overlap\":\"much\"}"));
}

static void miss(char *summary, size_t size, double least, double most, const char *metrics,
                 unsigned misses)
{
    json_t *entry =
        hold(METRIC_COPY_OVERLAP, least >= 0 ? &least : NULL, most >= 0 ? &most : NULL, metrics);
    structure_add_miss(summary, size, entry, misses);
    json_decref(entry);
}

static void a_pass_goes_on_with_but(void **state)
{
    (void)state;
    char text[200] = "passes all 5 cases, 1.31x over the baseline";
    miss(text, sizeof text, 0.5, -1, "{\"copy_overlap\":0.125}", 0);
    assert_string_equal(text, "passes all 5 cases, 1.31x over the baseline, but overlap is 0.125, "
                              "at least 0.5 is wanted");
    miss(text, sizeof text, -1, 0, "{\"copy_overlap\":16}", 1);
    assert_string_equal(text, "passes all 5 cases, 1.31x over the baseline, but overlap is 0.125, "
                              "at least 0.5 is wanted; overlap is 16, at most 0 is wanted");
}

static void a_near_miss_does_not_read_as_the_bound(void **state)
{
    (void)state;
    char text[200] = "passes all 5 cases";
    miss(text, sizeof text, 0.5, -1, "{\"copy_overlap\":0.49996}", 0);
    assert_string_equal(text, "passes all 5 cases, but overlap is 0.49996, at least 0.5 is wanted");
}

static void a_long_summary_is_cut(void **state)
{
    (void)state;
    char text[24] = "passes all 5 cases";
    miss(text, sizeof text, 0.5, -1, "{\"copy_overlap\":0.125}", 0);
    assert_string_equal(text, "passes all 5 cases, but");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_inclusive),
        cmocka_unit_test(what_was_not_measured_is_left_out),
        cmocka_unit_test(a_pass_goes_on_with_but),
        cmocka_unit_test(a_near_miss_does_not_read_as_the_bound),
        cmocka_unit_test(a_long_summary_is_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

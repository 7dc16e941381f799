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

static void a_miss_is_a_sentence(void **state)
{
    (void)state;
    const double half = 0.5;
    char text[200];
    json_t *entry = hold(METRIC_COPY_OVERLAP, &half, NULL, "{\"copy_overlap\":0.125}");
    structure_describe(text, sizeof text, entry);
    assert_non_null(strstr(text, "overlap: at least 0.5"));
    assert_non_null(strstr(text, "0.125"));
    json_decref(entry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bounds_are_inclusive),
        cmocka_unit_test(what_was_not_measured_is_left_out),
        cmocka_unit_test(a_miss_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

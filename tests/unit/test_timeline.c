/* Measures and the record's timeline, of spans made by hand. The figure of the lesson: four chunks,
 * each a copy, a kernel and a copy back of one unit. */
#include "harness/host/timeline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void put(struct spans *spans, enum span_kind kind, uint32_t stream, double from, double to)
{
    struct span span = {.kind = kind, .from_us = from, .to_us = to, .stream = stream};
    span.line = 10 + (int)kind;
    if (kind == SPAN_KERNEL)
        snprintf(span.name, sizeof span.name, "scale");
    else if (kind <= SPAN_MEMSET)
        span.bytes = 4 << 20;
    spans_add(spans, &span);
}

static struct spans in_series(double unit)
{
    struct spans spans = {0};
    double at = 100; /* any origin */
    for (int i = 0; i < 4; i++) {
        put(&spans, SPAN_H2D, 0, at, at + unit);
        put(&spans, SPAN_KERNEL, 0, at + unit, at + 2 * unit);
        put(&spans, SPAN_D2H, 0, at + 2 * unit, at + 3 * unit);
        at += 3 * unit;
    }
    return spans;
}

static struct spans overlapped(double unit)
{
    struct spans spans = {0};
    for (uint32_t i = 0; i < 4; i++) {
        double at = 7 + i * unit;
        put(&spans, SPAN_H2D, 1 + i % 3, at, at + unit);
        put(&spans, SPAN_KERNEL, 1 + i % 3, at + unit, at + 2 * unit);
        put(&spans, SPAN_D2H, 1 + i % 3, at + 2 * unit, at + 3 * unit);
    }
    return spans;
}

static void near(double want, double got)
{
    assert_float_equal(want, got, 1e-6);
}

static double real_at(const json_t *object, const char *key)
{
    assert_true(json_is_number(json_object_get(object, key)));
    return json_number_value(json_object_get(object, key));
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static const json_t *row_named(const json_t *timeline, const char *name)
{
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(timeline, "rows"), i, row)
        if (strcmp(text_at(row, "name"), name) == 0)
            return row;
    return NULL;
}

static const json_t *spans_of(const json_t *timeline, const char *name)
{
    const json_t *row = row_named(timeline, name);
    assert_non_null(row);
    return json_object_get(row, "spans");
}

static void test_series_takes_twelve_units(void **state)
{
    (void)state;
    struct spans spans = in_series(50);
    struct timeline_measures m;
    timeline_measure(&spans, &m);
    near(600, m.length_us);
    near(300, m.ideal_us); /* the copies one after the other, one kernel, one copy back */
    near(0, m.overlap);
    near(200, m.h2d_us);
    near(200, m.work_us);
    near(200, m.d2h_us);
    assert_int_equal(m.copies, 8);
    assert_int_equal(m.kernels, 4);
    assert_int_equal(m.pageable_copies, 0);
    spans_free(&spans);
}

static void test_overlap_takes_six(void **state)
{
    (void)state;
    struct spans spans = overlapped(50);
    struct timeline_measures m;
    timeline_measure(&spans, &m);
    near(300, m.length_us);
    near(300, m.ideal_us);
    near(0.75, m.overlap); /* all but the first copy and the last */
    near(1, m.work_overlap);
    spans_free(&spans);
}

static void test_unequal_engines(void **state)
{
    (void)state;
    struct spans spans = {0};
    struct timeline_measures m;
    put(&spans, SPAN_H2D, 1, 0, 1);
    put(&spans, SPAN_H2D, 2, 1, 3);
    put(&spans, SPAN_KERNEL, 1, 1, 6);
    put(&spans, SPAN_KERNEL, 2, 6, 11);
    put(&spans, SPAN_D2H, 1, 6, 7);
    put(&spans, SPAN_D2H, 2, 11, 12);
    timeline_measure(&spans, &m);
    near(1 + 10 + 1, m.ideal_us);
    near(12, m.length_us);
    near((2.0 + 1) / 5, m.overlap);
    near((2.0 + 1) / 10, m.work_overlap); /* beside the second copy in, and the first out */
    spans_free(&spans);
}

/* Two kernels at once are no more time than the longer of them; the ideal is never longer than what
 * the run took. */
static void test_kernels_at_once(void **state)
{
    (void)state;
    struct spans spans = {0};
    struct timeline_measures m;
    put(&spans, SPAN_KERNEL, 1, 0, 10);
    put(&spans, SPAN_KERNEL, 2, 1, 9);
    put(&spans, SPAN_MEMSET, 3, 10, 12);
    put(&spans, SPAN_D2D, 3, 15, 16);
    put(&spans, SPAN_H2D, 4, 2, 6);
    put(&spans, SPAN_H2D, 5, 4, 8);
    timeline_measure(&spans, &m);
    near(13, m.work_us);
    near(6, m.h2d_us);
    near(16, m.length_us);
    near(16, m.ideal_us);
    near(1, m.overlap);
    spans_free(&spans);
}

static void test_copies_the_other_way_overlap(void **state)
{
    (void)state;
    struct spans spans = {0};
    struct timeline_measures m;
    put(&spans, SPAN_H2D, 1, 0, 4);
    put(&spans, SPAN_H2D, 2, 2, 4); /* the same way is no overlap */
    put(&spans, SPAN_D2H, 2, 3, 7);
    timeline_measure(&spans, &m);
    near(2.0 / 8, m.overlap);
    spans_free(&spans);
}

static void test_nothing_ran(void **state)
{
    (void)state;
    struct spans spans = {0};
    struct timeline_measures m;
    timeline_measure(&spans, &m);
    near(0, m.length_us);
    near(0, m.overlap);
    assert_null(timeline_make(&spans, true));
    put(&spans, SPAN_WAIT, SPAN_HOST_ROW, 3, 9);
    timeline_measure(&spans, &m);
    near(0, m.length_us);
    near(0, m.ideal_us);
    json_t *timeline = timeline_make(&spans, true);
    near(6, real_at(json_array_get(spans_of(timeline, "host"), 0), "to"));
    assert_null(json_object_get(timeline, "bubbles"));
    json_decref(timeline);
    spans_free(&spans);
}

static void test_rows(void **state)
{
    (void)state;
    struct spans spans = overlapped(50);
    put(&spans, SPAN_MEMSET, 0, 400, 410);
    put(&spans, SPAN_WAIT, 2, 300, 320);
    put(&spans, SPAN_WAIT, SPAN_HOST_ROW, 350, 400);
    put(&spans, SPAN_HOST, 3, 410, 415);
    json_t *timeline = timeline_make(&spans, false);
    static const char *const names[] = {"default stream", "stream 1", "stream 2", "stream 3",
                                        "copy H2D",       "copy D2H", "SMs",      "host"};
    const json_t *rows = json_object_get(timeline, "rows");
    assert_int_equal(json_array_size(rows), sizeof names / sizeof *names);
    for (size_t i = 0; i < json_array_size(rows); i++)
        assert_string_equal(text_at(json_array_get(rows, i), "name"), names[i]);
    assert_string_equal(text_at(timeline, "unit"), "us");
    assert_string_equal(text_at(json_array_get(rows, 4), "role"), "engine");
    assert_int_equal(json_array_size(spans_of(timeline, "stream 1")), 6);
    assert_int_equal(json_array_size(spans_of(timeline, "SMs")), 5);
    assert_int_equal(json_array_size(spans_of(timeline, "host")), 2);
    const json_t *first = json_array_get(spans_of(timeline, "stream 1"), 0);
    assert_string_equal(text_at(first, "kind"), "h2d");
    assert_string_equal(text_at(first, "label"), "4 MiB");
    near(0, real_at(first, "from")); /* whatever the origin was */
    near(50, real_at(first, "to"));
    assert_int_equal(json_integer_value(json_object_get(first, "line")), 10);
    assert_null(json_object_get(first, "graph"));
    assert_null(json_object_get(first, "pageable"));
    assert_string_equal(text_at(json_array_get(spans_of(timeline, "SMs"), 0), "label"), "scale");
    json_decref(timeline);
    spans_free(&spans);
}

static void test_graphs_and_pageable(void **state)
{
    (void)state;
    struct spans spans = {0};
    struct timeline_measures m;
    struct span span = {.kind = SPAN_KERNEL, .stream = 70, .from_us = 0, .to_us = 1};
    for (uint32_t graph = 41; graph < 44; graph++)
        for (int i = 0; i < 40; i++, span.from_us++, span.to_us++) {
            span.graph = graph; /* numbered since the process began */
            spans_add(&spans, &span);
        }
    span = (struct span){.kind = SPAN_H2D, .stream = 71, .from_us = 5, .to_us = 9, .pageable = 1};
    span.bytes = 1000;
    spans_add(&spans, &span);
    timeline_measure(&spans, &m);
    assert_int_equal(m.graph_launches, 3);
    assert_int_equal(m.kernels, 120);
    assert_int_equal(m.pageable_copies, 1);
    json_t *timeline = timeline_make(&spans, true);
    assert_string_equal(text_at(timeline, "unit"), "virtual us");
    const json_t *copy = json_array_get(spans_of(timeline, "stream 71"), 0);
    assert_true(json_is_true(json_object_get(copy, "pageable")));
    assert_string_equal(text_at(copy, "label"), "1000 B");
    const json_t *kernel = json_array_get(spans_of(timeline, "stream 70"), 119);
    assert_int_equal(json_integer_value(json_object_get(kernel, "graph")), 3);
    json_decref(timeline);
    spans_free(&spans);
}

static void test_bubbles(void **state)
{
    (void)state;
    struct spans spans = {0};
    put(&spans, SPAN_H2D, 1, 10, 13);
    put(&spans, SPAN_KERNEL, 1, 13, 23);
    put(&spans, SPAN_H2D, 1, 23, 26);
    put(&spans, SPAN_KERNEL, 1, 30, 40);
    put(&spans, SPAN_KERNEL, 1, 41, 42);
    json_t *timeline = timeline_make(&spans, false);
    const json_t *bubbles = json_object_get(timeline, "bubbles");
    assert_string_equal(text_at(bubbles, "row"), "SMs");
    assert_int_equal(json_integer_value(json_object_get(bubbles, "count")), 2);
    near(8, real_at(bubbles, "idle_us"));
    near(21, real_at(bubbles, "busy_us"));
    near(13, real_at(bubbles, "longest_from")); /* from the timeline's beginning */
    near(7, real_at(bubbles, "longest_us"));
    json_decref(timeline);
    spans_free(&spans);
}

static void test_baseline(void **state)
{
    (void)state;
    struct spans yours = overlapped(50), theirs = in_series(50);
    json_t *timeline = timeline_make(&yours, false), *other = timeline_make(&theirs, false);
    timeline_set_baseline(timeline, other);
    json_decref(other);
    const json_t *baseline = json_object_get(timeline, "baseline");
    near(600, real_at(baseline, "length_us"));
    near(300, real_at(timeline, "length_us"));
    assert_int_equal(json_array_size(spans_of(baseline, "default stream")), 12);
    assert_null(json_object_get(baseline, "unit"));
    json_decref(timeline);
    spans_free(&yours);
    spans_free(&theirs);
}

static void test_long_runs_are_cut_in_the_picture_only(void **state)
{
    (void)state;
    struct spans spans = {0};
    for (int i = 0; i < 5000; i++)
        put(&spans, SPAN_KERNEL, 1, 2 * i, 2 * i + 1);
    json_t *timeline = timeline_make(&spans, false);
    assert_int_equal(json_array_size(spans_of(timeline, "stream 1")), 2000);
    assert_int_equal(json_integer_value(json_object_get(timeline, "left_out")), 3000);
    assert_int_equal(json_integer_value(json_object_get(timeline, "kernels")), 5000);
    near(9999, real_at(timeline, "length_us"));
    near(5000, real_at(timeline, "work_us"));
    json_decref(timeline);
    spans_free(&spans);
}

static void test_hazards_are_marked(void **state)
{
    (void)state;
    struct spans spans = overlapped(50); /* lines: copies in 10, kernels 14, copies back 11 */
    json_t *timeline = timeline_make(&spans, true);
    json_t *hazards =
        json_pack("[{s:s,s:i,s:i,s:s},{s:s,s:i}]", "kind", "unordered", "line", 14, "other_line",
                  10, "text", "nothing orders them", "kind", "leak", "line", 99);
    timeline_mark_hazards(timeline, hazards);
    const json_t *marks = json_object_get(timeline, "marks");
    assert_int_equal(json_array_size(marks), 2);
    const json_t *mark = json_array_get(marks, 0);
    assert_string_equal(text_at(mark, "row"), "stream 2"); /* not the one of the other line */
    assert_string_equal(text_at(mark, "text"), "nothing orders them");
    near(100, real_at(mark, "at"));
    assert_int_equal(json_integer_value(json_object_get(mark, "line")), 14);
    assert_string_equal(text_at(json_array_get(marks, 1), "row"), "stream 1");
    near(0, real_at(json_array_get(marks, 1), "at"));
    json_decref(hazards);
    json_decref(timeline);
    spans_free(&spans);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_series_takes_twelve_units),
        cmocka_unit_test(test_overlap_takes_six),
        cmocka_unit_test(test_unequal_engines),
        cmocka_unit_test(test_kernels_at_once),
        cmocka_unit_test(test_copies_the_other_way_overlap),
        cmocka_unit_test(test_nothing_ran),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_graphs_and_pageable),
        cmocka_unit_test(test_bubbles),
        cmocka_unit_test(test_baseline),
        cmocka_unit_test(test_long_runs_are_cut_in_the_picture_only),
        cmocka_unit_test(test_hazards_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

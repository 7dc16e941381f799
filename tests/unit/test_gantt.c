/* Reading a record's timeline: bars, closed graph launches, round ticks; nothing odd gets through.
 */
#include "tui/gantt.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static json_t *parse(const char *text)
{
    json_t *value = json_loads(text, JSON_DECODE_ANY, NULL);
    assert_non_null(value);
    return value;
}

static void test_bars(void **state)
{
    (void)state;
    json_t *record = parse(
        "{\"unit\":\"us\",\"rows\":[{\"name\":\"stream 3\",\"role\":\"stream\",\"spans\":["
        "{\"kind\":\"h2d\",\"from\":2,\"to\":5.5,\"label\":\"4 MiB\",\"line\":7,\"pageable\":true},"
        "{\"kind\":\"kernel\",\"from\":6,\"to\":9}]}]}");
    struct gantt gantt;
    char text[96];
    gantt_read(&gantt, record, record, false);
    assert_false(gantt.steps);
    assert_false(gantt.is_virtual);
    assert_int_equal(gantt.row_count, 1);
    const struct bar_row *row = &gantt.rows[0];
    assert_int_equal(row->role, ROLE_STREAM);
    assert_int_equal(row->count, 2);
    assert_int_equal(row->bars[0].kind, GANTT_H2D);
    assert_true(row->bars[0].pageable);
    assert_int_equal(row->bars[0].line, 7);
    assert_int_equal(row->bars[1].kind, GANTT_KERNEL);
    assert_float_equal(gantt.from, 2, 0);
    assert_float_equal(gantt.to, 9, 0);
    gantt_row_title(row, text);
    assert_string_equal(text, "stream 3");
    gantt_bar_label(&row->bars[0], text);
    assert_string_equal(text, "4 MiB");
    gantt_free(&gantt);
    json_decref(record);
}

static const char *graphs = "{\"unit\":\"virtual us\",\"rows\":["
                            "{\"name\":\"stream 1\",\"role\":\"stream\",\"spans\":["
                            "{\"kind\":\"kernel\",\"from\":0,\"to\":1,\"graph\":1},"
                            "{\"kind\":\"kernel\",\"from\":1,\"to\":2,\"graph\":1,\"line\":4},"
                            "{\"kind\":\"kernel\",\"from\":3,\"to\":4,\"graph\":2},"
                            "{\"kind\":\"kernel\",\"from\":5,\"to\":6}]},"
                            "{\"name\":\"SMs\",\"role\":\"engine\",\"spans\":["
                            "{\"kind\":\"kernel\",\"from\":0,\"to\":1,\"graph\":1},"
                            "{\"kind\":\"kernel\",\"from\":1,\"to\":2,\"graph\":1}]}]}";

static void test_graphs_close_in_their_stream(void **state)
{
    (void)state;
    json_t *record = parse(graphs);
    struct gantt gantt;
    char text[96];
    gantt_read(&gantt, record, record, false);
    assert_true(gantt.is_virtual);
    assert_true(gantt.has_graphs);
    const struct bar_row *row = &gantt.rows[0];
    assert_int_equal(row->count, 3);
    assert_int_equal(row->bars[0].kind, GANTT_GRAPH);
    assert_int_equal(row->bars[0].pieces, 2);
    assert_int_equal(row->bars[0].line, 4);
    assert_float_equal(row->bars[0].to, 2, 0);
    gantt_bar_label(&row->bars[0], text);
    assert_string_equal(text, "graph launch 1: 2 pieces");
    assert_int_equal(row->bars[1].graph, 2);
    assert_int_equal(row->bars[1].kind, GANTT_GRAPH);
    assert_int_equal(row->bars[2].kind, GANTT_KERNEL);
    assert_int_equal(gantt.rows[1].count, 2); /* engines show what they did */
    gantt_free(&gantt);
    gantt_read(&gantt, record, record, true);
    assert_int_equal(gantt.rows[0].count, 4);
    assert_int_equal(gantt.rows[0].bars[0].kind, GANTT_KERNEL);
    gantt_free(&gantt);
    json_decref(record);
}

static void test_odd_records(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "{}",
        "[]",
        "7",
        "{\"rows\":7}",
        "{\"unit\":[],\"rows\":[1,null,\"x\",{},{\"spans\":5},{\"name\":5,\"spans\":[]}]}",
        "{\"rows\":[{\"name\":\"a\",\"spans\":[1,{},{\"from\":\"x\",\"to\":1},{\"from\":5,\"to\":1}"
        ","
        "{\"from\":1e300,\"to\":1e301},{\"kind\":7,\"from\":1,\"to\":1,\"label\":[],\"line\":-9,"
        "\"graph\":1e99}]}]}",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        json_t *record = parse(odd[i]);
        struct gantt gantt;
        gantt_read(&gantt, record, record, false);
        assert_true(gantt.to > gantt.from);
        for (size_t j = 0; j < gantt.row_count; j++)
            for (size_t k = 0; k < gantt.rows[j].count; k++) {
                assert_int_equal(gantt.rows[j].bars[k].kind, GANTT_OTHER);
                assert_int_equal(gantt.rows[j].bars[k].line, 0);
                assert_string_equal(gantt.rows[j].bars[k].label, "");
            }
        gantt_free(&gantt);
        json_decref(record);
    }
}

static void test_ticks_are_round(void **state)
{
    (void)state;
    assert_float_equal(gantt_tick(100, 10), 10, 1e-9);
    assert_float_equal(gantt_tick(101, 10), 20, 1e-9);
    assert_float_equal(gantt_tick(1605, 9), 200, 1e-9);
    assert_float_equal(gantt_tick(0.7, 7), 0.1, 1e-9);
    assert_float_equal(gantt_tick(9000, 2), 5000, 1e-9);
}

static void number_is(const char *want, double to, double at, double tick)
{
    struct gantt gantt = {0};
    struct gantt_unit unit = gantt_unit(&gantt, to);
    char text[32];
    gantt_number(text, &unit, at, tick);
    assert_string_equal(text, want);
}

static void test_numbers_have_the_digits_they_need(void **state)
{
    (void)state;
    number_is("200", 1605, 200, 200);
    number_is("0", 1605, -1e-12, 200);
    number_is("0.5", 1605, 0.5, 0.5);
    number_is("0.2", 10000, 200, 200); /* ms */
    number_is("10", 10000, 10000, 2000);
    number_is("1.0005", 10000, 1000.5, 0.5);
    number_is("3", 4e6, 3e6, 1e6); /* s */
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bars),
        cmocka_unit_test(test_graphs_close_in_their_stream),
        cmocka_unit_test(test_odd_records),
        cmocka_unit_test(test_ticks_are_round),
        cmocka_unit_test(test_numbers_have_the_digits_they_need),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

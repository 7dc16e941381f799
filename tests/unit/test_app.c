/* The app: keys change the state, the screen follows, nothing ever breaks its shape. */
#include "harness/base/labfile.h"
#include "tui/app.h"
#include "tui/glossary.h"
#include "tui/key.h"
#include "tui/pane.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct labfile **course;
static unsigned course_size;

static const char *const record_text_json =
    "{\"schema\":1,\"lab\":\"cp-async\",\"attempt\":4,\"backend\":\"gpu\",\"verdict\":\"hazard\","
    "\"summary\":\"a race between lines 9 and 12\","
    "\"device\":{\"name\":\"NVIDIA H200\",\"compute_capability\":\"9.0\",\"l2_bytes\":62914560},"
    "\"build\":{\"ok\":true,\"diagnostics\":[{\"severity\":\"warning\",\"file\":\"kernel.cu\","
    "\"line\":3,\"column\":1,\"text\":\"variable \\u001b[31mx\\u001b[0m was set but never "
    "used\"}]},"
    "\"cases\":[{\"n\":4096,\"seed\":1,\"backend\":\"gpu\",\"verdict\":\"pass\",\"max_error\":0,"
    "\"tolerance\":1e-5},{\"n\":8192,\"verdict\":\"wrong\",\"mismatch\":{\"buffer\":\"output\","
    "\"index\":4095,\"want\":1.5,\"got\":\"nan\",\"wrong_count\":3,\"checked_count\":8192,"
    "\"block\":[0,0,0],\"thread\":[255,1,0],\"tile\":3,\"stage\":1,\"pattern\":\"only the last "
    "tile\"}},"
    "{\"n\":1,\"verdict\":\"fault\",\"fault\":{\"kind\":\"out-of-bounds\",\"line\":5,\"text\":"
    "\"日本\"}}],"
    "\"hazards\":[{\"kind\":\"race\",\"line\":2,\"other_line\":4,\"count\":12,\"text\":\"read "
    "before "
    "the copy landed\"}],"
    "\"counters\":{\"backend\":\"sim\",\"n\":4096,\"instructions\":12345,\"by_kind\":{\"load\":7},"
    "\"sectors_per_request\":4.5,\"lines\":[{\"line\":2,\"requests\":8,\"sectors\":36,"
    "\"bank_conflicts\":2}],\"groups_in_flight\":[{\"line\":4,\"most\":2,\"least\":0}]},"
    "\"timeline\":{\"unit\":\"steps\",\"rows\":[{\"name\":\"tile 0\",\"spans\":[{\"kind\":\"copy\","
    "\"from\":0,\"to\":10},{\"kind\":\"compute\",\"from\":12,\"to\":40},{\"kind\":\"odd\",\"from\":"
    "1e300,"
    "\"to\":-5}]}],\"marks\":[{\"at\":5,\"row\":\"tile 0\",\"text\":\"refilled too early\"}]},"
    "\"timing\":{\"n\":67108864,\"baseline_ms\":{\"median\":0.2,\"low\":0.19,\"high\":0.21},"
    "\"yours_ms\":{\"median\":0.15,\"low\":0.14,\"high\":0.16},\"speedup\":{\"median\":1.33,"
    "\"low\":1.3,"
    "\"high\":1.4},\"of_solution\":0.9,\"of_limit\":1.5,\"verdict\":\"faster\",\"goal\":0.95,"
    "\"goal_reached\":false,\"limit\":{\"kind\":\"copy\",\"value\":4200,\"unit\":\"GB/s\"}},"
    "\"resources\":{\"registers\":40,\"shared_bytes\":8192,\"local_bytes\":16,\"occupancy\":0.75},"
    "\"landmarks\":[{\"name\":\"LDGSTS\",\"listing\":\"sass\",\"want\":2,\"found\":2,\"ok\":true}],"
    "\"stages\":[{\"name\":\"compile\",\"ms\":12.5}],\"skipped\":[{\"stage\":\"timeline\",\"why\":"
    "\"no\"}],"
    "\"output\":\"hello\\u0007\\nworld\"}";

static struct request press(struct app *app, int32_t key)
{
    return app_event(app, &(struct event){.kind = EVENT_KEY, .key = key, .now_ns = 1});
}

static void resize(struct app *app, int cols, int rows)
{
    app_event(app, &(struct event){.kind = EVENT_SIZE, .cols = cols, .rows = rows});
}

static void fill(struct app *app)
{
    struct app_attempt rows[3] = {{.number = 3, .time_s = 1000000, .verdict = "hazard"},
                                  {.number = 2, .verdict = "pass", .speedup = "1.41x"},
                                  {.number = 0, .subject = "by hand 日本語"}};
    for (int i = 0; i < 3; i++)
        snprintf(rows[i].id, sizeof rows[i].id, "%040d", i);
    struct buf listing = {0};
    for (int i = 0; i < 300; i++)
        buf_printf(&listing, "        mov.u32 %%r%d, %%tid.x; // line %d é日\n", i, i);
    app_init(app, course, course_size);
    app_set_lab(app, 0);
    app_set_text(app, TEXT_LESSON, "# Lesson\n\nwords 日本 and more words, and `code` to read\n",
                 54);
    app_set_text(app, TEXT_QUIZ, "# Quiz\n", 7);
    const char *kernel =
        "one\n\ttwo // >>> your code\nthree e\xcc\x81 日本\nfour // <<< your code\nfive\n";
    app_set_kernel(app, kernel, strlen(kernel));
    app_set_listings(app, &listing, &listing);
    json_error_t where;
    json_t *record = json_loads(record_text_json, 0, &where);
    if (!record)
        fail_msg("%s", where.text);
    app_set_record(app, record);
    json_decref(record);
    app->kernel_changed = false;
    app_set_history(app, rows, 3, false);
    buf_free(&listing);
}

static char *screen_of(const struct app *app)
{
    struct cells cells = {0};
    struct buf text = {0};
    app_draw(app, &cells);
    cells_text(&cells, &text);
    cells_free(&cells);
    return buf_take(&text);
}

static void expect(const struct app *app, const char *wanted)
{
    char *screen = screen_of(app);
    if (!strstr(screen, wanted))
        fail_msg("'%s' is not on the screen:\n%s", wanted, screen);
    free(screen);
}

static void expect_not(const struct app *app, const char *unwanted)
{
    char *screen = screen_of(app);
    if (strstr(screen, unwanted))
        fail_msg("'%s' is on the screen:\n%s", unwanted, screen);
    free(screen);
}

static void digits_choose_panes(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    static const struct {
        char key;
        const char *text;
    } panes[] = {
        {'1', "Lesson"},   {'2', "three"},   {'3', "lines 2 and 4"}, {'4', "1.33x"},
        {'5', "refilled"}, {'6', "mov.u32"}, {'7', "mov.u32"},       {'8', "sectors per request"},
        {'9', "Quiz"},     {'0', "1.41x"}};
    for (size_t i = 0; i < sizeof panes / sizeof *panes; i++) {
        press(&app, panes[i].key);
        expect(&app, panes[i].text);
    }
    app_free(&app);
}

static void every_size_with_every_pane(void **state)
{
    (void)state;
    static const int cols[] = {1, 2, 3, 5, 10, 20, 40, 41, 80, 112, 140, 168, 250, 300};
    static const int rows[] = {1, 2, 3, 5, 10, 11, 24, 60};
    static const int32_t keys[] = {'o', '1', '2', '3', '4',          '5', '6',          '7',
                                   '8', '9', '0', '?', KEY_CODE_ESC, 'H', KEY_CODE_ESC, '/'};
    struct app app;
    fill(&app);
    for (size_t c = 0; c < sizeof cols / sizeof *cols; c++)
        for (size_t r = 0; r < sizeof rows / sizeof *rows; r++)
            for (size_t k = 0; k < sizeof keys / sizeof *keys; k++) {
                resize(&app, cols[c], rows[r]);
                app.mode = MODE_PANES;
                press(&app, keys[k]);
                struct cells cells = {0};
                app_draw(&app, &cells);
                assert_int_equal(cells.rows, rows[r]);
                assert_int_equal(cells.cols, cols[c]);
                for (int row = 0; row < cells.rows; row++) {
                    int columns = 0;
                    for (int col = 0; col < cells.cols; col++)
                        columns += cells_at(&cells, row, col)->width;
                    assert_int_equal(columns, cells.cols);
                }
                cells_free(&cells);
            }
    resize(&app, 30, 8);
    expect(&app, "window too small");
    resize(&app, 80, 24);
    expect_not(&app, "too small");
    app_free(&app);
}

static void nothing_of_the_outside_reaches_the_screen_raw(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 160, 50);
    press(&app, '3');
    expect(&app, "variable x was set");
    struct cells cells = {0};
    app_draw(&app, &cells);
    for (int i = 0; i < cells.rows * cells.cols; i++)
        for (const char *at = cells.cell[i].text; *at; at++)
            assert_true((unsigned char)*at >= 0x20 && *at != 0x7f);
    cells_free(&cells);
    app_free(&app);
}

static void drawing_changes_nothing(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 160, 50);
    char *first = screen_of(&app), *second = screen_of(&app);
    assert_string_equal(first, second);
    free(first);
    free(second);
    app_free(&app);
}

static void keys_ask_for_what_they_mean(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    press(&app, '1');
    struct request request = press(&app, 'e');
    assert_int_equal(request.kind, REQUEST_EDIT);
    assert_int_equal(request.line, 3); /* the first diagnostic's */
    assert_int_equal(press(&app, 'r').kind, REQUEST_RUN);
    assert_int_equal(press(&app, 'x').kind, REQUEST_NONE); /* nothing runs */
    assert_int_equal(press(&app, KEY_CTRL('L')).kind, REQUEST_REPAINT);
    assert_int_equal(press(&app, KEY_CTRL('Z')).kind, REQUEST_SUSPEND);
    request = press(&app, 'L');
    assert_int_equal(request.kind, REQUEST_LANGUAGE);
    assert_string_equal(request.a, "zh");
    assert_int_equal(press(&app, 's').kind, REQUEST_BACKEND);
    assert_int_equal(app.backend, BACKEND_GPU);
    press(&app, '?');
    assert_int_equal(press(&app, 'q').kind, REQUEST_NONE); /* closes the help */
    assert_int_equal(press(&app, 'q').kind, REQUEST_QUIT);
    app_free(&app);
}

static void a_run_can_be_stopped(void **state)
{
    (void)state;
    struct app app;
    struct attempt attempt;
    fill(&app);
    resize(&app, 80, 24);
    attempt_init(&attempt, "cp-async", "n", true, 0);
    app_set_attempt(&app, &attempt);
    app_bring(&app, PANE_CORRECTNESS);
    static const char begin[] = "{\"event\":\"begin\",\"nonce\":\"n\",\"stage\":\"check\"}";
    assert_true(attempt_event(&attempt, begin, strlen(begin), 0));
    app_event(&app, &(struct event){.kind = EVENT_TICK, .now_ns = 2500000000});
    expect(&app, "check");
    expect(&app, "2.5 s");
    expect(&app, "x stop");
    assert_int_equal(press(&app, 'q').kind, REQUEST_NONE); /* asks first */
    expect(&app, "Stop it and leave?");
    assert_int_equal(press(&app, 'n').kind, REQUEST_NONE);
    assert_int_equal(press(&app, KEY_CTRL('C')).kind, REQUEST_STOP);
    expect(&app, "stopping");
    app_set_attempt(&app, NULL);
    app_settle(&app);
    expect(&app, "! hazard");
    attempt_free(&attempt);
    app_free(&app);
}

static void the_history_asks_before_it_restores(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 100, 30);
    press(&app, '0');
    press(&app, 'R');
    expect(&app, "Put kernel #3 back?");
    assert_int_equal(press(&app, 'n').kind, REQUEST_NONE);
    press(&app, 'j');
    press(&app, 'R');
    /* The list may change under the question: it is about the attempt that was asked about */
    struct app_attempt old[4] = {{.number = 4}};
    memcpy(old + 1, app.history, 3 * sizeof *old);
    snprintf(old[0].id, sizeof old[0].id, "%040d", 9);
    app_set_history(&app, old, 4, false);
    app_settle(&app);
    struct request request = press(&app, 'y');
    assert_int_equal(request.kind, REQUEST_RESTORE);
    assert_string_equal(request.a, old[2].id);
    app_set_history(&app, old + 1, 3, false);
    app_settle(&app);
    assert_int_equal(press(&app, 'd').kind, REQUEST_NONE);
    press(&app, 'k');
    request = press(&app, 'd');
    assert_int_equal(request.kind, REQUEST_DIFF);
    assert_string_equal(request.a, app.history[1].id);
    assert_string_equal(request.b, app.history[0].id);
    app_set_diff(&app, "from #2 to #3", "--- a\n+++ b\n@@ -1 +1 @@\n-old\n+new\n", 34);
    app_settle(&app);
    expect(&app, "+new");
    press(&app, KEY_CODE_ESC);
    expect_not(&app, "+new");
    request = press(&app, KEY_CODE_ENTER);
    assert_int_equal(request.kind, REQUEST_SHOW_ATTEMPT);
    app_free(&app);
}

static void a_past_attempt_is_shown_until_esc(void **state)
{
    (void)state;
    struct app app;
    struct buf kernel = {0}, ptx = {0}, sass = {0};
    fill(&app);
    resize(&app, 100, 30);
    buf_add_str(&kernel, "from the past\n");
    json_t *record = json_pack("{s:s,s:s}", "verdict", "wrong", "summary", "long ago");
    app_set_past(&app, 2, record, &kernel, &ptx, &sass);
    json_decref(record);
    press(&app, '2');
    expect(&app, "from the past");
    expect(&app, "attempt #2");
    press(&app, KEY_CODE_ESC);
    expect(&app, "three");
    app_free(&app);
}

static void enter_goes_between_message_and_line(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    press(&app, '3');
    for (int i = 0; i < 40 && viewer_current(&app.pane[PANE_CORRECTNESS].viewer)->source_line != 2;
         i++)
        press(&app, 'j');
    press(&app, KEY_CODE_ENTER);
    assert_int_equal(app_focused(&app), PANE_CODE);
    assert_int_equal(viewer_current(&app.pane[PANE_CODE].viewer)->source_line, 2);
    expect(&app, "! read before the copy landed");
    int64_t from = app.pane[PANE_CORRECTNESS].viewer.cursor;
    press(&app, KEY_CODE_ENTER);
    assert_int_equal(app_focused(&app), PANE_CORRECTNESS);
    assert_int_equal(viewer_current(&app.pane[PANE_CORRECTNESS].viewer)->source_line, 2);
    assert_int_equal(app.pane[PANE_CORRECTNESS].viewer.cursor, from);
    app_free(&app);
}

/* The cursor stands on the verdict after a run, and Enter is what the bottom line offers there. */
static void a_verdict_leads_to_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *verdict, *more;
        int line;
    } cases[] = {
        {"hazard", "\"build\":{\"diagnostics\":[]}", 2},
        {"fault",
         "\"cases\":[{\"verdict\":\"pass\"},{\"verdict\":\"fault\",\"fault\":{\"line\":5}}]", 5},
        {"no-build",
         "\"build\":{\"diagnostics\":[{\"severity\":\"warning\",\"line\":1},{\"severity\":"
         "\"error\",\"line\":9,\"file\":\"lab.h\"},{\"severity\":\"error\",\"line\":3,\"text\":"
         "\"first\\nsecond\"}]}",
         3},
        {"timed-out",
         "\"cases\":[{\"verdict\":\"timed-out\",\"line\":4},{\"n\":8,\"not_run\":\"so\"}]", 4},
        {"wrong", "\"cases\":[{\"verdict\":\"wrong\"}]", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct app app;
        json_error_t where;
        fill(&app);
        resize(&app, 80, 24);
        json_t *record = json_loads(record_text_json, 0, &where);
        char *text = mem_printf("{\"verdict\":\"%s\",%s}", cases[i].verdict, cases[i].more);
        json_t *other = json_loads(text, 0, &where);
        assert_non_null(other);
        json_object_del(record, "cases");
        json_object_update(record, other);
        app_set_record(&app, record);
        press(&app, '3');
        press(&app, 'g');
        assert_int_equal(viewer_current(&app.pane[PANE_CORRECTNESS].viewer)->source_line,
                         cases[i].line);
        if (cases[i].line == 3)
            expect(&app, "E line 3  first\n     second\n"); /* the rest is set in */
        if (cases[i].line == 4)
            expect(&app, "- n = 8             not run: so\n");
        press(&app, KEY_CODE_ENTER);
        if (cases[i].line == 3)
            expect(&app, "       E first\n         second\n");
        assert_int_equal(app_focused(&app), cases[i].line ? PANE_CODE : PANE_CORRECTNESS);
        json_decref(record);
        json_decref(other);
        free(text);
        app_free(&app);
    }
}

static void a_prediction_without_times_says_so(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    static const char quiz[] = "## 1. How much faster?\n\npredict: timing.speedup.median 2\n\n"
                               "- [ ] less\n  > a\n- [ ] more\n  > b\n";
    app_set_text(&app, TEXT_QUIZ, quiz, strlen(quiz));
    press(&app, '9');
    expect(&app, "How much faster?");
    json_t *record = json_pack("{s:s, s:[{s:s, s:s}]}", "verdict", "pass", "skipped", "stage",
                               "time", "why", "there is no GPU");
    app_set_record(&app, record);
    app_settle(&app);
    expect_not(&app, "not timed");
    press(&app, 'a');
    expect(&app, "Your last run was not timed: there is no GPU");
    json_decref(record);
    app_free(&app);
}

/* A question longer than the screen, answered by letter: the choice and the verdict on it. */
static void an_answer_is_on_the_screen(void **state)
{
    (void)state;
    struct app app;
    struct buf quiz = {0};
    fill(&app);
    resize(&app, 80, 24);
    buf_add_str(&quiz, "## 1. Which?\n\n```cuda\n");
    for (int i = 0; i < 12; i++)
        buf_add_str(&quiz, "x();\n");
    buf_add_str(&quiz, "```\n\n");
    for (int i = 0; i < 4; i++)
        buf_printf(&quiz, "- [%c] choice %d\n  > why %d\n", i == 3 ? 'x' : ' ', i, i);
    app_set_text(&app, TEXT_QUIZ, buf_str(&quiz), quiz.len);
    press(&app, '9');
    press(&app, 'b');
    expect(&app, "\n▸x b) choice 1");
    expect(&app, "Not right.");
    press(&app, 'd');
    expect(&app, "\n▸+ d) choice 3");
    expect(&app, "+ Right.");
    buf_free(&quiz);
    app_free(&app);
}

/* Whoever reads behind an array does not need the hint about alignment, though both are faults. */
static void the_hint_for_the_cause_comes_first(void **state)
{
    (void)state;
    static const struct {
        const char *verdict, *list, *kind, *when;
    } cases[] = {
        {"fault", "cases", "misaligned", "misaligned"},
        {"fault", "cases", "out-of-bounds", "fault"},
        {"hazard", "hazards", "refill", "refill"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct app app;
        fill(&app);
        resize(&app, 80, 24);
        for (unsigned k = 0; k < course_size; k++)
            if (strcmp(course[k]->slug, "cp-async") == 0)
                app_set_lab(&app, k);
        json_t *one = strcmp(cases[i].list, "cases") == 0
                          ? json_pack("{s:{s:s}}", "fault", "kind", cases[i].kind)
                          : json_pack("{s:s}", "kind", cases[i].kind);
        json_t *record = json_pack("{s:s, s:[o]}", "verdict", cases[i].verdict, cases[i].list, one);
        app_set_record(&app, record);
        const struct labfile *lab = app_lab(&app);
        char begin[24] = "";
        for (unsigned k = 0; k < lab->hints_count && !*begin; k++)
            if (strcmp(lab->hints[k].when, cases[i].when) == 0)
                snprintf(begin, sizeof begin, "%s", lab_text_get(&lab->hints[k].text));
        press(&app, 'H');
        expect(&app, begin);
        json_decref(record);
        app_free(&app);
    }
}

/* With many hints the box is full: the one that was asked for is what it shows. */
static void the_newest_hint_is_on_the_screen(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 12);
    const struct labfile *lab = app_lab(&app);
    assert_true(lab->hints_count > 4);
    char number[16] = "";
    for (int i = 1; i <= 5; i++) {
        press(&app, 'H');
        snprintf(number, sizeof number, " %d/", i);
        expect(&app, number);
    }
    app_free(&app);
}

static void a_listing_explains_its_line(void **state)
{
    (void)state;
    struct app app;
    struct err err = {0};
    struct glossary *glossary = NULL;
    assert_true(glossary_open(&glossary, ".", &err));
    fill(&app);
    app.glossary = glossary;
    static const char ptx[] =
        ".visible .entry k(\n)\n{\n.loc 1 2 3\nmov.u32 %r1, %tid.x;\nret;\n}\n";
    struct buf text = {0};
    buf_add_str(&text, ptx);
    app_set_listings(&app, &text, &text);
    resize(&app, 80, 24);
    app_focus(&app, PANE_PTX);
    app_settle(&app);
    expect(&app, "in k");
    viewer_go_line(&app.pane[PANE_PTX].viewer, 3);
    expect(&app, "mov: Copies a value, or takes the address of a variable. · %tid: threadIdx");
    expect_not(&app, ".loc");
    press(&app, 'v');
    expect(&app, ".loc 1 2 3");
    press(&app, 'v');
    expect_not(&app, ".loc");
    resize(&app, 80, 12);
    viewer_go_line(&app.pane[PANE_PTX].viewer, 3);
    expect_not(&app, "Copies a value");
    buf_free(&text);
    app_free(&app);
    glossary_close(glossary);
}

/* Through Code and back to where the student came from, not to the first pane that fits. */
static void enter_goes_back_where_it_came_from(void **state)
{
    (void)state;
    struct app app;
    struct buf ptx = {0}, none = {0};
    fill(&app);
    buf_add_str(&ptx, ".visible .entry k()\n{\n\t.loc\t1 2 5\n\tmov.u32 %r1, 1;\n\tret;\n}\n"
                      "\t.file\t1 \"kernel.cu\"\n");
    app_set_listings(&app, &ptx, &none);
    resize(&app, 80, 24);
    press(&app, '6');
    for (int i = 0; i < 9 && viewer_current(&app.pane[PANE_PTX].viewer)->source_line != 2; i++)
        press(&app, 'j');
    press(&app, KEY_CODE_ENTER);
    assert_int_equal(app_focused(&app), PANE_CODE);
    press(&app, KEY_CODE_ENTER);
    assert_int_equal(app_focused(&app), PANE_PTX); /* a hazard of line 2 stands in Correctness */
    buf_free(&ptx);
    app_free(&app);
}

static void search_finds_and_goes_on(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    press(&app, '6');
    press(&app, '/');
    for (const char *at = "line 29x"; *at; at++)
        press(&app, *at);
    press(&app, KEY_CODE_BACKSPACE);
    expect(&app, "/line 29");
    press(&app, KEY_CODE_ENTER);
    expect(&app, "match 1 of 11"); /* 29 and 290..299 */
    press(&app, 'n');
    expect(&app, "match 2 of 11");
    expect(&app, "line 290");
    press(&app, '/');
    for (const char *at = "absent"; *at; at++)
        press(&app, *at);
    press(&app, KEY_CODE_ENTER);
    expect(&app, "'absent' is not in this pane");
    app_free(&app);
}

static void random_keys_never_break_it(void **state)
{
    (void)state;
    struct app app;
    unsigned seed = 7;
    fill(&app);
    for (int i = 0; i < 20000; i++) {
        seed = seed * 1103515245u + 12345u;
        int32_t key = (int32_t)(seed >> 16) % 140;
        if (key > 127)
            key = KEY_CODE_FIRST + key - 128;
        if (i % 50 == 0)
            resize(&app, 1 + (int)(seed >> 8) % 260, 1 + (int)(seed >> 17) % 60);
        press(&app, key);
        if (i % 20 == 0)
            free(screen_of(&app));
    }
    app_free(&app);
}

/* 120 lines, the 110th of `widest` columns, all of them in the student's region. */
static void show_code(struct app *app, int widest)
{
    struct buf kernel = {0};
    buf_add_str(&kernel, "// >>> your code\n");
    for (int i = 2; i <= 120; i++)
        buf_printf(&kernel, "%-*send%d\n", i == 110 ? widest - 9 : 3, "\tx", i);
    app_set_kernel(app, kernel.data, kernel.len);
    buf_free(&kernel);
    press(app, '2');
}

static void code_of_76_columns_is_whole_at_80(void **state)
{
    (void)state;
    struct app app;
    fill(&app);
    resize(&app, 80, 24);
    show_code(&app, 72);
    expect(&app, "\n   6 ▎     x end6\n");
    show_code(&app, 73);
    expect(&app, "\n   6▎    x end6\n");
    show_code(&app, 76);
    press(&app, 'g');
    expect(&app, "\n  1▸// >>> your code\n");
    expect(&app, "\n  2!    x end2\n    ! read before");
    press(&app, 'G');
    expect(&app, "end110\n");
    expect(&app, "\n120▸    x end120\n");
    press(&app, 'l');
    assert_int_equal(app.pane[PANE_CODE].viewer.left, 0);
    press(&app, '1');
    expect(&app, "\n Lesson\n");
    show_code(&app, 77); /* scrolled sideways, with room for the marks that say so */
    press(&app, 'G');
    expect(&app, "▸\n");
    expect(&app, "\n▸120 ▎     x end120\n");
    resize(&app, 140, 40);
    show_code(&app, 76);
    press(&app, 'g');
    expect(&app, "\n▸  1   // >>> your code");
    app_free(&app);
}

static int load_course(void **state)
{
    (void)state;
    return labfile_load_all(&course, &course_size, ".", NULL) ? 0 : -1;
}

static int free_course(void **state)
{
    (void)state;
    labfile_free_all(course, course_size);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_choose_panes),
        cmocka_unit_test(every_size_with_every_pane),
        cmocka_unit_test(nothing_of_the_outside_reaches_the_screen_raw),
        cmocka_unit_test(drawing_changes_nothing),
        cmocka_unit_test(keys_ask_for_what_they_mean),
        cmocka_unit_test(a_run_can_be_stopped),
        cmocka_unit_test(the_history_asks_before_it_restores),
        cmocka_unit_test(a_past_attempt_is_shown_until_esc),
        cmocka_unit_test(enter_goes_between_message_and_line),
        cmocka_unit_test(a_verdict_leads_to_its_line),
        cmocka_unit_test(a_prediction_without_times_says_so),
        cmocka_unit_test(an_answer_is_on_the_screen),
        cmocka_unit_test(the_hint_for_the_cause_comes_first),
        cmocka_unit_test(the_newest_hint_is_on_the_screen),
        cmocka_unit_test(code_of_76_columns_is_whole_at_80),
        cmocka_unit_test(a_listing_explains_its_line),
        cmocka_unit_test(enter_goes_back_where_it_came_from),
        cmocka_unit_test(search_finds_and_goes_on),
        cmocka_unit_test(random_keys_never_break_it),
    };
    return cmocka_run_group_tests(tests, load_course, free_course);
}

/* The course, the student's folder and small state, in homes of every kind. Uses the real course.
 */
#include "tui/library.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[64];
static struct library library;
static struct err notice, err;

static int set_up(void **state)
{
    (void)state;
    char here[4096];
    snprintf(folder, sizeof folder, "/tmp/stride-library-XXXXXX");
    notice = err = (struct err){0};
    if (!mkdtemp(folder) || !getcwd(here, sizeof here))
        return -1;
    setenv("STRIDE_ROOT", here, 1);
    char *home = path_join(folder, "home of mine");
    setenv("STRIDE_HOME", home, 1);
    free(home);
    return library_open(&library, &notice, &err) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    library_close(&library);
    char *command = mem_printf("rm -rf %s", folder);
    int status = system(command);
    free(command);
    return status;
}

static void labs_are_found_and_suggested(void **state)
{
    (void)state;
    assert_true(library.writable);
    assert_string_equal(notice.text, "");
    assert_non_null(library_find(&library, "cp-async"));
    assert_null(library_find(&library, "cp-asinc"));
    assert_null(library_find(&library, ""));
    assert_string_equal(library_suggest(&library, "cp-asinc"), "cp-async");
    assert_string_equal(library_suggest(&library, "cp-aysnc"), "cp-async");
    assert_string_equal(library_suggest(&library, "cp"), "cp-async");
    assert_null(library_suggest(&library, "something-else-entirely"));
    char longer[300] = "";
    memset(longer, 'x', sizeof longer - 1);
    assert_null(library_suggest(&library, longer));
}

static void texts_come_in_the_language_or_in_english(void **state)
{
    (void)state;
    const struct labfile *lab = library_find(&library, "cp-async");
    struct buf english = {0}, chinese = {0};
    const char *language;
    assert_true(library_read_text(&library, lab, LIBRARY_LESSON, &english, &language, &err));
    assert_string_equal(language, "en");
    struct labfile other = *lab;
    other.lesson = "99-not-there";
    assert_false(library_read_text(&library, &other, LIBRARY_LESSON, &chinese, &language, &err));
    assert_non_null(strstr(err.text, "99-not-there"));
    buf_free(&english);
    buf_free(&chinese);
}

static void the_starter_is_copied_once(void **state)
{
    (void)state;
    const struct labfile *lab = library_find(&library, "cp-async");
    bool created = false;
    assert_true(library_prepare(&library, lab, &created, &err));
    assert_true(created);
    char *kernel = library_work_path(&library, "cp-async", "kernel.cu");
    char *starter = library_lab_path(&library, "cp-async", "starter.cu");
    struct buf a = {0}, b = {0};
    assert_true(library_read_kernel(&library, "cp-async", &a, &err));
    assert_true(file_read(&b, starter, 1 << 20, &err));
    assert_string_equal(buf_str(&a), buf_str(&b));
    char *copy = library_work_path(&library, "cp-async", "lab.h");
    char *header = library_lab_path(&library, "cp-async", "lab.h");
    buf_clear(&a);
    buf_clear(&b);
    assert_true(file_read(&a, copy, 1 << 20, &err) && file_read(&b, header, 1 << 20, &err));
    assert_string_equal(buf_str(&a), buf_str(&b)); /* to be read beside the kernel */
    assert_true(file_write(copy, "mine", 4, false, &err));
    assert_true(library_prepare(&library, lab, &created, &err));
    buf_clear(&a);
    assert_true(file_read(&a, copy, 1 << 20, &err));
    assert_string_equal(buf_str(&a), "mine"); /* the student's own stays */
    /* One that nobody touched follows a new Stride's. */
    json_t *laid = json_pack("{s:s}", "cp-async", "mine");
    assert_true(library_save_state(&library, "headers", laid, &err));
    json_decref(laid);
    assert_true(library_prepare(&library, library_find(&library, "cp-async"), NULL, &err));
    buf_free(&a);
    assert_true(file_read(&a, copy, 1 << 20, &err));
    assert_string_equal(buf_str(&a), buf_str(&b));
    free(copy);
    free(header);
    assert_true(file_write(kernel, "mine", 4, false, &err));
    assert_true(library_prepare(&library, lab, &created, &err));
    assert_false(created);
    buf_clear(&a);
    assert_true(library_read_kernel(&library, "cp-async", &a, &err));
    assert_string_equal(buf_str(&a), "mine");
    unlink(kernel);
    assert_int_equal(symlink("/nowhere/at/all", kernel), 0);
    assert_true(library_prepare(&library, lab, &created, &err));
    assert_false(created); /* a broken link is not replaced */
    buf_free(&a);
    buf_free(&b);
    free(kernel);
    free(starter);
}

/* Its "../sgemm-blocked/lab.h" is there to be read, whatever lab was opened before. */
static void headers_that_lab_h_includes_come_with_it(void **state)
{
    (void)state;
    const struct labfile *lab = library_find(&library, "sgemm-blocked-async");
    char *other = library_work_path(&library, "sgemm-blocked", "lab.h");
    char *kernel = library_work_path(&library, "sgemm-blocked", "kernel.cu");
    bool created = false;
    assert_false(file_exists(other));
    assert_true(library_prepare(&library, lab, &created, &err));
    assert_true(file_exists(other));
    assert_false(file_exists(kernel));
    assert_true(library_prepare(&library, library_find(&library, "sgemm-blocked"), &created, &err));
    assert_true(created && file_exists(kernel));
    free(other);
    free(kernel);
}

static const char *kernel_of(const struct labfile *lab, bool again)
{
    static char name[32];
    char *path = library_starter_path(&library, lab->slug, again);
    assert_true(file_exists(path));
    snprintf(name, sizeof name, "%s", strrchr(path, '/') + 1);
    free(path);
    return name;
}

static void a_variant_is_drawn_once_and_all_have_their_turn(void **state)
{
    (void)state;
    const struct labfile *plain = library_find(&library, "cp-async");
    assert_string_equal(kernel_of(plain, false), "starter.cu");
    const struct labfile *lab = library_find(&library, "detective");
    char first[32];
    snprintf(first, sizeof first, "%s", kernel_of(lab, false));
    assert_string_equal(kernel_of(lab, false), first);
    json_t *draws = json_pack("{s:i}", "detective", 3);
    assert_true(library_save_state(&library, "draws", draws, &err));
    json_decref(draws);
    const char *const order[] = {"4.cu", "5.cu", "1.cu", "2.cu", "3.cu"};
    assert_string_equal(kernel_of(lab, false), order[0]);
    for (int i = 1; i < 5; i++)
        assert_string_equal(kernel_of(lab, true), order[i]);
    assert_string_equal(kernel_of(lab, false), order[4]);
    draws = json_pack("{s:s}", "detective", "nonsense");
    assert_true(library_save_state(&library, "draws", draws, &err));
    json_decref(draws);
    snprintf(first, sizeof first, "%s", kernel_of(lab, true)); /* drawn anew */
    assert_string_equal(kernel_of(lab, false), first);
    bool created = false;
    assert_true(library_prepare(&library, lab, &created, &err) && created);
    char *drawn = library_starter_path(&library, "detective", false);
    struct buf kernel = {0}, variant = {0};
    assert_true(library_read_kernel(&library, "detective", &kernel, &err));
    assert_true(file_read(&variant, drawn, 1 << 20, &err));
    assert_string_equal(buf_str(&kernel), buf_str(&variant));
    free(drawn);
    buf_free(&kernel);
    buf_free(&variant);
}

static void state_survives_damage(void **state)
{
    (void)state;
    json_t *value = library_load_state(&library, "quiz", &notice);
    assert_true(json_is_object(value));
    json_object_set_new(value, "cp-async", json_integer(3));
    assert_true(library_save_state(&library, "quiz", value, &err));
    json_decref(value);
    value = library_load_state(&library, "quiz", &notice);
    assert_int_equal(json_integer_value(json_object_get(value, "cp-async")), 3);
    json_decref(value);
    assert_string_equal(notice.text, "");
    static const char *const damages[] = {"", "{\"a\":", "[1]", "\xff\xfe"};
    char *path = path_join(library.home, "quiz.json");
    for (size_t i = 0; i < 4; i++) {
        notice = (struct err){0};
        assert_true(file_write(path, damages[i], strlen(damages[i]), false, &err));
        value = library_load_state(&library, "quiz", &notice);
        assert_int_equal(json_object_size(value), 0);
        assert_non_null(strstr(notice.text, "quiz.json.damaged-"));
        assert_false(file_exists(path));
        json_decref(value);
    }
    free(path);
}

static void progress_keeps_the_best(void **state)
{
    (void)state;
    static const char *const records[] = {
        "{\"verdict\":\"cannot-run\"}",
        "{\"verdict\":\"no-build\"}",
        "{\"verdict\":\"wrong\"}",
        "{\"verdict\":\"pass\",\"timing\":{\"speedup\":{\"median\":1.4},\"goal_reached\":true}}",
        "{\"verdict\":\"pass\",\"timing\":{\"speedup\":{\"median\":1.2}}}",
        "{\"verdict\":\"hazard\",\"timing\":{\"speedup\":{\"median\":9.0}}}",
        "{\"verdict\":7,\"timing\":[]}",
    };
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        json_t *record = json_loads(records[i], 0, NULL);
        assert_true(library_note_attempt(&library, "cp-async", record, &err));
        json_decref(record);
    }
    json_t *progress = library_load_state(&library, "progress", NULL);
    json_t *lab = json_object_get(progress, "cp-async");
    assert_int_equal(json_integer_value(json_object_get(lab, "attempts")), 7);
    assert_string_equal(json_string_value(json_object_get(lab, "best")), "pass");
    assert_string_equal(json_string_value(json_object_get(lab, "verdict")), "cannot-run");
    assert_true(json_number_value(json_object_get(lab, "speedup")) == 1.4);
    assert_true(json_is_true(json_object_get(lab, "goal_reached")));
    json_decref(progress);
}

static void a_home_that_cannot_be_written_is_told(void **state)
{
    (void)state;
    library_close(&library);
    static const char *const homes[] = {"/dev/null/x", "/proc/x"};
    for (size_t i = 0; i < 2; i++) {
        setenv("STRIDE_HOME", homes[i], 1);
        notice = (struct err){0};
        assert_true(library_open(&library, &notice, &err));
        assert_false(library.writable);
        assert_non_null(strstr(notice.text, i ? "/proc/x" : "/dev/null"));
        assert_non_null(strstr(notice.text, "STRIDE_HOME"));
        assert_non_null(library_find(&library, "cp-async"));
        assert_false(library_prepare(&library, library_find(&library, "cp-async"), NULL, &err));
        json_t *value = library_load_state(&library, "quiz", &notice);
        assert_false(library_save_state(&library, "quiz", value, &err));
        json_decref(value);
        library_close(&library);
    }
    setenv("STRIDE_ROOT", "/nonexistent", 1);
    assert_false(library_open(&library, &notice, &err));
    assert_non_null(strstr(err.text, "STRIDE_ROOT"));
    library_close(&library);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        T(labs_are_found_and_suggested),
        T(texts_come_in_the_language_or_in_english),
        T(the_starter_is_copied_once),
        T(headers_that_lab_h_includes_come_with_it),
        T(a_variant_is_drawn_once_and_all_have_their_turn),
        T(state_survives_damage),
        T(progress_keeps_the_best),
        T(a_home_that_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

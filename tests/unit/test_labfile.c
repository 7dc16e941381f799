/* lab.yaml: the real ones load, a broken one is refused with its line. */
#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/base/labfile.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void every_lab_of_the_course_loads(void **state)
{
    (void)state;
    struct labfile **labs;
    unsigned count;
    struct err err = {0};
    if (!labfile_load_all(&labs, &count, ".", &err))
        fail_msg("%s", err.text);
    assert_true(count > 0);
    for (unsigned i = 0; i < count; i++) {
        assert_true(capability_parse(labs[i]->capability) >= 75);
        assert_true(labs[i]->goal > 0 && labs[i]->goal <= 1);
        if (i)
            assert_true(labs[i]->order > labs[i - 1]->order);
    }
    labfile_free_all(labs, count);
}

static void broken_lab_names_its_line(void **state)
{
    (void)state;
    char root[] = "/tmp/stride-lab-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *folder = mem_printf("%s/kernels/x", root), *path = path_join(folder, "lab.yaml");
    struct err err = {0};
    assert_true(file_make_dirs(folder, &err));
    static const char *const texts[] = {
        "order: 1\ntitel: x\n",          "order: first\n", "", "- 1\n", "a: [",
        "order: 1\norder: \"\\u0000\"\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct labfile *lab = NULL;
        assert_true(file_write(path, texts[i], strlen(texts[i]), false, &err));
        err.text[0] = '\0';
        assert_false(labfile_load(&lab, root, "x", &err));
        assert_non_null(strstr(err.text, "lab.yaml"));
        if (i < 2)
            assert_non_null(strstr(err.text, "line"));
    }
    struct labfile *lab = NULL;
    assert_false(labfile_load(&lab, root, "nothere", &err));
    char *kernels = path_join(root, "kernels");
    unlink(path);
    rmdir(folder);
    rmdir(kernels);
    assert_int_equal(rmdir(root), 0);
    free(kernels);
    free(path);
    free(folder);
}

/* Of the right type, and still no use. */
static void broken_numbers_are_named(void **state)
{
    (void)state;
    static const struct {
        const char *was, *is, *says;
    } breaks[] = {{"goal: 0.95", "goal: -1", "goal"},
                  {"goal: 0.95", "goal: 95", "goal"},
                  {"capability: \"8.0\"", "capability: \"eight\"", "eight"},
                  {"check_sizes: [4096", "check_sizes: [0", "check_sizes"},
                  {"time_size: ", "time_size: 0 # ", "time_size"}};
    char root[] = "/tmp/stride-lab-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *folder = mem_printf("%s/kernels/x", root), *path = path_join(folder, "lab.yaml");
    struct err err = {0};
    struct buf text = {0};
    assert_true(file_make_dirs(folder, &err));
    assert_true(file_read(&text, "kernels/cp-async/lab.yaml", 1 << 20, &err));
    for (size_t i = 0; i < sizeof breaks / sizeof *breaks; i++) {
        struct labfile *lab = NULL;
        const char *at = strstr(buf_str(&text), breaks[i].was);
        assert_non_null(at);
        char *broken = mem_printf("%.*s%s%s", (int)(at - buf_str(&text)), buf_str(&text),
                                  breaks[i].is, at + strlen(breaks[i].was));
        assert_true(file_write(path, broken, strlen(broken), false, &err));
        assert_false(labfile_load(&lab, root, "x", &err));
        if (!strstr(err.text, breaks[i].says))
            fail_msg("%s: %s", breaks[i].is, err.text);
        free(broken);
    }
    buf_free(&text);
    file_remove_folder(folder);
    free(folder);
    free(path);
    char *kernels = path_join(root, "kernels");
    rmdir(kernels);
    assert_int_equal(rmdir(root), 0);
    free(kernels);
}

static void capabilities_parse(void **state)
{
    (void)state;
    assert_int_equal(capability_parse("8.0"), 80);
    assert_int_equal(capability_parse("12.1"), 121);
    assert_int_equal(capability_parse("8"), 0);
    assert_int_equal(capability_parse("8.0a"), 0);
    assert_int_equal(capability_parse(NULL), 0);
}

/* The real lab's text with a list of conditions in place of its own. */
static bool load_with(const char *done, struct err *err)
{
    char root[] = "/tmp/stride-lab-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *folder = mem_printf("%s/kernels/x", root), *path = path_join(folder, "lab.yaml");
    char *kernels = path_join(root, "kernels");
    struct buf text = {0};
    struct labfile *lab = NULL;
    assert_true(file_make_dirs(folder, err));
    assert_true(file_read(&text, "kernels/cp-async/lab.yaml", 1 << 20, err));
    assert_null(strstr(buf_str(&text), "\ndone:"));
    buf_printf(&text, "done:\n%s", done);
    assert_true(file_write(path, buf_str(&text), text.len, false, err));
    err->text[0] = '\0';
    bool ok = labfile_load(&lab, root, "x", err);
    if (ok) {
        assert_int_equal(lab->done_count, 2);
        assert_int_equal(lab->done[0].step, STEP_MEASURED_WITH);
        assert_string_equal(lab->done[0].landmark, lab->landmarks[0].name);
        assert_int_equal(lab->done[1].question, 3);
        labfile_free(lab);
    }
    unlink(path);
    rmdir(folder);
    rmdir(kernels);
    assert_int_equal(rmdir(root), 0);
    buf_free(&text);
    free(kernels);
    free(path);
    free(folder);
    return ok;
}

static void conditions_name_what_there_is(void **state)
{
    (void)state;
    struct labfile *real;
    struct err err = {0};
    assert_true(labfile_load(&real, ".", "cp-async", &err));
    char *good = mem_printf("  - step: measured-with\n    landmark: %s\n"
                            "  - step: answered\n    question: 3\n",
                            real->landmarks[0].name);
    labfile_free(real);
    if (!load_with(good, &err))
        fail_msg("%s", err.text);
    free(good);
    static const char *const bad[] = {
        "  - step: measured-with\n",
        "  - step: measured-without\n    landmark: nothing-like-it\n",
        "  - step: answered\n",
        "  - step: answered\n    landmark: cp.async\n    question: 1\n",
        "  - step: danced\n    question: 1\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(load_with(bad[i], &err));
        assert_non_null(strstr(err.text, "lab.yaml"));
    }
}

/* A host lab's text with this structure. */
static bool load_structure(const char *kind, const char *structure, struct labfile **lab,
                           struct err *err)
{
    char root[] = "/tmp/stride-lab-XXXXXX";
    assert_non_null(mkdtemp(root));
    char *folder = mem_printf("%s/kernels/x", root), *path = path_join(folder, "lab.yaml");
    char *kernels = path_join(root, "kernels");
    struct buf text = {0};
    buf_printf(&text,
               "order: 1\ntitle: {en: T, zh: T}\nsummary: {en: S, zh: S}\nlesson: 01-x\nkind: %s\n"
               "entry: xRun\ncapability: \"7.5\"\ncheck_sizes: [1]\nsim_sizes: [1]\ntime_size: 1\n"
               "limit: bus\ngoal: 0.9\nlandmarks: []\nstructure:\n%shints: []\n",
               kind, structure);
    assert_true(file_make_dirs(folder, err));
    assert_true(file_write(path, buf_str(&text), text.len, false, err));
    err->text[0] = '\0';
    bool ok = labfile_load(lab, root, "x", err);
    unlink(path);
    rmdir(folder);
    rmdir(kernels);
    assert_int_equal(rmdir(root), 0);
    buf_free(&text);
    free(kernels);
    free(path);
    free(folder);
    return ok;
}

static void structure_has_one_bound(void **state)
{
    (void)state;
    struct labfile *lab;
    struct err err = {0};
    static const char good[] =
        "  - {name: overlap, metric: copy_overlap, at_least: 0.5, text: {en: a, zh: b}}\n"
        "  - {name: waits, metric: host_waits, at_most: 0, text: {en: a, zh: b}}\n";
    if (!load_structure("host", good, &lab, &err))
        fail_msg("%s", err.text);
    assert_int_equal(lab->limit, LIMIT_BUS);
    assert_int_equal(lab->structure_count, 2);
    assert_int_equal(lab->structure[0].metric, METRIC_COPY_OVERLAP);
    assert_true(*lab->structure[0].at_least > 0.49 && *lab->structure[0].at_least < 0.51);
    assert_null(lab->structure[0].at_most);
    assert_null(lab->structure[1].at_least);
    assert_non_null(lab->structure[1].at_most);
    assert_string_equal(lab_metric_name(lab->structure[1].metric), "host_waits");
    labfile_free(lab);
    static const char *const bad[] = {
        "  - {name: x, metric: host_waits, text: {en: a, zh: b}}\n",
        "  - {name: x, metric: host_waits, at_most: 1, at_least: 1, text: {en: a, zh: b}}\n",
        "  - {name: x, metric: beauty, at_most: 1, text: {en: a, zh: b}}\n",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_false(load_structure("host", bad[i], &lab, &err));
        assert_non_null(strstr(err.text, "lab.yaml"));
    }
    assert_false(load_structure("kernel", good, &lab, &err));
    assert_non_null(strstr(err.text, "host lab"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lab_of_the_course_loads),
        cmocka_unit_test(broken_lab_names_its_line),
        cmocka_unit_test(conditions_name_what_there_is),
        cmocka_unit_test(structure_has_one_bound),
        cmocka_unit_test(broken_numbers_are_named),
        cmocka_unit_test(capabilities_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

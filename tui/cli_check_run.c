/* Kernels of the content, judged as a student's would be. While one is judged the next child warms.
 */
#include "cli_check.h"

#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERDICTS_MOST = 8 };

/* What a kernel may get. The first line says it: "// verdict: hazard"; a further line
 * "// verdict-gpu: wrong, pass (why)" adds what hardware may say when it decides, and
 * "// misses: NAME" an entry of the lab's structure that its run must not show. */
struct expected {
    enum verdict verdicts[VERDICTS_MOST];
    int count;
    enum verdict gpu[VERDICTS_MOST];
    int gpu_count;
    char misses[64];
};

/* Reads "a, b (remark)"; false when a word is no verdict. */
static bool parse_list(const char *at, enum verdict out[VERDICTS_MOST], int *count)
{
    while (*count < VERDICTS_MOST) {
        char word[24];
        at += strspn(at, " ,\t\r");
        size_t len = strspn(at, "abcdefghijklmnopqrstuvwxyz-");
        if (!len)
            break;
        snprintf(word, sizeof word, "%.*s", (int)len, at);
        if (!verdict_parse(&out[*count], word))
            return false;
        (*count)++;
        at += len;
    }
    return *count > 0;
}

static bool parse_expected(const char *text, struct expected *out)
{
    static const char first[] = "// verdict:", second[] = "// verdict-gpu:", third[] = "// misses:";
    char line[256];
    bool ok = false;
    *out = (struct expected){0};
    for (int number = 0; *text && number < 8 && strncmp(text, "//", 2) == 0; number++) {
        size_t len = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int)len, text);
        if (number == 0 && strncmp(line, first, sizeof first - 1) == 0)
            ok = parse_list(line + sizeof first - 1, out->verdicts, &out->count);
        else if (strncmp(line, second, sizeof second - 1) == 0)
            ok = parse_list(line + sizeof second - 1, out->gpu, &out->gpu_count) && ok;
        else if (strncmp(line, third, sizeof third - 1) == 0)
            ok = sscanf(line + sizeof third - 1, " %63s", out->misses) == 1 && ok;
        text += len + (text[len] == '\n');
    }
    return ok;
}

static bool among(enum verdict verdict, const enum verdict *list, int count)
{
    for (int i = 0; i < count; i++)
        if (list[i] == verdict)
            return true;
    return false;
}

/* Two children that take turns. */
struct pair {
    struct check *check;
    struct runner runners[2];
    int turn;
};

static void warm_other(struct pair *pair)
{
    struct runner *other = &pair->runners[!pair->turn];
    if (other->state == RUNNER_OFF)
        runner_warm(other, pair->check->cli->library.root, pair->check->lab->slug, NULL);
}

/* Judges one file; the runner stays valid until the next call. NULL after a FAIL. */
static struct runner *judge(struct pair *pair, const char *name, bool timed, bool more)
{
    static const char *const untimed[] = {"compile", "check", "hazards", "disasm", NULL};
    struct cli *cli = pair->check->cli;
    pair->turn = !pair->turn;
    struct runner *runner = &pair->runners[pair->turn];
    if (runner->state != RUNNER_WARMING && runner->state != RUNNER_WARM)
        runner_free(runner);
    if (more)
        warm_other(pair);
    char *path = library_lab_path(&cli->library, pair->check->lab->slug, name);
    struct runner_job job = {
        .source = path, .backend = cli->backend, .stages = timed ? NULL : untimed};
    int status = cli_judge(cli, runner, pair->check->lab->slug, &job, false);
    free(path);
    if (status != CLI_OK)
        check_say(pair->check, CHECK_FAIL, name, "%s",
                  *runner->trouble ? runner->trouble : _("the harness could not be started"));
    return status == CLI_OK ? runner : NULL;
}

/* Whether the attempt says nothing about the kernel, only about the machine. */
static bool could_not_run(const struct runner *runner)
{
    return runner->attempt.verdict == VERDICT_CANNOT_RUN;
}

static size_t count_warnings(const json_t *record)
{
    const json_t *found = json_object_get(json_object_get(record, "build"), "diagnostics");
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(found); i++)
        count += strcmp(json_text_at(json_array_get(found, i), "severity"), "note") != 0;
    return count;
}

static const char *missing_landmark(const json_t *record)
{
    const json_t *landmarks = json_object_get(record, "landmarks");
    for (size_t i = 0; i < json_array_size(landmarks); i++)
        if (json_is_false(json_object_get(json_array_get(landmarks, i), "ok")))
            return json_text_at(json_array_get(landmarks, i), "name");
    return NULL;
}

/* The entry of `structure` with this name, or the first that is not ok (NULL). */
static const json_t *find_structure(const json_t *record, const char *name)
{
    const json_t *list = json_object_get(record, "structure");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);
        if (name ? strcmp(json_text_at(one, "name"), name) == 0
                 : json_is_false(json_object_get(one, "ok")))
            return one;
    }
    return NULL;
}

/* That a run whose answers are right is not built as the lab asks, where its file says so. */
static bool misses_as_said(struct check *check, const char *name, const struct expected *expected,
                           const struct attempt *attempt)
{
    if (attempt->verdict != VERDICT_PASS || !check->lab->structure_count)
        return true;
    const json_t *entry =
        *expected->misses ? find_structure(attempt->record, expected->misses) : NULL;
    if (!*expected->misses)
        check_say(check, CHECK_FAIL, name, "%s",
                  _("it passes, and no line \"// misses: NAME\" says what its run does not show"));
    else if (!entry)
        check_say(check, CHECK_FAIL, name, _("its run was not looked at for %s"), expected->misses);
    else if (json_is_true(json_object_get(entry, "ok")))
        check_say(check, CHECK_FAIL, name, _("its run shows %s, which it is to miss"),
                  expected->misses);
    else
        return true;
    return false;
}

/* False when kernels can't run here at all. */
static bool run_solution(struct pair *pair)
{
    struct runner *runner = judge(pair, "solution.cu", true, true);
    if (!runner)
        return false;
    const json_t *record = runner->attempt.record;
    const char *landmark = missing_landmark(record);
    if (could_not_run(runner))
        check_say(pair->check, CHECK_SKIP, "kernels", "%s", attempt_summary(&runner->attempt));
    else if (runner->attempt.verdict != VERDICT_PASS)
        check_say(pair->check, CHECK_FAIL, "solution passes", "%s: %s",
                  verdict_name(runner->attempt.verdict), attempt_summary(&runner->attempt));
    else if (count_warnings(record))
        check_say(pair->check, CHECK_FAIL, "solution passes", _("the compiler warns (%zu)"),
                  count_warnings(record));
    else if (find_structure(record, NULL))
        check_say(pair->check, CHECK_FAIL, "solution passes", _("its run does not show %s"),
                  json_text_at(find_structure(record, NULL), "name"));
    else if (landmark)
        check_say(pair->check, CHECK_FAIL, "solution passes",
                  _("the landmark %s is not in its listing"), landmark);
    else
        check_say(pair->check, CHECK_OK, "solution passes", "%s", json_text_at(record, "backend"));
    return !could_not_run(runner);
}

/* The starter has to compile, and must not be what the lab asks for. */
static void run_starter(struct pair *pair)
{
    struct runner *runner = judge(pair, "starter.cu", true, true);
    if (!runner)
        return;
    const json_t *record = runner->attempt.record, *timing = json_object_get(record, "timing");
    bool built_so = pair->check->lab->structure_count && !find_structure(record, NULL) &&
                    runner->attempt.verdict == VERDICT_PASS;
    if (runner->attempt.verdict == VERDICT_NO_BUILD)
        check_say(pair->check, CHECK_FAIL, "starter is a start", "%s",
                  attempt_summary(&runner->attempt));
    else if (json_is_true(json_object_get(timing, "goal_reached")) || (!timing && built_so))
        check_say(pair->check, CHECK_FAIL, "starter is a start", "%s",
                  _("it reaches the goal already"));
    else
        check_say(pair->check, CHECK_OK, "starter is a start", "%s",
                  verdict_name(runner->attempt.verdict));
}

/* right/x.cu: a mended variant, or the second version that a negative lab asks for. It passes,
 * reaches the goal where it can be timed, and has in it what a landmark merely counts. */
static void run_right(struct pair *pair, const char *name)
{
    struct runner *runner = judge(pair, name, true, true);
    if (!runner)
        return;
    const json_t *record = runner->attempt.record, *timing = json_object_get(record, "timing");
    const struct labfile *lab = pair->check->lab;
    const json_t *first = json_array_get(json_object_get(record, "landmarks"), 0);
    bool counted = lab->landmarks_count && lab->landmarks[0].at_least == 0;
    if (runner->attempt.verdict != VERDICT_PASS)
        check_say(pair->check, CHECK_FAIL, name, "%s: %s", verdict_name(runner->attempt.verdict),
                  attempt_summary(&runner->attempt));
    else if (counted && json_integer_value(json_object_get(first, "found")) < 1)
        check_say(pair->check, CHECK_FAIL, name, _("the landmark %s is not in its listing"),
                  json_text_at(first, "name"));
    else if (json_is_false(json_object_get(timing, "goal_reached")))
        check_say(pair->check, CHECK_FAIL, name, _("it misses the goal: %s"),
                  attempt_summary(&runner->attempt));
    else
        check_say(pair->check, CHECK_OK, name, "%s", verdict_name(VERDICT_PASS));
}

static void run_all_right(struct pair *pair)
{
    char **names = NULL;
    int count =
        library_list_kernels(&pair->check->cli->library, pair->check->lab->slug, "right", &names);
    for (int i = 0; i < count; i++) {
        run_right(pair, names[i]);
        free(names[i]);
    }
    free(names);
}

static void run_wrong(struct pair *pair, const char *name, bool more)
{
    struct check *check = pair->check;
    struct buf text = {0};
    struct expected expected;
    bool ok = check_read(check, name, &text);
    if (ok && !parse_expected(buf_str(&text), &expected)) {
        check_say(check, CHECK_FAIL, name, "%s",
                  _("the first line has to be \"// verdict: NAME\""));
        ok = false;
    }
    struct runner *runner = ok ? judge(pair, name, false, more) : NULL;
    if (runner) {
        enum verdict got = runner->attempt.verdict;
        bool on_gpu = strcmp(json_text_at(runner->attempt.record, "backend"), "gpu") == 0;
        bool due = among(got, expected.verdicts, expected.count) ||
                   (on_gpu && among(got, expected.gpu, expected.gpu_count));
        if (due && misses_as_said(check, name, &expected, &runner->attempt))
            check_say(check, CHECK_OK, name, "%s", verdict_name(got));
        else if (!due && got == VERDICT_CANNOT_RUN)
            check_say(check, CHECK_SKIP, name, "%s", attempt_summary(&runner->attempt));
        else if (!due)
            check_say(check, CHECK_FAIL, name, _("%s is expected, but: %s: %s"),
                      verdict_name(expected.verdicts[0]), verdict_name(got),
                      attempt_summary(&runner->attempt));
    }
    buf_free(&text);
}

void check_run_kernels(struct check *check)
{
    struct pair pair = {.check = check};
    char **names = NULL;
    int count = library_list_kernels(&check->cli->library, check->lab->slug, "wrong", &names);
    bool runs = run_solution(&pair);
    if (runs) {
        run_starter(&pair);
        run_all_right(&pair);
    }
    for (int i = 0; i < count; i++) {
        /* Without a back end the compiler's verdicts can still be had. */
        run_wrong(&pair, names[i], i + 1 < count);
        free(names[i]);
    }
    free(names);
    runner_free(&pair.runners[0]);
    runner_free(&pair.runners[1]);
}

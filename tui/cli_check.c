/* The content check for authors. cli_check.c reads, cli_check_run.c runs kernels. One line for each
 * thing that was looked at: ok, FAIL with the reason, or skip with what this machine lacks. */
#include "cli_check.h"

#include "doc.h"
#include "quiz.h"

#include "harness/base/clean.h"
#include "harness/base/file.h"
#include "harness/base/kind.h"
#include "harness/base/msg.h"
#include "harness/base/verdict.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum {
    CODE_COLUMNS = 76,
    QUESTIONS_LEAST = 8,
    WRONG_LEAST = 6,
    HINTS_LEAST = 3,
    GUESSING_LEAST = 4
};

void check_say(struct check *check, enum check_result result, const char *name, const char *format,
               ...)
{
    static const char *const words[] = {"ok", "FAIL", "skip"};
    char *why = NULL;
    va_list args;
    va_start(args, format);
    if (vasprintf(&why, format, args) < 0)
        why = NULL;
    va_end(args);
    say("%s %s %s%s%s\n", words[result], check->lab->slug, name, why && *why ? ": " : "",
        why ? why : "");
    fflush(stdout);
    free(why);
    check->failed += result == CHECK_FAIL;
    check->skipped += result == CHECK_SKIP;
}

bool check_read(struct check *check, const char *name, struct buf *out)
{
    struct err err = {0};
    char *path = library_lab_path(&check->cli->library, check->lab->slug, name);
    bool ok = file_read(out, path, 1 << 20, &err);
    if (!ok)
        check_say(check, CHECK_FAIL, name, "%s", err.text);
    free(path);
    return ok;
}

/* ---- code */

/* The next line of *at, without its end; false at the end of the text. */
static bool next_line(const char **at, const char **line, size_t *len)
{
    if (!**at)
        return false;
    *line = *at;
    *len = strcspn(*at, "\n");
    *at += *len + ((*at)[*len] == '\n');
    return true;
}

/* Copies the text without what stands between the marks; *regions counts them. */
static void outside_marks(const char *text, struct buf *out, int *regions)
{
    const char *line;
    size_t len;
    bool inside = false;
    *regions = 0;
    while (next_line(&text, &line, &len)) {
        bool opens = memmem(line, len, "// >>> your code", 16) != NULL;
        bool closes = memmem(line, len, "// <<< your code", 16) != NULL;
        inside = inside && !closes;
        if (!inside) {
            buf_add(out, line, len);
            buf_add_char(out, '\n');
        }
        *regions += opens;
        inside = inside || opens;
    }
    if (inside)
        *regions = 0; /* never closed */
}

/* That the kernel and the solution are equal outside the marks. */
static void check_region(struct check *check, const char *name, const char *label)
{
    struct buf starter = {0}, solution = {0}, a = {0}, b = {0};
    int in_starter = 0, in_solution = 0;
    if (check_read(check, name, &starter) && check_read(check, "solution.cu", &solution)) {
        outside_marks(buf_str(&starter), &a, &in_starter);
        outside_marks(buf_str(&solution), &b, &in_solution);
        if (!in_starter || in_starter != in_solution)
            check_say(check, CHECK_FAIL, label, "%s",
                      _("starter and solution need the same pairs of // >>> your "
                        "code and // <<< your code"));
        else if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
            check_say(check, CHECK_FAIL, label, "%s",
                      _("starter and solution differ outside the marks"));
        else if (strcmp(name, "starter.cu") == 0 &&
                 strcmp(buf_str(&starter), buf_str(&solution)) == 0)
            check_say(check, CHECK_FAIL, label, "%s",
                      _("starter and solution are the same: nothing is left to do"));
        else
            check_say(check, CHECK_OK, label, "%s", "");
    }
    buf_free(&starter);
    buf_free(&solution);
    buf_free(&a);
    buf_free(&b);
}

static void check_width(struct check *check, const char *name, const char *text, bool only_fenced)
{
    const char *line;
    size_t len;
    bool fenced = !only_fenced;
    for (int number = 1; next_line(&text, &line, &len); number++) {
        if (only_fenced && len >= 3 && strncmp(line, "```", 3) == 0) {
            fenced = !fenced;
        } else if (fenced && text_columns(line, len) > CODE_COLUMNS) {
            check_say(check, CHECK_FAIL, name, _("line %d has %d columns, and code has at most %d"),
                      number, text_columns(line, len), CODE_COLUMNS);
            return;
        }
    }
    check_say(check, CHECK_OK, name, "%s", "");
}

static void check_code(struct check *check)
{
    static const char *const names[] = {"starter.cu", "solution.cu", "baseline.cu"};
    for (size_t i = 0; i < 3; i++) {
        struct buf text = {0};
        if (check_read(check, names[i], &text))
            check_width(check, names[i], buf_str(&text), false);
        buf_free(&text);
    }
}

/* ---- texts */

/* That nothing in it is dropped or replaced before it is shown. */
static void check_characters(struct check *check, const char *name, const char *text, size_t len)
{
    const char *end = text + len;
    for (int number = 1; text < end; number++) {
        const char *stop = memchr(text, '\n', (size_t)(end - text)), *next = stop ? stop + 1 : end;
        size_t width = (size_t)((stop ? stop : end) - text);
        if (number == 1 && width >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
            text += 3;
            width -= 3;
        }
        width -= width && text[width - 1] == '\r';
        if (!clean_is(text, width))
            check_say(check, CHECK_FAIL, name,
                      _("line %d has a control character, or bytes that are not UTF-8"), number);
        text = next;
    }
}

static bool read_lesson(struct check *check, const char *name, struct buf *out)
{
    struct err err = {0};
    char *path = mem_printf("%s/lessons/%s/%s", check->cli->library.root, check->lab->lesson, name);
    bool ok = file_read(out, path, 4 << 20, &err);
    if (!ok)
        check_say(check, CHECK_FAIL, name, "%s", err.text);
    else
        check_characters(check, name, buf_str(out), out->len);
    free(path);
    return ok;
}

/* Headings by level and code blocks in order: what two languages of one text have in common. */
static void outline(const char *text, struct buf *out)
{
    const char *line;
    size_t len;
    bool fenced = false;
    while (next_line(&text, &line, &len)) {
        size_t level = strspn(line, "#");
        if (len >= 3 && strncmp(line, "```", 3) == 0) {
            fenced = !fenced;
            if (fenced)
                buf_add_char(out, '`');
        } else if (!fenced && level && level <= 6 && level < len && line[level] == ' ') {
            buf_add_char(out, (char)('0' + level));
        }
    }
}

static void check_lessons(struct check *check)
{
    struct buf english = {0}, chinese = {0}, a = {0}, b = {0};
    if (read_lesson(check, "lesson.md", &english) && read_lesson(check, "lesson.zh.md", &chinese)) {
        check_width(check, "lesson.md", buf_str(&english), true);
        check_width(check, "lesson.zh.md", buf_str(&chinese), true);
        outline(buf_str(&english), &a);
        outline(buf_str(&chinese), &b);
        if (strcmp(buf_str(&a), buf_str(&b)) != 0)
            check_say(check, CHECK_FAIL, "languages",
                      _("headings and code blocks differ: %s and %s"), buf_str(&a), buf_str(&b));
        else
            check_say(check, CHECK_OK, "languages", "%s", "");
    }
    buf_free(&english);
    buf_free(&chinese);
    buf_free(&a);
    buf_free(&b);
}

static bool parse_quiz(struct check *check, const char *name, struct quiz *quiz)
{
    struct buf text = {0}, problems = {0};
    bool ok = read_lesson(check, name, &text);
    if (ok && !quiz_parse(quiz, name, buf_str(&text), text.len, &problems)) {
        while (problems.len && problems.data[problems.len - 1] == '\n')
            problems.data[--problems.len] = '\0';
        check_say(check, CHECK_FAIL, name, "%s", buf_str(&problems));
        ok = false;
    }
    if (ok && quiz->count < QUESTIONS_LEAST)
        check_say(check, CHECK_FAIL, name, _("%d questions; a lab has at least %d"), quiz->count,
                  QUESTIONS_LEAST);
    else if (ok)
        check_say(check, CHECK_OK, name, _("%d questions"), quiz->count);
    buf_free(&text);
    buf_free(&problems);
    return ok;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

/* The first question whose answers differ between the languages; 0 when none does. */
static int first_difference(const struct quiz *a, const struct quiz *b)
{
    for (int i = 0; i < a->count && i < b->count; i++) {
        const struct quiz_question *one = &a->questions[i], *other = &b->questions[i];
        bool same = one->choice_count == other->choice_count &&
                    same_text(one->predict, other->predict) &&
                    same_text(one->landmark, other->landmark) && one->without == other->without &&
                    one->limit_count == other->limit_count;
        for (int k = 0; same && k < one->choice_count; k++)
            same = one->choices[k].right == other->choices[k].right;
        for (int k = 0; same && k < one->limit_count; k++)
            same = !(one->limits[k] < other->limits[k] || one->limits[k] > other->limits[k]);
        if (!same)
            return i + 1;
    }
    return a->count == b->count ? 0 : (a->count < b->count ? a->count : b->count) + 1;
}

static bool has_landmark(const struct labfile *lab, const char *name)
{
    for (unsigned i = 0; i < lab->landmarks_count; i++)
        if (strcmp(lab->landmarks[i].name, name) == 0)
            return true;
    return false;
}

/* That the quiz names landmarks that there are, and lab.yaml questions that there are. */
static void check_conditions(struct check *check, const struct quiz *quiz)
{
    const struct labfile *lab = check->lab;
    for (int i = 0; i < quiz->count; i++) {
        const char *landmark = quiz->questions[i].landmark;
        if (landmark && !has_landmark(lab, landmark))
            check_say(check, CHECK_FAIL, "quiz.md",
                      _("question %d names no landmark of the lab: %s"), i + 1, landmark);
    }
    for (unsigned i = 0; i < lab->done_count; i++)
        if (lab->done[i].step == STEP_ANSWERED && lab->done[i].question > (unsigned)quiz->count)
            check_say(check, CHECK_FAIL, "done", _("the quiz has no question %u"),
                      lab->done[i].question);
}

/* ---- a quiz that guessing does not pass */

enum { STANDS_OUT_PERCENT = 125, STANDS_OUT_COLUMNS = 3 };

/* The one right choice of a question; -1 for a prediction and where several are right. */
static int right_choice(const struct quiz_question *question)
{
    for (int i = 0; i < question->choice_count && !question->many && !question->predict; i++)
        if (question->choices[i].right)
            return i;
    return -1;
}

/* Whether one sees from the lengths which choice it is. */
static bool is_longest(const struct quiz_question *question, int right)
{
    int own = 0, most = 0;
    for (int i = 0; i < question->choice_count; i++) {
        const char *text = question->choices[i].text;
        int columns = text_columns(text, strlen(text));
        if (i == right)
            own = columns;
        else if (columns > most)
            most = columns;
    }
    return own * 100 > most * STANDS_OUT_PERCENT && own - most >= STANDS_OUT_COLUMNS;
}

/* That neither the length of a choice nor its letter gives the answers away: in at most half of the
 * questions the right choice is the longest by more than a quarter, and no letter is right in more
 * than half. */
static void check_guessing(struct check *check, const char *name, const struct quiz *quiz)
{
    int questions = 0, longest = 0, letters[QUIZ_CHOICES] = {0}, often = 0;
    for (int i = 0; i < quiz->count; i++) {
        int right = right_choice(&quiz->questions[i]);
        if (right < 0)
            continue;
        questions++;
        longest += is_longest(&quiz->questions[i], right);
        letters[right]++;
        if (letters[right] > letters[often])
            often = right;
    }
    char *label = mem_printf("%s guessing", name);
    if (questions < GUESSING_LEAST || (longest * 2 <= questions && letters[often] * 2 <= questions))
        check_say(check, CHECK_OK, label, "%s", "");
    if (questions >= GUESSING_LEAST && longest * 2 > questions)
        check_say(check, CHECK_FAIL, label,
                  _("in %d of %d questions the right choice is the longest by more than a quarter; "
                    "what explains it belongs into its reason"),
                  longest, questions);
    if (questions >= GUESSING_LEAST && letters[often] * 2 > questions)
        check_say(check, CHECK_FAIL, label, _("in %d of %d questions the right choice is %c"),
                  letters[often], questions, 'a' + often);
    free(label);
}

static void check_quizzes(struct check *check)
{
    struct quiz english = {0}, chinese = {0};
    bool ok = parse_quiz(check, "quiz.md", &english);
    if (ok) {
        check_conditions(check, &english);
        check_guessing(check, "quiz.md", &english);
    }
    if (parse_quiz(check, "quiz.zh.md", &chinese) && ok) {
        check_guessing(check, "quiz.zh.md", &chinese);
        int differs = first_difference(&english, &chinese);
        if (differs)
            check_say(check, CHECK_FAIL, "quiz languages", _("question %d differs"), differs);
        else
            check_say(check, CHECK_OK, "quiz languages", "%s", "");
    }
    quiz_free(&english);
    quiz_free(&chinese);
}

/* ---- hints */

/* Adds a word to a list; returns whether it is the one that is looked for. */
static bool list_word(struct buf *list, const char *word, const char *wanted)
{
    buf_printf(list, "%s%s", list->len ? ", " : "", word);
    return strcmp(word, wanted) == 0;
}

/* Whether a hint's when is a word that a record can have; *list gets all that are. */
static bool knows_when(const struct labfile *lab, const char *when, struct buf *list)
{
    bool known = list_word(list, "any", when);
    known |= list_word(list, "slow", when);
    for (enum verdict v = 0; v < VERDICT_COUNT; v++)
        known |= list_word(list, verdict_name(v), when);
    for (unsigned i = 0; i < lab->structure_count; i++)
        known |= list_word(list, lab->structure[i].name, when);
    for (unsigned i = 0; kind_name(i); i++)
        known |= list_word(list, kind_name(i), when);
    return known;
}

static void check_hints(struct check *check)
{
    const struct labfile *lab = check->lab;
    bool ok = lab->hints_count >= HINTS_LEAST;
    if (!ok)
        check_say(check, CHECK_FAIL, "hints", _("%u hints; a lab has at least %d"),
                  lab->hints_count, HINTS_LEAST);
    for (unsigned i = 0; i < lab->hints_count; i++) {
        struct buf words = {0};
        if (!knows_when(lab, lab->hints[i].when, &words)) {
            check_say(check, CHECK_FAIL, "lab.yaml",
                      _("hint %u has when: %s, which no record can show; one of these: %s"), i + 1,
                      lab->hints[i].when, buf_str(&words));
            ok = false;
        }
        buf_free(&words);
    }
    if (ok)
        check_say(check, CHECK_OK, "hints", "%u", lab->hints_count);
}

/* ---- variants of the starter, and wrong kernels' names */

/* That variants/x.cu stands, after the lines with its verdict, among the wrong kernels as
 * wrong/variant-x.cu: so it is judged like them. */
static void check_variant_is_wrong(struct check *check, const char *name, const struct buf *variant)
{
    struct buf wrong = {0};
    char *other = mem_printf("wrong/variant-%s", strchr(name, '/') + 1);
    if (check_read(check, other, &wrong) &&
        (wrong.len <= variant->len ||
         memcmp(wrong.data + wrong.len - variant->len, variant->data, variant->len) != 0))
        check_say(check, CHECK_FAIL, other, _("it is not %s with its verdict before it"), name);
    free(other);
    buf_free(&wrong);
}

static void check_variants(struct check *check)
{
    char **names = NULL;
    int count = library_list_kernels(&check->cli->library, check->lab->slug, "variants", &names);
    for (int i = 0; i < count; i++) {
        struct buf text = {0};
        char *label = mem_printf("%s marks", names[i]);
        if (check_read(check, names[i], &text)) {
            check_region(check, names[i], label);
            check_width(check, names[i], buf_str(&text), false);
            check_variant_is_wrong(check, names[i], &text);
        }
        buf_free(&text);
        free(label);
        free(names[i]);
    }
    free(names);
}

static void check_wrong_count(struct check *check)
{
    char **names = NULL;
    int count = library_list_kernels(&check->cli->library, check->lab->slug, "wrong", &names);
    if (count < WRONG_LEAST)
        check_say(check, CHECK_FAIL, "wrong", _("%d wrong kernels; a lab has at least %d"), count,
                  WRONG_LEAST);
    for (int i = 0; i < count; i++)
        free(names[i]);
    free(names);
}

/* ---- */

static void check_lab(struct check *check)
{
    check_region(check, "starter.cu", "marks");
    check_code(check);
    check_lessons(check);
    check_quizzes(check);
    check_hints(check);
    check_variants(check);
    check_wrong_count(check);
    check_run_kernels(check);
}

int cli_check(struct cli *cli)
{
    int failed = 0, skipped = 0;
    for (int i = 0; i < cli->argument_count; i++)
        if (!cli_lab(cli, cli->arguments[i]))
            return CLI_USAGE;
    unsigned count = cli->argument_count ? (unsigned)cli->argument_count : cli->library.lab_count;
    for (unsigned i = 0; i < count; i++) {
        struct check check = {.cli = cli,
                              .lab = cli->argument_count
                                         ? library_find(&cli->library, cli->arguments[i])
                                         : cli->library.labs[i]};
        check_lab(&check);
        failed += check.failed;
        skipped += check.skipped;
    }
    say(_("%u labs: %d problems, %d things could not be checked here\n"), count, failed, skipped);
    return failed ? CLI_BROKEN_LAB : skipped ? CLI_CANNOT : CLI_OK;
}

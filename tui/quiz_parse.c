/* How to read this: the file is read line by line; `part` says what the last line belonged to.
 * Lines of a code fence belong to the part that the fence began in, whatever they look like. */
#include "quiz.h"

#include "harness/base/buf.h"
#include "harness/base/clean.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum part { PART_HEAD, PART_BODY, PART_CHOICE, PART_WHY };

struct reader {
    struct quiz *quiz;
    const char *name;
    struct buf *problems;
    bool ok;
    int line;
    enum part part;
    bool in_fence;
    struct quiz_question question; /* the open one */
    bool open, bad;
    int number;                 /* of the open question, counted */
    struct buf body, text, why; /* of the open question and its newest choice */
};

static void problem(struct reader *reader, int line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void problem(struct reader *reader, int line, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (reader->problems)
        buf_printf(reader->problems, "%s:%d: %s\n", reader->name, line, text);
    reader->ok = false;
    reader->bad = true;
}

static void free_question(struct quiz_question *question)
{
    free(question->title);
    free(question->body);
    free(question->predict);
    free(question->landmark);
    free(question->found);
    for (int i = 0; i < question->choice_count; i++) {
        free(question->choices[i].text);
        free(question->choices[i].why);
    }
    for (int i = 0; i < question->value_count; i++)
        free(question->values[i]);
    *question = (struct quiz_question){0};
}

void quiz_free(struct quiz *quiz)
{
    for (int i = 0; i < quiz->count; i++)
        free_question(&quiz->questions[i]);
    free(quiz->questions);
    *quiz = (struct quiz){0};
}

/* Text without blank lines at its ends; empties the buffer. */
static char *take_text(struct buf *buf)
{
    size_t from = 0, to = buf->len;
    while (from < to && (buf->data[from] == '\n' || buf->data[from] == ' '))
        from++;
    while (to > from && (buf->data[to - 1] == '\n' || buf->data[to - 1] == ' '))
        to--;
    char *text = mem_printf("%.*s", (int)(to - from), buf->data ? buf->data + from : "");
    buf_clear(buf);
    return text;
}

static void end_choice(struct reader *reader)
{
    struct quiz_question *question = &reader->question;
    if (reader->part != PART_CHOICE && reader->part != PART_WHY)
        return;
    struct quiz_choice *choice = &question->choices[question->choice_count - 1];
    free(choice->text);
    free(choice->why);
    choice->text = take_text(&reader->text);
    choice->why = take_text(&reader->why);
    if (!*choice->text)
        problem(reader, reader->line, "choice %d of question %d has no text",
                question->choice_count, reader->number);
    if (!*choice->why)
        problem(reader, reader->line,
                "choice %d of question %d has no reason: add a line \"  > why\" below it",
                question->choice_count, reader->number);
}

static void check_question(struct reader *reader)
{
    struct quiz_question *question = &reader->question;
    int right = 0, at = question->line;
    for (int i = 0; i < question->choice_count; i++)
        right += question->choices[i].right;
    if (question->choice_count < 2)
        problem(reader, at, "question %d needs at least two choices (\"- [ ] text\")",
                reader->number);
    if (question->predict && right)
        problem(reader, at,
                "question %d is decided by a measurement, so none of its choices may be [x]",
                reader->number);
    if (!question->predict && !right)
        problem(reader, at, "question %d has no right choice: mark one with [x]", reader->number);
    if (question->limit_count && question->limit_count != question->choice_count - 1)
        problem(reader, at,
                "question %d has %d choices, so predict: needs %d numbers that part them",
                reader->number, question->choice_count, question->choice_count - 1);
    if (question->value_count && question->value_count != question->choice_count)
        problem(reader, at, "question %d has %d choices, so predict: needs as many values",
                reader->number, question->choice_count);
    for (int i = 1; i < question->limit_count; i++)
        if (!(question->limits[i] > question->limits[i - 1]))
            problem(reader, at, "the numbers of question %d's predict: must rise", reader->number);
    question->many = right > 1;
}

static void end_question(struct reader *reader)
{
    struct quiz *quiz = reader->quiz;
    if (!reader->open)
        return;
    end_choice(reader);
    if (reader->in_fence)
        problem(reader, reader->line, "a code fence of question %d is not closed", reader->number);
    reader->in_fence = false;
    reader->question.body = take_text(&reader->body);
    check_question(reader);
    if (reader->bad) {
        free_question(&reader->question);
    } else {
        quiz->questions =
            mem_grow(quiz->questions, (size_t)quiz->count + 1, sizeof *quiz->questions);
        quiz->questions[quiz->count++] = reader->question;
    }
    reader->question = (struct quiz_question){0};
    reader->open = reader->bad = false;
    buf_clear(&reader->text);
    buf_clear(&reader->why);
}

static void begin_question(struct reader *reader, const char *text)
{
    char *rest;
    end_question(reader);
    reader->part = PART_BODY;
    reader->number++;
    reader->open = true;
    reader->question.line = reader->line;
    long number = strtol(text, &rest, 10);
    if (rest == text || rest[0] != '.')
        problem(reader, reader->line, "write a question as \"## %d. text\"", reader->number);
    else if (number != reader->number)
        problem(reader, reader->line, "this is question %d, but it says %ld", reader->number,
                number);
    if (rest[0] == '.')
        rest++;
    rest += strspn(rest, " ");
    if (!*rest)
        problem(reader, reader->line, "question %d has no text", reader->number);
    reader->question.title = mem_strdup(rest);
    if (reader->number > QUIZ_QUESTIONS)
        problem(reader, reader->line, "a quiz has at most %d questions", QUIZ_QUESTIONS);
}

static void begin_choice(struct reader *reader, bool right, const char *text)
{
    struct quiz_question *question = &reader->question;
    end_choice(reader);
    if (question->choice_count == QUIZ_CHOICES) {
        problem(reader, reader->line, "question %d has more than %d choices", reader->number,
                QUIZ_CHOICES);
        question->choice_count--;
        free(question->choices[question->choice_count].text);
        free(question->choices[question->choice_count].why);
    }
    question->choices[question->choice_count++] = (struct quiz_choice){.right = right};
    reader->part = PART_CHOICE;
    buf_printf(&reader->text, "%s\n", text);
}

/* predict: PATH NUMBER..., or predict: PATH TEXT... */
static void read_predict(struct reader *reader, const char *text)
{
    struct quiz_question *question = &reader->question;
    char *copy = mem_strdup(text), *place = NULL;
    if (question->predict)
        problem(reader, reader->line, "question %d has a second predict:", reader->number);
    else
        for (char *word = strtok_r(copy, " \t,", &place); word;
             word = strtok_r(NULL, " \t,", &place)) {
            char *end;
            double number = strtod(word, &end);
            bool is_number = !*end && !question->value_count && number - number == 0;
            if (!question->predict)
                question->predict = mem_strdup(word);
            else if (question->limit_count + question->value_count == QUIZ_CHOICES)
                problem(reader, reader->line, "predict: has more than %d values", QUIZ_CHOICES);
            else if (is_number)
                question->limits[question->limit_count++] = number;
            else if (question->limit_count)
                problem(reader, reader->line,
                        "predict: \"%.40s\" is not a number like those before", word);
            else
                question->values[question->value_count++] = mem_strdup(word);
        }
    if (!question->limit_count && !question->value_count)
        problem(reader, reader->line,
                "predict: needs a path into the record and where the choices part, as in "
                "\"predict: timing.speedup.median 1.1 1.3\"");
    free(copy);
}

/* with: LANDMARK, or without: LANDMARK: which kernels decide the prediction above. */
static bool read_condition(struct reader *reader, const char *text)
{
    struct quiz_question *question = &reader->question;
    bool without = strncmp(text, "without:", 8) == 0;
    if (!question->predict || question->landmark || (!without && strncmp(text, "with:", 5) != 0))
        return false;
    text += without ? 8 : 5;
    text += strspn(text, " ");
    if (!*text)
        problem(reader, reader->line, "with: and without: need the name of a landmark");
    question->landmark = mem_strdup(text);
    question->without = without;
    return true;
}

static bool is_fence(const char *text)
{
    text += strspn(text, " ");
    return strncmp(text, "```", 3) == 0 || strncmp(text, "~~~", 3) == 0;
}

/* Line of the part that is open, without the two blanks that put it below its choice. */
static void add_to_part(struct reader *reader, const char *text)
{
    if (reader->part == PART_BODY)
        buf_printf(&reader->body, "%s\n", text);
    else if (reader->part == PART_CHOICE)
        buf_printf(&reader->text, "%s\n", strncmp(text, "  ", 2) == 0 ? text + 2 : text);
}

static void read_below_choice(struct reader *reader, const char *text)
{
    size_t blanks = strspn(text, " ");
    const char *rest = text + blanks;
    if (!*rest) {
        buf_add_char(reader->part == PART_WHY ? &reader->why : &reader->text, '\n');
    } else if (blanks < 2) {
        problem(reader, reader->line,
                "text behind the choices of question %d: reasons are indented, \"  > why\"",
                reader->number);
    } else if (*rest == '>') {
        reader->part = PART_WHY;
        buf_printf(&reader->why, "%s\n", rest[1] == ' ' ? rest + 2 : rest + 1);
    } else if (reader->part == PART_WHY) {
        problem(reader, reader->line,
                "a choice's reason ends here: begin each of its lines with >");
    } else {
        add_to_part(reader, text);
    }
}

static void read_line(struct reader *reader, const char *text)
{
    if (is_fence(text) || reader->in_fence) {
        if (is_fence(text))
            reader->in_fence = !reader->in_fence;
        add_to_part(reader, text);
        return;
    }
    bool box = strncmp(text, "- [", 3) == 0 && text[3] && text[4] == ']';
    if (strncmp(text, "## ", 3) == 0)
        begin_question(reader, text + 3);
    else if (reader->part == PART_HEAD)
        return;
    else if (box && strchr(" xX", text[3]))
        begin_choice(reader, text[3] != ' ', text + 5 + strspn(text + 5, " "));
    else if (reader->part != PART_BODY)
        read_below_choice(reader, text);
    else if (strncmp(text, "predict:", 8) == 0)
        read_predict(reader, text + 8);
    else if (!read_condition(reader, text))
        add_to_part(reader, text);
}

bool quiz_parse(struct quiz *out, const char *name, const char *text, size_t len,
                struct buf *problems)
{
    struct reader reader = {.quiz = out, .name = name, .problems = problems, .ok = true};
    struct buf clean = {0};
    clean_text(&clean, text, len);
    for (char *at = clean.data; at && *at;) {
        size_t line = strcspn(at, "\n");
        bool last = !at[line];
        at[line] = '\0';
        reader.line++;
        read_line(&reader, at);
        at += line + !last;
    }
    end_question(&reader);
    if (!reader.number)
        problem(&reader, 1, "no questions: each begins with \"## 1. text\"");
    buf_free(&clean);
    buf_free(&reader.body);
    buf_free(&reader.text);
    buf_free(&reader.why);
    return reader.ok;
}

/* A quiz: questions with choices, each choice with the reason why it is right or wrong, and what
 * the student answered. The format is described in docs/authoring.md.
 *
 * A quiz owns its texts; quiz_free gives them back. Progress goes in and out as JSON, which the
 * library keeps.
 *
 * It never asks a clock or the network, and never shows a reason before there is an answer.
 * Questions that the student's own measurement decides have no right choice in the file. */
#ifndef STRIDE_TUI_QUIZ_H
#define STRIDE_TUI_QUIZ_H

#include "doc.h"

#include "harness/base/buf.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUIZ_CHOICES = 8, QUIZ_QUESTIONS = 64 };

struct quiz_choice {
    char *text, *why; /* Markdown */
    bool right;
};

struct quiz_question {
    int line;           /* of the file */
    char *title, *body; /* Markdown; body may be "" */
    struct quiz_choice choices[QUIZ_CHOICES];
    int choice_count;
    bool many; /* more than one choice is right: chosen one by one, then checked */

    char *predict;   /* path into the record, NULL for an ordinary question */
    int limit_count; /* numbers that part the choices: choice k is right below limits[k] */
    double limits[QUIZ_CHOICES];
    int value_count; /* or texts, one for each choice */
    char *values[QUIZ_CHOICES];
    char *landmark; /* only kernels with this landmark's instruction in them decide... */
    bool without;   /* ...or only those without it; NULL: all do */

    /* The student's. */
    uint32_t chosen; /* a bit for each choice */
    bool answered;   /* checked; for a prediction: it was made */
    bool measured;   /* a prediction that a record has decided */
    bool right;      /* answered (and measured) and right */
    char *found;     /* what was measured, as text */
    int tries;
};

struct quiz {
    struct quiz_question *questions;
    int count;
};

/* Reads a quiz. Problems are appended as "NAME:LINE: what is wrong\n" (problems may be NULL);
 * returns whether there was none. Questions without a problem are there in any case. */
bool quiz_parse(struct quiz *out, const char *name, const char *text, size_t len,
                struct buf *problems);
void quiz_free(struct quiz *quiz);

/* Chooses. An ordinary question is answered by that; one with several right choices toggles the
 * choice until quiz_check; a prediction is made, and can be changed until it has been measured. A
 * question that was answered right stays so. Returns whether anything changed. */
bool quiz_choose(struct quiz *quiz, int question, int choice);

/* Checks the choices of a question with several right ones. */
bool quiz_check(struct quiz *quiz, int question);

/* Lets the record of an attempt (docs/record.md) decide the predictions that were made. Returns
 * whether anything changed. */
bool quiz_measure(struct quiz *quiz, const json_t *record);

/* Questions answered right. */
int quiz_score(const struct quiz *quiz);

/* The first question from `from` on, around the end, that is not answered right; `from` when all
 * are. */
int quiz_next_open(const struct quiz *quiz, int from);

/* Progress of one lab's quiz: {"1": {"chosen": [0], "right": true, "tries": 1, "found": "1.41"}}.
 * What does not fit the quiz (an older version of it) is left out. */
void quiz_from_json(struct quiz *quiz, const json_t *state);
json_t *quiz_to_json(const struct quiz *quiz); /* new reference */

/* What the tag of a doc line means. */
enum { QUIZ_TAG_CHOICE = 1 /* + index of the choice */, QUIZ_TAG_CHECK = 100 };

/* Shows one question. Lines that belong to a choice have its tag, also where they wrap. Code
 * is to fit `columns`; 0: any. */
void quiz_show(const struct quiz *quiz, int question, struct doc *doc, int columns);

#endif

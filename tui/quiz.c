#include "quiz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct quiz_question *get(struct quiz *quiz, int question)
{
    return question >= 0 && question < quiz->count ? &quiz->questions[question] : NULL;
}

static uint32_t right_choices(const struct quiz_question *question)
{
    uint32_t bits = 0;
    for (int i = 0; i < question->choice_count; i++)
        bits |= (uint32_t)question->choices[i].right << i;
    return bits;
}

static void answer(struct quiz_question *question)
{
    question->answered = true;
    question->right = question->chosen == right_choices(question);
    question->tries++;
}

bool quiz_choose(struct quiz *quiz, int number, int choice)
{
    struct quiz_question *question = get(quiz, number);
    if (!question || choice < 0 || choice >= question->choice_count || question->right)
        return false;
    uint32_t bit = 1u << choice;
    if (question->many) {
        question->chosen ^= bit;
        question->answered = false;
        return true;
    }
    if (question->answered && question->chosen == bit)
        return false;
    question->chosen = bit;
    if (!question->predict) {
        answer(question);
        return true;
    }
    question->answered = true;
    question->measured = false;
    free(question->found);
    question->found = NULL;
    return true;
}

bool quiz_check(struct quiz *quiz, int number)
{
    struct quiz_question *question = get(quiz, number);
    if (!question || !question->many || question->answered || !question->chosen)
        return false;
    answer(question);
    return true;
}

/* a.b.0.c: keys of objects, numbers of array elements. */
static const json_t *look_up(const json_t *record, const char *path)
{
    while (record && *path) {
        char key[64];
        size_t len = strcspn(path, ".");
        if (len >= sizeof key)
            return NULL;
        memcpy(key, path, len);
        key[len] = '\0';
        record = json_is_array(record) ? json_array_get(record, strtoul(key, NULL, 10))
                                       : json_object_get(record, key);
        path += len + (path[len] == '.');
    }
    return record;
}

/* The choice that the measured value makes right, -1 for none; false when it was not measured. */
static bool decide(const struct quiz_question *question, const json_t *value, int *choice,
                   char *text, size_t size)
{
    *choice = -1;
    if (question->limit_count) {
        if (!json_is_number(value) || !isfinite(json_number_value(value)))
            return false;
        double number = json_number_value(value);
        snprintf(text, size, "%.4g", number);
        *choice = 0;
        while (*choice < question->limit_count && number >= question->limits[*choice])
            ++*choice;
        return true;
    }
    if (json_is_boolean(value))
        snprintf(text, size, "%s", json_is_true(value) ? "true" : "false");
    else if (json_is_string(value))
        snprintf(text, size, "%s", json_string_value(value));
    else
        return false;
    for (int i = 0; i < question->value_count; i++)
        if (strcmp(question->values[i], text) == 0)
            *choice = i;
    return true;
}

/* Whether the kernel of this record is one that the prediction is about. */
static bool is_about(const struct quiz_question *question, const json_t *record)
{
    const json_t *list = json_object_get(record, "landmarks");
    if (strncmp(question->predict, "timing.", 7) == 0) {
        const json_t *timing = json_object_get(record, "timing");
        const char *verdict = json_string_value(json_object_get(timing, "verdict"));
        if (verdict && strcmp(verdict, "too-noisy") == 0)
            return false; /* says nothing, so it decides nothing */
    }
    for (size_t i = 0; question->landmark && i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *found = json_object_get(one, "found");
        const char *name = json_string_value(json_object_get(one, "name"));
        if (name && strcmp(name, question->landmark) == 0)
            return json_is_integer(found) && (json_integer_value(found) == 0) == question->without;
    }
    return !question->landmark;
}

bool quiz_measure(struct quiz *quiz, const json_t *record)
{
    bool changed = false;
    for (int i = 0; i < quiz->count; i++) {
        struct quiz_question *question = &quiz->questions[i];
        char text[64];
        int choice;
        if (!question->predict || !question->answered || question->right ||
            !is_about(question, record))
            continue;
        if (!decide(question, look_up(record, question->predict), &choice, text, sizeof text))
            continue;
        bool right = choice >= 0 && question->chosen == 1u << choice;
        if (question->measured && right == question->right && question->found &&
            strcmp(question->found, text) == 0)
            continue;
        question->tries += !question->measured;
        question->measured = true;
        question->right = right;
        free(question->found);
        question->found = mem_strdup(text);
        changed = true;
    }
    return changed;
}

int quiz_score(const struct quiz *quiz)
{
    int score = 0;
    for (int i = 0; i < quiz->count; i++)
        score += quiz->questions[i].right;
    return score;
}

int quiz_next_open(const struct quiz *quiz, int from)
{
    for (int i = 0; i < quiz->count; i++) {
        int at = (from + i) % quiz->count;
        if (at >= 0 && !quiz->questions[at].right)
            return at;
    }
    return from;
}

static void question_from_json(struct quiz_question *question, const json_t *state)
{
    const json_t *chosen = json_object_get(state, "chosen");
    const char *found = json_string_value(json_object_get(state, "found"));
    bool right = json_is_true(json_object_get(state, "right"));
    uint32_t bits = 0;
    for (size_t i = 0; i < json_array_size(chosen); i++) {
        json_int_t choice = json_integer_value(json_array_get(chosen, i));
        if (choice >= 0 && choice < question->choice_count)
            bits |= 1u << choice;
    }
    /* What is right is decided by the file of today, not by what was saved. */
    if (!bits || (!question->predict && right != (bits == right_choices(question))))
        return;
    question->chosen = bits;
    question->answered = true;
    question->measured = question->predict && found;
    question->right = question->predict ? right && found : right;
    json_int_t tries = json_integer_value(json_object_get(state, "tries"));
    question->tries = tries >= 0 && tries < 1000 ? (int)tries : 0;
    free(question->found);
    question->found = question->measured ? mem_strdup(found) : NULL;
}

void quiz_from_json(struct quiz *quiz, const json_t *state)
{
    for (int i = 0; i < quiz->count; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", i + 1);
        const json_t *question = json_object_get(state, key);
        if (question)
            question_from_json(&quiz->questions[i], question);
    }
}

json_t *quiz_to_json(const struct quiz *quiz)
{
    json_t *state = json_object();
    for (int i = 0; i < quiz->count; i++) {
        const struct quiz_question *question = &quiz->questions[i];
        if (!question->answered)
            continue;
        char key[16];
        snprintf(key, sizeof key, "%d", i + 1);
        json_t *chosen = json_array();
        for (int choice = 0; choice < question->choice_count; choice++)
            if (question->chosen >> choice & 1)
                json_array_append_new(chosen, json_integer(choice));
        json_t *saved = json_pack("{s:o, s:b, s:i}", "chosen", chosen, "right", question->right,
                                  "tries", question->tries);
        if (question->found)
            json_object_set_new(saved, "found", json_string(question->found));
        json_object_set_new(state, key, saved);
    }
    return state;
}

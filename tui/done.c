#include "done.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* Passed and timed well enough to say something. */
static bool was_measured(const json_t *record)
{
    const json_t *timing = json_object_get(record, "timing");
    return strcmp(text_at(record, "verdict"), "pass") == 0 && json_object_get(timing, "speedup") &&
           strcmp(text_at(timing, "verdict"), "too-noisy") != 0;
}

/* How often the record found the landmark; -1 when it did not look. */
static long long found(const json_t *record, const char *landmark)
{
    const json_t *list = json_object_get(record, "landmarks");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i), *count = json_object_get(one, "found");
        if (strcmp(text_at(one, "name"), landmark) == 0 && json_is_integer(count))
            return json_integer_value(count);
    }
    return -1;
}

/* Whether nothing is missing in one of the record's lists of what was looked for. */
static bool has_all(const json_t *record, const char *key)
{
    const json_t *list = json_object_get(record, key);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (json_is_false(json_object_get(json_array_get(list, i), "ok")))
            return false;
    return true;
}

/* What a pass says of the goal. A host lab's run that is not built as asked reaches none. */
static void note_goal(json_t *progress, const json_t *record, bool measured)
{
    if (strcmp(text_at(record, "verdict"), "pass") != 0)
        return;
    bool built = has_all(record, "structure");
    if (measured)
        json_object_set_new(progress, "goal_timed", json_true());
    if (built && json_is_true(json_object_get(json_object_get(record, "timing"), "goal_reached")))
        json_object_set_new(progress, "goal_reached", json_true());
    if (built && has_all(record, "landmarks"))
        json_object_set_new(progress, "landmarks_held", json_true());
    else if (!json_object_get(progress, "landmarks_held"))
        json_object_set_new(progress, "landmarks_held", json_false());
}

static json_t *object_in(json_t *parent, const char *key)
{
    json_t *child = json_object_get(parent, key);
    if (json_is_object(child))
        return child;
    json_object_set_new(parent, key, json_object());
    return json_object_get(parent, key);
}

void done_note(const struct labfile *lab, json_t *progress, const json_t *record)
{
    bool measured = was_measured(record);
    note_goal(progress, record, measured);
    if (measured)
        json_object_del(progress, "untimed");
    else if (lab->done_count && strcmp(text_at(record, "verdict"), "pass") == 0 &&
             strcmp(text_at(record, "backend"), "sim") == 0)
        json_object_set_new(progress, "untimed", json_true());
    for (unsigned i = 0; measured && i < lab->done_count; i++) {
        const struct lab_done *done = &lab->done[i];
        long long count = done->landmark ? found(record, done->landmark) : -1;
        if (count >= 0)
            json_object_set_new(object_in(object_in(progress, "measured"), done->landmark),
                                count > 0 ? "with" : "without", json_true());
    }
}

static bool needs_timing(const struct lab_done *done)
{
    return done->step != STEP_ANSWERED;
}

bool done_is_open(const struct labfile *lab, unsigned index, const json_t *progress,
                  const json_t *answers)
{
    const struct lab_done *done = &lab->done[index];
    if (needs_timing(done)) {
        const json_t *both = json_object_get(json_object_get(progress, "measured"), done->landmark);
        return !json_is_true(
            json_object_get(both, done->step == STEP_MEASURED_WITH ? "with" : "without"));
    }
    char number[16];
    snprintf(number, sizeof number, "%u", done->question);
    const json_t *answer = json_object_get(answers, number);
    /* A prediction counts once a measurement decided it, also when it was another than hoped. */
    return !json_is_true(json_object_get(answer, "right")) && !json_object_get(answer, "found");
}

static bool has_passed(const json_t *progress)
{
    return strcmp(text_at(progress, "best"), "pass") == 0;
}

/* Progress from before these were noted has neither, and leaves nothing open. */
bool done_goal_is_open(const json_t *progress)
{
    if (json_is_true(json_object_get(progress, "goal_reached")))
        return false;
    return json_is_true(json_object_get(progress, "goal_timed")) ||
           json_is_false(json_object_get(progress, "landmarks_held"));
}

static bool any_open(const struct labfile *lab, const json_t *progress, const json_t *answers)
{
    bool open = done_goal_is_open(progress);
    for (unsigned i = 0; !open && i < lab->done_count; i++)
        open = done_is_open(lab, i, progress, answers);
    return open;
}

bool done_is(const struct labfile *lab, const json_t *progress, const json_t *answers)
{
    return has_passed(progress) && !any_open(lab, progress, answers);
}

bool done_in_part(const struct labfile *lab, const json_t *progress, const json_t *answers)
{
    return has_passed(progress) && any_open(lab, progress, answers);
}

void done_name(const struct labfile *lab, unsigned index, struct buf *out)
{
    const struct lab_done *done = &lab->done[index];
    switch (done->step) {
    case STEP_MEASURED_WITH:
        buf_printf(out, _("measure the version with %s"), done->landmark);
        break;
    case STEP_MEASURED_WITHOUT:
        buf_printf(out, _("measure the version without %s"), done->landmark);
        break;
    case STEP_ANSWERED:
        buf_printf(out, _("answer question %u of the quiz"), done->question);
        break;
    }
}

void done_name_goal(const struct labfile *lab, const json_t *progress, struct buf *out)
{
    bool held = json_is_true(json_object_get(progress, "landmarks_held"));
    if (lab->kind == LAB_HOST && !held)
        buf_add_str(out, _("write what the lab is about: the Check pane says what no run of yours "
                           "shows yet"));
    else if (json_is_true(json_object_get(progress, "goal_timed")))
        buf_printf(out, _("reach the goal, %.0f %% of the solution's speed"), lab->goal * 100);
    else
        buf_add_str(out, _("write what the lab is about: a landmark is missing in every kernel "
                           "that passed, and the Check pane says which"));
}

void done_say(const struct labfile *lab, const json_t *progress, const json_t *answers,
              struct buf *out)
{
    bool any = done_goal_is_open(progress), timing = false;
    if (any) {
        buf_add_str(out, _("Still to do: "));
        done_name_goal(lab, progress, out);
    }
    for (unsigned i = 0; i < lab->done_count; i++) {
        if (!done_is_open(lab, i, progress, answers))
            continue;
        buf_add_str(out, any ? _("; ") : _("Still to do: "));
        done_name(lab, i, out);
        any = true;
        timing = timing || needs_timing(&lab->done[i]);
    }
    if (any)
        buf_add_str(out, _("."));
    if (timing && json_is_true(json_object_get(progress, "untimed")))
        buf_add_str(out, _(" Measuring needs an NVIDIA GPU, so on this machine that and your "
                           "prediction stay open; go on with the next lab all the same."));
}

#include "attempt.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum {
    LINE_MOST = 4 << 20,
    RECORD_MOST = 8 << 20, /* bytes of events that are kept */
    ARRAY_MOST = 4096,
    DEPTH_MOST = 24,
    OUTPUT_MOST = 64 << 10,
    SUMMARY_MOST = 400,
};

#define SECOND_NS INT64_C(1000000000)

static const struct {
    const char *stage;
    int seconds;
} deadlines[] = {
    {"compile", 60}, {"check", 20}, {"hazards", 30}, {"time", 20}, {"timeline", 20}, {"disasm", 20},
};
enum { READY_SECONDS = 60, PAUSE_SECONDS = 20 };

/* What `set` and `add` may touch at the top of the record, and as what. Keys that are not listed
 * are kept as they come, for what later versions add. */
static const struct {
    const char *key;
    json_type type;
    bool ours; /* only the reader writes it */
} keys[] = {
    {"schema", JSON_INTEGER, true},   {"lab", JSON_STRING, true},
    {"attempt", JSON_INTEGER, true},  {"verdict", JSON_STRING, true},
    {"summary", JSON_STRING, true},   {"stages", JSON_ARRAY, true},
    {"skipped", JSON_ARRAY, true},    {"backend", JSON_STRING, false},
    {"device", JSON_OBJECT, false},   {"toolkit", JSON_OBJECT, false},
    {"build", JSON_OBJECT, false},    {"cases", JSON_ARRAY, false},
    {"hazards", JSON_ARRAY, false},   {"structure", JSON_ARRAY, false},
    {"counters", JSON_OBJECT, false}, {"timeline", JSON_OBJECT, false},
    {"timing", JSON_OBJECT, false},   {"resources", JSON_OBJECT, false},
    {"landmarks", JSON_ARRAY, false}, {"output", JSON_STRING, false},
    {"output_cut", JSON_TRUE, false},
};

static bool same_type(json_type a, const json_t *value)
{
    return a == json_typeof(value) || (a == JSON_TRUE && json_is_boolean(value));
}

static bool may_set(const char *key, const json_t *value)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0)
            return !keys[i].ours && same_type(keys[i].type, value);
    return strlen(key) <= 64;
}

static bool may_add(const char *key)
{
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(keys[i].key, key) == 0)
            return !keys[i].ours && keys[i].type == JSON_ARRAY;
    return strlen(key) <= 64;
}

static bool is_shallow(const json_t *value, int depth)
{
    if (depth > DEPTH_MOST)
        return false;
    if (json_is_object(value)) {
        const char *key;
        json_t *child;
        json_object_foreach((json_t *)value, key, child)
            if (!is_shallow(child, depth + 1))
                return false;
        return true;
    }
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!is_shallow(json_array_get(value, i), depth + 1))
            return false;
    return true;
}

/* Copies at most `most` bytes of text, never half a character. */
static void copy_text(char *out, size_t most, const char *text)
{
    size_t len = strlen(text);
    if (len > most)
        len = utf8_whole(text, most);
    memcpy(out, text, len);
    out[len] = '\0';
}

void attempt_make_nonce(char nonce[ATTEMPT_NONCE])
{
    unsigned char bytes[16];
    size_t have = 0;
    while (have < sizeof bytes) {
        ssize_t got = getrandom(bytes + have, sizeof bytes - have, 0);
        if (got > 0)
            have += (size_t)got;
    }
    for (size_t i = 0; i < sizeof bytes; i++)
        snprintf(nonce + 2 * i, 3, "%02x", bytes[i]);
}

void attempt_init(struct attempt *attempt, const char *lab, const char *nonce, bool ready,
                  int64_t now_ns)
{
    *attempt = (struct attempt){
        .record = json_pack("{s:i, s:s}", "schema", 1, "lab", lab),
        .ready = ready,
        .verdict = VERDICT_PASS,
        .last_ns = now_ns,
    };
    copy_text(attempt->nonce, ATTEMPT_NONCE - 1, nonce);
}

void attempt_free(struct attempt *attempt)
{
    json_decref(attempt->record);
    *attempt = (struct attempt){0};
}

void attempt_set_number(struct attempt *attempt, int number)
{
    json_object_set_new(attempt->record, "attempt", json_integer(number));
}

const char *attempt_summary(const struct attempt *attempt)
{
    const char *text = json_string_value(json_object_get(attempt->record, "summary"));
    return text ? text : "";
}

/* ---- stages */

static bool is_stage_name(const char *name)
{
    size_t len = name ? strspn(name, "abcdefghijklmnopqrstuvwxyz-") : 0;
    return len > 0 && len < sizeof((struct attempt_stage *)0)->name && name[len] == '\0';
}

static struct attempt_stage *find_stage(struct attempt *attempt, const char *name)
{
    for (int i = 0; i < attempt->stage_count; i++)
        if (strcmp(attempt->stages[i].name, name) == 0)
            return &attempt->stages[i];
    return NULL;
}

static struct attempt_stage *add_stage(struct attempt *attempt, const char *name, int64_t now_ns)
{
    if (attempt->stage_count == ATTEMPT_STAGES)
        return NULL;
    struct attempt_stage *stage = &attempt->stages[attempt->stage_count++];
    *stage = (struct attempt_stage){.since_ns = now_ns};
    copy_text(stage->name, sizeof stage->name - 1, name);
    attempt->began = true;
    return stage;
}

static int stage_seconds(const char *name)
{
    for (size_t i = 0; i < sizeof deadlines / sizeof *deadlines; i++)
        if (strcmp(deadlines[i].stage, name) == 0)
            return deadlines[i].seconds;
    return PAUSE_SECONDS;
}

const struct attempt_stage *attempt_running(const struct attempt *attempt)
{
    for (int i = attempt->stage_count - 1; i >= 0; i--)
        if (attempt->stages[i].state == STAGE_RUNNING)
            return &attempt->stages[i];
    return NULL;
}

int64_t attempt_deadline_ns(const struct attempt *attempt)
{
    if (attempt->ended)
        return INT64_MAX;
    int64_t first = INT64_MAX;
    for (int i = 0; i < attempt->stage_count; i++) {
        const struct attempt_stage *stage = &attempt->stages[i];
        int64_t at = stage->since_ns + stage_seconds(stage->name) * SECOND_NS;
        if (stage->state == STAGE_RUNNING && at < first)
            first = at;
    }
    if (first != INT64_MAX)
        return first;
    return attempt->last_ns + (attempt->ready ? PAUSE_SECONDS : READY_SECONDS) * SECOND_NS;
}

static json_t *array_of(json_t *record, const char *key)
{
    json_t *array = json_object_get(record, key);
    if (!array) {
        array = json_array();
        json_object_set_new(record, key, array);
    }
    return json_is_array(array) ? array : NULL;
}

static bool take_begin(struct attempt *attempt, const char *name, int64_t now_ns)
{
    attempt->note[0] = '\0';
    return !find_stage(attempt, name) && add_stage(attempt, name, now_ns) != NULL;
}

static bool take_done(struct attempt *attempt, const char *name, const json_t *event,
                      int64_t now_ns)
{
    struct attempt_stage *stage = find_stage(attempt, name);
    if (!stage || stage->state != STAGE_RUNNING)
        return false;
    const char *within = json_string_value(json_object_get(event, "within"));
    double ms = json_number_value(json_object_get(event, "ms"));
    if (!isfinite(ms) || ms <= 0 || ms > 1e9)
        ms = (double)(now_ns - stage->since_ns) / 1e6;
    stage->state = STAGE_DONE;
    attempt->note[0] = '\0';
    json_t *entry = json_pack("{s:s}", "name", name);
    if (within && find_stage(attempt, within)) {
        copy_text(stage->within, sizeof stage->within - 1, within);
        json_object_set_new(entry, "within", json_string(stage->within));
    } else {
        stage->ms = ms;
        json_object_set_new(entry, "ms", json_real(ms));
    }
    json_array_append_new(array_of(attempt->record, "stages"), entry);
    return true;
}

static bool take_skip(struct attempt *attempt, const char *name, const json_t *event,
                      int64_t now_ns)
{
    const char *why = json_string_value(json_object_get(event, "why"));
    struct attempt_stage *stage = find_stage(attempt, name);
    if (!why || (stage && stage->state != STAGE_RUNNING))
        return false;
    if (!stage && !(stage = add_stage(attempt, name, now_ns)))
        return false;
    stage->state = STAGE_SKIPPED;
    copy_text(stage->why, sizeof stage->why - 1, why);
    attempt->note[0] = '\0';
    json_array_append_new(array_of(attempt->record, "skipped"),
                          json_pack("{s:s, s:s}", "stage", name, "why", stage->why));
    return true;
}

/* ---- data */

static bool take_set(struct attempt *attempt, const json_t *set)
{
    const char *key;
    json_t *value;
    bool all = true;
    json_object_foreach((json_t *)set, key, value) {
        if (!may_set(key, value) || json_object_size(attempt->record) > 64 ||
            (json_is_array(value) && json_array_size(value) > ARRAY_MOST)) {
            all = false;
            continue;
        }
        json_t *old = json_object_get(attempt->record, key);
        if (json_is_object(old) && json_is_object(value))
            json_object_update_recursive(old, value);
        else
            json_object_set(attempt->record, key, value);
    }
    return all;
}

static bool take_add(struct attempt *attempt, const json_t *add)
{
    const char *key;
    json_t *value;
    bool all = true;
    json_object_foreach((json_t *)add, key, value) {
        json_t *array = may_add(key) && json_object_size(attempt->record) <= 64 &&
                                (json_is_object(value) || !json_is_array(value))
                            ? array_of(attempt->record, key)
                            : NULL;
        /* Every array that Stride knows holds objects. */
        bool fits = array && json_is_object(value);
        if (fits && json_array_size(array) >= ARRAY_MOST)
            attempt->cut = true;
        else if (fits)
            json_array_append(array, value);
        all = all && fits;
    }
    return all;
}

static bool take_data(struct attempt *attempt, const json_t *event, size_t len)
{
    const json_t *set = json_object_get(event, "set"), *add = json_object_get(event, "add");
    if ((set && !json_is_object(set)) || (add && !json_is_object(add)) || (!set && !add))
        return false;
    if (attempt->kept_bytes + len > RECORD_MOST) {
        attempt->cut = true;
        return true;
    }
    attempt->kept_bytes += len;
    bool all = !set || take_set(attempt, set);
    return (!add || take_add(attempt, add)) && all;
}

static bool take_note(struct attempt *attempt, const json_t *event)
{
    const char *text = json_string_value(json_object_get(event, "text"));
    if (text)
        copy_text(attempt->note, sizeof attempt->note - 1, text);
    return text != NULL;
}

/* ---- the end */

static void settle(struct attempt *attempt, enum verdict verdict, const char *summary)
{
    char text[SUMMARY_MOST + 1];
    copy_text(text, SUMMARY_MOST, summary);
    json_object_set_new(attempt->record, "verdict", json_string(verdict_name(verdict)));
    json_object_set_new(attempt->record, "summary", json_string(text));
    if (attempt->cut)
        json_object_set_new(attempt->record, "cut", json_true());
    attempt->verdict = verdict;
    attempt->note[0] = '\0';
    attempt->ended = true;
}

/* The worst that the record's own details say. A size that could not run (too little memory) is no
 * verdict about the others. */
static enum verdict worst_detail(const json_t *record, enum verdict verdict)
{
    if (json_is_false(json_object_get(json_object_get(record, "build"), "ok")))
        verdict = verdict_worse(verdict, VERDICT_NO_BUILD);
    if (json_array_size(json_object_get(record, "hazards")))
        verdict = verdict_worse(verdict, VERDICT_HAZARD);
    const json_t *cases = json_object_get(record, "cases");
    for (size_t i = 0; i < json_array_size(cases); i++) {
        enum verdict one;
        const char *name = json_string_value(json_object_get(json_array_get(cases, i), "verdict"));
        if (verdict_parse(&one, name) && one != VERDICT_CANNOT_RUN)
            verdict = verdict_worse(verdict, one);
    }
    return verdict;
}

static bool take_end(struct attempt *attempt, const json_t *event)
{
    enum verdict said;
    const char *summary = json_string_value(json_object_get(event, "summary"));
    if (!verdict_parse(&said, json_string_value(json_object_get(event, "verdict"))))
        return false;
    enum verdict worst = worst_detail(attempt->record, said);
    /* A stage still open at the end was not finished, whatever the harness thinks of it. */
    for (int i = 0; i < attempt->stage_count; i++)
        if (attempt->stages[i].state == STAGE_RUNNING)
            attempt->stages[i].state = STAGE_BROKEN;
    settle(attempt, worst, worst == said && summary ? summary : verdict_meaning(worst));
    return true;
}

static void describe_death(enum attempt_death death, int code, const char *stage, char out[256])
{
    const char *signal_name = sigdescr_np(code);
    switch (death) {
    case DEATH_EXIT:
        snprintf(out, 256, _("ended by itself in stage %s (exit status %d), before it was done"),
                 stage, code);
        break;
    case DEATH_SIGNAL:
        snprintf(out, 256, _("crashed in stage %s: %s (signal %d)"), stage,
                 signal_name ? signal_name : "?", code);
        break;
    case DEATH_DEADLINE:
        snprintf(out, 256, _("stage %s did not end within %d s and was stopped"), stage,
                 stage_seconds(stage));
        break;
    case DEATH_STOPPED:
        snprintf(out, 256, _("you stopped it in stage %s"), stage);
        break;
    case DEATH_FLOOD:
        snprintf(out, 256, _("sent results without end in stage %s and was stopped"), stage);
        break;
    }
}

void attempt_child_over(struct attempt *attempt, enum attempt_death death, int code)
{
    if (attempt->ended)
        return;
    static const enum verdict verdicts[] = {
        [DEATH_EXIT] = VERDICT_STOPPED_EARLY,  [DEATH_SIGNAL] = VERDICT_CRASHED,
        [DEATH_DEADLINE] = VERDICT_TIMED_OUT,  [DEATH_STOPPED] = VERDICT_STOPPED_EARLY,
        [DEATH_FLOOD] = VERDICT_STOPPED_EARLY,
    };
    const struct attempt_stage *running = attempt_running(attempt);
    const char *stage = running                ? running->name
                        : attempt->stage_count ? attempt->stages[attempt->stage_count - 1].name
                                               : "start";
    char summary[256];
    describe_death(death, code, stage, summary);
    for (int i = 0; i < attempt->stage_count; i++)
        if (attempt->stages[i].state == STAGE_RUNNING)
            attempt->stages[i].state = STAGE_BROKEN;
    settle(attempt, verdicts[death], summary);
}

bool attempt_event(struct attempt *attempt, const char *line, size_t len, int64_t now_ns)
{
    json_t *event = len <= LINE_MOST ? json_loadb(line, len, 0, NULL) : NULL;
    const char *kind = json_string_value(json_object_get(event, "event"));
    const char *nonce = json_string_value(json_object_get(event, "nonce"));
    const char *name = json_string_value(json_object_get(event, "stage"));
    bool taken = false;
    if (!kind || !is_shallow(event, 0)) {
        taken = false;
    } else if (strcmp(kind, "ready") == 0) {
        taken = attempt->ready = true;
    } else if (!attempt->ended && nonce && strcmp(nonce, attempt->nonce) == 0) {
        if (strcmp(kind, "data") == 0)
            taken = take_data(attempt, event, len);
        else if (strcmp(kind, "note") == 0)
            taken = take_note(attempt, event);
        else if (strcmp(kind, "end") == 0)
            taken = take_end(attempt, event);
        else if (strcmp(kind, "begin") == 0 && is_stage_name(name))
            taken = take_begin(attempt, name, now_ns);
        else if (strcmp(kind, "done") == 0 && is_stage_name(name))
            taken = take_done(attempt, name, event, now_ns);
        else if (strcmp(kind, "skip") == 0 && is_stage_name(name))
            taken = take_skip(attempt, name, event, now_ns);
    }
    json_decref(event);
    if (taken)
        attempt->last_ns = now_ns;
    else
        attempt->refused++;
    return taken;
}

void attempt_set_output(struct attempt *attempt, const char *text, size_t len, bool cut)
{
    struct buf clean = {0};
    clean_text(&clean, text, len);
    if (clean.len > OUTPUT_MOST) {
        clean.len = utf8_whole(clean.data, OUTPUT_MOST);
        cut = true;
    }
    if (clean.len)
        json_object_set_new(attempt->record, "output", json_stringn(clean.data, clean.len));
    if (cut)
        json_object_set_new(attempt->record, "output_cut", json_true());
    buf_free(&clean);
}

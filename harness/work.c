#include "work.h"

#include "harness/base/buf.h"
#include "harness/base/file.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static const char *const stage_names[STAGE_COUNT] = {
    [STAGE_COMPILE] = "compile", [STAGE_CHECK] = "check",       [STAGE_HAZARDS] = "hazards",
    [STAGE_TIME] = "time",       [STAGE_TIMELINE] = "timeline", [STAGE_DISASM] = "disasm",
};

const char *stage_name(enum stage stage)
{
    return stage_names[stage];
}

static char *absolute(const char *path, const char *folder)
{
    return *path == '/' ? mem_strdup(path) : path_join(folder, path);
}

/* The text of a key; an empty or non-text value counts as missing. */
static const char *get_text(const json_t *job, const char *key)
{
    const char *text = json_string_value(json_object_get(job, key));
    return text && *text ? text : NULL;
}

static bool parse_stages(struct work *out, const json_t *list, struct err *err)
{
    size_t i;
    json_t *entry;
    if (!json_is_array(list))
        return err_set(err, "the job's \"stages\" is not a list");
    json_array_foreach(list, i, entry) {
        const char *name = json_string_value(entry);
        int stage = 0;
        while (stage < STAGE_COUNT && (!name || strcmp(name, stage_names[stage]) != 0))
            stage++;
        if (stage == STAGE_COUNT)
            return err_set(err, "the job asks for a stage \"%s\", which does not exist",
                           name ? name : "?");
        out->stages[stage] = true;
    }
    out->stages[STAGE_COMPILE] = true;
    return true;
}

static bool parse_backend(struct work *out, const json_t *job, struct err *err)
{
    static const char *const names[] = {"auto", "gpu", "sim"};
    const char *name = get_text(job, "backend");
    for (int i = 0; i < 3; i++)
        if (!name || strcmp(name, names[i]) == 0) {
            out->backend = (enum backend_choice)i;
            return true;
        }
    return err_set(err, "the job's \"backend\" is \"%s\"; it can be auto, gpu or sim", name);
}

static bool fill(struct work *out, const json_t *job, const char *here, struct err *err)
{
    const char *nonce = get_text(job, "nonce"), *source = get_text(job, "source");
    const char *folder = get_text(job, "out"), *name = get_text(job, "name");
    const char *beside = get_text(job, "beside");
    const json_t *seed = json_object_get(job, "seed");
    if (!nonce || !source || !folder)
        return err_set(err, "the job has no \"%s\"", !nonce ? "nonce" : !source ? "source" : "out");
    if (seed && !json_is_integer(seed))
        return err_set(err, "the job's \"seed\" is not a whole number");
    out->nonce = mem_strdup(nonce);
    out->source = absolute(source, here);
    out->folder = beside ? absolute(beside, here) : NULL;
    out->out = absolute(folder, here);
    out->name = mem_strdup(name ? name : "kernel.cu");
    out->seed = seed ? (uint64_t)json_integer_value(seed) : WORK_DEFAULT_SEED;
    if (strpbrk(out->name, "/\n\""))
        return err_set(err, "the job's \"name\" is not a plain file name");
    return parse_stages(out, json_object_get(job, "stages"), err) && parse_backend(out, job, err);
}

bool work_parse(struct work *out, const char *line, size_t len, const char *here, struct err *err)
{
    json_error_t where;
    *out = (struct work){0};
    json_t *job = json_loadb(line, len, 0, &where);
    bool ok = json_is_object(job) || err_set(err, "the job is not one JSON object (%s)",
                                             job ? "it is something else" : where.text);
    ok = ok && fill(out, job, here, err);
    json_decref(job);
    if (!ok)
        work_free(out);
    return ok;
}

void work_free(struct work *work)
{
    free(work->nonce);
    free(work->source);
    free(work->folder);
    free(work->name);
    free(work->out);
    *work = (struct work){0};
}

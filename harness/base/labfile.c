#include "labfile.h"

#include "buf.h"
#include "file.h"
#include "msg.h"

#include <cyaml/cyaml.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The schema, one field a line. libcyaml checks it and reports line numbers through log_error. */

static const cyaml_schema_field_t text_fields[] = {
    CYAML_FIELD_STRING_PTR("en", CYAML_FLAG_POINTER, struct lab_text, en, 1, CYAML_UNLIMITED),
    CYAML_FIELD_STRING_PTR("zh", CYAML_FLAG_POINTER, struct lab_text, zh, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};

static const cyaml_strval_t kinds[] = {{"kernel", LAB_KERNEL}, {"host", LAB_HOST}};
static const cyaml_strval_t listings[] = {{"ptx", LISTING_PTX}, {"sass", LISTING_SASS}};
static const cyaml_strval_t limits[] = {
    {"copy", LIMIT_COPY},     {"read", LIMIT_READ},     {"fma", LIMIT_FMA},
    {"tensor", LIMIT_TENSOR}, {"launch", LIMIT_LAUNCH}, {"bus", LIMIT_BUS},
};
static const cyaml_strval_t steps[] = {
    {"measured-with", STEP_MEASURED_WITH},
    {"measured-without", STEP_MEASURED_WITHOUT},
    {"answered", STEP_ANSWERED},
};

static const cyaml_strval_t metrics[METRIC_COUNT] = {
    {"copy_overlap", METRIC_COPY_OVERLAP},      {"work_overlap", METRIC_WORK_OVERLAP},
    {"host_waits", METRIC_HOST_WAITS},          {"instantiations", METRIC_INSTANTIATIONS},
    {"graph_launches", METRIC_GRAPH_LAUNCHES},  {"launches", METRIC_LAUNCHES},
    {"pageable_copies", METRIC_PAGEABLE_COPIES}};

#define STRING(type, field, flags)                                                                 \
    CYAML_FIELD_STRING_PTR(#field, CYAML_FLAG_POINTER | (flags), type, field, 1, CYAML_UNLIMITED)
#define TEXT(type, field) CYAML_FIELD_MAPPING(#field, CYAML_FLAG_DEFAULT, type, field, text_fields)

static const cyaml_schema_field_t landmark_fields[] = {
    STRING(struct lab_landmark, name, 0),
    CYAML_FIELD_ENUM("listing", CYAML_FLAG_DEFAULT, struct lab_landmark, listing, listings, 2),
    STRING(struct lab_landmark, match, 0),
    CYAML_FIELD_UINT("at_least", CYAML_FLAG_OPTIONAL, struct lab_landmark, at_least),
    STRING(struct lab_landmark, since, CYAML_FLAG_OPTIONAL),
    TEXT(struct lab_landmark, text),
    CYAML_FIELD_END,
};

#define BOUND(field)                                                                               \
    CYAML_FIELD_FLOAT_PTR(#field, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct lab_structure,  \
                          field)

static const cyaml_schema_field_t structure_fields[] = {
    STRING(struct lab_structure, name, 0),
    CYAML_FIELD_ENUM("metric", CYAML_FLAG_DEFAULT, struct lab_structure, metric, metrics,
                     METRIC_COUNT),
    BOUND(at_least),
    BOUND(at_most),
    TEXT(struct lab_structure, text),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t hint_fields[] = {
    STRING(struct lab_hint, when, 0),
    TEXT(struct lab_hint, text),
    CYAML_FIELD_END,
};

static const cyaml_schema_field_t done_fields[] = {
    CYAML_FIELD_ENUM("step", CYAML_FLAG_DEFAULT, struct lab_done, step, steps, 3),
    STRING(struct lab_done, landmark, CYAML_FLAG_OPTIONAL),
    CYAML_FIELD_UINT("question", CYAML_FLAG_OPTIONAL, struct lab_done, question),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t size_value = {
    CYAML_VALUE_UINT(CYAML_FLAG_DEFAULT, uint64_t),
};
static const cyaml_schema_value_t landmark_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct lab_landmark, landmark_fields),
};
static const cyaml_schema_value_t structure_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct lab_structure, structure_fields),
};
static const cyaml_schema_value_t hint_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct lab_hint, hint_fields),
};
static const cyaml_schema_value_t done_value = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, struct lab_done, done_fields),
};

#define LIST(field, value, least)                                                                  \
    CYAML_FIELD_SEQUENCE(#field, CYAML_FLAG_POINTER, struct labfile, field, &(value), least,       \
                         CYAML_UNLIMITED)

static const cyaml_schema_field_t lab_fields[] = {
    CYAML_FIELD_UINT("order", CYAML_FLAG_DEFAULT, struct labfile, order),
    TEXT(struct labfile, title),
    TEXT(struct labfile, summary),
    STRING(struct labfile, lesson, 0),
    CYAML_FIELD_ENUM("kind", CYAML_FLAG_DEFAULT, struct labfile, kind, kinds, 2),
    STRING(struct labfile, entry, 0),
    STRING(struct labfile, capability, 0),
    LIST(check_sizes, size_value, 1),
    LIST(sim_sizes, size_value, 1),
    CYAML_FIELD_UINT("time_size", CYAML_FLAG_DEFAULT, struct labfile, time_size),
    CYAML_FIELD_ENUM("limit", CYAML_FLAG_DEFAULT, struct labfile, limit, limits, 6),
    CYAML_FIELD_FLOAT("goal", CYAML_FLAG_DEFAULT, struct labfile, goal),
    LIST(landmarks, landmark_value, 0),
    CYAML_FIELD_SEQUENCE("structure", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct labfile,
                         structure, &structure_value, 0, CYAML_UNLIMITED),
    LIST(hints, hint_value, 0),
    CYAML_FIELD_SEQUENCE("done", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, struct labfile, done,
                         &done_value, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END,
};

static const cyaml_schema_value_t lab_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, struct labfile, lab_fields),
};

/* libcyaml explains itself in several log lines; the first says what, a later one says where. */
struct complaint {
    struct buf text;
};

static void keep_complaint(cyaml_log_t level, void *context, const char *format, va_list args)
{
    struct complaint *complaint = context;
    char line[256];
    (void)level;
    vsnprintf(line, sizeof line, format, args);
    line[strcspn(line, "\n")] = '\0';
    const char *text = strncmp(line, "Load: ", 6) == 0 ? line + 6 : line;
    if (complaint->text.len)
        buf_add_str(&complaint->text, "; ");
    buf_add_str(&complaint->text, text);
}

static cyaml_config_t config_for(struct complaint *complaint)
{
    return (cyaml_config_t){
        .log_level = CYAML_LOG_ERROR,
        .log_fn = keep_complaint,
        .log_ctx = complaint,
        .mem_fn = cyaml_mem,
    };
}

/* The schema can't say that one field asks for another. */
static bool check_done(const struct labfile *lab, const char *path, struct err *err)
{
    for (unsigned i = 0; i < lab->done_count; i++) {
        const struct lab_done *done = &lab->done[i];
        bool answered = done->step == STEP_ANSWERED;
        bool known = false;
        for (unsigned k = 0; !answered && done->landmark && k < lab->landmarks_count; k++)
            known = known || strcmp(lab->landmarks[k].name, done->landmark) == 0;
        if (answered ? !done->question || done->landmark : !known || done->question)
            return err_set(err, "%s: entry %u of done: %s", path, i + 1,
                           answered ? "\"answered\" needs a question's number and nothing else"
                                    : "a measurement needs the name of one of the lab's landmarks");
    }
    return true;
}

static bool check_sizes(const uint64_t *sizes, unsigned count, const char *name, const char *path,
                        struct err *err)
{
    for (unsigned i = 0; i < count; i++)
        if (!sizes[i])
            return err_set(err, "%s: %s: a size has to be 1 at least", path, name);
    return true;
}

/* Numbers that are some, and no use. */
static bool check_numbers(const struct labfile *lab, const char *path, struct err *err)
{
    if (!(lab->goal > 0 && lab->goal <= 1))
        return err_set(err, "%s: goal: a part of the solution's speed, above 0 and at most 1",
                       path);
    if (!capability_parse(lab->capability))
        return err_set(err, "%s: capability: two numbers as in \"8.0\" and not \"%s\"", path,
                       lab->capability);
    if (!lab->time_size)
        return err_set(err, "%s: time_size has to be 1 at least", path);
    return check_sizes(lab->check_sizes, lab->check_sizes_count, "check_sizes", path, err) &&
           check_sizes(lab->sim_sizes, lab->sim_sizes_count, "sim_sizes", path, err);
}

const char *lab_metric_name(enum lab_metric metric)
{
    return metrics[metric].str;
}

/* What the schema cannot say. */
static bool check_structure(const struct labfile *lab, const char *path, struct err *err)
{
    for (unsigned i = 0; i < lab->structure_count; i++) {
        const struct lab_structure *entry = &lab->structure[i];
        if (!entry->at_least == !entry->at_most)
            return err_set(err, "%s: structure %s needs one of at_least and at_most", path,
                           entry->name);
        if (lab->kind != LAB_HOST)
            return err_set(err, "%s: only a host lab has structure", path);
    }
    return true;
}

bool labfile_load(struct labfile **out, const char *root, const char *slug, struct err *err)
{
    char *path = mem_printf("%s/kernels/%s/lab.yaml", root, slug);
    struct complaint complaint = {.text = {.cap = 500}};
    struct buf text = {0};
    cyaml_config_t config = config_for(&complaint);
    struct labfile *lab = NULL;
    bool ok = file_read(&text, path, 1 << 20, err);
    if (ok) {
        cyaml_err_t result = cyaml_load_data((const uint8_t *)buf_str(&text), text.len, &config,
                                             &lab_schema, (cyaml_data_t **)&lab, NULL);
        if (result == CYAML_OK && lab)
            ok = check_numbers(lab, path, err) && check_done(lab, path, err) &&
                 check_structure(lab, path, err);
        else /* an empty file is "OK" and NULL */
            ok = err_set(err, "%s: %s (%s)", path,
                         complaint.text.len ? buf_str(&complaint.text) : "not a lab description",
                         result == CYAML_OK ? "empty" : cyaml_strerror(result));
    }
    if (ok && lab) {
        lab->slug = mem_strdup(slug);
        *out = lab;
    } else {
        labfile_free(lab);
    }
    buf_free(&complaint.text);
    buf_free(&text);
    free(path);
    return ok;
}

void labfile_free(struct labfile *lab)
{
    if (!lab)
        return;
    free(lab->slug);
    struct complaint complaint = {0};
    cyaml_config_t config = config_for(&complaint);
    cyaml_free(&config, &lab_schema, lab, 0);
    buf_free(&complaint.text);
}

static int by_order(const void *a, const void *b)
{
    const struct labfile *x = *(struct labfile *const *)a, *y = *(struct labfile *const *)b;
    return x->order != y->order ? (x->order > y->order) - (x->order < y->order)
                                : strcmp(x->slug, y->slug);
}

bool labfile_load_all(struct labfile ***out, unsigned *count, const char *root, struct err *err)
{
    char *folder = path_join(root, "kernels");
    DIR *dir = opendir(folder);
    bool ok = dir != NULL || err_set(err, "cannot list %s", folder);
    struct labfile **labs = NULL;
    unsigned n = 0;
    for (struct dirent *entry; dir && ok && (entry = readdir(dir));) {
        char *path = mem_printf("%s/%s/lab.yaml", folder, entry->d_name);
        if (entry->d_name[0] != '.' && file_exists(path)) {
            labs = mem_grow(labs, n + 1, sizeof *labs);
            ok = labfile_load(&labs[n], root, entry->d_name, err);
            n += ok;
        }
        free(path);
    }
    if (dir)
        closedir(dir);
    free(folder);
    if (!ok) {
        labfile_free_all(labs, n);
        return false;
    }
    if (n)
        qsort(labs, n, sizeof *labs, by_order);
    *out = labs;
    *count = n;
    return true;
}

void labfile_free_all(struct labfile **labs, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        labfile_free(labs[i]);
    free(labs);
}

const char *lab_text_get(const struct lab_text *text)
{
    return strcmp(msg_language(), "zh") == 0 && text->zh ? text->zh : text->en;
}

unsigned capability_parse(const char *text)
{
    unsigned major, minor;
    char rest;
    if (!text || sscanf(text, "%u.%u%c", &major, &minor, &rest) != 2 || major > 99 || minor > 9)
        return 0;
    return major * 10 + minor;
}

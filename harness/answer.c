#include "answer.h"

#include "landmark.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void answer_judge(struct answer *answer, enum verdict verdict, const char *summary)
{
    if (answer->summary[0] && verdict_worse(answer->verdict, verdict) == answer->verdict)
        return;
    answer->verdict = verdict;
    snprintf(answer->summary, sizeof answer->summary, "%s", summary);
}

void answer_write(struct answer *answer, const char *file, const struct buf *text)
{
    struct err err = {0};
    char *path = path_join(answer->work->out, file);
    if (!file_write(path, buf_str(text), text->len, false, &err)) {
        fprintf(stderr, "stride-harness: %s\n", err.text);
        answer_judge(answer, VERDICT_CANNOT_RUN, err.text);
    }
    free(path);
}

void answer_landmarks(struct answer *answer, enum lab_listing listing, const char *arch,
                      const struct buf *text)
{
    unsigned capability = 0;
    sscanf(arch, "%*[a-z]_%u", &capability);
    for (unsigned i = 0; i < answer->about->landmarks_count; i++) {
        const struct lab_landmark *landmark = &answer->about->landmarks[i];
        if (landmark->listing == listing && landmark_applies(landmark, capability))
            emit_add(
                answer->emit, "landmarks",
                landmark_json(landmark, landmark_count(buf_str(text), text->len, landmark->match)));
    }
}

/* "line 12: expected a ";" (and 2 more)"; a line of another file than the student's is told with
 * its name. */
static void summarise_failure(const struct build *build, const char *source, char *out, size_t len)
{
    const struct diagnostic *first = NULL;
    unsigned errors = 0;
    for (size_t i = 0; i < build->diagnostics.count; i++)
        if (build->diagnostics.items[i].severity == SEVERITY_ERROR && ++errors == 1)
            first = &build->diagnostics.items[i];
    char line[160] = "", more[64] = "";
    const char *file = first && first->file ? first->file : source;
    const char *slash = strrchr(file, '/'), *name = slash ? slash + 1 : file;
    if (first && first->line && strcmp(name, source) != 0)
        snprintf(line, sizeof line, _("%.100s, line %u: "), name, first->line);
    else if (first && first->line)
        snprintf(line, sizeof line, _("line %u: "), first->line);
    if (errors > 1)
        snprintf(more, sizeof more, _(" (and %u more)"), errors - 1);
    int width = first ? (int)strcspn(first->text, "\n") : 0;
    snprintf(out, len, "%s%.*s%s", line, width, first ? first->text : "", more);
}

void answer_build(struct answer *answer, const struct build *build, json_t *toolkit)
{
    json_t *record =
        json_pack("{s:o, s:{s:b, s:f, s:o}}", "toolkit", toolkit, "build", "ok", build->ok, "ms",
                  build->ms, "diagnostics", diagnostics_json(&build->diagnostics));
    if (build->log_cut)
        json_object_set_new(json_object_get(record, "build"), "log_cut", json_true());
    emit_set(answer->emit, record);
    char failure[512];
    summarise_failure(build, answer->work->name, failure, sizeof failure);
    if (!build->ok)
        answer_judge(answer, VERDICT_NO_BUILD, failure);
    if (build->diagnostics.setup) {
        answer->summary[0] = '\0';
        answer_judge(answer, VERDICT_CANNOT_RUN, build->diagnostics.setup);
    }
}

#include "cub_build.h"

#include "cache.h"
#include "nvcc.h"
#include "scratch.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OBJECT "cub.so"

enum { SOURCE_MOST = 1 << 16, LINE_MOST = 300 };

static void start_nvcc(struct cub_build *build, const char *nvcc, const char *source, unsigned cc)
{
    char *arch = mem_printf("-arch=sm_%u", cc), *program = mem_strdup(nvcc);
    char *file = mem_strdup(source);
    char shared[] = "-shared", standard[] = "-std=c++17", level[] = "-O3", to[] = "-o";
    char to_host[] = "-Xcompiler", code[] = "-fPIC", object[] = OBJECT;
    char *argv[] = {program, shared, standard, level, arch, to_host, code, to, object, file, NULL};
    build->folder = scratch_make(&build->err);
    if (build->folder &&
        !process_start(&build->process, argv, build->folder, -1, "LC_ALL=C", &build->err)) {
        file_remove_folder(build->folder);
        free(build->folder);
        build->folder = NULL;
    }
    free(file);
    free(program);
    free(arch);
}

void cub_build_start(struct cub_build *out, const struct toolkit *toolkit, const char *root,
                     const char *slug, unsigned cc)
{
    *out = (struct cub_build){0};
    const char *nvcc = toolkit->parts[PART_NVCC];
    struct buf source = {0};
    char *path = mem_printf("%s/kernels/%s/cub.cu", root, slug), *found;
    if (!nvcc) {
        err_set(&out->err, "%s", _("CUB is compiled by nvcc, and that is not on this machine"));
    } else if (file_read(&source, path, SOURCE_MOST, &out->err)) {
        buf_printf(&out->key, "cub 1\nsm_%u\n", cc);
        nvcc_add_identity(&out->key, nvcc);
        buf_add(&out->key, buf_str(&source), source.len);
        found = cache_find(&out->key);
        if (found)
            out->object = path_join(found, OBJECT);
        else
            start_nvcc(out, nvcc, path, cc);
        free(found);
    }
    buf_free(&source);
    free(path);
}

bool cub_build_is_running(const struct cub_build *build)
{
    return build->folder != NULL;
}

/* nvcc names every file through which an error was reached; the first line with one says most. */
static void say_failure(const struct process_result *result, struct err *err)
{
    const char *text = buf_str(&result->text), *at = strstr(text, "error");
    while (at && at > text && at[-1] != '\n')
        at--;
    if (result->timed_out)
        err_set(err, "%s",
                _("CUB is still being compiled for this card; its time will stand here after one "
                  "of the next runs"));
    else
        err_set(err, _("CUB could not be compiled for this card: %.*s"),
                at ? (int)(strcspn(at, "\n") < LINE_MOST ? strcspn(at, "\n") : LINE_MOST) : 40,
                at ? at : _("nvcc failed and did not say why"));
}

static void remove_folder(char **folder)
{
    if (*folder)
        file_remove_folder(*folder);
    free(*folder);
    *folder = NULL;
}

static void finish(struct cub_build *build, double most_ms)
{
    static const char *const names[] = {OBJECT, NULL};
    struct process_result result;
    double ran_ms = clock_ms() - build->process.started_ms;
    if (process_finish(&build->process, &result, ran_ms + most_ms, &build->err)) {
        if (result.status || result.timed_out) {
            say_failure(&result, &build->err);
        } else {
            char *kept = cache_keep(&build->key, build->folder, names, CACHE_BYTES_MOST);
            build->object = path_join(kept ? kept : build->folder, OBJECT);
            if (!kept) { /* this run has it all the same */
                build->unkept = build->folder;
                build->folder = NULL;
            }
            free(kept);
        }
        process_result_free(&result);
    }
    remove_folder(&build->folder);
}

const char *cub_build_wait(struct cub_build *build, double most_ms, struct err *err)
{
    if (build->folder)
        finish(build, most_ms);
    if (!build->object)
        *err = build->err;
    return build->object;
}

void cub_build_stop(struct cub_build *build)
{
    if (build->folder)
        process_abandon(&build->process);
    remove_folder(&build->folder);
    remove_folder(&build->unkept);
    free(build->object);
    buf_free(&build->key);
    *build = (struct cub_build){0};
}

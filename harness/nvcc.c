#include "nvcc.h"

#include "process.h"
#include "scratch.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* The reader of the records ends a build that takes too long, with all that belongs to it; this is
 * only for tools that were asked a small question. */
#define QUESTION_MS 10000.0
#define BUILD_MS    120000.0

enum { ARGUMENTS_MOST = 48 };

static char *ask(const char *program, const char *question, struct err *err)
{
    struct process process;
    struct process_result result;
    char *path = mem_strdup(program), *option = mem_strdup(question), *answer = NULL;
    char *argv[] = {path, option, NULL};
    if (process_start(&process, argv, "/", -1, NULL, err) &&
        process_finish(&process, &result, QUESTION_MS, err)) {
        if (result.status == 0)
            answer = buf_take(&result.out);
        else
            err_set(err, _("%s %s failed (status %d)"), program, question, result.status);
        process_result_free(&result);
    }
    free(path);
    free(option);
    return answer;
}

bool nvcc_open(struct nvcc *out, const struct toolkit *toolkit, struct err *err)
{
    *out = (struct nvcc){.nvcc = toolkit->parts[PART_NVCC], .ptxas = toolkit->parts[PART_PTXAS]};
    if (!out->nvcc || !out->ptxas)
        return err_set(err, "%s", _("nvcc and ptxas are not on this machine either"));
    char *version = ask(out->nvcc, "--version", err);
    char *archs = version ? ask(out->nvcc, "--list-gpu-arch", err) : NULL;
    struct compiler_abilities *can = &out->abilities;
    const char *release = version ? strstr(version, "release ") : NULL;
    if (release)
        sscanf(release, "release %d.%d", &can->major, &can->minor);
    for (const char *at = archs;
         at && (at = strstr(at, "compute_")) && can->arch_count < COMPILER_ARCHS;) {
        int arch = atoi(at += strlen("compute_"));
        int place = can->arch_count++;
        for (; place > 0 && can->archs[place - 1] > arch; place--)
            can->archs[place] = can->archs[place - 1];
        can->archs[place] = arch;
    }
    bool ok = archs && can->arch_count;
    if (archs && !ok)
        err_set(err, _("%s does not say what it can compile for"), out->nvcc);
    free(version);
    free(archs);
    return ok;
}

struct arguments {
    char *list[ARGUMENTS_MOST];
    int count;
};

__attribute__((format(printf, 2, 3))) static void add(struct arguments *arguments,
                                                      const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (arguments->count + 1 < ARGUMENTS_MOST &&
        vasprintf(&arguments->list[arguments->count], format, args) >= 0)
        arguments->count++;
    va_end(args);
}

static void drop(struct arguments *arguments)
{
    for (int i = 0; i < arguments->count; i++)
        free(arguments->list[i]);
    *arguments = (struct arguments){0};
}

/* Runs one tool; what it says goes to the log. */
static bool run_tool(struct arguments *arguments, const char *folder, struct compiler_output *out,
                     struct err *err)
{
    struct process process;
    struct process_result result;
    arguments->list[arguments->count] = NULL;
    bool ok = process_start(&process, arguments->list, folder, -1, NULL, err) &&
              process_finish(&process, &result, BUILD_MS, err);
    drop(arguments);
    if (!ok)
        return false;
    out->status = result.status;
    buf_add(&out->log, buf_str(&result.text), result.text.len);
    buf_add(&out->log, buf_str(&result.out), result.out.len);
    process_result_free(&result);
    return true;
}

static bool write_in(const char *folder, const char *name, const char *text, struct err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, text, strlen(text), false, err);
    free(path);
    return ok;
}

static void take_file(struct buf *out, const char *folder, const char *name)
{
    char *path = path_join(folder, name);
    file_read(out, path, 64 << 20, NULL);
    free(path);
}

static bool compile_in(const struct nvcc *nvcc, struct compiler_output *out, const char *folder,
                       const char *name, const char *arch, const char *const *folders,
                       int folder_count, struct err *err)
{
    struct arguments arguments = {0};
    add(&arguments, "%s", nvcc->nvcc);
    add(&arguments, "-arch=%s", arch);
    add(&arguments, "-std=c++17");
    add(&arguments, "-lineinfo");
    add(&arguments, "-ptx");
    for (int i = 0; i < folder_count; i++)
        add(&arguments, "-I%s", folders[i]);
    add(&arguments, "-o");
    add(&arguments, "kernel.ptx");
    add(&arguments, "%s%s", *name == '-' ? "./" : "", name); /* else an option */
    if (!run_tool(&arguments, folder, out, err))
        return false;
    take_file(&out->ptx, folder, "kernel.ptx");
    if (out->status != 0 || strncmp(arch, "sm_", 3) != 0)
        return true;
    add(&arguments, "%s", nvcc->ptxas);
    add(&arguments, "-arch=%s", arch);
    add(&arguments, "-v");
    add(&arguments, "--generate-line-info");
    add(&arguments, "kernel.ptx");
    add(&arguments, "-o");
    add(&arguments, "kernel.cubin");
    if (!run_tool(&arguments, folder, out, err))
        return false;
    take_file(&out->cubin, folder, "kernel.cubin");
    return true;
}

bool nvcc_compile(const struct nvcc *nvcc, struct compiler_output *out, const char *source,
                  const char *name, const char *header, const char *arch,
                  const char *const *folders, int folder_count, struct err *err)
{
    *out = (struct compiler_output){.log = {.cap = 1 << 20}};
    char *folder = scratch_make(err);
    if (!folder)
        return false;
    bool ok = write_in(folder, name, source, err) &&
              (!header || write_in(folder, "lab.h", header, err)) &&
              compile_in(nvcc, out, folder, name, arch, folders, folder_count, err);
    file_remove_folder(folder);
    free(folder);
    if (!ok)
        compiler_output_free(out);
    return ok;
}

char *nvcc_host_compilers(void)
{
    struct buf list = {.cap = 400};
    glob_t found = {0};
    static const char *const patterns[] = {"/usr/bin/g++*", "/usr/bin/clang++*",
                                           "/usr/local/bin/g++*"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        glob(patterns[i], i ? GLOB_APPEND : 0, NULL, &found);
    for (size_t i = 0; i < found.gl_pathc; i++)
        buf_printf(&list, "%s%s", list.len ? ", " : "", found.gl_pathv[i]);
    globfree(&found);
    return buf_take(&list);
}

static void add_file_state(struct buf *key, const char *path)
{
    struct stat info;
    if (path && stat(path, &info) == 0)
        buf_printf(key, "%s %lld %lld\n", path, (long long)info.st_mtime, (long long)info.st_size);
}

static void add_host_compiler(struct buf *key)
{
    const char *chosen = getenv("NVCC_CCBIN"), *at = getenv("PATH");
    buf_printf(key, "ccbin %s\n", chosen ? chosen : "");
    for (bool found = false; at && *at && !found;) {
        size_t len = strcspn(at, ":");
        char *path = mem_printf("%.*s/g++", (int)len, at);
        found = file_exists(path);
        add_file_state(key, path);
        free(path);
        at += len + (at[len] == ':');
    }
}

void nvcc_add_identity(struct buf *key, const char *nvcc)
{
    add_file_state(key, nvcc);
    add_host_compiler(key);
}

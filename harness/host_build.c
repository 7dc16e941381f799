/* How to read this file: host_build_make looks for the object in the cache; when it is not there it
 * runs nvcc in a scratch folder (make_object) and keeps the result. Either way read_object then
 * takes PTX and machine code out of the object's fat binary. */
#include "host_build.h"

#include "advice.h"
#include "cache.h"
#include "emit.h"
#include "entry.h"
#include "host_lines.h"
#include "process.h"
#include "scratch.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"
#include "harness/host/fatbin.h"
#include "harness/host/symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUILD_MS 120000.0

enum { SOURCE_MOST = 1 << 20, OBJECT_MOST = 64 << 20, LOG_MOST = 1 << 20, OPTIONS_MOST = 32 };

#define OBJECT "yours.so"
#define LINES  "yours.lines"
#define LOG    "log"

/* Frame pointers and no sibling calls, so that a call can be traced to its line; version 4 of the
 * debug information, since addr2line misreads file numbers in that of version 5; the object's own
 * functions before those of the program that loads it. Ubuntu's gcc turns read into __read_chk
 * and memcpy into __memcpy_chk unless told not to, and those nobody watches. */
static const char *const fixed_options[] = {
    "-shared",
    "-cudart=none",
    "-no-compress",
    "-std=c++17",
    "-O2",
    "-g",
    "-lineinfo",
    "-Xcompiler",
    "-fPIC,-fno-omit-frame-pointer,-fno-optimize-sibling-calls,-gdwarf-4,-U_FORTIFY_SOURCE",
    "-Xlinker",
    "-Bsymbolic,--wrap=memcpy,--wrap=memmove,--wrap=memset",
};

enum { FIXED_OPTIONS = sizeof fixed_options / sizeof *fixed_options };

bool host_builder_open(struct host_builder *out, const struct toolkit *toolkit, const char *root,
                       const char *slug, const char *entry, int cc, struct err *err)
{
    *out = (struct host_builder){.toolkit = toolkit, .entry = entry};
    struct buf header = {0};
    struct err why = {0};
    if (!nvcc_open(&out->nvcc, toolkit, &why)) {
        char *searched = toolkit_searched(root);
        err_set(
            err,
            _("this lab's file is built by nvcc: %.200s. Run `make deps` in Stride's folder, or "
              "install the CUDA Toolkit (looked in %.300s)"),
            why.text, searched);
        free(searched);
        return false;
    }
    if (!compiler_pick_arch(&out->nvcc.abilities, cc, out->arch, err))
        return false;
    char *path = mem_printf("%s/kernels/%s/lab.h", root, slug);
    bool ok = file_read(&header, path, SOURCE_MOST, err);
    free(path);
    if (ok)
        out->lab_header = buf_take(&header);
    else
        host_builder_close(out);
    return ok;
}

void host_builder_close(struct host_builder *builder)
{
    free(builder->lab_header);
    *builder = (struct host_builder){0};
}

/* ---- the key: everything that decides what comes out */

static struct buf make_key(const struct host_builder *builder, const struct build *build)
{
    struct buf key = {0};
    buf_printf(&key, "stride 1\nnvcc %d.%d\n", builder->nvcc.abilities.major,
               builder->nvcc.abilities.minor);
    nvcc_add_identity(&key, builder->nvcc.nvcc);
    for (int i = 0; i < FIXED_OPTIONS; i++)
        buf_printf(&key, "%s\n", fixed_options[i]);
    buf_printf(&key, "-arch=%s\n%s\n%zu\n%s\n", builder->arch, build->name,
               strlen(builder->lab_header), builder->lab_header);
    buf_add(&key, buf_str(&build->source), build->source.len);
    return key;
}

/* ---- the compilation */

static bool write_in(const char *folder, const char *name, const void *text, size_t len,
                     struct err *err)
{
    char *path = path_join(folder, name);
    bool ok = file_write(path, text, len, false, err);
    free(path);
    return ok;
}

/* `option`: one more, or NULL. */
static bool run_nvcc(const struct host_builder *builder, struct compiler_output *out,
                     const struct build *build, const char *folder, const char *own_headers,
                     const char *option, struct err *err)
{
    char arch[32], *list[OPTIONS_MOST];
    int count = 0;
    char *own = own_headers ? mem_printf("-I%s", own_headers) : NULL;
    char *source = mem_printf("%s%s", *build->name == '-' ? "./" : "", build->name);
    char object[] = OBJECT, to[] = "-o", *fixed[FIXED_OPTIONS];
    char *more = option ? mem_strdup(option) : NULL;
    snprintf(arch, sizeof arch, "-arch=%s", builder->arch);
    list[count++] = mem_strdup(builder->nvcc.nvcc);
    for (int i = 0; i < FIXED_OPTIONS; i++)
        list[count++] = fixed[i] = mem_strdup(fixed_options[i]);
    list[count++] = arch;
    if (own)
        list[count++] = own;
    if (more)
        list[count++] = more;
    list[count++] = to;
    list[count++] = object;
    list[count++] = source;
    list[count] = NULL;
    struct process process;
    struct process_result result;
    /* The host compiler's complaints are read, so they have to come in English. */
    bool ok = process_start(&process, list, folder, -1, "LC_ALL=C", err) &&
              process_finish(&process, &result, BUILD_MS, err);
    if (ok) {
        out->status = result.timed_out ? 124 : result.status;
        buf_add(&out->log, buf_str(&result.text), result.text.len);
        buf_add(&out->log, buf_str(&result.out), result.out.len);
        process_result_free(&result);
    }
    free(list[0]);
    for (int i = 0; i < FIXED_OPTIONS; i++)
        free(fixed[i]);
    free(source);
    free(own);
    free(more);
    return ok;
}

/* What to do when the machine and not the source is to blame. */
static void explain_setup(struct diagnostics *list)
{
    if (!list->setup)
        return;
    char *found = nvcc_host_compilers(), *text;
    if (strstr(list->setup, "cuda_runtime"))
        text = mem_strdup(_("nvcc is here and the CUDA runtime's headers are not: run `make deps` "
                            "in Stride's folder, or install the whole CUDA Toolkit"));
    else if (!*found)
        text = mem_strdup(_("nvcc needs a C++ compiler, and none is on this machine: install g++ "
                            "(Debian, Ubuntu: apt-get install g++)"));
    else
        text = mem_printf(_("nvcc cannot use this machine's host compiler: %s. Found here: %s. "
                            "Choose one with NVCC_CCBIN=/usr/bin/g++-12"),
                          list->setup, found);
    free(list->setup);
    list->setup = text;
    free(found);
}

static void read_log(const struct host_builder *builder, struct build *build, const char *log,
                     size_t len)
{
    struct diagnostics *list = &build->diagnostics;
    diagnostics_parse(list, log, len);
    diagnostics_drop_repeated(list);
    if (builder->toolkit->parts[PART_HEADERS])
        diagnostics_drop_below(list, builder->toolkit->parts[PART_HEADERS]);
    advice_add(list, buf_str(&build->source), build->name);
    explain_setup(list);
}

/* Without the table verdicts come without lines, and that is all. */
static void write_lines(const char *folder, const char *name)
{
    struct err err = {0};
    char *object = path_join(folder, OBJECT), *table = path_join(folder, LINES);
    if (!host_lines_write(object, name, table, &err))
        fprintf(stderr, "stride-harness: %s\n", err.text);
    free(object);
    free(table);
}

/* Lambdas with __device__ are an option of nvcc's that makes a build half as long again, so it is
 * for those sources alone that nvcc refuses without it, which takes it a third of that time. */
static bool compile(const struct host_builder *builder, struct compiler_output *out,
                    const struct build *build, const char *folder, const char *own_headers,
                    struct err *err)
{
    if (!run_nvcc(builder, out, build, folder, own_headers, NULL, err))
        return false;
    if (out->status == 0 || !strstr(buf_str(&out->log), "requires --extended-lambda"))
        return true;
    buf_free(&out->log);
    return run_nvcc(builder, out, build, folder, own_headers, "--extended-lambda", err);
}

/* Runs nvcc in `folder`; build.ok says whether an object is there. */
static bool make_object(const struct host_builder *builder, struct build *build, const char *folder,
                        const char *own_headers, struct err *err)
{
    struct compiler_output output = {.log = {.cap = LOG_MOST}};
    bool ran = write_in(folder, build->name, buf_str(&build->source), build->source.len, err) &&
               write_in(folder, "lab.h", builder->lab_header, strlen(builder->lab_header), err) &&
               compile(builder, &output, build, folder, own_headers, err);
    if (ran) {
        build->ok = output.status == 0;
        build->log_cut = output.log.cut;
        read_log(builder, build, buf_str(&output.log), output.log.len);
        if (!build->ok)
            build_explain_silence(build, output.status);
        if (build->ok) {
            write_in(folder, LOG, buf_str(&output.log), output.log.len, NULL);
            write_lines(folder, build->name);
        }
    }
    compiler_output_free(&output);
    return ran;
}

/* ---- what is in the object */

static void take_part(struct buf *out, enum fatbin_kind kind, const void *section, size_t len)
{
    struct fatbin_part part;
    if (fatbin_find(&part, kind, section, len, NULL))
        buf_add(out, part.bytes, part.len);
}

/* The folder of `.file 1 "/tmp/stride-harness-1-x/kernel.cu"`; NULL when there is no such line. */
static char *find_compiled_in(const struct build *build)
{
    char *tail = mem_printf("/%s\"", build->name);
    const char *text = buf_str(&build->ptx), *at = text;
    char *found = NULL;
    while (!found && (at = strstr(at, tail))) {
        const char *begin = at;
        while (begin > text && begin[-1] != '"' && begin[-1] != '\n')
            begin--;
        if (*begin == '/' && begin > text && begin[-1] == '"' && at > begin)
            found = mem_printf("%.*s", (int)(at - begin), begin);
        at++;
    }
    free(tail);
    return found;
}

void host_build_strip(const struct host_build *build, struct buf *listing)
{
    if (!build->compiled_in)
        return;
    struct buf out = {0};
    size_t len = strlen(build->compiled_in);
    const char *at = buf_str(listing), *end = at + listing->len, *next;
    while ((next = memmem(at, (size_t)(end - at), build->compiled_in, len))) {
        buf_add(&out, at, (size_t)(next - at));
        at = next + len;
    }
    buf_add(&out, at, (size_t)(end - at));
    buf_free(listing);
    *listing = out;
}

/* The three functions of the lab: "streams" and each of these. */
static const char *const roles[] = {"Open", "Run", "Close"};

enum { ROLES = sizeof roles / sizeof *roles };

struct exports {
    const char *entry;
    bool there[ROLES];
};

static void note_export(void *context, const char *name, bool defined)
{
    struct exports *exports = context;
    size_t prefix = strlen(exports->entry) - strlen("Run");
    for (int i = 0; defined && i < ROLES; i++)
        exports->there[i] |=
            strncmp(name, exports->entry, prefix) == 0 && strcmp(name + prefix, roles[i]) == 0;
}

/* An object without the lab's functions is a failed build. */
static void check_exports(const struct host_builder *builder, struct build *build,
                          const struct buf *object)
{
    struct exports exports = {.entry = builder->entry};
    size_t prefix = strlen(builder->entry) - strlen("Run");
    symbols_each(object->data, object->len, note_export, &exports, NULL);
    for (int i = 0; i < ROLES; i++) {
        if (exports.there[i])
            continue;
        char *name = mem_printf("%.*s%s", (int)prefix, builder->entry, roles[i]);
        char *text = mem_printf(_("there is no function %s that the lab can call: lab.h declares "
                                  "it, and your code has to define it just so, not static and in "
                                  "no namespace"),
                                name);
        diagnostics_add(&build->diagnostics, SEVERITY_ERROR, build->name,
                        entry_line(buf_str(&build->source), name), text);
        build->ok = false;
        free(text);
        free(name);
    }
}

static bool read_object(const struct host_builder *builder, struct host_build *out, struct err *err)
{
    struct buf object = {0};
    const void *section;
    size_t len;
    if (!file_read(&object, out->object, OBJECT_MOST, err))
        return false;
    if (fatbin_section(&section, &len, object.data, object.len, NULL)) {
        take_part(&out->build.ptx, FATBIN_PTX, section, len);
        take_part(&out->build.cubin, FATBIN_CUBIN, section, len);
    }
    check_exports(builder, &out->build, &object);
    buf_free(&object);
    out->compiled_in = find_compiled_in(&out->build);
    host_build_strip(out, &out->build.ptx);
    return true;
}

/* Takes the path over; what a scratch folder held is removed with it. */
static void set_folder(struct host_build *out, char *folder, bool scratch)
{
    if (out->scratch)
        file_remove_folder(out->folder);
    free(out->folder);
    free(out->object);
    free(out->lines);
    out->folder = folder;
    out->scratch = scratch;
    out->object = folder ? path_join(folder, OBJECT) : NULL;
    out->lines = folder ? path_join(folder, LINES) : NULL;
}

static bool use_cached(const struct host_builder *builder, struct host_build *out, char *folder)
{
    struct buf log = {0};
    char *path = path_join(folder, LOG);
    bool ok = file_read(&log, path, OBJECT_MOST, NULL);
    set_folder(out, folder, false);
    out->build.ok = ok;
    out->cached = ok && read_object(builder, out, NULL);
    if (out->cached)
        read_log(builder, &out->build, buf_str(&log), log.len);
    else
        set_folder(out, NULL, false); /* removed meanwhile */
    buf_free(&log);
    free(path);
    return out->cached;
}

static bool build_anew(const struct host_builder *builder, struct host_build *out,
                       const struct buf *key, const char *own_headers, struct err *err)
{
    /* The source too: stride-host names memory by what it says (harness/host/names.h). */
    const char *const names[] = {OBJECT, LINES, LOG, out->build.name, NULL};
    char *folder = scratch_make(err);
    if (!folder)
        return false;
    set_folder(out, folder, true);
    if (!make_object(builder, &out->build, folder, own_headers, err))
        return false;
    if (!out->build.ok) {
        set_folder(out, NULL, false);
        return true;
    }
    char *kept = own_headers ? NULL : cache_keep(key, out->folder, names, CACHE_BYTES_MOST);
    if (kept)
        set_folder(out, kept, false);
    return read_object(builder, out, err);
}

/* The source is read. */
static bool build_text(const struct host_builder *builder, struct host_build *out,
                       const char *folder, struct err *err)
{
    struct buf key = make_key(builder, &out->build);
    /* What such a header holds is not part of the key. */
    const char *own = build_has_own_headers(&out->build) ? folder : NULL;
    char *found = own ? NULL : cache_find(&key);
    bool ran =
        (found && use_cached(builder, out, found)) || build_anew(builder, out, &key, own, err);
    build_compare_header(&out->build, builder->lab_header, folder);
    buf_free(&key);
    return ran;
}

bool host_build_make(const struct host_builder *builder, struct host_build *out, const char *path,
                     const char *folder, const char *name, struct err *err)
{
    double start = clock_ms();
    char *own = folder ? mem_strdup(folder) : build_folder(path);
    *out = (struct host_build){.build.name = mem_strdup(name)};
    bool ran = !build_read_source(&out->build, path, own) || build_text(builder, out, own, err);
    snprintf(out->build.arch, sizeof out->build.arch, "%s", builder->arch);
    out->build.ms = clock_ms() - start;
    if (!ran)
        host_build_free(out);
    free(own);
    return ran;
}

void host_build_free(struct host_build *build)
{
    set_folder(build, NULL, false);
    free(build->compiled_in);
    build_free(&build->build);
    *build = (struct host_build){0};
}

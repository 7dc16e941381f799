#include "compile.h"

#include "advice.h"
#include "emit.h"
#include "includes.h"

#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 1 << 20, FOLDERS_MOST = 8, FIXED_OPTIONS = 4, PCH_OPTIONS = 3 };

/* The language is fixed and documented: what nvcc 13 takes by default too. */
#define STANDARD "--std=c++17"

static bool open_nvrtc(struct compiler *out, struct err *err)
{
    const char *library = out->toolkit->parts[PART_NVRTC];
    if (!library)
        return err_set(err, "%s", _("NVRTC, the CUDA compiler library, is not on this machine"));
    if (!nvrtc_open(&out->nvrtc, library, out->toolkit->parts[PART_BUILTINS], err))
        return false;
    out->abilities = out->nvrtc.abilities;
    return compiler_pick_arch(&out->abilities, out->capability, out->arch, err);
}

/* NVRTC does not work, for the reason in err; nvcc does the same work, slowly. False: it is missing
 * too, and err says how to get one of them. */
static bool fall_back(struct compiler *compiler, struct err *err)
{
    struct err why_not = {0};
    if (compiler->by_nvcc)
        return false;
    if (nvcc_open(&compiler->nvcc, compiler->toolkit, &why_not)) {
        compiler->by_nvcc = true;
        compiler->abilities = compiler->nvcc.abilities;
        compiler->note = mem_strdup(err->text);
        fprintf(stderr, "stride-harness: %s; nvcc compiles instead\n", err->text);
        return compiler_pick_arch(&compiler->abilities, compiler->capability, compiler->arch, err);
    }
    char *searched = toolkit_searched(compiler->root);
    struct err first = *err;
    err_set(err,
            _("%.300s; %.150s. Run `make deps` in Stride's folder, or install the CUDA Toolkit "
              "(looked in %.250s)"),
            first.text, why_not.text, searched);
    free(searched);
    return false;
}

static bool read_header(struct compiler *out, struct err *err)
{
    char *header = path_join(out->lab_folder, "lab.h");
    struct buf text = {0};
    bool there = file_exists(header);
    bool ok = !there || file_read(&text, header, SOURCE_MOST, err);
    if (there && ok)
        out->lab_header = buf_take(&text);
    buf_free(&text);
    free(header);
    return ok;
}

static void open_headers(struct compiler *out)
{
    char *path = path_join(out->lab_folder, "solution.cu");
    struct buf text = {0};
    if (!out->by_nvcc && file_read(&text, path, SOURCE_MOST, NULL))
        headers_open(&out->headers, &out->abilities, buf_str(&text));
    buf_free(&text);
    free(path);
}

bool compiler_open(struct compiler *out, const struct toolkit *toolkit, const char *root,
                   const char *slug, int cc, struct err *err)
{
    *out = (struct compiler){.toolkit = toolkit, .root = root, .capability = cc};
    out->lab_folder = mem_printf("%s/kernels/%s", root, slug);
    out->stand_ins = mem_printf("%s/kernels/include", root);
    if (read_header(out, err) && (open_nvrtc(out, err) || fall_back(out, err))) {
        open_headers(out);
        return true;
    }
    compiler_close(out);
    return false;
}

void compiler_close(struct compiler *compiler)
{
    headers_close(&compiler->headers);
    nvrtc_close(&compiler->nvrtc);
    free(compiler->lab_folder);
    free(compiler->stand_ins);
    free(compiler->lab_header);
    free(compiler->note);
    *compiler = (struct compiler){0};
}

void compiler_relax(struct compiler *compiler)
{
    headers_close(&compiler->headers);
}

char *compiler_version(const struct compiler *compiler)
{
    return mem_printf("%d.%d", compiler->abilities.major, compiler->abilities.minor);
}

char *build_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? mem_printf("%.*s", (int)(slash - path) + (slash == path), path)
                 : mem_strdup(".");
}

/* Reads the source; what the student did to the file is a complaint, not an error. */
bool build_read_source(struct build *build, const char *path, const char *folder)
{
    struct err why = {0};
    if (!file_read(&build->source, path, SOURCE_MOST, &why)) {
        diagnostics_add(&build->diagnostics, SEVERITY_ERROR, build->name, 0, why.text);
        return false;
    }
    struct buf *source = &build->source;
    if (source->len >= 3 && memcmp(source->data, "\xef\xbb\xbf", 3) == 0) {
        memmove(source->data, source->data + 3, source->len - 2);
        source->len -= 3;
    }
    if (source->len && memchr(source->data, '\0', source->len)) {
        diagnostics_add(&build->diagnostics, SEVERITY_ERROR, build->name, 0,
                        _("the file holds bytes that are not text; save it as UTF-8"));
        return false;
    }
    return includes_check(build, folder);
}

/* Where headers are looked for, in this order. */
struct folders {
    const char *list[FOLDERS_MOST];
    int count;
    char *cccl;
};

/* Whether the source includes a "header" that is not the lab's. */
bool build_has_own_headers(const struct build *build)
{
    const char *source = buf_str(&build->source);
    for (const char *at = source; (at = strchr(at, '#')); at++) {
        const char *word = at + 1 + strspn(at + 1, " \t");
        if (strncmp(word, "include", 7) != 0)
            continue;
        word += 7 + strspn(word + 7, " \t");
        if (*word == '"' && strncmp(word, "\"lab.h\"", 7) != 0)
            return true;
    }
    return false;
}

static void collect_folders(struct folders *out, const struct compiler *compiler,
                            const struct build *build, const char *folder)
{
    const char *include = compiler->toolkit->parts[PART_HEADERS];
    *out = (struct folders){0};
    out->list[out->count++] = compiler->lab_folder;
    if (!compiler->by_nvcc) /* nvcc has the host's headers */
        out->list[out->count++] = compiler->stand_ins;
    if (include && !compiler->by_nvcc) {
        out->list[out->count++] = include;
        out->cccl = path_join(include, "cccl");
        if (file_is_dir(out->cccl))
            out->list[out->count++] = out->cccl;
    }
    /* Last, so that a header of the student's never stands in for one that grading trusts; and only
     * when needed, because precompiled headers serve compilations with the same folders alone. */
    if (build_has_own_headers(build))
        out->list[out->count++] = folder;
}

static bool run_nvrtc(const struct compiler *compiler, struct compiler_output *out,
                      const struct build *build, const struct folders *folders, struct err *err)
{
    char arch[40], *includes[FOLDERS_MOST];
    snprintf(arch, sizeof arch, "--gpu-architecture=%s", compiler->arch);
    const char *options[FIXED_OPTIONS + FOLDERS_MOST + PCH_OPTIONS] = {arch, STANDARD, "-lineinfo",
                                                                       "--ptxas-options=-v"};
    for (int i = 0; i < folders->count; i++)
        options[FIXED_OPTIONS + i] = includes[i] = mem_printf("-I%s", folders->list[i]);
    int count = FIXED_OPTIONS + folders->count;
    char *image =
        compiler->headers.folder ? mem_printf("-pch-dir=%s", compiler->headers.folder) : NULL;
    if (image) {
        options[count++] = "-pch";
        options[count++] = "-pch-messages=false";
        options[count++] = image;
    }
    /* By content, it is found before any lab.h on disk. */
    const char *const headers[] = {compiler->lab_header}, *const names[] = {"lab.h"};
    bool ran = nvrtc_compile(&compiler->nvrtc, out, buf_str(&build->source), build->name,
                             compiler->lab_header ? 1 : 0, headers, names, count, options, err);
    free(image);
    for (int i = 0; i < folders->count; i++)
        free(includes[i]);
    return ran;
}

static bool run_compiler(struct compiler *compiler, struct compiler_output *out,
                         const struct build *build, const char *folder, struct err *err)
{
    struct folders folders;
    collect_folders(&folders, compiler, build, folder);
    bool ran = compiler->by_nvcc ? nvcc_compile(&compiler->nvcc, out, buf_str(&build->source),
                                                build->name, compiler->lab_header, compiler->arch,
                                                folders.list, folders.count, err)
                                 : run_nvrtc(compiler, out, build, &folders, err);
    free(folders.cccl);
    return ran;
}

static void warn_of_spills(struct build *build)
{
    if (!build->diagnostics.spill_bytes)
        return;
    char *text = mem_printf(_("the kernel needs more registers than a thread may have: %u bytes of "
                              "spill stores and loads go through local memory"),
                            build->diagnostics.spill_bytes);
    diagnostics_add(&build->diagnostics, SEVERITY_WARNING, build->name, 0, text);
    free(text);
}

/* A copy of lab.h lies beside the student's kernel to be read; it is never the one that counts. */
void build_compare_header(struct build *build, const char *lab_header, const char *folder)
{
    char *copy = path_join(folder, "lab.h");
    struct buf text = {0};
    if (lab_header && file_exists(copy) && file_read(&text, copy, SOURCE_MOST, NULL) &&
        strcmp(buf_str(&text), lab_header) != 0)
        diagnostics_add(&build->diagnostics, SEVERITY_WARNING, "lab.h", 0,
                        _("your copy of lab.h differs from the lab's own, and the lab's own is "
                          "used; remove it, and it is written anew"));
    buf_free(&text);
    free(copy);
}

/* A failing compiler that says nothing still gets a sentence. */
void build_explain_silence(struct build *build, int status)
{
    for (size_t i = 0; i < build->diagnostics.count; i++)
        if (build->diagnostics.items[i].severity == SEVERITY_ERROR)
            return;
    char *text = mem_printf(_("compiler failed without a message (status %d)"), status);
    diagnostics_add(&build->diagnostics, SEVERITY_ERROR, NULL, 0, text);
    free(text);
}

static void read_log(const struct compiler *compiler, struct build *build,
                     const struct compiler_output *out, const char *folder)
{
    struct diagnostics *list = &build->diagnostics;
    diagnostics_parse(list, buf_str(&out->log), out->log.len);
    diagnostics_map_ptx(list, buf_str(&out->ptx), out->ptx.len, build->name);
    diagnostics_drop_repeated(list);
    if (compiler->toolkit->parts[PART_HEADERS])
        diagnostics_drop_below(list, compiler->toolkit->parts[PART_HEADERS]);
    diagnostics_drop_below(list, compiler->stand_ins);
    advice_add(list, buf_str(&build->source), build->name);
    if (list->setup) {
        char *found = nvcc_host_compilers();
        char *text =
            mem_printf(_("nvcc cannot use this machine's host compiler: %s. Found here: %s. "
                         "Choose one with NVCC_CCBIN=/usr/bin/g++-12"),
                       list->setup, *found ? found : _("none"));
        free(list->setup);
        list->setup = text;
        free(found);
    }
    build_compare_header(build, compiler->lab_header, folder);
    build->log_cut = out->log.cut || list->cut;
}

static void take_output(struct build *build, struct compiler_output *out)
{
    build->ok = out->status == 0;
    if (!build->ok) {
        build_explain_silence(build, out->status);
        return;
    }
    build->ptx = out->ptx;
    build->cubin = out->cubin;
    out->ptx = out->cubin = (struct buf){0};
    warn_of_spills(build);
}

/* The source is read. */
static bool build_text(struct compiler *compiler, struct build *out, const char *folder,
                       struct err *err)
{
    struct compiler_output output;
    bool ran = run_compiler(compiler, &output, out, folder, err) ||
               (fall_back(compiler, err) && run_compiler(compiler, &output, out, folder, err));
    if (ran) {
        read_log(compiler, out, &output, folder);
        take_output(out, &output);
        compiler_output_free(&output);
    }
    return ran;
}

bool compiler_build(struct compiler *compiler, struct build *out, const char *path,
                    const char *folder, const char *name, struct err *err)
{
    double start = clock_ms();
    char *own = folder ? mem_strdup(folder) : build_folder(path);
    *out = (struct build){.name = mem_strdup(name)};
    bool ran = !build_read_source(out, path, own) || build_text(compiler, out, own, err);
    snprintf(out->arch, sizeof out->arch, "%s", compiler->arch);
    out->ms = clock_ms() - start;
    if (!ran)
        build_free(out);
    free(own);
    return ran;
}

void build_free(struct build *build)
{
    free(build->name);
    buf_free(&build->source);
    buf_free(&build->ptx);
    buf_free(&build->cubin);
    diagnostics_free(&build->diagnostics);
    *build = (struct build){0};
}

struct image build_image(const struct build *build)
{
    return (struct image){
        .ptx = buf_str(&build->ptx),
        .ptx_len = build->ptx.len,
        .cubin = build->cubin.len ? build->cubin.data : NULL,
        .cubin_len = build->cubin.len,
        .source_name = build->name,
    };
}

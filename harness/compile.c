#include "compile.h"

#include "advice.h"
#include "emit.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SOURCE_MOST = 1 << 20, OPTIONS_MOST = 16 };

/* The language is fixed and documented: what nvcc 13 takes by default too. */
#define STANDARD "--std=c++17"

bool compiler_open(struct compiler *out, const struct toolkit *toolkit, const char *root,
                   const char *slug, int cc, struct err *err)
{
    *out = (struct compiler){.toolkit = toolkit};
    const char *library = toolkit->parts[PART_NVRTC];
    if (!library) {
        char *searched = toolkit_searched(root);
        err_set(err,
                _("NVRTC, the CUDA compiler library, is not on this machine; looked in %s. Run "
                  "`make deps` in Stride's folder, or install the CUDA Toolkit"),
                searched);
        free(searched);
        return false;
    }
    if (!nvrtc_open(&out->nvrtc, library, toolkit->parts[PART_BUILTINS], err))
        return false;
    if (!nvrtc_pick_arch(&out->nvrtc, cc, out->arch, err)) {
        compiler_close(out);
        return false;
    }
    out->lab_folder = mem_printf("%s/kernels/%s", root, slug);
    out->stand_ins = mem_printf("%s/kernels/include", root);
    char *header = path_join(out->lab_folder, "lab.h");
    struct buf text = {0};
    if (file_exists(header) && file_read(&text, header, SOURCE_MOST, err))
        out->lab_header = buf_take(&text);
    bool ok = out->lab_header || !file_exists(header);
    buf_free(&text);
    free(header);
    if (!ok)
        compiler_close(out);
    return ok;
}

void compiler_close(struct compiler *compiler)
{
    nvrtc_close(&compiler->nvrtc);
    free(compiler->lab_folder);
    free(compiler->stand_ins);
    free(compiler->lab_header);
    free(compiler->note);
    *compiler = (struct compiler){0};
}

char *compiler_version(const struct compiler *compiler)
{
    return mem_printf("%d.%d", compiler->nvrtc.major, compiler->nvrtc.minor);
}

/* Reads the source; what the student did to the file is a complaint, not an error. */
static bool read_source(struct build *build, const char *path)
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
    return true;
}

struct inputs {
    const char *options[OPTIONS_MOST];
    int option_count;
    char *owned[OPTIONS_MOST]; /* options that were put together here */
    int owned_count;
};

static void add_include(struct inputs *in, const char *folder)
{
    char *option = mem_printf("-I%s", folder);
    in->owned[in->owned_count++] = option;
    in->options[in->option_count++] = option;
}

static void collect(struct inputs *in, const struct compiler *compiler, const char *path,
                    char arch[40])
{
    snprintf(arch, 40, "--gpu-architecture=%s", compiler->arch);
    const char *const fixed[] = {arch, STANDARD, "-lineinfo", "-default-device",
                                 "--ptxas-options=-v"};
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
        in->options[in->option_count++] = fixed[i];
    const char *include = compiler->toolkit->parts[PART_HEADERS];
    add_include(in, compiler->lab_folder);
    add_include(in, compiler->stand_ins);
    if (include) {
        add_include(in, include);
        char *cccl = path_join(include, "cccl");
        if (file_is_dir(cccl))
            add_include(in, cccl);
        free(cccl);
    }
    /* Last, so that a header of the student's never stands in for one that grading trusts. */
    char *folder = mem_strdup(path);
    char *slash = strrchr(folder, '/');
    if (slash && slash != folder) {
        *slash = '\0';
        add_include(in, folder);
    }
    free(folder);
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
static void compare_header(const struct compiler *compiler, struct build *build, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *copy = mem_printf("%.*s/lab.h", slash ? (int)(slash - path) : 1, slash ? path : ".");
    struct buf text = {0};
    if (compiler->lab_header && file_exists(copy) && file_read(&text, copy, SOURCE_MOST, NULL) &&
        strcmp(buf_str(&text), compiler->lab_header) != 0)
        diagnostics_add(
            &build->diagnostics, SEVERITY_WARNING, "lab.h", 0,
            _("your copy of lab.h differs from the lab's own, and the lab's own is used"));
    buf_free(&text);
    free(copy);
}

/* A failing compiler that says nothing still gets a sentence. */
static void explain_silence(struct build *build, int status)
{
    for (size_t i = 0; i < build->diagnostics.count; i++)
        if (build->diagnostics.items[i].severity == SEVERITY_ERROR)
            return;
    char *text = mem_printf(_("compiler failed without a message (status %d)"), status);
    diagnostics_add(&build->diagnostics, SEVERITY_ERROR, NULL, 0, text);
    free(text);
}

static bool build_by_nvrtc(const struct compiler *compiler, struct build *build, const char *path,
                           struct err *err)
{
    struct inputs in = {0};
    struct nvrtc_output out;
    char arch[40];
    collect(&in, compiler, path, arch);
    /* By content, it is found before any lab.h on disk. */
    const char *const headers[] = {compiler->lab_header}, *const names[] = {"lab.h"};
    bool ran = nvrtc_compile(&compiler->nvrtc, &out, buf_str(&build->source), build->name,
                             compiler->lab_header ? 1 : 0, headers, names, in.option_count,
                             in.options, err);
    for (int i = 0; i < in.owned_count; i++)
        free(in.owned[i]);
    if (!ran)
        return false;
    diagnostics_parse(&build->diagnostics, buf_str(&out.log), out.log.len);
    diagnostics_map_ptx(&build->diagnostics, buf_str(&out.ptx), out.ptx.len, build->name);
    if (compiler->toolkit->parts[PART_HEADERS])
        diagnostics_drop_below(&build->diagnostics, compiler->toolkit->parts[PART_HEADERS]);
    diagnostics_drop_below(&build->diagnostics, compiler->stand_ins);
    advice_add(&build->diagnostics, buf_str(&build->source), build->name);
    compare_header(compiler, build, path);
    build->log_cut = out.log.cut || build->diagnostics.cut;
    build->ok = out.status == 0;
    if (build->ok) {
        build->ptx = out.ptx;
        build->cubin = out.cubin;
        out.ptx = out.cubin = (struct buf){0};
        warn_of_spills(build);
    } else {
        explain_silence(build, out.status);
    }
    nvrtc_output_free(&out);
    return true;
}

bool compiler_build(const struct compiler *compiler, struct build *out, const char *path,
                    const char *name, struct err *err)
{
    double start = clock_ms();
    *out = (struct build){.name = mem_strdup(name)};
    snprintf(out->arch, sizeof out->arch, "%s", compiler->arch);
    bool ok = !read_source(out, path) || build_by_nvrtc(compiler, out, path, err);
    out->ms = clock_ms() - start;
    if (!ok)
        build_free(out);
    return ok;
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

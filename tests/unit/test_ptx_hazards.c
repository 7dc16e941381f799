/* Every kernel of tests/ptx/hazard on the simulator, in every order of warps: the correct ones
 * without any report, the faulty ones with the report that their first line names, on both lines.
 *
 *   // expect: clean | KIND [line N[/M]]
 *   // launch: [grid=XxYxZ] [block=XxYxZ] [shared=BYTES] [out=zero]
 *   // also: KIND...        further kinds that may be reported
 *   // stops: deadlock | maybe    the launch does not reach its end, or need not
 *
 * Arguments: files to run alone, with everything they report. */
#include "harness/base/buf.h"
#include "harness/base/file.h"
#include "harness/nvrtc.h"
#include "harness/ptx/ptx.h"
#include "harness/toolkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "tests/ptx/hazard"

enum { FLOATS = 1 << 14, CASES = 512 };

static struct toolkit toolkit;
static struct nvrtc nvrtc;
static bool can_compile, talks;

struct expectation {
    char kind[48], also[128], stops[32];
    unsigned line, other_line;
    uint32_t grid[3], block[3], shared;
    bool zeroed;
};

static void read_size(const char *text, const char *name, uint32_t out[3])
{
    const char *at = strstr(text, name);
    out[0] = out[1] = out[2] = 1;
    if (at)
        sscanf(at + strlen(name), "%ux%ux%u", &out[0], &out[1], &out[2]);
}

static void read_line(const char *source, const char *what, char *out, size_t size)
{
    const char *at = strstr(source, what);
    out[0] = '\0';
    if (!at)
        return;
    at += strlen(what);
    size_t len = strcspn(at, "\n");
    snprintf(out, size, "%.*s", (int)len, at);
}

static void read_expectation(struct expectation *e, const char *source)
{
    char text[128], launch[128];
    memset(e, 0, sizeof *e);
    read_line(source, "// expect: ", text, sizeof text);
    read_line(source, "// launch: ", launch, sizeof launch);
    read_line(source, "// also: ", e->also, sizeof e->also);
    read_line(source, "// stops: ", e->stops, sizeof e->stops);
    sscanf(text, "%47s line %u/%u", e->kind, &e->line, &e->other_line);
    read_size(launch, "grid=", e->grid);
    read_size(launch, "block=", e->block);
    if (!strstr(launch, "grid="))
        e->grid[0] = 2;
    e->zeroed = strstr(launch, "out=zero");
    const char *shared = strstr(launch, "shared=");
    e->shared = shared ? (uint32_t)strtoul(shared + 7, NULL, 10) : 0;
}

static bool compile(struct buf *ptx, const char *source, const char *name)
{
    struct err err = {0};
    struct compiler_output output = {0};
    char *include = mem_printf("-I%s", toolkit.parts[PART_HEADERS]);
    char *cccl = mem_printf("-I%s/cccl", toolkit.parts[PART_HEADERS]);
    const char *options[] = {"--gpu-architecture=compute_90", "-lineinfo", "-std=c++17", include,
                             cccl};
    bool ok = nvrtc_compile(&nvrtc, &output, source, name, 0, NULL, NULL, 5, options, &err);
    if (!ok || output.status)
        print_error("%s: %s %s\n", name, err.text, buf_str(&output.log));
    ok = ok && !output.status;
    if (ok)
        buf_add(ptx, output.ptx.data, output.ptx.len);
    compiler_output_free(&output);
    free(include);
    free(cccl);
    return ok;
}

static unsigned student_line(const struct ptx_module *module, uint32_t id, const char *file)
{
    return id ? module->lines[ptx_line_in_file(module, id, file)].line : 0;
}

/* Does the position lie on this line, directly or through a call on it? */
static bool on_line(const struct ptx_module *module, uint32_t id, const char *file, unsigned line)
{
    for (; id; id = module->lines[id].inlined_at) {
        const char *slash = strrchr(module->lines[id].file, '/');
        if (module->lines[id].line == line &&
            !strcmp(slash ? slash + 1 : module->lines[id].file, file))
            return true;
    }
    return false;
}

static bool named(const struct expectation *e, const char *kind)
{
    const char *at = strstr(e->also, kind);
    return !strcmp(e->kind, kind) || (at && (at == e->also || at[-1] == ' '));
}

static bool judge(const struct expectation *e, const struct ptx_module *module,
                  const struct ptx_result *result, const char *file, const char *how)
{
    bool found = !strcmp(e->kind, "clean"), ok = true;
    const char *stop = result->status == PTX_DONE       ? ""
                       : result->status == PTX_DEADLOCK ? "deadlock"
                                                        : "other";
    if (strcmp(stop, e->stops) != 0 && strcmp(e->stops, "maybe") != 0) {
        print_error("%s (%s): stopped with status %d: %s (line %u)\n", file, how, result->status,
                    result->message, student_line(module, result->line, file));
        ok = false;
    }
    for (size_t i = 0; i < result->hazard_count; i++) {
        const struct ptx_hazard *h = &result->hazards[i];
        unsigned line = student_line(module, h->line, file);
        unsigned other = student_line(module, h->other_line, file);
        bool right = !strcmp(ptx_hazard_name(h->kind), e->kind) &&
                     (!e->line || on_line(module, h->line, file, e->line)) &&
                     (!e->other_line || on_line(module, h->other_line, file, e->other_line));
        found |= right;
        bool extra = !named(e, ptx_hazard_name(h->kind));
        if (extra)
            ok = false;
        if (extra || talks)
            print_message("%s (%s): %s%s %u/%u x%llu %s: %s\n", file, how,
                          extra ? "UNEXPECTED " : "", ptx_hazard_name(h->kind), line, other,
                          (unsigned long long)h->count, h->where, h->text);
        if (!h->text[0] || strchr(h->text, '{'))
            ok = false;
    }
    if (!found)
        print_error("%s (%s): no report %s %u/%u\n", file, how, e->kind, e->line, e->other_line);
    return ok && found;
}

/* All that a result says, to compare two runs by. */
static void add_digest(struct buf *digest, const struct ptx_result *result)
{
    buf_printf(digest, "status %d\n", result->status);
    for (size_t i = 0; i < result->hazard_count; i++) {
        const struct ptx_hazard *h = &result->hazards[i];
        buf_printf(digest, "%s %u/%u x%llu %s: %s\n", ptx_hazard_name(h->kind), h->line,
                   h->other_line, (unsigned long long)h->count, h->where, h->text);
    }
}

static bool run_once(const struct expectation *e, const struct ptx_module *module, const char *file,
                     enum ptx_order order, enum ptx_isa isa, unsigned threads, struct buf *digest)
{
    static const char *const orders[] = {"forward", "reverse", "random"};
    float *in = aligned_alloc(64, FLOATS * sizeof *in),
          *out = aligned_alloc(64, FLOATS * sizeof *out);
    uint8_t *written = mem_zero(FLOATS, sizeof *out);
    for (int i = 0; i < FLOATS; i++)
        in[i] = (float)((i * 7 + i / 13) % 61) * 0.25f;
    memset(out, 0, FLOATS * sizeof *out);
    struct ptx_memory memory[] = {
        {0x10000000, FLOATS * sizeof *in, in, "in", 4, true, NULL},
        {0x20000000, FLOATS * sizeof *out, out, "out", 4, false, e->zeroed ? NULL : written},
    };
    struct {
        uint64_t in, out;
        int32_t n;
    } params = {memory[0].va, memory[1].va, FLOATS};
    struct ptx_launch launch = {
        .module = module,
        .image = ptx_image_open(module),
        .entry = "kernel",
        .grid = {e->grid[0], e->grid[1], e->grid[2]},
        .block = {e->block[0], e->block[1], e->block[2]},
        .dynamic_shared_bytes = e->shared,
        .params = &params,
        .param_bytes = 20,
        .memory = memory,
        .memory_count = 2,
        .options = {.checks = true,
                    .counters = true,
                    .order = order,
                    .seed = 5,
                    .isa = isa,
                    .threads = threads,
                    .steps = 1 << 22},
    };
    struct ptx_result result = {0};
    struct err err = {0};
    bool ok = ptx_run(&result, &launch, &err);
    if (!ok)
        print_error("%s: %s\n", file, err.text);
    ok = ok && judge(e, module, &result, file, orders[order]);
    add_digest(digest, &result);
    ptx_result_free(&result);
    ptx_image_close(launch.image);
    free(in);
    free(out);
    free(written);
    return ok;
}

static bool run_file(const char *path)
{
    const char *file = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    struct buf source = {0}, ptx = {0};
    struct err err = {0};
    if (!file_read(&source, path, 1 << 20, &err)) {
        print_error("%s\n", err.text);
        return false;
    }
    struct expectation e;
    read_expectation(&e, buf_str(&source));
    struct arena arena = {0};
    struct ptx_module *module;
    bool ok = compile(&ptx, buf_str(&source), file);
    if (ok && !ptx_parse(&module, &arena, ptx.data, ptx.len, &err)) {
        print_error("%s: %s\n", file, err.text);
        ok = false;
    }
    struct buf digests[4] = {0}, other = {0};
    for (int order = PTX_RANDOM; ok && order >= PTX_FORWARD; order--)
        ok = run_once(&e, module, file, (enum ptx_order)order, PTX_ISA_BEST, 1,
                      order == PTX_FORWARD ? &digests[0] : &other);
    /* neither the vectors' width nor the number of threads may show */
    static const enum ptx_isa isas[] = {PTX_ISA_BEST, PTX_ISA_AVX2, PTX_ISA_BASE, PTX_ISA_BEST};
    for (int i = 1; ok && i < 4; i++) {
        ok = run_once(&e, module, file, PTX_FORWARD, isas[i], i == 3 ? 3 : 1, &digests[i]);
        if (ok && strcmp(buf_str(&digests[0]), buf_str(&digests[i])) != 0) {
            print_error("%s: run %d differs:\n%swas\n%s", file, i, buf_str(&digests[i]),
                        buf_str(&digests[0]));
            ok = false;
        }
    }
    for (int i = 0; i < 4; i++)
        buf_free(&digests[i]);
    buf_free(&other);
    arena_free(&arena);
    buf_free(&source);
    buf_free(&ptx);
    return ok;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void run_all(const char *prefix, int at_least)
{
    if (!can_compile) {
        print_message("no NVRTC on this machine: skipped\n");
        skip();
    }
    char *names[CASES];
    int count = 0, failed = 0;
    DIR *folder = opendir(FOLDER);
    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) && count < CASES;)
        if (!strncmp(entry->d_name, prefix, strlen(prefix)))
            names[count++] = mem_printf(FOLDER "/%s", entry->d_name);
    closedir(folder);
    qsort(names, (size_t)count, sizeof *names, by_name);
    for (int i = 0; i < count; i++) {
        failed += !run_file(names[i]);
        free(names[i]);
    }
    print_message("%s*: %d of %d as expected\n", prefix, count - failed, count);
    assert_true(count >= at_least);
    assert_int_equal(failed, 0);
}

static void correct_kernels_get_no_report(void **state)
{
    (void)state;
    run_all("ok-", 30);
}

static void faulty_kernels_get_theirs(void **state)
{
    (void)state;
    run_all("bad-", 30);
}

int main(int argc, char **argv)
{
    struct err err = {0};
    toolkit_find(&toolkit, ".", "");
    can_compile = toolkit.parts[PART_NVRTC] && toolkit.parts[PART_HEADERS] &&
                  nvrtc_open(&nvrtc, toolkit.parts[PART_NVRTC], toolkit.parts[PART_BUILTINS], &err);
    int status = 0;
    if (argc > 1) {
        talks = true;
        for (int i = 1; i < argc; i++)
            status |= !run_file(argv[i]);
    } else {
        const struct CMUnitTest tests[] = {
            cmocka_unit_test(correct_kernels_get_no_report),
            cmocka_unit_test(faulty_kernels_get_theirs),
        };
        status = cmocka_run_group_tests(tests, NULL, NULL);
    }
    toolkit_free(&toolkit);
    return status;
}

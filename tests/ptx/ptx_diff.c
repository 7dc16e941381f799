/* Runs the same kernels in the simulator and on the GPU, with the same inputs, and compares what
 * they give, bit for bit, or within the error that is stated.
 *
 *   ptx-diff [--gpu] [--forms[=PART]] [--tries N] [FILE.cu...]
 *   ptx-diff --input                     the random input of such a file, for host programs
 *   ptx-diff --nvrtc                     status 0 when .cu files can be compiled here
 *
 * --forms takes every instruction form that maps registers to registers (kernel.h makes a kernel of
 * each) and judges by the oracle too. A FILE.cu says in its first lines how it is launched:
 *
 *   // launch: grid=2 block=96 [shared=BYTES]
 *   // in: 1024 u64 | f32 | u32          random bits, or multiples of 1/64 in [-2, 2)
 *   // out: 3072 u64 | f32 | u32 [near TOLERANCE]
 *
 * with a kernel `k(out, in)`. Without these lines it is one of generate.py's. Without --gpu the
 * simulator alone runs, and FILE.want (raw bytes), where there is one, is what it has to give. One
 * line for each mismatch, and `N passed, N failed` at the end; status 1 when something failed. */
#include "harness/base/file.h"
#include "harness/nvrtc.h"
#include "harness/toolkit.h"
#include "tests/ptx/columns.h"
#include "tests/ptx/launch.h"

enum { COUNT = 256, SHOWN = 2, MOST_BYTES = ON_GPU_BYTES };

struct diff {
    struct on_gpu gpu; /* closed: the simulator alone */
    int capability;
    struct toolkit toolkit;
    struct nvrtc nvrtc;
    bool has_nvrtc;
    unsigned passed, failed, refused, tries;
    const char *part;
};

static void say_result(struct diff *d, bool ok, const char *name, const char *why)
{
    if (ok)
        d->passed++;
    else
        d->failed++;
    if (!ok)
        printf("FAIL %s: %s\n", name, why);
}

/* ---- forms ---- */

/* Where the ISA leaves nothing open, simulator and GPU have to agree to the bit. */
static bool agree(const uint64_t *in, const uint64_t *sim, const uint64_t *gpu, unsigned e,
                  const struct form_match *m, const struct kernel_shape *s, char *why, size_t size)
{
    uint64_t x[KERNEL_SOURCES] = {0};
    struct want want[3], high;
    bool twice = !s->carry_in && !s->carry_out;
    for (unsigned j = 0; j < s->source_count; j++)
        x[j] = in[j * COUNT + e];
    if (!oracle(m, s->negated, x, want, &high))
        return true;
    for (unsigned k = 0; k < s->result_count * (twice ? 2 : 1); k++) {
        const struct want *w = &want[k % s->result_count];
        uint64_t a = sim[k * COUNT + e], b = gpu[k * COUNT + e];
        bool off = k >= s->result_count && e % 2 == 0;
        bool pair = high.kind != WANT_ANY, low_open = w->kind == WANT_ANY || w->kind == WANT_NEAR;
        if (off && columns_guard_lost(m))
            continue;
        if (pair ? (low_open || !((a ^ b) & 0xffff)) &&
                       (high.kind == WANT_NEAR || a >> 16 == b >> 16)
                 : low_open || a == b)
            continue;
        snprintf(why, size, "simulator %016llx, GPU %016llx for %016llx %016llx %016llx %016llx",
                 (unsigned long long)a, (unsigned long long)b, (unsigned long long)x[0],
                 (unsigned long long)x[1], (unsigned long long)x[2], (unsigned long long)x[3]);
        return false;
    }
    return true;
}

static void diff_columns(struct diff *d, const char *opcode, const struct form_match *m,
                         const struct kernel_shape *s)
{
    static uint64_t in[KERNEL_SOURCES * COUNT], sim[2 * KERNEL_RESULTS * COUNT];
    static uint64_t gpu[2 * KERNEL_RESULTS * COUNT];
    struct buf text = {0};
    struct err err = {0};
    char why[512];
    unsigned shown = 0;
    memset(sim, 0, sizeof sim);
    columns_fill(in, COUNT, m, s, 99 + d->passed);
    kernel_text(&text, "sm_90", opcode, s, COUNT);
    struct ptx_job job = {.text = buf_str(&text),
                          .in = in,
                          .out = sim,
                          .in_bytes = sizeof in,
                          .out_bytes = sizeof sim,
                          .threads = COUNT};
    struct image image = {.ptx = job.text, .ptx_len = text.len, .source_name = "k.ptx"};
    enum answer answer = d->gpu.backend ? on_gpu_run(&d->gpu, &image, &job, gpu, &err) : ANSWER_OK;
    if (answer == ANSWER_REFUSED) {
        d->refused++;
        goto done;
    }
    if (answer == ANSWER_FAILED || !ptx_job_simulate(&job)) {
        say_result(d, false, opcode, answer == ANSWER_FAILED ? err.text : job.message);
        goto done;
    }
    for (unsigned e = 0; e < COUNT && shown < SHOWN; e++) {
        if (!columns_judge(in, sim, COUNT, e, m, s, false, why, sizeof why)) {
            printf("FAIL %s: simulator and oracle: %s\n", opcode, why);
            shown++;
        }
        if (d->gpu.backend && !columns_judge(in, gpu, COUNT, e, m, s, true, why, sizeof why)) {
            printf("FAIL %s: GPU and oracle: %s\n", opcode, why);
            shown++;
        }
        if (d->gpu.backend && !agree(in, sim, gpu, e, m, s, why, sizeof why)) {
            printf("FAIL %s: %s\n", opcode, why);
            shown++;
        }
    }
    if (shown)
        d->failed++;
    else
        d->passed++;
done:
    buf_free(&text);
}

struct opcodes {
    const struct form *form;
    char *list[8192];
    unsigned count;
};

static bool collect(const char *opcode, void *context)
{
    struct opcodes *all = context;
    struct form_match match;
    if (all->count < 8192 && form_find(&match, opcode) && match.form == all->form)
        all->list[all->count++] = mem_printf("%s", opcode);
    return true;
}

static void diff_form(struct diff *d, const struct form *form)
{
    static struct opcodes all;
    all.form = form;
    all.count = 0;
    form_expand(form->pattern, collect, &all);
    unsigned step = all.count > d->tries ? all.count / d->tries : 1;
    for (unsigned i = 0; i < all.count; i++) {
        struct form_match m;
        struct kernel_shape s;
        /* not the same place of each step: the last word of a pattern varies fastest */
        bool taken = i % step == i / step % step && (!d->part || strstr(all.list[i], d->part));
        if (taken && form_find(&m, all.list[i]) && kernel_shape(&s, &m)) {
            s.immediate = 0xca;
            s.negated = i % 2 && strchr(form->operands, 'p') && strchr(form->operands, '?');
            diff_columns(d, all.list[i], &m, &s);
        }
        free(all.list[i]);
    }
}

/* ---- sources ---- */

struct array {
    unsigned count;
    char type[8];
    double near;
};

static void read_array(const char *source, const char *what, struct array *out)
{
    const char *at = strstr(source, what);
    char near[8] = "";
    if (at)
        sscanf(at + strlen(what), "%u %7s %7s %lf", &out->count, out->type, near, &out->near);
}

static size_t array_bytes(const struct array *a)
{
    return (size_t)a->count * (a->type[1] == '6' ? 8 : 4);
}

static void fill_input(void *in, const struct array *a)
{
    uint64_t state = 5;
    for (unsigned i = 0; i < a->count; i++) {
        uint64_t x = values_noise(&state);
        float f = (float)((int)(x >> 40 & 255) - 128) / 64;
        if (a->type[1] == '6')
            ((uint64_t *)in)[i] = x;
        else if (a->type[0] == 'f')
            ((float *)in)[i] = f;
        else
            ((uint32_t *)in)[i] = (uint32_t)x;
    }
}

/* The first element in which two outputs differ by more than is allowed; count when none does. */
static unsigned first_difference(const void *a, const void *b, const struct array *out)
{
    unsigned bytes = (unsigned)(array_bytes(out) / out->count);
    for (unsigned i = 0; i < out->count; i++) {
        const char *x = (const char *)a + i * bytes, *y = (const char *)b + i * bytes;
        bool close = false;
        if (out->type[0] == 'f' && out->near > 0) {
            float p, q;
            memcpy(&p, x, 4);
            memcpy(&q, y, 4);
            close = fabsf(p - q) <= out->near * fmaxf(1, fabsf(q));
        }
        if (memcmp(x, y, bytes) && !close)
            return i;
    }
    return out->count;
}

static bool same(const void *a, const void *b, const struct array *out, const char *who,
                 const char *name)
{
    unsigned at = first_difference(a, b, out);
    unsigned bytes = (unsigned)(array_bytes(out) / out->count);
    uint64_t x = 0, y = 0;
    if (at == out->count)
        return true;
    memcpy(&x, (const char *)a + at * bytes, bytes);
    memcpy(&y, (const char *)b + at * bytes, bytes);
    printf("FAIL %s: element %u is %llx in the simulator, %llx %s\n", name, at,
           (unsigned long long)x, (unsigned long long)y, who);
    return false;
}

static bool compile(struct diff *d, struct compiler_output *out, const char *source,
                    const char *name, char *why, size_t size)
{
    struct err err = {0};
    char arch[64];
    char *include = mem_printf("-I%s", d->toolkit.parts[PART_HEADERS]);
    char *cccl = mem_printf("-I%s/cccl", d->toolkit.parts[PART_HEADERS]);
    snprintf(arch, sizeof arch, "--gpu-architecture=%s_%d", d->gpu.backend ? "sm" : "compute",
             d->capability);
    const char *options[] = {arch, "-lineinfo", "-std=c++17", "-default-device", include, cccl};
    bool ok = nvrtc_compile(&d->nvrtc, out, source, name, 0, NULL, NULL, 6, options, &err);
    if (!ok || out->status)
        snprintf(why, size, "does not compile: %.150s %.300s", err.text, buf_str(&out->log));
    free(include);
    free(cccl);
    return ok && !out->status;
}

static bool diff_outputs(struct diff *d, struct ptx_job *job, const struct compiler_output *output,
                         const struct array *out, const char *path)
{
    struct image image = {.ptx = job->text,
                          .ptx_len = strlen(job->text),
                          .cubin = output->cubin.data,
                          .cubin_len = output->cubin.len,
                          .source_name = "k.cu"};
    struct err err = {0};
    struct buf want = {0};
    bool ok = true;
    char *want_path = mem_printf("%s.want", path);
    void *gpu = mem_zero(1, job->out_bytes);
    if (d->gpu.backend && on_gpu_run(&d->gpu, &image, job, gpu, &err) != ANSWER_OK) {
        printf("FAIL %s: on the GPU: %s\n", path, err.text);
        ok = false;
    }
    bool has_want = !d->gpu.backend && file_read(&want, want_path, MOST_BYTES, NULL);
    for (int isa = PTX_ISA_BASE; ok && isa <= PTX_ISA_AVX512; isa++) {
        job->isa = (enum ptx_isa)isa;
        memset(job->out, 0, job->out_bytes);
        ok = ptx_job_simulate(job);
        if (!ok)
            printf("FAIL %s: in the simulator: %s\n", path, job->message);
        else if (job->hazard_count)
            printf("FAIL %s: reported: %s\n", path, job->hazard_text);
        ok = ok && !job->hazard_count &&
             (!d->gpu.backend || same(job->out, gpu, out, "on the GPU", path)) &&
             (!has_want || same(job->out, want.data, out, "on the host", path));
    }
    free(gpu);
    free(want_path);
    buf_free(&want);
    return ok;
}

static void diff_source(struct diff *d, const char *path)
{
    struct buf source = {0};
    struct err err = {0};
    struct compiler_output output = {0};
    struct array in = {1024, "u64", 0}, out = {3072, "u64", 0};
    char why[1024] = "";
    void *input = mem_zero(1, MOST_BYTES), *result = mem_zero(1, MOST_BYTES);
    struct ptx_job job = {
        .in = input, .out = result, .blocks = 2, .threads = 96, .checks = true, .out_first = true};
    const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    bool ok = file_read(&source, path, MOST_BYTES, &err);
    if (!ok)
        snprintf(why, sizeof why, "%s", err.text);
    const char *at = ok ? strstr(buf_str(&source), "// launch: ") : NULL;
    if (at)
        sscanf(at, "// launch: grid=%u block=%u shared=%u", &job.blocks, &job.threads, &job.shared);
    if (ok) {
        read_array(buf_str(&source), "// in: ", &in);
        read_array(buf_str(&source), "// out: ", &out);
        job.in_bytes = array_bytes(&in);
        job.out_bytes = array_bytes(&out);
        fill_input(input, &in);
        ok = d->has_nvrtc && job.in_bytes <= MOST_BYTES && job.out_bytes <= MOST_BYTES;
        snprintf(why, sizeof why, "there is no NVRTC, or its arrays are too large");
    }
    if (ok && compile(d, &output, buf_str(&source), name, why, sizeof why)) {
        job.text = buf_str(&output.ptx);
        if (diff_outputs(d, &job, &output, &out, path))
            d->passed++;
        else
            d->failed++;
    } else {
        say_result(d, false, path, why);
    }
    compiler_output_free(&output);
    buf_free(&source);
    free(input);
    free(result);
}

/* ---- */

static int print_input(void)
{
    static uint64_t in[1024];
    fill_input(in, &(struct array){1024, "u64", 0});
    return fwrite(in, sizeof in, 1, stdout) == 1 ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct diff d = {.capability = 90, .tries = 16};
    struct err err = {0};
    bool forms_too = false;
    int first = 1;
    for (; first < argc && !strncmp(argv[first], "--", 2); first++) {
        if (!strcmp(argv[first], "--gpu")) {
            if (!on_gpu_open(&d.gpu, &err)) {
                printf("FAIL %s\n", err.text);
                return 1;
            }
            d.capability = d.gpu.info.major * 10 + d.gpu.info.minor;
            printf("# %s, %d, driver %d\n", d.gpu.info.name, d.capability,
                   d.gpu.info.driver_version);
        }
        if (!strcmp(argv[first], "--input"))
            return print_input();
        if (!strncmp(argv[first], "--forms", 7)) {
            forms_too = true;
            d.part = argv[first][7] == '=' ? argv[first] + 8 : NULL;
        }
        if (!strcmp(argv[first], "--tries") && first + 1 < argc)
            d.tries = (unsigned)strtoul(argv[++first], NULL, 10);
    }
    toolkit_find(&d.toolkit, ".", "");
    d.has_nvrtc =
        d.toolkit.parts[PART_NVRTC] && d.toolkit.parts[PART_HEADERS] &&
        nvrtc_open(&d.nvrtc, d.toolkit.parts[PART_NVRTC], d.toolkit.parts[PART_BUILTINS], &err);
    if (argc > 1 && !strcmp(argv[1], "--nvrtc"))
        return !d.has_nvrtc;
    for (size_t i = 0; forms_too && i < form_count; i++)
        if (columns_form(&forms[i]))
            diff_form(&d, &forms[i]);
    for (int i = first; i < argc; i++)
        diff_source(&d, argv[i]);
    if (d.refused)
        printf("# %u forms are not for this GPU\n", d.refused);
    printf("%u passed, %u failed\n", d.passed, d.failed);
    return d.failed > 0;
}

#include "nvrtc.h"

#include "harness/base/clean.h"
#include "harness/base/msg.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define MEMORY_MOST (4ull << 30)

enum { NVRTC_COMPILATION = 6, NVRTC_BUILTIN = 7, LOG_MOST = 1 << 20 };

static bool find_symbol(void **out, void *library, const char *name, const char *path,
                        struct err *err)
{
    *out = dlsym(library, name);
    return *out ||
           err_set(err, _("%s has no %s: it is too old (CUDA 11.2 or newer is needed) or broken"),
                   path, name);
}

static bool find_symbols(struct nvrtc *out, const char *path, struct err *err)
{
    const struct {
        void **to;
        const char *name;
    } wanted[] = {
        {(void **)&out->create, "nvrtcCreateProgram"},
        {(void **)&out->compile, "nvrtcCompileProgram"},
        {(void **)&out->destroy, "nvrtcDestroyProgram"},
        {(void **)&out->log_size, "nvrtcGetProgramLogSize"},
        {(void **)&out->log, "nvrtcGetProgramLog"},
        {(void **)&out->ptx_size, "nvrtcGetPTXSize"},
        {(void **)&out->ptx, "nvrtcGetPTX"},
        {(void **)&out->cubin_size, "nvrtcGetCUBINSize"},
        {(void **)&out->cubin, "nvrtcGetCUBIN"},
        {(void **)&out->error_string, "nvrtcGetErrorString"},
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
        if (!find_symbol(wanted[i].to, out->library, wanted[i].name, path, err))
            return false;
    return true;
}

static int ascending(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

static bool read_abilities(struct nvrtc *out, const char *path, struct err *err)
{
    void *version, *count, *list;
    if (!find_symbol(&version, out->library, "nvrtcVersion", path, err) ||
        !find_symbol(&count, out->library, "nvrtcGetNumSupportedArchs", path, err) ||
        !find_symbol(&list, out->library, "nvrtcGetSupportedArchs", path, err))
        return false;
    int total = 0;
    struct compiler_abilities *can = &out->abilities;
    if (((int (*)(int *, int *))version)(&can->major, &can->minor) != 0 ||
        ((int (*)(int *))count)(&total) != 0 || total < 1 || total > COMPILER_ARCHS ||
        ((int (*)(int *))list)(can->archs) != 0)
        return err_set(err, _("%s does not say what it can compile for; is it broken?"), path);
    can->arch_count = total;
    qsort(can->archs, (size_t)total, sizeof *can->archs, ascending);
    return true;
}

bool nvrtc_open(struct nvrtc *out, const char *library, const char *builtins, struct err *err)
{
    *out = (struct nvrtc){0};
    /* NVRTC opens its built-ins by bare name; a copy that is loaded already answers to that name.
     */
    if (builtins)
        out->builtins = dlopen(builtins, RTLD_NOW | RTLD_LOCAL);
    out->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!out->library) {
        const char *why = dlerror();
        err_set(err, _("cannot open NVRTC: %s"), why ? why : library);
        nvrtc_close(out);
        return false;
    }
    if (!find_symbols(out, library, err) || !read_abilities(out, library, err)) {
        nvrtc_close(out);
        return false;
    }
    return true;
}

void nvrtc_close(struct nvrtc *nvrtc)
{
    /* Never unloaded: NVRTC leaves memory behind when it goes, and the next opening wants it warm.
     */
    *nvrtc = (struct nvrtc){0};
}

static void fetch(struct buf *out, nvrtc_program program, int (*size)(nvrtc_program, size_t *),
                  int (*get)(nvrtc_program, char *))
{
    size_t bytes = 0;
    if (size(program, &bytes) != 0 || bytes == 0)
        return;
    char *data = mem_zero(bytes + 1, 1);
    if (get(program, data) == 0)
        *out = (struct buf){.data = data, .len = bytes, .capacity = bytes + 1};
    else
        free(data);
}

/* Sizes of texts count their NUL. */
static void drop_nul(struct buf *text)
{
    while (text->len && text->data[text->len - 1] == '\0')
        text->len--;
}

/* A source can make the compiler want any amount of memory, and it runs in this process: for as
 * long as it runs there are 4 GiB more than what is in use. */
static void limit_memory(struct rlimit *before)
{
    unsigned long long data = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    bool known = file && fscanf(file, "%*u %*u %*u %*u %*u %llu", &data) == 1;
    if (file)
        fclose(file);
    getrlimit(RLIMIT_DATA, before);
    rlim_t most = data * (rlim_t)sysconf(_SC_PAGESIZE) + MEMORY_MOST;
    if (known && most < before->rlim_cur)
        setrlimit(RLIMIT_DATA, &(struct rlimit){most, before->rlim_max});
}

bool nvrtc_compile(const struct nvrtc *nvrtc, struct compiler_output *out, const char *source,
                   const char *name, int header_count, const char *const *headers,
                   const char *const *names, int option_count, const char *const *options,
                   struct err *err)
{
    *out = (struct compiler_output){0};
    nvrtc_program program = NULL;
    int status = nvrtc->create(&program, source, name, header_count, headers, names);
    if (status)
        return err_set(err, _("NVRTC refused the program: %s"), nvrtc->error_string(status));
    struct rlimit before;
    limit_memory(&before);
    out->status = status = nvrtc->compile(program, option_count, options);
    setrlimit(RLIMIT_DATA, &before);
    fetch(&out->log, program, nvrtc->log_size, nvrtc->log);
    fetch(&out->ptx, program, nvrtc->ptx_size, nvrtc->ptx);
    fetch(&out->cubin, program, nvrtc->cubin_size, nvrtc->cubin);
    nvrtc->destroy(&program);
    drop_nul(&out->log);
    drop_nul(&out->ptx);
    if (out->log.len > LOG_MOST) {
        out->log.len = LOG_MOST;
        out->log.data[LOG_MOST] = '\0';
        out->log.cut = true;
    }
    if (status == 0 || status == NVRTC_COMPILATION)
        return true;
    struct buf why = {.cap = 300};
    clean_line(&why, buf_str(&out->log), out->log.len);
    if (status == NVRTC_BUILTIN)
        err_set(err,
                _("NVRTC %d.%d cannot use its built-ins: put libnvrtc-builtins.so.%d.%d beside "
                  "libnvrtc.so, or reinstall the toolkit (%s)"),
                nvrtc->abilities.major, nvrtc->abilities.minor, nvrtc->abilities.major,
                nvrtc->abilities.minor, buf_str(&why));
    else
        err_set(err, _("NVRTC failed: %s. %s"), nvrtc->error_string(status), buf_str(&why));
    buf_free(&why);
    compiler_output_free(out);
    return false;
}

void compiler_output_free(struct compiler_output *output)
{
    buf_free(&output->log);
    buf_free(&output->ptx);
    buf_free(&output->cubin);
}

bool compiler_pick_arch(const struct compiler_abilities *abilities, int cc, char out[16],
                        struct err *err)
{
    enum { WITHOUT_DEVICE = 90 };
    int lowest = abilities->archs[0], best = 0;
    int wanted = cc ? cc : WITHOUT_DEVICE;
    for (int i = 0; i < abilities->arch_count; i++)
        if (abilities->archs[i] <= wanted)
            best = abilities->archs[i];
    if (!best) {
        err_set(err,
                _("the GPU has compute capability %d.%d, and CUDA %d.%d no longer supports it: it "
                  "starts at %d.%d; an older toolkit is needed for this GPU"),
                wanted / 10, wanted % 10, abilities->major, abilities->minor, lowest / 10,
                lowest % 10);
        return false;
    }
    /* Machine code runs on later devices of the same major version; across majors only PTX does. */
    bool machine_code = !cc || best / 10 == wanted / 10;
    snprintf(out, 16, "%s_%d", machine_code ? "sm" : "compute", best);
    return true;
}

/* What the student's object registers when it is loaded: its PTX, kernels and variables. Nothing is
 * parsed before it is needed. */
#include "sim.h"

#include "fatbin.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct variable {
    struct program *program;
    const void *host; /* what the student's code names */
    char *name;
    uint64_t va, bytes; /* va 0: not looked up yet */
    struct variable *next;
};
static struct variable *variables;

/* ---- names */

/* One <length><name> of a mangled name; NULL at anything else. */
static const char *take_name(const char *at, const char **name, size_t *len)
{
    char *end;
    if (!isdigit((unsigned char)*at))
        return NULL;
    *len = strtoul(at, &end, 10);
    *name = end;
    return *len <= strlen(end) ? end + *len : NULL;
}

void kernel_label(char *out, size_t size, const char *mangled)
{
    const char *at = mangled, *name;
    size_t len, used = 0;
    snprintf(out, size, "%s", mangled);
    if (strncmp(at, "_Z", 2) != 0)
        return;
    at += 2;
    bool nested = *at == 'N';
    at += nested;
    at += *at == 'L'; /* internal linkage */
    while ((at = take_name(at, &name, &len))) {
        if (strncmp(name, "_GLOBAL__", 9) != 0 && strncmp(name, "_INTERNAL", 9) != 0) {
            int wrote =
                snprintf(out + used, size - used, "%s%.*s", used ? "::" : "", (int)len, name);
            used = (size_t)wrote < size - used ? used + (size_t)wrote : size - 1;
        }
        if (!nested)
            break;
    }
}

/* ---- programs */

static void add_variables(struct program *program)
{
    const struct ptx_module *ptx = program->ptx;
    for (int pass = 0; pass < 2; pass++) {
        const struct ptx_symbol *symbols = pass ? ptx->constants : ptx->globals;
        size_t count = pass ? ptx->constant_count : ptx->global_count;
        for (size_t i = 0; i < count; i++) {
            void *host;
            uint64_t va, bytes;
            if (symbols[i].bytes &&
                ptx_image_symbol(program->image, symbols[i].name, &host, &va, &bytes))
                memory_add_variable(symbols[i].name, va, host, (size_t)bytes);
        }
    }
}

/* Reads the program's PTX, once. */
static bool open_program(struct program *program)
{
    struct err err = {0};
    struct fatbin_part part;
    if (program->tried)
        return program->ptx != NULL;
    program->tried = true;
    if (!fatbin_find_ptx(&part, program->wrapper, &err) ||
        !ptx_parse(&program->ptx, &program->arena, part.bytes, part.len, &err)) {
        report_cannot("%s", err.text);
        return false;
    }
    program->image = ptx_image_open(program->ptx);
    add_variables(program);
    return true;
}

static struct program *program_of(void **handle)
{
    for (struct program *p = sim.programs; p; p = p->next)
        if (&p->handle == handle)
            return p;
    return NULL;
}

static api_module register_fat_binary(void *wrapper)
{
    struct program *program = mem_zero(1, sizeof *program);
    sim_lock();
    *program = (struct program){.wrapper = wrapper, .next = sim.programs};
    program->handle = program;
    sim.programs = program;
    sim_unlock();
    return &program->handle;
}

static void register_end(void **handle)
{
    (void)handle;
}

/* The object may be unloaded now: its wrapper and stubs are no longer there. What was read stays,
 * since ops may still need it. */
static void unregister(void **handle)
{
    sim_lock();
    struct program *program = program_of(handle);
    if (program) {
        program->wrapper = NULL;
        program->tried = true;
        for (struct kernel *k = sim.kernels; k; k = k->next)
            if (k->program == program)
                k->host = NULL;
        for (struct variable *v = variables; v; v = v->next)
            if (v->program == program)
                v->host = NULL;
    }
    sim_unlock();
}

static void register_function(void **handle, const char *host, const char *device, const char *name,
                              int limit, void *tid, void *bid, void *block, void *grid,
                              const int *warp)
{
    (void)device, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    sim_lock();
    struct program *program = program_of(handle);
    if (program) {
        struct kernel *kernel = mem_zero(1, sizeof *kernel);
        *kernel = (struct kernel){
            .program = program, .host = host, .name = mem_strdup(name), .next = sim.kernels};
        kernel_label(kernel->label, sizeof kernel->label, name);
        sim.kernels = kernel;
    }
    sim_unlock();
}

static void register_var(void **handle, const char *host, const char *device, const char *name,
                         int ext, size_t bytes, int constant, int global)
{
    (void)device, (void)ext, (void)constant, (void)global;
    sim_lock();
    struct program *program = program_of(handle);
    if (program) {
        struct variable *v = mem_zero(1, sizeof *v);
        *v = (struct variable){.program = program,
                               .host = host,
                               .name = mem_strdup(name),
                               .bytes = bytes,
                               .next = variables};
        variables = v;
    }
    sim_unlock();
}

static char init_module(void **handle)
{
    (void)handle;
    return 0;
}

/* ---- looking up */

struct kernel *kernel_find(const void *function)
{
    for (struct kernel *k = sim.kernels; k; k = k->next)
        if (function && (k->host == function || (const void *)k == function))
            return k;
    return NULL;
}

int kernel_open(struct kernel *kernel)
{
    if (kernel->entry)
        return CUDA_OK;
    if (!open_program(kernel->program))
        return CUDA_NOT_SUPPORTED;
    kernel->entry = ptx_find_entry(kernel->program->ptx, kernel->name);
    if (kernel->entry)
        return CUDA_OK;
    report_cannot(_("the PTX has no kernel named %s"), kernel->label);
    return CUDA_INVALID_DEVICE_FUNCTION;
}

int symbol_address(uint64_t *out, const void *symbol, size_t offset, size_t bytes)
{
    struct variable *v = variables;
    while (v && (!symbol || v->host != symbol))
        v = v->next;
    if (!v)
        return CUDA_INVALID_SYMBOL;
    if (!v->va) {
        void *host;
        uint64_t size;
        if (!open_program(v->program))
            return CUDA_NOT_SUPPORTED;
        if (!ptx_image_symbol(v->program->image, v->name, &host, &v->va, &size))
            return CUDA_INVALID_SYMBOL;
    }
    if (offset > v->bytes || bytes > v->bytes - offset) {
        sim_why(_("%zu bytes from byte %zu on run over the end of %s, which has %llu bytes"), bytes,
                offset, v->name, (unsigned long long)v->bytes);
        return CUDA_INVALID_VALUE;
    }
    *out = v->va + offset;
    return CUDA_OK;
}

static int get_symbol_address(void **out, const void *symbol)
{
    uint64_t va;
    int result = sim_enter();
    if (!result && !out)
        result = CUDA_INVALID_VALUE;
    if (!result)
        result = symbol_address(&va, symbol, 0, 0);
    if (!result)
        *out = (void *)(uintptr_t)va;
    return sim_leave(result);
}

static int get_symbol_size(size_t *out, const void *symbol)
{
    int result = sim_enter();
    const struct variable *v = variables;
    while (v && (!symbol || v->host != symbol))
        v = v->next;
    if (!result)
        result = !out ? CUDA_INVALID_VALUE : !v ? CUDA_INVALID_SYMBOL : CUDA_OK;
    if (!result)
        *out = v->bytes;
    return sim_leave(result);
}

static int get_kernel(void **out, const void *function)
{
    int result = sim_enter();
    struct kernel *kernel = kernel_find(function);
    if (!result)
        result = !out ? CUDA_INVALID_VALUE : !kernel ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_OK;
    if (!result)
        *out = kernel;
    return sim_leave(result);
}

static int get_name(const char **out, const void *function)
{
    int result = sim_enter();
    const struct kernel *kernel = kernel_find(function);
    if (!result)
        result = !out ? CUDA_INVALID_VALUE : !kernel ? CUDA_INVALID_DEVICE_FUNCTION : CUDA_OK;
    if (!result)
        *out = kernel->name;
    return sim_leave(result);
}

void sim_install_programs(struct runtime *out)
{
    out->__cudaRegisterFatBinary = register_fat_binary;
    out->__cudaRegisterFatBinaryEnd = register_end;
    out->__cudaUnregisterFatBinary = unregister;
    out->__cudaRegisterFunction = register_function;
    out->__cudaRegisterVar = register_var;
    out->__cudaInitModule = init_module;
    out->__cudaGetKernel = get_kernel;
    out->cudaGetKernel = get_kernel;
    out->cudaGetFuncBySymbol = get_kernel;
    out->cudaFuncGetName = get_name;
    out->cudaGetSymbolAddress = get_symbol_address;
    out->cudaGetSymbolSize = get_symbol_size;
}

#include "harness/sim.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    FIRST_VA_BITS = 32, /* allocations start at 4 GiB: no small number is ever an address */
    GAP = 1 << 20,      /* between allocations, so that running off one's end is seen */
    STEPS_PER_BLOCK = 1 << 25,
    MOST_THREADS = 16,
};

static struct sim *sim_of(struct backend *backend)
{
    return (struct sim *)(void *)backend;
}

static void sim_close(struct backend *backend)
{
    struct sim *sim = sim_of(backend);
    for (size_t i = 0; i < sim->count; i++) {
        free(sim->memory[i].host);
        free(sim->memory[i].written);
        free(sim->names[i]);
    }
    free(sim->memory);
    free(sim->names);
    free(sim);
}

/* ---- modules */

static void sim_unload(struct backend *backend, struct backend_module *module)
{
    (void)backend;
    if (!module)
        return;
    ptx_image_close(module->image);
    arena_free(&module->arena);
    free(module->source_name);
    free(module);
}

static bool sim_load(struct backend *backend, struct backend_module **out,
                     const struct image *image, struct err *err)
{
    struct backend_module *module = mem_zero(1, sizeof *module);
    if (!ptx_parse(&module->ptx, &module->arena, image->ptx, image->ptx_len, err)) {
        sim_unload(backend, module);
        return err_prefix(err, "%s", _("the simulator can't read the compiler's PTX"));
    }
    module->image = ptx_image_open(module->ptx);
    module->source_name = mem_strdup(image->source_name ? image->source_name : "");
    *out = module;
    return true;
}

/* ---- memory */

static bool sim_alloc(struct backend *backend, uint64_t *device, size_t bytes, const char *name,
                      struct err *err)
{
    struct sim *sim = sim_of(backend);
    size_t rounded = (bytes + 127) & ~(size_t)63;
    void *host = aligned_alloc(64, rounded);
    uint8_t *written = calloc(bytes + 64, 1);
    if (!host || !written) {
        free(host);
        free(written);
        return err_set(err, _("not enough memory for %zu bytes of simulated device memory"), bytes);
    }
    memset(host, 0xcd, rounded);
    if (sim->count == sim->capacity) {
        sim->capacity = sim->capacity ? sim->capacity * 2 : 8;
        sim->memory = mem_grow(sim->memory, sim->capacity, sizeof *sim->memory);
        sim->names = mem_grow(sim->names, sim->capacity, sizeof *sim->names);
    }
    sim->names[sim->count] = mem_strdup(name ? name : "");
    sim->memory[sim->count] = (struct ptx_memory){.va = sim->next_va,
                                                  .bytes = bytes,
                                                  .host = host,
                                                  .name = sim->names[sim->count],
                                                  .element_bytes = 4,
                                                  .written = written};
    *device = sim->next_va;
    sim->count++;
    sim->next_va += (bytes + 2 * GAP - 1) & ~(uint64_t)(GAP - 1);
    return true;
}

static void sim_release(struct backend *backend, uint64_t device)
{
    struct sim *sim = sim_of(backend);
    for (size_t i = 0; i < sim->count; i++) {
        if (sim->memory[i].va != device)
            continue;
        free(sim->memory[i].host);
        free(sim->memory[i].written);
        free(sim->names[i]);
        sim->count--;
        memmove(&sim->memory[i], &sim->memory[i + 1], (sim->count - i) * sizeof *sim->memory);
        memmove(&sim->names[i], &sim->names[i + 1], (sim->count - i) * sizeof *sim->names);
        return;
    }
}

/* The allocation that holds [device, device + bytes). */
static struct ptx_memory *find(struct sim *sim, uint64_t device, size_t bytes, struct err *err)
{
    for (size_t i = 0; i < sim->count; i++) {
        struct ptx_memory *m = &sim->memory[i];
        if (device - m->va <= m->bytes && bytes <= m->bytes - (device - m->va))
            return m;
    }
    err_set(err, "no simulated allocation holds %zu bytes at 0x%llx", bytes,
            (unsigned long long)device);
    return NULL;
}

static bool sim_upload(struct backend *backend, uint64_t device, const void *host, size_t bytes,
                       struct err *err)
{
    struct ptx_memory *m = find(sim_of(backend), device, bytes, err);
    if (!m)
        return false;
    memcpy((char *)m->host + (device - m->va), host, bytes);
    memset(m->written + (device - m->va), 1, bytes);
    return true;
}

static bool sim_download(struct backend *backend, void *host, uint64_t device, size_t bytes,
                         struct err *err)
{
    const struct ptx_memory *m = find(sim_of(backend), device, bytes, err);
    if (!m)
        return false;
    memcpy(host, (const char *)m->host + (device - m->va), bytes);
    return true;
}

static bool sim_fill(struct backend *backend, uint64_t device, uint32_t pattern, size_t bytes,
                     bool written, struct err *err)
{
    struct ptx_memory *m = find(sim_of(backend), device, bytes, err);
    if (!m)
        return false;
    char *at = (char *)m->host + (device - m->va);
    for (size_t i = 0; i + 4 <= bytes; i += 4)
        memcpy(at + i, &pattern, 4);
    memset(m->written + (device - m->va), written, bytes);
    return true;
}

/* ---- launches */

/* Arguments into the parameter block, each with the size that the kernel declares. */
static bool pack_params(const struct launch *launch, const struct ptx_entry *entry, uint8_t *block,
                        struct err *err)
{
    if ((size_t)launch->param_count != entry->param_count)
        return err_set(err, _("%s takes %zu parameters, and the lab passes %d"), entry->name,
                       entry->param_count, launch->param_count);
    for (size_t i = 0; i < entry->param_count; i++) {
        const struct ptx_param *param = &entry->params[i];
        if (launch->param_sizes && launch->param_sizes[i] != param->bytes)
            return err_set(err, _("parameter %zu of %s has %u bytes, and the lab passes %zu"),
                           i + 1, entry->name, param->bytes, launch->param_sizes[i]);
        memcpy(block + param->offset, launch->params[i], param->bytes);
    }
    return true;
}

static bool sim_launch(struct backend *backend, const struct launch *launch,
                       struct launch_result *result, struct err *err)
{
    struct sim *sim = sim_of(backend);
    struct backend_module *module = launch->module;
    const struct ptx_entry *entry = ptx_find_entry(module->ptx, launch->entry);
    *result = (struct launch_result){.verdict = VERDICT_PASS};
    if (!entry)
        return err_set(err, _("the program has no kernel named %s"), launch->entry);
    uint8_t *params = mem_zero(entry->param_bytes + 16, 1);
    struct ptx_launch run = {
        .module = module->ptx,
        .image = module->image,
        .entry = launch->entry,
        .dynamic_shared_bytes = launch->dynamic_shared_bytes,
        .params = params,
        .param_bytes = entry->param_bytes,
        .memory = sim->memory,
        .memory_count = sim->count,
        .options = {.checks = launch->hazards,
                    .counters = launch->hazards,
                    .threads = (unsigned)sim->threads,
                    .steps = STEPS_PER_BLOCK,
                    .deadline_ms = launch->deadline_ms,
                    .trace = launch->hazards && entry->uses_async},
    };
    memcpy(run.grid, launch->grid, sizeof run.grid);
    memcpy(run.block, launch->block, sizeof run.block);
    struct ptx_result found;
    bool ok = pack_params(launch, entry, params, err) && ptx_run(&found, &run, err);
    if (ok) {
        sim_report(sim, launch, &found, result);
        ptx_result_free(&found);
    }
    free(params);
    return ok;
}

static const struct backend_ops sim_ops = {
    .name = "sim",
    .exact_bounds = true,
    .close = sim_close,
    .load = sim_load,
    .unload = sim_unload,
    .alloc = sim_alloc,
    .release = sim_release,
    .upload = sim_upload,
    .download = sim_download,
    .fill = sim_fill,
    .launch = sim_launch,
};

bool sim_open(struct backend **out, int threads, struct err *err)
{
    (void)err;
    struct sim *sim = mem_zero(1, sizeof *sim);
    long cores = threads > 0 ? threads : sysconf(_SC_NPROCESSORS_ONLN);
    sim->backend.ops = &sim_ops;
    sim->threads = (int)(cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : cores);
    sim->next_va = 1ull << FIRST_VA_BITS;
    *out = &sim->backend;
    return true;
}

/* What the card is, and what a kernel takes of it. */
#include "gpu_state.h"

#include <stdio.h>
#include <stdlib.h>

enum { /* the driver's numbers for what is asked of it */
       FUNCTION_SHARED_BYTES = 1,
       FUNCTION_LOCAL_BYTES = 3,
       FUNCTION_REGISTERS = 4,
       DEVICE_MULTIPROCESSORS = 16,
       DEVICE_L2_BYTES = 38,
       DEVICE_THREADS_PER_SM = 39,
       DEVICE_MAJOR = 75,
       DEVICE_MINOR = 76,
       DEVICE_SHARED_PER_SM = 81,
       DEVICE_REGISTERS_PER_SM = 82,
       DEVICE_BLOCKS_PER_SM = 106,
       DEVICE_SHARED_RESERVED = 111,
};

static int attribute(const struct gpu *gpu, int which)
{
    int value = 0;
    return gpu->driver->device_attribute(&value, which, gpu->device) == DRIVER_OK ? value : 0;
}

static void read_uuid(struct gpu *gpu)
{
    unsigned char id[16] = {0};
    gpu->driver->device_uuid(id, gpu->device);
    char *out = gpu->info.uuid;
    size_t len = (size_t)sprintf(out, "GPU-");
    for (int i = 0; i < 16; i++)
        len += (size_t)sprintf(out + len, "%s%02x",
                               i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

void card_read(struct gpu *gpu, int ordinal)
{
    struct gpu_info *info = &gpu->info;
    size_t bytes = 0;
    gpu->driver->device_name(info->name, sizeof info->name, gpu->device);
    gpu->driver->device_memory(&bytes, gpu->device);
    gpu->driver->driver_version(&info->driver_version);
    read_uuid(gpu);
    info->ordinal = ordinal;
    info->major = attribute(gpu, DEVICE_MAJOR);
    info->minor = attribute(gpu, DEVICE_MINOR);
    info->multiprocessors = attribute(gpu, DEVICE_MULTIPROCESSORS);
    info->threads_per_multiprocessor = attribute(gpu, DEVICE_THREADS_PER_SM);
    info->l2_bytes = (uint64_t)attribute(gpu, DEVICE_L2_BYTES);
    info->memory_bytes = bytes;
    info->wsl = driver_on_wsl();
}

int gpu_wanted_ordinal(void)
{
    const char *text = getenv("STRIDE_GPU");
    char *end;
    long ordinal = text ? strtol(text, &end, 10) : 0;
    return text && *text && *end == '\0' && ordinal >= 0 && ordinal < 1024 ? (int)ordinal : 0;
}

void gpu_describe(const struct backend *backend, struct gpu_info *out)
{
    *out = gpu_of(backend)->info;
}

json_t *gpu_device_json(const struct backend *backend)
{
    const struct gpu_info *info = &gpu_of(backend)->info;
    char capability[16], version[16];
    snprintf(capability, sizeof capability, "%d.%d", info->major, info->minor);
    snprintf(version, sizeof version, "%d.%d", info->driver_version / 1000,
             info->driver_version % 1000 / 10);
    return json_pack("{s:s, s:s, s:s, s:s, s:i, s:I, s:I}", "name", info->name, "uuid", info->uuid,
                     "compute_capability", capability, "driver", version, "multiprocessors",
                     info->multiprocessors, "l2_bytes", (json_int_t)info->l2_bytes, "memory_bytes",
                     (json_int_t)info->memory_bytes);
}

json_t *gpu_list_json(struct err *err)
{
    struct gpu gpu = {0};
    int count = 0;
    if (!driver_open(&gpu.driver, err) || !gpu_count(&count, err))
        return NULL;
    json_t *list = json_array();
    for (int i = 0; i < count; i++)
        if (gpu.driver->device_get(&gpu.device, i) == DRIVER_OK) {
            card_read(&gpu, i);
            json_array_append_new(list, gpu_device_json(&gpu.backend));
        }
    return list;
}

uint64_t gpu_memory_free(struct backend *backend)
{
    struct gpu *gpu = gpu_of(backend);
    size_t free_bytes = 0, total = 0;
    if (!gpu_enter(gpu, NULL) || gpu->driver->memory_info(&free_bytes, &total) != DRIVER_OK)
        return 0;
    return free_bytes;
}

/* What keeps more blocks from living on one SM: the limit that is reached first. */
static const char *limited_by(const struct gpu *gpu, int blocks, int threads, int registers,
                              int shared_bytes)
{
    int warps = (threads + 31) / 32;
    int per_warp = (registers * 32 + 255) / 256 * 256; /* registers are given out by 256 */
    int shared_each = shared_bytes + attribute(gpu, DEVICE_SHARED_RESERVED);
    int by_threads = attribute(gpu, DEVICE_THREADS_PER_SM) / (warps * 32);
    if (by_threads <= blocks)
        return "threads";
    if (per_warp && attribute(gpu, DEVICE_REGISTERS_PER_SM) / (per_warp * warps) <= blocks)
        return "registers";
    if (shared_each && attribute(gpu, DEVICE_SHARED_PER_SM) / shared_each <= blocks)
        return "shared memory";
    return attribute(gpu, DEVICE_BLOCKS_PER_SM) <= blocks ? "blocks" : "registers";
}

json_t *gpu_resources_json(struct backend *backend, struct backend_module *module,
                           const char *entry, unsigned block_threads, unsigned dynamic_shared_bytes)
{
    struct gpu *gpu = gpu_of(backend);
    const struct driver *driver = gpu->driver;
    void *function;
    int registers = 0, shared = 0, local = 0, blocks = 0;
    if (!gpu_enter(gpu, NULL) ||
        gpu_function(gpu, module, entry, dynamic_shared_bytes, &function) != DRIVER_OK ||
        driver->function_attribute(&registers, FUNCTION_REGISTERS, function) != DRIVER_OK ||
        driver->function_attribute(&shared, FUNCTION_SHARED_BYTES, function) != DRIVER_OK ||
        driver->function_attribute(&local, FUNCTION_LOCAL_BYTES, function) != DRIVER_OK)
        return NULL;
    shared += (int)dynamic_shared_bytes;
    json_t *json = json_pack("{s:i, s:i, s:i}", "registers", registers, "shared_bytes", shared,
                             "local_bytes", local);
    int most = gpu->info.threads_per_multiprocessor / 32, warps = ((int)block_threads + 31) / 32;
    if (most && driver->occupancy(&blocks, function, (int)block_threads, dynamic_shared_bytes) ==
                    DRIVER_OK) {
        json_object_set_new(json, "blocks_per_sm", json_integer(blocks));
        json_object_set_new(json, "warps_per_sm", json_integer(blocks * warps));
        json_object_set_new(json, "occupancy", json_real((double)(blocks * warps) / most));
        json_object_set_new(
            json, "limited_by",
            json_string(limited_by(gpu, blocks, (int)block_threads, registers, shared)));
    }
    return json;
}

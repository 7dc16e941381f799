/* The one simulated device: an H200 as far as programs ask about it. */
#include "sim.h"

#include "harness/base/msg.h"

#include <stdio.h>
#include <string.h>

enum {
    SMS = 132,
    WARP = 32,
    REGISTERS = 65536,
    MOST_THREADS = 1024,
    THREADS_PER_SM = 2048,
    BLOCKS_PER_SM = 32,
    SHARED_PER_BLOCK = 48 << 10,
    SHARED_OPTIN = 227 << 10,
    SHARED_PER_SM = 228 << 10,
    L2 = 60 << 20,
    CLOCK_KHZ = 1980000,
    MEMORY_KHZ = 3201000,
    BUS_BITS = 6144,
    COPY_ENGINES = 3,
    DRIVER = 13000,
};

/* cudaDeviceProp of CUDA 13 and, with the fields in [12] brackets, of CUDA 12, as far as what is
 * filled in reaches. */
#define PROP_BEGIN                                                                                 \
    char name[256], uuid[16], luid[8];                                                             \
    unsigned luid_mask;                                                                            \
    size_t global_bytes, shared_per_block;                                                         \
    int registers_per_block, warp_size;                                                            \
    size_t pitch;                                                                                  \
    int threads_per_block, threads_dim[3], grid_size[3];
#define PROP_SURFACE                                                                               \
    size_t surface_alignment;                                                                      \
    int concurrent_kernels, ecc, bus_id, device_id, domain_id, tcc, async_engines,                 \
        unified_addressing;
#define PROP_CACHES                                                                                \
    int bus_width, l2_bytes, persisting_l2_bytes, threads_per_sm, stream_priorities, global_l1,    \
        local_l1;                                                                                  \
    size_t shared_per_sm;                                                                          \
    int registers_per_sm, managed, multi_gpu_board, multi_gpu_group, host_atomics;

struct prop_13 {
    PROP_BEGIN
    size_t const_bytes;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int sms, integrated, maps_host, textures[39];
    PROP_SURFACE
    PROP_CACHES
    int pageable, concurrent_managed, preemption, host_pointer, cooperative;
    size_t shared_optin;
    int pageable_tables, direct_managed, blocks_per_sm, window;
    size_t shared_reserved;
};

struct prop_12 {
    PROP_BEGIN
    int clock_khz;
    size_t const_bytes;
    int major, minor;
    size_t texture_alignment, texture_pitch_alignment;
    int overlap, sms, timeout, integrated, maps_host, compute_mode, textures[40];
    PROP_SURFACE
    int memory_khz;
    PROP_CACHES
    int double_ratio, pageable, concurrent_managed, preemption, host_pointer, cooperative,
        cooperative_multi;
    size_t shared_optin;
    int pageable_tables, direct_managed, blocks_per_sm, window;
    size_t shared_reserved;
};

#define FILL(p)                                                                                    \
    do {                                                                                           \
        snprintf((p)->name, sizeof(p)->name, "%s", "Stride simulator");                            \
        (p)->global_bytes = MEMORY_DEVICE_BYTES;                                                   \
        (p)->shared_per_block = SHARED_PER_BLOCK;                                                  \
        (p)->registers_per_block = REGISTERS;                                                      \
        (p)->warp_size = WARP;                                                                     \
        (p)->pitch = INT32_MAX;                                                                    \
        (p)->threads_per_block = MOST_THREADS;                                                     \
        (p)->threads_dim[0] = (p)->threads_dim[1] = MOST_THREADS;                                  \
        (p)->threads_dim[2] = 64;                                                                  \
        (p)->grid_size[0] = INT32_MAX;                                                             \
        (p)->grid_size[1] = (p)->grid_size[2] = 65535;                                             \
        (p)->const_bytes = 65536;                                                                  \
        (p)->major = 9;                                                                            \
        (p)->texture_alignment = 512;                                                              \
        (p)->texture_pitch_alignment = 32;                                                         \
        (p)->sms = SMS;                                                                            \
        (p)->maps_host = (p)->concurrent_kernels = (p)->unified_addressing = 1;                    \
        (p)->surface_alignment = 512;                                                              \
        (p)->async_engines = COPY_ENGINES;                                                         \
        (p)->bus_width = BUS_BITS;                                                                 \
        (p)->l2_bytes = L2;                                                                        \
        (p)->threads_per_sm = THREADS_PER_SM;                                                      \
        (p)->stream_priorities = (p)->global_l1 = (p)->local_l1 = 1;                               \
        (p)->shared_per_sm = SHARED_PER_SM;                                                        \
        (p)->registers_per_sm = REGISTERS;                                                         \
        (p)->preemption = (p)->host_pointer = (p)->cooperative = 1;                                \
        (p)->shared_optin = SHARED_OPTIN;                                                          \
        (p)->blocks_per_sm = BLOCKS_PER_SM;                                                        \
        (p)->shared_reserved = 1024;                                                               \
    } while (0)

static int check(const void *out, int device)
{
    int result = sim_enter();
    return result ? result : !out ? CUDA_INVALID_VALUE : device ? CUDA_INVALID_DEVICE : CUDA_OK;
}

static int properties_13(void *prop, int device)
{
    int result = check(prop, device);
    struct prop_13 filled = {0};
    FILL(&filled);
    if (!result)
        memcpy(prop, &filled, sizeof filled);
    return sim_leave(result);
}

static int properties_12(void *prop, int device)
{
    int result = check(prop, device);
    struct prop_12 filled = {
        .clock_khz = CLOCK_KHZ, .overlap = 1, .memory_khz = MEMORY_KHZ, .double_ratio = 2};
    FILL(&filled);
    if (!result)
        memcpy(prop, &filled, sizeof filled);
    return sim_leave(result);
}

/* cudaDeviceAttr. What is not here is 0: the simulated device does not have it. */
static const struct attribute {
    int id, value;
} attributes[] = {
    {1, MOST_THREADS},
    {2, MOST_THREADS},
    {3, MOST_THREADS},
    {4, 64},
    {5, INT32_MAX},
    {6, 65535},
    {7, 65535},
    {8, SHARED_PER_BLOCK},
    {9, 65536},
    {10, WARP},
    {11, INT32_MAX},
    {12, REGISTERS},
    {13, CLOCK_KHZ},
    {14, 512},
    {15, 1}, /* copies and kernels at the same time */
    {16, SMS},
    {19, 1}, /* maps host memory */
    {31, 1}, /* concurrent kernels */
    {36, MEMORY_KHZ},
    {37, BUS_BITS},
    {38, L2},
    {39, THREADS_PER_SM},
    {40, COPY_ENGINES},
    {41, 1}, /* unified addressing */
    {75, 9}, /* compute capability */
    {78, 1}, /* stream priorities */
    {79, 1},
    {80, 1},
    {81, SHARED_PER_SM},
    {82, REGISTERS},
    {90, 1}, /* preemption */
    {91, 1}, /* host pointer of registered memory */
    {95, 1}, /* cooperative launches */
    {97, SHARED_OPTIN},
    {99, 1}, /* registers host memory */
    {106, BLOCKS_PER_SM},
    {111, 1024},
    {115, 1}, /* memory pools */
};

static int get_attribute(int *value, int attribute, int device)
{
    enum { FIRST = 1, LAST = 150 };
    int result = check(value, device);
    if (!result && (attribute < FIRST || attribute > LAST))
        result = CUDA_INVALID_VALUE;
    if (!result)
        *value = 0;
    for (size_t i = 0; !result && i < sizeof attributes / sizeof attributes[0]; i++)
        if (attributes[i].id == attribute)
            *value = attributes[i].value;
    return sim_leave(result);
}

static int get_device_count(int *count)
{
    int result = check(count, 0);
    if (!result)
        *count = 1;
    return sim_leave(result);
}

static int get_device(int *device)
{
    int result = check(device, 0);
    if (!result)
        *device = 0;
    return sim_leave(result);
}

static int set_device(int device)
{
    return sim_leave(check("", device));
}

static int init_device(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    return set_device(device);
}

static int choose_device(int *device, const void *prop)
{
    (void)prop;
    return get_device(device);
}

static int set_device_flags(unsigned flags)
{
    (void)flags;
    return sim_leave(sim_enter());
}

static int get_device_flags(unsigned *flags)
{
    int result = check(flags, 0);
    if (!result)
        *flags = 0;
    return sim_leave(result);
}

static int get_version(int *version)
{
    int result = check(version, 0);
    if (!result)
        *version = DRIVER;
    return sim_leave(result);
}

static int get_limit(size_t *value, int limit)
{
    static const size_t limits[] = {1024, 1 << 20, 8 << 20, 2, 2048, 64};
    int result = check(value, 0);
    if (!result && (limit < 0 || (size_t)limit >= sizeof limits / sizeof limits[0]))
        result = CUDA_INVALID_VALUE;
    if (!result)
        *value = limits[limit];
    return sim_leave(result);
}

static int set_limit(int limit, size_t value)
{
    (void)limit, (void)value;
    return sim_leave(sim_enter());
}

static int get_cache_config(int *config)
{
    int result = check(config, 0);
    if (!result)
        *config = 0;
    return sim_leave(result);
}

static int set_cache_config(int config)
{
    (void)config;
    return sim_leave(sim_enter());
}

static int can_access_peer(int *can, int device, int peer)
{
    int result = check(can, device | peer);
    if (!result)
        *can = 0;
    return sim_leave(result);
}

static int nothing_to_do(void)
{
    return sim_leave(sim_enter());
}

/* Everything ends and is forgotten, also what was leaked. */
static int device_reset(void)
{
    int result = sim_enter();
    if (!result) {
        sim_finish_all("cudaDeviceReset", sim_call_line());
        for (struct memory *m = sim.memory; m; m = m->next)
            if (!m->variable && m->kind == MEMORY_DEVICE)
                memory_end(m, sim_call_line());
    }
    return sim_leave(result);
}

static int pool_of_device(void **pool, int device)
{
    int result = check(pool, device);
    if (!result)
        *pool = &sim; /* one pool: it is never looked into */
    return sim_leave(result);
}

static int pool_attribute(void *pool, int attribute, void *value)
{
    (void)pool, (void)attribute;
    return sim_leave(check(value, 0));
}

static int pool_trim(void *pool, size_t bytes)
{
    (void)pool, (void)bytes;
    return sim_leave(sim_enter());
}

void sim_install_device(struct runtime *out)
{
    out->cudaGetDeviceProperties = properties_13;
    out->cudaGetDeviceProperties_v2 = properties_12;
    out->cudaDeviceGetAttribute = get_attribute;
    out->cudaGetDeviceCount = get_device_count;
    out->cudaGetDevice = get_device;
    out->cudaSetDevice = set_device;
    out->cudaInitDevice = init_device;
    out->cudaChooseDevice = choose_device;
    out->cudaSetDeviceFlags = set_device_flags;
    out->cudaGetDeviceFlags = get_device_flags;
    out->cudaDriverGetVersion = get_version;
    out->cudaRuntimeGetVersion = get_version;
    out->cudaDeviceGetLimit = get_limit;
    out->cudaDeviceSetLimit = set_limit;
    out->cudaDeviceGetCacheConfig = get_cache_config;
    out->cudaDeviceSetCacheConfig = set_cache_config;
    out->cudaDeviceCanAccessPeer = can_access_peer;
    out->cudaCtxResetPersistingL2Cache = nothing_to_do;
    out->cudaProfilerStart = nothing_to_do;
    out->cudaProfilerStop = nothing_to_do;
    out->cudaDeviceReset = device_reset;
    out->cudaDeviceGetDefaultMemPool = pool_of_device;
    out->cudaDeviceGetMemPool = pool_of_device;
    out->cudaMemPoolSetAttribute = pool_attribute;
    out->cudaMemPoolGetAttribute = pool_attribute;
    out->cudaMemPoolTrimTo = pool_trim;
}

/* ---- twins */

/* A function for the per-thread default stream is the same function: stream_find asks which of the
 * two was called. */
void sim_install_twins(struct runtime *out)
{
    enum { SUFFIX = 5 };
    void (*slots[API_COUNT])(void);
    _Static_assert(sizeof slots == sizeof *out, "the table is nothing but its functions");
    memcpy(slots, out, sizeof slots);
    for (size_t i = 0; i < API_COUNT; i++) {
        const char *name = api_name((enum api)i);
        size_t len = strlen(name);
        if (slots[i] || !api_is_twin((enum api)i))
            continue;
        for (size_t k = 0; k < API_COUNT; k++) {
            const char *base = api_name((enum api)k);
            if (strlen(base) == len - SUFFIX && !strncmp(base, name, len - SUFFIX))
                slots[i] = slots[k];
        }
    }
    memcpy(out, slots, sizeof slots);
}

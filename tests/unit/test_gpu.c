/* The GPU back end over a driver of our own making: what it does with each answer the real one
 * gives. */
#include "harness/base/buf.h"
#include "harness/driver.h"
#include "harness/gpu.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct { /* what the driver answers, and what it was asked */
    int init, count, count_result, load_cubin, load_ptx, launch, query, wait, alloc, version;
    int destroyed, loads;
} world;

static int fake_init(unsigned flags)
{
    (void)flags;
    return world.init;
}

static int fake_version(int *version)
{
    *version = world.version;
    return 0;
}

static int fake_error_name(int result, const char **name)
{
    *name = result == 222 ? "CUDA_ERROR_UNSUPPORTED_PTX_VERSION" : "CUDA_ERROR_X";
    return 0;
}

static int fake_count(int *count)
{
    *count = world.count;
    return world.count_result;
}

static int fake_get(int *device, int ordinal)
{
    *device = ordinal;
    return ordinal < world.count ? 0 : DRIVER_INVALID_DEVICE;
}

static int fake_name(char *name, int size, int device)
{
    (void)device;
    strncpy(name, "Test Card", (size_t)size);
    return 0;
}

static int fake_uuid(unsigned char uuid[16], int device)
{
    (void)device;
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(i * 17);
    return 0;
}

static int fake_memory(size_t *bytes, int device)
{
    (void)device;
    *bytes = (size_t)1 << 33;
    return 0;
}

static int fake_attribute(int *value, int which, int device)
{
    (void)device;
    static const int values[128] = {[16] = 10,        [38] = 4 << 20, [39] = 2048, [75] = 9,
                                    [81] = 228 << 10, [82] = 65536,   [106] = 32,  [111] = 1024};
    *value = values[which];
    return 0;
}

static int fake_retain(void **context, int device)
{
    (void)device;
    *context = &world;
    return 0;
}

static int fake_release_context(int device)
{
    (void)device;
    world.destroyed++;
    return 0;
}

static int fake_use(void *context)
{
    (void)context;
    return 0;
}

static int fake_limit(int limit, size_t value)
{
    (void)limit;
    (void)value;
    return 0;
}

static int fake_stream_create(void **stream, unsigned flags)
{
    (void)flags;
    *stream = &world;
    return 0;
}

static int fake_query(void *stream)
{
    (void)stream;
    return world.query;
}

static int fake_wait(void *stream)
{
    (void)stream;
    assert_int_not_equal(world.query, DRIVER_NOT_READY); /* would block for ever */
    return world.wait;
}

static int fake_stream_destroy(void *stream)
{
    (void)stream;
    return 0;
}

static int fake_alloc(uint64_t *device, size_t bytes)
{
    (void)bytes;
    *device = 4096;
    return world.alloc;
}

static int fake_free(uint64_t device)
{
    (void)device;
    assert_int_not_equal(world.query, DRIVER_NOT_READY);
    return 0;
}

static int fake_load(void **module, const void *image)
{
    *module = &world;
    world.loads++;
    return strcmp(image, "cubin") == 0 ? world.load_cubin : world.load_ptx;
}

static int fake_unload(void *module)
{
    (void)module;
    world.loads--;
    return 0;
}

static int fake_function(void **function, void *module, const char *name)
{
    (void)module;
    *function = &world;
    return strcmp(name, "kernel") == 0 ? 0 : DRIVER_NOT_FOUND;
}

static int fake_function_attribute(int *value, int which, void *function)
{
    (void)function;
    *value = which == 4 ? 40 : which == 1 ? 8192 : 0;
    return 0;
}

static int fake_occupancy(int *blocks, void *function, int threads, size_t dynamic)
{
    (void)function;
    (void)threads;
    (void)dynamic;
    *blocks = 6;
    return 0;
}

static int fake_launch(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                       unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                       void **extra)
{
    (void)function;
    (void)(gx + gy + gz + bx + by + bz + shared);
    (void)stream;
    (void)params;
    (void)extra;
    return world.launch;
}

static const struct driver driver = {
    .init = fake_init,
    .driver_version = fake_version,
    .error_name = fake_error_name,
    .device_count = fake_count,
    .device_get = fake_get,
    .device_name = fake_name,
    .device_uuid = fake_uuid,
    .device_memory = fake_memory,
    .device_attribute = fake_attribute,
    .context_retain = fake_retain,
    .context_release = fake_release_context,
    .context_use = fake_use,
    .context_limit = fake_limit,
    .stream_create = fake_stream_create,
    .stream_query = fake_query,
    .stream_wait = fake_wait,
    .stream_destroy = fake_stream_destroy,
    .memory_alloc = fake_alloc,
    .memory_free = fake_free,
    .module_load = fake_load,
    .module_unload = fake_unload,
    .module_function = fake_function,
    .function_attribute = fake_function_attribute,
    .occupancy = fake_occupancy,
    .launch = fake_launch,
};

static const struct image image = {
    .ptx = "// Cuda compilation tools, release 13.0, V13.0.88\n", .cubin = "cubin", .cubin_len = 6};

static struct backend *open_card(void)
{
    memset(&world, 0, sizeof world);
    world.count = 1;
    world.version = 12040;
    struct backend *gpu;
    struct err err = {0};
    if (!gpu_open_with(&gpu, &driver, 0, &err))
        fail_msg("%s", err.text);
    return gpu;
}

static struct launch_result launch_one(struct backend *gpu, const char *entry, bool expect_ok)
{
    struct backend_module *module;
    struct err err = {0};
    assert_true(gpu->ops->load(gpu, &module, &image, &err));
    struct launch about = {
        .module = module, .entry = entry, .grid = {1, 1, 1}, .block = {1, 1, 1}, .deadline_ms = 20};
    struct launch_result result;
    assert_int_equal(gpu->ops->launch(gpu, &about, &result, &err), expect_ok);
    gpu->ops->unload(gpu, module);
    return result;
}

static void card_is_described(void **state)
{
    (void)state;
    struct backend *gpu = open_card();
    struct gpu_info info;
    gpu_describe(gpu, &info);
    assert_string_equal(info.uuid, "GPU-00112233-4455-6677-8899-aabbccddeeff");
    json_t *device = gpu_device_json(gpu);
    assert_string_equal(json_string_value(json_object_get(device, "driver")), "12.4");
    assert_string_equal(json_string_value(json_object_get(device, "compute_capability")), "9.0");
    json_decref(device);
    struct backend_module *module;
    assert_true(gpu->ops->load(gpu, &module, &image, NULL));
    json_t *resources = gpu_resources_json(gpu, module, "kernel", 256, 0);
    assert_int_equal(json_integer_value(json_object_get(resources, "registers")), 40);
    assert_true(json_real_value(json_object_get(resources, "occupancy")) == 0.75);
    assert_string_equal(json_string_value(json_object_get(resources, "limited_by")), "registers");
    json_decref(resources);
    assert_null(gpu_resources_json(gpu, module, "other", 256, 0));
    gpu->ops->unload(gpu, module);
    gpu->ops->close(gpu);
    assert_int_equal(world.destroyed, 1);
}

static void missing_devices_are_explained(void **state)
{
    (void)state;
    struct err err = {0};
    int count;
    memset(&world, 0, sizeof world);
    world.init = DRIVER_NO_DEVICE;
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    assert_false(driver_start(&driver, &count, &err));
    assert_non_null(strstr(err.text, "CUDA_VISIBLE_DEVICES=\"-1\""));
    unsetenv("CUDA_VISIBLE_DEVICES");
    assert_false(driver_start(&driver, &count, &err));
    assert_non_null(strstr(err.text, "no "));
    world.init = 0;
    assert_false(driver_start(&driver, &count, &err)); /* no error, and no device either */
    world.init = 803;
    assert_false(driver_start(&driver, &count, &err));
    assert_non_null(strstr(err.text, "different versions"));
    world.init = 0;
    world.count = 1;
    world.version = 10020;
    assert_false(driver_start(&driver, &count, &err));
    assert_non_null(strstr(err.text, "too old: it knows CUDA 10.2"));
    world.version = 11000;
    assert_true(driver_start(&driver, &count, &err));
    assert_int_equal(count, 1);
    struct backend *gpu;
    assert_false(gpu_open_with(&gpu, &driver, 3, &err));
    assert_non_null(strstr(err.text, "no GPU of that number"));
}

static void old_driver_names_both_versions(void **state)
{
    (void)state;
    struct backend *gpu = open_card();
    struct backend_module *module;
    struct err err = {0};
    world.load_cubin = 200;
    assert_true(gpu->ops->load(gpu, &module, &image, &err)); /* PTX is the way out */
    gpu->ops->unload(gpu, module);
    world.load_ptx = 222;
    assert_false(gpu->ops->load(gpu, &module, &image, &err));
    assert_non_null(strstr(err.text, "13.0"));
    assert_non_null(strstr(err.text, "12.4"));
    assert_non_null(strstr(err.text, "CUDA_HOME"));
    world.version = 13000;
    gpu->ops->close(gpu);
}

static void good_launch_passes(void **state)
{
    (void)state;
    struct backend *gpu = open_card();
    struct launch_result result = launch_one(gpu, "kernel", true);
    assert_int_equal(result.verdict, VERDICT_PASS);
    assert_false(result.poisoned);
    result = launch_one(gpu, "kernle", true);
    assert_int_equal(result.verdict, VERDICT_NO_BUILD);
    assert_non_null(strstr(result.text, "kernle"));
    world.launch = DRIVER_OUT_OF_RESOURCES;
    result = launch_one(gpu, "kernel", true);
    assert_int_equal(result.verdict, VERDICT_FAULT);
    assert_false(result.poisoned);
    assert_int_equal(world.loads, 0);
    gpu->ops->close(gpu);
}

static void faults_lose_the_context(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *kind;
    } faults[] = {{700, "illegal-address"}, {716, "misaligned"}, {719, "launch-failed"},
                  {702, "watchdog"},        {710, "assert"},     {715, "illegal-instruction"}};
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        struct backend *gpu = open_card();
        world.query = faults[i].code;
        struct launch_result result = launch_one(gpu, "kernel", true);
        assert_int_equal(result.verdict, VERDICT_FAULT);
        assert_string_equal(result.fault_kind, faults[i].kind);
        assert_true(result.poisoned);
        struct err err = {0};
        uint64_t device;
        assert_false(gpu->ops->alloc(gpu, &device, 4, "x", &err));
        assert_non_null(strstr(err.text, "lost"));
        gpu->ops->close(gpu); /* asks nothing of a context that is lost */
        assert_int_equal(world.destroyed, 0);
        free(gpu);
    }
}

static void endless_kernel_meets_its_deadline(void **state)
{
    (void)state;
    struct backend *gpu = open_card();
    world.query = DRIVER_NOT_READY;
    struct launch_result result = launch_one(gpu, "kernel", true);
    assert_int_equal(result.verdict, VERDICT_TIMED_OUT);
    assert_true(result.poisoned);
    assert_non_null(strstr(result.text, "0.02 s"));
    gpu->ops->release(gpu, 4096);
    gpu->ops->close(gpu);
    free(gpu);
}

static void what_is_not_the_kernels_is_an_error(void **state)
{
    (void)state;
    struct backend *gpu = open_card();
    world.query = 214;
    launch_one(gpu, "kernel", false);
    world.query = 0;
    world.alloc = DRIVER_NO_MEMORY;
    uint64_t device;
    struct err err = {0};
    assert_false(gpu->ops->alloc(gpu, &device, 3 << 20, "output", &err));
    assert_non_null(strstr(err.text, "3 MiB"));
    assert_non_null(strstr(err.text, "output"));
    assert_int_equal(device, 0);
    gpu->ops->close(gpu);
}

/* On a machine with a driver it must open, on one without it must say so; both at once. */
static void the_real_driver_opens_or_says_why(void **state)
{
    (void)state;
    struct err err = {0};
    int count = -1;
    if (gpu_count(&count, &err))
        assert_true(count > 0);
    else
        assert_non_null(strstr(err.text, "no "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(card_is_described),
        cmocka_unit_test(missing_devices_are_explained),
        cmocka_unit_test(old_driver_names_both_versions),
        cmocka_unit_test(good_launch_passes),
        cmocka_unit_test(faults_lose_the_context),
        cmocka_unit_test(endless_kernel_meets_its_deadline),
        cmocka_unit_test(what_is_not_the_kernels_is_an_error),
        cmocka_unit_test(the_real_driver_opens_or_says_why),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

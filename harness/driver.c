#include "driver.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/msg.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { OLDEST_DRIVER = 11000 };

/* The loader's own search first; then where containers, WSL and NixOS keep the driver. */
static const char *const places[] = {
    "libcuda.so.1",
    "/usr/lib/wsl/lib/libcuda.so.1",
    "/usr/local/nvidia/lib64/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
    "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
    "/usr/lib/x86_64-linux-gnu/nvidia/current/libcuda.so.1",
    "/usr/lib64/libcuda.so.1",
    "/run/opengl-driver/lib/libcuda.so.1",
};

static const struct {
    int result;
    const char *kind, *meaning;
} errors[] = {
#define X(result, kind, meaning) {result, kind, meaning},
#include "driver_error.def"
#undef X
};

const char *driver_meaning(int result)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result)
            return _(errors[i].meaning);
    return _("the driver reports an error");
}

bool driver_is_fault(int result, const char **kind)
{
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].result == result && errors[i].kind) {
            *kind = errors[i].kind;
            return true;
        }
    return false;
}

bool driver_fail(const struct driver *driver, int result, struct err *err, const char *what)
{
    const char *name = NULL;
    if (driver->error_name(result, &name) != DRIVER_OK || !name)
        name = "CUDA";
    return err_set(err, "%s: %s (%s, %d)", what, driver_meaning(result), name, result);
}

bool driver_on_wsl(void)
{
    return file_exists("/dev/dxg");
}

static bool no_device(struct err *err)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    if (visible)
        return err_set(
            err,
            _("no GPU: CUDA_VISIBLE_DEVICES=\"%s\" names none that is here; unset it, or "
              "name one that nvidia-smi -L lists"),
            visible);
    if (!file_exists("/dev/nvidiactl") && !driver_on_wsl())
        return err_set(err,
                       _("no GPU: libcuda is here, but no NVIDIA device (no /dev/nvidiactl); a "
                         "container has to be started with access to the GPU"));
    return err_set(err, _("no NVIDIA GPU on this machine"));
}

bool driver_start(const struct driver *driver, int *device_count, struct err *err)
{
    int version = 0;
    *device_count = 0;
    int result = driver->init(0);
    if (result == DRIVER_NO_DEVICE || result == DRIVER_INVALID_DEVICE)
        return no_device(err);
    if (result != DRIVER_OK)
        return driver_fail(driver, result, err, _("the NVIDIA driver does not start"));
    result = driver->device_count(device_count);
    if (result == DRIVER_NO_DEVICE || (result == DRIVER_OK && *device_count == 0))
        return no_device(err);
    if (result != DRIVER_OK)
        return driver_fail(driver, result, err, _("the NVIDIA driver does not list its GPUs"));
    if (driver->driver_version(&version) == DRIVER_OK && version < OLDEST_DRIVER)
        return err_set(err,
                       _("the NVIDIA driver is too old: it knows CUDA %d.%d, Stride needs 11.0"),
                       version / 1000, version % 1000 / 10);
    return true;
}

static void *open_library(void)
{
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        void *library = dlopen(places[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

bool driver_open(const struct driver **out, struct err *err)
{
    static struct driver driver;
    static bool started;
    int count;
    if (started) {
        *out = &driver;
        return true;
    }
    void *library = open_library();
    if (!library)
        return err_set(err, _("no NVIDIA driver on this machine (libcuda.so.1 is not there)"));
#define X(member, symbol, parameters)                                                              \
    if (!(driver.member = (int(*) parameters)(uintptr_t)dlsym(library, symbol)))                   \
        return err_set(err, _("the NVIDIA driver is too old: it has no %s, Stride needs 11.0"),    \
                       symbol);
#include "driver.def"
#undef X
    if (!driver_start(&driver, &count, err))
        return false;
    started = true;
    *out = &driver;
    return true;
}

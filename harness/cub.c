#include "cub.h"

#include "harness/base/msg.h"

#include <dlfcn.h>

static bool refused(int result, struct err *err)
{
    return !result || err_set(err, _("CUB refused with CUDA runtime error %d"), result);
}

bool cub_open(struct cub *out, const char *object, struct backend *gpu, size_t n, struct err *err)
{
    *out = (struct cub){.gpu = gpu, .n = n};
    void *library = dlopen(object, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return err_set(err, _("CUB could not be opened: %s"), dlerror());
    out->call = (int (*)(void *, size_t *, const void *, void *, size_t, void *))(uintptr_t)dlsym(
        library, "peer");
    if (!out->call)
        return err_set(err, _("%s lacks the function peer"), object);
    return refused(out->call(NULL, &out->scratch_bytes, NULL, NULL, n, NULL), err) &&
           gpu->ops->alloc(gpu, &out->scratch, out->scratch_bytes, "CUB", err);
}

bool cub_call(void *context, const uint64_t device[], void *stream, struct err *err)
{
    struct cub *cub = context;
    return refused(cub->call((void *)(uintptr_t)cub->scratch, &cub->scratch_bytes,
                             (const void *)(uintptr_t)device[0], (void *)(uintptr_t)device[1],
                             cub->n, stream),
                   err);
}

void cub_close(struct cub *cub)
{
    if (cub->scratch)
        cub->gpu->ops->release(cub->gpu, cub->scratch);
    *cub = (struct cub){0};
}

/* The real CUDA runtime, opened at run time, behind the functions of api.def. */
#include "runtime.h"

#include "harness/base/msg.h"

#include <dlfcn.h>

bool forward_open(struct runtime *out, const char *libcudart, struct err *err)
{
    *out = (struct runtime){0};
    /* Global, so that functions which are not in api.def are found there by the student's object;
     * those that are come first, from this program. */
    void *library = dlopen(libcudart, RTLD_NOW | RTLD_GLOBAL);
    if (!library)
        return err_set(err, _("the CUDA runtime cannot be opened: %s"), dlerror());
#define X(type, name, parameters, arguments) *(void **)(&out->name) = dlsym(library, #name);
#include "api.def"
#undef X
    if (!out->cudaMalloc || !out->__cudaRegisterFatBinary || !out->cudaDeviceSynchronize)
        return err_set(err, _("%s is not a CUDA runtime that Stride knows"), libcudart);
    return true;
}

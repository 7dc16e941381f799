#include "object.h"

#include "runtime.h"
#include "symbols.h"

#include "harness/base/file.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OBJECT_MOST = 64 << 20 };

struct search {
    char *name;
    size_t len;
};

/* cudaMalloc, __cudaRegisterFatBinary, cuLaunchKernel: not curandCreate or custom. */
static bool is_cuda(const char *name)
{
    const char *plain = strncmp(name, "__", 2) == 0 ? name + 2 : name;
    return strncmp(plain, "cuda", 4) == 0 ||
           (strncmp(name, "cu", 2) == 0 && isupper((unsigned char)name[2]));
}

static void look(void *context, const char *name, bool defined)
{
    struct search *search = context;
    if (!defined && !*search->name && is_cuda(name) && !api_known(name))
        snprintf(search->name, search->len, "%s",
                 strcmp(name, "__cudaRegisterManagedVar") == 0 ? "__managed__" : name);
}

bool object_needs_unknown(const char *path, char *name, size_t len)
{
    struct buf bytes = {0};
    struct search search = {name, len};
    *name = '\0';
    if (file_read(&bytes, path, OBJECT_MOST, NULL))
        symbols_each(bytes.data, bytes.len, look, &search, NULL);
    buf_free(&bytes);
    return *name != '\0';
}

/* "/tmp/yours.so: undefined symbol: _Z4helpi" is for people who build linkers. */
static bool explain(const char *complaint, struct err *err)
{
    static const char sign[] = "undefined symbol: ";
    const char *symbol = strstr(complaint, sign);
    if (!symbol)
        return err_set(err, _("the object cannot be loaded: %s"), complaint);
    symbol += sizeof sign - 1;
    char *(*demangle)(const char *, char *, size_t *, int *) = NULL;
    void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)(&demangle) = dlsym(library, "__cxa_demangle");
    char *name = mem_printf("%.*s", (int)strcspn(symbol, " \t\n,"), symbol);
    char *plain = demangle ? demangle(name, NULL, NULL, NULL) : NULL;
    err_set(err, _("%s is declared and called, and defined nowhere"), plain ? plain : name);
    free(plain);
    free(name);
    return false;
}

bool object_load(struct object *out, const char *path, const struct host_lab *lab, struct err *err)
{
    *out = (struct object){.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    if (!out->handle) {
        char *complaint = mem_strdup(dlerror());
        explain(complaint, err);
        free(complaint);
        return false;
    }
    const char *const names[] = {lab->open, lab->run, lab->close};
    void *found[3];
    for (int i = 0; i < 3; i++) {
        found[i] = dlsym(out->handle, names[i]);
        if (!found[i])
            return err_set(err, _("there is no function %s in it"), names[i]);
    }
    *(void **)(&out->open) = found[0];
    *(void **)(&out->run) = found[1];
    *(void **)(&out->close) = found[2];
    return true;
}

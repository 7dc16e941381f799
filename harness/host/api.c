/* The door: every function of api.def, exported under the library's name. It notes who called,
 * hands the call to the runtime in use, and notes what came back. */
#include "calls.h"
#include "lines.h"
#include "runtime.h"

#include <stddef.h>
#include <string.h>

static const struct runtime *used;

void runtime_use(const struct runtime *runtime)
{
    used = runtime;
}

/* What a function returns that the runtime in use lacks. */
enum { NOT_SUPPORTED = 801 };

#define SITE      __builtin_return_address(0)
#define WITH(...) , ##__VA_ARGS__

/* One kind of wrapper for each type of result. Only int is a cudaError_t and can fail. */
#define API_FUNCTION_int(name, parameters, arguments)                                              \
    int name parameters;                                                                           \
    int name parameters                                                                            \
    {                                                                                              \
        struct call call;                                                                          \
        calls_enter(&call, API_##name, SITE);                                                      \
        bool there = used && used->name;                                                           \
        int result = there ? used->name arguments : NOT_SUPPORTED;                                 \
        return calls_leave(&call, there, result WITH arguments);                                   \
    }
#define API_FUNCTION_other(type, nothing, name, parameters, arguments)                             \
    type name parameters;                                                                          \
    type name parameters                                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        calls_enter(&call, API_##name, SITE);                                                      \
        bool there = used && used->name;                                                           \
        type result = there ? used->name arguments : nothing;                                      \
        calls_leave(&call, there, 0);                                                              \
        return result;                                                                             \
    }
#define API_FUNCTION_void(name, parameters, arguments)                                             \
    void name parameters;                                                                          \
    void name parameters                                                                           \
    {                                                                                              \
        struct call call;                                                                          \
        calls_enter(&call, API_##name, SITE);                                                      \
        bool there = used && used->name;                                                           \
        if (there)                                                                                 \
            used->name arguments;                                                                  \
        calls_leave(&call, there, 0);                                                              \
    }
#define API_FUNCTION_unsigned(name, parameters, arguments)                                         \
    API_FUNCTION_other(unsigned, 0, name, parameters, arguments)
#define API_FUNCTION_char(name, parameters, arguments)                                             \
    API_FUNCTION_other(char, 0, name, parameters, arguments)
#define API_FUNCTION_api_text(name, parameters, arguments)                                         \
    API_FUNCTION_other(api_text, "", name, parameters, arguments)
#define API_FUNCTION_api_module(name, parameters, arguments)                                       \
    API_FUNCTION_other(api_module, NULL, name, parameters, arguments)

#define X(type, name, parameters, arguments) API_FUNCTION_##type(name, parameters, arguments)
#include "api.def"
#undef X

static const char *const names[API_COUNT] = {
#define X(type, name, parameters, arguments) #name,
#include "api.def"
#undef X
};

const char *api_name(enum api api)
{
    return api < API_COUNT ? names[api] : "";
}

bool api_is_twin(enum api api)
{
    size_t len = strlen(names[api]);
    return len > 5 &&
           (!strcmp(names[api] + len - 5, "_ptsz") || !strcmp(names[api] + len - 5, "_ptds"));
}

const char *api_spoken(enum api api)
{
    enum { SUFFIX = 5 };
    const char *name = api_name(api);
    if (!strncmp(name, "__cudaLaunch", 12))
        return names[API_cudaLaunchKernel];
    size_t len = strlen(name) - SUFFIX;
    for (size_t i = 0; api < API_COUNT && api_is_twin(api) && i < API_COUNT; i++)
        if (strlen(names[i]) == len && !strncmp(names[i], name, len))
            return names[i];
    return name;
}

static const size_t offsets[API_COUNT] = {
#define X(type, name, parameters, arguments) offsetof(struct runtime, name),
#include "api.def"
#undef X
};

bool api_known(const char *name)
{
    for (size_t i = 0; i < API_COUNT; i++)
        if (!strcmp(names[i], name))
            return !used || *(void *const *)(const void *)((const char *)used + offsets[i]);
    return false;
}

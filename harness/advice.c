#include "advice.h"

#include "entry.h"

#include "harness/base/buf.h"
#include "harness/base/msg.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *sign;   /* part of the complaint */
    const char *advice; /* a sentence */
} table[] = {
    {"cannot open source file",
     N_("Kernels are compiled without the host's C++ library; <cuda/std/...> has much of it "
        "(<cuda/std/type_traits>), and your own headers are looked for beside kernel.cu.")},
    {"\"concept\" is undefined", N_("Stride compiles CUDA C++17; concepts came with C++20.")},
    {"\"requires\" is undefined", N_("Stride compiles CUDA C++17; concepts came with C++20.")},
    {"uses too much shared data",
     N_("A block may have 48 KiB of shared memory declared like this; the figures are bytes.")},
    {"Unresolved extern function", N_("It is declared and called, but has no body here.")},
    {"Not a name of any known instruction", N_("The text of asm(...) goes to the assembler as it "
                                               "stands; look at the spelling and the dots.")},
    {"calling a __host__ function", N_("Write __device__ before a function that a kernel calls.")},
};

/* NVRTC would have students use an option that nvcc does not know. */
static const char HOST_FUNCTION[] = "is considered a host function";

static char *find_advice(const struct diagnostic *item)
{
    if (strstr(item->text, HOST_FUNCTION))
        return mem_strdup(
            _("this function has no __device__ in front of it, so it would be one for the "
              "host, and there is no host here"));
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strstr(item->text, table[i].sign))
            return mem_printf("%s\n%s", item->text, _(table[i].advice));
    return NULL;
}

/* The name that a complaint quotes: 'missing', 'missing' as C++ mangles it, or nothing. */
static bool quoted_name(const char *text, char out[256])
{
    const char *open = strchr(text, '\'');
    const char *close = open ? strchr(open + 1, '\'') : NULL;
    if (!close || close - open - 1 >= 256)
        return false;
    snprintf(out, 256, "%.*s", (int)(close - open - 1), open + 1);
    if (strncmp(out, "_Z", 2) == 0 && isdigit((unsigned char)out[2])) {
        char *name;
        size_t len = strtoul(out + 2, &name, 10);
        if (len < strlen(name) && len < 256)
            name[len] = '\0';
        memmove(out, name, strlen(name) + 1);
    }
    return out[0] != '\0';
}

void advice_add(struct diagnostics *diagnostics, const char *source, const char *name)
{
    for (size_t i = 0; i < diagnostics->count; i++) {
        struct diagnostic *item = &diagnostics->items[i];
        char quoted[256];
        if (!item->file && !item->line && quoted_name(item->text, quoted)) {
            item->line = entry_line(source, quoted);
            item->file = item->line ? mem_strdup(name) : NULL;
        }
        char *longer = find_advice(item);
        if (longer) {
            free(item->text);
            item->text = longer;
        }
    }
}

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
    {"Parsing error near",
     N_("The text of asm(...) goes to the assembler as it stands: each instruction in it ends with "
        "a ';'. One that is missing is noticed behind it, in the next line with asm or later.")},
    {"out of memory",
     N_("The compiler may use 4 GiB of memory here. Is something very large included, or does a "
        "template call itself without an end?")},
    {"std::bad_alloc",
     N_("The compiler may use 4 GiB of memory here. Is something very large included, or does a "
        "template call itself without an end?")},
    {"calling a __host__ function", N_("Write __device__ before a function that a kernel calls.")},
};

/* Complaints that would have students use an option of the compiler, which they cannot set: what is
 * said from `cut` on, or all of it where that is NULL, gives way to the advice. */
static const struct {
    const char *sign, *cut;
    const char *advice;
} options[] = {
    {"is considered a host function", NULL,
     N_("this function has no __device__ in front of it, so it would be one for the host, and "
        "there "
        "is no host here")},
    {"is considered a host variable", NULL,
     N_("this variable has no __device__, __constant__ or __shared__ in front of it, so it would "
        "be one for the host, and there is no host here")},
    {"lambda closure class members was inferred to be __host__", NULL,
     N_("a lambda that stands outside every function would be one for the host, and there is no "
        "host here; write it inside the kernel, or make it a __device__ function")},
    {"annotation on lambda requires --extended-lambda", NULL,
     N_("a lambda in device code needs no __device__ and may have none here; take it away")},
    {"cannot be used in the template argument type of a __global__ function", ", unless the lambda",
     N_("A lambda for a kernel needs __device__ after its brackets: [=] __device__ (float x) "
        "{ ... }.")},
    {"calling a constexpr __host__ function", ". The experimental flag",
     N_("Write __device__ before a function that a kernel calls; in place of std::max and "
        "std::min, max and min will do, and <cuda/std/...> has much of the C++ library.")},
    {"calling a constexpr __device__ function", ". The experimental flag",
     N_("Write __host__ __device__ before a function that both sides call.")},
};

/* NULL when it does not recommend one. */
static char *find_option(const char *text)
{
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!strstr(text, options[i].sign))
            continue;
        const char *cut = options[i].cut ? strstr(text, options[i].cut) : text;
        if (cut)
            return cut == text
                       ? mem_strdup(_(options[i].advice))
                       : mem_printf("%.*s\n%s", (int)(cut - text), text, _(options[i].advice));
    }
    return NULL;
}

static char *find_advice(const struct diagnostic *item)
{
    char *text = find_option(item->text);
    for (size_t i = 0; !text && i < sizeof table / sizeof *table; i++)
        if (strstr(item->text, table[i].sign))
            text = mem_printf("%s\n%s", item->text, _(table[i].advice));
    return text;
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

/* ptx-run FILE.ptx ENTRY GRID BLOCK OUT_BYTES [base|avx2|avx512] <input >output
 *
 * Runs a kernel of the parameters (out, in) in the simulator: reads the input array from standard
 * input, writes the output array to standard output. What goes wrong is said on stderr, status 1.
 */
#include "harness/base/file.h"
#include "harness/ptx/ptx.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_all(struct buf *out, FILE *file)
{
    char chunk[65536];
    for (size_t n; (n = fread(chunk, 1, sizeof chunk, file)) > 0;)
        buf_add(out, chunk, n);
    return !ferror(file);
}

static void *device_memory(const void *bytes, size_t len)
{
    void *memory = aligned_alloc(64, (len + 127) & ~(size_t)63);
    if (!memory)
        abort();
    memset(memory, 0, len);
    if (bytes)
        memcpy(memory, bytes, len);
    return memory;
}

static int report(const struct ptx_module *module, const struct ptx_result *result)
{
    const struct ptx_line *line = &module->lines[result->line];
    for (size_t i = 0; i < result->hazard_count; i++)
        fprintf(stderr, "%s: line %u: %s\n", ptx_hazard_name(result->hazards[i].kind),
                module->lines[result->hazards[i].line].line, result->hazards[i].text);
    if (result->status != PTX_DONE)
        fprintf(stderr, "%s (line %u of %s)\n", result->message, line->line, line->file);
    return result->status == PTX_DONE && !result->hazard_count ? 0 : 1;
}

static int run(char **argv, int argc, struct err *err)
{
    struct buf text = {0}, input = {0};
    struct arena arena = {0};
    struct ptx_module *module;
    if (!file_read(&text, argv[1], 64 << 20, err) || !read_all(&input, stdin) ||
        !ptx_parse(&module, &arena, buf_str(&text), text.len, err))
        return -1;
    size_t out_bytes = strtoul(argv[5], NULL, 10);
    void *out = device_memory(NULL, out_bytes), *in = device_memory(input.data, input.len);
    struct ptx_memory memory[] = {
        {.va = 1ull << 32, .bytes = out_bytes, .host = out, .name = "out", .element_bytes = 8},
        {.va = 2ull << 32, .bytes = input.len, .host = in, .name = "in", .element_bytes = 8},
    };
    uint64_t params[] = {memory[0].va, memory[1].va};
    const char *isa = argc > 6 ? argv[6] : "";
    struct ptx_launch launch = {
        .module = module,
        .image = ptx_image_open(module),
        .entry = argv[2],
        .grid = {(uint32_t)atoi(argv[3]), 1, 1},
        .block = {(uint32_t)atoi(argv[4]), 1, 1},
        .params = params,
        .param_bytes = sizeof params,
        .memory = memory,
        .memory_count = 2,
        .options = {.checks = true,
                    .isa = !strcmp(isa, "base")     ? PTX_ISA_BASE
                           : !strcmp(isa, "avx2")   ? PTX_ISA_AVX2
                           : !strcmp(isa, "avx512") ? PTX_ISA_AVX512
                                                    : PTX_ISA_BEST},
    };
    struct ptx_result result;
    int status = -1;
    if (ptx_run(&result, &launch, err)) {
        status = report(module, &result);
        fwrite(result.output.data ? result.output.data : "", 1, result.output.len, stderr);
        fwrite(out, 1, out_bytes, stdout);
        ptx_result_free(&result);
    }
    ptx_image_close(launch.image);
    arena_free(&arena);
    buf_free(&text);
    buf_free(&input);
    free(out);
    free(in);
    return status;
}

int main(int argc, char **argv)
{
    struct err err = {0};
    if (argc < 6) {
        fputs("usage: ptx-run FILE.ptx ENTRY GRID BLOCK OUT_BYTES [base|avx2|avx512]\n", stderr);
        return 2;
    }
    int status = run(argv, argc, &err);
    if (status < 0)
        fprintf(stderr, "ptx-run: %s\n", err.text);
    return status < 0 ? 2 : status;
}

/* Any bytes as a module that is run: it ends, within its budget, with a status and a sentence, and
 * every vector width gives the same one. The kernel's parameters are addresses and small numbers.
 */
#include "harness/ptx/ptx.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BYTES = 4096, MOST_PARAMS = 256 };

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void launch(const struct ptx_module *module, const struct ptx_entry *entry, enum ptx_isa isa,
                   struct ptx_result *result)
{
    static uint8_t written[BYTES];
    struct err err = {0};
    uint64_t *host = aligned_alloc(64, 2 * BYTES);
    must(host != NULL);
    memset(written, 0, sizeof written);
    for (uint64_t i = 0; i < 2 * BYTES / 8; i++)
        host[i] = i % 97;
    struct ptx_memory memory[] = {
        {.va = 0x10000000, .bytes = BYTES, .host = host, .name = "a", .element_bytes = 4},
        {.va = 0x20000000,
         .bytes = BYTES,
         .host = host + BYTES / 8,
         .name = "b",
         .written = written},
    };
    uint64_t params[MOST_PARAMS / 8];
    for (unsigned i = 0; i < MOST_PARAMS / 8; i++)
        params[i] = i % 3 == 2 ? 40 : memory[i % 3].va;
    struct ptx_image *image = ptx_image_open(module);
    struct ptx_launch launch = {
        .module = module,
        .image = image,
        .entry = entry->name,
        .grid = {2, 1, 1},
        .block = {40, 1, 1},
        .dynamic_shared_bytes = 1024,
        .params = params,
        .param_bytes = entry->param_bytes,
        .memory = memory,
        .memory_count = 2,
        .options = {.checks = true, .counters = true, .steps = 3000, .isa = isa, .trace = true},
    };
    if (!ptx_run(result, &launch, &err)) {
        must(err.text[0]);
        result->status = PTX_UNSUPPORTED;
    }
    ptx_image_close(image);
    free(host);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct ptx_module *module = NULL;
    struct ptx_result base = {0}, best = {0};
    if (size < 65536 && ptx_parse(&module, &arena, (const char *)data, size, NULL) &&
        module->entry_count && module->entries[0].param_bytes <= MOST_PARAMS &&
        module->global_bytes + module->constant_bytes < 1 << 20) {
        const struct ptx_entry *entry = &module->entries[0];
        launch(module, entry, PTX_ISA_BASE, &base);
        launch(module, entry, PTX_ISA_BEST, &best);
        must(base.status == best.status && base.line == best.line);
        must(base.status == PTX_DONE || base.status == PTX_UNSUPPORTED || base.message[0]);
        must(base.hazard_count == best.hazard_count);
        ptx_result_free(&base);
        ptx_result_free(&best);
    }
    arena_free(&arena);
    return 0;
}

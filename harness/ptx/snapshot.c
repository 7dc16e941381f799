#include "harness/ptx/snapshot.h"

#include "harness/ptx/image.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *copy_of(const void *bytes, size_t count)
{
    uint8_t *copy = mem_alloc(count + 1);
    memcpy(copy, bytes, count);
    return copy;
}

void snapshot_take(struct snapshot *snapshot, const struct ptx_launch *launch)
{
    *snapshot = (struct snapshot){.launch = launch};
    snapshot->bytes = mem_zero(launch->memory_count + 1, sizeof *snapshot->bytes);
    snapshot->written = mem_zero(launch->memory_count + 1, sizeof *snapshot->written);
    for (size_t i = 0; i < launch->memory_count; i++) {
        const struct ptx_memory *memory = &launch->memory[i];
        if (!memory->read_only)
            snapshot->bytes[i] = copy_of(memory->host, memory->bytes);
        if (memory->written)
            snapshot->written[i] = copy_of(memory->written, memory->bytes);
    }
    if (launch->image && launch->module->global_bytes)
        snapshot->variables = copy_of(launch->image->globals, launch->module->global_bytes);
}

void snapshot_restore(const struct snapshot *snapshot)
{
    const struct ptx_launch *launch = snapshot->launch;
    for (size_t i = 0; i < launch->memory_count; i++) {
        const struct ptx_memory *memory = &launch->memory[i];
        if (snapshot->bytes[i])
            memcpy(memory->host, snapshot->bytes[i], memory->bytes);
        if (snapshot->written[i])
            memcpy(memory->written, snapshot->written[i], memory->bytes);
    }
    if (snapshot->variables)
        memcpy(launch->image->globals, snapshot->variables, launch->module->global_bytes);
}

void snapshot_free(struct snapshot *snapshot)
{
    for (size_t i = 0; snapshot->launch && i < snapshot->launch->memory_count; i++) {
        free(snapshot->bytes[i]);
        free(snapshot->written[i]);
    }
    free(snapshot->bytes);
    free(snapshot->written);
    free(snapshot->variables);
    *snapshot = (struct snapshot){0};
}

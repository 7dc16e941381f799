/* Any bytes as PTX: either a sentence says what is wrong, or what comes out is whole: every
 * operation has a handler, every branch a target inside its function, every operand a place in the
 * window. */
#include "harness/ptx/exec.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/module.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
    if (!holds)
        abort();
}

static void check_func(const struct func *func)
{
    must(func->op_count > 0 && func->register_bytes % 64 == 0);
    for (size_t i = 0; i < func->op_count; i++) {
        const struct op *op = &func->ops[i];
        must(op->run < H_COUNT && op->body < H_COUNT);
        must(op->guard < func->register_bytes);
        if (op->target)
            must(op->target >= func->ops && op->target < func->ops + func->op_count);
        if (op->body != H_brx && op->body != H_cp_async) {
            must(op->a < func->register_bytes && op->b < func->register_bytes);
            must(op->c < func->register_bytes && op->e < func->register_bytes);
        }
        for (int d = 0; d < 4; d++)
            must(op->d[d] < func->register_bytes);
        must(op->line < func->module->line_count);
    }
    const struct op *last = &func->ops[func->op_count - 1];
    must(last->body == H_ret && last->run == H_ret);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct arena arena = {0};
    struct err err = {0};
    struct ptx_module *module = NULL;
    if (!ptx_parse(&module, &arena, (const char *)data, size, &err)) {
        must(!module && err.text[0] && !strchr(err.text, '\n'));
        arena_free(&arena);
        return 0;
    }
    const struct module *internal = module->internal;
    for (const struct function *f = internal->functions; f; f = f->next) {
        if (!f->is_extern)
            check_func(internal->decoded[f->index]);
    }
    for (size_t i = 1; i < module->line_count; i++)
        must(module->lines[i].inlined_at < module->line_count && module->lines[i].file);
    for (size_t i = 0; i < module->entry_count; i++)
        must(ptx_find_entry(module, module->entries[i].name) != NULL);
    arena_free(&arena);
    return 0;
}

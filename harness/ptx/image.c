#include "harness/ptx/image.h"

#include "harness/ptx/exec.h"
#include "harness/ptx/module.h"

#include <stdlib.h>
#include <string.h>

static uint8_t *bytes_of(struct ptx_image *image, const struct variable *v)
{
    return (v->space == PTX_SPACE_CONST ? image->constants : image->globals) + v->offset;
}

/* Address that an initialiser means: in its own space, or generic. */
static uint64_t address_of(const struct module *module, const struct init_address *address)
{
    const struct variable *v = scope_find_variable(module->scope, address->name);
    const struct function *f = v ? NULL : module_find_function(module, address->name);
    if (f)
        return FUNCTION_WINDOW + 16 * (uint64_t)f->index;
    if (!v)
        return 0;
    uint64_t base = v->space == PTX_SPACE_GLOBAL  ? IMAGE_WINDOW
                    : !address->generic           ? 0
                    : v->space == PTX_SPACE_CONST ? CONST_WINDOW
                                                  : SHARED_WINDOW;
    return base + v->offset + address->addend;
}

struct ptx_image *ptx_image_open(const struct ptx_module *module)
{
    const struct module *internal = module->internal;
    struct ptx_image *image = mem_zero(1, sizeof *image);
    image->module = module;
    image->constants = mem_zero(module->constant_bytes + 64, 1);
    image->globals = aligned_alloc(64, (size_t)(module->global_bytes + 127) & ~(size_t)63);
    if (!image->globals)
        abort();
    memset(image->globals, 0, (size_t)(module->global_bytes + 127) & ~(size_t)63);
    image->items = mem_zero(module->global_count + 1, sizeof *image->items);
    for (size_t i = 0; i < module->global_count; i++) {
        const struct ptx_symbol *g = &module->globals[i];
        if (g->bytes)
            image->items[image->item_count++] =
                (struct ptx_memory){.va = IMAGE_WINDOW + g->offset,
                                    .bytes = g->bytes,
                                    .host = image->globals + g->offset,
                                    .name = g->name,
                                    .element_bytes = g->element_bytes};
    }
    for (size_t i = 0; i < internal->variable_count; i++) {
        const struct variable *v = internal->variables[i];
        if (!v->init || (v->space != PTX_SPACE_CONST && v->space != PTX_SPACE_GLOBAL))
            continue;
        memcpy(bytes_of(image, v), v->init, v->bytes);
        for (const struct init_address *a = v->addresses; a; a = a->next) {
            uint64_t value = address_of(internal, a);
            memcpy(bytes_of(image, v) + a->at, &value, a->bytes > 8 ? 8 : a->bytes);
        }
    }
    return image;
}

void ptx_image_close(struct ptx_image *image)
{
    if (!image)
        return;
    free(image->constants);
    free(image->globals);
    free(image->items);
    free(image);
}

bool ptx_image_symbol(struct ptx_image *image, const char *name, void **host, uint64_t *va,
                      uint64_t *bytes)
{
    const struct ptx_module *module = image->module;
    for (size_t i = 0; i < module->global_count; i++) {
        const struct ptx_symbol *g = &module->globals[i];
        if (!strcmp(g->name, name)) {
            *host = image->globals + g->offset;
            *va = IMAGE_WINDOW + g->offset;
            *bytes = g->bytes;
            return true;
        }
    }
    for (size_t i = 0; i < module->constant_count; i++) {
        const struct ptx_symbol *c = &module->constants[i];
        if (!strcmp(c->name, name)) {
            *host = image->constants + c->offset;
            *va = CONST_WINDOW + c->offset;
            *bytes = c->bytes;
            return true;
        }
    }
    return false;
}

#include "harness/ptx/decode.h"

#include "harness/ptx/lower.h"

#include <stdlib.h>
#include <string.h>

/* ---- forms, once per distinct opcode */

struct known_form {
    const char *opcode; /* interned */
    struct form_match match;
    bool found;
    struct known_form *next;
};

enum { FORM_BUCKETS = 1024 };

const struct form_match *decode_form(struct module *module, const char *opcode)
{
    if (!module->known_forms)
        module->known_forms = arena_array(module->arena, FORM_BUCKETS, sizeof *module->known_forms);
    uintptr_t hash = (uintptr_t)opcode;
    struct known_form **bucket = &module->known_forms[(hash ^ hash >> 12) / 16 % FORM_BUCKETS];
    for (struct known_form *k = *bucket; k; k = k->next) {
        if (k->opcode == opcode)
            return k->found ? &k->match : NULL;
    }
    struct known_form *known = arena_alloc(module->arena, sizeof *known);
    known->opcode = opcode;
    known->found = form_find(&known->match, opcode);
    known->next = *bucket;
    *bucket = known;
    return known->found ? &known->match : NULL;
}

/* ---- variables */

enum { SPACE_MOST = 1 << 28 }; /* bytes of all .global variables */

static uint64_t place(uint64_t *used, const struct variable *v)
{
    uint64_t offset = (*used + v->align - 1) & ~((uint64_t)v->align - 1);
    *used = offset + v->bytes;
    return offset;
}

static bool is_common_shared(const struct variable *v)
{
    return v->space == PTX_SPACE_SHARED && !v->unsized && (!v->function || !v->function->is_entry);
}

static struct ptx_symbol symbol_of(const struct variable *v)
{
    return (struct ptx_symbol){.name = v->name,
                               .bytes = v->unsized ? 0 : v->bytes,
                               .offset = v->offset,
                               .align = v->align,
                               .element_bytes = v->element_bytes};
}

/* Global and const variables of the module, and what shared memory all kernels have in common. */
static bool place_module(struct module *module, uint64_t *shared, struct err *err)
{
    struct ptx_module *public = module->public;
    uint64_t global = 0, constant = 0;
    struct ptx_symbol *globals =
        arena_array(module->arena, module->variable_count, sizeof *globals);
    struct ptx_symbol *constants =
        arena_array(module->arena, module->variable_count, sizeof *constants);
    for (size_t i = 0; i < module->variable_count; i++) {
        struct variable *v = module->variables[i];
        if (v->unsized && v->space != PTX_SPACE_SHARED && !v->is_extern)
            return err_set(err, "the PTX variable %s has no size", v->name);
        if (v->space == PTX_SPACE_GLOBAL) {
            v->offset = (uint32_t)place(&global, v);
            globals[public->global_count++] = symbol_of(v);
        } else if (v->space == PTX_SPACE_CONST) {
            v->offset = (uint32_t)place(&constant, v);
            constants[public->constant_count++] = symbol_of(v);
        } else if (is_common_shared(v)) {
            v->offset = (uint32_t)place(shared, v);
        }
        if (global > SPACE_MOST || constant > SPACE_MOST || *shared > SPACE_MOST)
            return err_set(err, "the PTX variable %s is too large for the simulator", v->name);
    }
    public->globals = globals;
    public->constants = constants;
    public->global_bytes = global;
    public->constant_bytes = (uint32_t)constant;
    return true;
}

/* A kernel's own shared variables come behind the common ones. */
static bool place_entry(struct module *module, const struct function *entry, uint64_t common,
                        uint32_t *static_bytes, struct err *err)
{
    uint64_t used = common;
    for (size_t i = 0; i < module->variable_count; i++) {
        struct variable *v = module->variables[i];
        if (v->space != PTX_SPACE_SHARED || v->unsized || v->function != entry)
            continue;
        v->offset = (uint32_t)place(&used, v);
        if (used > SPACE_MOST)
            return err_set(err, "the PTX variable %s is too large for the simulator", v->name);
    }
    *static_bytes = (uint32_t)used;
    return true;
}

static int by_offset(const void *a, const void *b)
{
    const struct ptx_symbol *x = a, *y = b;
    if (!x->bytes != !y->bytes)
        return x->bytes ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void list_shared(struct module *module, const struct function *function,
                        struct ptx_entry *entry)
{
    struct ptx_symbol *list = arena_array(module->arena, module->variable_count, sizeof *list);
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct variable *v = module->variables[i];
        bool mine = v->space == PTX_SPACE_SHARED &&
                    (v->function == function || !v->function || !v->function->is_entry);
        if (!mine)
            continue;
        struct ptx_symbol *symbol = &list[entry->shared_count++];
        *symbol = symbol_of(v);
        if (v->unsized)
            symbol->offset = module->dynamic_shared_from;
    }
    if (entry->shared_count)
        qsort(list, entry->shared_count, sizeof *list, by_offset);
    entry->shared = list;
}

/* ---- entries */

static void list_params(struct module *module, const struct function *function,
                        struct ptx_entry *entry)
{
    for (const struct variable *v = function->params; v; v = v->next)
        entry->param_count++;
    struct ptx_param *params = arena_array(module->arena, entry->param_count, sizeof *params);
    size_t i = 0;
    for (const struct variable *v = function->params; v; v = v->next) {
        params[i++] = (struct ptx_param){
            .name = v->name, .offset = v->offset, .bytes = (uint32_t)v->bytes, .align = v->align};
        entry->param_bytes = v->offset + (uint32_t)v->bytes;
    }
    entry->params = params;
}

static bool opcode_is_async(const char *opcode)
{
    return !strncmp(opcode, "cp.async", 8) || !strncmp(opcode, "mbarrier", 8);
}

/* What a kernel does includes what the functions that it calls do; all functions of a module are
 * counted as called. */
static void describe_entry(struct module *module, const struct function *function,
                           struct ptx_entry *entry, const struct func *func)
{
    entry->name = function->name;
    entry->max_threads = function->max_threads;
    entry->local_bytes = func->local_bytes;
    entry->instruction_count = function->inst_count;
    entry->func = func;
    for (const struct function *f = module->functions; f; f = f->next) {
        if (f != function && f->is_entry)
            continue;
        for (uint32_t i = 0; i < f->inst_count; i++)
            entry->uses_async |= opcode_is_async(f->insts[i].opcode);
    }
    list_params(module, function, entry);
    list_shared(module, function, entry);
}

static bool place_all(struct module *module, uint32_t *static_bytes, struct err *err)
{
    uint64_t common = 0, most = 0;
    if (!place_module(module, &common, err))
        return false;
    for (const struct function *f = module->functions; f; f = f->next) {
        static_bytes[f->index] = (uint32_t)common;
        if (f->is_entry && !place_entry(module, f, common, &static_bytes[f->index], err))
            return false;
        most = static_bytes[f->index] > most ? static_bytes[f->index] : most;
    }
    uint32_t align = 16;
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct variable *v = module->variables[i];
        if (v->space == PTX_SPACE_SHARED && v->unsized && v->align > align)
            align = v->align;
    }
    module->dynamic_shared_from = ((uint32_t)most + align - 1) & ~(align - 1);
    return true;
}

static void decode_functions(struct module *module)
{
    module->decoded = arena_array(module->arena, module->function_count, sizeof *module->decoded);
    for (struct function *f = module->functions; f; f = f->next)
        module->decoded[f->index] = arena_alloc(module->arena, sizeof(struct func));
    bool talks = false;
    for (struct function *f = module->functions; f; f = f->next) {
        if (f->is_extern)
            continue;
        lower_function(module, f, module->decoded[f->index]);
        talks |= !f->is_entry && module->decoded[f->index]->cross_block;
    }
    for (struct function *f = module->functions; f; f = f->next)
        module->decoded[f->index]->cross_block |= talks;
}

bool decode_module(struct module *module, struct err *err)
{
    struct ptx_module *public = module->public;
    uint32_t *static_bytes =
        arena_array(module->arena, module->function_count + 1, sizeof *static_bytes);
    if (!place_all(module, static_bytes, err))
        return false;
    decode_functions(module);
    struct ptx_entry *entries =
        arena_array(module->arena, module->function_count + 1, sizeof *entries);
    for (struct function *f = module->functions; f; f = f->next) {
        if (!f->is_entry || f->is_extern)
            continue;
        struct func *func = module->decoded[f->index];
        struct ptx_entry *entry = &entries[public->entry_count++];
        entry->static_shared_bytes = static_bytes[f->index];
        describe_entry(module, f, entry, func);
        func->shared = entry->shared;
        func->shared_count = entry->shared_count;
    }
    public->entries = entries;
    return true;
}

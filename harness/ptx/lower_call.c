/* Calls: of functions of the module, through pointers, and of what the host does. */
#include "harness/ptx/lower.h"

#include "harness/ptx/control.h"
#include "harness/ptx/handlers.h"
#include "harness/ptx/host_call.h"

static const struct variable *call_param(struct lower *l, const struct operand *o)
{
    const struct variable *v =
        o->kind == OPERAND_NAME ? scope_find_variable(l->inst->scope, o->name) : NULL;
    if (!v || v->space != PTX_SPACE_PARAM)
        lower_fail(l, "arguments are .param variables");
    return v && v->space == PTX_SPACE_PARAM ? v : NULL;
}

static bool places(struct lower *l, const struct operand *list, const struct param_place **out,
                   uint32_t *count)
{
    struct param_place *place = arena_array(l->module->arena, list->count, sizeof *place);
    for (uint32_t i = 0; i < list->count; i++) {
        const struct variable *v = call_param(l, &list->items[i]);
        if (!v)
            return false;
        place[i] = (struct param_place){.offset = v->offset, .bytes = (uint32_t)v->bytes};
    }
    *out = place;
    *count = list->count;
    return true;
}

/* Whether what the call passes is what the function declares. */
static bool matches(struct lower *l, const struct param_place *place, uint32_t count,
                    const struct variable *declared)
{
    for (uint32_t i = 0; i < count; i++, declared = declared->next) {
        if (!declared || declared->bytes != place[i].bytes)
            return lower_fail(l, "arguments do not fit the function's declaration");
    }
    return !declared || lower_fail(l, "arguments are missing");
}

static bool host_site(struct lower *l, const struct operand *results,
                      const struct operand *arguments, enum host_function function, struct op *op)
{
    struct host_site *site = arena_alloc(l->module->arena, sizeof *site);
    site->function = function;
    if (arguments->count > HOST_MAX_ARGUMENTS || results->count > 1)
        return lower_fail(l, "too many arguments");
    for (uint32_t i = 0; i < arguments->count; i++) {
        const struct variable *v = call_param(l, &arguments->items[i]);
        if (!v)
            return false;
        site->arguments[site->argument_count++] = v->offset;
    }
    if (results->count) {
        const struct variable *v = call_param(l, &results->items[0]);
        if (!v)
            return false;
        site->result = v->offset;
        site->has_result = true;
    }
    op->body = H_call_host;
    op->extra = site;
    return true;
}

/* call {(results),} name {, (arguments)} {, prototype} */
bool lower_call(struct lower *l, const struct inst *inst, struct op *op)
{
    static const struct operand none = {.kind = OPERAND_LIST};
    const struct operand *results = &none, *arguments = &none;
    uint32_t at = 0;
    if (at < inst->operand_count && inst->operands[at].kind == OPERAND_LIST)
        results = &inst->operands[at++];
    if (at == inst->operand_count)
        return lower_fail(l, "the function is missing");
    const struct operand *target = &inst->operands[at++];
    bool pointer = target->kind == OPERAND_REG;
    if (at < inst->operand_count && inst->operands[at].kind == OPERAND_LIST)
        arguments = &inst->operands[at++];
    at += pointer && at < inst->operand_count; /* the prototype */
    if (at != inst->operand_count || (!pointer && target->kind != OPERAND_NAME))
        return lower_fail(l, "operands that do not belong here");
    struct function *callee = pointer ? NULL : module_find_function(l->module, target->name);
    enum host_function host = pointer ? HOST_NONE : host_find(target->name);
    if ((!callee || callee->is_extern) && host != HOST_NONE)
        return host_site(l, results, arguments, host, op);
    if (!pointer && (!callee || callee->is_extern || callee->is_entry))
        return lower_fail(l, "the function %.100s", target->name);
    struct call_site *site = arena_alloc(l->module->arena, sizeof *site);
    op->extra = site;
    if (!places(l, arguments, &site->arguments, &site->argument_count) ||
        !places(l, results, &site->results, &site->result_count))
        return false;
    if (pointer) {
        op->body = H_call_pointer;
        return lower_source(l, target, 8, false, &op->a);
    }
    site->callee = l->module->decoded[callee->index];
    return matches(l, site->arguments, site->argument_count, callee->params) &&
           matches(l, site->results, site->result_count, callee->results);
}

/* Operands become offsets in the register window. Registers get their slot when they are first
 * seen; constants, special registers and addresses get slots too, so that handlers know one kind
 * only. */
#include "harness/ptx/lower.h"

#include "harness/base/buf.h"

#include <stdlib.h>
#include <string.h>

uint32_t lower_allocate(struct lower *l, uint32_t bytes)
{
    uint32_t offset = l->used;
    l->used += bytes;
    return offset;
}

static uint32_t allocate_predicate(struct lower *l)
{
    if (!l->pred_left) {
        l->pred_next = lower_allocate(l, 64);
        l->pred_left = 16;
    }
    l->pred_left--;
    l->pred_next += 4;
    return l->pred_next - 4;
}

uint32_t lower_register(struct lower *l, uint32_t reg)
{
    uint32_t *offset = &l->reg_offset[reg];
    if (!*offset) {
        uint32_t bytes = l->function->reg_bytes[reg];
        *offset = !bytes ? allocate_predicate(l) : lower_allocate(l, bytes == 8 ? 256 : 128);
    }
    return *offset;
}

static void grow_constants(struct lower *l);

static struct constant *find_constant(struct lower *l, const struct constant *wanted)
{
    if (l->constant_count * 2 >= l->constant_capacity)
        grow_constants(l);
    uint64_t hash = (wanted->value * 31 + wanted->kind * 7 + wanted->is_local * 3 + wanted->wide) *
                    0x9e3779b97f4a7c15ull;
    uint32_t at = (uint32_t)(hash >> 32) & (l->constant_capacity - 1);
    for (;;) {
        struct constant *c = &l->constants[at];
        if (!c->kind || (c->kind == wanted->kind && c->value == wanted->value &&
                         c->is_local == wanted->is_local && c->wide == wanted->wide))
            return c;
        at = (at + 1) & (l->constant_capacity - 1);
    }
}

static void grow_constants(struct lower *l)
{
    struct constant *old = l->constants;
    uint32_t capacity = l->constant_capacity;
    l->constant_capacity = capacity ? capacity * 2 : 64;
    l->constants = mem_zero(l->constant_capacity, sizeof *l->constants);
    l->constant_count = 0;
    for (uint32_t i = 0; i < capacity; i++) {
        if (old[i].kind) {
            l->constant_count++;
            *find_constant(l, &old[i]) = old[i];
        }
    }
    free(old);
}

uint32_t lower_constant(struct lower *l, uint64_t value, uint32_t bytes)
{
    if (bytes < 8)
        value &= bytes == 4 ? UINT32_MAX : bytes == 2 ? 0xffff : 0xff;
    struct constant wanted = {.value = value, .kind = bytes == 8 ? 2 : 1};
    struct constant *c = find_constant(l, &wanted);
    if (!c->kind) {
        *c = wanted;
        c->offset = lower_allocate(l, bytes == 8 ? 256 : 128);
        l->constant_count++;
    }
    return c->offset;
}

/* Slot for an address that depends on the launch or the activation. */
static uint32_t address_slot(struct lower *l, bool is_local, uint64_t addend, bool wide)
{
    struct constant wanted = {.value = addend, .kind = 3, .is_local = is_local, .wide = wide};
    struct constant *c = find_constant(l, &wanted);
    if (c->kind)
        return c->offset;
    *c = wanted;
    c->offset = lower_allocate(l, wide ? 256 : 128);
    l->constant_count++;
    uint32_t offset = c->offset;
    if (l->address_count == l->address_capacity) {
        l->address_capacity = l->address_capacity ? l->address_capacity * 2 : 8;
        l->addresses = mem_grow(l->addresses, l->address_capacity, sizeof *l->addresses);
    }
    l->addresses[l->address_count++] = (struct address_slot){
        .offset = offset, .is_local = is_local, .wide = wide, .addend = addend};
    return offset;
}

static bool special_source(struct lower *l, uint32_t special, uint32_t bytes, uint32_t *out)
{
    static const struct {
        uint8_t bytes;
        bool fixed;
    } specials[] = {
#define X(symbol, name, size, is_fixed) {size, is_fixed},
#include "harness/ptx/special.def"
#undef X
    };
    if (!specials[special].fixed)
        return lower_fail(l, "a clock is read with mov only");
    if (specials[special].bytes != bytes)
        return lower_fail(l, "a special register has the wrong size here");
    if (!l->special[special])
        l->special[special] = lower_allocate(l, bytes == 8 ? 256 : 128);
    *out = l->special[special];
    return true;
}

bool lower_address_of(struct lower *l, const struct operand *o, uint32_t bytes, uint32_t *out)
{
    const struct variable *v = scope_find_variable(l->inst->scope, o->name);
    const struct function *f = v ? NULL : module_find_function(l->module, o->name);
    if (f && bytes == 8 && !o->value) {
        *out = lower_constant(l, FUNCTION_WINDOW + 16 * (uint64_t)f->index, 8);
        return true;
    }
    if (!v)
        return lower_fail(l, "%.100s is not a variable", o->name);
    if (v->space == PTX_SPACE_SHARED && v->unsized) {
        *out = address_slot(l, false, v->offset + o->value, bytes == 8);
        return true;
    }
    if (v->space == PTX_SPACE_LOCAL) {
        *out = address_slot(l, true, v->offset + o->value, bytes == 8);
        return true;
    }
    if (v->space == PTX_SPACE_PARAM && !l->function->is_entry)
        return lower_fail(l, "the address of a parameter of a function");
    uint64_t base = v->space == PTX_SPACE_GLOBAL ? IMAGE_WINDOW : 0;
    if (base && bytes != 8)
        return lower_fail(l, "an address needs a 64-bit register");
    *out = lower_constant(l, base + v->offset + o->value, bytes);
    return true;
}

bool lower_destination(struct lower *l, const struct operand *o, uint32_t bytes, uint32_t *out)
{
    if (o->kind == OPERAND_SINK) {
        *out = bytes ? lower_allocate(l, bytes == 8 ? 256 : 128) : allocate_predicate(l);
        return true;
    }
    if (o->kind != OPERAND_REG || o->negated)
        return lower_fail(l, "a result goes to a register");
    if (l->function->reg_bytes[o->reg] != bytes)
        return lower_fail(l, "the result register has %u bits instead of %u",
                          l->function->reg_bytes[o->reg] * 8u, bytes * 8);
    *out = lower_register(l, o->reg);
    return true;
}

static bool float_source(struct lower *l, const struct operand *o, uint32_t bytes, uint32_t *out)
{
    uint64_t value = o->value;
    if (bytes == 8 && o->single)
        return lower_fail(l, "a single precision number where a double one belongs");
    if (bytes == 4 && !o->single) {
        double wide;
        memcpy(&wide, &value, sizeof wide);
        float narrow = (float)wide;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        value = bits;
    }
    if (bytes != 4 && bytes != 8)
        return lower_fail(l, "a floating-point number where it does not fit");
    *out = lower_constant(l, value, bytes);
    return true;
}

bool lower_source(struct lower *l, const struct operand *o, uint32_t bytes, bool is_float,
                  uint32_t *out)
{
    if (o->negated)
        return lower_fail(l, "'!' belongs to predicates");
    switch (o->kind) {
    case OPERAND_REG:
        if (l->function->reg_bytes[o->reg] != bytes)
            return lower_fail(l, "a source register has %u bits instead of %u",
                              l->function->reg_bytes[o->reg] * 8u, bytes * 8);
        *out = lower_register(l, o->reg);
        return true;
    case OPERAND_INT:
        if (is_float)
            return lower_fail(l, "an integer where a floating-point number belongs");
        *out = lower_constant(l, o->value, bytes);
        return true;
    case OPERAND_FLOAT:
        return float_source(l, o, bytes, out);
    case OPERAND_SPECIAL:
        return special_source(l, o->special, bytes, out);
    case OPERAND_NAME:
        return lower_address_of(l, o, bytes, out);
    default:
        return lower_fail(l, "an operand of a kind that does not belong here");
    }
}

bool lower_predicate(struct lower *l, const struct operand *o, uint32_t *out)
{
    if (o->kind != OPERAND_REG || l->function->reg_bytes[o->reg])
        return lower_fail(l, "a predicate register belongs here");
    *out = lower_register(l, o->reg);
    return true;
}

bool lower_any_register(struct lower *l, const struct operand *o, uint32_t *out, uint32_t *bytes)
{
    if (o->kind != OPERAND_REG || !l->function->reg_bytes[o->reg] || o->negated)
        return lower_fail(l, "a register belongs here");
    *bytes = l->function->reg_bytes[o->reg];
    if (*bytes > 8)
        return lower_fail(l, "a 128-bit register");
    *out = lower_register(l, o->reg);
    return true;
}

bool lower_memory(struct lower *l, const struct operand *o, uint32_t *base, uint32_t *bytes,
                  int64_t *offset)
{
    if (o->kind != OPERAND_MEMORY || o->count > 1)
        return lower_fail(l, "an address in brackets belongs here");
    *offset = (int64_t)o->value;
    if (!o->count) { /* an absolute address */
        *offset = 0;
        *bytes = 8;
        *base = lower_constant(l, o->value, 8);
        return true;
    }
    const struct operand *item = &o->items[0];
    if (item->kind == OPERAND_REG) {
        if (!lower_any_register(l, item, base, bytes))
            return false;
        return *bytes >= 4 || lower_fail(l, "an address needs 32 or 64 bits");
    }
    const struct variable *v = scope_find_variable(l->inst->scope, item->name);
    bool global = !v || v->space == PTX_SPACE_GLOBAL;
    *bytes = global ? 8 : 4; /* windows are 32 bits wide */
    return lower_address_of(l, item, *bytes, base);
}

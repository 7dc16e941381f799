/* Instructions: guard, opcode with all its modifiers as one word, operands. Operands keep the shape
 * in which they were written; what they may be is for decode to say. */
#include "harness/ptx/parse.h"

#include <string.h>

static bool find_register(const struct parser *p, struct token token, uint32_t *out)
{
    for (const struct scope *scope = p->scope; scope; scope = scope->parent) {
        for (const struct reg_family *f = scope->families; f; f = f->next) {
            if (token.len < f->prefix_len || memcmp(token.text, f->prefix, f->prefix_len))
                continue;
            if (!f->count) {
                if (token.len != f->prefix_len)
                    continue;
                *out = f->first;
                return true;
            }
            uint32_t index = 0;
            size_t i = f->prefix_len;
            for (; i < token.len && token.text[i] >= '0' && token.text[i] <= '9'; i++) {
                index = index * 10 + (uint32_t)(token.text[i] - '0');
                if (index > PARSE_MAX_REGS)
                    break;
            }
            bool padded = token.len > f->prefix_len + 1 && token.text[f->prefix_len] == '0';
            if (i == token.len && i > f->prefix_len && !padded && index < f->count) {
                *out = f->first + index;
                return true;
            }
        }
    }
    return false;
}

static bool find_special(struct token token, uint32_t *out)
{
    static const char *const names[] = {
#define X(symbol, name, bytes, fixed) name,
#include "harness/ptx/special.def"
#undef X
    };
    if (!token.len || token.text[0] != '%')
        return false;
    for (uint32_t i = 0; i < SPECIAL_COUNT; i++) {
        if (token_is(token, names[i])) {
            *out = i;
            return true;
        }
    }
    return false;
}

static bool parse_operand(struct parser *p, struct operand *out, unsigned depth);

static bool parse_number(struct parser *p, struct operand *out, bool negative)
{
    out->kind = p->token.kind == TOKEN_INT ? OPERAND_INT : OPERAND_FLOAT;
    out->value = p->token.value;
    out->single = p->token.is_single;
    if (negative && out->kind == OPERAND_INT)
        out->value = 0 - out->value;
    else if (negative)
        out->value ^= out->single ? 0x80000000ull : 1ull << 63;
    parse_advance(p);
    return true;
}

/* +4, -4, +-4 behind a name or register. */
static bool parse_offset(struct parser *p, struct operand *out)
{
    if (!token_is_punct(p->token, '+') && !token_is_punct(p->token, '-'))
        return true;
    bool negative = token_is_punct(p->token, '-');
    parse_advance(p);
    negative ^= parse_accept(p, '-');
    uint64_t value;
    if (!parse_uint(p, &value))
        return false;
    out->value = negative ? 0 - value : value;
    return true;
}

static bool parse_word(struct parser *p, struct operand *out)
{
    if (token_is(p->token, "_")) {
        out->kind = OPERAND_SINK;
        parse_advance(p);
        return true;
    }
    if (token_is(p->token, "WARP_SZ")) {
        *out = (struct operand){.kind = OPERAND_INT, .value = 32};
        parse_advance(p);
        return true;
    }
    if (find_register(p, p->token, &out->reg)) {
        out->kind = OPERAND_REG;
        parse_advance(p);
        return true;
    }
    if (find_special(p->token, &out->special)) {
        out->kind = OPERAND_SPECIAL;
        parse_advance(p);
        return true;
    }
    if (p->token.text[0] == '%')
        return parse_fail(p, "the simulator does not know the register %.*s",
                          (int)(p->token.len > 60 ? 60 : p->token.len), p->token.text);
    out->kind = OPERAND_NAME;
    out->name = parse_name(p);
    return out->name && parse_offset(p, out);
}

/* Items up to the closing character; the opening one is still the current token. */
static bool parse_items(struct parser *p, struct operand *out, char close, unsigned depth)
{
    struct operand items[PARSE_MAX_OPERANDS];
    uint32_t count = 0;
    parse_advance(p);
    while (!token_is_punct(p->token, close)) {
        if (count == PARSE_MAX_OPERANDS)
            return parse_fail(p, "more than %d operands in one list", PARSE_MAX_OPERANDS);
        items[count] = (struct operand){0};
        if (!parse_operand(p, &items[count], depth + 1))
            return false;
        count++;
        if (!parse_accept(p, ',') && !token_is_punct(p->token, close))
            return parse_expect(p, close);
    }
    out->count = count;
    out->items = arena_array(p->arena, count, sizeof *items);
    if (count)
        memcpy(out->items, items, count * sizeof *items);
    return parse_expect(p, close);
}

/* [base], [base+4], [base, {x, y}], [16]. */
static bool parse_memory(struct parser *p, struct operand *out, unsigned depth)
{
    out->kind = OPERAND_MEMORY;
    struct operand base = {0}, rest[PARSE_MAX_OPERANDS];
    uint32_t count = 0;
    parse_advance(p);
    if (!parse_operand(p, &base, depth + 1))
        return false;
    if (base.kind == OPERAND_REG && !parse_offset(p, &base))
        return false;
    while (parse_accept(p, ',')) {
        if (count + 1 == PARSE_MAX_OPERANDS)
            return parse_fail(p, "too many coordinates");
        rest[count] = (struct operand){0};
        if (!parse_operand(p, &rest[count++], depth + 1))
            return false;
    }
    if (base.kind == OPERAND_INT && !count) {
        out->value = base.value;
        return parse_expect(p, ']');
    }
    if (base.kind != OPERAND_REG && base.kind != OPERAND_NAME)
        return parse_fail(p, "an address is a register, a name or a number");
    out->value = base.value;
    base.value = 0;
    out->count = count + 1;
    out->items = arena_array(p->arena, out->count, sizeof base);
    out->items[0] = base;
    if (count)
        memcpy(out->items + 1, rest, count * sizeof base);
    return parse_expect(p, ']');
}

static bool parse_operand(struct parser *p, struct operand *out, unsigned depth)
{
    if (depth > 4)
        return parse_fail(p, "operands are nested too deep");
    if (token_is_punct(p->token, '{')) {
        out->kind = OPERAND_VECTOR;
        return parse_items(p, out, '}', depth);
    }
    if (token_is_punct(p->token, '(')) {
        out->kind = OPERAND_LIST;
        return parse_items(p, out, ')', depth);
    }
    if (token_is_punct(p->token, '['))
        return parse_memory(p, out, depth);
    if (parse_accept(p, '!'))
        out->negated = true;
    bool negative = parse_accept(p, '-');
    if (p->token.kind == TOKEN_INT || p->token.kind == TOKEN_FLOAT)
        return parse_number(p, out, negative);
    if (p->token.kind != TOKEN_WORD || p->token.text[0] == '.' || negative)
        return parse_fail(p, "an operand should stand here");
    if (!parse_word(p, out))
        return false;
    if (!token_is_punct(p->token, '|'))
        return true;
    parse_advance(p);
    struct operand *items = arena_array(p->arena, 2, sizeof *items);
    items[0] = *out;
    if (p->token.kind != TOKEN_WORD || !parse_word(p, &items[1]))
        return parse_fail(p, "a register should come behind '|'");
    *out = (struct operand){.kind = OPERAND_PAIR, .items = items, .count = 2};
    return true;
}

static bool parse_guard(struct parser *p, struct inst *inst)
{
    inst->guard = NO_REG;
    if (!parse_accept(p, '@'))
        return true;
    inst->guard_not = parse_accept(p, '!');
    if (p->token.kind != TOKEN_WORD || !find_register(p, p->token, &inst->guard))
        return parse_fail(p, "a guard is a predicate register");
    if (p->reg_bytes[inst->guard] != 0)
        return parse_fail(p, "the guard %.*s is not a predicate", (int)p->token.len, p->token.text);
    parse_advance(p);
    return true;
}

bool parse_instruction(struct parser *p)
{
    struct inst inst = {.line = p->line, .ptx_line = p->token.line, .scope = p->scope};
    struct operand operands[PARSE_MAX_OPERANDS];
    if (!parse_guard(p, &inst))
        return false;
    char first = p->token.kind == TOKEN_WORD ? p->token.text[0] : '\0';
    if (!((first >= 'a' && first <= 'z') || first == '_'))
        return parse_fail(p, "an instruction should stand here");
    inst.opcode = parse_intern(p, p->token.text, p->token.len);
    parse_advance(p);
    while (!token_is_punct(p->token, ';')) {
        if (inst.operand_count == PARSE_MAX_OPERANDS)
            return parse_fail(p, "%s has more than %d operands", inst.opcode, PARSE_MAX_OPERANDS);
        operands[inst.operand_count] = (struct operand){0};
        if (!parse_operand(p, &operands[inst.operand_count], 0))
            return false;
        inst.operand_count++;
        if (!parse_accept(p, ',') && !token_is_punct(p->token, ';'))
            return parse_expect(p, ';');
    }
    parse_advance(p);
    inst.operands = arena_array(p->arena, inst.operand_count, sizeof *operands);
    if (inst.operand_count)
        memcpy(inst.operands, operands, inst.operand_count * sizeof *operands);
    if (p->inst_count == p->inst_capacity) {
        p->inst_capacity = p->inst_capacity ? p->inst_capacity * 2 : 256;
        p->insts = mem_grow(p->insts, p->inst_capacity, sizeof *p->insts);
    }
    p->insts[p->inst_count++] = inst;
    return true;
}

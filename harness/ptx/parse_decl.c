/* Declarations: registers, variables with their initialisers, parameters; and what -lineinfo adds:
 * .file, .loc and the names of inlined functions in .section .debug_str. */
#include "harness/ptx/parse.h"

#include <stdlib.h>
#include <string.h>

/* ---- registers */

static bool add_registers(struct parser *p, const char *name, uint64_t count, uint32_t bytes)
{
    uint64_t wanted = count ? count : 1;
    if (wanted > PARSE_MAX_REGS || p->reg_count + wanted > PARSE_MAX_REGS)
        return parse_fail(p, "more than %d registers in one function", PARSE_MAX_REGS);
    struct reg_family *family = arena_alloc(p->arena, sizeof *family);
    *family = (struct reg_family){.prefix = name,
                                  .prefix_len = strlen(name),
                                  .count = (uint32_t)count,
                                  .first = (uint32_t)p->reg_count,
                                  .bytes = bytes,
                                  .next = p->scope->families};
    p->scope->families = family;
    if (p->reg_count + wanted > p->reg_capacity) {
        p->reg_capacity = (p->reg_count + wanted) * 2;
        p->reg_bytes = mem_grow(p->reg_bytes, p->reg_capacity, 1);
    }
    memset(p->reg_bytes + p->reg_count, (int)bytes, wanted);
    p->reg_count += wanted;
    return true;
}

bool parse_registers(struct parser *p)
{
    parse_advance(p);
    uint32_t bytes = parse_type_bytes(p->token);
    if (bytes == UINT32_MAX)
        return parse_fail(p, "the simulator does not know registers of type %.*s",
                          (int)p->token.len, p->token.text);
    do {
        parse_advance(p);
        const char *name = parse_name(p);
        uint64_t count = 0;
        if (!name)
            return false;
        if (parse_accept(p, '<')) {
            if (!parse_uint(p, &count) || !parse_expect(p, '>'))
                return false;
            if (!count)
                continue;
        }
        if (!add_registers(p, name, count, bytes))
            return false;
    } while (token_is_punct(p->token, ','));
    return parse_expect(p, ';');
}

/* ---- variables */

struct init_fill {
    struct variable *variable;
    uint8_t *bytes;
    uint64_t at; /* next byte */
};

static bool put_number(struct parser *p, struct init_fill *fill, bool negative)
{
    uint32_t size = fill->variable->element_bytes;
    uint64_t value = p->token.value;
    if (p->token.kind == TOKEN_FLOAT && size == 4 && !p->token.is_single) {
        double wide;
        memcpy(&wide, &value, sizeof wide);
        float narrow = (float)(negative ? -wide : wide);
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        value = bits;
        negative = false;
    } else if (p->token.kind == TOKEN_FLOAT && negative) {
        value ^= p->token.is_single ? 0x80000000ull : 1ull << 63;
        negative = false;
    }
    if (negative)
        value = 0 - value;
    if (fill->at + size > fill->variable->bytes)
        return parse_fail(p, "more values than %s has room for", fill->variable->name);
    memcpy(fill->bytes + fill->at, &value, size > 8 ? 8 : size);
    fill->at += size;
    parse_advance(p);
    return true;
}

/* An address: name, name+4, generic(name), generic(name)+4. Filled in when the image is opened. */
static bool put_address(struct parser *p, struct init_fill *fill)
{
    struct init_address *address = arena_alloc(p->arena, sizeof *address);
    address->generic = token_is(p->token, "generic");
    if (address->generic) {
        parse_advance(p);
        if (!parse_expect(p, '('))
            return false;
    }
    address->name = parse_name(p);
    if (!address->name || (address->generic && !parse_expect(p, ')')))
        return false;
    if (parse_accept(p, '+') && !parse_uint(p, &address->addend))
        return false;
    if (fill->variable->element_bytes < 4 ||
        fill->at + fill->variable->element_bytes > fill->variable->bytes)
        return parse_fail(p, "an address does not fit into %s", fill->variable->name);
    address->at = fill->at;
    address->bytes = fill->variable->element_bytes;
    address->next = fill->variable->addresses;
    fill->variable->addresses = address;
    fill->at += fill->variable->element_bytes;
    return true;
}

/* Braces follow the array's dimensions; values are laid out in order, which is the same thing for
 * the complete lists that the compiler writes. */
static bool parse_values(struct parser *p, struct init_fill *fill)
{
    unsigned depth = 0;
    do {
        while (parse_accept(p, '{'))
            depth++;
        bool negative = parse_accept(p, '-');
        bool ok = p->token.kind == TOKEN_INT || p->token.kind == TOKEN_FLOAT
                      ? put_number(p, fill, negative)
                      : put_address(p, fill);
        if (!ok)
            return false;
        while (depth && parse_accept(p, '}'))
            depth--;
    } while (depth && parse_accept(p, ','));
    return depth ? parse_expect(p, '}') : true;
}

static bool parse_initialiser(struct parser *p, struct variable *v)
{
    if (v->bytes > PARSE_MAX_INIT)
        return parse_fail(p, "%s is too large to be initialised", v->name);
    struct init_fill fill = {.variable = v, .bytes = arena_alloc(p->arena, v->bytes)};
    v->init = fill.bytes;
    return parse_values(p, &fill);
}

static bool parse_dimensions(struct parser *p, struct variable *v)
{
    while (parse_accept(p, '[')) {
        uint64_t n = 0;
        if (token_is_punct(p->token, ']'))
            v->unsized = true;
        else if (!parse_uint(p, &n))
            return false;
        if (n && v->bytes > (1ull << 40) / n)
            return parse_fail(p, "%s is too large", v->name);
        v->bytes *= n;
        if (!parse_expect(p, ']'))
            return false;
    }
    return true;
}

static void own_variable(struct parser *p, struct variable *v)
{
    struct module *m = p->module;
    if (m->variable_count == m->variable_capacity) {
        size_t capacity = m->variable_capacity ? m->variable_capacity * 2 : 16;
        struct variable **grown = arena_array(p->arena, capacity, sizeof(struct variable *));
        if (m->variable_count)
            memcpy(grown, m->variables, m->variable_count * sizeof *grown);
        m->variables = grown;
        m->variable_capacity = capacity;
    }
    m->variables[m->variable_count++] = v;
}

struct var_type {
    uint32_t align, bytes; /* of one element, vectors included */
};

/* Everything between the space and the name: .align N, .ptr ..., .v4, the type. */
static bool parse_var_type(struct parser *p, struct var_type *out)
{
    uint64_t align = 0, value;
    uint32_t lanes = 1, bytes = UINT32_MAX;
    while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.') {
        if (token_is(p->token, ".align")) {
            parse_advance(p);
            if (!parse_uint(p, &align))
                return false;
            if (!align || align > 4096 || (align & (align - 1)))
                return parse_fail(p, "an alignment is a power of two");
            continue;
        }
        if (token_is(p->token, ".ptr")) { /* about what the parameter points to, not itself */
            parse_advance(p);
            while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.') {
                bool has_number = token_is(p->token, ".align");
                parse_advance(p);
                if (has_number && !parse_uint(p, &value))
                    return false;
            }
            break;
        }
        if (token_is(p->token, ".attribute")) {
            while (p->token.kind != TOKEN_END && !token_is_punct(p->token, ')'))
                parse_advance(p);
            if (!parse_expect(p, ')'))
                return false;
            continue;
        }
        if (token_is(p->token, ".v2") || token_is(p->token, ".v4"))
            lanes = token_is(p->token, ".v2") ? 2 : 4;
        else if ((bytes = parse_type_bytes(p->token)) == UINT32_MAX)
            return parse_fail(p, "the simulator does not know %.*s here", (int)p->token.len,
                              p->token.text);
        parse_advance(p);
    }
    if (bytes == UINT32_MAX || !bytes)
        return parse_fail(p, "a variable needs a type");
    out->bytes = bytes * lanes;
    out->align = align ? (uint32_t)align : out->bytes;
    return true;
}

enum { PLACE_MAX = 1 << 20 }; /* bytes of .local or .param of one function */

/* .local and .param variables of a function get their offset at once; the rest is laid out when the
 * module is complete. */
static bool place_variable(struct parser *p, struct variable *v)
{
    bool is_param = v->space == PTX_SPACE_PARAM;
    if (!p->function || (!is_param && v->space != PTX_SPACE_LOCAL))
        return !is_param || parse_fail(p, ".param stands outside of a function");
    uint32_t *used = is_param ? &p->function->param_bytes : &p->function->local_bytes;
    /* Calls copy whole words, so arguments of functions start at one; kernels keep the ABI. */
    uint32_t align = is_param && !p->function->is_entry && v->align < 4 ? 4 : v->align;
    bool in_body = is_param && p->function->is_entry && p->depth;
    if (in_body && align < 4)
        align = 4;
    v->offset = (*used + align - 1) & ~(align - 1);
    if (v->bytes > PLACE_MAX || v->offset + v->bytes > PLACE_MAX)
        return parse_fail(p, "%s is too large", v->name);
    *used = v->offset + (uint32_t)v->bytes;
    return true;
}

static struct variable *parse_declarator(struct parser *p, enum ptx_space space,
                                         const struct var_type *type)
{
    struct variable *v = arena_alloc(p->arena, sizeof *v);
    v->name = parse_name(p);
    if (!v->name)
        return NULL;
    v->space = space;
    v->bytes = v->element_bytes = type->bytes;
    v->align = type->align;
    v->function = p->function;
    return parse_dimensions(p, v) && place_variable(p, v) ? v : NULL;
}

bool parse_variable(struct parser *p, enum ptx_space space, bool is_extern)
{
    struct var_type type = {0};
    if (!parse_var_type(p, &type))
        return false;
    do {
        struct variable *v = parse_declarator(p, space, &type);
        if (!v)
            return false;
        v->is_extern = is_extern;
        if (parse_accept(p, '=')) {
            if (space != PTX_SPACE_GLOBAL && space != PTX_SPACE_CONST)
                return parse_fail(p, "%s can't have initial values in its space", v->name);
            if (v->unsized)
                return parse_fail(p, "%s needs a size", v->name);
            if (!parse_initialiser(p, v))
                return false;
        }
        for (const struct variable *other = p->scope->variables; other; other = other->next) {
            if (other->name == v->name && !other->is_extern && !is_extern)
                return parse_fail(p, "%s is declared twice", v->name);
        }
        v->next = p->scope->variables;
        p->scope->variables = v;
        own_variable(p, v);
    } while (parse_accept(p, ','));
    return parse_expect(p, ';');
}

bool parse_parameters(struct parser *p, struct variable **out)
{
    struct variable **tail = out;
    parse_advance(p);
    if (parse_accept(p, ')'))
        return true;
    do {
        struct var_type type = {0};
        bool is_reg = token_is(p->token, ".reg");
        if (!is_reg && !token_is(p->token, ".param"))
            return parse_fail(p, "a parameter starts with .param");
        if (is_reg)
            return parse_fail(p, "the simulator does not know .reg parameters");
        parse_advance(p);
        if (!parse_var_type(p, &type))
            return false;
        struct variable *v = parse_declarator(p, PTX_SPACE_PARAM, &type);
        if (!v)
            return false;
        /* Two lists: in the function's scope for lookups, and in order for the call. */
        struct variable *ordered = v;
        struct variable *named = arena_alloc(p->arena, sizeof *named);
        *named = *v;
        named->next = p->scope->variables;
        p->scope->variables = named;
        *tail = ordered;
        tail = &ordered->next;
    } while (parse_accept(p, ','));
    return parse_expect(p, ')');
}

/* ---- lines */

static uint32_t add_line(struct parser *p, const struct ptx_line *line,
                         const struct line_draft *draft)
{
    if (p->line_count == p->line_capacity) {
        p->line_capacity *= 2;
        p->lines = mem_grow(p->lines, p->line_capacity, sizeof *p->lines);
        p->drafts = mem_grow(p->drafts, p->line_capacity, sizeof *p->drafts);
    }
    p->lines[p->line_count] = *line;
    p->drafts[p->line_count] = *draft;
    return (uint32_t)p->line_count++;
}

enum { LINE_LOOK_BACK = 4096 }; /* call sites come shortly before what was inlined there */

static uint32_t find_line(const struct parser *p, const struct ptx_line *line, uint32_t file)
{
    size_t stop = p->line_count > LINE_LOOK_BACK ? p->line_count - LINE_LOOK_BACK : 1;
    for (size_t i = p->line_count; i-- > stop;) {
        if (p->drafts[i].file == file && p->lines[i].line == line->line &&
            p->lines[i].column == line->column)
            return (uint32_t)i;
    }
    return 0;
}

static bool parse_place(struct parser *p, uint32_t *file, struct ptx_line *line)
{
    uint64_t f, l, c;
    if (!parse_uint(p, &f) || !parse_uint(p, &l) || !parse_uint(p, &c))
        return false;
    *file = (uint32_t)f;
    line->line = (uint32_t)l;
    line->column = (uint32_t)c;
    return true;
}

static bool parse_inlined(struct parser *p, struct ptx_line *line, struct line_draft *draft)
{
    parse_advance(p);
    if (!token_is(p->token, "function_name"))
        return parse_fail(p, "function_name should come here");
    parse_advance(p);
    uint64_t offset;
    draft->function = parse_name(p);
    if (!draft->function || (parse_accept(p, '+') && !parse_uint(p, &offset)))
        return false;
    if (!parse_expect(p, ','))
        return false;
    if (!token_is(p->token, "inlined_at"))
        return parse_fail(p, "inlined_at should come here");
    parse_advance(p);
    struct ptx_line site = {.ptx_line = line->ptx_line};
    struct line_draft site_draft = {0};
    if (!parse_place(p, &site_draft.file, &site))
        return false;
    line->inlined_at = find_line(p, &site, site_draft.file);
    if (!line->inlined_at)
        line->inlined_at = add_line(p, &site, &site_draft);
    return true;
}

bool parse_loc(struct parser *p)
{
    struct ptx_line line = {.ptx_line = p->token.line};
    struct line_draft draft = {0};
    parse_advance(p);
    if (!parse_place(p, &draft.file, &line))
        return false;
    while (p->token.kind == TOKEN_WORD &&
           (token_is(p->token, "prologue_end") || token_is(p->token, "is_stmt")))
        parse_advance(p);
    if (token_is_punct(p->token, ',') && !parse_inlined(p, &line, &draft))
        return false;
    if (!line.line) /* the compiler's own glue: it belongs to the line before */
        return true;
    uint32_t same = find_line(p, &line, draft.file);
    bool again = same && p->lines[same].inlined_at == line.inlined_at &&
                 p->drafts[same].function == draft.function;
    p->line = again ? same : add_line(p, &line, &draft);
    return true;
}

bool parse_file(struct parser *p)
{
    struct file_name *file = arena_alloc(p->arena, sizeof *file);
    uint64_t number, ignored;
    parse_advance(p);
    if (!parse_uint(p, &number))
        return false;
    if (p->token.kind != TOKEN_STRING)
        return parse_fail(p, ".file needs a path in quotes");
    file->number = (uint32_t)number;
    file->path = arena_strndup(p->arena, p->token.text, p->token.len);
    file->next = p->files;
    p->files = file;
    parse_advance(p);
    while (parse_accept(p, ',')) {
        if (!parse_uint(p, &ignored))
            return false;
    }
    return true;
}

/* One label of .debug_str with its bytes, a mangled function name. */
static bool parse_debug_string(struct parser *p)
{
    struct debug_string *string = arena_alloc(p->arena, sizeof *string);
    struct buf text = {.cap = 4096};
    string->label = parse_name(p);
    bool ok = string->label && parse_expect(p, ':');
    while (ok && token_is(p->token, ".b8")) {
        do {
            uint64_t byte = 0;
            parse_advance(p);
            ok = parse_uint(p, &byte);
            if (ok && byte)
                buf_add_char(&text, (char)byte);
        } while (ok && token_is_punct(p->token, ','));
    }
    if (ok) {
        string->text = arena_strdup(p->arena, buf_str(&text));
        string->next = p->strings;
        p->strings = string;
    }
    buf_free(&text);
    return ok;
}

bool parse_section(struct parser *p)
{
    parse_advance(p);
    bool is_strings = token_is(p->token, ".debug_str");
    parse_advance(p);
    if (!parse_expect(p, '{'))
        return false;
    while (p->token.kind != TOKEN_END && !token_is_punct(p->token, '}')) {
        if (is_strings && p->token.kind == TOKEN_WORD && token_is_punct(parse_peek(p), ':')) {
            if (!parse_debug_string(p))
                return false;
        } else {
            parse_advance(p);
        }
    }
    return parse_expect(p, '}');
}

void parse_finish_lines(struct parser *p)
{
    struct ptx_line *lines = arena_array(p->arena, p->line_count, sizeof *lines);
    memcpy(lines, p->lines, p->line_count * sizeof *lines);
    for (size_t i = 0; i < p->line_count; i++) {
        lines[i].file = "";
        for (const struct file_name *f = p->files; f; f = f->next) {
            if (f->number == p->drafts[i].file && i)
                lines[i].file = f->path;
        }
        for (const struct debug_string *s = p->strings; s && p->drafts[i].function; s = s->next) {
            if (s->label == p->drafts[i].function)
                lines[i].function = s->text;
        }
    }
    p->module->public->lines = lines;
    p->module->public->line_count = p->line_count;
}

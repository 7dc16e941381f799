/* From PTX text to struct module. ptx_parse at the end is the way in; it reads module-level
 * directives, and parse_function reads a body statement by statement. Nested braces (inline asm,
 * call sequences) open scopes with registers, variables and labels of their own. */
#include "harness/ptx/parse.h"

#include "harness/ptx/decode.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool parse_fail(struct parser *p, const char *format, ...)
{
    char what[512], where[64] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    uint32_t line = p->line < p->line_count ? p->line : 0;
    while (line && p->lines[line].inlined_at) /* a header's line is not the student's */
        line = p->lines[line].inlined_at;
    if (line)
        snprintf(where, sizeof where, " (your line %u)", p->lines[line].line);
    return err_set(p->err, "line %u of the PTX%s: %s", p->token.line, where, what);
}

void parse_advance(struct parser *p)
{
    p->token = lex_next(&p->lexer);
}

struct token parse_peek(const struct parser *p)
{
    struct lexer copy = p->lexer;
    return lex_next(&copy);
}

bool parse_accept(struct parser *p, char punct)
{
    if (!token_is_punct(p->token, punct))
        return false;
    parse_advance(p);
    return true;
}

bool parse_expect(struct parser *p, char punct)
{
    if (parse_accept(p, punct))
        return true;
    if (p->token.kind == TOKEN_END)
        return parse_fail(p, "the text ends where '%c' should come", punct);
    return parse_fail(p, "'%c' should come before '%.*s'", punct,
                      (int)(p->token.len > 40 ? 40 : p->token.len), p->token.text);
}

bool parse_uint(struct parser *p, uint64_t *out)
{
    if (p->token.kind != TOKEN_INT)
        return parse_fail(p, "a number should stand here");
    *out = p->token.value;
    parse_advance(p);
    return true;
}

static uint64_t hash_text(const char *text, size_t len)
{
    uint64_t hash = 1469598103934665603ull;
    for (size_t i = 0; i < len; i++)
        hash = (hash ^ (unsigned char)text[i]) * 1099511628211ull;
    return hash ^ hash >> 29;
}

static void grow_names(struct parser *p)
{
    size_t capacity = p->name_capacity ? p->name_capacity * 2 : 1024;
    const char **names = mem_zero(capacity, sizeof *names);
    for (size_t i = 0; i < p->name_capacity; i++) {
        if (!p->names[i])
            continue;
        size_t at = hash_text(p->names[i], strlen(p->names[i])) & (capacity - 1);
        while (names[at])
            at = (at + 1) & (capacity - 1);
        names[at] = p->names[i];
    }
    free(p->names);
    p->names = names;
    p->name_capacity = capacity;
}

const char *parse_intern(struct parser *p, const char *text, size_t len)
{
    if (p->name_count * 2 >= p->name_capacity)
        grow_names(p);
    size_t at = hash_text(text, len) & (p->name_capacity - 1);
    while (p->names[at]) {
        if (!strncmp(p->names[at], text, len) && !p->names[at][len])
            return p->names[at];
        at = (at + 1) & (p->name_capacity - 1);
    }
    p->name_count++;
    return p->names[at] = arena_strndup(p->arena, text, len);
}

const char *parse_name(struct parser *p)
{
    if (p->token.kind != TOKEN_WORD || p->token.text[0] == '.') {
        parse_fail(p, "a name should stand here");
        return NULL;
    }
    const char *name = parse_intern(p, p->token.text, p->token.len);
    parse_advance(p);
    return name;
}

uint32_t parse_type_bytes(struct token token)
{
    static const struct {
        const char *word;
        uint32_t bytes;
    } types[] = {
        {".b8", 1},    {".u8", 1},     {".s8", 1},   {".b16", 2}, {".u16", 2}, {".s16", 2},
        {".f16", 2},   {".bf16", 2},   {".b32", 4},  {".u32", 4}, {".s32", 4}, {".f32", 4},
        {".f16x2", 4}, {".bf16x2", 4}, {".tf32", 4}, {".b64", 8}, {".u64", 8}, {".s64", 8},
        {".f64", 8},   {".b128", 16},  {".pred", 0},
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        if (token_is(token, types[i].word))
            return types[i].bytes;
    }
    return UINT32_MAX;
}

struct function *module_find_function(const struct module *module, const char *name)
{
    struct function *found = NULL;
    for (struct function *f = module->functions; f; f = f->next) {
        if (f->name == name || !strcmp(f->name, name)) {
            if (!f->is_extern)
                return f;
            found = f;
        }
    }
    return found;
}

const struct variable *scope_find_variable(const struct scope *scope, const char *name)
{
    for (; scope; scope = scope->parent) {
        for (const struct variable *v = scope->variables; v; v = v->next) {
            if (v->name == name)
                return v;
        }
    }
    return NULL;
}

const struct label *scope_find_label(const struct scope *scope, const char *name)
{
    for (; scope; scope = scope->parent) {
        for (const struct label *l = scope->labels; l; l = l->next) {
            if (l->name == name)
                return l;
        }
    }
    return NULL;
}

static void open_scope(struct parser *p)
{
    struct scope *scope = arena_alloc(p->arena, sizeof *scope);
    scope->parent = p->scope;
    p->scope = scope;
}

/* `name:` with an optional .branchtargets list behind it. The name and colon are still to come. */
static bool parse_label(struct parser *p)
{
    struct label *label = arena_alloc(p->arena, sizeof *label);
    label->name = parse_name(p);
    if (!label->name || !parse_expect(p, ':'))
        return false;
    for (const struct label *l = p->scope->labels; l; l = l->next) {
        if (l->name == label->name)
            return parse_fail(p, "label %s stands here twice", label->name);
    }
    label->inst = (uint32_t)p->inst_count;
    label->next = p->scope->labels;
    p->scope->labels = label;
    bool is_branch = token_is(p->token, ".branchtargets");
    if (!is_branch && !token_is(p->token, ".calltargets")) {
        if (!token_is(p->token, ".callprototype"))
            return true;
        while (p->token.kind != TOKEN_END && !token_is_punct(p->token, ';'))
            parse_advance(p);
        return parse_expect(p, ';');
    }
    const char *names[1024];
    do {
        parse_advance(p);
        if (label->target_count == 1024)
            return parse_fail(p, "more than 1024 targets");
        if (!(names[label->target_count++] = parse_name(p)))
            return false;
    } while (token_is_punct(p->token, ','));
    label->targets = arena_array(p->arena, label->target_count, sizeof *names);
    memcpy(label->targets, names, label->target_count * sizeof *names);
    return parse_expect(p, ';');
}

/* Skips a directive that changes nothing for us, up to and with its semicolon. */
static bool skip_directive(struct parser *p)
{
    while (p->token.kind != TOKEN_END && !token_is_punct(p->token, ';') &&
           !token_is_punct(p->token, '}'))
        parse_advance(p);
    return parse_expect(p, ';');
}

static bool space_of(struct token token, enum ptx_space *out)
{
    static const struct {
        const char *word;
        enum ptx_space space;
    } spaces[] = {
        {".global", PTX_SPACE_GLOBAL}, {".shared", PTX_SPACE_SHARED}, {".local", PTX_SPACE_LOCAL},
        {".const", PTX_SPACE_CONST},   {".param", PTX_SPACE_PARAM},
    };
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        if (token_is(token, spaces[i].word)) {
            *out = spaces[i].space;
            return true;
        }
    }
    return false;
}

static bool parse_statement(struct parser *p)
{
    enum ptx_space space;
    if (token_is_punct(p->token, '{')) {
        if (++p->depth > PARSE_MAX_DEPTH)
            return parse_fail(p, "braces are nested more than %d deep", PARSE_MAX_DEPTH);
        parse_advance(p);
        open_scope(p);
        return true;
    }
    if (token_is_punct(p->token, '}')) {
        p->depth--;
        p->scope = p->scope->parent;
        if (p->depth) /* the function's own brace: the caller looks behind it */
            parse_advance(p);
        return true;
    }
    if (parse_accept(p, ';'))
        return true;
    if (token_is(p->token, ".loc"))
        return parse_loc(p);
    if (token_is(p->token, ".reg"))
        return parse_registers(p);
    if (token_is(p->token, ".pragma"))
        return skip_directive(p);
    if (space_of(p->token, &space)) {
        parse_advance(p);
        return parse_variable(p, space, false);
    }
    if (p->token.kind == TOKEN_WORD && p->token.text[0] == '.')
        return parse_fail(p, "the simulator does not know the directive %.*s", (int)p->token.len,
                          p->token.text);
    if (p->token.kind == TOKEN_WORD && token_is_punct(parse_peek(p), ':'))
        return parse_label(p);
    return parse_instruction(p);
}

static bool parse_body(struct parser *p)
{
    p->depth = 1;
    p->inst_count = 0;
    p->reg_count = 0;
    p->line = 0;
    while (p->depth) {
        if (p->token.kind == TOKEN_END)
            return parse_fail(p, "the text ends inside of %s", p->function->name);
        if (!parse_statement(p))
            return false;
    }
    struct function *f = p->function;
    f->inst_count = (uint32_t)p->inst_count;
    f->insts = arena_array(p->arena, p->inst_count, sizeof *f->insts);
    if (p->inst_count)
        memcpy(f->insts, p->insts, p->inst_count * sizeof *f->insts);
    f->reg_count = (uint32_t)p->reg_count;
    f->reg_bytes = arena_array(p->arena, p->reg_count, 1);
    if (p->reg_count)
        memcpy(f->reg_bytes, p->reg_bytes, p->reg_count);
    p->line = 0;
    return parse_expect(p, '}');
}

/* .maxntid, .reqntid and friends between a function's head and its body. */
static bool parse_performance(struct parser *p)
{
    while (p->token.kind == TOKEN_WORD && p->token.text[0] == '.') {
        if (token_is(p->token, ".pragma")) {
            if (!skip_directive(p))
                return false;
            continue;
        }
        bool threads = token_is(p->token, ".maxntid") || token_is(p->token, ".reqntid");
        uint64_t product = 1, value;
        parse_advance(p);
        for (bool more = p->token.kind == TOKEN_INT; more; more = parse_accept(p, ',')) {
            if (!parse_uint(p, &value))
                return false;
            product *= value > 65536 ? 65536 : value;
        }
        if (threads)
            p->function->max_threads = (uint32_t)product;
    }
    return true;
}

static bool parse_function(struct parser *p, bool is_entry)
{
    struct function *f = arena_alloc(p->arena, sizeof *f);
    struct scope *outer = p->scope;
    f->is_entry = is_entry;
    p->function = f;
    p->depth = 0;
    open_scope(p);
    f->scope = p->scope;
    if (token_is_punct(p->token, '(') && !parse_parameters(p, &f->results))
        return false;
    f->name = parse_name(p);
    if (!f->name)
        return false;
    if (token_is_punct(p->token, '(') && !parse_parameters(p, &f->params))
        return false;
    if (!parse_performance(p))
        return false;
    f->index = p->module->function_count++;
    *p->module->functions_tail = f;
    p->module->functions_tail = &f->next;
    if (parse_accept(p, ';')) {
        f->is_extern = true;
    } else {
        const struct function *same = module_find_function(p->module, f->name);
        if (same != f && !same->is_extern)
            return parse_fail(p, "%s is defined twice", f->name);
        if (!parse_expect(p, '{') || !parse_body(p))
            return false;
    }
    p->scope = outer;
    p->function = NULL;
    return true;
}

static bool parse_version(struct parser *p)
{
    parse_advance(p);
    double version;
    if (p->token.kind != TOKEN_FLOAT)
        return parse_fail(p, ".version needs a number like 9.0");
    memcpy(&version, &p->token.value, sizeof version);
    p->module->public->version = version > 0 && version < 1000 ? (uint32_t)(version * 10 + 0.5) : 0;
    parse_advance(p);
    return true;
}

static bool parse_target(struct parser *p)
{
    struct ptx_module *module = p->module->public;
    do {
        parse_advance(p);
        const char *name = parse_name(p);
        if (!name)
            return false;
        if (!strncmp(name, "sm_", 3)) {
            module->target = name;
            module->capability = (uint32_t)strtoul(name + 3, NULL, 10);
        }
    } while (token_is_punct(p->token, ','));
    return true;
}

static bool parse_module_directive(struct parser *p)
{
    bool is_extern = false;
    enum ptx_space space;
    if (parse_accept(p, ';'))
        return true;
    while (token_is(p->token, ".extern") || token_is(p->token, ".visible") ||
           token_is(p->token, ".weak") || token_is(p->token, ".common")) {
        is_extern |= token_is(p->token, ".extern");
        parse_advance(p);
    }
    bool is_entry = token_is(p->token, ".entry");
    if (is_entry || token_is(p->token, ".func")) {
        parse_advance(p);
        while (token_is(p->token, ".attribute") || token_is(p->token, ".noreturn")) {
            parse_advance(p);
            while (token_is_punct(p->token, '(') || token_is_punct(p->token, ')'))
                parse_advance(p);
        }
        return parse_function(p, is_entry);
    }
    if (space_of(p->token, &space)) {
        parse_advance(p);
        return parse_variable(p, space, is_extern);
    }
    if (token_is(p->token, ".version"))
        return parse_version(p);
    if (token_is(p->token, ".target"))
        return parse_target(p);
    if (token_is(p->token, ".address_size")) {
        uint64_t bits = 0;
        parse_advance(p);
        return parse_uint(p, &bits) &&
               (bits == 64 || parse_fail(p, "the simulator knows 64-bit addresses only"));
    }
    if (token_is(p->token, ".file"))
        return parse_file(p);
    if (token_is(p->token, ".section"))
        return parse_section(p);
    if (token_is(p->token, ".loc"))
        return parse_loc(p);
    if (token_is(p->token, ".pragma") || token_is(p->token, ".alias"))
        return skip_directive(p);
    return parse_fail(p, "the simulator does not know '%.*s' at this place",
                      (int)(p->token.len > 60 ? 60 : p->token.len), p->token.text);
}

static bool parse_all(struct parser *p)
{
    parse_advance(p);
    while (p->token.kind != TOKEN_END) {
        if (!parse_module_directive(p))
            return false;
    }
    if (!p->module->public->version)
        return err_set(p->err, "this is not PTX: it has no .version");
    parse_finish_lines(p);
    return true;
}

bool ptx_parse(struct ptx_module **out, struct arena *arena, const char *text, size_t len,
               struct err *err)
{
    struct module *module = arena_alloc(arena, sizeof *module);
    module->arena = arena;
    module->public = arena_alloc(arena, sizeof *module->public);
    module->public->internal = module;
    module->public->target = "";
    module->functions_tail = &module->functions;
    struct parser p = {.lexer = lex_begin(text, len), .arena = arena, .module = module, .err = err};
    open_scope(&p);
    module->scope = p.scope;
    p.lines = mem_zero(1, sizeof *p.lines);
    p.drafts = mem_zero(1, sizeof *p.drafts);
    p.line_count = p.line_capacity = 1;
    bool ok = parse_all(&p) && decode_module(module, err);
    free(p.lines);
    free(p.drafts);
    free(p.insts);
    free(p.reg_bytes);
    free(p.names);
    *out = ok ? module->public : NULL;
    return ok;
}

const struct ptx_entry *ptx_find_entry(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->entry_count; i++) {
        if (!strcmp(module->entries[i].name, name))
            return &module->entries[i];
    }
    return NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

uint32_t ptx_line_in_file(const struct ptx_module *module, uint32_t id, const char *file)
{
    if (id >= module->line_count)
        return 0;
    uint32_t frame = id;
    for (;;) {
        const struct ptx_line *line = &module->lines[frame];
        if (!file || !strcmp(base_name(line->file), base_name(file)) || !line->inlined_at)
            return frame;
        frame = line->inlined_at;
    }
}

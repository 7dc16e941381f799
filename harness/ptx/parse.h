/* The parser's own state, shared by parse.c (module, functions), parse_decl.c (variables, lines,
 * debug sections) and parse_inst.c (instructions and operands).
 *
 * One struct parser lives on ptx_parse's stack; what it grows is freed or copied into the arena
 * there.
 *
 * Nothing outside these three files includes this header. Every function returns false after the
 * first error, which parse_fail has then described. */
#ifndef STRIDE_PTX_PARSE_H
#define STRIDE_PTX_PARSE_H

#include "harness/ptx/module.h"

enum {
    PARSE_MAX_REGS = 1 << 20,  /* of one function */
    PARSE_MAX_DEPTH = 64,      /* nested braces */
    PARSE_MAX_INIT = 64 << 20, /* bytes of one initialised variable */
    PARSE_MAX_OPERANDS = 64,   /* of one instruction, and of one list in it */
};

struct line_draft {
    uint32_t file;
    const char *function; /* label in .debug_str, interned */
};

struct debug_string {
    const char *label, *text;
    struct debug_string *next;
};

struct file_name {
    uint32_t number;
    const char *path;
    struct file_name *next;
};

struct parser {
    struct lexer lexer;
    struct token token; /* the one to look at */
    struct arena *arena;
    struct module *module;
    struct function *function; /* being read, or NULL */
    struct scope *scope;
    struct err *err;
    uint32_t line; /* line id of what comes now */
    uint32_t depth;

    struct ptx_line *lines;
    struct line_draft *drafts;
    size_t line_count, line_capacity;
    struct inst *insts;
    size_t inst_count, inst_capacity;
    uint8_t *reg_bytes;
    size_t reg_count, reg_capacity;
    struct debug_string *strings;
    struct file_name *files;

    const char **names; /* interned, open addressing */
    size_t name_count, name_capacity;
};

/* Describes the error at the current token: "line 12 of the PTX (your line 7): ...". */
bool parse_fail(struct parser *p, const char *format, ...) __attribute__((format(printf, 2, 3)));

void parse_advance(struct parser *p);
bool parse_expect(struct parser *p, char punct);
bool parse_accept(struct parser *p, char punct);
bool parse_uint(struct parser *p, uint64_t *out); /* an integer token */
struct token parse_peek(const struct parser *p);  /* the token after the current one */

/* A current token that is a word, interned; NULL (and the error) otherwise. */
const char *parse_name(struct parser *p);
const char *parse_intern(struct parser *p, const char *text, size_t len);

/* Bytes of a type word such as ".u32"; 0 for .pred, UINT32_MAX when it is none. */
uint32_t parse_type_bytes(struct token token);

/* parse_decl.c */
bool parse_variable(struct parser *p, enum ptx_space space, bool is_extern);
bool parse_registers(struct parser *p);
bool parse_parameters(struct parser *p, struct variable **out);
bool parse_loc(struct parser *p);
bool parse_file(struct parser *p);
bool parse_section(struct parser *p);
void parse_finish_lines(struct parser *p);

/* parse_inst.c */
bool parse_instruction(struct parser *p);

#endif

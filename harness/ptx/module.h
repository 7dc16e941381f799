/* A PTX module as text says it: functions, variables, instructions with their operands, lines.
 * parse.c fills it; decode.c turns it into operations.
 *
 * Everything lives in the module's arena. Names are interned: equal names are equal pointers within
 * one module.
 *
 * It has no opinion on what an instruction means or whether it exists; that is decode's part. */
#ifndef STRIDE_PTX_MODULE_H
#define STRIDE_PTX_MODULE_H

#include "harness/ptx/lex.h"
#include "harness/ptx/ptx.h"

enum operand_kind {
    OPERAND_REG,     /* reg */
    OPERAND_SPECIAL, /* special: enum special */
    OPERAND_INT,     /* value */
    OPERAND_FLOAT,   /* value: bits; single: 32-bit pattern, else a double's */
    OPERAND_NAME,    /* name, value added: variable, label, function, kernel parameter */
    OPERAND_MEMORY,  /* [items[0] + value]; or [value] without items; more items: coordinates */
    OPERAND_VECTOR,  /* {items...} */
    OPERAND_LIST,    /* (items...) of a call */
    OPERAND_PAIR,    /* items[0]|items[1] */
    OPERAND_SINK,    /* _ */
};

struct operand {
    uint8_t kind; /* enum operand_kind */
    bool negated; /* !p, or -name */
    bool single;
    uint32_t reg;
    uint32_t special;
    uint64_t value;
    const char *name;
    struct operand *items;
    uint32_t count;
};

/* A virtual register's type: bytes, 0 for a predicate. */
struct reg_family {
    const char *prefix; /* "%r" of %r<29>, or the whole name when count is 0 */
    size_t prefix_len;
    uint32_t count; /* 0: one register with exactly this name */
    uint32_t first; /* virtual register number */
    uint32_t bytes;
    struct reg_family *next;
};

struct variable {
    const char *name;
    enum ptx_space space; /* GLOBAL, CONST, SHARED, LOCAL, PARAM */
    uint64_t bytes;
    uint32_t align, element_bytes;
    uint32_t offset;
    bool is_extern, unsized;
    const struct function *function; /* NULL at module scope */
    const uint8_t *init;             /* `bytes` long, or NULL: zero */
    struct init_address { /* addresses inside the initialiser, filled in when the image is opened */
        uint64_t at, bytes, addend;
        const char *name;
        bool generic;
        struct init_address *next;
    } * addresses;
    struct variable *next;
};

struct label {
    const char *name;
    uint32_t inst;
    const char **targets; /* .branchtargets: names; else NULL */
    uint32_t target_count;
    struct label *next;
};

struct scope {
    struct scope *parent;
    struct reg_family *families;
    struct variable *variables;
    struct label *labels;
};

struct inst {
    const char *opcode; /* interned: "add.s32" */
    struct operand *operands;
    uint32_t operand_count;
    uint32_t line; /* line id */
    uint32_t ptx_line;
    uint32_t guard; /* virtual register, NO_REG when unguarded */
    bool guard_not;
    const struct scope *scope;
};

#define NO_REG UINT32_MAX

struct function {
    const char *name;
    bool is_entry, is_extern; /* extern: declared only */
    struct variable *params, *results;
    struct scope *scope;
    struct inst *insts;
    uint32_t inst_count;
    uint32_t reg_count;
    uint8_t *reg_bytes; /* per virtual register */
    uint32_t max_threads;
    uint32_t param_bytes; /* of all .param variables: own parameters, results, arguments of calls */
    uint32_t local_bytes;
    uint32_t index;
    struct function *next;
};

struct module {
    struct arena *arena;
    struct ptx_module *public;
    struct function *functions, **functions_tail;
    uint32_t function_count;
    struct scope *scope;         /* module-scope variables */
    struct variable **variables; /* every variable that owns storage, in order of appearance */
    size_t variable_count, variable_capacity;
    struct func **decoded;           /* by function index */
    struct known_form **known_forms; /* decode.c */
    uint32_t site_count, block_count;
    uint32_t
        dynamic_shared_from; /* where unsized extern .shared arrays start: static bytes, aligned */
};

/* Special registers; the first ones have a fixed value per warp or block and get slots. */
enum special {
#define X(symbol, name, bytes, fixed) SPECIAL_##symbol,
#include "harness/ptx/special.def"
#undef X
    SPECIAL_COUNT
};

/* The function of that name, declared or defined; NULL when absent. */
struct function *module_find_function(const struct module *module, const char *name);

/* Innermost variable or label of an interned name, looking outwards from scope; NULL when absent.
 */
const struct variable *scope_find_variable(const struct scope *scope, const char *name);
const struct label *scope_find_label(const struct scope *scope, const char *name);

#endif

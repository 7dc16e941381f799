/* Decoding one function: shared by lower.c (drafts, blocks, emission), lower_operands.c (registers,
 * constants, addresses) and lower_rules.c (what each rule of ops.def means).
 *
 * A struct lower lives while its function is decoded; what it grows is freed at the end, results go
 * to the module's arena.
 *
 * Nothing outside these files and decode.c includes this header. */
#ifndef STRIDE_PTX_LOWER_H
#define STRIDE_PTX_LOWER_H

#include "harness/ptx/exec.h"
#include "harness/ptx/forms.h"
#include "harness/ptx/module.h"

/* One operation to be, between instructions and ops: an instruction may need two. */
struct draft {
    const struct inst *inst;
    const struct form_match *match; /* NULL: skip (see kind) */
    enum draft_kind { DRAFT_PLAIN, DRAFT_SKIP, DRAFT_UNKNOWN } kind;
    uint32_t *targets; /* of branches, as draft numbers */
    uint32_t target_count;
    bool ignore_guard; /* a DRAFT_SKIP in front does it */
};

struct constant {
    uint64_t value;
    uint32_t offset;
    uint8_t kind; /* 0 unused, 1 32-bit, 2 64-bit, 3 address */
    bool is_local, wide;
};

struct lower {
    struct module *module;
    struct function *function;
    struct func *func;
    uint32_t *reg_offset; /* per virtual register, 0: none yet */
    uint32_t *special;    /* per enum special */
    uint32_t used;        /* bytes of the window */
    uint32_t pred_next, pred_left;
    struct constant *constants; /* open addressing */
    uint32_t constant_count, constant_capacity;
    struct address_slot *addresses;
    uint32_t address_count, address_capacity;

    struct draft *drafts;
    uint32_t draft_count, draft_capacity;
    const struct inst *inst; /* being lowered, for messages */
    char why[160];           /* what is wrong with it */
};

/* decode.c: finds (once per distinct opcode) the form of an opcode; NULL when there is none. */
const struct form_match *decode_form(struct module *module, const char *opcode);

/* lower.c */
void lower_function(struct module *module, struct function *function, struct func *out);
bool lower_fail(struct lower *l, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* lower_operands.c. All return false (after lower_fail) when the operand is not what is wanted. */
uint32_t lower_allocate(struct lower *l, uint32_t bytes);
uint32_t lower_constant(struct lower *l, uint64_t value, uint32_t bytes);
bool lower_destination(struct lower *l, const struct operand *o, uint32_t bytes, uint32_t *out);
bool lower_source(struct lower *l, const struct operand *o, uint32_t bytes, bool is_float,
                  uint32_t *out);
bool lower_predicate(struct lower *l, const struct operand *o, uint32_t *out);
bool lower_any_register(struct lower *l, const struct operand *o, uint32_t *out, uint32_t *bytes);
bool lower_memory(struct lower *l, const struct operand *o, uint32_t *base, uint32_t *bytes,
                  int64_t *offset);
bool lower_address_of(struct lower *l, const struct operand *o, uint32_t bytes, uint32_t *out);
uint32_t lower_register(struct lower *l, uint32_t reg);

/* lower_rules.c: fills op from the instruction. */
bool lower_rule(struct lower *l, const struct form_match *match, const struct inst *inst,
                struct op *op);

/* lower_matrix.c: the same for wmma, mma.sync, ldmatrix and stmatrix. */
bool lower_matrix(struct lower *l, const struct form_match *match, const struct inst *inst,
                  struct op *op);

/* One rule each, in lower_memory.c, lower_async.c, lower_call.c and lower_cvt.c. */
bool lower_load(struct lower *l, const struct inst *inst, struct op *op);
bool lower_store(struct lower *l, const struct inst *inst, struct op *op);
bool lower_param(struct lower *l, const struct inst *inst, struct op *op, bool is_store);
bool lower_atom(struct lower *l, const struct form_match *m, const struct inst *inst, struct op *op,
                bool has_result);
bool lower_cp_async(struct lower *l, const struct form_match *m, const struct inst *inst,
                    struct op *op);
bool lower_bulk_load(struct lower *l, const struct inst *inst, struct op *op);
bool lower_bulk_store(struct lower *l, const struct inst *inst, struct op *op);
bool lower_mbarrier_arrive(struct lower *l, const struct form_match *m, const struct inst *inst,
                           struct op *op);
bool lower_call(struct lower *l, const struct inst *inst, struct op *op);
bool lower_cvt_form(struct lower *l, const struct form_match *m, const struct inst *inst,
                    struct op *op);
uint8_t lower_cvt_type(const struct form_word *word); /* enum cvt_type */
int64_t lower_rounding(const struct form_match *m);   /* enum rounding */

/* lower_guess.c: reads that begin a loop around a cas count as relaxed. */
void lower_guesses(struct op *ops, uint32_t count);

/* lower_words.c: what the words of the opcode say about memory: space, order, scope, types. */
void lower_words(const struct form_match *match, struct op *op);
uint32_t lower_type_bytes(const struct form_word *word); /* 0: not a type */

#endif

/* The table of instruction forms (ops.def) and the search in it.
 *
 * The table is constant; a match is a value.
 *
 * It looks at the opcode word only; operands are decode's. */
#ifndef STRIDE_PTX_FORMS_H
#define STRIDE_PTX_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rule {
    RULE_PLAIN,
    RULE_CARRY,
    RULE_SETP,
    RULE_SETP_PAIR,
    RULE_SET,
    RULE_MINMAX,
    RULE_HALF_MODE,
    RULE_HALF_MINMAX,
    RULE_CVT_INT_INT,
    RULE_CVT_FLOAT_INT,
    RULE_CVT_INT_FLOAT,
    RULE_CVT_INTEGRAL,
    RULE_CVT_FLOAT_FLOAT,
    RULE_CVT_PACK2,
    RULE_CVT_FP8,
    RULE_CVT_PACK_INT,
    RULE_MOV_PRED,
    RULE_MOV,
    RULE_CVTA,
    RULE_LOAD_PARAM,
    RULE_LOAD,
    RULE_STORE_PARAM,
    RULE_STORE,
    RULE_ATOM,
    RULE_RED,
    RULE_BARRIER,
    RULE_BARRIER_RED,
    RULE_CLUSTER_ARRIVE,
    RULE_CLUSTER_WAIT,
    RULE_FENCE,
    RULE_CP_ASYNC,
    RULE_CP_WAIT_ALL,
    RULE_BULK_LOAD,
    RULE_BULK_STORE,
    RULE_MBARRIER_ARRIVE,
    RULE_MBARRIER_TX,
    RULE_BRANCH,
    RULE_BRANCH_TABLE,
    RULE_CALL,
    RULE_MATRIX,
};

struct form {
    const char *pattern, *operands;
    uint16_t handler;
    uint8_t kind;
    uint8_t rule;
    uint8_t value;
};

extern const struct form forms[];
extern const size_t form_count;

enum { FORM_MAX_WORDS = 24 };

struct form_word {
    const char *text;
    size_t len;
};

struct form_match {
    const struct form *form;
    struct form_word words[FORM_MAX_WORDS]; /* of the opcode, words[0] is the base */
    unsigned word_count;
    uint8_t mode, mode2; /* captures; mode is form->value without one */
    bool captured;
};

/* The first row whose pattern is `opcode`, exactly. Words point into opcode. */
bool form_find(struct form_match *out, const char *opcode);

bool form_has(const struct form_match *match, const char *word);

/* How often: calls `visit` with every opcode that `pattern` stands for, until it returns false. */
bool form_expand(const char *pattern, bool (*visit)(const char *opcode, void *context),
                 void *context);

#endif

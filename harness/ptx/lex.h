/* Tokens of PTX text.
 *
 * A lexer is a cursor over the caller's text, which must stay until the last token is used: tokens
 * point into it. Nothing is allocated.
 *
 * It never fails: what is not PTX becomes a TOKEN_BAD that the parser reports with its line. */
#ifndef STRIDE_PTX_LEX_H
#define STRIDE_PTX_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,
    TOKEN_WORD, /* names, opcodes with their modifiers, directives: add.s32 %tid.x .reg $L__BB0_1 */
    TOKEN_INT,  /* integer */
    TOKEN_FLOAT,  /* 1.5, 0f3F800000, 0d3FF0000000000000 */
    TOKEN_STRING, /* text without the quotes, escapes untouched */
    TOKEN_PUNCT,  /* one character */
    TOKEN_BAD,
};

struct token {
    enum token_kind kind;
    const char *text; /* not NUL-terminated */
    size_t len;
    uint32_t line;  /* of the PTX text, from 1 */
    char punct;     /* TOKEN_PUNCT */
    uint64_t value; /* TOKEN_INT: two's complement; TOKEN_FLOAT: bits of the double */
    bool is_single; /* TOKEN_FLOAT: written 0f, value holds the 32 bits */
};

struct lexer {
    const char *at, *end;
    uint32_t line;
};

struct lexer lex_begin(const char *text, size_t len);
struct token lex_next(struct lexer *lexer);

bool token_is(struct token token, const char *word); /* TOKEN_WORD with exactly this text */
bool token_is_punct(struct token token, char c);

#endif

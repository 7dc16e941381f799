#include "harness/ptx/lex.h"

#include <stdlib.h>
#include <string.h>

struct lexer lex_begin(const char *text, size_t len)
{
    return (struct lexer){.at = text, .end = text + len, .line = 1};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word_start(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

static int hex_digit(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

static void skip_blanks(struct lexer *lexer)
{
    while (lexer->at < lexer->end) {
        const char *at = lexer->at;
        size_t left = (size_t)(lexer->end - at);
        if (*at == '\n') {
            lexer->line++;
            lexer->at++;
        } else if (*at == ' ' || *at == '\t' || *at == '\r' || *at == '\f' || *at == '\v' || !*at) {
            lexer->at++; /* NUL: some producers count it into the length */
        } else if (left >= 2 && at[0] == '/' && at[1] == '/') {
            while (lexer->at < lexer->end && *lexer->at != '\n')
                lexer->at++;
        } else if (left >= 2 && at[0] == '/' && at[1] == '*') {
            lexer->at += 2;
            while (lexer->at < lexer->end &&
                   !(lexer->end - lexer->at >= 2 && lexer->at[0] == '*' && lexer->at[1] == '/')) {
                if (*lexer->at == '\n')
                    lexer->line++;
                lexer->at++;
            }
            lexer->at = lexer->end - lexer->at >= 2 ? lexer->at + 2 : lexer->end;
        } else {
            return;
        }
    }
}

/* A word runs over letters, digits, _ $ % and dots, and over :: inside it (shared::cta, L2::128B).
 */
static void lex_word(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at;
    bool directive = *at == '.';
    while (at < lexer->end) {
        if (directive && at > lexer->at && *at == '.')
            break;
        if (is_word_start(*at) || is_digit(*at))
            at++;
        else if (lexer->end - at >= 3 && at[0] == ':' && at[1] == ':' &&
                 (is_word_start(at[2]) || is_digit(at[2])))
            at += 2;
        else
            break;
    }
    token->kind = TOKEN_WORD;
    token->len = (size_t)(at - token->text);
    lexer->at = at;
}

static bool lex_hex_float(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at;
    if (lexer->end - at < 2 || at[0] != '0' || !strchr("fFdD", at[1]))
        return false;
    int digits = at[1] == 'f' || at[1] == 'F' ? 8 : 16;
    if (lexer->end - at < digits + 2)
        return false;
    uint64_t value = 0;
    for (int i = 0; i < digits; i++) {
        int digit = hex_digit(at[2 + i]);
        if (digit < 0)
            return false;
        value = value << 4 | (uint64_t)digit;
    }
    token->kind = TOKEN_FLOAT;
    token->value = value;
    token->is_single = digits == 8;
    lexer->at = at + 2 + digits;
    return true;
}

static void lex_integer(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at;
    unsigned base = 10;
    if (lexer->end - at >= 3 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) {
        base = 16;
        at += 2;
    } else if (lexer->end - at >= 3 && at[0] == '0' && (at[1] == 'b' || at[1] == 'B')) {
        base = 2;
        at += 2;
    } else if (at[0] == '0') {
        base = 8;
    }
    uint64_t value = 0;
    while (at < lexer->end) {
        int digit = hex_digit(*at);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        value = value * base + (uint64_t)digit;
        at++;
    }
    if (at < lexer->end && (*at == 'U' || *at == 'u'))
        at++;
    token->kind = TOKEN_INT;
    token->value = value;
    lexer->at = at;
}

/* Decimal floating point, 1.5 or 2e-3; false when it is an integer. */
static bool lex_decimal_float(struct lexer *lexer, struct token *token)
{
    char copy[64];
    size_t len = 0;
    const char *at = lexer->at;
    bool is_float = false;
    while (at < lexer->end && len < sizeof copy - 1) {
        bool sign = (*at == '+' || *at == '-') && len && (copy[len - 1] | 32) == 'e';
        if (!is_digit(*at) && *at != '.' && (*at | 32) != 'e' && !sign)
            break;
        is_float |= !is_digit(*at);
        copy[len++] = *at++;
    }
    copy[len] = '\0';
    char *stop;
    double value = strtod(copy, &stop);
    if (!is_float || stop == copy)
        return false;
    token->kind = TOKEN_FLOAT;
    memcpy(&token->value, &value, sizeof value);
    lexer->at += stop - copy;
    return true;
}

static void lex_number(struct lexer *lexer, struct token *token)
{
    if (lex_hex_float(lexer, token))
        return;
    bool prefixed = lexer->end - lexer->at >= 2 && lexer->at[0] == '0' &&
                    strchr("xXbB", lexer->at[1]) != NULL && lexer->at[1];
    if (prefixed || !lex_decimal_float(lexer, token))
        lex_integer(lexer, token);
    token->len = (size_t)(lexer->at - token->text);
    if (lexer->at < lexer->end && is_word_start(*lexer->at)) {
        lex_word(lexer, token); /* 12abc: one bad token, not two good ones */
        token->kind = TOKEN_BAD;
    }
}

static void lex_string(struct lexer *lexer, struct token *token)
{
    const char *at = lexer->at + 1;
    while (at < lexer->end && *at != '"' && *at != '\n') {
        if (*at == '\\' && lexer->end - at >= 2 && at[1] != '\n')
            at++;
        at++;
    }
    bool closed = at < lexer->end && *at == '"';
    token->kind = closed ? TOKEN_STRING : TOKEN_BAD;
    token->text = lexer->at + 1;
    token->len = (size_t)(at - token->text);
    lexer->at = closed ? at + 1 : at;
}

struct token lex_next(struct lexer *lexer)
{
    skip_blanks(lexer);
    struct token token = {.text = lexer->at, .line = lexer->line};
    if (lexer->at >= lexer->end)
        return token;
    char c = *lexer->at;
    if (is_digit(c)) {
        lex_number(lexer, &token);
    } else if (is_word_start(c)) {
        lex_word(lexer, &token);
    } else if (c == '"') {
        lex_string(lexer, &token);
    } else {
        bool known = strchr("{}()[]<>,;:@!|+-*/=&^~?", c) != NULL;
        token.kind = known ? TOKEN_PUNCT : TOKEN_BAD;
        token.punct = c;
        token.len = 1;
        lexer->at++;
    }
    return token;
}

bool token_is(struct token token, const char *word)
{
    return token.kind == TOKEN_WORD && strlen(word) == token.len &&
           !memcmp(token.text, word, token.len);
}

bool token_is_punct(struct token token, char c)
{
    return token.kind == TOKEN_PUNCT && token.punct == c;
}

/* Matching an opcode against the patterns of ops.def. A pattern is a list of elements; an optional
 * one that fits is tried taken first, then skipped. */
#include "harness/ptx/forms.h"

#include "harness/ptx/handlers.h"

#include <stdio.h>
#include <string.h>

const struct form forms[] = {
#define F(pattern, operands, handler, kind, rule, value)                                           \
    {pattern, operands, H_##handler, PTX_KIND_##kind, RULE_##rule, value},
#include "harness/ptx/ops.def"
#undef F
};
const size_t form_count = sizeof forms / sizeof *forms;

/* One element of a pattern: an exact word, or the alternatives between its brackets. */
struct element {
    const char *choices; /* behind the innermost bracket, or the word */
    size_t len;
    bool optional, captured;
};

/* Takes the next element off a pattern; false at its end. */
static bool next_element(const char **pattern, struct element *out)
{
    const char *at = *pattern;
    if (!*at)
        return false;
    *out = (struct element){0};
    const char *end = at;
    int depth = 0;
    while (*end && (depth || *end != '.')) {
        depth += *end == '[' || *end == '{' || *end == '<';
        depth -= *end == ']' || *end == '}' || *end == '>';
        end++;
    }
    *pattern = *end ? end + 1 : end;
    if (*at == '[') {
        out->optional = true;
        at++;
        end--;
    }
    if (*at == '<' || *at == '{') {
        out->captured = *at == '<';
        at++;
        end--;
    }
    out->choices = at;
    out->len = (size_t)(end - at);
    return true;
}

/* Number of the alternative that equals the word, -1 for none; '-' holds a number's place only. */
static int choose(const struct element *element, const struct form_word *word)
{
    const char *at = element->choices, *end = at + element->len;
    for (int number = 0; at < end; number++) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t len = (size_t)((comma ? comma : end) - at);
        if (len == word->len && !memcmp(at, word->text, len) && *at != '-')
            return number;
        at += len + 1;
    }
    return -1;
}

struct captures {
    uint8_t value[2];
    unsigned count;
};

static bool match(const char *pattern, const struct form_match *m, unsigned word,
                  struct captures captures, struct captures *out)
{
    struct element element;
    if (!next_element(&pattern, &element)) {
        *out = captures;
        return word == m->word_count;
    }
    int number = word < m->word_count ? choose(&element, &m->words[word]) : -1;
    struct captures with = captures;
    if (element.captured && with.count < 2)
        with.value[with.count++] = (uint8_t)(number + element.optional);
    if (number >= 0 && match(pattern, m, word + 1, with, out))
        return true;
    if (!element.optional)
        return false;
    if (element.captured && captures.count < 2)
        captures.value[captures.count++] = 0;
    return match(pattern, m, word, captures, out);
}

static bool split(struct form_match *out, const char *opcode)
{
    out->word_count = 0;
    while (*opcode) {
        size_t len = strcspn(opcode, ".");
        if (out->word_count == FORM_MAX_WORDS)
            return false;
        out->words[out->word_count++] = (struct form_word){opcode, len};
        opcode += len;
        if (*opcode == '.' && !*++opcode)
            return false;
    }
    return out->word_count > 0;
}

bool form_find(struct form_match *out, const char *opcode)
{
    *out = (struct form_match){0};
    if (!split(out, opcode))
        return false;
    size_t base = out->words[0].len;
    for (size_t i = 0; i < form_count; i++) {
        const char *pattern = forms[i].pattern;
        struct captures captures = {0};
        if (strncmp(pattern, opcode, base) || (pattern[base] && pattern[base] != '.'))
            continue;
        if (!match(pattern, out, 0, (struct captures){0}, &captures))
            continue;
        out->form = &forms[i];
        out->captured = captures.count > 0;
        out->mode = out->captured ? captures.value[0] : forms[i].value;
        out->mode2 = captures.value[1];
        return true;
    }
    return false;
}

bool form_has(const struct form_match *match, const char *word)
{
    size_t len = strlen(word);
    for (unsigned i = 0; i < match->word_count; i++) {
        if (match->words[i].len == len && !memcmp(match->words[i].text, word, len))
            return true;
    }
    return false;
}

static bool expand(const char *pattern, char *text, size_t len, size_t size,
                   bool (*visit)(const char *, void *), void *context)
{
    struct element element;
    if (!next_element(&pattern, &element))
        return visit(text, context);
    if (element.optional && !expand(pattern, text, len, size, visit, context))
        return false;
    const char *at = element.choices, *end = at + element.len;
    while (at < end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        size_t word = (size_t)((comma ? comma : end) - at);
        if (!(word == 1 && *at == '-')) {
            int more = snprintf(text + len, size - len, "%s%.*s", len ? "." : "", (int)word, at);
            bool ok = more > 0 && (size_t)more < size - len;
            if (!ok || !expand(pattern, text, len + (size_t)more, size, visit, context))
                return false;
            text[len] = '\0';
        }
        at += word + 1;
    }
    return true;
}

bool form_expand(const char *pattern, bool (*visit)(const char *, void *), void *context)
{
    char text[256] = "";
    return expand(pattern, text, 0, sizeof text, visit, context);
}

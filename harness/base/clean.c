#include "clean.h"

#include <string.h>

enum { REPLACEMENT = 0xFFFD, ESC = 0x1B, BEL = 0x07, ST = 0x9C };

/* Bytes of the sequence that `lead` starts, and the range of the byte after it: the range is what
 * keeps overlong forms, surrogates and code points past U+10FFFF out. */
static size_t sequence_len(unsigned char lead, unsigned char *low, unsigned char *high)
{
    *low = 0x80;
    *high = 0xBF;
    if (lead < 0x80)
        return 1;
    if (lead >= 0xC2 && lead <= 0xDF)
        return 2;
    if (lead >= 0xE0 && lead <= 0xEF) {
        *low = lead == 0xE0 ? 0xA0 : 0x80;
        *high = lead == 0xED ? 0x9F : 0xBF;
        return 3;
    }
    if (lead >= 0xF0 && lead <= 0xF4) {
        *low = lead == 0xF0 ? 0x90 : 0x80;
        *high = lead == 0xF4 ? 0x8F : 0xBF;
        return 4;
    }
    return 0;
}

size_t utf8_decode(uint32_t *code, const char *text, size_t len)
{
    const unsigned char *bytes = (const unsigned char *)text;
    unsigned char low, high;
    size_t want = sequence_len(bytes[0], &low, &high);
    *code = REPLACEMENT;
    if (want == 0)
        return 1;
    if (want == 1) {
        *code = bytes[0];
        return 1;
    }
    uint32_t value = bytes[0] & (0x7Fu >> want);
    for (size_t i = 1; i < want; i++) {
        if (i == len || bytes[i] < low || bytes[i] > high)
            return i;
        value = value << 6 | (bytes[i] & 0x3Fu);
        low = 0x80;
        high = 0xBF;
    }
    *code = value;
    return want;
}

size_t utf8_encode(char out[4], uint32_t code)
{
    if (code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
        code = REPLACEMENT;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    size_t len = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    for (size_t i = len; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)((0xF00u >> len & 0xF0u) | code);
    return len;
}

size_t utf8_whole(const char *text, size_t len)
{
    for (size_t back = 1; back <= 3 && back <= len; back++) {
        unsigned char byte = (unsigned char)text[len - back], low, high;
        if ((byte & 0xC0) == 0x80)
            continue;
        return sequence_len(byte, &low, &high) > back ? len - back : len;
    }
    return len;
}

/* Past the parameters, intermediates and final byte of a control sequence. A byte that can't belong
 * to it ends it and is left for the caller. */
static size_t skip_csi(const char *text, size_t len, size_t at)
{
    while (at < len && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] <= 0x3F)
        at++;
    if (at < len && (unsigned char)text[at] >= 0x40 && (unsigned char)text[at] <= 0x7E)
        at++;
    return at;
}

/* Past a control string (OSC, DCS, ...): up to BEL, ST, or what shows that it was never ended. */
static size_t skip_string(const char *text, size_t len, size_t at)
{
    while (at < len) {
        unsigned char c = (unsigned char)text[at];
        if (c == BEL)
            return at + 1;
        if (c == ESC)
            return at + 1 < len && text[at + 1] == '\\' ? at + 2 : at;
        if (c == 0xC2 && at + 1 < len && (unsigned char)text[at + 1] == ST)
            return at + 2;
        if (c == '\n' || c == '\r')
            return at;
        at++;
    }
    return at;
}

/* Past an escape sequence; `at` is behind the ESC. */
static size_t skip_escape(const char *text, size_t len, size_t at)
{
    if (at == len)
        return at;
    switch (text[at]) {
    case '[':
        return skip_csi(text, len, at + 1);
    case ']':
    case 'P':
    case 'X':
    case '^':
    case '_':
        return skip_string(text, len, at + 1);
    default:
        break;
    }
    while (at < len && (unsigned char)text[at] >= 0x20 && (unsigned char)text[at] <= 0x2F)
        at++;
    if (at < len && (unsigned char)text[at] >= 0x30 && (unsigned char)text[at] <= 0x7E)
        at++;
    return at;
}

/* What becomes of a character above ASCII: itself, another, or 0 for nothing. */
static uint32_t fate(uint32_t code)
{
    static const struct {
        uint32_t first, last, becomes;
    } table[] = {
        {0x00AD, 0x00AD, 0},           /* soft hyphen */
        {0x034F, 0x034F, 0},           /* grapheme joiner */
        {0x061C, 0x061C, 0},           /* direction mark */
        {0x115F, 0x1160, 0},           /* Hangul fillers */
        {0x17B4, 0x17B5, 0},           /* inherent vowels, never shown */
        {0x180B, 0x180F, 0},           /* Mongolian selectors */
        {0x200B, 0x200F, 0},           /* zero-width space and joiners, direction marks */
        {0x2028, 0x2029, '\n'},        /* line and paragraph separator */
        {0x202A, 0x202E, REPLACEMENT}, /* bidirectional embeddings and overrides */
        {0x2060, 0x2065, 0},           /* invisible operators */
        {0x2066, 0x2069, REPLACEMENT}, /* bidirectional isolates */
        {0x206A, 0x206F, 0},           /* deprecated formats */
        {0x3164, 0x3164, 0},           /* Hangul filler */
        {0xFDD0, 0xFDEF, REPLACEMENT}, /* noncharacters */
        {0xFE00, 0xFE0F, 0},           /* variation selectors */
        {0xFEFF, 0xFEFF, 0},           /* byte order mark */
        {0xFFA0, 0xFFA0, 0},           /* Hangul filler */
        {0xFFF0, 0xFFFB, 0},           /* interlinear annotation */
        {0xFFFE, 0xFFFF, REPLACEMENT}, /* noncharacters */
        {0x1BCA0, 0x1BCA3, 0},         /* shorthand formats */
        {0x1D173, 0x1D17A, 0},         /* musical formats */
        {0x1F3FB, 0x1F3FF, 0},         /* skin tones */
        {0xE0000, 0xE0FFF, 0},         /* tags and more selectors */
    };
    if (code < 0xA0)
        return 0;
    if (code >= 0x1FFFE && (code & 0xFFFE) == 0xFFFE)
        return REPLACEMENT;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (code <= table[i].last)
            return code >= table[i].first ? table[i].becomes : code;
    return code;
}

/* Past the control character `code` that ends before `at`. */
static size_t skip_control(uint32_t code, const char *text, size_t len, size_t at)
{
    switch (code) {
    case ESC:
        return skip_escape(text, len, at);
    case 0x9B:
        return skip_csi(text, len, at);
    case 0x90:
    case 0x98:
    case 0x9D:
    case 0x9E:
    case 0x9F:
        return skip_string(text, len, at);
    default:
        return at;
    }
}

void clean_text(struct buf *out, const char *text, size_t len)
{
    size_t at = 0;
    while (at < len) {
        size_t plain = at;
        while (plain < len && ((text[plain] >= 0x20 && text[plain] <= 0x7E) ||
                               text[plain] == '\n' || text[plain] == '\t'))
            plain++;
        if (plain > at) {
            buf_add(out, text + at, plain - at);
            at = plain;
            continue;
        }
        uint32_t code;
        at += utf8_decode(&code, text + at, len - at);
        if (code < 0x20 || (code >= 0x7F && code < 0xA0)) {
            if (code == '\r' && !(at < len && text[at] == '\n'))
                buf_add_char(out, '\n');
            at = skip_control(code, text, len, at);
            continue;
        }
        uint32_t kept = fate(code);
        char bytes[4];
        if (kept)
            buf_add(out, bytes, utf8_encode(bytes, kept));
    }
}

void clean_line(struct buf *out, const char *text, size_t len)
{
    struct buf clean = {0};
    clean_text(&clean, text, len);
    size_t from = 0, to = clean.len;
    for (size_t i = 0; i < clean.len; i++)
        if (clean.data[i] == '\n' || clean.data[i] == '\t')
            clean.data[i] = ' ';
    while (from < to && clean.data[from] == ' ')
        from++;
    while (to > from && clean.data[to - 1] == ' ')
        to--;
    buf_add(out, clean.data ? clean.data + from : "", to - from);
    buf_free(&clean);
}

bool clean_is(const char *text, size_t len)
{
    struct buf clean = {0};
    clean_text(&clean, text, len);
    bool same = clean.len == len && (len == 0 || memcmp(clean.data, text, len) == 0);
    buf_free(&clean);
    return same;
}

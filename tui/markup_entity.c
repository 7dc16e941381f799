#include "markup_entity.h"

#include "harness/base/clean.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t entity_code(const char *text, size_t len)
{
    static const struct {
        const char *name;
        uint32_t code;
    } names[] = {
        {"&amp;", '&'},       {"&lt;", '<'},       {"&gt;", '>'},       {"&quot;", '"'},
        {"&apos;", '\''},     {"&nbsp;", 0xA0},    {"&times;", 0xD7},   {"&divide;", 0xF7},
        {"&minus;", 0x2212},  {"&plusmn;", 0xB1},  {"&deg;", 0xB0},     {"&micro;", 0xB5},
        {"&mu;", 0x3BC},      {"&le;", 0x2264},    {"&ge;", 0x2265},    {"&ne;", 0x2260},
        {"&asymp;", 0x2248},  {"&rarr;", 0x2192},  {"&larr;", 0x2190},  {"&rArr;", 0x21D2},
        {"&hellip;", 0x2026}, {"&mdash;", 0x2014}, {"&ndash;", 0x2013}, {"&middot;", 0xB7},
        {"&copy;", 0xA9},     {"&radic;", 0x221A}, {"&sum;", 0x2211},   {"&infin;", 0x221E},
        {"&Sigma;", 0x3A3},   {"&alpha;", 0x3B1},  {"&beta;", 0x3B2},   {"&lambda;", 0x3BB}};
    if (len > 3 && text[1] == '#') {
        bool hex = text[2] == 'x' || text[2] == 'X';
        unsigned long code = strtoul(text + (hex ? 3 : 2), NULL, hex ? 16 : 10);
        return code && code <= 0x10FFFF ? (uint32_t)code : 0xFFFD;
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == len && memcmp(names[i].name, text, len) == 0)
            return names[i].code;
    return 0;
}

/* An entity may name any character, so what it names is cleaned like everything else. */
void markup_add_entity(struct buf *out, const char *text, size_t len)
{
    char bytes[4], name[16];
    if (len < sizeof name) {
        memcpy(name, text, len);
        name[len] = '\0';
        uint32_t code = entity_code(name, len);
        if (code) {
            clean_line(out, bytes, utf8_encode(bytes, code));
            return;
        }
    }
    buf_add(out, text, len);
}

/* The integer half of the oracle: arithmetic, logic, shifts, bit fields, comparisons of integers.
 */
#ifndef STRIDE_TESTS_PTX_ORACLE_INT_H
#define STRIDE_TESTS_PTX_ORACLE_INT_H

#include "tests/ptx/oracle.h"

static inline uint64_t low_bits(u128 x, unsigned bits)
{
    return bits >= 64 ? (uint64_t)x : (uint64_t)x & ((1ull << bits) - 1);
}

static inline i128 number(uint64_t x, struct kind k)
{
    x = low_bits(x, k.bits);
    if (k.letter == 's' && x >> (k.bits - 1) & 1)
        return (i128)x - ((i128)1 << k.bits);
    return (i128)x;
}

static inline i128 clamp_to(i128 x, i128 low, i128 high)
{
    return x < low ? low : x > high ? high : x;
}

static inline i128 lowest_of(struct kind k)
{
    return k.letter == 's' ? -((i128)1 << (k.bits - 1)) : 0;
}

static inline i128 highest_of(struct kind k)
{
    return ((i128)1 << (k.bits - (k.letter == 's'))) - 1;
}

/* One sum or product with its carry: x is exact, `bits` are kept. */
static inline bool carried(const struct form_match *m, i128 exact, unsigned bits,
                           struct want out[3])
{
    out[0] = exactly(low_bits((u128)exact, bits));
    if (says(m, "cc"))
        out[1] = exactly((uint64_t)(exact >> bits) & 1);
    return true;
}

static inline bool int_carry(const struct form_match *m, struct kind k, const uint64_t *in,
                             struct want out[3])
{
    bool reads = word_eq(m, 0, "addc") || word_eq(m, 0, "subc") || word_eq(m, 0, "madc");
    bool mad = m->words[0].text[0] == 'm', sub = m->words[0].text[0] == 's';
    i128 carry = reads && (uint32_t)in[mad ? 3 : 2] != 0;
    struct kind u = {'u', k.bits, false};
    if (!mad)
        return carried(m, number(in[0], u) + (sub ? -1 : 1) * (number(in[1], u) + carry), k.bits,
                       out);
    u128 product = (u128)number(in[0], k) * (u128)number(in[1], k);
    uint64_t part = low_bits(says(m, "hi") ? product >> k.bits : product, k.bits);
    return carried(m, (i128)part + number(in[2], u) + carry, k.bits, out);
}

/* mul, mad: the product's low, high or whole part. */
static inline bool int_multiply(const struct form_match *m, struct kind k, const uint64_t *in,
                                bool add, struct want out[3])
{
    u128 product = (u128)number(in[0], k) * (u128)number(in[1], k);
    unsigned bits = says(m, "wide") ? 2 * k.bits : k.bits;
    i128 part = (i128)(says(m, "hi")
                           ? (k.letter == 's' ? (u128)((i128)product >> k.bits) : product >> k.bits)
                           : product);
    if (add && says(m, "sat")) {
        i128 sum = number((uint64_t)part, k) + number(in[2], k);
        out[0] = exactly(low_bits((u128)clamp_to(sum, lowest_of(k), highest_of(k)), bits));
        return true;
    }
    out[0] = exactly(low_bits((u128)part + (add ? in[2] : 0), bits));
    return true;
}

static inline bool int_multiply24(const struct form_match *m, struct kind k, const uint64_t *in,
                                  bool add, struct want out[3])
{
    struct kind narrow = {k.letter, 24, false};
    i128 product = number(in[0], narrow) * number(in[1], narrow);
    if (says(m, "hi"))
        product >>= 16;
    out[0] = exactly(low_bits((u128)product + (add ? in[2] : 0), 32));
    return true;
}

static inline bool int_arithmetic(const struct form_match *m, const char *name, struct kind k,
                                  const uint64_t *in, struct want out[3])
{
    i128 a = number(in[0], k), b = number(in[1], k), r;
    if (!strcmp(name, "add") || !strcmp(name, "sub")) {
        r = name[0] == 'a' ? a + b : a - b;
        if (says(m, "sat"))
            r = clamp_to(r, lowest_of(k), highest_of(k));
    } else if (!strcmp(name, "div") || !strcmp(name, "rem")) {
        if (!b) {
            out[0].kind = WANT_ANY;
            return true;
        }
        r = name[0] == 'd' ? a / b : a % b;
    } else if (!strcmp(name, "min")) {
        r = a < b ? a : b;
    } else if (!strcmp(name, "max")) {
        r = a > b ? a : b;
    } else if (!strcmp(name, "abs")) {
        r = a < 0 ? -a : a;
    } else if (!strcmp(name, "neg")) {
        r = -a;
    } else if (!strcmp(name, "sad")) {
        r = number(in[2], k) + (a > b ? a - b : b - a);
    } else {
        return false;
    }
    out[0] = exactly(low_bits((u128)r, k.bits));
    return true;
}

static inline uint64_t reversed(uint64_t x, unsigned bits)
{
    uint64_t r = 0;
    for (unsigned i = 0; i < bits; i++)
        r |= (x >> i & 1) << (bits - 1 - i);
    return r;
}

static inline bool int_logic(const char *name, struct kind k, const uint64_t *in,
                             struct want out[3])
{
    uint64_t a = low_bits(in[0], k.bits), b = low_bits(in[1], k.bits), r;
    uint64_t shift = (uint32_t)in[1];
    i128 wide = number(in[0], k);
    if (!strcmp(name, "and"))
        r = a & b;
    else if (!strcmp(name, "or"))
        r = a | b;
    else if (!strcmp(name, "xor"))
        r = a ^ b;
    else if (!strcmp(name, "not"))
        r = ~a;
    else if (!strcmp(name, "cnot"))
        r = !a;
    else if (!strcmp(name, "shl"))
        r = shift >= k.bits ? 0 : a << shift;
    else if (!strcmp(name, "shr"))
        r = (uint64_t)(wide >> (shift > 100 ? 100 : shift));
    else if (!strcmp(name, "brev"))
        r = reversed(a, k.bits);
    else
        return false;
    if (k.letter == 'p')
        r &= 1;
    out[0] = exactly(low_bits(r, k.bits));
    return true;
}

static inline bool int_bits(const struct form_match *m, const char *name, struct kind k,
                            const uint64_t *in, struct want out[3])
{
    uint64_t a = low_bits(in[0], k.bits), r = 0;
    unsigned length;
    if (!strcmp(name, "popc")) {
        for (unsigned i = 0; i < k.bits; i++)
            r += a >> i & 1;
    } else if (!strcmp(name, "clz")) {
        while (r < k.bits && !(a >> (k.bits - 1 - r) & 1))
            r++;
    } else if (!strcmp(name, "bfind")) {
        i128 x = number(in[0], k);
        uint64_t y = low_bits((u128)(x < 0 ? ~x : x), k.bits);
        r = UINT32_MAX;
        for (unsigned i = 0; i < k.bits; i++)
            r = y >> i & 1 ? i : r;
        if (says(m, "shiftamt") && r != UINT32_MAX)
            r = k.bits - 1 - r;
    } else if (!strcmp(name, "bfe")) {
        unsigned at = in[1] & 255;
        length = in[2] & 255;
        unsigned sign_at = at + length - 1 < k.bits - 1 ? at + length - 1 : k.bits - 1;
        bool sign = k.letter == 's' && length && a >> sign_at & 1;
        for (unsigned i = 0; i < k.bits; i++)
            r |= (uint64_t)(i < length && at + i < k.bits ? a >> (at + i) & 1 : sign) << i;
    } else if (!strcmp(name, "bfi")) {
        unsigned at = in[2] & 255;
        length = in[3] & 255;
        r = low_bits(in[1], k.bits);
        for (unsigned i = 0; i < length && at + i < k.bits; i++)
            r = (r & ~(1ull << (at + i))) | (a >> i & 1) << (at + i);
    } else {
        return false;
    }
    out[0] = exactly(r);
    return true;
}

static inline uint32_t dot(const struct form_match *m, const uint64_t *in)
{
    struct kind ka = kind_of(m, m->word_count - 2), kb = kind_of(m, m->word_count - 1);
    bool two = word_eq(m, 0, "dp2a");
    unsigned bits = two ? 16 : 8, skip = says(m, "hi") ? 16 : 0;
    struct kind a = {ka.letter, bits, false}, b = {kb.letter, 8, false};
    i128 sum = (i128)(uint32_t)in[2];
    for (unsigned i = 0; i < (two ? 2u : 4u); i++)
        sum += number(in[0] >> (i * bits), a) * number(in[1] >> (skip + i * 8), b);
    return (uint32_t)sum;
}

static inline uint32_t permuted(const struct form_match *m, uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t both = a | (uint64_t)b << 32;
    static const char *const names[] = {"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"};
    unsigned from[4], n = c & 3;
    uint32_t r = 0;
    for (unsigned i = 0; i < 4; i++)
        from[i] = c >> (4 * i) & 15;
    for (unsigned w = 0; w < 6; w++) {
        for (unsigned i = 0; i < 4 && says(m, names[w]); i++)
            from[i] = w == 0   ? n + i
                      : w == 1 ? (n - i) & 7
                      : w == 2 ? n
                      : w == 3 ? (i > n ? i : n)
                      : w == 4 ? (i < n ? i : n)
                               : (i & 1) | (n & 1) << 1;
    }
    for (unsigned i = 0; i < 4; i++) {
        uint32_t byte = both >> (8 * (from[i] & 7)) & 255;
        r |= (from[i] & 8 ? (byte & 128 ? 255 : 0) : byte) << (8 * i);
    }
    return r;
}

static inline uint32_t nth_bit(uint32_t mask, uint32_t base, int32_t offset)
{
    int step = offset < 0 ? -1 : 1;
    int64_t left = offset < 0 ? -(int64_t)offset : offset;
    if (base > 31)
        return UINT32_MAX;
    for (int i = (int)base; i >= 0 && i < 32; i += step) {
        if (!(mask >> i & 1))
            continue;
        if (left <= 1)
            return !left && i != (int)base ? UINT32_MAX : (uint32_t)i;
        left--;
    }
    return UINT32_MAX;
}

static inline bool int_words(const struct form_match *m, const char *name, const uint64_t *in,
                             struct want out[3])
{
    uint32_t a = (uint32_t)in[0], b = (uint32_t)in[1], c = (uint32_t)in[2], r = 0;
    bool wrap = says(m, "wrap");
    uint32_t shift = wrap ? c & 31 : c > 32 ? 32 : c;
    if (!strcmp(name, "shf")) {
        uint64_t both = a | (uint64_t)b << 32;
        r = says(m, "l") ? (uint32_t)((shift >= 32 ? (u128)both << 32 : (u128)both << shift) >> 32)
                         : (uint32_t)(both >> shift);
    } else if (!strcmp(name, "lop3")) {
        for (unsigned i = 0; i < 32; i++) {
            unsigned row = (a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1);
            r |= (uint32_t)(in[3] >> row & 1) << i;
        }
    } else if (!strcmp(name, "prmt")) {
        r = permuted(m, a, b, c);
    } else if (!strncmp(name, "dp", 2)) {
        r = dot(m, in);
    } else if (!strcmp(name, "bmsk")) {
        uint32_t at = wrap ? a & 31 : a > 32 ? 32 : a, length = wrap ? b & 31 : b > 32 ? 32 : b;
        for (uint32_t i = at; i < at + length && i < 32; i++)
            r |= 1u << i;
    } else if (!strcmp(name, "szext")) {
        uint32_t bits = wrap ? b & 31 : b > 32 ? 32 : b;
        struct kind k = {says(m, "s32") ? 's' : 'u', bits, false};
        r = bits ? (uint32_t)number(a, k) : 0;
    } else if (!strcmp(name, "fns")) {
        r = nth_bit(a, b, (int32_t)c);
    } else {
        return false;
    }
    out[0] = exactly(r);
    return true;
}

/* Relation of two integers. */
static inline bool int_relation(const struct form_match *m, i128 a, i128 b)
{
    if (says(m, "eq"))
        return a == b;
    if (says(m, "ne"))
        return a != b;
    if (says(m, "lt") || says(m, "lo"))
        return a < b;
    if (says(m, "le") || says(m, "ls"))
        return a <= b;
    if (says(m, "gt") || says(m, "hi"))
        return a > b;
    return a >= b;
}

#endif

/* Comparing goes by blocks: where the bytes are equal and no NaN is wanted, the whole block is
 * right; only the others are looked at element by element. */
#include "compare.h"
#include "pattern.h"

#include "base/buf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ELEMENTS = 4096 };

static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0    ? ldexp(fraction, -24)
                   : exponent == 31 ? (fraction ? (double)NAN : (double)INFINITY)
                                    : ldexp(1024 + fraction, exponent - 25);
    return bits & 0x8000 ? -value : value;
}

double compare_value(enum lab_type type, const void *base, size_t index)
{
    switch (type) {
    case LAB_F32:
        return (double)((const float *)base)[index];
    case LAB_F64:
        return ((const double *)base)[index];
    case LAB_F16:
        return half_value(((const uint16_t *)base)[index]);
    case LAB_BF16: {
        uint32_t bits = (uint32_t)((const uint16_t *)base)[index] << 16;
        float value;
        memcpy(&value, &bits, sizeof value);
        return (double)value;
    }
    case LAB_I32:
        return ((const int32_t *)base)[index];
    case LAB_U32:
        return ((const uint32_t *)base)[index];
    case LAB_U64:
        return (double)((const uint64_t *)base)[index];
    }
    return (double)NAN;
}

static bool is_integer(enum lab_type type)
{
    return type == LAB_I32 || type == LAB_U32 || type == LAB_U64;
}

static bool same_bytes(const struct check_buffer *buffer, enum lab_type type, size_t index)
{
    size_t size = lab_type_bytes(type);
    return memcmp((const char *)buffer->got + index * size,
                  (const char *)buffer->want + index * size, size) == 0;
}

bool compare_right(const struct check_buffer *buffer, struct lab_tolerance tolerance, size_t index)
{
    enum lab_type type = buffer->shape->buffers[buffer->buffer].type;
    if (is_integer(type))
        return same_bytes(buffer, type, index);
    double got = compare_value(type, buffer->got, index);
    double want = compare_value(type, buffer->want, index);
    if (isinf(want))
        return got == want; /* inf - inf is no distance, and a tolerance of inf allows anything */
    return fabs(got - want) <= tolerance.absolute + tolerance.relative * fabs(want);
}

bool compare_unwritten(const struct check_buffer *buffer, size_t index)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    size_t size = lab_type_bytes(about->type);
    char poison[8];
    memcpy(poison, &buffer->poison, 4);
    memcpy(poison + 4, &buffer->poison, 4);
    return about->role == LAB_OUT &&
           memcmp((const char *)buffer->got + index * size, poison, size) == 0;
}

uint32_t check_poison(enum lab_type type, uint64_t launch)
{
    uint32_t mixed = (uint32_t)lab_mix(0x706f69736f6eu, launch);
    switch (type) {
    case LAB_F16: /* in each half a NaN of both 16-bit types */
    case LAB_BF16: {
        uint32_t half = 0x7f81u + mixed % 0x7eu;
        return half << 16 | half;
    }
    case LAB_F64: /* both words are the same, and as a double they are a NaN */
        return 0x7ff40000u | (mixed & 0x3ffffu);
    case LAB_F32: /* a signalling NaN: arithmetic never makes one */
        return 0x7fa00000u | (mixed & 0xfffffu);
    case LAB_I32:
    case LAB_U32:
    case LAB_U64:
        break;
    }
    return 0xa5000000u | (mixed & 0xffffffu);
}

/* Lanes of their own make vector code of it. */
int32_t compare_largest_bits(const void *base, size_t from, size_t to)
{
    const float *values = base;
    enum { LANES = 16 };
    int32_t lanes[LANES] = {0}, most = 0;
    for (; from + LANES <= to; from += LANES) {
        int32_t bits[LANES];
        memcpy(bits, values + from, sizeof bits);
        for (int j = 0; j < LANES; j++) {
            bits[j] &= INT32_MAX;
            lanes[j] = bits[j] > lanes[j] ? bits[j] : lanes[j];
        }
    }
    for (; from < to; from++) {
        int32_t bits;
        memcpy(&bits, values + from, sizeof bits);
        bits &= INT32_MAX;
        most = bits > most ? bits : most;
    }
    for (int j = 0; j < LANES; j++)
        most = lanes[j] > most ? lanes[j] : most;
    return most;
}

static bool wants_nan(enum lab_type type, const void *want, size_t from, size_t to)
{
    if (is_integer(type))
        return false;
    if (type == LAB_F32)
        return compare_largest_bits(want, from, to) > COMPARE_INFINITY_BITS;
    bool nan = false;
    for (size_t i = from; i < to; i++)
        nan |= isnan(compare_value(type, want, i));
    return nan;
}

static void compare_block(struct check_outcome *out, const struct check_buffer *buffer,
                          struct lab_tolerance tolerance, size_t from, size_t to)
{
    enum lab_type type = buffer->shape->buffers[buffer->buffer].type;
    for (size_t i = from; i < to; i++) {
        double got = compare_value(type, buffer->got, i);
        double want = compare_value(type, buffer->want, i);
        double error = got == want ? 0 : fabs(got - want);
        if (!(error <= out->max_error))
            out->max_error = isnan(out->max_error) ? out->max_error : error;
        if (compare_right(buffer, tolerance, i))
            continue;
        bool unwritten = compare_unwritten(buffer, i);
        if (unwritten)
            out->max_error = (double)NAN; /* also where the poison of an integer is a number */
        out->unwritten += unwritten;
        if (!out->wrong++)
            out->first = i;
    }
}

bool check_compare(struct check_outcome *out, const struct check_buffer *buffer)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    struct lab_tolerance tolerance = buffer->lab->tolerance(buffer->shape, buffer->buffer);
    size_t size = lab_type_bytes(about->type);
    *out = (struct check_outcome){.checked = about->count};
    for (size_t from = 0; from < about->count; from += BLOCK_ELEMENTS) {
        size_t to = from + BLOCK_ELEMENTS < about->count ? from + BLOCK_ELEMENTS : about->count;
        if (memcmp((const char *)buffer->got + from * size,
                   (const char *)buffer->want + from * size, (to - from) * size) != 0 ||
            wants_nan(about->type, buffer->want, from, to))
            compare_block(out, buffer, tolerance, from, to);
    }
    return out->wrong == 0;
}

static double largest_magnitude(enum lab_type type, const void *base, size_t count)
{
    double largest = 0;
    int32_t bits = type == LAB_F32 ? compare_largest_bits(base, 0, count) : COMPARE_INFINITY_BITS;
    if (bits <
        COMPARE_INFINITY_BITS) { /* the common case, without a function call for each element */
        float most;
        memcpy(&most, &bits, sizeof most);
        return (double)most;
    }
    for (size_t i = 0; i < count; i++) {
        double magnitude = fabs(compare_value(type, base, i));
        largest = magnitude > largest && isfinite(magnitude) ? magnitude : largest;
    }
    return largest;
}

double compare_allowance(const struct check_buffer *buffer)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    struct lab_tolerance tolerance = buffer->lab->tolerance(buffer->shape, buffer->buffer);
    if (tolerance.relative <= 0)
        return tolerance.absolute;
    return tolerance.absolute +
           tolerance.relative * largest_magnitude(about->type, buffer->want, about->count);
}

json_t *compare_json(double value)
{
    if (isnan(value))
        return json_string("nan");
    if (isinf(value))
        return json_string(value > 0 ? "inf" : "-inf");
    /* Reals are emitted with nine digits, which is one too few for a 32-bit number. */
    if (fabs(value) >= 1e9 && fabs(value) < 1e15 && value == floor(value))
        return json_integer((json_int_t)value);
    return json_real(value);
}

static json_t *three(const unsigned xyz[3])
{
    return json_pack("[I,I,I]", (json_int_t)xyz[0], (json_int_t)xyz[1], (json_int_t)xyz[2]);
}

json_t *check_mismatch(const struct check_buffer *buffer, const struct check_outcome *outcome)
{
    const struct lab_buffer *about = &buffer->shape->buffers[buffer->buffer];
    size_t i = outcome->first;
    json_t *got = compare_unwritten(buffer, i)
                      ? json_string("unwritten")
                      : compare_json(compare_value(about->type, buffer->got, i));
    json_t *mismatch = json_pack(
        "{s:s, s:I, s:o, s:o, s:I, s:I}", "buffer", about->name, "index", (json_int_t)i, "want",
        compare_json(compare_value(about->type, buffer->want, i)), "got", got, "wrong_count",
        (json_int_t)outcome->wrong, "checked_count", (json_int_t)outcome->checked);
    if (buffer->lab->locate) {
        struct lab_place place = buffer->lab->locate(buffer->shape, buffer->buffer, i);
        json_object_set_new(mismatch, "block", three(place.block));
        if (!place.any_thread)
            json_object_set_new(mismatch, "thread", three(place.thread));
        if (place.tile >= 0)
            json_object_set_new(mismatch, "tile", json_integer(place.tile));
        if (place.stage >= 0)
            json_object_set_new(mismatch, "stage", json_integer(place.stage));
    }
    char *pattern = outcome->sampled ? NULL : pattern_describe(buffer, outcome);
    if (pattern && *pattern)
        json_object_set_new(mismatch, "pattern", json_string(pattern));
    free(pattern);
    return mismatch;
}

/* Numbers to try instructions with: the edges of every format, small numbers, and noise. The same
 * sequence for the same seed.
 *
 * Nothing is owned.
 *
 * It does not know what an instruction does with them. */
#ifndef STRIDE_TESTS_PTX_VALUES_H
#define STRIDE_TESTS_PTX_VALUES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint64_t values_noise(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static inline uint64_t values_f32(uint64_t *state)
{
    static const uint32_t edges[] = {
        0,          0x80000000, 1,          0x80000001, 0x007fffff, 0x807fffff, 0x00800000,
        0x80800000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000,
        0x7f800001, 0x3f800000, 0xbf800000, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000,
        0x4f000000, 0xcf000000, 0x4f7fffff, 0x5f000000, 0xdf000000, 0x5f800000, 0x477fe000,
        0x477ff000, 0x33000000, 0x33000001, 0x38800000, 0x3f801000, 0x3f803000, 0x42c80000,
        0x437f0000, 0x43000000, 0xc3008000, 0x4b000001, 0x3effffff, 0x40490fdb};
    uint64_t x = values_noise(state);
    float f;
    uint32_t bits;
    switch (x & 7) {
    case 0:
    case 1:
        return edges[(x >> 8) % (sizeof edges / sizeof *edges)];
    case 2:
        return (uint32_t)(x >> 16);
    case 3:
        f = (float)((int64_t)(x >> 8) % 4096 - 2048) * 0.25f;
        break;
    case 4:
        f = ldexpf((float)(x >> 40) * 0x1p-24f + 1, (int)(x >> 8 & 31) - 16);
        break;
    case 5:
        f = (float)((double)(x >> 11) * 0x1p-53 * 6.28 - 3.14);
        break;
    default:
        f = ldexpf((float)(x >> 40) - 0x1p23f, (int)(x >> 8 & 63) - 40);
        break;
    }
    memcpy(&bits, &f, 4);
    return bits;
}

static inline uint64_t values_f64(uint64_t *state)
{
    static const uint64_t edges[] = {
        0,
        1ull << 63,
        1,
        0x000fffffffffffff,
        0x0010000000000000,
        0x7fefffffffffffff,
        0xffefffffffffffff,
        0x7ff0000000000000,
        0xfff0000000000000,
        0x7ff8000000000000,
        0x3ff0000000000000,
        0xbff0000000000000,
        0x3fe0000000000000,
        0x41dfffffffc00000,
        0x43e0000000000000,
        0xc3e0000000000000,
        0x43f0000000000000,
        0x47efffffe0000000,
        0x47effffff0000000,
        0x36a0000000000000,
        0x3810000000000000,
        0x3ff0000010000000,
        0x40effc0000000000,
    };
    uint64_t x = values_noise(state), bits;
    double f;
    switch (x & 3) {
    case 0:
        return edges[(x >> 8) % (sizeof edges / sizeof *edges)];
    case 1:
        return values_noise(state);
    case 2:
        f = ldexp((double)(int64_t)values_noise(state), (int)(x >> 8 & 127) - 100);
        break;
    default:
        f = (double)((int64_t)(x >> 8) % 4096 - 2048) * 0.5;
        break;
    }
    memcpy(&bits, &f, 8);
    return bits;
}

static inline uint64_t values_half(uint64_t *state, bool is_bfloat)
{
    static const uint16_t edges[2][18] = {
        {0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0xfe00, 0x7c01,
         0x3c00, 0xbc00, 0x3800, 0x4900, 0x3555},
        {0, 0x8000, 1, 0x8001, 0x7f, 0x80, 0x7f7f, 0xff7f, 0x7f80, 0xff80, 0x7fc0, 0xffc0, 0x7f81,
         0x3f80, 0xbf80, 0x3f00, 0x4120, 0x3eab}};
    uint64_t x = values_noise(state);
    if (x & 3)
        return x & 4 ? x >> 16 & 0xffff : (is_bfloat ? 0x3800 : 0x3000) + (x >> 16 & 0x8fff);
    return edges[is_bfloat][(x >> 8) % 18];
}

static inline uint64_t values_int(uint64_t *state, unsigned bits)
{
    uint64_t x = values_noise(state), y = values_noise(state);
    uint64_t all = bits >= 64 ? UINT64_MAX : (1ull << bits) - 1, top = all - (all >> 1);
    const uint64_t edges[] = {
        0, 1, all, all - 1, top, top - 1, top + 1, 0x7fffff, 0xffffffff80000000, 0xffffffff};
    switch (x & 7) {
    case 0:
    case 1:
        return edges[(x >> 8) % (sizeof edges / sizeof *edges)] & all;
    case 2:
        return (x >> 8) % 72 & all;
    case 3:
        return -((x >> 8) % 72) & all;
    case 4:
        return (y >> (x >> 8 & 63)) & all;
    default:
        return y & all;
    }
}

#endif

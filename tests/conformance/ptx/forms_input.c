// SPDX-License-Identifier: Apache-2.0
/* The inputs of a form: corner values of its types, crossed, then seeded random ones. The
 * most telling corners come first, since two inputs cross 14 of them and three cross 6.
 */
#include "forms.h"

#include <string.h>

static const uint64_t corners_u64[] = {0,
                                       1,
                                       ~0ull,
                                       0x8000000000000000ull,
                                       0x7fffffffffffffffull,
                                       2,
                                       0xffffffff,
                                       0x80000000,
                                       0x7fffffff,
                                       0xffffffff80000000ull,
                                       0x100000000ull,
                                       3,
                                       0xfffffffeull,
                                       0x8000000000000001ull,
                                       7,
                                       10,
                                       0xff,
                                       0x80,
                                       0x7f,
                                       0x8000,
                                       0x7fff,
                                       0xffff,
                                       0x10000,
                                       0xffffff,
                                       0x1000000,
                                       0xaaaaaaaaaaaaaaaaull,
                                       0x5555555555555555ull,
                                       0x00ff00ff00ff00ffull,
                                       0x0123456789abcdefull,
                                       0x1fffffffffffffull,
                                       0x20000000000001ull,
                                       0xfffffffffffffc00ull,
                                       0x7ffffffffffffdffull,
                                       0x8000000080000000ull};
static const uint32_t corners_u32[] = {
    0,          1,          0xffffffff, 0x80000000, 0x7fffffff, 2,          0x80000001,
    0x7ffffffe, 0xffff,     0x10000,    0x8000,     0x7fff,     0xfffffffe, 3,
    7,          10,         0xff,       0x80,       0x7f,       0x100,      0xffff8000,
    0xffffff80, 0xffffff,   0x1000000,  0x800000,   0x1000001,  0xaaaaaaaa, 0x55555555,
    0x00ff00ff, 0x01234567, 0x89abcdef, 0xfffeffff, 0x7fff8000, 0x80007fff, 0x12345678};
static const uint16_t corners_u16[] = {
    0,    1,      0xffff, 0x8000, 0x7fff, 2,      0x8001, 0x7ffe, 0xff,   0x100,  0x80,
    0x7f, 0xfffe, 3,      7,      10,     0xff80, 0xff00, 0xaaaa, 0x5555, 0x1234, 0x9abc};
static const uint32_t corners_f32[] = {
    0x00000000, 0x3f800000, 0x7fc00000, 0x80000000, 0xbf800000, 0x7f800000, 0xff800000,
    0x00000001, 0x807fffff, 0x00800000, 0x7f7fffff, 0x3f800001, 0x33800000, 0x4b800001,
    0x3f000000, 0x3fc00000, 0x40200000, 0xbf000000, 0xbfc00000, 0xff7fffff, 0x80800000,
    0x80000001, 0x007fffff, 0xffc00000, 0x7f800001, 0x4f000000, 0xcf000000, 0x4effffff,
    0x4f800000, 0x4f7fffff, 0x5f000000, 0xdf000000, 0x5f800000, 0x5effffff, 0x42fe0000,
    0x42ff0000, 0x43000000, 0x437f0000, 0x437f8000, 0xc3000000, 0xc3008000, 0x46fffe00,
    0x47000000, 0x477fff00, 0x47800000, 0x477fe000, 0x477ff000, 0x477fefff, 0x38800000,
    0x387fc000, 0x33000000, 0x33000001, 0x33ffffff, 0x7e800000, 0x7e800001, 0x7f000000,
    0x00400000, 0x3effffff, 0x3f7fffff, 0x40490fdb, 0x3f317218, 0xc2fc0000, 0xc3160000,
    0x42b17218, 0x3f808000, 0x3f818000, 0x3f801000, 0x3f803000, 0x3f801001, 0x7f7f8000,
    0x3eaaaaab, 0x4b000000, 0x4b000001, 0xcb000001, 0x4affffff, 0x40a00000, 0xc0a00000};
static const uint64_t corners_f64[] = {
    0x0000000000000000ull, 0x3ff0000000000000ull, 0x7ff8000000000000ull,
    0x8000000000000000ull, 0xbff0000000000000ull, 0x7ff0000000000000ull,
    0xfff0000000000000ull, 0x0000000000000001ull, 0x800fffffffffffffull,
    0x0010000000000000ull, 0x7fefffffffffffffull, 0x3ff0000000000001ull,
    0x3ca0000000000000ull, 0x4340000000000001ull, 0x3fe0000000000000ull,
    0x3ff8000000000000ull, 0x4004000000000000ull, 0xbfe0000000000000ull,
    0xffefffffffffffffull, 0x8010000000000000ull, 0x41e0000000000000ull,
    0xc1e0000000000000ull, 0xc1e0000000200000ull, 0x41dfffffffc00000ull,
    0x41dfffffffe00000ull, 0x41f0000000000000ull, 0x41efffffffe00000ull,
    0x43e0000000000000ull, 0xc3e0000000000000ull, 0x43f0000000000000ull,
    0x43dfffffffffffffull, 0x47efffffe0000000ull, 0x47effffff0000000ull,
    0x47efffffefffffffull, 0x3810000000000000ull, 0x380fffffe0000000ull,
    0x36a0000000000000ull, 0x3690000000000000ull, 0x3690000000000001ull,
    0x3ff0000010000000ull, 0x3ff0000030000000ull, 0x3ff0000010000001ull,
    0x3ff0020000000000ull, 0x3ff0020000000001ull, 0x40effc0000000000ull,
    0x40effe0000000000ull, 0x40effdffffffffffull, 0x3e60000000000000ull,
    0x3e60000000000001ull, 0xfff8000000000000ull, 0x7ff0000000000001ull,
    0x4008000000000000ull, 0x3fd5555555555555ull, 0xc05fc00000000000ull};
static const uint16_t corners_f16[] = {
    0x0000, 0x3c00, 0x7e00, 0x8000, 0xbc00, 0x7c00, 0xfc00, 0x0001, 0x83ff,
    0x0400, 0x7bff, 0x3c01, 0x1000, 0x6801, 0x3800, 0x3e00, 0x4100, 0xb800,
    0xfbff, 0x8400, 0x03ff, 0x7c01, 0xfe00, 0x57f0, 0x5bf8, 0x5c00, 0x7800,
    0x7801, 0x0002, 0x0200, 0x3bff, 0x4200, 0x3555};
static const uint16_t corners_bf16[] = {
    0x0000, 0x3f80, 0x7fc0, 0x8000, 0xbf80, 0x7f80, 0xff80, 0x0001, 0x807f,
    0x0080, 0x7f7f, 0x3f81, 0x3b80, 0x4381, 0x3f00, 0x3fc0, 0x4020, 0xbf00,
    0xff7f, 0x8080, 0x007f, 0x7f81, 0xffc0, 0x42fe, 0x437f, 0x4780, 0x4f00,
    0x5f00, 0x0002, 0x0040, 0x3f7f, 0x4040, 0x3eab};
static const uint32_t corners_shift[] = {
    0,          1,          31, 32, 33, 16, 15,  64,  63,  8,        255, 128,
    0xffffffff, 0x80000000, 7,  17, 24, 65, 100, 256, 288, 0x100000, 4,   48};
static const uint32_t corners_angle[] = {0x00000000, 0x80000000, 0x3f800000, 0xbf800000,
                                         0x40490fdb, 0xc0490fdb, 0x3fc90fdb, 0x40c90fdb,
                                         0x00000001, 0x007fffff, 0x7f800000, 0x7fc00000,
                                         0x3f490fdb, 0x3e800000, 0x3a83126f, 0xff800000};

#define LENGTH(array) ((uint32_t)(sizeof(array) / sizeof((array)[0])))

static uint32_t corner_count(const value_type *type)
{
    switch (type->kind) {
    case KIND_INT:
        return type->bits == 64   ? LENGTH(corners_u64)
               : type->bits == 32 ? LENGTH(corners_u32)
                                  : LENGTH(corners_u16);
    case KIND_F16:
    case KIND_F16X2: return LENGTH(corners_f16);
    case KIND_BF16:
    case KIND_BF16X2: return LENGTH(corners_bf16);
    case KIND_F32: return LENGTH(corners_f32);
    case KIND_F64: return LENGTH(corners_f64);
    case KIND_SHIFT: return LENGTH(corners_shift);
    case KIND_ANGLE: return LENGTH(corners_angle);
    case KIND_LANE:
    case KIND_EDGE: return 32;
    case KIND_SMALL: return 17;
    case KIND_FLAG: return 2;
    case KIND_FEW: return 4;
    }
    return 1;
}

static uint64_t corner(const value_type *type, uint32_t i)
{
    i %= corner_count(type);
    switch (type->kind) {
    case KIND_INT:
        return type->bits == 64   ? corners_u64[i]
               : type->bits == 32 ? corners_u32[i]
                                  : corners_u16[i];
    case KIND_F16: return corners_f16[i];
    case KIND_BF16: return corners_bf16[i];
    case KIND_F16X2:
        return corners_f16[i] | (uint32_t)corners_f16[(i * 7 + 3) % LENGTH(corners_f16)]
                                    << 16;
    case KIND_BF16X2:
        return corners_bf16[i] |
               (uint32_t)corners_bf16[(i * 7 + 3) % LENGTH(corners_bf16)] << 16;
    case KIND_F32: return corners_f32[i];
    case KIND_F64: return corners_f64[i];
    case KIND_SHIFT: return corners_shift[i];
    case KIND_ANGLE: return corners_angle[i];
    case KIND_SMALL: return (uint32_t)((int32_t)i - 8);
    case KIND_EDGE: return 0x3f800000u + i - 24;
    case KIND_LANE:
    case KIND_FLAG:
    case KIND_FEW: return i;
    }
    return 0;
}

static uint64_t next(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull; /* splitmix64 */
    uint64_t z = *state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* A number of moderate size: exponents within `spread` of 1. */
static uint64_t moderate(uint64_t r, uint32_t bits, uint32_t mantissa, uint32_t spread)
{
    const uint32_t exponent_bits = bits - mantissa - 1;
    const uint64_t bias = (1ull << (exponent_bits - 1)) - 1;
    const uint64_t e = bias - spread / 2 + (r >> 56) % spread;
    return (r & ((1ull << mantissa) - 1)) | e << mantissa | (r >> 55 & 1) << (bits - 1);
}

static uint64_t random_value(const value_type *type, uint64_t *state)
{
    const uint64_t r = next(state), choice = next(state);
    switch (type->kind) {
    case KIND_INT:
        /* Every second one short, so that products and quotients differ. */
        return choice & 1 ? r : r >> (choice >> 8) % type->bits;
    case KIND_F16: return choice & 1 ? r & 0xffff : moderate(r, 16, 10, 14);
    case KIND_BF16: return choice & 1 ? r & 0xffff : moderate(r, 16, 7, 14);
    case KIND_F16X2:
        return choice & 1 ? r & 0xffffffff
                          : moderate(r, 16, 10, 14) | moderate(choice, 16, 10, 14) << 16;
    case KIND_BF16X2:
        return choice & 1 ? r & 0xffffffff
                          : moderate(r, 16, 7, 14) | moderate(choice, 16, 7, 14) << 16;
    case KIND_F32: return choice & 1 ? r & 0xffffffff : moderate(r, 32, 23, 30);
    case KIND_F64: return choice & 1 ? r : moderate(r, 64, 52, 60);
    case KIND_ANGLE: return moderate(r, 32, 23, 3); /* below 2, and so below 2 pi */
    case KIND_SHIFT: return choice & 1 ? r % 70 : corner(type, (uint32_t)(r >> 8));
    case KIND_LANE: return r % 32;
    case KIND_EDGE: return (0x3f800000u - 40 + (uint32_t)(r % 64)) | (choice & 1) << 31;
    case KIND_SMALL: return (uint32_t)((int32_t)(r % 17) - 8);
    case KIND_FLAG: return r & 1;
    case KIND_FEW: return r & 3;
    }
    return 0;
}

/* Corner of input `nth` in thread `k` while the corners are being crossed. */
static bool crossed(const form *f, uint32_t k, uint32_t nth, uint32_t *index)
{
    const uint32_t side = f->input_count == 2 ? 14 : 6;
    if (f->input_count == 1) {
        *index = k;
        return k < corner_count(f->inputs[0]) && k < f->threads * 3 / 4;
    }
    if (k >= (f->input_count == 2 ? side * side : side * side * side) || nth >= 3)
        return false;
    for (uint32_t i = 0; i < nth; i++)
        k /= side;
    *index = k % side;
    return true;
}

void inputs_make(const form *f, unsigned char *in)
{
    uint64_t state = 12345;
    for (uint32_t i = 0; i < f->input_count; i++)
        for (const char *c = f->inputs[i]->name; *c; c++)
            state = state * 31 + (unsigned char)*c;
    for (uint32_t k = 0; k < f->threads; k++) {
        for (uint32_t i = 0; i < f->input_count; i++) {
            uint32_t index;
            uint64_t value = random_value(f->inputs[i], &state);
            const uint64_t dice = next(&state);
            if (crossed(f, k, i, &index))
                value = corner(f->inputs[i], index);
            else if ((dice & 7) == 0 && f->input_count > 1)
                value = corner(f->inputs[i], (uint32_t)(dice >> 8 & 0xffff));
            memcpy(in + ((size_t)k * INPUTS_MAX + i) * SLOT_BYTES, &value, sizeof(value));
        }
    }
}

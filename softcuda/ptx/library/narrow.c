// SPDX-License-Identifier: Apache-2.0
/* Floats of 8 bits (e4m3: largest 448, no infinity; e5m2: f16 without its last 8 bits) and
 * tf32, an f32 of which 10 bits of the mantissa count. */
#include "library.h"

#define NAN8 0x7fu

/* `cut` bits go, ties to even; `unit` is a float whose last place is the format's smallest
 * number, so that adding it rounds subnormal results. */
static u32 round8(u32 a, u32 cut, u32 bias, u32 least, float unit)
{
    const u32 normal = ((a + ((1u << (cut - 1)) - 1) + (a >> cut & 1)) >> cut) -
                       ((127u - bias) << (23u - cut));
    const u32 small = bits32(float32(a) + unit) - bits32(unit);
    return a < least ? small : normal;
}

/* Both saturate, as all forms of the instruction do. */
u16 x_cvt_rn_e4m3_f32(float x)
{
    const u32 b = bits32(x), a = b & ~SIGN32;
    const u32 all =
        round8(a < 0x44000000u ? a : 0x44000000u, 20, 7, 0x3c800000u, 0x1p14f);
    const u32 bounded = all > 0x7e ? 0x7e : all;
    return (u16)(a > INF32 ? NAN8 : bounded | (b >> 24 & 0x80));
}
u16 x_cvt_rn_e5m2_f32(float x)
{
    const u32 b = bits32(x), a = b & ~SIGN32;
    const u32 all =
        round8(a < 0x47800000u ? a : 0x47800000u, 21, 15, 0x38800000u, 0x1p7f);
    const u32 bounded = all > 0x7b ? 0x7b : all;
    return (u16)(a > INF32 ? NAN8 : bounded | (b >> 24 & 0x80));
}

/* All of their numbers are numbers of f16. */
u16 x_cvt_f16_e4m3(u16 x)
{
    const u32 a = x & 0x7f, sign = (u32)(x & 0x80) << 8;
    const u32 normal = (a << 7) + (8u << 10);
    const u32 small = bits32((float)a * 0x1p-9f); /* exact, and normal in f16 */
    const u32 narrow = a == 0 ? 0 : (small >> 13) - (112u << 10);
    const u32 number = a < 8 ? narrow : normal;
    return (u16)(a == NAN8 ? 0x7fff : number | sign);
}
u16 x_cvt_f16_e5m2(u16 x)
{
    return (u16)((x & 0x7f) > 0x7c ? 0x7fff : (u32)(x & 0xff) << 8);
}

/* Negative numbers become 0, a NaN stays. */
float x_relu_f32(float x)
{
    return x < 0 || bits32(x) == SIGN32 ? 0.0f : x;
}

static u32 finish_tf32(u32 b, u32 rounded)
{
    const u32 a = b & ~SIGN32;
    return a > INF32 ? 0x7fffe000u : a == INF32 ? b : rounded & ~0x1fffu;
}
/* An older instruction: NaN is a number like others to it. */
u32 x_cvt_rna_tf32_f32(float x)
{
    const u32 b = bits32(x), a = (b & ~SIGN32) + 0x1000u;
    return (b & SIGN32) | ((a > ~SIGN32 ? ~SIGN32 : a) & ~0x1fffu);
}
u32 x_cvt_rn_tf32_f32(float x)
{
    const u32 b = bits32(x);
    return finish_tf32(b, b + 0xfffu + (b >> 13 & 1));
}
u32 x_cvt_rz_tf32_f32(float x)
{
    return finish_tf32(bits32(x), bits32(x));
}
u32 x_satfinite_tf32(u32 x)
{
    return (x & ~SIGN32) >= INF32 ? x - 0x2000u : x; /* NaN, too */
}

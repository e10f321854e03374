// SPDX-License-Identifier: Apache-2.0
/* f16 and bf16 as their 16 bits. f32 has 24 bits, twice the 11 of f16 plus 2, so that
 * add, sub and mul may round in f32 first and be right; fma rounds to odd first. bf16 has
 * f32's range: what a tiny product loses there is found apart. A NaN result is 0x7fff. */
#include "library.h"

#define NAN16 0x7fffu

/* ---- conversions ------------------------------------------------------------------ */

float x_cvt_f32_f16(u16 x)
{
    const u32 sign = (u32)(x & 0x8000) << 16, m = (u32)(x & 0x7fff) << 13;
    /* Moves the exponent by multiplying, which normalizes subnormals too. */
    const u32 finite = bits32(float32(m) * 0x1p112f);
    return float32(sign | ((x & 0x7c00) == 0x7c00 ? m | INF32 : finite));
}
float x_cvt_f32_bf16(u16 x)
{
    return float32((u32)x << 16);
}

u16 x_cvt_rn_f16_f32(float x)
{
    const u32 b = bits32(x), a = b & ~SIGN32, sign = b >> 16 & 0x8000;
    /* -112 << 23 moves the exponent's bias from 127 to 15; 0xfff and the last bit that
     * stays round to nearest, ties to even. A carry may make it infinity, as it
     * should. */
    const u32 normal = (a + 0xc8000fffu + (a >> 13 & 1)) >> 13;
    /* The last place of 0.5 is that of f16's subnormals. */
    const u32 small = bits32(float32(a) + 0.5f) - 0x3f000000u;
    const u32 finite = a < 0x38800000u ? small : normal;
    const u32 bounded = a >= 0x47800000u ? 0x7c00 : finite;
    return (u16)(a > INF32 ? NAN16 : bounded | sign);
}

/* Toward zero, and whether something was cut off. Subnormals of f16 are multiples of
 * 2^-24; above 65504 (0x7bff) nothing is finite, and truncation stops there. */
static u32 trunc_f16(u32 a, u32 *rest)
{
    const float scaled = float32(a) * 0x1p24f;
    const u32 small = (u32)(a < 0x38800000u ? scaled : 0.0f);
    const u32 is_small = a < 0x38800000u, is_large = a >= 0x47800000u;
    *rest = is_small ? (float)small != scaled : (a & 0x1fff) != 0 || is_large;
    return is_small ? small : is_large ? 0x7bff : (a - 0x38000000u) >> 13;
}
#define DIRECTED_F16(mode, up)                                                           \
    u16 x_cvt_##mode##_f16_f32(float x)                                                  \
    {                                                                                    \
        const u32 b = bits32(x), a = b & ~SIGN32, sign = b >> 16 & 0x8000;               \
        u32 rest;                                                                        \
        const u32 cut = trunc_f16(a, &rest);                                             \
        const u32 finite = cut + (rest && (up));                                         \
        const u32 bounded = a == INF32 ? 0x7c00 : finite;                                \
        return (u16)(a > INF32 ? NAN16 : bounded | sign);                                \
    }
DIRECTED_F16(rz, 0)
DIRECTED_F16(rm, sign != 0)
DIRECTED_F16(rp, sign == 0)

/* The upper half of an f32; a carry out of the fraction raises the exponent, up to
 * infinity. */
u16 x_cvt_rn_bf16_f32(float x)
{
    const u32 b = bits32(x);
    const u32 rounded = (b + 0x7fffu + (b >> 16 & 1)) >> 16;
    return (u16)(is_nan32(x) ? NAN16 : rounded);
}
#define DIRECTED_BF16(mode, up)                                                          \
    u16 x_cvt_##mode##_bf16_f32(float x)                                                 \
    {                                                                                    \
        const u32 b = bits32(x), sign = b & SIGN32;                                      \
        const u32 cut = (b >> 16) + ((b & 0xffff) != 0 && (up));                         \
        return (u16)(is_nan32(x) ? NAN16 : cut);                                         \
    }
DIRECTED_BF16(rz, sign & 0)
DIRECTED_BF16(rm, sign != 0)
DIRECTED_BF16(rp, sign == 0)

/* ---- signs, bounds ---------------------------------------------------------------- */

static int is_nan_f16(u16 x)
{
    return (x & 0x7fff) > 0x7c00;
}
static int is_nan_bf16(u16 x)
{
    return (x & 0x7fff) > 0x7f80;
}

/* `inf` is infinity: above it are the NaN, one below it the largest number. */
#define BOUNDS(suffix, is_nan, inf, one)                                                 \
    u16 x_ftz_##suffix(u16 x)                                                            \
    {                                                                                    \
        return (u16)((x & (inf)) == 0 ? x & 0x8000 : x);                                 \
    }                                                                                    \
    u16 x_neg_##suffix(u16 x)                                                            \
    {                                                                                    \
        return (u16)(is_nan(x) ? NAN16 : x ^ 0x8000u);                                   \
    }                                                                                    \
    u16 x_abs_##suffix(u16 x)                                                            \
    {                                                                                    \
        return (u16)(is_nan(x) ? NAN16 : x & 0x7fffu);                                   \
    }                                                                                    \
    u16 x_sat_##suffix(u16 x)                                                            \
    {                                                                                    \
        const u16 low = (u16)(is_nan(x) || (x & 0x8000) ? 0 : x);                        \
        return low > (one) ? (one) : low;                                                \
    }                                                                                    \
    u16 x_relu_##suffix(u16 x)                                                           \
    {                                                                                    \
        return (u16)(is_nan(x) ? NAN16 : x & 0x8000 ? 0 : x);                            \
    }                                                                                    \
    u16 x_satfinite_##suffix(u16 x)                                                      \
    {                                                                                    \
        return (u16)((x & 0x7fff) == (inf) ? (x & 0x8000) | ((inf)-1) : x);              \
    }
BOUNDS(f16, is_nan_f16, 0x7c00, 0x3c00)
BOUNDS(bf16, is_nan_bf16, 0x7f80, 0x3f80)

/* ---- arithmetic ------------------------------------------------------------------- */

u16 x_add_f16(u16 a, u16 b)
{
    return x_cvt_rn_f16_f32(x_cvt_f32_f16(a) + x_cvt_f32_f16(b));
}
u16 x_sub_f16(u16 a, u16 b)
{
    return x_cvt_rn_f16_f32(x_cvt_f32_f16(a) - x_cvt_f32_f16(b));
}
u16 x_mul_f16(u16 a, u16 b)
{
    return x_cvt_rn_f16_f32(x_cvt_f32_f16(a) * x_cvt_f32_f16(b));
}

/* What a + b lost when it was rounded to s (Knuth's TwoSum); NaN if infinities are in it,
 * which lose nothing. */
static float lost_by_sum(float a, float b, float s)
{
    const float t = s - a;
    return (a - (s - t)) + (b - t);
}

/* 1 if the number is neither 0 nor NaN. With `|`: a function with branches in it stops
 * LLVM from making vectors of a loop over threads. */
static u32 is_some(float e)
{
    return (u32)(e < 0) | (u32)(e > 0);
}

/* The sum of an exact product and c, rounded to odd in f32: the product of two f16 has 22
 * bits, and the 24 of the sum are twice the 11 of f16 and 2 more. */
static float odd_sum(float a, float b)
{
    const float s = a + b, e = lost_by_sum(a, b, s);
    const u32 w = bits32(s);
    const u32 step = (0u - (u32)((e > 0) != (s > 0))) | 1; /* 1 or -1 */
    const u32 even = is_some(e) & ~w;
    return float32(w + ((0u - (even & 1)) & step));
}
u16 x_fma_f16(u16 a, u16 b, u16 c)
{
    return x_cvt_rn_f16_f32(
        odd_sum(x_cvt_f32_f16(a) * x_cvt_f32_f16(b), x_cvt_f32_f16(c)));
}

/* s rounded to bf16 as s + e would be, where e is less than half of the last place of s:
 * it only matters where s lies in the middle between two. */
static u16 round_with_rest(float s, float e)
{
    const u32 w = bits32(s), larger = ~((bits32(e) ^ w) >> 31) & 1;
    const u32 up = is_some(e) ? larger : w >> 16 & 1;
    return (u16)(is_nan32(s) ? NAN16 : (w + 0x7fffu + up) >> 16);
}

/* What the product of two bf16 lost when it was rounded to p, times 2^120. 16 bits fit into
 * f32, so only what is tiny loses any, and there no factor overflows. */
static float lost_by_product(float a, float b, float p)
{
    const float e = __builtin_fmaf(a * 0x1p60f, b * 0x1p60f, -(p * 0x1p120f));
    return __builtin_fabsf(p) < 0x1p-100f ? e : 0;
}

/* The exact value is s and two rests. That of the sum, where there is one, is a multiple of
 * 2^-149, and the product's less than that: then the sum's says on which side of s it is.
 * If p is infinity and s is not, c took away so much that s is exact, and the rest is
 * NaN. */
u16 x_fma_bf16(u16 a, u16 b, u16 c)
{
    const float x = x_cvt_f32_bf16(a), y = x_cvt_f32_bf16(b), z = x_cvt_f32_bf16(c);
    const float p = x * y, s = __builtin_fmaf(x, y, z);
    const float e = lost_by_sum(p, z, s), tiny = lost_by_product(x, y, p);
    return round_with_rest(s, is_some(e) ? e : tiny);
}
u16 x_add_bf16(u16 a, u16 b)
{
    return x_cvt_rn_bf16_f32(x_cvt_f32_bf16(a) + x_cvt_f32_bf16(b));
}
u16 x_sub_bf16(u16 a, u16 b)
{
    return x_cvt_rn_bf16_f32(x_cvt_f32_bf16(a) - x_cvt_f32_bf16(b));
}
u16 x_mul_bf16(u16 a, u16 b)
{
    const float x = x_cvt_f32_bf16(a), y = x_cvt_f32_bf16(b), p = x * y;
    return round_with_rest(p, lost_by_product(x, y, p));
}

/* ---- minimum and maximum ---------------------------------------------------------- */

/* The order of numbers as the order of integers: -0 < +0. */
static s32 order(u16 x)
{
    return x & 0x8000 ? -(s32)(x & 0x7fff) - 1 : (s32)x;
}

#define EXTREMES(suffix, is_nan)                                                         \
    u16 x_min_num_##suffix(u16 a, u16 b)                                                 \
    {                                                                                    \
        const u16 least = order(a) < order(b) ? a : b;                                   \
        const u16 other = (u16)(is_nan(b) ? NAN16 : b);                                  \
        return is_nan(a) ? other : is_nan(b) ? a : least;                                \
    }                                                                                    \
    u16 x_max_num_##suffix(u16 a, u16 b)                                                 \
    {                                                                                    \
        const u16 most = order(a) > order(b) ? a : b;                                    \
        const u16 other = (u16)(is_nan(b) ? NAN16 : b);                                  \
        return is_nan(a) ? other : is_nan(b) ? a : most;                                 \
    }                                                                                    \
    u16 x_min_nan_##suffix(u16 a, u16 b)                                                 \
    {                                                                                    \
        return is_nan(a) || is_nan(b) ? NAN16 : x_min_num_##suffix(a, b);                \
    }                                                                                    \
    u16 x_max_nan_##suffix(u16 a, u16 b)                                                 \
    {                                                                                    \
        return is_nan(a) || is_nan(b) ? NAN16 : x_max_num_##suffix(a, b);                \
    }                                                                                    \
    u16 x_min_num_xorsign_##suffix(u16 a, u16 b)                                         \
    {                                                                                    \
        return x_min_num_##suffix(a & 0x7fff, b & 0x7fff) ^ ((a ^ b) & 0x8000);          \
    }                                                                                    \
    u16 x_max_num_xorsign_##suffix(u16 a, u16 b)                                         \
    {                                                                                    \
        return x_max_num_##suffix(a & 0x7fff, b & 0x7fff) ^ ((a ^ b) & 0x8000);          \
    }                                                                                    \
    u16 x_min_nan_xorsign_##suffix(u16 a, u16 b)                                         \
    {                                                                                    \
        return x_min_nan_##suffix(a & 0x7fff, b & 0x7fff) ^ ((a ^ b) & 0x8000);          \
    }                                                                                    \
    u16 x_max_nan_xorsign_##suffix(u16 a, u16 b)                                         \
    {                                                                                    \
        return x_max_nan_##suffix(a & 0x7fff, b & 0x7fff) ^ ((a ^ b) & 0x8000);          \
    }
EXTREMES(f16, is_nan_f16)
EXTREMES(bf16, is_nan_bf16)

/* ---- approximations --------------------------------------------------------------- */

u16 x_ex2_approx_f16(u16 x)
{
    return x_cvt_rn_f16_f32(x_ex2_approx_f32(x_cvt_f32_f16(x)));
}
u16 x_ex2_approx_bf16(u16 x)
{
    return x_cvt_rn_bf16_f32(x_ex2_approx_f32(x_cvt_f32_bf16(x)));
}
u16 x_tanh_approx_f16(u16 x)
{
    return x_cvt_rn_f16_f32(x_tanh_approx_f32(x_cvt_f32_f16(x)));
}
u16 x_tanh_approx_bf16(u16 x)
{
    return x_cvt_rn_bf16_f32(x_tanh_approx_f32(x_cvt_f32_bf16(x)));
}

/* ---- atomics: no processor has them for these types ------------------------------- */

#define PAIRWISE(name, operation)                                                        \
    static u32 name(u32 a, u32 b)                                                        \
    {                                                                                    \
        return (u32)operation((u16)a, (u16)b) |                                          \
               (u32)operation((u16)(a >> 16), (u16)(b >> 16)) << 16;                     \
    }
PAIRWISE(add_pair_f16, x_add_f16)
PAIRWISE(add_pair_bf16, x_add_bf16)
PAIRWISE(min_pair_f16, x_min_num_f16)
PAIRWISE(max_pair_f16, x_max_num_f16)
PAIRWISE(min_pair_bf16, x_min_num_bf16)
PAIRWISE(max_pair_bf16, x_max_num_bf16)

#define ATOM(name, suffix, word, operation)                                              \
    word x_atom_##name##_##suffix(word *at, word b)                                      \
    {                                                                                    \
        word old = __atomic_load_n(at, __ATOMIC_RELAXED);                                \
        while (!__atomic_compare_exchange_n(at, &old, operation(old, b), 1,              \
                                            __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))         \
            ;                                                                            \
        return old;                                                                      \
    }
ATOM(add, f16, u16, x_add_f16)
ATOM(add, bf16, u16, x_add_bf16)
ATOM(add, f16x2, u32, add_pair_f16)
ATOM(add, bf16x2, u32, add_pair_bf16)
ATOM(min, f16, u16, x_min_num_f16)
ATOM(min, bf16, u16, x_min_num_bf16)
ATOM(min, f16x2, u32, min_pair_f16)
ATOM(min, bf16x2, u32, min_pair_bf16)
ATOM(max, f16, u16, x_max_num_f16)
ATOM(max, bf16, u16, x_max_num_bf16)
ATOM(max, f16x2, u32, max_pair_f16)
ATOM(max, bf16x2, u32, max_pair_bf16)

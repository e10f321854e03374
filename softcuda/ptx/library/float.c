// SPDX-License-Identifier: Apache-2.0
/* f32: flushing, saturation, minima, directed roundings, properties. A directed rounding
 * computes in f64, rounded to odd where that is not exact, and rounds that once. */
#include "library.h"

float x_ftz_f32(float x)
{
    const u32 b = bits32(x);
    return (b & INF32) == 0 ? float32(b & SIGN32) : x;
}
float x_sat_f32(float x)
{
    const float low = x > 0.0f ? x : 0.0f; /* NaN gives 0 */
    return low < 1.0f ? low : 1.0f;
}
double x_sat_f64(double x)
{
    const double low = x > 0.0 ? x : 0.0;
    return low < 1.0 ? low : 1.0;
}

/* ---- minimum and maximum: -0 < +0; a NaN loses (num) or wins (nan) ---------------- */

float x_min_num_f32(float a, float b)
{
    const float same = float32(bits32(a) | bits32(b)); /* -0 if one is */
    const float least = a < b ? a : b; /* one instruction, and b if either is NaN */
    const float chosen = a == b ? same : least;
    return is_nan32(b) ? a : chosen;
}
float x_max_num_f32(float a, float b)
{
    const float same = float32(bits32(a) & bits32(b));
    const float most = a > b ? a : b;
    const float chosen = a == b ? same : most;
    return is_nan32(b) ? a : chosen;
}
#define NAN_WINS(type, name, of, quiet, is_nan)                                          \
    type name(type a, type b)                                                            \
    {                                                                                    \
        const type chosen = of(a, b);                                                    \
        return is_nan(a) || is_nan(b) ? quiet : chosen;                                  \
    }
NAN_WINS(float, x_min_nan_f32, x_min_num_f32, float32(0x7fffffffu), is_nan32)
NAN_WINS(float, x_max_nan_f32, x_max_num_f32, float32(0x7fffffffu), is_nan32)

/* .xorsign.abs: of the magnitudes, with the product's sign. */
#define XORSIGN(name, of)                                                                \
    float name(float a, float b)                                                         \
    {                                                                                    \
        const u32 sign = (bits32(a) ^ bits32(b)) & SIGN32;                               \
        const float chosen =                                                             \
            of(float32(bits32(a) & ~SIGN32), float32(bits32(b) & ~SIGN32));              \
        return float32(bits32(chosen) ^ sign);                                           \
    }
XORSIGN(x_min_num_xorsign_f32, x_min_num_f32)
XORSIGN(x_max_num_xorsign_f32, x_max_num_f32)
XORSIGN(x_min_nan_xorsign_f32, x_min_nan_f32)
XORSIGN(x_max_nan_xorsign_f32, x_max_nan_f32)

double x_min_num_f64(double a, double b)
{
    const double same = float64(bits64(a) | bits64(b));
    return a < b ? a : a == b ? same : is_nan64(b) ? a : b;
}
double x_max_num_f64(double a, double b)
{
    const double same = float64(bits64(a) & bits64(b));
    return a > b ? a : a == b ? same : is_nan64(b) ? a : b;
}

/* ---- properties ------------------------------------------------------------------- */

#define PROPERTIES(suffix, type, word, bits, inf, sign)                                  \
    u32 x_testp_finite_##suffix(type x)                                                  \
    {                                                                                    \
        return (bits(x) & inf) != inf;                                                   \
    }                                                                                    \
    u32 x_testp_infinite_##suffix(type x)                                                \
    {                                                                                    \
        return (bits(x) & ~sign) == inf;                                                 \
    }                                                                                    \
    u32 x_testp_number_##suffix(type x)                                                  \
    {                                                                                    \
        return (bits(x) & ~sign) <= inf;                                                 \
    }                                                                                    \
    u32 x_testp_notanumber_##suffix(type x)                                              \
    {                                                                                    \
        return (bits(x) & ~sign) > inf;                                                  \
    }                                                                                    \
    u32 x_testp_subnormal_##suffix(type x)                                               \
    {                                                                                    \
        return (bits(x) & inf) == 0 && (bits(x) & ~sign) != 0;                           \
    }                                                                                    \
    u32 x_testp_normal_##suffix(type x) /* zero, too */                                  \
    {                                                                                    \
        return (bits(x) & inf) != inf && !x_testp_subnormal_##suffix(x);                 \
    }
PROPERTIES(f32, float, u32, bits32, INF32, SIGN32)
PROPERTIES(f64, double, u64, bits64, INF64, SIGN64)

/* ---- round to odd ----------------------------------------------------------------- */

/* `x` is a rounded value, `e` the exact value minus x: makes x the neighbor whose last
 * bit is 1 if anything was cut off. A result rounded to odd with two bits to spare can be
 * rounded again, in any direction, as if it had been rounded once (Boldo and Melquiond):
 * f64 has 53 bits, f32 needs 24 + 2. */
static double odd64(double x, double e)
{
    const u64 b = bits64(x);
    const int away = (e > 0) == (x > 0);
    const u64 stepped = away ? b + 1 : b - 1;
    return e != 0 && (b & 1) == 0 && (b & INF64) != INF64 ? float64(stepped) : x;
}
/* e is what the sum lost (Knuth's TwoSum); NaN if infinities are in it, which lose
 * nothing. */
double x_odd_add_f64(double a, double b)
{
    const double s = a + b, t = s - a;
    const double e = (a - (s - t)) + (b - t);
    return odd64(s, is_nan64(e) ? 0 : e);
}
float x_odd_f32_f64(double x)
{
    const float f = (float)x;
    const u32 b = bits32(f);
    const double wide = f;
    /* Toward zero first (from infinity to the largest), then the last bit. */
    const double magnitude = float64(bits64(x) & ~SIGN64);
    const double rounded = float64(bits64(wide) & ~SIGN64);
    const u32 towards_zero = rounded > magnitude ? b - 1 : b;
    return wide == x || is_nan64(x) ? f : float32(towards_zero | 1);
}

/* ---- f64 to f32, directed --------------------------------------------------------- */

/* Floats of one sign are in the order of their bits, so a neighbor is one away; zero has
 * two neighbors of different signs. */
static float next_up(float f)
{
    const u32 b = bits32(f);
    return float32(b & SIGN32 ? (b == SIGN32 ? 1 : b - 1) : b + 1);
}
static float next_down(float f)
{
    const u32 b = bits32(f);
    return float32(b & SIGN32 ? b + 1 : (b == 0 ? SIGN32 | 1 : b - 1));
}
/* A result below 2^-126 counts as subnormal before it is rounded (as the H100's do). */
double x_tiny_f64(double x)
{
    return (bits64(x) & ~SIGN64) < 0x3810000000000000ull ? float64(bits64(x) & SIGN64)
                                                         : x;
}
/* The nearest float is at most one step from the directed one. Stepping down from
 * infinity gives the largest finite number, as IEEE 754 wants it toward zero. */
float x_cvt_rz_f32_f64(double x)
{
    const float f = (float)x;
    const double magnitude = float64(bits64(x) & ~SIGN64);
    const float a = float32(bits32(f) & ~SIGN32);
    return (double)a > magnitude ? float32(bits32(f) - 1) : f;
}
float x_cvt_rm_f32_f64(double x)
{
    const float f = (float)x;
    return (double)f > x ? next_down(f) : f;
}
float x_cvt_rp_f32_f64(double x)
{
    const float f = (float)x;
    return (double)f < x ? next_up(f) : f;
}

/* ---- directed arithmetic ---------------------------------------------------------- */

/* a + b rounded down. What the sum s lost decides where s itself is a float; the nearest
 * float of s is the wanted one or the next above it. An exact sum of zero is -0 unless both
 * are +0. Of the exponential function of CUDA's library, so in few instructions. */
static float sum_down(double a, double b)
{
    const double s = a + b, t = s - a;
    const double e = (a - (s - t)) + (b - t);
    const float f = (float)s;
    const u32 bits = bits32(f);
    const u32 down = bits + (bits >> 31 << 1) - 1; /* f is not +0 there */
    const u32 zero = (u32)((bits64(a) | bits64(b)) >> 32) & SIGN32;
    const int above = (int)((double)f > s) | ((int)((double)f == s) & (int)(e < 0));
    return s == 0.0 ? float32(zero) : above ? float32(down) : f;
}

/* Exact: 24 and 24 bits make 48, double has 53. */
static double product(float a, float b)
{
    return (double)a * (double)b;
}

/* The remainder of a division or root of floats is exact in an fma of doubles, and its
 * sign says on which side of the exact value the rounded one lies. */
static double quotient(float a, float b)
{
    const double x = a, y = b, q = x / y;
    const double r = __builtin_fma(-q, y, x);
    const double e = (bits64(y) & SIGN64) ? -r : r;
    return odd64(q, is_nan64(e) || y == 0 ? 0 : e);
}
static double root(float a)
{
    const double x = a, s = __builtin_sqrt(x);
    const double e = __builtin_fma(-s, s, x);
    return odd64(s, is_nan64(e) ? 0 : e);
}

#define DIRECTED(mode)                                                                   \
    float x_mul_##mode##_f32(float a, float b)                                           \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(product(a, b));                                    \
    }                                                                                    \
    float x_div_##mode##_f32(float a, float b)                                           \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(quotient(a, b));                                   \
    }                                                                                    \
    float x_rcp_##mode##_f32(float a)                                                    \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(quotient(1.0f, a));                                \
    }                                                                                    \
    float x_div_##mode##_ftz_f32(float a, float b)                                       \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(x_tiny_f64(quotient(a, b)));                       \
    }                                                                                    \
    float x_rcp_##mode##_ftz_f32(float a)                                                \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(x_tiny_f64(quotient(1.0f, a)));                    \
    }                                                                                    \
    float x_sqrt_##mode##_f32(float a)                                                   \
    {                                                                                    \
        return x_cvt_##mode##_f32_f64(root(a));                                          \
    }
DIRECTED(rz)
DIRECTED(rm)
DIRECTED(rp)

/* Rounded up or toward zero an exact zero sum is +0 as IR's own sum is, so only rounding
 * down asks for it. */
float x_add_rz_f32(float a, float b)
{
    return x_cvt_rz_f32_f64(x_odd_add_f64(a, b));
}
float x_add_rp_f32(float a, float b)
{
    return x_cvt_rp_f32_f64(x_odd_add_f64(a, b));
}
float x_add_rm_f32(float a, float b)
{
    return sum_down(a, b);
}
float x_sub_rz_f32(float a, float b)
{
    return x_add_rz_f32(a, -b);
}
float x_sub_rp_f32(float a, float b)
{
    return x_add_rp_f32(a, -b);
}
float x_sub_rm_f32(float a, float b)
{
    return x_add_rm_f32(a, -b);
}
float x_fma_rz_f32(float a, float b, float c)
{
    return x_cvt_rz_f32_f64(x_odd_add_f64(product(a, b), c));
}
float x_fma_rp_f32(float a, float b, float c)
{
    return x_cvt_rp_f32_f64(x_odd_add_f64(product(a, b), c));
}
float x_fma_rm_f32(float a, float b, float c)
{
    return sum_down(product(a, b), c);
}

/* Atomic additions of f32 in global memory flush what they read and what they write;
 * those that a generic address leads to shared memory do not (`keeps`). */
float x_atom_add_f32(float *at, float b, u32 keeps)
{
    u32 *word = (u32 *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED);
    u32 sum;
    do {
        const float a = float32(old);
        const float flushed = x_ftz_f32(x_ftz_f32(a) + x_ftz_f32(b));
        sum = bits32(keeps ? a + b : flushed);
    } while (!__atomic_compare_exchange_n(word, &old, sum, 1, __ATOMIC_ACQ_REL,
                                          __ATOMIC_ACQUIRE));
    return float32(old);
}

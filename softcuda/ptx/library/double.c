// SPDX-License-Identifier: Apache-2.0
/* f64 with directed rounding, which is rare, by integers of 128 bits; and conversions of
 * 64-bit integers. */
#include "library.h"

__extension__ typedef unsigned __int128 u128;

enum { RZ, RM, RP };

/* sign * sig * 2^exponent, rounded. The last bit of sig may stand for a rest.
 *
 *   sig, leading bit at 127   |1xxxxx...xxxxx|yyyyyyyyyyyyyyyy|
 *                                53 bits kept    75 cut off, more if subnormal
 *
 * The leading bit is added to the exponent field, so the field is one too small before
 * (1022, not 1023), and a carry out of the fraction raises it by itself. clz of 0 is
 * undefined in IR: hence `| (high == 0)`. */
static double pack(u32 sign, s32 exponent, u128 sig, u32 mode)
{
    const u64 sign_bit = sign ? SIGN64 : 0;
    const u64 high = (u64)(sig >> 64), low = (u64)sig;
    const s32 zeros = high ? __builtin_clzll(high | (high == 0))
                           : 64 + __builtin_clzll(low | (low == 0));
    sig <<= zeros & 127;
    const s32 e = exponent - zeros + 127; /* of the leading bit */
    const s32 drop = 75 + (e < -1022 ? -1022 - e : 0);
    const u64 kept = drop > 127 ? 0 : (u64)(sig >> (drop & 127));
    const u128 rest = drop > 127 ? 1 : sig & (((u128)1 << (drop & 127)) - 1);
    const u32 up = rest != 0 && ((mode == RM && sign) || (mode == RP && !sign));
    const u64 biased = e < -1022 ? 0 : (u64)(e + 1022);
    u64 bits = (biased << 52) + kept + up;
    if (e > 1023 || bits >= INF64) {
        /* IEEE 754, 7.4: away from zero overflows to infinity, toward zero stops at the
         * largest. */
        const u32 to_infinity = (mode == RM && sign) || (mode == RP && !sign);
        bits = to_infinity ? INF64 : INF64 - 1;
    }
    return float64(bits | sign_bit);
}

/* |x| = mantissa_of * 2^exponent, for finite x. */
static u64 mantissa_of(double x)
{
    const u64 b = bits64(x), fraction = b & 0x000fffffffffffffull;
    return (b & INF64) ? fraction | 0x0010000000000000ull : fraction;
}
static s32 exponent_of(double x)
{
    const s32 e = (s32)(bits64(x) >> 52 & 0x7ff);
    return (e ? e : 1) - 1075;
}
static u32 is_special(double x)
{
    return (bits64(x) & INF64) == INF64;
}
static u32 sign_of(double x)
{
    return (u32)(bits64(x) >> 63);
}

/* The leading bit at 125, so that a sum has room. */
static u128 to_top(u128 sig, s32 *exponent)
{
    const u64 high = (u64)(sig >> 64), low = (u64)sig;
    const s32 zeros = high ? __builtin_clzll(high | (high == 0))
                           : 64 + __builtin_clzll(low | (low == 0));
    const s32 up = zeros - 2;
    *exponent -= up;
    return up >= 0 ? sig << up : sig >> -up;
}
/* What falls off at the right stays as one sticky bit: enough for a directed rounding. */
static u128 shifted_right(u128 sig, s32 by)
{
    if (by > 127)
        return sig != 0;
    const u128 rest = sig & (((u128)1 << by) - 1);
    return sig >> by | (rest != 0);
}

/* IEEE 754, 6.3: an exact sum of opposite signs is +0, and -0 only when rounding down. */
static double zero_sum(u32 sign_a, u32 sign_b, u32 mode)
{
    const u32 negative = sign_a == sign_b ? sign_a : mode == RM;
    return float64(negative ? SIGN64 : 0);
}

/* Infinities and NaN do not depend on the rounding: the host's own fma makes them. Both
 * terms are brought to one exponent with room for the carry, then added as integers. */
static double fma_mode(double a, double b, double c, u32 mode)
{
    if (is_special(a) || is_special(b) || is_special(c))
        return __builtin_fma(a, b, c);
    const u32 sign_p = sign_of(a) ^ sign_of(b), sign_c = sign_of(c);
    if (a == 0 || b == 0)
        return c != 0 ? c : zero_sum(sign_p, sign_c, mode);
    s32 ep = exponent_of(a) + exponent_of(b), ec = exponent_of(c);
    u128 p = (u128)mantissa_of(a) * mantissa_of(b), s = mantissa_of(c);
    if (s == 0)
        return pack(sign_p, ep, p, mode);
    p = to_top(p, &ep);
    s = to_top(s, &ec);
    const s32 e = ep > ec ? ep : ec;
    p = shifted_right(p, e - ep);
    s = shifted_right(s, e - ec);
    if (sign_p == sign_c)
        return pack(sign_p, e, p + s, mode);
    if (p == s)
        return zero_sum(sign_p, sign_c, mode);
    return p > s ? pack(sign_p, e, p - s, mode) : pack(sign_c, e, s - p, mode);
}

static double mul_mode(double a, double b, u32 mode)
{
    if (is_special(a) || is_special(b) || a == 0 || b == 0)
        return a * b;
    return pack(sign_of(a) ^ sign_of(b), exponent_of(a) + exponent_of(b),
                (u128)mantissa_of(a) * mantissa_of(b), mode);
}

/* The leading bit at 52. */
static u64 normal(u64 sig, s32 *exponent)
{
    const s32 up = __builtin_clzll(sig | (sig == 0)) - 11;
    *exponent -= up;
    return sig << up;
}

/* Digit by digit, since the quotient must be exact up to a sticky bit; 64 bits of it are
 * more than the 53 and a guard bit that pack() needs. */
static double div_mode(double a, double b, u32 mode)
{
    if (is_special(a) || is_special(b) || a == 0 || b == 0)
        return a / b;
    s32 ea = exponent_of(a), eb = exponent_of(b);
    u64 rest = normal(mantissa_of(a), &ea), q = 0;
    const u64 by = normal(mantissa_of(b), &eb);
    for (u32 i = 0; i < 64; i++) {
        const u32 fits = rest >= by;
        q = q << 1 | fits;
        rest = (fits ? rest - by : rest) << 1;
    }
    const u128 sig = (u128)q << 64 | (rest != 0);
    return pack(sign_of(a) ^ sign_of(b), ea - eb - 63 - 64, sig, mode);
}

static double sqrt_mode(double a, u32 mode)
{
    if (is_special(a) || a == 0 || sign_of(a))
        return __builtin_sqrt(a);
    s32 e = exponent_of(a);
    const u64 sig = normal(mantissa_of(a), &e);
    /* The radicand's exponent must be even; 74 bits more give a root of 64 bits. */
    const s32 odd = e & 1;
    u128 left = (u128)sig << (74 + odd), root = 0;
    e -= 74 + odd;
    for (u128 bit = (u128)1 << 126; bit != 0; bit >>= 2) {
        const u128 trial = root + bit;
        root >>= 1;
        if (left >= trial) {
            left -= trial;
            root += bit;
        }
    }
    return pack(0, e / 2 - 1, root << 1 | (left != 0), mode);
}

static double int_mode(u32 sign, u64 magnitude, u32 mode)
{
    return magnitude == 0 ? 0.0 : pack(sign, 0, magnitude, mode);
}

#define MODE(name, mode)                                                                 \
    double x_add_##name##_f64(double a, double b)                                        \
    {                                                                                    \
        return fma_mode(a, 1.0, b, mode);                                                \
    }                                                                                    \
    double x_sub_##name##_f64(double a, double b)                                        \
    {                                                                                    \
        return fma_mode(a, 1.0, -b, mode);                                               \
    }                                                                                    \
    double x_mul_##name##_f64(double a, double b)                                        \
    {                                                                                    \
        return mul_mode(a, b, mode);                                                     \
    }                                                                                    \
    double x_fma_##name##_f64(double a, double b, double c)                              \
    {                                                                                    \
        return fma_mode(a, b, c, mode);                                                  \
    }                                                                                    \
    double x_div_##name##_f64(double a, double b)                                        \
    {                                                                                    \
        return div_mode(a, b, mode);                                                     \
    }                                                                                    \
    double x_rcp_##name##_f64(double a)                                                  \
    {                                                                                    \
        return div_mode(1.0, a, mode);                                                   \
    }                                                                                    \
    double x_sqrt_##name##_f64(double a)                                                 \
    {                                                                                    \
        return sqrt_mode(a, mode);                                                       \
    }                                                                                    \
    double x_cvt_##name##_f64_u64(u64 a)                                                 \
    {                                                                                    \
        return int_mode(0, a, mode);                                                     \
    }                                                                                    \
    double x_cvt_##name##_f64_s64(s64 a)                                                 \
    {                                                                                    \
        return int_mode(a < 0, a < 0 ? 0 - (u64)a : (u64)a, mode);                       \
    }
MODE(rz, RZ)
MODE(rm, RM)
MODE(rp, RP)

/* A double that stands for the integer when rounded to 40 bits or fewer: the low 20 bits
 * of a large one become one sticky bit. */
double x_odd_f64_u64(u64 a)
{
    const u64 cut = a >> 20 | ((a & 0xfffff) != 0);
    return a >> 50 ? (double)cut * 1048576.0 : (double)a;
}
double x_odd_f64_s64(s64 a)
{
    const double magnitude = x_odd_f64_u64(a < 0 ? 0 - (u64)a : (u64)a);
    return a < 0 ? -magnitude : magnitude;
}

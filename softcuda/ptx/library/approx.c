// SPDX-License-Identifier: Apache-2.0
/* The approximate functions, as polynomials that vectorize, within the error bounds that
 * the PTX ISA gives for the GPU's (which has last bits of its own). Polynomials are those
 * of Cephes (Moshier), by Horner's rule: each step is one fma, rounded once. */
#include "library.h"

static float step(float p, float x, float c)
{
    return __builtin_fmaf(p, x, c);
}

/* The ISA lets these be wrong by one or two units in the last place. The host's division
 * and root are rounded correctly, which is within that, and vectorize. */
float x_rcp_approx_f32(float x)
{
    return 1.0f / x;
}
float x_sqrt_approx_f32(float x)
{
    return __builtin_sqrtf(x);
}
float x_rsqrt_approx_f32(float x)
{
    return 1.0f / __builtin_sqrtf(x);
}
float x_div_full_f32(float a, float b)
{
    return a / b;
}

/* Divisors above 2^126 have a reciprocal that is flushed: 0, or NaN for infinity. */
float x_div_approx_f32(float a, float b)
{
    const u32 magnitude = bits32(b) & ~SIGN32;
    const u32 huge = magnitude > 0x7e800000u && magnitude < INF32;
    return a / (huge ? float32((bits32(b) & SIGN32) | INF32) : b);
}

/* 2^f, f in [-0.5, 0.5]. */
static inline float ex2_part(float f)
{
    float p = 1.535336188319500e-4f;
    p = step(p, f, 1.339887440266574e-3f);
    p = step(p, f, 9.618437357674640e-3f);
    p = step(p, f, 5.550332471162809e-2f);
    p = step(p, f, 2.402264791363012e-1f);
    p = step(p, f, 6.931472028550421e-1f);
    return step(p, f, 1.0f);
}

/* 2^x = 2^n * 2^f. A float of 1.5 * 2^23 and a bit is n in its low bits, to nearest. n is
 * added to the exponent, of small numbers n + 64, so that a subnormal result is rounded once,
 * by the product with 2^-64. */
float x_ex2_approx_f32(float x)
{
    const float above =
        x > -160.0f ? x : -160.0f; /* NaN goes here, and is mended below */
    /* Beyond the two bounds the result is 0 or infinity anyhow; inside them n fits the
     * exponent arithmetic below. */
    const float c = above < 128.0f ? above : 128.0f;
    const float near = c + 12582912.0f, p = ex2_part(c - (near - 12582912.0f));
    const u32 up = c < -100.0f ? 64u << 23 : 0u;
    const float first = float32(bits32(p) + (bits32(near) << 23) + up);
    const float second = float32(0x3f800000u - up);
    return is_nan32(x) ? float32(0x7fffffffu) : first * second;
}

/* The same where subnormal results are zeros: then n is added to the exponent. At 128 that
 * gives infinity; a subnormal x gives 1 as a zero does. */
float x_ex2_approx_ftz_f32(float x)
{
    const float above = x > -127.0f ? x : -127.0f; /* NaN goes here, too */
    const float c = above < 128.0f ? above : 128.0f;
    const float near = c + 12582912.0f, p = ex2_part(c - (near - 12582912.0f));
    const float scaled = float32(bits32(p) + (bits32(near) << 23));
    const float flushed = x < -126.0f ? 0.0f : scaled;
    return is_nan32(x) ? float32(0x7fffffffu) : flushed;
}

/* log2 of x = m * 2^e, m in [sqrt(1/2), sqrt(2)). */
float x_lg2_approx_f32(float x)
{
    /* A subnormal has no exponent to read: it is scaled, and 24 comes off at the end. */
    const u32 small = (bits32(x) & ~SIGN32) < 0x00800000u;
    const float scaled = small ? x * 0x1p24f : x;
    const u32 b = bits32(scaled);
    const u32 shifted = b - 0x3f3504f3u; /* of sqrt(1/2) */
    const s32 e = (s32)shifted >> 23;
    const float m = float32((shifted & 0x007fffffu) + 0x3f3504f3u);
    const float t = m - 1.0f, z = t * t;
    float p = 7.0376836292e-2f;
    p = step(p, t, -1.1514610310e-1f);
    p = step(p, t, 1.1676998740e-1f);
    p = step(p, t, -1.2420140846e-1f);
    p = step(p, t, 1.4249322787e-1f);
    p = step(p, t, -1.6668057665e-1f);
    p = step(p, t, 2.0000714765e-1f);
    p = step(p, t, -2.4999993993e-1f);
    p = step(p, t, 3.3333331174e-1f);
    const float rest = step(p * t, z, -0.5f * z); /* ln(1+t) - t */
    /* log2(e) in two parts: 1 + 0.4427. */
    const float log =
        step(rest, 0.44269504088896340736f, t * 0.44269504088896340736f) + rest + t;
    const float value = log + (float)e - (small ? 24.0f : 0.0f);
    const float positive = bits32(x) == INF32 ? x : value;
    const float negative = x == 0.0f ? float32(SIGN32 | INF32) : float32(0x7fffffffu);
    return x > 0.0f ? positive : negative;
}

/* sin(2 pi u) for |u| <= 1/4. */
static float sine_of_turns(float u)
{
    const float z = u * u;
    float p = -15.094642576822990f;
    p = step(p, z, 42.058693944897650f);
    p = step(p, z, -76.705859753061390f);
    p = step(p, z, 81.605249276075050f);
    p = step(p, z, -41.341702240399760f);
    p = step(p, z, 6.2831853071795860f);
    return p * u;
}
/* As on the GPU, the angle is scaled to turns first and only then reduced, so that large
 * angles lose accuracy in the same way. */
static float turns(float x)
{
    const float t = x * 0.15915494309189535f;
    return t - __builtin_rintf(t);
}
float x_sin_approx_f32(float x)
{
    const float f = turns(x), a = float32(bits32(f) & ~SIGN32);
    const float folded = a > 0.25f ? 0.5f - a : a;
    const float s = sine_of_turns(folded);
    return float32(bits32(s) ^ (bits32(f) & SIGN32));
}
float x_cos_approx_f32(float x)
{
    const float f = turns(x), a = float32(bits32(f) & ~SIGN32);
    return sine_of_turns(0.25f - a);
}

/* Near 0 an odd polynomial, since 1 - 2 / (e^2a + 1) would cancel there; 2.885... is 2
 * log2(e). */
float x_tanh_approx_f32(float x)
{
    const u32 sign = bits32(x) & SIGN32;
    const float a = float32(bits32(x) & ~SIGN32), z = x * x;
    float p = -5.70498872745e-3f;
    p = step(p, z, 2.06390887954e-2f);
    p = step(p, z, -5.37397155531e-2f);
    p = step(p, z, 1.33314422036e-1f);
    p = step(p, z, -3.33332819422e-1f);
    const float small = step(p * z, a, a);
    const float e = x_ex2_approx_f32(a * 2.8853900817779268f);
    const float large = 1.0f - 2.0f / (e + 1.0f);
    const float magnitude = a < 0.625f ? small : large;
    return is_nan32(x) ? x : float32(bits32(magnitude) | sign);
}

/* ---- f64: about 20 bits on the GPU; .ftz flushes and looks at the high words alone  */

static double high_word(double x)
{
    const double high = float64(bits64(x) & 0xffffffff00000000ull);
    return (bits64(high) & INF64) == 0 ? float64(bits64(x) & SIGN64) : high;
}
/* rcp.approx exists with .ftz only; rsqrt.approx has both forms, and without .ftz
 * subnormals count. */
double x_rcp_approx_f64(double x)
{
    return high_word(1.0 / high_word(x));
}
double x_rsqrt_approx_f64(double x)
{
    return 1.0 / __builtin_sqrt(x);
}
double x_rsqrt_approx_ftz_f64(double x)
{
    return high_word(1.0 / __builtin_sqrt(high_word(x)));
}

// SPDX-License-Identifier: Apache-2.0
/* The instruction library compiled for the host, against the host's own arithmetic: the
 * directed roundings against fesetround(), half precision against exact sums, division
 * and bit fields against plain definitions. */
#include <fenv.h>
#include <math.h>

#include "softcuda/ptx/library/library.h"
#include "test.h"

/* clang-format off */
#define DECLARE(mode)                                                                    \
    float x_add_##mode##_f32(float, float); float x_mul_##mode##_f32(float, float);      \
    float x_div_##mode##_f32(float, float); float x_sqrt_##mode##_f32(float);            \
    float x_fma_##mode##_f32(float, float, float);                                       \
    double x_add_##mode##_f64(double, double); double x_mul_##mode##_f64(double, double);\
    double x_div_##mode##_f64(double, double); double x_sqrt_##mode##_f64(double);       \
    double x_fma_##mode##_f64(double, double, double);                                   \
    double x_cvt_##mode##_f64_s64(s64); double x_cvt_##mode##_f64_u64(u64);              \
    float x_cvt_##mode##_f32_f64(double);
DECLARE(rz) DECLARE(rm) DECLARE(rp)
    /* clang-format on */
    u16 x_fma_f16(u16, u16, u16);
u16 x_add_f16(u16, u16);
u16 x_mul_f16(u16, u16);
u16 x_fma_bf16(u16, u16, u16);
u16 x_add_bf16(u16, u16);
u16 x_mul_bf16(u16, u16);
u32 x_div_u32(u32, u32);
u32 x_rem_u32(u32, u32);
s32 x_div_s32(s32, s32);
s32 x_rem_s32(s32, s32);
float x_ex2_approx_ftz_f32(float);
u32 x_prmt_b32(u32, u32, u32);
u32 x_prmt_signs_b32(u32);

#define ROUNDS 200000

static u64 state = 1;
static u64 next(void)
{
    state += 0x9e3779b97f4a7c15ull;
    u64 z = state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

/* All bits, or of moderate exponent, or nearly 0, or with few bits set. */
static double any64(void)
{
    const u64 r = next(), how = next();
    switch (how % 5) {
    case 0: return float64(r);
    case 1:
        return float64((r & 0x800fffffffffffffull) | (1023 - 30 + (how >> 8) % 60) << 52);
    case 2: return float64(r & 0x801fffffffffffffull);
    case 3: return float64(r & 0xfff0000000000000ull);
    default: return float64((r & 0x800fffffffffffffull) | (2046 - (how >> 8) % 4) << 52);
    }
}
static float any32(void)
{
    const u32 r = (u32)next(), how = (u32)next();
    switch (how % 5) {
    case 0: return float32(r);
    case 1: return float32((r & 0x807fffffu) | (127 - 15 + (how >> 8) % 30) << 23);
    case 2: return float32(r & 0x80ffffffu);
    case 3: return float32(r & 0xff800000u);
    default: return float32((r & 0x807fffffu) | (254 - (how >> 8) % 4) << 23);
    }
}

static int same64(double a, double b)
{
    return bits64(a) == bits64(b) || (isnan(a) && isnan(b));
}
static int same32(float a, float b)
{
    return bits32(a) == bits32(b) || (isnan(a) && isnan(b));
}

/* The host's result under a rounding; volatile, so that nothing is folded or moved. */
#define HOST(type, round, expr)                                                          \
    __extension__({                                                                      \
        fesetround(round);                                                               \
        const volatile type result_ = (expr);                                            \
        fesetround(FE_TONEAREST);                                                        \
        result_;                                                                         \
    })

#define CHECK_MODE(mode, round)                                                          \
    static void mode##_f64_rounds_as_the_host(void)                                      \
    {                                                                                    \
        for (int i = 0; i < ROUNDS; i++) {                                               \
            const volatile double a = any64(), b = any64();                              \
            const volatile double c = i & 1 ? any64() : -a * b;                          \
            int good = same64(x_add_##mode##_f64(a, b), HOST(double, round, a + b));     \
            good &= same64(x_mul_##mode##_f64(a, b), HOST(double, round, a *b));         \
            good &= same64(x_div_##mode##_f64(a, b), HOST(double, round, a / b));        \
            good &= same64(x_sqrt_##mode##_f64(a), HOST(double, round, sqrt(a)));        \
            good &=                                                                      \
                same64(x_fma_##mode##_f64(a, b, c), HOST(double, round, fma(a, b, c)));  \
            const volatile s64 n = (s64)(next() >> (i & 31));                            \
            good &= same64(x_cvt_##mode##_f64_s64(n), HOST(double, round, (double)n));   \
            good &= same32(x_cvt_##mode##_f32_f64(a), HOST(float, round, (float)a));     \
            if (!CHECK(good)) {                                                          \
                fprintf(stderr, "  %a %a %a\n", a, b, c);                                \
                return;                                                                  \
            }                                                                            \
        }                                                                                \
    }                                                                                    \
    static void mode##_f32_rounds_as_the_host(void)                                      \
    {                                                                                    \
        for (int i = 0; i < ROUNDS; i++) {                                               \
            const volatile float a = any32(), b = any32();                               \
            const volatile float c = i & 1 ? any32() : -a * b;                           \
            int good = same32(x_add_##mode##_f32(a, b), HOST(float, round, a + b));      \
            good &= same32(x_mul_##mode##_f32(a, b), HOST(float, round, a *b));          \
            good &= same32(x_div_##mode##_f32(a, b), HOST(float, round, a / b));         \
            good &= same32(x_sqrt_##mode##_f32(a), HOST(float, round, sqrtf(a)));        \
            good &=                                                                      \
                same32(x_fma_##mode##_f32(a, b, c), HOST(float, round, fmaf(a, b, c)));  \
            if (!CHECK(good)) {                                                          \
                fprintf(stderr, "  %a %a %a\n", (double)a, (double)b, (double)c);        \
                return;                                                                  \
            }                                                                            \
        }                                                                                \
    }
CHECK_MODE(rz, FE_TOWARDZERO)
CHECK_MODE(rm, FE_DOWNWARD)
CHECK_MODE(rp, FE_UPWARD)

/* The half (or bf16) nearest to `exact`, ties to even, found by trying neighbors;
 * `exact` is a sum of few halves, which long double's 64 bits hold for moderate
 * exponents. */
static u16 nearest(long double exact, float (*widen)(u16), u16 infinity)
{
    if (isnan((double)exact))
        return 0x7fff;
    const u16 sign = signbit(exact) ? 0x8000 : 0;
    const long double magnitude = fabsl(exact);
    u16 low = 0, high = infinity; /* widen(low) <= magnitude */
    while (high - low > 1) {
        const u16 middle = (u16)((low + high) / 2);
        if ((long double)widen(middle) <= magnitude)
            low = middle;
        else
            high = middle;
    }
    /* After the largest number the next step would be as long as the last one. */
    const long double below = widen(low);
    const long double above =
        high == infinity ? 2 * below - widen((u16)(low - 1)) : widen(high);
    const long double down = magnitude - below, up = above - magnitude;
    const u16 chosen = down < up || (down == up && !(low & 1)) ? low : high;
    return isinf((double)magnitude) ? sign | infinity : sign | chosen;
}

static u16 any_half(u16 bias, int shift)
{
    const u64 r = next();
    if (r >> 60 < 4)
        return (u16)r;
    return (u16)((r & 0x8000) | (u16)((bias - 8 + (r >> 32) % 16) << shift) |
                 (r & ((1u << shift) - 1)));
}

static int is_zero(u16 x)
{
    return (x & 0x7fff) == 0;
}

static void f16_rounds_once(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        const u16 a = any_half(15, 10), b = any_half(15, 10), c = any_half(15, 10);
        const long double x = x_cvt_f32_f16(a), y = x_cvt_f32_f16(b),
                          z = x_cvt_f32_f16(c);
        const u16 sum = nearest(x + y, x_cvt_f32_f16, 0x7c00);
        const u16 product = nearest(x * y, x_cvt_f32_f16, 0x7c00);
        const u16 fused = nearest(x * y + z, x_cvt_f32_f16, 0x7c00);
        const u16 got = x_fma_f16(a, b, c);
        if (!CHECK(x_add_f16(a, b) == sum && x_mul_f16(a, b) == product &&
                   (got == fused || (is_zero(got) && is_zero(fused))))) {
            fprintf(stderr, "  %#x %#x %#x\n", a, b, c);
            return;
        }
    }
}

static void bf16_rounds_once(void)
{
    for (int i = 0; i < ROUNDS; i++) {
        const u16 a = any_half(127, 7) & 0xbfff, b = any_half(127, 7),
                  c = any_half(127, 7);
        if (((a | b | c) & 0x7f80) == 0x7f80)
            continue;
        const long double x = x_cvt_f32_bf16(a), y = x_cvt_f32_bf16(b);
        const long double z = x_cvt_f32_bf16(c);
        /* Keep the sum within the 64 bits of a long double. */
        if (x != 0 && y != 0 && (fabsl(x * y) > 0x1p40L || fabsl(x * y) < 0x1p-40L))
            continue;
        if (z != 0 && (fabsl(z) > 0x1p10L || fabsl(z) < 0x1p-10L))
            continue;
        const u16 product = nearest(x * y, x_cvt_f32_bf16, 0x7f80);
        const u16 fused = nearest(x * y + z, x_cvt_f32_bf16, 0x7f80);
        const u16 got = x_fma_bf16(a, b, c);
        if (!CHECK(x_mul_bf16(a, b) == product &&
                   (got == fused || (is_zero(got) && is_zero(fused))))) {
            fprintf(stderr, "  %#x %#x %#x: %#x not %#x\n", a, b, c, got, fused);
            return;
        }
    }
}

/* The same by way of f64, which holds every product and rounds to odd. */
static u16 bf16_by_f64(u16 a, u16 b, u16 c, int fused)
{
    const double p = (double)x_cvt_f32_bf16(a) * (double)x_cvt_f32_bf16(b);
    return x_cvt_rn_bf16_f32(
        x_odd_f32_f64(fused ? x_odd_add_f64(p, (double)x_cvt_f32_bf16(c)) : p));
}

/* Factors whose products are tiny, subnormal, huge, infinite or just a middle between two
 * numbers, with every summand. */
static void bf16_is_as_by_way_of_f64(void)
{
    static const u16 hostile[] = {0x0000, 0x8000, 0x0001, 0x8001, 0x007f, 0x0080, 0x80ff,
                                  0x1fff, 0x2001, 0x9fc1, 0x3f80, 0xbf81, 0x3fff, 0x4381,
                                  0x5f7f, 0x7f7f, 0xff7f, 0x7f01, 0x7f80, 0xff80, 0x7fc1};
    const u32 n = sizeof(hostile) / sizeof(hostile[0]);
    for (u32 i = 0; i < n * n; i++) {
        const u16 a = hostile[i / n], b = hostile[i % n];
        if (!CHECK(x_mul_bf16(a, b) == bf16_by_f64(a, b, 0, 0)))
            fprintf(stderr, "  %#x * %#x\n", a, b);
        for (u32 c = i % 61; c < 0x10000; c += 61)
            if (!CHECK(x_fma_bf16(a, b, (u16)c) == bf16_by_f64(a, b, (u16)c, 1))) {
                fprintf(stderr, "  %#x * %#x + %#x\n", a, b, c);
                return;
            }
    }
    for (u32 i = 0; i < ROUNDS; i++) { /* summands near the product, or its half */
        const u64 r = next();
        const u16 a = (u16)r, b = (u16)(r >> 16);
        const u16 near = x_mul_bf16(a, b) ^ (u16)(r >> 63 << 15);
        const u16 c = (u16)(near + (u16)((r >> 32 & 15) - 8) * (r >> 40 & 1 ? 0x80 : 1));
        if (!CHECK(x_fma_bf16(a, b, c) == bf16_by_f64(a, b, c, 1) &&
                   x_mul_bf16(a, b) == bf16_by_f64(a, b, c, 0))) {
            fprintf(stderr, "  %#x * %#x + %#x\n", a, b, c);
            return;
        }
    }
}

static void division_never_traps(void)
{
    static const u32 corners[] = {0,   1,   2,      3,          7,
                                  ~0u, ~1u, SIGN32, SIGN32 - 1, SIGN32 + 1};
    const u32 n = sizeof(corners) / sizeof(corners[0]);
    for (u32 i = 0; i < ROUNDS; i++) {
        const u32 a = i < n * n ? corners[i / n] : (u32)next() >> (i & 31);
        const u32 b = i < n * n ? corners[i % n] : (u32)next() >> (i >> 5 & 31);
        const s64 x = (s32)a, y = (s32)b;
        CHECK(x_div_u32(a, b) == (b ? a / b : ~0u));
        CHECK(x_rem_u32(a, b) == (b ? a % b : ~0u));
        CHECK(x_div_s32((s32)a, (s32)b) == (y ? (s32)(u32)(u64)(x / y) : -1));
        CHECK(x_rem_s32((s32)a, (s32)b) == (y ? (s32)(x % y) : -1));
    }
}

static void signs_of_bytes_are_as_permuted(void)
{
    for (u32 i = 0; i < ROUNDS; i++) {
        const u32 a = (u32)next();
        CHECK(x_prmt_signs_b32(a) == x_prmt_b32(a, 0, 0xba98));
    }
}

/* Within 3 units in the last place; with .ftz the same numbers, zeros for subnormal ones. */
static void ex2_is_near_and_flushes(void)
{
    static const u32 corners[] = {0,          SIGN32,     1,          0x7fffff,
                                  0x42fc0000, 0x42fe0000, 0x42ffffff, 0x43000000,
                                  0xc2fc0000, 0xc2fc0001, 0xc2fbffff, 0xc2fe0000,
                                  0xc3150000, 0x7f800000, 0xff800000, 0x7fc00000,
                                  0xffc00001, 0x7f7fffff, 0xff7fffff, 0x42fd8000};
    const u32 n = sizeof(corners) / sizeof(corners[0]);
    for (u32 i = 0; i < ROUNDS + n; i++) {
        const u32 r = (u32)next();
        const float x = i < n ? float32(corners[i])
                        : i & 1
                            ? float32((r & 0x807fffffu) | (100 + (r >> 23 & 31)) << 23)
                            : float32(r);
        const float plain = x_ex2_approx_f32(x), flushed = x_ex2_approx_ftz_f32(x);
        const double right = exp2((double)x);
        if (!CHECK(bits32(flushed) == bits32(x_ftz_f32(plain))))
            fprintf(stderr, "  2^%a: %a, not %a\n", x, flushed, plain);
        if (right >= 0x1p-126 && right < 0x1p128 &&
            !CHECK(fabs(plain - right) <= 3 * 0x1p-23 * right))
            fprintf(stderr, "  2^%a: %a\n", x, plain);
    }
}

int main(void)
{
    RUN(rz_f64_rounds_as_the_host);
    RUN(rm_f64_rounds_as_the_host);
    RUN(rp_f64_rounds_as_the_host);
    RUN(rz_f32_rounds_as_the_host);
    RUN(rm_f32_rounds_as_the_host);
    RUN(rp_f32_rounds_as_the_host);
    RUN(f16_rounds_once);
    RUN(bf16_rounds_once);
    RUN(bf16_is_as_by_way_of_f64);
    RUN(division_never_traps);
    RUN(ex2_is_near_and_flushes);
    RUN(signs_of_bytes_are_as_permuted);
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* The arithmetic of tensor cores, as an H100 does it.
 *
 * Integers are exact. f64 is a chain of fma along k. The others are sums of a block of
 * products and one addend, all in fixed point:
 *
 *   every product is exact; the largest exponent (of a product that is the sum of the two
 *   exponents, not normalized) decides the grid: FRACTION bits below it
 *   every term is cut off there, toward zero
 *   the exact sum of those is cut off to the 24 bits of an f32, or rounded to f16
 *
 * fp8 is done as f16, in two halves, and the addend comes after; wmma's tf32 in halves.
 *
 * A term on that grid is its value times a power of two, converted to an integer: floats
 * do that exactly for f16 and numbers of 8 bits, doubles for bf16 and tf32. */
#include "softcuda/kernel/run/tensor.h"

#include <math.h>
#include <string.h>

/* ---- formats ----------------------------------------------------------------------- */

struct format {
    uint8_t mantissa, exponent;
    bool has_infinity;
    uint8_t block;    /* products that are summed at once */
    uint8_t fraction; /* bits below the largest exponent */
};

static const struct format formats[PTX_ELEMENT_COUNT] = {
    [PTX_ELEMENT_F16] = {10, 5, true, 16, 25},  [PTX_ELEMENT_BF16] = {7, 8, true, 16, 25},
    [PTX_ELEMENT_TF32] = {10, 8, true, 8, 25},  [PTX_ELEMENT_F32] = {23, 8, true, 0, 0},
    [PTX_ELEMENT_E4M3] = {3, 4, false, 16, 25}, [PTX_ELEMENT_E5M2] = {2, 5, true, 16, 25},
};

static double power_of_two(int exponent)
{
    if (exponent > 1023)
        exponent = 1023;
    if (exponent < -1022)
        return exponent < -1074 ? 0 : ldexp(1.0, exponent);
    const uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

static float float_power_of_two(int exponent)
{
    const int field = exponent + 127;
    const uint32_t bits = (uint32_t)(field < 0 ? 0 : field > 254 ? 254 : field) << 23;
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
}

/* Of zeros: they have no say in where the grid lies. */
#define EXPONENT_NONE (-1000)

/* A number taken apart. Subnormal ones have the exponent of the smallest normal one. */
struct number {
    double value;
    int exponent;
    bool is_nan, is_infinite;
};

static struct number take_float_apart(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof(value));
    const int field = (int)(bits >> 23 & 255);
    return (struct number){.value = (double)value,
                           .exponent = (bits & 0x7fffffff) == 0 ? EXPONENT_NONE
                                       : field                  ? field - 127
                                                                : -126};
}

static struct number take_apart(uint32_t bits, ptx_element type)
{
    if (type == PTX_ELEMENT_F32 && (~bits & 0x7f800000) != 0)
        return take_float_apart(bits);
    const struct format *f = &formats[type];
    const uint32_t mask = (1u << f->mantissa) - 1, top = (1u << f->exponent) - 1;
    if (type == PTX_ELEMENT_TF32)
        bits >>= 13;
    const uint32_t mantissa = bits & mask, field = bits >> f->mantissa & top;
    const bool negative = (bits >> (f->mantissa + f->exponent) & 1) != 0;
    const int bias = (int)(top >> 1);
    struct number out = {.exponent = (field ? (int)field : 1) - bias};
    if (field == top && (f->has_infinity || mantissa == mask)) {
        out.is_nan = mantissa != 0;
        out.is_infinite = !out.is_nan;
    }
    const uint32_t whole = field ? mantissa | (mask + 1) : mantissa;
    out.value = (double)whole * power_of_two(out.exponent - (int)f->mantissa);
    if (negative)
        out.value = -out.value;
    if (whole == 0)
        out.exponent = EXPONENT_NONE;
    return out;
}

/* ---- results ---- */

static uint32_t bits_of(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return bits;
}

/* Toward zero; beyond the largest number infinity. */
static uint32_t cut_to_f32(double value)
{
    uint64_t bits;
    const double size = fabs(value);
    if (size >= 0x1p128)
        return value < 0 ? 0xff800000u : 0x7f800000u;
    if (size < 0x1p-126)
        return bits_of((float)(trunc(value * 0x1p149) * 0x1p-149));
    memcpy(&bits, &value, sizeof(bits));
    bits &= ~(uint64_t)0x1fffffff;
    memcpy(&value, &bits, sizeof(bits));
    return bits_of((float)value);
}

/* To nearest, ties to even. */
static uint32_t round_to_f16(double value)
{
    const double size = fabs(value);
    const uint32_t sign = signbit(value) ? 0x8000u : 0;
    if (size >= 65520.0)
        return sign | 0x7c00u;
    if (size == 0)
        return sign;
    uint64_t bits;
    memcpy(&bits, &size, sizeof(bits));
    int unit = (int)(bits >> 52) - 1023 - 10;
    if (unit < -24)
        unit = -24;
    const double units = size * power_of_two(-unit) + 0x1p52 - 0x1p52;
    if (unit == -24)
        return sign | (uint32_t)units;
    return sign | (((uint32_t)(unit + 24) << 10) + (uint32_t)units);
}

/* f16 out of an f32 addend is rounded twice. */
static uint32_t result_of(double value, ptx_element type, ptx_element addend)
{
    if (type != PTX_ELEMENT_F16)
        return cut_to_f32(value);
    if (addend == PTX_ELEMENT_F32) {
        const uint32_t bits = cut_to_f32(value);
        float cut;
        memcpy(&cut, &bits, sizeof(cut));
        value = (double)cut;
    }
    return round_to_f16(value);
}

/* ---- floats ------------------------------------------------------------------------ */

#define NAN_F32 0x7fffffffu
#define NAN_F16 0x7fffu

/* Their exponents add up beyond those of floats. */
static bool needs_double(ptx_element type)
{
    return type == PTX_ELEMENT_BF16 || type == PTX_ELEMENT_TF32;
}

/* A by rows, B by rows, too: a register has neighboring columns of it. */
struct operands {
    union {
        float small[SOFT_TENSOR_ELEMENTS]; /* of formats whose products are floats */
        double large[SOFT_TENSOR_ELEMENTS];
    } value;
    int16_t exponent[SOFT_TENSOR_ELEMENTS];
    bool any_special;
};

#define RUN 8u /* what the columns of B are a multiple of */

/* RUN numbers of the formats whose products are floats, as take_apart() does: without
 * branches, so that they are done as vectors. */
static bool take_run_apart(const uint32_t *bits, const struct format *f, float *value,
                           int16_t *exponent)
{
    const uint32_t mask = (1u << f->mantissa) - 1, top = (1u << f->exponent) - 1;
    const int32_t bias = (int32_t)(top >> 1), mantissa = (int32_t)f->mantissa;
    const uint32_t sign = f->mantissa + f->exponent;
    const uint32_t special = f->has_infinity ? top << f->mantissa : (1u << sign) - 1;
    uint32_t found = 0;
    for (uint32_t i = 0; i < RUN; i++) {
        const uint32_t field = bits[i] >> mantissa & top;
        const uint32_t is_subnormal = field == 0;
        const uint32_t whole = (bits[i] & mask) | (1 - is_subnormal) << mantissa;
        const int32_t e = (int32_t)(field + is_subnormal) - bias;
        const uint32_t unit = (uint32_t)(e - mantissa + 127) << 23;
        float scale;
        memcpy(&scale, &unit, sizeof(scale));
        const float size = (float)(int32_t)whole * scale;
        const uint32_t word = bits_of(size) | (bits[i] >> sign & 1) << 31;
        memcpy(&value[i], &word, sizeof(word));
        exponent[i] = (int16_t)(whole == 0 ? EXPONENT_NONE : e);
        found |= (bits[i] & special) == special;
    }
    return found != 0;
}

static void take_large_apart(const uint32_t *bits, ptx_element type, double *value,
                             int16_t *exponent, bool *any_special)
{
    for (uint32_t i = 0; i < RUN; i++) {
        const struct number x = take_apart(bits[i], type);
        value[i] = x.value;
        exponent[i] = (int16_t)x.exponent;
        *any_special |= x.is_nan | x.is_infinite;
    }
}

/* `lines` lines of k numbers each; number k of line i goes to [i * step + k * apart]. */
static void read_operand(const uint32_t *bits, uint32_t lines, uint32_t k,
                         ptx_element type, bool by_columns, struct operands *out)
{
    const uint32_t step = by_columns ? 1 : k, apart = by_columns ? lines : 1;
    out->any_special = false;
    for (uint32_t i = 0; i < lines * k; i += RUN) {
        float small[RUN] = {0};
        double large[RUN];
        int16_t exponent[RUN];
        if (needs_double(type))
            take_large_apart(&bits[i], type, large, exponent, &out->any_special);
        else
            out->any_special |= take_run_apart(&bits[i], &formats[type], small, exponent);
        for (uint32_t r = 0; r < RUN && i + r < lines * k; r++) {
            const uint32_t at = (i + r) / k * step + (i + r) % k * apart;
            if (needs_double(type))
                out->value.large[at] = large[r];
            else
                out->value.small[at] = small[r];
            out->exponent[at] = exponent[r];
        }
    }
}

static uint32_t special_result(bool is_nan, bool is_negative, ptx_element type)
{
    const bool is_half = type == PTX_ELEMENT_F16;
    if (is_nan)
        return is_half ? NAN_F16 : NAN_F32;
    return (is_half ? 0x7c00u : 0x7f800000u) |
           (is_negative ? is_half ? 0x8000u : 0x80000000u : 0);
}

/* NaN and infinities of one sum; false: there are none. An infinite addend may be a sum
 * before this one that was too large. */
static bool find_special(const soft_tensor *t, uint32_t row, uint32_t column,
                         uint32_t from, uint32_t to, struct number c, uint32_t *out)
{
    bool is_nan = c.is_nan, plus = c.is_infinite && c.value > 0;
    bool minus = c.is_infinite && c.value < 0;
    for (uint32_t k = from; k < to; k++) {
        const struct number a =
            take_apart(t->a.bits[row * t->k + k], (ptx_element)t->a_type);
        const struct number b =
            take_apart(t->b.bits[column * t->k + k], (ptx_element)t->b_type);
        is_nan |= a.is_nan || b.is_nan;
        if (!a.is_infinite && !b.is_infinite)
            continue;
        is_nan |= a.value == 0 || b.value == 0;
        plus |= (a.value < 0) == (b.value < 0);
        minus |= (a.value < 0) != (b.value < 0);
    }
    if (!is_nan && !plus && !minus)
        return false;
    *out = special_result(is_nan || (plus && minus), minus, (ptx_element)t->d_type);
    return true;
}

/* RUN columns of a row of results. */
struct sums {
    int16_t top[RUN]; /* largest exponents */
    int32_t sum[RUN];
};

typedef int16_t shorts __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));
typedef float floats __attribute__((vector_size(16)));

/* `count` numbers of a row of A, and as many rows of B, `n` apart. */
static void find_tops(const int16_t *a, const int16_t *b, uint32_t n, uint32_t count,
                      struct sums *s)
{
    shorts top;
    memcpy(&top, s->top, sizeof(top));
    for (uint32_t k = 0; k < count; k++) {
        shorts x = {a[k], a[k], a[k], a[k], a[k], a[k], a[k], a[k]}, y;
        memcpy(&y, &b[k * n], sizeof(y));
        x += y;
        const shorts larger = x > top;
        top = (x & larger) | (top & ~larger);
    }
    memcpy(s->top, &top, sizeof(top));
}

static void add_small(const float *a, const float *b, uint32_t n, uint32_t count,
                      uint32_t fraction, struct sums *s)
{
    for (uint32_t half = 0; half < RUN; half += 4) {
        floats scale;
        ints sum = {0};
        for (uint32_t j = 0; j < 4; j++)
            scale[j] = float_power_of_two((int)fraction - s->top[half + j]);
        for (uint32_t k = 0; k < count; k++) {
            floats x = {a[k], a[k], a[k], a[k]}, y;
            memcpy(&y, &b[k * n + half], sizeof(y));
            sum += __builtin_convertvector(x * y * scale, ints);
        }
        memcpy(&s->sum[half], &sum, sizeof(sum));
    }
}

static void add_large(const double *a, const double *b, uint32_t n, uint32_t count,
                      uint32_t fraction, struct sums *s)
{
    for (uint32_t j = 0; j < RUN; j++) {
        const double scale = power_of_two((int)fraction - s->top[j]);
        int32_t sum = 0;
        for (uint32_t k = 0; k < count; k++)
            sum += (int32_t)(a[k] * b[k * n + j] * scale);
        s->sum[j] = sum;
    }
}

/* 8-bit floats have no tensor core in mma.sync: f16's does them. */
static bool is_narrow(const soft_tensor *t)
{
    return t->a_type == PTX_ELEMENT_E4M3 || t->a_type == PTX_ELEMENT_E5M2;
}

/* Products that are summed at once; the two halves of 8-bit floats lie in order: see
 * soft_tensor. */
static uint32_t block_of(const soft_tensor *t)
{
    if (is_narrow(t))
        return t->k / 2;
    return t->short_blocks && t->a_type == PTX_ELEMENT_TF32 ? 4
                                                            : formats[t->a_type].block;
}

/* A block of products of RUN columns of a row, from one of k on, on top of `addend`, which
 * becomes the result. */
static void add_block(const soft_tensor *t, const struct operands *a,
                      const struct operands *b, uint32_t row, uint32_t column,
                      uint32_t from, uint32_t *addend)
{
    const uint32_t fraction = formats[t->a_type].fraction, n = t->n;
    const uint32_t to = from + block_of(t) < t->k ? from + block_of(t) : t->k;
    const uint32_t left = row * t->k + from, right = from * n + column;
    const bool is_first = from == 0 && !is_narrow(t);
    const ptx_element type = (ptx_element)(is_first ? t->c_type : t->d_type);
    struct number c[RUN];
    struct sums s;
    for (uint32_t j = 0; j < RUN; j++) {
        c[j] = take_apart(addend[j], type);
        s.top[j] = (int16_t)c[j].exponent;
    }
    find_tops(&a->exponent[left], &b->exponent[right], n, to - from, &s);
    if (needs_double((ptx_element)t->a_type))
        add_large(&a->value.large[left], &b->value.large[right], n, to - from, fraction,
                  &s);
    else
        add_small(&a->value.small[left], &b->value.small[right], n, to - from, fraction,
                  &s);
    for (uint32_t j = 0; j < RUN; j++) {
        const int unit = s.top[j] - (int)fraction;
        const int64_t all = s.sum[j] + (int64_t)(c[j].value * power_of_two(-unit));
        const bool may_be_special =
            a->any_special || b->any_special || c[j].is_infinite || c[j].is_nan;
        if (may_be_special &&
            find_special(t, row, column + j, from, to, c[j], &addend[j]))
            continue;
        addend[j] =
            result_of((double)all * power_of_two(unit), (ptx_element)t->d_type, type);
    }
}

/* Rounded to nearest, as by an instruction of its own. */
static uint32_t add_after(uint32_t sum, uint32_t addend, ptx_element type)
{
    const struct number a = take_apart(sum, type), b = take_apart(addend, type);
    if (a.is_nan || b.is_nan || (a.is_infinite && b.is_infinite && sum != addend))
        return special_result(true, false, type);
    if (a.is_infinite || b.is_infinite)
        return a.is_infinite ? sum : addend;
    return type == PTX_ELEMENT_F16 ? round_to_f16(a.value + b.value)
                                   : bits_of((float)a.value + (float)b.value);
}

/* A row of results; the addend of 8-bit floats comes after the products. */
static void multiply_row(const soft_tensor *t, const struct operands *a,
                         const struct operands *b, uint32_t row, uint32_t *out)
{
    const uint32_t *addend = &t->c.bits[row * t->n];
    memcpy(out, addend, t->n * sizeof(out[0]));
    if (is_narrow(t))
        memset(out, 0, t->n * sizeof(out[0]));
    for (uint32_t j = 0; j < t->n; j += RUN)
        for (uint32_t k = 0; k < t->k; k += block_of(t))
            add_block(t, a, b, row, j, k, &out[j]);
    for (uint32_t j = 0; j < t->n && is_narrow(t); j++)
        out[j] = add_after(out[j], addend[j], (ptx_element)t->d_type);
}

static void multiply_floats(soft_tensor *t)
{
    struct operands a, b;
    read_operand(t->a.bits, t->m, t->k, (ptx_element)t->a_type, false, &a);
    read_operand(t->b.bits, t->n, t->k, (ptx_element)t->b_type, true, &b);
    for (uint32_t i = 0; i < t->m; i++)
        multiply_row(t, &a, &b, i, &t->d.bits[i * t->n]);
}

/* ---- exact ones -------------------------------------------------------------------- */

static uint32_t add_ints(uint32_t addend, int64_t sum, bool saturates)
{
    const int64_t all = (int32_t)addend + sum;
    if (saturates)
        return (uint32_t)(int32_t)(all > INT32_MAX   ? INT32_MAX
                                   : all < INT32_MIN ? INT32_MIN
                                                     : all);
    return (uint32_t)all;
}

/* Of 16 at a time, which every k here is a multiple of: a loop that is vectorized. */
static int32_t dot(const int16_t *a, const int16_t *b, uint32_t k)
{
    int32_t sum = 0; /* at most 64 x 255 x 255 */
    for (uint32_t from = 0; from < k; from += 16)
        for (uint32_t i = 0; i < 16; i++)
            sum += a[from + i] * b[from + i];
    return sum;
}

static void multiply_ints(soft_tensor *t)
{
    const uint32_t k = t->k;
    for (uint32_t i = 0; i < t->m; i++)
        for (uint32_t j = 0; j < t->n; j++)
            t->d.bits[i * t->n + j] =
                add_ints(t->c.bits[i * t->n + j],
                         dot(&t->a.ints[i * k], &t->b.ints[j * k], k), t->saturates);
}

static void multiply_bits(soft_tensor *t)
{
    for (uint32_t i = 0; i < t->m; i++)
        for (uint32_t j = 0; j < t->n; j++) {
            int32_t sum = 0;
            for (uint32_t k = 0; k < t->k; k++) {
                const uint32_t a = t->a.bits[i * t->k + k], b = t->b.bits[j * t->k + k];
                sum += __builtin_popcount(t->takes_and ? a & b : a ^ b);
            }
            t->d.bits[i * t->n + j] = add_ints(t->c.bits[i * t->n + j], sum, false);
        }
}

static void multiply_doubles(soft_tensor *t)
{
    for (uint32_t i = 0; i < t->m; i++)
        for (uint32_t j = 0; j < t->n; j++) {
            double sum = t->c.doubles[i * t->n + j];
            for (uint32_t k = 0; k < t->k; k++)
                sum = fma(t->a.doubles[i * t->k + k], t->b.doubles[j * t->k + k], sum);
            t->d.doubles[i * t->n + j] = sum;
        }
}

void soft_tensor_multiply(soft_tensor *t)
{
    switch ((ptx_element)t->a_type) {
    case PTX_ELEMENT_S8:
    case PTX_ELEMENT_U8:
    case PTX_ELEMENT_S4:
    case PTX_ELEMENT_U4: multiply_ints(t); break;
    case PTX_ELEMENT_B1: multiply_bits(t); break;
    case PTX_ELEMENT_F64: multiply_doubles(t); break;
    default: multiply_floats(t);
    }
}

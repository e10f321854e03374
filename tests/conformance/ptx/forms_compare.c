// SPDX-License-Identifier: Apache-2.0
/* Comparing outputs. Bits must be equal, but that any NaN equals any NaN in a result that
 * is a floating-point number (PTX leaves the payload open), and that approximate
 * functions have a bound. */
#include "forms.h"

#include <math.h>
#include <string.h>

static bool is_nan_bits(uint64_t x, uint32_t bits, uint32_t mantissa)
{
    const uint64_t magnitude = x & ~(1ull << (bits - 1)) & (~0ull >> (64 - bits));
    const uint64_t infinity = ((1ull << (bits - 1 - mantissa)) - 1) << mantissa;
    return magnitude > infinity;
}

/* Numbers in order as integers in order. */
static int64_t ordinal(uint64_t x, uint32_t bits)
{
    const uint64_t sign = 1ull << (bits - 1);
    return x & sign ? -(int64_t)(x & ~sign) : (int64_t)x;
}

static double value_of(uint64_t x, uint32_t bits)
{
    if (bits == 64) {
        double v;
        memcpy(&v, &x, sizeof(v));
        return v;
    }
    const uint32_t word = (uint32_t)x;
    float v;
    memcpy(&v, &word, sizeof(v));
    return v;
}

static bool within(double e, double g, tolerance how, double bound)
{
    if (e == g)
        return true;
    if (isnan(e) || isnan(g) || isinf(e) || isinf(g))
        return false;
    const double off = fabs(e - g);
    const bool absolute = off <= bound, relative = off <= bound * fabs(e);
    if (how == ABSOLUTE)
        return absolute;
    return how == RELATIVE ? relative : absolute || relative;
}

static bool same_float(uint64_t e, uint64_t g, uint32_t bits, uint32_t mantissa,
                       const form *f)
{
    if (e == g)
        return true;
    const bool nan_e = is_nan_bits(e, bits, mantissa);
    const bool nan_g = is_nan_bits(g, bits, mantissa);
    if (nan_e || nan_g)
        return nan_e && nan_g;
    if (f->tolerance == EXACT)
        return false;
    if (f->tolerance == ULP) {
        const int64_t off = ordinal(e, bits) - ordinal(g, bits);
        return (double)(off < 0 ? -off : off) <= f->bound;
    }
    return bits >= 32 &&
           within(value_of(e, bits), value_of(g, bits), f->tolerance, f->bound);
}

static bool same(uint64_t e, uint64_t g, const value_type *type, const form *f)
{
    switch (type->kind) {
    case KIND_F16: return same_float(e, g, 16, 10, f);
    case KIND_BF16: return same_float(e, g, 16, 7, f);
    case KIND_F16X2:
        return same_float(e & 0xffff, g & 0xffff, 16, 10, f) &&
               same_float(e >> 16, g >> 16, 16, 10, f);
    case KIND_BF16X2:
        return same_float(e & 0xffff, g & 0xffff, 16, 7, f) &&
               same_float(e >> 16, g >> 16, 16, 7, f);
    case KIND_F32: return same_float(e, g, 32, 23, f);
    case KIND_F64: return same_float(e, g, 64, 52, f);
    default: return e == g;
    }
}

static uint64_t load(const unsigned char *at, uint32_t bytes)
{
    uint64_t x = 0;
    memcpy(&x, at, bytes); /* little endian, as the device */
    return x;
}

static void show_difference(const form *f, uint32_t thread, uint32_t output, uint64_t e,
                            uint64_t g)
{
    static unsigned char in[THREADS_MAX * INPUTS_MAX * SLOT_BYTES];
    inputs_make(f, in);
    printf("    thread %u, output %u: expected %#llx, got %#llx; inputs", thread, output,
           (unsigned long long)e, (unsigned long long)g);
    for (uint32_t i = 0; i < f->input_count; i++)
        printf(" %#llx", (unsigned long long)load(in + ((size_t)thread * INPUTS_MAX + i) *
                                                           SLOT_BYTES,
                                                  f->inputs[i]->bytes));
    printf("\n");
}

uint32_t outputs_compare(const form *f, const unsigned char *expected,
                         const unsigned char *got, uint32_t show)
{
    uint32_t bad = 0;
    size_t at = 0;
    for (uint32_t k = 0; k < f->threads; k++) {
        for (uint32_t i = 0; i < f->output_count; i++) {
            const uint32_t bytes = f->outputs[i]->bytes;
            const uint64_t e = load(expected + at, bytes), g = load(got + at, bytes);
            at += bytes;
            if (same(e, g, f->outputs[i], f))
                continue;
            if (bad++ < show)
                show_difference(f, k, i, e, g);
        }
    }
    return bad;
}

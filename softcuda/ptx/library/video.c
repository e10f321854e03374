// SPDX-License-Identifier: Apache-2.0
/* Video instructions, and cvt.pack. What the instruction says beside its operands comes
 * as a constant, so that inlining leaves what that one form needs.
 *
 * traits of a scalar one: see lower_video.c, which packs them. */
#include "library.h"

enum { ADD, SUB, ABSDIFF, MIN, MAX, SHL, SHR, AVRG, SET };
enum { WHOLE, BYTE0, BYTE1, BYTE2, BYTE3, HALF0, HALF1 }; /* selections */
enum { NO_SECOND, SECOND_ADD, SECOND_MIN, SECOND_MAX };
enum { EQ, NE, LT, LE, GT, GE };

static s64 selected(u32 x, u32 selection, u32 is_signed)
{
    const u32 bits = selection == WHOLE ? 32 : selection >= HALF0 ? 16 : 8;
    const u32 at = selection == WHOLE   ? 0
                   : selection >= HALF0 ? (selection - HALF0) * 16
                                        : (selection - BYTE0) * 8;
    const u64 up = (u64)(x >> at) << (64 - bits);
    return is_signed ? (s64)up >> (64 - bits) : (s64)(up >> (64 - bits));
}

static s64 clamp(s64 x, s64 low, s64 high)
{
    return x < low ? low : x > high ? high : x;
}

static s64 saturated(s64 x, u32 bits, u32 is_signed)
{
    return is_signed ? clamp(x, -((s64)1 << (bits - 1)), ((s64)1 << (bits - 1)) - 1)
                     : clamp(x, 0, ((s64)1 << bits) - 1);
}

static u32 merged(u32 x, u32 c, u32 selection)
{
    const u32 at =
        selection >= HALF0 ? (selection - HALF0) * 16 : (selection - BYTE0) * 8;
    const u32 mask = (selection >= HALF0 ? 0xffffu : 0xffu) << at;
    return (x << at & mask) | (c & ~mask);
}

static u32 compared(s64 a, s64 b, u32 comparison)
{
    switch (comparison) {
    case EQ: return a == b;
    case NE: return a != b;
    case LT: return a < b;
    case LE: return a <= b;
    case GT: return a > b;
    default: return a >= b;
    }
}

static s64 halved(s64 sum)
{
    return sum >= 0 ? (sum + 1) >> 1 : sum >> 1;
}

static s64 computed(s64 a, s64 b, u32 operation, u32 mode)
{
    switch (operation) {
    case ADD: return a + b;
    case SUB: return a - b;
    case ABSDIFF: return a < b ? b - a : a - b;
    case MIN: return a < b ? a : b;
    case MAX: return a > b ? a : b;
    case SHL: return (s64)((u64)a << (mode ? b & 31 : b > 32 ? 32 : b));
    case SHR: return a >> (mode ? b & 31 : b > 32 ? 32 : b);
    case AVRG: return halved(a + b);
    default: return (s64)compared(a, b, mode);
    }
}

static u32 seconded(u32 x, u32 c, u32 second, u32 is_signed)
{
    const u32 less = is_signed ? (s32)x < (s32)c : x < c;
    switch (second) {
    case SECOND_ADD: return x + c;
    case SECOND_MIN: return less ? x : c;
    case SECOND_MAX: return less ? c : x;
    default: return x;
    }
}

/* bits: 0-3 operation, 4-6 mode, 7-9 d's, 10-12 a's, 13-15 b's selection, 16 d, 17 a, 18
 * b signed, 19 saturates, 20-21 second operation */
u32 x_video(u32 a, u32 b, u32 c, u32 traits)
{
    const u32 into = traits >> 7 & 7, second = traits >> 20 & 3;
    const u32 is_signed = traits >> 16 & 1;
    const s64 x = selected(a, traits >> 10 & 7, traits >> 17 & 1);
    const s64 y = selected(b, traits >> 13 & 7, traits >> 18 & 1);
    s64 result = computed(x, y, traits & 15, traits >> 4 & 7);
    /* Nothing cuts unsigned results from above: so a GPU has it. */
    if (traits >> 19 & 1)
        result = is_signed ? saturated(result, 32, 1) : result < 0 ? 0 : result;
    if (into != WHOLE)
        return merged((u32)(u64)result, c, into);
    return seconded((u32)(u64)result, c, second, is_signed);
}

/* bits: as above for 10-15, 17-19; 0-4 shift; 5 product, 6 c negated; 7 plus one. Whole
 * operands and c count as signed whatever their type is: so a GPU has it. */
u32 x_video_mad(u32 a, u32 b, u32 c, u32 traits)
{
    const u32 negates = traits >> 5 & 1, less = traits >> 6 & 1;
    const u32 is_signed = (traits >> 17 & 3) != 0 || negates || less;
    const u32 a_part = traits >> 10 & 7, b_part = traits >> 13 & 7;
    const s64 x = selected(a, a_part, a_part == WHOLE || (traits >> 17 & 1));
    const s64 y = selected(b, b_part, b_part == WHOLE || (traits >> 18 & 1));
    const s64 product = x * y, wide = (s32)c;
    const s64 sum = negates ? wide - product : less ? product - wide : product + wide;
    const s64 result = (sum + (traits >> 7 & 1)) >> (traits & 31);
    return (u32)(u64)(traits >> 19 & 1 ? saturated(result, 32, is_signed) : result);
}

/* Element `nth` of those in a and b, `bits` wide. */
static s64 element(u32 a, u32 b, u32 nth, u32 bits, u32 is_signed)
{
    const u64 both = (u64)b << 32 | a;
    const u64 up = both >> (nth * bits) << (64 - bits);
    return is_signed ? (s64)up >> (64 - bits) : (s64)(up >> (64 - bits));
}

static u32 simd(u32 a, u32 b, u32 c, u32 traits, u32 selections, u32 bits)
{
    const u32 adds = traits >> 20 & 1, mask = traits >> 24 & 15;
    const u32 all = bits == 16 ? 0xffffu : 0xffu;
    u32 d = adds ? c : 0;
    for (u32 i = 0; i < 32 / bits; i++) {
        const s64 x = element(a, b, selections >> (4 * i) & 7, bits, traits >> 17 & 1);
        const s64 y =
            element(a, b, selections >> (16 + 4 * i) & 7, bits, traits >> 18 & 1);
        s64 t = computed(x, y, traits & 15, traits >> 4 & 7);
        if (traits >> 19 & 1)
            t = saturated(t, bits, traits >> 16 & 1);
        const u32 on = mask >> i & 1;
        if (adds)
            d += on ? (u32)(u64)t : 0;
        else
            d |= on ? ((u32)(u64)t & all) << (i * bits) : c & all << (i * bits);
    }
    return d;
}

/* traits as of x_video, with 20: adds up, 24-27: elements of d that are written.
 * selections: a nibble an element, a's in 0-15, b's in 16-31 */
u32 x_video_two(u32 a, u32 b, u32 c, u32 traits, u32 selections)
{
    return simd(a, b, c, traits, selections, 16);
}
u32 x_video_four(u32 a, u32 b, u32 c, u32 traits, u32 selections)
{
    return simd(a, b, c, traits, selections, 8);
}

/* cvt.pack: `bits` of a, saturated, above those of b, above them what c has. */
u32 x_cvt_pack(s32 a, s32 b, u32 c, u32 bits, u32 is_signed)
{
    const u32 mask = (1u << bits) - 1;
    const u32 high = (u32)(u64)saturated(a, bits, is_signed) & mask;
    const u32 low = (u32)(u64)saturated(b, bits, is_signed) & mask;
    return low | high << bits | (bits == 16 ? 0 : c << (2 * bits));
}

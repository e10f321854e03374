// SPDX-License-Identifier: Apache-2.0
/* Integer instructions.
 *
 * PTX defines what IR leaves undefined: a shift by the width or more, division by zero,
 * the count of leading zeros of 0. So the operand of the IR instruction is always brought
 * into its range (`& 31`, `b == 0 ? 1 : b`, `a | (a == 0)`), and the special case is
 * selected beside it: a select vectorizes, a branch does not. */
#include "library.h"

/* ---- division: by zero gives all ones, the remainder then is the dividend --------- */

/* 32-bit quotients are exact in double: a quotient that is not an integer is at least 2^-32
 * of itself away from one, and double divides to 2^-53. So it vectorizes. */
u32 x_div_u32(u32 a, u32 b)
{
    const double q = (double)a / (double)(b == 0 ? 1 : b);
    return b == 0 ? 0xffffffffu : (u32)q;
}
u32 x_rem_u32(u32 a, u32 b)
{
    const double q = (double)a / (double)(b == 0 ? 1 : b);
    return b == 0 ? ~0u : a - (u32)q * b;
}
s32 x_div_s32(s32 a, s32 b)
{
    const double q = (double)a / (double)(b == 0 ? 1 : b);
    const s64 wide = (s64)q; /* INT_MIN / -1 is 2^31 */
    return b == 0 ? -1 : (s32)(u32)(u64)wide;
}
s32 x_rem_s32(s32 a, s32 b)
{
    const double q = (double)a / (double)(b == 0 ? 1 : b);
    const s64 wide = (s64)q;
    return b == 0 ? -1 : (s32)((u32)a - (u32)(u64)wide * (u32)b);
}
u16 x_div_u16(u16 a, u16 b)
{
    return (u16)x_div_u32(a, b);
}
u16 x_rem_u16(u16 a, u16 b)
{
    return (u16)x_rem_u32(a, b);
}
s16 x_div_s16(s16 a, s16 b)
{
    return (s16)x_div_s32(a, b);
}
s16 x_rem_s16(s16 a, s16 b)
{
    return (s16)x_rem_s32(a, b);
}
u64 x_div_u64(u64 a, u64 b)
{
    const u64 q = a / (b == 0 ? 1 : b);
    return b == 0 ? ~0ull : q;
}
u64 x_rem_u64(u64 a, u64 b)
{
    const u64 r = a % (b == 0 ? 1 : b);
    return b == 0 ? ~0ull : r;
}
/* -1 is set apart: the lowest number divided by it traps on x86-64. */
s64 x_div_s64(s64 a, s64 b)
{
    const s64 q = a / (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? -1 : b == -1 ? (s64)(0 - (u64)a) : q;
}
s64 x_rem_s64(s64 a, s64 b)
{
    const s64 r = a % (b == 0 || b == -1 ? 1 : b);
    return b == 0 ? -1 : r;
}

/* ---- pairs ------------------------------------------------------------------------ */

static u32 pair(u32 lo, u32 hi)
{
    return (lo & 0xffff) | (hi << 16);
}
static s32 low_s(u32 x)
{
    return (s16)(u16)x;
}
static s32 high_s(u32 x)
{
    return (s16)(u16)(x >> 16);
}

u32 x_add_u16x2(u32 a, u32 b)
{
    return pair(a + b, (a >> 16) + (b >> 16));
}
/* In two's complement signs make no difference to sums and differences. */
u32 x_add_s16x2(u32 a, u32 b)
{
    return x_add_u16x2(a, b);
}
u32 x_sub_u16x2(u32 a, u32 b)
{
    return pair(a - b, (a >> 16) - (b >> 16));
}
u32 x_sub_s16x2(u32 a, u32 b)
{
    return x_sub_u16x2(a, b);
}

static u32 min_u(u32 a, u32 b)
{
    return a < b ? a : b;
}
static u32 max_u(u32 a, u32 b)
{
    return a > b ? a : b;
}
static s32 min_s(s32 a, s32 b)
{
    return a < b ? a : b;
}
static s32 max_s(s32 a, s32 b)
{
    return a > b ? a : b;
}

u32 x_min_u16x2(u32 a, u32 b)
{
    return pair(min_u(a & 0xffff, b & 0xffff), min_u(a >> 16, b >> 16));
}
u32 x_max_u16x2(u32 a, u32 b)
{
    return pair(max_u(a & 0xffff, b & 0xffff), max_u(a >> 16, b >> 16));
}
u32 x_min_s16x2(u32 a, u32 b)
{
    return pair((u32)min_s(low_s(a), low_s(b)), (u32)min_s(high_s(a), high_s(b)));
}
u32 x_max_s16x2(u32 a, u32 b)
{
    return pair((u32)max_s(low_s(a), low_s(b)), (u32)max_s(high_s(a), high_s(b)));
}
u32 x_min_relu_s16x2(u32 a, u32 b)
{
    return x_max_s16x2(x_min_s16x2(a, b), 0);
}
u32 x_max_relu_s16x2(u32 a, u32 b)
{
    return x_max_s16x2(x_max_s16x2(a, b), 0);
}

/* ---- dot products ----------------------------------------------------------------- */

/* Elements extended to 32 bits by their own signs; from there all is modulo 2^32, so that
 * one sum serves every mix of signs. */
#define U8_AT(x, i) ((u32)(u8)((x) >> (8 * (i))))
#define S8_AT(x, i) ((u32)(s32)(s8)(u8)((x) >> (8 * (i))))
#define U16_AT(x, i) ((u32)(u16)((x) >> (16 * (i))))
#define S16_AT(x, i) ((u32)(s32)(s16)(u16)((x) >> (16 * (i))))

#define DP4A(name, A, B)                                                                 \
    u32 name(u32 a, u32 b, u32 c)                                                        \
    {                                                                                    \
        return c + A(a, 0) * B(b, 0) + A(a, 1) * B(b, 1) + A(a, 2) * B(b, 2) +           \
               A(a, 3) * B(b, 3);                                                        \
    }
DP4A(x_dp4a_u32_u32, U8_AT, U8_AT)
DP4A(x_dp4a_u32_s32, U8_AT, S8_AT)
DP4A(x_dp4a_s32_u32, S8_AT, U8_AT)
DP4A(x_dp4a_s32_s32, S8_AT, S8_AT)

#define DP2A(name, A, B, at)                                                             \
    u32 name(u32 a, u32 b, u32 c)                                                        \
    {                                                                                    \
        return c + A(a, 0) * B(b, at) + A(a, 1) * B(b, at + 1);                          \
    }
DP2A(x_dp2a_lo_u32_u32, U16_AT, U8_AT, 0)
DP2A(x_dp2a_lo_u32_s32, U16_AT, S8_AT, 0)
DP2A(x_dp2a_lo_s32_u32, S16_AT, U8_AT, 0)
DP2A(x_dp2a_lo_s32_s32, S16_AT, S8_AT, 0)
DP2A(x_dp2a_hi_u32_u32, U16_AT, U8_AT, 2)
DP2A(x_dp2a_hi_u32_s32, U16_AT, S8_AT, 2)
DP2A(x_dp2a_hi_s32_u32, S16_AT, U8_AT, 2)
DP2A(x_dp2a_hi_s32_s32, S16_AT, S8_AT, 2)

/* ---- bit fields ------------------------------------------------------------------- */

/* The position of the most significant bit that is not the sign; all ones if none. */
u32 x_bfind_u32(u32 a)
{
    return a == 0 ? ~0u : 31u - (u32)__builtin_clz(a | (a == 0));
}
u32 x_bfind_s32(s32 a)
{
    return x_bfind_u32((u32)(a < 0 ? ~a : a));
}
u32 x_bfind_u64(u64 a)
{
    return a == 0 ? ~0u : 63u - (u32)__builtin_clzll(a | (a == 0));
}
u32 x_bfind_s64(s64 a)
{
    return x_bfind_u64((u64)(a < 0 ? ~a : a));
}
static u32 from_top(u32 position, u32 width)
{
    return position == ~0u ? ~0u : width - 1 - position;
}
#define BFIND_SHIFTAMT(type, bits)                                                       \
    u32 x_bfind_shiftamt_##type(type a)                                                  \
    {                                                                                    \
        return from_top(x_bfind_##type(a), bits);                                        \
    }
BFIND_SHIFTAMT(u32, 32)
BFIND_SHIFTAMT(s32, 32)
BFIND_SHIFTAMT(u64, 64)
BFIND_SHIFTAMT(s64, 64)

/* The n-th set bit at or above (below, for n < 0) `base`; n 0: the bit at base. */
u32 x_fns_b32(u32 mask, u32 base, u32 n)
{
    const s32 offset = (s32)n;
    if (base > 31)
        return ~0u;
    if (offset == 0)
        return mask >> base & 1 ? base : ~0u;
    const s32 step = offset > 0 ? 1 : -1;
    u32 left = (u32)(offset > 0 ? offset : -offset);
    for (s32 at = (s32)base; at >= 0 && at < 32; at += step) {
        if (!(mask >> at & 1))
            continue;
        if (--left == 0)
            return (u32)at;
    }
    return ~0u;
}

/* bfe: beyond the top the sign (or 0) fills. Position and length are 8 bits in the 32-bit
 * forms, but whole words in the 64-bit ones (the H100 does so). */
static u32 word_clamped(u32 x)
{
    return x > 255 ? 255 : x;
}
u32 x_bfe_u32(u32 a, u32 b, u32 c)
{
    const u32 at = b & 0xff, length = c & 0xff;
    const u32 shifted = at > 31 ? 0 : a >> (at & 31);
    return length > 31 ? shifted : shifted & ((1u << (length & 31)) - 1);
}
u64 x_bfe_u64(u64 a, u32 b, u32 c)
{
    const u32 at = word_clamped(b), length = word_clamped(c);
    const u64 shifted = at > 63 ? 0 : a >> (at & 63);
    return length > 63 ? shifted : shifted & ((1ull << (length & 63)) - 1);
}
s32 x_bfe_s32(s32 a, u32 b, u32 c)
{
    const u32 at = b & 0xff, length = c & 0xff;
    const s32 shifted = a >> (at > 31 ? 31 : at);
    const u32 last = at + length > 32 ? 32 : at + length; /* after the field */
    const u32 have = last > at ? last - at : 0;           /* bits that exist */
    const u32 sign = (u32)(a >> (last == 0 ? 0 : last - 1)) & 1;
    const u32 top = at > 31 ? (u32)(a < 0) : sign;
    const u32 mask = have > 31 ? ~0u : (1u << (have & 31)) - 1;
    const u32 value = ((u32)shifted & mask) | (top ? ~mask : 0);
    return length == 0 ? 0 : (s32)value;
}
s64 x_bfe_s64(s64 a, u32 b, u32 c)
{
    const u32 at = word_clamped(b), length = word_clamped(c);
    const s64 shifted = a >> (at > 63 ? 63 : at);
    const u32 last = at + length > 64 ? 64 : at + length;
    const u32 have = last > at ? last - at : 0;
    const u32 sign = (u32)(a >> (last == 0 ? 0 : last - 1)) & 1;
    const u32 top = at > 63 ? (u32)(a < 0) : sign;
    const u64 mask = have > 63 ? ~0ull : (1ull << (have & 63)) - 1;
    const u64 value = ((u64)shifted & mask) | (top ? ~mask : 0);
    return length == 0 ? 0 : (s64)value;
}

static u32 field32(u32 at, u32 length)
{
    const u32 mask = length > 31 ? ~0u : (1u << (length & 31)) - 1;
    return at > 31 ? 0 : mask << (at & 31);
}
u32 x_bfi_b32(u32 a, u32 b, u32 c, u32 d)
{
    const u32 at = c & 0xff, mask = field32(at, d & 0xff);
    const u32 moved = at > 31 ? 0 : a << (at & 31);
    return (moved & mask) | (b & ~mask);
}
u64 x_bfi_b64(u64 a, u64 b, u32 c, u32 d)
{
    const u32 at = word_clamped(c), length = word_clamped(d);
    const u64 ones = length > 63 ? ~0ull : (1ull << (length & 63)) - 1;
    const u64 mask = at > 63 ? 0 : ones << (at & 63);
    const u64 moved = at > 63 ? 0 : a << (at & 63);
    return (moved & mask) | (b & ~mask);
}
/* .clamp takes positions beyond the word as beyond it, .wrap takes them modulo 32. */
u32 x_bmsk_clamp_b32(u32 a, u32 b)
{
    return field32(a, b);
}
u32 x_bmsk_wrap_b32(u32 a, u32 b)
{
    return field32(a & 31, b & 31);
}

/* Sign-extends from `b` bits. */
s32 x_szext_clamp_s32(s32 a, u32 b)
{
    const u32 drop = b > 31 ? 0 : 32 - b;
    return b == 0 ? 0 : (s32)((u32)a << (drop & 31)) >> (drop & 31);
}
u32 x_szext_clamp_u32(u32 a, u32 b)
{
    return b > 31 ? a : a & ((1u << (b & 31)) - 1);
}
s32 x_szext_wrap_s32(s32 a, u32 b)
{
    return x_szext_clamp_s32(a, b & 31);
}
u32 x_szext_wrap_u32(u32 a, u32 b)
{
    return x_szext_clamp_u32(a, b & 31);
}

/* ---- byte permutation ------------------------------------------------------------- */

static u32 byte_of(u32 a, u32 b, u32 selector)
{
    const u64 both = (u64)b << 32 | a;
    const u32 byte = (u32)(both >> (8 * (selector & 7))) & 0xff;
    return selector & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
}
u32 x_prmt_b32(u32 a, u32 b, u32 c)
{
    return byte_of(a, b, c) | byte_of(a, b, c >> 4) << 8 | byte_of(a, b, c >> 8) << 16 |
           byte_of(a, b, c >> 12) << 24;
}
/* The sign of each byte in all its bits: prmt by 0xba98, of comparisons of bytes. */
u32 x_prmt_signs_b32(u32 a)
{
    const u32 signs = a & 0x80808080u;
    return (signs << 1) - (signs >> 7);
}
/* The modes take their selector for c & 3 from a table of four: PTX ISA, prmt, written as
 * four nibbles each, that of c & 3 == 0 lowest. */
static u32 by_table(u32 a, u32 b, u32 c, u64 table)
{
    return x_prmt_b32(a, b, (u32)(table >> (16 * (c & 3))) & 0xffff);
}
#define PRMT_MODE(name, table)                                                           \
    u32 x_prmt_##name##_b32(u32 a, u32 b, u32 c)                                         \
    {                                                                                    \
        return by_table(a, b, c, table);                                                 \
    }
PRMT_MODE(f4e, 0x6543543243213210ull)
PRMT_MODE(b4e, 0x0123701267015670ull)
PRMT_MODE(rc8, 0x3333222211110000ull)
PRMT_MODE(ecl, 0x3333322232113210ull)
PRMT_MODE(ecr, 0x3210221011100000ull)
PRMT_MODE(rc16, 0x3232101032321010ull)

/* ---- counters --------------------------------------------------------------------- */

/* atom.inc and atom.dec go round in 0 ... limit; an old value above it comes back in. */
u32 x_wrap_inc_u32(u32 old, u32 limit)
{
    return old >= limit ? 0 : old + 1;
}
u32 x_wrap_dec_u32(u32 old, u32 limit)
{
    return old == 0 || old > limit ? limit : old - 1;
}

/* ---- cp.async with fewer bytes to read than to write ------------------------------ */

void x_copy_zfill(u8 *to, const u8 *from, u32 bytes, u32 source)
{
    for (u32 i = 0; i < bytes; i++)
        to[i] = i < source ? from[i] : 0;
}

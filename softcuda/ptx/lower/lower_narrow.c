// SPDX-License-Identifier: Apache-2.0
/* cvt to and from floats of 8 bits, which come in pairs, and to tf32.
 *
 * A pair is one register of 16 bits; what is first in the instruction is its upper
 * half. The library converts one number at a time (library/narrow.c). */
#include "softcuda/ptx/lower/lower.h"

static ptx_value call(ptx_low *l, const char *name, const char *to, const char *from,
                      ptx_value x)
{
    return ptx_call_library(l, name, to, &(ptx_arg){from, x}, 1);
}

/* Two values of 8 bits in 16 each, the first the lower. */
static ptx_value join_bytes(ptx_low *l, ptx_value low, ptx_value high)
{
    const ptx_value up = ptx_op(l, "shl i16 %s, 8", high.name);
    return ptx_op(l, "or i16 %s, %s", up.name, low.name);
}

/* One number as f32, to 8 bits. */
static ptx_value narrow(ptx_low *l, ptx_type to, bool relu, ptx_value x)
{
    if (relu)
        x = call(l, "relu_f32", "float", "float", x);
    return call(l, to == PTX_E4M3X2 ? "cvt_rn_e4m3_f32" : "cvt_rn_e5m2_f32", "i16",
                "float", x);
}

static ptx_value half_of(ptx_low *l, ptx_value pair, uint32_t shift)
{
    if (shift != 0)
        pair = ptx_op(l, "lshr i32 %s, %u", pair.name, shift);
    return ptx_op(l, "trunc i32 %s to i16", pair.name);
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b: a becomes the upper half; .f16x2: one operand. */
static bool to_pair(ptx_low *l, ptx_type to, ptx_type from)
{
    const bool relu = ptx_mod(l, PTX_MOD_RELU);
    if (!ptx_mod(l, PTX_MOD_RN) || !ptx_mod(l, PTX_MOD_SATFINITE) ||
        !ptx_check_out(l, 0, PTX_B16))
        return false;
    ptx_value low, high;
    if (from == PTX_F32) {
        if (l->count != 3 || !ptx_check_in(l, 1, PTX_F32) || !ptx_check_in(l, 2, PTX_F32))
            return false;
        high = ptx_in(l, 1, PTX_F32);
        low = ptx_in(l, 2, PTX_F32);
    } else {
        if (from != PTX_F16X2 || l->count != 2 || !ptx_check_in(l, 1, PTX_F16X2))
            return false;
        const ptx_value pair = ptx_in(l, 1, PTX_F16X2);
        high = call(l, "cvt_f32_f16", "float", "i16", half_of(l, pair, 16));
        low = call(l, "cvt_f32_f16", "float", "i16", half_of(l, pair, 0));
    }
    ptx_out(l, 0, PTX_B16,
            join_bytes(l, narrow(l, to, relu, low), narrow(l, to, relu, high)));
    return true;
}

/* One number of 8 bits, as f16. */
static ptx_value widen(ptx_low *l, ptx_type from, bool relu, ptx_value x)
{
    x = call(l, from == PTX_E4M3X2 ? "cvt_f16_e4m3" : "cvt_f16_e5m2", "i16", "i16", x);
    if (!relu)
        return x;
    const ptx_value zero = ptx_op(l, "icmp slt i16 %s, 0", x.name);
    return ptx_op(l, "select i1 %s, i16 0, i16 %s", zero.name, x.name);
}

/* cvt.rn.f16x2.e4m3x2 d, a: exact, so .rn is a word without an effect. */
static bool from_pair(ptx_low *l, ptx_type to, ptx_type from)
{
    const bool relu = ptx_mod(l, PTX_MOD_RELU);
    if (to != PTX_F16X2 || !ptx_mod(l, PTX_MOD_RN) || l->count != 2 ||
        !ptx_check_out(l, 0, PTX_F16X2) || !ptx_check_in(l, 1, PTX_B16))
        return false;
    const ptx_value pair = ptx_in(l, 1, PTX_B16);
    const ptx_value up = ptx_op(l, "lshr i16 %s, 8", pair.name);
    const ptx_value down = ptx_op(l, "and i16 %s, 255", pair.name);
    const ptx_value low = widen(l, from, relu, down), high = widen(l, from, relu, up);
    ptx_out(l, 0, PTX_F16X2, ptx_join(l, low, high));
    return true;
}

/* The result is an f32 whose last 13 bits are 0, held as .b32. */
static bool to_tf32(ptx_low *l, ptx_type from)
{
    const ptx_modifier round = ptx_one_of(l, PTX_MOD_RN, PTX_MOD_RNA);
    const bool relu = ptx_mod(l, PTX_MOD_RELU), bounded = ptx_mod(l, PTX_MOD_SATFINITE);
    if (from != PTX_F32 || l->count != 2 || !ptx_check_out(l, 0, PTX_B32) ||
        !ptx_check_in(l, 1, PTX_F32))
        return false;
    const char *name = round == PTX_MOD_RN    ? "cvt_rn_tf32_f32"
                       : round == PTX_MOD_RZ  ? "cvt_rz_tf32_f32"
                       : round == PTX_MOD_RNA ? "cvt_rna_tf32_f32"
                                              : NULL;
    if (!name)
        return false;
    ptx_value x = ptx_in(l, 1, PTX_F32);
    if (relu)
        x = call(l, "relu_f32", "float", "float", x);
    x = call(l, name, "i32", "float", x);
    if (bounded)
        x = call(l, "satfinite_tf32", "i32", "i32", x);
    ptx_out(l, 0, PTX_B32, x);
    return true;
}

bool ptx_low_narrow(ptx_low *l)
{
    const ptx_type to = ptx_type_at(l, 0), from = ptx_type_at(l, 1);
    if (to == PTX_TF32)
        return to_tf32(l, from);
    if (to == PTX_E4M3X2 || to == PTX_E5M2X2)
        return to_pair(l, to, from);
    return (from == PTX_E4M3X2 || from == PTX_E5M2X2) && from_pair(l, to, from);
}

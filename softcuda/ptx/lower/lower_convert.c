// SPDX-License-Identifier: Apache-2.0
/* cvt. A conversion that has to round to a narrow type goes through wider types with
 * "round to odd" (the last bit says that something was cut off), so that it rounds once:
 * s64 -> f64 (odd) -> f32 (odd) -> f16. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>

/* What the modifiers say. */
typedef struct conversion {
    ptx_type to, from;
    low_round round;      /* .rn .rz .rm .rp */
    const char *integral; /* .rni .rzi .rmi .rpi: the intrinsic's stem, or NULL */
    bool ftz, sat, satfinite, relu;
} conversion;

static bool is_float_type(ptx_type type)
{
    return type == PTX_F32 || type == PTX_F64 || type == PTX_F16 || type == PTX_BF16;
}

static bool is_half_type(ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16;
}

static const char *integral_rounding(low *l)
{
    if (low_mod(l, PTX_MOD_RNI))
        return "roundeven";
    if (low_mod(l, PTX_MOD_RZI))
        return "trunc";
    if (low_mod(l, PTX_MOD_RMI))
        return "floor";
    return low_mod(l, PTX_MOD_RPI) ? "ceil" : NULL;
}

static const char *word_of(low_round round)
{
    static const char *const words[] = {
        [LOW_RN] = "rn", [LOW_RZ] = "rz", [LOW_RM] = "rm", [LOW_RP] = "rp"};
    return round == LOW_NO_ROUND ? "rn" : words[round];
}

static ptx_value convert_call(low *l, const char *name, const char *result,
                              const char *type, ptx_value x)
{
    const low_arg arg = {type, x};
    ptx_value out = {""};
    (void)low_call(l, name, result, &arg, 1, &out);
    return out;
}

/* ---- to integers ---------------------------------------------------------------------
 */

/* Clamps in the source's own width; a bound that the source cannot reach is left out. */
static ptx_value clamp_int(low *l, ptx_value x, ptx_type from, ptx_type to)
{
    const uint32_t bits = low_bits(from), out = low_bits(to);
    const bool from_signed = low_is_signed(from), to_signed = low_is_signed(to);
    const char *llvm = low_int(bits);
    if (from_signed && (!to_signed || out < bits)) {
        const long long least = to_signed ? -(1ll << (out - 1)) : 0;
        x = low_op(l, "call %s @llvm.smax.%s(%s %s, %s %lld)", llvm, llvm, llvm, x.name,
                   llvm, least);
    }
    const bool upper = out < bits || (out == bits && !from_signed && to_signed);
    if (upper) {
        const uint32_t value_bits = to_signed ? out - 1 : out;
        const unsigned long long most = (1ull << value_bits) - 1;
        x = low_op(l, "call %s @llvm.%cmin.%s(%s %s, %s %llu)", llvm,
                   from_signed ? 's' : 'u', llvm, llvm, x.name, llvm, most);
    }
    return x;
}

static void int_to_int(low *l, const conversion *c)
{
    ptx_value x = low_in(l, 1, c->from);
    if (c->sat)
        x = clamp_int(l, x, c->from, c->to);
    x = low_resize(l, x, low_bits(c->from), low_bits(c->to), low_is_signed(c->from));
    low_out(l, 0, c->to, x);
}

/* A float source as f32 or f64, flushed if asked. */
static ptx_value widened(low *l, const conversion *c, ptx_type *held)
{
    ptx_value x = low_in(l, 1, c->from);
    *held = c->from;
    if (is_half_type(c->from)) {
        *held = PTX_F32;
        return convert_call(l, c->from == PTX_F16 ? "cvt_f32_f16" : "cvt_f32_bf16",
                            "float", "i16", x);
    }
    /* On the way to half precision the device does not flush. */
    if (c->ftz && c->from == PTX_F32 && !is_half_type(c->to))
        x = convert_call(l, "ftz_f32", "float", "float", x);
    if (c->ftz && c->from == PTX_F64 && c->to == PTX_F32)
        x = convert_call(l, "tiny_f64", "double", "double", x);
    return x;
}

static ptx_value make_integral(low *l, const conversion *c, ptx_value x, ptx_type held)
{
    if (c->integral == NULL)
        return x;
    const char *llvm = ptx_llvm_type(held);
    return low_op(l, "call %s @llvm.%s.%s(%s %s)", llvm, c->integral, ptx_type_name(held),
                  llvm, x.name);
}

/* Saturates. A NaN gives 0, or the bit pattern 100...0 where the source or the result is
 * 64 bits wide (PTX ISA, cvt). */
static bool float_to_int(low *l, const conversion *c)
{
    if (c->integral == NULL || c->round != LOW_NO_ROUND)
        return false;
    ptx_type held;
    ptx_value x = widened(l, c, &held);
    x = make_integral(l, c, x, held);
    const uint32_t bits = low_bits(c->to);
    const char *llvm = ptx_llvm_type(held), *to = low_int(bits);
    ptx_value result =
        low_op(l, "call %s @llvm.fpto%ci.sat.%s.%s(%s %s)", to,
               low_is_signed(c->to) ? 's' : 'u', to, ptx_type_name(held), llvm, x.name);
    if (c->from == PTX_F64 || bits == 64) {
        const ptx_value nan = low_op(l, "fcmp uno %s %s, 0.0", llvm, x.name);
        result = low_op(l, "select i1 %s, %s %lld, %s %s", nan.name, to,
                        (long long)(~0ull << (bits - 1)), to, result.name);
    }
    low_out(l, 0, c->to, result);
    return true;
}

/* ---- to floats ------------------------------------------------------------------------
 */

/* From f32 (`held`), or from f64 through an odd f32. */
static ptx_value to_half(low *l, const conversion *c, ptx_value x, ptx_type held)
{
    const char *to = c->to == PTX_F16 || c->to == PTX_F16X2 ? "f16" : "bf16";
    char name[48];
    if (held == PTX_F64)
        x = convert_call(l, "odd_f32_f64", "float", "double", x);
    snprintf(name, sizeof(name), "cvt_%s_%s_f32", word_of(c->round), to);
    x = convert_call(l, name, "i16", "float", x);
    if (c->sat) {
        snprintf(name, sizeof(name), "sat_%s", to);
        x = convert_call(l, name, "i16", "i16", x);
    }
    if (c->satfinite) {
        snprintf(name, sizeof(name), "satfinite_%s", to);
        x = convert_call(l, name, "i16", "i16", x);
    }
    if (c->relu) {
        snprintf(name, sizeof(name), "relu_%s", to);
        x = convert_call(l, name, "i16", "i16", x);
    }
    return x;
}

static void store_float(low *l, const conversion *c, ptx_value x)
{
    const char *llvm = ptx_llvm_type(c->to);
    if (c->ftz && c->to == PTX_F32)
        x = convert_call(l, "ftz_f32", "float", "float", x);
    if (c->sat)
        x = convert_call(l, c->to == PTX_F32 ? "sat_f32" : "sat_f64", llvm, llvm, x);
    low_out(l, 0, c->to, x);
}

static bool int_to_float(low *l, const conversion *c)
{
    if (c->round == LOW_NO_ROUND || c->integral != NULL || c->ftz)
        return false;
    const bool is_signed = low_is_signed(c->from);
    const uint32_t bits = low_bits(c->from);
    const ptx_value x = low_in(l, 1, c->from);
    char name[48];
    if (!is_half_type(c->to) && c->round == LOW_RN) {
        store_float(l, c,
                    low_op(l, "%citofp %s %s to %s", is_signed ? 's' : 'u', low_int(bits),
                           x.name, ptx_llvm_type(c->to)));
        return true;
    }
    const ptx_value wide = low_resize(l, x, bits, 64, is_signed);
    const char *sign = is_signed ? "s64" : "u64";
    if (c->to == PTX_F64) {
        snprintf(name, sizeof(name), "cvt_%s_f64_%s", word_of(c->round), sign);
        store_float(l, c, convert_call(l, name, "double", "i64", wide));
        return true;
    }
    snprintf(name, sizeof(name), "odd_f64_%s", sign);
    const ptx_value odd = convert_call(l, name, "double", "i64", wide);
    if (is_half_type(c->to)) {
        low_out(l, 0, c->to, to_half(l, c, odd, PTX_F64));
        return true;
    }
    snprintf(name, sizeof(name), "cvt_%s_f32_f64", word_of(c->round));
    store_float(l, c, convert_call(l, name, "float", "double", odd));
    return true;
}

static bool float_to_float(low *l, const conversion *c)
{
    const bool same = c->to == c->from;
    const bool narrows = low_bits(c->to) < low_bits(c->from) ||
                         (is_half_type(c->to) && is_half_type(c->from) && !same);
    if (narrows == (c->round == LOW_NO_ROUND) || (c->integral != NULL && !same))
        return false;
    ptx_type held;
    ptx_value x = widened(l, c, &held);
    x = make_integral(l, c, x, held);
    if (is_half_type(c->to)) {
        if (same && c->integral == NULL && !c->sat)
            x = low_in(l, 1, c->from); /* bit by bit */
        else
            x = to_half(l, c, x, held);
        low_out(l, 0, c->to, x);
        return true;
    }
    if (c->to == PTX_F64 && held == PTX_F32) {
        x = low_op(l, "fpext float %s to double", x.name);
    } else if (c->to == PTX_F32 && held == PTX_F64) {
        if (c->round == LOW_RN) {
            x = low_op(l, "fptrunc double %s to float", x.name);
        } else {
            char name[48];
            snprintf(name, sizeof(name), "cvt_%s_f32_f64", word_of(c->round));
            x = convert_call(l, name, "float", "double", x);
        }
    }
    store_float(l, c, x);
    return true;
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static bool pack_pair(low *l, const conversion *c)
{
    if (c->from != PTX_F32 || (c->round != LOW_RN && c->round != LOW_RZ) || c->ftz ||
        c->sat || c->integral != NULL || l->count != 3)
        return false;
    if (!low_check_out(l, 0, c->to) || !low_check_in(l, 1, PTX_F32) ||
        !low_check_in(l, 2, PTX_F32))
        return false;
    const ptx_value hi = to_half(l, c, low_in(l, 1, PTX_F32), PTX_F32);
    const ptx_value lo = to_half(l, c, low_in(l, 2, PTX_F32), PTX_F32);
    const ptx_value wide = low_resize(l, hi, 16, 32, false);
    const ptx_value up = low_op(l, "shl i32 %s, 16", wide.name);
    const ptx_value down = low_resize(l, lo, 16, 32, false);
    low_out(l, 0, c->to, low_op(l, "or i32 %s, %s", up.name, down.name));
    return true;
}

bool low_convert(low *l)
{
    conversion c = {.to = low_type(l, 0), .from = low_type(l, 1)};
    if (ptx_has(l->insn, PTX_MOD_PACK))
        return low_pack(l);
    if (l->insn->type_count != 2)
        return false;
    c.round = low_rounding(l);
    c.integral = integral_rounding(l);
    c.ftz = low_mod(l, PTX_MOD_FTZ);
    c.sat = low_mod(l, PTX_MOD_SAT);
    c.satfinite = low_mod(l, PTX_MOD_SATFINITE);
    c.relu = low_mod(l, PTX_MOD_RELU);
    if (c.to == PTX_F16X2 || c.to == PTX_BF16X2)
        return pack_pair(l, &c);
    const bool from_float = is_float_type(c.from), to_float = is_float_type(c.to);
    if ((!from_float && !low_is_int(c.from)) || (!to_float && !low_is_int(c.to)))
        return false;
    if ((c.relu || c.satfinite) && !(is_half_type(c.to) && c.from == PTX_F32))
        return false;
    if (l->count != 2 || !low_check_out(l, 0, c.to) || !low_check_in(l, 1, c.from))
        return false;
    if (from_float)
        return to_float ? float_to_float(l, &c) : float_to_int(l, &c);
    if (to_float)
        return int_to_float(l, &c);
    if (c.round != LOW_NO_ROUND || c.integral != NULL || c.ftz)
        return false;
    int_to_int(l, &c);
    return true;
}

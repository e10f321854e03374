// SPDX-License-Identifier: Apache-2.0
/* cvt. A conversion that has to round to a narrow type goes through wider types with
 * "round to odd" (the last bit says that something was cut off), so that it rounds once:
 * s64 -> f64 (odd) -> f32 (odd) -> f16. */
#include "softcuda/ptx/lower/lower.h"

/* What the modifiers say. */
typedef struct conversion {
    ptx_type to, from;
    ptx_modifier round;   /* .rn .rz .rm .rp, or PTX_MOD_UNKNOWN */
    const char *integral; /* .rni .rzi .rmi .rpi: the intrinsic's stem, or NULL */
    bool ftz, sat, satfinite, relu;
} conversion;

static bool is_float_type(ptx_type type)
{
    return ptx_is_float(type) || type == PTX_F16 || type == PTX_BF16;
}

static bool is_half_type(ptx_type type)
{
    return type == PTX_F16 || type == PTX_BF16;
}

static const char *integral_rounding(ptx_low *l)
{
    switch (ptx_one_of(l, PTX_MOD_RNI, PTX_MOD_RPI)) {
    case PTX_MOD_RNI: return "roundeven";
    case PTX_MOD_RZI: return "trunc";
    case PTX_MOD_RMI: return "floor";
    case PTX_MOD_RPI: return "ceil";
    default: return NULL;
    }
}

static const char *word_of(ptx_modifier round)
{
    return ptx_modifier_name(round == PTX_MOD_UNKNOWN ? PTX_MOD_RN : round);
}

static ptx_value convert_call(ptx_low *l, const char *name, const char *result,
                              const char *type, ptx_value x)
{
    return ptx_call_library(l, name, result, &(ptx_arg){type, x}, 1);
}

/* ---- to integers ------------------------------------------------------------------ */

/* Clamps in the source's own width; a bound that the source cannot reach is left out. */
static ptx_value clamp_int(ptx_low *l, ptx_value x, ptx_type from, ptx_type to)
{
    const uint32_t bits = ptx_bits(from), out = ptx_bits(to);
    const bool from_signed = ptx_is_signed(from), to_signed = ptx_is_signed(to);
    if (from_signed && (!to_signed || out < bits)) {
        const long long least = to_signed ? -(1ll << (out - 1)) : 0;
        x = ptx_call_llvm(l, "smax", from, (ptx_value[]){x, ptx_name("%lld", least)}, 2);
    }
    if (out < bits || (out == bits && !from_signed && to_signed)) {
        const unsigned long long most = (1ull << (to_signed ? out - 1 : out)) - 1;
        x = ptx_call_llvm(l, from_signed ? "smin" : "umin", from,
                          (ptx_value[]){x, ptx_name("%llu", most)}, 2);
    }
    return x;
}

static void int_to_int(ptx_low *l, const conversion *c)
{
    ptx_value x = ptx_in(l, 1, c->from);
    if (c->sat)
        x = clamp_int(l, x, c->from, c->to);
    x = ptx_resize(l, x, ptx_bits(c->from), ptx_bits(c->to), ptx_is_signed(c->from));
    ptx_out(l, 0, c->to, x);
}

/* A float source as f32 or f64, flushed if asked. */
static ptx_value widened(ptx_low *l, const conversion *c, ptx_type *held)
{
    ptx_value x = ptx_in(l, 1, c->from);
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

static ptx_value make_integral(ptx_low *l, const conversion *c, ptx_value x,
                               ptx_type held)
{
    return c->integral ? ptx_call_llvm(l, c->integral, held, &x, 1) : x;
}

static ptx_value choose(ptx_low *l, const char *compare, const char *llvm, ptx_value x,
                        const char *bound, long long then, ptx_value otherwise)
{
    const ptx_value is = ptx_op(l, "fcmp %s %s %s, %s", compare, llvm, x.name, bound);
    return ptx_op(l, "select i1 %s, i32 %lld, i32 %s", is.name, then, otherwise.name);
}

/* To 32 bits or fewer, by comparisons: LLVM has no vectors of its saturating conversions on
 * x86. What a conversion of a number out of range gives is not chosen. */
static ptx_value saturate_word(ptx_low *l, const char *llvm, ptx_value x, uint32_t bits,
                               bool is_signed)
{
    if (bits == 32 && !is_signed) {
        ptx_value u = ptx_op(l, "fptoui %s %s to i32", llvm, x.name);
        u = choose(l, "oge", llvm, x, "4294967296.0", 0xffffffffLL, u);
        return choose(l, "ule", llvm, x, "0.0", 0, u);
    }
    ptx_value n = ptx_op(l, "fptosi %s %s to i32", llvm, x.name);
    n = choose(l, "oge", llvm, x, "2147483648.0", INT32_MAX, n);
    n = choose(l, "olt", llvm, x, "-2147483648.0", INT32_MIN, n);
    n = choose(l, "uno", llvm, x, "0.0", 0, n);
    if (bits == 32)
        return n;
    const int32_t most = (int32_t)((1u << (bits - is_signed)) - 1);
    const int32_t least = is_signed ? -most - 1 : 0;
    n = ptx_op(l, "call i32 @llvm.smin.i32(i32 %s, i32 %d)", n.name, most);
    n = ptx_op(l, "call i32 @llvm.smax.i32(i32 %s, i32 %d)", n.name, least);
    return ptx_op(l, "trunc i32 %s to i%u", n.name, bits);
}

/* Saturates. A NaN gives 0, or the bit pattern 100...0 where the source or the result is
 * 64 bits wide (PTX ISA, cvt). */
static bool float_to_int(ptx_low *l, const conversion *c)
{
    if (!c->integral || c->round != PTX_MOD_UNKNOWN)
        return false;
    ptx_type held;
    ptx_value x = widened(l, c, &held);
    x = make_integral(l, c, x, held);
    const uint32_t bits = ptx_bits(c->to);
    const char *llvm = ptx_llvm_type(held), *to = ptx_int_name(bits);
    ptx_value result;
    if (bits <= 32)
        result = saturate_word(l, llvm, x, bits, ptx_is_signed(c->to));
    else
        result = ptx_op(l, "call %s @llvm.fpto%ci.sat.%s.%s(%s %s)", to,
                        ptx_is_signed(c->to) ? 's' : 'u', to, ptx_type_name(held), llvm,
                        x.name);
    if (c->from == PTX_F64 || bits == 64) {
        const ptx_value nan = ptx_op(l, "fcmp uno %s %s, 0.0", llvm, x.name);
        result = ptx_op(l, "select i1 %s, %s %lld, %s %s", nan.name, to,
                        (long long)(~0ull << (bits - 1)), to, result.name);
    }
    ptx_out(l, 0, c->to, result);
    return true;
}

/* ---- to floats -------------------------------------------------------------------- */

/* From f32 (`held`), or from f64 through an odd f32. */
static ptx_value to_half(ptx_low *l, const conversion *c, ptx_value x, ptx_type held)
{
    const char *to = c->to == PTX_F16 || c->to == PTX_F16X2 ? "f16" : "bf16";
    if (held == PTX_F64)
        x = convert_call(l, "odd_f32_f64", "float", "double", x);
    x = convert_call(l, ptx_name("cvt_%s_%s_f32", word_of(c->round), to).name, "i16",
                     "float", x);
    if (c->sat)
        x = convert_call(l, ptx_name("sat_%s", to).name, "i16", "i16", x);
    if (c->satfinite)
        x = convert_call(l, ptx_name("satfinite_%s", to).name, "i16", "i16", x);
    if (c->relu)
        x = convert_call(l, ptx_name("relu_%s", to).name, "i16", "i16", x);
    return x;
}

/* From f64 to f32, rounding as written. */
static ptx_value to_single(ptx_low *l, const conversion *c, ptx_value x)
{
    return convert_call(l, ptx_name("cvt_%s_f32_f64", word_of(c->round)).name, "float",
                        "double", x);
}

static void store_float(ptx_low *l, const conversion *c, ptx_value x)
{
    const char *llvm = ptx_llvm_type(c->to);
    if (c->ftz && c->to == PTX_F32)
        x = convert_call(l, "ftz_f32", "float", "float", x);
    if (c->sat)
        x = convert_call(l, c->to == PTX_F32 ? "sat_f32" : "sat_f64", llvm, llvm, x);
    ptx_out(l, 0, c->to, x);
}

static bool int_to_float(ptx_low *l, const conversion *c)
{
    if (c->round == PTX_MOD_UNKNOWN || c->integral || c->ftz)
        return false;
    const bool is_signed = ptx_is_signed(c->from);
    const uint32_t bits = ptx_bits(c->from);
    const ptx_value x = ptx_in(l, 1, c->from);
    if (!is_half_type(c->to) && c->round == PTX_MOD_RN) {
        store_float(l, c,
                    ptx_op(l, "%citofp %s %s to %s", is_signed ? 's' : 'u',
                           ptx_int_name(bits), x.name, ptx_llvm_type(c->to)));
        return true;
    }
    const ptx_value wide = ptx_resize(l, x, bits, 64, is_signed);
    const char *sign = is_signed ? "s64" : "u64";
    if (c->to == PTX_F64) {
        const ptx_value name = ptx_name("cvt_%s_f64_%s", word_of(c->round), sign);
        store_float(l, c, convert_call(l, name.name, "double", "i64", wide));
        return true;
    }
    const ptx_value odd =
        convert_call(l, ptx_name("odd_f64_%s", sign).name, "double", "i64", wide);
    if (is_half_type(c->to))
        ptx_out(l, 0, c->to, to_half(l, c, odd, PTX_F64));
    else
        store_float(l, c, to_single(l, c, odd));
    return true;
}

static bool float_to_float(ptx_low *l, const conversion *c)
{
    const bool same = c->to == c->from;
    const bool narrows = ptx_bits(c->to) < ptx_bits(c->from) ||
                         (is_half_type(c->to) && is_half_type(c->from) && !same);
    if (narrows == (c->round == PTX_MOD_UNKNOWN) || (c->integral && !same))
        return false;
    ptx_type held;
    ptx_value x = widened(l, c, &held);
    x = make_integral(l, c, x, held);
    if (is_half_type(c->to)) {
        if (same && !c->integral && !c->sat)
            x = ptx_in(l, 1, c->from); /* bit by bit */
        else
            x = to_half(l, c, x, held);
        ptx_out(l, 0, c->to, x);
        return true;
    }
    if (c->to == PTX_F64 && held == PTX_F32) {
        x = ptx_op(l, "fpext float %s to double", x.name);
    } else if (c->to == PTX_F32 && held == PTX_F64) {
        x = c->round == PTX_MOD_RN ? ptx_op(l, "fptrunc double %s to float", x.name)
                                   : to_single(l, c, x);
    }
    store_float(l, c, x);
    return true;
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static bool pack_pair(ptx_low *l, const conversion *c)
{
    if (c->from != PTX_F32 || (c->round != PTX_MOD_RN && c->round != PTX_MOD_RZ) ||
        c->ftz || c->sat || c->integral || l->count != 3)
        return false;
    if (!ptx_check_out(l, 0, c->to) || !ptx_check_in(l, 1, PTX_F32) ||
        !ptx_check_in(l, 2, PTX_F32))
        return false;
    const ptx_value hi = to_half(l, c, ptx_in(l, 1, PTX_F32), PTX_F32);
    const ptx_value lo = to_half(l, c, ptx_in(l, 2, PTX_F32), PTX_F32);
    const ptx_value wide = ptx_resize(l, hi, 16, 32, false);
    const ptx_value up = ptx_op(l, "shl i32 %s, 16", wide.name);
    const ptx_value down = ptx_resize(l, lo, 16, 32, false);
    ptx_out(l, 0, c->to, ptx_op(l, "or i32 %s, %s", up.name, down.name));
    return true;
}

static bool convert(ptx_low *l)
{
    conversion c = {.to = ptx_type_at(l, 0), .from = ptx_type_at(l, 1)};
    if (ptx_has(l->insn, PTX_MOD_PACK))
        return ptx_low_pack(l);
    if (l->insn->type_count != 2)
        return false;
    if (c.to > PTX_TYPE_OTHER || c.from > PTX_TYPE_OTHER)
        return ptx_low_narrow(l);
    c.round = ptx_one_of(l, PTX_MOD_RN, PTX_MOD_RP);
    c.integral = integral_rounding(l);
    c.ftz = ptx_mod(l, PTX_MOD_FTZ);
    c.sat = ptx_mod(l, PTX_MOD_SAT);
    c.satfinite = ptx_mod(l, PTX_MOD_SATFINITE);
    c.relu = ptx_mod(l, PTX_MOD_RELU);
    if (c.to == PTX_F16X2 || c.to == PTX_BF16X2)
        return pack_pair(l, &c);
    const bool from_float = is_float_type(c.from), to_float = is_float_type(c.to);
    if ((!from_float && !ptx_is_int(c.from)) || (!to_float && !ptx_is_int(c.to)))
        return false;
    if ((c.relu || c.satfinite) && !(is_half_type(c.to) && c.from == PTX_F32))
        return false;
    if (l->count != 2 || !ptx_check_out(l, 0, c.to) || !ptx_check_in(l, 1, c.from))
        return false;
    if (from_float)
        return to_float ? float_to_float(l, &c) : float_to_int(l, &c);
    if (to_float)
        return int_to_float(l, &c);
    if (c.round != PTX_MOD_UNKNOWN || c.integral || c.ftz)
        return false;
    int_to_int(l, &c);
    return true;
}

ptx_family ptx_low_convert = {[PTX_OP_CVT] = convert};

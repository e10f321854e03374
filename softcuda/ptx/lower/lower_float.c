// SPDX-License-Identifier: Apache-2.0
/* f32 and f64 arithmetic. Round to nearest is IR's own; the other roundings, flushing of
 * subnormals, saturation and the approximate functions are library functions made of
 * plain arithmetic, so that thread loops around them vectorize. */
#include "softcuda/ptx/lower/lower.h"

/* What holds for a whole f32 or f64 instruction. */
typedef struct form {
    ptx_type type;
    const char *llvm;   /* "float" */
    const char *suffix; /* "f32" */
    ptx_modifier round; /* .rn ... .rp, or PTX_MOD_UNKNOWN */
    bool ftz, sat;
} form;

static ptx_value unary_library(ptx_low *l, const char *stem, const form *s, ptx_value x)
{
    return ptx_call_library(l, ptx_name("%s_%s", stem, s->suffix).name, s->llvm,
                            &(ptx_arg){s->llvm, x}, 1);
}

static ptx_value input(ptx_low *l, const form *s, uint32_t nth)
{
    const ptx_value x = ptx_in(l, nth, s->type);
    return s->ftz ? unary_library(l, "ftz", s, x) : x;
}

static void output(ptx_low *l, const form *s, ptx_value value)
{
    if (s->ftz)
        value = unary_library(l, "ftz", s, value);
    if (s->sat)
        value = unary_library(l, "sat", s, value);
    ptx_out(l, 0, s->type, value);
}

/* Reads rounding, .ftz and .sat; checks the operands. */
static bool begin(ptx_low *l, form *s, uint32_t inputs)
{
    s->type = ptx_type_at(l, 0);
    if (!ptx_is_float(s->type) || l->insn->type_count != 1)
        return false;
    s->llvm = ptx_llvm_type(s->type);
    s->suffix = ptx_type_name(s->type);
    s->round = ptx_one_of(l, PTX_MOD_RN, PTX_MOD_RP);
    s->ftz = ptx_mod(l, PTX_MOD_FTZ);
    s->sat = ptx_mod(l, PTX_MOD_SAT);
    if (s->type == PTX_F64 && s->sat)
        return false;
    return ptx_check_all(l, s->type, inputs);
}

/* `stem`_`mode`_f32 of all the inputs, with flushing around it. */
static bool by_library(ptx_low *l, const form *s, const char *stem, const char *mode,
                       uint32_t inputs)
{
    ptx_arg args[3];
    for (uint32_t i = 0; i < inputs; i++)
        args[i] = (ptx_arg){s->llvm, input(l, s, i + 1)};
    output(l, s,
           ptx_call_library(l, ptx_name("%s_%s_%s", stem, mode, s->suffix).name, s->llvm,
                            args, inputs));
    return true;
}

static bool is_nearest(const form *s)
{
    return s->round == PTX_MOD_RN || s->round == PTX_MOD_UNKNOWN;
}

/* add, sub, mul: fusing with a neighbor is allowed only without a written rounding. */
static bool basic(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 2) || (s.type == PTX_F64 && s.ftz))
        return false;
    if (!is_nearest(&s))
        return by_library(l, &s, l->word, ptx_modifier_name(s.round), 2);
    const bool contract =
        l->emit && l->emit->options->contract && s.round == PTX_MOD_UNKNOWN;
    const ptx_value a = input(l, &s, 1), b = input(l, &s, 2);
    output(l, &s,
           ptx_op(l, "f%s %s%s %s, %s", l->word, contract ? "contract " : "", s.llvm,
                  a.name, b.name));
    return true;
}

/* fma, and mad, which is fma on every device of this century's second decade. */
static bool fused(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 3) || (s.type == PTX_F64 && s.ftz))
        return false;
    if (!is_nearest(&s))
        return by_library(l, &s, "fma", ptx_modifier_name(s.round), 3);
    const ptx_value args[] = {input(l, &s, 1), input(l, &s, 2), input(l, &s, 3)};
    output(l, &s, ptx_call_llvm(l, "fma", s.type, args, 3));
    return true;
}

/* div, rcp, sqrt: .approx, .full, or a rounding. A directed quotient decides itself what
 * is subnormal; a root never is. */
static bool quotient(ptx_low *l)
{
    form s;
    const ptx_opcode opcode = (ptx_opcode)l->insn->opcode;
    const uint32_t inputs = opcode == PTX_OP_DIV ? 2 : 1;
    const bool approx = ptx_mod(l, PTX_MOD_APPROX);
    const bool full = inputs == 2 && ptx_mod(l, PTX_MOD_FULL);
    if (!begin(l, &s, inputs) || s.sat)
        return false;
    if (approx || full) {
        if ((approx && full) || s.round != PTX_MOD_UNKNOWN ||
            (s.type == PTX_F64 && !s.ftz))
            return false;
        if (s.type == PTX_F64)
            s.ftz = false; /* the library function does it */
        return by_library(l, &s, l->word, approx ? "approx" : "full", inputs);
    }
    if (s.round == PTX_MOD_UNKNOWN || (s.type == PTX_F64 && s.ftz))
        return false;
    if (s.round != PTX_MOD_RN)
        return by_library(l, &s, l->word,
                          ptx_name("%s%s", ptx_modifier_name(s.round),
                                   s.ftz && opcode != PTX_OP_SQRT ? "_ftz" : "")
                              .name,
                          inputs);
    const ptx_value a = input(l, &s, 1);
    if (opcode == PTX_OP_SQRT) {
        output(l, &s, ptx_call_llvm(l, "sqrt", s.type, &a, 1));
        return true;
    }
    const ptx_value above = inputs == 2 ? a : ptx_name("1.0");
    const ptx_value below = inputs == 2 ? input(l, &s, 2) : a;
    output(l, &s, ptx_op(l, "fdiv %s %s, %s", s.llvm, above.name, below.name));
    return true;
}

/* rsqrt, sin, cos, lg2, ex2, tanh: only .approx exists. */
static bool approximate(ptx_low *l)
{
    form s;
    if (!ptx_mod(l, PTX_MOD_APPROX) || !begin(l, &s, 1) || s.sat ||
        s.round != PTX_MOD_UNKNOWN)
        return false;
    const bool flushes = s.ftz && (s.type == PTX_F64 || l->insn->opcode == PTX_OP_EX2);
    if (flushes)
        s.ftz = false; /* the library function does it */
    return by_library(l, &s, l->word, flushes ? "approx_ftz" : "approx", 1);
}

/* Three inputs need a later device. */
static bool extreme(ptx_low *l)
{
    form s;
    const bool nan = ptx_mod(l, PTX_MOD_NAN);
    const bool sign = ptx_mod(l, PTX_MOD_XORSIGN);
    if (sign != ptx_mod(l, PTX_MOD_ABS) || l->count == 4)
        return false;
    if (!begin(l, &s, 2) || s.round != PTX_MOD_UNKNOWN || s.sat ||
        (s.type == PTX_F64 && (s.ftz || nan || sign)))
        return false;
    return by_library(l, &s, l->word,
                      ptx_name("%s%s", nan ? "nan" : "num", sign ? "_xorsign" : "").name,
                      2);
}

/* abs and neg. */
static bool sign_bit(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 1) || s.round != PTX_MOD_UNKNOWN || s.sat ||
        (s.type == PTX_F64 && s.ftz))
        return false;
    const ptx_value a = input(l, &s, 1);
    ptx_out(l, 0, s.type,
            l->insn->opcode == PTX_OP_NEG ? ptx_op(l, "fneg %s %s", s.llvm, a.name)
                                          : ptx_call_llvm(l, "fabs", s.type, &a, 1));
    return true;
}

/* copysign.f32 d, a, b: the sign of a on the magnitude of b. */
static bool copy_sign(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 2) || s.round != PTX_MOD_UNKNOWN || s.ftz || s.sat)
        return false;
    const ptx_value a = ptx_in(l, 1, s.type), b = ptx_in(l, 2, s.type);
    ptx_out(l, 0, s.type, ptx_call_llvm(l, "copysign", s.type, (ptx_value[]){b, a}, 2));
    return true;
}

/* testp.finite.f32 p, a */
static bool test_property(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!ptx_is_float(type) || l->count != 2 || !ptx_check_out(l, 0, PTX_PRED) ||
        !ptx_check_in(l, 1, type))
        return false;
    const ptx_modifier property = ptx_one_of(l, PTX_MOD_FINITE, PTX_MOD_SUBNORMAL);
    const ptx_value name =
        ptx_name("testp_%s_%s", ptx_modifier_name(property), ptx_type_name(type));
    const ptx_arg arg = {ptx_llvm_type(type), ptx_in(l, 1, type)};
    const ptx_value result = ptx_call_library(l, name.name, "i32", &arg, 1);
    ptx_out(l, 0, PTX_PRED, ptx_op(l, "icmp ne i32 %s, 0", result.name));
    return true;
}

ptx_family ptx_low_float = {
    [PTX_OP_ADD] = basic,          [PTX_OP_SUB] = basic,
    [PTX_OP_MUL] = basic,          [PTX_OP_MAD] = fused,
    [PTX_OP_FMA] = fused,          [PTX_OP_DIV] = quotient,
    [PTX_OP_RCP] = quotient,       [PTX_OP_SQRT] = quotient,
    [PTX_OP_RSQRT] = approximate,  [PTX_OP_SIN] = approximate,
    [PTX_OP_COS] = approximate,    [PTX_OP_LG2] = approximate,
    [PTX_OP_EX2] = approximate,    [PTX_OP_TANH] = approximate,
    [PTX_OP_MIN] = extreme,        [PTX_OP_MAX] = extreme,
    [PTX_OP_ABS] = sign_bit,       [PTX_OP_NEG] = sign_bit,
    [PTX_OP_COPYSIGN] = copy_sign, [PTX_OP_TESTP] = test_property,
};

// SPDX-License-Identifier: Apache-2.0
/* f32 and f64 arithmetic. Round to nearest is IR's own; the other roundings, flushing of
 * subnormals, saturation and the approximate functions are library functions made of
 * plain arithmetic, so that thread loops around them vectorize. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>
#include <string.h>

bool ptx_low_half(ptx_low *l); /* lower_half.c */

static const char *const rounding_names[] = {
    [LOW_RN] = "rn", [LOW_RZ] = "rz", [LOW_RM] = "rm", [LOW_RP] = "rp"};

/* What holds for a whole f32 or f64 instruction. */
typedef struct form {
    ptx_type type;
    const char *llvm;   /* "float" */
    const char *suffix; /* "f32" */
    ptx_round round;
    bool ftz, sat;
} form;

static ptx_value unary_library(ptx_low *l, const char *stem, const form *s, ptx_value x)
{
    char name[48];
    snprintf(name, sizeof(name), "%s_%s", stem, s->suffix);
    ptx_value result = {""};
    const ptx_arg arg = {s->llvm, x};
    (void)ptx_call_library(l, name, s->llvm, &arg, 1,
                           &result); /* ftz and sat are there */
    return result;
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
    if ((s->type != PTX_F32 && s->type != PTX_F64) || l->insn->type_count != 1)
        return false;
    s->llvm = ptx_llvm_type(s->type);
    s->suffix = ptx_type_name(s->type);
    s->round = ptx_rounding(l);
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
    char name[48];
    snprintf(name, sizeof(name), "%s_%s_%s", stem, mode, s->suffix);
    ptx_arg args[3];
    for (uint32_t i = 0; i < inputs; i++)
        args[i] = (ptx_arg){s->llvm, input(l, s, i + 1)};
    ptx_value result;
    if (!ptx_call_library(l, name, s->llvm, args, inputs, &result))
        return false;
    output(l, s, result);
    return true;
}

/* add, sub, mul: fusing with a neighbour is allowed only without a written rounding. */
static bool basic(ptx_low *l, const char *stem)
{
    form s;
    if (!begin(l, &s, 2) || (s.type == PTX_F64 && s.ftz))
        return false;
    if (s.round != LOW_RN && s.round != LOW_NO_ROUND)
        return by_library(l, &s, stem, rounding_names[s.round], 2);
    const bool contract =
        l->emit != NULL && l->emit->options->contract && s.round == LOW_NO_ROUND;
    const ptx_value a = input(l, &s, 1), b = input(l, &s, 2);
    output(l, &s,
           ptx_op(l, "f%s %s%s %s, %s", stem, contract ? "contract " : "", s.llvm, a.name,
                  b.name));
    return true;
}

/* fma, and mad, which is fma on every device of this century's second decade. */
static bool fused(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 3) || (s.type == PTX_F64 && s.ftz))
        return false;
    if (s.round != LOW_RN && s.round != LOW_NO_ROUND)
        return by_library(l, &s, "fma", rounding_names[s.round], 3);
    const ptx_value a = input(l, &s, 1), b = input(l, &s, 2), c = input(l, &s, 3);
    output(l, &s,
           ptx_op(l, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", s.llvm, s.suffix,
                  s.llvm, a.name, s.llvm, b.name, s.llvm, c.name));
    return true;
}

static const char *const flushing_names[] = {
    [LOW_RN] = "rn", [LOW_RZ] = "rz_ftz", [LOW_RM] = "rm_ftz", [LOW_RP] = "rp_ftz"};

/* div, rcp, sqrt: .approx, .full, or a rounding. A directed quotient decides itself what
 * is subnormal; a root never is. */
static bool quotient(ptx_low *l, const char *stem, uint32_t inputs)
{
    form s;
    const bool approx = ptx_mod(l, PTX_MOD_APPROX);
    const bool full = inputs == 2 && ptx_mod(l, PTX_MOD_FULL);
    if (!begin(l, &s, inputs) || s.sat)
        return false;
    if (approx || full) {
        if ((approx && full) || s.round != LOW_NO_ROUND)
            return false;
        if (s.type == PTX_F64) {
            if (!s.ftz)
                return false;
            s.ftz = false; /* the library function does it */
        }
        return by_library(l, &s, stem, approx ? "approx" : "full", inputs);
    }
    if (s.round == LOW_NO_ROUND || (s.type == PTX_F64 && s.ftz))
        return false;
    if (s.round != LOW_RN)
        return by_library(l, &s, stem,
                          s.ftz && strcmp(stem, "sqrt") != 0 ? flushing_names[s.round]
                                                             : rounding_names[s.round],
                          inputs);
    const ptx_value a = input(l, &s, 1);
    ptx_value result;
    if (strcmp(stem, "div") == 0) {
        const ptx_value b = input(l, &s, 2);
        result = ptx_op(l, "fdiv %s %s, %s", s.llvm, a.name, b.name);
    } else if (strcmp(stem, "rcp") == 0) {
        result = ptx_op(l, "fdiv %s 1.0, %s", s.llvm, a.name);
    } else {
        result =
            ptx_op(l, "call %s @llvm.sqrt.%s(%s %s)", s.llvm, s.suffix, s.llvm, a.name);
    }
    output(l, &s, result);
    return true;
}

/* rsqrt, sin, cos, lg2, ex2, tanh: only .approx exists. */
static bool approximate(ptx_low *l, const char *stem)
{
    form s;
    if (!ptx_mod(l, PTX_MOD_APPROX) || !begin(l, &s, 1) || s.sat ||
        s.round != LOW_NO_ROUND)
        return false;
    const bool wide_flush = s.type == PTX_F64 && s.ftz;
    if (wide_flush)
        s.ftz = false; /* the library function does it */
    return by_library(l, &s, stem, wide_flush ? "approx_ftz" : "approx", 1);
}

static bool extreme(ptx_low *l, const char *stem)
{
    form s;
    const bool nan = ptx_mod(l, PTX_MOD_NAN);
    const bool sign = ptx_mod(l, PTX_MOD_XORSIGN);
    if (sign != ptx_mod(l, PTX_MOD_ABS))
        return false;
    if (l->count == 4) /* three inputs need a later device */
        return false;
    if (!begin(l, &s, 2) || s.round != LOW_NO_ROUND || s.sat ||
        (s.type == PTX_F64 && (s.ftz || nan || sign)))
        return false;
    char mode[32];
    snprintf(mode, sizeof(mode), "%s%s", nan ? "nan" : "num", sign ? "_xorsign" : "");
    return by_library(l, &s, stem, mode, 2);
}

static bool sign_bit(ptx_low *l, bool negate)
{
    form s;
    if (!begin(l, &s, 1) || s.round != LOW_NO_ROUND || s.sat ||
        (s.type == PTX_F64 && s.ftz))
        return false;
    const ptx_value a = input(l, &s, 1);
    const ptx_value result = negate ? ptx_op(l, "fneg %s %s", s.llvm, a.name)
                                    : ptx_op(l, "call %s @llvm.fabs.%s(%s %s)", s.llvm,
                                             s.suffix, s.llvm, a.name);
    ptx_out(l, 0, s.type, result);
    return true;
}

/* copysign.f32 d, a, b: the sign of a on the magnitude of b. */
static bool copy_sign(ptx_low *l)
{
    form s;
    if (!begin(l, &s, 2) || s.round != LOW_NO_ROUND || s.ftz || s.sat)
        return false;
    const ptx_value a = ptx_in(l, 1, s.type), b = ptx_in(l, 2, s.type);
    ptx_out(l, 0, s.type,
            ptx_op(l, "call %s @llvm.copysign.%s(%s %s, %s %s)", s.llvm, s.suffix, s.llvm,
                   b.name, s.llvm, a.name));
    return true;
}

/* testp.finite.f32 p, a */
static bool test_property(ptx_low *l)
{
    static const struct {
        ptx_modifier modifier;
        const char *name;
    } properties[] = {{PTX_MOD_FINITE, "finite"}, {PTX_MOD_INFINITE, "infinite"},
                      {PTX_MOD_NUMBER, "number"}, {PTX_MOD_NOTANUMBER, "notanumber"},
                      {PTX_MOD_NORMAL, "normal"}, {PTX_MOD_SUBNORMAL, "subnormal"}};
    const ptx_type type = ptx_type_at(l, 0);
    if ((type != PTX_F32 && type != PTX_F64) || l->count != 2 ||
        !ptx_check_out(l, 0, PTX_PRED) || !ptx_check_in(l, 1, type))
        return false;
    const char *property = "?";
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
        if (ptx_mod(l, properties[i].modifier))
            property = properties[i].name;
    char name[48];
    snprintf(name, sizeof(name), "testp_%s_%s", property, ptx_type_name(type));
    const ptx_arg arg = {ptx_llvm_type(type), ptx_in(l, 1, type)};
    ptx_value result;
    if (!ptx_call_library(l, name, "i32", &arg, 1, &result))
        return false;
    ptx_out(l, 0, PTX_PRED, ptx_op(l, "icmp ne i32 %s, 0", result.name));
    return true;
}

bool ptx_low_float(ptx_low *l)
{
    if (ptx_is_half(ptx_type_at(l, 0)))
        return ptx_low_half(l);
    switch ((ptx_opcode)l->insn->opcode) {
    case PTX_OP_ADD: return basic(l, "add");
    case PTX_OP_SUB: return basic(l, "sub");
    case PTX_OP_MUL: return basic(l, "mul");
    case PTX_OP_MAD:
    case PTX_OP_FMA: return fused(l);
    case PTX_OP_DIV: return quotient(l, "div", 2);
    case PTX_OP_RCP: return quotient(l, "rcp", 1);
    case PTX_OP_SQRT: return quotient(l, "sqrt", 1);
    case PTX_OP_RSQRT: return approximate(l, "rsqrt");
    case PTX_OP_SIN: return approximate(l, "sin");
    case PTX_OP_COS: return approximate(l, "cos");
    case PTX_OP_LG2: return approximate(l, "lg2");
    case PTX_OP_EX2: return approximate(l, "ex2");
    case PTX_OP_TANH: return approximate(l, "tanh");
    case PTX_OP_MIN: return extreme(l, "min");
    case PTX_OP_MAX: return extreme(l, "max");
    case PTX_OP_ABS: return sign_bit(l, false);
    case PTX_OP_NEG: return sign_bit(l, true);
    case PTX_OP_COPYSIGN: return copy_sign(l);
    case PTX_OP_TESTP: return test_property(l);
    default: return false;
    }
}

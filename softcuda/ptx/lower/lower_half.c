// SPDX-License-Identifier: Apache-2.0
/* f16, bf16 and their pairs: library functions on 16 bits, which compute in f32 or f64
 * and round once. A pair is two of them. */
#include "softcuda/ptx/lower/lower.h"

#include <stdio.h>

bool ptx_low_half(ptx_low *l);

typedef struct half {
    ptx_type type;
    const char *suffix; /* "f16" or "bf16", of one element */
    bool pair;
    bool ftz, sat, relu;
} half;

static ptx_value unary(ptx_low *l, const half *h, const char *stem, ptx_value x)
{
    char name[48];
    snprintf(name, sizeof(name), "%s_%s", stem, h->suffix);
    ptx_value result = {""};
    const ptx_arg arg = {"i16", x};
    (void)ptx_call_library(l, name, "i16", &arg, 1, &result);
    return result;
}

/* Element `part` of input `nth`. */
static ptx_value element(ptx_low *l, const half *h, uint32_t nth, uint32_t part)
{
    ptx_value x = ptx_in(l, nth, h->type);
    if (h->pair) {
        if (part)
            x = ptx_op(l, "lshr i32 %s, 16", x.name);
        x = ptx_resize(l, x, 32, 16, false);
    }
    return h->ftz ? unary(l, h, "ftz", x) : x;
}

static ptx_value finish(ptx_low *l, const half *h, ptx_value x)
{
    if (h->ftz)
        x = unary(l, h, "ftz", x);
    if (h->sat)
        x = unary(l, h, "sat", x);
    if (h->relu)
        x = unary(l, h, "relu", x);
    return x;
}

static void store(ptx_low *l, const half *h, const ptx_value parts[2])
{
    if (!h->pair) {
        ptx_out(l, 0, h->type, parts[0]);
        return;
    }
    const ptx_value lo = ptx_resize(l, parts[0], 16, 32, false);
    const ptx_value hi = ptx_resize(l, parts[1], 16, 32, false);
    const ptx_value up = ptx_op(l, "shl i32 %s, 16", hi.name);
    ptx_out(l, 0, h->type, ptx_op(l, "or i32 %s, %s", lo.name, up.name));
}

static bool apply(ptx_low *l, const half *h, const char *stem, uint32_t inputs)
{
    char name[48];
    snprintf(name, sizeof(name), "%s_%s", stem, h->suffix);
    if (!ptx_has_library(name) || !ptx_check_all(l, h->type, inputs))
        return ptx_refuse(l, "this build does not have this form of the instruction");
    ptx_value parts[2];
    for (uint32_t part = 0; part < (h->pair ? 2u : 1u); part++) {
        ptx_arg args[3];
        for (uint32_t i = 0; i < inputs; i++)
            args[i] = (ptx_arg){"i16", element(l, h, i + 1, part)};
        (void)ptx_call_library(l, name, "i16", args, inputs, &parts[part]);
        parts[part] = finish(l, h, parts[part]);
    }
    store(l, h, parts);
    return true;
}

static bool extreme(ptx_low *l, const half *h, const char *stem)
{
    const bool nan = ptx_mod(l, PTX_MOD_NAN), sign = ptx_mod(l, PTX_MOD_XORSIGN);
    if (sign != ptx_mod(l, PTX_MOD_ABS) || l->count != 3)
        return false;
    char name[32];
    snprintf(name, sizeof(name), "%s_%s%s", stem, nan ? "nan" : "num",
             sign ? "_xorsign" : "");
    return apply(l, h, name, 2);
}

bool ptx_low_half(ptx_low *l)
{
    half h = {.type = ptx_type_at(l, 0)};
    h.pair = h.type == PTX_F16X2 || h.type == PTX_BF16X2;
    h.suffix = h.type == PTX_F16 || h.type == PTX_F16X2 ? "f16" : "bf16";
    const bool is_bf16 = h.suffix[0] == 'b';
    if (l->insn->type_count != 1)
        return false;
    h.ftz = ptx_mod(l, PTX_MOD_FTZ);
    h.sat = ptx_mod(l, PTX_MOD_SAT);
    const ptx_opcode opcode = (ptx_opcode)l->insn->opcode;
    const ptx_round round = ptx_rounding(l);
    if (round != LOW_NO_ROUND && round != LOW_RN)
        return false;
    if (opcode == PTX_OP_FMA)
        h.relu = ptx_mod(l, PTX_MOD_RELU);
    if (is_bf16 && (h.sat || (h.ftz && opcode != PTX_OP_EX2)))
        return false;
    switch (opcode) {
    case PTX_OP_ADD: return apply(l, &h, "add", 2);
    case PTX_OP_SUB: return apply(l, &h, "sub", 2);
    case PTX_OP_MUL: return apply(l, &h, "mul", 2);
    case PTX_OP_FMA: return apply(l, &h, "fma", 3);
    case PTX_OP_NEG: return apply(l, &h, "neg", 1);
    case PTX_OP_ABS: return apply(l, &h, "abs", 1);
    case PTX_OP_MIN: return extreme(l, &h, "min");
    case PTX_OP_MAX: return extreme(l, &h, "max");
    case PTX_OP_EX2: return ptx_mod(l, PTX_MOD_APPROX) && apply(l, &h, "ex2_approx", 1);
    case PTX_OP_TANH: return ptx_mod(l, PTX_MOD_APPROX) && apply(l, &h, "tanh_approx", 1);
    default: return false;
    }
}

// SPDX-License-Identifier: Apache-2.0
/* f16, bf16 and their pairs: library functions on 16 bits, which compute in f32 or f64
 * and round once. A pair is two of them. */
#include "softcuda/ptx/lower/lower.h"

typedef struct half {
    ptx_type type;
    const char *suffix; /* "f16" or "bf16", of one element */
    bool pair;
    bool ftz, sat, relu;
} half;

static ptx_value unary(ptx_low *l, const half *h, const char *stem, ptx_value x)
{
    return ptx_call_library(l, ptx_name("%s_%s", stem, h->suffix).name, "i16",
                            &(ptx_arg){"i16", x}, 1);
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

/* In the order of the PTX ISA: flush, saturate, clip negatives. */
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

static bool apply(ptx_low *l, const half *h, const char *stem, uint32_t inputs)
{
    if (!ptx_check_all(l, h->type, inputs))
        return false;
    ptx_value parts[2];
    for (uint32_t part = 0; part < (h->pair ? 2u : 1u); part++) {
        ptx_arg args[3];
        for (uint32_t i = 0; i < inputs; i++)
            args[i] = (ptx_arg){"i16", element(l, h, i + 1, part)};
        parts[part] = finish(l, h,
                             ptx_call_library(l, ptx_name("%s_%s", stem, h->suffix).name,
                                              "i16", args, inputs));
    }
    ptx_out(l, 0, h->type, h->pair ? ptx_join(l, parts[0], parts[1]) : parts[0]);
    return true;
}

/* Reads type, rounding, .ftz and .sat; bf16 neither saturates nor, but for ex2,
 * flushes. */
static bool begin(ptx_low *l, half *h)
{
    const ptx_type type = ptx_type_at(l, 0);
    *h = (half){.type = type, .pair = type == PTX_F16X2 || type == PTX_BF16X2};
    h->suffix = type == PTX_F16 || type == PTX_F16X2 ? "f16" : "bf16";
    h->ftz = ptx_mod(l, PTX_MOD_FTZ);
    h->sat = ptx_mod(l, PTX_MOD_SAT);
    const ptx_modifier round = ptx_one_of(l, PTX_MOD_RN, PTX_MOD_RP);
    return l->insn->type_count == 1 &&
           (round == PTX_MOD_UNKNOWN || round == PTX_MOD_RN) &&
           (h->suffix[0] != 'b' ||
            (!h->sat && (!h->ftz || l->insn->opcode == PTX_OP_EX2)));
}

/* neg and abs; then add, sub and mul: the library's function of the opcode's name. */
static bool unary_form(ptx_low *l)
{
    half h;
    return begin(l, &h) && apply(l, &h, l->word, 1);
}

static bool binary_form(ptx_low *l)
{
    half h;
    return begin(l, &h) && apply(l, &h, l->word, 2);
}

static bool fused(ptx_low *l)
{
    half h;
    if (!begin(l, &h))
        return false;
    h.relu = ptx_mod(l, PTX_MOD_RELU);
    return apply(l, &h, "fma", 3);
}

static bool extreme(ptx_low *l)
{
    half h;
    if (!begin(l, &h))
        return false;
    const bool nan = ptx_mod(l, PTX_MOD_NAN), sign = ptx_mod(l, PTX_MOD_XORSIGN);
    if (sign != ptx_mod(l, PTX_MOD_ABS) || l->count != 3)
        return false;
    return apply(
        l, &h,
        ptx_name("%s_%s%s", l->word, nan ? "nan" : "num", sign ? "_xorsign" : "").name,
        2);
}

static bool approximate(ptx_low *l)
{
    half h;
    return begin(l, &h) && ptx_mod(l, PTX_MOD_APPROX) &&
           apply(l, &h, ptx_name("%s_approx", l->word).name, 1);
}

ptx_family ptx_low_half = {
    [PTX_OP_ADD] = binary_form,  [PTX_OP_SUB] = binary_form, [PTX_OP_MUL] = binary_form,
    [PTX_OP_FMA] = fused,        [PTX_OP_NEG] = unary_form,  [PTX_OP_ABS] = unary_form,
    [PTX_OP_MIN] = extreme,      [PTX_OP_MAX] = extreme,     [PTX_OP_EX2] = approximate,
    [PTX_OP_TANH] = approximate,
};

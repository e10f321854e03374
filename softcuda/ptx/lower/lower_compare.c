// SPDX-License-Identifier: Apache-2.0
/* setp, set, selp, slct. */
#include "softcuda/ptx/lower/lower.h"

/* A comparison: IR's predicate for signed, unsigned (and bits) and floating operands. */
static const struct comparison {
    ptx_modifier modifier;
    const char *on_signed, *on_unsigned, *on_float;
} comparisons[] = {
    {PTX_MOD_EQ, "eq", "eq", "oeq"},   {PTX_MOD_NE, "ne", "ne", "one"},
    {PTX_MOD_LT, "slt", "ult", "olt"}, {PTX_MOD_LE, "sle", "ule", "ole"},
    {PTX_MOD_GT, "sgt", "ugt", "ogt"}, {PTX_MOD_GE, "sge", "uge", "oge"},
    {PTX_MOD_LO, NULL, "ult", NULL},   {PTX_MOD_LS, NULL, "ule", NULL},
    {PTX_MOD_HI, NULL, "ugt", NULL},   {PTX_MOD_HS, NULL, "uge", NULL},
    {PTX_MOD_EQU, NULL, NULL, "ueq"},  {PTX_MOD_NEU, NULL, NULL, "une"},
    {PTX_MOD_LTU, NULL, NULL, "ult"},  {PTX_MOD_LEU, NULL, NULL, "ule"},
    {PTX_MOD_GTU, NULL, NULL, "ugt"},  {PTX_MOD_GEU, NULL, NULL, "uge"},
    {PTX_MOD_NUM, NULL, NULL, "ord"},  {PTX_MOD_ISNAN, NULL, NULL, "uno"},
};

static bool is_any_float(ptx_type type)
{
    return ptx_is_float(type) || ptx_is_half(type);
}

/* The IR predicate of the one comparison written, for `type`; NULL if there is none. */
static const char *predicate(ptx_low *l, ptx_type type)
{
    const char *found = NULL;
    for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
        const struct comparison *c = &comparisons[i];
        if (!ptx_mod(l, c->modifier))
            continue;
        if (found)
            return NULL;
        if (is_any_float(type))
            found = c->on_float;
        else
            found = ptx_is_signed(type) ? c->on_signed : c->on_unsigned;
        const bool ordered = c->modifier != PTX_MOD_EQ && c->modifier != PTX_MOD_NE;
        if (!found || (ordered && ptx_is_bits(type)))
            return NULL;
    }
    return found;
}

/* One element as something that IR compares: half precision as float. */
static ptx_value comparable(ptx_low *l, uint32_t nth, ptx_type type, uint32_t part,
                            bool ftz)
{
    ptx_value x = ptx_in(l, nth, type);
    if (!ptx_is_half(type))
        return ftz ? ptx_call_library(l, "ftz_f32", "float", &(ptx_arg){"float", x}, 1)
                   : x;
    const char *suffix = type == PTX_BF16 || type == PTX_BF16X2 ? "bf16" : "f16";
    if (ptx_bits(type) == 32) {
        if (part)
            x = ptx_op(l, "lshr i32 %s, 16", x.name);
        x = ptx_resize(l, x, 32, 16, false);
    }
    ptx_arg arg = {"i16", x};
    if (ftz)
        arg.value = ptx_call_library(l, ptx_name("ftz_%s", suffix).name, "i16", &arg, 1);
    return ptx_call_library(l, ptx_name("cvt_f32_%s", suffix).name, "float", &arg, 1);
}

static ptx_value compare(ptx_low *l, const char *word, ptx_type type, uint32_t first,
                         uint32_t part, bool ftz)
{
    const ptx_value a = comparable(l, first, type, part, ftz);
    const ptx_value b = comparable(l, first + 1, type, part, ftz);
    const char *llvm = ptx_is_half(type) ? "float" : ptx_llvm_type(type);
    return ptx_op(l, "%s %s %s %s, %s", is_any_float(type) ? "fcmp" : "icmp", word, llvm,
                  a.name, b.name);
}

/* .and .or .xor with a predicate; NULL: none written. */
static const char *combination(ptx_low *l)
{
    const ptx_modifier word = ptx_one_of(l, PTX_MOD_AND, PTX_MOD_XOR);
    return word != PTX_MOD_UNKNOWN ? ptx_modifier_name(word) : NULL;
}

/* Both sides have the instruction's type; bits can be compared for equality only, which
 * predicate() sees to. */
static bool check_compared(ptx_low *l, ptx_type type, uint32_t first, bool ftz)
{
    if (ftz && type != PTX_F32 && type != PTX_F16 && type != PTX_F16X2)
        return false;
    if (!is_any_float(type) && !ptx_is_number(type))
        return false;
    return ptx_bits(type) >= 16 && ptx_check_in(l, first, type) &&
           ptx_check_in(l, first + 1, type);
}

/* setp.lt.and.f32 p|q, a, b, c: p = (a < b) and c, q = !(a < b) and c; for pairs p is of
 * the low elements and q of the high ones. */
static bool set_predicate(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    const bool ftz = ptx_mod(l, PTX_MOD_FTZ);
    const char *word = predicate(l, type), *combine = combination(l);
    const bool two = l->count > 0 && l->operands[0]->pair;
    const uint32_t first = two ? 2 : 1;
    const bool pairs = ptx_is_half(type) && ptx_bits(type) == 32;
    if (!word || l->insn->type_count != 1 || l->count != first + 2 + (combine != NULL) ||
        !check_compared(l, type, first, ftz))
        return false;
    if (!ptx_check_out(l, 0, PTX_PRED) || (two && !ptx_check_out(l, 1, PTX_PRED)) ||
        (combine && !ptx_check_in(l, first + 2, PTX_PRED)) || (pairs && !two))
        return false;
    ptx_value results[2];
    results[0] = compare(l, word, type, first, 0, ftz);
    if (pairs)
        results[1] = compare(l, word, type, first, 1, ftz);
    else if (two)
        results[1] = ptx_op(l, "xor i1 %s, true", results[0].name);
    ptx_value c = {""};
    if (combine)
        c = ptx_in(l, first + 2, PTX_PRED);
    for (uint32_t i = 0; i < first; i++) {
        if (combine)
            results[i] = ptx_op(l, "%s i1 %s, %s", combine, results[i].name, c.name);
        ptx_out(l, i, PTX_PRED, results[i]);
    }
    return true;
}

/* The words that set writes for true: all ones, or 1.0. */
static ptx_value truth(ptx_low *l, ptx_value condition, ptx_type type)
{
    switch (type) {
    case PTX_F32: return ptx_op(l, "select i1 %s, float 1.0, float 0.0", condition.name);
    case PTX_F16:
    case PTX_F16X2: return ptx_op(l, "select i1 %s, i16 15360, i16 0", condition.name);
    case PTX_BF16:
    case PTX_BF16X2: return ptx_op(l, "select i1 %s, i16 16256, i16 0", condition.name);
    default: return ptx_resize(l, condition, 1, ptx_bits(type), true);
    }
}

/* set.lt.and.f32.s32 d, a, b, c */
static bool set_value(ptx_low *l)
{
    const ptx_type to = ptx_type_at(l, 0), type = ptx_type_at(l, 1);
    const bool ftz = ptx_mod(l, PTX_MOD_FTZ);
    const char *word = predicate(l, type), *combine = combination(l);
    const bool known = to == PTX_U32 || to == PTX_S32 || to == PTX_F32 ||
                       ptx_is_half(to) ||
                       ((to == PTX_U16 || to == PTX_S16) && ptx_is_half(type));
    const bool pairs = ptx_is_half(type) && ptx_bits(type) == 32;
    if (!word || !known || l->insn->type_count != 2 ||
        l->count != 3u + (combine != NULL) || !check_compared(l, type, 1, ftz))
        return false;
    if (pairs && ptx_bits(to) != 32)
        return false;
    if (ptx_is_half(to) && ptx_bits(to) == 32 && !pairs)
        return false;
    if (!ptx_check_out(l, 0, to) || (combine && (pairs || !ptx_check_in(l, 3, PTX_PRED))))
        return false;
    ptx_value condition = compare(l, word, type, 1, 0, ftz);
    if (!pairs) {
        if (combine) {
            const ptx_value c = ptx_in(l, 3, PTX_PRED);
            condition = ptx_op(l, "%s i1 %s, %s", combine, condition.name, c.name);
        }
        ptx_out(l, 0, to, truth(l, condition, to));
        return true;
    }
    /* set.eq.u32.f16x2 writes 0xffff for true in each half. */
    const ptx_type half = ptx_is_half(to) ? to : PTX_U16;
    const ptx_value low = truth(l, condition, half);
    ptx_out(l, 0, to,
            ptx_join(l, low, truth(l, compare(l, word, type, 1, 1, ftz), half)));
    return true;
}

/* A type of selp and slct, and their operands but the third. */
static bool check_selected(ptx_low *l, ptx_type type)
{
    return (ptx_is_number(type) || ptx_is_float(type)) && l->count == 4 &&
           ptx_bits(type) >= 16 && ptx_check_out(l, 0, type) &&
           ptx_check_in(l, 1, type) && ptx_check_in(l, 2, type);
}

/* A kernel chooses where a branch would be a bad guess, as in a binary search: LLVM is not
 * to make one of it again (!13 is the empty node, shape_tail.c). */
static void write_select(ptx_low *l, ptx_type type, ptx_value a, ptx_value b,
                         ptx_value chosen)
{
    const char *llvm = ptx_llvm_type(type);
    ptx_out(l, 0, type,
            ptx_op(l, "select i1 %s, %s %s, %s %s, !unpredictable !13", chosen.name, llvm,
                   a.name, llvm, b.name));
}

static bool select_by_predicate(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!check_selected(l, type) || !ptx_check_in(l, 3, PTX_PRED))
        return false;
    const ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    write_select(l, type, a, b, ptx_in(l, 3, PTX_PRED));
    return true;
}

/* slct.f32.s32 d, a, b, c: c >= 0 ? a : b; a NaN chooses b. */
static bool select_by_sign(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0), by = ptx_type_at(l, 1);
    const bool ftz = ptx_mod(l, PTX_MOD_FTZ);
    if ((by != PTX_S32 && by != PTX_F32) || (ftz && by != PTX_F32) ||
        !check_selected(l, type) || !ptx_check_in(l, 3, by))
        return false;
    const ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    const ptx_value c = comparable(l, 3, by, 0, ftz);
    write_select(l, type, a, b,
                 by == PTX_S32 ? ptx_op(l, "icmp sge i32 %s, 0", c.name)
                               : ptx_op(l, "fcmp oge float %s, 0.0", c.name));
    return true;
}

ptx_family ptx_low_compare = {
    [PTX_OP_SETP] = set_predicate,
    [PTX_OP_SET] = set_value,
    [PTX_OP_SELP] = select_by_predicate,
    [PTX_OP_SLCT] = select_by_sign,
};

// SPDX-License-Identifier: Apache-2.0
/* Integer arithmetic. IR's plain add, sub and mul wrap as PTX's do; division goes through
 * the library, because IR leaves division by zero and INT_MIN / -1 undefined. */
#include "softcuda/ptx/lower/lower.h"

static bool is_pair(ptx_type type)
{
    return type == PTX_U16X2 || type == PTX_S16X2;
}

/* Of 16, 32 or 64 bits. */
static bool is_word(ptx_type type)
{
    return ptx_is_int(type) && ptx_bits(type) >= 16;
}

static ptx_type widened(ptx_type type)
{
    return (ptx_type)(type + 1);
} /* u16 -> u32 */

static bool carry_chain(ptx_low *l); /* add.cc, sub.cc, mad.cc too */

/* A library call whose result and arguments have the instruction's type. */
static bool same_call(ptx_low *l, const char *stem, ptx_type type, uint32_t inputs)
{
    if (!ptx_check_all(l, type, inputs))
        return false;
    const char *llvm = ptx_llvm_type(type);
    ptx_arg args[4];
    for (uint32_t i = 0; i < inputs; i++)
        args[i] = (ptx_arg){llvm, ptx_in(l, i + 1, type)};
    ptx_out(l, 0, type,
            ptx_call_library(l, ptx_name("%s_%s", stem, ptx_type_name(type)).name, llvm,
                             args, inputs));
    return true;
}

/* add and sub. */
static bool sum(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (ptx_has(l->insn, PTX_MOD_CC))
        return carry_chain(l);
    if (is_pair(type))
        return same_call(l, l->word, type, 2);
    const bool saturate = ptx_mod(l, PTX_MOD_SAT);
    if (!is_word(type) || (saturate && type != PTX_S32) || !ptx_check_all(l, type, 2))
        return false;
    const ptx_value args[] = {ptx_in(l, 1, type), ptx_in(l, 2, type)};
    ptx_out(l, 0, type,
            saturate ? ptx_call_llvm(l, ptx_name("s%s.sat", l->word).name, type, args, 2)
                     : ptx_op(l, "%s %s %s, %s", l->word, ptx_llvm_type(type),
                              args[0].name, args[1].name));
    return true;
}

/* The product's part that .lo, .hi or .wide asks for; its type in *out. */
static bool product(ptx_low *l, ptx_type type, ptx_type *out, ptx_value *result)
{
    const bool hi = ptx_mod(l, PTX_MOD_HI), wide = ptx_mod(l, PTX_MOD_WIDE);
    const bool lo = ptx_mod(l, PTX_MOD_LO);
    if (hi + wide + lo != 1 || !is_word(type) || (wide && ptx_bits(type) == 64))
        return false;
    if (!ptx_check_in(l, 1, type) || !ptx_check_in(l, 2, type))
        return false;
    const uint32_t bits = ptx_bits(type);
    ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    *out = wide ? widened(type) : type;
    if (lo) {
        *result = ptx_op(l, "mul %s %s, %s", ptx_int_name(bits), a.name, b.name);
        return true;
    }
    a = ptx_resize(l, a, bits, 2 * bits, ptx_is_signed(type));
    b = ptx_resize(l, b, bits, 2 * bits, ptx_is_signed(type));
    *result = ptx_op(l, "mul %s %s, %s", ptx_int_name(2 * bits), a.name, b.name);
    if (hi) {
        *result = ptx_op(l, "lshr %s %s, %u", ptx_int_name(2 * bits), result->name, bits);
        *result = ptx_resize(l, *result, 2 * bits, bits, false);
    }
    return true;
}

/* mul24 and mad24: the low 32 or the high 32 of 48 bits. */
static bool product24(ptx_low *l, ptx_type type, ptx_value *result)
{
    const bool hi = ptx_mod(l, PTX_MOD_HI);
    if (hi == ptx_mod(l, PTX_MOD_LO) || (type != PTX_U32 && type != PTX_S32))
        return false;
    if (!ptx_check_in(l, 1, type) || !ptx_check_in(l, 2, type))
        return false;
    const char *shift = type == PTX_S32 ? "ashr" : "lshr";
    ptx_value wide[2];
    for (uint32_t i = 0; i < 2; i++) {
        const ptx_value x = ptx_in(l, i + 1, type);
        const ptx_value up = ptx_op(l, "shl i32 %s, 8", x.name);
        const ptx_value down = ptx_op(l, "%s i32 %s, 8", shift, up.name);
        wide[i] = ptx_resize(l, down, 32, 64, type == PTX_S32);
    }
    *result = ptx_op(l, "mul i64 %s, %s", wide[0].name, wide[1].name);
    if (hi)
        *result = ptx_op(l, "lshr i64 %s, 16", result->name);
    *result = ptx_resize(l, *result, 64, 32, false);
    return true;
}

/* mul, mad, mul24, mad24. */
static bool multiply(ptx_low *l)
{
    const ptx_opcode opcode = (ptx_opcode)l->insn->opcode;
    const bool is24 = opcode == PTX_OP_MUL24 || opcode == PTX_OP_MAD24;
    const bool adds = opcode == PTX_OP_MAD || opcode == PTX_OP_MAD24;
    const ptx_type type = ptx_type_at(l, 0);
    ptx_type out = type;
    ptx_value result;
    if (ptx_has(l->insn, PTX_MOD_CC))
        return carry_chain(l);
    if (!(is24 ? product24(l, type, &result) : product(l, type, &out, &result)))
        return false;
    if (l->count != (adds ? 4u : 3u) || !ptx_check_out(l, 0, out))
        return false;
    if (adds) {
        if (!ptx_check_in(l, 3, out))
            return false;
        const ptx_value c = ptx_in(l, 3, out);
        if (!ptx_mod(l, PTX_MOD_SAT))
            result = ptx_op(l, "add %s %s, %s", ptx_llvm_type(out), result.name, c.name);
        else if (type == PTX_S32 && out == PTX_S32 && !ptx_has(l->insn, PTX_MOD_LO))
            result = ptx_call_llvm(l, "sadd.sat", PTX_S32, (ptx_value[]){result, c}, 2);
        else
            return false;
    }
    ptx_out(l, 0, out, result);
    return true;
}

/* A divisor known not to be 0 or -1 lets LLVM turn the division into a multiplication. */
static bool divide(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!is_word(type) || !ptx_check_all(l, type, 2))
        return false;
    const ptx_operand *divisor = l->operands[2];
    const bool plain = divisor->kind == PTX_OPERAND_INT && divisor->imm != 0 &&
                       divisor->imm != -1 && (int32_t)divisor->imm == divisor->imm &&
                       (int16_t)divisor->imm != 0 && (int16_t)divisor->imm != -1;
    if (!plain)
        return same_call(l, l->word, type, 2);
    const ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    ptx_out(l, 0, type,
            ptx_op(l, "%c%s %s %s, %s", ptx_is_signed(type) ? 's' : 'u', l->word,
                   ptx_int_name(ptx_bits(type)), a.name, b.name));
    return true;
}

/* abs and neg are of signed types alone. */
static bool check_signed(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    return is_word(type) && ptx_is_signed(type) && ptx_check_all(l, type, 1);
}

static bool absolute(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    const char *llvm = ptx_llvm_type(type);
    if (!check_signed(l))
        return false;
    const ptx_value a = ptx_in(l, 1, type);
    ptx_out(l, 0, type,
            ptx_op(l, "call %s @llvm.abs.%s(%s %s, i1 false)", llvm, llvm, llvm, a.name));
    return true;
}

static bool negate(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!check_signed(l))
        return false;
    const ptx_value a = ptx_in(l, 1, type);
    ptx_out(l, 0, type, ptx_op(l, "sub %s 0, %s", ptx_llvm_type(type), a.name));
    return true;
}

/* min and max. */
static bool extreme(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    const bool relu = ptx_mod(l, PTX_MOD_RELU);
    if (relu && type != PTX_S32 && type != PTX_S16X2)
        return false;
    if (is_pair(type))
        return same_call(l, ptx_name("%s%s", l->word, relu ? "_relu" : "").name, type, 2);
    if (!is_word(type) || !ptx_check_all(l, type, 2))
        return false;
    const ptx_value args[] = {ptx_in(l, 1, type), ptx_in(l, 2, type)};
    const char sign = ptx_is_signed(type) ? 's' : 'u';
    ptx_value result =
        ptx_call_llvm(l, ptx_name("%c%s", sign, l->word).name, type, args, 2);
    if (relu)
        result = ptx_call_llvm(l, "smax", type, (ptx_value[]){result, ptx_name("0")}, 2);
    ptx_out(l, 0, type, result);
    return true;
}

static bool absolute_difference(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!is_word(type) || !ptx_check_all(l, type, 3))
        return false;
    const char *llvm = ptx_int_name(ptx_bits(type));
    const ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    const ptx_value less = ptx_op(l, "icmp %clt %s %s, %s",
                                  ptx_is_signed(type) ? 's' : 'u', llvm, a.name, b.name);
    const ptx_value up = ptx_op(l, "sub %s %s, %s", llvm, b.name, a.name);
    const ptx_value down = ptx_op(l, "sub %s %s, %s", llvm, a.name, b.name);
    const ptx_value difference = ptx_op(l, "select i1 %s, %s %s, %s %s", less.name, llvm,
                                        up.name, llvm, down.name);
    const ptx_value c = ptx_in(l, 3, type);
    ptx_out(l, 0, type, ptx_op(l, "add %s %s, %s", llvm, difference.name, c.name));
    return true;
}

/* dp4a.u32.s32, dp2a.lo.s32.u32: signedness of a and of b. */
static bool dot_product(ptx_low *l)
{
    const ptx_type a = ptx_type_at(l, 0), b = ptx_type_at(l, 1);
    if ((a != PTX_U32 && a != PTX_S32) || (b != PTX_U32 && b != PTX_S32))
        return false;
    const ptx_type out = a == PTX_S32 || b == PTX_S32 ? PTX_S32 : PTX_U32;
    if (!ptx_check_all(l, out, 3))
        return false;
    const char *part = "";
    if (l->insn->opcode == PTX_OP_DP2A) {
        const bool hi = ptx_mod(l, PTX_MOD_HI);
        if (hi == ptx_mod(l, PTX_MOD_LO))
            return false;
        part = hi ? "_hi" : "_lo";
    }
    const ptx_value name =
        ptx_name("%s%s_%s_%s", l->word, part, ptx_type_name(a), ptx_type_name(b));
    const ptx_arg args[] = {
        {"i32", ptx_in(l, 1, a)}, {"i32", ptx_in(l, 2, b)}, {"i32", ptx_in(l, 3, out)}};
    ptx_out(l, 0, out, ptx_call_library(l, name.name, "i32", args, 3));
    return true;
}

/* ---- carry chains: add.cc, addc, sub.cc, subc, mad.cc, madc ----------------------- */

/* One bit more than the type says carry or borrow. The flag is 1 after an addition with a
 * carry and after a subtraction *without* a borrow, as a GPU has it (recorded forms of
 * mixed chains, H200): an addc after a sub.cc adds 1 where nothing was borrowed. */
static bool carry_chain(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    const ptx_opcode opcode = (ptx_opcode)l->insn->opcode;
    const bool sets = ptx_mod(l, PTX_MOD_CC);
    const bool takes =
        opcode == PTX_OP_ADDC || opcode == PTX_OP_SUBC || opcode == PTX_OP_MADC;
    const bool subtracts = opcode == PTX_OP_SUB || opcode == PTX_OP_SUBC;
    const bool multiplies = opcode == PTX_OP_MAD || opcode == PTX_OP_MADC;
    if (!is_word(type) || ptx_bits(type) < 32)
        return false;
    ptx_type part = type;
    ptx_value a, b;
    if (multiplies) {
        if (!product(l, type, &part, &a) || part != type)
            return false;
    } else if (!ptx_check_in(l, 1, type)) {
        return false;
    } else {
        a = ptx_in(l, 1, type);
    }
    const uint32_t last = multiplies ? 3 : 2;
    if (l->count != last + 1 || !ptx_check_in(l, last, type) ||
        !ptx_check_out(l, 0, type))
        return false;
    b = ptx_in(l, last, type);
    const uint32_t bits = ptx_bits(type);
    const char *wide = ptx_int_name(2 * bits), *word = subtracts ? "sub" : "add";
    a = ptx_resize(l, a, bits, 2 * bits, false);
    b = ptx_resize(l, b, bits, 2 * bits, false);
    ptx_value result = ptx_op(l, "%s %s %s, %s", word, wide, a.name, b.name);
    if (takes) {
        ptx_value carry = ptx_op(l, "load i1, ptr %%cc");
        if (subtracts)
            carry = ptx_op(l, "xor i1 %s, true", carry.name);
        carry = ptx_resize(l, carry, 1, 2 * bits, false);
        result = ptx_op(l, "%s %s %s, %s", word, wide, result.name, carry.name);
    }
    if (sets) {
        const ptx_value high = ptx_op(l, "lshr %s %s, %u", wide, result.name, bits);
        ptx_value carry = ptx_resize(l, high, 2 * bits, 1, false);
        if (subtracts)
            carry = ptx_op(l, "xor i1 %s, true", carry.name);
        ptx_do(l, "store i1 %s, ptr %%cc", carry.name);
    }
    ptx_out(l, 0, type, ptx_resize(l, result, 2 * bits, bits, false));
    return true;
}

ptx_family ptx_low_integer = {
    [PTX_OP_ADD] = sum,
    [PTX_OP_SUB] = sum,
    [PTX_OP_MUL] = multiply,
    [PTX_OP_MAD] = multiply,
    [PTX_OP_MUL24] = multiply,
    [PTX_OP_MAD24] = multiply,
    [PTX_OP_DIV] = divide,
    [PTX_OP_REM] = divide,
    [PTX_OP_ABS] = absolute,
    [PTX_OP_NEG] = negate,
    [PTX_OP_MIN] = extreme,
    [PTX_OP_MAX] = extreme,
    [PTX_OP_SAD] = absolute_difference,
    [PTX_OP_DP4A] = dot_product,
    [PTX_OP_DP2A] = dot_product,
    [PTX_OP_ADDC] = carry_chain,
    [PTX_OP_SUBC] = carry_chain,
    [PTX_OP_MADC] = carry_chain,
};

// SPDX-License-Identifier: Apache-2.0
/* Logic, shifts and bit fields. PTX clamps shift amounts at the width; IR calls a larger
 * shift poison, which a select may discard. */
#include "softcuda/ptx/lower/lower.h"

#include <string.h>

/* and, or, xor; predicates are integers of one bit. */
static bool logic(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if ((type != PTX_PRED && !(ptx_is_number(type) && ptx_bits(type) >= 16)) ||
        !ptx_check_all(l, type, 2))
        return false;
    const ptx_value a = ptx_in(l, 1, type), b = ptx_in(l, 2, type);
    ptx_out(l, 0, type,
            ptx_op(l, "%s %s %s, %s", l->word, ptx_llvm_type(type), a.name, b.name));
    return true;
}

static bool complement(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if ((type != PTX_PRED && !ptx_is_number(type)) || ptx_bits(type) == 8 ||
        !ptx_check_all(l, type, 1))
        return false;
    const ptx_value a = ptx_in(l, 1, type);
    ptx_out(l, 0, type, ptx_op(l, "xor %s %s, -1", ptx_llvm_type(type), a.name));
    return true;
}

/* cnot: a logical not, as C has it. */
static bool is_zero(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!ptx_is_bits(type) || ptx_bits(type) == 8 || !ptx_check_all(l, type, 1))
        return false;
    const ptx_value a = ptx_in(l, 1, type);
    const ptx_value zero = ptx_op(l, "icmp eq %s %s, 0", ptx_llvm_type(type), a.name);
    ptx_out(l, 0, type, ptx_resize(l, zero, 1, ptx_bits(type), false));
    return true;
}

/* By a number that is less than the width, as nearly all are. */
static bool shifts_by_number(const ptx_low *l, uint32_t bits)
{
    const ptx_operand *by = l->operands[2];
    return by->kind == PTX_OPERAND_INT && by->imm >= 0 && by->imm < (int64_t)bits;
}

/* The amount is 32 bits wide whatever the type. */
static bool shift(ptx_low *l)
{
    const bool left = l->insn->opcode == PTX_OP_SHL;
    const ptx_type type = ptx_type_at(l, 0);
    const uint32_t bits = ptx_bits(type);
    if ((!ptx_is_bits(type) && !(!left && ptx_is_int(type))) || bits == 8 ||
        l->count != 3)
        return false;
    if (!ptx_check_out(l, 0, type) || !ptx_check_in(l, 1, type) ||
        !ptx_check_in(l, 2, PTX_U32))
        return false;
    const char *llvm = ptx_int_name(bits);
    const ptx_value a = ptx_in(l, 1, type);
    const char *operation = ptx_is_signed(type) ? "ashr" : left ? "shl" : "lshr";
    ptx_value amount = ptx_in(l, 2, PTX_U32), result;
    if (shifts_by_number(l, bits)) {
        result = ptx_op(l, "%s %s %s, %lld", operation, llvm, a.name,
                        (long long)l->operands[2]->imm);
    } else if (ptx_is_signed(type)) {
        const ptx_value most = ptx_name("%u", bits - 1);
        amount = ptx_call_llvm(l, "umin", PTX_U32, (ptx_value[]){amount, most}, 2);
        amount = ptx_resize(l, amount, 32, bits, false);
        result = ptx_op(l, "%s %s %s, %s", operation, llvm, a.name, amount.name);
    } else {
        const ptx_value fits = ptx_op(l, "icmp ult i32 %s, %u", amount.name, bits);
        amount = ptx_resize(l, amount, 32, bits, false);
        result = ptx_op(l, "%s %s %s, %s", operation, llvm, a.name, amount.name);
        result =
            ptx_op(l, "select i1 %s, %s %s, %s 0", fits.name, llvm, result.name, llvm);
    }
    ptx_out(l, 0, type, result);
    return true;
}

/* shf.l / shf.r of the 64 bits b:a. */
static bool funnel(ptx_low *l)
{
    const bool left = ptx_mod(l, PTX_MOD_LEFT), right = ptx_mod(l, PTX_MOD_RIGHT);
    const bool wrap = ptx_mod(l, PTX_MOD_WRAP), clamp = ptx_mod(l, PTX_MOD_CLAMP);
    if (left == right || wrap == clamp || ptx_type_at(l, 0) != PTX_B32 ||
        !ptx_check_all(l, PTX_B32, 3))
        return false;
    const ptx_value a = ptx_in(l, 1, PTX_B32), b = ptx_in(l, 2, PTX_B32);
    const ptx_value c = ptx_in(l, 3, PTX_B32);
    ptx_value result =
        ptx_call_llvm(l, left ? "fshl" : "fshr", PTX_B32, (ptx_value[]){b, a, c}, 3);
    if (clamp) {
        const ptx_value fits = ptx_op(l, "icmp ult i32 %s, 32", c.name);
        result = ptx_op(l, "select i1 %s, i32 %s, i32 %s", fits.name, result.name,
                        left ? a.name : b.name);
    }
    ptx_out(l, 0, PTX_B32, result);
    return true;
}

/* The table as an exclusive or of products (its algebraic normal form): one product for
 * a & b & c, three for a ^ b ^ c. */
static ptx_value lookup(ptx_low *l, uint32_t table, const ptx_value inputs[3])
{
    bool coefficient[8]; /* index: bit 2 a, bit 1 b, bit 0 c */
    for (uint32_t i = 0; i < 8; i++)
        coefficient[i] = (table >> i) & 1;
    for (uint32_t step = 1; step < 8; step <<= 1)
        for (uint32_t i = 0; i < 8; i++)
            if (i & step)
                coefficient[i] = coefficient[i] != coefficient[i ^ step];
    ptx_value sum = ptx_name("%s", coefficient[0] ? "-1" : "0");
    for (uint32_t i = 1; i < 8; i++) {
        if (!coefficient[i])
            continue;
        ptx_value product = ptx_name("-1");
        for (uint32_t k = 0; k < 3; k++)
            if (i & (4u >> k))
                product = ptx_op(l, "and i32 %s, %s", product.name, inputs[k].name);
        sum = ptx_op(l, "xor i32 %s, %s", sum.name, product.name);
    }
    return sum;
}

/* lop3.b32 d, a, b, c, table and lop3.or.b32 d|p, a, b, c, table, q. */
static bool logic3(ptx_low *l)
{
    const bool any = ptx_mod(l, PTX_MOD_OR), all = ptx_mod(l, PTX_MOD_AND);
    const uint32_t first = any || all ? 2 : 1;
    if (ptx_type_at(l, 0) != PTX_B32 || (any && all) ||
        l->count != (first == 2 ? 7u : 5u) || !ptx_check_out(l, 0, PTX_B32))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        if (!ptx_check_in(l, first + i, PTX_B32))
            return false;
    if (l->operands[first + 3]->kind != PTX_OPERAND_INT)
        return false;
    if (first == 2 && (!ptx_check_out(l, 1, PTX_PRED) || !ptx_check_in(l, 6, PTX_PRED)))
        return false;
    ptx_value inputs[3];
    for (uint32_t i = 0; i < 3; i++)
        inputs[i] = ptx_in(l, first + i, PTX_B32);
    const ptx_value result =
        lookup(l, (uint32_t)l->operands[first + 3]->imm & 0xff, inputs);
    if (first == 2) {
        const ptx_value set = ptx_op(l, "icmp ne i32 %s, 0", result.name);
        const ptx_value q = ptx_in(l, 6, PTX_PRED);
        ptx_out(l, 1, PTX_PRED,
                ptx_op(l, "%s i1 %s, %s", any ? "or" : "and", set.name, q.name));
    }
    ptx_out(l, 0, PTX_B32, result);
    return true;
}

static bool check_word(const ptx_low *l)
{
    return ptx_type_at(l, 0) == PTX_B32 || ptx_type_at(l, 0) == PTX_B64;
}

/* popc and clz: the result is 32 bits wide. */
static bool count_bits(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!check_word(l) || l->count != 2 || !ptx_check_out(l, 0, PTX_U32) ||
        !ptx_check_in(l, 1, type))
        return false;
    const char *llvm = ptx_llvm_type(type);
    const ptx_value a = ptx_in(l, 1, type);
    const ptx_value n = l->insn->opcode == PTX_OP_POPC
                            ? ptx_call_llvm(l, "ctpop", type, &a, 1)
                            : ptx_op(l, "call %s @llvm.ctlz.%s(%s %s, i1 false)", llvm,
                                     llvm, llvm, a.name);
    ptx_out(l, 0, PTX_U32, ptx_resize(l, n, ptx_bits(type), 32, false));
    return true;
}

static bool reverse(ptx_low *l)
{
    const ptx_type type = ptx_type_at(l, 0);
    if (!check_word(l) || !ptx_check_all(l, type, 1))
        return false;
    const ptx_value a = ptx_in(l, 1, type);
    ptx_out(l, 0, type, ptx_call_llvm(l, "bitreverse", type, &a, 1));
    return true;
}

/* A library function of the instruction's name, `mode` and type; the operands' types by
 * letter: t the type, u 32 bits. The first letter is the result. */
static bool by_library(ptx_low *l, const char *mode, const char *letters)
{
    const ptx_type type = ptx_type_at(l, 0);
    const uint32_t count = (uint32_t)strlen(letters);
    ptx_arg args[4];
    if (l->count != count || l->insn->type_count != 1)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        const ptx_type held = letters[i] == 't' ? type : PTX_U32;
        if (!(i == 0 ? ptx_check_out(l, i, held) : ptx_check_in(l, i, held)))
            return false;
        if (i > 0)
            args[i - 1] = (ptx_arg){ptx_llvm_type(held), ptx_in(l, i, held)};
    }
    const ptx_value name = ptx_name("%s%s_%s", l->word, mode, ptx_type_name(type));
    const ptx_type out = letters[0] == 't' ? type : PTX_U32;
    ptx_out(l, 0, out,
            ptx_call_library(l, name.name, ptx_llvm_type(out), args, count - 1));
    return true;
}

/* Without a mode the selector's nibbles pick bytes. */
static bool permute(ptx_low *l)
{
    const ptx_modifier mode = ptx_one_of(l, PTX_MOD_F4E, PTX_MOD_RC16);
    if (!mode && l->emit && l->count == 4 && l->operands[3]->kind == PTX_OPERAND_INT &&
        (l->operands[3]->imm & 0xffff) == 0xba98) {
        const ptx_arg from = {"i32", ptx_in(l, 1, PTX_B32)};
        ptx_out(l, 0, PTX_B32, ptx_call_library(l, "prmt_signs_b32", "i32", &from, 1));
        return true;
    }
    return by_library(l, mode ? ptx_name("_%s", ptx_modifier_name(mode)).name : "",
                      "tttt");
}

static bool find_bit(ptx_low *l)
{
    return by_library(l, ptx_mod(l, PTX_MOD_SHIFTAMT) ? "_shiftamt" : "", "ut");
}

static bool find_nth_bit(ptx_low *l)
{
    return by_library(l, "", "ttut");
}

static bool extract(ptx_low *l)
{
    return by_library(l, "", "ttuu");
}

static bool insert(ptx_low *l)
{
    return by_library(l, "", "tttuu");
}

/* bmsk and szext. */
static bool clamp_or_wrap(ptx_low *l)
{
    const bool clamp = ptx_mod(l, PTX_MOD_CLAMP);
    return clamp != ptx_mod(l, PTX_MOD_WRAP) &&
           by_library(l, clamp ? "_clamp" : "_wrap",
                      l->insn->opcode == PTX_OP_BMSK ? "tuu" : "ttu");
}

ptx_family ptx_low_bits = {
    [PTX_OP_AND] = logic,           [PTX_OP_OR] = logic,
    [PTX_OP_XOR] = logic,           [PTX_OP_NOT] = complement,
    [PTX_OP_CNOT] = is_zero,        [PTX_OP_SHL] = shift,
    [PTX_OP_SHR] = shift,           [PTX_OP_SHF] = funnel,
    [PTX_OP_LOP3] = logic3,         [PTX_OP_POPC] = count_bits,
    [PTX_OP_CLZ] = count_bits,      [PTX_OP_BREV] = reverse,
    [PTX_OP_PRMT] = permute,        [PTX_OP_BFIND] = find_bit,
    [PTX_OP_FNS] = find_nth_bit,    [PTX_OP_BFE] = extract,
    [PTX_OP_BFI] = insert,          [PTX_OP_BMSK] = clamp_or_wrap,
    [PTX_OP_SZEXT] = clamp_or_wrap,
};

// SPDX-License-Identifier: Apache-2.0
/* Between which numbers a register is, whatever the launch: PTX computes with bytes of an
 * image in registers of 32 bits, and where sums, least and greatest of them fit into 8 or 16
 * bits, a vector has room for four times or twice as many threads (shape_narrow.c).
 *
 * Without regard to order: the range of a register has those of all its definitions in it.
 * It grows from nothing; what still grows after a few rounds, such as a sum in a loop, is
 * any number. */
#include "softcuda/ptx/flow/flow.h"

#define ROUNDS 4u
#define ANY ((ptx_range){INT64_MIN, INT64_MAX})

static bool is_any(ptx_range r)
{
    return r.low == INT64_MIN && r.high == INT64_MAX;
}

static bool is_none(ptx_range r)
{
    return r.low > r.high;
}

static bool fits(ptx_range r, int64_t low, int64_t high)
{
    return r.low >= low && r.high <= high;
}

static bool is_signed(ptx_type type)
{
    return type == PTX_S8 || type == PTX_S16 || type == PTX_S32 || type == PTX_S64;
}

static bool is_whole(ptx_type type)
{
    return is_signed(type) || type == PTX_U8 || type == PTX_U16 || type == PTX_U32 ||
           type == PTX_U64 || type == PTX_B8 || type == PTX_B16 || type == PTX_B32 ||
           type == PTX_B64;
}

/* All numbers of a type. */
static ptx_range range_of_type(ptx_type type)
{
    const uint32_t bits = 8u * ptx_type_bytes(type);
    if (!is_whole(type) || bits > 32)
        return ANY;
    if (is_signed(type))
        return (ptx_range){-((int64_t)1 << (bits - 1)), ((int64_t)1 << (bits - 1)) - 1};
    return (ptx_range){0, ((int64_t)1 << bits) - 1};
}

/* As a number of the type, if it does not wrap. */
static ptx_range within(ptx_range r, ptx_type type)
{
    const ptx_range all = range_of_type(type);
    return fits(r, all.low, all.high) ? r : all;
}

/* Products of numbers up to here cannot overflow. */
static bool is_small(ptx_range r)
{
    return fits(r, -((int64_t)1 << 20), (int64_t)1 << 20);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static ptx_range product(ptx_range a, ptx_range b)
{
    const int64_t p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
    return (ptx_range){least(least(p[0], p[1]), least(p[2], p[3])),
                       most(most(p[0], p[1]), most(p[2], p[3]))};
}

/* All bits up to the highest that one of them may have. */
static ptx_range bits_up_to(int64_t high)
{
    int64_t all = 0;
    while (all < high)
        all = all * 2 + 1;
    return (ptx_range){0, all};
}

static ptx_range shifted(ptx_range a, const ptx_operand *by, bool left)
{
    if (by->kind != PTX_OPERAND_INT || by->imm < 0 || by->imm > 63 ||
        (left && (!is_small(a) || by->imm > 16)) || (!left && a.low < 0))
        return ANY;
    const int64_t scale = (int64_t)1 << by->imm;
    return left ? product(a, (ptx_range){scale, scale})
                : (ptx_range){a.low >> by->imm, a.high >> by->imm};
}

/* mul.wide: of words of 16 bits, or of 32 by a number, with which a division by a constant
 * begins. */
static ptx_range product_wide(const ptx_insn *insn, const ptx_operand *o,
                              const ptx_range *x)
{
    const ptx_type type = (ptx_type)insn->types[0];
    const ptx_range all = range_of_type(type);
    if (fits(x[1], all.low, all.high) && fits(x[2], all.low, all.high) &&
        is_small(x[1]) && is_small(x[2]))
        return product(x[1], x[2]);
    if (type != PTX_U32 || o[2].kind != PTX_OPERAND_INT ||
        !fits(x[1], 0, (int64_t)1 << 20))
        return ANY;
    const int64_t by = (int64_t)(uint32_t)o[2].imm;
    return (ptx_range){x[1].low * by, x[1].high * by};
}

static bool is_wide(const ptx_insn *insn)
{
    return insn->opcode == PTX_OP_MUL && insn->mod_count == 1 &&
           ptx_has(insn, PTX_MOD_WIDE);
}

static ptx_range combined(const ptx_insn *insn, const ptx_operand *o, const ptx_range *x)
{
    const bool plain = insn->mod_count == 0;
    const bool low = insn->mod_count == 1 && ptx_has(insn, PTX_MOD_LO);
    const bool small = is_small(x[1]) && is_small(x[2]);
    const bool in_order = /* a negative number is a large one without a sign */
        small &&
        (is_signed((ptx_type)insn->types[0]) || (x[1].low >= 0 && x[2].low >= 0));
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MOV: return plain ? x[1] : ANY;
    case PTX_OP_ADD:
        return plain && small ? (ptx_range){x[1].low + x[2].low, x[1].high + x[2].high}
                              : ANY;
    case PTX_OP_SUB:
        return plain && small ? (ptx_range){x[1].low - x[2].high, x[1].high - x[2].low}
                              : ANY;
    case PTX_OP_MUL:
        if (is_wide(insn))
            return product_wide(insn, o, x);
        return low && small ? product(x[1], x[2]) : ANY;
    case PTX_OP_MAD: {
        const ptx_range p = low && small ? product(x[1], x[2]) : ANY;
        return !is_any(p) && is_small(x[3])
                   ? (ptx_range){p.low + x[3].low, p.high + x[3].high}
                   : ANY;
    }
    case PTX_OP_NEG: return is_small(x[1]) ? (ptx_range){-x[1].high, -x[1].low} : ANY;
    case PTX_OP_ABS:
        return is_small(x[1]) ? (ptx_range){most(0, most(x[1].low, -x[1].high)),
                                            most(-x[1].low, x[1].high)}
                              : ANY;
    case PTX_OP_MIN:
        return plain && in_order
                   ? (ptx_range){least(x[1].low, x[2].low), least(x[1].high, x[2].high)}
                   : ANY;
    case PTX_OP_MAX:
        return plain && in_order
                   ? (ptx_range){most(x[1].low, x[2].low), most(x[1].high, x[2].high)}
                   : ANY;
    case PTX_OP_AND:
        if (x[1].low >= 0 && x[2].low >= 0)
            return (ptx_range){0, least(x[1].high, x[2].high)};
        return x[1].low >= 0   ? (ptx_range){0, x[1].high}
               : x[2].low >= 0 ? (ptx_range){0, x[2].high}
                               : ANY;
    case PTX_OP_OR:
    case PTX_OP_XOR:
        return small && x[1].low >= 0 && x[2].low >= 0
                   ? bits_up_to(most(x[1].high, x[2].high))
                   : ANY;
    case PTX_OP_SHL: return shifted(x[1], &o[2], true);
    case PTX_OP_SHR: return shifted(x[1], &o[2], false);
    case PTX_OP_SELP:
        return (ptx_range){least(x[1].low, x[2].low), most(x[1].high, x[2].high)};
    default: return ANY;
    }
}

static ptx_range range_of_operand(const ptx_range *ranges, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_INT)
        return (ptx_range){o->imm, o->imm};
    if (o->kind == PTX_OPERAND_REG && !o->negate)
        return ranges[o->index];
    return ANY;
}

static ptx_range range_of_insn(const ptx_shape *s, const ptx_range *ranges, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = &s->function->operands[insn->operand];
    ptx_range x[4] = {ANY, ANY, ANY, ANY};
    if (insn->opcode == PTX_OP_LD && insn->type_count == 1 &&
        ptx_type_bytes((ptx_type)insn->types[0]) <= 2)
        return range_of_type((ptx_type)insn->types[0]);
    if (insn->type_count == 0 || !is_whole((ptx_type)insn->types[0]) ||
        insn->operand_count > 4 || s->insns[i].write_count != 1)
        return ANY;
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        x[k] = range_of_operand(ranges, &o[k]);
        if (is_none(x[k]))
            return x[k]; /* not seen yet */
    }
    if (insn->opcode == PTX_OP_CVT) {
        if (insn->mod_count != 0 || insn->type_count != 2 ||
            !is_whole((ptx_type)insn->types[1]))
            return ANY;
        return within(within(x[1], (ptx_type)insn->types[1]), (ptx_type)insn->types[0]);
    }
    const ptx_range r = combined(insn, o, x);
    return is_wide(insn) ? r : within(r, (ptx_type)insn->types[0]);
}

/* A register of 16 bits that is neither below nor above what both kinds of number have. */
static ptx_range in_register(const ptx_shape *s, uint32_t reg, ptx_range r)
{
    const uint32_t bytes = ptx_type_bytes((ptx_type)s->function->registers[reg].type);
    if (is_none(r))
        return r;
    if (!is_whole((ptx_type)s->function->registers[reg].type) || bytes < 2 ||
        (bytes == 2 && !fits(r, INT16_MIN, INT16_MAX)) ||
        (bytes == 4 && !fits(r, INT32_MIN, INT32_MAX)))
        return ANY;
    return r;
}

const ptx_range *ptx_find_ranges(ptx_shape *s)
{
    const uint32_t count = s->function->register_count;
    ptx_range *ranges = ptx_alloc(s->memory, count + 1u, sizeof(*ranges));
    for (uint32_t r = 0; r < count; r++)
        ranges[r] = (ptx_range){INT64_MAX, INT64_MIN};
    bool changed = true;
    for (uint32_t round = 0; changed; round++) {
        changed = false;
        for (uint32_t i = 0; i < s->function->insn_count; i++)
            for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                const uint32_t reg = s->insns[i].writes[k];
                const ptx_range now = in_register(s, reg, range_of_insn(s, ranges, i));
                ptx_range *to = &ranges[reg];
                if (is_none(now) || (now.low >= to->low && now.high <= to->high))
                    continue;
                *to = round >= ROUNDS ? ANY
                                      : (ptx_range){least(to->low, now.low),
                                                    most(to->high, now.high)};
                changed = true;
            }
    }
    return ranges;
}

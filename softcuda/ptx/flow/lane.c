// SPDX-License-Identifier: Apache-2.0
/* The thread's index as a warp sees it. Of a block whose rows are whole warps the 32
 * threads of a warp have threadIdx.x = 32 k + lane with one k, and one threadIdx.y and z.
 * So `threadIdx.x / 32` has one value in the warp, and `threadIdx.x % 32` is the lane:
 * an address made of the two is a uniform base and the lane, a vector load.
 *
 *   lane      made of the lane and a uniform multiple of 32: tid.x, %laneid, x & 31,
 *             y * ntid.x + x (ntid.x is a multiple of 32), moved and widened
 *   uniform   made of such a value, but without its last five bits: x >> 5, x & ~31,
 *             x < 32, x > 31: a comparison that all lanes of a warp answer alike */
#include "softcuda/ptx/abi.h"
#include "softcuda/ptx/flow/flow.h"

#define DEPTH_MAX 8u

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

/* Set once, always: what it is made of is what it is. */
static bool is_set_once(const ptx_shape *s, uint32_t reg)
{
    return s->regs[reg].strict && !s->function->insns[s->regs[reg].def].guarded;
}

/* Also of rows: y * ntid.x. */
static bool is_multiple_of_warp(const ptx_shape *s, const ptx_operand *o, uint32_t depth)
{
    if (o->kind == PTX_OPERAND_INT)
        return ((uint64_t)o->imm & (s->lanes - 1u)) == 0;
    if (o->kind == PTX_OPERAND_SREG)
        return o->index == PTX_SREG_NTID_X;
    if (o->kind != PTX_OPERAND_REG || o->negate || s->regs[o->index].divergent ||
        !is_set_once(s, o->index) || depth == DEPTH_MAX)
        return false;
    const ptx_insn *insn = &s->function->insns[s->regs[o->index].def];
    return insn->opcode == PTX_OP_MOV && insn->mod_count == 0 &&
           insn->operand_count == 2 &&
           is_multiple_of_warp(s, &operands_of(s, s->regs[o->index].def)[1], depth + 1);
}

static bool is_32_bits(const ptx_insn *insn)
{
    return insn->type_count == 1 && ptx_type_bytes((ptx_type)insn->types[0]) == 4;
}

static bool is_uniform(const ptx_shape *s, const ptx_operand *o)
{
    return o->kind == PTX_OPERAND_INT ||
           (o->kind == PTX_OPERAND_SREG && o->index != PTX_SREG_TID_X &&
            o->index != PTX_SREG_LANEID) ||
           (o->kind == PTX_OPERAND_REG && !o->negate && !s->regs[o->index].divergent);
}

static bool is_lane_operand(const ptx_shape *s, const ptx_operand *o, bool bare,
                            uint32_t depth);

static bool is_lane_insn(const ptx_shape *s, uint32_t i, bool bare, uint32_t depth)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    if (s->insns[i].write_count != 1)
        return false;
    switch (insn->opcode) {
    case PTX_OP_MOV:
        return is_32_bits(insn) && insn->mod_count == 0 && insn->operand_count == 2 &&
               is_lane_operand(s, &o[1], bare, depth);
    case PTX_OP_CVT: /* between whole numbers of 32 and 64 bits: the lane is small */
        return insn->type_count == 2 && insn->mod_count == 0 && bare &&
               ptx_type_bytes((ptx_type)insn->types[0]) >= 4 &&
               ptx_type_bytes((ptx_type)insn->types[1]) >= 4 &&
               insn->types[0] != PTX_F32 && insn->types[0] != PTX_F64 &&
               is_lane_operand(s, &o[1], bare, depth);
    case PTX_OP_AND: {
        if (!is_32_bits(insn) || o[2].kind != PTX_OPERAND_INT ||
            ((uint64_t)o[2].imm & (s->lanes - 1u)) != s->lanes - 1u)
            return false;
        const bool alone = ((uint64_t)o[2].imm & 0xffffffffu) == s->lanes - 1u;
        return is_lane_operand(s, &o[1], bare && !alone, depth);
    }
    case PTX_OP_MAD: /* rows of the block */
        return !bare && is_32_bits(insn) && insn->mod_count == 1 &&
               ptx_has(insn, PTX_MOD_LO) && is_uniform(s, &o[1]) &&
               is_uniform(s, &o[2]) &&
               (is_multiple_of_warp(s, &o[1], 0) || is_multiple_of_warp(s, &o[2], 0)) &&
               is_lane_operand(s, &o[3], false, depth);
    case PTX_OP_ADD:
        return !bare && is_32_bits(insn) && insn->mod_count == 0 &&
               is_multiple_of_warp(s, &o[2], 0) &&
               is_lane_operand(s, &o[1], false, depth);
    default: return false;
    }
}

static bool is_lane_operand(const ptx_shape *s, const ptx_operand *o, bool bare,
                            uint32_t depth)
{
    if (o->kind == PTX_OPERAND_SREG)
        return (o->index == PTX_SREG_LANEID && (!bare || s->lanes == PTX_WARP_SIZE)) ||
               (!bare && o->index == PTX_SREG_TID_X);
    if (o->kind != PTX_OPERAND_REG || o->negate || depth == DEPTH_MAX ||
        !is_set_once(s, o->index))
        return false;
    return is_lane_insn(s, s->regs[o->index].def, bare, depth + 1);
}

bool ptx_is_lane(const ptx_shape *s, uint32_t reg)
{
    return s->by_warp && is_set_once(s, reg) &&
           is_lane_insn(s, s->regs[reg].def, false, 0);
}

bool ptx_is_bare_lane(const ptx_shape *s, uint32_t reg)
{
    return s->by_warp && is_set_once(s, reg) &&
           is_lane_insn(s, s->regs[reg].def, true, 0);
}

/* Reads special registers that a warp shares, and nothing else of the thread's own. */
static bool reads_warp_registers(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (insn->opcode != PTX_OP_MOV || insn->operand_count != 2)
        return false;
    const ptx_operand *o = operands_of(s, i);
    return o[1].kind == PTX_OPERAND_SREG &&
           (o[1].index == PTX_SREG_TID_Y || o[1].index == PTX_SREG_TID_Z ||
            o[1].index == PTX_SREG_WARPID);
}

/* Between two multiples of 32 a comparison with one of them gives the same, signed or
 * not. */
static bool parts_warps(const ptx_shape *s, const ptx_insn *insn, uint64_t n)
{
    const uint64_t last = s->lanes - 1u;
    if (insn->mod_count != 1 || insn->types[0] == PTX_F32)
        return false;
    switch ((ptx_modifier)insn->mods[0]) {
    case PTX_MOD_LT:
    case PTX_MOD_GE: return (n & last) == 0;
    case PTX_MOD_LE:
    case PTX_MOD_GT: return (n & last) == last;
    default: return false;
    }
}

bool ptx_is_warp_uniform(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (!s->by_warp || insn->guarded || s->insns[i].write_count != 1)
        return false;
    if (reads_warp_registers(s, i))
        return true;
    const ptx_operand *o = operands_of(s, i);
    if (!is_32_bits(insn) || insn->operand_count != 3 || o[2].kind != PTX_OPERAND_INT ||
        !is_lane_operand(s, &o[1], false, 0))
        return false;
    const uint64_t n = (uint64_t)o[2].imm & 0xffffffffu;
    if (insn->opcode == PTX_OP_SHR)
        return n < 32 && 1u << n >= s->lanes;
    if (insn->opcode == PTX_OP_SETP)
        return parts_warps(s, insn, n);
    return insn->opcode == PTX_OP_AND && (n & (s->lanes - 1u)) == 0;
}

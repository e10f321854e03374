// SPDX-License-Identifier: Apache-2.0
/* Steps of a register: what moves an index or a pointer on by a uniform value. */
#include "softcuda/ptx/flow/flow.h"

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

/* `add d, a, u` with a uniform u, unguarded; a may be any register. Returns a, or
 * SHAPE_NONE. */
static uint32_t stepped_from(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    if ((insn->opcode != PTX_OP_ADD && insn->opcode != PTX_OP_SUB) || insn->guarded ||
        insn->mod_count != 0 || insn->operand_count != 3 ||
        s->insns[i].role != PTX_ROLE_PLAIN || o[0].kind != PTX_OPERAND_REG ||
        o[0].index != reg)
        return SHAPE_NONE;
    const ptx_type type = (ptx_type)insn->types[0];
    if (type == PTX_F32 || type == PTX_F64 || type == PTX_F16 || type == PTX_F16X2 ||
        type == PTX_BF16 || type == PTX_BF16X2)
        return SHAPE_NONE;
    const bool first = o[1].kind == PTX_OPERAND_REG && s->regs[o[1].index].divergent;
    const bool second = o[2].kind == PTX_OPERAND_REG && s->regs[o[2].index].divergent;
    if (first == second || (second && insn->opcode == PTX_OP_SUB))
        return SHAPE_NONE;
    const ptx_operand *u = first ? &o[2] : &o[1];
    if (u->kind != PTX_OPERAND_INT && u->kind != PTX_OPERAND_REG)
        return SHAPE_NONE;
    return first ? o[1].index : o[2].index;
}

/* What instruction i adds to `from` is the same at the end of the chain. */
static bool adds_strict(const ptx_shape *s, uint32_t i, uint32_t from)
{
    const ptx_operand *o = operands_of(s, i);
    const ptx_operand *u =
        o[1].kind == PTX_OPERAND_REG && o[1].index == from ? &o[2] : &o[1];
    return u->kind == PTX_OPERAND_INT || s->regs[u->index].strict;
}

/* Instruction i alone sets reg in its loop. */
static bool sets_alone(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    const uint32_t loop = s->blocks[s->insns[i].block].loop;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t k = b->first; k < b->first + b->count; k++)
            if (k != i && ptx_in_loop(s, loop, s->order[n]) && ptx_writes(s, k, reg))
                return false;
    }
    return true;
}

/* Instruction `at` has been made, once, whenever i of the same round is: in its block, or on
 * all ways there from the start of the round. */
static bool comes_before(const ptx_shape *s, uint32_t at, uint32_t i)
{
    const uint32_t from = s->insns[at].block, to = s->insns[i].block;
    if (from == to)
        return at < i;
    return s->blocks[from].loop != SHAPE_NONE &&
           s->blocks[from].loop == s->blocks[to].loop && ptx_dominates(s, from, to);
}

/* `mov r, t`, where a step ends: the register t, or SHAPE_NONE. */
static uint32_t moved_from(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    if (insn->opcode != PTX_OP_MOV || insn->guarded || insn->mod_count != 0 ||
        insn->operand_count != 2 || s->insns[i].role != PTX_ROLE_PLAIN ||
        o[0].kind != PTX_OPERAND_REG || o[0].index != reg ||
        o[1].kind != PTX_OPERAND_REG || o[1].negate || s->regs[o[1].index].def_count != 1)
        return SHAPE_NONE;
    return o[1].index;
}

/* Instruction i adds uniform values to reg: `add r, r, u`, or the end of a chain
 * `add t, r, u; add t', t, u; ...; add r, t', u` in one block or one round of a loop, as an
 * unrolled loop has it, with branches between its parts or without; or `mov r, t` after
 * those. The instructions of the chain but the mov, its end first; how many, 0 if it is
 * none. */
uint32_t ptx_find_step(const ptx_shape *s, uint32_t i, uint32_t reg, uint32_t *chain)
{
    const uint32_t block = s->insns[i].block;
    uint32_t at = i, target = reg;
    bool here = true;
    const uint32_t moved = moved_from(s, i, reg);
    if (moved != SHAPE_NONE) {
        target = moved;
        at = s->regs[moved].def;
        here = s->insns[at].block == block;
        if (!comes_before(s, at, i))
            return 0;
    }
    for (uint32_t count = 0; count < SHAPE_STEP_MAX;) {
        const uint32_t from = stepped_from(s, at, target);
        if (from == SHAPE_NONE)
            return 0;
        if (at != i && !adds_strict(s, at, from))
            return 0;
        chain[count++] = at;
        if (from == reg) {
            for (uint32_t k = at; here && k < i; k++) /* nothing else sets it meanwhile */
                if (ptx_writes(s, k, reg))
                    return 0;
            return here || sets_alone(s, i, reg) ? count : 0;
        }
        at = s->regs[from].def;
        if (s->regs[from].def_count != 1 || !comes_before(s, at, i))
            return 0;
        here &= s->insns[at].block == block;
        target = from;
    }
    return 0;
}

bool ptx_is_step(const ptx_shape *s, uint32_t i, uint32_t reg)
{
    uint32_t chain[SHAPE_STEP_MAX];
    return ptx_find_step(s, i, reg, chain) > 0;
}

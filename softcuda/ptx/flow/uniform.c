// SPDX-License-Identifier: Apache-2.0
/* Which registers have one value for the whole block, and which blocks all live threads
 * reach together. Both at once, from the optimistic side, without regard to order:
 *  - a register is divergent if one of its definitions reads a divergent register or
 *    something of the thread's own, or is in a divergent block;
 *  - a block is divergent if it may run between a branch on a divergent predicate and the
 *    place where its ways meet. A way that ends the thread needs no meeting. */
#include "softcuda/ptx/flow/flow.h"

#include <string.h>

static bool reads_divergent(const ptx_shape *s, uint32_t i)
{
    const ptx_flow_insn *insn = &s->insns[i];
    for (uint32_t k = 0; k < insn->read_count; k++)
        if (s->regs[insn->reads[k]].divergent)
            return true;
    return false;
}

/* A kernel's own parameter: the same for all, and never written. */
static bool is_parameter_load(const ptx_shape *s, const ptx_insn *insn)
{
    if (insn->opcode != PTX_OP_LD || insn->space != PTX_SPACE_PARAM ||
        !s->function->is_entry)
        return false;
    const ptx_operand *last =
        &s->function->operands[insn->operand + insn->operand_count - 1];
    return last->kind == PTX_OPERAND_ADDRESS && last->base == PTX_OPERAND_VAR &&
           (last->index & PTX_VAR_LOCAL) &&
           (last->index & ~PTX_VAR_LOCAL) < s->function->parameter_count;
}

/* A kernel's parameter read through its address, as clang does with structs: a register
 * can hold the address of no other .param variable. */
static bool is_parameter_at(const ptx_shape *s, const ptx_insn *insn)
{
    const ptx_operand *last =
        &s->function->operands[insn->operand + insn->operand_count - 1];
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_PARAM &&
           s->function->is_entry && last->kind == PTX_OPERAND_ADDRESS &&
           last->base == PTX_OPERAND_REG;
}

bool ptx_is_steady_load(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (is_parameter_load(s, insn) || is_parameter_at(s, insn))
        return true;
    return insn->opcode == PTX_OP_LD && insn->space == PTX_SPACE_CONST;
}

bool ptx_is_uniform_load(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (insn->opcode != PTX_OP_LD && insn->opcode != PTX_OP_LDU)
        return false;
    if (s->insns[i].is_volatile || s->insns[i].no_uniform_load)
        return false;
    return insn->space == PTX_SPACE_GLOBAL || insn->space == PTX_SPACE_SHARED ||
           insn->space == PTX_SPACE_GENERIC;
}

/* bar.red gives every thread the same. */
static bool is_block_vote(const ptx_shape *s, uint32_t i)
{
    return s->insns[i].role == PTX_ROLE_BARRIER && s->insns[i].write_count > 0;
}

/* Given that its operands are uniform and all threads run it. */
static bool gives_uniform(const ptx_shape *s, uint32_t i)
{
    if (ptx_is_warp_uniform(s, i))
        return true;
    if (s->insns[i].role == PTX_ROLE_BARRIER)
        return true;
    if (s->insns[i].role != PTX_ROLE_PLAIN)
        return false;
    return s->insns[i].keeps_uniformity || ptx_is_steady_load(s, i) ||
           ptx_is_uniform_load(s, i);
}

bool ptx_is_uniform_insn(const ptx_shape *s, uint32_t i)
{
    const ptx_flow_insn *insn = &s->insns[i];
    if (insn->write_count == 0)
        return false;
    for (uint32_t k = 0; k < insn->write_count; k++)
        if (s->regs[insn->writes[k]].divergent)
            return false;
    return true;
}

/* In no loop that threads leave one by one: what those that have left keep may be another
 * value than the next round's. */
static bool is_kept_by_all(const ptx_shape *s, uint32_t i)
{
    const uint32_t loop = s->blocks[s->insns[i].block].loop;
    return loop == SHAPE_NONE || !s->blocks[s->loops[loop].head].divergent;
}

/* A register with one definition, made of uniform values alone, has one value whoever
 * computes it: the scalar part of a region does so even where only some threads come. */
static bool may_speculate(const ptx_shape *s, uint32_t i)
{
    const ptx_flow_insn *insn = &s->insns[i];
    if (insn->role != PTX_ROLE_PLAIN || (insn->is_moment && !is_kept_by_all(s, i)) ||
        !(insn->keeps_uniformity || ptx_is_warp_uniform(s, i) ||
          is_parameter_load(s, &s->function->insns[i])))
        return false;
    for (uint32_t k = 0; k < insn->write_count; k++)
        if (!s->regs[insn->writes[k]].strict)
            return false;
    return insn->write_count > 0 && !ptx_has(&s->function->insns[i], PTX_MOD_CC);
}

/* A load from one place for all that come there, which begins a region: that runs only where
 * somebody comes, and loads it once. */
static bool is_of_region(const ptx_shape *s, uint32_t i)
{
    return s->insns[i].opens_region && ptx_is_uniform_load(s, i) && is_kept_by_all(s, i);
}

/* If one result of an instruction is divergent (by another definition), all are. */
static bool update_insn(ptx_shape *s, uint32_t i)
{
    const ptx_flow_insn *insn = &s->insns[i];
    bool divergent =
        (s->blocks[insn->block].divergent && !may_speculate(s, i) &&
         !is_of_region(s, i)) ||
        !gives_uniform(s, i) ||
        (!is_block_vote(s, i) && !ptx_is_warp_uniform(s, i) && reads_divergent(s, i));
    for (uint32_t k = 0; !divergent && k < insn->write_count; k++)
        divergent = s->regs[insn->writes[k]].divergent;
    if (!divergent)
        return false;
    bool changed = false;
    for (uint32_t k = 0; k < insn->write_count; k++) {
        changed |= !s->regs[insn->writes[k]].divergent;
        s->regs[insn->writes[k]].divergent = 1;
    }
    return changed;
}

static bool update_branch(ptx_shape *s, uint32_t b, uint32_t *map)
{
    const ptx_flow_block *block = &s->blocks[b];
    if (block->end == SHAPE_JUMP || !(block->divergent || s->regs[block->reg].divergent))
        return false;
    memset(map, 0, s->block_words * sizeof(*map));
    ptx_mark_influence(s, b, map);
    bool changed = false;
    for (uint32_t k = 0; k < s->block_count; k++) {
        if (!ptx_bit(map, k) || s->blocks[k].divergent)
            continue;
        s->blocks[k].divergent = 1;
        changed = true;
    }
    return changed;
}

void ptx_find_uniformity(ptx_shape *s)
{
    uint32_t *map = ptx_alloc(s->memory, s->block_words, sizeof(*map));
    uint8_t *branched = ptx_alloc(s->memory, s->block_count, 1);
    for (uint32_t r = 0; r < s->function->register_count; r++)
        s->regs[r].divergent = 0;
    for (uint32_t b = 0; b < s->block_count; b++)
        s->blocks[b].divergent = 0;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->order_count; n++) {
            const uint32_t b = s->order[n];
            const ptx_flow_block *block = &s->blocks[b];
            for (uint32_t i = block->first; i < block->first + block->count; i++)
                changed |= update_insn(s, i);
            if (branched[b] || block->end == SHAPE_JUMP ||
                !(block->divergent || s->regs[block->reg].divergent))
                continue;
            branched[b] = 1;
            changed |= update_branch(s, b, map);
        }
    }
    for (uint32_t l = 0; l < s->loop_count; l++)
        s->loops[l].uniform = !s->blocks[s->loops[l].head].divergent;
}

// SPDX-License-Identifier: Apache-2.0
/* Stores under a condition that data decides, at places that are not a row:
 *
 *   if (keep) out[rank] = x      place = keep ? &out[rank] : aside;  *place = x
 *
 * A processor guesses such a branch wrong half of the time, at some twenty cycles, and x86 has
 * no masked scatter before AVX-512: LLVM makes of a vector of such stores a branch for each.
 * So all threads store, those that do not come there to a word of the block that nobody
 * reads (ptx_block.aside), and what else is in such a block of code is computed by all.
 *
 * Only where that is nothing but arithmetic: what a thread may not load stays under its branch.
 * A store to neighboring places by neighboring threads stays a masked one, of a vector. */
#include "softcuda/ptx/shape/fast.h"

#define INSNS_MAX 80u

/* ---- what a region is, for those who write it in other ways ------------------------ */

/* An instruction that can be done again, or a plain access of memory; nothing that has an
 * effect of another kind, asks for the time, or passes a carry on unseen. */
static bool is_known(const ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_flow_insn *flow = &f->s->insns[i];
    if (flow->role != PTX_ROLE_PLAIN || flow->is_volatile || ptx_has(insn, PTX_MOD_CC))
        return false;
    for (uint32_t k = 0; k < insn->operand_count; k++)
        if (ptx_is_clock(&ptx_fast_operands(f, insn)[k]))
            return false;
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_LD:
    case PTX_OP_LDU:
    case PTX_OP_ST:
    case PTX_OP_RED:
    case PTX_OP_BRA: return true;
    case PTX_OP_ALLOCA:
    case PTX_OP_STACKSAVE:
    case PTX_OP_CALL: return false;
    default: return flow->write_count > 0 && !flow->reads_memory && !flow->writes_memory;
    }
}

bool ptx_fast_is_plain(const ptx_fast *f)
{
    return !ptx_fast_region(f)->needs_live && ptx_fast_is_known(f);
}

bool ptx_fast_is_known(const ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    if (r->masked || r->exits || s->options->check_memory || f->stride != 1)
        return false;
    for (uint32_t k = 0; k < r->target_count; k++)
        if (s->regions[r->targets[k]].masked)
            return false;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        if (b->loop != s->blocks[r->head].loop)
            return false;
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (!is_known(f, i))
                return false;
    }
    return true;
}

/* Ways lead on in the region or out of it, and all threads may go each. */
bool ptx_fast_leads_on(const ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t k = 0; k < b->succ_count; k++) {
        const uint32_t to = b->succ[k];
        if (to != SHAPE_EXIT && f->s->blocks[to].region == f->region &&
            f->s->blocks[to].order <= b->order)
            return false;
    }
    return b->end == SHAPE_JUMP ||
           (b->end == SHAPE_BRANCH && f->s->regs[b->reg].divergent);
}

static bool is_inside(const ptx_fast *f, uint32_t block)
{
    return block != SHAPE_EXIT && f->s->blocks[block].region == f->region;
}

bool ptx_fast_leaves_early(const ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    return b->succ_count == 2 && f->s->regs[b->reg].divergent &&
           (!f->ways || f->ways[block] == 0) &&
           ((b->succ[0] == SHAPE_EXIT && is_inside(f, b->succ[1])) ||
            (b->succ[1] == SHAPE_EXIT && is_inside(f, b->succ[0])));
}

bool ptx_fast_is_conditional(const ptx_fast *f, uint32_t block)
{
    const ptx_region *r = ptx_fast_region(f);
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t n = 0; n < r->block_count && r->blocks[n] != block; n++)
        if (ptx_fast_leaves_early(f, r->blocks[n]))
            return true;
    if (!b->divergent)
        return false;
    if (b->pred_count != 1 || !f->ways || ptx_fast_is_conditional(f, b->pred[0]))
        return true;
    const uint32_t way = f->ways[b->pred[0]];
    return way == 0 || f->s->blocks[b->pred[0]].succ[way - 1] != block;
}

/* Where an array or an address known only at launch lies may rise by a step all the same. */
static bool is_row(ptx_fast *f, const ptx_insn *insn, const ptx_operand *at)
{
    const uint32_t bytes = ptx_type_bytes((ptx_type)insn->types[0]);
    if (at->base != PTX_OPERAND_REG)
        return true;
    if (!f->slopes)
        f->slopes = ptx_find_slopes(f->s);
    return bytes >= 4 && f->slopes[at->index] == (int64_t)bytes;
}

/* A plain store of one value to global memory. */
static bool is_store(const ptx_insn *insn, const ptx_operand *o)
{
    return insn->opcode == PTX_OP_ST && insn->space == PTX_SPACE_GLOBAL &&
           insn->mod_count == 0 && insn->type_count == 1 && insn->operand_count == 2 &&
           o[0].kind == PTX_OPERAND_ADDRESS;
}

/* What all threads may do in place of some. */
static bool is_harmless(const ptx_insn *insn)
{
    return !insn->guarded && insn->opcode != PTX_OP_DIV && insn->opcode != PTX_OP_REM &&
           insn->opcode != PTX_OP_TRAP;
}

static bool check_block(ptx_fast *f, uint32_t block, bool *scatters)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_flow_insn *flow = &f->s->insns[i];
        const ptx_insn *insn = &f->s->function->insns[i];
        const ptx_operand *o = ptx_fast_operands(f, insn);
        if (!is_harmless(insn))
            return false;
        if (ptx_fast_is_scalar(f->s, i) || (!flow->reads_memory && !flow->writes_memory))
            continue;
        if (!is_store(insn, o))
            return false;
        *scatters |= !is_row(f, insn, &o[0]);
    }
    return true;
}

bool ptx_fast_sets_aside(ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    bool scatters = false;
    if (r->block_count < 2 || ptx_fast_insn_count(f) > INSNS_MAX ||
        !ptx_fast_is_known(f) || f->s->blocks[r->head].divergent)
        return false;
    for (uint32_t n = 0; n < r->block_count; n++)
        if (!ptx_fast_leads_on(f, r->blocks[n]) ||
            (ptx_fast_is_conditional(f, r->blocks[n]) &&
             !check_block(f, r->blocks[n], &scatters)))
            return false;
    return scatters;
}

// SPDX-License-Identifier: Apache-2.0
/* Threads that have nothing to do in a region: `if (threadIdx.x % 32 == 0)` leaves one of
 * 32, and the loop over the threads steps by 32. */
#include "softcuda/ptx/shape/fast.h"

#define DEPTH_MAX 6u

/* Whether the operand is threadIdx.x, perhaps by way of a register. */
static bool is_x(const ptx_fast *f, const ptx_operand *operand)
{
    for (uint32_t depth = 0; depth < DEPTH_MAX; depth++) {
        if (operand->kind == PTX_OPERAND_SREG)
            return operand->index == PTX_SREG_TID_X;
        if (operand->kind != PTX_OPERAND_REG || operand->negate)
            return false;
        const ptx_insn *insn = ptx_fast_definition(f, operand->index);
        if (!insn || !ptx_fast_is_32_bits(insn) || insn->opcode != PTX_OP_MOV ||
            insn->mod_count != 0 || insn->operand_count != 2)
            return false;
        operand = &ptx_fast_operands(f, insn)[1];
    }
    return false;
}

/* n, if the operand is threadIdx.x % n, n a power of two; 0: it is something else. */
static uint32_t x_modulo(const ptx_fast *f, const ptx_operand *operand)
{
    if (is_x(f, operand))
        return PTX_FAST_ROW_MAX;
    const ptx_insn *insn = operand->kind == PTX_OPERAND_REG && !operand->negate
                               ? ptx_fast_definition(f, operand->index)
                               : NULL;
    if (!insn || insn->opcode != PTX_OP_AND || !ptx_fast_is_32_bits(insn))
        return 0;
    const ptx_operand *o = ptx_fast_operands(f, insn);
    if (!is_x(f, &o[1]) || o[2].kind != PTX_OPERAND_INT)
        return 0;
    const uint64_t n = (uint64_t)o[2].imm + 1;
    return n > 1 && n <= PTX_FAST_ROW_MAX && (n & (n - 1)) == 0 ? (uint32_t)n : 0;
}

bool ptx_fast_only_computes(const ptx_fast *f, uint32_t block)
{
    const ptx_flow_block *b = &f->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++) {
        const ptx_flow_insn *insn = &f->s->insns[i];
        if (insn->role != PTX_ROLE_PLAIN || insn->reads_memory || insn->writes_memory)
            return false;
    }
    return true;
}

/* Nothing is kept of a thread that leaves the region straight from its first block. */
static bool leaves_no_trace(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    if (r->masked || r->exits)
        return false;
    for (uint32_t k = 0; k < r->target_count; k++)
        if (f->s->regions[r->targets[k]].masked)
            return false;
    for (uint32_t reg = 0; reg < f->s->function->register_count; reg++)
        if (ptx_fast_is_array(f, reg) && ptx_bit(r->live_out, reg))
            return false;
    return ptx_fast_only_computes(f, r->head);
}

/* A way that goes on in the region, not one that leaves it. */
static bool stays(const ptx_fast *f, uint32_t to)
{
    return to != SHAPE_EXIT && to != SHAPE_NONE && to != ptx_fast_region(f)->head &&
           f->s->blocks[to].region == f->region;
}

uint32_t ptx_fast_stride(const ptx_fast *f)
{
    const ptx_flow_block *b = &f->s->blocks[ptx_fast_region(f)->head];
    if (b->end != SHAPE_BRANCH || b->succ_count != 2 || !leaves_no_trace(f))
        return 1;
    const bool first = stays(f, b->succ[0]);
    const ptx_insn *insn = ptx_fast_definition(f, b->reg);
    if (first == stays(f, b->succ[1]) || !insn || insn->opcode != PTX_OP_SETP ||
        insn->mod_count != 1 || !ptx_fast_is_32_bits(insn) || insn->operand_count != 3)
        return 1;
    const ptx_operand *o = ptx_fast_operands(f, insn);
    const bool when = first != (b->negate != 0); /* the predicate of those that stay */
    if ((ptx_modifier)insn->mods[0] != (when ? PTX_MOD_EQ : PTX_MOD_NE) || o[0].pair ||
        o[2].kind != PTX_OPERAND_INT || o[2].imm != 0)
        return 1;
    const uint32_t n = x_modulo(f, &o[1]);
    return n > 0 ? n : 1;
}

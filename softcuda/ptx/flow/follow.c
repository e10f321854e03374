// SPDX-License-Identifier: Apache-2.0
/* Kernels whose blocks may be run as one long row of threads. Where threadIdx.x and
 * blockIdx.x are read for `blockIdx.x * blockDim.x + threadIdx.x` alone, thread x + blockDim.x
 * of a block is thread x of the next one, and the loop over x may run on through blocks that
 * follow each other: what a block costs beside its loop (a tenth to a half of the time of
 * `out[i] = f(in[i])` for 256 threads) is paid once, and runs between the edges of an image
 * are long. Threads may not know of each other: no barriers, warp operations, shared memory. */
#include "softcuda/ptx/flow/flow.h"

static const ptx_operand *operands_of(const ptx_shape *s, const ptx_insn *insn)
{
    return &s->function->operands[insn->operand];
}

/* The special register that the operand is, moved or not; -1: another operand. */
static int special_of(const ptx_shape *s, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_REG && !o->negate && s->regs[o->index].strict &&
        s->regs[o->index].def_count == 1) {
        const ptx_insn *insn = &s->function->insns[s->regs[o->index].def];
        if (insn->opcode != PTX_OP_MOV || insn->guarded || insn->mod_count != 0 ||
            insn->operand_count != 2 || ptx_type_bytes((ptx_type)insn->types[0]) != 4)
            return -1;
        o = &operands_of(s, insn)[1];
    }
    return o->kind == PTX_OPERAND_SREG ? (int)o->index : -1;
}

/* blockIdx.x * blockDim.x + threadIdx.x */
static bool is_index(const ptx_shape *s, const ptx_insn *insn)
{
    const ptx_operand *o = operands_of(s, insn);
    if (insn->opcode != PTX_OP_MAD || insn->mod_count != 1 || insn->operand_count != 4 ||
        !ptx_has(insn, PTX_MOD_LO) || ptx_type_bytes((ptx_type)insn->types[0]) != 4 ||
        insn->guarded || special_of(s, &o[3]) != PTX_SREG_TID_X)
        return false;
    const int a = special_of(s, &o[1]), b = special_of(s, &o[2]);
    return (a == PTX_SREG_CTAID_X && b == PTX_SREG_NTID_X) ||
           (a == PTX_SREG_NTID_X && b == PTX_SREG_CTAID_X);
}

/* Of the launch, or of blocks and threads that have the same y and z. */
static bool is_of_row(int special)
{
    switch (special) {
    case PTX_SREG_TID_Y:
    case PTX_SREG_TID_Z:
    case PTX_SREG_CTAID_Y:
    case PTX_SREG_CTAID_Z:
    case PTX_SREG_NTID_X:
    case PTX_SREG_NTID_Y:
    case PTX_SREG_NTID_Z:
    case PTX_SREG_NCTAID_X:
    case PTX_SREG_NCTAID_Y:
    case PTX_SREG_NCTAID_Z: return true;
    default: return false;
    }
}

/* It touches memory that all threads see, in an order that does not matter, or none. */
static bool is_free(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_flow_insn *flow = &s->insns[i];
    if (flow->role != PTX_ROLE_PLAIN || insn->opcode == PTX_OP_TRAP ||
        insn->opcode == PTX_OP_BRKPT || insn->space == PTX_SPACE_SHARED ||
        insn->space == PTX_SPACE_LOCAL)
        return false;
    return (!flow->reads_memory && !flow->writes_memory) || insn->opcode == PTX_OP_LD ||
           insn->opcode == PTX_OP_ST || insn->opcode == PTX_OP_RED;
}

/* It asks which block or thread it is in for the index alone. */
static bool is_placeless(const ptx_shape *s, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_flow_insn *flow = &s->insns[i];
    const ptx_operand *o = operands_of(s, insn);
    if (is_index(s, insn))
        return true;
    for (uint32_t k = 0; k < flow->read_count; k++) {
        const ptx_operand reg = {.kind = PTX_OPERAND_REG, .index = flow->reads[k]};
        if (special_of(s, &reg) >= 0 && !is_of_row(special_of(s, &reg)))
            return false;
    }
    for (uint32_t k = 0; k < insn->operand_count; k++)
        if (o[k].kind == PTX_OPERAND_SREG && !is_of_row((int)o[k].index) &&
            special_of(s, &o[0]) != (int)o[k].index)
            return false; /* nor is it moved to where readers are asked */
    return true;
}

bool ptx_blocks_follow(const ptx_shape *s)
{
    if (s->region_count != 1 || s->has_cuts || s->local_bytes != 0 || s->has_live ||
        s->mask_count != 0 || s->options->check_memory || ptx_is_large(s) ||
        ptx_may_wait(s))
        return false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (!is_free(s, i) || !is_placeless(s, i))
                return false;
    }
    return true;
}

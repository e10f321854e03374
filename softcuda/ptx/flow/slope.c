// SPDX-License-Identifier: Apache-2.0
/* How much a register is thought to grow from a thread to the next one. It is a guess, from
 * the optimistic side: threads are taken to have made the same number of rounds of each
 * loop. So `i = tid; rest of n rounds: i += 256; while (i < n) ... i += 1024` has slope 1
 * all along, though i is of no use to the analyses that prove (value.c). The code that
 * believes in it asks first (shape_row.c). */
#include "softcuda/ptx/flow/flow.h"

#define UNSEEN (INT64_MIN + 1) /* no definition has been looked at */
#define LARGEST 4096           /* bytes a thread */

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

static int64_t of_special(uint32_t sreg)
{
    if (sreg == PTX_SREG_TID_X || sreg == PTX_SREG_LANEID)
        return 1;
    return sreg >= PTX_SREG_CLOCK && sreg <= PTX_SREG_GLOBALTIMER_HI ? SHAPE_NO_SLOPE : 0;
}

static int64_t of_operand(const ptx_shape *s, const int64_t *slopes, const ptx_operand *o)
{
    if (o->kind == PTX_OPERAND_SREG)
        return of_special(o->index);
    if (o->kind == PTX_OPERAND_REG)
        return s->regs[o->index].divergent ? slopes[o->index] : 0;
    return 0;
}

static int64_t bounded(int64_t slope)
{
    return slope >= -LARGEST && slope <= LARGEST ? slope : SHAPE_NO_SLOPE;
}

/* A product with a number. */
static int64_t scaled(const ptx_operand *a, const ptx_operand *b, int64_t x, int64_t y)
{
    if (x == 0 && y == 0)
        return 0;
    if (b->kind == PTX_OPERAND_INT && b->imm >= -LARGEST && b->imm <= LARGEST)
        return bounded(x * b->imm);
    if (a->kind == PTX_OPERAND_INT && a->imm >= -LARGEST && a->imm <= LARGEST)
        return bounded(y * a->imm);
    return SHAPE_NO_SLOPE;
}

/* Of an instruction whose operands have slopes. */
static int64_t combined(const ptx_insn *insn, const ptx_operand *o, const int64_t *x)
{
    switch ((ptx_opcode)insn->opcode) {
    case PTX_OP_MOV:
    case PTX_OP_CVT:
    case PTX_OP_CVTA: return x[1];
    case PTX_OP_ADD: return bounded(x[1] + x[2]);
    case PTX_OP_SUB: return bounded(x[1] - x[2]);
    case PTX_OP_MUL: return scaled(&o[1], &o[2], x[1], x[2]);
    case PTX_OP_MAD: {
        const int64_t product = scaled(&o[1], &o[2], x[1], x[2]);
        return product == SHAPE_NO_SLOPE ? product : bounded(product + x[3]);
    }
    case PTX_OP_SHL:
        return o[2].kind == PTX_OPERAND_INT && o[2].imm >= 0 && o[2].imm <= 12
                   ? bounded(x[1] * ((int64_t)1 << o[2].imm))
                   : SHAPE_NO_SLOPE;
    case PTX_OP_OR: /* lane | 32: a sum, if the number's bits are not in the lane */
        return x[2] == 0 ? x[1] : x[1] == 0 ? x[2] : SHAPE_NO_SLOPE;
    case PTX_OP_AND: /* threadIdx.x & 31 */
        return x[1] == 1 && o[2].kind == PTX_OPERAND_INT && o[2].imm > 0 ? 1
                                                                         : SHAPE_NO_SLOPE;
    default: return SHAPE_NO_SLOPE;
    }
}

static int64_t of_insn(const ptx_shape *s, const int64_t *slopes, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    const ptx_operand *o = operands_of(s, i);
    int64_t x[4] = {0, 0, 0, 0};
    bool all_zero = true;
    if (insn->opcode == PTX_OP_LD && insn->operand_count == 2 && !insn->guarded &&
        insn->space != PTX_SPACE_LOCAL && o[1].kind == PTX_OPERAND_ADDRESS &&
        o[1].base == PTX_OPERAND_REG && !s->regs[o[1].index].divergent)
        return 0; /* a number of all threads, read where some do not come */
    if (insn->guarded || s->insns[i].write_count != 1 ||
        s->insns[i].role != PTX_ROLE_PLAIN || s->insns[i].reads_memory ||
        insn->operand_count > 4 || insn->operand_count < 2)
        return SHAPE_NO_SLOPE;
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        x[k] = of_operand(s, slopes, &o[k]);
        if (x[k] == UNSEEN || x[k] == SHAPE_NO_SLOPE)
            return x[k];
        all_zero &= x[k] == 0;
    }
    return all_zero ? 0 : combined(insn, o, x);
}

const int64_t *ptx_find_slopes(ptx_shape *s)
{
    int64_t *slopes = ptx_alloc(s->memory, s->function->register_count, sizeof(*slopes));
    for (uint32_t r = 0; r < s->function->register_count; r++)
        slopes[r] = UNSEEN;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t n = 0; n < s->order_count; n++) {
            const ptx_flow_block *b = &s->blocks[s->order[n]];
            for (uint32_t i = b->first; i < b->first + b->count; i++)
                for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                    int64_t *to = &slopes[s->insns[i].writes[k]];
                    const int64_t now = of_insn(s, slopes, i);
                    if (now == UNSEEN || *to == SHAPE_NO_SLOPE || now == *to)
                        continue;
                    *to = *to == UNSEEN ? now : SHAPE_NO_SLOPE;
                    changed = true;
                }
        }
    }
    for (uint32_t r = 0; r < s->function->register_count; r++)
        if (slopes[r] == UNSEEN)
            slopes[r] = SHAPE_NO_SLOPE;
    return slopes;
}

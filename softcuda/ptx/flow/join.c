// SPDX-License-Identifier: Apache-2.0
/* Sums of floats in global memory whose old value nobody reads, as operations of a warp.
 *
 *   atomicAdd(&y[row[i]], value[i] * x[column[i]]);
 *
 * Thread by thread each is a locked operation (20 cycles) and keeps what is before it from
 * being vectors. As an operation of a warp the threads' places and values are worked out in
 * vectors; then the lanes are added one after the other, neighbors at one place by one
 * operation, and 32 words side by side as the row that they are (library/addition.c).
 *
 * In a loop this goes round by round, so sums are added in another order than thread by
 * thread; PTX promises none. What only few threads come to (`if (tid == 0) atomicAdd(..)`)
 * and loops whose rounds differ by thread stay as they are. */
#include "softcuda/ptx/flow/flow.h"

/* By another instruction than `own`. */
static bool is_read(const ptx_shape *s, uint32_t reg, uint32_t own)
{
    for (uint32_t i = 0; i < s->function->insn_count; i++)
        for (uint32_t k = 0; k < s->insns[i].read_count; k++)
            if (i != own && s->insns[i].reads[k] == reg)
                return true;
    return false;
}

static bool can_join(const ptx_shape *s, uint32_t i)
{
    static const ptx_modifier others[] = {PTX_MOD_ACQUIRE, PTX_MOD_RELEASE,
                                          PTX_MOD_ACQ_REL, PTX_MOD_V2,
                                          PTX_MOD_V4,      PTX_MOD_V8};
    const ptx_insn *insn = &s->function->insns[i];
    const uint32_t results = insn->opcode == PTX_OP_ATOM;
    if ((insn->opcode != PTX_OP_ATOM && insn->opcode != PTX_OP_RED) ||
        insn->type_count != 1 || insn->types[0] != PTX_F32 ||
        insn->space != PTX_SPACE_GLOBAL || !ptx_has(insn, PTX_MOD_ADD) ||
        insn->operand_count != 2 + results || s->insns[i].role != PTX_ROLE_PLAIN)
        return false;
    for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++)
        if (ptx_has(insn, others[k]))
            return false;
    for (uint32_t k = 0; k < s->insns[i].write_count; k++)
        if (is_read(s, s->insns[i].writes[k], i))
            return false;
    return true;
}

bool ptx_has_sums(const ptx_shape *s)
{
    for (uint32_t i = 0; i < s->function->insn_count; i++)
        if (can_join(s, i))
            return true;
    return false;
}

void ptx_join_sums(ptx_shape *s)
{
    for (uint32_t i = 0; i < s->function->insn_count; i++) {
        if (!can_join(s, i))
            continue;
        s->insns[i].role = PTX_ROLE_WARP;
        s->insns[i].is_sum = 1;
        s->insns[i].write_count = 0;
    }
}

/* ---- whether it gains -------------------------------------------------------------- */

/* A comparison that one thread, or some scattered ones, mostly pass alone. */
static bool picks_few(const ptx_shape *s, const ptx_flow_block *b)
{
    const ptx_flow_reg *reg = &s->regs[b->reg];
    if (reg->def_count != 1)
        return true;
    const ptx_insn *insn = &s->function->insns[reg->def];
    return insn->opcode != PTX_OP_SETP || ptx_has(insn, PTX_MOD_EQ) ||
           ptx_has(insn, PTX_MOD_NE) || insn->operand_count != 3;
}

/* Threads may end there: what is after it is for those that are left. */
static bool ends_threads(const ptx_flow_block *b)
{
    for (uint32_t k = 0; k < b->succ_count; k++)
        if (b->succ[k] == SHAPE_EXIT)
            return true;
    return false;
}

/* Branches by thread that decide whether block `at` is reached. */
static bool is_for_few(const ptx_shape *s, uint32_t at)
{
    uint32_t *map = ptx_alloc(s->memory, s->block_words, sizeof(*map));
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (b->end == SHAPE_JUMP || !s->regs[b->reg].divergent)
            continue;
        for (uint32_t w = 0; w < s->block_words; w++)
            map[w] = 0;
        ptx_mark_influence(s, s->order[n], map);
        if ((ptx_bit(map, at) || ends_threads(b)) && picks_few(s, b))
            return true;
    }
    return false;
}

bool ptx_gains_by_joining(const ptx_shape *s)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t at = s->order[n];
        const ptx_flow_block *b = &s->blocks[at];
        if (b->kind != SHAPE_WARP || !s->insns[b->first].is_sum)
            continue;
        for (uint32_t l = b->loop; l != SHAPE_NONE; l = s->loops[l].parent)
            if (!s->loops[l].uniform && !s->loops[l].lockstep)
                return false;
        if (is_for_few(s, at))
            return false;
    }
    return true;
}

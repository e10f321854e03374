// SPDX-License-Identifier: Apache-2.0
/* A loop in which one thread of the block waits for other blocks, while the others of its
 * block go to a barrier: a scan's look-back, a semaphore, a ticket.
 *
 *   what all threads do              a region: done by all before thread 0 waits
 *   if (threadIdx.x == 0) {          D: the branch
 *       wait for memory ...          one thread: a region of its own, a loop of one round
 *   }
 *   nothing is written               J: where the ways meet
 *   barrier
 *
 * The thread cannot wait for another one of its block: what those write before the branch
 * is written, and they write nothing after it until the barrier, which waits for the
 * thread. So the block may run region by region, and stops as a whole where it waits. Of
 * blocks with several rows several threads have the same threadIdx.x, and one might wait
 * for another: such launches run thread by thread, but where the branch asks for all three
 * indices. */
#include "softcuda/ptx/flow/flow.h"

/* What a register is, as a sum: how often each of threadIdx.x, y and z, and a number. */
struct sum {
    int64_t x, y, z, number;
};

static bool is_word(uint8_t type)
{
    return type == PTX_U32 || type == PTX_S32 || type == PTX_B32;
}

static bool add_up(const ptx_shape *s, const ptx_operand *o, int sign, uint32_t depth,
                   struct sum *sum)
{
    if (o->kind == PTX_OPERAND_INT) {
        sum->number += sign * o->imm;
        return true;
    }
    if (o->kind == PTX_OPERAND_SREG) {
        int64_t *to = o->index == PTX_SREG_TID_X   ? &sum->x
                      : o->index == PTX_SREG_TID_Y ? &sum->y
                      : o->index == PTX_SREG_TID_Z ? &sum->z
                                                   : NULL;
        if (to)
            *to += sign;
        return to != NULL;
    }
    if (depth == 0 || o->kind != PTX_OPERAND_REG || o->negate ||
        !s->regs[o->index].strict)
        return false;
    const ptx_insn *insn = &s->function->insns[s->regs[o->index].def];
    const ptx_operand *from = &s->function->operands[insn->operand + 1];
    if (insn->guarded || insn->mod_count != 0 || !is_word(insn->types[0]))
        return false;
    switch (insn->opcode) {
    case PTX_OP_MOV:
        return insn->operand_count == 2 && add_up(s, from, sign, depth - 1, sum);
    case PTX_OP_NEG: return add_up(s, from, -sign, depth - 1, sum);
    case PTX_OP_ADD:
    case PTX_OP_SUB:
        return add_up(s, from, sign, depth - 1, sum) &&
               add_up(s, from + 1, insn->opcode == PTX_OP_ADD ? sign : -sign, depth - 1,
                      sum);
    default: return false;
    }
}

/* Whether predicate `reg` is `threadIdx.x == k` (1), `!=` (-1), or neither (0); or
 * `threadIdx.x + threadIdx.y + threadIdx.z == 0`, which is one thread of a block of any
 * shape, as that in which cooperative groups wait for a grid. */
static int picks_one(const ptx_shape *s, uint32_t reg, bool *of_any_shape)
{
    if (!s->regs[reg].strict)
        return 0;
    const ptx_insn *insn = &s->function->insns[s->regs[reg].def];
    const ptx_operand *o = &s->function->operands[insn->operand];
    struct sum sum = {0};
    if (insn->opcode != PTX_OP_SETP || insn->guarded || insn->mod_count != 1 ||
        insn->operand_count != 3 || o[0].pair || !add_up(s, &o[1], 1, 8, &sum) ||
        !add_up(s, &o[2], -1, 8, &sum))
        return 0;
    const bool one = sum.x == 1 || sum.x == -1;
    *of_any_shape = one && sum.y == sum.x && sum.z == sum.x && sum.number == 0;
    if (!*of_any_shape && (!one || sum.y != 0 || sum.z != 0))
        return 0;
    const ptx_modifier compare = (ptx_modifier)insn->mods[0];
    return compare == PTX_MOD_EQ ? 1 : compare == PTX_MOD_NE ? -1 : 0;
}

static bool is_whole_barrier(const ptx_shape *s, uint32_t block)
{
    if (s->blocks[block].kind != SHAPE_BARRIER)
        return false;
    const ptx_cut_form cut = ptx_cut_of(s, s->blocks[block].first);
    return ptx_cut_is_whole(&cut);
}

static bool writes(const ptx_shape *s, uint32_t block)
{
    const ptx_flow_block *b = &s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (s->insns[i].writes_memory || s->insns[i].role == PTX_ROLE_CALL)
            return true;
    return false;
}

/* From `block` on, or with `back` on all ways to it, nothing is written up to a barrier of
 * all threads, or the kernel's end or start. */
static bool is_quiet(const ptx_shape *s, uint32_t block, bool back)
{
    uint8_t *seen = ptx_alloc(s->memory, s->block_count, 1);
    uint32_t *stack = ptx_alloc(s->memory, s->block_count, sizeof(*stack));
    uint32_t depth = 0;
    if (block == SHAPE_EXIT || block == SHAPE_NONE)
        return true;
    stack[depth++] = block;
    seen[block] = 1;
    while (depth > 0) {
        const uint32_t at = stack[--depth];
        const ptx_flow_block *b = &s->blocks[at];
        if (is_whole_barrier(s, at))
            continue;
        if (writes(s, at))
            return false;
        const uint32_t count = back ? b->pred_count : b->succ_count;
        for (uint32_t k = 0; k < count; k++) {
            const uint32_t to = back ? b->pred[k] : b->succ[k];
            if (to == SHAPE_EXIT || seen[to])
                continue;
            seen[to] = 1;
            stack[depth++] = to;
        }
    }
    return true;
}

/* Where it waits, or SHAPE_NONE. */
static uint32_t alone_from(const ptx_shape *s, uint32_t loop, bool *of_any_shape)
{
    const uint32_t head = s->loops[loop].head;
    uint32_t d = head;
    while (d != s->entry && s->blocks[d].divergent)
        d = s->blocks[d].idom;
    const ptx_flow_block *branch = &s->blocks[d];
    if (branch->divergent || branch->end != SHAPE_BRANCH || branch->succ_count != 2)
        return SHAPE_NONE;
    const int picks = picks_one(s, branch->reg, of_any_shape);
    if (picks == 0)
        return SHAPE_NONE;
    const uint32_t way = (picks > 0) != (branch->negate != 0) ? 0 : 1;
    const uint32_t body = branch->succ[way], others = branch->succ[1 - way];
    if (body == SHAPE_EXIT || s->blocks[body].pred_count != 1 ||
        !ptx_dominates(s, body, head))
        return SHAPE_NONE;
    /* The others go where the thread will come, or end. */
    if (others != branch->ipdom && others != SHAPE_EXIT)
        return SHAPE_NONE;
    return is_quiet(s, branch->ipdom, false) ? body : SHAPE_NONE;
}

bool ptx_waits_alone(ptx_shape *s, uint32_t loop)
{
    bool of_any_shape = false;
    if (alone_from(s, loop, &of_any_shape) == SHAPE_NONE)
        return false;
    s->alone = 1;
    s->one_row |= !of_any_shape;
    return true;
}

/* Warp by warp: what later warps have yet to do before their branch is to read. */
bool ptx_waits_by_warps(const ptx_shape *s)
{
    for (uint32_t l = 0; l < s->loop_count; l++) {
        if (!s->loops[l].spins)
            continue;
        bool of_any_shape = false;
        const uint32_t body =
            s->loops[l].uniform ? SHAPE_NONE : alone_from(s, l, &of_any_shape);
        if (body == SHAPE_NONE || !is_quiet(s, s->blocks[body].pred[0], true))
            return false;
    }
    return true;
}

/* The thread waits once all others of its block have come as far. */
void ptx_force_waits(ptx_shape *s)
{
    bool of_any_shape = false;
    for (uint32_t l = 0; l < s->loop_count && s->alone; l++)
        if (s->loops[l].spins && !s->loops[l].uniform)
            s->forced[alone_from(s, l, &of_any_shape)] = 1;
}

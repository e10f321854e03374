// SPDX-License-Identifier: Apache-2.0
/* Loads from one place for all threads of a region: whether its scalar part may do them, once
 * for all. See region.c. */
#include "softcuda/ptx/flow/flow.h"

/* A uniform load is done once, before the threads of its region run. That is wrong after
 * a store of the same region, and after a place where threads may have ended. */
static bool disturbs(const ptx_shape *s, uint32_t i)
{
    return s->insns[i].writes_memory;
}

bool ptx_ends_threads(const ptx_shape *s, uint32_t b)
{
    const ptx_flow_block *block = &s->blocks[b];
    const bool divergent =
        block->divergent || (block->end != SHAPE_JUMP && s->regs[block->reg].divergent);
    for (uint32_t k = 0; k < block->succ_count; k++)
        if (block->succ[k] == SHAPE_EXIT && divergent)
            return true;
    return false;
}

/* What is loaded before a loop that only some threads go round, from one place for all of
 * them: a row's number, `if (i < n) { row = index[blockIdx.x]; for (; i < n; ...) x[row * n +
 * i] }`. Such a block begins a region, which runs only where some thread comes, or addresses
 * would be made of an array. */
static bool opens_region(const ptx_shape *s, uint32_t block, uint32_t i)
{
    const ptx_flow_block *b = &s->blocks[block];
    if (!ptx_is_uniform_load(s, i) || s->insns[i].opens_region ||
        s->insns[i].read_count != 1 || s->regs[s->insns[i].reads[0]].divergent)
        return false;
    for (uint32_t k = 0; k < s->insns[i].write_count; k++)
        if (!s->regs[s->insns[i].writes[k]].strict)
            return false;
    uint32_t to = b->succ[0];
    while (to != SHAPE_EXIT && s->blocks[to].count == 0 &&
           s->blocks[to].end == SHAPE_JUMP)
        to = s->blocks[to].succ[0]; /* the block before a loop */
    if (b->end != SHAPE_JUMP || to == SHAPE_EXIT || s->blocks[to].loop == SHAPE_NONE)
        return false;
    const ptx_flow_loop *loop = &s->loops[s->blocks[to].loop];
    return loop->head == to && loop->lockstep &&
           !ptx_in_loop(s, s->blocks[to].loop, block);
}

bool ptx_find_late_loads(ptx_shape *s)
{
    bool found = false;
    uint8_t *late = ptx_alloc(s->memory, s->block_count, 1);
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t b = s->order[n];
        const ptx_flow_block *block = &s->blocks[b];
        for (uint32_t i = block->first; i < block->first + block->count; i++) {
            if (late[block->region] && ptx_is_uniform_load(s, i) &&
                ptx_is_uniform_insn(s, i)) {
                if (opens_region(s, b, i))
                    s->insns[i].opens_region = 1;
                else
                    s->insns[i].no_uniform_load = 1;
                found = true;
            }
            late[block->region] |= disturbs(s, i);
        }
        late[block->region] |= ptx_ends_threads(s, b);
    }
    return found;
}

bool ptx_find_region_loads(ptx_shape *s)
{
    bool found = false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count && b->divergent; i++)
            if (opens_region(s, s->order[n], i)) {
                s->insns[i].opens_region = 1;
                found = true;
            }
    }
    return found;
}

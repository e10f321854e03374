// SPDX-License-Identifier: Apache-2.0
/* Large kernels are cut where nothing asks for it, since what LLVM does with one loop over
 * the threads grows much faster than the loop: long stretches become several blocks, and a
 * region ends where it has enough instructions and all its threads are together.
 *
 * Nothing is cut apart that shares what is not a register: the carry of add.cc and addc, and
 * the parameters of a call between st.param and what reads its results. */
#include "softcuda/ptx/flow/flow.h"

#define REGION_INSNS 400u

bool ptx_is_large(const ptx_shape *s)
{
    return s->function->is_entry && s->function->insn_count > SHAPE_LARGE_INSNS;
}

/* A loop inside a region stays there: cut, it would go round for all threads at once. */
static bool may_begin(const ptx_shape *s, uint32_t b)
{
    const ptx_flow_block *block = &s->blocks[b];
    for (uint32_t l = block->loop; l != SHAPE_NONE; l = s->loops[l].parent)
        if (!s->loops[l].outside)
            return false;
    return !block->divergent && block->kind == SHAPE_CODE && block->count > 0 &&
           !s->insns[block->first].keeps_together;
}

void ptx_bound_regions(ptx_shape *s)
{
    uint32_t insns = 0;
    if (!ptx_is_large(s))
        return;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t b = s->order[n];
        if (!s->forced[b] && insns >= REGION_INSNS && may_begin(s, b))
            s->forced[b] = 1;
        if (s->forced[b])
            insns = 0;
        insns += s->blocks[b].count;
    }
}

// SPDX-License-Identifier: Apache-2.0
/* What a thread computes again at the start of a region: registers made of its index and
 * uniform values, and bases with the offsets that loops have moved them by. */
#include <string.h>

#include "softcuda/ptx/shape/fast.h"

static void collect_near(ptx_fast *f, uint32_t def);

/* Definitions come in the order of the graph, so operands are there before their users.
 */
static void collect_remat(ptx_fast *f, uint32_t reg, uint32_t def)
{
    const ptx_flow_insn *insn = &f->s->insns[def];
    if (f->wanted[reg])
        return;
    f->wanted[reg] = 1;
    for (uint32_t k = 0; k < insn->read_count; k++) {
        const uint32_t q = insn->reads[k];
        if (!f->s->regs[q].divergent)
            continue;
        if (ptx_is_remat(f->s, q))
            collect_remat(f, q, f->s->regs[q].def);
        else
            collect_near(f, ptx_local_def(f->s, def, q));
    }
    /* Right before their user: other users may want other definitions of theirs. */
    for (uint32_t k = 0; k < insn->read_count; k++) {
        const uint32_t q = insn->reads[k];
        if (f->s->regs[q].divergent && !ptx_is_remat(f->s, q))
            f->chain[f->chain_count++] = (ptx_fast_remat){q, ptx_local_def(f->s, def, q)};
    }
    f->chain[f->chain_count++] = (ptx_fast_remat){reg, def};
}

/* What a definition next to its user reads. */
static void collect_near(ptx_fast *f, uint32_t def)
{
    const ptx_flow_insn *insn = &f->s->insns[def];
    for (uint32_t k = 0; k < insn->read_count; k++)
        if (f->s->regs[insn->reads[k]].divergent)
            collect_remat(f, insn->reads[k], f->s->regs[insn->reads[k]].def);
}

/* Registers whose slots served a definition next to its user get their own value back. */
static void restore_near(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    for (uint32_t k = 0; k < f->chain_count; k++) {
        const uint32_t q = f->chain[k].reg;
        if (ptx_is_remat(s, q) || !ptx_bit(ptx_fast_region(f)->live_in, q))
            continue;
        if (s->regs[q].home == SHAPE_ARRAY)
            ptx_fast_load_context(f, q);
        else if (s->regs[q].home == SHAPE_AFFINE && s->regs[q].part == SHAPE_NONE)
            ptx_lower(&f->emit, &s->function->insns[s->regs[q].base]);
    }
}

/* Registers that the region sets on some of its ways only start as nothing, lest a thread
 * seem to go on with what the thread before it had: no vectors then. */
static void forget_others(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    memset(f->wanted, 0, s->function->register_count);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            for (uint32_t k = 0; k < s->insns[i].write_count; k++) {
                const uint32_t reg = s->insns[i].writes[k];
                const bool always = r->block_count == 1 && !s->function->insns[i].guarded;
                if (always || f->wanted[reg] || !s->regs[reg].divergent ||
                    ptx_bit(r->live_in, reg))
                    continue;
                f->wanted[reg] = 1;
                ptx_line(&f->emit, "store %s undef, ptr %%r.%u", ptx_fast_type(f, reg),
                         reg);
            }
    }
}

/* In a warp's form `ctaid.x * ntid.x + tid.x` is a multiple of 32 and the lane: it does not
 * wrap from the first lane to the last, which LLVM would ask for again before each loop. */
void ptx_fast_part_lane(ptx_fast *f, uint32_t i)
{
    ptx_emit *e = &f->emit;
    const ptx_insn *insn = &f->s->function->insns[i];
    if ((insn->opcode != PTX_OP_MAD && insn->opcode != PTX_OP_ADD) ||
        f->s->insns[i].write_count != 1 || !ptx_is_lane(f->s, f->s->insns[i].writes[0]))
        return;
    const uint32_t reg = f->s->insns[i].writes[0];
    const ptx_value all = ptx_load_register(e, reg);
    const ptx_value first = ptx_let(e, "sub i32 %s, %%x.%s", all.name, f->name);
    const ptx_value parts = ptx_let(e, "or disjoint i32 %s, %%x.%s", first.name, f->name);
    ptx_store_register(e, reg, parts);
}

void ptx_fast_write_remat(ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    f->chain_count = 0;
    forget_others(f);
    memset(f->wanted, 0, s->function->register_count);
    for (uint32_t reg = 0; reg < s->function->register_count; reg++) {
        if (!ptx_bit(r->live_in, reg) || !s->regs[reg].divergent)
            continue;
        if (s->regs[reg].home == SHAPE_REMAT)
            collect_remat(f, reg, s->regs[reg].def);
        else if (s->regs[reg].home == SHAPE_AFFINE && s->regs[reg].part != SHAPE_NONE)
            collect_remat(f, s->regs[reg].part, s->regs[s->regs[reg].part].def);
        else if (s->regs[reg].home == SHAPE_AFFINE)
            collect_remat(f, reg, s->regs[reg].base);
        else if (s->regs[reg].home == SHAPE_LOCAL)
            ptx_line(&f->emit, "store %s undef, ptr %%r.%u", ptx_fast_type(f, reg), reg);
    }
    for (uint32_t k = 0; k < f->chain_count; k++) {
        ptx_fast_lower(f, f->chain[k].def);
        ptx_fast_part_lane(f, f->chain[k].def);
    }
    restore_near(f);
    for (uint32_t reg = 0; reg < s->function->register_count; reg++) {
        if (ptx_bit(r->live_in, reg) && f->inside[reg])
            ptx_line(&f->emit, "store %s %%snap.%u.%u, ptr %%r.%u", ptx_fast_type(f, reg),
                     f->region, reg, reg);
        if (!ptx_bit(r->live_in, reg) || s->regs[reg].home != SHAPE_AFFINE)
            continue;
        if (s->regs[reg].loop != SHAPE_NONE &&
            !ptx_in_loop(s, s->regs[reg].loop, r->head))
            continue; /* before its loop: the base alone */
        const uint32_t part = s->regs[reg].part;
        const ptx_value base =
            ptx_load_register(&f->emit, part != SHAPE_NONE ? part : reg);
        const ptx_value sum = ptx_let(&f->emit, "add %s %s, %%moved.%u.%u",
                                      ptx_fast_type(f, reg), base.name, f->region, reg);
        ptx_store_register(&f->emit, reg, sum);
    }
}

// SPDX-License-Identifier: Apache-2.0
/* Which loops may wait for another thread: those that leave when memory says so. A block
 * of a kernel with such a loop gets a stack of its own, so that another block can run
 * meanwhile; all other loops end by themselves, whoever else runs or not.
 *
 * Per loop: what is read from memory inside it is tainted, and so is all that is made
 * of it, or is set where a tainted branch decides. A loop waits if a tainted branch
 * decides whether it goes on. A load before the loop (a bound, say) taints nothing. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

typedef struct taint {
    const ptx_shape *s;
    uint32_t loop;
    uint32_t *regs;     /* bitmap: made of what the loop reads */
    uint32_t *blocks;   /* bitmap: a tainted branch decides whether they run */
    uint32_t *branches; /* bitmap: blocks whose tainted branch has been followed */
    uint32_t *map;
    bool changed;
} taint;

bool ptx_is_retry(const ptx_shape *s, uint32_t loop, uint32_t i)
{
    const ptx_insn *insn = &s->function->insns[i];
    if (insn->opcode != PTX_OP_ATOM || !ptx_has(insn, PTX_MOD_CAS))
        return false;
    const ptx_operand *operands = &s->function->operands[insn->operand];
    for (uint32_t k = 1; k < insn->operand_count; k++) {
        if (operands[k].kind != PTX_OPERAND_REG)
            continue;
        for (uint32_t n = 0; n < s->function->insn_count; n++)
            if (ptx_in_loop(s, loop, s->insns[n].block) &&
                ptx_writes(s, n, operands[k].index))
                return true;
        return false;
    }
    return false;
}

/* Memory that another thread may change while the loop runs. */
static bool is_source(const taint *t, uint32_t i)
{
    return t->s->insns[i].reads_memory && !ptx_is_steady_load(t->s, i) &&
           !ptx_is_retry(t->s, t->loop, i);
}

static void taint_insn(taint *t, uint32_t block, uint32_t i)
{
    const ptx_flow_insn *insn = &t->s->insns[i];
    bool tainted = ptx_bit(t->blocks, block) || is_source(t, i);
    for (uint32_t k = 0; !tainted && k < insn->read_count; k++)
        tainted = ptx_bit(t->regs, insn->reads[k]);
    for (uint32_t k = 0; tainted && k < insn->write_count; k++) {
        t->changed |= !ptx_bit(t->regs, insn->writes[k]);
        ptx_set_bit(t->regs, insn->writes[k]);
    }
}

static bool is_tainted_branch(const taint *t, uint32_t block)
{
    const ptx_flow_block *b = &t->s->blocks[block];
    return b->end != SHAPE_JUMP && ptx_bit(t->regs, b->reg);
}

static bool leaves_loop(const taint *t, uint32_t block)
{
    const ptx_flow_block *b = &t->s->blocks[block];
    for (uint32_t k = 0; k < b->succ_count; k++)
        if (b->succ[k] == SHAPE_EXIT || !ptx_in_loop(t->s, t->loop, b->succ[k]))
            return true;
    return false;
}

static void taint_block(taint *t, uint32_t block)
{
    const ptx_shape *s = t->s;
    const ptx_flow_block *b = &s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        taint_insn(t, block, i);
    if (!is_tainted_branch(t, block) || ptx_bit(t->branches, block))
        return;
    ptx_set_bit(t->branches, block);
    memset(t->map, 0, s->block_words * sizeof(uint32_t));
    ptx_mark_influence(s, block, t->map);
    for (uint32_t w = 0; w < s->block_words; w++) {
        const uint32_t more = t->map[w] & s->loops[t->loop].blocks[w];
        t->changed |= (more & ~t->blocks[w]) != 0;
        t->blocks[w] |= more;
    }
}

static bool decides_end(const taint *t, uint32_t block)
{
    return leaves_loop(t, block) &&
           (is_tainted_branch(t, block) || ptx_bit(t->blocks, block));
}

typedef bool block_fn(taint *t, uint32_t block);

static bool spread(taint *t, uint32_t block)
{
    taint_block(t, block);
    return decides_end(t, block);
}

/* Calls `fn` for every block of the loop until it says true; true then. */
static bool any_block(taint *t, block_fn *fn)
{
    const uint32_t *blocks = t->s->loops[t->loop].blocks;
    for (uint32_t w = 0; w < t->s->block_words; w++)
        for (uint32_t bits = blocks[w]; bits != 0; bits &= bits - 1)
            if (fn(t, w * 32 + (uint32_t)__builtin_ctz(bits)))
                return true;
    return false;
}

static bool reads_something(taint *t, uint32_t block)
{
    const ptx_flow_block *b = &t->s->blocks[block];
    for (uint32_t i = b->first; i < b->first + b->count; i++)
        if (is_source(t, i))
            return true;
    return false;
}

static bool loop_waits(taint *t)
{
    const ptx_shape *s = t->s;
    if (!any_block(t, reads_something))
        return false;
    memset(t->regs, 0, s->reg_words * sizeof(uint32_t));
    memset(t->blocks, 0, s->block_words * sizeof(uint32_t));
    memset(t->branches, 0, s->block_words * sizeof(uint32_t));
    do {
        t->changed = false;
        if (any_block(t, spread))
            return true;
    } while (t->changed);
    return false;
}

static bool may_wait(const ptx_shape *s, bool spins)
{
    taint t = {.s = s,
               .regs = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t)),
               .blocks = ptx_alloc(s->memory, s->block_words, sizeof(uint32_t)),
               .branches = ptx_alloc(s->memory, s->block_words, sizeof(uint32_t)),
               .map = ptx_alloc(s->memory, s->block_words, sizeof(uint32_t))};
    if (s->irreducible) /* rounds that are not in loops[] */
        return true;
    for (t.loop = 0; t.loop < s->loop_count; t.loop++)
        if ((spins || !s->loops[t.loop].spins) && loop_waits(&t))
            return true;
    return false;
}

bool ptx_may_wait(const ptx_shape *s)
{
    return may_wait(s, true);
}

bool ptx_may_wait_unseen(const ptx_shape *s)
{
    return may_wait(s, false);
}

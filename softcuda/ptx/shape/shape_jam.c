// SPDX-License-Identifier: Apache-2.0
/* Several rounds of a strided loop together: each thread makes four rounds before the next
 * one makes its own. One copy is for when all threads go on after them, one for when all
 * leave: a row of exactly four times the block is the usual case.
 *
 * In a warp's form a quotient or remainder of the index by a uniform number, `i / pixels`,
 * is mostly one number, or one and the lane: the copies ask for that in each of their
 * rounds, and have it from the first lane. */
#include <stdio.h>

#include "softcuda/ptx/shape/guard.h"

#define JAM_INSNS_MAX 40u

/* ---- quotients of the index ---------------------------------------------------------- */

static bool is_quotient(const ptx_fast *f, uint32_t i)
{
    const ptx_insn *insn = &f->s->function->insns[i];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    return (insn->opcode == PTX_OP_DIV || insn->opcode == PTX_OP_REM) && !insn->guarded &&
           insn->mod_count == 0 && ptx_fast_is_32_bits(insn) &&
           insn->operand_count == 3 && !ptx_guard_is_uniform(f, &o[1]) &&
           ptx_guard_is_uniform(f, &o[2]);
}

/* The quotient in each round, and whether all lanes have it: neither wraps, is negative or
 * passes a multiple of the divisor. */
static ptx_value write_quotient(ptx_fast *f, ptx_quotient *q,
                                const ptx_guard_terms *index)
{
    ptx_emit *e = &f->emit;
    const ptx_insn *insn = &f->s->function->insns[q->insn];
    const ptx_operand *o = ptx_fast_operands(f, insn);
    ptx_value by = ptx_operand_value(e, &o[2], PTX_U32);
    by = ptx_let(e, "freeze i32 %s", by.name); /* it may be set on another way only */
    const ptx_value range = ptx_fast_index_range(f, index->axis);
    const ptx_value sum = ptx_guard_sum(f, index);
    const ptx_value low =
        ptx_let(e, "add i32 %s, %s", sum.name, ptx_fast_first_index(f, index->axis).name);
    ptx_value holds = ptx_let(e, "icmp sgt i32 %s, 0", by.name);
    const ptx_value some = ptx_let(e, "select i1 %s, i32 %s, i32 1", holds.name, by.name);
    for (uint32_t k = 0; k < PTX_JAM_ROUNDS; k++) {
        ptx_value at = low;
        const ptx_value gets = ptx_guard_later(f, true, index, k, &at);
        const ptx_value ratio = ptx_let(e, "udiv i32 %s, %s", at.name, some.name);
        const ptx_value rest = ptx_let(e, "urem i32 %s, %s", at.name, some.name);
        const ptx_value last = ptx_let(e, "add i32 %s, %s", rest.name, range.name);
        const ptx_value high = ptx_let(e, "add i32 %s, %s", at.name, range.name);
        const ptx_value signs = ptx_let(e, "or i32 %s, %s", at.name, high.name);
        const ptx_value positive = ptx_let(e, "icmp sge i32 %s, 0", signs.name);
        const ptx_value one = ptx_let(e, "icmp ult i32 %s, %s", last.name, some.name);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, gets.name);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, positive.name);
        holds = ptx_let(e, "and i1 %s, %s", holds.name, one.name);
        q->first[k] = insn->opcode == PTX_OP_DIV ? ratio : rest;
    }
    return holds;
}

/* Of all quotients of the region that are understood. */
static ptx_value find_quotients(ptx_fast *f, ptx_quotients *all)
{
    const ptx_flow_block *b = &f->s->blocks[ptx_fast_region(f)->head];
    ptx_value holds = {"true"};
    for (uint32_t i = b->first; i < b->first + b->count && f->s->by_warp; i++) {
        ptx_guard_terms index = {.axis = -1, .offset = SHAPE_NONE, .before = true};
        const ptx_insn *insn = &f->s->function->insns[i];
        if (all->count == PTX_QUOTIENTS_MAX || !is_quotient(f, i) ||
            !ptx_guard_add(f, &ptx_fast_operands(f, insn)[1], insn, &index) ||
            (index.axis != 0 && index.axis != 3))
            continue;
        ptx_quotient *q = &all->list[all->count++];
        q->insn = i;
        const ptx_value one = write_quotient(f, q, &index);
        holds = ptx_let(&f->emit, "and i1 %s, %s", holds.name, one.name);
    }
    return holds;
}

/* ---- the copies ---------------------------------------------------------------------- */

static bool has_scalar(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (ptx_fast_is_scalar(f->s, i))
                return true;
    }
    return false;
}

/* Whether a thread may make several rounds before the next thread makes its own: nothing
 * but offsets changes from round to round for all of them. */
static bool may_jam(ptx_fast *f, const ptx_guards *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        const ptx_guard *r = &all->list[i];
        if (r->differs)
            return false;
        const ptx_guard_terms *bound = r->left.axis >= 0 ? &r->right : &r->left;
        if (bound->offset != SHAPE_NONE)
            return false;
    }
    if (has_scalar(f) || ptx_fast_insn_count(f) > JAM_INSNS_MAX)
        return false;
    ptx_fast_find_bends(f); /* each round has runs of its own */
    return !f->bends;
}

/* The copy for several rounds together, where `holds`; else the flow goes on at `other`. */
static void write_rounds(ptx_fast *f, ptx_value holds, char copy, char other)
{
    ptx_emit *e = &f->emit;
    char from[32];
    const ptx_value known = ptx_let(e, "freeze i1 %s", holds.name);
    ptx_line(e, "br i1 %s, label %%C%u.%c, label %%C%u.%c", known.name, f->region, copy,
             f->region, other);
    snprintf(from, sizeof(from), "C%u.%c", f->region, copy);
    gphi_text_add(e->out, "%s:\n", from);
    for (uint32_t k = 1; k < PTX_JAM_ROUNDS; k++)
        ptx_fast_move_offsets(f);
    gphi_text_add(e->out, "  br label %%T%u%c.z\n", f->region, copy);
    f->rounds = PTX_JAM_ROUNDS;
    ptx_fast_write_loops(f, copy, from, ptx_fast_row(f));
    f->rounds = 1;
    gphi_text_add(e->out, "C%u.%c:\n", f->region, other);
}

/* Several rounds together that are the last of all threads. */
static void write_last_rounds(ptx_fast *f, const ptx_guard *go, ptx_value straight)
{
    ptx_emit *e = &f->emit;
    const uint8_t *ways = f->ways;
    ptx_guard opposite = *go;
    opposite.value = !opposite.value;
    ptx_fast_set_scalar(f, true);
    const ptx_value on = ptx_guard_holds(f, go, PTX_JAM_ROUNDS - 2);
    const ptx_value leave = ptx_guard_holds(f, &opposite, PTX_JAM_ROUNDS - 1);
    uint8_t *other = ptx_alloc(f->s->memory, f->s->block_count, 1);
    const uint32_t head = ptx_fast_region(f)->head;
    other[head] = (uint8_t)(3 - ways[head]);
    f->round = false;
    f->ways = other;
    f->ways_before = ways;
    ptx_value holds = ptx_let(e, "and i1 %s, %s", on.name, leave.name);
    holds = ptx_let(e, "and i1 %s, %s", holds.name, straight.name);
    write_rounds(f, holds, 'j', 'i');
    f->ways_before = NULL;
    f->ways = ways;
    f->round = true;
}

/* The copies for several rounds together. A row of threads reads a kilobyte or so and then
 * strides on: rows of several rounds are in flight together, which hides what the
 * prefetcher of the processor does not see, and what is added up stays in registers.
 * Leaves the flow where one round is to be made. */
void ptx_guard_jam(ptx_fast *f, const ptx_guards *all)
{
    if (!may_jam(f, all))
        return;
    ptx_quotients quotients = {.count = 0};
    ptx_fast_set_scalar(f, true);
    const ptx_value straight = find_quotients(f, &quotients);
    ptx_value holds = straight;
    for (uint32_t i = 0; i < all->count; i++) {
        const ptx_value one = ptx_guard_holds(f, &all->list[i], PTX_JAM_ROUNDS - 1);
        holds = ptx_let(&f->emit, "and i1 %s, %s", holds.name, one.name);
    }
    f->quotients = &quotients;
    write_rounds(f, holds, 'g', 'h');
    if (all->count == 1)
        write_last_rounds(f, &all->list[0], straight);
    f->quotients = NULL;
}

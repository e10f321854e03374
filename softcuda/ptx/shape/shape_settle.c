// SPDX-License-Identifier: Apache-2.0
/* Copies of a region in which it is known where all threads go: each of them is sent to one
 * masked region, or none is sent to any, and none ends. Flags are bytes in memory, and what
 * has just been stored byte by byte waits some twenty cycles to be read as a vector; so
 * nothing is stored, and the next region is given how many threads it has (%known), or the
 * masked ones are passed by.
 *
 *   R1, all threads:  T1a.*  R1.known.a: known = all  ->  R2: does not look at its flags
 *   R1, some:         T1b.*  R1.after               ->  R2: counts its flags
 *
 * In the copy for the round that is the last of all, flags are cleared and the loop is left
 * without counting them.
 *
 * A region that is given the number of its threads looks at no flags of its own: they may
 * be 0, until it clears them. */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

/* Where the threads of a copy leave the region for. */
typedef struct leaving {
    bool end, elsewhere;
    uint32_t masked; /* a region, SHAPE_NONE, or SEVERAL */
} leaving;

#define SEVERAL (SHAPE_NONE - 1u)

static bool is_inside(const ptx_fast *f, uint32_t block)
{
    return block != SHAPE_EXIT && block != SHAPE_NONE &&
           f->s->blocks[block].region == f->region && block != ptx_fast_region(f)->head;
}

static void leave_for(const ptx_fast *f, uint32_t to, leaving *out)
{
    if (to == SHAPE_EXIT && ptx_fast_region(f)->exits) {
        out->end = true;
    } else if (to != SHAPE_EXIT && f->s->regions[f->s->blocks[to].region].masked) {
        const uint32_t region = f->s->blocks[to].region;
        out->masked =
            out->masked == SHAPE_NONE || out->masked == region ? region : SEVERAL;
    } else {
        out->elsewhere = true;
    }
}

/* Blocks are in the order of the flow, but for loops of a thread, which change nothing. */
static leaving find_leaving(const ptx_fast *f)
{
    const ptx_region *r = ptx_fast_region(f);
    leaving out = {.masked = SHAPE_NONE};
    uint8_t *reached = ptx_alloc(f->s->memory, f->s->block_count, 1);
    reached[r->head] = 1;
    for (uint32_t n = 0; n < r->block_count; n++) {
        const ptx_flow_block *b = &f->s->blocks[r->blocks[n]];
        const uint8_t way = f->ways ? f->ways[r->blocks[n]] : 0;
        for (uint32_t k = 0; k < b->succ_count && reached[r->blocks[n]]; k++) {
            if (way != 0 && k + 1 != way)
                continue;
            if (is_inside(f, b->succ[k]))
                reached[b->succ[k]] = 1;
            else
                leave_for(f, b->succ[k], &out);
        }
    }
    return out;
}

/* The region looks at no flags where it is given how many threads it has. */
static bool can_be_given(ptx_fast *f, uint32_t region)
{
    const uint32_t own = f->region;
    f->region = region;
    const bool can = ptx_fast_region(f)->kind == SHAPE_CODE && ptx_fast_has_copies(f) &&
                     !ptx_fast_is_apart(f);
    f->region = own;
    return can;
}

static void settle(ptx_fast *f, char copy)
{
    const ptx_region *r = ptx_fast_region(f);
    if (copy == 'b' || f->side || f->window || f->flat || f->round || f->next || f->few ||
        ptx_fast_is_apart(f) || ptx_fast_sets_aside(f))
        return;
    const bool last = copy == 'l' || copy == 'j'; /* of one round, or of several */
    const leaving to = find_leaving(f);
    ptx_settled *s = &f->settled;
    if (!f->s->by_warp && (last || f->scan[0] == 0) && to.end && !to.elsewhere &&
        to.masked == SHAPE_NONE) {
        *s = (ptx_settled){.live = true, .masks = true, .label = "return"};
        return; /* all of the block end */
    }
    s->live = r->exits && !to.end;
    const bool none_ends = !r->exits || s->live;
    s->masks = !r->masked && to.masked == SHAPE_NONE;
    s->known = !r->masked && none_ends && !to.elsewhere && to.masked == r->next &&
               r->next != SHAPE_NONE && can_be_given(f, r->next);
    s->masks |= s->known;
    if (s->known)
        snprintf(s->label, sizeof(s->label), "R%u.known.%c", f->region, copy);
    else if (none_ends && s->masks)
        snprintf(s->label, sizeof(s->label), "R%u.term", f->region);
    else if (last && none_ends)
        ptx_fast_empty_label(f, s->label, sizeof(s->label));
    else if (s->live)
        snprintf(s->label, sizeof(s->label), "R%u.some", f->region);
}

/* The region has flags of its threads to store where nothing is settled. */
static bool has_flags(const ptx_fast *f, bool live, bool masks)
{
    const ptx_region *r = ptx_fast_region(f);
    bool any = (live && r->exits) || (masks && r->masked);
    for (uint32_t k = 0; k < r->target_count; k++)
        any |= masks && f->s->regions[r->targets[k]].masked;
    return any;
}

void ptx_fast_settle(ptx_fast *f, char copy)
{
    f->settled = (ptx_settled){.label = {0}};
    settle(f, copy);
    ptx_settled *s = &f->settled;
    s->touches =
        copy == 'b' || (!f->round && !f->side && has_flags(f, !s->live, !s->masks));
}

/* Where the loops of the copy being written lead. */
void ptx_fast_after_loops(const ptx_fast *f, char *label, size_t bytes)
{
    if (f->settled.label[0])
        snprintf(label, bytes, "%s", f->settled.label);
    else
        snprintf(label, bytes, "R%u.%s", f->region, f->round ? "again" : "after");
}

/* After the loops that lead there. */
void ptx_fast_write_settled(ptx_fast *f)
{
    if (!f->settled.known)
        return;
    gphi_text_add(f->emit.out, "%s:\n", f->settled.label);
    ptx_line(&f->emit, "store i32 %s, ptr %%known",
             f->scan[0] ? f->scan : ptx_fast_all(f));
    ptx_line(&f->emit, "br label %%R%u.%s", f->region,
             ptx_fast_region(f)->exits ? "some" : "after");
}

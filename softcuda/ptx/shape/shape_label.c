// SPDX-License-Identifier: Apache-2.0
/* How regions hang together in a block's function: the labels that lead from one to the
 * next, and which of them are functions of their own or have copies. */
#include <stdio.h>

#include "softcuda/ptx/shape/fast.h"

#define COPY_INSNS_MAX 1500u /* larger regions are not written twice */

/* The label of `to` for a jump from `from`. */
void ptx_fast_region_label(const ptx_fast *f, uint32_t from, uint32_t to, char *label,
                           size_t bytes)
{
    uint32_t loop;
    const char *kind = "";
    if (ptx_fast_heads_loop(f, to, &loop))
        kind = ptx_in_loop(f->s, loop, f->s->regions[from].head) ? ".back" : ".enter";
    snprintf(label, bytes, "R%u%s", to, kind);
}

/* Where the flow goes after a masked region, or after the loops it ends. */
void ptx_fast_after_label(const ptx_fast *f, uint32_t region, bool skip_own_loop,
                          char *label, size_t bytes)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = &s->regions[region];
    uint32_t loop = s->blocks[r->head].loop;
    /* Round the innermost masked loop that ends with this region. */
    for (; loop != SHAPE_NONE && r->masked; loop = s->loops[loop].parent) {
        const uint32_t head = s->blocks[s->loops[loop].head].region;
        if (!s->loops[loop].outside || s->loops[loop].uniform || !s->regions[head].masked)
            break;
        if (r->next != SHAPE_NONE && ptx_in_loop(s, loop, s->regions[r->next].head))
            break;
        if (skip_own_loop) {
            skip_own_loop = false;
            continue;
        }
        snprintf(label, bytes, "R%u.back", head);
        return;
    }
    if (r->next != SHAPE_NONE)
        ptx_fast_region_label(f, region, r->next, label, bytes);
    else
        snprintf(label, bytes, "R%u.term", r->anchor);
}

/* The last region of the chain inside the loop that `region` heads. */
static uint32_t last_of_loop(const ptx_fast *f, uint32_t region)
{
    uint32_t loop;
    if (!ptx_fast_heads_loop(f, region, &loop))
        return region;
    uint32_t last = region;
    for (uint32_t n = f->s->regions[region].next; n != SHAPE_NONE;
         n = f->s->regions[n].next)
        if (ptx_in_loop(f->s, loop, f->s->regions[n].head))
            last = n;
    return last;
}

/* Nobody waits: past the region, or past the whole loop that it heads. */
void ptx_fast_empty_label(const ptx_fast *f, char *label, size_t bytes)
{
    uint32_t loop;
    if (!ptx_fast_heads_loop(f, f->region, &loop)) {
        ptx_fast_after_label(f, f->region, false, label, bytes);
        return;
    }
    ptx_fast_after_label(f, last_of_loop(f, f->region), true, label, bytes);
}

/* A plain barrier has no code. */
bool ptx_fast_is_apart(const ptx_fast *f)
{
    const ptx_shape *s = f->s;
    const ptx_region *r = ptx_fast_region(f);
    if (r->kind == SHAPE_BARRIER &&
        ptx_cut_of(s, s->blocks[r->head].first).kind == SHAPE_CUT_SYNC)
        return false;
    return !s->by_warp && (s->region_count > ptx_regions_max(s) ||
                           (ptx_is_large(s) && s->region_count > 1));
}

bool ptx_fast_has_copies(const ptx_fast *f)
{
    return ptx_fast_insn_count(f) <= COPY_INSNS_MAX && !ptx_is_large(f->s);
}

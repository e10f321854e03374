// SPDX-License-Identifier: Apache-2.0
/* What a text led to, by entry: both ways to look at a text put their finds here. */
#include "explain/scan.h"

void gphi_hits_add(gphi_hits *hits, size_t index, const gph_explain_match *match)
{
    gph_explain_match *best = &hits->best[index];
    if (!best->entry)
        hits->found[hits->count++] = (uint16_t)index;
    else if (best->score >= match->score)
        return;
    *best = *match;
}

/* Whether `a` is reported before `b`: it says more, or says as much and comes first. */
static bool is_before(const gph_explain_match *a, const gph_explain_match *b)
{
    if (a->score != b->score)
        return a->score > b->score;
    return a->line_begin < b->line_begin;
}

bool gphi_hits_take(gphi_hits *hits, gph_explain_match *out)
{
    gph_explain_match *best = NULL;
    for (size_t i = 0; i < hits->count; i++) {
        gph_explain_match *at = &hits->best[hits->found[i]];
        if (at->entry && (!best || is_before(at, best)))
            best = at;
    }
    if (!best)
        return false;
    *out = *best;
    best->entry = NULL;
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/* The fast path, planned: where the body is cut, which blocks make a region, and in which
 * order regions are in.
 *
 * A region has one entry, its head, and becomes one loop over the threads. Heads are: the
 * entry; every cut and what follows it; head and exits of every loop that is run round by
 * round (uniform, lockstep, or with a cut inside); both ways of a uniform branch that do
 * not meet in the region; and every block whose predecessors lie in several regions.
 * A region whose head is divergent is masked: only threads that were sent there run it.
 * Masked regions of one divergent branch are one after the other, before its join. */
#include <string.h>

#include "softcuda/ptx/flow/flow.h"

/* ---- why not ---- */

static void slow(ptx_shape *s, uint32_t line, const char *what)
{
    if (!s->slow_reason)
        s->slow_reason = ptx_format(s->memory, "line %u: %s", line, what);
}

static void check_barriers(ptx_shape *s)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        const uint32_t line = s->function->insns[b->first].line;
        if (b->kind != SHAPE_BARRIER)
            continue;
        const ptx_cut_form cut = ptx_cut_of(s, b->first);
        if (!ptx_cut_is_whole(&cut))
            slow(s, line, "a named or partial barrier");
        else if (b->divergent)
            slow(s, line, "a barrier that not all threads reach together");
    }
}

/* ---- loops ------------------------------------------------------------------------ */

typedef struct slice {
    uint32_t loop;
    uint32_t *seen; /* registers */
    bool waits;
} slice;

/* What the value of `reg` in a loop depends on: does another thread have a say? */
static void follow(const ptx_shape *s, slice *q, uint32_t first)
{
    uint32_t *stack =
        ptx_alloc(s->memory, (size_t)s->function->register_count + 1, sizeof(*stack));
    uint32_t depth = 0;
    stack[depth++] = first;
    ptx_set_bit(q->seen, first);
    while (depth > 0 && !q->waits) {
        const uint32_t reg = stack[--depth];
        for (uint32_t n = 0; n < s->order_count; n++) {
            const ptx_flow_block *b = &s->blocks[s->order[n]];
            if (!ptx_in_loop(s, q->loop, s->order[n]))
                continue;
            for (uint32_t i = b->first; i < b->first + b->count; i++) {
                if (!ptx_writes(s, i, reg))
                    continue;
                q->waits |= s->insns[i].is_volatile && !ptx_is_retry(s, q->loop, i);
                for (uint32_t k = 0; k < s->insns[i].read_count; k++) {
                    const uint32_t r = s->insns[i].reads[k];
                    if (!ptx_bit(q->seen, r)) {
                        ptx_set_bit(q->seen, r);
                        stack[depth++] = r;
                    }
                }
            }
        }
    }
}

static bool leaves_loop(const ptx_shape *s, uint32_t loop, uint32_t block)
{
    const ptx_flow_block *b = &s->blocks[block];
    for (uint32_t k = 0; k < b->succ_count; k++)
        if (b->succ[k] == SHAPE_EXIT || !ptx_in_loop(s, loop, b->succ[k]))
            return true;
    return false;
}

static bool has_volatile(const ptx_shape *s, uint32_t loop)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (s->insns[i].is_volatile && ptx_in_loop(s, loop, s->order[n]))
                return true;
    }
    return false;
}

static void find_spins(ptx_shape *s)
{
    for (uint32_t l = 0; l < s->loop_count; l++) {
        slice q = {.loop = l};
        if (!has_volatile(s, l))
            continue;
        q.seen = ptx_alloc(s->memory, s->reg_words, sizeof(uint32_t));
        for (uint32_t n = 0; n < s->order_count; n++) {
            const uint32_t b = s->order[n];
            if (ptx_in_loop(s, l, b) && s->blocks[b].end != SHAPE_JUMP &&
                leaves_loop(s, l, b))
                follow(s, &q, s->blocks[b].reg);
        }
        s->loops[l].spins = q.waits;
    }
}

static void check_spins(ptx_shape *s)
{
    for (uint32_t l = 0; l < s->loop_count; l++)
        if (s->loops[l].spins && !s->loops[l].uniform && !ptx_waits_alone(s, l))
            slow(s, s->blocks[s->loops[l].head].line,
                 "a loop in which a thread may wait for another");
}

/* ---- heads of regions ------------------------------------------------------------- */

static bool force(ptx_shape *s, uint32_t block)
{
    if (block == SHAPE_EXIT || s->forced[block])
        return false;
    s->forced[block] = 1;
    return true;
}

static bool force_exits(ptx_shape *s, uint32_t loop)
{
    bool changed = false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        for (uint32_t k = 0; k < b->succ_count; k++)
            if (b->succ[k] != SHAPE_EXIT && !ptx_in_loop(s, loop, b->succ[k]))
                changed |= force(s, b->succ[k]);
    }
    return changed;
}

static bool has_forced(const ptx_shape *s, uint32_t loop)
{
    for (uint32_t n = 0; n < s->order_count; n++)
        if (s->forced[s->order[n]] && ptx_in_loop(s, loop, s->order[n]))
            return true;
    return false;
}

/* A loop that holds a head of a region is run round by round. */
static bool force_loops(ptx_shape *s)
{
    bool changed = false;
    for (uint32_t l = 0; l < s->loop_count; l++) {
        ptx_flow_loop *loop = &s->loops[l];
        if (!loop->uniform && !loop->lockstep && !has_forced(s, l) &&
            !(s->by_warp && ptx_gains_by_strips(s, l)))
            continue;
        loop->outside = 1;
        changed |= force(s, loop->head);
        changed |= force_exits(s, l);
    }
    return changed;
}

static void force_cuts(ptx_shape *s)
{
    force(s, s->entry);
    ptx_force_waits(s);
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++)
            if (s->insns[i].opens_region)
                force(s, s->order[n]);
        const ptx_flow_insn *first = &s->insns[b->first];
        if (b->kind == SHAPE_CODE &&
            !(b->count > 0 && (first->keeps_lockstep || first->is_moment)))
            continue;
        force(s, s->order[n]);
        force(s, b->succ[0]);
    }
}

/* Regions are named by their heads here. */
static bool assign_regions(ptx_shape *s)
{
    bool changed = false;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t b = s->order[n];
        ptx_flow_block *block = &s->blocks[b];
        uint32_t region = s->forced[b] ? b : SHAPE_NONE;
        for (uint32_t k = 0; k < block->pred_count && !s->forced[b]; k++) {
            const ptx_flow_block *p = &s->blocks[block->pred[k]];
            if (p->order >= block->order)
                continue; /* round a loop inside the region */
            if (region == SHAPE_NONE) {
                region = p->region;
            } else if (region != p->region) {
                changed |= force(s, b);
                region = b;
            }
        }
        block->region = region;
    }
    return changed;
}

/* ---- where a region leads all its threads ----------------------------------------- */

/* Where threads sent to masked code meet the others again, if they do. */
static uint32_t meeting_place(const ptx_shape *s, uint32_t block)
{
    while (block != SHAPE_EXIT && block != SHAPE_NONE && s->blocks[block].divergent)
        block = s->blocks[block].ipdom;
    return block == SHAPE_EXIT ? SHAPE_NONE : block;
}

static uint32_t edge_outcome(const ptx_shape *s, const uint32_t *outcome, uint32_t from,
                             uint32_t to)
{
    const ptx_flow_block *b = &s->blocks[from];
    const bool divergent =
        b->divergent || (b->end != SHAPE_JUMP && s->regs[b->reg].divergent);
    if (to == SHAPE_EXIT)
        return divergent ? SHAPE_NONE : SHAPE_EXIT;
    if (s->blocks[to].region == b->region && to != b->region)
        return s->blocks[to].order <= b->order ? SHAPE_NONE : outcome[to];
    return s->blocks[to].divergent ? meeting_place(s, to) : to;
}

/* Successors of block b that must start a region are forced: true if there are any. */
static bool settle_outcome(ptx_shape *s, uint32_t *outcome, uint32_t b)
{
    const ptx_flow_block *block = &s->blocks[b];
    bool changed = false;
    outcome[b] = SHAPE_NONE;
    for (uint32_t k = 0; k < block->succ_count; k++) {
        const uint32_t to = edge_outcome(s, outcome, b, block->succ[k]);
        if (to == SHAPE_NONE || to == outcome[b])
            continue;
        if (outcome[b] == SHAPE_NONE) {
            outcome[b] = to;
            continue;
        }
        outcome[b] = b | SHAPE_DECIDED;
        if (block->divergent || s->regs[block->reg].divergent) {
            slow(s, block->line, "ways of a divergent branch that never meet");
            return false;
        }
        for (uint32_t n = 0; n < block->succ_count; n++)
            changed |= force(s, block->succ[n]);
        break;
    }
    return changed;
}

static bool settle_outcomes(ptx_shape *s, uint32_t *outcome)
{
    for (uint32_t n = s->order_count; n-- > 0;)
        if (settle_outcome(s, outcome, s->order[n]))
            return true;
    return false;
}

static const uint32_t *form_regions(ptx_shape *s)
{
    uint32_t *outcome = ptx_alloc(s->memory, s->block_count, sizeof(*outcome));
    s->forced = ptx_alloc(s->memory, s->block_count, 1);
    force_cuts(s);
    while (force_loops(s)) {
    }
    ptx_bound_regions(s);
    do {
        while (force_loops(s) || assign_regions(s)) {
        }
    } while (settle_outcomes(s, outcome) && !s->slow_reason);
    return outcome;
}

/* ---- the list of regions ---------------------------------------------------------- */

static void add_target(ptx_shape *s, ptx_region *r, uint32_t target)
{
    for (uint32_t k = 0; k < r->target_count; k++)
        if (r->targets[k] == target)
            return;
    r->targets[r->target_count++] = target;
    ptx_region *to = &s->regions[target];
    to->preds[to->pred_count++] = (uint32_t)(r - s->regions);
}

static void fill_regions(ptx_shape *s, const uint32_t *index_of)
{
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        ptx_region *r = &s->regions[index_of[b->region]];
        r->blocks[r->block_count++] = s->order[n];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            const uint32_t to = b->succ[k];
            if (to != SHAPE_EXIT &&
                (s->blocks[to].region != b->region || to == b->region))
                add_target(s, r, index_of[s->blocks[to].region]);
        }
    }
    for (uint32_t n = 0; n < s->order_count; n++)
        s->blocks[s->order[n]].region = index_of[s->blocks[s->order[n]].region];
}

static void list_regions(ptx_shape *s, const uint32_t *outcome)
{
    uint32_t *index_of = ptx_alloc(s->memory, s->block_count, sizeof(*index_of));
    uint32_t *sizes = ptx_alloc(s->memory, s->block_count, sizeof(*sizes));
    uint32_t *edges = ptx_alloc(s->memory, s->block_count, sizeof(*edges));
    uint32_t *entries = ptx_alloc(s->memory, s->block_count, sizeof(*entries));
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (b->region == s->order[n])
            index_of[s->order[n]] = s->region_count++;
        sizes[b->region]++;
        edges[b->region] += b->succ_count;
        for (uint32_t k = 0; k < b->succ_count; k++)
            if (b->succ[k] != SHAPE_EXIT)
                entries[s->blocks[b->succ[k]].region]++;
    }
    s->regions = ptx_alloc(s->memory, s->region_count, sizeof(*s->regions));
    for (uint32_t n = 0; n < s->order_count; n++) {
        const uint32_t b = s->order[n];
        if (s->blocks[b].region != b)
            continue;
        ptx_region *r = &s->regions[index_of[b]];
        *r = (ptx_region){.head = b,
                          .kind = s->blocks[b].kind,
                          .mask = SHAPE_NONE,
                          .next = SHAPE_NONE,
                          .outcome = outcome[b],
                          .masked = s->blocks[b].divergent};
        r->blocks = ptx_alloc(s->memory, sizes[b], sizeof(uint32_t));
        r->targets = ptx_alloc(s->memory, edges[b], sizeof(uint32_t));
        r->preds = ptx_alloc(s->memory, entries[b], sizeof(uint32_t));
    }
    fill_regions(s, index_of);
}

/* ---- order and masks -------------------------------------------------------------- */

/* How many loops around both `loop` and block b, counted from outside, hold b. */
static uint32_t shared_depth(const ptx_shape *s, uint32_t loop, uint32_t b)
{
    uint32_t depth = 0;
    for (; loop != SHAPE_NONE; loop = s->loops[loop].parent)
        depth += ptx_in_loop(s, loop, b);
    return depth;
}

static bool is_round(const ptx_shape *s, uint32_t from, uint32_t to)
{
    return s->blocks[s->regions[to].head].order <= s->blocks[s->regions[from].head].order;
}

/* Always the next region all of whose predecessors are before it; of several, one in
 * the same loops as the last, so that a loop is in one piece. */
static void order_regions(ptx_shape *s)
{
    uint32_t *waits = ptx_alloc(s->memory, s->region_count, sizeof(*waits));
    uint8_t *placed = ptx_alloc(s->memory, s->region_count, 1);
    s->linear = ptx_alloc(s->memory, s->region_count, sizeof(*s->linear));
    for (uint32_t r = 0; r < s->region_count; r++)
        for (uint32_t k = 0; k < s->regions[r].pred_count; k++)
            waits[r] += !is_round(s, s->regions[r].preds[k], r);
    uint32_t loop = SHAPE_NONE;
    for (uint32_t n = 0; n < s->region_count; n++) {
        uint32_t best = SHAPE_NONE, best_depth = 0;
        for (uint32_t r = 0; r < s->region_count; r++) {
            if (placed[r] || waits[r] > 0)
                continue;
            /* Early ends and masked code first: they must not fall after their join. */
            const uint32_t depth =
                2 * shared_depth(s, loop, s->regions[r].head) + s->regions[r].masked;
            if (best == SHAPE_NONE || depth > best_depth) {
                best = r;
                best_depth = depth;
            }
        }
        if (best == SHAPE_NONE) {
            slow(s, s->function->line, "control flow that cannot be put in order");
            return;
        }
        placed[best] = 1;
        s->linear[n] = best;
        s->regions[best].order = n;
        loop = s->blocks[s->regions[best].head].loop;
        for (uint32_t k = 0; k < s->regions[best].target_count; k++)
            waits[s->regions[best].targets[k]] -=
                !is_round(s, best, s->regions[best].targets[k]);
    }
}

/* Masked regions that threads reach from region `first` without all meeting before: how many. */
static uint32_t reach_masked(const ptx_shape *s, uint32_t first, uint8_t *reached)
{
    uint32_t *stack = ptx_stack(s->memory, s->region_count + 1ull);
    uint32_t depth = 0, count = 0;
    stack[depth++] = first;
    while (depth > 0) {
        const ptx_region *r = &s->regions[stack[--depth]];
        for (uint32_t k = 0; k < r->target_count; k++) {
            const uint32_t to = r->targets[k];
            if (!s->regions[to].masked || reached[to])
                continue;
            reached[to] = 1;
            stack[depth++] = to;
            count++;
        }
    }
    return count;
}

/* The masked regions between a branch and the meeting place; `reached` is clear. */
static void chain_masked(ptx_shape *s, uint32_t first, uint8_t *taken, uint8_t *reached)
{
    ptx_region *r = &s->regions[first], *last = r;
    uint32_t left = reach_masked(s, first, reached);
    for (uint32_t n = 0; left > 0; n++) {
        ptx_region *m = &s->regions[s->linear[n]];
        if (!reached[s->linear[n]])
            continue;
        left--;
        if (taken[s->linear[n]] || m->order < r->order) {
            slow(s, s->blocks[m->head].line, "code that two divergent branches share");
            return;
        }
        taken[s->linear[n]] = 1;
        reached[s->linear[n]] = 0;
        last->next = s->linear[n];
        last = m;
        m->anchor = first;
    }
}

/* Ways into a masked region come from before it in its chain, or round a loop it heads. */
static void check_chains(ptx_shape *s, const uint8_t *taken)
{
    for (uint32_t n = 0; n < s->region_count; n++) {
        const ptx_region *m = &s->regions[n];
        if (!m->masked)
            continue;
        if (!taken[n])
            slow(s, s->blocks[m->head].line, "divergent code without a branch");
        for (uint32_t k = 0; k < m->pred_count; k++) {
            const ptx_region *p = &s->regions[m->preds[k]];
            const bool same = m->preds[k] == m->anchor || p->anchor == m->anchor;
            if (!same || (p->masked == 0 && m->preds[k] != m->anchor))
                slow(s, s->blocks[m->head].line,
                     "code that two divergent branches share");
        }
    }
}

/* Where the threads of a chain meet again is where its anchor goes on. */
static void join_chain(ptx_shape *s, ptx_region *r)
{
    for (uint32_t m = r->next; m != SHAPE_NONE; m = s->regions[m].next) {
        for (uint32_t k = 0; k < s->regions[m].target_count; k++) {
            const ptx_region *to = &s->regions[s->regions[m].targets[k]];
            if (to->masked)
                continue;
            if (r->outcome == SHAPE_NONE)
                r->outcome = to->head;
            if (r->outcome != to->head)
                slow(s, s->blocks[to->head].line, "divergent ways that never meet");
        }
    }
    if (r->outcome == SHAPE_NONE)
        r->outcome = SHAPE_EXIT;
}

static void chain_regions(ptx_shape *s)
{
    uint8_t *taken = ptx_alloc(s->memory, s->region_count, 2),
            *reached = taken + s->region_count;
    for (uint32_t n = 0; n < s->region_count; n++)
        s->regions[n].anchor = n;
    for (uint32_t n = 0; n < s->region_count; n++)
        if (!s->regions[s->linear[n]].masked)
            chain_masked(s, s->linear[n], taken, reached);
    check_chains(s, taken);
    for (uint32_t n = 0; n < s->region_count; n++)
        if (!s->regions[n].masked)
            join_chain(s, &s->regions[n]);
    for (uint32_t n = 0; n < s->region_count; n++)
        if (s->regions[s->linear[n]].masked)
            s->regions[s->linear[n]].mask = s->mask_count++;
}

/* ---- threads that end early ------------------------------------------------------- */

static void find_exits(ptx_shape *s)
{
    uint32_t *stack = ptx_alloc(s->memory, (size_t)s->region_count + 2, sizeof(*stack));
    for (uint32_t n = 0; n < s->region_count; n++) {
        ptx_region *r = &s->regions[n];
        if (!r->masked && r->outcome == SHAPE_EXIT)
            continue; /* all that are not sent to a mask end here */
        for (uint32_t k = 0; k < r->block_count; k++)
            r->exits |= ptx_ends_threads(s, r->blocks[k]);
        if (!r->exits)
            continue;
        s->has_live = 1;
        stack[0] = n;
        stack[1] = r->anchor; /* where others go on, it need not lead */
        for (uint32_t depth = 2; depth > 0;) {
            const ptx_region *at = &s->regions[stack[--depth]];
            for (uint32_t k = 0; k < at->target_count; k++) {
                ptx_region *to = &s->regions[at->targets[k]];
                if (to->needs_live)
                    continue;
                to->needs_live = 1;
                stack[depth++] = at->targets[k];
            }
        }
    }
}

/* ---- the way of the scalar part ---- */

static bool inside_of(const ptx_shape *s, const ptx_region *r, uint32_t block)
{
    return block != SHAPE_EXIT && block != r->head &&
           &s->regions[s->blocks[block].region] == r;
}

/* Divergent blocks that threads reach from converged block b without meeting before;
 * returns where they meet, if that is in the region. */
static uint32_t reach_divergent(const ptx_shape *s, const ptx_region *r, uint32_t from,
                                uint8_t *reached)
{
    uint32_t *stack = ptx_stack(s->memory, s->block_count + 1ull);
    uint32_t depth = 0, join = SHAPE_NONE;
    stack[depth++] = from;
    while (depth > 0) {
        const ptx_flow_block *b = &s->blocks[stack[--depth]];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            const uint32_t to = b->succ[k];
            if (!inside_of(s, r, to) || reached[to])
                continue;
            if (!s->blocks[to].divergent) {
                join = to;
                continue;
            }
            reached[to] = 1;
            stack[depth++] = to;
        }
    }
    return join;
}

static bool splits(const ptx_shape *s, uint32_t b)
{
    const ptx_flow_block *block = &s->blocks[b];
    if (block->end != SHAPE_JUMP)
        return s->regs[block->reg].divergent;
    return block->succ[0] != SHAPE_EXIT && s->blocks[block->succ[0]].divergent;
}

/* Divergent blocks are passed one after the other, for what may be computed early, and
 * then the place where their ways meet. */
static void link_region(ptx_shape *s, const ptx_region *r)
{
    for (uint32_t n = 0; n < r->block_count; n++) {
        s->passes[r->blocks[n]] = s->blocks[r->blocks[n]].divergent;
        s->after[r->blocks[n]] =
            r->masked && n + 1 < r->block_count ? r->blocks[n + 1] : SHAPE_NONE;
    }
    for (uint32_t n = 0; n < r->block_count && !r->masked; n++) {
        uint32_t last = r->blocks[n];
        if (s->blocks[last].divergent || !splits(s, last))
            continue;
        uint8_t *reached = ptx_scratch(s->memory, PTX_SCRATCH_MARKS, s->block_count, 1);
        memset(reached, 0, s->block_count);
        const uint32_t join = reach_divergent(s, r, last, reached);
        s->passes[last] = 1;
        for (uint32_t k = n + 1; k < r->block_count; k++) {
            if (!reached[r->blocks[k]])
                continue;
            s->linked[r->blocks[k]] = 1;
            s->after[last] = r->blocks[k];
            last = r->blocks[k];
        }
        s->after[last] = join;
    }
    for (uint32_t n = 0; n < r->block_count && !r->masked; n++)
        if (s->blocks[r->blocks[n]].divergent && !s->linked[r->blocks[n]])
            slow(s, s->blocks[r->blocks[n]].line, "divergent code without a branch");
}

static void link_scalar(ptx_shape *s)
{
    s->passes = ptx_alloc(s->memory, s->block_count, 1);
    s->linked = ptx_alloc(s->memory, s->block_count, 1);
    s->after = ptx_alloc(s->memory, s->block_count, sizeof(*s->after));
    for (uint32_t n = 0; n < s->region_count; n++)
        link_region(s, &s->regions[n]);
}

/* ---- all of it ---- */

/* Blocks that cannot be cut, in one region: fine when there is nothing to cut. */
static const uint32_t *one_region(ptx_shape *s)
{
    uint32_t *outcome = ptx_alloc(s->memory, s->block_count, sizeof(*outcome));
    s->forced = ptx_alloc(s->memory, s->block_count, 1);
    for (uint32_t n = 0; n < s->order_count; n++) {
        s->blocks[s->order[n]].region = s->entry;
        outcome[s->order[n]] = SHAPE_EXIT;
    }
    for (uint32_t r = 0; r < s->function->register_count; r++)
        s->regs[r].divergent = 1;
    for (uint32_t n = 0; n < s->order_count; n++)
        s->blocks[s->order[n]].divergent = s->order[n] != s->entry;
    return outcome;
}

void ptx_plan_fast(ptx_shape *s)
{
    const uint32_t *outcome;
    ptx_find_liveness(s);
    find_spins(s);
    do {
        ptx_find_uniformity(s);
        check_barriers(s);
        check_spins(s);
        if (s->irreducible && s->has_cuts)
            slow(s, s->function->line, "irreducible control flow around a cut");
        if (s->slow_reason)
            return;
        if (s->irreducible) {
            outcome = one_region(s);
            break;
        }
        ptx_find_lockstep(s);
        outcome = form_regions(s);
        if (s->slow_reason)
            return;
    } while (ptx_find_late_loads(s) || ptx_find_region_loads(s));
    list_regions(s, outcome);
    order_regions(s);
    if (s->slow_reason)
        return;
    chain_regions(s);
    link_scalar(s);
    if (s->slow_reason)
        return;
    find_exits(s);
    ptx_find_homes(s);
}

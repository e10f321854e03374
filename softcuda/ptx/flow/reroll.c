// SPDX-License-Identifier: Apache-2.0
/* Loops that a compiler unrolled, as they were written. Of
 *
 *     for (i = lane; i < n; i += 32) body(i);
 *
 * nvcc makes two loops:
 *
 *     rest = count & 3;                     `skip` ends here
 *     if (rest) do body(i); while (--rest);     the loop `rest`
 *     if (count >= 4)                       `between` ends here
 *         do body(i) ... body(i + 96); while ((i += 128) < n);    the loop `main`
 *
 * For a GPU that saves branches. Here threads are done in vectors, and after the first loop
 * each is where its own count has led it. So the first loop makes all rounds: it goes on as
 * long as the second one's comparison says, and the second is left out. Each thread does the
 * same in the same order.
 *
 * That it is the same is tried (trial.h): both ways are gone with numbers, from one round to
 * a few more than two of the second loop; where what is stored and read, and all that is
 * alive afterwards, are the same, so is the code. That what is left over of large counts is right,
 * too, is seen where the second loop begins. An index that would wrap is not looked at: the
 * loop as written would go through all memory. */
#include <string.h>

#include "softcuda/ptx/flow/trial.h"

#define ROUNDS_MAX 16u   /* of the first loop in one of the second */
#define LARGE_TRIALS 24u /* counts that are not gone through */
#define CHAIN_MAX 4u
#define INSNS_MAX 600u /* of both loops */

typedef struct unrolled {
    uint32_t rest, main; /* loops */
    uint32_t rest_latch, main_latch;
    uint32_t skip, between, done; /* blocks */
    uint32_t compare;             /* instruction: the second loop goes on */
    uint32_t index, bound;        /* its registers */
    bool is_equal;                /* index <= bound, not < */
    uint64_t step;                /* of the first loop */
    uint64_t rounds;              /* of it, in one of the second */
} unrolled;

static const ptx_operand *operands_of(const ptx_shape *s, uint32_t i)
{
    return &s->function->operands[s->function->insns[i].operand];
}

/* ---- finding ---------------------------------------------------------------------- */

/* The one block that leaves the loop, which goes round as well: where else it leads. */
static bool find_latch(const ptx_shape *s, uint32_t loop, uint32_t *latch, uint32_t *out)
{
    *latch = SHAPE_NONE;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        if (!ptx_in_loop(s, loop, s->order[n]))
            continue;
        if (b->loop != loop || b->kind != SHAPE_CODE)
            return false; /* another loop in it, or a cut */
        for (uint32_t k = 0; k < b->succ_count; k++) {
            if (b->succ[k] != SHAPE_EXIT && ptx_in_loop(s, loop, b->succ[k]))
                continue;
            if (*latch != SHAPE_NONE || b->end != SHAPE_BRANCH || k != 1 ||
                b->succ[0] != s->loops[loop].head)
                return false;
            *latch = s->order[n];
            *out = b->succ[1];
        }
    }
    return *latch != SHAPE_NONE;
}

/* From `block` there is one way, to the head of the loop, and none other to that way. */
static bool leads_to(const ptx_shape *s, uint32_t block, uint32_t loop)
{
    for (uint32_t n = 0; n < CHAIN_MAX && block != SHAPE_EXIT; n++) {
        if (block == s->loops[loop].head)
            return s->blocks[block].pred_count == 2;
        if (s->blocks[block].end != SHAPE_JUMP || s->blocks[block].pred_count != 1)
            return false;
        block = s->blocks[block].succ[0];
    }
    return false;
}

/* The second loop's comparison of an index that differs by thread with a bound. */
static bool find_compare(const ptx_shape *s, unrolled *u)
{
    const ptx_flow_block *b = &s->blocks[u->main_latch];
    u->compare = s->regs[b->reg].def;
    if (s->regs[b->reg].def_count != 1 || s->insns[u->compare].block != u->main_latch)
        return false;
    const ptx_insn *insn = &s->function->insns[u->compare];
    const ptx_operand *o = operands_of(s, u->compare);
    if (insn->opcode != PTX_OP_SETP || insn->guarded || insn->operand_count != 3 ||
        insn->mod_count != 1 || b->negate || o[1].kind != PTX_OPERAND_REG ||
        o[2].kind != PTX_OPERAND_REG || o[1].negate || o[2].negate || o[0].pair)
        return false;
    u->is_equal = insn->mods[0] == PTX_MOD_LE;
    u->index = o[1].index;
    u->bound = o[2].index;
    return (u->is_equal || insn->mods[0] == PTX_MOD_LT) &&
           (insn->types[0] == PTX_S32 || insn->types[0] == PTX_U32) &&
           s->regs[u->index].divergent && s->regs[u->bound].strict;
}

/* `add index, index, step` alone sets it in the first loop. */
static bool find_step(const ptx_shape *s, unrolled *u)
{
    uint32_t found = SHAPE_NONE;
    for (uint32_t n = 0; n < s->order_count; n++) {
        const ptx_flow_block *b = &s->blocks[s->order[n]];
        for (uint32_t i = b->first; i < b->first + b->count; i++) {
            if (!ptx_in_loop(s, u->rest, s->order[n]) || !ptx_writes(s, i, u->index))
                continue;
            if (found != SHAPE_NONE)
                return false;
            found = i;
        }
    }
    if (found == SHAPE_NONE || s->function->insns[found].opcode != PTX_OP_ADD ||
        s->function->insns[found].guarded)
        return false;
    const ptx_operand *o = operands_of(s, found);
    u->step = (uint64_t)o[2].imm;
    return o[1].kind == PTX_OPERAND_REG && o[1].index == u->index &&
           o[2].kind == PTX_OPERAND_INT && o[2].imm > 0 && o[2].imm < 1 << 16;
}

static uint32_t count_insns(const ptx_shape *s, const unrolled *u)
{
    uint32_t count = 0;
    for (uint32_t n = 0; n < s->order_count; n++)
        if (ptx_in_loop(s, u->rest, s->order[n]) || ptx_in_loop(s, u->main, s->order[n]))
            count += s->blocks[s->order[n]].count;
    return count;
}

/* Both loops look as if; `u` has their numbers. */
static bool find_pair(const ptx_shape *s, unrolled *u)
{
    if (s->loops[u->rest].parent != s->loops[u->main].parent ||
        s->loops[u->main].uniform ||
        !find_latch(s, u->rest, &u->rest_latch, &u->between) ||
        !find_latch(s, u->main, &u->main_latch, &u->done))
        return false;
    if (u->between == SHAPE_EXIT)
        return false;
    const ptx_flow_block *between = &s->blocks[u->between];
    if (between->pred_count != 2 || between->end != SHAPE_BRANCH ||
        between->kind != SHAPE_CODE || between->succ[0] != u->done ||
        !leads_to(s, between->succ[1], u->main))
        return false;
    u->skip = between->pred[between->pred[0] == u->rest_latch];
    const ptx_flow_block *skip = &s->blocks[u->skip];
    return skip->kind == SHAPE_CODE && skip->end == SHAPE_BRANCH &&
           skip->succ[0] == u->between && leads_to(s, skip->succ[1], u->rest) &&
           find_compare(s, u) && find_step(s, u) && count_insns(s, u) <= INSNS_MAX;
}

/* ---- trying ----------------------------------------------------------------------- */

/* From the end of `skip` on, as written, or with the first loop for all rounds; to what
 * comes after, or to the `stop`-th time that the second loop begins a round. */
static bool run(ptx_trial *t, const unrolled *u, bool rerolled, uint32_t stop)
{
    const ptx_shape *s = t->s;
    const uint32_t go_on = s->regs[s->blocks[u->main_latch].reg].def;
    uint32_t at = u->skip;
    while (!t->failed && at != u->done && at != SHAPE_EXIT) {
        if (at == s->loops[u->main].head && stop > 0 && --stop == 0)
            return true;
        ptx_trial_block(t, at);
        if (rerolled && at == u->skip) {
            at = s->blocks[at].succ[1];
        } else if (rerolled && at == u->rest_latch) {
            ptx_trial_insn(t, go_on);
            at = ptx_trial_value(t, s->blocks[u->main_latch].reg) & 1
                     ? s->loops[u->rest].head
                     : u->done;
        } else {
            at = ptx_trial_next(t, at);
        }
    }
    return !t->failed && at == u->done && stop == 0;
}

/* The index of a thread, at the start. */
static uint64_t first_index(ptx_trial *t, const unrolled *u, uint64_t seed)
{
    ptx_trial_begin(t, u->skip, seed, SHAPE_NONE, 0);
    const ptx_shape *s = t->s;
    if (ptx_bit(s->live_in[u->skip], u->index))
        return ptx_trial_value(t, u->index);
    ptx_trial_block(t, u->skip);
    for (uint32_t b = s->blocks[u->skip].succ[1]; b != s->loops[u->rest].head;
         b = s->blocks[b].succ[0])
        ptx_trial_block(t, b);
    return ptx_trial_value(t, u->index);
}

/* A bound with which the thread makes so many rounds: the least, the largest, or another. */
static uint64_t bound_for(const unrolled *u, uint64_t first, uint64_t count, uint64_t nth)
{
    const uint64_t least = first + (count - 1) * u->step + (u->is_equal ? 0 : 1);
    return least + (nth % 3 == 0 ? 0 : nth % 3 == 1 ? u->step - 1 : nth * 977 % u->step);
}

/* How many rounds of the first loop are one of the second: by how far the index moves. */
static bool find_rounds(ptx_trial *t, unrolled *u)
{
    uint64_t at[2];
    for (uint32_t k = 0; k < 2; k++) {
        const uint64_t first = first_index(t, u, 1);
        ptx_trial_begin(t, u->skip, 1, u->bound, bound_for(u, first, 4 * ROUNDS_MAX, 0));
        if (!run(t, u, false, k + 1))
            return false;
        at[k] = ptx_trial_value(t, u->index);
    }
    u->rounds = (at[1] - at[0]) / u->step;
    return (at[1] - at[0]) % u->step == 0 && u->rounds >= 2 && u->rounds <= ROUNDS_MAX;
}

/* Both ways leave the same. */
static bool same(ptx_trial *t, ptx_trial *other, const unrolled *u, uint64_t nth)
{
    const uint64_t seed = nth + 100, count = nth / 3 + 1, first = first_index(t, u, seed);
    const uint64_t bound = bound_for(u, first, count, nth);
    const ptx_shape *s = t->s;
    ptx_trial_begin(t, u->skip, seed, u->bound, bound);
    ptx_trial_begin(other, u->skip, seed, u->bound, bound);
    if (!run(t, u, false, 0) || !run(other, u, true, 0) || t->stores != other->stores ||
        t->loads != other->loads)
        return false;
    for (uint32_t r = 0; u->done != SHAPE_EXIT && r < s->function->register_count; r++)
        if (ptx_bit(s->live_in[u->done], r) &&
            ptx_trial_value(t, r) != ptx_trial_value(other, r))
            return false;
    return true;
}

/* Of a large count: where the second loop begins, whole rounds of it are left. */
static bool leaves_whole(ptx_trial *t, const unrolled *u, uint64_t seed)
{
    const uint64_t first = first_index(t, u, seed);
    const uint64_t count = 2 * ROUNDS_MAX + (seed * 0x9e3779b97f4a7c15u >> 34) / u->step;
    const uint64_t bound = bound_for(u, first, count, seed);
    if (bound >= INT32_MAX)
        return true; /* the index may wrap */
    ptx_trial_begin(t, u->skip, seed, u->bound, bound);
    if (!run(t, u, false, 1))
        return false;
    const uint64_t made = (ptx_trial_value(t, u->index) - first) / u->step;
    return made < u->rounds && (count - made) % u->rounds == 0;
}

/* A thread without rounds does not come here: a branch before says so. */
static bool is_guarded(ptx_trial *t, const unrolled *u)
{
    const ptx_shape *s = t->s;
    uint32_t at = s->blocks[u->skip].idom;
    for (uint32_t n = 0; n < CHAIN_MAX && at != SHAPE_NONE && at != s->entry; n++)
        if (s->blocks[at].end == SHAPE_BRANCH)
            break;
        else
            at = s->blocks[at].idom;
    if (at == SHAPE_NONE || s->blocks[at].end != SHAPE_BRANCH)
        return false;
    for (uint64_t seed = 1; seed <= 8; seed++) {
        const uint64_t first = first_index(t, u, seed), least = u->is_equal ? 1 : 0;
        if (first < seed + least)
            continue;
        ptx_trial_begin(t, u->skip, seed, u->bound, first - least - (seed - 1));
        const uint32_t to = ptx_trial_next(t, at);
        if (t->failed ||
            (to != SHAPE_EXIT && (to == u->skip || ptx_dominates(s, to, u->skip))))
            return false;
    }
    return true;
}

static bool is_unrolled(ptx_trial *t, ptx_trial *other, unrolled *u)
{
    if (!is_guarded(t, u) || !find_rounds(t, u))
        return false;
    for (uint64_t nth = 0; nth < 3 * (2 * u->rounds + 3); nth++)
        if (!same(t, other, u, nth))
            return false;
    for (uint64_t seed = 1; seed <= LARGE_TRIALS; seed++)
        if (!leaves_whole(t, u, seed))
            return false;
    return true;
}

/* ---- the function with one loop --------------------------------------------------- */

typedef struct editor {
    const ptx_shape *s;
    ptx_function *to;
    uint8_t *dropped;  /* by instruction */
    uint32_t *instead; /* likewise: a comparison to write before it, + 1 */
    uint32_t *live;    /* registers that what is left reads */
    uint32_t made;
} editor;

static uint32_t branch_of(const ptx_shape *s, uint32_t block)
{
    return s->blocks[block].first + s->blocks[block].count;
}

static void drop_block(editor *e, uint32_t block)
{
    const ptx_flow_block *b = &e->s->blocks[block];
    const uint32_t end = branch_of(e->s, block);
    for (uint32_t i = b->first; i < end; i++)
        e->dropped[i] = 1;
    if (end < e->s->function->insn_count && e->s->insns[end].role == PTX_ROLE_BRANCH)
        e->dropped[end] = 1;
}

static void edit(editor *e, const unrolled *u)
{
    const ptx_shape *s = e->s;
    const uint32_t latch = branch_of(s, u->rest_latch);
    for (uint32_t n = 0; n < s->order_count; n++)
        if (ptx_in_loop(s, u->main, s->order[n]))
            drop_block(e, s->order[n]);
    for (uint32_t b = s->blocks[u->between].succ[1]; b != s->loops[u->main].head;
         b = s->blocks[b].succ[0])
        drop_block(e, b);
    e->dropped[branch_of(s, u->skip)] = 1;
    e->to->insns[branch_of(s, u->between)].guarded = 0;
    e->instead[latch] = u->compare + 1;
    e->to->insns[latch].guard = s->blocks[u->main_latch].reg;
    e->to->insns[latch].guard_negate = 0;
    e->made++;
}

static bool reads_live(editor *e, uint32_t i)
{
    bool changed = false;
    const ptx_flow_insn *info = &e->s->insns[i];
    const ptx_insn *insn = &e->to->insns[i];
    for (uint32_t k = 0; k < info->read_count; k++) {
        /* The guard of a branch may be another one now. */
        const uint32_t r = e->s->function->insns[i].guarded &&
                                   info->reads[k] == e->s->function->insns[i].guard
                               ? insn->guard
                               : info->reads[k];
        changed |= !ptx_bit(e->live, r);
        ptx_set_bit(e->live, r);
    }
    return changed;
}

/* Counters that nobody asks any more: what only computes, for nothing that is left. */
static void drop_unread(editor *e)
{
    const ptx_shape *s = e->s;
    const uint32_t count = s->function->insn_count;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < count; i++) {
            if (e->dropped[i])
                continue;
            const bool computes =
                s->insns[i].role == PTX_ROLE_PLAIN && ptx_is_cheap(s, i);
            if (!computes || ptx_bit(e->live, s->insns[i].writes[0]))
                changed |= reads_live(e, i);
            if (e->instead[i])
                changed |= reads_live(e, e->instead[i] - 1);
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (s->insns[i].role == PTX_ROLE_PLAIN && ptx_is_cheap(s, i) &&
            !ptx_bit(e->live, s->insns[i].writes[0]))
            e->dropped[i] = 1;
}

static void write_insns(editor *e)
{
    const ptx_function *from = e->s->function;
    ptx_function *to = e->to;
    ptx_insn *edited = to->insns;
    uint32_t *place = ptx_alloc(e->s->memory, from->insn_count + 1ull, sizeof(*place));
    to->insns = ptx_alloc(e->s->memory, from->insn_count, sizeof(*to->insns));
    to->insn_count = 0;
    for (uint32_t i = 0; i < from->insn_count; i++) {
        place[i] = to->insn_count;
        if (e->instead[i])
            to->insns[to->insn_count++] = edited[e->instead[i] - 1];
        if (!e->dropped[i])
            to->insns[to->insn_count++] = edited[i];
    }
    place[from->insn_count] = to->insn_count;
    for (uint32_t k = 0; k < from->label_count; k++)
        to->labels[k].insn = place[from->labels[k].insn];
}

static void begin_edit(editor *e, ptx_shape *s)
{
    const ptx_function *f = s->function;
    *e = (editor){.s = s, .to = ptx_alloc(s->memory, 1, sizeof(ptx_function))};
    *e->to = *f;
    e->to->insns = ptx_alloc(s->memory, f->insn_count, sizeof(ptx_insn));
    memcpy(e->to->insns, f->insns, f->insn_count * sizeof(ptx_insn));
    e->to->labels = ptx_alloc(s->memory, f->label_count, sizeof(ptx_label));
    memcpy(e->to->labels, f->labels, f->label_count * sizeof(ptx_label));
    e->dropped = ptx_alloc(s->memory, f->insn_count, 1);
    e->instead = ptx_alloc(s->memory, f->insn_count, sizeof(*e->instead));
    e->live = ptx_alloc(s->memory, s->reg_words, sizeof(*e->live));
}

const ptx_function *ptx_reroll(ptx_shape *s)
{
    editor e = {.made = 0};
    ptx_trial *t = NULL, *other = NULL;
    if (ptx_is_large(s) || s->irreducible)
        return s->function;
    for (uint32_t rest = 0; rest < s->loop_count; rest++)
        for (uint32_t main = 0; main < s->loop_count; main++) {
            unrolled u = {.rest = rest, .main = main};
            if (rest == main)
                continue;
            if (!s->live_in) {
                ptx_find_uniformity(s);
                ptx_find_liveness(s);
            }
            if (!find_pair(s, &u))
                continue;
            if (!t) {
                t = ptx_trial_create(s);
                other = ptx_trial_create(s);
                begin_edit(&e, s);
                s->rerolled_lines =
                    ptx_alloc(s->memory, s->loop_count, sizeof(*s->rerolled_lines));
            }
            if (!is_unrolled(t, other, &u))
                continue;
            edit(&e, &u);
            s->rerolled_lines[s->rerolled_count++] =
                s->function->insns[s->blocks[s->loops[rest].head].first].line;
        }
    if (e.made == 0)
        return s->function;
    drop_unread(&e);
    write_insns(&e);
    return e.to;
}

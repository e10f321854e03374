// SPDX-License-Identifier: Apache-2.0
/* Dominators, post-dominators and loops of one control flow graph (the iterative
 * algorithm of Cooper, Harvey and Kennedy).
 *
 * A thread that ends early does not keep the others from meeting again. So only one way
 * out counts as the end of the function: the one that most blocks lead to. Blocks that
 * cannot reach it (code that always ends early) get post-dominators among themselves, in
 * a second pass with an end of their own, and so on. */
#include "softcuda/ptx/flow/flow.h"

#include <string.h>

/* ---- dominators ------------------------------------------------------------------- */

/* One tree: `rank` grows away from the root. */
typedef struct tree {
    uint32_t *parent; /* SHAPE_NONE: not yet known */
    const uint32_t *rank;
} tree;

static uint32_t meet(const tree *t, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (t->rank[a] > t->rank[b])
            a = t->parent[a];
        while (t->rank[b] > t->rank[a])
            b = t->parent[b];
    }
    return a;
}

static void find_dominators(ptx_shape *s)
{
    uint32_t *parent = ptx_alloc(s->memory, s->block_count, sizeof(*parent));
    uint32_t *rank = ptx_alloc(s->memory, s->block_count, sizeof(*rank));
    const tree t = {parent, rank};
    for (uint32_t b = 0; b < s->block_count; b++) {
        parent[b] = SHAPE_NONE;
        rank[b] = s->blocks[b].order;
    }
    parent[s->entry] = s->entry;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < s->order_count; i++) {
            const uint32_t b = s->order[i];
            uint32_t idom = SHAPE_NONE;
            for (uint32_t k = 0; k < s->blocks[b].pred_count; k++) {
                const uint32_t p = s->blocks[b].pred[k];
                if (parent[p] != SHAPE_NONE)
                    idom = idom == SHAPE_NONE ? p : meet(&t, idom, p);
            }
            changed |= parent[b] != idom;
            parent[b] = idom;
        }
    }
    for (uint32_t i = 0; i < s->order_count; i++)
        s->blocks[s->order[i]].idom = parent[s->order[i]];
}

bool ptx_dominates(const ptx_shape *s, uint32_t a, uint32_t b)
{
    while (s->blocks[b].order > s->blocks[a].order)
        b = s->blocks[b].idom;
    return a == b;
}

/* ---- post-dominators -------------------------------------------------------------- */

typedef struct ends {
    uint8_t *pass; /* by block: in which pass it was reached, 0: not yet */
    uint8_t current;
    uint32_t *stack, *next, *post;
    uint32_t *rank, *parent;
} ends;

static bool may_exit(const ptx_shape *s, uint32_t b)
{
    for (uint32_t k = 0; k < s->blocks[b].succ_count; k++)
        if (s->blocks[b].succ[k] == SHAPE_EXIT)
            return true;
    return false;
}

/* Walks edges backwards from `root` over blocks of no pass yet: marks them with `mark`
 * and lists them in postorder; returns how many. */
static uint32_t walk_back(const ptx_shape *s, ends *e, uint32_t root, uint8_t mark)
{
    uint32_t depth = 0, count = 0;
    e->stack[depth++] = root;
    e->pass[root] = mark;
    e->next[root] = 0;
    while (depth > 0) {
        const uint32_t b = e->stack[depth - 1];
        if (e->next[b] == s->blocks[b].pred_count) {
            e->post[count++] = b;
            depth--;
            continue;
        }
        const uint32_t p = s->blocks[b].pred[e->next[b]++];
        if (e->pass[p] != 0)
            continue;
        e->pass[p] = mark;
        e->next[p] = 0;
        e->stack[depth++] = p;
    }
    return count;
}

/* The exit that most blocks lead to; the last of equals. */
static uint32_t best_exit(const ptx_shape *s, ends *e)
{
    uint32_t best = SHAPE_NONE, most = 0, tried = 0;
    for (uint32_t b = s->block_count; b-- > 0;) {
        if (!s->blocks[b].reachable || e->pass[b] != 0 || !may_exit(s, b))
            continue;
        const uint32_t count = walk_back(s, e, b, 255);
        for (uint32_t i = 0; i < count; i++)
            e->pass[e->post[i]] = 0;
        if (count > most) {
            best = b;
            most = count;
        }
        if (++tried == 64) /* hostile input: any exit is right, only slower */
            break;
    }
    return best;
}

static void post_pass(ptx_shape *s, ends *e, uint32_t root)
{
    const uint32_t count = walk_back(s, e, root, e->current);
    const tree t = {e->parent, e->rank};
    for (uint32_t i = 0; i < count; i++) {
        e->rank[e->post[i]] = count - 1 - i;
        e->parent[e->post[i]] = SHAPE_NONE;
    }
    e->parent[root] = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = count - 1; i-- > 0;) {
            const uint32_t b = e->post[i];
            uint32_t to = SHAPE_NONE;
            for (uint32_t k = 0; k < s->blocks[b].succ_count; k++) {
                const uint32_t n = s->blocks[b].succ[k];
                if (n == SHAPE_EXIT || e->pass[n] != e->current ||
                    e->parent[n] == SHAPE_NONE)
                    continue;
                to = to == SHAPE_NONE ? n : meet(&t, to, n);
            }
            changed |= e->parent[b] != to;
            e->parent[b] = to;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        s->blocks[e->post[i]].ipdom =
            e->post[i] == root ? SHAPE_EXIT : e->parent[e->post[i]];
}

static void find_post_dominators(ptx_shape *s)
{
    ends e = {.pass = ptx_alloc(s->memory, s->block_count, 1),
              .stack = ptx_alloc(s->memory, s->block_count + 1, sizeof(uint32_t)),
              .next = ptx_alloc(s->memory, s->block_count, sizeof(uint32_t)),
              .post = ptx_alloc(s->memory, s->block_count, sizeof(uint32_t)),
              .rank = ptx_alloc(s->memory, s->block_count, sizeof(uint32_t)),
              .parent = ptx_alloc(s->memory, s->block_count, sizeof(uint32_t))};
    for (uint32_t b = 0; b < s->block_count; b++)
        s->blocks[b].ipdom = SHAPE_NONE;
    for (e.current = 1; e.current < 200; e.current++) {
        const uint32_t root = best_exit(s, &e);
        if (root == SHAPE_NONE)
            break;
        post_pass(s, &e, root);
    }
}

void ptx_mark_influence(const ptx_shape *s, uint32_t block, uint32_t *map)
{
    const uint32_t stop = s->blocks[block].ipdom;
    uint32_t *stack = ptx_stack(s->memory, s->block_count + 1ull);
    uint32_t depth = 0;
    for (uint32_t from = block;;) {
        const ptx_flow_block *b = &s->blocks[from];
        for (uint32_t k = 0; k < b->succ_count; k++) {
            const uint32_t to = b->succ[k];
            if (to == SHAPE_EXIT || to == stop || ptx_bit(map, to))
                continue;
            ptx_set_bit(map, to);
            stack[depth++] = to;
        }
        if (depth == 0)
            return;
        from = stack[--depth];
    }
}

/* ---- loops ------------------------------------------------------------------------ */

/* The natural loop of the back edges into `head`. */
static void fill_loop(ptx_shape *s, ptx_flow_loop *loop, uint32_t *stack)
{
    uint32_t depth = 0;
    ptx_set_bit(loop->blocks, loop->head);
    const ptx_flow_block *head = &s->blocks[loop->head];
    for (uint32_t k = 0; k < head->pred_count; k++) {
        const uint32_t p = head->pred[k];
        if (ptx_dominates(s, loop->head, p) && !ptx_bit(loop->blocks, p)) {
            ptx_set_bit(loop->blocks, p);
            stack[depth++] = p;
        }
    }
    while (depth > 0) {
        const ptx_flow_block *b = &s->blocks[stack[--depth]];
        for (uint32_t k = 0; k < b->pred_count; k++) {
            if (ptx_bit(loop->blocks, b->pred[k]))
                continue;
            ptx_set_bit(loop->blocks, b->pred[k]);
            stack[depth++] = b->pred[k];
        }
    }
}

static bool is_head(ptx_shape *s, uint32_t b)
{
    bool head = false;
    for (uint32_t k = 0; k < s->blocks[b].pred_count; k++) {
        const uint32_t p = s->blocks[b].pred[k];
        if (s->blocks[p].order < s->blocks[b].order)
            continue;
        if (ptx_dominates(s, b, p))
            head = true;
        else
            s->irreducible = 1;
    }
    return head;
}

bool ptx_in_loop(const ptx_shape *s, uint32_t loop, uint32_t block)
{
    return ptx_bit(s->loops[loop].blocks, block);
}

static void ptx_find_loops_(ptx_shape *s)
{
    uint32_t count = 0;
    uint32_t *stack = ptx_alloc(s->memory, s->block_count + 1, sizeof(*stack));
    s->loop_count = 0;
    for (uint32_t i = 0; i < s->order_count; i++)
        count += is_head(s, s->order[i]);
    s->loops = ptx_alloc(s->memory, count, sizeof(*s->loops));
    for (uint32_t b = 0; b < s->block_count; b++)
        s->blocks[b].loop = SHAPE_NONE;
    /* Heads in order: an outer loop comes before the loops in it. */
    for (uint32_t i = 0; i < s->order_count; i++) {
        const uint32_t b = s->order[i];
        if (!is_head(s, b))
            continue;
        const uint32_t index = s->loop_count++;
        ptx_flow_loop *loop = &s->loops[index];
        *loop = (ptx_flow_loop){.head = b, .parent = s->blocks[b].loop};
        loop->blocks = ptx_alloc(s->memory, s->block_words, sizeof(uint32_t));
        fill_loop(s, loop, stack);
        for (uint32_t k = 0; k < s->block_count; k++)
            if (ptx_bit(loop->blocks, k))
                s->blocks[k].loop = index;
    }
}

static uint32_t add_block(ptx_shape *s, uint32_t to)
{
    const uint32_t fresh = s->block_count++;
    s->blocks[fresh] = (ptx_flow_block){
        .first = s->blocks[to].first, .line = s->blocks[to].line, .succ_count = 1};
    s->blocks[fresh].succ = ptx_alloc(s->memory, 1, sizeof(uint32_t));
    s->blocks[fresh].succ[0] = to;
    return fresh;
}

/* Where loops have several entries, only the function's entry is kept out of them. */
static bool add_entry(ptx_shape *s)
{
    s->entry = add_block(s, s->entry);
    return true;
}

/* Every loop gets an empty block before it, so that a region that starts there holds the
 * whole loop. */
static bool add_preheaders(ptx_shape *s)
{
    const uint32_t before = s->block_count;
    for (uint32_t l = 0; l < s->loop_count; l++) {
        const uint32_t head = s->loops[l].head;
        const uint32_t fresh = add_block(s, head);
        for (uint32_t k = 0; k < s->blocks[head].pred_count; k++) {
            const uint32_t p = s->blocks[head].pred[k];
            for (uint32_t n = 0; n < s->blocks[p].succ_count; n++)
                if (s->blocks[p].succ[n] == head && !ptx_in_loop(s, l, p))
                    s->blocks[p].succ[n] = fresh;
        }
        if (s->entry == head)
            s->entry = fresh;
    }
    return s->block_count > before;
}

void ptx_find_dominators(ptx_shape *s)
{
    find_dominators(s);
    ptx_find_loops_(s);
    if (s->irreducible ? add_entry(s) : add_preheaders(s)) {
        ptx_order_blocks(s);
        find_dominators(s);
        ptx_find_loops_(s);
    }
    find_post_dominators(s);
}

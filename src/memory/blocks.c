// SPDX-License-Identifier: Apache-2.0
/* Blocks of a pool: lanes, splits, merges. */
#include "memory/blocks.h"

#include <assert.h>
#include <string.h>

gph_status gphi_blocks_init(struct gphi_blocks *b, gph_allocator heap)
{
    *b = (struct gphi_blocks){.unused = GPHI_NIL, .unused_uses = GPHI_NIL, .seed = 1};
    gphi_vec_init(&b->items, heap, sizeof(struct gphi_block));
    gphi_vec_init(&b->segments, heap, sizeof(struct gphi_segment));
    gphi_vec_init(&b->lanes, heap, sizeof(struct gphi_lane));
    gphi_vec_init(&b->uses, heap, sizeof(struct gphi_use));
    gphi_map_init(&b->live, heap);
    uint32_t lane = 0;
    return gphi_blocks_lane(b, GPHI_LANE_ANY, GPHI_NIL, &lane);
}

void gphi_blocks_fini(struct gphi_blocks *b)
{
    gphi_vec_fini(&b->items);
    gphi_vec_fini(&b->segments);
    gphi_vec_fini(&b->lanes);
    gphi_vec_fini(&b->uses);
    gphi_map_fini(&b->live);
}

/* Few lanes, so a list is looked through; they are never taken out. */
gph_status gphi_blocks_lane(struct gphi_blocks *b, enum gphi_lane_kind kind,
                            uint32_t stream, uint32_t *out)
{
    for (uint32_t i = 0; i < b->lanes.count; i++) {
        const struct gphi_lane *lane = gphi_lane_at(b, i);
        if (lane->kind == kind && lane->stream == stream) {
            *out = i;
            return GPH_OK;
        }
    }
    if (gphi_vec_push(&b->lanes, &(struct gphi_lane){.root = GPHI_NIL,
                                                     .stream = stream,
                                                     .kind = kind}) != GPH_OK)
        return GPH_E_NO_MEMORY;
    *out = (uint32_t)(b->lanes.count - 1);
    return GPH_OK;
}

/* ---- block numbers ---- */

/* So that splits, merges and frees cannot fail halfway. */
gph_status gphi_blocks_reserve(struct gphi_blocks *b, uint32_t more)
{
    if (b->items.count + more >= GPHI_NIL)
        return GPH_E_NO_MEMORY;
    if (b->unused_count < more &&
        gphi_vec_reserve(&b->items, more - b->unused_count) != GPH_OK)
        return GPH_E_NO_MEMORY;
    return gphi_map_reserve(&b->live, more);
}

/* Numbers stay, addresses of blocks do not: the array may have grown. */
static uint32_t new_block(struct gphi_blocks *b)
{
    uint32_t i = b->unused;
    if (i != GPHI_NIL) {
        b->unused = gphi_block_at(b, i)->next;
        b->unused_count--;
    } else {
        i = (uint32_t)b->items.count;
        gphi_vec_add(&b->items, 1); /* reserved */
    }
    *gphi_block_at(b, i) = (struct gphi_block){.previous = GPHI_NIL,
                                               .next = GPHI_NIL,
                                               .uses = GPHI_NIL,
                                               .lane = GPHI_NIL,
                                               .left = GPHI_NIL,
                                               .right = GPHI_NIL,
                                               .range = GPHI_NIL,
                                               .read_range = GPHI_NIL};
    return i;
}

static void drop_block(struct gphi_blocks *b, uint32_t i)
{
    gphi_blocks_drop_uses(b, i);
    struct gphi_block *block = gphi_block_at(b, i);
    block->state = GPHI_BLOCK_UNUSED;
    block->next = b->unused;
    b->unused = i;
    b->unused_count++;
}

/* ---- lanes ---- */

/* By size, so that the first that is large enough is the best fit; then by address. */
static bool is_before(const struct gphi_block *x, const struct gphi_block *y)
{
    return x->bytes != y->bytes ? x->bytes < y->bytes : x->address < y->address;
}

/* The lowest position in a subtree: a search skips it if even that is too high. */
static uint64_t least_of(const struct gphi_blocks *b, uint32_t root)
{
    return root == GPHI_NIL ? GPHI_ANY : gphi_block_at(b, root)->least;
}

/* After each change of a child, from below. */
static void refresh(struct gphi_blocks *b, uint32_t root)
{
    struct gphi_block *r = gphi_block_at(b, root);
    const uint64_t left = least_of(b, r->left), right = least_of(b, r->right);
    r->least = left < right ? left : right;
    if (r->position < r->least)
        r->least = r->position;
}

/* Both halves of a tree: before `block`, and not. Depth is logarithmic. */
static void split_tree(struct gphi_blocks *b, uint32_t root, uint32_t block,
                       uint32_t *before, uint32_t *after)
{
    if (root == GPHI_NIL) {
        *before = *after = GPHI_NIL;
        return;
    }
    struct gphi_block *r = gphi_block_at(b, root);
    if (is_before(r, gphi_block_at(b, block))) {
        split_tree(b, r->right, block, &r->right, after);
        *before = root;
    } else {
        split_tree(b, r->left, block, before, &r->left);
        *after = root;
    }
    refresh(b, root);
}

/* Weights are drawn, so that the tree is as deep as a random one (a treap). */
static uint32_t merge_trees(struct gphi_blocks *b, uint32_t before, uint32_t after)
{
    if (before == GPHI_NIL)
        return after;
    if (after == GPHI_NIL)
        return before;
    struct gphi_block *x = gphi_block_at(b, before), *y = gphi_block_at(b, after);
    if (x->weight >= y->weight) {
        x->right = merge_trees(b, x->right, after);
        refresh(b, before);
        return before;
    }
    y->left = merge_trees(b, before, y->left);
    refresh(b, after);
    return after;
}

static uint32_t insert_tree(struct gphi_blocks *b, uint32_t root, uint32_t block)
{
    struct gphi_block *x = gphi_block_at(b, block);
    if (root == GPHI_NIL || x->weight > gphi_block_at(b, root)->weight) {
        split_tree(b, root, block, &x->left, &x->right);
        refresh(b, block);
        return block;
    }
    struct gphi_block *r = gphi_block_at(b, root);
    if (is_before(x, r))
        r->left = insert_tree(b, r->left, block);
    else
        r->right = insert_tree(b, r->right, block);
    refresh(b, root);
    return root;
}

static uint32_t remove_tree(struct gphi_blocks *b, uint32_t root, uint32_t block)
{
    struct gphi_block *r = gphi_block_at(b, root);
    if (root == block)
        return merge_trees(b, r->left, r->right);
    if (is_before(gphi_block_at(b, block), r))
        r->left = remove_tree(b, r->left, block);
    else
        r->right = remove_tree(b, r->right, block);
    refresh(b, root);
    return root;
}

/* A generator of its own: the same calls give the same addresses in each run. */
static void enter_lane(struct gphi_blocks *b, uint32_t i, uint32_t lane,
                       uint64_t position)
{
    struct gphi_block *block = gphi_block_at(b, i);
    b->seed = b->seed * 1664525u + 1013904223u;
    block->weight = b->seed >> 4;
    block->state = GPHI_BLOCK_FREE;
    block->lane = lane;
    block->position = block->least = position;
    block->left = block->right = GPHI_NIL;
    struct gphi_lane *l = gphi_lane_at(b, lane);
    l->root = insert_tree(b, l->root, i);
}

static void leave_lane(struct gphi_blocks *b, uint32_t i)
{
    struct gphi_lane *l = gphi_lane_at(b, gphi_block_at(b, i)->lane);
    l->root = remove_tree(b, l->root, i);
    gphi_block_at(b, i)->lane = GPHI_NIL;
}

/* To the left while something there may fit, so the result is the smallest of all. */
static uint32_t fit_tree(const struct gphi_blocks *b, uint32_t root, uint64_t bytes,
                         uint64_t position)
{
    while (root != GPHI_NIL) {
        const struct gphi_block *r = gphi_block_at(b, root);
        if (r->least > position)
            return GPHI_NIL;
        if (r->bytes >= bytes) {
            const uint32_t smaller = fit_tree(b, r->left, bytes, position);
            if (smaller != GPHI_NIL)
                return smaller;
            if (r->position <= position)
                return root;
        }
        root = r->right;
    }
    return GPHI_NIL;
}

uint32_t gphi_blocks_fit(const struct gphi_blocks *b, uint32_t lane, uint64_t bytes,
                         uint64_t position)
{
    return fit_tree(b, gphi_lane_at(b, lane)->root, bytes, position);
}

/* ---- where ---- */

/* Segments are sorted by address. */
uint32_t gphi_blocks_segment(const struct gphi_blocks *b, uint64_t address)
{
    const struct gphi_segment *s = b->segments.items;
    size_t low;
    GPHI_HALVE(low, b->segments.count, at, s[at].address + s[at].bytes <= address);
    return low < b->segments.count && s[low].address <= address ? (uint32_t)low
                                                                : GPHI_NIL;
}

/* A live block's first byte is found at once; others along their segment. */
uint32_t gphi_blocks_holding(const struct gphi_blocks *b, uint64_t address)
{
    const uint32_t segment = gphi_blocks_segment(b, address);
    if (segment == GPHI_NIL)
        return GPHI_NIL;
    const uint32_t live = gphi_blocks_live(b, address);
    uint32_t i = live != GPHI_NIL ? live : gphi_segment_at(b, segment)->first;
    while (address >= gphi_block_at(b, i)->address + gphi_block_at(b, i)->bytes)
        i = gphi_block_at(b, i)->next;
    return i;
}

uint32_t gphi_blocks_live(const struct gphi_blocks *b, uint64_t address)
{
    const uint64_t *found = gphi_map_get(&b->live, address);
    return found ? (uint32_t)*found : GPHI_NIL;
}

/* ---- splits and merges ---- */

/* The segment of a block at an end of it. */
static struct gphi_segment *segment_of(const struct gphi_blocks *b, uint32_t i)
{
    return gphi_segment_at(b, gphi_blocks_segment(b, gphi_block_at(b, i)->address));
}

static void link_after(struct gphi_blocks *b, uint32_t i, uint32_t fresh)
{
    struct gphi_block *block = gphi_block_at(b, i), *added = gphi_block_at(b, fresh);
    added->previous = i;
    added->next = block->next;
    if (block->next != GPHI_NIL)
        gphi_block_at(b, block->next)->previous = fresh;
    else
        segment_of(b, i)->last = fresh;
    block->next = fresh;
}

/* The next block, which is in no lane either, becomes part of this one. */
static void absorb_next(struct gphi_blocks *b, uint32_t i)
{
    struct gphi_block *block = gphi_block_at(b, i);
    const uint32_t gone = block->next;
    const uint32_t after = gphi_block_at(b, gone)->next;
    if (after != GPHI_NIL)
        gphi_block_at(b, after)->previous = i;
    else
        segment_of(b, i)->last = i;
    block->next = after;
    block->bytes += gphi_block_at(b, gone)->bytes;
    drop_block(b, gone);
}

/* The back of a block that is in no lane becomes a block of its own. */
static uint32_t cut(struct gphi_blocks *b, uint32_t i, uint64_t bytes)
{
    const uint32_t rest = new_block(b);
    struct gphi_block *block = gphi_block_at(b, i), *back = gphi_block_at(b, rest);
    back->address = block->address + bytes;
    back->bytes = block->bytes - bytes;
    block->bytes = bytes;
    link_after(b, i, rest);
    return rest;
}

/* Only within a lane: neighbors of another wait for other work. */
static bool merges(const struct gphi_blocks *b, uint32_t i, uint32_t lane)
{
    return i != GPHI_NIL && gphi_block_at(b, i)->state == GPHI_BLOCK_FREE &&
           gphi_block_at(b, i)->lane == lane;
}

/* Puts a block that is in no lane into one, with its neighbors there. */
static uint32_t enter_merged(struct gphi_blocks *b, uint32_t i, uint32_t lane,
                             uint64_t position)
{
    const uint32_t before = gphi_block_at(b, i)->previous;
    if (merges(b, before, lane)) {
        if (gphi_block_at(b, before)->position > position)
            position = gphi_block_at(b, before)->position;
        leave_lane(b, before);
        absorb_next(b, before);
        i = before;
    }
    const uint32_t next = gphi_block_at(b, i)->next;
    if (merges(b, next, lane)) {
        if (gphi_block_at(b, next)->position > position)
            position = gphi_block_at(b, next)->position;
        leave_lane(b, next);
        absorb_next(b, i);
    }
    enter_lane(b, i, lane, position);
    return i;
}

static void make_live(struct gphi_blocks *b, uint32_t i, uint64_t requested)
{
    struct gphi_block *block = gphi_block_at(b, i);
    block->state = GPHI_BLOCK_LIVE;
    block->requested = requested;
    block->lane = GPHI_NIL;
    block->owner = block->read_by = 0;
    block->range = block->read_range = GPHI_NIL;
    block->stream = NULL;
    b->live_bytes += block->bytes;
    b->requested_bytes += requested;
    if (b->live_bytes > b->peak_bytes)
        b->peak_bytes = b->live_bytes;
    const gph_status added = gphi_map_set(&b->live, block->address, i);
    assert(added == GPH_OK); /* reserved */
    (void)added;
}

static void make_dead(struct gphi_blocks *b, uint32_t i)
{
    const struct gphi_block *block = gphi_block_at(b, i);
    b->live_bytes -= block->bytes;
    b->requested_bytes -= block->requested;
    gphi_map_remove(&b->live, block->address);
}

void gphi_blocks_take(struct gphi_blocks *b, uint32_t i, uint64_t bytes,
                      uint64_t requested)
{
    const uint32_t lane = gphi_block_at(b, i)->lane;
    const uint64_t position = gphi_block_at(b, i)->position;
    leave_lane(b, i);
    if (gphi_block_at(b, i)->bytes > bytes)
        enter_lane(b, cut(b, i, bytes), lane, position);
    make_live(b, i, requested);
}

uint32_t gphi_blocks_take_at(struct gphi_blocks *b, uint32_t i, uint64_t address,
                             uint64_t bytes, uint64_t requested)
{
    uint32_t lane = gphi_block_at(b, i)->lane;
    uint64_t position = gphi_block_at(b, i)->position;
    const uint64_t before = address - gphi_block_at(b, i)->address;
    leave_lane(b, i);
    if (before > 0) {
        const uint32_t rest = cut(b, i, before);
        enter_lane(b, i, lane, position);
        i = rest;
    }
    while (gphi_block_at(b, i)->bytes < bytes) {
        const uint32_t next = gphi_block_at(b, i)->next;
        lane = gphi_block_at(b, next)->lane;
        position = gphi_block_at(b, next)->position;
        leave_lane(b, next);
        absorb_next(b, i);
    }
    if (gphi_block_at(b, i)->bytes > bytes)
        enter_lane(b, cut(b, i, bytes), lane, position);
    make_live(b, i, requested);
    return i;
}

uint32_t gphi_blocks_put(struct gphi_blocks *b, uint32_t i, uint32_t lane,
                         uint64_t position)
{
    make_dead(b, i);
    gphi_blocks_drop_uses(b, i);
    return enter_merged(b, i, lane, position);
}

void gphi_blocks_move(struct gphi_blocks *b, uint32_t from, uint64_t upto, uint32_t to,
                      uint64_t position)
{
    uint32_t i;
    while ((i = gphi_blocks_fit(b, from, 0, upto)) != GPHI_NIL) {
        leave_lane(b, i);
        enter_merged(b, i, to, position);
    }
}

uint32_t gphi_blocks_join(struct gphi_blocks *b, uint32_t first, uint32_t last,
                          uint32_t lane, uint64_t position)
{
    const uint64_t end = gphi_block_at(b, last)->address + gphi_block_at(b, last)->bytes;
    leave_lane(b, first);
    while (gphi_block_at(b, first)->address + gphi_block_at(b, first)->bytes < end) {
        leave_lane(b, gphi_block_at(b, first)->next);
        absorb_next(b, first);
    }
    return enter_merged(b, first, lane, position);
}

/* ---- pages ---- */

/* Where in `segments` one at this address belongs. */
static uint32_t segment_place(const struct gphi_blocks *b, uint64_t address)
{
    uint32_t i = 0;
    while (i < b->segments.count && gphi_segment_at(b, i)->address < address)
        i++;
    return i;
}

void gphi_blocks_add_pages(struct gphi_blocks *b, uint64_t address, uint64_t bytes,
                           uint32_t lane, uint64_t position)
{
    const uint32_t at = segment_place(b, address);
    const uint32_t i = new_block(b);
    gphi_block_at(b, i)->address = address;
    gphi_block_at(b, i)->bytes = bytes;
    gphi_vec_add(&b->segments, 1); /* reserved */
    struct gphi_segment *s = gphi_segment_at(b, at);
    memmove(s + 1, s, (b->segments.count - 1 - at) * sizeof(*s));
    *s = (struct gphi_segment){address, bytes, i, i};
    if (at + 1 < b->segments.count && s[1].address == address + bytes) {
        gphi_block_at(b, i)->next = s[1].first;
        gphi_block_at(b, s[1].first)->previous = i;
        s->bytes += s[1].bytes;
        s->last = s[1].last;
        gphi_vec_remove(&b->segments, at + 1);
    }
    if (at > 0 && s[-1].address + s[-1].bytes == address) {
        gphi_block_at(b, i)->previous = s[-1].last;
        gphi_block_at(b, s[-1].last)->next = i;
        s[-1].bytes += s->bytes;
        s[-1].last = s->last;
        gphi_vec_remove(&b->segments, at);
    }
    enter_merged(b, i, lane, position);
}

void gphi_blocks_drop_pages(struct gphi_blocks *b, uint32_t segment, uint64_t bytes)
{
    struct gphi_segment *s = gphi_segment_at(b, segment);
    const uint32_t i = s->last;
    struct gphi_block *block = gphi_block_at(b, i);
    const uint32_t lane = block->lane;
    const uint64_t position = block->position;
    leave_lane(b, i);
    s->bytes -= bytes;
    block->bytes -= bytes;
    if (block->bytes > 0) {
        enter_lane(b, i, lane, position);
        return;
    }
    s->last = block->previous;
    if (s->last != GPHI_NIL)
        gphi_block_at(b, s->last)->next = GPHI_NIL;
    drop_block(b, i);
    if (s->bytes == 0)
        gphi_vec_remove(&b->segments, segment);
}

/* ---- uses ---- */

gph_status gphi_blocks_use(struct gphi_blocks *b, uint32_t block, CUstream stream,
                           bool is_captured)
{
    for (uint32_t i = gphi_block_at(b, block)->uses; i != GPHI_NIL;
         i = gphi_use_at(b, i)->next)
        if (gphi_use_at(b, i)->stream == stream &&
            gphi_use_at(b, i)->is_captured == is_captured)
            return GPH_OK;
    uint32_t i = b->unused_uses;
    if (i != GPHI_NIL) {
        b->unused_uses = gphi_use_at(b, i)->next;
    } else {
        i = (uint32_t)b->uses.count;
        if (!gphi_vec_add(&b->uses, 1))
            return GPH_E_NO_MEMORY;
    }
    *gphi_use_at(b, i) =
        (struct gphi_use){stream, gphi_block_at(b, block)->uses, is_captured};
    gphi_block_at(b, block)->uses = i;
    return GPH_OK;
}

void gphi_blocks_drop_uses(struct gphi_blocks *b, uint32_t block)
{
    gphi_blocks_drop_use_list(b, &gphi_block_at(b, block)->uses, false);
}

void gphi_blocks_drop_use_list(struct gphi_blocks *b, uint32_t *list, bool only_captured)
{
    while (*list != GPHI_NIL) {
        const uint32_t i = *list;
        struct gphi_use *use = gphi_use_at(b, i);
        if (only_captured && !use->is_captured) {
            list = &use->next;
            continue;
        }
        *list = use->next;
        use->next = b->unused_uses;
        b->unused_uses = i;
    }
}

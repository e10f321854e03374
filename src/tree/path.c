// SPDX-License-Identifier: Apache-2.0
/* Where a tree has got to: the path's outputs, who holds them, the blocks under them, and
 * what of it is in the pool's books.
 *
 * Slots and blocks are numbered along the path. Slots of eager calls are in a table of
 * their own, and used again when nobody holds them; they, too, end with the path. A
 * handle names its call, and calls are numbered for good: one comparison says whether
 * its path is the current one, a second one whether its slot is still its own. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "tree/tree.h"
#include <string.h>

static struct gphi_tree_table *table_of(gph_tree *tree, uint32_t number)
{
    return (number & GPHI_TREE_EAGER_BIT) != 0 ? &tree->eager : &tree->path;
}

static struct gphi_tree_slot *slot_at(const gph_tree *tree, uint32_t number)
{
    const struct gphi_tree_table *table =
        (number & GPHI_TREE_EAGER_BIT) != 0 ? &tree->eager : &tree->path;
    return gphi_vec_at(&table->slots, number & ~GPHI_TREE_EAGER_BIT);
}

static struct gphi_tree_block *block_at(gph_tree *tree, uint32_t number)
{
    return gphi_vec_at(&table_of(tree, number)->blocks, number & ~GPHI_TREE_EAGER_BIT);
}

static uint64_t *live_words(const gph_tree *tree)
{
    return tree->live.items;
}

const gph_tensor *gphi_tree_slot_tensor(const gph_tree *tree, uint32_t slot)
{
    const struct gphi_tree_slot *at = slot_at(tree, slot);
    if (at->tensor)
        return at->tensor;
    const struct gphi_tree_table *table =
        (slot & GPHI_TREE_EAGER_BIT) != 0 ? &tree->eager : &tree->path;
    return gphi_vec_at(&table->own, slot & ~GPHI_TREE_EAGER_BIT);
}

/* ---- handles ---- */

const struct gphi_tree_slot *gphi_tree_slot_of(const gph_tree *tree,
                                               const gph_tree_output *output)
{
    const struct gphi_tree_table *table =
        (output->slot & GPHI_TREE_EAGER_BIT) != 0 ? &tree->eager : &tree->path;
    const uint32_t index = output->slot & ~GPHI_TREE_EAGER_BIT;
    if (output->call < tree->path_call || output->tree != tree->cookie ||
        index >= table->slots.count)
        return NULL;
    const struct gphi_tree_slot *slot = gphi_vec_at(&table->slots, index);
    return slot->call == output->call && slot->holders != 0 ? slot : NULL;
}

/* The begin of the path that wrote over what call `call` had made: NULL if none has begun
 * since, or it is forgotten. */
static const struct gphi_tree_start *start_after(const gph_tree *tree, uint64_t call,
                                                 bool *is_forgotten)
{
    const uint64_t oldest =
        tree->start_count > GPHI_TREE_STARTS ? tree->start_count - GPHI_TREE_STARTS : 0;
    size_t low;
    GPHI_HALVE(low, tree->start_count - oldest, at,
               tree->starts[(oldest + at) & (GPHI_TREE_STARTS - 1)].call <= call);
    /* The oldest that is remembered need not be the first one after the call. */
    *is_forgotten = low == 0 && oldest != 0;
    if (oldest + low == tree->start_count || *is_forgotten)
        return NULL;
    return &tree->starts[(oldest + low) & (GPHI_TREE_STARTS - 1)];
}

static gph_status fail_overwritten(const gph_tree *tree, const gph_tree_output *output,
                                   const char *maker, gph_error *error)
{
    bool is_forgotten = false;
    const struct gphi_tree_start *start = start_after(tree, output->call, &is_forgotten);
    const unsigned long long call = output->call;
    if (start)
        gphi_fail(
            error, GPH_E_STATE,
            "output %u of \"%s\", made by call %llu, was overwritten by call %llu of "
            "\"%s\", which began another path",
            output->number, maker, call, (unsigned long long)start->call,
            start->function->name);
    else if (!is_forgotten)
        gphi_fail(error, GPH_E_STATE,
                  "output %u of \"%s\", made by call %llu, was given up when its path "
                  "ended",
                  output->number, maker, call);
    else
        gphi_fail(error, GPH_E_STATE,
                  "output %u of \"%s\", made by call %llu, was overwritten more than %d "
                  "paths ago",
                  output->number, maker, call, GPHI_TREE_STARTS);
    gphi_hint(error, "copy what must outlive its step (gph_tree_output_copy), or begin "
                     "steps only where nothing is needed any more (gph_tree_step_begin)");
    return GPH_E_STATE;
}

__attribute__((cold)) static gph_status
fail_output(const gph_tree *tree, const gph_tree_output *output, gph_error *error)
{
    if (output->tree != tree->cookie || output->call == 0 ||
        output->call > tree->stats.calls || output->function == 0 ||
        output->function > tree->functions.count)
        return gphi_fail(error, GPH_E_INVALID,
                         "output of call %llu, function %u: the tree %s has made "
                         "%llu calls of %zu functions",
                         (unsigned long long)output->call, output->function,
                         output->tree != tree->cookie ? "is another one, and" : "",
                         (unsigned long long)tree->stats.calls, tree->functions.count);
    gph_tree_function *const *functions = tree->functions.items;
    const char *maker = functions[output->function - 1]->name;
    if (output->call < tree->path_call)
        return fail_overwritten(tree, output, maker, error);
    return gphi_fail(error, GPH_E_STATE,
                     "output %u of \"%s\", made by call %llu, was released",
                     output->number, maker, (unsigned long long)output->call);
}

gph_status gphi_tree_output_check(const gph_tree *tree, const gph_tree_output *output,
                                  gph_error *error)
{
    if (!gphi_tree_slot_of(tree, output))
        return fail_output(tree, output, error);
    return GPH_OK;
}

void gphi_tree_retain(gph_tree *tree, const gph_tree_output *output)
{
    slot_at(tree, output->slot)->holders++;
}

void gphi_tree_release(gph_tree *tree, const gph_tree_output *output)
{
    if (!gphi_tree_slot_of(tree, output))
        return;
    struct gphi_tree_slot *slot = slot_at(tree, output->slot);
    if (--slot->holders != 0)
        return;
    tree->held--;
    if (slot->block == GPHI_TREE_NO_BLOCK)
        return;
    struct gphi_tree_block *block = block_at(tree, slot->block);
    if (--block->holders != 0)
        return;
    if ((slot->block & GPHI_TREE_EAGER_BIT) != 0) {
        tree->ops->free(tree->backend, GPHI_TREE_BESIDE, block->range.base);
        block->range.base = 0;
        return;
    }
    live_words(tree)[slot->block / 64] &= ~(UINT64_C(1) << slot->block % 64);
    tree->alive--;
    if (tree->is_fresh)
        tree->ops->free(tree->backend, GPHI_TREE_POOL, block->range.base);
}

/* ---- the end of a path, the books ---- */

/* Takes the blocks of the path that are held out of the books. */
static void free_blocks(gph_tree *tree)
{
    const struct gphi_tree_block *blocks = tree->path.blocks.items;
    for (uint32_t i = 0; i < tree->block_count; i++)
        if (blocks[i].holders != 0)
            tree->ops->free(tree->backend, GPHI_TREE_POOL, blocks[i].range.base);
}

void gphi_tree_go_stale(gph_tree *tree)
{
    if (tree->is_fresh && tree->alive != 0)
        free_blocks(tree);
    tree->is_fresh = false;
}

void gphi_tree_path_end(gph_tree *tree)
{
    if (tree->is_fresh && tree->alive != 0)
        free_blocks(tree);
    tree->is_fresh = true; /* nothing is alive, nothing is in the books */

    if (tree->eager.blocks.count != 0) {
        const struct gphi_tree_block *blocks = tree->eager.blocks.items;
        for (size_t i = 0; i < tree->eager.blocks.count; i++)
            if (blocks[i].holders != 0)
                tree->ops->free(tree->backend, GPHI_TREE_BESIDE, blocks[i].range.base);
        tree->eager.blocks.count = 0;
    }
    tree->eager.slots.count = 0;
    tree->eager.own.count = 0;

    if (tree->alive != 0)
        memset(tree->live.items, 0, (tree->block_count + 63) / 64 * sizeof(uint64_t));
    tree->node = NULL;
    tree->root = NULL;
    tree->path_call = tree->stats.calls + 1;
    tree->depth = tree->slot_count = tree->block_count = 0;
    tree->held = tree->alive = tree->due = 0;
    tree->is_warm = false;
}

gph_status gphi_tree_freshen(gph_tree *tree, gph_error *error)
{
    if (tree->is_fresh)
        return GPH_OK;
    gphi_tree_node *node = tree->node;
    if (!node) { /* stale and at the root: only when a replay failed there */
        tree->is_fresh = true;
        return GPH_OK;
    }
    uint32_t count = 0;
    CUdeviceptr *live = NULL;
    if (tree->alive != 0) {
        live = gphi_heap_array(tree->heap, tree->alive, sizeof(*live));
        GPHI_TRY(
            gphi_made(error, live, "restoring a checkpoint of %u blocks", tree->alive));
        const struct gphi_tree_block *blocks = tree->path.blocks.items;
        for (uint32_t i = 0; i < tree->block_count; i++)
            if (blocks[i].holders != 0)
                live[count++] = blocks[i].range.base;
    }
    const gph_status status =
        tree->ops->restore(tree->backend, node->checkpoint, live, count, error);
    if (live)
        gphi_heap_free(tree->heap, live, tree->alive * sizeof(*live));
    GPHI_TRY(status);
    tree->is_fresh = true;
    tree->stats.restores++;
    gphi_log("tree", GPH_LOG_DEBUG, "checkpoint of node %u restored, %u blocks alive",
             node->id, count);
    return GPH_OK;
}

/* ---- new outputs ---- */

static gph_status reserve(gphi_vec *vec, size_t count)
{
    return vec->count >= count ? GPH_OK : gphi_vec_reserve(vec, count - vec->count);
}

/* Tables of the path have at least `slots` and as many blocks; all beyond the path's
 * count is unused. */
static gph_status reserve_path(gph_tree *tree, uint32_t slots, uint32_t blocks)
{
    struct gphi_tree_table *path = &tree->path;
    if (reserve(&path->slots, slots) != GPH_OK || reserve(&path->own, slots) != GPH_OK ||
        reserve(&path->blocks, blocks) != GPH_OK ||
        reserve(&tree->live, (blocks + 63) / 64) != GPH_OK)
        return GPH_E_NO_MEMORY;
    if (path->slots.count < slots) {
        gphi_vec_add(&path->slots, slots - path->slots.count);
        gphi_vec_add(&path->own, slots - path->own.count);
    }
    if (path->blocks.count < blocks)
        gphi_vec_add(&path->blocks, blocks - path->blocks.count);
    if (tree->live.count < (blocks + 63) / 64)
        gphi_vec_add(&tree->live, (blocks + 63) / 64 - tree->live.count);
    return GPH_OK;
}

gph_status gphi_tree_path_reserve(gph_tree *tree, uint32_t outputs, gph_error *error)
{
    struct gphi_tree_table *eager = &tree->eager;
    GPHI_TRY(gphi_made(error,
                       reserve_path(tree, tree->slot_count + outputs,
                                    tree->block_count + outputs) == GPH_OK &&
                           gphi_vec_reserve(&eager->slots, outputs) == GPH_OK &&
                           gphi_vec_reserve(&eager->own, outputs) == GPH_OK &&
                           gphi_vec_reserve(&eager->blocks, outputs) == GPH_OK,
                       "a path of %u outputs", tree->slot_count + outputs));
    return GPH_OK;
}

static bool holds_address(const struct gphi_tree_range *range, CUdeviceptr address)
{
    return address >= range->base && address - range->base < range->bytes;
}

/* The block of an eager call; there is room for one more. */
static uint32_t number_eager(gph_tree *tree, const struct gphi_tree_range *range)
{
    struct gphi_tree_block *blocks = tree->eager.blocks.items;
    uint32_t at = (uint32_t)tree->eager.blocks.count;
    for (uint32_t i = 0; i < tree->eager.blocks.count; i++) {
        if (blocks[i].range.base == range->base)
            return i | GPHI_TREE_EAGER_BIT;
        if (blocks[i].range.base == 0)
            at = i;
    }
    if (at == tree->eager.blocks.count)
        gphi_vec_add(&tree->eager.blocks, 1);
    *(struct gphi_tree_block *)gphi_vec_at(&tree->eager.blocks, at) =
        (struct gphi_tree_block){.range = *range};
    return at | GPHI_TREE_EAGER_BIT;
}

/* The number of the block below an output. New ones of the path come after `*fresh`
 * others. The path's own blocks come first: stale books do not know them. */
static uint32_t number_block(gph_tree *tree, enum gphi_tree_pool pool,
                             const gph_tensor *output, struct gphi_tree_range *ranges,
                             uint32_t *fresh)
{
    if (output->data == 0 || gph_tensor_bytes(output) == 0)
        return GPHI_TREE_NO_BLOCK;
    const struct gphi_tree_block *blocks = tree->path.blocks.items;
    for (uint32_t i = 0; i < tree->block_count; i++)
        if (blocks[i].holders != 0 && holds_address(&blocks[i].range, output->data))
            return i;
    struct gphi_tree_range range = {0};
    if (pool == GPHI_TREE_POOL) {
        range.base = tree->ops->block(tree->backend, pool, output->data, &range.bytes);
        if (range.base != 0) {
            uint32_t i = 0;
            while (i < *fresh && ranges[i].base != range.base)
                i++;
            if (i == *fresh)
                ranges[(*fresh)++] = range;
            return tree->block_count + i;
        }
    }
    range.base =
        tree->ops->block(tree->backend, GPHI_TREE_BESIDE, output->data, &range.bytes);
    return range.base != 0 ? number_eager(tree, &range) : GPHI_TREE_NO_BLOCK;
}

uint32_t gphi_tree_blocks_number(gph_tree *tree, enum gphi_tree_pool pool,
                                 const gph_tensor *outputs, uint32_t count,
                                 uint32_t *blocks, struct gphi_tree_range *ranges)
{
    uint32_t fresh = 0;
    for (uint32_t i = 0; i < count; i++)
        blocks[i] = number_block(tree, pool, &outputs[i], ranges, &fresh);
    return fresh;
}

void gphi_tree_blocks_add(gph_tree *tree, const struct gphi_tree_range *ranges,
                          uint32_t count)
{
    struct gphi_tree_block *blocks = tree->path.blocks.items;
    for (uint32_t i = 0; i < count; i++)
        blocks[tree->block_count + i] = (struct gphi_tree_block){.range = ranges[i]};
    tree->block_count += count;
}

static void hold(gph_tree *tree, uint32_t number)
{
    if (number == GPHI_TREE_NO_BLOCK || block_at(tree, number)->holders++ != 0 ||
        (number & GPHI_TREE_EAGER_BIT) != 0)
        return;
    live_words(tree)[number / 64] |= UINT64_C(1) << number % 64;
    tree->alive++;
}

void gphi_tree_slots_add(gph_tree *tree, const gph_tensor *outputs, bool is_lasting,
                         const uint32_t *blocks, uint32_t count)
{
    struct gphi_tree_slot *slots = tree->path.slots.items;
    gph_tensor *own = tree->path.own.items;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t at = tree->slot_count + i;
        slots[at] = (struct gphi_tree_slot){
            tree->stats.calls, is_lasting ? &outputs[i] : NULL, 1, blocks[i]};
        if (!is_lasting)
            own[at] = outputs[i];
        hold(tree, blocks[i]);
    }
    tree->slot_count += count;
    tree->held += count;
}

uint32_t gphi_tree_slot_add_eager(gph_tree *tree, const gph_tensor *output,
                                  uint32_t block)
{
    struct gphi_tree_table *eager = &tree->eager;
    uint32_t at = 0;
    const struct gphi_tree_slot *slots = eager->slots.items;
    while (at < eager->slots.count && slots[at].holders != 0)
        at++;
    if (at == eager->slots.count) {
        gphi_vec_add(&eager->slots, 1); /* reserved */
        gphi_vec_add(&eager->own, 1);
    }
    *(struct gphi_tree_slot *)gphi_vec_at(&eager->slots, at) =
        (struct gphi_tree_slot){tree->stats.calls, NULL, 1, block};
    *(gph_tensor *)gphi_vec_at(&eager->own, at) = *output;
    hold(tree, block);
    tree->held++;
    return at | GPHI_TREE_EAGER_BIT;
}

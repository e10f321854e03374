// SPDX-License-Identifier: Apache-2.0
/* Recordings of another process become nodes: the pool's books are walked through as they
 * were when each was made, so that it has the checkpoint that later recordings need. */
#include "base/fail.h"
#include "base/heap.h"
#include "tree/tree.h"
#include <string.h>

static bool is_dead(const gphi_tree_graft *graft, uint32_t block)
{
    return (graft->dead[block / 64] >> (block % 64) & 1) != 0;
}

/* The range of a block of the path above a graft. */
static const struct gphi_tree_range *range_of(const gphi_tree_graft *const *grafts,
                                              uint32_t parent, uint32_t block)
{
    while (parent != 0) {
        const gphi_tree_graft *at = grafts[parent - 1];
        if (block >= at->block_first)
            return &at->ranges[block - at->block_first];
        parent = at->parent;
    }
    return NULL;
}

gph_status gphi_tree_graft_prepare(gph_tree *tree, const gphi_tree_graft *graft,
                                   void *const *checkpoints,
                                   const gphi_tree_graft *const *grafts, void *empty,
                                   gph_error *error)
{
    if (graft->parent == 0 || graft->block_first == 0)
        return tree->ops->restore(
            tree->backend, graft->parent == 0 ? empty : checkpoints[graft->parent - 1],
            NULL, 0, error);
    CUdeviceptr *live = gphi_heap_array(tree->heap, graft->block_first, sizeof(*live));
    GPHI_TRY(gphi_made(error, live, "a path of %u blocks", graft->block_first));
    uint32_t count = 0;
    for (uint32_t i = 0; i < graft->block_first; i++)
        if (!is_dead(graft, i))
            live[count++] = range_of(grafts, graft->parent, i)->base;
    const gph_status status = tree->ops->restore(
        tree->backend, checkpoints[graft->parent - 1], live, count, error);
    gphi_heap_free(tree->heap, live, graft->block_first * sizeof(*live));
    return status;
}

/* Goes to where the graft was recorded: what gphi_tree_node_create() reads. */
static gph_status stand(gph_tree *tree, const gphi_tree_graft *graft,
                        gph_tree_function *function, gphi_tree_node *parent,
                        gph_error *error)
{
    tree->node = parent;
    tree->depth = graft->depth - 1;
    tree->slot_count = graft->slot_first;
    tree->block_count = graft->block_first;
    GPHI_TRY(gphi_tree_path_reserve(tree, function->output_count, error));
    memcpy(tree->key, graft->key, graft->key_words * sizeof(*tree->key));
    if (function->input_count > 0)
        memcpy(tree->kinds, graft->kinds, function->input_count);
    uint64_t *live = tree->live.items;
    for (uint32_t i = 0; i < graft->dead_words; i++)
        live[i] = ~graft->dead[i];
    return GPH_OK;
}

static void stand_down(gph_tree *tree)
{
    if (tree->live.items)
        memset(tree->live.items, 0, (tree->block_count + 63) / 64 * sizeof(uint64_t));
    tree->node = NULL;
    tree->depth = tree->slot_count = tree->block_count = 0;
}

static gph_status make_node(gph_tree *tree, const gphi_tree_graft *graft,
                            gph_tree_function *function, gphi_tree_node *parent,
                            gphi_tree_node **out, gph_error *error)
{
    const gphi_tree_turn turn = {
        .tree = tree,
        .function = function,
        .key_words = graft->key_words,
        .hash = gphi_tree_key_hash(graft->key, graft->key_words, parent)};
    gphi_tree_node *node = NULL;
    GPHI_TRY(stand(tree, graft, function, parent, error));
    GPHI_TRY(gphi_tree_node_reserve(tree, turn.hash, error));
    GPHI_TRY(gphi_tree_node_create(&turn, &node, error));
    *out = node;
    return GPH_OK;
}

gph_status gphi_tree_graft_add(gph_tree *tree, const gphi_tree_graft *graft,
                               const gph_tensor *outputs, void *recording,
                               void *checkpoint, gph_error *error)
{
    gph_tree_function *function =
        *(gph_tree_function **)gphi_vec_at(&tree->functions, graft->function - 1);
    if (!gphi_tree_key_is_sound(function, graft->key, graft->key_words, graft->kinds))
        return gphi_fail(error, GPH_E_FORMAT,
                         "a recording of \"%s\" has a key that it lacks", function->name);
    gphi_tree_node *parent =
        graft->parent == 0
            ? NULL
            : *(gphi_tree_node **)gphi_vec_at(&tree->nodes, graft->parent - 1);
    gphi_tree_place *place = gphi_tree_place_find(tree, parent, function);
    if (!place)
        GPHI_TRY(gphi_tree_place_add(tree, parent, function, &place, error));
    gphi_tree_node *node = NULL;
    const gph_status status = make_node(tree, graft, function, parent, &node, error);
    stand_down(tree);
    GPHI_TRY(status);
    for (uint32_t i = 0; i < function->output_count; i++) {
        node->outputs[i] = outputs[i];
        node->blocks[i] = graft->blocks[i];
    }
    for (uint32_t i = 0; i < graft->block_count; i++)
        node->ranges[i] = graft->ranges[i];
    node->block_count = graft->block_count;
    node->recording = recording;
    node->checkpoint = checkpoint;
    node->reason = (gph_tree_reason)graft->reason;
    place->count[graft->reason]++;
    gphi_tree_node_link(tree, place, node);
    return GPH_OK;
}

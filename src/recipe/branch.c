// SPDX-License-Identifier: Apache-2.0
/* A tree in a recipe, and out of it: a graph a recording, whose key holds what the tree
 * knows of it. Keys of a tree hold addresses, so it loads where it lay.
 *
 *   key of the graph   12 words (WORD_MARK ...) │ key │ dead │ blocks │ ranges │ kinds
 *
 * Loading goes in three rounds, since a recording uses its parent's memory: the
 * recordings are collected, parents first; their memory is laid out along each path,
 * with a checkpoint of the pool's books after each; then graphs are built, and become
 * nodes. What the file says of the tree is compared with the tree before any of it is
 * believed. */
#include "base/fail.h"
#include "base/heap.h"
#include "callable/record.h"
#include "recipe/footprint.h"
#include "tree/tree.h"

#include <gph/recipe_load.h>

#include <stdio.h>
#include <string.h>

/* The words of a key, then the arrays. */
enum {
    WORD_MARK,
    WORD_ID,
    WORD_PARENT,
    WORD_FUNCTION,
    WORD_REASON,
    WORD_DEPTH,
    WORD_SLOT,
    WORD_BLOCK,
    WORD_BLOCKS,
    WORD_KEY,
    WORD_OUTPUTS,
    WORD_INPUTS,
    WORDS
};
static const uint64_t MARK = 0x65657274; /* "tree" */

/* ---- saving ---- */

/* Numbers of the tree as they are, one word each: a key of a recipe is words, and
 * trees are small beside their graphs. */
static gph_status pack(const gphi_tree_node *node, gphi_vec *keys, gph_error *error)
{
    const gph_tree_function *function = node->function;
    const size_t dead = node->dead_words, outputs = function->output_count;
    const size_t count = WORDS + node->key_words + dead + outputs +
                         (size_t)2 * node->block_count + function->input_count;
    keys->count = 0;
    uint64_t *word = gphi_vec_add(keys, count);
    GPHI_TRY(gphi_made(error, word, "keeping recording %u", node->id));
    const uint64_t head[WORDS] = {MARK,
                                  node->id,
                                  node->parent ? node->parent->id : 0,
                                  function->number,
                                  (uint64_t)node->reason,
                                  node->depth,
                                  node->slot_first,
                                  node->block_first,
                                  node->block_count,
                                  node->key_words,
                                  outputs,
                                  function->input_count};
    memcpy(word, head, sizeof(head));
    word += WORDS;
    memcpy(word, node->key, node->key_words * sizeof(*word));
    word += node->key_words;
    for (size_t i = 0; i < dead; i++)
        *word++ = node->dead[i];
    for (size_t i = 0; i < outputs; i++)
        *word++ = node->blocks[i];
    for (uint32_t i = 0; i < node->block_count; i++) {
        *word++ = node->ranges[i].base;
        *word++ = node->ranges[i].bytes;
    }
    for (uint32_t i = 0; i < function->input_count; i++)
        *word++ = node->kinds[i];
    return GPH_OK;
}

/* What a function keeps in the tree's pool for itself has an owner in this process
 * alone, and would be nobody's in another: such trees are refused whole. */
static gph_status add_node(gph_recipe *recipe, const gph_tree *tree,
                           const gphi_tree_node *node, const gph_recipe_entry *base,
                           gph_error *error)
{
    const gphi_record *record =
        tree->ops->record_of ? tree->ops->record_of(node->recording) : NULL;
    if (!record || !record->graph)
        return gphi_fail(error, GPH_E_STATE,
                         "recording %u of \"%.100s\" has no graph: the tree is made "
                         "without GPH_TREE_KEEP_GRAPHS",
                         node->id, node->function->name);
    gph_recipe_entry entry = *base;
    char name[160];
    snprintf(name, sizeof(name), "tree %u %.120s", node->id, node->function->name);
    entry.name = name;
    entry.graph = record->graph;
    entry.inputs = record->signature.inputs;
    entry.input_count = record->signature.input_count;
    entry.outputs = node->outputs;
    entry.output_count = node->function->output_count;
    entry.recording = record->id;
    uint32_t index = 0;
    const size_t eager = recipe->bundle.eager.count;
    GPHI_TRY(gph_recipe_add(recipe, record->runtime, &entry, &index, error));
    struct gphi_bundle_graph *graph =
        GPHI_BUNDLE_AT(&recipe->bundle.graphs, graph, index);
    bool is_kept = recipe->bundle.eager.count != eager;
    for (size_t i = 0; i < graph->blocks.count; i++)
        is_kept |= GPHI_BUNDLE_AT(&graph->blocks, block, i)->kind == GPH_RANGE_KEPT;
    if (is_kept)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "recording %u of \"%.100s\": a function keeps memory in the "
                         "tree's pool",
                         node->id, node->function->name);
    return pack(node, &graph->keys, error);
}

/* The path ends first, so that no recording is written while outputs of it are
 * somebody's. */
gph_status gph_recipe_add_tree(gph_recipe *recipe, gph_tree *tree, uint32_t check,
                               const gph_resolver *resolver, gph_error *error)
{
    GPHI_TRY(gphi_need(error, recipe, tree));
    GPHI_TRY(gphi_tree_enter(tree, error));
    gph_status status = GPH_OK;
    if (tree->held != 0)
        status =
            gphi_fail(error, GPH_E_STATE, "%u outputs of the path are held", tree->held);
    else
        gphi_tree_path_end(tree);
    gph_recipe_entry base = GPH_RECIPE_ENTRY_INIT;
    base.check = check;
    base.resolver = resolver;
    base.stream = tree->stream;
    base.pool = tree->pool;
    const gphi_bundle_mark mark = gphi_recipe_mark(&recipe->bundle);
    for (size_t i = 0; i < tree->nodes.count && status == GPH_OK; i++)
        status = add_node(recipe, tree, gphi_vec_pointer(&tree->nodes, i), &base, error);
    if (status != GPH_OK)
        gphi_recipe_go_back(&recipe->bundle, mark);
    gphi_tree_leave(tree);
    return status;
}

/* ---- loading ---- */

/* A recording on its way into the tree. */
struct sprout {
    gphi_tree_graft graft; /* `parent`: number among the sprouts, from 1 */
    uint64_t file_id;
    uint32_t index; /* of its graph */
    uint32_t node;  /* of the tree, from 1; 0: not loaded */
    gph_recording_id id;
    void *checkpoint;
    uint32_t *blocks;
    struct gphi_tree_range *ranges;
    uint8_t *kinds;
};

struct growing {
    gph_tree *tree;
    const gph_recipe *recipe;
    gphi_vec sprouts;
    gphi_footprint footprint;
    const gphi_tree_graft **grafts;
    void **checkpoints;
    void *empty;
    gph_error *error;
};

static struct sprout *sprout_at(const struct growing *growing, size_t index)
{
    return gphi_vec_at(&growing->sprouts, index);
}

static gph_status fail_tree(const struct growing *growing, const char *name,
                            const char *what)
{
    return gphi_fail(growing->error, GPH_E_FORMAT, "graph %.100s: %s", name, what);
}

/* The arrays that the tree has in other widths. */
static gph_status widen(const struct growing *growing, struct sprout *sprout,
                        const uint64_t *words, uint32_t outputs, uint32_t inputs)
{
    const gph_allocator heap = growing->tree->heap;
    gphi_tree_graft *graft = &sprout->graft;
    sprout->blocks = gphi_heap_array(heap, outputs + (size_t)1, sizeof(uint32_t));
    sprout->ranges =
        gphi_heap_array(heap, graft->block_count + (size_t)1, sizeof(*sprout->ranges));
    sprout->kinds = gphi_heap_array(heap, inputs + (size_t)1, 1);
    GPHI_TRY(gphi_made(growing->error, sprout->blocks && sprout->ranges && sprout->kinds,
                       "loading a tree"));
    bool is_right = true;
    for (uint32_t i = 0; i < outputs; i++) {
        sprout->blocks[i] = (uint32_t)*words;
        is_right &= *words < (uint64_t)graft->block_first + graft->block_count ||
                    *words == GPHI_TREE_NO_BLOCK;
        words++;
    }
    for (uint32_t i = 0; i < graft->block_count; i++, words += 2)
        sprout->ranges[i] = (struct gphi_tree_range){words[0], words[1]};
    for (uint32_t i = 0; i < inputs; i++) {
        sprout->kinds[i] = (uint8_t)*words;
        is_right &= *words++ <= GPHI_TREE_MANAGED;
    }
    graft->blocks = sprout->blocks;
    graft->ranges = sprout->ranges;
    graft->kinds = sprout->kinds;
    return is_right ? GPH_OK
                    : fail_tree(growing, "of a tree", "a block or kind is wrong");
}

/* Whether the head of a key agrees with the tree's functions and its parent. */
static bool agrees(const struct growing *growing, const uint64_t *words, size_t count,
                   const struct gphi_bundle_graph *graph, const struct sprout *parent)
{
    const gph_tree *tree = growing->tree;
    if (words[WORD_FUNCTION] - 1 >= tree->functions.count)
        return false;
    const gph_tree_function *function =
        gphi_vec_pointer(&tree->functions, words[WORD_FUNCTION] - 1);
    const gphi_tree_graft *above = parent ? &parent->graft : NULL;
    uint64_t slots = 0, blocks = 0;
    if (above) {
        const gph_tree_function *before =
            gphi_vec_pointer(&tree->functions, above->function - 1);
        slots = (uint64_t)above->slot_first + before->output_count;
        blocks = (uint64_t)above->block_first + above->block_count;
    }
    return words[WORD_OUTPUTS] == function->output_count &&
           words[WORD_INPUTS] == function->input_count &&
           graph->input_count == function->input_count &&
           graph->tensors.count - graph->input_count == function->output_count &&
           words[WORD_REASON] < GPH_TREE_REASON_COUNT && words[WORD_REASON] != 0 &&
           words[WORD_DEPTH] == (!above ? 0 : above->depth) + UINT64_C(1) &&
           words[WORD_SLOT] == slots && words[WORD_BLOCK] == blocks &&
           words[WORD_BLOCKS] <= function->output_count &&
           words[WORD_KEY] > function->key_count && words[WORD_KEY] <= tree->key_room &&
           count == WORDS + words[WORD_KEY] + (blocks + 63) / 64 + words[WORD_OUTPUTS] +
                        2 * words[WORD_BLOCKS] + words[WORD_INPUTS];
}

/* What the file says of a recording whose parent is the sprout of that number. */
static gph_status unpack(struct growing *growing, uint32_t index, uint32_t number,
                         struct sprout *sprout)
{
    const gphi_bundle *bundle = &growing->recipe->bundle;
    const struct gphi_bundle_graph *graph = GPHI_BUNDLE_AT(&bundle->graphs, graph, index);
    const uint64_t *words = graph->keys.items;
    const struct sprout *parent = number != 0 ? sprout_at(growing, number - 1) : NULL;
    if (!agrees(growing, words, graph->keys.count, graph, parent))
        return fail_tree(growing, gphi_bundle_text(bundle, graph->name),
                         "it is of a tree with other functions");
    sprout->index = index;
    sprout->file_id = words[WORD_ID];
    sprout->graft =
        (gphi_tree_graft){.key = words + WORDS,
                          .dead = words + WORDS + words[WORD_KEY],
                          .key_words = (uint32_t)words[WORD_KEY],
                          .dead_words = (uint32_t)((words[WORD_BLOCK] + 63) / 64),
                          .block_count = (uint32_t)words[WORD_BLOCKS],
                          .parent = number,
                          .function = (uint32_t)words[WORD_FUNCTION],
                          .reason = (uint32_t)words[WORD_REASON],
                          .depth = (uint32_t)words[WORD_DEPTH],
                          .slot_first = (uint32_t)words[WORD_SLOT],
                          .block_first = (uint32_t)words[WORD_BLOCK]};
    return widen(growing, sprout, sprout->graft.dead + sprout->graft.dead_words,
                 (uint32_t)words[WORD_OUTPUTS], (uint32_t)words[WORD_INPUTS]);
}

/* Parents are looked for by the number they had, among those that were collected: the
 * file says them in the order in which they were recorded. From 1; 0: it is not there. */
static uint32_t find_sprout(const struct growing *growing, uint64_t file_id)
{
    for (uint32_t i = 0; i < growing->sprouts.count; i++)
        if (sprout_at(growing, i)->file_id == file_id)
            return i + 1;
    return 0;
}

/* Recordings of a tree that may be loaded, parents first as the file has them; those
 * below one that is refused are left out. */
static gph_status collect(struct growing *growing)
{
    const gphi_bundle *bundle = &growing->recipe->bundle;
    for (uint32_t i = 0; i < bundle->graphs.count; i++) {
        const struct gphi_bundle_graph *graph = GPHI_BUNDLE_AT(&bundle->graphs, graph, i);
        const uint64_t *words = graph->keys.items;
        if (graph->keys.count < WORDS || words[WORD_MARK] != MARK ||
            graph->refusals.count > 0)
            continue;
        const uint32_t parent = find_sprout(growing, words[WORD_PARENT]);
        if (parent == 0 && words[WORD_PARENT] != 0)
            continue;
        struct sprout fresh = {0};
        GPHI_TRY(gphi_made(growing->error,
                           gphi_vec_reserve(&growing->sprouts, 1) == GPH_OK,
                           "loading a tree"));
        const gph_status status = unpack(growing, i, parent, &fresh);
        *(struct sprout *)gphi_vec_add(&growing->sprouts, 1) = fresh; /* freed there */
        GPHI_TRY(status);
    }
    return GPH_OK;
}

/* Lays out the memory of each recording on top of its path, and keeps the pool's books of
 * that moment. */
static gph_status lay_out(struct growing *growing)
{
    gph_tree *tree = growing->tree;
    const size_t count = growing->sprouts.count;
    growing->grafts = gphi_heap_array(tree->heap, count + 1, sizeof(*growing->grafts));
    growing->checkpoints =
        gphi_heap_array(tree->heap, count + 1, sizeof(*growing->checkpoints));
    GPHI_TRY(gphi_made(growing->error, growing->grafts && growing->checkpoints,
                       "loading a tree"));
    GPHI_TRY(tree->ops->checkpoint(tree->backend, &growing->empty, growing->error));
    for (size_t i = 0; i < count; i++)
        growing->grafts[i] = &sprout_at(growing, i)->graft;
    for (size_t i = 0; i < count; i++) {
        struct sprout *sprout = sprout_at(growing, i);
        const struct gphi_bundle_graph *graph =
            GPHI_BUNDLE_AT(&growing->recipe->bundle.graphs, graph, sprout->index);
        GPHI_TRY(gphi_tree_graft_prepare(tree, &sprout->graft, growing->checkpoints,
                                         growing->grafts, growing->empty,
                                         growing->error));
        GPHI_TRY(gphi_footprint_restore(
            &growing->footprint, graph,
            gphi_bundle_text(&growing->recipe->bundle, graph->name), &sprout->id,
            growing->error));
        GPHI_TRY(
            tree->ops->checkpoint(tree->backend, &sprout->checkpoint, growing->error));
        growing->checkpoints[i] = sprout->checkpoint;
    }
    return tree->ops->restore(tree->backend, growing->empty, NULL, 0, growing->error);
}

/* A recording whose parent was not loaded is left out, too: its memory lies on top of
 * what is not there. It is recorded again when it is called. */
static gph_status attach(struct growing *growing, struct sprout *sprout,
                         gph_loaded *loaded)
{
    gph_tree *tree = growing->tree;
    const uint32_t parent = sprout->graft.parent;
    gph_loaded_graph graph = GPH_SIZED(gph_loaded_graph);
    if (gph_loaded_get(loaded, sprout->index, &graph) == 0 || !graph.is_loaded ||
        (parent != 0 && sprout_at(growing, parent - 1)->node == 0))
        return GPH_OK;
    gph_tree_function *function =
        gphi_vec_pointer(&tree->functions, sprout->graft.function - 1);
    const gphi_tree_work work = {.fn = function->fn,
                                 .user = function->user,
                                 .name = function->name,
                                 .inputs = graph.inputs,
                                 .kinds = sprout->kinds,
                                 .key = (const int64_t *)(sprout->graft.key + 1),
                                 .input_count = function->input_count,
                                 .output_count = function->output_count,
                                 .key_count = function->key_count};
    CUgraph handle = NULL;
    gph_recording_id none = 0;
    void *recording = NULL;
    gphi_loaded_take(loaded, sprout->index, &handle, &none);
    gph_status status = tree->ops->adopt(tree->backend, &work, graph.outputs, handle,
                                         sprout->id, &recording, growing->error);
    if (status != GPH_OK) {
        gphi_loaded_give(loaded, sprout->index, handle, none);
        return status;
    }
    sprout->id = 0; /* the recording's from now on */
    gphi_tree_graft graft = sprout->graft;
    if (parent != 0)
        graft.parent = sprout_at(growing, parent - 1)->node;
    status = gphi_tree_graft_add(tree, &graft, graph.outputs, recording,
                                 sprout->checkpoint, growing->error);
    if (status != GPH_OK) {
        tree->ops->forget(tree->backend, recording);
        return status;
    }
    sprout->checkpoint = NULL;
    sprout->node = (uint32_t)tree->nodes.count;
    return GPH_OK;
}

/* From the last to the first, as they were laid out; what became a node's has been
 * zeroed by attach(). */
static void clean_up(struct growing *growing)
{
    gph_tree *tree = growing->tree;
    const gph_allocator heap = tree->heap;
    const size_t count = growing->sprouts.count;
    for (size_t i = count; i-- > 0;) {
        struct sprout *sprout = sprout_at(growing, i);
        const struct gphi_bundle_graph *graph =
            GPHI_BUNDLE_AT(&growing->recipe->bundle.graphs, graph, sprout->index);
        if (sprout->checkpoint)
            tree->ops->drop(tree->backend, sprout->checkpoint);
        if (sprout->id != 0)
            gph_pool_record_forget(tree->pool, sprout->id);
        const size_t inputs = graph->input_count;
        const size_t outputs = graph->tensors.count - inputs;
        gphi_heap_free(heap, sprout->blocks, (outputs + 1) * sizeof(uint32_t));
        gphi_heap_free(heap, sprout->ranges,
                       (sprout->graft.block_count + (size_t)1) * sizeof(*sprout->ranges));
        gphi_heap_free(heap, sprout->kinds, inputs + 1);
    }
    if (growing->empty)
        tree->ops->drop(tree->backend, growing->empty);
    gphi_heap_free(heap, growing->checkpoints,
                   (count + 1) * sizeof(*growing->checkpoints));
    gphi_heap_free(heap, growing->grafts, (count + 1) * sizeof(*growing->grafts));
    gphi_vec_fini(&growing->sprouts);
    gphi_footprint_fini(&growing->footprint);
}

/* The arena must be where it was: keys hold addresses. */
static gph_status check_place(const struct growing *growing)
{
    const gphi_bundle *bundle = &growing->recipe->bundle;
    CUdeviceptr base = 0;
    gph_arena_range(gph_pool_arena(growing->tree->pool), &base, NULL);
    for (size_t i = 0; i < bundle->graphs.count; i++) {
        const struct gphi_bundle_graph *graph = GPHI_BUNDLE_AT(&bundle->graphs, graph, i);
        for (size_t j = 0; j < graph->blocks.count; j++) {
            const struct gphi_bundle_range *range = gphi_recipe_range(
                bundle, GPHI_BUNDLE_AT(&graph->blocks, block, j)->range);
            if (range->address != base)
                return gphi_fail(growing->error, GPH_E_STATE,
                                 "the tree's arena is at 0x%llx, and it was recorded "
                                 "at 0x%llx",
                                 (unsigned long long)base,
                                 (unsigned long long)range->address);
        }
    }
    return GPH_OK;
}

/* Nothing of the tree is touched before all recordings are read and laid out; from the
 * first node on a failure leaves those that are there, which are sound. */
static gph_status grow(struct growing *growing, const gph_loaded_options *load,
                       gph_loaded **loaded)
{
    gph_tree *tree = growing->tree;
    if (tree->nodes.count > 0 || tree->stats.calls > 0 || !tree->ops->adopt)
        return gphi_fail(
            growing->error, GPH_E_STATE,
            "the tree has been called %llu times and has %zu nodes: it is loaded "
            "before the first call",
            (unsigned long long)tree->stats.calls, tree->nodes.count);
    GPHI_TRY(check_place(growing));
    GPHI_TRY(collect(growing));
    GPHI_TRY(lay_out(growing));
    gph_loaded *graphs = NULL;
    GPHI_TRY(gph_loaded_create(gph_arena_runtime(gph_pool_arena(tree->pool)),
                               growing->recipe, load, &graphs, growing->error));
    for (size_t i = 0; i < growing->sprouts.count; i++) {
        const gph_status status = attach(growing, sprout_at(growing, i), graphs);
        if (status != GPH_OK) {
            gph_loaded_destroy(graphs);
            return status;
        }
    }
    *loaded = graphs;
    return GPH_OK;
}

gph_status gph_loaded_create_tree(const gph_recipe *recipe, gph_tree *tree,
                                  const gph_loaded_options *options, gph_loaded **loaded,
                                  gph_error *error)
{
    GPHI_TRY(gphi_need(error, recipe, tree, loaded));
    gph_loaded_options load;
    GPHI_TRY(
        gphi_options_read(&load, sizeof(load), "gph_loaded_options", options, error));
    load.size = sizeof(load);
    load.pool = NULL;
    load.flags |= GPH_RECIPE_LAZY;
    load.stream = load.stream ? load.stream : tree->stream;
    GPHI_TRY(gphi_tree_enter(tree, error));
    struct growing growing = {.tree = tree, .recipe = recipe, .error = error};
    gphi_vec_init(&growing.sprouts, tree->heap, sizeof(struct sprout));
    gphi_footprint_init(&growing.footprint, tree->heap);
    uint64_t *still = gphi_heap_array(tree->heap, recipe->bundle.ranges.count + 1,
                                      sizeof(*still)); /* no range moves */
    gph_status status =
        still ? GPH_OK : gphi_fail(error, GPH_E_NO_MEMORY, "loading a tree");
    growing.footprint.pool = gph_pool_retain(tree->pool);
    growing.footprint.bundle = &recipe->bundle;
    growing.footprint.shift = still;
    GPHI_THEN(status, grow(&growing, &load, loaded));
    clean_up(&growing);
    gphi_heap_free(tree->heap, still, (recipe->bundle.ranges.count + 1) * sizeof(*still));
    gphi_tree_leave(tree);
    return status;
}

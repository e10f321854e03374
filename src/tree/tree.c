// SPDX-License-Identifier: Apache-2.0
/* Trees and their functions: made, read, ended; and what programs do with outputs.
 *
 *   tree ── functions ── places (of a node, or of the root) ── nodes, a recording each
 *     └──── path: slots of outputs, blocks under them, in the order of the calls
 *
 * A tree is entered by one thread at a time, also from within its own functions: `busy`
 * is a flag and not a mutex, because a second entry is an error of the program that is
 * said, and waiting would hide it, or hang where a function calls its own tree. */
#include "tree/tree.h"
#include "base/fail.h"
#include "base/heap.h"
#include "callable/record.h"
#include "cuda/runtime.h"
#include "event/note.h"
#include <stdio.h>
#include <string.h>

static const uint32_t TREE_FLAGS =
    GPH_TREE_STRICT | GPH_TREE_EXPLICIT_STEPS | GPH_TREE_KEEP_GRAPHS;
static const uint32_t FUNCTION_FLAGS = GPH_TREE_FUNCTION_ROOT | GPH_TREE_FUNCTION_EAGER;
static const uint8_t INPUT_FLAGS = GPH_TREE_INPUT_STATIC | GPH_TREE_INPUT_MUTATED;

/* Arguments that no caller means; sums of them stay far from 2^32. */
enum { COUNT_MAX = 1 << 20 };

/* ---- one thread at a time ---- */

gph_status gphi_tree_enter(gph_tree *tree, gph_error *error)
{
    if (atomic_flag_test_and_set_explicit(&tree->busy, memory_order_acquire))
        return gphi_fail(error, GPH_E_STATE,
                         "the tree is in use: by another thread, or a function of it "
                         "calls it");
    return GPH_OK;
}

void gphi_tree_leave(gph_tree *tree)
{
    /* Partner of the acquire in gphi_tree_enter(). */
    atomic_flag_clear_explicit(&tree->busy, memory_order_release);
}

/* ---- made and ended ---- */

static void fini_table(struct gphi_tree_table *table)
{
    gphi_vec_fini(&table->slots);
    gphi_vec_fini(&table->own);
    gphi_vec_fini(&table->blocks);
}

static void init_table(struct gphi_tree_table *table, gph_allocator heap)
{
    gphi_vec_init(&table->slots, heap, sizeof(struct gphi_tree_slot));
    gphi_vec_init(&table->own, heap, sizeof(gph_tensor));
    gphi_vec_init(&table->blocks, heap, sizeof(struct gphi_tree_block));
}

/* Functions live as long as the tree: handles to them are not counted. */
static void destroy_function(gph_allocator heap, gph_tree_function *function)
{
    gphi_heap_text_free(heap, function->name);
    gphi_heap_free(heap, function->flags, function->input_count);
    gphi_heap_free(heap, function->ports,
                   function->input_count * sizeof(*function->ports));
    gphi_heap_free(heap, function, sizeof(*function));
}

static void destroy_places(gph_allocator heap, gphi_tree_place *place)
{
    while (place) {
        gphi_tree_place *next = place->next;
        gphi_heap_free(heap, place, sizeof(*place));
        place = next;
    }
}

/* Later recordings go first. */
static void destroy_nodes(gph_tree *tree)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    for (size_t i = tree->nodes.count; i-- > 0;) {
        gphi_tree_node *node = nodes[i];
        tree->ops->drop(tree->backend, node->checkpoint);
        tree->ops->forget(tree->backend, node->recording);
        destroy_places(tree->heap, node->places);
        gphi_heap_free(tree->heap, node, node->bytes);
    }
    destroy_places(tree->heap, tree->places);
}

/* All but the backend. */
static void free_tree(gph_tree *tree)
{
    const gph_allocator heap = tree->heap;
    gph_tree_function **functions = tree->functions.items;
    for (size_t i = 0; i < tree->functions.count; i++)
        destroy_function(heap, functions[i]);
    gphi_heap_free(heap, tree->room, tree->room_bytes);
    fini_table(&tree->path);
    fini_table(&tree->eager);
    gphi_vec_fini(&tree->live);
    gphi_vec_fini(&tree->functions);
    gphi_vec_fini(&tree->nodes);
    gphi_map_fini(&tree->by_hash);
    gphi_map_fini(&tree->by_place);
    gphi_map_fini(&tree->warmed);
    gphi_heap_free(heap, tree->starts, GPHI_TREE_STARTS * sizeof(*tree->starts));
    gphi_heap_free(heap, tree, sizeof(*tree));
}

/* Zero means the default; a limit of none at all cannot be asked for, since every
 * table here grows by what callers do. */
static void fill_defaults(gph_tree_options *options)
{
    static const gph_tree_options defaults = {.warmups = 1,
                                              .depth_max = 256,
                                              .rerecords_max = 8,
                                              .backoff = 64,
                                              .moves_max = 4,
                                              .settle = 1000};
#define DEFAULT(field) options->field = options->field ? options->field : defaults.field
    DEFAULT(warmups);
    DEFAULT(depth_max);
    DEFAULT(rerecords_max);
    DEFAULT(backoff);
    DEFAULT(moves_max);
    DEFAULT(settle);
#undef DEFAULT
}

static gph_status read_options(const gph_tree_options *options, gph_tree_options *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_tree_options", options, error));
    if ((out->flags & ~TREE_FLAGS) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         out->flags, TREE_FLAGS);
    fill_defaults(out);
    return GPH_OK;
}

gph_status gphi_tree_create(gph_allocator heap, gphi_tree_backend *backend,
                            const gph_tree_options *options, gph_tree **out,
                            gph_error *error)
{
    static atomic_uint cookies; /* any order: a number of its own is all */
    gph_tree_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    gph_tree *tree = gphi_heap_alloc(heap, sizeof(*tree));
    GPHI_TRY(gphi_made(error, tree, "a tree"));
    tree->heap = heap;
    tree->backend = backend;
    tree->ops = backend->ops;
    tree->options = opt;
    tree->cookie = atomic_fetch_add_explicit(&cookies, 1, memory_order_relaxed) + 1;
    tree->path_call = 1;
    tree->is_fresh = true;
    tree->is_explicit = (opt.flags & GPH_TREE_EXPLICIT_STEPS) != 0;
    tree->event.input = -1;
    tree->event.text = "";
    tree->event.function = "";
    atomic_flag_clear(&tree->busy);
    init_table(&tree->path, heap);
    init_table(&tree->eager, heap);
    gphi_vec_init(&tree->live, heap, sizeof(uint64_t));
    gphi_vec_init(&tree->functions, heap, sizeof(gph_tree_function *));
    gphi_vec_init(&tree->nodes, heap, sizeof(gphi_tree_node *));
    gphi_map_init(&tree->by_hash, heap);
    gphi_map_init(&tree->by_place, heap);
    gphi_map_init(&tree->warmed, heap);
    tree->starts = gphi_heap_array(heap, GPHI_TREE_STARTS, sizeof(*tree->starts));
    if (!tree->starts) {
        free_tree(tree);
        return gphi_fail(error, GPH_E_NO_MEMORY, "a tree");
    }
    *out = tree;
    return GPH_OK;
}

/* The backend is made first: it may be refused a stream or a pool, and a tree without
 * one could not be ended. */
gph_status gph_tree_create(gph_runtime *runtime, gph_arena *arena,
                           const gph_tree_options *options, gph_tree **out,
                           gph_error *error)
{
    gph_tree_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    GPHI_TRY(gphi_need(error, runtime, arena, out));
    gphi_tree_backend *backend = NULL;
    CUstream stream = NULL;
    gph_pool *pool = NULL;
    GPHI_TRY(
        gphi_tree_backend_create(runtime, arena, &opt, &stream, &pool, &backend, error));
    gph_tree *tree = NULL;
    const gph_status status =
        gphi_tree_create(runtime->heap, backend, options, &tree, error);
    if (status != GPH_OK) {
        backend->ops->destroy(backend);
        return status;
    }
    tree->stream = stream;
    tree->pool = pool;
    *out = tree;
    return GPH_OK;
}

void gph_tree_destroy(gph_tree *tree)
{
    if (!tree)
        return;
    gphi_tree_backend *backend = tree->backend;
    tree->ops->drain(backend);
    gphi_tree_path_end(tree);
    destroy_nodes(tree);
    free_tree(tree);
    backend->ops->destroy(backend);
}

void gph_tree_objects(const gph_tree *tree, CUstream *stream, gph_pool **pool)
{
    if (!tree)
        return;
    if (stream)
        *stream = tree->stream;
    if (pool)
        *pool = tree->pool;
}

/* ---- functions ---- */

static gph_status read_function(const gph_tree_function_options *options,
                                gph_tree_function_options *opt, gph_error *error)
{
    GPHI_TRY(gphi_options_read(opt, sizeof(*opt), "gph_tree_function_options", options,
                               error));
    if (opt->kind > GPH_TREE_BACKWARD)
        return gphi_fail(error, GPH_E_INVALID, "options.kind %u is not a gph_tree_kind",
                         opt->kind);
    if ((opt->flags & ~FUNCTION_FLAGS) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         opt->flags, FUNCTION_FLAGS);
    if (opt->input_count > COUNT_MAX || opt->output_count > COUNT_MAX ||
        opt->key_count > COUNT_MAX)
        return gphi_fail(error, GPH_E_INVALID,
                         "%u inputs, %u outputs, %u words of key: the most is %d",
                         opt->input_count, opt->output_count, opt->key_count, COUNT_MAX);
    for (uint32_t i = 0; opt->inputs && i < opt->input_count; i++)
        if ((opt->inputs[i] & ~INPUT_FLAGS) != 0)
            return gphi_fail(error, GPH_E_INVALID,
                             "options.inputs[%u] 0x%x: only 0x%x are known", i,
                             opt->inputs[i], INPUT_FLAGS);
    return GPH_OK;
}

/* Room for the largest call in one piece, widest items first. */
static gph_status make_room(gph_tree *tree, const gph_tree_function *function)
{
    const uint32_t words =
        1 + function->key_count + function->input_count * (2 + 2 * GPH_TENSOR_RANK_MAX);
    const size_t inputs = function->input_count > tree->input_room ? function->input_count
                                                                   : tree->input_room;
    const size_t outputs = function->output_count > tree->output_room
                               ? function->output_count
                               : tree->output_room;
    const size_t key = words > tree->key_room ? words : tree->key_room;
    const size_t bytes = (inputs + outputs) * sizeof(gph_tensor) +
                         inputs * sizeof(gph_tensor *) + key * sizeof(uint64_t) +
                         outputs * sizeof(struct gphi_tree_range) +
                         outputs * sizeof(uint32_t) + inputs;
    if (bytes <= tree->room_bytes && inputs == tree->input_room &&
        outputs == tree->output_room && key == tree->key_room)
        return GPH_OK;
    char *room = gphi_heap_alloc(tree->heap, bytes);
    if (!room)
        return GPH_E_NO_MEMORY;
    gphi_heap_free(tree->heap, tree->room, tree->room_bytes);
    tree->room = room;
    tree->room_bytes = bytes;
    tree->tensors = (gph_tensor *)(void *)room;
    tree->results = tree->tensors + inputs;
    tree->inputs = (const gph_tensor **)(void *)(tree->results + outputs);
    tree->key = (uint64_t *)(void *)(tree->inputs + inputs);
    tree->result_ranges = (struct gphi_tree_range *)(void *)(tree->key + key);
    tree->result_blocks = (uint32_t *)(void *)(tree->result_ranges + outputs);
    tree->kinds = (uint8_t *)(void *)(tree->result_blocks + outputs);
    tree->input_room = (uint32_t)inputs;
    tree->output_room = (uint32_t)outputs;
    tree->key_room = (uint32_t)key;
    return GPH_OK;
}

/* Names are for people: two functions may have the same one. */
static gph_status fill_function(gph_tree_function *function,
                                const gph_tree_function_options *opt)
{
    const gph_allocator heap = function->tree->heap;
    char number[16];
    snprintf(number, sizeof(number), "f%u", function->number);
    function->name = gphi_heap_text(heap, opt->name ? opt->name : number);
    if (!function->name)
        return GPH_E_NO_MEMORY;
    if (opt->input_count == 0)
        return GPH_OK;
    function->flags = gphi_heap_alloc(heap, opt->input_count);
    function->ports = gphi_heap_array(heap, opt->input_count, sizeof(*function->ports));
    if (!function->flags || !function->ports)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = 0; opt->inputs && i < opt->input_count; i++) {
        function->flags[i] = opt->inputs[i];
        if ((opt->inputs[i] & GPH_TREE_INPUT_MUTATED) != 0)
            function->mutates = true;
    }
    return GPH_OK;
}

static gph_status add_function(gph_tree *tree, gph_function_fn *fn, void *user,
                               const gph_tree_function_options *opt,
                               gph_tree_function **out)
{
    gph_tree_function *function = gphi_heap_alloc(tree->heap, sizeof(*function));
    if (!function)
        return GPH_E_NO_MEMORY;
    *function =
        (gph_tree_function){.tree = tree,
                            .fn = fn,
                            .user = user,
                            .input_count = opt->input_count,
                            .output_count = opt->output_count,
                            .key_count = opt->key_count,
                            .number = (uint32_t)tree->functions.count + 1,
                            .kind = (gph_tree_kind)opt->kind,
                            .is_root = (opt->flags & GPH_TREE_FUNCTION_ROOT) != 0,
                            .is_eager = (opt->flags & GPH_TREE_FUNCTION_EAGER) != 0};
    if (fill_function(function, opt) != GPH_OK || make_room(tree, function) != GPH_OK ||
        gphi_vec_reserve(&tree->functions, 1) != GPH_OK) {
        destroy_function(tree->heap, function);
        return GPH_E_NO_MEMORY;
    }
    *(gph_tree_function **)gphi_vec_add(&tree->functions, 1) = function;
    *out = function;
    return GPH_OK;
}

gph_status gph_tree_function_add(gph_tree *tree, gph_function_fn *fn, void *user,
                                 const gph_tree_function_options *options,
                                 gph_tree_function **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree, fn, out));
    gph_tree_function_options opt;
    GPHI_TRY(read_function(options, &opt, error));
    GPHI_TRY(gphi_tree_enter(tree, error));
    const gph_status status = add_function(tree, fn, user, &opt, out);
    gphi_tree_leave(tree);
    if (status != GPH_OK)
        return gphi_fail(error, status, "a function of %u inputs and %u outputs",
                         opt.input_count, opt.output_count);
    const uint64_t words[] = {(uint64_t)(uintptr_t)tree, (uint64_t)(uintptr_t)*out};
    gphi_note(GPHI_NOTE_TREE_FUNCTION, (*out)->name, words, 2);
    return GPH_OK;
}

/* ---- steps and outputs ---- */

gph_status gph_tree_step_begin(gph_tree *tree, gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree));
    GPHI_TRY(gphi_tree_enter(tree, error));
    gphi_tree_path_end(tree);
    tree->is_explicit = true;
    tree->stats.steps++;
    gphi_tree_leave(tree);
    return GPH_OK;
}

/* A handle is checked by numbers alone: its call, its path, its slot. No memory of the
 * output is looked at, so a stale handle cannot fault. */
gph_status gph_tree_output_tensor(const gph_tree *tree, gph_tree_output output,
                                  gph_tensor *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree, out));
    GPHI_TRY(gphi_tree_output_check(tree, &output, error));
    *out = *gphi_tree_slot_tensor(tree, output.slot);
    return GPH_OK;
}

gph_status gph_tree_output_data(const gph_tree *tree, gph_tree_output output,
                                CUdeviceptr *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree, out));
    GPHI_TRY(gphi_tree_output_check(tree, &output, error));
    *out = gphi_tree_slot_tensor(tree, output.slot)->data;
    return GPH_OK;
}

gph_status gph_tree_output_copy(gph_tree *tree, gph_tree_output output, CUdeviceptr to,
                                uint64_t bytes, gph_error *error)
{
    gph_tensor tensor;
    GPHI_TRY(gph_tree_output_tensor(tree, output, &tensor, error));
    const uint64_t extent = gph_tensor_bytes(&tensor);
    if (extent > bytes)
        return gphi_fail(error, GPH_E_INVALID, "the output has %llu bytes, `to` %llu",
                         (unsigned long long)extent, (unsigned long long)bytes);
    if (extent == 0)
        return GPH_OK;
    return tree->ops->copy(tree->backend, to, tensor.data, extent, error);
}

gph_status gph_tree_output_retain(gph_tree *tree, gph_tree_output output,
                                  gph_error *error)
{
    GPHI_TRY(gphi_need(error, tree));
    GPHI_TRY(gphi_tree_output_check(tree, &output, error));
    gphi_tree_retain(tree, &output);
    return GPH_OK;
}

void gph_tree_output_release(gph_tree *tree, gph_tree_output output)
{
    if (!tree || gphi_tree_enter(tree, NULL) != GPH_OK)
        return;
    gphi_tree_release(tree, &output);
    gphi_tree_leave(tree);
}

void gph_tree_event_get(const gph_tree *tree, gph_tree_event *out)
{
    if (!tree || !out)
        return;
    gph_tree_event event = tree->event;
    if (event.action == GPH_TREE_REPLAYED) { /* a hit writes no more than it must */
        event.input = -1;
        event.was = event.is = 0;
        event.text = "";
    }
    gphi_struct_write(out, &event, sizeof(event));
}

/* By whom inputs were copied: the recordings have counted. */
static void count_copies(const gph_tree *tree, gph_tree_stats *stats)
{
    gphi_tree_node *const *nodes = tree->nodes.items;
    for (size_t i = 0; i < tree->nodes.count && tree->ops->record_of; i++) {
        const struct gphi_record *record = tree->ops->record_of(nodes[i]->recording);
        stats->inputs_pulled += record->pulled;
        stats->inputs_copied += record->copied;
    }
}

void gph_tree_stats_get(const gph_tree *tree, gph_tree_stats *out)
{
    if (!tree || !out)
        return;
    gph_tree_stats stats = tree->stats;
    stats.depth = tree->depth;
    stats.live_outputs = tree->held;
    stats.live_blocks = tree->alive;
    stats.due = tree->due;
    count_copies(tree, &stats);
    gphi_struct_write(out, &stats, sizeof(stats));
}

// SPDX-License-Identifier: Apache-2.0
/* Sentinels in graphs: a fill of one word, 1, after each of some nodes, and one before
 * them that clears the words, when a launch begins.
 *
 *   program     a ──> b ──> c ──> d          nothing of the program waits for a sentinel
 *                     │           │
 *   sentinels  clear ─┴> b's ·····└> d's     "clear" comes before each
 *
 * They are in the program's graph only while it is made executable, or updates, and are
 * destroyed then. So handles, queries, signatures, descriptions and single setters are
 * those of the program's graph, and only what the driver has made of it has them. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/status.h"
#include "sentinel/listing.h"
#include "sentinel/progress.h"
#include "sentinel/sentinel.h"
#include "sentinel/spots.h"

#include <assert.h>
#include <stddef.h>

/* A graph that has, or had, the sentinels. */
struct held {
    gph_graph *graph;
    gphi_topology topology;
    uint32_t *nodes; /* count + 1 of them, those with sentinels */
};

struct marks {
    gphi_marks base;
    gphi_board *board;
    uint32_t count;
    uint64_t at;          /* of its block of the board */
    CUcontext context;    /* of the fills: an update must not change it */
    struct held is, next; /* next: entered, and not kept yet */
    CUgraphNode *handles; /* "clear", and one a sentinel, where they are in a graph */
    uint32_t entered;     /* of `handles`, which are there */
};

static struct marks *marks_from(gphi_marks *base);

static gphi_board_exec *block_of(const struct marks *marks)
{
    return gphi_board_at(marks->board->memory, marks->at);
}

static CUdeviceptr word_of(const struct marks *marks, uint32_t word)
{
    return marks->board->device + marks->at + offsetof(gphi_board_exec, words) +
           word * sizeof(atomic_uint);
}

/* ---- what is held ---- */

static void drop_held(const struct marks *marks, struct held *held)
{
    const gph_allocator heap = marks->board->runtime->heap;
    if (held->nodes)
        gphi_heap_free(heap, held->nodes, (marks->count + 1) * sizeof(*held->nodes));
    gphi_topology_fini(&held->topology);
    gph_graph_destroy(held->graph);
    *held = (struct held){0};
}

/* Nodes of such graphs cannot be taken away again. */
static gph_status check_kinds(const struct marks *marks, const gph_graph *graph,
                              gph_error *error)
{
    const uint32_t count = marks->board->is_drivers ? 0 : gph_graph_node_count(graph);
    for (uint32_t i = 0; i < count; i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_MEM_ALLOC || node->kind == GPH_NODE_MEM_FREE)
            return gphi_fail(error, GPH_E_UNSUPPORTED,
                             "node %u (%s): a graph that allocates or frees memory keeps "
                             "every node that was added, so it can have no sentinels",
                             i, gph_node_kind_name(node->kind));
    }
    return GPH_OK;
}

static gph_status hold(const struct marks *marks, const gphi_graph_source *source,
                       struct held *out, gph_error *error)
{
    GPHI_TRY(gphi_graph_describe(source, &out->graph, error));
    gph_status status = check_kinds(marks, out->graph, error);
    if (status == GPH_OK && (status = gphi_topology_init(&out->topology, out->graph)))
        gphi_fail(error, status, "placing sentinels");
    if (status != GPH_OK)
        drop_held(marks, out);
    return status;
}

static gph_status give_nodes(const struct marks *marks, struct held *held,
                             gph_error *error)
{
    held->nodes = gphi_heap_array(marks->board->runtime->heap, marks->count + 1,
                                  sizeof(*held->nodes));
    return gphi_made(error, held->nodes, "%u sentinels", marks->count);
}

/* ---- in the graph ---- */

/* Kernels have one; a graph without any is of the current one. Once, since those of an
 * update may come in another order, or from a thread without one. */
static gph_status find_context(struct marks *marks, const gph_graph *graph,
                               gph_error *error)
{
    if (marks->context)
        return GPH_OK;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_KERNEL && node->u.kernel.context != 0) {
            marks->context = (CUcontext)(uintptr_t)node->u.kernel.context;
            return GPH_OK;
        }
    }
    return gphi_cuda_check(error,
                           marks->board->runtime->cu.cuCtxGetCurrent(&marks->context),
                           "cuCtxGetCurrent", "adding sentinels");
}

/* The next of `handles`; without `after` it is the one that clears. */
static gph_status add_fill(struct marks *marks, CUgraph graph, const CUgraphNode after[2],
                           uint32_t first, uint32_t words, gph_error *error)
{
    const CUDA_MEMSET_NODE_PARAMS fill = {.dst = word_of(marks, first),
                                          .value = after ? 1 : 0,
                                          .elementSize = sizeof(atomic_uint),
                                          .width = words,
                                          .height = 1};
    GPHI_TRY(gphi_cuda_check(error,
                             marks->board->runtime->cu.cuGraphAddMemsetNode(
                                 &marks->handles[marks->entered], graph, after,
                                 after ? 2 : 0, &fill, marks->context),
                             "cuGraphAddMemsetNode",
                             "adding sentinel %u of %u to graph %p", marks->entered,
                             marks->count, (void *)graph));
    marks->entered++;
    return GPH_OK;
}

static gph_status add_all(struct marks *marks, CUgraph graph, const struct held *held,
                          gph_error *error)
{
    gphi_vec nodes;
    if (marks->count == 0 || marks->board->is_drivers)
        return GPH_OK;
    GPHI_TRY(find_context(marks, held->graph, error));
    gphi_vec_init(&nodes, marks->board->runtime->heap, sizeof(CUgraphNode));
    gph_status status = gphi_nodes_read(marks->board->runtime, graph, &nodes, error);
    if (status == GPH_OK && nodes.count != gph_graph_node_count(held->graph))
        status = gphi_fail(error, GPH_E_STATE, "graph %p changed while it was described",
                           (void *)graph);
    GPHI_THEN(status, add_fill(marks, graph, NULL, 0, marks->count, error));
    for (uint32_t i = 0; i < marks->count && status == GPH_OK; i++) {
        const CUgraphNode *node = gphi_vec_at(&nodes, held->nodes[i]);
        const CUgraphNode after[] = {*node, marks->handles[0]};
        status = add_fill(marks, graph, after, i, 1, error);
    }
    gphi_vec_fini(&nodes);
    return status;
}

static CUresult leave(gphi_marks *base, CUgraphNode *nodes[], size_t count)
{
    struct marks *marks = marks_from(base);
    CUresult first = CUDA_SUCCESS;
    while (marks->entered > 0) {
        const CUgraphNode mine = marks->handles[--marks->entered];
        for (size_t i = 0; i < count; i++)
            if (*nodes[i] == mine)
                *nodes[i] = NULL;
        const CUresult result = marks->board->runtime->cu.cuGraphDestroyNode(mine);
        first = first != CUDA_SUCCESS ? first : result;
    }
    return first;
}

/* What was not added yet is not there to be taken out. */
static gph_status add_or_leave(struct marks *marks, CUgraph graph,
                               const struct held *held, gph_error *error)
{
    const gph_status status = add_all(marks, graph, held, error);
    if (status != GPH_OK)
        gphi_ignore((gph_status)leave(&marks->base, NULL, 0), "the first failure counts");
    return status;
}

/* ---- an update ---- */

/* A sentinel's node is the partner of the one that has it. A graph that fits no more is
 * refused by the driver, for which the places do not matter. */
static gph_status pair(struct marks *marks, struct held *next, gph_error *error)
{
    gphi_pairing pairing = {
        .a = &marks->is.topology, .b = &next->topology, .any_data = true};
    const gph_status status = gphi_pairing_run(&pairing);
    const bool fits = status == GPH_OK && pairing.mismatch == GPHI_MATCH;
    for (uint32_t i = 0; i < marks->count && status == GPH_OK; i++) {
        const uint32_t node = marks->is.nodes[i], last = next->topology.count - 1;
        next->nodes[i] = fits ? pairing.partner[node] : node < last ? node : last;
    }
    gphi_pairing_fini(&pairing);
    if (status != GPH_OK)
        gphi_fail(error, status, "pairing %u nodes", next->topology.count);
    return status;
}

static gph_status hold_next(struct marks *marks, CUgraph graph, gph_error *error)
{
    const gphi_graph_source source = {.runtime = marks->board->runtime, .graph = graph};
    drop_held(marks, &marks->next);
    GPHI_TRY(hold(marks, &source, &marks->next, error));
    gph_status status = GPH_OK;
    if (marks->next.topology.count == 0 && marks->count > 0)
        status = gphi_fail(error, GPH_E_UNSUPPORTED, "graph %p is empty", (void *)graph);
    GPHI_THEN(status, give_nodes(marks, &marks->next, error));
    GPHI_THEN(status, pair(marks, &marks->next, error));
    if (status != GPH_OK)
        drop_held(marks, &marks->next);
    return status;
}

static gph_status enter(gphi_marks *base, CUgraph graph, gph_error *error)
{
    struct marks *marks = marks_from(base);
    GPHI_TRY(hold_next(marks, graph, error));
    const gph_status status = add_or_leave(marks, graph, &marks->next, error);
    if (status != GPH_OK)
        drop_held(marks, &marks->next);
    return status;
}

/* ---- what readers see ---- */

struct listed {
    const gphi_listing_parts *parts;
    const uint32_t *place; /* by node of the graph before */
    const uint32_t *back;  /* by node: the one before */
};

/* Graphs that update have no regions and places of their own: nodes keep their partners'. */
static const gphi_listing_entry *entry_before(const struct listed *listed, size_t node)
{
    return &listed->parts->entries[listed->place[listed->back[node]]];
}

static const char *region_before(const void *user, size_t node)
{
    const struct listed *listed = user;
    return listed->parts->texts + entry_before(listed, node)->region;
}

static const char *place_before(const void *user, size_t node)
{
    const struct listed *listed = user;
    return listed->parts->texts + entry_before(listed, node)->place;
}

/* The first one. Regions are the names of nodes. */
static gph_status write_first(const struct marks *marks, const gphi_graph_source *graph,
                              uint64_t *out, gph_error *error)
{
    const gphi_listing_source source = {.graph = marks->is.graph,
                                        .topology = &marks->is.topology,
                                        .nodes = marks->is.nodes,
                                        .count = marks->count,
                                        .place = graph->place,
                                        .user = graph->user};
    return gphi_listing_write(marks->board, &source, out, error);
}

/* That of a graph that updates. */
static gph_status write_next(const struct marks *marks, const struct held *held,
                             uint64_t *out, gph_error *error)
{
    const gph_allocator heap = marks->board->runtime->heap;
    gphi_listing_source source = {.graph = held->graph,
                                  .topology = &held->topology,
                                  .nodes = held->nodes,
                                  .count = marks->count};
    gphi_board_exec *block = block_of(marks);
    const uint64_t old = atomic_load_explicit(&block->listing, memory_order_relaxed);
    gphi_listing_parts parts;
    gphi_pairing pairing = {
        .a = &marks->is.topology, .b = &held->topology, .any_data = true};
    const size_t count = held->topology.count;
    uint32_t *place = gphi_heap_array(heap, count + 1, sizeof(*place));
    gph_status status = place ? gphi_pairing_run(&pairing) : GPH_E_NO_MEMORY;
    if (status != GPH_OK)
        gphi_fail(error, status, "listing %zu nodes", count);
    const struct listed listed = {&parts, place, pairing.back};
    if (status == GPH_OK && pairing.mismatch == GPHI_MATCH &&
        gphi_listing_open(marks->board->memory, marks->board->bytes, old, marks->count,
                          &parts) &&
        parts.head->count == count) {
        for (uint32_t i = 0; i < count; i++)
            place[parts.entries[i].index] = i;
        source.region = region_before;
        source.place = place_before;
        source.user = &listed;
    }
    GPHI_THEN(status, gphi_listing_write(marks->board, &source, out, error));
    gphi_pairing_fini(&pairing);
    gphi_heap_free(heap, place, (count + 1) * sizeof(*place));
    return status;
}

/* The names of the graph before are better than none. */
static void keep_next(struct marks *marks)
{
    gph_error error = {0};
    gphi_board_exec *block = block_of(marks);
    uint64_t fresh = 0;
    const gph_status status = write_next(marks, &marks->next, &fresh, &error);
    if (status != GPH_OK)
        gphi_log("sentinel", GPH_LOG_WARN,
                 "executable %llx is listed as before its update: %s",
                 (unsigned long long)atomic_load(&block->handle), error.message);
    else /* release: what it says is there */
        gphi_board_give(marks->board, atomic_exchange_explicit(&block->listing, fresh,
                                                               memory_order_acq_rel));
    drop_held(marks, &marks->is);
    marks->is = marks->next;
    marks->next = (struct held){0};
}

static void keep(gphi_marks *base, CUgraphExec exec)
{
    struct marks *marks = marks_from(base);
    atomic_store_explicit(&block_of(marks)->handle, (uintptr_t)exec,
                          memory_order_release);
    if (marks->next.graph)
        keep_next(marks);
}

static void refresh(gphi_marks *base, CUgraph graph)
{
    struct marks *marks = marks_from(base);
    gph_error error = {0};
    if (hold_next(marks, graph, &error) == GPH_OK)
        keep_next(marks);
    else
        gphi_log("sentinel", GPH_LOG_WARN, "graph %p is not listed: %s", (void *)graph,
                 error.message);
}

/* ---- life ---- */

static void destroy(gphi_marks *base)
{
    struct marks *marks = marks_from(base);
    gphi_board *board = marks->board;
    const gph_allocator heap = board->runtime->heap;
    if (marks->at > 0) {
        gphi_board_exec *block = block_of(marks);
        const uint64_t listing = atomic_exchange(&block->listing, 0);
        atomic_store(&block->handle, 0);
        gphi_board_give(board, listing);
        gphi_board_give(board, marks->at);
    }
    drop_held(marks, &marks->is);
    drop_held(marks, &marks->next);
    gphi_heap_free(heap, marks->handles, (marks->count + 1) * sizeof(*marks->handles));
    gphi_heap_free(heap, marks, sizeof(*marks));
    gphi_board_release(board);
}

/* Words are as after a launch, so that zeros say that one began. */
static gph_status take_block(struct marks *marks, gph_error *error)
{
    const uint64_t bytes = sizeof(gphi_board_exec) + marks->count * sizeof(atomic_uint);
    marks->at = gphi_board_take(marks->board, GPHI_BLOCK_EXEC, bytes);
    if (marks->at == 0)
        return gphi_fail(error, GPH_E_STATE,
                         "the board of %llu bytes has no room for %u sentinels",
                         (unsigned long long)marks->board->bytes, marks->count);
    gphi_board_exec *block = block_of(marks);
    for (uint32_t i = 0; i < marks->count; i++)
        atomic_store_explicit(&block->words[i], 1, memory_order_relaxed);
    block->word_count = marks->count;
    block->flags = marks->board->is_drivers ? GPHI_EXEC_DRIVERS : 0;
    atomic_store_explicit(&block->launches, 0, memory_order_relaxed);
    marks->base.launches = &block->launches;
    marks->base.words = block->words;
    marks->base.word_count = marks->count;
    return GPH_OK;
}

/* A driver that writes words does so for each. */
static gph_status all_nodes(const gphi_topology *topology, gphi_vec *out,
                            gph_error *error)
{
    for (uint32_t i = 0; i < topology->count; i++)
        if (gphi_vec_push(out, &i) != GPH_OK)
            return gphi_fail(error, GPH_E_NO_MEMORY, "listing %u nodes", topology->count);
    return GPH_OK;
}

static gph_status begin(struct marks *marks, const gphi_graph_source *source,
                        gph_error *error)
{
    const gph_allocator heap = marks->board->runtime->heap;
    gphi_vec spots;
    uint64_t listing = 0;
    GPHI_TRY(hold(marks, source, &marks->is, error));
    gphi_vec_init(&spots, heap, sizeof(uint32_t));
    gph_status status = marks->board->is_drivers
                            ? all_nodes(&marks->is.topology, &spots, error)
                            : gphi_spots_find(marks->is.graph, &marks->is.topology,
                                              marks->board->every, &spots, error);
    marks->count = (uint32_t)spots.count;
    GPHI_THEN(status, give_nodes(marks, &marks->is, error));
    for (uint32_t i = 0; i < marks->count && status == GPH_OK; i++)
        marks->is.nodes[i] = *(uint32_t *)gphi_vec_at(&spots, i);
    gphi_vec_fini(&spots);
    GPHI_TRY(status);
    marks->handles = gphi_heap_array(heap, marks->count + 1, sizeof(*marks->handles));
    GPHI_TRY(gphi_made(error, marks->handles, "%u sentinels", marks->count));
    GPHI_TRY(take_block(marks, error));
    GPHI_TRY(write_first(marks, source, &listing, error));
    atomic_store_explicit(&block_of(marks)->listing, listing, memory_order_release);
    return add_or_leave(marks, source->graph, &marks->is, error);
}

static gph_status create(gph_sentinel *sentinel, const gphi_graph_source *source,
                         gphi_marks **out, gph_error *error);

static const gphi_marks_ops methods = {.create = create,
                                       .destroy = destroy,
                                       .enter = enter,
                                       .leave = leave,
                                       .keep = keep,
                                       .refresh = refresh};

static struct marks *marks_from(gphi_marks *base)
{
    assert(base->ops == &methods);
    return (struct marks *)base;
}

static const gphi_board *board_of(const gph_sentinel *sentinel)
{
    assert(sentinel->ops == &methods);
    return (const gphi_board *)sentinel;
}

static gphi_board *board_from(gph_sentinel *sentinel)
{
    assert(sentinel->ops == &methods);
    return (gphi_board *)sentinel;
}

static gph_status create(gph_sentinel *sentinel, const gphi_graph_source *source,
                         gphi_marks **out, gph_error *error)
{
    gphi_board *board = board_from(sentinel);
    if (board->runtime != source->runtime)
        return gphi_fail(error, GPH_E_INVALID, "the board is of another runtime");
    struct marks *marks = gphi_heap_alloc(board->runtime->heap, sizeof(*marks));
    GPHI_TRY(gphi_made(error, marks, "adding sentinels"));
    marks->base.ops = &methods;
    marks->board = board;
    /* Relaxed: the caller is an owner, so it cannot reach 0 meanwhile. */
    atomic_fetch_add_explicit(&board->owners, 1, memory_order_relaxed);
    const gph_status status = begin(marks, source, error);
    if (status == GPH_OK)
        *out = &marks->base;
    else
        destroy(&marks->base);
    return status;
}

gph_status gphi_sentinel_create(gph_runtime *runtime, const gph_sentinel_options *options,
                                bool is_drivers, gph_sentinel **out, gph_error *error)
{
    const gphi_board_wish wish = {options, &methods, is_drivers};
    gphi_board *board = NULL;
    GPHI_TRY(gphi_board_create(runtime, &wish, &board, error));
    *out = &board->base;
    return GPH_OK;
}

gph_status gph_sentinel_create(gph_runtime *runtime, const gph_sentinel_options *options,
                               gph_sentinel **out, gph_error *error)
{
    gph_sentinel_options opt;
    GPHI_TRY(
        gphi_options_read(&opt, sizeof(opt), "gph_sentinel_options", options, error));
    GPHI_TRY(gphi_need(error, runtime, out));
    return gphi_sentinel_create(runtime, &opt, false, out, error);
}

bool gphi_sentinel_is_there(const gph_sentinel *sentinel)
{
    const gphi_board *board = board_of(sentinel);
    CUdeviceptr device = 0;
    return board->is_drivers || (board->runtime->cu.cuMemHostGetDevicePointer(
                                     &device, board->memory, 0) == CUDA_SUCCESS &&
                                 device == board->device);
}

gph_status gph_progress_create(gph_sentinel *sentinel, const gph_exec *exec,
                               gph_progress **out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, sentinel, out));
    gphi_board *board = board_from(sentinel);
    if (exec && (exec->self != exec || exec->sentinel != sentinel))
        return gphi_fail(error, GPH_E_STATE, "executable %p has no sentinels of board %p",
                         (const void *)exec, (void *)sentinel);
    /* No block is given to another meanwhile. */
    gphi_mutex_lock(&board->mutex);
    const gph_status status =
        gphi_progress_take(board->runtime->heap, board->memory, board->bytes,
                           exec ? marks_from(exec->marks)->at : 0, out, error);
    gphi_mutex_unlock(&board->mutex);
    return status;
}

void gph_sentinel_destroy(gph_sentinel *sentinel)
{
    if (sentinel)
        gphi_board_release(board_from(sentinel));
}

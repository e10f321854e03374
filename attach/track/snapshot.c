// SPDX-License-Identifier: Apache-2.0
/* Snapshots. The program may hold its allocator's locks: nothing is taken from the heap.
 *
 *   room: nodes | from | to | edge data | index of nodes, by handle | words | arguments
 *
 * The graph may be edited by another thread meanwhile: counts are asked again with the
 * arrays, and a handle that is not in the index has the number UINT32_MAX. */
#define _GNU_SOURCE
#include "attach/track/snapshot.h"
#include "attach/driver/find.h"
#include "attach/peek/memory.h"
#include "attach/track/function.h"
#include "attach/track/host.h"
#include "attach/track/source.h"
#include "base/hash.h"

#include <stdatomic.h>
#include <sys/mman.h>

enum {
    DEPTH_MAX = 16,
    POINTERS = 256,
    NODE_WORDS = 14,
    ARGUMENTS_MAX = 32 << 10,
    KEPT_BYTES = 1 << 20
};

static _Atomic uint64_t last_snapshot;

typedef struct snapshot {
    attach_snapshot_request request;
    uint64_t number, parent, parent_node;
    uint32_t depth;
    bool has_children, has_hosts, is_short;
    size_t node_count, edge_count;
    CUgraphNode *nodes;
    CUgraphNode *from, *to;
    CUgraphEdgeData *data;
    uint64_t *index; /* of nodes, by handle: pairs, open addressing */
    size_t index_mask;
    char *arguments; /* room for those of a kernel */
    void *room;
    size_t room_bytes;
    uint64_t pointers[POINTERS]; /* written lately */
} snapshot;

/* ---- pointers ---- */

/* What an address points at, once a snapshot (or so). Legal in captures. */
static void tell_pointer(snapshot *shot, uint64_t address)
{
    uint64_t *known = &shot->pointers[(address >> 4) % POINTERS];
    if (address < 1 << 16 || address >> 56 != 0 || *known == address)
        return;
    *known = address;
    uint64_t base = 0, bytes = 0, context = 0, pool = 0, buffer = 0;
    uint32_t type = 0, is_managed = 0;
    CUpointer_attribute wanted[] = {
        CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE,
        CU_POINTER_ATTRIBUTE_MEMORY_TYPE,      CU_POINTER_ATTRIBUTE_CONTEXT,
        CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,   CU_POINTER_ATTRIBUTE_BUFFER_ID,
        CU_POINTER_ATTRIBUTE_IS_MANAGED};
    void *values[] = {&base, &bytes, &type, &context, &pool, &buffer, &is_managed};
    if (ATTACH_ASK(cuPointerGetAttributes, 7, wanted, values, address) != CUDA_SUCCESS ||
        type == 0)
        return;
    const uint64_t words[] = {base, bytes, type, context, pool, buffer, is_managed & 1};
    attach_tell(GPHI_EVENT_POINTER, address, 0, words, 7, NULL);
}

static void tell_copy(snapshot *shot, const CUDA_MEMCPY3D *copy)
{
    if (copy->srcMemoryType != CU_MEMORYTYPE_ARRAY)
        tell_pointer(shot, copy->srcMemoryType == CU_MEMORYTYPE_HOST
                               ? (uint64_t)(uintptr_t)copy->srcHost
                               : copy->srcDevice);
    if (copy->dstMemoryType != CU_MEMORYTYPE_ARRAY)
        tell_pointer(shot, copy->dstMemoryType == CU_MEMORYTYPE_HOST
                               ? (uint64_t)(uintptr_t)copy->dstHost
                               : copy->dstDevice);
}

/* Words of a kernel's arguments that may be addresses. */
static void tell_arguments(snapshot *shot, const attach_layout *layout,
                           const char *arguments)
{
    for (uint32_t i = 0; i < layout->count; i++)
        for (uint32_t at = 0; at + 8 <= layout->places[2 * i + 1]; at += 8) {
            uint64_t word;
            memcpy(&word, arguments + layout->places[2 * i] + at, sizeof(word));
            tell_pointer(shot, word);
        }
}

/* ---- nodes ---- */

static _Atomic bool has_attributes; /* some kernel's may differ from 0 */

void attach_note_attributes(void)
{
    if (!atomic_load_explicit(&has_attributes, memory_order_relaxed))
        atomic_store_explicit(&has_attributes, true, memory_order_relaxed);
}

static int attribute_of(CUgraphNode node, CUkernelNodeAttrID which)
{
    if (!atomic_load_explicit(&has_attributes, memory_order_relaxed))
        return 0;
    CUkernelNodeAttrValue value = {{0}};
    if (ATTACH_ASK(cuGraphKernelNodeGetAttribute, node, which, &value) != CUDA_SUCCESS)
        return 0;
    return which == CU_LAUNCH_ATTRIBUTE_PRIORITY ? value.priority : value.cooperative;
}

static void add_kernel(snapshot *shot, attach_draft *draft, uint64_t *words,
                       CUgraphNode node)
{
    CUDA_KERNEL_NODE_PARAMS kernel = {0};
    if (ATTACH_ASK(cuGraphKernelNodeGetParams_v2, node, &kernel) != CUDA_SUCCESS)
        return;
    words[GPHI_NODE_FUNCTION] = attach_function_of(&kernel);
    const uint64_t shape[] = {
        kernel.gridDimX,
        kernel.gridDimY,
        kernel.gridDimZ,
        kernel.blockDimX,
        kernel.blockDimY,
        kernel.blockDimZ,
        kernel.sharedMemBytes,
        (uint64_t)(uintptr_t)kernel.ctx,
        (uint64_t)attribute_of(node, CU_LAUNCH_ATTRIBUTE_COOPERATIVE),
        (uint64_t)attribute_of(node, CU_LAUNCH_ATTRIBUTE_PRIORITY)};
    memcpy(words + GPHI_NODE_FUNCTION + 1, shape, sizeof(shape));
    draft->word_count = NODE_WORDS;
    const attach_layout *layout = attach_layout_of(words[GPHI_NODE_FUNCTION]);
    if (!kernel.kernelParams)
        attach_add_params(draft, 0, layout, NULL, kernel.extra);
    if (!kernel.kernelParams || !layout || layout->bytes == 0 ||
        layout->bytes > ARGUMENTS_MAX)
        return;
    /* The node's own memory, which goes if another thread edits the graph. */
    memset(shot->arguments, 0, layout->bytes);
    if (!attach_read_params(shot->arguments, layout, kernel.kernelParams))
        return;
    attach_add(draft, GPHI_PART_PARAMS, 0, shot->arguments, layout->bytes);
    tell_arguments(shot, layout, shot->arguments);
}

typedef union node_struct {
    CUDA_MEMCPY3D copy;
    CUDA_MEMSET_NODE_PARAMS fill;
    CUDA_HOST_NODE_PARAMS host;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUDA_BATCH_MEM_OP_NODE_PARAMS operations;
    CUdeviceptr freed;
    CUevent event;
    CUgraph child;
} node_struct;

/* The driver's own parameter struct of a node that is not a kernel; its bytes. */
static size_t get_struct(CUgraphNode node, CUgraphNodeType type, node_struct *out)
{
    switch (type) {
#define GET(kind, symbol, member)                                                        \
    case CU_GRAPH_NODE_TYPE_##kind:                                                      \
        return ATTACH_ASK(symbol, node, &out->member) == CUDA_SUCCESS                    \
                   ? sizeof(out->member)                                                 \
                   : 0;
        GET(MEMCPY, cuGraphMemcpyNodeGetParams, copy)
        GET(MEMSET, cuGraphMemsetNodeGetParams, fill)
        GET(HOST, cuGraphHostNodeGetParams, host)
        GET(GRAPH, cuGraphChildGraphNodeGetGraph, child)
        GET(WAIT_EVENT, cuGraphEventWaitNodeGetEvent, event)
        GET(EVENT_RECORD, cuGraphEventRecordNodeGetEvent, event)
        GET(MEM_ALLOC, cuGraphMemAllocNodeGetParams, alloc)
        GET(MEM_FREE, cuGraphMemFreeNodeGetParams, freed)
        GET(BATCH_MEM_OP, cuGraphBatchMemOpNodeGetParams, operations)
#undef GET
    default: return 0;
    }
}

/* A batch's operations are apart from its struct, in the node's own memory. */
static void add_operations(snapshot *shot, attach_draft *draft,
                           const CUDA_BATCH_MEM_OP_NODE_PARAMS *batch)
{
    const size_t bytes = batch->count * sizeof(*batch->paramArray);
    if (bytes <= ARGUMENTS_MAX && batch->paramArray &&
        attach_read(shot->arguments, batch->paramArray, bytes))
        attach_add(draft, GPHI_PART_ARRAY, 0, shot->arguments, bytes);
}

/* What could not be written makes the snapshot short: it is not referred to later. */
static void tell_node(snapshot *shot, size_t index)
{
    const CUgraphNode node = shot->nodes[index];
    CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
    ATTACH_ASK(cuGraphNodeGetType, node, &type);
    uint64_t words[NODE_WORDS] = {shot->number, index, (uint64_t)type, 0};
    attach_draft draft;
    attach_draft_begin(&draft, GPHI_EVENT_NODE, (uint64_t)(uintptr_t)node);
    attach_draft_words(&draft, words, GPHI_NODE_FUNCTION + 1);
    node_struct params;
    shot->has_children |= type == CU_GRAPH_NODE_TYPE_GRAPH;
    const uint64_t exec =
        shot->request.why == GPHI_SNAPSHOT_UPDATE ? 0 : shot->request.exec;
    if (type == CU_GRAPH_NODE_TYPE_KERNEL) {
        add_kernel(shot, &draft, words, node);
        attach_source_node(exec, (uint64_t)(uintptr_t)node, shot->number);
    } else {
        memset(&params, 0, sizeof(params));
        const size_t bytes = get_struct(node, type, &params);
        attach_add(&draft, GPHI_PART_STRUCT, 0, &params, bytes);
        if (type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP && bytes > 0)
            add_operations(shot, &draft, &params.operations);
    }
    shot->is_short |= !attach_write(&draft);
    if (type == CU_GRAPH_NODE_TYPE_MEMCPY) {
        shot->has_hosts = true;
        tell_copy(shot, &params.copy);
        attach_host_copy(exec, &params.copy);
    } else if (type == CU_GRAPH_NODE_TYPE_HOST) {
        shot->has_hosts = true;
        attach_host_user(exec, params.host.userData);
    } else if (type == CU_GRAPH_NODE_TYPE_MEMSET)
        tell_pointer(shot, params.fill.dst);
}

/* ---- edges ---- */

/* A node's pair in the index, or the free one where it belongs. */
static uint64_t *pair_of(const snapshot *shot, CUgraphNode node)
{
    const uint64_t key = (uint64_t)(uintptr_t)node;
    size_t at = (size_t)gphi_hash_mix(key);
    uint64_t *pair;
    do
        pair = &shot->index[2 * (at++ & shot->index_mask)];
    while (pair[0] != key && pair[0] != 0);
    return pair;
}

static void number_nodes(snapshot *shot)
{
    for (size_t i = 0; i < shot->node_count; i++) {
        uint64_t *pair = pair_of(shot, shot->nodes[i]);
        pair[0] = (uint64_t)(uintptr_t)shot->nodes[i];
        pair[1] = i;
    }
}

static uint64_t number_of(const snapshot *shot, CUgraphNode node)
{
    const uint64_t *pair = pair_of(shot, node);
    return pair[0] != 0 ? pair[1] : UINT32_MAX;
}

static void tell_edges(snapshot *shot)
{
    uint64_t *words = shot->index + 2 * (shot->index_mask + 1);
    for (size_t first = 0; first < shot->edge_count; first += GPHI_EDGES_MAX) {
        const size_t left = shot->edge_count - first;
        const size_t count = left < GPHI_EDGES_MAX ? left : GPHI_EDGES_MAX;
        for (size_t i = 0; i < count; i++) {
            words[2 * i] = number_of(shot, shot->from[first + i]) << 32 |
                           number_of(shot, shot->to[first + i]);
            memcpy(&words[2 * i + 1], &shot->data[first + i], sizeof(uint64_t));
        }
        shot->is_short |= !attach_tell(GPHI_EVENT_EDGES, shot->number, 0, words,
                                       (uint32_t)(2 * count), NULL);
    }
}

/* ---- the graph ---- */

static CUresult get_edges(const snapshot *shot, size_t *count)
{
    const CUgraph graph = (CUgraph)(uintptr_t)shot->request.graph;
    if (ATTACH_REAL(cuGraphGetEdges_v2))
        return ATTACH_REAL(cuGraphGetEdges_v2)(graph, shot->from, shot->to, shot->data,
                                               count);
    return ATTACH_ASK(cuGraphGetEdges, graph, shot->from, shot->to, count);
}

/* One room is kept, so that graphs which are captured again and again do not pay for its
 * pages; who finds it taken maps another. */
static _Alignas(64) char kept_room[KEPT_BYTES];
static atomic_flag is_kept_taken = ATOMIC_FLAG_INIT;

static void *take_room(size_t bytes)
{
    if (bytes <= sizeof(kept_room) && !atomic_flag_test_and_set(&is_kept_taken))
        return kept_room;
    void *room =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return room != MAP_FAILED ? room : NULL;
}

static void give_room(void *room, size_t bytes)
{
    if (room == kept_room)
        atomic_flag_clear(&is_kept_taken);
    else
        munmap(room, bytes);
}

/* Room for all arrays in one piece. */
static bool make_room(snapshot *shot)
{
    size_t slots = 16;
    while (slots < 2 * shot->node_count)
        slots *= 2;
    const size_t words =
        shot->edge_count < GPHI_EDGES_MAX ? shot->edge_count : GPHI_EDGES_MAX;
    shot->room_bytes =
        8 * (shot->node_count + 3 * shot->edge_count + 2 * slots + 2 * words) +
        ARGUMENTS_MAX;
    shot->room = take_room(shot->room_bytes);
    if (!shot->room)
        return false;
    shot->nodes = shot->room;
    shot->from = shot->nodes + shot->node_count;
    shot->to = shot->from + shot->edge_count;
    shot->data = (CUgraphEdgeData *)(shot->to + shot->edge_count);
    shot->index = (uint64_t *)(void *)(shot->data + shot->edge_count);
    shot->index_mask = slots - 1;
    memset(shot->index, 0, 2 * slots * sizeof(*shot->index));
    shot->arguments = (char *)shot->room + shot->room_bytes - ARGUMENTS_MAX;
    return true;
}

/* Nodes and edges as they are; false: the driver does not say. */
static bool load(snapshot *shot)
{
    const CUgraph graph = (CUgraph)(uintptr_t)shot->request.graph;
    if (ATTACH_ASK(cuGraphGetNodes, graph, NULL, &shot->node_count) != CUDA_SUCCESS)
        return false;
    if (get_edges(shot, &shot->edge_count) != CUDA_SUCCESS)
        shot->edge_count = 0;
    if (!make_room(shot))
        return false;
    size_t nodes = shot->node_count, edges = shot->edge_count;
    if (nodes > 0 &&
        ATTACH_ASK(cuGraphGetNodes, graph, shot->nodes, &nodes) != CUDA_SUCCESS)
        nodes = 0;
    if (edges > 0 && get_edges(shot, &edges) != CUDA_SUCCESS)
        edges = 0;
    shot->node_count = nodes < shot->node_count ? nodes : shot->node_count;
    shot->edge_count = edges < shot->edge_count ? edges : shot->edge_count;
    return true;
}

static uint64_t tell_graph(const attach_snapshot_request *request, const snapshot *parent,
                           uint64_t parent_node);

static void tell_children(const snapshot *shot)
{
    for (size_t i = 0; i < shot->node_count; i++) {
        CUgraphNodeType type;
        CUgraph child;
        if (ATTACH_ASK(cuGraphNodeGetType, shot->nodes[i], &type) != CUDA_SUCCESS ||
            type != CU_GRAPH_NODE_TYPE_GRAPH ||
            ATTACH_ASK(cuGraphChildGraphNodeGetGraph, shot->nodes[i], &child) !=
                CUDA_SUCCESS)
            continue;
        const attach_snapshot_request request = {.graph = (uint64_t)(uintptr_t)child,
                                                 .exec = shot->request.exec,
                                                 .why = GPHI_SNAPSHOT_CHILD};
        tell_graph(&request, shot, (uint64_t)(uintptr_t)shot->nodes[i]);
    }
}

static uint64_t tell_graph(const attach_snapshot_request *request, const snapshot *parent,
                           uint64_t parent_node)
{
    snapshot shot = {.request = *request,
                     .parent = parent ? parent->number : 0,
                     .parent_node = parent_node,
                     .depth = parent ? parent->depth + 1 : 0};
    if (shot.depth > DEPTH_MAX || !load(&shot))
        return 0;
    shot.number = atomic_fetch_add(&last_snapshot, 1) + 1;
    const uint64_t words[] = {
        shot.number,   shot.node_count, shot.edge_count, (uint64_t)request->why,
        request->exec, shot.parent,     parent_node,     request->capture};
    shot.is_short = !attach_tell(GPHI_EVENT_GRAPH, request->graph, 0, words, 8, NULL);
    number_nodes(&shot);
    for (size_t i = 0; i < shot.node_count; i++)
        tell_node(&shot, i);
    tell_edges(&shot);
    if (shot.has_children)
        tell_children(&shot);
    give_room(shot.room, shot.room_bytes);
    return shot.has_children || shot.has_hosts || shot.is_short ? 0 : shot.number;
}

static void tell_same(const attach_snapshot_request *request)
{
    const uint64_t words[] = {atomic_fetch_add(&last_snapshot, 1) + 1,
                              0,
                              0,
                              (uint64_t)request->why,
                              request->exec,
                              0,
                              0,
                              request->capture,
                              request->same_as};
    attach_tell(GPHI_EVENT_GRAPH, request->graph, 0, words, 9, NULL);
}

uint64_t attach_snapshot(const attach_snapshot_request *request)
{
    if (request->why == GPHI_SNAPSHOT_INSTANTIATED) {
        attach_host_forget(request->exec);
        attach_source_forget(request->exec);
    }
    if (request->same_as == 0)
        return tell_graph(request, NULL, 0);
    tell_same(request);
    if (request->why == GPHI_SNAPSHOT_INSTANTIATED)
        attach_source_same(request->exec, request->same_as);
    return request->same_as;
}

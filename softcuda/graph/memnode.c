// SPDX-License-Identifier: Apache-2.0
/* Memory nodes as nodes of a graph: addresses, and which free comes before what.
 *
 * Free nodes are kept in chains, each one after the one before:
 *
 *   chain 0   f1 ──► f2 ──► f4          a node's reach {2, 1}: f1, f2 and f3 come
 *   chain 1   f3                        before it
 *
 * A node's reach is the largest of its dependencies' when it is added, as on an H100;
 * edges that come later do not count. Where it is that of a single dependency it is
 * shared. What memory is short for is left out: an address is then not
 * used again, no more. */
#include "softcuda/graph/memnode.h"

#include <string.h>

#include "softcuda/device/alloc.h"
#include "softcuda/rules/rules.h"

#define CHAINS_MAX 64u

struct soft_graph_memory {
    atomic_uint references; /* the graph's, its executable's */
    soft_graph_arena *arenas[SOFT_DEVICE_MAX];
    uint32_t chains;
    uint32_t frees[CHAINS_MAX]; /* of each chain */
    soft_exec_memory *_Atomic exec;
};

struct soft_node_memory {
    soft_graph_alloc *alloc;
    CUDA_MEM_ALLOC_NODE_PARAMS params; /* MEM_ALLOC */
    CUmemAccessDesc *access;
};

soft_exec_memory *_Atomic *soft_graph_memory_exec(soft_graph_memory *memory)
{
    return &memory->exec;
}

bool soft_graph_memory_has_exec(soft_graph_memory *memory)
{
    return atomic_load_explicit(&memory->exec, memory_order_relaxed);
}

void soft_graph_memory_retain(soft_graph_memory *memory)
{
    atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
}

void soft_graph_memory_release(soft_graph_memory *memory)
{
    if (!memory ||
        atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) != 1)
        return;
    for (uint32_t i = 0; i < SOFT_DEVICE_MAX; i++)
        soft_graph_arena_release(memory->arenas[i]);
    soft_delete(memory);
}

/* The graph has memory nodes from now on. */
static CUresult begin_memory(soft_graph *graph)
{
    if (graph->memory)
        return CUDA_SUCCESS;
    graph->memory = soft_new(sizeof(*graph->memory));
    SOFT_TRY(soft_made(graph->memory, "no memory for memory nodes"));
    atomic_init(&graph->memory->references, 1);
    atomic_init(&graph->memory->exec, NULL);
    return CUDA_SUCCESS;
}

/* ---- what comes before what -------------------------------------------------------- */

static void reach_drop(soft_reach *reach)
{
    if (reach && --reach->references == 0)
        soft_delete(reach);
}

static bool reach_covers(const soft_reach *a, const soft_reach *b)
{
    if (!b)
        return true;
    if (!a)
        return b->chains == 0;
    for (uint32_t c = 0; c < b->chains; c++)
        if (b->frees[c] > (c < a->chains ? a->frees[c] : 0))
            return false;
    return true;
}

/* The larger of both in each chain; NULL without memory. */
static soft_reach *reach_join(const soft_reach *a, const soft_reach *b, uint32_t chains)
{
    soft_reach *out = soft_new(sizeof(*out) + chains * sizeof(out->frees[0]));
    if (!out)
        return NULL;
    out->references = 1;
    out->chains = chains;
    for (uint32_t c = 0; c < chains; c++) {
        const uint32_t x = a && c < a->chains ? a->frees[c] : 0;
        const uint32_t y = b && c < b->chains ? b->frees[c] : 0;
        out->frees[c] = x > y ? x : y;
    }
    return out;
}

/* A node's reach grows by another's. True if it did. */
static bool reach_take(const soft_graph *graph, soft_reach **at, soft_reach *more)
{
    if (reach_covers(*at, more))
        return false;
    soft_reach *fresh = more;
    if (reach_covers(more, *at))
        more->references++;
    else
        fresh = reach_join(*at, more, graph->memory->chains);
    if (!fresh)
        return false;
    reach_drop(*at);
    *at = fresh;
    return true;
}

/* A free node takes its place after the last of a chain that comes before it. */
static CUresult join_chain(soft_node *node, uint32_t *chain, uint32_t *number)
{
    soft_graph_memory *memory = node->graph->memory;
    uint32_t c = 0;
    while (c < memory->chains && !(node->reach && c < node->reach->chains &&
                                   node->reach->frees[c] == memory->frees[c]))
        c++;
    *chain = UINT32_MAX;
    *number = 0;
    if (c == CHAINS_MAX)
        return CUDA_SUCCESS;
    soft_reach *mine =
        reach_join(node->reach, NULL, c < memory->chains ? memory->chains : c + 1);
    SOFT_TRY(soft_made(mine, "no memory for a free node"));
    if (c == memory->chains)
        memory->chains++;
    mine->frees[c] = ++memory->frees[c];
    reach_drop(node->reach);
    node->reach = mine;
    *chain = c;
    *number = mine->frees[c];
    return CUDA_SUCCESS;
}

/* ---- parameters -------------------------------------------------------------------- */

/* In the order of the real driver: what is not a value at all, then what graphs lack. */
static CUresult check_props(const CUmemPoolProps *props)
{
    static const unsigned char zeros[sizeof(props->reserved)];
    const unsigned known_handles =
        CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | CU_MEM_HANDLE_TYPE_FABRIC;
    if (props->allocType != CU_MEM_ALLOCATION_TYPE_PINNED &&
        props->allocType != CU_MEM_ALLOCATION_TYPE_MANAGED)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "allocation type %d, not CU_MEM_ALLOCATION_TYPE_PINNED",
                         (int)props->allocType);
    if ((unsigned)props->handleTypes & ~known_handles)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "handle types 0x%x are not known",
                         (unsigned)props->handleTypes);
    if (props->location.type <= CU_MEM_LOCATION_TYPE_INVALID ||
        props->location.type > CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "location type %d is not known",
                         (int)props->location.type);
    if (memcmp(props->reserved, zeros, sizeof(zeros)) != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "reserved bytes of the pool properties are set");
    if (props->location.type == CU_MEM_LOCATION_TYPE_DEVICE &&
        !soft_device_at(props->location.id))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "device %d is not one of the %d visible", props->location.id,
                         soft_device_count());
    if (props->handleTypes != CU_MEM_HANDLE_TYPE_NONE)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "handle types 0x%x: memory of graphs cannot be exported",
                         (unsigned)props->handleTypes);
    if (props->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "location type %d: memory of graphs is a device's",
                         (int)props->location.type);
    return CUDA_SUCCESS;
}

CUresult soft_memory_params_check(const CUDA_MEM_ALLOC_NODE_PARAMS *params)
{
    const CUmemPoolProps *props = &params->poolProps;
    if (!soft_rule(R43))
        return CUDA_SUCCESS;
    SOFT_TRY(check_props(props));
    if (soft_rule(M_alloc_zero) && params->bytesize == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "an allocation of 0 bytes");
    if (params->accessDescCount > (size_t)soft_device_count())
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%zu access descriptors for %d devices", params->accessDescCount,
                         soft_device_count());
    if (params->accessDescCount > 0 && !params->accessDescs)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "accessDescs is NULL with %zu of them",
                         params->accessDescCount);
    return CUDA_SUCCESS;
}

static CUresult check_access(const CUDA_MEM_ALLOC_NODE_PARAMS *params, uint32_t *mask)
{
    *mask = 0;
    for (size_t i = 0; i < params->accessDescCount; i++) {
        const CUmemAccessDesc *desc = &params->accessDescs[i];
        if (!soft_rule(R44))
            continue;
        if (desc->flags & ~(unsigned)CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "access descriptor %zu asks for access 0x%x, which is not "
                             "known",
                             i, (unsigned)desc->flags);
        if (desc->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
            continue;
        if (!soft_device_at(desc->location.id))
            return soft_fail(CUDA_ERROR_INVALID_DEVICE,
                             "access descriptor %zu names device %d of %d", i,
                             desc->location.id, soft_device_count());
        if (desc->flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE)
            return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                             "access descriptor %zu asks for access 0x%x: a graph gives "
                             "reading and writing",
                             i, (unsigned)desc->flags);
        if (soft_rule(M_graph_peers))
            *mask |= 1u << desc->location.id;
    }
    return CUDA_SUCCESS;
}

/* ---- alloc nodes ------------------------------------------------------------------- */

static CUresult arena_of(soft_graph *graph, soft_device *device, soft_graph_arena **out)
{
    soft_graph_arena **at = &graph->memory->arenas[device->ordinal];
    if (!*at)
        SOFT_TRY(soft_pass(soft_graph_arena_create(device->memory, at, soft_error())));
    *out = *at;
    return CUDA_SUCCESS;
}

static CUresult add_alloc(soft_node *node, const CUDA_MEM_ALLOC_NODE_PARAMS *params,
                          soft_node_memory *memory)
{
    soft_device *device = soft_device_at(params->poolProps.location.id);
    if (!device) /* with R43 switched off */
        device = soft_device_at(0);
    uint32_t access;
    soft_graph_arena *arena;
    SOFT_TRY(check_access(params, &access));
    SOFT_TRY(arena_of(node->graph, device, &arena));
    memory->params = *params;
    memory->params.accessDescs = NULL;
    if (params->accessDescCount > 0) {
        memory->access = soft_new(params->accessDescCount * sizeof(*memory->access));
        SOFT_TRY(soft_made(memory->access, "no memory for %zu descriptors",
                           params->accessDescCount));
        memcpy(memory->access, params->accessDescs,
               params->accessDescCount * sizeof(*memory->access));
        memory->params.accessDescs = memory->access;
    }
    SOFT_TRY(soft_pass(soft_graph_alloc_add(arena, params->bytesize, access,
                                            soft_rule(R52) ? node->reach : NULL,
                                            &memory->alloc, soft_error())));
    memory->params.dptr = soft_rule(R42) ? soft_graph_alloc_base(memory->alloc) : 0;
    soft_graph_alloc_marks(memory->alloc)->owner = node;
    soft_graph_arena_retain(arena);
    return CUDA_SUCCESS;
}

/* ---- free nodes -------------------------------------------------------------------- */

static const soft_graph *root_of(const soft_graph *graph)
{
    while (graph->parent)
        graph = graph->parent->graph;
    return graph;
}

static bool frees(const soft_graph *graph, const soft_graph_alloc *alloc)
{
    for (uint32_t i = 0; i < graph->node_count; i++)
        if (graph->nodes[i]->type == CU_GRAPH_NODE_TYPE_MEM_FREE &&
            graph->nodes[i]->memory->alloc == alloc)
            return true;
    return false;
}

/* Whether a free node in `graph` may free it; what it does then. The arena is retained.
 */
static CUresult check_free(const soft_graph *graph, soft_graph_alloc *alloc,
                           CUdeviceptr address)
{
    const soft_graph_marks *marks = soft_graph_alloc_marks(alloc);
    const soft_node *owner = marks->owner;
    const bool own = owner && root_of(owner->graph) == root_of(graph);
    /* The arena may outlive the node, for an executable that was made before it. */
    if (soft_rule(M_alloc_gone) && !owner && !marks->left_unfreed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the alloc node of 0x%llx is gone, and no executable has it",
                         (unsigned long long)address);
    if (soft_rule(R45) && (marks->freed_inside || (!own && frees(graph, alloc))))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is freed by a node of %s graph already",
                         (unsigned long long)address, own ? "this" : "its own");
    if (soft_rule(R46) && own && marks->freed_outside)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is freed by a node of another graph",
                         (unsigned long long)address);
    if (soft_rule(M_left_unfreed) && own && marks->left_unfreed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the graph was instantiated with 0x%llx unfreed: its own nodes "
                         "cannot free it any more",
                         (unsigned long long)address);
    return CUDA_SUCCESS;
}

static CUresult add_free(soft_node *node, CUdeviceptr address, soft_node_memory *memory)
{
    const soft_graph *graph = node->graph;
    soft_device *device = NULL;
    for (int i = 0; i < soft_device_count() && !device; i++)
        if (soft_memory_contains(soft_device_at(i)->memory, address))
            device = soft_device_at(i);
    soft_graph_alloc *alloc;
    if (!device || !soft_graph_alloc_find(device->memory, address, &alloc))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "0x%llx is not the address of an allocation node",
                         (unsigned long long)address);
    const CUresult result = check_free(graph, alloc, address);
    if (result != CUDA_SUCCESS) {
        soft_graph_arena_release(soft_graph_alloc_arena(alloc));
        return result;
    }
    soft_graph_marks *marks = soft_graph_alloc_marks(alloc);
    const soft_node *owner = marks->owner;
    memory->alloc = alloc;
    memory->params.dptr = address;
    if (!owner || root_of(owner->graph) != root_of(graph)) {
        marks->freed_outside = true;
        return CUDA_SUCCESS;
    }
    uint32_t chain = UINT32_MAX, number = 0;
    if (owner->graph == graph)
        SOFT_TRY(join_chain(node, &chain, &number));
    marks->freed_inside = true;
    soft_graph_alloc_end(alloc, chain, number);
    return CUDA_SUCCESS;
}

/* ---- check mode -------------------------------------------------------------------- */

bool soft_memnode_has_work(void)
{
    return soft_check_memory_wanted();
}

static void open_alloc(void *alloc)
{
    soft_graph_alloc_open(alloc, true);
}

static void close_alloc(void *alloc)
{
    soft_graph_alloc_open(alloc, false);
}

static soft_task task_of(const soft_node *node)
{
    const bool begins = node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    return (soft_task){.kind = SOFT_TASK_CALL,
                       .u.call = {.function = begins ? open_alloc : close_alloc,
                                  .user = node->memory->alloc}};
}

/* ---- nodes ------------------------------------------------------------------------- */

static CUresult check_child(const soft_graph *graph)
{
    if (soft_rule(R50) && graph->parent &&
        graph->parent->type == CU_GRAPH_NODE_TYPE_GRAPH)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "alloc and free nodes cannot be added to a child graph");
    return CUDA_SUCCESS;
}

/* No device has such an address range, whatever memory the host is short of. */
#define BYTES_LIMIT ((size_t)1 << 48)

/* Whether a memory node that is refused was tried in earnest: an H100 makes it before it
 * looks at the address that is freed or the size, and takes it away again. Its graph then
 * is one with memory nodes (M_tried_nodes). */
static bool leaves_trace(const soft_node *node, const soft_memory_params *params,
                         CUresult result)
{
    if (!soft_rule(M_tried_nodes))
        return false;
    if (node->type == CU_GRAPH_NODE_TYPE_MEM_FREE)
        return result == CUDA_ERROR_INVALID_VALUE;
    return node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC &&
           result == CUDA_ERROR_OUT_OF_MEMORY && params->alloc.bytesize > BYTES_LIMIT;
}

CUresult soft_memnode_added(soft_node *node, const soft_memory_params *params)
{
    const bool is_memory = node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC ||
                           node->type == CU_GRAPH_NODE_TYPE_MEM_FREE;
    const bool began = !node->graph->memory;
    if (is_memory) {
        SOFT_TRY(check_child(node->graph));
        SOFT_TRY(begin_memory(node->graph));
    }
    if (!node->graph->memory)
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < node->dependencies.count; i++)
        if (node->dependencies.ends[i].node->reach)
            (void)reach_take(node->graph, &node->reach,
                             node->dependencies.ends[i].node->reach);
    if (!is_memory)
        return CUDA_SUCCESS;
    CUresult result;
    node->memory = soft_new(sizeof(*node->memory));
    if (!node->memory)
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for a memory node");
    else if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        result = add_alloc(node, &params->alloc, node->memory);
    else
        result = add_free(node, params->free, node->memory);
    if (result == CUDA_SUCCESS)
        node->task = task_of(node);
    if (result != CUDA_SUCCESS && began && !leaves_trace(node, params, result)) {
        soft_graph_memory_release(node->graph->memory);
        node->graph->memory = NULL;
    }
    return result;
}

void soft_memnode_drop(soft_node *node)
{
    reach_drop(node->reach);
    node->reach = NULL;
    soft_node_memory *memory = node->memory;
    if (!memory)
        return;
    node->memory = NULL;
    if (memory->alloc) {
        if (node->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
            soft_graph_alloc_marks(memory->alloc)->owner = NULL;
        soft_graph_arena_release(soft_graph_alloc_arena(memory->alloc));
    }
    soft_delete(memory->access);
    soft_delete(memory);
}

CUresult soft_memnode_adopt(soft_node *node)
{
    if (!node->child->memory)
        return CUDA_SUCCESS;
    if (!soft_rule(R49))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "the child graph has memory nodes");
    SOFT_TRY(check_child(node->graph));
    for (soft_graph *graph = node->graph; graph;
         graph = graph->parent ? graph->parent->graph : NULL)
        SOFT_TRY(begin_memory(graph));
    return CUDA_SUCCESS;
}

CUresult soft_memnode_check_delete(const soft_graph *graph, const char *what)
{
    if (soft_rule(R48) && soft_graph_has_memory(graph))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%s cannot be deleted from a graph with alloc or free nodes",
                         what);
    return CUDA_SUCCESS;
}

const CUDA_MEM_ALLOC_NODE_PARAMS *soft_memnode_params(const soft_node *node)
{
    return &node->memory->params;
}

CUdeviceptr soft_memnode_address(const soft_node *node)
{
    return node->memory->params.dptr;
}

soft_graph_alloc *soft_memnode_alloc(const soft_node *node)
{
    return node->memory->alloc;
}

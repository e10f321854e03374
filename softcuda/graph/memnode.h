// SPDX-License-Identifier: Apache-2.0
/* Graph memory nodes.
 *
 *   graph ── memory ─┬─ an arena a device: the addresses of its alloc nodes
 *                    ├─ chains of free nodes: what comes before what
 *                    └─ the one executable it may have (R32)
 *   node ─── memory ── the allocation; an alloc node's parameters
 *   exec ─── memory ── arenas it runs in, what it leaves unfreed, what it frees of others
 *
 * The graph mutex guards all of it but the executable's part, which launches read. */
#ifndef SOFT_GRAPH_MEMNODE_H
#define SOFT_GRAPH_MEMNODE_H

#include "softcuda/graph/graph.h"
#include "softcuda/memory/graphmem.h"

typedef struct soft_graph_memory soft_graph_memory;
typedef struct soft_node_memory soft_node_memory;
typedef struct soft_exec_memory soft_exec_memory;

/* What an alloc or free node is to be. */
typedef struct soft_memory_params {
    CUDA_MEM_ALLOC_NODE_PARAMS alloc; /* checked; descriptors are copied */
    CUdeviceptr free;
} soft_memory_params;

/* memnode.c. The properties and descriptors of an alloc node (R43, R44). */
CUresult soft_memory_params_check(const CUDA_MEM_ALLOC_NODE_PARAMS *params);
/* A node that has its dependencies: gives an alloc node its address, a free node what it
 * frees. `params` for those two types alone. Nothing is changed on failure. */
CUresult soft_memnode_added(soft_node *node, const soft_memory_params *params);
/* The node dies. */
void soft_memnode_drop(soft_node *node);
void soft_graph_memory_release(soft_graph_memory *memory); /* takes NULL */
bool soft_graph_memory_has_exec(soft_graph_memory *memory);
/* Whether it or a child graph of it has alloc or free nodes. */
static inline bool soft_graph_has_memory(const soft_graph *graph)
{
    return graph->memory;
}
/* A graph with such nodes has become a child graph of `node` (R63). */
CUresult soft_memnode_adopt(soft_node *node);
/* NOT_SUPPORTED, where nodes and edges cannot be deleted (R48). */
CUresult soft_memnode_check_delete(const soft_graph *graph, const char *what);
const CUDA_MEM_ALLOC_NODE_PARAMS *soft_memnode_params(const soft_node *node);
CUdeviceptr soft_memnode_address(const soft_node *node);
/* Check mode: alloc and free nodes say what is allocated, when they run. */
bool soft_memnode_has_work(void);

/* For execmem.c. */
soft_exec_memory *_Atomic *soft_graph_memory_exec(soft_graph_memory *memory);
void soft_graph_memory_retain(soft_graph_memory *memory);
soft_graph_alloc *soft_memnode_alloc(const soft_node *node);

/* execmem.c. What an executable of `graph`, flat `nodes` (NULL among them), needs; *out
 * is NULL where it has no memory nodes. Fails with NOT_SUPPORTED if the graph has an
 * executable other than that of `replaced` (may be NULL). */
CUresult soft_exec_memory_create(soft_graph *graph, soft_node *const *nodes,
                                 uint32_t count, const soft_exec_memory *replaced,
                                 soft_exec_memory **out);
/* Whether the graph has memory nodes and an executable other than that of `by`. */
bool soft_exec_memory_is_taken(const soft_graph *graph, const soft_exec_memory *by);
/* NOT_SUPPORTED then (R32). */
CUresult soft_exec_memory_check(const soft_graph *graph, const soft_exec_memory *by);
/* An instantiation that found something wrong in the nodes has counted as one for what
 * they leave unfreed. */
void soft_exec_memory_tried(const soft_graph *graph);
/* From now on the graph may have another executable. Takes NULL. */
void soft_exec_memory_disown(soft_exec_memory *memory);
/* The exec has a reference, and each launch; the last one disowns. Both take NULL. */
soft_exec_memory *soft_exec_memory_retain(soft_exec_memory *memory);
void soft_exec_memory_release(soft_exec_memory *memory);
/* Around a launch: may refuse it; else memory is there, and other launches with memory
 * nodes are kept out until the end. `done` NULL: it was not submitted. Both take NULL. */
CUresult soft_exec_memory_begin(soft_exec_memory *memory, bool auto_free,
                                soft_stream *stream);
void soft_exec_memory_end(soft_exec_memory *memory, const soft_point *done);
CUresult soft_exec_memory_upload(soft_exec_memory *memory, soft_stream *stream);
/* cuDeviceGraphMemTrim */
void soft_graph_memory_trim(soft_device *device);
/* cuMemFree (`queue` NULL: everything was waited for), cuMemFreeAsync. INVALID_VALUE if
 * no live allocation of a graph begins there. */
CUresult soft_graph_memory_free(soft_context *context, soft_stream *stream,
                                CUdeviceptr address);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Drivers before CUDA 12.4: calls that there have another form. Those about edges got edge
 * data with 12.3; before, an edge has none, which is what NULL means. A function is loaded by
 * a question that needs it.
 *
 * There is one driver a process, so what is found is kept once. */
#include "cuda/older.h"

/* As CUDA 12.0 has them. */
static CUresult (*info_before)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                               const CUgraphNode **, size_t *);
static CUresult (*update_before)(CUstream, CUgraphNode *, size_t, unsigned int);
static CUresult (*edges_before)(CUgraph, CUgraphNode *, CUgraphNode *, size_t *);
static CUresult (*dependencies_before)(CUgraphNode, CUgraphNode *, size_t *);
static CUresult (*dependents_before)(CUgraphNode, CUgraphNode *, size_t *);
static CUresult (*add_before)(CUgraph, const CUgraphNode *, const CUgraphNode *, size_t);
static CUresult (*remove_before)(CUgraph, const CUgraphNode *, const CUgraphNode *,
                                 size_t);
static CUresult (*attribute)(int *, CUfunction_attribute, CUfunction);

static void clear(CUgraphEdgeData *edges, size_t count)
{
    for (size_t i = 0; edges && i < count; i++)
        edges[i] = (CUgraphEdgeData){0};
}

static CUresult get_info(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                         CUgraph *graph, const CUgraphNode **nodes,
                         const CUgraphEdgeData **edges, size_t *count)
{
    if (edges)
        *edges = NULL;
    return info_before(stream, status, id, graph, nodes, count);
}

static CUresult update(CUstream stream, CUgraphNode *nodes, const CUgraphEdgeData *edges,
                       size_t count, unsigned int flags)
{
    (void)edges;
    return update_before(stream, nodes, count, flags);
}

static CUresult get_edges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                          CUgraphEdgeData *edges, size_t *count)
{
    const CUresult result = edges_before(graph, from, to, count);
    if (result == CUDA_SUCCESS)
        clear(edges, *count);
    return result;
}

/* The nodes beside a node. */
#define GET_BESIDE(name, before)                                                         \
    static CUresult name(CUgraphNode node, CUgraphNode *nodes, CUgraphEdgeData *edges,   \
                         size_t *count)                                                  \
    {                                                                                    \
        const CUresult result = before(node, nodes, count);                              \
        if (result == CUDA_SUCCESS)                                                      \
            clear(edges, *count);                                                        \
        return result;                                                                   \
    }
GET_BESIDE(get_dependencies, dependencies_before)
GET_BESIDE(get_dependents, dependents_before)

/* Edges come and go by their ends. */
#define BY_ENDS(name, before)                                                            \
    static CUresult name(CUgraph graph, const CUgraphNode *from, const CUgraphNode *to,  \
                         const CUgraphEdgeData *edges, size_t count)                     \
    {                                                                                    \
        (void)edges;                                                                     \
        return before(graph, from, to, count);                                           \
    }
BY_ENDS(add, add_before)
BY_ENDS(take_out, remove_before)

static CUresult load(CUfunction function)
{
    int registers = 0;
    return attribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, function);
}

/* Whoever opens the driver finds the same. Relaxed: a table is handed out after it. */
#define TAKE(call, name, version, before, adapter)                                       \
    if (!gphi_cuda_has(table, call)) {                                                   \
        const gph_cuda_fn found = source->find(source->user, name, version);             \
        if (found) {                                                                     \
            __atomic_store_n(&before, (__typeof__(before))found, __ATOMIC_RELAXED);      \
            table->call = adapter;                                                       \
        }                                                                                \
    }

void gphi_older_fill(gphi_cuda_table *table, const gphi_cuda_source *source)
{
    TAKE(cuStreamGetCaptureInfo, "cuStreamGetCaptureInfo", 12000, info_before, get_info)
    TAKE(cuStreamUpdateCaptureDependencies, "cuStreamUpdateCaptureDependencies", 12000,
         update_before, update)
    TAKE(cuGraphGetEdges, "cuGraphGetEdges", 12000, edges_before, get_edges)
    TAKE(cuGraphNodeGetDependencies, "cuGraphNodeGetDependencies", 12000,
         dependencies_before, get_dependencies)
    TAKE(cuGraphNodeGetDependentNodes, "cuGraphNodeGetDependentNodes", 12000,
         dependents_before, get_dependents)
    TAKE(cuGraphAddDependencies, "cuGraphAddDependencies", 12000, add_before, add)
    TAKE(cuGraphRemoveDependencies, "cuGraphRemoveDependencies", 12000, remove_before,
         take_out)
    TAKE(cuFuncLoad, "cuFuncGetAttribute", 2020, attribute, load)
}

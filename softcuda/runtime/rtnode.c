// SPDX-License-Identifier: Apache-2.0
/* Nodes whose parameters the runtime has in another form: kernels by their host stubs,
 * copies by cudaMemcpy3DParms, and the union of all.
 *
 *   runtime                       driver
 *   cudaKernelNodeParams.func     a CUfunction of the current context, and back
 *   cudaMemcpy3DParms             CUDA_MEMCPY3D: elements become bytes, a kind two types
 *   cudaMemsetParams              the same words; the context is an argument
 *   cudaGraphNodeParams           the same words at the same places, but for copies */
#include "softcuda/runtime/copies.h"
#include "softcuda/runtime/registry.h"

#include <string.h>

static CUcontext current(const rt_driver *cu)
{
    CUcontext context = NULL;
    cu->cuCtxGetCurrent(&context);
    return context;
}

#define NEW_NODE                                                                         \
    CUgraphNode *, out, CUgraph, graph, const CUgraphNode *, after, size_t, count

/* ---- kernels ------------------------------------------------------------------------------- */

static cudaError_t kernel_to_driver(const rt_driver *cu,
                                    const struct cudaKernelNodeParams *from,
                                    CUDA_KERNEL_NODE_PARAMS *out)
{
    if (!from)
        return cudaErrorInvalidValue;
    *out = (CUDA_KERNEL_NODE_PARAMS){.gridDimX = from->gridDim.x,
                                     .gridDimY = from->gridDim.y,
                                     .gridDimZ = from->gridDim.z,
                                     .blockDimX = from->blockDim.x,
                                     .blockDimY = from->blockDim.y,
                                     .blockDimZ = from->blockDim.z,
                                     .sharedMemBytes = from->sharedMemBytes,
                                     .kernelParams = from->kernelParams,
                                     .extra = from->extra};
    return rt_function(cu, from->func, &out->func);
}

/* A kernel of a library, or that was added through the driver, has no stub to be named by: the
 * runtime has no answer (an H200). */
static cudaError_t kernel_get(const rt_driver *cu, CUgraphNode node,
                              struct cudaKernelNodeParams *out)
{
    CUDA_KERNEL_NODE_PARAMS driver;
    if (!out)
        return cudaErrorInvalidValue;
    const CUresult result = cu->cuGraphKernelNodeGetParams(node, &driver);
    if (result != CUDA_SUCCESS)
        return (cudaError_t)result;
    const void *stub = rt_stub(cu, driver.func);
    if (!stub)
        return cudaErrorInvalidDeviceFunction;
    *out = (struct cudaKernelNodeParams){
        .func = (void *)(uintptr_t)stub,
        .gridDim = {driver.gridDimX, driver.gridDimY, driver.gridDimZ},
        .blockDim = {driver.blockDimX, driver.blockDimY, driver.blockDimZ},
        .sharedMemBytes = driver.sharedMemBytes,
        .kernelParams = driver.kernelParams,
        .extra = driver.extra};
    return cudaSuccess;
}

/* What is done with parameters: they become the driver's first. */
#define WITH_KERNEL(expression)                                                          \
    CUDA_KERNEL_NODE_PARAMS driver;                                                      \
    const cudaError_t result = kernel_to_driver(cu, params, &driver);                    \
    return result != cudaSuccess ? result : (cudaError_t)(expression)

static cudaError_t kernel_add(const rt_driver *cu, CUgraphNode *out, CUgraph graph,
                              const CUgraphNode *after, size_t count,
                              const struct cudaKernelNodeParams *params)
{
    WITH_KERNEL(cu->cuGraphAddKernelNode(out, graph, after, count, &driver));
}

static cudaError_t kernel_set(const rt_driver *cu, CUgraphNode node,
                              const struct cudaKernelNodeParams *params)
{
    WITH_KERNEL(cu->cuGraphKernelNodeSetParams(node, &driver));
}

static cudaError_t kernel_set_exec(const rt_driver *cu, CUgraphExec exec,
                                   CUgraphNode node,
                                   const struct cudaKernelNodeParams *params)
{
    WITH_KERNEL(cu->cuGraphExecKernelNodeSetParams(exec, node, &driver));
}

RT_ENTRY(cudaGraphAddKernelNode, (NEW_NODE, const struct cudaKernelNodeParams *, params),
         kernel_add(cu, out, graph, after, count, params))
RT_ENTRY(cudaGraphKernelNodeGetParams,
         (CUgraphNode, node, struct cudaKernelNodeParams *, params),
         kernel_get(cu, node, params))
RT_ENTRY(cudaGraphKernelNodeSetParams,
         (CUgraphNode, node, const struct cudaKernelNodeParams *, params),
         kernel_set(cu, node, params))
RT_ENTRY(cudaGraphExecKernelNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, const struct cudaKernelNodeParams *,
          params),
         kernel_set_exec(cu, exec, node, params))

/* ---- memset -------------------------------------------------------------------------------- */

/* The structures are the same, word for word. */
#define DRIVERS_MEMSET(params) ((const CUDA_MEMSET_NODE_PARAMS *)(const void *)(params))
_Static_assert(sizeof(struct cudaMemsetParams) == sizeof(CUDA_MEMSET_NODE_PARAMS),
               "size");

RT_ENTRY(cudaGraphAddMemsetNode, (NEW_NODE, const struct cudaMemsetParams *, params),
         cu->cuGraphAddMemsetNode(out, graph, after, count, DRIVERS_MEMSET(params),
                                  current(cu)))
RT_ENTRY(cudaGraphMemsetNodeGetParams, (CUgraphNode, node, void *, params),
         cu->cuGraphMemsetNodeGetParams(node, params))
RT_ENTRY(cudaGraphMemsetNodeSetParams,
         (CUgraphNode, node, const struct cudaMemsetParams *, params),
         cu->cuGraphMemsetNodeSetParams(node, DRIVERS_MEMSET(params)))
RT_ENTRY(cudaGraphExecMemsetNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, const struct cudaMemsetParams *, params),
         cu->cuGraphExecMemsetNodeSetParams(exec, node, DRIVERS_MEMSET(params),
                                            current(cu)))

/* ---- copies -------------------------------------------------------------------------------- */

#define WITH_COPY(what, expression)                                                      \
    CUDA_MEMCPY3D driver;                                                                \
    const cudaError_t result = rt_copy_to_driver(cu, what, &driver);                     \
    return result != cudaSuccess ? result : (cudaError_t)(expression)

static cudaError_t copy_add(const rt_driver *cu, CUgraphNode *out, CUgraph graph,
                            const CUgraphNode *after, size_t count,
                            const struct cudaMemcpy3DParms *what)
{
    WITH_COPY(what,
              cu->cuGraphAddMemcpyNode(out, graph, after, count, &driver, current(cu)));
}

static cudaError_t copy_set(const rt_driver *cu, CUgraphNode node,
                            const struct cudaMemcpy3DParms *what)
{
    WITH_COPY(what, cu->cuGraphMemcpyNodeSetParams(node, &driver));
}

static cudaError_t copy_set_exec(const rt_driver *cu, CUgraphExec exec, CUgraphNode node,
                                 const struct cudaMemcpy3DParms *what)
{
    WITH_COPY(what, cu->cuGraphExecMemcpyNodeSetParams(exec, node, &driver, current(cu)));
}

/* What was set as a symbol comes back as an address: the driver does not keep names. */
static cudaError_t copy_get(const rt_driver *cu, CUgraphNode node,
                            struct cudaMemcpy3DParms *out)
{
    CUDA_MEMCPY3D driver;
    const CUresult result = cu->cuGraphMemcpyNodeGetParams(node, &driver);
    if (result != CUDA_SUCCESS || !out)
        return result != CUDA_SUCCESS ? (cudaError_t)result : cudaErrorInvalidValue;
    rt_copy_to_runtime(cu, &driver, out);
    return cudaSuccess;
}

RT_ENTRY(cudaGraphAddMemcpyNode, (NEW_NODE, const struct cudaMemcpy3DParms *, what),
         copy_add(cu, out, graph, after, count, what))
RT_ENTRY(cudaGraphMemcpyNodeGetParams,
         (CUgraphNode, node, struct cudaMemcpy3DParms *, what), copy_get(cu, node, what))
RT_ENTRY(cudaGraphMemcpyNodeSetParams,
         (CUgraphNode, node, const struct cudaMemcpy3DParms *, what),
         copy_set(cu, node, what))
RT_ENTRY(cudaGraphExecMemcpyNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, const struct cudaMemcpy3DParms *, what),
         copy_set_exec(cu, exec, node, what))

/* ---- copies of one row ------------------------------------------------------------------------ */

/* Where a row of a copy comes from or goes to: memory, or a variable. */
typedef struct row {
    void *to;
    const void *from;
    const void *symbol; /* NULL: memory on both sides */
    size_t count, offset;
    int kind;
    bool writes; /* the variable is written */
} row;

static cudaError_t row_copy(const rt_driver *cu, const row *of,
                            struct cudaMemcpy3DParms *out)
{
    CUdeviceptr at = 0;
    const cudaError_t result =
        of->symbol ? rt_symbol_range(cu, of->symbol, of->count, of->offset, &at)
                   : cudaSuccess;
    void *variable = (void *)(uintptr_t)at;
    *out = rt_copy_row(of->symbol && of->writes ? variable : of->to,
                       of->symbol && !of->writes ? variable : of->from, of->count,
                       (enum cudaMemcpyKind)of->kind);
    return result;
}

static cudaError_t row_add(const rt_driver *cu, CUgraphNode *out, CUgraph graph,
                           const CUgraphNode *after, size_t count, row of)
{
    struct cudaMemcpy3DParms what;
    const cudaError_t result = row_copy(cu, &of, &what);
    return result != cudaSuccess ? result : copy_add(cu, out, graph, after, count, &what);
}

static cudaError_t row_set(const rt_driver *cu, CUgraphNode node, row of)
{
    struct cudaMemcpy3DParms what;
    const cudaError_t result = row_copy(cu, &of, &what);
    return result != cudaSuccess ? result : copy_set(cu, node, &what);
}

static cudaError_t row_set_exec(const rt_driver *cu, CUgraphExec exec, CUgraphNode node,
                                row of)
{
    struct cudaMemcpy3DParms what;
    const cudaError_t result = row_copy(cu, &of, &what);
    return result != cudaSuccess ? result : copy_set_exec(cu, exec, node, &what);
}

#define MEMORY_ROW void *, to, const void *, from, size_t, bytes, int, kind
#define TO_SYMBOL_ROW                                                                    \
    const void *, symbol, const void *, from, size_t, bytes, size_t, offset, int, kind
#define FROM_SYMBOL_ROW                                                                  \
    void *, to, const void *, symbol, size_t, bytes, size_t, offset, int, kind
#define MEMORY(...) ((row){to, from, NULL, bytes, 0, kind, false})
#define TO_SYMBOL(...) ((row){NULL, from, symbol, bytes, offset, kind, true})
#define FROM_SYMBOL(...) ((row){to, NULL, symbol, bytes, offset, kind, false})

RT_ENTRY(cudaGraphAddMemcpyNode1D, (NEW_NODE, MEMORY_ROW),
         row_add(cu, out, graph, after, count, MEMORY()))
RT_ENTRY(cudaGraphAddMemcpyNodeToSymbol, (NEW_NODE, TO_SYMBOL_ROW),
         row_add(cu, out, graph, after, count, TO_SYMBOL()))
RT_ENTRY(cudaGraphAddMemcpyNodeFromSymbol, (NEW_NODE, FROM_SYMBOL_ROW),
         row_add(cu, out, graph, after, count, FROM_SYMBOL()))
RT_ENTRY(cudaGraphMemcpyNodeSetParams1D, (CUgraphNode, node, MEMORY_ROW),
         row_set(cu, node, MEMORY()))
RT_ENTRY(cudaGraphMemcpyNodeSetParamsToSymbol, (CUgraphNode, node, TO_SYMBOL_ROW),
         row_set(cu, node, TO_SYMBOL()))
RT_ENTRY(cudaGraphMemcpyNodeSetParamsFromSymbol, (CUgraphNode, node, FROM_SYMBOL_ROW),
         row_set(cu, node, FROM_SYMBOL()))
RT_ENTRY(cudaGraphExecMemcpyNodeSetParams1D,
         (CUgraphExec, exec, CUgraphNode, node, MEMORY_ROW),
         row_set_exec(cu, exec, node, MEMORY()))
RT_ENTRY(cudaGraphExecMemcpyNodeSetParamsToSymbol,
         (CUgraphExec, exec, CUgraphNode, node, TO_SYMBOL_ROW),
         row_set_exec(cu, exec, node, TO_SYMBOL()))
RT_ENTRY(cudaGraphExecMemcpyNodeSetParamsFromSymbol,
         (CUgraphExec, exec, CUgraphNode, node, FROM_SYMBOL_ROW),
         row_set_exec(cu, exec, node, FROM_SYMBOL()))

/* ---- the union ---------------------------------------------------------------------------------- */

_Static_assert(sizeof(struct cudaGraphNodeParams) == sizeof(CUgraphNodeParams), "size");

/* All but copies have the driver's first words; contexts are the current one. */
static cudaError_t union_to_driver(const rt_driver *cu,
                                   const struct cudaGraphNodeParams *from,
                                   CUgraphNodeParams *out)
{
    if (!from)
        return cudaErrorInvalidValue;
    memcpy(out, from, sizeof(*out));
    switch (from->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        out->kernel.kern = NULL;
        out->kernel.ctx = NULL;
        return rt_function(cu, from->kernel.func, &out->kernel.func);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        memset(&out->memcpy, 0, sizeof(out->memcpy));
        out->memcpy.flags = from->memcpy.flags;
        out->memcpy.copyCtx = current(cu);
        return rt_copy_to_driver(cu, &from->memcpy.copyParams, &out->memcpy.copyParams);
    case CU_GRAPH_NODE_TYPE_MEMSET: out->memset.ctx = current(cu); return cudaSuccess;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->conditional.ctx = current(cu);
        return cudaSuccess;
    default: return cudaSuccess;
    }
}

/* What the driver answers in the parameters: bodies of a conditional node, the address of
 * an allocation. */
static void union_answer(const CUgraphNodeParams *driver, struct cudaGraphNodeParams *out)
{
    if (out->type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        out->conditional.phGraph_out = driver->conditional.phGraph_out;
    else if (out->type == CU_GRAPH_NODE_TYPE_MEM_ALLOC)
        memcpy(out->reserved1, &driver->alloc, sizeof(driver->alloc));
}

static cudaError_t union_add(const rt_driver *cu, CUgraphNode *out, CUgraph graph,
                             const CUgraphNode *after, const CUgraphEdgeData *edges,
                             size_t count, struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    cudaError_t result = union_to_driver(cu, params, &driver);
    if (result == cudaSuccess)
        result =
            (cudaError_t)cu->cuGraphAddNode(out, graph, after, edges, count, &driver);
    if (result == cudaSuccess)
        union_answer(&driver, params);
    return result;
}

static cudaError_t union_set(const rt_driver *cu, CUgraphExec exec, CUgraphNode node,
                             struct cudaGraphNodeParams *params)
{
    CUgraphNodeParams driver;
    const cudaError_t result = union_to_driver(cu, params, &driver);
    if (result != cudaSuccess)
        return result;
    return (cudaError_t)(exec ? cu->cuGraphExecNodeSetParams(exec, node, &driver)
                              : cu->cuGraphNodeSetParams(node, &driver));
}

RT_ENTRY(cudaGraphAddNode,
         (CUgraphNode *, out, CUgraph, graph, const CUgraphNode *, after,
          const CUgraphEdgeData *, edges, size_t, count, struct cudaGraphNodeParams *,
          params),
         union_add(cu, out, graph, after, edges, count, params))
RT_ENTRY(cudaGraphNodeSetParams,
         (CUgraphNode, node, struct cudaGraphNodeParams *, params),
         union_set(cu, NULL, node, params))
RT_ENTRY(cudaGraphExecNodeSetParams,
         (CUgraphExec, exec, CUgraphNode, node, struct cudaGraphNodeParams *, params),
         exec ? union_set(cu, exec, node, params) : cudaErrorInvalidValue)

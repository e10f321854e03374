// SPDX-License-Identifier: Apache-2.0
/* cuGraphInstantiate*, cuGraphExec*, launches and uploads. */
#include <string.h>

#include "softcuda/api/describe.h"
#include "softcuda/api/exports.h"

/* ---- instantiation ------------------------------------------------------------------
 */

static CUresult check_flags(uint64_t flags, uint64_t allowed)
{
    if (soft_rule(R29) && (flags & ~allowed))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "Invalid instantiation flags: 0x%llx",
                         (unsigned long long)flags);
    if (soft_rule(R29) && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the flags for device launch and auto free exclude each other");
    return CUDA_SUCCESS;
}

static const char upload_call[] = "cuGraphUpload";

/* Captures forbid instantiations, but none with flags that are not known, and none that
 * upload: then the upload alone is judged. */
static CUresult enter_call(const char *call, uint64_t flags, uint64_t allowed)
{
    SOFT_TRY(soft_enter(upload_call));
    soft_thread_self()->call = call;
    if (soft_capture_is_open() && soft_rule(M_instantiate_flags))
        SOFT_TRY(check_flags(flags & ~allowed, allowed));
    if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) && soft_rule(M_instantiate_upload))
        return CUDA_SUCCESS;
    return soft_enter(call);
}

/* A capture takes fills of any destination: they are judged now. */
static CUresult check_fills(const soft_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
            SOFT_TRY(soft_fill_check(&node->task.u.fill));
        if (node->type == CU_GRAPH_NODE_TYPE_GRAPH)
            SOFT_TRY(check_fills(node->child));
    }
    return CUDA_SUCCESS;
}

static CUresult need_context(void)
{
    if (soft_rule(M_instantiate_context) && soft_context_current() == NULL)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    return CUDA_SUCCESS;
}

static CUresult instantiate_locked(CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                                   soft_exec **out)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (graph->node_count == 0 && !soft_rule(R8))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the graph has no node");
    if (soft_rule(M_child_instantiate) && graph->parent)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the graph belongs to a child-graph node of another one");
    if (graph->capture && !soft_rule(R39))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a stream captures into the graph");
    SOFT_TRY(soft_exec_memory_check(graph, NULL)); /* whatever else is wrong */
    CUresult result = soft_rule(M_capture_fill) ? check_fills(graph) : CUDA_SUCCESS;
    if (result == CUDA_SUCCESS)
        result = soft_exec_create(graph, params->flags, out, params);
    if (result == CUDA_ERROR_INVALID_VALUE && soft_rule(M_left_unfreed))
        soft_exec_memory_tried(graph);
    return result;
}

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t allowed,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    params->hErrNode_out = NULL;
    SOFT_TRY(check_flags(params->flags, allowed));
    SOFT_TRY(need_context());
    if (out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "phGraphExec is NULL");
    soft_exec *exec;
    soft_graph_lock();
    const CUresult result = instantiate_locked(handle, params, &exec);
    soft_graph_unlock();
    if (result == CUDA_SUCCESS)
        *out = (CUgraphExec)exec;
    return result;
}

#define FLAGS_PLAIN                                                                      \
    (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |                                   \
     CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |                                         \
     CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY)

CUresult cuGraphInstantiateWithFlags(CUgraphExec *out, CUgraph graph,
                                     unsigned long long flags)
{
    SOFT_TRY(enter_call(__func__, flags, FLAGS_PLAIN));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {.flags = flags};
    return instantiate(out, graph, FLAGS_PLAIN, &params);
}

CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node,
                               char *log, size_t log_bytes)
{
    SOFT_ENTER();
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    const CUresult result = instantiate(out, graph, 0, &params);
    if (error_node)
        *error_node = NULL; /* an H100 tells it by the newer calls alone */
    if (log && log_bytes > 0)
        log[0] = '\0';
    return result;
}

CUresult cuGraphInstantiate(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node,
                            char *log, size_t log_bytes)
{
    return cuGraphInstantiate_v2(out, graph, error_node, log, log_bytes);
}

struct launch_site {
    const char *call; /* the entry point */
    CUstream stream;
    bool per_thread;
};

static CUresult launch_or_upload(CUgraphExec handle, struct launch_site site,
                                 CUresult (*act)(soft_exec *, soft_stream *))
{
    SOFT_ENTER_CONTEXT_AS(site.call, context);
    soft_exec *exec;
    soft_stream *stream;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    CUresult result = soft_stream_find(context, site.stream, site.per_thread, &stream);
    if (result == CUDA_SUCCESS)
        result = act(exec, stream);
    soft_exec_release(exec);
    return result;
}

/* Whether the stream of an upload could take one. */
static CUresult check_upload(CUstream handle, bool per_thread, const char *call)
{
    SOFT_ENTER_CONTEXT_AS(upload_call, context);
    soft_stream *stream;
    const CUresult result = soft_stream_find(context, handle, per_thread, &stream);
    soft_thread_self()->call = call;
    return result;
}

/* A graph that cannot be uploaded gives no executable. */
static CUresult instantiate_with(CUgraphExec *out, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params, bool per_thread)
{
    static const char call[] = "cuGraphInstantiateWithParams";
    const uint64_t allowed = FLAGS_PLAIN | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    const CUresult entered = enter_call(call, params ? params->flags : 0, allowed);
    if (params != NULL) /* also where a capture forbids the call */
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    SOFT_TRY(entered);
    if (params == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "instantiateParams is NULL");
    if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) && soft_capture_is_open() &&
        soft_rule(M_instantiate_upload)) /* a stream that captures is seen first */
        SOFT_TRY(check_upload(params->hUploadStream, per_thread, call));
    CUgraphExec exec = NULL;
    SOFT_TRY(instantiate(out != NULL ? &exec : NULL, graph, allowed, params));
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
        /* As an upload of its own, also to a capture. */
        const struct launch_site site = {upload_call, params->hUploadStream, per_thread};
        const CUresult result = launch_or_upload(exec, site, soft_exec_upload);
        if (result != CUDA_SUCCESS) {
            params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
            (void)soft_exec_destroy(exec); /* the upload is the cause */
            return result;
        }
    }
    *out = exec;
    return CUDA_SUCCESS;
}

CUresult cuGraphInstantiateWithParams(CUgraphExec *out, CUgraph graph,
                                      CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return instantiate_with(out, graph, params, false);
}

CUresult cuGraphInstantiateWithParams_ptsz(CUgraphExec *out, CUgraph graph,
                                           CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    return instantiate_with(out, graph, params, true);
}

CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *out)
{
    SOFT_ENTER();
    if (out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags is NULL");
    soft_exec *exec;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    *out = soft_exec_flags(exec);
    soft_exec_release(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    SOFT_ENTER();
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH_EXEC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is no executable graph, or it was destroyed",
                         (void *)handle);
    return soft_exec_destroy(handle);
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream)
{
    const struct launch_site site = {"cuGraphLaunch", stream, false};
    return launch_or_upload(exec, site, soft_exec_launch);
}

CUresult cuGraphLaunch_ptsz(CUgraphExec exec, CUstream stream)
{
    const struct launch_site site = {"cuGraphLaunch", stream, true};
    return launch_or_upload(exec, site, soft_exec_launch);
}

CUresult cuGraphUpload(CUgraphExec exec, CUstream stream)
{
    const struct launch_site site = {"cuGraphUpload", stream, false};
    return launch_or_upload(exec, site, soft_exec_upload);
}

CUresult cuGraphUpload_ptsz(CUgraphExec exec, CUstream stream)
{
    const struct launch_site site = {"cuGraphUpload", stream, true};
    return launch_or_upload(exec, site, soft_exec_upload);
}

/* ---- updates ------------------------------------------------------------------------
 */

static CUresult update_locked(soft_exec *exec, CUgraph handle,
                              CUgraphExecUpdateResultInfo *out)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    return soft_exec_update(exec, graph, out);
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph,
                              CUgraphExecUpdateResultInfo *out)
{
    SOFT_ENTER();
    CUgraphExecUpdateResultInfo unwanted;
    if (out == NULL)
        out = &unwanted;
    /* All that is not about the graphs leaves SUCCESS in it, as on an H100. */
    *out = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    soft_exec *exec;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    soft_exec_reserve(exec);
    soft_graph_lock();
    const CUresult result = update_locked(exec, graph, out);
    soft_graph_unlock();
    soft_exec_release(exec);
    return result;
}

CUresult cuGraphExecUpdate(CUgraphExec handle, CUgraph graph, CUgraphNode *error_node,
                           CUgraphExecUpdateResult *out)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    const CUresult result = cuGraphExecUpdate_v2(handle, graph, &info);
    if (error_node)
        *error_node = info.errorNode;
    if (out)
        *out = info.result;
    return result;
}

/* ---- single nodes -------------------------------------------------------------------
 */

CUresult soft_api_check_settable(CUgraphNodeType type, CUgraphNodeType wanted)
{
    /* Parameters of another type are the first mistake. */
    if (soft_rule(R16) && type == wanted &&
        (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the parameters of alloc and free nodes cannot be set");
    return CUDA_SUCCESS;
}

static CUresult set_locked(soft_exec *exec, CUgraphNode handle,
                           const CUgraphNodeParams *params, bool is_typed,
                           soft_description *d)
{
    soft_node *node;
    SOFT_TRY(soft_node_find(handle, &node));
    SOFT_TRY(soft_api_check_settable(node->type, params->type));
    SOFT_TRY(is_typed ? soft_describe_typed(params, NULL, d)
                      : soft_describe_any(params, NULL, d));
    return soft_exec_set_node(exec, node, &d->params);
}

/* All setters of single nodes come here, with the parameters in their generic form. Those
 * that a typed setter made have just the bytes of that type. */
static CUresult set_any(CUgraphExec handle, CUgraphNode node,
                        const CUgraphNodeParams *params, bool is_typed)
{
    soft_exec *exec;
    soft_description d;
    memset(&d.params, 0, sizeof(d.params));
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    soft_exec_reserve(exec);
    soft_graph_lock();
    const CUresult result = set_locked(exec, node, params, is_typed, &d);
    soft_graph_unlock();
    soft_exec_release(exec);
    return result;
}

static CUresult set_node(CUgraphExec handle, CUgraphNode node,
                         const CUgraphNodeParams *params)
{
    return set_any(handle, node, params, true);
}

static CUresult need_params(const void *params)
{
    if (params == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "nodeParams is NULL");
    return CUDA_SUCCESS;
}

CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                  CUgraphNodeParams *params)
{
    SOFT_ENTER();
    SOFT_TRY(soft_need(params, "nodeParams"));
    return set_any(exec, node, params, false);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *in)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_KERNEL,
                                      .kernel = {.func = in->func,
                                                 .gridDimX = in->gridDimX,
                                                 .gridDimY = in->gridDimY,
                                                 .gridDimZ = in->gridDimZ,
                                                 .blockDimX = in->blockDimX,
                                                 .blockDimY = in->blockDimY,
                                                 .blockDimZ = in->blockDimZ,
                                                 .sharedMemBytes = in->sharedMemBytes,
                                                 .kernelParams = in->kernelParams,
                                                 .extra = in->extra,
                                                 .kern = in->kern,
                                                 .ctx = in->ctx}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *in)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUDA_KERNEL_NODE_PARAMS wider = soft_kernel_params_from_v1(in);
    return cuGraphExecKernelNodeSetParams_v2(exec, node, &wider);
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *in, CUcontext context)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMCPY,
                                      .memcpy = {.copyCtx = context, .copyParams = *in}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *in,
                                        CUcontext context)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_MEMSET,
                                      .memset = {.dst = in->dst,
                                                 .pitch = in->pitch,
                                                 .value = in->value,
                                                 .elementSize = in->elementSize,
                                                 .width = in->width,
                                                 .height = in->height,
                                                 .ctx = context}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *in)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP,
                                      .memOp = {.ctx = in->ctx,
                                                .count = in->count,
                                                .paramArray = in->paramArray,
                                                .flags = in->flags}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *in)
{
    SOFT_ENTER();
    SOFT_TRY(need_params(in));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_HOST,
                                      .host = {.fn = in->fn, .userData = in->userData}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            CUgraph child)
{
    SOFT_ENTER();
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                      .graph = {.graph = child}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                            CUevent event)
{
    SOFT_ENTER();
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_EVENT_RECORD,
                                      .eventRecord = {.event = event}};
    return set_node(exec, node, &params);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                          CUevent event)
{
    SOFT_ENTER();
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_WAIT_EVENT,
                                      .eventWait = {.event = event}};
    return set_node(exec, node, &params);
}

/* ---- enabled nodes ------------------------------------------------------------------
 */

static CUresult enabled_locked(soft_exec *exec, CUgraphNode handle, const bool *set,
                               bool *get)
{
    soft_node *node;
    SOFT_TRY(soft_node_find(handle, &node));
    return set ? soft_exec_set_enabled(exec, node, *set)
               : soft_exec_get_enabled(exec, node, get);
}

CUresult cuGraphNodeSetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int value)
{
    SOFT_ENTER();
    const bool enabled = value != 0;
    soft_exec *exec;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    soft_exec_reserve(exec);
    soft_graph_lock();
    const CUresult result = enabled_locked(exec, node, &enabled, NULL);
    soft_graph_unlock();
    soft_exec_release(exec);
    return result;
}

CUresult cuGraphNodeGetEnabled(CUgraphExec handle, CUgraphNode node, unsigned int *out)
{
    SOFT_ENTER();
    if (out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "isEnabled is NULL");
    soft_exec *exec;
    bool enabled = false;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    soft_graph_lock();
    const CUresult result = enabled_locked(exec, node, NULL, &enabled);
    soft_graph_unlock();
    soft_exec_release(exec);
    if (result == CUDA_SUCCESS)
        *out = enabled;
    return result;
}

// SPDX-License-Identifier: Apache-2.0
/* cuGraphInstantiate*, cuGraphExec*, launches and uploads. */
#include "softcuda/api/exports.h"
#include "softcuda/api/graph.h"

/* ---- instantiation ------------------------------------------------------------------
 */

static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t allowed,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    soft_context *context = soft_context_current();
    if (out == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "phGraphExec is NULL");
    if (params->flags & ~allowed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "Invalid instantiation flags: 0x%llx",
                         (unsigned long long)params->flags);
    if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) &&
        (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the flags for device launch and auto free exclude each other");
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "device launch is not built into softcuda");
    if (context)
        SOFT_TRY(soft_capture_check(context, true));
    soft_exec *exec;
    soft_graph_lock();
    soft_graph *graph;
    CUresult result = soft_graph_find(handle, &graph);
    if (result == CUDA_SUCCESS && soft_rule(R63) && graph->moved)
        result = soft_fail(CUDA_ERROR_INVALID_VALUE,
                           "the graph was moved into a child node of another");
    if (result == CUDA_SUCCESS)
        result = soft_exec_create(graph, params->flags, &exec, params);
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
    SOFT_ENTER();
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
        *error_node = params.hErrNode_out;
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

/* A graph that cannot be uploaded gives no executable. */
static CUresult instantiate_with(CUgraphExec *out, CUgraph graph,
                                 CUDA_GRAPH_INSTANTIATE_PARAMS *params, bool per_thread)
{
    static const char call[] = "cuGraphInstantiateWithParams";
    SOFT_TRY(soft_enter(call));
    if (params == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "instantiateParams is NULL");
    CUgraphExec exec = NULL;
    SOFT_TRY(instantiate(out != NULL ? &exec : NULL, graph,
                         FLAGS_PLAIN | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD, params));
    if (params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) {
        const struct launch_site site = {call, params->hUploadStream, per_thread};
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
    soft_context *context = soft_context_current();
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH_EXEC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is no executable graph, or it was destroyed",
                         (void *)handle);
    if (context)
        SOFT_TRY(soft_capture_check(context, true));
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

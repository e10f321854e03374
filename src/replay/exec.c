// SPDX-License-Identifier: Apache-2.0
/* An executable graph: uploaded when it is made, so that no launch pays for it. */
#include "replay/exec.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include "replay/query.h"

static const uint32_t FLAGS_KNOWN = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                    CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD |
                                    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH |
                                    CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY;

static const char *instantiate_text(CUgraphInstantiateResult result)
{
    switch (result) {
    case CUDA_GRAPH_INSTANTIATE_SUCCESS: break;
    case CUDA_GRAPH_INSTANTIATE_ERROR: return "";
    case CUDA_GRAPH_INSTANTIATE_INVALID_STRUCTURE:
        return ", whose structure is invalid (a cycle, say)";
    case CUDA_GRAPH_INSTANTIATE_NODE_OPERATION_NOT_SUPPORTED:
        return ", whose operation a device launch does not support";
    case CUDA_GRAPH_INSTANTIATE_MULTIPLE_CTXS_NOT_SUPPORTED:
        return ", which belongs to another context";
    case CUDA_GRAPH_INSTANTIATE_CONDITIONAL_HANDLE_UNUSED:
        return ": a conditional handle is not used";
    }
    return "";
}

static gph_status fail_instantiate(const gph_runtime *runtime, CUgraph graph,
                                   const CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                                   CUresult result, gph_error *error)
{
    const int64_t node = gphi_node_index(runtime, graph, params->hErrNode_out);
    const char *text = instantiate_text(params->result_out);
    if (node < 0)
        gphi_cuda_fail(error, (gph_status)result, "cuGraphInstantiateWithParams",
                       "graph %p%s", (void *)graph, text);
    else {
        char what[160];
        gphi_node_describe(runtime, params->hErrNode_out, (size_t)node, NULL, what,
                           sizeof(what));
        gphi_cuda_fail(error, (gph_status)result, "cuGraphInstantiateWithParams",
                       "%s of graph %p%s", what, (void *)graph, text);
    }
    if (error != NULL && node >= 0) {
        error->has_node = 1;
        error->node = node;
    }
    if (result == CUDA_ERROR_INVALID_CONTEXT)
        gphi_hint(error, "make a context current, or pass options.upload_stream");
    return (gph_status)result;
}

gph_status gph_exec_create(gph_runtime *runtime, CUgraph graph,
                           const gph_exec_options *options, gph_exec **out,
                           gph_error *error)
{
    gph_exec_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), options, error));
    if (runtime == NULL || graph == NULL || out == NULL)
        return gphi_fail(error, GPH_E_INVALID, "runtime, graph or out is NULL");
    if ((opt.flags & ~FLAGS_KNOWN) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         opt.flags, FLAGS_KNOWN);

    gph_exec *exec = gphi_heap_alloc(runtime->heap, sizeof(*exec));
    if (exec == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "making graph %p executable",
                         (void *)graph);
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = opt.flags | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
        .hUploadStream =
            opt.upload_stream != NULL ? opt.upload_stream : CU_STREAM_PER_THREAD,
    };
    gphi_ledger_measure measure;
    gphi_ledger_exec_begin(runtime, &measure);
    const CUresult result =
        runtime->cu.cuGraphInstantiateWithParams(&exec->handle, graph, &params);
    gphi_ledger_exec_end(runtime, &measure, result == CUDA_SUCCESS ? &exec->ledger : NULL,
                         exec);
    if (result != CUDA_SUCCESS) {
        gphi_heap_free(runtime->heap, exec, sizeof(*exec));
        return fail_instantiate(runtime, graph, &params, result, error);
    }
    exec->self = exec;
    exec->launch = runtime->cu.cuGraphLaunch;
    exec->runtime = runtime;
    exec->flags = opt.flags;
    gphi_log("exec", GPH_LOG_DEBUG, "graph %p is executable %p", (void *)graph,
             (void *)exec->handle);
    *out = exec;
    return GPH_OK;
}

void gphi_exec_swap(gph_exec *a, gph_exec *b)
{
    const CUgraphExec handle = a->handle;
    a->handle = b->handle;
    b->handle = handle;
    gphi_ledger_exec_swap(&a->ledger, &b->ledger);
}

static void destroy_now(void *user)
{
    gph_exec *exec = user;
    gph_runtime *runtime = exec->runtime;
    /* Captures that others opened in the process are not known here: a relaxed thread may
     * destroy during any. */
    const CUstreamCaptureMode mode = gphi_relax(&runtime->cu);
    gphi_ledger_exec_remove(&exec->ledger);
    const CUresult result = runtime->cu.cuGraphExecDestroy(exec->handle);
    gphi_unrelax(&runtime->cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("exec", GPH_LOG_ERROR, "cuGraphExecDestroy of %p returned %s",
                 (void *)exec->handle, gph_status_name((gph_status)result));
    if (exec->extra_free != NULL)
        exec->extra_free(exec->extra);
    gphi_heap_free(runtime->heap, exec, sizeof(*exec));
}

void gph_exec_destroy(gph_exec *exec)
{
    if (exec == NULL)
        return;
    exec->self = NULL;
    gphi_defer(&exec->end, destroy_now, exec);
}

gph_status gph_exec_upload(gph_exec *exec, CUstream stream, gph_error *error)
{
    if (exec == NULL || exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is no executable", (void *)exec);
    return gphi_cuda_check(error, exec->runtime->cu.cuGraphUpload(exec->handle, stream),
                           "cuGraphUpload", "uploading %p in stream %p",
                           (void *)exec->handle, (void *)stream);
}

/* Apart from gph_exec_launch(), so that the success path needs no stack of its own. */
__attribute__((noinline, cold)) static gph_status
fail_launch(const gph_exec *exec, CUstream stream, CUresult result, gph_error *error)
{
    gphi_cuda_fail(error, (gph_status)result, "cuGraphLaunch",
                   "launching %p in stream %p", (void *)exec->handle, (void *)stream);
    if (result == CUDA_ERROR_INVALID_VALUE)
        gphi_hint(error, "an allocation of the graph that was never freed refuses a "
                         "second launch: flag 1, auto free on launch");
    return (gph_status)result;
}

gph_status gph_exec_launch(gph_exec *exec, CUstream stream, gph_error *error)
{
    if (exec == NULL || exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is no executable", (void *)exec);
    const CUresult result = exec->launch(exec->handle, stream);
    if (result != CUDA_SUCCESS)
        return fail_launch(exec, stream, result, error);
    return GPH_OK;
}

CUgraphExec gph_exec_handle(const gph_exec *exec)
{
    return exec != NULL ? exec->handle : NULL;
}

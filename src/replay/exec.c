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
    if (error && node >= 0) {
        error->has_node = 1;
        error->node = node;
    }
    if (result == CUDA_ERROR_INVALID_CONTEXT)
        gphi_hint(error, "make a context current, or pass options.upload_stream");
    return (gph_status)result;
}

/* Instantiates and uploads: what the driver returned. The ledger has what that took. */
static CUresult instantiate(gph_exec *exec, CUgraph graph,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    gph_runtime *runtime = exec->runtime;
    gphi_ledger_measure measure;
    gphi_ledger_exec_begin(runtime, &measure);
    const CUresult result =
        runtime->cu.cuGraphInstantiateWithParams(&exec->handle, graph, params);
    gphi_ledger_exec_end(runtime, &measure, result == CUDA_SUCCESS ? &exec->ledger : NULL,
                         exec);
    return result;
}

static void drop_marks(gph_exec *exec)
{
    if (exec->marks)
        exec->marks->ops->destroy(exec->marks);
}

/* The graph has its sentinels only meanwhile, whatever comes of it. */
static gph_status instantiate_marked(gph_exec *exec, const gphi_graph_source *source,
                                     CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                                     gph_error *error)
{
    CUresult left = CUDA_SUCCESS;
    if (exec->sentinel)
        GPHI_TRY(
            exec->sentinel->ops->create(exec->sentinel, source, &exec->marks, error));
    const CUresult result = instantiate(exec, source->graph, params);
    if (exec->marks) {
        CUgraphNode *named[] = {&params->hErrNode_out};
        left = exec->marks->ops->leave(exec->marks, named, 1);
    }
    if (result != CUDA_SUCCESS) {
        drop_marks(exec);
        return fail_instantiate(exec->runtime, source->graph, params, result, error);
    }
    if (left == CUDA_SUCCESS)
        return GPH_OK;
    drop_marks(exec);
    gphi_ledger_exec_remove(&exec->ledger);
    gphi_ignore((gph_status)exec->runtime->cu.cuGraphExecDestroy(exec->handle),
                "the first failure counts");
    return gphi_cuda_fail(error, (gph_status)left, "cuGraphDestroyNode",
                          "taking sentinels out of graph %p", (void *)source->graph);
}

gph_status gphi_exec_create(const gphi_graph_source *source,
                            const gph_exec_options *options, gph_exec **out,
                            gph_error *error)
{
    gph_runtime *runtime = source->runtime;
    gph_exec_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_exec_options", options, error));
    GPHI_TRY(gphi_need_named(error, "gph_exec_create", runtime != NULL, "runtime"));
    GPHI_TRY(gphi_need_named(error, "gph_exec_create", source->graph != NULL, "graph"));
    GPHI_TRY(gphi_need_named(error, "gph_exec_create", out != NULL, "out"));
    if ((opt.flags & ~FLAGS_KNOWN) != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: only 0x%x are known",
                         opt.flags, FLAGS_KNOWN);

    gph_exec *exec = gphi_heap_alloc(runtime->heap, sizeof(*exec));
    GPHI_TRY(gphi_made(error, exec, "making graph %p executable", (void *)source->graph));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {
        .flags = opt.flags | CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD,
        .hUploadStream = opt.upload_stream ? opt.upload_stream : CU_STREAM_PER_THREAD,
    };
    exec->runtime = runtime;
    exec->sentinel = opt.sentinel;
    const gph_status status = instantiate_marked(exec, source, &params, error);
    if (status != GPH_OK) {
        gphi_heap_free(runtime->heap, exec, sizeof(*exec));
        return status;
    }
    if (exec->marks) {
        exec->marks->ops->keep(exec->marks, exec->handle);
        exec->launches = exec->marks->launches;
    }
    exec->self = exec;
    exec->launch = runtime->cu.cuGraphLaunch;
    exec->flags = opt.flags;
    gphi_log("exec", GPH_LOG_DEBUG, "graph %p is executable %p", (void *)source->graph,
             (void *)exec->handle);
    *out = exec;
    return GPH_OK;
}

gph_status gph_exec_create(gph_runtime *runtime, CUgraph graph,
                           const gph_exec_options *options, gph_exec **out,
                           gph_error *error)
{
    const gphi_graph_source source = {.runtime = runtime, .graph = graph};
    return gphi_exec_create(&source, options, out, error);
}

gph_status gphi_exec_update(gph_exec *exec, CUgraph graph,
                            CUgraphExecUpdateResultInfo *info, CUresult *result,
                            gph_error *error)
{
    const gphi_cuda_table *cu = &exec->runtime->cu;
    gphi_marks *marks = exec->marks;
    gph_error why = {0};
    gph_status entered = GPH_E_UNSUPPORTED;
    if (marks)
        entered = marks->ops->enter(marks, graph, &why);
    /* Where sentinels cannot be in it, the graph is of another sort than what the
     * executable holds: the driver says so itself. */
    if (entered != GPH_OK && entered != GPH_E_UNSUPPORTED) {
        if (error)
            *error = why;
        return entered;
    }
    *result = cu->cuGraphExecUpdate(exec->handle, graph, info);
    if (entered != GPH_OK)
        return GPH_OK;
    CUgraphNode *named[] = {&info->errorNode, &info->errorFromNode};
    const CUresult left = marks->ops->leave(marks, named, 2);
    if (left != CUDA_SUCCESS)
        gphi_log("exec", GPH_LOG_ERROR, "graph %p keeps sentinels: %s", (void *)graph,
                 gph_status_name((gph_status)left));
    if (*result == CUDA_SUCCESS)
        marks->ops->keep(marks, exec->handle);
    return GPH_OK;
}

void gphi_exec_swap(gph_exec *a, gph_exec *b)
{
    const CUgraphExec handle = a->handle;
    a->handle = b->handle;
    b->handle = handle;
    gphi_marks *marks = a->marks;
    a->marks = b->marks;
    b->marks = marks;
    atomic_ullong *launches = a->launches;
    a->launches = b->launches;
    b->launches = launches;
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
    drop_marks(exec);
    if (exec->extra_free)
        exec->extra_free(exec->extra);
    gphi_heap_free(runtime->heap, exec, sizeof(*exec));
}

void gph_exec_destroy(gph_exec *exec)
{
    if (!exec)
        return;
    exec->self = NULL;
    gphi_defer(&exec->end, destroy_now, exec);
}

gph_status gph_exec_upload(gph_exec *exec, CUstream stream, gph_error *error)
{
    if (!exec || exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is not an executable",
                         (void *)exec);
    return gphi_cuda_check(error, exec->runtime->cu.cuGraphUpload(exec->handle, stream),
                           "cuGraphUpload", "uploading %p in stream %p",
                           (void *)exec->handle, (void *)stream);
}

/* Apart from gph_exec_launch(), so that the success path needs no stack of its own. */
__attribute__((noinline, cold)) static gph_status
fail_launch(const gph_exec *exec, CUstream stream, CUresult result, gph_error *error)
{
    if (exec->launches)
        atomic_fetch_sub_explicit(exec->launches, 1, memory_order_relaxed);
    gphi_cuda_fail(error, (gph_status)result, "cuGraphLaunch",
                   "launching %p in stream %p", (void *)exec->handle, (void *)stream);
    if (result == CUDA_ERROR_INVALID_VALUE)
        gphi_hint(error, "an allocation of the graph that was never freed refuses a "
                         "second launch: flag 1, auto free on launch");
    return (gph_status)result;
}

gph_status gph_exec_launch(gph_exec *exec, CUstream stream, gph_error *error)
{
    if (!exec || exec->self != exec)
        return gphi_fail(error, GPH_E_INVALID, "exec %p is not an executable",
                         (void *)exec);
    /* Relaxed: whoever reads it asks how far the device came, not what we did. */
    if (exec->launches)
        atomic_fetch_add_explicit(exec->launches, 1, memory_order_relaxed);
    const CUresult result = exec->launch(exec->handle, stream);
    if (result != CUDA_SUCCESS)
        return fail_launch(exec, stream, result, error);
    return GPH_OK;
}

CUgraphExec gph_exec_handle(const gph_exec *exec)
{
    return exec ? exec->handle : NULL;
}

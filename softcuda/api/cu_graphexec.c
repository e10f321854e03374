// SPDX-License-Identifier: Apache-2.0
/* cuGraphInstantiate*, cuGraphExec*, launches and uploads.
 *
 * An executable graph is held by a reference while a call works on it. Edits first wait
 * until no launch is in the way, and only then take the graph mutex, so that launches of
 * other graphs go on meanwhile. */
#include <gph/softcuda.h>
#include <string.h>

#include "base/vec.h"
#include "softcuda/api/describe.h"
#include "softcuda/api/exports.h"
#include "softcuda/device/alloc.h"

/* ---- instantiation ----------------------------------------------------------------- */

/* Unknown bits, and two that exclude each other (R29). */
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
    if (!(graph->has & (SOFT_HAS(MEMSET) | SOFT_HAS_INNER)))
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        if (node->type == CU_GRAPH_NODE_TYPE_MEMSET)
            SOFT_TRY(soft_fill_check(&node->task.u.fill));
        for (uint32_t k = 0; soft_node_inner(node, k); k++)
            SOFT_TRY(check_fills(soft_node_inner(node, k)));
    }
    return CUDA_SUCCESS;
}

/* Though nothing of the current context is used: an H100 wants one. */
static CUresult need_context(void)
{
    if (soft_rule(M_instantiate_context) && !soft_context_current())
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    return CUDA_SUCCESS;
}

/* In the order of an H100: what the graph is, what its memory nodes allow (R32), then
 * its structure. */
static CUresult instantiate_locked(CUgraph handle, CUDA_GRAPH_INSTANTIATE_PARAMS *params,
                                   soft_exec **out)
{
    soft_graph *graph;
    SOFT_TRY(soft_graph_find(handle, &graph));
    if (graph->node_count == 0 && !soft_rule(R8))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the graph has no node");
    if (soft_rule(M_child_instantiate) && graph->parent)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the graph belongs to a node of another one");
    if (graph->capture && !soft_rule(R39))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a stream captures into the graph");
    SOFT_TRY(soft_exec_memory_check(graph, NULL)); /* whatever else is wrong */
    CUresult result = soft_rule(M_capture_fill) ? check_fills(graph) : CUDA_SUCCESS;
    SOFT_THEN(result, soft_exec_create(graph, params->flags, out, params));
    if (result == CUDA_ERROR_INVALID_VALUE && soft_rule(M_left_unfreed))
        soft_exec_memory_tried(graph);
    return result;
}

/* Kernels of the graph whose machine code is still to be made; all retained. */
struct unready {
    soft_function **functions;
    uint32_t count, room;
};

static void add_unready(struct unready *u, soft_function *function)
{
    soft_function **functions = gphi_array_room(*soft_allocator(), u->functions, &u->room,
                                                u->count + 1, sizeof(*functions));
    if (!functions)
        return; /* it is made later, with locks held */
    u->functions = functions;
    u->functions[u->count++] = function;
    soft_function_retain(function);
}

static void find_unready(soft_graph *graph, struct unready *u)
{
    bool ready = true;
    if (graph->ready && !(graph->has & SOFT_HAS_INNER))
        return;
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        soft_graph *inner;
        if (node->type == CU_GRAPH_NODE_TYPE_KERNEL &&
            !soft_function_is_ready(node->task.u.launch.function)) {
            add_unready(u, node->task.u.launch.function);
            ready = false;
        }
        for (uint32_t k = 0; (inner = soft_node_inner(node, k)); k++)
            find_unready(inner, u);
    }
    graph->ready = ready; /* code that is made stays */
}

/* Before the graph mutex is taken for what needs their code: compiling takes long. What
 * fails here fails there again, and is reported in its order. */
static void make_ready(CUgraph handle)
{
    struct unready u = {NULL, 0, 0};
    soft_graph_lock();
    if (soft_handle_is(handle, SOFT_KIND_GRAPH))
        find_unready((soft_graph *)handle, &u);
    soft_graph_unlock();
    soft_functions_ready(u.functions, u.count);
    for (uint32_t i = 0; i < u.count; i++)
        soft_function_release(u.functions[i]);
    soft_delete(u.functions);
}

/* result_out and hErrNode_out are written whatever goes wrong (R30). */
static CUresult instantiate(CUgraphExec *out, CUgraph handle, uint64_t allowed,
                            CUDA_GRAPH_INSTANTIATE_PARAMS *params)
{
    params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    params->hErrNode_out = NULL;
    SOFT_TRY(check_flags(params->flags, allowed));
    SOFT_TRY(need_context());
    SOFT_TRY(soft_need(out, "phGraphExec"));
    soft_exec *exec;
    make_ready(handle);
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

/* The log stays empty: the log door of softcuda says more. */
CUresult cuGraphInstantiate_v2(CUgraphExec *out, CUgraph graph, CUgraphNode *error_node,
                               char *log, size_t log_bytes)
{
    SOFT_TRY(soft_enter(__func__));
    CUDA_GRAPH_INSTANTIATE_PARAMS params = {0};
    const CUresult result = instantiate(out, graph, 0, &params);
    if (error_node)
        *error_node = NULL; /* an H100 reports it by the newer calls alone */
    if (log && log_bytes > 0)
        log[0] = '\0';
    return result;
}

SOFT_OLDER(cuGraphInstantiate,
           (CUgraphExec * out, CUgraph graph, CUgraphNode *error_node, char *log,
            size_t log_bytes),
           cuGraphInstantiate_v2(out, graph, error_node, log, log_bytes))

struct launch_site {
    const char *call; /* the entry point */
    CUstream stream;
    bool per_thread;
};

/* The executable is held before the stream is looked up: another thread may destroy it
 * meanwhile (R37). */
static CUresult launch_or_upload(CUgraphExec handle, struct launch_site site,
                                 CUresult (*act)(soft_exec *, soft_stream *))
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(site.call, site.stream, &context));
    soft_exec *exec;
    soft_stream *stream;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    CUresult result = soft_stream_find(context, site.stream, site.per_thread, &stream);
    SOFT_THEN(result, act(exec, stream));
    soft_exec_release(exec);
    return result;
}

static const char launch_call[] = "cuGraphLaunch";

static __attribute__((noinline)) CUresult launch_slowly(CUgraphExec handle,
                                                        CUstream stream, bool per_thread)
{
    return launch_or_upload(handle, (struct launch_site){launch_call, stream, per_thread},
                            soft_exec_launch);
}

static CUresult launch(CUgraphExec handle, CUstream stream_handle, bool per_thread)
{
    soft_stream *stream = soft_enter_quickly(launch_call, stream_handle);
    if (stream && soft_exec_launch_plain(handle, stream))
        return CUDA_SUCCESS;
    return launch_slowly(handle, stream_handle, per_thread);
}

/* Whether the stream of an upload could take one. */
static CUresult check_upload(CUstream handle, bool per_thread, const char *call)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(upload_call, handle, &context));
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
    if (params) /* also where a capture forbids the call */
        params->result_out = CUDA_GRAPH_INSTANTIATE_ERROR;
    SOFT_TRY(entered);
    SOFT_TRY(soft_need(params, "instantiateParams"));
    if ((params->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) && soft_capture_is_open() &&
        soft_rule(M_instantiate_upload)) /* a stream that captures is seen first */
        SOFT_TRY(check_upload(params->hUploadStream, per_thread, call));
    CUgraphExec exec = NULL;
    SOFT_TRY(instantiate(out ? &exec : NULL, graph, allowed, params));
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

SOFT_TWINS(cuGraphInstantiateWithParams, _ptsz,
           (CUgraphExec * out, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS *params),
           instantiate_with(out, graph, params, per_thread))

/* Those that outlive the instantiation (R31). */
CUresult cuGraphExecGetFlags(CUgraphExec handle, cuuint64_t *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "flags"));
    soft_exec *exec;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    *out = soft_exec_flags(exec);
    soft_exec_release(exec);
    return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle)
{
    SOFT_TRY(soft_enter(__func__));
    if (!soft_handle_is(handle, SOFT_KIND_GRAPH_EXEC))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%p is not an executable graph, or it was destroyed",
                         (void *)handle);
    return soft_exec_destroy(handle);
}

SOFT_TWINS(cuGraphLaunch, _ptsz, (CUgraphExec exec, CUstream stream),
           launch(exec, stream, per_thread))

SOFT_TWINS(cuGraphUpload, _ptsz, (CUgraphExec exec, CUstream stream),
           launch_or_upload(exec,
                            ((struct launch_site){"cuGraphUpload", stream, per_thread}),
                            soft_exec_upload))

/* ---- updates ----------------------------------------------------------------------- */

/* The executable graph, kept alive and free of launches that an edit would wait for, with
 * the graph mutex held. */
static CUresult begin_edit(CUgraphExec handle, soft_exec **out)
{
    SOFT_TRY(soft_exec_acquire(handle, out));
    soft_exec_reserve(*out);
    soft_graph_lock();
    return CUDA_SUCCESS;
}

static void end_edit(soft_exec *exec)
{
    soft_graph_unlock();
    soft_exec_release(exec);
}

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
    SOFT_TRY(soft_enter(__func__));
    CUgraphExecUpdateResultInfo unwanted;
    if (!out)
        out = &unwanted;
    /* All that is not about the graphs leaves SUCCESS in it, as on an H100. */
    *out = (CUgraphExecUpdateResultInfo){.result = CU_GRAPH_EXEC_UPDATE_SUCCESS};
    soft_exec *exec;
    make_ready(graph);
    SOFT_TRY(begin_edit(handle, &exec));
    const CUresult result = update_locked(exec, graph, out);
    end_edit(exec);
    return result;
}

/* The older form of the call: without an error node's partner. */
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

/* ---- single nodes ------------------------------------------------------------------ */

/* Neither in a graph nor in an executable one (R16). */
CUresult soft_api_check_settable(CUgraphNodeType type, CUgraphNodeType wanted)
{
    if (soft_rule(M_conditional_kept) && type == wanted &&
        type == CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the parameters of conditional nodes cannot be set");
    /* Parameters of another type are the first mistake. */
    if (soft_rule(R16) && type == wanted &&
        (type == CU_GRAPH_NODE_TYPE_MEM_ALLOC || type == CU_GRAPH_NODE_TYPE_MEM_FREE))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the parameters of alloc and free nodes cannot be set");
    return CUDA_SUCCESS;
}

/* The node is one of the graph; soft_exec_set_node() finds its counterpart (R69i). */
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
    if (params->type == CU_GRAPH_NODE_TYPE_KERNEL &&
        soft_handle_is(params->kernel.func, SOFT_KIND_FUNCTION)) {
        soft_function *function = (soft_function *)params->kernel.func;
        soft_functions_ready(&function, 1); /* as make_ready() */
    }
    SOFT_TRY(begin_edit(handle, &exec));
    const CUresult result = set_locked(exec, node, params, is_typed, &d);
    end_edit(exec);
    return result;
}

/* Here, and nowhere else, unused bytes of the union must be 0 (R15). */
CUresult cuGraphExecNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                  CUgraphNodeParams *params)
{
    SOFT_TRY(soft_enter_with(__func__, params, "nodeParams"));
    return set_any(exec, node, params, false);
}

static CUresult set_typed(const char *call, CUgraphExec exec, CUgraphNode node,
                          CUgraphNodeType type, const void *in, size_t bytes)
{
    CUgraphNodeParams params;
    SOFT_TRY(soft_enter(call));
    SOFT_TRY(soft_params_widen(type, in, bytes, "nodeParams", &params));
    return set_any(exec, node, &params, true);
}

CUresult cuGraphExecKernelNodeSetParams_v2(CUgraphExec exec, CUgraphNode node,
                                           const CUDA_KERNEL_NODE_PARAMS *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_KERNEL, in, sizeof(*in));
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_KERNEL_NODE_PARAMS_v1 *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_KERNEL, in, sizeof(*in));
}

CUresult cuGraphExecBatchMemOpNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            const CUDA_BATCH_MEM_OP_NODE_PARAMS *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, in,
                     sizeof(*in));
}

CUresult cuGraphExecExternalSemaphoresSignalNodeSetParams(
    CUgraphExec exec, CUgraphNode node, const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL, in,
                     sizeof(*in));
}

CUresult
cuGraphExecExternalSemaphoresWaitNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                               const CUDA_EXT_SEM_WAIT_NODE_PARAMS *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT, in,
                     sizeof(*in));
}

CUresult cuGraphExecHostNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                      const CUDA_HOST_NODE_PARAMS *in)
{
    return set_typed(__func__, exec, node, CU_GRAPH_NODE_TYPE_HOST, in, sizeof(*in));
}

CUresult cuGraphExecMemcpyNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMCPY3D *in, CUcontext context)
{
    CUgraphNodeParams params;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_params_of_copy(in, context, &params));
    return set_any(exec, node, &params, true);
}

CUresult cuGraphExecMemsetNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                        const CUDA_MEMSET_NODE_PARAMS *in,
                                        CUcontext context)
{
    CUgraphNodeParams params;
    SOFT_TRY(soft_enter(__func__));
    SOFT_TRY(soft_params_widen(CU_GRAPH_NODE_TYPE_MEMSET, in, sizeof(*in), "memsetParams",
                               &params));
    params.memset.ctx = context;
    return set_any(exec, node, &params, true);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                            CUgraph child)
{
    SOFT_TRY(soft_enter(__func__));
    const CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_GRAPH,
                                      .graph = {.graph = child}};
    return set_any(exec, node, &params, true);
}

static CUresult set_event(const char *call, CUgraphExec exec, CUgraphNode node,
                          CUgraphNodeType type, CUevent event)
{
    SOFT_TRY(soft_enter(call));
    const CUgraphNodeParams params = soft_params_of_event(type, event);
    return set_any(exec, node, &params, true);
}

CUresult cuGraphExecEventRecordNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                            CUevent event)
{
    return set_event(__func__, exec, node, CU_GRAPH_NODE_TYPE_EVENT_RECORD, event);
}

CUresult cuGraphExecEventWaitNodeSetEvent(CUgraphExec exec, CUgraphNode node,
                                          CUevent event)
{
    return set_event(__func__, exec, node, CU_GRAPH_NODE_TYPE_WAIT_EVENT, event);
}

/* ---- enabled nodes ----------------------------------------------------------------- */

/* Sets `value` in the executable graph, or reads it. */
static CUresult enabled(CUgraphExec handle, CUgraphNode node_handle, bool set,
                        bool *value)
{
    soft_exec *exec;
    soft_node *node;
    SOFT_TRY(soft_exec_acquire(handle, &exec));
    if (set)
        soft_exec_reserve(exec);
    soft_graph_lock();
    CUresult result = soft_node_find(node_handle, &node);
    SOFT_THEN(result, set ? soft_exec_set_enabled(exec, node, *value)
                          : soft_exec_get_enabled(exec, node, value));
    soft_graph_unlock();
    soft_exec_release(exec);
    return result;
}

CUresult cuGraphNodeSetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int value)
{
    SOFT_TRY(soft_enter(__func__));
    bool wanted = value != 0;
    return enabled(exec, node, true, &wanted);
}

CUresult cuGraphNodeGetEnabled(CUgraphExec exec, CUgraphNode node, unsigned int *out)
{
    SOFT_TRY(soft_enter_with(__func__, out, "isEnabled"));
    bool value = false;
    SOFT_TRY(enabled(exec, node, false, &value));
    *out = value;
    return CUDA_SUCCESS;
}

/* ---- how far it is ----------------------------------------------------------------- */

gph_status gph_softcuda_trail(void *handle, uint32_t *words, uint32_t count)
{
    soft_exec *exec;
    if (soft_exec_acquire(handle, &exec) != CUDA_SUCCESS)
        return GPH_E_INVALID;
    const CUresult result = soft_exec_trail(exec, words, count);
    soft_exec_release(exec);
    return result == CUDA_SUCCESS               ? GPH_OK
           : result == CUDA_ERROR_OUT_OF_MEMORY ? GPH_E_NO_MEMORY
                                                : GPH_E_INVALID;
}

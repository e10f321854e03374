// SPDX-License-Identifier: Apache-2.0
/* Parameters of nodes: each struct of CUDA is checked by softcuda/device and becomes a
 * soft_node_params, which borrows from the description.
 *
 * A description is checked before anything is made of it, so that a refusal changes
 * nothing. Typed structs and the union of cuGraphAddNode() meet here: one check for
 * both. */
#include "softcuda/api/describe.h"
#include "softcuda/graph/conditional.h"

#include <string.h>

#include "softcuda/device/memop.h"
#include "softcuda/graph/memnode.h"

/* The context that a node names, or the current one. */
static CUresult context_of(CUcontext named, soft_context **out)
{
    if (named)
        return soft_context_find(named, out);
    *out = soft_context_current();
    if (!*out)
        return soft_fail(CUDA_ERROR_INVALID_CONTEXT, "no context is current");
    return soft_context_check(*out);
}

/* A function brings its context; a CUkernel is loaded into the one that is named, or
 * current (R20). */
static CUresult context_of_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *in,
                                  soft_context **out)
{
    if (!soft_handle_is(in->func, SOFT_KIND_FUNCTION))
        return context_of(in->func ? NULL : in->ctx, out);
    *out = ((soft_function *)in->func)->module->context;
    return soft_context_check(*out);
}

static CUresult describe_empty(soft_description *out)
{
    out->params.type = CU_GRAPH_NODE_TYPE_EMPTY;
    return CUDA_SUCCESS;
}

/* What a launch would refuse is refused here, with the same words: the same code checks
 * it. */
static CUresult describe_kernel(const CUDA_KERNEL_NODE_PARAMS_v3 *in,
                                soft_description *out)
{
    soft_context *context;
    const CUfunction function = in->func ? in->func : (CUfunction)in->kern;
    if (!function && !soft_rule(R20))
        return describe_empty(out);
    if (!function)
        return soft_fail(CUDA_ERROR_INVALID_HANDLE, "func and kern are NULL");
    SOFT_TRY(context_of_kernel(in, &context));
    const CUlaunchConfig config = {.gridDimX = in->gridDimX,
                                   .gridDimY = in->gridDimY,
                                   .gridDimZ = in->gridDimZ,
                                   .blockDimX = in->blockDimX,
                                   .blockDimY = in->blockDimY,
                                   .blockDimZ = in->blockDimZ,
                                   .sharedMemBytes = in->sharedMemBytes};
    SOFT_TRY(soft_task_launch(context, &config, function, in->kernelParams, in->extra,
                              out->scratch, &out->task));
    out->params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    out->params.context = out->task.u.launch.function->module->context;
    out->params.task = &out->task;
    out->params.by_extra = in->extra != NULL;
    return CUDA_SUCCESS;
}

/* Copies and fills that name no context are refused where none is current. */
static CUresult need_context(CUcontext named)
{
    if (!named && !soft_context_current())
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "no context is named, and none is current");
    return CUDA_SUCCESS;
}

/* A copy of nothing is refused, which a stream would take. */
static CUresult describe_copy(const CUDA_MEMCPY3D *in, CUcontext named,
                              soft_description *out)
{
    SOFT_TRY(need_context(named));
    SOFT_TRY(context_of(named, &out->params.context));
    if (soft_rule(M_zero_size) &&
        (in->WidthInBytes == 0 || in->Height == 0 || in->Depth == 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a copy of %zu x %zu x %zu bytes",
                         in->WidthInBytes, in->Height, in->Depth);
    SOFT_TRY(soft_task_copy(out->params.context, in, &out->task));
    out->copy = *in;
    out->params.type = CU_GRAPH_NODE_TYPE_MEMCPY;
    out->params.task = &out->task;
    out->params.copy = &out->copy;
    return CUDA_SUCCESS;
}

static CUresult describe_fill(const CUDA_MEMSET_NODE_PARAMS_v2 *in, soft_description *out)
{
    SOFT_TRY(need_context(in->ctx));
    SOFT_TRY(context_of(in->ctx, &out->params.context));
    if (soft_rule(M_zero_size) && (in->width == 0 || in->height == 0))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a fill of %zu x %zu elements",
                         in->width, in->height);
    memcpy(&out->fill, in, sizeof(out->fill)); /* all but the context */
    SOFT_TRY(soft_task_fill(out->params.context, &out->fill, &out->task));
    out->params.type = CU_GRAPH_NODE_TYPE_MEMSET;
    out->params.task = &out->task;
    out->params.fill = &out->fill;
    return CUDA_SUCCESS;
}

/* NULL is refused (R25); it runs in no context. */
static CUresult describe_host(const CUDA_HOST_NODE_PARAMS_v2 *in, soft_description *out)
{
    if (soft_rule(R25))
        SOFT_TRY(soft_need((const void *)(uintptr_t)in->fn, "the host function"));
    out->params.context = soft_context_current(); /* it needs none */
    out->task =
        (soft_task){.kind = SOFT_TASK_HOST, .u.host = {in->fn, in->userData, false}};
    out->params.type = CU_GRAPH_NODE_TYPE_HOST;
    out->params.task = &out->task;
    return CUDA_SUCCESS;
}

/* The event may be of another context or device than the graph's other nodes (R27). */
static CUresult describe_event(CUevent handle, CUgraphNodeType type,
                               soft_description *out)
{
    SOFT_TRY(soft_need(handle, "event"));
    if (!soft_rule(R27))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED, "event nodes are switched off");
    SOFT_TRY(soft_event_find(handle, &out->params.event));
    out->params.context = out->params.event->context; /* none need be current */
    out->params.type = type;
    return CUDA_SUCCESS;
}

/* Whether `graph` is `other`, or has it in a child graph. */
static bool holds(const soft_graph *graph, const soft_graph *other)
{
    for (; other; other = other->parent ? other->parent->graph : NULL)
        if (other == graph)
            return true;
    return false;
}

/* Once owned by a node it can be neither copied nor moved (R63). */
static CUresult check_move(const soft_graph *child, const soft_graph *into)
{
    if (soft_rule(R63) && child->parent)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the child graph belongs to a node already");
    SOFT_TRY(soft_api_check_plain(child));
    if (soft_rule(M_move_exec) && child->memory &&
        soft_graph_memory_has_exec(child->memory))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the child graph has memory nodes and an executable");
    if (holds(child, into))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be its own child");
    return CUDA_SUCCESS;
}

static CUresult check_copy(const soft_graph *child, const soft_graph *into)
{
    if (soft_rule(R63) && child->parent)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the child graph belongs to a node already");
    SOFT_TRY(soft_api_check_plain(child));
    if (soft_rule(R62) && soft_graph_has_memory(child))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the child graph has memory nodes: it can be moved, not copied");
    if (child == into) /* an H100 has no such question, and crashes */
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "a graph cannot be its own child");
    return CUDA_SUCCESS;
}

static CUresult describe_child(CUgraph handle, CUgraphChildGraphNodeOwnership ownership,
                               const soft_graph *into, soft_description *out)
{
    soft_graph *child;
    SOFT_TRY(soft_graph_find(handle, &child));
    /* Other values than these two are let pass, by an H100, as a copy. */
    const bool move = ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE;
    if (into) /* else an executable graph reads its parameters */
        SOFT_TRY(move ? check_move(child, into) : check_copy(child, into));
    out->params.type = CU_GRAPH_NODE_TYPE_GRAPH;
    out->params.child = child;
    out->params.move = move;
    return CUDA_SUCCESS;
}

/* Unlike kernels and copies it must name its context. */
static CUresult describe_batch(const CUDA_BATCH_MEM_OP_NODE_PARAMS_v2 *in,
                               soft_description *out)
{
    SOFT_TRY(soft_need(in->ctx, "ctx"));
    SOFT_TRY(context_of(in->ctx, &out->params.context));
    SOFT_TRY(soft_task_batch(in->paramArray, in->count, in->flags, &out->task));
    out->params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    out->params.task = &out->task;
    return CUDA_SUCCESS;
}

/* Operations like a batch's, in the current context. */
static CUresult describe_semaphores(const CUgraphNodeParams *in, soft_description *out)
{
    CUstreamBatchMemOpParams *ops = (CUstreamBatchMemOpParams *)(void *)out->scratch;
    _Static_assert(SOFT_SEMAPHORES_MAX * sizeof(*ops) <= sizeof(out->scratch), "room");
    SOFT_TRY(context_of(NULL, &out->params.context));
    SOFT_TRY(in->type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
                 ? soft_task_signals(&in->extSemSignal, ops, &out->task)
                 : soft_task_waits(&in->extSemWait, ops, &out->task));
    out->params.type = in->type;
    out->params.task = &out->task;
    return CUDA_SUCCESS;
}

/* Of the struct of a type in the union. */
static size_t bytes_of(CUgraphNodeType type)
{
    static const CUgraphNodeParams p;
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return sizeof(p.kernel);
    case CU_GRAPH_NODE_TYPE_MEMCPY: return sizeof(p.memcpy);
    case CU_GRAPH_NODE_TYPE_MEMSET: return sizeof(p.memset);
    case CU_GRAPH_NODE_TYPE_HOST: return sizeof(p.host);
    case CU_GRAPH_NODE_TYPE_GRAPH: return sizeof(p.graph);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return sizeof(p.eventWait);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return sizeof(p.eventRecord);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: return sizeof(p.extSemSignal);
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return sizeof(p.extSemWait);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: return sizeof(p.alloc);
    case CU_GRAPH_NODE_TYPE_MEM_FREE: return sizeof(p.free);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return sizeof(p.memOp);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: return sizeof(p.conditional);
    default: return 0;
    }
}

/* Reserved fields, and the bytes of the union after the struct of this type (R15). */
static CUresult check_reserved(const CUgraphNodeParams *in)
{
    if (soft_rule(R15) &&
        (in->reserved0[0] || in->reserved0[1] || in->reserved0[2] || in->reserved2))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "reserved fields of nodeParams are set");
    const unsigned char *bytes = (const unsigned char *)in->reserved1;
    for (size_t i = bytes_of(in->type); i < sizeof(in->reserved1) && soft_rule(R15); i++)
        if (bytes[i] != 0)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "byte %zu of nodeParams' union is set, which a node of type "
                             "%d does not use",
                             i, (int)in->type);
    return CUDA_SUCCESS;
}

/* Properties first (R43); access is judged when the node is added (R44). */
CUresult soft_describe_alloc(const CUDA_MEM_ALLOC_NODE_PARAMS *in, soft_node_params *out,
                             soft_memory_params *scratch)
{
    SOFT_TRY(soft_memory_params_check(in));
    scratch->alloc = *in;
    out->type = CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    out->memory = scratch;
    return CUDA_SUCCESS;
}

void soft_describe_free(CUdeviceptr address, soft_node_params *out,
                        soft_memory_params *scratch)
{
    scratch->free = address;
    out->type = CU_GRAPH_NODE_TYPE_MEM_FREE;
    out->memory = scratch;
}

/* Each struct of its own that CUDA has for a type is the head of the union's. */
#define IS_HEAD(narrow, wide, last)                                                      \
    _Static_assert(sizeof(narrow) <= sizeof(wide) &&                                     \
                       offsetof(narrow, last) == offsetof(wide, last),                   \
                   "the same fields at the same places")
IS_HEAD(CUDA_KERNEL_NODE_PARAMS_v1, CUDA_KERNEL_NODE_PARAMS_v3, extra);
IS_HEAD(CUDA_KERNEL_NODE_PARAMS, CUDA_KERNEL_NODE_PARAMS_v3, ctx);
IS_HEAD(CUDA_MEMSET_NODE_PARAMS, CUDA_MEMSET_NODE_PARAMS_v2, height);
IS_HEAD(CUDA_HOST_NODE_PARAMS, CUDA_HOST_NODE_PARAMS_v2, userData);
IS_HEAD(CUDA_BATCH_MEM_OP_NODE_PARAMS, CUDA_BATCH_MEM_OP_NODE_PARAMS_v2, flags);
IS_HEAD(CUDA_MEM_ALLOC_NODE_PARAMS, CUDA_MEM_ALLOC_NODE_PARAMS_v2, dptr);

CUresult soft_params_widen(CUgraphNodeType type, const void *in, size_t bytes,
                           const char *name, CUgraphNodeParams *out)
{
    SOFT_TRY(soft_need(in, name));
    memset(out, 0, sizeof(*out)); /* in place: setters are called for each launch */
    out->type = type;
    memcpy(out->reserved1, in, bytes);
    return CUDA_SUCCESS;
}

CUresult soft_params_of_copy(const CUDA_MEMCPY3D *in, CUcontext context,
                             CUgraphNodeParams *out)
{
    SOFT_TRY(soft_need(in, "copyParams"));
    memset(out, 0, sizeof(*out));
    out->type = CU_GRAPH_NODE_TYPE_MEMCPY;
    out->memcpy.copyCtx = context;
    out->memcpy.copyParams = *in;
    return CUDA_SUCCESS;
}

CUgraphNodeParams soft_params_of_event(CUgraphNodeType type, CUevent event)
{
    CUgraphNodeParams out = {.type = type};
    memcpy(out.reserved1, &event, sizeof(event)); /* of both types the first field */
    return out;
}

CUresult soft_describe_typed(const CUgraphNodeParams *in, const soft_graph *into,
                             soft_description *out)
{
    switch (in->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return describe_kernel(&in->kernel, out);
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        return describe_copy(&in->memcpy.copyParams, in->memcpy.copyCtx, out);
    case CU_GRAPH_NODE_TYPE_MEMSET: return describe_fill(&in->memset, out);
    case CU_GRAPH_NODE_TYPE_HOST: return describe_host(&in->host, out);
    case CU_GRAPH_NODE_TYPE_GRAPH:
        return describe_child(in->graph.graph, in->graph.ownership, into, out);
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return describe_batch(&in->memOp, out);
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: {
        CUDA_MEM_ALLOC_NODE_PARAMS alloc;
        memcpy(&alloc, &in->alloc, sizeof(alloc));
        return soft_describe_alloc(&alloc, &out->params, &out->memory);
    }
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
        soft_describe_free(in->free.dptr, &out->params, &out->memory);
        return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL:
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: return describe_semaphores(in, out);
    case CU_GRAPH_NODE_TYPE_EMPTY: return describe_empty(out);
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
        return describe_event(in->eventWait.event, in->type, out);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        return describe_event(in->eventRecord.event, in->type, out);
    case CU_GRAPH_NODE_TYPE_CONDITIONAL:
        out->params.type = in->type;
        out->params.task = &out->task;
        if (!into)
            return CUDA_SUCCESS; /* nothing sets them */
        return soft_conditional_describe(&in->conditional, into, &out->params.context,
                                         &out->task);
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "there is no node type %d",
                         (int)in->type);
    }
}

CUresult soft_describe_any(const CUgraphNodeParams *in, const soft_graph *into,
                           soft_description *out)
{
    SOFT_TRY(check_reserved(in));
    return soft_describe_typed(in, into, out);
}

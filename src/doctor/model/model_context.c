// SPDX-License-Identifier: Apache-2.0
/* Contexts: which is current in a thread, and which a call works in. */
#include "base/fail.h"
#include "doctor/model/model_state.h"

static void set_top(gphi_thread *thread, uint64_t context)
{
    thread->contexts[thread->context_depth] = context;
}

/* A stack deeper than is kept loses its bottom. */
static void push(gphi_thread *thread, uint64_t context)
{
    if (thread->context_depth + 1 < GPHI_CONTEXTS_MAX)
        thread->context_depth++;
    else
        memmove(thread->contexts, thread->contexts + 1,
                sizeof(thread->contexts) - sizeof(*thread->contexts));
    set_top(thread, context);
}

static void pop(gphi_thread *thread)
{
    set_top(thread, 0);
    if (thread->context_depth > 0)
        thread->context_depth--;
}

static void change_current(const gphi_seen *seen, gphi_thread *thread)
{
    const uint64_t context = gphi_event_word(seen->event, 0);
    switch (seen->call.call) {
    case GPHI_CALL_cuCtxSetCurrent: set_top(thread, context); break;
    case GPHI_CALL_cuCtxCreate:
    case GPHI_CALL_cuCtxPushCurrent: push(thread, context); break;
    case GPHI_CALL_cuCtxPopCurrent: pop(thread); break;
    case GPHI_CALL_cuCtxDestroy:
        if (thread->contexts[thread->context_depth] == context)
            pop(thread);
        break;
    default: break;
    }
}

/* Of the parameters for any node; 0: theirs is the current one. */
static uint64_t of_params(const CUgraphNodeParams *params)
{
    switch (params->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return (uint64_t)(uintptr_t)params->kernel.ctx;
    case CU_GRAPH_NODE_TYPE_MEMSET: return (uint64_t)(uintptr_t)params->memset.ctx;
    case CU_GRAPH_NODE_TYPE_MEMCPY: return (uint64_t)(uintptr_t)params->memcpy.copyCtx;
    default: return 0;
    }
}

static uint64_t of_arguments(const gphi_event *event)
{
    const CUgraphNodeParams *params;
    switch (event->u.call.call) {
    case GPHI_CALL_cuGraphAddMemcpyNode:
    case GPHI_CALL_cuGraphAddMemsetNode: return gphi_event_word(event, 5);
    case GPHI_CALL_cuGraphAddNode:
        params = gphi_bytes_of(event, GPHI_PART_STRUCT, 5, sizeof(*params));
        return params != NULL ? of_params(params) : 0;
    default: return 0;
    }
}

gph_status gphi_context_call(gphi_model *model, gphi_seen *seen)
{
    gphi_thread *thread = gphi_thread_of(model, seen->call.thread);
    if (thread == NULL)
        return GPH_E_NO_MEMORY;
    seen->call.context = of_arguments(seen->event);
    if (seen->call.context == 0 && seen->stream != NULL)
        seen->call.context = seen->stream->context;
    if (seen->call.context == 0)
        seen->call.context = thread->contexts[thread->context_depth];
    if (seen->call.result == 0)
        change_current(seen, thread);
    return GPH_OK;
}

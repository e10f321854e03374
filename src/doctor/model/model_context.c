// SPDX-License-Identifier: Apache-2.0
/* Contexts: which is current in a thread, and which a call works in. */
#include "base/fail.h"
#include "base/heap.h"
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
        return params ? of_params(params) : 0;
    default: return 0;
    }
}

enum { DOMAINS_MAX = 4096 };

const gphi_domain *gphi_model_domain(const gphi_model *model, uint64_t handle)
{
    for (size_t i = model->domains.count; i-- > 0;) {
        const gphi_domain *domain = gphi_vec_pointer(&model->domains, i);
        if (domain->handle == handle)
            return domain;
    }
    return NULL;
}

/* A primary context and a default pool are asked for again and again. */
static gph_status note_domain(gphi_model *model, const gphi_seen *seen)
{
    const uint32_t call = seen->call.call;
    const bool is_devices = call == GPHI_CALL_cuDevicePrimaryCtxRetain ||
                            call == GPHI_CALL_cuDeviceGetDefaultMemPool;
    const bool is_pool =
        call == GPHI_CALL_cuMemPoolCreate || call == GPHI_CALL_cuDeviceGetDefaultMemPool;
    if (!is_devices && !is_pool && call != GPHI_CALL_cuCtxCreate)
        return GPH_OK;
    const uint64_t handle = gphi_event_word(seen->event, 0);
    if (model->domains.count >= DOMAINS_MAX ||
        (is_devices && gphi_model_domain(model, handle)))
        return GPH_OK;
    gphi_domain *domain = gphi_heap_alloc(model->heap, sizeof(*domain));
    if (!domain)
        return GPH_E_NO_MEMORY;
    *domain = (gphi_domain){
        .handle = handle,
        .made = seen->call,
        .is_pool = is_pool,
        .device = is_devices ? (int32_t)gphi_event_word(seen->event, 1) : -1};
    const gph_status status = gphi_vec_push(&model->domains, &domain);
    if (status != GPH_OK)
        gphi_heap_free(model->heap, domain, sizeof(*domain));
    return status;
}

gph_status gphi_context_call(gphi_model *model, gphi_seen *seen)
{
    gphi_thread *thread = gphi_thread_of(model, seen->call.thread);
    if (!thread)
        return GPH_E_NO_MEMORY;
    seen->call.context = of_arguments(seen->event);
    if (seen->call.context == 0 && seen->stream)
        seen->call.context = seen->stream->context;
    if (seen->call.context == 0)
        seen->call.context = thread->contexts[thread->context_depth];
    if (seen->call.result != 0)
        return GPH_OK;
    change_current(seen, thread);
    return note_domain(model, seen);
}

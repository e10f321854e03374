// SPDX-License-Identifier: Apache-2.0
/* Memory: what is alive where, and what was. Two lists of ranges, sorted by address and
 * without overlap: `live`, and `dead`, where a later death hides an earlier one. */
#include "base/fail.h"
#include "doctor/model/call_kinds.h"
#include "doctor/model/model_state.h"

#include <string.h>

enum { FLAG_AUTO_FREE = 1 };

/* ---- ranges ---- */

/* The first range that ends after `address`. */
static size_t range_find(const gphi_vec *ranges, uint64_t address)
{
    const model_range *at = ranges->items;
    size_t low;
    GPHI_HALVE(low, ranges->count, i, at[i].end <= address);
    return low;
}

static void range_insert(gphi_vec *ranges, size_t index, const model_range *range)
{
    gphi_vec_add(ranges, 1); /* reserved */
    model_range *at = ranges->items;
    memmove(&at[index + 1], &at[index], (ranges->count - index - 1) * sizeof(*at));
    at[index] = *range;
}

/* Cuts a hole into what is there and puts the range into it. */
static gph_status range_put(gphi_vec *ranges, const model_range *range)
{
    GPHI_TRY(gphi_vec_reserve(ranges, 2));
    size_t i = range_find(ranges, range->start);
    while (i < ranges->count) {
        model_range *at = gphi_vec_at(ranges, i);
        if (at->start >= range->end)
            break;
        const model_range old = *at;
        if (old.start < range->start && old.end > range->end) {
            at->end = range->start;
            const model_range rest = {range->end, old.end, old.of};
            range_insert(ranges, i + 1, &rest);
            i++;
            break;
        }
        if (old.start < range->start) {
            at->end = range->start;
            i++;
        } else if (old.end > range->end) {
            at->start = range->end;
            break;
        } else {
            gphi_vec_remove(ranges, i);
        }
    }
    range_insert(ranges, i, range);
    return GPH_OK;
}

static void range_drop(gphi_vec *ranges, const gphi_allocation *of)
{
    for (size_t i = range_find(ranges, of->address); i < ranges->count;) {
        const model_range *at = gphi_vec_at(ranges, i);
        if (at->start >= of->address + of->bytes)
            return;
        if (at->of == of)
            gphi_vec_remove(ranges, i);
        else
            i++;
    }
}

static gphi_allocation *range_of(const gphi_vec *ranges, uint64_t address)
{
    const size_t i = range_find(ranges, address);
    const model_range *at = ranges->items;
    return i < ranges->count && at[i].start <= address ? at[i].of : NULL;
}

void gphi_memory_forget(gphi_model *model, gphi_allocation *allocation)
{
    range_drop(&model->own->live, allocation);
    range_drop(&model->own->dead, allocation);
}

gphi_allocation *gphi_model_memory(const gphi_model *model, uint64_t address, bool dead)
{
    return range_of(dead ? &model->own->dead : &model->own->live, address);
}

/* ---- life ---- */

static gph_status die(gphi_model *model, gphi_allocation *allocation, const gphi_call *by)
{
    const model_range range = {allocation->address,
                               allocation->address + allocation->bytes, allocation};
    range_drop(&model->own->live, allocation);
    allocation->freed = *by;
    return range_put(&model->own->dead, &range);
}

static gphi_allocation *allocate(gphi_model *model, const gphi_call *by, uint64_t address,
                                 uint64_t bytes, gphi_memory_kind kind)
{
    if (bytes == 0)
        bytes = 1;
    if (address == 0 || address + bytes < address)
        return NULL;
    gphi_allocation *allocation = gphi_table_add(model, &model->own->allocations);
    if (!allocation)
        return NULL;
    *allocation = (gphi_allocation){
        .address = address, .bytes = bytes, .kind = kind, .allocated = *by};
    /* What still stands there has died without our seeing it. */
    for (size_t i = range_find(&model->own->live, address); i < model->own->live.count;) {
        gphi_allocation *old = ((model_range *)gphi_vec_at(&model->own->live, i))->of;
        if (old->address >= address + bytes)
            break;
        if (die(model, old, by) != GPH_OK)
            return NULL;
        i = range_find(&model->own->live, address);
    }
    const model_range range = {address, address + bytes, allocation};
    return range_put(&model->own->live, &range) == GPH_OK ? allocation : NULL;
}

static gph_status free_at(gphi_model *model, const gphi_call *by, uint64_t address)
{
    gphi_allocation *allocation = range_of(&model->own->live, address);
    if (!allocation || allocation->address != address)
        return GPH_OK;
    return die(model, allocation, by);
}

static gph_status free_all(gphi_model *model, const gphi_call *by)
{
    while (model->own->live.count > 0) {
        model_range *at = gphi_vec_at(&model->own->live, model->own->live.count - 1);
        GPHI_TRY(die(model, at->of, by));
    }
    return GPH_OK;
}

/* ---- graph memory ---- */

static bool frees_itself(const gph_graph *graph, uint64_t address)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_MEM_FREE && node->u.memory.address == address)
            return true;
    }
    return false;
}

static gph_status launch_alloc(gphi_model *model, const gphi_seen *seen,
                               const gph_memory_params *memory, bool is_inside)
{
    gphi_allocation *known = range_of(&model->own->live, memory->address);
    if (!known || known->kind != GPHI_MEM_GRAPH || known->address != memory->address) {
        known =
            allocate(model, &seen->call, memory->address, memory->bytes, GPHI_MEM_GRAPH);
        if (!known)
            return GPH_E_NO_MEMORY;
        known->is_pending = true;
    }
    known->exec = seen->exec;
    if (is_inside || !known->is_pending)
        return GPH_OK;
    known->is_pending = false;
    known->allocated = seen->call;
    return GPH_OK;
}

static gph_status launch_graph(gphi_model *model, const gphi_seen *seen,
                               const gph_graph *graph)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_MEM_ALLOC) {
            if (node->u.memory.address != 0)
                GPHI_TRY(launch_alloc(model, seen, &node->u.memory,
                                      frees_itself(graph, node->u.memory.address)));
        } else if (node->kind == GPH_NODE_MEM_FREE) {
            const gphi_allocation *of =
                range_of(&model->own->live, node->u.memory.address);
            if (of && !of->is_pending)
                GPHI_TRY(free_at(model, &seen->call, node->u.memory.address));
        } else if (node->kind == GPH_NODE_CHILD && node->u.child) {
            GPHI_TRY(launch_graph(model, seen, node->u.child));
        }
    }
    return GPH_OK;
}

gph_status gphi_memory_launch(gphi_model *model, gphi_seen *seen)
{
    const gphi_exec_state *exec = seen->exec;
    if (!exec || !exec->source || seen->call.result != 0 || !exec->source->has_memory)
        return GPH_OK;
    return launch_graph(model, seen, exec->source->data);
}

/* ---- calls ---- */

static gph_status made(gphi_model *model, const gphi_seen *seen, uint64_t bytes,
                       gphi_memory_kind kind, uint64_t pool)
{
    const uint64_t address = gphi_event_word(seen->event, 0);
    const bool is_captured = seen->stream && seen->stream->capture;
    gphi_allocation *allocation =
        allocate(model, &seen->call, address, bytes, is_captured ? GPHI_MEM_GRAPH : kind);
    if (!allocation)
        return GPH_OK; /* address 0: the record does not say */
    allocation->pool = pool;
    allocation->in = is_captured ? seen->stream->capture : NULL;
    allocation->is_pending = is_captured;
    return GPH_OK;
}

static gph_status freed(gphi_model *model, const gphi_seen *seen)
{
    if (seen->stream && seen->stream->capture)
        return GPH_OK; /* a free node: launches free */
    return free_at(model, &seen->call, gphi_event_word(seen->event, 0));
}

static gph_status added_node(gphi_model *model, const gphi_seen *seen)
{
    const CUDA_MEM_ALLOC_NODE_PARAMS *params = gphi_added_allocation(seen->event);
    if (!params || params->dptr == 0)
        return GPH_OK;
    gphi_allocation *allocation =
        allocate(model, &seen->call, params->dptr, params->bytesize, GPHI_MEM_GRAPH);
    if (allocation)
        allocation->is_pending = true;
    return GPH_OK;
}

/* The context goes, and all with it: reported only where there is but one. */
static gph_status context_gone(gphi_model *model, const gphi_seen *seen)
{
    return model->own->contexts.count <= 1 ? free_all(model, &seen->call) : GPH_OK;
}

static gph_status context_seen(gphi_model *model, uint64_t context)
{
    const uint64_t *known = model->own->contexts.items;
    for (size_t i = 0; i < model->own->contexts.count; i++)
        if (known[i] == context)
            return GPH_OK;
    if (context == 0 || model->own->contexts.count >= 64)
        return GPH_OK;
    return gphi_vec_push(&model->own->contexts, &context);
}

gph_status gphi_memory_call(gphi_model *model, gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    const uint64_t second = gphi_event_word(event, 1);
    if (seen->call.result != 0)
        return GPH_OK;
    switch (seen->call.call) {
    case GPHI_CALL_cuMemAlloc: return made(model, seen, second, GPHI_MEM_DEVICE, 0);
    case GPHI_CALL_cuMemAllocPitch:
        return made(model, seen, second * gphi_event_word(event, 3), GPHI_MEM_DEVICE, 0);
    case GPHI_CALL_cuMemAllocHost:
    case GPHI_CALL_cuMemHostAlloc: return made(model, seen, second, GPHI_MEM_PINNED, 0);
    case GPHI_CALL_cuMemHostRegister:
        return made(model, seen, second, GPHI_MEM_REGISTERED, 0);
    case GPHI_CALL_cuMemAllocManaged:
        return made(model, seen, second, GPHI_MEM_MANAGED, 0);
    case GPHI_CALL_cuMemAllocAsync: return made(model, seen, second, GPHI_MEM_ASYNC, 0);
    case GPHI_CALL_cuMemAllocFromPoolAsync:
        return made(model, seen, second, GPHI_MEM_ASYNC, gphi_event_word(event, 2));
    case GPHI_CALL_cuMemMap: return made(model, seen, second, GPHI_MEM_VMM, 0);
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemFreeHost:
    case GPHI_CALL_cuMemHostUnregister:
    case GPHI_CALL_cuMemUnmap:
    case GPHI_CALL_cuMemFreeAsync: return freed(model, seen);
    case GPHI_CALL_cuGraphAddMemAllocNode:
    case GPHI_CALL_cuGraphAddNode: return added_node(model, seen);
    case GPHI_CALL_cuCtxDestroy:
    case GPHI_CALL_cuDevicePrimaryCtxReset: return context_gone(model, seen);
    case GPHI_CALL_cuDevicePrimaryCtxRetain:
    case GPHI_CALL_cuCtxCreate:
    case GPHI_CALL_cuCtxSetCurrent:
    case GPHI_CALL_cuCtxPushCurrent:
        return context_seen(model, gphi_event_word(event, 0));
    case GPHI_CALL_cuGraphLaunch:
        return seen->stream && seen->stream->capture ? GPH_OK
                                                     : gphi_memory_launch(model, seen);
    default: return GPH_OK;
    }
}

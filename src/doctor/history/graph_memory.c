// SPDX-License-Identifier: Apache-2.0
/* Memory that nodes of graphs allocate: who allocated it, who frees it, who uses it. */
#include "doctor/history/history.h"

gphi_graph_memory *gphi_history_graph_memory(const gphi_history *history,
                                             uint64_t address)
{
    for (size_t i = history->graph_memories.count; i-- > 0;) {
        gphi_graph_memory *one = gphi_vec_at(&history->graph_memories, i);
        if (address == one->address || address - one->address < one->bytes)
            return one;
    }
    return NULL;
}

/* Addresses of graphs of a past life are given out again: the last one counts. */
static void add_memory(gphi_history *history, uint64_t address, uint64_t bytes,
                       const gphi_call *made)
{
    const gphi_graph_memory new = {.address = address, .bytes = bytes, .made = *made};
    if (address != 0 && gphi_vec_push(&history->graph_memories, &new) != GPH_OK)
        history->is_short = true;
}

static gphi_graph_memory *find_exact(const gphi_history *history, uint64_t address)
{
    gphi_graph_memory *one = gphi_history_graph_memory(history, address);
    return one && one->address == address ? one : NULL;
}

/* Whether the graph frees all that it allocates at an address. */
static bool frees_all(const gphi_exec_history *exec, uint64_t address)
{
    GPHI_EACH (const gphi_touch, node, &exec->allocations)
        if (node->address == address && !node->writes && !node->reads)
            return false;
    return true;
}

static void note_graph(gphi_history *history, const gphi_seen *seen,
                       gphi_exec_history *exec)
{
    GPHI_EACH (gphi_graph_memory, one, &history->graph_memories)
        one->is_orphan = one->is_orphan || (one->exec == exec && one->is_live);
    GPHI_EACH (const gphi_touch, node, &exec->allocations) {
        if (node->writes)
            continue;
        gphi_graph_memory *one = find_exact(history, node->address);
        if (!one || (one->exec && one->exec != exec)) {
            add_memory(history, node->address, node->bytes, &seen->call);
            one = find_exact(history, node->address);
        }
        if (!one)
            continue;
        one->exec = exec;
        one->is_orphan = false;
        one->is_freed_inside = frees_all(exec, node->address);
    }
}

static void note_launch(gphi_history *history, const gphi_seen *seen,
                        gphi_exec_history *exec)
{
    GPHI_EACH (const gphi_touch, node, &exec->allocations) {
        gphi_graph_memory *one = find_exact(history, node->address);
        if (!one)
            continue;
        if (node->writes) {
            one->is_live = false;
            one->freed = seen->call;
            continue;
        }
        one->is_live = !one->is_freed_inside;
        one->launched = seen->call;
    }
}

static void note_use(gphi_history *history, const gphi_seen *seen, uint64_t address)
{
    gphi_graph_memory *one =
        address != 0 ? gphi_history_graph_memory(history, address) : NULL;
    if (one && one->used.number == 0)
        one->used = seen->call;
}

/* Outside graphs. */
static void note_uses(gphi_history *history, const gphi_seen *seen)
{
    gphi_touch touches[64];
    gphi_call_ranges ranges;
    if (gphi_call_is_kernel(seen->call.call)) {
        const uint32_t count = gphi_call_pointers(history->model, seen, touches, 64);
        for (uint32_t i = 0; i < count; i++)
            note_use(history, seen, touches[i].address);
    } else if (gphi_call_ranges_of(seen, &ranges)) {
        note_use(history, seen, ranges.write);
        note_use(history, seen, ranges.read);
    }
}

void gphi_graph_memory_call(gphi_history *history, const gphi_seen *seen,
                            gphi_exec_history *exec, bool is_new)
{
    const uint32_t call = seen->call.call;
    const bool worked = seen->call.result == 0;
    if (exec && is_new && worked)
        note_graph(history, seen, exec);
    if (exec && gphi_is_launch(seen))
        note_launch(history, seen, exec);
    const uint64_t address = gphi_event_word(seen->event, 0);
    if (worked && seen->capture && gphi_call_is_pool_alloc(call))
        add_memory(history, address, gphi_event_word(seen->event, 1), &seen->call);
    const CUDA_MEM_ALLOC_NODE_PARAMS *added =
        worked ? gphi_added_allocation(seen->event) : NULL;
    if (added)
        add_memory(history, added->dptr, added->bytesize, &seen->call);
    if (worked && !seen->capture && gphi_call_is_free(call)) {
        gphi_graph_memory *one = find_exact(history, address);
        if (one) {
            one->is_live = false;
            one->freed = seen->call;
        }
    }
    if (!seen->capture && history->graph_memories.count != 0 &&
        (!seen->work || !seen->work->is_captured))
        note_uses(history, seen);
}

// SPDX-License-Identifier: Apache-2.0
/* The lowest file of the model: its tables of objects, and how an object is found by the
 * handle that the driver knows it by. */
#include "base/heap.h"
#include "doctor/model/model_state.h"

#include <string.h>

/* ---- tables ---- */

void *gphi_table_find(const model_table *table, uint64_t handle)
{
    return gphi_map_pointer(&table->by_handle, handle);
}

gph_status gphi_table_name(model_table *table, uint64_t handle, void *item)
{
    return gphi_map_set(&table->by_handle, handle, (uint64_t)(uintptr_t)item);
}

/* Clears the oldest dead ones when there are more than `keep`. */
static void table_sweep(gphi_model *model, model_table *table)
{
    size_t dead = 0, kept = 0;
    void **items = table->list->items;
    for (size_t i = 0; i < table->list->count; i++)
        dead += table->is_dead(items[i]);
    for (size_t i = 0; i < table->list->count; i++) {
        void *item = items[i];
        if (dead <= table->keep || !table->is_dead(item) ||
            gphi_vec_reserve(&table->spare, 1) != GPH_OK) {
            items[kept++] = item;
            continue;
        }
        dead--;
        const uint64_t handle = table->handle(item);
        if (gphi_table_find(table, handle) == item)
            gphi_map_remove(&table->by_handle, handle);
        table->clear(model, item);
        memset(item, 0, table->item_bytes);
        *(void **)gphi_vec_add(&table->spare, 1) = item;
    }
    table->list->count = kept;
}

void *gphi_table_add(gphi_model *model, model_table *table)
{
    if (++table->made > table->keep + table->list->count / 4) {
        table->made = 0;
        table_sweep(model, table);
    }
    void *item;
    if (gphi_vec_reserve(table->list, 1) != GPH_OK)
        return NULL;
    if (table->spare.count > 0)
        item = gphi_vec_pointer(&table->spare, --table->spare.count);
    else
        item = gphi_heap_alloc(model->heap, table->item_bytes);
    if (item)
        *(void **)gphi_vec_add(table->list, 1) = item;
    return item;
}

void gphi_table_fini(gphi_model *model, model_table *table)
{
    void **items = table->list->items;
    for (size_t i = 0; i < table->list->count; i++)
        table->clear(model, items[i]); /* looks at others */
    for (size_t i = 0; i < table->list->count; i++)
        gphi_heap_free(model->heap, items[i], table->item_bytes);
    void **spare = table->spare.items;
    for (size_t i = 0; i < table->spare.count; i++)
        gphi_heap_free(model->heap, spare[i], table->item_bytes);
    gphi_vec_fini(&table->spare);
    gphi_vec_fini(table->list);
    gphi_map_fini(&table->by_handle);
}

/* ---- lookups ---- */

enum { LEGACY = 1, PER_THREAD = 2 };

static model_stream *find_stream(const gphi_model *model, uint64_t handle,
                                 uint32_t thread, bool per_thread)
{
    if (handle == PER_THREAD || (handle == 0 && per_thread))
        return gphi_map_pointer(&model->own->per_thread, thread);
    return gphi_table_find(&model->own->streams, handle == 0 ? LEGACY : handle);
}

model_stream *gphi_stream_of(gphi_model *model, uint64_t handle, uint32_t thread,
                             bool per_thread)
{
    model_stream *stream = find_stream(model, handle, thread, per_thread);
    if (stream)
        return stream;
    stream = gphi_table_add(model, &model->own->streams);
    if (!stream)
        return NULL;
    const bool is_per_thread = handle == PER_THREAD || (handle == 0 && per_thread);
    const bool is_legacy = !is_per_thread && (handle == 0 || handle == LEGACY);
    stream->seen.handle = is_per_thread ? PER_THREAD : is_legacy ? LEGACY : handle;
    stream->seen.thread = is_per_thread ? thread : 0;
    stream->seen.is_legacy = is_legacy;
    stream->seen.is_per_thread = is_per_thread;
    stream->seen.is_blocking = true; /* of one that is only now seen: silent in doubt */
    stream->seen.is_alive = true;
    stream->lane = LANE_NONE;
    gphi_vec_init(&stream->front, model->heap, sizeof(uint32_t));
    const gph_status status =
        is_per_thread
            ? gphi_map_set(&model->own->per_thread, thread, (uint64_t)(uintptr_t)stream)
            : gphi_table_name(&model->own->streams, stream->seen.handle, stream);
    return status == GPH_OK ? stream : NULL;
}

gphi_stream *gphi_model_stream(gphi_model *model, uint64_t handle, uint32_t thread,
                               bool per_thread)
{
    model_stream *stream = find_stream(model, handle, thread, per_thread);
    return stream ? &stream->seen : NULL;
}

/* What others see of an object is its first member, so that a pointer to one is a pointer
 * to the other. */

gphi_cuda_event *gphi_model_event(const gphi_model *model, uint64_t handle)
{
    return gphi_table_find(&model->own->events, handle);
}

gphi_graph_state *gphi_model_graph(const gphi_model *model, uint64_t handle)
{
    return gphi_table_find(&model->own->graphs, handle);
}

gphi_exec_state *gphi_model_exec(const gphi_model *model, uint64_t handle)
{
    return gphi_table_find(&model->own->execs, handle);
}

gphi_capture *gphi_model_capture(const gphi_model *model, uint64_t id)
{
    return gphi_table_find(&model->own->captures, id);
}

const gphi_function *gphi_model_function(const gphi_model *model, uint64_t handle)
{
    return gphi_map_pointer(&model->own->functions, handle);
}

bool gphi_model_is_code_of(const gphi_model *model, uint64_t handle, uint64_t owner)
{
    enum { STEPS = 3 }; /* function, kernel or module, library */
    for (int i = 0; i < STEPS && handle != 0; i++) {
        const uint64_t *of = gphi_map_get(&model->own->code, handle);
        handle = of ? *of : 0;
        if (handle == owner)
            return handle != 0;
    }
    return false;
}

uint64_t gphi_model_kernel(const gphi_model *model, uint64_t handle)
{
    const gphi_function *function = gphi_model_function(model, handle);
    return function ? function->kernel : handle;
}

const gphi_function *gphi_model_kernel_function(const gphi_model *model, uint64_t kernel)
{
    return gphi_map_pointer(&model->own->kernels, kernel);
}

const gphi_thread *gphi_model_thread(const gphi_model *model, uint32_t id)
{
    return gphi_map_pointer(&model->own->threads, id);
}

gphi_thread *gphi_thread_of(gphi_model *model, uint32_t id)
{
    gphi_thread *thread = gphi_map_pointer(&model->own->threads, id);
    if (thread)
        return thread;
    if (gphi_vec_reserve(&model->own->thread_list, 1) != GPH_OK)
        return NULL;
    thread = gphi_heap_alloc(model->heap, sizeof(*thread));
    if (!thread)
        return NULL;
    thread->id = id;
    *(void **)gphi_vec_add(&model->own->thread_list, 1) = thread;
    const gph_status status =
        gphi_map_set(&model->own->threads, id, (uint64_t)(uintptr_t)thread);
    return status == GPH_OK ? thread : NULL;
}

/* Whether the object of one sort of argument is dead; *by: what ended it, where known. */
static bool is_dead(const gphi_model *model, uint32_t sort, uint64_t handle,
                    gphi_call *by)
{
    const gphi_exec_state *exec = sort == 0 ? gphi_model_exec(model, handle) : NULL;
    const gphi_graph_state *graph = sort == 1 ? gphi_model_graph(model, handle) : NULL;
    const gphi_stream *stream =
        sort == 2 ? gphi_table_find(&model->own->streams, handle) : NULL;
    const gphi_cuda_event *event = sort == 3 ? gphi_model_event(model, handle) : NULL;
    if (exec)
        *by = exec->destroyed;
    if (graph)
        *by = graph->destroyed;
    if (stream)
        *by = stream->destroyed;
    return (exec && !exec->is_alive) || (graph && !graph->is_alive) ||
           (stream && !stream->is_alive) || (event && !event->is_alive);
}

bool gphi_model_dead(const gphi_model *model, const gphi_event *event, gphi_dead *out)
{
    static const char *const sorts[] = {"executable", "graph", "stream", "event"};
    const model_signature *has = &model->own->calls[event->u.call.call];
    const int8_t places[] = {has->exec, has->graph, has->stream, has->event};
    for (uint32_t i = 0; i < sizeof(places); i++) {
        if (places[i] < 0)
            continue;
        const uint64_t handle = gphi_event_word(event, (uint32_t)places[i]);
        *out = (gphi_dead){.handle = handle, .what = sorts[i]};
        if (is_dead(model, i, handle, &out->by))
            return true;
    }
    return false;
}

static const gphi_call nobody = {.number = 0};

const gphi_call *gphi_last_launch(const gphi_exec_state *exec)
{
    const gphi_launch *launches = exec->launches.items;
    const size_t count = exec->launches.count;
    return count > 0 ? &launches[count - 1].call : &nobody;
}

const gphi_launch *gphi_exec_pending(const gphi_model *model, const gphi_exec_state *exec)
{
    const gphi_launch *launches = exec->launches.items;
    const size_t count = exec->launches.count;
    return count > 0 &&
                   !gphi_model_ordered(model, launches[count - 1].work, GPHI_WORK_NOW)
               ? &launches[count - 1]
               : NULL;
}

const gphi_call *gphi_snapshot_made(const gphi_snapshot *snapshot, uint32_t index)
{
    return snapshot && snapshot->made && index < snapshot->node_count
               ? &snapshot->made[index]
               : &nobody;
}

uint32_t gphi_snapshot_index(const gphi_snapshot *snapshot, uint64_t handle)
{
    const bool has_handles = snapshot && snapshot->handles && handle != 0;
    for (uint32_t i = 0; has_handles && i < snapshot->node_count; i++)
        if (snapshot->handles[i] == handle)
            return i;
    return GPH_NODE_NONE;
}

uint32_t gphi_snapshot_find(const gphi_snapshot *snapshot, gph_node_kind kind,
                            uint64_t address)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == kind && node->u.memory.address == address)
            return i;
    }
    return GPH_NODE_NONE;
}

uint64_t gphi_snapshot_allocated(const gphi_snapshot *snapshot)
{
    const gph_graph *graph = gphi_snapshot_graph(snapshot);
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        if (node->kind == GPH_NODE_MEM_ALLOC)
            bytes += node->u.memory.bytes;
    }
    return bytes;
}

const void *gphi_bytes_of(const gphi_event *event, gphi_part_kind kind, uint32_t arg,
                          size_t bytes)
{
    const gphi_part *part;
    for (uint32_t nth = 0; (part = gphi_event_part(event, kind, nth)); nth++)
        if (part->arg == arg && part->bytes >= bytes)
            return part + 1;
    return NULL;
}

uint64_t gphi_exec_node(const gphi_exec_state *exec, uint64_t node)
{
    const model_exec *of = (const model_exec *)exec;
    const gphi_snapshot *source = exec ? exec->source : NULL;
    if (!source || !source->handles || exec->updated.number == 0)
        return node;
    for (uint32_t i = 0; i < source->node_count; i++)
        if (source->handles[i] == node)
            return node;
    for (size_t i = 0; i < of->nodes.count && i < source->node_count; i++)
        if (*(uint64_t *)gphi_vec_at(&of->nodes, i) == node)
            return source->handles[i];
    return node;
}

gph_status gphi_event_keep(gphi_vec *bytes, const gphi_event *event)
{
    const size_t count = (size_t)event->units * sizeof(*event);
    void *copy = gphi_vec_add(bytes, count);
    if (!copy)
        return GPH_E_NO_MEMORY;
    memcpy(copy, event, count);
    return GPH_OK;
}

bool gphi_is_sticky(int32_t result)
{
    switch (result) {
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return true;
    default: return false;
    }
}

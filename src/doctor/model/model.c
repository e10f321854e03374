// SPDX-License-Identifier: Apache-2.0
/* The model: its tables, its lookups, and the way of a record through it. */
#include "base/fail.h"
#include "base/heap.h"
#include "doctor/model/model_state.h"

#include <string.h>

/* ---- tables ---- */

static void *pointer_of(const uint64_t *value)
{
    return value != NULL ? (void *)(uintptr_t)*value : NULL;
}

void *gphi_table_find(const model_table *table, uint64_t handle)
{
    return pointer_of(gphi_map_get(&table->by_handle, handle));
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
        item = *(void **)gphi_vec_at(&table->spare, --table->spare.count);
    else
        item = gphi_heap_alloc(model->heap, table->item_bytes);
    if (item != NULL)
        *(void **)gphi_vec_add(table->list, 1) = item;
    return item;
}

static void table_fini(gphi_model *model, model_table *table)
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

/* ---- the kinds of object ---- */

/* Whether it is dead, its handle, and what to free of it. */
#define KIND(kind, type, dead_if, handle_is)                                             \
    static bool kind##_is_dead(const void *item)                                         \
    {                                                                                    \
        const type *of = item;                                                           \
        return dead_if;                                                                  \
    }                                                                                    \
    static uint64_t kind##_handle(const void *item)                                      \
    {                                                                                    \
        const type *of = item;                                                           \
        return handle_is;                                                                \
    }
KIND(stream, model_stream,
     !of->seen.is_alive && of->seen.capture == NULL && !of->seen.is_legacy &&
         !of->seen.is_per_thread,
     of->seen.handle)
KIND(event, model_event, !of->seen.is_alive, of->seen.handle)
KIND(capture, model_capture, !of->seen.is_open, of->seen.id)
KIND(graph, model_graph, !of->seen.is_alive, of->seen.handle)
KIND(exec, model_exec, !of->seen.is_alive, of->seen.handle)
KIND(snapshot, model_snapshot,
     of->is_done && of->uses == 0 &&
         (of->seen.parent == NULL ||
          ((const model_snapshot *)of->seen.parent)->uses == 0),
     of->seen.number)
KIND(allocation, gphi_allocation, of->freed.number != 0, of->address)

static void stream_clear(gphi_model *model, void *item)
{
    model_stream *stream = item;
    gphi_lane_drop(model, stream->lane);
    gphi_vec_fini(&stream->front);
}

static void event_clear(gphi_model *model, void *item)
{
    model_event *event = item;
    gphi_clock_drop(model, &event->clock);
    gphi_vec_fini(&event->front);
}

static void allocation_clear(gphi_model *model, void *item)
{
    gphi_memory_forget(model, item);
}

#define TABLE(model, kind, bytes, most, clearer)                                         \
    do {                                                                                 \
        model_table *table_ = &(model)->own->kind##s;                                    \
        gphi_vec_init(&(model)->kind##s, (model)->heap, sizeof(void *));                 \
        gphi_vec_init(&table_->spare, (model)->heap, sizeof(void *));                    \
        gphi_map_init(&table_->by_handle, (model)->heap);                                \
        table_->list = &(model)->kind##s;                                                \
        table_->item_bytes = (bytes);                                                    \
        table_->keep = (most);                                                           \
        table_->is_dead = kind##_is_dead;                                                \
        table_->handle = kind##_handle;                                                  \
        table_->clear = (clearer);                                                       \
    } while (0)

static void make_tables(gphi_model *model)
{
    TABLE(model, stream, sizeof(model_stream), 4096, stream_clear);
    TABLE(model, event, sizeof(model_event), 16384, event_clear);
    TABLE(model, capture, sizeof(model_capture), 256, gphi_capture_clear);
    TABLE(model, graph, sizeof(model_graph), 4096, gphi_graph_clear);
    TABLE(model, exec, sizeof(model_exec), 4096, gphi_exec_clear);
    TABLE(model, snapshot, sizeof(model_snapshot), 512, gphi_snapshot_clear);
    TABLE(model, allocation, sizeof(gphi_allocation), 65536, allocation_clear);
}

/* ---- signatures ---- */

static bool is_one_of(const char *name, const char *list)
{
    const size_t length = strlen(name);
    for (const char *at = list; (at = strstr(at, name)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

static model_what what_of(const char *name, const model_signature *has)
{
    if (is_one_of(name, "cuStreamSynchronize cuStreamQuery"))
        return WHAT_STREAM_SYNC;
    if (is_one_of(name, "cuEventSynchronize cuEventQuery cuEventElapsedTime"))
        return WHAT_EVENT_SYNC;
    if (is_one_of(name, "cuCtxSynchronize cuCtxDestroy cuDevicePrimaryCtxReset cuMemFree "
                        "cuMemFreeHost cuMemHostUnregister"))
        return WHAT_CONTEXT_SYNC;
    if (has->stream < 0)
        return gphi_name_begins(name, "cuMemcpy") || gphi_name_begins(name, "cuMemset")
                   ? WHAT_SYNC_WORK
                   : WHAT_OTHER;
    if (gphi_name_begins(name, "cuLaunch") || gphi_name_begins(name, "cuMemcpy") ||
        gphi_name_begins(name, "cuMemset") || gphi_name_begins(name, "cuMemPrefetch") ||
        gphi_name_begins(name, "cuMemDiscard") ||
        is_one_of(name, "cuGraphLaunch cuStreamWriteValue32 cuStreamWriteValue64 "
                        "cuStreamWaitValue32 cuStreamWaitValue64 cuStreamBatchMemOp "
                        "cuMemAllocAsync cuMemFreeAsync cuMemAllocFromPoolAsync "
                        "cuStreamAddCallback cuMemMapArrayAsync "
                        "cuMemBatchDecompressAsync cuSignalExternalSemaphoresAsync "
                        "cuWaitExternalSemaphoresAsync"))
        return WHAT_WORK;
    return WHAT_OTHER;
}

/* Reads "(CUgraphNode *, CUgraph, size_t)". */
static model_signature read_signature(const char *name, const char *arguments)
{
    model_signature has = {
        .stream = -1, .event = -1, .exec = -1, .graph = -1, .node = -1};
    const struct {
        const char *type;
        int8_t *place;
    } plain[] = {{"CUstream", &has.stream},
                 {"CUevent", &has.event},
                 {"CUgraphExec", &has.exec},
                 {"CUgraph", &has.graph},
                 {"CUgraphNode", &has.node}};
    int8_t index = 0;
    for (const char *at = arguments + 1; *at != '\0'; index++) {
        const size_t length = strcspn(at, ",)");
        for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
            if (strlen(plain[i].type) == length &&
                memcmp(at, plain[i].type, length) == 0 && *plain[i].place < 0)
                *plain[i].place = index;
        has.gives_exec |= index == 0 && gphi_name_begins(at, "CUgraphExec *");
        has.gives_graph |= gphi_name_begins(at, "CUgraph *");
        at += length + (at[length] != '\0');
        at += strspn(at, " ");
    }
    has.what = (uint8_t)what_of(name, &has);
    return has;
}

static void read_signatures(gphi_model *model)
{
    static const char *const arguments[] = {
#define X(name, version, arguments) #arguments,
        GPHI_CUDA_CALLS(X)
#undef X
    };
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++)
        model->own->calls[call] = read_signature(gphi_call_name(call), arguments[call]);
    model->own->calls[GPHI_CALL_cuLaunchKernelEx].what = WHAT_WORK;
}

/* ---- life ---- */

gph_status gphi_model_create(gph_allocator heap, gphi_model **out)
{
    gphi_model *model = gphi_heap_alloc(heap, sizeof(*model));
    if (model == NULL)
        return GPH_E_NO_MEMORY;
    model->heap = heap;
    model->own = gphi_heap_alloc(heap, sizeof(*model->own));
    if (model->own == NULL) {
        gphi_heap_free(heap, model, sizeof(*model));
        return GPH_E_NO_MEMORY;
    }
    struct gphi_model_private *own = model->own;
    make_tables(model);
    gphi_map_init(&own->per_thread, heap);
    gphi_map_init(&own->functions, heap);
    gphi_map_init(&own->kernels, heap);
    gphi_map_init(&own->alike, heap);
    gphi_map_init(&own->threads, heap);
    gphi_vec_init(&own->function_list, heap, sizeof(void *));
    gphi_vec_init(&own->thread_list, heap, sizeof(void *));
    gphi_vec_init(&own->live, heap, sizeof(model_range));
    gphi_vec_init(&own->dead, heap, sizeof(model_range));
    gphi_vec_init(&own->pending, heap, sizeof(void *));
    gphi_vec_init(&own->contexts, heap, sizeof(uint64_t));
    gphi_vec_init(&own->fresh, heap, sizeof(void *));
    gphi_vec_init(&own->open, heap, sizeof(void *));
    read_signatures(model);
    *out = model;
    return GPH_OK;
}

static void free_function(gphi_model *model, gphi_function *function)
{
    const size_t bytes = function->arg_count * sizeof(gph_kernel_arg);
    gphi_heap_free(model->heap, (void *)(uintptr_t)function->args, bytes);
    gphi_heap_text_free(model->heap, (char *)(uintptr_t)function->name);
    gphi_heap_free(model->heap, function, sizeof(*function));
}

void gphi_model_destroy(gphi_model *model)
{
    if (model == NULL)
        return;
    struct gphi_model_private *own = model->own;
    gphi_work_fini(model);
    model_table *const tables[] = {&own->captures,   &own->streams, &own->events,
                                   &own->snapshots,  &own->graphs,  &own->execs,
                                   &own->allocations};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        table_fini(model, tables[i]);
    for (size_t i = 0; i < own->function_list.count; i++)
        free_function(model, *(gphi_function **)gphi_vec_at(&own->function_list, i));
    for (size_t i = 0; i < own->thread_list.count; i++)
        gphi_heap_free(model->heap, *(void **)gphi_vec_at(&own->thread_list, i),
                       sizeof(gphi_thread));
    gphi_vec *const vecs[] = {&own->function_list, &own->thread_list, &own->live,
                              &own->dead,          &own->pending,     &own->contexts,
                              &own->open,          &own->fresh};
    for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++)
        gphi_vec_fini(vecs[i]);
    gphi_map_fini(&own->per_thread);
    gphi_map_fini(&own->functions);
    gphi_map_fini(&own->kernels);
    gphi_map_fini(&own->alike);
    gphi_map_fini(&own->threads);
    gphi_heap_free(model->heap, own, sizeof(*own));
    gphi_heap_free(model->heap, model, sizeof(*model));
}

/* ---- lookups ---- */

enum { LEGACY = 1, PER_THREAD = 2 };

static model_stream *find_stream(const gphi_model *model, uint64_t handle,
                                 uint32_t thread, bool per_thread)
{
    if (handle == PER_THREAD || (handle == 0 && per_thread))
        return pointer_of(gphi_map_get(&model->own->per_thread, thread));
    return gphi_table_find(&model->own->streams, handle == 0 ? LEGACY : handle);
}

model_stream *gphi_stream_of(gphi_model *model, uint64_t handle, uint32_t thread,
                             bool per_thread)
{
    model_stream *stream = find_stream(model, handle, thread, per_thread);
    if (stream != NULL)
        return stream;
    stream = gphi_table_add(model, &model->own->streams);
    if (stream == NULL)
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
    return stream != NULL ? &stream->seen : NULL;
}

gphi_cuda_event *gphi_model_event(const gphi_model *model, uint64_t handle)
{
    model_event *event = gphi_table_find(&model->own->events, handle);
    return event != NULL ? &event->seen : NULL;
}

gphi_graph_state *gphi_model_graph(const gphi_model *model, uint64_t handle)
{
    model_graph *graph = gphi_table_find(&model->own->graphs, handle);
    return graph != NULL ? &graph->seen : NULL;
}

gphi_exec_state *gphi_model_exec(const gphi_model *model, uint64_t handle)
{
    model_exec *exec = gphi_table_find(&model->own->execs, handle);
    return exec != NULL ? &exec->seen : NULL;
}

gphi_capture *gphi_model_capture(const gphi_model *model, uint64_t id)
{
    model_capture *capture = gphi_table_find(&model->own->captures, id);
    return capture != NULL ? &capture->seen : NULL;
}

const gphi_function *gphi_model_function(const gphi_model *model, uint64_t handle)
{
    return pointer_of(gphi_map_get(&model->own->functions, handle));
}

uint64_t gphi_model_kernel(const gphi_model *model, uint64_t handle)
{
    const gphi_function *function = gphi_model_function(model, handle);
    return function != NULL ? function->kernel : handle;
}

const gphi_function *gphi_model_kernel_function(const gphi_model *model, uint64_t kernel)
{
    return pointer_of(gphi_map_get(&model->own->kernels, kernel));
}

const gphi_thread *gphi_model_thread(const gphi_model *model, uint32_t id)
{
    return pointer_of(gphi_map_get(&model->own->threads, id));
}

gphi_thread *gphi_thread_of(gphi_model *model, uint32_t id)
{
    gphi_thread *thread = pointer_of(gphi_map_get(&model->own->threads, id));
    if (thread != NULL)
        return thread;
    if (gphi_vec_reserve(&model->own->thread_list, 1) != GPH_OK)
        return NULL;
    thread = gphi_heap_alloc(model->heap, sizeof(*thread));
    if (thread == NULL)
        return NULL;
    thread->id = id;
    *(void **)gphi_vec_add(&model->own->thread_list, 1) = thread;
    const gph_status status =
        gphi_map_set(&model->own->threads, id, (uint64_t)(uintptr_t)thread);
    return status == GPH_OK ? thread : NULL;
}

bool gphi_model_dead(const gphi_model *model, const gphi_event *event, gphi_dead *out)
{
    const model_signature *has = &model->own->calls[event->u.call.call];
    const int8_t places[] = {has->exec, has->graph, has->stream, has->event};
    for (uint32_t i = 0; i < sizeof(places); i++) {
        if (places[i] < 0)
            continue;
        const uint64_t handle = gphi_event_word(event, (uint32_t)places[i]);
        const gphi_exec_state *exec = i == 0 ? gphi_model_exec(model, handle) : NULL;
        const gphi_graph_state *graph = i == 1 ? gphi_model_graph(model, handle) : NULL;
        const model_stream *stream =
            i == 2 ? gphi_table_find(&model->own->streams, handle) : NULL;
        const gphi_cuda_event *of = i == 3 ? gphi_model_event(model, handle) : NULL;
        *out = (gphi_dead){.handle = handle};
        if (exec != NULL && !exec->is_alive) {
            out->what = "executable";
            out->by = exec->destroyed;
        } else if (graph != NULL && !graph->is_alive) {
            out->what = "graph";
            out->by = graph->destroyed;
        } else if (stream != NULL && !stream->seen.is_alive) {
            out->what = "stream";
            out->by = stream->seen.destroyed;
        } else if (of != NULL && !of->is_alive)
            out->what = "event";
        if (out->what != NULL)
            return true;
    }
    return false;
}

const void *gphi_bytes_of(const gphi_event *event, gphi_part_kind kind, uint32_t arg,
                          size_t bytes)
{
    const gphi_part *part;
    for (uint32_t nth = 0; (part = gphi_event_part(event, kind, nth)) != NULL; nth++)
        if (part->arg == arg && part->bytes >= bytes)
            return part + 1;
    return NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* The model as a whole: which tables it has, what dies with an object, the signatures of
 * calls, its life. Lookups are below it, in model_find.c. */
#include "base/heap.h"
#include "base/text.h"
#include "doctor/model/model_state.h"

#include <string.h>

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
     !of->seen.is_alive && !of->seen.capture && !of->seen.is_legacy &&
         !of->seen.is_per_thread,
     of->seen.handle)
KIND(event, model_event, !of->seen.is_alive, of->seen.handle)
KIND(capture, model_capture, !of->seen.is_open, of->seen.id)
KIND(graph, model_graph, !of->seen.is_alive, of->seen.handle)
KIND(exec, model_exec, !of->seen.is_alive, of->seen.handle)
KIND(snapshot, model_snapshot,
     of->is_done && of->uses == 0 &&
         (!of->seen.parent || ((const model_snapshot *)of->seen.parent)->uses == 0),
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
    for (const char *at = list; (at = strstr(at, name)); at += length)
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
        return gphi_text_begins(name, "cuMemcpy") || gphi_text_begins(name, "cuMemset")
                   ? WHAT_SYNC_WORK
                   : WHAT_OTHER;
    if (gphi_text_begins(name, "cuLaunch") || gphi_text_begins(name, "cuMemcpy") ||
        gphi_text_begins(name, "cuMemset") || gphi_text_begins(name, "cuMemPrefetch") ||
        gphi_text_begins(name, "cuMemDiscard") ||
        is_one_of(name, "cuGraphLaunch cuStreamWriteValue32 cuStreamWriteValue64 "
                        "cuStreamWaitValue32 cuStreamWaitValue64 cuStreamBatchMemOp "
                        "cuMemAllocAsync cuMemFreeAsync cuMemAllocFromPoolAsync "
                        "cuStreamAddCallback cuMemMapArrayAsync "
                        "cuMemBatchDecompressAsync cuSignalExternalSemaphoresAsync "
                        "cuWaitExternalSemaphoresAsync"))
        return WHAT_WORK;
    return WHAT_OTHER;
}

/* Reads "(CUgraphNode * phGraphNode, CUgraph hGraph, size_t numDependencies)". */
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
        const size_t length = strcspn(at, ",)"), type = strcspn(at, " ,)");
        for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
            if (strlen(plain[i].type) == type && memcmp(at, plain[i].type, type) == 0 &&
                at[type + 1] != '*' && *plain[i].place < 0)
                *plain[i].place = index;
        has.gives_exec |= index == 0 && gphi_text_begins(at, "CUgraphExec *");
        has.gives_graph |= gphi_text_begins(at, "CUgraph *");
        at += length + (at[length] != '\0');
        at += strspn(at, " ");
    }
    has.what = (uint8_t)what_of(name, &has);
    return has;
}

static void read_signatures(gphi_model *model)
{
    for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++)
        model->own->calls[call] =
            read_signature(gphi_call_name(call), gphi_call_arguments(call));
    model->own->calls[GPHI_CALL_cuLaunchKernelEx].what = WHAT_WORK;
}

/* ---- life ---- */

gph_status gphi_model_create(gph_allocator heap, gphi_model **out)
{
    gphi_model *model = gphi_heap_alloc(heap, sizeof(*model));
    if (!model)
        return GPH_E_NO_MEMORY;
    model->heap = heap;
    model->own = gphi_heap_alloc(heap, sizeof(*model->own));
    if (!model->own) {
        gphi_heap_free(heap, model, sizeof(*model));
        return GPH_E_NO_MEMORY;
    }
    struct gphi_model_private *own = model->own;
    make_tables(model);
    gphi_map_init(&own->per_thread, heap);
    gphi_map_init(&own->functions, heap);
    gphi_map_init(&own->code, heap);
    gphi_map_init(&own->kernels, heap);
    gphi_map_init(&own->alike, heap);
    gphi_map_init(&own->accesses, heap);
    gphi_vec_init(&own->access_list, heap, sizeof(void *));
    gphi_map_init(&own->threads, heap);
    gphi_vec_init(&own->function_list, heap, sizeof(void *));
    gphi_vec_init(&own->thread_list, heap, sizeof(void *));
    gphi_vec_init(&own->live, heap, sizeof(model_range));
    gphi_vec_init(&own->dead, heap, sizeof(model_range));
    gphi_vec_init(&own->pending, heap, sizeof(void *));
    gphi_vec_init(&own->contexts, heap, sizeof(uint64_t));
    gphi_vec_init(&own->fresh, heap, sizeof(void *));
    gphi_vec_init(&model->domains, heap, sizeof(gphi_domain *));
    gphi_vec_init(&own->open, heap, sizeof(void *));
    gphi_vec_init(&own->operations, heap, sizeof(gph_mem_op));
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
    if (!model)
        return;
    struct gphi_model_private *own = model->own;
    gphi_work_fini(model);
    model_table *const tables[] = {&own->captures,   &own->streams, &own->events,
                                   &own->snapshots,  &own->graphs,  &own->execs,
                                   &own->allocations};
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
        gphi_table_fini(model, tables[i]);
    for (size_t i = 0; i < own->function_list.count; i++)
        free_function(model, gphi_vec_pointer(&own->function_list, i));
    for (size_t i = 0; i < own->thread_list.count; i++)
        gphi_heap_free(model->heap, gphi_vec_pointer(&own->thread_list, i),
                       sizeof(gphi_thread));
    for (size_t i = 0; i < model->domains.count; i++)
        gphi_heap_free(model->heap, gphi_vec_pointer(&model->domains, i),
                       sizeof(gphi_domain));
    gphi_vec *const vecs[] = {&own->function_list, &own->thread_list, &own->live,
                              &own->dead,          &own->pending,     &own->contexts,
                              &own->open,          &own->fresh,       &own->operations,
                              &model->domains};
    for (size_t i = 0; i < sizeof(vecs) / sizeof(vecs[0]); i++)
        gphi_vec_fini(vecs[i]);
    gphi_map_fini(&own->per_thread);
    gphi_map_fini(&own->functions);
    gphi_map_fini(&own->code);
    gphi_map_fini(&own->kernels);
    gphi_map_fini(&own->alike);
    gphi_access_fini(model);
    gphi_map_fini(&own->threads);
    gphi_heap_free(model->heap, own, sizeof(*own));
    gphi_heap_free(model->heap, model, sizeof(*model));
}

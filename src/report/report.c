// SPDX-License-Identifier: Apache-2.0
/* A report's life, and the records that are not calls. */
#include "report/report.h"
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"

#include <string.h>

enum { CALLS_MAX = 400000, GPU_MAX = 400000 };

static const size_t item_bytes[] = {
    sizeof(report_call),     sizeof(report_thread),     sizeof(report_stream),
    sizeof(report_capture),  sizeof(report_graph),      sizeof(report_exec),
    sizeof(report_lifetime), sizeof(report_gpu),        sizeof(char *),
    sizeof(report_cache),    sizeof(report_tree),       sizeof(report_pool),
    sizeof(report_device),   sizeof(report_event_wait), sizeof(report_elapsed),
    sizeof(report_span),     sizeof(report_decider),    sizeof(report_collective),
    sizeof(report_comm)};

enum { VECS = sizeof(item_bytes) / sizeof(item_bytes[0]), MAPS = 16 };

static void list_vecs(gph_report *r, gphi_vec *out[VECS])
{
    gphi_vec *all[VECS] = {&r->calls,     &r->threads,     &r->streams,   &r->captures,
                           &r->graphs,    &r->execs,       &r->lifetimes, &r->gpu,
                           &r->functions, &r->caches,      &r->trees,     &r->pools,
                           &r->devices,   &r->waits,       &r->elapsed,   &r->spans,
                           &r->deciders,  &r->collectives, &r->comms};
    memcpy(out, all, sizeof(all));
}

static void list_maps(gph_report *r, gphi_map *out[MAPS])
{
    gphi_map *all[MAPS] = {
        &r->thread_map,  &r->stream_map, &r->function_map, &r->exec_map,
        &r->capture_map, &r->graph_map,  &r->live,         &r->nodes,
        &r->node_stacks, &r->newest,     &r->pool_map,     &r->cache_map,
        &r->tree_map,    &r->event_map,  &r->decider_map,  &r->comm_map};
    memcpy(out, all, sizeof(all));
}

/* A later record of the same thing wins: names come twice where a process sends them
 * again after records were lost. */
static gph_status replace_text(gph_report *report, char **to, const char *text)
{
    char *copy = gphi_heap_text(report->heap, text);
    if (!copy)
        return GPH_E_NO_MEMORY;
    gphi_heap_text_free(report->heap, *to);
    *to = copy;
    return GPH_OK;
}

/* The head shows the first of several processes; what they did is all in one report. */
static gph_status take_process(gph_report *report, const gphi_event *event)
{
    if (report->pid != 0)
        return GPH_OK; /* a child: the head is about the first process */
    report->pid = (uint32_t)event->id;
    report->driver_version = (uint32_t)gphi_event_word(event, 0);
    report->began_ms = gphi_event_word(event, 1) / 1000000;
    GPHI_TRY(replace_text(report, &report->program, gphi_event_text(event, 0)));
    return replace_text(report, &report->driver, gphi_event_text(event, 1));
}

/* Each process reports all devices, so one that is known already is passed over. */
static gph_status take_device(gph_report *report, const gphi_event *event)
{
    for (size_t i = 0; i < report->devices.count; i++) {
        const report_device *known = gphi_vec_at(&report->devices, i);
        if (strncmp(known->name, gphi_event_text(event, 0), sizeof(known->name) - 1) ==
                0 &&
            i == event->id)
            return GPH_OK;
    }
    report_device *device = gphi_vec_add(&report->devices, 1);
    if (!device)
        return GPH_E_NO_MEMORY;
    strncpy(device->name, gphi_event_text(event, 0), sizeof(device->name) - 1);
    device->major = (uint32_t)gphi_event_word(event, 0);
    device->minor = (uint32_t)gphi_event_word(event, 1);
    device->multiprocessors = (uint32_t)gphi_event_word(event, 2);
    device->bytes = gphi_event_word(event, 3);
    return GPH_OK;
}

/* May come after its first launches: they have its index by then, and get the name with
 * it. */
static gph_status take_function(gph_report *report, const gphi_event *event)
{
    const uint32_t index = gphi_report_function(report, event->id);
    if (index == UINT32_MAX)
        return GPH_E_NO_MEMORY;
    return replace_text(report, gphi_vec_at(&report->functions, index),
                        gphi_event_text(event, 0));
}

static gph_status take_thread(gph_report *report, const gphi_event *event)
{
    const uint32_t index = gphi_report_thread(report, event->thread);
    if (index == UINT32_MAX)
        return GPH_E_NO_MEMORY;
    report_thread *thread = gphi_vec_at(&report->threads, index);
    strncpy(thread->name, gphi_event_text(event, 0), sizeof(thread->name) - 1);
    return GPH_OK;
}

/* Names of measured kernels are among the functions, under a hash of the name. */
static uint64_t key_of_name(const char *name)
{
    return gphi_hash_text(GPHI_HASH_START, name) | (uint64_t)1 << 63; /* no address */
}

/* What CUPTI measured. It gives a name and no handle, so the same kernel may be
 * among the functions a second time, which costs a few bytes and no truth. */
static gph_status take_gpu(gph_report *report, const gphi_event *event)
{
    const uint64_t what = gphi_event_word(event, 0);
    if (what < GPHI_GPU_KERNEL || what > GPHI_GPU_GRAPH || report->gpu.count >= GPU_MAX)
        return GPH_OK;
    const char *name = gphi_event_text(event, 0);
    uint32_t index = UINT32_MAX;
    if (name[0] != 0) {
        const uint64_t hash = key_of_name(name);
        const bool is_new =
            !gphi_map_get(&report->function_map, gphi_report_key(report, hash));
        index = gphi_report_function(report, hash);
        if (index == UINT32_MAX)
            return GPH_E_NO_MEMORY;
        if (is_new)
            GPHI_TRY(replace_text(report, gphi_vec_at(&report->functions, index), name));
    }
    const uint32_t stream = gphi_report_stream(report, NULL, gphi_event_word(event, 3));
    const report_gpu gpu = {.start_ns = gphi_event_word(event, 1),
                            .end_ns = gphi_event_word(event, 2),
                            .what = (uint32_t)what,
                            .stream = stream + 1,
                            .name = index + 1};
    return gphi_vec_push(&report->gpu, &gpu);
}

/* What is not listed is of use to the doctor alone. */
static gph_status take(gph_report *report, const gphi_event *event, const gphi_seen *seen)
{
    switch (event->kind) {
    case GPHI_EVENT_CALL: return gphi_report_call(report, event, seen);
    case GPHI_EVENT_PROCESS: return take_process(report, event);
    case GPHI_EVENT_DEVICE: return take_device(report, event);
    case GPHI_EVENT_THREAD: return take_thread(report, event);
    case GPHI_EVENT_FUNCTION: return take_function(report, event);
    case GPHI_EVENT_GRAPH: return gphi_report_graph(report, event);
    case GPHI_EVENT_NODE: return gphi_report_node(report, event);
    case GPHI_EVENT_EDGES: return gphi_report_edges(report, event);
    case GPHI_EVENT_GPU: return take_gpu(report, event);
    case GPHI_EVENT_NOTE: return gphi_report_note(report, event);
    case GPHI_EVENT_COLLECTIVE: return gphi_report_collective(report, event);
    default: return GPH_OK;
    }
}

/* A report that is short of memory must not stop the examination. */
static gph_status listen(void *user, const gphi_event *event, const gphi_seen *seen,
                         gph_error *error)
{
    (void)error;
    gph_report *report = user;
    const gphi_model *model = gphi_doctor_model(report->doctor);
    report->process = model ? model->process : 0;
    report->rank = model && model->rank_count > 1 ? (int32_t)model->rank : -1;
    if (take(report, event, seen) != GPH_OK)
        report->dropped++;
    return GPH_OK;
}

static void init(gph_report *report)
{
    gphi_vec *vecs[VECS];
    list_vecs(report, vecs);
    for (size_t i = 0; i < VECS; i++)
        gphi_vec_init(vecs[i], report->heap, item_bytes[i]);
    gphi_map *maps[MAPS];
    list_maps(report, maps);
    for (size_t i = 0; i < MAPS; i++)
        gphi_map_init(maps[i], report->heap);
}

gph_status gph_report_create(gph_doctor *doctor, const gph_report_options *options,
                             gph_report **out, gph_error *error)
{
    gph_report_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_report_options", options, error));
    GPHI_TRY(gphi_need(error, doctor, out));
    const gph_allocator heap = gphi_heap(opt.allocator);
    gph_report *report = gphi_heap_alloc(heap, sizeof(*report));
    GPHI_TRY(gphi_made(error, report, "a report"));
    report->heap = heap;
    report->doctor = doctor;
    report->calls_max = opt.calls_max == 0   ? CALLS_MAX
                        : opt.calls_max < 64 ? 64
                                             : opt.calls_max;
    init(report);
    gphi_doctor_listen(doctor, listen, report);
    *out = report;
    return GPH_OK;
}

static void free_texts(gph_report *report)
{
    for (size_t i = 0; i < report->functions.count; i++)
        gphi_heap_text_free(report->heap, *(char **)gphi_vec_at(&report->functions, i));
    for (size_t i = 0; i < report->pools.count; i++)
        gphi_heap_text_free(report->heap,
                            ((report_pool *)gphi_vec_at(&report->pools, i))->name);
    gphi_heap_text_free(report->heap, report->program);
    gphi_heap_text_free(report->heap, report->driver);
}

/* What items own beside their vectors. */
static void free_parts(gph_report *report)
{
    GPHI_EACH (report_graph, graph, &report->graphs) {
        gphi_vec_fini(&graph->nodes);
        gphi_vec_fini(&graph->edges);
    }
    GPHI_EACH (report_cache, cache, &report->caches) {
        gphi_heap_text_free(report->heap, cache->name);
        gphi_vec_fini(&cache->buckets);
    }
    GPHI_EACH (report_tree, tree, &report->trees) {
        for (size_t n = 0; n < tree->nodes.count; n++)
            gphi_heap_text_free(report->heap,
                                ((report_tree_node *)gphi_vec_at(&tree->nodes, n))->name);
        gphi_vec_fini(&tree->nodes);
    }
}

void gph_report_destroy(gph_report *report)
{
    if (!report)
        return;
    gphi_doctor_listen(report->doctor, NULL, NULL);
    free_texts(report);
    free_parts(report);
    gphi_vec *vecs[VECS];
    list_vecs(report, vecs);
    for (size_t i = 0; i < VECS; i++)
        gphi_vec_fini(vecs[i]);
    gphi_map *maps[MAPS];
    list_maps(report, maps);
    for (size_t i = 0; i < MAPS; i++)
        gphi_map_fini(maps[i]);
    gphi_heap_free(report->heap, report, sizeof(*report));
}

// SPDX-License-Identifier: Apache-2.0
/* What was put into streams, and the graphs that keep a communicator. */
#define _GNU_SOURCE
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "callable/signature.h"
#include "cuda/status.h"
#include "ranks/comm.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Of 50 us: how long destructors of graphs that are gone are awaited. */
enum { DESTRUCTORS_ROUNDS = 2000 };

/* ---- records ---- */

void gphi_comm_record_text(const gphi_comm_record *record, char *out, size_t bytes)
{
    static const char *const kinds[] = {"all-reduce", "all-gather", "broadcast"};
    static const char *const reductions[] = {"", " (sum)", " (max)", " (min)"};
    char from[32] = "";
    if (record->kind == GPHI_COMM_BROADCAST)
        snprintf(from, sizeof(from), " from rank %u", record->root);
    snprintf(out, bytes, "%s of %llu %s%s%s%s%s", kinds[record->kind],
             (unsigned long long)record->count, gphi_dtype_name(record->dtype),
             record->kind == GPHI_COMM_REDUCE ? reductions[record->reduction] : "", from,
             record->place[0] ? " at " : "", record->place);
}

static gphi_comm_record *record_at(const gph_comm *comm, uint32_t number)
{
    return gphi_vec_at(&comm->records, number - 1);
}

void gphi_comm_number_text(gph_comm *comm, uint32_t number, char *out, size_t bytes)
{
    gphi_mutex_lock(&comm->mutex);
    if (number == 0 || number > comm->records.count)
        snprintf(out, bytes, "collective");
    else
        gphi_comm_record_text(record_at(comm, number), out, bytes);
    gphi_mutex_unlock(&comm->mutex);
}

/* Its number from 1, or 0: a captured one is always found a place, of eager ones there may
 * be too many. */
static gph_status number_locked(gph_comm *comm, const gphi_comm_record *record,
                                bool is_captured, uint32_t *out)
    GPHI_REQUIRES(&comm->mutex)
{
    uint64_t key = gphi_hash_bytes(GPHI_HASH_START, record, sizeof(*record));
    const uint64_t *found;
    while ((found = gphi_map_get(&comm->numbers, key)) != NULL) {
        *out = (uint32_t)*found;
        if (memcmp(record_at(comm, *out), record, sizeof(*record)) == 0)
            return GPH_OK;
        key++; /* the hash of another, too */
    }
    *out = 0;
    if (!is_captured && comm->records.count >= GPHI_COMM_RECORDS)
        return GPH_OK;
    GPHI_TRY(gphi_map_reserve(&comm->numbers, 1));
    GPHI_TRY(gphi_vec_push(&comm->records, record));
    *out = (uint32_t)comm->records.count;
    return gphi_map_set(&comm->numbers, key, *out);
}

/* ---- graphs ---- */

/* The driver's thread, when the graph and all its executables have gone. */
static void CUDA_CB graph_gone(void *user)
{
    gphi_comm_graph *graph = user;
    /* Release: pairs with the sweep, which frees it. */
    atomic_store_explicit(&graph->gone, true, memory_order_release);
}

/* Nobody points to it any more. */
static void free_graph(gphi_comm_graph *graph)
{
    gphi_vec_fini(&graph->calls);
    gphi_heap_free(graph->heap, graph, sizeof(*graph));
}

static uint64_t sweep_locked(gph_comm *comm) GPHI_REQUIRES(&comm->mutex)
{
    uint64_t live = 0;
    for (gphi_comm_graph **at = &comm->graphs; *at;) {
        gphi_comm_graph *graph = *at;
        if (!atomic_load_explicit(&graph->gone, memory_order_acquire)) {
            at = &graph->next;
            live++;
            continue;
        }
        *at = graph->next;
        free_graph(graph);
    }
    return live;
}

uint64_t gphi_comm_sweep(gph_comm *comm)
{
    gphi_mutex_lock(&comm->mutex);
    const uint64_t live = sweep_locked(comm);
    gphi_mutex_unlock(&comm->mutex);
    return live;
}

void gphi_comm_records_init(gph_comm *comm)
{
    comm->mutex = (gphi_mutex)GPHI_MUTEX_INIT;
    gphi_vec_init(&comm->records, comm->heap, sizeof(gphi_comm_record));
    gphi_map_init(&comm->numbers, comm->heap);
}

void gphi_comm_records_fini(gph_comm *comm)
{
    gphi_vec_fini(&comm->records);
    gphi_map_fini(&comm->numbers);
}

/* An entry for the graph, which has a reference to it from now on. */
static gph_status keep_locked(gph_comm *comm, cuuint64_t capture, CUgraph graph,
                              gphi_comm_graph **out, gph_error *error)
    GPHI_REQUIRES(&comm->mutex)
{
    const gphi_cuda_table *cu = &comm->runtime->cu;
    CUuserObject object = NULL;
    gphi_comm_graph *entry = gphi_heap_alloc(comm->heap, sizeof(*entry));
    GPHI_TRY(gphi_made(error, entry, "a graph of communicator %s", comm->name));
    entry->heap = comm->heap;
    entry->capture = capture;
    entry->graph = graph;
    gphi_vec_init(&entry->calls, comm->heap, sizeof(uint32_t));
    gph_status status =
        gphi_cuda_check(error,
                        cu->cuUserObjectCreate(&object, entry, graph_gone, 1,
                                               CU_USER_OBJECT_NO_DESTRUCTOR_SYNC),
                        "cuUserObjectCreate", "communicator %s", comm->name);
    if (status != GPH_OK) {
        free_graph(entry);
        return status;
    }
    entry->next = comm->graphs;
    comm->graphs = entry;
    status = gphi_cuda_check(
        error, cu->cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE),
        "cuGraphRetainUserObject", "communicator %s", comm->name);
    if (status != GPH_OK)
        /* Its destructor says that the entry is gone, and the next sweep frees it. */
        gphi_ignore((gph_status)cu->cuUserObjectRelease(object, 1),
                    "the first failure counts");
    else
        *out = entry;
    return status;
}

static bool has_locked(const gph_comm *comm, const gphi_comm_graph *entry)
    GPHI_REQUIRES(&comm->mutex)
{
    const gphi_comm_graph *it = comm->graphs;
    while (it && it != entry)
        it = it->next;
    return it != NULL;
}

/* The driver runs destructors later, on a thread of its own, in order. A graph may have the
 * handle of one that was destroyed before: so a graph is made and destroyed, and when its
 * entry has gone those of all earlier ones have. Without it a graph is compared with what its
 * handle had before. */
static gph_status await_destructors(gph_comm *comm, gph_error *error)
{
    const gphi_cuda_table *cu = &comm->runtime->cu;
    const struct timespec nap = {0, 50000};
    gphi_comm_graph *last = NULL;
    CUgraph graph = NULL;
    GPHI_TRY(gphi_cuda_check(error, cu->cuGraphCreate(&graph, 0), "cuGraphCreate",
                             "communicator %s", comm->name));
    gphi_mutex_lock(&comm->mutex);
    const gph_status status = keep_locked(comm, 0, graph, &last, error);
    gphi_mutex_unlock(&comm->mutex);
    gphi_ignore((gph_status)cu->cuGraphDestroy(graph), "nothing is in it");
    bool is_there = status == GPH_OK;
    for (int i = 0; i < DESTRUCTORS_ROUNDS && is_there; i++) {
        gphi_mutex_lock(&comm->mutex);
        sweep_locked(comm);
        is_there = has_locked(comm, last);
        gphi_mutex_unlock(&comm->mutex);
        if (is_there)
            nanosleep(&nap, NULL);
    }
    return status;
}

static gph_status entry_locked(gph_comm *comm, CUstream stream, gphi_comm_graph **out,
                               gph_error *error) GPHI_REQUIRES(&comm->mutex)
{
    CUstreamCaptureStatus state = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t capture = 0;
    CUgraph graph = NULL;
    *out = NULL;
    GPHI_TRY(gphi_cuda_check(error,
                             comm->runtime->cu.cuStreamGetCaptureInfo(
                                 stream, &state, &capture, &graph, NULL, NULL, NULL),
                             "cuStreamGetCaptureInfo", "communicator %s", comm->name));
    if (state == CU_STREAM_CAPTURE_STATUS_NONE)
        return GPH_OK;
    if (state != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return gphi_fail(error, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                         "communicator %s: the capture of the stream was invalidated",
                         comm->name);
    for (gphi_comm_graph *it = comm->graphs; it; it = it->next)
        if (it->capture == capture && it->graph == graph &&
            !atomic_load_explicit(&it->gone, memory_order_acquire)) {
            *out = it;
            return GPH_OK;
        }
    sweep_locked(comm);
    return keep_locked(comm, capture, graph, out, error);
}

static gph_status expect_locked(gph_comm *comm, const gphi_comm_record *record,
                                CUstream stream, gphi_comm_graph **graph,
                                uint32_t *number, gph_error *error)
    GPHI_REQUIRES(&comm->mutex)
{
    GPHI_TRY(entry_locked(comm, stream, graph, error));
    gph_status status = number_locked(comm, record, *graph != NULL, number);
    if (*graph)
        GPHI_THEN(status, gphi_vec_reserve(&(*graph)->calls, 1));
    if (status != GPH_OK)
        return gphi_fail(error, status, "a collective of communicator %s", comm->name);
    return GPH_OK;
}

gph_status gphi_comm_expect(gph_comm *comm, const gphi_comm_record *record,
                            CUstream stream, gphi_comm_graph **graph, uint32_t *number,
                            gph_error *error)
{
    gphi_mutex_lock(&comm->mutex);
    const gph_status status = expect_locked(comm, record, stream, graph, number, error);
    gphi_mutex_unlock(&comm->mutex);
    return status;
}

void gphi_comm_note(gph_comm *comm, gphi_comm_graph *graph, uint32_t number)
{
    gphi_mutex_lock(&comm->mutex);
    comm->calls++;
    if (graph) {
        comm->captured++;
        gphi_ignore(gphi_vec_push(&graph->calls, &number), "there is room");
    }
    gphi_mutex_unlock(&comm->mutex);
}

gph_status gph_comm_keep(gph_comm *comm, CUstream stream, gph_error *error)
{
    gphi_comm_graph *graph = NULL;
    GPHI_TRY(gphi_need(error, comm));
    gphi_mutex_lock(&comm->mutex);
    const gph_status status = entry_locked(comm, stream, &graph, error);
    gphi_mutex_unlock(&comm->mutex);
    if (status == GPH_OK && !graph)
        return gphi_fail(error, GPH_E_STATE,
                         "communicator %s: the stream is not captured", comm->name);
    return status;
}

/* ---- agreement ---- */

/* Of a graph's list: what ranks must have alike, a hash for each call. Frozen: processes
 * compare them. */
static uint64_t hash_of(const gphi_comm_record *record)
{
    const uint64_t words[] = {record->count, record->kind, record->dtype,
                              record->reduction, record->root};
    return gphi_hash_fnv(GPHI_HASH_FNV_START, words, sizeof(words));
}

enum { LISTED = 4096 }; /* calls that are compared one by one */

typedef struct gphi_comm_list {
    uint64_t hash, count;
} gphi_comm_list;

/* The latest entry of that handle: an earlier graph's may be the same. */
static const gphi_comm_graph *find_locked(const gph_comm *comm, CUgraph graph)
{
    for (const gphi_comm_graph *it = comm->graphs; it; it = it->next)
        if (it->graph == graph && !atomic_load_explicit(&it->gone, memory_order_acquire))
            return it;
    return NULL;
}

/* A graph that recorded none has an empty list. */
static gphi_comm_list list_of(gph_comm *comm, CUgraph graph, uint64_t *hashes)
{
    gphi_comm_list list = {GPHI_HASH_FNV_START, 0};
    gphi_mutex_lock(&comm->mutex);
    const gphi_comm_graph *entry = find_locked(comm, graph);
    for (size_t i = 0; entry && i < entry->calls.count; i++) {
        const uint32_t number = *(const uint32_t *)gphi_vec_at(&entry->calls, i);
        const uint64_t hash = hash_of(record_at(comm, number));
        list.hash = gphi_hash_fnv(list.hash, &hash, sizeof(hash));
        if (i < LISTED)
            hashes[i] = hash;
        list.count++;
    }
    gphi_mutex_unlock(&comm->mutex);
    return list;
}

static void text_of(gph_comm *comm, CUgraph graph, uint64_t index, char *out,
                    size_t bytes)
{
    gphi_mutex_lock(&comm->mutex);
    const gphi_comm_graph *entry = find_locked(comm, graph);
    if (!entry || index >= entry->calls.count)
        snprintf(out, bytes, "none");
    else
        gphi_comm_record_text(
            record_at(comm, *(const uint32_t *)gphi_vec_at(&entry->calls, (size_t)index)),
            out, bytes);
    gphi_mutex_unlock(&comm->mutex);
}

/* The first index at which not all are alike, and a rank that differs from rank 0. */
static void first_difference(const uint64_t *all, uint32_t ranks, size_t *index,
                             uint32_t *rank)
{
    for (*index = 0; *index < LISTED; ++*index)
        for (*rank = 1; *rank < ranks; ++*rank)
            if (all[(size_t)*rank * LISTED + *index] != all[*index])
                return;
    *rank = 1;
}

/* All ranks come here, since all have seen the same hashes. */
static gph_status say_difference(gph_comm *comm, CUgraph graph, const uint64_t *all,
                                 gph_error *error)
{
    enum { TEXT = 160 };
    const uint32_t ranks = comm->ranks->who.count;
    char mine[TEXT] = "";
    uint32_t rank;
    size_t index;
    first_difference(all, ranks, &index, &rank);
    char *texts = gphi_heap_array(comm->heap, ranks, TEXT);
    gph_status status = gph_ranks_all_at(NULL, comm->ranks, "comm graph texts",
                                         texts ? GPH_OK : GPH_E_NO_MEMORY, NULL, error);
    text_of(comm, graph, index, mine, sizeof(mine));
    GPHI_THEN(status, gph_ranks_gather_at(NULL, comm->ranks, "comm graph text", mine,
                                          sizeof(mine), texts, error));
    if (status == GPH_OK)
        status = gphi_fail(error, GPH_E_INVALID,
                           "communicator %s: collective %zu of the graph is %s on rank 0 "
                           "and %s on rank %u",
                           comm->name, index, texts, texts + (size_t)rank * TEXT, rank);
    if (texts)
        gphi_heap_free(comm->heap, texts, (size_t)ranks * TEXT);
    return status;
}

/* Hashes of all ranks' calls: a block of LISTED for each. */
static gph_status compare(gph_comm *comm, CUgraph graph, uint64_t *mine, uint64_t *all,
                          gph_error *error)
{
    const uint32_t ranks = comm->ranks->who.count;
    gphi_comm_list list = list_of(comm, graph, mine);
    gphi_comm_list *lists = (gphi_comm_list *)all;
    bool is_alike = true;
    GPHI_TRY(gph_ranks_gather_at(NULL, comm->ranks, "comm graph", &list, sizeof(list),
                                 lists, error));
    for (uint32_t i = 1; i < ranks; i++)
        is_alike &= memcmp(&lists[i], &lists[0], sizeof(list)) == 0;
    if (is_alike)
        return GPH_OK;
    GPHI_TRY(gph_ranks_gather_at(NULL, comm->ranks, "comm graph calls", mine,
                                 LISTED * sizeof(*mine), all, error));
    return say_difference(comm, graph, all, error);
}

gph_status gph_comm_graph_agree(gph_comm *comm, CUgraph graph, gph_error *error)
{
    GPHI_TRY(gphi_need(error, comm, graph));
    const size_t items = (size_t)LISTED * (comm->ranks->who.count + 1);
    uint64_t *room = gphi_heap_array(comm->heap, items, sizeof(*room));
    gph_error mine = {0};
    gph_status status = gphi_made(&mine, room, "comparing graphs");
    GPHI_THEN(status, await_destructors(comm, &mine));
    status = gph_ranks_all_at(NULL, comm->ranks, "comm graph room", status, &mine, error);
    GPHI_THEN(status, compare(comm, graph, room, room + LISTED, error));
    if (room)
        gphi_heap_free(comm->heap, room, items * sizeof(*room));
    return status;
}

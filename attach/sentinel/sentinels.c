// SPDX-License-Identifier: Apache-2.0
/* Sentinels in a program that knows nothing of them, by src/sentinel.
 *
 *   cuGraphInstantiate*   before: the graph gets sentinels     after: it loses them
 *   cuGraphExecUpdate     before: the new graph gets them      after: it loses them
 *   cuGraphExecDestroy                                         after: its words are free
 *
 * Where that fails, an executable has none, and an instantiation that the driver refuses is
 * made again without. An update of one that has them cannot be without: where they could not
 * be put into the new graph the driver refuses it, and then it is tried once more with them.
 * So what the program sees is what it would have seen. Nothing is done at
 * a launch. Unlike the rest of this library it takes memory of the heap, and a lock: within
 * these calls the driver does the same.
 *
 * Threads may update one executable at once, and destroy it meanwhile: it is counted, and
 * has a lock, which is held through the driver's call; so has, as one of many, a graph that
 * sentinels are in. Locks are taken in this order: executable, graph, `all`.
 *
 * A board is registered with a context and goes with it, so each context has one. */
#define _GNU_SOURCE
#include "attach/sentinel/sentinels.h"
#include "attach/driver/find.h"
#include "attach/ring/draft.h"
#include "attach/track/handle.h"
#include "attach/track/look.h"
#include "base/hash.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/thread.h"
#include "sentinel/sentinel.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BOARDS_MAX = 16,
    BOARD_BYTES = 16 << 20,
    FILES_MAX = 1000,
    GRAPH_LOCKS = 1 << 10,
    SAID_MAX = 16
};

typedef enum mode { OFF, DRIVER, NODES } mode;

typedef gph_status trail_function(void *exec, uint32_t *words, uint32_t count);

typedef struct board {
    CUcontext context; /* NULL: of all */
    gph_sentinel *sentinel;
} board;

/* An executable that has them. */
typedef struct marked {
    gphi_marks *marks;
    gphi_mutex mutex;       /* of `marks`: one update at a time */
    atomic_uint references; /* the table's, each call's */
} marked;

/* What a call holds until it is over; with its locks. */
typedef struct held {
    marked *exec;
    gphi_mutex *graph; /* NULL: sentinels are not put into it */
    bool has_entered;  /* they were, or there are none to put */
} held;

static _Atomic uint32_t wanted; /* mode */
static atomic_bool
    is_enough; /* executables get no more; those that have some keep them */
static struct {
    gphi_mutex mutex; /* of all below */
    const char *folder;
    bool is_ready;
    gph_runtime runtime;
    trail_function *trail;
    board boards[BOARDS_MAX];
    uint32_t board_count;
    gphi_map by_exec; /* to marked */
} all = {.mutex = GPHI_MUTEX_INIT};
static gphi_mutex graph_locks[GRAPH_LOCKS]; /* zeroed is unlocked */
static __thread held now __attribute__((tls_model("initial-exec")));

void attach_sentinels_prepare(const char *folder)
{
    const char *how = getenv("GPH_DOCTOR_SENTINELS");
    all.folder = folder;
    if (how && strcmp(how, "driver") == 0)
        atomic_store(&wanted, DRIVER);
    else if (how && strcmp(how, "nodes") == 0)
        atomic_store(&wanted, NODES);
}

void attach_sentinels_forked(void)
{
    pthread_mutex_init(&all.mutex.native, NULL);
    memset(graph_locks, 0, sizeof(graph_locks));
    now = (held){0};
    all.board_count = 0;
    gphi_map_init(&all.by_exec, gphi_heap(NULL));
}

/* The first times: a program may make graphs forever. */
static void say(const char *what, const gph_error *error)
{
    static atomic_uint count;
    char line[768];
    if (atomic_fetch_add_explicit(&count, 1, memory_order_relaxed) >= SAID_MAX)
        return;
    snprintf(line, sizeof(line), "gph doctor: %s: %s", what, error->message);
    attach_tell(GPHI_EVENT_LOG, CU_LOG_LEVEL_WARNING, 0, NULL, 0, line);
}

/* ---- the driver's calls ---- */

static gph_cuda_fn find_call(void *user, const char *name, int version)
{
    (void)user;
    CUdriverProcAddressQueryResult found = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    void *object = NULL;
    gph_cuda_fn function;
    if (ATTACH_ASK(cuGetProcAddress_v2, name, &object, version,
                   CU_GET_PROC_ADDRESS_DEFAULT, &found) != CUDA_SUCCESS)
        object = NULL;
    memcpy(&function, &object, sizeof(function));
    return function;
}

/* Once, at the first graph. False: the driver does not say how far it is, and nothing else is wanted. */
static bool make_ready_locked(void) GPHI_REQUIRES(&all.mutex);

static bool make_ready_locked(void)
{
    if (all.is_ready)
        return true;
    if (atomic_load(&wanted) == DRIVER) {
        void *entry = attach_driver_symbol("gph_softcuda_trail");
        memcpy(&all.trail, &entry, sizeof(entry));
        if (!entry) {
            atomic_store(&wanted, OFF);
            return false;
        }
    }
    const gphi_cuda_source source = {.find = find_call, .path = "the driver"};
    all.runtime.heap = gphi_heap(NULL);
    all.runtime.source = source;
    gphi_cuda_table_fill(&all.runtime.cu, &source);
    gphi_map_init(&all.by_exec, all.runtime.heap);
    all.is_ready = true;
    return true;
}

/* ---- boards ---- */

static bool name_board(char *path, size_t bytes)
{
    for (int i = 1; all.folder && i < FILES_MAX; i++)
        if (snprintf(path, bytes, "%s/%ld.%d.board", all.folder, (long)getpid(), i) <
                (int)bytes &&
            access(path, F_OK) != 0)
            return true;
    return false;
}

static gph_sentinel *make_board_locked(CUcontext context) GPHI_REQUIRES(&all.mutex);

static gph_sentinel *make_board_locked(CUcontext context)
{
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    gph_error error = {0};
    char path[PATH_MAX];
    board *new = &all.boards[all.board_count];
    if (all.board_count == BOARDS_MAX || !name_board(path, sizeof(path)))
        return NULL;
    options.every = 1;
    options.path = path;
    options.bytes = BOARD_BYTES;
    if (gphi_sentinel_create(&all.runtime, &options, atomic_load(&wanted) == DRIVER,
                             &new->sentinel, &error) != GPH_OK) {
        say("graphs get no sentinels", &error);
        atomic_store(&is_enough, true);
        return NULL;
    }
    new->context = context;
    all.board_count++;
    return new->sentinel;
}

/* Of the current context. One that is not there any more is left where it is, for what
 * wrote to it may still run. */
static gph_sentinel *board_locked(void) GPHI_REQUIRES(&all.mutex);

static gph_sentinel *board_locked(void)
{
    CUcontext context = NULL;
    if (!make_ready_locked() ||
        (atomic_load(&wanted) == NODES &&
         (all.runtime.cu.cuCtxGetCurrent(&context) != CUDA_SUCCESS || !context)))
        return NULL;
    for (uint32_t i = all.board_count; i-- > 0;)
        if (all.boards[i].context == context &&
            gphi_sentinel_is_there(all.boards[i].sentinel))
            return all.boards[i].sentinel;
    return make_board_locked(context);
}

/* ---- executables ---- */

static void release(marked *exec)
{
    /* acq_rel: the last one ends what others have used. */
    if (atomic_fetch_sub_explicit(&exec->references, 1, memory_order_acq_rel) != 1)
        return;
    if (exec->marks)
        exec->marks->ops->destroy(exec->marks);
    pthread_mutex_destroy(&exec->mutex.native);
    /* Not the runtime's: there is none where the driver does not say how far it is. */
    gphi_heap_free(gphi_heap(NULL), exec, sizeof(*exec));
}

/* NULL: it has none. Else with one reference more. */
static marked *find_exec(uint64_t handle)
{
    gphi_mutex_lock(&all.mutex);
    marked *exec = gphi_map_pointer(&all.by_exec, handle);
    if (exec)
        atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
    gphi_mutex_unlock(&all.mutex);
    return exec;
}

/* The table's reference. A handle that comes again has lost what it was without our
 * knowing. */
static void drop_exec(uint64_t handle)
{
    gphi_mutex_lock(&all.mutex);
    marked *exec = gphi_map_pointer(&all.by_exec, handle);
    (void)gphi_map_remove(&all.by_exec, handle);
    gphi_mutex_unlock(&all.mutex);
    if (exec)
        release(exec);
}

/* False: there is no memory for it. */
static bool keep_exec(uint64_t handle, marked *exec)
{
    drop_exec(handle);
    gphi_mutex_lock(&all.mutex);
    const bool is_kept =
        gphi_map_set(&all.by_exec, handle, (uint64_t)(uintptr_t)exec) == GPH_OK;
    if (is_kept)
        atomic_fetch_add_explicit(&exec->references, 1, memory_order_relaxed);
    gphi_mutex_unlock(&all.mutex);
    return is_kept;
}

/* Held from a call's begin to its end, which clang's checker does not follow. */
static void lock_graph(uint64_t graph) GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis);
static void let_go(void) GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis);
static void hold(marked *exec) GPHI_LOCK_ATTRIBUTE(no_thread_safety_analysis);

static void hold(marked *exec)
{
    gphi_mutex_lock(&exec->mutex);
    now.exec = exec;
}

static void lock_graph(uint64_t graph)
{
    if (atomic_load(&wanted) != NODES || now.graph)
        return;
    now.graph = &graph_locks[gphi_hash_mix(graph) % GRAPH_LOCKS];
    gphi_mutex_lock(now.graph);
}

/* What the call of this thread holds. */
static void let_go(void)
{
    if (now.graph)
        gphi_mutex_unlock(now.graph);
    if (now.exec) {
        gphi_mutex_unlock(&now.exec->mutex);
        release(now.exec);
    }
    now = (held){0};
}

/* ---- before ---- */

static bool is_for_device(const attach_call *call)
{
    uint64_t flags = call->words[2];
    if (call->symbol->call == GPHI_CALL_cuGraphInstantiateWithParams) {
        const CUDA_GRAPH_INSTANTIATE_PARAMS *params =
            (const void *)(uintptr_t)call->words[2];
        flags = params ? params->flags : 0;
    }
    return (flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0;
}

/* Only of graphs that were seen made: the driver may crash when it is asked about others.
 * One that is captured into gives no node back. */
static bool is_known(const attach_call *call)
{
    const long place = attach_set_find(&attach_graphs, call->words[1]);
    return place >= 0 && (call->open == 0 || (atomic_load(&attach_graphs.flags[place]) &
                                              ATTACH_IS_TARGET) == 0);
}

static gph_status begin_marks(marked *exec, uint64_t graph, gph_error *error)
{
    const gphi_graph_source source = {.runtime = &all.runtime,
                                      .graph = (CUgraph)(uintptr_t)graph};
    gphi_mutex_lock(&all.mutex);
    gph_sentinel *sentinel = board_locked();
    gphi_mutex_unlock(&all.mutex);
    if (!sentinel)
        return GPH_E_UNSUPPORTED; /* and why has been said */
    lock_graph(graph);
    return sentinel->ops->create(sentinel, &source, &exec->marks, error);
}

static void begin_instantiate(const attach_call *call)
{
    gph_error error = {0};
    if (call->words[0] == 0 || atomic_load(&is_enough) || !is_known(call) ||
        is_for_device(call))
        return;
    const gph_allocator heap = gphi_heap(NULL);
    marked *exec = gphi_heap_alloc(heap, sizeof(*exec));
    if (!exec)
        return;
    pthread_mutex_init(&exec->mutex.native, NULL);
    atomic_init(&exec->references, 1);
    hold(exec);
    if (begin_marks(exec, call->words[1], &error) == GPH_OK)
        return;
    if (error.message[0] != '\0')
        say("a graph gets no sentinels", &error);
    let_go();
}

// NOLINTNEXTLINE(performance-no-int-to-ptr): a word of the call
static CUgraph graph_of(const attach_call *call)
{
    return (CUgraph)(uintptr_t)call->words[1];
}

/* Whether the new graph, or its clone, has the sentinels. */
static bool enter(CUgraph graph, const char *otherwise)
{
    gph_error error = {0};
    gphi_marks *marks = now.exec->marks;
    now.has_entered = marks->ops->enter(marks, graph, &error) == GPH_OK;
    if (!now.has_entered)
        say(otherwise, &error);
    return now.has_entered;
}

static void begin_update(const attach_call *call)
{
    marked *exec = find_exec(call->words[0]);
    if (!exec)
        return;
    hold(exec);
    if (!is_known(call))
        return;
    lock_graph(call->words[1]);
    (void)enter(graph_of(call), "an update is tried without sentinels");
}

void attach_sentinels_before(attach_call *call)
{
    call->kept = 0;
    if (atomic_load_explicit(&wanted, memory_order_relaxed) == OFF || now.exec)
        return; /* or the driver calls itself */
    if (call->symbol->hook == ATTACH_HOOK_UPDATE)
        begin_update(call);
    else
        begin_instantiate(call);
    call->kept = now.exec != NULL;
}

/* ---- after ---- */

static CUresult instantiate_again(const attach_call *call)
{
    const uint64_t *w = call->raw;
    // NOLINTBEGIN(performance-no-int-to-ptr): they are words of the call
    CUgraphExec *exec = (CUgraphExec *)(uintptr_t)w[0];
    CUgraph graph = (CUgraph)(uintptr_t)w[1];
    void *third = (void *)(uintptr_t)w[2];
    switch (call->symbol - attach_symbols) {
    case ATTACH_cuGraphInstantiateWithParams:
        return ATTACH_ASK(cuGraphInstantiateWithParams, exec, graph, third);
    case ATTACH_cuGraphInstantiateWithParams_ptsz:
        return ATTACH_ASK(cuGraphInstantiateWithParams_ptsz, exec, graph, third);
    case ATTACH_cuGraphInstantiate:
        return ATTACH_ASK(cuGraphInstantiate, exec, graph, third, (char *)(uintptr_t)w[3],
                          w[4]);
    case ATTACH_cuGraphInstantiate_v2:
        return ATTACH_ASK(cuGraphInstantiate_v2, exec, graph, third,
                          (char *)(uintptr_t)w[3], w[4]);
    default: return ATTACH_ASK(cuGraphInstantiateWithFlags, exec, graph, w[2]);
    }
    // NOLINTEND(performance-no-int-to-ptr)
}

static CUresult end_instantiate(attach_call *call, marked *exec, CUresult result)
{
    if (result != CUDA_SUCCESS)
        return all.trail ? result : instantiate_again(call);
    const uint64_t handle = attach_filled(call, 0);
    gphi_marks *marks = exec->marks;
    marks->ops->keep(marks, (CUgraphExec)(uintptr_t)handle);
    if (!keep_exec(handle, exec)) { /* nobody would know at an update what it has */
        if (all.trail || ATTACH_ASK(cuGraphExecDestroy, (CUgraphExec)(uintptr_t)handle) !=
                             CUDA_SUCCESS)
            return result;
        return instantiate_again(call);
    }
    if (all.trail && marks->word_count > 0)
        (void)all.trail((void *)(uintptr_t)handle, (uint32_t *)(void *)marks->words,
                        marks->word_count);
    return result;
}

static const char refused[] = "an update is refused, for want of sentinels";

static CUresult ask_for_update(const attach_call *call, CUgraph graph,
                               CUgraphExecUpdateResultInfo *info)
{
    // NOLINTNEXTLINE(performance-no-int-to-ptr): a word of the call
    CUgraphExec exec = (CUgraphExec)(uintptr_t)call->words[0];
    if (!attach_real(ATTACH_cuGraphExecUpdate_v2)) /* before CUDA 12 */
        return ATTACH_ASK(cuGraphExecUpdate, exec, graph, &info->errorNode,
                          &info->result);
    return ATTACH_ASK(cuGraphExecUpdate_v2, exec, graph, info);
}

/* A graph that is captured into gives no node back; its clone does. */
static CUresult ask_by_clone(const attach_call *call, CUgraphExecUpdateResultInfo *info)
{
    gphi_marks *marks = now.exec->marks;
    CUgraph copy = NULL;
    CUresult result = ATTACH_ASK(cuGraphClone, &copy, graph_of(call));
    if (result != CUDA_SUCCESS)
        return result;
    result = enter(copy, refused) ? ask_for_update(call, copy, info)
                                  : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    (void)marks->ops->leave(marks, NULL, 0); /* and what is left goes with the clone */
    (void)ATTACH_ASK(cuGraphDestroy, copy);
    return result;
}

static void tell_program(const attach_call *call, const CUgraphExecUpdateResultInfo *info)
{
    // NOLINTBEGIN(performance-no-int-to-ptr): they are words of the call
    void *first = (void *)(uintptr_t)call->raw[2];
    if (!call->symbol->is_old) {
        if (first)
            *(CUgraphExecUpdateResultInfo *)first = *info;
        return;
    }
    CUgraphExecUpdateResult *said = (void *)(uintptr_t)call->raw[3];
    // NOLINTEND(performance-no-int-to-ptr)
    if (first)
        *(CUgraphNode *)first = info->errorNode;
    if (said)
        *said = info->result;
}

/* The executable has sentinels and the graph had none: the driver may have refused it for
 * that alone. It has compared the graph, so it is one, also if it was not seen made. Nodes
 * of a clone are not named: then what the driver said first stays. */
static CUresult update_again(const attach_call *call, CUresult result)
{
    CUgraphExecUpdateResultInfo info = {.result = CU_GRAPH_EXEC_UPDATE_ERROR};
    const bool is_open =
        attach_set_find(&attach_graphs, call->words[1]) >= 0 && !is_known(call);
    CUresult second = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    lock_graph(call->words[1]);
    for (int i = 0; i < 2 && !now.has_entered && is_open; i++)
        second = ask_by_clone(call, &info);
    if (!is_open && enter(graph_of(call), refused))
        second = ask_for_update(call, graph_of(call), &info);
    if (!now.has_entered)
        atomic_store(&is_enough, true);
    else if (second == CUDA_SUCCESS || !is_open)
        tell_program(call, &info);
    return now.has_entered && (second == CUDA_SUCCESS || !is_open) ? second : result;
}

/* Where the driver puts the nodes that it names. */
static size_t named_by(const attach_call *call, CUgraphNode *out[2])
{
    if (call->symbol->call == GPHI_CALL_cuGraphInstantiateWithParams) {
        out[0] =
            &((CUDA_GRAPH_INSTANTIATE_PARAMS *)(uintptr_t)call->raw[2])->hErrNode_out;
        return 1;
    }
    if (call->symbol->hook != ATTACH_HOOK_UPDATE || call->raw[2] == 0)
        return 0;
    if (call->symbol->is_old) {
        out[0] = (CUgraphNode *)(uintptr_t)call->raw[2];
        return 1;
    }
    CUgraphExecUpdateResultInfo *info = (void *)(uintptr_t)call->raw[2];
    out[0] = &info->errorNode;
    out[1] = &info->errorFromNode;
    return 2;
}

CUresult attach_sentinels_after(attach_call *call, CUresult result)
{
    marked *exec = now.exec;
    CUgraphNode *named[2];
    if (call->kept == 0)
        return result;
    if (call->symbol->hook == ATTACH_HOOK_UPDATE && !now.has_entered &&
        result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE)
        result = update_again(call, result);
    const CUresult left = exec->marks->ops->leave(exec->marks, named,
                                                  all.trail ? 0 : named_by(call, named));
    if (left != CUDA_SUCCESS) {
        const gph_error error = {.message = "cuGraphDestroyNode failed"};
        say("a graph keeps sentinels", &error);
    }
    if (call->symbol->hook == ATTACH_HOOK_INSTANTIATE)
        result = end_instantiate(call, exec, result);
    else if (result == CUDA_SUCCESS)
        exec->marks->ops->keep(exec->marks, (CUgraphExec)(uintptr_t)call->words[0]);
    let_go();
    return result;
}

void attach_sentinels_gone(uint64_t exec)
{
    if (atomic_load_explicit(&wanted, memory_order_relaxed) != OFF)
        drop_exec(exec);
}

// SPDX-License-Identifier: Apache-2.0
/* Tier 2, on request (GPH_DOCTOR_CUPTI=nodes,kernels,graphs): what only CUPTI knows.
 *
 *   nodes    which line made a node, also inside libraries: ORIGIN records. Kept from
 *            the first capture to the first launch after it, since a subscriber costs
 *            each launch 0.4 us a node
 *   kernels  GPU times of kernels, copies and fills, those of graphs one by one
 *   graphs   GPU times of graph launches as a whole
 *
 * CUPTI is opened at run time; its handful of declarations is here, of CUPTI 12 and 13
 * (the fields that are read have stood at their places since 11.2). It has one subscriber
 * in a process: where another tool is it, we say so and do without. */
#define _GNU_SOURCE
#include "attach/cupti/cupti.h"
#include "attach/cupti/activity.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "attach/track/capture.h"
#include "base/clock.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

/* Declared here: CUPTI is not needed to build. */
typedef int cupti_result;
typedef void cupti_callback(void *, int, uint32_t, const void *);
typedef void cupti_request(uint8_t **, size_t *, size_t *);
typedef void cupti_complete(CUcontext, uint32_t, uint8_t *, size_t, size_t);

/* Numbers of cupti_result.h, cupti_callbacks.h, cupti_driver_cbid.h and cupti_activity.h,
 * which are stable: callers of older versions keep working. */
enum { BUSY_SUBSCRIBER = 39, DOMAIN_RESOURCE = 3, FLUSH_FORCED = 1 };
enum { NODE_CREATED = 13, EXEC_CREATED = 18, NODE_CLONED = 20 };
enum { ROUNDS_MAX = 8, BUFFER_BYTES = 2 << 20, FLUSH_NS = 200000000 };

typedef struct resource_data {
    CUcontext context;
    void *handle;
    const void *descriptor;
} resource_data;

typedef struct graph_data {
    CUgraph graph, original_graph;
    CUgraphNode node, original_node;
    CUgraphNodeType type;
    CUgraphNode dependency;
    CUgraphExec exec;
} graph_data;

#define CUPTI_CALLS(X)                                                                   \
    X(cuptiSubscribe, (void **, cupti_callback *, void *))                               \
    X(cuptiEnableCallback, (uint32_t, void *, int, uint32_t))                            \
    X(cuptiFinalize, (void))                                                             \
    X(cuptiActivityRegisterCallbacks, (cupti_request *, cupti_complete *))               \
    X(cuptiActivityEnable, (int))                                                        \
    X(cuptiActivityFlushAll, (uint32_t))                                                 \
    X(cuptiActivityGetNextRecord, (uint8_t *, size_t, const void **))                    \
    X(cuptiGetTimestamp, (uint64_t *))                                                   \
    X(cuptiGetGraphNodeId, (CUgraphNode, uint64_t *))                                    \
    X(cuptiGetGraphExecId, (CUgraphExec, uint32_t *))

static struct {
#define X(name, arguments) cupti_result(*name) arguments;
    CUPTI_CALLS(X)
#undef X
} cupti;

atomic_bool attach_cupti_is_on;
static bool wants_nodes, wants_kernels, wants_graphs;
static atomic_bool is_subscribed, is_ending, has_activities;
static atomic_flag is_busy = ATOMIC_FLAG_INIT; /* subscribing or finalizing */
static atomic_int inside;                      /* program's calls in the driver */
static _Atomic uint64_t last_flush;
static int rounds; /* of subscribing; under is_busy */

/* ---- words for the reader ---- */

static void say(const char *text, const char *what, int code)
{
    char line[256];
    snprintf(line, sizeof(line), "gph doctor: %s%s (CUPTI error %d)", text, what, code);
    attach_tell(GPHI_EVENT_LOG, CU_LOG_LEVEL_WARNING, 0, NULL, 0, line);
}

/* ---- opening ---- */

static bool open_library(void)
{
    static const char *const names[] = {"libcupti.so.13", "libcupti.so.12",
                                        "libcupti.so"};
    const char *own = getenv("GPH_DOCTOR_CUPTI_LIB");
    void *library = own && own[0] != '\0' ? dlopen(own, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; !library && i < 3; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        say("libcupti.so.13 and .12 are not found: nothing is known of nodes and GPU "
            "times",
            "", 0);
        return false;
    }
#define X(name, arguments)                                                               \
    {                                                                                    \
        void *entry = dlsym(library, #name);                                             \
        if (!entry) {                                                                    \
            say("this libcupti has no ", #name, 0);                                      \
            return false;                                                                \
        }                                                                                \
        memcpy(&cupti.name, &entry, sizeof(entry));                                      \
    }
    CUPTI_CALLS(X)
#undef X
    return true;
}

/* ---- nodes ---- */

static void on_graph(uint32_t what, const graph_data *data)
{
    uint64_t id = 0;
    uint32_t exec_id = 0;
    if (what == EXEC_CREATED)
        cupti.cuptiGetGraphExecId(data->exec, &exec_id);
    else
        cupti.cuptiGetGraphNodeId(data->node, &id);
    const uint64_t words[5] = {
        (uint64_t)(uintptr_t)data->graph,
        what == NODE_CLONED ? (uint64_t)(uintptr_t)data->original_node : 0,
        (uint64_t)data->type, (uint64_t)(uintptr_t)data->exec,
        what == EXEC_CREATED ? exec_id : id};
    attach_tell(GPHI_EVENT_ORIGIN,
                what == EXEC_CREATED ? 0 : (uint64_t)(uintptr_t)data->node,
                what == NODE_CREATED ? attach_stack_python(NULL) : 0, words, 5, NULL);
}

static void on_callback(void *user, int domain, uint32_t what, const void *data)
{
    (void)user;
    if (attach_me.busy != 0 || domain != DOMAIN_RESOURCE || !data)
        return;
    const graph_data *graph = ((const resource_data *)data)->descriptor;
    attach_me.busy++;
    if (graph && (what == NODE_CREATED || what == NODE_CLONED || what == EXEC_CREATED))
        on_graph(what, graph);
    attach_me.busy--;
}

/* With `is_busy`, or before there are threads. */
static bool subscribe_locked(void)
{
    void *subscriber = NULL;
    const cupti_result result = cupti.cuptiSubscribe(&subscriber, on_callback, NULL);
    if (result != 0) {
        say(result == BUSY_SUBSCRIBER
                ? "another tool of this process holds CUPTI (a profiler, a debugger): "
                  "nodes and GPU times are left out"
                : "cuptiSubscribe was refused: nodes and GPU times are left out",
            "", result);
        atomic_store(&attach_cupti_is_on, false);
        return false;
    }
    if (wants_nodes)
        for (uint32_t i = 0; i < 3; i++) {
            static const uint32_t which[] = {NODE_CREATED, NODE_CLONED, EXEC_CREATED};
            const cupti_result enabled =
                cupti.cuptiEnableCallback(1, subscriber, DOMAIN_RESOURCE, which[i]);
            if (enabled != 0)
                say("cuptiEnableCallback was refused", "", enabled);
        }
    atomic_store(&is_subscribed, true);
    return true;
}

/* Before a capture, or a graph, begins. */
static void subscribe(void)
{
    if (atomic_load(&is_subscribed) || atomic_flag_test_and_set(&is_busy))
        return;
    if (!atomic_load(&is_subscribed) && rounds <= ROUNDS_MAX) {
        if (rounds++ == ROUNDS_MAX)
            say("nodes are reported for the first captures only: later ones come and go "
                "too often",
                "", 0);
        else
            subscribe_locked();
    }
    atomic_flag_clear(&is_busy);
}

/* When no other thread of the program is in the driver: CUPTI does not wait for them. */
static void let_go(void)
{
    if (wants_kernels || wants_graphs || !atomic_load(&is_subscribed) ||
        attach_open_captures() > 0 || atomic_flag_test_and_set(&is_busy))
        return;
    atomic_store(&is_ending, true); /* who comes now waits in attach_cupti_before() */
    if (atomic_load(&inside) == 1 && atomic_load(&is_subscribed)) {
        const cupti_result result = cupti.cuptiFinalize();
        if (result != 0)
            say("cuptiFinalize was refused", "", result);
        atomic_store(&is_subscribed, false);
    }
    atomic_store(&is_ending, false);
    atomic_flag_clear(&is_busy);
}

/* ---- GPU times ---- */

static void request_buffer(uint8_t **buffer, size_t *bytes, size_t *records)
{
    void *room = mmap(NULL, BUFFER_BYTES, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    *buffer = room != MAP_FAILED ? room : NULL;
    *bytes = room != MAP_FAILED ? BUFFER_BYTES : 0;
    *records = 0; /* as many as fit */
}

static void tell_time(const attach_activity *time, uint64_t shift)
{
    const uint64_t words[] = {(uint64_t)time->what,
                              time->start + shift,
                              time->end + shift,
                              time->stream,
                              time->graph,
                              time->node,
                              0};
    attach_tell(GPHI_EVENT_GPU, time->correlation, 0, words, 7,
                time->name ? time->name : "");
}

static void complete_buffer(CUcontext context, uint32_t stream, uint8_t *buffer,
                            size_t bytes, size_t valid)
{
    (void)context;
    (void)stream;
    uint64_t theirs = 0;
    const void *record = NULL;
    attach_me.busy++;
    /* Its clock is another; both run at the same pace. */
    const uint64_t shift =
        cupti.cuptiGetTimestamp(&theirs) == 0 ? gphi_clock_ns() - theirs : 0;
    attach_activity time;
    while (valid > 0 && cupti.cuptiActivityGetNextRecord(buffer, valid, &record) == 0)
        if (attach_activity_read(record, buffer + valid, &time))
            tell_time(&time, shift);
    attach_me.busy--;
    if (buffer)
        munmap(buffer, bytes);
}

static void flush_at_exit(void)
{
    if (atomic_load(&has_activities) && attach_ring())
        cupti.cuptiActivityFlushAll(FLUSH_FORCED);
}

static void enable(int kind)
{
    const cupti_result result = cupti.cuptiActivityEnable(kind);
    if (result != 0)
        say("cuptiActivityEnable was refused", "", result);
}

static void start_activities(void)
{
    if (!subscribe_locked())
        return;
    const cupti_result result =
        cupti.cuptiActivityRegisterCallbacks(request_buffer, complete_buffer);
    if (result != 0) {
        say("cuptiActivityRegisterCallbacks was refused", "", result);
        return;
    }
    if (wants_graphs)
        enable(ATTACH_ACTIVITY_GRAPH);
    if (wants_kernels) {
        enable(ATTACH_ACTIVITY_KERNEL);
        enable(ATTACH_ACTIVITY_COPY);
        enable(ATTACH_ACTIVITY_FILL);
    }
    atomic_store(&has_activities, true);
    atexit(flush_at_exit); /* after the driver's own: runs before it */
}

/* ---- the wrappers' side ---- */

void attach_cupti_start(void)
{
    const char *wanted = getenv("GPH_DOCTOR_CUPTI");
    if (!wanted || atomic_load(&attach_cupti_is_on))
        return;
    wants_nodes = strstr(wanted, "nodes");
    wants_kernels = strstr(wanted, "kernels");
    wants_graphs = strstr(wanted, "graphs");
    if ((!wants_nodes && !wants_kernels && !wants_graphs) || !open_library())
        return;
    atomic_store(&attach_cupti_is_on, true);
    if (wants_kernels || wants_graphs)
        start_activities();
}

void attach_cupti_before(const attach_symbol *symbol)
{
    atomic_fetch_add(&inside, 1);
    while (atomic_load(&is_ending)) { /* not for the thread that ends it */
        atomic_fetch_sub(&inside, 1);
        while (atomic_load(&is_ending))
            sched_yield();
        atomic_fetch_add(&inside, 1);
    }
    if (!wants_nodes)
        return;
    if (symbol->hook == ATTACH_HOOK_BEGIN || symbol->hook == ATTACH_HOOK_GRAPH)
        subscribe();
    else if (symbol->call == GPHI_CALL_cuGraphLaunch)
        let_go();
}

void attach_cupti_after(const attach_symbol *symbol)
{
    atomic_fetch_sub(&inside, 1);
    if (!atomic_load(&has_activities) || attach_open_captures() > 0 ||
        (symbol->call != GPHI_CALL_cuStreamSynchronize &&
         symbol->call != GPHI_CALL_cuCtxSynchronize &&
         symbol->call != GPHI_CALL_cuEventSynchronize))
        return;
    uint64_t last = atomic_load(&last_flush);
    const uint64_t now = gphi_clock_ns();
    if (now - last > FLUSH_NS && atomic_compare_exchange_strong(&last_flush, &last, now))
        cupti.cuptiActivityFlushAll(0);
}

void attach_cupti_forget(void)
{
    atomic_store(&attach_cupti_is_on, false);
    atomic_store(&has_activities, false);
}

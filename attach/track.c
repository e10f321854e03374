// SPDX-License-Identifier: Apache-2.0
/* Handles that were seen made, since the driver may crash when it is asked about others;
 * and which streams are capturing. */
#define _GNU_SOURCE
#include "attach/call.h"
#include "attach/cupti.h"
#include "attach/own.h"

/* Open addressing; 0: free, 1: removed. A set that is full knows less, that is all. */
enum {
    STREAMS = 1 << 12,
    GRAPHS = 1 << 16,
    KERNELS = 1 << 15,
    PROBES = 128,
    REMOVED = 1
};
enum { IS_CAPTURING = 1, IS_CHILD = 2 }; /* flags */

static _Atomic uint64_t stream_keys[STREAMS], graph_keys[GRAPHS], kernel_keys[KERNELS];
static _Atomic uint8_t stream_flags[STREAMS], graph_flags[GRAPHS], kernel_flags[KERNELS];

/* Of each graph: its last snapshot that reads the same again, or 0, and how many edits of
 * any graph there had been. */
static _Atomic uint64_t edit_count, graph_snapshots[GRAPHS], graph_edits[GRAPHS];

typedef struct set {
    _Atomic uint64_t *keys;
    _Atomic uint8_t *flags;
    uint32_t mask;
} set;

static const set streams = {stream_keys, stream_flags, STREAMS - 1};
static const set graphs = {graph_keys, graph_flags, GRAPHS - 1};
static const set kernels = {kernel_keys, kernel_flags, KERNELS - 1};
static atomic_int open_captures;

static uint32_t first_place(uint64_t key)
{
    return (uint32_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
}

/* Its place, or -1. */
static long find(const set *in, uint64_t key)
{
    for (uint32_t i = 0, at = first_place(key); i < PROBES; i++, at++) {
        const uint64_t there =
            atomic_load_explicit(&in->keys[at & in->mask], memory_order_acquire);
        if (there == key)
            return at & in->mask;
        if (there == 0)
            return -1;
    }
    return -1;
}

static void add(const set *in, uint64_t key, uint8_t flags)
{
    long place = key > REMOVED ? find(in, key) : 0;
    if (key <= REMOVED)
        return;
    for (uint32_t i = 0, at = first_place(key); place < 0 && i < PROBES; i++, at++) {
        uint64_t there = atomic_load(&in->keys[at & in->mask]);
        if (there <= REMOVED &&
            atomic_compare_exchange_strong(&in->keys[at & in->mask], &there, key))
            place = at & in->mask;
    }
    if (place >= 0)
        atomic_store(&in->flags[place], flags);
}

static void remove_key(const set *in, uint64_t key)
{
    const long place = find(in, key);
    if (place >= 0)
        atomic_store(&in->keys[place], REMOVED);
}

bool attach_is_kernel(uint64_t handle)
{
    return find(&kernels, handle) >= 0;
}

uint32_t attach_open_captures(void)
{
    const int count = atomic_load_explicit(&open_captures, memory_order_relaxed);
    return count > 0 ? (uint32_t)count : 0;
}

void attach_track_forked(void)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        atomic_store_explicit(&stream_flags[i], 0, memory_order_relaxed);
    atomic_store(&open_captures, 0);
    atomic_fetch_add(&edit_count, 1); /* another ring has none of the snapshots */
}

/* ---- streams ---- */

enum { LEGACY = 1, PER_THREAD = 2 };

static CUresult query(uint64_t stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                      const CUgraphNode **nodes, size_t *count)
{
    const CUstream handle = (CUstream)(uintptr_t)stream;
    CUresult (*v3)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                   const CUgraphNode **, const CUgraphEdgeData **, size_t *) =
        ATTACH_REAL(cuStreamGetCaptureInfo_v3, CUstream, CUstreamCaptureStatus *,
                    cuuint64_t *, CUgraph *, const CUgraphNode **,
                    const CUgraphEdgeData **, size_t *);
    const CUgraphEdgeData *edges = NULL;
    if (v3 != NULL)
        return v3(handle, status, id, NULL, nodes, &edges, count);
    CUresult (*v2)(CUstream, CUstreamCaptureStatus *, cuuint64_t *, CUgraph *,
                   const CUgraphNode **, size_t *) =
        ATTACH_REAL(cuStreamGetCaptureInfo_v2, CUstream, CUstreamCaptureStatus *,
                    cuuint64_t *, CUgraph *, const CUgraphNode **, size_t *);
    return v2 != NULL ? v2(handle, status, id, NULL, nodes, count)
                      : CUDA_ERROR_NOT_SUPPORTED;
}

/* The stream that a call works on: a handle, LEGACY, PER_THREAD, or 0: none. */
static uint64_t stream_of(const attach_call *call)
{
    uint64_t stream;
    if (call->symbol->call == GPHI_CALL_cuLaunchKernelEx) {
        const CUlaunchConfig *config = (const void *)(uintptr_t)call->words[0];
        if (config == NULL)
            return 0;
        stream = (uint64_t)(uintptr_t)config->hStream;
    } else if (call->symbol->stream >= 0)
        stream = call->words[call->symbol->stream];
    else
        return 0;
    if (stream == 0)
        return call->symbol->per_thread ? PER_THREAD : LEGACY;
    return stream;
}

/* A per-thread stream is another one in each thread. */
static uint64_t key_of(uint64_t stream)
{
    return stream == PER_THREAD ? (uint64_t)attach_thread() << 32 | PER_THREAD : stream;
}

static bool is_known(uint64_t stream)
{
    return stream == PER_THREAD || find(&streams, stream) >= 0;
}

attach_status attach_ask(const attach_call *call, CUresult result)
{
    attach_status out = {0xFF, call->capture, 0};
    if (call->symbol->hook == ATTACH_HOOK_END && call->capture != 0)
        out.status = result == CUDA_SUCCESS ? CU_STREAM_CAPTURE_STATUS_NONE : 0xFF;
    if (call->open == 0 && attach_open_captures() == 0)
        return out;
    const uint64_t stream = stream_of(call);
    if (stream == LEGACY) { /* cannot capture, and asking would fail */
        out.status = CU_STREAM_CAPTURE_STATUS_NONE;
        return out;
    }
    if (stream == 0 || !is_known(stream) ||
        (call->symbol->hook == ATTACH_HOOK_STREAM_GONE && result == CUDA_SUCCESS))
        return out;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    const CUgraphNode *nodes = NULL;
    size_t count = 0;
    if (query(stream, &status, &id, &nodes, &count) != CUDA_SUCCESS)
        return out;
    out.status = (uint8_t)status;
    if (status == CU_STREAM_CAPTURE_STATUS_NONE)
        return out;
    out.capture = id;
    const uint64_t node = count == 1 && status == CU_STREAM_CAPTURE_STATUS_ACTIVE
                              ? (uint64_t)(uintptr_t)nodes[0]
                              : 0;
    if (result == CUDA_SUCCESS && (call->symbol->flags & ATTACH_WORK) != 0 &&
        node != attach_me.last_node)
        out.node = attach_me.last_node = node;
    return out;
}

/* ---- captures ---- */

static void set_capturing(uint64_t key, bool is_capturing)
{
    const long place = find(&streams, key);
    if (place < 0)
        return;
    const uint8_t old =
        is_capturing ? atomic_fetch_or(&stream_flags[place], IS_CAPTURING)
                     : atomic_fetch_and(&stream_flags[place], (uint8_t)~IS_CAPTURING);
    if (((old & IS_CAPTURING) != 0) != is_capturing)
        atomic_fetch_add(&open_captures, is_capturing ? 1 : -1);
}

static void begun(const attach_call *call)
{
    const uint64_t key = key_of(stream_of(call));
    if (find(&streams, key) < 0)
        add(&streams, key, 0); /* the driver took it: it is one */
    set_capturing(key, true);
    attach_me.last_node = 0;
}

/* Some failures end the capture, too: the stream says. */
static void ended(const attach_call *call)
{
    const uint64_t stream = stream_of(call);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id;
    const CUgraphNode *nodes;
    size_t count;
    if (stream == LEGACY || !is_known(stream) ||
        query(stream, &status, &id, &nodes, &count) != CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_NONE)
        return;
    set_capturing(key_of(stream), false);
}

static void context_gone(void)
{
    for (uint32_t i = 0; i < STREAMS; i++)
        if ((atomic_load(&stream_flags[i]) & IS_CAPTURING) != 0)
            set_capturing(atomic_load(&stream_keys[i]), false);
}

/* ---- what the hooks do ---- */

void attach_before(attach_call *call)
{
    const CUgraphNode *nodes;
    size_t count;
    switch ((attach_hook)call->symbol->hook) {
    case ATTACH_HOOK_END: {
        const uint64_t stream = stream_of(call);
        CUstreamCaptureStatus status;
        cuuint64_t id = 0;
        if (call->open > 0 && stream != LEGACY && is_known(stream) &&
            query(stream, &status, &id, &nodes, &count) == CUDA_SUCCESS &&
            status != CU_STREAM_CAPTURE_STATUS_NONE)
            call->capture = id;
        break;
    }
    case ATTACH_HOOK_MODE: {
        const CUstreamCaptureMode *mode = (const void *)(uintptr_t)call->words[0];
        call->kept = mode != NULL ? (uint64_t)*mode : 0;
        break;
    }
    case ATTACH_HOOK_STREAM_GONE: /* the handle may be another thread's next stream */
        call->kept = find(&streams, call->words[0]) >= 0;
        break;
    default: break;
    }
}

static uint64_t filled(const attach_call *call, uint32_t index)
{
    const void *const *out = (const void *)(uintptr_t)call->words[index];
    return out != NULL ? (uint64_t)(uintptr_t)*out : 0;
}

static void add_bodies(const attach_call *call)
{
    const CUgraphNodeParams *node = (const void *)(uintptr_t)call->words[5];
    if (node == NULL || node->type != CU_GRAPH_NODE_TYPE_CONDITIONAL)
        return;
    for (unsigned i = 0; i < node->conditional.size && i < 1024; i++)
        if (node->conditional.phGraph_out != NULL)
            add(&graphs, (uint64_t)(uintptr_t)node->conditional.phGraph_out[i], IS_CHILD);
}

static void add_kernels(const attach_call *call)
{
    const CUkernel *list = (const void *)(uintptr_t)call->words[0];
    for (uint64_t i = 0; list != NULL && i < call->words[1]; i++)
        add(&kernels, (uint64_t)(uintptr_t)list[i], 0);
}

/* Graphs of which the caller owns a handle can be asked about whatever the call said;
 * others live as long as their parents, of which we know nothing. */
static void take_picture(const attach_call *call, gphi_snapshot_why why, uint64_t exec,
                         CUresult result)
{
    attach_picture picture = {.graph = call->words[1], .exec = exec, .why = why};
    if (why == GPHI_SNAPSHOT_CAPTURED) {
        picture.graph = filled(call, 1);
        picture.capture = call->capture;
    }
    const long place = find(&graphs, picture.graph);
    if (place < 0 ||
        (result != CUDA_SUCCESS && (atomic_load(&graph_flags[place]) & IS_CHILD) != 0))
        return;
    const uint64_t edits = atomic_load(&edit_count);
    if (why != GPHI_SNAPSHOT_CAPTURED && atomic_load(&graph_edits[place]) == edits)
        picture.same_as = atomic_load(&graph_snapshots[place]);
    const uint64_t number = attach_snapshot(&picture);
    atomic_store(&graph_edits[place], edits);
    atomic_store(&graph_snapshots[place], number);
}

static void succeeded(attach_call *call)
{
    switch ((attach_hook)call->symbol->hook) {
    case ATTACH_HOOK_INIT:
        attach_keep_driver();
        attach_listen_to_logs();
        attach_cupti_start();
        break;
    case ATTACH_HOOK_GET_PROC: {
        void **entry = (void **)(uintptr_t)call->words[1];
        if (entry != NULL && *entry != NULL)
            *entry = attach_wrap(*entry, (const char *)(uintptr_t)call->words[0],
                                 (int)call->words[2], call->words[3]);
        break;
    }
    case ATTACH_HOOK_CONTEXT: attach_tell_devices(); break;
    case ATTACH_HOOK_CONTEXT_GONE: context_gone(); break;
    case ATTACH_HOOK_STREAM: add(&streams, filled(call, 0), 0); break;
    case ATTACH_HOOK_STREAM_GONE:
        set_capturing(call->words[0], false);
        remove_key(&streams, call->words[0]);
        break;
    case ATTACH_HOOK_BEGIN: begun(call); break;
    case ATTACH_HOOK_END:
        add(&graphs, filled(call, 1), 0);
        take_picture(call, GPHI_SNAPSHOT_CAPTURED, 0, CUDA_SUCCESS);
        break;
    case ATTACH_HOOK_MODE: attach_me.mode = (uint8_t)(call->kept & 3); break;
    case ATTACH_HOOK_GRAPH: add(&graphs, filled(call, 0), 0); break;
    case ATTACH_HOOK_CHILD: add(&graphs, filled(call, 1), IS_CHILD); break;
    case ATTACH_HOOK_ADD_NODE: add_bodies(call); break;
    case ATTACH_HOOK_GRAPH_GONE: remove_key(&graphs, call->words[0]); break;
    case ATTACH_HOOK_KERNEL: add(&kernels, filled(call, 0), 0); break;
    case ATTACH_HOOK_KERNELS: add_kernels(call); break;
    case ATTACH_HOOK_CODE_GONE: attach_forget_functions(); break;
    case ATTACH_HOOK_NONE:
    case ATTACH_HOOK_INSTANTIATE:
    case ATTACH_HOOK_UPDATE: break;
    }
}

void attach_after(attach_call *call, CUresult result)
{
    if ((call->symbol->flags & ATTACH_EDITS) != 0)
        atomic_fetch_add(&edit_count, 1);
    if (call->symbol->hook == ATTACH_HOOK_END)
        ended(call);
    if (result == CUDA_SUCCESS)
        succeeded(call);
    if (call->symbol->hook == ATTACH_HOOK_INSTANTIATE)
        take_picture(call, GPHI_SNAPSHOT_INSTANTIATED,
                     result == CUDA_SUCCESS ? filled(call, 0) : 0, result);
    else if (call->symbol->hook == ATTACH_HOOK_UPDATE)
        take_picture(call, GPHI_SNAPSHOT_UPDATE, call->words[0], result);
}

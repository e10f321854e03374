// SPDX-License-Identifier: Apache-2.0
/* Captures, as their streams report them.
 *
 * A stream is asked only if it was seen made, since a driver may crash on a handle that
 * it does not know; never the legacy one, which cannot capture: asking would fail. It
 * costs a call of the driver, so nobody asks while `open_captures` is 0. */
#define _GNU_SOURCE
#include "attach/track/capture.h"
#include "attach/driver/find.h"
#include "attach/ring/thread.h"
#include "attach/track/handle.h"

enum { IS_CAPTURING = 1 }; /* flag of a stream */

static atomic_int open_captures;
static atomic_bool has_captured;

uint32_t attach_open_captures(void)
{
    const int count = atomic_load_explicit(&open_captures, memory_order_relaxed);
    return count > 0 ? (uint32_t)count : 0;
}

bool attach_has_captured(void)
{
    return atomic_load_explicit(&has_captured, memory_order_relaxed);
}

/* ---- streams ---- */

enum { LEGACY = 1, PER_THREAD = 2 };

static CUresult query(uint64_t stream, CUstreamCaptureStatus *status, cuuint64_t *id,
                      const CUgraphNode **nodes, size_t *count)
{
    const CUstream handle = (CUstream)(uintptr_t)stream;
    const CUgraphEdgeData *edges = NULL;
    if (ATTACH_REAL(cuStreamGetCaptureInfo_v3))
        return ATTACH_REAL(cuStreamGetCaptureInfo_v3)(handle, status, id, NULL, nodes,
                                                      &edges, count);
    return ATTACH_ASK(cuStreamGetCaptureInfo_v2, handle, status, id, NULL, nodes, count);
}

/* The stream that a call works on: a handle, LEGACY, PER_THREAD, or 0: none. */
static uint64_t stream_of(const attach_call *call)
{
    uint64_t stream;
    if (call->symbol->call == GPHI_CALL_cuLaunchKernelEx) {
        const CUlaunchConfig *config = (const void *)(uintptr_t)call->words[0];
        if (!config)
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
    return stream == PER_THREAD || attach_set_find(&attach_streams, stream) >= 0;
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

/* The flag and the count change together: two threads may end one capture, by its end and
 * by its stream's, and it is counted once. */
static void set_capturing(uint64_t key, bool is_capturing)
{
    const long place = attach_set_find(&attach_streams, key);
    if (place < 0)
        return;
    const uint8_t old =
        is_capturing
            ? atomic_fetch_or(&attach_streams.flags[place], IS_CAPTURING)
            : atomic_fetch_and(&attach_streams.flags[place], (uint8_t)~IS_CAPTURING);
    if (((old & IS_CAPTURING) != 0) != is_capturing)
        atomic_fetch_add(&open_captures, is_capturing ? 1 : -1);
}

void attach_capture_begun(const attach_call *call)
{
    const uint64_t key = key_of(stream_of(call));
    if (attach_set_find(&attach_streams, key) < 0)
        attach_set_add(&attach_streams, key, 0); /* the driver took it: it is one */
    set_capturing(key, true);
    atomic_store_explicit(&has_captured, true, memory_order_relaxed);
    attach_me.last_node = 0;
}

/* Some failures end the capture, too: the stream says. */
void attach_capture_ended(const attach_call *call)
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

void attach_capture_context_gone(void)
{
    for (uint32_t i = 0; i < ATTACH_STREAMS_MAX; i++)
        if ((atomic_load(&attach_streams.flags[i]) & IS_CAPTURING) != 0)
            set_capturing(atomic_load(&attach_streams.keys[i]), false);
}

void attach_capture_stream_gone(uint64_t stream)
{
    set_capturing(stream, false);
    attach_set_remove(&attach_streams, stream);
}

uint64_t attach_capture_before_end(const attach_call *call)
{
    const uint64_t stream = stream_of(call);
    const CUgraphNode *nodes;
    size_t count;
    CUstreamCaptureStatus status;
    cuuint64_t id = 0;
    return call->open > 0 && stream != LEGACY && is_known(stream) &&
                   query(stream, &status, &id, &nodes, &count) == CUDA_SUCCESS &&
                   status != CU_STREAM_CAPTURE_STATUS_NONE
               ? id
               : 0;
}

void attach_capture_forked(void)
{
    for (uint32_t i = 0; i < ATTACH_STREAMS_MAX; i++)
        atomic_store_explicit(&attach_streams.flags[i], 0, memory_order_relaxed);
    atomic_store(&open_captures, 0);
}

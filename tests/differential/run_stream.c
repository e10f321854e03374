// SPDX-License-Identifier: Apache-2.0
/* The runner's streams: captures, work, events, waiting; and user objects. */
#include <stddef.h>

#include "run.h"

/* The graph that a stream captures into, or NULL. */
static CUgraph captured_graph(CUstream stream)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    if (cu.cuStreamGetCaptureInfo(stream, &status, NULL, &graph, NULL, NULL, NULL) !=
            CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return NULL;
    return graph;
}

static void capture_begin(const int32_t *a, struct answer *out)
{
    out->code =
        (int32_t)cu.cuStreamBeginCapture(run.streams[a[0]], (CUstreamCaptureMode)a[1]);
    if (out->code == CUDA_SUCCESS)
        run.capturing[a[0]] = captured_graph(run.streams[a[0]]);
}

static bool want_nodes(const int32_t *slots, int count, CUgraphNode *out,
                       struct answer *answer)
{
    for (int i = 0; i < count; i++) {
        out[i] = run.nodes[slots[i]];
        if (out[i] == NULL)
            answer->code = SKIPPED;
    }
    return answer->code != SKIPPED;
}

static void capture_to_graph(const int32_t *a, struct answer *out)
{
    CUgraphNode deps[DEPS_MAX];
    const CUgraph graph = run.graphs[a[1]];
    if (graph == NULL)
        out->code = SKIPPED;
    if (!want_nodes(&a[4], a[3], deps, out))
        return;
    out->code = (int32_t)cu.cuStreamBeginCaptureToGraph(
        run.streams[a[0]], graph, a[3] ? deps : NULL, NULL, (size_t)a[3],
        (CUstreamCaptureMode)a[2]);
    if (out->code == CUDA_SUCCESS)
        run.capturing[a[0]] = graph;
}

static int slot_of_graph(CUgraph graph)
{
    for (int i = 0; i < GRAPHS; i++)
        if (run.graphs[i] == graph)
            return i;
    return MISSING;
}

static void capture_end(const int32_t *a, struct answer *out)
{
    CUgraph graph = NULL;
    const CUstream stream = run.streams[a[0]];
    out->code = (int32_t)cu.cuStreamEndCapture(stream, &graph);
    if (out->code == CUDA_SUCCESS) {
        if (slot_of_graph(graph) < 0) {
            run.graphs[a[1]] = graph;
            run.graph_in[a[1]] = NULL;
            run.graph_of[a[1]] = NULL;
        }
        answer_push(out, slot_of_graph(graph));
        run.capturing[a[0]] = NULL;
        return;
    }
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraph old = run.capturing[a[0]];
    if (old == NULL || (cu.cuStreamIsCapturing(stream, &status) == CUDA_SUCCESS &&
                        status != CU_STREAM_CAPTURE_STATUS_NONE))
        return;
    bool inner = false; /* of a node, which keeps it */
    for (int i = 0; i < GRAPHS; i++)
        inner = inner || (run.graphs[i] == old && run.graph_of[i] != NULL);
    if (!inner)
        run_forget_graph(old);
    run.capturing[a[0]] = NULL;
}

static void capture_ask(const struct step *step, struct answer *out)
{
    const CUstream stream = run.streams[step->a[0]];
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (step->op == OP_IS_CAPTURING) {
        out->code = (int32_t)cu.cuStreamIsCapturing(stream, &status);
        if (out->code == CUDA_SUCCESS)
            answer_push(out, (int32_t)status);
        return;
    }
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 0;
    out->code = (int32_t)cu.cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes,
                                                   &data, &count);
    if (out->code != CUDA_SUCCESS)
        return;
    answer_push(out, (int32_t)status);
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return;
    answer_push(out, (int32_t)count);
    for (size_t i = 0; i < count; i++)
        answer_push(out, run_slot_of_node(nodes[i]));
}

static void capture_deps(const int32_t *a, struct answer *out)
{
    CUgraphNode deps[DEPS_MAX];
    if (!want_nodes(&a[3], a[2], deps, out))
        return;
    out->code = (int32_t)cu.cuStreamUpdateCaptureDependencies(
        run.streams[a[0]], a[2] ? deps : NULL, NULL, (size_t)a[2], (unsigned)a[1]);
}

/* A captured node is what its stream now depends on. */
static void register_captured(CUstream stream, int32_t slot, struct answer *out)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUgraph graph = NULL;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *data = NULL;
    size_t count = 0;
    if (cu.cuStreamGetCaptureInfo(stream, &status, NULL, &graph, &nodes, &data, &count) !=
            CUDA_SUCCESS ||
        status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
        return;
    run_put_node(slot, nodes[0], graph);
    answer_push(out, slot);
}

static void stream_work(const struct step *step, struct answer *out)
{
    const struct work work = step_work(step);
    const CUstream stream = run.streams[step->a[0]];
    out->code = (int32_t)run_on_stream(&work, stream);
    if (out->code == CUDA_SUCCESS && step->a[0] != 0)
        register_captured(stream, step->a[1], out);
}

static void exchange_mode(const int32_t *a, struct answer *out)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)a[0];
    out->code = (int32_t)cu.cuThreadExchangeStreamCaptureMode(&mode);
    if (out->code == CUDA_SUCCESS)
        answer_push(out, (int32_t)mode);
}

/* Whether work is over depends on the clock: "not ready" counts as "ready". */
static int32_t settled(CUresult code)
{
    return code == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : (int32_t)code;
}

static CUresult try_unsafe(int which)
{
    CUdeviceptr at = 0;
    void *host = NULL;
    CUevent event = NULL;
    size_t available, total;
    CUresult code;
    switch (which) {
    case 0:
        code = cu.cuMemAlloc(&at, 256);
        return code == CUDA_SUCCESS ? cu.cuMemFree(at) : code;
    case 1:
        code = cu.cuMemHostAlloc(&host, 256, 0);
        return code == CUDA_SUCCESS ? cu.cuMemFreeHost(host) : code;
    case 2:
        code = cu.cuEventCreate(&event, 0);
        return code == CUDA_SUCCESS ? cu.cuEventDestroy(event) : code;
    default: return cu.cuMemGetInfo(&available, &total);
    }
}

void run_stream_step(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    switch (step->op) {
    case OP_CAPTURE_BEGIN: capture_begin(a, out); return;
    case OP_CAPTURE_TO_GRAPH: capture_to_graph(a, out); return;
    case OP_CAPTURE_END: capture_end(a, out); return;
    case OP_CAPTURE_INFO:
    case OP_IS_CAPTURING: capture_ask(step, out); return;
    case OP_CAPTURE_DEPS: capture_deps(a, out); return;
    case OP_EXCHANGE_MODE: exchange_mode(a, out); return;
    case OP_WORK: stream_work(step, out); return;
    case OP_EVENT_RECORD:
        out->code = (int32_t)cu.cuEventRecordWithFlags(run.events[a[0]],
                                                       run.streams[a[1]], (unsigned)a[2]);
        return;
    case OP_STREAM_WAIT:
        out->code = (int32_t)cu.cuStreamWaitEvent(run.streams[a[0]], run.events[a[1]],
                                                  (unsigned)a[2]);
        return;
    case OP_STREAM_SYNC:
        out->code = (int32_t)cu.cuStreamSynchronize(run.streams[a[0]]);
        return;
    case OP_STREAM_QUERY:
        out->code = settled(cu.cuStreamQuery(run.streams[a[0]]));
        return;
    case OP_CTX_SYNC: out->code = (int32_t)cu.cuCtxSynchronize(); return;
    case OP_EVENT_SYNC:
        out->code = (int32_t)cu.cuEventSynchronize(run.events[a[0]]);
        return;
    case OP_EVENT_QUERY: out->code = settled(cu.cuEventQuery(run.events[a[0]])); return;
    case OP_UNSAFE: out->code = (int32_t)try_unsafe(a[0]); return;
    default: out->code = SKIPPED; return;
    }
}

/* ---- user objects ---- */

void CUDA_CB run_object_destroyed(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}

void run_object_step(const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const bool of_graph = step->op >= OP_GRAPH_RETAIN;
    const CUgraph graph = of_graph ? run.graphs[a[0]] : NULL;
    const int slot = of_graph ? a[1] : a[0];
    if ((of_graph && graph == NULL) ||
        (step->op != OP_OBJECT_CREATE && run.objects[slot] == NULL)) {
        out->code = SKIPPED;
        return;
    }
    int32_t by = 0;
    switch (step->op) {
    case OP_OBJECT_CREATE:
        out->code = (int32_t)cu.cuUserObjectCreate(
            &run.objects[slot], &run_destroyed[slot], run_object_destroyed,
            (unsigned)a[1], (unsigned)a[2]);
        by = a[1];
        break;
    case OP_OBJECT_RETAIN:
        out->code = (int32_t)cu.cuUserObjectRetain(run.objects[slot], (unsigned)a[1]);
        by = a[1];
        break;
    case OP_OBJECT_RELEASE:
        out->code = (int32_t)cu.cuUserObjectRelease(run.objects[slot], (unsigned)a[1]);
        by = -a[1];
        break;
    case OP_GRAPH_RETAIN:
        out->code = (int32_t)cu.cuGraphRetainUserObject(graph, run.objects[slot],
                                                        (unsigned)a[2], (unsigned)a[3]);
        by = a[3] == 1 ? -a[2] : 0;
        break;
    default:
        out->code = (int32_t)cu.cuGraphReleaseUserObject(graph, run.objects[slot],
                                                         (unsigned)a[2]);
        break;
    }
    if (out->code == CUDA_SUCCESS)
        run.object_mine[slot] += by;
}

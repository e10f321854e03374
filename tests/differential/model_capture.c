// SPDX-License-Identifier: Apache-2.0
/* The model's streams: work that runs or is captured, events, waits, captures. */
#include "model.h"

#include <string.h>

bool op_is_capture(int op)
{
    return op >= OP_CAPTURE_BEGIN && op <= OP_UNSAFE;
}

/* ---- what captures forbid ---- */

void capture_invalidate(struct mcapture *capture)
{
    capture->invalidated = true;
}

/* All of this program's calls come from one thread: R95 for the thread's own captures. */
CUresult capture_check_unsafe(struct model *model)
{
    CUresult code = CUDA_SUCCESS;
    if (model->thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_SUCCESS;
    for (int i = 0; i < STREAMS; i++) {
        struct mcapture *capture = model->streams[i].capture;
        if (capture == NULL || capture->mode == CU_STREAM_CAPTURE_MODE_RELAXED)
            continue;
        capture_invalidate(capture);
        code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return code;
}

static CUresult find_implicit(struct model *model, int stream, bool harm)
{
    CUresult code = CUDA_SUCCESS;
    for (int i = 0; stream == 0 && i < STREAMS; i++) {
        struct mcapture *capture = model->streams[i].capture;
        if (capture == NULL || !stream_blocks(i))
            continue;
        if (harm)
            capture_invalidate(capture);
        code = CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return code;
}

/* R94: the legacy stream beside a capture in a blocking stream. */
CUresult capture_check_legacy(struct model *model, int stream)
{
    return find_implicit(model, stream, true);
}

static CUresult refuse_on(struct mcapture *capture)
{
    capture_invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* invalid already or not */
}

/* ---- begin, end ---- */

static struct mcapture *begin(struct model *model, int stream, int mode,
                              struct mgraph *graph)
{
    struct mcapture *capture = model_take(model, sizeof(*capture));
    *capture = (struct mcapture){.id = ++model->last_uid,
                                 .graph = graph ? graph : graph_new(model),
                                 .own = graph == NULL,
                                 .origin = stream,
                                 .mode = mode};
    capture->graph->capture = capture;
    model->streams[stream].capture = capture;
    model->streams[stream].frontier.count = 0;
    return capture;
}

static CUresult check_begin(struct model *model, int stream, int mode)
{
    if (mode > CU_STREAM_CAPTURE_MODE_RELAXED)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream == 0) {
        const CUresult implicit = find_implicit(model, stream, true);
        return implicit ? implicit : CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    }
    return model->streams[stream].capture ? CUDA_ERROR_ILLEGAL_STATE : CUDA_SUCCESS;
}

static void capture_begin(struct model *model, const int32_t *a, struct answer *out)
{
    if (model_decide(model, out, check_begin(model, a[0], a[1])))
        begin(model, a[0], a[1], NULL);
}

static bool want_nodes(struct model *model, const int32_t *slots, int count,
                       struct mnode **out)
{
    for (int i = 0; i < count; i++) {
        out[i] = model->nodes[slots[i]];
        if (out[i] == NULL)
            return false;
    }
    return true;
}

static void frontier_add(struct model *model, struct medges *list, struct mnode *node)
{
    if (edges_find(list, node) < 0)
        edges_push(model, list, node, 0);
}

static void capture_to_graph(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph = model->graphs[a[1]];
    struct mnode *deps[DEPS_MAX];
    if (graph == NULL || !want_nodes(model, &a[4], a[3], deps)) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = check_begin(model, a[0], a[2]);
    if (code == CUDA_SUCCESS && graph->capture)
        code = CUDA_ERROR_ILLEGAL_STATE;
    for (int i = 0; i < a[3]; i++)
        if (deps[i]->graph != graph && code == CUDA_SUCCESS)
            code = CUDA_ERROR_INVALID_VALUE;
    if (!model_decide(model, out, code))
        return;
    begin(model, a[0], a[2], graph);
    for (int i = 0; i < a[3]; i++)
        frontier_add(model, &model->streams[a[0]].frontier, deps[i]);
}

static void mark_up(struct mnode *node)
{
    if (node->mark)
        return;
    node->mark = 1;
    for (int i = 0; i < node->deps.count; i++)
        mark_up(node->deps.at[i].node);
}

static bool has_unjoined(const struct model *model, const struct mcapture *capture)
{
    const struct medges *origin = &model->streams[capture->origin].frontier;
    for (int i = 0; i < capture->graph->count; i++)
        capture->graph->nodes[i]->mark = 0;
    for (int i = 0; i < origin->count; i++)
        mark_up(origin->at[i].node);
    for (int s = 0; s < STREAMS; s++)
        for (int i = 0; model->streams[s].capture == capture &&
                        model->streams[s].worked && i < model->streams[s].frontier.count;
             i++)
            if (!model->streams[s].frontier.at[i].node->mark)
                return true;
    return false;
}

static void finish(struct model *model, struct mcapture *capture)
{
    for (int i = 0; i < STREAMS; i++)
        if (model->streams[i].capture == capture) {
            model->streams[i].capture = NULL;
            model->streams[i].frontier.count = 0;
        }
    capture->graph->capture = NULL;
    capture->over = true;
}

static void capture_end(struct model *model, const int32_t *a, struct answer *out)
{
    struct mcapture *capture = model->streams[a[0]].capture;
    if (capture == NULL) {
        model_decide(model, out, CUDA_ERROR_ILLEGAL_STATE);
        return;
    }
    if (capture->origin != a[0]) {
        capture_invalidate(capture);
        model_decide(model, out, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
        return;
    }
    CUresult code = CUDA_SUCCESS;
    if (capture->invalidated)
        code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (has_unjoined(model, capture))
        code = CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
    const struct medges *last = &model->streams[a[0]].frontier;
    for (int i = 0; i < last->count; i++)
        renew_exits(model, &last->at[i].node, 1);
    finish(model, capture);
    struct mgraph *graph = capture->graph;
    if (!model_decide(model, out, code)) {
        if (graph->parent == NULL) /* the caller's graph goes as well */
            graph_drop(model, graph);
        return;
    }
    if (graph->slot < 0) {
        graph->slot = a[1];
        model->graphs[a[1]] = graph;
    }
    answer_push(out, graph->slot);
}

/* ---- questions and edits ---- */

static int status_of(const struct mcapture *capture)
{
    if (capture == NULL)
        return CU_STREAM_CAPTURE_STATUS_NONE;
    return capture->invalidated ? CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                : CU_STREAM_CAPTURE_STATUS_ACTIVE;
}

static void capture_ask(struct model *model, const struct step *step, struct answer *out)
{
    const struct mstream *stream = &model->streams[step->a[0]];
    if (!model_decide(model, out, find_implicit(model, step->a[0], false)))
        return;
    const int status = status_of(stream->capture);
    answer_push(out, status);
    if (step->op != OP_CAPTURE_INFO || status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return;
    answer_push(out, stream->frontier.count);
    for (int i = 0; i < stream->frontier.count; i++)
        answer_push(out, stream->frontier.at[i].node->slot);
}

static void capture_deps(struct model *model, const int32_t *a, struct answer *out)
{
    struct mstream *stream = &model->streams[a[0]];
    struct mcapture *capture = stream->capture;
    struct mnode *deps[DEPS_MAX];
    if (!want_nodes(model, &a[3], a[2], deps)) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = find_implicit(model, a[0], true);
    if (code == CUDA_SUCCESS && capture == NULL)
        code = CUDA_ERROR_ILLEGAL_STATE;
    else if (code == CUDA_SUCCESS && capture->invalidated)
        code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    else if (code == CUDA_SUCCESS && a[1] > 1)
        code = CUDA_ERROR_INVALID_VALUE;
    for (int i = 0; i < a[2] && code == CUDA_SUCCESS; i++)
        if (deps[i]->graph != capture->graph)
            code = CUDA_ERROR_INVALID_VALUE;
    if (!model_decide(model, out, code))
        return;
    if (a[1] == CU_STREAM_SET_CAPTURE_DEPENDENCIES)
        stream->frontier.count = 0;
    for (int i = 0; i < a[2]; i++)
        frontier_add(model, &stream->frontier, deps[i]);
}

static void exchange_mode(struct model *model, const int32_t *a, struct answer *out)
{
    if (!model_decide(model, out, CUDA_SUCCESS))
        return;
    answer_push(out, model->thread_mode);
    model->thread_mode = a[0];
}

/* ---- work ---- */

static struct mnode *capture_node(struct model *model, int stream,
                                  const struct work *work)
{
    struct mstream *s = &model->streams[stream];
    struct mnode *node = node_new(model, s->capture->graph, work);
    node->captured = true;
    if (work->kind == WORK_MEMCPY && work->p[3] == 1)
        node->work.p[5] |= 1; /* cuMemcpyAsync() knows addresses alone */
    for (int i = 0; i < s->frontier.count; i++)
        link_add(model, s->frontier.at[i].node, node, s->frontier.at[i].data);
    s->frontier.count = 0;
    edges_push(model, &s->frontier, node, 0);
    s->worked = true;
    return node;
}

/* C12, C13: which wrong work invalidates the capture. */
static CUresult check_work(struct model *model, int stream, const struct work *work)
{
    struct mcapture *capture = model->streams[stream].capture;
    if (work->kind == WORK_HOST && work->bad != BAD_NOTHING)
        return CUDA_ERROR_INVALID_VALUE;
    const CUresult implicit = capture_check_legacy(model, stream);
    if (implicit != CUDA_SUCCESS)
        return implicit;
    if (work->bad == BAD_NOTHING)
        return capture && capture->invalidated ? CUDA_ERROR_STREAM_CAPTURE_INVALIDATED
                                               : CUDA_SUCCESS;
    if (capture && capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (capture && work->kind == WORK_MEMSET)
        return CUDA_SUCCESS; /* looked at later */
    if (capture && work->kind == WORK_KERNEL)
        capture_invalidate(capture);
    return CUDA_ERROR_INVALID_VALUE;
}

/* cuMemAllocAsync, cuMemFreeAsync: of graph memory here. */
static CUresult check_memory(struct model *model, int stream, const struct work *work)
{
    const struct mcapture *capture = model->streams[stream].capture;
    const CUresult code = check_work(model, stream, work);
    if (code != CUDA_SUCCESS || (work->kind != WORK_ALLOC && work->kind != WORK_FREE))
        return code;
    if (capture)
        return memory_check_node(model, capture->graph, work);
    const CUresult unsafe_code = capture_check_unsafe(model);
    if (unsafe_code != CUDA_SUCCESS || work->kind == WORK_ALLOC)
        return unsafe_code;
    const int slot = BUFFER_OF(work->p[0]) - BUFFER_ALLOC;
    const bool live = slot >= 0 && slot < ALLOCS && model->allocs[slot].live;
    return live ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void try_captured(struct model *model, int stream, const struct work *work,
                         CUresult code)
{
    const struct mstream *s = &model->streams[stream];
    if (model->lost || s->capture == NULL || !work_leaves_trace(work, code))
        return;
    s->capture->graph->tried = true;
    struct mnode *nodes[64];
    int count = 0;
    for (; count < s->frontier.count && count < 64; count++)
        nodes[count] = s->frontier.at[count].node;
    renew_exits(model, nodes, count);
}

static void stream_work(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const struct work work = step_work(step);
    const CUresult code = check_memory(model, a[0], &work);
    if (!model_decide(model, out, code)) {
        try_captured(model, a[0], &work, code);
        return;
    }
    if (model->streams[a[0]].capture) {
        struct mnode *node = capture_node(model, a[0], &work);
        node->slot = a[1];
        model->nodes[a[1]] = node;
        memory_added(model, node->graph, &work);
        answer_push(out, a[1]);
        return;
    }
    order_submit(model, a[0]);
    order_note(model, &work, a[0]);
    work_run(model, &work);
}

/* ---- events ---- */

static void event_record(struct model *model, const int32_t *a, struct answer *out)
{
    struct mevent *event = &model->events[a[0]];
    struct mstream *stream = &model->streams[a[1]];
    CUresult code = capture_check_legacy(model, a[1]);
    if (code == CUDA_SUCCESS && a[2] > 1)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && stream->capture && stream->capture->invalidated)
        code = CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (code == CUDA_SUCCESS && a[2] == 1 && stream->capture == NULL)
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (!model_decide(model, out, code))
        return;
    if (stream->capture && a[2] == 1) {
        const struct work work = {.kind = WORK_RECORD, .p = {a[0]}};
        capture_node(model, a[1], &work);
        return;
    }
    event->state = stream->capture ? EVENT_CAPTURED : EVENT_RECORDED;
    event->capture = stream->capture;
    event->frontier.count = 0;
    if (stream->capture) {
        for (int i = 0; i < stream->frontier.count; i++)
            edges_push(model, &event->frontier, stream->frontier.at[i].node, 0);
        return;
    }
    order_submit(model, a[1]);
    event->clock = stream->clock;
}

/* Of a wait on an event that some capture recorded. */
static CUresult check_captured(struct model *model, struct mstream *stream,
                               const struct mevent *event)
{
    struct mcapture *mine = stream->capture, *theirs = event->capture;
    if (mine && mine->invalidated)
        return theirs->over ? CUDA_ERROR_INVALID_VALUE
                            : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    if (theirs->over || theirs->invalidated) {
        if (mine)
            capture_invalidate(mine);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (mine && mine != theirs) {
        capture_invalidate(mine);
        capture_invalidate(theirs);
        return CUDA_ERROR_STREAM_CAPTURE_MERGE;
    }
    if (stream == &model->streams[0]) {
        capture_invalidate(theirs);
        return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    }
    return CUDA_SUCCESS;
}

static CUresult check_wait(struct model *model, const int32_t *a)
{
    struct mstream *stream = &model->streams[a[0]];
    const struct mevent *event = &model->events[a[1]];
    const CUresult implicit = capture_check_legacy(model, a[0]);
    if (implicit != CUDA_SUCCESS)
        return implicit;
    if (a[2] > 1)
        return CUDA_ERROR_INVALID_VALUE;
    if (stream->capture && stream->capture->invalidated)
        return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
    const bool is_over = event->state == EVENT_CAPTURED &&
                         (event->capture->over || event->capture->invalidated);
    if (a[2] == 1 && stream->capture == NULL)
        return is_over ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_ILLEGAL_STATE;
    if (a[2] == 1 && is_over) {
        capture_invalidate(stream->capture);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (a[2] == 1)
        return CUDA_SUCCESS;
    if (event->state == EVENT_CAPTURED)
        return check_captured(model, stream, event);
    if (event->state == EVENT_RECORDED && stream->capture) {
        capture_invalidate(stream->capture);
        return CUDA_ERROR_STREAM_CAPTURE_ISOLATION;
    }
    return CUDA_SUCCESS;
}

static void stream_wait(struct model *model, const int32_t *a, struct answer *out)
{
    struct mstream *stream = &model->streams[a[0]];
    const struct mevent *event = &model->events[a[1]];
    if (!model_decide(model, out, check_wait(model, a)))
        return;
    if (a[2] == 1) {
        const struct work work = {.kind = WORK_WAIT, .p = {a[1]}};
        capture_node(model, a[0], &work);
    } else if (event->state == EVENT_CAPTURED) {
        if (stream->capture == NULL) {
            stream->capture = event->capture;
            stream->frontier.count = 0;
            stream->worked = false;
        }
        for (int i = 0; i < event->frontier.count; i++)
            frontier_add(model, &stream->frontier, event->frontier.at[i].node);
    } else if (event->state == EVENT_RECORDED) {
        order_submit(model, a[0]);
        clock_join(&stream->clock, &event->clock);
    }
}

/* ---- waiting on the host ---- */

static void stream_sync(struct model *model, const struct step *step, struct answer *out)
{
    struct mcapture *capture = model->streams[step->a[0]].capture;
    CUresult code = capture_check_legacy(model, step->a[0]);
    if (code == CUDA_SUCCESS && capture)
        code = refuse_on(capture);
    if (code == CUDA_SUCCESS)
        code = capture_check_unsafe(model);
    if (model_decide(model, out, code) && step->op == OP_STREAM_SYNC)
        order_sync(model, step->a[0]);
}

static void ctx_sync(struct model *model, struct answer *out)
{
    CUresult code = CUDA_SUCCESS;
    for (int i = 0; i < STREAMS; i++)
        if (model->streams[i].capture) {
            capture_invalidate(model->streams[i].capture);
            code = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
        }
    if (model_decide(model, out, code))
        order_sync_all(model);
}

static void event_sync(struct model *model, const struct step *step, struct answer *out)
{
    struct mevent *event = &model->events[step->a[0]];
    CUresult code;
    if (event->state != EVENT_CAPTURED) {
        code = capture_check_unsafe(model);
    } else if (event->capture->over || event->capture->invalidated) {
        code = CUDA_ERROR_INVALID_VALUE;
    } else {
        code = CUDA_ERROR_CAPTURED_EVENT;
        capture_invalidate(event->capture);
    }
    if (model_decide(model, out, code) && step->op == OP_EVENT_SYNC)
        clock_join(&model->done, &event->clock);
}

/* The first two are unsafe in a capture, the others are not. */
static void unsafe_call(struct model *model, const int32_t *a, struct answer *out)
{
    model_decide(model, out, a[0] < 2 ? capture_check_unsafe(model) : CUDA_SUCCESS);
}

void op_capture(struct model *model, const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_CAPTURE_BEGIN: capture_begin(model, step->a, out); return;
    case OP_CAPTURE_TO_GRAPH: capture_to_graph(model, step->a, out); return;
    case OP_CAPTURE_END: capture_end(model, step->a, out); return;
    case OP_CAPTURE_INFO:
    case OP_IS_CAPTURING: capture_ask(model, step, out); return;
    case OP_CAPTURE_DEPS: capture_deps(model, step->a, out); return;
    case OP_EXCHANGE_MODE: exchange_mode(model, step->a, out); return;
    case OP_WORK: stream_work(model, step, out); return;
    case OP_EVENT_RECORD: event_record(model, step->a, out); return;
    case OP_STREAM_WAIT: stream_wait(model, step->a, out); return;
    case OP_STREAM_SYNC:
    case OP_STREAM_QUERY: stream_sync(model, step, out); return;
    case OP_CTX_SYNC: ctx_sync(model, out); return;
    case OP_EVENT_SYNC:
    case OP_EVENT_QUERY: event_sync(model, step, out); return;
    default: unsafe_call(model, step->a, out); return;
    }
}

// SPDX-License-Identifier: Apache-2.0
/* The model's executables: instantiate, launch, upload, per-node changes. */
#include "model.h"

#include <string.h>

bool op_is_exec(int op)
{
    return op >= OP_INSTANTIATE && op <= OP_GET_ENABLED;
}

static struct mnode *exec_find(const struct mgraph *graph, uint32_t uid)
{
    for (int i = 0; i < graph->count; i++) {
        struct mnode *node = graph->nodes[i];
        if (node->origin == uid)
            return node;
        node = node->child ? exec_find(node->child, uid) : NULL;
        if (node)
            return node;
    }
    return NULL;
}

/* ---- instantiate ---- */

/* Unknown ones are seen first. */
static bool are_flags(uint64_t flags, int api)
{
    return flags < 16 && (api || !(flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD));
}

static CUresult check_flags(uint64_t flags, int api)
{
    const uint64_t both = CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                          CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH;
    if (flags > 15 || (flags & both) == both)
        return CUDA_ERROR_INVALID_VALUE;
    if (api == 0 && (flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static CUresult check_stream(struct model *model, int stream)
{
    const CUresult code = capture_check_legacy(model, stream);
    struct mcapture *capture = model->streams[stream].capture;
    if (code != CUDA_SUCCESS || capture == NULL)
        return code;
    capture_invalidate(capture);
    return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED; /* invalid already or not */
}

/* A captured fill of what belongs to nobody is looked at here for the first time. */
static bool fills_nothing(const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i]->work.bad ||
            (graph->nodes[i]->child && fills_nothing(graph->nodes[i]->child)))
            return true;
    return false;
}

static void instantiate(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph = a[1] == NONE ? NULL : model->graphs[a[1]];
    if (graph == NULL && a[1] != NONE) {
        out->code = SKIPPED;
        return;
    }
    const bool uploads = a[3] == 1 && (a[2] & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    if (are_flags((uint64_t)a[2], a[3])) {
        const CUresult disturbs =
            uploads ? check_stream(model, a[4]) : capture_check_unsafe(model);
        code = disturbs || graph ? disturbs : CUDA_ERROR_INVALID_VALUE;
    }
    if (code == CUDA_SUCCESS)
        code = check_flags((uint64_t)a[2], a[3]);
    if (code == CUDA_SUCCESS && graph->parent)
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (code == CUDA_SUCCESS && graph_has_memory(graph) && graph->exec)
        code = CUDA_ERROR_NOT_SUPPORTED;
    const bool tried = code == CUDA_SUCCESS;
    if (code == CUDA_SUCCESS && (graph_has_cycle(model, graph) || fills_nothing(graph)))
        code = CUDA_ERROR_INVALID_VALUE;
    const bool good = model_decide(model, out, code);
    if (a[3] == 1)
        out->count = UNKNOWN; /* which node of a cycle is named is a driver's own */
    if (tried && !model->lost)
        memory_instantiated(model, graph); /* also where it fails */
    if (!good)
        return;
    struct mexec *exec = model_take(model, sizeof(*exec));
    *exec = (struct mexec){
        .graph = graph_copy(model, graph), .source = graph->uid, .flags = (uint64_t)a[2]};
    exec->racy = graph_is_racy(model, exec->graph);
    if (graph_has_memory(graph)) {
        graph->exec = exec;
        exec->owner = graph;
    }
    model->execs[a[0]] = exec;
    if (uploads)
        memory_wanted(model, exec);
}

static void exec_destroy(struct model *model, const int32_t *a, struct answer *out)
{
    struct mexec *exec = model->execs[a[0]];
    if (exec == NULL) {
        out->code = SKIPPED;
        return;
    }
    if (!model_decide(model, out, capture_check_unsafe(model)))
        return;
    if (exec->owner && exec->owner->exec == exec)
        exec->owner->exec = NULL;
    graph_drop(model, exec->graph);
    model->execs[a[0]] = NULL;
    memory_exec_gone(model);
}

static void exec_flags(struct model *model, const int32_t *a, struct answer *out)
{
    const struct mexec *exec = model->execs[a[0]];
    if (exec == NULL) {
        out->code = SKIPPED;
        return;
    }
    if (model_decide(model, out, CUDA_SUCCESS))
        answer_push(out, (int32_t)(exec->flags &
                                   (CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH |
                                    CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH)));
}

/* ---- launch, upload ---- */

static void record_events(struct model *model, const struct mgraph *graph,
                          const struct mclock *clock)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if (node->child)
            record_events(model, node->child, clock);
        else if (node->work.kind == WORK_RECORD)
            model->events[node->work.p[0]].clock = *clock;
    }
}

static void launch(struct model *model, const int32_t *a, struct answer *out)
{
    struct mexec *exec = a[0] == NONE ? NULL : model->execs[a[0]];
    if (exec == NULL && a[0] != NONE) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = exec ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = check_stream(model, a[1]);
    if (code == CUDA_SUCCESS) {
        memory_wanted(model, exec);
        code = memory_check_launch(model, exec);
    }
    if (!model_decide(model, out, code))
        return;
    memory_launched(model, exec, exec->graph);
    struct mclock *clock = &model->streams[a[1]].clock;
    if (!graph_works(exec->graph)) { /* an H100 orders launches of nothing by nothing */
        record_events(model, exec->graph, &(struct mclock){{0}});
        graph_run(model, exec->graph);
        return;
    }
    order_submit(model, a[1]);
    struct mclock before = *clock;
    before.at[a[1]]--; /* an event node may record before anything else has run */
    clock_join(clock, &exec->clock);
    order_note_graph(model, exec->graph, a[1]);
    exec->clock = *clock;
    record_events(model, exec->graph, &before);
    graph_run(model, exec->graph);
}

static void upload(struct model *model, const int32_t *a, struct answer *out)
{
    if (model->execs[a[0]] == NULL) {
        out->code = SKIPPED;
        return;
    }
    if (model_decide(model, out, check_stream(model, a[1]))) /* orders nothing */
        memory_wanted(model, model->execs[a[0]]);
}

/* ---- one node ---- */

static bool is_host(int32_t address)
{
    const int buffer = BUFFER_OF(address);
    return buffer >= BUFFER_PINNED && buffer < BUFFER_FIXED;
}

/* Memory of a context, of a pool, of a graph (U07 and what an H100 adds to it). */
static int backing_of(int32_t address)
{
    const int buffer = BUFFER_OF(address);
    if (buffer >= BUFFER_ALLOC)
        return 2;
    return buffer >= BUFFER_POOL && buffer < BUFFER_PINNED;
}

static bool same_operand(int32_t a, int32_t b, bool unified)
{
    return backing_of(a) == backing_of(b) && (unified || is_host(a) == is_host(b));
}

/* A copy of several rows stays as it is; of one row the declared kinds stay. */
static bool copy_may_change(const int32_t *p, const int32_t *q)
{
    const bool unified = p[5] & 1;
    if (p[3] != 1 || q[3] != 1)
        return memcmp(p, q, WORK_PARAMS * sizeof(*p)) == 0;
    return unified == (q[5] & 1) && same_operand(p[0], q[0], unified) &&
           same_operand(p[1], q[1], unified);
}

CUresult exec_node_change(const struct mnode *old, const struct work *work)
{
    const int32_t *p = old->work.p, *q = work->p;
    switch (work->kind) {
    case WORK_MEMCPY:
        return copy_may_change(p, q) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case WORK_BATCH: return p[2] == q[2] ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case WORK_MEMSET:
        if (p[4] != q[4] || (p[4] > 1 && (p[2] != q[2] || p[3] != q[3])))
            return CUDA_ERROR_INVALID_VALUE;
        return CUDA_SUCCESS;
    default: return CUDA_SUCCESS;
    }
}

static void exec_set(struct model *model, const struct step *step, struct answer *out)
{
    struct mexec *exec = model->execs[step->a[0]];
    struct mnode *node = model->nodes[step->a[1]];
    const struct work work = step_work(step);
    struct mgraph *child =
        work.kind == WORK_CHILD && work.p[0] >= 0 ? model->graphs[work.p[0]] : NULL;
    if (exec == NULL || node == NULL ||
        (work.kind == WORK_CHILD && work.p[0] >= 0 && child == NULL)) {
        out->code = SKIPPED;
        return;
    }
    struct mnode *mine = exec_find(exec->graph, node->uid);
    CUresult code = CUDA_SUCCESS;
    if (child && graph_has_memory(child))
        code = CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
    else if (mine == NULL || mine->work.kind != work.kind)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS)
        code = work_check(model, &work);
    if (code == CUDA_SUCCESS && work.kind == WORK_CHILD)
        code = child ? child_check(exec, mine->child, child) : CUDA_ERROR_INVALID_VALUE;
    else if (code == CUDA_SUCCESS)
        code = exec_node_change(mine, &work);
    if (mine && (work.kind == WORK_ALLOC || work.kind == WORK_FREE))
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (!model_decide(model, out, code))
        return;
    if (child)
        child_take(exec, mine->child, child);
    else
        mine->work = work;
    exec->racy = graph_is_racy(model, exec->graph);
}

static void enabled(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    struct mexec *exec = model->execs[a[0]];
    const struct mnode *node = model->nodes[a[1]];
    if (exec == NULL || node == NULL) {
        out->code = SKIPPED;
        return;
    }
    struct mnode *mine = exec_find(exec->graph, node->uid);
    const bool able = mine && mine->work.kind <= WORK_MEMSET;
    if (!model_decide(model, out, able ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    if (step->op == OP_SET_ENABLED) {
        mine->enabled = a[2] != 0;
        exec->racy = graph_is_racy(model, exec->graph);
    } else {
        answer_push(out, mine->enabled);
    }
}

void op_exec(struct model *model, const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_INSTANTIATE: instantiate(model, step->a, out); return;
    case OP_EXEC_DESTROY: exec_destroy(model, step->a, out); return;
    case OP_EXEC_FLAGS: exec_flags(model, step->a, out); return;
    case OP_LAUNCH: launch(model, step->a, out); return;
    case OP_UPLOAD: upload(model, step->a, out); return;
    case OP_EXEC_UPDATE: op_update(model, step, out); return;
    case OP_EXEC_SET: exec_set(model, step, out); return;
    default: enabled(model, step, out); return;
    }
}

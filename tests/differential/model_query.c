// SPDX-License-Identifier: Apache-2.0
/* What the model answers to questions: nodes, edges, types, parameters. */
#include "model.h"

bool op_is_query(int op)
{
    return op == OP_DOT || op == OP_GET_PRIORITY ||
           (op >= OP_GET_NODES && op <= OP_GET_PARAMS);
}

static int slot_of(const struct mnode *node)
{
    return node->slot;
}

static void get_nodes(struct model *model, const struct mgraph *graph, int32_t first,
                      struct answer *out)
{
    if (!model_decide(model, out, graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    answer_push(out, graph->count);
    for (int i = 0; i < graph->count; i++) {
        struct mnode *node = graph->nodes[i];
        if (node->slot < 0 && first >= 0 && first < NODES) {
            node->slot = first;
            model->nodes[first++] = node;
        }
        answer_push(out, slot_of(node));
    }
}

/* A list by the count protocol: `room` -1 asks for the count; 64 asks for edge data. */
static void push_list(struct answer *out, const struct mnode *const *nodes, int count,
                      int32_t room)
{
    const int places = room < 0 ? 0 : room & 63;
    answer_push(out, room < 0 || count < places ? count : places);
    for (int i = 0; i < places; i++)
        answer_push(out, i < count ? slot_of(nodes[i]) : NONE);
    if (places > 0 && count > 1)
        out->count = UNKNOWN; /* the order is a driver's own */
}

static void get_roots(struct model *model, const struct mgraph *graph, int32_t room,
                      struct answer *out)
{
    const struct mnode *roots[NODES];
    int count = 0;
    if (!model_decide(model, out, graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    for (int i = 0; i < graph->count && count < NODES; i++)
        if (graph->nodes[i]->deps.count == 0)
            roots[count++] = graph->nodes[i];
    push_list(out, roots, count, room);
}

static bool has_data(const struct medges *list, int places)
{
    for (int i = 0; i < list->count && i < places; i++)
        if (list->at[i].data)
            return true;
    return false;
}

static void get_edges(struct model *model, const struct mgraph *graph, int32_t room,
                      struct answer *out)
{
    CUresult code = graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    const int places = room < 0 ? 0 : room & 63;
    int count = 0;
    for (int i = 0; graph && i < graph->count; i++) { /* from each node, in their order */
        const struct medges *list = &graph->nodes[i]->dependents;
        for (int k = 0; k < list->count; k++)
            if (count++ < places && !(room & 64) && list->at[k].data)
                code = CUDA_ERROR_LOSSY_QUERY;
    }
    if (!model_decide(model, out, code))
        return;
    answer_push(out, room < 0 || count < places ? count : places);
    if (places > 0)
        out->count = UNKNOWN; /* the order of edges is a driver's own */
}

static void get_ends(struct model *model, const struct medges *list, int32_t room,
                     struct answer *out)
{
    const bool lossy = room >= 0 && !(room & 64) && has_data(list, room);
    const struct mnode *nodes[NODES];
    if (!model_decide(model, out, lossy ? CUDA_ERROR_LOSSY_QUERY : CUDA_SUCCESS))
        return;
    for (int i = 0; i < list->count && i < NODES; i++)
        nodes[i] = list->at[i].node;
    push_list(out, nodes, list->count, room);
}

/* Two allocations may share an address, so all of them read the same. */
static int32_t seen(int32_t address)
{
    return BUFFER_OF(address) >= BUFFER_ALLOC ? ADDRESS(BUFFER_ALLOC, 0) : address;
}

static void push_kernel(const struct work *work, struct answer *out)
{
    const int32_t *p = work->p;
    answer_push(out, p[0]);
    answer_push(out, 1);
    answer_push(out, p[0] == KERNEL_ATOMIC ? 64 : 16);
    answer_push(out, seen(p[1]));
    if (p[0] == KERNEL_MIX || p[0] == KERNEL_ADD || p[0] == KERNEL_FLOAT)
        answer_push(out, seen(p[2]));
    if (p[0] == KERNEL_ADD || p[0] == KERNEL_FLOAT)
        answer_push(out, seen(p[3]));
    if (p[0] != KERNEL_ADD && p[0] != KERNEL_FLOAT)
        answer_push(out, p[4]);
}

static void get_params(struct model *model, const struct mnode *node, int32_t kind,
                       struct answer *out)
{
    const bool same = node->work.kind == kind;
    if (!model_decide(model, out, same ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    const int32_t *p = node->work.p;
    switch (kind) {
    case WORK_KERNEL: push_kernel(&node->work, out); return;
    case WORK_HOST:
        for (int i = 0; i < 3; i++)
            answer_push(out, p[i]);
        return;
    case WORK_WAIT:
    case WORK_RECORD: answer_push(out, p[0]); return;
    default: out->count = UNKNOWN; return;
    }
}

void op_query(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const bool of_graph = step->op == OP_GET_NODES || step->op == OP_GET_ROOTS ||
                          step->op == OP_GET_EDGES || step->op == OP_DOT;
    const struct mgraph *graph = of_graph && a[0] >= 0 ? model->graphs[a[0]] : NULL;
    const struct mnode *node = of_graph ? NULL : model->nodes[a[0]];
    if (of_graph ? graph == NULL && a[0] != NONE : node == NULL) {
        out->code = SKIPPED;
        return;
    }
    switch (step->op) {
    case OP_GET_NODES: get_nodes(model, graph, a[1], out); return;
    case OP_GET_ROOTS: get_roots(model, graph, a[1], out); return;
    case OP_GET_EDGES: get_edges(model, graph, a[1], out); return;
    case OP_NODE_DEPS: get_ends(model, &node->deps, a[1], out); return;
    case OP_NODE_DEPENDENTS: get_ends(model, &node->dependents, a[1], out); return;
    case OP_GET_PARAMS: get_params(model, node, a[1], out); return;
    case OP_GET_PRIORITY:
        model_decide(model, out,
                     node->work.kind == WORK_KERNEL ? CUDA_SUCCESS
                                                    : CUDA_ERROR_INVALID_VALUE);
        out->count = UNKNOWN; /* clamped as the device has it */
        return;
    case OP_DOT:
        model_decide(model, out, graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        return;
    default:
        if (model_decide(model, out, CUDA_SUCCESS))
            answer_push(out, node->work.kind);
        return;
    }
}

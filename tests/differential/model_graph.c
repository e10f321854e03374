// SPDX-License-Identifier: Apache-2.0
/* The model's graphs: nodes and edges, clones, children. */
#include "model.h"

#include <string.h>

/* ---- edges ---- */

void edges_push(struct model *model, struct medges *list, struct mnode *node,
                int32_t data)
{
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 4;
        struct medge *fresh = model_take(model, (size_t)capacity * sizeof(*fresh));
        if (list->count)
            memcpy(fresh, list->at, (size_t)list->count * sizeof(*fresh));
        list->at = fresh;
        list->capacity = capacity;
    }
    list->at[list->count++] = (struct medge){node, data};
}

int edges_find(const struct medges *list, const struct mnode *node)
{
    for (int i = 0; i < list->count; i++)
        if (list->at[i].node == node)
            return i;
    return -1;
}

/* The last one takes its place, as updates on an H100 show. */
static void edges_remove(struct medges *list, const struct mnode *node)
{
    const int at = edges_find(list, node);
    if (at >= 0)
        list->at[at] = list->at[--list->count];
}

void link_add(struct model *model, struct mnode *from, struct mnode *to, int32_t data)
{
    edges_push(model, &to->deps, from, data);
    edges_push(model, &from->dependents, to, data);
}

void link_remove(struct model *model, struct mnode *from, struct mnode *to)
{
    edges_remove(&to->deps, from);
    edges_remove(&from->dependents, to);
    if (from->dependents.count == 0)
        from->exit_since = ++model->last_uid;
}

/* ---- objects ---- */

struct mgraph *graph_new(struct model *model)
{
    struct mgraph *graph = model_take(model, sizeof(*graph));
    *graph = (struct mgraph){.uid = ++model->last_uid, .slot = MISSING};
    return graph;
}

struct mnode *node_new(struct model *model, struct mgraph *graph, const struct work *work)
{
    struct mnode *node = model_take(model, sizeof(*node));
    *node = (struct mnode){.uid = ++model->last_uid,
                           .slot = MISSING,
                           .enabled = true,
                           .graph = graph,
                           .work = *work,
                           .alloc = MISSING};
    node->exit_since = node->uid;
    if (graph->count == graph->capacity) {
        const int capacity = graph->capacity ? 2 * graph->capacity : 8;
        struct mnode **fresh =
            model_take(model, (size_t)capacity * sizeof(struct mnode *));
        if (graph->count)
            memcpy(fresh, graph->nodes, (size_t)graph->count * sizeof(struct mnode *));
        graph->nodes = fresh;
        graph->capacity = capacity;
    }
    node->place = graph->count;
    graph->nodes[graph->count++] = node;
    return node;
}

/* Nodes keep their order; `origin` says where each comes from. */
struct mgraph *graph_copy(struct model *model, const struct mgraph *from)
{
    struct mgraph *graph = graph_new(model);
    graph->clone_of = from->uid;
    for (int i = 0; i < from->count; i++) {
        const struct mnode *old = from->nodes[i];
        struct mnode *node = node_new(model, graph, &old->work);
        node->origin = old->uid;
        node->captured = old->captured;
        node->priority = old->priority;
        node->alloc = old->alloc;
        node->exit_since = old->exit_since;
        if (old->child) {
            node->child = graph_copy(model, old->child);
            node->child->parent = node;
        }
    }
    for (int i = 0; i < from->count; i++) {
        const struct mnode *old = from->nodes[i];
        for (int k = 0; k < old->deps.count; k++)
            edges_push(model, &graph->nodes[i]->deps,
                       graph->nodes[old->deps.at[k].node->place], old->deps.at[k].data);
        for (int k = 0; k < old->dependents.count; k++)
            edges_push(model, &graph->nodes[i]->dependents,
                       graph->nodes[old->dependents.at[k].node->place],
                       old->dependents.at[k].data);
    }
    for (int i = 0; i < OBJECTS; i++)
        if (from->objects[i]) {
            graph->objects[i] = from->objects[i];
            object_change(model, i, from->objects[i]);
        }
    return graph;
}

static void forget_node(struct model *model, struct mnode *node)
{
    node->dead = true;
    if (node->slot >= 0)
        model->nodes[node->slot] = NULL;
    if (node->child)
        graph_drop(model, node->child);
}

void graph_drop(struct model *model, struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++)
        forget_node(model, graph->nodes[i]);
    if (graph->slot >= 0)
        model->graphs[graph->slot] = NULL;
    memory_graph_gone(model, graph);
    for (int i = 0; i < OBJECTS; i++)
        if (graph->objects[i])
            object_change(model, i, -graph->objects[i]);
}

void node_drop(struct model *model, struct mgraph *graph, struct mnode *node)
{
    const struct medges deps = node->deps;
    for (int i = 0; i < deps.count; i++) { /* in their order: they become exits */
        struct mnode *from = deps.at[i].node;
        edges_remove(&from->dependents, node);
        if (from->dependents.count == 0)
            from->exit_since = ++model->last_uid;
    }
    while (node->dependents.count)
        link_remove(model, node, node->dependents.at[0].node);
    for (int i = node->place; i + 1 < graph->count; i++) {
        graph->nodes[i] = graph->nodes[i + 1];
        graph->nodes[i]->place = i;
    }
    graph->count--;
}

void renew_exits(struct model *model, struct mnode *const *nodes, int count)
{
    for (int i = 0; i < count; i++) {
        struct mnode *node = nodes[i == 0 ? 0 : count - i]; /* the last moves up */
        if (node->dependents.count == 0)
            node->exit_since = ++model->last_uid;
    }
}

bool work_leaves_trace(const struct work *work, CUresult code)
{
    return (work->kind == WORK_FREE && code == CUDA_ERROR_INVALID_VALUE) ||
           (work->kind == WORK_ALLOC && code == CUDA_ERROR_OUT_OF_MEMORY);
}

bool graph_has_memory(const struct mgraph *graph)
{
    if (graph->tried)
        return true;
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if (node->work.kind == WORK_ALLOC || node->work.kind == WORK_FREE ||
            (node->child && graph_has_memory(node->child)))
            return true;
    }
    return false;
}

static bool reaches(struct mnode *from, const struct mnode *to)
{
    if (from->mark)
        return false;
    from->mark = 1;
    for (int i = 0; i < from->deps.count; i++)
        if (from->deps.at[i].node == to || reaches(from->deps.at[i].node, to))
            return true;
    return false;
}

bool graph_has_cycle(struct model *model, const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        for (int k = 0; k < graph->count; k++)
            graph->nodes[k]->mark = 0;
        if (reaches(graph->nodes[i], graph->nodes[i]))
            return true;
        if (graph->nodes[i]->child && graph_has_cycle(model, graph->nodes[i]->child))
            return true;
    }
    return false;
}

/* ---- parameters ---- */

CUresult work_check(const struct model *model, const struct work *work)
{
    (void)model;
    if (work->kind == WORK_ALLOC && work->bad == BAD_SHAPE)
        return CUDA_ERROR_OUT_OF_MEMORY; /* of SIZE_MAX bytes */
    if (work->kind == WORK_ALLOC && work->bad == BAD_NOBODY)
        return CUDA_ERROR_NOT_SUPPORTED; /* with a handle type */
    if (work->bad != BAD_NOTHING)
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

/* ---- steps ---- */

bool op_is_graph(int op)
{
    return (op >= OP_GRAPH_CREATE && op <= OP_REMOVE_EDGES) || op == OP_SET_PARAMS ||
           op == OP_CHILD_GRAPH || op == OP_SET_PRIORITY || op == OP_COPY_ATTRIBUTES;
}

/* False: the step names a slot that is empty. */
static bool want_graph(struct model *model, int32_t slot, struct mgraph **out)
{
    *out = slot == NONE ? NULL : model->graphs[slot];
    return slot == NONE || *out != NULL;
}

static void put_graph(struct model *model, int32_t slot, struct mgraph *graph)
{
    model->graphs[slot] = graph;
    graph->slot = slot;
}

static void put_node(struct model *model, int32_t slot, struct mnode *node)
{
    model->nodes[slot] = node;
    node->slot = slot;
}

static void graph_create(struct model *model, const int32_t *a, struct answer *out)
{
    if (model_decide(model, out, a[1] ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS))
        put_graph(model, a[0], graph_new(model));
}

static void graph_destroy(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph;
    if (!want_graph(model, a[0], &graph)) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = CUDA_SUCCESS;
    if (graph && graph->capture)
        code = CUDA_ERROR_ILLEGAL_STATE;
    else if (graph == NULL || graph->parent)
        code = CUDA_ERROR_INVALID_VALUE;
    if (model_decide(model, out, code))
        graph_drop(model, graph);
}

static void graph_clone(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph;
    if (!want_graph(model, a[1], &graph)) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    if (graph && graph_has_memory(graph))
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (model_decide(model, out, code))
        put_graph(model, a[0], graph_copy(model, graph));
}

static struct mnode *find_origin(const struct mgraph *graph, uint32_t uid)
{
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i]->origin == uid)
            return graph->nodes[i];
    return NULL;
}

static void find_in_clone(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph;
    struct mnode *node = model->nodes[a[1]];
    if (!want_graph(model, a[2], &graph) || node == NULL) {
        out->code = SKIPPED;
        return;
    }
    struct mnode *found = NULL;
    if (graph && graph->clone_of == node->graph->uid)
        found = find_origin(graph, node->uid);
    if (!model_decide(model, out, found ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    answer_push(out, found->slot); /* MISSING if not seen before */
    if (found->slot < 0)
        put_node(model, a[0], found);
}

/* The dependencies of a step; false: one is missing. */
static bool want_deps(struct model *model, const int32_t *slots, int count,
                      struct mnode **out)
{
    for (int i = 0; i < count; i++) {
        out[i] = model->nodes[slots[i]];
        if (out[i] == NULL)
            return false;
    }
    return true;
}

static CUresult check_deps(const struct mgraph *graph, struct mnode *const *deps,
                           int count)
{
    for (int i = 0; i < count; i++) {
        if (deps[i]->graph != graph)
            return CUDA_ERROR_INVALID_VALUE;
        for (int k = 0; k < i; k++)
            if (deps[k] == deps[i])
                return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

static bool inside(const struct mgraph *graph, const struct mgraph *outer)
{
    while (graph->parent && graph != outer)
        graph = graph->parent->graph;
    return graph == outer;
}

static CUresult check_child(const struct mgraph *graph, const struct mgraph *child,
                            int ownership)
{
    if (child == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (child->parent)
        return CUDA_ERROR_NOT_SUPPORTED;
    if (ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE && graph_has_memory(child))
        return CUDA_ERROR_NOT_SUPPORTED;
    if (graph == NULL || inside(graph, child))
        return CUDA_ERROR_INVALID_VALUE;
    if (ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
        return CUDA_SUCCESS;
    const bool memory = graph_has_memory(child);
    if (memory && (child->exec || graph->parent))
        return CUDA_ERROR_NOT_SUPPORTED;
    return CUDA_SUCCESS;
}

static void take_child(struct model *model, struct mnode *node, struct mgraph *child)
{
    if (node->work.p[1] == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
        node->child = child;
        child->moved = true;
    } else {
        node->child = graph_copy(model, child);
    }
    node->child->parent = node;
}

/* Edge data: 1 programmatic, 2 launch order (R13, R14). */
static CUresult check_data(const struct mnode *from, const struct mnode *to, int32_t data)
{
    if (data == 0)
        return CUDA_SUCCESS;
    if (data > 2 || from->work.kind != WORK_KERNEL)
        return CUDA_ERROR_INVALID_VALUE;
    return data == 1 && to->work.kind != WORK_KERNEL ? CUDA_ERROR_INVALID_VALUE
                                                     : CUDA_SUCCESS;
}

/* The node's own faults come first. */
static CUresult check_add(const struct model *model, const struct step *step,
                          const struct mgraph *graph, struct mnode *const *deps,
                          const struct mgraph *child)
{
    const int32_t *a = step->a;
    const struct work work = step_work(step);
    CUresult code = CUDA_SUCCESS;
    if (work.kind == WORK_CHILD)
        code = check_child(graph, child, work.p[1]);
    if (code == CUDA_SUCCESS && (graph == NULL || ((a[2] & 2) && a[3] > 0)))
        code = CUDA_ERROR_INVALID_VALUE; /* no graph, or the array is NULL */
    if (code == CUDA_SUCCESS)
        code = check_deps(graph, deps, a[3]);
    for (int i = 0; i < a[3] && code == CUDA_SUCCESS; i++)
        code = check_data(deps[i], &(struct mnode){.work = work}, a[2] >> 2);
    if (code == CUDA_SUCCESS && work.bad == BAD_NULL)
        code = CUDA_ERROR_INVALID_VALUE;
    if (code == CUDA_SUCCESS && work.kind == WORK_ALLOC && work.bad == BAD_NOBODY)
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (code == CUDA_SUCCESS)
        code = memory_check_node(model, graph, &work);
    return code == CUDA_SUCCESS ? work_check(model, &work) : code;
}

/* A dependency occurs twice: the node was there until that was seen. */
static void renew_before_twice(struct model *model, const struct step *step,
                               struct mnode *const *deps)
{
    const struct work work = step_work(step);
    if ((step->a[2] & 2) || work_check(model, &work) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < step->a[3]; i++)
        for (int k = 0; k < i; k++)
            if (deps[k] == deps[i]) {
                renew_exits(model, deps, i);
                return;
            }
}

static void add_node(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const struct work work = step_work(step);
    struct mgraph *graph, *child = NULL;
    struct mnode *deps[DEPS_MAX];
    if (!want_graph(model, a[1], &graph) || !want_deps(model, &a[4], a[3], deps) ||
        (work.kind == WORK_CHILD && !want_graph(model, work.p[0], &child))) {
        out->code = SKIPPED;
        return;
    }
    const CUresult code = check_add(model, step, graph, deps, child);
    if (!model_decide(model, out, code)) {
        if (!model->lost && graph)
            renew_before_twice(model, step, deps);
        if (!model->lost && graph && work_leaves_trace(&work, code) &&
            check_deps(graph, deps, a[3]) == CUDA_SUCCESS && !(a[2] & 2 && a[3] > 0)) {
            graph->tried = true;
            renew_exits(model, deps, a[3]);
        }
        return;
    }
    const int32_t data = a[2] >> 2;
    struct mnode *node = node_new(model, graph, &work);
    for (int i = 0; i < a[3]; i++)
        link_add(model, deps[i], node, data);
    if (child)
        take_child(model, node, child);
    memory_added(model, graph, &work);
    put_node(model, a[0], node);
}

static void destroy_node(struct model *model, const int32_t *a, struct answer *out)
{
    struct mnode *node = model->nodes[a[0]];
    if (node == NULL) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = CUDA_SUCCESS;
    if (graph_has_memory(node->graph))
        code = CUDA_ERROR_NOT_SUPPORTED;
    else if (node->graph->capture)
        code = CUDA_ERROR_ILLEGAL_STATE;
    if (!model_decide(model, out, code))
        return;
    node_drop(model, node->graph, node);
    forget_node(model, node);
}

/* ---- edges of a step: two at most ---- */

struct edge_pair {
    struct mnode *from, *to;
};

static bool want_edges(struct model *model, const int32_t *a, struct edge_pair *out)
{
    for (int i = 0; i < a[1]; i++) {
        out[i].from = model->nodes[a[2 + 2 * i]];
        out[i].to = model->nodes[a[3 + 2 * i]];
        if (out[i].from == NULL || out[i].to == NULL)
            return false;
    }
    return true;
}

static CUresult check_ends(const struct mgraph *graph, const struct edge_pair *pairs,
                           const int32_t *a, bool removes)
{
    if (graph == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (removes && graph_has_memory(graph))
        return CUDA_ERROR_NOT_SUPPORTED;
    for (int i = 0; i < a[1]; i++) {
        if (pairs[i].from->graph != graph || pairs[i].to->graph != graph ||
            pairs[i].from == pairs[i].to)
            return CUDA_ERROR_INVALID_VALUE;
        if (!removes && check_data(pairs[i].from, pairs[i].to, a[6]))
            return CUDA_ERROR_INVALID_VALUE;
    }
    return CUDA_SUCCESS;
}

/* Whether there is such an edge shows as the edges are gone through: those before the bad
 * one are done. Edge data is not looked at where edges are removed. */
static void edges(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const bool removes = step->op == OP_REMOVE_EDGES;
    struct mgraph *graph;
    struct edge_pair pairs[2];
    if (!want_graph(model, a[0], &graph) || !want_edges(model, a, pairs)) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = check_ends(graph, pairs, a, removes);
    int good = 0;
    for (; code == CUDA_SUCCESS && good < a[1]; good++) {
        const bool again =
            good > 0 && pairs[0].from == pairs[1].from && pairs[0].to == pairs[1].to;
        const bool there =
            again ? !removes : edges_find(&pairs[good].to->deps, pairs[good].from) >= 0;
        if (there != removes)
            break;
    }
    if (code == CUDA_SUCCESS && good < a[1])
        code = CUDA_ERROR_INVALID_VALUE;
    (void)model_decide(model, out, code);
    for (int i = 0; i < good && !model->lost; i++) {
        if (removes)
            link_remove(model, pairs[i].from, pairs[i].to);
        else
            link_add(model, pairs[i].from, pairs[i].to, a[6]);
    }
}

static void set_params(struct model *model, const struct step *step, struct answer *out)
{
    struct mnode *node = model->nodes[step->a[0]];
    const struct work work = step_work(step);
    if (node == NULL) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = work_check(model, &work);
    if (node->work.kind != work.kind)
        code = CUDA_ERROR_INVALID_VALUE;
    else if (work.kind == WORK_ALLOC || work.kind == WORK_FREE)
        code = CUDA_ERROR_NOT_SUPPORTED;
    if (model_decide(model, out, code))
        node->work = work;
}

static void child_graph(struct model *model, const int32_t *a, struct answer *out)
{
    const struct mnode *node = model->nodes[a[1]];
    if (node == NULL) {
        out->code = SKIPPED;
        return;
    }
    if (!model_decide(model, out, node->child ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    answer_push(out, node->child->slot);
    if (node->child->slot < 0)
        put_graph(model, a[0], node->child);
}

static void set_priority(struct model *model, const int32_t *a, struct answer *out)
{
    struct mnode *node = model->nodes[a[0]];
    if (node == NULL) {
        out->code = SKIPPED;
        return;
    }
    const bool kernel = node->work.kind == WORK_KERNEL;
    if (model_decide(model, out, kernel ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        node->priority = a[1];
}

static void copy_attributes(struct model *model, const int32_t *a, struct answer *out)
{
    struct mnode *to = model->nodes[a[0]];
    const struct mnode *from = model->nodes[a[1]];
    if (to == NULL || from == NULL) {
        out->code = SKIPPED;
        return;
    }
    const bool kernels = to->work.kind == WORK_KERNEL && from->work.kind == WORK_KERNEL;
    if (model_decide(model, out, kernels ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        to->priority = from->priority;
}

void op_graph(struct model *model, const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_GRAPH_CREATE: graph_create(model, step->a, out); return;
    case OP_GRAPH_DESTROY: graph_destroy(model, step->a, out); return;
    case OP_GRAPH_CLONE: graph_clone(model, step->a, out); return;
    case OP_FIND_IN_CLONE: find_in_clone(model, step->a, out); return;
    case OP_ADD_NODE: add_node(model, step, out); return;
    case OP_DESTROY_NODE: destroy_node(model, step->a, out); return;
    case OP_ADD_EDGES:
    case OP_REMOVE_EDGES: edges(model, step, out); return;
    case OP_SET_PARAMS: set_params(model, step, out); return;
    case OP_CHILD_GRAPH: child_graph(model, step->a, out); return;
    case OP_COPY_ATTRIBUTES: copy_attributes(model, step->a, out); return;
    default: set_priority(model, step->a, out); return;
    }
}

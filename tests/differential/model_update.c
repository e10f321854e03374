// SPDX-License-Identifier: Apache-2.0
/* The model's whole update: pairs the nodes of an executable with those of a graph from
 * the exits up, along dependencies in their order, then compares the pairs. */
#include "model.h"

struct verdict {
    int result; /* CUgraphExecUpdateResult */
    const struct mnode *node, *from;
};

static const struct verdict fine = {CU_GRAPH_EXEC_UPDATE_SUCCESS, NULL, NULL};

struct pairing {
    struct mnode *mine[NODES], *theirs[NODES];
    int count;
};

static int find_pair(const struct pairing *pairs, struct mnode *const *side,
                     const struct mnode *node)
{
    for (int i = 0; i < pairs->count; i++)
        if (side[i] == node)
            return i;
    return -1;
}

static int exits_of(const struct mgraph *graph, struct mnode **out)
{
    int count = 0;
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i]->dependents.count == 0)
            out[count++] = graph->nodes[i];
    for (int i = 1; i < count; i++) /* as they became exits */
        for (int k = i; k > 0 && out[k]->exit_since < out[k - 1]->exit_since; k--) {
            struct mnode *swap = out[k];
            out[k] = out[k - 1];
            out[k - 1] = swap;
        }
    return count;
}

static struct verdict topology(struct mnode *node, struct mnode *from)
{
    return (struct verdict){CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED, node, from};
}

static struct verdict pair_up(struct mgraph *mine, struct mgraph *theirs,
                              struct pairing *pairs)
{
    struct mnode *ours[NODES], *others[NODES];
    const int our_count = exits_of(mine, ours), other_count = exits_of(theirs, others);
    if (other_count > our_count)
        return topology(others[our_count], NULL);
    pairs->count = 0;
    for (int i = 0; i < other_count; i++) {
        pairs->mine[pairs->count] = ours[i];
        pairs->theirs[pairs->count++] = others[i];
    }
    for (int i = 0; i < pairs->count; i++) {
        struct mnode *a = pairs->mine[i], *b = pairs->theirs[i];
        if (a->deps.count != b->deps.count)
            return topology(b, NULL);
        for (int k = 0; k < b->deps.count; k++) {
            struct mnode *c = a->deps.at[k].node, *d = b->deps.at[k].node;
            const int at = find_pair(pairs, pairs->mine, c);
            const int to = find_pair(pairs, pairs->theirs, d);
            if (at != to || a->deps.at[k].data != b->deps.at[k].data)
                return topology(b, d);
            if (at >= 0)
                continue;
            pairs->mine[pairs->count] = c;
            pairs->theirs[pairs->count++] = d;
        }
    }
    return fine;
}

static struct verdict compare_graphs(struct mexec *exec, struct mgraph *mine,
                                     struct mgraph *theirs, bool commit);

static struct verdict compare_nodes(struct mexec *exec, struct mnode *mine,
                                    struct mnode *theirs)
{
    if (mine->work.kind != theirs->work.kind)
        return (struct verdict){CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, theirs,
                                NULL};
    if (mine->child)
        return compare_graphs(exec, mine->child, theirs->child, false);
    if ((exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) &&
        mine->work.kind == WORK_KERNEL && mine->priority != theirs->priority)
        return (struct verdict){CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED, theirs,
                                NULL};
    if (exec_node_change(mine, &theirs->work) != CUDA_SUCCESS)
        return (struct verdict){CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED, theirs,
                                NULL};
    return fine;
}

static void take_over(struct mexec *exec, struct mnode *mine, struct mnode *theirs)
{
    mine->work = theirs->work; /* the handles stay those of the first graph */
    mine->priority = theirs->priority;
    if (mine->child)
        (void)compare_graphs(exec, mine->child, theirs->child, true);
}

static struct verdict compare_graphs(struct mexec *exec, struct mgraph *mine,
                                     struct mgraph *theirs, bool commit)
{
    struct pairing pairs;
    if (mine->count != theirs->count)
        return topology(NULL, NULL);
    const struct verdict shape = pair_up(mine, theirs, &pairs);
    if (shape.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
        return shape;
    for (int i = 0; i < pairs.count; i++) {
        if (commit) {
            take_over(exec, pairs.mine[i], pairs.theirs[i]);
            continue;
        }
        const struct verdict verdict =
            compare_nodes(exec, pairs.mine[i], pairs.theirs[i]);
        if (verdict.result != CU_GRAPH_EXEC_UPDATE_SUCCESS)
            return verdict;
    }
    return fine;
}

CUresult child_check(struct mexec *exec, struct mgraph *mine, struct mgraph *theirs)
{
    return compare_graphs(exec, mine, theirs, false).result ==
                   CU_GRAPH_EXEC_UPDATE_SUCCESS
               ? CUDA_SUCCESS
               : CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
}

void child_take(struct mexec *exec, struct mgraph *mine, struct mgraph *theirs)
{
    (void)compare_graphs(exec, mine, theirs, true);
}

static void replace_objects(struct model *model, struct mgraph *mine,
                            const struct mgraph *theirs)
{
    for (int i = 0; i < OBJECTS; i++) {
        const int32_t by = theirs->objects[i] - mine->objects[i];
        if (theirs->objects[i] || mine->objects[i])
            object_change(model, i, by);
        mine->objects[i] = theirs->objects[i];
    }
}

void op_update(struct model *model, const struct step *step, struct answer *out)
{
    struct mexec *exec = model->execs[step->a[0]];
    struct mgraph *graph = step->a[1] == NONE ? NULL : model->graphs[step->a[1]];
    if (exec == NULL || (graph == NULL && step->a[1] != NONE)) {
        out->code = SKIPPED;
        return;
    }
    struct verdict verdict = fine;
    CUresult code = CUDA_ERROR_INVALID_VALUE;
    if (graph) {
        verdict = graph_has_cycle(model, graph)
                      ? (struct verdict){CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
                                         NULL, NULL}
                      : compare_graphs(exec, exec->graph, graph, false);
        code = verdict.result ? CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE : CUDA_SUCCESS;
    }
    if (graph && graph->parent)
        code = CUDA_ERROR_INVALID_VALUE;
    else if (graph && graph_has_memory(graph) && graph->exec && graph->exec != exec)
        code = CUDA_ERROR_NOT_SUPPORTED;
    const bool good = model_decide(model, out, code);
    out->count = UNKNOWN; /* which of several differences is named first */
    if (!good)
        return;
    (void)compare_graphs(exec, exec->graph, graph, true);
    replace_objects(model, exec->graph, graph);
    if (exec->owner)
        exec->owner->exec = NULL;
    exec->owner = graph_has_memory(graph) ? graph : NULL;
    if (exec->owner)
        graph->exec = exec;
    memory_instantiated(model, graph);
    exec->racy = graph_is_racy(model, exec->graph);
}

// SPDX-License-Identifier: Apache-2.0
/* Draws executables: instantiation, launches, updates, per-node changes. */
#include "generate.h"

static bool wrong(struct generator *gen)
{
    return rng_chance(&gen->rng, 12);
}

static bool draw_instantiate(struct generator *gen)
{
    static const int32_t good[] = {0, 0, 0, 1, 8, 9};
    static const int32_t bad[] = {0x3e7, 5, 2, 16, 64};
    const int graph = rng_chance(&gen->rng, 2) ? NONE : pick_graph(gen);
    const int out = free_exec(gen);
    if (out < 0)
        return false;
    int32_t flags = good[rng_below(&gen->rng, 6)];
    const int api = rng_chance(&gen->rng, 40);
    if (api && rng_chance(&gen->rng, 25))
        flags |= CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD;
    if (rng_chance(&gen->rng, 6))
        flags = bad[rng_below(&gen->rng, 5)];
    if (any_capture(gen->model) && !rng_chance(&gen->rng, api ? 60 : 10))
        return false;
    return EMIT(gen, OP_INSTANTIATE, out, graph, flags, api, 3 + rng_below(&gen->rng, 2));
}

static bool draw_launch(struct generator *gen)
{
    const int exec = pick_exec(gen);
    int stream = rng_below(&gen->rng, STREAMS);
    if (exec < 0 || gen->model->execs[exec]->racy)
        return false;
    const bool captures = any_capture(gen->model);
    if (captures && gen->model->streams[stream].capture && !rng_chance(&gen->rng, 10))
        return false;
    if (captures && stream == 0 && !rng_chance(&gen->rng, 10))
        return false;
    if (!memory_is_safe(gen->model, gen->model->execs[exec]))
        return false;
    if (order_exec_conflicts(gen->model, gen->model->execs[exec], stream))
        order_behind(gen, stream);
    if (gen->model->execs[exec] == NULL ||
        !model_may_launch(gen->model, gen->model->execs[exec], stream))
        return false;
    return EMIT(gen, OP_LAUNCH, exec, stream);
}

/* The graph that the executable was made of, if it is still there. */
static int graph_of(const struct generator *gen, const struct mexec *exec)
{
    for (int i = 0; i < GRAPHS; i++)
        if (gen->model->graphs[i] && gen->model->graphs[i]->uid == exec->source)
            return i;
    return -1;
}

/* One that is likely to fit: the origin, or a clone, with as many nodes. */
static int draw_fitting(struct generator *gen, const struct mexec *exec)
{
    int found = -1, seen = 0;
    for (int i = 0; i < GRAPHS; i++) {
        const struct mgraph *graph = gen->model->graphs[i];
        if (graph == NULL || graph->count != exec->graph->count ||
            (graph->uid != exec->source && graph->clone_of != exec->source))
            continue;
        if (rng_below(&gen->rng, ++seen) == 0)
            found = i;
    }
    return found;
}

static bool draw_update(struct generator *gen)
{
    const int exec = pick_exec(gen);
    if (exec < 0)
        return false;
    int graph = draw_fitting(gen, gen->model->execs[exec]);
    if (graph < 0 && rng_chance(&gen->rng, 60))
        return false;
    if (graph < 0 || wrong(gen))
        graph = rng_chance(&gen->rng, 3) ? NONE : pick_graph(gen);
    return EMIT(gen, OP_EXEC_UPDATE, exec, graph);
}

static struct mnode *find(const struct mexec *exec, const struct mnode *node)
{
    for (int i = 0; i < exec->graph->count; i++)
        if (exec->graph->nodes[i]->origin == node->uid)
            return exec->graph->nodes[i];
    return NULL;
}

/* A node that the executable knows, or any. */
static int draw_known(struct generator *gen, const struct mexec *exec)
{
    const int graph = graph_of(gen, exec);
    if (graph < 0 || wrong(gen))
        return rng_chance(&gen->rng, 40) ? pick_node(gen) : -1;
    for (int tries = 0; tries < 4; tries++) {
        const int node = pick_node_of(gen, gen->model->graphs[graph]);
        if (node < 0 || find(exec, gen->model->nodes[node]))
            return node;
    }
    return -1;
}

static bool draw_exec_set(struct generator *gen)
{
    const int slot = pick_exec(gen);
    struct mexec *exec = slot < 0 ? NULL : gen->model->execs[slot];
    const int node = exec ? draw_known(gen, exec) : -1;
    if (node < 0)
        return false;
    int kind = gen->model->nodes[node]->work.kind;
    if (wrong(gen))
        kind = rng_below(&gen->rng, 4);
    if (kind == WORK_EMPTY || kind == WORK_ALLOC || kind == WORK_FREE)
        return false;
    struct mnode *mine = find(exec, gen->model->nodes[node]);
    struct work work = {0};
    gen->scope = gen->model->nodes[node]->graph;
    for (int tries = 0; tries < 6; tries++) {
        work = draw_work(gen, kind, false);
        if (mine == NULL || mine->work.kind != kind || kind == WORK_CHILD)
            break;
        const struct work old = mine->work;
        mine->work = work;
        const bool racy = graph_is_racy(gen->model, exec->graph);
        mine->work = old;
        if (!racy)
            break;
    }
    if (wrong(gen))
        spoil_work(gen, &work);
    struct step step = {.op = OP_EXEC_SET};
    step.a[0] = slot;
    step.a[1] = node;
    step.a[2] = rng_chance(&gen->rng, 35);
    step_set_work(&step, &work);
    return emit(gen, &step);
}

static bool draw_enabled(struct generator *gen)
{
    const int slot = pick_exec(gen);
    const int node = slot < 0 ? -1 : draw_known(gen, gen->model->execs[slot]);
    if (node < 0)
        return false;
    if (rng_chance(&gen->rng, 40))
        return EMIT(gen, OP_GET_ENABLED, slot, node);
    return EMIT(gen, OP_SET_ENABLED, slot, node, rng_below(&gen->rng, 2));
}

bool draw_exec(struct generator *gen)
{
    const int exec = pick_exec(gen);
    const int dice = rng_below(&gen->rng, 100);
    if (exec < 0 || dice < 9)
        return draw_instantiate(gen);
    if (dice < 52)
        return draw_launch(gen);
    if (dice < 72)
        return draw_update(gen);
    if (dice < 86)
        return draw_exec_set(gen);
    if (dice < 93)
        return draw_enabled(gen);
    if (dice < 95)
        return EMIT(gen, OP_EXEC_FLAGS, exec);
    if (dice < 97)
        return (!any_capture(gen->model) || wrong(gen)) &&
               EMIT(gen, OP_EXEC_DESTROY, exec);
    return EMIT(gen, OP_UPLOAD, exec, rng_below(&gen->rng, STREAMS));
}

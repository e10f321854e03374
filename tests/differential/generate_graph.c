// SPDX-License-Identifier: Apache-2.0
/* Draws graphs: nodes, edges, clones, children; and questions about them. */
#include "generate.h"

enum { WRONG = 12 };

static bool wrong(struct generator *gen)
{
    return rng_chance(&gen->rng, WRONG);
}

static bool draw_create(struct generator *gen)
{
    const int slot = free_graph(gen);
    if (slot < 0 || slot > 5)
        return false;
    return EMIT(gen, OP_GRAPH_CREATE, slot, rng_chance(&gen->rng, 5));
}

/* A few distinct nodes of the graph; the last ones are likelier. */
static int draw_deps(struct generator *gen, const struct mgraph *graph, int32_t *slots,
                     struct mnode **nodes)
{
    const int wanted = rng_below(&gen->rng, 4);
    int count = 0;
    for (int tries = 0; tries < 8 && count < wanted; tries++) {
        const int near = graph->count < 4 ? graph->count : 4;
        if (near == 0)
            break;
        const int at = rng_chance(&gen->rng, 60)
                           ? graph->count - 1 - rng_below(&gen->rng, near)
                           : rng_below(&gen->rng, graph->count);
        struct mnode *node = graph->nodes[at];
        bool again = node->slot < 0;
        for (int i = 0; i < count; i++)
            again = again || nodes[i] == node;
        if (again)
            continue;
        slots[count] = node->slot;
        nodes[count++] = node;
    }
    return count;
}

static void spoil_add(struct generator *gen, struct step *step, struct work *work)
{
    const int other = pick_node(gen);
    switch (rng_below(&gen->rng, 5)) {
    case 0: step->a[1] = NONE; break;
    case 1:
        if (step->a[3] > 0 && step->a[3] < DEPS_MAX)
            step->a[4 + step->a[3]++] = step->a[4];
        break;
    case 2:
        if (step->a[3] < DEPS_MAX && other >= 0)
            step->a[4 + step->a[3]++] = other;
        break;
    case 3: step->a[2] |= 2; break;
    default: spoil_work(gen, work); break;
    }
}

/* A graph inside itself: crashes NVIDIA's driver. */
static bool is_inside(const struct mgraph *graph, int child, const struct model *model)
{
    for (; graph != model->graphs[child]; graph = graph->parent->graph)
        if (graph->parent == NULL)
            return false;
    return true;
}

/* Edges of another kind than plain, mostly where they may be. */
static int draw_data(struct generator *gen, struct step *step, struct mnode *const *deps)
{
    if (step->a[2] == 0 || (step->a[3] == 0 && !wrong(gen)) || !rng_chance(&gen->rng, 25))
        return 0;
    for (int i = 0; i < step->a[3]; i++)
        if (deps[i]->work.kind != WORK_KERNEL && !wrong(gen))
            return 0;
    const int data = 1 + rng_below(&gen->rng, 2);
    step->a[2] |= data << 2;
    return data;
}

static bool draw_add(struct generator *gen)
{
    const int slot = pick_graph(gen);
    if (slot < 0 || gen->model->graphs[slot]->count >= GRAPH_NODES)
        return false;
    const struct mgraph *graph = gen->model->graphs[slot];
    struct mnode *deps[DEPS_MAX];
    struct step step = {.op = OP_ADD_NODE};
    struct work work = {.kind = WORK_EMPTY};
    step.a[1] = slot;
    step.a[2] = rng_chance(&gen->rng, 35);
    step.a[3] = draw_deps(gen, graph, &step.a[4], deps);
    gen->scope = graph;
    const int data = draw_data(gen, &step, deps);
    for (int tries = 0; tries < 10; tries++) {
        work = draw_work(gen, data ? WORK_KERNEL : draw_kind(gen), false);
        if (work.kind == WORK_CHILD && (gen->model->graphs[work.p[0]]->count > 12 ||
                                        is_inside(graph, work.p[0], gen->model)))
            continue;
        if (!work_clashes(gen->model, graph, deps, data ? 0 : step.a[3], &work))
            break;
        if (!rng_chance(&gen->rng, 4))
            work = (struct work){.kind = WORK_EMPTY};
    }
    if (work.kind == WORK_CHILD)
        step.a[2] &= 1;
    if (wrong(gen))
        spoil_add(gen, &step, &work);
    step_set_work(&step, &work);
    step.a[0] = free_node(gen);
    return step.a[0] >= 0 && emit(gen, &step);
}

static bool draw_edges(struct generator *gen, int op)
{
    const int slot = pick_graph(gen);
    if (slot < 0)
        return false;
    const struct mgraph *graph = gen->model->graphs[slot];
    struct step step = {.op = op};
    step.a[0] = slot;
    step.a[1] = rng_chance(&gen->rng, 6) ? 0 : 1 + rng_chance(&gen->rng, 25);
    for (int i = 0; i < step.a[1]; i++) {
        int from = pick_node_of(gen, graph), to = pick_node_of(gen, graph);
        if (from < 0 || to < 0)
            return false;
        if (from > to && !wrong(gen)) { /* slots grow with time: no cycle */
            const int swap = from;
            from = to;
            to = swap;
        }
        const struct mnode *node = gen->model->nodes[to];
        if (op == OP_REMOVE_EDGES && node->deps.count > 0 && !wrong(gen)) {
            const int at = rng_below(&gen->rng, node->deps.count);
            if (node->deps.at[at].node->slot >= 0)
                from = node->deps.at[at].node->slot;
            step.a[6] = node->deps.at[at].data;
        }
        if (wrong(gen))
            to = pick_node(gen);
        step.a[2 + 2 * i] = from;
        step.a[3 + 2 * i] = to;
    }
    if (rng_chance(&gen->rng, op == OP_ADD_EDGES ? 12 : 3))
        step.a[6] = 1 + rng_below(&gen->rng, 2);
    return emit(gen, &step);
}

static bool draw_set_params(struct generator *gen)
{
    const int slot = pick_node(gen);
    if (slot < 0)
        return false;
    struct mnode *node = gen->model->nodes[slot];
    const int kind = wrong(gen) ? WORK_KERNEL + rng_below(&gen->rng, 4) : node->work.kind;
    if (kind == WORK_CHILD || kind == WORK_EMPTY || kind == WORK_ALLOC ||
        kind == WORK_FREE)
        return false;
    struct work work = {0};
    gen->scope = node->graph;
    for (int tries = 0; tries < 6; tries++) {
        work = draw_work(gen, kind, false);
        if (kind != node->work.kind)
            break;
        const struct work old = node->work;
        node->work = work;
        const bool racy = graph_is_racy(gen->model, node->graph);
        node->work = old;
        if (!racy)
            break;
    }
    if (wrong(gen))
        spoil_work(gen, &work);
    struct step step = {.op = OP_SET_PARAMS};
    step.a[0] = slot;
    step.a[1] = rng_chance(&gen->rng, 40);
    step_set_work(&step, &work);
    return emit(gen, &step);
}

static bool draw_clone(struct generator *gen)
{
    const int to = free_graph(gen), from = wrong(gen) ? NONE : pick_graph(gen);
    if (to < 0 || to > 10 || (from >= 0 && gen->model->graphs[from]->count > 40))
        return false;
    if (!EMIT(gen, OP_GRAPH_CLONE, to, from) || gen->model->graphs[to] == NULL)
        return false;
    if (rng_chance(&gen->rng, 60)) {
        const int first = gen->next_node;
        gen->next_node += gen->model->graphs[to]->count;
        if (gen->next_node < NODES - 40)
            EMIT(gen, OP_GET_NODES, to, first);
    }
    return true;
}

static int graph_with(const struct generator *gen, uint32_t uid)
{
    for (int i = 0; i < GRAPHS; i++)
        if (gen->model->graphs[i] && gen->model->graphs[i]->uid == uid)
            return i;
    return -1;
}

static bool draw_find(struct generator *gen)
{
    int node = pick_node(gen), graph = pick_graph(gen);
    const bool right = !wrong(gen);
    for (int i = 0; i < GRAPHS && right; i++) {
        const struct mgraph *clone = gen->model->graphs[i];
        const int from = clone ? graph_with(gen, clone->clone_of) : -1;
        if (from < 0)
            continue;
        graph = i;
        node = pick_node_of(gen, gen->model->graphs[from]);
    }
    if (node < 0 || graph < 0 || (right && gen->model->graphs[graph]->clone_of == 0))
        return false;
    const int out = free_node(gen);
    return out >= 0 && EMIT(gen, OP_FIND_IN_CLONE, out, node, graph);
}

static bool draw_child(struct generator *gen)
{
    int node = pick_node(gen);
    const int out = free_graph(gen);
    const bool right = !wrong(gen);
    for (int i = 0; i < gen->next_node && right; i++)
        if (gen->model->nodes[i] && gen->model->nodes[i]->child &&
            gen->model->nodes[i]->child->slot < 0)
            node = i;
    if (node < 0 || out < 0 || out > 12)
        return false;
    if (gen->model->nodes[node]->child == NULL && !wrong(gen))
        return false;
    if (!EMIT(gen, OP_CHILD_GRAPH, out, node))
        return false;
    const struct mgraph *graph = gen->model->graphs[out];
    if (graph && graph->count <= 20 && gen->next_node < NODES - 80) {
        const int first = gen->next_node;
        gen->next_node += graph->count;
        EMIT(gen, OP_GET_NODES, out, first);
    }
    return true;
}

static bool draw_destroy(struct generator *gen)
{
    const int node = pick_node(gen), graph = pick_graph(gen);
    if (rng_chance(&gen->rng, 60))
        return node >= 0 && gen->model->nodes[node]->graph->capture == NULL &&
               EMIT(gen, OP_DESTROY_NODE, node);
    return graph >= 0 && gen->model->graphs[graph]->capture == NULL &&
           EMIT(gen, OP_GRAPH_DESTROY, graph);
}

static bool draw_priority(struct generator *gen)
{
    const int node = pick_node(gen), other = pick_node(gen);
    if (node >= 0 && rng_chance(&gen->rng, 25))
        return EMIT(gen, OP_GET_PRIORITY, node);
    if (node >= 0 && rng_chance(&gen->rng, 25))
        return EMIT(gen, OP_COPY_ATTRIBUTES, node, other);
    return node >= 0 && EMIT(gen, OP_SET_PRIORITY, node, -rng_below(&gen->rng, 6));
}

bool draw_graph(struct generator *gen)
{
    const int dice = rng_below(&gen->rng, 100);
    if (pick_graph(gen) < 0 || dice < 6)
        return draw_create(gen);
    if (dice < 60)
        return draw_add(gen);
    if (dice < 68)
        return draw_edges(gen, OP_ADD_EDGES);
    if (dice < 73)
        return draw_edges(gen, OP_REMOVE_EDGES);
    if (dice < 81)
        return draw_set_params(gen);
    if (dice < 86)
        return draw_clone(gen);
    if (dice < 89)
        return draw_find(gen);
    if (dice < 93)
        return draw_child(gen);
    if (dice < 96)
        return draw_destroy(gen);
    return draw_priority(gen);
}

bool draw_query(struct generator *gen)
{
    const int graph = rng_chance(&gen->rng, 3) ? NONE : pick_graph(gen);
    const int node = pick_node(gen);
    int room = rng_chance(&gen->rng, 40) ? -1 : 1 + rng_below(&gen->rng, 7);
    if (room > 0 && rng_chance(&gen->rng, 50))
        room |= 64;
    switch (rng_below(&gen->rng, 9)) {
    case 0: return graph >= 0 && EMIT(gen, OP_GET_NODES, graph, -1);
    case 1: return EMIT(gen, OP_GET_ROOTS, graph, room);
    case 2: return EMIT(gen, OP_GET_EDGES, graph, room);
    case 3: return node >= 0 && EMIT(gen, OP_NODE_TYPE, node);
    case 4: return node >= 0 && EMIT(gen, OP_NODE_DEPS, node, room);
    case 5: return node >= 0 && EMIT(gen, OP_NODE_DEPENDENTS, node, room);
    case 6: return graph >= 0 && EMIT(gen, OP_DOT, graph, rng_below(&gen->rng, 2));
    default: break;
    }
    if (node < 0)
        return false;
    int kind = gen->model->nodes[node]->work.kind;
    if (wrong(gen))
        kind = rng_below(&gen->rng, 4);
    if (kind == WORK_CHILD || kind == WORK_EMPTY || kind == WORK_ALLOC ||
        kind == WORK_FREE)
        return false;
    return EMIT(gen, OP_GET_PARAMS, node, kind);
}

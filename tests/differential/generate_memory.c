// SPDX-License-Identifier: Apache-2.0
/* Draws graph memory: allocations by hand and by capture, each written at once, frees,
 * attributes. What a program may do with an allocation is drawn in generate_work.c. */
#include "generate.h"

static bool wrong(struct generator *gen)
{
    return rng_chance(&gen->rng, 12);
}

static int draw_kib(struct generator *gen)
{
    static const int sizes[] = {1, 1, 4, 64, 512, 2048, 3000, 33000};
    return sizes[rng_below(&gen->rng, 8)];
}

/* Fills the whole of an allocation, so that nobody reads what nobody has written. */
static struct work fill_of(struct generator *gen, int slot)
{
    return (struct work){.kind = WORK_MEMSET,
                         .p = {ADDRESS(BUFFER_ALLOC + slot, 0),
                               rng_below(&gen->rng, 1 << 20), 4, BUFFER_BYTES / 4, 1, 0}};
}

static bool draw_alloc_node(struct generator *gen)
{
    const int graph = pick_graph(gen);
    if (graph < 0 || gen->next_alloc == ALLOCS)
        return false;
    struct step step = {.op = OP_ADD_NODE};
    struct work work = {.kind = WORK_ALLOC};
    const int dep = pick_node_of(gen, gen->model->graphs[graph]);
    step.a[0] = free_node(gen);
    step.a[1] = graph;
    step.a[2] = rng_chance(&gen->rng, 35);
    if (dep >= 0 && rng_chance(&gen->rng, 60))
        step.a[4 + step.a[3]++] = dep;
    work.p[0] = gen->next_alloc++;
    work.p[1] = draw_kib(gen);
    if (wrong(gen))
        work.bad = 1 + rng_below(&gen->rng, BAD_KINDS - 1);
    step_set_work(&step, &work);
    if (step.a[0] < 0 || !emit(gen, &step) || gen->model->nodes[step.a[0]] == NULL)
        return true;
    struct step fill = {.op = OP_ADD_NODE};
    fill.a[0] = free_node(gen);
    fill.a[1] = graph;
    fill.a[3] = 1;
    fill.a[4] = step.a[0];
    work = fill_of(gen, work.p[0]);
    step_set_work(&fill, &work);
    return fill.a[0] >= 0 && emit(gen, &fill);
}

static bool emit_work(struct generator *gen, int stream, const struct work *work)
{
    struct step step = {.op = OP_WORK};
    step.a[0] = stream;
    step.a[1] = free_node(gen);
    step_set_work(&step, work);
    return step.a[1] >= 0 && emit(gen, &step);
}

static bool draw_captured_alloc(struct generator *gen)
{
    const int stream = pick_stream(gen, true);
    if (stream < 0 || gen->next_alloc == ALLOCS)
        return false;
    const int slot = gen->next_alloc++;
    struct work work = {.kind = WORK_ALLOC, .p = {slot, draw_kib(gen)}};
    if (!emit_work(gen, stream, &work) || !gen->model->allocs[slot].exists)
        return true;
    work = fill_of(gen, slot);
    return emit_work(gen, stream, &work);
}

/* What its graph frees may have given its address to a later allocation there: what a
 * driver would free then is its own. */
static bool may_share(const struct generator *gen, int slot)
{
    const struct mallocation *alloc = &gen->model->allocs[slot];
    for (int i = slot + 1; i < gen->next_alloc; i++)
        if (alloc->freed_at_home && gen->model->allocs[i].exists &&
            gen->model->allocs[i].graph == alloc->graph)
            return true;
    return false;
}

/* An allocation that some graph has made, or -1. */
static int pick_alloc(struct generator *gen)
{
    int found = -1, seen = 0;
    for (int i = 0; i < gen->next_alloc; i++)
        if (gen->model->allocs[i].exists && !may_share(gen, i) &&
            rng_below(&gen->rng, ++seen) == 0)
            found = i;
    return found;
}

/* The last nodes that touch what `work` frees; -1: too many. */
static int find_users(struct generator *gen, const struct mgraph *graph,
                      const struct work *work, int32_t *slots)
{
    struct mnode *deps[DEPS_MAX];
    struct cells mine = {{0}, {0}};
    int count = 0;
    cells_of(work, &mine);
    for (int i = graph->count - 1; i >= 0; i--) {
        struct cells theirs = {{0}, {0}};
        cells_of(&graph->nodes[i]->work, &theirs);
        if (!cells_clash(&mine, &theirs) ||
            !work_clashes(gen->model, graph, deps, count, work))
            continue;
        /* Is it before those already taken? Then taking it changes nothing. */
        if (count == DEPS_MAX || graph->nodes[i]->slot < 0)
            return -1;
        deps[count] = graph->nodes[i];
        slots[count++] = graph->nodes[i]->slot;
    }
    return work_clashes(gen->model, graph, deps, count, work) ? -1 : count;
}

static bool draw_free_node(struct generator *gen)
{
    const int slot = pick_alloc(gen);
    if (slot < 0)
        return false;
    struct work work = {.kind = WORK_FREE, .p = {ADDRESS(BUFFER_ALLOC + slot, 0)}};
    int graph = -1;
    for (int i = 0; i < GRAPHS; i++)
        if (gen->model->graphs[i] &&
            gen->model->graphs[i]->uid == gen->model->allocs[slot].graph)
            graph = i;
    if (graph < 0 || rng_chance(&gen->rng, 25))
        graph = pick_graph(gen);
    if (graph < 0)
        return false;
    struct step step = {.op = OP_ADD_NODE};
    const int count = find_users(gen, gen->model->graphs[graph], &work, &step.a[4]);
    if (count < 0)
        return false;
    if (wrong(gen))
        work.p[0] = ADDRESS(BUFFER_DEVICE, 0);
    else if (rng_chance(&gen->rng, 5))
        work.bad = BAD_NOBODY;
    step.a[0] = free_node(gen);
    step.a[1] = graph;
    step.a[2] = rng_chance(&gen->rng, 35);
    step.a[3] = count;
    step_set_work(&step, &work);
    return step.a[0] >= 0 && emit(gen, &step);
}

static bool draw_captured_free(struct generator *gen)
{
    const int stream = pick_stream(gen, true), slot = pick_alloc(gen);
    if (stream < 0 || slot < 0)
        return false;
    const struct mstream *s = &gen->model->streams[stream];
    const struct work work = {.kind = WORK_FREE, .p = {ADDRESS(BUFFER_ALLOC + slot, 0)}};
    struct mnode *deps[64];
    int count = 0;
    while (count < s->frontier.count && count < 64) {
        deps[count] = s->frontier.at[count].node;
        count++;
    }
    if (work_clashes(gen->model, s->capture->graph, deps, count, &work))
        return false;
    return emit_work(gen, stream, &work);
}

/* On a stream or at once; a dead one only where no live one can have its address. */
static bool draw_free(struct generator *gen)
{
    const int slot = pick_alloc(gen), stream = pick_stream(gen, false);
    if (slot < 0 || stream < 0 || any_capture(gen->model))
        return false;
    const bool live = gen->model->allocs[slot].live;
    if (!live && (memory_any_live(gen->model) || !wrong(gen)))
        return false;
    if (gen->model->allocs[slot].freed_elsewhere && !wrong(gen))
        return false;
    if (rng_chance(&gen->rng, 35)) {
        EMIT(gen, OP_CTX_SYNC, 0);
        return EMIT(gen, OP_MEM_FREE, slot);
    }
    const struct work work = {.kind = WORK_FREE, .p = {ADDRESS(BUFFER_ALLOC + slot, 0)}};
    if (order_conflicts(gen->model, &work, stream)) {
        order_behind(gen, stream);
        if (order_conflicts(gen->model, &work, stream))
            return false;
    }
    return emit_work(gen, stream, &work);
}

static bool draw_attribute(struct generator *gen)
{
    if (any_capture(gen->model))
        return false;
    if (rng_chance(&gen->rng, 25))
        return EMIT(gen, OP_MEM_SET_ATTRIBUTE, rng_below(&gen->rng, 4), wrong(gen));
    EMIT(gen, OP_CTX_SYNC, 0);
    if (rng_chance(&gen->rng, 20))
        EMIT(gen, OP_MEM_TRIM, rng_chance(&gen->rng, 10) ? 99 : 0);
    return EMIT(gen, OP_MEM_ATTRIBUTE,
                rng_chance(&gen->rng, 4) ? 9 : rng_below(&gen->rng, 4));
}

/* A child graph that the parent takes over. */
static bool draw_move(struct generator *gen)
{
    const int graph = pick_graph(gen), child = pick_graph(gen);
    for (const struct mgraph *g = graph < 0 ? NULL : gen->model->graphs[graph]; g;
         g = g->parent ? g->parent->graph : NULL)
        if (g == gen->model->graphs[child])
            return false; /* inside itself */
    if (graph < 0 || gen->model->graphs[child]->count > 12)
        return false;
    const struct work work = {.kind = WORK_CHILD, .p = {child, 1}};
    struct step step = {.op = OP_ADD_NODE};
    const int dep = pick_node_of(gen, gen->model->graphs[graph]);
    struct mnode *deps[1] = {dep < 0 ? NULL : gen->model->nodes[dep]};
    step.a[0] = free_node(gen);
    step.a[1] = graph;
    step.a[2] = 1;
    step.a[3] = dep >= 0;
    step.a[4] = dep < 0 ? 0 : dep;
    if (work_clashes(gen->model, gen->model->graphs[graph], deps, step.a[3], &work))
        return false;
    step_set_work(&step, &work);
    return step.a[0] >= 0 && emit(gen, &step);
}

bool draw_memory(struct generator *gen)
{
    const int dice = rng_below(&gen->rng, 100);
    if (any_capture(gen->model) && dice < 70)
        return dice < 40 ? draw_captured_alloc(gen) : draw_captured_free(gen);
    if (dice < 38)
        return draw_alloc_node(gen);
    if (dice < 62)
        return draw_free_node(gen);
    if (dice < 80)
        return draw_free(gen);
    if (dice < 94)
        return draw_attribute(gen);
    return draw_move(gen);
}

// SPDX-License-Identifier: Apache-2.0
/* Draws captures with forks and joins, work on streams, events, waits, user objects. */
#include "generate.h"

static bool wrong(struct generator *gen)
{
    return rng_chance(&gen->rng, 12);
}

static int stream_kind(struct generator *gen)
{
    static const int kinds[] = {WORK_KERNEL, WORK_KERNEL, WORK_KERNEL, WORK_MEMCPY,
                                WORK_MEMSET, WORK_MEMSET, WORK_HOST,   WORK_BATCH};
    return kinds[rng_below(&gen->rng, 8)];
}

static bool emit_work(struct generator *gen, int stream, const struct work *work)
{
    struct step step = {.op = OP_WORK};
    step.a[0] = stream;
    step.a[1] = free_node(gen);
    step_set_work(&step, work);
    return step.a[1] >= 0 && emit(gen, &step);
}

/* ---- work that runs ---- */

static bool draw_eager(struct generator *gen)
{
    const int stream = pick_stream(gen, false);
    if (stream < 0 || (stream == 0 && any_capture(gen->model) && !wrong(gen)))
        return false;
    gen->scope = NULL;
    struct work work = draw_work(gen, stream_kind(gen), true);
    if (rng_chance(&gen->rng, 6)) {
        spoil_work(gen, &work);
        if (work.bad == BAD_NULL)
            work.bad = BAD_NOTHING; /* a stream call has no parameter block */
        if (work.bad == BAD_NOBODY && work.kind == WORK_MEMCPY)
            work.bad = BAD_NOTHING; /* unknown is pageable: a driver may go and copy */
        if (work.bad == BAD_SHAPE &&
            (work.kind == WORK_MEMSET || work.kind == WORK_MEMCPY))
            work.bad = BAD_NOTHING;
    }
    if (work.bad == BAD_NOTHING && order_conflicts(gen->model, &work, stream)) {
        order_behind(gen, stream);
        if (order_conflicts(gen->model, &work, stream))
            return false;
    }
    return emit_work(gen, stream, &work);
}

static bool draw_wait(struct generator *gen)
{
    const int event = rng_below(&gen->rng, EVENTS),
              stream = rng_below(&gen->rng, STREAMS);
    const bool calm = any_capture(gen->model) && !rng_chance(&gen->rng, 15);
    switch (rng_below(&gen->rng, 7)) {
    case 0: return !calm && EMIT(gen, OP_STREAM_SYNC, stream);
    case 1: return !calm && EMIT(gen, OP_STREAM_QUERY, stream);
    case 2: return !calm && EMIT(gen, OP_CTX_SYNC, 0);
    case 3: return !calm && EMIT(gen, OP_EVENT_SYNC, event);
    case 4: return !calm && EMIT(gen, OP_EVENT_QUERY, event);
    case 5: return !calm && EMIT(gen, OP_UNSAFE, rng_below(&gen->rng, 4));
    default: return EMIT(gen, OP_EXCHANGE_MODE, rng_below(&gen->rng, 3));
    }
}

bool draw_stream(struct generator *gen)
{
    const int dice = rng_below(&gen->rng, 100);
    const int event = rng_below(&gen->rng, EVENTS);
    const int stream = pick_stream(gen, false);
    if (dice < 55)
        return draw_eager(gen);
    if (dice < 80 || stream < 0)
        return draw_wait(gen);
    if (stream == 0 && any_capture(gen->model) && !wrong(gen))
        return false;
    const int flags = rng_chance(&gen->rng, 6) ? 1 + rng_below(&gen->rng, 2) : 0;
    if (dice < 90)
        return EMIT(gen, OP_EVENT_RECORD, event, stream, flags);
    return EMIT(gen, OP_STREAM_WAIT, stream, event, flags);
}

/* ---- captures ---- */

static bool draw_begin(struct generator *gen)
{
    static const int32_t modes[] = {0, 0, 1, 2, 2};
    const int graph = pick_graph(gen);
    int stream = pick_stream(gen, rng_chance(&gen->rng, 5));
    int32_t mode = modes[rng_below(&gen->rng, 5)];
    if (stream < 0 || (stream == 0 && !wrong(gen)))
        return false;
    if (rng_chance(&gen->rng, 4))
        mode = 3;
    if (graph < 0 || gen->model->graphs[graph]->count > 30 || rng_chance(&gen->rng, 75))
        return EMIT(gen, OP_CAPTURE_BEGIN, stream, mode);
    const struct mgraph *into = gen->model->graphs[graph];
    if (into->parent || (into->capture && into->count > 0))
        return false; /* crashes NVIDIA's driver now and then */
    struct step step = {.op = OP_CAPTURE_TO_GRAPH};
    step.a[0] = stream;
    step.a[1] = graph;
    step.a[2] = mode;
    step.a[3] = rng_below(&gen->rng, 3);
    for (int i = 0; i < step.a[3]; i++) {
        step.a[4 + i] =
            wrong(gen) ? pick_node(gen) : pick_node_of(gen, gen->model->graphs[graph]);
        if (step.a[4 + i] < 0)
            return false;
    }
    return emit(gen, &step);
}

static bool draw_captured_work(struct generator *gen)
{
    const int stream = pick_stream(gen, true);
    if (stream < 0)
        return false;
    const struct mstream *s = &gen->model->streams[stream];
    struct mnode *deps[64];
    int count = 0;
    while (count < s->frontier.count && count < 64) {
        deps[count] = s->frontier.at[count].node;
        count++;
    }
    gen->scope = s->capture->graph;
    for (int tries = 0; tries < 8; tries++) {
        struct work work = draw_work(gen, stream_kind(gen), false);
        if (work_clashes(gen->model, s->capture->graph, deps, count, &work))
            continue;
        if (rng_chance(&gen->rng, 3)) {
            work.bad = work.kind == WORK_KERNEL || work.kind == WORK_HOST ? BAD_SHAPE
                                                                          : BAD_NOBODY;
            if (work.kind == WORK_BATCH || work.kind == WORK_MEMCPY)
                work.bad = BAD_NOTHING;
        }
        return emit_work(gen, stream, &work);
    }
    return false;
}

static bool draw_fork(struct generator *gen)
{
    const int from = pick_stream(gen, true);
    const int to =
        rng_chance(&gen->rng, 60) ? pick_stream(gen, false) : pick_stream(gen, true);
    const int event = rng_below(&gen->rng, EVENTS / 2);
    if (from < 0 || to < 0 || from == to || (to == 0 && !wrong(gen)))
        return false;
    return EMIT(gen, OP_EVENT_RECORD, event, from, 0) &&
           EMIT(gen, OP_STREAM_WAIT, to, event, 0);
}

static bool draw_external(struct generator *gen)
{
    const int stream = pick_stream(gen, true);
    const int event = EVENTS / 2 + rng_below(&gen->rng, EVENTS / 2);
    if (stream < 0)
        return false;
    if (rng_chance(&gen->rng, 50))
        return EMIT(gen, OP_EVENT_RECORD, event, stream, 1);
    return EMIT(gen, OP_STREAM_WAIT, stream, event, 1);
}

/* Joins what the origin does not wait for yet, mostly. */
static bool draw_end(struct generator *gen)
{
    int stream = pick_stream(gen, true);
    const int out = free_graph(gen);
    if (out < 0)
        return false;
    if (stream < 0)
        return wrong(gen) &&
               EMIT(gen, OP_CAPTURE_END, rng_below(&gen->rng, STREAMS), out);
    const struct mcapture *capture = gen->model->streams[stream].capture;
    if (!rng_chance(&gen->rng, 6))
        stream = capture->origin;
    for (int i = 1; i < STREAMS; i++) {
        if (i == capture->origin || gen->model->streams[i].capture != capture ||
            rng_chance(&gen->rng, 5))
            continue;
        const int event = rng_below(&gen->rng, EVENTS / 2);
        EMIT(gen, OP_EVENT_RECORD, event, i, 0);
        EMIT(gen, OP_STREAM_WAIT, capture->origin, event, 0);
    }
    return EMIT(gen, OP_CAPTURE_END, stream, out);
}

static bool draw_capture_deps(struct generator *gen)
{
    const int stream =
        wrong(gen) ? rng_below(&gen->rng, STREAMS) : pick_stream(gen, true);
    if (stream < 0)
        return false;
    const struct mcapture *capture = gen->model->streams[stream].capture;
    struct step step = {.op = OP_CAPTURE_DEPS};
    step.a[0] = stream;
    step.a[1] = rng_chance(&gen->rng, 8) ? 2 : rng_below(&gen->rng, 2);
    step.a[2] = rng_below(&gen->rng, 3);
    for (int i = 0; i < step.a[2]; i++) {
        step.a[3 + i] = capture == NULL || wrong(gen) ? pick_node(gen)
                                                      : pick_node_of(gen, capture->graph);
        if (step.a[3 + i] < 0 || (i > 0 && step.a[3 + i] == step.a[2 + i]))
            return false;
    }
    return emit(gen, &step);
}

bool draw_capture(struct generator *gen)
{
    const int dice = rng_below(&gen->rng, 100);
    const int stream = rng_below(&gen->rng, STREAMS);
    if (!any_capture(gen->model))
        return dice < 92 ? draw_begin(gen) : draw_end(gen);
    if (dice < 48)
        return draw_captured_work(gen);
    if (dice < 63)
        return draw_fork(gen);
    if (dice < 70)
        return draw_external(gen);
    if (dice < 77)
        return EMIT(gen, rng_chance(&gen->rng, 50) ? OP_CAPTURE_INFO : OP_IS_CAPTURING,
                    stream);
    if (dice < 82)
        return draw_capture_deps(gen);
    if (dice < 85)
        return draw_begin(gen);
    return draw_end(gen);
}

/* ---- user objects ---- */

bool draw_object(struct generator *gen)
{
    const int slot = rng_below(&gen->rng, rng_chance(&gen->rng, 70) ? 2 : OBJECTS);
    const int graph = pick_graph(gen);
    struct mobject *object = &gen->model->objects[slot];
    const int32_t count = rng_chance(&gen->rng, 8) ? 0 : 1 + rng_below(&gen->rng, 2);
    if (!object->exists)
        return EMIT(gen, OP_OBJECT_CREATE, slot, count, !rng_chance(&gen->rng, 8));
    if (object->destroyed || object->total == 0)
        return false;
    switch (rng_below(&gen->rng, 4)) {
    case 0: return object->mine > 0 && EMIT(gen, OP_OBJECT_RETAIN, slot, count);
    case 1:
        return object->mine >= count && object->mine > 0 &&
               EMIT(gen, OP_OBJECT_RELEASE, slot, count);
    case 2:
        if (graph < 0 || object->mine < (count ? count : 1))
            return false;
        return EMIT(gen, OP_GRAPH_RETAIN, graph, slot, count,
                    rng_chance(&gen->rng, 8) ? 2 : rng_below(&gen->rng, 2));
    default:
        if (graph < 0 || gen->model->graphs[graph]->objects[slot] < count)
            return false;
        return EMIT(gen, OP_GRAPH_RELEASE, graph, slot, count);
    }
}

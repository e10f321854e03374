// SPDX-License-Identifier: Apache-2.0
/* The generator's frame: programs, what is there to pick from. */
#include "generate.h"

#include <string.h>

bool emit(struct generator *gen, const struct step *step)
{
    struct transcript *t = gen->transcript;
    if (gen->full || gen->model->lost || t->program.count == STEPS_MAX) {
        gen->full = true;
        return false;
    }
    const int at = t->program.count;
    struct answer *answer = &t->answers[at], predicted;
    t->program.steps[at] = *step;
    *answer = (struct answer){0};
    t->program.count++;
    if (gen->execute == NULL) {
        model_step(gen->model, step, NULL, answer);
        return true;
    }
    gen->execute(step, answer);
    model_step(gen->model, step, answer, &predicted);
    if (predicted.count == UNKNOWN) {
        predicted.count = answer->count;
        memcpy(predicted.v, answer->v, sizeof(predicted.v));
    }
    if (!answers_equal(&predicted, answer)) {
        gen->mismatches++;
        if (gen->mismatch)
            gen->mismatch(gen, &predicted);
    }
    if (gen->model->lost)
        gen->full = true;
    return !gen->full;
}

bool emit_step(struct generator *gen, int op, int count, const int32_t *arguments)
{
    struct step step = {.op = op};
    memcpy(step.a, arguments, (size_t)count * sizeof(arguments[0]));
    return emit(gen, &step);
}

/* ---- picking ---- */

int pick_graph(struct generator *gen)
{
    int found = -1, seen = 0;
    for (int i = 0; i < GRAPHS; i++)
        if (gen->model->graphs[i] && rng_below(&gen->rng, ++seen) == 0)
            found = i;
    return found;
}

int pick_node(struct generator *gen)
{
    int found = -1, seen = 0;
    for (int i = 0; i < gen->next_node; i++)
        if (gen->model->nodes[i] && rng_below(&gen->rng, ++seen) == 0)
            found = i;
    return found;
}

int pick_node_of(struct generator *gen, const struct mgraph *graph)
{
    int found = -1, seen = 0;
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i]->slot >= 0 && rng_below(&gen->rng, ++seen) == 0)
            found = graph->nodes[i]->slot;
    return found;
}

int pick_exec(struct generator *gen)
{
    int found = -1, seen = 0;
    for (int i = 0; i < EXECS; i++)
        if (gen->model->execs[i] && rng_below(&gen->rng, ++seen) == 0)
            found = i;
    return found;
}

int free_graph(struct generator *gen)
{
    for (int i = 0; i < GRAPHS; i++)
        if (gen->model->graphs[i] == NULL)
            return i;
    return -1;
}

int free_exec(struct generator *gen)
{
    for (int i = 0; i < EXECS; i++)
        if (gen->model->execs[i] == NULL)
            return i;
    return -1;
}

int free_node(struct generator *gen)
{
    return gen->next_node < NODES - 40 ? gen->next_node++ : -1;
}

int pick_stream(struct generator *gen, bool capturing)
{
    int found = -1, seen = 0;
    for (int i = capturing ? 1 : 0; i < STREAMS; i++)
        if ((gen->model->streams[i].capture != NULL) == capturing &&
            rng_below(&gen->rng, ++seen) == 0)
            found = i;
    return found;
}

bool any_capture(const struct model *model)
{
    for (int i = 0; i < STREAMS; i++)
        if (model->streams[i].capture)
            return true;
    return false;
}

void order_behind(struct generator *gen, int stream)
{
    if (any_capture(gen->model))
        return;
    if (rng_chance(&gen->rng, 50)) {
        EMIT(gen, OP_CTX_SYNC, 0);
        return;
    }
    for (int i = 0; i < STREAMS; i++) {
        if (i == stream)
            continue;
        const int event = rng_below(&gen->rng, EVENTS / 2);
        EMIT(gen, OP_EVENT_RECORD, event, i, 0);
        EMIT(gen, OP_STREAM_WAIT, stream, event, 0);
    }
}

/* ---- a program ---- */

static bool draw(struct generator *gen)
{
    const struct model *model = gen->model;
    const int dice = rng_below(&gen->rng, 100);
    if (gen->memory > 0 && rng_chance(&gen->rng, gen->memory))
        return draw_memory(gen);
    if (any_capture(model) && dice < 62)
        return draw_capture(gen);
    if (pick_graph(gen) < 0 && dice < 80)
        return dice < 45 ? draw_graph(gen) : draw_capture(gen);
    if (dice < 32)
        return draw_graph(gen);
    if (dice < 41)
        return draw_query(gen);
    if (dice < 78)
        return draw_exec(gen);
    if (dice < 86)
        return draw_stream(gen);
    if (dice < 95)
        return draw_capture(gen);
    return draw_object(gen);
}

void generate(struct generator *gen, uint32_t seed)
{
    gen->rng = (struct rng){seed * 0x100000001b3ull + 17};
    gen->next_node = 0;
    gen->full = false;
    gen->mismatches = 0;
    gen->next_alloc = 0;
    gen->scope = NULL;
    gen->memory = rng_chance(&gen->rng, 35) ? 24 : 0;
    gen->transcript->program.seed = seed;
    gen->transcript->program.count = 0;
    gen->transcript->crashed = -1;
    const int steps = 24 + rng_below(&gen->rng, 48);
    for (int tries = 0; tries < 4 * steps && !gen->full; tries++) {
        if (gen->transcript->program.count >= steps)
            break;
        (void)draw(gen);
    }
}

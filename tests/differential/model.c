// SPDX-License-Identifier: Apache-2.0
/* The model's frame: creation, dispatch of steps, the end of a program. */
#include "model.h"

#include <stdlib.h>
#include <string.h>

struct chunk {
    struct chunk *next;
    size_t used;
    _Alignas(16) unsigned char bytes[1 << 16];
};

void *model_take(struct model *model, size_t bytes)
{
    bytes = (bytes + 15) & ~(size_t)15;
    if (bytes > sizeof(model->chunks->bytes))
        abort(); /* no object of a program is that large */
    if (model->chunks == NULL ||
        model->chunks->used + bytes > sizeof(model->chunks->bytes)) {
        struct chunk *chunk = calloc(1, sizeof(*chunk));
        if (chunk == NULL)
            abort();
        chunk->next = model->chunks;
        model->chunks = chunk;
    }
    void *out = &model->chunks->bytes[model->chunks->used];
    model->chunks->used += bytes;
    return out;
}

struct model *model_create(void)
{
    struct model *model = calloc(1, sizeof(*model));
    if (model == NULL)
        abort();
    for (int b = 0; b < BUFFERS; b++)
        for (int c = 0; c < BUFFER_CELLS; c++)
            model->cells[b][c] =
                (struct mcell){.writer = -1, .defined = b < BUFFER_FIXED};
    for (int b = 0; b < BUFFER_FIXED; b++)
        for (int i = 0; i < BUFFER_BYTES / 4; i++) {
            const uint32_t word = initial_word(b, i);
            memcpy(&model->memory[b][4 * i], &word, 4);
        }
    return model;
}

void model_destroy(struct model *model)
{
    while (model->chunks) {
        struct chunk *next = model->chunks->next;
        free(model->chunks);
        model->chunks = next;
    }
    free(model);
}

static bool capture_code(int32_t code)
{
    return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED &&
           code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* One of the two has changed what the other has not. */
static bool parts_ways(int32_t predicted, int32_t actual)
{
    if (predicted == actual)
        return false;
    return predicted == 0 || actual == 0 || capture_code(predicted) ||
           capture_code(actual);
}

bool model_decide(struct model *model, struct answer *out, CUresult code)
{
    out->code = (int32_t)code;
    if (model->actual && parts_ways(out->code, model->actual->code))
        model->lost = true;
    return code == CUDA_SUCCESS && !model->lost;
}

void model_step(struct model *model, const struct step *step, const struct answer *actual,
                struct answer *out)
{
    *out = (struct answer){0};
    model->actual = actual;
    if (op_is_graph(step->op))
        op_graph(model, step, out);
    else if (op_is_query(step->op))
        op_query(model, step, out);
    else if (op_is_exec(step->op))
        op_exec(model, step, out);
    else if (op_is_object(step->op))
        op_object(model, step, out);
    else if (op_is_memory(step->op))
        op_memory(model, step, out);
    else
        op_capture(model, step, out);
    model->actual = NULL;
}

/* With a fill switched off an H100 now and then runs other nodes wrongly (--never). */
static bool has_disabled_fill(const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if (node->child ? has_disabled_fill(node->child)
                        : node->work.kind == WORK_MEMSET && !node->enabled)
            return true;
    }
    return false;
}

bool model_may_launch(struct model *model, const struct mexec *exec, int stream)
{
    return !exec->racy && !has_disabled_fill(exec->graph) &&
           memory_is_safe(model, exec) && !order_exec_conflicts(model, exec, stream);
}

bool model_races(struct model *model, const struct step *step)
{
    const int32_t *a = step->a;
    if (step->op == OP_LAUNCH) {
        const struct mexec *exec = a[0] < 0 ? NULL : model->execs[a[0]];
        return exec && model->streams[a[1]].capture == NULL &&
               !model_may_launch(model, exec, a[1]);
    }
    if (step->op != OP_WORK || model->streams[a[0]].capture)
        return false;
    const struct work work = step_work(step);
    return order_conflicts(model, &work, a[0]);
}

/* What run_finish() does: captures end, everything is waited for and destroyed. */
void model_finish(struct model *model, struct finish *out)
{
    *out = (struct finish){0};
    for (int i = 0; i < BUFFER_FIXED; i++)
        out->hash[i] = memory_hash(model->memory[i], BUFFER_BYTES);
    for (int i = 0; i < OBJECTS; i++)
        out->destroyed[i] = model->objects[i].destroyed;
}

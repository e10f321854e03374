// SPDX-License-Identifier: Apache-2.0
/* The model's user objects: who holds how many references. */
#include "model.h"

#include <limits.h>

bool op_is_object(int op)
{
    return op >= OP_OBJECT_CREATE && op <= OP_GRAPH_RELEASE;
}

void object_change(struct model *model, int object, int32_t by)
{
    model->objects[object].total += by;
    if (model->objects[object].total == 0)
        model->objects[object].destroyed = 1;
}

static void object_create(struct model *model, const int32_t *a, struct answer *out)
{
    const bool good = a[1] > 0 && a[2] == 1;
    if (!model_decide(model, out, good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    model->objects[a[0]] = (struct mobject){.exists = true, .mine = a[1], .total = a[1]};
}

static void object_count(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    struct mobject *object = &model->objects[a[0]];
    if (!object->exists) {
        out->code = SKIPPED;
        return;
    }
    if (!model_decide(model, out, a[1] > 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    const int32_t by = step->op == OP_OBJECT_RETAIN ? a[1] : -a[1];
    object->mine += by;
    object_change(model, a[0], by);
}

static void graph_retain(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph = model->graphs[a[0]];
    struct mobject *object = &model->objects[a[1]];
    if (graph == NULL || !object->exists) {
        out->code = SKIPPED;
        return;
    }
    const bool good = a[2] > 0 && a[3] <= 1;
    if (!model_decide(model, out, good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    graph->objects[a[1]] += a[2];
    if (a[3] == 1)
        object->mine -= a[2];
    else
        object_change(model, a[1], a[2]);
}

static void graph_release(struct model *model, const int32_t *a, struct answer *out)
{
    struct mgraph *graph = model->graphs[a[0]];
    if (graph == NULL || !model->objects[a[1]].exists) {
        out->code = SKIPPED;
        return;
    }
    const bool good = a[2] > 0 && graph->objects[a[1]] >= a[2];
    if (!model_decide(model, out, good ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE))
        return;
    graph->objects[a[1]] -= a[2];
    object_change(model, a[1], -a[2]);
}

void op_object(struct model *model, const struct step *step, struct answer *out)
{
    switch (step->op) {
    case OP_OBJECT_CREATE: object_create(model, step->a, out); return;
    case OP_OBJECT_RETAIN:
    case OP_OBJECT_RELEASE: object_count(model, step, out); return;
    case OP_GRAPH_RETAIN: graph_retain(model, step->a, out); return;
    default: graph_release(model, step->a, out); return;
    }
}

// SPDX-License-Identifier: Apache-2.0
/* The model's bytes: what each kind of work does to memory, and a graph one node after
 * the other. */
#include <math.h>
#include <string.h>

#include "model.h"

static unsigned char *at(struct model *model, int32_t address)
{
    return &model->memory[BUFFER_OF(address)][OFFSET_OF(address)];
}

static uint32_t word_get(const unsigned char *from, int i)
{
    uint32_t out;
    memcpy(&out, from + 4 * i, 4);
    return out;
}

static void word_set(unsigned char *to, int i, uint32_t value)
{
    memcpy(to + 4 * i, &value, 4);
}

/* As the PTX has it: every operation rounds once, to nearest even. */
static uint32_t float_of(uint32_t a, uint32_t b)
{
    const float x = (float)a, y = (float)(b | 1u);
    const float quotient = x / y;
    const float root = sqrtf(quotient);
    const float sum = fmaf(root, x, y);
    uint32_t bits;
    memcpy(&bits, &sum, 4);
    return bits;
}

static void run_kernel(struct model *model, const int32_t *p)
{
    unsigned char *dst = at(model, p[1]);
    const bool reads = p[0] != KERNEL_STORE && p[0] != KERNEL_ATOMIC;
    const unsigned char *a = reads ? at(model, p[2]) : dst;
    const unsigned char *b =
        p[0] == KERNEL_ADD || p[0] == KERNEL_FLOAT ? at(model, p[3]) : dst;
    const uint32_t v = (uint32_t)p[4];
    for (int i = 0; i < CELL_BYTES / 4; i++) {
        const uint32_t t = (uint32_t)i, old = word_get(dst, i);
        uint32_t value = 0;
        switch (p[0]) {
        case KERNEL_STORE: value = v + t * 7u; break;
        case KERNEL_MIX: value = old * 5u + word_get(a, i) + v; break;
        case KERNEL_ADD: value = word_get(a, i) + word_get(b, i) * 3u; break;
        case KERNEL_FLOAT: value = float_of(word_get(a, i), word_get(b, i)); break;
        default: value = old + 4u * v + 6u; break;
        }
        word_set(dst, i, value);
    }
}

static void run_memset(struct model *model, const int32_t *p)
{
    const uint32_t value = (uint32_t)p[1];
    for (int row = 0; row < p[4]; row++)
        for (int i = 0; i < p[3]; i++)
            memcpy(at(model, p[0] + row * ROW_PITCH) + i * p[2], &value, (size_t)p[2]);
}

static void run_batch(struct model *model, const int32_t *p)
{
    /* write32 value, wait32 >= value, write64 value + 1 (see batch_of in run_work.c) */
    unsigned char *to = at(model, p[0]);
    const uint64_t wide = (uint64_t)(uint32_t)p[1] + 1;
    word_set(to, 0, (uint32_t)p[1]);
    if (p[2] > 2)
        memcpy(to, &wide, 8);
}

void work_run(struct model *model, const struct work *work)
{
    const int32_t *p = work->p;
    unsigned char *cell;
    switch (work->kind) {
    case WORK_KERNEL: run_kernel(model, p); return;
    case WORK_MEMCPY:
        for (int row = 0; row < p[3]; row++)
            memmove(at(model, p[0] + row * ROW_PITCH), at(model, p[1] + row * ROW_PITCH),
                    (size_t)p[2]);
        return;
    case WORK_MEMSET: run_memset(model, p); return;
    case WORK_HOST:
        cell = at(model, p[1]);
        for (int i = 0; i < CELL_BYTES / 4; i++)
            word_set(cell, i,
                     word_get(cell, i) * 3u + (uint32_t)p[2] + (uint32_t)(i * p[0]));
        return;
    case WORK_BATCH: run_batch(model, p); return;
    case WORK_ALLOC: model->allocs[p[0]].live = true; return;
    case WORK_FREE:
        memory_freed(model, &model->allocs[BUFFER_OF(p[0]) - BUFFER_ALLOC]);
        return;
    default: return;
    }
}

static void node_run(struct model *model, const struct mnode *node)
{
    if (node->child)
        graph_run(model, node->child);
    else if (node->enabled)
        work_run(model, &node->work);
    if (node->work.kind == WORK_RECORD) {
        struct mevent *event = &model->events[node->work.p[0]];
        event->state = EVENT_RECORDED;
        event->capture = NULL;
    }
}

/* In an order that respects the dependencies: each round runs what is ready. */
void graph_run(struct model *model, const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = 0;
    for (int done = 0; done < graph->count;) {
        const int before = done;
        for (int i = 0; i < graph->count; i++) {
            struct mnode *node = graph->nodes[i];
            bool ready = !node->mark;
            for (int k = 0; ready && k < node->deps.count; k++)
                ready = node->deps.at[k].node->mark;
            if (!ready)
                continue;
            node_run(model, node);
            node->mark = 1;
            done++;
        }
        if (done == before)
            return; /* a cycle: such a graph is never launched */
    }
}

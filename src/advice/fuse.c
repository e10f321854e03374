// SPDX-License-Identifier: Apache-2.0
/* Runs of small kernels that one could do the work of: the same threads of one stream, one
 * after the other, each over a buffer of the one before. What a kernel does with it is not
 * known here, so it is a hint and an estimate. */
#include "advice/advice.h"
#include <string.h>

enum {
    LEAST = 3,
    POINTERS_MAX = 8,
    FUSIONS_MAX = 8,
    BYTES = 4 /* of a thread's value */
};
static const double small_ns =
    20e3; /* of a kernel: above, launches are not what it takes */

typedef struct pointers {
    uint64_t at[POINTERS_MAX];
    uint32_t count;
} pointers;

static void add_pointer(const gph_advice *advice, pointers *all, const char *from,
                        size_t bytes)
{
    uint64_t value;
    if (bytes != sizeof(value) || all->count == POINTERS_MAX)
        return;
    memcpy(&value, from, sizeof(value));
    if (gphi_model_memory(advice->model, value, false) ||
        gphi_model_memory(advice->model, value, true))
        all->at[all->count++] = value;
}

static pointers pointers_of(const gph_advice *advice, const gphi_repeat *repeat,
                            uint32_t place)
{
    const gphi_beat *beat = gphi_repeat_beat(advice, repeat, 0, place);
    const gphi_site *site = gphi_repeat_site(advice, repeat, place);
    const gphi_function *f = gphi_model_function(advice->model, site->function);
    const char *from = gphi_vec_at(&advice->values, beat->value_at);
    const size_t most = beat->value_words * sizeof(uint64_t);
    pointers all = {.count = 0};
    for (uint32_t i = 0; f && f->args && i < f->arg_count; i++)
        if (f->args[i].offset + f->args[i].bytes <= most)
            add_pointer(advice, &all, from + f->args[i].offset, f->args[i].bytes);
    for (uint32_t i = 0; !(f && f->args) && i < beat->value_words; i++)
        add_pointer(advice, &all, from + i * sizeof(uint64_t), sizeof(uint64_t));
    return all;
}

static bool is_shared(const pointers *a, const pointers *b)
{
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            if (a->at[i] == b->at[j])
                return true;
    return false;
}

/* Whether the kernel at a place goes on with the work of the call before it. */
static bool goes_on(const gph_advice *advice, const gphi_repeat *repeat, uint32_t place)
{
    const gphi_beat *now = gphi_repeat_beat(advice, repeat, 0, place), *before = now - 1;
    if (now->threads == 0 || now->threads != before->threads ||
        now->grid != before->grid ||
        gphi_repeat_site(advice, repeat, place)->stream !=
            gphi_repeat_site(advice, repeat, place - 1)->stream)
        return false;
    const pointers a = pointers_of(advice, repeat, place - 1),
                   b = pointers_of(advice, repeat, place);
    return is_shared(&a, &b);
}

gph_status gphi_repeat_fuse(const gph_advice *advice, gphi_repeat *repeat)
{
    const gphi_piece *first = gphi_vec_at(&repeat->pieces, 0);
    const uint32_t all =
        repeat->inner > 1 ? first->count / repeat->inner : (uint32_t)repeat->loop.period;
    const double each =
        repeat->busy_ns /
        (repeat->prediction.launches > 0 ? repeat->prediction.launches : 1);
    for (uint32_t i = 1; i < all && each < small_ns; i++) {
        gphi_fusion run = {.from = i - 1, .count = 1};
        for (; i < all && goes_on(advice, repeat, i); i++)
            run.count++;
        if (run.count < LEAST || repeat->fusions.count == FUSIONS_MAX)
            continue;
        const uint64_t threads = gphi_repeat_beat(advice, repeat, 0, run.from)->threads;
        run.saves_ns =
            (run.count - 1) * gphi_advice_anchor(advice, GPHI_ANCHOR_GRAPH_NODE);
        run.bytes = 2 * BYTES * threads * (run.count - 1);
        const gph_status status = gphi_vec_push(&repeat->fusions, &run);
        if (status != GPH_OK)
            return status;
    }
    return GPH_OK;
}

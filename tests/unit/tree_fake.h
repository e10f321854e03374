// SPDX-License-Identifier: Apache-2.0
/* A tree without a driver: memory is an array of words, a pool is a list of blocks, a
 * recording is a list of stores. Functions of tests allocate, store and free through
 * fake_*(); while they are recorded, stores are noted, else carried out.
 *
 * A tensor is some units; each unit is a word of `words`. A store fills a tensor with a
 * hash of its salt and of everything in the tensors it reads, so a unit that was
 * overwritten too early shows in every value after it. */
#ifndef TREE_FAKE_H
#define TREE_FAKE_H
#include "base/fail.h"
#include "fault.h"
#include "test.h"
#include "tree/tree.h"
#include "unit/tree_spec.h"

enum {
    POOL_UNITS = 4096, /* of each pool */
    POOL_FIRST = 1024,
    BESIDE_FIRST = POOL_FIRST + POOL_UNITS,
    USER_FIRST = BESIDE_FIRST + POOL_UNITS,
    WORDS = USER_FIRST + 4096,
    BLOCKS_MAX = 512
};

typedef struct fake_block {
    uint32_t first, units;
} fake_block;

typedef struct fake_pool {
    fake_block blocks[BLOCKS_MAX]; /* live, in any order */
    uint32_t count;
    uint32_t first; /* unit */
} fake_pool;

typedef struct fake_store {
    uint64_t salt;
    CUdeviceptr to, from[FROM_MAX];
    uint32_t units, from_units[FROM_MAX], from_count;
} fake_store;

typedef struct fake_recording {
    fake_store *stores;
    uint32_t count, input_count;
    CUdeviceptr *buffers; /* of copied inputs, else 0 */
    uint32_t *units;
} fake_recording;

typedef struct fake {
    gphi_tree_backend base;
    gph_allocator heap;
    fake_pool pools[2];
    uint64_t words[WORDS];
    fake_recording *open;
    enum gphi_tree_pool using_pool;
    long fail_at; /* operations left before the failing one; negative: none fails */
    gph_status fail_with;
    uint32_t runs, records, replays, restores, copies;
} fake;

static uint64_t *fake_word(fake *f, CUdeviceptr address)
{
    return &f->words[address / UNIT];
}

static bool fake_fails(fake *f)
{
    return f->fail_at >= 0 && f->fail_at-- == 0;
}

/* ---- what functions use ---- */

static fake *fake_of(const gph_call *call)
{
    return (fake *)(void *)call->pool;
}

/* Lowest address that fits; 0: none. */
static CUdeviceptr fake_alloc_in(fake_pool *pool, uint32_t units)
{
    for (uint32_t first = pool->first; first + units <= pool->first + POOL_UNITS;) {
        uint32_t i = 0;
        while (i < pool->count &&
               (pool->blocks[i].first >= first + units ||
                pool->blocks[i].first + pool->blocks[i].units <= first))
            i++;
        if (i == pool->count) {
            if (pool->count == BLOCKS_MAX)
                return 0;
            pool->blocks[pool->count++] = (fake_block){first, units};
            return (CUdeviceptr)first * UNIT;
        }
        first = pool->blocks[i].first + pool->blocks[i].units;
    }
    return 0;
}

static bool fake_free_in(fake_pool *pool, CUdeviceptr address)
{
    for (uint32_t i = 0; i < pool->count; i++)
        if (pool->blocks[i].first == address / UNIT) {
            pool->blocks[i] = pool->blocks[--pool->count];
            return true;
        }
    return false;
}

static CUdeviceptr fake_alloc(gph_call *call, uint32_t units)
{
    fake *f = fake_of(call);
    return fake_alloc_in(&f->pools[f->using_pool], units);
}

static void fake_free(gph_call *call, CUdeviceptr address)
{
    fake *f = fake_of(call);
    CHECK(fake_free_in(&f->pools[f->using_pool], address));
}

static void fake_carry_out(fake *f, const fake_store *store)
{
    uint64_t hash = store->salt;
    for (uint32_t i = 0; i < store->from_count; i++)
        for (uint32_t u = 0; u < store->from_units[i]; u++)
            hash = spec_mix(hash, *fake_word(f, store->from[i] + u * UNIT));
    for (uint32_t u = 0; u < store->units; u++)
        *fake_word(f, store->to + u * UNIT) = spec_mix(hash, u);
}

static gph_status fake_put(gph_call *call, const fake_store *store)
{
    fake *f = fake_of(call);
    if (call->phase != GPH_PHASE_CAPTURE) {
        fake_carry_out(f, store);
        return GPH_OK;
    }
    fake_recording *open = f->open;
    fake_store *stores =
        realloc(open->stores, (open->count + 1) * sizeof(*stores)); /* the test's own */
    open->stores = stores;
    stores[open->count++] = *store;
    return GPH_OK;
}

/* ---- functions by description ---- */

static fake_store spec_store(const spec *s, uint32_t output, const gph_call *call)
{
    fake_store store = {.salt = spec_salt(s, output, call->key, call->key_count)};
    for (uint32_t i = 0; i < call->input_count && i < FROM_MAX; i++) {
        store.from[i] = call->inputs[i].data;
        store.from_units[i] = spec_units(&call->inputs[i]);
        store.from_count++;
    }
    return store;
}

static gph_status spec_fn(void *user, gph_call *call, gph_error *error)
{
    spec *s = user;
    CUdeviceptr temporaries[8];
    s->calls++;
    if (call->phase == GPH_PHASE_CAPTURE && s->capture_fails != GPH_OK)
        return gphi_fail(error, s->capture_fails, "it synchronizes");
    for (uint32_t i = 0; i < s->temporaries; i++) {
        temporaries[i] = fake_alloc(call, 3);
        fake_store garbage = {.salt = 77 + i, .to = temporaries[i], .units = 3};
        fake_put(call, &garbage);
    }
    for (uint32_t k = 0; k < s->outputs; k++) {
        if (s->view_input[k] != 0) {
            call->outputs[k] = call->inputs[s->view_input[k] - 1];
            continue;
        }
        if (s->view_output[k] != 0) {
            call->outputs[k] = call->outputs[s->view_output[k] - 1];
            continue;
        }
        call->outputs[k] = spec_tensor(0, s->units[k]);
        if (s->units[k] == 0)
            continue;
        fake_store store = spec_store(s, k, call);
        store.to = call->outputs[k].data = fake_alloc(call, s->units[k]);
        store.units = s->units[k];
        fake_put(call, &store);
    }
    if (s->mutates != 0) {
        fake_store store = spec_store(s, 100, call);
        store.to = call->inputs[s->mutates - 1].data;
        store.units = spec_units(&call->inputs[s->mutates - 1]);
        fake_put(call, &store);
    }
    for (uint32_t i = 0; i < s->temporaries; i++)
        fake_free(call, temporaries[i]);
    return GPH_OK;
}

static value value_at(fake *f, const gph_tensor *tensor)
{
    value out = {.units = spec_units(tensor)};
    for (uint32_t u = 0; u < out.units; u++)
        out.unit[u] = *fake_word(f, tensor->data + u * UNIT);
    return out;
}

/* The n-th tensor of the user's own memory, filled. */
static gph_tensor user_tensor(fake *f, uint32_t n, uint32_t units, uint64_t seed)
{
    const gph_tensor tensor = spec_tensor((USER_FIRST + n * UNITS_MAX) * UNIT, units);
    for (uint32_t u = 0; u < units; u++)
        *fake_word(f, tensor.data + u * UNIT) = spec_mix(seed, u);
    return tensor;
}
/* ---- the backend ---- */

static fake *fake_from(gphi_tree_backend *base)
{
    return (fake *)base;
}

static gph_status fake_call(fake *f, enum gphi_tree_pool pool, gph_phase phase,
                            const gphi_tree_work *work, const gph_tensor *inputs,
                            gph_tensor *outputs, gph_error *error)
{
    gph_call call = {.size = sizeof(call),
                     .phase = phase,
                     .pool = (gph_pool *)(void *)f,
                     .inputs = inputs,
                     .outputs = outputs,
                     .input_count = work->input_count,
                     .output_count = work->output_count,
                     .key = work->key,
                     .key_count = work->key_count};
    f->using_pool = pool;
    return work->fn(work->user, &call, error);
}

static void fake_drain(gphi_tree_backend *base)
{
    (void)base;
}

static void fake_destroy(gphi_tree_backend *base)
{
    fake *f = fake_from(base);
    CHECK(f->pools[GPHI_TREE_BESIDE].count == 0);
    CHECK(f->pools[GPHI_TREE_POOL].count == 0);
}

static gph_status fake_run(gphi_tree_backend *base, enum gphi_tree_pool pool,
                           const gphi_tree_work *work, gph_tensor *outputs,
                           gph_error *error)
{
    fake *f = fake_from(base);
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "run fails");
    f->runs++;
    return fake_call(f, pool, GPH_PHASE_EAGER, work, work->inputs, outputs, error);
}

static void fake_forget(gphi_tree_backend *base, void *recording)
{
    fake_recording *it = recording;
    (void)base;
    free(it->stores);
    free(it->buffers);
    free(it->units);
    free(it);
}

static gph_status fake_record(gphi_tree_backend *base, const gphi_tree_work *work,
                              gph_tensor *outputs, void **out, gph_error *error)
{
    fake *f = fake_from(base);
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "record fails");
    fake_recording *it = calloc(1, sizeof(*it));
    const fake_pool before = f->pools[GPHI_TREE_POOL];
    it->input_count = work->input_count;
    it->buffers = calloc(work->input_count + 1, sizeof(*it->buffers));
    it->units = calloc(work->input_count + 1, sizeof(*it->units));
    gph_tensor *inputs = calloc(work->input_count + 1, sizeof(*inputs));
    for (uint32_t i = 0; i < work->input_count; i++) {
        inputs[i] = work->inputs[i];
        if (work->kinds[i] != GPHI_TREE_COPIED)
            continue;
        it->units[i] = spec_units(&inputs[i]);
        if (it->units[i] == 0)
            continue;
        it->buffers[i] = fake_alloc_in(&f->pools[GPHI_TREE_POOL], it->units[i]);
        inputs[i].data = it->buffers[i];
    }
    f->open = it;
    const gph_status status =
        fake_call(f, GPHI_TREE_POOL, GPH_PHASE_CAPTURE, work, inputs, outputs, error);
    f->open = NULL;
    free(inputs);
    if (status != GPH_OK) {
        f->pools[GPHI_TREE_POOL] = before;
        fake_forget(base, it);
        return status;
    }
    /* Buffers lie over what comes later, but where an output is a view of one. */
    for (uint32_t i = 0; i < work->input_count; i++) {
        bool is_output = false;
        for (uint32_t k = 0; k < work->output_count; k++)
            is_output |= outputs[k].data == it->buffers[i];
        if (it->buffers[i] != 0 && !is_output)
            fake_free_in(&f->pools[GPHI_TREE_POOL], it->buffers[i]);
    }
    f->records++;
    *out = it;
    return GPH_OK;
}

static gph_status fake_replay(gphi_tree_backend *base, void *recording,
                              const gph_tensor *const *inputs, gph_error *error)
{
    fake *f = fake_from(base);
    const fake_recording *it = recording;
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "replay fails");
    for (uint32_t i = 0; i < it->input_count; i++)
        if (it->buffers[i] != 0) {
            memmove(fake_word(f, it->buffers[i]), fake_word(f, inputs[i]->data),
                    it->units[i] * sizeof(uint64_t));
            f->copies++;
        }
    for (uint32_t i = 0; i < it->count; i++)
        fake_carry_out(f, &it->stores[i]);
    f->replays++;
    return GPH_OK;
}

static CUdeviceptr fake_find(gphi_tree_backend *base, enum gphi_tree_pool pool,
                             CUdeviceptr address, uint64_t *bytes)
{
    const fake_pool *in = &fake_from(base)->pools[pool];
    const uint32_t unit = (uint32_t)(address / UNIT);
    for (uint32_t i = 0; i < in->count; i++)
        if (unit >= in->blocks[i].first &&
            unit < in->blocks[i].first + in->blocks[i].units) {
            *bytes = (uint64_t)in->blocks[i].units * UNIT;
            return (CUdeviceptr)in->blocks[i].first * UNIT;
        }
    return 0;
}

static void fake_free_block(gphi_tree_backend *base, enum gphi_tree_pool pool,
                            CUdeviceptr block)
{
    CHECK(fake_free_in(&fake_from(base)->pools[pool], block));
}

static gph_status fake_checkpoint(gphi_tree_backend *base, void **out, gph_error *error)
{
    fake *f = fake_from(base);
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "checkpoint fails");
    fake_pool *copy = malloc(sizeof(*copy));
    *copy = f->pools[GPHI_TREE_POOL];
    *out = copy;
    return GPH_OK;
}

static gph_status fake_restore(gphi_tree_backend *base, void *checkpoint,
                               const CUdeviceptr *live, uint32_t count, gph_error *error)
{
    fake *f = fake_from(base);
    const fake_pool *was = checkpoint;
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "restore fails");
    CHECK(f->pools[GPHI_TREE_POOL].count == 0); /* stale books are empty */
    fake_pool *now = &f->pools[GPHI_TREE_POOL];
    now->count = 0;
    for (uint32_t i = 0; i < count; i++) {
        bool is_known = false;
        for (uint32_t k = 0; k < was->count; k++)
            if (was->blocks[k].first == live[i] / UNIT) {
                now->blocks[now->count++] = was->blocks[k];
                is_known = true;
            }
        CHECK(is_known);
    }
    f->restores++;
    return GPH_OK;
}

static void fake_drop(gphi_tree_backend *base, void *checkpoint)
{
    (void)base;
    free(checkpoint);
}

static gph_status fake_copy(gphi_tree_backend *base, CUdeviceptr to, CUdeviceptr from,
                            uint64_t bytes, gph_error *error)
{
    fake *f = fake_from(base);
    if (fake_fails(f))
        return gphi_fail(error, f->fail_with, "copy fails");
    memmove(fake_word(f, to), fake_word(f, from), bytes / UNIT * sizeof(uint64_t));
    return GPH_OK;
}

static const struct gphi_tree_ops fake_ops = {.drain = fake_drain,
                                              .destroy = fake_destroy,
                                              .run = fake_run,
                                              .record = fake_record,
                                              .replay = fake_replay,
                                              .forget = fake_forget,
                                              .block = fake_find,
                                              .free = fake_free_block,
                                              .checkpoint = fake_checkpoint,
                                              .restore = fake_restore,
                                              .drop = fake_drop,
                                              .copy = fake_copy};

static void fake_init(fake *f)
{
    memset(f, 0, sizeof(*f));
    f->base.ops = &fake_ops;
    f->pools[GPHI_TREE_POOL].first = POOL_FIRST;
    f->pools[GPHI_TREE_BESIDE].first = BESIDE_FIRST;
    f->fail_at = -1;
    f->fail_with = 2; /* CUDA_ERROR_OUT_OF_MEMORY */
}
#endif

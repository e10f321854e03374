// SPDX-License-Identifier: Apache-2.0
/* A tree on a real driver: a stream, a pool for recordings and one beside it, and
 * recordings as src/callable makes them.
 *
 * Buffers of copied inputs are shared (GPHI_RECORD_SHARE_INPUTS): they lie where later
 * calls may lie, as an input of an eager call would. What a function keeps for itself in
 * the pool (a cached workspace) is pinned: it stays allocated whichever checkpoint is
 * restored, until the function frees it. Recordings that were made before it may write
 * over it, so the pool is asked before each replay (GPHI_RECORD_ORDERED). */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "callable/record.h"
#include "cuda/runtime.h"
#include "cuda/status.h"
#include "memory/pool.h"
#include "tree/tree.h"
#include <string.h>

struct backend {
    gphi_tree_backend base;
    gph_runtime *runtime;
    gph_pool *pools[2]; /* GPHI_TREE_POOL, GPHI_TREE_BESIDE */
    gph_rng *rng;
    CUstream stream;
    bool owns_stream;
    bool keeps_graphs;
    gphi_vec pins;          /* struct pin */
    uint64_t pin_count;     /* ever */
    gphi_vec before, after; /* gph_pool_range: the pool around a warm-up */
    gphi_vec owed;          /* struct owed */
};

/* What a function keeps. */
struct pin {
    CUdeviceptr address;
    uint64_t bytes;
    uint64_t number; /* in the order in which they came */
};

/* A block that the pool has refused to free, since a driver call failed: it is tried
 * again before the next work. */
struct owed {
    enum gphi_tree_pool pool;
    CUdeviceptr block;
};

struct recording {
    gphi_record *record;
    uint32_t input_count;
    bool copies;        /* some input is copied */
    gph_tensor *inputs; /* of a launch: `data` of copied ones, 0 for others */
    uint8_t *kinds;
};

struct checkpoint {
    gph_checkpoint *checkpoint;
    uint64_t pin_count; /* how many there had been */
};

static struct backend *backend_from(gphi_tree_backend *base);

/* ---- functions ---- */

static gphi_record_spec spec_of(const struct backend *backend, enum gphi_tree_pool pool,
                                const gphi_tree_work *work)
{
    return (gphi_record_spec){
        .function = work->fn,
        .user = work->user,
        .arguments = {.inputs = work->inputs,
                      .input_count = work->input_count,
                      .key_count = work->key_count,
                      .key = work->key},
        .name = work->name,
        .pool = backend->pools[pool],
        .stream = backend->stream,
        .rng = backend->rng,
        .output_count = work->output_count,
        .flags = (uint32_t)GPHI_RECORD_SHARE_INPUTS | (uint32_t)GPHI_RECORD_ORDERED |
                 (uint32_t)GPHI_RECORD_PULL |
                 (backend->keeps_graphs ? (uint32_t)GPHI_RECORD_KEEP_GRAPH : 0)};
}

static void settle_owed(struct backend *backend)
{
    const struct owed *owed = backend->owed.items;
    size_t left = 0;
    for (size_t i = 0; i < backend->owed.count; i++)
        if (gph_pool_free(backend->pools[owed[i].pool], owed[i].block, backend->stream,
                          NULL) != GPH_OK)
            ((struct owed *)backend->owed.items)[left++] = owed[i];
    backend->owed.count = left;
}

/* The live allocations of the tree's pool, by address; room for `more` others. */
static gph_status list_live(struct backend *backend, gphi_vec *out, uint32_t more,
                            gph_error *error)
{
    return gphi_pool_list(backend->pools[GPHI_TREE_POOL], 0, more, out, error);
}

static void pin(struct backend *backend, const gphi_tree_work *work,
                const gph_pool_range *range)
{
    struct pin *it = gphi_vec_add(&backend->pins, 1);
    gphi_log("tree", GPH_LOG_WARN,
             "\"%s\" keeps %llu bytes at 0x%llx of the tree's pool%s", work->name,
             (unsigned long long)range->bytes, range->address,
             !it ? ", which cannot be noted" : "");
    if (it)
        *it = (struct pin){range->address, range->bytes, backend->pin_count++};
}

static bool is_output(const gph_pool_range *range, const gph_tensor *outputs,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (outputs[i].data >= range->address &&
            outputs[i].data - range->address < range->bytes)
            return true;
    return false;
}

/* What came to the pool in a warm-up and is not an output. */
static void pin_new(struct backend *backend, const gphi_tree_work *work,
                    const gph_tensor *outputs)
{
    const gph_pool_range *old = backend->before.items, *now = backend->after.items;
    size_t k = 0;
    for (size_t i = 0; i < backend->after.count; i++) {
        while (k < backend->before.count && old[k].address < now[i].address)
            k++;
        const bool is_old = k < backend->before.count && old[k].address == now[i].address;
        if (!is_old && !is_output(&now[i], outputs, work->output_count))
            pin(backend, work, &now[i]);
    }
}

enum { KEPT_MAX = 64 }; /* of one warm-up, for which there is room at once */

static gph_status run(gphi_tree_backend *base, enum gphi_tree_pool pool,
                      const gphi_tree_work *work, gph_tensor *outputs, gph_error *error)
{
    struct backend *backend = backend_from(base);
    gphi_record_spec spec = spec_of(backend, pool, work);
    spec.phase = pool == GPHI_TREE_POOL ? "warm-up" : NULL;
    settle_owed(backend);
    if (pool != GPHI_TREE_POOL)
        return gphi_function_run(backend->runtime, &spec, GPH_PHASE_EAGER,
                                 backend->stream, outputs, error);
    const uint32_t more = work->output_count + KEPT_MAX;
    GPHI_TRY(list_live(backend, &backend->after, more, error)); /* room */
    GPHI_TRY(list_live(backend, &backend->before, 0, error));
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&backend->pins, KEPT_MAX) == GPH_OK,
                       "warming up \"%s\"", work->name));
    GPHI_TRY(gphi_function_run(backend->runtime, &spec, GPH_PHASE_EAGER, backend->stream,
                               outputs, error));
    if (list_live(backend, &backend->after, 0, NULL) == GPH_OK)
        pin_new(backend, work, outputs);
    return GPH_OK;
}

static void forget(gphi_tree_backend *base, void *recording)
{
    struct recording *it = recording;
    const gph_allocator heap = backend_from(base)->runtime->heap;
    gphi_record_destroy(it->record);
    if (it->input_count != 0) {
        gphi_heap_free(heap, it->inputs, it->input_count * sizeof(*it->inputs));
        gphi_heap_free(heap, it->kinds, it->input_count);
    }
    gphi_heap_free(heap, it, sizeof(*it));
}

static struct recording *recording_create(gph_allocator heap, const gphi_tree_work *work)
{
    struct recording *it = gphi_heap_alloc(heap, sizeof(*it));
    if (!it || work->input_count == 0)
        return it;
    it->input_count = work->input_count;
    it->inputs = gphi_heap_array(heap, work->input_count, sizeof(*it->inputs));
    it->kinds = gphi_heap_alloc(heap, work->input_count);
    if (!it->inputs || !it->kinds) {
        gphi_heap_free(heap, it->inputs, work->input_count * sizeof(*it->inputs));
        gphi_heap_free(heap, it->kinds, work->input_count);
        gphi_heap_free(heap, it, sizeof(*it));
        return NULL;
    }
    memcpy(it->kinds, work->kinds, work->input_count);
    for (uint32_t i = 0; i < work->input_count; i++)
        it->copies |= work->kinds[i] == GPHI_TREE_COPIED;
    return it;
}

/* What the recording left in the pool that is not an output. */
static gph_status pin_kept(struct backend *backend, const gphi_tree_work *work,
                           const gphi_record *record, gph_error *error)
{
    gphi_vec *ranges = &backend->after;
    GPHI_TRY(gphi_pool_list(record->pool, record->id, 0, ranges, error));
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&backend->pins, ranges->count) == GPH_OK,
                       "%zu ranges of a recording", ranges->count));
    const gph_pool_range *range = ranges->items;
    for (size_t i = 0; i < ranges->count; i++)
        if (range[i].kind == GPH_RANGE_KEPT)
            pin(backend, work, &range[i]);
    return GPH_OK;
}

static void set_modes(struct recording *it, const gphi_tree_work *work)
{
    static const uint8_t modes[] = {[GPHI_TREE_COPIED] = GPH_INPUT_COPY,
                                    [GPHI_TREE_STATIC] = GPH_INPUT_STATIC,
                                    [GPHI_TREE_MANAGED] = GPH_INPUT_MANAGED};
    for (uint32_t i = 0; i < work->input_count; i++)
        it->kinds[i] = modes[work->kinds[i]];
}

static gph_status record(gphi_tree_backend *base, const gphi_tree_work *work,
                         gph_tensor *outputs, void **out, gph_error *error)
{
    struct backend *backend = backend_from(base);
    settle_owed(backend);
    struct recording *it = recording_create(backend->runtime->heap, work);
    GPHI_TRY(gphi_made(error, it, "recording \"%s\"", work->name));
    set_modes(it, work);
    gphi_record_spec spec = spec_of(backend, GPHI_TREE_POOL, work);
    spec.modes = it->kinds;
    gph_status status = gphi_record_create(backend->runtime, &spec, &it->record, error);
    GPHI_THEN(status, pin_kept(backend, work, it->record, error));
    if (status != GPH_OK) {
        forget(base, it);
        return status;
    }
    for (uint32_t i = 0; i < work->output_count; i++)
        outputs[i] = it->record->outputs[i];
    *out = it;
    return GPH_OK;
}

static gphi_record *record_of(void *recording)
{
    return ((struct recording *)recording)->record;
}

static gph_status adopt(gphi_tree_backend *base, const gphi_tree_work *work,
                        const gph_tensor *outputs, CUgraph graph, gph_recording_id id,
                        void **out, gph_error *error)
{
    struct backend *backend = backend_from(base);
    struct recording *it = recording_create(backend->runtime->heap, work);
    GPHI_TRY(gphi_made(error, it, "adopting \"%s\"", work->name));
    set_modes(it, work);
    gphi_record_spec spec = spec_of(backend, GPHI_TREE_POOL, work);
    spec.modes = it->kinds;
    spec.rng = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = backend->stream;
    gph_status status = gphi_record_adopt(backend->runtime, &spec, outputs, graph, id,
                                          &it->record, error);
    GPHI_THEN(status, gphi_record_instantiate(it->record, &options, error));
    if (status != GPH_OK) {
        if (it->record) { /* they stay the caller's */
            it->record->graph = NULL;
            it->record->id = 0;
        }
        forget(base, it);
        return status;
    }
    *out = it;
    return GPH_OK;
}

static gph_status replay(gphi_tree_backend *base, void *recording,
                         const gph_tensor *const *inputs, gph_error *error)
{
    struct recording *it = recording;
    const struct backend *backend = backend_from(base);
    if (!it->copies)
        return gphi_record_launch(it->record, NULL, NULL, backend->stream, error);
    for (uint32_t i = 0; i < it->input_count; i++)
        if (it->kinds[i] == GPH_INPUT_COPY)
            it->inputs[i].data = inputs[i]->data;
    return gphi_record_launch(it->record, NULL, it->inputs, backend->stream, error);
}

/* ---- memory ---- */

static CUdeviceptr block(gphi_tree_backend *base, enum gphi_tree_pool pool,
                         CUdeviceptr address, uint64_t *bytes)
{
    return gphi_pool_find(backend_from(base)->pools[pool], address, bytes);
}

static void free_block(gphi_tree_backend *base, enum gphi_tree_pool pool,
                       CUdeviceptr address)
{
    struct backend *backend = backend_from(base);
    gph_error error;
    if (gph_pool_free(backend->pools[pool], address, backend->stream, &error) == GPH_OK)
        return;
    struct owed *owed = gphi_vec_add(&backend->owed, 1);
    if (owed)
        *owed = (struct owed){pool, address};
    gphi_log("tree", GPH_LOG_WARN, "an output is not freed yet: %s", error.message);
}

static gph_status checkpoint(gphi_tree_backend *base, void **out, gph_error *error)
{
    struct backend *backend = backend_from(base);
    const gph_allocator heap = backend->runtime->heap;
    struct checkpoint *it = gphi_heap_alloc(heap, sizeof(*it));
    GPHI_TRY(gphi_made(error, it, "a checkpoint"));
    const gph_status status =
        gph_checkpoint_take(backend->pools[GPHI_TREE_POOL], &it->checkpoint, error);
    if (status != GPH_OK) {
        gphi_heap_free(heap, it, sizeof(*it));
        return status;
    }
    it->pin_count = backend->pin_count;
    *out = it;
    return GPH_OK;
}

/* A restored pool has forgotten what was owed in it. */
static void forget_owed(struct backend *backend)
{
    struct owed *owed = backend->owed.items;
    size_t left = 0;
    for (size_t i = 0; i < backend->owed.count; i++)
        if (owed[i].pool != GPHI_TREE_POOL)
            owed[left++] = owed[i];
    backend->owed.count = left;
}

/* Forgets what functions have freed since. */
static void drop_freed_pins(struct backend *backend)
{
    struct pin *pins = backend->pins.items;
    size_t left = 0;
    uint64_t bytes;
    for (size_t i = 0; i < backend->pins.count; i++)
        if (gphi_pool_find(backend->pools[GPHI_TREE_POOL], pins[i].address, &bytes) ==
            pins[i].address)
            pins[left++] = pins[i];
    backend->pins.count = left;
}

/* Pins that the checkpoint knows stay; later ones are allocated again where they are. */
static gph_status restore_pinned(struct backend *backend, const struct checkpoint *it,
                                 const CUdeviceptr *live, uint32_t count,
                                 gph_error *error)
{
    const gph_allocator heap = backend->runtime->heap;
    gph_pool *pool = backend->pools[GPHI_TREE_POOL];
    const struct pin *pins = backend->pins.items;
    const size_t room = count + backend->pins.count;
    CUdeviceptr *all = gphi_heap_array(heap, room, sizeof(*all));
    GPHI_TRY(gphi_made(error, all, "a checkpoint of %zu blocks", room));
    uint32_t stay = 0;
    while (stay < count) {
        all[stay] = live[stay];
        stay++;
    }
    for (size_t i = 0; i < backend->pins.count; i++)
        if (pins[i].number < it->pin_count)
            all[stay++] = pins[i].address;
    gph_status status = gph_checkpoint_restore(pool, it->checkpoint, all, stay, 0, error);
    for (size_t i = 0; i < backend->pins.count && status == GPH_OK; i++)
        if (pins[i].number >= it->pin_count)
            status = gph_pool_alloc_at(pool, pins[i].address, pins[i].bytes,
                                       backend->stream, error);
    gphi_heap_free(heap, all, room * sizeof(*all));
    return status;
}

static gph_status restore(gphi_tree_backend *base, void *checkpoint_at,
                          const CUdeviceptr *live, uint32_t count, gph_error *error)
{
    struct backend *backend = backend_from(base);
    const struct checkpoint *it = checkpoint_at;
    drop_freed_pins(backend);
    if (backend->pins.count != 0)
        GPHI_TRY(restore_pinned(backend, it, live, count, error));
    else
        GPHI_TRY(gph_checkpoint_restore(backend->pools[GPHI_TREE_POOL], it->checkpoint,
                                        live, count, 0, error));
    forget_owed(backend);
    return GPH_OK;
}

static void drop(gphi_tree_backend *base, void *checkpoint_at)
{
    struct checkpoint *it = checkpoint_at;
    gph_checkpoint_destroy(it->checkpoint);
    gphi_heap_free(backend_from(base)->runtime->heap, it, sizeof(*it));
}

static gph_status copy(gphi_tree_backend *base, CUdeviceptr to, CUdeviceptr from,
                       uint64_t bytes, gph_error *error)
{
    const struct backend *backend = backend_from(base);
    return gphi_cuda_check(
        error, backend->runtime->cu.cuMemcpyDtoDAsync(to, from, bytes, backend->stream),
        "cuMemcpyDtoDAsync", "copying %llu bytes to 0x%llx", (unsigned long long)bytes,
        to);
}

/* ---- made and ended ---- */

static void drain(gphi_tree_backend *base)
{
    const struct backend *backend = backend_from(base);
    gphi_ignore((gph_status)backend->runtime->cu.cuStreamSynchronize(backend->stream),
                "a context that is dead has no work either");
}

static void destroy(gphi_tree_backend *base)
{
    struct backend *backend = backend_from(base);
    gph_runtime *runtime = backend->runtime;
    gph_pool_release(backend->pools[GPHI_TREE_BESIDE]);
    gph_pool_release(backend->pools[GPHI_TREE_POOL]);
    if (backend->owns_stream && backend->stream)
        gphi_ignore((gph_status)runtime->cu.cuStreamDestroy(backend->stream),
                    "its context is gone, then");
    gphi_vec_fini(&backend->pins);
    gphi_vec_fini(&backend->before);
    gphi_vec_fini(&backend->after);
    gphi_vec_fini(&backend->owed);
    gphi_heap_free(runtime->heap, backend, sizeof(*backend));
}

static const struct gphi_tree_ops ops = {.drain = drain,
                                         .destroy = destroy,
                                         .run = run,
                                         .record = record,
                                         .replay = replay,
                                         .forget = forget,
                                         .record_of = record_of,
                                         .adopt = adopt,
                                         .block = block,
                                         .free = free_block,
                                         .checkpoint = checkpoint,
                                         .restore = restore,
                                         .drop = drop,
                                         .copy = copy};

static struct backend *backend_from(gphi_tree_backend *base)
{
    return (struct backend *)base;
}

static gph_status open_stream(struct backend *backend, const gph_tree_options *options,
                              gph_error *error)
{
    if (options->stream == CU_STREAM_LEGACY)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.stream: the legacy default stream cannot be captured");
    backend->stream = options->stream;
    if (backend->stream)
        return GPH_OK;
    backend->owns_stream = true;
    return gphi_cuda_check(
        error,
        backend->runtime->cu.cuStreamCreate(&backend->stream, CU_STREAM_NON_BLOCKING),
        "cuStreamCreate", "the stream of a tree");
}

gph_status gphi_tree_backend_create(gph_runtime *runtime, gph_arena *arena,
                                    const gph_tree_options *options, CUstream *stream,
                                    gph_pool **pool, gphi_tree_backend **out,
                                    gph_error *error)
{
    static const char *const names[] = {
        [GPHI_TREE_POOL] = "tree", [GPHI_TREE_BESIDE] = "tree, eager"};
    struct backend *backend = gphi_heap_alloc(runtime->heap, sizeof(*backend));
    GPHI_TRY(gphi_made(error, backend, "a tree"));
    backend->base.ops = &ops;
    backend->runtime = runtime;
    backend->rng = options->rng;
    backend->keeps_graphs = (options->flags & GPH_TREE_KEEP_GRAPHS) != 0;
    gphi_vec_init(&backend->pins, runtime->heap, sizeof(struct pin));
    gphi_vec_init(&backend->before, runtime->heap, sizeof(gph_pool_range));
    gphi_vec_init(&backend->after, runtime->heap, sizeof(gph_pool_range));
    gphi_vec_init(&backend->owed, runtime->heap, sizeof(struct owed));
    gph_status status = open_stream(backend, options, error);
    for (int i = 0; i < 2 && status == GPH_OK; i++) {
        gph_pool_options pool_options = GPH_POOL_OPTIONS_INIT;
        pool_options.name = names[i];
        status = gph_pool_create(arena, &pool_options, &backend->pools[i], error);
    }
    if (status != GPH_OK) {
        destroy(&backend->base);
        return status;
    }
    *stream = backend->stream;
    *pool = backend->pools[GPHI_TREE_POOL];
    *out = &backend->base;
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* A tree on a real driver: a stream, a pool for recordings and one beside it, and
 * recordings as src/callable makes them.
 *
 * Buffers of copied inputs are shared (GPHI_RECORD_SHARE_INPUTS): they lie where later
 * calls may lie, as an input of an eager call would. What a function keeps for itself in
 * the pool (a cached workspace) is pinned: alive in every later checkpoint. */
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
    gphi_vec pinned; /* CUdeviceptr */
    gphi_vec ranges; /* gph_pool_range: room */
    gphi_vec owed;   /* struct owed */
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
    size_t pinned; /* how many there were */
};

static struct backend *backend_from(gphi_tree_backend *base);

/* ---- functions ---- */

static gphi_record_spec spec_of(const struct backend *backend, enum gphi_tree_pool pool,
                                const gphi_tree_work *work)
{
    return (gphi_record_spec){.function = work->fn,
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
                              .flags = GPHI_RECORD_SHARE_INPUTS};
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

static gph_status run(gphi_tree_backend *base, enum gphi_tree_pool pool,
                      const gphi_tree_work *work, gph_tensor *outputs, gph_error *error)
{
    struct backend *backend = backend_from(base);
    const gphi_record_spec spec = spec_of(backend, pool, work);
    settle_owed(backend);
    return gphi_function_run(backend->runtime, &spec, GPH_PHASE_EAGER, backend->stream,
                             outputs, error);
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
    if (it == NULL || work->input_count == 0)
        return it;
    it->input_count = work->input_count;
    it->inputs = gphi_heap_array(heap, work->input_count, sizeof(*it->inputs));
    it->kinds = gphi_heap_alloc(heap, work->input_count);
    if (it->inputs == NULL || it->kinds == NULL) {
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

/* What the recording left in the pool that is no output: the function keeps it. */
static gph_status pin_kept(struct backend *backend, const gphi_record *record,
                           gph_error *error)
{
    gphi_vec *ranges = &backend->ranges;
    uint32_t count = 0;
    GPHI_TRY(gph_pool_ranges(record->pool, record->id, NULL, 0, &count, error));
    if (count == 0)
        return GPH_OK;
    if (gphi_vec_reserve(ranges, count) != GPH_OK ||
        gphi_vec_reserve(&backend->pinned, count) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "%u ranges of a recording", count);
    GPHI_TRY(
        gph_pool_ranges(record->pool, record->id, ranges->items, count, &count, error));
    const gph_pool_range *range = ranges->items;
    for (uint32_t i = 0; i < count; i++)
        if (range[i].kind == GPH_RANGE_KEPT)
            *(CUdeviceptr *)gphi_vec_add(&backend->pinned, 1) = range[i].address;
    return GPH_OK;
}

static gph_status record(gphi_tree_backend *base, const gphi_tree_work *work,
                         gph_tensor *outputs, void **out, gph_error *error)
{
    static const uint8_t modes[] = {[GPHI_TREE_COPIED] = GPH_INPUT_COPY,
                                    [GPHI_TREE_STATIC] = GPH_INPUT_STATIC,
                                    [GPHI_TREE_MANAGED] = GPH_INPUT_MANAGED};
    struct backend *backend = backend_from(base);
    settle_owed(backend);
    struct recording *it = recording_create(backend->runtime->heap, work);
    if (it == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "recording \"%s\"", work->name);
    for (uint32_t i = 0; i < work->input_count; i++)
        it->kinds[i] = modes[work->kinds[i]];
    gphi_record_spec spec = spec_of(backend, GPHI_TREE_POOL, work);
    spec.modes = it->kinds;
    gph_status status = gphi_record_create(backend->runtime, &spec, &it->record, error);
    if (status == GPH_OK)
        status = pin_kept(backend, it->record, error);
    if (status != GPH_OK) {
        forget(base, it);
        return status;
    }
    for (uint32_t i = 0; i < work->output_count; i++)
        outputs[i] = it->record->outputs[i];
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
    if (owed != NULL)
        *owed = (struct owed){pool, address};
    gphi_log("tree", GPH_LOG_WARN, "an output is not freed yet: %s", error.message);
}

static gph_status checkpoint(gphi_tree_backend *base, void **out, gph_error *error)
{
    struct backend *backend = backend_from(base);
    const gph_allocator heap = backend->runtime->heap;
    struct checkpoint *it = gphi_heap_alloc(heap, sizeof(*it));
    if (it == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "a checkpoint");
    const gph_status status =
        gph_checkpoint_take(backend->pools[GPHI_TREE_POOL], &it->checkpoint, error);
    if (status != GPH_OK) {
        gphi_heap_free(heap, it, sizeof(*it));
        return status;
    }
    it->pinned = backend->pinned.count;
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

/* The live blocks and the pinned ones of the checkpoint, in a row. */
static gph_status restore_pinned(struct backend *backend, const struct checkpoint *it,
                                 const CUdeviceptr *live, uint32_t count,
                                 gph_error *error)
{
    const gph_allocator heap = backend->runtime->heap;
    const size_t all = count + it->pinned;
    CUdeviceptr *both = gphi_heap_array(heap, all, sizeof(*both));
    if (both == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "a checkpoint of %zu blocks", all);
    if (count != 0)
        memcpy(both, live, count * sizeof(*both));
    memcpy(both + count, backend->pinned.items, it->pinned * sizeof(*both));
    const gph_status status = gph_checkpoint_restore(
        backend->pools[GPHI_TREE_POOL], it->checkpoint, both, (uint32_t)all, 0, error);
    gphi_heap_free(heap, both, all * sizeof(*both));
    return status;
}

static gph_status restore(gphi_tree_backend *base, void *checkpoint_at,
                          const CUdeviceptr *live, uint32_t count, gph_error *error)
{
    struct backend *backend = backend_from(base);
    const struct checkpoint *it = checkpoint_at;
    if (it->pinned != 0)
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
    const CUresult result =
        backend->runtime->cu.cuMemcpyDtoDAsync(to, from, bytes, backend->stream);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuMemcpyDtoDAsync",
                              "copying %llu bytes to 0x%llx", (unsigned long long)bytes,
                              to);
    return GPH_OK;
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
    if (backend->owns_stream && backend->stream != NULL)
        gphi_ignore((gph_status)runtime->cu.cuStreamDestroy(backend->stream),
                    "its context is gone, then");
    gphi_vec_fini(&backend->pinned);
    gphi_vec_fini(&backend->owed);
    gphi_vec_fini(&backend->ranges);
    gphi_heap_free(runtime->heap, backend, sizeof(*backend));
}

static const struct gphi_tree_ops ops = {.drain = drain,
                                         .destroy = destroy,
                                         .run = run,
                                         .record = record,
                                         .replay = replay,
                                         .forget = forget,
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
    if (backend->stream != NULL)
        return GPH_OK;
    backend->owns_stream = true;
    const CUresult result =
        backend->runtime->cu.cuStreamCreate(&backend->stream, CU_STREAM_NON_BLOCKING);
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, "cuStreamCreate",
                              "the stream of a tree");
    return GPH_OK;
}

gph_status gphi_tree_backend_create(gph_runtime *runtime, gph_arena *arena,
                                    const gph_tree_options *options, CUstream *stream,
                                    gph_pool **pool, gphi_tree_backend **out,
                                    gph_error *error)
{
    static const char *const names[] = {
        [GPHI_TREE_POOL] = "tree", [GPHI_TREE_BESIDE] = "tree, eager"};
    struct backend *backend = gphi_heap_alloc(runtime->heap, sizeof(*backend));
    if (backend == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "a tree");
    backend->base.ops = &ops;
    backend->runtime = runtime;
    backend->rng = options->rng;
    gphi_vec_init(&backend->pinned, runtime->heap, sizeof(CUdeviceptr));
    gphi_vec_init(&backend->owed, runtime->heap, sizeof(struct owed));
    gphi_vec_init(&backend->ranges, runtime->heap, sizeof(gph_pool_range));
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

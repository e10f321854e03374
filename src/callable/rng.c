// SPDX-License-Identifier: Apache-2.0
/* Generators: the host's count, words on the device, and the kernel between them.
 *
 *   words of a recording   seed │ offset │ generation │ -      32 bytes, 64 slots a slab
 *
 * A graph cannot be given new arguments at each launch for free, so its first node keeps
 * the count itself: it adds what the last replay took, unless the generation in its
 * arguments is new, which says that the host has set seed and offset. The host edits
 * that node only when something else took numbers in between; replays in a row cost no
 * driver call.
 *
 * Slabs are zeroed in a stream of their own, since the legacy stream would end captures
 * of other threads, and generation 0 is never used, so fresh words match no arguments. */
#include "callable/rng.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "base/vec.h"
#include "cuda/status.h"
#include "event/note.h"

#include <stdatomic.h>

enum { SLOT_BYTES = 32, SLAB_SLOTS = 64, SLAB_BYTES = SLOT_BYTES * SLAB_SLOTS };

/* Words of recordings, 64 at a time. */
struct slab {
    CUdeviceptr base;
    uint64_t used; /* a bit a slot */
};

struct gph_rng {
    gph_runtime *runtime;
    CUcontext context;
    CUmodule module;
    CUfunction step;
    _Atomic uint64_t seed, offset; /* relaxed: numbers order nothing but themselves */
    _Atomic uint64_t generation;   /* of the last edit of any recording */
    gphi_mutex mutex;
    gphi_vec slabs; /* under mutex */
    gphi_deferred destroying;
};

/* See rng.h. Arguments: words, seed, offset, generation, count. */
static const char step_ptx[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry gph_rng_step(.param .u64 words, .param .u64 seed, "
    ".param .u64 offset, .param .u64 generation, .param .u64 count)\n"
    "{\n"
    ".reg .pred %p<2>;\n.reg .b64 %d<8>;\n"
    "ld.param.u64 %d1, [words];\n"
    "ld.param.u64 %d2, [seed];\n"
    "ld.param.u64 %d3, [offset];\n"
    "ld.param.u64 %d4, [generation];\n"
    "ld.param.u64 %d5, [count];\n"
    "ld.global.u64 %d6, [%d1+16];\n"
    "setp.eq.s64 %p1, %d6, %d4;\n"
    "@%p1 bra GO_ON;\n"
    "st.global.u64 [%d1], %d2;\n"
    "st.global.u64 [%d1+8], %d3;\n"
    "st.global.u64 [%d1+16], %d4;\n"
    "ret;\n"
    "GO_ON:\n"
    "ld.global.u64 %d7, [%d1+8];\n"
    "add.s64 %d7, %d7, %d5;\n"
    "st.global.u64 [%d1+8], %d7;\n"
    "ret;\n"
    "}\n";

static gph_status load_step(gph_rng *rng, gph_error *error)
{
    const gphi_cuda_table *cu = &rng->runtime->cu;
    GPHI_TRY(gphi_cuda_check(error, cu->cuCtxGetCurrent(&rng->context), "cuCtxGetCurrent",
                             "making a generator"));
    if (!rng->context)
        return gphi_fail(error, CUDA_ERROR_INVALID_CONTEXT,
                         "making a generator: no context is current");
    GPHI_TRY(gphi_cuda_check(error, cu->cuModuleLoadData(&rng->module, step_ptx),
                             "cuModuleLoadData", "the kernel that moves a generator on"));
    GPHI_TRY(gphi_cuda_check(
        error, cu->cuModuleGetFunction(&rng->step, rng->module, "gph_rng_step"),
        "cuModuleGetFunction", "the kernel that moves a generator on"));
    /* Drivers load a kernel when it is launched first: here, not in a capture. */
    return gphi_cuda_check(error, cu->cuFuncLoad(rng->step), "cuFuncLoad",
                           "the kernel that moves a generator on");
}

gph_status gph_rng_create(gph_runtime *runtime, uint64_t seed, gph_rng **out,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, runtime, out));
    gph_rng *rng = gphi_heap_alloc(runtime->heap, sizeof(*rng));
    GPHI_TRY(gphi_made(error, rng, "making a generator"));
    rng->runtime = runtime;
    rng->mutex = (gphi_mutex)GPHI_MUTEX_INIT;
    atomic_init(&rng->seed, seed);
    gphi_vec_init(&rng->slabs, runtime->heap, sizeof(struct slab));
    const gph_status status = load_step(rng, error);
    if (status != GPH_OK) {
        gph_rng_destroy(rng);
        return status;
    }
    *out = rng;
    return GPH_OK;
}

static void destroy_now(void *user)
{
    gph_rng *rng = user;
    gph_runtime *runtime = rng->runtime;
    CUresult result = CUDA_SUCCESS;
    GPHI_EACH (const struct slab, slab, &rng->slabs) {
        const CUresult freed = runtime->cu.cuMemFree(slab->base);
        result = result == CUDA_SUCCESS ? freed : result;
    }
    if (rng->module) {
        const CUresult unloaded = runtime->cu.cuModuleUnload(rng->module);
        result = result == CUDA_SUCCESS ? unloaded : result;
    }
    if (result != CUDA_SUCCESS)
        gphi_log("rng", GPH_LOG_ERROR, "destroying a generator: %s",
                 gph_status_name((gph_status)result));
    gphi_vec_fini(&rng->slabs);
    gphi_heap_free(runtime->heap, rng, sizeof(*rng));
}

void gph_rng_destroy(gph_rng *rng)
{
    if (rng) /* memory and modules are not for the time of a capture */
        gphi_defer(&rng->destroying, destroy_now, rng);
}

gph_rng_state gph_rng_state_get(const gph_rng *rng)
{
    if (!rng)
        return (gph_rng_state){0};
    return (gph_rng_state){.seed = atomic_load_explicit(&rng->seed, memory_order_relaxed),
                           .offset =
                               atomic_load_explicit(&rng->offset, memory_order_relaxed)};
}

void gph_rng_state_set(gph_rng *rng, gph_rng_state state)
{
    if (!rng)
        return;
    atomic_store_explicit(&rng->seed, state.seed, memory_order_relaxed);
    atomic_store_explicit(&rng->offset, state.offset, memory_order_relaxed);
    const uint64_t words[] = {(uint64_t)(uintptr_t)rng, state.seed, state.offset};
    gphi_note(GPHI_NOTE_RNG, NULL, words, 3);
}

gph_rng_state gph_rng_take(gph_rng *rng, uint64_t count)
{
    if (!rng)
        return (gph_rng_state){0};
    return (gph_rng_state){
        .seed = atomic_load_explicit(&rng->seed, memory_order_relaxed),
        .offset = atomic_fetch_add_explicit(&rng->offset, count, memory_order_relaxed)};
}

/* Gives back what was taken last, unless somebody took more since. */
static void give_back(gph_rng *rng, uint64_t at, uint64_t count)
{
    uint64_t expected = at + count;
    atomic_compare_exchange_strong_explicit(&rng->offset, &expected, at,
                                            memory_order_relaxed, memory_order_relaxed);
}

/* Zeroed, so that no generation is there by chance. In a stream of its own: the legacy
 * one would end other threads' captures. */
static gph_status fill_slab(const gphi_cuda_table *cu, CUdeviceptr base, gph_error *error)
{
    CUstream stream = NULL;
    const char *call = "cuStreamCreate";
    CUresult result = cu->cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
    if (result == CUDA_SUCCESS) {
        call = "cuMemsetD8Async";
        result = cu->cuMemsetD8Async(base, 0, SLAB_BYTES, stream);
        if (result == CUDA_SUCCESS) {
            call = "cuStreamSynchronize";
            result = cu->cuStreamSynchronize(stream);
        }
        const CUresult gone = cu->cuStreamDestroy(stream);
        if (result == CUDA_SUCCESS && gone != CUDA_SUCCESS) {
            call = "cuStreamDestroy";
            result = gone;
        }
    }
    if (result != CUDA_SUCCESS)
        return gphi_cuda_fail(error, (gph_status)result, call, "words of a generator");
    return GPH_OK;
}

static gph_status add_slab_locked(gph_rng *rng, gph_error *error)
    GPHI_REQUIRES(&rng->mutex);

static gph_status add_slab_locked(gph_rng *rng, gph_error *error)
{
    const gphi_cuda_table *cu = &rng->runtime->cu;
    struct slab slab = {0};
    GPHI_TRY(gphi_made(error, gphi_vec_reserve(&rng->slabs, 1) == GPH_OK,
                       "words of a generator"));
    GPHI_TRY(gphi_cuda_check(error, cu->cuMemAlloc(&slab.base, SLAB_BYTES), "cuMemAlloc",
                             "words of a generator"));
    const gph_status status = fill_slab(cu, slab.base, error);
    if (status != GPH_OK) {
        gphi_ignore((gph_status)cu->cuMemFree(slab.base), "the first failure counts");
        return status;
    }
    struct slab *added = gphi_vec_add(&rng->slabs, 1);
    *added = slab;
    return GPH_OK;
}

static gph_status take_slot_locked(gph_rng *rng, CUdeviceptr *out, gph_error *error)
    GPHI_REQUIRES(&rng->mutex);

static gph_status take_slot_locked(gph_rng *rng, CUdeviceptr *out, gph_error *error)
{
    for (size_t i = 0;; i++) {
        if (i == rng->slabs.count)
            GPHI_TRY(add_slab_locked(rng, error));
        struct slab *slab = gphi_vec_at(&rng->slabs, i);
        if (slab->used == UINT64_MAX)
            continue;
        const int slot = __builtin_ctzll(~slab->used);
        slab->used |= UINT64_C(1) << slot;
        *out = slab->base + (CUdeviceptr)slot * SLOT_BYTES;
        return GPH_OK;
    }
}

gph_status gphi_rng_slot_init(gphi_rng_slot *slot, gph_rng *rng, gph_error *error)
{
    gphi_rng_slot fresh = {.rng = rng};
    gphi_mutex_lock(&rng->mutex);
    const gph_status status = take_slot_locked(rng, &fresh.words, error);
    gphi_mutex_unlock(&rng->mutex);
    if (status == GPH_OK)
        *slot = fresh;
    return status;
}

void gphi_rng_slot_fini(gphi_rng_slot *slot)
{
    gph_rng *rng = slot->rng;
    if (!rng)
        return;
    gphi_mutex_lock(&rng->mutex);
    GPHI_EACH (struct slab, slab, &rng->slabs) {
        const CUdeviceptr offset = slot->words - slab->base;
        if (slot->words >= slab->base && offset < SLAB_BYTES)
            slab->used &= ~(UINT64_C(1) << (offset / SLOT_BYTES));
    }
    gphi_mutex_unlock(&rng->mutex);
    *slot = (gphi_rng_slot){0};
}

/* Arguments of the kernel, and where it looks for them. */
struct step {
    CUdeviceptr words;
    uint64_t seed, offset, generation, count;
    void *params[5];
    CUDA_KERNEL_NODE_PARAMS node;
};

static void fill_step(struct step *step, const gphi_rng_slot *slot, gph_rng_state state,
                      uint64_t generation)
{
    *step = (struct step){.words = slot->words,
                          .seed = state.seed,
                          .offset = state.offset,
                          .generation = generation,
                          .count = slot->count};
    step->params[0] = &step->words;
    step->params[1] = &step->seed;
    step->params[2] = &step->offset;
    step->params[3] = &step->generation;
    step->params[4] = &step->count;
    step->node = (CUDA_KERNEL_NODE_PARAMS){.func = slot->rng->step,
                                           .gridDimX = 1,
                                           .gridDimY = 1,
                                           .gridDimZ = 1,
                                           .blockDimX = 1,
                                           .blockDimY = 1,
                                           .blockDimZ = 1,
                                           .kernelParams = step->params,
                                           .ctx = slot->rng->context};
}

gph_status gphi_rng_slot_capture(gphi_rng_slot *slot, CUstream stream, gph_error *error)
{
    const gphi_cuda_table *cu = &slot->rng->runtime->cu;
    struct step step;
    fill_step(&step, slot, (gph_rng_state){0}, 0);
    GPHI_TRY(gphi_cuda_check(error,
                             cu->cuLaunchKernel(slot->rng->step, 1, 1, 1, 1, 1, 1, 0,
                                                stream, step.params, NULL),
                             "cuLaunchKernel", "recording the step of a generator"));
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    const CUgraphEdgeData *edges = NULL;
    size_t count = 0;
    GPHI_TRY(gphi_cuda_check(
        error,
        cu->cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, &edges, &count),
        "cuStreamGetCaptureInfo", "recording the step of a generator"));
    if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
        return gphi_fail(error, GPH_E_STATE,
                         "recording the step of a generator: stream %p is not captured",
                         (void *)stream);
    slot->node = nodes[0];
    return GPH_OK;
}

/* The template says what its executables are made with, so it is kept right always. */
static gph_status edit_template(gphi_rng_slot *slot, const struct step *step,
                                gph_error *error)
{
    GPHI_TRY(gphi_cuda_check(
        error, slot->rng->runtime->cu.cuGraphKernelNodeSetParams(slot->node, &step->node),
        "cuGraphKernelNodeSetParams", "setting the state of a generator"));
    slot->made = step->generation;
    return GPH_OK;
}

static uint64_t new_generation(gph_rng *rng)
{
    return atomic_fetch_add_explicit(&rng->generation, 1, memory_order_relaxed) + 1;
}

gph_status gphi_rng_slot_settle(gphi_rng_slot *slot, uint64_t count, gph_error *error)
{
    slot->count = count;
    if (count == 0) {
        const CUresult result = slot->rng->runtime->cu.cuGraphDestroyNode(slot->node);
        slot->node = NULL;
        if (result != CUDA_SUCCESS)
            return gphi_cuda_fail(error, (gph_status)result, "cuGraphDestroyNode",
                                  "taking out the step of a generator");
        return GPH_OK;
    }
    const gph_rng_state state = gph_rng_state_get(slot->rng);
    struct step step;
    fill_step(&step, slot, state, new_generation(slot->rng));
    GPHI_TRY(edit_template(slot, &step, error));
    slot->seed = state.seed;
    slot->next = state.offset;
    slot->generation = step.generation;
    return GPH_OK;
}

/* Something else took numbers, or the state was set. */
__attribute__((noinline)) static gph_status jump(gphi_rng_slot *slot, CUgraphExec exec,
                                                 gph_rng_state state, gph_error *error)
{
    struct step step;
    fill_step(&step, slot, state, new_generation(slot->rng));
    slot->generation = 0; /* whatever fails, the next one sets it again */
    GPHI_TRY(edit_template(slot, &step, error));
    GPHI_TRY(gphi_cuda_check(error,
                             slot->rng->runtime->cu.cuGraphExecKernelNodeSetParams(
                                 exec, slot->node, &step.node),
                             "cuGraphExecKernelNodeSetParams",
                             "setting the state of a generator"));
    slot->seed = state.seed;
    slot->generation = step.generation;
    return GPH_OK;
}

/* An executable that other graphs share has the nodes of the graph it was made from, so
 * that ours cannot be edited there: the words are written in the stream, one step back.
 */
__attribute__((noinline)) static gph_status jump_in_stream(gphi_rng_slot *slot,
                                                           gph_rng_state state,
                                                           CUstream stream,
                                                           gph_error *error)
{
    const gphi_cuda_table *cu = &slot->rng->runtime->cu;
    const uint64_t generation = slot->made; /* the executable's, since it was updated */
    slot->generation = 0;
    GPHI_TRY(gphi_rng_write(
        slot->rng, slot->words,
        (gph_rng_state){.seed = state.seed, .offset = state.offset - slot->count}, stream,
        error));
    for (unsigned half = 0; half < 2; half++) {
        GPHI_TRY(gphi_cuda_check(
            error,
            cu->cuMemsetD32Async(slot->words + 16 + 4 * half,
                                 (unsigned)(generation >> (32 * half)), 1, stream),
            "cuMemsetD32Async", "setting the state of a generator"));
    }
    slot->seed = state.seed;
    slot->generation = generation;
    return GPH_OK;
}

gph_status gphi_rng_slot_step(gphi_rng_slot *slot, CUgraphExec exec, bool is_shared,
                              CUstream stream, gph_error *error)
{
    if (slot->count == 0)
        return GPH_OK;
    const gph_rng_state state = gph_rng_take(slot->rng, slot->count);
    if (state.seed != slot->seed || state.offset != slot->next || slot->generation == 0) {
        const gph_status status = is_shared ? jump_in_stream(slot, state, stream, error)
                                            : jump(slot, exec, state, error);
        if (status != GPH_OK) {
            give_back(slot->rng, state.offset, slot->count);
            return status;
        }
    }
    slot->next = state.offset + slot->count;
    return GPH_OK;
}

void gphi_rng_slot_undo(gphi_rng_slot *slot)
{
    if (slot->count == 0)
        return;
    give_back(slot->rng, slot->next - slot->count, slot->count);
    slot->generation = 0;
}

gph_status gphi_rng_write(const gph_rng *rng, CUdeviceptr words, gph_rng_state state,
                          CUstream stream, gph_error *error)
{
    const uint64_t values[] = {state.seed, state.offset};
    for (unsigned i = 0; i < 4; i++) {
        GPHI_TRY(gphi_cuda_check(
            error,
            rng->runtime->cu.cuMemsetD32Async(
                words + 4 * i, (unsigned)(values[i / 2] >> (32 * (i % 2))), 1, stream),
            "cuMemsetD32Async", "writing the state of a generator"));
    }
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* Executables whose kernels a kernel changes.
 *
 * The copy is made before a node is marked, so the caller's graph stays one that may be
 * updated by, copied and instantiated again, which R78 forbids where one node of it is
 * device-updatable. Nothing of the executable is ever set by the host, so what the device
 * made of it is never overwritten (R79), and one upload, at its making, is enough. */
#define _GNU_SOURCE
#include "cache/patch.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "cache/block.h"
#include "cuda/status.h"
#include "device/patcher.h"
#include "replay/ahead.h"
#include "update/compare.h"

#include <stdatomic.h>
#include <string.h>
#include <time.h>

enum {
    DEPTH = 64, /* launches that may wait for their turn */
    WARP = 32,
    THREADS_MAX = 512,
    NAP_NS = 20000
};
/* As slots wait for a row. */
static const uint64_t WAIT_NS = UINT64_C(10000000000);

struct gphi_patch {
    gph_runtime *runtime;
    gphi_kernels *kernels;
    gph_snapshot *like; /* what nodes hold as they are instantiated */
    gphi_words words;   /* of graphs like it */
    CUgraph template;   /* outlives the executable, which it alone may have */
    gph_exec *exec;
    gphi_patch_row *rows; /* of kernel nodes, in the snapshot's order */
    uint32_t row_count;
    uint32_t block_bytes;
    CUdeviceptr table, state;
    uint64_t *ring; /* pinned: DEPTH words, then the device's */
    CUdeviceptr ring_there;
    uint64_t launched, seen, serial;
};

/* ---- what may differ ---- */

static bool is_copied(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL:
    case GPH_NODE_MEMCPY:
    case GPH_NODE_MEMSET:
    case GPH_NODE_HOST:
    case GPH_NODE_EMPTY:
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return true;
    default: return false;
    }
}

static gph_status check_kinds(const gph_snapshot *like, gph_error *error)
{
    for (uint32_t i = 0; i < like->count; i++)
        if (!is_copied(like->places[i].node->kind))
            return gphi_fail(error, GPH_E_UNSUPPORTED, "node %u is a %s", i,
                             gph_node_kind_name(like->places[i].node->kind));
    return GPH_OK;
}

/* Node by node: a graph that is captured by the same calls has its nodes in one order. */
static gph_status check_fit(const gphi_patch *patch, const gph_snapshot *graph,
                            gph_error *error)
{
    gphi_comparison found = {.a = patch->like, .b = graph};
    gph_status status = gphi_compare(&found);
    if (status != GPH_OK)
        status = gphi_fail(error, status, "comparing %u nodes", graph->count);
    else if (!found.is_identity)
        status = gphi_fail(error, GPH_E_UNSUPPORTED, "another topology");
    for (size_t i = 0; i < found.changed.count && status == GPH_OK; i++) {
        const gphi_changed *at = gphi_vec_at(&found.changed, i);
        if (!gphi_words_fit(found.a->places[at->a].node, found.b->places[at->b].node))
            status = gphi_fail(error, GPH_E_UNSUPPORTED,
                               "node %u differs in more than arguments and grid", at->b);
    }
    gphi_comparison_fini(&found);
    return status;
}

/* ---- rows and blocks ---- */

static uint32_t count_kernels(const gph_snapshot *graph)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        count += graph->places[i].node->kind == GPH_NODE_KERNEL;
    return count;
}

static gph_status lay_out(gphi_patch *patch, gph_error *error)
{
    const gph_snapshot *like = patch->like;
    uint64_t offset = GPHI_PATCH_HEAD_BYTES;
    uint32_t row = 0;
    patch->row_count = count_kernels(like);
    if (patch->row_count == 0)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "no kernel");
    patch->rows =
        gphi_heap_array(patch->runtime->heap, patch->row_count, sizeof(*patch->rows));
    GPHI_TRY(gphi_made(error, patch->rows, "changes of %u nodes", patch->row_count));
    for (uint32_t i = 0; i < like->count; i++) {
        const gph_node *node = like->places[i].node;
        if (node->kind != GPH_NODE_KERNEL)
            continue;
        const uint32_t bytes = (uint32_t)node->u.kernel.buffer_bytes;
        const uint32_t words = (bytes + 7) / 8;
        patch->rows[row++] =
            (gphi_patch_row){.offset = (uint32_t)offset, .bytes = bytes, .words = words};
        offset += (words + GPHI_PATCH_GRID_WORDS) * sizeof(uint64_t);
        if (offset > UINT32_MAX)
            return gphi_fail(error, GPH_E_UNSUPPORTED, "arguments of %u kernels",
                             patch->row_count);
    }
    patch->block_bytes = (uint32_t)offset;
    return GPH_OK;
}

/* The words of a graph: as the kernel reads them, and as it has them in the state. */
static void write_block(const gphi_patch *patch, const gph_snapshot *graph,
                        unsigned char *out)
{
    uint32_t row = 0;
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->places[i].node->kind == GPH_NODE_KERNEL)
            gphi_words_put(&patch->rows[row++], &graph->places[i].node->u.kernel, out);
}

/* Copied when it returns, for all streams. */
static CUresult put(const gphi_cuda_table *cu, CUdeviceptr to, const void *from,
                    size_t bytes, CUstream stream)
{
    const CUresult result = cu->cuMemcpyHtoDAsync(to, from, bytes, stream);
    return result == CUDA_SUCCESS ? cu->cuStreamSynchronize(stream) : result;
}

static gph_status allocate(const gphi_patch *patch, const void *from, size_t bytes,
                           CUstream stream, CUdeviceptr *out, gph_error *error)
{
    const gphi_cuda_table *cu = &patch->runtime->cu;
    const char *call = "cuMemAlloc";
    const CUstreamCaptureMode mode = gphi_relax(cu); /* others may capture */
    CUresult result = cu->cuMemAlloc(out, bytes);
    if (result == CUDA_SUCCESS) {
        call = "cuMemcpyHtoDAsync";
        result = put(cu, *out, from, bytes, stream ? stream : CU_STREAM_PER_THREAD);
        if (result != CUDA_SUCCESS)
            gphi_ignore((gph_status)cu->cuMemFree(*out), "the first failure counts");
    }
    gphi_unrelax(cu, mode);
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    *out = 0;
    return gphi_cuda_fail(error, (gph_status)result, call, "%zu bytes", bytes);
}

/* A graph whose nodes alone do not say that it fits is described, and says what differs. */
static gph_status fill_block(gphi_patch *patch, CUgraph graph, unsigned char *out,
                             gph_error *error)
{
    gph_snapshot *snapshot = NULL;
    bool fits = false;
    GPHI_TRY(gphi_words_read(&patch->words, graph, patch->rows, out, &fits, error));
    if (fits)
        return GPH_OK;
    GPHI_TRY(gph_snapshot_take(patch->runtime, graph, &snapshot, error));
    const gph_status status = check_fit(patch, snapshot, error);
    if (status == GPH_OK)
        write_block(patch, snapshot, out);
    gph_snapshot_release(snapshot);
    return status;
}

/* `graph` NULL: the one that the patch is made of. */
static gph_status put_block(gphi_patch *patch, CUgraph graph, uint64_t serial,
                            CUstream stream, CUdeviceptr *out, gph_error *error)
{
    const gph_allocator heap = patch->runtime->heap;
    unsigned char *words = gphi_heap_alloc(heap, patch->block_bytes);
    gph_status status = GPH_OK;
    GPHI_TRY(gphi_made(error, words, "%u bytes", patch->block_bytes));
    memcpy(words, &serial, sizeof(serial));
    if (graph)
        status = fill_block(patch, graph, words, error);
    else
        write_block(patch, patch->like, words);
    GPHI_THEN(status, allocate(patch, words, patch->block_bytes, stream, out, error));
    gphi_heap_free(heap, words, patch->block_bytes);
    return status;
}

gph_status gphi_patch_block(gphi_patch *patch, CUgraph graph, CUstream stream,
                            CUdeviceptr *out, gph_error *error)
{
    GPHI_TRY(put_block(patch, graph, patch->serial + 1, stream, out, error));
    patch->serial++;
    return GPH_OK;
}

static void free_memory(const gphi_cuda_table *cu, CUdeviceptr memory)
{
    if (memory == 0)
        return;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    const CUresult result = cu->cuMemFree(memory);
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("cache", GPH_LOG_ERROR, "changes of nodes stay: cuMemFree returned %s",
                 gph_status_name((gph_status)result));
}

/* ---- launches that have not begun ---- */

/* Pairs with the kernel's fence. */
static uint64_t word_of(const gphi_patch *patch, size_t index)
{
    const uint64_t word = *(const volatile uint64_t *)(patch->ring + index);
    atomic_thread_fence(memory_order_acquire);
    return word;
}

/* Until so many have read their block: GPH_E_STATE if they do not within 10 s, and what
 * the driver says if the context is at its end, so that they never will. */
__attribute__((noinline, cold)) static gph_status
wait_for(gphi_patch *patch, uint64_t count, gph_error *error)
{
    const uint64_t from = gphi_clock_ns();
    const struct timespec nap = {.tv_nsec = NAP_NS};
    for (;;) {
        size_t bytes[2];
        patch->seen = word_of(patch, DEPTH);
        if (patch->seen >= count)
            return GPH_OK;
        GPHI_TRY(gphi_cuda_check(
            error, patch->runtime->cu.cuMemGetInfo(&bytes[0], &bytes[1]), "cuMemGetInfo",
            "waiting for replays of a shared executable"));
        if (gphi_clock_ns() - from > WAIT_NS)
            return gphi_fail(error, GPH_E_STATE,
                             "%d replays of a shared executable are queued, and none "
                             "began within 10 s",
                             DEPTH);
        nanosleep(&nap, NULL);
    }
}

/* What they read may go then. */
static void settle(gphi_patch *patch)
{
    if (patch->launched > 0)
        gphi_ignore(wait_for(patch, patch->launched, NULL),
                    "the context is gone, or the caller did not wait for ten seconds");
}

void gphi_patch_block_free(gphi_patch *patch, CUdeviceptr block)
{
    settle(patch);
    free_memory(&patch->runtime->cu, block);
}

/* ---- the template ---- */

static gph_status check(CUresult result, const char *call, gph_error *error)
{
    return gphi_cuda_check(error, result, call, "a graph whose kernels are changed");
}

/* Marks the copy of each kernel node, and keeps the handle by which kernels know it. */
static gph_status mark_nodes(gphi_patch *patch, gph_error *error)
{
    const gphi_cuda_table *cu = &patch->runtime->cu;
    uint32_t row = 0;
    for (uint32_t i = 0; i < patch->like->count; i++) {
        const gphi_place *place = &patch->like->places[i];
        CUlaunchAttributeValue value;
        CUgraphNode node = NULL;
        if (place->node->kind != GPH_NODE_KERNEL)
            continue;
        GPHI_TRY(check(cu->cuGraphNodeFindInClone(&node, place->handle, patch->template),
                       "cuGraphNodeFindInClone", error));
        memset(&value, 0, sizeof(value));
        value.deviceUpdatableKernelNode.deviceUpdatable = 1;
        GPHI_TRY(
            check(cu->cuGraphKernelNodeSetAttribute(
                      node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value),
                  "cuGraphKernelNodeSetAttribute", error));
        patch->rows[row++].node =
            (uint64_t)(uintptr_t)value.deviceUpdatableKernelNode.devNode;
    }
    return GPH_OK;
}

/* In front of all that has nothing before it. */
static gph_status add_head(const gphi_patch *patch, gph_error *error)
{
    uint32_t count = patch->row_count, depth = DEPTH;
    void *arguments[] = {(void *)&patch->table, (void *)&patch->ring_there,
                         (void *)&patch->state, &count, &depth};
    const uint32_t threads = (count + WARP - 1) / WARP * WARP;
    const CUDA_KERNEL_NODE_PARAMS params = {
        .func = patch->kernels->functions[0],
        .gridDimX = 1,
        .gridDimY = 1,
        .gridDimZ = 1,
        .blockDimX = threads < THREADS_MAX ? threads : THREADS_MAX,
        .blockDimY = 1,
        .blockDimZ = 1,
        .kernelParams = arguments};
    CUgraphNode head = NULL;
    uint32_t made = 0;
    return gphi_put_ahead(patch->runtime, patch->template, &params, 1, &head, &made,
                          error);
}

static gph_status make_ring(gphi_patch *patch, gph_error *error)
{
    const gphi_cuda_table *cu = &patch->runtime->cu;
    const size_t bytes = (DEPTH + 2 * GPHI_PATCH_LINE_WORDS) * sizeof(uint64_t);
    const char *call = "cuMemHostAlloc";
    void *ring = NULL;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    CUresult result = cu->cuMemHostAlloc(
        &ring, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    if (result == CUDA_SUCCESS) {
        patch->ring = ring;
        memset(ring, 0, bytes);
        call = "cuMemHostGetDevicePointer";
        result = cu->cuMemHostGetDevicePointer(&patch->ring_there, ring, 0);
    }
    gphi_unrelax(cu, mode);
    return check(result, call, error);
}

static gph_status make(gphi_patch *patch, CUgraph like, CUstream stream, gph_error *error)
{
    const gphi_cuda_table *cu = &patch->runtime->cu;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    GPHI_TRY(gph_snapshot_take(patch->runtime, like, &patch->like, error));
    GPHI_TRY(check_kinds(patch->like, error));
    GPHI_TRY(lay_out(patch, error));
    GPHI_TRY(gphi_words_init(&patch->words, patch->runtime, patch->like, error));
    GPHI_TRY(
        gphi_kernels_retain(patch->runtime, &gphi_patch_text, &patch->kernels, error));
    GPHI_TRY(make_ring(patch, error));
    GPHI_TRY(check(cu->cuGraphClone(&patch->template, like), "cuGraphClone", error));
    GPHI_TRY(mark_nodes(patch, error));
    GPHI_TRY(allocate(patch, patch->rows, patch->row_count * sizeof(*patch->rows), stream,
                      &patch->table, error));
    GPHI_TRY(put_block(patch, NULL, 0, stream, &patch->state, error));
    GPHI_TRY(add_head(patch, error));
    options.upload_stream = stream;
    return gph_exec_create(patch->runtime, patch->template, &options, &patch->exec,
                           error);
}

gph_status gphi_patch_create(gph_runtime *runtime, CUgraph like, CUstream stream,
                             gphi_patch **out, gph_error *error)
{
    gphi_patch *patch = gphi_heap_alloc(runtime->heap, sizeof(*patch));
    GPHI_TRY(gphi_made(error, patch, "changes of nodes"));
    patch->runtime = runtime;
    const gph_status status = make(patch, like, stream, error);
    if (status != GPH_OK) {
        gphi_patch_destroy(patch);
        return status;
    }
    *out = patch;
    return GPH_OK;
}

void gphi_patch_destroy(gphi_patch *patch)
{
    if (!patch)
        return;
    const gphi_cuda_table *cu = &patch->runtime->cu;
    const gph_allocator heap = patch->runtime->heap;
    settle(patch);
    gph_exec_destroy(patch->exec);
    if (patch->template)
        gphi_ignore((gph_status)cu->cuGraphDestroy(patch->template),
                    "nothing is made of it again");
    free_memory(cu, patch->state);
    free_memory(cu, patch->table);
    if (patch->ring) {
        const CUstreamCaptureMode mode = gphi_relax(cu);
        gphi_ignore((gph_status)cu->cuMemFreeHost(patch->ring), "nobody reads it");
        gphi_unrelax(cu, mode);
    }
    gphi_kernels_release(patch->kernels);
    gphi_words_fini(&patch->words);
    gph_snapshot_release(patch->like);
    gphi_heap_free(heap, patch->rows, patch->row_count * sizeof(*patch->rows));
    gphi_heap_free(heap, patch, sizeof(*patch));
}

/* ---- launches ---- */

gph_status gphi_patch_launch(gphi_patch *patch, CUdeviceptr block, CUstream stream,
                             gph_error *error)
{
    const uint64_t refused = word_of(patch, DEPTH + GPHI_PATCH_LINE_WORDS);
    if (refused != 0)
        return gphi_fail(error, GPH_E_STATE,
                         "an earlier replay could not change its nodes: %llu on the "
                         "device",
                         (unsigned long long)refused);
    if (patch->launched - patch->seen >= DEPTH) /* as far as was known */
        GPHI_TRY(wait_for(patch, patch->launched - DEPTH + 1, error));
    *(volatile uint64_t *)(patch->ring + patch->launched % DEPTH) = block;
    atomic_thread_fence(memory_order_release); /* before the launch that reads it */
    GPHI_TRY(gph_exec_launch(patch->exec, stream, error));
    patch->launched++;
    return GPH_OK;
}

gph_exec *gphi_patch_exec(const gphi_patch *patch)
{
    return patch->exec;
}

uint64_t gphi_patch_bytes(const gphi_patch *patch)
{
    return patch->block_bytes + patch->row_count * sizeof(*patch->rows);
}

uint64_t gphi_patch_block_bytes(const gphi_patch *patch)
{
    return patch->block_bytes;
}

// SPDX-License-Identifier: Apache-2.0
/* The ring of INDIRECT and PULL slots. Launch n owns row n mod depth from the moment that the row
 * is written until the replay's first kernel has read it and counted itself in `done`.
 *
 * The kernel reads rows as volatile memory of the system, and counts with a fence of the
 * system after its reads: the host sees a count only after the row was read. The host
 * writes a row before the launch, which the driver makes visible with the launch itself.
 * Replays of one table come one after the other, so the counter needs no atomics. PULL slots
 * without INDIRECT ones have no use for this kernel: theirs reads the row itself. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "slot/slots.h"

#include <stdatomic.h>
#include <string.h>

enum { THREADS_MAX = 256 };

static const char feed_ptx[] =
    ".version 7.0\n"
    ".target sm_70\n"
    ".address_size 64\n"
    ".visible .entry gph_slot_feed(\n"
    "  .param .u64 ring, .param .u64 words, .param .u32 depth, .param .u32 count)\n"
    "{\n"
    "  .reg .pred %p<3>;\n"
    "  .reg .b32 %r<8>;\n"
    "  .reg .b64 %d<16>;\n"
    "  ld.param.u64 %d1, [ring];\n"
    "  ld.param.u64 %d2, [words];\n"
    "  ld.param.u32 %r1, [depth];\n"
    "  ld.param.u32 %r2, [count];\n"
    "  mul.wide.u32 %d3, %r2, 8;\n"
    "  add.u64 %d4, %d2, %d3;\n" /* the counter, after the words */
    "  ld.global.u64 %d5, [%d4];\n"
    "  cvt.u32.u64 %r3, %d5;\n"
    "  sub.u32 %r4, %r1, 1;\n"
    "  and.b32 %r5, %r3, %r4;\n" /* the row */
    "  cvt.u64.u32 %d6, %r5;\n"
    "  mul.lo.u64 %d7, %d6, %d3;\n"
    "  add.u64 %d8, %d1, %d7;\n"
    "  mov.u32 %r6, %tid.x;\n"
    "  mov.u32 %r7, %ntid.x;\n"
    "NEXT:\n"
    "  setp.ge.u32 %p1, %r6, %r2;\n"
    "  @%p1 bra DONE;\n"
    "  mul.wide.u32 %d9, %r6, 8;\n"
    "  add.u64 %d10, %d8, %d9;\n"
    "  add.u64 %d11, %d2, %d9;\n"
    "  ld.volatile.global.u64 %d12, [%d10];\n"
    "  st.global.u64 [%d11], %d12;\n"
    "  add.u32 %r6, %r6, %r7;\n"
    "  bra NEXT;\n"
    "DONE:\n"
    "  bar.sync 0;\n"
    "  mov.u32 %r6, %tid.x;\n"
    "  setp.ne.u32 %p2, %r6, 0;\n"
    "  @%p2 bra OUT;\n"
    "  add.u64 %d5, %d5, 1;\n"
    "  st.global.u64 [%d4], %d5;\n"
    "  cvt.u64.u32 %d13, %r1;\n"
    "  mul.lo.u64 %d14, %d13, %d3;\n"
    "  add.u64 %d15, %d1, %d14;\n" /* `done`, after the rows */
    "  membar.sys;\n"
    "  st.volatile.global.u64 [%d15], %d5;\n"
    "OUT:\n"
    "  ret;\n"
    "}\n";

static const gphi_kernel_text feed_text = {
    .what = "the kernel that feeds slots", .ptx = feed_ptx, .names = {"gph_slot_feed"}};

static bool has_indirect(const gph_slots *slots)
{
    return slots->word_count > slots->pull_count;
}

static size_t ring_words(const gph_slots *slots)
{
    return (size_t)slots->depth * slots->row_words;
}

/* Words, counter, one for the alignment; then two for each PULL slot. */
static size_t device_words(const gph_slots *slots)
{
    return (size_t)slots->word_count + 2 + 2 * (size_t)slots->pull_count;
}

/* Pairs with the kernel's fence: what a row held was read by then. */
static uint64_t done_of(const gph_slots *slots)
{
    const uint64_t done = *(const volatile uint64_t *)(slots->ring + ring_words(slots));
    atomic_thread_fence(memory_order_acquire);
    return done;
}

static CUresult allocate(gph_slots *slots, const char **call)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    const size_t bytes = (ring_words(slots) + 1) * sizeof(uint64_t);
    void *ring = NULL;
    *call = "cuMemHostAlloc";
    CUresult result = cu->cuMemHostAlloc(
        &ring, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    if (result != CUDA_SUCCESS)
        return result;
    slots->ring = ring;
    memset(ring, 0, bytes);
    *call = "cuMemHostGetDevicePointer";
    result = cu->cuMemHostGetDevicePointer(&slots->ring_there, ring, 0);
    if (result != CUDA_SUCCESS)
        return result;
    *call = "cuMemAlloc";
    return cu->cuMemAlloc(&slots->words, device_words(slots) * sizeof(uint64_t));
}

/* What the device has: zeros, and where PULL slots are. */
static gph_status fill(gph_slots *slots, gph_error *error)
{
    const gph_allocator heap = slots->runtime->heap;
    const size_t count = device_words(slots);
    uint64_t *words = gphi_heap_array(heap, count, sizeof(*words)); /* zeroed */
    GPHI_TRY(gphi_made(error, words, "a ring of %u words", slots->word_count));
    const uint32_t first = slots->word_count - slots->pull_count;
    for (uint32_t i = 0; i < slots->count; i++) {
        const struct gphi_slot *slot = &slots->slots[i];
        if (slot->kind != GPH_SLOT_PULL)
            continue;
        uint64_t *target = words + slots->word_count + 2 + 2 * (slot->place - first);
        target[0] = slot->address;
        target[1] = slot->bytes;
        if (slot->bytes > slots->pull_largest)
            slots->pull_largest = slot->bytes;
    }
    const CUresult result =
        gphi_put_words(&slots->runtime->cu, slots->words, words, count * sizeof(*words));
    gphi_heap_free(heap, words, count * sizeof(*words));
    return gphi_slots_check(result, "cuMemcpyHtoD", error);
}

gph_status gphi_ring_create(gph_slots *slots, gph_error *error)
{
    const char *call;
    if (slots->word_count == 0)
        return GPH_OK;
    const CUresult result = allocate(slots, &call);
    GPHI_TRY(gphi_slots_check(result, call, error));
    GPHI_TRY(fill(slots, error));
    if (has_indirect(slots))
        GPHI_TRY(gphi_kernels_retain(slots->runtime, &feed_text, &slots->feed, error));
    return slots->pull_count == 0 ? GPH_OK
                                  : gphi_kernels_retain(slots->runtime, &gphi_pull_text,
                                                        &slots->pull, error);
}

void gphi_ring_destroy(gph_slots *slots)
{
    const gphi_cuda_table *cu = &slots->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    /* An executable may be destroyed while launches of it run, and its table with it. */
    if (slots->ring && done_of(slots) < slots->launched)
        gphi_ignore((gph_status)cu->cuCtxSynchronize(), "what is broken shows below");
    gphi_kernels_release(slots->feed);
    gphi_kernels_release(slots->pull);
    if (slots->words != 0)
        result = cu->cuMemFree(slots->words);
    if (slots->ring && result == CUDA_SUCCESS)
        result = cu->cuMemFreeHost(slots->ring);
    if (result != CUDA_SUCCESS)
        gphi_log("slot", GPH_LOG_ERROR, "a ring of %u rows stays: %s", slots->depth,
                 gph_status_name((gph_status)result));
}

static gph_status fail_no_feed(const gph_slots *slots, gph_error *error)
{
    return gphi_fail(error, GPH_E_STATE,
                     "%llu replays were launched and %llu read their row, but the stream "
                     "is idle: was the graph captured with gph_slots_feed()?",
                     (unsigned long long)slots->launched,
                     (unsigned long long)slots->done_seen);
}

/* The word in pinned memory is read again: another look costs a cache miss. */
static bool is_full(gph_slots *slots)
{
    slots->done_seen = done_of(slots);
    return slots->launched - slots->done_seen >= slots->depth;
}

/* The oldest replay has to begin first. A stream that is idle while replays are missing
 * shows that the graph has no feed. */
static gph_status wait_for_row(gph_slots *slots, gph_error *error)
{
    const uint64_t from = gphi_clock_ns();
    uint32_t round = 0;
    slots->stats.wait_count++;
    while (is_full(slots)) {
        const CUresult result = round % 16 == 15
                                    ? slots->runtime->cu.cuStreamQuery(slots->stream)
                                    : CUDA_ERROR_NOT_READY;
        if (result == CUDA_SUCCESS && is_full(slots))
            return fail_no_feed(slots, error);
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY)
            return gphi_slots_check(result, "cuStreamQuery", error);
        if (!gphi_slots_pause(slots, from, &round))
            return gphi_fail(error, GPH_E_STATE,
                             "all %u rows of the ring belong to queued replays, and none "
                             "began within %.3f s",
                             slots->depth, (double)slots->wait_ns / 1e9);
    }
    return GPH_OK;
}

/* As far as was known, all rows are taken: where that word lies now, it costs the host a
 * miss, so it is read once in `depth` launches. */
__attribute__((noinline, cold)) static gph_status look_for_row(gph_slots *slots,
                                                               gph_error *error)
{
    slots->done_seen = done_of(slots);
    if (slots->done_seen > slots->launched)
        return gphi_fail(error, GPH_E_STATE,
                         "%llu replays began, %llu were launched with the table: launch "
                         "its graphs by gph_slots_launch() only",
                         (unsigned long long)slots->done_seen,
                         (unsigned long long)slots->launched);
    return is_full(slots) ? wait_for_row(slots, error) : GPH_OK;
}

gph_status gphi_ring_write(gph_slots *slots, gph_error *error)
{
    if (slots->launched - slots->done_seen >= slots->depth)
        GPHI_TRY(look_for_row(slots, error));
    const bool is_numbered = slots->row_words > slots->word_count;
    uint64_t *row =
        slots->ring + (slots->launched & (slots->depth - 1)) * slots->row_words;
    uint64_t *words = row + is_numbered;
    for (uint32_t i = 0; i < slots->word_count; i++)
        words[i] = slots->bound[i];
    if (is_numbered)
        row[0] = slots->launched + 1;
    /* A graph that somebody launches without the table reads an old row, not zeros. */
    for (uint32_t r = 1; !is_numbered && slots->launched == 0 && r < slots->depth; r++)
        memcpy(row + (size_t)r * slots->word_count, row,
               slots->word_count * sizeof(*row));
    atomic_thread_fence(memory_order_release); /* before the launch that reads it */
    return GPH_OK;
}

static unsigned threads_of(uint32_t words)
{
    return words < THREADS_MAX ? (words + 31) / 32 * 32 : THREADS_MAX;
}

static CUDA_KERNEL_NODE_PARAMS kernel_of(CUfunction function, unsigned x, unsigned y,
                                         unsigned threads, void **params)
{
    return (CUDA_KERNEL_NODE_PARAMS){.func = function,
                                     .gridDimX = x,
                                     .gridDimY = y,
                                     .gridDimZ = 1,
                                     .blockDimX = threads,
                                     .blockDimY = 1,
                                     .blockDimZ = 1,
                                     .kernelParams = params};
}

uint32_t gphi_ring_kernels(gph_slots *slots, struct gphi_feed_room *room)
{
    const uint32_t count = slots->word_count, others = count - slots->pull_count;
    uint32_t kernels = 0;
    unsigned blocks = 0, threads = 0;
    *room = (struct gphi_feed_room){
        .depth = slots->depth,
        .count = count,
        .stride = slots->row_words,
        .counter = slots->words + count * sizeof(uint64_t),
        .words = slots->words,
        .rowless = slots->words + others * sizeof(uint64_t),
        .feed = {&slots->ring_there, &room->words, &room->depth, &room->count},
        .pull = {&slots->ring_there, &room->counter, &room->rowless, &room->depth,
                 &room->stride}};
    if (others > 0)
        room->params[kernels++] =
            kernel_of(slots->feed->functions[0], 1, 1, threads_of(count), room->feed);
    if (slots->pull_count > 0)
        gphi_pull_shape(slots->pull_largest, &blocks, &threads);
    if (others == 0 && blocks * slots->pull_count == 1)
        room->rowless = 0;
    else if (others == 0)
        room->params[kernels++] =
            kernel_of(slots->pull->functions[1], 1, 1, threads_of(count), room->pull);
    if (slots->pull_count > 0)
        room->params[kernels++] = kernel_of(slots->pull->functions[0], blocks,
                                            slots->pull_count, threads, room->pull);
    return kernels;
}

gph_status gphi_ring_feed(gph_slots *slots, CUstream stream, gph_error *error)
{
    struct gphi_feed_room room;
    const uint32_t count = gphi_ring_kernels(slots, &room);
    for (uint32_t i = 0; i < count; i++) {
        const CUDA_KERNEL_NODE_PARAMS *p = &room.params[i];
        GPHI_TRY(gphi_slots_check(slots->runtime->cu.cuLaunchKernel(
                                      p->func, p->gridDimX, p->gridDimY, 1, p->blockDimX,
                                      1, 1, 0, stream, p->kernelParams, NULL),
                                  "cuLaunchKernel", error));
    }
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* Memory that the ranks of a host share, and launches of the kernels that use it. */
#define _GNU_SOURCE
#include "ranks/peers.h"
#include "base/fail.h"
#include "base/log.h"
#include "cuda/status.h"

#include <string.h>
#include <unistd.h>

static const gphi_kernel_text peers_text = {
    .what = "the kernels of communicators",
    .ptx = gphi_ranks_ptx,
    .names = {[GPHI_PEERS_F32] = "gph_ranks_reduce_f32",
              [GPHI_PEERS_F16] = "gph_ranks_reduce_f16",
              [GPHI_PEERS_BF16] = "gph_ranks_reduce_bf16",
              [GPHI_PEERS_I32] = "gph_ranks_reduce_i32",
              [GPHI_PEERS_GATHER] = "gph_ranks_gather",
              [GPHI_PEERS_BROADCAST] = "gph_ranks_broadcast"}};

_Static_assert(sizeof(ranks_head) <= RANKS_HEAD, "the head of the memory");

/* ---- making ---- */

/* Lines of a block: as many as it has where all blocks are used, but never fewer than it
 * has threads, which small tensors fill first. */
static uint32_t capacity_for(uint64_t bytes)
{
    const uint64_t lines = (bytes + RANKS_DATA - 1) / RANKS_DATA;
    const uint64_t each = (lines + RANKS_BLOCKS - 1) / RANKS_BLOCKS;
    return each < RANKS_THREADS ? (uint32_t)RANKS_THREADS : (uint32_t)each;
}

static gph_status take_memory(gphi_peers *peers, size_t bytes, gph_error *error)
{
    const gphi_cuda_table *cu = &peers->runtime->cu;
    static const char what[] = "memory that ranks share";
    void *host = NULL;
    CUdeviceptr there = 0;
    GPHI_TRY(gphi_cuda_check(error, cu->cuMemAlloc(&peers->memory, bytes), "cuMemAlloc",
                             "%zu bytes of %s", bytes, what));
    GPHI_TRY(gphi_cuda_check(error, cu->cuMemsetD8(peers->memory, 0, bytes), "cuMemsetD8",
                             "%s", what));
    GPHI_TRY(gphi_cuda_check(error, cu->cuStreamSynchronize(NULL), "cuStreamSynchronize",
                             "%s", what));
    GPHI_TRY(gphi_cuda_check(
        error,
        cu->cuMemHostAlloc(&host, sizeof(*peers->host),
                           CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc", "%s", what));
    peers->host = host;
    memset(host, 0, sizeof(*peers->host));
    GPHI_TRY(gphi_cuda_check(error, cu->cuMemHostGetDevicePointer(&there, host, 0),
                             "cuMemHostGetDevicePointer", "%s", what));
    peers->call.memory = peers->memory;
    peers->call.host = (ranks_host *)(uintptr_t)there;
    return GPH_OK;
}

/* What two GPUs, or two processes, cannot have between them is not an error of the driver's:
 * NCCL may have another way. */
static gph_status shared_check(gph_error *error, CUresult result, const char *call,
                               uint32_t rank)
{
    switch (result) {
    case CUDA_ERROR_PEER_ACCESS_UNSUPPORTED:
    case CUDA_ERROR_TOO_MANY_PEERS:
    case CUDA_ERROR_NOT_SUPPORTED:
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "memory of rank %u is not shared: %s returned %s", rank, call,
                         gph_status_name((gph_status)result));
    default: return gphi_cuda_check(error, result, call, "memory of rank %u", rank);
    }
}

gph_status gphi_peers_init(gphi_peers *peers, gph_runtime *runtime, uint32_t rank,
                           uint32_t count, uint64_t bytes, uint64_t patience_ns,
                           gph_error *error)
{
    *peers = (gphi_peers){.runtime = runtime};
    if (count > RANKS_MAX)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "libgph's kernel takes %d ranks at most, not %u", RANKS_MAX,
                         count);
    peers->call = (ranks_call){.patience = patience_ns,
                               .rank = rank,
                               .count = count,
                               .capacity = capacity_for(bytes)};
    const size_t lines = (size_t)2 * count * RANKS_BLOCKS * peers->call.capacity;
    GPHI_TRY(take_memory(peers, RANKS_HEAD + lines * RANKS_LINE, error));
    if (count > 1)
        GPHI_TRY(shared_check(
            error, runtime->cu.cuIpcGetMemHandle(&peers->handle, peers->memory),
            "cuIpcGetMemHandle", rank));
    return gphi_kernels_retain(runtime, &peers_text, &peers->kernels, error);
}

/* ---- the others ---- */

gph_status gphi_peers_show(const gphi_peers *peers, gphi_peers_card *out,
                           gph_error *error)
{
    const gphi_cuda_table *cu = &peers->runtime->cu;
    CUdevice device = 0;
    memset(out, 0, sizeof(*out));
    GPHI_TRY(gphi_cuda_check(error, cu->cuCtxGetDevice(&device), "cuCtxGetDevice",
                             "making a communicator"));
    GPHI_TRY(gphi_cuda_check(error, cu->cuDeviceGetUuid(&out->device, device),
                             "cuDeviceGetUuid", "making a communicator"));
    if (gethostname(out->host, sizeof(out->host) - 1) != 0)
        out->host[0] = '\0';
    out->handle = peers->handle;
    out->can = peers->memory != 0;
    return GPH_OK;
}

/* A process that has ended meanwhile: the driver refuses its handle. */
gph_status gphi_peers_connect(gphi_peers *peers, const gphi_peers_card *cards,
                              gph_error *error)
{
    const gphi_cuda_table *cu = &peers->runtime->cu;
    const uint32_t count = peers->call.count;
    for (uint32_t i = 0; i + 1 < count; i++) {
        const uint32_t peer = (peers->call.rank + 1 + i) % count;
        if (strcmp(cards[peer].host, cards[peers->call.rank].host) != 0)
            return gphi_fail(error, GPH_E_UNSUPPORTED,
                             "rank %u is on host %s, this one on %s: no memory is shared",
                             peer, cards[peer].host, cards[peers->call.rank].host);
        GPHI_TRY(
            shared_check(error,
                         cu->cuIpcOpenMemHandle(&peers->opened[i], cards[peer].handle,
                                                CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS),
                         "cuIpcOpenMemHandle", peer));
        peers->call.peers[i] = peers->opened[i];
    }
    return GPH_OK;
}

void gphi_peers_fini(gphi_peers *peers)
{
    if (!peers->runtime)
        return;
    const gphi_cuda_table *cu = &peers->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < RANKS_MAX - 1; i++)
        if (peers->opened[i]) {
            const CUresult closed = cu->cuIpcCloseMemHandle(peers->opened[i]);
            GPHI_THEN(result, closed);
        }
    if (peers->memory) {
        const CUresult freed = cu->cuMemFree(peers->memory);
        GPHI_THEN(result, freed);
    }
    if (peers->host) {
        const CUresult freed = cu->cuMemFreeHost(peers->host);
        GPHI_THEN(result, freed);
    }
    if (result != CUDA_SUCCESS)
        gphi_log("ranks", GPH_LOG_ERROR, "memory that ranks share stays: %s",
                 gph_status_name((gph_status)result));
    gphi_kernels_release(peers->kernels);
    *peers = (gphi_peers){0};
}

/* ---- calls ---- */

static uint32_t up(uint64_t a, uint32_t b)
{
    return (uint32_t)((a + b - 1) / b);
}

CUresult gphi_peers_launch(const gphi_peers *peers, const gphi_peers_work *work,
                           CUstream stream)
{
    ranks_call call = peers->call;
    void *arguments[] = {&call};
    /* A gather's parts are `bytes` apart. */
    const uint64_t spread = work->kind == GPHI_PEERS_GATHER ? work->bytes : 0;
    call.in = work->in;
    call.out = work->out;
    call.bytes = work->bytes;
    call.lines = up(work->bytes, RANKS_DATA);
    const uint32_t full = up(call.lines, RANKS_THREADS);
    const uint32_t blocks = full < RANKS_BLOCKS ? full : (uint32_t)RANKS_BLOCKS;
    call.chunk = up(call.lines, blocks);
    call.wide = ((work->in | work->out | spread) & (RANKS_DATA - 1)) == 0;
    call.step = work->element_bytes < 4 ? work->element_bytes : 4;
    call.reduction = work->reduction;
    call.root = work->root;
    call.place = work->place;
    /* No block is without a line, or its epoch would fall out of step. */
    const uint32_t grid = up(call.lines, call.chunk);
    const uint32_t threads = up(call.chunk, 32) * 32;
    return peers->runtime->cu.cuLaunchKernel(
        peers->kernels->functions[work->kind], grid, 1, 1,
        threads < RANKS_THREADS ? threads : RANKS_THREADS, 1, 1, 0, stream, arguments,
        NULL);
}

void gphi_peers_stop(gphi_peers *peers)
{
    if (peers->host)
        __atomic_store_n(&peers->host->stop, 1, __ATOMIC_RELEASE);
}

bool gphi_peers_missed(const gphi_peers *peers, uint32_t *rank, uint32_t *place)
{
    /* Acquire: the kernel wrote the words before it, with a fence between. */
    if (!peers->host || __atomic_load_n(&peers->host->failed, __ATOMIC_ACQUIRE) == 0)
        return false;
    *rank = peers->host->rank;
    *place = peers->host->place;
    return true;
}

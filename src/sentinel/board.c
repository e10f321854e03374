// SPDX-License-Identifier: Apache-2.0
/* Where the board's memory comes from, and its blocks. */
#define _GNU_SOURCE
#include "sentinel/board.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/save.h"
#include "cuda/status.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BYTES_DEFAULT = 4 << 20, BYTES_MIN = 4096, PAGE = 4096 };

/* ---- blocks ---- */

static gphi_board_block *block_at(const gphi_board *board, uint64_t offset)
{
    return gphi_board_at(board->memory, offset);
}

/* The lock is for writers of blocks and for readers in this process. Others read a copy of
 * the file, and check what they find. */

/* First fit, free neighbors made one on the way. */
static uint64_t find_locked(gphi_board *board, uint64_t bytes)
    GPHI_REQUIRES(&board->mutex);

static uint64_t find_locked(gphi_board *board, uint64_t bytes)
{
    for (uint64_t at = sizeof(gphi_board_head); at < board->bytes;) {
        gphi_board_block *block = block_at(board, at);
        while (block->kind == GPHI_BLOCK_FREE && at + block->bytes < board->bytes &&
               block_at(board, at + block->bytes)->kind == GPHI_BLOCK_FREE)
            block->bytes += block_at(board, at + block->bytes)->bytes;
        if (block->kind == GPHI_BLOCK_FREE && block->bytes >= bytes)
            return at;
        at += block->bytes;
    }
    return 0;
}

/* One that was an executable's of as many words. */
static uint64_t find_idle_locked(gphi_board *board, uint64_t bytes)
    GPHI_REQUIRES(&board->mutex);

static uint64_t find_idle_locked(gphi_board *board, uint64_t bytes)
{
    for (uint64_t at = sizeof(gphi_board_head); at < board->bytes;) {
        gphi_board_block *block = block_at(board, at);
        if (block->kind == GPHI_BLOCK_IDLE && block->bytes == bytes) {
            block->kind = GPHI_BLOCK_EXEC;
            return at;
        }
        at += block->bytes;
    }
    return 0;
}

uint64_t gphi_board_take(gphi_board *board, uint32_t kind, uint64_t bytes)
{
    bytes = (bytes + 15) / 16 * 16;
    gphi_mutex_lock(&board->mutex);
    uint64_t at = kind == GPHI_BLOCK_EXEC ? find_idle_locked(board, bytes) : 0;
    const bool is_idle = at > 0;
    at = is_idle ? at : find_locked(board, bytes);
    if (at > 0 && !is_idle) {
        gphi_board_block *block = block_at(board, at);
        const uint64_t left = block->bytes - bytes;
        if (left > 0)
            *block_at(board, at + bytes) =
                (gphi_board_block){.bytes = left, .kind = GPHI_BLOCK_FREE};
        memset(block + 1, 0, (size_t)(bytes - sizeof(*block)));
        *block = (gphi_board_block){.bytes = bytes, .kind = kind};
    }
    gphi_mutex_unlock(&board->mutex);
    return at;
}

void gphi_board_give(gphi_board *board, uint64_t offset)
{
    if (offset == 0)
        return;
    gphi_mutex_lock(&board->mutex);
    gphi_board_block *block = block_at(board, offset);
    block->kind = block->kind == GPHI_BLOCK_EXEC ? GPHI_BLOCK_IDLE : GPHI_BLOCK_FREE;
    gphi_mutex_unlock(&board->mutex);
}

/* ---- memory ---- */

static gph_status take_pinned(gphi_board *board, gph_error *error)
{
    const gphi_cuda_table *cu = &board->runtime->cu;
    void *memory = NULL;
    GPHI_TRY(gphi_cuda_check(
        error,
        cu->cuMemHostAlloc(&memory, (size_t)board->bytes,
                           CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc", "%llu bytes for sentinels", (unsigned long long)board->bytes));
    board->memory = memory;
    return GPH_OK;
}

/* The room is reserved: a full disk must not end in SIGBUS. */
static gph_status map_file(gphi_board *board, const char *path, gph_error *error)
{
    board->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (board->fd < 0)
        return gphi_save_fail(error, "open", path);
    if (flock(board->fd, LOCK_EX | LOCK_NB) != 0)
        return gphi_fail(error, GPH_E_STATE, "another board has %s", path);
    if (ftruncate(board->fd, 0) != 0 ||
        (errno = posix_fallocate(board->fd, 0, (off_t)board->bytes)) != 0)
        return gphi_save_fail(error, "write", path);
    void *memory =
        mmap(NULL, board->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, board->fd, 0);
    if (memory == MAP_FAILED)
        return gphi_save_fail(error, "map", path);
    board->memory = memory;
    return GPH_OK;
}

static gph_status register_file(gphi_board *board, const char *path, gph_error *error)
{
    void *memory = board->memory;
    const CUresult result = board->runtime->cu.cuMemHostRegister(
        memory, board->bytes, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP);
    if (result == CUDA_SUCCESS)
        return GPH_OK;
    munmap(memory, board->bytes);
    board->memory = NULL;
    gphi_cuda_fail(error, (gph_status)result, "cuMemHostRegister", "mapping %s", path);
    gphi_hint(error, "a file in memory, such as in /dev/shm, can be mapped everywhere");
    return (gph_status)result;
}

static gph_status take_memory(gphi_board *board, const char *path, gph_error *error)
{
    char named[4096];
    const char *folder = getenv("GPH_SENTINEL_FILE");
    if (!path && folder && folder[0] != '\0') {
        snprintf(named, sizeof(named), "%s.%ld", folder, (long)getpid());
        path = named;
    }
    if (board->is_drivers)
        return path ? map_file(board, path, error)
                    : gphi_fail(error, GPH_E_INVALID, "the board has no path");
    const CUstreamCaptureMode mode = gphi_relax(&board->runtime->cu);
    gph_status status = path ? map_file(board, path, error) : take_pinned(board, error);
    if (status == GPH_OK && path)
        status = register_file(board, path, error);
    GPHI_THEN(status, gphi_cuda_check(error,
                                      board->runtime->cu.cuMemHostGetDevicePointer(
                                          &board->device, board->memory, 0),
                                      "cuMemHostGetDevicePointer", "mapping sentinels"));
    gphi_unrelax(&board->runtime->cu, mode);
    return status;
}

/* Where the context is dead or gone, its pages are too: nothing can be done about it. */
static void give_memory(gphi_board *board)
{
    const gphi_cuda_table *cu = &board->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    if (board->memory && board->fd < 0)
        result = cu->cuMemFreeHost(board->memory);
    else if (board->memory && !board->is_drivers)
        result = cu->cuMemHostUnregister(board->memory);
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("sentinel", GPH_LOG_INFO, "memory of sentinels: %s",
                 gph_status_name((gph_status)result));
    if (board->fd >= 0) {
        /* What the driver still has registered, or writes to, must stay mapped. */
        if (board->memory && result == CUDA_SUCCESS && !board->is_drivers)
            munmap(board->memory, board->bytes);
        close(board->fd);
    }
}

/* ---- life ---- */

static void destroy_now(void *user)
{
    gphi_board *board = user;
    give_memory(board);
    gphi_heap_free(board->runtime->heap, board, sizeof(*board));
}

void gphi_board_release(gphi_board *board)
{
    /* Release: what this owner did comes before the end, which acquires it. */
    if (atomic_fetch_sub_explicit(&board->owners, 1, memory_order_acq_rel) == 1)
        gphi_defer(&board->end, destroy_now, board);
}

gph_status gphi_board_create(gph_runtime *runtime, const gphi_board_wish *wish,
                             gphi_board **out, gph_error *error)
{
    const gph_sentinel_options *options = wish->options;
    const uint64_t bytes = options->bytes > 0 ? options->bytes : BYTES_DEFAULT;
    if (bytes < BYTES_MIN || bytes > GPHI_BOARD_BYTES_MAX)
        return gphi_fail(error, GPH_E_INVALID, "options.bytes is %llu, not %d to %llu",
                         (unsigned long long)bytes, BYTES_MIN, GPHI_BOARD_BYTES_MAX);
    gphi_board *board = gphi_heap_alloc(runtime->heap, sizeof(*board));
    GPHI_TRY(gphi_made(error, board, "making a board for sentinels"));
    *board = (gphi_board){.base = {wish->ops},
                          .runtime = runtime,
                          .every = options->every,
                          .is_drivers = wish->is_drivers,
                          .bytes = (bytes + PAGE - 1) / PAGE * PAGE,
                          .fd = -1,
                          .mutex = GPHI_MUTEX_INIT};
    atomic_init(&board->owners, 1);
    const gph_status status = take_memory(board, options->path, error);
    if (status != GPH_OK) {
        destroy_now(board);
        return status;
    }
    gphi_board_head *head = gphi_board_at(board->memory, 0);
    *head = (gphi_board_head){.bytes = board->bytes, .process = (uint64_t)getpid()};
    *block_at(board, sizeof(*head)) = (gphi_board_block){
        .bytes = board->bytes - sizeof(*head), .kind = GPHI_BLOCK_FREE};
    memcpy(head->magic, GPHI_BOARD_MAGIC, sizeof(head->magic));
    *out = board;
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* The memory that sentinels write to and readers read: pinned, or a mapped file, so that
 * it is there after a hang, an error and the process's end.
 *
 *   [head][block][block] ... [block]        blocks without gaps, to the end
 *           |
 *           +-- FREE
 *           +-- EXEC   handle, launches, words (a sentinel each), where its listing is
 *           +-- LISTING nodes, what they wait for, texts: listing.h
 *
 * Words are 1 where a node's end is known, and 0 from the begin of a launch until then:
 * the first node of a launch clears all of them, and each sentinel waits for it, too. So
 * they are those of one launch, however many are queued.
 *
 * Of a board that is the driver's the driver itself writes the words, one a node, as
 * gph_softcuda_trail() says: GPHI_EXEC_DRIVERS. Nothing is added to graphs.
 *
 * An executable may be destroyed while its launches run, which write words later: its
 * block becomes another executable's of as many words, and never anything else. */
#ifndef GPHI_SENTINEL_BOARD_H
#define GPHI_SENTINEL_BOARD_H
#include "base/thread.h"
#include "replay/exec.h"
#include <gph/sentinel.h>

enum { GPHI_BLOCK_FREE = 1, GPHI_BLOCK_EXEC, GPHI_BLOCK_LISTING, GPHI_BLOCK_IDLE };
enum { GPHI_EXEC_DRIVERS = 1 };

/* Layout of the file; numbers of the machine that wrote it. */
typedef struct gphi_board_head {
    char magic[8];
    uint64_t bytes; /* of the file */
    uint64_t process;
    uint64_t reserved;
} gphi_board_head;
#define GPHI_BOARD_MAGIC "gphsent2"

typedef struct gphi_board_block {
    uint64_t bytes; /* this included; a multiple of 16 */
    uint32_t kind;
    uint32_t reserved;
} gphi_board_block;

typedef struct gphi_board_exec {
    gphi_board_block block;
    atomic_ullong handle; /* 0: not made yet */
    atomic_ullong launches;
    atomic_ullong listing; /* offset of its block; 0: it is being written */
    uint32_t word_count;
    uint32_t flags; /* GPHI_EXEC_DRIVERS */
    atomic_uint words[];
} gphi_board_exec;

typedef struct gphi_board {
    gph_sentinel base;
    gph_runtime *runtime;
    uint32_t every;
    bool is_drivers;    /* the driver writes the words */
    atomic_uint owners; /* who made it, and executables */
    char *memory;
    CUdeviceptr device; /* the same for the GPU */
    uint64_t bytes;
    int fd;           /* -1: pinned memory */
    gphi_mutex mutex; /* of the blocks, for writers */
    gphi_deferred end;
} gphi_board;

#define GPHI_BOARD_BYTES_MAX (1ull << 30)

/* What a board is made with: options, and whether the driver writes its words. */
typedef struct gphi_board_wish {
    const gph_sentinel_options *options;
    const gphi_marks_ops *ops;
    bool is_drivers;
} gphi_board_wish;

/* With one owner. */
gph_status gphi_board_create(gph_runtime *runtime, const gphi_board_wish *wish,
                             gphi_board **out, gph_error *error);
void gphi_board_release(gphi_board *board);

/* A block's offset, zeroed but for the words of an idle one; 0: it is full. */
uint64_t gphi_board_take(gphi_board *board, uint32_t kind, uint64_t bytes);
void gphi_board_give(gphi_board *board, uint64_t offset);

/* `board` may be a copy of a file's bytes. */
static inline void *gphi_board_at(const char *memory, uint64_t offset)
{
    const void *at = memory + offset;
    void *out;
    __builtin_memcpy(&out, &at, sizeof(out));
    return out;
}
#endif

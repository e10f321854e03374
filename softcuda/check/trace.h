// SPDX-License-Identifier: Apache-2.0
/* What one node of a graph touches in one launch, byte by byte.
 *
 *   soft_trace ── touched (a page of 4 KiB, one line of PTX, one kind of access)
 *              │     bits    one a byte
 *              │     first   of each 256 bytes the access with the lowest address, and of
 *              │             those the one of the first block and thread
 *              └─ spans      rows of copies and fills
 *
 * Pages and spans live until soft_race_finish(). */
#ifndef SOFT_CHECK_TRACE_H
#define SOFT_CHECK_TRACE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct soft_trace soft_trace; /* any thread */

/* One access of a kernel, aligned to its size where that is a power of two. */
typedef struct soft_touch {
    uint64_t address, block; /* block: linear */
    uint32_t bytes, thread;  /* thread: linear in its block */
    uint32_t line;           /* of the PTX */
    bool write, strong;      /* strong: may race with its like (PTX_CHECK_STRONG) */
} soft_touch;

/* The value of a conditional handle (from 1 on) as bytes that nothing else touches: no address of
 * a program is so high. A kernel writes it, the handle's node reads it. */
#define SOFT_TRACE_HANDLES UINT64_C(0xc000000000000000)
static inline uint64_t soft_trace_handle(uint64_t handle)
{
    return SOFT_TRACE_HANDLES + 4 * handle;
}

/* Pages that a thread met last; zeroed before the first use. A thread's own. */
typedef struct soft_trace_memory {
    struct soft_trace_seen {
        uint64_t serial, page;
        uint32_t line;
        uint8_t kind;
        void *touched;
    } seen[64];
} soft_trace_memory;

/* The kernel that runs as this node: for messages. `name` is lent until the launch's
 * soft_race_finish(). */
void soft_trace_kernel(soft_trace *trace, const char *name, const uint32_t grid[3],
                       const uint32_t block[3]);
void soft_trace_touch(soft_trace *trace, soft_trace_memory *memory,
                      const soft_touch *touch);
/* Whether the race check itself will report it if these bytes are outside their life: who
 * watches accesses need not refuse it. */
bool soft_trace_excuses(soft_trace *trace, uint64_t address, uint64_t bytes);
/* `rows` times `bytes`, `pitch` from row to row. */
typedef struct soft_touched_rows {
    uint64_t address, bytes, rows, pitch;
    bool write, strong;
} soft_touched_rows;
void soft_trace_rows(soft_trace *trace, const soft_touched_rows *touched);

#endif

// SPDX-License-Identifier: Apache-2.0
/* A mapped file that one process writes and another reads, which outlives the writer
 * however that ends. It never blocks the writer: what does not fit is counted and said.
 *
 *   file = gphi_event_ring_head (one page) | slots, one a thread
 *        | units of 64 bytes, a power of two of them
 *
 * A writer takes units by adding to `head`, fills them, and sets the record's mark last.
 * A record never goes around the end (the rest is skipped by a record of kind 0). The
 * reader gives room back through `tail`. A mark is made of the record's place and a
 * secret of the file, so that what an older record left there is never taken for one. A
 * record whose writer died has no mark: the reader looks for the next when the process is
 * gone.
 *
 * A slot says which call its thread is in the middle of, from before the driver is called
 * until it has returned. Of a process that is gone the reader makes a CALL of each that
 * is not empty, flagged GPHI_CALL_UNRETURNED.
 */
#ifndef GPHI_EVENT_RING_H
#define GPHI_EVENT_RING_H
#include "event/event.h"
#include <gph/base.h>
#include <stdbool.h>

typedef struct gphi_event_ring gphi_event_ring;

/* ---- writer: no allocation, no lock, safe in signal handlers; any thread ---- */

/* Makes the file (mode 0600, its room reserved) and maps it. `units`: a power of two from
 * 64 to 2^26 (4 GiB). A file that is there already is replaced.
 * Where it is GPH_E_IO that it fails with, errno says why, too. */
gph_status gphi_event_ring_create(const char *path, uint32_t units, gphi_event_ring **out,
                                  gph_error *error);

/* Room for a record with `bytes` after its head, or NULL: then one more is lost. All of
 * it must be filled but `mark`, `units`; then gphi_event_ring_put(). */
gphi_event *gphi_event_ring_take(gphi_event_ring *ring, size_t bytes);
void gphi_event_ring_put(gphi_event_ring *ring, gphi_event *event);

enum { GPHI_SLOT_WORDS = 16 };

typedef struct gphi_event_slot {
    uint32_t thread; /* whose; 0: nobody's; __atomic */
    uint32_t call;   /* 1 + gphi_call_id; 0: in none. Set last, cleared first; __atomic */
    uint64_t time_ns; /* 0: not asked */
    uint64_t from;    /* return address; for calls without a stack */
    uint32_t stack;
    uint32_t open; /* as in a CALL record */
    uint64_t capture;
    uint8_t flags; /* gphi_call_flag */
    uint8_t word_count;
    uint8_t reserved[2];
    uint32_t
        last; /* 1 + gphi_call_id of the call it entered last, also after its return */
    uint8_t more[16];
    uint64_t words[GPHI_SLOT_WORDS]; /* arguments as they were passed */
} gphi_event_slot;
_Static_assert(sizeof(gphi_event_slot) == 192, "three lines");

/* A slot for a thread, whose `call` is 0; NULL: too many threads. */
gphi_event_slot *gphi_event_ring_slot(gphi_event_ring *ring, uint32_t thread);
/* The thread ends. NULL is allowed. */
void gphi_event_slot_release(gphi_event_slot *slot);

/* Around a call: begin, fill all but `thread` and `call`, enter; leave. */
static inline void gphi_event_slot_begin(gphi_event_slot *slot)
{
    __atomic_store_n(&slot->call, 0, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE); /* no instruction on x86-64 */
}

static inline void gphi_event_slot_enter(gphi_event_slot *slot, uint32_t call)
{
    __atomic_store_n(&slot->last, call + 1, __ATOMIC_RELAXED);
    __atomic_store_n(&slot->call, call + 1, __ATOMIC_RELEASE);
}

static inline void gphi_event_slot_leave(gphi_event_slot *slot)
{
    __atomic_store_n(&slot->call, 0, __ATOMIC_RELAXED);
}

/* In a child of fork(): unmaps the parent's file there, which goes on untouched. No other
 * thread may be writing. NULL is allowed. */
void gphi_event_ring_forget(gphi_event_ring *ring);

/* ---- reader: one thread ---- */

typedef struct gphi_event_ring_reader gphi_event_ring_reader;

gph_status gphi_event_ring_open(const char *path, const gph_allocator *allocator,
                                gphi_event_ring_reader **out, gph_error *error);
void gphi_event_ring_close(gphi_event_ring_reader *reader);

/* The next record, a copy, valid until the next call, or NULL: none for now. With
 * `is_over` (the writer is gone) unfinished records are skipped, and after the last come
 * the calls that have not returned. What did not fit is reported by a LOST record where
 * it is missing, as far as the writer came to say so. */
const gphi_event *gphi_event_ring_next(gphi_event_ring_reader *reader, bool is_over);

/* The slot of the thread that has been in its call longest; false: none began at `before`,
 * CLOCK_MONOTONIC, or earlier. Of a writer that runs: it may be out of it again. */
bool gphi_event_ring_stuck(const gphi_event_ring_reader *reader, uint64_t before,
                           gphi_event_slot *out);

/* The slot of a thread whose last call asked whether work has ended (cuStreamQuery,
 * cuEventQuery), and began at `since` or later; false: there is none. */
bool gphi_event_ring_polls(const gphi_event_ring_reader *reader, uint64_t since,
                           gphi_event_slot *out);

/* Records that did not fit so far. */
uint64_t gphi_event_ring_lost(const gphi_event_ring_reader *reader);

/* The writer's process. */
uint32_t gphi_event_ring_process(const gphi_event_ring_reader *reader);
#endif

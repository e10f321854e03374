// SPDX-License-Identifier: Apache-2.0
/* A mapped file that one process writes and another reads, which outlives the writer
 * however that ends. It never blocks the writer: what does not fit is counted and said.
 *
 *   file = gphi_ring_head (one page) | units of 64 bytes, a power of two of them
 *
 * A writer takes units by adding to `head`, fills them, and sets the record's mark last.
 * A record never goes around the end (the rest is skipped by a record of kind 0). The
 * reader gives room back through `tail`. A record whose writer died has no mark: the
 * reader skips it when the process is gone. */
#ifndef GPHI_EVENT_RING_H
#define GPHI_EVENT_RING_H
#include "event/event.h"
#include <gph/base.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct gphi_ring gphi_ring;

/* ---- writer: no allocation, no lock, safe in signal handlers; any thread ---- */

/* Makes the file (mode 0600) and maps it. `units`: a power of two. */
gph_status gphi_ring_create(const char *path, uint32_t units, gphi_ring **out,
                            gph_error *error);

/* Room for a record with `bytes` behind its head, or NULL: then one more is lost. All of
 * it must be filled but `mark`, `units`; then gphi_ring_put(). */
gphi_event *gphi_ring_take(gphi_ring *ring, size_t bytes);
void gphi_ring_put(gphi_ring *ring, gphi_event *event);

/* In a child of fork(): nothing more is written to the parent's file. */
void gphi_ring_forget(gphi_ring *ring);

/* ---- reader: one thread ---- */

typedef struct gphi_ring_reader gphi_ring_reader;

gph_status gphi_ring_open(const char *path, const gph_allocator *allocator,
                          gphi_ring_reader **out, gph_error *error);
void gphi_ring_close(gphi_ring_reader *reader);

/* The next record, valid until the next call, or NULL: none for now. With `is_over` (the
 * writer is gone) unfinished records are skipped. */
const gphi_event *gphi_ring_next(gphi_ring_reader *reader, bool is_over);

/* Records that did not fit so far. */
uint64_t gphi_ring_lost(const gphi_ring_reader *reader);
#endif

// SPDX-License-Identifier: Apache-2.0
/* A group whose bytes use a transport of the program's own. Its board is memory of this
 * process; what comes is put into the others' slots, so that all else is as it is for ranks
 * that share the board.
 *
 * One step is up to three gathers. A parcel has a fixed size, so that ranks out of step
 * still gather as many bytes: who is where, and short data. Where a parcel says that its
 * rank has failed, all gather causes. Else longer data follow. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "ranks/ranks.h"

#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { INLINE = 64, EAGER = 100 };
#define NAP_NS 20000L
/* What a rank that closes a failed group gives its last gather. */
#define FAREWELL_NS UINT64_C(1000000000)

typedef struct parcel {
    uint64_t agreement, bytes;
    uint32_t kind, has_failed;
    uint64_t what[GPHI_RANKS_WHAT / 8], place[GPHI_RANKS_WHAT / 8];
    unsigned char data[INLINE];
} parcel;

/* What gathers read and write stays until the transport is closed. */
struct gphi_ranks_foreign {
    gph_ranks_transport transport;
    bool is_stuck;     /* a gather has not ended: there will be no other */
    bool is_announced; /* the others know that the group has failed */
    unsigned char mine[GPHI_RANKS_CHUNK];
    unsigned char all[]; /* GPHI_RANKS_CHUNK of each rank */
};

/* ---- one gather ---- */

static gph_status poll_once(gphi_ranks_foreign *foreign, uint32_t *round, uint32_t *done,
                            gph_error *error)
{
    GPHI_TRY(foreign->transport.test(foreign->transport.user, done, error));
    if (*done)
        return GPH_OK;
    if ((*round)++ < EAGER) {
        sched_yield();
    } else {
        const struct timespec nap = {.tv_nsec = NAP_NS};
        nanosleep(&nap, NULL);
    }
    return GPH_OK;
}

/* Sets `is_late` where it did not end in time. */
static gph_status gather(gphi_ranks_foreign *foreign, size_t bytes, uint64_t patience_ns,
                         bool *is_late, gph_error *error)
{
    const uint64_t begin = gphi_clock_ns();
    uint32_t round = 0, done = 0;
    gph_error own = {0};
    *is_late = false;
    gph_status status = foreign->transport.begin(foreign->transport.user, foreign->mine,
                                                 bytes, foreign->all, &own);
    while (status == GPH_OK && !done && !*is_late) {
        status = poll_once(foreign, &round, &done, &own);
        *is_late = !done && gphi_span_ns(begin, gphi_clock_ns()) > patience_ns;
    }
    foreign->is_stuck = status != GPH_OK || *is_late;
    if (status == GPH_OK)
        return GPH_OK;
    return gphi_fail(error, status, "the transport: %s",
                     own.message[0] ? own.message : gph_status_name(status));
}

/* Gathers, or the group has failed. */
static gph_status gather_or_give_up(gph_ranks *ranks, const gphi_ranks_call *call,
                                    size_t bytes, gph_error *error)
{
    char time[32];
    bool is_late;
    gph_error cause = {0};
    const gph_status status =
        gather(ranks->foreign, bytes, ranks->patience_ns, &is_late, &cause);
    if (status == GPH_OK && !is_late)
        return GPH_OK;
    if (status != GPH_OK)
        gphi_fail_in(&cause, "rank %u is at '%s': ", ranks->who.rank, call->what);
    else
        gphi_fail(
            &cause, GPH_E_STATE,
            "rank %u is at '%s' (%s), and the transport's gather did not end within "
            "%s: a rank did not come, and which one it does not say",
            ranks->who.rank, call->what, gphi_ranks_place(call->place),
            gphi_ranks_time(ranks->patience_ns, time));
    gphi_ranks_give_up(ranks, ranks->who.rank, &cause);
    return gphi_ranks_cause_get(ranks, error);
}

/* ---- parcels ---- */

static void words_get(const gphi_ranks_label *label, uint64_t *words)
{
    for (size_t i = 0; i < GPHI_RANKS_WHAT / 8; i++)
        words[i] = atomic_load_explicit(&label->words[i], memory_order_relaxed);
}

static void words_set(gphi_ranks_label *label, const uint64_t *words)
{
    for (size_t i = 0; i < GPHI_RANKS_WHAT / 8; i++)
        atomic_store_explicit(&label->words[i], words[i], memory_order_relaxed);
}

static gphi_ranks_record *record_of(gph_ranks *ranks, uint32_t rank)
{
    return &ranks->board->slots[rank].records[ranks->step % 2];
}

/* Of the record that was published. */
static void pack(gph_ranks *ranks)
{
    parcel out = {0};
    const gphi_ranks_record *mine = record_of(ranks, ranks->who.rank);
    out.agreement = atomic_load_explicit(&mine->agreement, memory_order_relaxed);
    out.bytes = atomic_load_explicit(&mine->bytes, memory_order_relaxed);
    out.kind = atomic_load_explicit(&mine->kind, memory_order_relaxed);
    out.has_failed = gphi_ranks_failed(ranks);
    words_get(&mine->what, out.what);
    words_get(&mine->place, out.place);
    if (out.bytes > 0 && out.bytes <= INLINE)
        memcpy(out.data, mine->data, out.bytes);
    memcpy(ranks->foreign->mine, &out, sizeof(out));
}

/* Into the slots. Whether a rank has failed. */
static bool unpack(gph_ranks *ranks)
{
    bool has_failed = false;
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        parcel in;
        memcpy(&in, ranks->foreign->all + rank * sizeof(in), sizeof(in));
        has_failed |= in.has_failed != 0;
        if (rank == ranks->who.rank)
            continue;
        gphi_ranks_record *record = record_of(ranks, rank);
        atomic_store_explicit(&record->agreement, in.agreement, memory_order_relaxed);
        atomic_store_explicit(&record->bytes, in.bytes, memory_order_relaxed);
        atomic_store_explicit(&record->kind, in.kind, memory_order_relaxed);
        words_set(&record->what, in.what);
        words_set(&record->place, in.place);
        if (in.bytes <= INLINE)
            memcpy(record->data, in.data, INLINE);
        /* Release: the record was written before. */
        atomic_store_explicit(&ranks->board->slots[rank].seq, ranks->step,
                              memory_order_release);
    }
    return has_failed;
}

/* A rank has failed: all of them, by the first one's cause. */
static gph_status gather_causes(gph_ranks *ranks, const gphi_ranks_call *call,
                                gph_error *error)
{
    gphi_ranks_cause cause = {0};
    gph_error mine = {0};
    ranks->foreign->is_announced = true;
    if (gphi_ranks_cause_get(ranks, &mine) != GPH_OK) {
        cause.code = mine.code;
        memcpy(cause.message, mine.message, sizeof(cause.message));
        memcpy(cause.hint, mine.hint, sizeof(cause.hint));
    }
    memcpy(ranks->foreign->mine, &cause, sizeof(cause));
    GPHI_TRY(gather_or_give_up(ranks, call, sizeof(cause), error));
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        memcpy(&cause, ranks->foreign->all + rank * sizeof(cause), sizeof(cause));
        if (cause.code == GPH_OK)
            continue;
        mine = (gph_error){.code = cause.code};
        memcpy(mine.message, cause.message, sizeof(mine.message));
        memcpy(mine.hint, cause.hint, sizeof(mine.hint));
        gphi_ranks_give_up(ranks, rank, &mine);
        break;
    }
    return gphi_ranks_cause_get(ranks, error);
}

static gph_status gather_parcels(gph_ranks *ranks, const gphi_ranks_call *call,
                                 gph_error *error)
{
    pack(ranks);
    GPHI_TRY(gather_or_give_up(ranks, call, sizeof(parcel), error));
    if (unpack(ranks))
        return gather_causes(ranks, call, error);
    const gph_status status = gphi_ranks_check_in_step(ranks, error);
    if (gphi_ranks_failed(ranks))
        ranks->foreign->is_announced = true; /* each of them has seen it */
    return status;
}

gph_status gphi_ranks_foreign_gather(gph_ranks *ranks, const gphi_ranks_call *call,
                                     size_t from, gph_error *error)
{
    if (from == 0)
        GPHI_TRY(gather_parcels(ranks, call, error));
    if (call->bytes <= INLINE)
        return GPH_OK;
    const size_t left = call->bytes - from;
    const size_t now = left < GPHI_RANKS_CHUNK ? left : GPHI_RANKS_CHUNK;
    memcpy(ranks->foreign->mine, (const char *)call->mine + from, now);
    GPHI_TRY(gather_or_give_up(ranks, call, now, error));
    for (uint32_t rank = 0; rank < ranks->who.count; rank++)
        memcpy(record_of(ranks, rank)->data, ranks->foreign->all + rank * now, now);
    return GPH_OK;
}

/* What gph_ranks_fail() was called with goes to the others by a parcel of its own. */
void gphi_ranks_foreign_announce(gph_ranks *ranks)
{
    gphi_ranks_foreign *foreign = ranks->foreign;
    if (!foreign || foreign->is_stuck || foreign->is_announced ||
        !gphi_ranks_failed(ranks))
        return;
    foreign->is_announced = true;
    bool is_late;
    const gphi_ranks_call call = {.what = "failure"};
    pack(ranks);
    gph_status status = gather(foreign, sizeof(parcel), FAREWELL_NS, &is_late, NULL);
    if (status == GPH_OK && !is_late)
        status = gather_causes(ranks, &call, NULL);
    gphi_ignore(status, "the group has failed; whoever does not hear it has a patience");
}

/* ---- life ---- */

static size_t bytes_of(uint32_t count)
{
    return sizeof(gphi_ranks_foreign) + (size_t)count * GPHI_RANKS_CHUNK;
}

gph_status gphi_ranks_foreign_begin(gph_ranks *ranks,
                                    const gph_ranks_transport *transport,
                                    gph_error *error)
{
    gphi_ranks_foreign *foreign =
        gphi_heap_alloc(ranks->heap, bytes_of(ranks->who.count));
    if (!foreign && transport->close)
        transport->close(transport->user);
    GPHI_TRY(gphi_made(error, foreign, "a transport's buffers for %u ranks",
                       ranks->who.count));
    foreign->transport = *transport;
    ranks->foreign = foreign;
    return GPH_OK;
}

/* A forked child's transport is its parent's. */
void gphi_ranks_foreign_end(gph_ranks *ranks)
{
    gphi_ranks_foreign *foreign = ranks->foreign;
    if (!foreign)
        return;
    if (foreign->transport.close && gphi_ranks_owned(ranks, NULL) == GPH_OK)
        foreign->transport.close(foreign->transport.user);
    gphi_heap_free(ranks->heap, foreign, bytes_of(ranks->who.count));
    ranks->foreign = NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* A group's life, and what is known of its ranks. */
#define _GNU_SOURCE
#include "ranks/ranks.h"
#include "base/fail.h"
#include "base/heap.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#define PATIENCE_NS UINT64_C(30000000000)
#define NOTICE_NS UINT64_C(250000000)
#define NOTICE_MIN_NS UINT64_C(1000000)

/* About 20 microseconds: longer than it takes where all ranks are there, shorter than a
 * sleep costs. */
enum { SPINS = 1000 };

/* Of a rank, in agreements: a text, or an error. */
#define ROOM_BYTES (sizeof(gphi_ranks_cause) + GPH_RANKS_TEXT_MAX)

const char *gphi_ranks_time(uint64_t ns, char out[32])
{
    if (ns % UINT64_C(1000000000) == 0)
        snprintf(out, 32, "%llu s", (unsigned long long)(ns / UINT64_C(1000000000)));
    else
        snprintf(out, 32, "%.3g ms", (double)ns / 1e6);
    return out;
}

static void destroy(gph_ranks *ranks)
{
    gphi_ranks_leave(ranks);
    if (ranks->room)
        gphi_heap_free(ranks->heap, ranks->room, ranks->room_bytes);
    pthread_mutex_destroy(&ranks->hooks);
    gphi_heap_free(ranks->heap, ranks, sizeof(*ranks));
}

/* Spinning helps only where every rank has a processor. */
static unsigned spins_for(uint32_t count)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) != 0)
        return 0;
    return count <= (uint32_t)CPU_COUNT(&set) ? SPINS : 0;
}

static gph_status begin(gph_ranks *ranks, gph_error *error)
{
    ranks->room_bytes = ranks->who.count * ROOM_BYTES;
    ranks->room = gphi_heap_alloc(ranks->heap, ranks->room_bytes);
    GPHI_TRY(
        gphi_made(error, ranks->room, "opening a group of %u ranks", ranks->who.count));
    GPHI_TRY(gphi_ranks_meet(ranks, error));
    gph_error cause = {0};
    const gph_status status = gphi_ranks_watch_begin(ranks, &cause);
    if (status == GPH_OK)
        return GPH_OK;
    /* The others have met it and count on it. */
    gphi_ranks_give_up(ranks, ranks->who.rank, &cause);
    if (error)
        *error = cause;
    return status;
}

gph_status gph_ranks_open(const gph_ranks_options *options, gph_ranks **out,
                          gph_error *error)
{
    gph_ranks_options opt;
    gphi_ranks_identity who;
    GPHI_TRY(gphi_need(error, out));
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_ranks_options", options, error));
    if (opt.transport)
        return gphi_fail(error, GPH_E_UNSUPPORTED, "options.transport is not there yet");
    if (opt.flags != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags is %u, not 0", opt.flags);
    GPHI_TRY(gphi_ranks_identify(&opt, &who, error));
    const uint64_t notice_ns = opt.notice_ns ? opt.notice_ns : NOTICE_NS;
    if (notice_ns < NOTICE_MIN_NS)
        return gphi_fail(error, GPH_E_INVALID, "options.notice_ns is %llu, %llu at least",
                         (unsigned long long)notice_ns,
                         (unsigned long long)NOTICE_MIN_NS);

    const gph_allocator heap = gphi_heap(opt.allocator);
    gph_ranks *ranks = gphi_heap_alloc(heap, sizeof(*ranks));
    GPHI_TRY(gphi_made(error, ranks, "opening a group of %u ranks", who.count));
    *ranks = (gph_ranks){.heap = heap,
                         .who = who,
                         .patience_ns = opt.patience_ns ? opt.patience_ns : PATIENCE_NS,
                         .notice_ns = notice_ns,
                         .spins = spins_for(who.count),
                         .stop = opt.stop,
                         .stop_user = opt.stop_user,
                         .fd = -1,
                         .giving_up = GPHI_MUTEX_INIT};
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&ranks->hooks, &recursive);
    pthread_mutexattr_destroy(&recursive);
    const gph_status status = begin(ranks, error);
    if (status != GPH_OK) {
        destroy(ranks);
        return status;
    }
    *out = ranks;
    return GPH_OK;
}

void gph_ranks_close(gph_ranks *ranks)
{
    if (!ranks)
        return;
    if (gphi_ranks_owned(ranks, NULL) == GPH_OK) {
        gphi_ranks_watch_end(ranks);
        gphi_ranks_part(ranks);
    }
    destroy(ranks);
}

uint32_t gph_ranks_rank(const gph_ranks *ranks)
{
    return ranks ? ranks->who.rank : 0;
}

uint32_t gph_ranks_count(const gph_ranks *ranks)
{
    return ranks ? ranks->who.count : 0;
}

uint32_t gph_ranks_local(const gph_ranks *ranks)
{
    return ranks ? ranks->who.local : 0;
}

void gph_ranks_fail(gph_ranks *ranks, const gph_error *cause)
{
    gph_error full = {.code = GPH_E_STATE, .message = "it gave up"};
    if (!ranks || gphi_ranks_owned(ranks, NULL) != GPH_OK)
        return;
    if (cause && cause->code != GPH_OK)
        full = *cause;
    gphi_fail_in(&full, "rank %u: ", ranks->who.rank);
    gphi_ranks_give_up(ranks, ranks->who.rank, &full);
}

gph_status gph_ranks_check(const gph_ranks *ranks, gph_error *error)
{
    GPHI_TRY(gphi_need(error, ranks));
    GPHI_TRY(gphi_ranks_owned(ranks, error));
    return gphi_ranks_cause_get(ranks, error);
}

gph_status gph_ranks_peer_get(const gph_ranks *ranks, uint32_t rank, gph_ranks_peer *out,
                              gph_error *error)
{
    GPHI_TRY(gphi_need(error, ranks, out));
    GPHI_TRY(gphi_ranks_owned(ranks, error));
    if (rank >= ranks->who.count)
        return gphi_fail(error, GPH_E_INVALID, "rank %u of %u", rank, ranks->who.count);
    const gphi_ranks_slot *slot = &ranks->board->slots[rank];
    gph_ranks_peer full = {.process = slot->process,
                           .alive = gphi_ranks_is_alive(ranks, rank)};
    memcpy(full.host, slot->host, sizeof(full.host));
    unsigned before, after;
    do {
        /* Acquire: the record was written before; it is written again two steps later. */
        before = atomic_load_explicit(&slot->seq, memory_order_acquire);
        const gphi_ranks_record *record = &slot->records[before % 2];
        full.steps = atomic_load_explicit(&record->agreement, memory_order_relaxed);
        gphi_ranks_label_get(&record->what, full.at);
        gphi_ranks_label_get(&record->place, full.place);
        atomic_thread_fence(memory_order_acquire);
        after = atomic_load_explicit(&slot->seq, memory_order_relaxed);
    } while (before != after);
    gphi_struct_write(out, &full, sizeof(full));
    return GPH_OK;
}

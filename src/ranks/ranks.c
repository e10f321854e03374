// SPDX-License-Identifier: Apache-2.0
/* A group's life, and what is known of its ranks. */
#define _GNU_SOURCE
#include "ranks/ranks.h"
#include "base/fail.h"
#include "base/heap.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS UINT64_C(30000000000)
#define NOTICE_NS UINT64_C(250000000)
#define NOTICE_MIN_NS UINT64_C(1000000)

/* About 20 microseconds: longer than it takes where all ranks are there, shorter than a
 * sleep costs. */
enum { SPINS = 1000 };

/* Of a rank, in agreements: a text, or an error. */
#define ROOM_BYTES (sizeof(gphi_ranks_cause) + GPH_RANKS_TEXT_MAX)

typedef struct greeting {
    char host[GPHI_RANKS_WHAT];
    int64_t process;
} greeting;

/* What all ranks must be opened with. */
static void write_terms(const gph_ranks *ranks, char *out, size_t bytes)
{
    char patience[32], notice[32];
    snprintf(out, bytes, "libgph %s, %u ranks, patience %s, notice %s",
             gph_version_text(), ranks->who.count,
             gphi_ranks_time(ranks->patience_ns, patience),
             gphi_ranks_time(ranks->notice_ns, notice));
}

/* Over a transport: are the terms the same, and who is on which host? */
static gph_status greet(gph_ranks *ranks, gph_error *error)
{
    char terms[GPH_RANKS_TEXT_MAX];
    write_terms(ranks, terms, sizeof(terms));
    GPHI_TRY(gph_ranks_agree_at(NULL, ranks, "group", terms, error));
    greeting mine = {.process = (int64_t)getpid()};
    gethostname(mine.host, sizeof(mine.host) - 1);
    greeting *all = (greeting *)(void *)ranks->room;
    GPHI_TRY(gph_ranks_gather_at(NULL, ranks, "hosts", &mine, sizeof(mine), all, error));
    ranks->who.local = 0;
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        gphi_ranks_slot *slot = &ranks->board->slots[rank];
        memcpy(slot->host, all[rank].host, sizeof(slot->host));
        slot->host[sizeof(slot->host) - 1] = '\0';
        slot->process = all[rank].process;
        atomic_store_explicit(&slot->state, GPHI_RANK_HERE, memory_order_release);
        if (rank < ranks->who.rank && strcmp(slot->host, mine.host) == 0)
            ranks->who.local++;
    }
    return GPH_OK;
}

static void destroy(gph_ranks *ranks)
{
    gphi_ranks_foreign_end(ranks);
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
    if (ranks->foreign)
        GPHI_TRY(greet(ranks, error));
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

static gph_status check_options(gph_ranks_options *opt, gphi_ranks_identity *who,
                                gph_error *error)
{
    const gph_ranks_transport *transport = opt->transport;
    if (opt->flags != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags is %u, not 0", opt->flags);
    if (transport && (!transport->begin || !transport->test))
        return gphi_fail(error, GPH_E_INVALID, "options.transport has no %s",
                         transport->begin ? "test" : "begin");
    if (opt->patience_ns == 0)
        opt->patience_ns = PATIENCE_NS;
    if (opt->notice_ns == 0)
        opt->notice_ns = NOTICE_NS;
    if (opt->notice_ns < NOTICE_MIN_NS)
        return gphi_fail(error, GPH_E_INVALID, "options.notice_ns is %llu, %llu at least",
                         (unsigned long long)opt->notice_ns,
                         (unsigned long long)NOTICE_MIN_NS);
    return gphi_ranks_identify(opt, who, error);
}

/* What has no other rank yet. */
static gph_status make(gph_ranks_options *opt, gph_ranks **out, gph_error *error)
{
    gphi_ranks_identity who;
    const gph_allocator heap = gphi_heap(opt->allocator);
    gph_status status = check_options(opt, &who, error);
    gph_ranks *ranks = status == GPH_OK ? gphi_heap_alloc(heap, sizeof(*ranks)) : NULL;
    GPHI_THEN(status, gphi_made(error, ranks, "opening a group of %u ranks", who.count));
    if (status != GPH_OK) {
        if (opt->transport && opt->transport->close)
            opt->transport->close(opt->transport->user);
        return status;
    }
    *ranks = (gph_ranks){.heap = heap,
                         .who = who,
                         .patience_ns = opt->patience_ns,
                         .notice_ns = opt->notice_ns,
                         .spins = spins_for(who.count),
                         .stop = opt->stop,
                         .stop_user = opt->stop_user,
                         .fd = -1,
                         .giving_up = GPHI_MUTEX_INIT};
    pthread_mutexattr_t recursive;
    pthread_mutexattr_init(&recursive);
    pthread_mutexattr_settype(&recursive, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&ranks->hooks, &recursive);
    pthread_mutexattr_destroy(&recursive);
    gphi_ranks_own(ranks);
    *out = ranks;
    return opt->transport ? gphi_ranks_foreign_begin(ranks, opt->transport, error)
                          : GPH_OK;
}

gph_status gph_ranks_open(const gph_ranks_options *options, gph_ranks **out,
                          gph_error *error)
{
    gph_ranks_options opt;
    gph_ranks *ranks = NULL;
    GPHI_TRY(gphi_need(error, out));
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_ranks_options", options, error));
    gph_status status = make(&opt, &ranks, error);
    GPHI_THEN(status, begin(ranks, error));
    if (status == GPH_OK)
        *out = ranks;
    else if (ranks)
        destroy(ranks);
    return status;
}

void gph_ranks_close(gph_ranks *ranks)
{
    if (!ranks)
        return;
    if (gphi_ranks_owned(ranks, NULL) == GPH_OK) {
        gphi_ranks_foreign_announce(ranks);
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
    if (!gphi_ranks_failed(ranks)) /* the caller may have waited for a stream by itself */
        gphi_ranks_settle((gph_ranks *)(uintptr_t)ranks);
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

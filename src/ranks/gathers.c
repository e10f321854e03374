// SPDX-License-Identifier: Apache-2.0
/* One gather over the board: publish a record, wait for everybody's, read them. */
#define _GNU_SOURCE
#include "base/clock.h"
#include "base/fail.h"
#include "base/path.h"
#include "ranks/ranks.h"

#include <stdio.h>
#include <string.h>

/* Between looks for ranks that ended, while one waits. */
#define SLICE_FIRST_NS UINT64_C(1000000)
#define SLICE_MOST_NS UINT64_C(16000000)

static void pause_briefly(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

/* ---- labels ---- */

static void label_set(gphi_ranks_label *label, const char *text)
{
    uint64_t words[GPHI_RANKS_WHAT / 8] = {0};
    const size_t length = text ? strlen(text) : 0;
    const size_t most = sizeof(words) - 1;
    /* The end of a place is where places differ. */
    memcpy(words,
           length > most ? text + length - most
           : text        ? text
                         : "",
           length > most ? most : length);
    for (size_t i = 0; i < GPHI_RANKS_WHAT / 8; i++)
        atomic_store_explicit(&label->words[i], words[i], memory_order_relaxed);
}

void gphi_ranks_label_get(const gphi_ranks_label *label, char out[GPHI_RANKS_WHAT])
{
    uint64_t words[GPHI_RANKS_WHAT / 8];
    for (size_t i = 0; i < GPHI_RANKS_WHAT / 8; i++)
        words[i] = atomic_load_explicit(&label->words[i], memory_order_relaxed);
    memcpy(out, words, sizeof(words));
    out[GPHI_RANKS_WHAT - 1] = '\0';
}

static bool label_equal(const gphi_ranks_label *a, const gphi_ranks_label *b)
{
    for (size_t i = 0; i < GPHI_RANKS_WHAT / 8; i++)
        if (atomic_load_explicit(&a->words[i], memory_order_relaxed) !=
            atomic_load_explicit(&b->words[i], memory_order_relaxed))
            return false;
    return true;
}

const char *gphi_ranks_place(const char *place)
{
    return place ? gphi_path_name(place) : "?";
}

/* "'bucket' (serve.c:88)" */
static void label_describe(const gphi_ranks_record *record, char *out, size_t bytes)
{
    char what[GPHI_RANKS_WHAT], place[GPHI_RANKS_WHAT];
    gphi_ranks_label_get(&record->what, what);
    gphi_ranks_label_get(&record->place, place);
    snprintf(out, bytes, place[0] ? "'%s' (%s)" : "'%s'", what, place);
}

void gphi_ranks_describe(const gph_ranks *ranks, uint32_t rank, char *out, size_t bytes)
{
    const gphi_ranks_slot *slot = &ranks->board->slots[rank];
    const unsigned seq = atomic_load_explicit(&slot->seq, memory_order_acquire);
    char at[2 * GPHI_RANKS_WHAT + 8];
    label_describe(&slot->records[seq % 2], at, sizeof(at));
    if (atomic_load_explicit(&slot->records[seq % 2].agreement, memory_order_relaxed) ==
        0)
        snprintf(out, bytes, "rank %u (process %lld), before its first agreement", rank,
                 (long long)slot->process);
    else
        snprintf(out, bytes, "rank %u (process %lld), last at %s", rank,
                 (long long)slot->process, at);
}

/* ---- waiting ---- */

static bool has_come(const gphi_ranks_slot *slot, uint32_t step)
{
    /* Acquire: the record was written before. */
    const unsigned seq = atomic_load_explicit(&slot->seq, memory_order_acquire);
    return (int32_t)(seq - step) >= 0;
}

static void give_up_on(gph_ranks *ranks, uint32_t rank, const gphi_ranks_call *call,
                       bool has_left)
{
    char described[256], time[32];
    gph_error cause;
    const char *place = gphi_ranks_place(call->place);
    gphi_ranks_describe(ranks, rank, described, sizeof(described));
    if (has_left)
        gphi_fail(&cause, GPH_E_STATE,
                  "rank %u is at '%s' (%s), but %s, has left the group", ranks->who.rank,
                  call->what, place, described);
    else
        gphi_fail(&cause, GPH_E_STATE,
                  "rank %u is at '%s' (%s), and %s, did not come within %s",
                  ranks->who.rank, call->what, place, described,
                  gphi_ranks_time(ranks->patience_ns, time));
    gphi_ranks_give_up(ranks, rank, &cause);
}

static void give_up_stopped(gph_ranks *ranks, const gphi_ranks_call *call)
{
    gph_error cause;
    const char *place = gphi_path_name(call->place);
    gphi_fail(&cause, GPH_E_STATE, "rank %u was stopped by its program at '%s' (%s)",
              ranks->who.rank, call->what, place ? place : "?");
    gphi_ranks_give_up(ranks, ranks->who.rank, &cause);
}

/* Sleeps until a rank has come, or the group has failed. */
static void sleep_for(gph_ranks *ranks, uint32_t rank, const gphi_ranks_call *call,
                      uint64_t begin)
{
    gphi_ranks_slot *slot = &ranks->board->slots[rank];
    uint64_t slice = SLICE_FIRST_NS;
    while (!has_come(slot, ranks->step) && !gphi_ranks_failed(ranks)) {
        /* Sequential: either we see its step, or it sees that we may sleep. */
        atomic_fetch_add(&slot->sleepers, 1);
        const unsigned seq = atomic_load(&slot->seq);
        if ((int32_t)(seq - ranks->step) < 0)
            gphi_futex_wait(&slot->seq, seq, slice);
        atomic_fetch_sub(&slot->sleepers, 1);
        if (has_come(slot, ranks->step))
            return;
        const bool has_left =
            atomic_load_explicit(&slot->state, memory_order_acquire) == GPHI_RANK_LEFT;
        if (has_left && has_come(slot, ranks->step))
            return; /* and left after it came */
        if (has_left || gphi_span_ns(begin, gphi_clock_ns()) > ranks->patience_ns)
            give_up_on(ranks, rank, call, has_left);
        else if (gphi_ranks_stopped(ranks))
            give_up_stopped(ranks, call);
        gphi_ranks_look(ranks);
        slice = slice < SLICE_MOST_NS ? slice * 2 : slice;
    }
}

static gph_status wait_for_all(gph_ranks *ranks, const gphi_ranks_call *call,
                               gph_error *error)
{
    uint64_t begin = 0;
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        const gphi_ranks_slot *slot = &ranks->board->slots[rank];
        for (unsigned spin = 0; spin < ranks->spins && !has_come(slot, ranks->step);
             spin++)
            pause_briefly();
        if (has_come(slot, ranks->step))
            continue;
        begin = begin ? begin : gphi_clock_ns();
        sleep_for(ranks, rank, call, begin);
        if (!has_come(slot, ranks->step))
            return gphi_ranks_cause_get(ranks, error);
    }
    return GPH_OK;
}

/* ---- one gather ---- */

static void publish(gph_ranks *ranks, const gphi_ranks_call *call, size_t from)
{
    const size_t left = call->bytes - from;
    const uint32_t step = ++ranks->step;
    gphi_ranks_slot *slot = &ranks->board->slots[ranks->who.rank];
    gphi_ranks_record *record = &slot->records[step % 2];
    atomic_store_explicit(&record->agreement, ranks->agreements, memory_order_relaxed);
    atomic_store_explicit(&record->bytes, call->bytes, memory_order_relaxed);
    atomic_store_explicit(&record->kind, (unsigned)call->kind, memory_order_relaxed);
    label_set(&record->what, call->what);
    label_set(&record->place, gphi_path_name(call->place));
    if (left > 0)
        memcpy(record->data, (const char *)call->mine + from,
               left < GPHI_RANKS_CHUNK ? left : GPHI_RANKS_CHUNK);
    gphi_ranks_seen(ranks);
    /* Release: the record is there; sequential: see sleep_for(). */
    atomic_store(&slot->seq, step);
    if (atomic_load(&slot->sleepers) > 0)
        gphi_futex_wake(&slot->seq);
}

static const gphi_ranks_record *record_of(const gph_ranks *ranks, uint32_t rank)
{
    return &ranks->board->slots[rank].records[ranks->step % 2];
}

static unsigned kind_of(const gphi_ranks_record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_relaxed);
}

static unsigned long long bytes_of(const gphi_ranks_record *record)
{
    return atomic_load_explicit(&record->bytes, memory_order_relaxed);
}

/* With the call's name where the labels alone would not show a difference. */
static void describe_step(const gphi_ranks_record *record, bool with_kind, char *out,
                          size_t bytes)
{
    static const char *const kinds[] = {
        [GPHI_RANKS_GATHER] = "gph_ranks_gather at ",
        [GPHI_RANKS_AGREE] = "gph_ranks_agree at ",
        [GPHI_RANKS_MOST] = "gph_ranks_most at ",
        [GPHI_RANKS_LEAST] = "gph_ranks_least at ",
        [GPHI_RANKS_ALL] = "gph_ranks_all at ",
    };
    const unsigned kind = kind_of(record);
    const bool is_known = kind < sizeof(kinds) / sizeof(kinds[0]);
    char at[2 * GPHI_RANKS_WHAT + 8];
    label_describe(record, at, sizeof(at));
    snprintf(out, bytes, "%s%s", with_kind && is_known ? kinds[kind] : "", at);
}

static gph_status out_of_step(gph_ranks *ranks, uint32_t rank, gph_error *error)
{
    const gphi_ranks_record *first = record_of(ranks, 0), *other = record_of(ranks, rank);
    const bool with_kind = label_equal(&first->what, &other->what);
    char at[192], first_at[192];
    gph_error cause;
    describe_step(other, with_kind, at, sizeof(at));
    describe_step(first, with_kind, first_at, sizeof(first_at));
    gphi_fail(&cause, GPH_E_STATE, "rank %u is at %s, rank 0 at %s", rank, at, first_at);
    gphi_ranks_give_up(ranks, rank, &cause);
    return gphi_ranks_cause_get(ranks, error);
}

gph_status gphi_ranks_check_in_step(gph_ranks *ranks, gph_error *error)
{
    const gphi_ranks_record *first = record_of(ranks, 0);
    for (uint32_t rank = 1; rank < ranks->who.count; rank++) {
        const gphi_ranks_record *other = record_of(ranks, rank);
        if (kind_of(first) != kind_of(other) || !label_equal(&first->what, &other->what))
            return out_of_step(ranks, rank, error);
    }
    for (uint32_t rank = 1; rank < ranks->who.count; rank++) {
        const gphi_ranks_record *other = record_of(ranks, rank);
        char at[192], first_at[192];
        if (bytes_of(first) == bytes_of(other))
            continue;
        describe_step(other, false, at, sizeof(at));
        describe_step(first, false, first_at, sizeof(first_at));
        return gphi_fail(error, GPH_E_INVALID,
                         "rank %u gives %llu bytes at %s, rank 0 %llu at %s", rank,
                         bytes_of(other), at, bytes_of(first), first_at);
    }
    return GPH_OK;
}

gph_status gphi_ranks_call_run(gph_ranks *ranks, const gphi_ranks_call *call,
                               gph_error *error)
{
    GPHI_TRY(gphi_ranks_owned(ranks, error));
    if (gphi_ranks_failed(ranks)) {
        gphi_ranks_foreign_announce(ranks);
        return gphi_ranks_cause_get(ranks, error);
    }
    ranks->agreements++;
    size_t from = 0;
    do {
        publish(ranks, call, from);
        GPHI_TRY(ranks->foreign ? gphi_ranks_foreign_gather(ranks, call, from, error)
                                : wait_for_all(ranks, call, error));
        if (from == 0)
            GPHI_TRY(gphi_ranks_check_in_step(ranks, error));
        const size_t left = call->bytes - from;
        const size_t now = left < GPHI_RANKS_CHUNK ? left : GPHI_RANKS_CHUNK;
        for (uint32_t rank = 0; rank < ranks->who.count && now > 0; rank++)
            memcpy((char *)call->all + rank * call->bytes + from,
                   record_of(ranks, rank)->data, now);
        from += now;
    } while (from < call->bytes);
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* What watches a group: a thread that looks for ranks that ended, and reports to those who have
 * something to do about it. */
#define _GNU_SOURCE
#include "base/fail.h"
#include "ranks/ranks.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

/* Ranks that each one looks at: see gphi_ranks_look(). */
enum { LOOK_AT = 8 };

const char *gphi_ranks_time(uint64_t ns, char out[32])
{
    if (ns % UINT64_C(1000000000) == 0)
        snprintf(out, 32, "%llu s", (unsigned long long)(ns / UINT64_C(1000000000)));
    else
        snprintf(out, 32, "%.3g ms", (double)ns / 1e6);
    return out;
}

/* ---- the cause ---- */

/* Watchers by their bells; whoever sleeps until a rank comes, by its word. One that goes to
 * sleep just now wakes after a slice. */
static void wake_everybody(gph_ranks *ranks)
{
    gphi_ranks_board *board = ranks->board;
    for (uint32_t rank = 0; rank < ranks->who.count; rank++) {
        gphi_ranks_slot *slot = &board->slots[rank];
        atomic_fetch_add(&slot->bell, 1);
        gphi_futex_wake(&slot->bell);
        gphi_futex_wake(&slot->seq);
    }
    gphi_futex_wake(&board->met);
}

void gphi_ranks_give_up(gph_ranks *ranks, uint32_t rank, const gph_error *cause)
{
    gphi_ranks_board *board = ranks->board;
    gphi_mutex_lock(&ranks->giving_up);
    if (atomic_load_explicit(&board->cause, memory_order_acquire) == 0) {
        gphi_ranks_cause *mine = &board->slots[ranks->who.rank].cause;
        mine->code = cause->code ? cause->code : GPH_E_STATE;
        mine->rank = rank;
        memcpy(mine->message, cause->message, sizeof(mine->message));
        memcpy(mine->hint, cause->hint, sizeof(mine->hint));
        unsigned none = 0;
        /* Release: the words above come before the word that names them. */
        atomic_compare_exchange_strong_explicit(&board->cause, &none, ranks->who.rank + 1,
                                                memory_order_release,
                                                memory_order_relaxed);
    }
    gphi_mutex_unlock(&ranks->giving_up);
    wake_everybody(ranks);
}

gph_status gphi_ranks_cause_get(const gph_ranks *ranks, gph_error *error)
{
    const gphi_ranks_board *board = ranks->board;
    /* Acquire: the words were written before. */
    const unsigned whose = atomic_load_explicit(&board->cause, memory_order_acquire);
    if (whose == 0)
        return GPH_OK;
    const gphi_ranks_cause *cause =
        whose > board->count ? &board->visitor : &board->slots[whose - 1].cause;
    gphi_fail(error, cause->code, "%s", cause->message);
    if (cause->hint[0])
        gphi_hint(error, "%s", cause->hint);
    return cause->code;
}

/* ---- who ended ---- */

static bool has_ended(const gph_ranks *ranks, uint32_t rank)
{
    const gphi_ranks_slot *slot = &ranks->board->slots[rank];
    struct flock lock = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)rank, .l_len = 1};
    if (fcntl(ranks->fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK)
        return false;
    /* It says that it leaves before it gives its lock up. */
    return atomic_load_explicit(&slot->state, memory_order_acquire) == GPHI_RANK_HERE;
}

bool gphi_ranks_is_alive(const gph_ranks *ranks, uint32_t rank)
{
    const unsigned state =
        atomic_load_explicit(&ranks->board->slots[rank].state, memory_order_acquire);
    return rank == ranks->who.rank ||
           (state == GPHI_RANK_HERE && (ranks->fd < 0 || !has_ended(ranks, rank)));
}

void gphi_ranks_look(gph_ranks *ranks)
{
    if (ranks->fd < 0 || gphi_ranks_failed(ranks))
        return;
    const uint32_t count = ranks->who.count;
    unsigned looked = 0;
    for (uint32_t i = 1; i < count && looked < LOOK_AT; i++) {
        const uint32_t rank = (ranks->who.rank + i) % count;
        const gphi_ranks_slot *slot = &ranks->board->slots[rank];
        if (atomic_load_explicit(&slot->state, memory_order_acquire) != GPHI_RANK_HERE)
            continue;
        looked++;
        if (!has_ended(ranks, rank))
            continue;
        char described[256];
        gph_error cause;
        gphi_ranks_describe(ranks, rank, described, sizeof(described));
        gphi_fail(&cause, GPH_E_STATE, "%s, has ended", described);
        gphi_ranks_give_up(ranks, rank, &cause);
        return;
    }
}

/* ---- entries ---- */

void gphi_ranks_watch_add(gph_ranks *ranks, gphi_ranks_watch *entry)
{
    pthread_mutex_lock(&ranks->hooks);
    entry->has_failed = false;
    entry->next = ranks->first;
    ranks->first = entry;
    pthread_mutex_unlock(&ranks->hooks);
    if (gphi_ranks_failed(ranks))
        gphi_ranks_tell(ranks);
}

void gphi_ranks_watch_remove(gph_ranks *ranks, gphi_ranks_watch *entry)
{
    pthread_mutex_lock(&ranks->hooks);
    for (gphi_ranks_watch **at = &ranks->first; *at; at = &(*at)->next) {
        if (*at != entry)
            continue;
        if (ranks->following == entry)
            ranks->following = entry->next;
        *at = entry->next;
        break;
    }
    pthread_mutex_unlock(&ranks->hooks);
}

enum { FAILED, IDLE, SETTLE, CLOSING };

static void call_entry(gphi_ranks_watch *entry, int which)
{
    void (*call)(void *user) = which == FAILED   ? entry->failed
                               : which == IDLE   ? entry->idle
                               : which == SETTLE ? entry->settle
                                                 : entry->closing;
    if (which == FAILED && entry->has_failed)
        return;
    if (which == FAILED)
        entry->has_failed = true;
    if (call)
        call(entry->user);
}

/* The next one is kept where an entry that is taken out meanwhile can change it. */
static void call_entries(gph_ranks *ranks, int which)
{
    pthread_mutex_lock(&ranks->hooks);
    for (gphi_ranks_watch *entry = ranks->first; entry; entry = ranks->following) {
        ranks->following = entry->next;
        call_entry(entry, which);
    }
    ranks->following = NULL;
    pthread_mutex_unlock(&ranks->hooks);
}

void gphi_ranks_tell(gph_ranks *ranks)
{
    if (gphi_ranks_failed(ranks))
        call_entries(ranks, FAILED);
}

void gphi_ranks_settle(gph_ranks *ranks)
{
    call_entries(ranks, SETTLE);
}

void gphi_ranks_part(gph_ranks *ranks)
{
    call_entries(ranks, CLOSING);
}

/* ---- the thread ---- */

static void *watch(void *user)
{
    gph_ranks *ranks = user;
    gphi_ranks_slot *slot = &ranks->board->slots[ranks->who.rank];
    for (;;) {
        /* Acquire: who rings has written before why. */
        const unsigned bell = atomic_load_explicit(&slot->bell, memory_order_acquire);
        if (atomic_load_explicit(&ranks->is_closing, memory_order_acquire))
            return NULL;
        gphi_ranks_look(ranks);
        gphi_ranks_tell(ranks);
        call_entries(ranks, IDLE);
        /* Twice within the time in which a rank that ended is to be noticed. */
        gphi_futex_wait(&slot->bell, bell, ranks->notice_ns / 2);
    }
}

gph_status gphi_ranks_watch_begin(gph_ranks *ranks, gph_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    /* Signals are the program's. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int made = pthread_create(&ranks->watcher, NULL, watch, ranks);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (made != 0)
        return gphi_fail(error, GPH_E_NO_MEMORY,
                         "starting the thread that watches ranks");
    ranks->is_watched = true;
    return GPH_OK;
}

void gphi_ranks_watch_end(gph_ranks *ranks)
{
    if (!ranks->is_watched)
        return;
    gphi_ranks_slot *slot = &ranks->board->slots[ranks->who.rank];
    atomic_store_explicit(&ranks->is_closing, true, memory_order_release);
    atomic_fetch_add(&slot->bell, 1);
    gphi_futex_wake(&slot->bell);
    pthread_join(ranks->watcher, NULL);
    ranks->is_watched = false;
}

// SPDX-License-Identifier: Apache-2.0
/* A group of ranks, as its files and its communicators see it. What the processes share:
 *
 *   [head: who may join, how many came, the cause][slot 0][slot 1] ... [slot count - 1]
 *                                                    |
 *       seq      the last step that this rank published  <- others spin or sleep on it
 *       state    absent, here, left
 *       cause    why it gave up; the head's `cause` says whose counts
 *       records  of steps with an even number, and with an odd one: what, place, bytes
 *
 * A rank writes the record of step s only after every rank has published s - 1, which each
 * does after it has read all records of s - 2. So two records are enough, and one that was
 * published stays as it is until its rank has come two steps further. */
#ifndef GPHI_RANKS_RANKS_H
#define GPHI_RANKS_RANKS_H
#include "base/thread.h"
#include <gph/ranks.h>

#include <stdatomic.h>
#include <stdbool.h>

enum {
    GPHI_RANKS_CHUNK =
        4096,             /* bytes of a rank in one step; longer gathers take several */
    GPHI_RANKS_WHAT = 64, /* of what and place, the zero included */
};

enum { GPHI_RANK_ABSENT, GPHI_RANK_HERE, GPHI_RANK_LEFT };

/* Written whole, once, by its rank, before the head's word names it. */
typedef struct gphi_ranks_cause {
    gph_status code;
    uint32_t rank; /* at fault */
    char message[512];
    char hint[256];
} gphi_ranks_cause;

/* Words, since other threads may read one while it is written, and then read it again. */
typedef struct gphi_ranks_label {
    atomic_ullong words[GPHI_RANKS_WHAT / 8];
} gphi_ranks_label;

typedef struct gphi_ranks_record {
    atomic_ullong agreement; /* its number, from 1 */
    atomic_ullong bytes;     /* of the whole gather */
    atomic_uint kind;        /* gphi_ranks_kind */
    gphi_ranks_label what, place;
    _Alignas(64) unsigned char data[GPHI_RANKS_CHUNK];
} gphi_ranks_record;

typedef struct gphi_ranks_slot {
    _Alignas(64) atomic_uint seq; /* of steps, modulo 2^32; what sleepers sleep on */
    atomic_uint sleepers;         /* who may sleep on it */
    atomic_uint state;
    atomic_uint bell;      /* wakes this rank's watcher */
    atomic_uint waiting;   /* its threads that wait for a stream: gph_ranks_wait() */
    atomic_ullong seen_ns; /* when it last did something here; gphi_clock_ns() */
    int64_t process;
    char host[GPHI_RANKS_WHAT];
    gphi_ranks_cause cause;
    gphi_ranks_record records[2];
} gphi_ranks_slot;

typedef struct gphi_ranks_board {
    char magic[8];
    uint32_t version; /* gph_version() */
    uint32_t slot_bytes;
    uint32_t count;
    uint32_t reserved;
    uint64_t patience_ns, notice_ns;
    atomic_uint came;         /* ranks; under the meeting's lock */
    atomic_uint met;          /* 1: all came */
    atomic_uint cause;        /* 0, or 1 + the rank whose cause counts */
    gphi_ranks_cause visitor; /* of one that was not let in: its number is `count` */
    gphi_ranks_slot slots[];
} gphi_ranks_board;

/* Who this is, and what the job calls itself. */
typedef struct gphi_ranks_identity {
    uint32_t rank, count, local;
    char name[256];
} gphi_ranks_identity;

typedef enum gphi_ranks_kind {
    GPHI_RANKS_GATHER,
    GPHI_RANKS_AGREE,
    GPHI_RANKS_MOST,
    GPHI_RANKS_LEAST,
    GPHI_RANKS_ALL
} gphi_ranks_kind;

/* One agreement: gph_ranks_gather_at() and its like. */
typedef struct gphi_ranks_call {
    const char *place, *what;
    gphi_ranks_kind kind;
    const void *mine;
    size_t bytes;
    void *all;
} gphi_ranks_call;

/* Whoever has something to do about a group: kernels to end, things to destroy later. */
typedef struct gphi_ranks_watch {
    void (*failed)(void *user); /* once, when the group has failed; may be NULL */
    void (*idle)(void *user);   /* at each beat of the watcher; may be NULL */
    /* When a stream's work has ended: did it end well? May be NULL. */
    void (*settle)(void *user);
    void (*closing)(void *user); /* when the group is closed; may be NULL */
    void *user;
    bool has_failed; /* failed() was called */
    struct gphi_ranks_watch *next;
} gphi_ranks_watch;

typedef struct gphi_ranks_foreign gphi_ranks_foreign; /* foreign.c */

struct gph_ranks {
    gph_allocator heap;
    gphi_ranks_identity who;
    uint64_t patience_ns, notice_ns;
    unsigned forks; /* of this process before it was opened: a child's are more */
    unsigned spins; /* how often a word is read before a thread sleeps on it */
    uint32_t (*stop)(void *user); /* of the options */
    void *stop_user;
    int fd; /* of the board, whose locks are this rank's life; -1: there is none */
    char path[256]; /* of the board */
    gphi_ranks_board *board;
    size_t board_bytes;
    gphi_ranks_foreign *foreign; /* a transport of the program's; NULL: there is none */
    uint32_t step;               /* the last one that was begun */
    uint64_t agreements;         /* likewise */
    unsigned char *room;         /* what agreements gather */
    size_t room_bytes;
    gphi_mutex giving_up; /* of this rank's cause */
    pthread_t watcher;
    bool is_watched;
    atomic_bool is_closing;
    atomic_bool has_no_limit; /* work was launched that waits for ranks forever: NCCL's */
    pthread_mutex_t hooks;    /* recursive: a hook may take itself out */
    gphi_ranks_watch *first, *following;
    struct gph_ranks *next; /* of this process */
};

/* ---- for communicators ---- */

/* Adds an entry, which stays the caller's until gphi_ranks_unwatch(). Its functions are
 * called by the group's watcher or by gph_ranks_wait(), one at a time. */
void gphi_ranks_watch_add(gph_ranks *ranks, gphi_ranks_watch *entry);

/* Takes it out; none of its functions runs afterwards. They may call it themselves. */
void gphi_ranks_watch_remove(gph_ranks *ranks, gphi_ranks_watch *entry);

/* Calls failed() of those for which it was not yet, where the group has failed. */
void gphi_ranks_tell(gph_ranks *ranks);
/* Calls settle() of all. */
void gphi_ranks_settle(gph_ranks *ranks);
/* Calls closing() of all: each takes itself out or stays forever. */
void gphi_ranks_part(gph_ranks *ranks);

/* This rank did something that others may wait for. */
void gphi_ranks_seen(gph_ranks *ranks);

/* Whether the program wants a wait to end. */
static inline bool gphi_ranks_stopped(const gph_ranks *ranks)
{
    return ranks->stop && ranks->stop(ranks->stop_user) != 0;
}

/* Whether the group has failed; a load. */
static inline bool gphi_ranks_failed(const gph_ranks *ranks)
{
    /* Acquire: the cause was written before. */
    return atomic_load_explicit(&ranks->board->cause, memory_order_acquire) != 0;
}

/* ---- between the files of this folder ---- */

gph_status gphi_ranks_identify(const gph_ranks_options *options, gphi_ranks_identity *out,
                               gph_error *error);

/* Sets the group's cause, unless there is one: `rank` is at fault. */
void gphi_ranks_give_up(gph_ranks *ranks, uint32_t rank, const gph_error *cause);

/* The cause, as an error; GPH_OK: there is none. */
gph_status gphi_ranks_cause_get(const gph_ranks *ranks, gph_error *error);

/* The group is this process's, from now on. */
void gphi_ranks_own(gph_ranks *ranks);
/* Is the group this process's? GPH_E_STATE in a forked child. */
gph_status gphi_ranks_owned(const gph_ranks *ranks, gph_error *error);

/* Finds the board and waits for the others; sets fd, path and board. */
gph_status gphi_ranks_meet(gph_ranks *ranks, gph_error *error);
/* Leaves; takes what is half done. */
void gphi_ranks_leave(gph_ranks *ranks);

/* Looks for ranks that ended among those after this one: the next ones that have not
 * left, as each rank does, so that of every run of dead ranks one is seen. */
void gphi_ranks_look(gph_ranks *ranks);

bool gphi_ranks_is_alive(const gph_ranks *ranks, uint32_t rank);

/* The group's thread. */
gph_status gphi_ranks_watch_begin(gph_ranks *ranks, gph_error *error);
void gphi_ranks_watch_end(gph_ranks *ranks);

gph_status gphi_ranks_call_run(gph_ranks *ranks, const gphi_ranks_call *call,
                               gph_error *error);

/* Are all records of this step of one agreement? All ranks have them, so all of them come
 * to the same answer. */
gph_status gphi_ranks_check_in_step(gph_ranks *ranks, gph_error *error);

/* ---- a transport of the program's ---- */

/* Takes the transport, on failure too. */
gph_status gphi_ranks_foreign_begin(gph_ranks *ranks,
                                    const gph_ranks_transport *transport,
                                    gph_error *error);
/* Fills in the others' records of this step. */
gph_status gphi_ranks_foreign_gather(gph_ranks *ranks, const gphi_ranks_call *call,
                                     size_t from, gph_error *error);
/* Lets the others know of a failure that this rank reported. */
void gphi_ranks_foreign_announce(gph_ranks *ranks);
void gphi_ranks_foreign_end(gph_ranks *ranks);

/* ---- words ---- */

/* The file's name and line, or "?". */
const char *gphi_ranks_place(const char *place);
/* "rank 1 (process 4711), last at 'bucket' (serve.c:88)" */
void gphi_ranks_describe(const gph_ranks *ranks, uint32_t rank, char *out, size_t bytes);
void gphi_ranks_label_get(const gphi_ranks_label *label, char out[GPHI_RANKS_WHAT]);

/* "30 s", "250 ms" */
const char *gphi_ranks_time(uint64_t ns, char out[32]);
#endif

/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Programs of several processes, one per GPU: ranks. They meet, and agree before they act.
 *  When one of them ends, falls out of step or reports an error, every other one gets that
 *  error, with rank and place, instead of hanging. <gph/ranks_comm.h> moves tensors between
 *  them.
 *
 *      gph_ranks_open(NULL, &ranks, &error);           under torchrun, mpirun, srun, or none of them
 *      gph_ranks_most(ranks, "bucket", mine, &all, &error);    every rank takes one bucket
 *      gph_ranks_agree(ranks, "ladder", text, &error);         every rank has the same
 *      gph_ranks_wait(ranks, runtime, stream, &error);         never for longer than it may
 *      gph_ranks_close(ranks);
 *
 *  Tier: experimental. */
#ifndef GPH_RANKS_H
#define GPH_RANKS_H

#include <gph/base.h>
#include <gph/cuda.h>
#include <gph/replay.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The ranks of a job, as this process sees them. */
typedef struct gph_ranks gph_ranks;

#define GPH_RANKS_MAX 1024             /**< ranks of a group, at most */
#define GPH_RANKS_GATHER_MAX (1 << 20) /**< bytes of a rank in one gather, at most */
#define GPH_RANKS_TEXT_MAX 512 /**< bytes of a text to agree on, its zero included */

/** How bytes get from every rank to every rank if the ranks are on several hosts, so that
 *  memory shared by the processes of one host is not enough: an MPI communicator
 *  (<gph/ranks_mpi.h>), or a store of the program's own. One gather at a time, in the same
 *  order on all ranks, from the thread that calls the group's functions.
 *
 *  Two things differ from a group on one host. That a rank has ended is noticed only when
 *  the patience is over, and its number is not known. A cause given to gph_ranks_fail() is
 *  sent with this rank's next agreement, or when it closes the group, and reaches another
 *  rank when that one agrees. Layout frozen: three functions and their argument. */
typedef struct gph_ranks_transport {
    /** Begins to gather: `mine` has `bytes`, `all` room for `bytes` of each rank, in the order
     *  of ranks; both stay valid until it is done. Must not wait for other ranks. */
    gph_status (*begin)(void *user, const void *mine, size_t bytes, void *all,
                        gph_error *error);
    /** Is it done? Sets `*done` to 1, or to 0 and returns immediately. */
    gph_status (*test)(void *user, uint32_t *done, gph_error *error);
    /** Called once, by gph_ranks_close(), or by gph_ranks_open() if it fails, even after a
     *  gather that never ended: `mine` and `all` must not be used afterwards. May be NULL. */
    void (*close)(void *user);
    void *user; /**< first argument of all three */
} gph_ranks_transport;

/** Start from GPH_RANKS_OPTIONS_INIT. */
typedef struct gph_ranks_options {
    uint32_t size; /**< sizeof(gph_ranks_options) */
    /** How many ranks the group has, and which of them this process is. Both 0: taken from
     *  the environment: `GPH_RANK` and `GPH_RANKS`, else the variables of torchrun (`RANK`,
     *  `WORLD_SIZE`), Open MPI (`OMPI_COMM_WORLD_RANK`), Hydra of MPICH and Intel MPI
     *  (`PMI_RANK`), or srun (`SLURM_PROCID`); without any of these, a group of one. */
    uint32_t count;
    uint32_t rank;  /**< see `count` */
    uint32_t flags; /**< 0 */
    /** Copied: the name of the job, the same on all its ranks and different from that of any
     *  other job of this user on this host. NULL: the variable `GPH_RANKS_ID`, else a name
     *  made from the launcher's variables. A second group of the same job needs another name
     *  on every rank. */
    const char *name;
    /** How late a live rank may be before the others give up; 0 means 30 s. */
    uint64_t patience_ns;
    /** A rank that ended is noticed within this time; 0 means 250 ms. */
    uint64_t notice_ns;
    /** Copied, and taken: if gph_ranks_open() fails, it has closed it. NULL means shared
     *  memory of this host. */
    const gph_ranks_transport *transport;
    /** Copied: NULL means the C library's heap. */
    const gph_allocator *allocator;
    /** Called every few milliseconds by gph_ranks_open() and by agreements while they wait
     *  for other ranks, on their thread. A nonzero result ends the wait, and the group has
     *  failed with that cause. For signals such as Ctrl-C. It must not call functions of the
     *  group. NULL: not called. */
    uint32_t (*stop)(void *user);
    void *stop_user; /**< its argument; borrowed until gph_ranks_close() */
} gph_ranks_options;
/** All defaults. */
#define GPH_RANKS_OPTIONS_INIT GPH_SIZED(gph_ranks_options)

/** Meets the other ranks: returns when all are there.
 *
 *  options  borrowed for the call; NULL means all defaults.
 *  out      owned by the caller on success: gph_ranks_close(). Untouched on failure.
 *
 *  Fails with GPH_E_INVALID (rank 2 of 2, a launcher's variable that is not a number, another
 *  count, patience or version of libgph on another rank), GPH_E_STATE (not all came within
 *  the patience: the message names the ones that are missing), GPH_E_IO (the shared memory) and
 *  GPH_E_NO_MEMORY. Thread: any. Needs no GPU. */
GPH_API GPH_CHECKED gph_status gph_ranks_open(const gph_ranks_options *options,
                                              gph_ranks **out, gph_error *error);

/** Leaves the group. Destroy in this order: what was recorded with communicators of the
 *  group, then the communicators (see gph_comm_destroy()), then the group. Call it before
 *  gph_close() of the communicators' runtime, while their context exists. It does not wait
 *  for other ranks; that a rank has left is an error for them only when they need it. NULL
 *  is allowed. Thread: one at a time. */
GPH_API void gph_ranks_close(gph_ranks *ranks);

/** Which rank this is. 0 for NULL. Thread: any. */
GPH_API uint32_t gph_ranks_rank(const gph_ranks *ranks);
/** How many there are. 0 for NULL. Thread: any. */
GPH_API uint32_t gph_ranks_count(const gph_ranks *ranks);
/** The number of this rank among those of this host; in most jobs also the number of its
 *  GPU. 0 for NULL. Thread: any. */
GPH_API uint32_t gph_ranks_local(const gph_ranks *ranks);

/** @name Agreement
 *  Every rank calls each of these, in the same order and with the same `what`. If a rank
 *  does otherwise, all of them fail with GPH_E_STATE, and the message says who was where:
 *  "rank 1 is at 'bucket' (serve.c:88), rank 0 at 'ladder' (serve.c:61)". They take about a
 *  microsecond once all ranks of a host have called. A failure has the same message on every
 *  rank. After GPH_E_STATE because a rank ended, came too late or was out of step, the group
 *  has failed, and each later call returns that cause immediately. GPH_E_INVALID because of a
 *  disagreement leaves the group as it is. Thread: one at a time. In C and C++ the macro of
 *  the same name passes the line it is in. */
/** @{ */

/** Every rank gives some bytes, and gets those of all.
 *
 *  place  copied: where it is in the program; NULL: not known.
 *  what   borrowed for the call: names this gather, at most 63 bytes.
 *  mine   borrowed for the call; `bytes` of them, as many on every rank.
 *  all    the caller's, room for `bytes` times gph_ranks_count(), in the order of ranks. After
 *         a failure its contents mean nothing. */
GPH_API GPH_CHECKED gph_status gph_ranks_gather_at(const char *place, gph_ranks *ranks,
                                                   const char *what, const void *mine,
                                                   size_t bytes, void *all,
                                                   gph_error *error);
/** Checks that all ranks have the same text. GPH_E_INVALID: they do not, and the message
 *  names two ranks that differ, with their texts. For long data, agree on a hash of it.
 *  `mine` is borrowed for the call, at most GPH_RANKS_TEXT_MAX bytes. */
GPH_API GPH_CHECKED gph_status gph_ranks_agree_at(const char *place, gph_ranks *ranks,
                                                  const char *what, const char *mine,
                                                  gph_error *error);
/** The largest of the ranks' numbers: which bucket all of them take. */
GPH_API GPH_CHECKED gph_status gph_ranks_most_at(const char *place, gph_ranks *ranks,
                                                 const char *what, int64_t mine,
                                                 int64_t *out, gph_error *error);
/** The smallest of the ranks' numbers: 0 where one of them cannot. */
GPH_API GPH_CHECKED gph_status gph_ranks_least_at(const char *place, gph_ranks *ranks,
                                                  const char *what, int64_t mine,
                                                  int64_t *out, gph_error *error);
/** Checks that a step succeeded on all ranks. Each passes what its step returned, and its
 *  error. If it failed on one of them, every rank gets that status and message, with "rank
 *  1: ", for example, before it, and the group goes on: no rank launches what another could
 *  not record.
 *
 *  mine   what this rank's step returned.
 *  cause  borrowed for the call: its error; may be NULL. */
GPH_API GPH_CHECKED gph_status gph_ranks_all_at(const char *place, gph_ranks *ranks,
                                                const char *what, gph_status mine,
                                                const gph_error *cause, gph_error *error);
/** @} */

/** The functions, with their place. */
#define gph_ranks_gather(...) gph_ranks_gather_at(GPH_PLACE, __VA_ARGS__)
#define gph_ranks_agree(...) gph_ranks_agree_at(GPH_PLACE, __VA_ARGS__) /**< likewise */
#define gph_ranks_most(...) gph_ranks_most_at(GPH_PLACE, __VA_ARGS__)   /**< likewise */
#define gph_ranks_least(...) gph_ranks_least_at(GPH_PLACE, __VA_ARGS__) /**< likewise */
#define gph_ranks_all(...) gph_ranks_all_at(GPH_PLACE, __VA_ARGS__)     /**< likewise */

/** Reports to every rank that this one cannot go on: the group has failed, with this cause.
 *  What waits on the other ranks, kernels of gph_comm_all_reduce() included, ends within
 *  gph_ranks_options.notice_ns. The first cause counts.
 *
 *  cause  copied. Thread: any. */
GPH_API void gph_ranks_fail(gph_ranks *ranks, const gph_error *cause);

/** GPH_OK, or the cause why the group has failed; after cuStreamSynchronize(), also that a
 *  kernel of gph_comm_all_reduce() gave up on a rank. It only reads memory and makes no
 *  driver call. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ranks_check(const gph_ranks *ranks, gph_error *error);

/** Waits for a stream, and watches the ranks meanwhile: when the group fails, it ends the
 *  communicators' work and returns the cause. NCCL's work would wait for a rank forever.
 *  Where there was such work, a live rank is therefore reported as late if for the whole
 *  patience it neither waits in this call nor comes to an agreement or a collective.
 *
 *  runtime  borrowed for the call.
 *  stream   borrowed for the call.
 *
 *  Fails with what the driver returns, and as gph_ranks_check(). Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ranks_wait(gph_ranks *ranks, gph_runtime *runtime,
                                              CUstream stream, gph_error *error);

/** What is known of a rank. */
typedef struct gph_ranks_peer {
    uint32_t size;   /**< sizeof(gph_ranks_peer) */
    uint32_t alive;  /**< 1: its process is not known to have ended */
    int64_t process; /**< its number on its host; 0: not known */
    uint64_t steps;  /**< agreements that it has come to */
    char at[64];     /**< what it came to last, "" before the first */
    char place[64];  /**< where that is in the program, or "" */
    char host[64];   /**< name of its host */
} gph_ranks_peer;

/** Fills it in. GPH_E_INVALID: there is no such rank. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ranks_peer_get(const gph_ranks *ranks, uint32_t rank,
                                                  gph_ranks_peer *out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif

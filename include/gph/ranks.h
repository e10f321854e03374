/* SPDX-License-Identifier: Apache-2.0 */
/** @file
 *  Programs of several processes, one a GPU: ranks. They meet, agree before they act, and
 *  when one of them ends, falls out of step or reports an error, every other one gets that
 *  error, with rank and place, instead of a hang. What moves tensors between them is
 *  <gph/ranks_comm.h>.
 *
 *      gph_ranks_open(NULL, &ranks, &error);           under torchrun, mpirun, srun or by hand
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

/** How bytes get from every rank to every rank, where the group's own way (memory that the
 *  processes of one host share) does not reach: an MPI communicator (<gph/ranks_mpi.h>), a
 *  store of the program's own. One gather at a time, in the same order on all ranks, from
 *  the thread that calls the group's functions.
 *
 *  What is different: a rank that ended is seen by patience alone, and its number is not
 *  known. A cause of gph_ranks_fail() goes out with this rank's next agreement, or when it
 *  closes the group, and reaches another rank when that one agrees. Layout frozen: three
 *  functions and their argument. */
typedef struct gph_ranks_transport {
    /** Begins to gather: `mine` has `bytes`, `all` room for `bytes` of each rank, in the order
     *  of ranks; both stay until it is done. Must not wait for other ranks. */
    gph_status (*begin)(void *user, const void *mine, size_t bytes, void *all,
                        gph_error *error);
    /** Is it done? Sets `*done` to 1, or to 0 and returns at once. */
    gph_status (*test)(void *user, uint32_t *done, gph_error *error);
    /** Called once, by gph_ranks_close(), or by gph_ranks_open() where it fails, also after a
     *  gather that never ended: `mine` and `all` must not be used afterwards. May be NULL. */
    void (*close)(void *user);
    void *user; /**< first argument of all three */
} gph_ranks_transport;

/** Start from GPH_RANKS_OPTIONS_INIT. */
typedef struct gph_ranks_options {
    uint32_t size; /**< sizeof(gph_ranks_options) */
    /** Ranks of the group and which of them this is. Both 0: from the environment, of
     *  `GPH_RANK` and `GPH_RANKS`, else of torchrun (`RANK`, `WORLD_SIZE`), Open MPI
     *  (`OMPI_COMM_WORLD_RANK`), Hydra of MPICH and Intel MPI (`PMI_RANK`), or srun
     *  (`SLURM_PROCID`); a group of one where there is none of these. */
    uint32_t count;
    uint32_t rank;  /**< see `count` */
    uint32_t flags; /**< 0 */
    /** Copied: what the ranks of one job call themselves, and no other job of this user on
     *  this host. NULL: the variable `GPH_RANKS_ID`, else made of what the launcher says.
     *  A second group of the same job needs another name on every rank. */
    const char *name;
    /** How long a rank that lives may be late before the others give up; 0 means 30 s. */
    uint64_t patience_ns;
    /** A rank that ended is noticed within this time; 0 means 250 ms. */
    uint64_t notice_ns;
    /** Copied, and taken: gph_ranks_open() closes it where it fails. NULL means shared
     *  memory of this host. */
    const gph_ranks_transport *transport;
    /** Copied: NULL means the C library's heap. */
    const gph_allocator *allocator;
    /** Asked every few milliseconds by gph_ranks_open() and by agreements that wait for other
     *  ranks, on their thread: not 0 ends the wait, and the group has failed with that cause.
     *  For signals, as Ctrl-C. It must not call functions of the group. NULL: not asked. */
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
 *  the patience: the message names those that did not), GPH_E_IO (the shared memory) and
 *  GPH_E_NO_MEMORY. Thread: any. Needs no GPU. */
GPH_API GPH_CHECKED gph_status gph_ranks_open(const gph_ranks_options *options,
                                              gph_ranks **out, gph_error *error);

/** Leaves. What was recorded with communicators of the group goes first, then these, then
 *  the group: see gph_comm_destroy(). Call it before gph_close() of the communicators' runtime
 *  and while their context is there. It does not wait for other ranks, for whom a rank that
 *  left is not an error until they need it. NULL is allowed. Thread: one at a time. */
GPH_API void gph_ranks_close(gph_ranks *ranks);

/** Which rank this is. 0 for NULL. Thread: any. */
GPH_API uint32_t gph_ranks_rank(const gph_ranks *ranks);
/** How many there are. 0 for NULL. Thread: any. */
GPH_API uint32_t gph_ranks_count(const gph_ranks *ranks);
/** Which of the ranks of this host this is: the number of its GPU, in most jobs. */
GPH_API uint32_t gph_ranks_local(const gph_ranks *ranks);

/** @name Agreement
 *  Each of these is called by every rank, in the same order and with the same `what`; a rank
 *  that does otherwise makes all of them fail with GPH_E_STATE, and the message says who was
 *  where: "rank 1 is at 'bucket' (serve.c:88), rank 0 at 'ladder' (serve.c:61)". They take
 *  about a microsecond where all ranks of a host are there. What fails is said on every rank
 *  with the same words; after GPH_E_STATE of a rank that ended, came too late or was out of
 *  step the group has failed, and each later call returns that cause at once. GPH_E_INVALID
 *  of a disagreement leaves the group as it is. Thread: one at a time. In C and C++ the macro
 *  of the same name passes the line it is in. */
/** @{ */

/** Every rank gives some bytes, and gets those of all.
 *
 *  place  copied: where it is in the program; NULL: not known.
 *  what   borrowed for the call: names this gather, to 63 bytes.
 *  mine   borrowed for the call; `bytes` of them, as many on every rank.
 *  all    the caller's, room for `bytes` times gph_ranks_count(), in the order of ranks. After
 *         a failure its contents mean nothing. */
GPH_API GPH_CHECKED gph_status gph_ranks_gather_at(const char *place, gph_ranks *ranks,
                                                   const char *what, const void *mine,
                                                   size_t bytes, void *all,
                                                   gph_error *error);
/** Do all ranks have the same text? GPH_E_INVALID: no, and the message names two ranks that
 *  differ, with their texts. For long data, agree on a hash of it. `mine` is borrowed for the
 *  call, to GPH_RANKS_TEXT_MAX. */
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
/** Did it succeed on all? A rank passes what it has just done and its error; where one of
 *  them failed, every rank gets that status and message, after "rank 1: ", say, and
 *  the group goes on: none of them launches what another could not record.
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

/** Is all well? GPH_OK, or why the group has failed; after cuStreamSynchronize() also a kernel
 *  of gph_comm_all_reduce() that gave up on a rank. Loads of memory; no call of the driver.
 *  Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ranks_check(const gph_ranks *ranks, gph_error *error);

/** Waits for a stream, while the ranks are watched: after a failure of the group it ends the
 *  communicators' work, and returns the cause. NCCL's work waits for a rank for ever, so where
 *  there was any, a rank that lives, but for the whole patience neither waits in this call nor
 *  comes to an agreement or a collective, is reported as late.
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
    uint32_t alive;  /**< 1: its process has not ended, as far as can be seen */
    int64_t process; /**< its number on its host; 0: not known */
    uint64_t steps;  /**< agreements that it came to */
    char at[64];     /**< what it came to last, "" before the first */
    char place[64];  /**< where that stands, or "" */
    char host[64];   /**< name of its host */
} gph_ranks_peer;

/** Fills it in. GPH_E_INVALID: there is no such rank. Thread: any. */
GPH_API GPH_CHECKED gph_status gph_ranks_peer_get(const gph_ranks *ranks, uint32_t rank,
                                                  gph_ranks_peer *out, gph_error *error);

#ifdef __cplusplus
}
#endif
#endif

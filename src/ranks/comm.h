// SPDX-License-Identifier: Apache-2.0
/* A communicator, as its files see it.
 *
 *   gph_ranks ── watch: failed() ends its work, idle() sees what kernels missed and takes it
 *       │               away when the last graph has gone
 *   gph_comm ── peers: memory, kernels    ── nccl: library, ncclComm_t
 *       └─ graphs -> {capture's id, handle, gone, [numbers of records]} -> ...
 *       └─ records: each kind of call once: what, count, where it is in the program
 *
 * A graph's entry goes after its user object was destroyed, which only sets `gone`: the
 * driver allows no call there. */
#ifndef GPHI_RANKS_COMM_H
#define GPHI_RANKS_COMM_H
#include "base/map.h"
#include "base/thread.h"
#include "base/vec.h"
#include "ranks/nccl.h"
#include "ranks/peers.h"
#include "ranks/ranks.h"
#include <gph/ranks_comm.h>

enum { GPHI_COMM_SIZES = 8, GPHI_COMM_RECORDS = 65536 };

/* Of gph_comm_info.own_us. */
extern const uint32_t gphi_comm_sizes[GPHI_COMM_SIZES];

enum { GPHI_COMM_REDUCE, GPHI_COMM_GATHER, GPHI_COMM_BROADCAST };

/* A collective. Zero between its members, so that bytes can be compared. */
typedef struct gphi_comm_record {
    uint64_t count;
    uint32_t kind, dtype, reduction, root;
    char place[72];
} gphi_comm_record;

typedef struct gphi_comm_graph {
    struct gphi_comm_graph *next;
    gph_allocator heap;
    cuuint64_t capture;
    CUgraph graph;
    atomic_bool gone; /* release: the destructor's last word */
    gphi_vec calls;   /* uint32_t: numbers of records, in order */
} gphi_comm_graph;

struct gph_comm {
    gph_ranks *ranks;
    gph_runtime *runtime;
    gph_allocator heap;
    gph_comm_options options;
    char *name, *nccl_path;
    CUcontext context;
    gphi_ranks_watch watch;
    bool is_watched;
    bool is_given_up;     /* gph_comm_destroy() was called; set while nobody watches */
    atomic_bool has_told; /* the group got its failure from here */

    gphi_nccl nccl;
    _Atomic(gphi_nccl_comm) handle; /* NULL: there is none, or it was aborted */
    gphi_nccl_aborting *aborting;   /* of who took `handle` away */
    gphi_peers peers;
    bool has_nccl, has_own;
    uint64_t own_up_to;
    double own_us[GPHI_COMM_SIZES], nccl_us[GPHI_COMM_SIZES];
    char missing[192]; /* why a way is not there */

    gphi_mutex mutex; /* what is below */
    gphi_comm_graph *graphs;
    gphi_vec records; /* gphi_comm_record; number 0 stands for all that are too many */
    gphi_map numbers; /* of records, by their hash */
    uint64_t calls, captured;
    gphi_deferred ending;
};

/* ---- records.c ---- */

/* Room for one more record and, where `stream` is captured, for one more call of its graph,
 * which keeps the communicator from now on. `*graph`: its entry; NULL: eager. */
gph_status gphi_comm_expect(gph_comm *comm, const gphi_comm_record *record,
                            CUstream stream, gphi_comm_graph **graph, uint32_t *number,
                            gph_error *error);
/* The call was launched. */
void gphi_comm_note(gph_comm *comm, gphi_comm_graph *graph, uint32_t number);
/* How many graphs live; entries of those that are gone are freed. */
uint64_t gphi_comm_sweep(gph_comm *comm);
/* All entries, gone or not, and the tables. */
void gphi_comm_records_fini(gph_comm *comm);
void gphi_comm_records_init(gph_comm *comm);
/* "all-reduce of 512 f16 (sum) at serve.c:88" */
void gphi_comm_record_text(const gphi_comm_record *record, char *out, size_t bytes);
void gphi_comm_number_text(gph_comm *comm, uint32_t number, char *out, size_t bytes);

/* ---- border.c ---- */

/* Measures both ways on all ranks and sets own_up_to, own_us and nccl_us. */
gph_status gphi_comm_measure(gph_comm *comm, gph_error *error);

/* ---- collective.c ---- */

/* Has a kernel given up on a rank? Then the group gets that as its cause. The user is the
 * communicator. Thread: any. */
void gphi_comm_settle(void *comm);

/* Puts one into a stream, by the way that is named. */
gph_status gphi_comm_put(gph_comm *comm, gph_comm_way way, const gphi_comm_record *record,
                         CUdeviceptr in, CUdeviceptr out, uint32_t number,
                         CUstream stream, gph_error *error);
#endif

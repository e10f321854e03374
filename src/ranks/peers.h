// SPDX-License-Identifier: Apache-2.0
/* What libgph's own kernels need of a communicator: this rank's memory, into which the others
 * write, theirs in this process's addresses, and the words of the host. kernels/ranks.cuh has the
 * layout. */
#ifndef GPHI_RANKS_PEERS_H
#define GPHI_RANKS_PEERS_H
#include "device/kernels.h"
#include "kernels/ranks.cuh"
#include <stdbool.h>

/* What a rank shows the others, so that they reach its memory. Gathered. */
typedef struct gphi_peers_card {
    CUipcMemHandle handle;
    CUuuid device;
    uint32_t can; /* 1: its memory is there */
    char host[64];
} gphi_peers_card;

typedef struct gphi_peers {
    gph_runtime *runtime;
    gphi_kernels *kernels;
    CUdeviceptr memory;
    CUipcMemHandle handle;             /* of `memory`, where there are others */
    CUdeviceptr opened[RANKS_MAX - 1]; /* opened; 0: not */
    ranks_host *host;
    ranks_call call; /* what all calls have in common */
} gphi_peers;

/* What is moved. */
typedef enum gphi_peers_kind {
    GPHI_PEERS_F32, /* reductions of that type */
    GPHI_PEERS_F16,
    GPHI_PEERS_BF16,
    GPHI_PEERS_I32,
    GPHI_PEERS_GATHER,
    GPHI_PEERS_BROADCAST
} gphi_peers_kind;

typedef struct gphi_peers_work {
    gphi_peers_kind kind;
    CUdeviceptr in, out;
    uint64_t bytes; /* of a rank's tensor, not 0 */
    uint32_t element_bytes;
    uint32_t reduction, root, place;
} gphi_peers_work;

/* Makes this rank's half, with memory for tensors of `bytes`. Fails with GPH_E_UNSUPPORTED
 * (more than RANKS_MAX ranks; memory that other processes cannot open) and what the driver
 * returns; gphi_peers_fini() in each case. */
gph_status gphi_peers_init(gphi_peers *peers, gph_runtime *runtime, uint32_t rank,
                           uint32_t count, uint64_t bytes, uint64_t patience_ns,
                           gph_error *error);
gph_status gphi_peers_show(const gphi_peers *peers, gphi_peers_card *out,
                           gph_error *error);
/* Opens the others' memory: `cards` of all ranks. GPH_E_UNSUPPORTED: no access to it. */
gph_status gphi_peers_connect(gphi_peers *peers, const gphi_peers_card *cards,
                              gph_error *error);
/* Nothing may be under way. */
void gphi_peers_fini(gphi_peers *peers);

/* Puts one collective into a stream. No allocation. */
CUresult gphi_peers_launch(const gphi_peers *peers, const gphi_peers_work *work,
                           CUstream stream);

/* What waits on the device ends, and all that comes after it does nothing. Thread: any. */
void gphi_peers_stop(gphi_peers *peers);

/* The rank on which a kernel gave up, and the call's number. Thread: any. */
bool gphi_peers_missed(const gphi_peers *peers, uint32_t *rank, uint32_t *place);
#endif

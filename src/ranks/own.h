// SPDX-License-Identifier: Apache-2.0
/* The own kernels' side of a communicator: this rank's memory, into which the others write,
 * theirs in this process's addresses, and the words of the host. kernels/ranks.cuh has the
 * layout. */
#ifndef GPHI_RANKS_OWN_H
#define GPHI_RANKS_OWN_H
#include "device/kernels.h"
#include "kernels/ranks.cuh"
#include <stdbool.h>

/* What a rank shows the others, so that they reach its memory. Gathered. */
typedef struct gphi_own_card {
    CUipcMemHandle handle;
    CUuuid device;
    uint32_t can; /* 1: its memory is there */
    char host[64];
} gphi_own_card;

typedef struct gphi_own {
    gph_runtime *runtime;
    gphi_kernels *kernels;
    CUdeviceptr memory;
    CUipcMemHandle handle;            /* of `memory`, where there are others */
    CUdeviceptr peers[RANKS_MAX - 1]; /* opened; 0: not */
    ranks_host *host;
    ranks_call call; /* what all calls have in common */
} gphi_own;

/* What is moved. */
typedef enum gphi_own_kind {
    GPHI_OWN_F32, /* reductions of that type */
    GPHI_OWN_F16,
    GPHI_OWN_BF16,
    GPHI_OWN_I32,
    GPHI_OWN_GATHER,
    GPHI_OWN_BROADCAST
} gphi_own_kind;

typedef struct gphi_own_work {
    gphi_own_kind kind;
    CUdeviceptr in, out;
    uint64_t bytes; /* of a rank's tensor, not 0 */
    uint32_t element_bytes;
    uint32_t reduction, root, place;
} gphi_own_work;

/* Makes this rank's half, with memory for tensors of `bytes`. Fails with GPH_E_UNSUPPORTED
 * (more than RANKS_MAX ranks; memory that other processes cannot open) and what the driver
 * returns; gphi_own_fini() in each case. */
gph_status gphi_own_init(gphi_own *own, gph_runtime *runtime, uint32_t rank,
                         uint32_t count, uint64_t bytes, uint64_t patience_ns,
                         gph_error *error);
gph_status gphi_own_show(const gphi_own *own, gphi_own_card *out, gph_error *error);
/* Opens the others' memory: `cards` of all ranks. GPH_E_UNSUPPORTED: no access to it. */
gph_status gphi_own_connect(gphi_own *own, const gphi_own_card *cards, gph_error *error);
/* Nothing may be under way. */
void gphi_own_fini(gphi_own *own);

/* Puts one collective into a stream. No allocation. */
CUresult gphi_own_launch(const gphi_own *own, const gphi_own_work *work, CUstream stream);

/* What waits on the device ends, and all that comes after it does nothing. Thread: any. */
void gphi_own_stop(gphi_own *own);

/* The rank on which a kernel gave up, and the call's number. Thread: any. */
bool gphi_own_missed(const gphi_own *own, uint32_t *rank, uint32_t *place);
#endif

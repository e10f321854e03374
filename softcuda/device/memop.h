// SPDX-License-Identifier: Apache-2.0
/* Batches of memory operations (cuStreamBatchMemOp, batch nodes of graphs). */
#ifndef SOFT_DEVICE_MEMOP_H
#define SOFT_DEVICE_MEMOP_H
#include "softcuda/device/task.h"

#define SOFT_BATCH_OPS_MAX 255
#define SOFT_SEMAPHORES_MAX 512 /* of one call */

/* Operations that are not on memory: of the external semaphore at `address`, with value64. CUDA
 * has no such types, so that no program can ask for them as memory operations. */
enum { SOFT_OP_SIGNAL = 0x1001, SOFT_OP_WAIT = 0x1002 };

/* What a program reads of one in a node: a handle, and CUDA's parameters. */
#define SOFT_SEMAPHORE_BYTES                                                             \
    (sizeof(CUexternalSemaphore) + sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS))
_Static_assert(sizeof(CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS) ==
                   sizeof(CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS),
               "room for either");

/* Nodes that hold a batch of operations. */
static inline bool soft_is_batch(CUgraphNodeType type)
{
    return type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL ||
           type == CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT;
}

/* Signals or waits of external semaphores, as one batch: `ops` has room for
 * SOFT_SEMAPHORES_MAX, and stays borrowed by `out`. */
CUresult soft_task_signals(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 *in,
                           CUstreamBatchMemOpParams *ops, soft_task *out);
CUresult soft_task_waits(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 *in,
                         CUstreamBatchMemOpParams *ops, soft_task *out);

/* From CUDA's structs, every argument checked; `ops` stays borrowed by `out`. */
CUresult soft_task_batch(const CUstreamBatchMemOpParams *ops, unsigned count,
                         unsigned flags, soft_task *out);
/* Whether every word is in memory that operations may use: what streams ask when they are
 * given a batch, and graphs when they are launched. */
CUresult soft_batch_check_words(const CUstreamBatchMemOpParams *ops, unsigned count);

/* Whether one of them waits. */
bool soft_batch_waits(const CUstreamBatchMemOpParams *ops, uint32_t count);

/* The word that an operation waits for or writes; false for a barrier. */
bool soft_batch_word(const CUstreamBatchMemOpParams *op, uint64_t *address,
                     uint64_t *bytes, bool *write);

/* A batch under way. */
typedef struct soft_batch_run {
    const CUstreamBatchMemOpParams *ops;
    uint32_t count, next;
    bool lost; /* no memory is there any more, for: */
    uint32_t lost_op;
} soft_batch_run;

/* Does what can be done now; true when all is done, or memory is lost. */
bool soft_batch_poll(soft_batch_run *run);
#endif

// SPDX-License-Identifier: Apache-2.0
/* Batches of memory operations (cuStreamBatchMemOp, batch nodes of graphs). */
#ifndef SOFT_DEVICE_MEMOP_H
#define SOFT_DEVICE_MEMOP_H
#include "softcuda/device/task.h"

#define SOFT_BATCH_OPS_MAX 255

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

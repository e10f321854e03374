// SPDX-License-Identifier: Apache-2.0
/* cuStreamWaitValue, cuStreamWriteValue, cuStreamBatchMemOp. The older symbols without
 * _v2 name the same calls.
 *
 * Both versions of each call are one: what changed between them is which devices have
 * it. */
#include "softcuda/device/memop.h"

#include "softcuda/api/exports.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

struct site {
    const char *call;
    CUstream stream;
    bool per_thread;
};

/* The words are looked up when the stream gets them; in a capture a program may still
 * allocate them (R26). */
static CUresult submit(struct site site, unsigned count, CUstreamBatchMemOpParams *ops,
                       unsigned flags)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(site.call, site.stream, &context));
    soft_task task;
    bool capturing = false;
    soft_queue *queue;
    if (soft_capture_is_open() && soft_rule(M_capture_order))
        SOFT_TRY(
            soft_stream_queue(context, site.stream, site.per_thread, &queue, &capturing));
    SOFT_TRY(soft_task_batch(ops, count, flags, &task));
    if (!capturing || !soft_rule(M_capture_words))
        SOFT_TRY(soft_batch_check_words(ops, count));
    return soft_stream_submit(context, site.stream, site.per_thread, &task, NULL);
}

static CUresult one(struct site site, CUstreamBatchMemOpType type, CUdeviceptr address,
                    cuuint64_t value, unsigned flags)
{
    CUstreamBatchMemOpParams op = {
        .waitValue = {.operation = type, .address = address, .flags = flags}};
    if (type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64)
        op.waitValue.value64 = value;
    else
        op.waitValue.value = (cuuint32_t)value;
    return submit(site, 1, &op, 0);
}

/* A call under its names: with and without _v2, for both meanings of stream 0. */
#define VALUE_CALL(name, symbol, type, word, thread)                                     \
    CUresult symbol(CUstream stream, CUdeviceptr address, word value,                    \
                    unsigned int flags)                                                  \
    {                                                                                    \
        return one((struct site){#name, stream, thread}, type, address, value, flags);   \
    }
#define VALUE_CALLS(name, type, word)                                                    \
    VALUE_CALL(name, name, type, word, false)                                            \
    VALUE_CALL(name, name##_v2, type, word, false)                                       \
    VALUE_CALL(name, name##_ptsz, type, word, true)                                      \
    VALUE_CALL(name, name##_v2_ptsz, type, word, true)

VALUE_CALLS(cuStreamWaitValue32, CU_STREAM_MEM_OP_WAIT_VALUE_32, cuuint32_t)
VALUE_CALLS(cuStreamWaitValue64, CU_STREAM_MEM_OP_WAIT_VALUE_64, cuuint64_t)
VALUE_CALLS(cuStreamWriteValue32, CU_STREAM_MEM_OP_WRITE_VALUE_32, cuuint32_t)
VALUE_CALLS(cuStreamWriteValue64, CU_STREAM_MEM_OP_WRITE_VALUE_64, cuuint64_t)

#define BATCH_CALL(symbol, thread)                                                       \
    CUresult symbol(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *ops,  \
                    unsigned int flags)                                                  \
    {                                                                                    \
        return submit((struct site){"cuStreamBatchMemOp", stream, thread}, count, ops,   \
                      flags);                                                            \
    }

BATCH_CALL(cuStreamBatchMemOp, false)
BATCH_CALL(cuStreamBatchMemOp_v2, false)
BATCH_CALL(cuStreamBatchMemOp_ptsz, true)
BATCH_CALL(cuStreamBatchMemOp_v2_ptsz, true)

// SPDX-License-Identifier: Apache-2.0
/* External memory and semaphores: what another interface or process has made, and gives as a
 * file descriptor. Their nodes are with the others (cu_graphnode.c), and what they do to a stream
 * is a batch of operations, as cuStreamBatchMemOp()'s are. */
#include "softcuda/device/external.h"

#include "softcuda/api/exports.h"
#include "softcuda/device/memop.h"
#include "softcuda/device/stream.h"
#include "softcuda/device/task.h"

CUresult cuImportExternalMemory(CUexternalMemory *out,
                                const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "extMem_out"));
    SOFT_TRY(soft_need(desc, "memHandleDesc"));
    return soft_external_import(desc, out);
}

CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr *out, CUexternalMemory memory,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "devPtr"));
    SOFT_TRY(soft_need(desc, "bufferDesc"));
    return soft_external_buffer(context, memory, desc, out);
}

CUresult cuExternalMemoryGetMappedMipmappedArray(
    CUmipmappedArray *out, CUexternalMemory memory,
    const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(__func__, &context));
    SOFT_TRY(soft_need(out, "mipmap"));
    SOFT_TRY(soft_need(desc, "mipmapDesc"));
    return soft_external_levels(context, memory, desc, out);
}

/* Without a context, too: an H200 looks at the handle alone. */
CUresult cuDestroyExternalMemory(CUexternalMemory memory)
{
    SOFT_TRY(soft_enter(__func__));
    return soft_external_destroy(memory);
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore *out,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc)
{
    SOFT_TRY(soft_enter_context(__func__, NULL));
    SOFT_TRY(soft_need(out, "extSem_out"));
    SOFT_TRY(soft_need(desc, "semHandleDesc"));
    return soft_semaphore_import(desc, out);
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore semaphore)
{
    SOFT_TRY(soft_enter(__func__));
    return soft_semaphore_destroy(semaphore);
}

/* Which call it was, and the stream that it named. */
struct site {
    const char *call;
    CUstream stream;
    bool per_thread;
};

/* A node may have none, and names semaphores that are looked up when it is launched. */
static CUresult check_all(unsigned count, const CUstreamBatchMemOpParams *ops)
{
    if (count == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "numExtSems is 0");
    for (unsigned i = 0; i < count; i++)
        if (ops[i].waitValue.flags != 0)
            return soft_fail(CUDA_ERROR_INVALID_VALUE,
                             "flags are 0x%x, not 0: no semaphore is of NvSciSync",
                             ops[i].waitValue.flags);
    return soft_batch_check_words(ops, count);
}

static CUresult signal_all(struct site site, const CUexternalSemaphore *semaphores,
                           const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params,
                           unsigned count)
{
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 in = {
        (CUexternalSemaphore *)(uintptr_t)semaphores, params, count};
    CUstreamBatchMemOpParams ops[SOFT_SEMAPHORES_MAX];
    soft_context *context;
    soft_task task;
    SOFT_TRY(soft_enter_stream_context(site.call, site.stream, &context));
    SOFT_TRY(soft_task_signals(&in, ops, &task));
    SOFT_TRY(check_all(count, ops));
    return soft_stream_submit(context, site.stream, site.per_thread, &task, NULL);
}

static CUresult wait_for_all(struct site site, const CUexternalSemaphore *semaphores,
                             const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params,
                             unsigned count)
{
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 in = {
        (CUexternalSemaphore *)(uintptr_t)semaphores, params, count};
    CUstreamBatchMemOpParams ops[SOFT_SEMAPHORES_MAX];
    soft_context *context;
    soft_task task;
    SOFT_TRY(soft_enter_stream_context(site.call, site.stream, &context));
    SOFT_TRY(soft_task_waits(&in, ops, &task));
    SOFT_TRY(check_all(count, ops));
    return soft_stream_submit(context, site.stream, site.per_thread, &task, NULL);
}

SOFT_TWINS(cuSignalExternalSemaphoresAsync, _ptsz,
           (const CUexternalSemaphore *semaphores,
            const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *params, unsigned int count,
            CUstream stream),
           signal_all((struct site){"cuSignalExternalSemaphoresAsync", stream,
                                    per_thread},
                      semaphores, params, count))
SOFT_TWINS(cuWaitExternalSemaphoresAsync, _ptsz,
           (const CUexternalSemaphore *semaphores,
            const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *params, unsigned int count,
            CUstream stream),
           wait_for_all((struct site){"cuWaitExternalSemaphoresAsync", stream,
                                      per_thread},
                        semaphores, params, count))

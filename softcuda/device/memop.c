// SPDX-License-Identifier: Apache-2.0
/* Batches of memory operations: waits for a value, writes of one, barriers. They run in
 * their order; one that waits is asked again by the engine and holds no worker. */
#include "softcuda/device/memop.h"

#include "softcuda/device/device.h"
#include "softcuda/device/external.h"
#include "softcuda/device/stream.h"
#include "softcuda/memory/fault.h"
#include "softcuda/rules/rules.h"

static bool is_wait(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_32 ||
           type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || (int)type == SOFT_OP_WAIT;
}

static bool is_semaphore(CUstreamBatchMemOpType type)
{
    return (int)type == SOFT_OP_SIGNAL || (int)type == SOFT_OP_WAIT;
}

static uint32_t width_of(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 ||
                   type == CU_STREAM_MEM_OP_WRITE_VALUE_64
               ? 8
               : 4;
}

bool soft_batch_waits(const CUstreamBatchMemOpParams *ops, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (is_wait(ops[i].operation))
            return true;
    return false;
}

bool soft_batch_word(const CUstreamBatchMemOpParams *op, uint64_t *address,
                     uint64_t *bytes, bool *write)
{
    *bytes = width_of(op->operation);
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        *address = op->waitValue.address;
        *write = false;
        return true;
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        *address = op->writeValue.address;
        *write = true;
        return true;
    default: return false;
    }
}

/* ---- checks ------------------------------------------------------------------------ */

/* Where the word is: device memory but no managed one, or host memory that is known. */
static bool find_word(CUdeviceptr address, uint32_t bytes, soft_allocation *out)
{
    soft_device *device = soft_device_holding(address);
    const bool found = device ? soft_memory_find(device->memory, address, out)
                              : soft_host_find(address, out);
    return found && address + bytes <= out->base + out->bytes;
}

static CUresult check_alignment(uint32_t at, CUdeviceptr address, uint32_t bytes)
{
    if (address % bytes == 0)
        return CUDA_SUCCESS;
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "operation %u: address 0x%llx is not a multiple of %u", at,
                     (unsigned long long)address, bytes);
}

static CUresult check_word(uint32_t at, CUdeviceptr address, uint32_t bytes)
{
    soft_allocation word;
    if (!find_word(address, bytes, &word))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "operation %u: no memory that the driver knows is at 0x%llx", at,
                         (unsigned long long)address);
    if (soft_rule(R26) && word.is_managed)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "operation %u: 0x%llx is managed memory", at,
                         (unsigned long long)address);
    return CUDA_SUCCESS;
}

static CUexternalSemaphore semaphore_of(const CUstreamBatchMemOpParams *op)
{
    return (CUexternalSemaphore)(uintptr_t)op->waitValue.address;
}

CUresult soft_batch_check_words(const CUstreamBatchMemOpParams *ops, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (is_semaphore(ops[i].operation))
            SOFT_TRY(soft_rule(R28) ? soft_semaphore_check(semaphore_of(&ops[i]))
                                    : CUDA_SUCCESS);
        else if (ops[i].operation != CU_STREAM_MEM_OP_BARRIER)
            SOFT_TRY(check_word(i, ops[i].waitValue.address, width_of(ops[i].operation)));
    return CUDA_SUCCESS;
}

static CUresult refuse_flags(uint32_t at, unsigned flags)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE,
                     "operation %u: flags 0x%x are not known to it", at, flags);
}

static CUresult check_wait(uint32_t at, const CUstreamBatchMemOpParams *op)
{
    const unsigned flags = op->waitValue.flags;
    if (flags & CU_STREAM_WAIT_VALUE_FLUSH)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "operation %u: remote writes cannot be flushed here", at);
    if (flags > CU_STREAM_WAIT_VALUE_NOR)
        return refuse_flags(at, flags);
    return check_alignment(at, op->waitValue.address, width_of(op->operation));
}

static CUresult check_operation(uint32_t at, const CUstreamBatchMemOpParams *op)
{
    switch (op->operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return check_wait(at, op);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        if (op->writeValue.flags != CU_STREAM_WRITE_VALUE_DEFAULT)
            return refuse_flags(at, op->writeValue.flags);
        return check_alignment(at, op->writeValue.address, width_of(op->operation));
    case CU_STREAM_MEM_OP_BARRIER:
        if (op->memoryBarrier.flags > CU_STREAM_MEMORY_BARRIER_TYPE_GPU)
            return refuse_flags(at, op->memoryBarrier.flags);
        return CUDA_SUCCESS;
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "operation %u: remote writes cannot be flushed here", at);
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "operation %u has type %d", at,
                         (int)op->operation);
    }
}

CUresult soft_task_batch(const CUstreamBatchMemOpParams *ops, unsigned count,
                         unsigned flags, soft_task *out)
{
    if (soft_rule(R26) && count > SOFT_BATCH_OPS_MAX)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "%u memory operations, a batch has at most %d", count,
                         SOFT_BATCH_OPS_MAX);
    if (flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "flags are 0x%x, not 0", flags);
    if (!ops && count > 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "paramArray is NULL");
    for (unsigned i = 0; i < count; i++)
        SOFT_TRY(check_operation(i, &ops[i]));
    *out = (soft_task){.kind = SOFT_TASK_BATCH,
                       .u.batch = {ops, count, CU_GRAPH_NODE_TYPE_BATCH_MEM_OP}};
    return CUDA_SUCCESS;
}

static CUresult check_semaphores(const CUexternalSemaphore *semaphores,
                                 const void *params, unsigned count)
{
    if (count > 0) {
        SOFT_TRY(soft_need(semaphores, "extSemArray"));
        SOFT_TRY(soft_need(params, "paramsArray"));
    }
    if (count > SOFT_SEMAPHORES_MAX)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "%u external semaphores: a call takes %d here", count,
                         SOFT_SEMAPHORES_MAX);
    return CUDA_SUCCESS;
}

static CUstreamBatchMemOpParams take_semaphore(CUexternalSemaphore semaphore,
                                               uint64_t value, unsigned flags,
                                               int operation)
{
    return (CUstreamBatchMemOpParams){
        .waitValue = {.operation = (CUstreamBatchMemOpType)operation,
                      .address = (CUdeviceptr)(uintptr_t)semaphore,
                      .value64 = value,
                      .flags = flags}};
}

/* The two structs of CUDA say the same under two names. */
#define TAKE_SEMAPHORES(op, node)                                                        \
    SOFT_TRY(check_semaphores(in->extSemArray, in->paramsArray, in->numExtSems));        \
    for (unsigned i = 0; i < in->numExtSems; i++)                                        \
        ops[i] =                                                                         \
            take_semaphore(in->extSemArray[i], in->paramsArray[i].params.fence.value,    \
                           in->paramsArray[i].flags, op);                                \
    *out = (soft_task){.kind = SOFT_TASK_BATCH, .u.batch = {ops, in->numExtSems, node}}; \
    return CUDA_SUCCESS

CUresult soft_task_signals(const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS_v2 *in,
                           CUstreamBatchMemOpParams *ops, soft_task *out)
{
    TAKE_SEMAPHORES(SOFT_OP_SIGNAL, CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL);
}

CUresult soft_task_waits(const CUDA_EXT_SEM_WAIT_NODE_PARAMS_v2 *in,
                         CUstreamBatchMemOpParams *ops, soft_task *out)
{
    TAKE_SEMAPHORES(SOFT_OP_WAIT, CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT);
}

/* ---- doing them -------------------------------------------------------------------- */

/* GEQ compares cyclically: a counter may wrap. */
static bool is_met(uint64_t there, uint64_t value, bool wide, unsigned flags)
{
    const uint64_t mask = wide ? UINT64_MAX : UINT32_MAX;
    switch (flags & 3) {
    case CU_STREAM_WAIT_VALUE_EQ: return ((there ^ value) & mask) == 0;
    case CU_STREAM_WAIT_VALUE_AND: return (there & value & mask) != 0;
    case CU_STREAM_WAIT_VALUE_NOR: return (~(there | value) & mask) != 0;
    default:
        return wide ? (int64_t)(there - value) >= 0
                    : (int32_t)((uint32_t)there - (uint32_t)value) >= 0;
    }
}

static bool wait_over(const CUstreamBatchMemOpParams *op, const void *word)
{
    const bool wide = op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    /* Acquire: what the writer did before its write is there for what comes next. */
    if (wide)
        return is_met(__atomic_load_n((const uint64_t *)word, __ATOMIC_ACQUIRE),
                      op->waitValue.value64, true, op->waitValue.flags);
    return is_met(__atomic_load_n((const uint32_t *)word, __ATOMIC_ACQUIRE),
                  op->waitValue.value, false, op->waitValue.flags);
}

static void write_word(const CUstreamBatchMemOpParams *op, void *word)
{
    if (op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64)
        __atomic_store_n((uint64_t *)word, op->writeValue.value64, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)word, op->writeValue.value, __ATOMIC_RELEASE);
}

struct access {
    const CUstreamBatchMemOpParams *op;
    void *word;
    bool done;
};

static void touch(void *argument)
{
    struct access *access = argument;
    access->done = true;
    if (is_wait(access->op->operation))
        access->done = wait_over(access->op, access->word);
    else
        write_word(access->op, access->word);
}

/* The memory may have gone since the batch was given, and may go while this looks. */
static bool do_word(const CUstreamBatchMemOpParams *op, soft_batch_run *run)
{
    const CUdeviceptr address = op->waitValue.address; /* of a write, too */
    const uint32_t bytes = width_of(op->operation);
    soft_allocation word;
    if (find_word(address, bytes, &word)) {
        struct access access = {.op = op, .word = soft_device_reach(address)};
        soft_fault_scope scope;
        scope.ranges[0] = (soft_fault_range){(uint64_t)(uintptr_t)access.word, bytes};
        scope.ranges[1] = (soft_fault_range){0, 0};
        if (soft_fault_run(&scope, touch, &access))
            return access.done;
    }
    run->lost = true;
    run->lost_op = run->next;
    return true;
}

/* Semaphores, too, may be destroyed meanwhile. */
static bool do_semaphore(const CUstreamBatchMemOpParams *op, soft_batch_run *run)
{
    const soft_semaphore_state state =
        (int)op->operation == SOFT_OP_SIGNAL
            ? soft_semaphore_signal(semaphore_of(op), op->waitValue.value64)
            : soft_semaphore_wait(semaphore_of(op), op->waitValue.value64);
    if (state == SOFT_SEMAPHORE_GONE) {
        run->lost = true;
        run->lost_op = run->next;
    }
    return state != SOFT_SEMAPHORE_WAITS;
}

bool soft_batch_poll(soft_batch_run *run)
{
    for (; run->next < run->count && !run->lost; run->next++) {
        const CUstreamBatchMemOpParams *op = &run->ops[run->next];
        if (op->operation == CU_STREAM_MEM_OP_BARRIER)
            __atomic_thread_fence(__ATOMIC_SEQ_CST);
        else if (!(is_semaphore(op->operation) ? do_semaphore : do_word)(op, run))
            return false;
    }
    run->next = 0; /* for the next launch */
    return true;
}

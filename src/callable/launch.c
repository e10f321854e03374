// SPDX-License-Identifier: Apache-2.0
/* The way of a call: copies, the generator, the launch. Allocates nothing. */
#include "base/fail.h"
#include "callable/record.h"
#include "cuda/status.h"

/* The batched copy refuses the legacy stream. */
static bool can_batch(const gph_runtime *runtime, CUstream stream)
{
    return stream != NULL && stream != CU_STREAM_LEGACY &&
           (gphi_cuda_has(&runtime->cu, cuMemcpyBatchAsync) ||
            runtime->batch_12080 != NULL);
}

gph_status gphi_copy_batch(const gph_runtime *runtime, CUdeviceptr *to, CUdeviceptr *from,
                           size_t *bytes, size_t count, CUstream stream, gph_error *error)
{
    const gphi_cuda_table *cu = &runtime->cu;
    if (count > 1 && can_batch(runtime, stream)) {
        CUmemcpyAttributes attributes = {.srcAccessOrder =
                                             CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
        size_t first = 0, failed = 0;
        const CUresult result =
            runtime->batch_12080 != NULL
                ? runtime->batch_12080(to, from, bytes, count, &attributes, &first, 1,
                                       &failed, stream)
                : cu->cuMemcpyBatchAsync(to, from, bytes, count, &attributes, &first, 1,
                                         stream);
        if (result != CUDA_SUCCESS)
            return gphi_cuda_fail(error, (gph_status)result, "cuMemcpyBatchAsync",
                                  "copying %zu tensors", count);
        return GPH_OK;
    }
    for (size_t i = 0; i < count; i++) {
        const CUresult result = cu->cuMemcpyDtoDAsync(to[i], from[i], bytes[i], stream);
        if (result != CUDA_SUCCESS)
            return gphi_cuda_fail(error, (gph_status)result, "cuMemcpyDtoDAsync",
                                  "copying tensor %zu of %zu", i, count);
    }
    return GPH_OK;
}

static gph_status copy_inputs(gphi_record *record, const gph_tensor *inputs,
                              CUstream stream, gph_error *error)
{
    const gphi_signature *signature = &record->signature;
    size_t count = 0;
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const CUdeviceptr from = inputs[i].data, to = signature->inputs[i].data;
        if (signature->modes[i] != GPH_INPUT_COPY || from == to || from == 0 ||
            record->input_bytes[i] == 0)
            continue;
        record->copy_to[count] = to;
        record->copy_from[count] = from;
        record->copy_bytes[count] = record->input_bytes[i];
        count++;
    }
    if (count == 0)
        return GPH_OK;
    return gphi_copy_batch(record->runtime, record->copy_to, record->copy_from,
                           record->copy_bytes, count, stream, error);
}

static inline gph_status launch(const gphi_record *record, gph_exec *exec,
                                CUstream stream, gph_error *error)
{
    if (exec == NULL && record->replay != NULL)
        return gph_replay_launch(record->replay, stream, error);
    return gph_exec_launch(exec, stream, error);
}

/* With a generator. A launch that is refused takes no numbers. */
static gph_status step_and_launch(gphi_record *record, gph_exec *exec, CUstream stream,
                                  gph_error *error)
{
    const bool is_shared = exec != record->exec;
    gph_exec *edited = exec != NULL ? exec : gph_replay_exec(record->replay, 0);
    GPHI_TRY(gphi_rng_slot_step(&record->rng, gph_exec_handle(edited), is_shared, stream,
                                error));
    const gph_status status = launch(record, exec, stream, error);
    if (status != GPH_OK)
        gphi_rng_slot_undo(&record->rng);
    return status;
}

gph_status gphi_record_launch(gphi_record *record, gph_exec *exec,
                              const gph_tensor *inputs, CUstream stream, gph_error *error)
{
    if (exec == NULL)
        exec = record->exec;
    if (exec == NULL && record->replay == NULL)
        return gphi_fail(error, GPH_E_STATE, "recording %u has no executable",
                         record->id);
    if ((record->flags & GPHI_RECORD_ORDERED) != 0)
        GPHI_TRY(gph_pool_replay(record->pool, record->id, error));
    if (inputs != NULL)
        GPHI_TRY(copy_inputs(record, inputs, stream, error));
    if (record->rng.count == 0)
        GPHI_TRY(launch(record, exec, stream, error));
    else
        GPHI_TRY(step_and_launch(record, exec, stream, error));
    record->launches++;
    return GPH_OK;
}

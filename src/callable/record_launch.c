// SPDX-License-Identifier: Apache-2.0
/* The way of a call: copies, the generator, the launch. Allocates nothing. */
#include "base/fail.h"
#include "callable/record.h"
#include "memory/pool.h"

/* *has_written: something may have been queued, whether it failed or not. */
static gph_status copy_inputs(gphi_record *record, const gph_tensor *inputs,
                              CUstream stream, bool *has_written, gph_error *error)
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
    *has_written = true;
    const gphi_copies copies = {.to = record->copy_to,
                                .from = record->copy_from,
                                .bytes = record->copy_bytes,
                                .count = count,
                                .to_is_own = true};
    return gphi_copy(record->runtime, record->copier, &copies, stream, error);
}

static inline gph_status launch(const gphi_record *record, gph_exec *exec,
                                CUstream stream, gph_error *error)
{
    if (!exec && record->replay)
        return gph_replay_launch(record->replay, stream, error);
    return gph_exec_launch(exec, stream, error);
}

/* With a generator. A launch that is refused takes no numbers. */
static gph_status step_and_launch(gphi_record *record, gph_exec *exec, CUstream stream,
                                  gph_error *error)
{
    const bool is_shared = exec != record->exec;
    gph_exec *edited = exec ? exec : gph_replay_exec(record->replay, 0);
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
    if (!exec)
        exec = record->exec;
    if (!exec && !record->replay)
        return gphi_fail(error, GPH_E_STATE, "recording %u has no executable",
                         record->id);
    if ((record->flags & GPHI_RECORD_ORDERED) != 0)
        GPHI_TRY(gph_pool_replay(record->pool, record->id, error));
    bool has_written = record->replay; /* which may end between its parts */
    gph_status status = GPH_OK;
    if (inputs)
        status = copy_inputs(record, inputs, stream, &has_written, error);
    GPHI_THEN(status, record->rng.count == 0
                          ? launch(record, exec, stream, error)
                          : step_and_launch(record, exec, stream, error));
    if (status != GPH_OK) {
        if ((record->flags & GPHI_RECORD_ORDERED) != 0)
            gphi_pool_replay_undo(record->pool, record->id, has_written);
        return status;
    }
    record->launches++;
    return GPH_OK;
}

// SPDX-License-Identifier: Apache-2.0
/* The way of a call: copies, the generator, the launch. Allocates nothing. */
#include "base/fail.h"
#include "callable/record.h"
#include "memory/pool.h"

/* Whether the executable's own graph copies it. */
static bool pull(const gphi_record *record, uint32_t input, CUdeviceptr from)
{
    const uint32_t slot = record->pull_of[input];
    const CUdeviceptr to = record->signature.inputs[input].data;
    if (slot == GPHI_RECORD_NO_PULL)
        return false;
    const bool is_fit = gphi_copy_may_pull(record->runtime, record->signature.device, to,
                                           from, (size_t)record->input_bytes[input]);
    gphi_slots_pull(record->pulls, slot, is_fit ? from : to);
    return is_fit;
}

/* What was bound for the last replay is not for this one. */
static void pull_nothing(const gphi_record *record)
{
    for (uint32_t i = 0; i < record->pulls->count; i++)
        gphi_slots_pull(record->pulls, i, 0);
}

/* *has_written: something may have been queued, whether it failed or not. */
static gph_status copy_inputs(gphi_record *record, const gph_tensor *inputs, bool pulls,
                              CUstream stream, bool *has_written, gph_error *error)
{
    const gphi_signature *signature = &record->signature;
    size_t count = 0;
    for (uint32_t i = 0; i < signature->input_count; i++) {
        const CUdeviceptr from = inputs[i].data, to = signature->inputs[i].data;
        if (signature->modes[i] != GPH_INPUT_COPY || from == to || from == 0 ||
            record->input_bytes[i] == 0)
            continue;
        if (pulls && pull(record, i, from)) {
            record->pulled++;
            continue;
        }
        record->copy_to[count] = to;
        record->copy_from[count] = from;
        record->copy_bytes[count] = record->input_bytes[i];
        count++;
    }
    if (count == 0)
        return GPH_OK;
    record->copied += count;
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
    return record->pulls && exec == record->exec
               ? gph_slots_launch(record->pulls, &exec, 1, stream, error)
               : gph_exec_launch(exec, stream, error);
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
    const bool pulls = record->pulls && exec == record->exec;
    if (pulls)
        pull_nothing(record);
    if (inputs)
        status = copy_inputs(record, inputs, pulls, stream, &has_written, error);
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

// SPDX-License-Identifier: Apache-2.0
/* Checkpoints of processes (device/checkpoint.c). None of these waits for a lock: they are
 * how one is taken away. */
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/checkpoint.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/settings.h"

/* They need no cuInit() of whoever asks about another process (cuda-core's tests on an
 * H200). */
static void enter(const char *call)
{
    soft_self.call = call;
}

/* NULL, or zeros throughout. */
static CUresult check_zeros(const void *bytes, size_t count, const char *name)
{
    const unsigned char *at = bytes;
    for (size_t i = 0; at && i < count; i++)
        if (at[i] != 0)
            return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is not all zeros", name);
    return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessGetRestoreThreadId(int pid, int *tid)
{
    CUprocessState state;
    enter(__func__);
    SOFT_TRY(soft_need(tid, "tid"));
    SOFT_TRY(soft_checkpoint_get(pid, &state));
    /* Nothing is restored, so no thread of softcuda's is needed for it: the first one. */
    *tid = pid;
    return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessGetState(int pid, CUprocessState *state)
{
    enter(__func__);
    SOFT_TRY(soft_need(state, "state"));
    return soft_checkpoint_get(pid, state);
}

CUresult cuCheckpointProcessLock(int pid, CUcheckpointLockArgs *args)
{
    enter(__func__);
    if (args) {
        SOFT_TRY(check_zeros(&args->reserved0, sizeof(args->reserved0), "reserved0"));
        SOFT_TRY(check_zeros(args->reserved1, sizeof(args->reserved1), "reserved1"));
    }
    return soft_checkpoint_change(pid, CU_PROCESS_STATE_RUNNING, CU_PROCESS_STATE_LOCKED);
}

CUresult cuCheckpointProcessCheckpoint(int pid, CUcheckpointCheckpointArgs *args)
{
    enter(__func__);
    SOFT_TRY(check_zeros(args, sizeof(*args), "reserved"));
    return soft_checkpoint_change(pid, CU_PROCESS_STATE_LOCKED,
                                  CU_PROCESS_STATE_CHECKPOINTED);
}

/* Each device onto itself: softcuda's cannot change places. Before cuInit() none is known. */
static CUresult check_pairs(const CUcheckpointRestoreArgs *args)
{
    SOFT_TRY(check_zeros(args->reserved, sizeof(args->reserved), "reserved"));
    SOFT_TRY(check_zeros(&args->reserved1, sizeof(args->reserved1), "reserved1"));
    if (args->gpuPairsCount == 0)
        return CUDA_SUCCESS;
    SOFT_TRY(soft_need(args->gpuPairs, "gpuPairs"));
    for (int i = 0; i < soft_device_count(); i++) {
        const CUuuid own = soft_device_uuid(soft_device_at(i)->physical);
        bool is_there = false;
        for (unsigned k = 0; k < args->gpuPairsCount; k++)
            is_there |= memcmp(&args->gpuPairs[k].oldUuid, &own, sizeof(own)) == 0 &&
                        memcmp(&args->gpuPairs[k].newUuid, &own, sizeof(own)) == 0;
        if (!is_there)
            return soft_fail(
                CUDA_ERROR_INVALID_VALUE,
                "gpuPairs does not restore device %d onto itself: softcuda's "
                "devices do not change places",
                i);
    }
    return CUDA_SUCCESS;
}

CUresult cuCheckpointProcessRestore(int pid, CUcheckpointRestoreArgs *args)
{
    enter(__func__);
    if (args)
        SOFT_TRY(check_pairs(args));
    return soft_checkpoint_change(pid, CU_PROCESS_STATE_CHECKPOINTED,
                                  CU_PROCESS_STATE_LOCKED);
}

CUresult cuCheckpointProcessUnlock(int pid, CUcheckpointUnlockArgs *args)
{
    enter(__func__);
    SOFT_TRY(check_zeros(args, sizeof(*args), "reserved"));
    return soft_checkpoint_change(pid, CU_PROCESS_STATE_LOCKED, CU_PROCESS_STATE_RUNNING);
}

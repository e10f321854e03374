// SPDX-License-Identifier: Apache-2.0
/* Checkpoints: the states of a process, its own and another's, and that calls of a locked
 * one wait. The other process copies when it is asked to, and says what came. */
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

#define NOBODY 0x3fffffff /* above the largest process id */

static int to_other[2], from_other[2];
static pid_t other, stranger; /* the latter does not use a driver */

static CUprocessState state_of(int pid)
{
    CUprocessState state = (CUprocessState)99;
    OK(cu.cuCheckpointProcessGetState(pid, &state));
    return state;
}

static void lock(int pid)
{
    CUcheckpointLockArgs args = {.timeoutMs = 5000};
    OK(cu.cuCheckpointProcessLock(pid, &args));
}

/* ---- another process ------------------------------------------------------------------ */

static void serve(void)
{
    const char *why = NULL;
    CUdeviceptr memory = 0;
    char order = 'r';
    if (!driver_load(SOFTCUDA_PATH, &why) || !device_wanted())
        _exit(77);
    use_primary();
    if (cu.cuMemAlloc(&memory, 64) != CUDA_SUCCESS ||
        cu.cuMemsetD8(memory, 0x42, 64) != CUDA_SUCCESS)
        order = 'x';
    for (;;) {
        unsigned char byte = 0;
        if (write(from_other[1], &order, 1) != 1 || read(to_other[0], &order, 1) != 1)
            _exit(0);
        order =
            cu.cuMemcpyDtoH(&byte, memory, 1) == CUDA_SUCCESS && byte == 0x42 ? 'd' : 'x';
    }
}

static bool start(void)
{
    char ready = 0;
    if (pipe(to_other) != 0 || pipe(from_other) != 0)
        return false;
    other = fork();
    if (other == 0) {
        close(to_other[1]);
        close(from_other[0]);
        alarm(60);
        serve();
    }
    close(to_other[0]);
    close(from_other[1]);
    stranger = fork();
    if (stranger == 0) {
        close(to_other[1]); /* the other one ends when nobody has it any more */
        close(from_other[0]);
        alarm(60);
        pause();
        _exit(0);
    }
    return stranger > 0 && read(from_other[0], &ready, 1) == 1 && ready == 'r';
}

static void another_process_is_locked_and_restored(void)
{
    char order = 'c', answer = 0;
    int tid = 0;
    CHECK(state_of(other) == CU_PROCESS_STATE_RUNNING);
    OK(cu.cuCheckpointProcessGetRestoreThreadId(other, &tid));
    CHECK(tid > 0);
    lock(other);
    CHECK(state_of(other) == CU_PROCESS_STATE_LOCKED);
    CHECK(write(to_other[1], &order, 1) == 1);
    OK(cu.cuCheckpointProcessCheckpoint(other, NULL));
    CHECK(state_of(other) == CU_PROCESS_STATE_CHECKPOINTED);
    OK(cu.cuCheckpointProcessRestore(other, NULL));
    CHECK(state_of(other) == CU_PROCESS_STATE_LOCKED);
    OK(cu.cuCheckpointProcessUnlock(other, NULL));
    CHECK(state_of(other) == CU_PROCESS_STATE_RUNNING);
    CHECK(read(from_other[0], &answer, 1) == 1 && answer == 'd');
}

static void states_that_do_not_follow_are_refused(void)
{
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessUnlock(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessCheckpoint(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessRestore(other, NULL));
    lock(other);
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessLock(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessRestore(other, NULL));
    OK(cu.cuCheckpointProcessCheckpoint(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessCheckpoint(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessUnlock(other, NULL));
    REFUSED(ILLEGAL_STATE, cu.cuCheckpointProcessLock(other, NULL));
    CHECK(state_of(other) == CU_PROCESS_STATE_CHECKPOINTED);
    OK(cu.cuCheckpointProcessRestore(other, NULL));
    OK(cu.cuCheckpointProcessUnlock(other, NULL));
}

static void arguments_are_judged(void)
{
    CUprocessState state;
    CUcheckpointLockArgs args = {.reserved0 = 1};
    CUcheckpointGpuPair pair;
    CUcheckpointRestoreArgs restore = {.gpuPairs = &pair, .gpuPairsCount = 1};
    REFUSED(INVALID_VALUE, cu.cuCheckpointProcessGetState(other, NULL));
    REFUSED(INVALID_VALUE, cu.cuCheckpointProcessGetRestoreThreadId(other, NULL));
    REFUSED(OPERATING_SYSTEM, cu.cuCheckpointProcessGetState(NOBODY, &state));
    REFUSED(OPERATING_SYSTEM, cu.cuCheckpointProcessGetState(0, &state));
    REFUSED(NOT_INITIALIZED, cu.cuCheckpointProcessGetState((int)stranger, &state));
    REFUSED(OPERATING_SYSTEM, cu.cuCheckpointProcessLock(NOBODY, NULL));
    REFUSED(INVALID_VALUE, cu.cuCheckpointProcessLock(other, &args));
    CHECK(state_of(other) == CU_PROCESS_STATE_RUNNING);
    lock(other);
    OK(cu.cuCheckpointProcessCheckpoint(other, NULL));
    memset(&pair, 1, sizeof(pair));
    REFUSED(INVALID_VALUE, cu.cuCheckpointProcessRestore(other, &restore));
    CHECK(state_of(other) == CU_PROCESS_STATE_CHECKPOINTED);
    OK(cu.cuDeviceGetUuid(&pair.oldUuid, 0));
    pair.newUuid = pair.oldUuid;
    OK(cu.cuCheckpointProcessRestore(other, &restore));
    OK(cu.cuCheckpointProcessUnlock(other, NULL));
}

/* ---- this one --------------------------------------------------------------------------- */

static void *unlock_later(void *number)
{
    usleep(100000);
    OK(cu.cuCheckpointProcessUnlock(*(int *)number, NULL));
    return NULL;
}

static void own_calls_wait_for_another_thread(void)
{
    int own = (int)getpid();
    CUdeviceptr memory = 0;
    unsigned char byte = 0;
    OK(cu.cuMemAlloc(&memory, 64));
    OK(cu.cuMemsetD8(memory, 0x17, 64));
    lock(own);
    CHECK(state_of(own) == CU_PROCESS_STATE_LOCKED);
    pthread_t later;
    if (!CHECK(pthread_create(&later, NULL, unlock_later, &own) == 0))
        return;
    OK(cu.cuMemcpyDtoH(&byte, memory, 1));
    CHECK(state_of(own) == CU_PROCESS_STATE_RUNNING && byte == 0x17);
    pthread_join(later, NULL);
    OK(cu.cuMemFree(memory));
}

static void a_process_that_ended_has_no_state(void)
{
    CUprocessState state;
    close(to_other[1]);
    CHECK(waitpid(other, NULL, 0) == other);
    REFUSED(OPERATING_SYSTEM, cu.cuCheckpointProcessGetState(other, &state));
}

/* Also by a process that does not use the driver itself, as this one does not yet. */
static void who_asks_needs_no_driver(void)
{
    CUprocessState state;
    CHECK(state_of(other) == CU_PROCESS_STATE_RUNNING);
    lock(other);
    CHECK(state_of(other) == CU_PROCESS_STATE_LOCKED);
    OK(cu.cuCheckpointProcessUnlock(other, NULL));
    if (driver_is_soft)
        REFUSED(NOT_INITIALIZED, cu.cuCheckpointProcessGetState((int)getpid(), &state));
}

int main(void)
{
    const bool started = start();
    DRIVER_OR_SKIP();
    if (started && cu.cuCheckpointProcessLock)
        RUN(who_asks_needs_no_driver);
    if (!device_wanted()) {
        printf("no device\n");
        return 77;
    }
    if (!CHECK(started))
        return test_done();
    use_primary();
    if (!cu.cuCheckpointProcessLock) {
        printf("this driver has no checkpoints\n");
        return 77;
    }
    RUN(another_process_is_locked_and_restored);
    RUN(states_that_do_not_follow_are_refused);
    RUN(arguments_are_judged);
    RUN(own_calls_wait_for_another_thread);
    RUN(a_process_that_ended_has_no_state);
    kill(stranger, SIGKILL);
    waitpid(stranger, NULL, 0);
    return test_done();
}

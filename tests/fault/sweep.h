// SPDX-License-Identifier: Apache-2.0
/* Each allocation of softcuda's own fails in turn:
 *
 *     for (SWEEP(nth)) {
 *         fail_allocation(nth);
 *         const bool fine = worked(call(), nth);
 *         END_OF_SWEEP(nth, fine);
 *         ... what must hold, `fine` or not; the call is undone
 *     }
 *
 * which ends when an allocation beyond the last one would fail. */
#ifndef FAULT_SWEEP_H
#define FAULT_SWEEP_H
#include "conformance/driver.h"

#include <time.h>

static long (*fail_allocation)(long nth);
static long swept; /* allocations of the last sweep */

/* Whether the call worked; if not, for want of memory. */
static inline bool worked(CUresult result, long nth)
{
    if (result == CUDA_SUCCESS)
        return true;
    if (!CHECK(result == CUDA_ERROR_OUT_OF_MEMORY))
        fprintf(stderr, "  allocation %ld: %d\n", nth, (int)result);
    return false;
}

#define SWEEP(nth)                                                                       \
    long nth = 0;                                                                        \
    nth >= 0 && nth < 5000 && test_failures < 20;                                        \
    nth++
#define END_OF_SWEEP(nth, fine)                                                          \
    do {                                                                                 \
        if (fail_allocation(-1) >= 0) {                                                  \
            CHECK(fine);                                                                 \
            swept = nth;                                                                 \
            nth = -2;                                                                    \
        }                                                                                \
    } while (0)

/* Destructors of user objects run on a thread of the driver's own. */
static atomic_int destroyed;

static inline void CUDA_CB count_destroyed(void *user)
{
    (void)user;
    atomic_fetch_add(&destroyed, 1);
}

static inline void wait_for_destructors(int count)
{
    for (int i = 0; i < 5000 && atomic_load(&destroyed) < count; i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
    CHECK(atomic_load(&destroyed) == count);
}

/* False: the driver is none that can be made to fail. */
static inline bool can_fail(void)
{
    *(void **)&fail_allocation = dlsym(driver_library, "gph_softcuda_fail_allocation");
    if (fail_allocation == NULL)
        printf("only softcuda can be made to fail\n");
    return fail_allocation != NULL;
}

/* The primary context, and a stream, a kernel and memory in it. */
static inline CUcontext open_sweep(const char *image, CUstream *stream, CUfunction *store,
                                   CUdeviceptr *memory)
{
    CUcontext context = NULL;
    CUmodule module;
    OK(cu.cuInit(0));
    use_primary();
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuStreamCreate(stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuModuleLoadData(&module, image));
    OK(cu.cuModuleGetFunction(store, module, "store"));
    OK(cu.cuMemAlloc(memory, 4096));
    return context;
}
#endif

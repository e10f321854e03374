// SPDX-License-Identifier: Apache-2.0
/* Green contexts under want of memory. */
#include "fault/sweep.h"

#include "conformance/kernels.h"

static void a_descriptor_is_made_or_not(void)
{
    unsigned size = 8; /* another one each time: equal ones are made once */
    for (SWEEP(nth)) {
        CUdevResource all, part;
        CUdevResourceDesc description = NULL;
        unsigned groups = 1;
        OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
        OK(cu.cuDevSmResourceSplitByCount(&part, &groups, &all, NULL, 0, size));
        size += 8;
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuDevResourceGenerateDesc(&description, &part, 1), nth);
        END_OF_SWEEP(nth, fine);
        CHECK((description != NULL) == fine);
    }
    CHECK(swept >= 1);
}

static void a_green_context_is_made_or_not(void)
{
    CUdevResource all;
    CUdevResourceDesc description = NULL;
    unsigned flags;
    OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cu.cuDevResourceGenerateDesc(&description, &all, 1));
    for (SWEEP(nth)) {
        int active = 1;
        CUgreenCtx green = NULL;
        fail_allocation(nth);
        const bool fine = worked(
            cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM),
            nth);
        END_OF_SWEEP(nth, fine);
        CHECK((green != NULL) == fine);
        if (fine)
            OK(cu.cuGreenCtxDestroy(green));
        OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active)); /* nothing else has it */
        CHECK(active == 0);
    }
    CHECK(swept >= 3);
}

static void its_streams_and_events_are_made_or_not(void)
{
    CUdevResource all;
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    OK(cu.cuDevResourceGenerateDesc(&description, &all, 1));
    use_primary();
    for (SWEEP(nth)) {
        CUstream stream = NULL;
        CUevent event = NULL;
        CUcontext view = NULL;
        OK(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
        OK(cu.cuCtxFromGreenCtx(&view, green));
        fail_allocation(nth);
        const bool fine =
            worked(cu.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0),
                   nth) &&
            worked(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), nth) &&
            worked(cu.cuGreenCtxRecordEvent(green, event), nth) &&
            worked(cu.cuCtxPushCurrent(view), nth);
        END_OF_SWEEP(nth, fine);
        if (fine)
            OK(cu.cuCtxPopCurrent(&view));
        if (event)
            OK(cu.cuEventDestroy(event));
        if (stream)
            OK(cu.cuStreamDestroy(stream));
        OK(cu.cuGreenCtxDestroy(green));
    }
    CHECK(swept >= 4);
}

int main(void)
{
    setenv("SOFTCUDA_MULTIPROCESSORS", "132", 1);
    DRIVER_OR_SKIP();
    if (!can_fail())
        return 77;
    OK(cu.cuInit(0));
    RUN(a_descriptor_is_made_or_not);
    RUN(a_green_context_is_made_or_not);
    RUN(its_streams_and_events_are_made_or_not);
    return test_done();
}

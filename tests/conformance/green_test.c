// SPDX-License-Identifier: Apache-2.0
/* Green contexts: parts of a device's multiprocessors, and streams whose kernels run there.
 * softcuda is asked with an H100's 132 multiprocessors. */
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "kernels.h"

/* Each block notes the multiprocessor that it runs on. */
static const char where_ptx[] =
    PTX_HEAD ".visible .entry where(.param .u64 p)\n"
             "{\n"
             "  .reg .b32 %r<4>; .reg .b64 %d<4>;\n"
             "  ld.param.u64 %d1, [p];\n"
             "  mov.u32 %r1, %ctaid.x; mov.u32 %r2, %smid;\n"
             "  mul.wide.u32 %d2, %r1, 4; add.s64 %d3, %d1, %d2;\n"
             "  add.u32 %r3, %r2, 1;\n"
             "  st.global.u32 [%d3], %r3;\n"
             "  ret;\n"
             "}\n";

enum { BLOCKS = 256 };

static CUcontext primary;
static CUmodule module;
static CUfunction where;
static CUdevResource device_part;

static CUgreenCtx green_of(CUdevResource *part)
{
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    OK(cu.cuDevResourceGenerateDesc(&description, part, 1));
    OK(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    return green;
}

/* Two green contexts with 16 multiprocessors each. */
static void two_greens(CUgreenCtx out[2])
{
    CUdevResource part[2];
    unsigned groups = 2;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, NULL, 0, 16));
    CHECK(groups == 2);
    for (int i = 0; i < 2; i++)
        out[i] = green_of(&part[i]);
}

static CUstream stream_of(CUgreenCtx green)
{
    CUstream stream = NULL;
    OK(cu.cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING, 0));
    return stream;
}

static CUcontext view_of(CUgreenCtx green)
{
    CUcontext view = NULL;
    OK(cu.cuCtxFromGreenCtx(&view, green));
    return view;
}

/* Which multiprocessors `noted` names, as bits; 0 where a block did not run. */
static bool read_set(CUdeviceptr noted, unsigned char used[512])
{
    unsigned words[BLOCKS];
    memset(used, 0, 512);
    OK(cu.cuMemcpyDtoH(words, noted, sizeof(words)));
    for (int i = 0; i < BLOCKS; i++) {
        if (words[i] == 0 || words[i] > 512)
            return false;
        used[words[i] - 1] = 1;
    }
    return true;
}

static int count_of(const unsigned char used[512])
{
    int count = 0;
    for (int i = 0; i < 512; i++)
        count += used[i];
    return count;
}

/* Streams of green contexts do not wait for the legacy stream. */
static void clear(CUdeviceptr noted)
{
    OK(cu.cuMemsetD32(noted, 0, BLOCKS));
    OK(cu.cuStreamSynchronize(NULL));
}

static CUdeviceptr noted_new(void)
{
    CUdeviceptr noted = 0;
    OK(cu.cuMemAlloc(&noted, BLOCKS * 4));
    clear(noted);
    return noted;
}

static void launch_where(CUstream stream, CUdeviceptr *noted)
{
    void *params[] = {noted};
    OK(cu.cuLaunchKernel(where, BLOCKS, 1, 1, 64, 1, 1, 0, stream, params, NULL));
}

/* ---- resources --------------------------------------------------------------------- */

static void parts_have_whole_groups(void)
{
    CUdevResource part[16], rest;
    unsigned groups = 2;
    CHECK(device_part.sm.smCount >= 100);
    CHECK(device_part.sm.minSmPartitionSize == 8);
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, &rest, 0, 9));
    CHECK(groups == 2 && part[0].sm.smCount == 16 && part[1].sm.smCount == 16);
    CHECK(rest.type == CU_DEV_RESOURCE_TYPE_SM);
    CHECK(rest.sm.smCount == device_part.sm.smCount - 32);
    groups = 1;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, NULL, 0, 0));
    CHECK(groups == 1 && part[0].sm.smCount == 8);
    groups = 0;
    OK(cu.cuDevSmResourceSplitByCount(NULL, &groups, &device_part, NULL, 0, 64));
    CHECK(groups == 1 || groups == 2);
    groups = 1;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, NULL,
                                      CU_DEV_SM_RESOURCE_SPLIT_IGNORE_SM_COSCHEDULING,
                                      2));
    CHECK(groups == 1 && part[0].sm.smCount == 2);
    groups = 2;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, &rest, 0,
                                      device_part.sm.smCount));
    CHECK(groups == 1 && part[0].sm.smCount == device_part.sm.smCount);
    CHECK(rest.type == CU_DEV_RESOURCE_TYPE_INVALID);
    REFUSED(INVALID_VALUE,
            cu.cuDevSmResourceSplitByCount(part, NULL, &device_part, NULL, 0, 8));
    REFUSED(INVALID_VALUE,
            cu.cuDevSmResourceSplitByCount(part, &groups, NULL, NULL, 0, 8));
}

static void a_part_is_split_through_a_green_context(void)
{
    CUdevResource part[2], again[2], of;
    unsigned groups = 1;
    OK(cu.cuDevSmResourceSplitByCount(part, &groups, &device_part, NULL, 0, 32));
    CUdevResource half = part[0];
    CHECK(cu.cuDevSmResourceSplitByCount(again, &groups, &half, NULL, 0, 16) !=
          CUDA_SUCCESS);
    CUgreenCtx green = green_of(&part[0]);
    OK(cu.cuGreenCtxGetDevResource(green, &of, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(of.sm.smCount == 32);
    groups = 2;
    OK(cu.cuDevSmResourceSplitByCount(again, &groups, &of, NULL, 0, 16));
    CHECK(groups == 2 && again[1].sm.smCount == 16);
    REFUSED(INVALID_RESOURCE_TYPE,
            cu.cuGreenCtxGetDevResource(green, &of, CU_DEV_RESOURCE_TYPE_INVALID));
    OK(cu.cuGreenCtxDestroy(green));
}

static void descriptors_are_of_one_split(void)
{
    CUdevResource first[2], second[1];
    CUdevResourceDesc description = NULL;
    unsigned groups = 2, one = 1;
    OK(cu.cuDevSmResourceSplitByCount(first, &groups, &device_part, NULL, 0, 8));
    OK(cu.cuDevSmResourceSplitByCount(second, &one, &device_part, NULL, 0, 8));
    OK(cu.cuDevResourceGenerateDesc(&description, first, 2));
    CHECK(description != NULL);
    CUgreenCtx green = NULL;
    OK(cu.cuGreenCtxCreate(&green, description, 0, CU_GREEN_CTX_DEFAULT_STREAM));
    CUdevResource sum;
    OK(cu.cuGreenCtxGetDevResource(green, &sum, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(sum.sm.smCount == 16);
    OK(cu.cuGreenCtxDestroy(green));
    CUdevResource mixed[2] = {first[0], second[0]};
    if (driver_is_soft) /* documented; an H200 takes them, and crashes where there are none */
        REFUSED(INVALID_RESOURCE_CONFIGURATION,
                cu.cuDevResourceGenerateDesc(&description, mixed, 2));
    REFUSED(INVALID_VALUE, cu.cuDevResourceGenerateDesc(NULL, first, 1));
    REFUSED(INVALID_VALUE, cu.cuDevResourceGenerateDesc(&description, NULL, 1));
    if (driver_is_soft)
        REFUSED(INVALID_VALUE, cu.cuDevResourceGenerateDesc(&description, first, 0));
    groups = 0;
    REFUSED(INVALID_VALUE,
            cu.cuDevSmResourceSplitByCount(first, &groups, &device_part, NULL, 0, 8));
    groups = 1;
    REFUSED(INVALID_VALUE,
            cu.cuDevSmResourceSplitByCount(first, &groups, &device_part, NULL, 3, 8));
    CUdevResource none = {.type = CU_DEV_RESOURCE_TYPE_INVALID};
    REFUSED(INVALID_RESOURCE_TYPE, cu.cuDevResourceGenerateDesc(&description, &none, 1));
}

static void what_cannot_be_created_is_refused(void)
{
    CUdevResourceDesc description = NULL;
    CUgreenCtx green = NULL;
    OK(cu.cuDevResourceGenerateDesc(&description, &device_part, 1)); /* all of it */
    REFUSED(INVALID_VALUE, cu.cuGreenCtxCreate(NULL, description, 0, 1));
    REFUSED(INVALID_DEVICE, cu.cuGreenCtxCreate(&green, description, 1000, 1));
    REFUSED(INVALID_VALUE, cu.cuGreenCtxCreate(&green, description, 0, 0x100));
    CHECK(green == NULL);
    if (driver_is_soft) {
        /* An H200 makes one without a descriptor; no document says what that has. */
        REFUSED(INVALID_VALUE, cu.cuGreenCtxCreate(&green, NULL, 0, 1));
        REFUSED(INVALID_VALUE,
                cu.cuGreenCtxCreate(&green, (CUdevResourceDesc)primary, 0, 1));
        REFUSED(INVALID_CONTEXT, cu.cuGreenCtxDestroy((CUgreenCtx)primary));
        CUcontext out;
        REFUSED(INVALID_CONTEXT, cu.cuCtxFromGreenCtx(&out, (CUgreenCtx)primary));
    }
}

/* ---- being current ----------------------------------------------------------------- */

static void it_becomes_current_as_a_context_of_its_own(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUcontext view = view_of(greens[0]), now = NULL, popped = NULL;
    CHECK(view != NULL && view != primary && view == view_of(greens[0]));
    REFUSED(INVALID_CONTEXT, cu.cuCtxSetCurrent((CUcontext)greens[1])); /* a CUgreenCtx */
    CHECK(view != view_of(greens[1]));
    OK(cu.cuCtxPushCurrent(view));
    OK(cu.cuCtxGetCurrent(&now));
    CHECK(now == view);
    CUdevice device = -1;
    OK(cu.cuCtxGetDevice(&device));
    CHECK(device == 0);
    unsigned long long green_id = 0, other_id = 0, primary_id = 0;
    OK(cu.cuGreenCtxGetId(greens[0], &green_id));
    OK(cu.cuGreenCtxGetId(greens[1], &other_id));
    OK(cu.cuCtxGetId(primary, &primary_id));
    CHECK(green_id != 0 && green_id != other_id && green_id != primary_id);
    CUdevResource of;
    OK(cu.cuCtxGetDevResource(view, &of, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(of.sm.smCount == 16);
    OK(cu.cuCtxGetDevResource(primary, &of, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(of.sm.smCount == device_part.sm.smCount);
    OK(cu.cuCtxPopCurrent(&popped));
    CHECK(popped == view);
    OK(cu.cuCtxSetCurrent(view));
    OK(cu.cuCtxGetCurrent(&now));
    CHECK(now == view);
    OK(cu.cuCtxSetCurrent(primary));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

static void memory_and_modules_are_the_primary_contexts(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUdeviceptr noted = noted_new(), more = 0;
    unsigned char used[512];
    OK(cu.cuCtxPushCurrent(view_of(greens[0])));
    OK(cu.cuMemAlloc(&more, 4096));
    OK(cu.cuMemsetD8(more, 3, 4096));
    launch_where(NULL, &noted); /* its own default stream */
    OK(cu.cuCtxSynchronize());
    CUcontext popped;
    OK(cu.cuCtxPopCurrent(&popped));
    CHECK(read_set(noted, used));
    CHECK(count_of(used) <= 16);
    unsigned char byte = 0;
    OK(cu.cuMemcpyDtoH(&byte, more + 4095, 1));
    CHECK(byte == 3);
    OK(cu.cuMemFree(more));
    OK(cu.cuMemFree(noted));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

/* ---- streams ----------------------------------------------------------------------- */

static void streams_name_their_green_context(void)
{
    CUgreenCtx greens[2], of = NULL;
    two_greens(greens);
    CUstream stream = stream_of(greens[0]), plain = NULL, inside = NULL;
    CUcontext context = NULL;
    OK(cu.cuStreamGetGreenCtx(stream, &of));
    CHECK(of == greens[0]);
    of = NULL;
    OK(cu.cuStreamGetCtx(stream, &context)); /* the first version */
    if (driver_is_soft)
        CHECK(context == primary);
    CUresult (*get_both)(CUstream, CUcontext *, CUgreenCtx *) = NULL;
    *(void **)&get_both = dlsym(driver_library, "cuStreamGetCtx_v2");
    if (CHECK(get_both != NULL))
        OK(get_both(stream, &context, &of));
    CHECK(of == greens[0] && context == primary);
    OK(cu.cuStreamCreate(&plain, 0));
    OK(cu.cuStreamGetGreenCtx(plain, &of));
    CHECK(of == NULL);
    OK(cu.cuStreamGetGreenCtx(NULL, &of));
    CHECK(of == NULL);
    OK(cu.cuCtxPushCurrent(view_of(greens[1])));
    OK(cu.cuStreamCreate(&inside, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamGetGreenCtx(inside, &of));
    CHECK(of == greens[1]);
    OK(cu.cuStreamGetGreenCtx(NULL, &of));
    CHECK(of == greens[1]);
    OK(cu.cuStreamGetGreenCtx(stream, &of));
    CHECK(of == greens[0]);
    OK(cu.cuCtxPopCurrent(&context));
    unsigned flags = 0;
    OK(cu.cuStreamGetFlags(stream, &flags));
    CHECK(flags == CU_STREAM_NON_BLOCKING);
    CUstream none = NULL;
    REFUSED(INVALID_VALUE, cu.cuGreenCtxStreamCreate(NULL, greens[0], 1, 0));
    REFUSED(INVALID_VALUE, cu.cuGreenCtxStreamCreate(&none, greens[0], 0x100, 0));
    OK(cu.cuStreamDestroy(inside));
    OK(cu.cuStreamDestroy(plain));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

static void kernels_run_on_its_multiprocessors(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream[2];
    CUdeviceptr noted[2];
    unsigned char used[2][512];
    for (int i = 0; i < 2; i++) {
        stream[i] = stream_of(greens[i]);
        noted[i] = noted_new();
        launch_where(stream[i], &noted[i]);
    }
    for (int i = 0; i < 2; i++) {
        OK(cu.cuStreamSynchronize(stream[i]));
        CHECK(read_set(noted[i], used[i]));
        CHECK(count_of(used[i]) >= 1 && count_of(used[i]) <= 16);
    }
    for (int i = 0; i < 512; i++)
        CHECK(!(used[0][i] && used[1][i])); /* parts of one split have none in common */
    for (int i = 0; i < 2; i++) {
        OK(cu.cuMemFree(noted[i]));
        OK(cu.cuStreamDestroy(stream[i]));
        OK(cu.cuGreenCtxDestroy(greens[i]));
    }
}

/* A grid whose blocks all have to be there at once is judged by the part. */
static void cooperative_launches_have_the_part(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream = stream_of(greens[0]);
    CUdeviceptr noted = noted_new();
    void *params[] = {&noted};
    int blocks = 0;
    OK(cu.cuOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, where, 1024, 0));
    OK(cu.cuLaunchCooperativeKernel(where, (unsigned)(16 * blocks), 1, 1, 1024, 1, 1, 0,
                                    stream, params));
    OK(cu.cuStreamSynchronize(stream));
    REFUSED(COOPERATIVE_LAUNCH_TOO_LARGE,
            cu.cuLaunchCooperativeKernel(where, (unsigned)(16 * blocks + 1), 1, 1, 1024,
                                         1, 1, 0, stream, params));
    OK(cu.cuMemFree(noted));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

/* ---- graphs ------------------------------------------------------------------------ */

static void a_capture_keeps_the_part(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream = stream_of(greens[0]), plain = NULL;
    CUdeviceptr noted = noted_new();
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    unsigned char used[512];
    OK(cu.cuStreamCreate(&plain, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_where(stream, &noted);
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    CUstream into[] = {stream, plain};
    for (int i = 0; i < 2; i++) {
        clear(noted);
        OK(cu.cuGraphLaunch(exec, into[i]));
        OK(cu.cuStreamSynchronize(into[i]));
        CHECK(read_set(noted, used));
        CHECK(count_of(used) <= 16); /* where it was captured, wherever it is launched */
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuMemFree(noted));
    OK(cu.cuStreamDestroy(plain));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

/* A fork from one green context to the other and back is one graph. */
static void captures_cross_green_contexts(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream[2];
    CUdeviceptr noted[2];
    CUevent event = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    unsigned char used[2][512];
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++) {
        stream[i] = stream_of(greens[i]);
        noted[i] = noted_new();
    }
    OK(cu.cuStreamBeginCapture(stream[0], CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    launch_where(stream[0], &noted[0]);
    OK(cu.cuEventRecord(event, stream[0]));
    OK(cu.cuStreamWaitEvent(stream[1], event, 0));
    launch_where(stream[1], &noted[1]);
    OK(cu.cuEventRecord(event, stream[1]));
    OK(cu.cuStreamWaitEvent(stream[0], event, 0));
    OK(cu.cuStreamEndCapture(stream[0], &graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream[1]));
    OK(cu.cuStreamSynchronize(stream[1]));
    for (int i = 0; i < 2; i++)
        CHECK(read_set(noted[i], used[i]));
    for (int i = 0; i < 512; i++)
        CHECK(!(used[0][i] && used[1][i]));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuEventDestroy(event));
    for (int i = 0; i < 2; i++) {
        OK(cu.cuMemFree(noted[i]));
        OK(cu.cuStreamDestroy(stream[i]));
        OK(cu.cuGreenCtxDestroy(greens[i]));
    }
}

/* ---- events ------------------------------------------------------------------------ */

static void CUDA_CB wait_for(void *user)
{
    while (!__atomic_load_n((int *)user, __ATOMIC_ACQUIRE))
        ;
}

static void events_stand_for_one_green_context(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream[2] = {stream_of(greens[0]), stream_of(greens[1])};
    CUevent of[2], whole;
    int go = 0;
    OK(cu.cuEventCreate(&whole, CU_EVENT_DISABLE_TIMING));
    for (int i = 0; i < 2; i++)
        OK(cu.cuEventCreate(&of[i], CU_EVENT_DISABLE_TIMING));
    OK(cu.cuLaunchHostFunc(stream[0], wait_for, &go));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxRecordEvent(greens[i], of[i]));
    OK(cu.cuCtxRecordEvent(primary, whole)); /* the primary one has them all */
    REFUSED(NOT_READY, cu.cuEventQuery(of[0]));
    OK(cu.cuEventSynchronize(of[1]));
    REFUSED(NOT_READY, cu.cuEventQuery(whole));
    OK(cu.cuGreenCtxWaitEvent(greens[1], of[0]));
    CUdeviceptr noted = noted_new();
    launch_where(stream[1], &noted);
    REFUSED(NOT_READY, cu.cuStreamQuery(stream[1]));
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    OK(cu.cuStreamSynchronize(stream[1]));
    OK(cu.cuEventQuery(of[0]));
    OK(cu.cuEventSynchronize(whole));
    OK(cu.cuMemFree(noted));
    OK(cu.cuEventDestroy(whole));
    for (int i = 0; i < 2; i++) {
        OK(cu.cuEventDestroy(of[i]));
        OK(cu.cuStreamDestroy(stream[i]));
        OK(cu.cuGreenCtxDestroy(greens[i]));
    }
}

/* What is current is waited for: one green context, or the primary one with all of them. */
static void synchronizing_knows_its_streams(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream = stream_of(greens[0]);
    CUcontext popped;
    int go = 0;
    OK(cu.cuLaunchHostFunc(stream, wait_for, &go));
    OK(cu.cuCtxPushCurrent(view_of(greens[1])));
    OK(cu.cuCtxSynchronize()); /* the other one has nothing to do */
    OK(cu.cuCtxPopCurrent(&popped));
    REFUSED(NOT_READY, cu.cuStreamQuery(stream));
    __atomic_store_n(&go, 1, __ATOMIC_RELEASE);
    OK(cu.cuCtxSynchronize());
    OK(cu.cuStreamQuery(stream));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

static void a_capture_forbids_events_of_its_green_context(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream = stream_of(greens[0]);
    CUevent event;
    CUgraph graph = NULL;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuGreenCtxRecordEvent(greens[1], event)); /* nothing of it captures */
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGreenCtxRecordEvent(greens[0], event));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuGreenCtxWaitEvent(greens[0], event));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(stream));
    for (int i = 0; i < 2; i++)
        OK(cu.cuGreenCtxDestroy(greens[i]));
}

/* ---- the end ----------------------------------------------------------------------- */

/* What calls on them give is softcuda's choice: CUDA 13.1 has a code for it, 13.0 none. */
static void its_streams_outlive_it(void)
{
    CUgreenCtx greens[2];
    two_greens(greens);
    CUstream stream = stream_of(greens[0]);
    CUcontext view = view_of(greens[0]), popped;
    CUdeviceptr noted = noted_new();
    launch_where(stream, &noted);
    OK(cu.cuStreamSynchronize(stream));
    if (driver_is_soft) {
        OK(cu.cuCtxPushCurrent(view));
        OK(cu.cuGreenCtxDestroy(greens[0]));
        CUdeviceptr none;
        REFUSED(CONTEXT_IS_DESTROYED, cu.cuMemAlloc(&none, 4));
        REFUSED(CONTEXT_IS_DESTROYED, cu.cuCtxPopCurrent(&popped));
        REFUSED(INVALID_CONTEXT, cu.cuCtxPushCurrent(view));
        REFUSED(INVALID_CONTEXT, cu.cuGreenCtxDestroy(greens[0]));
        REFUSED(CONTEXT_IS_DESTROYED, cu.cuStreamSynchronize(stream));
        void *params[] = {&noted};
        REFUSED(CONTEXT_IS_DESTROYED,
                cu.cuLaunchKernel(where, 1, 1, 1, 64, 1, 1, 0, stream, params, NULL));
        OK(cu.cuStreamDestroy(stream));
    } else {
        OK(cu.cuStreamDestroy(stream));
        OK(cu.cuGreenCtxDestroy(greens[0]));
    }
    OK(cu.cuGreenCtxDestroy(greens[1]));
    OK(cu.cuMemFree(noted));
}

static void a_capture_ends_with_its_green_context(void)
{
    CUgreenCtx greens[2];
    CUgraph graph = NULL;
    CUstreamCaptureStatus status;
    if (!driver_is_soft)
        return;
    two_greens(greens);
    CUstream stream = stream_of(greens[0]), other = stream_of(greens[1]);
    CUevent event;
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuStreamBeginCapture(other, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuEventRecord(event, other));
    OK(cu.cuStreamWaitEvent(stream, event, 0));
    OK(cu.cuGreenCtxDestroy(greens[0]));
    OK(cu.cuStreamIsCapturing(other, &status));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(other, &graph));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuStreamDestroy(other));
    OK(cu.cuGreenCtxDestroy(greens[1]));
}

/* It holds on to the primary context, which cannot be reset until then. */
static void the_primary_context_lives_on(void)
{
    unsigned flags;
    int active = 0;
    CUgreenCtx greens[2];
    two_greens(greens);
    OK(cu.cuDevicePrimaryCtxRelease(0)); /* the program's own */
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 1);
    OK(cu.cuGreenCtxDestroy(greens[0]));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 1);
    REFUSED(NOT_PERMITTED, cu.cuDevicePrimaryCtxReset(0));
    unsigned long long id;
    OK(cu.cuGreenCtxGetId(greens[1], &id));
    OK(cu.cuGreenCtxDestroy(greens[1]));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    OK(cu.cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cu.cuCtxSetCurrent(primary));
}

/* A program that releases what it did not retain; NVIDIA's documents leave that open. */
static void they_end_with_their_primary_context(void)
{
    CUgreenCtx greens[2];
    unsigned flags;
    int active = 1;
    unsigned long long id;
    two_greens(greens);
    for (int i = 0; i < 3; i++)
        OK(cu.cuDevicePrimaryCtxRelease(0));
    OK(cu.cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    for (int i = 0; i < 2; i++) {
        REFUSED(CONTEXT_IS_DESTROYED, cu.cuGreenCtxGetId(greens[i], &id));
        OK(cu.cuGreenCtxDestroy(greens[i]));
    }
    OK(cu.cuDevicePrimaryCtxReset(0)); /* nothing divides it */
    OK(cu.cuDevicePrimaryCtxRetain(&primary, 0));
    OK(cu.cuCtxSetCurrent(primary));
}

int main(void)
{
    setenv("SOFTCUDA_MULTIPROCESSORS", "132", 0);
    DEVICE_OR_SKIP();
    if (!cu.cuGreenCtxStreamCreate || !cu.cuGreenCtxGetId) {
        printf("the driver has no green contexts\n");
        return 77;
    }
    primary = use_primary();
    OK(cu.cuModuleLoadData(&module, where_ptx));
    OK(cu.cuModuleGetFunction(&where, module, "where"));
    OK(cu.cuDeviceGetDevResource(0, &device_part, CU_DEV_RESOURCE_TYPE_SM));
    RUN(parts_have_whole_groups);
    RUN(a_part_is_split_through_a_green_context);
    RUN(descriptors_are_of_one_split);
    RUN(what_cannot_be_created_is_refused);
    RUN(it_becomes_current_as_a_context_of_its_own);
    RUN(memory_and_modules_are_the_primary_contexts);
    RUN(streams_name_their_green_context);
    RUN(kernels_run_on_its_multiprocessors);
    RUN(cooperative_launches_have_the_part);
    RUN(a_capture_keeps_the_part);
    RUN(captures_cross_green_contexts);
    RUN(events_stand_for_one_green_context);
    RUN(synchronizing_knows_its_streams);
    RUN(a_capture_forbids_events_of_its_green_context);
    RUN(its_streams_outlive_it);
    RUN(a_capture_ends_with_its_green_context);
    RUN(the_primary_context_lives_on);
    if (driver_is_soft)
        RUN(they_end_with_their_primary_context);
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* Streams and events: order, queries, times, and wrong calls. */
#include "driver.h"
#include "kernels.h"

#include <time.h>

static CUmodule module;
static CUfunction store, bump;

static CUresult put(CUstream stream, CUdeviceptr at, unsigned value)
{
    void *params[] = {&at, &value};
    return cu.cuLaunchKernel(store, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static unsigned word_at(CUdeviceptr at)
{
    unsigned out = 0xdead;
    OK(cu.cuMemcpyDtoH(&out, at, sizeof(out)));
    return out;
}

static void a_stream_says_what_it_is(void)
{
    CUstream stream;
    unsigned flags = 9;
    int priority = 9, least = 9, greatest = 9;
    unsigned long long id = 0, other = 0;
    CUcontext context;
    CUdevice device = 9;
    OK(cu.cuCtxGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest < 0);
    OK(cu.cuStreamCreateWithPriority(&stream, CU_STREAM_NON_BLOCKING, greatest));
    OK(cu.cuStreamGetFlags(stream, &flags));
    OK(cu.cuStreamGetPriority(stream, &priority));
    OK(cu.cuStreamGetId(stream, &id));
    OK(cu.cuStreamGetId(CU_STREAM_LEGACY, &other));
    OK(cu.cuStreamGetDevice(stream, &device));
    CHECK(flags == CU_STREAM_NON_BLOCKING && priority == greatest && id != other &&
          device == 0);
    CUcontext current;
    OK(cu.cuCtxGetCurrent(&current));
    OK(cu.cuStreamGetCtx(stream, &context));
    CHECK(context == current);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuStreamCreateWithPriority(&stream, 0, greatest - 100)); /* clamped */
    OK(cu.cuStreamGetPriority(stream, &priority));
    CHECK(priority == greatest);
    OK(cu.cuStreamDestroy(stream));
}

static void wrong_streams_are_refused(void)
{
    CUstream stream;
    REFUSED(INVALID_VALUE, cu.cuStreamCreate(NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuStreamCreate(&stream, 2));
    if (!driver_is_soft)
        return; /* the real driver reads what the handle points to */
    int not_a_stream[64] = {0};
    REFUSED(INVALID_HANDLE, cu.cuStreamSynchronize((CUstream)not_a_stream));
    REFUSED(INVALID_HANDLE, cu.cuStreamQuery((CUstream)(uintptr_t)0x1234560));
    OK(cu.cuStreamCreate(&stream, 0));
    OK(cu.cuStreamDestroy(stream));
    REFUSED(INVALID_HANDLE, cu.cuStreamDestroy(stream));
    REFUSED(INVALID_HANDLE, put(stream, 0, 0));
}

/* A host function holds the stream back until the test lets it go. */
static atomic_int gate;

static void CUDA_CB wait_for_gate(void *user)
{
    (void)user;
    while (atomic_load(&gate) == 0)
        ;
}

static void work_of_a_stream_runs_in_order(void)
{
    CUstream stream;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(stream, wait_for_gate, NULL));
    for (unsigned i = 1; i <= 100; i++)
        OK(put(stream, at, i));
    REFUSED(NOT_READY, cu.cuStreamQuery(stream));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuStreamQuery(stream));
    CHECK(word_at(at) == 100);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemFree(at));
}

static void an_event_orders_two_streams(void)
{
    CUstream a, b;
    CUevent event;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 8));
    OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&b, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    for (unsigned round = 0; round < 50; round++) {
        atomic_store(&gate, 0);
        OK(cu.cuLaunchHostFunc(a, wait_for_gate, NULL));
        OK(put(a, at, round));
        OK(cu.cuEventRecord(event, a));
        OK(cu.cuStreamWaitEvent(b, event, 0));
        OK(cu.cuMemcpyDtoDAsync(at + 4, at, 4, b));
        REFUSED(NOT_READY, cu.cuEventQuery(event));
        REFUSED(NOT_READY, cu.cuStreamQuery(b));
        atomic_store(&gate, 1);
        OK(cu.cuStreamSynchronize(b));
        OK(cu.cuEventQuery(event));
        CHECK(word_at(at + 4) == round);
    }
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
    OK(cu.cuMemFree(at));
}

/* The legacy stream waits for blocking streams and they for it; not so non-blocking ones.
 */
static void the_legacy_stream_orders_blocking_streams(void)
{
    CUstream blocking, apart;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 16));
    OK(cu.cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
    OK(cu.cuStreamCreate(&apart, CU_STREAM_NON_BLOCKING));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(blocking, wait_for_gate, NULL));
    OK(put(blocking, at, 1));
    OK(put(CU_STREAM_LEGACY, at, 2));
    OK(put(blocking, at + 4, 3));
    REFUSED(NOT_READY, cu.cuStreamQuery(CU_STREAM_LEGACY));
    OK(put(apart, at + 8, 4));
    OK(cu.cuStreamSynchronize(apart));
    atomic_store(&gate, 1);
    OK(cu.cuStreamSynchronize(blocking));
    OK(cu.cuStreamQuery(CU_STREAM_LEGACY));
    CHECK(word_at(at) == 2 && word_at(at + 4) == 3 && word_at(at + 8) == 4);
    OK(cu.cuStreamDestroy(blocking));
    OK(cu.cuStreamDestroy(apart));
    OK(cu.cuMemFree(at));
}

static void events_measure_time(void)
{
    CUevent start, end, mute;
    float ms = -1;
    OK(cu.cuEventCreate(&start, CU_EVENT_DEFAULT));
    OK(cu.cuEventCreate(&end, CU_EVENT_DEFAULT));
    OK(cu.cuEventCreate(&mute, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuEventQuery(start)); /* never recorded: done */
    OK(cu.cuEventSynchronize(start));
    REFUSED(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, start, end));
    OK(cu.cuEventRecord(start, NULL));
    atomic_store(&gate, 0);
    OK(cu.cuLaunchHostFunc(NULL, wait_for_gate, NULL));
    OK(cu.cuEventRecord(end, NULL));
    REFUSED(NOT_READY, cu.cuEventElapsedTime(&ms, start, end));
    atomic_store(&gate, 1);
    OK(cu.cuEventSynchronize(end));
    OK(cu.cuEventElapsedTime(&ms, start, end));
    CHECK(ms >= 0 && ms < 10000);
    OK(cu.cuEventRecord(mute, NULL));
    OK(cu.cuEventSynchronize(mute));
    REFUSED(INVALID_HANDLE, cu.cuEventElapsedTime(&ms, start, mute));
    REFUSED(INVALID_VALUE, cu.cuEventCreate(&mute, 64));
    REFUSED(INVALID_VALUE, cu.cuEventCreate(NULL, 0));
    OK(cu.cuEventDestroy(start));
    OK(cu.cuEventDestroy(end));
    OK(cu.cuEventDestroy(mute));
}

static atomic_int calls;
static CUresult seen_inside;

static void CUDA_CB calls_cuda(void *user)
{
    int count;
    seen_inside = cu.cuDeviceGetCount(&count);
    (void)user;
    CUdeviceptr at;
    seen_inside = cu.cuMemAlloc(&at, 4);
    atomic_fetch_add(&calls, 1);
}

static void CUDA_CB counts(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    CHECK(status == CUDA_SUCCESS && user == &calls);
    atomic_fetch_add(&calls, 1);
}

static void host_functions_may_not_call_cuda(void)
{
    atomic_store(&calls, 0);
    OK(cu.cuLaunchHostFunc(NULL, calls_cuda, NULL));
    OK(cu.cuStreamAddCallback(NULL, counts, &calls, 0));
    OK(cu.cuStreamSynchronize(NULL));
    CHECK(atomic_load(&calls) == 2);
    CHECK(seen_inside == CUDA_ERROR_NOT_PERMITTED);
    REFUSED(INVALID_VALUE, cu.cuLaunchHostFunc(NULL, NULL, NULL));
    REFUSED(INVALID_VALUE, cu.cuStreamAddCallback(NULL, counts, NULL, 1));
}

static void a_destroyed_stream_finishes_its_work(void)
{
    CUstream stream;
    CUdeviceptr at;
    OK(cu.cuMemAlloc(&at, 4));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    for (unsigned i = 0; i < 20; i++)
        OK(put(stream, at, i));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuCtxSynchronize());
    CHECK(word_at(at) == 19);
    OK(cu.cuMemFree(at));
}

/* What an H100 gives and takes. */
static void attributes_are_kept_and_copied(void)
{
    CUstream from, to;
    CUdeviceptr memory;
    CUstreamAttrValue value, got;
    OK(cu.cuStreamCreate(&from, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreateWithPriority(&to, CU_STREAM_NON_BLOCKING, -1));
    OK(cu.cuMemAlloc(&memory, 1 << 20));
    memset(&value, 0, sizeof(value));
    memset(&got, 0, sizeof(got));
#define GET(id) OK(cu.cuStreamGetAttribute(from, id, &got))
#define SET(id) cu.cuStreamSetAttribute(from, id, &value)
    GET(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP);
    CHECK(got.memSyncDomainMap.default_ == 0 && got.memSyncDomainMap.remote == 1);
    value.memSyncDomainMap.remote = 3;
    OK(SET(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP));
    value.memSyncDomainMap.remote = 9;
    REFUSED(INVALID_VALUE, SET(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP));
    value.memSyncDomain = CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE;
    OK(SET(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN));
    value.memSyncDomain = (CUlaunchMemSyncDomain)2;
    REFUSED(INVALID_VALUE, SET(CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN));
    value.syncPolicy = CU_SYNC_POLICY_SPIN;
    OK(SET(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY));
    value.syncPolicy = (CUsynchronizationPolicy)0;
    REFUSED(INVALID_VALUE, SET(CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY));
    REFUSED(INVALID_VALUE, SET(CU_LAUNCH_ATTRIBUTE_COOPERATIVE));
    value.accessPolicyWindow =
        (CUaccessPolicyWindow){(void *)(uintptr_t)memory, 4096, 0.5f,
                               CU_ACCESS_PROPERTY_PERSISTING, CU_ACCESS_PROPERTY_NORMAL};
    OK(SET(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW));
    value.accessPolicyWindow.hitRatio = 2;
    REFUSED(INVALID_VALUE, SET(CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW));
    value.priority = -2;
    OK(SET(CU_LAUNCH_ATTRIBUTE_PRIORITY));
    OK(cu.cuStreamCopyAttributes(to, from));
    int priority = 0;
    OK(cu.cuStreamGetPriority(to, &priority));
    CHECK(priority == -2);
    OK(cu.cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &got));
    CHECK(got.accessPolicyWindow.num_bytes == 4096);
    OK(cu.cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY, &got));
    CHECK(got.syncPolicy == CU_SYNC_POLICY_SPIN);
    OK(cu.cuStreamGetAttribute(to, CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP, &got));
    CHECK(got.memSyncDomainMap.remote == 3);
    OK(cu.cuStreamSetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    value.priority = 0;
    OK(cu.cuStreamSetAttribute(NULL, CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    OK(cu.cuMemFree(memory));
    OK(cu.cuStreamDestroy(from));
    OK(cu.cuStreamDestroy(to));
}

static atomic_int slow_done;

static void CUDA_CB slow(void *user)
{
    const struct timespec pause = {.tv_nsec = 20000000};
    (void)user;
    nanosleep(&pause, NULL);
    atomic_fetch_add(&slow_done, 1);
}

static void CUDA_CB see(void *user)
{
    *(int *)user = atomic_load(&slow_done);
}

static void an_event_may_stand_for_a_whole_context(void)
{
    CUcontext context;
    CUstream a, b, after;
    CUevent event;
    CUgraph graph;
    int seen = -1;
    OK(cu.cuCtxGetCurrent(&context));
    OK(cu.cuStreamCreate(&a, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamCreate(&b, CU_STREAM_DEFAULT));
    OK(cu.cuStreamCreate(&after, CU_STREAM_NON_BLOCKING));
    OK(cu.cuEventCreate(&event, CU_EVENT_DEFAULT));
    atomic_store(&slow_done, 0);
    OK(cu.cuLaunchHostFunc(a, slow, NULL));
    OK(cu.cuLaunchHostFunc(b, slow, NULL));
    OK(cu.cuCtxRecordEvent(context, event));
    OK(cu.cuCtxWaitEvent(context, event));
    OK(cu.cuLaunchHostFunc(after, see, &seen));
    OK(cu.cuStreamSynchronize(after));
    CHECK(seen == 2);
    OK(cu.cuEventSynchronize(event));
    REFUSED(INVALID_CONTEXT, cu.cuCtxRecordEvent(NULL, event));
    REFUSED(INVALID_HANDLE, cu.cuCtxRecordEvent(context, NULL));
    OK(cu.cuStreamBeginCapture(a, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuCtxRecordEvent(context, event));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(a, &graph));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(a));
    OK(cu.cuStreamDestroy(b));
    OK(cu.cuStreamDestroy(after));
}

int main(void)
{
    DEVICE_OR_SKIP();
    use_primary();
    OK(cu.cuModuleLoadData(&module, kernels_ptx));
    OK(cu.cuModuleGetFunction(&store, module, "store"));
    OK(cu.cuModuleGetFunction(&bump, module, "bump"));
    RUN(a_stream_says_what_it_is);
    RUN(wrong_streams_are_refused);
    RUN(work_of_a_stream_runs_in_order);
    RUN(an_event_orders_two_streams);
    RUN(the_legacy_stream_orders_blocking_streams);
    RUN(events_measure_time);
    RUN(host_functions_may_not_call_cuda);
    RUN(a_destroyed_stream_finishes_its_work);
    RUN(attributes_are_kept_and_copied);
    RUN(an_event_may_stand_for_a_whole_context);
    OK(cu.cuModuleUnload(module));
    return test_done();
}

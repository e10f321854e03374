// SPDX-License-Identifier: Apache-2.0
/* R41 and what several devices have to do with each other. Needs two, which softcuda is
 * asked for. What ends a context with an error comes last. */
#include "graphs.h"

static struct kernels k[2];
static CUcontext contexts[2];
static CUdeviceptr words[2];
static bool two_devices;

#define NEEDS_TWO()                                                                      \
    do {                                                                                 \
        if (!two_devices) {                                                              \
            SKIP("one device");                                                          \
            return;                                                                      \
        }                                                                                \
    } while (0)

static void use(int device)
{
    OK(cu.cuCtxSetCurrent(contexts[device]));
}

static void set_up(int device)
{
    OK(cu.cuDevicePrimaryCtxRetain(&contexts[device], device));
    use(device);
    k[device] = load_kernels();
    words[device] = new_words();
}

static bool can_access(void)
{
    int one = 0, other = 0;
    OK(cu.cuDeviceCanAccessPeer(&one, 0, 1));
    OK(cu.cuDeviceCanAccessPeer(&other, 1, 0));
    return one && other;
}

static CUresult store(int device, CUdeviceptr address, unsigned value)
{
    void *args[] = {&address, &value};
    use(device);
    OK(cu.cuLaunchKernel(k[device].store, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
    return cu.cuCtxSynchronize();
}

static void access_is_enabled_and_disabled_once(void)
{
    NEEDS_TWO();
    int value = -1;
    use(0);
    OK(cu.cuDeviceCanAccessPeer(&value, 0, 0));
    CHECK(value == 0);
    REFUSED(INVALID_DEVICE, cu.cuDeviceCanAccessPeer(&value, 0, 99));
    REFUSED(INVALID_DEVICE, cu.cuDeviceGetP2PAttribute(
                                &value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0));
    OK(cu.cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0,
                                  1));
    CHECK(value == can_access());
    REFUSED(PEER_ACCESS_UNSUPPORTED, cu.cuCtxEnablePeerAccess(contexts[0], 0));
    REFUSED(INVALID_CONTEXT, cu.cuCtxEnablePeerAccess(NULL, 0));
    REFUSED(PEER_ACCESS_NOT_ENABLED, cu.cuCtxDisablePeerAccess(contexts[1]));
    REFUSED(INVALID_VALUE, cu.cuCtxEnablePeerAccess(contexts[1], 1));
    OK(cu.cuCtxEnablePeerAccess(contexts[1], 0));
    REFUSED(PEER_ACCESS_ALREADY_ENABLED, cu.cuCtxEnablePeerAccess(contexts[1], 0));
    OK(cu.cuCtxDisablePeerAccess(contexts[1]));
    REFUSED(PEER_ACCESS_NOT_ENABLED, cu.cuCtxDisablePeerAccess(contexts[1]));
}

static void copies_need_no_access(void)
{
    NEEDS_TWO();
    unsigned got = 0;
    use(1);
    OK(cu.cuMemsetD32(words[1], 21, 4));
    OK(cu.cuCtxSynchronize());
    use(0);
    OK(cu.cuMemcpyPeer(words[0], contexts[0], words[1], contexts[1], 4));
    OK(cu.cuMemcpyDtoH(&got, words[0], 4));
    CHECK(got == 21);
    OK(cu.cuMemcpy(words[0] + 4, words[1] + 4, 4));
    OK(cu.cuMemcpyDtoH(&got, words[0] + 4, 4));
    CHECK(got == 21);
    CUstream stream;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemcpyPeerAsync(words[0] + 8, contexts[0], words[1] + 8, contexts[1], 4,
                            stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuMemcpyDtoH(&got, words[0] + 8, 4));
    CHECK(got == 21);
    OK(cu.cuStreamDestroy(stream));
}

static void fills_need_access(void)
{
    NEEDS_TWO();
    unsigned got = 0;
    use(1);
    OK(cu.cuMemsetD32(words[1], 3, 4));
    OK(cu.cuCtxSynchronize());
    use(0);
    REFUSED(INVALID_VALUE, cu.cuMemsetD8(words[1], 7, 4));
    REFUSED(INVALID_VALUE, cu.cuMemsetD32Async(words[1], 7, 1, NULL));
    if (can_access()) {
        OK(cu.cuCtxEnablePeerAccess(contexts[1], 0));
        OK(cu.cuMemsetD8(words[1] + 4, 1, 4));
        OK(cu.cuCtxSynchronize());
        OK(cu.cuCtxDisablePeerAccess(contexts[1]));
    }
    use(1);
    OK(cu.cuMemcpyDtoH(&got, words[1], 4));
    CHECK(got == 3);
    OK(cu.cuMemcpyDtoH(&got, words[1] + 4, 4));
    CHECK(got == (can_access() ? 0x01010101u : 3u));
}

/* A range of each device, for that device alone. */
static void copies_between_mappings_need_access(void)
{
    NEEDS_TWO();
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUdeviceptr ranges[2];
    CUmemGenericAllocationHandle handles[2];
    size_t bytes = 0;
    unsigned got = 0;
    for (int d = 0; d < 2; d++) {
        use(d);
        prop.location.id = d;
        const CUmemAccessDesc own = {prop.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        OK(cu.cuMemGetAllocationGranularity(&bytes, &prop,
                                            CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
        OK(cu.cuMemAddressReserve(&ranges[d], bytes, 0, 0, 0));
        OK(cu.cuMemCreate(&handles[d], bytes, &prop, 0));
        OK(cu.cuMemMap(ranges[d], bytes, 0, handles[d], 0));
        OK(cu.cuMemSetAccess(ranges[d], bytes, &own, 1));
        OK(cu.cuMemsetD32(ranges[d], 40 + (unsigned)d, 4));
        OK(cu.cuCtxSynchronize());
    }
    use(0);
    REFUSED(INVALID_VALUE, cu.cuMemcpyDtoD(ranges[0], ranges[1], 4));
    if (can_access()) {
        const CUmemAccessDesc zero = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
        OK(cu.cuMemSetAccess(ranges[1], bytes, &zero, 1));
        OK(cu.cuMemcpyDtoD(ranges[0], ranges[1], 4));
    }
    OK(cu.cuMemcpyDtoH(&got, ranges[0], 4));
    CHECK(got == (can_access() ? 41u : 40u));
    for (int d = 0; d < 2; d++) {
        use(d);
        OK(cu.cuCtxSynchronize());
        OK(cu.cuMemUnmap(ranges[d], bytes));
        OK(cu.cuMemRelease(handles[d]));
        OK(cu.cuMemAddressFree(ranges[d], bytes));
    }
}

/* A chain over both devices through one event. */
static void events_join_devices(void)
{
    NEEDS_TWO();
    CUstream streams[2];
    CUevent event;
    unsigned got = 0;
    for (int d = 0; d < 2; d++) {
        use(d);
        OK(cu.cuStreamCreate(&streams[d], CU_STREAM_NON_BLOCKING));
    }
    use(1);
    OK(cu.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    REFUSED(INVALID_HANDLE, cu.cuEventRecord(event, streams[0]));
    for (unsigned i = 1; i <= 50; i++) {
        OK(cu.cuMemsetD32Async(words[1], i, 1, streams[1]));
        OK(cu.cuEventRecord(event, streams[1]));
        OK(cu.cuStreamWaitEvent(streams[0], event, 0));
        OK(cu.cuMemcpyPeerAsync(words[0], contexts[0], words[1], contexts[1], 4,
                                streams[0]));
        OK(cu.cuStreamSynchronize(streams[0]));
        OK(cu.cuMemcpyDtoH(&got, words[0], 4));
        CHECK(got == i);
    }
    OK(cu.cuEventDestroy(event));
    for (int d = 0; d < 2; d++) {
        use(d);
        OK(cu.cuStreamDestroy(streams[d]));
    }
}

/* One graph: a kernel on each device and a copy between; launched from either. */
static void a_graph_runs_on_its_nodes_devices(void)
{
    NEEDS_TWO();
    CUgraph graph = new_graph();
    CUgraphNode first, copy, second;
    unsigned value = 5, more = 6, got = 0;
    CUdeviceptr there = words[1] + 64, here = words[0] + 64, next = words[0] + 68;
    void *args[] = {&there, &value}, *args_here[] = {&next, &more};
    use(0);
    const CUDA_KERNEL_NODE_PARAMS one = one_thread(k[1].store, args),
                                  two = one_thread(k[0].store, args_here);
    OK(cu.cuGraphAddKernelNode(&first, graph, NULL, 0, &one)); /* not of this context */
    const CUDA_MEMCPY3D across = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .srcDevice = there,
                                  .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                  .dstDevice = here,
                                  .WidthInBytes = 4,
                                  .Height = 1,
                                  .Depth = 1};
    OK(cu.cuGraphAddMemcpyNode(&copy, graph, &first, 1, &across, contexts[0]));
    OK(cu.cuGraphAddKernelNode(&second, graph, &copy, 1, &two));
    CUDA_KERNEL_NODE_PARAMS params;
    OK(cu.cuGraphKernelNodeGetParams(first, &params));
    CHECK(params.ctx == contexts[1]);
    CUgraphExec exec = instantiate(graph);
    for (int d = 0; d < 2; d++) {
        use(0);
        OK(cu.cuMemsetD32(here, 0, 2));
        OK(cu.cuCtxSynchronize());
        CUstream stream;
        use(d);
        OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
        OK(cu.cuGraphLaunch(exec, stream));
        OK(cu.cuStreamSynchronize(stream));
        OK(cu.cuStreamDestroy(stream));
        use(0);
        OK(cu.cuMemcpyDtoH(&got, here, 4));
        CHECK(got == 5);
        OK(cu.cuMemcpyDtoH(&got, next, 4));
        CHECK(got == 6);
    }
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
}

/* ---- kernels ---- */

static void kernels_use_what_they_may(void)
{
    NEEDS_TWO();
    if (!can_access()) {
        SKIP("the devices are not peers");
        return;
    }
    unsigned got = 0;
    use(0);
    OK(cu.cuCtxEnablePeerAccess(contexts[1], 0));
    OK(store(0, words[1] + 128, 31));
    use(1);
    OK(cu.cuMemcpyDtoH(&got, words[1] + 128, 4));
    CHECK(got == 31);
    use(0);
    OK(cu.cuCtxDisablePeerAccess(contexts[1]));
}

/* A pool's memory: by device, and not by cuCtxEnablePeerAccess(). */
static void pools_name_their_devices(void)
{
    NEEDS_TWO();
    if (!can_access()) {
        SKIP("the devices are not peers");
        return;
    }
    const CUmemAccessDesc give = {{CU_MEM_LOCATION_TYPE_DEVICE, 0},
                                  CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemoryPool pool;
    CUdeviceptr memory;
    CUstream stream;
    unsigned got = 0;
    use(1);
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    OK(cu.cuMemPoolCreate(&pool, &props));
    OK(cu.cuMemPoolSetAccess(pool, &give, 1));
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuMemAllocFromPoolAsync(&memory, 4096, pool, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(store(0, memory, 41));
    use(1);
    OK(cu.cuMemcpyDtoH(&got, memory, 4));
    CHECK(got == 41);
    OK(cu.cuMemFreeAsync(memory, stream));
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuMemPoolDestroy(pool));
}

/* Faults below leave a dead context: the primary context of device 0 is reset. */
static void revive(void)
{
    OK(cu.cuDevicePrimaryCtxReset(0));
    set_up(0);
}

static void kernels_do_not_use_what_they_may_not(void)
{
    NEEDS_TWO();
    REFUSED(ILLEGAL_ADDRESS, store(0, words[1], 1));
    if (!driver_is_soft)
        return; /* to NVIDIA's driver the whole process has failed */
    revive();
    unsigned got = 1;
    use(1);
    OK(cu.cuMemcpyDtoH(&got, words[1] + 256, 4));
    CHECK(got == 0); /* device 1 goes on */
}

static void mappings_name_their_devices(void)
{
    NEEDS_TWO();
    if (!can_access()) {
        SKIP("the devices are not peers");
        return;
    }
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    CUmemAccessDesc give[] = {
        {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE},
        {{CU_MEM_LOCATION_TYPE_DEVICE, 1}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    size_t bytes = 0;
    CUdeviceptr range;
    CUmemGenericAllocationHandle handle;
    unsigned long long flags = 9;
    unsigned got = 0;
    use(1);
    OK(cu.cuMemGetAllocationGranularity(&bytes, &prop,
                                        CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    OK(cu.cuMemAddressReserve(&range, bytes, 0, 0, 0));
    OK(cu.cuMemCreate(&handle, bytes, &prop, 0));
    OK(cu.cuMemMap(range, bytes, 0, handle, 0));
    OK(cu.cuMemSetAccess(range, bytes, give, 2));
    OK(store(0, range, 51));
    use(1);
    OK(cu.cuMemcpyDtoH(&got, range, 4));
    CHECK(got == 51);
    give[0].flags = CU_MEM_ACCESS_FLAGS_PROT_NONE;
    OK(cu.cuMemSetAccess(range, bytes, give, 1));
    OK(cu.cuMemGetAccess(&flags, &give[0].location, range));
    CHECK(flags == 0);
    OK(cu.cuMemGetAccess(&flags, &give[1].location, range));
    CHECK(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (driver_is_soft) { /* it would be the end, see below */
        REFUSED(ILLEGAL_ADDRESS, store(0, range, 52));
        revive();
    }
    OK(store(1, range, 53));
    OK(cu.cuMemUnmap(range, bytes));
    OK(cu.cuMemRelease(handle));
    OK(cu.cuMemAddressFree(range, bytes));
}

static void run(void)
{
    int count = 0;
    if (!rule_listing) {
        OK(cu.cuDeviceGetCount(&count));
        two_devices = count > 1;
    }
    if (two_devices) {
        set_up(1);
        set_up(0);
    }
    RULE_TEST(M_peer_calls, access_is_enabled_and_disabled_once);
    RULE_TEST(M_peer_copies, copies_need_no_access);
    RULE_TEST(M_peer_fills, fills_need_access);
    RULE_TEST(M_peer_mappings, copies_between_mappings_need_access);
    RULE_TEST(M_peer_events, events_join_devices);
    RULE_TEST(R41, a_graph_runs_on_its_nodes_devices);
    RULE_TEST(M_peer_access, kernels_use_what_they_may);
    RULE_TEST(M_peer_access, pools_name_their_devices);
    RULE_TEST(M_peer_access, mappings_name_their_devices);
    RULE_TEST(M_peer_access, kernels_do_not_use_what_they_may_not); /* the last one */
}

int main(int argc, char **argv)
{
    (void)setenv("SOFTCUDA_DEVICES", "2", 0);
    return rule_main(argc, argv, run);
}

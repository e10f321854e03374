// SPDX-License-Identifier: Apache-2.0
/* Memory, pools and events of one process in another. Each test is two processes, forked
 * before either has a driver, that take turns by messages. The codes are an H100's
 * (driver 580.159, 2026-11-23); what its driver still opens of memory that was freed, or of
 * a process that has ended, is not asked. */
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

#define MIB ((size_t)1 << 20)
static int peer; /* the other process */
static const CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0};

/* ---- two processes --------------------------------------------------------------------- */

static void give(const void *data, size_t bytes, int file)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {.iov_base = (void *)(uintptr_t)data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (file >= 0) {
        message.msg_control = room;
        message.msg_controllen = sizeof(room);
        struct cmsghdr *head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(head), &file, sizeof(file));
    }
    CHECK(sendmsg(peer, &message, MSG_NOSIGNAL) == (ssize_t)bytes);
}

/* The descriptor that came with it, or -1. The other one has ended: nothing comes. */
static int take(void *data, size_t bytes)
{
    char room[CMSG_SPACE(sizeof(int))] = {0};
    struct iovec part = {.iov_base = data, .iov_len = bytes};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = room,
                             .msg_controllen = sizeof(room)};
    int file = -1;
    CHECK(recvmsg(peer, &message, 0) == (ssize_t)bytes);
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (head)
        memcpy(&file, CMSG_DATA(head), sizeof(file));
    return file;
}

/* Lets the other one go on, or waits until it does. */
static void turn(bool mine)
{
    char token = 't';
    if (mine)
        give(&token, 1, -1);
    else
        (void)take(&token, 1);
}

static pid_t start(void (*run)(void), int own, int other)
{
    fflush(NULL);
    const pid_t child = fork();
    if (child != 0)
        return child;
    const char *why = NULL;
    close(other);
    peer = own;
    atomic_store(&test_failures, 0);
    alarm(100);
    if (!driver_load(SOFTCUDA_PATH, &why) || !device_wanted())
        exit(77);
    use_primary();
    run();
    exit(atomic_load(&test_failures) ? 1 : 0);
}

/* False: there is no driver, or no device. */
static bool two(void (*exporter)(void), void (*importer)(void))
{
    int ends[2], status[2] = {0};
    if (!CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0))
        return true;
    const pid_t children[2] = {start(exporter, ends[0], ends[1]),
                               start(importer, ends[1], ends[0])};
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++)
        CHECK(waitpid(children[i], &status[i], 0) == children[i]);
    if (WIFEXITED(status[1]) && WEXITSTATUS(status[1]) == 77)
        return false;
    for (int i = 0; i < 2; i++)
        if (!CHECK(WIFEXITED(status[i]) && WEXITSTATUS(status[i]) == 0))
            fprintf(stderr, "  the %s ended with 0x%x\n", i ? "importer" : "exporter",
                    (unsigned)status[i]);
    return true;
}

/* ---- helpers --------------------------------------------------------------------------- */

static void fill(CUdeviceptr at, unsigned char value, size_t bytes)
{
    OK(cu.cuMemsetD8(at, value, bytes));
    OK(cu.cuCtxSynchronize());
}

static int byte_at(CUdeviceptr at)
{
    unsigned char value = 0;
    const CUresult result = cu.cuMemcpyDtoH(&value, at, 1);
    return result == CUDA_SUCCESS ? value : -(int)result;
}

static CUdeviceptr map(CUmemGenericAllocationHandle handle, size_t bytes)
{
    CUdeviceptr at = 0;
    const CUmemAccessDesc access = {.location = here,
                                    .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    OK(cu.cuMemAddressReserve(&at, bytes, 0, 0, 0));
    OK(cu.cuMemMap(at, bytes, 0, handle, 0));
    OK(cu.cuMemSetAccess(at, bytes, &access, 1));
    return at;
}

static void unmap(CUdeviceptr at, size_t bytes)
{
    OK(cu.cuMemUnmap(at, bytes));
    OK(cu.cuMemAddressFree(at, bytes));
}

static void *descriptor(int file)
{
    return (void *)(intptr_t)file;
}

#define FD CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

/* ---- cuMemCreate ----------------------------------------------------------------------- */

static void refuse_wrong_descriptors(CUresult (*import)(void *,
                                                        CUmemAllocationHandleType))
{
    int ends[2];
    CHECK(pipe(ends) == 0);
    const int memory = memfd_create("test", MFD_CLOEXEC);
    REFUSED(UNKNOWN, import(descriptor(-1), FD));
    REFUSED(UNKNOWN, import(descriptor(999), FD));
    REFUSED(UNKNOWN, import(descriptor(ends[0]), FD));
    REFUSED(UNKNOWN, import(descriptor(memory), FD));
    REFUSED(INVALID_VALUE, import(descriptor(0), FD));
    REFUSED(INVALID_VALUE, import(descriptor(memory), CU_MEM_HANDLE_TYPE_NONE));
    REFUSED(NOT_SUPPORTED, import(descriptor(memory), CU_MEM_HANDLE_TYPE_WIN32));
    close(memory);
    close(ends[0]);
    close(ends[1]);
}

static CUresult import_memory(void *from, CUmemAllocationHandleType type)
{
    CUmemGenericAllocationHandle handle;
    return cu.cuMemImportFromShareableHandle(&handle, from, type);
}

static void memory_exporter(void)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                .requestedHandleTypes = FD,
                                .location = here};
    CUmemGenericAllocationHandle handle = 0, plain = 0;
    int file = -1, other = -1;
    OK(cu.cuMemCreate(&handle, 4 * MIB, &prop, 0));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_WIN32;
    REFUSED(INVALID_VALUE, cu.cuMemCreate(&plain, 2 * MIB, &prop, 0));
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_NONE;
    OK(cu.cuMemCreate(&plain, 2 * MIB, &prop, 0));
    REFUSED(INVALID_VALUE, cu.cuMemExportToShareableHandle(&file, plain, FD, 0));
    OK(cu.cuMemRelease(plain));
    OK(cu.cuMemExportToShareableHandle(&file, handle, FD, 0));
    OK(cu.cuMemExportToShareableHandle(&other, handle, FD, 0));
    CHECK(file >= 0 && other >= 0 && file != other);
    CHECK(fcntl(file, F_GETFD) == FD_CLOEXEC);
    REFUSED(INVALID_VALUE, cu.cuMemExportToShareableHandle(&other, handle, FD, 1));
    REFUSED(INVALID_VALUE, cu.cuMemExportToShareableHandle(&other, handle,
                                                           CU_MEM_HANDLE_TYPE_FABRIC, 0));
    REFUSED(INVALID_VALUE, cu.cuMemExportToShareableHandle(NULL, handle, FD, 0));
    const CUdeviceptr at = map(handle, 4 * MIB);
    unsigned long long types = 0;
    OK(cu.cuPointerGetAttribute(&types, CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, at));
    CHECK(types == FD);
    fill(at, 7, 4 * MIB);
    give("m", 1, file);
    turn(false);
    CHECK(byte_at(at + 4 * MIB - 1) == 22);
    unmap(at, 4 * MIB);
    OK(cu.cuMemRelease(handle));
    close(file);
    close(other);
}

static void memory_importer(void)
{
    char token;
    CUmemGenericAllocationHandle handle = 0, again = 0, kept = 0;
    CUmemAllocationProp prop;
    refuse_wrong_descriptors(import_memory);
    int other, file = take(&token, 1);
    OK(cu.cuMemImportFromShareableHandle(&handle, descriptor(file), FD));
    OK(cu.cuMemImportFromShareableHandle(&again, descriptor(file), FD));
    CHECK(handle != again);
    close(file);
    OK(cu.cuMemGetAllocationPropertiesFromHandle(&prop, handle));
    CHECK(prop.type == CU_MEM_ALLOCATION_TYPE_PINNED && prop.location.id == 0 &&
          prop.requestedHandleTypes == CU_MEM_HANDLE_TYPE_NONE);
    REFUSED(INVALID_VALUE, cu.cuMemExportToShareableHandle(&other, handle, FD, 0));
    const CUdeviceptr at = map(handle, 4 * MIB), twin = map(again, 4 * MIB);
    OK(cu.cuMemRetainAllocationHandle(&kept, (void *)(uintptr_t)twin));
    CHECK(kept == again);
    OK(cu.cuMemRelease(kept));
    CHECK(byte_at(at) == 7 && byte_at(twin + 4 * MIB - 1) == 7);
    fill(at + 4 * MIB - 1, 22, 1);
    CHECK(byte_at(twin + 4 * MIB - 1) == 22);
    OK(cu.cuMemRelease(again));
    unmap(twin, 4 * MIB);
    turn(true);
    char end;
    CHECK(recv(peer, &end, 1, 0) == 0); /* the other one has ended */
    CHECK(byte_at(at) == 7);
    unmap(at, 4 * MIB);
    OK(cu.cuMemRelease(handle));
    REFUSED(INVALID_VALUE, cu.cuMemRelease(handle));
}

static void created_memory_is_shared_by_a_descriptor(void)
{
    CHECK(two(memory_exporter, memory_importer));
}

/* ---- cuIpc: memory --------------------------------------------------------------------- */

static void ipc_exporter(void)
{
    CUipcMemHandle handles[2], inside;
    CUdeviceptr big = 0, small = 0, managed = 0, opened = 0;
    void *host = NULL;
    int capable = -1;
    OK(cu.cuMemAlloc(&big, 8 * MIB));
    OK(cu.cuMemAlloc(&small, 4096));
    OK(cu.cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
    OK(cu.cuMemHostAlloc(&host, 4096, 0));
    OK(cu.cuIpcGetMemHandle(&handles[0], big));
    OK(cu.cuIpcGetMemHandle(&handles[1], small));
    OK(cu.cuIpcGetMemHandle(&inside, big + 4096));
    CHECK(memcmp(&inside, &handles[0], sizeof(inside)) == 0);
    CHECK(memcmp(&handles[0], &handles[1], sizeof(inside)) != 0);
    REFUSED(INVALID_VALUE, cu.cuIpcGetMemHandle(&inside, 0));
    REFUSED(INVALID_VALUE, cu.cuIpcGetMemHandle(&inside, managed));
    REFUSED(INVALID_VALUE, cu.cuIpcGetMemHandle(&inside, (CUdeviceptr)(uintptr_t)host));
    REFUSED(INVALID_VALUE, cu.cuIpcGetMemHandle(NULL, big));
    REFUSED(INVALID_CONTEXT, cu.cuIpcOpenMemHandle(&opened, handles[0], 1));
    REFUSED(INVALID_VALUE, cu.cuIpcCloseMemHandle(big));
    OK(cu.cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE,
                                big));
    CHECK(capable == 1);
    fill(big, 5, 8 * MIB);
    fill(small, 6, 4096);
    give(handles, sizeof(handles), -1);
    turn(false);
    CHECK(byte_at(big + 8 * MIB - 1) == 42);
    OK(cu.cuMemFree(big));
    turn(true);
    turn(false);
    OK(cu.cuMemFreeHost(host));
    OK(cu.cuMemFree(managed)); /* and ends with `small` allocated */
}

static void ipc_importer(void)
{
    CUipcMemHandle handles[2], wrong = {0};
    CUdeviceptr big = 0, again = 0, small = 0, base = 0, mine = 0;
    size_t bytes = 0;
    char end;
    (void)take(handles, sizeof(handles));
    OK(cu.cuMemAlloc(&mine, 64));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(&big, handles[0], 0));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(&big, handles[0], 2));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(NULL, handles[0], 1));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(&big, wrong, 1));
    OK(cu.cuIpcOpenMemHandle(&big, handles[0], 1));
    OK(cu.cuIpcOpenMemHandle(&again, handles[0], 1));
    CHECK(big == again);
    OK(cu.cuIpcOpenMemHandle(&small, handles[1], 1));
    CHECK(byte_at(big) == 5 && byte_at(small) == 6);
    OK(cu.cuMemGetAddressRange(&base, &bytes, small + 100));
    CHECK(base == small && bytes == 4096);
    REFUSED(INVALID_VALUE, cu.cuIpcGetMemHandle(&wrong, big));
    REFUSED(INVALID_VALUE, cu.cuMemFree(big));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(big, NULL));
    REFUSED(INVALID_VALUE, cu.cuIpcCloseMemHandle(big + 512));
    REFUSED(INVALID_VALUE, cu.cuIpcCloseMemHandle(mine));
    REFUSED(INVALID_VALUE, cu.cuIpcCloseMemHandle(0));
    fill(big + 8 * MIB - 1, 42, 1);
    turn(true);
    turn(false);
    OK(cu.cuIpcCloseMemHandle(big));
    CHECK(byte_at(big) >= 0); /* opened twice */
    OK(cu.cuIpcCloseMemHandle(again));
    REFUSED(INVALID_VALUE, cu.cuIpcCloseMemHandle(big));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(&big, handles[0], 1)); /* freed */
    turn(true);
    CHECK(recv(peer, &end, 1, 0) == 0);
    CHECK(byte_at(small) == 6);
    fill(small, 9, 64);
    CHECK(byte_at(small + 63) == 9);
    OK(cu.cuIpcCloseMemHandle(small));
    if (driver_is_soft) /* an H100 may have it still */
        REFUSED(INVALID_VALUE, cu.cuIpcOpenMemHandle(&small, handles[1], 1));
    OK(cu.cuMemFree(mine));
}

static void allocations_are_opened_by_a_handle(void)
{
    CHECK(two(ipc_exporter, ipc_importer));
}

/* ---- events ---------------------------------------------------------------------------- */

static int gate[2];

static void wait_at_gate(void *user)
{
    char token;
    (void)user;
    CHECK(read(gate[0], &token, 1) == 1);
}

static CUstream blocked_stream(void)
{
    CUstream stream = NULL;
    CHECK(pipe(gate) == 0);
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuLaunchHostFunc(stream, wait_at_gate, NULL));
    return stream;
}

enum { SHARED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };

/* As nodes a capture takes them, as its own edges not. */
static void capture_the_event(CUevent event)
{
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuEventRecord(event, stream));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuStreamWaitEvent(stream, event, 0));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cu.cuStreamWaitEvent(stream, event, CU_EVENT_WAIT_EXTERNAL));
    OK(cu.cuEventRecordWithFlags(event, stream, CU_EVENT_RECORD_EXTERNAL));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuEventQuery(event));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamDestroy(stream));
}

static void event_exporter(void)
{
    CUevent event = NULL, plain = NULL, other = NULL;
    CUipcEventHandle handle, again;
    REFUSED(INVALID_VALUE, cu.cuEventCreate(&event, CU_EVENT_INTERPROCESS));
    OK(cu.cuEventCreate(&event, SHARED));
    OK(cu.cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    OK(cu.cuIpcGetEventHandle(&handle, event));
    OK(cu.cuIpcGetEventHandle(&again, event));
    CHECK(memcmp(&handle, &again, sizeof(handle)) == 0);
    REFUSED(INVALID_HANDLE, cu.cuIpcGetEventHandle(&again, plain));
    REFUSED(INVALID_VALUE, cu.cuIpcGetEventHandle(&again, NULL));
    REFUSED(INVALID_VALUE, cu.cuIpcGetEventHandle(NULL, event));
    REFUSED(INVALID_CONTEXT, cu.cuIpcOpenEventHandle(&other, handle));
    give(&handle, sizeof(handle), -1);
    turn(false);
    CUstream stream = blocked_stream();
    OK(cu.cuEventRecord(event, stream));
    turn(true);
    turn(false);
    CHECK(cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    CHECK(write(gate[1], "g", 1) == 1);
    OK(cu.cuEventSynchronize(event));
    turn(true);
    turn(false); /* the other one has recorded it after its own work */
    CHECK(cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    OK(cu.cuStreamWaitEvent(stream, event, 0));
    CHECK(cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    turn(true);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuEventQuery(event));
    capture_the_event(event);
    OK(cu.cuStreamDestroy(stream));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuEventDestroy(plain));
}

static void event_importer(void)
{
    CUevent event = NULL, twin = NULL;
    CUipcEventHandle handle, wrong = {0};
    char end;
    (void)take(&handle, sizeof(handle));
    REFUSED(MAP_FAILED, cu.cuIpcOpenEventHandle(&event, wrong));
    REFUSED(INVALID_VALUE, cu.cuIpcOpenEventHandle(NULL, handle));
    OK(cu.cuIpcOpenEventHandle(&event, handle));
    OK(cu.cuIpcOpenEventHandle(&twin, handle));
    CHECK(event != twin);
    REFUSED(INVALID_HANDLE, cu.cuIpcGetEventHandle(&wrong, event));
    OK(cu.cuEventQuery(event)); /* never recorded */
    OK(cu.cuEventDestroy(twin));
    turn(true);
    turn(false);
    CUstream stream = NULL;
    OK(cu.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CHECK(cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY);
    OK(cu.cuStreamWaitEvent(stream, event, 0));
    CHECK(cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    turn(true);
    turn(false);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuEventSynchronize(event));
    OK(cu.cuStreamDestroy(stream));
    stream = blocked_stream();
    OK(cu.cuEventRecord(event, stream));
    turn(true);
    turn(false);
    CHECK(write(gate[1], "g", 1) == 1);
    OK(cu.cuStreamSynchronize(stream));
    CHECK(recv(peer, &end, 1, 0) == 0);
    OK(cu.cuEventQuery(event)); /* of a process that has ended well */
    OK(cu.cuEventRecord(event, stream));
    OK(cu.cuEventSynchronize(event));
    OK(cu.cuEventDestroy(event));
    OK(cu.cuStreamDestroy(stream));
}

static void events_order_two_processes(void)
{
    CHECK(two(event_exporter, event_importer));
}

/* ---- pools ----------------------------------------------------------------------------- */

static CUmemoryPool make_pool(int types)
{
    CUmemoryPool pool = NULL;
    const CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                  .handleTypes = (CUmemAllocationHandleType)types,
                                  .location = here};
    OK(cu.cuMemPoolCreate(&pool, &props));
    return pool;
}

static CUresult import_pool(void *from, CUmemAllocationHandleType type)
{
    CUmemoryPool pool;
    return cu.cuMemPoolImportFromShareableHandle(&pool, from, type, 0);
}

static void pool_exporter(void)
{
    CUmemoryPool pool = make_pool(FD), plain = make_pool(0);
    CUmemPoolPtrExportData data[2], other;
    CUdeviceptr small = 0, large = 0, unshared = 0, own = 0;
    int file = -1;
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(&file, plain, FD, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(&file, pool, FD, 1));
    OK(cu.cuMemPoolExportToShareableHandle(&file, pool, FD, 0));
    OK(cu.cuMemAllocFromPoolAsync(&small, 4096, pool, NULL));
    OK(cu.cuMemAllocFromPoolAsync(&large, 3 * MIB, pool, NULL));
    OK(cu.cuMemAllocFromPoolAsync(&unshared, 64, plain, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    fill(small, 1, 4096);
    fill(large, 2, 3 * MIB);
    OK(cu.cuMemPoolExportPointer(&data[0], small));
    OK(cu.cuMemPoolExportPointer(&data[1], large));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportPointer(&other, large + 4096));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportPointer(&other, unshared));
    REFUSED(INVALID_VALUE, cu.cuMemPoolImportPointer(&own, pool, &data[0]));
    give(data, sizeof(data), file);
    turn(false);
    CHECK(byte_at(large + 3 * MIB - 1) == 99);
    OK(cu.cuMemFreeAsync(small, NULL)); /* the other one has let it go */
    OK(cu.cuMemFreeAsync(unshared, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    OK(cu.cuMemPoolDestroy(pool)); /* with `large` allocated */
    OK(cu.cuMemPoolDestroy(plain));
    close(file);
}

static void refuse_what_imports_lack(CUmemoryPool pool)
{
    CUdeviceptr at = 0;
    uint64_t value = 0;
    int file = -1;
    CUmemAccess_flags access = 0;
    CUmemLocation place = here;
    REFUSED(INVALID_VALUE, cu.cuMemAllocFromPoolAsync(&at, 64, pool, NULL));
    REFUSED(INVALID_VALUE, cu.cuDeviceSetMemPool(0, pool));
    REFUSED(INVALID_VALUE, cu.cuMemPoolTrimTo(pool, 0));
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportToShareableHandle(&file, pool, FD, 0));
    for (int i = CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES;
         i <= CU_MEMPOOL_ATTR_USED_MEM_HIGH; i++)
        REFUSED(INVALID_VALUE,
                cu.cuMemPoolGetAttribute(pool, (CUmemPool_attribute)i, &value));
    OK(cu.cuMemPoolGetAccess(&access, pool, &place));
    CHECK(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
}

static void pool_importer(void)
{
    CUmemPoolPtrExportData data[2], wrong;
    CUmemoryPool pool = NULL, again = NULL, of = NULL;
    CUmemGenericAllocationHandle handle;
    CUdeviceptr small = 0, twin = 0, large = 0, base = 0;
    size_t bytes = 0;
    char end;
    const int file = take(data, sizeof(data));
    refuse_wrong_descriptors(import_pool);
    REFUSED(INVALID_VALUE,
            cu.cuMemPoolImportFromShareableHandle(&pool, descriptor(file), FD, 1));
    REFUSED(NOT_SUPPORTED,
            cu.cuMemImportFromShareableHandle(&handle, descriptor(file), FD));
    OK(cu.cuMemPoolImportFromShareableHandle(&pool, descriptor(file), FD, 0));
    OK(cu.cuMemPoolImportFromShareableHandle(&again, descriptor(file), FD, 0));
    CHECK(pool == again);
    close(file);
    refuse_what_imports_lack(pool);
    OK(cu.cuMemPoolImportPointer(&small, pool, &data[0]));
    OK(cu.cuMemPoolImportPointer(&large, pool, &data[1]));
    memset(&wrong, 0, sizeof(wrong));
    REFUSED(INVALID_VALUE, cu.cuMemPoolImportPointer(&twin, pool, &wrong));
    CUmemoryPool mine = make_pool(FD);
    REFUSED(INVALID_VALUE, cu.cuMemPoolImportPointer(&twin, mine, &data[0]));
    OK(cu.cuMemPoolDestroy(mine));
    CHECK(byte_at(small) == 1 && byte_at(large) == 2);
    OK(cu.cuMemGetAddressRange(&base, &bytes, large + 1));
    CHECK(base == large && bytes == 3 * MIB);
    OK(cu.cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, large));
    CHECK(of == pool);
    REFUSED(INVALID_VALUE, cu.cuMemPoolExportPointer(&wrong, large));
    fill(large + 3 * MIB - 1, 99, 1);
    OK(cu.cuMemFreeAsync(small, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    turn(true);
    CHECK(recv(peer, &end, 1, 0) == 0);
    CHECK(byte_at(large) == 2); /* its process has ended */
    REFUSED(INVALID_VALUE, cu.cuMemPoolDestroy(pool));
    OK(cu.cuMemFreeAsync(large, NULL));
    OK(cu.cuStreamSynchronize(NULL));
    REFUSED(INVALID_VALUE, cu.cuMemFreeAsync(large, NULL));
}

static void pools_and_their_pointers_are_shared(void)
{
    CHECK(two(pool_exporter, pool_importer));
}

/* ---- a process that dies --------------------------------------------------------------- */

static void dying_exporter(void)
{
    CUdeviceptr at = 0;
    CUevent event = NULL;
    struct {
        CUipcMemHandle memory;
        CUipcEventHandle event;
    } handles;
    OK(cu.cuMemAlloc(&at, 4096));
    OK(cu.cuEventCreate(&event, SHARED));
    OK(cu.cuIpcGetMemHandle(&handles.memory, at));
    OK(cu.cuIpcGetEventHandle(&handles.event, event));
    fill(at, 3, 4096);
    give(&handles, sizeof(handles), -1);
    turn(false);
    OK(cu.cuEventRecord(event, blocked_stream()));
    turn(true);
    turn(false);
    fflush(NULL);
    _exit(atomic_load(&test_failures)
              ? 1
              : 0); /* in the middle of its work, as if it were killed */
}

static void survivor(void)
{
    struct {
        CUipcMemHandle memory;
        CUipcEventHandle event;
    } handles;
    CUdeviceptr at = 0;
    CUevent event = NULL;
    char end;
    (void)take(&handles, sizeof(handles));
    OK(cu.cuIpcOpenMemHandle(&at, handles.memory, 1));
    OK(cu.cuIpcOpenEventHandle(&event, handles.event));
    turn(true);
    turn(false);
    turn(true);
    CHECK(recv(peer, &end, 1, 0) == 0);
    usleep(200000);
    CHECK(byte_at(at) == 3);
    CHECK(cu.cuEventQuery(event) == CUDA_ERROR_NOT_READY); /* forever */
    OK(cu.cuIpcCloseMemHandle(at));
    OK(cu.cuEventDestroy(event));
}

static void the_end_of_a_process_leaves_the_other_well(void)
{
    CHECK(two(dying_exporter, survivor));
}

static void nobody(void) {}

int main(void)
{
    if (!two(nobody, nobody)) {
        printf("no driver or no device\n");
        return 77;
    }
    RUN(created_memory_is_shared_by_a_descriptor);
    RUN(allocations_are_opened_by_a_handle);
    RUN(events_order_two_processes);
    RUN(pools_and_their_pointers_are_shared);
    RUN(the_end_of_a_process_leaves_the_other_well);
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* External memory and semaphores. softcuda takes files that any process of the CPU can make:
 * memory is a file that can be mapped, a semaphore an eventfd or 8 bytes of a file. Which of
 * them NVIDIA's driver takes is its own matter; there, what it refuses is asked. */
#include <fcntl.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "driver.h"

#define MIB ((size_t)1 << 20)
#define OPAQUE_FD CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD
#define EVENT CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD
#define TIMELINE CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD

#define SOFT_ONLY()                                                                      \
    do {                                                                                 \
        if (!driver_is_soft)                                                             \
            SKIP("NVIDIA's driver takes its own files alone");                           \
    } while (0)

static CUstream stream;

/* A file of `bytes`, and where this process sees it. */
static int new_file(const char *name, size_t bytes, unsigned char **seen)
{
    const int file = memfd_create(name, MFD_CLOEXEC);
    CHECK(file >= 0 && ftruncate(file, (off_t)bytes) == 0);
    *seen = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    CHECK(*seen != MAP_FAILED);
    return file;
}

static CUresult import(int file, size_t bytes, unsigned flags, CUexternalMemory *out)
{
    const CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {
        .type = OPAQUE_FD, .handle.fd = file, .size = bytes, .flags = flags};
    return cu.cuImportExternalMemory(out, &desc);
}

static CUresult map(CUexternalMemory memory, size_t offset, size_t bytes,
                    CUdeviceptr *out)
{
    const CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.offset = offset, .size = bytes};
    return cu.cuExternalMemoryGetMappedBuffer(out, memory, &desc);
}

/* ---- memory ---------------------------------------------------------------------------- */

static void a_file_is_memory_of_the_device(void)
{
    unsigned char *seen;
    CUexternalMemory memory;
    CUdeviceptr all = 0, part = 0, base = 0;
    size_t bytes = 0;
    unsigned char got[4];
    SOFT_ONLY();
    const int file = new_file("external", 3 * MIB, &seen);
    OK(import(file, 3 * MIB, 0, &memory));
    OK(map(memory, 0, 3 * MIB, &all));
    OK(map(memory, 2 * MIB + 4096, 4096, &part));
    OK(cu.cuMemsetD8(all, 7, 3 * MIB));
    OK(cu.cuMemsetD8(part, 9, 100));
    OK(cu.cuCtxSynchronize());
    CHECK(seen[0] == 7 && seen[3 * MIB - 1] == 7 && seen[2 * MIB + 4096] == 9);
    memcpy(seen + 2 * MIB + 4096, "host", 4);
    OK(cu.cuMemcpyDtoH(got, part, 4));
    CHECK(memcmp(got, "host", 4) == 0);
    OK(cu.cuMemGetAddressRange(&base, &bytes, part + 17));
    CHECK(base == part && bytes == 4096);
    OK(cu.cuDestroyExternalMemory(memory)); /* what is mapped stays */
    OK(cu.cuMemcpyDtoH(got, all, 1));
    CHECK(got[0] == 7);
    REFUSED(INVALID_VALUE, cu.cuMemFree(part + 256));
    OK(cu.cuMemFree(part));
    OK(cu.cuMemFree(all));
    REFUSED(INVALID_VALUE, cu.cuMemFree(all));
    CHECK(fcntl(file, F_GETFD) < 0); /* the driver has closed it */
    munmap(seen, 3 * MIB);
}

static void ranges_and_files_are_judged(void)
{
    unsigned char *seen;
    CUexternalMemory memory = NULL, untouched = NULL;
    CUdeviceptr at = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = 4096, .flags = 1};
    SOFT_ONLY();
    const int file = new_file("external", MIB, &seen);
    REFUSED(UNKNOWN, import(-1, 4096, 0, &untouched));
    REFUSED(UNKNOWN, import(file, MIB + 1, 0, &untouched));
    REFUSED(INVALID_VALUE, import(file, 0, 0, &untouched));
    REFUSED(INVALID_VALUE, import(file, MIB, 2, &untouched));
    const int null = open("/dev/null", O_RDWR);
    REFUSED(UNKNOWN, import(null, 4096, 0, &untouched));
    close(null);
    CHECK(!untouched);
    OK(import(file, MIB - 1, 0, &memory));
    REFUSED(INVALID_VALUE, map(memory, 0, 0, &at));
    REFUSED(INVALID_VALUE, map(memory, 0, MIB, &at));
    REFUSED(INVALID_VALUE, map(memory, MIB, 1, &at));
    REFUSED(INVALID_VALUE, map(memory, UINT64_MAX, 2, &at));
    REFUSED(INVALID_VALUE, cu.cuExternalMemoryGetMappedBuffer(&at, memory, &desc));
    CHECK(at == 0);
    OK(map(memory, MIB - 4096, 4095, &at));
    OK(cu.cuMemFree(at));
    OK(cu.cuDestroyExternalMemory(memory));
    munmap(seen, MIB);
}

static int export_created(CUmemGenericAllocationHandle *created)
{
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                      .requestedHandleTypes =
                                          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
    int file = -1;
    OK(cu.cuMemCreate(created, 2 * MIB, &prop, 0));
    OK(cu.cuMemExportToShareableHandle(&file, *created,
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return file;
}

/* The file that both drivers take: cuMemCreate()'s. All of this was asked of an H200. */
static void created_memory_is_imported(void)
{
    CUmemGenericAllocationHandle created;
    CUexternalMemory memory = NULL;
    CUdeviceptr at = 0, part = 0, base = 0;
    CUDA_EXTERNAL_MEMORY_BUFFER_DESC desc = {.size = 4096, .flags = 1};
    size_t bytes = 0;
    unsigned got = 0;
    const int file = export_created(&created);
    REFUSED(INVALID_VALUE, import(file, 0, 0, &memory));
    REFUSED(INVALID_VALUE, import(file, 2 * MIB, 2, &memory));
    OK(import(file, 2 * MIB, 0, &memory));
    CHECK(fcntl(file, F_GETFD) < 0); /* the driver's now */
    OK(map(memory, 0, 2 * MIB, &at));
    OK(map(memory, 65536, 65536, &part));
    OK(cu.cuMemsetD32(at, 0x1234567, MIB / 2));
    OK(cu.cuMemcpyDtoH(&got, part, 4));
    CHECK(got == 0x1234567);
    OK(cu.cuMemGetAddressRange(&base, &bytes, part));
    CHECK(base == part && bytes == 65536);
    REFUSED(INVALID_VALUE, map(memory, 0, 0, &base));
    REFUSED(INVALID_VALUE, map(memory, 0, 2 * MIB + 1, &base));
    REFUSED(INVALID_VALUE, map(memory, 2 * MIB, 1, &base));
    REFUSED(INVALID_VALUE, cu.cuExternalMemoryGetMappedBuffer(&base, memory, &desc));
    REFUSED(INVALID_VALUE, cu.cuExternalMemoryGetMappedBuffer(&base, memory, NULL));
    REFUSED(INVALID_VALUE, map(NULL, 0, 4096, &base));
    OK(cu.cuMemFree(part));
    OK(cu.cuMemFree(at));
    OK(cu.cuDestroyExternalMemory(memory));
    OK(cu.cuMemRelease(created));
}

/* Dedicated memory is one buffer, from its begin on. */
static void dedicated_memory_has_one_begin(void)
{
    CUmemGenericAllocationHandle created;
    CUexternalMemory memory = NULL;
    CUdeviceptr at = 0;
    const int file = export_created(&created);
    OK(import(file, 2 * MIB, CUDA_EXTERNAL_MEMORY_DEDICATED, &memory));
    REFUSED(INVALID_VALUE, map(memory, 65536, 65536, &at));
    OK(map(memory, 0, 2 * MIB, &at));
    OK(cu.cuMemFree(at));
    OK(cu.cuDestroyExternalMemory(memory));
    OK(cu.cuMemRelease(created));
}

static void no_type_but_a_file_is_taken(void)
{
    static const CUresult semaphores[] = {1, 999, 801, 801, 801, 801,
                                          1, 801, 801, 1,   801, 1};
    CUexternalMemory memory = NULL;
    CUexternalSemaphore semaphore = NULL;
    for (unsigned type = 0; type < 11; type++) {
        CUDA_EXTERNAL_MEMORY_HANDLE_DESC desc = {.type = (CUexternalMemoryHandleType)type,
                                                 .size = 4096};
        if (type != 9) /* 9 of a file: NOT_SUPPORTED */
            desc.handle.fd = type == 1 ? -1 : 0;
        CHECK_IS(cu.cuImportExternalMemory(&memory, &desc),
                 type == 1   ? CUDA_ERROR_UNKNOWN
                 : type == 9 ? CUDA_ERROR_NOT_SUPPORTED
                             : CUDA_ERROR_INVALID_VALUE);
    }
    for (unsigned type = 0; type < 12; type++) {
        CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
            .type = (CUexternalSemaphoreHandleType)type};
        desc.handle.fd = type == 6 ? 0 : -1;
        CHECK_IS(cu.cuImportExternalSemaphore(&semaphore, &desc), semaphores[type]);
    }
    REFUSED(INVALID_VALUE, cu.cuImportExternalMemory(&memory, NULL));
    REFUSED(INVALID_VALUE, cu.cuImportExternalSemaphore(&semaphore, NULL));
    REFUSED(INVALID_VALUE, cu.cuDestroyExternalMemory(NULL));
    REFUSED(INVALID_VALUE, cu.cuDestroyExternalSemaphore(NULL));
    REFUSED(INVALID_VALUE, cu.cuSignalExternalSemaphoresAsync(NULL, NULL, 0, stream));
    REFUSED(INVALID_VALUE, cu.cuWaitExternalSemaphoresAsync(NULL, NULL, 0, stream));
    CHECK(!memory && !semaphore);
}

/* A node may have no semaphores; in a stream that is an error, which a capture survives. */
static void nodes_without_semaphores_do_nothing(void)
{
    const CUDA_EXT_SEM_SIGNAL_NODE_PARAMS none = {NULL, NULL, 0};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS nothing = {NULL, NULL, 0};
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS got = {NULL, NULL, 9};
    CUDA_EXT_SEM_WAIT_NODE_PARAMS other;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode signal, wait;
    size_t count = 9;
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddExternalSemaphoresSignalNode(&signal, graph, NULL, 0, &none));
    OK(cu.cuGraphAddExternalSemaphoresWaitNode(&wait, graph, &signal, 1, &nothing));
    OK(cu.cuGraphExternalSemaphoresSignalNodeGetParams(signal, &got));
    CHECK(got.numExtSems == 0);
    OK(cu.cuGraphExternalSemaphoresSignalNodeSetParams(signal, &none));
    REFUSED(INVALID_VALUE, cu.cuGraphExternalSemaphoresWaitNodeGetParams(signal, &other));
    REFUSED(INVALID_VALUE,
            cu.cuGraphAddExternalSemaphoresSignalNode(&signal, graph, NULL, 0, NULL));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    REFUSED(INVALID_VALUE, cu.cuGraphNodeSetEnabled(exec, signal, 0));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(INVALID_VALUE, cu.cuSignalExternalSemaphoresAsync(NULL, NULL, 0, stream));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphGetNodes(graph, NULL, &count));
    CHECK(count == 0);
    OK(cu.cuGraphDestroy(graph));
}

static void nothing_is_imported_in_a_capture(void)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {.type = EVENT, .handle.fd = -1};
    CUexternalMemory memory;
    CUexternalSemaphore semaphore;
    CUgraph graph;
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, import(-1, 4096, 0, &memory));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    REFUSED(STREAM_CAPTURE_UNSUPPORTED, cu.cuImportExternalSemaphore(&semaphore, &desc));
    REFUSED(STREAM_CAPTURE_INVALIDATED, cu.cuStreamEndCapture(stream, &graph));
}

/* Without OpenGL and its like nothing can be registered. */
static void there_are_no_graphics_resources(void)
{
    CUgraphicsResource none = NULL;
    CUdeviceptr at;
    CUarray array;
    CUmipmappedArray levels;
    size_t bytes;
    REFUSED(INVALID_VALUE, cu.cuGraphicsMapResources(0, NULL, NULL));
    REFUSED(INVALID_VALUE, cu.cuGraphicsUnmapResources(1, NULL, NULL));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsMapResources(1, &none, NULL));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsUnmapResources(1, &none, NULL));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsUnregisterResource(NULL));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsResourceGetMappedPointer(&at, &bytes, NULL));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsResourceSetMapFlags(NULL, 77));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsSubResourceGetMappedArray(&array, NULL, 0, 0));
    REFUSED(INVALID_HANDLE, cu.cuGraphicsResourceGetMappedMipmappedArray(&levels, NULL));
    REFUSED(INVALID_HANDLE, cu.cuDeviceGetNvSciSyncAttributes(NULL, 0, 1));
    REFUSED(NOT_SUPPORTED, cu.cuDeviceGetNvSciSyncAttributes(&bytes, 0, 1));
}

/* One of Mesa's has a head. */
static void files_of_mesa_begin_at_their_bytes(void)
{
    CUexternalMemory memory;
    CUdeviceptr at = 0;
    unsigned char *seen;
    SOFT_ONLY();
    const int mesa = new_file("llvmpipe memory fd", MIB + 4096, &seen);
    const uint64_t head[2] = {MIB + 4096, 4096};
    memcpy(seen, head, sizeof(head));
    REFUSED(UNKNOWN, import(mesa, MIB + 1, 0, &memory));
    OK(import(mesa, MIB, 0, &memory));
    OK(map(memory, 0, MIB, &at));
    OK(cu.cuMemsetD8(at, 5, MIB));
    OK(cu.cuCtxSynchronize());
    CHECK(memcmp(seen, head, sizeof(head)) == 0 && seen[4096] == 5 &&
          seen[MIB + 4095] == 5);
    OK(cu.cuMemFree(at));
    OK(cu.cuDestroyExternalMemory(memory));
    munmap(seen, MIB + 4096);
}

static void arrays_lie_in_external_memory(void)
{
    CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC desc = {
        .offset = 4096,
        .arrayDesc = {.Width = 64,
                      .Height = 32,
                      .Format = CU_AD_FORMAT_UNSIGNED_INT8,
                      .NumChannels = 1},
        .numLevels = 3};
    CUexternalMemory memory;
    CUmipmappedArray levels = NULL;
    CUarray level;
    unsigned char row[64], *seen;
    SOFT_ONLY();
    const int file = new_file("external", MIB, &seen);
    memset(row, 3, sizeof(row));
    OK(import(file, MIB, 0, &memory));
    OK(cu.cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &desc));
    OK(cu.cuMipmappedArrayGetLevel(&level, levels, 1));
    OK(cu.cuMemcpyHtoA(level, 0, row, 32));
    OK(cu.cuCtxSynchronize());
    CHECK(seen[4096 + 32 * 256] == 3 && seen[4096 + 32 * 256 + 31] == 3 &&
          seen[4096 + 32 * 256 + 32] == 0);
    OK(cu.cuMipmappedArrayGetLevel(&level, levels, 2));
    REFUSED(INVALID_VALUE, cu.cuMipmappedArrayGetLevel(&level, levels, 3));
    desc.offset = MIB - 4096;
    REFUSED(INVALID_VALUE,
            cu.cuExternalMemoryGetMappedMipmappedArray(&levels, memory, &desc));
    OK(cu.cuDestroyExternalMemory(memory));
    OK(cu.cuMemcpyHtoA(level, 0, row, 16));
    OK(cu.cuMipmappedArrayDestroy(levels));
    munmap(seen, MIB);
}

/* ---- semaphores ------------------------------------------------------------------------ */

static CUresult import_semaphore(int type, int file, CUexternalSemaphore *out)
{
    const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC desc = {
        .type = (CUexternalSemaphoreHandleType)type, .handle.fd = file};
    return cu.cuImportExternalSemaphore(out, &desc);
}

static CUresult signal_one(CUexternalSemaphore semaphore, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.params.fence.value = value};
    return cu.cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream);
}

static CUresult wait_one(CUexternalSemaphore semaphore, uint64_t value)
{
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS params = {.params.fence.value = value};
    return cu.cuWaitExternalSemaphoresAsync(&semaphore, &params, 1, stream);
}

static uint64_t taken(int event)
{
    uint64_t value = 0;
    return read(event, &value, sizeof(value)) == (ssize_t)sizeof(value) ? value : 0;
}

static void add(int event, uint64_t value)
{
    CHECK(write(event, &value, sizeof(value)) == (ssize_t)sizeof(value));
}

/* `event` is this process' own descriptor of it. */
static CUexternalSemaphore new_event(int *event)
{
    CUexternalSemaphore semaphore = NULL;
    *event = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    OK(import_semaphore(EVENT, dup(*event), &semaphore));
    return semaphore;
}

static void an_eventfd_is_signaled_and_waited_for(void)
{
    int event;
    SOFT_ONLY();
    CUexternalSemaphore semaphore = new_event(&event);
    OK(wait_one(semaphore, 0));
    CHECK(cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    add(event, 1);
    OK(cu.cuStreamSynchronize(stream));
    OK(signal_one(semaphore, 0));
    OK(signal_one(semaphore, 0));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(taken(event) == 1);
    OK(wait_one(semaphore, 0)); /* the second */
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuDestroyExternalSemaphore(semaphore));
    REFUSED(INVALID_VALUE, cu.cuDestroyExternalSemaphore(semaphore));
    REFUSED(INVALID_VALUE, signal_one(semaphore, 0));
    close(event);
}

static void a_timeline_is_eight_bytes_of_a_file(void)
{
    unsigned char *seen;
    CUexternalSemaphore semaphore;
    SOFT_ONLY();
    const int file = new_file("timeline", 4096, &seen);
    uint64_t *counter = (uint64_t *)(void *)seen;
    OK(import_semaphore(TIMELINE, file, &semaphore));
    OK(signal_one(semaphore, 5));
    OK(signal_one(semaphore, 3)); /* it never falls */
    OK(wait_one(semaphore, 4));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(*counter == 5);
    OK(wait_one(semaphore, 7));
    CHECK(cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    __atomic_store_n(counter, 8, __ATOMIC_RELEASE);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuDestroyExternalSemaphore(semaphore));
    munmap(seen, 4096);
}

static void what_is_no_semaphore_is_refused(void)
{
    CUexternalSemaphore semaphore = NULL;
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS params = {.flags = 1};
    unsigned char *seen;
    int event;
    SOFT_ONLY();
    const int file = new_file("short", 4, &seen);
    REFUSED(UNKNOWN, import_semaphore(EVENT, -1, &semaphore));
    REFUSED(UNKNOWN, import_semaphore(EVENT, file, &semaphore));
    REFUSED(UNKNOWN, import_semaphore(TIMELINE, file, &semaphore));
    REFUSED(INVALID_VALUE, import_semaphore(11, file, &semaphore));
    CHECK(!semaphore);
    semaphore = new_event(&event);
    REFUSED(INVALID_VALUE,
            cu.cuSignalExternalSemaphoresAsync(&semaphore, &params, 1, stream));
    REFUSED(INVALID_VALUE,
            cu.cuSignalExternalSemaphoresAsync(&semaphore, NULL, 1, stream));
    OK(cu.cuDestroyExternalSemaphore(semaphore));
    munmap(seen, 4);
    close(file);
    close(event);
}

/* Forked before either process has a driver: one waits for the other. */
static int other_process(int event)
{
    CUexternalSemaphore semaphore;
    const char *why = NULL;
    if (!driver_load(SOFTCUDA_PATH, &why) || !device_wanted() || !driver_is_soft)
        return 0;
    use_primary();
    OK(cu.cuStreamCreate(&stream, 0));
    OK(import_semaphore(EVENT, event, &semaphore));
    OK(wait_one(semaphore, 0));
    OK(signal_one(semaphore, 0));
    OK(signal_one(semaphore, 0));
    OK(cu.cuStreamSynchronize(stream));
    return atomic_load(&test_failures) ? 1 : 0;
}

static int shared_event;
static pid_t child;

static void another_process_signals(void)
{
    CUexternalSemaphore semaphore;
    int status = 0;
    SOFT_ONLY();
    OK(import_semaphore(EVENT, dup(shared_event), &semaphore));
    OK(signal_one(semaphore, 0));
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    OK(wait_one(semaphore, 0));
    OK(wait_one(semaphore, 0));
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuDestroyExternalSemaphore(semaphore));
}

/* ---- nodes ----------------------------------------------------------------------------- */

#define SIGNAL CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL
#define WAIT CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT

static void a_capture_makes_nodes_of_them(void)
{
    int event;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode nodes[2];
    CUgraphNodeType type;
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params;
    CUDA_EXT_SEM_WAIT_NODE_PARAMS waits;
    size_t count = 2;
    SOFT_ONLY();
    CUexternalSemaphore semaphore = new_event(&event);
    OK(cu.cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(signal_one(semaphore, 42));
    OK(wait_one(semaphore, 43));
    OK(cu.cuStreamEndCapture(stream, &graph));
    OK(cu.cuGraphGetNodes(graph, nodes, &count));
    CHECK(count == 2);
    OK(cu.cuGraphNodeGetType(nodes[0], &type));
    CHECK(type == SIGNAL);
    OK(cu.cuGraphExternalSemaphoresSignalNodeGetParams(nodes[0], &params));
    CHECK(params.numExtSems == 1 && params.extSemArray[0] == semaphore &&
          params.paramsArray[0].params.fence.value == 42);
    OK(cu.cuGraphExternalSemaphoresWaitNodeGetParams(nodes[1], &waits));
    CHECK(waits.numExtSems == 1 && waits.paramsArray[0].params.fence.value == 43);
    REFUSED(INVALID_VALUE,
            cu.cuGraphExternalSemaphoresWaitNodeGetParams(nodes[0], &waits));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    for (int i = 0; i < 3; i++)
        OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(cu.cuStreamQuery(stream) == CUDA_SUCCESS);
    OK(cu.cuDestroyExternalSemaphore(semaphore));
    REFUSED(INVALID_VALUE, cu.cuGraphLaunch(exec, stream));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    close(event);
}

static void nodes_are_changed_in_graphs_and_executables(void)
{
    int events[2];
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode node;
    SOFT_ONLY();
    CUexternalSemaphore semaphores[2] = {new_event(&events[0]), new_event(&events[1])};
    CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS each[2] = {{.params.fence.value = 1}};
    CUDA_EXT_SEM_SIGNAL_NODE_PARAMS params = {semaphores, each, 1};
    CUgraphNodeParams any = {.type = SIGNAL, .extSemSignal = {semaphores, each, 2}};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddExternalSemaphoresSignalNode(&node, graph, NULL, 0, &params));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    params.extSemArray = &semaphores[1];
    OK(cu.cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(taken(events[1]) == 1);
    params.numExtSems = 0;
    REFUSED(INVALID_VALUE,
            cu.cuGraphExecExternalSemaphoresSignalNodeSetParams(exec, node, &params));
    OK(cu.cuGraphNodeSetParams(node, &any)); /* both, in the graph alone */
    CUgraphExecUpdateResultInfo info = {0};
    REFUSED(GRAPH_EXEC_UPDATE_FAILURE, cu.cuGraphExecUpdate(exec, graph, &info));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(taken(events[1]) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream));
    OK(cu.cuStreamSynchronize(stream));
    CHECK(taken(events[0]) == 1 && taken(events[1]) == 1);
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    for (int i = 0; i < 2; i++) {
        OK(cu.cuDestroyExternalSemaphore(semaphores[i]));
        close(events[i]);
    }
}

/* A branch of a graph waits for the host; the other one goes on. */
static void a_wait_node_holds_its_branch_alone(void)
{
    int event;
    CUgraph graph;
    CUgraphExec exec;
    CUgraphNode wait, fill, record;
    CUevent filled;
    CUdeviceptr at;
    SOFT_ONLY();
    CUexternalSemaphore semaphore = new_event(&event);
    const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS each = {.params.fence.value = 0};
    const CUDA_EXT_SEM_WAIT_NODE_PARAMS params = {&semaphore, &each, 1};
    OK(cu.cuMemHostAlloc((void **)&at, 4096, 0));
    const CUDA_MEMSET_NODE_PARAMS one = {
        .dst = at, .value = 6, .elementSize = 1, .width = 1, .height = 1};
    OK(cu.cuGraphCreate(&graph, 0));
    OK(cu.cuGraphAddExternalSemaphoresWaitNode(&wait, graph, NULL, 0, &params));
    OK(cu.cuGraphAddMemsetNode(&fill, graph, NULL, 0, &one, driver_context));
    OK(cu.cuEventCreate(&filled, 0));
    OK(cu.cuGraphAddEventRecordNode(&record, graph, &fill, 1, filled));
    OK(cu.cuGraphInstantiateWithFlags(&exec, graph, 0));
    OK(cu.cuGraphLaunch(exec, stream));
    while (cu.cuEventQuery(filled) == CUDA_ERROR_NOT_READY)
        usleep(100);
    CHECK(*(unsigned char *)(uintptr_t)at == 6);
    CHECK(cu.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
    add(event, 1);
    OK(cu.cuStreamSynchronize(stream));
    OK(cu.cuEventDestroy(filled));
    OK(cu.cuGraphExecDestroy(exec));
    OK(cu.cuGraphDestroy(graph));
    OK(cu.cuDestroyExternalSemaphore(semaphore));
    OK(cu.cuMemFreeHost((void *)(uintptr_t)at));
    close(event);
}

int main(void)
{
    shared_event = eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC);
    fflush(NULL);
    child = driver_wants_soft() ? fork() : -1;
    if (child == 0)
        _exit(other_process(dup(shared_event)));
    DEVICE_OR_SKIP();
    driver_context = use_primary();
    OK(cu.cuStreamCreate(&stream, 0));
    RUN(another_process_signals);
    RUN(created_memory_is_imported);
    RUN(dedicated_memory_has_one_begin);
    RUN(no_type_but_a_file_is_taken);
    RUN(nodes_without_semaphores_do_nothing);
    RUN(nothing_is_imported_in_a_capture);
    RUN(there_are_no_graphics_resources);
    RUN(a_file_is_memory_of_the_device);
    RUN(ranges_and_files_are_judged);
    RUN(files_of_mesa_begin_at_their_bytes);
    RUN(arrays_lie_in_external_memory);
    RUN(an_eventfd_is_signaled_and_waited_for);
    RUN(a_timeline_is_eight_bytes_of_a_file);
    RUN(what_is_no_semaphore_is_refused);
    RUN(a_capture_makes_nodes_of_them);
    RUN(nodes_are_changed_in_graphs_and_executables);
    RUN(a_wait_node_holds_its_branch_alone);
    return test_done();
}

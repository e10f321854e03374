// SPDX-License-Identifier: Apache-2.0
/* Copies of many ranges, each way of them: every alignment and length beside memcpy(),
 * what addresses the kernel is given, contexts that go, threads, failures.
 *
 *   gphi_copy ── shim (counts launches and copies, fails the n-th call) ── driver */
#include "base/fail.h"
#include "fault.h"
#include "replay/copy.h"
#include "shim.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static atomic_int launches, seen_copies, batches, modules;
static CUdeviceptr foreign; /* said to be of device 1 */
static bool lacks_load;     /* a driver that cannot load the kernel */
static CUcontext context;
static CUstream stream;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuCtxGetId),
    SHIM_CALL(cuFuncLoad),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_GIVE(cuLaunchKernel, launches, 1),
    SHIM_GIVE(cuMemcpyAsync, seen_copies, 1),
    SHIM_GIVE(cuMemcpyBatchAsync, batches, 1),
    SHIM_END,
};

static CUresult shim_cuModuleUnload(CUmodule module)
{
    if (shim_fails("cuModuleUnload"))
        return CUDA_ERROR_UNKNOWN;
    const CUresult result = below.cuModuleUnload(module);
    modules -= result == CUDA_SUCCESS;
    return result;
}

static CUresult shim_cuModuleLoadData(CUmodule *out, const void *image)
{
    if (lacks_load || shim_fails(__func__))
        return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    const CUresult result = below.cuModuleLoadData(out, image);
    modules += result == CUDA_SUCCESS;
    return result;
}

static CUresult shim_cuPointerGetAttributes(unsigned int count, CUpointer_attribute *what,
                                            void **data, CUdeviceptr address)
{
    const CUresult result =
        shim_fails(__func__) ? CUDA_ERROR_UNKNOWN
                             : below.cuPointerGetAttributes(count, what, data, address);
    for (unsigned i = 0; i < count; i++)
        if (what[i] == CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL && foreign != 0 &&
            address == foreign)
            *(int *)data[i] = 1;
    return result;
}

static bool find_own(const char *name, int version, gph_cuda_fn *out)
{
    (void)version;
#define X(call)                                                                          \
    if (strcmp(name, #call) == 0)                                                        \
        *out = (gph_cuda_fn)shim_##call;
    X(cuModuleLoadData)
    X(cuModuleUnload)
    X(cuPointerGetAttributes)
#undef X
    return *out != NULL;
}

static void count_anew(void)
{
    launches = seen_copies = batches = 0;
}

static gph_runtime *open_with(gphi_copy_way way)
{
    gph_runtime *runtime = NULL;
    gph_error error = {0};
    if (!CHECK_OK(gphi_runtime_create(NULL, &shim_source, &runtime, &error), error))
        exit(1);
    runtime->copy_way = way;
    return runtime;
}

static gphi_copier *retain(gph_runtime *runtime)
{
    gphi_copier *copier = NULL;
    gph_error error = {0};
    CHECK_OK(gphi_copier_retain(runtime, &copier, &error), error);
    return copier;
}

/* ---- contents ---- */

enum { LENGTHS = 70, PITCH = 128, LINE = 16 * 16, ARENA = LINE * PITCH };

/* For one length, all pairs of alignments: a row of the arena each, guarded by its
 * neighbors' bytes. */
static void copy_one_length(gph_runtime *runtime, const gphi_copier *copier,
                            CUdeviceptr from, CUdeviceptr to, size_t length)
{
    static uint8_t source_bytes[ARENA], got[ARENA], want[ARENA];
    static CUdeviceptr tos[LINE], froms[LINE];
    static size_t sizes[LINE];
    gph_error error = {0};
    for (size_t i = 0; i < ARENA; i++) {
        source_bytes[i] = (uint8_t)(i * 7 + i / 251 + length);
        want[i] = 0xEE;
    }
    CHECK(below.cuMemcpyHtoDAsync(from, source_bytes, ARENA, stream) == CUDA_SUCCESS);
    CHECK(below.cuMemsetD8Async(to, 0xEE, ARENA, stream) == CUDA_SUCCESS);
    for (size_t i = 0; i < LINE; i++) {
        const size_t to_at = i * PITCH + i % 16, from_at = i * PITCH + i / 16;
        tos[i] = to + to_at;
        froms[i] = from + from_at;
        sizes[i] = length;
        memcpy(want + to_at, source_bytes + from_at, length);
    }
    const gphi_copies copies = {tos, froms, sizes, LINE, false, false};
    CHECK_OK(gphi_copy(runtime, copier, &copies, stream, &error), error);
    CHECK(below.cuMemcpyDtoHAsync(got, to, ARENA, stream) == CUDA_SUCCESS);
    CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    if (!CHECK(memcmp(got, want, ARENA) == 0))
        fprintf(stderr, "  length %zu, way %u\n", length, runtime->copy_way);
}

static void all_alignments_and_lengths(void)
{
    CUdeviceptr from = 0, to = 0;
    CHECK(below.cuMemAlloc(&from, ARENA) == CUDA_SUCCESS);
    CHECK(below.cuMemAlloc(&to, ARENA) == CUDA_SUCCESS);
    for (unsigned way = GPHI_COPY_AUTO; way <= GPHI_COPY_EACH; way++) {
        gph_runtime *runtime = open_with((gphi_copy_way)way);
        gphi_copier *copier = retain(runtime);
        CHECK((copier != NULL) == (way == GPHI_COPY_KERNEL) || way == GPHI_COPY_AUTO);
        count_anew();
        const size_t step = way == GPHI_COPY_KERNEL ? 1 : 23;
        for (size_t length = 0; length <= LENGTHS; length += step)
            copy_one_length(runtime, copier, from, to, length);
        if (way == GPHI_COPY_KERNEL)
            CHECK(launches == LENGTHS * LINE / 32 && seen_copies == 0);
        if (way == GPHI_COPY_EACH)
            CHECK(launches == 0 && batches == 0 && seen_copies > 0);
        gphi_copier_release(copier);
        gph_close(runtime);
    }
    CHECK(modules == 0);
    CHECK(below.cuMemFree(from) == CUDA_SUCCESS && below.cuMemFree(to) == CUDA_SUCCESS);
}

/* Blocks and steps beyond one: large, uneven, and small beside large. */
static void large_ranges(void)
{
    enum { BYTES = 3 << 20 };
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    gphi_copier *copier = retain(runtime);
    gph_error error = {0};
    CUdeviceptr from = 0, to = 0;
    uint8_t *had = malloc(BYTES), *got = malloc(BYTES);
    CHECK(below.cuMemAlloc(&from, BYTES) == CUDA_SUCCESS);
    CHECK(below.cuMemAlloc(&to, BYTES) == CUDA_SUCCESS);
    for (size_t i = 0; i < BYTES; i++)
        had[i] = (uint8_t)(i * 2654435761u >> 13);
    CHECK(below.cuMemcpyHtoDAsync(from, had, BYTES, stream) == CUDA_SUCCESS);
    for (size_t skew = 0; skew < 16; skew += skew == 0 ? 1 : skew == 1 ? 3 : 12) {
        CUdeviceptr tos[] = {to + 3, to + (1 << 20) + 512, to + (2 << 20)};
        CUdeviceptr froms[] = {from + 3 + skew, from + (1 << 20) + 512 + skew,
                               from + (2 << 20) + skew};
        size_t sizes[] = {(1 << 20) + 77, 5, (1 << 19) + 1};
        const gphi_copies copies = {tos, froms, sizes, 3, false, false};
        CHECK(below.cuMemsetD8Async(to, 0, BYTES, stream) == CUDA_SUCCESS);
        CHECK_OK(gphi_copy(runtime, copier, &copies, stream, &error), error);
        CHECK(below.cuMemcpyDtoHAsync(got, to, BYTES, stream) == CUDA_SUCCESS);
        CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS);
        CHECK(memcmp(got + 3, had + 3 + skew, (1 << 20) + 77) == 0);
        CHECK(memcmp(got + (1 << 20) + 512, had + (1 << 20) + 512 + skew, 5) == 0);
        CHECK(memcmp(got + (2 << 20), had + (2 << 20) + skew, (1 << 19) + 1) == 0);
        CHECK(got[0] == 0 && got[2] == 0 && got[(2 << 20) + (1 << 19) + 1] == 0);
    }
    free(had);
    free(got);
    CHECK(below.cuMemFree(from) == CUDA_SUCCESS && below.cuMemFree(to) == CUDA_SUCCESS);
    gphi_copier_release(copier);
    gph_close(runtime);
}

/* ---- what may be given to the kernel ---- */

enum { SOME = 4096 };

/* Two copies of which the first is between the addresses; says who made it. */
static int launches_of(gph_runtime *runtime, const gphi_copier *copier, CUdeviceptr to,
                       CUdeviceptr from, CUdeviceptr ours)
{
    gph_error error = {0};
    CUdeviceptr tos[] = {to, ours}, froms[] = {from, ours + SOME};
    size_t sizes[] = {SOME, SOME};
    const gphi_copies copies = {tos, froms, sizes, 2, false, false};
    count_anew();
    CHECK_OK(gphi_copy(runtime, copier, &copies, stream, &error), error);
    CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(launches == 1 && batches == 0);
    return seen_copies; /* 0: both by the kernel */
}

static void only_memory_of_the_device_goes_to_the_kernel(void)
{
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    gphi_copier *copier = retain(runtime);
    CUdeviceptr device = 0, managed = 0;
    void *pinned = NULL;
    uint8_t *pageable = malloc(SOME);
    memset(pageable, 3, SOME);
    CHECK(below.cuMemAlloc(&device, 4 * SOME) == CUDA_SUCCESS);
    CHECK(below.cuMemAllocManaged(&managed, SOME, CU_MEM_ATTACH_GLOBAL) == CUDA_SUCCESS);
    CHECK(below.cuMemHostAlloc(&pinned, SOME, 0) == CUDA_SUCCESS);
    const CUdeviceptr here = device + 2 * SOME, there = device + 3 * SOME;
    CHECK(launches_of(runtime, copier, here, there, device) == 0);
    CHECK(launches_of(runtime, copier, here, (CUdeviceptr)(uintptr_t)pageable, device) ==
          1);
    CHECK(launches_of(runtime, copier, here, (CUdeviceptr)(uintptr_t)pinned, device) ==
          1);
    CHECK(launches_of(runtime, copier, (CUdeviceptr)(uintptr_t)pinned, here, device) ==
          1);
    foreign = there; /* another device's */
    CHECK(launches_of(runtime, copier, here, there, device) == 1);
    foreign = 0;
    memset((void *)(uintptr_t)managed, 9, SOME); /* whoever copies it */
    launches_of(runtime, copier, here, managed, device);
    uint8_t got[SOME];
    CHECK(below.cuMemcpyDtoHAsync(got, here, SOME, stream) == CUDA_SUCCESS);
    CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS);
    CHECK(got[0] == 9 && got[SOME - 1] == 9);
    CHECK(below.cuMemFreeHost(pinned) == CUDA_SUCCESS);
    CHECK(below.cuMemFree(device) == CUDA_SUCCESS);
    CHECK(below.cuMemFree(managed) == CUDA_SUCCESS);
    free(pageable);
    gphi_copier_release(copier);
    gph_close(runtime);
}

static void without_a_kernel_the_driver_copies(void)
{
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    CUdeviceptr at = 0;
    gph_error error = {0};
    CHECK(below.cuMemAlloc(&at, 4 * SOME) == CUDA_SUCCESS);
    lacks_load = true;
    gphi_copier *copier = retain(runtime);
    lacks_load = false;
    CHECK(copier == NULL);
    CUdeviceptr tos[] = {at, at + SOME, at}, froms[] = {at + 2 * SOME, at + 3 * SOME, at};
    size_t sizes[] = {SOME, SOME, 0};
    const gphi_copies copies = {tos, froms, sizes, 3, true, true};
    count_anew();
    CHECK_OK(gphi_copy(runtime, copier, &copies, stream, &error), error);
    CHECK(batches == 1 && launches == 0 && seen_copies == 0);
    CHECK(below.cuStreamSynchronize(stream) == CUDA_SUCCESS); /* not ordered with it */
    CHECK_OK(gphi_copy(runtime, copier, &copies, NULL, &error), error);
    CHECK(batches == 1 && seen_copies == 2); /* the legacy stream knows no batch */
    CHECK(below.cuCtxSynchronize() == CUDA_SUCCESS);
    CHECK(below.cuMemFree(at) == CUDA_SUCCESS);
    gph_close(runtime);
}

/* ---- contexts, captures, threads ---- */

static void a_context_has_one_kernel(void)
{
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    CUcontext second = NULL;
    gphi_copier *a = retain(runtime), *b = retain(runtime);
    CHECK(a == b && modules == 1);
    CHECK(below.cuCtxCreate(&second, NULL, 0, 0) == CUDA_SUCCESS);
    gphi_copier *c = retain(runtime);
    CHECK(c != a && modules == 2);
    gphi_copier_release(a); /* with another context current */
    gphi_copier_release(b);
    CHECK(modules == 1);
    /* Destroyed with the kernel in it, and another made, maybe with the same handle. */
    CHECK(below.cuCtxDestroy(second) == CUDA_SUCCESS);
    CHECK(below.cuCtxCreate(&second, NULL, 0, 0) == CUDA_SUCCESS);
    gphi_copier *d = retain(runtime);
    CHECK(d != c && modules == 2);
    gphi_copier_release(c);
    CHECK(modules == 2); /* not unloaded: it went with its context */
    gphi_copier_release(d);
    CHECK(modules == 1);
    modules = 0;
    CHECK(below.cuCtxDestroy(second) == CUDA_SUCCESS);
    CHECK(below.cuCtxSetCurrent(context) == CUDA_SUCCESS);
    gph_close(runtime);
}

static void a_capture_puts_the_end_off(void)
{
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    gphi_copier *copier = retain(runtime);
    gphi_capture_open();
    gphi_copier_release(copier);
    CHECK(modules == 1);
    gphi_copier *other = retain(runtime); /* not the one that waits for its end */
    CHECK(other != copier && modules == 2);
    gphi_copier_release(other);
    gphi_capture_close();
    CHECK(modules == 0);
    gph_close(runtime);
}

static void *copy_in_a_thread(void *user)
{
    gph_runtime *runtime = user;
    gph_error error = {0};
    CUstream own = NULL;
    CUdeviceptr at = 0;
    CHECK(below.cuCtxSetCurrent(context) == CUDA_SUCCESS);
    CHECK(below.cuStreamCreate(&own, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
    CHECK(below.cuMemAlloc(&at, 4 * SOME) == CUDA_SUCCESS);
    for (int i = 0; i < 20; i++) {
        gphi_copier *copier = retain(runtime);
        CUdeviceptr tos[] = {at, at + SOME}, froms[] = {at + 2 * SOME, at + 3 * SOME};
        size_t sizes[] = {SOME, (size_t)i};
        const gphi_copies copies = {tos, froms, sizes, 2, false, false};
        CHECK_OK(gphi_copy(runtime, copier, &copies, own, &error), error);
        CHECK(below.cuStreamSynchronize(own) == CUDA_SUCCESS);
        gphi_copier_release(copier);
    }
    CHECK(below.cuMemFree(at) == CUDA_SUCCESS);
    CHECK(below.cuStreamDestroy(own) == CUDA_SUCCESS);
    return NULL;
}

static void threads_share_it(void)
{
    pthread_t threads[4];
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_create(&threads[i], NULL, copy_in_a_thread, runtime) == 0);
    for (int i = 0; i < 4; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    CHECK(modules == 0);
    gph_close(runtime);
}

/* ---- failures ---- */

static gph_status use(gph_runtime *runtime, CUdeviceptr at, gph_error *error)
{
    gphi_copier *copier = NULL;
    GPHI_TRY(gphi_copier_retain(runtime, &copier, error));
    CUdeviceptr tos[] = {at, at + SOME}, froms[] = {at + 2 * SOME, at + 3 * SOME};
    size_t sizes[] = {SOME, SOME};
    const gphi_copies copies = {tos, froms, sizes, 2, false, false};
    const gph_status status = gphi_copy(runtime, copier, &copies, stream, error);
    below.cuStreamSynchronize(stream);
    gphi_copier_release(copier);
    return status;
}

static void every_call_and_allocation_fails(void)
{
    CUdeviceptr at = 0;
    CHECK(below.cuMemAlloc(&at, 4 * SOME) == CUDA_SUCCESS);
    gph_runtime *runtime = open_with(GPHI_COPY_KERNEL);
    long nth = 0;
    for (bool is_done = false; !is_done && nth < 100; nth++) {
        gph_error error = {0};
        shim.fail_at = nth;
        modules = 0;
        const gph_status status = use(runtime, at, &error);
        is_done = shim.fail_at >= 0;
        shim.fail_at = -1;
        CHECK(error.code == status && (!is_done || status == GPH_OK));
        /* Left where unloading failed, or nobody could say if the context was there. */
        CHECK(modules == 0 || (!is_done && modules == 1));
    }
    CHECK(nth > 8);
    modules = 0;
    gph_close(runtime);

    fault_heap heap = {.fail_at = -1};
    const gph_allocator allocator = {fault_realloc, &heap};
    CHECK(gphi_runtime_create(&allocator, &shim_source, &runtime, NULL) == GPH_OK);
    runtime->copy_way = GPHI_COPY_KERNEL;
    gph_error error = {0};
    atomic_store(&heap.fail_at, 0);
    CHECK(use(runtime, at, &error) == GPH_E_NO_MEMORY && error.code == GPH_E_NO_MEMORY);
    atomic_store(&heap.fail_at, -1);
    CHECK(use(runtime, at, &error) == GPH_OK && modules == 0);
    gph_close(runtime);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    CHECK(below.cuMemFree(at) == CUDA_SUCCESS);
}

int main(void)
{
    const gph_driver kind =
        getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_SOFT;
    if (!shim_open(kind, rules))
        return 77;
    shim.special = find_own;
    if (!CHECK(below.cuInit(0) == 0 && below.cuDevicePrimaryCtxRetain(&context, 0) == 0 &&
               below.cuCtxSetCurrent(context) == 0 &&
               below.cuStreamCreate(&stream, 1) == 0))
        return 1;
    RUN(all_alignments_and_lengths);
    RUN(large_ranges);
    RUN(only_memory_of_the_device_goes_to_the_kernel);
    RUN(without_a_kernel_the_driver_copies);
    RUN(a_context_has_one_kernel);
    RUN(a_capture_puts_the_end_off);
    RUN(threads_share_it);
    RUN(every_call_and_allocation_fails);
    shim_close();
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* Functions of the runtime that few programs call: batches, pools of a place, arrays in
 * parts, clusters, texture objects. What the driver refuses comes back with its code. */
#include "runtime_api.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>

cudaError_t cudaMemcpyToArrayAsync(void *to, size_t x, size_t y, const void *from,
                                   size_t bytes, int kind, CUstream stream);
cudaError_t cudaMemcpyArrayToArray(void *to, size_t to_x, size_t to_y, void *from,
                                   size_t from_x, size_t from_y, size_t bytes, int kind);
cudaError_t cudaMemcpyFromArrayAsync(void *to, void *from, size_t x, size_t y,
                                     size_t bytes, int kind, CUstream stream);
cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *what);
cudaError_t cudaMemGetDefaultMemPool(CUmemoryPool *pool, CUmemLocation *location,
                                     int type);
cudaError_t cudaDeviceGetDefaultMemPool(CUmemoryPool *pool, int device);
cudaError_t cudaOccupancyMaxActiveClusters(int *count, const void *func,
                                           const cudaLaunchConfig_t *config);
cudaError_t cudaCreateTextureObject(CUtexObject *out,
                                    const struct cudaResourceDesc *resource,
                                    const struct cudaTextureDesc *texture,
                                    const struct cudaResourceViewDesc *view);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *out,
                                            CUtexObject texture);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *out,
                                             CUtexObject texture);
cudaError_t cudaDestroyTextureObject(CUtexObject texture);
cudaError_t cudaLibraryLoadData(CUlibrary *library, const void *code, void *options,
                                void **values, unsigned count, void *library_options,
                                void **library_values, unsigned library_count);
cudaError_t cudaLibraryUnload(CUlibrary library);
cudaError_t cudaGraphKernelNodeSetParams(CUgraphNode node,
                                         const struct cudaKernelNodeParams *params);
cudaError_t cudaLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name);
cudaError_t cudaSetValidDevices(int *devices, int count);
#if RT_MAJOR == 12
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *attribute_of,
                                 size_t attribute_count, size_t *failed, CUstream stream);
#define BATCH(to, from, sizes, count, attributes, of, stream)                            \
    cudaMemcpyBatchAsync(to, from, sizes, count, attributes, of, 1, &failed, stream)
#else
cudaError_t cudaMemcpyBatchAsync(void **to, void **from, size_t *sizes, size_t count,
                                 CUmemcpyAttributes *attributes, size_t *attribute_of,
                                 size_t attribute_count, CUstream stream);
#define BATCH(to, from, sizes, count, attributes, of, stream)                            \
    cudaMemcpyBatchAsync(to, from, sizes, count, attributes, of, 1, stream)
#endif

#define OK(call) CHECK((call) == cudaSuccess)

static void copies_come_in_batches(void)
{
    char host[64] = "first and second", back[64] = "";
    void *device, *to[2], *from[2];
    size_t sizes[2] = {6, 10}, attribute_of = 0, failed = 7;
    CUmemcpyAttributes attributes = {.srcAccessOrder = 1}; /* as the stream has it */
    CUstream stream;
    OK(cudaMalloc(&device, 64));
    OK(cudaStreamCreate(&stream));
    to[0] = device, to[1] = (char *)device + 32;
    from[0] = host, from[1] = host + 6;
    OK(BATCH(to, from, sizes, 2, &attributes, &attribute_of, stream));
    OK(cudaStreamSynchronize(stream));
    OK(cudaMemcpy(back, device, 64, cudaMemcpyDeviceToHost));
    CHECK(memcmp(back, "first ", 6) == 0 && memcmp(back + 32, "and second", 10) == 0);
    CHECK(BATCH(to, from, sizes, 0, &attributes, &attribute_of, stream) != cudaSuccess);
    CHECK(failed == (RT_MAJOR == 12 ? SIZE_MAX : 7));
    cudaGetLastError();
    OK(cudaStreamDestroy(stream));
    OK(cudaFree(device));
}

static void arrays_are_copied_in_parts(void)
{
    const struct cudaChannelFormatDesc words = {32, 0, 0, 0, 1};
    unsigned in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
    void *one, *two;
    OK(cudaMallocArray(&one, &words, 8, 1, 0));
    OK(cudaMallocArray(&two, &words, 8, 1, 0));
    OK(cudaMemcpyToArrayAsync(one, 0, 0, in, sizeof(in), cudaMemcpyHostToDevice, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyArrayToArray(two, 8, 0, one, 16, 0, 12, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyFromArrayAsync(out, two, 8, 0, 12, cudaMemcpyDeviceToHost, NULL));
    OK(cudaDeviceSynchronize());
    CHECK(out[0] == 5 && out[1] == 6 && out[2] == 7 && out[3] == 0);
    OK(cudaFreeArray(one));
    OK(cudaFreeArray(two));
}

/* From the middle of a row on: a part of it, two whole rows, a part of the last. */
static void a_run_goes_over_rows(void)
{
    const struct cudaChannelFormatDesc bytes = {8, 0, 0, 0, 1};
    unsigned char in[25], all[32] = {0}, out[25] = {0};
    void *array;
    for (size_t i = 0; i < sizeof(in); i++)
        in[i] = (unsigned char)(i + 1);
    OK(cudaMallocArray(&array, &bytes, 8, 4, 0));
    OK(cudaMemcpy2DToArray(array, 0, 0, all, 8, 8, 4, cudaMemcpyHostToDevice));
    OK(cudaMemcpyToArrayAsync(array, 5, 0, in, sizeof(in), cudaMemcpyHostToDevice, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy2DFromArray(all, 8, array, 0, 0, 8, 4, cudaMemcpyDeviceToHost));
    CHECK(all[4] == 0 && memcmp(all + 5, in, sizeof(in)) == 0 && all[30] == 0);
    OK(cudaMemcpyFromArrayAsync(out, array, 5, 0, sizeof(out), cudaMemcpyDeviceToHost,
                                NULL));
    OK(cudaDeviceSynchronize());
    CHECK(memcmp(out, in, sizeof(in)) == 0);
    OK(cudaFreeArray(array));
}

static void volumes_are_copied_between_devices(void)
{
    unsigned char host[4 * 4 * 2], back[sizeof(host)] = {0};
    void *device;
    for (size_t i = 0; i < sizeof(host); i++)
        host[i] = (unsigned char)i;
    OK(cudaMalloc(&device, sizeof(host)));
    struct cudaMemcpy3DPeerParms what = {
        .srcPtr = {host, 4, 4, 4}, .dstPtr = {device, 4, 4, 4}, .extent = {4, 4, 2}};
    OK(cudaMemcpy3DPeer(&what));
    OK(cudaMemcpy(back, device, sizeof(back), cudaMemcpyDeviceToHost));
    CHECK(memcmp(host, back, sizeof(host)) == 0);
    what.dstDevice = 99;
    CHECK(cudaMemcpy3DPeer(&what) == cudaErrorInvalidDevice);
    CHECK(cudaMemcpy3DPeer(NULL) == cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaFree(device));
}

static void a_place_has_the_pool_of_its_device(void)
{
    CUmemoryPool pool = NULL, same = NULL;
    CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
    OK(cudaDeviceGetDefaultMemPool(&same, 0));
    OK(cudaMemGetDefaultMemPool(&pool, &here, 1)); /* pinned */
    CHECK(pool && pool == same);
}

static void clusters_of_one_block_fit(void)
{
    int count = 0;
    const cudaLaunchConfig_t config = {.gridDim = {4, 1, 1}, .blockDim = {32, 1, 1}};
    OK(cudaOccupancyMaxActiveClusters(&count, &add_one, &config));
    CHECK(count > 0);
    CHECK(cudaOccupancyMaxActiveClusters(&count, &no_kernel, &config) ==
          cudaErrorInvalidDeviceFunction);
    CHECK(cudaOccupancyMaxActiveClusters(&count, &add_one, NULL) ==
          cudaErrorInvalidValue);
    cudaGetLastError();
}

/* Where the driver takes it, it says what it was given, in the runtime's words. */
static void textures_keep_what_they_were_given(void)
{
    struct cudaResourceDesc resource = {.resType = CU_RESOURCE_TYPE_LINEAR}, what;
    struct cudaTextureDesc how = {.addressMode = {1, 1, 1}, .readMode = 1}, got;
    CUtexObject texture;
    void *memory;
    OK(cudaMalloc(&memory, 1024));
    resource.res.linear.devPtr = (CUdeviceptr)(uintptr_t)memory;
    resource.res.linear.sizeInBytes = 1024;
    resource.res.linear.desc = (struct cudaChannelFormatDesc){8, 8, 8, 0, 1};
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL) ==
          cudaErrorInvalidChannelDescriptor);
    CHECK(cudaCreateTextureObject(&texture, NULL, &how, NULL) == cudaErrorInvalidValue);
    resource.res.linear.desc = (struct cudaChannelFormatDesc){8, 8, 8, 8, 1};
    const cudaError_t made = cudaCreateTextureObject(&texture, &resource, &how, NULL);
    CHECK(made == cudaSuccess || made == cudaErrorNotSupported);
    cudaGetLastError();
    if (made == cudaSuccess) {
        OK(cudaGetTextureObjectTextureDesc(&got, texture));
        CHECK(got.readMode == 1 && got.addressMode[0] == 1 && !got.normalizedCoords);
        OK(cudaGetTextureObjectResourceDesc(&what, texture));
        CHECK(what.res.linear.devPtr == resource.res.linear.devPtr &&
              what.res.linear.desc.w == 8 && what.res.linear.sizeInBytes == 1024);
        OK(cudaDestroyTextureObject(texture));
    }
    OK(cudaFree(memory));
}

static void devices_may_be_named_in_order(void)
{
    int good[1] = {0}, bad[1] = {99};
    OK(cudaSetValidDevices(good, 1));
    OK(cudaSetValidDevices(NULL, 0));
    CHECK(cudaSetValidDevices(bad, 1) == cudaErrorInvalidDevice);
    CHECK(cudaSetValidDevices(NULL, 1) == cudaErrorInvalidValue);
    cudaGetLastError();
}

/* A kernel of a library has no stub to be read as (an H200, and what programs that walk over
 * captured nodes of cuBLAS expect); it may be written. */
static void a_kernel_of_a_library_is_not_read_from_its_node(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUgraph graph;
    CUgraphNode node;
    CUgraphExec exec;
    unsigned n = 1, *words = NULL, found = 0;
    void *args[] = {&words, &n};
    struct cudaKernelNodeParams params, read;
    OK(cudaMalloc((void **)&words, sizeof(*words)));
    OK(cudaMemset(words, 0, sizeof(*words)));
    OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "add_one"));
    OK(cudaGraphCreate(&graph, 0));
    params = (struct cudaKernelNodeParams){.func = kernel,
                                           .gridDim = {1, 1, 1},
                                           .blockDim = {1, 1, 1},
                                           .kernelParams = args};
    OK(cudaGraphAddKernelNode(&node, graph, NULL, 0, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphKernelNodeGetParams(node, &read) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaGetLastError() == cudaErrorInvalidDeviceFunction);
    OK(cudaGraphExecKernelNodeSetParams(exec, node, &params));
    OK(cudaGraphKernelNodeSetParams(node, &params));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaLaunchKernel(params.func, params.gridDim, params.blockDim, args, 0, NULL));
    OK(cudaMemcpy(&found, words, sizeof(found), cudaMemcpyDeviceToHost));
    CHECK(found == 2);
    params.func = &found; /* neither */
    CHECK(cudaGraphKernelNodeSetParams(node, &params) != cudaSuccess);
    (void)cudaGetLastError();
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaLibraryUnload(library));
    OK(cudaFree(words));
}

int main(void)
{
    register_kernels();
    RUN(copies_come_in_batches);
    RUN(arrays_are_copied_in_parts);
    RUN(a_run_goes_over_rows);
    RUN(volumes_are_copied_between_devices);
    RUN(a_place_has_the_pool_of_its_device);
    RUN(clusters_of_one_block_fit);
    RUN(textures_keep_what_they_were_given);
    RUN(devices_may_be_named_in_order);
    RUN(a_kernel_of_a_library_is_not_read_from_its_node);
    __cudaUnregisterFatBinary(fat_handle);
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* What libcudart.so.12 has of its own: older forms under the names that 13 gave to newer
 * ones, and structures of another size. */
#include "runtime_api.h"
#include "test.h"

#include <stdbool.h>
#include <string.h>

/* As the toolkit 12.9 declares them: names_12.h has taken these names for 13's forms. */
#undef cudaGetDeviceProperties
#undef cudaGraphAddDependencies
#undef cudaGraphGetEdges
#undef cudaGraphNodeGetDependencies
#undef cudaMemAdvise
#undef cudaMemPrefetchAsync
#undef cudaStreamGetCaptureInfo
cudaError_t cudaGetDeviceProperties(void *out, int device);
cudaError_t cudaGraphAddDependencies(CUgraph graph, const CUgraphNode *from,
                                     const CUgraphNode *to, size_t count);
cudaError_t cudaGraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                              size_t *count);
cudaError_t cudaGraphNodeGetDependencies(CUgraphNode node, CUgraphNode *nodes,
                                         size_t *count);
cudaError_t cudaMemAdvise(const void *pointer, size_t bytes, int advice, int device);
cudaError_t cudaMemPrefetchAsync(const void *pointer, size_t bytes, int device,
                                 CUstream stream);
cudaError_t cudaStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus *status,
                                     unsigned long long *id);
cudaError_t cudaStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus *status,
                                        unsigned long long *id, CUgraph *graph,
                                        const CUgraphNode **nodes, size_t *count);
cudaError_t cudaGraphAddEmptyNode(CUgraphNode *out, CUgraph graph,
                                  const CUgraphNode *after, size_t count);
cudaError_t cudaThreadSynchronize(void);

#define OK(call) CHECK((call) == cudaSuccess)

enum { SHORT_BYTES = offsetof(struct cudaDeviceProp, hostRegisterSupported) };

static bool is_untouched(const unsigned char *from, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (from[i] != 0xa5)
            return false;
    return true;
}

static void properties_have_the_layout_that_was_asked_for(void)
{
    struct {
        struct cudaDeviceProp found;
        unsigned char after[256];
    } both, older;
    memset(&both, 0xa5, sizeof(both));
    memset(&older, 0xa5, sizeof(older));
    OK(cudaGetDeviceProperties_v2(&both.found, 0));
    OK(cudaGetDeviceProperties(&older, 0));
    CHECK(both.found.warpSize == 32 && both.found.maxThreadsPerMultiProcessor >= 1024);
    CHECK(both.found.clockRate > 0 && both.found.memoryPoolsSupported == 1);
    CHECK(is_untouched(both.after, sizeof(both.after)));
    CHECK(memcmp(&both.found, &older.found, SHORT_BYTES) == 0);
    CHECK(is_untouched((unsigned char *)&older + SHORT_BYTES, 64));
    CHECK(cudaGetDeviceProperties(NULL, 0) == cudaErrorInvalidValue);
    CHECK(cudaGetDeviceProperties(&older, 99) == cudaErrorInvalidDevice);
    cudaGetLastError();
}

static void a_pointer_is_described_in_24_bytes(void)
{
    struct {
        struct cudaPointerAttributes found;
        unsigned char after[64];
    } both;
    void *pointer;
    memset(&both, 0xa5, sizeof(both));
    OK(cudaMalloc(&pointer, 256));
    OK(cudaPointerGetAttributes(&both.found, pointer));
    CHECK(both.found.type == cudaMemoryTypeDevice && both.found.devicePointer == pointer);
    CHECK(is_untouched(both.after, sizeof(both.after)));
    OK(cudaFree(pointer));
}

static void edges_come_without_data(void)
{
    CUgraph graph;
    CUgraphNode nodes[2], from[2], to[2];
    size_t count = 2;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaGraphAddEmptyNode(&nodes[0], graph, NULL, 0));
    OK(cudaGraphAddEmptyNode(&nodes[1], graph, NULL, 0));
    OK(cudaGraphAddDependencies(graph, &nodes[0], &nodes[1], 1));
    OK(cudaGraphGetEdges(graph, from, to, &count));
    CHECK(count == 1 && from[0] == nodes[0] && to[0] == nodes[1]);
    count = 2;
    OK(cudaGraphNodeGetDependencies(nodes[1], from, &count));
    CHECK(count == 1 && from[0] == nodes[0]);
    OK(cudaGraphDestroy(graph));
}

static void captures_are_described_in_both_forms(void)
{
    CUstream stream;
    CUgraph graph, same = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    unsigned long long id = 0, id_again = 0;
    const CUgraphNode *nodes;
    size_t count = 7;
    OK(cudaStreamCreate(&stream));
    OK(cudaStreamBeginCapture(stream, 0));
    OK(cudaStreamGetCaptureInfo(stream, &status, &id));
    CHECK(status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != 0);
    OK(cudaStreamGetCaptureInfo_v2(stream, &status, &id_again, &same, &nodes, &count));
    CHECK(id_again == id && same && count == 0);
    OK(cudaStreamEndCapture(stream, &graph));
    CHECK(graph == same);
    OK(cudaGraphDestroy(graph));
    OK(cudaStreamDestroy(stream));
}

static void places_are_numbers(void)
{
    void *pointer;
    OK(cudaMallocManaged(&pointer, 4096, 1));
    OK(cudaMemAdvise(pointer, 4096, 3, 0)); /* preferred location */
    OK(cudaMemPrefetchAsync(pointer, 4096, 0, NULL));
    OK(cudaMemPrefetchAsync(pointer, 4096, -1, NULL));
    CHECK(cudaMemPrefetchAsync(pointer, 4096, 99, NULL) != cudaSuccess);
    cudaGetLastError();
    OK(cudaThreadSynchronize());
    OK(cudaFree(pointer));
}

int main(void)
{
    RUN(properties_have_the_layout_that_was_asked_for);
    RUN(a_pointer_is_described_in_24_bytes);
    RUN(edges_come_without_data);
    RUN(captures_are_described_in_both_forms);
    RUN(places_are_numbers);
    return test_done();
}

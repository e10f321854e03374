// SPDX-License-Identifier: Apache-2.0
// capture.silent-drop
//
// Some calls fail on a capturing stream without making the capture invalid: batches of
// copies (900), copies and frees of a wrong address (1). cuStreamEndCapture() then
// succeeds, and the graph lacks the work; no later call says so. Look at the result of
// every call in the captured region; replace a batch by single copies.
#include "broken.h"

/* A batch of copies. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats(), c = new_floats();
    CUdeviceptr to[2] = {b, c}, from[2] = {a, a};
    size_t bytes[2] = {FLOATS * sizeof(float), FLOATS * sizeof(float)}, at = 0;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    CU(cuMemcpyBatchAsync(to, from, bytes, 2, &how, &at, 1, stream)); /* <-- first */
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(a, 0) == 1 && float_at(b, 0) == 0);
}

/* A copy from an address that is none, in a thread, on a stream that joined. */
static void capture(void *user)
{
    CUdeviceptr *out = user;
    CUstream stream = new_stream(), side = new_stream();
    CUevent event = new_event();
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    CU(cuMemsetD32Async(*out, 0, FLOATS, stream));
    fork_to(stream, side, event);
    CU(cuMemcpyDtoDAsync(*out, 0x10, 64, side)); /* <-- second */
    join_from(stream, side, event);
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
}

static void second(void)
{
    CUdeviceptr a = new_floats();
    in_thread(capture, &a);
}

/* The batch is refused, and the program copies one by one instead. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr a = new_floats(), b = new_floats();
    CUdeviceptr to[1] = {b}, from[1] = {a};
    size_t bytes[1] = {FLOATS * sizeof(float)}, at = 0;
    CUmemcpyAttributes how = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    CUgraph graph = NULL;
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    FILL(stream, a, 1);
    if (cuMemcpyBatchAsync(to, from, bytes, 1, &how, &at, 1, stream) != CUDA_SUCCESS)
        CU(cuMemcpyDtoDAsync(to[0], from[0], bytes[0], stream));
    CU(cuStreamEndCapture(stream, &graph));
    replay_once(graph, stream);
    EXPECT(float_at(b, 0) == 1);
}

BROKEN(first, second, near)

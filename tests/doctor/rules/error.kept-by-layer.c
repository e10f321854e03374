// SPDX-License-Identifier: Apache-2.0
// error.kept-by-layer
//
// A call fails, the program deals with it and goes on; but a layer above the driver has kept
// the code: a wrapper's "last error", the CUDA runtime's (cudaGetLastError). Much later somebody
// asks that layer, and code that did nothing wrong is blamed, though every call since has
// succeeded. The doctor knows which call failed, which succeeded since, and who asks for the
// code (cudaGetLastError and cudaPeekAtLastError of a shared runtime, cuGetErrorName and
// cuGetErrorString, standard error). Reported where the program gives up because of it, or where
// it is blamed again and again; a program that clears the error after it has handled it is right.
#include "broken.h"

/* The layer: keeps the first code until it is asked for. */
static CUresult kept;

static CUresult keep(CUresult result)
{
    if (result != CUDA_SUCCESS && kept == CUDA_SUCCESS)
        kept = result;
    return result;
}

static CUresult take_kept(void)
{
    const CUresult was = kept;
    kept = CUDA_SUCCESS;
    return was;
}

/* Whether memory can be had in one piece; if not, in small ones, which is as good. */
static CUdeviceptr new_pieces(void)
{
    CUdeviceptr all = 0;
    if (keep(cuMemAlloc(&all, (size_t)1 << 46)) != CUDA_SUCCESS) // <-- first second
        all = new_floats();
    return all;
}

static CUgraphExec fill_exec(CUstream stream, CUdeviceptr out)
{
    CU(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FILL(stream, out, 5);
    return end_capture(stream);
}

/* The check after a launch asks the layer, and gives up. */
static void first(void)
{
    const char *name = "";
    const CUdeviceptr out = new_pieces();
    CUstream stream = new_stream();
    CUgraphExec exec = fill_exec(stream, out);
    for (int step = 0; step < 3; step++) {
        CU(cuGraphLaunch(exec, stream));
        const CUresult result = take_kept();
        if (result != CUDA_SUCCESS) {
            cuGetErrorName(result, &name);
            printf("step %d: the launch failed: %s\n", step, name);
            exit(3);
        }
    }
}

/* Nobody clears it: each step is taken for a failed one. */
static void second(void)
{
    const CUdeviceptr out = new_pieces();
    CUstream stream = new_stream();
    CUgraphExec exec = fill_exec(stream, out);
    int lost = 0;
    for (int step = 0; step < 4; step++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        if (kept != CUDA_SUCCESS) {
            fprintf(stderr, "step %d is left out: CUDA error: CUDA_ERROR_OUT_OF_MEMORY\n",
                    step);
            lost++;
        }
    }
    EXPECT(lost == 4);
}

/* Handled, said, and cleared. What fails afterwards fails by itself. */
static void near(void)
{
    const char *name = "";
    const CUdeviceptr out = new_pieces();
    cuGetErrorName(take_kept(), &name);
    fprintf(stderr, "in small pieces: CUDA error: %s\n", name);
    CUstream stream = new_stream();
    CUgraphExec exec = fill_exec(stream, out);
    for (int step = 0; step < 3; step++) {
        CU(cuGraphLaunch(exec, stream));
        CU(cuStreamSynchronize(stream));
        EXPECT(take_kept() == CUDA_SUCCESS);
    }
    EXPECT(float_at(out, 0) == 5);
    printf("the pieces were needed because of %s\n", name);
}

BROKEN(first, second, near)

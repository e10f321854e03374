// SPDX-License-Identifier: Apache-2.0
/* What the tests call of the CUDA runtime, declared as the toolkit 13.0 has it; and what
 * nvcc's start-up code does, done by hand: a kernel, a variable, a managed variable. */
#ifndef TEST_RUNTIME_API_H
#define TEST_RUNTIME_API_H
#include "softcuda/runtime/types.h"

void **__cudaRegisterFatBinary(void *image);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device,
                            const char *name, int limit, void *thread, void *block,
                            dim3 *block_dim, dim3 *grid_dim, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t bytes, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **pointer, char *device,
                              const char *name, int ext, size_t bytes, int constant,
                              int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared,
                                     CUstream stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                       void *stream);

cudaError_t cudaGetLastError(void);
cudaError_t cudaPeekAtLastError(void);
const char *cudaGetErrorName(cudaError_t error);
const char *cudaGetErrorString(cudaError_t error);
cudaError_t cudaGetDeviceCount(int *count);
cudaError_t cudaGetDevice(int *device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceReset(void);
cudaError_t cudaDeviceSynchronize(void);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *out, int device);
cudaError_t cudaRuntimeGetVersion(int *version);
cudaError_t cudaMalloc(void **pointer, size_t bytes);
cudaError_t cudaMallocHost(void **pointer, size_t bytes);
cudaError_t cudaMallocPitch(void **pointer, size_t *pitch, size_t width, size_t height);
cudaError_t cudaGetDeviceFlags(unsigned *flags);
cudaError_t cudaSetDeviceFlags(unsigned flags);
cudaError_t cudaLaunchHostFunc(CUstream stream, CUhostFn fn, void *user);
cudaError_t cudaStreamQuery(CUstream stream);
cudaError_t cudaMallocManaged(void **pointer, size_t bytes, unsigned flags);
cudaError_t cudaFree(void *pointer);
cudaError_t cudaFreeHost(void *pointer);
cudaError_t cudaMemset(void *pointer, int value, size_t bytes);
cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                            CUstream stream);
cudaError_t cudaMemcpyAsync_ptsz(void *to, const void *from, size_t bytes, int kind,
                                 CUstream stream);
cudaError_t cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                         size_t width, size_t height, int kind);
cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes,
                               size_t offset, int kind);
cudaError_t cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes,
                                 size_t offset, int kind);
cudaError_t cudaGetSymbolSize(size_t *bytes, const void *symbol);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out,
                                     const void *pointer);
cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
                             size_t shared, CUstream stream);
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                void **args);
cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block,
                                        void **args, size_t shared, CUstream stream);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *out, const void *func);
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func,
                                                          int threads, size_t shared);
cudaError_t cudaStreamCreate(CUstream *stream);
cudaError_t cudaStreamDestroy(CUstream stream);
cudaError_t cudaStreamSynchronize(CUstream stream);
cudaError_t cudaStreamSynchronize_ptsz(CUstream stream);
cudaError_t cudaStreamBeginCapture(CUstream stream, int mode);
cudaError_t cudaStreamEndCapture(CUstream stream, CUgraph *graph);
cudaError_t cudaGraphCreate(CUgraph *graph, unsigned flags);
cudaError_t cudaGraphDestroy(CUgraph graph);
cudaError_t cudaGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count);
cudaError_t cudaGraphInstantiate(CUgraphExec *exec, CUgraph graph,
                                 unsigned long long flags);
cudaError_t cudaGraphLaunch(CUgraphExec exec, CUstream stream);
cudaError_t cudaGraphExecDestroy(CUgraphExec exec);
cudaError_t cudaGraphAddKernelNode(CUgraphNode *out, CUgraph graph,
                                   const CUgraphNode *after, size_t count,
                                   const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphKernelNodeGetParams(CUgraphNode node,
                                         struct cudaKernelNodeParams *params);
cudaError_t cudaGraphExecKernelNodeSetParams(CUgraphExec exec, CUgraphNode node,
                                             const struct cudaKernelNodeParams *params);
cudaError_t cudaGraphAddMemsetNode(CUgraphNode *out, CUgraph graph,
                                   const CUgraphNode *after, size_t count,
                                   const struct cudaMemsetParams *params);
cudaError_t cudaGraphAddMemcpyNode1D(CUgraphNode *out, CUgraph graph,
                                     const CUgraphNode *after, size_t count, void *to,
                                     const void *from, size_t bytes, int kind);
cudaError_t cudaGraphMemcpyNodeGetParams(CUgraphNode node,
                                         struct cudaMemcpy3DParms *params);
cudaError_t cudaGraphAddMemcpyNodeFromSymbol(CUgraphNode *out, CUgraph graph,
                                             const CUgraphNode *after, size_t count,
                                             void *to, const void *symbol, size_t bytes,
                                             size_t offset, int kind);
cudaError_t cudaGraphAddNode(CUgraphNode *out, CUgraph graph, const CUgraphNode *after,
                             const CUgraphEdgeData *edges, size_t count,
                             struct cudaGraphNodeParams *params);
cudaError_t cudaMallocArray(void **array, const struct cudaChannelFormatDesc *desc,
                            size_t width, size_t height, unsigned flags);

cudaError_t cudaFreeArray(void *array);
cudaError_t cudaArrayGetInfo(struct cudaChannelFormatDesc *channels,
                             struct cudaExtent *extent, unsigned *flags, void *array);
cudaError_t cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from,
                                size_t pitch, size_t width, size_t height, int kind);
cudaError_t cudaMemcpy2DFromArray(void *to, size_t pitch, const void *from, size_t x,
                                  size_t y, size_t width, size_t height, int kind);
cudaError_t cudaGraphicsUnregisterResource(void *resource);
cudaError_t cudaGraphicsGLRegisterBuffer(void **resource, unsigned buffer,
                                         unsigned flags);
cudaError_t cudaVDPAUSetVDPAUDevice(int device, void *vdp, void *get);

/* y[i] += 1 for `n` words, and `sum` counts the threads that did. */
static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 sum;\n"
    ".global .attribute(.managed) .align 4 .u32 shared_word = 5;\n"
    ".visible .entry add_one(.param .u64 y, .param .u32 n) {\n"
    " .reg .pred %p; .reg .b32 %r<7>; .reg .b64 %d<4>;\n"
    " ld.param.u64 %d1, [y]; ld.param.u32 %r1, [n];\n"
    " mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x;\n"
    " mad.lo.u32 %r2, %r2, %r3, %r4; setp.ge.u32 %p, %r2, %r1; @%p bra end;\n"
    " cvta.to.global.u64 %d1, %d1; mul.wide.u32 %d2, %r2, 4; add.s64 %d1, %d1, %d2;\n"
    " ld.global.u32 %r5, [%d1]; add.u32 %r5, %r5, 1; st.global.u32 [%d1], %r5;\n"
    " mov.u64 %d3, sum; atom.global.add.u32 %r6, [%d3], 1;\n"
    "end: ret;\n}\n"
    ".visible .entry touch() {\n"
    " .reg .b32 %r; .reg .b64 %d;\n"
    " mov.u64 %d, shared_word; ld.global.u32 %r, [%d]; add.u32 %r, %r, 1;\n"
    " st.global.u32 [%d], %r; ret;\n}\n";

static void **fat_handle;
static unsigned sum; /* the shadow of the variable */
static unsigned *shared_word;

/* What the host calls kernels by: their addresses. nvcc makes functions of them. */
static char add_one, touch, no_kernel;

static inline void register_kernels(void)
{
    fat_handle = __cudaRegisterFatBinary((void *)(uintptr_t)ptx);
    __cudaRegisterFunction(fat_handle, &add_one, NULL, "add_one", -1, NULL, NULL, NULL,
                           NULL, NULL);
    __cudaRegisterFunction(fat_handle, &touch, NULL, "touch", -1, NULL, NULL, NULL, NULL,
                           NULL);
    __cudaRegisterFunction(fat_handle, &no_kernel, NULL, "no_kernel", -1, NULL, NULL,
                           NULL, NULL, NULL);
    __cudaRegisterVar(fat_handle, (char *)&sum, NULL, "sum", 0, 4, 0, 0);
    __cudaRegisterManagedVar(fat_handle, (void **)&shared_word, NULL, "shared_word", 0, 4,
                             0, 0);
    __cudaRegisterFatBinaryEnd(fat_handle);
}
#endif

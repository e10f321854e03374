// SPDX-License-Identifier: Apache-2.0
/* The open driver, its first device's primary context, the module of kernels, a stream,
 * and what was allocated, so that one call gives it all back. */
#ifndef DECODE_DEVICE_H
#define DECODE_DEVICE_H

#include <gph/gph.h>

/* Calls cu<name> and returns from the caller's function if it fails. */
#define CU(device, name, ...)                                                            \
    TRY(gph_cuda_check((device)->cu->name(__VA_ARGS__), "cu" #name, error))

#define DECODE_KERNELS(X)                                                                \
    X(embed)                                                                             \
    X(rms_norm)                                                                          \
    X(matvec)                                                                            \
    X(matmul)                                                                            \
    X(rotary)                                                                            \
    X(kv_append)                                                                         \
    X(attention)                                                                         \
    X(swiglu)                                                                            \
    X(residual_add)                                                                      \
    X(gather)                                                                            \
    X(softmax)                                                                           \
    X(argmax)                                                                            \
    X(top_p)                                                                             \
    X(record)                                                                            \
    X(advance)                                                                           \
    X(advance_while)                                                                     \
    X(place)                                                                             \
    X(unpack)                                                                            \
    X(say_first)                                                                         \
    X(pick)                                                                              \
    X(put_back)                                                                          \
    X(look_ahead)                                                                        \
    X(margin)                                                                            \
    X(accept)

typedef enum kernel {
#define X(name) KERNEL_##name,
    DECODE_KERNELS(X)
#undef X
        KERNEL_COUNT
} kernel;

enum { DEVICE_BLOCKS_MAX = 64 };

typedef struct device {
    gph_allocator heap;
    gph_runtime *runtime;
    const gph_cuda_calls *cu;
    gph_driver_info info;
    CUdevice ordinal;
    CUcontext context;
    CUmodule module;
    CUstream stream;
    char name[128];
    char ptx_path[4096];
    CUfunction kernel[KERNEL_COUNT];
    CUdeviceptr block[DEVICE_BLOCKS_MAX]; /* allocations, freed with the device */
    void *pinned[DEVICE_BLOCKS_MAX];
    uint32_t blocks, pins;
    uint64_t launches; /* calls of cuLaunchKernel and gph_exec_launch */
    uint64_t load_ns;  /* the module's load took this */
} device;

/* Where a kernel runs. */
typedef struct launch_size {
    uint32_t grid_x, grid_y, block_x, block_y, shared_bytes;
} launch_size;

typedef struct device_options {
    uint32_t driver;     /* a gph_driver */
    uint32_t device;     /* its number, modulo how many there are */
    const char *kernels; /* the folder of decode.ptx */
} device_options;

/* Opens everything. On failure *out holds nothing. */
GPH_CHECKED gph_status device_open(const gph_allocator *heap,
                                   const device_options *options, device *out,
                                   gph_error *error);
void device_close(device *d);

/* Zero-filled device memory, and pinned host memory that kernels can write; both live
 * until device_close(). */
GPH_CHECKED gph_status device_alloc(device *d, size_t bytes, CUdeviceptr *out,
                                    gph_error *error);
GPH_CHECKED gph_status device_pin(device *d, size_t bytes, void **out, gph_error *error);

/* Launches a kernel on the device's stream; `arguments` as for cuLaunchKernel. */
GPH_CHECKED gph_status device_launch(device *d, kernel which, launch_size size,
                                     void **arguments, gph_error *error);

/* Waits for all work of the context. */
GPH_CHECKED gph_status device_wait(device *d, gph_error *error);

/* Nanoseconds of a clock that only goes forward. */
uint64_t device_clock_ns(void);

#endif

// SPDX-License-Identifier: Apache-2.0
/* What kernels may call of dynamic parallelism (CDP2): nvcc writes <<< >>> in a kernel, and
 * the run time's functions there, as calls of __cudaCDP2... of libcudadevrt.a. Generated code
 * hands each to the run time by its number, with its arguments as 64-bit words; what is
 * passed by value and is longer, as the address of where it lies.
 * X(name, result, arguments, their types, bytes of those that are PTX_NONE, number) */
#ifndef SOFT_PTX_NESTEDCALLS_H
#define SOFT_PTX_NESTEDCALLS_H

enum {
    PTX_NESTED_BUFFER = 1,
    PTX_NESTED_BUFFER_OLD,
    PTX_NESTED_LAUNCH,
    PTX_NESTED_LAUNCH_OLD,
    PTX_NESTED_LAST_ERROR,
    PTX_NESTED_PEEK_ERROR,
    PTX_NESTED_ERROR_STRING,
    PTX_NESTED_ERROR_NAME,
    PTX_NESTED_STREAM_CREATE,
    PTX_NESTED_STREAM_DESTROY,
    PTX_NESTED_STREAM_WAIT,
    PTX_NESTED_EVENT_CREATE,
    PTX_NESTED_EVENT_RECORD,
    PTX_NESTED_EVENT_DESTROY,
    PTX_NESTED_MALLOC,
    PTX_NESTED_FREE,
    PTX_NESTED_COPY,
    PTX_NESTED_COPY_2D,
    PTX_NESTED_COPY_3D,
    PTX_NESTED_FILL,
    PTX_NESTED_FILL_2D,
    PTX_NESTED_FILL_3D,
    PTX_NESTED_DEVICE_ATTRIBUTE,
    PTX_NESTED_LIMIT,
    PTX_NESTED_CACHE_CONFIG,
    PTX_NESTED_BANK_CONFIG,
    PTX_NESTED_DEVICE_COUNT,
    PTX_NESTED_DEVICE,
    PTX_NESTED_VERSION,
    PTX_NESTED_FUNCTION,
    PTX_NESTED_OCCUPANCY,
    PTX_NESTED_OCCUPANCY_FLAGS
};

#define PTX_NESTED_ARGUMENTS 8

/* clang-format off */
#define PTX_NESTED_TWICE(X, name, ...) X(name, __VA_ARGS__) X(name##_ptsz, __VA_ARGS__)
#define PTX_NESTED_CALLS(X)                                                                \
    X(GetParameterBuffer, PTX_U64, 2, {PTX_U64, PTX_U64}, {0}, PTX_NESTED_BUFFER_OLD)      \
    X(GetParameterBufferV2, PTX_U64, 4, {PTX_U64, PTX_NONE, PTX_NONE, PTX_U32},            \
      {0, 12, 12}, PTX_NESTED_BUFFER)                                                      \
    PTX_NESTED_TWICE(X, LaunchDevice, PTX_U32, 6,                                          \
      {PTX_U64, PTX_U64, PTX_NONE, PTX_NONE, PTX_U32, PTX_U64}, {0, 0, 12, 12},            \
      PTX_NESTED_LAUNCH_OLD)                                                               \
    PTX_NESTED_TWICE(X, LaunchDeviceV2, PTX_U32, 2, {PTX_U64, PTX_U64}, {0},               \
      PTX_NESTED_LAUNCH)                                                                   \
    X(GetLastError, PTX_U32, 0, {PTX_NONE}, {0}, PTX_NESTED_LAST_ERROR)                    \
    X(PeekAtLastError, PTX_U32, 0, {PTX_NONE}, {0}, PTX_NESTED_PEEK_ERROR)                 \
    X(GetErrorString, PTX_U64, 1, {PTX_U32}, {0}, PTX_NESTED_ERROR_STRING)                 \
    X(GetErrorName, PTX_U64, 1, {PTX_U32}, {0}, PTX_NESTED_ERROR_NAME)                     \
    X(StreamCreateWithFlags, PTX_U32, 2, {PTX_U64, PTX_U32}, {0},                          \
      PTX_NESTED_STREAM_CREATE)                                                            \
    X(StreamDestroy, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_STREAM_DESTROY)                \
    PTX_NESTED_TWICE(X, StreamWaitEvent, PTX_U32, 3, {PTX_U64, PTX_U64, PTX_U32}, {0},     \
      PTX_NESTED_STREAM_WAIT)                                                              \
    X(EventCreateWithFlags, PTX_U32, 2, {PTX_U64, PTX_U32}, {0}, PTX_NESTED_EVENT_CREATE)  \
    PTX_NESTED_TWICE(X, EventRecord, PTX_U32, 2, {PTX_U64, PTX_U64}, {0},                  \
      PTX_NESTED_EVENT_RECORD)                                                             \
    X(EventDestroy, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_EVENT_DESTROY)                  \
    X(Malloc, PTX_U32, 2, {PTX_U64, PTX_U64}, {0}, PTX_NESTED_MALLOC)                      \
    X(Free, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_FREE)                                   \
    PTX_NESTED_TWICE(X, MemcpyAsync, PTX_U32, 5,                                           \
      {PTX_U64, PTX_U64, PTX_U64, PTX_U32, PTX_U64}, {0}, PTX_NESTED_COPY)                 \
    PTX_NESTED_TWICE(X, Memcpy2DAsync, PTX_U32, 8,                                         \
      {PTX_U64, PTX_U64, PTX_U64, PTX_U64, PTX_U64, PTX_U64, PTX_U32, PTX_U64}, {0},       \
      PTX_NESTED_COPY_2D)                                                                  \
    PTX_NESTED_TWICE(X, Memcpy3DAsync, PTX_U32, 2, {PTX_U64, PTX_U64}, {0},                \
      PTX_NESTED_COPY_3D)                                                                  \
    PTX_NESTED_TWICE(X, MemsetAsync, PTX_U32, 4, {PTX_U64, PTX_U32, PTX_U64, PTX_U64},     \
      {0}, PTX_NESTED_FILL)                                                                \
    PTX_NESTED_TWICE(X, Memset2DAsync, PTX_U32, 6,                                         \
      {PTX_U64, PTX_U64, PTX_U32, PTX_U64, PTX_U64, PTX_U64}, {0}, PTX_NESTED_FILL_2D)     \
    PTX_NESTED_TWICE(X, Memset3DAsync, PTX_U32, 4, {PTX_NONE, PTX_U32, PTX_NONE, PTX_U64}, \
      {32, 0, 24}, PTX_NESTED_FILL_3D)                                                     \
    X(DeviceGetAttribute, PTX_U32, 3, {PTX_U64, PTX_U32, PTX_U32}, {0},                    \
      PTX_NESTED_DEVICE_ATTRIBUTE)                                                         \
    X(DeviceGetLimit, PTX_U32, 2, {PTX_U64, PTX_U32}, {0}, PTX_NESTED_LIMIT)               \
    X(DeviceGetCacheConfig, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_CACHE_CONFIG)           \
    X(DeviceGetSharedMemConfig, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_BANK_CONFIG)        \
    X(GetDeviceCount, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_DEVICE_COUNT)                 \
    X(GetDevice, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_DEVICE)                            \
    X(RuntimeGetVersion, PTX_U32, 1, {PTX_U64}, {0}, PTX_NESTED_VERSION)                   \
    X(FuncGetAttributes, PTX_U32, 2, {PTX_U64, PTX_U64}, {0}, PTX_NESTED_FUNCTION)         \
    X(OccupancyMaxActiveBlocksPerMultiprocessor, PTX_U32, 4,                               \
      {PTX_U64, PTX_U64, PTX_U32, PTX_U64}, {0}, PTX_NESTED_OCCUPANCY)                     \
    X(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags, PTX_U32, 5,                      \
      {PTX_U64, PTX_U64, PTX_U32, PTX_U64, PTX_U32}, {0}, PTX_NESTED_OCCUPANCY_FLAGS)
/* clang-format on */

#endif

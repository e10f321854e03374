// SPDX-License-Identifier: Apache-2.0
/* Channels as the runtime describes them, as the driver does. */
#ifndef SOFT_RUNTIME_ARRAYS_H
#define SOFT_RUNTIME_ARRAYS_H
#include "softcuda/runtime/entry.h"

/* How many channels there are, of what format; 0: the driver has no such one. */
int rt_channels_to_driver(const struct cudaChannelFormatDesc *from, CUarray_format *out);
struct cudaChannelFormatDesc rt_channels_to_runtime(CUarray_format format,
                                                    unsigned count);
/* Heights and depths of 0 say how many dimensions there are. */
cudaError_t rt_array_shape(const struct cudaChannelFormatDesc *channels,
                           struct cudaExtent extent, unsigned flags,
                           CUDA_ARRAY3D_DESCRIPTOR *out);
#endif

// SPDX-License-Identifier: Apache-2.0
/* CUexternalMemory and CUexternalSemaphore: what another API or process has made. */
#ifndef SOFT_DEVICE_EXTERNAL_H
#define SOFT_DEVICE_EXTERNAL_H
#include "softcuda/device/context.h"

/* Another descriptor for a file, which exec() closes: what is imported is the driver's, and
 * the program's number is closed when all went well. -1: there are too many. */
int soft_external_keep(int file);

/* Closes the descriptor. */
CUresult soft_external_import(const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *desc,
                              CUexternalMemory *out);
/* What is mapped stays mapped. */
CUresult soft_external_destroy(CUexternalMemory handle);
CUresult soft_external_buffer(soft_context *context, CUexternalMemory handle,
                              const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *desc,
                              CUdeviceptr *out);
CUresult soft_external_levels(soft_context *context, CUexternalMemory handle,
                              const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *desc,
                              CUmipmappedArray *out);

/* ---- semaphores: semaphore.c ----------------------------------------------------------- */

/* An eventfd (OPAQUE_FD): a signal adds 1, a wait takes 1. A file that can be mapped
 * (TIMELINE_SEMAPHORE_FD): its first 8 bytes are a counter, which a signal raises to a value
 * and a wait compares. Closes the descriptor. */
CUresult soft_semaphore_import(const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *desc,
                               CUexternalSemaphore *out);
CUresult soft_semaphore_destroy(CUexternalSemaphore handle);
CUresult soft_semaphore_check(CUexternalSemaphore handle);

typedef enum soft_semaphore_state {
    SOFT_SEMAPHORE_DONE,
    SOFT_SEMAPHORE_WAITS, /* not signaled yet */
    SOFT_SEMAPHORE_GONE   /* destroyed, or its file was cut off */
} soft_semaphore_state;

/* Of any pointer; never block. */
soft_semaphore_state soft_semaphore_signal(CUexternalSemaphore handle, uint64_t value);
soft_semaphore_state soft_semaphore_wait(CUexternalSemaphore handle, uint64_t value);
#endif

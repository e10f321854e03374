// SPDX-License-Identifier: Apache-2.0
/* A runtime that keeps errors (last_error_runtime.c), and a library over it
 * (last_error_client.c). */
#ifndef LAST_ERROR_H
#define LAST_ERROR_H
#include "cuda/abi.h"

#pragma GCC visibility push(default) /* libraries are built with all hidden */
int last_error_alloc(CUdeviceptr *out, size_t bytes);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);

/* Launches `kernel`, checks as a framework does, and gives what the check has found. */
int client_step(CUfunction kernel, CUstream stream, void **arguments);
int client_alloc(CUdeviceptr *out, size_t bytes);
int client_clear(void);
#pragma GCC visibility pop
#endif

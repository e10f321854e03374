// SPDX-License-Identifier: Apache-2.0
/* What nvcc's start-up code registers: fat binaries, and the host's names for what is in
 * them. A binary is loaded when something of it is first used. */
#ifndef SOFT_RUNTIME_REGISTRY_H
#define SOFT_RUNTIME_REGISTRY_H
#include "softcuda/runtime/entry.h"

/* The kernel of a host stub, or of a CUkernel that was given as one.
 * cudaErrorInvalidResourceHandle, in version 12 cudaErrorInvalidDeviceFunction: it was not
 * registered; the latter in both where its binary has no such kernel. Needs a current context. */
cudaError_t rt_kernel(const rt_driver *cu, const void *host, CUkernel *out);
/* The same as a function of the current context. */
cudaError_t rt_function(const rt_driver *cu, const void *host, CUfunction *out);
/* The host stub of a function of the current context; NULL: none is known. */
const void *rt_stub(const rt_driver *cu, CUfunction function);
/* Where the current context has a variable, by the address of its host shadow.
 * cudaErrorInvalidSymbol: there is none. */
cudaError_t rt_symbol(const rt_driver *cu, const void *host, CUdeviceptr *address,
                      size_t *bytes);
/* Loads all again at its next use: after a reset of the device. */
void rt_program_forget(const rt_driver *cu);
#endif

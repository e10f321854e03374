// SPDX-License-Identifier: Apache-2.0
/* What every entry of the runtime begins and ends with: the driver, a context that is
 * current, and the thread's last error. */
#ifndef SOFT_RUNTIME_ENTRY_H
#define SOFT_RUNTIME_ENTRY_H
#include "cuda/calls.h"
#include "softcuda/runtime/types.h"
#include <gph/base.h>

#include <stdbool.h>
#include <stddef.h>

/* The driver's calls, found by cuGetProcAddress(). What a driver lacks returns
 * CUDA_ERROR_NOT_SUPPORTED. */
typedef struct rt_driver {
#define X(name, version, arguments) CUresult(*name) arguments;
    GPHI_CUDA_CALLS(X)
#undef X
} rt_driver;

/* Which of the two default streams a stream of 0 is. */
typedef enum rt_default { RT_LEGACY = 0, RT_PER_THREAD = 1 } rt_default;

/* Finds the driver, once a process. Any thread. */
cudaError_t rt_load(const rt_driver **out, rt_default stream);
/* The same, and makes the primary context of the thread's device current where no context
 * is. */
cudaError_t rt_enter(const rt_driver **out, rt_default stream);
/* Whether the process ends: what is still loaded goes with it. */
bool rt_is_ending(void);
/* Keeps an error as the thread's last one, and returns it. */
cudaError_t rt_leave(cudaError_t result);

/* The thread's last error; `forget` sets it back to success. */
cudaError_t rt_last_error(int forget);

/* The device of the calling thread: that of its current context, else the one it has
 * chosen. */
int rt_device(const rt_driver *cu);
/* Whether there is a device of that number: cudaErrorNoDevice, cudaErrorInvalidDevice. */
cudaError_t rt_device_check(const rt_driver *cu, int device);
/* Makes the primary context of a device current. */
cudaError_t rt_device_set(const rt_driver *cu, int device);
/* The one that a thread takes which has neither chosen one nor has a context. */
void rt_device_prefer(int device);
/* The primary contexts are not retained any more: after a reset. */
void rt_device_forget(const rt_driver *cu, int device);

/* An entry, its arguments as (type, name, ...): `expression` is a CUresult or a
 * cudaError_t and may use the driver's calls as `cu`.
 *   RT_ENTRY  with a current context
 *   RT_EARLY  before there is one
 *   RT_TWINS  RT_ENTRY in both variants: `suffix` is _ptsz, or _ptds where the call has no
 *             stream and waits */
#define RT_MAKE(begin, default_stream, name, arguments, expression)                      \
    GPH_API cudaError_t name GPHI_DECLARED(arguments);                                   \
    cudaError_t name GPHI_DECLARED(arguments)                                            \
    {                                                                                    \
        const rt_driver *cu;                                                             \
        const cudaError_t begun = begin(&cu, default_stream);                            \
        return rt_leave(begun != cudaSuccess ? begun : (cudaError_t)(expression));       \
    }
#define RT_ENTRY(name, arguments, expression)                                            \
    RT_MAKE(rt_enter, RT_LEGACY, name, arguments, expression)
#define RT_EARLY(name, arguments, expression)                                            \
    RT_MAKE(rt_load, RT_LEGACY, name, arguments, expression)
#define RT_TWINS(name, suffix, arguments, expression)                                    \
    RT_ENTRY(name, arguments, expression)                                                \
    RT_MAKE(rt_enter, RT_PER_THREAD, name##suffix, arguments, expression)
#endif

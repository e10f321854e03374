// SPDX-License-Identifier: Apache-2.0
/* Lock annotations that clang checks (-Wthread-safety), and who the thread is. */
#ifndef GPHI_BASE_THREAD_H
#define GPHI_BASE_THREAD_H
#include <pthread.h>
#include <stdint.h>

#if defined(__clang__)
#define GPHI_REQUIRES(mutex) __attribute__((requires_capability(mutex)))
#else
#define GPHI_REQUIRES(mutex)
#endif

/* The kernel's number of this thread, as gdb and top show it. */
uint64_t gphi_thread_id(void);
#endif

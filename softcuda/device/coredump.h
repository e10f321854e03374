// SPDX-License-Identifier: Apache-2.0
/* Settings of core dumps. */
#ifndef SOFT_DEVICE_COREDUMP_H
#define SOFT_DEVICE_COREDUMP_H
#include <stddef.h>
#include <stdint.h>

#include "cuda/abi.h"

/* Kept and given back, under a lock of their own. */
typedef struct soft_coredump {
    uint8_t on_exception, trigger_host, lightweight, user_trigger;
    uint32_t flags;
    char file[1024], pipe[1024]; /* "" until they are set */
} soft_coredump;

/* What the settings of a fresh context are: the process's of now. */
void soft_coredump_begin(soft_coredump *out);

/* `settings` NULL: the process's. Fail with INVALID_VALUE. Thread: any. */
CUresult soft_coredump_get(soft_coredump *settings, CUcoredumpSettings which, void *value,
                           size_t *size);
CUresult soft_coredump_set(soft_coredump *settings, CUcoredumpSettings which,
                           const void *value, const size_t *size);
#endif

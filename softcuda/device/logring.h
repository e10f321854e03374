// SPDX-License-Identifier: Apache-2.0
/* The parts of the log that only the cuLogs* calls need. */
#ifndef SOFT_DEVICE_LOGRING_H
#define SOFT_DEVICE_LOGRING_H
#include <stdbool.h>

#include "softcuda/device/log.h"

/* `function` is called for each line from now on, on the thread that logs. */
CUresult soft_log_callback_add(CUlogsCallback function, void *user, void **out);

/* False for what is not a callback. After it the function is not running any more. */
bool soft_log_callback_remove(void *handle);

/* The count of lines ever written. */
uint32_t soft_log_end(void);

/* Copies line `index`, or the oldest kept one after it, and returns the next index; `out`
 * is empty where there is none. */
uint32_t soft_log_line(uint32_t index, char *out, size_t bytes);
#endif

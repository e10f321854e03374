// SPDX-License-Identifier: Apache-2.0
/* Settings of core dumps, by context and for contexts to come. They are kept and given back
 * as an H100 does; softcuda writes no dump: a fault is a sentence that names the thread
 * (CUDA_LOG_FILE), and what a debugger can read is the process itself. No more bytes are
 * written than asked for: NVIDIA's driver 580 fills 1,023 with text, whatever the size. */
#include "softcuda/device/coredump.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "softcuda/device/log.h"

/* For contexts to come. */
static soft_coredump everywhere;
/* Of all records: settings are rare. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void soft_coredump_begin(soft_coredump *out)
{
    pthread_mutex_lock(&mutex);
    *out = everywhere;
    pthread_mutex_unlock(&mutex);
}

/* Where a setting is and how many bytes it has; a context has neither a pipe nor a trigger
 * by the user, these are the process's. */
static CUresult find(soft_coredump *settings, bool is_context, CUcoredumpSettings which,
                     void **out, size_t *bytes)
{
    *bytes = sizeof(uint8_t);
    switch ((int)which) {
    case CU_COREDUMP_ENABLE_ON_EXCEPTION: *out = &settings->on_exception; break;
    case CU_COREDUMP_TRIGGER_HOST: *out = &settings->trigger_host; break;
    case CU_COREDUMP_LIGHTWEIGHT: *out = &settings->lightweight; break;
    case CU_COREDUMP_FILE:
        *out = settings->file;
        *bytes = sizeof(settings->file);
        return CUDA_SUCCESS;
    case CU_COREDUMP_GENERATION_FLAGS:
        *out = &settings->flags;
        *bytes = sizeof(settings->flags);
        return CUDA_SUCCESS;
    case CU_COREDUMP_ENABLE_USER_TRIGGER: *out = &settings->user_trigger; break;
    case CU_COREDUMP_PIPE:
        *out = settings->pipe;
        *bytes = sizeof(settings->pipe);
        break;
    default:
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%d is not a setting of core dumps",
                         (int)which);
    }
    if (is_context &&
        (which == CU_COREDUMP_PIPE || which == CU_COREDUMP_ENABLE_USER_TRIGGER))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "setting %d of core dumps is the process's, not a context's",
                         (int)which);
    return CUDA_SUCCESS;
}

static bool is_text(CUcoredumpSettings which)
{
    return which == CU_COREDUMP_FILE || which == CU_COREDUMP_PIPE;
}

/* Without a value the size is answered; a text is cut to the room there is. */
CUresult soft_coredump_get(soft_coredump *settings, CUcoredumpSettings which, void *value,
                           size_t *size)
{
    void *from;
    size_t bytes;
    SOFT_TRY(
        find(settings ? settings : &everywhere, settings != NULL, which, &from, &bytes));
    SOFT_TRY(soft_need(size, "size"));
    if (!value) {
        *size = bytes;
        return CUDA_SUCCESS;
    }
    if (is_text(which) ? *size == 0 : *size != bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "setting %d of core dumps has %zu bytes, not %zu", (int)which,
                         bytes, *size);
    const size_t room = *size < bytes ? *size : bytes;
    pthread_mutex_lock(&mutex);
    memcpy(value, from, room);
    pthread_mutex_unlock(&mutex);
    if (is_text(which))
        ((char *)value)[room - 1] = '\0';
    return CUDA_SUCCESS;
}

CUresult soft_coredump_set(soft_coredump *settings, CUcoredumpSettings which,
                           const void *value, const size_t *size)
{
    void *to;
    size_t bytes;
    SOFT_TRY(
        find(settings ? settings : &everywhere, settings != NULL, which, &to, &bytes));
    SOFT_TRY(soft_need(value, "value"));
    SOFT_TRY(soft_need(size, "size"));
    if (is_text(which) ? *size >= bytes : *size != bytes)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "setting %d of core dumps has %zu bytes, not %zu", (int)which,
                         bytes, *size);
    pthread_mutex_lock(&mutex);
    if (is_text(which))
        memset(to, 0, bytes);
    memcpy(to, value, *size);
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

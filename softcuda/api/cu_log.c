// SPDX-License-Identifier: Apache-2.0
/* The cuLogs* calls.
 *
 * The ring, callbacks and files are in device/log.c; here are iterators and what fits a
 * buffer. None of the calls needs cuInit(). */
#include <stdio.h>
#include <string.h>

#include "softcuda/api/exports.h"
#include "softcuda/device/context.h"
#include "softcuda/device/logring.h"

#define LINE_BYTES 768
#define CUT_NOTE "[earlier lines left out: the buffer is too small]\n"

/* Works before cuInit(), as all calls of the log do. */
CUresult cuLogsRegisterCallback(CUlogsCallback function, void *user,
                                CUlogsCallbackHandle *out)
{
    soft_thread_self()->call = __func__;
    if (!function)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the callback is NULL");
    void *handle;
    SOFT_TRY(soft_log_callback_add(function, user, &handle));
    if (out)
        *out = handle;
    return CUDA_SUCCESS;
}

/* On return the callback does not run any more, unless it is the caller. */
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle handle)
{
    soft_thread_self()->call = __func__;
    if (!soft_log_callback_remove(handle))
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%p is not a log callback",
                         (void *)handle);
    return CUDA_SUCCESS;
}

/* An iterator is the number of the next line. */
CUresult cuLogsCurrent(CUlogIterator *out, unsigned int flags)
{
    soft_thread_self()->call = __func__;
    (void)flags; /* reserved, and any are taken */
    if (!out)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the iterator is NULL");
    *out = soft_log_end();
    return CUDA_SUCCESS;
}

/* Appended. Lines that the ring has lost are left out. */
CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *path, unsigned int flags)
{
    soft_thread_self()->call = __func__;
    if (!path || flags != 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "the path is %s, flags are 0x%x",
                         path ? path : "NULL", flags);
    FILE *file = fopen(path, "ae");
    if (!file)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "%s cannot be written", path);
    uint32_t at = iterator ? *iterator : 0;
    const uint32_t end = soft_log_end();
    char line[LINE_BYTES];
    while (at < end) {
        at = soft_log_line(at, line, sizeof(line));
        if (line[0] != '\0')
            fprintf(file, "%s\n", line);
    }
    const bool written = fclose(file) == 0;
    if (iterator)
        *iterator = at;
    return written
               ? CUDA_SUCCESS
               : soft_fail(CUDA_ERROR_INVALID_VALUE, "%s was not written whole", path);
}

/* The first line whose successors, with it, fit into `room` bytes. */
static uint32_t first_that_fits(uint32_t from, uint32_t end, size_t room)
{
    uint32_t first = end;
    size_t used = 0;
    char line[LINE_BYTES];
    while (first > from) {
        soft_log_line(first - 1, line, sizeof(line));
        used += strlen(line) + 1;
        if (used > room)
            return first;
        first--;
    }
    return first;
}

/* The newest lines that fit, with a note where older ones did not; CUDA keeps 100. */
CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size,
                            unsigned int flags)
{
    soft_thread_self()->call = __func__;
    if (!buffer || !size || flags != 0 || *size == 0)
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "buffer %p, size %p, flags 0x%x: no room to write to",
                         (void *)buffer, (void *)size, flags);
    const uint32_t end = soft_log_end();
    uint32_t at = iterator ? *iterator : 0;
    if (end > 100 && at < end - 100)
        at = end - 100;
    uint32_t first = first_that_fits(at, end, *size - 1);
    size_t used = 0;
    if (first > at) { /* not all of them: leave room to say so */
        const size_t note = strlen(CUT_NOTE);
        first = *size > note ? first_that_fits(at, end, *size - 1 - note) : end;
        if (first == end) {
            *size = 0;
            return CUDA_ERROR_INVALID_VALUE;
        }
        memcpy(buffer, CUT_NOTE, note);
        used = note;
    }
    while (first < end) {
        char line[LINE_BYTES];
        first = soft_log_line(first, line, sizeof(line));
        used += (size_t)snprintf(buffer + used, *size - used, "%s\n", line);
    }
    buffer[used] = '\0';
    *size = used;
    if (iterator)
        *iterator = end;
    return CUDA_SUCCESS;
}

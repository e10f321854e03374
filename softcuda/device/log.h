// SPDX-License-Identifier: Apache-2.0
/* The log door: CUDA's own (cuLogsRegisterCallback, CUDA_LOG_FILE), and SOFTCUDA_LOG.
 * Whoever refuses a call says why, once, in one sentence with the values. */
#ifndef SOFT_DEVICE_LOG_H
#define SOFT_DEVICE_LOG_H
#include <gph/base.h>

#include "cuda/abi.h"

/* Writes a sentence about the call that this thread is in, and a second line
 * "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc". */
void soft_refuse(CUresult code, const char *format, ...) GPH_PRINTF(2, 3);

/* soft_refuse(), and gives `code`, so that a refusal is
 * `return soft_fail(CUDA_ERROR_INVALID_VALUE, "...")`. A macro, so that the compiler sees
 * that outputs are set where a call succeeds. */
#define soft_fail(code, ...) (soft_refuse(code, __VA_ARGS__), (code))

/* The one macro that returns: passes on what is not CUDA_SUCCESS. */
#define SOFT_TRY(expr)                                                                   \
    do {                                                                                 \
        const CUresult soft_try_ = (expr);                                               \
        if (soft_try_ != CUDA_SUCCESS)                                                   \
            return soft_try_;                                                            \
    } while (0)

/* Goes on with `expr` where nothing was refused so far. */
#define SOFT_THEN(result, expr)                                                          \
    do {                                                                                 \
        if ((result) == CUDA_SUCCESS)                                                    \
            (result) = (expr);                                                           \
    } while (0)

/* INVALID_VALUE for NULL, with the argument's name in CUDA's headers. */
static inline CUresult soft_need(const void *pointer, const char *name)
{
    return pointer ? CUDA_SUCCESS
                   : soft_fail(CUDA_ERROR_INVALID_VALUE, "%s is NULL", name);
}

/* OUT_OF_MEMORY, with a sentence, where it was not made. */
#define soft_made(is_made, ...)                                                          \
    ((is_made) ? CUDA_SUCCESS : soft_fail(CUDA_ERROR_OUT_OF_MEMORY, __VA_ARGS__))

/* A line about something that is not a refusal: a kernel fault found later, a warning. */
void soft_log(CUlogLevel level, const char *format, ...) GPH_PRINTF(2, 3);

/* A line that must not go unseen: to the log, and to stderr where that is not the log. */
void soft_say(CUlogLevel level, const char *format, ...) GPH_PRINTF(2, 3);

/* Where a call of the folders below writes what was wrong: of this thread, and cleared.
 * What is in it is good until the next soft_error(). NULL without memory. */
gph_error *soft_error(void);
const char *soft_error_text(void); /* never NULL */

/* What such a call's status comes to: CUDA_SUCCESS for GPH_OK, a CUresult as it is, ours
 * as the nearest CUresult; the message in soft_error() goes to the log. */
CUresult soft_pass(gph_status status);

/* "CUDA_ERROR_INVALID_VALUE", or "unknown". */
const char *soft_result_name(CUresult code);
#endif

// SPDX-License-Identifier: Apache-2.0
/* A driver call's refusal as an error. */
#ifndef GPHI_CUDA_STATUS_H
#define GPHI_CUDA_STATUS_H
#include "cuda/abi.h"
#include <gph/cuda.h>

/* As gphi_fail(), with what the call returned after the sentence, and what the driver's
 * log said of it. `call` is a literal. */
gph_status gphi_cuda_fail(gph_error *error, gph_status result, const char *call,
                          const char *format, ...) GPH_PRINTF(4, 5);
/* GPH_OK if the call succeeded, else the same. Not on the way of a launch: it is a call
 * more, and its values are prepared in each case. */
gph_status gphi_cuda_check(gph_error *error, CUresult result, const char *call,
                           const char *format, ...) GPH_PRINTF(4, 5);

/* One refusal, as the driver's log says it: maybe a sentence, then the call and its code.
 * Whoever listens to the log passes both lines on, on the thread of the call. */
void gphi_cuda_hear_text(const char *text);
void gphi_cuda_hear_call(const char *call, int length, int code);
#endif

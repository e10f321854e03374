// SPDX-License-Identifier: Apache-2.0
/* A driver call's refusal as an error. */
#ifndef GPHI_CUDA_STATUS_H
#define GPHI_CUDA_STATUS_H
#include <gph/cuda.h>

/* As gphi_fail(), with what the call returned behind the sentence. `call` is a literal.
 */
gph_status gphi_cuda_fail(gph_error *error, gph_status result, const char *call,
                          const char *format, ...) GPH_PRINTF(4, 5);
#endif

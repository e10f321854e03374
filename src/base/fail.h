// SPDX-License-Identifier: Apache-2.0
#ifndef GPHI_BASE_FAIL_H
#define GPHI_BASE_FAIL_H
#include <gph/base.h>

/* Fills *error if there is one, and returns `code`, so that a failing function ends with
 * `return gphi_fail(error, GPH_E_INVALID, "...")`. Only the code that decides on the
 * failure calls it; callers pass the status up as it is. */
gph_status gphi_fail(gph_error *error, gph_status code, const char *format, ...)
    GPH_PRINTF(3, 4);

#define GPHI_TRY(expr)                                                                    \
    do {                                                                                 \
        const gph_status gphi_try_ = (expr);                                              \
        if (gphi_try_ != GPH_OK)                                                          \
            return gphi_try_;                                                             \
    } while (0)

/* Reads the options struct `src`, written by a caller built against any version of the
 * header, into the current version `dst`. */
gph_status gphi_options_read(void *dst, size_t dst_size, const void *src,
                            gph_error *error);
#endif

// SPDX-License-Identifier: Apache-2.0
/* The log: one line a decision, by area and level (GPH_LOG). */
#ifndef GPHI_BASE_LOG_H
#define GPHI_BASE_LOG_H
#include <gph/base.h>
#include <stdbool.h>

/* Whether a line of this area and level would be written: ask before building costly
 * text. */
bool gphi_log_on(const char *area, gph_log_level level);

/* Writes one line, without a line break at its end. Cheap when it is off. */
void gphi_log(const char *area, gph_log_level level, const char *format, ...)
    GPH_PRINTF(3, 4);

/* The level that a GPH_LOG text such as "cuda:info,all:error" gives to an area. What it
 * does not understand, it passes over. */
gph_log_level gphi_log_level_of(const char *spec, const char *area);
#endif

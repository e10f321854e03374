// SPDX-License-Identifier: Apache-2.0
/* Results as lines of a recording: the seed, the code of the first call that failed or 0, and
 * a hash of all words after each call; or the seed and how the program ended. */
#ifndef DIFFERENTIAL_DEVICE_RESULT_H
#define DIFFERENTIAL_DEVICE_RESULT_H
#include "program.h"

enum { LINE_BYTES = 32 + 9 * CALLS };
extern const char *const question_names[QUESTIONS];

void result_line(uint32_t seed, const struct result *result, char line[LINE_BYTES]);
bool results_equal(uint32_t seed, const struct result *is, const struct result *should);

/* log.c: each program of the seeds; the plain ones first. What crashes or never ends costs
 * itself; after three of one question the rest of it is left out. */
int record_programs(const char *path, uint32_t first, uint32_t last, double seconds);
#endif

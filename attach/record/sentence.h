// SPDX-License-Identifier: Apache-2.0
/* What others say in this process: the driver's log, libgph's notes. */
#ifndef ATTACH_SENTENCE_H
#define ATTACH_SENTENCE_H
#include "event/event.h"
#include <stdbool.h>
#include <stddef.h>

/* From now on the driver's sentences are written as LOG. */
void attach_listen_to_logs(void);

/* Writes STDERR: what the program has written to standard error. With `is_deep` with its
 * whole stack, else with Python's frames alone, as a signal handler must. */
void attach_heard(const char *text, size_t bytes, bool is_deep);

/* Writes KEPT: the program asks for an error that it, or the runtime, has kept. Nothing of
 * success and of "not ready". */
void attach_kept(int code, gphi_kept_how how, const void *above);
#endif

// SPDX-License-Identifier: Apache-2.0
/* What the history takes from graphs and calls. */
#ifndef GPHI_DOCTOR_TOUCH_H
#define GPHI_DOCTOR_TOUCH_H
#include "doctor/history/history.h"

/* Reads the graph that the executable holds now. False: without memory, some missing. */
bool gphi_touches_collect(const gphi_history *all, gphi_exec_history *history);

/* The allocation that was alive at an address when call `at` was made; else the one that
 * is now, or NULL. */
gphi_allocation *gphi_memory_at(const gphi_model *model, uint64_t address, uint64_t at);
#endif

// SPDX-License-Identifier: Apache-2.0
/* SOFTCUDA_CHECK: what is watched. Words with commas between: memory, race (which takes
 * memory along), all (both), fatal (a race ends the context, too). */
#ifndef SOFT_CHECK_MODE_H
#define SOFT_CHECK_MODE_H

#include <stdbool.h>
#include <stddef.h>

typedef struct soft_check_mode {
    bool memory; /* each access of a kernel; the host is kept out of device memory */
    bool race;   /* nodes of a graph launch that no dependency orders */
    bool fatal;  /* what `race` finds ends the context with an error */
} soft_check_mode;

/* Reads a text as SOFTCUDA_CHECK has it; NULL and "" are nothing. False for a word that
 * is none, which is copied to `unknown` (may be NULL), cut to fit. */
bool soft_check_mode_parse(const char *text, soft_check_mode *out, char *unknown,
                           size_t bytes);
/* Of the environment; words that are none count for nothing. */
soft_check_mode soft_check_mode_wanted(void);

#endif

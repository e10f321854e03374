// SPDX-License-Identifier: Apache-2.0
/* Boards for who is not libgph's caller: the library that gph doctor loads into programs. */
#ifndef GPHI_SENTINEL_SENTINEL_H
#define GPHI_SENTINEL_SENTINEL_H
#include "replay/exec.h"
#include <gph/sentinel.h>

/* gph_sentinel_create(). `is_drivers`: graphs get no sentinels, for the driver itself writes
 * a word for each node (gph_softcuda_trail()); the board needs a path then, and no
 * context. `options` are whole. */
gph_status gphi_sentinel_create(gph_runtime *runtime, const gph_sentinel_options *options,
                                bool is_drivers, gph_sentinel **out, gph_error *error);

/* Whether the driver still has its memory: what a context registered goes with it. */
bool gphi_sentinel_is_there(const gph_sentinel *sentinel);
#endif

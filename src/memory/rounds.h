// SPDX-License-Identifier: Apache-2.0
/* Loops in what a pool records. */
#ifndef GPHI_MEMORY_ROUNDS_H
#define GPHI_MEMORY_ROUNDS_H
#include <gph/memory.h>

/* A loop of the open recording begins (GPHI_LOOP_HERE), or ends (what its beginning
 * returned): until then memory from outside that is freed in its body is given to nobody,
 * since the next round reads it. Does nothing where no recording is open. Thread: any. */
#define GPHI_LOOP_HERE UINT32_MAX
uint32_t gphi_pool_loop(gph_pool *pool, uint32_t begin);
#endif

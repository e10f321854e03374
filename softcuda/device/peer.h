// SPDX-License-Identifier: Apache-2.0
/* Which device may use whose memory. */
#ifndef SOFT_DEVICE_PEER_H
#define SOFT_DEVICE_PEER_H
#include "softcuda/device/context.h"

/* Whether kernels of a context may touch an address; true for what is not device memory.
 * Any thread. */
bool soft_peer_may_use(const soft_context *context, uint64_t address, bool write);

/* The same for a call: CUDA_SUCCESS, or 1 with the sentence. */
CUresult soft_peer_check(const soft_context *context, uint64_t address, bool write);

/* One sentence on device memory that a context may not use. */
void soft_peer_explain(const soft_context *context, uint64_t address, char *text,
                       size_t bytes);

/* Access was given or taken: what threads remember is void. */
void soft_peer_changed(void);
#endif

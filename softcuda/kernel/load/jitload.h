// SPDX-License-Identifier: Apache-2.0
/* Opening softcuda-jit.so, which lies beside the library that this is part of. */
#ifndef SOFT_KERNEL_LOAD_JITLOAD_H
#define SOFT_KERNEL_LOAD_JITLOAD_H

#include <gph/base.h>

#include "softcuda/jit/jit.h"

/* Opened once and kept. SOFTCUDA_JIT names another file. Fails with 221. Thread: any. */
GPH_CHECKED gph_status soft_jit_load(const soft_jit_api **out, gph_error *error);

#endif

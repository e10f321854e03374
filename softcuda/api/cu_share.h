// SPDX-License-Identifier: Apache-2.0
/* What cu_share.c has for the other files of memory between processes. */
#ifndef SOFT_API_CU_SHARE_H
#define SOFT_API_CU_SHARE_H
#include "softcuda/device/context.h"
#include "softcuda/memory/share.h"

/* The device that a file of another process belongs to, as this process sees it; the
 * current one where it does not. UNKNOWN for anything else, as on an H100. */
CUresult soft_share_device(int file, soft_share_kind kind, soft_device **out);
/* Types that an import may name: INVALID_VALUE for none, NOT_SUPPORTED for those of other
 * systems. */
CUresult soft_share_check_type(CUmemAllocationHandleType type);
#endif

// SPDX-License-Identifier: Apache-2.0
/* What a wrapper calls: on its way to the driver, and on its way back. */
#ifndef ATTACH_ENTER_H
#define ATTACH_ENTER_H
#include "attach/driver/call.h"

/* The driver's entry for a symbol; never NULL. */
attach_function *attach_enter(attach_call *call, uint32_t symbol, const uint64_t *words);
CUresult attach_leave(attach_call *call, CUresult result);

/* In a wrapper: where the program called it. */
#define attach_enter(call, symbol, words)                                                \
    ((call)->from = __builtin_return_address(0), (call)->above = __builtin_dwarf_cfa(),  \
     (attach_enter)(call, symbol, words))
#endif

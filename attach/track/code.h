// SPDX-License-Identifier: Apache-2.0
/* Kernels that the program loads as PTX: what they do with the addresses that they are given. */
#ifndef ATTACH_CODE_H
#define ATTACH_CODE_H
#include "attach/driver/call.h"

/* After a call that loaded code. Writes ACCESS, one for each kernel that is understood. */
void attach_code_loaded(const attach_call *call);
#endif

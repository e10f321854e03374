// SPDX-License-Identifier: Apache-2.0
/* What binding.c and the kernel report see of code and bindings. */
#ifndef SOFT_KERNEL_BINDING_H
#define SOFT_KERNEL_BINDING_H

#include "softcuda/kernel/pack.h"

const soft_pack *soft_code_pack(const soft_code *code);
const soft_image *soft_binding_image(const soft_binding *binding);

#endif

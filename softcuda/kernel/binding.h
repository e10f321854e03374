// SPDX-License-Identifier: Apache-2.0
/* What the kernel report sees of a binding. */
#ifndef SOFT_KERNEL_BINDING_H
#define SOFT_KERNEL_BINDING_H

#include "softcuda/kernel/load/pack.h"

const soft_image *soft_binding_image(const soft_binding *binding);

#endif

// SPDX-License-Identifier: Apache-2.0
#ifndef SOFT_DEVICE_DEVICE_H
#define SOFT_DEVICE_DEVICE_H
#include "softcuda/device/context.h"

/* The device whose address range holds an address, or NULL. */
soft_device *soft_device_holding(uint64_t address);
#endif

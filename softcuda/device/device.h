// SPDX-License-Identifier: Apache-2.0
/* From an address to its device, and to where the host finds its bytes. */
#ifndef SOFT_DEVICE_DEVICE_H
#define SOFT_DEVICE_DEVICE_H
#include "softcuda/device/context.h"

/* The device whose address range holds an address, or NULL. */
soft_device *soft_device_holding(uint64_t address);

/* Where the driver itself reads or writes the bytes of an address that the program gave,
 * host or device. Not the address itself in check mode, which keeps the host out. */
void *soft_device_reach(uint64_t address);

/* deviceattribute.c: whether there is such a one; and what it is. */
bool soft_device_has_attribute(CUdevice_attribute attribute);
int soft_device_attribute(const soft_device *device, CUdevice_attribute attribute);
#endif

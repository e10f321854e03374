// SPDX-License-Identifier: Apache-2.0
/* Records of devices, written when the program makes its first context: one that only
 * counts devices does not wait for ours. */
#include "attach/record/device.h"
#include "attach/driver/find.h"
#include "attach/ring/draft.h"

#include <stdatomic.h>

static atomic_flag has_devices = ATOMIC_FLAG_INIT;

static void tell_device(int ordinal)
{
    CUdevice device;
    if (ATTACH_ASK(cuDeviceGet, &device, ordinal) != CUDA_SUCCESS)
        return;
    char name[256] = "";
    size_t bytes = 0;
    int major = 0, minor = 0, processors = 0;
    ATTACH_ASK(cuDeviceGetName, name, (int)sizeof(name) - 1, device);
    ATTACH_ASK(cuDeviceTotalMem_v2, &bytes, device);
    ATTACH_ASK(cuDeviceGetAttribute, &major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
               device);
    ATTACH_ASK(cuDeviceGetAttribute, &minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
               device);
    ATTACH_ASK(cuDeviceGetAttribute, &processors,
               CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    const uint64_t words[] = {(uint64_t)major, (uint64_t)minor, (uint64_t)processors,
                              bytes};
    attach_tell(GPHI_EVENT_DEVICE, (uint64_t)ordinal, 0, words, 4, name);
}

void attach_tell_devices(void)
{
    if (atomic_flag_test_and_set(&has_devices))
        return;
    int count = 0;
    if (ATTACH_ASK(cuDeviceGetCount, &count) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < count && i < 64; i++)
        tell_device(i);
}

void attach_forget_devices(void)
{
    atomic_flag_clear(&has_devices);
}

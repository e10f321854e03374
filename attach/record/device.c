// SPDX-License-Identifier: Apache-2.0
/* Records of devices. */
#include "attach/record/device.h"
#include "attach/driver/find.h"
#include "attach/ring/draft.h"

#include <stdatomic.h>

static atomic_flag has_devices = ATOMIC_FLAG_INIT;

static void tell_device(int ordinal)
{
    CUresult (*get_device)(CUdevice *, int) = ATTACH_REAL(cuDeviceGet, CUdevice *, int);
    CUresult (*get)(int *, CUdevice_attribute, CUdevice) =
        ATTACH_REAL(cuDeviceGetAttribute, int *, CUdevice_attribute, CUdevice);
    CUresult (*get_name)(char *, int, CUdevice) =
        ATTACH_REAL(cuDeviceGetName, char *, int, CUdevice);
    CUresult (*get_bytes)(size_t *, CUdevice) =
        ATTACH_REAL(cuDeviceTotalMem_v2, size_t *, CUdevice);
    CUdevice device;
    if (get_device == NULL || get == NULL || get_name == NULL || get_bytes == NULL ||
        get_device(&device, ordinal) != CUDA_SUCCESS)
        return;
    char name[256] = "";
    size_t bytes = 0;
    int major = 0, minor = 0, processors = 0;
    get_name(name, (int)sizeof(name) - 1, device);
    get_bytes(&bytes, device);
    get(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device);
    get(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device);
    get(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device);
    const uint64_t words[] = {(uint64_t)major, (uint64_t)minor, (uint64_t)processors,
                              bytes};
    attach_draft draft = {.head.kind = GPHI_EVENT_DEVICE,
                          .head.id = (uint64_t)ordinal,
                          .words = words,
                          .word_count = 4};
    attach_add_text(&draft, name);
    attach_write(&draft);
}

void attach_tell_devices(void)
{
    if (atomic_flag_test_and_set(&has_devices))
        return;
    CUresult (*count_devices)(int *) = ATTACH_REAL(cuDeviceGetCount, int *);
    int count = 0;
    if (count_devices == NULL || count_devices(&count) != CUDA_SUCCESS)
        return;
    for (int i = 0; i < count && i < 64; i++)
        tell_device(i);
}

void attach_forget_devices(void)
{
    atomic_flag_clear(&has_devices);
}

// SPDX-License-Identifier: Apache-2.0
/* Devices: names, attributes, PCI addresses, peers. */
#include "driver.h"

static int attribute(CUdevice_attribute which)
{
    int value = -12345;
    OK(cu.cuDeviceGetAttribute(&value, which, 0));
    return value;
}

static void ordinals_are_checked(void)
{
    int count = 0;
    CUdevice device = -1;
    char name[64];
    size_t bytes;
    OK(cu.cuDeviceGetCount(&count));
    OK(cu.cuDeviceGet(&device, count - 1));
    CHECK(device == count - 1);
    REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, count));
    REFUSED(INVALID_DEVICE, cu.cuDeviceGet(&device, -1));
    REFUSED(INVALID_VALUE, cu.cuDeviceGet(NULL, 0));
    REFUSED(INVALID_VALUE, cu.cuDeviceGetCount(NULL));
    REFUSED(INVALID_DEVICE, cu.cuDeviceGetName(name, 64, count));
    REFUSED(INVALID_DEVICE, cu.cuDeviceTotalMem(&bytes, count));
    REFUSED(INVALID_VALUE, cu.cuDeviceTotalMem(NULL, 0));
    int value;
    REFUSED(INVALID_DEVICE,
            cu.cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, count));
    REFUSED(INVALID_VALUE,
            cu.cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    REFUSED(INVALID_VALUE, cu.cuDeviceGetAttribute(&value, (CUdevice_attribute)99999, 0));
    REFUSED(INVALID_VALUE, cu.cuDeviceGetAttribute(&value, (CUdevice_attribute)0, 0));
}

static void names_fit_their_buffer(void)
{
    char name[64] = "", cut[5] = "xxxx";
    OK(cu.cuDeviceGetName(name, sizeof(name), 0));
    CHECK(name[0] != '\0');
    OK(cu.cuDeviceGetName(cut, sizeof(cut), 0));
    CHECK(strlen(cut) == 4 && strncmp(cut, name, 4) == 0);
    REFUSED(INVALID_VALUE, cu.cuDeviceGetName(NULL, 64, 0));
    if (driver_is_soft)
        CHECK(strcmp(name, "softcuda") == 0);
}

static void limits_of_this_class_of_device(void)
{
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE) == 32);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH) == 16384);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK) == 1024);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) == 1024);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) == 64);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) == 0x7fffffff);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) == 65535);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK) == 49152);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY) == 65536);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED) ==
          1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES) &
          CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_HOST_MEMORY_POOLS_SUPPORTED) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_HOST_NUMA_MEMORY_POOLS_SUPPORTED) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS) == 1);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
    if (attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) != 9)
        SKIP("the rest is of compute capability 9.0");
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR) == 0);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN) == 232448);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) == 233472);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK) == 1024);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR) == 2048);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR) == 32);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK) == 65536);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR) == 65536);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT) == 512);
    CHECK(attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH) == 0x7fffffff);
}

static void every_attribute_answers(void)
{
    for (int i = 1; i <= CU_DEVICE_ATTRIBUTE_NUMA_ID; i++) {
        int value;
        OK(cu.cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0));
    }
}

static void pci_address_leads_back(void)
{
    char id[32] = "";
    CUdevice device = -1;
    OK(cu.cuDeviceGetPCIBusId(id, sizeof(id), 0));
    OK(cu.cuDeviceGetByPCIBusId(&device, id));
    CHECK(device == 0);
    REFUSED(INVALID_VALUE, cu.cuDeviceGetPCIBusId(NULL, 32, 0));
    REFUSED(INVALID_VALUE, cu.cuDeviceGetByPCIBusId(&device, NULL));
    CHECK(device == 0);
}

static void uuid_is_not_empty(void)
{
    CUuuid uuid = {{0}}, none = {{0}};
    OK(cu.cuDeviceGetUuid(&uuid, 0));
    CHECK(memcmp(&uuid, &none, sizeof(uuid)) != 0);
    REFUSED(INVALID_VALUE, cu.cuDeviceGetUuid(NULL, 0));
}

static void a_device_is_no_peer_of_itself(void)
{
    int can = 1, count = 0;
    OK(cu.cuDeviceCanAccessPeer(&can, 0, 0));
    CHECK(can == 0);
    OK(cu.cuDeviceGetCount(&count));
    REFUSED(INVALID_DEVICE, cu.cuDeviceCanAccessPeer(&can, 0, count));
}

/* Whatever its size is: softcuda's is smaller than any GPU's without SOFTCUDA_MULTIPROCESSORS. */
static void every_device_can_be_divided(void)
{
    CUdevResource all, parts[2];
    unsigned count = 2;
    OK(cu.cuDeviceGetDevResource(0, &all, CU_DEV_RESOURCE_TYPE_SM));
    CHECK(all.sm.minSmPartitionSize >= 2);
    OK(cu.cuDevSmResourceSplitByCount(parts, &count, &all, NULL, 0,
                                      all.sm.minSmPartitionSize));
    CHECK(count == 2);
    CHECK(parts[1].sm.smCount % all.sm.smCoscheduledAlignment == 0);
}

int main(void)
{
    DEVICE_OR_SKIP();
    RUN(ordinals_are_checked);
    RUN(names_fit_their_buffer);
    RUN(limits_of_this_class_of_device);
    RUN(every_attribute_answers);
    RUN(pci_address_leads_back);
    RUN(uuid_is_not_empty);
    RUN(a_device_is_no_peer_of_itself);
    RUN(every_device_can_be_divided);
    return test_done();
}

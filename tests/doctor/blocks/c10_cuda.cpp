// SPDX-License-Identifier: Apache-2.0
/* Stands for libc10_cuda.so: an allocator that returns parts of one segment, the first that is
 * free, and reports each as PyTorch's does. */
#include "blocks.h"

extern "C" int cuMemAlloc_v2(uint64_t *out, size_t bytes);

namespace c10
{
struct Device {
    int8_t type, index;
};
void reportMemoryUsageToProfiler(void *block, int64_t bytes, size_t allocated,
                                 size_t reserved, Device device);
} // namespace c10

enum { BLOCKS = 64 };

static bool is_used[BLOCKS];
static size_t allocated;

static void report(uint64_t at, int64_t bytes, int8_t type)
{
    allocated += (size_t)bytes;
    c10::reportMemoryUsageToProfiler((void *)at, bytes, allocated, (size_t)BLOCKS * TENSOR_BYTES,
                                     {type, 0});
}

static uint64_t segment(void)
{
    static uint64_t base;
    if (base == 0 && cuMemAlloc_v2(&base, (size_t)BLOCKS * TENSOR_BYTES) != 0)
        return 0;
    return base;
}

extern "C" uint64_t tensor_new(void)
{
    const uint64_t base = segment();
    for (size_t i = 0; base != 0 && i < BLOCKS; i++)
        if (!is_used[i]) {
            is_used[i] = true;
            report(base + i * TENSOR_BYTES, TENSOR_BYTES, 1);
            return base + i * TENSOR_BYTES;
        }
    return 0;
}

extern "C" void tensor_delete(uint64_t at)
{
    is_used[(at - segment()) / TENSOR_BYTES] = false;
    report(at, -(int64_t)TENSOR_BYTES, 1);
}

/* What an allocator of the host's memory says. */
extern "C" void tensor_on_host(void)
{
    report(TENSOR_BYTES, 0, 0);
}

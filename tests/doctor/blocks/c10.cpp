// SPDX-License-Identifier: Apache-2.0
/* Stands for libc10.so: the function by which PyTorch's allocator reports to its profiler, and what
 * came of it. */
#include <cstddef>
#include <cstdint>

namespace c10
{
struct Device {
    int8_t type, index;
};

struct Heard {
    long taken, given, others, bytes;
};

Heard heard;

__attribute__((visibility("default"))) void
reportMemoryUsageToProfiler(void *block, int64_t bytes, size_t allocated, size_t reserved,
                            Device device)
{
    if (device.type != 1 || !block || allocated > reserved)
        heard.others++;
    else
        (bytes > 0 ? heard.taken : heard.given)++;
    heard.bytes += bytes;
}
} // namespace c10

extern "C" __attribute__((visibility("default"))) void c10_heard(long out[4])
{
    const c10::Heard now = c10::heard;
    out[0] = now.taken, out[1] = now.given, out[2] = now.others, out[3] = now.bytes;
}

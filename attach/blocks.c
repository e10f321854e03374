// SPDX-License-Identifier: Apache-2.0
/* PyTorch's allocator hands parts of its memory out and takes them back without a call to the
 * driver. It reports to PyTorch's profiler each time, by a function of another library, which is
 * exported here, too, goes on to PyTorch's, and is noted:
 *
 *   libc10_cuda.so ─> here ─> libc10.so
 *
 * A program without PyTorch never comes here. */
#include "attach/beside.h"
#include "attach/peek/kind.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "attach/timing/timing.h"
#include "attach/track/capture.h"
#include "base/clock.h"

#include <errno.h>

/* c10::Device: type and index, a byte each. */
enum { TYPE_CUDA = 1, TYPE_MASK = 0xff };

/* Names of C++: c10::reportMemoryUsageToProfiler(void *, int64_t, size_t, size_t, Device) */
ATTACH_API void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void *block, int64_t bytes, size_t allocated, size_t reserved, uint16_t device);

/* Where a block goes matters once there are graphs, which may have it: then who gives it
 * back is looked at. */
static void note(uint64_t block, int64_t bytes, const void *above)
{
    const int saved = errno;
    const bool is_timed = atomic_load_explicit(&gphi_timing_is_on, memory_order_relaxed);
    const uint64_t from = is_timed ? gphi_clock_ns() : 0;
    attach_me.busy++;
    attach_know_thread();
    const uint64_t words[] = {(uint64_t)(bytes > 0 ? bytes : 0)};
    const uint32_t stack =
        bytes < 0 && attach_has_captured() ? attach_stack_python(above) : 0;
    attach_tell(GPHI_EVENT_BLOCK, block, stack, words, 1, NULL);
    attach_me.busy--;
    if (is_timed)
        gphi_timing_beside(gphi_span_ns(from, gphi_clock_ns()));
    errno = saved;
}

void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(void *block, int64_t bytes,
                                                           size_t allocated,
                                                           size_t reserved,
                                                           uint16_t device)
{
    typedef void real_function(void *, int64_t, size_t, size_t, uint16_t);
    static attach_place places[ATTACH_PLACES];
    static const attach_beside_what what = {
        .name = "_ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE",
        .file = "libc10.so"};
    real_function *real =
        (real_function *)attach_beside(places, __builtin_return_address(0), &what);
    if ((device & TYPE_MASK) == TYPE_CUDA && bytes != 0 && attach_me.busy == 0 &&
        atomic_load_explicit(&attach_is, memory_order_acquire) == ATTACH_ON)
        note((uint64_t)(uintptr_t)block, bytes, __builtin_dwarf_cfa());
    if (real)
        real(block, bytes, allocated, reserved, device);
}

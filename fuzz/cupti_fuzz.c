// SPDX-License-Identifier: Apache-2.0
/* Buffers of CUPTI's activity records: whatever they hold, what is read of them lies in
 * the buffer and has a beginning that is not after its end. CUPTI would say where records
 * begin; here they follow each other by the bytes their kind has, at any alignment, the
 * last one cut. */
#include "attach/cupti/activity.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t step_of(const uint8_t *at, size_t left)
{
    uint32_t kind = 0;
    memcpy(&kind, at, left < sizeof(kind) ? left : sizeof(kind));
    switch (kind) {
    case ATTACH_ACTIVITY_KERNEL: return 160;
    case ATTACH_ACTIVITY_COPY:
    case ATTACH_ACTIVITY_FILL: return 76;
    case ATTACH_ACTIVITY_GRAPH: return 40;
    default: return 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t step;
    for (size_t at = 0; at < size; at += step) {
        static const attach_activity before = {.start = 3, .end = 2, .correlation = 7};
        attach_activity it = before;
        step = step_of(data + at, size - at);
        const bool is_read = attach_activity_read(data + at, data + size, &it);
        if (is_read
                ? step == 1 || step > size - at || it.start == 0 || it.end < it.start ||
                      it.what < GPHI_GPU_KERNEL || it.what > GPHI_GPU_GRAPH ||
                      (it.what != GPHI_GPU_KERNEL && it.name)
                : memcmp(&it, &before, sizeof(it)) != 0)
            abort();
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Frames of variables, by unwinding. */
#define _GNU_SOURCE
#include "attach/peek/frame.h"
#include "base/hash.h"

#include <unwind.h>

enum { FRAMES_MAX = 256 };

typedef struct walk {
    const uint64_t *addresses;
    uint64_t *frames;
    uint64_t start, function; /* of the frame at hand; start: its lowest address */
    uint32_t count, left, depth;
} walk;

/* What the unwinder calls a frame's CFA is here where its callee was called from: the end
 * of the callee's frame. */
static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *user)
{
    walk *w = user;
    const uint64_t end = _Unwind_GetCFA(context);
    for (uint32_t i = 0; i < w->count && w->depth > 0; i++) {
        if (w->frames[i] != 0 || w->addresses[i] < w->start || w->addresses[i] >= end)
            continue;
        w->frames[i] = gphi_hash_mix(gphi_hash_mix(end) ^ w->function) | 1;
        w->left--;
    }
    w->start = end;
    w->function = _Unwind_GetRegionStart(context);
    return w->left > 0 && w->depth++ < FRAMES_MAX ? _URC_NO_REASON : _URC_END_OF_STACK;
}

void attach_frames_of(const uint64_t *addresses, uint64_t *frames, uint32_t count)
{
    walk w = {.addresses = addresses, .frames = frames, .count = count};
    for (uint32_t i = 0; i < count; i++) {
        frames[i] = 0;
        w.left += addresses[i] != 0;
    }
    if (w.left > 0)
        _Unwind_Backtrace(step, &w);
}

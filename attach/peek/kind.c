// SPDX-License-Identifier: Apache-2.0
/* Threads are asked once each. */
#define _GNU_SOURCE
#include "attach/peek/kind.h"
#include "attach/driver/find.h"
#include "attach/ring/draft.h"

#include <sys/prctl.h>
#include <unistd.h>
#include <unwind.h>

enum { FRAMES = 64 };

struct walk {
    uint32_t count;
    uintptr_t frames[FRAMES]; /* the last of them, in a circle */
};

static _Unwind_Reason_Code step(struct _Unwind_Context *context, void *user)
{
    struct walk *walk = user;
    const uintptr_t at = _Unwind_GetIP(context);
    if (at == 0)
        return _URC_END_OF_STACK;
    walk->frames[walk->count++ % FRAMES] = at;
    return walk->count < 1024 ? _URC_NO_REASON : _URC_END_OF_STACK;
}

/* Whether the driver made this thread: among its outermost frames is one of the driver's
 * (after the C library's, which start it). Wrapping host functions would change what an
 * update compares. */
static bool is_of_driver(void)
{
    const attach_library *driver = attach_driver();
    if (attach_me.thread == (uint32_t)getpid() || driver->end == 0)
        return false;
    struct walk walk = {0};
    _Unwind_Backtrace(step, &walk);
    const uint32_t last = walk.count < 3 ? walk.count : 3;
    for (uint32_t i = 1; i <= last; i++) {
        const uintptr_t at = walk.frames[(walk.count - i) % FRAMES];
        if (at - driver->start < driver->end - driver->start)
            return true;
    }
    return false;
}

void attach_tell_thread(void)
{
    char name[16] = "";
    attach_thread();
    attach_me.is_told = 1;
    attach_me.kind = is_of_driver() ? 2 : 1;
    prctl(PR_GET_NAME, name);
    attach_tell(GPHI_EVENT_THREAD, attach_me.thread, 0, NULL, 0, name);
}

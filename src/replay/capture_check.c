// SPDX-License-Identifier: Apache-2.0
/* Who may use a capture, and when: what every call with one begins with. */
#include "base/fail.h"
#include "base/thread.h"
#include "replay/capture.h"

gph_status gphi_capture_check_thread(const gph_capture *capture, gph_error *error)
{
    const uint64_t thread = gphi_thread_id();
    if (capture->mode != GPH_CAPTURE_RELAXED && capture->thread != thread)
        return gphi_fail(error, GPH_E_STATE,
                         "thread %llu began the capture of stream %p, thread %llu cannot "
                         "end it or take part",
                         (unsigned long long)capture->thread, (void *)capture->stream,
                         (unsigned long long)thread);
    return GPH_OK;
}

gph_status gphi_capture_check(const gph_capture *capture, gph_error *error)
{
    GPHI_TRY(gphi_need(error, capture));
    GPHI_TRY(gphi_capture_check_thread(capture, error));
    switch (capture->state) {
    case GPHI_CAPTURE_OPEN: break;
    case GPHI_CAPTURE_BREAK:
        return gphi_fail(error, GPH_E_STATE, "stream %p is in a break of its capture",
                         (void *)capture->stream);
    case GPHI_CAPTURE_BROKEN:
        return gphi_fail(error, GPH_E_STATE,
                         "the capture of stream %p failed: it can only be aborted",
                         (void *)capture->stream);
    }
    return GPH_OK;
}

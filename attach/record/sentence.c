// SPDX-License-Identifier: Apache-2.0
/* Records of what others say. */
#include "attach/record/sentence.h"
#include "attach/driver/find.h"
#include "attach/peek/kind.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"

#include <errno.h>

static void say(gphi_event_kind kind, uint64_t id, const uint64_t *words, uint32_t count,
                const char *text)
{
    attach_me.busy++;
    const int saved = errno;
    attach_know_thread();
    attach_tell(kind, id, attach_stack(), words, count, text);
    errno = saved;
    attach_me.busy--;
}

/* The driver may hold its locks here: nothing of it is called. */
static void on_log(void *user, CUlogLevel level, char *text, size_t bytes)
{
    (void)user;
    (void)bytes;
    if (attach_me.busy == 0 && text != NULL) /* else about a question of ours */
        say(GPHI_EVENT_LOG, (uint64_t)level, NULL, 0, text);
}

void attach_listen_to_logs(void)
{
    static atomic_flag is_listening = ATOMIC_FLAG_INIT;
    CUlogsCallbackHandle handle;
    if (!atomic_flag_test_and_set(&is_listening) &&
        ATTACH_ASK(cuLogsRegisterCallback, on_log, NULL, &handle) != CUDA_SUCCESS)
        atomic_flag_clear(&is_listening);
}

/* ---- notes of libgph ---- */

ATTACH_API void gph_attach_note(uint32_t kind, const uint64_t *words, uint32_t count,
                                const char *text);

void gph_attach_note(uint32_t kind, const uint64_t *words, uint32_t count,
                     const char *text)
{
    if (atomic_load_explicit(&attach_is, memory_order_acquire) == ATTACH_ON)
        say(GPHI_EVENT_NOTE, kind, words, count, text);
}

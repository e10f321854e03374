// SPDX-License-Identifier: Apache-2.0
/* Records of what others say. */
#include "attach/record/sentence.h"
#include "attach/driver/find.h"
#include "attach/peek/kind.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "base/clock.h"

#include <errno.h>
#include <unistd.h>

static void say(gphi_event_kind kind, uint64_t id, const uint64_t *words, uint32_t count,
                const char *text, const void *above)
{
    attach_me.busy++;
    const int saved = errno;
    attach_know_thread();
    attach_tell(kind, id, attach_stack(above), words, count, text);
    errno = saved;
    attach_me.busy--;
}

/* The driver may hold its locks here: nothing of it is called. */
static void on_log(void *user, CUlogLevel level, char *text, size_t bytes)
{
    (void)user;
    (void)bytes;
    if (attach_me.busy == 0 && text) /* else about a question of ours */
        say(GPHI_EVENT_LOG, (uint64_t)level, NULL, 0, text, NULL);
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
        say(GPHI_EVENT_NOTE, kind, words, count, text, __builtin_dwarf_cfa());
}

/* ---- errors that are kept ---- */

void attach_kept(int code, gphi_kept_how how, const void *above)
{
    const uint64_t words[] = {(uint64_t)how};
    if (code == CUDA_SUCCESS || code == CUDA_ERROR_NOT_READY)
        return;
    attach_me.busy++;
    const int saved = errno;
    attach_know_thread();
    attach_tell(GPHI_EVENT_KEPT, (uint64_t)code, attach_stack_python(above), words, 1,
                NULL);
    errno = saved;
    attach_me.busy--;
}

/* ---- standard error ---- */

enum {
    PIECE = 1024,
    FREE = 256 << 10,
    PER_SECOND = 4 << 10,
    AS_OF_FAILURE = 8,
    LINES = 40
};

static bool is_of_failure(const char *text)
{
    static const char *const signs[] = {"rror", "Traceback", "File \"", "what():"};
    for (size_t i = 0; i < sizeof(signs) / sizeof(*signs); i++)
        if (strstr(text, signs[i]))
            return true;
    return false;
}

/* Whether there is room for so much more. A program may write more than the ring can hold:
 * it has an allowance, which grows with its time; what looks like a failure has a larger
 * one, and so have the lines after it. */
static bool is_affordable(const char *text, size_t bytes)
{
    static _Atomic uint64_t begun_ns, spent;
    static __thread uint32_t left __attribute__((tls_model("initial-exec")));
    uint64_t now = gphi_clock_ns(), begun = 0;
    if (atomic_compare_exchange_strong(&begun_ns, &begun, now))
        begun = now;
    left = is_of_failure(text) ? LINES : left - (left > 0);
    const uint64_t room = FREE + (now - begun) / 1000000 * PER_SECOND / 1000;
    if (atomic_fetch_add(&spent, bytes) + bytes <=
        (left > 0 ? AS_OF_FAILURE * room : room))
        return true;
    atomic_fetch_sub(&spent, bytes);
    return false;
}

/* A child of vfork() has our memory, and is not to write to our ring. */
void attach_heard(const char *text, size_t bytes, bool is_deep)
{
    const uint32_t is = atomic_load_explicit(&attach_is, memory_order_acquire);
    if (attach_me.busy != 0 || (is != ATTACH_ON && is != ATTACH_LOGS) ||
        getpid() != attach_process())
        return;
    attach_me.busy++;
    const int saved = errno;
    for (size_t at = 0; at < bytes; at += PIECE - 1) {
        char piece[PIECE];
        const size_t count = bytes - at < PIECE - 1 ? bytes - at : PIECE - 1;
        for (size_t i = 0; i < count; i++)
            piece[i] = text[at + i] ? text[at + i] : ' ';
        piece[count] = '\0';
        if (!is_affordable(piece, count))
            continue;
        attach_know_thread();
        const uint32_t stack =
            is_deep ? attach_stack_python(NULL) : attach_stack_python_alone();
        attach_tell(GPHI_EVENT_STDERR, 0, stack, NULL, 0, piece);
    }
    errno = saved;
    attach_me.busy--;
}

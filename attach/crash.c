// SPDX-License-Identifier: Apache-2.0
/* Signals that end the process by a mistake: two records, then the default action.
 *
 *   SIGSEGV ── our handler: CRASHED, then its stack, CRASHED again
 *           └─ the handler is taken off; the instruction runs again, and ends the process
 *
 * So the status, the core file and the registers in it are those of the program. A second
 * signal within the handler, of a broken stack, ends the process at once: the first record is
 * there already. */
#define _GNU_SOURCE
#include "attach/crash.h"
#include "attach/driver/find.h"
#include "attach/peek/kind.h"
#include "attach/peek/memory.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"
#include "attach/track/pinned.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP};

/* The instruction, and whom it would return to where it was called by a wrong address. */
static uintptr_t place_of_fault(const void *context, uintptr_t *caller)
{
    const ucontext_t *machine = context;
    *caller = 0;
#if defined(__x86_64__)
    const uintptr_t top = (uintptr_t)machine->uc_mcontext.gregs[REG_RSP];
    if (!attach_read(caller, (const void *)top, sizeof(*caller)))
        *caller = 0;
    return (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
#else
    *caller = (uintptr_t)machine->uc_mcontext.regs[30];
    return (uintptr_t)machine->uc_mcontext.pc;
#endif
}

static void tell_crash(int number, const siginfo_t *info, const void *context)
{
    uintptr_t caller;
    const uintptr_t at = place_of_fault(context, &caller);
    /* Of one that was sent the address is the sender's number. */
    const uint64_t about = info->si_code > 0 ? (uint64_t)(uintptr_t)info->si_addr : 0;
    const uint64_t words[] = {about, at};
    attach_know_thread();
    attach_tell(GPHI_EVENT_CRASHED, (uint64_t)number, 0, words, 2, NULL);
    attach_tell(GPHI_EVENT_CRASHED, (uint64_t)number, attach_stack_of_fault(at, caller),
                words, 2, NULL);
}

/* Memory that a copy has yet to write. The driver's threads, and a host function in its stream's
 * order, come when it is time; what the driver does within a call is its own. */
static void tell_touch(uint64_t address, uint64_t first, uint64_t bytes,
                       const void *context)
{
    char text[200];
    uintptr_t caller;
    const uintptr_t at = place_of_fault(context, &caller);
    if (attach_me.busy != 0 || attach_me.depth != 0 || !attach_ring() ||
        getpid() != attach_process())
        return;
    attach_me.busy++;
    attach_know_thread();
    snprintf(text, sizeof(text),
             "host code uses pinned memory at 0x%" PRIx64 ", byte %" PRIu64 " of %" PRIu64
             " that a queued copy writes",
             address, address - first, bytes);
    if (attach_me.kind == 1)
        attach_tell(GPHI_EVENT_LOG, 0, attach_stack_of_fault(at, caller), NULL, 0, text);
    attach_me.busy--;
}

/* Whether the signal is of a page that was closed, and is open now. */
static bool is_of_pinned(int number, const siginfo_t *info, const void *context)
{
    uint64_t first, bytes;
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    const int saved = errno;
    if (number != SIGSEGV || info->si_code != SEGV_ACCERR ||
        !attach_pinned_open(address, &first, &bytes))
        return false;
    if (bytes != 0)
        tell_touch(address, first, bytes, context);
    errno = saved;
    return true;
}

static void on_crash(int number, siginfo_t *info, void *context)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    const int saved = errno;
    if (is_of_pinned(number, info, context))
        return;
    sigaction(number, &none, NULL);
    /* A child of vfork() has our memory, and is not to write to our ring. */
    if (attach_ring() && getpid() == attach_process()) {
        attach_me.busy++;
        tell_crash(number, info, context);
        attach_me.busy--;
    }
    errno = saved;
    if (info->si_code <= 0)
        raise(number);
}

void attach_crash_prepare(void)
{
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
        struct sigaction now,
            ours = {.sa_sigaction = on_crash, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        if (sigaction(crashes[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL &&
            (now.sa_flags & SA_SIGINFO) == 0)
            sigaction(crashes[i], &ours, NULL);
    }
}

bool attach_crash_is_ours(void)
{
    const attach_library *driver = attach_driver();
    struct sigaction now;
    if (sigaction(SIGSEGV, NULL, &now) != 0 || (now.sa_flags & SA_SIGINFO) == 0)
        return false;
    const uintptr_t at = (uintptr_t)now.sa_sigaction;
    return now.sa_sigaction == on_crash ||
           at - driver->start < driver->end - driver->start;
}

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
#include "attach/peek/kind.h"
#include "attach/peek/memory.h"
#include "attach/peek/stack.h"
#include "attach/ring/draft.h"
#include "attach/ring/state.h"
#include "attach/ring/thread.h"

#include <errno.h>
#include <signal.h>
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

static void on_crash(int number, siginfo_t *info, void *context)
{
    const struct sigaction none = {.sa_handler = SIG_DFL};
    const int saved = errno;
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

// SPDX-License-Identifier: Apache-2.0
/* Signal handlers that turn a fault in generated code, or of a copy, into a jump back to
 * the worker, and the guard against use in a forked child. */
#include "softcuda/memory/fault.h"

#include "cuda/abi.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "base/fail.h"
#include "softcuda/memory/pending.h"

#define ALTERNATE_STACK_BYTES (64u << 10)

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define CAUGHT_COUNT (sizeof(caught) / sizeof(caught[0]))

static struct sigaction previous[CAUGHT_COUNT];
static _Atomic(bool (*)(uintptr_t pc)) in_generated_code;
static _Atomic(soft_fault_say *) say_host, say_early;
/* Initial-exec: a handler reads it, and small copies do little more than to set it. */
static _Thread_local soft_fault_scope *volatile current
    __attribute__((tls_model("initial-exec")));

static uintptr_t program_counter(const void *context)
{
    const ucontext_t *machine = context;
#if defined(__x86_64__)
    return (uintptr_t)machine->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (uintptr_t)machine->uc_mcontext.pc;
#else
#error "softcuda knows x86-64 and aarch64"
#endif
}

/* Hands the signal to whoever had it before. */
static void pass_on(int signal, siginfo_t *info, void *context)
{
    size_t which = 0;
    while (which + 1 < CAUGHT_COUNT && caught[which] != signal)
        which++;
    const struct sigaction *old = &previous[which];
    if (old->sa_flags & SA_SIGINFO) {
        old->sa_sigaction(signal, info, context);
        return;
    }
    if (old->sa_handler == SIG_IGN && info->si_code <= 0)
        return; /* sent by kill(): ignoring is possible */
    if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN) {
        old->sa_handler(signal);
        return;
    }
    /* The default action: it happens again on return, without us. */
    struct sigaction fallback = {.sa_handler = SIG_DFL};
    sigaction(signal, &fallback, NULL);
    if (info->si_code <= 0)
        raise(signal);
}

static const char *verb_of(const void *context)
{
#if defined(__x86_64__)
    const ucontext_t *machine = context;
    return machine->uc_mcontext.gregs[REG_ERR] & 2 ? "wrote" : "read";
#else
    (void)context;
    return "touched";
#endif
}

/* A page that is closed until a copy has run: opened, and said if it was the host's own
 * code. Device work may go there, as it may before the copy. */
static bool is_early(int signal, const siginfo_t *info, const void *context)
{
    soft_fault_say *const say = atomic_load_explicit(&say_early, memory_order_relaxed);
    uint64_t offset, bytes;
    if (!say || signal != SIGSEGV || info->si_code != SEGV_ACCERR ||
        !soft_pending_open((uint64_t)(uintptr_t)info->si_addr, &offset, &bytes))
        return false;
    if (bytes > 0 && !current)
        say((uint64_t)(uintptr_t)info->si_addr, offset, bytes, verb_of(context));
    return true;
}

static void say_what_host_did(int signal, const siginfo_t *info, const void *context)
{
    static _Thread_local bool saying; /* a fault meanwhile is not talked about */
    soft_fault_say *const say = atomic_load_explicit(&say_host, memory_order_relaxed);
    if (!say || saying || info->si_code <= 0 || (signal != SIGSEGV && signal != SIGBUS))
        return;
    saying = true;
    say((uint64_t)(uintptr_t)info->si_addr, 0, 0, verb_of(context));
    saying = false;
}

/* x86-64 does not say at which address if it is none that a process can have. */
static bool is_unsayable(const siginfo_t *info, const soft_fault_range *range)
{
#if defined(__x86_64__)
    return info->si_code == SI_KERNEL && range->bytes > 0 &&
           (range->first + range->bytes - 1) >> 47 != 0;
#else
    (void)info;
    (void)range;
    return false;
#endif
}

static bool is_in_ranges(const soft_fault_scope *scope, int signal, const siginfo_t *info,
                         uint64_t *address)
{
    if (signal != SIGSEGV && signal != SIGBUS)
        return false;
    *address = (uint64_t)(uintptr_t)info->si_addr;
    for (size_t i = 0; i < 2; i++) {
        const soft_fault_range *range = &scope->ranges[i];
        if (*address - range->first < range->bytes)
            return true;
        if (is_unsayable(info, range)) {
            *address = range->first;
            return true;
        }
    }
    return false;
}

static bool is_ours(const soft_fault_scope *scope, int signal, const siginfo_t *info,
                    uintptr_t pc, uint64_t *address)
{
    if (!scope || info->si_code <= 0)
        return false;
    if (scope->ranged)
        return is_in_ranges(scope, signal, info, address);
    bool (*const in_code)(uintptr_t) =
        atomic_load_explicit(&in_generated_code, memory_order_relaxed);
    *address = (uint64_t)(uintptr_t)info->si_addr;
    return in_code && in_code(pc);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
    soft_fault_scope *scope = current;
    const uintptr_t pc = program_counter(context);
    uint64_t address = 0;
    if (is_early(signal, info, context))
        return;
    if (!is_ours(scope, signal, info, pc, &address)) {
        say_what_host_did(signal, info, context);
        pass_on(signal, info, context);
        return;
    }
    scope->signal = signal;
    scope->code = info->si_code;
    scope->address = address;
    scope->pc = pc;
    if (scope->recover)
        scope->recover(scope); /* does not return; the scope stays entered */
    current = scope->outer;
    /* What the handler blocks beyond our flags (tsan's blocks all) ends with it. */
    pthread_sigmask(SIG_SETMASK, &((const ucontext_t *)context)->uc_sigmask, NULL);
#ifdef SOFT_FAULT_JUMPS_BARE
    __builtin_longjmp(scope->jump, 1);
#else
    siglongjmp(scope->jump, 1);
#endif
}

static atomic_bool installed;

static gph_status install(gph_error *error)
{
    static pthread_mutex_t once = PTHREAD_MUTEX_INITIALIZER;
    gph_status status = GPH_OK;
    if (atomic_load_explicit(&installed, memory_order_acquire))
        return GPH_OK;
    pthread_mutex_lock(&once);
    const bool now = atomic_load_explicit(&installed, memory_order_relaxed);
    for (size_t i = 0; !now && i < CAUGHT_COUNT; i++) {
        struct sigaction action = {.sa_sigaction = on_fault,
                                   .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
        sigemptyset(&action.sa_mask);
        if (sigaction(caught[i], &action, &previous[i]) != 0)
            status = gphi_fail(error, CUDA_ERROR_OPERATING_SYSTEM,
                               "cannot catch signal %d", caught[i]);
    }
    atomic_store_explicit(&installed, status == GPH_OK, memory_order_release);
    pthread_mutex_unlock(&once);
    return status;
}

gph_status soft_fault_install(bool (*in_code)(uintptr_t pc), gph_error *error)
{
    atomic_store_explicit(&in_generated_code, in_code, memory_order_relaxed);
    return install(error);
}

gph_status soft_fault_watch_host(soft_fault_say *say, soft_fault_say *early,
                                 gph_error *error)
{
    atomic_store_explicit(&say_host, say, memory_order_relaxed);
    atomic_store_explicit(&say_early, early, memory_order_relaxed);
    return install(error);
}

static pthread_key_t stack_key;
static pthread_once_t stack_once = PTHREAD_ONCE_INIT;
static bool stack_key_made;

static void drop_stack(void *stack)
{
    const stack_t off = {.ss_flags = SS_DISABLE};
    sigaltstack(&off, NULL);
    munmap(stack, ALTERNATE_STACK_BYTES);
}

static void make_stack_key(void)
{
    stack_key_made = pthread_key_create(&stack_key, drop_stack) == 0;
}

bool soft_fault_prepare_thread(void)
{
    pthread_once(&stack_once, make_stack_key);
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && (now.ss_flags & SS_DISABLE) == 0)
        return true; /* ours, or the program's own: good enough */
    if (!stack_key_made)
        return false;
    void *stack = mmap(NULL, ALTERNATE_STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (stack == MAP_FAILED)
        return false;
    const stack_t fresh = {.ss_sp = stack, .ss_size = ALTERNATE_STACK_BYTES};
    if (pthread_setspecific(stack_key, stack) != 0 || sigaltstack(&fresh, NULL) != 0) {
        pthread_setspecific(stack_key, NULL);
        munmap(stack, ALTERNATE_STACK_BYTES);
        return false;
    }
    return true;
}

void soft_fault_enter(soft_fault_scope *scope)
{
    scope->outer = current;
    scope->signal = 0;
    current = scope;
}

void soft_fault_leave(soft_fault_scope *scope)
{
    /* After a fault the handler has left the scope already. */
    if (current == scope)
        current = scope->outer;
}

bool soft_fault_run(soft_fault_scope *scope, void (*body)(void *argument), void *argument)
{
    if (!atomic_load_explicit(&installed, memory_order_acquire))
        (void)install(NULL);
    scope->recover = NULL;
    scope->ranged = true;
    /* Without the mask, which would cost a call of the kernel: the handler restores it. The
     * compiler's own keeps three words, where the C library's takes as long as a small copy. */
#ifdef SOFT_FAULT_JUMPS_BARE
    if (__builtin_setjmp(scope->jump) != 0)
        return false;
#else
    if (sigsetjmp(scope->jump, 0) != 0)
        return false;
#endif
    soft_fault_enter(scope);
    body(argument);
    soft_fault_leave(scope);
    return true;
}

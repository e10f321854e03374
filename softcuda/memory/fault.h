// SPDX-License-Identifier: Apache-2.0
/* Faults in kernels: SIGSEGV, SIGBUS and SIGFPE become an error of the launch, not the
 * end of the process. Claimed only when the thread is in a scope *and* the PC is
 * generated code; every other fault goes to the handler that was there before. */
#ifndef SOFT_MEMORY_FAULT_H
#define SOFT_MEMORY_FAULT_H

#include <gph/base.h>
#include <setjmp.h>
#include <stdbool.h>

/* Around the call of generated code:
 *     soft_fault_scope scope;
 *     if (sigsetjmp(scope.jump, 0) == 0) { soft_fault_enter(&scope); run(); }
 *     else ... scope says what happened
 *     soft_fault_leave(&scope);
 * Scopes nest. Per thread; a fiber that moves takes no scope along. */
typedef struct soft_fault_scope {
    sigjmp_buf jump;
    /* If set, called instead of the jump, in the handler, once the fields below are
     * filled; does not return. `jump` is not used then, so that a scope can stay entered
     * for the life of a thread and costs nothing. */
    void (*recover)(struct soft_fault_scope *scope);
    struct soft_fault_scope *outer;
    int signal; /* SIGSEGV ... 0 if none yet */
    int code;   /* si_code */
    uint64_t address, pc;
} soft_fault_scope;

/* Installs the handlers once, keeping what was there. `in_code` must be
 * async-signal-safe. */
GPH_CHECKED gph_status soft_fault_install(bool (*in_code)(uintptr_t pc),
                                          gph_error *error);
/* Check mode: `say` is called for a SIGSEGV or SIGBUS outside of generated code, before
 * the signal goes its way; `verb` is "read", "wrote" or "touched". Installs the handlers
 * if they are not there yet. */
GPH_CHECKED gph_status soft_fault_watch_host(void (*say)(uint64_t address,
                                                         const char *verb),
                                             gph_error *error);
/* Gives the calling thread an alternate signal stack, once; freed at thread end. Returns
 * false if that failed (faults then end the process). */
bool soft_fault_prepare_thread(void);
void soft_fault_enter(soft_fault_scope *scope);
void soft_fault_leave(soft_fault_scope *scope);

/* True in a child made by fork after soft_fork_guard(): every call then answers
 * CUDA_ERROR_NOT_INITIALIZED. */
bool soft_forked(void);
GPH_CHECKED gph_status soft_fork_guard(gph_error *error);

#endif

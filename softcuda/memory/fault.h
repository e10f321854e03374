// SPDX-License-Identifier: Apache-2.0
/* Faults of device work become an error of the context, not the end of the process. In
 * kernels: SIGSEGV, SIGBUS, SIGFPE and SIGILL, claimed only when the thread is in a scope
 * *and* the PC is generated code. In copies, fills and memory operations: SIGSEGV and
 * SIGBUS, claimed only at an address that the work is to touch. Every other fault
 * goes to the handler that was there before. */
#ifndef SOFT_MEMORY_FAULT_H
#define SOFT_MEMORY_FAULT_H

#include <gph/base.h>
#include <setjmp.h>
#include <stdbool.h>

/* What a copy, fill or memory operation touches. */
typedef struct soft_fault_range {
    uint64_t first, bytes; /* 0 bytes: none */
} soft_fault_range;

/* The compiler's own jumps: gcc's, on x86. Sanitizers follow the C library's alone. */
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&      \
    !defined(__SANITIZE_THREAD__)
#define SOFT_FAULT_JUMPS_BARE 1
typedef void *soft_fault_jump[5];
#else
typedef sigjmp_buf soft_fault_jump;
#endif

/* Around the call of generated code, with `recover`, or of a body: soft_fault_run(). Scopes
 * nest. Per thread; a fiber that moves takes no scope along. */
typedef struct soft_fault_scope {
    soft_fault_jump jump;
    /* If set, called instead of the jump, in the handler, once the fields below are
     * filled; does not return. `jump` is not used then, so that a scope can stay entered
     * for the life of a thread and costs nothing. */
    void (*recover)(struct soft_fault_scope *scope);
    struct soft_fault_scope *outer;
    bool ranged; /* soft_fault_run(): only `ranges` count, wherever the PC is */
    soft_fault_range ranges[2];
    int signal; /* SIGSEGV ... 0 if none yet */
    int code;   /* si_code */
    uint64_t address, pc;
} soft_fault_scope;

/* Installs the handlers once, keeping what was there. `in_code` must be
 * async-signal-safe. */
GPH_CHECKED gph_status soft_fault_install(bool (*in_code)(uintptr_t pc),
                                          gph_error *error);
typedef void soft_fault_say(uint64_t address, uint64_t offset, uint64_t bytes,
                            const char *verb);
/* Check mode: `say` is called for a SIGSEGV or SIGBUS outside generated code, before
 * the signal goes its way; `verb` is "read", "wrote" or "touched". `early` for host code
 * at `offset` of pinned memory that a queued copy of `bytes` will write (pending.h); the
 * access then goes on. Installs the handlers if they are not there yet. */
GPH_CHECKED gph_status soft_fault_watch_host(soft_fault_say *say, soft_fault_say *early,
                                             gph_error *error);
/* Gives the calling thread an alternate signal stack, once; freed at thread end. Returns
 * false if that failed (faults then end the process). */
bool soft_fault_prepare_thread(void);
void soft_fault_enter(soft_fault_scope *scope);
void soft_fault_leave(soft_fault_scope *scope);

/* Calls `body`, which touches scope->ranges (set by the caller, as the host sees them)
 * and holds nothing that must be given back. False if a fault in them ended it:
 * scope->address says where. Runs without a net where the handlers cannot be installed.
 */
bool soft_fault_run(soft_fault_scope *scope, void (*body)(void *argument),
                    void *argument);

#endif

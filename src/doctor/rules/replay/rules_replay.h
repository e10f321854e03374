// SPDX-License-Identifier: Apache-2.0
/* What the rules of replay.* share: what the program launched, copied and filled outside
 * of graphs, in order, and where the kernels of a graph stand in it.
 *
 *   eager:  K1 K2 fill | K1 K2 fill | K1 K2 fill     capture: K1 K2     replay, replay ..
 *           round 2  round 1  round 0
 *
 * A round is found from its last kernel backwards, with little between its kernels. */
#ifndef GPHI_DOCTOR_RULES_REPLAY_H
#define GPHI_DOCTOR_RULES_REPLAY_H
#include "doctor/history/history.h"

enum { GPHI_ROUNDS_MAX = 4, GPHI_EAGER_MAX = 8192 };

/* A kernel, or (kernel 0) a copy or fill. */
typedef struct gphi_eager {
    gphi_call call;
    uint64_t kernel, shape; /* shape: hash of grid, block and shared bytes */
    uint64_t steps;         /* waits, reads and uploads of the host before it */
    uint64_t at;            /* arguments: their place in gphi_eager_log.bytes */
    uint64_t address, bytes, contents; /* written; contents: hash of the host's, or 0 */
    uint32_t arg_bytes;
    bool is_fill, is_from_host;
} gphi_eager;

typedef struct gphi_eager_log {
    gphi_vec items; /* of gphi_eager: item n stands at n % GPHI_EAGER_MAX */
    gphi_vec bytes;
    uint64_t count, byte_count, steps;
} gphi_eager_log;

/* A kernel of an executable. */
typedef struct gphi_step_kernel {
    uint32_t node; /* of the snapshot; in a child: the child */
    const gph_kernel_params *params;
} gphi_step_kernel;

/* Where a graph's kernels stand among what ran before: numbers of items. */
typedef struct gphi_rounds {
    gphi_vec kernels; /* of gphi_step_kernel */
    uint32_t count;
    gphi_vec places[GPHI_ROUNDS_MAX]; /* of uint64_t, one a kernel; 0: the last */
} gphi_rounds;

void gphi_eager_init(gphi_eager_log *log, gph_allocator heap);
void gphi_eager_fini(gphi_eager_log *log);
/* Takes in a call that ran outside of graphs. False: short of memory. */
bool gphi_eager_note(gphi_eager_log *log, const gphi_model *model, const gphi_seen *seen);
/* NULL: too old. */
const gphi_eager *gphi_eager_at(const gphi_eager_log *log, uint64_t number);
const unsigned char *gphi_eager_args(const gphi_eager_log *log, const gphi_eager *item);

/* Finds what was run before call `before` as the executable's graph has it. */
bool gphi_rounds_find(gphi_rounds *rounds, const gphi_eager_log *log,
                      const gphi_exec_history *exec, uint64_t before);
void gphi_rounds_fini(gphi_rounds *rounds);
static inline const gphi_eager *gphi_round_of(const gphi_eager_log *log,
                                              const gphi_rounds *rounds, uint32_t round,
                                              size_t kernel)
{
    return gphi_eager_at(log,
                         *(const uint64_t *)gphi_vec_at(&rounds->places[round], kernel));
}

/* replay_result.c */
void gphi_rule_unread_result(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_unread_result_end(gphi_rule_run *run);
typedef struct gphi_polled {
    const gphi_allocation *memory;
    uint64_t number; /* memory->allocated.number */
    uint64_t launches, times;
    gphi_call first;
    uint64_t exec; /* number of the executable launched before */
} gphi_polled;
#endif

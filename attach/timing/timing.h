// SPDX-License-Identifier: Apache-2.0
/* How long the GPU takes for what the program queues, without a profiler: a few of the
 * repetitions are windows, in one of two ways. Active with GPH_DOCTOR_ADVISE=1 only.
 *
 *   held   program: launch launch launch launch                  | launch ...
 *          stream:  [wait for a word of host memory][event] work work work work [event]
 *                   ^ the word is set when a repetition is queued
 *   graph  program: launch launch launch launch | wait
 *          stream:              [wait for the word][event] one graph [event]
 *
 * The first gives what the work takes as it is queued now, the second what it takes as a
 * graph. The wrappers call gphi_timing_before() ahead of the driver and
 * gphi_timing_after() after it, for each call of the program itself (not for those that
 * the driver or another wrapper makes). Neither blocks, allocates or logs; both may call
 * the driver. */
#ifndef GPHI_ATTACH_TIMING_H
#define GPHI_ATTACH_TIMING_H
#include "event/ring.h"
#include <stdatomic.h>
#include <stdbool.h>

/* What timing needs of the rest of the attached library. */
typedef struct gphi_timing_host {
    void *(*find)(const char *symbol); /* the driver's own entry, or NULL */
    uint32_t (*open_captures)(void);   /* in the process, now */
} gphi_timing_host;

/* Whether it is active. Read without a lock, so that a wrapper pays one load. */
extern atomic_bool gphi_timing_is_on;

/* Once, when the driver and the ring are there. Copies `host`. Returns whether it is
 * asked for (GPH_DOCTOR_ADVISE=1) and this driver has what it needs. */
bool gphi_timing_start(const gphi_timing_host *host);

/* A call of the program, as its CALL record has it. `words`: the arguments, as far as
 * they are known before the call. Whether the call is done: it has become a node of a
 * window's graph, and succeeds without the driver. */
bool gphi_timing_before(uint32_t call, const uint64_t *words, uint32_t flags);

/* `begin_ns`, `end_ns`: around the driver's own call. Called last in the wrapper, so that
 * what the wrapper itself costs is known too. */
typedef struct gphi_timing_end {
    uint64_t enter_ns; /* when the wrapper was entered */
    uint64_t begin_ns, end_ns;
    int32_t result;
} gphi_timing_end;
void gphi_timing_after(uint32_t call, const gphi_timing_end *end);

/* What the doctor took between two calls of this thread, for a note. */
void gphi_timing_beside(uint64_t ns);

/* In a child of fork(): off. */
void gphi_timing_forget(void);
#endif

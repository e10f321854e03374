// SPDX-License-Identifier: Apache-2.0
/* A loop inside. Whoever starts the rounds, the same is decided after each, on the device
 * and by one kernel (kernels/loop_round.cuh): from the condition, the counts, the clock
 * and the host's word.
 *
 *   WHILE   one executable:   before ─ begin ─ WHILE{ step x k ─ round } ─ WHILE{ step ─ round }
 *   TAIL    starts:           before ─ begin ──launches──> many or one
 *           many, one:        step x k ─ round ──launches──> many or one, into the tail
 *   HOST    starts:           before ─ begin          the host reads which comes next
 *           many, one:        step x k ─ round        and launches it
 *
 * "many" is there only where a round has several steps; single ones then do what is left
 * of a ceiling. Words that both sides write lie in pinned memory, the rest on the device. */
#ifndef GPHI_LOOP_LOOP_H
#define GPHI_LOOP_LOOP_H
#include "device/kernels.h"
#include "kernels/loop.cuh"
#include "replay/exec.h"
#include <gph/loop.h>
#include <gph/sentinel.h>
#include <stdatomic.h>
#include <stdbool.h>

/* The executables that a way has; those that it has not are NULL. */
typedef struct gphi_loop_execs {
    gph_exec *start; /* WHILE: all there is */
    gph_exec *many, *one;
} gphi_loop_execs;

/* Launches of each way that count. */
enum { GPHI_TRIAL_COUNTED = 5 };

/* The first launches, where the host may be the faster one: trial.c. By [0] the device, [1]
 * the host. */
typedef struct gphi_loop_trial {
    bool is_on;
    bool host_first;    /* short kernels say that it is the faster one */
    bool was_host;      /* the last launch */
    uint64_t launch;    /* its number; 0: it was noted */
    uint64_t from_ns;   /* when it began */
    uint32_t counts[2]; /* launches that were noted */
    double ns[2];       /* of a round, the least */
    double beside[2][GPHI_TRIAL_COUNTED]; /* ns of launches beside their rounds */
    double rounds;                        /* of all that counted */
    gph_loop_way way;     /* of the device, of which the loop's executables are */
    gphi_loop_execs host; /* of the host's way; kept as long as the loop */
} gphi_loop_trial;

/* Of launches that were waited for one by one: what sleep.c expects of the next. */
enum { GPHI_LENGTHS_WANTED = 3 };
typedef struct gphi_loop_lengths {
    uint64_t last_ns; /* by the device's clock */
    uint32_t alike;   /* how many in a row were as long as the one before */
    uint32_t wanted;  /* that many are believed; 0: none was noted yet */
    bool was_asleep;  /* the launch that runs is slept through */
} gphi_loop_lengths;

struct gph_loop {
    gph_runtime *runtime;
    CUcontext context;
    gph_loop_way way; /* WHILE, TAIL or HOST */
    gph_loop_options options;
    char *name;
    CUgraph before; /* a copy, or NULL */
    loop_plan plan;
    loop_host *host;
    CUdeviceptr device; /* the loop_device */
    CUevent event;      /* that gph_loop_wait() sleeps on */
    gphi_kernels *any;  /* that any way has */
    gphi_kernels *own;  /* of the ways of the device, or NULL */
    gphi_loop_execs execs;
    atomic_ullong launched;
    uint64_t doze_ns; /* launches up to this are napped through: sleep.c; 0: no naps, and
                         no long sleeps */
    gphi_loop_lengths lengths;
    atomic_ullong launch_ns; /* when the launch began that may be slept through; 0: none,
                                or several are under way */
    atomic_uint bell;        /* aborts, which wake who sleeps */
    atomic_uint launch_bell; /* what it was before the launch */
    bool is_lent;            /* its executable is; others may launch it */
    uint64_t look_ns;        /* HOST: how long the host looks at the word of a round */
    gph_loop_ways ways;
    gphi_loop_trial trial;
    gphi_deferred end;
};

/* What the driver said to a call for a loop. */
gph_status gphi_loop_check(const gph_loop *loop, CUresult result, const char *call,
                           gph_error *error);

/* result.c: an error on the device, with the place where it happened. */
gph_status gphi_loop_fail_fault(gph_loop *loop, CUresult result, const char *call,
                                gph_error *error);

/* sleep.c: waits for the stream; what the next launch is expected to take, 0: nothing is. */
CUresult gphi_loop_sleep(gph_loop *loop, CUstream stream);
void gphi_lengths_note(gphi_loop_lengths *lengths, uint64_t ns);
uint64_t gphi_lengths_expect(const gphi_loop_lengths *lengths);

/* control.c: texts, and the places of their entries. */
enum { GPHI_LOOP_HOST_BEGIN, GPHI_LOOP_HOST_ROUND, GPHI_LOOP_STEP, GPHI_LOOP_WORK };
enum {
    GPHI_LOOP_WHILE_BEGIN,
    GPHI_LOOP_WHILE_ROUND,
    GPHI_LOOP_TAIL_BEGIN,
    GPHI_LOOP_TAIL_ROUND
};
extern const gphi_kernel_text gphi_loop_text, gphi_loop_device_text;

/* rounds.c: makes the executables of loop->way around a body. */
gph_status gphi_loop_build(gph_loop *loop, CUgraph body, gphi_loop_execs *out,
                           gph_error *error);
void gphi_loop_execs_destroy(gphi_loop_execs *execs);

/* mark.c: adds sentinels to a body, for which its nodes wait. They go with leave() of the
 * marks, and what waits for them with them. */
gph_status gphi_loop_mark(const gph_loop *loop, CUgraph body, gphi_marks **out,
                          gph_error *error);

/* loop.c: a loop of one way; options.way says which. */
gph_status gphi_loop_make(gph_runtime *runtime, CUgraph body,
                          const gph_loop_options *options, gph_loop **out,
                          gph_error *error);

/* choose.c: a loop of the fastest of the ways that options.way allows. */
gph_status gphi_loop_choose(gph_runtime *runtime, CUgraph body,
                            const gph_loop_options *options, gph_loop **out,
                            gph_error *error);

/* trial.c: whether the launch that begins now is the host's. */
bool gphi_trial_is_host(gph_loop *loop, uint64_t launched);

/* The way of the device stays: somebody has its executable. */
void gphi_trial_end(gph_loop *loop);

/* After a launch has ended and was waited for. */
void gphi_trial_note(gph_loop *loop);
#endif

// SPDX-License-Identifier: Apache-2.0
/* One call of a function, recorded for one signature into a pool: what callables, caches
 * and trees are made of.
 *
 *   head of the graph   the generator's words go on (rng.h), tensors are cleared
 *   the function        as it was captured, in its pool
 *   tail                copies into outputs that the owner wants elsewhere
 *
 * A copied input has a buffer of the pool that belongs to the recording. It is allocated
 * at the head of the capture; one that is shared is freed at the tail, so that other
 * graphs of the pool lie over it: it is whole from the copy to the end of the replay. */
#ifndef GPHI_CALLABLE_RECORD_H
#define GPHI_CALLABLE_RECORD_H
#include "callable/rng.h"
#include "callable/signature.h"
#include "replay/copy.h"
#include "slot/slots.h"

enum gphi_record_flags {
    GPHI_RECORD_KEEP_GRAPH = 1 << 0,   /* `graph` stays: updates, shared executables */
    GPHI_RECORD_NO_EXEC = 1 << 1,      /* none is made: gphi_record_instantiate() later.
                                          Implies KEEP_GRAPH */
    GPHI_RECORD_SHARE_INPUTS = 1 << 2, /* see above */
    GPHI_RECORD_ORDERED = 1 << 3,      /* each launch asks gph_pool_replay() */
    GPHI_RECORD_PULL = 1 << 4          /* its own executable copies inputs, where it can:
                                          record_pull.c */
};

/* All borrowed for the call, but for user, pool (retained), rng: until the end. */
typedef struct gphi_record_spec {
    gph_function_fn *function;
    void *user;
    gph_arguments arguments; /* the sample. A static or managed input's data is where it
                                stays; a copied one's is what warm-ups read */
    const uint8_t *modes;    /* NULL: all are copied */
    const gph_tensor *into;  /* of each output, `data` 0: wherever the function likes;
                                NULL: all so */
    const gph_tensor *clear; /* dense */
    const char *name;        /* NULL: none */
    const char *phase;       /* what an eager call is, for errors; NULL: "eager call" */
    gph_pool *pool;
    CUstream stream; /* not captured; warm-ups and the capture */
    gph_rng *rng;    /* or NULL */
    uint32_t output_count, clear_count, warmup_count;
    uint32_t flags; /* gphi_record_flags */
} gphi_record_spec;

/* Read it, change nothing. */
typedef struct gphi_record {
    gph_runtime *runtime;
    gph_pool *pool;
    gph_recording_id id; /* of the pool */
    uint32_t flags;
    gph_exec
        *exec; /* NULL with NO_EXEC until gphi_record_instantiate(), and with breaks */
    CUgraph graph; /* NULL unless kept; with breaks that of the first segment */
    gph_recording *recording; /* of a function with breaks, or that holds something */
    gph_replay *replay;       /* of a function with breaks, instead of `exec` */
    gph_recording *flows;     /* of conditional nodes in an adopted graph, or NULL */
    char *name;               /* or NULL */

    gphi_signature signature; /* copied inputs: `data` is the buffer */
    uint64_t *input_bytes;    /* of the copy; a whole span, gaps too */

    gph_tensor *outputs; /* in their places, constant */
    uint32_t output_count;

    /* Allocations of the pool that the recording left: outputs, buffers of inputs that
     * are not shared. Each once. */
    CUdeviceptr *kept;
    uint32_t kept_count, kept_room;

    gphi_rng_slot rng; /* rng.rng NULL: none */

    uint64_t warmup_ns, capture_ns, instantiate_ns; /* what it took */
    uint64_t launches;

    /* For one copy of all inputs at a time. */
    CUdeviceptr *copy_to, *copy_from;
    size_t *copy_bytes;
    gphi_copier *copier; /* or NULL; with two copied inputs and more */

    /* Inputs that `exec` copies by itself: a table of PULL slots, NULL: none. */
    gph_slots *pulls;
    uint32_t *pull_of;       /* the slot of each input, or GPHI_RECORD_NO_PULL */
    uint64_t pulled, copied; /* inputs, so far: by the graph, by calls before it */
} gphi_record;

/* Warm-ups, capture, executable. A function with breaks cannot be recorded without an
 * executable: GPH_E_UNSUPPORTED. After a failure stream, pool and generator are as
 * before; the error is the first cause. `out` untouched then. Thread: any; no capture of
 * this thread may be open. */
gph_status gphi_record_create(gph_runtime *runtime, const gphi_record_spec *spec,
                              gphi_record **out, gph_error *error);
/* A recording that was made elsewhere (loaded from a file): graph and number in the pool,
 * both taken on success; no executable yet. Of the spec only arguments (`data` of a
 * copied input is its buffer), modes, name, pool, output_count and flags count, and no
 * function is called. `outputs`: in their places; may be NULL with no output. Fails with
 * GPH_E_INVALID (arguments), GPH_E_NO_MEMORY and what cuCtxGetDevice returns. */
gph_status gphi_record_adopt(gph_runtime *runtime, const gphi_record_spec *spec,
                             const gph_tensor *outputs, CUgraph graph,
                             gph_recording_id id, gphi_record **out, gph_error *error);
/* Its work must have ended. NULL is allowed. */
void gphi_record_destroy(gphi_record *record);

/* Makes `exec` if there is none. Needs `graph`. */
gph_status gphi_record_instantiate(gphi_record *record, const gph_exec_options *options,
                                   gph_error *error);
/* Takes the executable away from it (it is the caller's then), so that many records can
 * share one. NULL if there is none. */
gph_exec *gphi_record_take_exec(gphi_record *record);
/* Gives it one; it must have none. `exec` is taken. */
void gphi_record_give_exec(gphi_record *record, gph_exec *exec);

/* record_pull.c. Before `exec` is made: the graph gets what copies its inputs, where that
 * is possible; after it: the graph is as before, if it stays. Else nothing happens, and
 * inputs are copied by calls. Fails with GPH_E_NO_MEMORY, or if the graph could not be
 * left as it was. */
#define GPHI_RECORD_NO_PULL UINT32_MAX
gph_status gphi_record_pull_enter(gphi_record *record, gph_error *error);
gph_status gphi_record_pull_leave(gphi_record *record, gph_error *error);
/* Whether the template stays after the executable is made. */
bool gphi_record_keeps_graph(const gphi_record *record);

/* "warm-up" */
const char *gphi_phase_name(uint32_t phase);

/* Puts the function's name (NULL: none) and the phase before a failure over its tensors.
 */
void gphi_function_blame(const char *name, const char *phase, gph_error *error);

/* Copies inputs whose data is not the buffer's (0: skipped), moves the generator on,
 * launches. Does not look at the signature. `inputs` NULL: nothing is copied.
 * `exec` NULL: the record's own; else one that was updated with `graph` of this record
 * (whole), and not with another's since. One at a time for a record. */
gph_status gphi_record_launch(gphi_record *record, gph_exec *exec,
                              const gph_tensor *inputs, CUstream stream,
                              gph_error *error);

/* Calls the function without recording it: phase GPH_PHASE_EAGER, inputs where they are.
 * Outputs that it allocated in spec->pool are the caller's. GPH_PHASE_WARMUP as well,
 * with the generator left where it was. `outputs`: room for output_count. */
gph_status gphi_function_run(gph_runtime *runtime, const gphi_record_spec *spec,
                             gph_phase phase, CUstream stream, gph_tensor *outputs,
                             gph_error *error);
#endif

// SPDX-License-Identifier: Apache-2.0
/* Running a grid: from a bound kernel, dimensions and parameter bytes to blocks on the
 * workers of the engine.
 *
 *   soft_kernel_env      one a context: device heap, time limit, what happens on a fault
 *   soft_kernel_launch   one a launch: filled by soft_kernel_launch_init(), run by the
 *                        engine through soft_kernel_launch_run(), as often as wanted but
 *                        not twice at one time
 *
 * A worker runs the blocks it claims on its own stack; those of a kernel that may wait
 * for another block run on fibers, so that one that waits lets others run (see run.c); on
 * the slow path each thread has a fiber. */
#ifndef SOFT_KERNEL_RUN_LAUNCH_H
#define SOFT_KERNEL_RUN_LAUNCH_H

#include <stdatomic.h>

#include "softcuda/engine/engine.h"
#include "softcuda/kernel/load/code.h"

/* How a kernel failed: the first failure of a launch, all others are dropped. */
typedef struct soft_fault {
    gph_status code;    /* a SOFT_ERROR_ of code.h */
    const char *kernel; /* lent for the call that gets the record */
    uint64_t address;   /* of the access, or 0 */
    int64_t node;       /* as given to soft_kernel_launch_init(), -1: none */
    uint32_t
        ctaid[3]; /* of the first of the blocks that were run as one: kernel.long_rows */
    uint32_t tid[3];
    bool has_thread; /* tid is known (a fault of the fast path knows the block only) */
    char text[512];  /* a sentence with all of it */
} soft_fault;

typedef struct soft_kernel_env soft_kernel_env; /* any thread */

/* Dynamic parallelism: what kernels ask of who knows modules, devices and memory. */
typedef struct soft_nested soft_nested;
struct soft_nested_copy;
struct soft_trace;
typedef struct soft_nested_kernel {
    const soft_kernel_code *code; /* NULL: it is another address */
    uint32_t *cost_ns;            /* of its launches, as the engine measures it */
    uint32_t dynamic_max;         /* bytes of dynamic shared memory that it may get */
    uint32_t cluster[3];          /* blocks of its clusters; zeros: none */
} soft_nested_kernel;
struct soft_kernel_launch;
typedef struct soft_nested_hooks {
    /* nested.c, which run.c is below: all blocks of the launch are over. */
    void (*finish)(struct soft_kernel_launch *launch, soft_worker *worker);
    /* The kernel at an address that generated code has. */
    void (*kernel)(void *user, uint64_t address, soft_nested_kernel *out);
    /* False: there is no memory at *lost. */
    bool (*copy)(void *user, const struct soft_nested_copy *copy,
                 struct soft_trace *trace, uint64_t *lost);
    /* A query of nestedcalls.h (PTX_NESTED_...): its error, and so many bytes at `out`. */
    uint32_t (*query)(void *user, uint32_t which, const uint64_t *arguments, void *out,
                      uint32_t *bytes);
    /* A text of an error, which stays. */
    const char *(*text)(uint32_t error, bool is_name);
} soft_nested_hooks;

typedef struct soft_kernel_env_options {
    uint64_t heap_bytes;      /* device heap (CU_LIMIT_MALLOC_HEAP_SIZE), 0: 8 MiB */
    uint64_t timeout_ns;      /* a kernel's limit, 0: none */
    uint32_t multiprocessors; /* %nsmid, 0: 4 */
    uint32_t reserved;
    /* Called once a faulted launch, on the worker that met the fault; later launches in
     * this env do nothing. May be NULL. */
    void (*on_fault)(void *user, const soft_fault *fault);
    /* Check mode: where the bytes of an access are; NULL, with a reason, if the access is
     * wrong. Called for what is not the block's shared, local or parameter memory. NULL:
     * every access is fine, and its address is where the bytes are. */
    void *(*check)(void *user, uint64_t address, uint64_t bytes, bool write, char *reason,
                   size_t reason_bytes);
    /* Where they would be, for accesses that `check` refuses and the launch's trace
     * excuses; NULL where nothing excuses them. NULL itself: nothing is excused. */
    void *(*place)(void *user, uint64_t address, bool write);
    const soft_nested_hooks *nested; /* NULL: kernels launch none */
    void *user;
    const gph_allocator *allocator;
} soft_kernel_env_options;

/* Fails with GPH_E_NO_MEMORY. Thread: any. */
GPH_CHECKED gph_status soft_kernel_env_create(const soft_kernel_env_options *options,
                                              soft_kernel_env **out, gph_error *error);
void soft_kernel_env_destroy(soft_kernel_env *env); /* no launch runs; takes NULL */
/* Changes the size of the device heap while nothing has been allocated from it: false
 * after that. */
bool soft_kernel_env_set_heap(soft_kernel_env *env, uint64_t bytes);
/* How many launches of kernels by kernels may be pending. */
void soft_kernel_env_set_pending(soft_kernel_env *env, uint64_t count);
/* Whether a launch has failed in it: nothing runs any more. */
bool soft_kernel_env_is_dead(const soft_kernel_env *env);
/* A variable's milliseconds in nanoseconds, 0 when it is unset or not a number. */
uint64_t soft_limit_from_environment(const char *name);

/* What grid.sync() works with: of cooperative launches alone, which are few. */
typedef struct soft_kernel_sync {
    uint32_t envreg[32];
    uint64_t workspace[8]; /* nvcc emits what uses it inline */
} soft_kernel_sync;

typedef struct soft_kernel_dims {
    uint32_t grid[3], block[3];
    uint32_t dynamic_shared_bytes;
    uint32_t cooperative;
    uint32_t cluster[3]; /* blocks of one; all 0: a block is alone. It divides the grid */
    soft_kernel_sync *sync; /* cooperative: zeroed, borrowed while the launch may run */
} soft_kernel_dims;

/* The values of an executable graph's conditional handles, 1 ... count; after them as many words
 * that are not 0 once a kernel has set the handle (check mode asks). */
typedef struct soft_conditions {
    uint32_t count;
    atomic_uint values[];
} soft_conditions;

/* Who calls cudaGraphLaunch(). */
struct soft_kernel_caller {
    const struct soft_trace *trace; /* check mode: the kernel's; or NULL */
    soft_worker *worker;            /* that its block runs on; or NULL */
};

/* What a kernel asks of the executable graph that it runs in: the graph's. */
typedef struct soft_kernel_graph {
    uint64_t handle; /* %current_graph_exec; 0: the device cannot launch it */
    /* cudaGraphLaunch(): what the kernel gets, in *error; not GPH_OK, with the reason: what
     * ends its context. Any thread that runs a block of the graph. */
    gph_status (*launch)(struct soft_kernel_graph *self, uint64_t exec, uint64_t stream,
                         const struct soft_kernel_caller *by, uint32_t *error,
                         const char **why);
} soft_kernel_graph;

/* Caller's memory; fields are read by softcuda/kernel alone. What a grid of one block
 * reads comes first: in a large graph each of these lines is a cache miss. */
typedef struct soft_kernel_launch {
    const soft_kernel_code *code;
    ptx_block_fn *entry; /* fast path: of the code */
    soft_kernel_env *env;
    struct soft_trace *trace; /* check mode: what it touches is noted there; or NULL */
    uint32_t memory_align;    /* where a block's shared and local memory begin */
    uint32_t safepoint_budget : 16;
    uint32_t depth : 15;    /* 0: of the host; else of launches by kernels */
    uint32_t is_nested : 1; /* a soft_nested_item has it */
    uint32_t processors;    /* multiprocessors that it runs on: first << 16 | how many */
    atomic_uint fault;      /* 0 none, 1 being written, 2 there */
    uint32_t page_bytes;
    bool on_fibers;    /* a block may wait for another */
    bool is_single;    /* one block, fast path, waits for nobody, no time limit */
    bool in_body;      /* of a conditional node */
    bool needs_memory; /* a block has local, scratch or shared memory */
    ptx_grid grid;
    uint64_t block_count;
    uint64_t part_count; /* what workers claim: clusters, else blocks */
    int64_t node;
    uint32_t local_bytes, scratch_bytes; /* of a block */
    uint32_t shared_room;                /* of a block, rounded up to memory_align */
    atomic_uint parts_over;              /* of a kernel that launches kernels */
    soft_kernel_sync *sync;              /* NULL: not cooperative */
    soft_kernel_graph *graph; /* borrowed; NULL: it runs in none that knows of launches */
    soft_conditions *conditions; /* of the graph it runs in, borrowed; NULL: none */
    soft_nested *_Atomic nested; /* what its blocks have launched; NULL: nothing yet */
} soft_kernel_launch;

/* Nothing that a row of grids reads (run.c) is in a second line. */
_Static_assert(offsetof(soft_kernel_launch, needs_memory) < 64, "one cache line");

/* A block met a fault: those still to come are not run. */
static inline bool soft_launch_failed(const soft_kernel_launch *launch)
{
    return atomic_load_explicit(&launch->fault, memory_order_relaxed) != 0;
}

/* Fills a launch. Checks what the kernel itself limits (threads a block, required block
 * size, shared memory up to 227 KiB, zero dimensions): 1 (CUDA_ERROR_INVALID_VALUE) or
 * 701 (LAUNCH_OUT_OF_RESOURCES); 801 for a kernel on PTX_PATH_UNSUPPORTED, with its line
 * and instruction.
 *
 *  code    borrowed while the launch may run.
 *  params  borrowed while the launch may run: kernel->param_bytes bytes in the layout of
 *          the kernel's parameters, 16-byte aligned.
 *  node    graph node for messages, -1: none. */
GPH_CHECKED gph_status soft_kernel_launch_init(soft_kernel_launch *launch,
                                               soft_kernel_env *env,
                                               const soft_kernel_code *code,
                                               const soft_kernel_dims *dims,
                                               const void *params, gph_error *error);

/* It runs on these multiprocessors only, as %smid shows; 65535 at most. */
void soft_kernel_launch_confine(soft_kernel_launch *launch, uint32_t first,
                                uint32_t count);
/* The same launch once more: `params` is a copy of its parameters, `sync` as in
 * soft_kernel_dims. Neither runs. */
void soft_kernel_launch_copy(soft_kernel_launch *to, const soft_kernel_launch *from,
                             const void *params, soft_kernel_sync *sync);
/* Other numbers of blocks, which fit and are whole clusters; it does not run. */
bool soft_kernel_grid_fits(const uint32_t grid[3]);
void soft_kernel_launch_resize(soft_kernel_launch *launch, const uint32_t grid[3]);

/* The graph that it runs in, which says what kernels of it may do. It does not run. */
void soft_kernel_launch_join(soft_kernel_launch *launch, soft_kernel_graph *graph,
                             bool in_body);

/* Check mode: what its blocks touch is noted in `trace` from now on (borrowed; NULL: no
 * more). It must not be running. */
void soft_kernel_launch_watch(soft_kernel_launch *launch, struct soft_trace *trace);

/* What the engine is to do: work->cost_ns is left alone. */
void soft_kernel_launch_work(soft_kernel_launch *launch, soft_work *work);

/* The engine's run_parts functions; argument is the soft_kernel_launch. The second one is
 * for a launch that is_single. */
void soft_kernel_launch_run(void *argument, soft_parts *parts, soft_worker *worker);
void soft_kernel_launch_run_single(void *argument, soft_parts *parts,
                                   soft_worker *worker);
/* Of such launches that come one after the other (soft_row). */
uint32_t soft_kernel_launch_run_row(const soft_work *works, const uint32_t *order,
                                    uint32_t count, soft_worker *worker);

/* ---- for the handler of signals --------------------------------------------------- */

/* Whether this thread runs a block just now. Async-signal-safe. */
bool soft_kernel_running(void);

/* Ends the block that this thread runs, and with it the launch: writes the fault record
 * and jumps back to the worker's loop. Only where soft_kernel_running() and
 * soft_place_holds() are true. `detail` (may be NULL) is copied: who freed the address.
 * Unblocks SIGSEGV, SIGBUS and SIGFPE. Async-signal-safe. */
_Noreturn void soft_kernel_fault(gph_status code, uint64_t address, const char *detail);

#endif

// SPDX-License-Identifier: Apache-2.0
/* What a thread needs to run blocks, kept from launch to launch.
 *
 *   runner (one a thread) ── home block: runs on the thread's own stack
 *                         ── blocks with a fiber: idle, or parked (in the order parked)
 *
 *   memory of a block     |guard| local | scratch | shared | margin |guard|
 *   one mapping; shared memory ends at the margin, which is read-only, so that a store
 *   over its end faults. A load of a vector of which only some lanes are wanted may reach
 *   over the end; where the others lie on a guard page, processors take hundreds of
 *   cycles to find that out. */
#ifndef SOFT_KERNEL_RUN_RUNNER_H
#define SOFT_KERNEL_RUN_RUNNER_H

#include "softcuda/check/trace.h"
#include "softcuda/kernel/run/fiber.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/memory/fault.h"
#include "softcuda/memory/share.h"
#include "softcuda/ptx/abi.h"

struct soft_lanes; /* threads of the slow path: lanes.h */
typedef struct soft_runner soft_runner;

typedef struct soft_block_memory {
    unsigned char *base; /* of the mapping, guards included; NULL: none yet */
    unsigned char *end;  /* of what may be used */
    size_t mapped;
    size_t local, scratch, shared; /* room for each */
    uint32_t align;                /* of local memory */
} soft_block_memory;

/* A cluster: blocks that run on one worker, switch by switch, so that nothing here is atomic.
 * Their shared memory lies in a ring of `slots` that is mapped twice (softcuda/ptx/abi.h). */
typedef struct soft_cluster {
    struct soft_cluster *next; /* all of the runner, those at rest too */
    unsigned char *ring;       /* NULL: the kernel has no shared memory */
    uint32_t slots;
    size_t room;      /* of a block's shared memory, for which the ring was made */
    uint32_t size;    /* blocks */
    uint32_t running; /* of them; 0: at rest */
    uint32_t arrived; /* at the barrier */
    uint32_t gone;    /* ended: they count as arrived for good */
    uint32_t phase;   /* of the barrier */
    uint64_t index;
} soft_cluster;

/* One block that runs. The generated code's view comes first. */
typedef struct soft_block {
    ptx_block view;
    soft_runner *runner;
    soft_fiber *fiber; /* it runs on; the runner's own for the home block */
    soft_block_memory memory;
    struct soft_lanes *lanes; /* slow path; lanes.c frees them by this: */
    void (*destroy_lanes)(struct soft_lanes *lanes);
    ptx_thread *thread;      /* slow path: the thread that runs just now, else NULL */
    uint32_t safepoints;     /* of this block so far */
    soft_cluster *cluster;   /* it belongs to, or NULL */
    bool finished;           /* its fiber found no more blocks */
    struct soft_block *next; /* in the runner's idle or parked list */
    soft_fiber stack;        /* what `fiber` points to, but for the home block */
} soft_block;

struct soft_runner {
    soft_guard guard;
    soft_fiber own;
    soft_block home;
    soft_block *current; /* whose code runs just now; read by signal handlers */
    soft_kernel_launch *launch;
    soft_parts *parts;
    uint64_t next, end, want;  /* claimed and not yet started; size of the next claim */
    uint64_t claimed;          /* of this launch, by this call */
    uint64_t deadline_ns;      /* of this launch, 0: none */
    uint64_t children_ns;      /* when what it has launched is spoken of, 0: never */
    const soft_worker *worker; /* the last one, and its slot among `processors`: */
    uint32_t smid, processors;
    soft_block *idle;
    soft_cluster *clusters; /* cluster.c frees them by this: */
    void (*destroy_cluster)(soft_cluster *cluster);
    soft_block *parked, **parked_tail;
    uint32_t live;
    soft_fault_scope scope;
    soft_trace_memory seen; /* check mode */
    struct {
        gph_status code;
        uint64_t address;
        bool has_thread;
        uint32_t thread; /* linear */
        char detail[288];
    } raised; /* what soft_guard_leave() was called for */
};

/* Initial-exec: a signal handler reads it, and that must not allocate. */
extern _Thread_local soft_runner *soft_runner_own
    __attribute__((visibility("hidden"), tls_model("initial-exec")));
__attribute__((cold)) soft_runner *soft_runner_make(void);

/* This thread's runner, or NULL: no memory. Freed when the thread ends. */
static inline soft_runner *soft_runner_self(void)
{
    soft_runner *own = soft_runner_own;
    return own ? own : soft_runner_make();
}

/* Gives a block more memory. */
__attribute__((cold)) bool soft_block_grow(soft_block *block,
                                           const soft_kernel_launch *launch);

/* What a block of any launch is given. */
static inline void soft_block_point(soft_block *block, const soft_kernel_launch *launch,
                                    uint32_t smid)
{
    block->view.grid = &launch->grid;
    block->view.smid = smid;
    block->view.runtime = block;
    block->view.safepoint_budget = launch->safepoint_budget;
    block->view.is_alone = soft_share_is_alone();
}

/* Makes the memory of a block large enough and points its view at it. */
static inline bool soft_block_prepare(soft_block *block, const soft_kernel_launch *launch,
                                      uint32_t smid)
{
    const soft_block_memory *memory = &block->memory;
    if (!memory->base || memory->local < launch->local_bytes ||
        memory->scratch < launch->scratch_bytes || memory->shared < launch->shared_room ||
        memory->align < launch->memory_align)
        if (!soft_block_grow(block, launch))
            return false;
    block->view.shared = memory->end - launch->shared_room;
    block->view.scratch = memory->end - memory->shared - memory->scratch;
    unsigned char *local = block->view.scratch - memory->local;
    block->view.local = local - ((uintptr_t)local & (launch->memory_align - 1));
    soft_block_point(block, launch, smid);
    return true;
}

/* cluster.c: one at rest for the clusters of this launch, or NULL: no memory. */
soft_cluster *soft_cluster_take(soft_runner *runner, uint64_t index);
/* Makes a prepared block one of it. */
void soft_cluster_join(soft_cluster *cluster, soft_block *block, uint32_t rank);
/* The block ends. */
void soft_cluster_leave(soft_block *block);
/* All threads of the block are at the cluster's barrier; and the wait of a block of the fast
 * path until the other blocks are, too. A block without a cluster goes on. */
void soft_cluster_arrive(soft_block *block);
void soft_cluster_wait(soft_block *block);
/* Whether memory is shared memory of the block's cluster. */
bool soft_cluster_holds(const soft_cluster *cluster, uint64_t address, uint64_t bytes);

/* A block with a fiber, or NULL. */
soft_block *soft_runner_take_block(soft_runner *runner);
void soft_runner_give_block(soft_runner *runner, soft_block *block);

/* Switches stacks, keeping the guard and `current` right. `to_block` NULL: the
 * scheduler's. */
void soft_runner_switch(soft_runner *runner, soft_fiber *from, soft_fiber *to);

/* Leaves the launch: fills `raised` (detail may be NULL) and does not come back. */
_Noreturn void soft_runner_raise(soft_runner *runner, gph_status code, uint64_t address,
                                 const char *detail);
/* The same, by a thread whose linear index is known. */
_Noreturn void soft_block_raise(soft_block *block, uint32_t thread, gph_status code,
                                const char *detail);

/* Generated code has no type record before its functions, which ubsan looks for. */
#if defined(__clang__)
#define SOFT_CALLS_CODE __attribute__((no_sanitize("function")))
#else
#define SOFT_CALLS_CODE
#endif

static inline soft_block *soft_block_from(ptx_block *view)
{
    return (soft_block *)view; /* the first member */
}

/* What a waiting block does: lets others run if there are any, ends the launch if its
 * time is over or it has failed elsewhere. */
void soft_block_safepoint(soft_block *block);

#endif

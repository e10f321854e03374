// SPDX-License-Identifier: Apache-2.0
/* Running the blocks that a worker claims.
 *
 *   direct      claim, run, claim, run ... on the thread's own stack
 *   on fibers   the scheduler (own stack) switches to a fiber; the fiber claims and runs
 *               block after block until one waits at a safepoint: then it is parked, and
 *               the scheduler goes on with a fresh fiber or with one parked earlier
 *
 * Blocks start in index order. Of a grid that is not cooperative only LIVE_MAX are alive
 * on a worker: a parked block never stops an earlier one, since all are taken up again in
 * the order in which they started.
 *
 * A cluster is claimed as a whole and runs on one worker, a fiber a block. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "softcuda/check/trace.h"
#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/lanes.h"
#include "softcuda/kernel/run/runner.h"

#define LIVE_MAX 16u
/* A kernel that goes on so long after it has launched kernels may wait for them. */
#define CHILDREN_WAIT_NS 2000000000u
#define FETCH_AHEAD 12u /* nodes; a miss takes 20 to 100 ns */
#define CLAIM_MAX 32u
#define ROW_THREADS_MAX 16384u /* of blocks that are run as one */
/* What a block counts for, in rounds of loops, until the time limit is looked at: a grid
 * of short blocks may be as endless as a loop. */
#define BLOCK_ROUNDS 64

/* Which block of the grid has this rank in a cluster. */
static uint64_t block_of_cluster(const ptx_grid *grid, uint64_t cluster, uint32_t rank)
{
    const uint32_t *n = grid->nctaid, *c = grid->cluster;
    const uint64_t columns = n[0] / c[0], rows = n[1] / c[1];
    const uint64_t x = cluster % columns * c[0] + rank % c[0];
    const uint64_t y = cluster / columns % rows * c[1] + rank / c[0] % c[1];
    const uint64_t z = cluster / columns / rows * c[2] + rank / c[0] / c[1];
    return x + n[0] * (y + n[1] * z);
}

static void set_block_index(soft_block *block, const soft_kernel_launch *launch,
                            uint64_t index)
{
    ptx_block *view = &block->view;
    const uint32_t *n = launch->grid.nctaid;
    view->block_index = index;
    view->ctaid[0] = (uint32_t)index;
    view->ctaid[1] = view->ctaid[2] = 0;
    if (index >= n[0]) {
        const uint64_t row = index / n[0];
        view->ctaid[0] = (uint32_t)(index % n[0]);
        view->ctaid[1] = (uint32_t)(row % n[1]);
        view->ctaid[2] = (uint32_t)(row / n[1]);
    }
}

/* How many blocks to claim: as many as pay (0), or, where blocks may wait for each other,
 * a growing but small share of what is left, so that the workers finish together. */
static uint64_t claim_size(soft_runner *runner)
{
    if (!runner->launch->on_fibers)
        return 0;
    const uint64_t share = (runner->launch->part_count - runner->end) / 16;
    const uint64_t want = runner->want < share ? runner->want : share;
    if (runner->want < CLAIM_MAX)
        runner->want *= 2;
    return want != 0 ? want : 1;
}

/* The next block of this worker, claiming more where none is left. */
static bool next_block(soft_runner *runner, uint64_t *index)
{
    if (runner->next == runner->end) {
        uint64_t first;
        const uint64_t got = soft_parts_claim(runner->parts, claim_size(runner), &first);
        if (got == 0)
            return false;
        runner->next = first;
        runner->end = first + got;
        runner->claimed += got;
    }
    *index = runner->next++;
    return true;
}

SOFT_CALLS_CODE static void run_block(soft_block *block, const soft_kernel_launch *launch,
                                      uint64_t index)
{
    set_block_index(block, launch, index);
    block->view.safepoint_budget -= BLOCK_ROUNDS;
    if ((int32_t)block->view.safepoint_budget <= 0)
        soft_block_safepoint(block);
    if (launch->code->kernel->path == PTX_PATH_FAST)
        launch->code->entry.block(&block->view);
    else
        soft_lanes_run(block);
}

/* How many of the blocks that the worker has in hand come after block `index` in its row of
 * the grid and may be run with it. The first and the last of a row are run alone: there
 * threads are at the edge of an image, or past the end of an array. */
static uint32_t count_more(const soft_runner *runner, uint64_t index)
{
    const ptx_grid *grid = &runner->launch->grid;
    const uint64_t x = index % grid->nctaid[0], have = runner->end - runner->next;
    if (x == 0 || x + 2 >= grid->nctaid[0])
        return 0;
    uint64_t more = grid->nctaid[0] - 2 - x;
    if (more > have)
        more = have;
    if (more > ROW_THREADS_MAX / grid->ntid[0] - 1)
        more = ROW_THREADS_MAX / grid->ntid[0] - 1;
    return (uint32_t)more;
}

/* As run_block(), of a kernel whose blocks may be run as one long row of threads. */
SOFT_CALLS_CODE static void run_rows(soft_runner *runner)
{
    soft_kernel_launch *launch = runner->launch;
    soft_block *block = &runner->home;
    uint64_t index;
    while (next_block(runner, &index) && !soft_launch_failed(launch)) {
        block->view.more_blocks = count_more(runner, index);
        runner->next += block->view.more_blocks;
        block->view.safepoint_budget -= BLOCK_ROUNDS * block->view.more_blocks;
        run_block(block, launch, index);
    }
    block->view.more_blocks = 0;
}

static void run_direct(void *argument)
{
    soft_runner *runner = argument;
    soft_kernel_launch *launch = runner->launch;
    soft_block *block = &runner->home;
    uint64_t index;
    runner->current = block;
    if (launch->code->kernel->long_rows) {
        run_rows(runner);
        return;
    }
    while (next_block(runner, &index) && !soft_launch_failed(launch))
        run_block(block, launch, index);
}

/* What a fiber does: block after block until none is left. */
static void fiber_main(void *argument)
{
    soft_block *block = argument;
    soft_runner *runner = block->runner;
    uint64_t index;
    while (!soft_launch_failed(runner->launch) && next_block(runner, &index)) {
        block->safepoints = 0;
        run_block(block, runner->launch, index);
    }
    block->finished = true;
    runner->guard.current = &runner->own;
    soft_fiber_end(block->fiber, &runner->own);
}

static void park(soft_runner *runner, soft_block *block)
{
    block->next = NULL;
    *runner->parked_tail = block;
    runner->parked_tail = &block->next;
}

static soft_block *unpark(soft_runner *runner)
{
    soft_block *block = runner->parked;
    runner->parked = block->next;
    if (!runner->parked)
        runner->parked_tail = &runner->parked;
    return block;
}

/* Runs a fiber until it parks or is done. True if it is done. */
static bool resume(soft_runner *runner, soft_block *block)
{
    runner->current = block;
    soft_runner_switch(runner, &runner->own, block->fiber);
    if (!block->finished) {
        park(runner, block);
        return false;
    }
    runner->live--;
    soft_runner_give_block(runner, block);
    return true;
}

/* Starts one more fiber. False: no memory for it. */
static bool start_fiber(soft_runner *runner, bool *done)
{
    soft_block *block = soft_runner_take_block(runner);
    if (!block)
        return false;
    if (!soft_block_prepare(block, runner->launch, runner->smid)) {
        soft_runner_give_block(runner, block);
        return false;
    }
    block->finished = false;
    runner->live++;
    soft_fiber_start(block->fiber, fiber_main, block);
    *done = resume(runner, block);
    return true;
}

static void run_on_fibers(void *argument)
{
    soft_runner *runner = argument;
    const bool cooperative = runner->launch->grid.cooperative != 0;
    bool more = true; /* a fiber that is done has found no block left */
    while (more || runner->live != 0) {
        while (more && (runner->live == 0 || cooperative || runner->live < LIVE_MAX)) {
            bool done = false;
            if (!start_fiber(runner, &done)) {
                if (runner->live == 0 || cooperative)
                    soft_runner_raise(runner, SOFT_ERROR_OUT_OF_MEMORY, 0,
                                      "no memory for one more block");
                break;
            }
            if (done)
                more = false;
            if (!cooperative)
                break;
        }
        const uint32_t round = runner->live;
        bool any_done = false;
        for (uint32_t i = 0; i < round; i++)
            any_done |= resume(runner, unpark(runner));
        if (any_done)
            more = false;
        else if (!more && round != 0)
            sched_yield(); /* all wait: for other workers, or for the host */
    }
}

/* ---- clusters --------------------------------------------------------------------- */

/* What a fiber of a cluster does: one block. */
static void cluster_main(void *argument)
{
    soft_block *block = argument;
    soft_runner *runner = block->runner;
    const soft_kernel_launch *launch = runner->launch;
    block->safepoints = 0;
    run_block(
        block, launch,
        block_of_cluster(&launch->grid, block->cluster->index, block->view.cluster_rank));
    soft_cluster_leave(block);
    block->finished = true;
    runner->guard.current = &runner->own;
    soft_fiber_end(block->fiber, &runner->own);
}

static _Noreturn void raise_no_block(soft_runner *runner)
{
    soft_runner_raise(runner, SOFT_ERROR_OUT_OF_MEMORY, 0,
                      "no memory for the blocks of a cluster");
}

/* Starts all blocks of the next cluster, each until it waits or ends. False: none is left. */
static bool start_cluster(soft_runner *runner)
{
    uint64_t index;
    if (soft_launch_failed(runner->launch) || !next_block(runner, &index))
        return false;
    soft_cluster *cluster = soft_cluster_take(runner, index);
    if (!cluster)
        raise_no_block(runner);
    for (uint32_t rank = 0; rank < cluster->size; rank++) {
        soft_block *block = soft_runner_take_block(runner);
        if (!block)
            raise_no_block(runner);
        if (!soft_block_prepare(block, runner->launch, runner->smid)) {
            soft_runner_give_block(runner, block);
            raise_no_block(runner);
        }
        soft_cluster_join(cluster, block, rank);
        block->finished = false;
        runner->live++;
        soft_fiber_start(block->fiber, cluster_main, block);
        park(runner, block);
    }
    return true;
}

/* One cluster after the other; of a cooperative grid all at once. */
static void run_clusters(void *argument)
{
    soft_runner *runner = argument;
    const bool cooperative = runner->launch->grid.cooperative != 0;
    bool more = true;
    while (more || runner->live != 0) {
        while (more && (runner->live == 0 || cooperative))
            more = start_cluster(runner);
        bool any_done = false;
        for (uint32_t left = runner->live; left != 0; left--)
            any_done |= resume(runner, unpark(runner));
        if (!any_done && runner->live != 0)
            sched_yield(); /* all wait: for other workers, or for the host */
    }
}

/* ---- faults ----------------------------------------------------------------------- */

static const char *fault_name(gph_status code)
{
    switch (code) {
    case SOFT_ERROR_ILLEGAL_ADDRESS: return "illegal address";
    case SOFT_ERROR_LAUNCH_TIMEOUT: return "time limit";
    case SOFT_ERROR_ASSERT: return "assertion";
    case SOFT_ERROR_ILLEGAL_INSTRUCTION: return "illegal instruction";
    case SOFT_ERROR_MISALIGNED_ADDRESS: return "misaligned address";
    case SOFT_ERROR_INVALID_PC: return "invalid program counter";
    case SOFT_ERROR_OUT_OF_MEMORY: return "out of memory";
    default: return "launch failure";
    }
}

static void place_of_thread(const soft_kernel_launch *launch, uint32_t index,
                            soft_fault *fault)
{
    const uint32_t *n = launch->grid.ntid;
    fault->has_thread = true;
    fault->tid[0] = index % n[0];
    fault->tid[1] = index / n[0] % n[1];
    fault->tid[2] = index / n[0] / n[1];
}

/* `more`: the fault may be in one of so many blocks that were run with this one. */
static void describe(soft_fault *fault, const char *detail, uint32_t more)
{
    char thread[48] = "";
    char last[48] = "";
    char address[32] = "";
    char node[32] = "";
    if (fault->has_thread)
        snprintf(thread, sizeof(thread), ", thread [%u,%u,%u]", fault->tid[0],
                 fault->tid[1], fault->tid[2]);
    if (fault->address != 0)
        snprintf(address, sizeof(address), " 0x%llx", (unsigned long long)fault->address);
    if (fault->node >= 0)
        snprintf(node, sizeof(node), " (node %lld)", (long long)fault->node);
    if (more != 0)
        snprintf(last, sizeof(last), " to [%u,%u,%u]", fault->ctaid[0] + more,
                 fault->ctaid[1], fault->ctaid[2]);
    snprintf(fault->text, sizeof(fault->text),
             "kernel %.100s%s, block [%u,%u,%u]%s%s: %s%s%s%s", fault->kernel, node,
             fault->ctaid[0], fault->ctaid[1], fault->ctaid[2], last, thread,
             fault_name(fault->code), address, detail[0] ? ": " : "", detail);
}

/* Makes the record of what ended the launch on this thread; the first one counts. */
static __attribute__((cold, noinline)) void record_fault(soft_runner *runner)
{
    soft_kernel_launch *launch = runner->launch;
    unsigned none = 0;
    if (runner->raised.code == GPH_OK ||
        !atomic_compare_exchange_strong(&launch->fault, &none, 1))
        return;
    const soft_block *block = runner->current;
    soft_fault fault = {.code = runner->raised.code,
                        .kernel = launch->code->kernel->name,
                        .address = runner->raised.address,
                        .node = launch->node};
    memcpy(fault.ctaid, block->view.ctaid, sizeof(fault.ctaid));
    if (block->thread)
        place_of_thread(launch, block->thread->index, &fault);
    else if (runner->raised.has_thread)
        place_of_thread(launch, runner->raised.thread, &fault);
    describe(&fault, runner->raised.detail, block->view.more_blocks);
    soft_kernel_env *env = launch->env;
    const bool first = !atomic_exchange(&env->dead, true);
    if (first && env->options.on_fault)
        env->options.on_fault(env->options.user, &fault);
    atomic_store_explicit(&launch->fault, 2, memory_order_release);
}

/* After a fault: what the runner had in hand is given up. */
static void abandon(soft_runner *runner)
{
    while (runner->parked)
        soft_runner_give_block(runner, unpark(runner));
    for (soft_cluster *c = runner->clusters; c; c = c->next)
        c->running = 0;
    soft_block *current = runner->current;
    /* It is neither parked nor idle unless it was the scheduler that gave up. */
    if (current && current != &runner->home && !current->finished) {
        bool idle = false;
        for (soft_block *b = runner->idle; b; b = b->next)
            idle |= b == current;
        if (!idle)
            soft_runner_give_block(runner, current);
    }
    if (current)
        current->thread = NULL;
    runner->live = 0;
}

/* Claims what is left, so that the engine sees the work done. */
static __attribute__((cold, noinline)) void drain(soft_parts *parts)
{
    uint64_t first;
    while (soft_parts_claim(parts, UINT64_MAX, &first) != 0) {
    }
}

static __attribute__((cold, noinline)) void give_up(soft_runner *runner,
                                                    soft_parts *parts)
{
    if (runner->raised.code != GPH_OK)
        record_fault(runner);
    runner->home.view.more_blocks = 0;
    abandon(runner);
    drain(parts);
}

static inline void begin(soft_runner *runner, soft_kernel_launch *launch,
                         const soft_worker *worker)
{
    runner->launch = launch;
    runner->current = &runner->home;
    runner->raised.code = GPH_OK;
    runner->raised.has_thread = false;
    runner->deadline_ns = 0;
    if (runner->worker != worker || runner->processors != launch->processors) {
        runner->worker = worker;
        runner->processors = launch->processors;
        runner->smid =
            (launch->processors >> 16) +
            (worker ? soft_worker_slot(worker) % (launch->processors & 0xffff) : 0);
    }
}

/* What grids of more than one block, that may wait or have a time limit need besides. */
static void begin_parts(soft_runner *runner, soft_parts *parts)
{
    const uint64_t limit = runner->launch->env->options.timeout_ns;
    runner->parts = parts;
    runner->next = runner->end = 0;
    runner->claimed = 0;
    runner->want = 1;
    runner->deadline_ns = limit != 0 ? gphi_clock_ns() + limit : 0;
    runner->children_ns = runner->launch->code->kernel->launches_kernels
                              ? gphi_clock_ns() + CHILDREN_WAIT_NS
                              : 0;
}

static __attribute__((cold, noinline)) void fail_for_memory(soft_runner *runner,
                                                            soft_parts *parts)
{
    runner->raised.code = SOFT_ERROR_OUT_OF_MEMORY;
    runner->raised.address = 0;
    snprintf(runner->raised.detail, sizeof(runner->raised.detail),
             "no memory for the shared, local and scratch memory of a block");
    give_up(runner, parts);
}

/* Without a runner nothing can be reported by the usual way. */
static __attribute__((cold, noinline)) void
fail_without_runner(soft_kernel_launch *launch, soft_parts *parts)
{
    soft_runner stand_in = {.launch = launch,
                            .raised = {.code = SOFT_ERROR_OUT_OF_MEMORY}};
    stand_in.current = &stand_in.home;
    snprintf(stand_in.raised.detail, sizeof(stand_in.raised.detail),
             "no memory for a worker's state");
    record_fault(&stand_in);
    drain(parts);
}

/* A grid of one block that needs no stack of its own: straight to the code. An empty
 * kernel costs a few nanoseconds here, as much as its place in the graph. */
void soft_kernel_launch_run_single(void *argument, soft_parts *parts, soft_worker *worker)
{
    soft_kernel_launch *launch = argument;
    soft_runner *runner = soft_runner_self();
    uint64_t first;
    if (soft_parts_claim(parts, 1, &first) == 0)
        return;
    if (!runner) {
        fail_without_runner(launch, parts);
        return;
    }
    /* A launch that has failed leaves its env dead. */
    if (atomic_load_explicit(&launch->env->dead, memory_order_acquire))
        return;
    begin(runner, launch, worker);
    soft_block *block = &runner->home;
    if (launch->trace && launch->depth == 0)
        soft_trace_kernel(launch->trace, launch->code->kernel->name, launch->grid.nctaid,
                          launch->grid.ntid);
    if (!launch->needs_memory) {
        soft_block_point(block, launch, runner->smid);
    } else if (!soft_block_prepare(block, launch, runner->smid)) {
        fail_for_memory(runner, parts);
        return;
    }
    block->view.block_index = 0;
    block->view.ctaid[0] = block->view.ctaid[1] = block->view.ctaid[2] = 0;
    /* One pointer argument each: a kernel of the fast path can be called as this type. */
    if (soft_guard_call(&runner->guard, (soft_fiber_fn *)launch->entry, &block->view))
        give_up(runner, parts);
}

/* Grids of one block, one after the other. */
typedef struct row {
    const soft_work *works;
    const uint32_t *order;
    uint32_t at, count; /* at: the one that runs; count: the first that does not */
    soft_runner *runner;
    const soft_kernel_env *env;
} row;

/* Up to the first that needs more than its code's call: it goes the usual way. */
SOFT_CALLS_CODE static void run_row(void *argument)
{
    row *r = argument;
    soft_runner *runner = r->runner;
    soft_block *block = &runner->home;
    const soft_work *const works = r->works;
    const uint32_t *const order = r->order;
    const uint32_t count = r->count, far = count > FETCH_AHEAD ? count - FETCH_AHEAD : 0;
    const soft_kernel_env *const env = r->env;
    for (uint32_t at = 0; at < count; r->at = ++at) {
        const soft_work *work = &works[order[at]];
        soft_kernel_launch *launch = work->argument;
        if (work->run_parts != soft_kernel_launch_run_single || launch->env != env ||
            launch->processors != runner->processors || launch->trace)
            break;
        /* In a large graph the one that is a few places on is in no near cache. */
        if (at < far)
            __builtin_prefetch(works[order[at + FETCH_AHEAD]].argument);
        if (launch->needs_memory && !soft_block_prepare(block, launch, runner->smid))
            break;
        runner->launch = launch;
        block->view.grid = &launch->grid;
        launch->entry(&block->view);
    }
}

uint32_t soft_kernel_launch_run_row(const soft_work *works, const uint32_t *order,
                                    uint32_t count, soft_worker *worker)
{
    soft_kernel_launch *launch = works[order[0]].argument;
    soft_parts parts = {.have = 1, .total = 1};
    row r = {works, order, 0, count, soft_runner_self(), launch->env};
    /* Looked at once a row: work that must not run after a fault was ordered after it. */
    if (r.runner && !launch->trace &&
        !atomic_load_explicit(&launch->env->dead, memory_order_acquire)) {
        soft_block *block = &r.runner->home;
        begin(r.runner, launch, worker);
        soft_block_point(block, launch, r.runner->smid);
        block->view.block_index = 0;
        block->view.ctaid[0] = block->view.ctaid[1] = block->view.ctaid[2] = 0;
        if (soft_guard_call(&r.runner->guard, run_row, &r)) {
            parts.have = 0; /* the faulty one has run */
            give_up(r.runner, &parts);
            return r.at + 1;
        }
        if (r.at > 0)
            return r.at;
    }
    soft_kernel_launch_run_single(launch, &parts, worker);
    return 1;
}

/* The thread that ends the last block runs what all of them have launched. */
static void end_parts(soft_kernel_launch *launch, uint64_t parts, soft_worker *worker)
{
    /* Acquire and release: the last one sees what all of them have written. */
    const uint32_t over = atomic_fetch_add_explicit(&launch->parts_over, (uint32_t)parts,
                                                    memory_order_acq_rel) +
                          (uint32_t)parts;
    if (parts == 0 || over != launch->part_count)
        return;
    atomic_store_explicit(&launch->parts_over, 0, memory_order_relaxed);
    if (launch->env->options.nested)
        launch->env->options.nested->finish(launch, worker);
}

void soft_kernel_launch_run(void *argument, soft_parts *parts, soft_worker *worker)
{
    soft_kernel_launch *launch = argument;
    soft_runner *runner = soft_runner_self();
    if (!runner) {
        fail_without_runner(launch, parts);
        return;
    }
    if (soft_launch_failed(launch) ||
        atomic_load_explicit(&launch->env->dead, memory_order_acquire)) {
        drain(parts);
        return;
    }
    begin(runner, launch, worker);
    if (launch->trace && launch->depth == 0)
        soft_trace_kernel(launch->trace, launch->code->kernel->name, launch->grid.nctaid,
                          launch->grid.ntid);
    begin_parts(runner, parts);
    bool left;
    if (launch->on_fibers) {
        const bool clusters = launch->grid.cluster_size > 1;
        left = soft_guard_call(&runner->guard, clusters ? run_clusters : run_on_fibers,
                               runner);
    } else {
        if (!soft_block_prepare(&runner->home, launch, runner->smid)) {
            fail_for_memory(runner, parts);
            return;
        }
        left = soft_guard_call(&runner->guard, run_direct, runner);
    }
    if (left || soft_launch_failed(launch))
        give_up(runner, parts);
    else if (launch->code->kernel->launches_kernels)
        end_parts(launch, runner->claimed, worker);
}

// SPDX-License-Identifier: Apache-2.0
/* From quick code to the best there is, while the program runs.
 *
 *   block -> run_tiered() -> entry: quick code --.   time spent in it is added up: enough,
 *                              |                 |   and the kernel is asked for
 *                              v                 v
 *                            best code <-- one thread, of low priority <-- ring of jobs
 *
 *   state    QUICK --> ASKED --> SWAPPED --> ALONE
 *                                   |          the quick code is unmapped
 *                                   '- blocks that began in it end there
 *
 * Both tiers come from one IR, so what a block keeps in memory lies at the same places, and
 * bytes are the same: each block may take what there is when it starts. A launch keeps the
 * address of run_tiered(), so graphs take the better code, too.
 *
 * `running` counts the blocks inside. A block adds itself before it reads the entry; the
 * swap writes the entry before it reads the count (both sequentially consistent): so who
 * finds 0 after the swap knows that nobody is in the quick code, or will be.
 *
 * A job keeps the code (which outlives bindings) and forgets its tier when the binding
 * goes. At exit jobs are dropped; the one that runs is ended between two steps of LLVM, and
 * waited for, since the process's end takes LLVM's own data away under it. */
#include "softcuda/kernel/tier.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "softcuda/kernel/load/jitload.h"
#include "softcuda/kernel/load/unit.h"
#include "softcuda/kernel/run/launch.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/runner.h"

#define JOBS_MAX 64u /* more are asked for again by later blocks */
#define NICE 10
/* Quick code runs 1 to 6 times as long as the best (bench_patterns), whose making takes 50 ms
 * and more: after this much of it neither was wasted. */
#define SPENT_NS 100000000u

enum state { QUICK, ASKED, SWAPPED, ALONE };

struct soft_tier {
    ptx_block_fn *_Atomic entry;
    _Atomic uint64_t spent_ns; /* relaxed: a figure */
    atomic_uint running, state;
    uint64_t enough_ns; /* spent, to be asked for */
    soft_tier_input about;
    soft_image best; /* mapped from SWAPPED on */
};

struct job {
    soft_code *code; /* retained */
    uint32_t index;
    soft_tier *tier; /* NULL: its binding is gone */
};

/* glibc's: calls `end` when this thread ends. */
int __cxa_thread_atexit_impl(void (*end)(void *), void *object, void *library);
extern void *__dso_handle __attribute__((visibility("hidden")));

static struct {
    gphi_mutex mutex; /* all of it */
    pthread_cond_t changed;
    pthread_t thread;
    _Atomic pid_t process; /* that has the thread, as its children do not; 0: none yet */
    _Atomic uint32_t cancel; /* of what is being made: at exit; relaxed */
    bool is_ending, is_busy, ends_at_exit;
    uint64_t thread_id;
    struct job jobs[JOBS_MAX], now;
    uint32_t first, count;
} queue = {.mutex = GPHI_MUTEX_INIT, .changed = PTHREAD_COND_INITIALIZER};

static _Atomic uint64_t swapped_count, unmapped_count; /* relaxed: figures */

/* This process is a child of the one with the thread, whose locks may be as they were. */
static bool is_of_a_parent(void)
{
    const pid_t process = atomic_load(&queue.process);
    return process != 0 && process != getpid();
}

/* ---- the thread ------------------------------------------------------------------- */

/* Once: by whoever takes the state from SWAPPED to ALONE. */
static void unmap_quick(soft_tier *tier)
{
    unsigned expected = SWAPPED;
    if (!atomic_compare_exchange_strong(&tier->state, &expected, ALONE))
        return;
    soft_place_remove(tier->about.quick);
    soft_image_unload(tier->about.quick);
    atomic_fetch_add_explicit(&unmapped_count, 1, memory_order_relaxed);
}

/* Under the queue's mutex, so that the binding stays. */
static void swap_locked(soft_tier *tier, const soft_pack *pack)
{
    ptx_block_fn *entry;
    gph_error error = {0};
    const soft_tier_input *about = &tier->about;
    const gph_status status =
        about->map(about->code->binding, about->index, pack, &tier->best, &entry, &error);
    if (status != GPH_OK) /* the quick code stays */
        return;
    atomic_store(&tier->entry, entry);
    atomic_store(&tier->state, SWAPPED);
    atomic_fetch_add_explicit(&swapped_count, 1, memory_order_relaxed);
    if (atomic_load(&tier->running) == 0)
        unmap_quick(tier);
}

/* Before LLVM's own handlers: registered after LLVM is there. LLVM registers some only as
 * it first needs what they take away, so that they come before this one; where the main
 * thread ends the process, end_with_main() is before all of them. */
static void end_at_exit(void)
{
    if (is_of_a_parent())
        return;
    gphi_mutex_lock(&queue.mutex);
    const bool is_ended = queue.is_ending || atomic_load(&queue.process) == 0;
    queue.is_ending = true;
    atomic_store_explicit(&queue.cancel, 1, memory_order_relaxed);
    if (queue.is_busy) /* waited for: it has the priority of who waits */
        setpriority(PRIO_PROCESS, (id_t)queue.thread_id, getpriority(PRIO_PROCESS, 0));
    pthread_cond_broadcast(&queue.changed);
    gphi_mutex_unlock(&queue.mutex);
    if (!is_ended)
        pthread_join(queue.thread, NULL);
}

static void end_with_main(void *unused)
{
    (void)unused;
    end_at_exit();
}

/* exit() ends what its thread has before it calls any handler. If the main thread ends
 * alone, the others go on with the code that they have. */
static void note_main(void)
{
    static _Atomic bool is_noted; /* inherited by fork(), as what it notes is */
    if (gphi_thread_id() == (uint64_t)getpid() && !atomic_exchange(&is_noted, true))
        __cxa_thread_atexit_impl(end_with_main, NULL, &__dso_handle);
}

static void make_best(const struct job *job)
{
    const soft_pack *pack = NULL;
    const soft_jit_api *jit;
    gph_error error = {0};
    gph_status status = soft_jit_load(&jit, &error);
    if (status == GPH_OK && !queue.ends_at_exit)
        queue.ends_at_exit = atexit(end_at_exit) == 0;
    if (status == GPH_OK)
        status = soft_units_improve(soft_code_units(job->code), job->index, &queue.cancel,
                                    &pack, &error);
    gphi_mutex_lock(&queue.mutex);
    if (status == GPH_OK && queue.now.tier)
        swap_locked(queue.now.tier, pack);
    queue.now = (struct job){0};
    queue.is_busy = false;
    pthread_cond_broadcast(&queue.changed);
    gphi_mutex_unlock(&queue.mutex);
    soft_code_release(job->code);
}

static void *make_all(void *unused)
{
    (void)unused;
    const uint64_t id = gphi_thread_id();
    setpriority(PRIO_PROCESS, (id_t)id, getpriority(PRIO_PROCESS, 0) + NICE);
    gphi_mutex_lock(&queue.mutex);
    queue.thread_id = id;
    while (!queue.is_ending) {
        if (queue.count == 0) {
            pthread_cond_wait(&queue.changed, &queue.mutex.native);
            continue;
        }
        const struct job job = queue.jobs[queue.first];
        queue.first = (queue.first + 1) % JOBS_MAX;
        queue.count--;
        queue.now = job;
        queue.is_busy = true;
        gphi_mutex_unlock(&queue.mutex);
        make_best(&job);
        gphi_mutex_lock(&queue.mutex);
    }
    gphi_mutex_unlock(&queue.mutex);
    return NULL;
}

/* No signal of the program's is handled on it. */
static bool start_locked(void)
{
    sigset_t all, before;
    if (atomic_load(&queue.process) != 0)
        return !queue.is_ending;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_made = pthread_create(&queue.thread, NULL, make_all, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (is_made)
        atomic_store(&queue.process, getpid());
    return is_made;
}

/* ---- blocks ----------------------------------------------------------------------- */

static __attribute__((cold, noinline)) void ask(soft_tier *tier)
{
    unsigned expected = QUICK;
    if (is_of_a_parent() ||
        !atomic_compare_exchange_strong(&tier->state, &expected, ASKED))
        return;
    gphi_mutex_lock(&queue.mutex);
    const bool is_taken = queue.count < JOBS_MAX && start_locked();
    if (is_taken) {
        soft_code_retain(tier->about.owner);
        queue.jobs[(queue.first + queue.count++) % JOBS_MAX] =
            (struct job){tier->about.owner, tier->about.index, tier};
        pthread_cond_broadcast(&queue.changed);
    }
    gphi_mutex_unlock(&queue.mutex);
    if (!is_taken) { /* as much again, then once more */
        atomic_store_explicit(&tier->spent_ns, 0, memory_order_relaxed);
        atomic_store(&tier->state, QUICK);
    }
}

/* One block, in the tier that there is. A block that faults does not come back here: the
 * quick code then stays until the binding goes. */
SOFT_CALLS_CODE static void run_tiered(ptx_block *block)
{
    const soft_kernel_launch *launch = block->grid->launch;
    soft_tier *tier = launch->code->tier;
    if (atomic_load_explicit(&tier->state, memory_order_acquire) == ALONE) {
        ptx_block_fn *const best =
            atomic_load_explicit(&tier->entry, memory_order_relaxed);
        best(block);
        return;
    }
    atomic_fetch_add(&tier->running, 1);
    const uint64_t start = gphi_clock_ns();
    ptx_block_fn *const entry = atomic_load(&tier->entry);
    entry(block);
    const uint64_t spent = gphi_clock_ns() - start;
    const uint64_t all =
        spent + atomic_fetch_add_explicit(&tier->spent_ns, spent, memory_order_relaxed);
    if (all >= tier->enough_ns &&
        atomic_load_explicit(&tier->state, memory_order_relaxed) == QUICK)
        ask(tier);
    if (atomic_fetch_sub(&tier->running, 1) == 1 && atomic_load(&tier->state) == SWAPPED)
        unmap_quick(tier);
}

/* ---- of a binding ----------------------------------------------------------------- */

gph_status soft_tier_create(const soft_tier_input *input, gph_allocator heap,
                            gph_error *error)
{
    soft_kernel_code *code = input->code;
    soft_tier *tier = gphi_heap_alloc(heap, sizeof(*tier));
    GPHI_TRY(gphi_made(error, tier, "the tiers of kernel %.100s", code->kernel->name));
    *tier = (soft_tier){.about = *input, .best = {.heap = heap}};
    if (!soft_units_is_hasty(soft_code_units(input->owner)))
        tier->enough_ns = SPENT_NS;
    atomic_init(&tier->entry, code->entry.block);
    code->entry.block = run_tiered;
    code->tier = tier;
    note_main();
    return GPH_OK;
}

/* Jobs of the tier that wait are dropped; order does not matter. */
static void forget(const soft_tier *tier)
{
    if (is_of_a_parent())
        return;
    gphi_mutex_lock(&queue.mutex);
    for (uint32_t i = 0; i < queue.count; i++) {
        struct job *job = &queue.jobs[(queue.first + i) % JOBS_MAX];
        if (job->tier != tier)
            continue;
        soft_code_release(job->code); /* the binding has it, too */
        *job = queue.jobs[(queue.first + --queue.count) % JOBS_MAX];
        break;
    }
    if (queue.now.tier == tier)
        queue.now.tier = NULL;
    gphi_mutex_unlock(&queue.mutex);
}

void soft_tier_destroy(soft_tier *tier, gph_allocator heap)
{
    if (!tier)
        return;
    forget(tier);
    if (tier->best.base) {
        soft_place_remove(&tier->best);
        soft_image_unload(&tier->best);
    }
    gphi_heap_free(heap, tier, sizeof(*tier));
}

void soft_tiers_settle(void)
{
    gphi_mutex_lock(&queue.mutex);
    while (!queue.is_ending && (queue.count != 0 || queue.is_busy))
        pthread_cond_wait(&queue.changed, &queue.mutex.native);
    gphi_mutex_unlock(&queue.mutex);
}

void soft_tiers_count(uint64_t *swapped, uint64_t *unmapped)
{
    *swapped = atomic_load_explicit(&swapped_count, memory_order_relaxed);
    *unmapped = atomic_load_explicit(&unmapped_count, memory_order_relaxed);
}

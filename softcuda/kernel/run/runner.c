// SPDX-License-Identifier: Apache-2.0
/* Runners and the memory of blocks. */
#include "softcuda/kernel/run/runner.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/clock.h"
#include "softcuda/kernel/run/place.h"

#define BLOCK_STACK_BYTES (256u << 10)
/* 1,024 threads that read 16 bytes each */
#define MARGIN_BYTES (16u << 10)
/* Before shared memory there is scratch memory, at least so much: a thread that is not
 * meant to may load from there, see ptx/shape/shape_flat.c. */
#define BEFORE_BYTES 4096u
/* Safepoints before a block of an ordinary grid lets others run: long loops are common,
 * and switching between blocks costs their place in the cache. */
#define PATIENCE 4u

_Thread_local soft_runner *soft_runner_own;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ready;

static void memory_fini(soft_block_memory *memory)
{
    if (memory->base)
        munmap(memory->base, memory->mapped);
    *memory = (soft_block_memory){0};
}

static void block_fini(soft_block *block)
{
    memory_fini(&block->memory);
    if (block->destroy_lanes)
        block->destroy_lanes(block->lanes);
    soft_fiber_fini(&block->stack);
}

/* When its thread ends: nothing runs on it any more. */
static void runner_destroy(void *argument)
{
    soft_runner *runner = argument;
    soft_fault_leave(&runner->scope);
    block_fini(&runner->home);
    while (runner->idle) {
        soft_block *block = runner->idle;
        runner->idle = block->next;
        block_fini(block);
        free(block);
    }
    while (runner->clusters) {
        soft_cluster *cluster = runner->clusters;
        runner->clusters = cluster->next;
        runner->destroy_cluster(cluster);
    }
    soft_runner_own = NULL;
    free(runner);
}

bool soft_kernel_running(void)
{
    const soft_runner *runner = soft_runner_own;
    return runner && runner->guard.sp;
}

void soft_kernel_fault(gph_status code, uint64_t address, const char *detail)
{
    soft_runner_raise(soft_runner_own, code, address, detail);
}

static bool is_code(uintptr_t pc)
{
    return soft_kernel_running() && soft_place_holds(pc);
}

/* A fault in generated code, seen by the handler of signals: does not return. */
static void recover(soft_fault_scope *scope)
{
    /* The handler runs with its own signal blocked, and is never returned from. */
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGSEGV);
    sigaddset(&signals, SIGBUS);
    sigaddset(&signals, SIGFPE);
    sigaddset(&signals, SIGILL);
    pthread_sigmask(SIG_UNBLOCK, &signals, NULL);
    if (scope->signal == SIGILL)
        soft_kernel_fault(SOFT_ERROR_ILLEGAL_INSTRUCTION, 0, NULL);
    if (scope->signal == SIGBUS && scope->code == BUS_ADRALN)
        soft_kernel_fault(SOFT_ERROR_MISALIGNED_ADDRESS, scope->address, NULL);
    if (scope->signal == SIGFPE)
        soft_kernel_fault(SOFT_ERROR_LAUNCH_FAILED, 0, "an arithmetic trap");
    soft_kernel_fault(SOFT_ERROR_ILLEGAL_ADDRESS, scope->address, NULL);
}

/* Once a process. Without a key or a handler there is no runner: launches fail. */
static void set_up(void)
{
    ready = pthread_key_create(&key, runner_destroy) == 0 &&
            soft_fault_install(is_code, NULL) == GPH_OK;
}

soft_runner *soft_runner_make(void)
{
    pthread_once(&once, set_up);
    soft_runner *runner = ready ? calloc(1, sizeof(*runner)) : NULL;
    if (!runner)
        return NULL;
    if (!soft_fault_prepare_thread() || pthread_setspecific(key, runner) != 0) {
        free(runner);
        return NULL;
    }
    soft_fiber_init_own(&runner->own);
    runner->guard.own = runner->guard.current = &runner->own;
    runner->home.runner = runner;
    runner->home.fiber = &runner->own;
    runner->parked_tail = &runner->parked;
    runner->scope.recover = recover;
    soft_fault_enter(&runner->scope);
    soft_runner_own = runner;
    return runner;
}

static size_t up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

bool soft_block_grow(soft_block *block, const soft_kernel_launch *launch)
{
    soft_block_memory *memory = &block->memory;
    const size_t page = launch->page_bytes;
    const size_t local =
        up(launch->local_bytes > memory->local ? launch->local_bytes : memory->local, 64);
    size_t scratch =
        launch->scratch_bytes > memory->scratch ? launch->scratch_bytes : memory->scratch;
    scratch = up(scratch > BEFORE_BYTES ? scratch : BEFORE_BYTES, 64);
    const size_t shared =
        launch->shared_room > memory->shared ? launch->shared_room : memory->shared;
    const uint32_t align =
        launch->memory_align > memory->align ? launch->memory_align : memory->align;
    const size_t inside = up(local + scratch + shared + align, page);
    const size_t margin = up(MARGIN_BYTES, page);
    const size_t mapped = inside + margin + 2 * page;
    unsigned char *base = mmap(NULL, mapped, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED)
        return false;
    unsigned char *end = base + page + inside;
    if (mprotect(base, page, PROT_NONE) != 0 || mprotect(end, margin, PROT_READ) != 0 ||
        mprotect(end + margin, page, PROT_NONE) != 0) {
        munmap(base, mapped);
        return false;
    }
    /* A page that was never touched is as slow as a guard page. */
    for (size_t at = 0; at < margin; at += page)
        (void)*(volatile unsigned char *)(end + at);
    memory_fini(memory);
    *memory = (soft_block_memory){.base = base,
                                  .end = end,
                                  .mapped = mapped,
                                  .local = local,
                                  .scratch = scratch,
                                  .shared = shared,
                                  .align = align};
    return true;
}

/* Idle ones first: their memory and stacks are there already. */
soft_block *soft_runner_take_block(soft_runner *runner)
{
    soft_block *block = runner->idle;
    if (block) {
        runner->idle = block->next;
        return block;
    }
    block = calloc(1, sizeof(*block));
    if (!block)
        return NULL;
    if (!soft_fiber_init(&block->stack, BLOCK_STACK_BYTES)) {
        free(block);
        return NULL;
    }
    block->runner = runner;
    block->fiber = &block->stack;
    return block;
}

void soft_runner_give_block(soft_runner *runner, soft_block *block)
{
    block->cluster = NULL;
    block->view.cluster_rank = 0;
    block->next = runner->idle;
    runner->idle = block;
}

void soft_runner_switch(soft_runner *runner, soft_fiber *from, soft_fiber *to)
{
    runner->guard.current = to;
    soft_fiber_switch(from, to);
    runner->guard.current = from;
}

/* Copies by hand: it may be called from a handler, where no call of the C library is
 * safe that is not said to be. */
void soft_runner_raise(soft_runner *runner, gph_status code, uint64_t address,
                       const char *detail)
{
    runner->raised.code = code;
    runner->raised.address = address;
    size_t length = 0;
    if (detail)
        while (length + 1 < sizeof(runner->raised.detail) && detail[length] != '\0') {
            runner->raised.detail[length] = detail[length];
            length++;
        }
    runner->raised.detail[length] = '\0';
    soft_guard_leave(&runner->guard);
}

void soft_block_raise(soft_block *block, uint32_t thread, gph_status code,
                      const char *detail)
{
    block->runner->raised.has_thread = true;
    block->runner->raised.thread = thread;
    soft_runner_raise(block->runner, code, 0, detail);
}

static bool has_children(const soft_runner *runner)
{
    return atomic_load_explicit(&runner->launch->nested, memory_order_acquire);
}

/* No GPU promises that children run beside their parent, but most do so. */
static void say_children(soft_runner *runner)
{
    runner->children_ns = 0;
    if (has_children(runner))
        fprintf(stderr,
                "softcuda: kernel %s has launched kernels and has not ended for seconds: "
                "what it has launched runs after it here, so it must not wait for that\n",
                runner->launch->code->kernel->name);
}

void soft_block_safepoint(soft_block *block)
{
    soft_runner *runner = block->runner;
    block->view.safepoint_budget = runner->launch->safepoint_budget;
    if (soft_launch_failed(runner->launch) ||
        soft_kernel_env_is_dead(runner->launch->env))
        soft_runner_raise(runner, GPH_OK, 0, NULL);
    if (runner->deadline_ns != 0 && gphi_clock_ns() > runner->deadline_ns)
        soft_runner_raise(
            runner, SOFT_ERROR_LAUNCH_TIMEOUT, 0,
            has_children(runner)
                ? "it ran longer than SOFTCUDA_KERNEL_TIMEOUT_MS allows; what it has "
                  "launched runs after it here, so it must not wait for that"
                : "it ran longer than SOFTCUDA_KERNEL_TIMEOUT_MS allows");
    if (runner->children_ns != 0 && gphi_clock_ns() > runner->children_ns)
        say_children(runner);
    block->safepoints++;
    if (block->fiber == &runner->own ||
        (block->safepoints < PATIENCE && runner->launch->grid.cooperative == 0))
        return;
    soft_runner_switch(runner, block->fiber, &runner->own);
    runner->current = block;
}

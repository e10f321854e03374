// SPDX-License-Identifier: Apache-2.0
/* Loops: making, launching and changing them. */
#include "loop/loop.h"
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/thread.h"
#include "cuda/status.h"
#include "replay/flow.h"

#include <string.h>

enum { POLL_NS = 50000, UNROLL_MAX = 1024, DOZE_NS = 400000 };

/* How long the host looks at the word of a round at first, and at least, and how often it
 * asks for the stream meanwhile. */
enum { LOOK_NS = 100000, LOOK_MIN_NS = 5000, ASK_EVERY = 256 };

gph_status gphi_loop_check(const gph_loop *loop, CUresult result, const char *call,
                           gph_error *error)
{
    return gphi_cuda_check(error, result, call, "loop %s", loop->name);
}

/* ---- making ---- */

static gph_status plan_test(loop_plan *plan, const gph_condition *test, gph_error *error)
{
    gph_condition read;
    GPHI_TRY(gphi_condition_read(test, GPH_FLOW_WHILE, &read, error));
    plan->left = (const void *)(uintptr_t)read.left;
    plan->right = (const void *)(uintptr_t)read.right;
    plan->constant = gphi_condition_constant(&read);
    plan->type = read.type;
    plan->accepts = read.relation;
    return GPH_OK;
}

/* The words of both sides: the host's begin as the limits, the device's as zeros. */
static gph_status take_memory(gph_loop *loop, gph_error *error)
{
    const gphi_cuda_table *cu = &loop->runtime->cu;
    const loop_device zeros = {0};
    CUdeviceptr there = 0;
    void *host = NULL;
    GPHI_TRY(gphi_loop_check(
        loop,
        cu->cuMemHostAlloc(&host, sizeof(*loop->host),
                           CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP),
        "cuMemHostAlloc", error));
    loop->host = host;
    memset(host, 0, sizeof(*loop->host));
    loop->host->ceiling = loop->options.ceiling;
    loop->host->budget = loop->options.budget_ns;
    GPHI_TRY(gphi_loop_check(loop, cu->cuMemHostGetDevicePointer(&there, host, 0),
                             "cuMemHostGetDevicePointer", error));
    GPHI_TRY(gphi_loop_check(loop, cu->cuMemAlloc(&loop->device, sizeof(zeros)),
                             "cuMemAlloc", error));
    GPHI_TRY(gphi_loop_check(loop,
                             gphi_put_words(cu, loop->device, &zeros, sizeof(zeros)),
                             "cuMemcpyHtoD", error));
    const gph_loop_options *options = &loop->options;
    loop->plan = (loop_plan){.here = (loop_device *)(uintptr_t)loop->device,
                             .host = (loop_host *)(uintptr_t)there,
                             .condition = (const unsigned *)(uintptr_t)options->condition,
                             .counter = (const unsigned *)(uintptr_t)options->counter,
                             .poll = options->sentinel ? 0 : options->poll_ns,
                             .many = options->unroll};
    if (options->test)
        GPHI_TRY(plan_test(&loop->plan, options->test, error));
    loop->options.test = NULL; /* it was borrowed */
    return GPH_OK;
}

/* What fails leaves a loop that destroy_now() takes apart as far as it came. */
static gph_status fill(gph_loop *loop, CUgraph body, gph_error *error)
{
    const gphi_cuda_table *cu = &loop->runtime->cu;
    GPHI_TRY(gphi_cuda_check(error, cu->cuCtxGetCurrent(&loop->context),
                             "cuCtxGetCurrent", "making a loop"));
    loop->name = gphi_heap_text(loop->runtime->heap,
                                loop->options.name ? loop->options.name : "loop");
    GPHI_TRY(gphi_made(error, loop->name, "making a loop"));
    if (loop->options.before)
        GPHI_TRY(gphi_loop_check(loop,
                                 cu->cuGraphClone(&loop->before, loop->options.before),
                                 "cuGraphClone", error));
    GPHI_TRY(take_memory(loop, error));
    GPHI_TRY(gphi_loop_check(
        loop,
        cu->cuEventCreate(&loop->event, CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING),
        "cuEventCreate", error));
    GPHI_TRY(gphi_kernels_retain(loop->runtime, &gphi_loop_text, &loop->any, error));
    if (loop->way != GPH_LOOP_HOST)
        GPHI_TRY(gphi_kernels_retain(loop->runtime, &gphi_loop_device_text, &loop->own,
                                     error));
    return gphi_loop_build(loop, body, &loop->execs, error);
}

/* Run when no capture is open: freeing memory would invalidate one. */
static void destroy_now(void *user)
{
    gph_loop *loop = user;
    const gphi_cuda_table *cu = &loop->runtime->cu;
    CUresult result = CUDA_SUCCESS;
    const CUstreamCaptureMode mode = gphi_relax(cu);
    if (loop->before)
        GPHI_THEN(result, cu->cuGraphDestroy(loop->before));
    if (loop->event)
        GPHI_THEN(result, cu->cuEventDestroy(loop->event));
    if (loop->device)
        GPHI_THEN(result, cu->cuMemFree(loop->device));
    if (loop->host)
        GPHI_THEN(result, cu->cuMemFreeHost(loop->host));
    gphi_unrelax(cu, mode);
    if (result != CUDA_SUCCESS)
        gphi_log("loop", GPH_LOG_ERROR, "memory of loop %s stays: %s", loop->name,
                 gph_status_name((gph_status)result));
    gphi_kernels_release(loop->own);
    gphi_kernels_release(loop->any);
    gphi_heap_text_free(loop->runtime->heap, loop->name);
    gphi_heap_free(loop->runtime->heap, loop, sizeof(*loop));
}

void gph_loop_destroy(gph_loop *loop)
{
    if (!loop)
        return;
    gphi_loop_execs_destroy(&loop->execs);
    gphi_loop_execs_destroy(&loop->trial.host);
    gphi_defer(&loop->end, destroy_now, loop); /* after them */
}

gph_status gphi_loop_make(gph_runtime *runtime, CUgraph body,
                          const gph_loop_options *options, gph_loop **out,
                          gph_error *error)
{
    gph_loop *loop = gphi_heap_alloc(runtime->heap, sizeof(*loop));
    GPHI_TRY(gphi_made(error, loop, "making a loop"));
    loop->runtime = runtime;
    loop->way = (gph_loop_way)options->way;
    loop->options = *options;
    loop->look_ns = LOOK_NS;
    /* softcuda runs work in who waits for it. */
    loop->doze_ns = (runtime->info.features & GPH_FEATURE_SOFTCUDA) != 0 ? 0 : DOZE_NS;
    const CUstreamCaptureMode mode = gphi_relax(&runtime->cu);
    const gph_status status = fill(loop, body, error);
    gphi_unrelax(&runtime->cu, mode);
    if (status != GPH_OK) {
        gph_loop_destroy(loop);
        return status;
    }
    *out = loop;
    return GPH_OK;
}

/* Other conditions than the word: a comparison. */
static gph_status read_test(const gph_loop_options *options, gph_error *error)
{
    gph_condition read;
    if (options->condition != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "options.condition 0x%llx and options.test are both given",
                         options->condition);
    GPHI_TRY(gphi_condition_read(options->test, GPH_FLOW_WHILE, &read, error));
    return read.kind == GPH_CONDITION_COMPARE
               ? GPH_OK
               : gphi_fail(
                     error, GPH_E_INVALID,
                     "options.test is of kind %u: a comparison can be one, a word is "
                     "options.condition, and what a kernel decides it writes there",
                     read.kind);
}

static gph_status read_options(const gph_loop_options *options, gph_loop_options *out,
                               gph_error *error)
{
    GPHI_TRY(gphi_options_read(out, sizeof(*out), "gph_loop_options", options, error));
    out->unroll = out->unroll == 0 ? 1 : out->unroll;
    out->poll_ns = out->poll_ns == 0 ? POLL_NS : out->poll_ns;
    if (out->way > GPH_LOOP_HOST)
        return gphi_fail(error, GPH_E_INVALID, "options.way %u is not a gph_loop_way",
                         out->way);
    if (out->flags != 0)
        return gphi_fail(error, GPH_E_INVALID, "options.flags 0x%x: none are known",
                         out->flags);
    if (out->test)
        GPHI_TRY(read_test(out, error));
    if ((out->condition == 0) == !out->test || out->condition % 4 != 0 ||
        out->counter % 4 != 0)
        return gphi_fail(
            error, GPH_E_INVALID,
            "options.condition 0x%llx, options.counter 0x%llx: not addresses "
            "of words of 4 bytes",
            out->condition, out->counter);
    if (out->ceiling == 0)
        return gphi_fail(error, GPH_E_INVALID, "options.ceiling is 0");
    if (out->unroll > UNROLL_MAX)
        return gphi_fail(error, GPH_E_INVALID, "options.unroll %u: at most %d",
                         out->unroll, UNROLL_MAX);
    return GPH_OK;
}

gph_status gph_loop_create(gph_runtime *runtime, CUgraph body,
                           const gph_loop_options *options, gph_loop **out,
                           gph_error *error)
{
    gph_loop_options opt;
    GPHI_TRY(read_options(options, &opt, error));
    GPHI_TRY(gphi_need(error, runtime, body, out));
    gph_loop *loop = NULL;
    GPHI_TRY(gphi_loop_choose(runtime, body, &opt, &loop, error));
    gphi_log("loop", GPH_LOG_INFO, "loop %s: %s", loop->name, loop->ways.text);
    *out = loop;
    return GPH_OK;
}

/* ---- launching ---- */

/* The kernel says what comes next some microseconds before the driver sees that the round has
 * ended, so the host looks at the word, and at the stream now and then, since after an error
 * no word comes. Where it does not come soon it looks for half as long from then on: rounds
 * are long, or whoever runs them (softcuda on few cores) needs this one. */
static CUresult await_word(gph_loop *loop, CUstream stream, uint32_t *next)
{
    const gphi_cuda_table *cu = &loop->runtime->cu;
    const uint64_t until = gphi_clock_ns() + loop->look_ns;
    CUresult result = CUDA_ERROR_NOT_READY;
    for (uint32_t looks = 1; loop->look_ns > 0; looks++) {
        *next = __atomic_load_n(&loop->host->next, __ATOMIC_ACQUIRE);
        if (*next != LOOP_OPEN)
            return CUDA_SUCCESS;
        if (looks % ASK_EVERY != 0)
            continue;
        if (gphi_clock_ns() > until)
            loop->look_ns = loop->look_ns < LOOK_MIN_NS ? 0 : loop->look_ns / 2;
        else if ((result = cu->cuStreamQuery(stream)) == CUDA_ERROR_NOT_READY)
            continue;
        break;
    }
    if (result == CUDA_ERROR_NOT_READY)
        result = cu->cuStreamSynchronize(stream);
    *next = __atomic_load_n(&loop->host->next, __ATOMIC_ACQUIRE);
    return result;
}

/* The device decides after each round, here as well; the host does as it says. Launches in
 * a stream follow each other, so the next round may be launched before this one's last
 * kernel is gone. */
static gph_status run_from_host(gph_loop *loop, CUstream stream, gph_error *error)
{
    const gphi_loop_execs *execs =
        loop->trial.host.start ? &loop->trial.host : &loop->execs;
    gph_exec *next = execs->start;
    while (next) {
        uint32_t word = LOOP_NONE;
        __atomic_store_n(&loop->host->next, LOOP_OPEN, __ATOMIC_RELEASE);
        GPHI_TRY(gph_exec_launch(next, stream, error));
        const CUresult result = await_word(loop, stream, &word);
        if (result != CUDA_SUCCESS)
            return gphi_loop_fail_fault(loop, result, "cuStreamSynchronize", error);
        next = word == LOOP_MANY ? execs->many : word == LOOP_ONE ? execs->one : NULL;
    }
    const CUresult result = loop->runtime->cu.cuStreamSynchronize(stream);
    return result == CUDA_SUCCESS
               ? GPH_OK
               : gphi_loop_fail_fault(loop, result, "cuStreamSynchronize", error);
}

gph_status gph_loop_launch(gph_loop *loop, CUstream stream, gph_error *error)
{
    GPHI_TRY(gphi_need(error, loop));
    /* Relaxed: an abort of another thread comes before or after, as it happens. */
    const uint64_t before =
        atomic_fetch_add_explicit(&loop->launched, 1, memory_order_relaxed);
    const unsigned bell = atomic_load_explicit(&loop->bell, memory_order_relaxed);
    atomic_store_explicit(&loop->launch_bell, bell, memory_order_relaxed);
    const bool is_alone = before == __atomic_load_n(&loop->host->ended, __ATOMIC_ACQUIRE);
    atomic_store_explicit(&loop->launch_ns, is_alone ? gphi_clock_ns() : 0,
                          memory_order_relaxed);
    const gph_status status = gphi_trial_is_host(loop, before)
                                  ? run_from_host(loop, stream, error)
                                  : gph_exec_launch(loop->execs.start, stream, error);
    if (status != GPH_OK) { /* an abort must not wait for it */
        atomic_fetch_sub_explicit(&loop->launched, 1, memory_order_relaxed);
        atomic_store_explicit(&loop->launch_ns, 0, memory_order_relaxed);
    }
    return status;
}

void gph_loop_abort(gph_loop *loop)
{
    if (!loop)
        return;
    /* The number of the last launch that it is meant for: nothing has to be reset, and
     * a later launch is not met. Launches of gph_loop_exec() are known once they begin. */
    const uint64_t launched = atomic_load_explicit(&loop->launched, memory_order_relaxed);
    const uint64_t begun = __atomic_load_n(&loop->host->begun, __ATOMIC_ACQUIRE);
    __atomic_store_n(&loop->host->aborted, launched > begun ? launched : begun,
                     __ATOMIC_RELEASE);
    atomic_fetch_add_explicit(&loop->bell, 1, memory_order_release);
    gphi_futex_wake(&loop->bell);
}

/* ---- changing ---- */

gph_status gph_loop_limits_set(gph_loop *loop, uint64_t ceiling, uint64_t budget_ns,
                               gph_error *error)
{
    GPHI_TRY(gphi_need(error, loop));
    if (ceiling == 0)
        return gphi_fail(error, GPH_E_INVALID, "loop %s: the ceiling is 0", loop->name);
    if (ceiling != loop->host->ceiling || budget_ns != loop->host->budget)
        loop->lengths.alike = 0; /* of other launches than those to come */
    __atomic_store_n(&loop->host->ceiling, ceiling, __ATOMIC_RELEASE);
    __atomic_store_n(&loop->host->budget, budget_ns, __ATOMIC_RELEASE);
    return GPH_OK;
}

/* A way that has no such executable has none in the new set, either. */
static void swap(gph_exec *is, gph_exec *next)
{
    if (is && next)
        gphi_exec_swap(is, next);
}

static void swap_all(gphi_loop_execs *is, gphi_loop_execs *next)
{
    swap(is->start, next->start);
    swap(is->many, next->many);
    swap(is->one, next->one);
    gphi_loop_execs_destroy(next);
}

/* Both sets, where there are two: the host's beside that of the way that was measured. */
static gph_status build_next(gph_loop *loop, CUgraph body, gphi_loop_execs next[2],
                             gph_error *error)
{
    const gph_loop_way way = loop->way;
    const bool has_two = loop->trial.host.start;
    loop->way = has_two ? loop->trial.way : way;
    gph_status status = gphi_loop_build(loop, body, &next[0], error);
    loop->way = GPH_LOOP_HOST;
    if (has_two)
        GPHI_THEN(status, gphi_loop_build(loop, body, &next[1], error));
    loop->way = way;
    if (status != GPH_OK)
        gphi_loop_execs_destroy(&next[0]);
    return status;
}

/* The executables that callers know stay, and get what the new ones launch. */
gph_status gph_loop_update(gph_loop *loop, CUgraph body, gph_error *error)
{
    gphi_loop_execs next[2] = {{0}};
    GPHI_TRY(gphi_need(error, loop, body));
    const CUstreamCaptureMode mode = gphi_relax(&loop->runtime->cu);
    const gph_status status = build_next(loop, body, next, error);
    gphi_unrelax(&loop->runtime->cu, mode);
    GPHI_TRY(status);
    loop->lengths.alike = 0;
    swap_all(&loop->execs, &next[0]);
    swap_all(&loop->trial.host, &next[1]);
    return GPH_OK;
}

gph_exec *gph_loop_exec(const gph_loop *loop)
{
    if (!loop || loop->way == GPH_LOOP_HOST)
        return NULL;
    gph_loop *mine = (gph_loop *)(uintptr_t)loop;
    gphi_trial_end(mine); /* its launches would not be seen */
    mine->is_lent = true;
    return loop->execs.start;
}

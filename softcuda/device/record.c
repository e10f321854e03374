// SPDX-License-Identifier: Apache-2.0
/* From a checked task to what the engine runs. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "softcuda/check/trace.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/noted.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* Rounds of a loop from one look at the clock to the next, unless they are slow: these. */
enum { LIMIT_ROUNDS = 64, SLOW_ROUNDS_NS = 1000000 };

static bool is_dead(const soft_context *context)
{
    return atomic_load_explicit(&((soft_context *)(uintptr_t)context)->error,
                                memory_order_relaxed) != CUDA_SUCCESS;
}

void soft_copy_note(soft_trace *trace, const soft_copy *copy)
{
    for (size_t z = 0; z < copy->depth; z++) {
        const soft_touched_rows from = {.address = copy->src + z * copy->src_slice,
                                        .bytes = copy->width,
                                        .rows = copy->height,
                                        .pitch = copy->src_pitch};
        const soft_touched_rows to = {.address = copy->dst + z * copy->dst_slice,
                                      .bytes = copy->width,
                                      .rows = copy->height,
                                      .pitch = copy->dst_pitch,
                                      .write = true};
        soft_trace_rows(trace, &from);
        soft_trace_rows(trace, &to);
    }
}

void soft_fill_note(soft_trace *trace, const soft_fill *fill)
{
    const soft_touched_rows to = {.address = fill->dst,
                                  .bytes = fill->width * fill->element,
                                  .rows = fill->height,
                                  .pitch = fill->pitch,
                                  .write = true};
    soft_trace_rows(trace, &to);
}

static void note_batch(soft_trace *trace, const soft_batch_run *batch)
{
    for (uint32_t i = 0; i < batch->count; i++) {
        soft_touched_rows word = {.rows = 1, .strong = true};
        if (soft_batch_word(&batch->ops[i], &word.address, &word.bytes, &word.write))
            soft_trace_rows(trace, &word);
    }
}

/* " (node 3)", or nothing for work of a stream. */
static const char *node_text(const soft_record *record, char text[32])
{
    text[0] = '\0';
    if (record->node >= 0)
        snprintf(text, 32, " (node %lld)", (long long)record->node);
    return text;
}

/* The address that was lost, of either end: the range was right when the copy was
 * given. */
static void copy_failed(const soft_record *record, uint64_t lost)
{
    const soft_copy *copy = &record->u.copy;
    char text[200], node[32];
    snprintf(text, sizeof(text),
             "memcpy%s of %llu bytes from 0x%llx to 0x%llx: illegal address 0x%llx",
             node_text(record, node),
             (unsigned long long)(copy->width * copy->height * copy->depth),
             (unsigned long long)copy->src, (unsigned long long)copy->dst,
             (unsigned long long)lost);
    soft_context_fail_at(record->context, CUDA_ERROR_ILLEGAL_ADDRESS, text, lost);
}

static void fill_failed(const soft_record *record, uint64_t lost)
{
    const soft_fill *fill = &record->u.fill;
    char text[200], node[32];
    snprintf(text, sizeof(text),
             "memset%s of %llu bytes at 0x%llx: illegal address 0x%llx",
             node_text(record, node),
             (unsigned long long)(fill->width * fill->element * fill->height),
             (unsigned long long)fill->dst, (unsigned long long)lost);
    soft_context_fail_at(record->context, CUDA_ERROR_ILLEGAL_ADDRESS, text, lost);
}

static void batch_failed(const soft_record *record)
{
    const soft_batch_run *batch = &record->u.batch;
    uint64_t address = 0, bytes = 0;
    bool write = false;
    char text[200], node[32];
    if (!soft_batch_word(&batch->ops[batch->lost_op], &address, &bytes, &write)) {
        snprintf(text, sizeof(text),
                 "operation %u of %u%s: its external semaphore is gone", batch->lost_op,
                 batch->count, node_text(record, node));
        soft_context_fail_at(record->context, CUDA_ERROR_ILLEGAL_ADDRESS, text, address);
        return;
    }
    snprintf(text, sizeof(text),
             "memory operation %u of %u%s, a %s of %llu bytes: illegal address 0x%llx",
             batch->lost_op, batch->count, node_text(record, node),
             write ? "write" : "wait", (unsigned long long)bytes,
             (unsigned long long)address);
    soft_context_fail_at(record->context, CUDA_ERROR_ILLEGAL_ADDRESS, text, address);
}

/* A context in error runs nothing more, as on a GPU. */
static void run_copy(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_record *record = argument;
    soft_copy_opens(&record->u.copy);
    if (is_dead(record->context))
        return;
    if (record->trace)
        soft_copy_note(record->trace, &record->u.copy);
    uint64_t lost;
    if (!soft_copy_run(&record->u.copy, &lost))
        copy_failed(record, lost);
}

static void run_fill(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_record *record = argument;
    if (is_dead(record->context))
        return;
    if (record->trace)
        soft_fill_note(record->trace, &record->u.fill);
    uint64_t lost;
    if (!soft_fill_run(&record->u.fill, &lost))
        fill_failed(record, lost);
}

/* Memory operations; a context in error ends their waits. */
static bool poll_batch(void *argument)
{
    soft_record *record = argument;
    soft_batch_run *batch = &record->u.batch;
    if (is_dead(record->context)) {
        batch->next = 0;
        return true;
    }
    const bool done = soft_batch_poll(batch);
    if (done && record->trace)
        note_batch(record->trace, batch);
    if (batch->lost)
        batch_failed(record);
    return done;
}

static void run_batch(void *argument, soft_worker *worker)
{
    (void)worker;
    (void)poll_batch(argument); /* nothing in it waits */
}

/* What this thread has taken of a processor. */
static uint64_t thread_ns(void)
{
    struct timespec time = {0};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000U + (uint64_t)time.tv_nsec;
}

/* Not run if the context is in error (R25). */
static void run_host(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_record *record = argument;
    if (is_dead(record->context) && !record->u.host.always)
        return;
    soft_thread *self = soft_thread_self();
    const bool is_noted = soft_noted_wanted();
    const uint64_t from = is_noted ? gphi_clock_ns() : 0;
    const uint64_t before = is_noted ? thread_ns() : 0;
    const uint64_t function = (uint64_t)(uintptr_t)record->u.host.function;
    const uint64_t user = (uint64_t)(uintptr_t)record->u.host.user;
    self->in_callback = true;
    record->u.host.function(record->u.host.user);
    self->in_callback = false;
    if (is_noted)
        soft_noted_host(function, user, from, thread_ns() - before);
}

/* A loop that never ends keeps its stream from everything else: a limit ends it. */
static bool is_over_limit(soft_record *record, uint64_t round)
{
    if (record->u.branch.limit_ns == 0 ||
        (round != 1 && round < record->u.branch.look_at))
        return false;
    const uint64_t now = gphi_clock_ns();
    if (round == 1)
        record->u.branch.started_ns = record->u.branch.looked_ns = now;
    const bool is_slow = round <= 2 || now - record->u.branch.looked_ns > SLOW_ROUNDS_NS;
    record->u.branch.looked_ns = now;
    record->u.branch.look_at = round + (is_slow ? 1 : LIMIT_ROUNDS);
    if (now - record->u.branch.started_ns < record->u.branch.limit_ns)
        return false;
    char text[200], node[32];
    snprintf(text, sizeof(text),
             "the WHILE node%s of conditional handle %u has run %llu rounds in %llu ms, "
             "and its condition is not 0",
             node_text(record, node), record->u.branch.node.handle,
             (unsigned long long)(round - 1),
             (unsigned long long)((now - record->u.branch.started_ns) / 1000000));
    soft_context_fail_at(record->context, CUDA_ERROR_LAUNCH_TIMEOUT, text, 0);
    return true;
}

/* Check mode, as the node is asked: it reads its handle, and a round of a loop is over. */
static void watch_asking(soft_record *record, uint64_t round)
{
    static const uint64_t patience = 1000; /* rounds */
    const soft_conditional *node = &record->u.branch.node;
    const soft_touched_rows value = {
        .address = soft_trace_handle(node->handle), .bytes = 4, .rows = 1};
    char text[32];
    if (round == 1) {
        if (record->trace)
            soft_trace_rows(record->trace, &value);
        atomic_store_explicit(record->u.branch.was_set, 0, memory_order_relaxed);
    }
    if (round == 1 || node->type != CU_GRAPH_COND_TYPE_WHILE)
        return;
    record->u.branch.round_over(record->u.branch.watch, record->u.branch.flat);
    if (round == patience + 1 &&
        atomic_load_explicit(record->u.branch.was_set, memory_order_relaxed) == 0)
        soft_say(
            CU_LOG_LEVEL_ERROR,
            "loop without a decision: the WHILE node%s of conditional handle %u has run "
            "%llu rounds, and no kernel has set its handle",
            node_text(record, text), node->handle, (unsigned long long)patience);
}

/* What comes after the last body, the engine takes for none. */
static uint32_t find_body(void *argument, uint64_t round)
{
    soft_record *record = argument;
    const soft_conditional *node = &record->u.branch.node;
    atomic_uint *value = record->u.branch.value;
    const bool loops = node->type == CU_GRAPH_COND_TYPE_WHILE;
    if (round == 0 && node->assigns && soft_rule(R84))
        atomic_store_explicit(value, node->initial, memory_order_relaxed);
    if (round == 0 || is_dead(record->context) || (round > 1 && !loops))
        return SOFT_NO_BODY;
    if (record->u.branch.watch)
        watch_asking(record, round);
    /* Relaxed: who wrote it came before this node. */
    const uint32_t now = atomic_load_explicit(value, memory_order_relaxed);
    if (!soft_rule(R85))
        return round == 1 ? 0 : SOFT_NO_BODY;
    switch (node->type) {
    case CU_GRAPH_COND_TYPE_IF: return now != 0 ? SOFT_BODY_ONCE : SOFT_BODY_ONCE + 1;
    case CU_GRAPH_COND_TYPE_WHILE:
        return now != 0 && !is_over_limit(record, round) ? 0 : SOFT_NO_BODY;
    default: return now < node->size ? SOFT_BODY_ONCE + now : SOFT_NO_BODY;
    }
}

static uint32_t choose_body(void *argument, uint64_t round)
{
    const soft_record *record = argument;
    uint32_t body = find_body(argument, round);
    if (!record->u.branch.noted)
        return body;
    if (body != SOFT_NO_BODY) /* who notes it wants to hear of the end */
        body &= ~SOFT_BODY_ONCE;
    record->u.branch.noted->value =
        atomic_load_explicit(record->u.branch.value, memory_order_relaxed);
    soft_noted_choice(record->u.branch.noted, round, body);
    return body;
}

static void run_call(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_record *record = argument;
    record->u.call.function(record->u.call.user);
}

/* Check mode: GPUs act in lockstep there, most of the time; nothing promises it. */
static void watch_lockstep(soft_function *function)
{
    const ptx_kernel *kernel = function->code->kernel;
    if (kernel->lockstep_store == 0 || !soft_check_wanted().race ||
        atomic_exchange(&function->said_lockstep, true))
        return;
    soft_say(
        CU_LOG_LEVEL_WARNING,
        "warp without a barrier: kernel %.60s stores to volatile shared memory (line "
        "%u of the PTX) and loads from it (line %u) with no barrier between them: "
        "threads of a warp need __syncwarp() there",
        kernel->name, kernel->lockstep_store, kernel->lockstep_load);
}

/* Where a launch's parameters go, and what grid.sync() needs before them. */
static CUresult make_room(soft_record *record, const soft_launch *launch,
                          soft_kernel_sync **sync, unsigned char **params)
{
    _Static_assert(sizeof(**sync) % 16 == 0, "parameters are 16-byte aligned");
    const size_t before = launch->cooperative ? sizeof(**sync) : 0;
    *sync = NULL;
    *params = record->params;
    if (before == 0 && launch->param_bytes <= SOFT_RECORD_PARAM_BYTES)
        return CUDA_SUCCESS;
    unsigned char *room = soft_new(before + launch->param_bytes);
    SOFT_TRY(
        soft_made(room, "no memory for %u bytes of parameters", launch->param_bytes));
    record->large = room;
    *params = room + before;
    if (launch->cooperative)
        *sync = (soft_kernel_sync *)(void *)room;
    return CUDA_SUCCESS;
}

/* Parameters are copied: the caller's are gone when the kernel runs. */
static CUresult fill_launch(soft_record *record, const soft_launch *launch, int64_t node)
{
    unsigned char *params;
    soft_kernel_sync *sync;
    /* Mostly done before, by who could do it without a lock. */
    const gph_status ready = soft_kernel_ready(launch->function->code, soft_error());
    if (ready != GPH_OK)
        return soft_pass(ready);
    watch_lockstep(launch->function);
    SOFT_TRY(make_room(record, launch, &sync, &params));
    if (launch->param_bytes > 0)
        memcpy(params, launch->params, launch->param_bytes);
    soft_kernel_dims dims = {
        .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
        .block = {launch->block[0], launch->block[1], launch->block[2]},
        .dynamic_shared_bytes = launch->shared_bytes,
        .cooperative = launch->cooperative,
        .sync = sync};
    SOFT_TRY(
        soft_cluster_of(launch->function, launch->grid, launch->cluster, dims.cluster));
    const gph_status status =
        soft_kernel_launch_init(&record->u.launch, record->context->kernels,
                                launch->function->code, &dims, params, soft_error());
    if (status != GPH_OK)
        return soft_pass(status);
    record->u.launch.node = node;
    if (launch->processors)
        soft_kernel_launch_confine(&record->u.launch, launch->first_processor,
                                   launch->processors);
    return CUDA_SUCCESS;
}

static CUresult fill_batch(soft_record *record, const soft_batch *batch)
{
    const size_t bytes = batch->count * sizeof(*batch->ops);
    void *ops = record->params;
    if (bytes > SOFT_RECORD_PARAM_BYTES) {
        ops = soft_new(bytes);
        SOFT_TRY(soft_made(ops, "no memory for %u memory operations", batch->count));
        record->large = ops;
    }
    if (bytes > 0)
        memcpy(ops, batch->ops, bytes);
    record->u.batch = (soft_batch_run){.ops = ops, .count = batch->count};
    return CUDA_SUCCESS;
}

/* A batch that waits is polled; one that only writes is a call like others. */
static void batch_work(const soft_batch_run *batch, soft_work *out)
{
    if (soft_batch_waits(batch->ops, batch->count)) {
        out->kind = SOFT_WORK_POLL;
        out->poll = poll_batch;
    } else {
        out->run = run_batch;
    }
}

soft_work soft_record_work(soft_record *record, soft_task_kind kind)
{
    soft_work out = {.kind = SOFT_WORK_CALL, .argument = record};
    switch (kind) {
    case SOFT_TASK_KERNEL: soft_kernel_launch_work(&record->u.launch, &out); break;
    case SOFT_TASK_COPY: out.run = run_copy; break;
    case SOFT_TASK_FILL: out.run = run_fill; break;
    case SOFT_TASK_HOST:
        out.kind = SOFT_WORK_HOST;
        out.run = run_host;
        break;
    case SOFT_TASK_BATCH: batch_work(&record->u.batch, &out); break;
    case SOFT_TASK_BRANCH:
        out.kind = SOFT_WORK_BRANCH;
        out.choose = choose_body;
        break;
    case SOFT_TASK_CALL: out.run = run_call; break;
    }
    return out;
}

CUresult soft_record_fill(soft_record *record, soft_context *context,
                          const soft_task *task, int64_t node)
{
    record->context = context;
    record->node = node;
    switch (task->kind) {
    case SOFT_TASK_KERNEL: return fill_launch(record, &task->u.launch, node);
    case SOFT_TASK_COPY: record->u.copy = task->u.copy; return CUDA_SUCCESS;
    case SOFT_TASK_FILL: record->u.fill = task->u.fill; return CUDA_SUCCESS;
    case SOFT_TASK_HOST:
        record->u.host.function = task->u.host.function;
        record->u.host.user = task->u.host.user;
        record->u.host.always = task->u.host.always;
        return CUDA_SUCCESS;
    case SOFT_TASK_BATCH: return fill_batch(record, &task->u.batch);
    case SOFT_TASK_BRANCH:
        record->u.branch.node = task->u.conditional;
        record->u.branch.value = NULL;
        record->u.branch.noted = NULL;
        record->u.branch.limit_ns = context->loop_limit_ns;
        return CUDA_SUCCESS;
    case SOFT_TASK_CALL:
        record->u.call.function = task->u.call.function;
        record->u.call.user = task->u.call.user;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_UNKNOWN;
}

void soft_record_drop(soft_record *record)
{
    soft_delete(record->large);
    record->large = NULL;
}

void soft_record_watch(soft_record *record, soft_task_kind kind, soft_trace *trace)
{
    record->trace = trace;
    if (kind == SOFT_TASK_KERNEL)
        soft_kernel_launch_watch(&record->u.launch, trace);
}

// SPDX-License-Identifier: Apache-2.0
/* The parameters of executable graphs: records, and the versions that hold them.
 *
 *   edits 0 .. 4:     put 7   put 2   put 7   put 9        journal
 *   current           has seen 4
 *   idle version      has seen 1: before it is edited, nodes 2, 7 and 9 are taken over
 *
 * Versions are made when an edit finds all of them in use, up to SOFT_VERSIONS_MAX; then,
 * or if there is no memory for one, the edit waits for a launch to end. */
#include <stddef.h>
#include <string.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/graph/deviceside.h"
#include "softcuda/graph/exec.h"
#include "softcuda/graph/updatable.h"
#include "softcuda/graph/watch.h"
#include "softcuda/memory/graphmem.h"
#include "softcuda/rules/rules.h"

/* Of a block: all large ones are as large, so that one graph's are the next one's. */
#define BLOCK_MAX ((size_t)8 << 20)

/* ---- records ----------------------------------------------------------------------- */

soft_content soft_content_of(const soft_node *node)
{
    return (soft_content){node->type,  node->id,    node->context,
                          &node->task, node->event, node->updatable};
}

size_t soft_record_bytes(const soft_content *content)
{
    size_t params = 0;
    if (content->type == CU_GRAPH_NODE_TYPE_KERNEL)
        params = content->task->u.launch.param_bytes;
    if (soft_is_batch(content->type))
        params = content->task->u.batch.count * sizeof(CUstreamBatchMemOpParams);
    if (params > SOFT_RECORD_PARAM_BYTES) /* allocated apart */
        params = 0;
    const size_t bytes =
        offsetof(soft_exec_record, body) + offsetof(soft_record, params) + params;
    return (bytes + SOFT_LINE - 1) / SOFT_LINE * SOFT_LINE;
}

/* What every launch reads of a node is one cache line, not two. */
_Static_assert(offsetof(soft_exec_record, body.u) % SOFT_LINE == 0, "begins with a line");

static void block_leave(soft_record_block *block)
{
    if (block && --block->live == 0)
        soft_room_delete(block, block->bytes);
}

void soft_record_maker_fini(soft_record_maker *maker)
{
    block_leave(maker->block);
    *maker = (soft_record_maker){0};
}

/* The first is for one record, each after it four times as large. */
static bool next_block(soft_record_maker *maker, size_t bytes)
{
    size_t room = maker->block ? 4 * maker->block->bytes : 0;
    if (maker->wanted > 0)
        room = SOFT_LINE + maker->wanted;
    else if (room > SOFT_LINE + maker->most * bytes)
        room = SOFT_LINE + maker->most * bytes;
    if (room > BLOCK_MAX)
        room = BLOCK_MAX;
    if (room < SOFT_LINE + bytes)
        room = SOFT_LINE + bytes;
    soft_record_block *block = soft_room_new(room);
    if (!block)
        return false;
    *block = (soft_record_block){.bytes = room, .live = 1};
    block_leave(maker->block);
    maker->block = block;
    maker->used = SOFT_LINE;
    return true;
}

static soft_exec_record *make_room(soft_record_maker *maker, size_t bytes)
{
    if (!maker->block || maker->block->bytes - maker->used < bytes) {
        if (!next_block(maker, bytes))
            return NULL;
    }
    soft_exec_record *record = (void *)((char *)maker->block + maker->used);
    memset(record, 0, bytes);
    record->lines = (uint32_t)(maker->used / SOFT_LINE) & 0xffffff;
    maker->used += bytes;
    maker->wanted -= maker->wanted < bytes ? maker->wanted : bytes;
    maker->block->live++;
    return record;
}

void soft_record_maker_fetch(const soft_record_maker *maker, size_t bytes)
{
    const size_t next = maker->used + SOFT_AHEAD * bytes;
    if (maker->block && next + bytes <= maker->block->bytes)
        soft_fetch((const char *)maker->block + next, bytes);
}

static soft_backing backing_at(soft_context *context, uint64_t address)
{
    soft_backing backing = {SOFT_BACKING_CONTEXT, 0, context};
    soft_allocation found = {0};
    soft_device *device = soft_device_holding(address);
    if (device) /* before it is looked at */
        backing.changes = (uint32_t)(1 + soft_memory_changes(device->memory));
    if (device && soft_graph_known(device->memory, address, 1, &found)) {
        backing.kind = SOFT_BACKING_GRAPH; /* live or not */
        return backing;
    }
    if (device ? !soft_memory_find(device->memory, address, &found)
               : !soft_host_find(address, &found)) {
        backing.context = NULL; /* ordinary host memory */
        return backing;
    }
    if (found.kind == SOFT_MEMORY_GRAPH)
        backing.kind = SOFT_BACKING_GRAPH;
    else if (found.kind == SOFT_MEMORY_POOL || found.kind == SOFT_MEMORY_VMM)
        backing.kind = SOFT_BACKING_POOL;
    else if (found.owner)
        backing.context = found.owner;
    return backing;
}

void soft_backing_of(soft_context *context, const soft_task *task, soft_backing out[2])
{
    out[0] = out[1] = (soft_backing){SOFT_BACKING_CONTEXT, 0, context};
    if (task->kind == SOFT_TASK_FILL)
        out[0] = backing_at(context, task->u.fill.dst);
    if (task->kind != SOFT_TASK_COPY)
        return;
    if (task->u.copy.dst_type != CU_MEMORYTYPE_ARRAY)
        out[0] = backing_at(context, task->u.copy.dst);
    if (task->u.copy.src_type != CU_MEMORYTYPE_ARRAY)
        out[1] = backing_at(context, task->u.copy.src);
}

static bool stays(uint64_t address, const soft_backing *backing)
{
    const soft_device *device = backing->changes ? soft_device_holding(address) : NULL;
    return device &&
           backing->changes == (uint32_t)(1 + soft_memory_changes(device->memory));
}

bool soft_backing_stays(const soft_task *task, const soft_backing backing[2])
{
    if (task->kind == SOFT_TASK_FILL)
        return stays(task->u.fill.dst, &backing[0]);
    return task->kind == SOFT_TASK_COPY && stays(task->u.copy.dst, &backing[0]) &&
           stays(task->u.copy.src, &backing[1]);
}

/* The event of a record node is reached now, not with the launch. */
static void run_stamp(void *user)
{
    soft_exec_record *record = user;
    soft_event_stamp(record->event);
    soft_fence_reach(record->fence);
}

/* What runs is the device's copy. */
static CUresult fill_updatable(soft_exec_record *record)
{
    SOFT_TRY(soft_pass(soft_device_node_create(
        &record->body.u.launch, true, soft_allocator(), &record->device, soft_error())));
    record->is_updatable = true;
    return CUDA_SUCCESS;
}

static CUresult fill(soft_exec_record *record, const soft_content *content)
{
    record->context = content->context;
    if (content->task)
        record->task = *content->task;
    if (content->event) {
        record->event = content->event;
        record->has_event = true;
        soft_event_retain(record->event);
    }
    if (content->type == CU_GRAPH_NODE_TYPE_WAIT_EVENT)
        return CUDA_SUCCESS; /* the launch waits */
    if (content->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD) {
        record->task.kind = SOFT_TASK_CALL;
        record->task.u.call.function = run_stamp;
        record->task.u.call.user = record;
    }
    const CUresult filled = soft_record_fill(&record->body, content->context,
                                             &record->task, (int64_t)content->id);
    record->has_apart = record->body.large != NULL;
    SOFT_TRY(filled);
    if (record->task.kind == SOFT_TASK_KERNEL) {
        soft_function_retain(record->task.u.launch.function);
        record->has_function = true;
        record->task.u.launch.params = record->body.u.launch.grid.params;
    }
    if (content->updatable)
        SOFT_TRY(fill_updatable(record));
    if (record->task.kind == SOFT_TASK_BATCH)
        record->task.u.batch.ops = record->body.u.batch.ops;
    if (record->task.kind == SOFT_TASK_COPY || record->task.kind == SOFT_TASK_FILL)
        soft_backing_of(record->context, &record->task, record->backing);
    return CUDA_SUCCESS;
}

void soft_exec_record_release(soft_exec_record *record)
{
    if (!record || --record->references > 0)
        return;
    if (record->has_apart)
        soft_record_drop(&record->body);
    if (record->is_updatable)
        soft_device_node_release(record->device);
    if (record->has_function)
        soft_function_release(record->task.u.launch.function);
    if (record->has_event)
        soft_event_release(record->event);
    block_leave((void *)((char *)record - record->lines * (size_t)SOFT_LINE));
}

CUresult soft_exec_record_create(const soft_content *content, soft_record_maker *maker,
                                 soft_exec_record **out)
{
    soft_record_maker own = {0};
    soft_exec_record *record =
        make_room(maker ? maker : &own, soft_record_bytes(content));
    soft_record_maker_fini(&own);
    SOFT_TRY(soft_made(record, "no memory for a node's parameters"));
    record->references = 1;
    const CUresult result = fill(record, content);
    if (result != CUDA_SUCCESS) {
        soft_exec_record_release(record);
        return result;
    }
    *out = record;
    return CUDA_SUCCESS;
}

static void join(const soft_exec *exec, uint32_t at, soft_kernel_launch *launch)
{
    launch->conditions = exec->conditions;
    soft_kernel_launch_join(launch, soft_side_face(exec->side),
                            exec->shape.nodes[at].in_body);
}

/* The device's copy has the switch of the host until kernels change it. */
static void bind_kernel(const soft_exec *exec, uint32_t at, soft_exec_record *record)
{
    join(exec, at, &record->body.u.launch);
    if (!record->is_updatable)
        return;
    join(exec, at, &record->device->launch);
    soft_kernel_launch_watch(&record->device->launch, record->body.trace);
    record->device->enabled = exec->shape.nodes[at].enabled;
    record->device->owner = exec;
}

/* What of an executable graph its records read. */
static void bind(const soft_exec *exec, uint32_t at, soft_exec_record *record)
{
    soft_watch_record(exec->watch, at, record->task.kind, &record->body);
    if (record->task.kind == SOFT_TASK_KERNEL)
        bind_kernel(exec, at, record);
    if (record->task.kind == SOFT_TASK_BRANCH) {
        const uint32_t handle = record->task.u.conditional.handle;
        record->body.u.branch.value = &exec->conditions->values[handle - 1];
        record->body.u.branch.was_set =
            &exec->conditions->values[exec->conditions->count + handle - 1];
        record->body.u.branch.watch = exec->watch;
        record->body.u.branch.round_over = soft_watch_round;
        record->body.u.branch.flat = at;
        record->body.u.branch.noted = soft_exec_decision(exec, at);
    }
}

/* ---- what a version runs ----------------------------------------------------------- */

static void do_nothing(void *argument, soft_worker *worker)
{
    (void)argument, (void)worker;
}

static void do_no_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)argument, (void)worker;
    uint64_t first;
    while (soft_parts_claim(parts, 0, &first) != 0)
        ;
}

static soft_work work_of_enabled(soft_exec_record *record)
{
    return !record->is_updatable ? soft_record_work(&record->body, record->task.kind)
                                 : (soft_work){.kind = SOFT_WORK_CALL,
                                               .run = soft_device_node_run,
                                               .argument = record->device};
}

/* Of the kind that the program was compiled for: a disabled node is order only (R69h). */
static soft_work work_of(const soft_exec *exec, uint32_t at, soft_exec_record *record)
{
    const soft_exec_node *node = &exec->shape.nodes[at];
    soft_work work = {.kind = node->kind};
    const bool runs = node->enabled || (record && record->is_updatable);
    if (runs && record && node->kind != SOFT_WORK_EMPTY) {
        work = work_of_enabled(record);
        work.cost_ns = &exec->costs[at];
    } else if (node->kind == SOFT_WORK_PARTS) {
        work.run_parts = do_no_parts;
        work.parts = 1;
    } else if (node->kind != SOFT_WORK_EMPTY) {
        work.run = do_nothing;
    }
    return work;
}

static void version_free(soft_version *version)
{
    if (!version)
        return;
    for (uint32_t i = 0; version->records && i < version->exec->shape.node_count; i++)
        soft_exec_record_release(version->records[i]);
    soft_delete(version->works);
    soft_delete(version->records);
    soft_delete(version);
}

void soft_versions_free(soft_exec *exec)
{
    for (uint32_t i = 0; i < exec->version_count; i++)
        version_free(exec->versions[i]);
    exec->version_count = 0;
    exec->current = NULL;
}

static soft_version *version_new(soft_exec *exec)
{
    if (exec->version_count == SOFT_VERSIONS_MAX)
        return NULL;
    soft_version *version = soft_new(sizeof(*version));
    if (!version)
        return NULL;
    version->exec = exec;
    atomic_init(&version->launches, 0);
    version->works = soft_new_unset(exec->shape.node_count * sizeof(*version->works));
    version->records = soft_new(exec->shape.node_count * sizeof(soft_exec_record *));
    if (!version->works || !version->records) {
        version_free(version);
        return NULL;
    }
    version->plain =
        (soft_launched){exec->program, version->works, soft_exec_plain_done, version};
    exec->versions[exec->version_count++] = version;
    return version;
}

/* ---- the first version ------------------------------------------------------------- */

static CUresult out_of_memory(const soft_exec *exec)
{
    return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for the parameters of %u nodes",
                     exec->shape.node_count);
}

/* What a launch looks at: events, semaphores, and the words of memory operations. */
static bool is_asked(const soft_node *node)
{
    return node && (node->event || soft_is_batch(node->type));
}

static CUresult keep_event_nodes(soft_exec *exec, const soft_flat *flat)
{
    uint32_t count = 0;
    if (!(flat->has &
          (SOFT_HAS(EVENT_RECORD) | SOFT_HAS(WAIT_EVENT) | SOFT_HAS(BATCH_MEM_OP) |
           SOFT_HAS(EXT_SEMAS_SIGNAL) | SOFT_HAS(EXT_SEMAS_WAIT))))
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < exec->shape.node_count; i++)
        count += is_asked(flat->nodes[i]);
    if (count == 0)
        return CUDA_SUCCESS;
    exec->event_nodes = soft_new(count * sizeof(*exec->event_nodes));
    exec->fences = soft_new(count * sizeof(soft_queue *));
    if (!exec->event_nodes || !exec->fences)
        return out_of_memory(exec);
    for (uint32_t i = 0; i < exec->shape.node_count; i++) {
        const soft_node *node = flat->nodes[i];
        if (!is_asked(node))
            continue;
        if (node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD)
            SOFT_TRY(soft_pass(soft_fence_create(
                exec->device->engine, &exec->fences[exec->event_count], soft_error())));
        exec->event_nodes[exec->event_count++] = i;
    }
    return CUDA_SUCCESS;
}

/* The fence of an event record node; the numbers of event nodes rise. */
static void set_fence(const soft_exec *exec, uint32_t at, soft_exec_record *record)
{
    size_t low;
    GPHI_HALVE(low, exec->event_count, i, exec->event_nodes[i] < at);
    if (low < exec->event_count && exec->event_nodes[low] == at)
        record->fence = exec->fences[low];
}

/* The record and the work of a flat node. */
static CUresult first_record(const soft_exec *exec, const soft_flat *flat, uint32_t at,
                             soft_record_maker *maker, soft_version *version)
{
    if (!soft_flat_has_record(flat, at)) {
        version->works[at] = work_of(exec, at, NULL);
        return CUDA_SUCCESS;
    }
    const soft_content content = soft_content_of(flat->nodes[at]);
    SOFT_TRY(soft_exec_record_create(&content, maker, &version->records[at]));
    version->works[at] = soft_version_bind(exec, at, version->records[at]);
    return CUDA_SUCCESS;
}

CUresult soft_version_first(soft_exec *exec, const soft_flat *flat, soft_node **offender)
{
    const uint32_t count = exec->shape.node_count;
    SOFT_TRY(keep_event_nodes(exec, flat));
    exec->costs = soft_new(count * sizeof(*exec->costs));
    soft_version *version = version_new(exec);
    if (!exec->costs || !version)
        return out_of_memory(exec);
    soft_record_maker maker = {.wanted = flat->record_bytes};
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        result = first_record(exec, flat, i, &maker, version);
        if (result != CUDA_SUCCESS)
            *offender = flat->nodes[i];
    }
    soft_record_maker_fini(&maker);
    if (result == CUDA_SUCCESS)
        exec->current = version;
    return result;
}

/* ---- edits ------------------------------------------------------------------------- */

bool soft_version_is_used(const soft_version *version)
{
    soft_version *v = (soft_version *)(uintptr_t)version;
    /* Acquire: what the launch read was read before it is written again. Pairs with the
     * release in the end of a launch. */
    return atomic_load_explicit(&v->launches, memory_order_acquire) != 0 ||
           atomic_load_explicit(&v->ended, memory_order_acquire) != v->begun;
}

static bool is_idle(const soft_version *version)
{
    return !soft_version_is_used(version);
}

/* The current one if it can be edited in place, else another, else a new one. */
static soft_version *find_idle(soft_exec *exec)
{
    if (is_idle(exec->current) || !soft_rule(R34))
        return exec->current;
    for (uint32_t i = 0; i < exec->version_count; i++)
        if (is_idle(exec->versions[i]))
            return exec->versions[i];
    return version_new(exec);
}

/* One of the launches that has to end before an edit can go on. A version that is held
 * though its launches are over is what kernels launch. */
static soft_point oldest(const soft_exec *exec)
{
    for (uint32_t i = 0; i < exec->version_count; i++)
        if (exec->versions[i] != exec->current &&
            !soft_point_reached(exec->versions[i]->last))
            return exec->versions[i]->last;
    return exec->current->last;
}

void soft_exec_reserve(soft_exec *exec)
{
    for (;;) {
        soft_light_lock(&exec->mutex);
        const bool idle = find_idle(exec);
        const soft_point point = idle ? (soft_point){0} : oldest(exec);
        soft_light_unlock(&exec->mutex);
        if (idle)
            return;
        soft_point_wait(exec->device->engine, point);
    }
}

static void take_over(soft_version *version, const soft_version *from, uint32_t at)
{
    version->works[at] = from->works[at];
    if (version->records[at] == from->records[at])
        return;
    soft_exec_record_release(version->records[at]);
    version->records[at] = from->records[at];
    if (version->records[at])
        version->records[at]->references++;
}

static void bring_up_to_date(soft_exec *exec, soft_version *version)
{
    if (version == exec->current)
        return;
    /* A new one has no records yet. */
    const bool all = exec->edits - version->edits > SOFT_JOURNAL || version->edits == 0;
    if (all)
        for (uint32_t i = 0; i < exec->shape.node_count; i++)
            take_over(version, exec->current, i);
    for (uint64_t e = version->edits; !all && e < exec->edits; e++)
        take_over(version, exec->current, exec->journal[e % SOFT_JOURNAL]);
    version->edits = exec->edits;
}

soft_version *soft_version_open(soft_exec *exec)
{
    soft_version *version;
    while (!(version = find_idle(exec)))
        soft_point_wait(exec->device->engine, oldest(exec));
    bring_up_to_date(exec, version);
    version->objects = exec->objects;
    version->memory = exec->memory;
    exec->current = version;
    return version;
}

soft_work soft_version_bind(const soft_exec *exec, uint32_t at, soft_exec_record *record)
{
    bind(exec, at, record);
    set_fence(exec, at, record);
    return work_of(exec, at, record);
}

void soft_version_fetch(const soft_version *version, uint32_t at)
{
    soft_fetch(version->records[at], 1);
    soft_fetch(&version->works[at], sizeof(*version->works));
}

void soft_version_put(soft_exec *exec, soft_version *version, uint32_t at,
                      soft_exec_record *record, const soft_work *work)
{
    if (record) {
        soft_exec_record_release(version->records[at]);
        version->records[at] = record;
    }
    version->works[at] = work ? *work : work_of(exec, at, version->records[at]);
    exec->journal[exec->edits++ % SOFT_JOURNAL] = at;
    version->edits = exec->edits;
}

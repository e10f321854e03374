// SPDX-License-Identifier: Apache-2.0
/* The race check between launches, seen from streams; its findings as sentences, and with
 * `fatal` as errors of the contexts. */
#include "softcuda/device/racing.h"

#include <stdio.h>

#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/memory/graphmem.h"
#include "softcuda/rules/rules.h"

soft_beside *soft_racing_check;

/* ---- sentences --------------------------------------------------------------------- */

static const char *work_name(uint32_t type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_MEMSET: return "memset";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "memcpy";
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: return "memory operation";
    default: return "work";
    }
}

void soft_race_describe(const soft_race_side *side, uint32_t type, const char *who,
                        char *text, size_t bytes)
{
    const char *verb = side->write ? "writes" : "reads";
    if (!side->kernel) {
        snprintf(text, bytes, "%s (%s) %s%s", work_name(type), who,
                 side->strong ? "atomically " : "", verb);
        return;
    }
    char thread[80] = "";
    if (side->has_thread)
        snprintf(thread, sizeof(thread), ", block [%u,%u,%u], thread [%u,%u,%u]",
                 side->block[0], side->block[1], side->block[2], side->thread[0],
                 side->thread[1], side->thread[2]);
    snprintf(text, bytes, "kernel %.60s (%s) %s%s %u byte%s (line %u of the PTX%s)",
             side->kernel, who, side->strong ? "atomically " : "", verb, side->bytes,
             side->bytes == 1 ? "" : "s", side->line, thread);
}

void soft_race_place(uint64_t address, char *text, size_t bytes)
{
    const soft_device *device = soft_device_holding(address);
    soft_allocation host, own;
    if (device && soft_graph_known(device->memory, address, 1, &own))
        snprintf(text, bytes,
                 "%llu bytes into the graph allocation of %llu bytes at 0x%llx",
                 (unsigned long long)(address - own.base), (unsigned long long)own.bytes,
                 (unsigned long long)own.base);
    else if (device)
        soft_memory_describe(device->memory, address, text, bytes);
    else if (soft_host_find(address, &host))
        snprintf(text, bytes, "%llu bytes into the host memory of %llu bytes at 0x%llx",
                 (unsigned long long)(address - host.base),
                 (unsigned long long)host.bytes, (unsigned long long)host.base);
    else
        snprintf(text, bytes, "host memory");
}

static void describe_who(const soft_who *who, char *text, size_t bytes)
{
    if (who->node != 0)
        snprintf(text, bytes, "node %llu of executable 0x%llx",
                 (unsigned long long)who->node, (unsigned long long)who->place);
    else if (who->place != 0)
        snprintf(text, bytes, "stream 0x%llx", (unsigned long long)who->place);
    else
        snprintf(text, bytes, "default stream");
}

static void found(void *user, const soft_beside_finding *finding)
{
    (void)user;
    char side[2][300], who[80], place[200], text[900];
    if (!soft_rule(G_unordered))
        return;
    for (int i = 0; i < 2; i++) {
        describe_who(&finding->who[i], who, sizeof(who));
        soft_race_describe(&finding->sides[i], finding->who[i].type, who, side[i],
                           sizeof(side[i]));
    }
    soft_race_place(finding->address, place, sizeof(place));
    snprintf(text, sizeof(text),
             "race: %s and %s at 0x%llx, %s; nothing orders these two launches", side[0],
             side[1], (unsigned long long)finding->address, place);
    soft_say(CU_LOG_LEVEL_ERROR, "%s", text);
    for (int i = 0; i < 2 && soft_check_wanted().fatal; i++)
        if (finding->who[i].context)
            soft_context_fail(finding->who[i].context, CUDA_ERROR_LAUNCH_FAILED, text);
}

static void incomplete(void *user, const char *why)
{
    (void)user;
    soft_say(CU_LOG_LEVEL_WARNING, "races between launches may go unseen: %s", why);
}

static uint64_t memory_at(void *user, uint64_t address, bool *is_host)
{
    (void)user;
    const soft_device *device = soft_device_holding(address);
    soft_allocation found_there;
    if (device ? !soft_memory_find(device->memory, address, &found_there)
               : !soft_host_find(address, &found_there))
        return 0;
    *is_host = !device || found_there.kind == SOFT_MEMORY_MANAGED;
    return found_there.buffer_id;
}

CUresult soft_racing_start(void)
{
    const soft_beside_options options = {.allocator = soft_allocator(),
                                         .found = found,
                                         .incomplete = incomplete,
                                         .memory_at = memory_at};
    if (!soft_check_wanted().race || soft_racing_check)
        return CUDA_SUCCESS;
    return soft_pass(soft_beside_create(&options, &soft_racing_check, soft_error()));
}

/* ---- order ------------------------------------------------------------------------- */

void soft_racing_after(const soft_stream *stream, soft_point point)
{
    if (soft_racing_check)
        soft_beside_after(soft_racing_check, stream->queue, point);
}

void soft_racing_waited(soft_point point)
{
    if (soft_racing_check)
        soft_beside_waited(soft_racing_check, point);
}

void soft_racing_forget(const soft_context *context)
{
    if (soft_racing_check)
        soft_beside_forget(soft_racing_check, context);
}

/* ---- work of streams --------------------------------------------------------------- */

struct soft_racing_task {
    struct soft_racing_task *next; /* of those that are free */
    soft_race *race;               /* of one node; kept for others */
    soft_unit *unit;               /* NULL: a host function is next */
    soft_who who;
    soft_point before;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static soft_racing_task *spare; /* under the mutex */

static void give_back(soft_racing_task *racing)
{
    pthread_mutex_lock(&mutex);
    racing->next = spare;
    spare = racing;
    pthread_mutex_unlock(&mutex);
}

/* NULL: no memory, and it is not watched. */
static soft_racing_task *take_spare(void)
{
    const uint8_t touches = 1;
    const soft_race_options options = {.node_count = 1,
                                       .touches = &touches,
                                       .keeps_all = true,
                                       .allocator = soft_allocator()};
    pthread_mutex_lock(&mutex);
    soft_racing_task *racing = spare;
    if (racing)
        spare = racing->next;
    pthread_mutex_unlock(&mutex);
    if (racing)
        return racing;
    racing = soft_new(sizeof(*racing));
    if (racing && soft_race_create(&options, &racing->race, NULL) != GPH_OK) {
        soft_delete(racing);
        return NULL;
    }
    return racing;
}

static uint32_t type_of(soft_task_kind kind)
{
    switch (kind) {
    case SOFT_TASK_KERNEL: return CU_GRAPH_NODE_TYPE_KERNEL;
    case SOFT_TASK_COPY: return CU_GRAPH_NODE_TYPE_MEMCPY;
    case SOFT_TASK_FILL: return CU_GRAPH_NODE_TYPE_MEMSET;
    default: return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    }
}

static void run_known(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_racing_task *racing = argument;
    soft_racing_waited(racing->before);
    give_back(racing);
}

/* Before the function runs, since another thread may learn of it. */
static void submit_known(soft_stream *stream)
{
    soft_racing_task *racing = take_spare();
    if (!racing)
        return;
    racing->before = soft_queue_tail(stream->queue);
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = run_known, .argument = racing};
    if (soft_queue_submit(stream->queue, &work, NULL, 0, NULL) != GPH_OK)
        give_back(racing);
}

soft_racing_task *soft_racing_begin(soft_stream *stream, const soft_task *task)
{
    if (!soft_racing_check || task->kind == SOFT_TASK_CALL)
        return NULL;
    if (task->kind == SOFT_TASK_HOST) {
        submit_known(stream);
        return NULL;
    }
    soft_racing_task *racing = take_spare();
    if (!racing)
        return NULL;
    const bool acquires = task->kind == SOFT_TASK_BATCH &&
                          soft_batch_waits(task->u.batch.ops, task->u.batch.count);
    racing->who = (soft_who){
        .place = stream->kind == SOFT_STREAM_CREATED ? (uint64_t)(uintptr_t)stream : 0,
        .context = stream->context,
        .type = type_of(task->kind)};
    racing->unit = soft_unit_begin(soft_racing_check, stream->queue, acquires);
    if (racing->unit)
        return racing;
    give_back(racing);
    return NULL;
}

void soft_racing_watch(soft_racing_task *racing, soft_record *record, soft_task_kind kind)
{
    record->trace = NULL;
    if (racing)
        soft_record_watch(record, kind, soft_race_trace(racing->race, 0));
}

static void run_end(void *argument, soft_worker *worker)
{
    (void)worker;
    soft_racing_task *racing = argument;
    soft_unit_end(racing->unit, racing->race, &racing->who);
    soft_race_forget(racing->race);
    soft_unit_release(racing->unit);
    give_back(racing);
}

void soft_racing_end(soft_racing_task *racing, soft_stream *stream, bool submitted,
                     soft_point *point)
{
    if (!racing)
        return;
    soft_unit *const unit = racing->unit;
    const soft_work work = {.kind = SOFT_WORK_CALL, .run = run_end, .argument = racing};
    soft_point end = {0};
    soft_unit_retain(unit);
    if (!submitted || soft_queue_submit(stream->queue, &work, NULL, 0, &end) != GPH_OK) {
        soft_unit_submitted(unit, (soft_point){0});
        soft_unit_release(unit);
        if (!submitted) /* else it runs, and the driver ends */
            give_back(racing);
    } else {
        *point = end;
        soft_unit_submitted(unit, end);
    }
    soft_unit_release(unit);
}

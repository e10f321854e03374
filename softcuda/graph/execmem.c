// SPDX-License-Identifier: Apache-2.0
/* Memory nodes of executable graphs: what is live is decided in the order of calls on the
 * host, what backs the addresses by softcuda/memory.
 *
 *   begin   refused? (an allocation is live still, or one to be freed is not)
 *           bind the arenas; the stream waits for whom they are shared with
 *   ...     the launch is submitted
 *   end     what the launch leaves is live, what it frees of other graphs is not
 *
 * One lock over begin to end, taken by host threads alone, so that two launches cannot
 * both take what is free. Launches of graphs without memory nodes do not take it. */
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/rules/rules.h"

static pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;

struct soft_exec_memory {
    atomic_uint references; /* the exec's, each launch's */
    soft_graph_user user;
    soft_graph_alloc **foreign; /* freed here, allocated by other graphs */
    uint32_t foreign_count;
    soft_graph_memory *owner; /* the graph's; retained */
};

/* ---- life -------------------------------------------------------------------------- */

static void add_arena(soft_graph_user *user, soft_graph_arena *arena)
{
    for (uint32_t i = 0; i < user->arena_count; i++)
        if (user->arenas[i] == arena)
            return;
    soft_graph_arena_retain(arena);
    user->arenas[user->arena_count++] = arena;
}

static bool is_type(const soft_node *node, CUgraphNodeType type)
{
    return node && node->type == type;
}

static void memory_end(soft_exec_memory *memory);

/* Marks what is freed in these nodes, then sorts: what stays, what is others'. */
static void collect(soft_exec_memory *memory, soft_node *const *nodes, uint32_t count)
{
    static uint64_t last_stamp; /* graph mutex */
    const uint64_t allocated = ++last_stamp, freed = ++last_stamp;
    for (uint32_t i = 0; i < count; i++)
        if (is_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC)) {
            soft_graph_alloc *alloc = soft_memnode_alloc(nodes[i]);
            soft_graph_alloc_marks(alloc)->stamp = allocated;
            add_arena(&memory->user, soft_graph_alloc_arena(alloc));
        }
    for (uint32_t i = 0; i < count; i++) {
        if (!is_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_FREE))
            continue;
        soft_graph_alloc *alloc = soft_memnode_alloc(nodes[i]);
        soft_graph_marks *marks = soft_graph_alloc_marks(alloc);
        if (marks->stamp == allocated || marks->stamp == freed) {
            marks->stamp = freed;
        } else {
            soft_graph_arena_retain(soft_graph_alloc_arena(alloc));
            memory->foreign[memory->foreign_count++] = alloc;
        }
    }
    for (uint32_t i = 0; i < count; i++)
        if (is_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC)) {
            soft_graph_alloc *alloc = soft_memnode_alloc(nodes[i]);
            if (soft_graph_alloc_marks(alloc)->stamp != allocated)
                continue;
            soft_graph_alloc_marks(alloc)->left_unfreed = true;
            memory->user.unfreed[memory->user.unfreed_count++] = alloc;
        }
}

bool soft_exec_memory_is_taken(const soft_graph *graph, const soft_exec_memory *by)
{
    if (!soft_graph_has_memory(graph))
        return false;
    const soft_exec_memory *has = atomic_load(soft_graph_memory_exec(graph->memory));
    return has && has != by;
}

CUresult soft_exec_memory_check(const soft_graph *graph, const soft_exec_memory *by)
{
    if (soft_rule(R32) && soft_exec_memory_is_taken(graph, by))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "the graph has alloc or free nodes and an executable already: "
                         "destroy that one, or update it");
    return CUDA_SUCCESS;
}

void soft_exec_memory_tried(const soft_graph *graph)
{
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        if (node->child)
            soft_exec_memory_tried(node->child);
        if (!is_type(node, CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            continue;
        soft_graph_marks *marks = soft_graph_alloc_marks(soft_memnode_alloc(node));
        marks->left_unfreed |= !marks->freed_inside;
    }
}

static void settle(const soft_exec_memory *memory)
{
    for (uint32_t i = 0; i < memory->user.arena_count; i++)
        soft_graph_arena_settle(memory->user.arenas[i]);
}

CUresult soft_exec_memory_create(soft_graph *graph, soft_node *const *nodes,
                                 uint32_t count, const soft_exec_memory *replaced,
                                 soft_exec_memory **out)
{
    static uint64_t last_id; /* graph mutex */
    *out = NULL;
    if (!soft_graph_has_memory(graph))
        return CUDA_SUCCESS;
    SOFT_TRY(soft_exec_memory_check(graph, replaced));
    size_t allocs = 1, frees = 1;
    for (uint32_t i = 0; i < count; i++) {
        allocs += is_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC);
        frees += is_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_FREE);
    }
    soft_exec_memory *memory = soft_new(sizeof(*memory));
    if (memory) {
        atomic_init(&memory->references, 1);
        /* The launches of one executable follow each other, also after an update. */
        memory->user.id = replaced ? replaced->user.id : ++last_id;
        memory->user.alone = !soft_rule(R53);
        memory->user.whole = soft_rule(M_reserved_whole);
        memory->user.arenas = soft_new(allocs * sizeof(soft_graph_arena *));
        memory->user.unfreed = soft_new(allocs * sizeof(soft_graph_alloc *));
        memory->foreign = soft_new(frees * sizeof(soft_graph_alloc *));
    }
    if (!memory || !memory->user.arenas || !memory->user.unfreed || !memory->foreign) {
        memory_end(memory);
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory for %zu memory nodes",
                         allocs + frees - 2);
    }
    collect(memory, nodes, count);
    settle(memory);
    if (!soft_rule(R54)) { /* memory at once */
        soft_graph_waits waits = {0};
        soft_point busy;
        (void)soft_graph_bind(&memory->user, NULL, &waits, &busy);
        soft_graph_waits_fini(&waits);
    }
    memory->owner = graph->memory;
    soft_graph_memory_retain(memory->owner);
    atomic_store(soft_graph_memory_exec(memory->owner), memory);
    *out = memory;
    return CUDA_SUCCESS;
}

void soft_exec_memory_disown(soft_exec_memory *memory)
{
    soft_exec_memory *mine = memory;
    if (memory && memory->owner)
        (void)atomic_compare_exchange_strong(soft_graph_memory_exec(memory->owner), &mine,
                                             NULL);
}

soft_exec_memory *soft_exec_memory_retain(soft_exec_memory *memory)
{
    if (memory)
        atomic_fetch_add_explicit(&memory->references, 1, memory_order_relaxed);
    return memory;
}

static void memory_end(soft_exec_memory *memory)
{
    if (!memory)
        return;
    soft_exec_memory_disown(memory);
    for (uint32_t i = 0; !soft_rule(R57) && i < memory->user.unfreed_count; i++)
        if (soft_graph_alloc_claim(memory->user.unfreed[i]))
            soft_graph_alloc_freed(memory->user.unfreed[i], (soft_point){0});
    for (uint32_t i = 0; i < memory->user.arena_count; i++)
        soft_graph_arena_release(memory->user.arenas[i]);
    for (uint32_t i = 0; i < memory->foreign_count; i++)
        soft_graph_arena_release(soft_graph_alloc_arena(memory->foreign[i]));
    soft_graph_memory_release(memory->owner);
    soft_delete(memory->user.arenas);
    soft_delete(memory->user.unfreed);
    soft_delete(memory->foreign);
    soft_delete(memory);
}

void soft_exec_memory_release(soft_exec_memory *memory)
{
    /* acq_rel: the last one sees what others did with it. */
    if (memory &&
        atomic_fetch_sub_explicit(&memory->references, 1, memory_order_acq_rel) == 1)
        memory_end(memory);
}

/* ---- launch ------------------------------------------------------------------------ */

static CUresult check_live(const soft_exec_memory *memory, bool auto_free)
{
    if (!soft_rule(R35) || auto_free)
        return CUDA_SUCCESS;
    for (uint32_t i = 0; i < memory->user.unfreed_count; i++)
        if (soft_graph_alloc_is_live(memory->user.unfreed[i]))
            return soft_fail(
                CUDA_ERROR_INVALID_VALUE,
                "the allocation of %llu bytes at 0x%llx that an earlier launch made is "
                "not freed (cuMemFreeAsync frees it; or instantiate with "
                "CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH)",
                (unsigned long long)soft_graph_alloc_bytes(memory->user.unfreed[i]),
                (unsigned long long)soft_graph_alloc_base(memory->user.unfreed[i]));
    return CUDA_SUCCESS;
}

static void keep_foreign(const soft_exec_memory *memory, uint32_t count)
{
    while (count-- > 0)
        soft_graph_alloc_keep(memory->foreign[count]);
}

static CUresult claim_foreign(const soft_exec_memory *memory)
{
    for (uint32_t i = 0; i < memory->foreign_count; i++) {
        soft_graph_alloc *alloc = memory->foreign[i];
        if (soft_graph_alloc_claim(alloc))
            continue;
        if (!soft_rule(M_frees_unallocated))
            continue;
        keep_foreign(memory, i);
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "the graph frees 0x%llx, which no launch has allocated",
                         (unsigned long long)soft_graph_alloc_base(alloc));
    }
    return CUDA_SUCCESS;
}

/* Memory for every arena, and the stream after everyone it is shared with. */
static CUresult bind(const soft_exec_memory *memory, soft_stream *stream)
{
    soft_graph_waits waits = {0};
    soft_point busy;
    soft_graph_bound bound;
    if (!soft_rule(M_no_remap))
        soft_graph_trim(stream->context->device->memory);
    while ((bound = soft_graph_bind(&memory->user, stream->queue, &waits, &busy)) ==
           SOFT_GRAPH_BUSY) {
        soft_graph_waits_fini(&waits);
        soft_point_wait(stream->context->device->engine, busy);
    }
    CUresult result = CUDA_SUCCESS;
    if (bound == SOFT_GRAPH_NO_ROOM)
        result = soft_fail(CUDA_ERROR_OUT_OF_MEMORY,
                           "no physical memory is left for the allocations of the graph");
    for (uint32_t i = 0; i < waits.count && result == CUDA_SUCCESS; i++)
        result = soft_stream_wait_point(stream, waits.points[i]);
    soft_graph_waits_fini(&waits);
    return result;
}

CUresult soft_exec_memory_begin(soft_exec_memory *memory, bool auto_free,
                                soft_stream *stream)
{
    if (!memory)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&launching);
    if (!soft_rule(M_late_nodes))
        settle(memory);
    CUresult result = check_live(memory, auto_free);
    SOFT_THEN(result, claim_foreign(memory));
    if (result == CUDA_SUCCESS) {
        result = bind(memory, stream);
        if (result != CUDA_SUCCESS)
            keep_foreign(memory, memory->foreign_count);
    }
    if (result != CUDA_SUCCESS)
        pthread_mutex_unlock(&launching);
    return result;
}

void soft_exec_memory_end(soft_exec_memory *memory, const soft_point *done)
{
    if (!memory)
        return;
    if (done) {
        soft_graph_launched(&memory->user, *done);
        for (uint32_t i = 0; i < memory->foreign_count; i++)
            if (soft_graph_alloc_is_live(memory->foreign[i]))
                soft_graph_alloc_freed(memory->foreign[i], *done);
    } else {
        keep_foreign(memory, memory->foreign_count);
    }
    pthread_mutex_unlock(&launching);
}

CUresult soft_exec_memory_upload(soft_exec_memory *memory, soft_stream *stream)
{
    if (!memory)
        return CUDA_SUCCESS;
    pthread_mutex_lock(&launching);
    const CUresult result = bind(memory, stream);
    pthread_mutex_unlock(&launching);
    return result;
}

void soft_graph_memory_trim(soft_device *device)
{
    if (!soft_rule(R55))
        return;
    pthread_mutex_lock(&launching);
    soft_graph_trim(device->memory);
    pthread_mutex_unlock(&launching);
}

/* ---- frees outside graphs ------------------------------------------------------- */

static void close_alloc(void *user)
{
    soft_graph_alloc *alloc = user;
    soft_graph_alloc_open(alloc, false);
    soft_graph_arena_release(soft_graph_alloc_arena(alloc));
}

/* After everything in the stream that may use it. */
static CUresult free_in_order(soft_context *context, soft_stream *stream,
                              soft_graph_alloc *alloc)
{
    const soft_task order = {.kind = SOFT_TASK_CALL,
                             .u.call = {.function = close_alloc, .user = alloc}};
    soft_graph_arena_retain(soft_graph_alloc_arena(alloc)); /* the task's */
    const CUresult result =
        soft_stream_submit(context, (CUstream)stream, false, &order, NULL);
    if (result != CUDA_SUCCESS) {
        soft_graph_arena_release(soft_graph_alloc_arena(alloc));
        soft_graph_alloc_keep(alloc);
        return result;
    }
    soft_graph_alloc_freed(alloc, soft_queue_tail(stream->queue));
    return CUDA_SUCCESS;
}

CUresult soft_graph_memory_free(soft_context *context, soft_stream *stream,
                                CUdeviceptr address)
{
    soft_device *device = soft_device_holding(address);
    soft_graph_alloc *alloc;
    if (!device || !soft_rule(R47) ||
        !soft_graph_alloc_find_live(device->memory, address, &alloc))
        return soft_fail(CUDA_ERROR_INVALID_VALUE,
                         "no live allocation of a graph begins at 0x%llx",
                         (unsigned long long)address);
    soft_graph_arena *arena = soft_graph_alloc_arena(alloc);
    CUresult result = CUDA_SUCCESS;
    if (!soft_graph_alloc_claim(alloc)) {
        result = soft_fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is being freed",
                           (unsigned long long)address);
    } else if (stream) {
        result = free_in_order(context, stream, alloc);
    } else {
        soft_graph_alloc_open(alloc, false);
        soft_graph_alloc_freed(alloc, (soft_point){0});
    }
    soft_graph_arena_release(arena);
    return result;
}

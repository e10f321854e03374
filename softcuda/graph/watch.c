// SPDX-License-Identifier: Apache-2.0
/* Findings of the race check as sentences, and with `fatal` as errors of the contexts. */
#include "softcuda/graph/watch.h"

#include <stdio.h>
#include <string.h>

#include "base/map.h"
#include "softcuda/device/alloc.h"
#include "softcuda/device/device.h"
#include "softcuda/device/driver.h"
#include "softcuda/device/racing.h"
#include "softcuda/graph/memnode.h"
#include "softcuda/rules/rules.h"

/* Launches of the program that have not run, in their order. */
struct launch {
    struct launch *next;
    soft_unit *unit; /* NULL: no memory for it */
};

struct soft_watch {
    soft_race *race;
    soft_who *nodes; /* by flat number */
    bool fatal, acquires, flags_host;
    bool is_lost; /* no memory for a launch: which is which is not known any more */
    pthread_mutex_t mutex;
    struct launch *first, *last; /* under the mutex */
    soft_unit *now;              /* of a run that a kernel ordered; or NULL */
};

static bool touches(const soft_node *node)
{
    return node && (node->type == CU_GRAPH_NODE_TYPE_KERNEL ||
                    node->type == CU_GRAPH_NODE_TYPE_MEMCPY ||
                    node->type == CU_GRAPH_NODE_TYPE_MEMSET ||
                    node->type == CU_GRAPH_NODE_TYPE_CONDITIONAL ||
                    node->type == CU_GRAPH_NODE_TYPE_BATCH_MEM_OP);
}

/* ---- lives of the graph's own memory ----------------------------------------------- */

struct lives {
    soft_race_window *list;
    uint32_t count;
    gphi_map by_alloc; /* place in the list */
};

static bool has_type(const soft_node *node, CUgraphNodeType type)
{
    return node && node->type == type;
}

static soft_race_window window_of(const soft_graph_alloc *alloc, uint32_t begins,
                                  uint32_t ends)
{
    return (soft_race_window){soft_graph_alloc_base(alloc), soft_graph_alloc_bytes(alloc),
                              begins, ends};
}

static bool add_lives(struct lives *lives, soft_node *const *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!has_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC))
            continue;
        soft_graph_alloc *alloc = soft_memnode_alloc(nodes[i]);
        if (gphi_map_set(&lives->by_alloc, (uint64_t)(uintptr_t)alloc, lives->count) !=
            GPH_OK)
            return false;
        lives->list[lives->count++] = window_of(alloc, i, SOFT_RACE_NO_NODE);
    }
    for (uint32_t i = 0; i < count; i++) {
        if (!has_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_FREE))
            continue;
        soft_graph_alloc *alloc = soft_memnode_alloc(nodes[i]);
        const uint64_t *at = gphi_map_get(&lives->by_alloc, (uint64_t)(uintptr_t)alloc);
        if (at)
            lives->list[*at].free = i;
        else /* another graph has allocated it */
            lives->list[lives->count++] = window_of(alloc, SOFT_RACE_NO_NODE, i);
    }
    return true;
}

/* The list is to be deleted by the caller. */
static CUresult find_lives(soft_node *const *nodes, uint32_t count, struct lives *lives)
{
    size_t room = 0;
    *lives = (struct lives){.count = 0};
    for (uint32_t i = 0; i < count; i++)
        room += has_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_ALLOC) ||
                has_type(nodes[i], CU_GRAPH_NODE_TYPE_MEM_FREE);
    if (room == 0)
        return CUDA_SUCCESS;
    gphi_map_init(&lives->by_alloc, *soft_allocator());
    lives->list = soft_new(room * sizeof(*lives->list));
    const bool found = lives->list && add_lives(lives, nodes, count);
    gphi_map_fini(&lives->by_alloc);
    if (found)
        return CUDA_SUCCESS;
    soft_delete(lives->list);
    return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to watch %zu memory nodes",
                     room);
}

/* ---- life of the watch ------------------------------------------------------------- */

/* The innermost WHILE node around each node, + 1. */
static CUresult find_loops(const soft_watch_graph *graph, uint32_t **out)
{
    uint32_t *loops = soft_new((graph->node_count + 1ull) * sizeof(*loops));
    SOFT_TRY(soft_made(loops, "no memory to watch %u nodes", graph->node_count));
    for (uint32_t i = 0; i < graph->node_count; i++)
        for (uint32_t body = graph->body_of[i]; body != 0 && loops[i] == 0;) {
            const uint32_t owner = graph->body_owner[body - 1];
            const soft_node *node = graph->nodes[owner];
            if (node->task.u.conditional.type == CU_GRAPH_COND_TYPE_WHILE)
                loops[i] = owner + 1;
            body = graph->body_of[owner];
        }
    *out = loops;
    return CUDA_SUCCESS;
}

static CUresult make_race(const soft_watch_graph *graph, const uint8_t *touching,
                          soft_race **out)
{
    struct lives lives;
    uint32_t *loops;
    SOFT_TRY(find_loops(graph, &loops));
    const CUresult found = find_lives(graph->nodes, graph->node_count, &lives);
    if (found != CUDA_SUCCESS) {
        soft_delete(loops);
        return found;
    }
    const soft_race_options options = {.node_count = graph->node_count,
                                       .window_count = lives.count,
                                       .edges = graph->edges,
                                       .edge_count = graph->edge_count,
                                       .touches = touching,
                                       .windows = lives.list,
                                       .loop_of = loops,
                                       .keeps_all = true,
                                       .allocator = soft_allocator()};
    const gph_status status = soft_race_create(&options, out, soft_error());
    soft_delete(lives.list);
    soft_delete(loops);
    if (status != GPH_E_UNSUPPORTED)
        return soft_pass(status);
    soft_say(CU_LOG_LEVEL_WARNING, "a graph is not checked for races: %s",
             soft_error_text());
    return CUDA_SUCCESS;
}

static void note_node(soft_watch *watch, uint32_t at, const soft_node *node,
                      uint64_t exec)
{
    watch->nodes[at] = (soft_who){
        .node = node->id, .place = exec, .context = node->context, .type = node->type};
    watch->flags_host |= node->type == CU_GRAPH_NODE_TYPE_HOST;
    watch->acquires |= soft_is_batch(node->type) &&
                       soft_batch_waits(node->task.u.batch.ops, node->task.u.batch.count);
}

CUresult soft_watch_create(const soft_watch_graph *graph, soft_watch **out)
{
    const soft_check_mode mode = soft_check_wanted();
    *out = NULL;
    if (!mode.race)
        return CUDA_SUCCESS;
    soft_watch *watch = soft_new(sizeof(*watch));
    uint8_t *touching = soft_new(graph->node_count);
    CUresult result = CUDA_ERROR_OUT_OF_MEMORY;
    if (watch)
        watch->nodes = soft_new(graph->node_count * sizeof(*watch->nodes));
    if (watch && watch->nodes && touching) {
        pthread_mutex_init(&watch->mutex, NULL);
        watch->fatal = mode.fatal;
        for (uint32_t i = 0; i < graph->node_count; i++) {
            const soft_node *node = graph->nodes[i];
            touching[i] = touches(node);
            if (node)
                note_node(watch, i, node, graph->exec);
        }
        result = make_race(graph, touching, &watch->race);
    } else {
        soft_refuse(result, "no memory to watch %u nodes", graph->node_count);
    }
    soft_delete(touching);
    if (result != CUDA_SUCCESS || !watch->race) {
        soft_watch_destroy(watch);
        return result;
    }
    *out = watch;
    return CUDA_SUCCESS;
}

void soft_watch_destroy(soft_watch *watch)
{
    if (!watch)
        return;
    soft_race_destroy(watch->race);
    if (watch->nodes)
        pthread_mutex_destroy(&watch->mutex);
    soft_delete(watch->nodes);
    soft_delete(watch);
}

void soft_watch_record(soft_watch *watch, uint32_t node, soft_task_kind kind,
                       soft_record *record)
{
    if (watch)
        soft_record_watch(record, kind, soft_race_trace(watch->race, node));
}

/* ---- sentences --------------------------------------------------------------------- */

static void describe_side(const soft_watch *watch, const soft_race_side *side, char *text,
                          size_t bytes)
{
    char who[32];
    snprintf(who, sizeof(who), "node %llu",
             (unsigned long long)watch->nodes[side->node].node);
    soft_race_describe(side, watch->nodes[side->node].type, who, text, bytes);
}

/* What a node does to memory whose life does not hold it; the other node's number
 * follows. */
static const char *wrong_life(soft_finding_kind kind)
{
    switch (kind) {
    case SOFT_FINDING_FREE_UNORDERED:
        return "no path of dependencies leads from it to the free of that memory, node";
    case SOFT_FINDING_ALLOC_UNORDERED:
        return "no path of dependencies leads to it from the allocation of that memory, "
               "node";
    case SOFT_FINDING_AFTER_FREE: return "that memory was freed before it, by node";
    default: return "that memory is allocated after it, by node";
    }
}

static void fail(const soft_watch *watch, uint32_t node, const char *text)
{
    soft_context *context = watch->nodes[node].context;
    if (watch->fatal && context)
        soft_context_fail(context, CUDA_ERROR_LAUNCH_FAILED, text);
}

/* "handle race: kernel set (node 7) sets conditional handle 1 and kernel set (node 8) sets it;
 * no path of dependencies orders them" */
static void found_handle(const soft_watch *watch, const soft_finding *finding)
{
    const soft_race_side *sides[] = {&finding->first, &finding->second};
    char text[400], side[2][120];
    for (int i = 0; i < 2; i++) {
        const unsigned long long id = watch->nodes[sides[i]->node].node;
        if (sides[i]->kernel)
            snprintf(side[i], sizeof(side[i]), "kernel %.60s (node %llu) sets",
                     sides[i]->kernel, id);
        else
            snprintf(side[i], sizeof(side[i]), "conditional node (node %llu) reads", id);
    }
    snprintf(text, sizeof(text),
             "handle race: %s conditional handle %llu and %s it; no path of dependencies "
             "orders them",
             side[0], (unsigned long long)(finding->address - SOFT_TRACE_HANDLES) / 4,
             side[1]);
    soft_say(CU_LOG_LEVEL_ERROR, "%s", text);
    fail(watch, finding->first.node, text);
    fail(watch, finding->second.node, text);
}

static void found(void *user, const soft_finding *finding)
{
    const soft_watch *watch = user;
    if (finding->kind == SOFT_FINDING_RACE ? !soft_rule(G_unordered) : !soft_rule(R51))
        return;
    char first[220], second[220], place[200], text[760];
    describe_side(watch, &finding->first, first, sizeof(first));
    if (finding->address >= SOFT_TRACE_HANDLES) {
        found_handle(watch, finding);
        return;
    }
    soft_race_place(finding->address, place, sizeof(place));
    if (finding->kind == SOFT_FINDING_RACE) {
        describe_side(watch, &finding->second, second, sizeof(second));
        snprintf(text, sizeof(text),
                 "race: %s and %s at 0x%llx, %s; no path of dependencies orders them",
                 first, second, (unsigned long long)finding->address, place);
    } else {
        snprintf(text, sizeof(text), "outside of its life: %s at 0x%llx, %s; %s %llu",
                 first, (unsigned long long)finding->address, place,
                 wrong_life(finding->kind),
                 (unsigned long long)watch->nodes[finding->second.node].node);
    }
    soft_say(CU_LOG_LEVEL_ERROR, "%s", text);
    fail(watch, finding->first.node, text);
    fail(watch, finding->second.node, text);
}

static void incomplete(void *user, const char *why)
{
    (void)user;
    soft_say(CU_LOG_LEVEL_WARNING, "races of a graph launch may go unseen: %s", why);
}

/* ---- launches side by side --------------------------------------------------------- */

soft_unit *soft_watch_begin(soft_watch *watch, const soft_queue *queue)
{
    struct launch *launch = watch ? soft_new(sizeof(*launch)) : NULL;
    if (!launch && watch)
        watch->is_lost = true;
    if (!launch)
        return NULL;
    soft_unit *unit = soft_unit_begin(soft_racing(), queue, watch->acquires);
    soft_unit_retain(unit);
    launch->unit = unit;
    pthread_mutex_lock(&watch->mutex);
    if (watch->last)
        watch->last->next = launch;
    else
        watch->first = launch;
    watch->last = launch;
    pthread_mutex_unlock(&watch->mutex);
    return unit;
}

/* The first of the launches, or the one that was begun last. */
static soft_unit *take_launch(soft_watch *watch, bool is_last)
{
    pthread_mutex_lock(&watch->mutex);
    struct launch **link = &watch->first, *before = NULL;
    while (is_last && *link && (*link)->next) {
        before = *link;
        link = &(*link)->next;
    }
    struct launch *launch = *link;
    if (launch) {
        *link = launch->next;
        if (watch->last == launch)
            watch->last = before;
    }
    pthread_mutex_unlock(&watch->mutex);
    soft_unit *unit = launch ? launch->unit : NULL;
    soft_delete(launch);
    return unit;
}

void soft_watch_submitted(soft_watch *watch, soft_unit *unit, soft_point point)
{
    if (!watch)
        return;
    soft_unit_submitted(unit, point);
    if (!point.queue)
        soft_unit_release(take_launch(watch, true));
    else if (watch->flags_host || watch->is_lost)
        soft_racing_waited(point); /* once its functions have run, but when do they? */
    soft_unit_release(unit);
}

soft_unit *soft_watch_unit(soft_watch *watch)
{
    if (!watch)
        return NULL;
    pthread_mutex_lock(&watch->mutex);
    soft_unit *unit = watch->now ? watch->now : watch->first ? watch->first->unit : NULL;
    soft_unit_retain(unit);
    pthread_mutex_unlock(&watch->mutex);
    return unit;
}

soft_unit *soft_watch_launch(soft_watch *watch, const soft_trace *trace, bool is_sibling)
{
    soft_unit *by = trace ? soft_watch_unit(watch) : NULL;
    soft_unit *unit =
        by ? soft_unit_launch(by, watch->race, soft_trace_node(trace), is_sibling) : NULL;
    soft_unit_release(by);
    return unit;
}

void soft_watch_run(soft_watch *watch, soft_unit *unit)
{
    if (!watch)
        return;
    pthread_mutex_lock(&watch->mutex);
    watch->now = unit;
    pthread_mutex_unlock(&watch->mutex);
}

void soft_watch_cancel(soft_watch *watch)
{
    if (!watch)
        return;
    soft_unit_cancel(watch->now);
    soft_watch_run(watch, NULL);
}

void soft_watch_finish(soft_watch *watch)
{
    if (!watch)
        return;
    const soft_race_report report = {watch, found, incomplete};
    soft_unit *const now = watch->now;
    soft_unit *const unit = now ? now : take_launch(watch, false);
    soft_watch_run(watch, NULL);
    if (watch->is_lost)
        soft_unit_cancel(unit);
    else
        soft_unit_end(unit, watch->race, watch->nodes);
    if (!now)
        soft_unit_release(unit);
    soft_race_finish(watch->race, &report);
}

void soft_watch_round(soft_watch *watch, uint32_t node)
{
    const soft_race_report report = {watch, found, incomplete};
    soft_race_round(watch->race, node, &report);
}

// SPDX-License-Identifier: Apache-2.0
/* User objects: counted references with a destructor, which graphs and executable graphs
 * can hold.
 *
 *   object ── user: references of the program   ─┐  destroyed when both are 0, on the
 *          └─ held: of graphs and executables   ─┘  engine's host thread (R108)
 *
 * Executables let go on a worker, when their last launch is over, so the counts have a
 * mutex of their own, with which nothing else is called. */
#include <string.h>

#include "base/vec.h"
#include "softcuda/device/alloc.h"
#include "softcuda/graph/node.h"
#include "softcuda/rules/rules.h"

struct soft_object {
    void *pointer;
    CUhostFn destroy;
    uint64_t user, held;
    soft_object *next; /* of those that wait for their destructor */
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* counts and what is below */
static soft_object *first_dead, *last_dead;
static bool
    destroying; /* the host thread was notified, and has not found the list empty */
static soft_queue *destructors;

SOFT_FINDER(soft_object_find, CUuserObject, soft_object, SOFT_KIND_USER_OBJECT,
            CUDA_ERROR_INVALID_VALUE, "user object, or it was destroyed")

static CUresult make_queue(void)
{
    CUresult result = CUDA_SUCCESS;
    pthread_mutex_lock(&mutex);
    if (!destructors) {
        result = soft_pass(
            soft_queue_create(soft_device_at(0)->engine, 0, &destructors, soft_error()));
    }
    pthread_mutex_unlock(&mutex);
    return result;
}

CUresult soft_object_create(void *pointer, CUhostFn destroy, unsigned count,
                            soft_object **out)
{
    SOFT_TRY(make_queue());
    soft_object *object = soft_new(sizeof(*object));
    SOFT_TRY(soft_made(object, "no memory for a user object"));
    *object = (soft_object){.pointer = pointer, .destroy = destroy, .user = count};
    SOFT_TRY(soft_handle_own(object, SOFT_KIND_USER_OBJECT));
    *out = object;
    return CUDA_SUCCESS;
}

/* ---- the end of an object ---------------------------------------------------------- */

static soft_object *next_dead(void)
{
    pthread_mutex_lock(&mutex);
    soft_object *object = first_dead;
    if (!object)
        destroying = false;
    else
        first_dead = object->next;
    pthread_mutex_unlock(&mutex);
    return object;
}

/* On the host thread: a destructor may not call CUDA. */
static void run_destructors(void *argument, soft_worker *worker)
{
    (void)argument;
    (void)worker;
    soft_thread *self = soft_thread_self();
    for (soft_object *object; (object = next_dead());) {
        self->in_callback = true;
        object->destroy(object->pointer);
        self->in_callback = false;
        soft_delete(object);
    }
}

/* True if the host thread must be woken. Mutex held. */
static bool is_over_locked(soft_object *object)
{
    if (object->user != 0 || object->held != 0)
        return false;
    soft_handle_remove(object, SOFT_KIND_USER_OBJECT);
    object->next = NULL;
    if (!first_dead)
        first_dead = object;
    else
        last_dead->next = object;
    last_dead = object;
    const bool wake = !destroying;
    destroying = true;
    return wake;
}

static void wake_host(bool wake)
{
    const soft_work work = {.kind = SOFT_WORK_HOST, .run = run_destructors};
    if (wake && !soft_rule(R108))
        run_destructors(NULL, NULL);
    else if (wake && soft_queue_submit(destructors, &work, NULL, 0, NULL) == GPH_OK)
        soft_queue_call_host(destructors); /* at exit: none */
}

/* ---- references of the program ----------------------------------------------------- */

CUresult soft_object_retain(soft_object *object, unsigned count)
{
    pthread_mutex_lock(&mutex);
    object->user += count;
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

static CUresult refuse_release(unsigned count, uint64_t has, const char *who)
{
    return soft_fail(CUDA_ERROR_INVALID_VALUE, "%u references to let go of, %s has %llu",
                     count, who, (unsigned long long)has);
}

CUresult soft_object_release(soft_object *object, unsigned count)
{
    bool wake = false;
    pthread_mutex_lock(&mutex);
    const uint64_t has = object->user;
    if (has >= count) {
        object->user -= count;
        wake = is_over_locked(object);
    }
    pthread_mutex_unlock(&mutex);
    if (has < count)
        return refuse_release(count, has, "the program");
    wake_host(wake);
    return CUDA_SUCCESS;
}

/* ---- references of graphs ---------------------------------------------------------- */

static soft_object_hold *find_hold(const soft_object_list *list,
                                   const soft_object *object)
{
    for (uint32_t i = 0; i < list->count; i++)
        if (list->holds[i].object == object)
            return &list->holds[i];
    return NULL;
}

static CUresult reserve(soft_object_list *list, uint32_t more)
{
    soft_object_hold *holds =
        gphi_array_room(*soft_allocator(), list->holds, &list->capacity,
                        (size_t)list->count + more, sizeof(*holds));
    SOFT_TRY(soft_made(holds, "no memory for user objects"));
    list->holds = holds;
    return CUDA_SUCCESS;
}

/* Room is there. */
static void hold_locked(soft_object_list *list, soft_object *object, uint64_t count)
{
    soft_object_hold *hold = find_hold(list, object);
    if (!hold) {
        hold = &list->holds[list->count++];
        *hold = (soft_object_hold){.object = object};
    }
    hold->count += count;
    object->held += count;
}

CUresult soft_graph_retain_object(soft_graph *graph, soft_object *object, unsigned count,
                                  bool move)
{
    SOFT_TRY(reserve(&graph->objects, 1));
    pthread_mutex_lock(&mutex);
    const uint64_t has = object->user;
    const bool enough = !move || has >= count;
    if (enough) {
        hold_locked(&graph->objects, object, count);
        if (move && soft_rule(R105))
            object->user -= count;
    }
    pthread_mutex_unlock(&mutex);
    return enough ? CUDA_SUCCESS : refuse_release(count, has, "the program");
}

CUresult soft_graph_release_object(soft_graph *graph, soft_object *object, unsigned count)
{
    bool wake = false;
    pthread_mutex_lock(&mutex);
    soft_object_hold *hold = find_hold(&graph->objects, object);
    const uint64_t has = hold ? hold->count : 0;
    if (has >= count) {
        hold->count -= count;
        object->held -= count;
        if (hold->count == 0)
            *hold = graph->objects.holds[--graph->objects.count];
        wake = is_over_locked(object);
    }
    pthread_mutex_unlock(&mutex);
    if (has < count)
        return refuse_release(count, has, "the graph");
    wake_host(wake);
    return CUDA_SUCCESS;
}

/* Whether what the graphs in it hold counts, and there are any. */
static bool goes_deeper(const soft_graph *graph, bool deep)
{
    return deep && (graph->has & SOFT_HAS_INNER) && soft_rule(R107);
}

static uint32_t count_holds(const soft_graph *graph, bool deep)
{
    uint32_t count = graph->objects.count;
    const bool inner = goes_deeper(graph, deep);
    for (uint32_t i = 0; inner && i < graph->node_count; i++)
        for (uint32_t k = 0; soft_node_inner(graph->nodes[i], k); k++)
            count += count_holds(soft_node_inner(graph->nodes[i], k), true);
    return count;
}

static void hold_all_locked(soft_object_list *list, const soft_graph *graph, bool deep)
{
    for (uint32_t i = 0; i < graph->objects.count; i++)
        hold_locked(list, graph->objects.holds[i].object, graph->objects.holds[i].count);
    const bool inner = goes_deeper(graph, deep);
    for (uint32_t i = 0; inner && i < graph->node_count; i++)
        for (uint32_t k = 0; soft_node_inner(graph->nodes[i], k); k++)
            hold_all_locked(list, soft_node_inner(graph->nodes[i], k), true);
}

CUresult soft_objects_hold(soft_object_list *list, const soft_graph *graph, bool deep)
{
    const uint32_t more = count_holds(graph, deep);
    if (more == 0 || !soft_rule(R106))
        return CUDA_SUCCESS;
    SOFT_TRY(reserve(list, more));
    pthread_mutex_lock(&mutex);
    hold_all_locked(list, graph, deep);
    pthread_mutex_unlock(&mutex);
    return CUDA_SUCCESS;
}

void soft_objects_drop(soft_object_list *list)
{
    bool wake = false;
    pthread_mutex_lock(&mutex);
    for (uint32_t i = 0; i < list->count; i++) {
        soft_object *object = list->holds[i].object;
        object->held -= list->holds[i].count;
        wake |= is_over_locked(object);
    }
    pthread_mutex_unlock(&mutex);
    soft_delete(list->holds);
    *list = (soft_object_list){0};
    wake_host(wake);
}

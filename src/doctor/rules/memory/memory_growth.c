// SPDX-License-Identifier: Apache-2.0
/* Rule memory.growth. Whatever has a call that makes it and one that destroys it is counted
 * by the place that makes it. Growth is: 16 at least, nine of ten alive at the end, made
 * while the program was at work, until its last quarter, and the older ones not used any
 * more. Neither a start-up that makes a hundred of something, nor a ring that fills. Of
 * events, streams and graphs, which a program makes by the request and nothing need come
 * back to the host, any work between them will do, if they are many. */
#include "doctor/rules/memory/memory_growth.h"
#include "doctor/findings/stacks.h"

#include <inttypes.h>

enum { MADE_MIN = 16, MANY_MIN = 128, LOOK_MAX = 64, WORDS_MAX = 5, PLACES_MAX = 4096 };

typedef enum kind {
    NONE,
    GRAPHS,
    EXECS,
    DEVICE_MEMORY,
    HOST_MEMORY,
    POOLS,
    STREAMS,
    EVENTS,
    MODULES,
    USER_OBJECTS
} kind;

/* How many of a kind: a language may have another measure word for each. */
static const char *const counts[] = {"",
                                     "%llu graphs",
                                     "%llu executable graphs",
                                     "%llu device allocations",
                                     "%llu host allocations",
                                     "%llu memory pools",
                                     "%llu streams",
                                     "%llu events",
                                     "%llu modules",
                                     "%llu user objects"};

typedef struct object {
    uint64_t handle, key;
    uint64_t made, used; /* numbers of calls */
    uint32_t place;
    uint32_t refs; /* of a user object, that are the program's */
    bool is_alive;
} object;

/* A call stack that makes things of one kind. */
typedef struct place {
    kind kind;
    gphi_call first, last;
    gphi_moment moment; /* when the last was made */
    uint64_t made, gone, bytes;
    uint64_t at_work, between; /* made after work that no start-up has; after any work */
} place;

void gphi_growth_init(gphi_rule_run *run)
{
    gphi_growth_state *state = run->state;
    const gph_allocator heap = run->model->heap;
    gphi_map_init(&state->by_key, heap);
    gphi_map_init(&state->by_place, heap);
    gphi_vec_init(&state->objects, heap, sizeof(object));
    gphi_vec_init(&state->places, heap, sizeof(place));
    gphi_vec_init(&state->spare, heap, sizeof(uint64_t));
}

void gphi_growth_fini(gphi_rule_run *run)
{
    gphi_growth_state *state = run->state;
    gphi_map_fini(&state->by_key);
    gphi_map_fini(&state->by_place);
    gphi_vec_fini(&state->objects);
    gphi_vec_fini(&state->places);
    gphi_vec_fini(&state->spare);
}

/* What a call makes, or (*is_end) destroys, and the word that says which. */
static kind kind_of(uint32_t call, uint32_t *word, bool *is_end)
{
    *word = 0;
    *is_end = false;
    switch (call) {
    case GPHI_CALL_cuStreamEndCapture: *word = 1; return GRAPHS;
    case GPHI_CALL_cuGraphCreate:
    case GPHI_CALL_cuGraphClone: return GRAPHS;
    case GPHI_CALL_cuGraphInstantiateWithFlags:
    case GPHI_CALL_cuGraphInstantiateWithParams: return EXECS;
    case GPHI_CALL_cuMemAlloc:
    case GPHI_CALL_cuMemAllocPitch:
    case GPHI_CALL_cuMemAllocManaged:
    case GPHI_CALL_cuMemAllocAsync:
    case GPHI_CALL_cuMemAllocFromPoolAsync: return DEVICE_MEMORY;
    case GPHI_CALL_cuMemAllocHost:
    case GPHI_CALL_cuMemHostAlloc: return HOST_MEMORY;
    case GPHI_CALL_cuMemPoolCreate: return POOLS;
    case GPHI_CALL_cuStreamCreate:
    case GPHI_CALL_cuStreamCreateWithPriority: return STREAMS;
    case GPHI_CALL_cuEventCreate: return EVENTS;
    case GPHI_CALL_cuUserObjectCreate: return USER_OBJECTS;
    case GPHI_CALL_cuModuleLoad:
    case GPHI_CALL_cuModuleLoadData:
    case GPHI_CALL_cuModuleLoadDataEx:
    case GPHI_CALL_cuModuleLoadFatBinary:
    case GPHI_CALL_cuLibraryLoadData:
    case GPHI_CALL_cuLibraryLoadFromFile: return MODULES;
    default: break;
    }
    *is_end = true;
    switch (call) {
    case GPHI_CALL_cuGraphDestroy: return GRAPHS;
    case GPHI_CALL_cuGraphExecDestroy: return EXECS;
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemFreeAsync: return DEVICE_MEMORY;
    case GPHI_CALL_cuMemFreeHost: return HOST_MEMORY;
    case GPHI_CALL_cuMemPoolDestroy: return POOLS;
    case GPHI_CALL_cuStreamDestroy: return STREAMS;
    case GPHI_CALL_cuEventDestroy: return EVENTS;
    case GPHI_CALL_cuModuleUnload:
    case GPHI_CALL_cuLibraryUnload: return MODULES;
    default: return NONE;
    }
}

static object *object_of(const gphi_growth_state *state, uint64_t key)
{
    const uint64_t *index = gphi_map_get(&state->by_key, key);
    return index ? gphi_vec_at(&state->objects, *index) : NULL;
}

/* Handles are addresses of the driver's and differ; memory could have any. */
static uint64_t key_of(kind of, uint64_t handle)
{
    return of == DEVICE_MEMORY || of == HOST_MEMORY ? gphi_hash_word(of, handle) : handle;
}

/* ---- calls ---- */

/* Work between one and the next: a start-up launches and waits as well, once each. */
static bool is_at_work(const gphi_moment *a, const gphi_moment *b)
{
    const uint64_t launches = b->launches - a->launches;
    return launches >= 2 ||
           (launches + b->kernels - a->kernels > 0 && b->reads > a->reads);
}

static bool has_work(const gphi_moment *a, const gphi_moment *b)
{
    return b->launches > a->launches || b->kernels > a->kernels;
}

static place *place_of(gphi_rule_run *run, kind of, const gphi_seen *seen, uint32_t *at)
{
    gphi_growth_state *state = run->state;
    const uint64_t key = gphi_hash_word(of, seen->call.stack);
    const uint64_t *known = gphi_map_get(&state->by_place, key);
    *at = known ? (uint32_t)*known : (uint32_t)state->places.count;
    if (known)
        return gphi_vec_at(&state->places, *known);
    if (state->places.count >= PLACES_MAX ||
        gphi_map_set(&state->by_place, key, state->places.count) != GPH_OK)
        return NULL;
    place *new = gphi_vec_add(&state->places, 1);
    if (new)
        *new = (place){.kind = of, .first = seen->call, .moment = run->history->now};
    else
        gphi_map_remove(&state->by_place, key);
    return new;
}

static uint64_t bytes_of(const gphi_model *model, kind of, uint64_t address)
{
    const gphi_allocation *memory = of == DEVICE_MEMORY || of == HOST_MEMORY
                                        ? gphi_model_memory(model, address, false)
                                        : NULL;
    return memory ? memory->bytes : 0;
}

static void note_made(gphi_rule_run *run, kind of, const gphi_seen *seen, uint64_t handle)
{
    gphi_growth_state *state = run->state;
    const uint64_t key = key_of(of, handle);
    uint32_t index;
    if (object_of(state, key))
        return; /* a capture to a graph that is there; or of one whose end was not seen */
    place *at = place_of(run, of, seen, &index);
    if (!at)
        return;
    uint64_t free = state->objects.count;
    if (state->spare.count > 0)
        free = *(uint64_t *)gphi_vec_at(&state->spare, --state->spare.count);
    else if (!gphi_vec_add(&state->objects, 1)) {
        gphi_short(run);
        return;
    }
    object *new = gphi_vec_at(&state->objects, free);
    *new =
        (object){.handle = handle, .key = key, .made = seen->call.number, .place = index};
    if (of == USER_OBJECTS)
        new->refs = (uint32_t)gphi_event_word(seen->event, 3);
    if (gphi_map_set(&state->by_key, key, free) != GPH_OK) {
        gphi_short(run);
        return;
    }
    new->is_alive = true;
    at->at_work += at->made > 0 && is_at_work(&at->moment, &run->history->now);
    at->between += at->made > 0 && has_work(&at->moment, &run->history->now);
    at->moment = run->history->now;
    at->last = seen->call;
    at->made++;
    at->bytes += bytes_of(run->model, of, handle);
}

/* Handles come again: what has one now is another object. */
static void note_gone(gphi_growth_state *state, kind of, uint64_t handle)
{
    const uint64_t key = key_of(of, handle);
    const uint64_t *index = gphi_map_get(&state->by_key, key);
    if (!index)
        return;
    object *one = gphi_vec_at(&state->objects, *index);
    ((place *)gphi_vec_at(&state->places, one->place))->gone++;
    one->is_alive = false;
    if (gphi_vec_push(&state->spare, index) != GPH_OK)
        one->made = 0; /* its room is lost, no more */
    gphi_map_remove(&state->by_key, key);
}

/* References that a graph takes over go with the graph and what was made of it. */
static void note_references(gphi_growth_state *state, const gphi_seen *seen)
{
    const gphi_event *event = seen->event;
    const bool is_graph = seen->call.call == GPHI_CALL_cuGraphRetainUserObject;
    const uint64_t handle = gphi_event_word(event, is_graph ? 1 : 0);
    const uint32_t count = (uint32_t)gphi_event_word(event, is_graph ? 2 : 1);
    object *one = object_of(state, handle);
    if (!one)
        return;
    if (seen->call.call == GPHI_CALL_cuUserObjectRetain)
        one->refs += count;
    else if (!is_graph || (gphi_event_word(event, 3) & CU_GRAPH_USER_OBJECT_MOVE) != 0)
        one->refs -= count < one->refs ? count : one->refs;
    if (one->refs == 0)
        note_gone(state, USER_OBJECTS, handle);
}

static void note_use(gphi_growth_state *state, const gphi_seen *seen)
{
    for (uint32_t i = 0; i < WORDS_MAX && i < seen->event->word_count; i++) {
        object *one = object_of(state, gphi_event_word(seen->event, i));
        if (one)
            one->used = seen->call.number;
    }
}

static bool is_reference(uint32_t call)
{
    return call == GPHI_CALL_cuUserObjectRetain ||
           call == GPHI_CALL_cuUserObjectRelease ||
           call == GPHI_CALL_cuGraphRetainUserObject;
}

/* All of a context goes with it. */
static bool ends_all(uint32_t call)
{
    return call == GPHI_CALL_cuCtxDestroy || call == GPHI_CALL_cuDevicePrimaryCtxReset ||
           call == GPHI_CALL_cuDevicePrimaryCtxRelease;
}

void gphi_growth_call(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_growth_state *state = run->state;
    uint32_t word;
    bool is_end;
    if (seen->call.result != 0)
        return;
    const kind of = kind_of(seen->call.call, &word, &is_end);
    const uint64_t handle = gphi_event_word(seen->event, word);
    if (is_reference(seen->call.call))
        note_references(state, seen);
    else if (of == NONE && !ends_all(seen->call.call))
        note_use(state, seen);
    /* what a capture allocates is a node of its graph */
    else if (of != NONE && handle && !(of == DEVICE_MEMORY && seen->capture)) {
        if (is_end) {
            note_gone(state, of, handle);
        } else {
            note_use(state, seen);
            note_made(run, of, seen, handle);
        }
    }
}

/* ---- the end ---- */

/* The last call that may have used an allocation. */
static uint64_t memory_used(const gphi_history *history, uint64_t address)
{
    const gphi_allocation *memory = gphi_model_memory(history->model, address, false);
    const gphi_memory_history *one = memory ? gphi_history_memory(history, memory) : NULL;
    uint64_t last = 0;
    if (!memory)
        return UINT64_MAX;
    const gphi_vec *ranges[] = {one ? &one->written : NULL, one ? &one->read : NULL};
    for (int k = 0; k < 2 && one; k++)
        GPHI_EACH (const gphi_range_history, range, ranges[k])
            last = range->last.number > last ? range->last.number : last;
    for (size_t i = 0; one && i < one->pointers.count; i++) {
        const gphi_touch *pointer = gphi_vec_at(&one->pointers, i);
        last = pointer->since > last ? pointer->since : last;
    }
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->last_launch.number > last &&
            gphi_history_touches(history, exec, memory->address, memory->bytes))
            last = exec->last_launch.number;
    }
    return last;
}

/* A graph is in use as long as what was made of it is: to have both does not grow by its
 * own. A pool is by what lies in it. */
static uint64_t last_use(const gphi_history *history, kind of, const object *one)
{
    const gphi_model *model = history->model;
    for (size_t i = 0; of == GRAPHS && i < model->execs.count; i++) {
        const gphi_exec_state *exec = gphi_vec_pointer(&model->execs, i);
        if (exec->is_alive && exec->graph == one->handle &&
            exec->created.number > one->made)
            return UINT64_MAX;
    }
    for (size_t i = 0; of == POOLS && i < model->allocations.count; i++) {
        const gphi_allocation *memory = gphi_vec_pointer(&model->allocations, i);
        if (memory->pool == one->handle && memory->freed.number == 0)
            return UINT64_MAX;
    }
    return of == DEVICE_MEMORY ? memory_used(history, one->handle) : one->used;
}

/* Of the last ones of a place, how many were not used any more when the fourth after each
 * was there. */
static bool are_abandoned(const gphi_rule_run *run, uint32_t index, kind of)
{
    const gphi_growth_state *state = run->state;
    const object *recent[LOOK_MAX + 4];
    uint32_t count = 0, abandoned = 0;
    for (size_t i = state->objects.count; i-- > 0 && count < LOOK_MAX + 4;) {
        const object *one = gphi_vec_at(&state->objects, i);
        if (one->is_alive && one->place == index)
            recent[count++] = one;
    }
    for (uint32_t i = 4; i < count; i++)
        abandoned += last_use(run->history, of, recent[i]) < recent[i - 4]->made;
    return count > 4 && abandoned * 4 >= (count - 4) * 3;
}

/* Those of one class have rules of their own, which say more. */
static bool is_of_one_class(const gphi_rule_run *run, const place *of)
{
    const gphi_history *history = run->history;
    uint64_t class_hash = 0;
    uint32_t same = 0, all = 0;
    for (size_t i = history->execs.count; of->kind == EXECS && i-- > 0;) {
        const gphi_exec_history *exec = gphi_history_exec_at(history, i);
        if (exec->exec->created.stack != of->last.stack)
            continue;
        class_hash = all++ == 0 ? exec->class_hash : class_hash;
        same += exec->class_hash == class_hash;
    }
    return same * 2 > all;
}

/* User objects outlive what they were made for: half as many executables are there. */
static bool are_orphans(const gphi_rule_run *run, const place *of)
{
    uint64_t alive = 0;
    for (size_t i = 0; i < run->model->execs.count; i++)
        alive +=
            ((const gphi_exec_state *)gphi_vec_pointer(&run->model->execs, i))->is_alive;
    return of->kind == USER_OBJECTS && alive * 2 <= of->made;
}

static bool is_growing(const gphi_rule_run *run, const place *of)
{
    const gphi_moment *now = &run->history->now;
    const uint64_t work = now->launches + now->kernels;
    const uint64_t after = work - of->moment.launches - of->moment.kernels;
    const uint64_t least = of->kind == HOST_MEMORY ? 2 * MADE_MIN : MADE_MIN;
    const bool is_cheap = of->kind == EVENTS || of->kind == STREAMS || of->kind == GRAPHS;
    const bool are_many = is_cheap && of->made >= MANY_MIN;
    if (of->kind == EVENTS && gphi_stacks_entered(run->model->stacks, of->last.stack))
        return false; /* libgph has so many for each stream, and uses them again */
    const uint64_t at_work = are_many || are_orphans(run, of) ? of->between : of->at_work;
    return of->made >= least && of->gone * 10 <= of->made &&
           at_work * 4 >= of->made * 3 && after * 4 <= work;
}

void gphi_growth_end(gphi_rule_run *run)
{
    const gphi_growth_state *state = run->state;
    for (size_t i = 0; i < state->places.count; i++) {
        const place *of = gphi_vec_at(&state->places, i);
        if (!is_growing(run, of) || is_of_one_class(run, of) ||
            !are_abandoned(run, (uint32_t)i, of->kind))
            continue;
        gphi_draft *draft = gphi_finding_begin(run, &of->last, of->kind);
        gphi_cause(draft,
                   "%s were made here while the program worked, and %" PRIu64
                   " of them destroyed; the older ones are not used any more%s%s",
                   gphi_say(counts[of->kind], (unsigned long long)of->made), of->gone,
                   of->bytes ? "; together they have " : "",
                   of->bytes ? gphi_say_bytes(of->bytes) : "");
        gphi_evidence_call(draft, &of->first, "the first was made by");
        gphi_evidence_call(draft, &of->last, "the last by");
    }
}

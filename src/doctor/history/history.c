// SPDX-License-Identifier: Apache-2.0
/* The history: executables, and memory as the program uses it outside graphs. */
#include "doctor/history/history.h"
#include "base/clock.h"
#include "base/heap.h"
#include "doctor/history/touch.h"

#include <string.h>

enum { POINTERS_MAX = 64, ARGUMENTS_MAX = 256 };

/* ---- life ---- */

gph_status gphi_history_create(gphi_model *model, gphi_history **out)
{
    gphi_history *history = gphi_heap_alloc(model->heap, sizeof(*history));
    if (!history)
        return GPH_E_NO_MEMORY;
    *history = (gphi_history){.model = model};
    gphi_vec_init(&history->execs, model->heap, sizeof(gphi_exec_history *));
    gphi_vec_init(&history->memories, model->heap, sizeof(gphi_memory_history *));
    gphi_vec_init(&history->graph_memories, model->heap, sizeof(gphi_graph_memory));
    gphi_vec_init(&history->kernels, model->heap, sizeof(gphi_kernel_work));
    gphi_map_init(&history->by_exec, model->heap);
    gphi_map_init(&history->by_memory, model->heap);
    gphi_map_init(&history->edits, model->heap);
    gphi_map_init(&history->off, model->heap);
    *out = history;
    return GPH_OK;
}

void gphi_history_destroy(gphi_history *history)
{
    if (!history)
        return;
    const gph_allocator heap = history->model->heap;
    for (size_t i = 0; i < history->execs.count; i++) {
        gphi_exec_history *one = gphi_history_exec_at(history, i);
        gphi_vec_fini(&one->touches);
        gphi_vec_fini(&one->allocations);
        gphi_heap_free(heap, one, sizeof(*one));
    }
    for (size_t i = 0; i < history->memories.count; i++) {
        gphi_memory_history *one = gphi_vec_pointer(&history->memories, i);
        gphi_vec_fini(&one->written);
        gphi_vec_fini(&one->read);
        gphi_vec_fini(&one->pointers);
        gphi_heap_free(heap, one, sizeof(*one));
    }
    gphi_vec_fini(&history->execs);
    gphi_vec_fini(&history->memories);
    gphi_vec_fini(&history->graph_memories);
    gphi_vec_fini(&history->kernels);
    gphi_map_fini(&history->by_exec);
    gphi_map_fini(&history->by_memory);
    gphi_map_fini(&history->edits);
    gphi_map_fini(&history->off);
    gphi_heap_free(heap, history, sizeof(*history));
}

/* ---- executables ---- */

/* A zeroed object in its list, and found by `key` from now on (where the key had another,
 * that one is of a past life); NULL, and is_short, without memory. */
static void *add_object(gphi_history *history, gphi_vec *list, gphi_map *by_key,
                        const void *key, size_t bytes)
{
    const gph_allocator heap = history->model->heap;
    void *new = gphi_heap_alloc(heap, bytes);
    if (new &&gphi_vec_push(list, &new) == GPH_OK) {
        if (gphi_map_set(by_key, (uintptr_t)key, (uintptr_t) new) == GPH_OK)
            return new;
        list->count--;
    }
    gphi_heap_free(heap, new, bytes);
    history->is_short = true;
    return NULL;
}

static gphi_exec_history *exec_add(gphi_history *history, gphi_exec_state *exec)
{
    gphi_exec_history *new =
        add_object(history, &history->execs, &history->by_exec, exec, sizeof(*new));
    if (!new)
        return NULL;
    new->exec = exec;
    new->created = exec->created.number;
    gphi_vec_init(&new->touches, history->model->heap, sizeof(gphi_touch));
    gphi_vec_init(&new->allocations, history->model->heap, sizeof(gphi_touch));
    return new;
}

gphi_exec_history *gphi_history_exec(const gphi_history *history,
                                     const gphi_exec_state *exec)
{
    gphi_exec_history *one = gphi_map_pointer(&history->by_exec, (uintptr_t)exec);
    return one && one->created == exec->created.number ? one : NULL;
}

/* The executable of a call, with what it holds now. */
static gphi_exec_history *exec_seen(gphi_history *history, gphi_exec_state *exec)
{
    gphi_exec_history *one = gphi_history_exec(history, exec);
    if (!one)
        one = exec_add(history, exec);
    if (!one)
        return NULL;
    const uint64_t number = exec->source ? exec->source->number : 0;
    if (one->source == exec->source && one->source_number == number &&
        one->updated == exec->updated.number)
        return one;
    one->old_shape = one->shape_hash;
    one->old_values = one->values_hash;
    one->source = exec->source;
    one->source_number = number;
    one->updated = exec->updated.number;
    if (!gphi_touches_collect(history, one))
        history->is_short = true;
    return one;
}

static void note_made(gphi_history *history, gphi_exec_history *one,
                      const gphi_seen *seen)
{
    const gphi_exec_state *exec = one->exec;
    const gphi_capture *capture = exec->source ? exec->source->capture : NULL;
    one->made = history->now;
    one->instantiate_ns = seen->call.duration_ns;
    if (capture && capture->end.number != 0)
        one->capture_ns = gphi_span_ns(capture->begin.time_ns, capture->end.time_ns);
}

static void note_launch(gphi_history *history, gphi_exec_history *one,
                        const gphi_seen *seen)
{
    history->launched = one;
    history->before = one->last;
    history->before_work = one->last_work;
    if (one->launches == 0)
        one->first_launch = seen->call;
    one->launches++;
    one->fed += one->is_fed;
    one->is_fed = false;
    one->launch_ns += seen->call.duration_ns;
    one->last = history->now;
    one->last_launch = seen->call;
    one->last_work = seen->work ? seen->work->number : 0;
    history->now.launches++;
    if (history->last_work != 0 && one->last_work != 0 &&
        !gphi_model_ordered(history->model, history->last_work, one->last_work))
        history->launches_overlap = true;
    history->last_work = one->last_work;
    size_t at = 0;
    while (at + 1 < GPHI_RECENT && history->recent[at] && history->recent[at] != one)
        at++;
    for (; at > 0; at--)
        history->recent[at] = history->recent[at - 1];
    history->recent[0] = one;
}

/* ---- memory ---- */

static gphi_memory_history *memory_add(gphi_history *history, gphi_allocation *memory)
{
    const gph_allocator heap = history->model->heap;
    gphi_memory_history *new = add_object(history, &history->memories,
                                          &history->by_memory, memory, sizeof(*new));
    if (!new)
        return NULL;
    new->memory = memory;
    new->number = memory->allocated.number;
    gphi_vec_init(&new->written, heap, sizeof(gphi_range_history));
    gphi_vec_init(&new->read, heap, sizeof(gphi_range_history));
    gphi_vec_init(&new->pointers, heap, sizeof(gphi_touch));
    return new;
}

gphi_memory_history *gphi_history_memory(const gphi_history *history,
                                         const gphi_allocation *memory)
{
    gphi_memory_history *one = gphi_map_pointer(&history->by_memory, (uintptr_t)memory);
    return one && one->number == memory->allocated.number ? one : NULL;
}

static gphi_memory_history *memory_seen(gphi_history *history, gphi_allocation *memory)
{
    gphi_memory_history *one = gphi_history_memory(history, memory);
    return one ? one : memory_add(history, memory);
}

static void note_range(gphi_history *history, uint64_t address, uint64_t bytes,
                       const gphi_seen *seen, bool writes,
                       const gphi_call_ranges *ranges_of)
{
    gphi_allocation *memory =
        bytes != 0 ? gphi_model_memory(history->model, address, false) : NULL;
    gphi_memory_history *one = memory ? memory_seen(history, memory) : NULL;
    if (!one)
        return;
    gphi_vec *ranges = writes ? &one->written : &one->read;
    const uint64_t key[] = {address, address + bytes};
    gphi_range_history *range = gphi_vec_keyed(ranges, key, sizeof(key), GPHI_RANGES_MAX);
    if (!range) {
        one->overflows = true;
        return;
    }
    range->is_fill = (range->is_fill || range->count == 0) && ranges_of->is_fill;
    range->anew += range->count != 0 && history->recent[0] &&
                   history->recent[0]->last_launch.number > range->last.number;
    range->last = seen->call;
    range->count++;
    range->is_from_host = ranges_of->from_host;
}

static void note_pointer(gphi_history *history, const gphi_touch *touch)
{
    gphi_memory_history *one = memory_seen(history, touch->memory);
    if (!one)
        return;
    one->is_cut = one->is_cut || touch->address != touch->memory->address;
    GPHI_EACH (gphi_touch, at, &one->pointers) {
        if (at->address == touch->address && at->function == touch->function &&
            at->arg == touch->arg) {
            at->earlier = at->since;
            at->since = touch->since;
            return;
        }
    }
    if (one->pointers.count >= POINTERS_MAX ||
        gphi_vec_push(&one->pointers, touch) != GPH_OK)
        one->overflows = true;
}

static void keep_kernel(gphi_history *history, uint64_t number, const gphi_touch *touches,
                        uint32_t count)
{
    gphi_kernel_work new = {.work = number};
    for (; new.count < count &&new.count < GPHI_KERNEL_POINTERS; new.count++)
        new.pointers[new.count] = touches[new.count];
    const uint64_t place = history->kernel_count % GPHI_KERNELS_MAX;
    if (place < history->kernels.count)
        *(gphi_kernel_work *)gphi_vec_at(&history->kernels, place) = new;
    else if (gphi_vec_push(&history->kernels, &new) != GPH_OK) {
        history->is_short = true;
        return;
    }
    history->kernel_count++;
}

static void note_kernel(gphi_history *history, const gphi_seen *seen)
{
    enum { LOADED_NS = 50000 }; /* longer: its code was loaded, or the queue was full */
    gphi_touch touches[ARGUMENTS_MAX];
    const uint32_t count =
        gphi_call_pointers(history->model, seen, touches, ARGUMENTS_MAX);
    history->now.kernels++;
    history->now.kernel_ns +=
        seen->call.duration_ns < LOADED_NS ? seen->call.duration_ns : LOADED_NS;
    for (uint32_t i = 0; i < count; i++) {
        touches[i].since = seen->call.number;
        note_pointer(history, &touches[i]);
    }
    keep_kernel(history, seen->work->number, touches, count);
}

/* An allocation that graphs use by addresses inside is cut, too. */
static void note_cuts(gphi_history *history, const gphi_exec_history *exec)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (touch->bytes != 0 || !touch->memory ||
            touch->address == touch->memory->address)
            continue;
        gphi_memory_history *one = memory_seen(history, touch->memory);
        if (one)
            one->is_cut = true;
    }
}

/* What copies have to do with the graphs that were launched last. */
static void note_move(gphi_history *history, const gphi_call_ranges *ranges)
{
    enum { LAST = 4 };
    bool is_met = false;
    for (int i = 0; i < LAST && history->recent[i] && !ranges->is_fill; i++) {
        gphi_exec_history *exec = history->recent[i];
        const bool is_to =
            ranges->write_bytes != 0 &&
            gphi_history_touches(history, exec, ranges->write, ranges->write_bytes);
        exec->is_fed = exec->is_fed || is_to;
        is_met = is_met || is_to ||
                 (ranges->read_bytes != 0 &&
                  gphi_history_touches(history, exec, ranges->read, ranges->read_bytes));
    }
    history->now.moves += is_met;
}

static void note_work(gphi_history *history, const gphi_seen *seen)
{
    gphi_call_ranges ranges;
    if (!seen->work || seen->work->is_captured || seen->call.result != 0)
        return;
    if (gphi_call_is_kernel(seen->call.call)) {
        note_kernel(history, seen);
    } else if (gphi_call_ranges_of(seen, &ranges)) {
        note_range(history, ranges.write, ranges.write_bytes, seen, true, &ranges);
        note_range(history, ranges.read, ranges.read_bytes, seen, false, &ranges);
        history->now.reads += ranges.to_host;
        note_move(history, &ranges);
    }
}

static bool is_free(uint32_t call)
{
    switch (call) {
    case GPHI_CALL_cuMemFree:
    case GPHI_CALL_cuMemFreeAsync:
    case GPHI_CALL_cuMemFreeHost:
    case GPHI_CALL_cuMemHostUnregister:
    case GPHI_CALL_cuMemUnmap:
    case GPHI_CALL_cuMemPoolDestroy:
    case GPHI_CALL_cuIpcCloseMemHandle: return true;
    default: return false;
    }
}

bool gphi_exec_is_alive(const gphi_exec_history *exec)
{
    return exec->destroyed.number == 0 && exec->exec->is_alive &&
           exec->exec->created.number == exec->created;
}

/* Parameters of a node that are set again are of now, not of when it was captured. */
static void note_edit(gphi_history *history, const gphi_seen *seen)
{
    const char *name = gphi_call_name(seen->call.call);
    const bool is_exec = strncmp(name, "cuGraphExec", 11) == 0;
    if (seen->call.result != 0 || strncmp(name, "cuGraph", 7) != 0 ||
        !strstr(name, "SetParams"))
        return;
    const uint64_t word = gphi_event_word(seen->event, is_exec ? 1 : 0);
    const uint64_t node = is_exec ? gphi_exec_node(seen->exec, word) : word;
    const uint64_t key = gphi_edit_key(is_exec ? seen->exec : NULL, node);
    if (gphi_map_set(&history->edits, key, seen->call.number) != GPH_OK)
        history->is_short = true;
}

static void note_switch(gphi_history *history, const gphi_seen *seen)
{
    if (seen->call.call != GPHI_CALL_cuGraphNodeSetEnabled || seen->call.result != 0)
        return;
    const uint64_t key = gphi_edit_key(
        seen->exec, gphi_exec_node(seen->exec, gphi_event_word(seen->event, 1)));
    if (gphi_map_set(&history->off, key, gphi_event_word(seen->event, 2) == 0) != GPH_OK)
        history->is_short = true;
}

bool gphi_touch_is_off(const gphi_history *history, const gphi_exec_history *exec,
                       const gphi_touch *touch)
{
    const gphi_snapshot *source = exec->source;
    if (history->off.count == 0 || !source || !source->handles ||
        touch->node >= source->node_count)
        return false;
    const uint64_t key = gphi_edit_key(exec->exec, source->handles[touch->node]);
    const uint64_t *off = gphi_map_get(&history->off, key);
    return off && *off != 0;
}

/* What a call does with the executable it names. */
static gphi_exec_history *add_exec(gphi_history *history, const gphi_seen *seen,
                                   bool *is_new)
{
    gphi_exec_state *exec = seen->exec;
    gphi_exec_history *known = exec ? gphi_history_exec(history, exec) : NULL;
    if (!exec || seen->call.result != 0)
        return known;
    if (seen->call.call == GPHI_CALL_cuGraphExecDestroy) {
        if (known)
            known->destroyed = seen->call;
        return known;
    }
    const uint64_t number = exec->source ? exec->source->number : 0;
    *is_new = !known || known->source_number != number ||
              known->updated != exec->updated.number;
    gphi_exec_history *one = exec_seen(history, exec);
    if (one && *is_new)
        note_cuts(history, one);
    if (one && gphi_call_is_instantiation(seen->call.call))
        note_made(history, one, seen);
    if (one && gphi_is_launch(seen))
        note_launch(history, one, seen);
    return one;
}

void gphi_history_note(gphi_history *history, const gphi_seen *seen)
{
    history->launched = NULL;
    history->now.time_ns = seen->call.time_ns;
    history->now.number = seen->call.number;
    if (gphi_call_is_wait(seen->call.call) && !seen->capture) {
        history->now.waits++;
        history->now.wait_ns += seen->call.duration_ns;
    }
    history->frees += is_free(seen->call.call);
    history->is_dead = history->is_dead || gphi_is_sticky(seen->call.result);
    note_edit(history, seen);
    note_switch(history, seen);
    bool is_new = false;
    gphi_exec_history *exec = add_exec(history, seen, &is_new);
    gphi_graph_memory_call(history, seen, exec, is_new);
    note_work(history, seen);
}

/* ---- questions ---- */

const gphi_kernel_work *gphi_history_kernel(const gphi_history *history, uint64_t number)
{
    GPHI_EACH (const gphi_kernel_work, one, &history->kernels)
        if (one->work == number)
            return one;
    return NULL;
}

bool gphi_history_uses(const gphi_history *history, const gphi_work *work,
                       uint64_t address, uint64_t bytes)
{
    const gphi_exec_history *exec =
        work->exec ? gphi_history_exec(history, work->exec) : NULL;
    const gphi_kernel_work *kernel =
        work->function != 0 ? gphi_history_kernel(history, work->number) : NULL;
    for (uint32_t i = 0; kernel && i < kernel->count; i++)
        if (kernel->pointers[i].address - address < bytes)
            return true;
    return (exec && gphi_history_touches(history, exec, address, bytes)) ||
           gphi_ranges_meet(address, bytes, work->read, work->read_bytes) ||
           gphi_ranges_meet(address, bytes, work->write, work->write_bytes);
}

uint64_t gphi_history_meets(const gphi_history *history, const gphi_work *writer,
                            const gphi_work *other)
{
    const gphi_exec_history *exec =
        writer->exec ? gphi_history_exec(history, writer->exec) : NULL;
    const gphi_kernel_work *kernel =
        writer->function != 0 ? gphi_history_kernel(history, writer->number) : NULL;
    const gphi_touch *touches = kernel ? kernel->pointers
                                : exec && exec->touches.count > 0
                                    ? gphi_vec_at(&exec->touches, 0)
                                    : NULL;
    const size_t count = kernel ? kernel->count : exec ? exec->touches.count : 0;
    for (size_t i = 0; i < count; i++)
        if (gphi_touch_is_writer(&touches[i]) &&
            !(exec && gphi_touch_is_off(history, exec, &touches[i])) &&
            gphi_history_uses(history, other, touches[i].address,
                              touches[i].bytes != 0 ? touches[i].bytes : 1))
            return touches[i].address;
    return writer->write_bytes != 0 &&
                   gphi_history_uses(history, other, writer->write, writer->write_bytes)
               ? writer->write
               : 0;
}

bool gphi_history_private(const gphi_history *history, const gphi_allocation *memory)
{
    const uint64_t at = memory->allocated.number;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_snapshot *source = gphi_history_exec_at(history, i)->source;
        const gphi_capture *capture = source ? source->capture : NULL;
        if (capture && at > capture->begin.number && at < capture->end.number)
            return true;
    }
    return false;
}

bool gphi_touch_meets(const gphi_history *history, const gphi_touch *touch,
                      uint64_t address, uint64_t bytes)
{
    if (touch->bytes != 0)
        return gphi_ranges_meet(touch->address, touch->bytes, address, bytes);
    if (touch->address - address < bytes)
        return true;
    const gphi_allocation *memory = touch->memory;
    if (!memory || touch->address != memory->address ||
        address - memory->address >= memory->bytes)
        return false;
    const gphi_memory_history *one = gphi_history_memory(history, memory);
    return !one || !one->is_cut;
}

bool gphi_node_leads_to(const gphi_model *model, const gph_graph *graph, uint32_t from,
                        uint32_t to)
{
    const uint32_t count = gph_graph_node_count(graph);
    bool *reached = gphi_heap_array(model->heap, count, sizeof(bool));
    bool is_new = reached != NULL;
    if (is_new)
        reached[from] = true;
    while (is_new) {
        is_new = false;
        for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
            const gph_edge *edge = gph_graph_edge(graph, i);
            if (!reached[edge->from] || reached[edge->to])
                continue;
            is_new = reached[edge->to] = true;
        }
    }
    const bool is_reached = !reached || reached[to];
    gphi_heap_free(model->heap, reached, count * sizeof(bool));
    return is_reached;
}

/* The one allocation that holds the range now, where that says whose it is: memory of
 * graphs and mapped pages come again at their place as others. */
static const gphi_allocation *owner_of(const gphi_history *history, uint64_t address,
                                       uint64_t bytes)
{
    const gphi_allocation *memory = gphi_model_memory(history->model, address, false);
    return !memory || memory->kind == GPHI_MEM_GRAPH || memory->kind == GPHI_MEM_VMM ||
                   address + bytes > memory->address + memory->bytes
               ? NULL
               : memory;
}

/* Whether the graph was not given the allocation. Answers most questions at once; two
 * allocations may share a bit, so each touch is asked as well. */
static bool is_elsewhere(const gphi_exec_history *exec, const gphi_allocation *owner)
{
    const uint32_t bit = owner ? gphi_memory_bit(owner) : 0;
    return owner && (exec->memories[bit / 64] >> bit % 64 & 1) == 0;
}

/* Its memory was freed, and another allocation lies there now. */
static bool is_others(const gphi_touch *touch, const gphi_allocation *owner)
{
    return owner && touch->memory &&
           (touch->memory != owner || touch->memory_number != owner->allocated.number);
}

const gphi_touch *gphi_history_touches(const gphi_history *history,
                                       const gphi_exec_history *exec, uint64_t address,
                                       uint64_t bytes)
{
    const gphi_allocation *owner = owner_of(history, address, bytes);
    if (is_elsewhere(exec, owner))
        return NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (!is_others(touch, owner) && gphi_touch_meets(history, touch, address, bytes))
            return touch;
    return NULL;
}

static bool has_function(const gphi_exec_history *exec, const gphi_touch *pointer)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->bytes == 0 && touch->address == pointer->address &&
            touch->function == pointer->function)
            return true;
    return false;
}

/* What was written before the first launch, and is read again after launch upon launch,
 * is read because it changes. */
static bool is_awaited(const gphi_exec_history *exec, const gphi_memory_history *of,
                       const gphi_range_history *written, uint64_t address,
                       uint64_t bytes)
{
    enum { ANEW_MIN = 2 };
    if (written->last.number >= exec->first_launch.number)
        return false;
    GPHI_EACH (const gphi_range_history, read, &of->read)
        if (read->start == address && read->end == address + bytes &&
            read->anew >= ANEW_MIN)
            return true;
    return false;
}

/* Whether what lies in the range can have come from nobody but the graph's kernels. */
static bool is_own_work(const gphi_history *history, const gphi_exec_history *exec,
                        const gphi_touch *touch, uint64_t address, uint64_t bytes)
{
    const gphi_memory_history *one =
        touch->memory ? gphi_history_memory(history, touch->memory) : NULL;
    if (!one)
        return touch->memory;
    if (one->overflows)
        return false;
    GPHI_EACH (const gphi_range_history, range, &one->written) {
        /* Of a buffer that is filled in pieces, pages of a cache, a kernel that has its
         * base need not work on all. */
        if (!range->is_fill && !is_awaited(exec, one, range, address, bytes) &&
            (address > touch->address ||
             gphi_ranges_meet(range->start, range->end - range->start, address, bytes)))
            return false;
    }
    GPHI_EACH (const gphi_touch, pointer, &one->pointers)
        if (pointer->address == touch->address && !pointer->is_kept &&
            !has_function(exec, pointer))
            return false;
    return true;
}

const gphi_touch *gphi_history_writes(const gphi_history *history,
                                      const gphi_exec_history *exec, uint64_t address,
                                      uint64_t bytes)
{
    const gphi_allocation *owner = owner_of(history, address, bytes);
    if (is_elsewhere(exec, owner))
        return NULL;
    GPHI_EACH (const gphi_touch, touch, &exec->touches) {
        if (touch->reads || touch->is_kept || is_others(touch, owner) ||
            gphi_touch_is_off(history, exec, touch) ||
            !gphi_touch_meets(history, touch, address, bytes))
            continue;
        const bool is_writer =
            gphi_touch_is_writer(touch) && touch->address - address < bytes;
        if (touch->writes || is_writer ||
            is_own_work(history, exec, touch, address, bytes))
            return touch;
    }
    return NULL;
}

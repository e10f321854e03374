// SPDX-License-Identifier: Apache-2.0
/* What runs, or is called, at the same time: two threads with one executable, one
 * executable in two streams, and graphs that share memory. */
#include "doctor/rules/launch/rules_launch.h"

#include <inttypes.h>

enum {
    OVERLAPS_WANTED = 2,   /* once may be by accident, and costs once */
    RANGES_MAX = 256,      /* of a graph */
    BYTES_WORTH = 1 << 20, /* of allocations: less is not worth a word */
};

/* Its place may be another's by now. */
static bool is_there(const gphi_launch_use *use)
{
    return use->exec->is_alive && use->exec->created.number == use->made;
}

/* ---- launch.concurrent-use ---- */

static bool is_change(const gphi_call *call)
{
    return !gphi_call_is_start(call->call);
}

/* Both clocks are read next to the call, so what a lock keeps apart does not meet. */
static bool meet(const gphi_call *a, const gphi_call *b)
{
    return a->time_ns < b->time_ns + b->duration_ns &&
           b->time_ns < a->time_ns + a->duration_ns;
}

/* ---- two threads that set and launch in turn ---- */

static bool is_setter(const gphi_launch_use *use)
{
    return use->node != 0;
}

/* A launch that ran with what another thread had set for a launch of its own:
 *
 *     a: set ............. launch            b: ...... set ............. launch (at hand)
 *
 * Each call may be locked; the pair of them is not. `at`: that launch. False: no such. */
typedef struct turn {
    const gphi_launch_use *set, *other_set, *launch;
} turn;

static bool is_taken_turn(const gphi_launch_uses *uses, const gphi_seen *seen, turn *out)
{
    const gphi_launch_use *use;
    *out = (turn){.set = NULL};
    for (uint32_t i = 0; (use = gphi_launch_at(uses, i)); i++) {
        if (use->exec != seen->exec || use->made != seen->exec->created.number)
            continue;
        const bool is_own = use->call.thread == seen->call.thread;
        const bool is_others =
            out->launch && use->call.thread == out->launch->call.thread;
        if (is_own && !out->set) {
            if (!is_setter(use) || !out->launch)
                return false; /* a launch of its own, or set since */
            out->set = use;
        } else if (!is_own && !out->launch && gphi_call_is_start(use->call.call))
            out->launch = use;
        else if (is_others && (is_setter(use) || gphi_call_is_start(use->call.call))) {
            out->other_set = use;
            return out->set && is_setter(use) && use->node == out->set->node;
        }
    }
    return false;
}

static void look_for_turn(gphi_rule_run *run, const gphi_seen *seen)
{
    turn found;
    if (!gphi_is_launch(seen) || !is_taken_turn(run->state, seen, &found))
        return;
    gphi_draft *draft = gphi_finding_begin(run, &found.launch->call, found.set->node);
    gphi_cause(draft,
               "thread %u launched %s after thread %u had set a node that it had set "
               "before itself: the launch ran with the other thread's parameters",
               (unsigned)found.launch->call.thread, gphi_say_exec(run->model, seen->exec),
               (unsigned)seen->call.thread);
    gphi_evidence_call(draft, &found.other_set->call, "its own parameters were set by");
    gphi_evidence_call(draft, &found.set->call, "the other thread's by");
    gphi_evidence_call(draft, &seen->call, "that one launched it afterwards by");
    gphi_fix(draft, "Keep one lock from the setter to the launch, or give each thread an "
                    "executable of its own.");
}

/* The driver forbids two threads in calls of one executable at once. It does not
 * check. */
void gphi_launch_used(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_uses *uses = run->state;
    const gphi_launch_use *other;
    if (!seen->exec || gphi_call_is_instantiation(seen->call.call) ||
        (seen->call.flags & GPHI_CALL_NESTED) != 0)
        return;
    for (uint32_t i = 0; (other = gphi_launch_at(uses, i)); i++) {
        if (other->exec != seen->exec || other->made != seen->exec->created.number ||
            other->call.thread == seen->call.thread || !meet(&other->call, &seen->call))
            continue;
        const bool swap = is_change(&other->call) && !is_change(&seen->call);
        const gphi_call *first = swap ? &other->call : &seen->call;
        const gphi_call *second = swap ? &seen->call : &other->call;
        gphi_draft *draft = gphi_finding_begin(run, first, second->call);
        gphi_cause(draft, "threads %u and %u were%s in %s%s%s of %s at the same time",
                   (unsigned)first->thread, (unsigned)second->thread,
                   first->call == second->call ? " both" : "",
                   gphi_call_name(first->call),
                   first->call == second->call ? "" : " and ",
                   first->call == second->call ? "" : gphi_call_name(second->call),
                   gphi_say_exec(run->model, seen->exec));
        if (!draft)
            continue;
        gphi_evidence_call(draft, second, "meanwhile, in thread %u",
                           (unsigned)second->thread);
        gphi_evidence_call(draft, &seen->exec->created, "the executable was made by");
    }
    look_for_turn(run, seen);
    gphi_launch_keep(uses, seen);
}

/* ---- launch.same-executable-serialised ---- */

static uint32_t count_wait(gphi_launch_waits *waits, uint64_t made)
{
    for (uint32_t i = 0; i < GPHI_LAUNCH_PAIRS; i++)
        if (waits->waits[i].count > 0 && waits->waits[i].made == made)
            return ++waits->waits[i].count;
    const uint32_t place = waits->next++ % GPHI_LAUNCH_PAIRS;
    waits->waits[place].made = made;
    waits->waits[place].count = 1;
    return 1;
}

/* Where threads share executables one waits now and then; that is what a lock is for. */
static bool is_habit(uint32_t waits, const gphi_exec_state *exec)
{
    return waits >= OVERLAPS_WANTED && (uint64_t)waits * 4 >= exec->launch_count;
}

void gphi_launch_serialised(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_waits *waits = run->state;
    if (!gphi_is_launch(seen) || !seen->work || seen->work->waits_for == 0 ||
        !is_habit(count_wait(waits, seen->exec->created.number), seen->exec))
        return;
    const gphi_work *other = gphi_model_work(run->model, seen->work->waits_for);
    gphi_draft *draft = gphi_finding_begin(run, &seen->call, 0);
    if (!draft)
        return;
    gphi_cause(
        draft,
        "%s was launched into %s while a launch of it in %s was under way: it waited",
        gphi_say_exec(run->model, seen->exec), gphi_say_stream(run->model, seen->stream),
        other ? gphi_say_stream(run->model, other->stream) : "another stream");
    if (other)
        gphi_evidence_call(draft, &other->call, "it waited for the launch by");
    gphi_evidence_call(draft, &seen->exec->created, "the executable was made by");
}

/* ---- launch.aliased-overlap ---- */

struct access {
    gphi_range range;
    bool is_write;
};

/* What copies and fills touch. Memory that the graph allocates itself is another's only
 * by the driver's doing. */
static uint32_t read_accesses(const gph_graph *graph, struct access *out)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < gph_graph_node_count(graph) && count + 2 < RANGES_MAX; i++) {
        const gph_node *node = gph_graph_node(graph, i);
        const gph_memcpy_params *copy = &node->u.memcpy;
        if (node->kind == GPH_NODE_MEMSET)
            out[count++] = (struct access){gphi_fill_range(&node->u.memset), true};
        if (node->kind != GPH_NODE_MEMCPY)
            continue;
        if (copy->dst.memory != GPH_MEMORY_ARRAY)
            out[count++] = (struct access){gphi_copy_range(copy, &copy->dst), true};
        if (copy->src.memory != GPH_MEMORY_ARRAY)
            out[count++] = (struct access){gphi_copy_range(copy, &copy->src), false};
    }
    return count;
}

/* An address that both use and one of them writes; 0: none. */
static uint64_t common_address(const gph_graph *a, const gph_graph *b)
{
    struct access left[RANGES_MAX], right[RANGES_MAX];
    const uint32_t left_count = read_accesses(a, left);
    const uint32_t right_count = read_accesses(b, right);
    for (uint32_t i = 0; i < left_count; i++)
        for (uint32_t k = 0; k < right_count; k++) {
            const gphi_range x = left[i].range, y = right[k].range;
            if ((left[i].is_write || right[k].is_write) &&
                gphi_ranges_meet(x.start, x.bytes, y.start, y.bytes))
                return x.start > y.start ? x.start : y.start;
        }
    return 0;
}

/* A kernel of the executable that is given the address, and that is not switched off. */
static const gphi_touch *kernel_at(const gphi_history *history,
                                   const gphi_exec_history *exec, uint64_t address)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if (touch->bytes == 0 && touch->address == address &&
            !gphi_touch_is_off(history, exec, touch))
            return touch;
    return NULL;
}

/* Small memory may be flags, which are to meet. */
static bool is_worth(const gphi_touch *touch)
{
    enum { FLAGS_MAX = 256 };
    return touch->memory && touch->memory->bytes > FLAGS_MAX &&
           (touch->memory->kind == GPHI_MEM_DEVICE ||
            touch->memory->kind == GPHI_MEM_ASYNC);
}

/* Whether nobody but these two has worked on the memory, fills aside: what it holds then
 * comes from a kernel of one of them. */
static bool is_theirs(const gphi_history *history, const gphi_touch *touch,
                      const gphi_exec_history *a, const gphi_exec_history *b)
{
    if (!is_worth(touch))
        return false;
    const gphi_memory_history *outside = gphi_history_memory(history, touch->memory);
    if (outside && (outside->overflows || outside->pointers.count > 0))
        return false;
    for (size_t i = 0; outside && i < outside->written.count; i++)
        if (!((const gphi_range_history *)gphi_vec_at(&outside->written, i))->is_fill)
            return false;
    for (size_t i = 0; i < history->execs.count; i++) {
        const gphi_exec_history *other = gphi_history_exec_at(history, i);
        if (other != a && other != b &&
            gphi_history_touches(history, other, touch->memory->address,
                                 touch->memory->bytes))
            return false;
    }
    return true;
}

/* What kernels of both are given and one of them has to write; 0: none. Copies and fills
 * of theirs have been looked at before: their direction is known. */
static uint64_t concluded_address(const gphi_rule_run *run, const gphi_exec_state *a,
                                  const gphi_exec_state *b)
{
    const gphi_exec_history *left = gphi_history_exec(run->history, a);
    const gphi_exec_history *right = gphi_history_exec(run->history, b);
    if (!left || !right)
        return 0;
    GPHI_EACH (const gphi_touch, touch, &left->touches)
        if (kernel_at(run->history, left, touch->address) == touch &&
            kernel_at(run->history, right, touch->address) &&
            !(touch->is_kept &&
              kernel_at(run->history, right, touch->address)->is_kept) &&
            is_theirs(run->history, touch, left, right))
            return touch->address;
    return 0;
}

/* A touch of the executable at the address, and not by atomic operations of both. */
static bool is_used_by(const gphi_history *history, const gphi_exec_history *exec,
                       const gphi_touch *writer)
{
    GPHI_EACH (const gphi_touch, touch, &exec->touches)
        if ((touch->bytes == 0 ? touch->address == writer->address
                               : writer->address - touch->address < touch->bytes) &&
            !(writer->is_atomic && touch->is_atomic) &&
            !gphi_touch_is_off(history, exec, touch))
            return true;
    return false;
}

/* What `one` writes by a kernel whose code stores there, or that is given nothing else, and
 * `other` uses as well; 0: nothing. What was allocated in a capture is left to
 * memory.workspace-in-capture. */
static uint64_t only_address(const gphi_history *history, const gphi_exec_history *one,
                             const gphi_exec_history *other)
{
    GPHI_EACH (const gphi_touch, touch, &one->touches)
        if ((touch->is_only || touch->is_written) && is_worth(touch) &&
            !gphi_touch_is_off(history, one, touch) &&
            !gphi_history_private(history, touch->memory) &&
            is_used_by(history, other, touch))
            return touch->address;
    return 0;
}

static uint64_t written_address(const gphi_rule_run *run, const gphi_exec_state *a,
                                const gphi_exec_state *b)
{
    const gphi_exec_history *left = gphi_history_exec(run->history, a);
    const gphi_exec_history *right = gphi_history_exec(run->history, b);
    if (!left || !right)
        return 0;
    const uint64_t address = only_address(run->history, left, right);
    return address != 0 ? address : only_address(run->history, right, left);
}

/* Looked at once for two executables and what they hold; an update makes it again. */
static gphi_launch_pair *pair_of(gphi_launch_overlaps *overlaps, const gphi_exec_state *a,
                                 const gphi_exec_state *b)
{
    const bool swap = a->created.number > b->created.number;
    const gphi_exec_state *one = swap ? b : a, *two = swap ? a : b;
    gphi_launch_pair *pair = NULL;
    for (uint32_t i = 0; i < GPHI_LAUNCH_PAIRS && !pair; i++)
        if (overlaps->pairs[i].holds_a && overlaps->pairs[i].a == one->created.number &&
            overlaps->pairs[i].b == two->created.number)
            pair = &overlaps->pairs[i];
    if (pair && pair->holds_a == one->source && pair->holds_b == two->source)
        return pair;
    if (!pair)
        pair = &overlaps->pairs[overlaps->next_pair++ % GPHI_LAUNCH_PAIRS];
    *pair = (gphi_launch_pair){.a = one->created.number,
                               .b = two->created.number,
                               .holds_a = one->source,
                               .holds_b = two->source,
                               .address =
                                   common_address(one->source->data, two->source->data)};
    return pair;
}

/* At the launch where the pair was first reported, so that a loop is one finding. */
static void tell_overlap(gphi_rule_run *run, const gphi_seen *seen,
                         const gphi_launch_use *other, gphi_launch_pair *pair)
{
    const uint64_t address = pair->address;
    if (pair->reported.number == 0)
        pair->reported = seen->call;
    gphi_draft *draft = gphi_finding_begin(run, &pair->reported, address != 0);
    if (!draft)
        return;
    if (pair->is_written)
        gphi_cause(draft,
                   "kernels of %s and of %s work on %s, and nothing orders their "
                   "launches; one of them writes there",
                   gphi_say_exec(run->model, seen->exec),
                   gphi_say_exec(run->model, other->exec),
                   gphi_say_memory(run->model, address));
    else if (pair->is_concluded)
        gphi_cause(draft,
                   "kernels of %s and of %s work on %s, and nothing orders their "
                   "launches; apart from fills nothing else wrote there, so one of the "
                   "two does, or both only read what it was filled with",
                   gphi_say_exec(run->model, seen->exec),
                   gphi_say_exec(run->model, other->exec),
                   gphi_say_memory(run->model, address));
    else if (address != 0)
        gphi_cause(
            draft,
            "%s and %s both use %s and write it, and nothing orders their launches",
            gphi_say_exec(run->model, seen->exec), gphi_say_exec(run->model, other->exec),
            gphi_say_memory(run->model, address));
    else
        gphi_cause(draft,
                   "%s and %s allocate %" PRIu64 " and %" PRIu64
                   " KiB in the graph and were in flight at the same time: the driver "
                   "could not let them share memory",
                   gphi_say_exec(run->model, seen->exec),
                   gphi_say_exec(run->model, other->exec),
                   gphi_snapshot_allocated(seen->exec->source) >> 10,
                   gphi_snapshot_allocated(other->exec->source) >> 10);
    if (pair->is_concluded || pair->is_written)
        gphi_fix(draft,
                 "Here: record an event after the one launch and let the stream of "
                 "the other wait for it, or give each executable memory of its own.");
    gphi_evidence(draft, "launched into %s", gphi_say_stream(run->model, seen->stream));
    gphi_evidence_call(draft, &other->call, "the other one, into %s, by",
                       gphi_say_stream(run->model, other->stream));
    gphi_evidence_call(draft, &seen->exec->created, "the first was made by");
    gphi_evidence_call(draft, &other->exec->created, "the other one was made by");
}

static bool holds_data(const gphi_exec_state *exec)
{
    return exec->source && exec->source->data;
}

void gphi_launch_overlap(gphi_rule_run *run, const gphi_seen *seen)
{
    gphi_launch_overlaps *overlaps = run->state;
    const gphi_launch_use *other;
    if (!gphi_is_launch(seen) || !seen->work || !holds_data(seen->exec))
        return;
    for (uint32_t i = 0; (other = gphi_launch_at(&overlaps->uses, i)); i++) {
        if (other->exec == seen->exec || other->stream == seen->stream ||
            !is_there(other) || !holds_data(other->exec) ||
            gphi_model_ordered(run->model, other->work, seen->work->number))
            continue;
        gphi_launch_pair *pair = pair_of(overlaps, seen->exec, other->exec);
        const bool both = seen->exec->source->has_memory &&
                          other->exec->source->has_memory &&
                          gphi_snapshot_allocated(seen->exec->source) >= BYTES_WORTH &&
                          gphi_snapshot_allocated(other->exec->source) >= BYTES_WORTH;
        if (++pair->count == 1 && pair->address == 0) {
            pair->address = written_address(run, seen->exec, other->exec);
            pair->is_written = pair->address != 0;
        }
        if (pair->count == OVERLAPS_WANTED && pair->address == 0) {
            pair->address = concluded_address(run, seen->exec, other->exec);
            pair->is_concluded = pair->address != 0;
        }
        if ((pair->address == 0 && !both) ||
            (pair->count < OVERLAPS_WANTED && !pair->is_written))
            continue;
        tell_overlap(run, seen, other, pair);
        break; /* once a launch */
    }
    gphi_launch_keep(&overlaps->uses, seen);
}

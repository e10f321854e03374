// SPDX-License-Identifier: Apache-2.0
/* Rules that look at executables of one class (the same kinds of nodes and kernels in the
 * same order) over time. What a class is reported as:
 *
 *   destroyed after a launch or two               perf.instantiate-per-launch
 *   kept, nearly each of other grids or sizes     cache.shape-explosion
 *   kept, and many alike                          memory.executable-growth
 *
 * The last two only if they came while the program was at work: captures in a row before
 * it begins are what they should be. */
#include "doctor/rules/memory/rules_memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* Of sizes a start-up may record many; of graphs that are alike, one a layer. */
enum { LAUNCHED_MIN = 8, SHAPES_MIN = 16, GROWTH_MIN = 32, PAYS_FROM = 3 };
enum { ENDLESS_SHAPES = 80, ENDLESS_ALIKE = 48 };

typedef struct class_of {
    gphi_vec members; /* of gphi_exec_history *, in order of creation */
    uint64_t hash;
    size_t alive, shapes, short_lived, refused;
    uint64_t launches, nodes, median; /* median: launches of one */
    double cost_ns;                   /* of capture and instantiation, a member */
} class_of;

static gphi_exec_history *member(const class_of *class, size_t index)
{
    return gphi_vec_pointer(&class->members, index);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Those that were gone after a launch or two, when the next but one was made. */
static void count_short_lived(class_of *class)
{
    const size_t count = class->members.count;
    for (size_t i = 0; i < count; i++) {
        const gphi_exec_history *one = member(class, i);
        const uint64_t until = i + 2 < count ? member(class, i + 2)->created : UINT64_MAX;
        class->short_lived += one->destroyed.number != 0 &&
                              one->destroyed.number < until && one->launches >= 1 &&
                              one->launches <= 2;
    }
}

/* Distinct shapes, and the median of launches. */
static bool sort_members(gphi_rule_run *run, class_of *class)
{
    const size_t count = class->members.count;
    gphi_vec numbers;
    gphi_vec_init(&numbers, run->model->heap, sizeof(uint64_t));
    uint64_t *at = gphi_vec_add(&numbers, count);
    if (at) {
        for (size_t i = 0; i < count; i++)
            at[i] = member(class, i)->shape_hash;
        qsort(at, count, sizeof(*at), by_number);
        for (size_t i = 0; i < count; i++)
            class->shapes += i == 0 || at[i] != at[i - 1];
        for (size_t i = 0; i < count; i++)
            at[i] = member(class, i)->launches;
        qsort(at, count, sizeof(*at), by_number);
        class->median = at[count / 2];
    }
    gphi_vec_fini(&numbers);
    return at;
}

static bool was_refused(const gphi_exec_history *one)
{
    return one->exec->created.number == one->created && one->exec->refused.number != 0;
}

/* Alive at the end, or until the program cleaned up: destroyed after its last launch. */
static bool was_kept(const gphi_history *history, const gphi_exec_history *one)
{
    const gphi_exec_history *last = history->recent[0];
    return gphi_exec_is_alive(one) ||
           (last && one->destroyed.number > last->last_launch.number);
}

/* Sums over the executables of the class; false: none, or no memory. */
static bool fill_class(gphi_rule_run *run, const gphi_history *history, class_of *class)
{
    double cost = 0;
    for (size_t i = 0; i < history->execs.count; i++) {
        gphi_exec_history *one = gphi_history_exec_at(history, i);
        if (one->class_hash != class->hash || one->nodes == 0)
            continue;
        if (gphi_vec_push(&class->members, &one) != GPH_OK)
            return false;
        class->alive += was_kept(history, one);
        class->refused += was_refused(one);
        class->launches += one->launches;
        class->nodes += one->nodes;
        cost += (double)(one->capture_ns + one->instantiate_ns);
    }
    if (class->members.count == 0)
        return false;
    class->cost_ns = cost / (double)class->members.count;
    count_short_lived(class);
    return sort_members(run, class);
}

/* Whether the program worked with graphs between one creation and the next: results were
 * copied to the host or elsewhere, or inputs into them, or graphs launched again and again. */
static bool is_interleaved(const class_of *class)
{
    size_t at_work = 0;
    for (size_t i = 1; i < class->members.count; i++) {
        const gphi_moment *a = &member(class, i - 1)->made, *b = &member(class, i)->made;
        at_work +=
            b->launches > a->launches && (b->reads > a->reads || b->moves > a->moves ||
                                          b->launches - a->launches >= 2);
    }
    return at_work * 2 >= class->members.count;
}

/* Launches after which a graph of the class has paid. */
static double pays_from(const gphi_history *history, const class_of *class)
{
    const double count = (double)class->members.count;
    uint64_t launch_ns = 0, kernels = 0;
    for (size_t i = 0; i < class->members.count; i++) {
        launch_ns += member(class, i)->launch_ns;
        kernels += member(class, i)->kernels;
    }
    const double eager = history->now.kernels > 0 ? (double)history->now.kernel_ns /
                                                        (double)history->now.kernels
                                                  : 3000;
    const double launch =
        class->launches > 0 ? (double)launch_ns / (double)class->launches : 0;
    const double saved = (double)kernels / count * eager - launch;
    const double from = saved > 0 ? class->cost_ns / saved : 1e6;
    return from > (double)PAYS_FROM ? from : (double)PAYS_FROM;
}

/* Many, most of them launched too seldom to pay, and little was launched when the last
 * was there: a start-up that records so many sizes goes on to launch them. */
static bool is_endless(const gphi_history *history, const class_of *class, size_t least)
{
    const size_t count = class->members.count;
    return count >= least && (double)class->median < pays_from(history, class) &&
           history->now.launches - member(class, count - 1)->made.launches < count;
}

/* Calls `tell` for each class. A line that makes graphs of many has one finding, which says how
 * many times it was found. */
static void each_class(gphi_rule_run *run,
                       void (*tell)(gphi_rule_run *run, const gphi_history *history,
                                    const class_of *class),
                       size_t least)
{
    const gphi_history *history = run->history;
    gphi_map done;
    gphi_map_init(&done, run->model->heap);
    for (size_t i = 0; history->execs.count >= least && i < history->execs.count; i++) {
        const gphi_exec_history *one = gphi_history_exec_at(history, i);
        if (gphi_map_get(&done, one->class_hash) ||
            gphi_map_set(&done, one->class_hash, 1) != GPH_OK)
            continue;
        class_of class = {.hash = one->class_hash};
        gphi_vec_init(&class.members, run->model->heap, sizeof(gphi_exec_history *));
        if (fill_class(run, history, &class) && class.members.count >= least)
            tell(run, history, &class);
        gphi_vec_fini(&class.members);
    }
    gphi_map_fini(&done);
}

/* Three quarters: a program that goes round a few sizes has not so many. */
static bool has_many_shapes(const class_of *class)
{
    return class->shapes * 4 >= class->members.count * 3;
}

static bool is_short_lived(const class_of *class)
{
    return class->short_lived * 4 >= class->members.count * 3;
}

/* ---- perf.instantiate-per-launch ---- */

static void tell_per_launch(gphi_rule_run *run, const gphi_history *history,
                            const class_of *class)
{
    const size_t count = class->members.count;
    (void)history;
    if (!is_short_lived(class))
        return;
    const gphi_exec_history *last = member(class, count - 1);
    uint64_t instantiate_ns = 0;
    for (size_t i = 0; i < count; i++)
        instantiate_ns += member(class, i)->instantiate_ns;
    gphi_draft *draft = gphi_finding_begin(run, &last->exec->created, 0);
    gphi_cause(draft,
               "%zu executable graphs of the same nodes and kernels (%s) were "
               "instantiated, launched %" PRIu64 " times together, and destroyed",
               count, gphi_say_count(last->nodes, "node"), class->launches);
    if (class->refused * 2 >= count)
        gphi_fix(draft,
                 "Here an update was tried before, and refused, each time: keep an "
                 "executable graph for each of the shapes that come again.");
    gphi_evidence(draft, "an instantiation took %.1f us on average",
                  (double)instantiate_ns * 1e-3 / (double)count);
    gphi_evidence_call(draft, &last->exec->created, "the last one was made by");
    gphi_evidence_call(draft, &last->destroyed, "and destroyed by");
}

void gphi_rule_instantiate_per_launch(gphi_rule_run *run)
{
    each_class(run, tell_per_launch, LAUNCHED_MIN);
}

/* ---- cache.shape-explosion ---- */

static void tell_explosion(gphi_rule_run *run, const gphi_history *history,
                           const class_of *class)
{
    const size_t count = class->members.count;
    const double from = pays_from(history, class);
    if (is_short_lived(class) || !has_many_shapes(class) ||
        (!is_interleaved(class) && !is_endless(history, class, ENDLESS_SHAPES)) ||
        (double)class->median >= from)
        return;
    const gphi_exec_history *last = member(class, count - 1);
    gphi_draft *draft = gphi_finding_begin(run, &last->exec->created, 0);
    gphi_cause(draft,
               "%zu graphs of the same kernels were instantiated for %zu different "
               "sizes; half of them were launched %" PRIu64
               " times or less, and a graph here pays from launch %.0f",
               count, class->shapes, class->median, from);
    gphi_evidence(draft,
                  "%zu of them were kept to the end, %s; %" PRIu64 " launches in all",
                  class->alive, gphi_say_count(class->nodes, "node"), class->launches);
    gphi_evidence(draft, "capture and instantiation took %.1f us on average",
                  class->cost_ns * 1e-3);
    gphi_evidence_call(draft, &last->exec->created, "the last one was made by");
}

void gphi_rule_shape_explosion(gphi_rule_run *run)
{
    each_class(run, tell_explosion, SHAPES_MIN);
}

/* ---- memory.executable-growth ---- */

/* Not launched any more once the fourth one after it was there. */
static size_t count_abandoned(const class_of *class)
{
    size_t abandoned = 0;
    for (size_t i = 0; i + 4 < class->members.count; i++)
        abandoned +=
            member(class, i)->last.launches <= member(class, i + 4)->made.launches;
    return abandoned;
}

/* No call of the driver shows those launches. */
static bool is_launched_by_kernels(const class_of *class)
{
    return (member(class, 0)->exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) !=
           0;
}

/* Kept for nothing: hardly one was launched again when four newer ones were there. */
static void tell_growth(gphi_rule_run *run, const gphi_history *history,
                        const class_of *class)
{
    const size_t count = class->members.count;
    if (class->alive * 10 < count * 9 || has_many_shapes(class) ||
        is_launched_by_kernels(class) ||
        (!is_interleaved(class) && !is_endless(history, class, ENDLESS_ALIKE)) ||
        count_abandoned(class) * 4 < (count - 4) * 3)
        return;
    const gphi_exec_history *last = member(class, count - 1);
    gphi_draft *draft = gphi_finding_begin(run, &last->exec->created, 0);
    gphi_cause(draft,
               "%zu executable graphs of the same kernels, in %s of grids and copies, "
               "were made while the program ran, %zu destroyed; nearly all of them were "
               "never launched again once there were a few newer ones",
               count, gphi_say_count(class->shapes, "size"), count - class->alive);
    gphi_evidence(draft, "%zu were kept to the end, with %s", class->alive,
                  gphi_say_count(class->nodes, "node"));
    gphi_evidence_call(draft, &last->exec->created, "the last one was made by");
    gphi_evidence_call(draft, &member(class, 0)->exec->created, "the first one by");
}

void gphi_rule_executable_growth(gphi_rule_run *run)
{
    each_class(run, tell_growth, GROWTH_MIN);
}

// SPDX-License-Identifier: Apache-2.0
/* gph_plan_addresses(): greedy plans first, then the exact search, down from what greedy
 * reached or up from the bound. */
#include <gph/plan.h>
#include <string.h>

#include "base/clock.h"
#include "base/fail.h"
#include "plan/gaps.h"
#include "plan/placed.h"

#define DEFAULT_LIMIT_S 1.0
#define LIMIT_MAX_S 1e9

struct job {
    gphi_problem problem;
    gphi_plan_clock clock;
    gph_plan_options options;
    uint64_t *offsets, *trial;
    uint64_t height, floor; /* of the best plan; nothing lower is possible */
};

static gph_status start_clock(gphi_plan_clock *clock, const gph_plan_options *o,
                              gph_error *error)
{
    const double limit = o->time_limit_s != 0 ? o->time_limit_s : DEFAULT_LIMIT_S;
    if (!(limit > 0 && limit <= LIMIT_MAX_S))
        return gphi_fail(error, GPH_E_INVALID,
                         "the time limit is %g s, not above 0 and up to %g", limit,
                         LIMIT_MAX_S);
    clock->begin_ns = clock->next_ns = gphi_clock_ns();
    clock->end_ns = clock->begin_ns + (uint64_t)(limit * 1e9);
    clock->step_limit = o->step_limit;
    clock->progress = o->progress;
    clock->user = o->progress_user;
    clock->now.limit_s = limit;
    return GPH_OK;
}

static uint64_t height_of(const gphi_problem *p, const uint64_t *offsets)
{
    uint64_t height = 0;
    for (uint32_t i = 0; i < p->count; i++) {
        const uint64_t top = offsets[i] + p->buffers[i].size;
        height = top > height ? top : height;
    }
    return height;
}

/* Searches a plan within `capacity` until `share` of the time that is left is used. */
static gph_status search_within(struct job *job, uint64_t capacity, double share)
{
    gphi_plan_clock *clock = &job->clock;
    const uint64_t end = clock->end_ns, now = gphi_clock_ns();
    gphi_search_end how;
    if (now < end)
        clock->end_ns = now + (uint64_t)((double)(end - now) * share);
    GPHI_TRY(gphi_plan_search(&job->problem, clock, capacity, job->trial, &how));
    const bool timed_out = clock->over && gphi_clock_ns() >= clock->end_ns;
    clock->end_ns = end;
    if (timed_out && gphi_clock_ns() < end)
        clock->over = false; /* only its share is used up */
    if (how == GPHI_SEARCH_IMPOSSIBLE)
        job->floor = capacity + 1;
    if (how != GPHI_SEARCH_FOUND)
        return GPH_OK;
    memcpy(job->offsets, job->trial, job->problem.count * sizeof(*job->offsets));
    job->height = clock->now.height = height_of(&job->problem, job->trial);
    return GPH_OK;
}

/* The lowest plan that the time allows: at the bound if it is there, else by halving what
 * lies between. A search that ends without an answer counts as a no, for this run. */
static gph_status minimize(struct job *job)
{
    GPHI_TRY(search_within(job, job->floor, 0.5));
    uint64_t no = job->floor - 1;
    if (job->height > job->floor && no < job->problem.bound)
        no = job->problem.bound;
    while (!job->clock.over && job->height > no + 1) {
        const uint64_t before = job->height, middle = no + (job->height - no) / 2;
        GPHI_TRY(search_within(job, middle, 0.3));
        if (job->height == before)
            no = middle;
    }
    return GPH_OK;
}

/* Repairs a plan until `share` of the time that is left is used. */
static gph_status repair_for(struct job *job, double share, uint64_t enough,
                             uint64_t *offsets, uint64_t *height)
{
    gphi_plan_clock *clock = &job->clock;
    const uint64_t end = clock->end_ns, now = gphi_clock_ns();
    if (now < end)
        clock->end_ns = now + (uint64_t)((double)(end - now) * share);
    const gph_status status =
        gphi_plan_repair(&job->problem, clock, enough, offsets, height);
    const uint64_t then = gphi_clock_ns();
    if (then >= clock->end_ns && then < end)
        clock->over = false; /* only its share is used up */
    clock->end_ns = end;
    return status;
}

/* The lowest plan of all orders may be a bad one to repair: what is all but full everywhere
 * leaves no room to put things. So the plan in order of time, in `trial`, has a try, too. */
static gph_status repair(struct job *job, uint64_t enough)
{
    uint64_t height = height_of(&job->problem, job->trial);
    if (height > job->height) {
        GPHI_TRY(repair_for(job, 0.15, enough, job->offsets, &job->height));
        if (job->height > enough)
            GPHI_TRY(repair_for(job, 0.18, enough, job->trial, &height));
        if (height < job->height) {
            memcpy(job->offsets, job->trial, job->problem.count * sizeof(*job->trial));
            job->height = height;
        }
    }
    return repair_for(job, 1, enough, job->offsets, &job->height);
}

static gph_status solve(struct job *job)
{
    const uint64_t wanted = job->options.capacity;
    const uint64_t enough = wanted ? wanted : job->problem.bound;
    const bool exact = gphi_search_suits(&job->problem);
    const bool pinned = job->problem.pinned, repairs = !exact && !pinned;
    gphi_plan_clock *clock = &job->clock;
    const uint64_t end = clock->end_ns;
    if (repairs) /* the ten orders may take all of it */
        clock->end_ns = clock->begin_ns + (end - clock->begin_ns) / 4;
    GPHI_TRY(gphi_plan_greedy(&job->problem, clock, enough, pinned, job->offsets,
                              job->trial, &job->height));
    if (repairs && gphi_clock_ns() >= clock->end_ns)
        clock->over = false; /* only its share is used up */
    const uint64_t half = (end - clock->begin_ns) / 2;
    clock->end_ns = end - (clock->check_ns < half ? clock->check_ns : half);
    if (pinned || job->height <= enough)
        return GPH_OK;
    if (repairs)
        return repair(job, enough);
    return wanted ? search_within(job, wanted, 1) : minimize(job);
}

static gph_status run(struct job *job, const gph_plan_buffer *buffers, size_t count,
                      gph_error *error)
{
    const gph_allocator heap = gphi_heap(job->options.allocator);
    GPHI_TRY(start_clock(&job->clock, &job->options, error));
    GPHI_TRY(gphi_problem_init(&job->problem, buffers, count, job->options.bodies,
                               job->options.body_count, heap, error));
    job->clock.check_ns = gphi_clock_ns() - job->clock.begin_ns;
    const uint64_t wanted = job->options.capacity;
    job->floor = job->clock.now.lower_bound = job->problem.bound;
    if (wanted != 0 && wanted < job->floor)
        return gphi_fail(error, GPH_E_INVALID,
                         "the capacity is %llu bytes, and %llu live at one time",
                         (unsigned long long)wanted, (unsigned long long)job->floor);
    if (count == 0)
        return GPH_OK;
    job->offsets = gphi_heap_array(heap, count, sizeof(uint64_t));
    job->trial = gphi_heap_array(heap, count, sizeof(uint64_t));
    GPHI_TRY(gphi_made(error, job->offsets && job->trial && solve(job) == GPH_OK,
                       "planning %zu buffers", count));
    if (wanted == 0 || job->height <= wanted)
        return GPH_OK;
    if (job->floor > wanted)
        return gphi_fail(error, GPH_E_STATE, "no plan fits %llu bytes: proven",
                         (unsigned long long)wanted);
    return gphi_fail(error, GPH_E_STATE,
                     "no plan within %llu bytes was found in %.3g s; the lowest takes "
                     "%llu, and none takes less than %llu",
                     (unsigned long long)wanted,
                     (double)(gphi_clock_ns() - job->clock.begin_ns) / 1e9,
                     (unsigned long long)job->height, (unsigned long long)job->floor);
}

/* ---- checking ---- */

static gph_status check_place(const gph_plan_buffer *b, size_t at, uint64_t offset,
                              gph_error *error)
{
    if (b->pinned && offset != b->offset)
        return gphi_fail(error, GPH_E_INVALID,
                         "buffer %zu is pinned at %llu and was put at %llu", at,
                         (unsigned long long)b->offset, (unsigned long long)offset);
    if (b->alignment > 1 && offset % b->alignment != 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "buffer %zu is at %llu, not a multiple of its alignment %llu",
                         at, (unsigned long long)offset,
                         (unsigned long long)b->alignment);
    if (offset > UINT64_MAX - b->size)
        return gphi_fail(error, GPH_E_INVALID, "buffer %zu at %llu ends beyond 2^64", at,
                         (unsigned long long)offset);
    return GPH_OK;
}

struct check {
    const gphi_problem *problem;
    const uint64_t *offsets;
    uint32_t clash; /* what could not be taken */
};

static bool take(void *user, gphi_gaps *gaps, uint32_t buffer)
{
    struct check *c = user;
    c->clash = buffer;
    return gphi_gaps_take(gaps, c->offsets[buffer], c->problem->buffers[buffer].size);
}

/* Names both: the walk knows only that one of those that live lies there. */
static gph_status fail_clash(const struct check *c, gph_error *error)
{
    const gphi_problem *p = c->problem;
    const uint32_t clash = c->clash;
    const uint64_t begin = c->offsets[clash], end = begin + p->buffers[clash].size;
    uint32_t i = 0;
    for (; i < p->count; i++)
        if (gphi_plan_meet(p, i, clash) && c->offsets[i] < end &&
            begin < c->offsets[i] + p->buffers[i].size)
            break;
    const uint32_t low = i < clash ? i : clash, high = i < clash ? clash : i;
    return gphi_fail(error, GPH_E_INVALID,
                     "buffers %u and %u live at the same time and overlap, at offsets "
                     "%llu and %llu",
                     low, high, (unsigned long long)c->offsets[low],
                     (unsigned long long)c->offsets[high]);
}

/* Where cases share memory: each buffer beside those it may not overlap. */
static gph_status check_beside(struct check *c)
{
    const gphi_problem *p = c->problem;
    gphi_placed placed;
    gph_status status = gphi_placed_init(&placed, p);
    for (uint32_t i = 0; i < p->count && status == GPH_OK; i++) {
        const uint64_t begin = c->offsets[i], end = begin + p->buffers[i].size;
        c->clash = i;
        gphi_placed_meet(&placed, i);
        for (uint32_t k = 0; k < placed.found_count; k++) {
            const uint32_t other = placed.found[k].buffer;
            if (c->offsets[other] < end &&
                begin < c->offsets[other] + p->buffers[other].size)
                status = GPH_E_INVALID;
        }
        gphi_placed_add(&placed, i, begin);
    }
    gphi_placed_fini(&placed);
    return status;
}

static gph_status check_all(const gphi_problem *p, const uint64_t *offsets,
                            uint64_t *height, gph_error *error)
{
    struct check c = {.problem = p, .offsets = offsets};
    for (uint32_t i = 0; i < p->count; i++) {
        GPHI_TRY(check_place(&p->buffers[i], i, offsets[i], error));
        const uint64_t end = offsets[i] + p->buffers[i].size;
        *height = end > *height ? end : *height;
    }
    const gph_status status = p->bodies.has_choice
                                  ? check_beside(&c)
                                  : gphi_gaps_walk(p, offsets, 0, true, take, &c);
    if (status == GPH_E_INVALID)
        return fail_clash(&c, error);
    return status == GPH_OK ? GPH_OK
                            : gphi_fail(error, status, "checking %u buffers", p->count);
}

static gph_status check_plan(const gph_plan_buffer *buffers, size_t count,
                             const gph_plan_body *bodies, size_t body_count,
                             const uint64_t *offsets, gph_allocator heap,
                             uint64_t *height, gph_error *error)
{
    gphi_problem problem;
    if (count == 0)
        return GPH_OK;
    gph_status status =
        gphi_problem_init(&problem, buffers, count, bodies, body_count, heap, error);
    GPHI_THEN(status, check_all(&problem, offsets, height, error));
    gphi_problem_fini(&problem);
    return status;
}

gph_status gph_plan_check(const gph_plan_buffer *buffers, size_t count,
                          const uint64_t *offsets, uint64_t *height, gph_error *error)
{
    return gph_plan_check_bodies(buffers, count, NULL, 0, offsets, height, error);
}

gph_status gph_plan_check_bodies(const gph_plan_buffer *buffers, size_t count,
                                 const gph_plan_body *bodies, size_t body_count,
                                 const uint64_t *offsets, uint64_t *height,
                                 gph_error *error)
{
    uint64_t most = 0;
    GPHI_TRY(gphi_need_named(error, __func__, buffers || count == 0, "buffers"));
    GPHI_TRY(gphi_need_named(error, __func__, offsets || count == 0, "offsets"));
    GPHI_TRY(gphi_need_named(error, __func__, bodies || body_count == 0, "bodies"));
    GPHI_TRY(check_plan(buffers, count, bodies, body_count, offsets, gphi_heap(NULL),
                        &most, error));
    if (height)
        *height = most;
    return GPH_OK;
}

/* ---- planning, whole ---- */

gph_status gph_plan_addresses(const gph_plan_buffer *buffers, size_t count,
                              const gph_plan_options *options, uint64_t *offsets,
                              gph_plan_result *result, gph_error *error)
{
    struct job job = {.options = GPH_PLAN_OPTIONS_INIT};
    GPHI_TRY(gphi_options_read(&job.options, sizeof(job.options), "gph_plan_options",
                               options, error));
    GPHI_TRY(gphi_need_named(error, __func__, buffers || count == 0, "buffers"));
    GPHI_TRY(gphi_need_named(error, __func__, offsets || count == 0, "offsets"));
    GPHI_TRY(gphi_need_named(error, __func__,
                             job.options.bodies || job.options.body_count == 0,
                             "options.bodies"));
    const gph_allocator heap = gphi_heap(job.options.allocator);
    gph_status status = run(&job, buffers, count, error);
    if (status == GPH_OK && count != 0)
        status = check_plan(buffers, count, job.options.bodies, job.options.body_count,
                            job.offsets, heap, &job.height, error);
    if (status == GPH_OK && count != 0)
        memcpy(offsets, job.offsets, count * sizeof(*offsets));
    if (status == GPH_OK && result) {
        const gph_plan_result full = {
            .height = job.height,
            .lower_bound = job.problem.bound,
            .steps = job.clock.steps,
            .elapsed_s = (double)(gphi_clock_ns() - job.clock.begin_ns) / 1e9,
            .optimal = job.height <= job.floor};
        gphi_struct_write(result, &full, sizeof(full));
    }
    gphi_heap_free(heap, job.offsets, count * sizeof(uint64_t));
    gphi_heap_free(heap, job.trial, count * sizeof(uint64_t));
    gphi_problem_fini(&job.problem);
    return status;
}

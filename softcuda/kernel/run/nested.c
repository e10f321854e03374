// SPDX-License-Identifier: Apache-2.0
/* What kernels have launched, run when their grid is over. */
#include "softcuda/kernel/run/nested.h"

#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "softcuda/kernel/run/env.h"

static soft_nested_item *take_first(soft_nested_list *list)
{
    soft_nested_item *item = list->first;
    if (!item)
        return NULL;
    list->first = item->next;
    if (!list->first)
        list->end = &list->first;
    return item;
}

/* All of `from`, before what is in `to`. */
static void put_before(soft_nested_list *to, soft_nested_list *from)
{
    if (!from->first)
        return;
    *from->end = to->first;
    if (!to->first)
        to->end = from->end;
    to->first = from->first;
    soft_nested_list_init(from);
}

/* ---- running ----------------------------------------------------------------------- */

/* A fault outside any kernel ends the context all the same. */
static void fail(const soft_kernel_launch *parent, gph_status code, uint64_t address,
                 const char *what)
{
    soft_kernel_env *env = parent->env;
    soft_fault fault = {.code = code,
                        .kernel = parent->code->kernel->name,
                        .address = address,
                        .node = parent->node};
    snprintf(fault.text, sizeof(fault.text), "kernel %.100s: what it has launched: %s",
             fault.kernel, what);
    if (!atomic_exchange(&env->dead, true) && env->options.on_fault)
        env->options.on_fault(env->options.user, &fault);
}

static bool prepare_kernel(soft_nested_item *item, const soft_kernel_launch *parent)
{
    soft_kernel_launch *launch = &item->launch;
    gph_error error = {0};
    const uint32_t depth = launch->depth;
    gph_status status = soft_kernel_ready(item->code, &error);
    if (status == GPH_OK)
        status = soft_kernel_launch_init(launch, parent->env, item->code, &item->dims,
                                         item->params, &error);
    if (status != GPH_OK) {
        fail(parent, status, 0, error.message);
        return false;
    }
    launch->depth = depth & 0x7fff;
    launch->is_nested = 1;
    launch->node = parent->node;
    launch->trace = parent->trace;
    launch->conditions = parent->conditions;
    launch->processors = parent->processors;
    return true;
}

static void run_copy(void *argument, soft_worker *worker)
{
    (void)worker;
    const soft_nested_item *item = argument;
    const soft_kernel_env_options *options = &item->parent->env->options;
    uint64_t lost = 0;
    char text[160];
    if (soft_kernel_env_is_dead(item->parent->env) ||
        options->nested->copy(options->user, &item->copy, item->parent->trace, &lost))
        return;
    snprintf(
        text, sizeof(text), "a %s of %llu bytes: illegal address 0x%llx",
        item->copy.fills ? "memset" : "memcpy",
        (unsigned long long)(item->copy.width * item->copy.height * item->copy.depth),
        (unsigned long long)lost);
    fail(item->parent, SOFT_ERROR_ILLEGAL_ADDRESS, lost, text);
}

/* What the engine is to do; nothing after a fault, and for what only orders others. */
static soft_work work_of(soft_nested_item *item, const soft_kernel_launch *parent,
                         soft_nested_list *tails)
{
    soft_work work = {.kind = SOFT_WORK_EMPTY};
    item->parent = parent;
    if (soft_kernel_env_is_dead(parent->env))
        return work;
    if (item->kind == SOFT_NESTED_COPY)
        return (soft_work){.kind = SOFT_WORK_CALL, .run = run_copy, .argument = item};
    if (item->kind != SOFT_NESTED_KERNEL || !prepare_kernel(item, parent))
        return work;
    item->tails = tails;
    soft_kernel_launch_work(&item->launch, &work);
    work.cost_ns = item->cost_ns;
    return work;
}

static void run_here(const soft_work *work, soft_worker *worker)
{
    soft_parts parts = {.have = work->parts, .total = work->parts};
    if (work->kind == SOFT_WORK_CALL)
        work->run(work->argument, worker);
    else if (work->kind == SOFT_WORK_PARTS)
        work->run_parts(work->argument, &parts, worker);
}

/* ---- on a team --------------------------------------------------------------------- */

/* Streams are given lanes, as many as there are workers: a stream stays in one, and
 * what is in one runs in the order in which it was launched. So no wait is for a later one. */
enum { LANES_MAX = 16, IN_FLIGHT_MAX = 256 /* far fewer than a queue has places */ };

typedef struct team {
    soft_worker *worker;
    uint32_t count, next;
    soft_queue *lanes[LANES_MAX];
    uint32_t submitted[LANES_MAX];
} team;

static void team_close(team *t)
{
    while (t->count > 0)
        soft_queue_release(t->lanes[--t->count]);
}

/* False: there is nobody to share the work with. */
static bool team_open(team *t, soft_worker *worker)
{
    *t = (team){.worker = worker};
    const uint32_t most = worker ? soft_worker_team(worker) : 1;
    while (most > 1 && t->count < most && t->count < LANES_MAX &&
           soft_worker_queue(worker, &t->lanes[t->count]) == GPH_OK)
        t->count++;
    return t->count > 0;
}

static void team_wait(const team *t)
{
    for (uint32_t i = 0; i < t->count; i++)
        soft_worker_await(t->worker, soft_queue_tail(t->lanes[i]));
}

static uint32_t lane_of(team *t, const soft_nested_item *item)
{
    if (item->stream == 0)
        return (uint32_t)(item->block % t->count);
    if (item->stream == SOFT_NESTED_FORGET)
        return t->next++ % t->count;
    return (uint32_t)((item->stream >> 4) % t->count);
}

static void team_submit(team *t, uint32_t lane, const soft_work *work,
                        const soft_point *after)
{
    if (++t->submitted[lane] % IN_FLIGHT_MAX == 0)
        soft_worker_await(t->worker, soft_queue_tail(t->lanes[lane]));
    gphi_ignore(soft_queue_submit(t->lanes[lane], work, after, after ? 1 : 0, NULL),
                "an engine does not end while work runs");
}

static void team_run(team *t, soft_nested *nested, const soft_kernel_launch *launch)
{
    for (soft_nested_item *item = nested->items.first; item; item = item->next) {
        soft_nested_object *event = gphi_vec_at(&nested->objects, item->event);
        const uint32_t lane = lane_of(t, item);
        const soft_work work = work_of(item, launch, NULL);
        if (item->kind == SOFT_NESTED_RECORD)
            event->point = soft_queue_tail(t->lanes[lane]);
        else if (item->kind != SOFT_NESTED_WAIT)
            team_submit(t, lane, &work, NULL);
        else if (!soft_point_reached(event->point))
            team_submit(t, lane, &work, &event->point);
    }
    team_wait(t);
}

/* ---- all of it --------------------------------------------------------------------- */

static bool is_small(const soft_nested_item *item)
{
    return item->kind != SOFT_NESTED_KERNEL || item->launch.part_count == 1;
}

static void run_items(soft_nested *nested, const soft_kernel_launch *launch,
                      soft_worker *worker)
{
    team t;
    const soft_nested_item *first = nested->items.first;
    if (first && (first->next || !is_small(first)) && team_open(&t, worker)) {
        team_run(&t, nested, launch);
        team_close(&t);
        return;
    }
    for (soft_nested_item *item = nested->items.first; item; item = item->next) {
        const soft_work work = work_of(item, launch, NULL);
        run_here(&work, worker);
    }
}

/* What tails have launched into their own tail comes before older tails; they are run from
 * here, so that a chain of them needs no stack. */
static void run_tails(soft_nested_list *tails, const soft_kernel_launch *parent,
                      soft_worker *worker)
{
    soft_nested_item *item;
    team t;
    while ((item = take_first(tails)) != NULL) {
        const soft_work work = work_of(item, parent, tails);
        if (!is_small(item) && team_open(&t, worker)) {
            team_submit(&t, 0, &work, NULL);
            team_wait(&t);
            team_close(&t);
        } else {
            run_here(&work, worker);
        }
        soft_nested_item_free(parent->env, item);
    }
}

/* Where its own tails go, if it is a tail. */
static soft_nested_list *tails_of(soft_kernel_launch *launch)
{
    if (!launch->is_nested)
        return NULL;
    char *at = (char *)launch - offsetof(soft_nested_item, launch);
    return ((soft_nested_item *)(void *)at)->tails;
}

void soft_nested_finish(soft_kernel_launch *launch, soft_worker *worker)
{
    soft_nested *nested = atomic_load_explicit(&launch->nested, memory_order_acquire);
    if (!nested)
        return;
    atomic_store_explicit(&launch->nested, NULL, memory_order_relaxed);
    run_items(nested, launch, worker);
    soft_nested_list *older = tails_of(launch);
    if (older)
        put_before(older, &nested->tails);
    else
        run_tails(&nested->tails, launch, worker);
    soft_nested_destroy(launch->env, nested);
}

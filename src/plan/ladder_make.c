// SPDX-License-Identifier: Apache-2.0
/* The usual ladders. */
#include <gph/plan_ladder.h>

#include "base/fail.h"

#define RUNGS_MAX ((size_t)1 << 20)

/* Rungs as they come, in rising order; those that have no room are only counted. */
struct rungs {
    uint64_t *items;
    size_t room, count;
};

static void put(struct rungs *r, uint64_t rung)
{
    if (r->count < r->room)
        r->items[r->count] = rung;
    r->count++;
}

/* The rung after `at` in a ladder as vLLM has it (its cudagraph_capture_sizes). */
static uint64_t next_of_serving(uint64_t at)
{
    if (at < 4)
        return at < 2 ? at + 1 : 4;
    return at < 256 ? (at / 8 + 1) * 8 : (at / 16 + 1) * 16;
}

static uint64_t next_of(const gph_plan_ladder_rule *rule, uint64_t at)
{
    uint64_t next = at;
    switch (rule->kind) {
    case GPH_PLAN_LADDER_POWERS:
        for (next = 1; next <= at && next != 0;)
            next *= 2;
        break;
    case GPH_PLAN_LADDER_LINEAR: next = at + rule->step; break;
    default: next = next_of_serving(at); break;
    }
    return next > at && next < rule->to ? next : rule->to; /* also if it overflowed */
}

static gph_status check_rule(const gph_plan_ladder_rule *rule, gph_error *error)
{
    if (rule->reserved != 0)
        return gphi_fail(error, GPH_E_INVALID, "the ladder's reserved is %u, not 0",
                         rule->reserved);
    if (rule->kind > GPH_PLAN_LADDER_LIST)
        return gphi_fail(error, GPH_E_INVALID, "no kind of ladder is numbered %u",
                         rule->kind);
    if (rule->kind == GPH_PLAN_LADDER_LIST) {
        if (!rule->list || rule->list_count == 0 || rule->list_count > RUNGS_MAX)
            return gphi_fail(error, GPH_E_INVALID, "the ladder's list has %zu sizes%s",
                             rule->list_count, !rule->list ? ", and is NULL" : "");
        for (size_t i = 0; i < rule->list_count; i++)
            if (rule->list[i] <= (i > 0 ? rule->list[i - 1] : 0))
                return gphi_fail(error, GPH_E_INVALID,
                                 "the ladder's list has %llu after %llu: it must rise",
                                 (unsigned long long)rule->list[i],
                                 (unsigned long long)(i > 0 ? rule->list[i - 1] : 0));
        return GPH_OK;
    }
    if (rule->from == 0 || rule->to < rule->from)
        return gphi_fail(error, GPH_E_INVALID, "a ladder from %llu to %llu",
                         (unsigned long long)rule->from, (unsigned long long)rule->to);
    if (rule->kind == GPH_PLAN_LADDER_LINEAR && rule->step == 0)
        return gphi_fail(error, GPH_E_INVALID,
                         "a linear ladder from %llu to %llu with step 0",
                         (unsigned long long)rule->from, (unsigned long long)rule->to);
    return GPH_OK;
}

/* The lowest rung. */
static uint64_t first_of(const gph_plan_ladder_rule *rule)
{
    const uint64_t before = rule->from - 1;
    if (rule->kind != GPH_PLAN_LADDER_SERVING)
        return rule->from;
    return next_of(rule, before);
}

static void walk(const gph_plan_ladder_rule *rule, struct rungs *r)
{
    uint64_t at = first_of(rule);
    put(r, at);
    while (at < rule->to && r->count <= RUNGS_MAX) {
        at = next_of(rule, at);
        put(r, at);
    }
}

static void copy(const gph_plan_ladder_rule *rule, struct rungs *r)
{
    for (size_t i = 0; i < rule->list_count; i++)
        put(r, rule->list[i]);
}

gph_status gph_plan_ladder_make(const gph_plan_ladder_rule *rule, uint64_t *rungs,
                                size_t room, size_t *count, gph_error *error)
{
    GPHI_TRY(gphi_need(error, rule));
    GPHI_TRY(gphi_need_named(error, __func__, rungs || room == 0, "rungs"));
    GPHI_TRY(check_rule(rule, error));
    void (*const each)(const gph_plan_ladder_rule *, struct rungs *) =
        rule->kind == GPH_PLAN_LADDER_LIST ? copy : walk;
    struct rungs all = {NULL, 0, 0}; /* counts first: a failure changes nothing */
    each(rule, &all);
    if (all.count > RUNGS_MAX)
        return gphi_fail(error, GPH_E_INVALID, "a ladder of more than %zu rungs",
                         RUNGS_MAX);
    if (rungs && all.count > room)
        return gphi_fail(error, GPH_E_INVALID,
                         "the ladder has %zu rungs, room is for %zu", all.count, room);
    struct rungs kept = {rungs, room, 0};
    each(rule, &kept);
    if (count)
        *count = all.count;
    return GPH_OK;
}

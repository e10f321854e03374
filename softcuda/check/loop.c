// SPDX-License-Identifier: Apache-2.0
/* Loops: what a node touches is kept by round, for each loop around it. A trace is of the round
 * that runs; when that is over it is compared with those of the same round, and then added to
 * the outer trace, which is of the round of the loop around, and in the end of the launch. */
#include "base/fail.h"
#include "base/heap.h"
#include "softcuda/check/touched.h"

gph_status soft_race_set_loops(struct soft_race *race, const soft_race_options *o,
                               gph_error *error)
{
    if (!o->loop_of)
        return GPH_OK;
    race->loop_of = gphi_heap_array(race->heap, o->node_count + 1ull, sizeof(uint32_t));
    race->depth = gphi_heap_array(race->heap, o->node_count + 1ull, sizeof(uint32_t));
    GPHI_TRY(gphi_made(error, race->loop_of && race->depth, "the loops of %u nodes",
                       o->node_count));
    for (uint32_t i = 0; i < o->node_count; i++) {
        race->loop_of[i] = o->loop_of[i];
        for (uint32_t loop = o->loop_of[i]; loop != 0; loop = o->loop_of[loop - 1])
            race->depth[i]++;
    }
    return GPH_OK;
}

uint32_t soft_race_common_loop(const struct soft_race *race, uint32_t a, uint32_t b)
{
    if (!race->loop_of)
        return 0;
    uint32_t one = race->loop_of[a], other = race->loop_of[b];
    while (one != other) {
        uint32_t *deeper =
            one != 0 && (other == 0 || race->depth[one - 1] >= race->depth[other - 1])
                ? &one
                : &other;
        *deeper = race->loop_of[*deeper - 1];
    }
    return one;
}

soft_trace *soft_race_trace_in(const struct soft_race *race, uint32_t node, uint32_t loop)
{
    soft_trace *trace = race->traces[node];
    uint32_t at = race->loop_of ? race->loop_of[node] : 0;
    while (trace && at != loop && at != 0) {
        trace = trace->outer;
        at = race->loop_of[at - 1];
    }
    return at == loop ? trace : NULL;
}

void soft_race_round(soft_race *race, uint32_t loop, const soft_race_report *report)
{
    pthread_mutex_lock(&race->reporting);
    soft_race_tell(race, loop + 1, report);
    for (uint32_t i = 0; i < race->order.node_count; i++) {
        soft_trace *trace = soft_race_trace_in(race, i, loop + 1);
        if (trace)
            soft_trace_merge(trace);
    }
    pthread_mutex_unlock(&race->reporting);
}

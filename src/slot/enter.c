// SPDX-License-Identifier: Apache-2.0
/* Graphs that get the kernels of PULL slots after they were captured. */
#include "base/fail.h"
#include "replay/ahead.h"
#include "slot/slots.h"

gph_status gph_slots_enter(gph_slots *slots, CUgraph graph, gph_error *error)
{
    GPHI_TRY(gphi_need(error, slots, graph));
    if (slots->node_count > 0)
        return gphi_fail(error, GPH_E_STATE,
                         "the feed is in a graph already: gph_slots_leave() first");
    if (slots->word_count == 0)
        return GPH_OK;
    struct gphi_feed_room room;
    const uint32_t kernels = gphi_ring_kernels(slots, &room);
    const gph_status status = gphi_put_ahead(slots->runtime, graph, room.params, kernels,
                                             slots->nodes, &slots->node_count, error);
    if (status != GPH_OK)
        gphi_ignore(gph_slots_leave(slots, NULL), "the first failure counts");
    return status;
}

/* A node that the driver keeps counts as being there. */
gph_status gph_slots_leave(gph_slots *slots, gph_error *error)
{
    GPHI_TRY(gphi_need(error, slots));
    for (; slots->node_count > 0; slots->node_count--)
        GPHI_TRY(gphi_slots_check(
            slots->runtime->cu.cuGraphDestroyNode(slots->nodes[slots->node_count - 1]),
            "cuGraphDestroyNode", error));
    return GPH_OK;
}

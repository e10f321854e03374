// SPDX-License-Identifier: Apache-2.0
/* Control flow of recordings, and conditional nodes by handle: a driver says neither what kind they are nor what bodies
 * they have, so whoever describes a graph asks here.
 *
 *   all -> recording {flows: node, bodies} -> recording {...} -> NULL
 *
 * A list is enough: few recordings have control flow, and describing is not on the way of
 * a launch. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/thread.h"
#include "replay/flow.h"

/* ---- what is kept ---- */

gph_status gphi_flow_init(gphi_flow *flow, gph_allocator heap, uint32_t count)
{
    flow->bodies = gphi_heap_array(heap, count, sizeof(*flow->bodies));
    flow->graphs = gphi_heap_array(heap, count, sizeof(*flow->graphs));
    if (!flow->bodies || !flow->graphs) {
        gphi_heap_free(heap, flow->bodies, count * sizeof(*flow->bodies));
        gphi_heap_free(heap, flow->graphs, count * sizeof(*flow->graphs));
        return GPH_E_NO_MEMORY;
    }
    for (uint32_t i = 0; i < count; i++)
        gphi_vec_init(&flow->bodies[i].regions, heap, sizeof(uint32_t));
    flow->count = count;
    return GPH_OK;
}

void gphi_flow_fini(gphi_flow *flow, gph_allocator heap)
{
    for (uint32_t i = 0; i < flow->count; i++)
        gphi_vec_fini(&flow->bodies[i].regions);
    gphi_heap_free(heap, flow->bodies, flow->count * sizeof(*flow->bodies));
    gphi_heap_free(heap, flow->graphs, flow->count * sizeof(*flow->graphs));
    gphi_heap_text_free(heap, flow->reason);
}

uint32_t gph_recording_flow_count(const gph_recording *recording)
{
    return recording ? (uint32_t)recording->flows.count : 0;
}

uint32_t gphi_flow_largest(const gphi_flow *flow)
{
    uint32_t largest = 0;
    for (uint32_t i = 0; i < flow->count; i++)
        largest = flow->bodies[i].count > largest ? flow->bodies[i].count : largest;
    return largest;
}

const char *gphi_flow_region(const gph_recording *recording, const gphi_flow *flow)
{
    const gphi_region *regions = recording->regions.items;
    return flow->region > 0 ? regions[flow->region - 1].path : NULL;
}

gph_status gph_recording_flow(const gph_recording *recording, uint32_t index,
                              gph_flow *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, recording, out));
    if (index >= recording->flows.count)
        return gphi_fail(error, GPH_E_INVALID,
                         "flow %u: the recording has %zu, counting from 0",
                         (unsigned)index, recording->flows.count);
    const gphi_flow *flow = gphi_flow_at(recording, index);
    const gph_flow full = {.kind = flow->kind,
                           .way = flow->way,
                           .body_count = flow->count,
                           .largest = gphi_flow_largest(flow),
                           .depth = flow->depth,
                           .region = gphi_flow_region(recording, flow),
                           .reason = flow->reason,
                           .bodies = flow->graphs};
    gphi_struct_write(out, &full, sizeof(full));
    return GPH_OK;
}

/* ---- by handle ---- */

static gphi_mutex all_mutex = GPHI_MUTEX_INIT;
static gph_recording *all; /* under all_mutex, as next_flowing of each */

void gphi_flow_list_add(gph_recording *recording)
{
    gphi_mutex_lock(&all_mutex);
    if (!recording->is_listed) {
        recording->next_flowing = all;
        all = recording;
        recording->is_listed = true;
    }
    gphi_mutex_unlock(&all_mutex);
}

void gphi_flow_list_remove(gph_recording *recording)
{
    gphi_mutex_lock(&all_mutex);
    gph_recording **at = &all;
    while (*at && *at != recording)
        at = &(*at)->next_flowing;
    if (*at)
        *at = recording->next_flowing;
    recording->is_listed = false;
    gphi_mutex_unlock(&all_mutex);
}

/* Of IF nodes that stand for another form each has one body. */
static bool look_into(const gph_recording *recording, CUgraphNode node,
                      gphi_conditional *out)
{
    GPHI_EACH (const gphi_flow, flow, &recording->flows) {
        const bool has_all = flow->way == GPH_FLOW_NODE;
        for (uint32_t i = 0; i < (has_all ? 1 : flow->count); i++) {
            if (flow->bodies[i].node != node)
                continue;
            out->form =
                has_all ? (uint32_t)flow->kind + GPH_FORM_IF : (uint32_t)GPH_FORM_IF;
            out->count = has_all ? flow->count : 1;
            out->graphs = flow->graphs + i;
            out->user = flow->bodies + i;
            out->recording = recording;
            return true;
        }
    }
    return false;
}

bool gphi_conditional_find(CUgraphNode node, gphi_conditional *out)
{
    bool is_found = false;
    gphi_mutex_lock(&all_mutex);
    for (const gph_recording *at = all; at && !is_found && node; at = at->next_flowing)
        is_found = look_into(at, node, out);
    gphi_mutex_unlock(&all_mutex);
    return is_found;
}

const char *gphi_conditional_region(const gphi_conditional *of, uint32_t body,
                                    size_t index)
{
    const gphi_flow_body *bodies = of->user;
    const gphi_segment segment = {.regions = bodies[body].regions};
    return gphi_segment_region(of->recording, &segment, index);
}

gph_recording *gphi_conditional_retain(CUgraph graph)
{
    gphi_mutex_lock(&all_mutex);
    gph_recording *at = all;
    while (at && at->built != graph)
        at = at->next_flowing;
    if (at) /* relaxed: who holds one already lets nobody be the last */
        atomic_fetch_add_explicit(&at->owners, 1, memory_order_relaxed);
    gphi_mutex_unlock(&all_mutex);
    return at;
}

/* A flow may be several nodes, of which the first is set by the caller's kernel. */
bool gphi_conditional_is_set_by(const gphi_conditional *of, CUgraphNode node)
{
    GPHI_EACH (const gphi_flow, flow, &of->recording->flows)
        if (flow->bodies == of->user)
            return node && (node == flow->set[0] || node == flow->set[1]);
    return false;
}

uint64_t gphi_conditional_handle(const gphi_conditional *of)
{
    return ((const gphi_flow_body *)of->user)->handle;
}

CUgraph gphi_flow_body_graph(CUgraphNode node, uint32_t body)
{
    gphi_conditional found;
    return gphi_conditional_find(node, &found) && body < found.count ? found.graphs[body]
                                                                     : NULL;
}

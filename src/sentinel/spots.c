// SPDX-License-Identifier: Apache-2.0
/* Which nodes get a sentinel. */
#include "sentinel/spots.h"
#include "base/fail.h"
#include "base/heap.h"

#include <string.h>

enum { WITHOUT_REGIONS = 16 };

struct job {
    const gph_graph *graph;
    const gphi_topology *topology;
    uint32_t *order;
    uint32_t *since;  /* by node: nodes on a way to it since the last sentinel, at most */
    uint8_t *is_last; /* by node: what follows it is of another region */
};

static const char *region_of(const struct job *job, uint32_t node)
{
    const char *name = gph_graph_node(job->graph, node)->name;
    return name ? name : "";
}

/* False: no node has a region. */
static bool find_borders(struct job *job)
{
    const gphi_topology *topology = job->topology;
    bool has_regions = false;
    for (uint32_t i = 0; i < topology->count; i++) {
        has_regions |= region_of(job, i)[0] != '\0';
        for (uint32_t k = topology->first[i]; k < topology->first[i + 1]; k++)
            if (strcmp(region_of(job, topology->deps[k]), region_of(job, i)) != 0)
                job->is_last[topology->deps[k]] = 1;
    }
    return has_regions;
}

static void find_every(struct job *job, uint32_t every)
{
    const gphi_topology *topology = job->topology;
    for (uint32_t place = 0; place < topology->count; place++) {
        const uint32_t i = job->order[place];
        for (uint32_t k = topology->first[i]; k < topology->first[i + 1]; k++) {
            const uint32_t before = job->since[topology->deps[k]];
            job->since[i] = before > job->since[i] ? before : job->since[i];
        }
        job->is_last[i] = ++job->since[i] >= every;
        if (job->is_last[i])
            job->since[i] = 0;
    }
}

/* A driver pairs the ends of two graphs at an update by when they became ends, so that an
 * end which had a sentinel meanwhile would be another: only where there is one of them
 * that does not matter. */
static void see_ends(struct job *job)
{
    const gphi_topology *topology = job->topology;
    for (uint32_t i = 0; i < topology->sink_count; i++)
        job->is_last[topology->sinks[i]] = topology->sink_count == 1;
}

gph_status gphi_spots_find(const gph_graph *graph, const gphi_topology *topology,
                           uint32_t every, gphi_vec *out, gph_error *error)
{
    const size_t count = topology->count, bytes = count * (2 * sizeof(uint32_t) + 1) + 1;
    struct job job = {.graph = graph, .topology = topology};
    job.order = gphi_heap_alloc(topology->heap, bytes);
    GPHI_TRY(gphi_made(error, job.order, "placing sentinels"));
    job.since = job.order + count;
    job.is_last = (uint8_t *)(job.since + count);
    gph_status status = gph_graph_order(graph, job.order, error);
    if (status == GPH_OK) {
        if (every > 0 || !find_borders(&job))
            find_every(&job, every > 0 ? every : WITHOUT_REGIONS);
        see_ends(&job);
    }
    for (uint32_t i = 0; i < count && status == GPH_OK; i++)
        if (job.is_last[i] && gphi_vec_push(out, &i) != GPH_OK)
            status = gphi_fail(error, GPH_E_NO_MEMORY, "placing sentinels");
    gphi_heap_free(topology->heap, job.order, bytes);
    return status;
}

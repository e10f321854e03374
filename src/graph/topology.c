// SPDX-License-Identifier: Apache-2.0
/* Dependencies by node, and pairing. */
#include "graph/topology.h"
#include "base/heap.h"
#include "graph/graph.h"

#include <string.h>

static size_t words_of(const gphi_topology *topology)
{
    return 2 * (size_t)topology->count + 1 + topology->edges;
}

static size_t bytes_of(const gphi_topology *topology)
{
    return words_of(topology) * sizeof(uint32_t) + topology->edges;
}

static void fill(gphi_topology *topology, const gph_edge *edges)
{
    uint32_t *first = topology->first;
    uint8_t *has_dependents = (uint8_t *)(topology->sinks); /* a byte a node, at first */
    for (uint32_t i = 0; i < topology->edges; i++)
        first[edges[i].to + 1]++;
    for (uint32_t i = 0; i < topology->count; i++)
        first[i + 1] += first[i];
    /* Filling moves each start to its end, which is the next one's start. */
    for (uint32_t i = 0; i < topology->edges; i++) {
        const gph_edge *edge = &edges[i];
        const uint32_t at = first[edge->to]++;
        topology->deps[at] = edge->from;
        topology->data[at] = (uint8_t)(edge->type << 4 | edge->from_port);
        has_dependents[edge->from] = 1;
    }
    for (uint32_t i = topology->count; i-- > 0;)
        first[i + 1] = first[i];
    first[0] = 0;
}

/* The marks lie in the array that is filled, so they are read ahead of the writes: from
 * the end, into the end, then to the front. */
static void find_sinks(gphi_topology *topology)
{
    const uint8_t *has_dependents = (const uint8_t *)topology->sinks;
    uint32_t *end = topology->sinks + topology->count;
    for (uint32_t i = topology->count; i-- > 0;)
        if (has_dependents[i] == 0)
            *--end = i;
    topology->sink_count = (uint32_t)(topology->sinks + topology->count - end);
    memmove(topology->sinks, end, topology->sink_count * sizeof(*end));
}

gph_status gphi_topology_init(gphi_topology *topology, const gph_graph *graph)
{
    *topology = (gphi_topology){.heap = graph->heap, .graph = graph};
    if (graph->edges.count >= UINT32_MAX)
        return GPH_E_NO_MEMORY;
    topology->count = (uint32_t)graph->nodes.count;
    topology->edges = (uint32_t)graph->edges.count;
    topology->first = gphi_heap_alloc(topology->heap, bytes_of(topology));
    if (!topology->first)
        return GPH_E_NO_MEMORY;
    topology->deps = topology->first + topology->count + 1;
    topology->sinks = topology->deps + topology->edges;
    topology->data = (uint8_t *)(topology->sinks + topology->count);
    fill(topology, graph->edges.items);
    find_sinks(topology);
    return GPH_OK;
}

void gphi_topology_fini(gphi_topology *topology)
{
    if (topology->first)
        gphi_heap_free(topology->heap, topology->first, bytes_of(topology));
    *topology = (gphi_topology){0};
}

bool gphi_topology_same(const gphi_topology *a, const gphi_topology *b)
{
    /* What follows the sinks in their array is not a difference, and follows from the
     * rest. */
    return a->count == b->count && a->edges == b->edges &&
           memcmp(a->first, b->first,
                  ((size_t)a->count + 1 + a->edges) * sizeof(*a->first)) == 0 &&
           (a->edges == 0 || memcmp(a->data, b->data, a->edges) == 0);
}

/* ---- pairing ---- */

static gph_status refuse(gphi_pairing *pairing, gphi_mismatch what, uint32_t a,
                         uint32_t b, uint32_t from)
{
    pairing->mismatch = what;
    pairing->node_a = a;
    pairing->node_b = b;
    pairing->from_b = from;
    return GPH_OK;
}

static bool join(gphi_pairing *pairing, uint32_t *queue, uint32_t *tail, uint32_t a,
                 uint32_t b)
{
    if (pairing->partner[a] == b)
        return true;
    if (pairing->partner[a] != GPH_NODE_NONE || pairing->back[b] != GPH_NODE_NONE)
        return false;
    pairing->partner[a] = b;
    pairing->back[b] = a;
    queue[(*tail)++] = a;
    return true;
}

/* The pair (a, its partner); false where something does not fit. */
static bool look_at(gphi_pairing *pairing, uint32_t *queue, uint32_t *tail, uint32_t a)
{
    const gphi_topology *left = pairing->a, *right = pairing->b;
    const uint32_t b = pairing->partner[a];
    const uint32_t count = right->first[b + 1] - right->first[b];
    if (left->first[a + 1] - left->first[a] != count) {
        refuse(pairing, GPHI_MISMATCH_DEGREE, a, b, GPH_NODE_NONE);
        return false;
    }
    if (pairing->visit && !pairing->visit(pairing->user, pairing, a, b)) {
        refuse(pairing, GPHI_MISMATCH_VISIT, a, b, GPH_NODE_NONE);
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        const uint32_t i = left->first[a] + k, j = right->first[b] + k;
        if ((left->data[i] == right->data[j] || pairing->any_data) &&
            join(pairing, queue, tail, left->deps[i], right->deps[j]))
            continue;
        refuse(pairing, GPHI_MISMATCH_DEPENDENCY, a, b, right->deps[j]);
        return false;
    }
    return true;
}

static void run(gphi_pairing *pairing, uint32_t *queue)
{
    const gphi_topology *a = pairing->a, *b = pairing->b;
    uint32_t head = 0, tail = 0;
    if (a->sink_count != b->sink_count) {
        /* The lists are laid beside each other by their ends. */
        const uint32_t node = b->sink_count > a->sink_count
                                  ? b->sinks[b->sink_count - 1 - a->sink_count]
                                  : GPH_NODE_NONE;
        refuse(pairing, GPHI_MISMATCH_SINKS, GPH_NODE_NONE, node, GPH_NODE_NONE);
        return;
    }
    for (uint32_t i = a->sink_count; i-- > 0;)
        (void)join(pairing, queue, &tail, a->sinks[i], b->sinks[i]); /* each once */
    while (head < tail)
        if (!look_at(pairing, queue, &tail, queue[head++]))
            return;
    for (uint32_t i = 0; i < b->count; i++)
        if (pairing->back[i] == GPH_NODE_NONE) {
            refuse(pairing, GPHI_MISMATCH_CYCLE, GPH_NODE_NONE, i, GPH_NODE_NONE);
            return;
        }
}

gph_status gphi_pairing_run(gphi_pairing *pairing)
{
    const uint32_t count = pairing->a->count;
    pairing->partner = pairing->back = NULL;
    refuse(pairing, GPHI_MATCH, GPH_NODE_NONE, GPH_NODE_NONE, GPH_NODE_NONE);
    if (count != pairing->b->count)
        return refuse(pairing, GPHI_MISMATCH_COUNT, GPH_NODE_NONE, GPH_NODE_NONE,
                      GPH_NODE_NONE);
    if (count == 0)
        return GPH_OK;
    uint32_t *words = gphi_heap_array(pairing->a->heap, count, 3 * sizeof(*words));
    if (!words)
        return GPH_E_NO_MEMORY;
    memset(words, 0xff, 2 * (size_t)count * sizeof(*words)); /* GPH_NODE_NONE */
    pairing->partner = words;
    pairing->back = words + count;
    run(pairing, words + 2 * (size_t)count);
    return GPH_OK;
}

void gphi_pairing_fini(gphi_pairing *pairing)
{
    if (pairing->partner)
        gphi_heap_free(pairing->a->heap, pairing->partner,
                       (size_t)pairing->a->count * 3 * sizeof(uint32_t));
    pairing->partner = pairing->back = NULL;
}

gph_status gphi_topology_order(const gphi_topology *topology, uint32_t *order,
                               uint32_t *reached)
{
    const uint32_t count = topology->count;
    uint32_t tail = 0;
    uint8_t *seen = count > 0 ? gphi_heap_alloc(topology->heap, count) : NULL;
    if (count > 0 && !seen)
        return GPH_E_NO_MEMORY;
    for (uint32_t i = topology->sink_count; i-- > 0;) {
        order[tail++] = topology->sinks[i];
        seen[topology->sinks[i]] = 1;
    }
    for (uint32_t head = 0; head < tail; head++)
        for (uint32_t k = topology->first[order[head]];
             k < topology->first[order[head] + 1]; k++)
            if (!seen[topology->deps[k]]) {
                seen[topology->deps[k]] = 1;
                order[tail++] = topology->deps[k];
            }
    gphi_heap_free(topology->heap, seen, count);
    *reached = tail;
    return GPH_OK;
}

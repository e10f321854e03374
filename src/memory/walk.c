// SPDX-License-Identifier: Apache-2.0
/* Whether work of one captured stream comes after a free in another: a walk back from the
 * stream's terminal nodes, which stops at what an earlier walk has seen. Each stream so
 * visits each node once, however many allocations ask. */
#include "base/fail.h"
#include "memory/pool.h"

#include <string.h>

enum { NODES_AT_ONCE = 32 };

static struct gphi_captured *captured_at(const struct gphi_recording *r, uint32_t i)
{
    return gphi_vec_at(&r->captured, i);
}

/* Places are indices for good: a stream keeps its own until the capture ends. */
static gph_status add(struct gphi_recording *r, CUstream stream, uint32_t *out)
{
    const gph_allocator heap = r->captured.heap;
    struct gphi_captured *c = gphi_vec_add(&r->captured, 1);
    if (!c)
        return GPH_E_NO_MEMORY;
    c->stream = stream;
    gphi_vec_init(&c->members, heap, sizeof(uint32_t));
    gphi_vec_init(&c->ends, heap, sizeof(uint32_t));
    gphi_vec_init(&c->nodes, heap, sizeof(CUgraphNode));
    gphi_vec_init(&c->joined, heap, sizeof(uint32_t));
    gphi_map_init(&c->visited, heap);
    *out = (uint32_t)(r->captured.count - 1);
    return GPH_OK;
}

static void fini_captured(struct gphi_captured *c)
{
    gphi_vec_fini(&c->members);
    gphi_vec_fini(&c->ends);
    gphi_vec_fini(&c->nodes);
    gphi_vec_fini(&c->joined);
    gphi_map_fini(&c->visited);
}

void gphi_walk_fini(struct gphi_recording *r)
{
    for (uint32_t i = 0; i < r->captured.count; i++)
        fini_captured(captured_at(r, i));
    gphi_vec_fini(&r->captured);
    gphi_vec_fini(&r->scratch);
}

gph_status gphi_walk_stream(struct gphi_recording *r, CUstream stream, uint32_t *out)
{
    for (uint32_t i = 0; i < r->captured.count; i++)
        if (captured_at(r, i)->stream == stream) {
            *out = i;
            return GPH_OK;
        }
    return add(r, stream, out);
}

/* Several streams that all used what was freed count as one stream of their own. */
gph_status gphi_walk_set(struct gphi_recording *r, const uint32_t *members,
                         uint32_t count, uint32_t *out)
{
    for (uint32_t i = 0; i < r->captured.count; i++) {
        const struct gphi_captured *c = captured_at(r, i);
        if (!c->stream && c->members.count == count &&
            memcmp(c->members.items, members, count * sizeof(*members)) == 0) {
            *out = i;
            return GPH_OK;
        }
    }
    GPHI_TRY(add(r, NULL, out));
    uint32_t *own = gphi_vec_add(&captured_at(r, *out)->members, count);
    if (!own) {
        fini_captured(captured_at(r, *out));
        r->captured.count--;
        return GPH_E_NO_MEMORY;
    }
    memcpy(own, members, count * sizeof(*own));
    return GPH_OK;
}

/* Nodes of all positions lie in one array; this is where those of one end. */
static uint32_t end_of(const struct gphi_captured *c, size_t position)
{
    return position == 0 ? 0 : *(uint32_t *)gphi_vec_at(&c->ends, position - 1);
}

/* The same terminal nodes as last time are the same position: nothing came between. */
gph_status gphi_walk_position(struct gphi_recording *r, uint32_t stream,
                              const CUgraphNode *nodes, size_t count, uint64_t *out)
{
    struct gphi_captured *c = captured_at(r, stream);
    const size_t last = c->ends.count;
    if (last > 0) {
        const uint32_t from = end_of(c, last - 1);
        if (c->nodes.count - from == count &&
            (count == 0 ||
             memcmp(gphi_vec_at(&c->nodes, from), nodes, count * sizeof(*nodes)) == 0)) {
            *out = last;
            return GPH_OK;
        }
    }
    if (gphi_vec_reserve(&c->ends, 1) != GPH_OK ||
        (count > 0 && gphi_vec_reserve(&c->nodes, count) != GPH_OK) ||
        c->nodes.count + count >= UINT32_MAX)
        return GPH_E_NO_MEMORY;
    if (count > 0)
        memcpy(gphi_vec_add(&c->nodes, count), nodes, count * sizeof(*nodes));
    *(uint32_t *)gphi_vec_add(&c->ends, 1) = (uint32_t)c->nodes.count;
    *out = c->ends.count;
    return GPH_OK;
}

/* Notes a node, and that its dependencies are to be looked at. */
static bool visit(struct gphi_recording *r, struct gphi_captured *c, CUgraphNode node)
{
    if (gphi_map_get(&c->visited, (uint64_t)(uintptr_t)node))
        return true;
    if (gphi_vec_reserve(&r->scratch, 1) != GPH_OK ||
        gphi_map_set(&c->visited, (uint64_t)(uintptr_t)node, 1) != GPH_OK)
        return false;
    *(CUgraphNode *)gphi_vec_add(&r->scratch, 1) = node;
    return true;
}

/* Nearly all nodes have few dependencies, which need no allocation. */
static bool visit_dependencies(const gphi_cuda_table *cu, struct gphi_recording *r,
                               struct gphi_captured *c, CUgraphNode node)
{
    CUgraphNode few[NODES_AT_ONCE];
    CUgraphEdgeData edges[NODES_AT_ONCE];
    size_t count = NODES_AT_ONCE;
    if (cu->cuGraphNodeGetDependencies(node, few, edges, &count) != CUDA_SUCCESS)
        return false;
    if (count < NODES_AT_ONCE) {
        for (size_t i = 0; i < count; i++)
            if (!visit(r, c, few[i]))
                return false;
        return true;
    }
    /* As many as asked for: there may be more. */
    if (cu->cuGraphNodeGetDependencies(node, NULL, NULL, &count) != CUDA_SUCCESS)
        return false;
    gphi_vec all, data;
    gphi_vec_init(&all, r->scratch.heap, sizeof(CUgraphNode));
    gphi_vec_init(&data, r->scratch.heap, sizeof(CUgraphEdgeData));
    bool fine = gphi_vec_add(&all, count) && gphi_vec_add(&data, count) &&
                cu->cuGraphNodeGetDependencies(node, all.items, data.items, &count) ==
                    CUDA_SUCCESS;
    for (size_t i = 0; fine && i < count; i++)
        fine = visit(r, c, ((CUgraphNode *)all.items)[i]);
    gphi_vec_fini(&all);
    gphi_vec_fini(&data);
    return fine;
}

/* Positions of `other` whose nodes have all been visited, from the last that was. */
static void advance(struct gphi_captured *c, const struct gphi_captured *other,
                    uint32_t *joined)
{
    while (*joined < other->ends.count) {
        const uint32_t end = end_of(other, *joined + 1);
        for (uint32_t i = end_of(other, *joined); i < end; i++) {
            const CUgraphNode node = ((CUgraphNode *)other->nodes.items)[i];
            if (!gphi_map_get(&c->visited, (uint64_t)(uintptr_t)node))
                return;
        }
        ++*joined;
    }
}

/* A walk that fails has seen less, so less is known to be joined: that is safe. */
void gphi_walk_look(const gphi_cuda_table *cu, struct gphi_recording *r, uint32_t stream,
                    const CUgraphNode *nodes, size_t count)
{
    struct gphi_captured *c = captured_at(r, stream);
    const size_t missing = r->captured.count - c->joined.count;
    if (missing > 0 && !gphi_vec_add(&c->joined, missing))
        return;
    r->scratch.count = 0;
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++)
        fine = visit(r, c, nodes[i]);
    while (fine && r->scratch.count > 0) {
        const CUgraphNode node = ((CUgraphNode *)r->scratch.items)[--r->scratch.count];
        fine = visit_dependencies(cu, r, c, node);
    }
    for (uint32_t i = 0; i < r->captured.count; i++)
        if (i != stream)
            advance(c, captured_at(r, i), gphi_vec_at(&c->joined, i));
}

uint64_t gphi_walk_joined(const struct gphi_recording *r, uint32_t stream, uint32_t other)
{
    const struct gphi_captured *c = captured_at(r, stream);
    return other < c->joined.count ? *(uint32_t *)gphi_vec_at(&c->joined, other) : 0;
}

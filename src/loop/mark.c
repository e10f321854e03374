// SPDX-License-Identifier: Apache-2.0
/* Sentinels of a body. Those of other executables cost next to nothing, since nothing waits
 * for them, and so may be written late: an error can come before. In a body the next nodes
 * wait, so that what is missing when an error comes had not ended:
 *
 *   sentinels alone      clear ──┬─> of a        with what is added    clear ─> a ─> of a ─> b
 *                        a ──────┘  a ─> b
 *
 * Edges that are added here begin at sentinels, and go with them. */
#include "base/fail.h"
#include "loop/loop.h"
#include "replay/query.h"

/* The nodes of a body, its own first: then the sentinel that clears, and the others. */
struct marked {
    const gph_loop *loop;
    CUgraph body;
    gphi_vec nodes; /* of CUgraphNode */
    size_t own;     /* of them that are the body's */
    gph_error *error;
};

static CUgraphNode node_at(const struct marked *m, size_t index)
{
    return *(CUgraphNode *)gphi_vec_at(&m->nodes, index);
}

static gph_status check(const struct marked *m, CUresult result, const char *call)
{
    return gphi_loop_check(m->loop, result, call, m->error);
}

static gph_status add_edge(const struct marked *m, CUgraphNode from, CUgraphNode to)
{
    return check(
        m, m->loop->runtime->cu.cuGraphAddDependencies(m->body, &from, &to, NULL, 1),
        "cuGraphAddDependencies");
}

/* A node without dependencies waits until the words of the last round are cleared. */
static gph_status order_root(const struct marked *m, CUgraphNode node)
{
    size_t count = 0;
    GPHI_TRY(check(
        m, m->loop->runtime->cu.cuGraphNodeGetDependencies(node, NULL, NULL, &count),
        "cuGraphNodeGetDependencies"));
    return count == 0 ? add_edge(m, node_at(m, m->own), node) : GPH_OK;
}

/* Edges may have data, which the driver wants to be asked for. */
static gph_status order_before(const struct marked *m, CUgraphNode sentinel,
                               CUgraphNode node, size_t count)
{
    gphi_vec next, data;
    gphi_vec_init(&next, m->loop->runtime->heap, sizeof(CUgraphNode));
    gphi_vec_init(&data, m->loop->runtime->heap, sizeof(CUgraphEdgeData));
    const bool is_made = gphi_vec_add(&next, count) && gphi_vec_add(&data, count);
    gph_status status = gphi_made(m->error, is_made, "ordering %zu nodes", count);
    GPHI_THEN(status, check(m,
                            m->loop->runtime->cu.cuGraphNodeGetDependentNodes(
                                node, next.items, data.items, &count),
                            "cuGraphNodeGetDependentNodes"));
    for (size_t i = 0; i < count && status == GPH_OK; i++) {
        const CUgraphNode to = *(CUgraphNode *)gphi_vec_at(&next, i);
        if (to != sentinel)
            status = add_edge(m, sentinel, to);
    }
    gphi_vec_fini(&next);
    gphi_vec_fini(&data);
    return status;
}

/* What waits for the node of a sentinel waits for the sentinel, too. */
static gph_status order_after(const struct marked *m, CUgraphNode sentinel)
{
    const gphi_cuda_table *cu = &m->loop->runtime->cu;
    CUgraphNode two[2] = {NULL, NULL};
    size_t count = 2;
    GPHI_TRY(check(m, cu->cuGraphNodeGetDependencies(sentinel, two, NULL, &count),
                   "cuGraphNodeGetDependencies"));
    const CUgraphNode node = two[0] == node_at(m, m->own) ? two[1] : two[0];
    GPHI_TRY(check(m, cu->cuGraphNodeGetDependentNodes(node, NULL, NULL, &count),
                   "cuGraphNodeGetDependentNodes"));
    return order_before(m, sentinel, node, count); /* the sentinel is one of them */
}

static gph_status order_all(struct marked *m)
{
    GPHI_TRY(gphi_nodes_read(m->loop->runtime, m->body, &m->nodes, m->error));
    if (m->nodes.count == m->own)
        return GPH_OK; /* it is empty */
    for (size_t i = 0; i < m->own; i++)
        GPHI_TRY(order_root(m, node_at(m, i)));
    for (size_t i = m->own + 1; i < m->nodes.count; i++)
        GPHI_TRY(order_after(m, node_at(m, i)));
    return GPH_OK;
}

gph_status gphi_loop_mark(const gph_loop *loop, CUgraph body, gphi_marks **out,
                          gph_error *error)
{
    gph_sentinel *sentinel = loop->options.sentinel;
    const gphi_graph_source source = {.runtime = loop->runtime, .graph = body};
    struct marked m = {.loop = loop, .body = body, .error = error};
    gphi_marks *marks = NULL;
    GPHI_TRY(gphi_loop_check(loop, loop->runtime->cu.cuGraphGetNodes(body, NULL, &m.own),
                             "cuGraphGetNodes", error));
    GPHI_TRY(sentinel->ops->create(sentinel, &source, &marks, error));
    gphi_vec_init(&m.nodes, loop->runtime->heap, sizeof(CUgraphNode));
    const gph_status status = order_all(&m);
    gphi_vec_fini(&m.nodes);
    if (status != GPH_OK) {
        gphi_ignore((gph_status)marks->ops->leave(marks, NULL, 0),
                    "the first failure counts");
        marks->ops->destroy(marks);
        return status;
    }
    *out = marks;
    return GPH_OK;
}

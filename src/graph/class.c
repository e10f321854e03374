// SPDX-License-Identifier: Apache-2.0
/* Classes of graphs that can take turns in one executable: signature and comparison. */
#include "base/fail.h"
#include "base/hash.h"
#include "base/heap.h"
#include "graph/graph.h"
#include "graph/kept.h"
#include "graph/topology.h"

#include <string.h>

enum { KERNEL_WORDS = 5 };

/* What distinguishes kernels of one class beyond what updates keep. */
static void kernel_words(const gph_kernel_params *kernel, uint64_t out[KERNEL_WORDS])
{
    out[0] = kernel->handle != 0 ? kernel->handle
                                 : gphi_hash_text(GPHI_HASH_START, kernel->function);
    out[1] = (uint64_t)kernel->block[0] << 32 | kernel->block[1];
    out[2] = (uint64_t)kernel->block[2] << 32 | kernel->shared_bytes;
    out[3] = (uint64_t)(uint32_t)kernel->priority << 32 | kernel->cluster[0];
    out[4] = (uint64_t)kernel->cluster[1] << 32 | kernel->cluster[2];
}

static bool tells_kernels(const gph_node *node, uint32_t flags)
{
    return node->kind == GPH_NODE_KERNEL && (flags & GPH_SIGNATURE_KERNELS) != 0;
}

/* A name is hashed among the words, so it is looked at again. */
static bool same_kernel(const gph_kernel_params *a, const gph_kernel_params *b)
{
    uint64_t left[KERNEL_WORDS], right[KERNEL_WORDS];
    kernel_words(a, left);
    kernel_words(b, right);
    if (memcmp(left, right, sizeof(left)) != 0 || (a->handle == 0) != (b->handle == 0))
        return false;
    const char *name = a->function ? a->function : "";
    return a->handle != 0 || strcmp(name, b->function ? b->function : "") == 0;
}

/* Of one class, child graphs not entered. */
static bool same_class(const gph_node *a, const gph_node *b, uint32_t flags)
{
    gphi_kept left, right;
    if (a->kind != b->kind)
        return false;
    for (uint32_t i = 0; gphi_kept_at(a, i, &left); i++)
        if (!gphi_kept_at(b, i, &right) || left.value != right.value)
            return false;
    return !tells_kernels(a, flags) || same_kernel(&a->u.kernel, &b->u.kernel);
}

/* ---- signature ---- */

/* Two chains of different make, so that they do not collide together. */
static void add_word(gph_signature *to, uint64_t word)
{
    to->bits[0] = gphi_hash_word(to->bits[0], word);
    to->bits[1] = gphi_hash_mix(to->bits[1] + word) ^ GPHI_HASH_START;
}

static void add_node(gph_signature *to, const gph_node *node, uint32_t flags)
{
    gphi_kept kept;
    add_word(to, (uint64_t)node->kind);
    for (uint32_t i = 0; gphi_kept_at(node, i, &kept); i++)
        add_word(to, kept.value);
    if (tells_kernels(node, flags)) {
        uint64_t words[KERNEL_WORDS];
        kernel_words(&node->u.kernel, words);
        for (size_t i = 0; i < KERNEL_WORDS; i++)
            add_word(to, words[i]);
    }
}

static gph_status fail_memory(const gph_graph *graph, gph_error *error)
{
    return gphi_fail(error, GPH_E_NO_MEMORY, "the class of %zu nodes",
                     graph->nodes.count);
}

static gph_status sign(const gph_graph *graph, uint32_t flags, gph_signature *out,
                       gph_error *error);

/* `order` of the nodes, and `place` of each in it. */
static gph_status add_nodes(const gphi_topology *topology, uint32_t flags,
                            const uint32_t *order, const uint32_t *place,
                            gph_signature *out, gph_error *error)
{
    for (uint32_t i = 0; i < topology->count; i++) {
        const gph_node *node = gph_graph_node(topology->graph, order[i]);
        add_node(out, node, flags);
        if (gphi_node_graph(node)) {
            gph_signature inner;
            GPHI_TRY(sign(node->u.child, flags, &inner, error)); /* DEPTH_MAX */
            add_word(out, inner.bits[0]);
            add_word(out, inner.bits[1]);
        }
        const uint32_t end = topology->first[order[i] + 1];
        add_word(out, end - topology->first[order[i]]);
        for (uint32_t k = topology->first[order[i]]; k < end; k++)
            add_word(out, (uint64_t)place[topology->deps[k]] << 8 | topology->data[k]);
    }
    return GPH_OK;
}

static gph_status sign_ordered(const gphi_topology *topology, uint32_t flags,
                               gph_signature *out, gph_error *error)
{
    const uint32_t count = topology->count;
    const size_t bytes = 2 * (size_t)count * sizeof(uint32_t);
    uint32_t reached = 0;
    if (count == 0)
        return GPH_OK;
    uint32_t *order = gphi_heap_alloc(topology->heap, bytes);
    if (!order || gphi_topology_order(topology, order, &reached) != GPH_OK) {
        gphi_heap_free(topology->heap, order, bytes);
        return fail_memory(topology->graph, error);
    }
    gph_status status;
    if (reached == count) {
        for (uint32_t i = 0; i < count; i++)
            order[count + order[i]] = i;
        status = add_nodes(topology, flags, order, order + count, out, error);
    } else {
        status = gphi_fail(error, GPH_E_INVALID,
                           "%u of %u nodes are on a cycle or lead to one",
                           count - reached, count);
    }
    gphi_heap_free(topology->heap, order, bytes);
    return status;
}

static gph_status sign(const gph_graph *graph, uint32_t flags, gph_signature *out,
                       gph_error *error)
{
    gphi_topology topology;
    *out = (gph_signature){{flags ^ GPHI_HASH_START, flags}};
    add_word(out, graph->nodes.count);
    if (gphi_topology_init(&topology, graph) != GPH_OK)
        return fail_memory(graph, error);
    const gph_status status = sign_ordered(&topology, flags, out, error);
    gphi_topology_fini(&topology);
    return status;
}

static gph_status check_flags(uint32_t flags, gph_error *error)
{
    if ((flags & ~(uint32_t)GPH_SIGNATURE_KERNELS) != 0)
        return gphi_fail(error, GPH_E_INVALID, "flags 0x%x: only 0x%x is known", flags,
                         GPH_SIGNATURE_KERNELS);
    return GPH_OK;
}

gph_status gph_graph_signature(const gph_graph *graph, uint32_t flags, gph_signature *out,
                               gph_error *error)
{
    gph_signature found;
    GPHI_TRY(gphi_need(error, graph, out));
    GPHI_TRY(check_flags(flags, error));
    GPHI_TRY(sign(graph, flags, &found, error));
    *out = found;
    return GPH_OK;
}

/* ---- comparison ---- */

struct comparison {
    uint32_t flags;
    gph_status status;
    bool cycles;
};

static bool compare(struct comparison *of, const gph_graph *a, const gph_graph *b);

static bool visit(void *user, const gphi_pairing *pairing, uint32_t a, uint32_t b)
{
    struct comparison *of = user;
    const gph_node *left = gph_graph_node(pairing->a->graph, a);
    const gph_node *right = gph_graph_node(pairing->b->graph, b);
    if (!same_class(left, right, of->flags))
        return false;
    if (!gphi_kind_has_graph(left->kind))
        return true;
    if (!left->u.child || !right->u.child)
        return left->u.child == right->u.child;
    return compare(of, left->u.child, right->u.child);
}

static bool compare(struct comparison *of, const gph_graph *a, const gph_graph *b)
{
    gphi_topology left = {0}, right = {0};
    gphi_pairing pairing = {.a = &left, .b = &right, .visit = visit, .user = of};
    of->status = gphi_topology_init(&left, a);
    if (of->status == GPH_OK)
        of->status = gphi_topology_init(&right, b);
    if (of->status == GPH_OK) {
        const gph_status status = gphi_pairing_run(&pairing);
        if (of->status == GPH_OK) /* a child graph's may have failed already */
            of->status = status;
        gphi_pairing_fini(&pairing);
    }
    gphi_topology_fini(&right);
    gphi_topology_fini(&left);
    of->cycles |= pairing.mismatch == GPHI_MISMATCH_CYCLE;
    return of->status == GPH_OK && pairing.mismatch == GPHI_MATCH;
}

gph_status gph_graph_matches(const gph_graph *a, const gph_graph *b, uint32_t flags,
                             int *out, gph_error *error)
{
    GPHI_TRY(gphi_need(error, a, b, out));
    GPHI_TRY(check_flags(flags, error));
    struct comparison of = {.flags = flags};
    const bool same = compare(&of, a, b);
    if (of.status != GPH_OK)
        return fail_memory(a, error);
    if (of.cycles)
        return gphi_fail(error, GPH_E_INVALID,
                         "the graphs of %u and %u nodes have a cycle",
                         gph_graph_node_count(a), gph_graph_node_count(b));
    *out = same;
    return GPH_OK;
}

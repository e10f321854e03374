// SPDX-License-Identifier: Apache-2.0
/* Comparing an executable's contents with a graph. Where the topology is byte for byte
 * the same, as after a new capture of the same work, nodes are looked at in their order,
 * which is quick; only where one is refused are they looked at again in the driver's. */
#include "update/compare.h"
#include "base/heap.h"
#include "graph/node.h"
#include "graph/update_rules.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TOPOLOGY CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED

static bool refuse(gphi_comparison *of, CUgraphExecUpdateResult result, const char *rule,
                   const char *field)
{
    of->is_refused = true;
    of->result = result;
    of->rule = rule;
    of->field = field;
    return false;
}

static bool refuse_numbers(gphi_comparison *of, CUgraphExecUpdateResult result,
                           const char *rule, const char *field, const uint64_t values[2])
{
    snprintf(of->before, sizeof(of->before), "%" PRIu64, values[0]);
    snprintf(of->after, sizeof(of->after), "%" PRIu64, values[1]);
    return refuse(of, result, rule, field);
}

/* Kinds that set.c sets. */
static bool has_setter(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL:
    case GPH_NODE_MEMCPY:
    case GPH_NODE_MEMSET:
    case GPH_NODE_HOST:
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return true;
    default: return false;
    }
}

static bool same_attributes(const gph_kernel_params *a, const gph_kernel_params *b)
{
    return a->priority == b->priority &&
           memcmp(a->cluster, b->cluster, sizeof(a->cluster)) == 0;
}

/* Whether a pair that differs may. */
static bool check_pair(gphi_comparison *of, const gphi_place *a, const gphi_place *b)
{
    const gphi_update_side left = {a->node, a->dst, a->src, (uintptr_t)of->a->context};
    const gphi_update_side right = {b->node, b->dst, b->src, (uintptr_t)of->b->context};
    gphi_update_clash clash;
    if (!gphi_update_fits(&left, &right, of->flags, &clash)) {
        const gphi_update_words *words = gphi_update_words_of(clash.rule);
        memcpy(of->before, clash.before, sizeof(of->before));
        memcpy(of->after, clash.after, sizeof(of->after));
        return refuse(of, words->result, words->number, clash.field);
    }
    /* No setter of a single node takes attributes. */
    of->needs_whole |= !has_setter(b->node->kind) ||
                       (b->node->kind == GPH_NODE_KERNEL &&
                        !same_attributes(&a->node->u.kernel, &b->node->u.kernel));
    return true;
}

/* ---- pairs ---- */

struct walk {
    gphi_comparison *of;
    const gphi_level *a, *b;
    bool quick;
    gph_status status;
};

static bool compare_level(gphi_comparison *of, uint32_t a, uint32_t b, bool quick,
                          gph_status *status);

/* The node may be the same and its memory another's by now. */
static bool same_operand(const gphi_operand *a, const gphi_operand *b)
{
    return a->backing == b->backing && a->context == b->context;
}

static bool is_unchanged(const gphi_place *a, const gphi_place *b)
{
    const gph_node_kind kind = b->node->kind;
    if (!gphi_node_same(a->node, b->node) || kind == GPH_NODE_CONDITIONAL ||
        kind == GPH_NODE_SEMAPHORE_SIGNAL || kind == GPH_NODE_SEMAPHORE_WAIT)
        return false;
    return (kind != GPH_NODE_MEMCPY && kind != GPH_NODE_MEMSET) ||
           (same_operand(&a->dst, &b->dst) && same_operand(&a->src, &b->src));
}

/* a and b are flat numbers. */
static bool look_at(struct walk *walk, uint32_t a, uint32_t b)
{
    gphi_comparison *of = walk->of;
    const gphi_place *left = &of->a->places[a], *right = &of->b->places[b];
    of->node_a = a;
    of->node_b = b;
    of->from_b = GPH_NODE_NONE;
    if (of->partner)
        of->partner[a] = b;
    if (left->node->kind != right->node->kind) {
        snprintf(of->before, sizeof(of->before), "%s",
                 gph_node_kind_name(left->node->kind));
        snprintf(of->after, sizeof(of->after), "%s",
                 gph_node_kind_name(right->node->kind));
        return refuse(of, CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED, "R68", "kind");
    }
    const bool has_graphs = right->child != GPH_NODE_NONE && left->child != GPH_NODE_NONE;
    if (has_graphs && right->node->kind == GPH_NODE_CONDITIONAL) {
        const bool whole = of->needs_whole; /* its own parameters never change */
        if (!check_pair(of, left, right))
            return false;
        of->needs_whole = whole;
    }
    if (has_graphs)
        return compare_level(of, left->child, right->child, walk->quick, &walk->status);
    if (is_unchanged(left, right))
        return true;
    if (!check_pair(of, left, right))
        return false;
    gphi_changed *place = gphi_vec_add(&of->changed, 1);
    if (!place) {
        walk->status = GPH_E_NO_MEMORY;
        return false;
    }
    /* Kernels hold handles of the graph that they were made for: only a whole update, which
     * pairs the handles (R69f), makes those of the executable of them. */
    of->needs_whole |= of->b->has_bodies;
    *place = (gphi_changed){a, b};
    return true;
}

static bool visit(void *user, const gphi_pairing *pairing, uint32_t a, uint32_t b)
{
    struct walk *walk = user;
    (void)pairing;
    return look_at(walk, walk->a->first + a, walk->b->first + b);
}

/* What the pairing itself found, as the driver says it. */
static void refuse_topology(struct walk *walk, const gphi_pairing *pairing)
{
    gphi_comparison *of = walk->of;
    const gphi_topology *a = pairing->a, *b = pairing->b;
    const uint32_t first_a = walk->a->first, first_b = walk->b->first;
    const uint32_t none = GPH_NODE_NONE;
    of->node_a = pairing->node_a == none ? none : first_a + pairing->node_a;
    of->node_b = pairing->node_b == none ? none : first_b + pairing->node_b;
    of->from_b = pairing->from_b == none ? none : first_b + pairing->from_b;
    switch (pairing->mismatch) {
    case GPHI_MISMATCH_COUNT:
        refuse_numbers(of, TOPOLOGY, "R64", "nodes",
                       (const uint64_t[]){a->count, b->count});
        break;
    case GPHI_MISMATCH_SINKS:
        refuse_numbers(of, TOPOLOGY, "R65", "nodes without dependents",
                       (const uint64_t[]){a->sink_count, b->sink_count});
        break;
    case GPHI_MISMATCH_DEGREE:
        refuse_numbers(of, TOPOLOGY, "R66", "dependencies",
                       (const uint64_t[]){
                           a->first[pairing->node_a + 1] - a->first[pairing->node_a],
                           b->first[pairing->node_b + 1] - b->first[pairing->node_b]});
        break;
    case GPHI_MISMATCH_DEPENDENCY:
        snprintf(of->before, sizeof(of->before), "another node or other edge data");
        snprintf(of->after, sizeof(of->after), "node %u", pairing->from_b);
        refuse(of, TOPOLOGY, "R66", "dependency");
        break;
    case GPHI_MISMATCH_CYCLE: refuse(of, TOPOLOGY, "R66", "cycle"); break;
    case GPHI_MATCH:
    case GPHI_MISMATCH_VISIT: break;
    }
}

static bool compare_quickly(struct walk *walk)
{
    if (!gphi_topology_same(&walk->a->topology, &walk->b->topology))
        return false;
    for (uint32_t i = 0; i < walk->a->count; i++)
        if (!look_at(walk, walk->a->first + i, walk->b->first + i))
            return false;
    return true;
}

static bool compare_level(gphi_comparison *of, uint32_t a, uint32_t b, bool quick,
                          gph_status *status)
{
    struct walk walk = {
        .of = of, .a = &of->a->levels[a], .b = &of->b->levels[b], .quick = quick};
    if (quick) {
        const bool same = compare_quickly(&walk);
        *status = walk.status != GPH_OK ? walk.status : *status;
        return same;
    }
    gphi_pairing pairing = {
        .a = &walk.a->topology, .b = &walk.b->topology, .visit = visit, .user = &walk};
    const gph_status ran = gphi_pairing_run(&pairing);
    if (ran != GPH_OK || walk.status != GPH_OK) {
        *status = ran != GPH_OK ? ran : walk.status;
        gphi_pairing_fini(&pairing);
        return false;
    }
    if (pairing.mismatch != GPHI_MATCH && pairing.mismatch != GPHI_MISMATCH_VISIT)
        refuse_topology(&walk, &pairing);
    gphi_pairing_fini(&pairing);
    return pairing.mismatch == GPHI_MATCH;
}

static void begin(gphi_comparison *of)
{
    of->changed.count = 0;
    of->needs_whole = false;
    of->is_refused = false;
    of->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
    of->rule = of->field = NULL;
    of->before[0] = of->after[0] = '\0';
    of->node_a = of->node_b = of->from_b = GPH_NODE_NONE;
    of->is_certain = !of->a->has_unknown && !of->b->has_unknown &&
                     (!of->b->has_memory || of->a->source == of->b->source);
}

gph_status gphi_compare(gphi_comparison *of)
{
    const gph_allocator heap = of->a->runtime->heap;
    gph_status status = GPH_OK;
    gphi_vec_init(&of->changed, heap, sizeof(gphi_changed));
    of->partner = NULL;
    begin(of);
    of->is_identity = of->a->count == of->b->count &&
                      of->a->level_count == of->b->level_count &&
                      compare_level(of, 0, 0, true, &status);
    if (of->is_identity || status != GPH_OK) {
        of->node_a = of->node_b = GPH_NODE_NONE;
        return status;
    }
    begin(of);
    if (of->a->count > 0) {
        of->partner = gphi_heap_array(heap, of->a->count, sizeof(*of->partner));
        if (!of->partner)
            return GPH_E_NO_MEMORY;
        of->partner_count = of->a->count;
    }
    (void)compare_level(of, 0, 0, false, &status);
    if (!of->is_refused)
        of->node_a = of->node_b = of->from_b = GPH_NODE_NONE;
    return status;
}

/* What was compared may be gone by now. */
void gphi_comparison_fini(gphi_comparison *of)
{
    gphi_heap_free(of->changed.heap, of->partner,
                   of->partner_count * sizeof(*of->partner));
    of->partner = NULL;
    gphi_vec_fini(&of->changed);
}

/* ---- words ---- */

static void put_node(const gphi_comparison *of, char *out, size_t bytes)
{
    char path[200] = "", label[100];
    if (of->node_b == GPH_NODE_NONE) {
        snprintf(out, bytes, "the graph");
        return;
    }
    gphi_place_path(of->b, of->node_b, path, sizeof(path));
    gphi_node_label(of->b->places[of->node_b].node, label, sizeof(label));
    snprintf(out, bytes, "node %s (%s)", path, label);
}

void gphi_comparison_text(const gphi_comparison *of, char *out, size_t bytes)
{
    char node[320];
    if (!of->is_refused) {
        const char *also =
            !of->is_certain
                ? "; what no query reports (memory nodes of a graph with another "
                  "executable, conditional nodes) could still be refused"
                : "";
        if (of->is_stale)
            snprintf(out, bytes,
                     "fits; the contents of the nodes are not known since a whole "
                     "update without a snapshot%s",
                     also);
        else
            snprintf(out, bytes, "%zu of %u nodes differ%s%s", of->changed.count,
                     of->b->count,
                     of->needs_whole ? ", in what no setter of a single node takes" : "",
                     also);
        return;
    }
    put_node(of, node, sizeof(node));
    snprintf(out, bytes, "%s: %s may not go from %s to %s (%s)", node,
             of->field ? of->field : "it", of->before[0] ? of->before : "this",
             of->after[0] ? of->after : "that", of->rule);
}

// SPDX-License-Identifier: Apache-2.0
/* Why an update was refused. The driver says a result and, mostly, a node of the new
 * graph; nodes are paired as it pairs them (graph/topology.h), and the first pair that
 * does not fit is named with both values. Where the driver named another node, that one
 * counts. */
#include "doctor/rules/update/update_why.h"
#include "base/heap.h"
#include "doctor/findings/said.h"
#include "doctor/language/language.h"
#include "doctor/model/model_node.h"
#include "graph/match.h"
#include "graph/node.h"
#include "graph/topology.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    TOPOLOGY = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED,
    NODE_TYPE = CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED,
    PARAMETERS = CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED,
    ATTRIBUTES = CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED
};

/* ---- words ---- */

static const char rule_count[] = "an update does not change the number of nodes";
static const char rule_edges[] =
    "partners have as many dependencies, in the same order; nodes are paired from those "
    "without dependents back";
static const char rule_type[] = "a node keeps its type";

static void label_of(const gph_graph *graph, uint32_t index, char *out, size_t bytes)
{
    gphi_say_into(out, bytes, "node %u (%s)", (unsigned)index,
                  gphi_say_sort(gph_graph_node(graph, index)));
}

static void add_node(gphi_verdict *out, const gphi_snapshot *snapshot, uint32_t index,
                     const char *what)
{
    char label[160];
    if (out->node_count >= GPHI_WHY_NODES || !snapshot->data ||
        index >= gph_graph_node_count(snapshot->data))
        return;
    gphi_why_node *node = &out->nodes[out->node_count++];
    label_of(snapshot->data, index, label, sizeof(label));
    gphi_say_into(node->text, sizeof(node->text), "%s: %s", what, label);
    node->made = *gphi_snapshot_made(snapshot, index);
}

static void add_pair(gphi_verdict *out, const gphi_ask *ask, uint32_t a, uint32_t b)
{
    if (a != GPH_NODE_NONE)
        add_node(out, ask->held, a, "in the executable");
    if (b != GPH_NODE_NONE)
        add_node(out, ask->wanted, b, "in the new graph");
}

/* ---- pairs ---- */

/* One level of two graphs; `path` says which child nodes lead there. */
struct walk {
    const gphi_ask *ask;
    gphi_clash clash;
    uint32_t node_a, node_b; /* of the top, where it is */
    const gph_node *left, *right;
    uint32_t depth;
    bool is_type;
    gphi_why topology; /* found in a child */
    gph_status status;
};

static bool compare_level(struct walk *walk, const gph_graph *a, const gph_graph *b,
                          gphi_pairing *pairing);

static bool compare_child(struct walk *walk, const gph_node *a, const gph_node *b)
{
    gphi_topology left = {0}, right = {0};
    gphi_pairing pairing = {.a = &left, .b = &right};
    if (!a->u.child || !b->u.child)
        return true;
    walk->depth++;
    const bool same = compare_level(walk, a->u.child, b->u.child, &pairing);
    walk->depth--;
    if (!same && pairing.mismatch != GPHI_MISMATCH_VISIT)
        walk->topology = pairing.mismatch == GPHI_MISMATCH_COUNT ? GPHI_WHY_NODE_COUNT
                                                                 : GPHI_WHY_EDGES;
    gphi_pairing_fini(&pairing);
    gphi_topology_fini(&right);
    gphi_topology_fini(&left);
    return same;
}

static bool visit(void *user, const gphi_pairing *pairing, uint32_t a, uint32_t b)
{
    struct walk *walk = user;
    const gph_node *left = gph_graph_node(pairing->a->graph, a);
    const gph_node *right = gph_graph_node(pairing->b->graph, b);
    if (walk->depth == 0) {
        walk->node_a = a;
        walk->node_b = b;
    }
    walk->left = left;
    walk->right = right;
    walk->is_type = left->kind != right->kind;
    if (walk->is_type)
        return false;
    if (left->kind == GPH_NODE_CHILD)
        return compare_child(walk, left, right); /* GPH_GRAPH_DEPTH_MAX */
    gphi_clash_find(walk->ask, left, right, &walk->clash);
    return walk->clash.why == GPHI_WHY_NONE;
}

/* The caller finishes the pairing and both topologies. */
static bool compare_level(struct walk *walk, const gph_graph *a, const gph_graph *b,
                          gphi_pairing *pairing)
{
    gph_status status = gphi_topology_init((gphi_topology *)pairing->a, a);
    if (status == GPH_OK)
        status = gphi_topology_init((gphi_topology *)pairing->b, b);
    pairing->visit = visit;
    pairing->user = walk;
    if (status == GPH_OK)
        status = gphi_pairing_run(pairing);
    if (status != GPH_OK)
        walk->status = status;
    return status == GPH_OK && pairing->mismatch == GPHI_MATCH;
}

/* ---- what was found, in words ---- */

/* Which nodes are more, by the difference of the graphs: pairing ends at the count. */
static void say_count(const gphi_ask *ask, gphi_verdict *out)
{
    gph_diff *diff = NULL;
    out->why = GPHI_WHY_NODE_COUNT;
    out->rule = rule_count;
    gphi_say_into(out->cause, sizeof(out->cause),
                  "the executable has %" PRIu32 " nodes, the new graph %" PRIu32,
                  gph_graph_node_count(ask->held->data),
                  gph_graph_node_count(ask->wanted->data));
    if (gph_graph_diff(ask->held->data, ask->wanted->data, &diff, NULL) != GPH_OK)
        return;
    for (size_t i = 0; i < gph_diff_count(diff); i++) {
        const gph_change *change = gph_diff_at(diff, i);
        if (change->path[0] != '\0')
            continue;
        if (change->kind == GPH_CHANGE_NODE_REMOVED)
            add_node(out, ask->held, change->a, "only in the executable");
        else if (change->kind == GPH_CHANGE_NODE_ADDED)
            add_node(out, ask->wanted, change->b, "only in the new graph");
    }
    gph_diff_destroy(diff);
}

static uint32_t degree(const gphi_topology *topology, uint32_t node)
{
    return topology->first[node + 1] - topology->first[node];
}

static void say_edges(const gphi_ask *ask, const gphi_pairing *pairing, gphi_verdict *out)
{
    char a[160], b[160];
    gphi_say_into(a, sizeof(a), "the executable");
    gphi_say_into(b, sizeof(b), "the new graph");
    out->why = GPHI_WHY_EDGES;
    out->rule = rule_edges;
    if (pairing->node_a != GPH_NODE_NONE && pairing->a->count > pairing->node_a)
        label_of(ask->held->data, pairing->node_a, a, sizeof(a));
    if (pairing->node_b != GPH_NODE_NONE && pairing->b->count > pairing->node_b)
        label_of(ask->wanted->data, pairing->node_b, b, sizeof(b));
    if (pairing->mismatch == GPHI_MISMATCH_SINKS)
        gphi_say_into(
            out->cause, sizeof(out->cause),
            "%u nodes of the executable have no dependents, and %u of the new graph",
            pairing->a->sink_count, pairing->b->sink_count);
    else if (pairing->mismatch == GPHI_MISMATCH_DEGREE)
        gphi_say_into(out->cause, sizeof(out->cause),
                      "%s of the new graph depends on %" PRIu32
                      " nodes, its partner in the "
                      "executable, %s, on %" PRIu32,
                      b, degree(pairing->b, pairing->node_b), a,
                      degree(pairing->a, pairing->node_a));
    else
        gphi_say_into(
            out->cause, sizeof(out->cause),
            "%s of the new graph depends on other nodes than its partner in the "
            "executable, %s",
            b, a);
    add_pair(out, ask, pairing->node_a, pairing->node_b);
    if (pairing->from_b != GPH_NODE_NONE && pairing->mismatch == GPHI_MISMATCH_DEPENDENCY)
        add_node(out, ask->wanted, pairing->from_b, "a dependency of it");
}

static void say_clash(const gphi_ask *ask, const struct walk *walk, gphi_verdict *out)
{
    const char *where = "", *label = gphi_say_sort(walk->right);
    if (walk->left != gph_graph_node(ask->held->data, walk->node_a))
        where = " in a child graph";
    if (walk->is_type) {
        out->why = GPHI_WHY_NODE_TYPE;
        out->rule = rule_type;
        gphi_say_into(
            out->cause, sizeof(out->cause),
            "node %" PRIu32 " of the new graph%s is of type %s, its partner in the "
            "executable, node %" PRIu32 ", of type %s",
            walk->node_b, where, label, walk->node_a, gphi_say_sort(walk->left));
    } else {
        out->why = walk->clash.why;
        out->rule = walk->clash.rule;
        gphi_say_into(out->cause, sizeof(out->cause),
                      "%.60s of node %" PRIu32
                      " (%s)%s is %s in the executable and %s in the new "
                      "graph",
                      walk->clash.field, walk->node_b, label, where, walk->clash.before,
                      walk->clash.after);
    }
    add_pair(out, ask, walk->node_a, walk->node_b);
}

/* ---- whole updates ---- */

/* The rule that the driver's result names, where our own look found another or none. */
static gphi_why why_by_result(const gphi_ask *ask, const gph_node *node)
{
    if (ask->result == TOPOLOGY)
        return ask->held && ask->wanted && ask->held->data && ask->wanted->data &&
                       gph_graph_node_count(ask->held->data) !=
                           gph_graph_node_count(ask->wanted->data)
                   ? GPHI_WHY_NODE_COUNT
                   : GPHI_WHY_EDGES;
    if (ask->result == NODE_TYPE)
        return GPHI_WHY_NODE_TYPE;
    if (ask->result == ATTRIBUTES)
        return GPHI_WHY_ATTRIBUTES;
    if (ask->result != PARAMETERS || !node)
        return GPHI_WHY_UNSUPPORTED;
    if (node->kind == GPH_NODE_MEMSET)
        return GPHI_WHY_MEMSET_SIZE;
    if (node->kind != GPH_NODE_MEMCPY)
        return GPHI_WHY_UNSUPPORTED;
    return gphi_said_backing(ask->said) ? GPHI_WHY_OPERAND_BACKING : GPHI_WHY_MEMCPY_KIND;
}

static const char *why_rule(gphi_why why)
{
    switch (why) {
    case GPHI_WHY_NODE_COUNT: return rule_count;
    case GPHI_WHY_EDGES: return rule_edges;
    case GPHI_WHY_NODE_TYPE: return rule_type;
    default: return NULL;
    }
}

/* Where our finding is of another sort than the driver's result, the driver is right. */
static bool agrees(uint32_t result, gphi_why why)
{
    switch (why) {
    case GPHI_WHY_NODE_COUNT:
    case GPHI_WHY_EDGES: return result == TOPOLOGY;
    case GPHI_WHY_NODE_TYPE: return result == NODE_TYPE;
    case GPHI_WHY_ATTRIBUTES: return result == ATTRIBUTES;
    case GPHI_WHY_MEMCPY_KIND:
    case GPHI_WHY_MEMSET_SIZE:
    case GPHI_WHY_OPERAND_BACKING: return result == PARAMETERS;
    default: return result != TOPOLOGY && result != NODE_TYPE && result != ATTRIBUTES;
    }
}

/* What fields of the pair differ, for a refusal that we cannot predict. */
static bool add_field(void *user, const char *field, const char *before,
                      const char *after)
{
    gphi_text *to = user;
    gphi_text_say(to, "%s%.60s %s -> %s", to->length > 0 ? ", " : "", field, before,
                  after);
    return to->length + 60 < to->room;
}

static void say_unforetold(const gphi_ask *ask, gphi_verdict *out)
{
    const uint32_t b = gphi_snapshot_index(ask->wanted, ask->error_node);
    const gph_node *node = gph_graph_node(gphi_snapshot_graph(ask->wanted), b);
    out->why = why_by_result(ask, node);
    out->rule = why_rule(out->why);
    out->node_count = 0;
    if (!node) {
        gphi_say_into(out->cause, sizeof(out->cause),
                      "the driver's result is %" PRIu32 "%s", ask->result,
                      gphi_say_said(ask->said));
        return;
    }
    char label[160];
    label_of(ask->wanted->data, b, label, sizeof(label));
    uint32_t *partner = NULL, a = GPH_NODE_NONE;
    bool is_exact = false;
    const uint32_t count = ask->held ? gph_graph_node_count(ask->held->data) : 0;
    char fields[240];
    gphi_text differ;
    gphi_text_fix(&differ, fields, sizeof(fields));
    if (count > 0)
        partner = gphi_heap_array(ask->model->heap, count, sizeof(*partner));
    if (partner &&
        gphi_match(ask->held->data, ask->wanted->data, partner, &is_exact) == GPH_OK)
        for (uint32_t i = 0; i < count && a == GPH_NODE_NONE; i++)
            a = partner[i] == b ? i : GPH_NODE_NONE;
    if (a != GPH_NODE_NONE && gph_graph_node(ask->held->data, a)->kind == node->kind)
        (void)gphi_node_compare(gph_graph_node(ask->held->data, a), node, add_field,
                                &differ);
    gphi_heap_free(ask->model->heap, partner, count * sizeof(*partner));
    gphi_say_into(out->cause, sizeof(out->cause),
                  "the driver names %s of the new graph (result %" PRIu32 "%s)%s%s",
                  label, ask->result, gphi_say_said(ask->said),
                  differ.length > 0 ? ", in which differ: " : "", fields);
    add_pair(out, ask, a, b);
}

void gphi_why_update(const gphi_ask *ask, gphi_verdict *out)
{
    gphi_topology left = {0}, right = {0};
    gphi_pairing pairing = {.a = &left, .b = &right};
    struct walk walk = {.ask = ask, .node_a = GPH_NODE_NONE, .node_b = GPH_NODE_NONE};
    memset(out, 0, sizeof(*out));
    if (!ask->held || !ask->wanted || !ask->held->data || !ask->wanted->data) {
        say_unforetold(ask, out);
        return;
    }
    const bool same = compare_level(&walk, ask->held->data, ask->wanted->data, &pairing);
    if (walk.status == GPH_OK && !same) {
        if (pairing.mismatch == GPHI_MISMATCH_COUNT)
            say_count(ask, out);
        else if (pairing.mismatch != GPHI_MISMATCH_VISIT)
            say_edges(ask, &pairing, out);
        else if (walk.topology != GPHI_WHY_NONE) {
            out->why = walk.topology;
            out->rule = why_rule(walk.topology);
            gphi_say_into(out->cause, sizeof(out->cause),
                          "the child graph of node %" PRIu32
                          " has other nodes or edges than "
                          "that of node %" PRIu32 " of the executable",
                          walk.node_b, walk.node_a);
            add_pair(out, ask, walk.node_a, walk.node_b);
        } else
            say_clash(ask, &walk, out);
    }
    gphi_pairing_fini(&pairing);
    gphi_topology_fini(&right);
    gphi_topology_fini(&left);
    if (out->why == GPHI_WHY_NONE || (ask->result != 0 && !agrees(ask->result, out->why)))
        say_unforetold(ask, out);
}

/* ---- setters ---- */

static bool is_foreign(const gphi_ask *ask, uint64_t node)
{
    if (gphi_said_foreign(ask->said))
        return true;
    if (ask->said[0] != '\0' || !ask->held || !ask->held->handles ||
        gphi_snapshot_index(ask->held, node) != GPH_NODE_NONE)
        return false;
    for (size_t i = 0; i < ask->model->snapshots.count; i++) { /* of its children? */
        const gphi_snapshot *child = gphi_vec_pointer(&ask->model->snapshots, i);
        for (const gphi_snapshot *up = child->parent; up; up = up->parent)
            if (up == ask->held && gphi_snapshot_index(child, node) != GPH_NODE_NONE)
                return false;
    }
    return true;
}

/* The node in words, of whichever graph has it. */
static const char *node_of(const gphi_model *model, uint64_t handle)
{
    for (size_t i = model->graphs.count; i-- > 0;) {
        const gphi_graph_state *graph = gphi_vec_pointer(&model->graphs, i);
        const uint32_t index = gphi_snapshot_index(graph->last, handle);
        if (index != GPH_NODE_NONE)
            return gphi_say("%s of %s", gphi_say_node(graph->last, index),
                            gphi_say_graph(model, graph->handle));
    }
    return gphi_say("node 0x%llx", (unsigned long long)handle);
}

void gphi_why_setter(const gphi_ask *ask, gphi_verdict *out)
{
    const uint64_t handle = gphi_event_word(ask->event, 1);
    const uint32_t index = gphi_snapshot_index(ask->held, handle);
    const char *call = gphi_call_name(ask->event->u.call.call);
    gph_node wanted;
    memset(out, 0, sizeof(*out));
    if (is_foreign(ask, handle)) {
        out->why = GPHI_WHY_NODE_HANDLE;
        out->rule = "a setter takes the nodes of the graph that the executable was made "
                    "from or last updated with";
        gphi_say_into(out->cause, sizeof(out->cause),
                      "%s that %s was given is not of the executable's graph",
                      node_of(ask->model, handle), call);
        return;
    }
    if (index != GPH_NODE_NONE)
        add_node(out, ask->held, index, "in the executable");
    const gph_node *held = gph_graph_node(gphi_snapshot_graph(ask->held), index);
    gphi_clash found = {0};
    /* A setter's struct does not say whether a kernel is cooperative. */
    if (held && held->kind != GPH_NODE_KERNEL &&
        gphi_node_wanted(ask->model, ask->event, &wanted) && wanted.kind == held->kind)
        gphi_clash_find(ask, held, &wanted, &found);
    out->why = found.why != GPHI_WHY_NONE ? found.why : GPHI_WHY_UNSUPPORTED;
    out->rule = found.rule;
    if (found.why != GPHI_WHY_NONE)
        gphi_say_into(out->cause, sizeof(out->cause),
                      "%.60s of node %" PRIu32
                      " is %s in the executable, %s asked for %s",
                      found.field, index, found.before, call, found.after);
    else
        gphi_say_into(out->cause, sizeof(out->cause),
                      ask->said[0] ? "the driver says: %.800s"
                                   : "the driver did not say why%s",
                      ask->said);
}

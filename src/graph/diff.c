// SPDX-License-Identifier: Apache-2.0
/* What differs between two graphs, as a list. Texts lie in blocks of their own, which do
 * not move:
 *
 *   changes   [field grid of 3][node 5 added] ...      -> texts
 *   blocks    "kernel axpy\0grid\04 1 1\08 1 1\0"  "..." */
#include "base/fail.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/plain.h"
#include "base/text.h"
#include "base/vec.h"
#include "graph/graph.h"
#include "graph/match.h"
#include "graph/node.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BLOCK_BYTES = 4096 };

struct block {
    struct block *next;
    char text[BLOCK_BYTES];
};

struct gph_diff {
    gph_allocator heap;
    gphi_vec changes; /* of gph_change */
    struct block *blocks;
    size_t block_used; /* of the first one */
    bool is_topology;
};

/* Two graphs being compared; those of child nodes have their own. */
struct comparison {
    gph_diff *diff;
    const gph_graph *a, *b;
    uint32_t *partner; /* of a's nodes */
    uint32_t *back;    /* of b's nodes */
    const char *path;
    uint32_t node; /* of a, being compared */
    bool failed;   /* for want of memory */
};

static const char *keep(struct comparison *of, const char *text)
{
    gph_diff *diff = of->diff;
    const size_t bytes = strlen(text) + 1; /* labels and values are short */
    if (!diff->blocks || diff->block_used + bytes > BLOCK_BYTES) {
        struct block *fresh = gphi_heap_alloc(diff->heap, sizeof(*fresh));
        if (!fresh) {
            of->failed = true;
            return "";
        }
        fresh->next = diff->blocks;
        diff->blocks = fresh;
        diff->block_used = 0;
    }
    char *place = diff->blocks->text + diff->block_used;
    memcpy(place, text, bytes);
    diff->block_used += bytes;
    return place;
}

static const char *label_of(struct comparison *of, const gph_node *node)
{
    char label[128];
    gphi_node_label(node, label, sizeof(label));
    return keep(of, label);
}

static void put(struct comparison *of, const gph_change *change)
{
    gph_change *place = of->failed ? NULL : gphi_vec_add(&of->diff->changes, 1);
    if (!place) {
        of->failed = true;
        return;
    }
    *place = *change;
    place->path = of->path;
    of->diff->is_topology |= change->kind != GPH_CHANGE_FIELD;
}

static bool put_field(void *user, const char *field, const char *before,
                      const char *after)
{
    struct comparison *of = user;
    const gph_change change = {.kind = GPH_CHANGE_FIELD,
                               .a = of->node,
                               .b = of->partner[of->node],
                               .a_to = GPH_NODE_NONE,
                               .b_to = GPH_NODE_NONE,
                               .node = label_of(of, gph_graph_node(of->a, of->node)),
                               .field = keep(of, field),
                               .before = keep(of, before),
                               .after = keep(of, after)};
    put(of, &change);
    return !of->failed;
}

static void put_node(struct comparison *of, gph_change_kind kind, uint32_t index)
{
    const bool added = kind == GPH_CHANGE_NODE_ADDED;
    const gph_change change = {
        .kind = kind,
        .a = added ? GPH_NODE_NONE : index,
        .b = added ? index : GPH_NODE_NONE,
        .a_to = GPH_NODE_NONE,
        .b_to = GPH_NODE_NONE,
        .node = label_of(of, gph_graph_node(added ? of->b : of->a, index))};
    put(of, &change);
}

/* ---- edges ---- */

static uint64_t key_of(uint32_t from, uint32_t to)
{
    return (uint64_t)from << 32 | to;
}

static const char *ports(struct comparison *of, const gph_edge *edge)
{
    char text[64] = "ordinary";
    if (edge->from_port != 0 || edge->type != 0)
        snprintf(text, sizeof(text), "port %u, type %u", edge->from_port, edge->type);
    return keep(of, text);
}

static void put_edge(struct comparison *of, gph_change_kind kind, const gph_edge *a,
                     const gph_edge *b)
{
    const uint32_t none = GPH_NODE_NONE;
    gph_change change = {.kind = kind, .a = none, .b = none, .a_to = none, .b_to = none};
    if (a) {
        change.a = a->from;
        change.a_to = a->to;
        change.before = ports(of, a);
    }
    if (b) {
        change.b = b->from;
        change.b_to = b->to;
        change.after = ports(of, b);
    }
    change.node =
        label_of(of, a ? gph_graph_node(of->a, a->from) : gph_graph_node(of->b, b->from));
    put(of, &change);
}

/* b's edges by the ends that they have in a; those that a has are taken out. */
static gph_status compare_edges(struct comparison *of)
{
    gph_status status = GPH_E_NO_MEMORY;
    gphi_map edges;
    gphi_map_init(&edges, of->diff->heap);
    for (size_t i = 0; i < gph_graph_edge_count(of->b); i++) {
        const gph_edge *edge = gph_graph_edge(of->b, i);
        if (gphi_map_set(&edges, key_of(edge->from, edge->to), i) != GPH_OK)
            goto done;
    }
    for (size_t i = 0; i < gph_graph_edge_count(of->a); i++) {
        const gph_edge *edge = gph_graph_edge(of->a, i);
        const uint32_t from = of->partner[edge->from], to = of->partner[edge->to];
        const uint64_t *found = from == GPH_NODE_NONE || to == GPH_NODE_NONE
                                    ? NULL
                                    : gphi_map_get(&edges, key_of(from, to));
        if (!found) {
            put_edge(of, GPH_CHANGE_EDGE_REMOVED, edge, NULL);
            continue;
        }
        const gph_edge *other = gph_graph_edge(of->b, (size_t)*found);
        if (other->from_port != edge->from_port || other->type != edge->type)
            put_edge(of, GPH_CHANGE_EDGE, edge, other);
        gphi_map_remove(&edges, key_of(from, to));
    }
    for (size_t i = 0; i < gph_graph_edge_count(of->b); i++) {
        const gph_edge *edge = gph_graph_edge(of->b, i);
        if (gphi_map_get(&edges, key_of(edge->from, edge->to)))
            put_edge(of, GPH_CHANGE_EDGE_ADDED, NULL, edge);
    }
    status = of->failed ? GPH_E_NO_MEMORY : GPH_OK;
done:
    gphi_map_fini(&edges);
    return status;
}

/* ---- graphs ---- */

static gph_status compare_graphs(gph_diff *diff, const gph_graph *a, const gph_graph *b,
                                 const char *path);

static gph_status compare_children(struct comparison *of, uint32_t index)
{
    const gph_graph *a = gph_graph_node(of->a, index)->u.child;
    const gph_graph *b = gph_graph_node(of->b, of->partner[index])->u.child;
    char path[16 * GPH_GRAPH_DEPTH_MAX];
    snprintf(path, sizeof(path), "%s%s%" PRIu32, of->path, of->path[0] != '\0' ? "/" : "",
             index);
    const char *kept = keep(of, path);
    if (of->failed)
        return GPH_E_NO_MEMORY;
    return compare_graphs(of->diff, a, b, kept); /* GPH_GRAPH_DEPTH_MAX */
}

static gph_status compare_nodes(struct comparison *of)
{
    for (uint32_t i = 0; i < gph_graph_node_count(of->a); i++) {
        if (of->partner[i] == GPH_NODE_NONE) {
            put_node(of, GPH_CHANGE_NODE_REMOVED, i);
            continue;
        }
        const gph_node *a = gph_graph_node(of->a, i);
        const gph_node *b = gph_graph_node(of->b, of->partner[i]);
        of->back[of->partner[i]] = i;
        of->node = i;
        if (!gphi_node_same(a, b))
            (void)gphi_node_compare(a, b, put_field, of); /* `failed` says */
        if (gphi_kind_has_graph(a->kind) && !of->failed)
            GPHI_TRY(compare_children(of, i));
    }
    for (uint32_t i = 0; i < gph_graph_node_count(of->b); i++)
        if (of->back[i] == GPH_NODE_NONE)
            put_node(of, GPH_CHANGE_NODE_ADDED, i);
    return of->failed ? GPH_E_NO_MEMORY : GPH_OK;
}

/* Either may be NULL: an empty graph. */
static gph_status compare_graphs(gph_diff *diff, const gph_graph *a, const gph_graph *b,
                                 const char *path)
{
    static const gph_graph none = {0};
    const size_t all = gph_graph_node_count(a) + (size_t)gph_graph_node_count(b);
    if (all == 0)
        return GPH_OK;
    gph_graph empty = none;
    empty.heap = diff->heap;
    struct comparison of = {
        .diff = diff, .a = a ? a : &empty, .b = b ? b : &empty, .path = path};
    uint32_t *words = gphi_heap_array(diff->heap, all, sizeof(*words));
    if (!words)
        return GPH_E_NO_MEMORY;
    memset(words, 0xff, all * sizeof(*words)); /* GPH_NODE_NONE */
    of.partner = words;
    of.back = words + gph_graph_node_count(a);
    bool is_exact;
    gph_status status = gphi_match(of.a, of.b, of.partner, &is_exact);
    GPHI_THEN(status, compare_nodes(&of));
    GPHI_THEN(status, compare_edges(&of));
    gphi_heap_free(diff->heap, words, all * sizeof(*words));
    return status;
}

gph_status gph_graph_diff(const gph_graph *a, const gph_graph *b, gph_diff **out,
                          gph_error *error)
{
    GPHI_TRY(gphi_need(error, a, b, out));
    gph_diff *diff = gphi_heap_alloc(a->heap, sizeof(*diff));
    GPHI_TRY(gphi_made(error, diff, "comparing two graphs"));
    diff->heap = a->heap;
    gphi_vec_init(&diff->changes, a->heap, sizeof(gph_change));
    const gph_status status = compare_graphs(diff, a, b, "");
    if (status != GPH_OK) {
        gph_diff_destroy(diff);
        return gphi_fail(error, status, "comparing %zu nodes with %zu", a->nodes.count,
                         b->nodes.count);
    }
    *out = diff;
    return GPH_OK;
}

void gph_diff_destroy(gph_diff *diff)
{
    if (!diff)
        return;
    while (diff->blocks) {
        struct block *next = diff->blocks->next;
        gphi_heap_free(diff->heap, diff->blocks, sizeof(*diff->blocks));
        diff->blocks = next;
    }
    gphi_vec_fini(&diff->changes);
    gphi_heap_free(diff->heap, diff, sizeof(*diff));
}

size_t gph_diff_count(const gph_diff *diff)
{
    return diff ? diff->changes.count : 0;
}

const gph_change *gph_diff_at(const gph_diff *diff, size_t index)
{
    return index < gph_diff_count(diff) ? gphi_vec_at(&diff->changes, index) : NULL;
}

int gph_diff_is_topology(const gph_diff *diff)
{
    return diff && diff->is_topology;
}

/* ---- text ---- */

/* "2/5": a node by the child nodes that lead to it. */
static void put_place(gphi_text *text, const gph_change *change, uint32_t node)
{
    gphi_text_add(text, "%s%s%" PRIu32, change->path, change->path[0] != '\0' ? "/" : "",
                  node);
}

static void put_edge_of(gphi_text *text, const gph_change *change, uint32_t from,
                        uint32_t to)
{
    put_place(text, change, from);
    gphi_text_put(text, " -> ");
    put_place(text, change, to);
}

static void put_values(gphi_text *text, const gph_change *change)
{
    gphi_text_put_name(text, change->before);
    gphi_text_put(text, " -> ");
    gphi_text_put_name(text, change->after);
}

static void put_named(gphi_text *text, const char *name)
{
    gphi_text_put(text, " (");
    gphi_text_put_name(text, name);
    gphi_text_put(text, ")");
}

static void put_change(gphi_text *text, const gph_change *change)
{
    switch (change->kind) {
    case GPH_CHANGE_FIELD:
        gphi_text_put(text, "~ node ");
        put_place(text, change, change->a);
        gphi_text_put(text, " (");
        gphi_text_put_name(text, change->node);
        if (change->a != change->b)
            gphi_text_add(text, ", now %" PRIu32, change->b);
        gphi_text_add(text, ") %s: ", change->field);
        put_values(text, change);
        break;
    case GPH_CHANGE_NODE_REMOVED:
    case GPH_CHANGE_NODE_ADDED: {
        const bool added = change->kind == GPH_CHANGE_NODE_ADDED;
        gphi_text_put(text, added ? "+ node " : "- node ");
        put_place(text, change, added ? change->b : change->a);
        put_named(text, change->node);
        break;
    }
    case GPH_CHANGE_EDGE_ADDED:
        gphi_text_put(text, "+ edge ");
        put_edge_of(text, change, change->b, change->b_to);
        put_named(text, change->after);
        break;
    case GPH_CHANGE_EDGE_REMOVED:
        gphi_text_put(text, "- edge ");
        put_edge_of(text, change, change->a, change->a_to);
        put_named(text, change->before);
        break;
    default:
        gphi_text_put(text, "~ edge ");
        put_edge_of(text, change, change->a, change->a_to);
        if (change->a != change->b || change->a_to != change->b_to) {
            gphi_text_put(text, " (now ");
            put_edge_of(text, change, change->b, change->b_to);
            gphi_text_put(text, ")");
        }
        gphi_text_put(text, ": ");
        put_values(text, change);
    }
}

gph_status gph_change_write(const gph_change *change, gph_write_fn *write, void *user,
                            gph_error *error)
{
    GPHI_TRY(gphi_need(error, change, write));
    char buffer[512];
    gphi_text text;
    gphi_text_stream(&text, buffer, sizeof(buffer), write, user);
    put_change(&text, change);
    return gphi_text_end(&text, error);
}

// SPDX-License-Identifier: Apache-2.0
/* Of the page's data: graphs with the regions of their nodes, executables, memory, and
 * what libgph reported.
 *
 * Regions come of call stacks: the frames that all nodes of a graph share are left away,
 * and what is below the last of them distinguishes nodes: the functions that one
 * function calls to put a graph together. */
#include "report/data.h"
#include <gph/reason.h>

#include <inttypes.h>
#include <string.h>

/* 1 + the number of a graph in the page, or 0. */
static uint32_t shown_as(const report_writing *w, uint32_t graph)
{
    return graph < w->shown.count ? *(const uint32_t *)gphi_vec_at(&w->shown, graph) : 0;
}

/* Snapshots have no identity of their own: a graph that was snapped twice and did not
 * grow in between is drawn once. */
static bool same_graph(const report_graph *a, const report_graph *b)
{
    return a->handle == b->handle && a->node_count == b->node_count;
}

/* A snapshot that an executable holds; else the newest of its graph. */
static bool is_shown(const gph_report *r, uint32_t index)
{
    for (size_t i = 0; i < r->execs.count; i++)
        if (((const report_exec *)gphi_vec_at(&r->execs, i))->graph == index + 1)
            return true;
    const report_graph *graph = gphi_vec_at(&r->graphs, index);
    for (size_t i = 0; i < r->graphs.count; i++) {
        const bool is_held = i > index; /* or by an executable, which is_shown() found */
        if (i != index && is_held && same_graph(graph, gphi_vec_at(&r->graphs, i)))
            return false;
    }
    for (size_t i = 0; i < index; i++) /* an executable has its twin */
        if (same_graph(graph, gphi_vec_at(&r->graphs, i)) &&
            graph->why != GPHI_SNAPSHOT_CHILD)
            for (size_t x = 0; x < r->execs.count; x++)
                if (((const report_exec *)gphi_vec_at(&r->execs, x))->graph == i + 1)
                    return false;
    return graph->node_count > 0;
}

/* ---- regions ---- */

enum { REGION_NODES_MAX = 20000, REGIONS_MAX = 200 };

/* How many frames, from the outermost inwards, all nodes with a stack share. */
static uint32_t shared_frames(report_writing *w, const report_graph *graph)
{
    const gph_place *first = NULL;
    uint32_t first_count = 0, shared = UINT32_MAX;
    GPHI_EACH (const report_node, node, &graph->nodes) {
        uint32_t count = 0, same = 0;
        const gph_place *frames =
            gphi_doctor_frames(w->report->doctor, node->stack, &count);
        if (!frames || count == 0)
            continue;
        if (!first) {
            first = frames;
            first_count = count;
        }
        while (same < count && same < first_count &&
               gphi_report_frame(w, &frames[count - 1 - same]) ==
                   gphi_report_frame(w, &first[first_count - 1 - same]))
            same++;
        if (same < shared)
            shared = same;
    }
    return !first ? UINT32_MAX : shared;
}

/* The function below the place where stacks part; NULL: this node's ends there. */
static const char *region_of(report_writing *w, uint32_t stack, uint32_t shared)
{
    uint32_t count = 0;
    const gph_place *frames = gphi_doctor_frames(w->report->doctor, stack, &count);
    if (!frames || count < shared + 2)
        return NULL;
    return frames[count - shared - 2].function;
}

static void put_regions(report_writing *w, const report_graph *graph)
{
    const char *names[REGIONS_MAX];
    uint32_t count = 0;
    const uint32_t shared =
        graph->nodes.count <= REGION_NODES_MAX ? shared_frames(w, graph) : UINT32_MAX;
    gphi_text_put(&w->out, ",\"region\":[");
    for (size_t i = 0; i < graph->nodes.count; i++) {
        const report_node *node = gphi_vec_at(&graph->nodes, i);
        const char *name =
            shared == UINT32_MAX ? NULL : region_of(w, node->stack, shared);
        int region = -1;
        for (uint32_t n = 0; name && n < count && region < 0; n++)
            if (strcmp(names[n], name) == 0)
                region = (int)n;
        if (name && region < 0 && count < REGIONS_MAX) {
            names[count] = name;
            region = (int)count++;
        }
        gphi_text_add(&w->out, i > 0 ? ",%d" : "%d", region);
    }
    gphi_text_put(&w->out, "],\"regions\":[");
    for (uint32_t n = 0; n < count; n++) {
        gphi_report_comma(w, n);
        gphi_json_text(&w->out, names[n]);
    }
    gphi_text_put(&w->out, "]");
}

/* ---- graphs ---- */

static void put_nodes(report_writing *w, const report_graph *graph)
{
    static const char *const columns[] = {"kind", "fn", "stack", "made"};
    for (int column = 0; column < 4; column++) {
        gphi_text_add(&w->out, ",\"%s\":[", columns[column]);
        for (size_t i = 0; i < graph->nodes.count; i++) {
            const report_node *node = gphi_vec_at(&graph->nodes, i);
            const uint32_t made = gphi_report_find(w->report, node->made);
            const int64_t value = column == 0   ? (int64_t)node->kind
                                  : column == 1 ? (int64_t)node->function - 1
                                  : column == 2 ? gphi_report_stack_number(w, node->stack)
                                  : made == UINT32_MAX ? -1
                                                       : (int64_t)made;
            gphi_text_add(&w->out, i > 0 ? ",%" PRId64 : "%" PRId64, value);
        }
        gphi_text_put(&w->out, "]");
    }
    gphi_text_put(&w->out, ",\"detail\":[");
    for (size_t i = 0; i < graph->nodes.count; i++) {
        gphi_report_comma(w, i);
        gphi_json_text(&w->out,
                       ((const report_node *)gphi_vec_at(&graph->nodes, i))->detail);
    }
    gphi_text_put(&w->out, "]");
}

/* Pairs of node indices; the few programmatic ones are named by their place. */
static void put_edges(report_writing *w, const report_graph *graph)
{
    gphi_text_put(&w->out, ",\"edges\":[");
    for (size_t i = 0; i < graph->edges.count; i++) {
        const report_edge *edge = gphi_vec_at(&graph->edges, i);
        gphi_text_add(&w->out, i > 0 ? ",%u,%u" : "%u,%u", edge->from, edge->to);
    }
    gphi_text_put(&w->out, "],\"weak\":[");
    for (size_t i = 0, many = 0; i < graph->edges.count; i++)
        if (((const report_edge *)gphi_vec_at(&graph->edges, i))->is_weak)
            gphi_text_add(&w->out, "%s%zu", many++ > 0 ? "," : "", i);
    gphi_text_put(&w->out, "]");
}

/* Executables refer to graphs by number, so they come after them. */
static void put_execs(report_writing *w)
{
    const gph_report *r = w->report;
    char name[128];
    gphi_text_put(&w->out, ",\"execs\":[");
    for (size_t i = 0; i < r->execs.count; i++) {
        const report_exec *exec = gphi_vec_at(&r->execs, i);
        name[0] = 0;
        if (exec->graph != 0)
            gphi_report_graph_name(r, exec->graph - 1, name, sizeof(name));
        gphi_report_comma(w, i);
        gphi_report_put_name(w, name, "");
        gphi_text_add(&w->out, ",\"graph\":%d,\"from\":%" PRIu64 ",\"to\":%" PRId64,
                      exec->graph == 0 ? -1 : (int)shown_as(w, exec->graph - 1) - 1,
                      gphi_report_time(r, exec->from_ns),
                      exec->to_ns == 0 ? -1 : (int64_t)gphi_report_time(r, exec->to_ns));
        gphi_text_add(&w->out, ",\"launches\":%" PRIu64 ",\"updates\":%" PRIu64,
                      exec->launches, exec->updates);
        gphi_text_add(&w->out, ",\"device\":%" PRIu64 ",\"refused\":%" PRIu64 "}",
                      exec->device_runs, exec->refused);
    }
    gphi_text_put(&w->out, "]");
}

void gphi_report_put_graphs(report_writing *w)
{
    const gph_report *r = w->report;
    char name[128];
    uint32_t many = 0;
    gphi_text_put(&w->out, ",\"graphs\":[");
    for (uint32_t i = 0; i < r->graphs.count; i++) {
        const report_graph *graph = gphi_vec_at(&r->graphs, i);
        const bool show = is_shown(r, i);
        uint32_t *number = gphi_vec_add(&w->shown, 1);
        if (!number) {
            w->failed = true;
            break;
        }
        if (!show)
            continue;
        gphi_report_comma(w, many);
        *number = ++many;
        gphi_report_graph_name(r, i, name, sizeof(name));
        gphi_text_put(&w->out, "{\"title\":");
        gphi_json_text(&w->out, name);
        gphi_text_add(&w->out, ",\"count\":%u,\"bytes\":%" PRIu64 ",\"child\":%d",
                      graph->node_count, graph->bytes, graph->why == GPHI_SNAPSHOT_CHILD);
        put_nodes(w, graph);
        put_regions(w, graph);
        put_edges(w, graph);
        gphi_report_put_decided(w, i);
        gphi_text_put(&w->out, "}");
    }
    gphi_text_put(&w->out, "]");
    put_execs(w);
}

/* ---- memory ---- */

static const report_lifetime *life_at(const report_writing *w, size_t i)
{
    return gphi_vec_at(&w->report->lifetimes, i);
}

static int64_t life_from(report_writing *w, size_t i)
{
    return (int64_t)gphi_report_time(w->report, life_at(w, i)->from_ns);
}

static int64_t life_to(report_writing *w, size_t i)
{
    const uint64_t to = life_at(w, i)->to_ns;
    return to == 0 ? -1 : (int64_t)gphi_report_time(w->report, to);
}

static int64_t life_stack(report_writing *w, size_t i)
{
    return gphi_report_stack_number(w, life_at(w, i)->stack);
}

static int64_t life_captured(report_writing *w, size_t i)
{
    return life_at(w, i)->is_captured ? 0 : -1;
}

static int64_t life_call(report_writing *w, size_t i)
{
    const uint32_t call = gphi_report_find(w->report, life_at(w, i)->made);
    return call == UINT32_MAX ? -1 : (int64_t)call;
}

void gphi_report_put_memory(report_writing *w)
{
    static const report_column columns[] = {
        {"a", NULL, REPORT_MEMBER(report_lifetime, address), 0},
        {"b", NULL, REPORT_MEMBER(report_lifetime, bytes), 0},
        {"kind", NULL, REPORT_MEMBER(report_lifetime, kind), 0},
        {"from", life_from, REPORT_NO_MEMBER},
        {"to", life_to, REPORT_NO_MEMBER},
        {"stack", life_stack, REPORT_NO_MEMBER},
        {"call", life_call, REPORT_NO_MEMBER},
        {"capture", life_captured, REPORT_NO_MEMBER}};
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"memory\":{");
    gphi_report_put_columns(w, &r->lifetimes, columns,
                            sizeof(columns) / sizeof(*columns));
    /* Pools that libgph does not report have a handle for a name. */
    report_numbers pools;
    numbers_init(&pools, r->heap);
    gphi_text_put(&w->out, ",\"pool\":[");
    for (size_t i = 0; i < r->lifetimes.count; i++) {
        const uint64_t pool = life_at(w, i)->pool;
        gphi_text_add(&w->out, "%s%d", i > 0 ? "," : "",
                      pool == 0 ? -1 : (int)number_of(&pools, pool, &w->failed));
    }
    gphi_text_add(&w->out, "],\"count\":%" PRIu64 "},\"pools\":[", r->lifetime_count);
    for (size_t i = 0; i < pools.keys.count; i++)
        gphi_text_add(&w->out, "%s{\"name\":\"0x%" PRIx64 "\",\"reserved\":0,\"used\":0}",
                      i > 0 ? "," : "", *(const uint64_t *)gphi_vec_at(&pools.keys, i));
    for (size_t i = 0; i < r->pools.count; i++) {
        const report_pool *pool = gphi_vec_at(&r->pools, i);
        gphi_report_comma(w, pools.keys.count + i);
        gphi_report_put_name(w, pool->name, gphi_language_of("pool"));
        gphi_text_add(&w->out, ",\"reserved\":%" PRIu64 ",\"used\":%" PRIu64 "}",
                      pool->reserved, pool->used);
    }
    gphi_text_put(&w->out, "]");
    numbers_fini(&pools);
}

/* ---- what libgph reported ---- */

static void put_bucket(report_writing *w, const report_bucket *bucket)
{
    /* The size of a bucket is reported with each replay. */
    const uint64_t replays = bucket->counts[0] + bucket->counts[1];
    const int64_t size = bucket->bucket == UINT32_MAX ? -1
                         : replays == 0               ? -2 - (int64_t)bucket->bucket
                                                      : (int64_t)(bucket->ran / replays);
    gphi_text_add(&w->out,
                  "{\"size\":%" PRId64 ",\"exact\":%" PRIu64 ",\"padded\":%" PRIu64, size,
                  bucket->counts[0], bucket->counts[1]);
    gphi_text_add(&w->out,
                  ",\"eager\":%" PRIu64 ",\"miss\":%" PRIu64 ",\"asked\":%" PRIu64,
                  bucket->counts[2], bucket->counts[3], bucket->asked);
    gphi_text_add(&w->out, ",\"ran\":%" PRIu64 ",\"records\":%" PRIu64 ",\"ns\":%" PRIu64,
                  bucket->ran, bucket->records, bucket->record_ns);
    gphi_text_add(&w->out, ",\"bytes\":%" PRIu64 ",\"evictions\":%" PRIu64 "}",
                  bucket->bytes, bucket->evictions);
}

static const char *reason_text(uint64_t reason)
{
    switch (reason) {
#define X(name, value, word, text)                                                       \
    case value: return text;
        GPH_TREE_REASON_MAP(X)
#undef X
    default: return "";
    }
}

static void put_tree(report_writing *w, const report_tree *tree)
{
    gphi_text_add(&w->out, "{\"name\":\"%s\",\"nodes\":[", gphi_language_of("tree"));
    for (size_t i = 0; i < tree->nodes.count; i++) {
        const report_tree_node *node = gphi_vec_at(&tree->nodes, i);
        gphi_report_comma(w, i);
        gphi_report_put_name(w, node->name, gphi_language_of("function"));
        gphi_text_add(&w->out,
                      ",\"id\":%" PRIu64 ",\"parent\":%" PRId64 ",\"replays\":%" PRIu64,
                      node->id, (int64_t)node->parent - 1, node->replays);
        gphi_text_add(&w->out, ",\"records\":%" PRIu64 ",\"why\":\"%s\"}", node->records,
                      node->records > 1 ? gphi_language_of(reason_text(node->why)) : "");
    }
    gphi_text_put(&w->out, "]}");
}

void gphi_report_put_notes(report_writing *w)
{
    const gph_report *r = w->report;
    gphi_text_put(&w->out, ",\"caches\":[");
    for (size_t i = 0; i < r->caches.count; i++) {
        const report_cache *cache = gphi_vec_at(&r->caches, i);
        gphi_report_comma(w, i);
        gphi_report_put_name(w, cache->name, gphi_language_of("cache"));
        gphi_text_put(&w->out, ",\"buckets\":[");
        for (size_t b = 0; b < cache->buckets.count; b++) {
            gphi_report_comma(w, b);
            put_bucket(w, gphi_vec_at(&cache->buckets, b));
        }
        gphi_text_put(&w->out, "]}");
    }
    gphi_text_put(&w->out, "],\"trees\":[");
    for (size_t i = 0; i < r->trees.count; i++) {
        gphi_report_comma(w, i);
        put_tree(w, gphi_vec_at(&r->trees, i));
    }
    gphi_text_put(&w->out, "]");
}

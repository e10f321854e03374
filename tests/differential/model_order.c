// SPDX-License-Identifier: Apache-2.0
/* What happens before what. Every stream has a vector clock; every cell knows who wrote
 * it last and who has read it since. A program in which each access is ordered against
 * the conflicting ones before has one defined result. Where a rule is subtle this assumes
 * less order than there is. */
#include <string.h>

#include "model.h"

bool stream_blocks(int stream)
{
    return stream == 1 || stream == 2;
}

void clock_join(struct mclock *into, const struct mclock *from)
{
    for (int i = 0; i < STREAMS; i++)
        if (into->at[i] < from->at[i])
            into->at[i] = from->at[i];
}

void order_submit(struct model *model, int stream)
{
    struct mclock *clock = &model->streams[stream].clock;
    clock_join(clock, &model->done);
    if (stream == 0)
        for (int i = 1; i < STREAMS; i++)
            if (stream_blocks(i))
                clock_join(clock, &model->streams[i].clock);
    if (stream_blocks(stream))
        clock_join(clock, &model->streams[0].clock);
    clock->at[stream]++;
}

void order_sync(struct model *model, int stream)
{
    clock_join(&model->done, &model->streams[stream].clock);
}

void order_sync_all(struct model *model)
{
    for (int i = 0; i < STREAMS; i++)
        clock_join(&model->done, &model->streams[i].clock);
}

/* ---- one work against the past ---- */

struct ask {
    struct model *model;
    struct mclock clock;
    int stream;
    bool bad;
};

typedef void cell_visit(struct ask *ask, struct mcell *cell, bool writes);

struct cell_walk {
    struct ask *ask;
    cell_visit *visit;
};

static void each_cell(void *user, int32_t address, int bytes, bool writes)
{
    struct cell_walk *walk = user;
    const int buffer = BUFFER_OF(address);
    if (buffer >= BUFFERS || bytes <= 0)
        return;
    const int first = OFFSET_OF(address) / CELL_BYTES;
    const int last = (OFFSET_OF(address) + bytes - 1) / CELL_BYTES;
    for (int i = first; i <= last && i < BUFFER_CELLS; i++)
        walk->visit(walk->ask, &walk->ask->model->cells[buffer][i], writes);
}

static void visit_cells(struct ask *ask, const struct work *work, cell_visit *visit)
{
    struct cell_walk walk = {ask, visit};
    work_spans(work, each_cell, &walk);
}

static void check_cell(struct ask *ask, struct mcell *cell, bool writes)
{
    if (cell->writer >= 0 && ask->clock.at[cell->writer] < cell->written)
        ask->bad = true;
    for (int i = 0; writes && i < STREAMS; i++)
        if (i != ask->stream && ask->clock.at[i] < cell->read[i])
            ask->bad = true;
}

static void note_cell(struct ask *ask, struct mcell *cell, bool writes)
{
    const uint32_t now = ask->clock.at[ask->stream];
    if (writes) {
        cell->writer = ask->stream;
        cell->written = now;
        cell->defined = true;
    } else if (cell->read[ask->stream] < now) {
        cell->read[ask->stream] = now;
    }
}

static void undefined_cell(struct ask *ask, struct mcell *cell, bool writes)
{
    if (!writes && !cell->defined)
        ask->bad = true;
}

/* The clock that a submission to the stream would have. */
static struct mclock clock_then(struct model *model, int stream)
{
    const struct mclock before = model->streams[stream].clock;
    order_submit(model, stream);
    const struct mclock then = model->streams[stream].clock;
    model->streams[stream].clock = before;
    return then;
}

bool order_conflicts(struct model *model, const struct work *work, int stream)
{
    struct ask ask = {model, clock_then(model, stream), stream, false};
    visit_cells(&ask, work, check_cell);
    return ask.bad;
}

bool work_reads_undefined(const struct model *model, const struct work *work)
{
    struct ask ask = {(struct model *)(uintptr_t)model, {{0}}, 0, false};
    visit_cells(&ask, work, undefined_cell);
    return ask.bad;
}

/* A fresh or freed allocation holds nothing. */
static void undefine(struct model *model, const struct work *work)
{
    const int buffer = work->kind == WORK_ALLOC  ? BUFFER_ALLOC + work->p[0]
                       : work->kind == WORK_FREE ? BUFFER_OF(work->p[0])
                                                 : 0;
    for (int i = 0; buffer >= BUFFER_ALLOC && buffer < BUFFERS && i < BUFFER_CELLS; i++)
        model->cells[buffer][i].defined = false;
}

void order_note(struct model *model, const struct work *work, int stream)
{
    struct ask ask = {model, model->streams[stream].clock, stream, false};
    visit_cells(&ask, work, note_cell);
    undefine(model, work);
}

static void graph_visit(struct ask *ask, const struct mgraph *graph, cell_visit *visit)
{
    for (int i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->child)
            graph_visit(ask, graph->nodes[i]->child, visit);
        else if (graph->nodes[i]->enabled)
            visit_cells(ask, &graph->nodes[i]->work, visit);
        if (visit == note_cell)
            undefine(ask->model, &graph->nodes[i]->work);
    }
}

/* ---- pageable memory: a node that copies from it reads at the launch call ---- */

struct pageable {
    struct model *model;
    bool read, fresh, written; /* fresh: by a read of what may still be written */
};

static void look_at_pageable(void *user, int32_t address, int bytes, bool writes)
{
    struct pageable *seen = user;
    if (BUFFER_OF(address) != BUFFER_PAGEABLE || bytes <= 0)
        return;
    seen->written |= writes;
    seen->read |= !writes;
    const int last = (OFFSET_OF(address) + bytes - 1) / CELL_BYTES;
    for (int i = OFFSET_OF(address) / CELL_BYTES; !writes && i <= last; i++) {
        const struct mcell *cell = &seen->model->cells[BUFFER_PAGEABLE][i];
        seen->fresh |=
            cell->writer >= 0 && seen->model->done.at[cell->writer] < cell->written;
    }
}

static void walk_pageable(struct pageable *seen, const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        struct pageable one = {seen->model, false, false, false};
        if (node->child) {
            walk_pageable(seen, node->child);
            continue;
        }
        if (node->enabled)
            work_spans(&node->work, look_at_pageable, &one);
        const bool copies = node->work.kind == WORK_MEMCPY;
        seen->read |= one.read && copies;
        seen->fresh |= one.fresh && copies;
        seen->written |= one.written;
    }
}

static bool pageable_conflicts(struct model *model, const struct mgraph *graph)
{
    struct pageable seen = {model, false, false, false};
    walk_pageable(&seen, graph);
    return seen.fresh || (seen.read && seen.written);
}

bool graph_works(const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        const int kind = node->work.kind;
        if (node->child ? graph_works(node->child)
                        : node->enabled && kind != WORK_EMPTY && kind != WORK_WAIT &&
                              kind != WORK_RECORD)
            return true;
    }
    return false;
}

bool order_exec_conflicts(struct model *model, const struct mexec *exec, int stream)
{
    struct ask ask = {model, clock_then(model, stream), stream, false};
    if (graph_works(exec->graph))
        clock_join(&ask.clock, &exec->clock);
    graph_visit(&ask, exec->graph, check_cell);
    return ask.bad || pageable_conflicts(model, exec->graph);
}

void order_note_graph(struct model *model, const struct mgraph *graph, int stream)
{
    struct ask ask = {model, model->streams[stream].clock, stream, false};
    graph_visit(&ask, graph, note_cell);
}

/* ---- nodes of a graph against each other ----
 * The graph is laid flat (a child graph between an entry and an exit), then every pair of
 * nodes that touch a common cell, one of them writing, must be ordered. */

enum { FLAT_MAX = 512, CELLS = BUFFERS * BUFFER_CELLS };

struct flat {
    const struct mnode *nodes[FLAT_MAX];
    uint64_t before[FLAT_MAX][FLAT_MAX / 64]; /* ancestors */
    uint64_t reads[FLAT_MAX][CELLS / 64], writes[FLAT_MAX][CELLS / 64];
    bool done[FLAT_MAX];
    int from[4 * FLAT_MAX], to[4 * FLAT_MAX];
    int count, edges;
};

static int flat_node(struct flat *flat, const struct mnode *node)
{
    if (flat->count == FLAT_MAX)
        return FLAT_MAX - 1;
    flat->nodes[flat->count] = node;
    return flat->count++;
}

static void flat_edge(struct flat *flat, int from, int to)
{
    if (flat->edges == 4 * FLAT_MAX)
        return;
    flat->from[flat->edges] = from;
    flat->to[flat->edges++] = to;
}

static void flatten(struct flat *flat, const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        struct mnode *node = graph->nodes[i];
        node->mark = flat_node(flat, node->child ? NULL : node);
        if (node->child) {
            flatten(flat, node->child);
            node->mark_out = flat_node(flat, NULL);
        } else {
            node->mark_out = node->mark;
        }
    }
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        for (int k = 0; k < node->deps.count; k++)
            if (node->deps.at[k].data == 0) /* others do not wait for the end */
                flat_edge(flat, node->deps.at[k].node->mark_out, node->mark);
        if (node->child == NULL)
            continue;
        flat_edge(flat, node->mark, node->mark_out);
        for (int k = 0; k < node->child->count; k++) {
            flat_edge(flat, node->mark, node->child->nodes[k]->mark);
            flat_edge(flat, node->child->nodes[k]->mark_out, node->mark_out);
        }
    }
}

struct flat_cells {
    struct flat *flat;
    int node;
};

static void mark_cells(void *user, int32_t address, int bytes, bool writes)
{
    const struct flat_cells *to = user;
    const int buffer = BUFFER_OF(address);
    if (buffer >= BUFFERS || bytes <= 0)
        return;
    const int last = (OFFSET_OF(address) + bytes - 1) / CELL_BYTES;
    for (int i = OFFSET_OF(address) / CELL_BYTES; i <= last && i < BUFFER_CELLS; i++) {
        const int cell = buffer * BUFFER_CELLS + i;
        uint64_t *set = writes ? to->flat->writes[to->node] : to->flat->reads[to->node];
        set[cell / 64] |= 1ull << (cell % 64);
    }
}

/* Ancestors, in rounds; false: a cycle. */
static bool fill_ancestors(struct flat *flat)
{
    for (int done = 0; done < flat->count;) {
        const int before = done;
        for (int i = 0; i < flat->count; i++) {
            bool ready = !flat->done[i];
            for (int e = 0; ready && e < flat->edges; e++)
                ready = flat->to[e] != i || flat->done[flat->from[e]];
            if (!ready)
                continue;
            for (int e = 0; e < flat->edges; e++) {
                if (flat->to[e] != i)
                    continue;
                const int from = flat->from[e];
                flat->before[i][from / 64] |= 1ull << (from % 64);
                for (int w = 0; w < FLAT_MAX / 64; w++)
                    flat->before[i][w] |= flat->before[from][w];
            }
            flat->done[i] = true;
            done++;
        }
        if (done == before)
            return false;
    }
    return true;
}

static bool is_before(const struct flat *flat, int a, int b)
{
    return flat->before[b][a / 64] >> (a % 64) & 1;
}

static bool clash(const struct flat *flat, int a, int b)
{
    for (int w = 0; w < CELLS / 64; w++)
        if ((flat->writes[a][w] & (flat->writes[b][w] | flat->reads[b][w])) ||
            (flat->reads[a][w] & flat->writes[b][w]))
            return true;
    return false;
}

static int memory_of(const struct mnode *node, int kind)
{
    if (node == NULL || node->work.kind != kind)
        return -1;
    return kind == WORK_ALLOC ? BUFFER_ALLOC + node->work.p[0]
                              : BUFFER_OF(node->work.p[0]);
}

static bool touches(const struct flat *flat, int node, int cell)
{
    return (flat->reads[node][cell / 64] | flat->writes[node][cell / 64]) >> (cell % 64) &
           1;
}

/* Of an allocation that the graph makes: each read has a write before it. */
static bool reads_nothing(const struct flat *flat, int node, int buffer)
{
    for (int c = buffer * BUFFER_CELLS; c < (buffer + 1) * BUFFER_CELLS; c++) {
        bool written = !(flat->reads[node][c / 64] >> (c % 64) & 1);
        for (int w = 0; w < flat->count && !written; w++)
            written = is_before(flat, w, node) &&
                      memory_of(flat->nodes[w], WORK_ALLOC) < 0 &&
                      (flat->writes[w][c / 64] >> (c % 64) & 1);
        if (!written)
            return true;
    }
    return false;
}

/* Whether a node touches an allocation of the graph before it is made, after it is freed,
 * or unwritten. */
static bool breaks_lifetimes(const struct flat *flat)
{
    for (int a = 0; a < flat->count; a++) {
        const int made = memory_of(flat->nodes[a], WORK_ALLOC);
        const int freed = memory_of(flat->nodes[a], WORK_FREE);
        const int buffer = made > freed ? made : freed;
        if (buffer < BUFFER_ALLOC || buffer >= BUFFERS)
            continue;
        for (int i = 0; i < flat->count; i++) {
            bool touched = false;
            for (int c = 0; c < BUFFER_CELLS && i != a; c++)
                touched = touched || touches(flat, i, buffer * BUFFER_CELLS + c);
            if (!touched)
                continue;
            if (made >= 0 ? !is_before(flat, a, i) : !is_before(flat, i, a))
                return true;
            if (made >= 0 && memory_of(flat->nodes[i], WORK_FREE) < 0 &&
                reads_nothing(flat, i, buffer))
                return true;
        }
    }
    return false;
}

static bool flat_is_racy(struct flat *flat)
{
    for (int i = 0; i < flat->count; i++) {
        struct flat_cells to = {flat, i};
        if (flat->nodes[i] && flat->nodes[i]->work.bad)
            return true; /* an address that a driver did not look at */
        if (flat->nodes[i] && flat->nodes[i]->enabled)
            work_spans(&flat->nodes[i]->work, mark_cells, &to);
    }
    if (!fill_ancestors(flat))
        return true;
    for (int i = 0; i < flat->count; i++)
        for (int k = i + 1; k < flat->count; k++)
            if (!is_before(flat, i, k) && !is_before(flat, k, i) && clash(flat, i, k))
                return true;
    return breaks_lifetimes(flat);
}

bool graph_is_racy(struct model *model, const struct mgraph *graph)
{
    static struct flat flat;
    (void)model;
    flat.count = flat.edges = 0;
    flatten(&flat, graph);
    if (flat.count >= FLAT_MAX - 1 || flat.edges >= 4 * FLAT_MAX - 1)
        return true;
    for (int i = 0; i < flat.count; i++) {
        memset(flat.before[i], 0, sizeof(flat.before[i]));
        memset(flat.reads[i], 0, sizeof(flat.reads[i]));
        memset(flat.writes[i], 0, sizeof(flat.writes[i]));
        flat.done[i] = false;
    }
    return flat_is_racy(&flat);
}

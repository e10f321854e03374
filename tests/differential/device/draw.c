// SPDX-License-Identifier: Apache-2.0
/* Draws a program from a seed; see program.h for what makes its result one. */
#include <string.h>

#include "program.h"

enum { DEPTH = 3, TAIL_FUEL = 5, ALWAYS = 1000, APPLIES = 40 };

/* Cells that a list has to itself, and whether the domain's log is its, too. */
struct lane {
    int at, count;
    bool log;
    int domain;
};

struct drawing {
    struct rng rng;
    struct device_program *p;
    int applies;
    int fuel[DOMAINS]; /* a guard a domain, of launches into the tail */
    bool has_fired[DEVICE_GRAPHS];
};

/* Where a list is drawn. */
struct place {
    int graph, depth;
    bool in_body, in_child;
};

static void draw_list(struct drawing *d, int list, struct place place, struct lane lane,
                      int most);
static void draw_domain(struct drawing *d, int parent, int graph);

enum question question_of(uint32_t seed)
{
    const uint32_t rest = seed % 16;
    return rest < 16 - QUESTIONS + 1 ? PLAIN : (enum question)(rest - 16 + QUESTIONS);
}

static int new_item(struct drawing *d, int list, struct place place, enum kind kind)
{
    struct device_program *p = d->p;
    struct list *l = &p->list[list];
    const int most = kind == COUNT ? ITEMS : ITEMS - 8; /* every loop has its count */
    if (p->items == most || l->count == LIST_ITEMS)
        return -1;
    p->item[p->items] = (struct item){.kind = kind,
                                      .changed = -1,
                                      .target = -1,
                                      .graph = place.graph,
                                      .is_outer = !place.in_body && !place.in_child};
    l->items[l->count++] = p->items;
    return p->items++;
}

static int new_list(struct drawing *d)
{
    d->p->list[d->p->lists].count = 0;
    return d->p->lists++;
}

static int cell(struct drawing *d, struct lane lane)
{
    return lane.at + rng_below(&d->rng, lane.count);
}

static int new_guard(struct drawing *d)
{
    return d->p->guards < GUARDS ? GUARDS_AT + d->p->guards++ : -1;
}

static int room(const struct drawing *d, int list)
{
    return LIST_ITEMS - d->p->list[list].count;
}

/* ---- plain work -------------------------------------------------------------------- */

/* Whether the node is to be one that kernels change. */
static bool may_change(struct drawing *d, struct place place, struct lane lane)
{
    const bool in_body = place.in_body && d->p->question == CHANGED_IN_BODIES;
    return lane.log && !place.in_child && (!place.in_body || in_body) &&
           d->p->changed < CHANGED && rng_chance(&d->rng, 50);
}

static void draw_work(struct drawing *d, int list, struct place place, struct lane lane)
{
    static const enum kind kinds[] = {MIX, MIX, MIX, MIX, TAKE, BLOCKS, COPY, FILL, NOTE};
    enum kind kind = kinds[rng_below(&d->rng, lane.log ? 9 : 8)];
    const int at = new_item(d, list, place, kind);
    if (at < 0)
        return;
    struct item *item = &d->p->item[at];
    item->dst = kind == NOTE ? lane.domain : cell(d, lane);
    item->src = cell(d, lane);
    item->value = (uint32_t)rng_below(&d->rng, 1000) + 1;
    if ((kind == MIX || kind == BLOCKS) && may_change(d, place, lane)) {
        item->changed = d->p->changed++;
        d->p->changed_item[item->changed] = at;
        d->p->changed_graph[item->changed] = place.graph;
    }
}

static void draw_sides(struct drawing *d, int list, struct place place, struct lane lane)
{
    const int count = lane.count >= 12 && rng_chance(&d->rng, 50) ? 3 : 2;
    if (lane.count < 4 * count || d->p->lists + count > LISTS)
        return;
    const int at = new_item(d, list, place, SIDE);
    if (at < 0)
        return;
    for (int i = 0; i < count; i++) {
        const int branch = new_list(d);
        struct lane part = lane;
        part.count = lane.count / count;
        part.at = lane.at + i * part.count;
        part.log = false;
        d->p->item[at].branch[i] = branch;
        d->p->item[at].branches = i + 1;
        draw_list(d, branch, place, part, 3);
    }
}

static void draw_child(struct drawing *d, int list, struct place place, struct lane lane)
{
    const int at = d->p->lists < LISTS ? new_item(d, list, place, CHILD) : -1;
    if (at < 0)
        return;
    const int branch = new_list(d);
    d->p->item[at].branch[0] = branch;
    d->p->item[at].branches = 1;
    place.in_child = true;
    const int count = 1 + rng_below(&d->rng, 3);
    for (int i = 0; i < count; i++)
        draw_work(d, branch, place, lane);
}

/* ---- conditional nodes ------------------------------------------------------------- */

static void draw_decision(struct drawing *d, int list, struct place place,
                          struct lane lane, int handle, uint32_t below)
{
    const int at = new_item(d, list, place, DECIDE);
    if (at < 0)
        return;
    d->p->item[at].handle = handle;
    d->p->item[at].src = cell(d, lane);
    d->p->item[at].value = below;
}

static void draw_condition(struct drawing *d, int list, struct place place,
                           struct lane lane)
{
    struct device_program *p = d->p;
    static const enum kind kinds[] = {IF, IF, WHILE, SWITCH};
    const enum kind kind = kinds[rng_below(&d->rng, 4)];
    const int bodies = kind == IF       ? 1 + rng_below(&d->rng, 2)
                       : kind == SWITCH ? 1 + rng_below(&d->rng, BRANCHES)
                                        : 1;
    if (room(d, list) < 3 || p->handles == HANDLES || p->counters == COUNTERS ||
        p->lists + bodies > LISTS || p->items + 12 > ITEMS)
        return;
    const int handle = p->handles++;
    const bool assigned = rng_chance(&d->rng, 50);
    p->handle[handle] =
        (struct handle){place.graph, (uint32_t)rng_below(&d->rng, 3), assigned};
    const int counter = kind == WHILE ? COUNTERS_AT + p->counters++ : -1;
    if (kind == WHILE) {
        const int sets = new_item(d, list, place, TAKE);
        p->item[sets].dst = counter;
        p->item[sets].src = cell(d, lane);
        p->item[sets].value = 1 + (uint32_t)rng_below(&d->rng, 4);
    }
    if (!assigned || rng_chance(&d->rng, 60))
        draw_decision(d, list, place, lane, handle, kind == SWITCH ? 4 : 2);
    const int at = new_item(d, list, place, kind);
    p->item[at].handle = handle;
    place.depth++;
    place.in_body = true;
    for (int i = 0; i < bodies; i++) {
        const int body = new_list(d);
        p->item[at].branch[i] = body;
        p->item[at].branches = i + 1;
        draw_list(d, body, place, lane, 4);
        if (kind != WHILE)
            continue;
        const int counts = new_item(d, body, place, COUNT);
        p->item[counts].dst = counter;
        p->item[counts].handle = handle;
    }
}

/* ---- launches and changes ---------------------------------------------------------- */

/* A graph of the same domain that may be a tail, or -1. */
static int tail_of(struct drawing *d, int domain)
{
    int found = -1, count = 0;
    for (int i = 0; i < d->p->graphs; i++)
        if (d->p->graph[i].is_device && d->p->graph[i].domain == domain &&
            rng_below(&d->rng, ++count) == 0)
            found = i;
    return found;
}

static void draw_tail(struct drawing *d, int list, struct place place, int domain)
{
    const int target = tail_of(d, domain);
    const bool self = rng_chance(&d->rng, 25);
    if (target < 0 && !self)
        return;
    const int at = new_item(d, list, place, self ? SELF : FIRE);
    if (at < 0)
        return;
    d->p->item[at].target = target;
    d->p->item[at].stream = TAIL;
    d->p->item[at].dst = d->fuel[domain];
    d->p->item[at].src = domain;
    d->has_fired[place.graph] = true;
}

/* A graph with a domain of its own, which nobody else launches. */
static void draw_fire(struct drawing *d, int list, struct place place, int domain)
{
    struct device_program *p = d->p;
    if (p->domains == DOMAINS || p->graphs + 3 > DEVICE_GRAPHS || p->guards + 2 > GUARDS)
        return;
    const int at = new_item(d, list, place, FIRE);
    if (at < 0)
        return;
    p->item[at].target = p->graphs;
    p->item[at].stream = rng_chance(&d->rng, 60) ? FORGET : SIBLING;
    p->item[at].dst = new_guard(d);
    p->item[at].src = domain;
    p->graph[p->graphs++] = (struct graph){
        .is_device = true, .launches = true, .domain = p->domains, .parent = place.graph};
    d->has_fired[place.graph] = true;
    draw_domain(d, place.graph, p->item[at].target);
}

/* The node is found when all are drawn. */
static void draw_change(struct drawing *d, int list, struct place place, struct lane lane)
{
    static const enum kind kinds[] = {PARAM, ENABLE, GRID, APPLY};
    const enum kind kind = kinds[rng_below(&d->rng, 4)];
    if ((place.in_body && d->p->question != CHANGED_IN_BODIES) ||
        (d->has_fired[place.graph] && d->p->question != CHANGED_LATE) ||
        (kind == APPLY && d->applies == APPLIES))
        return;
    const int at = new_item(d, list, place, kind);
    if (at < 0)
        return;
    d->applies += kind == APPLY;
    d->p->item[at].src = cell(d, lane);
    d->p->item[at].dst = lane.domain;
}

static void draw_one(struct drawing *d, int list, struct place place, struct lane lane)
{
    const struct graph *graph = &d->p->graph[place.graph];
    const int dice = rng_below(&d->rng, 100);
    if (dice < 18 && graph->decides && place.depth < DEPTH)
        draw_condition(d, list, place, lane);
    else if (dice < 25)
        draw_sides(d, list, place, lane);
    else if (dice < 30)
        draw_child(d, list, place, lane);
    else if (dice < 50 && lane.log)
        draw_change(d, list, place, lane);
    else if (dice < 76 && graph->launches && lane.log && !place.in_body) {
        if (rng_chance(&d->rng, 55))
            draw_tail(d, list, place, lane.domain);
        else
            draw_fire(d, list, place, lane.domain);
    } else
        draw_work(d, list, place, lane);
}

static void draw_list(struct drawing *d, int list, struct place place, struct lane lane,
                      int most)
{
    const int count = 1 + rng_below(&d->rng, most);
    draw_work(d, list, place, lane);
    for (int i = 0; i < count; i++)
        if (room(d, list) > 3) /* a condition and the count of a loop fit */
            draw_one(d, list, place, lane);
}

static void draw_graph(struct drawing *d, int graph)
{
    const int domain = d->p->graph[graph].domain;
    const struct lane lane = {domain * DOMAIN_WORDS, CELLS, true, domain};
    const struct place place = {.graph = graph};
    const int list = new_list(d);
    d->p->graph[graph].list = list;
    draw_list(d, list, place, lane, 6);
}

/* A new domain; its first graph is made, and may get company. */
static void draw_domain(struct drawing *d, int parent, int graph)
{
    struct device_program *p = d->p;
    const int domain = p->domains++;
    d->fuel[domain] = new_guard(d);
    const bool company = rng_chance(&d->rng, 40);
    if (company)
        p->graph[p->graphs++] = (struct graph){
            .is_device = true, .launches = true, .domain = domain, .parent = parent};
    const int second = p->graphs - 1;
    draw_graph(d, graph);
    if (company)
        draw_graph(d, second);
}

/* ---- when all are drawn ------------------------------------------------------------ */

static bool suits(const struct drawing *d, const struct item *by, enum kind kind,
                  int node)
{
    const struct device_program *p = d->p;
    const struct item *changed = &p->item[p->changed_item[node]];
    const struct graph *mine = &p->graph[by->graph];
    const struct graph *other = &p->graph[p->changed_graph[node]];
    if (mine->domain != other->domain || (kind == PARAM && changed->kind != MIX) ||
        (kind == GRID && changed->kind != BLOCKS))
        return false;
    /* Others wait in no list of tails while a graph of the host runs that fired none. */
    return by->graph == p->changed_graph[node] || !mine->is_device ||
           p->question == CHANGED_LATE;
}

static int node_for(struct drawing *d, const struct item *by, enum kind kind)
{
    int found = -1, count = 0;
    for (int i = 0; i < d->p->changed; i++)
        if (suits(d, by, kind, i) && rng_below(&d->rng, ++count) == 0)
            found = i;
    return found;
}

static void find_updates(struct drawing *d, struct item *item)
{
    static const enum kind kinds[] = {PARAM, ENABLE, GRID};
    const int count = 1 + rng_below(&d->rng, UPDATES);
    for (int i = 0; i < count; i++) {
        const enum kind kind = kinds[rng_below(&d->rng, 3)];
        const int node = node_for(d, item, kind);
        const uint32_t value = (uint32_t)rng_below(&d->rng, 4) + 1;
        if (node >= 0)
            item->update[item->updates++] =
                (struct update){kind, node, kind == ENABLE ? value & 1 : value};
    }
}

static void find_targets(struct drawing *d)
{
    for (int i = 0; i < d->p->items; i++) {
        struct item *item = &d->p->item[i];
        if (item->kind < PARAM)
            continue;
        if (item->kind == APPLY)
            find_updates(d, item);
        else
            item->target = node_for(d, item, item->kind);
        if (item->target < 0 && item->updates == 0) {
            item->kind = NOTE; /* into the same log */
            item->value = 77;
        }
    }
}

/* Whether graph `reader` runs only when all of `domain` is over: one that it did not fire and
 * that a graph of its own domain forgot; of a host's graph everything is, as it begins. */
static bool may_read(const struct device_program *p, int reader, int domain,
                     bool is_first)
{
    if (!p->graph[reader].is_device)
        return is_first;
    for (int i = 0; i < p->items; i++) {
        const struct item *item = &p->item[i];
        if (item->kind == FIRE && item->stream == FORGET &&
            p->graph[item->target].domain == domain)
            return item->graph != reader &&
                   p->graph[item->graph].domain == p->graph[reader].domain;
    }
    return false;
}

static void read_others(struct drawing *d)
{
    struct device_program *p = d->p;
    for (int g = 0; g < p->graphs; g++) {
        const struct list *list = &p->list[p->graph[g].list];
        for (int i = 0; i < list->count; i++) {
            struct item *item = &p->item[list->items[i]];
            const int domain = rng_below(&d->rng, p->domains);
            if (item->kind == MIX && item->changed < 0 && rng_chance(&d->rng, 60) &&
                may_read(p, g, domain, i == 0))
                item->src = domain * DOMAIN_WORDS + rng_below(&d->rng, DOMAIN_WORDS);
        }
    }
}

/* ---- what the host does ------------------------------------------------------------ */

static bool has_changed(const struct device_program *p, int graph)
{
    for (int i = 0; i < p->changed; i++)
        if (p->changed_graph[i] == graph)
            return true;
    return false;
}

static int item_to_edit(struct drawing *d, int graph)
{
    int found = -1, count = 0;
    for (int i = 0; i < d->p->items; i++) {
        const struct item *item = &d->p->item[i];
        if (item->graph == graph && item->kind == MIX && item->is_outer &&
            rng_below(&d->rng, ++count) == 0)
            found = i;
    }
    return found;
}

static void draw_call(struct drawing *d)
{
    struct device_program *p = d->p;
    const int dice = rng_below(&d->rng, 100);
    struct host_call call = {.graph = rng_below(&d->rng, p->graphs), .item = -1};
    const bool both = p->question == EDITED_BY_BOTH || !has_changed(p, call.graph);
    if (dice < 20 && both) {
        call.item = item_to_edit(d, call.graph);
        call.value = (uint32_t)rng_below(&d->rng, 1000);
        call.call = dice < 12 ? EDIT : dice < 16 ? SWITCH_OFF : SWITCH_ON;
        if (call.item < 0)
            return;
    } else if (dice < 28 && both)
        call.call = UPLOAD;
    else if (dice < 40)
        call.call = REFILL;
    else if (dice < 85)
        call.graph = 0;
    if (call.call == LAUNCH && !p->graph[call.graph].is_device && rng_chance(&d->rng, 30))
        call.call = LAUNCH_TWICE;
    p->call[p->calls++] = call;
}

static void draw_calls(struct drawing *d)
{
    struct device_program *p = d->p;
    for (int i = 0; i < p->graphs; i++)
        if (!p->graph[i].is_device)
            p->call[p->calls++] = (struct host_call){.call = LAUNCH, .graph = i};
    const int count = 3 + rng_below(&d->rng, 6);
    for (int i = 0; i < count; i++)
        draw_call(d);
}

void draw_program(struct device_program *p, uint32_t seed)
{
    static struct drawing d;
    memset(p, 0, sizeof(*p));
    memset(&d, 0, sizeof(d));
    d.p = p;
    d.rng = (struct rng){seed * 0x100000001b3ull + 29};
    p->seed = seed;
    p->question = question_of(seed);
    p->domains = 1;
    d.fuel[0] = new_guard(&d);
    const int hosts = 1 + rng_below(&d.rng, 2), tails = rng_below(&d.rng, 4);
    const bool both = p->question == LAUNCHES_BESIDE_BODIES;
    const int first = rng_below(&d.rng, 2);
    for (int i = 0; i < hosts; i++)
        p->graph[p->graphs++] = (struct graph){.decides = both || (i + first) % 2 == 0,
                                               .launches = both || (i + first) % 2 == 1,
                                               .parent = -1};
    for (int i = 0; i < tails; i++)
        p->graph[p->graphs++] =
            (struct graph){.is_device = true, .launches = true, .parent = -1};
    for (int i = 0; i < hosts + tails; i++)
        draw_graph(&d, i);
    find_targets(&d);
    read_others(&d);
    draw_calls(&d);
}

uint32_t first_word(int at)
{
    return at >= COUNTERS_AT || at % DOMAIN_WORDS >= CELLS ? 0 : initial_word(at, 3);
}

uint32_t first_guard(const struct device_program *p, int guard)
{
    for (int i = 0; i < p->items; i++) {
        const struct item *item = &p->item[i];
        if ((item->kind != FIRE && item->kind != SELF) || item->dst != GUARDS_AT + guard)
            continue;
        return item->stream == TAIL ? TAIL_FUEL : item->stream == FORGET ? ALWAYS : 1;
    }
    return 0;
}

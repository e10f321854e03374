// SPDX-License-Identifier: Apache-2.0
/* What the rules R72 to R79 and R80 to R87 say of a program: it runs in one order here, since
 * what may run side by side touches different words. */
#include <stdio.h>
#include <string.h>

#include "program.h"

/* What may change of a node. */
struct setting {
    uint32_t value, grid;
    bool enabled;
};

struct device_model {
    const struct device_program *p;
    uint32_t words[WORDS];
    uint32_t handles[HANDLES];
    struct setting host[ITEMS], device[ITEMS]; /* what the host set; what runs */
    bool is_edited[ITEMS];                     /* by the host, since the last upload */
    bool pending[DEVICE_GRAPHS];
};

/* Tails of one graph, or all that wait in a domain. */
struct tails {
    int count, graph[2 * LIST_ITEMS + DEVICE_GRAPHS];
};

/* A run of a graph. */
struct run_of {
    int graph;
    bool again;
    struct tails mine;
};

static struct {
    unsigned long nodes, bodies, launches[SIBLING + 1], refused, changes;
} ran;

void model_print_ran(void)
{
    printf("they ran %lu nodes, %lu bodies, launched %lu tails, %lu to forget, %lu "
           "siblings, were refused %lu, made %lu changes of nodes\n",
           ran.nodes, ran.bodies, ran.launches[TAIL], ran.launches[FORGET],
           ran.launches[SIBLING], ran.refused, ran.changes);
}

static void run_list(struct device_model *m, int list, struct run_of *run);
static void run_domain(struct device_model *m, int graph);

static void note(struct device_model *m, int domain, uint32_t value)
{
    uint32_t *log = &m->words[domain * DOMAIN_WORDS + CELLS];
    log[2 + log[0] % LOG_ENTRIES] = value;
    log[1] = log[1] * 31 + value;
    log[0]++;
}

/* ---- launches and changes ---------------------------------------------------------- */

static void fire(struct device_model *m, const struct item *item, struct run_of *run)
{
    const bool self = item->kind == SELF;
    const int target = self ? run->graph : item->target;
    if (m->words[item->dst] == 0)
        return;
    m->words[item->dst]--;
    if (self && !m->p->graph[run->graph].is_device) { /* it does not know itself */
        ran.refused++;
        note(m, item->src, 1);
        return;
    }
    if (item->stream != TAIL) {
        ran.launches[item->stream]++;
        note(m, item->src, 0);
        run_domain(m, target);
        return;
    }
    const bool fits = target == run->graph ? !run->again : !m->pending[target];
    note(m, item->src, !fits);
    ran.refused += !fits;
    if (!fits)
        return;
    ran.launches[TAIL]++;
    run->again |= target == run->graph;
    m->pending[target] = true;
    run->mine.graph[run->mine.count++] = target;
}

static void change(struct device_model *m, enum kind kind, int node, uint32_t value)
{
    struct setting *s = &m->device[m->p->changed_item[node]];
    ran.changes++;
    if (kind == PARAM)
        s->value = value;
    else if (kind == ENABLE)
        s->enabled = value & 1;
    else
        s->grid = value;
}

static void run_change(struct device_model *m, const struct item *item)
{
    const uint32_t src = m->words[item->src];
    if (item->kind == APPLY)
        for (int i = 0; i < item->updates; i++)
            change(m, item->update[i].kind, item->update[i].node, item->update[i].value);
    else
        change(m, item->kind, item->target, item->kind == GRID ? 1 + src % 5 : src);
    note(m, item->dst, 0);
}

/* ---- nodes ------------------------------------------------------------------------- */

static void run_condition(struct device_model *m, const struct item *item,
                          struct run_of *run)
{
    const uint32_t *value = &m->handles[item->handle];
    if (item->kind == WHILE)
        for (; *value != 0; ran.bodies++)
            run_list(m, item->branch[0], run);
    else {
        const uint32_t which = item->kind == IF ? *value == 0 : *value;
        if (which < (uint32_t)item->branches) {
            run_list(m, item->branch[which], run);
            ran.bodies++;
        }
    }
}

static void run_item(struct device_model *m, int at, struct run_of *run)
{
    const struct item *item = &m->p->item[at];
    const struct setting *s = &m->device[at];
    uint32_t *words = m->words, *dst = &words[item->dst];
    if (!s->enabled)
        return;
    ran.nodes++;
    switch (item->kind) {
    case MIX: *dst = *dst * 5 + words[item->src] + s->value; break;
    case TAKE: *dst = words[item->src] % item->value; break;
    case NOTE: note(m, item->dst, item->value); break;
    case BLOCKS: *dst += s->grid; break;
    case COPY: *dst = words[item->src]; break;
    case FILL: *dst = item->value; break;
    case DECIDE: m->handles[item->handle] = words[item->src] % item->value; break;
    case COUNT:
        *dst -= *dst != 0;
        m->handles[item->handle] = *dst;
        break;
    case SIDE:
    case CHILD:
        for (int i = 0; i < item->branches; i++)
            run_list(m, item->branch[i], run);
        break;
    case IF:
    case WHILE:
    case SWITCH: run_condition(m, item, run); break;
    case FIRE:
    case SELF: fire(m, item, run); break;
    default: run_change(m, item);
    }
}

static void run_list(struct device_model *m, int list, struct run_of *run)
{
    for (int i = 0; i < m->p->list[list].count; i++)
        run_item(m, m->p->list[list].items[i], run);
}

/* A graph, and all tails that come of it; tails of a tail come before older ones. */
static void run_domain(struct device_model *m, int graph)
{
    struct tails rest = {1, {graph}};
    while (rest.count > 0) {
        struct run_of run = {.graph = rest.graph[0]};
        run_list(m, m->p->graph[run.graph].list, &run);
        m->pending[run.graph] = run.again;
        struct tails next = run.mine;
        memcpy(&next.graph[next.count], &rest.graph[1],
               (size_t)(rest.count - 1) * sizeof(int));
        next.count += rest.count - 1;
        rest = next;
    }
}

/* ---- the host ---------------------------------------------------------------------- */

static void upload(struct device_model *m, int graph)
{
    for (int i = 0; i < m->p->items; i++) {
        if (m->p->item[i].graph != graph || !m->is_edited[i])
            continue;
        m->device[i] = m->host[i];
        m->is_edited[i] = false;
    }
}

static void launch(struct device_model *m, int graph)
{
    upload(m, graph);
    for (int i = 0; i < m->p->handles; i++)
        if (m->p->handle[i].graph == graph && m->p->handle[i].assigned)
            m->handles[i] = m->p->handle[i].initial;
    m->pending[graph] = true;
    run_domain(m, graph);
}

static void call(struct device_model *m, const struct host_call *call)
{
    switch (call->call) {
    case LAUNCH_TWICE:
        launch(m, call->graph);
        launch(m, call->graph);
        return;
    case LAUNCH: launch(m, call->graph); return;
    case UPLOAD: upload(m, call->graph); return;
    case REFILL:
        for (int i = 0; i < GUARDS; i++)
            m->words[GUARDS_AT + i] = first_guard(m->p, i);
        return;
    case EDIT: m->host[call->item].value = call->value; break;
    case SWITCH_OFF:
    case SWITCH_ON: m->host[call->item].enabled = call->call == SWITCH_ON; break;
    }
    m->is_edited[call->item] = true;
}

void model_program(const struct device_program *p, struct result *out)
{
    static struct device_model m;
    memset(&m, 0, sizeof(m));
    memset(out, 0, sizeof(*out));
    m.p = p;
    for (int i = 0; i < WORDS; i++)
        m.words[i] = i < GUARDS_AT ? first_word(i) : first_guard(p, i - GUARDS_AT);
    for (int i = 0; i < p->items; i++)
        m.host[i] = m.device[i] = (struct setting){p->item[i].value, 1, true};
    for (int i = 0; i < p->calls; i++) {
        call(&m, &p->call[i]);
        memcpy(out->words[i], m.words, sizeof(m.words));
    }
    out->calls = p->calls;
}

// SPDX-License-Identifier: Apache-2.0
/* Draws work: kinds, operands, and whether it may be beside the nodes there are. */
#include <string.h>

#include "generate.h"

struct cells_visit {
    struct cells *cells;
};

static void note_cells(void *user, int32_t address, int bytes, bool writes)
{
    struct cells *out = ((struct cells_visit *)user)->cells;
    const int buffer = BUFFER_OF(address);
    if (buffer >= BUFFERS || bytes <= 0)
        return;
    const int last = (OFFSET_OF(address) + bytes - 1) / CELL_BYTES;
    for (int i = OFFSET_OF(address) / CELL_BYTES; i <= last && i < BUFFER_CELLS; i++) {
        const int cell = buffer * BUFFER_CELLS + i;
        (writes ? out->writes : out->reads)[cell / 64] |= 1ull << (cell % 64);
    }
}

void cells_of(const struct work *work, struct cells *out)
{
    struct cells_visit visit = {out};
    work_spans(work, note_cells, &visit);
}

bool cells_clash(const struct cells *a, const struct cells *b)
{
    for (size_t w = 0; w < sizeof(a->reads) / sizeof(a->reads[0]); w++)
        if ((a->writes[w] & (b->writes[w] | b->reads[w])) || (a->reads[w] & b->writes[w]))
            return true;
    return false;
}

static void graph_cells(const struct mgraph *graph, struct cells *out)
{
    for (int i = 0; i < graph->count; i++) {
        if (graph->nodes[i]->child)
            graph_cells(graph->nodes[i]->child, out);
        else
            cells_of(&graph->nodes[i]->work, out);
    }
}

static void mark_before(struct mnode *node)
{
    if (node->mark)
        return;
    node->mark = 1;
    for (int i = 0; i < node->deps.count; i++)
        if (node->deps.at[i].data == 0)
            mark_before(node->deps.at[i].node);
}

bool work_clashes(struct model *model, const struct mgraph *graph,
                  struct mnode *const *deps, int count, const struct work *work)
{
    struct cells mine = {{0}, {0}};
    if (work->kind == WORK_CHILD)
        graph_cells(model->graphs[work->p[0]], &mine);
    else
        cells_of(work, &mine);
    for (int i = 0; i < graph->count; i++)
        graph->nodes[i]->mark = 0;
    for (int i = 0; i < count; i++)
        mark_before(deps[i]);
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        struct cells theirs = {{0}, {0}};
        if (node->mark)
            continue;
        if (node->child)
            graph_cells(node->child, &theirs);
        else
            cells_of(&node->work, &theirs);
        if (cells_clash(&mine, &theirs))
            return true;
    }
    return false;
}

/* ---- operands ---- */

/* A buffer that a graph allocation stands for: one of the scope's own, or a live one. */
static int draw_allocation(struct generator *gen)
{
    int found = -1, seen = 0;
    for (int i = 0; i < gen->next_alloc; i++) {
        const struct mallocation *alloc = &gen->model->allocs[i];
        const bool own = gen->scope && alloc->exists && alloc->graph == gen->scope->uid &&
                         !alloc->freed_at_home;
        const bool live = alloc->live && gen->model->cells[BUFFER_ALLOC + i][0].defined &&
                          !alloc->freed_elsewhere;
        if ((own || live) && rng_below(&gen->rng, ++seen) == 0)
            found = BUFFER_ALLOC + i;
    }
    return found;
}

static int32_t draw_cell(struct generator *gen, int first, int buffers, int cells)
{
    int buffer = first + rng_below(&gen->rng, buffers);
    if (gen->memory > 0 && first == 0 && rng_chance(&gen->rng, 40)) {
        const int alloc = draw_allocation(gen);
        buffer = alloc < 0 ? buffer : alloc;
    }
    const int cell = rng_below(&gen->rng, BUFFER_CELLS - cells + 1);
    return ADDRESS(buffer, cell * CELL_BYTES);
}

static void draw_kernel(struct generator *gen, int32_t *p)
{
    p[0] = rng_below(&gen->rng, KERNELS);
    for (int i = 1; i <= 3; i++)
        p[i] = draw_cell(gen, 0, BUFFER_PAGEABLE, 1);
    p[4] = rng_below(&gen->rng, 1000);
}

static void draw_memcpy(struct generator *gen, int32_t *p, bool eager)
{
    const int buffers = eager ? BUFFER_PAGEABLE : BUFFER_FIXED;
    const int rows = rng_chance(&gen->rng, 20) ? 2 + rng_below(&gen->rng, 2) : 1;
    p[2] = 4 * (1 + rng_below(&gen->rng, rows > 1 ? 16 : 40));
    p[3] = rows;
    do {
        p[0] = draw_cell(gen, 0, buffers, rows > 1 ? 2 * rows : 3);
        p[1] = draw_cell(gen, 0, buffers, rows > 1 ? 2 * rows : 3);
    } while (BUFFER_OF(p[0]) == BUFFER_OF(p[1]));
    if (rows == 1 && rng_chance(&gen->rng, 30)) {
        p[0] += 4 * rng_below(&gen->rng, 4);
        p[1] += 4 * rng_below(&gen->rng, 4);
    }
    p[5] = rng_chance(&gen->rng, 15);
}

static void draw_memset(struct generator *gen, int32_t *p)
{
    static const int sizes[] = {1, 2, 4};
    static const int limits[] = {256, 65536, 1 << 30};
    const int size = rng_below(&gen->rng, 3);
    const int rows = rng_chance(&gen->rng, 25) ? 2 + rng_below(&gen->rng, 2) : 1;
    p[0] = draw_cell(gen, 0, BUFFER_PAGEABLE, 2 * rows);
    p[1] = rng_below(&gen->rng, limits[size]);
    p[2] = sizes[size];
    p[3] = 1 + rng_below(&gen->rng, CELL_BYTES / sizes[size]);
    p[4] = rows;
}

struct work draw_work(struct generator *gen, int kind, bool eager)
{
    struct work work = {.kind = kind};
    int32_t *p = work.p;
    switch (kind) {
    case WORK_KERNEL: draw_kernel(gen, p); break;
    case WORK_MEMCPY: draw_memcpy(gen, p, eager); break;
    case WORK_MEMSET: draw_memset(gen, p); break;
    case WORK_HOST:
        p[0] = rng_below(&gen->rng, 3);
        p[1] = draw_cell(gen, BUFFER_PINNED, eager ? 2 : 3, 1);
        p[2] = rng_below(&gen->rng, 1000);
        break;
    case WORK_CHILD: p[0] = pick_graph(gen); break;
    case WORK_WAIT:
    case WORK_RECORD: p[0] = EVENTS / 2 + rng_below(&gen->rng, EVENTS / 2); break;
    case WORK_BATCH:
        p[0] = ADDRESS(rng_below(&gen->rng, BUFFER_POOL),
                       CELL_BYTES * rng_below(&gen->rng, BUFFER_CELLS));
        p[1] = rng_below(&gen->rng, 1000);
        p[2] = 1 + rng_below(&gen->rng, 4);
        break;
    default: break;
    }
    return work;
}

int draw_kind(struct generator *gen)
{
    static const struct {
        int kind, weight;
    } table[] = {{WORK_KERNEL, 40}, {WORK_MEMCPY, 14}, {WORK_MEMSET, 14},
                 {WORK_HOST, 8},    {WORK_CHILD, 7},   {WORK_EMPTY, 8},
                 {WORK_WAIT, 3},    {WORK_RECORD, 4},  {WORK_BATCH, 2}};
    int dice = rng_below(&gen->rng, 100);
    for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        if (dice < table[i].weight)
            return table[i].kind;
        dice -= table[i].weight;
    }
    return WORK_EMPTY;
}

/* Makes it one that every driver has to refuse. */
void spoil_work(struct generator *gen, struct work *work)
{
    switch (work->kind) {
    case WORK_KERNEL:
    case WORK_HOST: work->bad = rng_chance(&gen->rng, 50) ? BAD_NULL : BAD_SHAPE; return;
    case WORK_MEMCPY:
        if (BUFFER_OF(work->p[0]) >= BUFFER_ALLOC ||
            BUFFER_OF(work->p[1]) >= BUFFER_ALLOC) {
            work->bad = BAD_NULL; /* no memory type: taken, if it is graph memory */
            return;
        }
        work->bad = 1 + rng_below(&gen->rng, BAD_KINDS - 1);
        return;
    case WORK_MEMSET: work->bad = 1 + rng_below(&gen->rng, BAD_KINDS - 1); return;
    case WORK_BATCH: work->bad = BAD_NULL; return;
    default: return;
    }
}

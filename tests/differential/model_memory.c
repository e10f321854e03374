// SPDX-License-Identifier: Apache-2.0
/* The model's graph memory: who has made an allocation, whether it is live, who may free
 * it (R35, R42-R63). */
#include "model.h"

bool op_is_memory(int op)
{
    return op >= OP_MEM_FREE && op <= OP_MEM_TRIM;
}

static struct mallocation *slot_of(const struct model *model, int32_t address)
{
    const int slot = BUFFER_OF(address) - BUFFER_ALLOC;
    return slot >= 0 && slot < ALLOCS
               ? (struct mallocation *)(uintptr_t)&model->allocs[slot]
               : NULL;
}

bool memory_any_live(const struct model *model)
{
    for (int i = 0; i < ALLOCS; i++)
        if (model->allocs[i].live)
            return true;
    return false;
}

static bool frees(const struct mgraph *graph, int32_t address)
{
    for (int i = 0; i < graph->count; i++)
        if (graph->nodes[i]->work.kind == WORK_FREE &&
            BUFFER_OF(graph->nodes[i]->work.p[0]) == BUFFER_OF(address))
            return true;
    return false;
}

CUresult memory_check_node(const struct model *model, const struct mgraph *graph,
                           const struct work *work)
{
    if (work->kind != WORK_ALLOC && work->kind != WORK_FREE)
        return CUDA_SUCCESS;
    if (graph->parent)
        return CUDA_ERROR_NOT_SUPPORTED; /* R50, R63 */
    if (work->kind == WORK_ALLOC)
        return CUDA_SUCCESS;
    const struct mallocation *alloc = slot_of(model, work->p[0]);
    if (alloc == NULL || !alloc->exists || frees(graph, work->p[0]))
        return CUDA_ERROR_INVALID_VALUE;
    const bool home = alloc->graph == graph->uid;
    if (home ? alloc->freed_elsewhere || alloc->left_unfreed : alloc->freed_at_home)
        return CUDA_ERROR_INVALID_VALUE; /* R46 */
    return CUDA_SUCCESS;
}

void memory_added(struct model *model, const struct mgraph *graph,
                  const struct work *work)
{
    if (work->kind == WORK_ALLOC)
        model->allocs[work->p[0]] =
            (struct mallocation){.exists = true, .graph = graph->uid};
    if (work->kind != WORK_FREE)
        return;
    struct mallocation *alloc = slot_of(model, work->p[0]);
    if (alloc->graph == graph->uid)
        alloc->freed_at_home = true;
    else
        alloc->freed_elsewhere = true;
}

void memory_instantiated(struct model *model, const struct mgraph *graph)
{
    for (int i = 0; i < ALLOCS; i++)
        if (model->allocs[i].exists && model->allocs[i].graph == graph->uid &&
            !model->allocs[i].freed_at_home)
            model->allocs[i].left_unfreed = true;
}

static bool allocates(const struct mgraph *graph, int32_t slot)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if ((node->work.kind == WORK_ALLOC && node->work.p[0] == slot) ||
            (node->child && allocates(node->child, slot)))
            return true;
    }
    return false;
}

struct launch_walk {
    const struct model *model;
    const struct mgraph *top;
    bool unfreed;  /* makes what is live already */
    bool bad_free; /* frees what is not live */
    bool unsafe;   /* touches what is not live */
};

static void touch(void *user, int32_t address, int bytes, bool writes)
{
    struct launch_walk *walk = user;
    const struct mallocation *alloc = slot_of(walk->model, address);
    (void)bytes;
    if (alloc == NULL || allocates(walk->top, BUFFER_OF(address) - BUFFER_ALLOC))
        return;
    const struct mcell *cell =
        &walk->model->cells[BUFFER_OF(address)][OFFSET_OF(address) / CELL_BYTES];
    if (!alloc->live || (!writes && !cell->defined))
        walk->unsafe = true;
}

static void walk_launch(struct launch_walk *walk, const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        const struct work *work = &node->work;
        if (node->child) {
            walk_launch(walk, node->child);
        } else if (work->kind == WORK_ALLOC) {
            walk->unfreed |= walk->model->allocs[work->p[0]].live;
        } else if (work->kind == WORK_FREE) {
            const int slot = BUFFER_OF(work->p[0]) - BUFFER_ALLOC;
            walk->bad_free |=
                !walk->model->allocs[slot].live && !allocates(walk->top, slot);
        } else if (node->enabled) {
            work_spans(work, touch, walk);
        }
    }
}

static struct launch_walk walk_exec(const struct model *model, const struct mexec *exec)
{
    struct launch_walk walk = {.model = model, .top = exec->graph};
    walk_launch(&walk, exec->graph);
    return walk;
}

CUresult memory_check_launch(const struct model *model, const struct mexec *exec)
{
    const struct launch_walk walk = walk_exec(model, exec);
    const bool again = exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH;
    if (walk.bad_free || (walk.unfreed && !again))
        return CUDA_ERROR_INVALID_VALUE;
    return CUDA_SUCCESS;
}

static bool is_of_another(const struct model *model, const struct mexec *exec,
                          const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if (node->child && is_of_another(model, exec, node->child))
            return true;
        if (node->work.kind == WORK_ALLOC && model->allocs[node->work.p[0]].live &&
            model->allocs[node->work.p[0]].by != exec)
            return true;
    }
    return false;
}

/* What another executable left live makes an H100 take memory a second time, and never
 * give it back: what is reserved means nothing from then on. */
void memory_wanted(struct model *model, const struct mexec *exec)
{
    model->leaked = model->leaked || is_of_another(model, exec, exec->graph);
}

void memory_launched(struct model *model, const struct mexec *exec,
                     const struct mgraph *graph)
{
    for (int i = 0; i < graph->count; i++) {
        const struct mnode *node = graph->nodes[i];
        if (node->child)
            memory_launched(model, exec, node->child);
        else if (node->work.kind == WORK_ALLOC)
            model->allocs[node->work.p[0]].by = exec;
    }
}

bool memory_is_safe(const struct model *model, const struct mexec *exec)
{
    const struct launch_walk walk = walk_exec(model, exec);
    /* The address of a dead allocation may be that of a live one by now. */
    return !walk.unsafe && !(walk.bad_free && memory_any_live(model));
}

/* An address is somebody's while its graph, an executable of it or the memory lives. */
static void forget(struct model *model, struct mallocation *alloc)
{
    bool known = !alloc->orphan || alloc->live;
    for (int i = 0; i < EXECS && !known; i++)
        known = model->execs[i] &&
                allocates(model->execs[i]->graph, (int32_t)(alloc - model->allocs));
    alloc->exists = alloc->exists && known;
}

void memory_freed(struct model *model, struct mallocation *alloc)
{
    alloc->live = false;
    forget(model, alloc);
}

void memory_exec_gone(struct model *model)
{
    for (int i = 0; i < ALLOCS; i++)
        forget(model, &model->allocs[i]);
}

void memory_graph_gone(struct model *model, const struct mgraph *graph)
{
    for (int i = 0; i < ALLOCS; i++)
        if (model->allocs[i].exists && model->allocs[i].graph == graph->uid) {
            model->allocs[i].orphan = true;
            forget(model, &model->allocs[i]);
        }
}

static void mem_free(struct model *model, const int32_t *a, struct answer *out)
{
    struct mallocation *alloc = &model->allocs[a[0]];
    if (!alloc->exists) {
        out->code = SKIPPED;
        return;
    }
    CUresult code = capture_check_unsafe(model);
    if (code == CUDA_SUCCESS && !alloc->live)
        code = CUDA_ERROR_INVALID_VALUE;
    if (model_decide(model, out, code))
        memory_freed(model, alloc);
}

void op_memory(struct model *model, const struct step *step, struct answer *out)
{
    const int32_t *a = step->a;
    const bool high = a[0] == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ||
                      a[0] == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    switch (step->op) {
    case OP_MEM_FREE: mem_free(model, a, out); return;
    case OP_MEM_ATTRIBUTE:
        model_decide(model, out, a[0] > 3 ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
        out->count = UNKNOWN; /* the steps of memory are a driver's own */
        return;
    case OP_MEM_SET_ATTRIBUTE:
        model_decide(model, out,
                     high && a[1] == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE);
        return;
    default:
        model_decide(model, out, a[0] ? CUDA_ERROR_INVALID_DEVICE : CUDA_SUCCESS);
        return;
    }
}

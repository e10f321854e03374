// SPDX-License-Identifier: Apache-2.0
/* Makes the graphs of a program. */
#include <string.h>

#include "drive.h"

/* struct cudaGraphKernelNodeUpdate of driver_types.h. */
struct node_update {
    CUgraphDeviceNode node;
    int field;
    union {
        unsigned grid[3];
        struct {
            CUdeviceptr value;
            size_t offset, bytes;
        } param;
        unsigned enabled;
    } u;
};
_Static_assert(sizeof(struct node_update) == 40, "as kernels lay it out");
enum { FIELD_GRID = 1, FIELD_PARAM, FIELD_ENABLED };
enum { EDGES = 32, VALUE_OFFSET = 16 }; /* of the third parameter of mix */

/* What the next node of a list waits for. */
struct edges {
    size_t count;
    CUgraphNode nodes[EDGES];
};

static bool build_list(CUgraph graph, int list, struct edges *edges);

CUdeviceptr drive_word(int at)
{
    return drive.words + 4ull * (unsigned)at;
}

static CUdeviceptr log_of(int domain)
{
    return drive_word(domain * DOMAIN_WORDS + CELLS);
}

static CUdeviceptr in_table(int start, int index)
{
    return drive.table + (unsigned)start + 8ull * (unsigned)index;
}

/* ---- kernels ----------------------------------------------------------------------- */

static uint64_t stream_of(enum stream stream)
{
    return (uint64_t)stream << 56;
}

static CUdeviceptr constant(uint32_t value)
{
    const size_t at = TABLE_VALUES + 4 * (size_t)drive.values++;
    memcpy(drive.host_table + at, &value, sizeof(value));
    return drive.table + at;
}

/* Its handles are not known yet: fill_updates(). */
static CUdeviceptr updates_of(const struct item *item)
{
    const size_t first = TABLE_UPDATES + (size_t)40 * UPDATES * (size_t)drive.applies++;
    for (int i = 0; i < item->updates; i++) {
        const struct update *from = &item->update[i];
        struct node_update to;
        memset(&to, 0, sizeof(to));
        to.node = (CUgraphDeviceNode)(uintptr_t)(from->node + 1);
        to.field = from->kind == GRID    ? FIELD_GRID
                   : from->kind == PARAM ? FIELD_PARAM
                                         : FIELD_ENABLED;
        if (from->kind == GRID) {
            to.u.grid[0] = from->value;
            to.u.grid[1] = to.u.grid[2] = 1;
        } else if (from->kind == PARAM) {
            to.u.param.value = constant(from->value);
            to.u.param.offset = VALUE_OFFSET;
            to.u.param.bytes = 4;
        } else
            to.u.enabled = from->value;
        memcpy(drive.host_table + first + 40 * (size_t)i, &to, sizeof(to));
    }
    return drive.table + first;
}

/* The arguments of a call of mix(dst, src, value) and its like. */
struct arguments {
    CUdeviceptr dst, src, log, table;
    uint64_t stream, offset, bytes, handle;
    uint32_t value;
    void *list[6];
};

static CUfunction words_kernel(const struct item *item, struct arguments *a)
{
    a->list[0] = item->kind == DECIDE || item->kind == COUNT ? (void *)&a->handle
                 : item->kind == NOTE                        ? (void *)&a->log
                                                             : (void *)&a->dst;
    a->list[1] = item->kind == NOTE    ? (void *)&a->value
                 : item->kind == COUNT ? (void *)&a->dst
                                       : (void *)&a->src;
    a->list[2] = &a->value;
    a->log = log_of(item->kind == NOTE ? item->dst : 0);
    switch (item->kind) {
    case MIX: return drive.kernel.mix;
    case TAKE: return drive.kernel.take;
    case NOTE: return drive.kernel.note;
    case DECIDE: return drive.kernel.decide;
    case COUNT: return drive.kernel.count;
    default: return drive.kernel.blocks;
    }
}

static CUfunction launching_kernel(const struct item *item, struct arguments *a)
{
    void *const fire[] = {&a->table, &a->stream, &a->dst, &a->log};
    a->stream = stream_of(item->stream);
    a->log = log_of(item->src);
    a->table = item->kind == FIRE ? in_table(TABLE_EXECS, item->target) : 0;
    memcpy(a->list, item->kind == FIRE ? fire : fire + 1, 3 * sizeof(*fire));
    a->list[3] = &a->log;
    return item->kind == FIRE ? drive.kernel.fire : drive.kernel.self;
}

static CUfunction changing_kernel(const struct item *item, struct arguments *a)
{
    void *const param[] = {&a->table, &a->offset, &a->src, &a->bytes, &a->log};
    void *const other[] = {&a->table, &a->src, &a->log};
    void *const apply[] = {&a->table, &a->bytes, &a->log};
    a->log = log_of(item->dst);
    a->offset = VALUE_OFFSET;
    a->bytes = item->kind == PARAM ? 4 : (uint64_t)item->updates;
    a->table =
        item->kind == APPLY ? updates_of(item) : in_table(TABLE_NODES, item->target);
    if (item->kind == PARAM)
        memcpy(a->list, param, sizeof(param));
    else
        memcpy(a->list, item->kind == APPLY ? apply : other, sizeof(other));
    return item->kind == PARAM    ? drive.kernel.param
           : item->kind == ENABLE ? drive.kernel.enable
           : item->kind == GRID   ? drive.kernel.grid
                                  : drive.kernel.apply;
}

const CUDA_KERNEL_NODE_PARAMS *drive_kernel(const struct item *item, uint32_t value)
{
    static struct arguments a;
    static CUDA_KERNEL_NODE_PARAMS params;
    memset(&a, 0, sizeof(a));
    a.value = value;
    a.dst = item->kind < PARAM ? drive_word(item->dst) : 0;
    a.src = item->kind < FIRE || item->kind >= PARAM ? drive_word(item->src) : 0;
    a.handle = drive.handles[item->handle];
    const CUfunction function = item->kind >= PARAM  ? changing_kernel(item, &a)
                                : item->kind >= FIRE ? launching_kernel(item, &a)
                                                     : words_kernel(item, &a);
    params = one_thread(function, a.list);
    return &params;
}

/* ---- nodes ------------------------------------------------------------------------- */

static bool add_copy(CUgraph graph, const struct item *item, const struct edges *e,
                     CUgraphNode *out)
{
    if (item->kind == FILL) {
        const CUDA_MEMSET_NODE_PARAMS fill = {.dst = drive_word(item->dst),
                                              .value = item->value,
                                              .elementSize = 4,
                                              .width = 1,
                                              .height = 1};
        return DID(cu.cuGraphAddMemsetNode(out, graph, e->nodes, e->count, &fill,
                                           drive.context));
    }
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = drive_word(item->src),
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = drive_word(item->dst),
                                .WidthInBytes = 4,
                                .Height = 1,
                                .Depth = 1};
    return DID(
        cu.cuGraphAddMemcpyNode(out, graph, e->nodes, e->count, &copy, drive.context));
}

static bool add_child(CUgraph graph, const struct item *item, const struct edges *e,
                      CUgraphNode *out)
{
    CUgraph child = NULL;
    struct edges none = {0};
    if (!DID(cu.cuGraphCreate(&child, 0)))
        return false;
    return build_list(child, item->branch[0], &none) &&
           DID(cu.cuGraphAddChildGraphNode(out, graph, e->nodes, e->count, child)) &&
           DID(cu.cuGraphDestroy(child));
}

static bool add_condition(CUgraph graph, const struct item *item, const struct edges *e,
                          CUgraphNode *out)
{
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = drive.handles[item->handle];
    params.conditional.type = item->kind == IF      ? CU_GRAPH_COND_TYPE_IF
                              : item->kind == WHILE ? CU_GRAPH_COND_TYPE_WHILE
                                                    : CU_GRAPH_COND_TYPE_SWITCH;
    params.conditional.size = (unsigned)item->branches;
    params.conditional.ctx = drive.context;
    bool good = DID(cu.cuGraphAddNode(out, graph, e->nodes, NULL, e->count, &params));
    for (int i = 0; good && i < item->branches; i++) {
        struct edges none = {0};
        good = build_list(params.conditional.phGraph_out[i], item->branch[i], &none);
    }
    return good;
}

/* Its handle into the table. */
static bool make_changed(const struct item *item, CUgraphNode node)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof(value));
    value.deviceUpdatableKernelNode.deviceUpdatable = 1;
    if (!DID(cu.cuGraphKernelNodeSetAttribute(
            node, CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE, &value)))
        return false;
    memcpy(drive.host_table + TABLE_NODES + 8 * (size_t)item->changed,
           &value.deviceUpdatableKernelNode.devNode, 8);
    return true;
}

static bool add_node(CUgraph graph, const struct item *item, const struct edges *e,
                     CUgraphNode *out)
{
    switch (item->kind) {
    case COPY:
    case FILL: return add_copy(graph, item, e, out);
    case CHILD: return add_child(graph, item, e, out);
    case IF:
    case WHILE:
    case SWITCH: return add_condition(graph, item, e, out);
    default:
        return DID(cu.cuGraphAddKernelNode(out, graph, e->nodes, e->count,
                                           drive_kernel(item, item->value))) &&
               (item->changed < 0 || make_changed(item, *out));
    }
}

static bool build_sides(CUgraph graph, const struct item *item, struct edges *edges)
{
    struct edges all = {0};
    for (int i = 0; i < item->branches; i++) {
        struct edges one = *edges;
        if (!build_list(graph, item->branch[i], &one) || all.count + one.count > EDGES)
            return false;
        memcpy(&all.nodes[all.count], one.nodes, one.count * sizeof(one.nodes[0]));
        all.count += one.count;
    }
    *edges = all;
    return true;
}

static bool build_list(CUgraph graph, int list, struct edges *edges)
{
    for (int i = 0; i < drive.p->list[list].count; i++) {
        const int at = drive.p->list[list].items[i];
        const struct item *item = &drive.p->item[at];
        if (item->kind == SIDE) {
            if (!build_sides(graph, item, edges))
                return false;
            continue;
        }
        if (!add_node(graph, item, edges, &drive.nodes[at]))
            return false;
        *edges = (struct edges){1, {drive.nodes[at]}};
    }
    return true;
}

/* ---- graphs ------------------------------------------------------------------------ */

static bool build_graph(int g)
{
    const struct device_program *p = drive.p;
    struct edges none = {0};
    if (!DID(cu.cuGraphCreate(&drive.graphs[g], 0)))
        return false;
    for (int i = 0; i < p->handles; i++)
        if (p->handle[i].graph == g &&
            !DID(cu.cuGraphConditionalHandleCreate(
                &drive.handles[i], drive.graphs[g], drive.context, p->handle[i].initial,
                p->handle[i].assigned ? CU_GRAPH_COND_ASSIGN_DEFAULT : 0)))
            return false;
    return build_list(drive.graphs[g], p->graph[g].list, &none);
}

/* In place of their numbers. */
static void fill_updates(void)
{
    for (int i = 0; i < drive.applies * UPDATES; i++) {
        unsigned char *at = drive.host_table + TABLE_UPDATES + 40 * (size_t)i;
        uint64_t number;
        memcpy(&number, at, 8);
        if (number > 0)
            memcpy(at, drive.host_table + TABLE_NODES + 8 * (size_t)(number - 1), 8);
    }
}

bool drive_build(void)
{
    const struct device_program *p = drive.p;
    drive.applies = drive.values = 0;
    memset(drive.host_table, 0, sizeof(drive.host_table));
    memset(drive.graphs, 0, sizeof(drive.graphs));
    memset(drive.execs, 0, sizeof(drive.execs));
    for (int g = 0; g < p->graphs; g++) {
        const unsigned flags =
            p->graph[g].is_device ? CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH : 0;
        if (!build_graph(g) ||
            !DID(cu.cuGraphInstantiateWithFlags(&drive.execs[g], drive.graphs[g], flags)))
            return false;
        memcpy(drive.host_table + TABLE_EXECS + 8 * (size_t)g, &drive.execs[g], 8);
    }
    fill_updates();
    return true;
}

// SPDX-License-Identifier: Apache-2.0
/* Nodes in DOT. What an H100's driver writes, letter by letter, where it was seen, so
 * that tools that read one read the other; added is, after the handle of what is no
 * record, the number by which messages name the node. */
#include <inttypes.h>

#include "softcuda/device/device.h"
#include "softcuda/graph/dot.h"

static bool has(const soft_dot_node *dot, uint32_t flag)
{
    return (dot->flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE)) != 0;
}

static unsigned long long hex(const void *pointer)
{
    return (unsigned long long)(uintptr_t)pointer;
}

static void write_id(FILE *file, const soft_dot_node *dot)
{
    fprintf(file, "%u", dot->node->place);
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO))
        fprintf(file, " (topoId: %u)", dot->topo);
}

/* ---- plain nodes: a line a fact ---------------------------------------------------- */

static void begin_plain(FILE *file, const soft_dot_node *dot, const char *style)
{
    fprintf(file, "[%s label=\"", style);
    write_id(file, dot);
    fprintf(file, "\n");
}

static void write_handle(FILE *file, const soft_dot_node *dot)
{
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(file, "node handle: 0x%016llX\nnode id: %" PRIu64 "\n", hex(dot->node),
                dot->node->id);
}

static void plain(FILE *file, const soft_dot_node *dot, const char *name)
{
    begin_plain(file, dot, "style=\"solid\" shape=\"rectangle\"");
    fprintf(file, "%s\n", name);
    write_handle(file, dot);
}

/* ---- records: a table -------------------------------------------------------------- */

static void begin_record(FILE *file, const char *name)
{
    fprintf(file, "[style=\"solid\" shape=\"record\" label=\"{\n%s\n", name);
}

/* {{ID | ...} | {0 | ...}}, with further columns */
static void record_ids(FILE *file, const soft_dot_node *dot)
{
    const bool handles = has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    fprintf(file, "| {{ID%s} | {", handles ? " | node handle" : "");
    write_id(file, dot);
    if (handles)
        fprintf(file, " | 0x%016llX", hex(dot->node));
    fprintf(file, "}}\n");
}

/* ---- kernels ----------------------------------------------------------------------- */

static void write_size(FILE *file, const uint32_t size[3])
{
    if (size[1] == 1 && size[2] == 1)
        fprintf(file, "%u,", size[0]);
    else
        fprintf(file, "\\{%u,%u,%u\\},", size[0], size[1], size[2]);
}

static void write_launch(FILE *file, const soft_launch *launch)
{
    fprintf(file, "\\<\\<\\<");
    write_size(file, launch->grid);
    write_size(file, launch->block);
    fprintf(file, "%u\\>\\>\\>", launch->shared_bytes);
}

static char initial(CUaccessProperty property)
{
    return property == CU_ACCESS_PROPERTY_STREAMING    ? 'S'
           : property == CU_ACCESS_PROPERTY_PERSISTING ? 'P'
                                                       : 'N';
}

static void kernel_record(FILE *file, const soft_dot_node *dot)
{
    const soft_node *node = dot->node;
    const soft_launch *launch = &node->task.u.launch;
    CUlaunchAttributeValue value = {0};
    fprintf(file, "[style=\"bold\" shape=\"record\" label=\"{KERNEL\n| {ID | ");
    write_id(file, dot);
    fprintf(file, " | %s", launch->function->code->kernel->name);
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        write_launch(file, launch);
    fprintf(file, "}\n");
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(file, "| {{node handle | func handle} | {0x%016llX | 0x%016llX}}\n",
                hex(node), hex(launch->function));
    (void)soft_node_attribute_get(node, CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, &value);
    const CUaccessPolicyWindow *window = &value.accessPolicyWindow;
    fprintf(file,
            "| {accessPolicyWindow | {base_ptr | num_bytes | hitRatio | hitProp | "
            "missProp} | {0x%016llX | %zu | %f | %c | %c}}\n",
            hex(window->base_ptr), window->num_bytes, (double)window->hitRatio,
            initial(window->hitProp), initial(window->missProp));
    fprintf(file, "| {cooperative | %d}\n| {priority | %d}\n}", launch->cooperative,
            launch->priority);
}

static void kernel(FILE *file, const soft_dot_node *dot)
{
    const soft_launch *launch = &dot->node->task.u.launch;
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES)) {
        kernel_record(file, dot);
        return;
    }
    begin_plain(file, dot, "style=\"bold\" shape=\"octagon\"");
    fprintf(file, "%s\n", launch->function->code->kernel->name);
    write_handle(file, dot);
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(file, "func handle: 0x%016llX\n", hex(launch->function));
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
        write_launch(file, launch);
}

/* ---- copies and fills -------------------------------------------------------------- */

static const char *kind_name(CUmemorytype type)
{
    switch (type) {
    case CU_MEMORYTYPE_HOST: return "HOST";
    case CU_MEMORYTYPE_DEVICE: return "DEVICE";
    case CU_MEMORYTYPE_ARRAY: return "ARRAY";
    default: return "UNIFIED";
    }
}

/* "HOST (HOST PAGEABLE)": what is declared, and what is there. */
static void write_kind(FILE *file, CUmemorytype type, CUdeviceptr address)
{
    const soft_device *device = soft_device_holding(address);
    const char *there = device ? "DEVICE" : "HOST PAGEABLE";
    soft_allocation found;
    if (type == CU_MEMORYTYPE_ARRAY)
        there = "ARRAY";
    else if (!device && soft_host_find(address, &found))
        there = "HOST PINNED";
    else if (device && soft_memory_find(device->memory, address, &found) &&
             found.kind == SOFT_MEMORY_MANAGED)
        there = "MANAGED";
    fprintf(file, "%s (%s)", kind_name(type), there);
}

static char letter(CUmemorytype type)
{
    return kind_name(type)[0];
}

static void copy_end(FILE *file, const soft_copy_end *end)
{
    write_kind(file, end->type, end->host ? (CUdeviceptr)hex(end->host) : end->device);
    fprintf(file,
            " | 0x%016llX | 0x%016llX | 0x%016llX | %zu | %zu | %zu | %zu | %zu | %zu",
            hex(end->array), hex(end->host), (unsigned long long)end->device, end->x,
            end->y, end->z, end->pitch, end->height, end->lod);
}

static void copy(FILE *file, const soft_dot_node *dot)
{
    static const char columns[] =
        "MemoryType | Array | Host | Device | XInBytes | Y | Z | Pitch | Height | LOD";
    const CUDA_MEMCPY3D *c = &dot->node->copy;
    const soft_copy_end src = soft_copy_source(c), dst = soft_copy_target(c);
    if (!has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) {
        /* without a blank before the label, as an H100 does it */
        fprintf(file, "[style=\"solid\" shape=\"trapezium\"label=\"");
        write_id(file, dot);
        fprintf(file, "\nMEMCPY\n");
        write_handle(file, dot);
        fprintf(file, "(%cto%c,%zu)\n", letter(src.type), letter(dst.type),
                c->WidthInBytes * c->Height * c->Depth);
        return;
    }
    begin_record(file, "MEMCPY");
    record_ids(file, dot);
    fprintf(file, "| {{src | dst} | { %s | %s} | {", columns, columns);
    copy_end(file, &src);
    fprintf(file, " | ");
    copy_end(file, &dst);
    fprintf(file,
            "}}\n| {Extent | {WidthInBytes | Height | Depth} | {%zu | %zu | %zu}}\n}",
            c->WidthInBytes, c->Height, c->Depth);
}

static void fill(FILE *file, const soft_dot_node *dot)
{
    const CUDA_MEMSET_NODE_PARAMS *f = &dot->node->fill;
    if (!has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) {
        fprintf(file, "[style=\"solid\" shape=\"invtrapezium\"label=\"");
        write_id(file, dot);
        fprintf(file, "\nMEMSET\n");
        write_handle(file, dot);
        fprintf(file, "(%u,%zu)\n", f->value, f->width * f->height * f->elementSize);
        return;
    }
    const bool handles = has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    fprintf(file,
            "[style=\"solid\" style=\"solid\" shape=\"record\" label=\"{MEMSET\n"
            "| {{ID%s | dptr | pitch | value | elementSize | width | height} | {",
            handles ? " | node handle" : "");
    write_id(file, dot);
    if (handles)
        fprintf(file, " | 0x%016llX", hex(dot->node));
    fprintf(file, " | 0x%016llX | %zu | %u | %u | %zu | %zu}}}",
            (unsigned long long)f->dst, f->pitch, f->value, f->elementSize, f->width,
            f->height);
}

/* ---- host functions, events -------------------------------------------------------- */

static void host(FILE *file, const soft_dot_node *dot)
{
    const soft_node *node = dot->node;
    plain(file, dot, "HOST");
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
        fprintf(file, "fn: 0x%016llX\nuserData: 0x%016llX\n",
                hex((const void *)(uintptr_t)node->task.u.host.function),
                hex(node->task.u.host.user));
}

static void event(FILE *file, const soft_dot_node *dot)
{
    const bool records = dot->node->type == CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    plain(file, dot, records ? "EVENT_RECORD" : "EVENT_WAIT");
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
        fprintf(file, "event: 0x%016llX\n", hex(dot->node->event));
}

/* ---- memory operations ------------------------------------------------------------- */

static const char *operation_name(CUstreamBatchMemOpType type)
{
    switch (type) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32: return "WAIT_VALUE_32";
    case CU_STREAM_MEM_OP_WAIT_VALUE_64: return "WAIT_VALUE_64";
    case CU_STREAM_MEM_OP_WRITE_VALUE_32: return "WRITE_VALUE_32";
    case CU_STREAM_MEM_OP_WRITE_VALUE_64: return "WRITE_VALUE_64";
    case CU_STREAM_MEM_OP_BARRIER: return "BARRIER";
    default: return "FLUSH_REMOTE_WRITES";
    }
}

static void write_operation(FILE *file, const CUstreamBatchMemOpParams *op)
{
    static const char *const waits[] = {"GEQ", "EQ", "AND", "NOR"};
    const CUstreamBatchMemOpType type = op->operation;
    const bool is_wait =
        type == CU_STREAM_MEM_OP_WAIT_VALUE_32 || type == CU_STREAM_MEM_OP_WAIT_VALUE_64;
    const bool is_wide =
        type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
    if (type == CU_STREAM_MEM_OP_BARRIER) {
        fprintf(file, "BARRIER | %s ", op->memoryBarrier.flags ? "GPU" : "SYS");
        return;
    }
    const unsigned long long value =
        is_wide ? op->writeValue.value64 : op->writeValue.value;
    fprintf(file, "%s | 0x%016llX | 0x%0*llX | %s", operation_name(type),
            (unsigned long long)op->writeValue.address, is_wide ? 16 : 8, value,
            is_wait ? waits[op->waitValue.flags & 3] : "DEFAULT");
}

/* First what the columns are, then what is in them. */
static void write_operations(FILE *file, const soft_batch *b)
{
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "| %s{paramArray[%u] | {op | %sflags }}%s\n", i == 0 ? "{{" : "", i,
                b->ops[i].operation == CU_STREAM_MEM_OP_BARRIER ? "" : "addr | val | ",
                i + 1 == b->count ? "}" : "");
    for (uint32_t i = 0; i < b->count; i++) {
        fprintf(file, "| %s", i == 0 ? "{" : "");
        write_operation(file, &b->ops[i]);
        fprintf(file, "%s\n", i + 1 == b->count ? "}}" : "");
    }
}

static void batch(FILE *file, const soft_dot_node *dot)
{
    const soft_batch *b = &dot->node->task.u.batch;
    if (!has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS)) {
        plain(file, dot, "BATCH_MEM_OP");
        return;
    }
    const bool handles = has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    begin_record(file, "BATCH_MEM_OP");
    fprintf(file, "| {{ID%s | count | flags } | {", handles ? " | node handle" : "");
    write_id(file, dot);
    if (handles)
        fprintf(file, " | 0x%016llX", hex(dot->node));
    fprintf(file, " | %u | 0x%08X }}\n", b->count, 0u);
    write_operations(file, b);
    fprintf(file, "}");
}

/* ---- memory nodes ------------------------------------------------------------------ */

static void alloc(FILE *file, const soft_dot_node *dot)
{
    if (!has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS)) {
        plain(file, dot, "MEM_ALLOC");
        return;
    }
    const CUDA_MEM_ALLOC_NODE_PARAMS *p = soft_memnode_params(dot->node);
    begin_record(file, "MEM_ALLOC");
    record_ids(file, dot);
    fprintf(file,
            "| {{{poolProps | {allocType | handleTypes | {location | {type | id}}} | "
            "{PINNED | NONE | DEVICE | %d}}}}\n",
            p->poolProps.location.id);
    for (size_t i = 0; i < p->accessDescCount; i++)
        fprintf(file,
                "| {{accessDescs[%zu]} | {{location | {type | id}} | flags} | {DEVICE | "
                "%d | %s}}\n",
                i, p->accessDescs[i].location.id,
                p->accessDescs[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE
                    ? "READWRITE"
                    : "READ");
    fprintf(file, "| {{bytesize | dptr} | {%zu | 0x%016llX}}\n}", p->bytesize,
            (unsigned long long)p->dptr);
}

static void mem_free(FILE *file, const soft_dot_node *dot)
{
    if (!has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) {
        plain(file, dot, "MEM_FREE");
        return;
    }
    begin_record(file, "MEM_FREE");
    record_ids(file, dot);
    fprintf(file, "| {{dptr} | {0x%016llX}}\n}",
            (unsigned long long)soft_memnode_address(dot->node));
}

/* Of IF nodes, which were not seen, as of WHILE nodes. */
static void write_bodies(FILE *file, const soft_dot_node *dot)
{
    static const char *const ways[] = {"True", "False"};
    const soft_conditional *node = &dot->node->task.u.conditional;
    for (uint32_t i = 0; i < node->size; i++) {
        const uint64_t number = dot->node->bodies[i]->number;
        if (node->type == CU_GRAPH_COND_TYPE_SWITCH)
            fprintf(file, "| {%u|  graph_%" PRIu64 "}\n", i, number);
        else
            fprintf(file, "| {%s|graph_%" PRIu64 "}\n", ways[i], number);
    }
}

static void conditional(FILE *file, const soft_dot_node *dot)
{
    static const char *const types[] = {"IF", "WHILE", "SWITCH"};
    const soft_conditional *node = &dot->node->task.u.conditional;
    fprintf(file, "[style=\"bold\" shape=\"record\" label=\"{\nCONDITIONAL\n| {ID | ");
    write_id(file, dot);
    fprintf(file, "}\n");
    if (has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
        fprintf(file, "| {node handle| 0x%016llX}\n", hex(dot->node));
    if (has(dot, 0))
        fprintf(file, "| {Conditional Handle|%u}\n", node->handle);
    fprintf(file, "| {Conditional Type| %s}\n", types[node->type]);
    write_bodies(file, dot);
    fprintf(file, "}\n");
}

/* Which columns a semaphore's parameters have; those of other interfaces are 0. */
static void semaphores(FILE *file, const soft_dot_node *dot, bool signals)
{
    const soft_batch *b = &dot->node->task.u.batch;
    const char *name = signals ? "EXT_SEMAS_SIGNAL" : "EXT_SEMAS_WAIT";
    if (!has(dot, signals ? CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_SIGNAL_NODE_PARAMS
                          : CU_GRAPH_DEBUG_DOT_FLAGS_EXT_SEMAS_WAIT_NODE_PARAMS)) {
        plain(file, dot, name);
        return;
    }
    const bool handles = has(dot, CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES);
    begin_record(file, name);
    fprintf(file, "| {{ID%s | numExtSems} | {", handles ? " | node handle" : "");
    write_id(file, dot);
    if (handles)
        fprintf(file, " | 0x%016llX", hex(dot->node));
    fprintf(file, " | %u}}\n", b->count);
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "%sextSemArray[%u]", i == 0 ? "| {{" : " | ", i);
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "%s0x%016llX", i == 0 ? "} | {" : " | ",
                (unsigned long long)b->ops[i].waitValue.address);
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "%sparamsArray[%u]", i == 0 ? "}}\n| {{" : " | ", i);
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "%svalue | fence | key%s | flags", i == 0 ? "} | {" : " | ",
                signals ? "" : " | timeoutMs");
    for (uint32_t i = 0; i < b->count; i++)
        fprintf(file, "%s%llu | 0x%016llX | 0%s | %u", i == 0 ? "} | {" : " | ",
                (unsigned long long)b->ops[i].waitValue.value64, 0ull,
                signals ? "" : " | 0", b->ops[i].waitValue.flags);
    fprintf(file, "%s}", b->count > 0 ? "}}\n" : "");
}

void soft_dot_write_node(FILE *file, const soft_dot_node *dot)
{
    char name[32];
    switch (dot->node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: kernel(file, dot); break;
    case CU_GRAPH_NODE_TYPE_MEMCPY: copy(file, dot); break;
    case CU_GRAPH_NODE_TYPE_MEMSET: fill(file, dot); break;
    case CU_GRAPH_NODE_TYPE_HOST: host(file, dot); break;
    case CU_GRAPH_NODE_TYPE_GRAPH:
        snprintf(name, sizeof(name), "graph_%" PRIu64, dot->node->child->number);
        plain(file, dot, name);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: event(file, dot); break;
    case CU_GRAPH_NODE_TYPE_BATCH_MEM_OP: batch(file, dot); break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_SIGNAL: semaphores(file, dot, true); break;
    case CU_GRAPH_NODE_TYPE_EXT_SEMAS_WAIT: semaphores(file, dot, false); break;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: conditional(file, dot); break;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC: alloc(file, dot); break;
    case CU_GRAPH_NODE_TYPE_MEM_FREE: mem_free(file, dot); break;
    default: plain(file, dot, "EMPTY");
    }
    fprintf(file, "\"];\n\n");
}

// SPDX-License-Identifier: Apache-2.0
/* The fields of nodes. */
#include "graph/fields.h"

#define NODE(member) offsetof(gph_node, u.member)
#define SIDE(member) offsetof(gph_memcpy_side, member)
#define OP(member) offsetof(gph_mem_op, member)
#define FIELDS(table) ((gphi_fields){table, sizeof(table) / sizeof(*(table))})

/* The order here is that of files and of reports. A field that may be zero was added
 * later, and files without it stay valid. */
static const gphi_field kernel_fields[] = {
    {"function", GPHI_FIELD_TEXT, NODE(kernel.function), false},
    {"handle", GPHI_FIELD_HEX, NODE(kernel.handle), false},
    {"grid", GPHI_FIELD_TRIPLE, NODE(kernel.grid), false},
    {"block", GPHI_FIELD_TRIPLE, NODE(kernel.block), false},
    {"shared_bytes", GPHI_FIELD_U32, NODE(kernel.shared_bytes), false},
    {"args", GPHI_FIELD_ARGS, NODE(kernel.args), false},
    {"buffer", GPHI_FIELD_BYTES, NODE(kernel.buffer), false},
    {"context", GPHI_FIELD_HEX, NODE(kernel.context), true},
    {"cooperative", GPHI_FIELD_U32, NODE(kernel.cooperative), true},
    {"priority", GPHI_FIELD_I32, NODE(kernel.priority), true},
    {"cluster", GPHI_FIELD_TRIPLE, NODE(kernel.cluster), true},
};
static const gphi_field memcpy_fields[] = {
    {"dst", GPHI_FIELD_SIDE, NODE(memcpy.dst), false},
    {"src", GPHI_FIELD_SIDE, NODE(memcpy.src), false},
    {"width_bytes", GPHI_FIELD_U64, NODE(memcpy.width_bytes), false},
    {"height", GPHI_FIELD_U64, NODE(memcpy.height), false},
    {"depth", GPHI_FIELD_U64, NODE(memcpy.depth), false},
};
static const gphi_field memset_fields[] = {
    {"address", GPHI_FIELD_HEX, NODE(memset.address), false},
    {"pitch_bytes", GPHI_FIELD_U64, NODE(memset.pitch_bytes), false},
    {"width", GPHI_FIELD_U64, NODE(memset.width), false},
    {"height", GPHI_FIELD_U64, NODE(memset.height), false},
    {"value", GPHI_FIELD_U32, NODE(memset.value), false},
    {"element_bytes", GPHI_FIELD_U32, NODE(memset.element_bytes), false},
};
static const gphi_field host_fields[] = {
    {"function", GPHI_FIELD_HEX, NODE(host.function), false},
    {"user", GPHI_FIELD_HEX, NODE(host.user), false},
};
static const gphi_field event_fields[] = {
    {"event", GPHI_FIELD_HEX, NODE(event.event), false}};
static const gphi_field memory_fields[] = {
    {"address", GPHI_FIELD_HEX, NODE(memory.address), false},
    {"bytes", GPHI_FIELD_U64, NODE(memory.bytes), false},
};
static const gphi_field batch_fields[] = {
    {"context", GPHI_FIELD_HEX, NODE(batch.context), true},
    {"ops", GPHI_FIELD_OPS, NODE(batch.ops), false},
};
/* Offsets in a gph_mem_op, of which a batch has an array. */
static const gphi_field op_fields[] = {
    {"operation", GPHI_FIELD_U32, OP(operation), false},
    {"flags", GPHI_FIELD_U32, OP(flags), false},
    {"address", GPHI_FIELD_HEX, OP(address), false},
    {"value", GPHI_FIELD_U64, OP(value), false},
};
static const gphi_field arg_fields[] = {
    {"offset", GPHI_FIELD_U32, offsetof(gph_kernel_arg, offset), false},
    {"bytes", GPHI_FIELD_U32, offsetof(gph_kernel_arg, bytes), false},
};
static const gphi_field semaphore_fields[] = {
    {"count", GPHI_FIELD_U32, NODE(semaphore.count), true},
};
static const gphi_field child_fields[] = {
    {"graph", GPHI_FIELD_GRAPH, NODE(child), false}};
/* The bodies are a graph of child nodes. */
static const gphi_field conditional_fields[] = {
    {"form", GPHI_FIELD_U32, NODE(conditional.form), true},
    {"graph", GPHI_FIELD_GRAPH, NODE(child), false}};
/* Offsets in a gph_memcpy_side, of which a copy has two. */
static const gphi_field side_fields[] = {
    {"memory", GPHI_FIELD_MEMORY, SIDE(memory), false},
    {"lod", GPHI_FIELD_U32, SIDE(lod), false},
    {"address", GPHI_FIELD_HEX, SIDE(address), false},
    {"x_bytes", GPHI_FIELD_U64, SIDE(x_bytes), false},
    {"y", GPHI_FIELD_U64, SIDE(y), false},
    {"z", GPHI_FIELD_U64, SIDE(z), false},
    {"pitch_bytes", GPHI_FIELD_U64, SIDE(pitch_bytes), false},
    {"height", GPHI_FIELD_U64, SIDE(height), false},
};

gphi_fields gphi_fields_of_node(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL: return FIELDS(kernel_fields);
    case GPH_NODE_MEMCPY: return FIELDS(memcpy_fields);
    case GPH_NODE_MEMSET: return FIELDS(memset_fields);
    case GPH_NODE_HOST: return FIELDS(host_fields);
    case GPH_NODE_CHILD: return FIELDS(child_fields);
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return FIELDS(event_fields);
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return FIELDS(memory_fields);
    case GPH_NODE_BATCH_MEM_OP: return FIELDS(batch_fields);
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT: return FIELDS(semaphore_fields);
    case GPH_NODE_CONDITIONAL: return FIELDS(conditional_fields);
    case GPH_NODE_EMPTY: break;
    }
    return (gphi_fields){NULL, 0};
}

gphi_fields gphi_fields_of_side(void)
{
    return FIELDS(side_fields);
}

gphi_fields gphi_fields_of_arg(void)
{
    return FIELDS(arg_fields);
}

gphi_fields gphi_fields_of_op(void)
{
    return FIELDS(op_fields);
}

const char *gphi_memory_name(uint32_t kind)
{
    static const char *const names[] = {NULL, "host", "device", "array", "unified"};
    return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

// SPDX-License-Identifier: Apache-2.0
#include "file/shape.h"

#define NODE(member) offsetof(gph_node, u.member)
#define SIDE(member) offsetof(gph_memcpy_side, member)
#define SHAPE(table) ((gphi_shape){table, sizeof(table) / sizeof(*(table))})

static const gphi_field kernel_fields[] = {
    {"function", GPHI_FIELD_TEXT, NODE(kernel.function)},
    {"handle", GPHI_FIELD_HEX, NODE(kernel.handle)},
    {"grid", GPHI_FIELD_TRIPLE, NODE(kernel.grid)},
    {"block", GPHI_FIELD_TRIPLE, NODE(kernel.block)},
    {"shared_bytes", GPHI_FIELD_U32, NODE(kernel.shared_bytes)},
    {"args", GPHI_FIELD_ARGS, NODE(kernel.args)},
    {"buffer", GPHI_FIELD_BYTES, NODE(kernel.buffer)},
};
static const gphi_field memcpy_fields[] = {
    {"dst", GPHI_FIELD_SIDE, NODE(memcpy.dst)},
    {"src", GPHI_FIELD_SIDE, NODE(memcpy.src)},
    {"width_bytes", GPHI_FIELD_U64, NODE(memcpy.width_bytes)},
    {"height", GPHI_FIELD_U64, NODE(memcpy.height)},
    {"depth", GPHI_FIELD_U64, NODE(memcpy.depth)},
};
static const gphi_field memset_fields[] = {
    {"address", GPHI_FIELD_HEX, NODE(memset.address)},
    {"pitch_bytes", GPHI_FIELD_U64, NODE(memset.pitch_bytes)},
    {"width", GPHI_FIELD_U64, NODE(memset.width)},
    {"height", GPHI_FIELD_U64, NODE(memset.height)},
    {"value", GPHI_FIELD_U32, NODE(memset.value)},
    {"element_bytes", GPHI_FIELD_U32, NODE(memset.element_bytes)},
};
static const gphi_field host_fields[] = {
    {"function", GPHI_FIELD_HEX, NODE(host.function)},
    {"user", GPHI_FIELD_HEX, NODE(host.user)},
};
static const gphi_field event_fields[] = {{"event", GPHI_FIELD_HEX, NODE(event.event)}};
static const gphi_field memory_fields[] = {
    {"address", GPHI_FIELD_HEX, NODE(memory.address)},
    {"bytes", GPHI_FIELD_U64, NODE(memory.bytes)},
};
static const gphi_field child_fields[] = {{"graph", GPHI_FIELD_GRAPH, NODE(child)}};
static const gphi_field side_fields[] = {
    {"memory", GPHI_FIELD_MEMORY, SIDE(memory)},
    {"lod", GPHI_FIELD_U32, SIDE(lod)},
    {"address", GPHI_FIELD_HEX, SIDE(address)},
    {"x_bytes", GPHI_FIELD_U64, SIDE(x_bytes)},
    {"y", GPHI_FIELD_U64, SIDE(y)},
    {"z", GPHI_FIELD_U64, SIDE(z)},
    {"pitch_bytes", GPHI_FIELD_U64, SIDE(pitch_bytes)},
    {"height", GPHI_FIELD_U64, SIDE(height)},
};

gphi_shape gphi_shape_of_node(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL: return SHAPE(kernel_fields);
    case GPH_NODE_MEMCPY: return SHAPE(memcpy_fields);
    case GPH_NODE_MEMSET: return SHAPE(memset_fields);
    case GPH_NODE_HOST: return SHAPE(host_fields);
    case GPH_NODE_CHILD: return SHAPE(child_fields);
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD: return SHAPE(event_fields);
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: return SHAPE(memory_fields);
    case GPH_NODE_EMPTY:
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT:
    case GPH_NODE_BATCH_MEM_OP:
    case GPH_NODE_CONDITIONAL: break;
    }
    return (gphi_shape){NULL, 0};
}

gphi_shape gphi_shape_of_side(void)
{
    return SHAPE(side_fields);
}

const char *gphi_memory_name(uint32_t kind)
{
    static const char *const names[] = {NULL, "host", "device", "array", "unified"};
    return kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;
}

// SPDX-License-Identifier: Apache-2.0
/* What of a node stays, kind by kind. */
#include "graph/kept.h"

static bool put(gphi_kept *out, gphi_update_rule rule, const char *field, uint64_t value)
{
    *out = (gphi_kept){rule, GPHI_KEPT_NUMBER, field, value};
    return true;
}

static bool put_typed(gphi_kept *out, gphi_update_rule rule, gphi_kept_type type,
                      const char *field, uint64_t value)
{
    *out = (gphi_kept){rule, type, field, value};
    return true;
}

static bool kernel_at(const gph_kernel_params *kernel, uint32_t index, gphi_kept *out)
{
    switch (index) {
    case 0:
        return put_typed(out, GPHI_UPDATE_KERNEL_CONTEXT, GPHI_KEPT_HANDLE, "context",
                         kernel->context);
    case 1: return put(out, GPHI_UPDATE_COOPERATIVE, "cooperative", kernel->cooperative);
    default: return false;
    }
}

/* ---- copies ---- */

/* The driver looks at the first byte, wherever the offsets lead. */
static uint64_t first_byte(const gph_memcpy_side *side)
{
    return side->address + side->x_bytes +
           side->pitch_bytes * (side->y + side->height * side->z);
}

struct side_names {
    const char *memory, *address, *x, *y, *z, *lod, *pitch, *height;
};

static const struct side_names dst_names = {
    "dst.memory", "dst.address", "dst.x_bytes",     "dst.y",
    "dst.z",      "dst.lod",     "dst.pitch_bytes", "dst.height"};
static const struct side_names src_names = {
    "src.memory", "src.address", "src.x_bytes",     "src.y",
    "src.z",      "src.lod",     "src.pitch_bytes", "src.height"};

enum { SIDE_ROWS_MAX = 5 };

/* A side of a copy of several rows; its height counts only with several planes. */
static uint32_t list_side(const gph_memcpy_side *side, const struct side_names *names,
                          bool has_planes, gphi_kept out[SIDE_ROWS_MAX])
{
    const gphi_update_rule rule = GPHI_UPDATE_COPY_ROWS;
    uint32_t n = 0;
    if (side->memory == GPH_MEMORY_ARRAY) {
        put_typed(&out[n++], rule, GPHI_KEPT_HANDLE, names->address, side->address);
        put(&out[n++], rule, names->x, side->x_bytes);
        put(&out[n++], rule, names->y, side->y);
        put(&out[n++], rule, names->z, side->z);
        put(&out[n++], rule, names->lod, side->lod);
        return n;
    }
    put_typed(&out[n++], rule, GPHI_KEPT_HANDLE, names->address, first_byte(side));
    put(&out[n++], rule, names->pitch, side->pitch_bytes);
    if (has_planes)
        put(&out[n++], rule, names->height, side->height);
    return n;
}

static bool memcpy_at(const gph_memcpy_params *copy, uint32_t index, gphi_kept *out)
{
    const gphi_update_rule type = GPHI_UPDATE_COPY_TYPE, rows = GPHI_UPDATE_COPY_ROWS;
    const bool is_flat = gphi_is_flat(copy);
    gphi_kept sides[2 * SIDE_ROWS_MAX];
    switch (index) {
    case 0:
        return put_typed(out, type, GPHI_KEPT_MEMORY, dst_names.memory, copy->dst.memory);
    case 1:
        return put_typed(out, type, GPHI_KEPT_MEMORY, src_names.memory, copy->src.memory);
    case 2: return put(out, rows, "height", is_flat ? 1 : copy->height);
    case 3: return put(out, rows, "depth", is_flat ? 1 : copy->depth);
    default: break;
    }
    if (is_flat)
        return false;
    if (index == 4)
        return put(out, rows, "width_bytes", copy->width_bytes);
    uint32_t count = list_side(&copy->dst, &dst_names, copy->depth > 1, sides);
    count += list_side(&copy->src, &src_names, copy->depth > 1, sides + count);
    if (index - 5 >= count)
        return false;
    *out = sides[index - 5];
    return true;
}

static bool memset_at(const gph_memset_params *fill, uint32_t index, gphi_kept *out)
{
    if (index == 0)
        return put(out, GPHI_UPDATE_FILL_ROWS, "height", fill->height);
    if (fill->height <= 1)
        return false;
    switch (index) {
    case 1: return put(out, GPHI_UPDATE_FILL_ROW, "width", fill->width);
    case 2: return put(out, GPHI_UPDATE_FILL_ROW, "pitch_bytes", fill->pitch_bytes);
    case 3: return put(out, GPHI_UPDATE_FILL_ROW, "element_bytes", fill->element_bytes);
    default: return false;
    }
}

static bool batch_at(const gph_batch_params *batch, uint32_t index, gphi_kept *out)
{
    if (index == 0)
        return put(out, GPHI_UPDATE_BATCH, "ops", batch->count);
    if (index <= batch->count)
        return put(out, GPHI_UPDATE_BATCH, "ops.operation",
                   batch->ops[index - 1].operation);
    return index == batch->count + 1 &&
           put_typed(out, GPHI_UPDATE_BATCH, GPHI_KEPT_HANDLE, "context", batch->context);
}

/* Forms and numbers of bodies from 1; 0: unknown. */
static bool conditional_at(const gph_conditional_params *params, uint32_t index,
                           gphi_kept *out)
{
    const gphi_update_rule rule = GPHI_UPDATE_CONDITIONAL;
    switch (index) {
    case 0: return put_typed(out, rule, GPHI_KEPT_HANDLE, "form", params->form);
    case 1:
        return put_typed(out, rule, GPHI_KEPT_HANDLE, "bodies",
                         gph_graph_node_count(params->bodies));
    default: return false;
    }
}

bool gphi_kept_at(const gph_node *node, uint32_t index, gphi_kept *out)
{
    switch (node->kind) {
    case GPH_NODE_KERNEL: return kernel_at(&node->u.kernel, index, out);
    case GPH_NODE_MEMCPY: return memcpy_at(&node->u.memcpy, index, out);
    case GPH_NODE_MEMSET: return memset_at(&node->u.memset, index, out);
    case GPH_NODE_BATCH_MEM_OP: return batch_at(&node->u.batch, index, out);
    case GPH_NODE_SEMAPHORE_SIGNAL:
    case GPH_NODE_SEMAPHORE_WAIT:
        return index == 0 &&
               put(out, GPHI_UPDATE_SEMAPHORES, "count", node->u.semaphore.count);
    case GPH_NODE_HOST:
    case GPH_NODE_CHILD:
    case GPH_NODE_EMPTY:
    case GPH_NODE_EVENT_WAIT:
    case GPH_NODE_EVENT_RECORD:
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE: break;
    case GPH_NODE_CONDITIONAL: return conditional_at(&node->u.conditional, index, out);
    }
    return false;
}

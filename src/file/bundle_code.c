// SPDX-License-Identifier: Apache-2.0
/* The contents of a bundle: one walk over the arrays, by functions which write and read.
 * Reading checks every record as it comes; what follows may rely on it. */
#include "base/fail.h"
#include "file/bundle.h"
#include "file/codec.h"

#include <string.h>

/* The walk, and what records may refer to. */
struct walk {
    gphi_codec codec;
    gphi_bundle *bundle;
    uint64_t nodes_left; /* that a reader accepts */
};

/* Texts are shared: a record has the place of its own among all of them. */
static void code_text(struct walk *walk, uint32_t *text)
{
    gphi_code_u32(&walk->codec, text);
    gphi_code_check(&walk->codec, *text < walk->bundle->text.count, "there is no text",
                    *text);
}

/* All texts at once, each with its zero, so that any place among them begins a text
 * that ends. Names reach terminals and logs, hence no control characters. */
static void code_texts(struct walk *walk)
{
    gphi_vec *text = &walk->bundle->text;
    const size_t count =
        gphi_code_array(&walk->codec, text, 1, UINT32_MAX / 2, "bytes of text");
    gphi_code_bytes(&walk->codec, text->items, count);
    const char *bytes = text->items;
    if (!walk->codec.is_reading || !gphi_code_is_fine(&walk->codec))
        return;
    gphi_code_check(&walk->codec, count > 0 && bytes[0] == 0 && bytes[count - 1] == 0,
                    "text without its zeros, of bytes", count);
    for (size_t i = 0; i < count; i++)
        gphi_code_check(&walk->codec,
                        bytes[i] == 0 ||
                            ((unsigned char)bytes[i] >= 0x20 && bytes[i] != 0x7f),
                        "a control character in the text at", i);
}

/* The checked sums are what later code adds without looking. */
static void code_range(struct walk *walk, struct gphi_bundle_range *range)
{
    code_text(walk, &range->name);
    gphi_code_u64(&walk->codec, &range->address);
    gphi_code_u64(&walk->codec, &range->shifted);
    gphi_code_u64(&walk->codec, &range->bytes);
    gphi_code_check(&walk->codec, range->bytes > 0, "a range of bytes", range->bytes);
    gphi_code_check(&walk->codec, range->address <= UINT64_MAX - range->bytes,
                    "a range beyond the last address, of bytes", range->bytes);
    gphi_code_check(&walk->codec, range->shifted <= UINT64_MAX - range->bytes,
                    "a shifted range beyond the last address, of bytes", range->bytes);
}

/* Arguments come before kernels in the file, so that their places can be checked here. */
static void code_kernel(struct walk *walk, struct gphi_bundle_kernel *kernel)
{
    gphi_codec *codec = &walk->codec;
    uint32_t carveout = (uint32_t)kernel->carveout;
    uint32_t shared = (uint32_t)kernel->dynamic_shared_bytes;
    gphi_code_bytes(codec, kernel->image, sizeof(kernel->image));
    code_text(walk, &kernel->name);
    gphi_code_u32(codec, &kernel->buffer_bytes);
    gphi_code_u32(codec, &shared);
    gphi_code_u32(codec, &carveout);
    gphi_code_u32(codec, &kernel->arg_first);
    gphi_code_u32(codec, &kernel->arg_count);
    kernel->carveout = (int32_t)carveout;
    kernel->dynamic_shared_bytes = (int32_t)shared;
    gphi_code_check(codec, kernel->buffer_bytes <= GPHI_BUNDLE_ARGS_MAX,
                    "too many bytes of arguments:", kernel->buffer_bytes);
    gphi_code_check(codec, kernel->dynamic_shared_bytes >= 0,
                    "dynamic shared memory of bytes", shared);
    gphi_code_check(codec,
                    (uint64_t)kernel->arg_first + kernel->arg_count <=
                        walk->bundle->args.count,
                    "arguments that are not there:", kernel->arg_count);
    if (!codec->is_reading || !gphi_code_is_fine(codec))
        return;
    for (uint32_t i = 0; i < kernel->arg_count; i++) {
        const gph_kernel_arg *arg =
            gphi_vec_at(&walk->bundle->args, kernel->arg_first + i);
        gphi_code_check(codec, (uint64_t)arg->offset + arg->bytes <= kernel->buffer_bytes,
                        "an argument beyond its kernel's bytes, at", arg->offset);
    }
}

static void code_triple(gphi_codec *codec, uint32_t triple[3])
{
    for (int i = 0; i < 3; i++)
        gphi_code_u32(codec, &triple[i]);
}

/* Whether [first, first + count) lies in `most`. */
static bool is_inside(uint64_t first, uint64_t count, uint64_t most)
{
    return first <= most && count <= most - first;
}

/* What the node refers to was read before it: kernels, copies, fills and data. */
static void check_node(struct walk *walk, const struct gphi_bundle_graph *graph,
                       const struct gphi_bundle_node *node)
{
    gphi_codec *codec = &walk->codec;
    uint64_t items = 0;
    switch (node->kind) {
    case GPH_NODE_KERNEL: items = walk->bundle->kernels.count; break;
    case GPH_NODE_MEMCPY: items = graph->copies.count; break;
    case GPH_NODE_MEMSET: items = graph->fills.count; break;
    case GPH_NODE_EMPTY: items = 1; break;
    case GPH_NODE_CONDITIONAL: items = graph->flows.count; break;
    default: gphi_code_check(codec, false, "a node of kind", node->kind);
    }
    gphi_code_check(codec, node->item < items, "a node of item", node->item);
    gphi_code_check(codec,
                    is_inside(node->data_first, node->data_bytes, graph->data.count),
                    "a node's bytes that are not there, at", node->data_first);
    gphi_code_check(
        codec,
        is_inside(node->attribute_first, node->attribute_count, graph->attributes.count),
        "a node's attributes that are not there, at", node->attribute_first);
    if (node->kind != GPH_NODE_KERNEL || !gphi_code_is_fine(codec))
        return;
    const struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&walk->bundle->kernels, kernel, node->item);
    gphi_code_check(codec, node->data_bytes == kernel->buffer_bytes,
                    "a node with another number of argument bytes than its kernel:",
                    node->data_bytes);
}

/* Written in the order of the members; a new one goes to the end, with a new version. */
static void code_node(struct walk *walk, const struct gphi_bundle_graph *graph,
                      struct gphi_bundle_node *node)
{
    gphi_codec *codec = &walk->codec;
    gphi_code_u32(codec, &node->kind);
    gphi_code_u32(codec, &node->item);
    code_triple(codec, node->grid);
    code_triple(codec, node->block);
    gphi_code_u32(codec, &node->shared_bytes);
    gphi_code_u32(codec, &node->data_bytes);
    gphi_code_u64(codec, &node->data_first);
    gphi_code_u32(codec, &node->attribute_first);
    gphi_code_u32(codec, &node->attribute_count);
    if (codec->is_reading)
        check_node(walk, graph, node);
}

/* Edges rise by (to, from), so that one comparison finds doubles, and readers need not
 * sort them. */
static void code_edges(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->edges, 12, UINT32_MAX / 4, "edges");
    const uint64_t nodes = graph->nodes.count;
    uint64_t last = 0;
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        gph_edge *edge = gphi_vec_at(&graph->edges, i);
        gphi_code_u32(codec, &edge->from);
        gphi_code_u32(codec, &edge->to);
        gphi_code_u8(codec, &edge->from_port);
        gphi_code_u8(codec, &edge->to_port);
        gphi_code_u8(codec, &edge->type);
        gphi_code_u8(codec, &edge->reserved);
        gphi_code_check(codec, edge->from < nodes, "an edge from node", edge->from);
        gphi_code_check(codec, edge->to < nodes, "an edge to node", edge->to);
        gphi_code_check(codec, edge->from != edge->to, "an edge to itself of node",
                        edge->to);
        if (codec->is_reading && gphi_code_is_fine(codec))
            gphi_code_check(codec,
                            gphi_bundle_part(graph, edge->from) ==
                                gphi_bundle_part(graph, edge->to),
                            "an edge out of its body, to node", edge->to);
        const uint64_t key = (uint64_t)edge->to << 32 | edge->from;
        gphi_code_check(codec, i == 0 || key > last, "an edge twice, or out of order, to",
                        edge->to);
        last = key;
    }
}

/* Host memory and arrays do not come back at a known address, so recipes have none. */
static void code_side(struct walk *walk, gph_memcpy_side *side)
{
    gphi_codec *codec = &walk->codec;
    gphi_code_u32(codec, &side->memory);
    gphi_code_u32(codec, &side->lod);
    gphi_code_u64(codec, &side->address);
    gphi_code_u64(codec, &side->x_bytes);
    gphi_code_u64(codec, &side->y);
    gphi_code_u64(codec, &side->z);
    gphi_code_u64(codec, &side->pitch_bytes);
    gphi_code_u64(codec, &side->height);
    gphi_code_check(
        codec, side->memory == GPH_MEMORY_DEVICE || side->memory == GPH_MEMORY_UNIFIED,
        "a copy of memory of kind", side->memory);
}

/* 136, 40 and 68 are the bytes of a record in the file, which bound their number. */
static void code_moves(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    size_t count = gphi_code_array(codec, &graph->copies, 136, UINT32_MAX, "copies");
    for (size_t i = 0; i < count; i++) {
        gph_memcpy_params *copy = gphi_vec_at(&graph->copies, i);
        code_side(walk, &copy->dst);
        code_side(walk, &copy->src);
        gphi_code_u64(codec, &copy->width_bytes);
        gphi_code_u64(codec, &copy->height);
        gphi_code_u64(codec, &copy->depth);
    }
    count = gphi_code_array(codec, &graph->fills, 40, UINT32_MAX, "fills");
    for (size_t i = 0; i < count; i++) {
        gph_memset_params *fill = gphi_vec_at(&graph->fills, i);
        gphi_code_u64(codec, &fill->address);
        gphi_code_u64(codec, &fill->pitch_bytes);
        gphi_code_u64(codec, &fill->width);
        gphi_code_u64(codec, &fill->height);
        gphi_code_u32(codec, &fill->value);
        gphi_code_u32(codec, &fill->element_bytes);
        gphi_code_check(codec,
                        fill->element_bytes == 1 || fill->element_bytes == 2 ||
                            fill->element_bytes == 4,
                        "a fill of elements of bytes", fill->element_bytes);
    }
    count = gphi_code_array(codec, &graph->attributes, 4 + GPHI_BUNDLE_ATTRIBUTE_BYTES,
                            UINT32_MAX, "attributes");
    for (size_t i = 0; i < count; i++) {
        struct gphi_bundle_attribute *attribute =
            GPHI_BUNDLE_AT(&graph->attributes, attribute, i);
        gphi_code_u32(codec, &attribute->id);
        gphi_code_bytes(codec, attribute->value, sizeof(attribute->value));
    }
}

/* Conditional nodes come with their flows in order, and before their bodies. */
static void check_flow_nodes(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    uint32_t flows = 0, bodies = 0;
    for (uint32_t i = 0; i < graph->nodes.count && gphi_code_is_fine(codec); i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, i);
        if (node->kind != GPH_NODE_CONDITIONAL)
            continue;
        gphi_code_check(codec, node->item == flows++,
                        "a conditional node out of order:", i);
        for (; bodies < graph->bodies.count && gphi_code_is_fine(codec); bodies++) {
            const struct gphi_bundle_body *body =
                GPHI_BUNDLE_AT(&graph->bodies, body, bodies);
            if (body->flow != node->item)
                break;
            gphi_code_check(codec, body->first > i, "a body before its node:", i);
        }
    }
    gphi_code_check(codec, flows == graph->flows.count && bodies == graph->bodies.count,
                    "conditional nodes that are not there:", graph->flows.count);
}

/* Where bodies begin, from the end: they are the last nodes. */
static void place_bodies(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    uint64_t left = graph->nodes.count;
    if (!codec->is_reading)
        return;
    for (size_t i = graph->bodies.count; i-- > 0 && gphi_code_is_fine(codec);) {
        struct gphi_bundle_body *body = GPHI_BUNDLE_AT(&graph->bodies, body, i);
        gphi_code_check(codec, body->count <= left, "a body of nodes", body->count);
        left -= body->count;
        body->first = (uint32_t)left;
    }
    check_flow_nodes(walk, graph);
}

/* Conditional nodes and their bodies; each flow has as many as it says. */
static void code_flows(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    uint64_t bodies = 0;
    size_t count = gphi_code_array(codec, &graph->flows, 16, UINT32_MAX / 4, "flows");
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        struct gphi_bundle_flow *flow = GPHI_BUNDLE_AT(&graph->flows, flow, i);
        gphi_code_u32(codec, &flow->form);
        gphi_code_u32(codec, &flow->bodies);
        gphi_code_u32(codec, &flow->value);
        gphi_code_u32(codec, &flow->flags);
        gphi_code_check(codec, flow->form >= GPH_FORM_IF && flow->form <= GPH_FORM_SWITCH,
                        "a conditional node of form", flow->form);
        gphi_code_check(codec,
                        flow->bodies > 0 &&
                            flow->bodies <= (flow->form == GPH_FORM_SWITCH  ? UINT32_MAX
                                             : flow->form == GPH_FORM_WHILE ? 1U
                                                                            : 2U),
                        "a conditional node of bodies", flow->bodies);
        bodies += flow->bodies;
    }
    count = gphi_code_array(codec, &graph->bodies, 4, UINT32_MAX / 4, "bodies");
    gphi_code_check(codec, count == bodies, "bodies that no node has:", count);
    size_t at = 0;
    for (uint32_t flow = 0; flow < graph->flows.count && gphi_code_is_fine(codec); flow++)
        for (uint32_t k = 0; k < GPHI_BUNDLE_AT(&graph->flows, flow, flow)->bodies &&
                             gphi_code_is_fine(codec);
             k++) {
            struct gphi_bundle_body *body = GPHI_BUNDLE_AT(&graph->bodies, body, at++);
            body->flow = flow;
            gphi_code_u32(codec, &body->count);
        }
}

/* They rise; and a kernel can have the handle of a node in its own part, or in one around
 * it, whose graph is there before. */
static void code_handles(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->handles, 12, UINT32_MAX, "handles");
    uint64_t least = 0;
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        struct gphi_bundle_handle *handle = GPHI_BUNDLE_AT(&graph->handles, handle, i);
        gphi_code_u32(codec, &handle->node);
        gphi_code_u32(codec, &handle->offset);
        gphi_code_u32(codec, &handle->flow);
        gphi_code_check(codec, handle->node < graph->nodes.count, "a handle in node",
                        handle->node);
        gphi_code_check(codec, handle->flow < graph->flows.count, "a handle of flow",
                        handle->flow);
        if (!codec->is_reading || !gphi_code_is_fine(codec))
            continue;
        const struct gphi_bundle_node *node =
            GPHI_BUNDLE_AT(&graph->nodes, node, handle->node);
        gphi_code_check(codec,
                        node->kind == GPH_NODE_KERNEL &&
                            is_inside(handle->offset, 8, node->data_bytes),
                        "a handle at offset", handle->offset);
        const uint64_t key = (uint64_t)handle->node << 32 | handle->offset;
        gphi_code_check(codec, key >= least, "a handle out of order, of node",
                        handle->node);
        least = key + 8;
    }
}

/* How many bytes of a node may be words, and how far apart they must lie. */
static uint64_t word_room(const struct gphi_bundle_node *node)
{
    switch (node->kind) {
    case GPH_NODE_KERNEL: return node->data_bytes;
    case GPH_NODE_MEMCPY: return 16;
    case GPH_NODE_MEMSET: return 8;
    default: return 0;
    }
}

/* Which eight bytes of a node are addresses, and of which range: what moving adds to.
 * They rise and do not overlap, so that a word is moved once. */
static void code_words(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count = gphi_code_array(codec, &graph->words, 12, UINT32_MAX, "words");
    uint64_t least = 0; /* where the next word may lie: node, offset */
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        struct gphi_bundle_word *word = GPHI_BUNDLE_AT(&graph->words, word, i);
        gphi_code_u32(codec, &word->node);
        gphi_code_u32(codec, &word->offset);
        gphi_code_u32(codec, &word->range);
        gphi_code_check(codec, word->node < graph->nodes.count, "a word of node",
                        word->node);
        gphi_code_check(codec, word->range < walk->bundle->ranges.count,
                        "a word of range", word->range);
        if (!codec->is_reading || !gphi_code_is_fine(codec))
            continue;
        const struct gphi_bundle_node *node =
            GPHI_BUNDLE_AT(&graph->nodes, node, word->node);
        const bool is_packed = node->kind == GPH_NODE_KERNEL; /* its structures may be */
        gphi_code_check(codec,
                        (is_packed || word->offset % 8 == 0) &&
                            is_inside(word->offset, 8, word_room(node)),
                        "a word at offset", word->offset);
        const uint64_t key = (uint64_t)word->node << 32 | word->offset;
        gphi_code_check(codec, key >= least, "a word out of order, of node", word->node);
        least = key + 8;
    }
}

/* The ranges that a graph needs, beside those that its words name. */
static void code_uses(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->uses, 8, GPHI_BUNDLE_RANGES_MAX, "uses of ranges");
    for (size_t i = 0; i < count; i++) {
        struct gphi_bundle_use *use = GPHI_BUNDLE_AT(&graph->uses, use, i);
        gphi_code_u32(codec, &use->range);
        gphi_code_u32(codec, &use->is_fixed);
        gphi_code_check(codec, use->range < walk->bundle->ranges.count, "use of range",
                        use->range);
    }
}

/* Kind 5 is eager memory, beyond the kinds of gph_range_kind. */
static void code_blocks(struct walk *walk, gphi_vec *blocks)
{
    gphi_codec *codec = &walk->codec;
    const size_t count = gphi_code_array(codec, blocks, 36, UINT32_MAX, "blocks");
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        struct gphi_bundle_block *block = GPHI_BUNDLE_AT(blocks, block, i);
        gphi_code_u32(codec, &block->range);
        gphi_code_u32(codec, &block->kind);
        gphi_code_u32(codec, &block->maker);
        gphi_code_u32(codec, &block->first);
        gphi_code_u32(codec, &block->last);
        gphi_code_u64(codec, &block->offset);
        gphi_code_u64(codec, &block->bytes);
        gphi_code_check(codec, block->range < walk->bundle->ranges.count,
                        "a block of range", block->range);
        gphi_code_check(codec, block->kind >= 1 && block->kind <= 5, "a block of kind",
                        block->kind);
        if (!codec->is_reading || !gphi_code_is_fine(codec))
            continue;
        const struct gphi_bundle_range *range =
            GPHI_BUNDLE_AT(&walk->bundle->ranges, range, block->range);
        gphi_code_check(codec,
                        block->bytes > 0 &&
                            is_inside(block->offset, block->bytes, range->bytes),
                        "a block beyond its range, at", block->offset);
    }
}

/* Elements that a tensor may span, so that no product here or later overflows. */
static const uint64_t SPAN_MAX = UINT64_C(1) << 56;

/* Adds up the span dimension by dimension, each time with what is left of SPAN_MAX. */
static void check_tensor(struct walk *walk, const struct gphi_bundle_tensor *tensor)
{
    uint64_t span = 1;
    for (uint32_t i = 0; i < tensor->rank; i++) {
        const uint64_t shape = (uint64_t)tensor->shape[i];
        const uint64_t stride = (uint64_t)tensor->stride[i];
        gphi_code_check(&walk->codec, shape <= SPAN_MAX && stride <= SPAN_MAX,
                        "a dimension of elements", shape);
        if (!gphi_code_is_fine(&walk->codec))
            return;
        if (shape > 1 && stride > 0 && (shape - 1) > (SPAN_MAX - span) / stride)
            gphi_code_check(&walk->codec, false, "a tensor too large in dimension", i);
        else if (shape > 1)
            span += (shape - 1) * stride;
    }
    const struct gphi_bundle_range *range =
        GPHI_BUNDLE_AT(&walk->bundle->ranges, range, tensor->range);
    gphi_code_check(&walk->codec, tensor->offset <= range->bytes,
                    "a tensor beyond its range, at", tensor->offset);
}

/* The rank is checked before it bounds the loop. */
static void code_tensors(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->tensors, 20, UINT32_MAX, "tensors");
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        struct gphi_bundle_tensor *tensor = GPHI_BUNDLE_AT(&graph->tensors, tensor, i);
        gphi_code_u32(codec, &tensor->range);
        gphi_code_u32(codec, &tensor->dtype);
        gphi_code_u32(codec, &tensor->rank);
        gphi_code_u64(codec, &tensor->offset);
        gphi_code_check(codec, tensor->range < walk->bundle->ranges.count,
                        "a tensor in range", tensor->range);
        gphi_code_check(codec, tensor->rank <= GPHI_BUNDLE_RANK_MAX, "a tensor of rank",
                        tensor->rank);
        gphi_code_check(codec, tensor->dtype >= 1 && tensor->dtype <= 17,
                        "a tensor of type", tensor->dtype);
        for (uint32_t d = 0; d < tensor->rank && gphi_code_is_fine(codec); d++) {
            gphi_code_i64(codec, &tensor->shape[d]);
            gphi_code_i64(codec, &tensor->stride[d]);
        }
        if (codec->is_reading && gphi_code_is_fine(codec))
            check_tensor(walk, tensor);
    }
}

/* Why a graph could not be saved: it is in the file without nodes, so that a reader
 * can say so instead of missing it. */
static void code_refusals(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count = gphi_code_array(codec, &graph->refusals, 24,
                                         GPHI_BUNDLE_REFUSALS_MAX, "refusals");
    for (size_t i = 0; i < count; i++) {
        struct gphi_bundle_refusal *refusal =
            GPHI_BUNDLE_AT(&graph->refusals, refusal, i);
        gphi_code_i64(codec, &refusal->node);
        gphi_code_u32(codec, &refusal->kind);
        gphi_code_i64(codec, &refusal->offset);
        code_text(walk, &refusal->why);
        gphi_code_check(codec, refusal->kind <= GPH_NODE_CONDITIONAL,
                        "a refused node of kind", refusal->kind);
    }
    gphi_code_check(codec, count == 0 || graph->nodes.count == 0,
                    "a refused graph with nodes:", graph->nodes.count);
}

/* A cycle would make the builder wait for a node that waits for it. */
static void check_order(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    if (!codec->is_reading || !gphi_code_is_fine(codec))
        return;
    const gph_status status = gphi_bundle_order(graph);
    if (status == GPH_E_NO_MEMORY)
        codec->status =
            gphi_fail(codec->error, status, "reading %zu nodes", graph->nodes.count);
    gphi_code_check(codec, status == GPH_OK, "a cycle among nodes:", graph->nodes.count);
}

/* The limit is of the whole file, shared by its graphs. */
static void code_nodes(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->nodes, 56, walk->nodes_left, "nodes");
    walk->nodes_left -= codec->is_reading ? count : 0;
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++)
        code_node(walk, graph, GPHI_BUNDLE_AT(&graph->nodes, node, i));
}

/* The order matters: what a record refers to comes before it. */
static void code_graph(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    code_text(walk, &graph->name);
    gphi_code_u32(codec, &graph->is_movable);
    gphi_code_u32(codec, &graph->has_check);
    gphi_code_u32(codec, &graph->input_count);
    gphi_code_u32(codec, &graph->recording);
    gphi_code_bytes(codec, graph->outputs_hash, sizeof(graph->outputs_hash));
    size_t count =
        gphi_code_array(codec, &graph->data, 1, UINT32_MAX, "bytes of arguments");
    gphi_code_bytes(codec, graph->data.items, count);
    code_moves(walk, graph);
    code_flows(walk, graph);
    code_nodes(walk, graph);
    place_bodies(walk, graph);
    code_edges(walk, graph);
    code_words(walk, graph);
    code_handles(walk, graph);
    code_uses(walk, graph);
    code_tensors(walk, graph);
    gphi_code_check(codec, graph->input_count <= graph->tensors.count,
                    "inputs that are not there:", graph->input_count);
    code_blocks(walk, &graph->blocks);
    count = gphi_code_array(codec, &graph->keys, 8, GPHI_BUNDLE_KEY_MAX, "key numbers");
    for (size_t i = 0; i < count; i++)
        gphi_code_i64(codec, gphi_vec_at(&graph->keys, i));
    code_refusals(walk, graph);
    count = gphi_code_array(codec, &graph->check_data, 1, UINT32_MAX,
                            "bytes of recorded inputs");
    gphi_code_bytes(codec, graph->check_data.items, count);
    check_order(walk, graph);
}

/* Graphs own arrays, so they are initialized one by one, and a half-read bundle can
 * always be finished. */
static void code_graphs(struct walk *walk)
{
    gphi_codec *codec = &walk->codec;
    gphi_bundle *bundle = walk->bundle;
    uint64_t count = bundle->graphs.count;
    gphi_code_u64(codec, &count);
    gphi_code_check(codec, count <= GPHI_BUNDLE_GRAPHS_MAX, "too many graphs:", count);
    for (uint64_t i = 0; i < count && gphi_code_is_fine(codec); i++) {
        if (codec->is_reading) {
            struct gphi_bundle_graph *fresh = gphi_vec_add(&bundle->graphs, 1);
            if (!fresh) {
                codec->status =
                    gphi_fail(codec->error, GPH_E_NO_MEMORY, "reading %llu graphs",
                              (unsigned long long)count);
                return;
            }
            gphi_bundle_graph_init(fresh, bundle->heap);
        }
        code_graph(walk, GPHI_BUNDLE_AT(&bundle->graphs, graph, i));
    }
}

/* The contents, once for writing and once for reading: the two cannot differ. */
static void code_bundle(struct walk *walk)
{
    gphi_codec *codec = &walk->codec;
    gphi_bundle *bundle = walk->bundle;
    code_texts(walk);
    gphi_code_u32(codec, &bundle->library_version);
    gphi_code_u32(codec, &bundle->driver_version);
    gphi_code_u32(codec, &bundle->capability);
    code_text(walk, &bundle->device);
    size_t count =
        gphi_code_array(codec, &bundle->ranges, 28, GPHI_BUNDLE_RANGES_MAX, "ranges");
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++)
        code_range(walk, GPHI_BUNDLE_AT(&bundle->ranges, range, i));
    count = gphi_code_array(codec, &bundle->args, 8, UINT32_MAX / 2, "arguments");
    for (size_t i = 0; i < count; i++) {
        gph_kernel_arg *arg = gphi_vec_at(&bundle->args, i);
        gphi_code_u32(codec, &arg->offset);
        gphi_code_u32(codec, &arg->bytes);
    }
    count = gphi_code_array(codec, &bundle->kernels, 56, UINT32_MAX / 2, "kernels");
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++)
        code_kernel(walk, GPHI_BUNDLE_AT(&bundle->kernels, kernel, i));
    code_blocks(walk, &bundle->eager);
    code_graphs(walk);
    gphi_code_check(codec, codec->at == codec->count,
                    "bytes after the last graph:", codec->count - codec->at);
}

void gphi_bundle_code(gphi_bundle *bundle, gphi_codec *codec, uint64_t nodes_max)
{
    struct walk walk = {.codec = *codec, .bundle = bundle, .nodes_left = nodes_max};
    code_bundle(&walk);
    *codec = walk.codec;
}

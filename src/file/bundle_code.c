// SPDX-License-Identifier: Apache-2.0
/* The bytes of a bundle: a header, then the contents, packed by zstd where a build has
 * it.
 *
 *   0  "gphr" 0d 0a 1a 0a      16  bytes of the contents     40  which checksum
 *   8  version                 24  bytes that follow         44  0
 *  12  1: packed by zstd       32  checksum of these
 *
 * The contents are one walk over the arrays, by the functions below, which write and
 * read. Reading checks every record as it comes; what follows may rely on it. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/log.h"
#include "file/bundle.h"
#include "file/codec.h"

#include <string.h>
#if GPHI_HAS_XXHASH
#define XXH_INLINE_ALL
#include <xxhash.h>
#endif
#if GPHI_HAS_ZSTD
#include <zstd.h>
#endif

static const unsigned char magic[8] = {'g', 'p', 'h', 'r', '\r', '\n', 0x1a, '\n'};
enum { HEADER_BYTES = 48, PACKED_ZSTD = 1, CHECKSUM_NONE = 0, CHECKSUM_XXH3 = 1 };

/* The walk, and what records may refer to. */
struct walk {
    gphi_codec codec;
    gphi_bundle *bundle;
    uint64_t nodes_left; /* that a reader accepts */
};

static void code_text(struct walk *walk, uint32_t *text)
{
    gphi_code_u32(&walk->codec, text);
    gphi_code_check(&walk->codec, *text < walk->bundle->text.count, "there is no text",
                    *text);
}

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
        const uint64_t key = (uint64_t)edge->to << 32 | edge->from;
        gphi_code_check(codec, i == 0 || key > last, "an edge twice, or out of order, to",
                        edge->to);
        last = key;
    }
}

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
        gphi_code_check(
            codec, word->offset % 8 == 0 && is_inside(word->offset, 8, word_room(node)),
            "a word at offset", word->offset);
        const uint64_t key = (uint64_t)word->node << 32 | word->offset;
        gphi_code_check(codec, key >= least, "a word out of order, of node", word->node);
        least = key + 8;
    }
}

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

static void code_nodes(struct walk *walk, struct gphi_bundle_graph *graph)
{
    gphi_codec *codec = &walk->codec;
    const size_t count =
        gphi_code_array(codec, &graph->nodes, 56, walk->nodes_left, "nodes");
    walk->nodes_left -= codec->is_reading ? count : 0;
    for (size_t i = 0; i < count && gphi_code_is_fine(codec); i++)
        code_node(walk, graph, GPHI_BUNDLE_AT(&graph->nodes, node, i));
}

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
    code_nodes(walk, graph);
    code_edges(walk, graph);
    code_words(walk, graph);
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
            if (fresh == NULL) {
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

static uint64_t checksum(const void *bytes, size_t count, uint32_t *kind)
{
#if GPHI_HAS_XXHASH
    *kind = CHECKSUM_XXH3;
    return XXH3_64bits(bytes, count);
#else
    (void)bytes, (void)count;
    *kind = CHECKSUM_NONE;
    return 0;
#endif
}

/* Packs `contents` in place where that is possible. Returns PACKED_ZSTD or 0. */
static uint32_t pack(gphi_vec *contents)
{
#if GPHI_HAS_ZSTD
    const size_t room = ZSTD_compressBound(contents->count);
    gphi_vec packed;
    gphi_vec_init(&packed, contents->heap, 1);
    size_t bytes = 0;
    if (gphi_vec_add(&packed, room) != NULL)
        bytes = ZSTD_compress(packed.items, room, contents->items, contents->count, 1);
    if (bytes > 0 && !ZSTD_isError(bytes)) {
        gphi_vec_fini(contents);
        packed.count = bytes;
        *contents = packed;
        return PACKED_ZSTD;
    }
    gphi_vec_fini(&packed); /* unpacked is right too */
#else
    (void)contents;
#endif
    return 0;
}

struct header {
    uint32_t version, packed, checksum_kind, zero;
    uint64_t unpacked_bytes, bytes, checksum;
};

static void code_header(gphi_codec *codec, struct header *header)
{
    gphi_code_u32(codec, &header->version);
    gphi_code_u32(codec, &header->packed);
    gphi_code_u64(codec, &header->unpacked_bytes);
    gphi_code_u64(codec, &header->bytes);
    gphi_code_u64(codec, &header->checksum);
    gphi_code_u32(codec, &header->checksum_kind);
    gphi_code_u32(codec, &header->zero);
}

static gph_status write_bundle(gphi_bundle *bundle, bool is_plain, gphi_vec *out,
                               gph_error *error)
{
    uint32_t none = 0; /* the text has its first zero, even if nothing was named */
    if (gphi_bundle_text_add(bundle, "", &none) != GPH_OK)
        return gphi_fail(error, GPH_E_NO_MEMORY, "writing a recipe");
    gphi_vec contents;
    gphi_vec_init(&contents, bundle->heap, 1);
    struct walk walk = {.codec = {.to = &contents, .error = error}, .bundle = bundle};
    code_bundle(&walk);
    struct header header = {.version = GPHI_BUNDLE_VERSION,
                            .unpacked_bytes = contents.count};
    if (gphi_code_is_fine(&walk.codec)) {
        header.packed = is_plain ? 0 : pack(&contents);
        header.bytes = contents.count;
        if (!is_plain)
            header.checksum =
                checksum(contents.items, contents.count, &header.checksum_kind);
        unsigned char head[sizeof(magic)];
        memcpy(head, magic, sizeof(head));
        walk.codec.to = out;
        gphi_code_bytes(&walk.codec, head, sizeof(head));
        code_header(&walk.codec, &header);
        gphi_code_bytes(&walk.codec, contents.items, contents.count);
    }
    gphi_vec_fini(&contents);
    return walk.codec.status;
}

gph_status gphi_bundle_write(gphi_bundle *bundle, gphi_vec *out, gph_error *error)
{
    return write_bundle(bundle, false, out, error);
}

gph_status gphi_bundle_write_plain(gphi_bundle *bundle, gphi_vec *out, gph_error *error)
{
    return write_bundle(bundle, true, out, error);
}

static gph_status unpack(const struct header *header, const unsigned char *bytes,
                         gphi_vec *out, gph_error *error)
{
    if (header->packed != PACKED_ZSTD)
        return gphi_fail(error, GPH_E_FORMAT, "byte 12: packed by method %u",
                         header->packed);
#if GPHI_HAS_ZSTD
    if (gphi_vec_add(out, (size_t)header->unpacked_bytes) == NULL)
        return gphi_fail(error, GPH_E_NO_MEMORY, "unpacking %llu bytes",
                         (unsigned long long)header->unpacked_bytes);
    const size_t done =
        ZSTD_decompress(out->items, out->count, bytes, (size_t)header->bytes);
    if (ZSTD_isError(done) || done != header->unpacked_bytes)
        return gphi_fail(
            error, GPH_E_FORMAT, "byte %d: cannot be unpacked into %llu bytes: %s",
            HEADER_BYTES, (unsigned long long)header->unpacked_bytes,
            ZSTD_isError(done) ? ZSTD_getErrorName(done) : "there are fewer");
    return GPH_OK;
#else
    (void)bytes, (void)out;
    return gphi_fail(error, GPH_E_UNSUPPORTED,
                     "the file is packed by zstd, which this build lacks");
#endif
}

static gph_status check_header(const struct header *header, const unsigned char *bytes,
                               size_t count, const struct gphi_bundle_limits *limits,
                               gph_error *error)
{
    if (header->version != GPHI_BUNDLE_VERSION)
        return gphi_fail(error, GPH_E_UNSUPPORTED,
                         "byte 8: version %u of the format; this library reads %d",
                         header->version, GPHI_BUNDLE_VERSION);
    if (header->unpacked_bytes > limits->unpacked_bytes)
        return gphi_fail(error, GPH_E_FORMAT, "byte 16: %llu bytes, more than %llu",
                         (unsigned long long)header->unpacked_bytes,
                         (unsigned long long)limits->unpacked_bytes);
    if (header->bytes != count - HEADER_BYTES)
        return gphi_fail(error, GPH_E_FORMAT,
                         "byte 24: %llu bytes should follow, but %zu do",
                         (unsigned long long)header->bytes, count - HEADER_BYTES);
    if (header->zero != 0 || header->checksum_kind > CHECKSUM_XXH3)
        return gphi_fail(error, GPH_E_FORMAT, "byte 40: checksum of kind %u",
                         header->checksum_kind);
    uint32_t kind = CHECKSUM_NONE;
    const uint64_t found = checksum(bytes, (size_t)header->bytes, &kind);
    if (kind == header->checksum_kind && kind != CHECKSUM_NONE &&
        found != header->checksum)
        return gphi_fail(error, GPH_E_FORMAT,
                         "byte 32: checksum %016llx, but that of the bytes is %016llx",
                         (unsigned long long)header->checksum, (unsigned long long)found);
    if (kind != header->checksum_kind)
        gphi_log("file", GPH_LOG_INFO, "the recipe's checksum is not compared");
    return GPH_OK;
}

gph_status gphi_bundle_read(gphi_bundle *bundle, const void *bytes, size_t count,
                            const struct gphi_bundle_limits *limits, gph_error *error)
{
    const size_t head = count < sizeof(magic) ? count : sizeof(magic);
    if (head == 0 || memcmp(bytes, magic, head) != 0)
        return gphi_fail(error, GPH_E_FORMAT, "byte 0: this is no recipe");
    struct walk walk = {.codec = {.is_reading = true, .error = error},
                        .bundle = bundle,
                        .nodes_left = limits->nodes};
    walk.codec.from = bytes;
    walk.codec.count = count;
    walk.codec.at = head;
    struct header header = {0};
    code_header(&walk.codec, &header);
    GPHI_TRY(walk.codec.status);
    const unsigned char *contents = (const unsigned char *)bytes + HEADER_BYTES;
    GPHI_TRY(check_header(&header, contents, count, limits, error));

    gphi_vec unpacked;
    gphi_vec_init(&unpacked, bundle->heap, 1);
    gph_status status = GPH_OK;
    walk.codec.from = contents;
    walk.codec.count = (size_t)header.bytes;
    walk.codec.at = 0;
    if (header.packed != 0) {
        status = unpack(&header, contents, &unpacked, error);
        walk.codec.from = unpacked.items;
        walk.codec.count = unpacked.count;
    }
    if (status == GPH_OK) {
        code_bundle(&walk);
        status = walk.codec.status;
    }
    gphi_vec_fini(&unpacked);
    if (status != GPH_OK) {
        const gph_allocator heap = bundle->heap;
        gphi_bundle_fini(bundle);
        gphi_bundle_init(bundle, heap);
    }
    return status;
}

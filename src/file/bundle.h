// SPDX-License-Identifier: Apache-2.0
/* A recipe's contents: graphs as flat arrays, and the bytes that they are in a file.
 *
 *   bundle   text      "\0arena\0axpy\0bucket 8\0"    names are offsets into it
 *            ranges    name, address, shifted, bytes
 *            kernels   image hash, name, layout of the arguments
 *            graphs -> nodes    kind, kernel, grid, block; where its bytes lie in `data`
 *                      edges    sorted by (to, from)
 *                      words    (node, offset) that hold an address of a range
 *                      data     arguments of kernels, one after the other
 *
 * What a file gave has been checked: every index is in range, every graph free of cycles.
 */
#ifndef GPHI_FILE_BUNDLE_H
#define GPHI_FILE_BUNDLE_H
#include "base/vec.h"
#include <gph/graph.h>
#include <stdbool.h>

enum {
    GPHI_BUNDLE_VERSION = 2,
    GPHI_BUNDLE_HASH_BYTES = 32,
    GPHI_BUNDLE_RANK_MAX = 8,
    GPHI_BUNDLE_KEY_MAX = 1 << 20, /* a tree's nodes have theirs in keys */
    GPHI_BUNDLE_RANGES_MAX = 4096,
    GPHI_BUNDLE_GRAPHS_MAX = 65536,
    GPHI_BUNDLE_REFUSALS_MAX = 64,
    GPHI_BUNDLE_NAME_MAX = 4095,
    GPHI_BUNDLE_ATTRIBUTE_BYTES = 64,
    GPHI_BUNDLE_ARGS_MAX = 32764, /* bytes of arguments of a kernel, CUDA's own limit */
};
#define GPHI_BUNDLE_NONE UINT32_MAX

/* The offsets of words in a copy and in a fill. */
enum { GPHI_BUNDLE_DST = 0, GPHI_BUNDLE_SRC = 8 };

struct gphi_bundle_range {
    uint32_t name;
    uint64_t address, shifted, bytes;
};

struct gphi_bundle_kernel {
    unsigned char image[GPHI_BUNDLE_HASH_BYTES];
    uint32_t name;
    uint32_t buffer_bytes;
    int32_t dynamic_shared_bytes;  /* the function's own limit */
    int32_t carveout;              /* as set for the function; -1: not */
    uint32_t arg_first, arg_count; /* in `args` of the bundle */
};

struct gphi_bundle_node {
    uint32_t kind; /* GPH_NODE_KERNEL, _MEMCPY, _MEMSET, _EMPTY or _CONDITIONAL */
    uint32_t item; /* index of the kernel, or in copies, fills or flows */
    uint32_t grid[3], block[3];
    uint32_t shared_bytes;
    uint32_t data_bytes;
    uint64_t data_first;
    uint32_t attribute_first, attribute_count;
};

struct gphi_bundle_attribute {
    uint32_t id; /* CUlaunchAttributeID */
    unsigned char value[GPHI_BUNDLE_ATTRIBUTE_BYTES];
};

struct gphi_bundle_word {
    uint32_t node, offset, range;
};

/* A conditional node. Handles are made again where a graph is built; what it begins with is
 * said by flags and value, as cuGraphConditionalHandleCreate() takes them. */
struct gphi_bundle_flow {
    uint32_t form; /* a gph_conditional_form, not unknown */
    uint32_t bodies;
    uint32_t value, flags;
    uint64_t handle; /* as it was read; not in the file, as what follows */
    uint32_t set[2]; /* kernels of the caller's that set it, or GPHI_BUNDLE_NONE */
};

/* A body: so many nodes, after those of the body before it. The first nodes of all are the
 * graph's own; bodies come in the order of their conditional nodes, which are in a part
 * before them. So each part is a row of nodes, and edges stay in a part. */
struct gphi_bundle_body {
    uint32_t flow;
    uint32_t first, count; /* first: not in the file */
};

/* Eight bytes of a kernel's arguments that are the handle of a conditional node; they are 0
 * in `data`. */
struct gphi_bundle_handle {
    uint32_t node, offset, flow;
};

/* A range that a graph uses. */
struct gphi_bundle_use {
    uint32_t range;
    uint32_t is_fixed; /* it must lie where it lay */
};

struct gphi_bundle_tensor {
    uint32_t range;
    uint32_t dtype, rank;
    uint64_t offset; /* of element 0 in the range */
    int64_t shape[GPHI_BUNDLE_RANK_MAX], stride[GPHI_BUNDLE_RANK_MAX];
};

/* A piece of a range that was allocated from a pool: gph_pool_range. */
struct gphi_bundle_block {
    uint32_t range;
    uint32_t kind;  /* gph_range_kind; 5: eager memory */
    uint32_t maker; /* the recording that allocated it, by its number then; 0: none */
    uint32_t first, last;
    uint64_t offset, bytes;
};

struct gphi_bundle_refusal {
    int64_t node; /* -1: the whole graph */
    uint32_t kind;
    int64_t offset; /* -1: no word */
    uint32_t why;   /* text */
};

struct gphi_bundle_graph {
    uint32_t name;
    uint32_t is_movable;
    uint32_t has_check;
    uint32_t input_count;
    uint32_t recording; /* its number in its pool; 0: no pool */
    unsigned char outputs_hash[GPHI_BUNDLE_HASH_BYTES];
    gphi_vec nodes;      /* gphi_bundle_node */
    gphi_vec edges;      /* gph_edge */
    gphi_vec copies;     /* gph_memcpy_params */
    gphi_vec fills;      /* gph_memset_params */
    gphi_vec attributes; /* gphi_bundle_attribute */
    gphi_vec words;      /* gphi_bundle_word, by (node, offset) */
    gphi_vec flows;      /* gphi_bundle_flow, by node */
    gphi_vec bodies;     /* gphi_bundle_body, by flow */
    gphi_vec handles;    /* gphi_bundle_handle, by (node, offset) */
    gphi_vec uses;       /* gphi_bundle_use, by range */
    gphi_vec tensors;    /* gphi_bundle_tensor: inputs, then outputs */
    gphi_vec blocks;     /* gphi_bundle_block, of its recording */
    gphi_vec keys;       /* int64_t */
    gphi_vec refusals;   /* gphi_bundle_refusal */
    gphi_vec order;      /* uint32_t, not in the file: see gphi_bundle_order() */
    gphi_vec data;       /* bytes */
    gphi_vec check_data; /* bytes of the inputs, one after the other */
};

typedef struct gphi_bundle {
    gph_allocator heap;
    uint32_t library_version, driver_version, capability, device;
    gphi_vec text;    /* bytes; the first is 0 */
    gphi_vec ranges;  /* gphi_bundle_range */
    gphi_vec args;    /* gph_kernel_arg, of all kernels */
    gphi_vec kernels; /* gphi_bundle_kernel */
    gphi_vec eager;   /* gphi_bundle_block, allocated outside recordings */
    gphi_vec graphs;  /* gphi_bundle_graph */
} gphi_bundle;

/* Empty ones; nothing is allocated. */
void gphi_bundle_init(gphi_bundle *bundle, gph_allocator heap);
void gphi_bundle_graph_init(struct gphi_bundle_graph *graph, gph_allocator heap);
void gphi_bundle_fini(gphi_bundle *bundle);
void gphi_bundle_graph_fini(struct gphi_bundle_graph *graph);

/* The part of a node: 0 the graph's own, i body i - 1. Its first node. How many there are
 * is bodies.count + 1. */
uint32_t gphi_bundle_part(const struct gphi_bundle_graph *graph, uint32_t node);
uint32_t gphi_bundle_part_first(const struct gphi_bundle_graph *graph, uint32_t part);
uint32_t gphi_bundle_part_end(const struct gphi_bundle_graph *graph, uint32_t part);

#define GPHI_BUNDLE_AT(vec, type, index)                                                 \
    ((struct gphi_bundle_##type *)gphi_vec_at(vec, index))

/* A text of the bundle; lent until one is added. */
static inline const char *gphi_bundle_text(const gphi_bundle *bundle, uint32_t at)
{
    return bundle->text.count == 0 ? "" : (const char *)gphi_vec_at(&bundle->text, at);
}

/* Adds a text. GPH_E_NO_MEMORY. */
gph_status gphi_bundle_text_add(gphi_bundle *bundle, const char *text, uint32_t *out);

/* Whether it may be a name: not empty, not too long, no control characters. */
bool gphi_bundle_is_name(const char *text);

/* Fills `order`, in which every edge points forward. GPH_E_INVALID: there is a cycle;
 * GPH_E_NO_MEMORY. */
gph_status gphi_bundle_order(struct gphi_bundle_graph *graph);

/* The bytes of a file. `out` is an empty vec of bytes. */
gph_status gphi_bundle_write(gphi_bundle *bundle, gphi_vec *out, gph_error *error);

/* The same, neither packed nor with a checksum: what fuzzers and tests begin with. */
gph_status gphi_bundle_write_plain(gphi_bundle *bundle, gphi_vec *out, gph_error *error);

struct gphi_bundle_limits {
    uint64_t unpacked_bytes;
    uint64_t nodes;
};

/* Reads what gphi_bundle_write() wrote, into an empty bundle, which on failure is empty
 * again. Nothing is believed. */
gph_status gphi_bundle_read(gphi_bundle *bundle, const void *bytes, size_t count,
                            const struct gphi_bundle_limits *limits, gph_error *error);

/* The contents alone, to or from a codec whose status says how it went; reading, they
 * have `nodes_max` nodes at most. */
struct gphi_codec;
void gphi_bundle_code(gphi_bundle *bundle, struct gphi_codec *codec, uint64_t nodes_max);
#endif

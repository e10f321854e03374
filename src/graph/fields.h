// SPDX-License-Identifier: Apache-2.0
/* What a node of each kind consists of: one table for all that read, write and compare.
 *
 *   {"kind": "memset", "name": "zero the sums", "address": "0x7f…", "width": 64, …}
 *                                               ^ a field: key, type, where in gph_node
 */
#ifndef GPHI_GRAPH_FIELDS_H
#define GPHI_GRAPH_FIELDS_H
#include <gph/graph.h>
#include <stdbool.h>

#define GPHI_JSON_FORMAT "gph-graph"
enum { GPHI_JSON_VERSION = 1 };

typedef enum gphi_field_type {
    GPHI_FIELD_U32,    /* a number */
    GPHI_FIELD_I32,    /* a number that may be below 0 */
    GPHI_FIELD_U64,    /* a number, or hexadecimal text where it is too large for one */
    GPHI_FIELD_HEX,    /* an address or handle: "0x7f00" */
    GPHI_FIELD_TRIPLE, /* three u32 */
    GPHI_FIELD_MEMORY, /* a gph_memory_kind as a word */
    GPHI_FIELD_SIDE,   /* a gph_memcpy_side, an object of its own */
    GPHI_FIELD_TEXT,   /* may be missing */
    GPHI_FIELD_ARGS,   /* a kernel's arguments and their buffer; may be missing */
    GPHI_FIELD_BYTES,  /* the buffer, two hexadecimal digits a byte; may be missing */
    GPHI_FIELD_OPS,    /* the operations of a batch; may be missing */
    GPHI_FIELD_GRAPH   /* a child graph; may be missing */
} gphi_field_type;

typedef struct gphi_field {
    const char *key;
    gphi_field_type type;
    size_t offset;    /* in gph_node, or in gph_memcpy_side */
    bool may_be_zero; /* then it is left out */
} gphi_field;

typedef struct gphi_fields {
    const gphi_field *items;
    size_t count;
} gphi_fields;

/* The fields of a node of this kind beyond kind and name. */
gphi_fields gphi_fields_of_node(gph_node_kind kind);

/* The fields of a side of a copy. */
gphi_fields gphi_fields_of_side(void);

/* Where a kernel's argument lies has these, in a gph_kernel_arg. */
gphi_fields gphi_fields_of_arg(void);

/* The operations of a batch have these, in a gph_mem_op. */
gphi_fields gphi_fields_of_op(void);

/* "host", "device", ...; NULL if there is no such kind. */
const char *gphi_memory_name(uint32_t kind);
#endif

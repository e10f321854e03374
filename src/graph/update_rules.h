// SPDX-License-Identifier: Apache-2.0
/* What two nodes may not differ in for one to take the other's place in an executable:
 * the driver's rules (R69 to R69e, M_U06, M_U07; docs/conformance.md) in its order, so
 * that the first that is broken is the one that it would name. Updates predict by them,
 * the doctor explains by them. */
#ifndef GPHI_GRAPH_UPDATE_RULES_H
#define GPHI_GRAPH_UPDATE_RULES_H
#include "cuda/abi.h"
#include "graph/kept.h"

/* What memory an operand of a copy or fill refers to, as far as queries report it. */
typedef enum gphi_backing {
    GPHI_BACKING_UNKNOWN = 0, /* or no operand, or an array */
    GPHI_BACKING_CONTEXT, /* memory of a context, or ordinary host memory (context 0) */
    GPHI_BACKING_POOL,    /* of a pool, or mapped */
    GPHI_BACKING_GRAPH    /* of the graph's own allocations */
} gphi_backing;

typedef struct gphi_operand {
    uint64_t context;   /* 0: none, or unknown */
    uint8_t backing;    /* a gphi_backing */
    uint8_t is_nowhere; /* the driver knows no memory there now */
    uint8_t is_freed;   /* the graph itself allocates and frees it */
} gphi_operand;

/* One of the two nodes, and what is known beside it. */
typedef struct gphi_update_side {
    const gph_node *node;
    gphi_operand dst, src; /* of copies and fills */
    uint64_t context;      /* that of a copy's host memory; 0: unknown */
} gphi_update_side;

typedef struct gphi_update_clash {
    gphi_update_rule rule; /* GPHI_UPDATE_FITS: none is broken */
    const char *field;     /* static, as the rest of the pointers here */
    char before[96], after[96];
} gphi_update_clash;

/* Whether an executable whose node is `a` may take `b`, a node of the same kind; child
 * graphs are not entered. `flags` are those of the instantiation. If not, *out says why;
 * untouched otherwise. */
bool gphi_update_fits(const gphi_update_side *a, const gphi_update_side *b,
                      uint64_t flags, gphi_update_clash *out);

/* A rule in words, and as the driver reports it. */
typedef struct gphi_update_words {
    const char *number; /* "R69c", of docs/conformance.md */
    const char *text;   /* "a copy keeps the memory types that it declares" */
    CUgraphExecUpdateResult result;
} gphi_update_words;

const gphi_update_words *gphi_update_words_of(gphi_update_rule rule);

/* "memory of a context" */
const char *gphi_backing_name(gphi_backing backing);
#endif

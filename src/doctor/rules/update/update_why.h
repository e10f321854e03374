// SPDX-License-Identifier: Apache-2.0
/* Why an executable was refused its new contents: which pair of nodes, which field, from
 * which value to which, by which rule of the driver. */
#ifndef GPHI_DOCTOR_UPDATE_WHY_H
#define GPHI_DOCTOR_UPDATE_WHY_H
#include "doctor/findings/rule.h"
#include "graph/update_rules.h"

/* Names of rules, update.X. */
typedef enum gphi_why {
    GPHI_WHY_NONE,
    GPHI_WHY_NODE_COUNT,
    GPHI_WHY_EDGES,
    GPHI_WHY_NODE_TYPE,
    GPHI_WHY_ATTRIBUTES,
    GPHI_WHY_MEMCPY_KIND,
    GPHI_WHY_MEMSET_SIZE,
    GPHI_WHY_OPERAND_BACKING,
    GPHI_WHY_NODE_HANDLE,
    GPHI_WHY_UNSUPPORTED,
    GPHI_WHY_COUNT
} gphi_why;

/* What the last POINTER record of an address said. */
typedef struct gphi_pointer {
    gphi_operand operand;
    uint64_t pool;
} gphi_pointer;

typedef struct gphi_operands {
    gphi_map by_address; /* -> index */
    gphi_vec list;       /* of gphi_pointer */
} gphi_operands;

void gphi_operands_init(gphi_operands *operands, gph_allocator heap);
void gphi_operands_fini(gphi_operands *operands);
/* Takes a POINTER record, ignores others. */
void gphi_operands_note(gphi_operands *operands, const gphi_event *event);

/* What was asked for. */
typedef struct gphi_ask {
    const gphi_model *model;
    const gphi_operands *operands;
    const gphi_snapshot *held;   /* what the executable holds, or NULL */
    const gphi_snapshot *wanted; /* the new graph; NULL of a setter */
    uint64_t flags;              /* of the instantiation */
    const gphi_event *event;     /* the call */
    uint32_t result;             /* CUgraphExecUpdateResult, 0: not reported */
    uint64_t error_node;         /* of the new graph, or 0 */
    const char *said;            /* by the driver */
} gphi_ask;

enum { GPHI_WHY_NODES = 4 };

/* A node that matters: what to say of it, and where it was made. */
typedef struct gphi_why_node {
    char text[200];
    gphi_call made; /* number 0: unknown */
} gphi_why_node;

typedef struct gphi_verdict {
    gphi_why why;
    char cause[1600]; /* one sentence without its end */
    gphi_why_node nodes[GPHI_WHY_NODES];
    uint32_t node_count;
    const char *rule; /* the driver's, in words; static */
} gphi_verdict;

/* Of a whole update, and of the setter of one node. */
void gphi_why_update(const gphi_ask *ask, gphi_verdict *out);
void gphi_why_setter(const gphi_ask *ask, gphi_verdict *out);

/* ---- update_pair.c ---- */

/* The first field that two nodes of one kind may not differ in, by the rules of
 * graph/update_rules.h. GPHI_WHY_NONE: all right. */
typedef struct gphi_clash {
    gphi_why why;
    char before[400], after[400];
    const char *field; /* static, as `rule` */
    const char *rule;
} gphi_clash;

void gphi_clash_find(const gphi_ask *ask, const gph_node *a, const gph_node *b,
                     gphi_clash *out);
#endif

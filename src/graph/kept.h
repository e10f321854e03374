// SPDX-License-Identifier: Apache-2.0
/* What of a node an update of an executable leaves as it is, as rows: the one place that
 * says so. Signatures hash the rows, updates and the doctor compare them in their order.
 *
 *   memset of 4 rows    rule         field            value
 *                       FILL_ROWS    height           4
 *                       FILL_ROW     width            64     only with several rows
 *                       FILL_ROW     pitch_bytes      256
 *                       FILL_ROW     element_bytes    4
 *
 * Rules that need more than the two nodes (the flags of the instantiation, the memory
 * that addresses refer to) are in graph/update_rules.c. */
#ifndef GPHI_GRAPH_KEPT_H
#define GPHI_GRAPH_KEPT_H
#include <gph/graph.h>
#include <stdbool.h>

/* Rules of updates; graph/update_rules.c has their numbers and words. */
typedef enum gphi_update_rule {
    GPHI_UPDATE_FITS = 0,
    GPHI_UPDATE_KERNEL_CONTEXT,
    GPHI_UPDATE_COOPERATIVE,
    GPHI_UPDATE_PRIORITY,
    GPHI_UPDATE_COPY_TYPE,
    GPHI_UPDATE_COPY_ROWS,
    GPHI_UPDATE_COPY_BACKING,
    GPHI_UPDATE_OPERAND_CONTEXT,
    GPHI_UPDATE_FILL_ROWS,
    GPHI_UPDATE_FILL_ROW,
    GPHI_UPDATE_FILL_NOWHERE,
    GPHI_UPDATE_FILL_FREED,
    GPHI_UPDATE_BATCH,
    GPHI_UPDATE_SEMAPHORES,
    GPHI_UPDATE_CONDITIONAL,
    GPHI_UPDATE_RULE_COUNT
} gphi_update_rule;

typedef enum gphi_kept_type {
    GPHI_KEPT_NUMBER,
    GPHI_KEPT_HANDLE, /* 0: unknown */
    GPHI_KEPT_MEMORY  /* a gph_memory_kind */
} gphi_kept_type;

typedef struct gphi_kept {
    gphi_update_rule rule;
    gphi_kept_type type;
    const char *field; /* static */
    uint64_t value;
} gphi_kept;

/* Row `index` of a node, child graphs not entered; false if it has fewer. Nodes of one
 * kind whose rows so far are equal have the same row next, or none. */
bool gphi_kept_at(const gph_node *node, uint32_t index, gphi_kept *out);

/* A copy of one row, whose every parameter but the types of memory may change. */
static inline bool gphi_is_flat(const gph_memcpy_params *copy)
{
    return copy->height <= 1 && copy->depth <= 1;
}
#endif

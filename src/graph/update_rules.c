// SPDX-License-Identifier: Apache-2.0
/* Comparing two nodes by the rules of updates. */
#include "graph/update_rules.h"
#include "graph/node.h"

#include <inttypes.h>
#include <stdio.h>

static const gphi_update_words words[GPHI_UPDATE_RULE_COUNT] = {
    [GPHI_UPDATE_FITS] = {"", "", CU_GRAPH_EXEC_UPDATE_SUCCESS},
    [GPHI_UPDATE_KERNEL_CONTEXT] =
        {"R69", "a kernel's function stays of one context",
         CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE},
    [GPHI_UPDATE_COOPERATIVE] = {"R69a", "a kernel stays cooperative or not",
                                 CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED},
    [GPHI_UPDATE_PRIORITY] =
        {"R69a", "an executable that uses the priorities of its nodes keeps them",
         CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED},
    [GPHI_UPDATE_COPY_TYPE] = {"R69c", "a copy keeps the memory types that it declares",
                               CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_COPY_ROWS] = {"R69d", "a copy of several rows stays as it is",
                               CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_COPY_BACKING] =
        {"M_U07_backing",
         "an operand of a copy stays in memory of one sort: of a context, of pools and "
         "mapped ranges, or of graphs; which pool it is does not matter",
         CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_OPERAND_CONTEXT] =
        {"M_U07_context",
         "the source of a copy, and what a fill writes, stays of one context",
         CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_FILL_ROWS] = {"M_U06_fill_shape", "a fill keeps its number of rows",
                               CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_FILL_ROW] = {"M_U06_fill_shape",
                              "a fill of several rows keeps its width, pitch and element",
                              CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_FILL_NOWHERE] = {"M_capture_fill", "a fill writes memory that is there",
                                  CU_GRAPH_EXEC_UPDATE_ERROR},
    [GPHI_UPDATE_FILL_FREED] =
        {"M_fill_freed",
         "a fill of memory that the graph allocates and frees stays there",
         CU_GRAPH_EXEC_UPDATE_ERROR},
    [GPHI_UPDATE_BATCH] = {"R69e", "a batch keeps the number and kinds of its operations",
                           CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_SEMAPHORES] = {"R69e", "a semaphore node keeps its number of semaphores",
                                CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED},
    [GPHI_UPDATE_CONDITIONAL] =
        {"R69f", "a conditional node keeps its form and its number of bodies",
         CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED},
};

const gphi_update_words *gphi_update_words_of(gphi_update_rule rule)
{
    return &words[rule];
}

const char *gphi_backing_name(gphi_backing backing)
{
    switch (backing) {
    case GPHI_BACKING_CONTEXT: return "memory of a context";
    case GPHI_BACKING_POOL: return "memory of no context (pool or mapped)";
    case GPHI_BACKING_GRAPH: return "memory of a graph";
    case GPHI_BACKING_UNKNOWN: break;
    }
    return "memory of unknown sort";
}

/* ---- clashes ---- */

static const char *memory_name(uint64_t kind)
{
    static const char *const names[] = {"unknown", "HOST", "DEVICE", "ARRAY", "UNIFIED"};
    return names[kind < sizeof(names) / sizeof(*names) ? kind : 0];
}

static bool clash(gphi_update_clash *out, gphi_update_rule rule, const char *field)
{
    out->rule = rule;
    out->field = field;
    return false;
}

static void put_value(char out[96], gphi_kept_type type, uint64_t value)
{
    if (type == GPHI_KEPT_MEMORY)
        snprintf(out, 96, "%s", memory_name(value));
    else
        snprintf(out, 96, type == GPHI_KEPT_HANDLE ? "0x%" PRIx64 : "%" PRIu64, value);
}

static bool clash_values(gphi_update_clash *out, const gphi_kept *a, uint64_t after)
{
    put_value(out->before, a->type, a->value);
    put_value(out->after, a->type, after);
    return clash(out, a->rule, a->field);
}

static bool clash_handles(gphi_update_clash *out, gphi_update_rule rule,
                          const char *field, uint64_t before, uint64_t after)
{
    const gphi_kept kept = {rule, GPHI_KEPT_HANDLE, field, before};
    return clash_values(out, &kept, after);
}

/* ---- rules ---- */

/* A handle that is not known is not a difference. */
static bool fits_kept(const gph_node *a, const gph_node *b, gphi_update_clash *out)
{
    gphi_kept left, right;
    for (uint32_t i = 0; gphi_kept_at(a, i, &left) && gphi_kept_at(b, i, &right); i++) {
        if (left.value == right.value ||
            (left.type == GPHI_KEPT_HANDLE && (left.value == 0 || right.value == 0)))
            continue;
        return clash_values(out, &left, right.value);
    }
    return true;
}

static bool fits_priority(const gph_kernel_params *a, const gph_kernel_params *b,
                          uint64_t flags, gphi_update_clash *out)
{
    if (a->priority == b->priority ||
        (flags & CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY) == 0)
        return true;
    snprintf(out->before, sizeof(out->before), "%" PRId32, a->priority);
    snprintf(out->after, sizeof(out->after), "%" PRId32, b->priority);
    return clash(out, GPHI_UPDATE_PRIORITY, "priority");
}

static bool fits_backing(const gphi_operand *a, const gphi_operand *b, const char *field,
                         gphi_update_clash *out)
{
    if (a->backing == b->backing || a->backing == GPHI_BACKING_UNKNOWN ||
        b->backing == GPHI_BACKING_UNKNOWN)
        return true;
    snprintf(out->before, sizeof(out->before), "%s", gphi_backing_name(a->backing));
    snprintf(out->after, sizeof(out->after), "%s", gphi_backing_name(b->backing));
    return clash(out, GPHI_UPDATE_COPY_BACKING, field);
}

static bool fits_context(uint64_t a, uint64_t b, const char *field,
                         gphi_update_clash *out)
{
    if (a == b || a == 0 || b == 0)
        return true;
    return clash_handles(out, GPHI_UPDATE_OPERAND_CONTEXT, field, a, b);
}

/* Ordinary host memory goes with the copy's context, unless it stays host memory. */
static uint64_t source_context(const gphi_update_side *of, const gphi_update_side *other)
{
    return of->src.context == 0 && other->src.context != 0 ? of->context
                                                           : of->src.context;
}

static bool fits_copy(const gphi_update_side *a, const gphi_update_side *b,
                      gphi_update_clash *out)
{
    return fits_kept(a->node, b->node, out) &&
           fits_backing(&a->dst, &b->dst, "dst.address", out) &&
           fits_backing(&a->src, &b->src, "src.address", out) &&
           fits_context(source_context(a, b), source_context(b, a), "src.address", out);
}

static bool fits_fill(const gphi_update_side *a, const gphi_update_side *b,
                      gphi_update_clash *out)
{
    const uint64_t before = a->node->u.memset.address, after = b->node->u.memset.address;
    if (b->dst.is_nowhere && !gphi_node_same(a->node, b->node))
        return clash_handles(out, GPHI_UPDATE_FILL_NOWHERE, "address", before, after);
    if (!fits_kept(a->node, b->node, out))
        return false;
    if (before != after && a->dst.is_freed && b->dst.is_freed)
        return clash_handles(out, GPHI_UPDATE_FILL_FREED, "address", before, after);
    return fits_context(a->dst.context, b->dst.context, "address", out);
}

bool gphi_update_fits(const gphi_update_side *a, const gphi_update_side *b,
                      uint64_t flags, gphi_update_clash *out)
{
    switch (b->node->kind) {
    case GPH_NODE_KERNEL:
        return fits_kept(a->node, b->node, out) &&
               fits_priority(&a->node->u.kernel, &b->node->u.kernel, flags, out);
    case GPH_NODE_MEMCPY: return fits_copy(a, b, out);
    case GPH_NODE_MEMSET: return fits_fill(a, b, out);
    default: return fits_kept(a->node, b->node, out);
    }
}

// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes (R80-R87): handles and bodies.
 *
 *   root graph ── conditions: handle 1, 2, ...     each used by one node
 *        └─ conditional node ── bodies ── nodes, and conditional nodes again
 *
 * A handle numbers a value of the executable graph; kernels set it, the node reads it. It
 * belongs to the root, whichever body's graph it was made for. All with the graph mutex
 * held. */
#ifndef SOFT_GRAPH_CONDITIONAL_H
#define SOFT_GRAPH_CONDITIONAL_H

#include "softcuda/graph/graph.h"

struct soft_condition {
    soft_context *context;
    uint32_t initial;
    bool assigns;          /* `initial`, when a launch begins (R84) */
    const soft_node *user; /* NULL: no node yet */
};

/* What a graph may have one of: its executable (R86). Shared with that. */
typedef struct soft_single {
    atomic_uint references;
    atomic_bool taken;
} soft_single;

CUresult soft_condition_create(soft_graph *graph, CUcontext context, uint32_t initial,
                               uint32_t flags, CUgraphConditionalHandle *out);
/* Checks what a node is to be; the context is the handle's. */
CUresult soft_conditional_describe(const CUDA_CONDITIONAL_NODE_PARAMS *in,
                                   const soft_graph *graph, soft_context **context,
                                   soft_task *out);
/* The handle of a node that comes, or goes: it may be used again. */
void soft_conditional_claim(const soft_node *node, bool is_there);
void soft_conditions_drop(soft_graph *graph);

/* Whether it has conditional nodes, or is the body of one: it is neither cloned, nor a
 * child graph, nor instantiated twice (R86). */
bool soft_graph_is_conditional(const soft_graph *graph);
/* Whether all that its bodies hold may be there, and all handles have their node: else
 * the reason in `out` (R80, R82, R83). */
CUresult soft_conditional_check(const soft_graph *graph,
                                CUDA_GRAPH_INSTANTIATE_PARAMS *out);
/* Whether a device reaches both ends: what bodies and device graphs copy (R70, R83). */
bool soft_copy_is_reached(const soft_copy *copy);
/* A kernel of dynamic parallelism, which neither bodies nor device graphs hold. */
bool soft_node_launches_kernels(const soft_node *node);
/* The one executable: NOT_SUPPORTED where there is one. *out is NULL for graphs that may
 * have several. */
CUresult soft_single_take(soft_graph *graph, soft_single **out);
void soft_single_release(soft_single *single, bool gives_back); /* takes NULL */

#endif

// SPDX-License-Identifier: Apache-2.0
/* Kernel nodes that kernels change (R78, R79), as graphs have them: which nodes are, and
 * what such a graph may not do. The changes are in kernel/run/nodeupdate.h. All with the
 * graph mutex held. */
#ifndef SOFT_GRAPH_UPDATABLE_H
#define SOFT_GRAPH_UPDATABLE_H

#include "softcuda/graph/exec.h"
#include "softcuda/kernel/run/nodeupdate.h"

/* The attribute, set to `value`; the node's handle is in it afterwards. */
CUresult soft_updatable_set(soft_node *node, CUlaunchAttributeValue *value);
/* A node that comes with the attribute gets a handle of its own, or that of the node that it
 * is a copy of. */
CUresult soft_updatable_adopt(soft_node *node, soft_updatable *of);
/* Whether it has such nodes, in bodies too. Child graphs do not count. */
bool soft_graph_is_updatable(const soft_graph *graph);
/* NOT_SUPPORTED for such a node. */
CUresult soft_updatable_keep(const soft_node *node, const char *what);

/* ---- executable graphs */

/* The nodes that kernels may change. */
typedef struct soft_updatables {
    uint32_t count;
    bool own; /* soft_graph_is_updatable() of the graph it was made from */
    struct {
        uint32_t at; /* flat node */
        soft_updatable *updatable;
    } list[];
} soft_updatables;

/* *out is NULL where there are none. */
CUresult soft_updatables_create(const soft_graph *graph, const soft_flat *flat,
                                soft_updatables **out);
void soft_updatables_destroy(const soft_exec *exec);
/* The device has the parameters of this version from now on. Only those that it never had: the
 * others are there, and another executable's may be active. An upload (`uploads`) brings them
 * again where none is. Any thread; the version is held. */
void soft_updatables_activate(const soft_version *version, bool uploads);

#endif

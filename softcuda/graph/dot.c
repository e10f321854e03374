// SPDX-License-Identifier: Apache-2.0
/* cuGraphDebugDotPrint(): a graph as Graphviz text. Written beside the file and renamed,
 * so that an interrupted write leaves nothing half done; but never over what is not a plain
 * file: a device, a pipe or a link is written through. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "softcuda/device/alloc.h"
#include "softcuda/graph/dot.h"
#include "softcuda/graph/exec.h"
#include "softcuda/rules/rules.h"

/* Numbers a graph's nodes from its ends on, in `mark_out`: the node that became an end
 * last is 0, and then come dependencies, each node's in their order, where they are not
 * numbered yet. `order` has room for all nodes; what leads to no end has no number. */
static void number(const soft_graph *graph, soft_node **order)
{
    uint32_t count = soft_graph_sinks(graph, order);
    for (uint32_t i = 0; i < count / 2; i++) {
        soft_node *swap = order[i];
        order[i] = order[count - 1 - i];
        order[count - 1 - i] = swap;
    }
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i]->mark_out = graph->node_count;
    for (uint32_t i = 0; i < count; i++)
        order[i]->mark_out = i;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t k = 0; k < order[i]->dependencies.count; k++) {
            soft_node *before = order[i]->dependencies.ends[k].node;
            if (before->mark_out < graph->node_count)
                continue;
            before->mark_out = count;
            order[count++] = before;
        }
}

/* The place of an edge among those of the node that it leads to. */
static uint32_t place_of(const soft_node *from, const soft_node *to)
{
    uint32_t at = 0;
    while (at < to->dependencies.count && to->dependencies.ends[at].node != from)
        at++;
    return at;
}

static void write_edges(FILE *file, const soft_graph *graph, const soft_node *node,
                        bool places)
{
    for (uint32_t k = 0; k < node->dependents.count; k++) {
        const soft_node *to = node->dependents.ends[k].node;
        fprintf(file, "\"graph_%llu_node_%u\" -> \"graph_%llu_node_%u\"",
                (unsigned long long)graph->number, node->place,
                (unsigned long long)graph->number, to->place);
        if (places)
            fprintf(file, " [headlabel=%u]", place_of(node, to));
        fprintf(file, ";\n");
    }
}

/* A graph without its child graphs. False: no memory. */
static bool write_graph(FILE *file, const soft_graph *graph, uint32_t flags)
{
    const bool places = flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE |
                                 CU_GRAPH_DEBUG_DOT_FLAGS_EXTRA_TOPO_INFO);
    soft_node **order = soft_new((graph->node_count + 1) * sizeof(*order));
    if (!order)
        return false;
    number(graph, order);
    soft_delete(order);
    fprintf(file,
            "subgraph cluster_%llu {\nlabel=\"graph_%llu\" graph[style=\"dashed\"];\n",
            (unsigned long long)graph->number, (unsigned long long)graph->number);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_dot_node dot = {graph->nodes[i], flags, graph->nodes[i]->mark_out};
        fprintf(file, "\"graph_%llu_node_%u\"", (unsigned long long)graph->number, i);
        soft_dot_write_node(file, &dot);
    }
    for (uint32_t i = 0; i < graph->node_count; i++)
        write_edges(file, graph, graph->nodes[i], places);
    fprintf(file, "}\n");
    return true;
}

/* The graphs `depth` levels down, in the order of their nodes; *any: there are some. */
static bool write_level(FILE *file, const soft_graph *graph, uint32_t flags,
                        uint32_t depth, bool *any)
{
    bool done = true;
    if (depth == 0) {
        *any = true;
        return write_graph(file, graph, flags);
    }
    for (uint32_t i = 0; i < graph->node_count && done; i++)
        for (uint32_t k = 0; done && soft_node_inner(graph->nodes[i], k); k++)
            done = write_level(file, soft_node_inner(graph->nodes[i], k), flags,
                               depth - 1, any);
    return done;
}

static bool write_text(const char *to, const soft_graph *graph, uint32_t flags)
{
    FILE *file = fopen(to, "w");
    if (!file)
        return false;
    fprintf(file, "digraph dot {\n");
    bool whole = true, any = true;
    for (uint32_t depth = 0; whole && any; depth++) {
        any = false;
        whole = write_level(file, graph, flags, depth, &any);
    }
    fprintf(file, "}\n");
    const bool written = !ferror(file);
    if (!whole)
        errno = ENOMEM;
    return fclose(file) == 0 && written && whole;
}

CUresult soft_graph_write_dot(const soft_graph *graph, const char *path, uint32_t flags)
{
    struct stat there;
    if (!soft_rule(M_dot))
        flags = 0;
    const bool through = lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
    const size_t length = strlen(path) + sizeof(".part");
    char *part = soft_new(length);
    SOFT_TRY(soft_made(part, "no memory to write a graph"));
    snprintf(part, length, through ? "%s" : "%s.part", path);
    const bool written =
        write_text(part, graph, flags) && (through || rename(part, path) == 0);
    const int cause = errno;
    if (!through && !written)
        (void)remove(part);
    soft_delete(part);
    if (!written && cause == ENOMEM)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to write a graph");
    if (!written)
        return soft_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write %s: %s", path,
                         strerror(cause));
    return CUDA_SUCCESS;
}

// SPDX-License-Identifier: Apache-2.0
/* cuGraphDebugDotPrint(): a graph as Graphviz text. Written beside the file and renamed,
 * so that an interrupted write leaves nothing half done; but never over what is no plain
 * file: a device, a pipe or a link is written through. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "softcuda/device/heap.h"
#include "softcuda/graph/graph.h"

static const char *type_name(CUgraphNodeType type)
{
    switch (type) {
    case CU_GRAPH_NODE_TYPE_KERNEL: return "KERNEL";
    case CU_GRAPH_NODE_TYPE_MEMCPY: return "MEMCPY";
    case CU_GRAPH_NODE_TYPE_MEMSET: return "MEMSET";
    case CU_GRAPH_NODE_TYPE_HOST: return "HOST";
    case CU_GRAPH_NODE_TYPE_GRAPH: return "CHILD GRAPH";
    case CU_GRAPH_NODE_TYPE_EMPTY: return "EMPTY";
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT: return "WAIT EVENT";
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD: return "EVENT RECORD";
    default: return "NODE";
    }
}

static void write_params(FILE *file, const soft_node *node, uint32_t flags)
{
    const bool all = flags & CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE;
    const soft_launch *launch = &node->task.u.launch;
    switch (node->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
        fprintf(file, "\\n%s", launch->function->code->kernel->name);
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS))
            fprintf(file, "\\n<<<(%u,%u,%u), (%u,%u,%u), %u>>>", launch->grid[0],
                    launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
                    launch->block[2], launch->shared_bytes);
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_ATTRIBUTES))
            fprintf(file, "\\npriority %d, cooperative %d", launch->priority,
                    launch->cooperative);
        break;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS))
            fprintf(file, "\\n0x%llx -> 0x%llx\\n%zu x %zu x %zu bytes",
                    (unsigned long long)node->task.u.copy.src,
                    (unsigned long long)node->task.u.copy.dst, node->task.u.copy.width,
                    node->task.u.copy.height, node->task.u.copy.depth);
        break;
    case CU_GRAPH_NODE_TYPE_MEMSET:
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS))
            fprintf(file, "\\n0x%llx = 0x%x\\n%zu x %zu elements of %u bytes",
                    (unsigned long long)node->fill.dst, node->fill.value,
                    node->fill.width, node->fill.height, node->fill.elementSize);
        break;
    case CU_GRAPH_NODE_TYPE_HOST:
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS))
            fprintf(file, "\\nuserData %p", node->task.u.host.user);
        break;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
        if (all || (flags & CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS))
            fprintf(file, "\\nevent %p", (void *)node->event);
        break;
    default: break;
    }
}

static void write_graph(FILE *file, const soft_graph *graph, uint32_t flags)
{
    fprintf(file, "subgraph cluster_%llu {\nlabel=\"graph_%llu\"\n",
            (unsigned long long)graph->id, (unsigned long long)graph->id);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        fprintf(file, "\"node_%llu\" [shape=%s label=\"%u: %s",
                (unsigned long long)node->id,
                node->type == CU_GRAPH_NODE_TYPE_KERNEL ? "octagon" : "rectangle", i,
                type_name(node->type));
        write_params(file, node, flags);
        if (flags & (CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE | CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
            fprintf(file, "\\nhandle %p", (const void *)node);
        fprintf(file, "\"]\n");
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const soft_node *node = graph->nodes[i];
        for (uint32_t k = 0; k < node->dependents.count; k++) {
            const soft_edge_end *end = &node->dependents.ends[k];
            fprintf(file, "\"node_%llu\" -> \"node_%llu\"", (unsigned long long)node->id,
                    (unsigned long long)end->node->id);
            if (end->data.type || end->data.from_port)
                fprintf(file, " [label=\"port %u, type %u\" style=dashed]",
                        end->data.from_port, end->data.type);
            fprintf(file, "\n");
        }
        if (node->child) {
            write_graph(file, node->child, flags);
            if (node->child->node_count > 0)
                fprintf(file, "\"node_%llu\" -> \"node_%llu\" [style=dotted]\n",
                        (unsigned long long)node->id,
                        (unsigned long long)node->child->nodes[0]->id);
        }
    }
    fprintf(file, "}\n");
}

static bool write_text(const char *to, const soft_graph *graph, uint32_t flags)
{
    FILE *file = fopen(to, "w");
    if (file == NULL)
        return false;
    fprintf(file, "digraph dot {\n");
    write_graph(file, graph, flags);
    fprintf(file, "}\n");
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

CUresult soft_graph_write_dot(const soft_graph *graph, const char *path, uint32_t flags)
{
    struct stat there;
    const bool through = lstat(path, &there) == 0 && !S_ISREG(there.st_mode);
    const size_t length = strlen(path) + sizeof(".part");
    char *part = soft_new(length);
    if (part == NULL)
        return soft_fail(CUDA_ERROR_OUT_OF_MEMORY, "no memory to write a graph");
    snprintf(part, length, through ? "%s" : "%s.part", path);
    const bool written =
        write_text(part, graph, flags) && (through || rename(part, path) == 0);
    const int cause = errno;
    if (!through && !written)
        (void)remove(part);
    soft_delete(part);
    if (!written)
        return soft_fail(CUDA_ERROR_OPERATING_SYSTEM, "cannot write %s: %s", path,
                         strerror(cause));
    return CUDA_SUCCESS;
}

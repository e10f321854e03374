// SPDX-License-Identifier: Apache-2.0
/* A graph in Graphviz's language. A child graph becomes a cluster around its own node:
 * node 3's children are n3_0, n3_1, ... */
#include "base/fail.h"
#include "base/plain.h"
#include "base/text.h"
#include "graph/graph.h"
#include <gph/file.h>
#include <string.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "n", then an index and a "_" a level. */
enum { ID_BYTES = 2 + GPH_GRAPH_DEPTH_MAX * 11, BUFFER_BYTES = 4096 };

struct drawing {
    gphi_text out;
    uint32_t verbose;
};

/* A label: quotes and backslashes escaped, line breaks kept out. */
static void put_escaped(gphi_text *out, const char *text)
{
    for (size_t left = strlen(text), bytes; left > 0; text += bytes, left -= bytes) {
        const size_t control = gphi_control_bytes(text, left);
        bytes = control > 0 ? control : 1;
        if (*text == '"' || *text == '\\')
            gphi_text_put(out, "\\");
        gphi_text_put_bytes(out, control > 0 ? "?" : text, 1);
    }
}

/* What fits in a box: the numbers that distinguish nodes of one name. */
static void put_params(gphi_text *out, const gph_node *node)
{
    switch (node->kind) {
    case GPH_NODE_KERNEL: {
        const gph_kernel_params *kernel = &node->u.kernel;
        gphi_text_add(out, "\\ngrid %u %u %u, block %u %u %u, shared %u\\n%u arguments",
                      kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
                      kernel->block[1], kernel->block[2], kernel->shared_bytes,
                      kernel->arg_count);
        break;
    }
    case GPH_NODE_MEMCPY:
        gphi_text_add(out,
                      "\\n0x%" PRIx64 " to 0x%" PRIx64 "\\n%" PRIu64 " x %" PRIu64
                      " x %" PRIu64 " bytes",
                      node->u.memcpy.src.address, node->u.memcpy.dst.address,
                      node->u.memcpy.width_bytes, node->u.memcpy.height,
                      node->u.memcpy.depth);
        break;
    case GPH_NODE_MEMSET:
        gphi_text_add(out,
                      "\\n0x%" PRIx64 ", %" PRIu64 " x %" PRIu64 " of 0x%x (%u bytes)",
                      node->u.memset.address, node->u.memset.width, node->u.memset.height,
                      node->u.memset.value, node->u.memset.element_bytes);
        break;
    case GPH_NODE_HOST:
        gphi_text_add(out, "\\nfunction 0x%" PRIx64, node->u.host.function);
        break;
    case GPH_NODE_EVENT_RECORD:
    case GPH_NODE_EVENT_WAIT:
        gphi_text_add(out, "\\nevent 0x%" PRIx64, node->u.event.event);
        break;
    case GPH_NODE_MEM_ALLOC:
    case GPH_NODE_MEM_FREE:
        gphi_text_add(out, "\\n0x%" PRIx64 ", %" PRIu64 " bytes", node->u.memory.address,
                      node->u.memory.bytes);
        break;
    default: break;
    }
}

/* Kernels are boxes, moves of memory are slanted, the host is a hexagon. */
static const char *outline_of(gph_node_kind kind)
{
    switch (kind) {
    case GPH_NODE_KERNEL: return "box";
    case GPH_NODE_MEMCPY:
    case GPH_NODE_MEMSET: return "parallelogram";
    case GPH_NODE_HOST: return "hexagon";
    case GPH_NODE_EMPTY: return "circle";
    case GPH_NODE_CONDITIONAL: return "diamond";
    default: return "ellipse";
    }
}

static const char *word_of(const gph_node *node)
{
    static const char *const forms[] = {"conditional", "if", "while", "switch"};
    return node->kind == GPH_NODE_CONDITIONAL ? forms[node->u.conditional.form]
                                              : gph_node_kind_name(node->kind);
}

static void draw_node(struct drawing *to, const gph_node *node, const char *id,
                      uint32_t index)
{
    gphi_text *out = &to->out;
    gphi_text_add(out, "%s%" PRIu32 " [shape=%s,label=\"%" PRIu32 " ", id, index,
                  outline_of(node->kind), index);
    const char *function = node->kind == GPH_NODE_KERNEL ? node->u.kernel.function : NULL;
    const char *title = node->name ? node->name : function;
    put_escaped(out, title ? title : word_of(node));
    if (node->name && function) {
        gphi_text_put(out, "\\n");
        put_escaped(out, function);
    }
    if (to->verbose)
        put_params(out, node);
    gphi_text_put(out, "\"];\n");
}

static void draw_graph(struct drawing *to, const gph_graph *graph, const char *id);

/* Clusters need names that begin with "cluster", or Graphviz draws no frame. */
static void draw_child(struct drawing *to, const gph_graph *child, const char *id,
                       uint32_t index)
{
    char inner[ID_BYTES];
    snprintf(inner, sizeof(inner), "%s%" PRIu32 "_", id, index);
    gphi_text_add(&to->out, "subgraph \"cluster_%s\" {\nlabel=\"", inner);
    put_escaped(&to->out, gph_graph_name(child) ? gph_graph_name(child) : "child");
    gphi_text_put(&to->out, "\";\n");
    draw_graph(to, child, inner);
    gphi_text_put(&to->out, "}\n");
}

/* Programmatic edges are dashed: they let work begin before its dependency has ended. */
static void draw_graph(struct drawing *to, const gph_graph *graph, const char *id)
{
    for (uint32_t i = 0; i < gph_graph_node_count(graph); i++) {
        const gph_node *node = gph_graph_node(graph, i);
        draw_node(to, node, id, i);
        if (gphi_node_graph(node))
            draw_child(to, node->u.child, id, i); /* GPH_GRAPH_DEPTH_MAX */
    }
    for (size_t i = 0; i < gph_graph_edge_count(graph); i++) {
        const gph_edge *edge = gph_graph_edge(graph, i);
        gphi_text_add(&to->out, "%s%" PRIu32 " -> %s%" PRIu32 "%s;\n", id, edge->from, id,
                      edge->to, edge->type != 0 ? " [style=dashed]" : "");
    }
}

gph_status gph_dot_write(const gph_graph *graph, const gph_file_options *options,
                         gph_write_fn *write, void *user, gph_error *error)
{
    gph_file_options opt;
    GPHI_TRY(gphi_options_read(&opt, sizeof(opt), "gph_file_options", options, error));
    GPHI_TRY(gphi_need(error, graph, write));

    struct drawing to = {.verbose = opt.verbose};
    char buffer[BUFFER_BYTES];
    gphi_text_stream(&to.out, buffer, sizeof(buffer), write, user);
    gphi_text_put(&to.out, "digraph \"");
    put_escaped(&to.out, gph_graph_name(graph) ? gph_graph_name(graph) : "graph");
    gphi_text_put(&to.out, "\" {\n");
    draw_graph(&to, graph, "n");
    gphi_text_put(&to.out, "}\n");
    return gphi_text_end(&to.out, error);
}

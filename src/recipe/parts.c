// SPDX-License-Identifier: Apache-2.0
/* Conditional nodes: read from recordings, since a driver says neither their form nor their
 * bodies, and made again. */
#include "recipe/parts.h"
#include "base/fail.h"
#include "base/heap.h"
#include "cuda/status.h"
#include "replay/flow.h"

#include <stdio.h>
#include <string.h>

/* ---- reading ---- */

static gph_status fail_memory(gph_error *error)
{
    return gphi_fail(error, GPH_E_NO_MEMORY, "conditional nodes of a recipe");
}

gph_status gphi_parts_read(const gphi_survey *survey, struct gphi_bundle_graph *out,
                           uint32_t index, CUgraphNode node, const gph_node *from,
                           gphi_vec *parts)
{
    const gph_graph *bodies = from->u.conditional.bodies;
    gphi_conditional of;
    if (!bodies || !gphi_conditional_find(node, &of))
        return gphi_refuse(survey, out, index, GPH_NODE_CONDITIONAL, -1,
                           "the driver does not say what its bodies are, and "
                           "gph_capture did not make it");
    const struct gphi_bundle_flow flow = {.form = of.form,
                                          .bodies = of.count,
                                          .flags = CU_GRAPH_COND_ASSIGN_DEFAULT,
                                          .handle = gphi_conditional_handle(&of),
                                          .set = {GPHI_BUNDLE_NONE, GPHI_BUNDLE_NONE}};
    const uint32_t number = (uint32_t)out->flows.count;
    if (gphi_vec_push(&out->flows, &flow) != GPH_OK)
        return fail_memory(survey->error);
    for (uint32_t i = 0; i < of.count; i++) {
        const gphi_part part = {of.graphs[i], gph_graph_node(bodies, i)->u.child};
        const gphi_part *last = gphi_vec_at(parts, parts->count - 1);
        const uint32_t before =
            out->bodies.count == 0
                ? gph_graph_node_count(((gphi_part *)parts->items)->described)
                : GPHI_BUNDLE_AT(&out->bodies, body, out->bodies.count - 1)->first +
                      gph_graph_node_count(last->described);
        const struct gphi_bundle_body body = {number, before,
                                              gph_graph_node_count(part.described)};
        if (gphi_vec_push(parts, &part) != GPH_OK ||
            gphi_vec_push(&out->bodies, &body) != GPH_OK ||
            (body.count > 0 && !gphi_vec_add(&out->nodes, body.count)))
            return fail_memory(survey->error);
    }
    return GPH_OK;
}

/* Those before a node are read before it, the one at the end of a loop after it: so all are
 * looked for at the end. */
void gphi_parts_find_set(struct gphi_bundle_graph *out, const gphi_vec *nodes)
{
    for (uint32_t i = 0; i < out->nodes.count; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&out->nodes, node, i);
        gphi_conditional of;
        if (node->kind != GPH_NODE_CONDITIONAL ||
            !gphi_conditional_find(*(CUgraphNode *)gphi_vec_at(nodes, i), &of))
            continue;
        struct gphi_bundle_flow *flow = GPHI_BUNDLE_AT(&out->flows, flow, node->item);
        uint32_t found = 0;
        for (uint32_t k = 0; k < nodes->count && found < 2; k++)
            if (gphi_conditional_is_set_by(&of, *(CUgraphNode *)gphi_vec_at(nodes, k)))
                flow->set[found++] = k;
    }
}

/* ---- describing ---- */

static gph_status describe_kernel(const gphi_bundle *bundle,
                                  const struct gphi_bundle_graph *graph,
                                  const struct gphi_bundle_node *from,
                                  gph_kernel_params *params)
{
    const struct gphi_bundle_kernel *kernel =
        GPHI_BUNDLE_AT(&bundle->kernels, kernel, from->item);
    params->function = gphi_bundle_text(bundle, kernel->name);
    memcpy(params->grid, from->grid, sizeof(params->grid));
    memcpy(params->block, from->block, sizeof(params->block));
    params->shared_bytes = from->shared_bytes;
    params->arg_count = kernel->arg_count;
    params->args =
        kernel->arg_count > 0 ? gphi_vec_at(&bundle->args, kernel->arg_first) : NULL;
    params->buffer_bytes = from->data_bytes;
    params->buffer =
        from->data_bytes > 0 ? gphi_vec_at(&graph->data, (size_t)from->data_first) : NULL;
    return GPH_OK;
}

/* A graph of child nodes, a body each, as gph_graph_describe() makes it. */
static gph_status describe_bodies(const gphi_bundle *bundle,
                                  const struct gphi_bundle_graph *graph, uint32_t flow,
                                  gph_graph **out, gph_error *error)
{
    gph_graph *bodies = NULL;
    GPHI_TRY(gph_graph_create(&bundle->heap, &bodies, error));
    gph_status status = gph_graph_name_set(bodies, "bodies", error);
    for (uint32_t i = 1; i <= graph->bodies.count && status == GPH_OK; i++) {
        gph_node node = {.kind = GPH_NODE_CHILD};
        char name[24];
        if (GPHI_BUNDLE_AT(&graph->bodies, body, i - 1)->flow != flow)
            continue;
        gphi_body_name(graph, i, name);
        status = gphi_parts_describe(bundle, graph, i, name, &node.u.child, error);
        if (status != GPH_OK)
            break;
        status = gph_graph_node_add(bodies, &node, NULL, error);
        if (status != GPH_OK)
            gph_graph_destroy(node.u.child);
    }
    if (status != GPH_OK)
        gph_graph_destroy(bodies);
    else
        *out = bodies;
    return status;
}

static gph_status describe_node(const gphi_bundle *bundle,
                                const struct gphi_bundle_graph *graph, uint32_t index,
                                gph_graph *out, gph_error *error)
{
    const struct gphi_bundle_node *from = GPHI_BUNDLE_AT(&graph->nodes, node, index);
    gph_node node = {.kind = (gph_node_kind)from->kind};
    gph_status status = GPH_OK;
    if (from->kind == GPH_NODE_KERNEL)
        status = describe_kernel(bundle, graph, from, &node.u.kernel);
    else if (from->kind == GPH_NODE_MEMCPY)
        node.u.memcpy =
            *(const gph_memcpy_params *)gphi_vec_at(&graph->copies, from->item);
    else if (from->kind == GPH_NODE_MEMSET)
        node.u.memset =
            *(const gph_memset_params *)gphi_vec_at(&graph->fills, from->item);
    else if (from->kind == GPH_NODE_CONDITIONAL) {
        node.u.conditional.form = GPHI_BUNDLE_AT(&graph->flows, flow, from->item)->form;
        status =
            describe_bodies(bundle, graph, from->item, &node.u.conditional.bodies, error);
    }
    GPHI_TRY(status);
    status = gph_graph_node_add(out, &node, NULL, error);
    if (status != GPH_OK && from->kind == GPH_NODE_CONDITIONAL)
        gph_graph_destroy(node.u.conditional.bodies);
    return status;
}

gph_status gphi_parts_describe(const gphi_bundle *bundle,
                               const struct gphi_bundle_graph *graph, uint32_t part,
                               const char *name, gph_graph **out, gph_error *error)
{
    const uint32_t first = gphi_bundle_part_first(graph, part);
    const uint32_t end = gphi_bundle_part_end(graph, part);
    gph_graph *made = NULL;
    GPHI_TRY(gph_graph_create(&bundle->heap, &made, error));
    gph_status status = gph_graph_name_set(made, name, error);
    for (uint32_t i = first; i < end && status == GPH_OK; i++)
        status = describe_node(bundle, graph, i, made, error);
    for (size_t i = 0; i < graph->edges.count && status == GPH_OK; i++) {
        gph_edge edge = *(const gph_edge *)gphi_vec_at(&graph->edges, i);
        if (edge.from < first || edge.from >= end)
            continue;
        edge.from -= first;
        edge.to -= first;
        status = gph_graph_edge_add(made, &edge, error);
    }
    if (status != GPH_OK)
        gph_graph_destroy(made);
    else
        *out = made;
    return status;
}

/* ---- building ---- */

gph_status gphi_flows_begin(gphi_flows_built *flows, gph_runtime *runtime,
                            const struct gphi_bundle_graph *graph, CUgraph root,
                            gph_error *error)
{
    const gph_allocator heap = runtime->heap;
    flows->graphs =
        gphi_heap_array(heap, graph->bodies.count + 1, sizeof(*flows->graphs));
    flows->handles =
        gphi_heap_array(heap, graph->flows.count + 1, sizeof(*flows->handles));
    if (!flows->graphs || !flows->handles)
        return fail_memory(error);
    flows->graphs[0] = root;
    if (graph->flows.count == 0)
        return GPH_OK;
    flows->known = gphi_recording_create(runtime);
    if (!flows->known)
        return fail_memory(error);
    /* Conditions are set by libgph's kernels, as a rule: their module stays with the graph. */
    return gphi_kernels_retain(runtime, &gphi_setter_text, &flows->known->setters, error);
}

void gphi_flows_end(gphi_flows_built *flows, gph_runtime *runtime,
                    const struct gphi_bundle_graph *graph)
{
    gphi_heap_free(runtime->heap, flows->graphs,
                   (graph->bodies.count + 1) * sizeof(*flows->graphs));
    gphi_heap_free(runtime->heap, flows->handles,
                   (graph->flows.count + 1) * sizeof(*flows->handles));
}

gph_status gphi_flows_enter(gphi_flows_built *flows, gph_runtime *runtime,
                            const struct gphi_bundle_graph *graph, uint32_t part,
                            unsigned char *data, gph_error *error)
{
    const uint32_t end = gphi_bundle_part_end(graph, part);
    for (uint32_t i = gphi_bundle_part_first(graph, part); i < end; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, i);
        if (node->kind != GPH_NODE_CONDITIONAL)
            continue;
        const struct gphi_bundle_flow *flow =
            GPHI_BUNDLE_AT(&graph->flows, flow, node->item);
        GPHI_TRY(
            gphi_cuda_check(error,
                            runtime->cu.cuGraphConditionalHandleCreate(
                                &flows->handles[node->item], flows->graphs[part],
                                flows->known->setters->context, flow->value, flow->flags),
                            "cuGraphConditionalHandleCreate", "building node %u", i));
        for (size_t k = 0; k < graph->handles.count; k++) {
            const struct gphi_bundle_handle *handle =
                GPHI_BUNDLE_AT(&graph->handles, handle, k);
            if (handle->flow == node->item)
                memcpy(data +
                           GPHI_BUNDLE_AT(&graph->nodes, node, handle->node)->data_first +
                           handle->offset,
                       &flows->handles[node->item], 8);
        }
    }
    return GPH_OK;
}

/* What describes the node, while its graph lives. Its bodies' regions are not in a file. */
static gph_status keep(gphi_flows_built *flows, gph_runtime *runtime,
                       const struct gphi_bundle_flow *from, CUgraphNode node,
                       CUgraphConditionalHandle handle, const CUgraph *graphs,
                       gph_error *error)
{
    gphi_flow flow = {.kind = (gph_flow_kind)(from->form - GPH_FORM_IF),
                      .way = GPH_FLOW_NODE};
    if (gphi_flow_init(&flow, runtime->heap, from->bodies) != GPH_OK)
        return fail_memory(error);
    for (uint32_t i = 0; i < from->bodies; i++) {
        flow.bodies[i].node = node;
        flow.bodies[i].graph = flow.graphs[i] = graphs[i];
    }
    flow.bodies[0].handle = handle;
    if (gphi_vec_push(&flows->known->flows, &flow) == GPH_OK)
        return GPH_OK;
    gphi_flow_fini(&flow, runtime->heap);
    return fail_memory(error);
}

gph_status gphi_flows_add(gphi_flows_built *flows, gph_runtime *runtime,
                          const struct gphi_bundle_graph *graph, uint32_t index,
                          const CUgraphNode *before, size_t count, CUgraphNode *out,
                          gph_error *error)
{
    const uint32_t item = GPHI_BUNDLE_AT(&graph->nodes, node, index)->item;
    const struct gphi_bundle_flow *flow = GPHI_BUNDLE_AT(&graph->flows, flow, item);
    const CUgraph into = flows->graphs[gphi_bundle_part(graph, index)];
    CUgraphNodeParams params = {.type = CU_GRAPH_NODE_TYPE_CONDITIONAL};
    params.conditional.handle = flows->handles[item];
    params.conditional.type = (CUgraphConditionalNodeType)(flow->form - GPH_FORM_IF);
    params.conditional.size = flow->bodies;
    params.conditional.ctx = flows->known->setters->context;
    GPHI_TRY(gphi_cuda_check(
        error, runtime->cu.cuGraphAddNode(out, into, before, NULL, count, &params),
        "cuGraphAddNode", "building node %u, conditional, of %u bodies", index,
        flow->bodies));
    uint32_t part = 1;
    while (GPHI_BUNDLE_AT(&graph->bodies, body, part - 1)->flow != item)
        part++;
    for (uint32_t i = 0; i < flow->bodies; i++)
        flows->graphs[part + i] = params.conditional.phGraph_out[i];
    return keep(flows, runtime, flow, *out, flows->handles[item], flows->graphs + part,
                error);
}

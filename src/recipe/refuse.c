// SPDX-License-Identifier: Apache-2.0
/* Why a graph cannot be kept, said of its nodes by the numbers that its owner knows: what is
 * wrong in a body is a conditional node's, with the way to it. */
#include "base/fail.h"
#include "recipe/recipe.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The conditional node of a flow: flows come in the order of their nodes. */
static uint32_t node_of(const struct gphi_bundle_graph *graph, uint32_t flow)
{
    for (uint32_t i = 0; i < graph->nodes.count; i++) {
        const struct gphi_bundle_node *node = GPHI_BUNDLE_AT(&graph->nodes, node, i);
        if (node->kind == GPH_NODE_CONDITIONAL && node->item == flow)
            return i;
    }
    return 0;
}

/* Which body of its node a part is. */
static uint32_t place_of(const struct gphi_bundle_graph *graph, uint32_t part)
{
    const uint32_t flow = GPHI_BUNDLE_AT(&graph->bodies, body, part - 1)->flow;
    uint32_t place = 0;
    while (part - 1 > place &&
           GPHI_BUNDLE_AT(&graph->bodies, body, part - 2 - place)->flow == flow)
        place++;
    return place;
}

void gphi_body_name(const struct gphi_bundle_graph *graph, uint32_t part, char out[24])
{
    const uint32_t flow = GPHI_BUNDLE_AT(&graph->bodies, body, part - 1)->flow;
    const uint32_t form = GPHI_BUNDLE_AT(&graph->flows, flow, flow)->form;
    const uint32_t place = place_of(graph, part);
    if (form == GPH_FORM_SWITCH)
        snprintf(out, 24, "case %u", (unsigned)place);
    else
        snprintf(out, 24, "%s",
                 form == GPH_FORM_WHILE ? "body"
                 : place == 0           ? "then"
                                        : "else");
}

/* "case 2 of node 3, then of node 1: node 7 " for a node of a body, 7 its number there;
 * nothing for a graph's own. The graph's own node around it, or itself, is returned. */
static int64_t say_place(const struct gphi_bundle_graph *graph, int64_t node, char *out,
                         size_t bytes)
{
    size_t at = 0;
    out[0] = '\0';
    if (node < 0 || graph->bodies.count == 0)
        return node;
    uint32_t part = gphi_bundle_part(graph, (uint32_t)node);
    const int64_t inside = node - gphi_bundle_part_first(graph, part);
    while (part > 0) {
        const uint32_t flow = GPHI_BUNDLE_AT(&graph->bodies, body, part - 1)->flow;
        char body[24];
        gphi_body_name(graph, part, body);
        node = node_of(graph, flow);
        part = gphi_bundle_part(graph, (uint32_t)node);
        const int wrote =
            snprintf(out + at, bytes - at, "%s%s of node %lld", at > 0 ? ", " : "", body,
                     (long long)node - gphi_bundle_part_first(graph, part));
        at += wrote > 0 && (size_t)wrote < bytes - at ? (size_t)wrote : 0;
    }
    if (at > 0)
        snprintf(out + at, bytes - at, ": node %lld: ", (long long)inside);
    return node;
}

/* The first reasons are kept, 64 a graph: a graph that cannot be kept is often wrong
 * in each of its nodes. */
gph_status gphi_refuse(const gphi_survey *survey, struct gphi_bundle_graph *graph,
                       int64_t node, uint32_t kind, int64_t offset, const char *format,
                       ...)
{
    if (graph->refusals.count >= GPHI_BUNDLE_REFUSALS_MAX)
        return GPH_OK;
    char why[sizeof(((gph_error *)NULL)->message)];
    va_list args;
    const int64_t around = say_place(graph, node, why, sizeof(why) / 2);
    const size_t said = strlen(why);
    if (around != node) { /* a reader counts the nodes of the graph itself */
        node = around;
        kind = GPH_NODE_CONDITIONAL;
    }
    va_start(args, format);
    vsnprintf(why + said, sizeof(why) - said, format, args);
    va_end(args);
    for (char *at = why; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = ' '; /* files keep no control characters */
    struct gphi_bundle_refusal refusal = {.node = node, .kind = kind, .offset = offset};
    GPHI_TRY(
        gphi_made(survey->error,
                  gphi_bundle_text_add(survey->bundle, why, &refusal.why) == GPH_OK &&
                      gphi_vec_push(&graph->refusals, &refusal) == GPH_OK,
                  "recording a refusal"));
    return GPH_OK;
}

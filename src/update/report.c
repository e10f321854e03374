// SPDX-License-Identifier: Apache-2.0
/* Reports of updates. */
#include "base/fail.h"
#include "replay/query.h"
#include "update/track.h"

#include <stdio.h>

void gph_update_report_fini(gph_update_report *report)
{
    if (!report)
        return;
    gph_diff_destroy(report->diff);
    *report = (gph_update_report)GPH_UPDATE_REPORT_INIT;
}

gph_status gphi_report_begin(gph_update_report *report, gph_error *error)
{
    if (report->size != sizeof(*report))
        return gphi_fail(error, GPH_E_INVALID,
                         "report.size is %u, not %zu: start from "
                         "GPH_UPDATE_REPORT_INIT",
                         report->size, sizeof(*report));
    gph_update_report_fini(report);
    return GPH_OK;
}

static gph_update_way way_of(const gphi_comparison *from)
{
    if (from->is_refused)
        return GPH_UPDATE_REINSTANTIATE;
    if (from->is_stale || from->needs_whole)
        return GPH_UPDATE_WHOLE;
    return from->changed.count == 0 ? GPH_UPDATE_NOTHING : GPH_UPDATE_NODES;
}

void gphi_report_fill(gph_update_report *report, const gphi_comparison *from)
{
    const gph_snapshot *b = from->b;
    report->way = way_of(from);
    report->node_count = b->count;
    report->changed_count = (uint32_t)from->changed.count;
    report->result = from->is_refused ? (uint32_t)from->result : 0;
    report->is_certain = from->is_certain;
    if (from->node_b != GPH_NODE_NONE) {
        report->node = gphi_place_top(b, from->node_b);
        report->handle = b->places[from->node_b].handle;
    }
    if (from->node_a != GPH_NODE_NONE)
        report->node_before = gphi_place_top(from->a, from->node_a);
    if (from->from_b != GPH_NODE_NONE) {
        report->node_from = gphi_place_top(b, from->from_b);
        report->handle_from = b->places[from->from_b].handle;
    }
    report->rule = from->rule;
    report->field = from->field;
    snprintf(report->before, sizeof(report->before), "%s", from->before);
    snprintf(report->after, sizeof(report->after), "%s", from->after);
    gphi_comparison_text(from, report->text, sizeof(report->text));
}

static const char *result_text(CUgraphExecUpdateResult result)
{
    switch (result) {
    case CU_GRAPH_EXEC_UPDATE_SUCCESS: return "fits";
    case CU_GRAPH_EXEC_UPDATE_ERROR: break;
    case CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED: return "another topology";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NODE_TYPE_CHANGED: return "another type of node";
    case CU_GRAPH_EXEC_UPDATE_ERROR_FUNCTION_CHANGED: return "another function";
    case CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED:
        return "parameters that may not change so";
    case CU_GRAPH_EXEC_UPDATE_ERROR_NOT_SUPPORTED: return "something unsupported";
    case CU_GRAPH_EXEC_UPDATE_ERROR_UNSUPPORTED_FUNCTION_CHANGE:
        return "a function of another context or kind";
    case CU_GRAPH_EXEC_UPDATE_ERROR_ATTRIBUTES_CHANGED: return "other attributes";
    }
    return "an error";
}

void gphi_report_driver(gph_update_report *report, const gph_runtime *runtime,
                        CUgraph graph, const CUgraphExecUpdateResultInfo *info)
{
    report->way = GPH_UPDATE_REINSTANTIATE;
    report->result = (uint32_t)info->result;
    report->is_certain = 1;
    report->handle = info->errorNode;
    report->handle_from = info->errorFromNode;
    report->node = gphi_node_index(runtime, graph, info->errorNode);
    report->node_from = gphi_node_index(runtime, graph, info->errorFromNode);
    char node[40] = "";
    if (report->node >= 0)
        snprintf(node, sizeof(node), "node %lld: ", (long long)report->node);
    else if (info->errorNode)
        snprintf(node, sizeof(node), "a node of a child graph: ");
    snprintf(report->text, sizeof(report->text), "%sthe driver found %s", node,
             result_text(info->result));
}

// SPDX-License-Identifier: Apache-2.0
/* What the device decided and launched, as JSON: for programs that read the doctor's. */
#include "base/fail.h"
#include "base/json.h"
#include "doctor/language/language.h"
#include "report/report.h"

#include <inttypes.h>

static void put_name(const gph_report *r, gphi_text *out, uint32_t graph)
{
    char name[128];
    gphi_report_graph_name(r, graph, name, sizeof(name));
    gphi_text_put(out, "{\"graph\":");
    gphi_json_text(out, name);
}

/* Bodies up to the last that was taken: SWITCH nodes have any number. */
static void put_decider(gphi_text *out, size_t node, const report_decider *decider)
{
    static const char *const kinds[] = {"if", "while", "switch"};
    uint32_t bodies = REPORT_BODIES;
    while (bodies > 0 && decider->of[bodies - 1] == 0)
        bodies--;
    gphi_json_number(out, "node", node);
    gphi_json_member(out, "kind", kinds[decider->kind % 3]);
    gphi_json_number(out, "times", decider->times);
    gphi_json_number(out, "rounds", decider->rounds);
    gphi_text_put(out, ",\"bodies\":[");
    for (uint32_t b = 0; b < bodies; b++)
        gphi_text_add(out, "%s%" PRIu64, b > 0 ? "," : "", decider->of[b]);
    gphi_text_put(out, "]");
    gphi_json_number(out, "other", decider->of[REPORT_BODIES]);
    gphi_text_put(out, "}");
}

static void put_nodes(const gph_report *r, gphi_text *out)
{
    size_t many = 0;
    for (uint32_t g = 0; g < r->graphs.count && r->deciders.count > 0; g++) {
        const report_graph *graph = gphi_vec_at(&r->graphs, g);
        for (size_t i = 0; i < graph->nodes.count; i++) {
            const report_node *node = gphi_vec_at(&graph->nodes, i);
            const report_decider *decider = gphi_report_decider(r, g, node->handle);
            if (!decider)
                continue;
            gphi_text_put(out, many++ > 0 ? ",\n " : "\n ");
            put_name(r, out, g);
            put_decider(out, i, decider);
        }
    }
}

static void put_launches(const gph_report *r, gphi_text *out)
{
    size_t many = 0;
    GPHI_EACH (const report_exec, exec, &r->execs) {
        if (exec->graph == 0 || exec->device_runs + exec->refused == 0)
            continue;
        gphi_text_put(out, many++ > 0 ? ",\n " : "\n ");
        put_name(r, out, exec->graph - 1);
        gphi_json_number(out, "launches", exec->device_runs);
        gphi_json_number(out, "refused", exec->refused);
        gphi_text_put(out, "}");
    }
}

gph_status gph_report_device_write(gph_report *report, gph_write_fn *write, void *user,
                                   gph_error *error)
{
    GPHI_TRY(gphi_need(error, report, write));
    char buffer[4096];
    gphi_text out;
    gphi_report_settle(report);
    gphi_language_use(gphi_doctor_language(report->doctor));
    gphi_text_stream(&out, buffer, sizeof(buffer), write, user);
    gphi_text_put(&out, "{\"nodes\":[");
    put_nodes(report, &out);
    gphi_text_put(&out, "],\"launches\":[");
    put_launches(report, &out);
    gphi_text_put(&out, "]}");
    return gphi_text_end(&out, error);
}

// SPDX-License-Identifier: Apache-2.0
/* The advice as JSON. */
#include "advice/advice.h"
#include "base/fail.h"
#include "base/json.h"

/* Texts are never null here: readers had "" from the first version on. */
static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static void place(gphi_text *out, gph_place at)
{
    gphi_text_put(out, "{\"function\":");
    gphi_json_text(out, or_empty(at.function));
    gphi_json_member(out, "file", or_empty(at.file));
    gphi_text_add(out, ",\"line\":%d}", (int)at.line);
}

/* What was not measured is null, and never 0 or -1, which could be taken for a time. */
static void number(gphi_text *out, const char *name, double value)
{
    if (value < 0)
        gphi_text_add(out, ",\"%s\":null", name);
    else
        gphi_text_add(out, ",\"%s\":%.3f", name, value);
}

static void questions(gphi_text *out, const char *name, const gphi_question *list,
                      uint32_t count)
{
    gphi_text_add(out, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        gphi_text_add(out, "%s{\"question\":", i == 0 ? "" : ",");
        gphi_json_text(out, list[i].text);
        gphi_json_member(out, "answer", gphi_answer_text(list[i].answer));
        gphi_json_member(out, "because", list[i].because);
        if (list[i].rule)
            gphi_json_member(out, "rule", gphi_language_of(list[i].rule));
        gphi_text_put(out, "}");
    }
    gphi_text_put(out, "]");
}

static void site_place(const gph_advice *advice, gphi_text *out, const gphi_site *site)
{
    gphi_text_put(out, ",\"at\":");
    place(out, gphi_advice_place(advice, site->stack));
    gphi_text_put(out, "}");
}

/* What a capture would make of each call, and arguments that a graph would freeze. */
static void calls(const gph_advice *advice, gphi_text *out, const gphi_repeat *repeat)
{
    gphi_text_put(out, ",\"calls\":[");
    for (size_t i = 0; i < repeat->obstacles.count; i++) {
        const gphi_obstacle *o = gphi_vec_at(&repeat->obstacles, i);
        const gphi_site *site = gphi_advice_site(advice, o->site);
        gphi_text_add(out, "%s{\"kind\":\"%s\"", i == 0 ? "" : ",",
                      gphi_obstacle_name(o->kind));
        gphi_json_member(out, "call", gphi_call_name(site->call));
        gphi_json_member(out, "kernel", or_empty(site->name));
        gphi_json_number(out, "count", o->count);
        gphi_json_member(out, "text", o->text ? gphi_language_of(o->text) : "");
        site_place(advice, out, site);
    }
    gphi_text_put(out, "],\"changes\":[");
    for (size_t i = 0; i < repeat->changes.count; i++) {
        const gphi_change *change = gphi_vec_at(&repeat->changes, i);
        const gphi_site *site = gphi_repeat_site(advice, repeat, change->beat);
        gphi_text_add(out, "%s{\"call\":\"%s\"", i == 0 ? "" : ",",
                      gphi_call_name(site->call));
        gphi_json_member(out, "kernel", or_empty(site->name));
        gphi_text_add(out,
                      ",\"argument\":%u,\"is_address\":%s,\"before\":\"0x%llx\","
                      "\"after\":\"0x%llx\"",
                      change->argument, change->is_address ? "true" : "false",
                      (unsigned long long)change->before,
                      (unsigned long long)change->after);
        site_place(advice, out, site);
    }
    gphi_text_put(out, "]");
}

static void fusions(const gph_advice *advice, gphi_text *out, const gphi_repeat *repeat)
{
    gphi_text_put(out, ",\"fusions\":[");
    for (size_t i = 0; i < repeat->fusions.count; i++) {
        const gphi_fusion *run = gphi_vec_at(&repeat->fusions, i);
        gphi_text_add(out, "%s{\"count\":%u,\"kernels\":[", i == 0 ? "" : ",",
                      run->count);
        for (uint32_t k = 0; k < run->count; k++) {
            const gphi_site *site = gphi_repeat_site(advice, repeat, run->from + k);
            gphi_text_put(out, k == 0 ? "" : ",");
            gphi_json_text(out, or_empty(site->name));
        }
        gphi_text_put(out, "]");
        number(out, "saves_us", run->saves_ns / 1e3);
        gphi_json_number(out, "bytes", run->bytes);
        site_place(advice, out, gphi_repeat_site(advice, repeat, run->from));
    }
    gphi_text_put(out, "]");
}

/* Both parts share the head; a part that was not asked for leaves no empty members. */
static void sequence(const gph_advice *advice, gphi_text *out, const gphi_repeat *repeat,
                     gph_advice_part part)
{
    const gph_prediction *prediction = &repeat->prediction;
    gphi_text_add(out, "{\"repetitions\":%llu,\"launches\":%u,\"kernels\":%u,\"at\":",
                  (unsigned long long)prediction->repetitions, prediction->launches,
                  prediction->kernels);
    place(out, prediction->place);
    if (part & GPH_ADVICE_PAYOFF) {
        gphi_json_member(out, "verdict", gphi_verdict_text(prediction->verdict));
        gphi_json_member(out, "why", or_empty(prediction->why));
        gphi_text_add(out, ",\"graphs\":%u,\"windows\":%u,\"graph_launches\":%u",
                      prediction->graphs, prediction->windows, repeat->graph_launches);
        number(out, "eager_us", prediction->eager_us);
        number(out, "busy_us", prediction->busy_us);
        number(out, "graph_us", prediction->graph_us);
        number(out, "once_us", prediction->once_us);
        number(out, "break_even", prediction->break_even);
        if (prediction->graph_us >= 0)
            gphi_text_add(out, ",\"saves_low\":%.4f,\"saves_high\":%.4f",
                          prediction->saves_low, prediction->saves_high);
        gphi_text_add(out,
                      ",\"updates\":%u,\"update_us\":%.3f,\"interrupted\":%u,"
                      "\"variants\":%u,\"shapes\":%u,\"outer_calls\":%llu,"
                      "\"outer_count\":%llu",
                      prediction->updates, prediction->update_us, repeat->interrupted,
                      repeat->variants, repeat->shapes,
                      (unsigned long long)repeat->loop.outer_calls,
                      (unsigned long long)repeat->loop.outer_count);
        fusions(advice, out, repeat);
        questions(out, "flow", repeat->flow, GPHI_FLOW);
        questions(out, "checklist", repeat->checks, GPHI_CHECKS);
    }
    if (part & GPH_ADVICE_CAPTURABLE)
        calls(advice, out, repeat);
    gphi_text_add(out, "}");
}

/* Anchors are kept in ps, since a node takes less than a ns of the host; shown in us. */
static void anchors(const gph_advice *advice, gphi_text *out)
{
    static const char *const names[GPHI_ANCHOR_COUNT] = {
        "launch",       "stream_node",       "graph_node",
        "graph_launch", "graph_launch_node", "graph_start",
        "wait",         "graph_wait",        "capture",
        "capture_node", "instantiate",       "instantiate_node",
        "upload",       "upload_node",       "stream_copy",
        "graph_copy",   "stream_fork",       "graph_fork",
        "events",       "fresh_start",       "fresh_node",
        "set"};
    gphi_text_add(out, ",\"machine_us\":{");
    for (uint32_t i = 0; i < GPHI_ANCHOR_COUNT; i++)
        gphi_text_add(out, "%s\"%s\":%.4f", i == 0 ? "" : ",", names[i],
                      (double)advice->anchors[i] / 1e6);
    gphi_text_add(out, "}");
}

gph_status gph_advice_json_write(const gph_advice *advice, gph_advice_part part,
                                 gph_write_fn *write, void *user, gph_error *error)
{
    char buffer[1024];
    gphi_text out;
    GPHI_TRY(gphi_advice_check(advice, error));
    gphi_language_use(advice->language);
    gphi_text_stream(&out, buffer, sizeof(buffer), write, user);
    gphi_text_put(&out, "{\"version\":1,\"sequences\":[");
    for (size_t i = 0; i < advice->repeats.count; i++) {
        gphi_text_put(&out, i == 0 ? "" : ",");
        sequence(advice, &out, gphi_advice_repeat(advice, i), part);
    }
    gphi_text_put(&out, "]");
    if (advice->has_anchors && part & GPH_ADVICE_PAYOFF)
        anchors(advice, &out);
    gphi_text_put(&out, "}");
    return gphi_text_end(&out, error);
}

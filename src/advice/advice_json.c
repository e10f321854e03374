// SPDX-License-Identifier: Apache-2.0
/* The advice as JSON. */
#include "advice/advice.h"

static void place(gphi_page *page, gph_place at)
{
    gphi_page_add(page, "{\"function\":");
    gphi_page_json_text(page, at.function);
    gphi_page_add(page, ",\"file\":");
    gphi_page_json_text(page, at.file);
    gphi_page_add(page, ",\"line\":%d}", (int)at.line);
}

static void number(gphi_page *page, const char *name, double value)
{
    if (value < 0)
        gphi_page_add(page, ",\"%s\":null", name);
    else
        gphi_page_add(page, ",\"%s\":%.3f", name, value);
}

static void questions(gphi_page *page, const char *name, const gphi_question *list,
                      uint32_t count)
{
    gphi_page_add(page, ",\"%s\":[", name);
    for (uint32_t i = 0; i < count; i++) {
        gphi_page_add(page, "%s{\"question\":", i == 0 ? "" : ",");
        gphi_page_json_text(page, list[i].text);
        gphi_page_add(
            page, ",\"answer\":\"%s\",\"because\":", gphi_answer_text(list[i].answer));
        gphi_page_json_text(page, list[i].because);
        if (list[i].rule != NULL) {
            gphi_page_add(page, ",\"rule\":");
            gphi_page_json_text(page, list[i].rule);
        }
        gphi_page_add(page, "}");
    }
    gphi_page_add(page, "]");
}

static void calls(const gph_advice *advice, gphi_page *page, const gphi_repeat *repeat)
{
    gphi_page_add(page, ",\"calls\":[");
    for (size_t i = 0; i < repeat->obstacles.count; i++) {
        const gphi_obstacle *o = gphi_vec_at(&repeat->obstacles, i);
        const gphi_site *site = gphi_advice_site(advice, o->site);
        gphi_page_add(page,
                      "%s{\"kind\":\"%s\",\"call\":\"%s\",\"kernel\":", i == 0 ? "" : ",",
                      gphi_obstacle_name(o->kind), gphi_call_name(site->call));
        gphi_page_json_text(page, site->name);
        gphi_page_add(page, ",\"count\":%llu,\"text\":", (unsigned long long)o->count);
        gphi_page_json_text(page, o->text);
        gphi_page_add(page, ",\"at\":");
        place(page, gphi_advice_place(advice, site->stack));
        gphi_page_add(page, "}");
    }
    gphi_page_add(page, "],\"changes\":[");
    for (size_t i = 0; i < repeat->changes.count; i++) {
        const gphi_change *change = gphi_vec_at(&repeat->changes, i);
        const gphi_beat *beat = gphi_repeat_beat(advice, repeat, 0, change->beat);
        const gphi_site *site = gphi_advice_site(advice, beat->site);
        gphi_page_add(page, "%s{\"call\":\"%s\",\"kernel\":", i == 0 ? "" : ",",
                      gphi_call_name(site->call));
        gphi_page_json_text(page, site->name);
        gphi_page_add(page,
                      ",\"argument\":%u,\"is_address\":%s,\"before\":\"0x%llx\","
                      "\"after\":\"0x%llx\",\"at\":",
                      change->argument, change->is_address ? "true" : "false",
                      (unsigned long long)change->before,
                      (unsigned long long)change->after);
        place(page, gphi_advice_place(advice, site->stack));
        gphi_page_add(page, "}");
    }
    gphi_page_add(page, "]");
}

static void sequence(const gph_advice *advice, gphi_page *page, const gphi_repeat *repeat,
                     gph_advice_part part)
{
    const gph_prediction *told = &repeat->told;
    gphi_page_add(page, "{\"repetitions\":%llu,\"launches\":%u,\"kernels\":%u,\"at\":",
                  (unsigned long long)told->repetitions, told->launches, told->kernels);
    place(page, told->place);
    if (part & GPH_ADVICE_PAYOFF) {
        gphi_page_add(page,
                      ",\"verdict\":\"%s\",\"why\":", gphi_verdict_text(told->verdict));
        gphi_page_json_text(page, told->why);
        gphi_page_add(page, ",\"graphs\":%u,\"windows\":%u,\"graph_launches\":%u",
                      told->graphs, told->windows, repeat->graph_launches);
        number(page, "eager_us", told->eager_us);
        number(page, "busy_us", told->busy_us);
        number(page, "graph_us", told->graph_us);
        number(page, "once_us", told->once_us);
        number(page, "break_even", told->break_even);
        questions(page, "flow", repeat->flow, GPHI_FLOW);
        questions(page, "checklist", repeat->checks, GPHI_CHECKS);
    }
    if (part & GPH_ADVICE_CAPTURABLE)
        calls(advice, page, repeat);
    gphi_page_add(page, "}");
}

static void anchors(const gph_advice *advice, gphi_page *page)
{
    static const char *const names[GPHI_ANCHOR_COUNT] = {
        "launch",       "stream_node",       "graph_node",
        "graph_launch", "graph_launch_node", "graph_start",
        "wait",         "graph_wait",        "capture",
        "capture_node", "instantiate",       "instantiate_node",
        "upload",       "upload_node",       "stream_copy",
        "graph_copy",   "stream_fork",       "graph_fork"};
    gphi_page_add(page, ",\"machine_us\":{");
    for (uint32_t i = 0; i < GPHI_ANCHOR_COUNT; i++)
        gphi_page_add(page, "%s\"%s\":%.4f", i == 0 ? "" : ",", names[i],
                      (double)advice->anchors[i] / 1e6);
    gphi_page_add(page, "}");
}

char *gph_advice_json(const gph_advice *advice, gph_advice_part part)
{
    gphi_page page = {0};
    if (advice == NULL || !advice->is_done)
        return NULL;
    gphi_page_add(&page, "{\"version\":1,\"sequences\":[");
    for (size_t i = 0; i < advice->repeats.count; i++) {
        gphi_page_add(&page, "%s", i == 0 ? "" : ",");
        sequence(advice, &page, *(gphi_repeat **)gphi_vec_at(&advice->repeats, i), part);
    }
    gphi_page_add(&page, "]");
    if (advice->has_anchors && part & GPH_ADVICE_PAYOFF)
        anchors(advice, &page);
    gphi_page_add(&page, "}");
    return gphi_page_take(&page);
}

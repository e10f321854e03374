// SPDX-License-Identifier: Apache-2.0
/* The report in short, for a terminal. */
#include "base/fail.h"
#include "base/heap.h"
#include "base/json.h"
#include "base/plain.h"
#include "doctor/language/language.h"
#include "report/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Three digits that mean something: "1.24 ms", "384 us". */
static const char *say_time(char out[24], uint64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)ns;
    size_t unit = 0;
    while (value >= 1000 && unit < 3) {
        value /= 1000;
        unit++;
    }
    snprintf(out, 24, value >= 100 || unit == 0 ? "%.0f %s" : "%.2f %s", value,
             units[unit]);
    return out;
}

static const char *say_bytes(char out[24], uint64_t bytes)
{
    gphi_report_say_bytes(out, 24, bytes);
    return out;
}

/* Kinds in the order in which one asks for them: work first, then what it needed. */
static void put_kinds(const gph_report *r, gphi_text *out)
{
    static const char *const words[] = {[REPORT_KERNEL] = "kernel launches",
                                        [REPORT_GRAPH] = "graph launches",
                                        [REPORT_COPY] = "copies, fills",
                                        [REPORT_BUILD] = "capture, instantiate, update",
                                        [REPORT_MEMORY] = "memory",
                                        [REPORT_EVENT] = "events",
                                        [REPORT_WAIT] = "waits",
                                        [REPORT_OTHER] = "other"};
    static const report_kind order[] = {REPORT_KERNEL, REPORT_GRAPH,  REPORT_COPY,
                                        REPORT_BUILD,  REPORT_MEMORY, REPORT_EVENT,
                                        REPORT_WAIT,   REPORT_OTHER};
    char total[24], mean[24], longest[24];
    gphi_text_say(out, "  %-30s %10s %11s %10s %10s %8s\n", "driver calls", "calls",
                  "host time", "mean", "longest", "failed");
    for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
        report_count sum = {0};
        for (uint32_t call = 0; call < GPHI_CALL_COUNT; call++) {
            if (r->counts[call].count == 0 || gphi_report_kind(call) != order[k])
                continue;
            sum.count += r->counts[call].count;
            sum.ns += r->counts[call].ns;
            sum.failed += r->counts[call].failed;
            if (r->counts[call].longest_ns > sum.longest_ns)
                sum.longest_ns = r->counts[call].longest_ns;
        }
        if (sum.count > 0)
            gphi_text_say(out, "  %-30s %10" PRIu64 " %11s %10s %10s %8" PRIu64 "\n",
                          words[order[k]], sum.count, say_time(total, sum.ns),
                          say_time(mean, sum.ns / sum.count),
                          say_time(longest, sum.longest_ns), sum.failed);
    }
}

/* The hottest first; of equals the one that came first, so that output is the same each
 * run. */
static int by_launches(const void *a, const void *b)
{
    const report_exec *x = *(const report_exec *const *)a,
                      *y = *(const report_exec *const *)b;
    if (x->launches != y->launches)
        return x->launches > y->launches ? -1 : 1;
    return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

enum { EXECS_SHOWN = 8 };

/* Host time of a launch, in the mean: what a graph is for is to make it small. */
static gph_status put_execs(const gph_report *r, gphi_text *out, gph_error *error)
{
    const size_t count = r->execs.count;
    if (count == 0)
        return GPH_OK;
    const report_exec **list = gphi_heap_array(r->heap, count, sizeof(*list));
    GPHI_TRY(gphi_made(error, list, "a table of %zu executables", count));
    for (size_t i = 0; i < count; i++)
        list[i] = gphi_vec_at(&r->execs, i);
    qsort(list, count, sizeof(*list), by_launches);
    gphi_text_say(out, "\n  %-30s %10s %11s %10s %10s\n", "graphs", "launches",
                  "host time", "nodes", "updates");
    for (size_t i = 0; i < count && i < EXECS_SHOWN; i++) {
        char name[128] = "?", mean[24];
        uint32_t nodes = 0;
        if (list[i]->graph != 0) {
            gphi_report_graph_name(r, list[i]->graph - 1, name, sizeof(name));
            nodes = ((const report_graph *)gphi_vec_at(&r->graphs, list[i]->graph - 1))
                        ->node_count;
        }
        const uint64_t launches = list[i]->launches;
        gphi_text_say(out, "  %-30.30s %10" PRIu64 " %11s %10" PRIu32 " %10" PRIu64 "\n",
                      name, launches,
                      launches == 0 ? "-" : say_time(mean, list[i]->launch_ns / launches),
                      nodes, list[i]->updates);
    }
    if (count > EXECS_SHOWN)
        gphi_text_say(out, "  and %zu more\n", count - EXECS_SHOWN);
    gphi_heap_free(r->heap, list, count * sizeof(*list));
    return GPH_OK;
}

/* Rounds and branches of the conditional nodes together, by their kind, then launches by
 * kernels. */
static void put_device(const gph_report *r, gphi_text *out)
{
    static const char *const words[] = {"IF nodes", "WHILE nodes", "SWITCH nodes"};
    uint64_t runs = 0, refused = 0;
    if (r->deciders.count > 0)
        gphi_text_say(out, "\n  %-30s %10s %11s %10s %10s %8s\n", "decided on the device",
                      "nodes", "times", "rounds", "body 0", "none");
    for (uint32_t kind = 0; kind <= REPORT_SPAN_SWITCH; kind++) {
        uint64_t nodes = 0, times = 0, rounds = 0, first = 0, none = 0;
        GPHI_EACH (const report_decider, decider, &r->deciders) {
            if (decider->kind != kind)
                continue;
            nodes++;
            times += decider->times;
            rounds += decider->rounds;
            first += decider->of[0];
            none += decider->of[REPORT_BODIES];
        }
        if (nodes > 0)
            gphi_text_say(out,
                          "  %-30s %10" PRIu64 " %11" PRIu64 " %10" PRIu64 " %10" PRIu64
                          " %8" PRIu64 "\n",
                          words[kind], nodes, times, rounds, first, none);
    }
    GPHI_EACH (const report_exec, exec, &r->execs) {
        runs += exec->device_runs;
        refused += exec->refused;
    }
    if (runs + refused > 0)
        gphi_text_say(out, "\n  %-30s %10s %11s\n", "launched by kernels", "launches",
                      "refused");
    if (runs + refused > 0)
        gphi_text_say(out, "  %-30s %10" PRIu64 " %11" PRIu64 "\n", "graphs", runs,
                      refused);
}

/* The peak of one kind alone; kinds peak at different times, so they do not add up. */
static void put_memory_kind(gphi_text *out, uint32_t kind, const report_turn *turns,
                            size_t count)
{
    static const char *const words[] = {
        "other",   "cuMemAlloc",  "stream-ordered",  "graph memory",
        "managed", "pinned host", "registered host", "virtual, mapped"};
    uint64_t many = 0, alive = 0, peak = 0;
    for (size_t i = 0; i < count; i++) {
        if (turns[i].kind != kind)
            continue;
        many += !turns[i].is_end;
        alive = turns[i].is_end ? alive - turns[i].bytes : alive + turns[i].bytes;
        peak = alive > peak ? alive : peak;
    }
    if (many == 0)
        return;
    char most[24], rest[24];
    gphi_text_say(out, "  %-30s %10" PRIu64 " %11s %10s\n", words[kind], many,
                  say_bytes(most, peak), say_bytes(rest, alive));
}

static gph_status put_memory(const gph_report *r, gphi_text *out, gph_error *error)
{
    const size_t room = 2 * r->lifetimes.count;
    size_t count = 0;
    report_turn *turns = gphi_report_turns(r, &count);
    if (!turns)
        return room == 0 ? GPH_OK
                         : gphi_fail(error, GPH_E_NO_MEMORY, "a table of %zu allocations",
                                     room / 2);
    gphi_text_say(out, "\n  %-30s %10s %11s %10s\n", "memory", "allocated", "peak",
                  "at end");
    for (uint32_t kind = 1; kind <= GPHI_MEM_VMM; kind++)
        put_memory_kind(out, kind, turns, count);
    gphi_heap_free(r->heap, turns, room * sizeof(*turns));
    return GPH_OK;
}

/* Padding: the share of what ran that nobody had asked for. */
static void put_caches(const gph_report *r, gphi_text *out)
{
    if (r->caches.count > 0)
        gphi_text_say(out, "\n  %-30s %10s %11s %10s %10s %8s\n", "shape buckets",
                      "calls", "exact", "padded", "eager", "padding");
    GPHI_EACH (const report_cache, cache, &r->caches) {
        report_bucket sum = {0};
        GPHI_EACH (const report_bucket, bucket, &cache->buckets) {
            for (int k = 0; k < 4; k++)
                sum.counts[k] += bucket->counts[k];
            sum.asked += bucket->asked;
            sum.ran += bucket->ran;
        }
        const uint64_t eager = sum.counts[2] + sum.counts[3];
        gphi_text_say(
            out,
            "  %-30.30s %10" PRIu64 " %11" PRIu64 " %10" PRIu64 " %10" PRIu64
            " %6.1f %%\n",
            cache->name ? cache->name : "cache", sum.counts[0] + sum.counts[1] + eager,
            sum.counts[0], sum.counts[1], eager,
            sum.ran == 0 ? 0.0 : 100.0 - 100.0 * (double)sum.asked / (double)sum.ran);
    }
}

/* Allocates per table and not per line, so that each fails as a whole. */
gph_status gph_report_text_write(gph_report *report, gph_write_fn *write, void *user,
                                 gph_error *error)
{
    GPHI_TRY(gphi_need(error, report, write));
    char buffer[4096];
    gphi_text out;
    gphi_plain plain = {.write = write, .user = user};
    gphi_report_settle(report);
    gphi_language_use(gphi_doctor_language(report->doctor));
    gphi_text_stream(&out, buffer, sizeof(buffer), gphi_plain_write, &plain);
    put_kinds(report, &out);
    GPHI_TRY(put_execs(report, &out, error));
    put_device(report, &out);
    GPHI_TRY(put_memory(report, &out, error));
    put_caches(report, &out);
    if (report->lost > 0)
        gphi_text_say(&out, "\n  %" PRIu64 " records came too fast and are missing\n",
                      report->lost);
    return gphi_text_end(&out, error);
}

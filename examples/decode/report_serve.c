// SPDX-License-Identifier: Apache-2.0
/* What decode prints of serving. */
#include "report.h"

#include <gph/cache_figures.h>

#include <stdio.h>

static double per(uint64_t a, uint64_t b)
{
    return b ? (double)a / (double)b : 0;
}

static void row(const report *r, const serve_result *result)
{
    const serve_stats *s = &result->stats;
    char exact[64] = "";
    if (r->problems != NULL)
        snprintf(exact, sizeof(exact), "%zu of %zu", result->exact, result->count);
    printf("  %-5s %14s %10.0f %8llu %11.2f %12.2f %8.3f\n", result->name, exact,
           per(s->tokens, s->decode_ns) * 1e9, (unsigned long long)s->steps,
           per(s->tokens, s->steps), per(s->host_ns, s->steps) * 1e-3,
           (double)s->decode_ns * 1e-9);
}

static void say_cache(const serve_stats *s)
{
    const gph_cache_stats *c = &s->cache;
    const uint64_t padding = c->padded_units - c->real_units;
    printf(
        "  %llu steps of 1 to %u requests: %llu hit their bucket, %llu were padded,\n"
        "  %llu missed and ran eagerly; %.1f %% of all rows were padding\n\n%s\n",
        (unsigned long long)s->steps, s->rows_max,
        (unsigned long long)c->verdicts[GPH_CACHE_EXACT],
        (unsigned long long)c->verdicts[GPH_CACHE_PADDED],
        (unsigned long long)(c->verdicts[GPH_CACHE_MISS] + c->verdicts[GPH_CACHE_EAGER]),
        100 * per(padding, c->padded_units), s->text);
}

static void say_tree(const serve_stats *s)
{
    const gph_tree_stats *t = &s->tree;
    printf("  the tree: %s\n"
           "  %u recordings; %llu calls were replayed, %llu recorded, %llu warm-ups\n"
           "  %llu steps, %.2f tokens each; %.0f %% of %llu guesses correct; %llu times\n"
           "  the first guess was sure enough to guess on\n\n",
           s->text, t->nodes, (unsigned long long)t->replays,
           (unsigned long long)t->recordings, (unsigned long long)t->warmups,
           (unsigned long long)s->steps, per(s->tokens, s->steps),
           100 * per(s->held, s->guessed), (unsigned long long)s->guessed,
           (unsigned long long)(s->steps - s->short_looks));
}

void report_serve(const report *r, const serve_result *eager,
                  const serve_result *recorded, bool alike)
{
    const serve_stats *s = &recorded->stats;
    size_t tokens = 0;
    for (size_t i = 0; i < eager->count; i++)
        tokens += eager->list[i].out_count;
    printf("  %-5s %14s %10s %8s %11s %12s %8s\n", "mode",
           r->problems ? "exact answers" : "", "tokens/s", "steps", "tokens/step",
           "host us/step", "seconds");
    row(r, eager);
    row(r, recorded);
    printf("  (decode steps alone; host: inside the calls of a step)\n\n");
    if (s->tree.calls > 0)
        say_tree(s);
    else
        say_cache(s);
    if (alike)
        printf("  all %zu tokens are the same in both modes\n", tokens);
    else
        printf("  THE MODES DIFFER: tokens are not the same\n");
}

static void online_row(const report *r, const online_result *result)
{
    const online_stats *s = &result->stats;
    char exact[64] = "";
    if (r->problems != NULL)
        snprintf(exact, sizeof(exact), "%zu of %zu", result->exact, result->count);
    printf("  %-8s %14s %10.0f %10.1f %8.1f %10.1f %8.1f %12.2f\n", result->name, exact,
           per(result->count, s->all_ns) * 1e9, (double)s->first_p50 * 1e-3,
           (double)s->first_p99 * 1e-3, (double)s->answer_p50 * 1e-3,
           (double)s->answer_p99 * 1e-3, per(s->host_ns, s->calls) * 1e-3);
}

void report_online(const report *r, const online_result *host,
                   const online_result *served, bool alike)
{
    const online_stats *s = &served->stats;
    size_t tokens = 0;
    for (size_t i = 0; i < host->count; i++)
        tokens += host->list[i].out_count;
    printf("  launched                              first token, us    whole answer, us\n"
           "  by       %14s %10s %10s %8s %10s %8s %12s\n",
           r->problems ? "exact answers" : "", "requests/s", "median", "p99", "median",
           "p99", "host us/call");
    online_row(r, host);
    online_row(r, served);
    printf(
        "  (from a request's arrival; host: inside the calls that ask for a graph)\n\n"
        "  %llu requests and %llu steps: the device served %llu in %llu rounds, the host "
        "launched %llu time%s\n",
        (unsigned long long)served->count, (unsigned long long)s->steps,
        (unsigned long long)s->dispatch.done, (unsigned long long)s->dispatch.rounds,
        (unsigned long long)s->dispatch.starts, s->dispatch.starts == 1 ? "" : "s");
    if (alike)
        printf("  all %zu tokens are the same in both modes\n", tokens);
    else
        printf("  THE MODES DIFFER: tokens are not the same\n");
}

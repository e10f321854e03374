// SPDX-License-Identifier: Apache-2.0
/* See advice_measure.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "advice_measure.h"
#include "sample.h"

enum { SAMPLES = MEASURED_BATCHES, BATCH_MAX = 40, COLD = 5 };

/* The calls that gph_cuda_calls lacks. */
typedef struct graph_calls {
    gph_status (*begin)(CUstream, int);
    gph_status (*end)(CUstream, CUgraph *);
    gph_status (*upload)(CUgraphExec, CUstream);
} graph_calls;

static gph_error error;

static void find(const shop *s, const char *name, gph_cuda_fn *out)
{
    shop_must(gph_cuda_find(s->d.runtime, name, out, &error), name);
}

static void iteration(shop *s, const work *w, CUgraphExec *exec, int index)
{
    shop_host_work(w->host_us);
    for (int p = 0; p < w->parts; p++) {
        if (p > 0)
            shop_wait(s);
        if (exec != NULL)
            shop_must(s->cu->GraphLaunch(exec[p], s->stream), "cuGraphLaunch");
        else
            w->part(s, p);
    }
    if ((index + 1) % w->wait_every == 0)
        shop_wait(s);
}

void measure_eager_run(shop *s, const work *w)
{
    const int count = work_iterations(s, w);
    if (w->ready != NULL)
        w->ready(s);
    shop_wait(s);
    for (int i = 0; i < count; i++)
        iteration(s, w, NULL, i);
    shop_wait(s);
}

static double batch(shop *s, const work *w, CUgraphExec *exec, int count)
{
    if (w->ready != NULL)
        w->ready(s);
    for (int i = 0; i < w->wait_every; i++)
        iteration(s, w, exec, i);
    shop_wait(s);
    const double from = now_us();
    for (int i = 0; i < count; i++)
        iteration(s, w, exec, i);
    shop_wait(s);
    return (now_us() - from) / count;
}

/* One graph a part; the time that making them took. */
static double capture(shop *s, const work *w, CUgraphExec *exec, double *nodes)
{
    *nodes = 0;
    graph_calls calls;
    find(s, "cuStreamBeginCapture", (gph_cuda_fn *)&calls.begin);
    find(s, "cuStreamEndCapture", (gph_cuda_fn *)&calls.end);
    find(s, "cuGraphUpload", (gph_cuda_fn *)&calls.upload);
    shop_wait(s);
    const double from = now_us();
    for (int p = 0; p < w->parts; p++) {
        CUgraph graph;
        size_t count = 0;
        shop_must(calls.begin(s->stream, 1), "cuStreamBeginCapture");
        w->part(s, p);
        shop_must(calls.end(s->stream, &graph), "cuStreamEndCapture");
        shop_must(s->cu->GraphInstantiateWithFlags(&exec[p], graph, 0), "instantiating");
        shop_must(calls.upload(exec[p], s->stream), "cuGraphUpload");
        shop_must(s->cu->GraphGetNodes(graph, NULL, &count), "cuGraphGetNodes");
        *nodes += (double)count;
        shop_must(s->cu->GraphDestroy(graph), "cuGraphDestroy");
    }
    shop_wait(s);
    return now_us() - from;
}

static void drop(shop *s, const work *w, CUgraphExec *exec)
{
    for (int p = 0; p < w->parts; p++)
        shop_must(s->cu->GraphExecDestroy(exec[p]), "cuGraphExecDestroy");
}

void measure_both(shop *s, const work *w, measured *out)
{
    CUgraphExec exec[PARTS_MAX];
    double eager[SAMPLES], graph[SAMPLES], once[SAMPLES];
    int count = work_iterations(s, w);
    *out = (measured){0};
    count = count < BATCH_MAX ? count : BATCH_MAX;
    (void)batch(s, w, NULL, 2);
    for (int i = 0; i < SAMPLES; i++) {
        eager[i] = batch(s, w, NULL, count);
        if (w->ready != NULL)
            w->ready(s);
        once[i] = capture(s, w, exec, &out->nodes);
        graph[i] = batch(s, w, exec, count);
        out->saves[i] = 1 - graph[i] / eager[i];
        drop(s, w, exec);
    }
    /* later ones meet a warm driver; a first one that takes far longer waited for a
     * processor, which is not what recording costs */
    out->once_us = once[0];
    out->once_us = fmin(out->once_us, COLD * median(once, SAMPLES));
    out->eager_us = lower_quartile(eager, SAMPLES);
    out->graph_us = lower_quartile(graph, SAMPLES);
}

// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "advice_measure.h"
#include "sample.h"
#include <dlfcn.h>

static gph_error error;
typedef struct xc {
    gph_status (*wait)(CUstream, CUdeviceptr, unsigned, unsigned);
} xc;

static double held(shop *s, const work *w, int part)
{
    gph_cuda_fn f;
    void *word;
    CUevent a, b;
    double us[15];
    shop_must(gph_cuda_find(s->d.runtime, "cuStreamWaitValue32", &f, &error), "wv");
    gph_status (*wait)(CUstream, CUdeviceptr, unsigned, unsigned) =
        (gph_status(*)(CUstream, CUdeviceptr, unsigned, unsigned))f;
    shop_must(s->cu->MemHostAlloc(&word, 64, 2), "host");
    shop_must(s->cu->EventCreate(&a, 0), "ev");
    shop_must(s->cu->EventCreate(&b, 0), "ev");
    volatile unsigned *v = word;
    for (int i = 0; i < 15; i++) {
        float ms;
        if (w->ready && i % 10 == 0)
            w->ready(s);
        shop_wait(s);
        *v = 0;
        shop_must(wait(s->stream, (CUdeviceptr)word, 1, 1), "wait");
        shop_must(s->cu->EventRecord(a, s->stream), "rec");
        w->part(s, part);
        shop_must(s->cu->EventRecord(b, s->stream), "rec");
        *v = 1;
        shop_wait(s);
        shop_must(s->cu->EventElapsedTime(&ms, a, b), "el");
        us[i] = ms * 1e3;
    }
    return median(us, 15);
}

int main(int argc, char **argv)
{
    shop s;
    shop_open(&s, BENCH_KERNELS, BENCH_MODEL, 1000);
    s.rounds = shop_calibrate(&s);
    printf("rounds %u\n", s.rounds);
    for (int i = 0; i < work_count; i++) {
        const work *w = &works[i];
        measured m;
        if (argc > 1 && strcmp(argv[1], w->name) != 0)
            continue;
        measure_both(&s, w, 7, &m);
        printf("%-16s eager %9.1f graph %9.1f once %9.1f", w->name, m.eager_us,
               m.graph_us, m.once_us);
        if (strcmp(w->name, "chain-1000"))
            for (int p = 0; p < w->parts; p++)
                printf(" held %9.1f", held(&s, w, p));
        printf("\n");
        fflush(stdout);
    }
    shop_close(&s);
}

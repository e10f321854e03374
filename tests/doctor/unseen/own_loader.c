// SPDX-License-Identifier: Apache-2.0
/* An engine with its own loader: every entry point comes from cuGetProcAddress; the
 * workspace is allocated inside the capture. */
#include "cu.h"
#include "kernels.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

typedef CUresult (*proc)();
static proc P(const char *n)
{
    static CUresult (*get)(const char *, void **, int, uint64_t, int *);
    if (!get) {
        void *h = dlopen("libcuda.so.1", RTLD_NOW);
        if (!h) {
            puts(dlerror());
            exit(9);
        }
        get = (void *)dlsym(h, "cuGetProcAddress_v2");
    }
    void *f = NULL;
    int st;
    if (get(n, &f, 12040, 0, &st) || !f) {
        printf("no %s\n", n);
        exit(9);
    }
    return (proc)f;
}

static CUresult (*MemAlloc)(CUdeviceptr *, size_t);
static CUresult (*Launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned,
                          unsigned, unsigned, CUstream, void **, void **);
static CUdeviceptr scratch(size_t b)
{
    CUdeviceptr p = 0;
    MemAlloc(&p, b); /* <- here */
    return p;
}

static void forward(CUstream s, CUfunction f)
{
    unsigned n = 64;
    CUdeviceptr t = scratch(256);
    void *a[] = {&t, &n};
    Launch(f, 1, 1, 1, 64, 1, 1, 0, s, a, NULL);
}

int main(void)
{
    CUcontext c;
    CUmodule m;
    CUfunction f;
    CUstream s;
    CUgraph g = NULL;
    P("cuInit")(0);
    P("cuDevicePrimaryCtxRetain")(&c, 0);
    P("cuCtxSetCurrent")(c);
    P("cuModuleLoadData")(&m, kernels_ptx);
    P("cuModuleGetFunction")(&f, m, "inc");
    P("cuStreamCreate")(&s, 1);
    MemAlloc = (void *)P("cuMemAlloc");
    Launch = (void *)P("cuLaunchKernel");
    CUresult (*begin)(CUstream, int) = (void *)P("cuStreamBeginCapture");
    CUresult (*end)(CUstream, CUgraph *) = (void *)P("cuStreamEndCapture");
    begin(s, 0);
    forward(s, f);
    CUresult r = end(s, &g);
    printf("%d\n", r);
    return r ? 1 : 0;
}

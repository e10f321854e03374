// SPDX-License-Identifier: Apache-2.0
/* A hundred requests that the device serves: a resident graph finds them in a queue that the
 * host only writes to, and launches the graph of their kind with their arguments. */
#include <gph/gph.h>
#include <stdio.h>
#include <stdlib.h>

enum { FILL, TOTAL, N = 1024, TURNS = 50 };

typedef struct ask { /* as in kernels/hello.cu */
    CUdeviceptr out, x;
    uint64_t n;
    float value;
} ask;

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "dispatch: %s\n", error.message);
    exit(1);
}
#define CU(name, ...) must(gph_cuda_check(cu->name(__VA_ARGS__), "cu" #name, &error))

static gph_runtime *gph;
static const gph_cuda_calls *cu;
static CUstream stream;

/* A graph of one kernel, which reads the request's arguments at `block`. */
static void add(gph_dispatch *server, uint32_t kind, CUfunction kernel)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    CUdeviceptr block = gph_dispatch_block(server);
    void *params[] = {&block};
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    CU(LaunchKernel, kernel, 1, 1, 1, 128, 1, 1, 0, stream, params, NULL);
    must(gph_capture_end(capture, &graph, &error));
    must(gph_dispatch_add(server, kind, graph, &error));
    CU(GraphDestroy, graph);
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_dispatch_options how = GPH_DISPATCH_OPTIONS_INIT;
    gph_dispatch_stats stats = GPH_SIZED(gph_dispatch_stats);
    gph_dispatch *server = NULL;
    CUcontext context;
    CUmodule module;
    CUfunction fill, total;
    CUdeviceptr x, sums;
    float got[TURNS], all = 0;
    options.driver = getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    must(gph_open(&options, &gph, &error));
    cu = gph_cuda(gph);
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &stream, 1);
    CU(MemAlloc, &x, N * 4);
    CU(MemAlloc, &sums, TURNS * 4);
    CU(ModuleLoad, &module, HELLO_PTX);
    CU(ModuleGetFunction, &fill, module, "asked_fill");
    CU(ModuleGetFunction, &total, module, "asked_total");

    how.name = "server";
    how.order = GPH_DISPATCH_IN_ORDER; /* a total comes after the fill before it */
    how.wait_ns = 1000000000;
    must(gph_dispatch_create(gph, &how, &server, &error));
    add(server, FILL, fill);
    add(server, TOTAL, total);
    must(gph_dispatch_start(server, &error));
    for (unsigned i = 0; i < TURNS; i++) { /* no call of the driver but the first time */
        const ask request = {.out = sums + 4u * i, .x = x, .n = N, .value = (float)i};
        must(gph_dispatch_send(server, FILL, &request, sizeof(request), NULL, &error));
        must(gph_dispatch_send(server, TOTAL, &request, sizeof(request), NULL, &error));
    }
    must(gph_dispatch_stop(server, &error)); /* when all have ended */
    gph_dispatch_stats_get(server, &stats);
    CU(MemcpyDtoH, got, sums, sizeof(got));
    for (int i = 0; i < TURNS; i++)
        all += got[i] / (float)N;
    printf("%llu requests: the last sum is %g, the mean of all %g\n",
           (unsigned long long)stats.done, got[TURNS - 1], all / (float)TURNS);
    const ask bad = {.x = x, .n = N};
    if (gph_dispatch_send(server, 7, &bad, sizeof(bad), NULL, &error) == GPH_E_INVALID)
        printf("%s\n", error.message);
    gph_dispatch_destroy(server);
    gph_close(gph);
    return 0;
}

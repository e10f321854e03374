// SPDX-License-Identifier: Apache-2.0
/* One way out of every function, every failure passed on with its reason. */
#include "graphs.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 256 };

#define CU(g, name, ...) gph_cuda_check((g)->cu->name(__VA_ARGS__), "cu" #name, error)

static gph_status load(graphs *g, const char *path, CUfunction *fill, CUfunction *total,
                       gph_error *error)
{
    static char ptx[1 << 20];
    FILE *file = fopen(path, "rb");
    const size_t bytes = file ? fread(ptx, 1, sizeof(ptx) - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    if (bytes == 0) {
        memset(error, 0, sizeof(*error));
        error->code = GPH_E_INVALID;
        snprintf(error->message, sizeof(error->message), "cannot read %s", path);
        return error->code;
    }
    ptx[bytes] = 0;
    gph_status status = CU(g, ModuleLoadData, &g->module, ptx);
    if (status == GPH_OK)
        status = CU(g, ModuleGetFunction, fill, g->module, "fill");
    if (status == GPH_OK)
        status = CU(g, ModuleGetFunction, total, g->module, "total");
    if (status == GPH_OK)
        status = CU(g, MemAlloc, &g->x, N * sizeof(float));
    if (status == GPH_OK)
        status = CU(g, MemAlloc, &g->sum, sizeof(float));
    return status;
}

static gph_status record(graphs *g, CUfunction fill, CUfunction total, gph_error *error)
{
    unsigned n = N;
    float value = 0.25f;
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    gph_status status = gph_capture_begin(g->gph, g->stream, NULL, &capture, error);
    if (status != GPH_OK)
        return status;
    status = CU(g, LaunchKernel, fill, 2, 1, 1, 128, 1, 1, 0, g->stream,
                (void *[]){&g->x, &value, &n}, NULL);
    if (status == GPH_OK)
        status = CU(g, LaunchKernel, total, 1, 1, 1, 128, 1, 1, 0, g->stream,
                    (void *[]){&g->sum, &g->x, &n}, NULL);
    if (status != GPH_OK) {
        (void)gph_capture_abort(capture,
                                NULL); /* the launch's failure is the one to report */
        return status;
    }
    status = gph_capture_end(capture, &graph, error);
    if (status != GPH_OK)
        return status;
    status = gph_exec_create(g->gph, graph, NULL, &g->exec, error);
    (void)g->cu->GraphDestroy(graph);
    return status;
}

gph_status graphs_open(graphs *out, gph_runtime *gph, CUstream stream, const char *ptx,
                       gph_error *error)
{
    CUfunction fill = NULL, total = NULL;
    *out = (graphs){.gph = gph, .cu = gph_cuda(gph), .stream = stream};
    gph_status status = load(out, ptx, &fill, &total, error);
    if (status == GPH_OK)
        status = record(out, fill, total, error);
    if (status != GPH_OK)
        graphs_close(out);
    return status;
}

gph_status graphs_run(graphs *g, float *sum, gph_error *error)
{
    gph_status status = gph_exec_launch(g->exec, g->stream, error);
    if (status == GPH_OK)
        status = CU(g, MemcpyDtoHAsync, sum, g->sum, sizeof(*sum), g->stream);
    if (status == GPH_OK)
        status = CU(g, StreamSynchronize, g->stream);
    return status;
}

gph_status graphs_misuse(graphs *g, gph_error *error)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    gph_status status = gph_capture_begin(g->gph, g->stream, NULL, &capture, error);
    if (status != GPH_OK)
        return status;
    (void)g->cu->StreamSynchronize(g->stream); /* forbidden here; the end of the capture
                                                  says which call it was */
    status = gph_capture_end(capture, &graph, error);
    if (status == GPH_OK)
        (void)g->cu->GraphDestroy(graph);
    return status;
}

void graphs_close(graphs *g)
{
    gph_exec_destroy(g->exec);
    if (g->sum != 0)
        (void)g->cu->MemFree(g->sum);
    if (g->x != 0)
        (void)g->cu->MemFree(g->x);
    if (g->module != NULL)
        (void)g->cu->ModuleUnload(g->module);
    *g = (graphs){0};
}

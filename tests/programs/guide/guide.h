// SPDX-License-Identifier: Apache-2.0
/* What the programs after the CUDA guide share: graphs of kernels of one thread, which write
 * down in a list what ran. Driver API only; on softcuda, or with GPH_DRIVER=cuda on a GPU. */
#ifndef PROGRAMS_GUIDE_H
#define PROGRAMS_GUIDE_H
#include "tests/driver.h"

#include <stdio.h>
#include <stdlib.h>

enum { LIST_MAX = 128 };

static CUmodule guide_module;
static CUstream stream;
static CUdeviceptr list, word; /* the word: of 4 bytes, and room for a queue after it */

static void must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("%s: %d\n", what, (int)result);
    exit(1);
}
#define CU(call) must(cu.call, #call)

static void guide_open(void)
{
    const char *why = "";
    if (!driver_load(SOFTCUDA_PATH, &why)) {
        printf("no softcuda: %s\n", why);
        exit(1);
    }
    must(driver_start(), "the device");
    CU(cuModuleLoad(&guide_module, GUIDE_PTX));
    CU(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    CU(cuMemAlloc(&list, 4 * LIST_MAX));
    CU(cuMemAlloc(&word, 256));
}

static inline CUfunction kernel(const char *name)
{
    CUfunction function = NULL;
    CU(cuModuleGetFunction(&function, guide_module, name));
    return function;
}

static inline CUgraph new_graph(void)
{
    CUgraph graph = NULL;
    CU(cuGraphCreate(&graph, 0));
    return graph;
}

/* A kernel after another node, or none. */
static inline CUgraphNode add(CUgraph graph, CUgraphNode after, const char *name,
                              void **arguments)
{
    CUgraphNode node = NULL;
    const CUDA_KERNEL_NODE_PARAMS params = one_thread(kernel(name), arguments);
    CU(cuGraphAddKernelNode(&node, graph, &after, after != NULL, &params));
    return node;
}

static inline CUgraphNode add_say(CUgraph graph, CUgraphNode after, int number)
{
    void *arguments[] = {&list, &number};
    return add(graph, after, "say", arguments);
}

static inline void put(int value)
{
    CU(cuMemcpyHtoD(word, &value, 4));
    CU(cuStreamSynchronize(NULL));
}

/* Launches it, and prints what ran. */
static inline void show(CUgraphExec exec, const char *what)
{
    int got[LIST_MAX] = {0};
    CU(cuMemsetD32Async(list, 0, LIST_MAX, stream));
    CU(cuGraphLaunch(exec, stream));
    CU(cuMemcpyDtoHAsync(got, list, sizeof(got), stream));
    CU(cuStreamSynchronize(stream));
    printf("  %s:", what);
    for (int i = 1; i <= got[0] && i < LIST_MAX; i++)
        printf(" %d", got[i]);
    printf(got[0] == 0 ? " nothing\n" : "\n");
}

static inline void show_word(CUgraphExec exec, int value)
{
    char what[32];
    put(value);
    snprintf(what, sizeof(what), "word %d", value);
    show(exec, what);
}
#endif

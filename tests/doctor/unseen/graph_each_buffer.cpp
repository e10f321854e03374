// SPDX-License-Identifier: Apache-2.0
/* A cache of graphs whose key is the address of the input. Each request brings its own buffer,
 * so that each is captured again; at the end of the program the cache destroys them all. */
#include "app.h"
#include <map>

struct Cache {
    std::map<CUdeviceptr, CUgraphExec> graphs;
    ~Cache()
    {
        for (auto &[key, graph] : graphs)
            cuGraphExecDestroy(graph);
    }
    CUgraphExec get(CUdeviceptr key, CUfunction f, CUdeviceptr out, CUstream s)
    {
        auto at = graphs.find(key);
        if (at != graphs.end())
            return at->second;
        CUgraph g;
        CUgraphExec x;
        unsigned n = 64;
        void *args[] = {&out, &key, &n};
        OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        for (int i = 0; i < 6; i++)
            OK(cuLaunchKernel(f, 1, 1, 1, 64, 1, 1, 0, s, args, nullptr));
        OK(cuStreamEndCapture(s, &g));
        OK(cuGraphInstantiateWithFlags(&x, g, 0)); /* <- here */
        OK(cuGraphDestroy(g));
        return graphs[key] = x;
    }
};

int main()
{
    app_start();
    CUfunction copyk = app_kernel("copyk");
    CUstream s;
    Cache cache;
    OK(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
    CUdeviceptr out = app_alloc(256);
    for (int request = 0; request < 70; request++) {
        CUdeviceptr in = app_alloc(256);
        OK(cuGraphLaunch(cache.get(in, copyk, out, s), s));
        OK(cuStreamSynchronize(s));
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Staging in a std::vector member and in an array of main's own frame, both alive to the
 * end. */
#include "app.h"
#include <vector>

struct Feeder {
    std::vector<float> host;
    CUdeviceptr dev;
    Feeder() : host(64), dev(app_alloc(256)) {}
    void enqueue(CUstream s) { OK(cuMemcpyHtoDAsync(dev, host.data(), 256, s)); }
};

int main()
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction add = app_kernel("add");
    Feeder f;
    float bias[64] = {0};
    CUdeviceptr b = app_alloc(256), out = app_alloc(256);
    unsigned n = 64;
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    f.enqueue(s);
    OK(cuMemcpyHtoDAsync(b, bias, 256, s));
    void *a[] = {&out, &f.dev, &b, &n};
    OK(cuLaunchKernel(add, 1, 1, 1, 64, 1, 1, 0, s, a, nullptr));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    for (int i = 0; i < 20; i++) {
        f.host[3] = (float)i;
        bias[3] = 1;
        OK(cuGraphLaunch(x, s));
        OK(cuStreamSynchronize(s));
    }
    float v[64];
    OK(cuMemcpyDtoH(v, out, 256));
    OK(cuGraphExecDestroy(x));
    OK(cuGraphDestroy(g));
    printf("%g\n", v[3]);
    return v[3] != 20;
}

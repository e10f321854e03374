// SPDX-License-Identifier: Apache-2.0
/* The graph writes its result into a std::vector that grows later: the copy goes to
 * freed memory. */
#include "app.h"
#include <vector>

int main()
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr p = app_alloc(1 << 18);
    unsigned n = 1 << 16;
    std::vector<unsigned> result(1 << 16);
    void *a[] = {&p, &n};
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 0));
    OK(cuLaunchKernel(inc, 512, 1, 1, 128, 1, 1, 0, s, a, nullptr));
    OK(cuMemcpyDtoHAsync(result.data(), p, 1 << 18, s)); /* <- here */
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    result.resize(1 << 20);
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    printf("%u\n", result[0]);
    return result[0] != 2;
}

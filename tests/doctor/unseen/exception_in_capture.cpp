// SPDX-License-Identifier: Apache-2.0
/* A shape check throws in the middle of a capture; the handler logs it, and the next
 * request captures again. */
#include "app.h"
#include <stdexcept>
#include <string>

class Engine {
  public:
    Engine()
    {
        OK(cuStreamCreate(&s, 1));
        f = app_kernel("inc");
        p = app_alloc(4096);
    }
    void op(unsigned n)
    {
        if (n > 1024)
            throw std::runtime_error("shape " + std::to_string(n));
        void *a[] = {&p, &n};
        check(cuLaunchKernel(f, 1, 1, 1, 256, 1, 1, 0, s, a, nullptr));
    }
    void request(unsigned n)
    {
        CUgraph g;
        CUgraphExec x;
        check(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)); /* <- here */
        op(100);
        op(n);
        op(200);
        check(cuStreamEndCapture(s, &g));
        check(cuGraphInstantiateWithFlags(&x, g, 0));
        check(cuGraphLaunch(x, s));
        check(cuStreamSynchronize(s));
        check(cuGraphExecDestroy(x));
        check(cuGraphDestroy(g));
    }
    static void check(CUresult r)
    {
        if (r)
            throw std::runtime_error("cuda " + std::to_string(r));
    }
    CUstream s;
    CUfunction f;
    CUdeviceptr p;
};

int main()
{
    app_start();
    Engine e;
    int failed = 0;
    const unsigned sizes[] = {512, 2048, 512, 256};
    for (unsigned n : sizes)
        try {
            e.request(n);
        } catch (const std::exception &x) {
            printf("request failed: %s\n", x.what());
            failed++;
        }
    return failed > 1 ? 2 : 0;
}

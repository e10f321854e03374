// SPDX-License-Identifier: Apache-2.0
/* One graph per sequence length, forever; most are launched once. */
#include "app.h"
#include <unordered_map>

class Runner {
  public:
    Runner()
    {
        OK(cuStreamCreate(&s_, 1));
        p_ = app_alloc(1 << 16);
        f_ = app_kernel("inc");
    }
    void run(unsigned len)
    {
        auto it = cache_.find(len);
        if (it == cache_.end())
            it = cache_.emplace(len, record(len)).first;
        OK(cuGraphLaunch(it->second, s_));
        OK(cuStreamSynchronize(s_));
    }

  private:
    CUgraphExec record(unsigned len)
    {
        CUgraph g;
        CUgraphExec x;
        OK(cuStreamBeginCapture(s_, 1));
        for (int l = 0; l < 6; l++) {
            void *a[] = {&p_, &len};
            OK(cuLaunchKernel(f_, (len + 63) / 64, 1, 1, 64, 1, 1, 0, s_, a, nullptr));
        }
        OK(cuStreamEndCapture(s_, &g));
        OK(cuGraphInstantiateWithFlags(&x, g, 0)); /* <- here */
        cuGraphDestroy(g);
        return x;
    }
    CUstream s_;
    CUdeviceptr p_;
    CUfunction f_;
    std::unordered_map<unsigned, CUgraphExec> cache_;
};

int main()
{
    app_start();
    Runner r;
    unsigned seed = 7;
    for (int i = 0; i < 600; i++) {
        seed = seed * 1664525u + 1013904223u;
        r.run(1 + (seed >> 16) % 8000);
    }
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* A workspace that frees what it had when it must grow grows during a capture: warmed up
 * with a small size, captured with a large one. Nothing is destroyed by a destructor. */
#include "app.h"

class Workspace {
    CUdeviceptr p_ = 0;
    size_t size_ = 0;

public:
    CUdeviceptr get(size_t bytes)
    {
        if (bytes > size_) {
            if (p_)
                OK(cuMemFree(p_)); /* <- here */
            OK(cuMemAlloc(&p_, bytes));
            size_ = bytes;
        }
        return p_;
    }
};

static void layer(Workspace &ws, unsigned n, CUstream s)
{
    CUdeviceptr p = ws.get(n * 4);
    void *a[] = {&p, &n};
    OK(cuLaunchKernel(app_kernel("inc"), n / 64, 1, 1, 64, 1, 1, 0, s, a, nullptr));
}

int main()
{
    app_start();
    Workspace ws;
    CUstream s;
    CUgraph g = nullptr;
    OK(cuStreamCreate(&s, 1));
    layer(ws, 64, s);
    OK(cuStreamSynchronize(s));
    OK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
    layer(ws, 1024, s);
    OK(cuStreamEndCapture(s, &g));
    return 0;
}

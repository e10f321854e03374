// SPDX-License-Identifier: Apache-2.0
/* A numpy-like array is pinned by cuMemHostRegister for the capture, unregistered and
 * unmapped afterwards. */
#include "app.h"
#include <sys/mman.h>

int main(void)
{
    app_start();
    CUstream s;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr d = app_alloc(65536);
    unsigned n = 64;
    void *m =
        mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    OK(cuMemHostRegister(m, 65536, 0));
    CUgraph g;
    CUgraphExec x;
    OK(cuStreamBeginCapture(s, 1));
    OK(cuMemcpyHtoDAsync(d, m, 65536, s));
    OK(RUN(inc, 1, 64, s, &d, &n));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s));
    OK(cuMemHostUnregister(m));
    munmap(m, 65536);
    CUresult r = cuGraphLaunch(x, s); /* <- here */
    printf("%d %d\n", r, cuStreamSynchronize(s));
    return 0;
}

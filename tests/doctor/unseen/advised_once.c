// SPDX-License-Identifier: Apache-2.0
/* Short kernels one by one, and a host that has other things to do between steps. Asked
 * whether a graph pays, the advice measures it: a rule of thumb must not answer, too. */
#include "app.h"
#include <unistd.h>

int main(void)
{
    app_start();
    CUstream s;
    CUfunction inc = app_kernel("inc");
    OK(cuStreamCreate(&s, 1));
    CUdeviceptr p = app_alloc(256);
    unsigned one = 1;
    for (int i = 0; i < 30; i++) {
        for (int k = 0; k < 20; k++)
            OK(RUN(inc, 1, 32, s, &p, &one));
        usleep(1000);
    }
    OK(cuStreamSynchronize(s));
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* A graph's host function writes to a log that was closed: the process ends in a thread of the
 * driver, while the program waits. */
#include "app.h"

#include <unistd.h>

static char *line;

static void note(void *user)
{
    usleep(300000); /* the launch has returned, and the program waits */
    *line = (char)('0' + *(int *)user);
}

int main(void)
{
    app_start();
    static int step = 1;
    CUstream s;
    CUgraph g;
    CUgraphExec x;
    unsigned n = 1;
    OK(cuStreamCreate(&s, 1));
    CUfunction inc = app_kernel("inc");
    CUdeviceptr counter = app_alloc(4);
    OK(cuStreamBeginCapture(s, 0));
    OK(RUN(inc, 1, 32, s, &counter, &n));
    OK(cuLaunchHostFunc(s, note, &step));
    OK(cuStreamEndCapture(s, &g));
    OK(cuGraphInstantiateWithFlags(&x, g, 0));
    OK(cuGraphLaunch(x, s));
    OK(cuStreamSynchronize(s)); // <- here
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
// launch.crash-elsewhere
//
// The process is ended by a signal in the program's own code, between two driver calls. The
// doctor does not see that code; it says so, and names the last call before it. A signal
// that the program deals with ends nothing.
#include "broken.h"

#include <setjmp.h>
#include <signal.h>

/* The result is looked for where nothing is. */
static void first(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    volatile float *result = NULL;
    FILL(stream, x, 3);
    CU(cuStreamSynchronize(stream)); /* <-- first */
    EXPECT(result[4] == 3);
}

/* An assertion of the program's own fails while a graph is open. */
static void second(void)
{
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CU(cuGraphCreate(&graph, 0));
    CU(cuGraphAddEmptyNode(&node, graph, NULL, 0)); /* <-- second */
    if (node)
        abort();
}

static sigjmp_buf back;

static void caught(int number)
{
    siglongjmp(back, number);
}

/* As programs do that try whether an address is there. */
static void near(void)
{
    CUstream stream = new_stream();
    CUdeviceptr x = new_floats();
    volatile const float *nowhere = NULL;
    struct sigaction before;
    const struct sigaction action = {.sa_handler = caught};
    EXPECT(sigaction(SIGSEGV, &action, &before) == 0);
    if (sigsetjmp(back, 1) == 0)
        broken_failures += nowhere[4] == 0;
    EXPECT(sigaction(SIGSEGV, &before, NULL) == 0);
    FILL(stream, x, 3);
    CU(cuStreamSynchronize(stream));
    EXPECT(float_at(x, 5) == 3);
}

BROKEN(first, second, near)

// SPDX-License-Identifier: Apache-2.0
/* The graph reports that a request is done through a host function, whose data is the request: it
 * is freed when its answer is out, and the next one gets the same memory. */
#include "kit.h"

typedef struct request {
    int number, is_done;
} request;

static int last_done;

static void done(void *user)
{
    request *one = user;
    one->is_done = 1;
    last_done = one->number;
}

static CUgraphExec record(CUstream stream, CUfunction total, CUdeviceptr out,
                          CUdeviceptr in, request *one)
{
    unsigned n = 32;
    CUgraph g;
    CUgraphExec e;
    CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    CK(cuLaunchKernel(total, 1, 1, 1, 32, 1, 1, 0, stream, (void *[]){&out, &in, &n},
                      NULL));
    CK(cuLaunchHostFunc(stream, done, one)); /* <- here */
    CK(cuStreamEndCapture(stream, &g));
    CK(cuGraphInstantiate(&e, g, 0));
    return e;
}

int main(void)
{
    device_open();
    CUstream stream = stream_new();
    CUdeviceptr in = floats(32), out = floats(1);
    CUgraphExec graph = NULL;
    for (int i = 0; i < 3; i++) {
        request *one = malloc(sizeof(*one));
        *one = (request){i, 0};
        if (!graph)
            graph = record(stream, kernel("total"), out, in, one);
        CK(cuGraphLaunch(graph, stream));
        CK(cuStreamSynchronize(stream));
        free(one);
    }
    return last_done != 2;
}

// SPDX-License-Identifier: Apache-2.0
/* 12 more of everyday kinds, and their right variants (a second argument: right), as they were when
 * the doctor first saw them, but for two right variants that were not (watchdog_query captured in the
 * global mode, event_of_capture wrote past its buffer). The lines of each first cause are marked with its name. */
#include "../rules/device.h"
#include <stdbool.h>
enum { BYTES = FLOATS * sizeof(float) };
static bool ok;
static CUstream st;

static float get(CUdeviceptr p)
{
    float v = 0;
    CU(cuMemcpyDtoHAsync(&v, p, 4, st));
    CU(cuStreamSynchronize(st));
    return v;
}
static void begin(CUstreamCaptureMode mode)
{
    CU(cuStreamBeginCapture(st, mode));
}

/* 1 the pinned staging buffer is freed while the replay still reads it */
static void staging_freed(void)
{
    CUdeviceptr in = new_floats(), out = new_floats();
    float *pinned;
    CUgraphExec e;
    CU(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    pinned[0] = 3;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    SPIN(st, 2000);
    CU(cuMemcpyHtoDAsync(in, pinned, BYTES, st)); // <- staging_freed
    COPY(st, out, in);
    e = end_capture(st);
    CU(cuGraphLaunch(e, st)); // <- staging_freed
    CU(cuStreamSynchronize(st));
    if (!ok)
        CU(cuMemFreeHost(pinned)); // <- staging_freed
    CU(cuGraphLaunch(e, st));      // <- staging_freed
    CU(cuStreamSynchronize(st));
    printf("%g\n", (double)get(out));
}

/* 2 a watchdog asks for an event that was recorded in the capture */
static CUevent watched;
static void watchdog(void *user)
{
    (void)user;
    (void)!cuEventQuery(watched);
} // <- watchdog_query
static void watchdog_query(void)
{
    CUdeviceptr x = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    CUevent other = new_event();
    watched = new_event();
    CU(cuEventRecord(other, st));
    begin(ok ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL : CU_STREAM_CAPTURE_MODE_GLOBAL);
    FILL(st, x, 1);
    CU(cuEventRecord(watched, st));
    if (ok)
        watched = other;
    in_thread(watchdog, NULL);
    FILL(st, x, 2);
    CU(cuStreamEndCapture(st, &g));
    if (g) {
        CU(cuGraphInstantiateWithFlags(&e, g, 0));
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
}

/* 3 each step writes the next row; the graph has the row of the step that was captured */
static void row_frozen(void)
{
    CUdeviceptr rows, x = new_floats();
    CUgraphExec e = NULL;
    float all[8];
    CU(cuMemAlloc(&rows, 8 * BYTES));
    CU(cuMemsetD32(rows, 0, 8 * FLOATS));
    CU(cuCtxSynchronize());
    for (int step = 0; step < 8; step++) {
        CUdeviceptr row = rows + (CUdeviceptr)step * BYTES;
        FILL(st, x, (float)step);
        if (step < 3 || ok) {
            COPY(st, row, x);
        } else {
            if (!e) {
                begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
                COPY(st, row, x); // <- row_frozen
                e = end_capture(st);
            }
            CU(cuGraphLaunch(e, st)); // <- row_frozen
        }
        CU(cuStreamSynchronize(st));
    }
    for (int i = 0; i < 8; i++) {
        all[i] = get(rows + (CUdeviceptr)i * BYTES);
        printf("%g ", (double)all[i]);
    }
    printf("\n");
}

/* 4 a copy with a wrong pointer is refused in the capture; the graph lacks it */
static void refused_copy(void)
{
    CUdeviceptr x = new_floats(), y = new_floats(), gone = new_floats();
    CUgraphExec e;
    CU(cuMemFree(gone));
    FILL(st, x, 2);
    CU(cuStreamSynchronize(st));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    (void)!cuMemcpyDtoDAsync(ok ? y : gone, x, BYTES, st); // <- refused_copy
    SCALE_ADD(st, y, x, 1);
    e = end_capture(st);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
    printf("%g\n", (double)get(y));
}

/* 5 a helper copies synchronously, in the legacy stream, while a blocking stream captures */
static void set_scale(CUdeviceptr to, float v)
{
    if (ok)
        CU(cuMemsetD32Async(to, 0x3f800000, 1, st));
    else
        CU(cuMemcpyHtoD(to, &v, 4)); // <- blocking_copy
}
static void blocking_copy(void)
{
    CUdeviceptr x = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    CU(cuStreamCreate(&st, CU_STREAM_DEFAULT));
    begin(CU_STREAM_CAPTURE_MODE_RELAXED);
    FILL(st, x, 1);
    set_scale(x, 2); // <- blocking_copy
    FILL(st, x, 3);
    CU(cuStreamEndCapture(st, &g));
    if (g) {
        CU(cuGraphInstantiateWithFlags(&e, g, 0));
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
}

/* 6 a helper's stream is destroyed before it is joined */
static void forked(CUdeviceptr x, CUevent from, CUevent to)
{
    CUstream side = new_stream();
    CU(cuEventRecord(from, st));
    CU(cuStreamWaitEvent(side, from, 0)); // <- stream_gone
    FILL(side, x, 2);                     // <- stream_gone
    if (ok) {
        CU(cuEventRecord(to, side));
        CU(cuStreamWaitEvent(st, to, 0));
    }
    CU(cuStreamDestroy(side)); // <- stream_gone
}
static void stream_gone(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    CUevent a = new_event(), b = new_event();
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    FILL(st, y, 1);
    forked(x, a, b); // <- stream_gone
    FILL(st, y, 2);
    CU(cuStreamEndCapture(st, &g)); // <- stream_gone
    if (g) {
        CU(cuGraphInstantiateWithFlags(&e, g, 0));
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    }
}

/* 7 the input is chosen by number, one too far: the graph reads the other slot */
static void wrong_slot(void)
{
    CUdeviceptr slot[2] = {new_floats(), new_floats()}, out = new_floats();
    CUgraphExec e[2];
    float host[FLOATS];
    for (int i = 0; i < 2; i++) {
        begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
        COPY(st, out, slot[i]);
        e[i] = end_capture(st);
    } // <- wrong_slot
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < FLOATS; k++)
            host[k] = (float)i;
        CU(cuMemcpyHtoDAsync(slot[i % 2], host, BYTES, st)); // <- wrong_slot
        CU(cuGraphLaunch(e[ok ? i % 2 : (i + 1) % 2], st));  // <- wrong_slot
        printf("%g\n", (double)get(out));
    }
}

/* 8 memory of the graph is neither freed in it nor after it */
static void second_launch(void)
{
    CUdeviceptr p, out = new_floats();
    CUgraph g = NULL;
    CUgraphExec e = NULL;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    CU(cuMemAllocAsync(&p, BYTES, st)); // <- second_launch
    FILL(st, p, 1);
    COPY(st, out, p);
    if (ok)
        CU(cuMemFreeAsync(p, st));
    CU(cuStreamEndCapture(st, &g));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    for (int i = 0; i < 3; i++) {
        (void)!cuGraphLaunch(e, st);
        CU(cuStreamSynchronize(st));
    } // <- second_launch
    printf("%g\n", (double)get(out));
}

/* 9 the result is read in a stream that does not wait for the replay */
static void other_stream(void)
{
    CUstream rs = new_stream();
    CUevent done = new_event();
    CUdeviceptr in = new_floats(), out = new_floats();
    float *pinned;
    CU(cuMemHostAlloc((void **)&pinned, BYTES, 0));
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    SPIN(st, 500);
    COPY(st, out, in);
    CUgraphExec e = end_capture(st);
    for (int i = 0; i < 4; i++) {
        FILL(st, in, (float)i);
        CU(cuGraphLaunch(e, st)); // <- other_stream
        if (ok) {
            CU(cuEventRecord(done, st));
            CU(cuStreamWaitEvent(rs, done, 0));
        }
        CU(cuMemcpyDtoHAsync(pinned, out, BYTES, rs)); // <- other_stream
        CU(cuStreamSynchronize(rs));
        printf("%g\n", (double)pinned[0]);
        CU(cuStreamSynchronize(st));
    }
}

/* 10 the second instantiation is refused, and the first executable runs on */
static void refused_remake(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraph g = new_graph();
    CUgraphNode a, b;
    CUgraphExec e = NULL, again = NULL;
    float v = 1;
    unsigned n = FLOATS;
    CUDA_KERNEL_NODE_PARAMS p = floats_kernel(fill, (void *[]){&x, &v, &n});
    CU(cuGraphAddKernelNode(&a, g, NULL, 0, &p));
    CU(cuGraphInstantiateWithFlags(&e, g, 0));
    CU(cuGraphLaunch(e, st));
    p = floats_kernel(copy, (void *[]){&y, &x, &n});
    CU(cuGraphAddKernelNode(&b, g, &a, 1, &p));
    if (!ok)
        (void)!cuGraphAddDependencies(g, &b, &a, NULL, 1); // <- refused_remake
    if (cuGraphInstantiateWithFlags(&again, g, 0) == CUDA_SUCCESS)
        e = again; // <- refused_remake
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(e, st));
        CU(cuStreamSynchronize(st));
    } // <- refused_remake
    printf("%g\n", (double)get(y));
}

/* 11 the same event serves the capture and, later, the host */
static void event_of_capture(void)
{
    CUdeviceptr x = new_floats();
    CUevent ev = new_event();
    CUstream side = new_stream();
    CUgraphExec e;
    begin(CU_STREAM_CAPTURE_MODE_GLOBAL);
    FILL(st, x, 1);
    CU(cuEventRecord(ev, st)); // <- event_of_capture
    CU(cuStreamWaitEvent(side, ev, 0));
    FILL(side, x, 2);
    CUevent join = new_event();
    CU(cuEventRecord(join, side));
    CU(cuStreamWaitEvent(st, join, 0));
    e = end_capture(st);
    for (int i = 0; i < 3; i++) {
        CU(cuGraphLaunch(e, st));
        if (ok)
            CU(cuEventRecord(ev, st));
        (void)!cuEventSynchronize(ev); // <- event_of_capture
        printf("%g\n", (double)get(x));
    }
}

/* 12 a step is recorded and instantiated again each time, though nothing changed */
static void anew_each_step(void)
{
    CUdeviceptr x = new_floats(), y = new_floats();
    CUgraphExec e = NULL;
    for (int i = 0; i < 40; i++) {
        if (!ok || !e) {
            begin(CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
            for (int k = 0; k < 8; k++)
                SCALE_ADD(st, y, x, 1);
            e = end_capture(st); // <- anew_each_step
        }
        CU(cuGraphLaunch(e, st)); // <- anew_each_step
        CU(cuStreamSynchronize(st));
        if (!ok)
            CU(cuGraphExecDestroy(e));
    }
    printf("%g\n", (double)get(y));
}

#define ALL(X)                                                                           \
    X(staging_freed)                                                                     \
    X(watchdog_query)                                                                    \
    X(row_frozen)                                                                        \
    X(refused_copy)                                                                      \
    X(blocking_copy)                                                                     \
    X(stream_gone)                                                                       \
    X(wrong_slot)                                                                        \
    X(second_launch)                                                                     \
    X(other_stream)                                                                      \
    X(refused_remake)                                                                    \
    X(event_of_capture)                                                                  \
    X(anew_each_step)

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {
#define X(n) {#n, n},
        ALL(X)
#undef X
    };
    ok = argc > 2;
    for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            broken_open();
            st = new_stream();
            all[i].run();
            fflush(stdout);
            return 0;
        }
    return 2;
}

// SPDX-License-Identifier: Apache-2.0
/* 5 broken programs that use the runtime API, and their right variants (a second argument: right), as
 * they were when the doctor first saw them. The lines of each first cause are marked with its name. */
#include "rt.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static bool ok;
static cudaStream_t st;
enum { N = 1024, BYTES = 4 * N };
#define CU(call) check((call), #call, __LINE__)
static cudaError_t check(cudaError_t e, const char *call, int line)
{
    if (e)
        printf("line %d: %.*s: %d\n", line, (int)strcspn(call, "("), call, (int)e);
    return e;
}
static const char PTX[] =
    ".version 6.3\n.target sm_70\n.address_size 64\n"
    ".visible .entry fill(.param .u64 x, .param .f32 v, .param .u32 n) {\n"
    ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x; mad.lo.u32 "
    "%r1,%r1,%r2,%r3;\n"
    "ld.param.u32 %r4,[n]; setp.ge.u32 %p,%r1,%r4; @%p ret;\n"
    "ld.param.u64 %d1,[x]; mul.wide.u32 %d8,%r1,4; add.u64 %d1,%d1,%d8;\n"
    "ld.param.f32 %f1,[v]; st.global.f32 [%d1],%f1; ret; }\n"
    ".visible .entry add(.param .u64 x, .param .u64 y, .param .u32 n) {\n"
    ".reg .pred %p; .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<9>;\n"
    "mov.u32 %r1,%ctaid.x; mov.u32 %r2,%ntid.x; mov.u32 %r3,%tid.x; mad.lo.u32 "
    "%r1,%r1,%r2,%r3;\n"
    "ld.param.u32 %r4,[n]; setp.ge.u32 %p,%r1,%r4; @%p ret;\n"
    "ld.param.u64 %d1,[x]; ld.param.u64 %d2,[y]; mul.wide.u32 %d8,%r1,4; add.u64 "
    "%d1,%d1,%d8; add.u64 %d2,%d2,%d8;\n"
    "ld.global.f32 %f1,[%d1]; ld.global.f32 %f2,[%d2]; add.f32 %f1,%f1,%f2; "
    "st.global.f32 [%d1],%f1; ret; }\n"
    ".visible .entry spin(.param .u64 ns) {\n.reg .pred %p; .reg .b64 %d<9>;\n"
    "ld.param.u64 %d1,[ns]; mov.u64 %d2,%globaltimer;\n"
    "L: mov.u64 %d3,%globaltimer; sub.u64 %d4,%d3,%d2; setp.lt.u64 %p,%d4,%d1; @%p bra "
    "L; ret; }\n";
static cudaKernel_t fill, add, spin;
#define RUN(k, ...)                                                                      \
    CU(cudaLaunchKernel((const void *)(k), (dim3){8, 1, 1}, (dim3){128, 1, 1},           \
                        (void *[]){__VA_ARGS__}, 0, st))
#define FILL(x, v) RUN(fill, &(void *){x}, &(float){v}, &(unsigned){N})
#define ADD(x, y) RUN(add, &(void *){x}, &(void *){y}, &(unsigned){N})
#define SPIN(us)                                                                         \
    CU(cudaLaunchKernel((const void *)spin, (dim3){1, 1, 1}, (dim3){1, 1, 1},            \
                        (void *[]){&(unsigned long long){(us)*1000ULL}}, 0, st))
static float *floats(void)
{
    float *out = NULL;
    CU(cudaMalloc((void **)&out, BYTES));
    CU(cudaMemset(out, 0, BYTES));
    CU(cudaDeviceSynchronize());
    return out;
}
static cudaGraphExec_t end(void)
{
    cudaGraph_t g;
    cudaGraphExec_t e = NULL;
    CU(cudaStreamEndCapture(st, &g));
    CU(cudaGraphInstantiate(&e, g, 0));
    CU(cudaGraphDestroy(g));
    return e;
}

/* 1 a copy to ordinary memory waits when it is eager; in a graph it does not */
static void sync_lost(void)
{
    float *x = floats(), host[N] = {0}, sum = 0;
    cudaGraphExec_t e = NULL;
    for (int i = 0; i < 6; i++) {
        if (i < 2) {
            FILL(x, 2);
            CU(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost, st));
        } else {
            if (!e) {
                CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
                SPIN(200);
                FILL(x, 3);
                CU(cudaMemcpyAsync(host, x, BYTES, cudaMemcpyDeviceToHost,
                                   st)); // <- sync_lost
                e = end();
            }
            CU(cudaGraphLaunch(e, st)); // <- sync_lost
            if (ok)
                CU(cudaStreamSynchronize(st));
        }
        sum += host[0]; // <- sync_lost
    }
    CU(cudaStreamSynchronize(st));
    printf("%g\n", (double)sum);
}

/* 2 the accumulator is cleared with the plain cudaMemset: it is not captured, and runs once */
static void memset_escapes(void)
{
    float *x = floats(), *y = floats(), out;
    FILL(x, 1);
    CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeRelaxed));
    if (ok)
        CU(cudaMemsetAsync(y, 0, BYTES, st));
    else
        CU(cudaMemset(y, 0, BYTES)); // <- memset_escapes
    ADD(y, x);
    cudaGraphExec_t e = end();
    for (int i = 0; i < 4; i++)
        CU(cudaGraphLaunch(e, st));
    CU(cudaStreamSynchronize(st));
    CU(cudaMemcpy(&out, y, 4, cudaMemcpyDeviceToHost));
    printf("%g\n", (double)out);
}

/* 3 capture is tried at each step and always fails: the program is slow and nobody knows */
static void tries_each_step(void)
{
    float *x = floats(), *scratch = ok ? floats() : NULL, out;
    cudaGraphExec_t e = NULL;
    int replays = 0;
    for (int i = 0; i < 10; i++) {
        cudaGraph_t g = NULL;
        if (!e &&
            cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal) == cudaSuccess) {
            if (!scratch)
                cudaMalloc((void **)&scratch, BYTES); // <- tries_each_step
            if (scratch)
                FILL(scratch, 1);
            FILL(x, 1);
            if (cudaStreamEndCapture(st, &g) == cudaSuccess)
                CU(cudaGraphInstantiate(&e, g, 0));
            cudaGetLastError();
            if (!e)
                scratch = NULL;
        }
        if (e) {
            CU(cudaGraphLaunch(e, st));
            replays++;
        } else {
            FILL(x, 1);
        }
        CU(cudaStreamSynchronize(st));
    }
    CU(cudaMemcpy(&out, x, 4, cudaMemcpyDeviceToHost));
    printf("%g %d\n", (double)out, replays);
}

/* 4 the pinned buffer that the graph reads is freed when the request ends */
static void pinned_freed(void)
{
    float *x = floats(), *host = NULL, out;
    CU(cudaMallocHost((void **)&host, BYTES));
    for (int i = 0; i < N; i++)
        host[i] = 2;
    CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
    CU(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, st)); // <- pinned_freed
    ADD(x, x);
    cudaGraphExec_t e = end();
    CU(cudaGraphLaunch(e, st));
    CU(cudaStreamSynchronize(st));
    if (!ok)
        CU(cudaFreeHost(host)); // <- pinned_freed
    cudaGraphLaunch(e, st);     // <- pinned_freed
    cudaStreamSynchronize(st);
    cudaMemcpy(&out, x, 4, cudaMemcpyDeviceToHost);
    printf("%g\n", (double)out);
}

/* 5 an array of the program is filled again while the replay may still have to read it */
static void refilled(void)
{
    static float host[N];
    float *x = floats(), *sum = floats(), out;
    cudaGraphExec_t e = NULL;
    for (int i = 0; i < 6; i++) {
        for (int k = 0; k < N; k++)
            host[k] = (float)i; // <- refilled
        if (i < 2) {
            CU(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice, st));
            ADD(sum, x);
            continue;
        }
        if (!e) {
            CU(cudaStreamBeginCapture(st, cudaStreamCaptureModeGlobal));
            SPIN(200);
            CU(cudaMemcpyAsync(x, host, BYTES, cudaMemcpyHostToDevice,
                               st)); // <- refilled
            ADD(sum, x);
            e = end();
        }
        CU(cudaGraphLaunch(e, st)); // <- refilled
        if (ok)
            CU(cudaStreamSynchronize(st));
    }
    CU(cudaStreamSynchronize(st));
    CU(cudaMemcpy(&out, sum, 4, cudaMemcpyDeviceToHost));
    printf("%g\n", (double)out);
}

#define ALL(X)                                                                           \
    X(sync_lost) X(memset_escapes) X(tries_each_step) X(pinned_freed) X(refilled)

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
    cudaLibrary_t lib;
    ok = argc > 2;
    for (size_t i = 0; argc > 1 && i < sizeof(all) / sizeof(*all); i++)
        if (strcmp(all[i].name, argv[1]) == 0) {
            CU(cudaStreamCreateWithFlags(&st, cudaStreamNonBlocking));
            if (CU(cudaLibraryLoadData(&lib, PTX, NULL, NULL, 0, NULL, NULL, 0)))
                return 77;
            CU(cudaLibraryGetKernel(&fill, lib, "fill"));
            CU(cudaLibraryGetKernel(&add, lib, "add"));
            CU(cudaLibraryGetKernel(&spin, lib, "spin"));
            all[i].run();
            fflush(stdout);
            return 0;
        }
    return 2;
}

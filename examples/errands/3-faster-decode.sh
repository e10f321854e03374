#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Errand 3: make a decode loop faster. Ask first whether a graph would pay, then record it, then compare.
. "$(dirname "$0")/common.sh"

step "A decode loop: forty small kernels per token, launched one by one"
cat >decode.c <<'END'
#include <gph/gph.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#define MUST(call)                                                                       \
    if ((call) != 0)                                                                     \
    return fprintf(stderr, "%s %s\n", #call, error.message), 1

enum { KERNELS = 40, TOKENS = 2000 };
static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry mix(.param .u64 state, .param .u32 by)\n{\n"
                          ".reg .b32 %r<3>; .reg .b64 %d<2>;\n"
                          "ld.param.u64 %d1, [state]; ld.param.u32 %r1, [by];\n"
                          "ld.global.u32 %r2, [%d1]; mad.lo.u32 %r2, %r2, 1664525, %r1;\n"
                          "st.global.u32 [%d1], %r2; ret;\n}\n";

int main(int count, char **words)
{
    const int is_graph = count > 1 && strcmp(words[1], "graph") == 0;
    gph_runtime *gph;
    gph_error error = {0};
    CUcontext context;
    CUstream stream;
    CUmodule module;
    CUfunction mix;
    CUdeviceptr state;
    gph_replay *replay = NULL;
    struct timespec from, to;
    unsigned token = 0;
    MUST(gph_open(NULL, &gph, &error));
    const gph_cuda_calls *cu = gph_cuda(gph);
    MUST(cu->DevicePrimaryCtxRetain(&context, 0) || cu->CtxSetCurrent(context));
    MUST(cu->StreamCreate(&stream, 1) || cu->MemAlloc(&state, 4));
    MUST(cu->ModuleLoadData(&module, ptx) || cu->ModuleGetFunction(&mix, module, "mix"));
    MUST(cu->MemsetD32Async(state, 1, 1, stream));
    if (is_graph) { /* new: record a step once */
        gph_capture *capture;
        gph_recording *recording;
        MUST(gph_capture_begin(gph, stream, NULL, &capture, &error));
        for (unsigned k = 0; k < KERNELS; k++)
            MUST(cu->LaunchKernel(mix, 1, 1, 1, 1, 1, 1, 0, stream,
                                  (void *[]){&state, &k}, NULL));
        MUST(gph_capture_finish(capture, &recording, &error));
        MUST(gph_replay_create(recording, NULL, &replay, &error));
    }
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (int t = 0; t < TOKENS; t++) {
        if (is_graph) {
            MUST(gph_replay_launch(replay, stream, &error)); /* and replay it */
        } else {
            for (unsigned k = 0; k < KERNELS; k++)
                MUST(cu->LaunchKernel(mix, 1, 1, 1, 1, 1, 1, 0, stream,
                                      (void *[]){&state, &k}, NULL));
        }
        MUST(cu->MemcpyDtoHAsync(&token, state, 4, stream) || cu->StreamSynchronize(stream));
    }
    clock_gettime(CLOCK_MONOTONIC, &to);
    printf("last token %u\n", token);
    fprintf(stderr, "%.1f us per token\n",
            ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) /
                1e3 / TOKENS);
    return 0;
}
END
show '${CC:-cc} -g -O2 -o decode decode.c $(pkg-config --cflags --libs gph)'
show './decode >eager && cat eager'

step "Would a graph pay?"
show 'gph doctor --advise -- ./decode 2>&1' >said
sed -n '/^advice/,$p' said
want "decode.c:" said

step "The step recorded once and replayed for each token: the same tokens"
show './decode graph >graph && cat graph'
show 'cmp eager graph && echo the same'

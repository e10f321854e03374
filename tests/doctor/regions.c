// SPDX-License-Identifier: Apache-2.0
/* A program of libgph that hangs in a region, for standing.py: the doctor has the lines of
 * the calls, its own sentinels the region and the line that began it.
 *
 *   regions           hangs; GPH_SENTINEL_FILE is where its sentinels write
 *   regions FILE      says what they wrote
 *   regions - WAY     chooses in a region, wrongly: a case that is not there (choice), by a
 *                     handle that nobody sets (unset) */
#include <gph/gph.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static const char ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".visible .entry gate(.param .u64 flag)\n"
    "{\n"
    "  .reg .pred %p; .reg .b32 %r; .reg .b64 %d;\n"
    "  ld.param.u64 %d, [flag];\n"
    "again: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0; @%p bra again;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry pass(.param .u64 flag)\n"
    "{\n  ret;\n}\n";

static gph_error error;

static void must(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "%s\n", error.message);
    exit(1);
}
#define CU(call) must(gph_cuda_check((call), #call, &error))

static gph_status sets_nothing(void *user, CUstream stream, uint64_t handle,
                               gph_error *why)
{
    (void)user;
    (void)stream;
    (void)handle;
    (void)why;
    return GPH_OK;
}

static int choose(gph_runtime *gph, CUstream stream, bool is_set)
{
    const gph_cuda_calls *cu = gph_cuda(gph);
    gph_condition condition = GPH_CONDITION_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    gph_replay *replay = NULL;
    CUdeviceptr word = 0;
    CU(cu->MemAlloc(&word, 8));
    CU(cu->MemsetD32Async(word, 2, 1, stream)); /* of cases 0 and 1 */
    condition.kind = is_set ? GPH_CONDITION_WORD : GPH_CONDITION_KERNEL;
    condition.left = word;
    condition.set = is_set ? NULL : sets_nothing;
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    must(gph_region_push(capture, "router", &error));
    must(gph_capture_switch(capture, &condition, 2, &error)); // chosen
    CU(cu->MemsetD32Async(word + 4, 1, 1, stream));
    must(gph_capture_case(capture, 1, &error));
    CU(cu->MemsetD32Async(word + 4, 2, 1, stream));
    must(gph_capture_flow_end(capture, &error));
    must(gph_region_pop(capture, &error));
    must(gph_capture_finish(capture, &recording, &error));
    must(gph_replay_create(recording, NULL, &replay, &error));
    must(gph_replay_launch(replay, stream, &error));
    CU(cu->StreamSynchronize(stream));
    return 0;
}

static int say(const char *path)
{
    gph_progress *progress = NULL;
    must(gph_progress_load(path, NULL, &progress, &error));
    must(gph_progress_write(progress, gph_write_file, stdout, &error));
    gph_progress_destroy(progress);
    return 0;
}

static gph_recording *record(gph_runtime *gph, CUstream stream)
{
    const gph_cuda_calls *cu = gph_cuda(gph);
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    CUmodule module = NULL;
    CUfunction gate = NULL, pass = NULL;
    void *flag = NULL;
    CU(cu->ModuleLoadData(&module, ptx));
    CU(cu->ModuleGetFunction(&gate, module, "gate"));
    CU(cu->ModuleGetFunction(&pass, module, "pass"));
    CU(cu->MemHostAlloc(&flag, 4, 2)); /* mapped */
    *(volatile unsigned *)flag = 0;
    CUdeviceptr at = (CUdeviceptr)(uintptr_t)flag;
    void *arguments[] = {&at};
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));             // begun
    CU(cu->LaunchKernel(pass, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL)); // first
    must(gph_region_push(capture, "layer.0", &error));                        // outer
    must(gph_region_push(capture, "attn", &error));                           // inner
    CU(cu->LaunchKernel(gate, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL)); // gated
    must(gph_region_pop(capture, &error));
    CU(cu->LaunchKernel(pass, 1, 1, 1, 1, 1, 1, 0, stream, arguments, NULL)); // last
    must(gph_region_pop(capture, &error));
    must(gph_capture_finish(capture, &recording, &error));
    return recording;
}

int main(int argc, char **argv)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_sentinel_options sentinel_options = GPH_SENTINEL_OPTIONS_INIT;
    gph_exec_options exec_options = GPH_EXEC_OPTIONS_INIT;
    gph_runtime *gph = NULL;
    gph_replay *replay = NULL;
    CUcontext context = NULL;
    CUstream stream = NULL;
    if (argc == 2)
        return say(argv[1]);
    options.driver = GPH_DRIVER_AUTO;
    must(gph_open(&options, &gph, &error));
    const gph_cuda_calls *cu = gph_cuda(gph);
    CU(cu->DevicePrimaryCtxRetain(&context, 0));
    CU(cu->CtxSetCurrent(context));
    CU(cu->StreamCreate(&stream, 1));
    if (argc == 3)
        return choose(gph, stream, argv[2][0] == 'c');
    sentinel_options.every = 1;
    must(gph_sentinel_create(gph, &sentinel_options, &exec_options.sentinel, &error));
    must(gph_replay_create(record(gph, stream), &exec_options, &replay, &error));
    must(gph_replay_launch(replay, stream, &error));
    CU(cu->StreamSynchronize(stream));
    return 3; /* it does not come here */
}

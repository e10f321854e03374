// SPDX-License-Identifier: Apache-2.0
/* What tests of captured control flow share: softcuda, or NVIDIA's driver where there is a
 * GPU; kernels that write down what ran, some words of memory. */
#ifndef FLOW_RUN_H
#define FLOW_RUN_H
#include "runtime.h"

/* mark(log, value): appends to a log that begins with its length; mark_if: unless the word at
 * `flag` is 0; step(word): one less;
 * own(handle, word): what a caller's own setter is. */
static const char flow_ptx[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func cudaGraphSetConditional(.param .b64 h, .param .b32 v);\n"
    ".visible .entry mark(.param .u64 log, .param .u32 value)\n"
    "{\n.reg .b32 %r<3>;\n.reg .b64 %d<4>;\n"
    "ld.param.u64 %d1, [log];\nld.param.u32 %r1, [value];\n"
    "atom.global.add.u32 %r2, [%d1], 1;\n"
    "mul.wide.u32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\nst.global.u32 [%d3+4], %r1;\n"
    "ret;\n}\n"
    ".visible .entry mark_if(.param .u64 log, .param .u32 value, .param .u64 flag)\n"
    "{\n.reg .pred %p;\n.reg .b32 %r<4>;\n.reg .b64 %d<5>;\n"
    "ld.param.u64 %d1, [log];\nld.param.u32 %r1, [value];\nld.param.u64 %d4, [flag];\n"
    "ld.global.u32 %r3, [%d4];\nsetp.eq.u32 %p, %r3, 0;\n@%p bra END;\n"
    "atom.global.add.u32 %r2, [%d1], 1;\n"
    "mul.wide.u32 %d2, %r2, 4;\nadd.s64 %d3, %d1, %d2;\nst.global.u32 [%d3+4], %r1;\n"
    "END:\nret;\n}\n"
    ".visible .entry step(.param .u64 word)\n"
    "{\n.reg .b32 %r<3>;\n.reg .b64 %d<2>;\n"
    "ld.param.u64 %d1, [word];\nld.global.u32 %r1, [%d1];\n"
    "add.u32 %r2, %r1, -1;\nst.global.u32 [%d1], %r2;\nret;\n}\n"
    ".visible .entry own(.param .u64 handle, .param .u64 word)\n"
    "{\n.reg .b32 %r<2>;\n.reg .b64 %d<3>;\n"
    "ld.param.u64 %d1, [handle];\nld.param.u64 %d2, [word];\nld.global.u32 %r1, [%d2];\n"
    "{ .param .b64 h;\n.param .b32 v;\nst.param.b64 [h], %d1;\nst.param.b32 [v], %r1;\n"
    "call.uni cudaGraphSetConditional, (h, v);\n}\nret;\n}\n";

enum { LOG_WORDS = 64, WORDS = 16 };

static CUfunction marker, flag_marker, stepper, own_setter;
static CUstream stream, side;
static CUdeviceptr log_at, words_at;

static CUdeviceptr word(int index)
{
    return words_at + 8 * (CUdeviceptr)index;
}

static inline int driver_version(void)
{
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    return info.version;
}

/* IF of two bodies, and SWITCH. */
static inline bool has_forms(void)
{
    return driver_version() >= 12080;
}

/* Else the host chooses. */
static inline bool has_nodes(void)
{
    return driver_version() >= 12030;
}

static gph_status mark_status(CUstream where, unsigned value)
{
    void *params[] = {&log_at, &value};
    return gph_cuda_check(
        cu->LaunchKernel(marker, 1, 1, 1, 1, 1, 1, 0, where, params, NULL),
        "cuLaunchKernel", &error);
}

static inline void mark_in(CUstream where, unsigned value)
{
    CHECK_OK(mark_status(where, value), error);
}

static inline void mark(unsigned value)
{
    mark_in(stream, value);
}

static inline void mark_if(unsigned value, CUdeviceptr flag)
{
    void *params[] = {&log_at, &value, &flag};
    CU(LaunchKernel, flag_marker, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static inline void step(int index)
{
    CUdeviceptr at = word(index);
    void *params[] = {&at};
    CU(LaunchKernel, stepper, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL);
}

static inline void put(int index, unsigned value)
{
    CU(MemsetD32Async, word(index), value, 1, stream);
}

static inline gph_condition word_at(CUdeviceptr at)
{
    gph_condition condition = GPH_CONDITION_INIT;
    condition.left = at;
    return condition;
}

static inline gph_condition compare_at(CUdeviceptr at, uint32_t type, uint32_t relation)
{
    gph_condition condition = word_at(at);
    condition.kind = GPH_CONDITION_COMPARE;
    condition.type = type;
    condition.relation = relation;
    return condition;
}

/* ---- captures ---- */

static inline gph_capture *open_capture(const gph_capture_options *options)
{
    gph_capture_options opt = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    if (options)
        opt = *options;
    else
        opt.join = GPH_JOIN_AUTO;
    CHECK_OK(gph_capture_begin(runtime, stream, &opt, &capture, &error), error);
    return capture;
}

struct made {
    gph_recording *recording;
    gph_replay *replay;
};

static inline struct made close_capture(gph_capture *capture)
{
    struct made made = {0};
    if (CHECK_OK(gph_capture_finish(capture, &made.recording, &error), error))
        CHECK_OK(gph_replay_create(made.recording, NULL, &made.replay, &error), error);
    return made;
}

static inline void drop(struct made *made)
{
    CU(StreamSynchronize, stream);
    gph_replay_destroy(made->replay);
    gph_recording_destroy(made->recording);
}

/* One replay; whether its log is this. */
static inline bool logs(struct made *made, unsigned count, const unsigned *values)
{
    unsigned got[LOG_WORDS] = {0};
    if (!made->replay)
        return false;
    CU(MemsetD32Async, log_at, 0, LOG_WORDS, stream);
    CHECK_OK(gph_replay_launch(made->replay, stream, &error), error);
    CU(MemcpyDtoHAsync, got, log_at, sizeof(got), stream);
    CU(StreamSynchronize, stream);
    const bool is_right =
        got[0] == count && memcmp(got + 1, values, count * sizeof(*values)) == 0;
    for (unsigned i = 0; !is_right && i <= got[0] && i < LOG_WORDS; i++)
        fprintf(stderr, "%s%u", i == 0 ? "  log: " : " ", got[i]);
    if (!is_right)
        fprintf(stderr, "\n");
    return is_right;
}
#define LOGS(made, ...)                                                                  \
    CHECK(logs((made), sizeof((unsigned[]){__VA_ARGS__}) / sizeof(unsigned),             \
               (unsigned[]){__VA_ARGS__}))

/* The stream runs, and captures again. */
static inline void check_idle(void)
{
    int status = -1;
    CU(StreamIsCapturing, stream, &status);
    CHECK(status == 0);
    CU(StreamIsCapturing, side, &status);
    CHECK(status == 0);
    gph_capture *capture = open_capture(NULL);
    mark(7);
    struct made made = close_capture(capture);
    LOGS(&made, 7);
    drop(&made);
}

static inline bool set_up(void)
{
    runtime_open(GPH_DRIVER_AUTO, NULL);
    CUcontext context = NULL;
    CUmodule module = NULL;
    return CU(DevicePrimaryCtxRetain, &context, 0) && CU(CtxSetCurrent, context) &&
           CU(ModuleLoadData, &module, flow_ptx) &&
           CU(ModuleGetFunction, &marker, module, "mark") &&
           CU(ModuleGetFunction, &flag_marker, module, "mark_if") &&
           CU(ModuleGetFunction, &stepper, module, "step") &&
           CU(ModuleGetFunction, &own_setter, module, "own") &&
           CU(StreamCreate, &stream, 1) && CU(StreamCreate, &side, 1) &&
           CU(MemAlloc, &log_at, 4 * LOG_WORDS) && CU(MemAlloc, &words_at, 8 * WORDS) &&
           CU(MemsetD32Async, words_at, 0, 2 * WORDS, stream) &&
           CU(MemsetD32Async, log_at, 0, LOG_WORDS, stream) &&
           CHECK_OK(mark_status(stream, 0), error) && CU(StreamSynchronize, stream);
}
#endif

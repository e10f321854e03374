// SPDX-License-Identifier: Apache-2.0
/* Launching kernels and host functions.
 *
 * Launches go to a stream, or into the graph of one that captures, by the same way: the
 * argument checks are those of device/task.c in both cases. */
#include "softcuda/api/exports.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* The event that a kernel records is an edge or a point of the stream, no more (R102). */
static CUresult check_trigger(const soft_stream *stream, const soft_launch *launch)
{
    const bool external = launch->trigger_flags & CU_EVENT_RECORD_EXTERNAL;
    if (!launch->trigger || !soft_rule(R102))
        return CUDA_SUCCESS;
    if (external && !soft_stream_captures(stream))
        return soft_fail(CUDA_ERROR_ILLEGAL_STATE,
                         "an external record is for streams that capture, and no kernel "
                         "can make one");
    if (launch->trigger_flags != 0)
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "flags are 0x%x: a kernel records no external event",
                         (unsigned)launch->trigger_flags);
    if (!(launch->trigger->flags & CU_EVENT_DISABLE_TIMING))
        return soft_fail(CUDA_ERROR_NOT_SUPPORTED,
                         "a kernel records only events of CU_EVENT_DISABLE_TIMING");
    return CUDA_SUCCESS;
}

/* Without the mutex of the stream: others may launch while it is compiled. Its module may
 * be unloaded meanwhile, which takes away the handle, and at last the function. A capture
 * only notes it. */
static CUresult compile_first(soft_context *context, CUstream handle, bool per_thread,
                              soft_function *function)
{
    soft_stream *stream;
    if (soft_function_is_ready(function))
        return CUDA_SUCCESS;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    if (soft_stream_captures(stream))
        return CUDA_SUCCESS;
    soft_function_retain(function);
    CUresult result = soft_function_ready(function);
    if (result == CUDA_SUCCESS && !soft_handle_is(function, SOFT_KIND_FUNCTION))
        result = soft_fail(CUDA_ERROR_INVALID_HANDLE,
                           "the module of %s was unloaded while it was compiled",
                           function->code->kernel->name);
    soft_function_release(function);
    return result;
}

/* An event that the kernel records counts as reached when the kernel is done, which is
 * never too early. */
static CUresult submit(soft_context *context, CUstream handle, bool per_thread,
                       const soft_task *task)
{
    SOFT_TRY(compile_first(context, handle, per_thread, task->u.launch.function));
    if (!task->u.launch.trigger)
        return soft_stream_submit(context, handle, per_thread, task, NULL);
    soft_stream *stream;
    bool captured;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    SOFT_TRY(check_trigger(stream, &task->u.launch));
    SOFT_TRY(soft_stream_submit(context, handle, per_thread, task, &captured));
    return captured ? CUDA_SUCCESS : soft_event_record(task->u.launch.trigger, stream);
}

/* Whether the stream may be used is judged before the configuration, the configuration
 * before the arguments. */
static CUresult launch(const char *call, bool per_thread, const CUlaunchConfig *config,
                       CUfunction function, void **params, void **extra)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(call, config ? config->hStream : NULL, &context));
    SOFT_TRY(soft_need(config, "config"));
    _Alignas(16) unsigned char scratch[SOFT_PARAM_BYTES_MAX];
    soft_task task = {.kind = SOFT_TASK_KERNEL};
    SOFT_TRY(soft_capture_check_stream(context, config->hStream, per_thread));
    const CUresult status =
        soft_task_launch(context, config, function, params, extra, scratch, &task);
    if (status == CUDA_SUCCESS) {
        soft_thread *self = soft_thread_self();
        self->launch = config; /* a capture keeps its attributes */
        const CUresult submitted = submit(context, config->hStream, per_thread, &task);
        self->launch = NULL;
        return submitted;
    }
    /* A configuration that no launch can have ends the capture of its stream, as on an
     * H100; other mistakes do not (C13). */
    if (task.u.launch.misconfigured)
        soft_capture_refuse_launch(context, config->hStream, per_thread, status);
    return status;
}

SOFT_TWINS(cuLaunchKernelEx, _ptsz,
           (const CUlaunchConfig *config, CUfunction function, void **params,
            void **extra),
           launch(__func__, per_thread, config, function, params, extra))

#define LAUNCH_ARGS                                                                      \
    CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,              \
        unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,          \
        CUstream stream, void **params
#define LAUNCH_CONFIG(...)                                                               \
    &(CUlaunchConfig)                                                                    \
    {                                                                                    \
        .gridDimX = gx, .gridDimY = gy, .gridDimZ = gz, .blockDimX = bx,                 \
        .blockDimY = by, .blockDimZ = bz, .sharedMemBytes = shared, .hStream = stream,   \
        __VA_ARGS__                                                                      \
    }

SOFT_TWINS(cuLaunchKernel, _ptsz, (LAUNCH_ARGS, void **extra),
           launch(__func__, per_thread, LAUNCH_CONFIG(.numAttrs = 0), function, params,
                  extra))

static CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                        .value.cooperative = 1};

SOFT_TWINS(cuLaunchCooperativeKernel, _ptsz, (LAUNCH_ARGS),
           launch(__func__, per_thread,
                  LAUNCH_CONFIG(.attrs = &cooperative, .numAttrs = 1), function, params,
                  NULL))

static CUresult launch_host(const char *call, CUstream stream, bool per_thread,
                            CUhostFn function, void *user)
{
    soft_context *context;
    SOFT_TRY(soft_enter_stream_context(call, stream, &context));
    SOFT_TRY(soft_need((const void *)(uintptr_t)function, "fn"));
    const soft_task task = {.kind = SOFT_TASK_HOST,
                            .u.host = {.function = function, .user = user}};
    return soft_stream_submit(context, stream, per_thread, &task, NULL);
}

SOFT_TWINS(cuLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn function, void *user),
           launch_host(__func__, stream, per_thread, function, user))

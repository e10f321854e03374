// SPDX-License-Identifier: Apache-2.0
/* Launching kernels and host functions. */
#include "softcuda/api/exports.h"
#include "softcuda/device/stream.h"
#include "softcuda/rules/rules.h"

/* The event that a kernel records is an edge or a point of the stream, no more (R102). */
static CUresult check_trigger(const soft_stream *stream, const soft_launch *launch)
{
    const bool external = launch->trigger_flags & CU_EVENT_RECORD_EXTERNAL;
    if (launch->trigger == NULL || !soft_rule(R102))
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

/* An event that the kernel records counts as reached when the kernel is done, which is
 * never too early. */
static CUresult submit(soft_context *context, CUstream handle, bool per_thread,
                       const soft_task *task)
{
    if (task->u.launch.trigger == NULL)
        return soft_stream_submit(context, handle, per_thread, task, NULL);
    soft_stream *stream;
    bool captured;
    SOFT_TRY(soft_stream_find(context, handle, per_thread, &stream));
    SOFT_TRY(check_trigger(stream, &task->u.launch));
    SOFT_TRY(soft_stream_submit(context, handle, per_thread, task, &captured));
    return captured ? CUDA_SUCCESS : soft_event_record(task->u.launch.trigger, stream);
}

static CUresult launch(soft_context *context, bool per_thread,
                       const CUlaunchConfig *config, CUfunction function, void **params,
                       void **extra)
{
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
        soft_capture_spoil(context, config->hStream, per_thread, status);
    return status;
}

static CUresult launch_ex(bool per_thread, const char *call, const CUlaunchConfig *config,
                          CUfunction function, void **params, void **extra)
{
    soft_context *context;
    SOFT_TRY(soft_enter_context(call, &context));
    if (config == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "config is NULL");
    return launch(context, per_thread, config, function, params, extra);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function,
                          void **params, void **extra)
{
    return launch_ex(false, __func__, config, function, params, extra);
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig *config, CUfunction function,
                               void **params, void **extra)
{
    return launch_ex(true, __func__, config, function, params, extra);
}

#define LAUNCH_ARGS                                                                      \
    CUfunction function, unsigned int gx, unsigned int gy, unsigned int gz,              \
        unsigned int bx, unsigned int by, unsigned int bz, unsigned int shared,          \
        CUstream stream, void **params
#define LAUNCH_CONFIG                                                                    \
    {                                                                                    \
        .gridDimX = gx, .gridDimY = gy, .gridDimZ = gz, .blockDimX = bx,                 \
        .blockDimY = by, .blockDimZ = bz, .sharedMemBytes = shared, .hStream = stream    \
    }

CUresult cuLaunchKernel(LAUNCH_ARGS, void **extra)
{
    SOFT_ENTER_CONTEXT(context);
    const CUlaunchConfig config = LAUNCH_CONFIG;
    return launch(context, false, &config, function, params, extra);
}

CUresult cuLaunchKernel_ptsz(LAUNCH_ARGS, void **extra)
{
    SOFT_ENTER_CONTEXT(context);
    const CUlaunchConfig config = LAUNCH_CONFIG;
    return launch(context, true, &config, function, params, extra);
}

static CUresult launch_cooperative(soft_context *context, bool per_thread,
                                   CUlaunchConfig config, CUfunction function,
                                   void **params)
{
    CUlaunchAttribute cooperative = {.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE,
                                     .value.cooperative = 1};
    config.attrs = &cooperative;
    config.numAttrs = 1;
    return launch(context, per_thread, &config, function, params, NULL);
}

CUresult cuLaunchCooperativeKernel(LAUNCH_ARGS)
{
    SOFT_ENTER_CONTEXT(context);
    const CUlaunchConfig config = LAUNCH_CONFIG;
    return launch_cooperative(context, false, config, function, params);
}

CUresult cuLaunchCooperativeKernel_ptsz(LAUNCH_ARGS)
{
    SOFT_ENTER_CONTEXT(context);
    const CUlaunchConfig config = LAUNCH_CONFIG;
    return launch_cooperative(context, true, config, function, params);
}

static CUresult launch_host(soft_context *context, CUstream stream, bool per_thread,
                            CUhostFn function, void *user)
{
    if (function == NULL)
        return soft_fail(CUDA_ERROR_INVALID_VALUE, "fn is NULL");
    const soft_task task = {.kind = SOFT_TASK_HOST,
                            .u.host = {.function = function, .user = user}};
    return soft_stream_submit(context, stream, per_thread, &task, NULL);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void *user)
{
    SOFT_ENTER_CONTEXT(context);
    return launch_host(context, stream, false, function, user);
}

CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void *user)
{
    SOFT_ENTER_CONTEXT(context);
    return launch_host(context, stream, true, function, user);
}

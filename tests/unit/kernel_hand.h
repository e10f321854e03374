// SPDX-License-Identifier: Apache-2.0
/* Kernels written by hand as LLVM IR: what the run time does with machine code, without
 * the PTX compiler in between. Block layout by offsetof, as softcuda/ptx writes it. */
#ifndef KERNEL_HAND_H
#define KERNEL_HAND_H
#include "base/fail.h"
#include "base/heap.h"
#include "kernel_run.h"
#include "softcuda/kernel/load/jitload.h"
#include "softcuda/kernel/load/loader.h"
#include "softcuda/kernel/run/place.h"
#include "softcuda/kernel/run/rtcalls.h"

typedef struct hand_unit {
    soft_image image;
    soft_jit_result result;
    const soft_jit_api *jit;
    soft_kernel_env *env;
    soft_fault fault;
    int faults;
} hand_unit;

static inline uint64_t hand_resolve(void *user, const char *name)
{
    (void)user;
    return soft_rtcall_find(name);
}

static inline gph_status hand_open(hand_unit *unit, const char *ir, uint32_t parts,
                                   gph_error *error)
{
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
    memset(unit, 0, sizeof(*unit));
    GPHI_TRY(soft_jit_load(&unit->jit, error));
    const soft_jit_request request = {
        .ir = ir, .ir_bytes = strlen(ir), .part_count = parts, .optimize = 1};
    if (unit->jit->compile(&request, &unit->result) != 0)
        return gphi_fail(error, GPH_E_INVALID, "%s", unit->result.message);
    soft_object objects[SOFT_JIT_PARTS_MAX];
    for (uint32_t i = 0; i < unit->result.object_count; i++)
        objects[i] =
            (soft_object){unit->result.objects[i].bytes, unit->result.objects[i].count};
    const soft_loader_input input = {.objects = objects,
                                     .object_count = unit->result.object_count,
                                     .resolve = hand_resolve};
    GPHI_TRY(soft_image_load(&input, NULL, &unit->image, error));
    return soft_place_add(&unit->image) ? GPH_OK : GPH_E_NO_MEMORY;
}

static inline void hand_close(hand_unit *unit)
{
    soft_place_remove(&unit->image);
    soft_image_unload(&unit->image);
    if (unit->jit != NULL)
        unit->jit->release(&unit->result);
}

static inline void hand_on_fault(void *user, const soft_fault *fault)
{
    hand_unit *unit = user;
    unit->fault = *fault;
    unit->faults++;
}

typedef struct hand_call {
    const char *symbol; /* "b.name" or "t.name" */
    uint32_t grid, block;
    uint32_t safepoints, cooperative, workers;
    uint32_t shared_bytes, scratch_bytes;
    uint64_t timeout_ns;
    const void *params;
    uint32_t repeat;
} hand_call;

/* Runs it in a fresh env; unit->fault is what went wrong, code 0: nothing. */
static inline gph_status hand_run(hand_unit *unit, const hand_call *call,
                                  gph_error *error)
{
    const soft_image_function *function = soft_image_find(&unit->image, call->symbol);
    if (function == NULL)
        return gphi_fail(error, GPH_E_INVALID, "no function %s", call->symbol);
    const ptx_kernel kernel = {.name = call->symbol + 2,
                               .path =
                                   call->symbol[0] == 'b' ? PTX_PATH_FAST : PTX_PATH_SLOW,
                               .uses_safepoints = call->safepoints,
                               .static_shared_bytes = call->shared_bytes,
                               .scratch_fixed_bytes = call->scratch_bytes};
    soft_kernel_code code = {.kernel = &kernel};
    const uintptr_t entry = (uintptr_t)unit->image.base + function->start;
    if (kernel.path == PTX_PATH_FAST)
        code.entry.block = (ptx_block_fn *)entry;
    else
        code.entry.thread = (ptx_thread_fn *)entry;
    unit->fault = (soft_fault){0};
    unit->faults = 0;
    const soft_kernel_env_options options = {
        .timeout_ns = call->timeout_ns, .on_fault = hand_on_fault, .user = unit};
    GPHI_TRY(soft_kernel_env_create(&options, &unit->env, error));
    soft_kernel_sync sync = {0};
    const soft_kernel_dims dims = {.grid = {call->grid, 1, 1},
                                   .block = {call->block, 1, 1},
                                   .cooperative = call->cooperative,
                                   .sync = &sync};
    soft_kernel_launch launch;
    gph_status status =
        soft_kernel_launch_init(&launch, unit->env, &code, &dims, call->params, error);
    if (status == GPH_OK) {
        kernel_unit stand_in = {.workers = call->workers};
        soft_work work = {.kind = SOFT_WORK_PARTS};
        soft_kernel_launch_work(&launch, &work);
        for (uint32_t i = 0; i <= call->repeat && status == GPH_OK; i++)
            status = kernel_run_work(&stand_in, &work, error);
    }
    soft_kernel_env_destroy(unit->env);
    return status;
}
#endif

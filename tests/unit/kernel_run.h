// SPDX-License-Identifier: Apache-2.0
/* Running PTX text without the driver API: compile, bind, run a grid, look at memory.
 * Buffers are ordinary memory: a device address is a host address.
 *
 *     gph_error error;
 *     kernel_unit *unit = kernel_open(ptx, KERNEL_SLOW, &error);
 *     kernel_call call = {.name = "add", .grid = {4}, .block = {64}};
 *     struct { uint64_t out; uint32_t n; } params = {(uint64_t)(uintptr_t)out, 256};
 *     CHECK_OK(kernel_run(unit, &call, &params, &error), error);
 *     kernel_close(unit); */
#ifndef KERNEL_RUN_H
#define KERNEL_RUN_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "softcuda/engine/engine.h"
#include "softcuda/kernel/run/launch.h"

enum {
    KERNEL_FAST = 0,
    KERNEL_SLOW = 1,
    KERNEL_CHECK = 2,
    KERNEL_CACHE = 4,
    KERNEL_HALF = 8 /* times ptx_half: what the processor may be asked of f16 */
};

typedef struct kernel_unit {
    soft_code *code;
    soft_binding *binding;
    soft_kernel_env *env;
    void **globals;
    uint32_t workers;    /* 0: two */
    uint64_t timeout_ns; /* as of the next call */
    void *(*check)(void *user, uint64_t address, uint64_t bytes, bool write, char *reason,
                   size_t reason_bytes);
    soft_fault fault; /* of the last call, code 0: none */
} kernel_unit;

typedef struct kernel_call {
    const char *name;
    uint32_t grid[3], block[3]; /* 0 means 1 */
    uint32_t dynamic_shared_bytes, cooperative;
} kernel_call;

static inline void kernel_close(kernel_unit *unit)
{
    if (unit == NULL)
        return;
    const uint32_t count = unit->code ? soft_code_global_count(unit->code) : 0;
    for (uint32_t i = 0; unit->globals && i < count; i++)
        free(unit->globals[i]);
    free(unit->globals);
    soft_binding_destroy(unit->binding);
    soft_code_release(unit->code);
    free(unit);
}

/* Compiles and binds; NULL, with the error, if that fails. */
static inline kernel_unit *kernel_open(const char *ptx, int flags, gph_error *error)
{
#ifdef KERNEL_RUN_JIT
    setenv("SOFTCUDA_JIT", KERNEL_RUN_JIT, 0);
#endif
    soft_code_options options;
    soft_code_options_init(&options); /* the tier */
    options.force_slow = (flags & KERNEL_SLOW) != 0;
    options.check_memory = (flags & KERNEL_CHECK) != 0;
    options.half = (uint32_t)flags / KERNEL_HALF;
    options.cache = flags & KERNEL_CACHE ? NULL : "off";
    kernel_unit *unit = calloc(1, sizeof(*unit));
    if (unit == NULL || soft_code_create(ptx, 0, &options, &unit->code, error) != 0) {
        free(unit);
        return NULL;
    }
    const uint32_t count = soft_code_global_count(unit->code);
    uint64_t *addresses = calloc(count + 1u, sizeof(*addresses));
    unit->globals = calloc(count + 1u, sizeof(*unit->globals));
    for (uint32_t i = 0; addresses && unit->globals && i < count; i++) {
        const soft_code_global *global = soft_code_global_at(unit->code, i);
        unit->globals[i] = aligned_alloc(256, (global->bytes + 256) & ~255ull);
        addresses[i] = (uint64_t)(uintptr_t)unit->globals[i];
    }
    const gph_status status =
        soft_binding_create(unit->code, addresses, &unit->binding, error);
    free(addresses);
    if (status != 0) {
        kernel_close(unit);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        soft_binding_init_global(unit->binding, i, unit->globals[i]);
    return unit;
}

/* The memory of a global variable, or NULL. */
static inline void *kernel_global(kernel_unit *unit, const char *name)
{
    for (uint32_t i = 0; i < soft_code_global_count(unit->code); i++)
        if (strcmp(soft_code_global_at(unit->code, i)->name, name) == 0)
            return unit->globals[i];
    return NULL;
}

static inline void kernel_note_fault(void *user, const soft_fault *fault)
{
    ((kernel_unit *)user)->fault = *fault;
}

static inline gph_status kernel_run_work(const kernel_unit *unit, const soft_work *work,
                                         gph_error *error)
{
    const soft_engine_options options = {.workers = unit->workers ? unit->workers : 2};
    soft_engine *engine;
    soft_queue *queue;
    gph_status status = soft_engine_create(&options, &engine, error);
    if (status != 0)
        return status;
    status = soft_queue_create(engine, 0, &queue, error);
    if (status == 0) {
        soft_point point;
        status = soft_queue_submit(queue, work, NULL, 0, &point);
        if (status == 0)
            soft_point_wait(engine, point);
        soft_queue_release(queue);
    }
    soft_engine_destroy(engine);
    return status;
}

/* Runs a grid and waits for it. Gives the fault's code (700 ...) if the kernel failed,
 * with its text as the message. `params`: the kernel's parameter bytes. */
static inline gph_status kernel_run(kernel_unit *unit, const kernel_call *call,
                                    const void *params, gph_error *error)
{
    const soft_kernel_code *code = soft_binding_find(unit->binding, call->name);
    if (code == NULL) {
        snprintf(error->message, sizeof(error->message), "no kernel %s", call->name);
        return 500;
    }
    unit->fault = (soft_fault){0};
    const soft_kernel_env_options options = {.timeout_ns = unit->timeout_ns,
                                             .on_fault = kernel_note_fault,
                                             .check = unit->check,
                                             .user = unit};
    gph_status status = soft_kernel_env_create(&options, &unit->env, error);
    if (status != 0)
        return status;
    soft_kernel_sync sync = {0};
    soft_kernel_dims dims = {.dynamic_shared_bytes = call->dynamic_shared_bytes,
                             .cooperative = call->cooperative,
                             .sync = &sync};
    for (int i = 0; i < 3; i++) {
        dims.grid[i] = call->grid[i] ? call->grid[i] : 1;
        dims.block[i] = call->block[i] ? call->block[i] : 1;
    }
    soft_kernel_launch *launch = calloc(1, sizeof(*launch));
    void *copy = aligned_alloc(64, (code->kernel->param_bytes + 64) & ~63u);
    if (code->kernel->param_bytes != 0)
        memcpy(copy, params, code->kernel->param_bytes);
    status = soft_kernel_ready(code, error);
    if (status == 0)
        status = soft_kernel_launch_init(launch, unit->env, code, &dims, copy, error);
    if (status == 0) {
        soft_work work = {.kind = SOFT_WORK_PARTS};
        soft_kernel_launch_work(launch, &work);
        status = kernel_run_work(unit, &work, error);
    }
    if (status == 0 && unit->fault.code != 0) {
        status = unit->fault.code;
        snprintf(error->message, sizeof(error->message), "%s", unit->fault.text);
    }
    free(copy);
    free(launch);
    soft_kernel_env_destroy(unit->env);
    unit->env = NULL;
    return status;
}

static inline const ptx_kernel *kernel_about(const kernel_unit *unit, const char *name)
{
    const soft_kernel_code *code = soft_binding_find(unit->binding, name);
    return code != NULL ? code->kernel : NULL;
}
#endif

// SPDX-License-Identifier: Apache-2.0
/* Kernel nodes that kernels change: R78, R79.
 *
 *   soft_updatable      a node's handle on the device, as long as node and executable
 *        └─ active ──►  soft_device_node: what the device has of it, of the executable
 *                       that was uploaded or launched last
 *
 * A change is written down (`wanted`) and taken when the node begins, so that nothing that
 * runs is changed: it counts in the launch that has not come to the node yet, else in the
 * next one. New parameters from the host are another soft_device_node: an upload or a
 * launch makes it the active one, and what kernels changed in the old one is over. */
#ifndef SOFT_KERNEL_RUN_NODEUPDATE_H
#define SOFT_KERNEL_RUN_NODEUPDATE_H

#include <pthread.h>

#include "softcuda/kernel/run/launch.h"

typedef struct soft_updatable soft_updatable; /* any thread */

typedef struct soft_device_node {
    atomic_uint references;
    gph_allocator heap;
    const void *owner;         /* the executable that it is of */
    bool was_active;           /* once, at least; under the mutex of all handles */
    soft_kernel_launch launch; /* whoever runs it alone */
    soft_kernel_sync sync;     /* its own */
    uint32_t param_bytes;
    pthread_mutex_t mutex; /* of all below */
    bool is_changed;       /* since it ran last */
    bool enabled;
    uint32_t grid[3];
    unsigned char *wanted;               /* parameters, after `params` */
    _Alignas(16) unsigned char params[]; /* what the launch reads */
} soft_device_node;

/* Not NULL until GPH_E_NO_MEMORY: with a number that no other has had. */
GPH_CHECKED gph_status soft_updatable_create(const gph_allocator *allocator,
                                             soft_updatable **out, gph_error *error);
uint64_t soft_updatable_handle(const soft_updatable *updatable);
void soft_updatable_retain(soft_updatable *updatable);
void soft_updatable_release(soft_updatable *updatable); /* takes NULL */
/* Kernels change this one from now on, if they never did; with `again` also where they
 * change none. */
void soft_updatable_activate(soft_updatable *updatable, soft_device_node *node,
                             bool again);
/* Whether a node with that number is there. */
bool soft_updatable_known(uint64_t handle);
/* If they change one of `owner`, they change none from now on, and get an error. */
void soft_updatable_leave(soft_updatable *updatable, const void *owner);

/* A copy of a launch that kernels may change. */
GPH_CHECKED gph_status soft_device_node_create(const soft_kernel_launch *launch,
                                               bool enabled,
                                               const gph_allocator *allocator,
                                               soft_device_node **out, gph_error *error);
void soft_device_node_release(soft_device_node *node); /* takes NULL */
/* The engine's run function: takes the changes, then all blocks on this worker. */
void soft_device_node_run(void *node, soft_worker *worker);

/* ---- changes, by kernels: 0, or the error that they get. `env`: the caller's ---- */

uint32_t soft_node_set_param(const soft_kernel_env *env, uint64_t handle, uint64_t offset,
                             const void *value, uint64_t bytes);
uint32_t soft_node_set_enabled(const soft_kernel_env *env, uint64_t handle, bool enabled);
uint32_t soft_node_set_grid(const soft_kernel_env *env, uint64_t handle,
                            const uint32_t grid[3]);

#endif

// SPDX-License-Identifier: Apache-2.0
/* Kernel nodes that kernels change. */
#include "softcuda/kernel/run/nodeupdate.h"

#include <string.h>

#include "base/fail.h"
#include "base/heap.h"

enum { ROWS = 64, INVALID = 1 };

struct soft_updatable {
    uint64_t handle;
    gph_allocator heap;
    uint32_t references; /* all below under `mutex` */
    soft_device_node *active;
    soft_updatable *next; /* of its row */
};

/* Handles come from kernels, which may give any number: they are looked up. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static soft_updatable *rows[ROWS];
static uint64_t last_handle;

/* ---- handles ----------------------------------------------------------------------- */

gph_status soft_updatable_create(const gph_allocator *allocator, soft_updatable **out,
                                 gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    soft_updatable *made = gphi_heap_alloc(heap, sizeof(*made));
    GPHI_TRY(gphi_made(error, made, "a node that kernels change"));
    made->heap = heap;
    made->references = 1;
    pthread_mutex_lock(&mutex);
    made->handle = ++last_handle;
    made->next = rows[made->handle % ROWS];
    rows[made->handle % ROWS] = made;
    pthread_mutex_unlock(&mutex);
    *out = made;
    return GPH_OK;
}

uint64_t soft_updatable_handle(const soft_updatable *updatable)
{
    return updatable->handle;
}

void soft_updatable_retain(soft_updatable *updatable)
{
    pthread_mutex_lock(&mutex);
    updatable->references++;
    pthread_mutex_unlock(&mutex);
}

void soft_updatable_release(soft_updatable *updatable)
{
    if (!updatable)
        return;
    pthread_mutex_lock(&mutex);
    const bool is_last = --updatable->references == 0;
    soft_updatable **at = &rows[updatable->handle % ROWS];
    while (is_last && *at != updatable)
        at = &(*at)->next;
    if (is_last)
        *at = updatable->next;
    pthread_mutex_unlock(&mutex);
    if (!is_last)
        return;
    soft_device_node_release(updatable->active);
    gphi_heap_free(updatable->heap, updatable, sizeof(*updatable));
}

void soft_updatable_activate(soft_updatable *updatable, soft_device_node *node,
                             bool again)
{
    soft_device_node *old = NULL;
    pthread_mutex_lock(&mutex);
    if (!node->was_active || (again && !updatable->active)) {
        atomic_fetch_add_explicit(&node->references, 1, memory_order_relaxed);
        old = updatable->active;
        updatable->active = node;
        node->was_active = true;
    }
    pthread_mutex_unlock(&mutex);
    soft_device_node_release(old);
}

void soft_updatable_leave(soft_updatable *updatable, const void *owner)
{
    soft_device_node *gone = NULL;
    pthread_mutex_lock(&mutex);
    if (updatable->active && updatable->active->owner == owner) {
        gone = updatable->active;
        updatable->active = NULL;
    }
    pthread_mutex_unlock(&mutex);
    soft_device_node_release(gone);
}

static const soft_updatable *find_locked(uint64_t handle)
{
    const soft_updatable *at = rows[handle % ROWS];
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

bool soft_updatable_known(uint64_t handle)
{
    pthread_mutex_lock(&mutex);
    const bool known = find_locked(handle);
    pthread_mutex_unlock(&mutex);
    return known;
}

/* What the device has of a node, held for the caller; NULL: none that it may change. */
static soft_device_node *find(const soft_kernel_env *env, uint64_t handle)
{
    soft_device_node *found = NULL;
    pthread_mutex_lock(&mutex);
    const soft_updatable *at = find_locked(handle);
    if (at && at->active && at->active->launch.env == env) {
        found = at->active;
        atomic_fetch_add_explicit(&found->references, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&mutex);
    return found;
}

/* ---- what the device has ----------------------------------------------------------- */

static size_t node_bytes(uint32_t param_bytes)
{
    return sizeof(soft_device_node) + 2 * (size_t)param_bytes;
}

gph_status soft_device_node_create(const soft_kernel_launch *launch, bool enabled,
                                   const gph_allocator *allocator, soft_device_node **out,
                                   gph_error *error)
{
    const gph_allocator heap = gphi_heap(allocator);
    const uint32_t bytes = launch->code->kernel->param_bytes;
    soft_device_node *node = gphi_heap_alloc(heap, node_bytes(bytes));
    GPHI_TRY(gphi_made(error, node, "%u bytes of parameters", bytes));
    atomic_init(&node->references, 1);
    node->heap = heap;
    node->param_bytes = bytes;
    node->wanted = node->params + bytes;
    node->enabled = enabled;
    pthread_mutex_init(&node->mutex, NULL);
    if (bytes > 0) {
        memcpy(node->params, launch->grid.params, bytes);
        memcpy(node->wanted, launch->grid.params, bytes);
    }
    memcpy(node->grid, launch->grid.nctaid, sizeof(node->grid));
    soft_kernel_launch_copy(&node->launch, launch, node->params, &node->sync);
    *out = node;
    return GPH_OK;
}

void soft_device_node_release(soft_device_node *node)
{
    /* acq_rel: the last one sees all that others did with it. */
    if (!node ||
        atomic_fetch_sub_explicit(&node->references, 1, memory_order_acq_rel) != 1)
        return;
    pthread_mutex_destroy(&node->mutex);
    gphi_heap_free(node->heap, node, node_bytes(node->param_bytes));
}

static bool take_changes(soft_device_node *node)
{
    pthread_mutex_lock(&node->mutex);
    if (node->is_changed) {
        memcpy(node->params, node->wanted, node->param_bytes);
        soft_kernel_launch_resize(&node->launch, node->grid);
    }
    node->is_changed = false;
    const bool enabled = node->enabled;
    pthread_mutex_unlock(&node->mutex);
    return enabled;
}

void soft_device_node_run(void *argument, soft_worker *worker)
{
    soft_device_node *node = argument;
    if (!take_changes(node))
        return;
    const uint64_t count = node->launch.part_count;
    soft_parts parts = {.have = count, .total = count};
    if (node->launch.is_single)
        soft_kernel_launch_run_single(&node->launch, &parts, worker);
    else
        soft_kernel_launch_run(&node->launch, &parts, worker);
}

/* ---- changes ----------------------------------------------------------------------- */

uint32_t soft_node_set_param(const soft_kernel_env *env, uint64_t handle, uint64_t offset,
                             const void *value, uint64_t bytes)
{
    soft_device_node *node = find(env, handle);
    if (!node)
        return INVALID;
    const bool fits = bytes <= node->param_bytes && offset <= node->param_bytes - bytes;
    if (fits && bytes > 0) {
        pthread_mutex_lock(&node->mutex);
        memcpy(node->wanted + offset, value, bytes);
        node->is_changed = true;
        pthread_mutex_unlock(&node->mutex);
    }
    soft_device_node_release(node);
    return fits ? 0 : INVALID;
}

uint32_t soft_node_set_enabled(const soft_kernel_env *env, uint64_t handle, bool enabled)
{
    soft_device_node *node = find(env, handle);
    if (!node)
        return INVALID;
    pthread_mutex_lock(&node->mutex);
    node->enabled = enabled;
    pthread_mutex_unlock(&node->mutex);
    soft_device_node_release(node);
    return 0;
}

uint32_t soft_node_set_grid(const soft_kernel_env *env, uint64_t handle,
                            const uint32_t grid[3])
{
    soft_device_node *node = find(env, handle);
    if (!node)
        return INVALID;
    const uint32_t *cluster = node->launch.grid.cluster;
    const bool fits = soft_kernel_grid_fits(grid) && grid[0] % cluster[0] == 0 &&
                      grid[1] % cluster[1] == 0 && grid[2] % cluster[2] == 0;
    if (fits) {
        pthread_mutex_lock(&node->mutex);
        memcpy(node->grid, grid, sizeof(node->grid));
        node->is_changed = true;
        pthread_mutex_unlock(&node->mutex);
    }
    soft_device_node_release(node);
    return fits ? 0 : INVALID;
}

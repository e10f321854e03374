// SPDX-License-Identifier: Apache-2.0
/* The run time's functions of dynamic parallelism, as kernels call them: what they ask for is
 * checked here and written down; it runs when the grid is over (nested.c). */
#include <string.h>

#include "base/fail.h"
#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/nested.h"
#include "softcuda/kernel/run/rtreach.h"
#include "softcuda/kernel/run/runner.h"
#include "softcuda/ptx/nestedcalls.h"

enum {
    NON_BLOCKING = 1,
    BLOCKING_SYNC = 1,
    DISABLE_TIMING = 2,
    DEVICE_TO_DEVICE = 3,
    DEFAULT_DIRECTION = 4,
    OBJECTS_MAX = 1 << 20,
    EVENTS_MAX = 4096, /* of a grid, as on an H200 */
    ADDRESS_LEAST = 4096,
    PARAMETERS_MAX = 32764
};
/* Handles look like addresses where nothing is: | serial | object + 1 | tag | */
#define HANDLE_TOP (UINT64_C(0x5d) << 48)
#define HANDLE_TAG 8u

/* A call by a thread. */
typedef struct call {
    ptx_block *view;
    soft_kernel_launch *launch;
    soft_nested *nested;
    uint32_t thread;
    const uint64_t *a;
} call;

/* ---- errors ------------------------------------------------------------------------ */

static uint32_t find_error(const call *c)
{
    const soft_nested_error *errors = c->nested->errors.items;
    uint32_t i = 0;
    while (i < c->nested->errors.count &&
           (errors[i].block != c->view->block_index || errors[i].thread != c->thread))
        i++;
    return i;
}

/* As many as there are threads with one: few, or the program is wrong. */
static uint32_t set_error(const call *c, uint32_t error)
{
    if (error == 0)
        return 0;
    pthread_mutex_lock(&c->nested->lock);
    const uint32_t i = find_error(c);
    const soft_nested_error own = {c->view->block_index, c->thread, error};
    if (i < c->nested->errors.count)
        *(soft_nested_error *)gphi_vec_at(&c->nested->errors, i) = own;
    else
        gphi_ignore(gphi_vec_push(&c->nested->errors, &own),
                    "the call itself gives the error");
    pthread_mutex_unlock(&c->nested->lock);
    return error;
}

static uint32_t last_error(const call *c, bool resets)
{
    uint32_t error = 0;
    pthread_mutex_lock(&c->nested->lock);
    const uint32_t i = find_error(c);
    if (i < c->nested->errors.count) {
        error = ((const soft_nested_error *)gphi_vec_at(&c->nested->errors, i))->error;
        if (resets)
            gphi_vec_remove(&c->nested->errors, i);
    }
    pthread_mutex_unlock(&c->nested->lock);
    return error;
}

/* ---- memory of the kernel's -------------------------------------------------------- */

/* A pointer that is wrong ends the context. */
static void give(const call *c, uint64_t address, const void *from, uint32_t bytes)
{
    const soft_reach by = {c->view, c->thread, c->launch->env->options.check};
    (void)soft_text_copy(
        soft_reach_at(&by, address, bytes, PTX_CHECK_WRITE | PTX_CHECK_UNALIGNED), from,
        bytes);
}

static void take(const call *c, uint64_t address, void *to, uint32_t bytes)
{
    const soft_reach by = {c->view, c->thread, c->launch->env->options.check};
    (void)soft_text_copy(to, soft_reach_at(&by, address, bytes, PTX_CHECK_UNALIGNED),
                         bytes);
}

static uint32_t give_word(const call *c, uint64_t address, uint64_t value, uint32_t bytes)
{
    if (address == 0)
        return SOFT_NESTED_INVALID_VALUE;
    give(c, address, &value, bytes);
    return 0;
}

/* ---- streams and events ------------------------------------------------------------ */

static uint64_t handle_of(const soft_nested *nested, uint64_t index)
{
    return HANDLE_TOP | (uint64_t)(nested->serial & 0xfffff) << 28 | (index + 1) << 4 |
           HANDLE_TAG;
}

/* With the lock. NULL: not of this grid. What was destroyed is still found, as on an
 * H200, where a handle is a number. */
static soft_nested_object *find_object(const call *c, uint64_t handle, bool is_event)
{
    const soft_nested *nested = c->nested;
    const uint64_t index = (handle >> 4 & 0xffffff) - 1;
    if (index >= nested->objects.count || handle != handle_of(nested, index))
        return NULL;
    soft_nested_object *object = gphi_vec_at(&nested->objects, index);
    return object->is_event == is_event ? object : NULL;
}

static uint32_t make_object(const call *c, uint64_t address, bool is_event)
{
    uint64_t handle = 0;
    pthread_mutex_lock(&c->nested->lock);
    const size_t index = c->nested->objects.count;
    const bool fits =
        index < OBJECTS_MAX && (!is_event || c->nested->events < EVENTS_MAX);
    soft_nested_object *object = fits ? gphi_vec_add(&c->nested->objects, 1) : NULL;
    if (object) {
        c->nested->events += is_event;
        *object =
            (soft_nested_object){.block = c->view->block_index, .is_event = is_event};
        handle = handle_of(c->nested, index);
    }
    pthread_mutex_unlock(&c->nested->lock);
    if (handle == 0)
        return SOFT_NESTED_NO_MEMORY;
    return give_word(c, address, handle, 8);
}

static _Noreturn void end_context(const call *c, gph_status code, uint64_t address,
                                  const char *why)
{
    soft_runner *runner = soft_block_from(c->view)->runner;
    runner->raised.has_thread = true;
    runner->raised.thread = c->thread;
    soft_runner_raise(runner, code, address, why);
}

static uint32_t destroy_object(const call *c, uint64_t handle, bool is_event)
{
    pthread_mutex_lock(&c->nested->lock);
    soft_nested_object *object = find_object(c, handle, is_event);
    if (object && !object->is_destroyed) {
        object->is_destroyed = true;
        c->nested->events -= is_event;
    }
    pthread_mutex_unlock(&c->nested->lock);
    return object ? 0 : SOFT_NESTED_INVALID_VALUE;
}

/* A GPU reads what an event points to. */
static uint32_t find_event(const call *c, uint64_t handle, uint32_t *index)
{
    if (handle == 0)
        return SOFT_NESTED_INVALID_VALUE;
    pthread_mutex_lock(&c->nested->lock);
    const bool found = find_object(c, handle, true);
    pthread_mutex_unlock(&c->nested->lock);
    if (!found)
        end_context(c, SOFT_ERROR_ILLEGAL_ADDRESS, handle,
                    "the handle is of no event of this grid");
    *index = (uint32_t)((handle >> 4 & 0xffffff) - 1);
    return 0;
}

/* Whether work may go to it. */
static bool is_stream(const call *c, uint64_t stream)
{
    if (stream <= SOFT_NESTED_FORGET)
        return true;
    pthread_mutex_lock(&c->nested->lock);
    const bool found = find_object(c, stream, false);
    pthread_mutex_unlock(&c->nested->lock);
    return found;
}

/* ---- launches ---------------------------------------------------------------------- */

static void append(const call *c, soft_nested_item *item, uint64_t stream)
{
    item->block = c->view->block_index;
    item->stream = stream <= SOFT_NESTED_PER_THREAD ? 0 : stream;
    pthread_mutex_lock(&c->nested->lock);
    soft_nested_append(stream == SOFT_NESTED_TAIL ? &c->nested->tails : &c->nested->items,
                       item);
    pthread_mutex_unlock(&c->nested->lock);
}

/* Of the kernel itself and of its device; a GPU has one error for all of it. */
static uint32_t check_kernel(const call *c, soft_nested_item *item,
                             const soft_nested_kernel *kernel)
{
    gph_error error;
    const uint32_t *k = item->dims.cluster, *g = item->dims.grid;
    if (k[0] != 0 && (g[0] % k[0] != 0 || g[1] % k[1] != 0 || g[2] % k[2] != 0))
        return SOFT_NESTED_INVALID_CLUSTER;
    if (item->dims.dynamic_shared_bytes > kernel->dynamic_max ||
        soft_kernel_launch_init(&item->launch, c->launch->env, kernel->code, &item->dims,
                                item->params, &error) != GPH_OK)
        return SOFT_NESTED_INVALID_CONFIGURATION;
    return 0;
}

static bool reserve_pending(soft_kernel_env *env)
{
    const uint64_t most = atomic_load_explicit(&env->pending_most, memory_order_relaxed);
    if (atomic_fetch_add_explicit(&env->pending, 1, memory_order_relaxed) < most)
        return true;
    atomic_fetch_sub_explicit(&env->pending, 1, memory_order_relaxed);
    return false;
}

static uint32_t make_item(const call *c, const uint32_t grid[3], const uint32_t block[3],
                          uint32_t shared, soft_nested_item **out)
{
    soft_kernel_env *env = c->launch->env;
    soft_nested_kernel kernel = {.code = NULL};
    env->options.nested->kernel(env->options.user, c->a[0], &kernel);
    if (!kernel.code)
        end_context(c, SOFT_ERROR_ILLEGAL_ADDRESS, c->a[0],
                    "the address is not a kernel's");
    soft_nested_item *item = soft_nested_item_make(env, kernel.code->kernel->param_bytes);
    if (!item)
        return SOFT_NESTED_NO_MEMORY;
    item->kind = SOFT_NESTED_KERNEL;
    item->room = kernel.code->kernel->param_bytes;
    item->code = kernel.code;
    item->cost_ns = kernel.cost_ns;
    item->dims.dynamic_shared_bytes = shared;
    memcpy(item->dims.grid, grid, sizeof(item->dims.grid));
    memcpy(item->dims.block, block, sizeof(item->dims.block));
    memcpy(item->dims.cluster, kernel.cluster, sizeof(item->dims.cluster));
    const uint32_t error = check_kernel(c, item, &kernel);
    if (error != 0) {
        soft_nested_item_free(env, item);
        return error;
    }
    *out = item;
    return 0;
}

static uint64_t keep_unused(const call *c, soft_nested_item *item)
{
    pthread_mutex_lock(&c->nested->lock);
    item->next = c->nested->unused;
    c->nested->unused = item;
    pthread_mutex_unlock(&c->nested->lock);
    return (uint64_t)(uintptr_t)item->params;
}

static uint64_t get_buffer(const call *c)
{
    uint32_t grid[3], block[3];
    soft_nested_item *item = NULL;
    memcpy(grid, (const void *)(uintptr_t)c->a[1], sizeof(grid));
    memcpy(block, (const void *)(uintptr_t)c->a[2], sizeof(block));
    if (set_error(c, make_item(c, grid, block, (uint32_t)c->a[3], &item)) != 0)
        return 0;
    return keep_unused(c, item);
}

/* The one whose parameters these are, taken out, or NULL. */
static soft_nested_item *take_unused(const call *c, uint64_t params)
{
    soft_nested_item *found = NULL;
    pthread_mutex_lock(&c->nested->lock);
    for (soft_nested_item **at = &c->nested->unused; *at && !found; at = &(*at)->next)
        if ((uint64_t)(uintptr_t)(*at)->params == params) {
            found = *at;
            *at = found->next;
            break;
        }
    pthread_mutex_unlock(&c->nested->lock);
    return found;
}

static soft_nested_item *need_unused(const call *c, uint64_t params)
{
    soft_nested_item *item = take_unused(c, params);
    if (!item)
        end_context(c, SOFT_ERROR_ILLEGAL_ADDRESS, params,
                    "a launch with parameters that were not asked for, or were launched");
    return item;
}

/* Its depth counts from the launch of the host, which has 0; a tail has its parent's. */
static uint32_t launch_item(const call *c, soft_nested_item *item, uint64_t stream)
{
    uint32_t error = 0;
    const uint32_t depth = c->launch->depth + (stream != SOFT_NESTED_TAIL ? 1u : 0u);
    item->launch.depth = depth & 0x7fff;
    if (!is_stream(c, stream))
        error = SOFT_NESTED_INVALID_VALUE;
    else if (depth >= SOFT_NESTED_DEPTH)
        error = SOFT_NESTED_TOO_DEEP;
    else if (!reserve_pending(c->launch->env))
        error = SOFT_NESTED_TOO_MANY;
    item->is_pending = error == 0;
    if (error == 0)
        append(c, item, stream);
    else
        soft_nested_item_free(c->launch->env, item);
    return error;
}

/* The first form of both, of CUDA 5: parameters of a size, and a launch that says the rest. */
static uint64_t get_room(const call *c)
{
    soft_nested_item *item =
        c->a[1] <= PARAMETERS_MAX ? soft_nested_item_make(c->launch->env, c->a[1]) : NULL;
    if (!item) {
        set_error(c, SOFT_NESTED_NO_MEMORY);
        return 0;
    }
    item->room = (uint32_t)c->a[1];
    return keep_unused(c, item);
}

static uint32_t launch_room(const call *c)
{
    soft_nested_item *room = need_unused(c, c->a[1]), *item = NULL;
    uint32_t grid[3], block[3];
    memcpy(grid, (const void *)(uintptr_t)c->a[2], sizeof(grid));
    memcpy(block, (const void *)(uintptr_t)c->a[3], sizeof(block));
    const uint32_t error = make_item(c, grid, block, (uint32_t)c->a[4], &item);
    if (error == 0)
        memcpy(item->params, room->params,
               room->room < item->room ? room->room : item->room);
    soft_nested_item_free(c->launch->env, room);
    return error != 0 ? error : launch_item(c, item, c->a[5]);
}

/* ---- copies, records, waits -------------------------------------------------------- */

/* Memory of the block itself cannot be given to others. */
static bool is_wrong(const call *c, uint64_t address)
{
    const soft_kernel_launch *launch = c->launch;
    const uint64_t shared = (uint64_t)(uintptr_t)c->view->shared;
    const uint64_t local = (uint64_t)(uintptr_t)c->view->local;
    return address < ADDRESS_LEAST || address - shared < launch->shared_room ||
           address - local < launch->local_bytes;
}

static uint32_t check_copy(const call *c, const soft_nested_copy *copy, uint64_t stream)
{
    if (!is_stream(c, stream))
        return SOFT_NESTED_INVALID_VALUE;
    if (copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return 0;
    if (copy->height > 1 || copy->depth > 1) {
        if (copy->fills && copy->dst_pitch < copy->width)
            return SOFT_NESTED_INVALID_VALUE;
        if (!copy->fills &&
            (copy->dst_pitch < copy->width || copy->src_pitch < copy->width))
            return SOFT_NESTED_INVALID_PITCH;
    }
    return is_wrong(c, copy->dst) || (!copy->fills && is_wrong(c, copy->src))
               ? SOFT_NESTED_INVALID_VALUE
               : 0;
}

static uint32_t add_copy(const call *c, const soft_nested_copy *copy, uint64_t stream)
{
    const uint32_t error = check_copy(c, copy, stream);
    if (error != 0 || copy->width == 0 || copy->height == 0 || copy->depth == 0)
        return error;
    soft_nested_item *item = soft_nested_item_make(c->launch->env, 0);
    if (!item)
        return SOFT_NESTED_NO_MEMORY;
    item->kind = SOFT_NESTED_COPY;
    item->copy = *copy;
    append(c, item, stream);
    return 0;
}

/* struct cudaPitchedPtr, cudaExtent and the head of cudaMemcpy3DParms of driver_types.h. */
typedef struct pitched {
    uint64_t at, pitch, xsize, ysize;
} pitched;
typedef struct copy_3d {
    uint64_t src_array, src_pos[3];
    pitched src;
    uint64_t dst_array, dst_pos[3];
    pitched dst;
    uint64_t extent[3];
    uint32_t kind;
} copy_3d;

static uint64_t place_of(const pitched *p, const uint64_t pos[3])
{
    return p->at + pos[0] + p->pitch * (pos[1] + p->ysize * pos[2]);
}

static uint32_t add_copy_3d(const call *c)
{
    copy_3d p;
    if (c->a[0] == 0)
        return SOFT_NESTED_INVALID_VALUE;
    take(c, c->a[0], &p, sizeof(p));
    if (p.src_array != 0 || p.dst_array != 0)
        return SOFT_NESTED_INVALID_VALUE;
    const soft_nested_copy copy = {.dst = place_of(&p.dst, p.dst_pos),
                                   .src = place_of(&p.src, p.src_pos),
                                   .dst_pitch = p.dst.pitch,
                                   .src_pitch = p.src.pitch,
                                   .dst_slice = p.dst.pitch * p.dst.ysize,
                                   .src_slice = p.src.pitch * p.src.ysize,
                                   .width = p.extent[0],
                                   .height = p.extent[1],
                                   .depth = p.extent[2]};
    return add_copy(c, &copy, c->a[1]);
}

static uint32_t add_fill_3d(const call *c)
{
    pitched p;
    uint64_t extent[3];
    memcpy(&p, (const void *)(uintptr_t)c->a[0], sizeof(p));
    memcpy(extent, (const void *)(uintptr_t)c->a[2], sizeof(extent));
    const soft_nested_copy fill = {.dst = p.at,
                                   .dst_pitch = p.pitch,
                                   .dst_slice = p.pitch * p.ysize,
                                   .width = extent[0],
                                   .height = extent[1],
                                   .depth = extent[2],
                                   .fills = true,
                                   .value = (uint8_t)c->a[1]};
    return add_copy(c, &fill, c->a[3]);
}

static uint32_t copy_or_fill(const call *c, uint32_t which)
{
    const uint64_t *a = c->a;
    const uint64_t direction = which == PTX_NESTED_COPY      ? a[3]
                               : which == PTX_NESTED_COPY_2D ? a[6]
                                                             : DEFAULT_DIRECTION;
    if (direction != DEVICE_TO_DEVICE && direction != DEFAULT_DIRECTION)
        return SOFT_NESTED_INVALID_DIRECTION;
    switch (which) {
    case PTX_NESTED_COPY:
        return add_copy(
            c,
            &(soft_nested_copy){
                .dst = a[0], .src = a[1], .width = a[2], .height = 1, .depth = 1},
            a[4]);
    case PTX_NESTED_COPY_2D:
        return add_copy(c,
                        &(soft_nested_copy){.dst = a[0],
                                            .dst_pitch = a[1],
                                            .src = a[2],
                                            .src_pitch = a[3],
                                            .width = a[4],
                                            .height = a[5],
                                            .depth = 1},
                        a[7]);
    case PTX_NESTED_COPY_3D: return add_copy_3d(c);
    case PTX_NESTED_FILL:
        return add_copy(c,
                        &(soft_nested_copy){.dst = a[0],
                                            .width = a[2],
                                            .height = 1,
                                            .depth = 1,
                                            .fills = true,
                                            .value = (uint8_t)a[1]},
                        a[3]);
    case PTX_NESTED_FILL_2D:
        return add_copy(c,
                        &(soft_nested_copy){.dst = a[0],
                                            .dst_pitch = a[1],
                                            .width = a[3],
                                            .height = a[4],
                                            .depth = 1,
                                            .fills = true,
                                            .value = (uint8_t)a[2]},
                        a[5]);
    default: return add_fill_3d(c);
    }
}

static uint32_t record_or_wait(const call *c, uint64_t stream, uint64_t event,
                               soft_nested_kind kind)
{
    const bool is_own = stream != SOFT_NESTED_TAIL && stream != SOFT_NESTED_FORGET;
    uint32_t index;
    if (!is_own || !is_stream(c, stream))
        return SOFT_NESTED_INVALID_VALUE;
    const uint32_t error = find_event(c, event, &index);
    if (error != 0)
        return error;
    soft_nested_item *item = soft_nested_item_make(c->launch->env, 0);
    if (!item)
        return SOFT_NESTED_NO_MEMORY;
    item->kind = kind;
    item->event = index;
    append(c, item, stream);
    return 0;
}

/* ---- the rest ---------------------------------------------------------------------- */

static uint32_t allocate(const call *c)
{
    if (c->a[1] == 0)
        return SOFT_NESTED_INVALID_VALUE;
    const uint64_t at = soft_device_heap_alloc(&c->launch->env->heap, c->a[1]);
    if (at == 0)
        return SOFT_NESTED_NO_MEMORY;
    return give_word(c, c->a[0], at, 8);
}

static uint32_t release(const call *c)
{
    if (soft_device_heap_free(&c->launch->env->heap, c->a[0]))
        return 0;
    const bool is_ours = soft_device_heap_holds(&c->launch->env->heap, c->a[0], 1);
    end_context(c, is_ours ? SOFT_ERROR_LAUNCH_FAILED : SOFT_ERROR_ILLEGAL_ADDRESS,
                c->a[0],
                is_ours ? "cudaFree() in a kernel of what was freed there"
                        : "cudaFree() in a kernel of what was not allocated there");
}

/* What who knows devices and modules answers. */
static uint32_t query(const call *c, uint32_t which)
{
    const soft_kernel_env_options *options = &c->launch->env->options;
    unsigned char out[256] = {0};
    uint32_t bytes = 0;
    const uint32_t error =
        c->a[0] == 0 ? SOFT_NESTED_INVALID_VALUE
                     : options->nested->query(options->user, which, c->a, out, &bytes);
    if (error == 0)
        give(c, c->a[0], out, bytes);
    return error;
}

static uint32_t objects_and_memory(const call *c, uint32_t which)
{
    const uint64_t *a = c->a;
    switch (which) {
    case PTX_NESTED_STREAM_CREATE:
        if (a[1] > NON_BLOCKING || a[0] == 0)
            return SOFT_NESTED_INVALID_VALUE;
        return make_object(c, a[0], false);
    case PTX_NESTED_STREAM_DESTROY: return destroy_object(c, a[0], false);
    case PTX_NESTED_STREAM_WAIT: return record_or_wait(c, a[0], a[1], SOFT_NESTED_WAIT);
    case PTX_NESTED_EVENT_CREATE:
        if ((a[1] & ~(uint64_t)BLOCKING_SYNC) != DISABLE_TIMING || a[0] == 0)
            return SOFT_NESTED_INVALID_VALUE;
        return make_object(c, a[0], true);
    case PTX_NESTED_EVENT_RECORD:
        return record_or_wait(c, a[1], a[0], SOFT_NESTED_RECORD);
    case PTX_NESTED_EVENT_DESTROY: return destroy_object(c, a[0], true);
    case PTX_NESTED_MALLOC: return allocate(c);
    case PTX_NESTED_FREE: return release(c);
    case PTX_NESTED_COPY:
    case PTX_NESTED_COPY_2D:
    case PTX_NESTED_COPY_3D:
    case PTX_NESTED_FILL:
    case PTX_NESTED_FILL_2D:
    case PTX_NESTED_FILL_3D: return copy_or_fill(c, which);
    default: return query(c, which);
    }
}

uint64_t ptx_rt_nested(ptx_block *view, uint32_t thread, uint32_t which, uint64_t a,
                       uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f,
                       uint64_t g, uint64_t h)
{
    const uint64_t arguments[PTX_NESTED_ARGUMENTS] = {a, b, c, d, e, f, g, h};
    soft_runner *runner = soft_block_from(view)->runner;
    soft_kernel_launch *launch = runner->launch;
    const soft_nested_hooks *hooks = launch->env->options.nested;
    if (!hooks)
        soft_block_raise(soft_block_from(view), thread, SOFT_ERROR_NOT_SUPPORTED,
                         "nothing here knows what kernels launch");
    if (which == PTX_NESTED_ERROR_STRING || which == PTX_NESTED_ERROR_NAME)
        return (uint64_t)(uintptr_t)hooks->text((uint32_t)a,
                                                which == PTX_NESTED_ERROR_NAME);
    soft_nested *nested = soft_nested_of(launch);
    const call by = {view, launch, nested, thread, arguments};
    if (!nested)
        return which <= PTX_NESTED_BUFFER_OLD ? 0 : SOFT_NESTED_NO_MEMORY;
    switch (which) {
    case PTX_NESTED_LAST_ERROR: return last_error(&by, true);
    case PTX_NESTED_PEEK_ERROR: return last_error(&by, false);
    case PTX_NESTED_BUFFER: return get_buffer(&by);
    case PTX_NESTED_LAUNCH:
        return set_error(&by, launch_item(&by, need_unused(&by, a), b));
    case PTX_NESTED_BUFFER_OLD: return get_room(&by);
    case PTX_NESTED_LAUNCH_OLD: return set_error(&by, launch_room(&by));
    case PTX_NESTED_LIMIT:
    case PTX_NESTED_OCCUPANCY:
    case PTX_NESTED_OCCUPANCY_FLAGS: return query(&by, which); /* no last error of it */
    default: return set_error(&by, objects_and_memory(&by, which));
    }
}

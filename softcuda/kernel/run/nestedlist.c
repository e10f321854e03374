// SPDX-License-Identifier: Apache-2.0
/* What kernels have launched, as it is kept until their grid is over. */
#include "base/heap.h"
#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/nested.h"

void soft_nested_list_init(soft_nested_list *list)
{
    *list = (soft_nested_list){NULL, &list->first};
}

void soft_nested_append(soft_nested_list *list, soft_nested_item *item)
{
    item->next = NULL;
    *list->end = item;
    list->end = &item->next;
}

/* Parameters begin at 16 bytes. */
soft_nested_item *soft_nested_item_make(soft_kernel_env *env, uint64_t param_bytes)
{
    const size_t bytes = sizeof(soft_nested_item) + param_bytes + 15;
    soft_nested_item *item = gphi_heap_alloc(env->allocator, bytes);
    if (!item)
        return NULL;
    item->bytes = bytes;
    return item;
}

void soft_nested_item_free(soft_kernel_env *env, soft_nested_item *item)
{
    if (item->is_pending)
        atomic_fetch_sub_explicit(&env->pending, 1, memory_order_relaxed);
    gphi_heap_free(env->allocator, item, item->bytes);
}

static soft_nested *make(soft_kernel_env *env)
{
    soft_nested *nested = gphi_heap_alloc(env->allocator, sizeof(*nested));
    if (!nested)
        return NULL;
    pthread_mutex_init(&nested->lock, NULL);
    soft_nested_list_init(&nested->items);
    soft_nested_list_init(&nested->tails);
    gphi_vec_init(&nested->objects, env->allocator, sizeof(soft_nested_object));
    gphi_vec_init(&nested->errors, env->allocator, sizeof(soft_nested_error));
    pthread_mutex_lock(&env->heap.mutex);
    nested->serial = ++env->nested_serial;
    nested->next = env->nested;
    if (nested->next)
        nested->next->previous = nested;
    env->nested = nested;
    pthread_mutex_unlock(&env->heap.mutex);
    return nested;
}

static void free_items(soft_kernel_env *env, soft_nested_item *item)
{
    while (item) {
        soft_nested_item *next = item->next;
        soft_nested_item_free(env, item);
        item = next;
    }
}

void soft_nested_destroy(soft_kernel_env *env, soft_nested *nested)
{
    pthread_mutex_lock(&env->heap.mutex);
    if (nested->previous)
        nested->previous->next = nested->next;
    else
        env->nested = nested->next;
    if (nested->next)
        nested->next->previous = nested->previous;
    pthread_mutex_unlock(&env->heap.mutex);
    free_items(env, nested->items.first);
    free_items(env, nested->tails.first);
    free_items(env, nested->unused);
    gphi_vec_fini(&nested->objects);
    gphi_vec_fini(&nested->errors);
    pthread_mutex_destroy(&nested->lock);
    gphi_heap_free(env->allocator, nested, sizeof(*nested));
}

/* Nothing runs in the env any more. */
void soft_nested_drop_all(soft_kernel_env *env)
{
    while (env->nested)
        soft_nested_destroy(env, env->nested);
}

/* Blocks on several workers may be first. */
soft_nested *soft_nested_of(soft_kernel_launch *launch)
{
    soft_nested *there = atomic_load_explicit(&launch->nested, memory_order_acquire);
    if (there)
        return there;
    soft_nested *own = make(launch->env);
    if (!own || atomic_compare_exchange_strong(&launch->nested, &there, own))
        return own;
    soft_nested_destroy(launch->env, own);
    return there;
}

static bool is_inside(const soft_nested_item *item, uint64_t address, uint64_t bytes)
{
    const uint64_t base = (uint64_t)(uintptr_t)item->params;
    const uint64_t room = item->bytes - offsetof(soft_nested_item, params);
    return address >= base && bytes <= room && address - base <= room - bytes;
}

bool soft_nested_holds(soft_kernel_launch *launch, uint64_t address, uint64_t bytes)
{
    soft_nested *nested = atomic_load_explicit(&launch->nested, memory_order_acquire);
    bool found = false;
    if (!nested)
        return false;
    pthread_mutex_lock(&nested->lock);
    for (const soft_nested_item *i = nested->unused; i && !found; i = i->next)
        found = is_inside(i, address, bytes);
    pthread_mutex_unlock(&nested->lock);
    return found;
}

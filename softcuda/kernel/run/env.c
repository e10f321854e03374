// SPDX-License-Identifier: Apache-2.0
/* The device heap, and the record that a context's launches share.
 *
 *   env --> heap    one mapping: | head, block | head, block | ... | not yet used |
 *       |           blocks are powers of two; a free one is on the list of its class
 *       '-> dead    set once, when a launch met a fault: later ones do not start
 *
 * The heap is mapped with the first malloc() of a kernel, as large as the context's limit
 * (CU_LIMIT_MALLOC_HEAP_SIZE). Blocks never merge: kernels ask for few sizes. */
#include "softcuda/kernel/run/env.h"
#include "softcuda/kernel/run/nested.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"
#include "base/heap.h"

/* CUDA's default of CU_LIMIT_MALLOC_HEAP_SIZE. */
#define HEAP_BYTES_DEFAULT (8ull << 20)
/* And of CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT. */
#define PENDING_DEFAULT 2048
#define HEAD_MAGIC 0x50414548u

struct head {
    uint32_t magic;
    uint32_t shift_in_use; /* power of two of the whole block, bit 31: in use */
    uint64_t next;         /* while free: offset of the next one of its class + 1 */
};

#define IN_USE 0x80000000u

void soft_device_heap_init(soft_device_heap *heap, uint64_t bytes)
{
    memset(heap, 0, sizeof(*heap));
    pthread_mutex_init(&heap->mutex, NULL);
    heap->bytes = bytes != 0 ? bytes : HEAP_BYTES_DEFAULT;
}

void soft_device_heap_fini(soft_device_heap *heap)
{
    if (heap->base)
        munmap(heap->base, heap->bytes);
    pthread_mutex_destroy(&heap->mutex);
}

static struct head *head_at(const soft_device_heap *heap, uint64_t offset)
{
    return (struct head *)(void *)(heap->base + offset);
}

static uint64_t alloc_locked(soft_device_heap *heap, unsigned shift)
{
    if (!heap->base) {
        void *base = mmap(NULL, heap->bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (base == MAP_FAILED)
            return 0;
        heap->base = base;
    }
    uint64_t offset = heap->free_lists[shift];
    if (offset != 0) {
        offset--;
        heap->free_lists[shift] = head_at(heap, offset)->next;
    } else {
        if (1ull << shift > heap->bytes - heap->used)
            return 0;
        offset = heap->used;
        heap->used += 1ull << shift;
    }
    *head_at(heap, offset) = (struct head){HEAD_MAGIC, shift | IN_USE, 0};
    return (uint64_t)(uintptr_t)heap->base + offset + sizeof(struct head);
}

uint64_t soft_device_heap_alloc(soft_device_heap *heap, uint64_t bytes)
{
    unsigned shift = 5;
    while (shift < 39 && (1ull << shift) - sizeof(struct head) < bytes)
        shift++;
    if (bytes == 0 || (1ull << shift) - sizeof(struct head) < bytes)
        return 0;
    pthread_mutex_lock(&heap->mutex);
    const uint64_t address = alloc_locked(heap, shift);
    pthread_mutex_unlock(&heap->mutex);
    return address;
}

static bool free_locked(soft_device_heap *heap, uint64_t address)
{
    const uint64_t base = (uint64_t)(uintptr_t)heap->base;
    if (!heap->base || address % 16 != 0 || address < base + sizeof(struct head) ||
        address >= base + heap->used)
        return false;
    const uint64_t offset = address - base - sizeof(struct head);
    struct head *head = head_at(heap, offset);
    if (head->magic != HEAD_MAGIC || (head->shift_in_use & IN_USE) == 0)
        return false;
    const uint32_t shift = head->shift_in_use & ~IN_USE;
    if (shift < 5 || shift > 39) /* a kernel wrote over it */
        return false;
    *head = (struct head){HEAD_MAGIC, shift, heap->free_lists[shift]};
    heap->free_lists[shift] = offset + 1;
    return true;
}

bool soft_device_heap_free(soft_device_heap *heap, uint64_t address)
{
    if (address == 0)
        return true;
    pthread_mutex_lock(&heap->mutex);
    const bool freed = free_locked(heap, address);
    pthread_mutex_unlock(&heap->mutex);
    return freed;
}

bool soft_device_heap_holds(const soft_device_heap *heap, uint64_t address,
                            uint64_t bytes)
{
    const uint64_t base = (uint64_t)(uintptr_t)heap->base;
    return heap->base && address >= base && address < base + heap->bytes &&
           bytes <= base + heap->bytes - address;
}

gph_status soft_kernel_env_create(const soft_kernel_env_options *options,
                                  soft_kernel_env **out, gph_error *error)
{
    const gph_allocator heap = gphi_heap(options->allocator);
    soft_kernel_env *env = gphi_heap_alloc(heap, sizeof(*env));
    GPHI_TRY(gphi_made(error, env, "a context's kernel settings"));
    env->allocator = heap;
    env->options = *options;
    if (env->options.multiprocessors == 0)
        env->options.multiprocessors = 4;
    soft_device_heap_init(&env->heap, options->heap_bytes);
    atomic_init(&env->pending_most, PENDING_DEFAULT);
    *out = env;
    return GPH_OK;
}

void soft_kernel_env_destroy(soft_kernel_env *env)
{
    if (!env)
        return;
    soft_nested_drop_all(env);
    soft_device_heap_fini(&env->heap);
    gphi_heap_free(env->allocator, env, sizeof(*env));
}

bool soft_kernel_env_set_heap(soft_kernel_env *env, uint64_t bytes)
{
    pthread_mutex_lock(&env->heap.mutex);
    const bool unused = !env->heap.base;
    if (unused && bytes != 0)
        env->heap.bytes = bytes;
    pthread_mutex_unlock(&env->heap.mutex);
    return unused;
}

void soft_kernel_env_set_pending(soft_kernel_env *env, uint64_t count)
{
    atomic_store_explicit(&env->pending_most, count, memory_order_relaxed);
}

bool soft_kernel_env_is_dead(const soft_kernel_env *env)
{
    return atomic_load_explicit(&env->dead, memory_order_acquire);
}

uint64_t soft_limit_from_environment(const char *name)
{
    const char *text = getenv(name);
    if (!text || text[0] < '0' || text[0] > '9')
        return 0;
    char *end;
    errno = 0;
    const unsigned long long ms = strtoull(text, &end, 10);
    if (*end != '\0' || errno != 0 || ms > UINT64_MAX / 1000000)
        return 0;
    return ms * 1000000;
}

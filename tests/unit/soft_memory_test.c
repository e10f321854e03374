// SPDX-License-Identifier: Apache-2.0
/* Device memory without an engine: points are reached when the test says so. */
#include "cuda/abi.h"
#include "fault.h"
#include "softcuda/memory/memory.h"
#include "test.h"

#define MIB (1ull << 20)

static uint64_t reached; /* points with a sequence up to here */

bool soft_point_reached(soft_point point)
{
    return point.queue == NULL || point.sequence <= reached;
}

static soft_memory *make(uint64_t limit, const gph_allocator *allocator)
{
    const soft_memory_options options = {
        .limit_bytes = limit, .range_bytes = 1024 * MIB, .allocator = allocator};
    soft_memory *memory = NULL;
    gph_error error = {0};
    if (soft_memory_create(&options, &memory, &error) != GPH_OK && allocator == NULL)
        fprintf(stderr, "%s\n", error.message);
    return memory;
}

static unsigned char *bytes_of(uint64_t address)
{
    return (unsigned char *)(uintptr_t)address;
}

static void allocations_are_apart_aligned_and_found(void)
{
    soft_memory *memory = make(64 * MIB, NULL);
    gph_error error = {0};
    uint64_t at[200];
    for (uint64_t i = 0; i < 200; i++) {
        if (!CHECK_OK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 1 + i * 37, 0, NULL,
                                        &at[i], &error),
                      error))
            return;
        CHECK(at[i] % 512 == 0);
        memset(bytes_of(at[i]), (int)i, 1 + i * 37);
    }
    for (uint64_t i = 0; i < 200; i++) {
        soft_allocation found = {0};
        CHECK(soft_memory_find(memory, at[i] + i * 37, &found));
        CHECK(found.base == at[i] && found.bytes == 1 + i * 37);
        CHECK(!soft_memory_find(memory, at[i] + i * 37 + 1, &found) ||
              found.base == at[i] + i * 37 + 1);
        CHECK(bytes_of(at[i])[0] == (unsigned char)i);
        CHECK(bytes_of(at[i])[i * 37] == (unsigned char)i);
    }
    for (uint64_t i = 0; i < 200; i++)
        CHECK_OK(soft_memory_free(memory, at[i], &error), error);
    soft_memory_info info;
    soft_memory_get_info(memory, &info);
    CHECK(info.used_bytes == 0);
    CHECK(info.free_bytes >= 62 * MIB); /* one spare segment stays */
    soft_memory_destroy(memory);
}

static void refusals_say_what_the_address_is(void)
{
    soft_memory *memory = make(16 * MIB, NULL);
    gph_error error = {0};
    uint64_t at = 0;
    CHECK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 0, 0, NULL, &at, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 17 * MIB, 0, NULL, &at, &error) ==
          2);
    CHECK(strstr(error.message, "17825792 bytes") != NULL);
    CHECK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, UINT64_MAX, 0, NULL, &at,
                            &error) == CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(at == 0);
    CHECK_OK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 100, 0, NULL, &at, &error),
             error);
    CHECK(soft_memory_free(memory, at + 8, &error) == CUDA_ERROR_INVALID_VALUE);
    CHECK(strstr(error.message, "8 bytes into the allocation of 100 bytes") != NULL);
    char text[256];
    soft_memory_describe(memory, at + 116, text, sizeof(text));
    CHECK(strstr(text, "16 bytes past the end of the allocation of 100 bytes") != NULL);
    CHECK_OK(soft_memory_free(memory, at, &error), error);
    CHECK(soft_memory_free(memory, at, &error) == CUDA_ERROR_INVALID_VALUE);
    CHECK(strstr(error.message, "that was freed") != NULL);
    CHECK(soft_memory_free(memory, 64, &error) == CUDA_ERROR_INVALID_VALUE);
    CHECK(strstr(error.message, "not in the memory of device 0") != NULL);
    soft_memory_destroy(memory);
}

/* Random allocs and frees against a plain list: contents survive, nothing overlaps, all
 * memory comes back. */
static void random_traffic_keeps_contents(void)
{
    soft_memory *memory = make(64 * MIB, NULL);
    gph_error error = {0};
    struct {
        uint64_t at, bytes;
        unsigned char tag;
    } live[64] = {0};
    uint64_t seed = 12345;
    for (int step = 0; step < 4000; step++) {
        seed = seed * 6364136223846793005ull + 1442695040888963407ull;
        const size_t i = (seed >> 33) % 64;
        if (live[i].at) {
            for (uint64_t k = 0; k < live[i].bytes; k += 509)
                if (!CHECK(bytes_of(live[i].at)[k] == live[i].tag))
                    return;
            CHECK_OK(soft_memory_free(memory, live[i].at, &error), error);
            live[i].at = 0;
            continue;
        }
        const uint64_t bytes = 1 + (seed >> 40) % (step % 7 == 0 ? 3 * MIB : 60000);
        const gph_status status = soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, bytes, 0,
                                                    NULL, &live[i].at, &error);
        CHECK(status == GPH_OK || status == CUDA_ERROR_OUT_OF_MEMORY);
        if (status != GPH_OK)
            continue;
        live[i].bytes = bytes;
        live[i].tag = (unsigned char)seed;
        memset(bytes_of(live[i].at), live[i].tag, bytes);
    }
    for (size_t i = 0; i < 64; i++)
        if (live[i].at)
            CHECK_OK(soft_memory_free(memory, live[i].at, &error), error);
    soft_memory_info info;
    soft_memory_get_info(memory, &info);
    CHECK(info.used_bytes == 0 && info.free_bytes >= 62 * MIB);
    CHECK(info.peak_bytes > 0 && info.peak_bytes <= 64 * MIB);
    soft_memory_destroy(memory);
}

static void an_owner_takes_its_allocations_along(void)
{
    soft_memory *memory = make(64 * MIB, NULL);
    gph_error error = {0};
    int one, two;
    uint64_t at, kept;
    for (int i = 0; i < 50; i++)
        CHECK_OK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 700u << (i % 12), 0, &one,
                                   &at, &error),
                 error);
    CHECK_OK(soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 512, 0, &two, &kept, &error),
             error);
    soft_memory_free_owner(memory, &one);
    soft_memory_info info;
    soft_memory_get_info(memory, &info);
    CHECK(info.used_bytes == 512);
    CHECK_OK(soft_memory_free(memory, kept, &error), error);
    soft_memory_destroy(memory);
}

static void one_handle_shows_at_two_addresses(void)
{
    soft_memory *memory = make(64 * MIB, NULL);
    gph_error error = {0};
    uint64_t a, b;
    soft_physical *physical;
    CHECK_OK(soft_range_reserve(memory, 4 * MIB, 0, 0, &a, &error), error);
    CHECK_OK(soft_range_reserve(memory, 4 * MIB, 32 * MIB, 0, &b, &error), error);
    CHECK(b % (32 * MIB) == 0);
    CHECK(soft_physical_create(memory, 3 * MIB, &physical, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK_OK(soft_physical_create(memory, 4 * MIB, &physical, &error), error);
    CHECK(soft_range_map(memory, a, 2 * MIB, physical, &error) == 801);
    CHECK_OK(soft_range_map(memory, a, 4 * MIB, physical, &error), error);
    CHECK(soft_range_map(memory, a, 4 * MIB, physical, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK_OK(soft_range_map(memory, b, 4 * MIB, physical, &error), error);
    CHECK_OK(soft_range_set_access(memory, a, 4 * MIB, 3, &error), error);
    CHECK_OK(soft_range_set_access(memory, b, 4 * MIB, 1, &error), error);
    soft_physical_release(physical);
    bytes_of(a)[3 * MIB] = 42;
    CHECK(bytes_of(b)[3 * MIB] == 42);
    uint32_t access = 9;
    CHECK(soft_range_get_access(memory, b + 100, &access) && access == 1);
    soft_physical *again = soft_range_physical(memory, a);
    CHECK(again == physical);
    soft_physical_release(again);
    soft_allocation found;
    CHECK(soft_memory_find(memory, b + 1, &found) && found.kind == SOFT_MEMORY_VMM);
    CHECK(soft_range_free(memory, a, 4 * MIB, &error) == CUDA_ERROR_INVALID_VALUE);
    CHECK(soft_range_unmap(memory, a, 2 * MIB, &error) == CUDA_ERROR_INVALID_VALUE);
    CHECK_OK(soft_range_unmap(memory, a, 4 * MIB, &error), error);
    CHECK_OK(soft_range_unmap(memory, b, 4 * MIB, &error), error);
    CHECK_OK(soft_range_free(memory, a, 4 * MIB, &error), error);
    soft_memory_info info;
    soft_memory_get_info(memory, &info);
    CHECK(info.used_bytes == 0 && info.free_bytes == 64 * MIB);
    soft_memory_destroy(memory);
}

static bool follows_all(void *user, soft_point point)
{
    (void)point;
    return *(bool *)user;
}

static void a_pool_reuses_in_stream_order(void)
{
    soft_memory *memory = make(64 * MIB, NULL);
    gph_error error = {0};
    soft_pool *pool;
    const soft_pool_policy policy = {.follow_event_dependencies = 1,
                                     .allow_opportunistic = 1,
                                     .allow_internal_dependencies = 1};
    int queue_a, queue_b;
    soft_queue *a = (soft_queue *)&queue_a, *b = (soft_queue *)&queue_b;
    soft_point wait;
    uint64_t first, same, other, followed;
    bool follows = false;
    reached = 0;
    CHECK_OK(soft_pool_create(memory, &policy, &pool, &error), error);
    CHECK_OK(soft_pool_alloc(pool, 5 * MIB, a, NULL, NULL, &first, &wait, &error), error);
    soft_pool_stats stats;
    soft_pool_get_stats(pool, &stats);
    CHECK(stats.reserved_bytes == 32 * MIB && stats.used_bytes == 5 * MIB);
    CHECK_OK(soft_pool_free(memory, first, (soft_point){a, 1}, &error), error);
    CHECK(soft_pool_free(memory, first, (soft_point){a, 1}, &error) ==
          CUDA_ERROR_INVALID_VALUE);
    CHECK_OK(
        soft_pool_alloc(pool, 5 * MIB, b, follows_all, &follows, &other, &wait, &error),
        error);
    CHECK(other != first && wait.queue == NULL);
    CHECK_OK(soft_pool_alloc(pool, 5 * MIB, a, NULL, NULL, &same, &wait, &error), error);
    CHECK(same == first);
    CHECK_OK(soft_pool_free(memory, same, (soft_point){a, 2}, &error), error);
    follows = true;
    CHECK_OK(soft_pool_alloc(pool, 5 * MIB, b, follows_all, &follows, &followed, &wait,
                             &error),
             error);
    CHECK(followed == first);
    CHECK_OK(soft_pool_free(memory, followed, (soft_point){b, 3}, &error), error);
    CHECK_OK(soft_pool_free(memory, other, (soft_point){b, 3}, &error), error);
    soft_pool_trim(pool, 0);
    soft_pool_get_stats(pool, &stats);
    CHECK(stats.reserved_bytes == 32 * MIB && stats.used_bytes == 0);
    reached = 3;
    soft_memory_synchronized(memory);
    soft_pool_get_stats(pool, &stats);
    CHECK(stats.reserved_bytes == 0 && stats.used_high_bytes == 10 * MIB);
    soft_pool_destroy(pool);
    soft_memory_destroy(memory);
}

static void a_full_pool_waits_for_what_is_freed(void)
{
    soft_memory *memory = make(32 * MIB, NULL);
    gph_error error = {0};
    soft_pool *pool;
    const soft_pool_policy policy = {.allow_internal_dependencies = 1};
    int queue_a, queue_b;
    soft_queue *a = (soft_queue *)&queue_a, *b = (soft_queue *)&queue_b;
    soft_point wait;
    uint64_t first, second;
    reached = 0;
    CHECK_OK(soft_pool_create(memory, &policy, &pool, &error), error);
    CHECK_OK(soft_pool_alloc(pool, 30 * MIB, a, NULL, NULL, &first, &wait, &error),
             error);
    CHECK(soft_pool_alloc(pool, 30 * MIB, b, NULL, NULL, &second, &wait, &error) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK_OK(soft_pool_free(memory, first, (soft_point){a, 7}, &error), error);
    CHECK_OK(soft_pool_alloc(pool, 30 * MIB, b, NULL, NULL, &second, &wait, &error),
             error);
    CHECK(second == first && wait.queue == a && wait.sequence == 7);
    soft_pool_destroy(pool); /* with an allocation alive: goes with it (R109) */
    bytes_of(second)[0] = 1;
    reached = 9;
    CHECK_OK(soft_pool_free(memory, second, (soft_point){b, 9}, &error), error);
    soft_memory_info info;
    soft_memory_get_info(memory, &info);
    CHECK(info.free_bytes == 32 * MIB);
    soft_memory_destroy(memory);
}

static void host_memory_is_registered_once(void)
{
    gph_error error = {0};
    static unsigned char buffer[8192];
    const uint64_t at = (uint64_t)(uintptr_t)buffer;
    soft_allocation found;
    CHECK_OK(soft_host_register(at, 4096, 2, NULL, &error), error);
    CHECK(soft_host_register(at + 4095, 10, 0, NULL, &error) == 712);
    CHECK_OK(soft_host_register(at + 4096, 4096, 0, NULL, &error), error);
    CHECK(soft_host_find(at + 4095, &found) && found.base == at && found.flags == 2);
    CHECK(soft_host_unregister(at + 1, &error) == 1);
    CHECK_OK(soft_host_unregister(at, &error), error);
    CHECK(!soft_host_find(at, &found));
    CHECK_OK(soft_host_unregister(at + 4096, &error), error);
    uint64_t pinned;
    CHECK_OK(soft_host_alloc(100, 0, buffer, &pinned, &error), error);
    bytes_of(pinned)[99] = 1;
    CHECK(soft_host_free(pinned + 1, &error) == CUDA_ERROR_INVALID_VALUE);
    soft_host_free_owner(buffer);
    CHECK(!soft_host_find(pinned, &found));
}

/* Fails each allocation of our own in turn; every object stays usable. */
static void survives_every_failed_allocation(void)
{
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = nth};
        const gph_allocator allocator = {fault_realloc, &heap};
        soft_memory *memory = make(16 * MIB, &allocator);
        bool whole = memory != NULL;
        if (memory) {
            uint64_t at[8];
            gph_error error;
            for (int i = 0; i < 8; i++)
                if (soft_memory_alloc(memory, SOFT_MEMORY_DEVICE, 600000, 0, memory,
                                      &at[i], &error) != GPH_OK) {
                    at[i] = 0;
                    whole = false;
                }
            for (int i = 0; i < 8; i += 2)
                if (at[i])
                    CHECK_OK(soft_memory_free(memory, at[i], &error), error);
            soft_memory_free_owner(memory, memory);
            soft_memory_info info;
            soft_memory_get_info(memory, &info);
            CHECK(info.used_bytes == 0);
            soft_memory_destroy(memory);
        }
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (atomic_load(&heap.fail_at) >= 0) { /* nothing failed any more */
            CHECK(whole && nth > 8);
            return;
        }
    }
}

int main(void)
{
    RUN(allocations_are_apart_aligned_and_found);
    RUN(refusals_say_what_the_address_is);
    RUN(random_traffic_keeps_contents);
    RUN(an_owner_takes_its_allocations_along);
    RUN(one_handle_shows_at_two_addresses);
    RUN(a_pool_reuses_in_stream_order);
    RUN(a_full_pool_waits_for_what_is_freed);
    RUN(host_memory_is_registered_once);
    RUN(survives_every_failed_allocation);
    return test_done();
}

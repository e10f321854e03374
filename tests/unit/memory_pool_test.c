// SPDX-License-Identifier: Apache-2.0
/* Arenas and pools outside captures: exact counts, several streams, what is given back.
 */
#include "memory_common.h"

#include <gph/memory_ledger.h>

static void sizes_are_rounded_and_counted(void)
{
    /* Five size classes, as torch's test_graph_memory_stats: 512 bytes is the grain. */
    static const uint64_t asked[] = {1, 511, 512, 513, 3 * MiB - 7};
    static const uint64_t given[] = {512, 512, 512, 1024, 3 * MiB};
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, "p");
    CUdeviceptr at[5];
    uint64_t sum = 0, want = 0;
    for (int i = 0; i < 5; i++) {
        at[i] = alloc(pool, asked[i], streams[0]);
        CHECK(at[i] % 512 == 0);
        sum += given[i];
        want += asked[i];
        const gph_pool_stats stats = stats_of(pool);
        CHECK(stats.allocated_bytes == sum && stats.requested_bytes == want);
        CHECK(stats.allocation_count == (uint32_t)i + 1);
    }
    CHECK(stats_of(pool).mapped_bytes == 4 * MiB && stats_of(pool).segment_count == 1);
    for (int i = 0; i < 5; i++)
        give(pool, at[i], streams[0]);
    const gph_pool_stats stats = stats_of(pool);
    CHECK(stats.allocated_bytes == 0 && stats.requested_bytes == 0);
    CHECK(stats.peak_bytes == sum && stats.mapped_bytes == 4 * MiB);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void the_best_fit_is_taken_and_neighbours_merge(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    const CUstream s = streams[0];
    const CUdeviceptr a = alloc(pool, 4096, s), b = alloc(pool, 512, s);
    const CUdeviceptr c = alloc(pool, 2048, s), d = alloc(pool, 512, s);
    const CUdeviceptr e = alloc(pool, 1024, s), f = alloc(pool, 512, s);
    give(pool, a, s);
    give(pool, c, s);
    give(pool, e, s);
    CHECK(alloc(pool, 1000, s) == e); /* the smallest hole that is large enough */
    CHECK(alloc(pool, 1500, s) == c);
    CHECK(alloc(pool, 4000, s) == a);
    give(pool, a, s);
    give(pool, c, s);
    give(pool, b, s); /* a, b and c are one hole */
    CHECK(alloc(pool, 4096 + 512 + 2048, s) == a);
    CHECK(stats_of(pool).allocation_count == 4);
    (void)d, (void)f;
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void a_pool_grows_where_it_is(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL), *other = open_pool(arena, NULL);
    const CUstream s = streams[0];
    const CUdeviceptr a = alloc(pool, 1536 * 1024, s);
    const CUdeviceptr x = alloc(other, 5 * MiB, s);
    /* Half a MiB is free at the end, so that 3 MiB need 4 more, not 6. */
    const CUdeviceptr b = alloc(pool, 3 * MiB, s);
    CHECK(b == a + 1536 * 1024);
    CHECK(stats_of(pool).mapped_bytes == 6 * MiB && stats_of(pool).segment_count == 1);
    CHECK(stats_of(other).mapped_bytes == 6 * MiB);
    CHECK(x < a || x > b);
    gph_pool_release(other);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void another_stream_waits_for_the_work(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    CUdeviceptr big = 0;
    CU(MemAlloc, &big, 64 * MiB);
    const CUdeviceptr a = alloc(pool, 2 * MiB, streams[0]);
    occupy(streams[0], big);
    fill(a, 1, 2 * MiB, streams[0]);
    give(pool, a, streams[0]);
    const int busy = cu->StreamQuery(streams[0]) != 0;
    const CUdeviceptr b = alloc(pool, 2 * MiB, streams[1]);
    if (!busy) { /* so fast a device shows nothing here */
        CU(MemFree, big);
        gph_pool_release(pool);
        gph_arena_destroy(arena);
        SKIP("the device was done too early");
    }
    CHECK(b != a); /* its work had not ended */
    const CUdeviceptr c = alloc(pool, 2 * MiB, streams[0]);
    CHECK(c == a); /* the same stream uses it at once */
    give(pool, c, streams[0]);
    CU(StreamSynchronize, streams[0]);
    const CUdeviceptr d = alloc(pool, 2 * MiB, streams[2]);
    CHECK(d == a); /* another one, now that it has ended */
    CHECK(stats_of(pool).mapped_bytes == 4 * MiB);
    CU(MemFree, big);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void a_free_waits_for_every_stream_that_was_named(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    CUdeviceptr big = 0;
    CU(MemAlloc, &big, 64 * MiB);
    const CUdeviceptr a = alloc(pool, 2 * MiB, streams[0]);
    CHECK_OK(gph_pool_use(pool, a, streams[1], &error), error);
    CHECK_OK(gph_pool_use(pool, a, streams[1], &error), error);
    occupy(streams[1], big);
    give(pool, a, streams[0]);
    const int busy = cu->StreamQuery(streams[1]) != 0;
    const CUdeviceptr b = alloc(pool, 2 * MiB, streams[0]);
    if (busy)
        CHECK(b != a); /* not even for its own stream */
    give(pool, b, streams[0]);
    CHECK(cu->CtxSynchronize() == GPH_OK);
    const CUdeviceptr c = alloc(pool, 4 * MiB, streams[0]);
    CHECK(c == a || !busy); /* a and b in one */
    CU(MemFree, big);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void default_streams_are_streams(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    static CUstream const both[] = {NULL, CU_STREAM_PER_THREAD, CU_STREAM_LEGACY};
    for (int i = 0; i < 3; i++) {
        const CUdeviceptr a = alloc(pool, MiB, both[i]);
        fill(a, 1, MiB, both[i]);
        CHECK_OK(gph_pool_use(pool, a, both[(i + 1) % 3], &error), error);
        give(pool, a, both[i]);
        CHECK(cu->CtxSynchronize() == GPH_OK);
    }
    CHECK(alloc(pool, 2 * MiB, streams[0]) != 0);
    CHECK(stats_of(pool).mapped_bytes == 2 * MiB);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void streams_come_and_go(void)
{
    /* A handle that comes again is another stream; places of old ones are used again. */
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    for (int i = 0; i < 300; i++) {
        CUstream stream = NULL;
        CU(StreamCreate, &stream, 1);
        give(pool, alloc(pool, MiB, stream), stream);
        CU(StreamSynchronize, stream);
        CU(StreamDestroy, stream);
    }
    CHECK(arena->streams.count <= 65);
    CHECK(stats_of(pool).mapped_bytes <= 4 * MiB);
    /* So many frees that events are moved instead of made. */
    CUdeviceptr big = 0, at[200];
    CU(MemAlloc, &big, 64 * MiB);
    for (int i = 0; i < 200; i++)
        at[i] = alloc(pool, 4096, streams[0]);
    occupy(streams[0], big);
    for (int i = 0; i < 200; i++)
        give(pool, at[i], streams[0]);
    CHECK(shim_made(SHIM_cuEventCreate) - shim_made(SHIM_cuEventDestroy) <= 64 * 65);
    CU(StreamSynchronize, streams[0]);
    const CUdeviceptr all = alloc(pool, 200 * 4096, streams[1]);
    CHECK(all != 0 && stats_of(pool).mapped_bytes <= 4 * MiB);
    CU(MemFree, big);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void bad_arguments_are_refused(void)
{
    gph_arena_options arena_options = GPH_ARENA_OPTIONS_INIT;
    gph_pool_options pool_options = GPH_POOL_OPTIONS_INIT;
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    CUdeviceptr p = 0;
    CHECK(gph_arena_create(NULL, NULL, &arena, &error) == GPH_E_INVALID);
    CHECK(gph_arena_create(runtime, NULL, NULL, &error) == GPH_E_INVALID);
    arena_options.device = 77;
    CHECK(gph_arena_create(runtime, &arena_options, &arena, &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "options.device 77") != NULL);
    arena_options.device = -1;
    arena_options.base = 0x1234;
    CHECK(gph_arena_create(runtime, &arena_options, &arena, &error) == GPH_E_INVALID);
    arena_options.base = 0;
    arena_options.reserve_bytes = UINT64_MAX;
    CHECK(gph_arena_create(runtime, &arena_options, &arena, &error) == GPH_E_INVALID);
    CHECK(arena == NULL);
    arena = open_arena(0);
    pool_options.reserved = 1;
    CHECK(gph_pool_create(arena, &pool_options, &pool, &error) == GPH_E_INVALID);
    CHECK(gph_pool_create(NULL, NULL, &pool, &error) == GPH_E_INVALID && pool == NULL);
    pool = open_pool(arena, "named");
    CHECK(gph_pool_alloc(pool, 0, streams[0], &p, &error) == GPH_E_INVALID);
    CHECK(gph_pool_alloc(NULL, 1, streams[0], &p, &error) == GPH_E_INVALID);
    CHECK(gph_pool_alloc(pool, UINT64_MAX, streams[0], &p, &error) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(p == 0);
    p = alloc(pool, 1024, streams[0]);
    CHECK(gph_pool_free(pool, p + 512, streams[0], &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "inside an allocation of pool named") != NULL);
    CHECK(gph_pool_free(pool, 4096, streams[0], &error) == GPH_E_INVALID);
    CHECK(gph_pool_use(pool, 4096, streams[0], &error) == GPH_E_INVALID);
    give(pool, p, streams[0]);
    CHECK(gph_pool_free(pool, p, streams[0], &error) == GPH_E_INVALID);
    CHECK(strstr(error.message, "in a free block") != NULL);
    gph_pool_release(pool);
    gph_pool_release(NULL);
    gph_arena_destroy(arena);
    gph_arena_destroy(NULL);
}

static void pages_go_back_and_are_used_again(void)
{
    const uint64_t before = device_free();
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    uint64_t freed = 0;
    CHECK(gph_pool_retain(pool) == pool && stats_of(pool).users == 2);
    const CUdeviceptr a = alloc(pool, 10 * MiB, streams[0]);
    CHECK(is_about(device_free(), before - 10 * MiB));
    give(pool, a, streams[0]);
    gph_pool_release(pool); /* one user is left */
    CHECK(stats_of(pool).users == 1);
    CU(StreamSynchronize, streams[0]);
    gph_pool_release(pool);
    CHECK(is_about(device_free(), before - 10 * MiB)); /* cached */
    const long creates = shim_calls(SHIM_cuMemCreate), maps = shim_calls(SHIM_cuMemMap);
    pool = open_pool(arena, NULL);
    const CUdeviceptr b = alloc(pool, 10 * MiB, streams[1]);
    CHECK(b == a); /* where it lies, without a call */
    CHECK(shim_calls(SHIM_cuMemCreate) == creates && shim_calls(SHIM_cuMemMap) == maps);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 0); /* all of it is in use */
    give(pool, b, streams[1]);
    CU(StreamSynchronize, streams[1]);
    CHECK_OK(gph_arena_trim(arena, 4 * MiB, &freed, &error), error);
    CHECK(freed == 6 * MiB && is_about(device_free(), before - 4 * MiB));
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == 4 * MiB && is_about(device_free(), before));
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void pages_in_use_are_not_unmapped(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL);
    uint64_t freed = 1;
    CUdeviceptr big = 0;
    CU(MemAlloc, &big, 64 * MiB);
    const CUdeviceptr a = alloc(pool, 4 * MiB, streams[0]);
    occupy(streams[0], big);
    fill(a, 1, 4 * MiB, streams[0]);
    give(pool, a, streams[0]);
    gph_pool_release(pool); /* its work may not have ended */
    const int busy = cu->StreamQuery(streams[0]) != 0;
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    if (busy)
        CHECK(freed == 0);
    CU(StreamSynchronize, streams[0]);
    CHECK_OK(gph_arena_trim(arena, 0, &freed, &error), error);
    CHECK(freed == (busy ? 4 * MiB : 0));
    CU(MemFree, big);
    gph_arena_destroy(arena);
}

static int oom_calls;
static struct {
    gph_pool *pool;
    CUdeviceptr address;
} spare;

static int free_spare(void *user, uint64_t bytes)
{
    CHECK(user == &spare && bytes == 6 * MiB);
    oom_calls++;
    if (spare.address == 0)
        return 0;
    give(spare.pool, spare.address, streams[0]);
    CU(StreamSynchronize, streams[0]);
    spare.address = 0;
    return 1;
}

static void the_chain_of_what_is_given_up(void)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *arena = NULL;
    options.reserve_bytes = 512 * MiB;
    options.budget_bytes = 16 * MiB;
    options.oom = free_spare;
    options.oom_user = &spare;
    oom_calls = 0;
    CHECK_OK(gph_arena_create(runtime, &options, &arena, &error), error);
    gph_pool *weights = open_pool(arena, "weights"), *graphs = open_pool(arena, "graphs");
    const CUdeviceptr w = alloc(weights, 6 * MiB, streams[0]);
    const CUdeviceptr g = alloc(graphs, 8 * MiB, streams[0]);
    give(graphs, g, streams[0]);
    CU(StreamSynchronize, streams[0]);
    /* 2 MiB are left of the budget; the rest comes from the other pool's free pages. */
    const CUdeviceptr x = alloc(weights, 10 * MiB, streams[0]);
    CHECK(oom_calls == 0 && stats_of(graphs).mapped_bytes == 0);
    CHECK(stats_of(weights).mapped_bytes == 16 * MiB);
    /* Now only the callback can help. */
    spare.pool = weights;
    spare.address = x;
    const CUdeviceptr y = alloc(graphs, 6 * MiB, streams[0]);
    CHECK(oom_calls == 1);
    /* And now nobody: the message says who holds what. */
    CUdeviceptr z = 0;
    CHECK(gph_pool_alloc(graphs, 6 * MiB, streams[0], &z, &error) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(oom_calls == 2 && z == 0);
    CHECK(strstr(error.message, "pool weights holds") != NULL);
    CHECK(strstr(error.message, "pool graphs holds") != NULL);
    CHECK(strstr(error.hint, "budget is 16777216") != NULL);
    (void)w, (void)y;
    gph_pool_release(weights);
    gph_pool_release(graphs);
    gph_arena_destroy(arena);
}

static void a_pool_has_a_limit(void)
{
    gph_arena *arena = open_arena(0);
    gph_pool_options options = GPH_POOL_OPTIONS_INIT;
    gph_pool *pool = NULL;
    CUdeviceptr p = 0;
    options.growth_bytes = 8 * MiB;
    options.max_bytes = 10 * MiB;
    CHECK_OK(gph_pool_create(arena, &options, &pool, &error), error);
    alloc(pool, 1, streams[0]);
    CHECK(stats_of(pool).mapped_bytes == 8 * MiB);
    alloc(pool, 9 * MiB, streams[0]); /* the growth is cut to what is left */
    CHECK(stats_of(pool).mapped_bytes == 10 * MiB);
    CHECK(gph_pool_alloc(pool, MiB, streams[0], &p, &error) == CUDA_ERROR_OUT_OF_MEMORY);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void a_range_can_be_had_again(void)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *arena = open_arena(0), *again = NULL;
    CUdeviceptr base = 0, same = 0;
    uint64_t bytes = 0;
    gph_arena_range(arena, &base, &bytes);
    CHECK(base != 0 && bytes == 512 * MiB && gph_arena_runtime(arena) == runtime);
    options.base = base;
    options.reserve_bytes = bytes;
    static const CUresult answers[] = {CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE,
                                       CUDA_ERROR_OUT_OF_MEMORY};
    for (int i = 0; i < 3; i++) { /* other addresses, or none */
        shim.taken = answers[i];
        CHECK(gph_arena_create(runtime, &options, &again, &error) == GPH_E_STATE);
        CHECK(again == NULL);
    }
    shim.taken = CUDA_SUCCESS;
    gph_arena_destroy(arena);
    CHECK_OK(gph_arena_create(runtime, &options, &again, &error), error);
    gph_arena_range(again, &same, NULL);
    CHECK(same == base);
    gph_pool *pool = open_pool(again, NULL), *other = open_pool(again, NULL);
    CHECK(gph_pool_arena(pool) == again);
    /* What lay at an address can be laid there again. */
    const CUdeviceptr at = base + 7 * MiB + 512;
    CHECK_OK(gph_pool_alloc_at(pool, at, 3 * MiB, streams[0], &error), error);
    CHECK(stats_of(pool).mapped_bytes == 6 * MiB);
    CHECK(gph_pool_alloc_at(pool, at + MiB, 512, streams[0], &error) == GPH_E_STATE);
    CHECK(gph_pool_alloc_at(other, base + 6 * MiB, 512, streams[0], &error) ==
          GPH_E_STATE);
    CHECK(gph_pool_alloc_at(pool, at + 1, 512, streams[0], &error) == GPH_E_INVALID);
    CHECK(gph_pool_alloc_at(pool, base + bytes, 512, streams[0], &error) ==
          GPH_E_INVALID);
    CHECK_OK(gph_pool_alloc_at(pool, base + 4 * MiB, 2 * MiB, streams[0], &error), error);
    CHECK(stats_of(pool).segment_count == 1); /* they touch */
    fill(at, 5, 3 * MiB, streams[0]);
    CU(StreamSynchronize, streams[0]);
    give(pool, at, streams[0]);
    gph_pool_release(pool);
    gph_pool_release(other);
    gph_arena_destroy(again);
}

/* Pages that are gone: refused, with nothing changed. */
static void pages_are_given_up(gph_arena *arena, gph_pool *pool,
                               const gph_checkpoint *point, const gph_checkpoint *empty)
{
    alloc(pool, 512, streams[0]);
    CHECK_OK(gph_checkpoint_restore(pool, empty, NULL, 0, 1, &error), error);
    CHECK(stats_of(pool).allocation_count == 0);
    CHECK_OK(gph_arena_trim(arena, 0, NULL, &error), error);
    CHECK(stats_of(pool).mapped_bytes == 0);
    CHECK(gph_checkpoint_restore(pool, point, NULL, 0, 1, &error) == GPH_E_STATE);
    CHECK_OK(gph_checkpoint_restore(pool, point, NULL, 0, 0, &error), error);
}

static void checkpoints_absorb_what_came_after(void)
{
    /* torch's TestBlockStateAbsorption: simple, middle of a segment, several, contiguous,
     * growth. */
    gph_arena *arena = open_arena(0);
    gph_pool *pool = open_pool(arena, NULL), *other = open_pool(arena, NULL);
    const CUstream s = streams[0];
    gph_checkpoint *point = NULL, *empty = NULL;
    CHECK_OK(gph_checkpoint_take(pool, &empty, &error), error);
    CUdeviceptr at[6];
    for (int i = 0; i < 6; i++)
        at[i] = alloc(pool, 100 * 1024, s);
    give(pool, at[1], s);
    give(pool, at[2], s);
    give(pool, at[4], s);
    CU(StreamSynchronize, s);
    CHECK_OK(gph_checkpoint_take(pool, &point, &error), error);
    CHECK(gph_checkpoint_restore(other, point, NULL, 0, 1, &error) == GPH_E_INVALID);
    const gph_pool_stats then = stats_of(pool);

    /* Get and set leave everything as it was. */
    CHECK_OK(gph_checkpoint_restore(pool, point, NULL, 0, 1, &error), error);
    CHECK(stats_of(pool).allocated_bytes == then.allocated_bytes);

    /* Freed since: allocated again. Allocated since: free, also where it grew. */
    give(pool, at[0], s);
    give(pool, at[3], s);
    alloc(pool, 300 * 1024, s);
    const CUdeviceptr y = alloc(pool, 20 * MiB, s);
    CHECK_OK(gph_checkpoint_restore(pool, point, NULL, 0, 1, &error), error);
    CHECK(stats_of(pool).allocated_bytes == then.allocated_bytes);
    CHECK(stats_of(pool).allocation_count == 3);
    CHECK(stats_of(pool).requested_bytes == then.requested_bytes);
    CHECK(gph_pool_free(pool, y, s, &error) == GPH_E_INVALID);
    gph_pool_range live[4];
    uint32_t count = 0;
    gph_pool_live(pool, live, 4, &count);
    CHECK(count == 3 && live[0].address == at[0] && live[1].address == at[3] &&
          live[2].address == at[5]);
    CHECK(live[0].bytes == 100 * 1024 && live[0].kind == GPH_RANGE_EAGER);

    /* Only those that still have an owner stay. */
    CHECK_OK(gph_checkpoint_restore(pool, point, &at[3], 1, 0, &error), error);
    CHECK(stats_of(pool).allocation_count == 1);
    give(pool, at[3], s);
    CU(StreamSynchronize, s);
    CHECK(gph_checkpoint_restore(pool, point, &y, 1, 0, &error) == GPH_E_INVALID);
    CHECK(stats_of(pool).allocation_count == 0);

    pages_are_given_up(arena, pool, point, empty);
    gph_checkpoint_destroy(point);
    gph_checkpoint_destroy(empty);
    gph_checkpoint_destroy(NULL);
    gph_pool_release(other);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void the_ledger_is_what_the_driver_says(void)
{
    gph_arena *arena = open_arena(64 * MiB);
    gph_ledger_total first = GPH_SIZED(gph_ledger_total);
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    gph_ledger_entry entries[16];
    uint32_t count = 0;
    CHECK_OK(gph_ledger_get(arena, NULL, 0, &count, &first, &error), error);
    CHECK(count == 0 && first.budget_bytes == 64 * MiB && first.mapped_bytes == 0);
    gph_pool *pool = open_pool(arena, "kv"), *other = open_pool(arena, NULL);
    alloc(pool, 9 * MiB, streams[0]);
    const CUdeviceptr a = alloc(other, 3 * MiB, streams[0]);
    give(other, a, streams[0]);
    CU(StreamSynchronize, streams[0]);
    gph_pool_release(other);

    const gph_recording_id id = begin(pool, streams[0], "r");
    CUdeviceptr out = alloc(pool, 2 * MiB, streams[0]);
    for (int i = 0; i < 500; i++)
        fill(out, (unsigned)i, 2 * MiB, streams[0]);
    CUgraph graph = end(pool, id, streams[0], &out, 1);
    gph_exec *exec = NULL;
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &error), error);
    CHECK_OK(gph_ledger_get(arena, entries, 16, &count, &total, &error), error);
    CHECK(count == 3 && entries[0].kind == GPH_LEDGER_POOL);
    CHECK(strcmp(entries[0].name, "kv") == 0 && entries[0].object == pool);
    CHECK(entries[0].own_bytes == 11 * MiB && entries[0].pool_bytes == 12 * MiB);
    CHECK(entries[1].kind == GPH_LEDGER_RECORDING && entries[1].id == id);
    CHECK(entries[1].own_bytes == 2 * MiB && entries[1].shared_bytes == 0);
    CHECK(entries[2].kind == GPH_LEDGER_EXEC && entries[2].object == exec);
    CHECK(total.exec_bytes == entries[2].own_bytes);
    CHECK(total.mapped_bytes == 12 * MiB && total.cached_bytes == 4 * MiB);
    /* What the driver says, without what it said before, is what the ledger says. */
    const uint64_t said = total.driver_bytes - first.driver_bytes;
    const uint64_t listed = total.mapped_bytes + total.cached_bytes + total.exec_bytes;
    const uint64_t off = said > listed ? said - listed : listed - said;
    CHECK(off <= 2 * MiB || off * 50 <= said);
    printf("# driver %" PRIu64 ", ledger %" PRIu64 ", executable %" PRIu64 "\n", said,
           listed, entries[2].own_bytes);
    CHECK(gph_ledger_get(NULL, NULL, 0, &count, NULL, &error) == GPH_E_INVALID);
    gph_exec_destroy(exec);
    CHECK_OK(gph_ledger_get(arena, entries, 16, &count, &total, &error), error);
    CHECK(count == 2 && total.exec_bytes == 0);
    CU(GraphDestroy, graph);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static gph_pool *growing;

static void grow_meanwhile(void)
{
    alloc(growing, 4 * MiB, streams[1]);
}

static void executables_are_measured_without_our_own_pages(void)
{
    gph_ledger_entry entries[8];
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    uint32_t count = 0;
    CUgraph graph = NULL;
    gph_exec *small = NULL, *large = NULL;
    if (plain->info.driver != GPH_DRIVER_SOFT)
        SKIP("a GPU's driver takes what it likes");
    gph_arena *arena = open_arena(0);
    growing = open_pool(arena, NULL);
    CU(GraphCreate, &graph, 0);
    driver_takes = 3 * MiB;
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &small, &error), error);
    while_instantiating = grow_meanwhile; /* pages of ours are not the executable's */
    CHECK_OK(gph_exec_create(runtime, graph, NULL, &large, &error), error);
    while_instantiating = NULL;
    CHECK_OK(gph_ledger_get(arena, entries, 8, &count, &total, &error), error);
    CHECK(count == 3 && total.exec_bytes == 6 * MiB && total.mapped_bytes == 4 * MiB);
    CHECK(entries[1].own_bytes == 3 * MiB && entries[2].own_bytes == 3 * MiB);
    CHECK(total.driver_bytes >= 10 * MiB);
    CHECK(total.foreign_bytes == total.driver_bytes - 10 * MiB);
    CUdeviceptr none = 0;
    CHECK(gph_pool_alloc(growing, 4096 * MiB, streams[1], &none, &error) ==
          CUDA_ERROR_OUT_OF_MEMORY);
    CHECK(strstr(error.message, "executables 6291456") != NULL);
    gph_exec_destroy(small);
    CHECK_OK(gph_ledger_get(arena, entries, 8, &count, &total, &error), error);
    CHECK(count == 2 && total.exec_bytes == 3 * MiB && entries[1].object == large);
    gph_exec_destroy(large);
    driver_takes = 0;
    CU(GraphDestroy, graph);
    gph_pool_release(growing);
    gph_arena_destroy(arena);
}

static void nothing_is_left(void)
{
    CHECK(shim_made(SHIM_cuMemMap) == shim_made(SHIM_cuMemUnmap));
    CHECK(shim_made(SHIM_cuMemCreate) == shim_made(SHIM_cuMemRelease));
    CHECK(shim_made(SHIM_cuEventCreate) == shim_made(SHIM_cuEventDestroy));
    CHECK(shim_made(SHIM_cuMemAddressReserve) == shim_made(SHIM_cuMemAddressFree));
}

int main(void)
{
    if (!open_driver())
        return 77;
    RUN(sizes_are_rounded_and_counted);
    RUN(the_best_fit_is_taken_and_neighbours_merge);
    RUN(a_pool_grows_where_it_is);
    RUN(another_stream_waits_for_the_work);
    RUN(a_free_waits_for_every_stream_that_was_named);
    RUN(default_streams_are_streams);
    RUN(streams_come_and_go);
    RUN(bad_arguments_are_refused);
    RUN(pages_go_back_and_are_used_again);
    RUN(pages_in_use_are_not_unmapped);
    RUN(the_chain_of_what_is_given_up);
    RUN(a_pool_has_a_limit);
    RUN(a_range_can_be_had_again);
    RUN(checkpoints_absorb_what_came_after);
    RUN(the_ledger_is_what_the_driver_says);
    RUN(executables_are_measured_without_our_own_pages);
    RUN(nothing_is_left);
    close_driver();
    return test_done();
}

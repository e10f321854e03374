// SPDX-License-Identifier: Apache-2.0
/* Every allocation of the library's own, and every driver call of its pools, fails in
 * turn: the call that meets it fails as a whole, and nothing is left behind. */
#include "fault.h"
#include "memory_common.h"

#include <gph/memory_ledger.h>

#include <limits.h>

static fault_heap heap;
static gph_status expected; /* what a failure may be */

/* What a failed call must leave as it was. */
struct books {
    uint64_t allocated, requested;
    uint32_t live, recordings, sum;
};

static struct books look(const gph_pool *pool)
{
    struct books books = {0};
    gph_pool_range live[16];
    uint32_t count = 0;
    if (pool == NULL)
        return books;
    const gph_pool_stats stats = stats_of(pool);
    gph_pool_live(pool, live, 16, &count);
    CHECK(count <= 16 && count == stats.allocation_count);
    for (uint32_t i = 0; i < count; i++)
        books.sum = books.sum * 31 + (uint32_t)(live[i].address >> 9) +
                    (uint32_t)(live[i].bytes >> 9) * 7 + live[i].recording;
    books.allocated = stats.allocated_bytes;
    books.requested = stats.requested_bytes;
    books.live = count;
    books.recordings = stats.recording_count;
    return books;
}

/* Field by field: what lies between fields is nobody's. */
static bool same(const struct books *a, const struct books *b)
{
    return a->allocated == b->allocated && a->requested == b->requested &&
           a->live == b->live && a->recordings == b->recordings && a->sum == b->sum;
}

/* The call worked, or failed as it may, with nothing changed. */
static bool fine(gph_status status, const gph_pool *pool, const struct books *before)
{
    if (status == GPH_OK)
        return true;
    if (!CHECK(status == expected || status == GPH_E_NO_MEMORY))
        fprintf(stderr, "  status %d: %s\n", (int)status, error.message);
    const struct books after = look(pool);
    CHECK(same(&after, before));
    return false;
}

#define TRY(call)                                                                        \
    do {                                                                                 \
        const struct books before_ = look(pool);                                         \
        if (!fine(call, pool, &before_))                                                 \
            return false;                                                                \
    } while (0)

static bool capture_work(gph_pool *pool, gph_recording_id id, CUdeviceptr given,
                         CUgraph *out)
{
    CUdeviceptr a = 0, b = 0, c = 0, d = 0;
    follow(streams[1], streams[0]);
    TRY(gph_pool_alloc(pool, 3 * MiB, streams[0], &a, &error));
    fill(a, 1, 64, streams[0]);
    TRY(gph_pool_alloc(pool, MiB, streams[1], &b, &error));
    TRY(gph_pool_use(pool, a, streams[1], &error));
    TRY(gph_pool_use(pool, given, streams[1], &error));
    fill(b, 1, 64, streams[1]);
    TRY(gph_pool_free(pool, a, streams[0], &error));
    TRY(gph_pool_free(pool, b, streams[1], &error));
    TRY(gph_pool_free(pool, given, streams[0], &error));
    follow(streams[0], streams[1]);
    fill(given, 1, 64, streams[0]);
    TRY(gph_pool_alloc(pool, 5 * MiB / 2, streams[0], &c, &error));
    TRY(gph_pool_alloc(pool, 512, streams[0], &d, &error));
    TRY(gph_pool_free(pool, c, streams[0], &error));
    CUgraph graph = end_capture(streams[0]);
    const struct books before = look(pool);
    const gph_status status = gph_pool_record_end(pool, id, &d, 1, NULL, &error);
    if (status == GPH_OK)
        *out = graph;
    else if (graph != NULL)
        CU(GraphDestroy, graph);
    return fine(status, pool, &before);
}

/* The capture is over, whatever became of it. */
static void leave_capture(gph_pool *pool, gph_recording_id id)
{
    CUgraph graph = NULL;
    if (plain->cu.cuStreamEndCapture(streams[0], &graph) == CUDA_SUCCESS)
        CU(GraphDestroy, graph);
    else if (plain->cu.cuStreamEndCapture(streams[0], &graph) == CUDA_SUCCESS)
        CU(GraphDestroy, graph);
    gph_pool_record_abort(pool, id);
}

static bool record(gph_pool *pool, CUdeviceptr given, gph_recording_id *out)
{
    gph_recording_id id = 0;
    TRY(gph_pool_record_begin(pool, streams[0], "r", &id, &error));
    struct books before = look(pool);
    before.recordings--;
    CHECK(plain->cu.cuStreamBeginCapture(streams[0], 1) == CUDA_SUCCESS);
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    if (!capture_work(pool, id, given, &graph)) {
        leave_capture(pool, id);
        const struct books after = look(pool);
        CHECK(same(&after, &before)); /* as before the begin */
        return false;
    }
    const struct books now = look(pool);
    const bool done = fine(gph_exec_create(gph_arena_runtime(gph_pool_arena(pool)), graph,
                                           NULL, &exec, &error),
                           pool, &now);
    gph_exec_destroy(exec);
    CU(GraphDestroy, graph);
    *out = id;
    return done;
}

static bool restore(gph_pool *pool, gph_recording_id id)
{
    gph_pool_range ranges[8];
    uint32_t count = 0;
    gph_recording_id again = 0;
    TRY(gph_pool_ranges(pool, id, ranges, 8, &count, &error));
    gph_pool_record_forget(pool, id);
    TRY(gph_pool_record_restore(pool, "again", ranges, count, &again, &error));
    CHECK_OK(gph_pool_replay(pool, again, &error), error);
    return true;
}

static bool checkpoint(gph_pool *pool)
{
    gph_checkpoint *point = NULL;
    CUdeviceptr p = 0;
    TRY(gph_checkpoint_take(pool, &point, &error));
    const struct books then = look(pool);
    bool done = false;
    struct books before = look(pool);
    if (fine(gph_pool_alloc(pool, 4096, streams[0], &p, &error), pool, &before)) {
        before = look(pool);
        done =
            fine(gph_checkpoint_restore(pool, point, NULL, 0, 1, &error), pool, &before);
        const struct books now = look(pool);
        if (done)
            CHECK(same(&now, &then));
    }
    gph_checkpoint_destroy(point);
    return done;
}

static bool use_pool(gph_arena *arena, gph_pool *pool)
{
    CUdeviceptr a = 0, b = 0, base = 0;
    gph_recording_id id = 0;
    uint32_t count = 0;
    gph_ledger_entry entries[4];
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    gph_arena_range(arena, &base, NULL);
    TRY(gph_pool_alloc(pool, MiB, streams[0], &a, &error));
    TRY(gph_pool_alloc(pool, MiB, streams[2], &b, &error));
    TRY(gph_pool_alloc_at(pool, base + 64 * MiB, MiB, streams[0], &error));
    TRY(gph_pool_use(pool, b, streams[3], &error));
    TRY(gph_pool_free(pool, b, streams[2], &error));
    if (!record(pool, a, &id))
        return false;
    TRY(gph_pool_record_input(pool, id, base + 64 * MiB, 512, &error));
    TRY(gph_ledger_get(arena, entries, 4, &count, &total, &error));
    CHECK(count == 2);
    TRY(gph_pool_free(pool, base + 64 * MiB, streams[0], &error));
    if (!checkpoint(pool) || !restore(pool, id))
        return false;
    TRY(gph_arena_trim(arena, 0, NULL, &error));
    return true;
}

/* All of it once. */
static bool run(gph_runtime *under)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    gph_arena *arena = NULL;
    gph_pool *pool = NULL;
    const struct books none = {0};
    bool done = false;
    options.reserve_bytes = 256 * MiB;
    if (!fine(gph_arena_create(under, &options, &arena, &error), NULL, &none)) {
        CHECK(arena == NULL);
        return false;
    }
    if (fine(gph_pool_create(arena, NULL, &pool, &error), NULL, &none))
        done = use_pool(arena, pool);
    else
        CHECK(pool == NULL);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    return done;
}

static void quiet(void *user, gph_log_level level, const char *area, const char *message)
{
    (void)user, (void)level, (void)area, (void)message;
}

enum { MOST = 2000 };

/* `fail_at` is what counts down to the failure; the first `busy` queries find work that
 * has not ended. */
static void sweep(atomic_long *fail_at, gph_status failure, long busy)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    expected = failure;
    atomic_store(&heap.fail_at, -1);
    for (long nth = 0; nth < MOST && test_failures < 10; nth++) {
        gph_runtime *under = open_shim(&allocator);
        const long held = atomic_load(&heap.live_bytes);
        const uint64_t free_before = device_free();
        atomic_store(&shim.busy, busy);
        atomic_store(fail_at, nth);
        const bool done = run(under);
        const bool was_met = atomic_load(fail_at) < 0;
        atomic_store(fail_at, -1);
        atomic_store(&shim.busy, 0);
        CHECK(done || was_met);
        CHECK(atomic_load(&heap.live_bytes) == held);
        CHECK(is_about(device_free(), free_before));
        gph_close(under);
        if (!was_met) {
            printf("# %ld of them, %ld queries too early\n", nth, busy);
            CHECK(nth > 20);
            return;
        }
    }
    CHECK(test_failures >= 10); /* the end was not found */
}

/* None, a few, all. */
static const long busy[] = {0, 1, 4, LONG_MAX};

static void sweep_all(atomic_long *fail_at, gph_status failure)
{
    for (size_t i = 0; i < sizeof(busy) / sizeof(*busy); i++)
        sweep(fail_at, failure, busy[i]);
}

static void survives_every_failed_allocation(void)
{
    sweep_all(&heap.fail_at, GPH_E_NO_MEMORY);
}

static void survives_every_failed_driver_call(void)
{
    shim.fail_with = CUDA_ERROR_UNKNOWN;
    sweep_all(&shim.fail_at, CUDA_ERROR_UNKNOWN);
    shim.fail_with = CUDA_ERROR_OUT_OF_MEMORY;
    sweep_all(&shim.fail_at, CUDA_ERROR_OUT_OF_MEMORY);
}

int main(void)
{
    if (!open_driver())
        return 77;
    gph_log_set(quiet, NULL);
    RUN(survives_every_failed_allocation);
    RUN(survives_every_failed_driver_call);
    close_driver();
    return test_done();
}

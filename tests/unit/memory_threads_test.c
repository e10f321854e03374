// SPDX-License-Identifier: Apache-2.0
/* One arena from many threads: eager memory in several streams and two pools, a thread
 * that captures into each of them, one that replays, one that looks and trims. Each grain
 * that is handed out is claimed, so that memory given out twice is seen at once. */
#include "memory_common.h"

#include <gph/memory_ledger.h>

#include <pthread.h>

enum { EAGER_THREADS = 3, ROUNDS = 300, HELD = 8, GRAINS = 1 << 20 };

static gph_arena *arena;
static gph_pool *pools[2];
static CUdeviceptr base;
static atomic_int claimed[GRAINS];
static atomic_uint last_recording;
static atomic_bool is_over;

static unsigned int draw(uint64_t *seed, unsigned int below)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (unsigned int)(*seed >> 33) % below;
}

static void claim(CUdeviceptr address, uint64_t bytes, int by)
{
    const uint64_t first = (address - base) / 512, count = bytes / 512;
    for (uint64_t g = first; g < first + count && g < GRAINS; g++) {
        const int before = atomic_fetch_add(&claimed[g], by);
        if (before + by != (by > 0 ? 1 : 0)) {
            CHECK(before + by == (by > 0 ? 1 : 0));
            return;
        }
    }
}

struct held {
    CUdeviceptr address;
    uint64_t bytes;
    gph_pool *pool;
};

static void drop(struct held *held, CUstream stream)
{
    gph_error failure = {0};
    claim(held->address, held->bytes, -1);
    CHECK_OK(gph_pool_free(held->pool, held->address, stream, &failure), failure);
    held->address = 0;
}

static void *work_eagerly(void *user)
{
    const int which = (int)(intptr_t)user;
    const CUstream stream = streams[1 + which];
    uint64_t seed = (uint64_t)which + 1;
    struct held held[HELD] = {{0}};
    gph_error failure = {0};
    CHECK(cu->CtxSetCurrent(context) == GPH_OK);
    for (int i = 0; i < ROUNDS; i++) {
        struct held *h = &held[draw(&seed, HELD)];
        if (h->address != 0) {
            drop(h, stream);
            continue;
        }
        h->pool = pools[draw(&seed, 2)];
        h->bytes = 512 * (1 + draw(&seed, 600));
        CHECK_OK(gph_pool_alloc(h->pool, h->bytes, stream, &h->address, &failure),
                 failure);
        claim(h->address, h->bytes, 1);
        if (draw(&seed, 4) == 0)
            CHECK(cu->MemsetD32Async(h->address, 1, 128, stream) == GPH_OK);
        if (draw(&seed, 4) == 0)
            CHECK_OK(gph_pool_use(h->pool, h->address, stream, &failure), failure);
    }
    for (int i = 0; i < HELD; i++)
        if (held[i].address != 0)
            drop(&held[i], stream);
    return NULL;
}

static void capture_once(int which, uint64_t *seed)
{
    gph_pool *pool = pools[which];
    const CUstream stream = streams[which == 0 ? 0 : 4];
    gph_error failure = {0};
    gph_recording_id id = 0;
    CUdeviceptr at[6] = {0};
    uint64_t bytes[6];
    CUgraph graph = NULL;
    CHECK_OK(gph_pool_record_begin(pool, stream, NULL, &id, &failure), failure);
    CHECK(plain->cu.cuStreamBeginCapture(stream, 1) == CUDA_SUCCESS);
    for (int i = 0; i < 6; i++) {
        bytes[i] = 512 * (1 + draw(seed, 800));
        CHECK_OK(gph_pool_alloc(pool, bytes[i], stream, &at[i], &failure), failure);
        claim(at[i], bytes[i], 1);
        CHECK(cu->MemsetD32Async(at[i], 1, 128, stream) == GPH_OK);
        if (i % 2 == 1) {
            claim(at[i], bytes[i], -1);
            CHECK_OK(gph_pool_free(pool, at[i], stream, &failure), failure);
        }
    }
    for (int i = 0; i < 6; i += 2)
        claim(at[i], bytes[i], -1); /* before they can be another's */
    CHECK(plain->cu.cuStreamEndCapture(stream, &graph) == CUDA_SUCCESS);
    if (draw(seed, 3) == 0) {
        gph_pool_record_abort(pool, id); /* its pages may be anybody's, or nobody's */
    } else {
        const CUdeviceptr outputs[] = {at[0], at[2], at[4]};
        gph_exec *exec = NULL; /* measured for the ledger, while others take pages */
        CHECK_OK(gph_pool_record_end(pool, id, outputs, 3, NULL, &failure), failure);
        if (which == 0)
            atomic_store(&last_recording, id);
        CHECK_OK(gph_exec_create(runtime, graph, NULL, &exec, &failure), failure);
        gph_exec_destroy(exec);
        if (draw(seed, 2) == 0)
            gph_pool_record_forget(pool, id);
    }
    CHECK(cu->GraphDestroy(graph) == GPH_OK);
}

static void *capture(void *user)
{
    const int which = (int)(intptr_t)user;
    uint64_t seed = 99 + (uint64_t)which;
    CHECK(cu->CtxSetCurrent(context) == GPH_OK);
    for (int i = 0; i < ROUNDS / 10; i++)
        capture_once(which, &seed);
    return NULL;
}

static void *replay(void *user)
{
    (void)user;
    gph_error failure = {0};
    while (!atomic_load(&is_over)) {
        const gph_recording_id id = atomic_load(&last_recording);
        const gph_status status = gph_pool_replay(pools[0], id, &failure);
        CHECK(status == GPH_OK || status == GPH_E_STATE || status == GPH_E_INVALID);
    }
    return NULL;
}

static void *look(void *user)
{
    (void)user;
    gph_error failure = {0};
    CHECK(cu->CtxSetCurrent(context) == GPH_OK);
    while (!atomic_load(&is_over)) {
        gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
        gph_ledger_total total = GPH_SIZED(gph_ledger_total);
        uint32_t count = 0;
        gph_pool_stats_get(pools[1], &stats);
        CHECK(stats.allocated_bytes <= stats.mapped_bytes);
        CHECK_OK(gph_ledger_get(arena, NULL, 0, &count, &total, &failure), failure);
        CHECK_OK(gph_arena_trim(arena, 0, NULL, &failure), failure);
        gph_pool_release(gph_pool_retain(pools[1]));
    }
    return NULL;
}

static void quiet(void *user, gph_log_level level, const char *area, const char *message)
{
    (void)user, (void)level, (void)area, (void)message;
}

static void threads_share_an_arena(void)
{
    pthread_t eager[EAGER_THREADS], capturers[2], replayer, looker;
    arena = open_arena(0);
    gph_arena_range(arena, &base, NULL);
    for (int i = 0; i < 2; i++)
        pools[i] = open_pool(arena, NULL);
    for (int i = 0; i < EAGER_THREADS; i++)
        pthread_create(&eager[i], NULL, work_eagerly, (void *)(intptr_t)i);
    for (int i = 0; i < 2; i++) /* one capture a thread, each in a pool of its own */
        pthread_create(&capturers[i], NULL, capture, (void *)(intptr_t)i);
    pthread_create(&replayer, NULL, replay, NULL);
    pthread_create(&looker, NULL, look, NULL);
    for (int i = 0; i < EAGER_THREADS; i++)
        pthread_join(eager[i], NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(capturers[i], NULL);
    atomic_store(&is_over, true);
    pthread_join(replayer, NULL);
    pthread_join(looker, NULL);
    stats_of(pools[0]);
    stats_of(pools[1]);
    CHECK(cu->CtxSynchronize() == GPH_OK);
    gph_pool_release(pools[0]);
    gph_pool_release(pools[1]);
    gph_arena_destroy(arena);
}

int main(void)
{
    if (!open_driver())
        return 77;
    gph_log_set(quiet, NULL);
    RUN(threads_share_an_arena);
    close_driver();
    return test_done();
}

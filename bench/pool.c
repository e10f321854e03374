// SPDX-License-Identifier: Apache-2.0
/* Pools: what an allocation, a checkpoint, a replay's check and a capture with reuse
 * cost. Medians of repeated runs, host time. */
#define _GNU_SOURCE
#include <gph/gph.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MiB (1ull << 20)
enum { STREAMS = 4, REPEATS = 9, OPS = 10000, THREAD_LOCAL = 1 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static CUstream streams[STREAMS];
static CUevent event;
static gph_arena *arena;
static gph_pool *pool;
static gph_error error;

static void need(gph_status status)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "%s: %s\n", gph_status_name(status), error.message);
    exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* The median of what `run` takes, in ns. */
static double median(double (*run)(void *), void *user)
{
    double ns[REPEATS];
    for (int i = 0; i < REPEATS; i++)
        ns[i] = run(user);
    qsort(ns, REPEATS, sizeof(*ns), by_value);
    return ns[REPEATS / 2];
}

static CUdeviceptr alloc(uint64_t bytes, CUstream stream)
{
    CUdeviceptr address = 0;
    need(gph_pool_alloc(pool, bytes, stream, &address, &error));
    return address;
}

static void give(CUdeviceptr address, CUstream stream)
{
    need(gph_pool_free(pool, address, stream, &error));
}

/* ---- eager ---- */

static double pairs(void *user)
{
    enum { COUNT = 2000 };
    const bool is_driver = user != NULL;
    const double start = now();
    for (int i = 0; i < COUNT; i++) {
        const uint64_t bytes = 512u << i % 8;
        CUdeviceptr p = 0;
        if (is_driver) {
            need(cu->MemAllocAsync(&p, bytes, streams[0]));
            need(cu->MemFreeAsync(p, streams[0]));
        } else {
            p = alloc(bytes, streams[0]);
            give(p, streams[0]);
        }
    }
    const double ns = (now() - start) / COUNT;
    need(cu->StreamSynchronize(streams[0]));
    return ns;
}

static void bench_eager(void)
{
    static CUdeviceptr live[2000];
    printf("%-52s %9.0f ns\n", "alloc + free, empty pool", median(pairs, NULL));
    for (int i = 0; i < 2000; i++)
        live[i] = alloc(512 * (1 + (uint64_t)i % 7), streams[0]);
    for (int i = 0; i < 2000; i += 2)
        give(live[i], streams[0]);
    need(cu->StreamSynchronize(streams[0]));
    printf("%-52s %9.0f ns\n", "alloc + free, 1,000 blocks live, 1,000 holes",
           median(pairs, NULL));
    for (int i = 1; i < 2000; i += 2)
        give(live[i], streams[0]);
    printf("%-52s %9.0f ns\n", "cuMemAllocAsync + cuMemFreeAsync", median(pairs, pool));
}

/* ---- checkpoints ---- */

static double take(void *user)
{
    gph_checkpoint *point = NULL;
    (void)user;
    const double start = now();
    need(gph_checkpoint_take(pool, &point, &error));
    const double ns = now() - start;
    gph_checkpoint_destroy(point);
    return ns;
}

/* Half of the blocks are freed in between. */
struct half {
    const CUdeviceptr *live;
    int count;
};

static double restore(void *user)
{
    const struct half *half = user;
    gph_checkpoint *point = NULL;
    need(gph_checkpoint_take(pool, &point, &error));
    for (int i = 0; i < half->count; i += 2)
        give(half->live[i], streams[0]);
    need(cu->StreamSynchronize(streams[0]));
    const double start = now();
    need(gph_checkpoint_restore(pool, point, NULL, 0, 1, &error));
    const double ns = now() - start;
    gph_checkpoint_destroy(point);
    return ns;
}

static void bench_checkpoints(void)
{
    static CUdeviceptr live[10000];
    for (int count = 100; count <= 10000; count *= 10) {
        char text[64];
        for (int i = 0; i < count; i++)
            live[i] = alloc(1024, streams[0]);
        snprintf(text, sizeof(text), "checkpoint of %d blocks, take", count);
        printf("%-52s %9.1f us\n", text, median(take, NULL) / 1e3);
        const struct half half = {live, count};
        snprintf(text, sizeof(text), "checkpoint of %d blocks, restore half", count);
        printf("%-52s %9.1f us\n", text, median(restore, (void *)&half) / 1e3);
        for (int i = 0; i < count; i++)
            give(live[i], streams[0]);
        need(cu->StreamSynchronize(streams[0]));
    }
}

/* ---- captures ---- */

static gph_recording_id begin(void)
{
    gph_recording_id id = 0;
    need(gph_pool_record_begin(pool, streams[0], NULL, &id, &error));
    return id;
}

static void check_replays(void)
{
    enum { COUNT = 64, CHECKS = 1000000 };
    gph_recording_id ids[COUNT];
    CUdeviceptr last = 0;
    for (int i = 0; i < COUNT; i++) {
        gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
        gph_capture *capture = NULL;
        CUgraph graph = NULL;
        ids[i] = begin();
        need(gph_capture_begin(runtime, streams[0], &options, &capture, &error));
        const CUdeviceptr out = alloc(4096, streams[0]);
        give(alloc(65536, streams[0]), streams[0]);
        need(gph_capture_end(capture, &graph, &error));
        need(gph_pool_record_end(pool, ids[i], &out, 1, NULL, &error));
        if (last != 0)
            need(gph_pool_record_input(pool, ids[i], last, 4096, &error));
        need(cu->GraphDestroy(graph));
        last = out;
    }
    const double start = now();
    for (int i = 0; i < CHECKS; i++)
        need(gph_pool_replay(pool, ids[i % COUNT], &error));
    printf("%-52s %9.1f ns\n", "gph_pool_replay, 64 recordings with an input each",
           (now() - start) / CHECKS);
    for (int i = 0; i < COUNT; i++)
        gph_pool_record_forget(pool, ids[i]);
}

static void follow(CUstream to, CUstream from)
{
    need(cu->EventRecord(event, from));
    need(cu->StreamWaitEvent(to, event, 0));
}

/* How a capture goes: on how many streams, and whether it allocates. */
struct shape {
    int streams;
    bool allocates;
    uint64_t bytes; /* that the recording used */
};

/* OPS operations: allocate, fill, free some steps later, in turn on each stream; all
 * streams meet every 16 operations. */
static double capture(void *user)
{
    struct shape *shape = user;
    CUdeviceptr held[8] = {0}, fixed = alloc(4096, streams[0]);
    int where[8] = {0};
    gph_capture *bound = NULL;
    CUgraph graph = NULL;
    const double start = now();
    const gph_recording_id id = begin();
    need(gph_capture_begin(runtime, streams[0], NULL, &bound, &error));
    for (int s = 1; s < shape->streams; s++)
        follow(streams[s], streams[0]);
    for (int i = 0; i < OPS; i++) {
        const int s = i % shape->streams, k = i % 8;
        if (shape->streams > 1 && i % 16 == 0) {
            for (int t = 1; t < shape->streams; t++)
                follow(streams[0], streams[t]);
            for (int t = 1; t < shape->streams; t++)
                follow(streams[t], streams[0]);
        }
        CUdeviceptr p = fixed + 512 * (uint64_t)s;
        if (shape->allocates) {
            if (held[k] != 0)
                give(held[k], streams[where[k]]);
            held[k] = p = alloc(512u << i * 7 % 11, streams[s]);
            where[k] = s;
        }
        need(cu->MemsetD32Async(p, 1, 128, streams[s]));
    }
    for (int k = 0; k < 8; k++)
        if (held[k] != 0)
            give(held[k], streams[where[k]]);
    for (int s = 1; s < shape->streams; s++)
        follow(streams[0], streams[s]);
    need(gph_capture_end(bound, &graph, &error));
    need(gph_pool_record_end(pool, id, NULL, 0, NULL, &error));
    const double ns = now() - start;
    gph_ledger_entry entries[2] = {{0}};
    uint32_t count = 0;
    need(gph_ledger_read(arena, entries, 2, &count, NULL, &error));
    shape->bytes = entries[1].own_bytes;
    need(cu->GraphDestroy(graph));
    gph_pool_record_forget(pool, id);
    give(fixed, streams[0]);
    need(cu->StreamSynchronize(streams[0]));
    return ns;
}

static void bench_captures(void)
{
    for (int count = 1; count <= STREAMS; count *= 2)
        for (int allocates = 0; allocates < 2; allocates++) {
            struct shape shape = {.streams = count, .allocates = allocates != 0};
            char text[64];
            snprintf(text, sizeof(text), "capture of %d operations, %d stream%s, %s", OPS,
                     count, count > 1 ? "s" : "", allocates ? "reuse" : "fixed");
            printf("%-52s %9.2f ms", text, median(capture, &shape) / 1e6);
            if (allocates)
                printf(", %llu KiB", (unsigned long long)shape.bytes / 1024);
            printf("\n");
        }
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_arena_options arena_options = GPH_ARENA_OPTIONS_INIT;
    gph_driver_info info;
    CUdevice device = 0;
    CUcontext context = NULL;
    options.driver = getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    need(gph_open(&options, &runtime, &error));
    cu = gph_cuda(runtime);
    gph_driver_describe(runtime, &info);
    need(cu->DeviceGet(&device, 0));
    need(cu->DevicePrimaryCtxRetain(&context, device));
    need(cu->CtxSetCurrent(context));
    for (int i = 0; i < STREAMS; i++)
        need(cu->StreamCreate(&streams[i], 1));
    need(cu->EventCreate(&event, 2));
    arena_options.reserve_bytes = 1024 * MiB;
    need(gph_arena_create(runtime, &arena_options, &arena, &error));
    need(gph_pool_create(arena, NULL, &pool, &error));
    printf("driver: %s\n", info.path);
    bench_eager();
    bench_checkpoints();
    check_replays();
    bench_captures();
    gph_pool_release(pool);
    gph_arena_destroy(arena);
    need(cu->EventDestroy(event));
    for (int i = 0; i < STREAMS; i++)
        need(cu->StreamDestroy(streams[i]));
    need(cu->DevicePrimaryCtxRelease(device));
    gph_close(runtime);
    return 0;
}

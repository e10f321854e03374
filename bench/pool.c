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

static void open_pool(void)
{
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 4096 * MiB;
    need(gph_arena_create(runtime, &options, &arena, &error));
    need(gph_pool_create(arena, NULL, &pool, &error));
}

static void close_pool(void)
{
    gph_pool_release(pool);
    gph_arena_destroy(arena);
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

/* Pages that come one growth after the other. */
static void bench_growth(void)
{
    enum { COUNT = 64 };
    CUdeviceptr at[COUNT];
    const double start = now();
    for (int i = 0; i < COUNT; i++)
        at[i] = alloc(2 * MiB, streams[0]);
    printf("%-52s %9.1f us\n", "growth by 2 MiB of new pages",
           (now() - start) / COUNT / 1e3);
    for (int i = 0; i < COUNT; i++)
        give(at[i], streams[0]);
    need(cu->StreamSynchronize(streams[0]));
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
    need(gph_ledger_get(arena, entries, 2, &count, NULL, &error));
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

/* ---- a recorded trace ---- */

/* An allocation or a free of the trace. */
struct step {
    uint64_t time;
    size_t buffer;
    bool is_alloc;
};

static int by_time(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return (int)x->is_alloc - (int)y->is_alloc; /* frees first: `upper` is exclusive */
}

struct trace {
    gph_plan_table *table;
    const gph_plan_buffer *buffers;
    size_t count;
    struct step *steps; /* 2 * count */
    CUdeviceptr *at;
    uint64_t live_bound;
};

static bool load_trace(const char *path, struct trace *t)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    const size_t bytes = fread(text, 1, sizeof(text), file);
    fclose(file);
    need(gph_plan_table_read(text, bytes, NULL, &t->table, &error));
    t->count = gph_plan_table_count(t->table);
    t->buffers = gph_plan_table_buffers(t->table);
    t->steps = calloc(2 * t->count, sizeof(*t->steps));
    t->at = calloc(t->count, sizeof(*t->at));
    if (t->steps == NULL || t->at == NULL)
        exit(1);
    for (size_t i = 0; i < t->count; i++) {
        t->steps[2 * i] = (struct step){t->buffers[i].lower, i, true};
        t->steps[2 * i + 1] = (struct step){t->buffers[i].upper, i, false};
    }
    qsort(t->steps, 2 * t->count, sizeof(*t->steps), by_time);
    uint64_t live = 0;
    for (size_t i = 0; i < 2 * t->count; i++) {
        const uint64_t size = t->buffers[t->steps[i].buffer].size;
        live += t->steps[i].is_alloc ? size : 0 - size;
        t->live_bound = live > t->live_bound ? live : t->live_bound;
    }
    return true;
}

/* The trace at a size of `part` in `parts`. */
static void play(const struct trace *t, uint64_t part, uint64_t parts)
{
    for (size_t i = 0; i < 2 * t->count; i++) {
        const size_t k = t->steps[i].buffer;
        if (t->steps[i].is_alloc)
            t->at[k] = alloc(t->buffers[k].size * part / parts + 1, streams[0]);
        else
            give(t->at[k], streams[0]);
    }
}

static uint64_t mapped(void)
{
    gph_pool_stats stats = GPH_SIZED(gph_pool_stats);
    gph_pool_stats_get(pool, &stats);
    return stats.mapped_bytes;
}

/* A pool that knows nothing of the future, beside the bytes that are alive at once. */
static void bench_trace(const struct trace *t)
{
    open_pool();
    const double start = now();
    play(t, 1, 1);
    printf("%-52s %9.3f x the live bound of %.0f MiB (%zu buffers, %.1f ms)\n",
           "recorded ResNet-50, pages", (double)mapped() / (double)t->live_bound,
           (double)t->live_bound / (double)MiB, t->count, (now() - start) / 1e6);
    close_pool();
}

static void capture_trace(const struct trace *t, uint64_t part, uint64_t parts)
{
    gph_capture *bound = NULL;
    CUgraph graph = NULL;
    const gph_recording_id id = begin();
    need(gph_capture_begin(runtime, streams[0], NULL, &bound, &error));
    play(t, part, parts);
    need(gph_capture_end(bound, &graph, &error));
    need(gph_pool_record_end(pool, id, NULL, 0, NULL, &error));
    need(cu->GraphDestroy(graph));
}

/* Graphs of many sizes in one pool, beside the largest alone. */
static void bench_buckets(const struct trace *t, uint64_t count)
{
    char text[64];
    open_pool();
    capture_trace(t, count, count);
    const double alone = (double)mapped();
    close_pool();
    for (int is_up = 0; is_up < 2; is_up++) {
        open_pool();
        for (uint64_t i = 0; i < count; i++)
            capture_trace(t, is_up ? i + 1 : count - i, count);
        snprintf(text, sizeof(text), "%d graphs of it, %s first, pages", (int)count,
                 is_up ? "smallest" : "largest");
        printf("%-52s %9.3f x the largest alone\n", text, (double)mapped() / alone);
        close_pool();
    }
}

int main(void)
{
    gph_options options = GPH_OPTIONS_INIT;
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    CUdevice device = 0;
    CUcontext context = NULL;
    options.driver = getenv("GPH_DRIVER") != NULL ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO;
    need(gph_open(&options, &runtime, &error));
    cu = gph_cuda(runtime);
    gph_driver_info_get(runtime, &info);
    need(cu->DeviceGet(&device, 0));
    need(cu->DevicePrimaryCtxRetain(&context, device));
    need(cu->CtxSetCurrent(context));
    for (int i = 0; i < STREAMS; i++)
        need(cu->StreamCreate(&streams[i], 1));
    need(cu->EventCreate(&event, 2));
    open_pool();
    printf("driver: %s\n", info.path);
    bench_growth();
    bench_eager();
    bench_checkpoints();
    check_replays();
    bench_captures();
    close_pool();
    struct trace trace = {0};
    if (load_trace(BENCH_TRACES "/resnet50/resnet50.csv", &trace)) {
        bench_trace(&trace);
        bench_buckets(&trace, 7);
        bench_buckets(&trace, 67);
        free(trace.steps);
        free(trace.at);
        gph_plan_table_destroy(trace.table);
    }
    need(cu->EventDestroy(event));
    for (int i = 0; i < STREAMS; i++)
        need(cu->StreamDestroy(streams[i]));
    need(cu->DevicePrimaryCtxRelease(device));
    gph_close(runtime);
    return 0;
}

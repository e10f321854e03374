// SPDX-License-Identifier: Apache-2.0
/* bench/load: 256 graphs like the buckets of a decoder (200 to 600 kernel nodes each),
 * captured, written into a recipe, and loaded from it in a new process; on softcuda or,
 * with GPH_DRIVER=cuda in the environment, on NVIDIA's driver.
 *
 *   bench_load [ROUNDS [GRAPHS]]
 *
 * Medians of rounds, a new process each. Opening the driver, making the context and
 * loading the module are not counted: a server does them anyway. What is loaded is
 * launched once, and its result compared. Beside it, as its floor, the same graphs by the
 * driver's own calls with several threads. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "load.h"
#include <gph/gph.h>

enum { KERNELS = LOAD_KERNELS, ROUNDS_MAX = 101, PLACE = 64 << 20 };

static gph_runtime *runtime;
static const gph_cuda_calls *cu;
static gph_error error;
static gph_module *module;
static CUfunction layers[KERNELS];
static CUstream stream, side;
static CUevent forked, joined;
static int graph_count = 256, rounds = 5;

static void must(gph_status status, const char *what)
{
    if (status == GPH_OK)
        return;
    fprintf(stderr, "bench_load: %s: %s %s\n", what, gph_status_name(status),
            error.message);
    exit(1);
}
#define CU(name, ...) must(cu->name(__VA_ARGS__), #name)

static void open_driver(void)
{
    size_t used;
    const char *ptx = load_ptx(&used);
    gph_options options = GPH_OPTIONS_INIT;
    if (getenv("GPH_DRIVER") == NULL)
        options.driver = GPH_DRIVER_SOFT;
    must(gph_open(&options, &runtime, &error), "gph_open");
    cu = gph_cuda(runtime);
    CUcontext context = NULL;
    CU(DevicePrimaryCtxRetain, &context, 0);
    CU(CtxSetCurrent, context);
    CU(StreamCreate, &stream, 1);
    CU(StreamCreate, &side, 1);
    CU(EventCreate, &forked, 2);
    CU(EventCreate, &joined, 2);
    must(gph_module_load(runtime, ptx, used, &module, &error), "gph_module_load");
    for (int i = 0; i < KERNELS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "layer%d", i);
        must(gph_module_function(module, name, &layers[i], &error), name);
    }
}

static void close_driver(void)
{
    gph_module_unload(module);
    cu->EventDestroy(joined);
    cu->EventDestroy(forked);
    cu->StreamDestroy(side);
    cu->StreamDestroy(stream);
    cu->DevicePrimaryCtxRelease(0);
    gph_close(runtime);
}

/* Memory of the graphs: an arena at `base` (0: anywhere) and one allocation at its
 * beginning, whose first word is the counter. */
struct memory {
    gph_arena *arena;
    gph_pool *pool;
    CUdeviceptr base;
};

static struct memory open_memory(CUdeviceptr base)
{
    struct memory memory = {0};
    gph_arena_options options = GPH_ARENA_OPTIONS_INIT;
    options.reserve_bytes = 2 * (uint64_t)PLACE;
    options.base = base;
    must(gph_arena_create(runtime, &options, &memory.arena, &error), "gph_arena_create");
    gph_arena_range(memory.arena, &memory.base, NULL);
    must(gph_pool_create(memory.arena, NULL, &memory.pool, &error), "gph_pool_create");
    must(gph_pool_alloc_at(memory.pool, memory.base, PLACE, stream, &error),
         "gph_pool_alloc_at");
    CU(MemsetD32Async, memory.base, 0, 1024, stream);
    CU(StreamSynchronize, stream);
    return memory;
}

static void close_memory(struct memory *memory)
{
    must(gph_pool_free(memory->pool, memory->base, stream, &error), "gph_pool_free");
    gph_pool_release(memory->pool);
    gph_arena_destroy(memory->arena);
}

static int node_count(int graph)
{
    return load_node_count(graph, graph_count);
}

static void launch(CUstream where, CUdeviceptr base, int graph, int node)
{
    struct load_node given = load_node_at(base, graph, node);
    void *params[] = {&given.sum, &given.a, &given.b, &given.c, &given.n, &given.s};
    CU(LaunchKernel, layers[node % KERNELS], given.blocks, 1, 1, 32, 1, 1, 0, where,
       params, NULL);
}

/* A chain; every 8th node has one beside it. */
static CUgraph capture(CUdeviceptr base, int graph)
{
    gph_capture *recording = NULL;
    CUgraph out = NULL;
    must(gph_capture_begin(runtime, stream, NULL, &recording, &error), "capture");
    for (int node = 0; node < node_count(graph); node++) {
        const int is_beside = load_is_beside(node, node_count(graph));
        if (is_beside) {
            CU(EventRecord, forked, stream);
            CU(StreamWaitEvent, side, forked, 0);
            launch(side, base, graph, node++);
            CU(EventRecord, joined, side);
        }
        launch(stream, base, graph, node);
        if (is_beside)
            CU(StreamWaitEvent, stream, joined, 0);
    }
    must(gph_capture_end(recording, &out, &error), "gph_capture_end");
    return out;
}

static uint64_t time_capturing(CUdeviceptr base)
{
    gph_exec **execs = calloc((size_t)graph_count, sizeof(*execs));
    const uint64_t start = gphi_clock_ns();
    for (int i = 0; i < graph_count; i++) {
        CUgraph graph = capture(base, i);
        must(gph_exec_create(runtime, graph, NULL, &execs[i], &error), "gph_exec_create");
        CU(GraphDestroy, graph);
    }
    const uint64_t taken = gphi_clock_ns() - start;
    for (int i = 0; i < graph_count; i++)
        gph_exec_destroy(execs[i]);
    free(execs);
    return taken;
}

struct bases {
    CUdeviceptr base[2];
    int graph;
};

static gph_status capture_either(void *user, int which, CUgraph *out, gph_error *why)
{
    const struct bases *bases = user;
    (void)why;
    *out = capture(bases->base[which], bases->graph);
    return GPH_OK;
}

static uint64_t write_recipe(const struct memory *first, const struct memory *second,
                             const char *path)
{
    gph_recipe *recipe = NULL;
    const uint64_t start = gphi_clock_ns();
    must(gph_recipe_create(NULL, &recipe, &error), "gph_recipe_create");
    must(gph_recipe_arena_add(recipe, "arena", first->arena, second->arena, NULL, &error),
         "gph_recipe_arena_add");
    for (int i = 0; i < graph_count; i++) {
        char name[32];
        snprintf(name, sizeof(name), "bucket %d", i + 1);
        gph_recipe_entry entry = GPH_RECIPE_ENTRY_INIT;
        entry.name = name;
        struct bases bases = {{first->base, second->base}, i};
        must(gph_recipe_record_twice(recipe, runtime, &entry, capture_either, &bases,
                                     &error),
             "gph_recipe_record_twice");
    }
    must(gph_recipe_save(recipe, path, &error), "gph_recipe_save");
    const uint64_t taken = gphi_clock_ns() - start;
    gph_recipe_destroy(recipe);
    return taken;
}

/* ---- the new process ---- */

static void check_launches(gph_loaded *loaded, CUdeviceptr base)
{
    unsigned int sum = 0;
    for (int i = 0; i < graph_count; i++)
        must(gph_loaded_launch(loaded, (uint32_t)i, stream, &error), "gph_loaded_launch");
    CU(MemcpyDtoHAsync, &sum, base, sizeof(sum), stream);
    CU(StreamSynchronize, stream);
    if (sum != load_sum(graph_count)) {
        fprintf(stderr, "bench_load: the graphs made %u of %u\n", sum,
                load_sum(graph_count));
        exit(1);
    }
}

/* Prints nanoseconds of reading and of building. */
static void load_here(const char *path, CUdeviceptr base, uint32_t flags)
{
    open_driver();
    struct memory memory = open_memory(base);
    gph_recipe *recipe = NULL;
    gph_loaded *loaded = NULL;
    gph_recipe_place place = {"arena", memory.base, 2 * (uint64_t)PLACE};
    gph_loaded_options options = GPH_LOADED_OPTIONS_INIT;
    options.flags = flags;
    options.places = &place;
    options.place_count = 1;
    options.stream = stream;
    const uint64_t start = gphi_clock_ns();
    must(gph_recipe_load(path, NULL, &recipe, &error), "gph_recipe_load");
    const uint64_t opened = gphi_clock_ns();
    must(gph_loaded_create(runtime, recipe, &options, &loaded, &error),
         "gph_loaded_create");
    const uint64_t built = gphi_clock_ns();
    CU(StreamSynchronize, stream);
    const uint64_t uploaded = gphi_clock_ns();
    gph_recipe_destroy(recipe);
    check_launches(loaded, memory.base);
    gph_loaded_destroy(loaded);
    close_memory(&memory);
    close_driver();
    printf("%llu %llu %llu\n", (unsigned long long)(opened - start),
           (unsigned long long)(built - opened), (unsigned long long)(uploaded - built));
}

/* Runs main() with these words in a new process, which prints `count` numbers. */
static void run_there(const char *words, uint64_t *out, int count)
{
    char command[512];
    snprintf(command, sizeof(command), "/proc/%d/exe %s", (int)getpid(), words);
    FILE *child = popen(command, "r");
    int got = 0;
    unsigned long long taken = 0;
    while (child && got < count && fscanf(child, "%llu", &taken) == 1)
        out[got++] = taken;
    if (!child || got < count || pclose(child) != 0) {
        fprintf(stderr, "bench_load: the new process failed: %s\n", words);
        exit(1);
    }
}

static int by_size(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static double median_ms(uint64_t *samples, int count)
{
    qsort(samples, (size_t)count, sizeof(*samples), by_size);
    return (double)samples[count / 2] / 1e6;
}

/* Ways to have the graphs: those of libgph, then by the driver's own calls. */
static const struct way {
    const char *text;
    uint32_t flags;
    int is_elsewhere, threads, uploads;
} ways[] = {
    {.text = "at the same addresses"},
    {.text = "at other addresses", .is_elsewhere = 1},
    {.text = "executables shared by topology", .flags = GPH_RECIPE_SHARE},
    {.text = "executables at first launch", .flags = GPH_RECIPE_LAZY},
    {.text = "by hand, one thread", .threads = 1, .uploads = 1},
    {.text = "by hand, 2 threads", .threads = 2, .uploads = 1},
    {.text = "by hand, 4 threads", .threads = 4, .uploads = 1},
    {.text = "by hand, 8 threads", .threads = 8, .uploads = 1},
    {.text = "by hand, one thread, no upload", .threads = 1},
    {.text = "by hand, 4 threads, no upload", .threads = 4},
};
enum { WAYS = sizeof(ways) / sizeof(*ways) };

static void run_way(const struct way *way, const char *path, CUdeviceptr base,
                    uint64_t out[LOAD_PARTS])
{
    char words[400];
    if (way->threads) {
        snprintf(words, sizeof(words), "hand %d %d %d", graph_count, way->threads,
                 way->uploads);
        run_there(words, out, LOAD_PARTS);
        return;
    }
    base += way->is_elsewhere ? 8 * (CUdeviceptr)PLACE : 0;
    snprintf(words, sizeof(words), "load %s %llx %u %d", path, (unsigned long long)base,
             way->flags, graph_count);
    run_there(words, out + 1, LOAD_PARTS - 1);
    out[0] = out[1] + out[2] + out[3];
}

static void print_ways(uint64_t samples[WAYS][LOAD_PARTS][ROUNDS_MAX], double capturing)
{
    printf("%-34s %9s %11s %9s %9s %9s\n", "load, ms", "all", "/ capturing", "read",
           "build", "upload");
    for (size_t i = 0; i < WAYS; i++) {
        double ms[LOAD_PARTS];
        for (int j = 0; j < LOAD_PARTS; j++)
            ms[j] = median_ms(samples[i][j], rounds);
        if (ways[i].threads && !ways[i - 1].threads)
            printf("%-34s %9s %11s %9s %9s %9s\n", "the driver's calls, ms", "all", "",
                   "add", "make", "upload");
        printf("%-34s %9.1f %11.2f %9.1f %9.1f %9.1f\n", ways[i].text, ms[0],
               ms[0] / capturing, ms[1], ms[2], ms[3]);
    }
}

/* By turns, so that what disturbs one disturbs all. */
static void bench_loads(const char *path, const struct memory *memory, double capturing)
{
    static uint64_t samples[WAYS][LOAD_PARTS][ROUNDS_MAX];
    for (int round = 0; round < rounds; round++)
        for (size_t i = 0; i < WAYS; i++) {
            uint64_t taken[LOAD_PARTS];
            run_way(&ways[i], path, memory->base, taken);
            for (int j = 0; j < LOAD_PARTS; j++)
                samples[i][j][round] = taken[j];
        }
    print_ways(samples, capturing);
}

static void bench(void)
{
    char path[] = "/tmp/bench-load-XXXXXX";
    const int fd = mkstemp(path);
    if (fd >= 0)
        close(fd);
    open_driver();
    struct memory first = open_memory(0), second = open_memory(0);
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(runtime, &info);
    long nodes = 0;
    for (int i = 0; i < graph_count; i++)
        nodes += node_count(i);
    printf("%d graphs, %ld kernel nodes, CUDA %d.%d%s, median of %d\n", graph_count,
           nodes, info.version / 1000, info.version % 1000 / 10,
           info.driver == GPH_DRIVER_SOFT ? " (softcuda)" : "", rounds);
    static uint64_t samples[ROUNDS_MAX];
    for (int round = 0; round < rounds; round++)
        samples[round] = time_capturing(first.base);
    const double capturing = median_ms(samples, rounds);
    const double writing = (double)write_recipe(&first, &second, path) / 1e6;
    struct stat file = {0};
    stat(path, &file);
    printf("capture and instantiate            %9.1f ms\n", capturing);
    printf("capture twice and write            %9.1f ms, %.2f MiB\n\n", writing,
           (double)file.st_size / (1 << 20));
    bench_loads(path, &first, capturing);
    close_memory(&second);
    close_memory(&first);
    close_driver();
    unlink(path);
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "load") == 0) {
        graph_count = atoi(argv[5]);
        load_here(argv[2], strtoull(argv[3], NULL, 16), (uint32_t)atoi(argv[4]));
        return 0;
    }
    if (argc == 5 && strcmp(argv[1], "hand") == 0) {
        load_by_hand(atoi(argv[2]), atoi(argv[3]), atoi(argv[4]));
        return 0;
    }
    if (argc > 1)
        rounds = atoi(argv[1]);
    if (argc > 2)
        graph_count = atoi(argv[2]);
    if (rounds < 1 || rounds > ROUNDS_MAX || graph_count < 1 || graph_count > 4096) {
        fprintf(stderr, "usage: bench_load [ROUNDS [GRAPHS]]\n");
        return 2;
    }
    bench();
    return 0;
}

// SPDX-License-Identifier: Apache-2.0
/* Trees and caches for a while: random paths, shapes, views, writes, steps and failing
 * driver calls (tests/unit/tree_random.h; soak_cache.h), one after the other in one
 * arena.
 *
 *   soak [--seconds N] [--seed FIRST] [--drift RATIO]
 *
 * Every result is compared with what the functions compute. After each tree nothing is
 * left: no page of the arena, no executable, no byte of the heap beyond what was there
 * before, no memory of the device. At the end the median time of a replay in the last
 * quarter is shown beside that of the first; with --drift a greater ratio is a failure.
 */
#include "soak/soak_cache.h"
#include "unit/tree_device.h"
#include "unit/tree_random.h"

#include <gph/memory_ledger.h>

enum { QUARTERS = 4, BUCKETS = 4096, BUCKET_NS = 16 };

static uint64_t began_ns, length_ns = UINT64_C(4000000000);
static uint64_t histogram[QUARTERS][BUCKETS];
static long heap_before;

static gph_status world_tree(const gph_tree_options *options, gph_tree **out)
{
    gph_tree_options with = *options;
    with.stream = device_stream;
    return gph_tree_create(device_runtime, device_arena, &with, out, &error);
}

static void check_arena_is_empty(void);

static void world_end(gph_tree *ended)
{
    gph_tree_destroy(ended);
    check_arena_is_empty();
}

static gph_tensor world_tensor(uint32_t n, uint32_t units, uint64_t seed)
{
    return device_tensor(n, units, seed);
}

static value world_value(const gph_tensor *tensor)
{
    return device_value(tensor);
}

static void world_arm(uint32_t nth)
{
    shim.fail_at = nth;
}

static bool world_disarm(void)
{
    const bool has_failed = shim.fail_at < 0;
    shim.fail_at = -1;
    return has_failed;
}

static void world_check(const gph_tree_stats *stats)
{
    CHECK(stats->live_blocks <= stats->live_outputs);
}

static void world_timed(uint64_t ns)
{
    uint64_t quarter = (gphi_clock_ns() - began_ns) * QUARTERS / length_ns;
    quarter = quarter < QUARTERS ? quarter : QUARTERS - 1;
    const uint64_t bucket = ns / BUCKET_NS;
    histogram[quarter][bucket < BUCKETS ? bucket : BUCKETS - 1]++;
}

static double median_us(const uint64_t *buckets, uint64_t *count)
{
    uint64_t seen = 0;
    *count = 0;
    for (int i = 0; i < BUCKETS; i++)
        *count += buckets[i];
    for (int i = 0; i < BUCKETS; i++) {
        seen += buckets[i];
        if (seen * 2 > *count)
            return (double)(i * BUCKET_NS) / 1000;
    }
    return 0;
}

static size_t free_bytes(void)
{
    size_t free_now = 0, all = 0;
    CHECK(below.cuMemGetInfo(&free_now, &all) == 0);
    return free_now;
}

/* ---- caches ---- */

static gph_status read_below(void *to, CUdeviceptr from, size_t bytes)
{
    const CUresult result = below.cuStreamSynchronize(device_stream);
    return result != 0 ? (gph_status)result
                       : (gph_status)below.cuMemcpyDtoH(to, from, bytes);
}

static gph_status write_below(CUdeviceptr to, const void *from, size_t bytes)
{
    const CUresult result = below.cuStreamSynchronize(device_stream);
    return result != 0 ? (gph_status)result
                       : (gph_status)below.cuMemcpyHtoD(to, from, bytes);
}

static int disarm_cache(void)
{
    return world_disarm();
}

static soak_ground ground;
static uint64_t cache_counts[5];

static bool open_ground(void)
{
    CUmodule module = NULL;
    ground = (soak_ground){.runtime = device_runtime,
                           .arena = device_arena,
                           .stream = device_stream,
                           .read = read_below,
                           .write = write_below,
                           .arm = world_arm,
                           .disarm = disarm_cache};
    return below.cuModuleLoad(&module, TREE_PTX) == 0 &&
           below.cuModuleGetFunction(&ground.hash_each, module, "hash_each") == 0 &&
           below.cuMemAlloc(&ground.in, soak_cache_bytes()) == 0 &&
           below.cuMemAlloc(&ground.out, soak_cache_bytes()) == 0;
}

/* ---- the whole ---- */

static uint64_t seed_first = 1, trees;

static void check_arena_is_empty(void)
{
    gph_ledger_total total = GPH_SIZED(gph_ledger_total);
    uint32_t count = 0;
    CHECK_OK(gph_ledger_get(device_arena, NULL, 0, &count, &total, &error), error);
    CHECK(total.mapped_bytes == 0 && total.exec_bytes == 0);
}

static void programs_for_a_while(void)
{
    size_t free_first = 0;
    began_ns = gphi_clock_ns();
    failures_max = 60;
    do {
        run_seed(seed_first * 1000000 + trees, 300);
        CHECK(soak_cache_run(&ground, seed_first * 1000000 + trees, 100, cache_counts) ==
              0);
        check_arena_is_empty();
        trees++;
        if (trees == 1) {
            heap_before = atomic_load(&device_heap.live_bytes);
            free_first = free_bytes();
        }
        /* Tables of the arena grow to what one tree needs, and stay. */
        if (trees % 64 == 0)
            CHECK(atomic_load(&device_heap.live_bytes) <= heap_before + (1 << 20));
    } while (gphi_clock_ns() - began_ns < length_ns && atomic_load(&test_failures) == 0);
    printf("device memory in use: %lld KiB more than after the first tree\n",
           ((long long)free_first - (long long)free_bytes()) / 1024);
    CHECK(free_bytes() + (64 << 20) > free_first);
}

/* 0, or 3 where the drift is beyond the limit. */
static int report(double limit)
{
    uint64_t count[QUARTERS];
    double us[QUARTERS];
    for (int i = 0; i < QUARTERS; i++)
        us[i] = median_us(histogram[i], &count[i]);
    printf("%llu trees, %llu calls, %llu replays, %llu restores, %llu outputs refused\n",
           (unsigned long long)trees, (unsigned long long)total_calls,
           (unsigned long long)total_replays, (unsigned long long)total_restores,
           (unsigned long long)total_refused);
    printf("caches: %llu exact, %llu padded, %llu eager, %llu missed\n",
           (unsigned long long)cache_counts[GPH_CACHE_EXACT],
           (unsigned long long)cache_counts[GPH_CACHE_PADDED],
           (unsigned long long)cache_counts[GPH_CACHE_EAGER],
           (unsigned long long)cache_counts[GPH_CACHE_MISS]);
    printf("heap: %ld bytes more than after the first tree\n",
           atomic_load(&device_heap.live_bytes) - heap_before);
    printf("median replay by quarter: %.2f %.2f %.2f %.2f us\n", us[0], us[1], us[2],
           us[3]);
    const double drift = us[0] > 0 ? us[3] / us[0] : 0;
    if (limit > 0 && drift > limit) {
        printf("MISSED: the last quarter takes %.2f of the first, the limit is %.2f\n",
               drift, limit);
        return 3;
    }
    return 0;
}

/* A number after an option; -1: it is none. */
static double number(const char *text)
{
    char *end = NULL;
    const double x = text != NULL ? strtod(text, &end) : -1;
    return text != NULL && end != text && *end == '\0' && x > 0 && x < 1e9 ? x : -1;
}

int main(int argc, char **argv)
{
    double seconds = 4, seed = 1, drift = 0;
    for (int i = 1; i < argc; i += 2) {
        double *to = strcmp(argv[i], "--seconds") == 0 ? &seconds
                     : strcmp(argv[i], "--seed") == 0  ? &seed
                     : strcmp(argv[i], "--drift") == 0 ? &drift
                                                       : NULL;
        if (to == NULL || (*to = number(i + 1 < argc ? argv[i + 1] : NULL)) < 0) {
            fprintf(stderr, "usage: soak [--seconds N] [--seed N] [--drift RATIO]\n");
            return 2;
        }
    }
    if (!device_open(getenv("GPH_DRIVER") ? GPH_DRIVER_DEFAULT : GPH_DRIVER_AUTO,
                     &error)) {
        printf("skipped: %s\n", error.message);
        return 77;
    }
    if (!CHECK(open_ground()))
        return 1;
    length_ns = (uint64_t)(seconds * 1e9);
    seed_first = (uint64_t)seed;
    RUN(programs_for_a_while);
    const int missed = report(drift);
    device_close();
    const int failed = test_done();
    return failed != 0 ? failed : missed;
}

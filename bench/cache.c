// SPDX-License-Identifier: Apache-2.0
/* bench/cache: what shape buckets cost, beside the driver's own calls, in one run.
 *
 *   bench_cache [--nodes N] [--rounds N] [--warmup N] [--cold patch|update]
 *
 * host time of a replay: hot (own executable), called (exact, in place; with copies;
 * padded), cold (shared executable that holds another key), beside gph_exec_launch,
 * cuGraphLaunch and cuGraphExecUpdate; the start of 67 buckets beside recording each
 * alone (a callable with a pool and an executable of its own); bytes of executables with
 * and without sharing; bytes of tensors of 7 and of 67 buckets beside the largest alone.
 *
 * GPH_DRIVER says which driver. Rounds are interleaved, figures are medians. Exit status
 * 3 if a bar is missed. */
#define _GNU_SOURCE
#include "chain.h"

#include <gph/cache_figures.h>

enum { WIDTH_MAX = 64, BUCKETS = 67, ROUNDS_MAX = 101, LAUNCHES = 32 };

static gph_status (*exec_update)(CUgraphExec, CUgraph, void *);
static uint32_t node_count = 200, rounds = 11, warmup = 1, cold_way;
/* Floats a token: few where time is measured, so that it is the host's. */
static int64_t width = 4;
static int64_t ladder[BUCKETS];
static CUdeviceptr source;
static uint32_t quick;  /* 0, or GPH_CACHE_WARM_...: not all keys are run */
static double parts[2]; /* of a start: warm-ups, captures; ms */

/* ---- the model: a chain of kernels over temporaries ---- */

static gph_status run_model(void *user, gph_call *call, gph_error *error)
{
    (void)user;
    const unsigned count = (unsigned)call->key[0] * (unsigned)width;
    CUdeviceptr last = call->inputs[0].data;
    gph_status status = GPH_OK;
    for (uint32_t i = 0; i < node_count && status == GPH_OK; i++) {
        CUdeviceptr next = 0;
        status = gph_pool_alloc(call->pool, count * 4, call->stream, &next, error);
        if (status == GPH_OK)
            status = launch_add(call->stream, next, last, count);
        if (status == GPH_OK && i > 0)
            status = gph_pool_free(call->pool, last, call->stream, error);
        last = next;
    }
    const int64_t shape[] = {call->key[0], width};
    call->outputs[0] = gph_tensor_dense(last, GPH_DTYPE_F32, 2, shape);
    return status;
}

static gph_cache *make_cache(gph_pool *pool, const int64_t *values, uint32_t count,
                             double hot_share)
{
    const gph_cache_axis axis = {.name = "tokens",
                                 .ladder = GPH_LADDER_LIST,
                                 .values = values,
                                 .value_count = count};
    const gph_cache_tensor model_tensor = {.dtype = GPH_DTYPE_F32,
                                           .rank = 2,
                                           .shape = {1, width},
                                           .axis = {1},
                                           .fill = GPH_FILL_ZERO};
    gph_cache_options options = GPH_CACHE_OPTIONS_INIT;
    gph_cache *cache = NULL;
    options.pool = pool;
    options.axes = &axis;
    options.axis_count = 1;
    options.inputs = options.outputs = &model_tensor;
    options.input_count = options.output_count = 1;
    options.function = run_model;
    options.warmup = quick != 0 ? quick : warmup;
    options.hot_share = hot_share;
    options.cold = cold_way;
    GPH(gph_cache_create(runtime, &options, &cache, error));
    return cache;
}

/* 1 2 4, every 8th to 256, every 16th above: what serving engines capture. */
static void make_ladder(void)
{
    uint32_t count = 0;
    for (int64_t v = 1; v < 8; v *= 2)
        ladder[count++] = v;
    for (int64_t v = 8; v <= 256; v += 8)
        ladder[count++] = v;
    for (int64_t v = 272; count < BUCKETS; v += 16)
        ladder[count++] = v;
}

/* ---- replays ---- */

enum ways { DRIVER, EXEC, HOT, CALL, COPIED, PADDED, UPDATE, COLD, WAYS };

struct replays {
    gph_cache *own, *shared;
    gph_exec *exec;
    CUgraph graphs[2];
    double us[WAYS][ROUNDS_MAX];
    double waited[WAYS][ROUNDS_MAX]; /* each waited for */
};

static CUgraph capture(gph_pool *pool, int64_t tokens)
{
    gph_capture *open = NULL;
    CUgraph graph = NULL;
    gph_recording_id id = 0;
    gph_tensor output;
    const int64_t shape[] = {tokens, width};
    const gph_tensor input = gph_tensor_dense(source, GPH_DTYPE_F32, 2, shape);
    gph_call call = {.size = sizeof(call),
                     .phase = GPH_PHASE_CAPTURE,
                     .runtime = runtime,
                     .stream = stream,
                     .pool = pool,
                     .inputs = &input,
                     .outputs = &output,
                     .input_count = 1,
                     .output_count = 1,
                     .key = &tokens,
                     .key_count = 1};
    GPH(gph_pool_record_begin(pool, stream, NULL, &id, error));
    GPH(gph_capture_begin(runtime, stream, NULL, &open, error));
    GPH(run_model(NULL, &call, error));
    GPH(gph_capture_end(open, &graph, error));
    GPH(gph_pool_record_end(pool, id, &output.data, 1, NULL, error));
    return graph;
}

static void call_cache(gph_cache *cache, int64_t tokens, bool copies)
{
    const int64_t shape[] = {tokens, width};
    const gph_tensor input = gph_tensor_dense(source, GPH_DTYPE_F32, 2, shape);
    gph_cache_call_args args = GPH_CACHE_CALL_INIT;
    gph_tensor output = {0};
    args.stream = stream;
    args.sizes = &tokens;
    args.inputs = copies ? &input : NULL;
    args.outputs = &output;
    GPH(gph_cache_call(cache, &args, error));
}

/* One of the ways, `i` counts. Key 3 is 8 tokens, key 4 is 16. */
static void replay(const struct replays *self, enum ways way, uint32_t i)
{
    char info[64]; /* more than CUgraphExecUpdateResultInfo */
    switch (way) {
    case DRIVER: CU(GraphLaunch, gph_exec_handle(self->exec), stream); break;
    case EXEC: GPH(gph_exec_launch(self->exec, stream, error)); break;
    case HOT: GPH(gph_cache_replay(self->own, 3, stream, error)); break;
    case CALL: call_cache(self->own, 8, false); break;
    case COPIED: call_cache(self->own, 8, true); break;
    case PADDED: call_cache(self->own, 7, true); break;
    case UPDATE:
        must(exec_update(gph_exec_handle(self->exec), self->graphs[i % 2], info),
             "cuGraphExecUpdate", NULL);
        CU(GraphLaunch, gph_exec_handle(self->exec), stream);
        break;
    case COLD: GPH(gph_cache_replay(self->shared, 3 + i % 2, stream, error)); break;
    case WAYS: break;
    }
}

static double time_waited(const struct replays *self, enum ways way)
{
    const double begin = now_us();
    for (uint32_t i = 0; i < LAUNCHES; i++) {
        replay(self, way, i);
        CU(StreamSynchronize, stream);
    }
    return (now_us() - begin) / LAUNCHES;
}

/* Alternating, so that what disturbs one disturbs all. */
static void time_ways(struct replays *self)
{
    for (uint32_t r = 0; r < rounds; r++)
        for (int k = 0; k < WAYS; k++) {
            const enum ways way = (enum ways)((k + (int)r) % WAYS);
            for (uint32_t i = 0; i < 4; i++)
                replay(self, way, i);
            CU(StreamSynchronize, stream);
            const double begin = now_us();
            for (uint32_t i = 0; i < LAUNCHES; i++)
                replay(self, way, i);
            self->us[way][r] = (now_us() - begin) / LAUNCHES;
            CU(StreamSynchronize, stream);
            self->waited[way][r] = time_waited(self, way);
        }
}

/* A look-up alone, ns: sizes that change, as they do. */
static double find_ns(const gph_cache *cache)
{
    enum { LOOKS = 100000 };
    uint32_t found = 0;
    const double begin = now_us();
    for (int i = 0; i < LOOKS; i++) {
        const int64_t tokens = 1 + i % 16;
        gph_cache_match match;
        GPH(gph_cache_find(cache, &tokens, &match, error));
        found += match.key != GPH_CACHE_NONE;
    }
    const double ns = (now_us() - begin) * 1e3 / LOOKS;
    if (found == 0)
        must(GPH_E_STATE, "no size is served", NULL);
    return ns;
}

/* Of each round, since both follow each other and the host's clock changes between rounds. */
static double beyond_exec(const struct replays *self, enum ways way)
{
    double us[ROUNDS_MAX];
    for (uint32_t r = 0; r < rounds; r++)
        us[r] = self->us[way][r] - self->us[EXEC][r];
    return median(us, (int)rounds);
}

static void report_replays(const struct replays *self, const double *us,
                           const double *waited, double cold)
{
    static const char *const names[WAYS] = {
        "cuGraphLaunch",
        "gph_exec_launch",
        "gph_cache_replay, hot",
        "gph_cache_call, exact, in place",
        "gph_cache_call, exact, copied",
        "gph_cache_call, padded, copied",
        "cuGraphExecUpdate, cuGraphLaunch",
        "gph_cache_replay, cold",
    };
    printf("a replay of %u nodes, us: of the host; until it has ended\n", node_count);
    for (int way = 0; way < WAYS; way++)
        printf("  %-58s %10.3f %10.3f\n", names[way], us[way], waited[way]);
    bar("hot, beyond gph_exec_launch", beyond_exec(self, HOT), 0.2, "us");
    bar("called in place, beyond gph_exec_launch", beyond_exec(self, CALL), 0.2, "us");
    bar("cold, beyond gph_exec_launch", beyond_exec(self, COLD), 3, "us");
    bar("cold, of update and launch by hand", cold, 1.1, "x ");
    bar("the same, each waited for", waited[COLD] / waited[UPDATE], 1.1, "x ");
}

static void bench_replays(void)
{
    static struct replays self;
    const uint32_t keys[] = {3, 4};
    gph_pool *pools[3] = {make_pool(), make_pool(), make_pool()};
    self.own = make_cache(pools[0], ladder, 5, -1);
    self.shared = make_cache(pools[1], ladder, 5, 1);
    GPH(gph_cache_start(self.own, stream, keys, 2, NULL, NULL, error));
    GPH(gph_cache_start(self.shared, stream, keys, 2, NULL, NULL, error));
    self.graphs[0] = capture(pools[2], 8);
    self.graphs[1] = capture(pools[2], 16);
    GPH(gph_exec_create(runtime, self.graphs[0], NULL, &self.exec, error));
    time_ways(&self);
    double us[WAYS], waited[WAYS], cold[ROUNDS_MAX];
    for (uint32_t r = 0; r < rounds; r++) /* they follow each other at once */
        cold[r] = self.us[COLD][r] / self.us[UPDATE][r];
    for (int way = 0; way < WAYS; way++) {
        us[way] = median(self.us[way], (int)rounds);
        waited[way] = median(self.waited[way], (int)rounds);
    }
    report_replays(&self, us, waited, median(cold, (int)rounds));
    printf("  %-58s %10.3f\n", "gph_cache_find", find_ns(self.own) * 1e-3);
    gph_exec_destroy(self.exec);
    for (int i = 0; i < 2; i++)
        CU(GraphDestroy, self.graphs[i]);
    gph_cache_destroy(self.own);
    gph_cache_destroy(self.shared);
    for (int i = 0; i < 3; i++)
        gph_pool_release(pools[i]);
}

/* ---- start ---- */

/* As it is done by hand: each bucket a pool, warm-ups, a capture and an executable. */
static double start_alone(void)
{
    gph_pool *pools[BUCKETS];
    gph_callable *callables[BUCKETS];
    const double begin = now_us();
    for (int i = BUCKETS - 1; i >= 0; i--) {
        const int64_t shape[] = {ladder[i], width};
        const gph_tensor input = gph_tensor_dense(source, GPH_DTYPE_F32, 2, shape);
        gph_callable_options options = GPH_CALLABLE_OPTIONS_INIT;
        pools[i] = make_pool();
        options.function = run_model;
        options.sample = (gph_arguments){
            .inputs = &input, .input_count = 1, .key = &ladder[i], .key_count = 1};
        options.pool = pools[i];
        options.stream = stream;
        options.output_count = 1;
        options.warmup_count = warmup;
        GPH(gph_callable_create(runtime, &options, &callables[i], error));
        CU(StreamSynchronize, stream);
    }
    const double us = now_us() - begin;
    for (int i = 0; i < BUCKETS; i++) {
        gph_callable_destroy(callables[i]);
        gph_pool_release(pools[i]);
    }
    return us;
}

static double start_together(double hot_share, gph_cache_stats *stats)
{
    gph_pool *pool = make_pool();
    const double begin = now_us();
    gph_cache *cache = make_cache(pool, ladder, BUCKETS, hot_share);
    GPH(gph_cache_start(cache, stream, NULL, 0, NULL, NULL, error));
    const double us = now_us() - begin;
    gph_cache_stats_get(cache, stats);
    if (stats->captured_count != BUCKETS)
        must(GPH_E_STATE, "not all keys are captured", NULL);
    parts[0] = parts[1] = 0;
    for (uint32_t k = 0; k < BUCKETS; k++) {
        gph_cache_key_info info = GPH_SIZED(gph_cache_key_info);
        GPH(gph_cache_key_get(cache, k, &info, error));
        parts[0] += info.warmup_ms;
        parts[1] += info.capture_ms;
    }
    for (uint32_t k = 0; k < BUCKETS; k++) /* all can be replayed */
        GPH(gph_cache_replay(cache, k, stream, error));
    CU(StreamSynchronize, stream);
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    return us;
}

/* ---- the same by the driver's own calls: what no start can take less than ---- */

static struct {
    gph_status (*begin)(CUstream, int);
    gph_status (*end)(CUstream, CUgraph *);
    gph_status (*upload)(CUgraphExec, CUstream);
} by_driver;

static void find_driver_calls(void)
{
    gph_cuda_fn found = NULL;
    GPH(gph_cuda_find(runtime, "cuStreamBeginCapture", &found, error));
    by_driver.begin = (gph_status(*)(CUstream, int))found;
    GPH(gph_cuda_find(runtime, "cuStreamEndCapture", &found, error));
    by_driver.end = (gph_status(*)(CUstream, CUgraph *))found;
    GPH(gph_cuda_find(runtime, "cuGraphUpload", &found, error));
    by_driver.upload = (gph_status(*)(CUgraphExec, CUstream))found;
}

static void launch_chain(int bucket)
{
    const unsigned count = (unsigned)(ladder[bucket] * width);
    for (uint32_t i = 0; i < node_count; i++)
        must(launch_add(stream, source + (i + 1) % 2 * 1024 * WIDTH_MAX * 4,
                        source + i % 2 * 1024 * WIDTH_MAX * 4, count),
             "cuLaunchKernel", NULL);
}

/* Milliseconds of running all buckets, of capturing them, and of executables. */
static double start_by_driver(bool each, double out[3])
{
    CUgraph graphs[BUCKETS];
    CUgraphExec execs[BUCKETS];
    double at[4] = {now_us()};
    for (int i = BUCKETS - 1; i >= 0; i--)
        for (uint32_t k = 0; k < warmup; k++) {
            launch_chain(i);
            CU(StreamSynchronize, stream);
        }
    at[1] = now_us();
    for (int i = BUCKETS - 1; i >= 0; i--) {
        must(by_driver.begin(stream, 1), "cuStreamBeginCapture", NULL);
        launch_chain(i);
        must(by_driver.end(stream, &graphs[i]), "cuStreamEndCapture", NULL);
    }
    at[2] = now_us();
    for (int i = BUCKETS - 1; i >= (each ? 0 : BUCKETS - 1); i--) {
        CU(GraphInstantiateWithFlags, &execs[i], graphs[i], 0);
        must(by_driver.upload(execs[i], stream), "cuGraphUpload", NULL);
        CU(StreamSynchronize, stream);
    }
    at[3] = now_us();
    for (int i = 0; i < BUCKETS; i++)
        CU(GraphDestroy, graphs[i]);
    for (int i = each ? 0 : BUCKETS - 1; i < BUCKETS; i++)
        CU(GraphExecDestroy, execs[i]);
    for (int k = 0; k < 3; k++)
        out[k] = (at[k + 1] - at[k]) * 1e-3;
    return at[3] - at[0];
}

/* Of each round, right after those of libgph. */
struct floor {
    double each[ROUNDS_MAX], one[ROUNDS_MAX], parts[3];
};

static void floor_round(struct floor *floor, uint32_t round)
{
    floor->each[round] = start_by_driver(true, floor->parts);
    floor->one[round] = start_by_driver(false, floor->parts);
}

static void report_floor(struct floor *floor, uint32_t count, double alone)
{
    const double each = median(floor->each, (int)count);
    const double one = median(floor->one, (int)count);
    printf("the driver's own calls for the same, ms\n");
    printf("  %-58s %10.2f\n", "run, captured, an executable each", each * 1e-3);
    printf("  %-58s %10.2f\n", "run, captured, one executable", one * 1e-3);
    printf("  %-58s %10.2f\n  %-58s %10.2f\n  %-58s %10.2f\n", "  of this, running",
           floor->parts[0], "  of this, capturing", floor->parts[1],
           "  of this, the executable", floor->parts[2]);
    printf("  %-58s %10.3f x\n", "one executable, of each alone by hand", one / each);
    printf("  %-58s %10.3f x\n", "one executable, of each alone by libgph", one / alone);
}

static void bench_start(void)
{
    static double alone[ROUNDS_MAX], together[ROUNDS_MAX], own[ROUNDS_MAX];
    static double largest[ROUNDS_MAX], kernels[ROUNDS_MAX];
    static struct floor floor;
    gph_cache_stats shared = GPH_SIZED(gph_cache_stats);
    gph_cache_stats apart = GPH_SIZED(gph_cache_stats);
    const uint32_t some = rounds > 9 ? 9 : rounds;
    find_driver_calls();
    for (uint32_t r = 0; r < some; r++) {
        alone[r] = start_alone();
        own[r] = start_together(-1, &apart);
        quick = GPH_CACHE_WARM_LARGEST;
        largest[r] = start_together(0, &shared);
        quick = GPH_CACHE_WARM_KERNELS;
        kernels[r] = start_together(0, &shared);
        quick = 0;
        together[r] = start_together(0, &shared);
        floor_round(&floor, r);
    }
    const double a = median(alone, (int)some), t = median(together, (int)some),
                 o = median(own, (int)some), l = median(largest, (int)some),
                 k = median(kernels, (int)some);
    printf("start of %d buckets, %u warm-up(s) each, ms\n", BUCKETS, warmup);
    printf("  %-58s %10.2f\n", "each alone", a * 1e-3);
    printf("  %-58s %10.2f\n", "one cache, an executable each", o * 1e-3);
    printf("  %-58s %10.2f\n", "one cache, executables shared", t * 1e-3);
    printf("  %-58s %10.2f\n  %-58s %10.2f\n", "  of this, warm-ups", parts[0],
           "  of this, captures and the executable", parts[1]);
    printf("  %-58s %10.2f\n", "one cache, shared, the largest run alone", l * 1e-3);
    printf("  %-58s %10.2f\n", "one cache, shared, each kernel run", k * 1e-3);
    printf("  %-58s %10.3f x\n", "shared, all run, of each alone", t / a);
    report_floor(&floor, some, a);
    bar("shared, the largest run, of each alone", l / a, 0.4, "x ");
    bar("shared, each kernel run, of each alone", k / a, 0.4, "x ");
    printf("bytes of executables, MiB (as measured; where the driver does not tell, 10 "
           "KiB a node)\n");
    printf("  %-58s %10.2f\n", "one each", (double)apart.exec_bytes / 1048576);
    printf("  %-58s %10.2f\n", "shared", (double)shared.exec_bytes / 1048576);
    const uint32_t hot = 1 + (BUCKETS - 1) / 10; /* what own_max allows */
    bar("shared and the most own ones, of one each",
        ((double)shared.exec_bytes + (double)apart.exec_bytes * hot / BUCKETS) /
            (double)apart.exec_bytes,
        1.0 / 8, "x ");
}

/* ---- tensors ---- */

static uint64_t tensor_bytes(const int64_t *values, uint32_t count, bool largest)
{
    gph_pool *pool = make_pool();
    gph_cache *cache = make_cache(pool, values, count, 0);
    gph_cache_stats stats = GPH_SIZED(gph_cache_stats);
    const uint32_t last = count - 1;
    GPH(gph_cache_start(cache, stream, largest ? &last : NULL, largest ? 1 : 0, NULL,
                        NULL, error));
    gph_cache_stats_get(cache, &stats);
    gph_cache_destroy(cache);
    gph_pool_release(pool);
    return stats.tensor_bytes;
}

static void bench_tensors(void)
{
    int64_t seven[7];
    for (int i = 0; i < 7; i++)
        seven[i] = 16 << i;
    const struct {
        const int64_t *values;
        uint32_t count;
    } ladders[] = {{seven, 7}, {ladder, BUCKETS}};
    width = WIDTH_MAX;
    printf("bytes of tensors, KiB\n");
    for (int i = 0; i < 2; i++) {
        const double all =
            (double)tensor_bytes(ladders[i].values, ladders[i].count, false);
        const double one =
            (double)tensor_bytes(ladders[i].values, ladders[i].count, true);
        double sum = 0;
        for (uint32_t k = 1; k <= ladders[i].count; k++)
            sum += (double)tensor_bytes(ladders[i].values, k, true);
        char text[80];
        snprintf(text, sizeof(text), "%u buckets: each alone, summed", ladders[i].count);
        printf("  %-58s %10.1f\n", text, sum / 1024);
        snprintf(text, sizeof(text), "%u buckets: the largest alone", ladders[i].count);
        printf("  %-58s %10.1f\n", text, one / 1024);
        snprintf(text, sizeof(text), "%u buckets, of the largest alone",
                 ladders[i].count);
        bar(text, all / one, 1.02, "x ");
    }
}

static uint32_t number(const char *text, uint32_t most)
{
    const long value = strtol(text, NULL, 10);
    if (value < 1 || value > (long)most) {
        fprintf(stderr, "bench_cache: %s is not in 1 ... %u\n", text, most);
        exit(2);
    }
    return (uint32_t)value;
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--nodes") == 0)
            node_count = number(argv[i + 1], 10000);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = number(argv[i + 1], ROUNDS_MAX);
        else if (strcmp(argv[i], "--warmup") == 0)
            warmup = number(argv[i + 1], 100);
        else if (strcmp(argv[i], "--cold") == 0)
            cold_way = strcmp(argv[i + 1], "update") == 0 ? GPH_CACHE_COLD_UPDATE
                                                          : GPH_CACHE_COLD_PATCH;
    }
    make_ladder();
    open_chain();
    gph_cuda_fn found = NULL;
    GPH(gph_cuda_find(runtime, "cuGraphExecUpdate", &found, error));
    exec_update = (gph_status(*)(CUgraphExec, CUgraph, void *))found;
    CU(MemAlloc, &source, 2 * 1024 * WIDTH_MAX * 4);
    bench_replays();
    bench_start();
    bench_tensors();
    gph_arena_destroy(arena);
    gph_close(runtime);
    return missed ? 3 : 0;
}

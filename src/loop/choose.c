// SPDX-License-Identifier: Apache-2.0
/* Which way is the fastest here. What a round costs beside the work of its body depends on
 * the driver, the device, and how many nodes the body has and how they hang together; so a
 * body of short kernels in the same order runs in a loop of each way. Not of empty ones: on
 * an H100 a round of 30 took 34 us by WHILE and 38 by the host, and of decode's 30 kernels of
 * 1.5 us 75 and 63. The caller's body does not run: it may change what it works on. */
#include "base/clock.h"
#include "base/fail.h"
#include "base/heap.h"
#include "base/text.h"
#include "cuda/status.h"
#include "graph/topology.h"
#include "loop/loop.h"

/* Rounds of a short and of a long launch: their difference has no cost of the launch. A
 * long one shall not take more than LONG_NS. The fastest of each counts, as what disturbs
 * a launch makes it slower alone. */
enum { SHORT = 8, LONG_MIN = 24, LONG_MAX = 264, LONG_NS = 5000000, SAMPLES = 5 };

/* Of gph_loop_work(): a microsecond of a GPU, half of one of a CPU. */
enum { WORK = 120 };

struct choice {
    gph_runtime *runtime;
    CUgraph body;
    const gph_loop_options *options;
    gph_loop_ways ways;
    gphi_text text; /* in ways.text */
};

/* ---- a body of short kernels ---- */

struct shadow {
    gph_runtime *runtime;
    gph_graph *graph;
    gphi_topology topology;
    CUgraphNode *nodes; /* by node of the body */
    uint32_t *order;
    CUgraph out;
    gph_error *error;
};

/* Its dependencies come before it in the order, so that they are there. */
static gph_status copy_node(struct shadow *shadow, uint32_t index, CUfunction work,
                            CUgraphNode *deps)
{
    const gphi_topology *topology = &shadow->topology;
    uint32_t busy = WORK;
    CUdeviceptr never = 0;
    void *arguments[] = {&busy, &never};
    const CUDA_KERNEL_NODE_PARAMS params = {.func = work,
                                            .gridDimX = 1,
                                            .gridDimY = 1,
                                            .gridDimZ = 1,
                                            .blockDimX = 1,
                                            .blockDimY = 1,
                                            .blockDimZ = 1,
                                            .kernelParams = arguments};
    size_t count = 0;
    for (uint32_t i = topology->first[index]; i < topology->first[index + 1]; i++)
        deps[count++] = shadow->nodes[topology->deps[i]];
    return gphi_cuda_check(shadow->error,
                           shadow->runtime->cu.cuGraphAddKernelNode(
                               &shadow->nodes[index], shadow->out, deps, count, &params),
                           "cuGraphAddKernelNode", "a node for measuring");
}

static gph_status copy_nodes(struct shadow *shadow, CUfunction work)
{
    const uint32_t count = shadow->topology.count;
    const gph_allocator heap = shadow->runtime->heap;
    const size_t bytes = count * (2 * sizeof(CUgraphNode) + sizeof(uint32_t)) + 1;
    shadow->nodes = gphi_heap_alloc(heap, bytes);
    GPHI_TRY(gphi_made(shadow->error, shadow->nodes, "measuring with %u nodes", count));
    CUgraphNode *deps = shadow->nodes + count;
    shadow->order = (uint32_t *)(deps + count);
    gph_status status = gph_graph_order(shadow->graph, shadow->order, shadow->error);
    GPHI_THEN(status, gphi_cuda_check(shadow->error,
                                      shadow->runtime->cu.cuGraphCreate(&shadow->out, 0),
                                      "cuGraphCreate", "a graph for measuring"));
    for (uint32_t i = 0; i < count && status == GPH_OK; i++)
        status = copy_node(shadow, shadow->order[i], work, deps);
    gphi_heap_free(heap, shadow->nodes, bytes);
    if (status != GPH_OK && shadow->out)
        gphi_ignore((gph_status)shadow->runtime->cu.cuGraphDestroy(shadow->out),
                    "the first failure counts");
    return status;
}

/* Of another graph's shape: that decides what a round costs beside its work. */
static gph_status make_shadow(const struct choice *choice, CUfunction work, CUgraph *out,
                              gph_error *error)
{
    struct shadow shadow = {.runtime = choice->runtime, .error = error};
    GPHI_TRY(gph_graph_describe(choice->runtime, choice->body, &shadow.graph, error));
    gph_status status = gphi_topology_init(&shadow.topology, shadow.graph);
    if (status != GPH_OK)
        gphi_fail(error, status, "measuring the ways of a loop");
    GPHI_THEN(status, copy_nodes(&shadow, work));
    gphi_topology_fini(&shadow.topology);
    gph_graph_destroy(shadow.graph);
    if (status == GPH_OK)
        *out = shadow.out;
    return status;
}

/* ---- measuring ---- */

/* The condition stays 1, so a launch ends at its ceiling, which is as it should be. */
static gph_status time_rounds(gph_loop *loop, CUstream stream, uint64_t rounds,
                              uint64_t *ns, gph_error *error)
{
    gph_loop_result result = GPH_SIZED(gph_loop_result);
    GPHI_TRY(gph_loop_limits_set(loop, rounds * loop->options.unroll, 0, error));
    const uint64_t from = gphi_clock_ns();
    GPHI_TRY(gph_loop_launch(loop, stream, error));
    const gph_status status = gph_loop_wait(loop, stream, &result, error);
    *ns = gphi_clock_ns() - from;
    return status == GPH_E_STATE && result.end == GPH_LOOP_CEILING ? GPH_OK : status;
}

static gph_status fastest_of(gph_loop *loop, CUstream stream, uint64_t rounds,
                             uint64_t *ns, gph_error *error)
{
    *ns = UINT64_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        uint64_t took = 0;
        GPHI_TRY(time_rounds(loop, stream, rounds, &took, error));
        *ns = took < *ns ? took : *ns;
    }
    return GPH_OK;
}

static gph_status measure_loop(gph_loop *loop, CUstream stream, double *out,
                               gph_error *error)
{
    uint64_t few = 0, many = 0;
    GPHI_TRY(fastest_of(loop, stream, SHORT, &few, error));
    const uint64_t wanted = (uint64_t)LONG_NS * SHORT / (few + 1);
    const uint64_t rounds = wanted < LONG_MIN   ? LONG_MIN
                            : wanted > LONG_MAX ? LONG_MAX
                                                : wanted;
    GPHI_TRY(fastest_of(loop, stream, rounds, &many, error));
    *out = many > few ? (double)(many - few) / (double)(rounds - SHORT)
                      : (double)many / (double)rounds;
    return GPH_OK;
}

/* A loop as the caller's, but for its body and what is the caller's own. */
static gph_status measure_way(struct choice *choice, gph_loop_way way, CUgraph shadow,
                              CUdeviceptr words, gph_error *error)
{
    gph_loop_options options = *choice->options;
    gph_loop *loop = NULL;
    options.way = (uint32_t)way;
    options.condition = words;
    options.test = NULL;
    options.counter = options.counter ? words + 4 : 0;
    options.before = NULL;
    options.sentinel = NULL;
    GPHI_TRY(gphi_loop_make(choice->runtime, shadow, &options, &loop, error));
    const gph_status status =
        measure_loop(loop, options.stream, &choice->ways.round_ns[way], error);
    if (status != GPH_OK) /* a launch may run, whose executables are about to go */
        gphi_ignore((gph_status)choice->runtime->cu.cuStreamSynchronize(options.stream),
                    "the first failure counts");
    gph_loop_destroy(loop);
    return status;
}

/* ---- choosing ---- */

static bool may(const struct choice *choice, gph_loop_way way)
{
    const uint32_t asked = choice->options->way;
    return asked == GPH_LOOP_FASTEST ||
           (asked == GPH_LOOP_DEVICE && way != GPH_LOOP_HOST);
}

/* A way that this driver does not have is not a failure: it is left out, and said. Lack of
 * memory is one. */
static gph_status measure_ways(struct choice *choice, CUdeviceptr words, gph_error *error)
{
    gphi_kernels *kernels = NULL;
    CUgraph shadow = NULL;
    GPHI_TRY(gphi_kernels_retain(choice->runtime, &gphi_loop_text, &kernels, error));
    gph_status status =
        make_shadow(choice, kernels->functions[GPHI_LOOP_WORK], &shadow, error);
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST && status == GPH_OK; way++) {
        gph_error why = {0};
        if (!may(choice, (gph_loop_way)way))
            continue;
        status = measure_way(choice, (gph_loop_way)way, shadow, words, &why);
        if (status == GPH_E_NO_MEMORY || status == CUDA_ERROR_OUT_OF_MEMORY) {
            if (error)
                *error = why;
            break;
        }
        if (status != GPH_OK)
            gphi_text_add(&choice->text, "%s is not possible (%.90s); ",
                          gph_loop_way_name((gph_loop_way)way), why.message);
        status = GPH_OK;
    }
    if (shadow)
        gphi_ignore((gph_status)choice->runtime->cu.cuGraphDestroy(shadow), "it is ours");
    gphi_kernels_release(kernels);
    return status;
}

static gph_status measure(struct choice *choice, gph_error *error)
{
    const gphi_cuda_table *cu = &choice->runtime->cu;
    const uint32_t values[] = {1, 0}; /* the condition, which stays, and the counter */
    CUdeviceptr words = 0;
    GPHI_TRY(gphi_cuda_check(error, cu->cuMemAlloc(&words, sizeof(values)), "cuMemAlloc",
                             "measuring the ways of a loop"));
    gph_status status =
        gphi_cuda_check(error, gphi_put_words(cu, words, values, sizeof(values)),
                        "cuMemcpyHtoD", "measuring the ways of a loop");
    GPHI_THEN(status, measure_ways(choice, words, error));
    gphi_ignore((gph_status)cu->cuMemFree(words), "it is ours");
    return status;
}

/* Sentinels are of one set of executables. */
static bool has_trial(const struct choice *choice)
{
    return choice->options->way == GPH_LOOP_FASTEST && !choice->options->sentinel;
}

/* The fastest that was measured and not refused since; the host is the last, where it is
 * compared with the other by launches. */
static gph_loop_way fastest(const struct choice *choice, const bool refused[5])
{
    int best = GPH_LOOP_FASTEST;
    for (int way = GPH_LOOP_WHILE; way <= GPH_LOOP_HOST; way++) {
        const double ns = choice->ways.round_ns[way];
        if (ns == 0 || refused[way])
            continue;
        const bool is_first = best == GPH_LOOP_FASTEST;
        if (is_first || (ns < choice->ways.round_ns[best] &&
                         (way != GPH_LOOP_HOST || !has_trial(choice))))
            best = way;
    }
    return (gph_loop_way)best;
}

/* For gph_loop_ways_get() and the log. */
static void say_why(struct choice *choice, gph_loop_way way)
{
    gphi_text_add(&choice->text, "%s %s: a round of kernels of a microsecond takes",
                  gph_loop_way_name(way),
                  has_trial(choice) && way != GPH_LOOP_HOST ? "is on trial beside host"
                                                            : "was taken");
    for (int i = GPH_LOOP_WHILE; i <= GPH_LOOP_HOST; i++)
        if (choice->ways.round_ns[i] > 0)
            gphi_text_add(&choice->text, " %.2f us by %s",
                          choice->ways.round_ns[i] * 1e-3,
                          gph_loop_way_name((gph_loop_way)i));
}

/* The body may have nodes that only the slower ways allow. */
static gph_status make_fastest(struct choice *choice, gph_loop **out, gph_error *error)
{
    bool refused[5] = {false};
    gph_error why = {0};
    gph_loop_way way;
    gph_status status = GPH_E_UNSUPPORTED;
    gphi_fail(&why, status, "no way of a loop is possible: %.300s", choice->ways.text);
    while ((way = fastest(choice, refused)) != GPH_LOOP_FASTEST) {
        gph_loop_options options = *choice->options;
        options.way = (uint32_t)way;
        status = gphi_loop_make(choice->runtime, choice->body, &options, out, &why);
        if (status == GPH_OK) {
            say_why(choice, way);
            return GPH_OK;
        }
        if (status == GPH_E_NO_MEMORY || status == CUDA_ERROR_OUT_OF_MEMORY)
            break;
        refused[way] = true;
        gphi_text_add(&choice->text, "%s is not possible (%.90s); ",
                      gph_loop_way_name(way), why.message);
    }
    if (error)
        *error = why;
    return status;
}

/* Without a way of the device there is nothing to choose from. */
static gph_status begin_trial(struct choice *choice, gph_loop *loop, gph_error *error)
{
    const double *ns = choice->ways.round_ns;
    if (!has_trial(choice) || loop->way == GPH_LOOP_HOST)
        return GPH_OK;
    gphi_loop_trial *trial = &loop->trial;
    trial->way = loop->way;
    trial->host_first = ns[GPH_LOOP_HOST] > 0 && ns[GPH_LOOP_HOST] < ns[loop->way];
    loop->way = GPH_LOOP_HOST;
    const gph_status status = gphi_loop_build(loop, choice->body, &trial->host, error);
    loop->way = trial->way;
    trial->is_on = status == GPH_OK;
    return status;
}

gph_status gphi_loop_choose(gph_runtime *runtime, CUgraph body,
                            const gph_loop_options *options, gph_loop **out,
                            gph_error *error)
{
    struct choice choice = {.runtime = runtime, .body = body, .options = options};
    gph_loop *loop = NULL;
    gphi_text_fix(&choice.text, choice.ways.text, sizeof(choice.ways.text));
    if (options->way > GPH_LOOP_DEVICE) {
        GPHI_TRY(gphi_loop_make(runtime, body, options, &loop, error));
        gphi_text_add(&choice.text, "%s was requested",
                      gph_loop_way_name((gph_loop_way)options->way));
    } else {
        const CUstreamCaptureMode mode = gphi_relax(&runtime->cu);
        gph_status status = measure(&choice, error);
        GPHI_THEN(status, make_fastest(&choice, &loop, error));
        GPHI_THEN(status, begin_trial(&choice, loop, error));
        gphi_unrelax(&runtime->cu, mode);
        if (status != GPH_OK) {
            gph_loop_destroy(loop);
            return status;
        }
    }
    choice.ways.way = (uint32_t)loop->way;
    loop->ways = choice.ways;
    *out = loop;
    return GPH_OK;
}

void gph_loop_ways_get(const gph_loop *loop, gph_loop_ways *out)
{
    const gph_loop_ways none = {0};
    gphi_struct_write(out, loop ? &loop->ways : &none, sizeof(none));
}

// SPDX-License-Identifier: Apache-2.0
/* What gph_exec_compatible() predicts is what cuGraphExecUpdate() then says: the result,
 * the node, the dependency. On softcuda, which follows an H100, and on the driver that
 * GPH_DRIVER names.
 *
 *   update_predict_test [PAIRS] [SEED] */
#include "update_world.h"

static uint64_t state = 1;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

/* ---- random pairs ---- */

static spec random_spec(void)
{
    spec out = {.count = 1 + (int)below(SPEC_NODES - 1)};
    for (int i = 0; i < out.count; i++) {
        const unsigned die = below(12);
        const spec_kind kind = die < 3            ? SPEC_KERNEL
                               : die < SPEC_KINDS ? (spec_kind)die
                                                  : SPEC_FILL;
        spec_node *node = &out.nodes[i];
        *node = spec_default(kind, (uint64_t)i * 64);
        node->value = below(5);
        if (below(4) == 0)
            node->rows = 1 + below(4);
        if (below(4) == 0)
            node->unified = true;
        if (below(3) == 0)
            node->from = (int)below(AT_COUNT);
        if (below(3) == 0 && (kind == SPEC_FILL || kind == SPEC_COPY))
            node->to = (int)below(AT_COUNT);
        for (int k = 0; k < SPEC_DEPS && i > 0 && below(2); k++) {
            bool fresh = true;
            const int dep = (int)below((unsigned)i);
            for (int j = 0; j < node->dep_count; j++)
                fresh &= node->deps[j] != dep;
            if (fresh)
                node->deps[node->dep_count++] = dep;
        }
    }
    return out;
}

static void edit_kernel(spec_node *node)
{
    switch (below(8)) {
    case 0: node->function = (int)below(3); break;
    case 1: node->grid = 1 + below(3); break;
    case 2: node->block = 1 + below(64); break;
    case 3: node->shared = below(1024); break;
    case 4: node->cooperative = below(2); break;
    case 5: node->priority = -(int)below(3); break;
    case 6: node->slot = below(64); break;
    default: node->value = below(1000); break;
    }
}

static void edit_copy(spec_node *node)
{
    switch (below(7)) {
    case 0: node->to = (int)below(AT_COUNT); break;
    case 1: node->from = (int)below(AT_COUNT); break;
    case 2: node->width = 4 * (1 + below(8)); break;
    case 3: node->rows = 1 + below(4); break;
    case 4: node->pitch = 256 + 256 * below(2); break;
    case 5: node->unified = !node->unified; break;
    default: node->slot = below(64); break;
    }
}

static void edit_fill(spec_node *node)
{
    switch (below(7)) {
    case 0: node->to = (int)below(AT_COUNT); break;
    case 1: node->value = below(1000); break;
    case 2: node->width = 4 * (1 + below(8)); break;
    case 3: node->rows = 1 + below(4); break;
    case 4: node->pitch = 256 + 256 * below(2); break;
    case 5: node->element = 1u << below(3); break;
    default: node->slot = below(64); break;
    }
}

static void edit_node(spec_node *node)
{
    switch (node->kind) {
    case SPEC_KERNEL: edit_kernel(node); break;
    case SPEC_COPY: edit_copy(node); break;
    case SPEC_FILL: edit_fill(node); break;
    case SPEC_CHILD: below(2) ? edit_kernel(node) : edit_fill(node); break;
    case SPEC_HOST:
        node->host = (int)below(2);
        node->value = below(3);
        break;
    case SPEC_RECORD:
    case SPEC_WAIT: node->event = (int)below(2); break;
    case SPEC_BATCH:
        node->value = below(9);
        if (below(3) == 0)
            node->ops = 1 + (int)below(3);
        if (below(3) == 0)
            node->op_wide = !node->op_wide;
        break;
    case SPEC_EMPTY:
    case SPEC_KINDS: break;
    }
}

static void edit_topology(spec *of)
{
    spec_node *node = &of->nodes[below((unsigned)of->count)];
    switch (below(5)) {
    case 0: /* another order of dependencies */
        if (node->dep_count > 1) {
            const int first = node->deps[0];
            node->deps[0] = node->deps[1];
            node->deps[1] = first;
        }
        break;
    case 1: node->dep_count -= node->dep_count > 0; break;
    case 2:
        if (node != of->nodes && node->dep_count == 0)
            node->deps[node->dep_count++] = (int)below((unsigned)(node - of->nodes));
        break;
    case 3: node->kind = (spec_kind)below(SPEC_KINDS); break;
    default: /* one node less, if it is the last */ of->count -= of->count > 1; break;
    }
}

/* ---- both verdicts ---- */

static struct {
    long pairs, fits, refused, wrong, unsure;
    long by_result[16], by_way[8];
} seen;

/* What the driver says, with an executable of its own: nothing of ours is in the way. */
static CUresult ask_driver(CUgraph from, CUgraph to, unsigned flags,
                           CUgraphExecUpdateResultInfo *info)
{
    CUgraphExec exec = NULL;
    OK(world.cu->cuGraphInstantiateWithFlags(&exec, from, flags));
    memset(info, 0, sizeof(*info));
    const CUresult result = world.cu->cuGraphExecUpdate(exec, to, info);
    OK(world.cu->cuGraphExecDestroy(exec));
    return result;
}

static void report_difference(const gph_update_report *report, CUresult result,
                              const CUgraphExecUpdateResultInfo *info)
{
    seen.wrong++;
    if (seen.wrong <= 10)
        fprintf(stderr,
                "  pair %ld: predicted way %u result %u node %p from %p (%s); the driver "
                "returned %d, result %d, node %p from %p\n",
                seen.pairs, report->way, report->result, (void *)report->handle,
                (void *)report->handle_from, report->text, (int)result, (int)info->result,
                (void *)info->errorNode, (void *)info->errorFromNode);
}

static void compare(const gph_update_report *report, CUresult result,
                    const CUgraphExecUpdateResultInfo *info)
{
    const bool refused = report->way == GPH_UPDATE_REINSTANTIATE;
    bool right = refused == (result != CUDA_SUCCESS);
    if (refused && right) {
        right = result == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE &&
                report->result == (uint32_t)info->result &&
                report->handle == info->errorNode &&
                report->handle_from == info->errorFromNode && report->rule != NULL &&
                report->field != NULL && report->text[0] != '\0';
        seen.by_result[info->result & 15]++;
    }
    seen.unsure += !report->is_certain;
    seen.by_way[report->way & 7]++;
    *(refused ? &seen.refused : &seen.fits) += 1;
    if (!right)
        report_difference(report, result, info);
}

/* False: the driver does not make one of the graphs executable. */
static bool try_pair(const spec *a, const spec *b, unsigned flags)
{
    CUgraphNode made[SPEC_NODES], also[SPEC_NODES];
    CUgraph from = spec_build(a, made), to = from != NULL ? spec_build(b, also) : NULL;
    gph_exec *exec = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    CUgraphExecUpdateResultInfo info;
    options.flags = flags;
    options.upload_stream = world.stream;
    const bool runs =
        to != NULL && gph_exec_create(world.runtime, from, &options, &exec, NULL) == 0;
    if (runs) {
        seen.pairs++;
        FINE(gph_exec_track(exec, from, NULL, &world.error));
        FINE(gph_exec_compatible(exec, to, &report, &world.error));
        const CUresult result = ask_driver(from, to, flags, &info);
        compare(&report, result, &info);
        /* It was not touched: the same is predicted of the graph that it holds. */
        gph_update_report again = GPH_UPDATE_REPORT_INIT;
        FINE(gph_exec_compatible(exec, from, &again, &world.error));
        CHECK(again.way == GPH_UPDATE_NOTHING && gph_diff_count(again.diff) == 0);
        gph_update_report_fini(&again);
        gph_update_report_fini(&report);
    }
    gph_exec_destroy(exec);
    OK(world.cu->cuStreamSynchronize(world.stream));
    if (to != NULL)
        OK(world.cu->cuGraphDestroy(to));
    if (from != NULL)
        OK(world.cu->cuGraphDestroy(from));
    return runs;
}

static long pairs_wanted = 1500;

static void random_pairs_are_foretold(void)
{
    for (long tries = 0; seen.pairs < pairs_wanted && tries < 20 * pairs_wanted;
         tries++) {
        const spec a = random_spec();
        spec b = a;
        const unsigned edits = below(4);
        for (unsigned i = 0; i < edits; i++) {
            if (below(6) == 0)
                edit_topology(&b);
            else
                edit_node(&b.nodes[below((unsigned)b.count)]);
        }
        (void)try_pair(&a, &b, below(4) == 0 ? 8 : 0);
    }
    printf("%ld pairs: %ld fit, %ld refused, %ld predicted wrongly, %ld unsure\n",
           seen.pairs, seen.fits, seen.refused, seen.wrong, seen.unsure);
    printf("ways: nothing %ld, nodes %ld, whole %ld, new %ld\n", seen.by_way[1],
           seen.by_way[2], seen.by_way[3], seen.by_way[4]);
    printf("results: ");
    for (int i = 0; i < 9; i++)
        printf(" %d: %ld", i, seen.by_result[i]);
    printf("\n");
    CHECK(seen.pairs == pairs_wanted && seen.wrong == 0);
    /* All that can be said is said. */
    CHECK(seen.by_way[1] > 0 && seen.by_way[2] > 0 && seen.by_way[3] > 0);
    CHECK(seen.by_result[2] > 0 && seen.by_result[3] > 0 && seen.by_result[5] > 0 &&
          seen.by_result[7] > 0 && seen.by_result[8] > 0);
}

/* Each sort of memory to each other, read and written. */
static void every_move_of_memory_is_foretold(void)
{
    const long before = seen.wrong;
    for (int from = 0; from < AT_COUNT; from++)
        for (int to = 0; to < AT_COUNT; to++)
            for (int what = 0; what < 3; what++) {
                spec a = {.count = 1}, b;
                a.nodes[0] = spec_default(what == 2 ? SPEC_FILL : SPEC_COPY, 0);
                a.nodes[0].unified = true;
                b = a;
                *(what == 0 ? &a.nodes[0].from : &a.nodes[0].to) = from;
                *(what == 0 ? &b.nodes[0].from : &b.nodes[0].to) = to;
                (void)try_pair(&a, &b, 0);
            }
    CHECK(seen.wrong == before);
}

/* ---- memory nodes ---- */

/* An allocation, a fill of it or a copy from it, and perhaps its end. */
static CUgraph memory_graph(bool fills, bool freed)
{
    CUgraph graph = NULL;
    CUgraphNode alloc = NULL, work = NULL, end = NULL;
    CUDA_MEM_ALLOC_NODE_PARAMS params = {
        .poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                      .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}},
        .bytesize = 1 << 20};
    OK(world.cu->cuGraphCreate(&graph, 0));
    OK(world.cu->cuGraphAddMemAllocNode(&alloc, graph, NULL, 0, &params));
    const CUDA_MEMSET_NODE_PARAMS fill = {
        .dst = params.dptr, .value = 1, .elementSize = 4, .width = 4, .height = 1};
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = params.dptr,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = world.at[AT_SECOND],
                                .WidthInBytes = 16,
                                .Height = 1,
                                .Depth = 1};
    if (fills)
        OK(world.cu->cuGraphAddMemsetNode(&work, graph, &alloc, 1, &fill, world.context));
    else
        OK(world.cu->cuGraphAddMemcpyNode(&work, graph, &alloc, 1, &copy, world.context));
    if (freed)
        OK(world.cu->cuGraphAddMemFreeNode(&end, graph, &work, 1, params.dptr));
    return graph;
}

/* The driver is asked with the executable itself: such a graph has one only. */
static void memory_nodes_are_foretold(void)
{
    const long before = seen.wrong;
    long unsure = 0;
    for (int which = 0; which < 16; which++) {
        CUgraph from = memory_graph(which & 1, which & 2),
                to = memory_graph(which & 4, which & 8);
        gph_exec *exec = NULL;
        gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
        gph_update_report report = GPH_UPDATE_REPORT_INIT;
        CUgraphExecUpdateResultInfo info = {.errorNode = NULL};
        options.upload_stream = world.stream;
        FINE(gph_exec_create(world.runtime, from, &options, &exec, &world.error));
        FINE(gph_exec_track(exec, from, NULL, &world.error));
        FINE(gph_exec_compatible(exec, from, &report, &world.error));
        CHECK(report.way == GPH_UPDATE_NOTHING && report.is_certain);
        FINE(gph_exec_compatible(exec, to, &report, &world.error));
        unsure += !report.is_certain;
        seen.pairs++;
        const CUresult result =
            world.cu->cuGraphExecUpdate(gph_exec_handle(exec), to, &info);
        compare(&report, result, &info);
        gph_update_report_fini(&report);
        gph_exec_destroy(exec);
        OK(world.cu->cuStreamSynchronize(world.stream));
        OK(world.cu->cuGraphDestroy(to));
        OK(world.cu->cuGraphDestroy(from));
    }
    CHECK(seen.wrong == before && unsure == 16);
}

int main(int argc, char **argv)
{
    const int code = world_open();
    if (code != 0)
        return code;
    if (argc > 1)
        pairs_wanted = atol(argv[1]);
    if (argc > 2)
        state = strtoull(argv[2], NULL, 10);
    RUN(random_pairs_are_foretold);
    RUN(every_move_of_memory_is_foretold);
    RUN(memory_nodes_are_foretold);
    gph_close(world.runtime);
    return test_done();
}

// SPDX-License-Identifier: Apache-2.0
/* PULL slots on a driver: the graph copies what was bound for its launch, whatever lies how
 * to what, however many launches are queued, and whoever captured it. */
#define _POSIX_C_SOURCE 200809L
#include "update_world.h"
#include <gph/slot.h>

#include <time.h>

enum { ROOM = 1 << 20, SEEN = 64, HEAD = 64 };

static CUdeviceptr source, seen; /* ROOM bytes that are all different in a row; rows */
static uint8_t bytes[ROOM], back[ROOM];
static CUstream second;
static atomic_int gate;

static void CUDA_CB wait_at_gate(void *user)
{
    (void)user;
    for (int i = 0; i < 20000 && !atomic_load(&gate); i++) {
        const struct timespec pause = {.tv_nsec = 1000000};
        nanosleep(&pause, NULL);
    }
}

static uint64_t state = 5;

static unsigned below(unsigned limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 33) % limit;
}

static gph_slots *make_table(const gph_slot *slots, uint32_t count, uint32_t depth,
                             uint32_t flags)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    gph_slots *table = NULL;
    options.depth = depth;
    options.flags = flags;
    FINE(gph_slots_create(world.runtime, slots, count, &options, &table, &world.error));
    return table;
}

static gph_exec *make_exec(CUgraph graph)
{
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_exec *exec = NULL;
    options.upload_stream = world.stream;
    FINE(gph_exec_create(world.runtime, graph, &options, &exec, &world.error));
    return exec;
}

/* A graph that copies `count` bytes of the first slot to `to`. */
static gph_exec *capture(gph_slots *table, CUdeviceptr to, size_t count)
{
    CUgraph graph = NULL;
    OK(world.cu->cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    FINE(gph_slots_feed(table, world.stream, &world.error));
    OK(world.cu->cuMemcpyDtoDAsync(to, gph_slots_address(table, 0), count, world.stream));
    OK(world.cu->cuStreamEndCapture(world.stream, &graph));
    gph_exec *exec = make_exec(graph);
    OK(world.cu->cuGraphDestroy(graph));
    return exec;
}

static void destroy(gph_slots *table, gph_exec *exec)
{
    OK(world.cu->cuStreamSynchronize(world.stream));
    gph_exec_destroy(exec);
    gph_slots_destroy(table);
}

static void launch(gph_slots *table, gph_exec *exec, CUdeviceptr from, CUstream stream)
{
    FINE(gph_slots_bind(table, 0, from, &world.error));
    FINE(gph_slots_launch(table, &exec, 1, stream, &world.error));
}

/* Whether `count` bytes lie at `at`, and nothing was written around them. */
static bool is_there(CUdeviceptr at, size_t count, const uint8_t *expected)
{
    OK(world.cu->cuStreamSynchronize(world.stream));
    OK(world.cu->cuMemcpyDtoH(back, at - HEAD, count + 2 * HEAD));
    bool is_right = memcmp(back + HEAD, expected, count) == 0;
    for (size_t i = 0; i < HEAD; i++)
        is_right = is_right && back[i] == 0xee && back[HEAD + count + i] == 0xee;
    return is_right;
}

/* Sizes from a byte on, and each way in which two addresses lie to each other. */
static void every_size_and_skew_is_copied(void)
{
    static const size_t sizes[] = {1,    2,    3,     4,     7,      8,
                                   15,   16,   17,    63,    255,    256,
                                   1023, 4096, 16384, 16385, 100000, 400000};
    CUdeviceptr room = 0;
    OK(world.cu->cuMemAlloc(&room, ROOM));
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++)
        for (int round = 0; round < 6; round++) {
            const CUdeviceptr to = room + HEAD + (round == 0 ? 0 : below(17));
            const unsigned skew = round == 0 ? 0 : below(17);
            const gph_slot slot = {
                .kind = GPH_SLOT_PULL, .bytes = sizes[k], .address = to};
            OK(world.cu->cuMemsetD8(room, 0xee, ROOM));
            gph_slots *table = make_table(&slot, 1, 0, 0);
            gph_exec *exec = capture(table, seen, 1);
            launch(table, exec, source + skew, world.stream);
            const bool is_right = is_there(to, sizes[k], bytes + skew);
            if (!is_right)
                fprintf(stderr, "  %zu bytes to +%llu from +%u\n", sizes[k], to - room,
                        skew);
            CHECK(is_right);
            destroy(table, exec);
        }
    OK(world.cu->cuMemFree(room));
}

/* Each of them has its own row, though all are queued before the first begins. */
static void queued_replays_keep_what_they_were_bound_to(void)
{
    enum { LAUNCHES = 60 };
    const gph_slot slots[] = {{.kind = GPH_SLOT_PULL, .bytes = 40000},
                              {.kind = GPH_SLOT_PULL, .bytes = 12}};
    gph_slots *table = make_table(slots, 2, 0, 0);
    CUdeviceptr from[LAUNCHES];
    CUgraph graph = NULL;
    gph_exec *execs[LAUNCHES];
    for (int i = 0; i < LAUNCHES; i++) { /* one each, so that what each saw is kept */
        OK(world.cu->cuStreamBeginCapture(world.stream,
                                          CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        FINE(gph_slots_feed(table, world.stream, &world.error));
        for (unsigned k = 0; k < 2; k++)
            OK(world.cu->cuMemcpyDtoDAsync(seen + (unsigned)i * SEEN + 8 * k,
                                           gph_slots_address(table, k), 8, world.stream));
        OK(world.cu->cuStreamEndCapture(world.stream, &graph));
        execs[i] = make_exec(graph);
        OK(world.cu->cuGraphDestroy(graph));
    }
    atomic_store(&gate, 0);
    OK(world.cu->cuLaunchHostFunc(world.stream, wait_at_gate, NULL));
    for (int i = 0; i < LAUNCHES; i++) {
        from[i] = source + below(60000);
        FINE(gph_slots_bind(table, 1, from[i] + 1, &world.error));
        launch(table, execs[i], from[i], world.stream);
    }
    atomic_store(&gate, 1);
    OK(world.cu->cuStreamSynchronize(world.stream));
    OK(world.cu->cuMemcpyDtoH(back, seen, LAUNCHES * SEEN));
    for (int i = 0; i < LAUNCHES; i++) {
        CHECK(memcmp(back + i * SEEN, bytes + (from[i] - source), 8) == 0);
        CHECK(memcmp(back + i * SEEN + 8, bytes + (from[i] + 1 - source), 8) == 0);
        gph_exec_destroy(execs[i]);
    }
    gph_slots_destroy(table);
}

static void a_ring_goes_round(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_PULL, .bytes = 33000};
    gph_slots *table = make_table(&slot, 1, 4, 0);
    gph_exec *exec = capture(table, seen, 8);
    gph_slots_stats stats = GPH_SIZED(gph_slots_stats);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < 400; i++) {
        const unsigned at = below(60000);
        launch(table, exec, source + at, world.stream);
        if (i % 7 != 0)
            continue;
        OK(world.cu->cuStreamSynchronize(world.stream));
        OK(world.cu->cuMemcpyDtoH(back, seen, 8));
        wrong += memcmp(back, bytes + at, 8) != 0;
    }
    CHECK(wrong == 0);
    gph_slots_stats_get(table, &stats);
    CHECK(stats.launch_count == 400 && stats.copy_count == 0);
    destroy(table, exec);
}

/* What nobody bound stays as it is, and so it is for a launch without the table. */
static void other_launches_copy_nothing(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_PULL, .bytes = 20000};
    gph_slots *table = make_table(&slot, 1, 2, 0);
    gph_exec *exec = capture(table, seen, 8);
    const CUdeviceptr own = gph_slots_address(table, 0);
    OK(world.cu->cuMemsetD8Async(own, 0x11, 20000, world.stream));
    FINE(gph_slots_launch(table, &exec, 1, world.stream, &world.error));
    OK(world.cu->cuStreamSynchronize(world.stream));
    OK(world.cu->cuMemcpyDtoH(back, seen, 8));
    CHECK(back[0] == 0x11 && back[7] == 0x11);
    for (unsigned i = 0; i < 9; i++) {
        launch(table, exec, source + i, world.stream);
        OK(world.cu->cuStreamSynchronize(world.stream));
        OK(world.cu->cuMemcpyDtoH(back, seen, 8));
        CHECK(memcmp(back, bytes + i, 8) == 0);
        OK(world.cu->cuMemsetD8Async(own, 0x22, 20000, world.stream));
        for (unsigned k = 0; k < i; k++)
            FINE(gph_exec_launch(exec, world.stream, &world.error));
        OK(world.cu->cuStreamSynchronize(world.stream));
        OK(world.cu->cuMemcpyDtoH(back, own, 20000));
        CHECK(i == 0 || (back[0] == 0x22 && back[19999] == 0x22));
    }
    launch(table, exec, own, world.stream); /* its own address */
    OK(world.cu->cuStreamSynchronize(world.stream));
    OK(world.cu->cuMemcpyDtoH(back, seen, 8));
    CHECK(back[0] == 0x22);
    destroy(table, exec);
}

static size_t nodes_of(CUgraph graph)
{
    size_t count = 0;
    OK(world.cu->cuGraphGetNodes(graph, NULL, &count));
    return count;
}

/* Three roots, one of which reads the slot, and an empty graph. */
static void a_graph_that_is_there_gets_it_later(void)
{
    const gph_slot slots[] = {{.kind = GPH_SLOT_PULL, .bytes = 5000},
                              {.kind = GPH_SLOT_INDIRECT}};
    for (uint32_t count = 1; count <= 2; count++) {
        gph_slots *table = make_table(slots, count, 0, 0);
        CUgraph graph = NULL;
        CUgraphNode node = NULL;
        const CUDA_MEMSET_NODE_PARAMS fill = {
            .dst = seen + 4096, .elementSize = 1, .value = 3, .width = 8, .height = 1};
        OK(world.cu->cuGraphCreate(&graph, 0));
        FINE(gph_slots_enter(table, graph, &world.error));
        CHECK(nodes_of(graph) == count);
        FINE(gph_slots_leave(table, &world.error));
        OK(world.cu->cuStreamBeginCaptureToGraph(world.stream, graph, NULL, NULL, 0,
                                                 CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
        OK(world.cu->cuMemcpyDtoDAsync(seen, gph_slots_address(table, 0), 8,
                                       world.stream));
        OK(world.cu->cuStreamEndCapture(world.stream, &graph));
        for (int i = 0; i < 2; i++)
            OK(world.cu->cuGraphAddMemsetNode(&node, graph, NULL, 0, &fill,
                                              world.context));
        const size_t before = nodes_of(graph);
        FINE(gph_slots_enter(table, graph, &world.error));
        CHECK(gph_slots_enter(table, graph, &world.error) == GPH_E_STATE);
        size_t roots = 0;
        OK(world.cu->cuGraphGetRootNodes(graph, NULL, &roots));
        CHECK(roots == 1 && nodes_of(graph) == before + count);
        gph_exec *exec = make_exec(graph);
        FINE(gph_slots_leave(table, &world.error));
        FINE(gph_slots_leave(table, &world.error)); /* there is nothing */
        OK(world.cu->cuGraphGetRootNodes(graph, NULL, &roots));
        CHECK(roots == 3 && nodes_of(graph) == before);
        if (count == 2)
            FINE(gph_slots_bind(table, 1, source, &world.error));
        for (unsigned i = 0; i < 4; i++) {
            launch(table, exec, source + 100 * i + 1, world.stream);
            OK(world.cu->cuStreamSynchronize(world.stream));
            OK(world.cu->cuMemcpyDtoH(back, seen, 8));
            CHECK(memcmp(back, bytes + 100 * i + 1, 8) == 0);
        }
        OK(world.cu->cuGraphDestroy(graph));
        destroy(table, exec);
    }
}

/* The driver orders launches of one executable; streams come and go. */
static void one_executable_needs_no_order_of_streams(void)
{
    const gph_slot slot = {.kind = GPH_SLOT_PULL, .bytes = 64};
    gph_slots *table = make_table(&slot, 1, 8, GPH_SLOTS_ONE_EXEC);
    gph_exec *exec = capture(table, seen, 8);
    for (unsigned i = 0; i < 30; i++) {
        CUstream gone = NULL;
        OK(world.cu->cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
        launch(table, exec, source + i, i % 2 ? gone : second);
        OK(world.cu->cuStreamDestroy(gone));
    }
    OK(world.cu->cuCtxSynchronize());
    OK(world.cu->cuMemcpyDtoH(back, seen, 8));
    CHECK(memcmp(back, bytes + 29, 8) == 0);
    destroy(table, exec);
}

static void wrong_uses_are_refused(void)
{
    gph_slots_options options = GPH_SLOTS_OPTIONS_INIT;
    gph_slot slot = {.kind = GPH_SLOT_PULL};
    gph_slots *table = NULL;
#define REFUSED()                                                                        \
    CHECK(gph_slots_create(world.runtime, &slot, 1, &options, &table, &world.error) ==   \
          GPH_E_INVALID)
    REFUSED(); /* no bytes */
    slot.bytes = 8;
    options.flags = 2;
    REFUSED();
    options.flags = GPH_SLOTS_ONE_EXEC;
    slot.kind = GPH_SLOT_COPY;
    REFUSED();
    slot.kind = GPH_SLOT_REMAP;
    REFUSED();
    CHECK(strstr(world.error.message, "GPH_SLOTS_ONE_EXEC") != NULL && !table);
    CHECK(gph_slots_enter(NULL, NULL, &world.error) == GPH_E_INVALID);
    CHECK(gph_slots_leave(NULL, &world.error) == GPH_E_INVALID);
}

int main(void)
{
    const int code = world_open();
    if (code != 0)
        return code;
    for (size_t i = 0; i < ROOM; i++)
        bytes[i] = (uint8_t)(i * 7 ^ i >> 5 ^ i >> 11);
    OK(world.cu->cuMemAlloc(&source, ROOM));
    OK(world.cu->cuMemcpyHtoD(source, bytes, ROOM));
    OK(world.cu->cuMemAlloc(&seen, 1 << 16));
    OK(world.cu->cuStreamCreate(&second, CU_STREAM_NON_BLOCKING));
    RUN(every_size_and_skew_is_copied);
    RUN(queued_replays_keep_what_they_were_bound_to);
    RUN(a_ring_goes_round);
    RUN(other_launches_copy_nothing);
    RUN(a_graph_that_is_there_gets_it_later);
    RUN(one_executable_needs_no_order_of_streams);
    RUN(wrong_uses_are_refused);
    gph_close(world.runtime);
    return test_done();
}

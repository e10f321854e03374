// SPDX-License-Identifier: Apache-2.0
/* Updates, edits and slots while each call of the driver and each allocation fails in
 * turn: an executable can be launched and holds what it held, or all that was wanted.
 *
 *   libgph ── shim (fails the n-th call) ── the driver */
#define _POSIX_C_SOURCE 200809L
#include "fault.h"
#include "shim.h"
#include "update_world.h"
#include <gph/sentinel.h>
#include <gph/slot.h>
#include <unistd.h>

static fault_heap heap = {.fail_at = -1};
static gph_runtime *shimmed;

static const struct shim_rule rules[] = {
    SHIM_CALL(cuGraphGetNodes),
    SHIM_CALL(cuGraphGetEdges),
    SHIM_CALL(cuGraphNodeGetDependencies),
    SHIM_CALL(cuGraphNodeGetType),
    SHIM_CALL(cuGraphKernelNodeGetParams),
    SHIM_CALL(cuGraphKernelNodeGetAttribute),
    SHIM_CALL(cuFuncGetParamInfo),
    SHIM_CALL(cuGraphMemcpyNodeGetParams),
    SHIM_CALL(cuGraphMemsetNodeGetParams),
    SHIM_CALL(cuGraphAddMemsetNode),
    SHIM_CALL(cuMemHostRegister),
    SHIM_CALL(cuGraphChildGraphNodeGetGraph),
    SHIM_CALL(cuPointerGetAttributes),
    SHIM_CALL(cuCtxGetCurrent),
    SHIM_CALL(cuGraphExecUpdate),
    SHIM_CALL(cuGraphExecKernelNodeSetParams),
    SHIM_CALL(cuGraphExecMemsetNodeSetParams),
    SHIM_CALL(cuGraphNodeSetEnabled),
    SHIM_CALL(cuGraphInstantiateWithParams),
    SHIM_CALL(cuGraphLaunch),
    SHIM_CALL(cuCtxGetDevice),
    SHIM_CALL(cuDeviceGetAttribute),
    SHIM_CALL(cuEventCreate),
    SHIM_CALL(cuEventQuery),
    SHIM_CALL(cuEventRecord),
    SHIM_CALL(cuStreamWaitEvent),
    SHIM_CALL(cuStreamIsCapturing),
    SHIM_CALL(cuMemAlloc),
    SHIM_CALL(cuMemHostAlloc),
    SHIM_CALL(cuMemHostGetDevicePointer),
    SHIM_CALL(cuMemcpyHtoD),
    SHIM_CALL(cuMemcpyAsync),
    SHIM_CALL(cuMemcpyBatchAsync),
    SHIM_CALL(cuModuleLoadData),
    SHIM_CALL(cuModuleGetFunction),
    SHIM_CALL(cuLaunchKernel),
    SHIM_CALL(cuMemGetAllocationGranularity),
    SHIM_CALL(cuMemAddressReserve),
    SHIM_CALL(cuMemCreate),
    SHIM_CALL(cuMemMap),
    SHIM_CALL(cuMemSetAccess),
    SHIM_CALL(cuMemRetainAllocationHandle),
    SHIM_END,
};

static void open_shim(void)
{
    const gph_allocator allocator = {fault_realloc, &heap};
    gph_driver_info info = GPH_SIZED(gph_driver_info);
    gph_driver_info_get(world.runtime, &info);
    if (CHECK(shim_open(info.driver, rules)))
        CHECK_OK(gphi_runtime_create(&allocator, &shim_source, &shimmed, &world.error),
                 world.error);
}

/* ---- sweeps -------------------------------------------------------------------------
 */

/* What is done, and to what; made again for each failure. */
struct scene {
    spec before, after;
    CUgraph graph, other;
    CUgraphNode nodes[SPEC_NODES], more[SPEC_NODES];
    gph_exec *exec;
    gph_snapshot *snapshot;
    gph_status (*act)(struct scene *scene);
};

enum { WORDS = 512 };

static void run(gph_exec *exec, uint32_t out[2 * WORDS])
{
    OK(below.cuMemsetD32Async(world.at[AT_DEVICE], 0, WORDS, world.stream));
    OK(below.cuMemsetD32Async(world.at[AT_SECOND], 0, WORDS, world.stream));
    CHECK_OK(gph_exec_launch(exec, world.stream, &world.error), world.error);
    for (int i = 0; i < 2; i++)
        OK(below.cuMemcpyDtoHAsync(out + i * WORDS, world.at[AT_DEVICE + i], 4 * WORDS,
                                   world.stream));
    OK(below.cuStreamSynchronize(world.stream));
}

static gph_sentinel *sentinel; /* of executables of the shimmed runtime; or NULL */

static gph_exec *make(gph_runtime *runtime, CUgraph graph)
{
    gph_exec *exec = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = world.stream;
    options.sentinel = runtime == shimmed ? sentinel : NULL;
    CHECK_OK(gph_exec_create(runtime, graph, &options, &exec, &world.error), world.error);
    return exec;
}

static void expect(const spec *what, uint32_t out[2 * WORDS])
{
    CUgraphNode nodes[SPEC_NODES];
    CUgraph graph = spec_build(what, nodes);
    gph_exec *exec = make(world.runtime, graph);
    run(exec, out);
    gph_exec_destroy(exec);
    OK(below.cuGraphDestroy(graph));
}

static spec small(void)
{
    spec out = {.count = 5};
    for (int i = 0; i < 5; i++) {
        const spec_kind kind = i == 1   ? SPEC_FILL
                               : i == 3 ? SPEC_CHILD
                               : i == 2 ? SPEC_COPY
                                        : SPEC_KERNEL;
        out.nodes[i] = spec_default(kind, (uint64_t)i * 64);
        out.nodes[i].value = 5 + (unsigned)i;
        if (i > 0)
            out.nodes[i].deps[out.nodes[i].dep_count++] = i - 1;
        if (i > 2)
            out.nodes[i].deps[out.nodes[i].dep_count++] = 0;
    }
    return out;
}

static gph_status act_track(struct scene *scene)
{
    const long calls = shim.fail_at, allocations = atomic_load(&heap.fail_at);
    shim.fail_at = -1;
    atomic_store(&heap.fail_at, -1);
    gph_exec *fresh = make(shimmed, scene->graph);
    shim.fail_at = calls;
    atomic_store(&heap.fail_at, allocations);
    const gph_status status = gph_exec_track(fresh, scene->graph, NULL, &world.error);
    uint32_t node = 0;
    if (status == GPH_OK)
        CHECK(gph_exec_node_index(fresh, scene->nodes[2], &node, NULL) == GPH_OK);
    gph_exec_destroy(fresh);
    return status;
}

static gph_status act_compatible(struct scene *scene)
{
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    const gph_status status =
        gph_exec_compatible(scene->exec, scene->other, &report, &world.error);
    CHECK((report.way != 0) == (status == GPH_OK));
    gph_update_report_fini(&report);
    return status;
}

static gph_status act_update(struct scene *scene)
{
    gph_update_report report = GPH_UPDATE_REPORT_INIT;
    gph_update_options options = GPH_UPDATE_OPTIONS_INIT;
    options.snapshot = scene->snapshot;
    options.may_reinstantiate = 1;
    options.upload_stream = world.stream;
    const gph_status status =
        gph_exec_update(scene->exec, scene->other, &options, &report, &world.error);
    gph_update_report_fini(&report);
    return status;
}

static gph_status act_edit(struct scene *scene)
{
    const uint32_t first = 900, second = 901;
    const gph_edit edits[] = {
        {.node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &first},
        {.node = 1, .what = GPH_EDIT_VALUE, .value = 902},
        {.node = 2, .what = GPH_EDIT_ENABLED, .value = 0},
        {.node = 4, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &second},
        {.node = 2, .what = GPH_EDIT_ENABLED, .value = 1}};
    return gph_exec_edit(scene->exec, edits, 5, &world.error);
}

static gph_status act_edit_one(struct scene *scene)
{
    const uint32_t value = 900;
    const gph_edit edit = {
        .node = 0, .what = GPH_EDIT_ARG, .index = 1, .bytes = 4, .data = &value};
    return gph_exec_edit(scene->exec, &edit, 1, &world.error);
}

static void open_scene(struct scene *scene, bool with_snapshot)
{
    scene->snapshot = NULL;
    scene->graph = spec_build(&scene->before, scene->nodes);
    scene->other = spec_build(&scene->after, scene->more);
    scene->exec = make(shimmed, scene->graph);
    CHECK_OK(gph_exec_track(scene->exec, scene->graph, NULL, &world.error), world.error);
    if (with_snapshot)
        CHECK_OK(gph_snapshot_take(shimmed, scene->other, &scene->snapshot, &world.error),
                 world.error);
}

static void close_scene(struct scene *scene)
{
    gph_snapshot_release(scene->snapshot);
    gph_exec_destroy(scene->exec);
    OK(below.cuGraphDestroy(scene->other));
    OK(below.cuGraphDestroy(scene->graph));
}

/* `changes`: whether the act is to leave `after` in the executable. */
static long sweep(struct scene *scene, bool with_snapshot, bool changes, bool of_heap)
{
    static uint32_t before[2 * WORDS], after[2 * WORDS], got[2 * WORDS];
    expect(&scene->before, before);
    expect(&scene->after, after);
    const long live = atomic_load(&heap.live_bytes);
    for (long nth = 0; nth < 3000; nth++) {
        open_scene(scene, with_snapshot);
        if (of_heap)
            atomic_store(&heap.fail_at, nth);
        else
            shim.fail_at = nth;
        const gph_status status = scene->act(scene);
        const bool done = of_heap ? atomic_load(&heap.fail_at) >= 0 : shim.fail_at >= 0;
        atomic_store(&heap.fail_at, -1);
        shim.fail_at = -1;
        /* A refusal that could not be explained is one all the same. */
        CHECK(done ? status == GPH_OK
                   : status == GPH_OK || status == GPH_E_NO_MEMORY ||
                         status == CUDA_ERROR_UNKNOWN);
        run(scene->exec, got);
        const bool is_new = changes && status == GPH_OK;
        if (!CHECK(memcmp(got, is_new ? after : before, sizeof(got)) == 0))
            fprintf(stderr, "  failure %ld, status %d\n", nth, (int)status);
        if (status != GPH_OK) { /* and all of it works then */
            CHECK_OK(scene->act(scene), world.error);
            run(scene->exec, got);
            CHECK(memcmp(got, changes ? after : before, sizeof(got)) == 0);
        }
        close_scene(scene);
        CHECK(atomic_load(&heap.live_bytes) == live);
        if (done)
            return nth;
    }
    return -1;
}

static void both_sweeps(struct scene *scene, bool with_snapshot, bool changes, long calls,
                        long allocations)
{
    const long of_calls = sweep(scene, with_snapshot, changes, false);
    const long of_heap = sweep(scene, with_snapshot, changes, true);
    if (!CHECK(of_calls >= calls && of_heap >= allocations))
        fprintf(stderr, "  %ld calls, %ld allocations\n", of_calls, of_heap);
}

static void tracking_survives_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_track};
    both_sweeps(&scene, false, false, 30, 20);
}

static void foretelling_survives_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_compatible};
    scene.after.nodes[0].value = 77;
    both_sweeps(&scene, false, false, 30, 20);
    scene.after.nodes[4].cooperative = 1;
    both_sweeps(&scene, false, false, 30, 20);
}

static void updates_of_nodes_survive_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_update};
    scene.after.nodes[0].value = 77;
    scene.after.nodes[1].value = 78;
    both_sweeps(&scene, true, true, 2, 1);
}

static void whole_updates_survive_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_update};
    scene.after.nodes[0].value = 77;
    scene.after.nodes[4].priority = -1;
    both_sweeps(&scene, true, true, 1, 1);
    both_sweeps(&scene, false, true, 1, 0);
}

static void new_executables_survive_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_update};
    scene.after.nodes[1].rows = 2;
    both_sweeps(&scene, true, true, 2, 2);
    both_sweeps(&scene, false, true, 30, 20);
}

static void edits_survive_failures(void)
{
    struct scene scene = {.before = small(), .after = small(), .act = act_edit};
    scene.after.nodes[0].value = 900;
    scene.after.nodes[1].value = 902;
    scene.after.nodes[4].value = 901;
    both_sweeps(&scene, false, true, 5, 20);
    scene.after = small();
    scene.after.nodes[0].value = 900;
    scene.act = act_edit_one;
    both_sweeps(&scene, false, true, 1, 20);
}

/* ---- slots --------------------------------------------------------------------------
 */

static gph_slot_buffer *pages[2];

struct table {
    gph_slots *slots;
    gph_exec *execs[2];
};

static const gph_slot all_kinds[] = {
    {.name = "copied", .kind = GPH_SLOT_COPY, .bytes = 64},
    {.name = "copied, too", .kind = GPH_SLOT_COPY, .bytes = 64},
    {.name = "indirect", .kind = GPH_SLOT_INDIRECT},
    {.name = "mapped", .kind = GPH_SLOT_REMAP, .bytes = 4096},
    {.name = "pulled", .kind = GPH_SLOT_PULL, .bytes = 40000}};
enum { SLOTS = sizeof(all_kinds) / sizeof(all_kinds[0]) };

static gph_status bind(gph_slots *slots, int which)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        CHECK_OK(gph_slots_bind_buffer(slots, i, pages[which], &world.error),
                 world.error);
    return GPH_OK;
}

/* Copies the first words of the slots that have an address of their own. */
static gph_status capture(struct table *table, uint32_t window)
{
    CUgraph graph = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    gph_status status = gph_slots_window_set(table->slots, window, &world.error);
    if (status != GPH_OK)
        return status;
    OK(below.cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    status = gph_slots_feed(table->slots, world.stream, &world.error);
    for (uint32_t i = 0; i < SLOTS; i++)
        OK(below.cuMemcpyDtoDAsync(world.at[AT_DEVICE] + 8 * i,
                                   gph_slots_address(table->slots, i), 8, world.stream));
    OK(below.cuStreamEndCapture(world.stream, &graph));
    options.upload_stream = world.stream;
    if (status == GPH_OK)
        status = gph_exec_create(shimmed, graph, &options, &table->execs[window],
                                 &world.error);
    OK(below.cuGraphDestroy(graph));
    return status;
}

/* Whether a replay sees what is bound: `which` of the buffers. */
static bool sees(int which)
{
    uint64_t got[SLOTS] = {0};
    OK(below.cuMemcpyDtoHAsync(got, world.at[AT_DEVICE], sizeof(got), world.stream));
    OK(below.cuStreamSynchronize(world.stream));
    const uint64_t value = 500 + (uint64_t)which;
    return got[0] == value && got[1] == value && got[3] == value && got[4] == value &&
           got[2] == gph_slot_buffer_address(pages[which]);
}

static gph_status replay(struct table *table, int which)
{
    OK(below.cuMemsetD32Async(world.at[AT_DEVICE], 0, 4 * SLOTS, world.stream));
    bind(table->slots, which);
    return gph_slots_launch(table->slots, table->execs, 2, world.stream, &world.error);
}

/* Makes a table, captures both windows, replays with three bindings. */
static gph_status use_slots(void)
{
    struct table table = {0};
    gph_status status =
        gph_slots_create(shimmed, all_kinds, SLOTS, NULL, &table.slots, &world.error);
    if (status != GPH_OK)
        return status;
    bind(table.slots, 0);
    for (uint32_t w = 0; w < 2 && status == GPH_OK; w++)
        status = capture(&table, w);
    for (int i = 0; i < 3 && status == GPH_OK; i++) {
        status = replay(&table, (i + 1) % 2);
        CHECK(status != GPH_OK || sees((i + 1) % 2));
    }
    if (table.execs[1] != NULL && status != GPH_OK) {
        shim.fail_at = -1;
        atomic_store(&heap.fail_at, -1);
        const gph_status again = replay(&table, 0); /* whatever failed before */
        CHECK_OK(again, world.error);
        CHECK(again != GPH_OK || sees(0));
    }
    for (int w = 0; w < 2; w++)
        gph_exec_destroy(table.execs[w]);
    gph_slots_destroy(table.slots);
    return status;
}

static size_t nodes_of(CUgraph graph)
{
    size_t count = 0;
    OK(below.cuGraphGetNodes(graph, NULL, &count));
    return count;
}

/* A graph that was there before gets two kernels, and is as it was whatever fails. */
static gph_status use_entered(void)
{
    const gph_slot *slot = &all_kinds[SLOTS - 1];
    CUgraph graph = NULL;
    gph_exec *exec = NULL;
    gph_slots *slots = NULL;
    gph_exec_options options = GPH_EXEC_OPTIONS_INIT;
    options.upload_stream = world.stream;
    gph_status status = gph_slots_create(shimmed, slot, 1, NULL, &slots, &world.error);
    if (status != GPH_OK)
        return status;
    OK(below.cuStreamBeginCapture(world.stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    OK(below.cuMemcpyDtoDAsync(world.at[AT_DEVICE], gph_slots_address(slots, 0), 8,
                               world.stream));
    OK(below.cuStreamEndCapture(world.stream, &graph));
    status = gph_slots_enter(slots, graph, &world.error);
    CHECK(nodes_of(graph) == (status == GPH_OK ? 3 : 1));
    if (status == GPH_OK)
        status = gph_exec_create(shimmed, graph, &options, &exec, &world.error);
    gph_status left = gph_slots_leave(slots, &world.error);
    if (left != GPH_OK) /* they are there still, and go the second time */
        CHECK_OK(gph_slots_leave(slots, &world.error), world.error);
    CHECK(nodes_of(graph) == 1);
    status = status == GPH_OK ? left : status;
    if (status == GPH_OK)
        status = gph_slots_bind_buffer(slots, 0, pages[1], &world.error);
    if (status == GPH_OK)
        status = gph_slots_launch(slots, &exec, 1, world.stream, &world.error);
    if (status == GPH_OK) {
        uint64_t got = 0;
        OK(below.cuMemcpyDtoHAsync(&got, world.at[AT_DEVICE], 8, world.stream));
        OK(below.cuStreamSynchronize(world.stream));
        CHECK(got == 501);
    }
    gph_exec_destroy(exec);
    OK(below.cuGraphDestroy(graph));
    gph_slots_destroy(slots);
    return status;
}

static gph_status use_buffers(void)
{
    gph_slot_buffer *fresh = NULL, *adopted = NULL;
    gph_status status = gph_slot_buffer_create(shimmed, 1, &fresh, &world.error);
    if (status == GPH_OK)
        status = gph_slot_buffer_adopt(shimmed, world.at[AT_MAPPED], WORLD_PAGE, &adopted,
                                       &world.error);
    gph_slot_buffer_destroy(adopted);
    gph_slot_buffer_destroy(fresh);
    return status;
}

static void sweep_slots(gph_status (*use)(void), bool of_heap, long least)
{
    const long live = atomic_load(&heap.live_bytes);
    bool worked = false;
    for (long nth = 0; nth < 1000 && !worked; nth++) {
        if (of_heap)
            atomic_store(&heap.fail_at, nth);
        else
            shim.fail_at = nth;
        const gph_status status = use();
        const bool done = of_heap ? atomic_load(&heap.fail_at) >= 0 : shim.fail_at >= 0;
        atomic_store(&heap.fail_at, -1);
        shim.fail_at = -1;
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY ||
              status == CUDA_ERROR_UNKNOWN);
        CHECK(atomic_load(&heap.live_bytes) == live);
        OK(below.cuStreamSynchronize(world.stream));
        worked = done && status == GPH_OK;
        if (worked && !CHECK(nth >= least))
            fprintf(stderr, "  %ld failures\n", nth);
    }
    CHECK(worked);
}

static void slots_survive_failures(void)
{
    sweep_slots(use_slots, false, 30);
    sweep_slots(use_slots, true, 8);
    sweep_slots(use_entered, false, 12);
    sweep_slots(use_entered, true, 3);
}

static void buffers_survive_failures(void)
{
    sweep_slots(use_buffers, false, 7);
    sweep_slots(use_buffers, true, 2);
}

static void run_updates(void)
{
    RUN(tracking_survives_failures);
    RUN(foretelling_survives_failures);
    RUN(updates_of_nodes_survive_failures);
    RUN(whole_updates_survive_failures);
    RUN(new_executables_survive_failures);
    RUN(edits_survive_failures);
}

/* A board, an executable with sentinels, and what they say. */
static gph_status use_sentinels(const struct scene *scene, const char *path)
{
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    gph_exec_options with = GPH_EXEC_OPTIONS_INIT;
    gph_sentinel *board = NULL;
    gph_exec *exec = NULL;
    gph_progress *progress = NULL;
    options.path = path;
    options.every = 2;
    gph_status status = gph_sentinel_create(shimmed, &options, &board, &world.error);
    if (status != GPH_OK)
        return status;
    with.upload_stream = world.stream;
    with.sentinel = board;
    status = gph_exec_create(shimmed, scene->graph, &with, &exec, &world.error);
    if (status == GPH_OK)
        status = gph_progress_create(board, exec, &progress, &world.error);
    CHECK((progress != NULL) == (status == GPH_OK));
    gph_progress_destroy(progress);
    gph_exec_destroy(exec);
    gph_sentinel_destroy(board);
    return status;
}

static void making_them_survives_failures(void)
{
    char path[64];
    struct scene scene = {.before = small(), .after = small()};
    snprintf(path, sizeof(path), "/dev/shm/gph-update-fault.%ld", (long)getpid());
    for (int way = 0; way < 4; way++) {
        bool done = false;
        long nth = 0;
        for (; nth < 3000 && !done; nth++) {
            open_scene(&scene, false);
            const long live = atomic_load(&heap.live_bytes);
            size_t count = 0;
            if (way % 2)
                atomic_store(&heap.fail_at, nth);
            else
                shim.fail_at = nth;
            const gph_status status = use_sentinels(&scene, way / 2 ? path : NULL);
            done = way % 2 ? atomic_load(&heap.fail_at) >= 0 : shim.fail_at >= 0;
            atomic_store(&heap.fail_at, -1);
            shim.fail_at = -1;
            CHECK(status == GPH_OK ||
                  (!done && (status == GPH_E_NO_MEMORY || status == CUDA_ERROR_UNKNOWN)));
            CHECK(atomic_load(&heap.live_bytes) == live);
            OK(below.cuGraphGetNodes(scene.graph, NULL, &count));
            CHECK(count == 5);
            close_scene(&scene);
        }
        CHECK(done && nth > 10);
    }
    unlink(path);
}

int main(void)
{
    const int code = world_open();
    if (code != 0)
        return code;
    open_shim();
    for (int i = 0; i < 2; i++) {
        const uint64_t value = 500 + (uint64_t)i;
        CHECK_OK(gph_slot_buffer_create(world.runtime, 1, &pages[i], &world.error),
                 world.error);
        OK(below.cuMemcpyHtoD(gph_slot_buffer_address(pages[i]), &value, sizeof(value)));
    }
    run_updates();
    /* With sentinels, which are nodes more to be taken out again. */
    gph_sentinel_options options = GPH_SENTINEL_OPTIONS_INIT;
    options.every = 1;
    CHECK_OK(gph_sentinel_create(shimmed, &options, &sentinel, &world.error),
             world.error);
    run_updates();
    RUN(making_them_survives_failures);
    gph_sentinel_destroy(sentinel);
    RUN(slots_survive_failures);
    RUN(buffers_survive_failures);
    for (int i = 0; i < 2; i++)
        gph_slot_buffer_destroy(pages[i]);
    gph_close(shimmed);
    CHECK(atomic_load(&heap.live_bytes) == 0);
    shim_close();
    gph_close(world.runtime);
    return test_done();
}

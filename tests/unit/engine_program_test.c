// SPDX-License-Identifier: Apache-2.0
/* Programs: each node once a launch, after all its predecessors, whatever the shape. */
#define _GNU_SOURCE
#include "engine_check.h"
#include "fault.h"
#include "softcuda/engine/program.h"

static soft_engine *make(uint32_t workers, uint32_t seed)
{
    const soft_engine_options options = {.workers = workers, .random_seed = seed};
    soft_engine *engine = NULL;
    gph_error error = {0};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    return engine;
}

static soft_program *compile(soft_engine *engine, const check_graph *graph)
{
    soft_program *program = NULL;
    gph_error error = {0};
    CHECK_OK(soft_program_create(engine, graph->node_count, graph->edges,
                                 graph->edge_count, graph->kinds, NULL, &program, &error),
             error);
    return program;
}

static void launch(soft_queue *queue, soft_program *program, check_graph *graph)
{
    CHECK(soft_queue_launch(queue, program, graph->works, check_done, graph, NULL, 0,
                            NULL) == GPH_OK);
}

static const check_shape shapes[] = {
    {.nodes = 1, .max_preds = 1, .window = 1, .max_parts = 1},
    {.nodes = 200, .max_preds = 1, .window = 1, .max_parts = 1},
    {.nodes = 300, .max_preds = 3, .window = 30, .max_parts = 1, .spin = 200},
    {.nodes = 300, .max_preds = 3, .window = 300, .max_parts = 1, .shuffle = 1},
    {.nodes = 400, .max_preds = 2, .window = 8, .parts = 8, .max_parts = 40, .spin = 100},
    {.nodes = 120,
     .max_preds = 3,
     .window = 20,
     .empty = 5,
     .parts = 4,
     .max_parts = 9,
     .shuffle = 1,
     .spin = 2000},
    {.nodes = 90,
     .max_preds = 2,
     .window = 10,
     .empty = 3,
     .parts = 4,
     .host = 2,
     .max_parts = 20,
     .shuffle = 1,
     .spin = 500},
    {.nodes = 500, .max_preds = 2, .window = 60, .max_parts = 1, .spin = 3000},
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void replay(uint32_t workers, uint32_t seed, const check_shape *shape)
{
    soft_engine *engine = make(workers, seed);
    soft_queue *queue = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    check_graph *graph = check_graph_make(shape);
    soft_program *program = compile(engine, graph);
    for (uint32_t i = 0; i < 30; i++) {
        launch(queue, program, graph);
        if (i % 3 == 0)
            soft_point_wait(engine, soft_queue_tail(queue));
    }
    soft_program_destroy(program); /* with launches in flight */
    soft_point_wait(engine, soft_queue_tail(queue));
    CHECK(atomic_load(&graph->finished) == 30);
    CHECK(atomic_load(&graph->wrong) == 0);
    check_graph_free(graph);
    soft_engine_destroy(engine);
}

static void every_node_runs_once_and_in_order(void)
{
    for (uint32_t workers = 1; workers <= 8; workers++)
        for (uint32_t i = 0; i < SHAPES; i++)
            replay(workers, 0, &shapes[i]);
}

static void random_schedules_keep_the_order(void)
{
    for (uint32_t seed = 1; seed <= 6; seed++)
        for (uint32_t i = 2; i < SHAPES; i++)
            replay(1 + seed % 5, seed, &shapes[i]);
}

/* Plans are judged, dropped and made again: the nodes check that nobody notices. */
static void costs_may_change_between_launches(void)
{
    for (uint32_t workers = 2; workers <= 4; workers++) {
        soft_engine *engine = make(workers, 0);
        soft_queue *queue = NULL;
        gph_error error = {0};
        CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
        check_graph *graph = check_graph_make(&shapes[7]);
        soft_program *program = compile(engine, graph);
        for (uint32_t i = 0; i < 200; i++) {
            if (i % 40 == 0)
                for (uint32_t n = 0; n < graph->node_count; n++)
                    graph->nodes[n].spin = check_random(i % 80 == 0 ? 1500 : 30);
            launch(queue, program, graph);
            soft_point_wait(engine, soft_queue_tail(queue));
        }
        CHECK(atomic_load(&graph->finished) == 200);
        CHECK(atomic_load(&graph->wrong) == 0);
        soft_program_destroy(program);
        check_graph_free(graph);
        soft_engine_destroy(engine);
    }
}

static void launch_and_wait(soft_engine *engine, soft_queue *queue, soft_program *program,
                            check_graph *graph)
{
    launch(queue, program, graph);
    soft_point_wait(engine, soft_queue_tail(queue));
}

/* One thread seems to be faster, as when others have the CPUs: the plan is put aside,
 * what one thread really takes is learned, and the plan comes back. */
static void slow_plans_rest_and_come_back(void)
{
    const check_shape wide = {.nodes = 400, .max_preds = 1, .window = 1, .spin = 4000};
    soft_engine *engine = make(4, 0);
    soft_queue *queue = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    check_graph *graph = check_graph_make(&wide);
    graph->edge_count = 0; /* all at once */
    for (uint32_t i = 0; i < graph->node_count; i++)
        graph->nodes[i].pred_count = 0;
    soft_program *program = compile(engine, graph);
    for (uint32_t i = 0; i < MEASURE_FIRST; i++)
        launch_and_wait(engine, queue, program, graph);
    CHECK(program->plan != NULL);
    program->serial_ns = 1;
    program->plan_next = UINT64_MAX; /* it stays the same plan */
    for (uint32_t i = 0; i < PLAN_TRIAL; i++) {
        launch_and_wait(engine, queue, program, graph);
        CHECK(program->planned);
    }
    for (uint32_t i = 0; i < PLAN_TRIAL; i++) {
        launch_and_wait(engine, queue, program, graph);
        CHECK(!program->planned && program->plan != NULL);
    }
    CHECK(program->serial_ns > 1);
    launch_and_wait(engine, queue, program, graph);
    CHECK(program->planned);
    CHECK(atomic_load(&graph->wrong) == 0);
    soft_program_destroy(program);
    check_graph_free(graph);
    soft_engine_destroy(engine);
}

/* One program in several queues: its launches never overlap, which the nodes check. */
static void launches_of_one_program_do_not_overlap(void)
{
    soft_engine *engine = make(4, 0);
    soft_queue *queues[3] = {0};
    gph_error error = {0};
    for (int i = 0; i < 3; i++)
        CHECK_OK(soft_queue_create(engine, 0, &queues[i], &error), error);
    check_graph *graph = check_graph_make(&shapes[4]);
    soft_program *program = compile(engine, graph);
    for (uint32_t i = 0; i < 60; i++)
        launch(queues[i % 3], program, graph);
    for (int i = 0; i < 3; i++)
        soft_point_wait(engine, soft_queue_tail(queues[i]));
    CHECK(atomic_load(&graph->finished) == 60);
    CHECK(atomic_load(&graph->wrong) == 0);
    soft_program_destroy(program);
    check_graph_free(graph);
    soft_engine_destroy(engine);
}

static void different_programs_run_at_once(void)
{
    enum { PROGRAMS = 5, LAUNCHES = 20 };
    soft_engine *engine = make(4, 0);
    soft_queue *queues[PROGRAMS] = {0};
    check_graph *graphs[PROGRAMS];
    soft_program *programs[PROGRAMS];
    gph_error error = {0};
    for (int i = 0; i < PROGRAMS; i++) {
        CHECK_OK(soft_queue_create(engine, 0, &queues[i], &error), error);
        graphs[i] = check_graph_make(&shapes[2 + i]);
        programs[i] = compile(engine, graphs[i]);
    }
    for (int n = 0; n < LAUNCHES; n++)
        for (int i = 0; i < PROGRAMS; i++)
            launch(queues[i], programs[i], graphs[i]);
    for (int i = 0; i < PROGRAMS; i++) {
        soft_program_destroy(programs[i]);
        soft_point_wait(engine, soft_queue_tail(queues[i]));
        CHECK(atomic_load(&graphs[i]->finished) == LAUNCHES);
        CHECK(atomic_load(&graphs[i]->wrong) == 0);
        check_graph_free(graphs[i]);
    }
    soft_engine_destroy(engine);
}

static void empty_programs_complete(void)
{
    soft_engine *engine = make(2, 0);
    soft_queue *queue = NULL;
    gph_error error = {0};
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    const uint8_t kinds[3] = {SOFT_WORK_EMPTY, SOFT_WORK_EMPTY, SOFT_WORK_EMPTY};
    const soft_edge edges[2] = {{0, 1}, {1, 2}};
    const soft_work works[3] = {{.kind = SOFT_WORK_EMPTY}};
    soft_program *none = NULL, *empty = NULL;
    CHECK_OK(soft_program_create(engine, 0, NULL, 0, NULL, NULL, &none, &error), error);
    CHECK_OK(soft_program_create(engine, 3, edges, 2, kinds, NULL, &empty, &error),
             error);
    CHECK(soft_queue_launch(queue, none, NULL, NULL, NULL, NULL, 0, NULL) == GPH_OK);
    CHECK(soft_queue_launch(queue, empty, works, NULL, NULL, NULL, 0, NULL) == GPH_OK);
    soft_point_wait(engine, soft_queue_tail(queue));
    soft_program_destroy(none);
    soft_program_destroy(empty);
    soft_program_destroy(NULL);
    soft_engine_destroy(engine);
}

static void refuses_what_is_no_graph(void)
{
    soft_engine *engine = make(1, 0);
    const uint8_t kinds[4] = {SOFT_WORK_CALL, SOFT_WORK_CALL, SOFT_WORK_CALL,
                              SOFT_WORK_CALL};
    const soft_edge cycle[4] = {{1, 2}, {2, 1}, {0, 1}, {2, 3}};
    const soft_edge self[1] = {{3, 3}};
    const soft_edge beyond[1] = {{0, 4}};
    const uint8_t unknown[4] = {9, 9, 9, 9};
    soft_program *program = NULL;
    gph_error error = {0};
    CHECK(soft_program_create(engine, 4, cycle, 4, kinds, NULL, &program, &error) ==
          GPH_E_INVALID);
    CHECK(error.has_node && (error.node == 1 || error.node == 2));
    CHECK(soft_program_create(engine, 4, self, 1, kinds, NULL, &program, &error) ==
          GPH_E_INVALID);
    CHECK(error.has_node && error.node == 3);
    CHECK(soft_program_create(engine, 4, beyond, 1, kinds, NULL, &program, &error) ==
          GPH_E_INVALID);
    CHECK(soft_program_create(engine, 4, NULL, 0, unknown, NULL, &program, &error) ==
          GPH_E_INVALID);
    CHECK(program == NULL);
    soft_engine_destroy(engine);
}

static void survives_every_failed_allocation(void)
{
    check_graph *graph = check_graph_make(&shapes[5]);
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = -1};
        const gph_allocator allocator = {fault_realloc, &heap};
        const soft_engine_options options = {.workers = 1, .allocator = &allocator};
        soft_engine *engine = NULL;
        gph_error error = {0};
        CHECK_OK(soft_engine_create(&options, &engine, &error), error);
        const long before = atomic_load(&heap.live_bytes);
        atomic_store(&heap.fail_at, nth);
        soft_program *program = NULL;
        const gph_status status =
            soft_program_create(engine, graph->node_count, graph->edges,
                                graph->edge_count, graph->kinds, NULL, &program, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((program != NULL) == (status == GPH_OK));
        soft_program_destroy(program);
        CHECK(atomic_load(&heap.live_bytes) == before);
        soft_engine_destroy(engine);
        CHECK(atomic_load(&heap.live_bytes) == 0);
        if (status == GPH_OK)
            break;
    }
    check_graph_free(graph);
}

/* A program that launches itself again when it is done, while its next launch in turn is
 * queued already and waits for a fence at the end of the row. */
enum { AGAIN = 200 };
struct row {
    soft_queue *again, *fence;
    soft_program *program;
    soft_work works[2];
    uint32_t left, runs, at_second; /* at_second: runs when the launch in turn began */
    bool in_row;
};

static void count_run(void *argument, soft_worker *worker)
{
    struct row *row = argument;
    (void)worker;
    row->runs++;
    if (!row->in_row)
        row->at_second = row->runs;
}

static void once_more(void *argument, soft_worker *worker)
{
    struct row *row = argument;
    (void)worker;
    if (row->left-- > 0) {
        CHECK(soft_queue_relaunch(row->again, row->program, row->works, once_more, row,
                                  NULL) == GPH_OK);
        return;
    }
    row->in_row = false;
    soft_fence_reach(row->fence);
}

static void a_program_launches_itself_again(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        soft_engine *engine = make(workers, workers % 2);
        struct row row = {.left = AGAIN, .in_row = true};
        const uint8_t kinds[2] = {SOFT_WORK_CALL, SOFT_WORK_EMPTY};
        const soft_edge edge = {0, 1};
        soft_queue *queue;
        soft_point end;
        gph_error error = {0};
        row.works[0] =
            (soft_work){.kind = SOFT_WORK_CALL, .run = count_run, .argument = &row};
        CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
        CHECK_OK(soft_queue_create(engine, 0, &row.again, &error), error);
        CHECK_OK(soft_fence_create(engine, &row.fence, &error), error);
        CHECK_OK(
            soft_program_create(engine, 2, &edge, 1, kinds, NULL, &row.program, &error),
            error);
        end = soft_fence_arm(row.fence);
        CHECK(soft_queue_launch(queue, row.program, row.works, once_more, &row, NULL, 0,
                                NULL) == GPH_OK);
        CHECK(soft_queue_launch(queue, row.program, row.works, NULL, NULL, &end, 1,
                                NULL) == GPH_OK);
        soft_point_wait(engine, soft_queue_tail(queue));
        CHECK(row.runs == AGAIN + 2 && row.at_second == AGAIN + 2);
        soft_fence_release(row.fence);
        soft_program_destroy(row.program);
        soft_engine_destroy(engine);
    }
}

/* A launch that repeats until work of another queue has run, and what is queued after it. */
struct circle {
    soft_queue *queue;
    soft_work works[2][1]; /* in turn */
    atomic_uint runs[2];
    atomic_bool is_over, is_after;
};

static void count_up(void *argument, soft_worker *worker)
{
    (void)worker;
    atomic_fetch_add((atomic_uint *)argument, 1);
}

static void raise_flag(void *argument, soft_worker *worker)
{
    (void)worker;
    atomic_store((atomic_bool *)argument, true);
}

static void repeat(void *argument, soft_worker *worker)
{
    struct circle *circle = argument;
    (void)worker;
    CHECK(!atomic_load(&circle->is_after));
    const unsigned runs = atomic_load(&circle->runs[0]) + atomic_load(&circle->runs[1]);
    if (!atomic_load(&circle->is_over) || runs < AGAIN)
        CHECK(soft_queue_repeat(circle->queue, circle->works[runs % 2]) == GPH_OK);
}

static void a_launch_repeats_in_its_place(void)
{
    for (uint32_t workers = 1; workers <= 4; workers++) {
        soft_engine *engine = make(workers, workers % 2);
        struct circle circle = {.is_over = false};
        const uint8_t kind = SOFT_WORK_CALL;
        const soft_work over = {.kind = SOFT_WORK_CALL,
                                .run = raise_flag,
                                .argument = (void *)&circle.is_over},
                        after = {.kind = SOFT_WORK_CALL,
                                 .run = raise_flag,
                                 .argument = (void *)&circle.is_after};
        soft_queue *other;
        soft_program *program;
        gph_error error = {0};
        for (int i = 0; i < 2; i++)
            circle.works[i][0] = (soft_work){.kind = SOFT_WORK_CALL,
                                             .run = count_up,
                                             .argument = (void *)&circle.runs[i]};
        CHECK_OK(soft_queue_create(engine, 0, &circle.queue, &error), error);
        soft_queue_shorten(circle.queue);
        CHECK_OK(soft_queue_create(engine, 0, &other, &error), error);
        CHECK_OK(soft_program_create(engine, 1, NULL, 0, &kind, NULL, &program, &error),
                 error);
        CHECK(soft_queue_relaunch(circle.queue, program, circle.works[0], repeat, &circle,
                                  NULL) == GPH_OK);
        CHECK(soft_queue_submit(circle.queue, &after, NULL, 0, NULL) == GPH_OK);
        CHECK(soft_queue_submit(other, &over, NULL, 0, NULL) == GPH_OK);
        soft_point_wait(engine, soft_queue_tail(other));
        soft_point_wait(engine, soft_queue_tail(circle.queue));
        CHECK(atomic_load(&circle.is_after));
        CHECK(atomic_load(&circle.runs[0]) > 0 && atomic_load(&circle.runs[1]) > 0);
        soft_program_destroy(program);
        soft_engine_destroy(engine);
    }
}

int main(void)
{
    RUN(a_program_launches_itself_again);
    RUN(a_launch_repeats_in_its_place);
    RUN(every_node_runs_once_and_in_order);
    RUN(random_schedules_keep_the_order);
    RUN(costs_may_change_between_launches);
    RUN(slow_plans_rest_and_come_back);
    RUN(launches_of_one_program_do_not_overlap);
    RUN(different_programs_run_at_once);
    RUN(empty_programs_complete);
    RUN(refuses_what_is_no_graph);
    RUN(survives_every_failed_allocation);
    return test_done();
}

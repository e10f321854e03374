// SPDX-License-Identifier: Apache-2.0
/* Programs with bodies: each node runs as often as the branches above it say, after its
 * predecessors of the same round, in order, drawn, and beside nodes that are polled. */
#include "fault.h"
#include "softcuda/engine/engine.h"
#include "test.h"

enum { NODES = 240, EDGES = 4 * NODES, BODIES = NODES, DEPTH = 4, PARTS = 6 };

typedef struct nested nested;

typedef struct one {
    nested *of;
    uint32_t node, pred[3], preds;
    uint32_t first, count; /* BRANCH: its bodies */
    bool loops;
    atomic_uint runs, parts; /* so often it is done; parts of the run under way */
    uint64_t entered;        /* BRANCH: launches and rounds around it that came to it */
    uint32_t expected;       /* the model's runs */
    uint64_t model_entered;
    uint32_t polled;
} one;

struct nested {
    uint32_t node_count, edge_count, body_count;
    one nodes[NODES];
    soft_work works[NODES];
    soft_edge edges[EDGES];
    uint8_t kinds[NODES];
    uint32_t owner[BODIES], of_node[NODES];
    atomic_uint wrong, finished;
};

static uint32_t random_state;
static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525u + 1013904223u;
    return (random_state >> 8) % below;
}

/* What a branch decides the k-th time that it is entered, in a round. */
static uint32_t decide(const one *branch, uint64_t entered, uint64_t round)
{
    const uint32_t mixed = (uint32_t)(branch->node * 2654435761u + entered * 40503u) >> 7;
    if (branch->loops)
        return round <= mixed % 4 ? 0 : SOFT_NO_BODY;
    const uint32_t body = mixed % (branch->count + 1);
    return round == 1 && body < branch->count ? body : SOFT_NO_BODY;
}

static uint32_t choose(void *argument, uint64_t round)
{
    one *branch = argument;
    if (round == 0)
        return SOFT_NO_BODY;
    if (round == 1)
        branch->entered++;
    const uint32_t body = decide(branch, branch->entered, round);
    if (body == SOFT_NO_BODY)
        atomic_fetch_add(&branch->runs, 1);
    return body;
}

static void check_order(one *self)
{
    for (uint32_t i = 0; i < self->preds; i++)
        if (atomic_load(&self->of->nodes[self->pred[i]].runs) <= atomic_load(&self->runs))
            atomic_fetch_add(&self->of->wrong, 1);
}

static void run(void *argument, soft_worker *worker)
{
    (void)worker;
    check_order(argument);
    atomic_fetch_add(&((one *)argument)->runs, 1);
}

static void run_parts(void *argument, soft_parts *parts, soft_worker *worker)
{
    (void)worker;
    one *self = argument;
    uint64_t first, count;
    while ((count = soft_parts_claim(parts, 1, &first)) != 0) {
        check_order(self);
        if (atomic_fetch_add(&self->parts, (unsigned)count) + count == PARTS) {
            atomic_store(&self->parts, 0);
            atomic_fetch_add(&self->runs, 1);
        }
    }
}

static bool poll(void *argument)
{
    one *self = argument;
    if (++self->polled % 3 != 0)
        return false;
    check_order(self);
    atomic_fetch_add(&self->runs, 1);
    return true;
}

static void done(void *argument, soft_worker *worker)
{
    (void)worker;
    atomic_fetch_add(&((nested *)argument)->finished, 1);
}

/* One body, 0 the outermost: nodes with edges to earlier ones of the same body. */
static void grow(nested *g, uint32_t body, uint32_t count, uint32_t depth, bool polls)
{
    uint32_t mine[NODES], have = 0;
    for (uint32_t i = 0; i < count && g->node_count + 1 < NODES; i++) {
        const uint32_t at = g->node_count++;
        one *self = &g->nodes[at];
        *self = (one){.of = g, .node = at};
        g->of_node[at] = body;
        for (uint32_t e = draw(3); have > 0 && e > 0; e--) {
            const uint32_t from = mine[have - 1 - draw(have < 5 ? have : 5)];
            self->pred[self->preds++] = from;
            g->edges[g->edge_count++] = (soft_edge){from, at};
        }
        mine[have++] = at;
        const uint32_t kind = draw(6);
        soft_work *work = &g->works[at];
        *work = (soft_work){.kind = SOFT_WORK_CALL, .run = run, .argument = self};
        if (kind == 0 && depth < DEPTH && g->body_count + 4 < BODIES) {
            self->loops = draw(2);
            self->count = self->loops ? 1 : 1 + draw(3);
            self->first = g->body_count;
            g->body_count += self->count;
            *work =
                (soft_work){.kind = SOFT_WORK_BRANCH, .choose = choose, .argument = self};
            for (uint32_t k = 0; k < self->count; k++)
                g->owner[self->first + k] = at;
            for (uint32_t k = 0; k < self->count; k++)
                grow(g, self->first + k + 1, draw(6), depth + 1, false);
        } else if (kind == 1) {
            *work = (soft_work){.kind = SOFT_WORK_PARTS,
                                .run_parts = run_parts,
                                .argument = self,
                                .parts = PARTS};
        } else if (kind == 2 && polls) {
            *work = (soft_work){.kind = SOFT_WORK_POLL, .poll = poll, .argument = self};
        }
        g->kinds[at] = (uint8_t)work->kind;
    }
}

/* What one launch of the body's nodes comes to. */
static void model(nested *g, uint32_t body)
{
    for (uint32_t i = 0; i < g->node_count; i++) {
        one *self = &g->nodes[i];
        if (g->of_node[i] != body)
            continue;
        self->expected++;
        if (g->kinds[i] != SOFT_WORK_BRANCH)
            continue;
        const uint64_t entered = ++self->model_entered;
        for (uint64_t round = 1;; round++) {
            const uint32_t chosen = decide(self, entered, round);
            if (chosen == SOFT_NO_BODY)
                break;
            model(g, self->first + chosen + 1);
        }
    }
}

static void replay(uint32_t workers, uint32_t seed, uint32_t number, bool polls)
{
    const soft_engine_options options = {.workers = workers, .random_seed = seed};
    static nested g;
    soft_engine *engine;
    soft_queue *queue;
    soft_program *program;
    gph_error error = {0};
    memset(&g, 0, sizeof(g));
    random_state = number * 7919 + 1;
    grow(&g, 0, 30, 0, polls);
    const soft_bodies bodies = {g.body_count, g.owner, g.of_node};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    CHECK_OK(soft_queue_create(engine, 0, &queue, &error), error);
    CHECK_OK(soft_program_create_nested(engine, g.node_count, g.edges, g.edge_count,
                                        g.kinds, NULL, &bodies, &program, &error),
             error);
    for (uint32_t i = 0; i < 12; i++) {
        CHECK(soft_queue_launch(queue, program, g.works, done, &g, NULL, 0, NULL) ==
              GPH_OK);
        model(&g, 0);
    }
    soft_point_wait(engine, soft_queue_tail(queue));
    CHECK(atomic_load(&g.finished) == 12);
    CHECK(atomic_load(&g.wrong) == 0);
    for (uint32_t i = 0; i < g.node_count; i++)
        if (!CHECK(atomic_load(&g.nodes[i].runs) == g.nodes[i].expected))
            break;
    soft_program_destroy(program);
    soft_engine_destroy(engine);
}

static void bodies_run_as_often_as_their_branches_say(void)
{
    for (uint32_t number = 0; number < 60; number++)
        replay(1 + number % 4, 0, number, false);
}

static void and_in_orders_that_are_drawn(void)
{
    for (uint32_t number = 0; number < 60; number++)
        replay(1 + number % 4, 1 + number, number, number % 3 == 0);
}

static void and_beside_nodes_that_are_polled(void)
{
    for (uint32_t number = 0; number < 12; number++)
        replay(1 + number % 3, 0, number, true);
}

/* A loop that ends when another queue has run, on one worker. */
static atomic_uint flag;
static uint32_t until_flag(void *argument, uint64_t round)
{
    (void)argument, (void)round;
    return atomic_load(&flag) ? SOFT_NO_BODY : 0;
}

static void raise_flag(void *argument, soft_worker *worker)
{
    (void)argument, (void)worker;
    atomic_store(&flag, 1);
}

static void a_long_loop_gives_others_their_turn(void)
{
    const soft_engine_options options = {.workers = 1};
    const uint32_t owner = 0, of_node[2] = {0, 1};
    const soft_bodies bodies = {1, &owner, of_node};
    const uint8_t kinds[2] = {SOFT_WORK_BRANCH, SOFT_WORK_EMPTY};
    const soft_work works[2] = {{.kind = SOFT_WORK_BRANCH, .choose = until_flag},
                                {.kind = SOFT_WORK_EMPTY}};
    const soft_work other = {.kind = SOFT_WORK_CALL, .run = raise_flag};
    soft_engine *engine;
    soft_queue *loop, *beside;
    soft_program *program;
    gph_error error = {0};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    CHECK_OK(soft_queue_create(engine, 0, &loop, &error), error);
    CHECK_OK(soft_queue_create(engine, 0, &beside, &error), error);
    CHECK_OK(soft_program_create_nested(engine, 2, NULL, 0, kinds, NULL, &bodies,
                                        &program, &error),
             error);
    CHECK(soft_queue_launch(loop, program, works, NULL, NULL, NULL, 0, NULL) == GPH_OK);
    CHECK(soft_queue_submit(beside, &other, NULL, 0, NULL) == GPH_OK);
    soft_point_wait(engine, soft_queue_tail(loop));
    CHECK(atomic_load(&flag) == 1);
    soft_program_destroy(program);
    soft_engine_destroy(engine);
}

static void a_body_holds_nothing_that_waits(void)
{
    const soft_engine_options options = {.workers = 1};
    const uint32_t owner = 0, of_node[2] = {0, 1};
    const soft_bodies bodies = {1, &owner, of_node};
    soft_engine *engine;
    soft_program *program = NULL;
    gph_error error = {0};
    CHECK_OK(soft_engine_create(&options, &engine, &error), error);
    const uint8_t kinds[] = {SOFT_WORK_HOST, SOFT_WORK_POLL};
    for (int i = 0; i < 2; i++) {
        const uint8_t both[2] = {SOFT_WORK_BRANCH, kinds[i]};
        CHECK(soft_program_create_nested(engine, 2, NULL, 0, both, NULL, &bodies,
                                         &program, &error) == GPH_E_INVALID);
    }
    soft_engine_destroy(engine);
}

static void survives_every_failed_allocation(void)
{
    const uint32_t owner = 0, of_node[3] = {0, 1, 0};
    const soft_bodies bodies = {1, &owner, of_node};
    const uint8_t kinds[3] = {SOFT_WORK_BRANCH, SOFT_WORK_CALL, SOFT_WORK_CALL};
    const soft_edge edges[] = {{0, 2}, {0, 1}, {1, 2}};
    for (long nth = 0;; nth++) {
        fault_heap heap = {.fail_at = -1};
        const gph_allocator allocator = {fault_realloc, &heap};
        const soft_engine_options options = {
            .workers = 1, .random_seed = 3, .allocator = &allocator};
        soft_engine *engine;
        soft_program *program = NULL;
        gph_error error = {0};
        CHECK_OK(soft_engine_create(&options, &engine, &error), error);
        const long before = atomic_load(&heap.live_bytes);
        atomic_store(&heap.fail_at, nth);
        const gph_status status = soft_program_create_nested(
            engine, 3, edges, 3, kinds, NULL, &bodies, &program, &error);
        CHECK(status == GPH_OK || status == GPH_E_NO_MEMORY);
        CHECK((program != NULL) == (status == GPH_OK));
        soft_program_destroy(program);
        CHECK(atomic_load(&heap.live_bytes) == before);
        soft_engine_destroy(engine);
        if (status == GPH_OK)
            break;
    }
}

int main(void)
{
    RUN(bodies_run_as_often_as_their_branches_say);
    RUN(and_in_orders_that_are_drawn);
    RUN(and_beside_nodes_that_are_polled);
    RUN(a_long_loop_gives_others_their_turn);
    RUN(a_body_holds_nothing_that_waits);
    RUN(survives_every_failed_allocation);
    return test_done();
}

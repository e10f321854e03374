// SPDX-License-Identifier: Apache-2.0
/* Launches side by side: each way in which a kernel can launch graphs, the order that it makes, and
 * memory that runs out. */
#include "fault.h"
#include "softcuda/check/beside.h"
#include "test.h"

enum { MEMORY = 0x7000000, NODES = 3, ORDER_NODE = 0, BY = 1, AFTER = 2 };

static soft_engine *engine;
static soft_queue *queues[2];

typedef struct found {
    uint32_t count, left_out;
} found;

static void on_found(void *user, const soft_beside_finding *finding)
{
    found *f = user;
    f->count++;
    CHECK(finding->address == MEMORY + 8);
    CHECK(finding->sides[0].write || finding->sides[1].write);
}

static void on_incomplete(void *user, const char *why)
{
    found *f = user;
    f->left_out++;
    CHECK(why[0] != '\0');
}

static uint64_t memory_at(void *user, uint64_t address, bool *is_host)
{
    (void)user;
    *is_host = false;
    return address >= MEMORY && address < MEMORY + 4096 ? 7 : 0;
}

/* A chain of three nodes. */
static gph_status chain(const gph_allocator *heap, soft_race **out)
{
    static const soft_edge edges[] = {{ORDER_NODE, BY}, {BY, AFTER}};
    static const uint8_t touches[NODES] = {1, 1, 1};
    const soft_race_options options = {.node_count = NODES,
                                       .edges = edges,
                                       .edge_count = 2,
                                       .touches = touches,
                                       .keeps_all = true,
                                       .allocator = heap};
    return soft_race_create(&options, out, NULL);
}

static void end(soft_unit *unit, soft_race *race, uint32_t node, uint64_t place,
                bool write)
{
    const soft_who who[NODES] = {{.node = 1, .place = place},
                                 {.node = 2, .place = place},
                                 {.node = 3, .place = place}};
    const soft_touched_rows rows = {
        .address = MEMORY + 8, .bytes = 16, .rows = 1, .write = write};
    soft_trace_rows(soft_race_trace(race, node), &rows);
    soft_unit_end(unit, race, who);
    soft_race_forget(race);
    soft_unit_release(unit);
}

static soft_point submit(soft_queue *queue)
{
    const soft_work empty = {.kind = SOFT_WORK_EMPTY};
    soft_point point;
    CHECK(soft_queue_submit(queue, &empty, NULL, 0, &point) == GPH_OK);
    soft_point_wait(engine, point);
    return point;
}

/* Two launches in two queues; the second after the first, or not. False: no memory. */
static bool two_queues(const gph_allocator *heap, bool ordered, found *out)
{
    const soft_beside_options options = {.allocator = heap,
                                         .user = out,
                                         .found = on_found,
                                         .incomplete = on_incomplete,
                                         .memory_at = memory_at};
    soft_beside *beside = NULL;
    soft_race *races[2] = {NULL, NULL};
    gph_status status = soft_beside_create(&options, &beside, NULL);
    for (int i = 0; i < 2 && status == GPH_OK; i++)
        status = chain(heap, &races[i]);
    for (int i = 0; i < 2 && status == GPH_OK; i++) {
        soft_unit *unit = soft_unit_begin(beside, queues[i], false);
        const soft_point point = submit(queues[i]);
        soft_unit_submitted(unit, point);
        end(unit, races[i], BY, (uint64_t)i, i == 0);
        if (ordered)
            soft_beside_after(beside, queues[1], point);
    }
    for (int i = 0; i < 2; i++)
        soft_race_destroy(races[i]);
    soft_beside_destroy(beside);
    return status == GPH_OK;
}

static void queues_need_an_order(void)
{
    for (int ordered = 0; ordered < 2; ordered++) {
        found f = {0, 0};
        CHECK(two_queues(NULL, ordered, &f));
        CHECK(f.count == (ordered ? 0u : 1u) && f.left_out == 0);
    }
}

enum how { FORGET, SIBLING, TAIL };

/* Node BY of a launch launches a graph, which writes what `node` reads. False: no memory. */
static bool by_a_kernel(const gph_allocator *heap, enum how how, uint32_t node,
                        found *out)
{
    const soft_beside_options options = {.allocator = heap,
                                         .user = out,
                                         .found = on_found,
                                         .incomplete = on_incomplete,
                                         .memory_at = memory_at};
    soft_beside *beside = NULL;
    soft_race *races[2] = {NULL, NULL};
    gph_status status = soft_beside_create(&options, &beside, NULL);
    for (int i = 0; i < 2 && status == GPH_OK; i++)
        status = chain(heap, &races[i]);
    if (status == GPH_OK) {
        soft_unit *root = soft_unit_begin(beside, queues[0], false);
        soft_unit *unit = how == TAIL
                              ? soft_unit_follow(root)
                              : soft_unit_launch(root, races[0], BY, how == SIBLING);
        end(unit, races[1], ORDER_NODE, 1, true); /* before the host knows the point */
        soft_unit_submitted(root, submit(queues[0]));
        end(root, races[0], node, 0, false);
    }
    for (int i = 0; i < 2; i++)
        soft_race_destroy(races[i]);
    soft_beside_destroy(beside);
    return status == GPH_OK;
}

static void kernels_launch_beside_what_follows_them(void)
{
    for (enum how how = FORGET; how <= TAIL; how++)
        for (uint32_t node = 0; node < NODES; node++) {
            found f = {0, 0};
            CHECK(by_a_kernel(NULL, how, node, &f));
            CHECK(f.count == (how != TAIL && node == AFTER));
        }
}

/* A tail comes after what was fired, not after siblings. */
static void tails_wait_for_what_was_fired(void)
{
    for (int is_sibling = 0; is_sibling < 2; is_sibling++) {
        found f = {0, 0};
        const soft_beside_options options = {
            .user = &f, .found = on_found, .memory_at = memory_at};
        soft_beside *beside = NULL;
        soft_race *race = NULL;
        CHECK(soft_beside_create(&options, &beside, NULL) == GPH_OK);
        CHECK(chain(NULL, &race) == GPH_OK);
        soft_unit *root = soft_unit_begin(beside, queues[0], false);
        soft_unit_submitted(root, submit(queues[0]));
        soft_unit *fired = soft_unit_launch(root, race, BY, is_sibling);
        soft_unit *inner = soft_unit_launch(fired, race, AFTER, false);
        soft_unit *tail = soft_unit_follow(root);
        end(root, race, ORDER_NODE, 0, false);
        end(fired, race, ORDER_NODE, 1, false);
        end(inner, race, ORDER_NODE, 2, false);
        end(tail, race, ORDER_NODE, 3, true);
        CHECK(f.count == (is_sibling ? 2u : 0u));
        soft_race_destroy(race);
        soft_beside_destroy(beside);
    }
}

static void survives_every_failed_allocation(void)
{
    for (int way = 0; way < 4; way++)
        for (long nth = 0;; nth++) {
            fault_heap heap = {.fail_at = nth};
            const gph_allocator allocator = {.user = &heap, .realloc = fault_realloc};
            found f = {0, 0};
            const bool made =
                way == 0 ? two_queues(&allocator, false, &f)
                         : by_a_kernel(&allocator, (enum how)(way - 1), AFTER, &f);
            CHECK(atomic_load(&heap.live_bytes) == 0);
            const bool failed = atomic_load(&heap.fail_at) < 0;
            const uint32_t expected = way == 3 ? 0 : 1;
            CHECK(f.count <= expected);
            CHECK(!made || f.count == expected || f.left_out == 1 || way == 3);
            if (!failed)
                break;
        }
}

int main(void)
{
    CHECK(soft_engine_create(NULL, &engine, NULL) == GPH_OK);
    for (int i = 0; i < 2; i++)
        CHECK(soft_queue_create(engine, 0, &queues[i], NULL) == GPH_OK);
    RUN(queues_need_an_order);
    RUN(kernels_launch_beside_what_follows_them);
    RUN(tails_wait_for_what_was_fired);
    RUN(survives_every_failed_allocation);
    for (int i = 0; i < 2; i++)
        soft_queue_release(queues[i]);
    soft_engine_destroy(engine);
    return test_done();
}

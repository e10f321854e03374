// SPDX-License-Identifier: Apache-2.0
/* The proof: which recordings may be replayed in which order, and the replay that is
 * refused. The data agree: what is allowed gives right numbers. */
#include "memory_common.h"

#include <gph/memory_ledger.h>

static gph_arena *arena;
static gph_pool *pool;

/* A recording: makes `out` of `in`, or of nothing, through a temporary. */
struct step {
    gph_recording_id id;
    CUgraph graph;
    gph_exec *exec;
    CUdeviceptr out, temporary;
};

static void setup(void)
{
    arena = open_arena(0);
    pool = open_pool(arena, "p");
}

static void drop(struct step *step)
{
    gph_exec_destroy(step->exec);
    if (step->graph != NULL)
        CU(GraphDestroy, step->graph);
}

/* out[0] = in[0] or `value`, `bytes` each; `consumes`: `in` is freed. */
static struct step record(const char *name, uint64_t bytes, CUdeviceptr in, bool consumes,
                          unsigned int value)
{
    struct step step = {0};
    const CUstream s = streams[0];
    step.id = begin(pool, s, name);
    step.temporary = alloc(pool, bytes, s);
    if (in != 0)
        CU(MemcpyDtoDAsync, step.temporary, in, 4, s);
    else
        fill(step.temporary, value, 4, s);
    step.out = alloc(pool, bytes, s);
    if (consumes)
        give(pool, in, s);
    CU(MemcpyDtoDAsync, step.out, step.temporary, 4, s);
    fill(step.temporary, 0xdead, 4, s);
    give(pool, step.temporary, s);
    step.graph = end(pool, step.id, s, &step.out, 1);
    CHECK_OK(gph_exec_create(runtime, step.graph, NULL, &step.exec, &error), error);
    return step;
}

static gph_status replay(const struct step *step)
{
    const gph_status status = gph_pool_replay(pool, step->id, &error);
    if (status == GPH_OK)
        CHECK_OK(gph_exec_launch(step->exec, streams[0], &error), error);
    return status;
}

static unsigned int word_at(CUdeviceptr address)
{
    unsigned int word = 0;
    CU(StreamSynchronize, streams[0]);
    CU(MemcpyDtoH, &word, address, 4);
    return word;
}

static void the_order_of_capture_is_right_and_others_are_refused(void)
{
    /* torch's test_graph_three_successive, and why g0, g2, g1 is wrong. */
    setup();
    struct step g0 = record("g0", MiB, 0, false, 42);
    struct step g1 = record("g1", 2 * MiB, g0.out, true, 0);
    struct step g2 = record("g2", MiB, 0, false, 99); /* lies over g0's output */
    CHECK(g2.temporary == g0.temporary && g2.out == g0.out);
    CHECK_OK(gph_pool_may_replay(pool, g0.id, g1.id, GPH_REPLAY_AFTER, NULL, &error),
             error);
    gph_pool_conflict conflict = GPH_SIZED(gph_pool_conflict);
    CHECK(gph_pool_may_replay(pool, g2.id, g1.id, GPH_REPLAY_AFTER, &conflict, &error) ==
          GPH_E_STATE);
    CHECK(strcmp(conflict.text, error.message) == 0);
    CHECK(strstr(conflict.text, "g1's") != NULL && strstr(conflict.text, "g2's") != NULL);
    CHECK(conflict.first.recording == g2.id && conflict.second.recording == g1.id);
    CHECK(conflict.first.address < conflict.second.address + conflict.second.bytes &&
          conflict.second.address < conflict.first.address + conflict.first.bytes);
    CHECK(gph_pool_may_replay(pool, g0.id, g2.id, GPH_REPLAY_AT_ONCE, &conflict,
                              &error) == GPH_E_STATE);
    CHECK(gph_pool_may_replay(pool, g0.id, g0.id, GPH_REPLAY_AT_ONCE, NULL, &error) ==
          GPH_E_STATE);
    CHECK(gph_pool_may_replay(pool, g0.id, g0.id, GPH_REPLAY_AFTER, NULL, &error) ==
          GPH_OK);
    CHECK(gph_pool_may_replay(pool, g0.id, 99, GPH_REPLAY_AFTER, NULL, &error) ==
          GPH_E_INVALID);
    CHECK(gph_pool_may_replay(pool, g0.id, g1.id, 3, NULL, &error) == GPH_E_INVALID);

    CHECK(replay(&g1) == GPH_E_STATE); /* its input was never made */
    CHECK(strstr(error.message, "g0 makes: it has not been replayed") != NULL);
    for (int i = 0; i < 3; i++) {
        CHECK_OK(replay(&g0), error);
        CHECK(word_at(g0.out) == 42);
        CHECK_OK(replay(&g1), error);
        CHECK(word_at(g1.out) == 42);
        CHECK_OK(replay(&g2), error);
        CHECK(word_at(g2.out) == 99);
    }
    CHECK_OK(replay(&g0), error);
    CHECK_OK(replay(&g2), error);
    CHECK(replay(&g1) == GPH_E_STATE);
    CHECK(strstr(error.message, "g1 reads 1048576 bytes at") != NULL);
    CHECK(strstr(error.message, "of g0, which replay 11, of g2, has overwritten") !=
          NULL);
    CHECK(strcmp(error.hint, "replay g0 again before") == 0);
    CHECK(replay(&g1) == GPH_E_STATE); /* the same again: nothing was noted */
    CHECK_OK(replay(&g0), error);
    CHECK_OK(replay(&g1), error);
    CHECK(word_at(g1.out) == 42);
    /* Forgotten, it is in nobody's way. */
    gph_pool_record_forget(pool, g2.id);
    CHECK(gph_pool_replay(pool, g2.id, &error) == GPH_E_INVALID);
    CHECK_OK(replay(&g0), error);
    CHECK_OK(replay(&g1), error);
    drop(&g0);
    drop(&g1);
    drop(&g2);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void separate_pools_may_run_at_once(void)
{
    /* graph_concurrent_replay: shared memory collides, other memory does not. */
    setup();
    const gph_recording_id a = begin(pool, streams[0], "a");
    const CUdeviceptr x = alloc(pool, MiB, streams[0]);
    CUgraph first = end(pool, a, streams[0], &x, 1);
    const gph_recording_id b = begin(pool, streams[0], "b");
    const CUdeviceptr y = alloc(pool, MiB, streams[0]);
    CUgraph second = end(pool, b, streams[0], &y, 1);
    CHECK(x != y); /* an output is alive: b lies elsewhere */
    CHECK(gph_pool_may_replay(pool, a, b, GPH_REPLAY_AT_ONCE, NULL, &error) == GPH_OK);
    CHECK(gph_pool_may_replay(pool, a, b, GPH_REPLAY_AFTER, NULL, &error) == GPH_OK);
    /* b reads what a makes: no longer at once, still one after the other. */
    CHECK_OK(gph_pool_record_input(pool, b, x, 512, &error), error);
    gph_pool_conflict conflict = GPH_SIZED(gph_pool_conflict);
    CHECK(gph_pool_may_replay(pool, a, b, GPH_REPLAY_AT_ONCE, &conflict, &error) ==
          GPH_E_STATE);
    CHECK(conflict.first.recording == a && conflict.first.kind == GPH_RANGE_OUTPUT);
    CHECK(conflict.second.recording == b && conflict.second.kind == GPH_RANGE_INPUT);
    CHECK(gph_pool_may_replay(pool, b, a, GPH_REPLAY_AT_ONCE, &conflict, &error) ==
          GPH_E_STATE);
    CHECK(conflict.first.recording == b && conflict.second.recording == a);
    CHECK(gph_pool_may_replay(pool, a, b, GPH_REPLAY_AFTER, NULL, &error) == GPH_OK);
    CU(GraphDestroy, first);
    CU(GraphDestroy, second);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void eager_memory_is_not_overwritten(void)
{
    setup();
    struct step g = record("g", MiB, 0, false, 7);
    CHECK_OK(replay(&g), error);
    const CUdeviceptr e = alloc(pool, MiB, streams[0]);
    CHECK(e == g.temporary); /* it lies over the temporary */
    CHECK(replay(&g) == GPH_E_STATE);
    CHECK(strstr(error.message, "a replay of g would overwrite 1048576 bytes") != NULL);
    give(pool, e, streams[0]);
    CHECK_OK(replay(&g), error);
    CHECK(word_at(g.out) == 7);
    /* A checkpoint that brings it back, and one that takes it away. */
    gph_checkpoint *with = NULL, *without = NULL;
    CU(StreamSynchronize, streams[0]);
    CHECK_OK(gph_checkpoint_take(pool, &without, &error), error);
    CHECK(alloc(pool, MiB, streams[0]) == e);
    CHECK_OK(gph_checkpoint_take(pool, &with, &error), error);
    CHECK_OK(gph_checkpoint_restore(pool, without, NULL, 0, 1, &error), error);
    CHECK_OK(replay(&g), error);
    CHECK_OK(gph_checkpoint_restore(pool, with, NULL, 0, 1, &error), error);
    CHECK(replay(&g) == GPH_E_STATE);
    CHECK_OK(gph_checkpoint_restore(pool, with, &g.out, 1, 0, &error), error);
    CHECK_OK(replay(&g), error);
    CHECK(stats_of(pool).allocation_count == 1);
    gph_checkpoint_destroy(with);
    gph_checkpoint_destroy(without);
    drop(&g);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void eager_work_over_an_input_is_seen(void)
{
    setup();
    struct step g0 = record("g0", MiB, 0, false, 1);
    struct step g1 = record("g1", 64 * 1024, g0.out, false, 0);
    CHECK_OK(gph_pool_record_input(pool, g1.id, g0.out, 4, &error), error);
    CHECK_OK(replay(&g0), error);
    CHECK_OK(replay(&g1), error);
    give(pool, g0.out, streams[0]); /* freed, but still whole */
    CHECK_OK(replay(&g1), error);
    const CUdeviceptr e = alloc(pool, MiB, streams[0]);
    CHECK(e == g0.out || e == g0.temporary);
    const CUdeviceptr f = alloc(pool, MiB, streams[0]);
    give(pool, e, streams[0]);
    give(pool, f, streams[0]);
    CHECK(replay(&g1) == GPH_E_STATE);
    CHECK(strstr(error.message, "over which eager memory was allocated since") != NULL);
    CHECK_OK(replay(&g0), error);
    CHECK_OK(replay(&g1), error);
    drop(&g0);
    drop(&g1);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void many_recordings_and_inputs(void)
{
    /* A chain of 150, each reading the one before: more places than a word has bits. */
    enum { COUNT = 150 };
    static gph_recording_id ids[COUNT];
    static CUdeviceptr outs[COUNT];
    setup();
    for (int i = 0; i < COUNT; i++) {
        ids[i] = begin(pool, streams[0], NULL);
        const CUdeviceptr t = alloc(pool, 4096, streams[0]);
        outs[i] = alloc(pool, 4096, streams[0]);
        give(pool, t, streams[0]);
        if (i > 0)
            give(pool, outs[i - 1], streams[0]);
        CUgraph graph = end(pool, ids[i], streams[0], &outs[i], 1);
        CU(GraphDestroy, graph);
    }
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < COUNT; i++)
            CHECK_OK(gph_pool_replay(pool, ids[i], &error), error);
    CHECK(gph_pool_replay(pool, ids[COUNT / 2], &error) == GPH_E_STATE);
    for (int i = 0; i < COUNT; i += 2)
        gph_pool_record_forget(pool, ids[i]);
    CHECK(stats_of(pool).recording_count == COUNT / 2);
    CHECK(stats_of(pool).mapped_bytes == 2 * MiB);
    /* Places are used again. */
    const size_t places = pool->proof.inputs.count;
    for (int i = 0; i < 20; i++) {
        const gph_recording_id id = begin(pool, streams[0], NULL);
        CUgraph graph = end(pool, id, streams[0], NULL, 0);
        CHECK_OK(gph_pool_record_input(pool, id, outs[COUNT - 1], 16, &error), error);
        CU(GraphDestroy, graph);
    }
    CHECK(pool->proof.inputs.count == places);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

static void the_ledger_knows_own_and_shared_bytes(void)
{
    setup();
    gph_ledger_entry entries[8];
    uint32_t count = 0;
    struct step a = record("a", 2 * MiB, 0, false, 1); /* t, out */
    struct step b = record("b", 2 * MiB, 0, false, 1); /* the same t, another out */
    CHECK(b.temporary == a.temporary);
    CHECK_OK(gph_ledger_get(arena, entries, 8, &count, NULL, &error), error);
    CHECK(count == 5 && strcmp(entries[1].name, "a") == 0);
    CHECK(entries[1].own_bytes == 2 * MiB && entries[1].shared_bytes == 2 * MiB);
    CHECK(entries[2].own_bytes == 2 * MiB && entries[2].shared_bytes == 2 * MiB);
    CHECK(entries[0].pool_bytes == 6 * MiB && entries[0].own_bytes == 4 * MiB);
    CHECK_OK(gph_ledger_get(arena, entries, 2, &count, NULL, &error), error);
    CHECK(count == 5);
    drop(&a);
    drop(&b);
    gph_pool_release(pool);
    gph_arena_destroy(arena);
}

int main(void)
{
    if (!open_driver())
        return 77;
    RUN(the_order_of_capture_is_right_and_others_are_refused);
    RUN(separate_pools_may_run_at_once);
    RUN(eager_memory_is_not_overwritten);
    RUN(eager_work_over_an_input_is_seen);
    RUN(many_recordings_and_inputs);
    RUN(the_ledger_knows_own_and_shared_bytes);
    close_driver();
    return test_done();
}

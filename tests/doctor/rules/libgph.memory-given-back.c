// SPDX-License-Identifier: Apache-2.0
// libgph.memory-given-back
//
// A graph was captured with memory of a pool that is not its own any more: the block was freed
// and another allocation has it, or the recording that had allocated it was destroyed while an
// executable of its graph went on; or it is used after the replay, though the capture freed
// it and another graph has it. The pool's pages stay mapped, so nothing fails. Free the
// block after the last launch; keep the recording, or replay it with gph_replay_create().
#include "libgph.h"

enum { BYTES = FLOATS * sizeof(float), LAUNCHES = 3 };

static gph_pool *pool;
static CUdeviceptr out;

static void open_pool(void)
{
    gph_arena *arena = NULL;
    open_gph();
    must(gph_arena_create(gph, NULL, &arena, &error));
    must(gph_pool_create(arena, NULL, &pool, &error));
    out = new_floats();
}

static CUdeviceptr take(void)
{
    CUdeviceptr block = 0;
    must(gph_pool_alloc(pool, BYTES, stream, &block, &error));
    return block;
}

static void launch(gph_exec *exec)
{
    for (int i = 0; i < LAUNCHES; i++)
        must(gph_exec_launch(exec, stream, &error));
    printf("%g\n", (double)read_back(out));
}

/* Copies a block that was taken outside. */
static gph_exec *copies(CUdeviceptr block)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    FILL(stream, block, 1);
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    COPY(stream, out, block);
    return end_exec(capture, &graph);
}

static void first(void)
{
    open_pool();
    const CUdeviceptr block = take();
    gph_exec *exec = copies(block);
    launch(exec);
    must(gph_pool_free(pool, block, stream, &error)); // <-- first
    CUdeviceptr other = 0;
    must(gph_pool_alloc(pool, BYTES, stream, &other, &error));
    FILL(stream, other, 9);
    launch(exec);
}

/* Its memory is taken while it captures, and freed unless `kept` is to have it. */
static gph_recording *record(CUdeviceptr *kept)
{
    gph_capture_options options = GPH_CAPTURE_OPTIONS_INIT;
    gph_capture *capture = NULL;
    gph_recording *recording = NULL;
    options.pool = pool;
    must(gph_capture_begin(gph, stream, &options, &capture, &error));
    const CUdeviceptr block = take();
    FILL(stream, block, 1);
    COPY(stream, out, block);
    if (kept)
        *kept = block;
    else
        must(gph_pool_free(pool, block, stream, &error));
    must(gph_capture_finish(capture, &recording, &error));
    return recording;
}

static void second(void)
{
    gph_exec *exec = NULL;
    open_pool();
    gph_recording *recording = record(NULL);
    must(gph_exec_create(gph, gph_recording_graph(recording, 0), NULL, &exec, &error));
    gph_recording_destroy(recording); // <-- second
    FILL(stream, take(), 9);
    launch(exec);
}

/* The same place takes the block again, as each step does; another takes it after the last
 * launch; a replay keeps what its recording had; what one capture freed another has, and is
 * read. */
static void near(void)
{
    gph_replay *replay = NULL, *other_replay = NULL;
    gph_exec *exec = NULL;
    CUdeviceptr block = 0;
    open_pool();
    for (int step = 0; step < LAUNCHES; step++) {
        block = take();
        if (!exec)
            exec = copies(block);
        FILL(stream, block, (float)step);
        launch(exec);
        must(gph_pool_free(pool, block, stream, &error));
    }
    CUdeviceptr other = 0;
    must(gph_pool_alloc(pool, BYTES, stream, &other, &error));
    FILL(stream, other, 9);
    gph_recording *recording = record(NULL);
    must(gph_replay_create(recording, NULL, &replay, &error));
    gph_recording_destroy(recording);
    recording = record(&block);
    must(gph_replay_create(recording, NULL, &other_replay, &error));
    gph_recording_destroy(recording);
    for (int i = 0; i < LAUNCHES; i++) {
        must(gph_replay_launch(replay, stream, &error));
        must(gph_replay_launch(other_replay, stream, &error));
        SCALE_ADD(stream, out, block, 1);
        printf("%g %g\n", (double)read_back(out), (double)read_back(block));
    }
    gph_replay_destroy(other_replay);
    gph_replay_destroy(replay);
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)

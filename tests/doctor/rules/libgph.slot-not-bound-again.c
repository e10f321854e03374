// SPDX-License-Identifier: Apache-2.0
// libgph.slot-not-bound-again
//
// A slot of GPH_SLOT_COPY is copied by the first launch after it is bound. Here it is bound
// once, and each step writes its buffer and launches again: all steps compute with the contents
// of the first. Bind it again after each change.
#include "libgph.h"

enum { BYTES = FLOATS * sizeof(float) };

static gph_slots *slots;
static gph_exec *exec;
static CUdeviceptr out;

static void record(void)
{
    const gph_slot slot = {.name = "prompt", .kind = GPH_SLOT_COPY, .bytes = BYTES};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    open_gph();
    out = new_floats();
    must(gph_slots_create(gph, &slot, 1, NULL, &slots, &error));
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    must(gph_slots_feed(slots, stream, &error));
    COPY(stream, out, gph_slots_address(slots, 0));
    exec = end_exec(capture, &graph);
}

static void first(void)
{
    const CUdeviceptr prompt = new_floats();
    record();
    must(gph_slots_bind(slots, 0, prompt, &error));
    for (int i = 1; i <= 4; i++) {
        FILL(stream, prompt, (float)i);
        must(gph_slots_launch(slots, &exec, 1, stream, &error)); // <-- first
        printf("%g\n", (double)read_back(out));
    }
}

/* Sent by the host. */
static void second(void)
{
    static float words[FLOATS];
    const CUdeviceptr prompt = new_floats();
    record();
    must(gph_slots_bind(slots, 0, prompt, &error));
    for (int i = 1; i <= 4; i++) {
        words[0] = (float)i;
        CU(cuMemcpyHtoDAsync(prompt, words, BYTES, stream));
        must(gph_slots_launch(slots, &exec, 1, stream, &error)); // <-- second
        printf("%g\n", (double)read_back(out));
    }
}

/* Bound again, at the same address; then launched with what is there already, and the buffer
 * taken for something else once. */
static void near(void)
{
    const CUdeviceptr prompt = new_floats();
    record();
    for (int i = 1; i <= 4; i++) {
        FILL(stream, prompt, (float)i);
        must(gph_slots_bind(slots, 0, prompt, &error));
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        EXPECT(read_back(out) == (float)i);
    }
    FILL(stream, prompt, 0);
    must(gph_slots_launch(slots, &exec, 1, stream, &error));
    must(gph_slots_launch(slots, &exec, 1, stream, &error));
    EXPECT(read_back(out) == 4);
}

BROKEN(first, second, near)

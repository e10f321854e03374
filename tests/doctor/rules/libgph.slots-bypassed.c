// SPDX-License-Identifier: Apache-2.0
// libgph.slots-bypassed
//
// A graph that was captured with gph_slots_feed() finds the addresses of its slots in a row that
// gph_slots_launch() writes. Launched in another way it computes with those of the launch
// before. Launch it with gph_slots_launch() only.
#include "libgph.h"

enum { REQUESTS = 3 };

static gph_slots *slots;
static gph_exec *exec;
static CUdeviceptr out, requests[REQUESTS];

/* A kernel reads the buffer's address from the slot's word. */
static void record(void)
{
    const gph_slot slot = {.name = "request", .kind = GPH_SLOT_INDIRECT};
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    open_gph();
    out = new_floats();
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = new_floats();
    must(gph_slots_create(gph, &slot, 1, NULL, &slots, &error));
    must(gph_slots_bind(slots, 0, requests[0], &error));
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    must(gph_slots_feed(slots, stream, &error));
    LAUNCH(copy, 1, stream, &out, &(CUdeviceptr){gph_slots_address(slots, 0)},
           &(unsigned){2});
    exec = end_exec(capture, &graph);
}

static void first(void)
{
    record();
    for (int i = 0; i < REQUESTS; i++) {
        must(gph_slots_bind(slots, 0, requests[i], &error));
        if (i == 0)
            must(gph_slots_launch(slots, &exec, 1, stream, &error));
        else
            must(gph_exec_launch(exec, stream, &error)); // <-- first
        (void)read_back(out);
    }
}

/* By the driver. */
static void second(void)
{
    record();
    must(gph_slots_launch(slots, &exec, 1, stream, &error));
    must(gph_slots_bind(slots, 0, requests[1], &error));
    CU(cuGraphLaunch(gph_exec_handle(exec), stream)); // <-- second
    (void)read_back(out);
}

static void near(void)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    record();
    for (int i = 0; i < REQUESTS; i++) {
        must(gph_slots_bind(slots, 0, requests[i], &error));
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        (void)read_back(out);
    }
    must(gph_capture_begin(gph, stream, NULL, &capture, &error)); /* without a table */
    FILL(stream, out, 1);
    must(gph_exec_launch(end_exec(capture, &graph), stream, &error));
    CU(cuStreamSynchronize(stream));
}

BROKEN(first, second, near)

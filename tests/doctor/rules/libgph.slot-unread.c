// SPDX-License-Identifier: Apache-2.0
// libgph.slot-unread
//
// A slot is bound for each request, but the kernel was captured with the address of the first
// request's buffer instead of gph_slots_address(): what is bound is not used. Capture with the
// slot's address.
#include "libgph.h"

enum { BYTES = FLOATS * sizeof(float), REQUESTS = 3 };

static gph_slots *slots;
static CUdeviceptr out, weights, requests[REQUESTS];

static void open_slots(gph_slot_kind kind)
{
    const gph_slot list[] = {{.name = "request", .kind = kind, .bytes = BYTES},
                             {.name = "weights", .kind = GPH_SLOT_COPY, .bytes = BYTES}};
    open_gph();
    out = new_floats();
    weights = new_floats();
    for (int i = 0; i < REQUESTS; i++)
        requests[i] = new_floats();
    must(gph_slots_create(gph, list, 2, NULL, &slots, &error));
}

/* The slot's address, or a buffer's own. */
static gph_exec *record(CUdeviceptr request)
{
    gph_capture *capture = NULL;
    CUgraph graph = NULL;
    must(gph_capture_begin(gph, stream, NULL, &capture, &error));
    must(gph_slots_feed(slots, stream, &error));
    COPY(stream, out, request);
    SCALE_ADD(stream, out, gph_slots_address(slots, 1), 1);
    return end_exec(capture, &graph);
}

static void first(void)
{
    gph_exec *exec;
    open_slots(GPH_SLOT_COPY);
    exec = record(requests[0]);
    must(gph_slots_bind(slots, 1, weights, &error));
    for (int i = 0; i < REQUESTS; i++) {
        must(gph_slots_bind(slots, 0, requests[i], &error)); // <-- first
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        (void)read_back(out);
    }
}

static void second(void)
{
    gph_exec *exec;
    open_slots(GPH_SLOT_INDIRECT);
    exec = record(requests[0]);
    must(gph_slots_bind(slots, 1, weights, &error));
    for (int i = 0; i < REQUESTS; i++) {
        must(gph_slots_bind(slots, 0, requests[i], &error)); // <-- second
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        (void)read_back(out);
    }
}

/* The slot's address; and one that is bound, but never launched. */
static void near(void)
{
    gph_exec *exec;
    open_slots(GPH_SLOT_COPY);
    exec = record(gph_slots_address(slots, 0));
    must(gph_slots_bind(slots, 1, weights, &error));
    for (int i = 0; i < REQUESTS; i++) {
        must(gph_slots_bind(slots, 0, requests[i], &error));
        must(gph_slots_launch(slots, &exec, 1, stream, &error));
        (void)read_back(out);
    }
    open_slots(GPH_SLOT_COPY);
    must(gph_slots_bind(slots, 0, requests[0], &error));
}

BROKEN(first, second, near)

// SPDX-License-Identifier: Apache-2.0
/* A window whose work runs as a graph: what the program would have queued becomes nodes,
 * which are launched once, as one graph, in the stream that the first of them is for.
 *
 *   program:  launch launch copy launch | wait
 *   graph:      o ──── o ── o ── o        instantiate, upload, launch; then the wait
 *
 * Nothing is added to the program's order but waits after the graph: each stream of the
 * window goes on where the graph ends, and each event it recorded is recorded there. Work
 * that no node can stand for is refused, and ends the window. If no graph can be made of
 * the nodes they are launched one by one. By one thread at a time; the caller locks. `cu`
 * is set by the owner. */
#ifndef GPHI_ATTACH_TIMING_GRAPH_H
#define GPHI_ATTACH_TIMING_GRAPH_H
#include "attach/timing/entries.h"

enum {
    GPHI_TIMING_STREAMS = 8,
    GPHI_TIMING_TAILS = 8, /* nodes that the next one of a stream comes after */
    GPHI_TIMING_EVENTS = 16,
    GPHI_TIMING_EXECS = 16,
    GPHI_TIMING_NODES = 4096,
    GPHI_TIMING_ATTRIBUTES = 256 /* of all nodes */
};

typedef struct gphi_timing_tails {
    CUgraphNode node[GPHI_TIMING_TAILS];
    uint32_t count;
} gphi_timing_tails;

typedef struct gphi_timing_node {
    CUgraphNode node;
    uint8_t kind; /* CUgraphNodeType */
    uint8_t attribute_count;
    uint16_t attribute; /* the first, of `attributes` */
} gphi_timing_node;

typedef struct gphi_timing_graph {
    const gphi_timing_calls *cu;
    CUcontext context;
    CUgraph graph;
    CUgraphExec exec[GPHI_TIMING_EXECS]; /* kept: the second time they are warm */
    uint32_t slot;                       /* of this window's */
    uint32_t stream_count, event_count, node_count, attribute_count;
    CUstream stream[GPHI_TIMING_STREAMS]; /* the first is where the graph is launched */
    gphi_timing_tails tails[GPHI_TIMING_STREAMS]; /* of each stream */
    struct {
        CUevent event;
        CUstream stream;
        gphi_timing_tails after;
    } event[GPHI_TIMING_EVENTS]; /* recorded in the window, in order */
    gphi_timing_node node[GPHI_TIMING_NODES];
    CUlaunchAttribute attribute[GPHI_TIMING_ATTRIBUTES];
} gphi_timing_graph;

/* Begins. Whether there is a graph to put nodes into; `context` is the current one.
 * `slot`: windows of the same calls have the same, so that the executable of the last of
 * them is updated: a new one is cold and takes longer. */
bool gphi_timing_graph_open(gphi_timing_graph *graph, CUcontext context, CUstream stream,
                            uint32_t slot);

typedef enum gphi_timing_taken {
    GPHI_TAKEN,  /* it is in the graph: the driver is not to be called */
    GPHI_PASSED, /* of no concern: the driver is to be called */
    GPHI_REFUSED /* the graph must run first. Nothing is changed */
} gphi_timing_taken;

/* A call of the program: a launch, a copy, a fill, an event's record or a wait for one.
 * `stream`: the one that its handle means. */
gphi_timing_taken gphi_timing_graph_take(gphi_timing_graph *graph, uint32_t call,
                                         const uint64_t *words, CUstream stream);

typedef struct gphi_timing_ran {
    uint64_t instantiate_ns; /* 0: an executable was updated */
    bool is_timed;           /* it ran as a graph, between the two events */
} gphi_timing_ran;

/* Launches what was taken, held until it is all in the stream; waits for nothing. The
 * gate is opened at `gate->next`. */
gphi_timing_ran gphi_timing_graph_run(gphi_timing_graph *graph, gphi_timing_gate *gate,
                                      CUevent begin, CUevent end);

/* Gives the executables back. */
void gphi_timing_graph_drop(gphi_timing_graph *graph);
#endif

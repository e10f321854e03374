// SPDX-License-Identifier: Apache-2.0
/* An examination: the processes, each with its model, its rules and its findings. */
#ifndef GPHI_DOCTOR_EXAMINATION_H
#define GPHI_DOCTOR_EXAMINATION_H
#include "doctor/findings/finding.h"
#include "doctor/findings/said.h"
#include "doctor/history/collectives.h"
#include "doctor/listen.h"
#include "doctor/model/model_feed.h"
#include "event/event_log.h"
#include "event/ring.h"

enum { GPHI_STACK_BLOCK = 1 << 12 };

/* Nodes and edges of graphs as they were captured, for snapshots that repeat them. */
typedef struct gphi_repeats {
    gphi_vec list;
    gphi_map by_number, by_graph;
    size_t bytes;
} gphi_repeats;

/* One process. */
typedef struct gphi_process {
    uint32_t index;
    gphi_map blocks; /* 1 + its stack numbers / GPHI_STACK_BLOCK, to the doctor's */
    uint64_t number;
    gphi_model *model;
    gphi_stacks *stacks;
    struct gphi_history *history;
    gphi_said said;
    gphi_collectives collectives;
    gphi_findings findings;
    gphi_vec runs;   /* of gphi_rule_run */
    gphi_vec first;  /* its PROCESS record, for saved logs; bytes */
    bool has_exited; /* by itself: exit(), _exit(), return */
    bool is_left;    /* it hangs, and runs on unread */
    bool
        has_stood; /* how far its replays were is known: it hung, or its context is dead */
    uint64_t ran_ns;     /* of ranks: when it was last seen to run; 0: not known */
    uint64_t looked_ns;  /* and when that was looked at */
    uint64_t asks_ns;    /* since when it does nothing but ask whether work has ended */
    uint64_t asked_ns;   /* when it was last seen to ask; 0: never */
    uint64_t asks_after; /* calls that were recorded by then */
    gphi_repeats repeats;
    gphi_event_ring_reader *ring;
    char *ring_path;
    uint64_t lost; /* by the ring */
} gphi_process;

struct gph_doctor {
    gph_allocator heap;
    uint32_t language, keep_events;
    gphi_vec processes; /* of gphi_process * */
    gphi_vec blocks;    /* whose the stack numbers are: a process's index, uint32_t */
    gphi_process *now;  /* whose record was last */
    gphi_event_save *save;
    const gphi_process *saved; /* whose record was written last */
    struct {
        gphi_listener *call;
        void *user;
    } listeners[GPHI_LISTENERS_MAX];
    gphi_vec scratch;  /* a record moved into the doctor's numbers */
    gphi_vec findings; /* of gphi_draft *, sorted; after the end */
    uint64_t events;
    bool is_finished;
};

/* ---- repeat.c ---- */

void gphi_repeats_init(gphi_repeats *repeats, gph_allocator heap);
void gphi_repeats_fini(gphi_repeats *repeats);
/* Takes in a record, whatever its kind. */
gph_status gphi_repeats_note(gphi_repeats *repeats, const gphi_event *event);
/* A GRAPH that repeats another as if it did not, in `room`; any other record as it is. */
typedef struct gphi_graph_event {
    gphi_event head;
    uint64_t words[8];
} gphi_graph_event;
const gphi_event *gphi_repeats_graph(const gphi_repeats *repeats, const gphi_event *graph,
                                     gphi_graph_event *room);
/* The records that a GRAPH stands for, which repeats another, as if they were its own;
 * NULL after the last, or if nothing is known of that. `*at` begins with 0. */
const gphi_event *gphi_repeats_next(gphi_repeats *repeats, const gphi_event *graph,
                                    size_t *at);

/* ---- ranks.c ---- */

/* What ranks did side by side: opens findings in their processes. After the rules.
 * Fails with GPH_E_NO_MEMORY. */
gph_status gphi_ranks_judge(gph_doctor *doctor);
/* Whether the process has been in an NCCL function that waits for nobody since before then;
 * or no process has done anything since, and it waits for another rank, or one for it. */
bool gphi_ranks_hang(const gph_doctor *doctor, const gphi_process *process,
                     uint64_t before_ns, uint32_t *thread, uint64_t *since_ns);

/* ---- process.c ---- */

gph_status gphi_process_add(gph_doctor *doctor, uint64_t number, gphi_process **out);
void gphi_process_free(gph_doctor *doctor, gphi_process *process);
/* Takes a record: the model, the rules, the listeners, the saved log. */
gph_status gphi_process_feed(gph_doctor *doctor, gphi_process *process,
                             const gphi_event *event, gph_error *error);
/* What the rules say of the end. */
void gphi_process_end(gphi_process *process);

/* ---- standing.c ---- */

/* Feeds how far its replays are, if it has boards; while its ring is open. */
gph_status gphi_standing_feed(gph_doctor *doctor, gphi_process *process,
                              gph_error *error);
void gphi_standing_remove(const gphi_process *process);
#endif

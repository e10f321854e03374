// SPDX-License-Identifier: Apache-2.0
/* What a process has called together with other ranks, by communicator.
 *
 *   COLLECTIVE record ──> gphi_collectives ──> rules of nccl      one process
 *                                         └──> doctor/ranks.c     all of them, side by side
 */
#ifndef GPHI_DOCTOR_COLLECTIVES_H
#define GPHI_DOCTOR_COLLECTIVES_H
#include "doctor/model/model.h"
#include "event/collective_calls.h"

/* One call. Its place is in `call`, as of a driver call: gphi_call_name() and evidence know
 * it; its number is none that a driver call has. */
typedef struct gphi_collective {
    gphi_call call;
    uint32_t id; /* gphi_collective_id */
    uint64_t stream, count, dtype, op;
    uint64_t capture; /* id of the capture its stream was in, or 0: it ran at once */
    int32_t result;   /* of one that returned a failure; else 0 */
} gphi_collective;

/* The last launch, of a graph that has it, in a stream. */
typedef struct gphi_comm_launch {
    const gphi_stream *stream;
    const gphi_exec_state *exec;
    uint64_t work;
    gphi_call call;
} gphi_comm_launch;

typedef struct gphi_comm {
    uint64_t handle;
    uint64_t same;        /* what its ranks have in common; 0: not known */
    uint32_t rank, ranks; /* this one, and how many; ranks 0: not known */
    bool is_gph;          /* libgph's, which stays until its graphs are gone */
    bool is_made;         /* what makes it has returned */
    bool has_returned;    /* what ended it has */
    char name[64];        /* libgph's, or "" */
    gphi_call made, finalized, ended; /* number 0: not */
    uint32_t ended_by;                /* gphi_collective_id */
    gphi_vec list;            /* of gphi_collective: the last ones that all ranks call */
    uint64_t first;           /* which of all the first of the list is, from 0 */
    gphi_map captures;        /* id of a capture -> 1 + how many it has of it */
    uint64_t parts;           /* that were split off */
    uint64_t warm;            /* bits of gphi_collective_id: it ran outside a capture */
    gphi_vec launches;        /* of gphi_comm_launch, by stream */
    struct gphi_draft *early; /* the finding that it was destroyed too early; or NULL */
} gphi_comm;

enum { GPHI_COLLECTIVES_KEPT = 1 << 15 };

/* What a thread is in the middle of. */
typedef struct gphi_comm_inside {
    uint32_t thread;
    bool is_open;    /* it has not returned */
    gphi_comm *comm; /* or NULL */
    gphi_collective at;
} gphi_comm_inside;

typedef struct gphi_collectives {
    gphi_model *model;
    gphi_vec comms;       /* of gphi_comm *, in order of creation */
    gphi_map by_handle;   /* -> the newest of that handle */
    gphi_vec inside;      /* of gphi_comm_inside */
    uint64_t number;      /* of collectives */
    gphi_call last;       /* driver call that returned last */
    gphi_call unreturned; /* the first in which the process ended; number 0: none */
    bool has_code;        /* it ended by exit() */
    uint32_t code;
    bool is_short;
    /* the record at hand: */
    gphi_comm *comm;     /* or NULL */
    gphi_collective now; /* of one that has returned what it was when it was called */
    bool has_returned;
} gphi_collectives;

void gphi_collectives_init(gphi_collectives *of, gphi_model *model);
void gphi_collectives_fini(gphi_collectives *of);
/* Takes in a record, after the model did. `seen`: of a CALL, else NULL. */
void gphi_collectives_note(gphi_collectives *of, const gphi_event *event,
                           const gphi_seen *seen);

/* How many collectives of all ranks it has had. */
static inline uint64_t gphi_comm_count(const gphi_comm *comm)
{
    return comm->first + comm->list.count;
}
/* One of them by its number, from 0; NULL: it is not kept, or there is none. */
const gphi_collective *gphi_comm_at(const gphi_comm *comm, uint64_t number);
/* Whether the executable was made of a capture that has it; and a graph. */
bool gphi_comm_is_in(const gphi_comm *comm, const gphi_snapshot *source);
bool gphi_comm_is_in_graph(const gphi_comm *comm, const gphi_graph_state *graph);

/* "ncclAllReduce of 1024 f32". */
const char *gphi_say_collective(const gphi_collective *of);
#endif

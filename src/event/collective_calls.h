/* SPDX-License-Identifier: Apache-2.0 */
/* Calls by which ranks work together: NCCL's and those of libgph's communicators, as the
 * attached library writes them and the doctor reads them. */
#ifndef GPHI_EVENT_COLLECTIVE_CALLS_H
#define GPHI_EVENT_COLLECTIVE_CALLS_H
#include <stdbool.h>
#include <stdint.h>

/* X(name, sort): what a call is to its communicator. Numbers are in saved logs: new
 * calls come last. */
#define GPHI_COLLECTIVES(X)                                                              \
    X(ncclAllReduce, ALL)                                                                \
    X(ncclAllGather, ALL)                                                                \
    X(ncclReduceScatter, ALL)                                                            \
    X(ncclBroadcast, ALL)                                                                \
    X(ncclReduce, ALL)                                                                   \
    X(ncclAllToAll, ALL)                                                                 \
    X(ncclSend, PAIR)                                                                    \
    X(ncclRecv, PAIR)                                                                    \
    X(ncclCommInitRank, MAKE)                                                            \
    X(ncclCommInitRankConfig, MAKE)                                                      \
    X(ncclCommInitRankScalable, MAKE)                                                    \
    X(ncclCommInitAll, MAKE)                                                             \
    X(ncclCommSplit, MAKE)                                                               \
    X(ncclCommFinalize, FINALIZE)                                                        \
    X(ncclCommDestroy, END)                                                              \
    X(ncclCommAbort, END)                                                                \
    X(ncclGroupStart, GROUP)                                                             \
    X(ncclGroupEnd, GROUP)                                                               \
    X(gph_comm_create, MAKE)                                                             \
    X(gph_comm_destroy, END)                                                             \
    X(gph_comm_all_reduce_at, ALL)                                                       \
    X(gph_comm_all_gather_at, ALL)                                                       \
    X(gph_comm_broadcast_at, ALL)

typedef enum gphi_collective_id {
#define X(name, sort) GPHI_COLLECTIVE_##name,
    GPHI_COLLECTIVES(X)
#undef X
        GPHI_COLLECTIVE_COUNT
} gphi_collective_id;

typedef enum gphi_collective_sort {
    GPHI_COLLECTIVE_ALL,  /* every rank calls it, in one order, with the same arguments */
    GPHI_COLLECTIVE_PAIR, /* of two ranks */
    GPHI_COLLECTIVE_MAKE,
    GPHI_COLLECTIVE_FINALIZE,
    GPHI_COLLECTIVE_END,
    GPHI_COLLECTIVE_GROUP
} gphi_collective_sort;

/* Of a COLLECTIVE record. Each call has one that says CALLED, before it; those that make,
 * finalize or end a communicator one that says RETURNED as well, others only where they
 * failed. A call within another has none. */
typedef enum gphi_collective_word {
    GPHI_COLLECTIVE_ID,     /* gphi_collective_id */
    GPHI_COLLECTIVE_PHASE,  /* gphi_collective_phase */
    GPHI_COLLECTIVE_RESULT, /* RETURNED: ncclResult_t, or gph_status */
    GPHI_COLLECTIVE_STREAM,
    GPHI_COLLECTIVE_ELEMENTS,
    GPHI_COLLECTIVE_DTYPE, /* ncclDataType_t, or gph_dtype */
    GPHI_COLLECTIVE_OP,    /* ncclRedOp_t or gph_comm_reduction; root, peer or color */
    GPHI_COLLECTIVE_RANK,  /* MAKE: which rank of the communicator this is */
    GPHI_COLLECTIVE_RANKS, /* and of how many */
    GPHI_COLLECTIVE_SAME,  /* and a number that all ranks of it have in common */
    GPHI_COLLECTIVE_WORDS
} gphi_collective_word;

typedef enum gphi_collective_phase {
    GPHI_COLLECTIVE_CALLED,
    GPHI_COLLECTIVE_RETURNED
} gphi_collective_phase;

/* A collective among driver calls: gphi_call_name() knows them from this number on. */
enum { GPHI_COLLECTIVE_CALL = 1 << 16 };

/* "ncclAllReduce"; "?" if there is none. */
const char *gphi_collective_name(uint32_t id);
gphi_collective_sort gphi_collective_sort_of(uint32_t id);

/* Of libgph: its communicators stay until the graphs that recorded them are gone. */
bool gphi_collective_is_gph(uint32_t id);

/* "f32", by the call's own numbers; NULL: it has no name here. */
const char *gphi_collective_dtype(uint32_t id, uint64_t dtype);
#endif

// SPDX-License-Identifier: Apache-2.0
/* The rules of perf.*, by file. */
#ifndef GPHI_DOCTOR_RULES_PERF_H
#define GPHI_DOCTOR_RULES_PERF_H
#include "doctor/rules/memory/rules_memory.h"

/* perf_graph.c: what the graph itself shows */
void gphi_rule_too_many_branches(gphi_rule_run *run);
void gphi_rule_serialised(gphi_rule_run *run);
void gphi_rule_same_buffers(gphi_rule_run *run);

/* perf_loop.c */
typedef struct gphi_host_rounds {
    const gphi_exec_state *exec;
    gphi_call first, read;
    uint64_t rounds, word;      /* after the first launch; the word's address */
    uint64_t gap_ns, launch_ns; /* of all rounds: up to the launch, and in it */
} gphi_host_rounds;

typedef struct gphi_host_loop {
    gphi_host_rounds now, best;
    bool is_read, is_spoilt; /* since the last launch */
    uint64_t last_ns;        /* when the word was there */
} gphi_host_loop;
void gphi_rule_host_loop_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_host_loop_end(gphi_rule_run *run);

/* perf_idle.c */
typedef struct gphi_idle_state {
    gphi_map values; /* executable and node -> hash of what a setter gave */
    gphi_vec execs;
} gphi_idle_state;
void gphi_rule_idle_init(gphi_rule_run *run);
void gphi_rule_idle_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_idle_end(gphi_rule_run *run);
void gphi_rule_idle_fini(gphi_rule_run *run);

/* The last launch, and what came since. */
typedef struct gphi_between {
    uint64_t exec; /* number of its creation; 0: none yet */
    uint32_t thread;
    bool is_waited, is_spoilt; /* since it */
    const gphi_stream *stream;
    gphi_call last;          /* wait */
    uint64_t count, wait_ns; /* of waits with nothing but another launch after them */
    gphi_call wait, launch;  /* the last of them, and that launch */
} gphi_between;
void gphi_rule_between_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_between_end(gphi_rule_run *run);

typedef struct gphi_partly_best {
    uint64_t rounds, count;
    uint32_t kernels; /* of the graph */
    gphi_call at, launch;
} gphi_partly_best;

/* Kernels since the last launch of a graph. */
typedef struct gphi_partly {
    uint64_t exec, hash, before, count, rounds;
    bool is_waited, is_spoilt;
    gphi_call last;
    gphi_partly_best best;
} gphi_partly;
void gphi_rule_partly_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_partly_end(gphi_rule_run *run);

/* perf_rare.c */
void gphi_rule_hardly_replayed(gphi_rule_run *run);

/* perf_host.c */
typedef struct gphi_host_time {
    uint64_t function, user; /* a host function and its argument */
    uint64_t times, ns, cpu_ns, longest_ns;
} gphi_host_time;
void gphi_rule_host_function_event(gphi_rule_run *run, const gphi_event *event);
void gphi_rule_host_function_end(gphi_rule_run *run);

/* perf_pool.c */
typedef struct gphi_pool_rounds {
    gphi_call alloc,
        wait;      /* the first after an empty pool; the last wait that found it */
    uint64_t live; /* allocations of the default pool */
    uint64_t rounds, bytes;
    bool is_empty, is_own; /* by the last wait; the program manages its pools */
} gphi_pool_rounds;
void gphi_rule_pool_rounds_call(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_pool_rounds_end(gphi_rule_run *run);
#endif

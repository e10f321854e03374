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

/* perf_rare.c */
void gphi_rule_hardly_replayed(gphi_rule_run *run);
#endif

// SPDX-License-Identifier: Apache-2.0
/* The rules of memory.*, by file. */
#ifndef GPHI_DOCTOR_RULES_MEMORY_H
#define GPHI_DOCTOR_RULES_MEMORY_H
#include "doctor/history/history.h"

/* ---- what rules remember ---- */

/* A copy to the host of what a graph writes. */
typedef struct gphi_output_read {
    gphi_exec_history *exec;
    gphi_call call;
    uint64_t address, bytes, host;
    uint64_t launches, fresh; /* of the executable, since it was read before */
} gphi_output_read;

/* Rules that keep a list. */
typedef struct gphi_list_state {
    gphi_vec items;
    bool is_ready;
} gphi_list_state;

typedef struct gphi_trim_state {
    uint64_t allocations; /* outside of graphs, from any pool */
    uint64_t trimmed;     /* number of the last trim of graph memory */
} gphi_trim_state;

void gphi_rule_graph_memory_leak_call(gphi_rule_run *run, const gphi_seen *seen);

/* memory_order.c: who reads when */
void gphi_rule_read_before_done(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_input_race(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_output_overwritten(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_output_overwritten_fini(gphi_rule_run *run);

/* memory_input.c */
void gphi_rule_input_not_refreshed(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_input_not_refreshed_end(gphi_rule_run *run, bool is_killed);
void gphi_rule_input_not_refreshed_fini(gphi_rule_run *run);

/* memory_size.c: how much, and for how long */
void gphi_rule_pool_per_graph(gphi_rule_run *run, bool is_killed);
void gphi_rule_allocations_never_freed(gphi_rule_run *run, bool is_killed);
void gphi_rule_graph_memory_leak(gphi_rule_run *run, bool is_killed);
void gphi_rule_leak_at_exit(gphi_rule_run *run, bool is_killed);
void gphi_rule_wrong_trim(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_workspace(gphi_rule_run *run, const gphi_seen *seen);
void gphi_rule_workspace_fini(gphi_rule_run *run);

/* cache_class.c: executables of one class over time */
void gphi_rule_executable_growth(gphi_rule_run *run, bool is_killed);
void gphi_rule_shape_explosion(gphi_rule_run *run, bool is_killed);
void gphi_rule_instantiate_per_launch(gphi_rule_run *run, bool is_killed);

/* rules_nccl.c: a thread that NCCL or the process group around it has named. */
bool gphi_is_nccl_thread(const gphi_model *model, uint32_t id);

/* Only brings the history up to date, for rules that draw their conclusions at the end.
 */
void gphi_rule_history_only(gphi_rule_run *run, const gphi_seen *seen);
#endif
